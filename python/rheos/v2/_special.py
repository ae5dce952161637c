"""Special functions that only TensorFlow 2 has, one op each."""

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.ragged import ragged_too
from rheos.ops import math_ops


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
