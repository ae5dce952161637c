"""Files of records (TFRecord): strings of bytes with checksums, perhaps compressed."""

from rheos import _core


class TFRecordCompressionType:
    """How a file of records is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """Options of a file of records.

    compression_type: "", "ZLIB" or "GZIP", or one of TFRecordCompressionType; ValueError for
    another. compression_level: 1 (fast) to 9 (small). What the other options say changes neither
    what is written nor what can be read, and is kept only.
    """

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type=None,
        flush_mode=None,
        input_buffer_size=None,
        output_buffer_size=None,
        window_bits=None,
        compression_level=None,
        compression_method=None,
        mem_level=None,
        compression_strategy=None,
    ):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """The compression that options, a name or a number stand for: "", "ZLIB" or "GZIP"."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


def _compression(options):
    name = TFRecordOptions.get_compression_type_string(options)
    return getattr(TFRecordCompressionType, name or "NONE")


class TFRecordWriter:
    """Writes records to a file, which is made or emptied; a context manager closes it.

    options: TFRecordOptions, or a compression by name or number. NotFoundError if the file cannot
    be made.
    """

    def __init__(self, path, options=None):
        level = getattr(options, "compression_level", None)
        self._writer = _core.RecordWriter(
            path, _compression(options), -1 if level is None else level
        )

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def write(self, record):
        """Writes bytes as one record."""
        self._writer.write(record)

    def flush(self):
        """Makes what was written visible to readers."""
        self._writer.flush()

    def close(self):
        """Flushes and closes the file."""
        self._writer.close()


def tf_record_iterator(path, options=None):
    """Iterates over the records of a file, as bytes.

    options: as with TFRecordWriter. NotFoundError if there is no file, DataLossError where it is
    damaged or cut.
    """
    yield from _core.RecordReader(path, _compression(options))
