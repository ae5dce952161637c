"""Fourier and cosine transforms."""

import math

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops, special_math_ops


def _complex(function_name, op_type, doc):
    def function(input, name=None):
        return op1(op_type, name, input)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (
        f"The {doc}.\n\n    input: complex64 or complex128. Returns the same shape and dtype.\n    "
    )
    return function


fft = _complex("fft", "FFT", "discrete Fourier transform over the last dimension")
ifft = _complex("ifft", "IFFT", "inverse of fft, over the last dimension")
fft2d = _complex("fft2d", "FFT2D", "discrete Fourier transform over the last 2 dimensions")
ifft2d = _complex("ifft2d", "IFFT2D", "inverse of fft2d, over the last 2 dimensions")
fft3d = _complex("fft3d", "FFT3D", "discrete Fourier transform over the last 3 dimensions")
ifft3d = _complex("ifft3d", "IFFT3D", "inverse of fft3d, over the last 3 dimensions")


def _fft_length(tensor, rank, inverse):
    """The length of the transform that the shape of a tensor asks for."""
    known = tensor.shape
    if known.ndims is not None and None not in known[-rank:].as_list():
        length = known[-rank:].as_list()
        if inverse and length[-1]:
            length[-1] = max(0, 2 * (length[-1] - 1))
        return convert_to_tensor(length, dtypes.int32)
    length = array_ops.shape(tensor)[-rank:]
    if inverse:
        last = math_ops.maximum(0, 2 * (length[-1:] - 1))
        length = array_ops.concat([length[:-1], last], 0)
    return length


def _fit(tensor, rank, length, inverse):
    """Zeros at the end of dimensions that are shorter than the transform."""
    wanted = constant_value(length)
    if wanted is None or tensor.shape.ndims is None:
        return tensor
    wanted = [int(n) for n in wanted]
    if inverse and wanted[-1]:
        wanted[-1] = wanted[-1] // 2 + 1
    have = tensor.shape[-rank:].as_list()
    if any(d is None for d in have):
        return tensor
    more = [max(w - d, 0) for w, d in zip(wanted, have)]
    if not any(more):
        return tensor
    before = [[0, 0]] * (tensor.shape.ndims - rank)
    return array_ops.pad(tensor, before + [[0, m] for m in more])


def _other_type(dtype):
    """The attribute that says what a transform gives, for a dtype that it is given."""
    if dtype.is_complex:
        return {"Treal": dtype.real_dtype}
    is_double = dtype == dtypes.float64
    return {"Tcomplex": dtypes.complex128 if is_double else dtypes.complex64}


def _real(function_name, op_type, rank, inverse, doc):
    default = function_name

    def function(input_tensor, fft_length=None, name=None):
        with name_scope(name, default, [input_tensor, fft_length]) as name:
            dtype = dtypes.complex64 if inverse else dtypes.float32
            input_tensor = convert_to_tensor(input_tensor, preferred_dtype=dtype)
            input_tensor.shape.with_rank_at_least(rank)
            if fft_length is None:
                length = _fft_length(input_tensor, rank, inverse)
            else:
                length = convert_to_tensor(fft_length, dtypes.int32)
            input_tensor = _fit(input_tensor, rank, length, inverse)
            return op1(op_type, name, input_tensor, length, **_other_type(input_tensor.dtype))

    function.__name__ = function.__qualname__ = function_name
    kinds = ("complex64", "float32") if inverse else ("float32", "complex64")
    function.__doc__ = (
        f"The {doc}.\n\n"
        f"    input_tensor: {kinds[0]}, or twice as wide. fft_length: ({rank},), the length of\n"
        "    the transform, by default what the shape tells; shorter dimensions are filled with\n"
        "    zeros, longer cut.\n"
        f"    Returns {kinds[1]}; a spectrum's last dimension has fft_length / 2 + 1 values.\n"
        "    "
    )
    return function


