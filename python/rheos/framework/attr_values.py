"""Attributes of nodes as messages, and as a graph's `_node` takes them."""

from rheos.framework import dtypes, messages, signatures, tensor_shape
from rheos.framework.tensor_proto import make_ndarray

_FIELDS = {
    signatures.STRING: "s",
    signatures.INT: "i",
    signatures.FLOAT: "f",
    signatures.BOOL: "b",
    signatures.TYPE: "type",
    signatures.SHAPE: "shape",
    signatures.TENSOR: "tensor",
    signatures.FUNC: "func",
}
_KINDS = {field: kind for kind, field in _FIELDS.items()}


def tensor_value(value):
    """A tensor of an attribute: of a TensorProto its values with their dtype."""
    if isinstance(value, messages.TensorProto):
        return make_ndarray(value), dtypes.as_dtype(value.dtype)
    return value


def _plain(kind, value):
    if kind == signatures.TYPE:
        return dtypes.as_dtype(value)
    if kind == signatures.SHAPE:
        return tensor_shape.TensorShape(value)
    if kind == signatures.FUNC:
        return value.name
    return tensor_value(value)


def _list_kind(values):
    """The kind of what is in a list; of an empty one that of strings, which has no less in it."""
    for field, kind in _KINDS.items():
        if len(getattr(values, field)):
            return kind
    return signatures.STRING


def attr_tuple(name, message, kind=None):
    """(name, kind, value) of an AttrValue; `kind` is what the op's definition says, if it does.

    TypeError for what is no AttrValue, ValueError if it holds another kind.
    """
    if not isinstance(message, messages.AttrValue):
        raise TypeError(f"Attribute '{name}' is not an AttrValue message: {message!r}")
    field = message.WhichOneof("value")
    if field == "list":
        if kind is None:
            kind = signatures.list_kind(_list_kind(message.list))
        single = next(
            (one for one in _FIELDS if signatures.list_kind(one) == kind), signatures.STRING
        )
        values = getattr(message.list, _FIELDS[single])
        found = signatures.list_kind(single)
        value = [_plain(single, item) for item in values]
    elif field in _KINDS:
        found = _KINDS[field]
        value = _plain(found, getattr(message, field))
    else:
        raise ValueError(f"Attribute '{name}' has no value")
    if kind is not None and found != kind:
        raise ValueError(f"Attribute '{name}' has a value of another kind: {field}")
    return name, found, value
