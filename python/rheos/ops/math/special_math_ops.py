"""Special functions and sums of products."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.math.math_ops import _unary
from rheos.ops.nn.nn_ops import softplus

lgamma = _unary("lgamma", "Lgamma", "The logarithm of the absolute value of the gamma function.")
digamma = _unary("digamma", "Digamma", "The derivative of lgamma.")
bessel_i0e = _unary("bessel_i0e", "BesselI0e", "exp(-abs(x)) * bessel_i0(x)")
bessel_i1e = _unary("bessel_i1e", "BesselI1e", "exp(-abs(x)) * bessel_i1(x)")


def bessel_i0(x, name=None):
    """The modified Bessel function of order 0, element by element; x is floating point."""
    with name_scope(name, "bessel_i0", [x]):
        return math_ops.exp(math_ops.abs(x)) * bessel_i0e(x)


def bessel_i1(x, name=None):
    """The modified Bessel function of order 1, element by element; x is floating point."""
    with name_scope(name, "bessel_i1", [x]):
        return math_ops.exp(math_ops.abs(x)) * bessel_i1e(x)


def igamma(a, x, name=None):
    """The lower regularized incomplete gamma function P(a, x); the shapes broadcast."""
    return op1("Igamma", name, a, x)


def igammac(a, x, name=None):
    """The upper regularized incomplete gamma function Q(a, x); the shapes broadcast."""
    return op1("Igammac", name, a, x)


def betainc(a, b, x, name=None):
    """The regularized incomplete beta function I_x(a, b); the shapes are equal, or scalars."""
    return op1("Betainc", name, a, b, x)


@ragged_too("binary")
def zeta(x, q, name=None):
    """The Hurwitz zeta function, the sum over n of (q + n) ** -x; the shapes broadcast."""
    return op1("Zeta", name, x, q)


def polygamma(a, x, name=None):
    """The a-th derivative of digamma at x; the shapes broadcast."""
    return op1("Polygamma", name, a, x)


def lbeta(x, name=None):
    """The logarithm of the absolute value of the beta function along the last dimension.

    x: (..., n), floating point. Returns (...); 0 of an empty row counts as log of infinity.
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        of_parts = math_ops.reduce_sum(lgamma(x), axis=[-1])
        of_sum = lgamma(math_ops.reduce_sum(x, axis=[-1]))
        return of_parts - of_sum


def polyval(coeffs, x, name=None):
    """The polynomial with these coefficients, the highest power first, at x.

    coeffs: a list of tensors whose shapes broadcast with x. ValueError if it is no list.
    """
    with name_scope(name, "polyval", [*coeffs, x] if isinstance(coeffs, list) else [x]):
        if not isinstance(coeffs, list):
            raise ValueError(f"Argument coeffs must be list type found {type(coeffs)}.")
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return array_ops.zeros_like(x, name=name)
        coeffs = [convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        result = coeffs[0]
        for c in coeffs[1:]:
            result = c + result * x
        return result


@ragged_too("elementwise")
def log_sigmoid(x, name=None):
    """log(sigmoid(x)), computed so that it does not overflow."""
    with name_scope(name, "LogSigmoid", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return math_ops.negative(softplus(-x), name=name)


@ragged_too("elementwise")
def real(input, name=None):
    """The real part of complex numbers, element by element; real tensors as they are."""
    with name_scope(name, "Real", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return op1("Real", name, input, Tout=input.dtype.real_dtype)
        return input


@ragged_too("elementwise")
def imag(input, name=None):
    """The imaginary part of complex numbers, element by element; zeros for real tensors."""
    with name_scope(name, "Imag", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return op1("Imag", name, input, Tout=input.dtype.real_dtype)
        return array_ops.zeros_like(input)


@ragged_too("elementwise")
def angle(input, name=None):
    """The angle of complex numbers in radians; zeros for real tensors."""
    with name_scope(name, "Angle", [input]) as name:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return op1("Angle", name, input, Tout=input.dtype.real_dtype)
        return array_ops.zeros_like(input)


@ragged_too("binary")
def complex(real, imag, name=None):
    """Complex numbers of their parts.

    real, imag: float32 or float64, the same, whose shapes broadcast. Returns complex64 or
    complex128. TypeError for other dtypes.
    """
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as name:
        pair = (real.dtype.base_dtype, imag.dtype.base_dtype)
        if pair == (dtypes.float64, dtypes.float64):
            made = dtypes.complex128
        elif pair == (dtypes.float32, dtypes.float32):
            made = dtypes.complex64
        else:
            raise TypeError(
                f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}"
            )
        return op1("Complex", name, real, imag, Tout=made)


def to_complex64(x, name="ToComplex64"):
    """x as complex64."""
    return math_ops.cast(x, dtypes.complex64, name=name)


def to_complex128(x, name="ToComplex128"):
    """x as complex128."""
    return math_ops.cast(x, dtypes.complex128, name=name)


@ragged_too("binary")
def nextafter(x1, x2, name=None):
    """The floating point number next to x1 on the way to x2; the shapes broadcast."""
    return op1("NextAfter", name, x1, x2)


@ragged_too("binary")
def multiply_no_nan(x, y, name=None):
    """x * y, 0 where y is 0 even if x is infinite or NaN; the shapes broadcast."""
    with name_scope(name, "multiply_no_nan", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return op1("MulNoNan", name, x, y)


@ragged_too("elementwise")
def reciprocal_no_nan(x, name=None):
    """1 / x, 0 where x is 0. TypeError unless x is floating point or complex."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = array_ops.constant(1, dtype=x.dtype.base_dtype, name="one")
        return op1("DivNoNan", scope, one, x)


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running log(sum(exp(x))) along `axis`; the shape stays.

    exclusive: whether an element's own value is left out. reverse: from the other end.
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return op1("CumulativeLogsumexp", name, x, axis, exclusive=exclusive, reverse=reverse)


@ragged_too("variance_of")
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance over the dimensions in `axis` (None: all), which stay as 1 if `keepdims`.

    >>> print(tf.math.reduce_variance([[1.0, 5.0], [2.0, 2.0]], axis=1).numpy())
    [4. 0.]
    """
    with name_scope(name or "reduce_variance"):
        means = math_ops.reduce_mean(input_tensor, axis=axis, keepdims=True)
        squares = math_ops.square(input_tensor - means)
        return math_ops.reduce_mean(squares, axis=axis, keepdims=keepdims)


@ragged_too("deviation_of")
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation over the dimensions in `axis`; see reduce_variance.

    >>> print(tf.math.reduce_std([[1.0, 3.0], [2.0, 2.0]], axis=1).numpy())
    [1. 0.]
    """
    with name_scope(name or "reduce_std"):
        return math_ops.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the sum of squares over the dimensions in `axis` (None: all)."""
    return math_ops._reduce("EuclideanNorm", input_tensor, axis, keepdims, name, None, None)
