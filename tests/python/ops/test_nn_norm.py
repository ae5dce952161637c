"""Statistics of batches, activations and lookups."""

import numpy as np
import pytest
import rheos.v1 as tf

X = np.random.RandomState(0).randn(6, 3).astype(np.float32)


def test_sufficient_statistics_give_the_moments(sess):
    for shift in (None, 0.5):
        mean, variance = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(X, [0], shift=shift))
        np.testing.assert_allclose(sess.run(mean), X.mean(0), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(sess.run(variance), X.var(0), rtol=1e-4)


def test_weighted_moments_count_elements_several_times(sess):
    times = np.array([[1], [2], [1], [3], [1], [1]])
    many = np.repeat(X, times[:, 0], axis=0)
    mean, variance = sess.run(tf.nn.weighted_moments(X, [0], times))
    np.testing.assert_allclose(mean, many.mean(0), rtol=1e-4)
    np.testing.assert_allclose(variance, many.var(0), rtol=1e-4)


def test_batch_normalization(sess):
    mean, variance = X.mean(0), X.var(0)
    plain = (X - mean) / np.sqrt(variance + 1e-3)
    got = tf.nn.batch_normalization(X, mean, variance, None, None, 1e-3)
    np.testing.assert_allclose(sess.run(got), plain, rtol=1e-4, atol=1e-5)
    with_scale = tf.nn.batch_norm_with_global_normalization(
        X, mean, variance, np.float32([1, 2, 3]), np.float32([2, 2, 2]), 1e-3, True
    )
    np.testing.assert_allclose(sess.run(with_scale), plain * 2 + [1, 2, 3], rtol=1e-4, atol=1e-4)


def test_activations(sess):
    np.testing.assert_allclose(sess.run(tf.nn.crelu(X)), np.maximum(np.concatenate([X, -X], -1), 0))
    np.testing.assert_allclose(sess.run(tf.nn.swish(X)), X / (1 + np.exp(-X)), rtol=1e-5)


def test_log_poisson_loss(sess):
    targets = np.float32([0.5, 3.0])
    plain = np.exp(1.0) - targets
    got = tf.nn.log_poisson_loss(targets, np.float32([1, 1]))
    np.testing.assert_allclose(sess.run(got), plain, rtol=1e-5)
    more = 3 * np.log(3) - 3 + 0.5 * np.log(2 * np.pi * 3)
    full = tf.nn.log_poisson_loss(targets, np.float32([1, 1]), compute_full_loss=True)
    np.testing.assert_allclose(sess.run(full), plain + [0, more], rtol=1e-5)
    with pytest.raises(ValueError, match="same shape"):
        tf.nn.log_poisson_loss(targets, np.float32([1]))


TABLE = np.arange(10, dtype=np.float32).reshape(5, 2)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_embeddings_in_parts(strategy, sess):
    parts = [TABLE[0::2], TABLE[1::2]] if strategy == "mod" else [TABLE[:3], TABLE[3:]]
    ids = np.array([[0, 4], [3, 1], [2, 2]])
    fed = tf.placeholder(tf.int32, [None, 2])
    rows = tf.nn.embedding_lookup([tf.constant(p) for p in parts], fed, strategy)
    assert rows.shape.as_list() == [None, 2, 2]
    np.testing.assert_array_equal(sess.run(rows, {fed: ids}), TABLE[ids])


def test_embeddings_with_a_largest_norm(sess):
    got = sess.run(tf.nn.embedding_lookup(TABLE, [1, 4], max_norm=1.0))
    expected = TABLE[[1, 4]] / np.linalg.norm(TABLE[[1, 4]], axis=1, keepdims=True)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_embeddings_refuse():
    with pytest.raises(ValueError, match="at least one"):
        tf.nn.embedding_lookup([], [1])
    with pytest.raises(ValueError, match="partition strategy"):
        tf.nn.embedding_lookup([tf.constant(TABLE), tf.constant(TABLE)], [1], "round")
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, [1], None)


def test_fused_batch_norm(sess):
    images = np.random.RandomState(1).rand(2, 3, 4, 3).astype(np.float32)
    scale, offset = np.float32([1, 2, 3]), np.float32([0, 1, 0])
    y, mean, variance = sess.run(tf.nn.fused_batch_norm(images, scale, offset))
    flat = images.reshape(-1, 3)
    expected = (images - flat.mean(0)) / np.sqrt(flat.var(0) + 1e-3) * scale + offset
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(mean, flat.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, flat.var(0, ddof=1), rtol=1e-4)
    known = tf.nn.fused_batch_norm(images, scale, offset, mean, variance, is_training=False)[0]
    expected = (images - mean) / np.sqrt(variance + 1e-3) * scale + offset
    np.testing.assert_allclose(sess.run(known), expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="must be None"):
        tf.nn.fused_batch_norm(images, scale, offset, mean, variance)
