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


if __name__ == "__main__":
    sys.exit(write("branches_of_layers.json", PROGRAMS, MISTAKES))
