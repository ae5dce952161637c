"""The name of the device: that of the host, wherever programs are told of it."""

import pytest
import rheos as tf
import rheos.v1 as tf1
from rheos.contrib import eager
from rheos.v1._insides import device_lib


def test_all_who_tell_the_device_tell_what_a_session_tells():
    with tf1.Session() as session:
        names = [device.name for device in session.list_devices()]
    assert tf.constant(1.0).device == tf.constant(1.0).backing_device == names[0]
    assert tf1.config.experimental_list_devices() == eager.list_devices() == names
    extended = tf.distribute.get_strategy().extended
    assert extended.worker_devices == extended.parameter_devices == (names[0],)


def test_errors_name_the_device():
    with tf1.Session() as session:
        device = session.list_devices()[0]
    try:
        tf.matmul([[1.0]], [[1.0], [2.0]])
    except tf.errors.InvalidArgumentError as error:
        assert f"_device_{device.name}}}}}" in str(error)
    else:
        raise AssertionError("the product was made")


def test_local_devices_are_named_without_the_task():
    config = tf1.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    names = [device.name for device in device_lib.list_local_devices(config)]
    assert names == ["/device:CPU:0", "/device:CPU:1"]


def test_a_session_tells_of_each_device():
    config = tf1.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    with tf1.Session(config=config) as session:
        devices = session.list_devices()
        assert session.list_devices() == devices
    assert [device.name[-6:] for device in devices] == [":CPU:0", ":CPU:1"]
    assert {device.device_type for device in devices} == {"CPU"}
    assert {device.memory_limit_bytes for device in devices} == {268435456}
    assert devices[0].incarnation != devices[1].incarnation
    name, incarnation = devices[0].name, devices[0].incarnation
    assert repr(devices[0]) == f"_DeviceAttributes({name}, CPU, 268435456, {incarnation})"


def test_programs_may_insist_on_their_devices():
    missing = "Could not satisfy device specification '/job:localhost/replica:0/task:0/device:"
    tf.config.set_soft_device_placement(False)
    try:
        for device in ("/cpu:7", "/gpu:9", "/job:localhost/gpu:9"):
            with pytest.raises(tf.errors.InvalidArgumentError, match=missing):
                with tf.device(device):
                    pass
        with tf.device("/cpu:0"), tf.device("/job:localhost"), tf.device(None):
            assert tf.constant(1.0).numpy() == 1
    finally:
        tf.config.set_soft_device_placement(True)
    with tf.device("/gpu:9"):
        assert tf.sin(0.0).numpy() == 0
