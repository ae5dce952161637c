"""Graphs of version 1's control flow and what TensorFlow answers: flow/*.pb and cases.txt.

    python tests/golden/make_flow.py

With TensorFlow 2.21 and its compat.v1. Loops and conditionals come from tf.while_loop and tf.cond,
and from nodes put together by hand. tests/runtime/test_flow_golden.c runs them again.
"""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.ops import gen_control_flow_ops as raw  # noqa: E402

tf.disable_v2_behavior()
tf.disable_control_flow_v2()

FOLDER = pathlib.Path(__file__).parent / "flow"
CASES = []


def case(build):
    """A function that builds a graph and gives the runs of a session: (feeds, fetches, targets)."""
    CASES.append((build.__name__, build))
    return build


def variants(name, values):
    """A case for each of the values."""

    def decorate(build):
        for value in values:
            CASES.append((f"{name}_{value}", lambda value=value: build(value)))
        return build

    return decorate


def placeholder(dtype, shape=()):
    return tf.placeholder(dtype, shape)


# ---- Loops


@variants("count", [0, 1, 7, 1000])
def count(trips):
    n = placeholder(tf.int32)
    i, total = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
    return [({n: trips}, [i, total], []), ({n: 3}, [total], [])]


@variants("parallel", [1, 2, 32])
def parallel(number):
    n = placeholder(tf.int32)
    out = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 1.5 + tf.cast(i, tf.float32)),
                        [0, tf.constant([1.0, 2.0])], parallel_iterations=number)
    return [({n: 9}, list(out), [])]


@variants("dtype", ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64",
                    "bool", "string"])
def dtype(name):
    values = {"bool": [True, False], "string": ["a", "bc"]}.get(name, [3, 4])
    start = tf.constant(values, getattr(tf, name))

    def body(i, x, y):
        return i + 1, y, x

    last = tf.reverse(start, [0])
    return [({}, list(tf.while_loop(lambda i, x, y: i < 3, body, [0, start, last])), [])]


@case
def shapes_that_grow():
    n = placeholder(tf.int32)
    invariants = [tf.TensorShape([]), tf.TensorShape([None])]
    out = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.concat([x, [i]], 0)),
                        [0, tf.zeros([0], tf.int32)], shape_invariants=invariants)
    return [({n: k}, [out[1], tf.shape(out[1])], []) for k in (0, 1, 5)]


@case
def maximum_iterations():
    x = tf.while_loop(lambda x: x < 100, lambda x: x * 2, [1], maximum_iterations=4)
    return [({}, [x], [])]


def nest(depth, limits, value):
    if depth == len(limits):
        return value + 1
    return tf.while_loop(lambda i, v: i < limits[depth],
                         lambda i, v: (i + 1, nest(depth + 1, limits, v)), [0, value])[1]


@variants("nested", [2, 3, 4])
def nested(depth):
    limits = [placeholder(tf.int32) for _ in range(depth)]
    out = nest(0, limits, tf.constant(0))
    runs = [dict(zip(limits, values)) for values in
            ([2, 3, 1, 2], [1, 0, 4, 4], [0, 5, 5, 5], [3, 2, 2, 1])]
    return [(run, [out], []) for run in runs]


@case
def inner_loop_as_long_as_the_outer_counts():
    def body(i, total):
        inner = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j * i), [0, total])
        return i + 1, inner[1]

    return [({}, list(tf.while_loop(lambda i, t: i < 6, body, [0, 0])), [])]


@case
def two_loops_in_a_row():
    n = placeholder(tf.int32)
    a = tf.while_loop(lambda i: i < n, lambda i: i + 2, [0])
    b = tf.while_loop(lambda i: i < a * 2, lambda i: i + 3, [a])
    return [({n: 5}, [a, b], []), ({n: 0}, [b], [])]


@case
def captured_values():
    w = placeholder(tf.float32, [2, 2])
    out = tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, w))),
                        [0, tf.ones([1, 2])])
    return [({w: [[0.5, -0.25], [0.75, 1.0]]}, [out[1]], [])]


@case
def a_loop_of_no_use_in_its_cond():
    x = tf.while_loop(lambda i, x: tf.reduce_sum(x) < 50.0, lambda i, x: (i + 1, x * 1.25),
                      [0, tf.constant([1.0, 2.0, 3.0])])
    return [({}, list(x), [])]


# ---- Conditionals


@case
def cond():
    p, x = placeholder(tf.bool), placeholder(tf.float32, [None])
    y = tf.cond(p, lambda: x * 2.0, lambda: -x)
    return [({p: v, x: [1.0, 2.0]}, [y], []) for v in (True, False, True)]


@case
def cond_of_several_outputs():
    p, x = placeholder(tf.bool), placeholder(tf.int32)
    y = tf.cond(p, lambda: (x + 1, tf.constant(2.5)), lambda: (x * 10, tf.constant(0.5)))
    return [({p: v, x: 4}, list(y), []) for v in (True, False)]


