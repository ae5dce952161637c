"""Metrics over several steps give what counting by hand gives."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(0)
STEPS = [(RANDOM.rand(n) > 0.4, RANDOM.rand(n).astype(np.float32)) for n in (4, 7, 1)]
LABELS = np.concatenate([s[0] for s in STEPS])
SCORES = np.concatenate([s[1] for s in STEPS])
GUESSES = SCORES > 0.5


def counts(labels, guesses, weights=1):
    both = (labels & guesses, ~labels & guesses, labels & ~guesses, ~labels & ~guesses)
    return [(x * weights).sum() for x in both]


TP, FP, FN, TN = counts(LABELS, GUESSES)
CASES = {
    "accuracy": (lambda x, y: tf.metrics.accuracy(x, y > 0.5), (TP + TN) / LABELS.size),
    "mean": (lambda x, y: tf.metrics.mean(y), SCORES.mean()),
    "mean_squared_error": (
        lambda x, y: tf.metrics.mean_squared_error(tf.to_float(x), y),
        ((LABELS - SCORES) ** 2).mean(),
    ),
    "root_mean_squared_error": (
        lambda x, y: tf.metrics.root_mean_squared_error(tf.to_float(x), y),
        np.sqrt(((LABELS - SCORES) ** 2).mean()),
    ),
    "mean_absolute_error": (
        lambda x, y: tf.metrics.mean_absolute_error(tf.to_float(x), y),
        abs(LABELS - SCORES).mean(),
    ),
    "percentage_below": (lambda x, y: tf.metrics.percentage_below(y, 0.5), (~GUESSES).mean()),
    "precision": (lambda x, y: tf.metrics.precision(x, y > 0.5), TP / (TP + FP)),
    "recall": (lambda x, y: tf.metrics.recall(x, y > 0.5), TP / (TP + FN)),
    "true_positives": (lambda x, y: tf.metrics.true_positives(x, y > 0.5), TP),
    "false_positives": (lambda x, y: tf.metrics.false_positives(x, y > 0.5), FP),
    "false_negatives": (lambda x, y: tf.metrics.false_negatives(x, y > 0.5), FN),
    "true_negatives": (lambda x, y: tf.metrics.true_negatives(x, y > 0.5), TN),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name, sess):
    labels, scores = tf.placeholder(tf.bool, [None]), tf.placeholder(tf.float32, [None])
    make, expected = CASES[name]
    value, update = make(labels, scores)
    sess.run(tf.local_variables_initializer())
    assert sess.run(value) == 0
    for x, y in STEPS:
        after = sess.run(update, {labels: x, scores: y})
    np.testing.assert_allclose(after, expected, rtol=1e-5)
    np.testing.assert_allclose(sess.run(value), expected, rtol=1e-5)


def test_weights(sess):
    weights = np.arange(4, dtype=np.float32)
    labels, guesses = LABELS[:4], GUESSES[:4]
    tp, fp, fn, _ = counts(labels, guesses, weights)
    metrics = [
        tf.metrics.precision(labels, guesses, weights),
        tf.metrics.recall(labels, guesses, weights[:, None]),
        tf.metrics.accuracy(labels, guesses, weights),
    ]
    sess.run(tf.local_variables_initializer())
    got = sess.run([update for _, update in metrics])
    right = (labels == guesses) * weights
    expected = [tp / max(tp + fp, 1e-9), tp / max(tp + fn, 1e-9), right.sum() / weights.sum()]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("curve", ["ROC", "PR"])
def test_area_under_the_curve(curve, sess):
    value, update = tf.metrics.auc(LABELS, SCORES, num_thresholds=500, curve=curve)
    sess.run(tf.local_variables_initializer())
    sess.run(update)
    got = sess.run(value)
    if curve == "ROC":
        pairs = SCORES[LABELS][:, None] > SCORES[~LABELS][None]
        assert got == pytest.approx(pairs.mean(), abs=0.02)
    assert 0 < got <= 1
    assert len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)) == 4
    with pytest.raises(ValueError, match="unknown"):
        tf.metrics.auc(LABELS, SCORES, curve="XY")


def test_names_collections_and_shapes():
    value, update = tf.metrics.mean(
        [1.0, 2.0], metrics_collections=["m"], updates_collections="u", name="here"
    )
    assert (value.name, update.name) == ("here/value:0", "here/update_op:0")
    assert tf.get_collection("m") == [value] and tf.get_collection("u") == [update]
    assert [v.op.name for v in tf.local_variables()] == ["here/total", "here/count"]
    assert tf.trainable_variables() == []
    with pytest.raises(ValueError):
        tf.metrics.accuracy([1, 2, 3], [1, 2])


def _after(steps, metric):
    value, update = metric
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for _ in range(steps):
            updated = session.run(update)
        assert session.run(value) == updated
        return updated


def test_precision_and_recall_at_k():
    scores = [[0.5, 0.1, 0.6, 0.3, 0.8, 0.0, 0.7, 0.2, 0.4, 0.9]]  # best: 9, 4, 6, 2
    labels = tf.constant([[2, 4, 5, 6, 9]], tf.int64)
    assert _after(2, tf.metrics.precision_at_k(labels, scores, 4)) == 1.0
    assert _after(2, tf.metrics.recall_at_k(labels, scores, 4)) == 0.8
    assert _after(1, tf.metrics.recall_at_k(labels, scores, 4, class_id=5)) == 0.0
    assert _after(1, tf.metrics.precision_at_k(labels, scores, 4, class_id=2)) == 1.0
    sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([4, 0, 9], tf.int64), [2, 2])
    both = scores + [[0.9, 0.1, 0, 0, 0, 0, 0, 0, 0, 0.2]]  # best: 0, 9
    assert _after(1, tf.metrics.precision_at_k(sparse, both, 2)) == 0.75
    weighted = tf.metrics.precision_at_k(sparse, both, 2, weights=[1.0, 0.0])
    assert _after(1, weighted) == 0.5
    with pytest.raises(ValueError, match="do not go with"):
        tf.metrics.recall_at_k(tf.zeros([2, 2, 1, 1], tf.int64), both, 2)


def test_average_precision_at_k():
    scores = [[0.5, 0.1, 0.6, 0.3, 0.8]]  # best: 4, 2, 0
    labels = tf.constant([[0, 4]], tf.int64)
    expected = (1 / 1 + 2 / 3) / 2  # right at the first and the third place
    got = _after(2, tf.metrics.average_precision_at_k(labels, scores, 3))
    assert got == pytest.approx(expected)
    sparse = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, 4], tf.int64), [1, 2])
    got = _after(1, tf.metrics.sparse_average_precision_at_k(sparse, scores, 3))
    assert got == pytest.approx(expected)
    with pytest.raises(ValueError, match="Invalid k=0"):
        tf.metrics.average_precision_at_k(labels, scores, 0)


def test_a_last_dimension_of_one_goes_where_the_rank_comes_late(sess):
    from rheos.ops.math.statistics_ops import remove_squeezable_dimensions as squeezed

    labels, predictions = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    outputs = squeezed(labels, predictions)
    for shapes in (((2, 3), (2, 3, 1)), ((2, 3, 1), (2, 3)), ((2, 3), (2, 3)), ((1,), ())):
        feed = {labels: np.zeros(shapes[0]), predictions: np.zeros(shapes[1])}
        got = [x.shape for x in sess.run(outputs, feed)]
        assert got == [min(shapes, key=len)] * 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(outputs, {labels: np.zeros((2, 3)), predictions: np.zeros((2, 3, 2))})


def covariance_and_correlation(sess, weights, steps):
    """[(values of the updates, values) of streaming covariance and Pearson's r] after each step."""
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    w = None if weights is None else tf.placeholder(tf.float32, [None])
    metrics = tf.contrib.metrics
    covariance = metrics.streaming_covariance(x, y, w, ["values"], ["updates"])
    correlation = metrics.streaming_pearson_correlation(x, y, w, ["values"], ["updates"])
    assert tf.get_collection("values") == [covariance[0], correlation[0]]
    assert tf.get_collection("updates") == [covariance[1], correlation[1]]
    sess.run(tf.local_variables_initializer())
    found = []
    for step, (a, b) in enumerate(steps):
        feed = {x: a, y: b}
        if w is not None:
            feed[w] = weights[step]
        updates = sess.run([covariance[1], correlation[1]], feed)
        found.append((updates, sess.run([covariance[0], correlation[0]])))
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance_and_correlation_of_all_values_so_far(sess, weighted):
    random = np.random.RandomState(1)
    steps = [random.rand(2, n).astype(np.float32) for n in (1, 3, 6)]
    weights = [np.float32([1]), np.float32([2, 0, 3]), np.float32([1, 4, 0, 1, 1, 2])]
    first, *later = covariance_and_correlation(sess, weights if weighted else None, steps)
    assert np.isnan(first[0]).all() and np.isnan(first[1]).all()
    for i, (updates, values) in enumerate(later, 2):
        counts = np.concatenate(weights[:i]).astype(int) if weighted else None
        a, b = np.concatenate(steps[:i], axis=1)
        together = np.cov(a, b, fweights=counts)
        expected = [together[0, 1], together[0, 1] / np.sqrt(together[0, 0] * together[1, 1])]
        np.testing.assert_allclose(updates, expected, rtol=1e-4)
        np.testing.assert_allclose(values, expected, rtol=1e-4)


def test_weights_of_unknown_rank_lose_or_gain_a_last_dimension(sess):
    weights = tf.placeholder(tf.float32)
    flat = tf.metrics.accuracy([[1], [0], [0]], [1, 1, 1], weights)[1]
    wide = tf.metrics.mean([[1.0], [0.0], [0.0]], weights)[1]
    for update, shapes in ((flat, ([3], [3, 1])), (wide, ([3, 1], [3]))):
        for shape in shapes:
            sess.run(tf.local_variables_initializer())
            found = sess.run(update, {weights: np.reshape([100.0, 1.0, 1.0], shape)})
            np.testing.assert_allclose(found, 100 / 102, rtol=1e-6)
        sess.run(tf.local_variables_initializer())
        np.testing.assert_allclose(sess.run(update, {weights: 7.0}), 1 / 3, rtol=1e-6)
