"""tf.image: pictures cut, turned, resized, recolored, compared, decoded and encoded."""

import numpy as np
import pytest
import rheos.v1 as tf


def ramp(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def fed(sess, function, value, shape=None):
    """function's result for a placeholder of a shape that is not known in full."""
    x = tf.placeholder(value.dtype, shape or [None] * value.ndim)
    return sess.run(function(x), {x: value})


def test_crop_takes_the_window(sess):
    picture = ramp(5, 6, 2)
    crop = tf.image.crop_to_bounding_box(picture, 1, 2, 3, 4)
    assert crop.shape.as_list() == [3, 4, 2]
    assert np.array_equal(sess.run(crop), picture[1:4, 2:6])
    batch = ramp(2, 5, 6, 1)
    window = sess.run(tf.image.crop_to_bounding_box(batch, 0, 1, 5, 2))
    assert np.array_equal(window, batch[:, :, 1:3])


def test_crop_refuses_windows_outside(sess):
    with pytest.raises(ValueError, match="width must be >= target"):
        tf.image.crop_to_bounding_box(ramp(5, 6, 2), 0, 3, 3, 4)
    with pytest.raises(ValueError, match="offset_height must be >= 0"):
        tf.image.crop_to_bounding_box(ramp(5, 6, 2), -1, 0, 3, 4)
    with pytest.raises(tf.errors.InvalidArgumentError):
        fed(sess, lambda x: tf.image.crop_to_bounding_box(x, 3, 0, 3, 4), ramp(5, 6, 2))


def test_pad_frames_with_zeros(sess):
    picture = ramp(2, 3, 1) + 1
    expected = np.zeros((5, 6, 1), np.float32)
    expected[1:3, 2:5] = picture
    padded = tf.image.pad_to_bounding_box(picture, 1, 2, 5, 6)
    assert np.array_equal(sess.run(padded), expected)
    assert np.array_equal(
        fed(sess, lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 5, 6), picture), expected
    )


def test_crop_or_pad_keeps_the_middle(sess):
    picture = ramp(4, 7, 1)
    result = sess.run(tf.image.resize_image_with_crop_or_pad(picture, 6, 3))
    assert np.array_equal(result[1:5], picture[:, 2:5])
    assert not result[[0, 5]].any()
    late = fed(sess, lambda x: tf.image.resize_image_with_crop_or_pad(x, 6, 3), picture)
    assert np.array_equal(late, result)


def test_central_crop(sess):
    picture = ramp(8, 10, 1)
    assert np.array_equal(sess.run(tf.image.central_crop(picture, 0.5)), picture[2:6, 2:8])
    late = fed(sess, lambda x: tf.image.central_crop(x, 0.5), picture, [None, None, 1])
    assert np.array_equal(late, picture[2:6, 2:8])
    with pytest.raises(ValueError, match="central_fraction"):
        tf.image.central_crop(picture, 0.0)


def test_flips_and_turns(sess):
    picture, batch = ramp(3, 4, 2), ramp(2, 3, 4, 2)
    results = sess.run(
        [
            tf.image.flip_left_right(picture),
            tf.image.flip_up_down(batch),
            tf.image.transpose_image(picture),
            tf.image.rot90(picture),
            tf.image.rot90(batch, 3),
            tf.image.rot90(picture, k=6),
        ]
    )
    expected = [
        picture[:, ::-1],
        batch[:, ::-1],
        picture.transpose(1, 0, 2),
        np.rot90(picture),
        np.rot90(batch, 3, axes=(1, 2)),
        np.rot90(picture, 2),
    ]
    for result, wanted in zip(results, expected):
        assert np.array_equal(result, wanted)


def test_random_flip_gives_both(sess):
    picture = ramp(2, 3, 1)
    flipped = tf.image.random_flip_left_right(picture, seed=1)
    seen = {tuple(sess.run(flipped)[0, :, 0]) for _ in range(40)}
    assert seen == {(0, 1, 2), (2, 1, 0)}
    batch = sess.run(tf.image.random_flip_up_down(np.tile(ramp(2, 1, 1), (50, 1, 1, 1)), seed=3))
    firsts = set(batch[:, 0, 0, 0])
    assert firsts == {0, 1}


