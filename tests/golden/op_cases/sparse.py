"""Ops on sparse tensors, given as indices, values and a shape."""
from .common import *  # noqa: F403

ROWS = l([[0, 1], [0, 3], [2, 0], [3, 2]])
DIMS = l([4, 5])
OTHER = l([[0, 1], [1, 1], [3, 2], [3, 4]])
MIXED = l([[2, 0], [0, 3], [3, 2], [0, 1]])
NO_ROWS, NO_VALUES = empty(I64, (0, 2)), empty(F32, (0,))
REALS = (F32, F64, I32, I64, I8, U16)


def name_of(dtype):
    return np.dtype(dtype).name


def values(dtype=F32, count=4):
    return a(dtype, [3, 1, 4, 2, 7, 5][:count])


def add_dense(t):
    op = "SparseToDense"
    for dtype in (F32, F64, F16, I32, I64, U8, np.bool_, np.complex64):
        t.add(op, name_of(dtype), ROWS, DIMS, values(dtype), a(dtype, 1))
    t.add(op, "string", ROWS, DIMS, s(["a", "b", "", "d"]), s("none"))
    t.add(op, "int32_indices", i([[0, 1], [2, 0]]), i([3, 2]), f([1, 2]), f(-1))
    t.add(op, "constant_shape", ROWS, Const(DIMS), values(), f(0))
    t.add(op, "one_value", ROWS, DIMS, f(7), f(0))
    t.add(op, "vector", l([1, 3]), l([5]), f([1, 2]), f(0))
    t.add(op, "scalar_index", l(3), l([5]), f(9), f(0))
    t.add(op, "empty", NO_ROWS, DIMS, NO_VALUES, f(2))
    t.add(op, "unordered", MIXED, DIMS, values(), f(0), validate_indices=False)
    t.add(op, "repeated", l([[1, 1], [1, 1]]), DIMS, f([1, 2]), f(0), validate_indices=False)
    t.add(op, "gradient", ROWS, DIMS, d([1, 2, 3, 4]), d(0.5), g=True)
    t.add(op, "bad_order", MIXED, DIMS, values(), f(0))
    t.add(op, "bad_repeated", l([[1, 1], [1, 1]]), DIMS, f([1, 2]), f(0))
    t.add(op, "bad_index", l([[0, 5]]), DIMS, f([1]), f(0))
    t.add(op, "bad_negative", l([[-1, 2]]), DIMS, f([1]), f(0))
    t.add(op, "bad_index_unchecked", l([[0, 5]]), DIMS, f([1]), f(0), validate_indices=False)
    t.add(op, "bad_count", ROWS, DIMS, f([1, 2]), f(0))
    t.add(op, "bad_rank", ROWS, l([4]), values(), f(0))
    t.add(op, "bad_default", ROWS, DIMS, values(), f([0]))
    op = "SparseTensorDenseMatMul"
    for dtype in (F32, F64, I32):
        t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, ramp(dtype, (5, 2)))
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            b = wave(F64, (4 if adjoint_a else 5, 3))
            t.add(op, "adjoints_%d%d" % (adjoint_a, adjoint_b), ROWS, d([1, 2, -3, 4]), DIMS,
                  b.T.copy() if adjoint_b else b, adjoint_a=adjoint_a, adjoint_b=adjoint_b, g=True)
    t.add(op, "int32_indices", ROWS.astype(I32), values(), DIMS, ramp(F32, (5, 2)))
    t.add(op, "repeated", l([[1, 1], [1, 1]]), f([1, 2]), DIMS, ramp(F32, (5, 2)))
    t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, ramp(F32, (5, 2)))
    t.add(op, "no_columns", ROWS, values(), DIMS, empty(F32, (5, 0)))
    t.add(op, "constant_shape", ROWS, values(), Const(DIMS), ramp(F32, (5, 2)))
    t.add(op, "bad_inner", ROWS, values(), DIMS, ramp(F32, (4, 2)))
    t.add(op, "bad_row", l([[4, 0]]), f([1]), DIMS, ramp(F32, (5, 2)))
    t.add(op, "bad_column", l([[0, 5]]), f([1]), DIMS, ramp(F32, (5, 2)))
    t.add(op, "bad_negative", l([[0, -5]]), f([1]), DIMS, ramp(F32, (5, 2)))
    t.add(op, "bad_count", ROWS, f([1]), DIMS, ramp(F32, (5, 2)))
    t.add(op, "bad_shape", ROWS, values(), l([4, 5, 1]), ramp(F32, (5, 2)))
    op = "SparseTensorDenseAdd"
    for dtype in (F32, F64, I32, I64, I8):
        t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, ramp(dtype, (4, 5)))
    t.add(op, "int32_indices", ROWS.astype(I32), values(), i([4, 5]), ramp(F32, (4, 5)))
    t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, ramp(F32, (4, 5)))
    t.add(op, "repeated", l([[1, 1], [1, 1]]), f([1, 2]), DIMS, ramp(F32, (4, 5)))
    t.add(op, "gradient", ROWS, d([1, 2, 3, 4]), DIMS, wave(F64, (4, 5)), g=True)
    t.add(op, "bad_shape", ROWS, values(), DIMS, ramp(F32, (4, 1)))
    t.add(op, "bad_rank", ROWS, values(), DIMS, ramp(F32, (20,)))
    t.add(op, "bad_index", l([[0, 5]]), f([1]), DIMS, ramp(F32, (4, 5)))
    for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
        for dtype in (F32, F64, I32, I64):
            t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, ramp(dtype, (4, 5)))
        gradient = op != "SparseDenseCwiseAdd"
        t.add(op, "same", ROWS, d([1, 2, 3, 4]), DIMS, wave(F64, (4, 5), 1) + 3, g=gradient)
        t.add(op, "scalar", ROWS, d([1, 2, 3, 4]), DIMS, d(2))
        t.add(op, "row", ROWS, d([1, 2, 3, 4]), DIMS, d([1, 2, 3, 4, 5]), g=gradient)
        t.add(op, "column", ROWS, d([1, 2, 3, 4]), DIMS, d([[1], [2], [3], [4]]), g=gradient)
        t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, ramp(F32, (4, 5)))
        t.add(op, "bad_broadcast", ROWS, values(), DIMS, ramp(F32, (4, 2)))
        t.add(op, "bad_rank", ROWS, values(), DIMS, ramp(F32, (1, 4, 5)))
        t.add(op, "bad_index", l([[0, 5]]), f([1]), DIMS, ramp(F32, (4, 5)))
    t.add("SparseDenseCwiseDiv", "negative", ROWS, i([5, -5, 7, -7]), DIMS, i(2))
    t.add("SparseDenseCwiseDiv", "bad_zero", ROWS, values(I32), DIMS, i(0))


