"""How the variables of parameter servers are cut: functions of (shape, dtype, axis=0) that give the
number of parts along each dimension."""

from rheos.ops.state.partitioned_variables import (
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)


def _check_positive(name, value):
    if value < 1:
        raise ValueError(f"Argument `{name}` must be positive. Received: {value}")


class Partitioner:
    """How a variable is cut: a subclass says it by __call__(shape, dtype, axis=0)."""

    def __call__(self, shape, dtype, axis=0):
        """The number of parts along each dimension, 1 along all but one."""
        raise NotImplementedError


class FixedShardsPartitioner(Partitioner):
    """So many parts, or as many as there are rows."""

    def __init__(self, num_shards):
        self._num_shards = num_shards

    def __call__(self, shape, dtype, axis=0):
        dims = shape.as_list()
        parts = [1] * len(dims)
        parts[axis] = min(self._num_shards, dims[axis])
        return parts


class MinSizePartitioner(Partitioner):
    """At most max_shards parts of at least min_shard_bytes bytes."""

    def __init__(self, min_shard_bytes=256 << 10, max_shards=1, bytes_per_string=16):
        _check_positive("min_shard_bytes", min_shard_bytes)
        _check_positive("max_shards", max_shards)
        _check_positive("bytes_per_string", bytes_per_string)
        self._min_shard_bytes, self._max_shards = min_shard_bytes, max_shards
        self._bytes_per_string = bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        numbers = (self._max_shards, axis, self._min_shard_bytes, self._bytes_per_string)
        return min_max_variable_partitioner(*numbers)(shape, dtype)


class MaxSizePartitioner(Partitioner):
    """Parts of at most max_shard_bytes bytes, as many as needed but at most max_shards."""

    def __init__(self, max_shard_bytes, max_shards=None, bytes_per_string=16):
        _check_positive("max_shard_bytes", max_shard_bytes)
        if max_shards is not None:
            _check_positive("max_shards", max_shards)
        _check_positive("bytes_per_string", bytes_per_string)
        self._max_shard_bytes, self._max_shards = max_shard_bytes, max_shards
        self._bytes_per_string = bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        numbers = (self._max_shard_bytes, axis, self._bytes_per_string, self._max_shards)
        return variable_axis_size_partitioner(*numbers)(shape, dtype)
