"""Arithmetic, comparisons, reductions and matrix products."""

import builtins

import numpy as np

from rheos.framework import dtypes, from_ops, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1, op_list, runs_op, with_example
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.ragged import RaggedBase, operators_too, ragged_too
from rheos.ops.array import array_ops
from rheos.ops.array.array_ops import has_op
from rheos.ops.array.cast_ops import cast, range, sparse_too
from rheos.ops.array.constant_op import constant

# ---- One function for each plain op


def _unary(function_name, op_type, doc, decorate=lambda function: function):
    def function(x, name=None):
        return op1(op_type, name, x)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = doc
    return runs_op(op_type, "x")(decorate(ragged_too("elementwise")(function)))


def _binary(function_name, op_type, doc):
    def function(x, y, name=None):
        return op1(op_type, name, x, y)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = doc
    return runs_op(op_type, "x y")(ragged_too("binary")(function))


negative = _unary("negative", "Neg", "-x", sparse_too)
sign = _unary("sign", "Sign", "-1, 0 or 1.", sparse_too)
square = _unary(
    "square", "Square", with_example("x * x", "tf.square([1, -2, 3])", "[1 4 9]"), sparse_too
)
sqrt = _unary(
    "sqrt", "Sqrt", with_example("The square root.", "tf.sqrt([4.0, 9.0])", "[2. 3.]"), sparse_too
)
rsqrt = _unary(
    "rsqrt", "Rsqrt", with_example("1 / sqrt(x)", "tf.math.rsqrt([4.0, 16.0])", "[0.5  0.25]")
)
exp = _unary(
    "exp",
    "Exp",
    with_example("The exponential function.", "tf.exp([0.0, 1.0])", "[1.        2.7182817]"),
)
expm1 = _unary("expm1", "Expm1", "exp(x) - 1")
log = _unary(
    "log",
    "Log",
    with_example("The natural logarithm.", "tf.math.log([1.0, 2.0])", "[0.        0.6931472]"),
)
log1p = _unary("log1p", "Log1p", "log(1 + x)")
sin = _unary("sin", "Sin", with_example("The sine.", "tf.sin([0.0, 1.0])", "[0.       0.841471]"))
cos = _unary(
    "cos", "Cos", with_example("The cosine.", "tf.cos([0.0, 1.0])", "[1.        0.5403023]")
)
tan = _unary("tan", "Tan", "The tangent.")
asin = _unary("asin", "Asin", "The inverse sine.")
acos = _unary("acos", "Acos", "The inverse cosine.")
atan = _unary("atan", "Atan", "The inverse tangent.")
sinh = _unary("sinh", "Sinh", "The hyperbolic sine.")
cosh = _unary("cosh", "Cosh", "The hyperbolic cosine.")
tanh = _unary("tanh", "Tanh", "The hyperbolic tangent.", sparse_too)
asinh = _unary("asinh", "Asinh", "The inverse hyperbolic sine.")
acosh = _unary("acosh", "Acosh", "The inverse hyperbolic cosine.")
atanh = _unary("atanh", "Atanh", "The inverse hyperbolic tangent.")
sigmoid = _unary(
    "sigmoid",
    "Sigmoid",
    with_example("1 / (1 + exp(-x))", "tf.sigmoid([0.0, 2.0])", "[0.5      0.880797]"),
)
erf = _unary(
    "erf",
    "Erf",
    with_example("The error function.", "tf.math.erf([0.0, 1.0])", "[0.        0.8427008]"),
    sparse_too,
)
erfc = _unary("erfc", "Erfc", "1 - erf(x)")
floor = _unary(
    "floor",
    "Floor",
    with_example("The largest whole number not above x.", "tf.floor([1.7, -1.2])", "[ 1. -2.]"),
)
ceil = _unary("ceil", "Ceil", "The smallest whole number not below x.")
rint = _unary("rint", "Rint", "The nearest whole number, halves to even.")
reciprocal = _unary("reciprocal", "Reciprocal", "1 / x")
is_nan = _unary("is_nan", "IsNan", "Whether elements are NaN.")
is_inf = _unary("is_inf", "IsInf", "Whether elements are infinite.")
is_finite = _unary("is_finite", "IsFinite", "Whether elements are finite.")
logical_not = _unary(
    "logical_not",
    "LogicalNot",
    with_example("not x", "tf.logical_not([True, False])", "[False  True]"),
)

