"""Optimizers against what TensorFlow 1.15 built and computed: tests/golden/make_optimizers.py."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf
from rheos import _core

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_optimizers import OPTIMIZERS, run  # noqa: E402

RECORDED = json.loads((GOLDEN / "optimizers.json").read_text())


def run_again(name):
    return run(tf, name.removeprefix("resource_"), name.startswith("resource_"))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_optimizer__builds_the_same_nodes(name):
    made = {node[0]: node[1:] for node in run_again(name)["nodes"]}
    assert made == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}


def through_hooks(optimizer_class):
    """A subclass that defines a hook, so that every part of the step is called from Python."""

    class Hooked(optimizer_class):
        def _prepare(self):
            super()._prepare()

    return Hooked


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_optimizer__builds_the_same_nodes_by_its_hooks(name, monkeypatch):
    for kind in dir(tf.train):
        if kind.endswith("Optimizer") and kind != "Optimizer":
            monkeypatch.setattr(tf.train, kind, through_hooks(getattr(tf.train, kind)))
    made = {node[0]: node[1:] for node in run_again(name)["nodes"]}
    assert made == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}


def test_records__hold_every_optimizer_with_both_kinds_of_variables():
    assert set(RECORDED) == {p + name for name in OPTIMIZERS for p in ("", "resource_")}


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_optimizer__takes_the_same_five_steps(name):
    values = run_again(name)["values"]
    assert sorted(values) == sorted(RECORDED[name]["values"])
    for variable, recorded in RECORDED[name]["values"].items():
        np.testing.assert_allclose(
            values[variable], recorded, rtol=1e-5, atol=1e-6, err_msg=variable
        )


class Halving(tf.train.Optimizer):
    """Moves by half the gradient, and counts the updates of each variable in a slot."""

    def __init__(self):
        super().__init__(use_locking=False, name="Halving")

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "count", self._name)

    def _prepare(self):
        self._half = tf.constant(0.5, name="half")

    def _step(self, var, change):
        count = self.get_slot(var, "count")
        return tf.group(change, count.assign_add(tf.ones_like(count)))

    def _apply_dense(self, grad, var):
        return self._step(var, var.assign_sub(grad * self._half))

    def _apply_sparse(self, grad, var):
        rows = tf.IndexedSlices(grad.values * self._half, grad.indices)
        return self._step(var, var.scatter_sub(rows))

    def _resource_apply_dense(self, grad, handle):
        return self._apply_dense(grad, handle)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_sparse(tf.IndexedSlices(grad, indices), handle)


@pytest.mark.parametrize("use_resource", [False, True])
def test_own_optimizer__gets_dense_gradients_and_unique_rows(use_resource, sess):
    with tf.variable_scope("", use_resource=use_resource):
        table = tf.get_variable("table", initializer=[[1.0], [2.0], [3.0]])
        bias = tf.get_variable("bias", initializer=[1.0])
        step = tf.get_variable("step", initializer=0, trainable=False)
    loss = tf.reduce_sum(tf.gather(table, [2, 0, 2])) + tf.reduce_sum(bias)
    optimizer = Halving()
    train = optimizer.minimize(loss, global_step=step)
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    sess.run(train)
    assert sess.run(table).tolist() == [[0.0], [2.0], [1.0]]
    assert sess.run(bias).tolist() == [0.0]
    assert sess.run(step) == 2
    assert sess.run(optimizer.get_slot(bias, "count")).tolist() == [2.0]
    assert optimizer.get_slot_names() == ["count"]
    assert [v.op.name for v in optimizer.variables()] == ["bias/Halving", "table/Halving"]


def test_ftrl__refuses_negative_strengths():
    with pytest.raises(ValueError, match="l1_regularization_strength"):
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0)
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        tf.train.ProximalAdagradOptimizer(0.1, initial_accumulator_value=0.0)


ARGUMENTS = {"AdadeltaOptimizer": {"decay": "rho"}}


@pytest.mark.parametrize("name", [n for n in dir(tf.train) if n.endswith("Optimizer")])
def test_the_defaults_are_those_of_the_library(name):
    kind = getattr(tf.train, name)
    takes = inspect.signature(kind).parameters
    if not getattr(kind, "_KIND", None):
        return
    *_, numbers = _core.optimizer_parts({"kind": kind._KIND})
    for number, default in numbers:
        own = takes[ARGUMENTS.get(name, {}).get(number, number)].default
        is_given = own is inspect.Parameter.empty or number == "learning_rate"
        assert default == 0 if is_given else own == default
