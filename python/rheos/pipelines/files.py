"""Datasets saved in files, loaded from there, and kept by snapshots."""

import multiprocessing
import os

from rheos.framework import dtypes, gfile, messages
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import apply_op
from rheos.framework.structured import decode, encode
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.math import math_ops
from rheos.pipelines.base import DatasetBase, DatasetSpec
from rheos.pipelines.traced import TracedFunction

_SPEC_FILE = "dataset_spec.pb"
AUTOTUNE = -1


def _path(path):
    return convert_to_tensor(
        os.fspath(path) if hasattr(path, "__fspath__") else path, dtypes.string, name="path"
    )


def _shard_function(shard_func, dataset, transformation):
    """What gives the shard of an element; that of all is 0 where none is given."""

    def shard(*element):
        if shard_func is None:
            return convert_to_tensor(0, dtypes.int64)
        return math_ops.cast(shard_func(*element), dtypes.int64)

    return TracedFunction(shard, transformation, dataset.element_spec)


def _reader_function(reader_func, spec, transformation):
    """What makes one dataset of those of the shards; by default their elements by turns."""

    def together(shards):
        return shards.interleave(
            lambda shard: shard,
            cycle_length=multiprocessing.cpu_count(),
            num_parallel_calls=AUTOTUNE,
        )

    shards = DatasetSpec(DatasetSpec(spec))
    return TracedFunction(reader_func or together, transformation, shards)


def _captured(function, name):
    return {f"T{name}_args": [tensor.dtype for tensor in function.captured]}


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Dataset.save: in a graph the operation that saves."""
    if checkpoint_args is not None:
        raise NotImplementedError("checkpoint_args of Dataset.save() is not supported")
    function = _shard_function(shard_func, dataset, "Dataset.save")
    folder = os.fsdecode(path)
    gfile.MakeDirs(folder)
    with gfile.GFile(os.path.join(folder, _SPEC_FILE), "wb") as file:
        file.write(encode(dataset.element_spec).SerializeToString())
    return apply_op(
        "SaveDataset",
        None,
        dataset._variant_tensor,
        _path(path),
        function.captured,
        compression=compression or "",
        shard_func=function.name,
        use_shard_func=shard_func is not None,
        **_captured(function, "shard_func"),
    )


class TFRecordWriter:
    """Writes the elements of datasets of strings to a file, as records."""

    def __init__(self, filename, compression_type=None):
        self._filename = _path(filename)
        self._compression = convert_to_tensor(
            compression_type or "", dtypes.string, name="compression_type"
        )

    def write(self, dataset):
        """Writes the file anew; in a graph the operation that does."""
        if not isinstance(dataset, DatasetBase):
            raise TypeError(f"`dataset` must be a Dataset, got {type(dataset)}.")
        spec = dataset.element_spec
        if not TensorSpec([], dtypes.string).is_compatible_with(spec):
            raise TypeError(f"`dataset` must produce scalar strings, its elements are {spec}.")
        return apply_op(
            "DatasetToTFRecord",
            None,
            dataset._apply_options()._variant_tensor,
            self._filename,
            self._compression,
        )


def _saved_spec(path):
    message = messages.StructuredValue()
    name = os.path.join(os.fsdecode(path), _SPEC_FILE)
    with gfile.GFile(name, "rb") as file:
        message.ParseFromString(file.read())
    return decode(message)


def load(cls, path, element_spec=None, compression=None, reader_func=None):
    """Dataset.load: cls is the class of the dataset."""
    spec = _saved_spec(path) if element_spec is None else element_spec
    function = _reader_function(reader_func, spec, "Dataset.load")
    return cls._make(
        "LoadDataset",
        _path(path),
        function.captured,
        spec=spec,
        compression=compression or "",
        reader_func=function.name,
        **_captured(function, "reader_func"),
    )


def snapshot(dataset, path, compression="AUTO", reader_func=None, shard_func=None):
    """Dataset.snapshot."""
    numbered = shard_func is None
    if numbered:
        dataset = dataset.enumerate()
        shard_func = lambda number, _: number % multiprocessing.cpu_count()  # noqa: E731
    shards = _shard_function(shard_func, dataset, "Dataset.snapshot")
    reader = _reader_function(reader_func, dataset.element_spec, "Dataset.snapshot")
    kept = dataset._derive(
        "SnapshotDatasetV2",
        _path(path),
        reader.captured,
        shards.captured,
        compression=compression or "",
        reader_func=reader.name,
        shard_func=shards.name,
        **_captured(reader, "reader_func"),
        **_captured(shards, "shard_func"),
    )
    return kept.map(lambda _, element: element) if numbered else kept