add = _binary("add", "Add", "x + y")
subtract = _binary("subtract", "Sub", "x - y")
multiply = _binary("multiply", "Mul", "x * y")
maximum = _binary(
    "maximum",
    "Maximum",
    with_example("The larger of x and y.", "tf.maximum([1, 5], [4, 2])", "[4 5]"),
)
minimum = _binary(
    "minimum",
    "Minimum",
    with_example("The smaller of x and y.", "tf.minimum([1, 5], [4, 2])", "[1 2]"),
)
squared_difference = _binary("squared_difference", "SquaredDifference", "(x - y) squared.")
floormod = _binary(
    "floormod",
    "FloorMod",
    with_example("The remainder, with the sign of y.", "tf.math.floormod([7, -7], 3)", "[1 2]"),
)
mod = floormod
truncatediv = _binary("truncatediv", "TruncateDiv", "x / y, rounded towards zero.")
truncatemod = _binary("truncatemod", "TruncateMod", "The remainder, with the sign of x.")
realdiv = _binary("realdiv", "RealDiv", "x / y")


@runs_op("Atan2", "y x")
@ragged_too("binary")
def atan2(y, x, name=None):
    """The angle of the point (x, y)."""
    return op1("Atan2", name, y, x)


equal = _binary(
    "equal",
    "Equal",
    with_example("x == y", "tf.equal([1, 2, 3], [1, 5, 3])", "[ True False  True]"),
)
not_equal = _binary("not_equal", "NotEqual", "x != y")
less = _binary(
    "less", "Less", with_example("x < y", "tf.less([1, 2, 3], 2)", "[ True False False]")
)
less_equal = _binary("less_equal", "LessEqual", "x <= y")
greater = _binary(
    "greater", "Greater", with_example("x > y", "tf.greater([1, 2, 3], 2)", "[False False  True]")
)
greater_equal = _binary("greater_equal", "GreaterEqual", "x >= y")
logical_and = _binary(
    "logical_and",
    "LogicalAnd",
    with_example("x and y", "tf.logical_and([True, True], [True, False])", "[ True False]"),
)
logical_or = _binary(
    "logical_or",
    "LogicalOr",
    with_example("x or y", "tf.logical_or([True, False], [False, False])", "[ True False]"),
)
xdivy = _binary("xdivy", "Xdivy", "x / y, 0 where x is 0.")
xlogy = _binary("xlogy", "Xlogy", "x * log(y), 0 where x is 0.")


@runs_op("DivNoNan", "x y", numbers="floating")
@ragged_too("binary")
def div_no_nan(x, y, name=None):
    """x / y, 0 where y is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        return op1("DivNoNan", name, x, y)


@runs_op("Abs", "x", numbers="real")
@ragged_too("elementwise")
@sparse_too
def abs(x, name=None):
    """The absolute value.

    >>> print(tf.abs([-1.5, 2.0]).numpy())
    [1.5 2. ]
    """
    with name_scope(name, "Abs", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return op1("ComplexAbs", name, x, Tout=x.dtype.real_dtype)
        return op1("Abs", name, x)


@runs_op("Round", "x", numbers="floating")
@ragged_too("elementwise")
def round(x, name=None):
    """The nearest whole number, halves to even.

    >>> print(tf.round([0.5, 1.5, 2.4]).numpy())
    [0. 2. 2.]
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else op1("Round", name, x)


@runs_op("Pow", "x y")
@ragged_too("binary")
def pow(x, y, name=None):
    """x to the power of y.

    >>> print(tf.pow([2, 3], [3, 2]).numpy())
    [8 9]
    """
    with name_scope(name, "Pow", [x]) as name:
        return op1("Pow", name, x, y)


