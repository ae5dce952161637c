"""Functions of numbers that only TensorFlow 2 has, or that take other dtypes there."""

import math

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, runs_op
from rheos.framework.operation import Tensor
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops, cast_ops
from rheos.ops.math import math_ops, special_math_ops


def _plain(name, op_type, doc):
    return math_ops._unary(name, op_type, doc)


bessel_i0 = _plain("bessel_i0", "BesselI0", "The modified Bessel function I of order 0.")
bessel_i0e = _plain("bessel_i0e", "BesselI0e", "bessel_i0 times exp(-|x|).")
bessel_i1 = _plain("bessel_i1", "BesselI1", "The modified Bessel function I of order 1.")
bessel_i1e = _plain("bessel_i1e", "BesselI1e", "bessel_i1 times exp(-|x|).")
bessel_j0 = _plain("bessel_j0", "BesselJ0", "The Bessel function J of order 0.")
bessel_j1 = _plain("bessel_j1", "BesselJ1", "The Bessel function J of order 1.")
bessel_k0 = _plain("bessel_k0", "BesselK0", "The modified Bessel function K of order 0.")
bessel_k0e = _plain("bessel_k0e", "BesselK0e", "bessel_k0 times exp(x).")
bessel_k1 = _plain("bessel_k1", "BesselK1", "The modified Bessel function K of order 1.")
bessel_k1e = _plain("bessel_k1e", "BesselK1e", "bessel_k1 times exp(x).")
bessel_y0 = _plain("bessel_y0", "BesselY0", "The Bessel function Y of order 0.")
bessel_y1 = _plain("bessel_y1", "BesselY1", "The Bessel function Y of order 1.")
dawsn = _plain("dawsn", "Dawsn", "Dawson's integral.")
expint = _plain("expint", "Expint", "The exponential integral.")
fresnel_cos = _plain("fresnel_cos", "FresnelCos", "Fresnel's cosine integral.")
fresnel_sin = _plain("fresnel_sin", "FresnelSin", "Fresnel's sine integral.")
spence = _plain("spence", "Spence", "Spence's function, the dilogarithm of 1 - x.")
erfinv = _plain("erfinv", "Erfinv", "The inverse of the error function.")
ndtri = _plain("ndtri", "Ndtri", "The quantiles of the standard normal distribution.")
xlog1py = math_ops._binary("xlog1py", "Xlog1py", "x * log1p(y), 0 where x is 0.")


@ragged_too("elementwise")
def erfcinv(x, name=None):
    """The inverse of the complementary error function."""
    x = convert_to_tensor(x)
    return math_ops.multiply(-ndtri(0.5 * x), 0.5**0.5, name=name)


@runs_op("AddV2", "x y", numbers="real")
@ragged_too("binary")
def add(x, y, name=None):
    """x + y; of strings, x with y behind it.

    >>> print(tf.add([1, 2], [[10], [20]]).numpy())
    [[11 12]
     [21 22]]
    """
    with name_scope(name, "Add", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
        return op1("Add" if x.dtype.base_dtype == dtypes.string else "AddV2", name, x, y)


@ragged_too("elementwise")
def angle(input, name=None):
    """The angle of complex numbers in radians; of real ones pi below 0 and else 0."""
    with name_scope(name, "Angle", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return special_math_ops.angle(input, name=name)
        zeros = array_ops.zeros_like(input)
        return op1("SelectV2", name, input < 0, math.pi * array_ops.ones_like(input), zeros)


@runs_op("DivNoNan", "x y", numbers="floating")
@ragged_too("binary")
def divide_no_nan(x, y, name=None):
    """x / y, 0 where y is 0; whole numbers are divided as by `/`.

    >>> print(tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy())
    [0.  0.5]
    """
    with name_scope(name, "div_no_nan", [x, y]) as name:
        hint = y.dtype.base_dtype if isinstance(y, Tensor) else None
        x = convert_to_tensor(x, dtype_hint=hint, name="x")
        y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise TypeError(
                f"`x` and `y` must have the same dtype, got {x.dtype.base_dtype!r} != "
                f"{y.dtype.base_dtype!r}."
            )
        wide = math_ops.DIVISION.get(x.dtype.base_dtype.name)
        if wide is not None:
            x, y = cast_ops.cast(x, wide), cast_ops.cast(y, wide)
        return op1("DivNoNan", name, x, y)
