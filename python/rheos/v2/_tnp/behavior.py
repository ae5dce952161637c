"""Tensors that behave as NumPy's arrays: their operators promote, and they have its methods."""

from rheos.framework.eager import EagerTensor
from rheos.framework.operation import Tensor
from rheos.ops.state.eager_variables import EagerVariable
from rheos.v2._tnp import arrays, math, reductions, shapes


def _operator(function, is_reflected=False):
    if is_reflected:
        return lambda self, other: function(other, self)
    return lambda self, other: function(self, other)


_OPERATORS = {
    "add": math.add,
    "sub": math.subtract,
    "mul": math.multiply,
    "truediv": math.true_divide,
    "floordiv": math.floor_divide,
    "mod": math.mod,
    "pow": math.power,
    "matmul": math.matmul,
    "and": math.bitwise_and,
    "or": math.bitwise_or,
    "xor": math.bitwise_xor,
}
_COMPARISONS = {
    "lt": math.less,
    "le": math.less_equal,
    "gt": math.greater,
    "ge": math.greater_equal,
}


def _equality(function, otherwise):
    def method(self, other):
        if other is None:
            return otherwise
        try:
            return function(self, other)
        except (TypeError, ValueError):
            return otherwise

    return method


def astype(self, dtype):
    """The values as another dtype."""
    return arrays.asarray(self, dtype)


def reshape(self, *newshape, order="C"):
    """The elements in another shape."""
    if len(newshape) == 1:
        newshape = newshape[0]
    return shapes.reshape(self, newshape, order)


def transpose(self, *axes):
    """The axes in another order, by default turned around."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (list, tuple))):
        axes = axes[0]
    return shapes.transpose(self, axes or None)


def tolist(self):
    """The values as nested lists."""
    return self.numpy().tolist()


_METHODS = {
    "astype": astype,
    "clip": math.clip,
    "flatten": shapes.flatten,
    "max": reductions.max,
    "mean": reductions.mean,
    "min": reductions.min,
    "ravel": shapes.ravel,
    "reshape": reshape,
    "tolist": tolist,
    "transpose": transpose,
}


def _methods():
    """By name: what classes of tensors are given."""
    made = {}
    for name, function in _OPERATORS.items():
        made[f"__{name}__"] = _operator(function)
        made[f"__r{name}__"] = _operator(function, True)
    for name, function in _COMPARISONS.items():
        made[f"__{name}__"] = _operator(function)
    made["__eq__"] = _equality(math.equal, False)
    made["__ne__"] = _equality(math.not_equal, True)
    return made


def _indexing(kind):
    plain = kind.__getitem__

    def __getitem__(self, key):
        return shapes.getitem(plain, self, key)

    return __getitem__


_enabled = []


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """Gives tensors NumPy's methods (astype, reshape, T, ...), its indexing and its promotion.

    prefer_float32: Python's floats, and what is made of integers, have 32 bits.
    dtype_conversion_mode: "legacy", which is NumPy's promotion; "off" leaves all as it was. The
    lattices of weak types ("safe", "all") are not there: NotImplementedError.
    """
    if dtype_conversion_mode == "off":
        return
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"dtype_conversion_mode={dtype_conversion_mode!r}: tensors have no weak types; "
            "'legacy' is there"
        )
    if dtype_conversion_mode != "legacy":
        raise ValueError(f"The conversion mode {dtype_conversion_mode!r} is not supported.")
    arrays.prefer_float32(prefer_float32)
    if _enabled:
        return
    _enabled.append(True)
    for kind in (Tensor, EagerTensor):
        indexing = _indexing(kind)
        for name, function in {**_methods(), **_METHODS}.items():
            setattr(kind, name, function)
        kind.__getitem__ = indexing
        kind.T = property(shapes.transpose)
        kind.data = property(lambda self: self)
        kind.size = property(arrays.size)
        kind.__hash__ = None
    for name, function in _methods().items():
        setattr(EagerVariable, name, function)