@ragged_too("binary")
def logical_xor(x, y, name="LogicalXor"):
    """Either x or y."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


DIVISION = {
    "uint8": dtypes.float32,
    "int8": dtypes.float32,
    "uint16": dtypes.float32,
    "int16": dtypes.float32,
    "int32": dtypes.float64,
    "int64": dtypes.float64,
    "uint32": dtypes.float64,
    "uint64": dtypes.float64,
}


@runs_op("RealDiv", "x y", numbers="floating")
@ragged_too("binary")
def truediv(x, y, name=None):
    """x / y as Python 3 divides; integers are cast to floating point first."""
    with name_scope(name, "truediv", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise TypeError(
                f"x and y must have the same dtype, got {x.dtype.base_dtype!r} != "
                f"{y.dtype.base_dtype!r}"
            )
        wide = DIVISION.get(x.dtype.base_dtype.name)
        if wide is not None:
            x, y = cast(x, wide), cast(y, wide)
        return op1("RealDiv", name, x, y)


class _Named:
    """Divides under a given name."""

    def __init__(self, x, name):
        self.x, self.name = x, name

    def __truediv__(self, y):
        return truediv(self.x, y, self.name)


@runs_op("RealDiv", "x y", numbers="floating")
@ragged_too("binary")
def divide(x, y, name=None):
    """x / y as Python 3 divides.

    >>> print(tf.divide([1, 2], 4).numpy())
    [0.25 0.5 ]
    """
    plain = (bool, int, float, list, tuple, np.ndarray)
    if isinstance(x, plain) and isinstance(y, plain):
        x = convert_to_tensor(x)
    return x / y if name is None else _Named(x, name) / y


@runs_op("RealDiv", "x y", numbers="floating")
@ragged_too("binary")
def div(x, y, name=None):
    """x / y as Python 2 divides: integers are rounded down."""
    with name_scope(name, "div", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype.base_dtype, name="y")
        real = x.dtype.is_floating or x.dtype.is_complex
        return op1("RealDiv" if real else "FloorDiv", name, x, y)


@runs_op("FloorDiv", "x y")
@ragged_too("binary")
def floordiv(x, y, name=None):
    """x // y"""
    with name_scope(name, "floordiv", [x, y]) as name:
        return op1("FloorDiv", name, x, y)


floor_div = _binary("floor_div", "FloorDiv", "x // y")


