"""Version 1's control flow put together by hand: flow_by_hand/*.pb and cases.txt.

    python tests/golden/make_flow_by_hand.py

With TensorFlow 1.15.5. What TensorFlow's own loops and conditionals never make: merges of many
inputs, of late ones and of none, frames that are crossed, loops of other forms, cycles that are
no loops.
tests/runtime/test_flow_golden.c runs them again.
"""

import pathlib

import make_flow
import tensorflow.compat.v1 as tf
from make_flow import placeholder, write_run
from tensorflow.python.ops import gen_control_flow_ops as raw

CASES = {}


def case(build):
    """A function that builds a graph and gives the runs of a session: (feeds, fetches, targets)."""
    CASES[build.__name__] = build
    return build


def only(value, number, count):
    """`count` tensors, of which the one of the number is not dead."""
    return [raw.switch(value + i, tf.equal(number, i))[1] for i in range(count)]


def late(value, steps=30):
    """The value behind a chain of operations that nothing takes out."""
    for _ in range(steps):
        value = tf.abs(value)
    return value


# ---- Merges


@case
def many_inputs():
    n = placeholder(tf.int32)
    value, index = raw.merge(only(tf.constant(100), n, 9))
    return [({n: i}, [value, index], []) for i in (0, 4, 8)] + [({n: 9}, [value], [])]


@case
def the_live_input_comes_last():
    p = placeholder(tf.bool)
    false, true = raw.switch(tf.constant(3), p)
    value, index = raw.merge([false, late(true)])
    other, other_index = raw.merge([late(false), true])
    return [({p: v}, [value, index, other, other_index], []) for v in (True, False)]


@case
def merge_of_merges_of_many():
    n = placeholder(tf.int32)
    parts = only(tf.constant(10), n, 6)
    left, right = raw.merge(parts[:3]), raw.merge(parts[3:])
    value, index = raw.merge([left[0], late(right[0])])
    return ([({n: i}, [value, index], []) for i in range(6)] + [({n: 7}, [value], [])]
            + [({n: 1}, [right[1]], []), ({n: 4}, [right[1], value], [])])


@case
def merge_behind_control_inputs():
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    false, true = raw.switch(tf.constant(3), p)
    dead, alive = raw.switch(tf.constant(1), q)
    with tf.control_dependencies([late(alive)]):
        value, index = raw.merge([false, true])
    return [({p: a, q: b}, [value, index], []) for a in (True, False) for b in (True, False)]


@case
def merge_behind_two_control_inputs():
    p, q, r = (placeholder(tf.bool) for _ in range(3))
    false, true = raw.switch(tf.constant(3), p)
    one, other = raw.switch(tf.constant(1), q)[1], raw.switch(tf.constant(1), r)[1]
    with tf.control_dependencies([one, other]):
        value, index = raw.merge([false, true])
    return [({p: True, q: a, r: b}, [value, index], []) for a in (True, False)
            for b in (True, False)]


@case
def index_alone():
    n = placeholder(tf.int32)
    index = raw.merge(only(tf.constant(5), n, 4))[1]
    return [({n: i}, [index * 2], []) for i in (0, 3)] + [({n: -1}, [index], [])]


@case
def merged_strings():
    p = placeholder(tf.bool)
    false, true = raw.switch(tf.constant(["a", "bc"]), p)
    value, index = raw.merge([tf.strings.join([false, false]), true])
    return [({p: v}, [value, index], []) for v in (True, False)]


@case
def merged_shapes():
    p = placeholder(tf.bool)
    false, true = raw.switch(tf.constant([[1, 2], [3, 4]]), p)
    value, _ = raw.merge([tf.reshape(false, [-1]), true])
    return [({p: v}, [value, tf.shape(value), tf.reduce_sum(value)], []) for v in (True, False)]


# ---- Switches


@case
def a_dead_predicate():
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    _, predicate = raw.switch(q, p)
    false, true = raw.switch(tf.constant(3), predicate)
    value, index = raw.merge([false, true, raw.switch(tf.constant(9), p)[0]])
    return [({p: a, q: b}, [value, index], []) for a in (True, False) for b in (True, False)]


@case
def dead_data():
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    _, data = raw.switch(tf.constant(4), p)
    false, true = raw.switch(data, q)
    return [({p: a, q: b}, [out], []) for a in (True, False) for b in (True, False)
            for out in (false, true)]


@case
def conditionals_that_cross():
    """The sides of one predicate meet those of another."""
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    p_false, p_true = raw.switch(tf.constant(1), p)
    q_false, q_true = raw.switch(tf.constant(10), q)
    one, one_index = raw.merge([p_false + 2, q_true + 3])
    other, _ = raw.merge([p_true, q_false])
    return [({p: a, q: a}, [one, one_index, other], []) for a in (True, False)]


