"""Distinct slices, turned dimensions, diagonals that are set, and values handed on."""
from .common import *  # noqa: F403

C = Const


def uniques(t):
    v = [3, 1, 3, 2, 1]
    table = [[1, 2, 1], [3, 4, 3], [1, 2, 1]]
    for op, more in (("UniqueWithCounts", ()), ("UniqueV2", (C([0], I64),)),
                     ("UniqueWithCountsV2", (C([0], I64),))):
        for dtype in (F32, F64, F16, I32, I64, I8, U8, U16):
            t.add(op, dtype.__name__, a(dtype, v), *more)
        t.add(op, "string", s(["b", "a", "b"]), *more)
        t.add(op, "bool", b([True, False, True]), *more)
        t.add(op, "idx64", i(v), *more, out_idx=I64)
        t.add(op, "empty", empty(I32, (0,)), *more)
        t.add(op, "long", np.arange(40, dtype=I32) % 7, *more)
    t.add("UniqueWithCounts", "bad_matrix", i([[1, 2]]))
    for op in ("UniqueV2", "UniqueWithCountsV2"):
        t.add(op, "rows", i(table), C([0], I64))
        t.add(op, "columns", f(table), C([1]))
        t.add(op, "last", i(table), C([-1]))
        t.add(op, "no_axis", i(v), C([], I64))
        t.add(op, "words", s([["a", "b"], ["a", "b"], ["b", "a"]]), C([0]))
        t.add(op, "rank_3", i([[[1, 1], [2, 2]], [[1, 1], [2, 2]]]), C([2]))
        t.add(op, "bad_axis", i(table), C([2]))
        t.add(op, "bad_axes", i(table), C([0, 1]))
        t.add(op, "bad_no_axis", i(table), C([], I64))


def tiles(t):
    x = ramp(F32, (3, 4))
    for dtype in (F32, F64, F16, I32, I64, U8, np.bool_, np.complex64):
        t.add("Roll", dtype.__name__, x.astype(dtype), i(1), i(1))
    t.add("Roll", "string", s(["a", "b", "c"]), i(1), i(0))
    t.add("Roll", "both", x, i([1, -2]), l([0, 1]))
    t.add("Roll", "repeated", x, l([1, 2]), i([1, 1]))
    t.add("Roll", "far", x, l([2**40 + 1]), i([-1]))
    t.add("Roll", "none", x, empty(I32, (0,)), empty(I32, (0,)))
    t.add("Roll", "empty", empty(F32, (0, 2)), i(1), i(0))
    t.add("Roll", "rank_3", ramp(F32, (2, 3, 2)), i([1, 1, 1]), i([0, 1, 2]))
    t.add("Roll", "gradient", wave(F64, (3, 2)), i([1, 1]), i([0, 1]), g=True)
    t.add("Roll", "bad_axis", x, i(1), i(2))
    t.add("Roll", "bad_sizes", x, i([1, 2]), i([0]))
    t.add("Roll", "bad_scalar", f(1), i(1), i(0))
    for dtype in (I32, I64):
        t.add("UnravelIndex", dtype.__name__, a(dtype, [0, 5, 11]), a(dtype, [3, 4]))
    t.add("UnravelIndex", "scalar", i(22), i([2, 3, 4]))
    t.add("UnravelIndex", "vector", i([1, 2]), i([5]))
    t.add("UnravelIndex", "empty", empty(I32, (0,)), i([2, 3]))
    t.add("UnravelIndex", "bad_index", i([6]), i([2, 3]))
    t.add("UnravelIndex", "bad_dims", i([0]), i([2, 0]))
    t.add("UnravelIndex", "bad_matrix", i([[0]]), i([2, 2]))


def diagonals(t):
    for op in ("MatrixSetDiag",):
        for dtype in (F32, F64, F16, I32, I64, U8, np.bool_, np.complex64):
            t.add(op, dtype.__name__, ramp(F32, (2, 3)).astype(dtype), a(dtype, [0, 9]))
        t.add(op, "batch", ramp(F32, (2, 3, 2)), f([[0, 0], [50, 60]]))
        t.add(op, "one", f([[1]]), f([2]))
        t.add(op, "empty", empty(F32, (0, 2)), empty(F32, (0,)))
        t.add(op, "gradient", wave(F64, (2, 2, 2)), wave(F64, (2, 2), 1), g=True)
        t.add(op, "bad_length", ramp(F32, (2, 3)), f([1, 2, 3]))
        t.add(op, "bad_rank", f([1, 2]), f([1]))
        t.add(op, "bad_batch", ramp(F32, (2, 2, 2)), f([1, 2]))


def passed(t):
    for op in ("Snapshot", "DeepCopy", "GuaranteeConst"):
        for dtype in (F32, F64, I32, np.bool_):
            t.add(op, dtype.__name__, a(dtype, [[1, 0]]))
        t.add(op, "scalar", f(2))
        t.add(op, "empty", empty(F32, (0, 2)))
    for dtype in (F32, F64, F16, I32, np.complex64):
        t.add("Empty", dtype.__name__, C([2, 3]), dtype=dtype, init=True)
    t.add("Empty", "scalar", C([]), dtype=F32, init=True)
    t.add("Empty", "none", C([0, 2]), dtype=F32)
    t.add("Empty", "bad_negative", C([-1]), dtype=F32, init=True)
    t.add("Empty", "bad_matrix", C([[1]]), dtype=F32, init=True)
    op = "ParallelDynamicStitch"
    for dtype in (F32, F64, I32, I64, np.bool_):
        t.add(op, dtype.__name__, [i([0, 2]), i(1)], [a(dtype, [[1, 0], [1, 1]]), a(dtype, [0, 1])])
    t.add(op, "string", [i([1, 0])], [s(["a", "b"])])
    t.add(op, "empty", [empty(I32, (0,))], [empty(F32, (0, 2))])
    t.add(op, "gradient", [i([0, 2]), i([1])], [d([[1, 2], [3, 4]]), d([[5, 6]])], g=True)
    t.add(op, "bad_shapes", [i([0, 2]), i([1])], [f([[1, 2], [3, 4]]), f([[5, 6, 7]])])


def cases():
    t = Table()
    uniques(t)
    tiles(t)
    diagonals(t)
    passed(t)
    return t.cases