@ragged_too("elementwise")
def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor or IndexedSlices."""
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.shape.ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(multiply(scalar, x.values, name), x.indices, x.dense_shape)
    return multiply(scalar, x, name)


@ragged_too("elementwise")
def add_n(inputs, name=None):
    """The sum of several tensors of one shape.

    >>> print(tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy())
    [ 9 12]
    """
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and "
            "shape"
        )
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if len(inputs) == 1:
        only = inputs[0]
        if isinstance(only, IndexedSlices):
            only = convert_to_tensor(only)
        return array_ops.identity(only, name=name) if name else only
    return op1("AddN", name, inputs)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of several tensors of one shape, in less memory than add_n needs.

    shape, tensor_dtype: what they have to be. ValueError if they are not, TypeError for another
    dtype.
    """
    said = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, builtins.tuple)):
        raise ValueError(said)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, Tensor) for x in inputs):
        raise ValueError(said)
    if any(x.dtype != inputs[0].dtype for x in inputs):
        raise ValueError(said)
    shape = tensor_shape.as_shape(shape)
    for tensor in inputs:
        shape = shape.merge_with(tensor.shape)
    if tensor_dtype is not None and tensor_dtype != inputs[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {inputs[0].dtype}")
    if len(inputs) == 1:
        return inputs[0] if name is None else array_ops.identity(inputs[0], name=name)
    return op1("AccumulateNV2", name, inputs, shape=shape)


# ---- Casts


@ragged_too("elementwise")
def saturate_cast(value, dtype, name=None):
    """x converted to another dtype, values beyond its range moved to its ends."""
    with name_scope(name, "saturate_cast", [value]) as name:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.min < dtype.min:
            value = maximum(value, convert_to_tensor(dtype.min, value.dtype, name="min"))
        if value.dtype.max > dtype.max:
            value = minimum(value, convert_to_tensor(dtype.max, value.dtype, name="max"))
        return cast(value, dtype, name=name)


@ragged_too("elementwise")
def to_float(x, name="ToFloat"):
    """x as float32."""
    return cast(x, dtypes.float32, name=name)


@ragged_too("elementwise")
def to_double(x, name="ToDouble"):
    """x as float64."""
    return cast(x, dtypes.float64, name=name)


@ragged_too("elementwise")
def to_int32(x, name="ToInt32"):
    """x as int32."""
    return cast(x, dtypes.int32, name=name)


@ragged_too("elementwise")
def to_int64(x, name="ToInt64"):
    """x as int64."""
    return cast(x, dtypes.int64, name=name)


@ragged_too("elementwise")
def to_bfloat16(x, name="ToBFloat16"):
    """x as bfloat16."""
    return cast(x, dtypes.bfloat16, name=name)


# ---- Reductions


def _axes(x, axis):
    if axis is not None:
        return axis
    if isinstance(x, Tensor):
        ndims = x._rank()
        if ndims is not None:
            return constant(np.arange(ndims, dtype=np.int32))
    return range(0, array_ops.rank(x))


def _one_of(new_name, new, old_name, old):
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{new_name}' and '{old_name}'")
    return old


def _reduce(op_type, x, axis, keepdims, name, reduction_indices, keep_dims):
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = _one_of("keepdims", keepdims, "keep_dims", keep_dims)
    keepdims = False if keepdims is None else builtins.bool(keepdims)
    result = op1(op_type, name, x, _axes(x, axis), keep_dims=keepdims)
    if axis is None and not keepdims and not result.shape.is_fully_defined():
        result.set_shape(())
    return result


def _reduction(function_name, op_type, doc):
    def function(
        input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None
    ):
        return _reduce(op_type, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (
        doc + " over the dimensions in `axis` (None: all), which stay as 1 if `keepdims`."
    )
    at_once = runs_op(op_type, "input_tensor axis=axes", keep_dims="keepdims")
    return at_once(ragged_too("reduce")(function))


reduce_sum = _reduction("reduce_sum", "Sum", "The sum")
reduce_mean = _reduction("reduce_mean", "Mean", "The mean")
reduce_prod = _reduction("reduce_prod", "Prod", "The product")
reduce_max = _reduction("reduce_max", "Max", "The maximum")
reduce_min = _reduction("reduce_min", "Min", "The minimum")
reduce_all = _reduction("reduce_all", "All", "Whether every element holds")
reduce_any = _reduction("reduce_any", "Any", "Whether any element holds")


@ragged_too("reduce")
def reduce_logsumexp(
    input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None
):
    """log(sum(exp(x))), computed so that it does not overflow."""
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = builtins.bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims))
    input_tensor = convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as name:
        highest = reduce_max(input_tensor, axis=axis, keepdims=True)
        shift = array_ops.stop_gradient(
            array_ops.where(is_finite(highest), highest, array_ops.zeros_like(highest))
        )
        result = log(reduce_sum(exp(subtract(input_tensor, shift)), axis=axis, keepdims=keepdims))
        if not keepdims:
            shift = array_ops.reshape(shift, array_ops.shape(result))
        result = add(result, shift)
        if axis is None and not keepdims and not result.shape.is_fully_defined():
            result.set_shape(())
        return result


