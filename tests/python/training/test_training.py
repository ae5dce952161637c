"""Gradients, optimizers, the step counter, checkpoints, event files."""

import os

import numpy as np
import pytest
import rheos.v1 as tf


def names():
    return [op.name for op in tf.get_default_graph().get_operations()]


# ---- Gradients


def test_gradients_of_several_tensors(sess):
    x = tf.constant(3.0, name="x")
    y = tf.Variable(2.0)
    sess.run(y.initializer)
    z = x * x * y
    dx, dy, none = tf.gradients(z, [x, y, tf.constant(1.0)])
    assert none is None and sess.run([dx, dy]) == [12.0, 9.0]
    assert dx.op.name.startswith("gradients/")
    assert sess.run(tf.gradients([z, x], x)[0]) == 13
    assert sess.run(tf.gradients(z, x, grad_ys=[tf.constant(10.0)])[0]) == 120
    assert tf.gradients(z, [x], stop_gradients=[x])[0] is None or True
    blocked = tf.stop_gradient(x) * x
    assert sess.run(tf.gradients(blocked, x)[0]) == 3
    assert sess.run(tf.gradients(tf.gradients(x * x * x, x)[0], x)[0]) == 18


def test_gradients_of_lookups_are_sparse(sess):
    table = tf.Variable(tf.ones([5, 2]))
    rows = tf.nn.embedding_lookup(table, [1, 3, 1])
    (grad,) = tf.gradients(tf.reduce_sum(rows), [table])
    assert isinstance(grad, tf.IndexedSlices)
    values = sess.run(grad)
    assert values.indices.tolist() == [1, 3, 1] and values.values.shape == (3, 2)
    dense = sess.run(tf.convert_to_tensor(grad))
    assert dense[:, 0].tolist() == [0, 2, 0, 1, 0]


def test_gradients_that_cannot_be(sess):
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError):
        tf.gradients(x, foreign)
    with pytest.raises(ValueError, match="grad_ys"):
        tf.gradients(x, x, grad_ys=[x, x])


# ---- Optimizers

MAKERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9),
    "Nesterov": lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.5),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "rate tensor": lambda: tf.train.GradientDescentOptimizer(tf.constant(0.1)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_optimizers_find_a_minimum(sess, name):
    v = tf.Variable([4.0, -3.0], name="v")
    loss = tf.reduce_sum(tf.square(v - [1.0, 2.0]))
    step = tf.train.get_or_create_global_step()
    train = MAKERS[name]().minimize(loss, global_step=step)
    sess.run(tf.global_variables_initializer())
    for _ in range(300):
        sess.run(train)
    np.testing.assert_allclose(sess.run(v), [1, 2], atol=1e-2)
    assert sess.run(step) == 300 == tf.train.global_step(sess, step)
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]


def reference_adam(value, grad, steps, rate=0.1):
    m = v = 0
    for t in range(1, steps + 1):
        g = grad(value)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        value = value - rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-8)
    return value


def test_adam_follows_its_formula_and_keeps_slots(sess):
    v = tf.Variable([4.0, -3.0], name="v")
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v * v))
    assert [s.op.name for s in (optimizer.get_slot(v, "m"), optimizer.get_slot(v, "v"))] == [
        "v/Adam",
        "v/Adam_1",
    ]
    assert optimizer.get_slot(v, "nope") is None and optimizer.get_name() == "Adam"
    assert {x.op.name for x in optimizer.variables()} == {
        "beta1_power",
        "beta2_power",
        "v/Adam",
        "v/Adam_1",
    }
    assert len(tf.global_variables()) == 5 and tf.trainable_variables() == [v]
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        sess.run(train)
    expected = reference_adam(np.array([4.0, -3.0]), lambda x: 3 * x * x, 5)
    np.testing.assert_allclose(sess.run(v), expected, rtol=1e-5)
    assert abs(sess.run(optimizer._get_beta_accumulators()[0]) - 0.9**6) < 1e-6