@case
def a_side_that_needs_the_other_predicate():
    p, q = placeholder(tf.bool), placeholder(tf.bool)
    p_false, p_true = raw.switch(tf.constant(1), p)
    q_false, q_true = raw.switch(tf.constant(10), q)
    both = p_true + q_true
    value, index = raw.merge([p_false, both])
    return [({p: a, q: b}, [value, index], []) for a, b in ((True, True), (False, True),
                                                            (False, False))] + [
        ({p: True, q: False}, [value], [])]


@case
def one_switch_two_merges():
    p = placeholder(tf.bool)
    false, true = raw.switch(tf.constant(6), p)
    first, _ = raw.merge([false * 2, true * 3])
    second, index = raw.merge([true - 1, first])  # with a live input in any case, one or two
    third, third_index = raw.merge([false, true])
    del second, index
    return [({p: v}, [first, third, third_index], []) for v in (True, False)]


@case
def a_ladder():
    """Each rung goes on from the side that the one before took."""
    n = placeholder(tf.int32)
    value, outs = tf.constant(1), []
    for i in range(12):
        stays, value = raw.switch(value, n > i)
        outs.append(stays * (i + 1))
        value = value + i
    merged, index = raw.merge(outs + [value])
    return [({n: i}, [merged, index], []) for i in (0, 1, 5, 11, 12, 99)]


# ---- Loops


def loop(frame, start, body, goes_on, others=(), ways_back=1):
    """Exit, Merge and its index of a loop of one variable. `others`, numbers or tensors, are its
    constants, which its two functions take behind the variable."""
    entered = raw.enter(start, frame)
    inside_of = [raw.enter(tf.convert_to_tensor(x), frame, is_constant=True) for x in others]
    merged, index = raw.merge([entered] + [entered] * ways_back)
    out, inside = raw.switch(merged, raw.loop_cond(goes_on(merged, *inside_of)))
    nexts = [raw.next_iteration(x) for x in body(inside, *inside_of)]
    for i, following in enumerate(nexts):
        merged.op._update_input(1 + i, following)
    return tf.raw_ops.Exit(data=out), merged, index


@case
def two_ways_back():
    """Odd numbers go back by one way, even ones by the other."""
    n = placeholder(tf.int32)

    def body(x, limit, one, two, three):
        even, odd = raw.switch(x, tf.equal(x % two, one))
        return [odd * three + one, even + three]

    out, _, _ = loop("ways", tf.constant(1), body, lambda x, limit, *_: x < limit,
                     [n, 1, 2, 3], 2)
    return [({n: v}, [out], []) for v in (0, 10, 200)]


@case
def two_ways_that_meet_in_a_loop():
    n = placeholder(tf.int32)

    def body(x, limit, one, two, three):
        even, odd = raw.switch(x, tf.equal(x % two, one))
        return [raw.merge([odd * three + one, even + three])[0]]

    out, _, _ = loop("ways", tf.constant(1), body, lambda x, limit, *_: x < limit, [n, 1, 2, 3])
    return [({n: v}, [out], []) for v in (0, 10, 200)]


@case
def a_loop_within_a_side():
    p, n = placeholder(tf.bool), placeholder(tf.int32)
    false, true = raw.switch(tf.constant(1), p)
    out, _, _ = loop("side", true, lambda x, limit, two: [x * two], lambda x, limit, _: x < limit,
                     [n, 2])
    value, index = raw.merge([false, out])
    return [({p: a, n: b}, [value, index], []) for a in (True, False) for b in (0, 100)]


