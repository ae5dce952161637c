"""Ragged tensors beside dense ones, moved, repeated, chosen from and picked."""

import numpy as np
import pytest
import rheos.v1 as tf

ROWS = [[1, 2, 3], [], [4, 5]]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def ragged(rows, **how):
    return tf.ragged.constant(rows, **how)


def value(x):
    with tf.Session() as session:
        result = session.run(x)
    return result.to_list() if hasattr(result, "to_list") else result.tolist()


# ---- Broadcasting


@pytest.mark.parametrize(
    "x, y, expected",
    [
        (ROWS, 10, [[11, 12, 13], [], [14, 15]]),
        (ROWS, [[10], [20], [30]], [[11, 12, 13], [], [34, 35]]),
        (ROWS, [[10]], [[11, 12, 13], [], [14, 15]]),
        (ROWS, ROWS, [[2, 4, 6], [], [8, 10]]),
        ([[1, 2], [3, 4]], [[10, 20]], [[11, 22], [13, 24]]),
        ([[1, 2], [3, 4]], [10, 20], [[11, 22], [13, 24]]),
        ([[[1, 2], [3]], [[4]]], [[[10], [20]]], None),
        ([[[1, 2], [3]], [[4], []]], [[[10], [20]]], [[[11, 12], [23]], [[14], []]]),
        ([[[1, 2], [3]], [[4]]], [[[10]], [[20]]], [[[11, 12], [13]], [[24]]]),
        ([[1, 2, 3]], [[10], [20]], [[11, 12, 13], [21, 22, 23]]),
    ],
)
def test_rows_broadcast(x, y, expected):
    for left, right in (
        ((ragged(x), tf.constant(y)), (tf.constant(y) if y != ROWS else ragged(y), ragged(x)))
        if y != ROWS
        else ((ragged(x), ragged(y)),)
    ):
        if expected is None:
            with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
                value(left + right)
        else:
            assert value(left + right) == expected


def test_a_lower_rank_is_one_row():
    assert value(ragged([[[1, 2]], [[3, 4]]]) + ragged([[10, 20]])) == [[[11, 22]], [[13, 24]]]