@pytest.mark.parametrize("method", range(4))
def test_resize_of_a_plain_picture_is_plain(sess, method):
    picture = np.full((3, 5, 2), 7, np.uint8)
    resized = tf.image.resize_images(picture, [6, 4], method)
    assert resized.shape.as_list() == [6, 4, 2]
    wanted = tf.uint8 if method == tf.image.ResizeMethod.NEAREST_NEIGHBOR else tf.float32
    assert resized.dtype == wanted
    assert np.allclose(sess.run(resized), 7, atol=1e-5)


def test_resize_values(sess):
    picture = np.array([[[0.0], [10.0]], [[20.0], [30.0]]], np.float32)
    corners = tf.image.resize_images(picture, [3, 3], align_corners=True)
    assert np.array_equal(sess.run(corners)[..., 0], [[0, 5, 10], [10, 15, 20], [20, 25, 30]])
    assert tf.image.resize_images(picture, [2, 2]).dtype == tf.float32
    method = tf.image.ResizeMethod.NEAREST_NEIGHBOR
    near = tf.image.resize_images(picture, tf.constant([4, 2]), method)
    assert np.array_equal(sess.run(near)[:, 0, 0], [0, 0, 20, 20])
    area = tf.image.resize_images(picture, [1, 1], tf.image.ResizeMethod.AREA)
    assert sess.run(area)[0, 0, 0] == 15


def test_resize_keeps_proportions_on_request(sess):
    picture = np.zeros((10, 20, 3), np.float32)
    resized = tf.image.resize_images(picture, [8, 8], preserve_aspect_ratio=True)
    assert resized.shape.as_list() == [4, 8, 3]
    assert sess.run(resized).shape == (4, 8, 3)


def test_resize_refuses_wrong_shapes():
    with pytest.raises(ValueError, match="3 or 4 dimensions"):
        tf.image.resize_images(np.zeros((2, 2), np.float32), [3, 3])
    with pytest.raises(ValueError, match="2 elements"):
        tf.image.resize_images(np.zeros((2, 2, 1), np.float32), [3, 3, 3])
    with pytest.raises(ValueError, match="not implemented"):
        tf.image.resize_images(np.zeros((2, 2, 1), np.float32), [3, 3], method=9)


@pytest.mark.parametrize("name", ["resize_bilinear", "resize_bicubic"])
def test_resize_has_its_gradient(sess, name):
    value = np.random.RandomState(0).rand(1, 4, 3, 1).astype(np.float32)
    x = tf.placeholder(tf.float32, [1, 4, 3, 1])
    weights = np.random.RandomState(1).rand(1, 6, 2, 1).astype(np.float32)
    y = tf.reduce_sum(getattr(tf.image, name)(x, [6, 2]) * weights)
    (grad,) = tf.gradients(y, [x])
    found = sess.run(grad, {x: value})
    # The map is linear: its value at a unit picture is the gradient there.
    for at in np.ndindex(value.shape):
        unit = np.zeros_like(value)
        unit[at] = 1
        assert abs(sess.run(y, {x: unit}) - found[at]) < 1e-5


def test_crop_and_resize_has_its_gradients(sess):
    image = tf.placeholder(tf.float32, [1, 4, 4, 1])
    boxes = tf.placeholder(tf.float32, [1, 4])
    y = tf.reduce_sum(tf.image.crop_and_resize(image, boxes, [0], [2, 2]))
    by_image, by_boxes = tf.gradients(y, [image, boxes])
    feeds = {image: ramp(1, 4, 4, 1), boxes: [[0.1, 0.1, 0.8, 0.9]]}
    assert sess.run(by_image, feeds).sum() == pytest.approx(4)
    # The picture rises by 12 from top to bottom and by 3 from left to right.
    assert np.allclose(sess.run(by_boxes, feeds), [[24, 6, 24, 6]], atol=1e-4)


