"""Recordings of a step: what is kept, computed again, and found to differ."""

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.inspection import recording

# The bits of a loop on a card are others than those of one whose values are watched.
ON_CPU = tf.ConfigProto(device_count={"GPU": 0})

X = np.arange(24, dtype=np.float32).reshape(4, 6) / 10


def program():
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    w = tf.get_variable("w", [6, 3])
    y = tf.nn.dropout(tf.matmul(x, w, name="product"), 0.5, name="drop")
    z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a)), [0, y])[1]
    text = tf.string_join(["a", tf.as_string(tf.size(z))], name="text")
    loss = tf.reduce_sum(tf.square(z), name="loss")
    return x, loss, text, tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)


@pytest.fixture
def recorded(tmp_path):
    """The path of a recording, and what the run gave."""
    path = str(tmp_path / "run.rec")
    recorder = recording.Recorder(path, None)
    x, loss, text, step = program()
    with tf.Session(config=ON_CPU) as session:
        recorder.session_opened(session)
        session.run(tf.global_variables_initializer())
        results = session.run([loss, text, step], {x: X})
        session.run([loss, step], {x: X})
    return path, results


def test_a_recording_has_all_that_the_step_computed(recorded):
    path, (loss, text, _) = recorded
    read = recording.read(path)
    assert read.values["loss:0"] == loss and sorted(read.fetches) == ["loss:0", "text:0"]
    assert read.values["text:0"] == text
    assert read.values["x:0"].tolist() == X.tolist()
    assert read.order.index("product:0") < read.order.index("loss:0")
    assert read.lines["product:0"][0] == __file__


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("rewriting", [False, True])
def test_it_gives_the_same_bits(recorded, threads, rewriting):
    config = tf.ConfigProto(intra_op_parallelism_threads=threads, device_count={"GPU": 0})
    config.graph_options.rewrite_options.disable_meta_optimizer = not rewriting
    read = recording.read(recorded[0])
    count, difference = recording.replay(read, config, whole=True)
    assert difference is None and count > 20
    assert recording.replay(read, config) == (2, None)


def test_the_first_difference_is_named(recorded):
    read = recording.read(recorded[0])
    read.values["product:0"][1, 2] += 1
    _, difference = recording.replay(read, ON_CPU, whole=True)
    assert difference.name == "product:0" and difference.op == "MatMul"
    assert difference.line[0] == __file__ and difference.error is None
    assert [name for name, _ in difference.inputs] == ["x:0", "w/read:0"]
    assert "1 of 12 elements differ, by 1 at most; element [1, 2]: " in str(difference)


def test_a_graph_that_computes_something_else_differs_first_where_it_does(recorded):
    read = recording.read(recorded[0])
    (node,) = (node for node in read.graph_def.node if node.name == "loss")
    node.op = "Max"
    _, difference = recording.replay(read, ON_CPU, whole=True)
    assert difference.name == "loss:0" and difference.op == "Max"
    assert str(difference).startswith(f"loss:0 (Max), {__file__}:")


def test_numbers_may_be_near(recorded):
    read = recording.read(recorded[0])
    read.values["loss:0"] = read.values["loss:0"] * np.float32(1.0001)
    assert recording.replay(read, ON_CPU, tolerance=1e-3)[1] is None
    assert recording.replay(read, ON_CPU, tolerance=1e-6)[1].name == "loss:0"


def test_an_error_of_the_replay_is_told(recorded):
    read = recording.read(recorded[0])
    read.values["x:0"] = read.values["x:0"][:, :5]
    _, difference = recording.replay(read, ON_CPU, whole=True)
    assert difference.error is not None and difference.name in str(difference)


def test_random_numbers_in_loops_are_not_compared(tmp_path):
    path = str(tmp_path / "run.rec")
    recorder = recording.Recorder(path, None)
    y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.random_normal([2])), [0, tf.zeros([2])]
    )[1]
    with tf.Session(config=ON_CPU) as session:
        recorder.session_opened(session)
        session.run(tf.exp(y))
    assert recording.replay(recording.read(path), whole=True)[1] is None


@pytest.mark.parametrize("length", [0, 10, 1000, -1])
def test_damaged_files_are_refused(recorded, tmp_path, length):
    with open(recorded[0], "rb") as file:
        data = file.read()
    damaged = tmp_path / "damaged.rec"
    damaged.write_bytes(data[:length] if length >= 0 else b"nothing of this kind")
    with pytest.raises(ValueError, match="no recording"):
        recording.read(str(damaged))
