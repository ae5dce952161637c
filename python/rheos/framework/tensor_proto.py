"""TensorProto messages as arrays."""

import numpy as np

from rheos.framework import dtypes

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


def _bfloat16(bits):
    """The numbers of these bits, in what stands for bfloat16 here."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(dtypes.bfloat16.as_numpy_dtype)


def make_ndarray(tensor):
    """The values of a TensorProto, as an array of its shape and type; strings as objects."""
    dims = [d.size for d in tensor.tensor_shape.dim]
    size = int(np.prod(dims, dtype=np.int64))
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype == dtypes.string:
        values = np.array(list(tensor.string_val) or [b""], dtype=object)
    elif tensor.tensor_content and dtype == dtypes.bfloat16:
        values = _bfloat16(np.frombuffer(tensor.tensor_content, np.uint16))
    elif tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype.as_numpy_dtype).reshape(dims).copy()
    else:
        flat = list(getattr(tensor, _field(dtype)))
        if dtype == dtypes.bfloat16:
            values = _bfloat16(np.array(flat, np.uint16))
        elif _field(dtype) == "half_val":
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
