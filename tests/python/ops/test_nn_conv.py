"""Convolutions against sums written out, their names and their gradients."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(2, 5, 6, 3).astype(np.float32)
W = RANDOM.rand(3, 3, 3, 4).astype(np.float32)


def pads(size, taps, stride, rate, padding):
    """(out size, before) of one dimension."""
    taps = (taps - 1) * rate + 1
    if padding == "VALID":
        return (size - taps) // stride + 1, 0
    out = -(-size // stride)
    return out, max((out - 1) * stride + taps - size, 0) // 2


def convolved(x, w, stride=1, rate=1, padding="SAME"):
    n, height, width, _ = x.shape
    rows, top = pads(height, w.shape[0], stride, rate, padding)
    columns, left = pads(width, w.shape[1], stride, rate, padding)
    out = np.zeros([n, rows, columns, w.shape[3]], np.float32)
    for r in range(rows):
        for c in range(columns):
            for i in range(w.shape[0]):
                for j in range(w.shape[1]):
                    y, z = r * stride + i * rate - top, c * stride + j * rate - left
                    if 0 <= y < height and 0 <= z < width:
                        out[:, r, c] += x[:, y, z] @ w[i, j]
    return out


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride, rate", [(1, 1), (2, 1), (1, 2)])
def test_conv2d(padding, stride, rate, sess):
    if padding == "VALID" and rate == 2:
        w = W[:2, :2]
    else:
        w = W
    expected = convolved(X, w, stride, rate, padding)
    got = tf.nn.conv2d(X, w, [1, stride, stride, 1], padding, dilations=rate)
    assert got.shape.as_list() == list(expected.shape)
    np.testing.assert_allclose(sess.run(got), expected, rtol=1e-4, atol=1e-4)


def test_strides_in_all_spellings_and_names(sess):
    first = tf.nn.conv2d(X, W, [1, 2, 2, 1], "SAME")
    for strides in (2, [2], [2, 2]):
        same = tf.nn.conv2d(X, W, strides, "SAME", name="again")
        np.testing.assert_array_equal(*sess.run([first, same]))
    assert first.op.name == "Conv2D"
    assert tf.nn.convolution(X, W, "SAME").op.name == "convolution"
    with pytest.raises(ValueError, match="should be of length 1, 2 or 4"):
        tf.nn.conv2d(X, W, [1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="Depth of input"):
        tf.nn.conv2d(X, W[:, :, :2], 1, "SAME")
    with pytest.raises(ValueError, match="size 2"):
        tf.nn.conv2d(X, W, 1, [[0, 0], [1, 1], [1], [0, 0]])


def test_explicit_padding(sess):
    got = sess.run(tf.nn.conv2d(X, W, 1, [[0, 0], [1, 0], [2, 1], [0, 0]]))
    padded = np.pad(X, [[0, 0], [1, 0], [2, 1], [0, 0]])
    np.testing.assert_allclose(got, convolved(padded, W, padding="VALID"), rtol=1e-4, atol=1e-4)


def test_gradients_are_as_large_as_the_sum_of_products(sess):
    x, w = tf.constant(X), tf.constant(W)
    y = tf.nn.conv2d(x, w, 2, "SAME")
    dx, dw = sess.run(tf.gradients(y, [x, w]))
    # The convolution is linear in both: the inner product with its gradient gives it back.
    total = sess.run(tf.reduce_sum(y))
    np.testing.assert_allclose((dx * X).sum(), total, rtol=1e-4)
    np.testing.assert_allclose((dw * W).sum(), total, rtol=1e-4)


def test_transposed_is_the_gradient(sess):
    small = RANDOM.rand(2, 3, 3, 4).astype(np.float32)
    up = tf.nn.conv2d_transpose(small, W, [2, 5, 6, 3], [1, 2, 2, 1])
    assert up.op.name == "conv2d_transpose" and up.op.type == "Conv2DBackpropInput"
    x = tf.constant(X)
    expected = tf.gradients(tf.nn.conv2d(x, W, 2, "SAME"), x, grad_ys=tf.constant(small))[0]
    np.testing.assert_allclose(*sess.run([up, expected]), rtol=1e-5)


def test_lines_and_volumes(sess):
    line = X[:, 0]
    expected = convolved(X[:, :1], W[:1])[:, 0]
    np.testing.assert_allclose(sess.run(tf.nn.conv1d(line, W[0], 1, "SAME")), expected, rtol=1e-4)
    flat = sess.run(tf.nn.conv3d(X[:, None], W[None], [1] * 5, "SAME"))
    np.testing.assert_allclose(flat[:, 0], convolved(X, W), rtol=1e-4)
    back = tf.nn.conv3d_transpose(flat, W[None], [2, 1, 5, 6, 3], [1] * 5)
    assert back.shape.as_list() == [2, 1, 5, 6, 3]


def test_depthwise_and_separable(sess):
    filters = W[..., :2]
    each = [convolved(X[..., c : c + 1], filters[:, :, c : c + 1]) for c in range(3)]
    expected = np.concatenate(each, axis=-1)
    got = tf.nn.depthwise_conv2d(X, filters, [1, 1, 1, 1], "SAME")
    np.testing.assert_allclose(sess.run(got), expected, rtol=1e-4)
    mix = RANDOM.rand(1, 1, 6, 5).astype(np.float32)
    both = tf.nn.separable_conv2d(X, filters, mix, [1, 1, 1, 1], "SAME")
    np.testing.assert_allclose(sess.run(both), expected @ mix[0, 0], rtol=1e-4)


def test_depthwise_conv2d__a_gradient_that_takes_only_the_shape_needs_no_feed(sess):
    x = tf.placeholder(tf.float32, [1, 4, 4, 3])
    f = tf.fill([2, 2, 3, 2], 0.5)
    grad = tf.gradients(tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"), x)[0]
    assert grad.op.inputs[0].op.type == "Const"
    assert sess.run(grad).sum() == 147.0
