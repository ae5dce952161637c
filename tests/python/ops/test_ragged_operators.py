"""Operators, products, choices and crosses of ragged tensors in TensorFlow 2's face."""

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2
ROWS = [[1, 2], [], [3]]


def rows(values=ROWS, **options):
    return tf.ragged.constant(values, **options)


def test_equality_is_value_by_value():
    a, b, column = rows(), rows([[1, 5], [], [3]]), tf.constant([[1], [2], [3]])
    assert (a == b).to_list() == [[True, False], [], [True]]
    assert (a != b).to_list() == [[False, True], [], [False]]
    for one in (a == column, column == a, np.array([[1], [2], [3]]) == a):
        assert one.to_list() == [[True, False], [], [True]]
    assert (1 == a).to_list() == [[True, False], [], [False]]
    assert (tf.Variable([[1], [2], [3]]) != a).to_list() == [[False, True], [], [False]]
    assert (column < a).to_list() == [[False, True], [], [False]]
    assert (column >= a).to_list() == [[True, False], [], [True]]
    assert (a == rows([[1], [2], [3]])) is False and (a != rows([[1], [2], [3]])) is True
    assert (a == None) is False and (a != None) is True  # noqa: E711
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)

    @tf.function
    def traced(x, y):
        return x == y, x != 1

    found = traced(a, b)
    assert [one.to_list() for one in found] == [
        [[True, False], [], [True]],
        [[False, True], [], [True]],
    ]


def test_equality_in_graphs_is_identity():
    with tf.Graph().as_default():
        a, b = rows(), rows()
        assert (a == b) is False and (a != b) is True and (a == a) is True
        assert len({a: 1, b: 2}) == 2


def test_choices_broadcast():
    x = rows([[0.5, 0.25], [], [0.75]])
    holds = x > 0.3
    assert tf.where(holds, x, 0.0).to_list() == [[0.5, 0.0], [], [0.75]]
    assert tf.where(holds, 1, 0).to_list() == [[1, 0], [], [1]]
    column = tf.constant([[1.0], [2.0], [3.0]])
    assert tf.where(holds, x, column).to_list() == [[0.5, 1.0], [], [0.75]]
    assert tf.where(True, x, 0.0).to_list() == x.to_list()
    assert tf.where(tf.constant([[False], [True], [True]]), x, -x).to_list() == [
        [-0.5, -0.25], [], [0.75]]  # fmt: skip
    deep = rows([[[1.0, 2.0], [3.0]], [], [[4.0]]])
    assert tf.where(deep > 2.0, deep, -1.0).to_list() == [[[-1, -1], [3]], [], [[4]]]


def test_functions_of_two_take_names_and_broadcast():
    x, column = rows([[0.5, 0.25], [], [0.75]]), tf.constant([[0.1], [0.2], [0.3]])
    np.testing.assert_allclose(
        tf.math.atan2(y=x, x=column).flat_values, np.arctan2([0.5, 0.25, 0.75], [0.1, 0.1, 0.3]),
        rtol=1e-6)  # fmt: skip
    np.testing.assert_allclose(
        tf.math.multiply_no_nan(column, x).flat_values, [0.05, 0.025, 0.225], rtol=1e-6
    )
    assert tf.math.zeta(x + 2.0, column).row_lengths().numpy().tolist() == [2, 0, 1]
    assert tf.math.nextafter(x, 9.0).row_lengths().numpy().tolist() == [2, 0, 1]
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=column)
    np.testing.assert_allclose(loss.flat_values, [0.6944, 0.7194, 0.6294], atol=1e-4)
    assert tf.bitcast(x, tf.int32).to_list() == [[1056964608, 1048576000], [], [1061158912]]


