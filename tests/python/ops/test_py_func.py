"""Functions of the program as operations: py_func, numpy_function."""

import threading

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_values_come_in_as_arrays_and_go_out(session):
    seen = []

    def add(x, y):
        seen.append((type(x), type(y)))
        return x + y

    result = tf.py_func(add, [tf.constant([1.0, 2.0]), 3.0], tf.float32)
    np.testing.assert_array_equal(session.run(result * 2.0), [8, 10])
    assert seen == [(np.ndarray, np.float32)]
    assert result.shape.ndims is None and result.op.type == "PyFunc"
    result.set_shape([2])
    assert session.run(tf.reduce_sum(result)) == 9.0


def test_several_outputs_and_strings(session):
    outputs = tf.py_func(
        lambda x: [x, b"aa", ["u", "longer"], len(x)],
        [tf.constant("text")],
        [tf.string, tf.string, tf.string, tf.int64],
    )
    a, b, c, d = session.run(outputs)
    assert (a, b, list(c), d) == (b"text", b"aa", [b"u", b"longer"], 4)


def test_it_is_called_in_every_step(session):
    calls = []

    def count(x):
        calls.append(x)
        return np.int64(len(calls))

    result = tf.py_func(count, [0], tf.int64)
    assert [session.run(result) for _ in range(4)] == [1, 2, 3, 4]


def test_without_outputs_there_is_an_operation(session):
    calls = []
    op = tf.py_func(lambda: calls.append(1), [], [])
    assert isinstance(op, tf.Operation)
    assert session.run(op) is None and calls == [1]


def test_arguments_may_be_written_to_and_kept(session):
    kept = []

    def change(x):
        kept.append(x)
        x[:] = 7
        return x

    v = tf.Variable([1.0, 2.0])
    session.run(v.initializer)
    changed = tf.py_func(change, [v], tf.float32)
    np.testing.assert_array_equal(session.run(changed), [7, 7])
    np.testing.assert_array_equal(session.run(v), [1, 2])
    kept[0][:] = 9
    np.testing.assert_array_equal(session.run(v), [1, 2])


def test_a_result_that_changes_later_is_not_kept_by_a_variable(session):
    memory = np.zeros(4, np.float32)
    v = tf.Variable(tf.zeros([4]))
    session.run(v.initializer)
    fill = tf.assign(v, tf.reshape(tf.py_func(lambda: memory, [], tf.float32), [4]))
    memory[:] = 1
    session.run(fill)
    memory[:] = 2
    np.testing.assert_array_equal(session.run(v), [1, 1, 1, 1])


@pytest.mark.parametrize(
    "error, expected",
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (MemoryError, tf.errors.ResourceExhaustedError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (KeyError, tf.errors.UnknownError),
    ],
)
def test_what_the_function_raises_is_the_error_of_the_step(session, error, expected):
    def fail():
        raise error("bad thing")

    with pytest.raises(expected, match=f"{error.__name__}: .*bad thing"):
        session.run(tf.py_func(fail, [], tf.float32))
    assert session.run(tf.constant(1)) == 1


def test_wrong_dtypes_and_numbers_are_named(session):
    one = tf.constant(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is float, but expects double"):
        session.run(tf.py_func(lambda x: x, [one], tf.float64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects .* 1"):
        session.run(tf.py_func(lambda x: (x, x), [one], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values"):
        session.run(tf.py_func(lambda x: None, [one], tf.float32))
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [one], tf.float32)


def test_a_function_of_another_process_is_named(session):
    op = tf.raw_ops.PyFunc(input=[], token="pyfunc_elsewhere", Tout=[tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="pyfunc_elsewhere is not found"):
        session.run(op)


def test_it_has_no_gradient_unless_one_is_registered(session):
    @tf.RegisterGradient("TestPyFuncGradient")
    def gradient(op, dy):
        return dy * 5.0

    x = tf.constant([2.0])
    plain = tf.py_func(np.square, [x], tf.float32)
    assert tf.gradients(plain, x) == [None]
    with tf.get_default_graph().gradient_override_map({"PyFunc": "TestPyFuncGradient"}):
        own = tf.py_func(np.square, [x], tf.float32)
    np.testing.assert_array_equal(session.run(tf.gradients(own, x)[0]), [5])


def test_steps_of_several_threads_call_functions(session):
    x = tf.placeholder(tf.float32, [])
    branches = [tf.py_func(lambda v, k=k: v + np.float32(k), [x], tf.float32) for k in range(8)]
    total = tf.add_n(branches) + tf.reduce_sum(tf.matmul(tf.ones([64, 64]), tf.ones([64, 64])))
    results = [None] * 4

    def work(i):
        results[i] = [session.run(total, {x: float(i)}) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, values in enumerate(results):
        assert values == [8 * i + 28 + 64**3] * 20


def test_numpy_function_is_the_same(session):
    assert session.run(tf.numpy_function(lambda x: -x, [tf.constant(2)], tf.int32)) == -2


def test_without_outputs_there_is_an_operation_if_it_has_a_state(session):
    seen = []
    assert session.run(tf.py_func(lambda x: seen.append(int(x)), [3], [])) is None and seen == [3]
    assert session.run(tf.py_func(lambda x: None, [3], [], stateful=False)) == []


@pytest.mark.parametrize(
    "function, value, gradient",
    [
        (lambda v: v * v, [9, 16], [6, 8]),
        (lambda v: 1 + v, [4, 5], [1, 1]),
        (lambda v: -v, [-3, -4], [-1, -1]),
        (lambda v: v**2 / 2, [4.5, 8], [3, 4]),
        (lambda v: v[::-1] - v, [1, -1], [0, 0]),
        (lambda v: (v[None] @ v[:, None])[0], [25], [6, 8]),
        (lambda v: tf.cast(v > 3, tf.float32) * v, [0, 4], [0, 1]),
        (lambda v: v if tf.reduce_sum(v) > 1 else -v, [3, 4], [1, 1]),
        (lambda v: sum(v), 7, [1, 1]),
        (lambda v: v * float(v[0]), [9, 12], [3, 3]),
    ],
)
def test_py_function_may_use_operators_where_graphs_are_built(function, value, gradient, session):
    x = tf.constant([3.0, 4.0])
    y = tf.py_function(function, [x], tf.float32)
    found, slope = session.run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(slope, gradient)
    assert not tf.executing_eagerly()


def test_operators_of_py_function_take_strings_and_loops(session):
    joined = tf.py_function(lambda v: v + "x", [tf.constant("a")], tf.string)
    steps = tf.while_loop(
        lambda i: i < 3,
        lambda i: tf.py_function(lambda v: v + 1, [i], tf.int32),
        [0],
        [tf.TensorShape(None)],
    )
    doubled = tf.data.Dataset.range(3).map(lambda v: tf.py_function(lambda q: q * 2, [v], tf.int64))
    assert session.run([joined, steps]) == [b"ax", 3]
    assert session.run(doubled.skip(2).make_one_shot_iterator().get_next()) == 4


def test_py_function_without_results_is_an_operation(session):
    seen = []
    done = tf.py_function(lambda v: seen.append(v.numpy()), [tf.constant(2.0)], [])
    with tf.control_dependencies([done]):
        after = tf.constant(1)
    assert session.run([done, after]) == [None, 1] and seen == [2.0]
