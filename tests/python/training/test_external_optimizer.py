"""Optimizers outside of the graph: what they are given, and what they leave in the variables."""

import sys
import types

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1.contrib import opt


class Descent(opt.ExternalOptimizerInterface):
    """Steps against the gradient, within the bounds; keeps what it was given."""

    def _minimize(self, initial_val, loss_grad_func, packed_bounds, step_callback, **others):
        self.initial, self.bounds, self.others = initial_val, packed_bounds, others
        x = initial_val.astype(np.float64)
        lower, upper = np.transpose(packed_bounds) if packed_bounds else (-np.inf, np.inf)
        for _ in range(others["optimizer_kwargs"]["steps"]):
            self.loss, gradient = loss_grad_func(x)
            x = np.clip(x - 0.25 * gradient, lower, upper)
            step_callback(x)
        return x


def test_variables_are_one_vector_and_get_the_result(sess):
    a = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    b = tf.Variable(5.0, dtype=tf.float64)
    untouched = tf.Variable([7.0])
    goal = tf.placeholder(tf.float32, [])
    loss = tf.reduce_sum(tf.square(a - goal))
    sess.run(tf.global_variables_initializer())
    steps, losses = [], []
    optimizer = Descent(loss, var_list=[a, untouched], steps=30)
    optimizer.minimize(
        sess,
        feed_dict={goal: 0.5},
        fetches=[loss, goal],
        step_callback=steps.append,
        loss_callback=lambda *values: losses.append(values),
    )
    assert optimizer.initial.tolist() == [1, 2, 3, 4, 7] and optimizer.bounds is None
    assert len(steps) == len(losses) == 30 and losses[0] == (21.0, 0.5)
    np.testing.assert_allclose(steps[0], [0.75, 1.25, 1.75, 2.25, 7])
    np.testing.assert_allclose(sess.run(a), np.full([2, 2], 0.5), atol=1e-6)
    assert sess.run([b, untouched])[1].tolist() == [7.0]


def test_bounds_and_constraints_are_handed_over(sess):
    a, b = tf.Variable([4.0, -4.0]), tf.Variable([3.0])
    loss = tf.reduce_sum(tf.square(a)) + tf.reduce_sum(tf.square(b))
    sess.run(tf.global_variables_initializer())
    optimizer = Descent(
        loss,
        equalities=[a[0] - 1.0, b[0]],
        inequalities=[a[0] * a[1]],
        var_to_bounds={a: ([1, -np.inf], [9, -2])},
        steps=40,
    )
    with sess.as_default():
        optimizer.minimize()
    assert optimizer.bounds == [(1, 9), (-np.inf, -2), (-np.inf, np.inf)]
    np.testing.assert_allclose(np.concatenate(sess.run([a, b])), [1, -2, 0], atol=1e-6)
    x = np.array([2.0, 3.0, 5.0])
    others = optimizer.others
    assert [float(each(x)[0]) for each in others["equality_funcs"]] == [1.0, 5.0]
    assert [each(x)[0].tolist() for each in others["equality_grad_funcs"]] == [
        [1, 0, 0],
        [0, 0, 1],
    ]
    assert [float(each(x)[0]) for each in others["inequality_funcs"]] == [6.0]
    assert others["inequality_grad_funcs"][0](x)[0].tolist() == [3, 2, 0]
    with pytest.raises(NotImplementedError, match="_minimize"):
        opt.ExternalOptimizerInterface(loss).minimize(sess)


@pytest.fixture
def calls(monkeypatch):
    """Calls of scipy.optimize.minimize, of which a stand-in takes one step."""
    calls = []

    class Result(dict):
        message, fun, nfev = "done", 0.0, 1

    def minimize(function, x, **options):
        calls.append(options)
        loss, gradient = function(x)
        assert gradient.dtype == np.float64
        return Result(x=x - 0.5 * gradient)

    scipy = types.ModuleType("scipy")
    scipy.optimize = types.ModuleType("scipy.optimize")
    scipy.optimize.minimize = minimize
    monkeypatch.setitem(sys.modules, "scipy", scipy)
    monkeypatch.setitem(sys.modules, "scipy.optimize", scipy.optimize)
    return calls


def test_scipy_gets_its_arguments(sess, calls):
    v = tf.Variable([7.0, 8.0])
    loss = tf.reduce_sum(tf.square(v))
    sess.run(tf.global_variables_initializer())
    opt.ScipyOptimizerInterface(loss, options={"maxiter": 3}).minimize(sess)
    assert sess.run(v).tolist() == [0.0, 0.0]
    assert calls[0]["method"] == "L-BFGS-B" and calls[0]["jac"] is True
    assert calls[0]["options"] == {"maxiter": 3} and calls[0]["bounds"] is None
    optimizer = opt.ScipyOptimizerInterface(
        loss, equalities=[v[0]], inequalities=[v[1]], method="SLSQP"
    )
    optimizer.minimize(sess)
    assert calls[1]["method"] == "SLSQP"
    assert [c["type"] for c in calls[1]["constraints"]] == ["eq", "ineq"]
    assert calls[1]["constraints"][1]["jac"](np.ones(2))[0].tolist() == [0, 1]
    for name, message in (("bounds", "var_to_bounds"), ("jac", "'jac' is set automatically")):
        with pytest.raises(ValueError, match=message):
            opt.ScipyOptimizerInterface(loss, **{name: None}).minimize(sess)
