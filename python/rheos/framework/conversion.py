"""How values become tensors."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.from_ops import from_ops
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.marks import TensorLike
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.tensor_shape import Dimension, TensorShape

_conversions = []  # (priority, types, function), in order


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Makes `conversion_func(value, dtype, name, as_ref)` convert values of a type."""
    if not isinstance(base_type, type) and not (
        isinstance(base_type, tuple) and all(isinstance(x, type) for x in base_type)
    ):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])


def _check_tensor_dtype(value, dtype):
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
            f"{value.dtype.name}: {value!r}"
        )
    return value


def convert(value, dtype=None, preferred=None, name=None, graph=None, as_ref=False):
    """Any value as a Tensor of `graph` (the default one).

    dtype: what it has to be. preferred: what it should be if it can. as_ref: of a variable, the
    reference rather than the value.
    """
    if isinstance(value, Tensor):
        if value._is_eager:
            if graph is None:
                graph = get_default_graph()
            if not graph._is_eager:
                value = graph._capture(value, name)
        return _check_tensor_dtype(value, dtype)
    if isinstance(value, _VariableBase):
        if dtype is not None and not dtype.is_compatible_with(value.dtype.base_dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtype.name}' for variable of "
                f"type '{value.dtype.name}'"
            )
        return value._variable if as_ref else value._snapshot
    if graph is None:
        graph = get_default_graph()
    if _conversions:
        tensor = _registered(value, dtype, preferred, name, as_ref)
        if tensor is not None:
            return tensor
    tensor = graph._convert(value, dtype, preferred, name)
    if tensor is not NotImplemented:
        return tensor
    if isinstance(value, range):
        return convert(list(value), dtype, preferred, name, graph)
    return _convert_object(value, dtype, preferred, name, graph)


def _convert_for_operator(value, dtype, preferred, name, graph):
    with graph.as_default():
        tensor = convert(value, dtype, preferred, name, graph)
        return graph.capture(tensor, name) if graph.building_function else tensor


def _registered(value, dtype, preferred, name, as_ref):
    for _, types, function in _conversions:
        if not isinstance(value, types):
            continue
        result = NotImplemented
        if dtype is None and preferred is not None:
            try:
                result = function(value, dtype=preferred, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = NotImplemented
        if result is NotImplemented:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"Conversion function {function!r} for type {types} returned non-Tensor: {result!r}"
            )
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"Conversion function {function!r} for type {types} returned incompatible "
                f"dtype: requested = {dtype.base_dtype.name}, actual = {result.dtype.name}"
            )
        return result
    return None


def _fail(value):
    """The exception for what does not become a tensor: TensorFlow's differs by mode."""
    if get_default_graph()._is_eager:
        return ValueError(
            f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a "
            "Tensor."
        )
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider "
        "casting elements to a supported type."
    )


def _convert_object(value, dtype, preferred, name, graph):
    if value is None:
        raise _fail(value) if graph._is_eager else ValueError("None values not supported.")
    if isinstance(value, TensorShape):
        return _convert_shape(value, dtype, preferred, name, graph)
    if isinstance(value, Dimension):
        if value.value is None:
            raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
        return graph._constant(value.value, dtype or dtypes.int32, None, name or "Const")
    if isinstance(value, IndexedSlices):
        return from_ops.densify(value, dtype, name)
    if hasattr(value, "__tf_tensor__"):
        return _check_tensor_dtype(value.__tf_tensor__(dtype, name), dtype)
    if hasattr(value, "_convert_to_tensor"):
        return _check_tensor_dtype(value._convert_to_tensor(), dtype)
    if isinstance(value, (list, tuple)):
        tensor_dtype = _dtype_in(value)
        if tensor_dtype is not None:
            return _pack_list(value, dtype or preferred, tensor_dtype, name, graph)
        return _constant_any(_plain(value, value), dtype, preferred, name, graph)
    if isinstance(value, dtypes.DType):
        raise _fail(value)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _constant_any(np.asarray(value), dtype, preferred, name, graph)
    if _is_number(value):
        number = value.__index__() if hasattr(value, "__index__") else float(value)
        return _constant_any(number, dtype, preferred, name, graph)
    raise _fail(value)


def _constant_any(value, dtype, preferred, name, graph):
    result = graph._convert(value, dtype, preferred, name)
    if result is NotImplemented:
        raise _fail(value)
    return result


def _plain(item, whole):
    """A nested list with its Dimensions, sequences and array-likes as plain values."""
    if isinstance(item, (list, tuple, range)):
        return [_plain(part, whole) for part in item]
    if isinstance(item, TensorShape):
        return item.as_list()
    if isinstance(item, Dimension):
        if item.value is None:
            raise _fail(whole)
        return item.value
    if item is None:
        is_whole = whole is None and not get_default_graph()._is_eager
        raise ValueError("None values not supported.") if is_whole else _fail(_named(item, whole))
    if isinstance(item, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return item
    if hasattr(item, "__array__") or hasattr(item, "__array_interface__"):
        return np.asarray(item)
    if _is_number(item):
        return item.__index__() if hasattr(item, "__index__") else float(item)
    raise _fail(_named(item, whole))


def _is_number(value):
    """Whether an object is one number; a class is none, whatever its instances are."""
    return not isinstance(value, type) and (
        hasattr(value, "__index__") or hasattr(value, "__float__")
    )


def _named(item, whole):
    """What an error names: of values at once the item that is wrong, else all that it is in."""
    return item if whole is None or get_default_graph()._is_eager else whole


def _convert_shape(shape, dtype, preferred, name, graph):
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
    dims = shape.as_list()
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype.name}")
    big = any(d >= 2**31 for d in dims)
    if big and dtype == dtypes.int32:
        raise ValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({max(dims)})"
        )
    if dtype is None:
        dtype = dtypes.int64 if big or preferred == dtypes.int64 else dtypes.int32
    return graph._constant(dims, dtype, None, name or "shape_as_tensor")


