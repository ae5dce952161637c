"""Files, records and bytes in graphs."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.image_files import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from rheos.ops.io_ops import (
    decode_csv,
    decode_raw,
    matching_files,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from rheos.ops.parsing_ops import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    decode_compressed,
    decode_json_example,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from rheos.ops.string_ops import decode_base64, encode_base64
from rheos.v1._records import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
from rheos.v1.gfile import GFile
from rheos.v1.train import write_graph

__getattr__ = _attribute_of("tensorflow.io")