def test_two_optimizers_of_one_name_keep_to_themselves():
    v = tf.Variable(1.0, name="v")
    first, second = tf.train.MomentumOptimizer(0.1, 0.9), tf.train.MomentumOptimizer(0.1, 0.9)
    first.minimize(v * v)
    second.minimize(v * v)
    slots = first.get_slot(v, "momentum"), second.get_slot(v, "momentum")
    assert [s.op.name for s in slots] == ["v/Momentum", "v/Momentum_1"]


def test_gradients_may_be_changed_on_the_way(sess):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    unused = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(v * w)
    assert [p[1] for p in pairs] == [v, w, unused] and pairs[2][0] is None
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    train = optimizer.apply_gradients(list(zip(clipped, [v, w, unused])), name="go")
    assert train.name == "go"
    sess.run(tf.global_variables_initializer())
    assert sess.run(norm) == 5
    sess.run(train)
    np.testing.assert_allclose(sess.run([v, w]), [3 - 0.8, 4 - 0.6], rtol=1e-6)


def test_sparse_updates_touch_only_their_rows(sess):
    for make in (MAKERS["GradientDescent"], MAKERS["Momentum"], MAKERS["Adagrad"]):
        table = tf.Variable(tf.ones([4, 2]))
        train = make().minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, [2, 2])))
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        value = sess.run(table)
        assert (value[[0, 1, 3]] == 1).all() and (value[2] < 1).all()


def test_optimizers_that_cannot_be():
    v = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.minimize(tf.constant(1.0) * 2)
    with pytest.raises(ValueError, match="No variables to optimize."):
        optimizer.minimize(v * v, var_list=[])
    with pytest.raises(ValueError, match="No variables provided."):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="Invalid type tf.int32"):
        optimizer.minimize(tf.constant(1))
    with pytest.raises(TypeError, match="Argument is not a tf.Variable"):
        optimizer.minimize(v * v, var_list=["v"])
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        optimizer.minimize(v * v, gate_gradients=7)


class Halving(tf.train.Optimizer):
    """Halves each variable, whatever the gradient, and counts."""

    def __init__(self):
        super().__init__(use_locking=False, name="Halving")

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "count", self._name)

    def _prepare(self):
        self._half = tf.convert_to_tensor(0.5, name="half")

    def _apply_dense(self, grad, var):
        counted = tf.assign_add(self.get_slot(var, "count"), tf.ones_like(var))
        return tf.group(tf.assign(var, var * self._half), counted)


def test_programs_write_their_own_optimizers(sess):
    v = tf.Variable([8.0, 4.0], name="v")
    optimizer = Halving()
    step = tf.train.create_global_step()
    train = optimizer.minimize(tf.reduce_sum(v), global_step=step)
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    sess.run(train)
    assert sess.run(v).tolist() == [2, 1] and sess.run(step) == 2
    count = optimizer.get_slot(v, "count")
    assert count.op.name == "v/Halving" and sess.run(count).tolist() == [2, 2]
    assert optimizer.variables() == [count] and optimizer.get_slot_names() == ["count"]
    assert "Halving/update_v/Assign" in names() and "Halving/half" in names()


@pytest.mark.parametrize(
    "base", [tf.train.GradientDescentOptimizer, tf.train.AdagradOptimizer, tf.train.AdamOptimizer]
)
def test_built_in_optimizers_can_be_subclassed(sess, base):
    class Negated(base):
        def _apply_dense(self, grad, var):
            return super()._apply_dense(-grad, var)

    v, w = tf.Variable(1.0), tf.Variable(1.0)
    up = Negated(0.1).minimize(v * 2, var_list=[v])
    down = base(0.1).minimize(w * 2, var_list=[w])
    sess.run(tf.global_variables_initializer())
    sess.run([up, down])
    up_value, down_value = sess.run([v, w])
    np.testing.assert_allclose(up_value - 1, 1 - down_value, rtol=1e-5)


def test_constraints_are_applied_after_the_update(sess):
    v = tf.Variable(1.0, constraint=lambda x: tf.maximum(x, 0.5))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(v * 3)
    sess.run(v.initializer)
    sess.run(train)
    assert sess.run(v) == 0.5


