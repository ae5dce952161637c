"""Arguments and results of functions as messages: the StructuredValues of saved models."""

import collections

import numpy as np

from rheos.framework import dtypes, messages, nest
from rheos.framework.operation import Tensor
from rheos.framework.tensor_proto import make_ndarray
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, type_spec_from_value


class Unknown:
    """Something of a saved model that no value of a call is like."""

    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return f"<{self.kind}>"


_SPECS = {}  # {number of TypeSpecProto.TypeSpecClass: class}


def register_spec(number, spec):
    """Has specs of a class kept by saved models under a number."""
    _SPECS[number] = spec


_EXTENSION_TYPE = 13  # the number of the specs of programs' own types, which have names
_NAMED = {}  # {name that the program gave: class of specs}


def register_named_spec(name, spec):
    """Has specs of a program's type kept by saved models under a name; ValueError if taken."""
    if _NAMED.setdefault(name, spec) is not spec:
        raise ValueError(f"{name} is already the name of {_NAMED[name].__qualname__}")


def named_specs():
    """{name: class} of the specs of programs' types."""
    return _NAMED


def decode_spec(value):
    """The spec that a TypeSpecProto stands for; Unknown for classes of other packages."""
    if value.type_spec_class == _EXTENSION_TYPE and value.type_spec_class_name in _NAMED:
        spec = _NAMED[value.type_spec_class_name]
        return spec._deserialize(decode(value.type_state))
    spec = _SPECS.get(value.type_spec_class)
    if spec is None:
        return Unknown(value.type_spec_class_name or "TypeSpec")
    return spec(*decode(value.type_state))


def encode_spec(made, value):
    """Fills in a TypeSpecProto with a spec, or that of a value; TypeError for unknown classes."""
    spec = value if isinstance(value, TypeSpec) else type_spec_from_value(value)
    name = next((name for name, kind in _NAMED.items() if type(spec) is kind), None)
    own = [] if name is None else [(_EXTENSION_TYPE, type(spec))]
    for number, kind in (*_SPECS.items(), *own):
        if type(spec) is kind:
            made.type_spec_class = number
            made.type_spec_class_name = name or kind.__name__
            made.type_state.CopyFrom(encode(tuple(spec._serialize())))
            made.num_flat_components = len(nest.flatten(spec._of_specs(), expand_composites=True))
            return
    raise TypeError(f"a saved model cannot have {spec!r} among the arguments of a function")


def _named_tuple(value):
    keys = [pair.key for pair in value.values]
    return collections.namedtuple(value.name or "Tuple", keys)(
        *(decode(pair.value) for pair in value.values)
    )


def _spec(value):
    shape, dtype = TensorShape(value.shape), dtypes.as_dtype(value.dtype)
    return TensorSpec(shape, dtype, value.name or None)


_DECODERS = {
    "none_value": lambda v: None,
    "float64_value": float,
    "int64_value": int,
    "string_value": str,
    "bool_value": bool,
    "tensor_shape_value": TensorShape,
    "tensor_dtype_value": dtypes.as_dtype,
    "tensor_spec_value": _spec,
    "bounded_tensor_spec_value": _spec,
    "list_value": lambda v: [decode(one) for one in v.values],
    "tuple_value": lambda v: tuple(decode(one) for one in v.values),
    "dict_value": lambda v: {key: decode(one) for key, one in v.fields.items()},
    "named_tuple_value": _named_tuple,
    "tensor_value": make_ndarray,
    "numpy_value": make_ndarray,
    "type_spec_value": decode_spec,
}


def decode(message):
    """The value that a StructuredValue stands for; Unknown for types of other packages."""
    kind = message.WhichOneof("kind")
    if kind is None:
        return Unknown("nothing")
    return _DECODERS[kind](getattr(message, kind))


def _encode_parts(made, value):
    if isinstance(value, dict):
        made.dict_value.SetInParent()
        for key, one in value.items():
            if not isinstance(key, str):
                raise TypeError(f"a saved model has texts as keys of dicts, not {key!r}")
            made.dict_value.fields[key].CopyFrom(encode(one))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        for key, one in zip(value._fields, value):
            made.named_tuple_value.values.add(key=key).value.CopyFrom(encode(one))
    else:
        parts = made.tuple_value if isinstance(value, tuple) else made.list_value
        parts.SetInParent()
        parts.values.extend(encode(one) for one in value)


def _encode_array(made, value):
    made.dtype = dtypes.as_dtype(value.dtype).as_datatype_enum
    made.tensor_shape.CopyFrom(TensorShape(value.shape).as_proto())
    if value.dtype.kind in "OSU":
        made.string_val.extend(t if isinstance(t, bytes) else t.encode() for t in value.flat)
    else:
        made.tensor_content = value.tobytes()


def encode(value):
    """A value as a StructuredValue; TypeError if a saved model cannot have it."""
    made = messages.StructuredValue()
    if value is None:
        made.none_value.SetInParent()
    elif isinstance(value, bool):
        made.bool_value = value
    elif isinstance(value, int):
        made.int64_value = value
    elif isinstance(value, float):
        made.float64_value = value
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, dtypes.DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TensorShape):
        made.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, TensorSpec):
        spec = made.tensor_spec_value
        spec.shape.CopyFrom(value.shape.as_proto())
        spec.dtype = value.dtype.as_datatype_enum
        spec.name = value.name or ""
    elif isinstance(value, (dict, tuple, list)):
        _encode_parts(made, value)
    elif isinstance(value, np.ndarray):
        _encode_array(made.numpy_value, value)
    elif getattr(value, "_is_eager", False) and isinstance(value, Tensor):
        _encode_array(made.tensor_value, np.asarray(value.numpy()))
    elif isinstance(value, TypeSpec) or nest.is_composite(value):
        encode_spec(made.type_spec_value, value)
    else:
        raise TypeError(f"a saved model cannot have {value!r} among the arguments of a function")
    return made