def _is_tensor_like(value):
    return isinstance(value, (TensorLike, _VariableBase)) or (
        (hasattr(value, "is_tensor_like") or hasattr(value, "__tf_tensor__"))
        and hasattr(value, "dtype")
    )


def _base_dtype(value):
    return dtypes.as_dtype(value.dtype).base_dtype


def _dtype_in(items):
    """The dtype of the first tensor in a nested list, None if there is none."""
    for item in items:
        if _is_tensor_like(item):
            return _base_dtype(item)
        if isinstance(item, (list, tuple)):
            found = _dtype_in(item)
            if found is not None:
                return found
    return None


def _cast_parts(items, dtype):
    if _is_tensor_like(items):
        return from_ops.cast(items, dtype) if _base_dtype(items) != dtype else items
    if isinstance(items, (list, tuple)):
        return [_cast_parts(item, dtype) for item in items]
    return items


def _pack_list(items, dtype, tensor_dtype, name, graph):
    """A list with tensors in it becomes a Pack of them."""
    if dtype is None:
        dtype = tensor_dtype
    elif dtype.base_dtype != tensor_dtype:
        items = _cast_parts(items, dtype.base_dtype)
    return _pack(items, dtype.base_dtype, name or "packed", graph)


def _pack(items, dtype, name, graph):
    scope = graph._push_name_scope(name)
    try:
        must_pack = False
        parts = []
        for i, item in enumerate(items):
            if _is_tensor_like(item):
                if _base_dtype(item) != dtype:
                    raise TypeError(
                        f"Cannot convert a list containing a tensor of dtype "
                        f"{_base_dtype(item).name} to {dtype.name} (Tensor is: {item!r})"
                    )
                must_pack = True
            elif isinstance(item, (list, tuple)):
                item = _pack(item, dtype, str(i), graph)
                must_pack = must_pack or isinstance(item, Tensor)
            parts.append(item)
        if not must_pack:
            return _plain(parts, parts)
        tensors = [
            convert(part)
            if _is_tensor_like(part)
            else graph._constant(_plain(part, parts), dtype, None, str(i))
            for i, part in enumerate(parts)
        ]
        return graph._node("Pack", scope, tensors, ())._output(0)
    finally:
        graph._pop()


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """A Tensor of a Python value, array, variable, or list of these."""
    return convert(
        value,
        None if dtype is None else dtypes.as_dtype(dtype),
        None
        if (preferred_dtype or dtype_hint) is None
        else dtypes.as_dtype(preferred_dtype or dtype_hint),
        name,
    )


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """The value as a tensor; IndexedSlices as they are. ValueError if the dtype does not fit."""
    if isinstance(value, IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor "
                f"with dtype {value.dtype.name}: {value}"
            )
        return value
    return convert_to_tensor(value, dtype, name)


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [
        None
        if value is None
        else convert_to_tensor_or_indexed_slices(value, dtype, name and f"{name}_{i}")
        for i, value in enumerate(values)
    ]


_MIXED = "Can't convert Python sequence with mixed types to Tensor."


def _kinds_in(items):
    """The kinds of Python values in a nested list: what is text, and what is a number."""
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _kinds_in(item)
        elif isinstance(item, (str, bytes)):
            yield "text"
        elif isinstance(item, (bool, int, float, complex)):
            yield "number"


def _explain_ragged(value, is_value_error=True):
    """Raises for a list that is no rectangle, or is of texts and numbers; returns otherwise."""
    is_list = isinstance(value, (list, tuple))
    if get_default_graph()._is_eager:
        _explain_items(value)
    if get_default_graph()._is_eager and is_list:
        if len(set(_kinds_in(value))) > 1:
            raise ValueError(_MIXED)
        _raise_if_ragged(value, "Can't convert non-rectangular Python sequence to Tensor.")
        if is_value_error and any(isinstance(item, (list, tuple)) for item in value):
            if not all(isinstance(item, (list, tuple)) for item in value):
                raise ValueError(_MIXED)
    elif is_value_error and is_list:
        _raise_if_ragged(value, None)


def _explain_items(value):
    """ValueError for integers too large for a tensor and arrays of objects; returns otherwise."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind == "O":
            other = [x for x in value.flat if not isinstance(x, (str, bytes))]
            if other:
                raise _fail_array(f"Unsupported object type {type(other[0]).__name__}")
        elif value.dtype.kind in "mM":
            raise _fail_array(f"Unsupported numpy type: {value.dtype}")
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    elif isinstance(value, (list, tuple)):
        for item in value:
            _explain_items(item)


def _fail_array(why):
    return ValueError(f"Failed to convert a NumPy array to a Tensor ({why}).")


def _raise_if_ragged(value, words):
    """ValueError for a list that is no rectangle, by default with what its shape is."""

    def dims(item):
        if isinstance(item, (list, tuple)):
            return [len(item), *(dims(item[0]) if item else [])]
        return list(np.shape(item)) if isinstance(item, np.ndarray) else []

    def common(item):
        if not isinstance(item, (list, tuple)):
            return list(np.shape(item)) if isinstance(item, np.ndarray) else []
        parts = [common(part) for part in item]
        shared = []
        for sizes in zip(*parts):
            if any(size != sizes[0] for size in sizes):
                break
            shared.append(sizes[0])
        return [len(item), *shared]

    wanted, got = dims(value), common(value)
    if wanted != got:
        raise ValueError(
            words
            or f"Argument must be a dense tensor: {value} - got shape {got}, but wanted {wanted}."
        )
