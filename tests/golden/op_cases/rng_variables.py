"""Random ops whose generator is a variable: two runs of one session, and the variable then."""
from .common import *  # noqa: F403

C = Const


def generator(*values):
    return Handle(l(values or [1, 2, 3]))


def cases():
    t = Table()
    for op in ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal"):
        for dtype in ("float", "double", "half", "bfloat16"):
            t.add(op, dtype, generator(), l(1), C([5]), dtype=dtype, runs=2)
        t.add(op, "default_algorithm", generator(7, 8, 9), l(3), i([2, 3]), dtype="float")
        t.add(op, "carry", generator(-1, -1, -5), l(1), C([3]), dtype="float", runs=2)
        t.add(op, "scalar", generator(), l(1), C(empty(I32, (0,))), dtype="float")
        t.add(op, "empty", generator(), l(1), C([0]), dtype="float")
        t.add(op, "longer_state", generator(1, 2, 3, 4), l(1), C([3]), dtype="float")
        t.add(op, "bad_algorithm", generator(), l(7), C([3]), dtype="float")
        t.add(op, "bad_algorithm_rank", generator(), l([1]), C([3]), dtype="float")
        t.add(op, "bad_shape", generator(), l(1), C([-3]), dtype="float")
        t.add(op, "bad_state", generator(1, 2), l(1), C([3]), dtype="float")
    for dtype in ("int32", "int64", "uint32", "uint64"):
        t.add("StatefulUniformFullInt", dtype, generator(), l(1), C([5]), dtype=dtype, runs=2)
    t.add("StatefulUniformFullInt", "empty", generator(), l(1), C([0]), dtype="int32")
    t.add("StatefulUniformFullInt", "bad_algorithm", generator(), l(0), C([3]), dtype="int32")
    op = "StatefulUniformInt"
    for dtype in (I32, I64):
        t.add(op, np.dtype(dtype).name, generator(), l(1), C([5]), a(dtype, -5), a(dtype, 50),
              runs=2)
    t.add(op, "scalar", generator(), l(1), C(empty(I32, (0,))), i(0), i(9))
    t.add(op, "empty", generator(), l(1), C([0]), i(0), i(9))
    t.add(op, "matrix", generator(4, 5, 6), l(3), l([2, 3]), i(0), i(9), runs=2)
    t.add(op, "bad_range", generator(), l(1), C([5]), i(3), i(3))
    t.add(op, "bad_bound", generator(), l(1), C([5]), i([3]), i(4))
    for delta in (0, 1, 1000):
        t.add("RngReadAndSkip", "by_%d" % delta, generator(), i(1), a(U64, delta), runs=2)
        t.add("RngSkip", "by_%d" % delta, generator(), l(1), l(delta), runs=2)
    t.add("RngReadAndSkip", "carry", generator(-1, 5, 6), i(3), a(U64, 3))
    t.add("RngSkip", "back", generator(1000, 5, 6), l(1), l(-3))
    t.add("RngSkip", "longer_state", generator(1, 2, 3, 4), l(1), l(3))
    t.add("RngReadAndSkip", "bad_algorithm", generator(), i(2), a(U64, 3))
    t.add("RngSkip", "bad_algorithm", generator(), l(9), l(3))
    t.add("RngReadAndSkip", "bad_delta", generator(), i(1), a(U64, [3]))
    t.add("RngSkip", "bad_state", generator(1, 2), l(1), l(3))
    return t.cases
