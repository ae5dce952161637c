"""Insides and eager forms of version 1 that tests and programs reach for."""

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1._insides import context, gradient_checker_v2, parallel_for, resource_variable_ops


def test_resource_variables_are_made_where_operations_run_at_once():
    with context.eager_mode():
        variable = resource_variable_ops.ResourceVariable([1.0, 2.0], name="v")
        variable.assign_add([1.0, 1.0])
        assert variable.numpy().tolist() == [2.0, 3.0]
        assert resource_variable_ops.is_resource_variable(variable)
    with tf.Graph().as_default():
        assert resource_variable_ops.ResourceVariable(0).op.type == "VarHandleOp"


def test_rates_that_decay_are_functions_where_the_step_changes_at_once():
    with context.eager_mode():
        step = tf.Variable(0)
        rate = tf.train.exponential_decay(0.1, step, 3, 0.96, staircase=True)
        natural = tf.train.natural_exp_decay(1.0, step, 1, 0.5)
        piecewise = tf.train.piecewise_constant(step, [2], [1.0, 0.5])
        assert float(rate()) == pytest.approx(0.1)
        step.assign(100)
        assert float(rate()) == pytest.approx(0.1 * 0.96**33)
        assert float(natural()) == pytest.approx(np.exp(-50.0))
        assert float(piecewise()) == 0.5
        with pytest.raises(ValueError, match="requires global_step"):
            tf.train.cosine_decay(0.1, None, 3)
        weights = tf.Variable([1.0])
        step.assign(0)
        optimizer = tf.train.GradientDescentOptimizer(tf.train.inverse_time_decay(1.0, step, 1, 1))
        optimizer.apply_gradients([(tf.constant([1.0]), weights)], global_step=step)
        optimizer.apply_gradients([(tf.constant([1.0]), weights)])
        assert weights.numpy().tolist() == [-0.5]


def test_jacobians_in_graphs(sess):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    any_rows = tf.placeholder(tf.float32, [None, 2])
    for source, feeds in ((x, {}), (any_rows, {any_rows: [[1.0, 2.0], [3.0, 4.0]]})):
        y = source * source
        rows = parallel_for.batch_jacobian(y, source)
        assert sess.run(rows, feeds).tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]
        whole = sess.run(parallel_for.jacobian(y, [source, y]), feeds)
        assert whole[0].shape == (2, 2, 2, 2) and whole[0][1, 0, 1, 0] == 6
        assert whole[1].sum() == 4
    assert parallel_for.jacobian(x, [tf.constant(1.0)]) == [None]
    with pytest.raises(ValueError, match="to match"):
        parallel_for.batch_jacobian(tf.ones([3, 1]), x)


def test_what_a_function_makes_of_each_number(sess):
    x = tf.constant([1.0, 2.0, 3.0])
    looped = parallel_for.for_loop(lambda i: (x[i], None), (tf.float32, tf.float32), 3)
    assert sess.run(looped[0]).tolist() == [1, 2, 3] and looped[1] is None
    assert looped[0].shape == (3,)
    assert sess.run(parallel_for.pfor(lambda i: x[i] * 2, 3)).tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="Number of expected outputs"):
        parallel_for.for_loop(lambda i: (x[i], x[i]), [tf.float32], 3)


@pytest.mark.parametrize("eagerly", (False, True))
def test_gradients_of_functions_beside_differences(eagerly):
    def check():
        a, b = tf.constant([[2.0, 3.0]]), tf.constant(1 + 2j, tf.complex128)
        pairs = gradient_checker_v2.compute_gradient(lambda t: tf.reduce_sum(t * t, 1), [a])
        assert pairs[0][0].tolist() == [[4.0], [6.0]]
        assert gradient_checker_v2.max_error(*pairs) < 1e-2
        pairs = gradient_checker_v2.compute_gradient(tf.conj, [b])
        assert pairs[0][0].tolist() == [[1, 0], [0, -1]]
        assert gradient_checker_v2.max_error(*pairs) < 1e-6
        assert np.isnan(gradient_checker_v2.max_error([np.ones(1)], [np.array([np.nan])]))

    if eagerly:
        with context.eager_mode():
            check()
    else:
        with tf.Graph().as_default(), tf.Session().as_default():
            check()


def test_ragged_tensors_of_graphs_are_compared(sess):
    class Test(tf.test.TestCase):
        def runTest(self):
            ragged = tf.ragged.constant([[1, 2], [3]])
            self.assertAllEqual(ragged, [[1, 2], [3]])
            self.assertAllEqual(tf.concat([ragged, ragged], 1), [[1, 2, 1, 2], [3, 3]])
            with self.assertRaises(AssertionError):
                self.assertAllEqual(ragged, [[1, 2], [4]])
            with context.eager_mode():
                nested = tf.ragged.constant([[["a"], []], [["b", "c"]]])
                assert isinstance(self.evaluate(nested), tf.compat.v1.ragged.RaggedTensorValue)
                self.assertAllEqual(nested, [[[b"a"], []], [[b"b", b"c"]]])

    Test().runTest()


def test_evaluate_calls_what_gives_tensors():
    class Test(tf.test.TestCase):
        def runTest(self):
            with context.eager_mode():
                assert self.evaluate(lambda: tf.constant(3)) == 3

    Test().runTest()
