"""Shapes of tensors, known in whole, in part, or not at all."""

from rheos.framework import defaults, messages
from rheos.framework.dtypes import DType

_gives_numbers = False


def enable_v2_tensorshape():
    """Has shapes give dimensions as int and None from now on, as in TensorFlow 2."""
    global _gives_numbers
    _gives_numbers = True


def disable_v2_tensorshape():
    """Has shapes give dimensions as Dimension objects from now on, as in TensorFlow 1."""
    global _gives_numbers
    _gives_numbers = False


def _number(value):
    """The int of a dimension's value, None for an unknown one."""
    if value is None or type(value) is int:
        return value
    return Dimension(value)._value


class Dimension:
    """One dimension of a shape: a number, or None where it is not known."""

    __slots__ = ("_value",)

    def __init__(self, value):
        if value is None:
            self._value = None
        elif isinstance(value, Dimension):
            self._value = value._value
        else:
            if isinstance(value, DType):
                raise TypeError(f"Cannot convert {value} to Dimension")
            self._value = value.__index__() if hasattr(value, "__index__") else int(value)
            if not isinstance(value, (str, bytes)) and self._value != value:
                raise ValueError(f"Ambiguous dimension: {value}")
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self):
        """The size, an int; None if it is unknown."""
        return self._value

    def is_compatible_with(self, other):
        """Whether both sizes are the same or one is unknown."""
        other = as_dimension(other)._value
        return self._value is None or other is None or self._value == other

    def assert_is_compatible_with(self, other):
        """ValueError unless both sizes are the same or one is unknown."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        """What both say together; ValueError if they contradict each other."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def __repr__(self):
        return f"Dimension({self._value})"

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __hash__(self):
        return hash(self._value)

    def __int__(self):
        return self._value

    def __long__(self):
        return self._value

    def __index__(self):
        return self._value

    def __bool__(self):
        return True

    def __reduce__(self):
        return Dimension, (self._value,)

    def __eq__(self, other):
        try:
            other = as_dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other is None:
            return None
        return self._value == other

    def __ne__(self, other):
        try:
            other = as_dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other is None:
            return None
        return self._value != other


def _dimension_operator(name, function):
    def method(self, other):
        try:
            other = as_dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other is None:
            return Dimension(None)
        return Dimension(function(self._value, other))

    method.__name__ = name
    setattr(Dimension, name, method)


def _dimension_comparison(name, function):
    def method(self, other):
        other = as_dimension(other)._value
        if self._value is None or other is None:
            return None
        return function(self._value, other)

    method.__name__ = name
    setattr(Dimension, name, method)


