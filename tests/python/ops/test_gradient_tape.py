"""Tapes where graphs are built, not executed: as TensorFlow 1 has them."""

import numpy as np
import pytest

tf = pytest.importorskip("rheos.v1")


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_tape__differentiates_what_a_graph_holds():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        (inner,) = tape.gradient(y, [x])
    assert run([inner, tape.gradient(inner * y, x)]) == [6.0, 54.0]


def test_tape__differentiates_by_resource_variables_of_a_graph():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    np.testing.assert_array_equal(run(tape.gradient(y, v)), [2.0, 4.0])


def test_tape__of_an_array_over_a_graph():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, 2).unstack(x)
        y = array.read(0) * array.read(1) ** 2
    np.testing.assert_array_equal(run(tape.gradient(y, x)), [4.0, 4.0])
