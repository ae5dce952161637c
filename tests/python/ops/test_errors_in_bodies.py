"""An error inside of a body names its node, what calls the body, and the lines of both."""

import re

import pytest
import rheos as tf

v1 = tf.compat.v1
HERE = r"test_errors_in_bodies\.py:(\d+)"


def log_of_negative(x):
    return tf.debugging.check_numerics(tf.math.log(x - 10.0), "no number")


LINE = log_of_negative.__code__.co_firstlineno + 1


def fails(run):
    """The lines of this file that the error names, the node's first."""
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        run()
    message = raised.value.message
    assert "no number" in message and "CheckNumerics (defined at " in message
    lines = [int(line) for line in re.findall(HERE, message)]
    assert lines[0] == LINE
    return lines, message


GRAPH_FORMS = {
    "cond": (lambda x: v1.cond(x > 0.0, lambda: log_of_negative(x), lambda: x), "then_branch"),
    "case": (lambda x: v1.case([(x < 0.0, lambda: x)], lambda: log_of_negative(x)), "branch"),
    "while": (lambda x: v1.while_loop(lambda i: i < 5.0, log_of_negative, [x]), "body"),
}


@pytest.mark.parametrize("by_functions", [False, True], ids=["version_1", "by_functions"])
@pytest.mark.parametrize("form", ["cond", "case", "while"])
def test_in_a_graph_the_branch_or_loop_is_named_with_its_line(form, by_functions):
    build, part = GRAPH_FORMS[form]
    with tf.Graph().as_default():
        if by_functions:
            v1.enable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [])
            y = build(x)
        finally:
            v1.disable_control_flow_v2()
        with v1.Session() as session:
            lines, message = fails(lambda: session.run(y, {x: 1.0}))
    assert len(lines) == 2 and lines[1] == build.__code__.co_firstlineno
    assert "in function" in message if by_functions else f"{part} of [[node" in message


def test_in_functions_every_call_on_the_way_is_named_with_its_line():
    @tf.function
    def inner(x):
        return log_of_negative(x) + log_of_negative(x - 1.0)

    @tf.function
    def outer(x):
        if x > 0.0:
            x = inner(x)
        for _ in tf.range(2):
            x += 1.0
        return x

    lines, message = fails(lambda: outer(tf.constant(1.0)))
    assert len(lines) >= 3 and "inner" in message and "outer" in message
    assert lines[1] == outer.python_function.__code__.co_firstlineno + 3


@pytest.mark.parametrize("stage", ["map", "filter", "flat_map"])
def test_in_functions_of_datasets_the_function_is_named(stage):
    functions = {
        "map": lambda i: log_of_negative(tf.cast(i, tf.float32)),
        "filter": lambda i: log_of_negative(tf.cast(i, tf.float32)) > 0.0,
        "flat_map": lambda i: tf.data.Dataset.from_tensors(log_of_negative(tf.cast(i, tf.float32))),
    }
    dataset = getattr(tf.data.Dataset.range(3), stage)(functions[stage])
    for made in (dataset, dataset.batch(2).prefetch(1)):
        lines, message = fails(lambda made=made: list(made))
        assert f"Dataset_{stage}" in message.replace("FlatMap", "flat_map")


# A queue in its body keeps a loop of version 1 as its nodes.
def test_in_a_loop_that_waits_both_loops_are_named_with_their_lines():
    with tf.Graph().as_default():
        queue = v1.FIFOQueue(100, [tf.float32], shapes=[[]])

        def body(x):
            with tf.control_dependencies([queue.enqueue(x)]):
                return log_of_negative(x)

        def loop(body):
            return v1.while_loop(lambda i: i < 5.0, body, [tf.constant(1.0)])

        nested = loop(lambda _: loop(body))
        with v1.Session() as session:
            lines, message = fails(lambda: session.run(nested))
        assert lines[1:] == [loop.__code__.co_firstlineno + 1] * 2
        assert [
            message.count(f"in the loop of [[node {name}/LoopCond ")
            for name in ("while/while", "while")
        ] == [1, 1]


def test_in_map_fn_the_loop_is_named_with_its_line():
    with tf.Graph().as_default():
        build = lambda: v1.map_fn(log_of_negative, tf.constant([1.0, 2.0]))  # noqa: E731
        with v1.Session() as session:
            mapped = build()
            lines, message = fails(lambda: session.run(mapped))
        assert "[[node map/while" in message and lines[1] == build.__code__.co_firstlineno
