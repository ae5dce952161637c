"""Variables in several parts along one axis, and what decides into how many."""

import math

from rheos.framework import dtypes, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops


class SaveSliceInfo:
    """Which part of a whole a variable is, for savers."""

    def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None):
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @classmethod
    def from_spec(cls, full_name, spec):
        """The same from its text."""
        *shape, parts = spec.split(" ")
        pairs = [[int(n) for n in part.split(",")] for part in parts.split(":")]
        offset, size = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        return cls(full_name, [int(d) for d in shape], offset, size)

    @property
    def spec(self):
        """The shape of the whole, then offset and size in each dimension: "5 2 3,2:0,2"."""
        shape = "".join(f"{d} " for d in self.full_shape)
        return shape + ":".join(f"{o},{s}" for o, s in zip(self.var_offset, self.var_shape))


class PartitionInfo:
    """What an initializer may want to know about the part that it fills."""

    def __init__(self, full_shape, var_offset):
        self.full_shape = list(full_shape)
        self.var_offset = list(var_offset)

    def single_slice_dim(self, shape):
        """The axis along which a part of this shape is cut; None if it is the whole."""
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape)) if part != whole]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape {shape} and partition_info "
                f"{self.full_shape} since slice dim could be either dimension {cut[0]} or {cut[1]}."
            )
        return cut[0] if cut else None

    def single_offset(self, shape):
        """Where it begins along that axis; 0 if it is the whole."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]


class PartitionedVariable:
    """Variables that are the parts of one. Where a tensor is wanted it is them put together."""

    _lookup_strategy = None  # how ids of rows are shared by the parts, if it is always the same

    def __init__(self, name, shape, dtype, variable_list, partitions):
        self._name = name
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtype
        self._variable_list = sorted(
            variable_list, key=lambda v: v._get_save_slice_info().var_offset
        )
        self._partitions = partitions

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        return len(self._variable_list)

    @property
    def name(self):
        return self._name

    @property
    def dtype(self):
        return self._dtype

    @property
    def shape(self):
        return self._shape

    def get_shape(self):
        return self._shape

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _partition_axes(self):
        return [i for i, count in enumerate(self._partitions) if count > 1] or [0]

    def as_tensor(self):
        """The parts put together, as a tensor."""
        with control_dependencies(None), name_scope(None):
            if len(self) == 1:
                return array_ops.identity(self._variable_list[0], name=self._name)
            with name_scope(self._name + "/ConcatPartitions/"):
                whole = array_ops.concat(self._variable_list, self._partition_axes()[0])
            return array_ops.identity(whole, name=self._name)

    def _convert_to_tensor(self):
        return self.as_tensor()

    def _on_parts(self, method, value, **settings):
        """What a method of each part gives: `value` is a list of theirs, or one for the whole."""
        if isinstance(value, (list, PartitionedVariable)):
            parts = list(value)
            if len(parts) != len(self):
                raise ValueError(
                    f"{self._name} has {len(self)} parts, but {len(parts)} values were given"
                )
        else:
            axis = self._partition_axes()[0]
            sizes = [v.shape.as_list()[axis] for v in self]
            whole = convert_to_tensor(value, self.dtype.base_dtype)
            parts = array_ops.split(whole, sizes, axis=axis)
        return [getattr(v, method)(part, **settings) for v, part in zip(self, parts)]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the parts: a list of what their assign() gives."""
        settings = {"use_locking": use_locking, "name": name, "read_value": read_value}
        return self._on_parts("assign", value, **settings)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        """Adds to the parts."""
        settings = {"use_locking": use_locking, "name": name, "read_value": read_value}
        return self._on_parts("assign_add", value, **settings)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        """Subtracts from the parts."""
        settings = {"use_locking": use_locking, "name": name, "read_value": read_value}
        return self._on_parts("assign_sub", value, **settings)


def parts_of(variable):
    """The parts of a variable, or the variable itself where it is in one piece, as a list."""
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


# ---- Cutting


def call_partitioner(partitioner, shape, dtype):
    """The number of parts along each axis; ValueError if the answer makes no sense."""
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if shape.ndims < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    parts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(parts, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {parts}")
    if len(parts) != shape.ndims:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{parts} vs. {shape}"
        )
    if any(count < 1 for count in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(count > 1 for count in parts) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {parts}"
        )
    return parts


def slices(shape, partitions):
    """[(offset, shape)] of the parts; the first ones are one longer where they cannot be equal."""
    cut = [i for i, count in enumerate(partitions) if count > 1]
    axis = cut[0] if cut else 0
    count = partitions[axis]
    each, longer = divmod(shape[axis], count)
    start = 0
    for i in range(count):
        size = each + (i < longer)
        if count > 1 and start >= shape[axis]:
            raise ValueError(
                f"Expected 0 <= offset < shape but found offset={start}, shape={shape[axis]}: "
                f"more parts than there are elements in dimension {axis} of {shape}"
            )
        offset, part = [0] * len(shape), list(shape)
        offset[axis], part[axis] = start, size
        yield offset, part
        start += size


def part_of(value, offset, shape, dtype):
    """The part of an initial value."""
    if not isinstance(value, Tensor):
        value = convert_to_tensor(value, dtype)
    return array_ops.slice(value, offset, shape)


# ---- Partitioners


def _element_size(dtype, bytes_per_string_element):
    base = dtypes.as_dtype(dtype).base_dtype
    return bytes_per_string_element if base == dtypes.string else base.size


def _check_shape(shape):
    if not isinstance(shape, tensor_shape.TensorShape):
        raise ValueError(f"shape is not a TensorShape: {shape}")
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")


def _check_positive(first, value, bytes_per_string_element):
    if value < 1 or bytes_per_string_element < 1:
        raise ValueError(f"Both {first} and bytes_per_string_element must be positive.")


def fixed_size_partitioner(num_shards, axis=0):
    """A partitioner that makes num_shards parts along the axis, or as many as there are rows."""

    def partitioner(shape, **unused):
        parts = [1] * len(shape)
        parts[axis] = min(num_shards, shape.as_list()[axis])
        return parts

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None
):
    """A partitioner that makes parts along the axis of at most max_shard_bytes each."""
    _check_positive("max_shard_bytes", max_shard_bytes, bytes_per_string_element)
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape, dtype):
        _check_shape(shape)
        dims = shape.as_list()
        size = _element_size(dtype, bytes_per_string_element)
        row_bytes = math.prod(dims[:axis] + dims[axis:][1:]) * size
        rows = max(1, math.floor(max_shard_bytes / row_bytes)) if row_bytes else max(1, dims[axis])
        count = math.ceil(dims[axis] / rows)
        parts = [1] * len(dims)
        parts[axis] = min(max_shards, count) if max_shards else count
        return parts

    return partitioner


def min_max_variable_partitioner(
    max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16
):
    """A partitioner that makes at most max_partitions parts of at least min_slice_size bytes."""

    def partitioner(shape, dtype):
        _check_shape(shape)
        dims = shape.as_list()
        total = math.prod(dims) * _element_size(dtype, bytes_per_string_element)
        parts = [1] * len(dims)
        count = math.ceil(total / min_slice_size)
        parts[axis] = max(1, min(dims[axis], max_partitions, count))
        return parts

    return partitioner
