"""py_function of ragged and sparse tensors: at once, in functions and in graphs."""

import pytest
import rheos.v2

tf = rheos.v2
ROWS, Spec = [[1, 2, 3], [4], [5, 6]], tf.RaggedTensorSpec


@pytest.fixture(params=[False, True])
def run(request):
    def call(*args):
        def body():
            return tf.py_function(*args)

        return (tf.function(body, autograph=False) if request.param else body)()

    return call


def test_ragged(run):
    x = tf.ragged.constant(ROWS)
    doubled = run(lambda t: t * 2, [x], Spec([3, None], tf.int32))
    assert doubled.to_list() == [[2, 4, 6], [8], [10, 12]]
    assert int(run(tf.reduce_sum, [x], tf.int32)) == 21
    both = run(
        lambda t, n: [t + n, tf.reduce_sum(t, 1)],
        [x, tf.constant(10)], [Spec([3, None], tf.int32), tf.int32])  # fmt: skip
    assert both[0].to_list()[1] == [14] and both[1].numpy().tolist() == [6, 4, 11]
    made = run(tf.ragged.range, [tf.constant([1, 2])], Spec([None, None], tf.int32))
    assert made.to_list() == [[0], [0, 1]]


def test_sparse_and_dense(run):
    x = tf.sparse.from_dense([[0, 2], [3, 0]])
    assert int(run(tf.sparse.reduce_sum, [x], tf.int32)) == 5
    again = run(lambda t: t, [x], tf.SparseTensorSpec([2, 2], tf.int32))
    assert tf.sparse.to_dense(again).numpy().tolist() == [[0, 2], [3, 0]]
    assert run(lambda t: t * 2, [tf.constant([1])], tf.TensorSpec([1], tf.int32)).shape == [1]


def test_what_does_not_fit(run):
    x = tf.ragged.constant(ROWS)
    for function, dtype in ((lambda t: 1, tf.int32), (lambda t: t, tf.float32)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(function, [x], Spec([3, None], dtype))


@pytest.mark.parametrize("traced", [False, True])
def test_gradients(traced):
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])

    def gradient(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            y = tf.py_function(
                lambda t: t * t, [x.with_flat_values(values)], Spec([2, None], tf.float32)
            )
            loss = tf.reduce_sum(y.flat_values)
        return tape.gradient(loss, values)

    found = (tf.function(gradient, autograph=False) if traced else gradient)(x.flat_values)
    assert found.numpy().tolist() == [2, 4, 6]


def test_in_graphs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.ragged.constant([[1], [2, 3]])
        y = tf.py_function(lambda t: t * 2, [x], Spec([2, None], tf.int32))
        assert session.run(y).to_list() == [[2], [4, 6]]
