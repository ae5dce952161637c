"""TensorProto messages: constants as arrays, and arrays as constants."""

import numpy as np

from rheos.framework import dtypes, messages

# The field of a TensorProto that holds values of a type one by one.
_FIELDS = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int64: "int64_val",
    dtypes.bool: "bool_val",
    dtypes.string: "string_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
}


def _field(dtype):
    return _FIELDS.get(dtype, "int_val")


def _bytes_of(item):
    return item if isinstance(item, bytes) else str(item).encode()


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False):
    """A TensorProto of values: an array, a number, a text or lists of these.

    shape: the elements are laid out in it; if they are fewer, the last one goes on. ValueError if
    they are more, or with verify_shape if the shape of the values is another one.
    """
    if isinstance(values, messages.TensorProto):
        return values
    dtype = dtypes.as_dtype(dtype).base_dtype if dtype is not None else None
    if dtype == dtypes.string:
        array = np.asarray(values, dtype=object)
    else:
        array = np.asarray(values, dtype=dtype.as_numpy_dtype if dtype is not None else None)
        if dtype is None:
            # Python's own numbers are of TensorFlow's default types.
            is_own = not isinstance(values, (np.ndarray, np.generic))
            defaults = {"float64": np.float32, "int64": np.int32} if is_own else {}
            smaller = defaults.get(array.dtype.name)
            if smaller is not None and np.array_equal(array.astype(smaller), array, equal_nan=True):
                array = array.astype(smaller)
            elif smaller is np.float32:
                array = array.astype(smaller)
    kind = dtypes.string if array.dtype.kind in "OSU" else dtypes.as_dtype(array.dtype)
    if dtype is not None and kind != dtype:
        raise TypeError(f"Expected {dtype.name}, got values of type {kind.name}.")
    dims = array.shape if shape is None else tuple(int(d) for d in shape)
    size = int(np.prod(dims, dtype=np.int64))
    if verify_shape and dims != array.shape:
        raise TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    if array.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received {array.size}"
        )
    proto = messages.TensorProto(dtype=kind.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for dim in dims:
        proto.tensor_shape.dim.add(size=dim)
    if kind == dtypes.string:
        proto.string_val.extend(_bytes_of(item) for item in array.ravel())
    elif array.size > 1 and array.size == size:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    else:
        flat = array.ravel()
        if _field(kind) == "half_val":
            flat = flat.view(np.uint16)
        elif kind.is_complex:
            flat = flat.view(kind.real_dtype.as_numpy_dtype)
        getattr(proto, _field(kind)).extend(flat.tolist())
    return proto


def make_ndarray(tensor):
    """The values of a TensorProto, as an array of its shape and type; strings as objects."""
    dims = [d.size for d in tensor.tensor_shape.dim]
    size = int(np.prod(dims, dtype=np.int64))
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype == dtypes.string:
        values = np.array(list(tensor.string_val) or [b""], dtype=object)
    elif tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype.as_numpy_dtype).reshape(dims).copy()
    else:
        flat = list(getattr(tensor, _field(dtype)))
        if _field(dtype) == "half_val":
            values = np.array(flat, np.uint16).view(dtype.as_numpy_dtype)
        elif dtype.is_complex:
            values = np.array(flat, dtype.real_dtype.as_numpy_dtype).view(dtype.as_numpy_dtype)
        else:
            values = np.array(flat, dtype.as_numpy_dtype)
    if not values.size:
        return np.zeros(dims, dtype.as_numpy_dtype)
    if values.size > size:
        values = values[:size]
    return np.concatenate([values, np.repeat(values[-1:], size - values.size)]).reshape(dims)
