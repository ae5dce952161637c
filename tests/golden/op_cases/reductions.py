"""Reductions, scans, arg-reductions and matrix products."""
from .common import *  # noqa: F403

C = Const
REDUCTIONS = {
    "Sum": (F32, F64, F16, I32, I64, U8, I8, I16),
    "Mean": (F32, F64, F16, I32, I64, U8),
    "Prod": (F32, F64, F16, I32, I64),
    "Max": (F32, F64, F16, I32, I64, U8, I8),
    "Min": (F32, F64, F16, I32, I64, U8, I8),
    "All": (np.bool_,),
    "Any": (np.bool_,),
}


def reductions(t):
    for op, dtypes in REDUCTIONS.items():
        first = dtypes[0]
        logical = first == np.bool_

        def make(dtype, shape, start=1):
            if dtype == np.bool_:
                return (ramp(I32, shape, start) * 7 % 5 > 0)
            if op == "Prod":
                return ((ramp(I32, shape, start) % 3) + 1).astype(dtype)
            return (ramp(I32, shape, start) * 7 % 13).astype(dtype)

        for dtype in dtypes:
            t.add(op, "matrix_" + dtype.__name__, make(dtype, (3, 4)), C([1]))
        x = make(first, (2, 3, 4))
        for name, axes in (("axis_0", [0]), ("axis_1", [1]), ("axis_2", [2]), ("axes_01", [0, 1]),
                           ("axes_02", [0, 2]), ("axes_12", [1, 2]), ("all", [0, 1, 2]),
                           ("negative", [-1]), ("negative_two", [-3, -1]), ("unsorted", [2, 0])):
            t.add(op, name, x, C(axes))
            t.add(op, name + "_keep", x, C(axes), keep_dims=True)
        t.add(op, "scalar_axis", x, C(1))
        t.add(op, "scalar_axis_keep", x, C(-2), keep_dims=True)
        t.add(op, "no_axes", x, C(empty(I32, (0,))))
        t.add(op, "no_axes_keep", x, C(empty(I32, (0,))), keep_dims=True)
        t.add(op, "int64_axes", x, C([0, 2], I64))
        t.add(op, "fed_axes", x, i([1]))
        t.add(op, "fed_axes_keep", x, i([2, 0]), keep_dims=True)
        t.add(op, "vector", make(first, (7,)), C([0]))
        t.add(op, "scalar", make(first, ()), C(empty(I32, (0,))))
        t.add(op, "one_wide", make(first, (3, 1)), C([1]))
        t.add(op, "rank_5", make(first, (2, 1, 3, 2, 2)), C([1, 3]))
        t.add(op, "long", make(first, (500,)), C([0]))
        t.add(op, "long_columns", make(first, (129, 3)), C([0]))
        t.add(op, "empty_axis", empty(first, (2, 0)), C([1]))
        t.add(op, "empty_result", empty(first, (0, 3)), C([1]))
        t.add(op, "empty_all", empty(first, (0, 3)), C([0, 1]))
        t.add(op, "bad_axis", x, C([3]))
        t.add(op, "bad_axis_negative", x, C([-4]))
        t.add(op, "bad_axis_fed", x, i([3]))
        t.add(op, "bad_twice", x, C([1, 1]))
        t.add(op, "bad_twice_negative", x, C([1, -2]))
        if logical:
            continue
        t.add(op, "extreme", f([[1, NAN, 2], [INF, 1, -INF], [1e30, 1e-30, 0], [-0.0, 0.0, -0.0]]),
              C([1]))
        t.add(op, "infinities", f([[INF, 3], [-INF, 3]]), C([1]))
        t.add(op, "gradient", wave(F64, (2, 3)), C([1]), g=True)
        t.add(op, "gradient_keep", wave(F64, (2, 3)), C([0]), keep_dims=True, g=True)
        t.add(op, "gradient_all", wave(F64, (2, 2)), C([0, 1]), g=True)
        t.add(op, "gradient_fed", wave(F64, (2, 3)), i([-1]), g=True)
        if op != "Mean":
            t.add(op, "empty_axis_int32", empty(I32, (2, 0)), C([1]))
        t.add(op, "overflow", i([2**31 - 1, 1, 1]), C([0]))
        t.add(op, "fractions", f([0.1, 0.2, 0.3, 0.4, 0.7]), C([0]))
    t.add("Mean", "truncates", i([[-1, -2], [3, 4]]), C([1]))
    t.add("Mean", "uint8", a(U8, [200, 201]), C([0]))
    t.add("Sum", "half_long", h([0.1] * 100), C([0]))
    t.add("L2Loss", "vector", f([1, 2, 3]))
    t.add("L2Loss", "matrix", ramp(F32, (3, 4), 0.1, 0.1))
    t.add("L2Loss", "double", wave(F64, (2, 3)), g=True)
    t.add("L2Loss", "half", h([1, 2]))
    t.add("L2Loss", "scalar", f(3))
    t.add("L2Loss", "empty", empty(F32, (0, 2)))
    t.add("L2Loss", "nan", f([1, NAN]))