def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=dtypes.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
):
    """The number of elements that are not zero."""
    keepdims = _one_of("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = _one_of("input", input, "input_tensor", input_tensor)
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "count_nonzero", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input")
        zero = array_ops.zeros([], dtype=input_tensor.dtype)
        found = cast(not_equal(input_tensor, zero), dtypes.int64)
        return cast(reduce_sum(found, axis=axis, keepdims=builtins.bool(keepdims)), dtype)


@runs_op("Cumsum", "x axis", exclusive="exclusive", reverse="reverse")
@ragged_too("cumsum_of")
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along `axis`.

    >>> print(tf.cumsum([1, 2, 3]).numpy())
    [1 3 6]
    """
    with name_scope(name, "Cumsum", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return op1("Cumsum", name, x, axis, exclusive=exclusive, reverse=reverse)


@runs_op("Cumprod", "x axis", exclusive="exclusive", reverse="reverse")
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running products along `axis`.

    >>> print(tf.math.cumprod([1, 2, 3, 4], reverse=True).numpy())
    [24 24 12  4]
    """
    with name_scope(name, "Cumprod", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return op1("Cumprod", name, x, axis, exclusive=exclusive, reverse=reverse)


@runs_op("ArgMax", "input axis=0", output_type="output_type")
def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the largest element along `axis` (0 by default)."""
    axis = _one_of("axis", axis, "dimension", dimension)
    return op1("ArgMax", name, input, 0 if axis is None else axis, output_type=output_type)


@runs_op("ArgMin", "input axis=0", output_type="output_type")
def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the smallest element along `axis` (0 by default)."""
    axis = _one_of("axis", axis, "dimension", dimension)
    return op1("ArgMin", name, input, 0 if axis is None else axis, output_type=output_type)


def arg_max(input, dimension, output_type=dtypes.int64, name=None):
    """The index of the largest element along `dimension`."""
    return op1("ArgMax", name, input, dimension, output_type=output_type)


def arg_min(input, dimension, output_type=dtypes.int64, name=None):
    """The index of the smallest element along `dimension`."""
    return op1("ArgMin", name, input, dimension, output_type=output_type)


# ---- Sequences


def linspace(start, stop, num, name=None):
    """`num` numbers from `start` to `stop`, equally spaced."""
    return op1("LinSpace", name, start, stop, num)


lin_space = linspace


# ---- Matrices


@ragged_too("elementwise")
def conj(x, name=None):
    """The complex conjugate; real tensors as they are."""
    x = convert_to_tensor(x, name="x")
    base = x.dtype.base_dtype
    if x.dtype.is_complex or base == dtypes.variant:
        return op1("Conj", name, x)
    if base.is_floating or base.is_integer:
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


@runs_op("MatMul", "a b", (2, 2), "real", transpose_a="transpose_a", transpose_b="transpose_b")
@runs_op("BatchMatMulV2", "a b", (2, 8), "real", adj_x="adjoint_a", adj_y="adjoint_b")
@operators_too("product_of")
@ragged_too("matmul_of")
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    """The product of matrices a (..., n, k) and b (..., k, m).

    a_is_sparse, b_is_sparse: whether many elements of a float32 or bfloat16 matrix are 0. Of one
    matrix of each of these types the product is float32.
    """
    with name_scope(name, "MatMul", [a, b]) as name:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b", dtype_hint=a.dtype.base_dtype)
        ranks = (a._rank(), b._rank())
        if any(r is None or r > 2 for r in ranks) and has_op("BatchMatMulV2"):
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            return op1("BatchMatMulV2", name, a, b, adj_x=adjoint_a, adj_y=adjoint_b)
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        types = {a.dtype.base_dtype, b.dtype.base_dtype}
        told_sparse = (a_is_sparse or b_is_sparse) and types <= {dtypes.bfloat16, dtypes.float32}
        if told_sparse or types == {dtypes.bfloat16, dtypes.float32}:
            product = sparse_matmul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name)
            return cast(product, dtypes.bfloat16) if types == {dtypes.bfloat16} else product
        return op1("MatMul", name, a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _known_axes(axes):
    """Axes as numbers where they are known; else as the tensor that they are."""
    if not isinstance(axes, (Tensor, _VariableBase)):
        return axes
    value = constant_value(axes) if isinstance(axes, Tensor) else None
    return axes if value is None else value.tolist()


def _tensordot_axes(a, axes):
    axes = _known_axes(axes)
    if isinstance(axes, (int, np.integer)):
        count = a.shape.ndims
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if count is not None:
            if axes > count:
                raise ValueError(f"'axes' must not be larger than the number of dimensions of {a}.")
            first = list(builtins.range(count - axes, count))
        else:
            rank = array_ops.rank(a)
            first = range(rank - axes, rank, dtype=dtypes.int32)
        return first, list(builtins.range(axes))
    if isinstance(axes, (Tensor, _VariableBase)):
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    first, second = (_known_axes(part) for part in axes)
    if any(isinstance(part, (Tensor, _VariableBase)) for part in (first, second)):
        return convert_to_tensor(first), convert_to_tensor(second)
    first = [first] if isinstance(first, (int, np.integer)) else list(first)
    second = [second] if isinstance(second, (int, np.integer)) else list(second)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}."
        )
    return first, second