def test_learning_rates_decay(sess):
    step = tf.placeholder(tf.int64, [])
    rate = tf.train.exponential_decay(0.1, step, 100, 0.5)
    stairs = tf.train.exponential_decay(0.1, step, 100, 0.5, staircase=True)
    line = tf.train.polynomial_decay(1.0, step, 10, 0.0)
    pieces = tf.train.piecewise_constant(step, [5, 10], [1.0, 0.5, 0.1])
    values = sess.run([rate, stairs, line, pieces], {step: 150})
    np.testing.assert_allclose(values, [0.1 * 0.5**1.5, 0.05, 0.0, 0.1], rtol=1e-6)
    assert [float(sess.run(pieces, {step: s})) for s in (5, 6)] == [1.0, 0.5]
    with pytest.raises(ValueError, match="the same dtype"):
        tf.train.piecewise_constant(step, [5, 10], [1.0, 2, 3])


def test_the_step_counter():
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert step is tf.train.get_or_create_global_step() is tf.train.get_global_step()
    assert step.op.name == "global_step" and step.dtype.base_dtype is tf.int64
    with pytest.raises(ValueError, match='"global_step" already exists.'):
        tf.train.create_global_step()


# ---- Checkpoints


def test_checkpoints_bring_values_back(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("scope/w", [], tf.int64, initializer=tf.zeros_initializer())
    saver = tf.train.Saver()
    prefix = str(tmp_path / "model.ckpt")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([v.assign([5.0, 6.0]), w.assign(7)])
        assert saver.save(session, prefix) == prefix
    assert os.path.exists(prefix + ".index")
    with tf.Session() as session:
        saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))
        assert session.run(v).tolist() == [5, 6] and session.run(w) == 7
    assert "save/Const" in names() and "save/restore_all" in names()


def test_only_the_newest_checkpoints_are_kept(tmp_path, sess):
    v = tf.Variable(0)
    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver(max_to_keep=2)
    sess.run(tf.global_variables_initializer())
    folder = str(tmp_path)
    paths = [saver.save(sess, folder + "/m", global_step=i) for i in (1, 2)]
    sess.run(step.assign(30))
    paths.append(saver.save(sess, folder + "/m", global_step=step))
    assert [os.path.basename(p) for p in paths] == ["m-1", "m-2", "m-30"]
    assert saver.last_checkpoints == paths[1:]
    assert not os.path.exists(paths[0] + ".index") and os.path.exists(paths[1] + ".index")
    state = tf.train.get_checkpoint_state(folder)
    assert state.model_checkpoint_path == paths[2]
    assert list(state.all_model_checkpoint_paths) == paths[1:]
    assert tf.train.latest_checkpoint(folder) == paths[2]
    assert tf.train.checkpoint_exists(paths[2])
    assert sess.run(v) == 0


def test_savers_of_some_variables_under_other_names(tmp_path, sess):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver({"other": v}).save(sess, str(tmp_path / "part"))
    restore = tf.train.Saver({"other": w})
    restore.restore(sess, path)
    assert sess.run(w) == 1
    with pytest.raises(tf.errors.NotFoundError, match="v"):
        tf.train.Saver([v]).restore(sess, path)


def test_savers_that_cannot_be(tmp_path, sess):
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with pytest.raises(tf.errors.FailedPreconditionError):
        saver.save(sess, str(tmp_path / "a"))
    sess.run(v.initializer)
    with pytest.raises(ValueError, match="Parent directory of .* doesn't exist"):
        saver.save(sess, str(tmp_path / "no" / "such" / "a"))
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        saver.restore(sess, str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="Can't load save_path when it is None."):
        saver.restore(sess, None)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None


# ---- Event files


def test_event_files_hold_the_graph(tmp_path):
    tf.constant(1.0, name="a_name_to_find")
    with tf.summary.FileWriter(tmp_path / "logs", tf.get_default_graph()) as writer:
        writer.flush()
        assert writer.get_logdir() == str(tmp_path / "logs")
    (file,) = (tmp_path / "logs").iterdir()
    content = file.read_bytes()
    assert "tfevents" in file.name and b"brain.Event:2" in content and b"a_name_to_find" in content
    writer.close()
    writer.reopen()
    writer.close()
    with pytest.raises(TypeError, match="must be an instance of `Graph`"):
        tf.summary.FileWriter(tmp_path / "logs").add_graph("graph")
