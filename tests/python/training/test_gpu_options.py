"""Which graphics cards programs ask for, under which numbers, and with how much memory: gpu_options
of version 1 and tf.config of version 2."""

from card_process import check_program

FIRST = """
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)


def session(soft=False, device_count=None, **options):
    return tf.Session(config=tf.ConfigProto(
        gpu_options=tf.GPUOptions(**options), allow_soft_placement=soft, device_count=device_count))


def cards(**options):
    with session(**options) as s:
        return [(d.name.rpartition("device:")[2], d.memory_limit_bytes)
                for d in s.list_devices() if d.device_type == "GPU"]


def fails(expected, **options):
    try:
        session(**options)
    except tf.errors.InvalidArgumentError as error:
        assert expected in str(error), error
    else:
        raise AssertionError(options)
"""


def test_gpu_options():
    check_program(
        FIRST
        + """
names = lambda **options: [name for name, _ in cards(**options)]
assert names() == names(allow_growth=True) == ["GPU:0", "GPU:1"]
assert names(visible_device_list="1") == ["GPU:0"]
assert names(visible_device_list="1,0") == ["GPU:0", "GPU:1"]
assert names(device_count={"GPU": 1}) == ["GPU:0"]
assert names(device_count={"GPU": 0}) == []
whole, quarter = cards()[0][1], cards(per_process_gpu_memory_fraction=0.2)[0][1]
assert abs(quarter * 4 / whole - 1) < 0.01, (whole, quarter)  # of four fifths

fails("Could not parse entry in 'visible_device_list': 'x'. visible_device_list = 0,x",
      visible_device_list="0,x")
fails("Could not parse entry", visible_device_list="0,")
fails("'visible_device_list' listed an invalid Device id '2' but visible device count is 2",
      visible_device_list="2")
fails("'-1'", visible_device_list="-1")
fails("visible_device_list contained a duplicate entry: 1,1", visible_device_list="1,1")

Virtual = tf.GPUOptions.Experimental.VirtualDevices
parts = tf.GPUOptions.Experimental(virtual_devices=[Virtual(memory_limit_mb=[64, 32])])
assert cards(experimental=parts) == [("GPU:0", 64 << 20), ("GPU:1", 32 << 20)]
fails("It's invalid to set per_process_gpu_memory_fraction when virtual_devices is set.",
      experimental=parts, per_process_gpu_memory_fraction=0.5)
fails("The number of GPUs in visible_device_list doesn't match", experimental=parts,
      visible_device_list="0,1")

# A step that needs more than the part has says so, and the session goes on.
with tf.device("/gpu:0"):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.reduce_sum(tf.tile(x, [1 << 20])) / tf.cast(tf.size(x), tf.float32)
with session(True, experimental=parts) as s:
    assert s.run(y, {x: [1.0]}) == 1 << 20
    try:
        s.run(y, {x: [1.0] * 64})
    except tf.errors.ResourceExhaustedError as error:
        assert "out of memory" in str(error) and "Tile" in str(error), error
    else:
        raise AssertionError("it has 64 MB")
    assert s.run(y, {x: [1.0]}) == 1 << 20
""",
        cards=2,
    )


SECOND = """
import numpy as np
import rheos.v2 as tf

cards = tf.config.list_physical_devices("GPU")
if not cards:
    raise SystemExit(77)


def fails(error, call, *args):
    try:
        call(*args)
    except error as raised:
        return str(raised)
    raise AssertionError("it did not fail")
"""


def test_visible_devices_and_their_parts():
    check_program(
        SECOND
        + """
config = tf.config
Part = config.LogicalDeviceConfiguration
assert len(cards) == 2
config.set_visible_devices(cards[1], "GPU")
assert config.get_visible_devices("GPU") == [cards[1]]
assert [d.name for d in config.list_logical_devices("GPU")] == ["/device:GPU:0"]
config.set_logical_device_configuration(cards[1], [Part(memory_limit=48), Part(memory_limit=16)])
assert len(config.list_logical_devices("GPU")) == 2
fails(ValueError, config.experimental.set_memory_growth, cards[1], True)

with tf.device("/gpu:1"):
    a = tf.ones([1000])
    fails(tf.errors.ResourceExhaustedError, tf.ones, [5 << 20])
assert a.device.endswith("GPU:1")
with tf.device("/gpu:0"):
    b = tf.ones([5 << 20]) + 1  # 40 MB
assert float(a[0] + b[0]) == 3
info = config.experimental.get_memory_info
assert 4000 <= info("GPU:1")["current"] < 1 << 20
assert info("GPU:0")["current"] >= 20 << 20
assert info("GPU:0")["peak"] >= 40 << 20
del b
assert info("GPU:0")["current"] < 1 << 20
config.experimental.reset_memory_stats("GPU:0")
assert info("GPU:0")["peak"] < 1 << 20
assert "No matching devices" in fails(ValueError, info, "GPU:2")
assert info("CPU:0") == {"current": 0, "peak": 0}

assert "cannot be modified" in fails(RuntimeError, config.set_visible_devices, cards, "GPU")
assert config.get_visible_devices("GPU") == [cards[1]]
fails(RuntimeError, config.set_logical_device_configuration, cards[1], [Part()])
assert config.get_logical_device_configuration(cards[1])[0].memory_limit == 48
assert config.experimental.get_device_details(cards[0])["device_name"]
""",
        cards=2,
    )


def test_hidden_cards():
    check_program(
        SECOND
        + """
tf.config.set_visible_devices([], "GPU")
assert tf.config.list_logical_devices("GPU") == []
x = tf.constant([1.0]) * 2
assert x.device.endswith("CPU:0")
fails(tf.errors.InvalidArgumentError, x.gpu)
tf.config.set_soft_device_placement(False)
with tf.device("/cpu:0"):
    x + 1
error = fails(tf.errors.InvalidArgumentError, tf.device("/gpu:0").__enter__)
assert "device:CPU:0" in error and "Supported device types [CPU]" in error, error
"""
    )
