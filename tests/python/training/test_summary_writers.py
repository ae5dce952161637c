"""tf.summary of TensorFlow 2: what is in the event files."""

import numpy as np
import pytest
import rheos as tf
import rheos.v1 as tf1


def events_of(folder):
    """[(step, tag, plugin, value)] of the summaries in the only file of a folder."""
    (path,) = folder.iterdir()
    found = []
    for event in tf1.train.summary_iterator(str(path)):
        for value in event.summary.value:
            plugin = value.metadata.plugin_data.plugin_name
            found.append((event.step, value.tag, plugin, tf.make_ndarray(value.tensor)))
    return found


def test_values_are_written_with_their_steps(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert tf.summary.scalar("loss", 2.5, step=3)
        with tf.name_scope("inner"):
            tf.summary.text("words", ["a", "b"], step=tf.Variable(4, dtype=tf.int64))
        with tf.summary.record_if(False):
            assert not tf.summary.scalar("not", 1.0, step=5)
        tf.summary.experimental.set_step(6)
        tf.summary.scalar("set", 1)
        tf.summary.experimental.set_step(None)
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("none", 1)
    writer.close()
    found = events_of(tmp_path)
    assert [row[:3] for row in found] == [
        (3, "loss", "scalars"), (4, "inner/words", "text"), (6, "set", "scalars")
    ]  # fmt: skip
    assert found[0][3] == 2.5 and found[1][3].tolist() == [b"a", b"b"]


def test_each_call_of_a_traced_function_writes(tmp_path):
    @tf.function
    def step(x, number):
        tf.summary.scalar("x", x, step=number)
        return x + 1

    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for i in range(3):
            step(tf.constant(float(i)), tf.constant(i, tf.int64))
    assert [(row[0], float(row[3])) for row in events_of(tmp_path)] == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize(
    "data, expected",
    [
        ([1.0, 2.0, 3.0, 5.0], [[1, 2, 1], [2, 3, 1], [3, 4, 1], [4, 5, 1]]),
        ([2.0, 2.0], [[2, 2, 0], [2, 2, 0], [2, 2, 0], [2, 2, 2]]),
        ([], [[0, 0, 0]] * 4),
    ],
)
def test_histograms_have_the_edges_and_counts_of_buckets(tmp_path, data, expected):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.histogram("h", np.array(data, "float32"), step=0, buckets=4)
    ((_, _, plugin, found),) = events_of(tmp_path)
    assert plugin == "histograms" and found.tolist() == expected


def test_pictures_and_sounds_are_encoded(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.image("i", tf.ones([5, 3, 4, 1]), step=0, max_outputs=2)
        tf.summary.audio("a", tf.zeros([1, 10, 1]), 100, step=0)
    picture, sound = events_of(tmp_path)
    assert picture[3][:2].tolist() == [b"4", b"3"] and len(picture[3]) == 4
    assert tf.io.decode_png(picture[3][2]).shape == (3, 4, 1)
    assert sound[3].shape == (1, 2) and sound[3][0, 0].startswith(b"RIFF")


def test_nothing_is_written_without_a_writer_or_after_its_end(tmp_path):
    assert not tf.summary.scalar("x", 1.0, step=0)
    assert not tf.summary.should_record_summaries()
    with tf.summary.create_noop_writer().as_default():
        tf.summary.scalar("x", 1.0, step=0)
    writer = tf.summary.create_file_writer(str(tmp_path))
    writer.close()
    with writer.as_default(), pytest.raises(RuntimeError, match="already closed"):
        tf.summary.scalar("x", 1.0, step=0)
