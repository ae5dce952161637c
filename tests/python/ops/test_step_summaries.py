"""tf.contrib.summary; what is wanted is what TensorFlow 1.15.5 wrote for the same program."""

import glob

import numpy as np
import pytest
import rheos.v1 as tf
import rheos.v2
from rheos.framework import messages
from rheos.v1._insides import context

summary = tf.contrib.summary


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def written(folder):
    """(step, tag, kind) of all values in the only event file of a folder, in order."""
    (path,) = glob.glob(str(folder / "*"))
    return sorted(
        (event.step, value.tag, value.WhichOneof("value"))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
    )


def test_operations_write_when_a_session_runs_them(tmp_path, sess):
    step = tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(tmp_path)
    with writer.as_default(), summary.always_record_summaries():
        assert summary.scalar("loss", tf.constant(2.5)).dtype == tf.bool
        with tf.name_scope("sc"):
            summary.scalar("acc", 3, family="fam")
            summary.histogram("h", tf.constant([1.0, 2.0]), step=tf.constant(7, tf.int64))
            summary.image("im", tf.zeros([2, 2, 2, 3]), bad_color=np.uint8([1, 2, 3, 4]))
            summary.audio("au", tf.zeros([1, 10, 1]), 8000.0, 1)
            summary.generic("ge", tf.constant([1, 2]))
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        summary.scalar("every", tf.constant(1.0))
    with writer.as_default(), summary.never_record_summaries():
        summary.scalar("never", 1.0)
    with writer.as_default():
        summary.scalar("by_default", 1.0)
    assert summary.scalar("outside", 1.0).type == "NoOp"
    ops = summary.all_summary_ops()
    assert len(ops) == 9 and ops == tf.summary.all_v2_summary_ops()
    sess.run(tf.global_variables_initializer())
    with pytest.raises(tf.errors.OpError, match="not initialized"):
        sess.run(ops)
    with writer.as_default():
        summary.initialize(graph=sess.graph, session=sess)
    assert sess.run(ops) == [True] * 7 + [False] * 2
    sess.run(step.assign_add(1))
    sess.run(ops)
    sess.run(writer.flush())
    always = [("fam/sc/fam/acc", "simple_value"), ("loss", "simple_value")]
    always += [("sc/au/audio", "audio"), ("sc/ge", "tensor")]
    always += [("sc/im/image/0", "image"), ("sc/im/image/1", "image")]
    wanted = [(number, *one) for number in (0, 1) for one in always]
    wanted += [(0, "every", "simple_value"), *[(7, "sc/h", "histo")] * 2]
    assert written(tmp_path) == sorted(wanted)
    sess.run(writer.close())
    with pytest.raises(tf.errors.OpError, match="closed"):
        sess.run(ops[0])


def test_what_initialize_needs(tmp_path):
    with pytest.raises(RuntimeError, match="No default"):
        summary.initialize()
    with summary.create_file_writer(tmp_path).as_default(), pytest.raises(ValueError):
        summary.initialize()
    assert list(tmp_path.iterdir()) == []  # no file before it is initialized
    with pytest.raises(NotImplementedError):
        summary.create_db_writer("file")
    assert summary.eval_dir("a", "b") == "a/eval_b" and summary.eval_dir("a") == "a/eval"


def test_eagerly_values_are_written_at_once(tmp_path):
    with context.eager_mode():
        step = tf.train.create_global_step()
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default(), summary.record_summaries_every_n_global_steps(2, step):
            for _ in range(4):
                summary.scalar("x", 1.0)
                step.assign_add(1)
        assert [event[0] for event in written(tmp_path)] == [0, 2]
        assert summary.all_summary_ops() is None


def test_messages_are_written_as_they_are(tmp_path):
    made = messages.Summary(value=[messages.Summary.Value(tag="t", simple_value=2.0)])
    writer = rheos.v2.summary.create_file_writer(str(tmp_path))

    @rheos.v2.function
    def write(data):
        return rheos.v2.summary.experimental.write_raw_pb(data, step=3)

    with context.eager_mode(), writer.as_default():
        assert bool(write(rheos.v2.constant(made.SerializeToString())))
    assert written(tmp_path) == [(3, "t", "simple_value")]
