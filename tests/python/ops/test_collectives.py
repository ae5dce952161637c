"""Collectives of the devices of a session, as programs write them."""

import numpy as np
import pytest
import rheos.v1 as tf

ops = tf.raw_ops


def run(fetches, devices=2):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": devices, "GPU": 0})) as session:
        return session.run(fetches)


def on_devices(make, devices=2):
    """What `make(i)` gives on each device."""
    made = []
    for i in range(devices):
        with tf.device(f"/cpu:{i}"):
            made.append(make(i))
    return made


def reduce(x, instance, merge="Add", final="Id", size=2):
    return ops.CollectiveReduce(
        input=x, group_size=size, group_key=1, instance_key=instance, merge_op=merge,
        final_op=final, subdiv_offsets=[0])  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_each_dtype_is_merged(dtype):
    x = [np.array([3, -2, 7], dtype), np.array([5, 4, -9], dtype)]
    merges = {"Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}
    with tf.Graph().as_default():
        sums = [on_devices(lambda i, k=k, merge=merge: reduce(x[i], k, merge))
                for k, merge in enumerate(merges)]  # fmt: skip
        for values, merge in zip(run(sums), merges.values(), strict=True):
            for value in values:
                assert value.dtype == x[0].dtype
                assert value.tolist() == merge(*x).tolist()


def test_keys_may_be_tensors():
    with tf.Graph().as_default():
        key = tf.placeholder_with_default(5, [])
        means = on_devices(
            lambda i: ops.CollectiveReduceV2(
                input=[1.0 + i, 4.0], group_size=3, group_key=key, instance_key=key + 1,
                ordering_token=[], merge_op="Add", final_op="Div"), devices=3)  # fmt: skip
        assert [value.tolist() for value in run(means, devices=3)] == [[2, 4]] * 3


def test_a_loop_uses_its_keys_again():
    """Each trip is a round: the values of all devices grow together."""

    def trip(i, x, y):
        return (i + 1, *on_devices(lambda k: reduce((x, y)[k] + float(k), 1)))

    with tf.Graph().as_default():
        _, x, y = tf.while_loop(lambda i, x, y: i < 4, trip, [0, 1.0, 1.0])
        assert run([x, y]) == [31, 31]  # 2 x + 1 each time


def test_a_function_may_hold_a_group():
    with tf.Graph().as_default():

        @tf.function
        def both(x):
            return tf.stack(on_devices(lambda i: reduce(x * (i + 1.0), 1)))

        first = both(tf.constant(1.0))
        with tf.control_dependencies([first]):
            second = both(tf.constant(100.0))
        assert [value.tolist() for value in run([first, second])] == [[3, 3], [300, 300]]


def test_errors_name_the_operation_and_the_keys():
    with tf.Graph().as_default():
        wrong = on_devices(lambda i: reduce(tf.zeros([2 + i]), 9))
        with pytest.raises(tf.errors.InvalidArgumentError, match="collective instance 9.*CPU:"):
            run(wrong)
        with pytest.raises(tf.errors.InvalidArgumentError, match="there are 1 devices"):
            run(wrong[0], devices=1)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            alone = reduce(tf.zeros([2]), 10)
            options = tf.RunOptions(timeout_in_ms=50)
            with pytest.raises(tf.errors.DeadlineExceededError, match="group 1, instance 10"):
                session.run(alone, options=options)
