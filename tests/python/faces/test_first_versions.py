"""Ops on handles that are references, which graphs of TensorFlow's first versions have."""

import pytest
import rheos.v1 as tf
from rheos.framework.op_call import apply_op, op1


def test_an_accumulator_behind_a_reference():
    handle = op1("ConditionalAccumulator", "a", dtype=tf.float32, shape=tf.TensorShape([2]))
    step = tf.constant(0, tf.int64)
    add = apply_op("AccumulatorApplyGradient", None, handle, step, [2.0, 4.0])
    mean = op1("AccumulatorTakeGradient", None, handle, 2, dtype=tf.float32)
    count = op1("AccumulatorNumAccumulated", None, handle)
    with tf.Session() as session:
        session.run(add)
        session.run(apply_op("AccumulatorApplyGradient", None, handle, step, [4.0, 8.0]))
        assert session.run(count) == 2
        assert session.run(mean).tolist() == [3.0, 6.0]
        assert session.run(count) == 0
        session.run(add)  # of step 0, while the accumulator is at step 1: dropped
        assert session.run(count) == 0
        session.run(apply_op("AccumulatorSetGlobalStep", None, handle, step))
        session.run(add)
        assert session.run(count) == 1


def test_a_reference_to_the_queue_behind_a_resource():
    queue = tf.FIFOQueue(5, tf.int32, shapes=())
    handle = op1("FakeQueue", None, queue.queue_ref)
    put = apply_op("QueueEnqueue", None, handle, [tf.constant(7)])
    taken = op1("QueueDequeue", None, handle, component_types=[tf.int32])
    with tf.Session() as session:
        session.run([put, put])
        session.run(queue.enqueue(9))
        assert session.run(queue.size()) == 2
        assert session.run(taken) == 7
        assert session.run(queue.dequeue()) == 9
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=())
    not_a_queue = accumulator.accumulator_ref
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a queue"):
            session.run(apply_op("QueueEnqueue", None, op1("FakeQueue", None, not_a_queue), [1]))


def test_the_state_of_a_reader_behind_a_reference():
    queue = op1("FIFOQueue", None, component_types=[tf.string], shapes=[tf.TensorShape([])])
    reader = op1("IdentityReader", None)
    read = apply_op("ReaderRead", None, reader, queue).outputs
    state = op1("ReaderSerializeState", None, reader)
    count = op1("ReaderNumRecordsProduced", None, reader)
    with tf.Session() as session:
        session.run(apply_op("QueueEnqueueMany", None, queue, [tf.constant(["a", "b"])]))
        assert session.run(read) == [b"a", b"a"]
        saved = session.run(state)
        session.run(apply_op("ReaderReset", None, reader))
        assert session.run(count) == 0 and session.run(state) == b""
        session.run(apply_op("ReaderRestoreState", None, reader, tf.constant(saved)))
        assert session.run(count) == 1 and session.run(state) == saved


@pytest.mark.parametrize("damaged", [b"x", b"\x08", b"\x22\x7fabc", b"\x08\x03\x10\x02"])
def test_a_damaged_state_is_refused(damaged):
    reader = tf.WholeFileReader()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(reader.restore_state(tf.constant(damaged)))