def test_assertions_broadcast():
    x = rows()
    tf.debugging.assert_less(x, 4)
    tf.debugging.assert_greater_equal(x, tf.constant([[1], [9], [3]]))
    tf.debugging.assert_near(rows([[1.0], [2.0]]), rows([[1.0], [2.0]]))
    for check, other in (
        (tf.debugging.assert_equal, rows([[1, 2], [], [4]])),
        (tf.debugging.assert_none_equal, 3),
        (tf.debugging.assert_less, 3),
        (tf.debugging.assert_greater, x),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            check(x, other)


def test_matrices_of_unlike_sizes():
    a = rows([[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]], ragged_rank=1)
    assert tf.matmul(a, tf.ones([2, 2, 1])).to_list() == [[[3]], [[3], [7]]]
    assert (a @ tf.ones([2, 2, 1])).to_list() == [[[3]], [[3], [7]]]
    assert (tf.ones([2, 1, 2]) @ rows([[[1.0], [2.0]], [[1.0], [3.0]]])).to_list() == [[[3]], [[4]]]
    assert tf.matmul(a, a, transpose_b=True).to_list() == [[[5]], [[5, 11], [11, 25]]]
    assert tf.matmul(a, a, transpose_a=True).to_list() == [[[1, 2], [2, 4]], [[10, 14], [14, 20]]]
    both = rows([[[1.0, 2.0]], [[1.0], [2.0]]])
    assert tf.matmul(both, rows([[[1.0], [2.0]], [[1.0, 2.0]]])).to_list() == [
        [[5]], [[1, 2], [2, 4]]]  # fmt: skip
    assert tf.matmul(tf.expand_dims(a, 1), tf.ones([2, 1, 2, 1])).to_list() == [
        [[[3]]], [[[3], [7]]]]  # fmt: skip
    assert tf.linalg.matvec(a, tf.ones([2, 2])).to_list() == [[3], [3, 7]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimensions"):
        tf.matmul(a, tf.ones([2, 3, 1]))
    with pytest.raises(ValueError, match="batches"):
        tf.matmul(rows([[1.0], [2.0]]), tf.ones([1, 1]))


DEEP = [[[1.0, 2.0], [3.0]], [], [[4.0, 5.0, 6.0]]]


@pytest.mark.parametrize(
    ("axis", "options", "wanted"),
    [
        (0, {}, [[[1, 2], [3]], [], [[5, 7, 6]]]),
        (0, {"reverse": True}, [[[5, 7], [3]], [], [[4, 5, 6]]]),
        (1, {}, [[[1, 2], [4]], [], [[4, 5, 6]]]),
        (1, {"exclusive": True, "reverse": True}, [[[3, 0], [0]], [], [[0, 0, 0]]]),
    ],
)
def test_running_sums_along_any_dimension(axis, options, wanted):
    assert tf.cumsum(rows(DEEP), axis, **options).to_list() == wanted


def test_logarithms_of_sums():
    x = rows(DEEP)
    for axis, wanted in (
        (0, [[np.logaddexp(1, 4), np.logaddexp(2, 5), 6.0], [3.0]]),
        (1, [[np.logaddexp(1, 3), 2.0], [], [4.0, 5.0, 6.0]]),
        (-1, [[np.logaddexp(1, 2), 3.0], [], [6.4076059]]),
    ):
        found = tf.reduce_logsumexp(x, axis)
        assert [len(row) for row in found.to_list()] == [len(row) for row in wanted]
        np.testing.assert_allclose(found.flat_values, sum(wanted, []), rtol=1e-6)
    np.testing.assert_allclose(tf.reduce_logsumexp(x), 6.4562, rtol=1e-5)
    by_row = tf.reduce_logsumexp(x, [1, 2], keepdims=True)
    np.testing.assert_allclose(by_row[:, 0, 0], [3.4076059, -np.inf, 6.4076059], rtol=1e-6)


def test_strings_joined_keep_dimensions():
    x = rows([["a", "b"], [], ["c"]])
    assert tf.strings.reduce_join(x, keepdims=True).numpy().tolist() == [[b"abc"]]
    assert tf.strings.reduce_join(x, axis=1, keepdims=True).numpy().tolist() == [
        [b"ab"], [b""], [b"c"]]  # fmt: skip
    assert tf.strings.reduce_join(x, axis=[0, 1]).numpy() == b"abc"


def test_values_inside_the_rows_are_split():
    parts = tf.split(rows([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1), 2, axis=2)
    assert [part.to_list() for part in parts] == [[[[1], [3]], [[5]]], [[[2], [4]], [[6]]]]


def test_crosses():
    texts, column = rows([["a", "b"], [], ["c"]]), tf.constant([["x"], ["y"], ["z"]])
    assert tf.ragged.cross([rows(), texts]).to_list() == [
        [b"1_X_a", b"1_X_b", b"2_X_a", b"2_X_b"], [], [b"3_X_c"]]  # fmt: skip
    assert tf.ragged.cross([texts, column]).to_list() == [[b"a_X_x", b"b_X_x"], [], [b"c_X_z"]]
    sparse = tf.sparse.from_dense([[1, 2], [0, 3], [4, 0]])
    assert tf.ragged.cross([rows(), sparse]).to_list()[2] == [b"3_X_4"]
    assert tf.ragged.cross_hashed([rows(), rows()], 100).to_list() == [[41, 57, 16, 91], [], [85]]
    narrow = tf.ragged.cross([rows(row_splits_dtype=tf.int32), column])
    assert narrow.row_splits.dtype == tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.ragged.cross([rows(), tf.constant([[1]])])
    with pytest.raises(ValueError, match="dtype"):
        tf.ragged.cross([rows([[0.5]])])
    with pytest.raises(TypeError, match="list"):
        tf.ragged.cross(rows())
