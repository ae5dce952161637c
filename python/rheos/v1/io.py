"""Files, records and bytes in graphs."""

import types as _types

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.data_flow_ops import (
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)
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
    match_filenames_once,
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
from rheos.ops.sparse_ops import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from rheos.ops.string_ops import decode_base64, encode_base64
from rheos.training.records import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
from rheos.v1 import gfile as _files
from rheos.v1.gfile import GFile
from rheos.v1.train import write_graph

# The names that TensorFlow 2 has for these.
gfile = _types.SimpleNamespace(
    GFile=_files.GFile,
    copy=_files.Copy,
    exists=_files.Exists,
    glob=_files.Glob,
    isdir=_files.IsDirectory,
    listdir=_files.ListDirectory,
    makedirs=_files.MakeDirs,
    mkdir=_files.MkDir,
    remove=_files.Remove,
    rename=_files.Rename,
    rmtree=_files.DeleteRecursively,
    stat=_files.Stat,
    walk=_files.Walk,
)

__getattr__ = _attribute_of("tensorflow.io")
