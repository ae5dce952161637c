"""Readers: what cuts files that a queue names into records."""

from rheos.framework import dtypes
from rheos.framework.op_call import apply_op, op1, op_results


class ReaderBase:
    """What all readers have. reader_ref: the tensor that stands for the reader."""

    def __init__(self, reader_ref, supports_serialize=False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self):
        """The tensor that stands for the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self):
        """Whether TensorFlow's reader can be saved."""
        return self._supports_serialize

    def _op_type(self, base):
        return base + ("V2" if self._reader_ref.dtype == dtypes.resource else "")

    def _handle_of(self, queue):
        handle = getattr(queue, "queue_ref", queue)
        by_reference = self._reader_ref.dtype != dtypes.resource
        return op1("FakeQueue", None, handle) if by_reference else handle

    def read(self, queue, name=None):
        """The next record of what `queue` names: (key, value), string scalars."""
        handle = self._handle_of(queue)
        return op_results(self._op_type("ReaderRead"), name, self._reader_ref, handle)

    def read_up_to(self, queue, num_records, name=None):
        """At most `num_records` records, all of one file: (keys, values), string vectors."""
        handle = self._handle_of(queue)
        op_type = self._op_type("ReaderReadUpTo")
        return op_results(op_type, name, self._reader_ref, handle, num_records)

    def num_records_produced(self, name=None):
        """How many records came out, an int64 tensor."""
        return op1(self._op_type("ReaderNumRecordsProduced"), name, self._reader_ref)

    def num_work_units_completed(self, name=None):
        """How many files were read to their ends, an int64 tensor."""
        return op1(self._op_type("ReaderNumWorkUnitsCompleted"), name, self._reader_ref)

    def serialize_state(self, name=None):
        """The state of the reader, a string scalar, where `supports_serialize` is true."""
        return op1(self._op_type("ReaderSerializeState"), name, self._reader_ref)

    def restore_state(self, state, name=None):
        """An operation that puts the reader into a state of serialize_state()."""
        return apply_op(self._op_type("ReaderRestoreState"), name, self._reader_ref, state)

    def reset(self, name=None):
        """An operation that puts the reader into the state of a new one."""
        return apply_op(self._op_type("ReaderReset"), name, self._reader_ref)


class IdentityReader(ReaderBase):
    """Gives what the queue holds, as key and value."""

    def __init__(self, name=None):
        super().__init__(op1("IdentityReaderV2", name), supports_serialize=True)


class WholeFileReader(ReaderBase):
    """Gives the name and all bytes of each file."""

    def __init__(self, name=None):
        super().__init__(op1("WholeFileReaderV2", name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Gives the lines of files, under "FILE:LINE" from 1 on, after `skip_header_lines`."""

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(op1("TextLineReaderV2", name, skip_header_lines=skip_header_lines or 0))


class FixedLengthRecordReader(ReaderBase):
    """Gives records of `record_bytes`, `hop_bytes` from one to the next, between header and footer.

    encoding: None, "ZLIB" or "GZIP", what the files are compressed with.
    """

    def __init__(
        self,
        record_bytes,
        header_bytes=None,
        footer_bytes=None,
        hop_bytes=None,
        name=None,
        encoding=None,
    ):
        handle = op1(
            "FixedLengthRecordReaderV2",
            name,
            header_bytes=header_bytes or 0,
            record_bytes=record_bytes,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
        )
        super().__init__(handle)


class LMDBReader(ReaderBase):
    """Gives the keys and values of databases of LMDB, in the order of the keys."""

    def __init__(self, name=None, options=None):
        del options
        super().__init__(op1("LMDBReader", name))


class TFRecordReader(ReaderBase):
    """Gives TensorFlow's records, under "FILE:OFFSET". options: TFRecordOptions, of compression."""

    def __init__(self, name=None, options=None):
        kind = ""
        if options is not None:
            kind = type(options).get_compression_type_string(options)
        super().__init__(op1("TFRecordReaderV2", name, compression_type=kind))
