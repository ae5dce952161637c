"""Functions of elements, one by one and of two arrays, with NumPy's dtypes."""

import numpy as np

from rheos.framework import dtypes
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.math import bitwise_ops, math_ops, special_math_ops
from rheos.v2._tnp.arrays import as_inexact, asarray, default_float, promoted

# ---- Of one array


def _unary(name, function, convert, doc):
    def apply(x):
        return function(convert(x))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return apply


def _of_floats(name, function, doc):
    return _unary(name, function, as_inexact, f"{doc} Integers become floats.")


def _of_any(name, function, doc):
    return _unary(name, function, asarray, doc)


sqrt = _of_floats("sqrt", math_ops.sqrt, "Square roots.")
exp = _of_floats("exp", math_ops.exp, "e to the powers.")
expm1 = _of_floats("expm1", math_ops.expm1, "exp(x) - 1.")
log = _of_floats("log", math_ops.log, "Natural logarithms.")
log1p = _of_floats("log1p", math_ops.log1p, "log(1 + x).")
sin = _of_floats("sin", math_ops.sin, "Sines.")
cos = _of_floats("cos", math_ops.cos, "Cosines.")
tan = _of_floats("tan", math_ops.tan, "Tangents.")
sinh = _of_floats("sinh", math_ops.sinh, "Hyperbolic sines.")
cosh = _of_floats("cosh", math_ops.cosh, "Hyperbolic cosines.")
tanh = _of_floats("tanh", math_ops.tanh, "Hyperbolic tangents.")
arcsin = _of_floats("arcsin", math_ops.asin, "Arc sines.")
arccos = _of_floats("arccos", math_ops.acos, "Arc cosines.")
arctan = _of_floats("arctan", math_ops.atan, "Arc tangents.")
arcsinh = _of_floats("arcsinh", math_ops.asinh, "Inverse hyperbolic sines.")
arccosh = _of_floats("arccosh", math_ops.acosh, "Inverse hyperbolic cosines.")
arctanh = _of_floats("arctanh", math_ops.atanh, "Inverse hyperbolic tangents.")
floor = _of_floats("floor", math_ops.floor, "The whole numbers below.")
ceil = _of_floats("ceil", math_ops.ceil, "The whole numbers above.")
negative = _of_any("negative", math_ops.negative, "-x")
positive = _of_any("positive", array_ops.identity, "x")
abs = _of_any("abs", math_ops.abs, "Absolute values.")
absolute = fabs = abs
square = _of_any("square", math_ops.square, "x * x")
conjugate = _of_any("conjugate", math_ops.conj, "Complex conjugates.")
conj = conjugate
bitwise_not = _of_any("bitwise_not", bitwise_ops.invert, "All bits turned.")


def reciprocal(x):
    """1 / x"""
    x = asarray(x)
    return cast_ops.cast(1, x.dtype) / x if not x.dtype.is_integer else _integer_reciprocal(x)


def _integer_reciprocal(x):
    return math_ops.floordiv(array_ops.ones_like(x), x)


def fix(x):
    """Whole numbers, towards zero."""
    x = as_inexact(x)
    return rearrange_ops.where_v2(math_ops.less(x, 0), math_ops.ceil(x), math_ops.floor(x))


def cbrt(x):
    """Cube roots."""
    x = as_inexact(x)
    third = cast_ops.cast(1.0 / 3, x.dtype)
    return math_ops.sign(x) * math_ops.pow(math_ops.abs(x), third)


def exp2(x):
    """2 to the powers."""
    x = as_inexact(x)
    return math_ops.pow(cast_ops.cast(2, x.dtype), x)


def log2(x):
    """Logarithms to the base 2."""
    x = as_inexact(x)
    return math_ops.log(x) / cast_ops.cast(np.log(2), x.dtype)


def log10(x):
    """Logarithms to the base 10."""
    x = as_inexact(x)
    return math_ops.log(x) / cast_ops.cast(np.log(10), x.dtype)


