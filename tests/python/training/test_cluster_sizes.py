"""The formulas for the sizes of clusters: against the simulation, and bytes against a cluster."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos
import rheos.v1 as tf

TOOLS = Path(__file__).resolve().parents[3] / "tools/clusters"
BUILD = Path(rheos.__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tools():
    sys.path.insert(0, str(TOOLS))
    yield runpy.run_path(str(TOOLS / "sizes"), run_name="sizes")
    sys.path.remove(str(TOOLS))


def cluster_of(tools, **changes):
    sizes = {"workers": 8, "servers": 2, "variables": 100e6, "compute": 0.2, "link": 1.25e9}
    return tools["Cluster"](**{**sizes, **changes})


@pytest.mark.parametrize("workers", [1, 8, 64, 256])
@pytest.mark.parametrize("link", [1.25e9, 12.5e9])
def test_synchronous_steps_are_simulated_alike(tools, workers, link):
    c = cluster_of(tools, workers=workers, link=link, jitter=0)
    assert tools["simulate"](c, True) == pytest.approx(tools["synchronous"](c), rel=0.02)


def test_a_worker_alone_never_waits(tools):
    c = cluster_of(tools, workers=1, servers=4, jitter=0, update=1e15)
    assert tools["simulate"](c, False) == pytest.approx(tools["asynchronous"](c), rel=0.02)


@pytest.mark.parametrize("servers", [1, 8])
@pytest.mark.parametrize("workers", [8, 64])
def test_asynchronous_steps_are_between_two_bounds(tools, workers, servers):
    """None is faster than the formula; none is slower than if all transfers met."""
    c = cluster_of(tools, workers=workers, servers=servers)
    simulated = tools["simulate"](c, False)
    assert 0.95 * tools["asynchronous"](c) < simulated < 1.05 * tools["synchronous"](c)


def test_the_fullest_server_counts(tools):
    even, uneven = cluster_of(tools, jitter=0), cluster_of(tools, jitter=0, largest=0.8)
    assert tools["bytes_of_server"](uneven) == pytest.approx(1.6 * tools["bytes_of_server"](even))
    simulated = [tools["simulate"](c, True) for c in (even, uneven)]
    assert simulated[1] > 1.4 * simulated[0]


@pytest.fixture
def bytes_of_steps(tools, grpc, tmp_path):
    """Runs steps with a worker and two servers; the mean of what goes over counted links in one."""
    if not (BUILD / "bin/rheos").exists():
        pytest.skip("the command was not built")
    from processes import Task, start_tasks

    tasks = [Task("ps", 0), Task("ps", 1), Task("worker", 0)]
    worker = tasks[2]

    def bytes_of_steps(run, steps=5):
        with tf.Session(f"grpc://localhost:{worker.port}") as session:
            session.run(tf.global_variables_initializer())
            run(session)
            # What a server sends goes by the worker's links if that asked for it, or by its own.
            links = [worker.links[ps] for ps in tasks[:2]] + [ps.links[worker] for ps in tasks[:2]]
            before = [link.there + link.back for link in links]
            for _ in range(steps):
                run(session)
            return (sum(link.there + link.back for link in links) - sum(before)) / steps

    try:
        start_tasks(tasks, tmp_path, BUILD)
        yield bytes_of_steps
    finally:
        for task in tasks:
            task.end()


def on_two_servers():
    return tf.device(tf.train.replica_device_setter(2, worker_device="/job:worker/task:0"))


def test_bytes_of_a_step_are_as_many_as_the_formula_says(tools, bytes_of_steps):
    """A worker reads variables of two servers and sends their gradients."""
    size = 250_000
    with on_two_servers():
        w = [tf.get_variable(f"w{i}", [size], initializer=tf.ones_initializer()) for i in range(2)]
        x = tf.placeholder(tf.float32, [])
        loss = sum(tf.reduce_sum(tf.square(x * one)) for one in w)
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    passed = bytes_of_steps(lambda session: session.run(train, {x: 1}))
    c = cluster_of(tools, workers=1, variables=np.float32(0).nbytes * 2 * size)
    assert passed == pytest.approx(2 * tools["bytes_of_worker"](c), rel=0.02)


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_that_nobody_looks_up_stay_where_they_are(bytes_of_steps, use_resource):
    """Of a partitioned embedding of 20 MB a step moves the rows of a batch, and their gradients."""
    rows, width, batch = 100_000, 50, 200
    ids = np.random.RandomState(1).randint(0, rows, batch)
    with on_two_servers():
        w = tf.get_variable(
            "w", [rows, width], partitioner=tf.fixed_size_partitioner(2), use_resource=use_resource
        )
        found = tf.nn.embedding_lookup(w, tf.constant(ids))
        loss = tf.reduce_sum(tf.square(found))
        train = tf.train.AdagradOptimizer(0.01).minimize(loss)
    passed = bytes_of_steps(lambda session: session.run(train))
    moved = 2 * batch * width * np.float32(0).nbytes
    assert moved < passed < 1.5 * moved
