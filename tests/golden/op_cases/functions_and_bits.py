"""Inverse trigonometric and hyperbolic functions, quotients of zero, bits, remainders."""
from .common import *  # noqa: F403
from .elementwise import EXTREME, ORDINARY

SMALL = [[-0.9, -0.5, -0.1], [0.2, 0.6, 0.95]]
UNARY = {
    # name: ordinary values, points of the gradient check, extreme values left out
    "Asin": (SMALL, True, ()),
    "Acos": (SMALL, True, ()),
    "Atan": (ORDINARY, True, ()),
    "Sinh": (ORDINARY, True, ()),
    "Cosh": (ORDINARY, True, ()),
    "Asinh": (ORDINARY, True, (1e30, -1e30, 1e250, -1e250)),
    "Acosh": ([[1.1, 1.5, 2], [3, 10, 100]], True, (1e30, 1e250)),
    "Atanh": (SMALL, True, ()),
    "Erfc": (ORDINARY, True, (INF, -INF, 1e250, -1e250, 20, 700, 1e4, 1e30)),
    "Rint": (ORDINARY, False, ()),
}


def unary(t):
    for op, (values, gradient, drop) in UNARY.items():
        dtypes = (F32, F64) if op == "Rint" else (F32, F64, F16)
        for dtype in dtypes:
            extreme = [v for v in EXTREME[dtype] if v not in drop]
            t.add(op, "ordinary_" + dtype.__name__, a(dtype, values))
            t.add(op, "extreme_" + dtype.__name__, a(dtype, extreme))
        t.add(op, "gradient", d(values), g=gradient)
        t.add(op, "scalar", f(values[1][0]))
        t.add(op, "empty", empty(F32, (2, 0)))
        t.add(op, "long", np.resize(f(values), 37))
    t.add("Rint", "to_even", f([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]))


def conditions(t):
    for dtype in (F32, F64, F16, I32, I64, I8, U8, np.bool_):
        for value in (0, 1):
            t.add("ToBool", "%s_%d" % (dtype.__name__, value), a(dtype, value))
    t.add("ToBool", "minus_zero", f(-0.0))
    t.add("ToBool", "nan", f(NAN))
    t.add("ToBool", "small", d(1e-300))
    t.add("ToBool", "string", s("x"))
    t.add("ToBool", "no_string", s(""))
    t.add("ToBool", "zeros", f([0, 0]))
    t.add("ToBool", "none", empty(F32, (0,)))
    t.add("ToBool", "one_none", empty(F32, (2, 0)))


def binary(t):
    x, y = [0.5, -1.5, 2.25, 0, -3], [1.5, 2, -0.75, 4, 0.5]
    for op in ("Atan2", "Xdivy", "Xlogy", "MulNoNan"):
        right = np.abs(y) if op == "Xlogy" else np.asarray(y)
        for dtype in (F32, F64, F16):
            if op == "Atan2" and dtype == F16:
                continue
            t.add(op, "same_" + dtype.__name__, a(dtype, x), a(dtype, right))
        t.add(op, "gradient", d([[0.5], [-1.5]]), d([[1.5, 2, 0.75]]), g=True)
        t.add(op, "scalars", f(2), f(3))
        t.add(op, "empty", empty(F32, (0, 2)), f([1, 2]))
        t.add(op, "bad_shapes", f([1, 2]), f([1, 2, 3]))
    t.add("Atan2", "quadrants", f([0.0, -0.0, 1, -1, 1, -1, 0.0, INF]),
          f([1, -1, 0, 0, -1, -1, 0.0, INF]))
    t.add("Xdivy", "zeros", d([0, 0, 0]), d([0, 3, INF]))
    t.add("Xlogy", "zeros", d([0, 0, 1]), d([0, 3, 0]))
    t.add("MulNoNan", "zeros", d([NAN, INF, 2]), d([0, 0, 3]))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        for dtype in (I8, I16, I32, I64, U8, U16, U32, U64):
            t.add(op, dtype.__name__, a(dtype, [12, 10, 127, 0]), a(dtype, [10, 6, 85, 3]))
        t.add(op, "signs", i([-1, -8, 2**31 - 1]), i([7, 5, -2**31]))
        t.add(op, "rows", i([[1], [6]]), i([[1, 2, 4]]))
        t.add(op, "empty", empty(I32, (0,)), i([1]))
        t.add(op, "bad_shapes", i([1, 2]), i([1, 2, 3]))
    for dtype in (I8, I16, I32, I64, U8, U16, U32, U64):
        t.add("Invert", dtype.__name__, a(dtype, [0, 1, 100]))
    t.add("Invert", "empty", empty(I32, (0, 1)))
    for dtype in (I32, I64):
        t.add("TruncateMod", dtype.__name__, a(dtype, [-7, 7, -7, 7]), a(dtype, [2, -2, -2, 2]))
    t.add("TruncateMod", "float", f([-7, 7.5, -7.25, 7]), f([2, -2, -2, 3]))
    t.add("TruncateMod", "double", d([[-7], [7.5]]), d([[2, -2, 3]]))
    t.add("TruncateMod", "scalars", i(7), i(4))
    t.add("TruncateMod", "empty", empty(F32, (0,)), f([1]))


def cases():
    t = Table()
    unary(t)
    conditions(t)
    binary(t)
    return t.cases
