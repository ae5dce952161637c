"""Losses: their values, weights, reductions, names and collections."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(0)
P = RANDOM.rand(4, 3).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[[0, 2, 1, 1]]


def xent(labels, logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return -(labels * (shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))).sum(-1)


def sigmoid_xent(labels, logits):
    s = 1 / (1 + np.exp(-logits))
    return -labels * np.log(s) - (1 - labels) * np.log(1 - s)


ERROR = abs(P - Y)
CASES = {
    "mean_squared_error": (lambda: tf.losses.mean_squared_error(Y, P), ERROR**2),
    "absolute_difference": (lambda: tf.losses.absolute_difference(Y, P), ERROR),
    "cosine_distance": (
        lambda: tf.losses.cosine_distance(Y, P, axis=1), 1 - (Y * P).sum(1)),
    "hinge_loss": (lambda: tf.losses.hinge_loss(Y, P), np.maximum(0, 1 - (2 * Y - 1) * P)),
    "huber_loss": (
        lambda: tf.losses.huber_loss(Y, P, delta=0.5),
        np.where(ERROR < 0.5, ERROR**2 / 2, 0.5 * ERROR - 0.125)),
    "log_loss": (
        lambda: tf.losses.log_loss(Y, P),
        -Y * np.log(P + 1e-7) - (1 - Y) * np.log(1 - P + 1e-7)),
    "softmax": (lambda: tf.losses.softmax_cross_entropy(Y, P), xent(Y, P)),
    "softmax smoothed": (
        lambda: tf.losses.softmax_cross_entropy(Y, P, label_smoothing=0.1),
        xent(Y * 0.9 + 0.1 / 3, P)),
    "sigmoid": (lambda: tf.losses.sigmoid_cross_entropy(Y, P), sigmoid_xent(Y, P)),
    "sigmoid smoothed": (
        lambda: tf.losses.sigmoid_cross_entropy(Y, P, label_smoothing=0.1),
        sigmoid_xent(Y * 0.9 + 0.05, P)),
    "sparse": (
        lambda: tf.losses.sparse_softmax_cross_entropy(Y.argmax(1), P), xent(Y, P)),
    "sparse column": (
        lambda: tf.losses.sparse_softmax_cross_entropy(Y.argmax(1)[:, None], P), xent(Y, P)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name, sess):
    make, losses = CASES[name]
    loss = make()
    assert loss.shape.as_list() == []
    assert tf.losses.get_losses() == [loss]
    np.testing.assert_allclose(sess.run(loss), losses.mean(), rtol=1e-4)


WEIGHTS = np.float32([[2], [0], [1], [3]])
WEIGHTED = ERROR**2 * WEIGHTS


@pytest.mark.parametrize(
    "reduction, expected",
    [
        ("none", WEIGHTED),
        ("weighted_sum", WEIGHTED.sum()),
        ("weighted_mean", WEIGHTED.sum() / (WEIGHTS.sum() * 3)),
        ("weighted_sum_over_batch_size", WEIGHTED.mean()),
        ("weighted_sum_by_nonzero_weights", WEIGHTED.sum() / 9),
    ],
)
def test_reductions(reduction, expected, sess):
    for weights in (WEIGHTS, tf.placeholder_with_default(WEIGHTS, None)):
        loss = tf.losses.mean_squared_error(Y, P, weights, reduction=reduction)
        np.testing.assert_allclose(sess.run(loss), expected, rtol=1e-4)
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        tf.losses.mean_squared_error(Y, P, reduction="sum")


def test_weights_that_do_not_fit(sess):
    with pytest.raises(ValueError, match="can not be broadcast"):
        tf.losses.mean_squared_error(Y, P, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Mismatch at dim 0"):
        tf.losses.mean_squared_error(Y, P, [[1.0], [2.0]])
    fed = tf.placeholder(tf.float32)
    loss = tf.losses.mean_squared_error(Y, P, fed)
    assert sess.run(loss, {fed: 1.0}) == pytest.approx((ERROR**2).mean())
    sess.run(loss, {fed: WEIGHTS})
    for wrong in ([1.0, 2.0, 3.0], [[1.0], [2.0]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="can not be|incompatible"):
            sess.run(loss, {fed: wrong})


def test_weights_of_zero_give_zero(sess):
    assert sess.run(tf.losses.mean_squared_error(Y, P, 0.0)) == 0


def test_names_and_totals(sess):
    first = tf.losses.mean_squared_error(Y, P)
    second = tf.losses.absolute_difference(Y, P, scope="here")
    assert (first.name, second.name) == ("mean_squared_error/value:0", "here/value:0")
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0))
    total = tf.losses.get_total_loss()
    assert total.name == "total_loss:0"
    assert sess.run(total) == pytest.approx((ERROR**2).mean() + ERROR.mean() + 2, rel=1e-5)
    assert sess.run(tf.losses.get_regularization_loss()) == 2
    assert tf.losses.get_losses("here") == [second]
    hidden = tf.losses.mean_squared_error(Y, P, loss_collection=None)
    assert hidden not in tf.losses.get_losses()


def test_pairs_of_errors(sess):
    errors = P - Y
    pairs = [
        np.mean([(a - b) ** 2 for i, a in enumerate(row) for j, b in enumerate(row) if i != j])
        for row in errors
    ]
    got = sess.run(tf.losses.mean_pairwise_squared_error(Y, P))
    np.testing.assert_allclose(got, np.sum(pairs), rtol=1e-4)


def test_what_is_missing_is_said():
    with pytest.raises(ValueError, match="labels must not be None"):
        tf.losses.mean_squared_error(None, P)
    with pytest.raises(ValueError):
        tf.losses.mean_squared_error(Y, P[:2])


def test_regularization_losses_of_one_replica_are_summed():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.nn.scale_regularization_loss([1.0, 2.5])) == 3.5


@pytest.mark.parametrize(
    "losses, weights, size, expected",
    [
        ([1.0, 2.0, 3.0], None, None, 2),
        ([1.0, 2.0, 3.0], [1, 0, 2], 4, 1.75),
        ([[1.0, 2.0], [3.0, 4.0]], None, 4, 2.5),
        ([[1.0, 2.0], [3.0, 4.0]], [0.5, 2.0], None, 7.75),
        ([[1.0, 2.0], [3.0, 4.0]], [[0.5], [2.0]], None, 7.75),
        ([1.0, 2.0], [[3.0], [4.0]], None, 5.5),
        ([1.0, 2.0], 3.0, None, 4.5),
        (np.float64([1, 2, 3]), None, 5, 1.2),
    ],
)
def test_average_losses(losses, weights, size, expected, sess):
    average = tf.nn.compute_average_loss(losses, sample_weight=weights, global_batch_size=size)
    assert average.dtype == tf.convert_to_tensor(losses).dtype
    np.testing.assert_allclose(sess.run(average), expected, rtol=1e-6)


def test_average_losses_want_a_batch():
    with pytest.raises(ValueError, match="Expected a tensor with at least rank 1"):
        tf.nn.compute_average_loss(1.0)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_cross_entropy_along_any_axis_keeps_the_order_of_the_others(axis, known, sess):
    logits = RANDOM.randn(2, 3, 4).astype(np.float32)
    labels = RANDOM.rand(2, 3, 4).astype(np.float32)
    labels /= labels.sum(axis, keepdims=True)
    x = tf.constant(logits) if known else tf.placeholder_with_default(logits, None)
    expected = xent(np.moveaxis(labels, axis, -1), np.moveaxis(logits, axis, -1))
    shares = np.exp(logits) / np.exp(logits).sum(axis, keepdims=True)
    for function in (
        tf.nn.softmax_cross_entropy_with_logits,
        tf.nn.softmax_cross_entropy_with_logits_v2,
    ):
        loss = function(labels=labels, logits=x, dim=axis)
        assert loss.shape.is_compatible_with(expected.shape)
        found, gradient = sess.run([loss, tf.gradients(loss, x)[0]])
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(gradient, shares - labels, rtol=1e-4, atol=1e-5)


def test_weights_of_classes_may_have_a_last_dimension_that_a_step_tells(sess):
    weights = tf.placeholder(tf.float32)
    logits = tf.constant([[100.0, 0.0], [0.0, 100.0], [0.0, 100.0]])
    loss = tf.losses.sparse_softmax_cross_entropy([1, 0, 1], logits, weights)
    for given in ([1.0, 2.0, 5.0], [[1.0], [2.0], [5.0]]):
        np.testing.assert_allclose(sess.run(loss, {weights: given}), 100.0)  # (100 + 200 + 0) / 3
    np.testing.assert_allclose(sess.run(loss, {weights: 3.0}), 200.0)