rfft = _real("rfft", "RFFT", 1, False, "Fourier transform of real numbers, last dimension")
irfft = _real("irfft", "IRFFT", 1, True, "inverse of rfft, over the last dimension")
rfft2d = _real("rfft2d", "RFFT2D", 2, False, "Fourier transform of real numbers, last 2 dimensions")
irfft2d = _real("irfft2d", "IRFFT2D", 2, True, "inverse of rfft2d, over the last 2 dimensions")
rfft3d = _real("rfft3d", "RFFT3D", 3, False, "Fourier transform of real numbers, last 3 dimensions")
irfft3d = _real("irfft3d", "IRFFT3D", 3, True, "inverse of rfft3d, over the last 3 dimensions")


def _check_dct(type, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform over the last dimension.

    input: float32 (..., length). type: 1, 2, 3 or 4. n: the length, the input cut or filled with
    zeros to it. norm: None or "ortho". Returns float32 (..., n).
    """
    _check_dct(type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        input = convert_to_tensor(input, dtype=dtypes.float32)
        if n is not None:
            length = input.shape.size_at(-1) or n
            if n < length:
                input = input[..., 0:n]
            elif n > length:
                rank = input.shape.ndims
                input = array_ops.pad(input, [[0, 0]] * (rank - 1) + [[0, n - length]])
        size = input.shape.size_at(-1) or array_ops.shape(input)[-1]
        if type == 1 and input.shape.size_at(-1) == 1:
            raise ValueError("DCT-I requires the dimension to be greater than one.")
        if type == 1:
            mirrored = array_ops.concat([input, input[..., -2:0:-1]], -1)
            return special_math_ops.real(rfft(mirrored))
        if type == 4:
            result = dct(input, n=2 * size)[..., 1::2]
            factor = math.sqrt(0.5) * math_ops.rsqrt(math_ops.to_float(size))
            return result * factor if norm == "ortho" else result
        places = math_ops.range(math_ops.to_float(size))
        if type == 2:
            angle = -places * math.pi * 0.5 / math_ops.to_float(size)
            turn = 2.0 * math_ops.exp(special_math_ops.complex(array_ops.zeros_like(angle), angle))
            spectrum = rfft(input, fft_length=[2 * size])[..., :size]
            result = special_math_ops.real(spectrum * turn)
            if norm == "ortho":
                first = 0.5 * math_ops.rsqrt(math_ops.to_float(size))
                rest = first * math.sqrt(2.0)
                weights = array_ops.pad(
                    array_ops.expand_dims(first, 0), [[0, size - 1]], constant_values=rest
                )
                result *= weights
            return result
        if norm == "ortho":
            first = math_ops.sqrt(math_ops.to_float(size))
            rest = first * math.sqrt(0.5)
            input *= array_ops.pad(
                array_ops.expand_dims(first, 0), [[0, size - 1]], constant_values=rest
            )
        else:
            input *= math_ops.to_float(size)
        angle = places * math.pi * 0.5 / math_ops.to_float(size)
        turn = 2.0 * math_ops.exp(special_math_ops.complex(array_ops.zeros_like(angle), angle))
        spectrum = special_math_ops.complex(input, array_ops.zeros_like(input)) * turn
        return irfft(spectrum, fft_length=[2 * size])[..., :size]


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of dct of the same type, up to a factor unless norm is "ortho"."""
    _check_dct(type, n, axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, axis, norm, name)


def _shift(x, axes, name, default, inverse):
    with name_scope(name, default):
        x = convert_to_tensor(x)
        sizes = array_ops.shape(x)
        if axes is None:
            axes = list(range(x.shape.ndims))
        elif isinstance(axes, int):
            sizes = sizes[axes]
        else:
            axes = list(axes)
            sizes = array_ops.gather(sizes, axes)
        half = sizes // 2
        return rearrange_ops.roll(x, -half if inverse else half, axes)


def fftshift(x, axes=None, name=None):
    """Moves the zero frequency to the middle along `axes` (None: all); the shape stays."""
    return _shift(x, axes, name, "fftshift", False)


def ifftshift(x, axes=None, name=None):
    """The inverse of fftshift."""
    return _shift(x, axes, name, "ifftshift", True)
