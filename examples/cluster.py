"""Trains a small network on a cluster on this machine: two parameter servers and two workers.

    rheos run examples/cluster.py

A TensorFlow 1 program, run once for each task. Without arguments it starts them all; with a job and
a number it is one of them. Variables live on the parameter servers, in turn; each worker computes
gradients on batches of its own, and applies them when it has them.
"""

import os
import socket
import subprocess
import sys

import numpy as np
import rheos
import tensorflow as tf

STEPS = 100


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def start_all():
    addresses = free_addresses(4)
    command = [sys.executable, "-m", "rheos", "run", __file__]
    package = os.path.dirname(os.path.dirname(rheos.__file__))
    environment = dict(os.environ, PYTHONPATH=package)
    tasks = [
        subprocess.Popen(command + [job, str(number)] + addresses, env=environment)
        for job in ("ps", "worker")
        for number in range(2)
    ]
    ended = [task.wait() for task in tasks[2:]]
    for task in tasks[:2]:  # they serve until they are told to stop
        task.terminate()
        task.wait()
    sys.exit(max(ended))


def points(seed):
    """Points in a square, and whether each is in the circle."""
    random = np.random.RandomState(seed)
    while True:
        x = random.uniform(-1, 1, [64, 2])
        yield x, np.sum(x * x, 1, keepdims=True) < 0.5


def work(server, number):
    with tf.device(tf.train.replica_device_setter(2, worker_device="/job:worker/task:%d" % number)):
        x = tf.placeholder(tf.float32, [None, 2])
        inside = tf.placeholder(tf.float32, [None, 1])
        hidden = tf.layers.dense(x, 32, activation=tf.nn.relu)
        logits = tf.layers.dense(hidden, 1)
        loss = tf.losses.sigmoid_cross_entropy(inside, logits)
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.02).minimize(loss, global_step=step)

    # A worker needs the parameter servers, not the other worker.
    seen = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % number])
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=number == 0, config=seen, log_step_count_steps=None
    ) as session:
        for i, (some, are_inside) in zip(range(STEPS), points(number)):
            feed = {x: some, inside: are_inside}
            value, at, _ = session.run([loss, step, train], feed)
            if i % 33 == 0:
                print("worker %d: step %3d, loss %.3f" % (number, at, value), flush=True)


def main(job, number, *addresses):
    cluster = tf.train.ClusterSpec({"ps": addresses[:2], "worker": addresses[2:]})
    server = tf.train.Server(cluster, job_name=job, task_index=int(number))
    if job == "ps":
        server.join()
    else:
        work(server, int(number))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        start_all()
