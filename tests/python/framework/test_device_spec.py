"""Names of devices are taken apart and put together as TensorFlow 1.15 does."""

import pytest
import rheos.v1 as tf

STRINGS = {
    "/job:a/replica:0/task:1/cpu:0": "/job:a/replica:0/task:1/device:CPU:0",
    "/device:GPU:*": "/device:GPU:*",
    "": "",
    "gpu:0": "/device:GPU:0",
    "gpu": "/device:GPU:*",
    "/job:a/CPU": "/job:a/device:CPU:*",
    "/job:a/job:b": "/job:b",
    "/job:*": "/job:*",
    "/device:Funny:2": "/device:Funny:2",
}


@pytest.mark.parametrize("text", STRINGS)
def test_a_string_is_taken_apart(text):
    assert tf.DeviceSpec.from_string(text).to_string() == STRINGS[text]
    assert tf.DeviceSpec(job="x").parse_from_string(text).to_string() == STRINGS[text]


@pytest.mark.parametrize(
    "text",
    ["/job:x/foo:1", "cpu:0:1", "/gpu:a", "/task:*", "/cpu:0/gpu:1", "/device:A", "/device:A:1:2"],
)
def test_what_is_no_device_is_refused(text):
    with pytest.raises(ValueError):
        tf.DeviceSpec.from_string(text)
    with pytest.raises(ValueError):
        tf.DeviceSpec(replica="a")


def test_fields_are_set_and_merged():
    spec = tf.DeviceSpec(job="a", task=1)
    other = tf.DeviceSpec(job="b", device_type="cpu")
    assert spec.make_merged_spec(other).to_string() == "/job:b/task:1/device:CPU:*"
    assert spec.to_string() == "/job:a/task:1"
    spec.merge_from(other)
    spec.job = None
    assert spec == tf.DeviceSpec(task=1, device_type="CPU")
    assert spec.replace(device_index=2).to_string() == "/task:1/device:CPU:2"
    assert tf.DeviceSpec(device_index=1).to_string() == ""
    with pytest.raises(AttributeError):
        spec.nonsense = 1
    with pytest.raises(TypeError):
        spec.replace(nonsense=1)


def test_a_graph_takes_one():
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        assert tf.constant(1).device == "/device:CPU:0"
