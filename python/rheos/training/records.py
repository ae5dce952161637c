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
    another. compression_level: 1 (fast) to 9 (small). window_bits: 9 to 15, mem_level: 1 to 9, and
    compression_strategy are zlib's; InvalidArgumentError for others where a file is written. Every
    file is read whatever they were. The other options change neither what is written nor what can
    be read, and are kept only.
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


def _zlib_options(options):
    """Level, bits of the window, memory level and strategy, as the library takes them."""

    def option(name, default):
        value = getattr(options, name, None)
        return default if value is None else int(value)

    window_bits = option("window_bits", 0)
    # zlib's own way to ask for gzip's header, which the type asks for here.
    if window_bits > 15 and _compression(options) == TFRecordCompressionType.GZIP:
        window_bits -= 16
    return (
        option("compression_level", -1),
        window_bits,
        option("mem_level", 0),
        option("compression_strategy", 0),
    )


class TFRecordWriter:
    """Writes records to a file, which is made or emptied; a context manager closes it.

    options: TFRecordOptions, or a compression by name or number. NotFoundError if the file cannot
    be made.
    """

    def __init__(self, path, options=None):
        self._writer = _core.RecordWriter(path, _compression(options), *_zlib_options(options))

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def write(self, record):
        """Writes bytes, or those of a text, as one record."""
        self._writer.write(record.encode() if isinstance(record, str) else record)

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
