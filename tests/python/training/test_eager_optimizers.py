"""Optimizers of TensorFlow 1 where operations run at once: they step as in graphs."""

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import eager
from rheos.training.direct_steps import is_direct


@pytest.fixture
def at_once():
    """Has operations run at once for one test."""
    eager.enable_eager_execution()
    yield
    eager.disable_eager_execution()


MAKERS = {
    "gradient descent": lambda step: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda step: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda step: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda step: tf.train.AdagradOptimizer(0.1),
    "adam": lambda step: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda step: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered rmsprop": lambda step: tf.train.RMSPropOptimizer(0.1, centered=True),
    "adadelta": lambda step: tf.train.AdadeltaOptimizer(1.0),
    "ftrl": lambda step: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "shrinking ftrl": lambda step: tf.train.FtrlOptimizer(
        0.1, l2_shrinkage_regularization_strength=0.1
    ),
    "proximal gradient descent": lambda step: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.01
    ),
    "proximal adagrad": lambda step: tf.train.ProximalAdagradOptimizer(
        0.1, l2_regularization_strength=0.01
    ),
    "adagrad da": lambda step: tf.train.AdagradDAOptimizer(
        0.1, step, l1_regularization_strength=0.01
    ),
}
START = np.array([[1.0, -2.0], [3.0, 0.5], [-1.0, 4.0]], np.float32)
ROWS = [0, 2, 0]


def loss_of(variable, by_rows):
    if by_rows:
        return tf.reduce_sum(tf.gather(variable, ROWS) ** 2)
    return tf.reduce_sum(variable**2 * [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def steps_in_a_graph(make, by_rows):
    with tf.Graph().as_default():
        variable = tf.Variable(START, use_resource=True)
        step = tf.Variable(0, trainable=False, dtype=tf.int64, use_resource=True)
        train = make(step).minimize(loss_of(variable, by_rows), global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(4):
                session.run(train)
            return session.run([variable, step])


@pytest.fixture
def in_graphs():
    """(name, by_rows): the variable and the step's number after four steps of a graph."""
    assert not eager.executing_eagerly()
    return {
        (name, by_rows): steps_in_a_graph(make, by_rows)
        for name, make in MAKERS.items()
        for by_rows in (False, True)
    }


def test_a_step_is_that_of_a_graph(in_graphs, at_once):
    for (name, by_rows), (expected, count) in in_graphs.items():
        variable, step = tf.Variable(START), tf.Variable(0, dtype=tf.int64)
        assert is_direct([variable])
        optimizer = MAKERS[name](step)
        for _ in range(4):
            optimizer.minimize(
                lambda v=variable, r=by_rows: loss_of(v, r), global_step=step, var_list=[variable]
            )
        np.testing.assert_allclose(
            variable.numpy(), expected, rtol=2e-6, err_msg=f"{name}, by rows: {by_rows}"
        )
        assert step.numpy() == count == 4


def test_a_loss_is_a_function(at_once):
    variable = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(RuntimeError, match="should be a function when eager"):
        optimizer.minimize(variable * 2)
    with pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(lambda: tf.constant(1.0))
    assert optimizer.minimize(lambda: variable * variable) is None
    assert variable.numpy() == np.float32(0.8)


def test_slots_are_found_by_variable(at_once):
    first, second = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="v")
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: first * first + 3 * second)
    assert optimizer.get_slot_names() == ["m", "v"]
    means = [float(optimizer.get_slot(v, "m").numpy()) for v in (first, second)]
    np.testing.assert_allclose(means, [0.2, 0.3], rtol=1e-6)
    assert optimizer.get_slot(first, "other") is None
    assert len(optimizer.variables()) == 6


def test_an_optimizer_of_a_program(at_once):
    class Signs(tf.train.Optimizer):
        def __init__(self):
            super().__init__(False, "Signs")

        def _create_slots(self, var_list):
            for variable in var_list:
                self._zeros_slot(variable, "count", self._name)

        def _resource_apply_dense(self, grad, handle):
            self.get_slot(handle, "count").assign_add(tf.ones_like(grad))
            return handle.assign_sub(tf.sign(grad))

    variable = tf.Variable([3.0, -3.0])
    optimizer = Signs()
    for _ in range(2):
        optimizer.minimize(lambda: tf.reduce_sum(variable**2))
    assert variable.numpy().tolist() == [1, -1]
    assert optimizer.get_slot(variable, "count").numpy().tolist() == [2, 2]


def test_a_saver_by_names(at_once, tmp_path):
    variables = [tf.Variable([1.0, 2.0], name="a"), tf.Variable(3, name="b")]
    saver = tf.train.Saver(variables)
    path = saver.save(None, tmp_path / "model", global_step=7)
    assert path == f"{tmp_path}/model-7"
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    variables[0].assign([0.0, 0.0])
    saver.restore(None, path)
    assert variables[0].numpy().tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="`var_list` must specify"):
        tf.train.Saver()


def test_gradients_of_functions(at_once):
    tfe = tf.contrib.eager

    def f(x, y):
        return x * x * y

    assert [float(g) for g in tfe.gradients_function(f)(2.0, 3.0)] == [12, 4]
    assert [float(g) for g in tfe.gradients_function(f, params=["y"])(2.0, 3.0)] == [4]
    assert [float(g) for g in tfe.gradients_function(f)(2.0, 3.0, dy=2.0)] == [24, 8]
    value, gradients = tfe.value_and_gradients_function(f, params=[0])(2.0, 3.0)
    assert (float(value), [float(g) for g in gradients]) == (12, [12])
    with pytest.raises(ValueError, match="returns None; did you forget"):
        tfe.gradients_function(lambda x: None)(1.0)
    variable = tfe.Variable(2.0)
    ((gradient, found),) = tfe.implicit_gradients(lambda x: variable * x)(3.0)
    assert found is variable and float(gradient) == 3
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        tfe.implicit_value_and_gradients(lambda x: x)(1.0)


def test_networks_metrics_and_iterators_of_contrib(at_once):
    tfe = tf.contrib.eager

    class Net(tfe.Network):
        def __init__(self):
            super().__init__(name="net")
            self.first = self.track_layer(tf.layers.Dense(2))
            self.second = self.track_layer(tf.layers.Dense(1))

        def call(self, x):
            return self.second(self.first(x))

    net = Net()
    assert net(tf.ones([3, 4])).shape == (3, 1)
    assert len(net.variables) == 4 and net.get_layer(index=1) is net.second
    mean = tfe.metrics.Mean("loss")
    mean(3.0)
    mean([1.0, 2.0], weights=[1.0, 0.0])
    assert float(mean.result()) == 2
    mean.init_variables()
    assert [float(v) for v in mean.variables] == [0, 0]
    accuracy = tfe.metrics.SparseAccuracy()
    accuracy([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    assert float(accuracy.result()) == 0.5
    assert [int(x) for x in tfe.Iterator(tf.data.Dataset.range(3))] == [0, 1, 2]