@case
def cond_of_constants():
    p = placeholder(tf.bool)
    return [({p: v}, [tf.cond(p, lambda: 1, lambda: 2)], []) for v in (True, False)]


@case
def nested_conds():
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    y = tf.cond(p, lambda: tf.cond(q, lambda: 1, lambda: 2),
                lambda: tf.cond(q, lambda: 3, lambda: 4))
    return [({p: a, q: b}, [y], []) for a in (True, False) for b in (True, False)]


@case
def chosen_by_number():
    k = placeholder(tf.int32)
    y = tf.switch_case(k, [lambda: 10, lambda: 20, lambda: 30])
    return [({k: v}, [y], []) for v in (0, 1, 2, 7, -1)]


@case
def cases():
    x = placeholder(tf.int32)
    y = tf.case([(x < 0, lambda: -1), (x > 10, lambda: 1)], default=lambda: 0)
    return [({x: v}, [y], []) for v in (-5, 3, 30)]


@case
def cond_in_a_loop():
    n = placeholder(tf.int32)

    def body(i, x):
        return i + 1, tf.cond(tf.equal(i % 3, 0), lambda: x * 2, lambda: x - i)

    out = tf.while_loop(lambda i, x: i < n, body, [0, 5])
    return [({n: v}, list(out), []) for v in (0, 1, 8)]


@case
def loop_in_a_cond():
    p, n = placeholder(tf.bool), placeholder(tf.int32)
    y = tf.cond(p, lambda: tf.while_loop(lambda i: i < n, lambda i: i + 3, [0]), lambda: n * 100)
    return [({p: a, n: b}, [y], []) for a in (True, False) for b in (0, 7)]


@case
def loop_in_a_cond_in_a_loop():
    def body(i, x):
        def loop():
            return tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y + j), [0, x])[1]

        return i + 1, tf.cond(tf.equal(i % 2, 0), loop, lambda: x * 2)

    return [({}, list(tf.while_loop(lambda i, x: i < 7, body, [0, 1])), [])]


# ---- Variables


def variable(kind, value):
    return tf.Variable(value, use_resource=kind == "resource")


@variants("variable_in_a_loop", ["reference", "resource"])
def variable_in_a_loop(kind):
    v = variable(kind, 1.0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0)]):
            return tf.identity(i + 1)

    out = tf.while_loop(lambda i: i < 4, body, [0])
    return [({}, [], [tf.global_variables_initializer()]), ({}, [out], []), ({}, [v], []),
            ({}, [out], []), ({}, [v], [])]


@variants("variable_read_after_assignment", ["reference", "resource"])
def variable_read_after_assignment(kind):
    v = variable(kind, 0)

    def body(i, s):
        with tf.control_dependencies([tf.assign_add(v, i)]):
            value = v.read_value() if kind == "resource" else tf.identity(v._ref())
            return i + 1, s * 10 + value

    # With more at a time TensorFlow's trips overtake one another.
    out = tf.while_loop(lambda i, s: i < 4, body, [0, 0], parallel_iterations=1)
    return [({}, [], [tf.global_variables_initializer()]), ({}, list(out), []), ({}, [v], [])]


def initialized_then(fetches, variables):
    """Runs that make the variables, compute `fetches`, and look at the variables."""
    initial = ({}, [], [tf.global_variables_initializer()])
    return [initial, ({}, fetches, []), ({}, variables, []), ({}, fetches, []), ({}, variables, [])]


@case
def what_a_loop_captured_of_a_reference_is_read_in_its_trips():
    a, b = variable("reference", 0), variable("reference", 0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(a, 1)]):
            added = tf.assign_add(b, a)
        with tf.control_dependencies([added]):
            return i + 1

    return initialized_then([tf.while_loop(lambda i: i < 10, body, [0])], [a, b])


@case
def a_loop_goes_on_by_a_reference_that_its_body_writes():
    a, b = variable("reference", 0), variable("reference", 0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(a, 1), tf.assign_add(b, 2)]):
            return i * 1

    loop = tf.while_loop(lambda i: tf.less(b, 10), body, [5], parallel_iterations=1)
    return initialized_then([loop], [a, b])


@case
def a_reference_written_in_a_branch_in_a_loop():
    v = variable("reference", 2.0)

    def body(i):
        branch = tf.cond(tf.equal(i % 2, 0), lambda: tf.assign(v, tf.square(v)), lambda: v + 0.0)
        with tf.control_dependencies([branch]):
            return i + 1

    return initialized_then([tf.while_loop(lambda i: i < 6, body, [0])], [v])


