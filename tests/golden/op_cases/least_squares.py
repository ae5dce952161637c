"""Least squares, products with many zeros, rows changed."""
from .common import *  # noqa: F403


def least_squares(t):
    op = "MatrixSolveLs"
    for dtype in (F32, F64, C64, C128):
        name, tol = np.dtype(dtype).name, 60
        for tag, shape in (("tall", (4, 2)), ("wide", (2, 3)), ("square", (2, 2))):
            x = wave(F64, shape) + np.eye(*shape)
            x = x.astype(dtype) + (1j * wave(F64, shape, 1.0, 0.9) if dtype in (C64, C128) else 0)
            y = wave(F64, (shape[0], 2), 1.5, 1.1).astype(dtype)
            for fast in (True, False):
                for weight in (0, 0.5):
                    t.add(op, "%s_%s_%d_%d" % (name, tag, fast, weight > 0), x.astype(dtype), y,
                          d(weight), fast=fast, tol=tol)
    for tag, shape in (("tall", (2, 4, 2)), ("wide", (2, 2, 3))):
        x, y = wave(F64, shape) + np.eye(*shape[1:]), wave(F64, shape[:2] + (2,), 1.5, 1.1)
        t.add(op, "batch_" + tag, x, y, d(0.25), tol=60)
    t.add(op, "rank_deficient", d([[1, 1], [1, 1], [1, 1]]), d([[1], [2], [3]]), d(0), fast=False,
          tol=60)
    t.add(op, "empty", empty(F64, (0, 3, 2)), empty(F64, (0, 3, 1)), d(0))
    t.add(op, "bad_rows", d([[1, 2], [3, 4]]), d([[1]]), d(0))
    t.add(op, "bad_weight", d([[1, 2], [3, 4]]), d([[1], [2]]), d(-1))
    t.add(op, "bad_rank", d([1, 2]), d([[1]]), d(0))
    for dtype in (F32, F64):
        for fast in (True, False):
            t.add("BatchMatrixSolveLs", "%s_%d" % (dtype.__name__, fast),
                  wave(dtype, (2, 3, 2)), wave(dtype, (2, 3, 1), 1.5, 1.1), d(0.5), fast=fast,
                  tol=60, producer=12)
    t.add("BatchMatrixSolveLs", "bad_rows", d([[1, 2], [3, 4]]), d([[1]]), d(0), producer=12)


def products(t):
    op, x, y = "SparseMatMul", wave(F32, (3, 4)), wave(F32, (4, 2), 1.0, 0.7)
    x[np.abs(x) < 1] = 0
    for turn_a in (False, True):
        for turn_b in (False, True):
            t.add(op, "turned_%d_%d" % (turn_a, turn_b), x.T.copy() if turn_a else x,
                  y.T.copy() if turn_b else y, transpose_a=turn_a, transpose_b=turn_b,
                  a_is_sparse=True, tol=8, g=True)
    for a_type, b_type in ((F32, BFLOAT16), (BFLOAT16, F32), (BFLOAT16, BFLOAT16)):
        t.add(op, "%s_%s" % (np.dtype(a_type).name, np.dtype(b_type).name), x.astype(a_type),
              y.astype(b_type), b_is_sparse=True, tol=8)
    t.add(op, "empty", empty(F32, (0, 4)), y)
    t.add(op, "no_inner", empty(F32, (2, 0)), empty(F32, (0, 3)))
    t.add(op, "bad_sizes", x, y[:3])
    t.add(op, "bad_rank", x[0], y)


def rows(t):
    for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
        for dtype in (F32, F64, F16, I32, I64, C64):
            t.add(op, np.dtype(dtype).name, ramp(dtype, (3, 2)), i([2, 0]), ramp(dtype, (2, 2), 50))
        t.add(op, "again", ramp(F32, (3,)), i([1, 1]), f([10, 20]))
        t.add(op, "from_the_end", ramp(F32, (3, 2)), i([-1, 4]), ramp(F32, (2, 2), 50))
        t.add(op, "none", ramp(F32, (3, 2)), empty(I32, (0,)), empty(F32, (0, 2)))
        t.add(op, "bad_rows", ramp(F32, (3, 2)), i([0]), ramp(F32, (2, 2)))
        t.add(op, "bad_shape", ramp(F32, (3, 2)), i([0]), ramp(F32, (1, 3)))
        t.add(op, "bad_indices", ramp(F32, (3, 2)), i([[0]]), ramp(F32, (1, 2)))


def cases():
    t = Table()
    least_squares(t)
    products(t)
    rows(t)
    return t.cases