@case
def a_constant_that_comes_late():
    n = placeholder(tf.int32)
    out, _, _ = loop("late", tf.constant(1), lambda x, limit, step: [x + step],
                     lambda x, limit, step: x < limit, [late(n), late(n // 4, 60)])
    return [({n: v}, [out], []) for v in (4, 40)]


@case
def loops_in_each_other():
    n = placeholder(tf.int32)

    def inner(x, limit, one):
        out, _, _ = loop("inner", x - x, lambda y, top, step: [y + step],
                         lambda y, top, step: y < top, [x, one])
        return [out + x]

    out, _, _ = loop("outer", tf.constant(1), inner, lambda x, limit, one: x < limit, [n, 1])
    return [({n: v}, [out], []) for v in (0, 5, 100)]


@case
def two_loops_of_one_frame_name():
    n = placeholder(tf.int32)
    first, _, _ = loop("same", tf.constant(0), lambda x, limit, step: [x + step],
                       lambda x, limit, step: x < limit, [n, 3])
    second, _, _ = loop("same", first, lambda x, limit, step: [x + step],
                        lambda x, limit, step: x < limit, [n * 2, 3])
    return [({n: v}, [first, second], []) for v in (0, 7)]


@case
def two_exits_one_of_which_is_dead():
    n = placeholder(tf.int32)
    start = raw.enter(tf.constant(0), "exits")
    limit = raw.enter(n, "exits", is_constant=True)
    merged, _ = raw.merge([start, start])
    out, inside = raw.switch(merged, raw.loop_cond(merged < limit))
    small, large = raw.switch(inside, tf.equal(inside, inside))
    merged.op._update_input(1, raw.next_iteration(small + large))  # of which one is dead always
    return [({n: v}, [tf.raw_ops.Exit(data=out)], []) for v in (0, 3)]


@case
def a_loop_that_ends_as_nothing_comes_back():
    n = placeholder(tf.int32)

    def body(x, limit, one, four):
        _, goes_on = raw.switch(x + one, x < four)
        return [goes_on]

    out, _, _ = loop("ends", tf.constant(0), body, lambda x, limit, *_: x < limit, [n, 1, 4])
    return [({n: v}, [out], []) for v in (3, 9)]


@case
def enter_without_exit():
    inside = raw.enter(tf.constant(3), "alone")
    twice = inside * inside
    return [({}, [tf.raw_ops.Exit(data=twice)], []), ({}, [], [twice.op])]


@case
def frames_that_cross():
    """A value of one frame meets one of another."""
    left, right = raw.enter(tf.constant(1), "left"), raw.enter(tf.constant(2), "right")
    both = left + right
    return [({}, [tf.raw_ops.Exit(data=both)], []), ({}, [tf.raw_ops.Exit(data=left)], [])]


@case
def a_frame_in_a_frame_left_once():
    inner = raw.enter(raw.enter(tf.constant(1), "outer"), "inner")
    once = tf.raw_ops.Exit(data=inner)
    twice = tf.raw_ops.Exit(data=once)
    return [({}, [twice], []), ({}, [], [(once + tf.constant(1)).op])]


@case
def next_iteration_outside_of_all_frames():
    return [({}, [raw.next_iteration(tf.constant(3)) + 1], [])]


@case
def loop_cond_outside_of_all_frames():
    p = placeholder(tf.bool)
    condition = raw.loop_cond(p)
    return [({p: v}, [condition, raw.switch(tf.constant(3), condition)[1]], [])
            for v in (True,)]


@case
def a_cycle_without_next_iteration():
    start = raw.enter(tf.constant(0), "cycle")
    merged, _ = raw.merge([start, start])
    out, inside = raw.switch(merged, raw.loop_cond(merged < raw.enter(tf.constant(3), "cycle")))
    merged.op._update_input(1, inside + inside)
    return [({}, [tf.raw_ops.Exit(data=out)], [])]


@case
def a_cycle_of_operations():
    first = tf.constant(1) + 2
    second = first * 3
    first.op._update_input(1, second)
    return [({}, [second], [])]


@case
def a_predicate_in_a_loop_that_is_no_scalar():
    n = tf.placeholder(tf.int32)
    out, _, _ = loop("vector", tf.constant(0), lambda x, limit, one: [x + one],
                     lambda x, limit, one: x < limit, [n, 1])
    return [({n: 4}, [out], []), ({n: [4]}, [out], []), ({n: 2}, [out], [])]


@case
def a_fetch_within_a_loop():
    out, merged, _ = loop("fetched", tf.constant(0), lambda x, top, one: [x + one],
                          lambda x, top, one: x < top, [3, 1])
    return [({}, [out], []), ({}, [merged], []), ({}, [out], [])]


@case
def a_start_that_is_fed():
    n = placeholder(tf.int32)
    out, _, _ = loop("fed", n, lambda x, two, top: [x + two], lambda x, two, top: x < top, [2, 9])
    return [({n: v}, [out], []) for v in (0, 8, 9)]


def main():
    make_flow.tf.disable_v2_behavior()
    folder = pathlib.Path(__file__).parent / "flow_by_hand"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.pb"):
        old.unlink()
    config = tf.ConfigProto(operation_timeout_in_ms=20000)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    with open(str(folder / "cases.txt"), "w") as out:
        for name, build in sorted(CASES.items()):
            with tf.Graph().as_default() as graph, tf.Session(config=config) as session:
                runs = build()
                out.write("case %s\n" % name)
                for run in runs:
                    write_run(out, session, run)
                out.write("end\n")
                (folder / (name + ".pb")).write_bytes(graph.as_graph_def().SerializeToString())
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
