"""Tensors that a session keeps under handles."""

import gc

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture
def kept(sess):
    value = tf.constant([1.0, 2.0]) * 3.0
    return value, tf.get_session_handle(value, name="kept")


def is_kept(session, handle):
    holder, value = tf.get_session_tensor(handle, tf.float32)
    try:
        session.run(value, {holder: handle})
    except tf.errors.InvalidArgumentError as error:
        assert f"The tensor with handle '{handle}' is not in the session store." in str(error)
        return False
    return True


def test_a_value_stays_in_the_session(sess, kept):
    handle = sess.run(kept[1])
    assert handle.handle == str(handle) == "kept;0;/job:localhost/replica:0/task:0/device:CPU:0"
    assert handle.eval().tolist() == [3, 6]
    holder, value = tf.get_session_tensor(handle.handle, tf.float32)
    assert holder.dtype == tf.string and holder.device.endswith("/device:CPU:0")
    assert sess.run(value + 1, {holder: handle.handle}).tolist() == [4, 7]


def test_handles_come_in_every_form_of_fetches(sess, kept):
    number = tf.constant(5)
    one, five = sess.run([kept[1], number])
    other = sess.run({"h": "kept:0"})["h"]
    assert five == 5 and one.handle != other.handle
    assert one.eval().tolist() == other.eval().tolist() == [3, 6]


def test_a_handle_is_fed_for_its_tensor(sess, kept):
    value, element = kept
    handle = sess.run(element)
    assert sess.run(value - 1, {value: handle}).tolist() == [2, 5]
    with pytest.raises(TypeError):
        sess.run(tf.constant("x") + "y", {"Const_1:0": handle})


def test_a_state_is_passed_from_step_to_step(sess):
    handle = sess.run(tf.get_session_handle(tf.constant(0)))
    holder, value = tf.get_session_tensor(handle.handle, tf.int32)
    more = tf.get_session_handle(value + 1)
    for _ in range(40):
        handle = sess.run(more, {holder: handle.handle})
    assert handle.eval() == 40


def test_strings_are_kept(sess):
    words = tf.get_session_handle(tf.constant(["a", "bc"]))
    assert sess.run(words).eval().tolist() == [b"a", b"bc"]


def test_what_is_deleted_is_gone(sess, kept):
    handle = sess.run(kept[1])
    handle.delete()
    assert not is_kept(sess, handle.handle)
    for again in (handle.eval, handle.delete):
        with pytest.raises(TypeError, match="may have already been deleted"):
            again()


def test_a_raw_handle_is_deleted_by_the_program(sess, kept):
    raw = sess.run(kept[1]).get_raw_handle()
    gc.collect()
    for _ in range(30):
        sess.run(kept[1])
    assert is_kept(sess, raw)
    holder, delete = tf.delete_session_tensor(raw)
    assert sess.run(delete, {holder: raw}) is None
    assert not is_kept(sess, raw)


def test_a_tensor_goes_some_runs_after_its_last_handle(sess, kept):
    name = sess.run(kept[1]).handle
    gc.collect()
    for _ in range(30):
        sess.run(kept[1])
    assert not is_kept(sess, name)


def test_handles_are_of_one_session(sess, kept):
    handle = sess.run(kept[1])
    with tf.Session() as other:
        assert not is_kept(other, handle.handle)


def test_wrong_arguments(sess, kept):
    with pytest.raises(TypeError, match="`data` must be of type Tensor"):
        tf.get_session_handle([1.0])
    handle = sess.run(kept[1])
    holder, value = tf.get_session_tensor(handle.handle, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is of float, not int32"):
        sess.run(value, {holder: handle.handle})


def test_a_session_of_handles_closes():
    with tf.Graph().as_default():
        with tf.Session() as session:
            handle = session.run(tf.get_session_handle(tf.constant(np.ones(3))))
        with pytest.raises(RuntimeError, match="closed Session"):
            handle.eval()