def add_order(t):
    op = "SparseReorder"
    for dtype in (F32, I32, U8, np.bool_):
        t.add(op, name_of(dtype), MIXED, values(dtype), DIMS)
    t.add(op, "string", MIXED, s(["a", "b", "", "d"]), DIMS)
    t.add(op, "ordered", ROWS, values(), DIMS)
    t.add(op, "repeated", l([[1, 1], [0, 2], [1, 1]]), f([1, 2, 3]), DIMS)
    t.add(op, "rank_3", l([[1, 1, 0], [1, 0, 2], [0, 3, 1]]), f([1, 2, 3]), l([2, 4, 3]))
    t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS)
    t.add(op, "gradient", MIXED, d([1, 2, 3, 4]), DIMS, g=True)
    t.add(op, "bad_count", MIXED, f([1]), DIMS)
    t.add(op, "bad_rank", MIXED, values(), l([4]))
    t.add(op, "bad_indices", l([1, 2]), f([1, 2]), l([4]))
    op = "SparseReshape"
    t.add(op, "known", ROWS, DIMS, l([2, 10]))
    t.add(op, "unknown", ROWS, DIMS, l([5, -1, 2]))
    t.add(op, "flat", ROWS, DIMS, Const([-1], I64))
    t.add(op, "same", ROWS, DIMS, l([4, 5]))
    t.add(op, "empty", NO_ROWS, DIMS, l([20]))
    t.add(op, "no_cells", NO_ROWS, l([0, 4]), l([-1, 2]))
    t.add(op, "bad_two_unknown", ROWS, DIMS, l([-1, -1]))
    t.add(op, "bad_size", ROWS, DIMS, l([3, 7]))
    t.add(op, "bad_multiple", ROWS, DIMS, l([3, -1]))
    t.add(op, "bad_negative", ROWS, DIMS, l([-2, 10]))
    t.add(op, "bad_zero", ROWS, DIMS, l([0, -1]))
    t.add(op, "bad_rank", l([[1]]), DIMS, l([20]))
    op = "SparseConcat"
    for dtype in (F32, I64):
        t.add(op, name_of(dtype), [ROWS, OTHER], [values(dtype), values(dtype)], [DIMS, DIMS],
              concat_dim=0)
    t.add(op, "columns", [ROWS, OTHER], [values(), values()], [DIMS, DIMS], concat_dim=1)
    t.add(op, "last", [ROWS, NO_ROWS, OTHER], [values(), NO_VALUES, values()],
          [DIMS, l([4, 2]), DIMS], concat_dim=-1)
    t.add(op, "string", [ROWS, OTHER], [s(["a", "b", "c", "d"]), s(["e", "f", "g", "h"])],
          [DIMS, DIMS], concat_dim=1)
    t.add(op, "unordered", [MIXED, OTHER], [values(), values()], [DIMS, DIMS], concat_dim=0)
    t.add(op, "empty", [NO_ROWS, NO_ROWS], [NO_VALUES, NO_VALUES], [DIMS, DIMS], concat_dim=0)
    t.add(op, "bad_dim", [ROWS, OTHER], [values(), values()], [DIMS, DIMS], concat_dim=2)
    t.add(op, "bad_shapes", [ROWS, OTHER], [values(), values()], [DIMS, l([4, 6])], concat_dim=0)
    t.add(op, "bad_ranks", [ROWS, l([[0]])], [values(), f([1])], [DIMS, l([4])], concat_dim=0)
    t.add(op, "bad_counts", [ROWS, OTHER], [values(), f([1])], [DIMS, DIMS], concat_dim=0)
    op = "SparseSplit"
    for dim in (0, 1, -1):
        t.add(op, "dim_%d" % dim, l(dim), ROWS, values(), DIMS, num_split=2)
    t.add(op, "uneven", l(1), ROWS, values(I32), DIMS, num_split=3)
    t.add(op, "one", l(1), ROWS, values(), DIMS, num_split=1)
    t.add(op, "string", l(0), ROWS, s(["a", "b", "c", "d"]), DIMS, num_split=4)
    t.add(op, "empty", l(0), NO_ROWS, NO_VALUES, DIMS, num_split=2)
    t.add(op, "bad_dim", l(2), ROWS, values(), DIMS, num_split=2)
    t.add(op, "bad_number", l(0), ROWS, values(), DIMS, num_split=5)
    t.add(op, "bad_index", l(0), l([[4, 0]]), f([1]), DIMS, num_split=2)
    t.add(op, "bad_other_index", l(0), l([[0, 5]]), f([1]), DIMS, num_split=2)
    t.add(op, "bad_count", l(0), ROWS, f([1]), DIMS, num_split=2)


