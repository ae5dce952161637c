"""Strategies of several replicas for tests, on logical CPUs."""

import pytest
import rheos as tf


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
