"""Rarer ops: more functions, bits, diagonals, checks, rows of variables, handles."""
from .common import *  # noqa: F403
from .elementwise import EXTREME, ORDINARY

C = Const
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
    t.add("CheckNumerics", "float", f([1, -2, 0]), message="here")
    t.add("CheckNumerics", "double", wave(F64, (2, 2)), message="here", g=True)
    t.add("CheckNumerics", "half", h([1, 65504]), message="here")
    t.add("CheckNumerics", "scalar", f(1), message="")
    t.add("CheckNumerics", "empty", empty(F32, (0,)), message="here")
    t.add("CheckNumerics", "bad_nan", f([1, NAN]), message="here")
    t.add("CheckNumerics", "bad_inf", f([1, INF]), message="here")
    t.add("CheckNumerics", "bad_both", d([NAN, -INF]), message="here")
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


def V(values, dtype=F32):
    return Variable(np.asarray(values, dtype))


def references(t):
    for dtype in (I32, I64):
        t.add("CountUpTo", dtype.__name__, V(3, dtype), limit=6, runs=3)
    t.add("CountUpTo", "to_the_limit", V(0, I32), limit=1)
    t.add("CountUpTo", "negative", V(-2, I32), limit=1, runs=2)
    t.add("CountUpTo", "bad_limit", V(3, I32), limit=3)
    t.add("CountUpTo", "bad_unset", Uninitialized(I32, []), limit=3)
    for op in ("ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax"):
        for dtype in (F32, F64) if op == "ScatterDiv" else (F32, F64, I32, I64):
            t.add(op, dtype.__name__, V([[8, 20], [30, 40], [50, 60]], dtype), i([2, 0]),
                  a(dtype, [[10, 70], [2, 5]]))
        t.add(op, "scalar_update", V([8, 6]), i([1, 0]), f(2))
        t.add(op, "twice", V([8, 6]), i([1, 1]), f([2, 3]))
        t.add(op, "nothing", V([8, 6]), empty(I32, (0,)), empty(F32, (0,)))
        t.add(op, "bad_index", V([8, 6]), i([2]), f([2]))
        t.add(op, "bad_unset", Uninitialized(F32, [2]), i([0]), f([1]))
    w, accumulator = [[1, 2], [3, 4], [5, 6]], [[0.1, 0.2], [1, 1], [2, 3]]
    grad = [[0.5, -1], [2, 0.25]]
    for dtype in (F32, F64):
        lr = a(dtype, 0.1)
        pair = (V(w, dtype), V(accumulator, dtype))
        for index in (I32, I64):
            tag = dtype.__name__ + "_" + index.__name__
            t.add("SparseApplyAdagrad", tag, *pair, lr, a(dtype, grad), a(index, [2, 0]), runs=2)
            t.add("SparseApplyMomentum", tag, *pair, lr, a(dtype, grad), a(index, [2, 0]),
                  a(dtype, 0.9), runs=2)
    pair = (V(w), V(accumulator))
    t.add("SparseApplyAdagrad", "no_slots", *pair, f(0.1), f(grad), i([2, 0]), update_slots=False)
    t.add("SparseApplyAdagrad", "nothing", *pair, f(0.1), empty(F32, (0, 2)), empty(I32, (0,)))
    t.add("SparseApplyAdagrad", "bad_index", *pair, f(0.1), f(grad), i([3, 0]))
    t.add("SparseApplyAdagrad", "bad_rows", *pair, f(0.1), f(grad), i([0]))
    t.add("SparseApplyMomentum", "nesterov", *pair, f(0.1), f(grad), i([2, 0]), f(0.9),
          use_nesterov=True)
    t.add("SparseApplyMomentum", "nothing", *pair, f(0.1), empty(F32, (0, 2)), empty(I32, (0,)),
          f(0.9))
    t.add("SparseApplyMomentum", "bad_index", *pair, f(0.1), f(grad), i([3, 0]), f(0.9))
    t.add("SparseApplyMomentum", "bad_rows", *pair, f(0.1), f(grad), i([0]), f(0.9))


def H(values, dtype=F32):
    return Handle(np.asarray(values, dtype))