def add_slice(t):
    op = "SparseSlice"
    for dtype in (F32, I32):
        t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, l([0, 1]), l([3, 3]))
    t.add(op, "string", ROWS, s(["a", "b", "c", "d"]), DIMS, l([2, 0]), l([2, 5]))
    t.add(op, "past_end", ROWS, values(), DIMS, l([1, 0]), l([100, 100]))
    t.add(op, "nothing", ROWS, values(), DIMS, l([1, 1]), l([0, 3]))
    t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, l([0, 0]), l([4, 5]))
    t.add(op, "gradient", ROWS, d([1, 2, 3, 4]), DIMS, l([0, 1]), l([4, 3]), g=True)
    t.add(op, "bad_size", ROWS, values(), DIMS, l([0, 0]), l([-1, 2]))
    t.add(op, "bad_start_length", ROWS, values(), DIMS, l([0]), l([1, 2]))
    t.add(op, "bad_count", ROWS, f([1]), DIMS, l([0, 0]), l([1, 2]))
    op, taken = "SparseSliceGrad", l([[1, 0], [2, 2]])
    for dtype in (F32, F64, I32, I64):
        t.add(op, name_of(dtype), a(dtype, [5, 6]), ROWS, l([1, 0]), taken)
    t.add(op, "nothing", NO_VALUES, ROWS, l([1, 0]), NO_ROWS)
    t.add(op, "empty", NO_VALUES, NO_ROWS, l([1, 0]), NO_ROWS)
    t.add(op, "bad_count", f([5]), ROWS, l([1, 0]), taken)
    t.add(op, "bad_start", f([5, 6]), ROWS, l([1]), taken)
    op = "SparseFillEmptyRows"
    for dtype in (F32, I64):
        t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, a(dtype, 9))
    t.add(op, "string", ROWS, s(["a", "b", "c", "d"]), DIMS, s("none"))
    t.add(op, "unordered", MIXED, values(), DIMS, f(9))
    t.add(op, "full", l([[0, 0], [1, 1]]), f([1, 2]), l([2, 2]), f(9))
    t.add(op, "no_values", NO_ROWS, NO_VALUES, DIMS, f(9))
    t.add(op, "no_rows", NO_ROWS, NO_VALUES, l([0, 5]), f(9))
    t.add(op, "rank_1", l([[2]]), f([1]), l([4]), f(9))
    t.add(op, "rank_3", l([[1, 0, 2]]), f([1]), l([3, 1, 4]), f(9))
    t.add(op, "gradient", ROWS, d([1, 2, 3, 4]), DIMS, d(0.5), g=True)
    t.add(op, "bad_row", l([[4, 0]]), f([1]), DIMS, f(9))
    t.add(op, "bad_negative", l([[-1, 0]]), f([1]), DIMS, f(9))
    t.add(op, "bad_no_rows", l([[0, 0]]), f([1]), l([0, 5]), f(9))
    t.add(op, "bad_default", ROWS, values(), DIMS, f([9]))
    op = "SparseFillEmptyRowsGrad"
    for dtype in (F32, F64, I32, I64, U8):
        t.add(op, name_of(dtype), l([0, 2, 1]), a(dtype, [1, 2, 3, 4, 5]))
    t.add(op, "empty", empty(I64, (0,)), f([1, 2]))
    t.add(op, "no_grads", empty(I64, (0,)), NO_VALUES)
    t.add(op, "bad_index", l([5]), f([1, 2]))
    t.add(op, "bad_negative", l([-1]), f([1, 2]))
    t.add(op, "bad_rank", l([[1]]), f([1, 2]))


