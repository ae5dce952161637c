"""tf.experimental.DynamicRaggedShape; the expected values are TensorFlow's."""

import pytest


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2
    from rheos.framework import eager, tensor_shape

    eager.enable_eager_execution()
    tensor_shape.enable_v2_tensorshape()
    yield rheos.v2
    eager.disable_eager_execution()


def rows(tf, *lengths, **options):
    return tf.experimental.DynamicRaggedShape.from_lengths(list(lengths), **options)


@pytest.mark.parametrize(
    "lengths, text",
    [
        ([2, (2, 1)], "[2, (2, 1)] num_row_partitions=1"),
        ([2, (2, 1), 2], "[2, (2, 1), 2] num_row_partitions=1"),
        ([2, 3], "[2, 3] num_row_partitions=0"),
        ([2, (2, 1), (1, 2, 3)], "[2, (2, 1), (1, 2, 3)] num_row_partitions=2"),
        ([2, 2, (1, 2, 3, 4)], "[2, 2, (1, 2, 3, 4)] num_row_partitions=2"),
        ([], "[] num_row_partitions=0"),
    ],
)
def test_lengths_make_shapes(tf, lengths, text):
    shape = rows(tf, *lengths)
    assert repr(shape) == f"<DynamicRaggedShape lengths={text}>"
    assert shape.static_lengths() == lengths
    assert shape.rank == len(lengths)


def test_lengths_that_contradict_are_refused(tf):
    with pytest.raises(ValueError, match="not consistent"):
        rows(tf, 2, (1, 2, 3))
    with pytest.raises(ValueError, match="int or tuple of ints: instead None"):
        rows(tf, 2, None)
    with pytest.raises(ValueError):
        rows(tf, (2,))


def test_sizes_of_uniform_dimensions_are_there(tf):
    ragged = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    shape = tf.shape(ragged, tf.int64)
    assert (int(shape[0]), int(shape[2]), int(shape[-1])) == (2, 2, 2)
    assert [shape.is_uniform(axis) for axis in range(3)] == [True, False, True]
    assert shape.static_lengths(ragged_lengths=False) == [2, None, 2]
    assert shape[:1].static_lengths() == [2] and shape[:2].static_lengths() == [2, (1, 2)]
    for wrong in (lambda: shape[1], lambda: shape[1:]):
        with pytest.raises(ValueError, match="uniform"):
            wrong()
    assert shape.with_dtype(tf.int32).dtype == tf.int32
    assert bool(shape == tf.shape(ragged)) and not bool(shape == rows(tf, 2, (1, 3), 2))


def test_tensors_are_made_in_a_ragged_shape(tf):
    shape = rows(tf, 2, (2, 1))
    assert tf.ones(shape).to_list() == [[1, 1], [1]]
    assert tf.zeros(shape, tf.string).to_list() == [[b"", b""], [b""]]
    assert tf.fill(shape, 7).to_list() == [[7, 7], [7]]
    assert tf.reshape(tf.range(3), shape).to_list() == [[0, 1], [2]]
    assert tf.reshape(tf.ragged.constant([[1, 2], [3]]), [3]).numpy().tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.reshape(tf.range(7), shape)


def test_values_are_broadcast_to_a_ragged_shape(tf):
    shape = rows(tf, 2, (2, 1))
    assert tf.broadcast_to([[1], [2]], shape).to_list() == [[1, 1], [2]]
    assert tf.broadcast_to(5, shape).to_list() == [[5, 5], [5]]
    assert tf.broadcast_to(["a"], shape).to_list() == [[b"a", b"a"], [b"a"]]
    deep = tf.broadcast_to(tf.ragged.constant([[1, 2], [3]]), rows(tf, 2, 2, (2, 1, 2, 1)))
    assert deep.to_list() == [[[1, 2], [3]]] * 2
    with pytest.raises(ValueError, match="broadcast"):
        tf.broadcast_to([[1], [2], [3]], shape)
    both = tf.broadcast_dynamic_shape(shape, tf.constant([2, 1], tf.int64))
    assert both.static_lengths() == [2, (2, 1)]


def test_functions_are_traced_with_ragged_shapes(tf):
    @tf.function
    def ones_and_columns(x):
        return tf.ones(tf.shape(x)), tf.broadcast_to([[1.0], [2.0]], tf.shape(x))

    ones, columns = ones_and_columns(tf.ragged.constant([[1, 2], [3]]))
    assert ones.to_list() == [[1, 1], [1]] and columns.to_list() == [[1, 1], [2]]
