"""What a client of tools/clusters/chaos does: chaos_client.py TARGET plain|monitored FOLDER.

Trains a small net in place, deterministically: variables on both parameter servers, a tower on
each worker, the mean of their gradients. Batches are a function of the step's number. Prints a line
for each step, each error, and last the weights. Runs on Rheos and on TensorFlow of either version.
"""

import contextlib
import sys
import time

import numpy as np

try:
    import rheos.v1 as tf
except ImportError:
    import tensorflow

    tf = tensorflow if tensorflow.__version__.startswith("1") else tensorflow.compat.v1
    if tf is not tensorflow:
        tf.disable_eager_execution()

STEPS = 60
WORKERS = 3
RATE = 0.0625


def say(*words):
    print(*words, "%.3f" % time.monotonic(), flush=True)


def batches(step):
    """x and t of each worker at that step, computed alike by NumPy and by the graph."""
    numbers = np.arange(24, dtype=np.float64).reshape(WORKERS, 4, 2)
    x = np.sin(numbers * 0.7 + step * 0.31)
    return x, np.cos(x.sum(2, keepdims=True))


def tower(step, worker, w, b):
    with tf.device("/job:worker/task:%d" % worker):
        numbers = np.arange(24, dtype=np.float64).reshape(WORKERS, 4, 2)[worker]
        x = tf.sin(numbers * 0.7 + tf.cast(step, tf.float64) * 0.31)
        t = tf.cos(tf.reduce_sum(x, 1, keepdims=True))
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w)) + b - t))
        return [loss, *tf.gradients(loss, [w, b])]


def build():
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [2, 1], tf.float64, tf.constant_initializer(0.5))
    with tf.device("/job:ps/task:1"):
        b = tf.get_variable("b", [1], tf.float64, tf.zeros_initializer())
    towers = [tower(step.value(), worker, w, b) for worker in range(WORKERS)]
    loss, by_w, by_b = [tf.add_n(parts) / WORKERS for parts in zip(*towers)]
    optimizer = tf.train.GradientDescentOptimizer(RATE)
    train = optimizer.apply_gradients([(by_w, w), (by_b, b)])
    with tf.control_dependencies([train]), tf.device("/job:ps/task:0"):
        counted = tf.assign_add(step, 1)
    return step, w, b, loss, counted


def weights_after(steps):
    """The same training in NumPy: a loss for each step, and the weights."""
    w, b, losses = np.full([2, 1], 0.5), np.zeros([1]), []
    for step in range(steps):
        by_w, by_b, loss = np.zeros_like(w), np.zeros_like(b), 0
        for x, t in zip(*batches(step)):
            y = np.tanh(x @ w)
            off = y + b - t
            loss += np.mean(off**2) / WORKERS
            by_w += x.T @ (2 * off / len(x) * (1 - y**2)) / WORKERS
            by_b += np.sum(2 * off / len(x), 0) / WORKERS
        losses.append(loss)
        w, b = w - RATE * by_w, b - RATE * by_b
    return losses, w, b


@contextlib.contextmanager
def told_errors():
    """What programs expect of a task that is lost."""
    try:
        yield
    except (
        tf.errors.UnavailableError, tf.errors.DeadlineExceededError, tf.errors.AbortedError,
    ) as error:  # fmt: skip
        say("error", type(error).__name__, " ".join(str(error).split()))


def run_plain(target, built):
    """Until a step fails; every value before that is right."""
    step, w, b, loss, counted = built
    losses, wanted_w, wanted_b = weights_after(STEPS)
    with tf.Session(target) as session, told_errors():
        session.run(tf.global_variables_initializer())
        for i in range(STEPS):
            value, number = session.run([loss, counted])
            say("step", number)
            assert number == i + 1, (number, i)
            np.testing.assert_allclose(value, losses[i], rtol=1e-9)
            time.sleep(0.01)
        check_weights(session.run([w, b]), [wanted_w, wanted_b])


def check_weights(found, wanted):
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    say("weights are right")


class TellErrors(tf.train.SessionRunHook):
    def after_create_session(self, session, coord):
        say("session")


def run_monitored(target, folder, built):
    step, w, b, loss, counted = built
    losses, wanted_w, wanted_b = weights_after(STEPS)
    session = tf.train.MonitoredTrainingSession(
        target, checkpoint_dir=folder, save_checkpoint_secs=None, save_checkpoint_steps=5,
        save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None,
        hooks=[tf.train.StopAtStepHook(last_step=STEPS), TellErrors()],
    )  # fmt: skip
    with session:
        while not session.should_stop():
            value, number = session.run([loss, counted])
            say("step", number)
            np.testing.assert_allclose(value, losses[number - 1], rtol=1e-9)
            time.sleep(0.01)
    saved = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
    assert saved.get_tensor("global_step") == STEPS
    check_weights([saved.get_tensor("w"), saved.get_tensor("b")], [wanted_w, wanted_b])


def main(target, mode, folder):
    if mode == "plain":
        run_plain(target, build())
    else:
        with told_errors():
            run_monitored(target, folder, build())


main(*sys.argv[1:])