def scans(t):
    for op in ("Cumsum", "Cumprod"):
        for dtype in (F32, F64, F16, I32, I64):
            t.add(op, "vector_" + dtype.__name__, ramp(dtype, (5,)), C(0))
        x = ramp(F32, (2, 3, 2))
        for axis in (0, 1, 2, -1, -3):
            t.add(op, "axis_%d" % axis, x, C(axis))
        for exclusive in (False, True):
            for reverse in (False, True):
                tag = "exclusive_%d_reverse_%d" % (exclusive, reverse)
                t.add(op, tag, x, C(1), exclusive=exclusive, reverse=reverse)
                t.add(op, "gradient_" + tag, wave(F64, (2, 3)), C(1), exclusive=exclusive,
                      reverse=reverse, g=True)
        t.add(op, "int64_axis", x, C(1, I64))
        t.add(op, "fed_axis", x, i(2))
        t.add(op, "empty", empty(F32, (0, 2)), C(0))
        t.add(op, "nan", f([1, NAN, 2]), C(0))
        t.add(op, "long", ramp(F32, (65,), 0.5, 0.01), C(0))
        t.add(op, "bad_axis", x, C(3))
        t.add(op, "bad_axis_fed", x, i(-4))
        t.add(op, "bad_axis_rank", x, C([0]))


def extremes_positions(t):
    for op in ("ArgMax", "ArgMin"):
        for dtype in (F32, F64, F16, I32, I64, U8, I16):
            t.add(op, "matrix_" + dtype.__name__, a(dtype, [[1, 5, 3], [9, 2, 2]]), C(1))
        x = wave(F32, (2, 3, 4), 5)
        for axis in (0, 1, 2, -1, -2):
            t.add(op, "axis_%d" % axis, x, C(axis))
        t.add(op, "int32_output", x, C(1), output_type="int32")
        t.add(op, "int64_axis", x, C(1, I64))
        t.add(op, "fed_axis", x, i(1))
        t.add(op, "ties", f([[2, 7, 7, 2], [1, 1, 1, 1]]), C(1))
        t.add(op, "nan", f([[NAN, 1, 2], [1, NAN, 0]]), C(1))
        t.add(op, "infinities", f([[INF, 1, -INF]]), C(1))
        t.add(op, "vector", f([3, 1, 2]), C(0))
        t.add(op, "bool", b([[0, 1, 1], [1, 0, 0]]), C(1))
        t.add(op, "long", wave(F32, (100,), 9), C(0))
        t.add(op, "empty_result", empty(F32, (0, 3)), C(1))
        t.add(op, "bad_empty", empty(F32, (3, 0)), C(1))
        t.add(op, "bad_axis", x, C(3))
        t.add(op, "bad_axis_fed", x, i(-4))
        t.add(op, "bad_scalar", f(1), C(0))


