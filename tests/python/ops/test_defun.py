"""Functions of version 1 against TensorFlow 1.15: tests/golden/make_defun.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1._insides import function, functional_ops

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_defun import PROGRAMS, op_types, plain  # noqa: E402

RECORDED = json.loads((GOLDEN / "defun.json").read_text())

# TensorFlow makes the constant of an initial value before the variable, and one more.
OTHER_NODES = {"variable_made_inside", "resource_variable_made_inside"}


def assert_same(value, expected):
    value = plain(value)
    if isinstance(expected, str) or isinstance(expected, list) and str in map(type, expected):
        assert value == expected
    else:
        np.testing.assert_allclose(value, expected, rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_defun__gives_what_tensorflow_gave(sess, name):
    expected = RECORDED[name]
    if "error" in expected:
        with pytest.raises(Exception) as caught:
            sess.run(list(PROGRAMS[name](tf, function, functional_ops)))
        assert type(caught.value).__name__ == expected["error"]
        return
    tensors = list(PROGRAMS[name](tf, function, functional_ops))
    if name not in OTHER_NODES:
        assert op_types(tf) == expected["types"]
    sess.run(tf.global_variables_initializer())
    values = sess.run(tensors)
    assert len(values) == len(expected["values"])
    for value, wanted in zip(values, expected["values"]):
        assert_same(value, wanted)


def test_functions_go_through_files(sess):
    @function.Defun(tf.float32, noinline=True)
    def f(x):
        return x * x

    x = tf.constant(3.0, name="x")
    gradient = tf.gradients(f(x, name="y"), x)[0]
    graph_def = tf.get_default_graph().as_graph_def()
    assert f.name.startswith("f_") and f.definition.attr["_noinline"].b
    with tf.Graph().as_default(), tf.Session() as other:
        tf.import_graph_def(graph_def, name="")
        assert other.run(["y:0", gradient.name]) == [9.0, 6.0]


def test_a_function_is_built_once_for_a_graph():
    calls = []

    @function.Defun(tf.float32)
    def f(x):
        calls.append(x)
        return x + 1.0

    f(1.0), f(2.0)
    assert len(calls) == 1
    with tf.Graph().as_default(), tf.Session() as other:
        assert other.run(f(3.0)) == 4.0


def test_what_is_not_there_says_so():
    with pytest.raises(NotImplementedError, match="remote_call"):
        functional_ops.remote_call([1.0], [tf.float32], None, "/cpu:0")

    @function.Defun(tf.float32, func_name="again")
    def again(x):
        return again(x)

    with pytest.raises(ValueError, match="calls itself"):
        again(1.0)
    with pytest.raises(ValueError, match="Unknown keyword"):
        function.Defun(tf.float32, no_such=1)(lambda x: x)(1.0)


def test_branches_and_loops_in_functions_have_gradients(sess):
    @function.Defun(tf.float32, tf.int32)
    def f(x, n):
        body = lambda i, y: (i + 1, tf.cond(y > 5.0, lambda: y + x, lambda: y * x))  # noqa: E731
        return tf.while_loop(lambda i, y: i < n, body, (0, x))[1]

    x = tf.constant(2.0)
    y = f(x, 4)
    assert sess.run([y, tf.gradients(y, x)[0]]) == [12.0, 14.0]


def test_functions_of_one_name_are_the_first_one(sess):
    def double(x):
        @function.Defun(tf.float32)
        def scaled(x):
            return x * 2.0

        return scaled(x)

    x = tf.constant(3.0)
    assert sess.run([double(x), double(x)]) == [6.0, 6.0]


def test_variables_of_functions_are_in_the_scope_of_the_first_call(sess):
    @function.Defun(tf.float32)
    def shifted(x):
        return x + tf.get_variable("var", [2], initializer=tf.ones_initializer())

    x = tf.constant([1.0, 2.0])
    made = []
    for name in ("one", "other"):
        with tf.variable_scope(name):
            made.append(shifted(x))
    assert [v.name for v in tf.global_variables()] == ["one/var:0"]
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(made), [[2.0, 3.0], [2.0, 3.0]])


def test_loops_of_nothing_but_captures_give_nothing():
    v = tf.Variable(1.0, use_resource=True)

    @function.Defun(tf.int32)
    def body(i):
        v.assign_add(1.0)

    assert functional_ops.For(0, 3, 1, [], body) == []


def test_declared_functions_call_themselves(sess):
    factorial = function.Declare("Factorial", [("n", tf.int32)], [("value", tf.int32)])

    @function.Defun(tf.int32, func_name="Factorial", out_names=["value"])
    def defined(n):
        return tf.cond(n < 1, lambda: tf.constant(1), lambda: n * factorial(n - 1))

    with pytest.raises(ValueError, match="Expected number of arguments: 1, received: 2"):
        factorial(1, 2)
    n = tf.placeholder(tf.int32, [])
    value = factorial(n)
    with pytest.raises(tf.errors.NotFoundError, match="Factorial is not defined"):
        sess.run(value, {n: 5})
    defined.add_to_graph(tf.get_default_graph())
    assert [sess.run(value, {n: i}) for i in (0, 5, 10)] == [1, 120, 3628800]
    # As deep as the library lets calls lie in each other
    with pytest.raises(tf.errors.ResourceExhaustedError, match="calls lie more than"):
        sess.run(value, {n: 100000})
    assert sess.run(value, {n: 3}) == 6


def test_declared_functions_call_each_other(sess):
    is_odd = function.Declare("IsOdd", [("n", tf.int32)], [("odd", tf.bool)])

    @function.Defun(tf.int32, func_name="IsEven")
    def is_even(n):
        return tf.cond(n < 1, lambda: tf.constant(True), lambda: is_odd(n - 1))

    @function.Defun(tf.int32, func_name="IsOdd")
    def defined(n):
        return tf.cond(n < 1, lambda: tf.constant(False), lambda: is_even(n - 1))

    defined.add_to_graph(tf.get_default_graph())
    assert sess.run([is_even(10), is_even(7), is_odd(7)]) == [True, False, True]
