#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for layers and functions that branch or loop.

Usage: python make_branches_of_layers.py      (a Python that has TensorFlow 1.15.5)

Writes branches_of_layers.json, as make_control_flow.py does for its programs.
"""

import sys

from make_array_loops import matrix
from make_control_flow import numbers, truth, write

PROGRAMS, MISTAKES = {}, {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mistake(function):
    MISTAKES[function.__name__] = function
    return function


def image(tf):
    values = [[[[float(i + 2 * j), float(i * j)] for j in range(3)] for i in range(2)]] * 2
    return tf.placeholder_with_default(values, [2, 2, 3, 2], name="image")


def after_updates(tf, outputs):
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return [tf.identity(one) for one in outputs]


def normalized(tf, x, **options):
    y = tf.layers.batch_normalization(x, name="bn", **options)
    made = after_updates(tf, [y])
    with tf.control_dependencies(made):
        return made + [v.read_value() for v in tf.global_variables()]


# ---- Batch normalization


@program
def normalization_fused(tf):
    return normalized(tf, image(tf), training=truth(tf))


@program
def normalization_fused_not_training(tf):
    return normalized(tf, image(tf), training=truth(tf, False), center=False, scale=False)


@program
def normalization_channels_first(tf):
    return normalized(tf, image(tf), axis=1, training=truth(tf), fused=False)


@program
def normalization_plain(tf):
    return normalized(tf, matrix(tf), training=truth(tf))


@program
def normalization_plain_not_training(tf):
    return normalized(tf, matrix(tf), training=truth(tf, False), momentum=0.5)


@program
def normalization_by_known_flag(tf):
    return normalized(tf, matrix(tf), training=tf.constant(True))


@program
def normalization_by_variable(tf):
    flag = tf.Variable(True, trainable=False, name="flag")
    return normalized(tf, matrix(tf), training=flag)[:1]


@program
def normalization_renormed(tf):
    clipping = {"rmin": 0.5, "rmax": 1.5, "dmax": 0.5}
    return normalized(tf, matrix(tf), training=truth(tf), renorm=True, renorm_clipping=clipping)


@program
def normalization_renormed_not_training(tf):
    return normalized(tf, matrix(tf), training=truth(tf, False), renorm=True)


@program
def normalization_adjusted(tf):
    def adjustment(shape):
        return tf.fill([shape[0], 1], 2.0), tf.fill([shape[0], 1], 0.5)

    return normalized(tf, matrix(tf), training=truth(tf), adjustment=adjustment)


@program
def normalization_virtual_batches(tf):
    x = tf.concat([matrix(tf), 2.0 * matrix(tf, "n")], 0)
    return normalized(tf, x, training=truth(tf), virtual_batch_size=3)


@program
def normalization_virtual_and_renormed(tf):
    x = tf.concat([matrix(tf), 2.0 * matrix(tf, "n")], 0)
    return normalized(tf, x, training=True, virtual_batch_size=2, renorm=True)


@program
def normalization_several_axes(tf):
    return normalized(tf, image(tf), axis=[1, 3], training=truth(tf))


@program
def normalization_gradient(tf):
    x = matrix(tf)
    y = tf.layers.batch_normalization(x, training=truth(tf), name="bn")
    return tf.gradients(y * y * y, [x])


@program
def normalization_fused_gradient(tf):
    x = image(tf)
    y = tf.layers.batch_normalization(x, training=truth(tf), name="bn")
    return tf.gradients(y * y, [x])


def contrib_normalized(tf, x, **options):
    y = tf.contrib.layers.batch_norm(x, scale=True, decay=0.5, **options)
    made = after_updates(tf, [y])
    with tf.control_dependencies(made):
        return made + [v.read_value() for v in tf.global_variables()]


@program
def contrib_normalization(tf):
    return contrib_normalized(tf, matrix(tf), is_training=truth(tf), fused=False)


@program
def contrib_normalization_fused(tf):
    return contrib_normalized(tf, image(tf), is_training=truth(tf), fused=True)


@program
def contrib_normalization_of_rows(tf):
    return contrib_normalized(tf, matrix(tf), is_training=truth(tf))


@program
def contrib_normalization_updates_at_once(tf):
    return contrib_normalized(
        tf, matrix(tf), is_training=truth(tf), updates_collections=None, fused=False
    )


@program
def contrib_normalization_fused_updates_at_once(tf):
    return contrib_normalized(tf, image(tf), is_training=truth(tf), updates_collections=None)


@program
def contrib_normalization_updates_elsewhere(tf):
    made = contrib_normalized(
        tf, matrix(tf), is_training=truth(tf, False), updates_collections="mine", fused=False
    )
    return made + [len(tf.get_collection("mine"))]


@program
def contrib_normalization_zero_debias(tf):
    return contrib_normalized(
        tf, image(tf), is_training=truth(tf), zero_debias_moving_mean=True, fused=True
    )


@program
def contrib_normalization_weighted(tf):
    return contrib_normalized(
        tf, matrix(tf), is_training=truth(tf), batch_weights=[1.0, 2.0, 1.0]
    )


# ---- Dropout


@program
def dropout_not_training(tf):
    return [tf.layers.dropout(numbers(tf), training=truth(tf, False))]


@program
def dropout_training(tf):
    tf.set_random_seed(1)
    made = tf.layers.dropout(matrix(tf), 0.25, noise_shape=[3, None], training=truth(tf), seed=2)
    return [tf.shape(made)]


@program
def dropout_by_constant(tf):
    return [tf.layers.dropout(numbers(tf), training=tf.constant(False))]


@program
def contrib_dropout(tf):
    return [tf.contrib.layers.dropout(numbers(tf), is_training=truth(tf, False))]


# ---- Flags


@program
def smart_cond_of_tensor(tf):
    x = numbers(tf)
    return [tf.contrib.framework.smart_cond(truth(tf), lambda: x, lambda: -x, name="chosen")]


@program
def smart_cond_of_constants(tf):
    x = numbers(tf)
    choose = tf.contrib.framework.smart_cond
    made = [choose(flag, lambda: x + 1.0, lambda: -x) for flag in (True, 0, tf.constant(False))]
    return made + [choose(tf.equal(tf.constant(1), 1), lambda: x * 3.0, lambda: x)]


# ---- Second derivatives


@program
def hessians_of_vector(tf):
    x = numbers(tf)
    return tf.hessians(tf.reduce_sum(x * x * x), x)


@program
def hessians_of_unknown_shape(tf):
    x = tf.placeholder_with_default([[1.0, 2.0]], [None, None])
    return tf.hessians(tf.reduce_prod(x), [x])


@program
def hessians_of_two(tf):
    x, y = numbers(tf), numbers(tf, "y")
    return tf.hessians(tf.reduce_sum(x * x * y * y), [x, y])


# ---- Images


def picture(tf, shape=(2, 3, 1), name="picture"):
    count = 1
    for size in shape:
        count *= size
    values = [float(i * i % 17) for i in range(count)]
    return tf.reshape(tf.constant(values), shape, name=name)


def unknown_picture(tf, shape=(2, 3, 1)):
    return tf.placeholder_with_default(picture(tf, shape), [None] * len(shape), name="unknown")


@program
def image_rotated_by_tensor(tf):
    k = tf.placeholder_with_default(3, [], name="k")
    return [tf.image.rot90(picture(tf), k), tf.image.rot90(picture(tf, (2, 2, 3, 1)), k)]


@program
def image_flipped_at_random(tf):
    tf.set_random_seed(1)
    made = [tf.image.random_flip_left_right(picture(tf), seed=2)]
    made.append(tf.image.random_flip_up_down(picture(tf), seed=2))
    return [tf.shape(one) for one in made]


@program
def images_flipped_at_random(tf):
    tf.set_random_seed(1)
    made = [tf.image.random_flip_left_right(picture(tf, (2, 2, 3, 1)), seed=2)]
    made.append(tf.image.random_flip_up_down(picture(tf, (2, 2, 3, 1)), seed=2))
    return [tf.shape(one) for one in made]


@program
def image_flipped_of_unknown_rank(tf):
    x = tf.placeholder_with_default(picture(tf), None)
    return [tf.image.flip_left_right(x), tf.image.transpose_image(x)]


@program
def image_padded_unknown(tf):
    return [tf.image.pad_to_bounding_box(unknown_picture(tf), 1, 1, 4, 5)]


@program
def image_cropped_unknown(tf):
    return [tf.image.crop_to_bounding_box(unknown_picture(tf), 0, 1, 1, 2)]


@program
def image_resized_keeping_ratio(tf):
    made = tf.image.resize_images(unknown_picture(tf), [4, 4], preserve_aspect_ratio=True)
    return [made]


@program
def image_standardized(tf):
    return [tf.image.per_image_standardization(unknown_picture(tf))]


@program
def image_colors_at_random(tf):
    tf.set_random_seed(1)
    x = picture(tf, (4, 4, 3)) / 17.0
    made = [tf.image.random_hue(x, 0.2, seed=1), tf.image.random_saturation(x, 0.5, 1.5, seed=1)]
    return [tf.shape(one) for one in made]


@program
def image_drawn_boxes(tf):
    boxes = [[[0.1, 0.2, 0.5, 0.9], [0.2, 0.2, -0.5, 0.8]]]
    size = tf.placeholder_with_default([20, 20, 1], [3])
    made = tf.image.sample_distorted_bounding_box(size, boxes, seed=1, min_object_covered=0.1)
    return [tf.shape(made[0])]


# ---- Losses and metrics


def unknown_rank(tf, values, name):
    return tf.placeholder_with_default(tf.constant(values), None, name=name)


def pair(tf):
    labels = unknown_rank(tf, [[1.0], [0.0], [1.0]], "labels")
    return labels, unknown_rank(tf, [[0.5], [0.5], [0.75]], "predictions")


@program
def loss_of_unknown_rank(tf):
    labels, predictions = pair(tf)
    return [tf.losses.mean_squared_error(labels, predictions)]


@program
def loss_with_weights_of_unknown_rank(tf):
    labels, predictions = pair(tf)
    weights = unknown_rank(tf, [[1.0], [2.0], [0.5]], "weights")
    return [tf.losses.absolute_difference(labels, predictions, weights)]


@program
def loss_with_scalar_weights(tf):
    labels, predictions = pair(tf)
    return [tf.losses.log_loss(labels, predictions, 2.0)]


@program
def loss_of_classes_of_unknown_rank(tf):
    labels = unknown_rank(tf, [[1], [0]], "labels")
    logits = tf.placeholder_with_default([[1.0, 2.0], [3.0, 1.0]], [None, 2])
    return [tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=[[1.0], [2.0]])]


def streamed(tf, pair_of_values):
    value, update = pair_of_values
    local = tf.local_variables_initializer()
    with tf.control_dependencies([local]):
        ready = tf.no_op(name="ready")
    with tf.control_dependencies([ready]):
        return [value.dtype.base_dtype == update.dtype.base_dtype]


@program
def metric_mean_of_unknown_rank(tf):
    labels, _ = pair(tf)
    return streamed(tf, tf.metrics.mean(labels, weights=unknown_rank(tf, [2.0], "weights")))


@program
def metric_accuracy_of_unknown_rank(tf):
    labels, predictions = pair(tf)
    return streamed(tf, tf.metrics.accuracy(labels, predictions, weights=[[1.0], [0.0], [1.0]]))


@program
def metric_precision_of_unknown_rank(tf):
    labels, predictions = pair(tf)
    return streamed(tf, tf.metrics.precision(labels, predictions))


@program
def metric_auc_of_unknown_rank(tf):
    labels, predictions = pair(tf)
    return streamed(tf, tf.metrics.auc(labels, predictions, num_thresholds=5))


@program
def confusion_matrix_weighted(tf):
    labels = tf.placeholder_with_default([1, 0, 1], [None])
    return [tf.confusion_matrix(labels, [1, 1, 1], weights=[1.0, 2.0, 0.5])]


@program
def confusion_matrix_of_unknown_rank(tf):
    labels = unknown_rank(tf, [1, 0, 1], "labels")
    return [tf.confusion_matrix(labels, [[1], [1], [1]], num_classes=2)]


# ---- Checks


@program
def checks_of_unknown_shapes(tf):
    x = tf.placeholder_with_default([[1.0, 2.0]], None, name="x")
    checks = [
        tf.assert_rank(x, 2),
        tf.assert_rank_at_least(x, 1),
        tf.assert_rank_in(x, [1, 2]),
        tf.assert_equal(x, x),
        tf.assert_near(x, x),
        tf.assert_non_negative(x, message="text"),
        tf.assert_integer(tf.constant(1)),
        tf.assert_greater_equal(x, 0.0, data=[x], summarize=2),
    ]
    with tf.control_dependencies(checks):
        return [tf.identity(x)]


@program
def clipped_by_norm(tf):
    x = numbers(tf)
    clipped, norm = tf.clip_by_global_norm([x, 2.0 * x], 1.0)
    with tf.control_dependencies([tf.check_numerics(x, "no number")]):
        return [tf.identity(clipped[0]), norm, tf.verify_tensor_all_finite(x, "no number")]


@program
def numerics_of_unknown(tf):
    x = tf.placeholder_with_default([1.0], None)
    return [tf.linalg.norm(x), tf.nn.l2_normalize(x, 0), tf.nn.moments(x, [0])[1]]


@program
def while_with_summaries(tf):
    def body(i):
        tf.summary.scalar("inside", i)
        return i + 1

    made = tf.while_loop(lambda i: i < 3, body, [0])
    return [made, len(tf.get_collection(tf.GraphKeys.SUMMARIES))]


@program
def cond_with_summaries(tf):
    x = tf.reduce_sum(numbers(tf))

    def branch():
        tf.summary.scalar("inside", x)
        return x

    made = tf.cond(truth(tf), branch, lambda: -x)
    return [made, len(tf.get_collection(tf.GraphKeys.SUMMARIES))]


if __name__ == "__main__":
    sys.exit(write("branches_of_layers.json", PROGRAMS, MISTAKES))