def products(t):
    x, y = wave(F32, (2, 3)), wave(F32, (3, 4), 1, 1)
    for dtype in (F32, F64, F16, I32, I64):
        t.add("MatMul", "plain_" + dtype.__name__, a(dtype, [[1, 2, 3], [4, 5, 6]]),
              ramp(dtype, (3, 2)))
    for ta in (False, True):
        for tb in (False, True):
            tag = "transposes_%d%d" % (ta, tb)
            t.add("MatMul", tag, x.T.copy() if ta else x, y.T.copy() if tb else y,
                  transpose_a=ta, transpose_b=tb)
            left, right = wave(F64, (2, 3)), wave(F64, (3, 2), 1, 1)
            t.add("MatMul", "gradient_" + tag, left.T.copy() if ta else left,
                  right.T.copy() if tb else right, transpose_a=ta, transpose_b=tb, g=True)
    t.add("MatMul", "row_column", f([[1, 2, 3]]), f([[4], [5], [6]]))
    t.add("MatMul", "column_row", f([[1], [2]]), f([[3, 4]]))
    t.add("MatMul", "one", f([[3]]), f([[4]]))
    t.add("MatMul", "matrix_vector", wave(F32, (5, 7)), wave(F32, (7, 1), 1))
    t.add("MatMul", "larger", wave(F32, (17, 33)), wave(F32, (33, 19), 1, 2))
    t.add("MatMul", "larger_double", wave(F64, (9, 20)), wave(F64, (20, 7), 1, 2))
    t.add("MatMul", "inner_zero", empty(F32, (2, 0)), empty(F32, (0, 3)))
    t.add("MatMul", "empty", empty(F32, (0, 3)), y)
    t.add("MatMul", "nan", f([[1, NAN], [1, 2]]), f([[1, 0], [0, INF]]))
    t.add("MatMul", "bad_inner", x, f([[1, 2]]))
    t.add("MatMul", "bad_inner_transposed", x, y, transpose_a=True)
    t.add("MatMul", "bad_rank", x, f([1, 2, 3]))
    t.add("MatMul", "bad_rank_3", ramp(F32, (1, 2, 3)), y)
    for op in ("BatchMatMul", "BatchMatMulV2"):
        for dtype in (F32, F64, F16, I32):
            t.add(op, "plain_" + dtype.__name__, ramp(dtype, (2, 2, 3), 0),
                  ramp(dtype, (2, 3, 2), 1))
        for ta in (False, True):
            for tb in (False, True):
                left, right = wave(F64, (2, 2, 3)), wave(F64, (2, 3, 2), 1, 1)
                t.add(op, "gradient_%d%d" % (ta, tb),
                      left.transpose(0, 2, 1).copy() if ta else left,
                      right.transpose(0, 2, 1).copy() if tb else right, adj_x=ta, adj_y=tb, g=True)
        t.add(op, "matrices", x, y)
        t.add(op, "rank_4", wave(F32, (2, 2, 3, 2)), wave(F32, (2, 2, 2, 4), 1))
        t.add(op, "empty_batch", empty(F32, (0, 2, 3)), empty(F32, (0, 3, 2)))
        t.add(op, "inner_zero", empty(F32, (2, 2, 0)), empty(F32, (2, 0, 3)))
        t.add(op, "one", f([[[3]]]), f([[[4]]]))
        t.add(op, "bad_inner", ramp(F32, (2, 2, 3)), ramp(F32, (2, 2, 3)))
        t.add(op, "bad_batch", ramp(F32, (2, 2, 3)), ramp(F32, (3, 3, 2)))
        t.add(op, "bad_vector", f([1, 2]), f([1, 2]))
    t.add("BatchMatMulV2", "broadcast", wave(F32, (3, 2, 3)), wave(F32, (3, 2), 1))
    t.add("BatchMatMulV2", "broadcast_both", wave(F32, (3, 1, 2, 3)), wave(F32, (2, 3, 2), 1))
    t.add("BatchMatMulV2", "gradient_broadcast", wave(F64, (2, 2, 3)), wave(F64, (3, 2), 1), g=True)
    t.add("BatchMatMulV2", "gradient_broadcast_both", wave(F64, (2, 1, 1, 2)),
          wave(F64, (2, 2, 1), 1), g=True)
    t.add("BatchMatMul", "bad_ranks", ramp(F32, (2, 2, 3)), ramp(F32, (3, 2)))


def cases():
    t = Table()
    reductions(t)
    scans(t)
    extremes_positions(t)
    products(t)
    return t.cases