def handles(t):
    for dtype, name in ((F32, "float"), (F64, "double"), (I32, "int32"), (np.bool_, "bool")):
        x = np.asarray([[1, 0], [3, 4]]).astype(dtype)
        t.add("ReadVariableOp", name, Handle(x), dtype=name)
        t.add("AssignVariableOp", name, Handle(x), x[::-1].copy())
        if dtype != np.bool_:
            t.add("AssignAddVariableOp", name, Handle(x), x, runs=2)
            t.add("AssignSubVariableOp", name, Handle(x), x, runs=2)
    t.add("ReadVariableOp", "string", Handle(s(["a", "b"])), dtype="string")
    t.add("ReadVariableOp", "bad_unset", UninitializedHandle(F32, [2]), dtype="float")
    t.add("AssignVariableOp", "first", UninitializedHandle(F32, [2]), f([1, 2]))
    t.add("AssignVariableOp", "scalar", H(1), f(2))
    t.add("AssignAddVariableOp", "bad_unset", UninitializedHandle(F32, [2]), f([1, 2]))
    t.add("AssignAddVariableOp", "bad_shape", H([1, 2]), f([1, 2, 3]))
    t.add("AssignSubVariableOp", "bad_unset", UninitializedHandle(F32, [2]), f([1, 2]))
    t.add("AssignSubVariableOp", "bad_shape", H([1, 2]), f([1, 2, 3]))
    t.add("VarIsInitializedOp", "yes", H([1, 2]))
    t.add("VarIsInitializedOp", "no", UninitializedHandle(F32, [2]))
    t.add("VarIsInitializedOp", "scalar", H(1))
    t.add("VarIsInitializedOp", "int64", H([1], I64))
    t.add("VarIsInitializedOp", "empty", H(np.zeros((0,))))
    x = [[1, 2], [3, 4], [5, 6]]
    t.add("ResourceGather", "rows", H(x), i([2, 0]), dtype="float")
    t.add("ResourceGather", "double", H(x, F64), l([2, 0]), dtype="double")
    t.add("ResourceGather", "matrix", H(x), i([[2, 0], [1, 1]]), dtype="float")
    t.add("ResourceGather", "scalar", H(x), i(1), dtype="float")
    t.add("ResourceGather", "nothing", H(x), empty(I32, (0,)), dtype="float")
    t.add("ResourceGather", "bad_index", H(x), i([3]), dtype="float")
    for op in ("ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"):
        t.add(op, "float", H(x), i([2, 0]), f([[10, 20], [30, 40]]), dtype="float")
        t.add(op, "int64", H(x, I64), l([1]), l([[10, 20]]), dtype="int64")
        t.add(op, "twice", H(x), i([1, 1]), f([[10, 20], [30, 40]]), dtype="float")
        t.add(op, "scalar_update", H(x), i([1, 0]), f(7), dtype="float")
        t.add(op, "nothing", H(x), empty(I32, (0,)), empty(F32, (0, 2)), dtype="float")
        t.add(op, "bad_index", H(x), i([3]), f([[1, 2]]), dtype="float")
        t.add(op, "bad_updates", H(x), i([1]), f([[1, 2, 3]]), dtype="float")
    w, grad = [[1, -2], [3, 0.5]], [[0.1, -0.2], [0.3, 0]]
    slot = [[0.1, 0.5], [1, 2]]
    for dtype in (F32, F64):
        name = dtype.__name__
        v = lambda values: a(dtype, values)  # noqa: E731
        t.add("ResourceApplyGradientDescent", name, H(w, dtype), v(0.5), v(grad), runs=2)
        t.add("ResourceApplyMomentum", name, H(w, dtype), H(slot, dtype), v(0.1), v(grad), v(0.9),
              runs=2)
        t.add("ResourceApplyMomentum", name + "_nesterov", H(w, dtype), H(slot, dtype), v(0.1),
              v(grad), v(0.9), use_nesterov=True)
        t.add("ResourceApplyAdagrad", name, H(w, dtype), H(slot, dtype), v(0.1), v(grad), runs=2)
        t.add("ResourceApplyAdam", name, H(w, dtype), H(slot, dtype), H(slot, dtype), v(0.9),
              v(0.999), v(0.01), v(0.9), v(0.999), v(1e-8), v(grad), runs=2)
        t.add("ResourceApplyRMSProp", name, H(w, dtype), H(slot, dtype), H(slot, dtype), v(0.01),
              v(0.9), v(0.5), v(1e-10), v(grad), runs=2)
    t.add("ResourceApplyGradientDescent", "scalar", H(2), f(0.5), f(1), runs=3)
    t.add("ResourceApplyGradientDescent", "empty", H(np.zeros((0,))), f(0.5), empty(F32, (0,)))
    t.add("ResourceApplyGradientDescent", "bad_shape", H([1, 2]), f(0.5), f([1, 2, 3]))
    t.add("ResourceApplyMomentum", "bad_shape", H([1, 2]), H([1, 2]), f(0.5), f([1, 2, 3]), f(0.9))
    t.add("ResourceApplyMomentum", "scalar", H(2), H(1), f(0.5), f(1), f(0.9))
    t.add("ResourceApplyAdagrad", "scalar", H(2), H(1), f(0.5), f(1))
    t.add("ResourceApplyAdagrad", "no_slots", H(2), H(1), f(0.5), f(1), update_slots=False)
    t.add("ResourceApplyAdagrad", "bad_shape", H([1, 2]), H([1, 2]), f(0.5), f([1, 2, 3]))
    numbers = (f(0.9), f(0.999), f(0.01), f(0.9), f(0.999), f(1e-8))
    t.add("ResourceApplyAdam", "scalar", H(2), H(0), H(0), *numbers, f(1), runs=2)
    t.add("ResourceApplyAdam", "bad_shape", H([1]), H([0]), H([0]), *numbers, f([1, 2]))
    t.add("ResourceApplyAdam", "bad_unset", H([1]), UninitializedHandle(F32, [1]), H([0]),
          *numbers, f([1]))
    rms = (f(0.01), f(0.9), f(0.5), f(1e-10))
    t.add("ResourceApplyRMSProp", "scalar", H(2), H(1), H(0), *rms, f(1), runs=2)
    t.add("ResourceApplyRMSProp", "bad_shape", H([1]), H([0]), H([0]), *rms, f([1, 2]))
    t.add("ResourceApplyRMSProp", "bad_unset", H([1]), UninitializedHandle(F32, [1]), H([0]),
          *rms, f([1]))


def cases():
    t = Table()
    unary(t)
    binary(t)
    shapes(t)
    diagonals(t)
    other(t)
    references(t)
    handles(t)
    return t.cases