def _as_matrix(x, axes, summed_first):
    """(matrix, its free dimensions, those that are known): `axes` as columns, or as rows."""
    if isinstance(axes, Tensor) or x.shape.ndims is None:
        return _as_matrix_late(x, axes, summed_first, None)
    dims = x._shape_as_list()
    axes = [i + len(dims) if i < 0 else i for i in axes]
    free = [i for i in builtins.range(len(dims)) if i not in axes]
    free_dims = [dims[i] for i in free]
    if None in dims:
        return _as_matrix_late(x, axes, summed_first, (free, free_dims))
    sizes = [_product(free_dims), _product([dims[i] for i in axes])]
    perm = axes + free if summed_first else free + axes
    if summed_first:
        sizes = sizes[::-1]
    # A graph has these nodes whatever they change, as TensorFlow's has.
    if not x._is_eager or perm != list(builtins.range(len(perm))):
        x = array_ops.transpose(x, perm)
    if not x._is_eager or dims != sizes or perm != list(builtins.range(len(perm))):
        x = array_ops.reshape(x, sizes)
    return x, free_dims, free_dims


def _product(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product


def _as_matrix_late(x, axes, summed_first, known):
    if known is not None:
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = convert_to_tensor(known[0], dtype=dtypes.int32, name="free")
        shape = array_ops.shape(x)
    else:
        shape = array_ops.shape(x)
        rank = array_ops.rank(x)
        axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = array_ops.where(axes >= 0, axes, axes + rank)
        free = op_list("ListDiff", None, range(rank), axes, out_idx=dtypes.int32)[0]
    free_dims = array_ops.gather(shape, free)
    summed_dims = array_ops.gather(shape, axes)
    sizes = [reduce_prod(free_dims), reduce_prod(summed_dims)]
    if summed_first:
        perm, sizes = array_ops.concat([axes, free], 0), sizes[::-1]
    else:
        perm = array_ops.concat([free, axes], 0)
    matrix_shape = array_ops.stack(sizes)
    matrix = array_ops.reshape(array_ops.transpose(x, perm), matrix_shape)
    return matrix, free_dims, None if known is None else known[1]


def tensordot(a, b, axes, name=None):
    """Sums products over pairs of dimensions of a and b, as numpy.tensordot.

    axes: how many dimensions at the end of a and the start of b, or (those of a, those of b).
    Returns the other dimensions of a, then those of b. ValueError if the axes do not fit.

    >>> print(tf.tensordot([[1, 2], [3, 4]], [10, 1], axes=1).numpy())
    [12 34]
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as name:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        a_axes, b_axes = _tensordot_axes(a, axes)
        a_matrix, a_free, a_known = _as_matrix(a, a_axes, False)
        b_matrix, b_free, b_known = _as_matrix(b, b_axes, True)
        product = matmul(a_matrix, b_matrix)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return array_ops.reshape(product, a_free + b_free, name=name)
        a_free = convert_to_tensor(a_free, dtype=dtypes.int32)
        b_free = convert_to_tensor(b_free, dtype=dtypes.int32)
        result = array_ops.reshape(product, array_ops.concat([a_free, b_free], 0), name=name)
        if a_known is not None and b_known is not None:
            result.set_shape(a_known + b_known)
        return result


def sparse_matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    """The float32 product of two matrices, float32 or bfloat16, of which many elements are 0."""
    return op1(
        "SparseMatMul", name, a, b, transpose_a=transpose_a, transpose_b=transpose_b,
        a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse,
    )  # fmt: skip


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors, or of matrices.

    axis: None takes all elements as one vector, a number makes it norms of vectors along it, a pair
    norms of matrices. ord: "euclidean" (the same as "fro"), 1, 2, inf, for vectors any positive
    number. ValueError for others. keepdims: whether the dimensions stay as 1.

    >>> print(tf.norm([[3.0, 4.0], [6.0, 8.0]], axis=1).numpy())
    [ 5. 10.]
    """
    keepdims = builtins.bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims))
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    if is_matrix:
        axis = tuple(axis)
        if axis[0] == axis[1] or not all(isinstance(a, (int, np.integer)) for a in axis):
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got "
                f"{ord}"
            )
    else:
        if not (axis is None or isinstance(axis, (int, np.integer))):
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord != "euclidean" if isinstance(ord, str) else not (np.isreal(ord) and ord > 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
        if axis is not None:
            axis = (axis,)
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
            result = sqrt(reduce_sum(tensor * conj(tensor), axis, keepdims=True))
        elif is_matrix and ord == 2:
            result = _largest_singular_value(tensor, axis)
        else:
            result = abs(tensor)
            if ord == 1:
                # The first of a pair, or the only axis, as a number: so in TensorFlow's graphs.
                result = reduce_sum(result, axis[0] if axis else None, keepdims=True)
                if is_matrix:
                    result = reduce_max(result, axis[-1], keepdims=True)
            elif ord == np.inf:
                if is_matrix:
                    result = reduce_sum(result, axis[1], keepdims=True)
                result = reduce_max(result, axis[0] if is_matrix else axis, keepdims=True)
            else:
                result = pow(reduce_sum(pow(result, ord), axis, keepdims=True), 1.0 / ord)
        return result if keepdims else array_ops.squeeze(result, axis)


def _largest_singular_value(tensor, axis):
    """Along a pair of axes, which stay as 1."""
    rank = tensor.shape.ndims
    if rank is None:
        rank = array_ops.rank(tensor)
        axes = floormod(array_ops.stack(axis), rank)
        free = op_list("ListDiff", None, range(rank), axes)[0]
        order = array_ops.concat([free, axes], 0)
        inverse = array_ops.invert_permutation(order)
    else:
        axes = [i + rank if i < 0 else i for i in axis]
        order = [i for i in builtins.range(rank) if i not in axes] + axes
        inverse = [order.index(i) for i in builtins.range(rank)]
    matrices = array_ops.transpose(tensor, order)
    values = op_list("Svd", None, matrices, compute_uv=False, full_matrices=False)[0]
    largest = reduce_max(abs(values), axis=-1, keepdims=True)
    return array_ops.transpose(array_ops.expand_dims(largest, -1), inverse)


# ---- Operators that Python has and the extension leaves to here


def _operator_matmul(a, b):
    with name_scope(None, "matmul", [a, b]) as name:
        if not isinstance(b, (Tensor, RaggedBase)):
            b = convert_to_tensor(b, dtype_hint=a.dtype.base_dtype, name="y")
        return matmul(a, b, name=name)


def _operator_rmatmul(a, b):
    with name_scope(None, "matmul", [a, b]) as name:
        a = convert_to_tensor(a, dtype=b.dtype.base_dtype, name="x")
        return matmul(a, b, name=name)


def _operator_xor(x, y):
    with name_scope(None, "xor", [x, y]) as name:
        if x.dtype.base_dtype.is_integer:
            return op1("BitwiseXor", name, x, y)
        return logical_xor(x, y, name=name)


def _operator_rxor(x, y):
    return _operator_xor(convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x"), y)


from_ops.register(
    operator_matmul=_operator_matmul,
    operator_rmatmul=_operator_rmatmul,
    operator_xor=_operator_xor,
    operator_rxor=_operator_rxor,
)
