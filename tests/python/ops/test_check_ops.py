"""Assertions on tensors, and functions that tell about them."""

import numpy as np
import pytest
import rheos.v1 as tf

COMPARISONS = {
    "assert_equal": ([1, 2], [1, 2], [1, 3]),
    "assert_none_equal": ([1, 2], [2, 1], [1, 3]),
    "assert_less": ([1, 2], [2, 3], [2, 2]),
    "assert_less_equal": ([1, 2], [1, 3], [0, 2]),
    "assert_greater": ([1, 2], [0, 1], [0, 2]),
    "assert_greater_equal": ([1, 2], [1, 1], [1, 3]),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_checked_at_once_or_when_they_run(name, sess):
    x, good, bad = COMPARISONS[name]
    check = getattr(tf, name)
    assert check(x, good).type == "Assert"
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        check(x, bad)
    fed = tf.placeholder(tf.int32, [2])
    with tf.control_dependencies([check(x, fed, message="look here")]):
        y = tf.identity(fed)
    assert sess.run(y, {fed: good}).tolist() == good
    with pytest.raises(tf.errors.InvalidArgumentError, match="look here"):
        sess.run(y, {fed: bad})


@pytest.mark.parametrize(
    "name, good, bad",
    [
        ("assert_positive", [1.0, 2.0], [0.0, 1.0]),
        ("assert_non_negative", [0.0, 2.0], [-1.0, 1.0]),
        ("assert_negative", [-1.0, -2.0], [0.0, -1.0]),
        ("assert_non_positive", [0.0, -2.0], [1.0, -1.0]),
    ],
)
def test_signs(name, good, bad, sess):
    fed = tf.placeholder(tf.float32, [2])
    check = getattr(tf, name)(fed)
    sess.run(check, {fed: good})
    with pytest.raises(tf.errors.InvalidArgumentError, match="element-wise"):
        sess.run(check, {fed: bad})


def test_near(sess):
    fed = tf.placeholder(tf.float32, [])
    check = tf.assert_near(fed, 1.0, atol=0.1)
    sess.run(check, {fed: 1.05})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(check, {fed: 1.2})


def test_ranks_that_are_known_need_no_step():
    x = tf.zeros([2, 3])
    assert tf.assert_rank(x, 2).type == "NoOp"
    assert tf.assert_rank_at_least(x, 1).type == "NoOp"
    assert tf.assert_rank_in(x, [1, 2]).type == "NoOp"
    with pytest.raises(ValueError, match="must have rank 3"):
        tf.assert_rank(x, 3)
    with pytest.raises(ValueError, match="must have rank at least 3"):
        tf.assert_rank_at_least(x, 3)
    with pytest.raises(ValueError, match="must have rank in"):
        tf.assert_rank_in(x, [1, 3])


def test_ranks_that_are_not_known(sess):
    fed = tf.placeholder(tf.float32)
    checks = [tf.assert_rank(fed, 2), tf.assert_rank_at_least(fed, 1), tf.assert_rank_in(fed, [2])]
    for check in checks:
        sess.run(check, {fed: np.zeros([1, 1])})
        with pytest.raises(tf.errors.InvalidArgumentError, match="rank"):
            sess.run(check, {fed: 0.0})


def test_dtypes():
    x, i = tf.zeros([2]), tf.constant(1)
    assert tf.assert_integer(i).type == "NoOp"
    with pytest.raises(TypeError, match="integer type"):
        tf.assert_integer(x)
    with pytest.raises(TypeError, match="must be of type"):
        tf.assert_type(x, tf.int32)
    assert tf.assert_same_float_dtype([x, x]) == tf.float32
    with pytest.raises(ValueError, match="same type"):
        tf.assert_same_float_dtype([x, i])
    with pytest.raises(ValueError, match="floating point"):
        tf.assert_same_float_dtype([i])
    assert tf.is_numeric_tensor(x) and not tf.is_numeric_tensor("text")
    with pytest.raises(ValueError, match="scalar"):
        tf.assert_scalar(x)
    for wrong in (x, "text", 3):
        with pytest.raises(TypeError):
            tf.assert_proper_iterable(wrong)


def test_order_and_finiteness(sess):
    assert sess.run(tf.is_non_decreasing([1, 1, 2]))
    assert not sess.run(tf.is_strictly_increasing([1, 1, 2]))
    fed = tf.placeholder(tf.float32)
    finite = tf.verify_tensor_all_finite(fed, "not finite")
    assert sess.run(finite, {fed: 2}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        sess.run(finite, {fed: np.nan})
    shaped = tf.ensure_shape(fed, [2])
    assert shaped.shape.as_list() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(shaped, {fed: [1.0, 2.0, 3.0]})


def test_shapes_go_together():
    x, y = tf.zeros([4, 3]), tf.placeholder(tf.float32, [None, 3])
    check = tf.debugging.assert_shapes({x: ("N", "Q"), y: ("N", 3), tf.zeros([]): (1,)})
    loose = tf.debugging.assert_shapes([(y, ("*", "Q")), (x, (..., "Q"))])
    with tf.Session() as session:
        session.run([check, loose], {y: np.zeros([4, 3])})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have size"):
            session.run(check, {y: np.zeros([5, 3])})
    with pytest.raises(ValueError, match="must have size 5.  Received size 3"):
        tf.debugging.assert_shapes({x: (4, 5)})
    with pytest.raises(ValueError, match="only allowed as the first entry"):
        tf.debugging.assert_shapes({x: (4, "*")})
    with pytest.raises(ValueError, match="must be an iterable"):
        tf.debugging.assert_shapes({x: 4})


def test_every_number_of_a_graph_can_be_checked():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.log(x, name="y")
        check = tf.add_check_numerics_ops()
        with tf.Session() as session:
            session.run([y, check], {x: [1, 2]})
            with pytest.raises(tf.errors.InvalidArgumentError, match="y:0 : Tensor had Inf"):
                session.run([y, check], {x: [1, 0]})


def test_a_vector_is_no_scalar():
    with pytest.raises(ValueError, match="must have size 1.  Received size 2"):
        tf.debugging.assert_shapes([(tf.constant([2, 2]), ())])
    tf.debugging.assert_shapes([(tf.constant([2]), ()), (tf.constant(2), ())])


def test_the_dtype_of_a_sparse_tensor_is_checked():
    x = tf.SparseTensor([[0]], [1.0], [1])
    assert tf.debugging.assert_same_float_dtype([x]) == tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.debugging.assert_same_float_dtype([x, tf.constant(1.0, tf.float64)])
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.debugging.assert_same_float_dtype([tf.constant(1.0, tf.float64), x])


def test_assertions_are_heard_before_shapes_that_do_not_fit(sess):
    x = tf.placeholder(tf.float32)
    with tf.control_dependencies([tf.assert_rank(x, 2, message="rows and columns")]):
        y = tf.matmul(x, tf.ones([3, 2]))
    for _ in range(2):  # the plan is kept
        with pytest.raises(tf.errors.InvalidArgumentError, match="rows and columns"):
            sess.run(y, {x: np.ones(3)})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be equal, but are 4 and 3"):
            sess.run(y, {x: np.ones((2, 4))})
        assert sess.run(y, {x: np.ones((2, 3))}).tolist() == [[3, 3], [3, 3]]


def test_weights_that_fit_no_values_are_told(sess):
    values, weights = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.losses.compute_weighted_loss(values, weights)
    for shape in ([3], [3, 1], [3, 2], [2, 2, 2, 2], [1, 2], [3, 2, 4, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast"):
            sess.run(loss, {values: np.ones([3, 2, 4]), weights: np.ones(shape)})
    for shape in ([], [1, 1, 1], [3, 2, 4], [3, 1, 1]):
        assert sess.run(loss, {values: np.ones([3, 2, 4]), weights: np.ones(shape)}) == 1