def deg2rad(x):
    """Degrees as radians."""
    x = as_inexact(x)
    return x * cast_ops.cast(np.pi / 180, x.dtype)


def rad2deg(x):
    """Radians as degrees."""
    x = as_inexact(x)
    return x * cast_ops.cast(180 / np.pi, x.dtype)


def sinc(x):
    """sin(pi x) / (pi x), which is 1 at 0."""
    x = as_inexact(x)
    turned = x * cast_ops.cast(np.pi, x.dtype)
    zero = math_ops.equal(x, 0)
    safe = rearrange_ops.where_v2(zero, array_ops.ones_like(x), turned)
    return rearrange_ops.where_v2(zero, array_ops.ones_like(x), math_ops.sin(safe) / safe)


def sign(x, out=None, where=None, **kwargs):
    """-1, 0 or 1; of complex numbers by their real parts."""
    if out or where or kwargs:
        raise ValueError("tf.numpy doesnt support setting out, where or others in sign()")
    x = asarray(x)
    if x.dtype.is_complex:
        return cast_ops.cast(math_ops.sign(special_math_ops.real(x)), x.dtype)
    return math_ops.sign(x)


def around(a, decimals=0):
    """Numbers of so many decimals."""
    a = asarray(a)
    kind = a.dtype
    if kind.is_integer:
        if decimals >= 0:
            return a
        a = cast_ops.cast(a, default_float())
    factor = cast_ops.cast(10.0**decimals, a.dtype)
    return cast_ops.cast(math_ops.round(a * factor) / factor, kind)


round = around


def angle(z, deg=False):
    """The angles of complex numbers, in degrees if `deg`."""
    made = special_math_ops.angle(as_inexact(z))
    return rad2deg(made) if deg else made


def real(val):
    """Real parts."""
    return special_math_ops.real(asarray(val))


def imag(val):
    """Imaginary parts: of real numbers zeros."""
    val = asarray(val)
    return special_math_ops.imag(val) if val.dtype.is_complex else array_ops.zeros_like(val)


def isreal(x):
    """Where there is no imaginary part."""
    return math_ops.equal(imag(x), 0)


def iscomplex(x):
    """Where there is an imaginary part."""
    return math_ops.not_equal(imag(x), 0)


isfinite = _of_floats("isfinite", math_ops.is_finite, "Where numbers are finite.")
isinf = _of_floats("isinf", math_ops.is_inf, "Where numbers are infinite.")
isnan = _of_floats("isnan", math_ops.is_nan, "Where there are NaN.")


def isposinf(x):
    """Where numbers are infinite and positive."""
    x = as_inexact(x)
    return math_ops.equal(x, cast_ops.cast(np.inf, x.dtype))


def isneginf(x):
    """Where numbers are infinite and negative."""
    x = as_inexact(x)
    return math_ops.equal(x, cast_ops.cast(-np.inf, x.dtype))


def signbit(x):
    """Where numbers are less than zero."""
    x = asarray(x)
    if x.dtype.base_dtype == dtypes.bool:
        return array_ops.zeros_like(x)
    return math_ops.less(x, cast_ops.cast(0, x.dtype))


def logical_not(x):
    """Where `x` is zero or false."""
    return math_ops.logical_not(as_bool(x))


def as_bool(x):
    """A value as booleans."""
    return cast_ops.cast(asarray(x), dtypes.bool)


