"""Files of records."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.training.records import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)

__getattr__ = _attribute_of("tensorflow.python_io")