def test_dtypes_are_scaled(sess):
    bytes_ = np.array([[[0], [255], [128]]], np.uint8)
    floats = sess.run(tf.image.convert_image_dtype(bytes_, tf.float32))
    assert np.allclose(floats[0, :, 0], [0, 1, 128 / 255])
    back = tf.image.convert_image_dtype(floats, tf.uint8)
    assert np.array_equal(sess.run(back), bytes_)
    wide = sess.run(tf.image.convert_image_dtype(bytes_, tf.int16))
    assert wide[0, 1, 0] == 255 * 128
    clipped = tf.image.convert_image_dtype(np.float32([2.0, -1.0]), tf.uint8, saturate=True)
    assert sess.run(clipped).tolist() == [255, 0]


def test_standardization(sess):
    picture = ramp(4, 5, 3)
    result = sess.run(tf.image.per_image_standardization(picture))
    assert np.allclose(result, (picture - picture.mean()) / picture.std(), atol=1e-5)
    plain = sess.run(tf.image.per_image_standardization(np.full((2, 2, 1), 9, np.uint8)))
    assert plain.dtype == np.uint8 and not plain.any()


def test_brightness_and_gamma(sess):
    picture = np.float32([[[0.25], [0.5]]])
    assert np.allclose(sess.run(tf.image.adjust_brightness(picture, 0.1)), picture + 0.1)
    assert np.allclose(sess.run(tf.image.adjust_gamma(picture, 2, 3)), 3 * picture**2)
    moved = sess.run(tf.image.random_brightness(picture, 0.2, seed=1)) - picture
    assert np.ptp(moved) < 1e-6 and 0 < abs(moved.flat[0]) <= 0.2
    with pytest.raises(ValueError, match="max_delta"):
        tf.image.random_brightness(picture, -1)


def test_gray_and_back(sess):
    picture = np.float32([[[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0.5]]])
    gray = sess.run(tf.image.rgb_to_grayscale(picture))
    assert np.allclose(gray[0, :, 0], [0.2989, 0.587, 0.49995])
    rgb = tf.image.grayscale_to_rgb(gray)
    assert rgb.shape.as_list() == [1, 3, 3]
    assert np.array_equal(sess.run(rgb), np.repeat(gray, 3, -1))


def test_color_spaces_come_back(sess):
    picture = np.random.RandomState(2).rand(3, 4, 3).astype(np.float32)
    for there, back in (("rgb_to_yiq", "yiq_to_rgb"), ("rgb_to_yuv", "yuv_to_rgb")):
        result = getattr(tf.image, back)(getattr(tf.image, there)(picture))
        assert np.allclose(sess.run(result), picture, atol=1e-3)


def test_png_and_jpeg_files(sess):
    picture = (ramp(9, 8, 3) % 256).astype(np.uint8)
    file = tf.image.encode_png(picture)
    decoded = tf.image.decode_png(file, channels=3)
    assert decoded.shape.as_list() == [None, None, 3]
    assert np.array_equal(sess.run(decoded), picture)
    assert np.array_equal(sess.run(tf.image.decode_image(file)), picture)
    smooth = np.full((16, 16, 3), 90, np.uint8)
    jpeg = tf.image.encode_jpeg(smooth, quality=100)
    difference = sess.run(tf.image.decode_jpeg(jpeg)).astype(int) - 90
    assert abs(difference).max() <= 2
    assert sess.run(tf.image.is_jpeg(jpeg)) and not sess.run(tf.image.is_jpeg(file))
    assert sess.run(tf.image.extract_jpeg_shape(jpeg)).tolist() == [16, 16, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        sess.run(tf.image.decode_jpeg(b"nothing"))


def test_measures(sess):
    a, b = np.zeros((8, 8, 1), np.float32), np.full((8, 8, 1), 0.1, np.float32)
    assert sess.run(tf.image.psnr(a, b, 1.0)) == pytest.approx(20, abs=1e-3)
    picture = np.random.RandomState(3).rand(16, 16, 1).astype(np.float32)
    x, other = tf.constant(picture), tf.constant(picture[::-1].copy())
    assert sess.run(tf.image.ssim(x, x, 1.0)) == pytest.approx(1, abs=1e-5)
    assert sess.run(tf.image.ssim(x, other, 1.0)) < 0.5
    assert sess.run(tf.image.total_variation(tf.constant(ramp(2, 2, 1)))) == 6
    dy, dx = sess.run(tf.image.image_gradients(tf.constant(ramp(1, 2, 3, 1))))
    assert dy[0, :, :, 0].tolist() == [[3, 3, 3], [0, 0, 0]]
    assert dx[0, :, :, 0].tolist() == [[1, 1, 0], [1, 1, 0]]
    edges = sess.run(tf.image.sobel_edges(tf.constant(ramp(1, 4, 5, 1))))
    assert edges.shape == (1, 4, 5, 1, 2)
    assert np.allclose(edges[0, 1:3, 1:4, 0], [40, 8])


def test_boxes_are_drawn(sess):
    pictures = np.zeros((1, 4, 5, 3), np.float32)
    drawn = sess.run(tf.image.draw_bounding_boxes(pictures, [[[0.0, 0.0, 1.0, 1.0]]]))
    assert np.array_equal(drawn[0, 0, 0], [1, 1, 0])
    assert not drawn[0, 1:3, 1:4].any()
    red = tf.image.draw_bounding_boxes(pictures, [[[0.0, 0.0, 1.0, 1.0]]], colors=[[1.0, 0, 0]])
    assert np.array_equal(sess.run(red)[0, 3, 2], [1, 0, 0])


def test_best_boxes_of_all_classes(sess):
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 0, 0.2, 0.2]], np.float32)
    scores = np.array([[0.9, 0.1], [0.8, 0.7], [0.3, 0.6]], np.float32)
    found = sess.run(
        tf.image.combined_non_max_suppression(
            boxes.reshape(1, 3, 1, 4), scores[None], 2, 4, score_threshold=0.2
        )
    )
    assert found.valid_detections[0] == 4
    assert np.allclose(found.nmsed_scores[0], [0.9, 0.7, 0.6, 0.3])
    assert np.array_equal(found.nmsed_classes[0], [0, 1, 1, 0])


