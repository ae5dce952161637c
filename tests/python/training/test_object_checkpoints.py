"""tf.Module and tf.train.Checkpoint: variables by the objects that hold them, as TensorFlow 2."""

import os
import time

import numpy as np
import pytest
import rheos.v1 as tf
from tensorflow_process import INTERPRETER, tensorflow

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden", "checkpoints")


@pytest.fixture(autouse=True)
def session():
    """Each test has a graph and a session of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def variable(value, name):
    """An initialized variable."""
    made = tf.Variable(value, name=name, use_resource=True)
    made.initializer.run()
    return made


class Dense(tf.Module):
    """A layer."""

    def __init__(self, n, name=None):
        super().__init__(name)
        with self.name_scope:
            self.w = variable(np.full([n], 2.0, np.float32), "w")
            self.b = variable(np.float32(1.0), "b")

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.identity(self.w * x + self.b, name="out")


class Net(tf.Module):
    """Layers in a list and a dict."""

    def __init__(self):
        super().__init__()
        self.layers = [Dense(1), Dense(2, name="second")]
        self.extra = {"b": Dense(3, name="third"), "a": 5}
        self.frozen = tf.Variable(0.0, trainable=False, name="frozen", use_resource=True)
        self.frozen.initializer.run()


def test_a_module_knows_its_variables_and_modules():
    net = Net()
    assert net.name == "net"
    of_layers = [f"{name}/{v}:0" for name in ("third", "dense", "second") for v in "bw"]
    assert [v.name for v in net.variables] == ["frozen:0", *of_layers]
    assert [m.name for m in net.submodules] == ["third", "dense", "second"]
    assert len(net.trainable_variables) == 6
    assert net.non_trainable_variables == (net.frozen,)
    assert Dense(1)(3.0).op.name.startswith("dense")


def test_what_is_in_a_module_comes_before_the_next():
    outer, first, second, inner = (tf.Module(name) for name in ("outer", "a", "b", "inner"))
    first.inside, outer.a, outer.b = [inner], first, second
    assert outer.submodules == (first, second, inner)
    for module in (outer, first, inner, second):
        module.v = tf.Variable(0.0, use_resource=True)
    assert outer.variables == tuple(module.v for module in (outer, first, inner, second))


@pytest.mark.parametrize("name", ["a b", "1", "a/b", ""])
def test_a_module_s_name_is_an_identifier(name):
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module(name=name)


def test_names_of_classes_become_names_of_modules():
    class HTTPLayer2D(tf.Module):
        pass

    assert HTTPLayer2D().name == "http_layer2_d"


def test_a_checkpoint_comes_back(tmp_path, session):
    net, step = Net(), variable(np.int64(7), "step")
    path = tf.train.Checkpoint(net=net, step=step).save(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt-1")
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    for one in (*net.variables, step):
        session.run(one.assign(tf.zeros_like(one)))
    again = tf.train.Checkpoint(net=net, step=step)
    again.restore(path).assert_consumed().run_restore_ops()
    assert session.run([step, net.layers[1].w, net.extra["b"].b])[0] == 7
    assert session.run(net.layers[1].w).tolist() == [2.0, 2.0]
    assert session.run(again.save_counter) == 1
    keys = dict(tf.train.list_variables(path))
    assert "net/layers/1/w/.ATTRIBUTES/VARIABLE_VALUE" in keys
    assert "net/extra/b/b/.ATTRIBUTES/VARIABLE_VALUE" in keys


def test_a_checkpoint_of_tensorflow_is_restored(session):
    class Layer(tf.Module):
        pass

    layer = Layer()
    layer.w = variable(np.zeros([2, 3], np.float32), "other")
    layer.b = variable(np.zeros(3, np.float32), "name")
    step = variable(np.int64(0), "s")
    status = tf.train.Checkpoint(model=layer, step=step).read(os.path.join(GOLDEN, "objects"))
    status.assert_consumed().initialize_or_restore()
    assert session.run(layer.w).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert session.run([layer.b, step])[1] == 7


def test_objects_that_come_later_are_restored():
    root = tf.train.Checkpoint(model=tf.Module())
    status = root.read(os.path.join(GOLDEN, "objects"))
    with pytest.raises(AssertionError, match="Unresolved object"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="Nothing except the root"):
        status.assert_nontrivial_match()
    root.model.b = variable(np.zeros(3, np.float32), "b")
    root.step = variable(np.int64(0), "s")
    status.run_restore_ops()
    assert root.model.b.eval().tolist() == [1.0, 2.0, 3.0]
    assert root.step.eval() == 7


def test_what_does_not_fit_says_so(tmp_path):
    path = tf.train.Checkpoint(v=variable(np.ones(3, np.float32), "v")).write(tmp_path / "one")
    wrong = tf.train.Checkpoint(v=variable(np.ones(4, np.float32), "w"))
    with pytest.raises(ValueError, match="not compatible"):
        wrong.read(path).run_restore_ops()
    other = tf.train.Checkpoint(u=variable(np.ones(3, np.float32), "u"))
    with pytest.raises(AssertionError, match="No checkpoint value"):
        other.read(path).assert_existing_objects_matched()
    with pytest.raises(tf.errors.NotFoundError):
        other.read(tmp_path / "none")
    (tmp_path / "one.index").write_bytes(b"damaged")
    with pytest.raises(tf.errors.OpError):
        other.read(path)


def test_a_manager_keeps_the_newest(tmp_path):
    step = variable(np.int64(0), "step")
    root = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(root, str(tmp_path), max_to_keep=2)
    assert manager.restore_or_initialize() is None
    paths = []
    for number in range(4):
        step.load(number)
        paths.append(manager.save())
    assert manager.checkpoints == paths[2:]
    assert not tf.train.checkpoint_exists(paths[1])
    again = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), str(tmp_path), 2)
    assert (again.latest_checkpoint, again.checkpoints) == (paths[3], paths[2:])
    step.load(0)
    root.restore(manager.latest_checkpoint).run_restore_ops()
    assert step.eval() == 3
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(root, str(tmp_path), max_to_keep=0)


def test_a_manager_saves_at_intervals(tmp_path):
    step = variable(np.int64(0), "step")
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), str(tmp_path), 5, step_counter=step, checkpoint_interval=3
    )
    saved = []
    for number in range(7):
        step.load(number)
        saved.append(manager.save() is not None)
    assert saved == [True, False, False, True, False, False, True]
    assert time.time() - os.path.getmtime(manager.latest_checkpoint + ".index") < 3600


@pytest.mark.skipif(INTERPRETER is None, reason="there is no TensorFlow to compare with")
def test_tensorflow_restores_what_is_saved_here(tmp_path):
    path = tf.train.Checkpoint(net=Net(), step=variable(np.int64(7), "step")).save(tmp_path / "c")
    script = """
