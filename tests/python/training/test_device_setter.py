"""Where replica_device_setter puts operations; the devices are those that TensorFlow 1.15 gives."""

import pytest
import rheos.v1 as tf

CLUSTER = {"ps": ["a:1", "b:1"], "worker": ["c:1"]}


def devices_of(variables):
    return [v.device for v in variables]


def test_variables_go_round_the_parameter_servers():
    with tf.device(tf.train.replica_device_setter(cluster=CLUSTER)):
        vs = [tf.get_variable(f"v{i}", [2], use_resource=i == 1) for i in range(3)]
        x = tf.add_n([v + 1 for v in vs])
    assert devices_of(vs) == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert x.device == "/job:worker"
    assert [v.initializer.device for v in vs] == devices_of(vs)


def test_slots_and_their_initializers_lie_with_their_variables():
    with tf.device(tf.train.replica_device_setter(cluster=CLUSTER)):
        vs = [tf.get_variable(f"v{i}", [2], use_resource=True) for i in range(2)]
        optimizer = tf.train.AdamOptimizer()
        optimizer.minimize(tf.add_n([tf.reduce_sum(v) for v in vs]))
    for v in vs:
        slot = optimizer.get_slot(v, "m")
        assert slot.device == slot.initializer.device == v.device


def test_what_an_operation_asks_for_counts():
    setter = tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:7/cpu:0")
    with tf.device(setter):
        with tf.device("/cpu:0"):
            a = tf.get_variable("a", [2])
        with tf.device("/job:other"):
            b = tf.get_variable("b", [2])
        with tf.device("/job:ps"):
            c = tf.get_variable("c", [2])
        with tf.device("/job:else"):
            x = tf.constant(1)
    assert devices_of([a, b, c]) == ["/job:ps/task:0/device:CPU:0", "/job:other", "/job:ps/task:1"]
    assert x.device == "/job:else/task:7/device:CPU:0"


def test_devices_that_are_not_merged():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, merge_devices=False)):
        with tf.device("/cpu:0"):
            x = tf.constant(1)
        y = tf.constant(1)
    assert (x.device, y.device) == ("/device:CPU:0", "/job:worker")


def test_a_node_def_is_an_operation_too():
    choose = tf.train.replica_device_setter(ps_tasks=1)
    assert choose(tf.NodeDef(op="VariableV2")) == "/job:ps/task:0"
    assert choose(tf.NodeDef(op="Add", device="/cpu:0")) == "/job:worker/device:CPU:0"


def test_types_and_strategy_may_be_given():
    setter = tf.train.replica_device_setter(
        ps_tasks=3, ps_ops=["Const"], ps_strategy=lambda op: int(op.name)
    )
    with tf.device(setter):
        x, v = tf.constant(1, name="2"), tf.get_variable("v", [2])
    assert (x.device, v.device) == ("/job:ps/task:2", "/job:worker")


def test_the_greedy_strategy_balances_bytes():
    training = tf.contrib.training
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(cluster=CLUSTER, ps_strategy=strategy)):
        vs = [tf.get_variable(f"v{i}", [size]) for i, size in enumerate((10, 3, 4, 2, 3))]
    assert [v.device[-1] for v in vs] == ["0", "1", "1", "1", "1"]


def test_the_random_strategy_goes_by_names():
    with tf.device(
        tf.train.replica_device_setter(
            ps_tasks=2, ps_strategy=tf.contrib.training.RandomStrategy(2, 3)
        )
    ):
        vs = [tf.get_variable(f"v{i}", [2]) for i in range(8)]
    assert "".join(v.device[-1] for v in vs) == "11101001"


def test_the_load_of_an_operation_is_its_bytes():
    load = tf.contrib.training.byte_size_load_fn
    assert load(tf.constant([1.0, 2]).op) == 8
    assert load(tf.placeholder(tf.int64, [3]).op) == 24
    with pytest.raises(ValueError, match="must have a single output"):
        load(tf.split(tf.zeros([4]), 2)[0].op)
    with pytest.raises(ValueError, match="not fully defined"):
        load(tf.placeholder(tf.float32, [None]).op)


def test_without_parameter_servers_there_is_no_function():
    setter = tf.train.replica_device_setter
    assert setter() is None and setter(cluster={"x": ["a:1"]}) is None
    assert setter(cluster={"ps": ["a:1"]}, ps_device="/job:z") is None
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        setter(ps_tasks=1, ps_strategy=3)
    with pytest.raises(TypeError, match="`cluster` must be a dictionary"):
        setter(cluster=3)
