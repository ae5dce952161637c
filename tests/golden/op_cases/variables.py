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


def optimizers(t):
    w = [[1, -2], [3, 0.5]]
    grad = [[0.1, -0.2], [0.3, 0]]
    for dtype in (F32, F64, F16):
        name = dtype.__name__
        x = lambda v: a(dtype, v)  # noqa: E731
        t.add("ApplyGradientDescent", name, V(w, dtype), x(0.5), x(grad), runs=2)
        t.add("ApplyMomentum", name, V(w, dtype), V([[0, 0.5], [1, 2]], dtype), x(0.1), x(grad),
              x(0.9), runs=2)
        t.add("ApplyMomentum", name + "_nesterov", V(w, dtype), V([[0, 0.5], [1, 2]], dtype),
              x(0.1), x(grad), x(0.9), use_nesterov=True, runs=2)
        t.add("ApplyAdagrad", name, V(w, dtype), V([[0.1, 0.1], [1, 2]], dtype), x(0.1), x(grad),
              runs=2)
        t.add("ApplyAdagrad", name + "_no_slots", V(w, dtype), V([[0.1, 0.1], [1, 2]], dtype),
              x(0.1), x(grad), update_slots=False)
        adam = (x(0.9), x(0.999), x(0.01), x(0.9), x(0.999), x(1e-3 if dtype == F16 else 1e-8))
        t.add("ApplyAdam", name, V(w, dtype), V([[0, 0.1], [0.2, 0.3]], dtype),
              V([[0, 0.1], [0.2, 0.3]], dtype), *adam, x(grad), runs=2)
        t.add("ApplyAdam", name + "_nesterov", V(w, dtype), V([[0, 0.1], [0.2, 0.3]], dtype),
              V([[0, 0.1], [0.2, 0.3]], dtype), *adam, x(grad), use_nesterov=True, runs=2)
        t.add("ApplyRMSProp", name, V(w, dtype), V([[1, 1], [1, 1]], dtype),
              V([[0, 0.1], [0.2, 0.3]], dtype), x(0.01), x(0.9), x(0.5),
              x(1e-3 if dtype == F16 else 1e-10), x(grad), runs=2)
        t.add("ApplyAdadelta", name, V(w, dtype), V([[1, 0.5], [0.1, 1]], dtype),
              V([[0, 0.1], [0.2, 0.3]], dtype), x(0.1), x(0.95),
              x(1e-3 if dtype == F16 else 1e-8), x(grad), runs=2)
    p = [V([1, 2]), V([0.5, 0.5])]
    t.add("ApplyGradientDescent", "scalar", V(2), f(0.5), f(1), runs=3)
    t.add("ApplyGradientDescent", "empty", V(np.zeros((0, 2))), f(0.5), empty(F32, (0, 2)))
    t.add("ApplyGradientDescent", "constant_rate", V([1, 2]), C(0.25, F32), f([4, 8]))
    t.add("ApplyGradientDescent", "nan", V([1, 2]), f(0.5), f([NAN, INF]))
    t.add("ApplyGradientDescent", "long", V(np.arange(37)), f(0.5), ramp(F32, (37,)))
    t.add("ApplyGradientDescent", "bad_shape", V([1, 2]), f(0.5), f([1, 2, 3]))
    t.add("ApplyGradientDescent", "bad_rate", V([1, 2]), f([0.5]), f([1, 2]))
    t.add("ApplyGradientDescent", "bad_unset", Uninitialized(F32, [2]), f(0.5), f([1, 2]))
    t.add("ApplyMomentum", "scalar", V(2), V(1), f(0.5), f(1), f(0.9), runs=2)
    t.add("ApplyMomentum", "long", V(np.arange(37)), V(np.ones(37)), f(0.5), ramp(F32, (37,)),
          f(0.9))
    t.add("ApplyMomentum", "bad_shape", *p, f(0.5), f([1, 2, 3]), f(0.9))
    t.add("ApplyMomentum", "bad_slot", V([1, 2]), V([1]), f(0.5), f([1, 2]), f(0.9))
    t.add("ApplyMomentum", "bad_unset", V([1, 2]), Uninitialized(F32, [2]), f(0.5), f([1, 2]),
          f(0.9))
    t.add("ApplyAdagrad", "scalar", V(2), V(1), f(0.5), f(1), runs=2)
    t.add("ApplyAdagrad", "long", V(np.arange(37)), V(np.ones(37)), f(0.5), ramp(F32, (37,)))
    t.add("ApplyAdagrad", "bad_shape", *p, f(0.5), f([1, 2, 3]))
    t.add("ApplyAdagrad", "bad_slot", V([1, 2]), V([1]), f(0.5), f([1, 2]))
    t.add("ApplyAdagrad", "bad_unset", V([1, 2]), Uninitialized(F32, [2]), f(0.5), f([1, 2]))
    numbers = (f(0.9), f(0.999), f(0.01), f(0.9), f(0.999), f(1e-8))
    t.add("ApplyAdam", "scalar", V(2), V(0), V(0), *numbers, f(1), runs=3)
    t.add("ApplyAdam", "long", V(np.arange(37)), V(np.zeros(37)), V(np.zeros(37)), *numbers,
          ramp(F32, (37,)))
    t.add("ApplyAdam", "bad_shape", V([1, 2]), V([0, 0]), V([0, 0]), *numbers, f([1, 2, 3]))
    t.add("ApplyAdam", "bad_rate", V([1]), V([0]), V([0]), f(0.9), f(0.999), f([0.01]), f(0.9),
          f(0.999), f(1e-8), f([1]))
    t.add("ApplyAdam", "bad_unset", V([1, 2]), Uninitialized(F32, [2]), V([0, 0]), *numbers,
          f([1, 2]))
    rms = (f(0.01), f(0.9), f(0.5), f(1e-10))
    t.add("ApplyRMSProp", "scalar", V(2), V(1), V(0), *rms, f(1), runs=2)
    t.add("ApplyRMSProp", "bad_shape", V([1, 2]), V([0, 0]), V([0, 0]), *rms, f([1, 2, 3]))
    t.add("ApplyRMSProp", "bad_unset", V([1, 2]), Uninitialized(F32, [2]), V([0, 0]), *rms,
          f([1, 2]))
    delta = (f(0.1), f(0.95), f(1e-8))
    t.add("ApplyAdadelta", "scalar", V(2), V(1), V(0), *delta, f(1), runs=2)
    t.add("ApplyAdadelta", "bad_shape", V([1, 2]), V([0, 0]), V([0, 0]), *delta, f([1, 2, 3]))
    t.add("ApplyAdadelta", "bad_unset", V([1, 2]), Uninitialized(F32, [2]), V([0, 0]), *delta,
          f([1, 2]))


def cases():
    t = Table()
    assigning(t)
    scattering(t)
    optimizers(t)
    return t.cases