class M(tf.Module): pass
net = M(); net.layers = [M(), M()]
net.layers[1].w = tf.Variable([0., 0.], use_resource=True)
net.extra = {"b": M()}
net.extra["b"].b = tf.Variable(0., use_resource=True)
step = tf.Variable(0, dtype=tf.int64, use_resource=True)
root = tf.train.Checkpoint(net=net, step=step)
with tf.Session() as session:
    status = root.restore(PATH)
    status.assert_existing_objects_matched()
    status.initialize_or_restore(session)
    answer([session.run(v).tolist() for v in (net.layers[1].w, net.extra["b"].b, step)])
"""
    assert tensorflow(script.replace("PATH", repr(path)), tmp_path) == [[2.0, 2.0], 1.0, 7]


def test_tables_of_graphs_come_back(tmp_path, session):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.string, "none")
    table.insert(tf.constant([1, 2], tf.int64), ["one", "two"]).run()
    checkpoint = tf.train.Checkpoint(t=table)
    path = checkpoint.save(str(tmp_path / "ck"))
    table.remove(tf.constant([1], tf.int64)).run()
    table.insert(tf.constant([3], tf.int64), ["three"]).run()
    status = checkpoint.restore(path)
    status.assert_consumed().run_restore_ops()
    found = table.lookup(tf.constant([1, 2, 3], tf.int64)).eval().tolist()
    assert found == [b"one", b"two", b"none"]
