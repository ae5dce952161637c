"""Every test starts with an empty default graph."""

import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


@pytest.fixture
def sess():
    """A session on the default graph; what is random in it is the same in every run."""
    tf.set_random_seed(1)
    with tf.Session() as session:
        yield session