def add_math(t):
    op = "SparseAdd"
    for dtype in (F32, F64, I32, I64, I16):
        t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, OTHER, values(dtype), DIMS,
              a(dtype, 0))
    cancels = f([-3, 0.25, 1, 2])
    for threshold in (0, 0.3, -1):
        t.add(op, "threshold_%g" % threshold, ROWS, values(), DIMS, OTHER, cancels, DIMS,
              f(threshold))
    t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, NO_ROWS, NO_VALUES, DIMS, f(0))
    t.add(op, "one_empty", NO_ROWS, NO_VALUES, DIMS, ROWS, values(), DIMS, f(0))
    t.add(op, "nan", ROWS, f([NAN, INF, 1, 2]), DIMS, OTHER, cancels, DIMS, f(0))
    t.add(op, "gradient", ROWS, d([1, 2, 3, 4]), DIMS, OTHER, d([5, 6, 7, 8]), DIMS, d(0), g=True)
    t.add(op, "bad_shapes", ROWS, values(), DIMS, OTHER, values(), l([4, 6]), f(0))
    t.add(op, "bad_ranks", ROWS, values(), DIMS, l([[1]]), f([1]), l([4]), f(0))
    t.add(op, "bad_threshold", ROWS, values(), DIMS, OTHER, values(), DIMS, f([0]))
    t.add(op, "bad_count", ROWS, f([1]), DIMS, OTHER, values(), DIMS, f(0))
    op, sums = "SparseAddGrad", l([[0, 1], [0, 3], [1, 1], [3, 2]])
    for dtype in (F32, F64, I32, np.complex64):
        t.add(op, name_of(dtype), values(dtype), ROWS, OTHER, sums)
    t.add(op, "empty", NO_VALUES, NO_ROWS, NO_ROWS, NO_ROWS)
    t.add(op, "nothing_left", NO_VALUES, ROWS, OTHER, NO_ROWS)
    t.add(op, "bad_count", f([1]), ROWS, OTHER, sums)
    t.add(op, "bad_rank", values(), l([[1]]), OTHER, sums)
    for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
        for dtype in REALS:
            t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, OTHER, a(dtype, [5, 6, 1, 0]),
                  DIMS)
        t.add(op, "negative", ROWS, f([-1, -2, 3, 4]), DIMS, OTHER, f([1, -2, -5, 6]), DIMS)
        t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, NO_ROWS, NO_VALUES, DIMS)
        t.add(op, "bad_shapes", ROWS, values(), DIMS, OTHER, values(), l([4, 6]))
        t.add(op, "bad_index", ROWS, values(), DIMS, l([[4, 0]]), f([1]), DIMS)
        t.add(op, "bad_count", ROWS, values(), DIMS, OTHER, f([1]), DIMS)
    for op in ("SparseReduceSum", "SparseReduceSumSparse", "SparseReduceMax",
               "SparseReduceMaxSparse"):
        for dtype in REALS:
            t.add(op, name_of(dtype), ROWS, values(dtype), DIMS, i([1]))
        for tag, axes in (("rows", i([0])), ("scalar", i(1)), ("negative", i([-2])),
                          ("both", i([0, 1])), ("none", empty(I32, (0,))),
                          ("constant", Const([1]))):
            t.add(op, tag, ROWS, f([-3, 1, -4, 2]), DIMS, axes)
            t.add(op, tag + "_kept", ROWS, f([-3, 1, -4, 2]), DIMS, axes, keep_dims=True)
        t.add(op, "unordered", MIXED, values(), DIMS, i([0]))
        t.add(op, "rank_3", l([[0, 1, 2], [0, 1, 3], [1, 1, 2]]), f([1, 2, 4]), l([2, 2, 4]),
              i([0, 2]))
        t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS, i([0]))
        t.add(op, "bad_axis", ROWS, values(), DIMS, i([2]))
        t.add(op, "bad_axes_rank", ROWS, values(), DIMS, i([[0]]))
        t.add(op, "bad_count", ROWS, f([1]), DIMS, i([0]))
    for axes in ([0], [1], [0, 1]):
        t.add("SparseReduceSum", "gradient_%d" % (len(axes) * 10 + axes[0]), ROWS, d([1, 2, 3, 4]),
              DIMS, i(axes), g=True)
    op = "SparseSoftmax"
    for dtype in (F32, F64, F16):
        t.add(op, name_of(dtype), ROWS, values(dtype), DIMS)
    t.add(op, "rank_3", l([[0, 1, 2], [0, 1, 3], [1, 1, 2]]), f([1, 2, 4]), l([2, 2, 4]))
    t.add(op, "large", l([[0, 0], [0, 1], [1, 0]]), f([1000, 1001, -1000]), DIMS)
    t.add(op, "empty", NO_ROWS, NO_VALUES, DIMS)
    t.add(op, "gradient", l([[0, 0], [0, 1], [0, 4], [1, 0]]), d([1, 2, 0.5, 4]), DIMS, g=True)
    t.add(op, "bad_rank", l([[0], [1]]), f([1, 2]), l([4]))
    t.add(op, "bad_count", ROWS, f([1]), DIMS)


def cases():
    t = Table()
    add_dense(t)
    add_order(t)
    add_slice(t)
    add_math(t)
    return t.cases