def test_unlike_rows_fail():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        value(ragged([[1, 2], [3]]) + ragged([[1, 2], [3, 4]]))
    fed = tf.placeholder(tf.int32, [None, None])
    total = ragged(ROWS) * fed
    with tf.Session() as session:
        assert session.run(total, {fed: [[2]]}).to_list() == [[2, 4, 6], [], [8, 10]]
        assert session.run(total, {fed: [[2], [3], [4]]}).to_list() == [[2, 4, 6], [], [16, 20]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
            session.run(total, {fed: [[2, 3]]})
    unknown = tf.RaggedTensor.from_row_splits(
        tf.placeholder_with_default([1, 2], shape=None), [0, 2]
    )
    with pytest.raises(ValueError, match="unknown rank"):
        ragged([[1, 2]]) + unknown


def test_broadcasting_has_a_gradient():
    x, y = ragged([[1.0, 2.0], [3.0]]), tf.constant([[10.0], [20.0]])
    product = (x * y).flat_values
    assert value(tf.gradients(product, y)[0]) == [[3.0], [3.0]]
    assert value(tf.gradients(product, x.flat_values)[0]) == [10.0, 10.0, 20.0]


def test_values_stand_for_tensors():
    given = tf.ragged.constant_value(ROWS)
    assert value(tf.add(given, 1)) == [[2, 3, 4], [], [5, 6]]
    assert value(tf.abs(given)) == ROWS
    assert value(tf.bitwise.bitwise_xor(ragged(ROWS), 1)) == [[0, 3, 2], [], [5, 4]]
    assert value(tf.clip_by_value(ragged(ROWS), 2, 4)) == [[2, 2, 3], [], [4, 4]]
    assert value(tf.strings.length(ragged([["a", "bc"], [""]]))) == [[1, 2], [0]]


# ---- Shapes


@pytest.mark.parametrize(
    "axis, expected",
    [
        (0, [ROWS]),
        (1, [[[1, 2, 3]], [[]], [[4, 5]]]),
        (2, [[[1], [2], [3]], [], [[4], [5]]]),
        (-1, [[[1], [2], [3]], [], [[4], [5]]]),
    ],
)
def test_a_new_dimension(axis, expected):
    wide = tf.expand_dims(ragged(ROWS), axis)
    assert value(wide) == expected
    assert value(tf.squeeze(wide, [axis])) == ROWS


def test_what_is_not_one_is_not_squeezed():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        value(tf.squeeze(ragged(ROWS), [0]))
    with pytest.raises(ValueError, match="axis"):
        tf.squeeze(ragged(ROWS))
    with pytest.raises(ValueError, match="out of bounds"):
        tf.expand_dims(ragged(ROWS), 4)


@pytest.mark.parametrize("multiples", [[1, 1], [2, 1], [1, 3], [2, 2], [0, 1], [1, 0]])
def test_tiles(multiples):
    expected = [row * multiples[1] for row in ROWS] * multiples[0]
    tiled = tf.tile(ragged(ROWS), multiples)
    assert value(tiled) == expected
    assert tiled.shape.as_list() == [3 * multiples[0], None]


def test_tiles_of_three_dimensions():
    tiled = tf.tile(ragged([[[1, 2], []], [[3]]]), [1, 2, 2])
    assert value(tiled) == [[[1, 2, 1, 2], [], [1, 2, 1, 2], []], [[3, 3], [3, 3]]]
    inner = tf.tile(ragged([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), [2, 1, 2])
    assert value(inner) == [[[1, 2, 1, 2]], [[3, 4, 3, 4], [5, 6, 5, 6]]] * 2


def test_one_hot():
    assert value(tf.one_hot(ragged([[0, 2], [1]]), 3, dtype=tf.int32)) == [
        [[1, 0, 0], [0, 0, 1]],
        [[0, 1, 0]],
    ]
    with pytest.raises(ValueError, match="ragged_rank"):
        tf.one_hot(ragged([[0]]), 3, axis=0)


# ---- Choosing and picking


def test_where():
    condition = ragged([[True, False, True], [], [False, True]])
    assert value(tf.where(condition)) == [[0, 0], [0, 2], [2, 1]]
    deep = ragged([[[True], []], [], [[False, True]]])
    assert value(tf.where(deep)) == [[0, 0, 0], [2, 0, 1]]
    other = ragged([[-1, -2, -3], [], [-4, -5]])
    assert value(tf.where(condition, ragged(ROWS), other)) == [[1, -2, 3], [], [-4, 5]]
    rows = tf.where([True, False, False], ragged(ROWS), ragged([[9], [8], [7]]))
    assert value(rows) == [[1, 2, 3], [8], [7]]
    with pytest.raises(ValueError, match="both"):
        tf.where(condition, ragged(ROWS))


def test_single_values_picked():
    assert value(tf.gather_nd(ragged(ROWS), [[0, 2], [2, 0]])) == [3, 4]
    assert value(tf.gather_nd(ragged(ROWS), [[2], [0]])) == [[4, 5], [1, 2, 3]]
    assert value(
        tf.gather_nd(
            tf.constant([[1, 2], [3, 4]]), ragged([[[0, 1]], [[1, 0], [1, 1]]], ragged_rank=1)
        )
    ) == [[2], [3, 4]]
    for index in ([[0, 3]], [[1, 0]]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            value(tf.gather_nd(ragged(ROWS), index))


def test_picked_by_batch():
    gathered = tf.batch_gather(
        ragged([["a", "b", "c"], ["d"], [], ["e"]]), ragged([[1, 2, 0], [], [], [0, 0]])
    )
    assert value(gathered) == [[b"b", b"c", b"a"], [], [], [b"e", b"e"]]
    assert value(tf.batch_gather(ragged(ROWS[::2]), [[2, 0], [1, 1]])) == [[3, 1], [5, 5]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        value(tf.batch_gather(ragged(ROWS), ragged([[0], [0], [0]])))


def test_partitions_and_segments():
    first, second = tf.dynamic_partition(ragged(ROWS), [1, 0, 0], 2)
    assert value(first) == [[], [4, 5]] and value(second) == [[1, 2, 3]]
    assert value(tf.math.unsorted_segment_sum(ragged(ROWS), [0, 1, 0], 2)) == [[5, 7, 3], []]
    mean = tf.math.unsorted_segment_mean(ragged(ROWS), [0, 1, 0], 2)
    assert value(mean) == [[2.5, 3.5, 3.0], []]
    root = tf.math.unsorted_segment_sqrt_n(ragged([[1.0], [3.0, 8.0]]), [0, 0], 1)
    np.testing.assert_allclose(value(root), [[4 / 2**0.5, 8.0]], rtol=1e-6)


def test_partitions_stacked():
    stack = tf.ragged.stack_dynamic_partitions
    assert value(stack("a", 1, 2)) == [[], [b"a"]]
    assert value(stack(ragged(ROWS), [0, 1, 0], 2)) == [[[1, 2, 3], [4, 5]], [[]]]
    assert value(stack(ragged([[1, 2], [3]]), 1, 2)) == [[], [[[1, 2], [3]]]]
    ids = tf.ragged.constant([[0, 1], [1]], row_splits_dtype=tf.int32)
    assert value(stack(ragged([[1, 2], [3]]), ids, 2)) == [[1], [2, 3]]
    with pytest.raises(ValueError, match="incompatible"):
        stack([1, 2, 3], [0, 1], 2)
    late = tf.placeholder(tf.int32, [2])
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="less than num_partitions"):
            session.run(stack([1, 2], late, 2).row_splits, {late: [0, 5]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible ragged shapes"):
        value(stack(ragged([[1, 2], [3]]), ragged([[1], [1, 0]]), 2))


def test_strings_joined():
    words = ragged([["a", "b"], [], ["c"]])
    assert value(tf.strings.reduce_join(words, 1, separator="-")) == [b"a-b", b"", b"c"]
    assert value(tf.strings.reduce_join(words, 0)) == [b"ac", b"b"]
    deep = ragged([[["t", "h"], ["i"]], [["s"]]])
    assert value(tf.strings.reduce_join(deep, -1)) == [[b"th", b"i"], [b"s"]]


@pytest.mark.parametrize(
    "how, shape",
    [
        ({"pylist": [], "ragged_rank": 2}, [0, None, None]),
        ({"pylist": [], "inner_shape": (0, 100, 20)}, [0, 100, 20]),
        ({"pylist": [[]], "inner_shape": (1, 0)}, [1, 0]),
        ({"pylist": [[1, 2], [3, 4]], "ragged_rank": 0}, [2, 2]),
        ({"pylist": [[[1, 2]], [[3, 4]]], "inner_shape": (2,)}, [2, None, 2]),
    ],
)
def test_constants_of_any_shape(how, shape):
    assert tf.ragged.constant(**how).shape.as_list() == shape
    assert list(tf.ragged.constant_value(**how).shape) == shape


@pytest.mark.parametrize(
    "how, message",
    [
        ({"pylist": 12, "inner_shape": (1,)}, "incompatible with dim"),
        ({"pylist": [[1], [[]]]}, "empty list nesting is greater"),
        ({"pylist": [1, 2, 3], "ragged_rank": 1}, "requires scalar value depth greater than 1"),
        ({"pylist": [[1]], "ragged_rank": -1}, "must be nonnegative"),
        ({"pylist": [[[1, 2]], [[3]]], "ragged_rank": 1}, "inconsistent shape"),
    ],
)
def test_lists_that_do_not_fit(how, message):
    for make in (tf.ragged.constant, tf.ragged.constant_value):
        with pytest.raises(ValueError, match=message):
            make(**how)


def test_repeats_of_unknown_rank():
    fed = tf.placeholder(tf.int32)
    with tf.Session() as session:
        for times in (2, [1, 2]):
            repeated = tf.repeat(fed, times, axis=0)
            assert (
                session.run(repeated, {fed: [[1], [2]]}).tolist()
                == np.repeat([[1], [2]], times, axis=0).tolist()
            )
        assert session.run(tf.repeat(fed, 4, axis=0), {fed: 3}).tolist() == [3, 3, 3, 3]
    assert value(tf.repeat(3, 2, axis=0)) == [3, 3]


def test_ragged_tensors_are_stacked_along_a_last_dimension():
    first, second = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4, 5], [6]])
    for axis in (2, -1):
        assert value(tf.ragged.stack([first, second], axis)) == [[[1, 4], [2, 5]], [[3, 6]]]
    pairs = tf.ragged.constant([[[0, 1], [2, 3]], [], [[6, 7]]], ragged_rank=1)
    twice = tf.ragged.stack([pairs, pairs], axis=2)
    assert value(twice) == [[[[0, 1], [0, 1]], [[2, 3], [2, 3]]], [], [[[6, 7], [6, 7]]]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        value(tf.ragged.stack([first, tf.ragged.constant([[4], [5, 6]])], 2))
