"""Eager operations the quick way and the slow one, and what computes gradients of them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from rheos.framework import eager, errors


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2

    eager.enable_eager_execution()
    yield rheos.v2
    eager.disable_eager_execution()


# ---- Inputs


def test_numbers_take_the_dtype_of_the_tensor_on_either_side(tf):
    wide = tf.constant([1.0, 2.0], tf.float64)
    assert tf.add(wide, 1).dtype == tf.float64
    assert tf.subtract(1, wide).numpy().tolist() == [0, -1]
    assert tf.multiply(tf.Variable([1, 2], dtype=tf.int64), [3, 4]).dtype == tf.int64


def test_numbers_alone_have_their_own_dtype(tf):
    assert tf.add(1, 2).dtype == tf.int32
    assert tf.square(2.5).dtype == tf.float32
    assert tf.exp(np.float64(0)).dtype == tf.float64


def test_what_does_not_fit_is_refused_either_way(tf):
    with pytest.raises(errors.InvalidArgumentError, match="expected to be a float tensor"):
        tf.add(tf.constant(1.0), tf.constant(1))
    with pytest.raises((TypeError, errors.InvalidArgumentError)):
        tf.add(tf.constant(1), 1.5)
    with pytest.raises(errors.InvalidArgumentError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    with pytest.raises(ValueError):
        tf.exp(object())


def test_lists_of_tensors_are_packed_and_have_gradients(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square([x, 2 * x]))
    assert tape.gradient(y, x).numpy() == 30


def test_a_graph_inside_gets_nodes(tf):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.add(1, 2)
    assert not hasattr(x, "numpy") or not x._is_eager
    assert x.graph is graph


def test_slices_by_numbers_and_by_tensors_are_the_same(tf):
    x = tf.reshape(tf.range(24), [2, 3, 4])
    array = x.numpy()
    np.testing.assert_array_equal(x[1, ::-1, 1:3], array[1, ::-1, 1:3])
    np.testing.assert_array_equal(x[..., -1], array[..., -1])
    np.testing.assert_array_equal(x[tf.constant(1), : tf.constant(2)], array[1, :2])
    np.testing.assert_array_equal(x[:, tf.newaxis, 0], array[:, None, 0])
    with pytest.raises((errors.InvalidArgumentError, IndexError)):
        x[5]


# ---- Gradients


def test_the_gradient_of_a_function_does_not_run_it_again(tf):
    runs = tf.Variable(0.0, trainable=False)

    @tf.function
    def scaled(x):
        return tf.exp(x) * x * runs.assign_add(1.0)

    x = tf.constant(1.0)
    for times in (1, 2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        slope = tape.gradient(y, x).numpy()
        np.testing.assert_allclose(slope, 2 * np.e * times, rtol=1e-5)
        assert runs.numpy() == times


def test_forward_accumulators_give_directional_derivatives(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as accumulator:
        y = tf.reduce_sum(x * x * x)
    assert accumulator.jvp(y).numpy() == 9.0  # 3 * 1 + 12 * 0.5


def test_recomputed_gradients_run_the_function_again(tf):
    runs = []

    def cube(x):
        runs.append(1)
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(cube)(x)
    before = len(runs)
    assert tape.gradient(y, x).numpy() == 12
    assert len(runs) > before


# ---- Random numbers and settings


def test_generators_of_one_seed_agree_and_go_on(tf):
    first, second = (tf.random.Generator.from_seed(7) for _ in range(2))
    values = first.normal([3]).numpy()
    np.testing.assert_array_equal(values, second.normal([3]).numpy())
    assert (values != first.normal([3]).numpy()).all()
    whole = first.uniform([100], 5, 8, dtype=tf.int32).numpy()
    assert set(whole) == {5, 6, 7}
    first.reset_from_seed(7)
    np.testing.assert_array_equal(values, first.normal([3]).numpy())
    one, other = first.split(2)
    assert one.normal([]).numpy() != other.normal([]).numpy()


def test_the_processor_is_the_first_device(tf):
    (device,) = tf.config.list_physical_devices("CPU")
    assert device.device_type == "CPU"
    cards = [f"/device:GPU:{i}" for i in range(len(tf.config.list_physical_devices("GPU")))]
    assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", *cards]


def test_threads_are_said_before_the_first_operation():
    code = """
import rheos as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
assert tf.config.threading.get_intra_op_parallelism_threads() == 1
v = tf.Variable([1.0, 2.0])
assert tf.reduce_sum(v * 2.0).numpy() == 6
try:
    tf.config.threading.set_intra_op_parallelism_threads(2)
except RuntimeError as error:
    assert "cannot be modified after initialization" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_variable_never_changes_what_it_was_given(tf):
    given = tf.constant([1.0, 2.0])
    made, assigned = tf.Variable(given), tf.Variable([0.0, 0.0])
    assigned.assign(given)
    for variable in (made, assigned):
        variable.assign_add([10.0, 10.0])
        variable[0].assign(7.0)
        assert variable.numpy().tolist() == [7.0, 12.0]
    assert given.numpy().tolist() == [1.0, 2.0]


