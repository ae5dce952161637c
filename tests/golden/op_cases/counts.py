"""How often numbers occur in rows, as sparse tensors."""
from .common import *  # noqa: F403

C = Const


def add_dense(t):
    op = "DenseCountSparseOutput"
    none = empty(F32, (0,))
    for dtype in (I32, I64, F32, F64):
        t.add(op, dtype.__name__, i([[1, 1, 5], [0, 2, 2]]), a(dtype, [[1, 2, 3], [4, 5, 6]]),
              binary_output=False)
    t.add(op, "vector", l([1, 1, 5]), empty(I64, (0,)), binary_output=False)
    t.add(op, "rows", i([[1, 1, 5], [0, 2, 2]]), none, binary_output=False)
    t.add(op, "binary", i([[1, 1, 5], [0, 2, 2]]), f([[1, 2, 3], [4, 5, 6]]), binary_output=True,
          minlength=8)
    t.add(op, "most", i([1, 1, 5]), none, binary_output=False, maxlength=3)
    t.add(op, "most_is_more", i([1, 1, 5]), none, binary_output=False, maxlength=9)
    t.add(op, "least_and_most", i([1, 1, 5]), none, binary_output=False, minlength=2, maxlength=3)
    t.add(op, "none_at_most", i([1, 1, 5]), none, binary_output=False, maxlength=0)
    t.add(op, "large", l([2**40, 1]), none, binary_output=False)
    t.add(op, "empty", empty(I32, (0,)), none, binary_output=False)
    t.add(op, "no_columns", empty(I32, (2, 0)), none, binary_output=False)
    t.add(op, "bad_negative", i([1, -1]), none, binary_output=False)
    t.add(op, "bad_weights", i([1, 1]), f([1, 2, 3]), binary_output=False)
    t.add(op, "bad_scalar", i(1), none, binary_output=False)
    t.add(op, "bad_rank", i([[[1]]]), none, binary_output=False)


def add_sparse(t):
    op = "SparseCountSparseOutput"
    none = empty(F32, (0,))
    places = l([[0, 0], [0, 1], [2, 0]])
    for dtype in (I32, I64, F32, F64):
        t.add(op, dtype.__name__, places, i([2, 2, 7]), C(l([3, 2])), a(dtype, [1, 2, 3]),
              binary_output=False)
    t.add(op, "vector", l([[0], [3]]), l([2, 2]), C(l([5])), none, binary_output=False)
    t.add(op, "not_in_order", l([[2, 0], [0, 1], [0, 0]]), i([2, 2, 7]), C(l([3, 2])),
          f([1, 2, 3]), binary_output=False)
    t.add(op, "binary", places, i([2, 2, 7]), l([3, 2]), none, binary_output=True, maxlength=5)
    t.add(op, "empty", empty(I64, (0, 2)), empty(I32, (0,)), C(l([3, 2])), none,
          binary_output=False, minlength=4)
    t.add(op, "bad_row", l([[3, 0]]), i([2]), C(l([3, 2])), none, binary_output=False)
    t.add(op, "bad_column", l([[0, 5]]), i([2]), C(l([3, 2])), none, binary_output=False)
    t.add(op, "bad_negative", l([[0, 1]]), i([-2]), C(l([3, 2])), none, binary_output=False)
    t.add(op, "bad_weights", l([[0, 1]]), i([2]), C(l([3, 2])), f([1, 2]), binary_output=False)


def add_ragged(t):
    op = "RaggedCountSparseOutput"
    none = empty(F32, (0,))
    for dtype in (I32, I64, F32, F64):
        t.add(op, dtype.__name__, C(l([0, 2, 2, 3])), i([4, 4, 1]), a(dtype, [1, 2, 3]),
              binary_output=False)
    t.add(op, "longer", l([0, 2, 2, 3]), l([4, 4, 1]), none, binary_output=False, minlength=9)
    t.add(op, "binary", l([0, 3]), l([4, 4, 1]), none, binary_output=True)
    t.add(op, "most", l([0, 3]), l([4, 4, 1]), none, binary_output=False, maxlength=2)
    t.add(op, "empty", l([0, 0]), empty(I32, (0,)), none, binary_output=False)
    t.add(op, "bad_start", l([1, 3]), i([4, 4, 1]), none, binary_output=False)
    t.add(op, "bad_end", l([0, 2]), i([4, 4, 1]), none, binary_output=False)
    t.add(op, "bad_no_rows", l([0]), empty(I32, (0,)), none, binary_output=False)
    t.add(op, "bad_negative", l([0, 2]), i([4, -4]), none, binary_output=True)


def cases():
    t = Table()
    add_dense(t)
    add_sparse(t)
    add_ragged(t)
    return t.cases
