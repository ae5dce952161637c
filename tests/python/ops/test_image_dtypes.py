"""Pictures of all dtypes in TensorFlow 2's face: what dtype and values come out."""

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2
KINDS = "uint8 int8 int16 uint16 int32 int64 float16 bfloat16 float32 float64".split()


def pictures(dtype, batch=2):
    x = np.random.RandomState(0).randint(0, 120, (batch, 4, 6, 3))
    return tf.cast(tf.constant(x if "int" in dtype else x / 120), dtype)


@pytest.mark.parametrize("dtype", KINDS)
def test_standardized_pictures_are_float32(dtype):
    x = pictures(dtype)
    for given in (x, x[0]):
        y = tf.image.per_image_standardization(given)
        assert y.dtype == tf.float32 and y.shape == given.shape
        plain = tf.cast(given, tf.float32).numpy()
        axes = (-3, -2, -1)
        wanted = (plain - plain.mean(axes, keepdims=True)) / plain.std(axes, keepdims=True)
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", KINDS)
def test_resized_pictures_are_float32_unless_nearest(dtype):
    x = pictures(dtype)
    for given in (x, x[0]):
        for method in ("bilinear", "bicubic", "area", "lanczos3"):
            for size in ([4, 6], [2, 3]):
                assert tf.image.resize(given, size, method).dtype == tf.float32
            np.testing.assert_array_equal(
                tf.image.resize(given, [4, 6], method), tf.cast(given, tf.float32)
            )
        assert tf.image.resize(given, [4, 6], "nearest").dtype == dtype
        assert tf.image.resize(given, [2, 3], "nearest").dtype == dtype
        assert tf.image.resize_with_pad(given, 4, 6).dtype == tf.float32


def test_pictures_of_unlike_sizes_are_resized():
    x = tf.ragged.stack([tf.ones([2, 3, 3]), 2 * tf.ones([4, 2, 3])])
    for method in ("bilinear", "nearest"):
        y = tf.image.resize(x, [2, 2], method)
        assert y.shape == [2, 2, 2, 3] and y.dtype == tf.float32
        np.testing.assert_array_equal(y[:, 0, 0, 0], [1, 2])


def test_integers_have_no_color_matrix():
    for function in (
        tf.image.rgb_to_yiq, tf.image.yiq_to_rgb, tf.image.rgb_to_yuv, tf.image.yuv_to_rgb
    ):  # fmt: skip
        with pytest.raises(TypeError):
            function(pictures("int32"))
        assert function(pictures("float32")).dtype == tf.float32


BOXES = [[0, 0, 1, 1], [0, 0, 0.9, 0.9], [2, 2, 3, 3], [2, 2, 3, 3.1], [0, 0, 1, 1.0]]
SCORES = [0.9, 0.8, 0.3, 0.35, 0.1]


def test_soft_suppression_lowers_scores():
    chosen, scores = tf.image.non_max_suppression_with_scores(BOXES, SCORES, 3, soft_nms_sigma=0.5)
    assert chosen.numpy().tolist() == [0, 1, 3]
    np.testing.assert_allclose(scores, [0.9, 0.8 * np.exp(-(0.81**2)), 0.35], rtol=1e-5)
    for threshold in (0.1, 0.5, 1.0):  # says nothing then
        again = tf.image.non_max_suppression_with_scores(
            BOXES, SCORES, 3, iou_threshold=threshold, soft_nms_sigma=0.5
        )
        np.testing.assert_array_equal(again[0], chosen)
    hard, scores = tf.image.non_max_suppression_with_scores(BOXES, SCORES, 3)
    assert hard.numpy().tolist() == [0, 3] and scores.numpy().tolist() == [
        np.float32(0.9), np.float32(0.35)]  # fmt: skip


def test_boxes_by_seed():
    for size, kind in (([4, 4, 3], tf.int32), (tf.constant([4, 4, 3], tf.int64), tf.int64)):
        begin, extent, box = tf.image.stateless_sample_distorted_bounding_box(
            size, [[[0.1, 0.1, 0.9, 0.9]]], [1, 2], 0.1
        )
        assert begin.numpy().tolist() == [0, 0, 0] and extent.numpy().tolist() == [3, 4, -1]
        assert begin.dtype == extent.dtype == kind
        np.testing.assert_allclose(box, [[[0, 0, 0.75, 1]]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.stateless_sample_distorted_bounding_box([4, 4, 3], [[[0, 0, 1.0, 1]]], [1, 2, 3])


def test_suppression_of_batches():
    batch = np.array([BOXES, BOXES[::-1]], np.float32)
    scores = np.array([SCORES, SCORES[::-1]], np.float32)
    options = {"iou_threshold": 0.5, "pad_to_max_output_size": True}
    told = {"canonicalized_coordinates": True, "tile_size": 16}
    chosen, count = tf.image.non_max_suppression_padded(batch, scores, 4, **options, **told)
    assert chosen.numpy().tolist() == [[0, 3, 0, 0], [4, 1, 0, 0]]
    assert count.numpy().tolist() == [2, 2]
    deep = tf.image.non_max_suppression_padded(batch[None], scores[None], 4, **options)
    assert deep[0].shape == [1, 2, 4] and deep[1].shape == [1, 2]
    one, count = tf.image.non_max_suppression_padded(BOXES, SCORES, 4, **options)
    assert one.numpy().tolist() == [0, 3, 0, 0] and int(count) == 2
    with pytest.raises(ValueError, match="pad_to_max_output_size"):
        tf.image.non_max_suppression_padded(batch, scores, 4)
