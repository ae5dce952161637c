"""Shapes, numbers and conditions that are checked, values handed on, ranges, diagonals, lists."""
from .common import *  # noqa: F403

C = Const


def shapes(t):
    for k, (x, y) in enumerate([([2, 3], [2, 3]), ([2, 1], [1, 3]), ([3], [2, 3]), ([], [2, 3]),
                                ([0, 1], [1, 5])]):
        t.add("BroadcastArgs", "int32_%d" % k, i(x), i(y))
        t.add("BroadcastArgs", "int64_%d" % k, l(x), l(y))
    t.add("BroadcastArgs", "bad_shapes", i([2, 3]), i([2, 2]))
    x = ramp(F32, (2, 3))
    t.add("EnsureShape", "same", x, shape=[2, 3])
    t.add("EnsureShape", "partly", x, shape=[None, 3])
    t.add("EnsureShape", "scalar", f(1), shape=[])
    t.add("EnsureShape", "string", s(["a"]), shape=[1])
    t.add("EnsureShape", "gradient", wave(F64, (2,)), shape=[2], g=True)
    t.add("EnsureShape", "bad_dimension", x, shape=[2, 4])
    t.add("EnsureShape", "bad_rank", x, shape=[6])
    t.add("IdentityN", "three", [f([1, 2]), i([3]), s("x")])
    t.add("IdentityN", "one", [f(1)])
    t.add("IdentityN", "two", [wave(F64, (2,)), wave(F64, (2, 2))], g=True)
    t.add("IdentityN", "empty", [empty(F32, (0,)), empty(I64, (2, 0))])
    t.add("IdentityN", "bool", [b([1, 0]), b(1)])
    for op in ("StopGradient", "PreventGradient"):
        t.add(op, "float", x)
        t.add(op, "int32", i([1, 2]))
        t.add(op, "string", s(["a", "b"]))
        t.add(op, "scalar", d(1))
        t.add(op, "empty", empty(F32, (0, 2)))
    t.add("PlaceholderWithDefault", "float", x, shape=[2, 3])
    t.add("PlaceholderWithDefault", "constant", C(x), shape=[None, 3])
    t.add("PlaceholderWithDefault", "scalar", i(4), shape=[])
    t.add("PlaceholderWithDefault", "unknown", x, shape=None)
    t.add("PlaceholderWithDefault", "empty", empty(F32, (0,)), shape=[0])
    for op in ("CheckNumerics", "CheckNumericsV2"):
        t.add(op, "float", f([1, -2, 0]), message="here")
        t.add(op, "double", wave(F64, (2, 2)), message="here", g=True)
        t.add(op, "half", h([1, 65504]), message="here")
        t.add(op, "scalar", f(1), message="")
        t.add(op, "empty", empty(F32, (0,)), message="here")
        t.add(op, "bad_nan", f([1, NAN]), message="here")
        t.add(op, "bad_inf", f([1, INF]), message="here")
        t.add(op, "bad_both", d([NAN, -INF]), message="here")
    t.add("Assert", "true", b(True), [f([1, 2]), s("what")])
    t.add("Assert", "none_shown", b(True), [i(1)], summarize=0)
    t.add("Assert", "bad_false", b(False), [f([1, 2]), s("what"), i(3)])
    t.add("Assert", "bad_summarize", b(False), [ramp(I32, (100,))], summarize=-1)
    t.add("Assert", "bad_rank", b([True]), [f(1)])
    t.add("NoOp", "nothing")
    for dtype in (F32, F64):
        t.add("LinSpace", dtype.__name__, a(dtype, 0), a(dtype, 10), C(5))
        t.add("LinSpace", dtype.__name__ + "_down", a(dtype, 3), a(dtype, -1), C(7))
        t.add("LinSpace", dtype.__name__ + "_one", a(dtype, 3), a(dtype, 9), C(1))
    t.add("LinSpace", "two", f(0.1), f(0.7), C(2))
    t.add("LinSpace", "fed_num", f(0), f(1), i(4))
    t.add("LinSpace", "int64_num", f(0), f(1), C(3, I64))
    t.add("LinSpace", "constant", C(0, F32), C(1, F32), C(11))
    t.add("LinSpace", "bad_num", f(0), f(1), C(0))
    t.add("LinSpace", "bad_rank", f([0]), f(1), C(2))
    for dtype in (F32, F64, I32, I64):
        m = ramp(dtype, (2, 3))
        t.add("ConjugateTranspose", dtype.__name__, m, C([1, 0]))
    t.add("ConjugateTranspose", "rank_3", ramp(F32, (2, 3, 2)), C([2, 0, 1]))
    t.add("ConjugateTranspose", "gradient", wave(F64, (2, 3)), C([1, 0]), g=True)
    t.add("ConjugateTranspose", "fed", x, i([1, 0]))
    t.add("ConjugateTranspose", "bad_perm", x, C([1, 1]))


