#!/usr/bin/env python3
"""Records what layers and other functions of many operations build in TensorFlow 1.15.

Usage: python make_layers.py      (a Python that has TensorFlow 1.15.5)

Writes layers.json; test_golden_layers.py runs the same programs, which are here.
"""

import hashlib
import json
import os
import sys

import numpy as np


def numbers(*shape):
    """Different numbers around 0, the same each time."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 12.9898) * 2).astype(np.float32).reshape(shape)


def fed(tf, feed, *shape):
    """A placeholder for a batch of any size, fed with numbers of that shape."""
    place = tf.placeholder(tf.float32, [None, *shape[1:]])
    feed[place] = numbers(*shape)
    return place


def in_scopes(tf, x):
    layers, arg_scope = tf.contrib.layers, tf.contrib.framework.arg_scope
    with arg_scope(
        [layers.fully_connected, layers.conv2d],
        activation_fn=tf.nn.tanh,
        weights_regularizer=layers.l1_regularizer(0.1),
    ) as scope:
        with arg_scope([layers.fully_connected], activation_fn=None):
            y = layers.fully_connected(x, 3, scope="a")
    with arg_scope(scope):
        y = layers.fully_connected(y, 3, scope="b")
    return layers.fully_connected(y, 3, scope="a", reuse=True)


def optimized(tf, x):
    loss = tf.reduce_mean(tf.square(tf.contrib.layers.fully_connected(x, 1)))
    step = tf.train.get_or_create_global_step()
    return tf.contrib.layers.optimize_loss(
        loss,
        step,
        0.1,
        "SGD",
        clip_gradients=1.0,
        gradient_multipliers={"fully_connected/weights:0": 2.0},
        learning_rate_decay_fn=lambda rate, at: tf.train.exponential_decay(rate, at, 10, 0.9),
    )


def kept(tf, x):
    layers = tf.contrib.layers
    return layers.conv2d(
        x,
        2,
        [3, 2],
        stride=2,
        padding="VALID",
        normalizer_fn=layers.batch_norm,
        normalizer_params={"decay": 0.9, "scale": True, "updates_collections": None},
        variables_collections=["mine"],
        outputs_collections="outputs",
        scope="c",
    )


def regularized(tf, x):
    weights = tf.get_variable("w", [3, 2])
    both = tf.contrib.layers.l1_l2_regularizer(0.1, 0.2)
    return [both(weights), tf.contrib.layers.apply_regularization(both, [weights])]


def shared(tf, x):
    with tf.variable_scope("m"):
        y = tf.layers.dense(x, 3, name="d")
    with tf.variable_scope("m", reuse=True):
        return tf.layers.dense(y, 3, name="d")


def unrolled(make):
    """A program that applies a cell to three inputs."""

    def program(tf, x):
        outputs, state = tf.nn.static_rnn(
            make(tf, tf.nn.rnn_cell), [x, x * 2.0, 1.0 - x], dtype=tf.float32
        )
        return outputs + tf.contrib.framework.nest.flatten(state)

    return program


def translated(tf, function, **settings):
    symbols = [tf.constant([i, 2 * i + 1]) for i in range(3)]
    outputs, state = getattr(tf.contrib.legacy_seq2seq, function)(
        symbols, symbols[1:], tf.contrib.rnn.GRUCell(3), 6, 6, 2, **settings
    )
    return outputs + [state]


def both_ways(tf, x):
    cells = tf.contrib.rnn
    outputs, forward, backward = tf.nn.static_bidirectional_rnn(
        cells.GRUCell(2), cells.BasicRNNCell(3), [x, x + 1.0], dtype=tf.float32
    )
    return outputs + [forward, backward]


ROWS, IMAGES = (4, 3), (2, 4, 4, 2)

PROGRAMS = {
    # name: (shape of the input, program)
    "dense": (ROWS, lambda tf, x: tf.layers.dense(x, 2, tf.nn.relu)),
    "dense_regularized": (
        ROWS,
        lambda tf, x: tf.layers.dense(
            x, 2, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1), name="d"
        ),
    ),
    "dense_again": (ROWS, shared),
    "normalization": (ROWS, lambda tf, x: tf.layers.batch_normalization(x, training=True)),
    "normalization_fused": (
        IMAGES,
        lambda tf, x: tf.layers.batch_normalization(x, training=True, center=False, scale=False),
    ),
    "normalization_axes": (
        IMAGES,
        lambda tf, x: tf.layers.batch_normalization(x, axis=[1, 3], training=True),
    ),
    "renormalization": (
        ROWS,
        lambda tf, x: tf.layers.batch_normalization(
            x, training=True, renorm=True, renorm_clipping={"rmin": 0.5, "rmax": 1.5, "dmax": 0.5}
        ),
    ),
    "virtual_batches": (
        ROWS,
        lambda tf, x: tf.layers.batch_normalization(x, training=True, virtual_batch_size=2),
    ),
    "adjustment": (
        ROWS,
        lambda tf, x: tf.layers.batch_normalization(
            x, training=True, adjustment=lambda shape: (tf.fill(shape[-1:], 1.1), 0.1)
        ),
    ),
    "positions": (
        IMAGES,
        lambda tf, x: tf.layers.Conv2D(2, 3, (1, 1), "same", "channels_last", (1, 1), tf.nn.relu)(
            x
        ),
    ),
    "separable_positions": (
        IMAGES,
        lambda tf, x: tf.layers.SeparableConv2D(
            2, 3, (1, 1), "same", "channels_last", (1, 1), 2, tf.nn.relu
        )(x),
    ),
    "conv2d": (IMAGES, lambda tf, x: tf.layers.conv2d(x, 2, 3, strides=2, padding="same")),
    "conv2d_transpose": (IMAGES, lambda tf, x: tf.layers.conv2d_transpose(x, 2, 3, strides=2)),
    "fully_connected": (ROWS, lambda tf, x: tf.contrib.layers.fully_connected(x, 2)),
    "arg_scope": (ROWS, in_scopes),
    "contrib_conv2d": (IMAGES, lambda tf, x: tf.contrib.layers.conv2d(x, 2, 3, rate=2)),
    "contrib_conv2d_kept": (IMAGES, kept),
    "contrib_transpose": (IMAGES, lambda tf, x: tf.contrib.layers.conv2d_transpose(x, 2, 3, 2)),
    "contrib_separable": (IMAGES, lambda tf, x: tf.contrib.layers.separable_conv2d(x, 2, 3, 2)),
    "contrib_depthwise": (IMAGES, lambda tf, x: tf.contrib.layers.separable_conv2d(x, None, 3)),
    "contrib_in_plane": (IMAGES, lambda tf, x: tf.contrib.layers.conv2d_in_plane(x, 3)),
    "contrib_pools": (
        IMAGES,
        lambda tf, x: [
            tf.contrib.layers.max_pool2d(x, 2),
            tf.contrib.layers.avg_pool2d(x, [2, 3], scope="p"),
        ],
    ),
    "contrib_dropout": (ROWS, lambda tf, x: tf.contrib.layers.dropout(x, 0.6)),
    "batch_norm": (IMAGES, lambda tf, x: tf.contrib.layers.batch_norm(x)),
    "batch_norm_rows": (ROWS, lambda tf, x: tf.contrib.layers.batch_norm(x, scale=True)),
    "batch_norm_now": (
        IMAGES,
        lambda tf, x: tf.contrib.layers.batch_norm(x, updates_collections=None),
    ),
    "batch_norm_plain": (
        IMAGES,
        lambda tf, x: tf.contrib.layers.batch_norm(
            x, fused=False, updates_collections="mine", decay=0.9
        ),
    ),
    "batch_norm_weighted": (
        ROWS,
        lambda tf, x: tf.contrib.layers.batch_norm(
            x, batch_weights=tf.constant([1.0, 2.0, 3.0, 4.0])
        ),
    ),
    "batch_norm_used": (IMAGES, lambda tf, x: tf.contrib.layers.batch_norm(x, is_training=False)),
    "layer_norm": (ROWS, lambda tf, x: tf.contrib.layers.layer_norm(x)),
    "layer_norm_some": (
        IMAGES,
        lambda tf, x: tf.contrib.layers.layer_norm(
            x, begin_norm_axis=-2, scale=False, activation_fn=tf.nn.relu
        ),
    ),
    "instance_norm": (IMAGES, lambda tf, x: tf.contrib.layers.instance_norm(x)),
    "group_norm": (IMAGES, lambda tf, x: tf.contrib.layers.group_norm(x, groups=2)),
    "bias_add": (
        ROWS,
        lambda tf, x: tf.contrib.layers.bias_add(x, initializer=tf.constant_initializer(0.5)),
    ),
    "repeated": (
        ROWS,
        lambda tf, x: tf.contrib.layers.repeat(
            x, 2, tf.contrib.layers.fully_connected, 3, scope="r"
        ),
    ),
    "stacked": (
        ROWS,
        lambda tf, x: tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, [3, 2]),
    ),
    "maxout": (ROWS, lambda tf, x: tf.contrib.layers.maxout(x, 1)),
    "unit_norm": (ROWS, lambda tf, x: tf.contrib.layers.unit_norm(x, 1)),
    "spatial_softmax": (IMAGES, lambda tf, x: tf.contrib.layers.spatial_softmax(x)),
    "sequences": (IMAGES, lambda tf, x: tf.contrib.layers.images_to_sequence(x)),
    "flatten": (IMAGES, lambda tf, x: tf.contrib.layers.flatten(x)),
    "one_hot": (ROWS, lambda tf, x: tf.contrib.layers.one_hot_encoding(tf.constant([2, 0]), 3)),
    "embedded": (
        ROWS,
        lambda tf, x: tf.contrib.layers.embed_sequence(
            tf.constant([[1, 2], [0, 1]]), 5, 3, unique=True
        ),
    ),
    "rnn": (ROWS, unrolled(lambda tf, cells: cells.BasicRNNCell(2))),
    "gru": (ROWS, unrolled(lambda tf, cells: cells.GRUCell(2))),
    "basic_lstm": (
        ROWS,
        unrolled(
            lambda tf, cells: cells.BasicLSTMCell(2, state_is_tuple=False, activation=tf.nn.relu)
        ),
    ),
    "lstm": (
        ROWS,
        unrolled(
            lambda tf, cells: cells.LSTMCell(
                2, use_peepholes=True, num_proj=1, cell_clip=0.5, proj_clip=0.25
            )
        ),
    ),
    "multi": (
        ROWS,
        unrolled(
            lambda tf, cells: cells.MultiRNNCell(
                [
                    cells.DropoutWrapper(cells.LSTMCell(3), output_keep_prob=0.5, seed=1),
                    cells.ResidualWrapper(cells.GRUCell(3)),
                ]
            )
        ),
    ),
    "bidirectional": (ROWS, both_ways),
    "lstm_block": (
        ROWS,
        unrolled(lambda tf, _: tf.contrib.rnn.LSTMBlockCell(2, use_peephole=True, cell_clip=0.25)),
    ),
    "gru_block": (ROWS, unrolled(lambda tf, _: tf.contrib.rnn.GRUBlockCell(2))),
    "norm_lstm": (ROWS, unrolled(lambda tf, _: tf.contrib.rnn.LayerNormBasicLSTMCell(2))),
    "projected": (
        ROWS,
        unrolled(
            lambda tf, _: tf.contrib.rnn.OutputProjectionWrapper(
                tf.contrib.rnn.InputProjectionWrapper(tf.contrib.rnn.GRUCell(2), 3), 1, tf.nn.relu
            )
        ),
    ),
    "seq2seq": (ROWS, lambda tf, x: translated(tf, "embedding_rnn_seq2seq")),
    "attention": (
        ROWS,
        lambda tf, x: translated(
            tf,
            "embedding_attention_seq2seq",
            num_heads=2,
            feed_previous=True,
            initial_state_attention=True,
        ),
    ),
    "regularized": (ROWS, regularized),
    "optimized": (ROWS, optimized),
}


LABELS = np.array([True, False, True, True, False, False, True, False])
GUESSES = np.array([0.9, 0.8, 0.35, 0.6, 0.1, 0.4, 0.75, 0.2], np.float32)


def decoded(tf):
    sequences, score = tf.nn.ctc_greedy_decoder(numbers(5, 2, 4), [5, 4])
    return [sequences[0].indices, sequences[0].values, sequences[0].dense_shape, score]


def lossy(tf, **settings):
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 0], [2, 2])
    return tf.nn.ctc_loss(labels, numbers(5, 2, 4), [5, 4], **settings)


def there_and_back(tf):
    spectra = tf.signal.stft(numbers(2, 20), 8, 4, fft_length=16)
    window = tf.signal.inverse_stft_window_fn(4)
    return [
        tf.real(spectra),
        tf.imag(spectra),
        tf.signal.inverse_stft(spectra, 8, 4, 16, window_fn=window),
        tf.signal.inverse_stft(tf.signal.stft(numbers(20), 8, 4, 4), 8, 4, 4),
    ]


FUNCTIONS = {
    # Programs of which only the values are recorded, those of metrics after two updates.
    "precision_at_thresholds": lambda tf: tf.metrics.precision_at_thresholds(
        LABELS, GUESSES, [0.25, 0.5]
    )[1],
    "recall_at_thresholds": lambda tf: tf.metrics.recall_at_thresholds(
        LABELS, GUESSES, [0.25, 0.5], weights=np.array([1.0, 2.0] * 4)
    )[1],
    "counts_at_thresholds": lambda tf: [
        getattr(tf.metrics, kind + "_at_thresholds")(LABELS, GUESSES, [0.25, 0.5, 0.75])[1]
        for kind in ("true_positives", "false_positives", "true_negatives", "false_negatives")
    ],
    "sensitivity": lambda tf: tf.metrics.sensitivity_at_specificity(
        LABELS, GUESSES, 0.7, num_thresholds=9
    )[1],
    "specificity": lambda tf: tf.metrics.specificity_at_sensitivity(
        LABELS, GUESSES, 0.7, num_thresholds=9
    )[1],
    "mean_tensor": lambda tf: tf.metrics.mean_tensor(
        numbers(3, 2), weights=np.array([[1.0], [2.0], [0.0]])
    )[1],
    "class_accuracy": lambda tf: tf.metrics.mean_per_class_accuracy(
        tf.constant([[0, 1], [2, 1]]), tf.constant([[0, 1], [1, 0]]), 3
    )[1],
    "frames": lambda tf: [
        tf.signal.frame(numbers(3, 10), 4, 2),
        tf.signal.frame(numbers(3, 10), 4, 3, pad_end=True, pad_value=7),
        tf.signal.frame(numbers(6, 3), 4, 2, axis=0),
        tf.signal.frame(numbers(3), 4, 2),
    ],
    "windows": lambda tf: [
        tf.signal.hann_window(8),
        tf.signal.hann_window(7),
        tf.signal.hann_window(1),
        tf.signal.hamming_window(8, periodic=False),
    ],
    "overlap_and_add": lambda tf: [
        tf.signal.overlap_and_add(numbers(2, 3, 4), 2),
        tf.signal.overlap_and_add(numbers(3, 5), 2),
        tf.signal.overlap_and_add(numbers(3, 4), 5),
        tf.signal.overlap_and_add(numbers(3, 4), 4),
    ],
    "stft": there_and_back,
    "mel": lambda tf: [
        tf.signal.linear_to_mel_weight_matrix(5, 9, 4000, 100.0, 1900.0),
        tf.signal.mfccs_from_log_mel_spectrograms(numbers(2, 5)),
    ],
    "ctc_loss": lossy,
    "ctc_loss_unmerged": lambda tf: lossy(tf, ctc_merge_repeated=False),
    "ctc_decoder": decoded,
    "rates": lambda tf: [
        tf.train.cosine_decay(0.1, tf.constant(5), 10, alpha=0.1),
        tf.train.cosine_decay_restarts(0.1, tf.constant(5), 3),
        tf.train.cosine_decay_restarts(0.1, tf.constant(5), 3, t_mul=1.0, m_mul=0.5),
        tf.train.linear_cosine_decay(0.1, tf.constant(5), 10),
        tf.train.noisy_linear_cosine_decay(0.1, tf.constant(5), 10, initial_variance=0.0),
    ],
    "orthogonal": lambda tf: [
        tf.abs(tf.orthogonal_initializer(gain=2.0, seed=1)(shape)) for shape in ([4, 3], [2, 2, 5])
    ],
    "hessians": lambda tf: (lambda x: tf.hessians(tf.reduce_sum(x**3 + x[0] * x[1]), x))(
        tf.constant(numbers(3))
    ),
    "sequence_losses": lambda tf: (
        [
            tf.contrib.seq2seq.sequence_loss(
                tf.constant(numbers(2, 3, 4)),
                tf.constant([[1, 2, 0], [0, 1, 3]]),
                tf.constant([[1.0, 1.0, 0.0], [1.0, 0.5, 1.0]]),
                *how,
            )
            for how in (
                (True, True),
                (False, True),
                (True, False),
                (False, False),
                (False, False, True, True),
                (False, False, False, True),
            )
        ]
        + [
            tf.contrib.legacy_seq2seq.sequence_loss(
                [tf.constant(numbers(2, 4))] * 2, [tf.constant([1, 3])] * 2, [tf.ones([2])] * 2
            )
        ]
    ),
    "contrib_metrics": lambda tf: [
        tf.contrib.metrics.streaming_accuracy(tf.constant([1, 2]), tf.constant([1, 1]))[1],
        tf.contrib.metrics.streaming_mean_cosine_distance(
            tf.constant(numbers(2, 3)), tf.constant(numbers(2, 3)), 1
        )[1],
        tf.contrib.metrics.accuracy(
            tf.constant([1, 2]), tf.constant([1, 1]), weights=tf.constant([0.5, 2.0])
        ),
    ],
    "contrib_nn": lambda tf: [
        tf.contrib.nn.alpha_dropout(numbers(4, 3), 0.5, seed=1),
        tf.contrib.nn.scaled_softplus(numbers(3), 2.0, clip=1.0),
    ],
    "contrib_losses": lambda tf: [
        tf.contrib.losses.mean_squared_error(
            tf.constant(numbers(3)), tf.constant(numbers(3) * 2), weights=2.0
        ),
        tf.contrib.losses.softmax_cross_entropy(
            tf.constant(numbers(2, 2)), tf.constant([[0.0, 1.0], [1.0, 0.0]])
        ),
        tf.contrib.losses.hinge_loss(tf.constant(numbers(3)), tf.constant([0.0, 1.0, 1.0])),
    ],
    "gather_nd": lambda tf: tf.gather_nd(numbers(2, 3, 4), [[1, 0], [2, 2]], batch_dims=1),
}


def values(tf, name):
    """The values of an entry of FUNCTIONS, in the second run."""
    with tf.Graph().as_default() as graph:
        outputs = FUNCTIONS[name](tf)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        with tf.Session(graph=graph) as session:
            session.run(tf.local_variables_initializer())
            session.run(outputs)
            return [
                [list(v.shape), np.round(np.asarray(v, np.float64), 5).ravel().tolist()]
                for v in session.run(outputs)
            ]


def run(tf, name):
    """What a program makes: {"nodes": ["name op(inputs)^controls"], "collections": ..., ...}.

    The nodes that initialize and read variables are left out; many nodes become a digest.
    "values": of the outputs in the second of two runs, and of the variables after it.
    """
    shape, program = PROGRAMS[name]
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        feed = {}
        outputs = program(tf, fed(tf, feed, *shape))
        outputs = outputs if isinstance(outputs, list) else [outputs]
        nodes = [
            op.name
            + " "
            + op.type
            + "("
            + ",".join(i.name for i in op.inputs)
            + ")"
            + "".join("^" + c.name for c in op.control_inputs)
            for op in graph.get_operations()
            if not any(part in op.name for part in ("/Initializer/", "/Assign", "/read"))
        ]
        if len(nodes) > 60:
            digest = hashlib.sha256("\n".join(nodes).encode()).hexdigest()
            nodes = [*nodes[:10], f"... {len(nodes)} nodes, of digest {digest}"]
        found = {}
        for key in (
            "trainable_variables",
            "model_variables",
            "update_ops",
            "mine",
            "outputs",
            "regularization_losses",
        ):
            items = [item.name for item in tf.get_collection(key)]
            if items:
                found[key] = items
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        variables = tf.global_variables()
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(2):
                values = session.run(outputs + updates, feed)[: len(outputs)]
            values += session.run(variables)
        return {
            "nodes": nodes,
            "collections": found,
            "values": [np.round(np.asarray(v, np.float64), 5).ravel().tolist() for v in values],
        }


def main():
    import tensorflow as tf

    if not tf.__version__.startswith("1.15"):
        sys.exit("TensorFlow 1.15 is needed, this is " + tf.__version__)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.json")
    with open(path, "w") as file:
        file.write("{\n")
        for name in PROGRAMS:
            file.write(json.dumps(name) + ": " + json.dumps(run(tf, name)) + ",\n")
        for i, name in enumerate(FUNCTIONS):
            end = "\n" if i == len(FUNCTIONS) - 1 else ",\n"
            file.write(json.dumps(name) + ": " + json.dumps(values(tf, name)) + end)
        file.write("}\n")


if __name__ == "__main__":
    main()