def test_a_variable_refuses_values_of_another_shape_or_type(tf):
    variable = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="incompatible"):
        variable.assign([1.0, 2.0, 3.0])
    with pytest.raises((TypeError, ValueError)):
        variable.assign(tf.constant([1, 2]))
    assert variable.numpy().tolist() == [1.0, 2.0]


def test_scopes_nest_and_refuse_bad_names_each_time(tf):
    for _ in range(2):
        with tf.name_scope("outer"), tf.name_scope("inner") as scope:
            assert scope == "outer/inner/"
            assert tf.Variable(1.0, name="v").name == "outer/inner/v:0"
        with pytest.raises(ValueError, match="not a valid scope name"), tf.name_scope("a b"):
            pass
        assert tf.Variable(1.0, name="v").name == "v:0"


def test_layers_take_tensors_settings_and_lists_of_them(tf):
    x = tf.ones((2, 3))
    layers = tf.keras.layers
    assert layers.Add()([x, x]).numpy().tolist() == [[2.0] * 3] * 2
    assert layers.Concatenate()((x, np.ones((2, 1), np.float32))).shape == (2, 4)
    assert layers.Dropout(0.5)(x, training=False).numpy().tolist() == x.numpy().tolist()
    made = tf.keras.Input((3,))
    added = layers.Add()([made, x])  # a tensor with a value beside one of a model
    model = tf.keras.Model(made, layers.Dropout(0.5)(added))
    assert model(x).numpy().tolist() == [[2.0] * 3] * 2
    dropped = model(x, training=True).numpy()
    assert set(dropped.ravel().tolist()) <= {0.0, 4.0}


def test_slices_of_variables_are_values_that_can_be_assigned(tf):
    variable = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(variable[..., 1:] * 2.0) + variable[0, 0]
    assert tape.gradient(loss, variable).numpy().tolist() == [[1, 2, 2], [0, 2, 2]]
    before = variable[0]
    variable[0].assign([7.0, 8.0, 9.0])
    variable[:, -1].assign(tf.constant([1.0, 2.0]))
    assert variable.numpy().tolist() == [[7, 8, 1], [3, 4, 2]]
    assert before.numpy().tolist() == [0, 1, 2]
    assert variable[variable > 4.0].numpy().tolist() == [7, 8]
    with pytest.raises(errors.InvalidArgumentError):
        variable[5]


def test_operations_of_functions_refuse_mixed_types(tf):
    @tf.function
    def add(x, y):
        return tf.raw_ops.AddV2(x=x, y=y)

    assert add(tf.constant(1.0), tf.constant(2.0)).numpy() == 3.0
    with pytest.raises(TypeError, match="int32"):
        add(tf.constant(1.0), tf.constant(2))


def test_operations_without_results_give_nothing(tf, capfd):
    assert tf.group(tf.constant(1)) is None and tf.group() is None and tf.no_op() is None
    assert tf.print("said") is None
    assert capfd.readouterr().err == "said\n"


def test_shapes_are_held_to_names_across_tensors(tf):
    two = tf.constant([1.0, 2.0])
    tf.debugging.assert_shapes([(two, ("N",)), (tf.zeros([2, 3]), ("N", "D"))])
    with pytest.raises(ValueError, match=r"tensor shape=\(2,\) dtype=float32 dimension 0"):
        tf.debugging.assert_shapes([(two, ("N",)), (tf.zeros([3, 3]), ("N", "D"))])


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_dropped_variables_leave_their_memory(tf):
    ones = np.ones(5_000_000, np.float32)

    @tf.function
    def step(variable, by):
        variable.assign_add(by)
        return tf.reduce_sum(variable)

    def use(by):
        variable = tf.Variable(ones)
        variable.assign_add(by)
        return step(variable, by)

    for _ in range(2):
        use(ones)
    before = resident_bytes()
    for _ in range(8):
        assert use(ones).numpy() == 15_000_000
    assert resident_bytes() - before < 3 * ones.nbytes


def test_moving_averages_of_eager_variables(tf):
    v = tf.Variable([1.0, 2.0], name="w")
    average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    assert average.average(v) is None
    average.apply([v])
    v.assign([3.0, 3.0])
    average.apply([v])
    np.testing.assert_allclose(average.average(v).numpy(), [1.2, 2.1], rtol=1e-6)
    assert average.average_name(v) == "w/ExponentialMovingAverage"
    assert average.average(v).name == "w/ExponentialMovingAverage:0"
    assert not average.average(v).trainable

    @tf.function
    def step():
        average.apply([v])

    step()
    np.testing.assert_allclose(average.average(v).numpy(), [1.38, 2.19], rtol=1e-6)
    counted = tf.train.ExponentialMovingAverage(0.9, num_updates=3)
    x = tf.Variable(1.0)
    counted.apply([x])
    x.assign(3.0)
    counted.apply([x])
    assert counted.average(x).numpy() == np.float32(2.3846154)
    with pytest.raises(TypeError, match="non-Variable tensors"):
        counted.apply([tf.constant(1.0)])
    with pytest.raises(TypeError, match="half, float, or double"):
        counted.apply([tf.Variable(1)])