def diagonals(t):
    for dtype in (F32, F64, I32, I64):
        name = dtype.__name__
        t.add("Diag", name, ramp(dtype, (3,)))
        t.add("DiagPart", name, ramp(dtype, (3, 3)))
        t.add("MatrixDiag", name, ramp(dtype, (3,)))
        t.add("MatrixDiagPart", name, ramp(dtype, (3, 3)))
    t.add("Diag", "matrix", ramp(F32, (2, 3)))
    t.add("Diag", "one", f([5]))
    t.add("Diag", "empty", empty(F32, (0,)))
    t.add("Diag", "gradient", wave(F64, (3,)), g=True)
    t.add("Diag", "bad_scalar", f(1))
    t.add("DiagPart", "rank_4", ramp(F32, (2, 3, 2, 3)))
    t.add("DiagPart", "one", f([[5]]))
    t.add("DiagPart", "gradient", wave(F64, (3, 3)), g=True)
    t.add("DiagPart", "bad_odd", f([1, 2]))
    t.add("DiagPart", "bad_shape", ramp(F32, (2, 3)))
    t.add("MatrixDiag", "batch", ramp(F32, (2, 3)))
    t.add("MatrixDiag", "one", f([5]))
    t.add("MatrixDiag", "empty", empty(F32, (0, 2)))
    t.add("MatrixDiag", "gradient", wave(F64, (2, 2)), g=True)
    t.add("MatrixDiag", "bad_scalar", f(1))
    t.add("MatrixDiagPart", "wide", ramp(F32, (2, 3)))
    t.add("MatrixDiagPart", "tall", ramp(F32, (3, 2)))
    t.add("MatrixDiagPart", "batch", ramp(F32, (2, 3, 3)))
    t.add("MatrixDiagPart", "gradient", wave(F64, (3, 3)), g=True)
    t.add("MatrixDiagPart", "bad_vector", f([1, 2]))


def other(t):
    for dtype in (F32, F64, I32):
        t.add("EuclideanNorm", dtype.__name__, a(dtype, [[3, 4], [5, 12]]), C([1]))
    t.add("EuclideanNorm", "all", wave(F32, (2, 3)), C([0, 1]))
    t.add("EuclideanNorm", "keep", wave(F32, (2, 3)), C([0]), keep_dims=True)
    t.add("EuclideanNorm", "empty_axis", empty(F32, (2, 0)), C([1]))
    t.add("EuclideanNorm", "gradient", wave(F64, (2, 3)), C([1]), g=True)
    t.add("EuclideanNorm", "bad_axis", wave(F32, (2, 3)), C([2]))
    for dtype in (F32, F64, I32, I64, U8):
        t.add("ListDiff", dtype.__name__, a(dtype, [1, 2, 3, 2, 5]), a(dtype, [2, 9]))
    t.add("ListDiff", "string", s(["a", "b", "a"]), s(["b"]))
    t.add("ListDiff", "int64_index", i([1, 2]), i([2]), out_idx="int64")
    t.add("ListDiff", "empty", empty(I32, (0,)), i([2]))
    t.add("ListDiff", "nothing_taken", i([3, 1]), empty(I32, (0,)))
    t.add("ListDiff", "bad_rank", i([[1]]), i([1]))
    for op in ("BiasAddV1", "InTopK"):
        x = wave(F32, (3, 4), 5)
        if op == "BiasAddV1":
            t.add(op, "float", x, f([1, 2, 3, 4]))
            t.add(op, "double", wave(F64, (2, 3)), wave(F64, (3,), 1), g=True)
            t.add(op, "int32", i([[1, 2]]), i([3, 4]))
            t.add(op, "rank_3", ramp(F32, (2, 2, 2)), f([1, 2]))
            t.add(op, "empty", empty(F32, (0, 2)), f([1, 2]))
            t.add(op, "bad_length", x, f([1, 2]))
        else:
            for k in (0, 1, 2, 9):
                t.add(op, "k_%d" % k, x, i([0, 1, 3]), k=k)
            t.add(op, "int64", x, l([0, 1, 3]), k=2)
            t.add(op, "bad_lengths", x, i([0]), k=1)


def cases():
    t = Table()
    shapes(t)
    diagonals(t)
    other(t)
    return t.cases
