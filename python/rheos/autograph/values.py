"""Variables without a value, and what else the operators of converted code have in common."""

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops


class Undefined:
    """Stands for the value of a variable that has none."""

    def __init__(self, name):
        self.name = name

    def _refuse(self, *_, **__):
        raise UnboundLocalError(f"'{self.name}' is used before assignment")

    __getattr__ = __getitem__ = __call__ = __bool__ = __iter__ = __len__ = _refuse

    def __repr__(self):
        return f"<'{self.name}', which has no value>"


class UndefinedReturn(Undefined):
    """Stands for what a function returns that has returned nothing yet."""

    def __init__(self):
        self.name = "the returned value"


def is_undefined(value):
    return isinstance(value, Undefined)


def is_defined(value):
    return not isinstance(value, Undefined)


def ld(value):
    """The value of a variable; UnboundLocalError if it has none."""
    if isinstance(value, Undefined):
        value._refuse()
    return value


def place(read, name):
    """What is at a place of an object; Undefined if nothing is."""
    try:
        return read()
    except (AttributeError, KeyError, IndexError, UnboundLocalError):
        return Undefined(name)


def forget(parts, is_item):
    """Takes away what is at a place: parts() gives an object and a key, or an attribute's name."""
    try:
        target, key = parts()
        if is_item:
            del target[key]
        else:
            delattr(target, key)
    except (AttributeError, KeyError, IndexError, TypeError, UnboundLocalError):
        pass  # nothing is there


def returned(value, did_return=True):
    """What a function returns that ends with `value`.

    did_return: whether a return was met; where the graph tells, the function fails if none was,
    since no tensor can be None.
    """
    if isinstance(value, Undefined):
        return None
    if not is_symbolic(did_return) or value is None:
        return value
    text = "loop must iterate at least once to initialize the function return value"
    check = control_flow_ops.Assert(did_return, [text])
    with control_dependencies([check]):
        return nest.map_leaves(_after_check, value)


def _after_check(leaf):
    return array_ops.identity(leaf) if isinstance(leaf, Tensor) else leaf


def is_symbolic(value):
    """Whether the graph that is built has to look at the value: a tensor or variable."""
    if not isinstance(value, (Tensor, _VariableBase)):
        return False
    return not get_default_graph()._is_eager or isinstance(value, Tensor) and not value._is_eager


def condition(value, of):
    """A value as a scalar boolean tensor; ValueError if it is of another dtype or has elements."""
    tensor = convert_to_tensor(value)
    if tensor.dtype.base_dtype != dtypes.bool:
        raise ValueError(
            f"condition of {of} expected to be `tf.bool` scalar, got {tensor}; to use as boolean "
            "Tensor, use `tf.cast`; to check for None, use `is not None`"
        )
    dims = tensor.shape.dims
    if dims is not None and any(dim.value not in (None, 1) for dim in dims):
        raise ValueError(
            f"condition of {of} expected to be `tf.bool` scalar, got {tensor}; to check for None, "
            "use `is not None`"
        )
    return tensor
