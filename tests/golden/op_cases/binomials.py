"""Binomial numbers, by a seed and by a generator in a variable."""
from .common import *  # noqa: F403

C = Const


def add_seeded(t):
    op = "StatelessRandomBinomial"
    for dtype in (F16, F32, F64):
        t.add(op, "of_" + dtype.__name__, C([3, 2]), l([1, 2]), a(dtype, [12, 100]),
              a(dtype, 0.25), dtype="int64")
    for dtype in ("half", "float", "double", "int32"):
        t.add(op, "to_" + dtype, C([3, 2]), l([1, 2]), f([12, 100]), f([0.5, 0.75]), dtype=dtype)
    t.add(op, "few", C([6]), i([3, -4]), d(10), d(0.3))
    t.add(op, "pairs", C([2, 3, 2]), l([1, 2]), d([[1], [50], [1000]]), d([0.2, 0.7]))
    t.add(op, "likely", C([8]), l([5, 6]), f(9.0), f(0.9))
    t.add(op, "not_whole", C([4]), l([1, 2]), d(3.7), d(0.5), dtype="double")
    t.add(op, "many", C([4]), l([1, 2]), d(1e9), d(0.25))
    t.add(op, "never", C([2, 3]), l([1, 2]), d([-1, 0, 3]), d(0.5), dtype="float")
    t.add(op, "beyond", C([2, 3]), l([1, 2]), d(3), d([-1, 2, 1]), dtype="float")
    t.add(op, "nan", C([2]), l([1, 2]), d(3), d(NAN), dtype="float")
    t.add(op, "infinite", C([2]), l([1, 2]), d(INF), d(0.5), dtype="float")
    t.add(op, "scalar", C(empty(I32, (0,))), l([1, 2]), f(9.0), f(0.9))
    t.add(op, "empty", C([0]), l([1, 2]), f(9.0), f(0.9))
    t.add(op, "no_counts", C([2, 0]), l([1, 2]), empty(F32, (0,)), f(0.9))
    t.add(op, "bad_end", C([3]), l([1, 2]), f([1, 2]), f(0.9))
    t.add(op, "bad_rank", C([2]), l([1, 2]), f([[1, 2]]), f(0.9))
    t.add(op, "bad_pairs", C([3]), l([1, 2]), f([1, 2]), f([0.5, 0.5, 0.5]))
    t.add(op, "bad_seed", C([2]), l([1, 2, 3]), f([1, 2]), f(0.9))
    t.add(op, "bad_shape", C([-2]), l([1, 2]), f(2), f(0.9))


def add_drawn(t):
    """TensorFlow moves a generator on only where the variable does not share its bytes with the
    constant that it came from: so each is moved by nothing first.
    """
    op = "StatefulRandomBinomial"

    def add(tag, state, *inputs, **options):
        variable = Node("VarHandleOp", dtype="int64", shape=[len(state)], shared_name="state")
        first = [Node("AssignVariableOp", variable, C(l(state)), dtype="int64"),
                 Node("RngSkip", variable, C(l(1)), C(l(0)))]
        last = [Node("ReadVariableOp", variable, dtype="int64")]
        t.add(op, tag, variable, *inputs, first=first[:len(state) - 1], last=last, **options)

    for dtype in (F16, F32, F64):
        add("of_" + dtype.__name__, [1, 2, 3], l(1), C([3, 2]), a(dtype, [12, 100]),
            a(dtype, 0.25), dtype="int64", runs=2)
    for dtype in ("half", "float", "double", "int32"):
        add("to_" + dtype, [1, 2, 3], l(1), C([2, 2]), f([12, 100]), f([0.5, 0.75]), dtype=dtype)
    add("few", [-1, -1, -5], l(1), C([6]), d(10), d(0.3), runs=2)
    add("alone", [1, 2, 3], l(1), C(empty(I32, (0,))), d(10), d(0.3), runs=2)
    add("empty", [1, 2, 3], l(1), C([0]), d(10), d(0.3))
    add("bad_end", [1, 2, 3], l(1), C([3]), f([1, 2]), f(0.9))
    add("bad_algorithm", [1, 2, 3], l(7), C([3]), d(10), d(0.3))
    add("bad_state", [1, 2], l(1), C([3]), d(10), d(0.3))


def cases():
    t = Table()
    add_seeded(t)
    add_drawn(t)
    return t.cases
