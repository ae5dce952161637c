"""Datasets of the contents of files."""

import os

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.pipelines import functional
from rheos.pipelines.base import DatasetBase
from rheos.pipelines.dataset import DatasetV2

_DEFAULT_BUFFER_BYTES = 256 * 1024
_TEXT = TensorSpec([], dtypes.string)


def _or_default(value, default, dtype, name):
    """A function of the argument's tensor: a constant is made in the function that opens a file, as
    TensorFlow has it."""
    if isinstance(value, Tensor):
        return lambda: value
    return lambda: convert_to_tensor(default if value is None else value, dtype, name=name)


def _as_texts(names):
    if isinstance(names, (list, tuple)):
        return [_as_texts(name) for name in names]
    return os.fspath(names) if isinstance(names, os.PathLike) else names


def _filenames(filenames):
    """A dataset of names, whatever they are given as; TypeError if they are none."""
    if isinstance(filenames, DatasetBase):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string:
            raise TypeError(f"A dataset of filenames must be of strings, its elements are {spec}.")
        if spec.shape.ndims not in (0, None):
            raise TypeError("The dataset of filenames must contain scalar tf.string elements")
        return filenames
    names = convert_to_tensor(_as_texts(filenames), dtypes.string)
    return DatasetV2.from_tensor_slices(op1("Reshape", "flat_filenames", names, [-1]))


class _FilesDataset:
    """A dataset of files: one for each name, one after the other or several at once."""

    def _open(self, filenames, make, num_parallel_reads):
        names = _filenames(filenames)
        if num_parallel_reads is None:
            whole = names.flat_map(make)
        else:
            whole = functional.parallel_interleave(names, make, num_parallel_reads)
        self._set(whole._variant_tensor, _TEXT, (whole,), type(self).__name__)


def _dataset(op_type, *inputs):
    return DatasetV2._of_variant(op1(op_type, None, *inputs), _TEXT, (), op_type)


class _BufferedDataset(_FilesDataset):
    """What text lines and records have in common.

    filenames: a string tensor or a dataset of strings. compression_type: "", "ZLIB" or "GZIP".
    buffer_size: bytes to read at a time. num_parallel_reads: files to read at once.
    """

    _OP = None

    def __init__(
        self,
        filenames,
        compression_type=None,
        buffer_size=None,
        num_parallel_reads=None,
        name=None,
    ):
        compression = _or_default(compression_type, "", dtypes.string, "compression_type")
        size = _or_default(buffer_size, _DEFAULT_BUFFER_BYTES, dtypes.int64, "buffer_size")
        self._open(
            filenames,
            lambda name: _dataset(self._OP, name, compression(), size()),
            num_parallel_reads,
        )


class TextLineDatasetV2(_BufferedDataset, DatasetV2):
    """The lines of text files, without their ends; the arguments are those of all such readers."""

    _OP = "TextLineDataset"


class TFRecordDatasetV2(_BufferedDataset, DatasetV2):
    """The records of TFRecord files; the arguments are those of all such readers."""

    _OP = "TFRecordDataset"


class FixedLengthRecordDatasetV2(_FilesDataset, DatasetV2):
    """The records of one length in files.

    filenames: a string tensor or a dataset of strings. record_bytes: of each record. header_bytes,
    footer_bytes: what to skip at the start and the end of each file. buffer_size: bytes to read at
    a time. compression_type: "", "ZLIB" or "GZIP". num_parallel_reads: files to read at once.
    """

    def __init__(
        self,
        filenames,
        record_bytes,
        header_bytes=None,
        footer_bytes=None,
        buffer_size=None,
        compression_type=None,
        num_parallel_reads=None,
        name=None,
    ):
        record = _or_default(record_bytes, None, dtypes.int64, "record_bytes")
        header = _or_default(header_bytes, 0, dtypes.int64, "header_bytes")
        footer = _or_default(footer_bytes, 0, dtypes.int64, "footer_bytes")
        size = _or_default(buffer_size, _DEFAULT_BUFFER_BYTES, dtypes.int64, "buffer_size")
        compression = _or_default(compression_type, "", dtypes.string, "compression_type")
        parts = header, record, footer, size, compression
        self._open(
            filenames,
            lambda name: _dataset("FixedLengthRecordDatasetV2", name, *(p() for p in parts)),
            num_parallel_reads,
        )