def clip(a, a_min, a_max):
    """Numbers brought between two, either of which may be None."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    a, a_min, a_max = promoted(a, a_min, a_max)
    return math_ops.minimum(math_ops.maximum(a, a_min), a_max)


# ---- Of two arrays


def _is_bool(x):
    return x.dtype.base_dtype == dtypes.bool


def _binary(name, function, doc, of_bools=None, to_floats=False):
    def apply(x1, x2):
        x1, x2 = promoted(x1, x2)
        if of_bools is not None and _is_bool(x1):
            return of_bools(x1, x2)
        if to_floats:
            x1, x2 = as_inexact(x1), as_inexact(x2)
        return function(x1, x2)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return apply


def _as_bytes(function):
    """A function of integers for booleans, whose answer is of 8 bits."""
    return lambda x, y: function(cast_ops.cast(x, dtypes.int8), cast_ops.cast(y, dtypes.int8))


add = _binary("add", math_ops.add, "x1 + x2", math_ops.logical_or)
subtract = _binary("subtract", math_ops.subtract, "x1 - x2")
multiply = _binary("multiply", math_ops.multiply, "x1 * x2", math_ops.logical_and)
true_divide = _binary("true_divide", math_ops.truediv, "x1 / x2, of integers too.", to_floats=True)
divide = true_divide
floor_divide = _binary("floor_divide", math_ops.floordiv, "x1 // x2", _as_bytes(math_ops.floordiv))
remainder = _binary("remainder", math_ops.floormod, "x1 % x2", _as_bytes(math_ops.floormod))
mod = remainder
power = _binary("power", math_ops.pow, "x1 ** x2", _as_bytes(math_ops.pow))
float_power = power
maximum = _binary("maximum", math_ops.maximum, "The larger ones.", math_ops.logical_or)
minimum = _binary("minimum", math_ops.minimum, "The smaller ones.", math_ops.logical_and)
arctan2 = _binary("arctan2", math_ops.atan2, "The angles of (x2, x1).", to_floats=True)
nextafter = _binary(
    "nextafter", special_math_ops.nextafter, "The next float towards x2.", to_floats=True
)


def divmod(x1, x2):
    """(x1 // x2, x1 % x2)"""
    return floor_divide(x1, x2), mod(x1, x2)


def hypot(x1, x2):
    """The lengths of (x1, x2)."""
    x1, x2 = map(as_inexact, promoted(x1, x2))
    return math_ops.sqrt(math_ops.square(x1) + math_ops.square(x2))


def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2))"""
    x1, x2 = map(as_inexact, promoted(x1, x2))
    largest = math_ops.maximum(x1, x2)
    return largest + math_ops.log1p(math_ops.exp(-math_ops.abs(x1 - x2)))


def logaddexp2(x1, x2):
    """log2(2**x1 + 2**x2)"""
    x1, x2 = map(as_inexact, promoted(x1, x2))
    largest = math_ops.maximum(x1, x2)
    more = math_ops.log1p(exp2(-math_ops.abs(x1 - x2)))
    return largest + more / cast_ops.cast(np.log(2), more.dtype)


def heaviside(x1, x2):
    """0 where x1 is negative, 1 where it is positive, x2 where it is zero."""
    x1, x2 = map(as_inexact, promoted(x1, x2))
    zero, one = cast_ops.cast(0, x1.dtype), cast_ops.cast(1, x1.dtype)
    other = rearrange_ops.where_v2(math_ops.greater(x1, zero), one, zero)
    return rearrange_ops.where_v2(math_ops.equal(x1, zero), x2, other)


def gcd(x1, x2):
    """The greatest common divisors of integers."""
    x1, x2 = _integers("gcd", x1, x2)
    shape = rearrange_ops.broadcast_dynamic_shape(array_ops.shape(x1), array_ops.shape(x2))
    x1, x2 = array_ops.broadcast_to(x1, shape), array_ops.broadcast_to(x2, shape)

    def step(a, b):
        is_zero = math_ops.equal(b, 0)
        safe = rearrange_ops.where_v2(is_zero, array_ops.ones_like(b), b)
        a, rest = rearrange_ops.where_v2(is_zero, a, b), math_ops.floormod(a, safe)
        return a, rearrange_ops.where_v2(is_zero, b, rest)

    made = control_flow_ops.while_loop(
        lambda a, b: math_ops.reduce_any(math_ops.not_equal(b, 0)),
        step,
        (math_ops.abs(x1), math_ops.abs(x2)),
    )
    return made[0]


def lcm(x1, x2):
    """The least common multiples of integers."""
    x1, x2 = _integers("lcm", x1, x2)
    common = gcd(x1, x2)
    safe = rearrange_ops.where_v2(math_ops.equal(common, 0), array_ops.ones_like(common), common)
    return math_ops.abs(x1 * math_ops.floordiv(x2, safe))


def _integers(name, x1, x2):
    x1, x2 = promoted(x1, x2)
    if not x1.dtype.is_integer:
        raise TypeError(f"Argument(s) of {name} must be integers, got {x1.dtype.name}")
    return x1, x2


def _bits(name, function, of_bools, doc):
    return _binary(name, function, doc, of_bools)


bitwise_and = _bits("bitwise_and", bitwise_ops.bitwise_and, math_ops.logical_and, "x1 & x2")
bitwise_or = _bits("bitwise_or", bitwise_ops.bitwise_or, math_ops.logical_or, "x1 | x2")
bitwise_xor = _bits("bitwise_xor", bitwise_ops.bitwise_xor, math_ops.logical_xor, "x1 ^ x2")


def _comparison(name, function, doc):
    def of_bools(x, y):
        return function(cast_ops.cast(x, dtypes.int8), cast_ops.cast(y, dtypes.int8))

    return _binary(name, function, doc, of_bools)


equal = _comparison("equal", math_ops.equal, "x1 == x2")
not_equal = _comparison("not_equal", math_ops.not_equal, "x1 != x2")
greater = _comparison("greater", math_ops.greater, "x1 > x2")
greater_equal = _comparison("greater_equal", math_ops.greater_equal, "x1 >= x2")
less = _comparison("less", math_ops.less, "x1 < x2")
less_equal = _comparison("less_equal", math_ops.less_equal, "x1 <= x2")


def _logical(name, function, doc):
    def apply(x1, x2):
        return function(as_bool(x1), as_bool(x2))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return apply


logical_and = _logical("logical_and", math_ops.logical_and, "Where both are true.")
logical_or = _logical("logical_or", math_ops.logical_or, "Where one is true.")
logical_xor = _logical("logical_xor", math_ops.logical_xor, "Where just one is true.")


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Where |a - b| <= atol + rtol * |b|; NaN are alike if `equal_nan`."""
    a, b = promoted(a, b)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return math_ops.equal(a, b)
    kind = a.dtype.real_dtype
    bound = cast_ops.cast(atol, kind) + cast_ops.cast(rtol, kind) * math_ops.abs(b)
    near = math_ops.less_equal(math_ops.abs(a - b), bound)
    made = math_ops.logical_and(near, math_ops.is_finite(real(b)))
    made = math_ops.logical_or(made, math_ops.equal(a, b))
    if equal_nan:
        nans = math_ops.logical_and(isnan(a), isnan(b))
        made = math_ops.logical_or(made, nans)
    return made


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether isclose() holds everywhere."""
    return math_ops.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2):
    """Whether two arrays have the same shape and elements."""
    a1, a2 = map(asarray, (a1, a2))
    if not a1.shape.is_compatible_with(a2.shape):
        return asarray(False)
    return math_ops.reduce_all(equal(a1, a2))


# ---- Products


def matmul(x1, x2):
    """Products of matrices and vectors."""
    x1, x2 = promoted(x1, x2)
    if 0 in (x1.shape.ndims, x2.shape.ndims):
        raise ValueError("matmul: input operand does not have enough dimensions")
    if x2.shape.ndims == 1:
        return math_ops.tensordot(x1, x2, axes=1)
    if x1.shape.ndims == 1:
        return math_ops.tensordot(x1, x2, axes=[[0], [-2]])
    return math_ops.matmul(x1, x2)


def dot(a, b):
    """The product of matrices, of vectors the sum of products, with a number each product."""
    a, b = promoted(a, b)
    if 0 in (a.shape.ndims, b.shape.ndims):
        return a * b
    last = -1 if b.shape.ndims == 1 else -2
    return math_ops.tensordot(a, b, axes=[[-1], [last]])


def vdot(a, b):
    """The sum of the products of all elements, those of `a` conjugated."""
    a, b = promoted(a, b)
    a, b = array_ops.reshape(a, [-1]), array_ops.reshape(b, [-1])
    return dot(math_ops.conj(a) if a.dtype.is_complex else a, b)


def inner(a, b):
    """Sums of products over the last axes."""
    a, b = promoted(a, b)
    if 0 in (a.shape.ndims, b.shape.ndims):
        return a * b
    return math_ops.tensordot(a, b, axes=[[-1], [-1]])


def outer(a, b):
    """All products of two elements: a matrix."""
    a, b = promoted(a, b)
    return array_ops.reshape(a, [-1, 1]) * array_ops.reshape(b, [1, -1])


def tensordot(a, b, axes=2):
    """Sums of products over several axes."""
    return math_ops.tensordot(*promoted(a, b), axes=axes)


def kron(a, b):
    """Kronecker's product: blocks of `b`, times each element of `a`."""
    a, b = promoted(a, b)
    rank = max(a.shape.ndims, b.shape.ndims)

    def spread(x, places):
        sizes = [1] * (rank - x.shape.ndims) + x.shape.as_list()
        return array_ops.reshape(x, [n for size in sizes for n in places(size)])

    made = spread(a, lambda n: (n, 1)) * spread(b, lambda n: (1, n))
    known = made.shape.as_list()
    return array_ops.reshape(made, [known[i] * known[i + 1] for i in range(0, 2 * rank, 2)])


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross products of vectors of 2 or 3 elements along an axis."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    a, b = _axis_last(a, axisa), _axis_last(b, axisb)
    sizes = a.shape[-1], b.shape[-1]
    if any(size not in (2, 3) for size in sizes):
        raise ValueError(f"cross() needs vectors of 2 or 3 elements, got {sizes}")
    zero = array_ops.zeros([], a.dtype)
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2] if sizes[0] == 3 else zero
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2] if sizes[1] == 3 else zero
    last = a0 * b1 - a1 * b0
    if tuple(sizes) == (2, 2):
        return last
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last]
    return array_ops.stack(parts, axis=axisc)


