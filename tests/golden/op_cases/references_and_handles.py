"""Variables counted up, scattered to and trained, by reference and by handle."""
from .common import *  # noqa: F403


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
    references(t)
    handles(t)
    return t.cases
