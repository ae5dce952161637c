"""Strategies of several replicas for tests, on logical CPUs."""

import pytest
import rheos as tf
from ports import free_port


@pytest.fixture
def cpus():
    """A function that gives a MirroredStrategy over so many CPUs."""
    (cpu,) = tf.config.list_physical_devices("CPU")

    def strategy_of(count):
        parts = [tf.config.LogicalDeviceConfiguration()] * count
        tf.config.set_logical_device_configuration(cpu, parts)
        return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])

    yield strategy_of
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])


@pytest.fixture
def strategy(cpus):
    """A strategy of two replicas."""
    return cpus(2)


@pytest.fixture
def resolver_of(grpc):
    """A function that starts servers in this process, and gives the resolver of their cluster."""

    def resolver_of(workers=2, servers=2):
        addresses = [f"localhost:{free_port()}" for _ in range(workers + servers)]
        jobs = {"worker": addresses[:workers], "ps": addresses[workers:]}
        spec = tf.train.ClusterSpec(jobs)
        for job, tasks in jobs.items():
            for task in range(len(tasks)):
                tf.distribute.Server(spec, job_name=job, task_index=task)
        return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")

    return resolver_of


@pytest.fixture
def served(resolver_of):
    """A ParameterServerStrategy over two workers and two parameter servers."""
    return tf.distribute.ParameterServerStrategy(resolver_of())
