"""Ops that change variables, as programs of one op: the inputs are references."""
from .common import *  # noqa: F403

C = Const


def V(values, dtype=F32):
    return Variable(np.asarray(values, dtype))


def assigning(t):
    for op in ("Assign", "AssignAdd", "AssignSub"):
        for dtype in (F32, F64, F16, I32, I64, U8):
            t.add(op, dtype.__name__, V([[1, 2], [3, 4]], dtype), a(dtype, [[5, 6], [7, 8]]))
        t.add(op, "scalar", V(1), f(2), runs=2)
        t.add(op, "empty", V(np.zeros((0, 2))), empty(F32, (0, 2)))
        t.add(op, "repeated", V([1, 2]), f([10, 20]), runs=3)
        t.add(op, "bad_shape", V([1, 2]), f([1, 2, 3]))
        t.add(op, "bad_rank", V([1, 2]), f([[1, 2]]))
    t.add("Assign", "string", Variable(s(["a", "b"])), s(["c", "dd"]))
    t.add("Assign", "bool", V([True], np.bool_), b([False]))
    t.add("Assign", "first", Uninitialized(F32, [2]), f([1, 2]))
    t.add("Assign", "new_shape", Variable(f([1, 2]), any_shape=True), f([1, 2, 3]),
          validate_shape=False)
    t.add("AssignAdd", "bad_unset", Uninitialized(F32, [2]), f([1, 2]))
    t.add("AssignSub", "bad_unset", Uninitialized(F32, [2]), f([1, 2]))
    t.add("IsVariableInitialized", "yes", V([1, 2]))
    t.add("IsVariableInitialized", "no", Uninitialized(F32, [2]))
    t.add("IsVariableInitialized", "int64", V(3, I64))
    t.add("IsVariableInitialized", "no_scalar", Uninitialized(I32, []))
    t.add("IsVariableInitialized", "empty", V(np.zeros((0,))))


def scattering(t):
    for op in ("ScatterAdd", "ScatterSub", "ScatterUpdate"):
        for dtype in (F32, F64, F16, I32, I64):
            t.add(op, dtype.__name__, V([[1, 2], [3, 4], [5, 6]], dtype), i([2, 0]),
                  a(dtype, [[10, 20], [30, 40]]))
        t.add(op, "vector", V([1, 2, 3]), i([1]), f([10]), runs=2)
        t.add(op, "int64_indices", V([1, 2, 3]), l([0, 2]), f([10, 20]))
        t.add(op, "twice", V([1, 2, 3]), i([1, 1, 0]), f([10, 20, 30]))
        t.add(op, "matrix_indices", V([1, 2, 3, 4]), i([[0, 1], [3, 2]]), f([[1, 2], [3, 4]]))
        t.add(op, "scalar_index", V([[1, 2], [3, 4]]), i(1), f([10, 20]))
        t.add(op, "scalar_update", V([[1, 2], [3, 4]]), i([1, 0]), f(7))
        t.add(op, "nothing", V([1, 2]), empty(I32, (0,)), empty(F32, (0,)))
        t.add(op, "bad_index", V([1, 2]), i([2]), f([1]))
        t.add(op, "bad_negative", V([1, 2]), i([-1]), f([1]))
        t.add(op, "bad_updates", V([[1, 2], [3, 4]]), i([0]), f([[1, 2, 3]]))
        t.add(op, "bad_unset", Uninitialized(F32, [2]), i([0]), f([1]))


def cases():
    t = Table()
    assigning(t)
    scattering(t)
    return t.cases