@variants("assignment_in_a_branch", ["reference", "resource"])
def assignment_in_a_branch(kind):
    p, v = placeholder(tf.bool), variable(kind, 5)

    def yes():
        with tf.control_dependencies([tf.assign(v, v * 3)]):
            return tf.constant(1)

    y = tf.cond(p, yes, lambda: tf.constant(0))
    runs = [({}, [], [tf.global_variables_initializer()])]
    for value in (True, False, True):
        runs += [({p: value}, [y], []), ({}, [v], [])]
    return runs


@case
def references_switched_and_merged():
    p = placeholder(tf.bool)
    a, b = variable("reference", 10), variable("reference", 20)
    _, a_true = raw.ref_switch(a._variable, p)
    b_false, _ = raw.ref_switch(b._variable, p)
    merged, index = raw.ref_merge([b_false, a_true])
    added = tf.raw_ops.AssignAdd(ref=merged, value=1)
    runs = [({}, [], [tf.global_variables_initializer()])]
    for value in (True, False):
        runs += [({p: value}, [added, index], []), ({}, [a, b], [])]
    return runs


@case
def a_reference_selected():
    k = placeholder(tf.int32)
    a, b = variable("reference", 10), variable("reference", 20)
    added = tf.raw_ops.AssignAdd(ref=raw.ref_select(k, [a._variable, b._variable]), value=5)
    runs = [({}, [], [tf.global_variables_initializer()])]
    for value in (1, 0, 2):
        runs += [({k: value}, [added], []), ({}, [a, b], [])]
    return runs


# ---- Nodes put together by hand


@case
def both_sides_of_a_switch():
    p = placeholder(tf.bool)
    false, true = raw.switch(tf.constant(3.0), p)
    return [({p: v}, [out], []) for v in (True, False) for out in (false, true)]


@case
def dead_through_ops():
    p = placeholder(tf.bool)
    false, _ = raw.switch(tf.constant([3.0, 4.0]), p)
    parts = tf.split(false + 1.0, 2)
    sums = tf.add_n([parts[0], parts[1], tf.constant([1.0])])
    with tf.control_dependencies([sums]):
        after = tf.constant(7)
    return [({p: v}, [out], []) for v in (True, False) for out in (parts[1], sums, after)]


@case
def index_of_a_merge():
    p = placeholder(tf.bool)
    false, true = raw.switch(tf.constant(3), p)
    value, index = raw.merge([false * 2, true])
    return [({p: v}, [value, index], []) for v in (True, False)]


@case
def merge_of_dead_inputs():
    p = placeholder(tf.bool)
    false, _ = raw.switch(tf.constant(3), p)
    other, _ = raw.switch(tf.constant(4), p)
    value, index = raw.merge([false, other])
    return [({p: True}, [value], []), ({p: True}, [index], [])]


@case
def merge_of_one():
    value, index = raw.merge([tf.constant(3)])
    return [({}, [value, index], [])]


@case
def merge_of_dead_merges():
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    false, true = raw.switch(tf.constant(1), p)
    inner_false, inner_true = raw.switch(true, q)
    inner = raw.merge([inner_false * 10, inner_true * 100])
    value, index = raw.merge([false, inner[0]])
    return [({p: a, q: b}, [value, index], []) for a in (True, False) for b in (True, False)]


@case
def control_trigger():
    p = placeholder(tf.bool)
    false, _ = raw.switch(tf.constant(1), p)
    with tf.control_dependencies([false]):
        trigger = raw.control_trigger()
        nothing = tf.no_op()
    with tf.control_dependencies([trigger]):
        after_trigger = tf.constant(5)
    with tf.control_dependencies([nothing]):
        after_nothing = tf.constant(6)
    return [({p: v}, [out], []) for v in (True, False) for out in (after_trigger, after_nothing)]


@case
def a_feed_in_a_branch():
    p = placeholder(tf.bool)
    false, _ = raw.switch(tf.constant(3), p)
    inside = false * 2
    out = inside + 1
    return [({p: v, inside: 50}, [out], []) for v in (True, False)]


@case
def predicates_that_are_no_scalars():
    p = tf.placeholder(tf.bool)
    false, true = raw.switch(tf.constant(3), p)
    return [({p: [True]}, [true], []), ({p: True}, [true], [])]


def by_hand(frame, start, limit, step, constant_limit=True):
    entered = raw.enter(start, frame)
    bound = raw.enter(limit, frame, is_constant=constant_limit)
    merged, index = raw.merge([entered, entered])
    goes_on = raw.loop_cond(merged < bound)
    out, inside = raw.switch(merged, goes_on)
    following = raw.next_iteration(inside + raw.enter(step, frame, is_constant=True))
    merged.op._update_input(1, following)
    return tf.raw_ops.Exit(data=out), tf.raw_ops.Exit(data=index), tf.raw_ops.Exit(data=inside)


