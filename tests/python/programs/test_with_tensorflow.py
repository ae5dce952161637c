"""Files of Rheos opened by the real TensorFlow, and the other way round.

Where there is no TensorFlow (tensorflow_process.py), these tests are skipped.
"""

import numpy as np
import pytest
import rheos
from tensorflow_process import INTERPRETER, is_tensorflow_1, tensorflow

tf = pytest.importorskip("rheos.v1")

pytestmark = pytest.mark.skipif(INTERPRETER is None, reason="TensorFlow is not installed here")


def save_model(folder):
    """A trained step of a small model with a saver; returns the value of its weights."""
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        loss = tf.reduce_sum(tf.square(w), name="loss")
        train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            saver.save(session, str(folder / "model"))
            writer = tf.summary.FileWriter(str(folder), graph)
            writer.close()
            return session.run(w).tolist()


def test_tensorflow_reads_the_checkpoint(tmp_path):
    weights = save_model(tmp_path)
    assert weights == [0.5, 1.0]
    assert (
        tensorflow(
            """
reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
answer(reader.get_tensor("w").tolist())
""",
            tmp_path,
        )
        == weights
    )


def test_tensorflow_runs_the_graph_of_the_event_file(tmp_path):
    weights = save_model(tmp_path)
    answer = tensorflow(
        """
events = list(tf.train.summary_iterator(glob.glob(folder + "/events*")[0]))
graph = tf.GraphDef.FromString([e.graph_def for e in events if e.HasField("graph_def")][0])
tf.import_graph_def(graph, name="")
with tf.Session() as session:
    session.run("save/restore_all", {"save/Const:0": folder + "/model"})
    answer([events[0].file_version, session.run("w:0").tolist(), float(session.run("loss:0"))])
""",
        tmp_path,
    )
    assert answer == ["brain.Event:2", weights, 1.25]


def test_the_checkpoint_of_tensorflow_is_read(tmp_path):
    tensorflow(
        """
tf.get_variable("a", initializer=[[1.0, 2.0], [3.0, 4.0]])
tf.get_variable("b", initializer=b"text")
saver = tf.train.Saver()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    answer(saver.save(session, folder + "/model", global_step=3))
""",
        tmp_path,
    )
    with tf.Graph().as_default():
        a = tf.get_variable("a", shape=[2, 2])
        saver = tf.train.Saver()
        with tf.Session() as session:
            saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))
            np.testing.assert_array_equal(session.run(a), [[1, 2], [3, 4]])


# ---- Models of Rheos, in TensorFlow 1


@pytest.fixture(scope="module")
def first_generation():
    """Skips without TensorFlow 1: layers and dynamic_rnn of TensorFlow 2 are other ones."""
    if not is_tensorflow_1():
        pytest.skip("needs TensorFlow 1")


def image_model(is_training):
    x = tf.placeholder(tf.float32, [None, 8, 8, 2], name="x")
    h = tf.layers.conv2d(x, 4, 3, padding="same", name="conv")
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=is_training, name="norm"))
    h = tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2))
    y = tf.nn.softmax(tf.layers.dense(h, 3, name="logits"), name="y")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.log(y))
    tf.identity(loss, name="loss")
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        tf.train.AdamOptimizer(0.01).minimize(loss, step, name="train")
    return x, y


IMAGES = np.random.RandomState(3).uniform(-1, 1, [4, 8, 8, 2]).astype(np.float32)
LABELS = np.array([0, 1, 2, 1], np.int32)


