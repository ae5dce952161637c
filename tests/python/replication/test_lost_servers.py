"""Workers and parameter servers that are lost while a coordinator uses them, in processes of their
own."""

import gc
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rheos as tf
from ports import free_port

PACKAGE = str(Path(tf.__file__).resolve().parents[1])
SERVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import rheos as tf
spec = tf.train.ClusterSpec(json.loads(sys.argv[2]))
server = tf.distribute.Server(spec, job_name=sys.argv[3], task_index=int(sys.argv[4]))
print("ready", flush=True)
server.join()
"""


class Servers:
    """Two workers and two parameter servers, each a process."""

    def __init__(self):
        self.jobs = {j: [f"localhost:{free_port()}" for _ in range(2)] for j in ("worker", "ps")}
        self.processes = {}
        for job in self.jobs:
            for task in range(2):
                self.start(job, task)

    def start(self, job, task):
        command = [sys.executable, "-c", SERVER, PACKAGE, json.dumps(self.jobs), job, str(task)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        self.processes[job, task] = process

    def kill(self, job, task):
        self.processes[job, task].kill()
        self.processes[job, task].wait()

    def strategy(self):
        spec = tf.train.ClusterSpec(self.jobs)
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec)
        return tf.distribute.ParameterServerStrategy(resolver)


@pytest.fixture
def servers(grpc):
    made = Servers()
    yield made
    for process in made.processes.values():
        process.kill()
        process.wait()
        process.stdout.close()


def counting(strategy, coordinator):
    """(variables of both servers, a function that counts in them, its argument)."""
    with strategy.scope():
        counts = [tf.Variable(0), tf.Variable(0)]
    numbers = coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(9).repeat())
    iterator = iter(numbers)

    @tf.function
    def count(iterator):
        for variable in counts:
            variable.assign_add(1)
        return next(iterator)

    return counts, count, iterator


def test_others_do_the_work_of_a_lost_worker_until_it_is_back(servers):
    strategy = servers.strategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    counts, count, iterator = counting(strategy, coordinator)
    values = [coordinator.schedule(count, args=(iterator,)) for _ in range(600)]
    values[100].get()
    servers.kill("worker", 1)
    coordinator.join()
    for variable in counts:  # a step that was cut off may have counted, and was made once more
        assert 600 <= variable.numpy() <= 601
    assert all(0 <= value.fetch() < 9 for value in values)

    servers.start("worker", 1)
    index = tf.distribute.coordinator.experimental_get_current_worker_index
    who = tf.function(lambda iterator: (index(), next(iterator)))
    end = time.monotonic() + 30
    while coordinator.schedule(who, args=(iterator,)).fetch()[0] != 1:
        assert time.monotonic() < end


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_lost_parameter_server_is_an_error(servers, comes_back):
    strategy = servers.strategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    _, count, iterator = counting(strategy, coordinator)
    coordinator.schedule(count, args=(iterator,))
    coordinator.join()
    servers.kill("ps", 1)
    if comes_back:
        servers.start("ps", 1)
    value = coordinator.schedule(count, args=(iterator,))
    with pytest.raises(tf.errors.UnavailableError, match="parameter server is lost"):
        coordinator.join()
    with pytest.raises(tf.errors.UnavailableError):
        value.fetch()


def test_servers_forget_variables_that_nothing_uses(served):
    def function_of_a_variable():
        with served.scope():
            variable = tf.Variable(1.0)
        return tf.function(lambda: variable + 1.0)

    function = function_of_a_variable()
    gc.collect()
    assert function().numpy() == 2  # functions capture its handle
    session = served.extended._cluster.session
    known = len(session.resources)
    del function
    gc.collect()
    with served.scope():
        tf.Variable(2.0)
    assert len(session.resources) == known
