"""Variables that are cut along their rows, with parts on several parameter servers."""

import itertools

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.trackable import Trackable
from rheos.ops.array import array_ops
from rheos.ops.array.embedding_ops import embedding_lookup
from rheos.ops.math import math_ops
from rheos.ops.state.partitioned_variables import PartitionedVariable


class ShardedVariable(PartitionedVariable, Trackable):
    """The variables that are the parts of one, with some of its rows each, in order.

    variables: the parts, which differ in their number of rows alone. Where a tensor is wanted it is
    them put together; lookups of rows read those alone.
    """

    _is_resource = True
    _lookup_strategy = "div"  # the parts hold rows one after the other

    def __init__(self, variables, name="ShardedVariable"):
        parts = list(variables)
        if not parts:
            raise ValueError("a ShardedVariable needs at least one variable")
        first = parts[0]
        for part in parts[1:]:
            if part.dtype != first.dtype or part.shape[1:] != first.shape[1:]:
                raise ValueError(
                    f"All variables in a ShardedVariable must have the same dtype and rows of the "
                    f"same shape, got {first.dtype.name} {first.shape} and {part.dtype.name} "
                    f"{part.shape}"
                )
        self._variable_list = parts
        self._name, self._dtype = name, first.dtype
        self._rows = [part.shape.as_list()[0] for part in parts]
        self._shape = TensorShape([sum(self._rows), *first.shape.as_list()[1:]])
        self._partitions = [len(parts), *[1] * (self._shape.rank - 1)]
        self._starts = [0, *itertools.accumulate(self._rows)][:-1]

    # What it is

    @property
    def variables(self):
        """The parts, a list."""
        return self._variable_list

    @property
    def trainable(self):
        """Whether the parts are trained."""
        return self._variable_list[0].trainable

    @property
    def is_sharded_variable(self):
        """True."""
        return True

    def __iter__(self):
        """The parts."""
        return iter(self._variable_list)

    def __repr__(self):
        parts = "\n".join(f"  {i}: {part!r}" for i, part in enumerate(self._variable_list))
        return f"ShardedVariable:{{\n{parts}\n}}"

    # The value

    def as_tensor(self):
        """The parts put together, as a tensor."""
        return array_ops.concat([part.read_value() for part in self._variable_list], 0)

    read_value = value = as_tensor

    def numpy(self):
        """The parts put together, as an array."""
        return self.as_tensor().numpy()

    def __array__(self, dtype=None, copy=None):
        return self.as_tensor().__array__(dtype)

    def __getitem__(self, key):
        return self.as_tensor()[key]

    def sparse_read(self, indices, name=None):
        """Rows."""
        return embedding_lookup(self, indices, "div", name)

    # Setting it

    def _on_all(self, method, value):
        parts = array_ops.split(convert_to_tensor(value, self._dtype), self._rows, axis=0)
        for variable, part in zip(self._variable_list, parts):
            getattr(variable, method)(part)
        return self

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the parts to those of a value for the whole; gives the variable."""
        return self._on_all("assign", value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds to the parts."""
        return self._on_all("assign_add", delta)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts from the parts."""
        return self._on_all("assign_sub", delta)

    def _scatter(self, method, slices):
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")
        indices = convert_to_tensor(slices.indices)
        values = convert_to_tensor(slices.values, self._dtype)
        for part, start, rows in zip(self._variable_list, self._starts, self._rows):
            mine = math_ops.logical_and(indices >= start, indices < start + rows)
            own = IndexedSlices(
                array_ops.boolean_mask(values, mine), array_ops.boolean_mask(indices, mine) - start
            )
            getattr(part, method)(own)
        return self

    # Checkpoints keep the whole, as TensorFlow's have it.

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}

    def _serialize_to_tensors(self):
        return {"VARIABLE_VALUE": self.as_tensor()}

    def _restore_from_tensors(self, restored_tensors):
        return self.assign(restored_tensors["VARIABLE_VALUE"])


def _scatter_method(name, doc):
    def method(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(method.__name__, sparse_delta)

    method.__name__, method.__qualname__, method.__doc__ = name, f"ShardedVariable.{name}", doc
    setattr(ShardedVariable, name, method)


_scatter_method("scatter_add", "Adds to rows.")
_scatter_method("scatter_sub", "Subtracts from rows.")
_scatter_method("scatter_mul", "Multiplies rows.")
_scatter_method("scatter_div", "Divides rows.")
_scatter_method("scatter_min", "Lowers rows to at most the values.")
_scatter_method("scatter_max", "Raises rows to at least the values.")
_scatter_method("scatter_update", "Sets rows.")


def _operator(name):
    def method(self, *others):
        return getattr(self.as_tensor(), name)(*map(_as_tensor, others))

    method.__name__, method.__qualname__ = name, f"ShardedVariable.{name}"
    method.__doc__ = "As its value computes it."
    setattr(ShardedVariable, name, method)


def _as_tensor(value):
    return value.as_tensor() if isinstance(value, ShardedVariable) else value


for _name in "add sub mul truediv floordiv mod pow matmul".split():
    _operator(f"__{_name}__")
    _operator(f"__r{_name}__")
for _name in "neg abs lt le gt ge".split():
    _operator(f"__{_name}__")