for _name, _function in (
    ("__add__", lambda a, b: a + b),
    ("__radd__", lambda a, b: b + a),
    ("__sub__", lambda a, b: a - b),
    ("__rsub__", lambda a, b: b - a),
    ("__mul__", lambda a, b: a * b),
    ("__rmul__", lambda a, b: b * a),
    ("__floordiv__", lambda a, b: a // b),
    ("__rfloordiv__", lambda a, b: b // a),
    ("__div__", lambda a, b: a // b),
    ("__mod__", lambda a, b: a % b),
    ("__rmod__", lambda a, b: b % a),
):
    _dimension_operator(_name, _function)
for _name, _function in (
    ("__lt__", lambda a, b: a < b),
    ("__le__", lambda a, b: a <= b),
    ("__gt__", lambda a, b: a > b),
    ("__ge__", lambda a, b: a >= b),
):
    _dimension_comparison(_name, _function)


def _no_truediv(left, right):
    raise TypeError(
        f"unsupported operand type(s) for /: '{type(left).__name__}' and "
        f"'{type(right).__name__}', please use // instead"
    )


Dimension.__truediv__ = _no_truediv
Dimension.__rtruediv__ = lambda self, other: _no_truediv(other, self)


def as_dimension(value):
    """A Dimension of an int, None or a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension):
    """The number of a Dimension; other values as they are."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


class TensorShape:
    """The shape of a tensor: a list of dimensions, or nothing if not even the rank is known.

    >>> tf.TensorShape([None, 3]).is_compatible_with([2, 3])
    True
    """

    __slots__ = ("_dims_tuple", "__weakref__")

    def __init__(self, dims):
        if dims is None or type(dims) is tuple and all(type(d) is int and d >= 0 for d in dims):
            self._dims_tuple = dims
        elif isinstance(dims, TensorShape):
            self._dims_tuple = dims._dims_tuple
        elif hasattr(dims, "unknown_rank") and hasattr(dims, "dim"):
            self._dims_tuple = (
                None
                if dims.unknown_rank
                else tuple(None if d.size == -1 else d.size for d in dims.dim)
            )
        elif isinstance(dims, (str, bytes)):
            raise TypeError(
                "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
                f"{dims}"
            )
        else:
            try:
                items = iter(dims)
            except TypeError:
                self._dims_tuple = (_number(dims),)
            else:
                self._dims_tuple = tuple(_number(d) for d in items)
            if any(d is not None and d < 0 for d in self._dims_tuple):
                Dimension(min(d for d in self._dims_tuple if d is not None))

    @property
    def dims(self):
        """A list of Dimension, or None if the rank is not known."""
        known = self._dims_tuple
        return None if known is None else [Dimension(d) for d in known]

    @property
    def _dims(self):
        return self.dims

    @property
    def rank(self):
        """The number of axes; None if it is unknown."""
        return None if self._dims_tuple is None else len(self._dims_tuple)

    @property
    def ndims(self):
        """The number of axes; None if it is unknown."""
        return self.rank

    def _known(self):
        if self._dims_tuple is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return self._dims_tuple

    def __len__(self):
        return len(self._known())

    def __bool__(self):
        return self._dims_tuple is not None

    def __iter__(self):
        if self._dims_tuple is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims_tuple if _gives_numbers else self.dims)

    def __getitem__(self, key):
        dims = self._dims_tuple
        if dims is not None:
            part = dims[key]
            if isinstance(key, slice):
                return TensorShape(part)
            return part if _gives_numbers else Dimension(part)
        if not isinstance(key, slice):
            return None if _gives_numbers else Dimension(None)
        start = 0 if key.start is None else key.start
        stop = key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return unknown_shape()
        return unknown_shape(ndims=max(stop - start, 0))

    def size_at(self, index):
        """The int of a dimension, or None if it is not known, whatever `shape[index]` gives."""
        return None if self._dims_tuple is None else self._dims_tuple[index]

    def dimension_at(self, index):
        """The Dimension at an index, whatever `shape[index]` gives."""
        return Dimension(self.size_at(index))

    def num_elements(self):
        """The number of elements, None if the shape is not fully known."""
        if not self.is_fully_defined():
            return None
        count = 1
        for dim in self._dims_tuple:
            count *= dim
        return count

    def is_fully_defined(self):
        """Whether the rank and all sizes are known."""
        return self._dims_tuple is not None and None not in self._dims_tuple

    def assert_is_fully_defined(self):
        """ValueError unless the rank and all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other):
        """Whether some fully known shape fits both."""
        other = as_shape(other)
        mine, theirs = self._dims_tuple, other._dims_tuple
        if mine is None or theirs is None:
            return True
        return len(mine) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(mine, theirs)
        )

    def assert_is_compatible_with(self, other):
        """ValueError if no shape could be both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def is_subtype_of(self, other):
        """Whether each shape that it allows the other one allows too."""
        mine, theirs = self._dims_tuple, other._dims_tuple
        if theirs is None:
            return True
        return (
            mine is not None
            and len(mine) == len(theirs)
            and all(b is None or a == b for a, b in zip(mine, theirs))
        )

    def most_specific_compatible_shape(self, other):
        """The narrowest shape that allows what either allows: sizes that differ are unknown."""
        other = as_shape(other)
        if self.rank is None or other.rank is None or self.rank != other.rank:
            return unknown_shape()
        return TensorShape(
            [a if a == b else None for a, b in zip(self._dims_tuple, other._dims_tuple)]
        )

    def merge_with(self, other):
        """What both say together; ValueError if they contradict each other."""
        other = as_shape(other)
        if self._dims_tuple is None:
            return other
        if other._dims_tuple is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape(
            [b if a is None else a for a, b in zip(self._dims_tuple, other._dims_tuple)]
        )

    def concatenate(self, other):
        """The axes of both, one after the other; unknown if one is."""
        other = as_shape(other)
        if self._dims_tuple is None or other._dims_tuple is None:
            return unknown_shape()
        return TensorShape(self._dims_tuple + other._dims_tuple)

    def __add__(self, other):
        try:
            return self.concatenate(other)
        except TypeError:
            return NotImplemented

    def __radd__(self, other):
        try:
            return as_shape(other).concatenate(self)
        except TypeError:
            return NotImplemented

    def assert_has_rank(self, rank):
        """ValueError if the rank is known and another one."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other):
        """ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def with_rank(self, rank):
        """The shape, of that rank: if its own was unknown, with unknown sizes. ValueError for
        another one.
        """
        if self._dims_tuple is not None and len(self._dims_tuple) == rank:
            return self
        try:
            return self.merge_with(unknown_shape(ndims=rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank):
        """The shape itself; ValueError if it is known to have fewer axes."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """The shape itself; ValueError if it is known to have more axes."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def as_list(self):
        """A list of int and None."""
        if self._dims_tuple is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims_tuple)

    def as_proto(self):
        """The shape as a TensorShapeProto message."""
        if self._dims_tuple is None:
            return messages.TensorShapeProto(unknown_rank=True)
        dims = [{"size": -1 if d is None else d} for d in self._dims_tuple]
        return messages.TensorShapeProto(dim=dims)

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._dims_tuple == other._dims_tuple

    def __ne__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if _gives_numbers:
            return self._dims_tuple != other._dims_tuple
        if self.rank is None or other.rank is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self.is_compatible_with(other)  # what is not known may be equal

    def __hash__(self):
        return hash(self._dims_tuple)

    def __reduce__(self):
        return TensorShape, (self._dims_tuple,)

    def __repr__(self):
        if _gives_numbers and self._dims_tuple is not None:
            return f"TensorShape({list(self._dims_tuple)})"
        return f"TensorShape({self.dims})"

    def __str__(self):
        dims = self._dims_tuple
        if dims is None:
            return "<unknown>"
        unknown = "None" if defaults.is_eager_on() else "?"
        inner = ", ".join(unknown if d is None else str(d) for d in dims)
        return f"({inner},)" if len(dims) == 1 else f"({inner})"


def as_shape(value):
    """A TensorShape of anything that says one."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank=None, ndims=None):
    """A shape of unknown dimensions; of unknown rank too unless it is given (or `ndims`)."""
    rank = ndims if rank is None else rank
    return TensorShape(None if rank is None else [None] * rank)


def scalar():
    return TensorShape(())


def from_dims(dims):
    """A TensorShape of what the extension gives: None, or a tuple of int and None."""
    shape = TensorShape.__new__(TensorShape)
    shape._dims_tuple = dims
    return shape