def test_glimpses_are_windows_and_noise_outside(sess):
    pictures = ramp(2, 4, 4, 1) + 100
    inside = tf.image.extract_glimpse(pictures, [2, 2], [[0.0, 0.0], [0.0, 0.0]])
    assert np.array_equal(sess.run(inside), pictures[:, 1:3, 1:3])
    outside = sess.run(tf.image.extract_glimpse(pictures, [2, 2], [[5.0, 5.0], [5.0, 5.0]]))
    assert ((outside >= 0) & (outside < 1)).all() and len(np.unique(outside)) == 8
    wide = tf.raw_ops.ExtractGlimpse(
        input=pictures, size=[40, 40], offsets=[[9.0, 9.0], [9.0, 9.0]],
        uniform_noise=False, noise="gaussian",
    )  # fmt: skip
    around = sess.run(wide)
    for k in range(2):
        assert abs(around[k].mean() - pictures[k].mean()) < 0.5
        assert abs(around[k].std() - pictures[k].std()) < 0.5


def test_a_png_file_of_16_bits_keeps_them(sess):
    picture = np.random.RandomState(0).randint(0, 65536, (4, 5, 3)).astype(np.uint16)
    file = sess.run(tf.image.encode_png(tf.constant(picture)))
    for dtype, expected in (
        (tf.uint8, picture >> 8),
        (tf.uint16, picture),
        (tf.float32, picture.astype(np.float32) * np.float32(1 / 65535)),
    ):
        found = sess.run(tf.image.decode_image(file, dtype=dtype))
        assert found.dtype == dtype.as_numpy_dtype and (found == expected).all()
    narrow = sess.run(tf.image.encode_png((picture >> 8).astype(np.uint8)))
    assert (sess.run(tf.image.decode_image(narrow, dtype=tf.uint16)) == (picture >> 8) * 257).all()


def test_pictures_of_unknown_rank_and_without_pixels():
    for turn in (tf.image.rot90, tf.image.flip_up_down, tf.image.transpose_image):
        assert turn(tf.placeholder(tf.uint8)).shape.ndims == 3
        for shape in ([64, 0, 3], [0, 4, 4, 3]):
            with pytest.raises(ValueError, match="all dims of 'image.shape' must be > 0"):
                turn(tf.placeholder(tf.uint8, shape))
    with pytest.raises(ValueError, match="must be at least two-dimensional"):
        tf.image.grayscale_to_rgb(tf.placeholder(tf.uint8, [1]))
