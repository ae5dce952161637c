"""ConfigProto's switches for what a session rewrites when it plans a step."""

import numpy as np
import pytest
import rheos.v1 as tf


def run(config):
    """A value that is written four times: its value, and the bytes of the intermediates."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [1000])
        copies = [tf.exp(x) for _ in range(4)]
        y = tf.add_n(copies)
        with tf.Session(config=config) as session:
            value = session.run(y, {x: np.linspace(-1, 1, 1000, dtype=np.float32)})
            return value, session._stats()["arena_bytes"]


def config(**toggles):
    options = tf.GraphOptions()
    for name, value in toggles.items():
        setattr(options.rewrite_options, name, value)
    return tf.ConfigProto(graph_options=options)


@pytest.mark.parametrize(
    "off",
    [
        config(disable_meta_optimizer=True),
        config(common_subgraph_elimination=2),
        tf.ConfigProto(
            graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
        ),
    ],
)
def test_rules_can_be_turned_off(off):
    value, small = run(None)
    same_value, large = run(off)
    assert value.tobytes() == same_value.tobytes()
    assert small < large


def test_handles_pass_through_identities_that_stay():
    v = tf.get_variable("v", [2], use_resource=True, initializer=tf.zeros_initializer())
    handle = tf.stop_gradient(tf.identity(v.handle))
    assign = tf.raw_ops.AssignVariableOp(resource=handle, value=[1.0, 2.0])
    for toggle in (1, 2):
        with tf.Session(config=config(dependency_optimization=toggle)) as session:
            session.run(v.initializer)
            session.run(assign)
            assert session.run(v).tolist() == [1, 2]


def test_other_groups_stay_on():
    assert run(config(arithmetic_optimization=2, remapping=2))[1] == run(None)[1]


def test_the_jit_level_changes_no_bits():
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.ON_1):
        x = tf.placeholder(tf.float32, [64])
        y = tf.abs(x * 0.5 + 0.1) - x
        options = tf.OptimizerOptions(global_jit_level=level)
        config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
        with tf.Session(config=config) as sess:
            values = np.arange(64, dtype=np.float32)
            expected = np.abs(values * np.float32(0.5) + np.float32(0.1)) - values
            np.testing.assert_array_equal(sess.run(y, {x: values}), expected)
