"""Several CPUs in one process without cards: what is on which, as TensorFlow has it."""

import pytest
import rheos.v1 as tf

COUNTS = {"CPU": 2, "GPU": 0}
TWO = tf.ConfigProto(device_count=COUNTS)
CPU = "/job:localhost/replica:0/task:0/device:CPU:"


def placed(capfd, *fetches):
    """The number of the device of each operation, as the session logs it."""
    config = tf.ConfigProto(device_count=COUNTS, log_device_placement=True)
    with tf.Session(config=config) as sess:
        sess.run(fetches)
    lines = [line.split(": ") for line in capfd.readouterr().err.splitlines()]
    assert all(device.startswith(CPU) for _, _, device in lines)
    return {name: int(device[len(CPU) :]) for name, _, device in lines}


def test_constants_are_where_they_are_taken(capfd):
    one = tf.constant(1.0, name="one")
    with tf.device("/cpu:1"):
        two = tf.add(one, 1.0, name="two")
    assert placed(capfd, two) == {"one": 1, "two/y": 1, "two": 1}


def test_what_updates_a_variable_is_with_it(capfd):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.device("/cpu:0"):
        update = tf.raw_ops.AssignVariableOp(resource=v.handle, value=2.0, name="update")
    found = placed(capfd, update)
    assert found["v"] == found["update"] == 1


def test_devices_have_resources_of_their_own():
    queues = []
    for device in ("/cpu:0", "/cpu:1"):
        with tf.device(device):
            queues.append(tf.FIFOQueue(10, [tf.float32], shared_name="q"))
    add = queues[0].enqueue(1.0)
    sizes = [queue.size() for queue in queues]
    with tf.Session(config=TWO) as sess:
        sess.run(add)
        assert sess.run(sizes) == [1, 0]


def test_a_variable_of_a_device_is_found_from_others():
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=False)
    with tf.device("/cpu:0"):
        step = [v.assign_add([1.0, 1.0]), w.assign_add([1.0, 1.0])]
        total = tf.reduce_sum(v) + tf.reduce_sum(w)
    with tf.Session(config=TWO) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        assert sess.run(total) == 10


def test_a_colocation_that_cannot_be_is_an_error_with_both_lines():
    with tf.device("/cpu:1"):
        x = tf.sin(tf.placeholder_with_default(1.0, []), name="x")
    with tf.colocate_with(x.op):
        y = tf.cos(x, name="y")
    y.op._set_device("/cpu:0")
    message = r"Cannot colocate nodes y \(defined at .*py:\d+\) and x \(defined at .*py:\d+\)"
    with tf.Session(config=TWO) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(y)
    config = tf.ConfigProto(device_count=COUNTS, allow_soft_placement=True)
    with tf.Session(config=config) as sess:
        sess.run(y)
