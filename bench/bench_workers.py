"""Two workers that train on one parameter server: the time from one step to the next of both.

Each task is a process; TensorFlow's tasks run the same program. Workers begin together, when all
are ready. One JSON object a line.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORKERS, BATCH, SIZES = 2, 128, (784, 512, 512, 10)
WARM_SECONDS, SECONDS, ROUNDS = 2, 5, 3


# ---- A task: bench_workers.py JOB NUMBER FOLDER ADDRESS...


def tensorflow_1():
    try:
        import rheos.v1 as tf
    except ImportError:
        import tensorflow

        tf = tensorflow.compat.v1
        tf.disable_eager_execution()
    return tf


def build(tf, number):
    """A step of asynchronous training, as programs for parameter servers write it."""
    device = "/job:worker/task:%d" % number
    with tf.device(tf.train.replica_device_setter(1, worker_device=device)):
        x = tf.placeholder(tf.float32, [None, SIZES[0]])
        labels = tf.placeholder(tf.int64, [None])
        y = x
        for i, (inputs, outputs) in enumerate(zip(SIZES, SIZES[1:])):
            w = tf.get_variable("w%d" % i, [inputs, outputs])
            b = tf.get_variable("b%d" % i, [outputs], initializer=tf.zeros_initializer())
            y = tf.matmul(y, w) + b
            y = tf.nn.relu(y) if outputs != SIZES[-1] else y
        loss = tf.losses.sparse_softmax_cross_entropy(labels, y)
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
    return x, labels, loss, train


def wait_for_all(folder, name, number):
    (folder / f"{name}{number}").touch()
    while len(list(folder.glob(name + "*"))) < WORKERS:
        time.sleep(0.01)


def work(tf, server, number, folder):
    x, labels, loss, train = build(tf, number)
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % number])
    random = np.random.RandomState(number)
    feed = {x: random.uniform(size=[BATCH, SIZES[0]]), labels: random.randint(0, 10, [BATCH])}
    with tf.Session(server.target, config=config) as session:
        if number == 0:
            session.run(tf.global_variables_initializer())
        wait_for_all(folder, "ready", number)
        first = session.run(loss, feed)
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_SECONDS:
            session.run(train, feed)
        wait_for_all(folder, "warm", number)
        steps, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < SECONDS:
            session.run(train, feed)
            steps += 1
        seconds = time.perf_counter() - begin
        assert session.run(loss, feed) < first
    print(json.dumps({"rate": steps / seconds}), flush=True)
    wait_for_all(folder, "done", number)


def run_task(job, number, folder, *addresses):
    tf = tensorflow_1()
    cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
    server = tf.train.Server(cluster, job_name=job, task_index=int(number))
    if job == "ps":
        server.join()
    work(tf, server, int(number), Path(folder))


# ---- All of them


def free_addresses(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def milliseconds_a_step(python, environment):
    """Of all workers together."""
    addresses = free_addresses(1 + WORKERS)
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            subprocess.Popen(
                [python, __file__, job, str(number), folder, *addresses],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            for job, number in [("ps", 0), *(("worker", i) for i in range(WORKERS))]
        ]  # fmt: skip
        told = [task.communicate(timeout=120)[0] for task in tasks[1:]]
        tasks[0].kill()
        tasks[0].wait()
    return 1e3 / sum(json.loads(text)["rate"] for text in told)


def main():
    sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
    from interpreters import interpreter_of

    peer = interpreter_of("tensorflow")
    own, others = [], []
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for _ in range(ROUNDS):
        own.append(milliseconds_a_step(sys.executable, os.environ))
        if peer is not None:
            others.append(milliseconds_a_step(peer, without))
    row = {"row": "two workers, a parameter server: MLP", "unit": "ms",
           "rheos": statistics.median(own), "spread": [min(own), max(own)]}  # fmt: skip
    if others:
        row["peers"] = {"TensorFlow": statistics.median(others)}
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_task(*sys.argv[1:])
    else:
        main()