@pytest.mark.parametrize("use_resource", [False, True])
def test_tensorflow_goes_on_with_the_training(tmp_path, use_resource, first_generation):
    np.save(tmp_path / "x.npy", IMAGES)
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        image_model(True)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = {"x:0": IMAGES, "labels:0": LABELS}
            session.run("train", feeds)
            saver.save(session, str(tmp_path / "model"))
            expected = [float(session.run(["loss:0", "train"], feeds)[0]) for _ in range(20)]
    losses = tensorflow(
        """
import numpy as np
feeds = {"x:0": np.load(folder + "/x.npy"), "labels:0": [0, 1, 2, 1]}
saver = tf.train.import_meta_graph(folder + "/model.meta")
with tf.Session() as session:
    saver.restore(session, folder + "/model")
    [train] = tf.get_collection("train_op")
    losses = [float(session.run(["loss:0", train], feeds)[0]) for _ in range(20)]
    names = [v.name for v in tf.global_variables()]
    saver.save(session, folder + "/back")
    answer(losses)
""",
        tmp_path,
    )
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-4)
    # And back again.
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(tmp_path / "back.meta")).restore(
            session, str(tmp_path / "back")
        )
        assert session.run(tf.train.get_global_step()) == 21


@pytest.mark.parametrize("use_resource", [False, True])
def test_tensorflow_serves_the_saved_model(tmp_path, use_resource, first_generation):
    np.save(tmp_path / "x.npy", IMAGES)
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        x, y = image_model(False)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"in": x}, {"out": y})
            expected = session.run(y, {x: IMAGES})
            frozen = tf.graph_util.convert_variables_to_constants(
                session, tf.get_default_graph().as_graph_def(), ["y"]
            )
            (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
    answers = tensorflow(
        """
import numpy as np
x = np.load(folder + "/x.npy")
with tf.Session() as session:
    made = tf.saved_model.load(session, ["serve"], folder + "/saved")
    signature = made.signature_def["serving_default"]
    served = session.run(signature.outputs["out"].name, {signature.inputs["in"].name: x})
tf.reset_default_graph()
tf.import_graph_def(tf.GraphDef.FromString(open(folder + "/frozen.pb", "rb").read()), name="")
with tf.Session() as session:
    answer([served.tolist(), session.run("y:0", {"x:0": x}).tolist()])
""",
        tmp_path,
    )
    for values in answers:
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5)


def test_tensorflow_takes_the_ops_of_the_list_as_they_are(tmp_path, first_generation):
    with tf.Graph().as_default():
        image_model(True)
        tf.train.export_meta_graph(str(tmp_path / "g.meta"))
        names = sorted({op.type for op in tf.get_default_graph().get_operations()})
    answer = tensorflow(
        """
from tensorflow.python.framework import meta_graph, op_def_registry
made = meta_graph.read_meta_graph_file(folder + "/g.meta")
known = op_def_registry.get_registered_ops()
different = []
for op in made.meta_info_def.stripped_op_list.op:
    own = known[op.name]
    for mine, other in ((op.input_arg, own.input_arg), (op.output_arg, own.output_arg)):
        if [(a.name, a.number_attr, a.type_list_attr, a.is_ref) for a in mine] != [
                (a.name, a.number_attr, a.type_list_attr, a.is_ref) for a in other]:
            different.append(op.name)
    defaults = {a.name: a.default_value for a in op.attr}
    different += [op.name + "." + a.name for a in own.attr if a.name not in defaults]
    different += [op.name + "." + a.name for a in own.attr if defaults[a.name] != a.default_value]
answer([different, sorted(op.name for op in made.meta_info_def.stripped_op_list.op)])
""",
        tmp_path,
    )
    assert answer == [[], names]


def test_tensorflow_maps_the_constants_beside_a_graph(tmp_path):
    with tf.Graph().as_default():
        w = tf.constant(np.arange(600, dtype=np.float32), name="w")
        tf.reduce_sum(w[-2:], name="y")
        rheos.write_graph(tmp_path / "g.pb", side_file_bytes=1000)
    assert len(list((tmp_path / "g.pb.data").iterdir())) == 1
    assert (
        tensorflow(
            """
import os
os.chdir(folder)
tf.import_graph_def(tf.GraphDef.FromString(open("g.pb", "rb").read()), name="")
with tf.Session() as session:
    answer(float(session.run("y:0")))
""",
            tmp_path,
        )
        == 1197
    )
