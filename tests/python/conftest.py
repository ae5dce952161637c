"""Every test starts with an empty default graph, in the mode of its module's face."""

import sys
from pathlib import Path

import google.protobuf
import pytest
import rheos
import rheos.v1 as tf
from rheos.framework import eager, tensor_shape


@pytest.fixture(autouse=True)
def mode_of_the_face(request):
    # Whichever module imported version 2's face first, its mode is not that of the others.
    if getattr(request.module, "tf", None) in (rheos, sys.modules.get("rheos.v2", rheos)):
        eager.enable_eager_execution()
        tensor_shape.enable_v2_tensorshape()
    else:
        eager.disable_eager_execution()
        tensor_shape.disable_v2_tensorshape()
    yield
    eager.disable_eager_execution()
    tensor_shape.disable_v2_tensorshape()


@pytest.fixture(autouse=True)
def fresh_graph(mode_of_the_face):
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


@pytest.fixture(scope="session")
def grpc():
    """What tests of clusters need: they are skipped only where no transport was built."""
    library = Path(rheos.__file__).resolve().parents[2] / "lib" / "librheos-grpc.so"
    try:
        tf.train.Server.create_local_server()
    except tf.errors.UnimplementedError as error:
        assert not library.exists(), error
        pytest.skip(str(error))


@pytest.fixture
def sess():
    """A session on the default graph; what is random in it is the same in every run."""
    tf.set_random_seed(1)
    with tf.Session() as session:
        yield session


@pytest.fixture
def debians_protobuf():
    """Later ones print floats shorter and maps in any order, some of them quotes without a mark."""
    version = tuple(int(part) for part in google.protobuf.__version__.split(".")[:2])
    if version > (4, 21):
        pytest.skip("the text of messages is another one with this protobuf")