@variants("by_hand", [0, 1, 6])
def loop_by_hand(limit):
    n = placeholder(tf.int32)
    value, index, dead = by_hand("by_hand", tf.constant(0), n, tf.constant(2))
    return [({n: limit}, [value], [])]


@case
def a_dead_loop():
    p = placeholder(tf.bool)
    start_false, start = raw.switch(tf.constant(0), p)
    _, limit = raw.switch(tf.constant(5), p)
    _, step = raw.switch(tf.constant(2), p)
    value, _, _ = by_hand("dead", start, limit, step)
    merged, index = raw.merge([start_false - 1, value])
    return ([({p: v}, [merged, index], []) for v in (True, False)]
            + [({p: v}, [value], []) for v in (True, False)])


@case
def frames_that_do_not_match():
    inside = raw.enter(tf.constant(1), "inside")
    left, mixed = tf.raw_ops.Exit(data=inside) + tf.constant(1), inside + tf.constant(2)
    return [({}, [left], []), ({}, [], [mixed.op])]


@case
def an_error_in_a_trip():
    n = placeholder(tf.int32)
    out = tf.while_loop(lambda i, x: i < 6,
                        lambda i, x: (i + 1, x + tf.floordiv(6, n - i)), [0, 0])
    return [({n: 3}, [out[1]], []), ({n: 60}, [out[1]], []), ({n: 0}, [out[1]], [])]


@case
def an_assertion_in_a_body():
    n = placeholder(tf.int32)

    def body(i):
        with tf.control_dependencies([tf.Assert(i < 3, ["too far", i])]):
            return i + 1

    out = tf.while_loop(lambda i: i < n, body, [0])
    return [({n: 3}, [out], []), ({n: 5}, [out], [])]


@case
def gradient_free_power():
    x = placeholder(tf.float64)
    out = tf.while_loop(lambda i, y: i < 10, lambda i, y: (i + 1, y * x),
                        [0, tf.constant(1.0, tf.float64)])
    return [({x: 1.5}, [out[1]], []), ({x: -2.0}, [out[1]], [])]


@case
def newton():
    x = placeholder(tf.float64)
    out = tf.while_loop(lambda y: tf.abs(y * y - x) > 1e-9, lambda y: 0.5 * (y + x / y), [x])
    return [({x: v}, [out], []) for v in (2.0, 9.0, 1e4)]


@case
def collatz():
    n = placeholder(tf.int64)

    def body(steps, x):
        even = tf.equal(x % 2, 0)
        return steps + 1, tf.cond(even, lambda: x // 2, lambda: 3 * x + 1)

    out = tf.while_loop(lambda s, x: x > 1, body, [0, n])
    return [({n: v}, list(out), []) for v in (1, 6, 27)]


# ---- Writing


def value_text(array):
    array = np.asarray(array)
    if array.dtype.kind == "O" or array.dtype.kind == "S":
        name, words = "string", [x.decode() for x in array.astype("O").reshape(-1)]
    elif array.dtype.kind == "b":
        name, words = "bool", [str(int(x)) for x in array.reshape(-1)]
    elif array.dtype.kind == "f":
        name, words = tf.as_dtype(array.dtype).name, [repr(float(x)) for x in array.reshape(-1)]
    else:
        name, words = array.dtype.name, [str(int(x)) for x in array.reshape(-1)]
    name = {"float32": "float", "float64": "double", "float16": "half"}.get(name, name)
    dims = " ".join([str(array.ndim)] + [str(d) for d in array.shape])
    return " ".join([name, dims] + words)


def fetched(x):
    """The tensor that stands for a variable: its reference, or the read made with it."""
    if hasattr(x, "handle"):
        return x._graph_element
    return x._variable if hasattr(x, "_variable") else x


def write_run(out, session, run):
    feeds, fetches, targets = run
    out.write("run\n")
    for tensor, value in feeds.items():
        text = value_text(np.asarray(value, tensor.dtype.as_numpy_dtype))
        out.write(f"feed {tensor.name} {text}\n")
    tensors = [fetched(x) for x in fetches]
    for target in targets:
        out.write(f"target {target.name}\n")
    for tensor in tensors:
        out.write(f"fetch {tensor.name}\n")
    try:
        values = session.run(tensors + targets, feeds)
    except tf.errors.OpError as error:
        out.write(f"error {error.error_code}\n")
        return
    for value in values[:len(tensors)]:
        out.write(f"out {value_text(value)}\n")


def main():
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.pb"):
        old.unlink()
    with open(FOLDER / "cases.txt", "w") as out:
        for name, build in CASES:
            with tf.Graph().as_default() as graph, tf.Session(config=config) as session:
                runs = build()
                out.write(f"case {name}\n")
                for run in runs:
                    write_run(out, session, run)
                out.write("end\n")
                (FOLDER / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString())
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