def _axis_last(a, axis):
    rank = a.shape.ndims
    order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
    return a if order == list(range(rank)) else array_ops.transpose(a, order)


def einsum(subscripts, *operands, **kwargs):
    """Sums of products by Einstein's notation."""
    casting, optimize = kwargs.pop("casting", "safe"), kwargs.pop("optimize", False)
    if kwargs:
        raise ValueError(f"einsum() got arguments that are not supported: {sorted(kwargs)}")
    if casting not in ("safe", "no"):
        raise ValueError(f"casting policy not supported: {casting}")
    del optimize
    return linalg_ops.einsum(subscripts, *promoted(*operands))


def polyval(p, x):
    """The polynomial with coefficients `p`, the highest first, at `x`."""
    p, x = promoted(p, x)
    made = array_ops.zeros_like(x)
    for one in array_ops.unstack(p, axis=0):
        made = made * x + one
    return made


def average(a, axis=None, weights=None, returned=False):
    """Means, weighted by `weights`; with the sums of these if `returned`."""
    a = as_inexact(a)
    if weights is None:
        made = math_ops.reduce_mean(a, axis=axis)
        count = array_ops.size(a) // math_ops.maximum(array_ops.size(made), 1)
        total = array_ops.zeros_like(made) + cast_ops.cast(count, made.dtype)
        return (made, total) if returned else made
    a, weights = promoted(a, as_inexact(weights))
    if a.shape.ndims != weights.shape.ndims:
        if axis is None:
            raise ValueError("Axis must be specified when shapes of `a` and weights differ.")
        sizes = [1] * a.shape.ndims
        sizes[axis] = -1
        weights = array_ops.reshape(weights, sizes) + array_ops.zeros_like(a)
    total = math_ops.reduce_sum(weights, axis=axis)
    made = math_ops.reduce_sum(a * weights, axis=axis) / total
    return (made, total) if returned else made
