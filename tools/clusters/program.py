"""What a client does on a cluster: program.py TARGET. Runs on TensorFlow of either version and on
Rheos; prints what does not give the right values, a line each, then "done"."""

import sys

import numpy as np

try:
    import rheos.v1 as tf
except ImportError:
    import tensorflow

    tf = tensorflow if tensorflow.__version__.startswith("1") else tensorflow.compat.v1
    if tf is not tensorflow:
        tf.disable_eager_execution()


def expect(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def training(session, resource):
    """A variable on the parameter server, its gradient on the worker."""
    name = "resource" if resource else "reference"
    with tf.device("/job:ps/task:0"):
        w = tf.get_variable(name, [3, 1], initializer=tf.ones_initializer(), use_resource=resource)
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
        train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
    session.run(w.initializer)
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    weights = np.ones((3, 1), np.float32)
    for _ in range(5):
        value = session.run([loss, train], {x: rows})[0]
        expect(value, np.sum((rows @ weights) ** 2))
        weights -= 0.001 * 2 * rows.T @ (rows @ weights)
    expect(session.run(w), weights)


def control_flow(session):
    """A loop and a conditional with nodes on both tasks."""
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [])

    def body(i, value):
        with tf.device("/job:ps/task:0"):
            return i + 1, value * 2

    def on_ps():
        with tf.device("/job:ps/task:0"):
            return x + 1

    with tf.device("/job:worker/task:0"):
        _, looped = tf.while_loop(lambda i, value: i < 6, body, [0, x])
        chosen = tf.cond(x > 0, on_ps, lambda: x - 1)
    expect(session.run([looped, chosen], {x: 1.5}), [96, 2.5])
    expect(session.run([looped, chosen], {x: -1.5}), [-96, -2.5])


def functions(session):
    """A branch and a loop of version 2, with nodes and variables on both tasks, and gradients."""
    tf.enable_control_flow_v2()
    try:
        with tf.device("/job:ps/task:0"):
            v = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=True)
        with tf.device("/job:worker/task:0"):
            w = tf.get_variable("w", initializer=[0.5, 0.25], use_resource=True)
            x = tf.placeholder(tf.float32, [])

        def body(i, value):
            with tf.device("/job:ps/task:0"):
                grown = value * v
            return i + 1, grown + w

        _, looped = tf.while_loop(lambda i, _: i < 3, body, [0, w + 0.0])
        y = tf.cond(x > 0, lambda: looped * v, lambda: w - v)
        slopes = tf.gradients(y, [v, w])
    finally:
        tf.disable_control_flow_v2()
    session.run([v.initializer, w.initializer])
    a, b = np.float32([2, 3]), np.float32([0.5, 0.25])
    expect(session.run([y, *slopes], {x: 1.0}), [
        b * (a**4 + a**3 + a**2 + a),
        b * (4 * a**3 + 3 * a**2 + 2 * a + 1),
        a**4 + a**3 + a**2 + a,
    ])  # fmt: skip
    expect(session.run([y, *slopes], {x: -1.0}), [b - a, [-1, -1], [1, 1]])


def kinds_of_values(session):
    """Strings, whole numbers, halves, nothing and a large tensor, each sent to the other task."""
    values = [
        np.array([b"a", b"", b"\xff" * 1000], object),
        np.arange(5, dtype=np.int64),
        np.array([True, False]),
        np.array(2.5, np.float16),
        np.zeros([0, 3], np.float32),
        np.arange(300000, dtype=np.float32),
    ]
    for value in values:
        with tf.device("/job:ps/task:0"):
            there = tf.identity(tf.placeholder_with_default(value, value.shape))
        with tf.device("/job:worker/task:0"):
            here = tf.identity(there)
        found = session.run(here)
        assert found.dtype == value.dtype and found.shape == value.shape, found
        assert found.tolist() == value.tolist()


def errors(session):
    with tf.device("/job:ps/task:0"):
        bad = tf.check_numerics(tf.constant(float("nan")), "the number is bad")
    with tf.device("/job:worker/task:0"):
        taken = bad + 1
    try:
        session.run(taken)
    except tf.errors.InvalidArgumentError as error:
        assert "the number is bad" in error.message
    else:
        raise AssertionError("no error")


def devices(session):
    names = [device.name for device in session.list_devices()]
    assert "/job:ps/replica:0/task:0/device:CPU:0" in names, names


def growth(session):
    expect(session.run(tf.constant(5.0) + 1), 6)
    expect(session.run(tf.constant(6.0) + 1), 7)


TRIALS = {
    "devices": devices,
    "training": lambda session: training(session, False),
    "resource variables": lambda session: training(session, True),
    "control flow": control_flow,
    "functions": functions,
    "kinds of values": kinds_of_values,
    "errors": errors,
    "growth": growth,
}
config = tf.ConfigProto(operation_timeout_in_ms=8000)
for name, trial in TRIALS.items():
    try:
        with tf.Graph().as_default(), tf.Session(sys.argv[1], config=config) as session:
            trial(session)
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [repr(error)]
        print(f"{name}: {type(error).__name__}: {' '.join(lines)}")
print("done")
