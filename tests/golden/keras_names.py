"""Programs with activations, losses, metrics, optimizers and layers, one for each kind."""

import os
import tempfile

import numpy as np
from keras_programs import error_of, numbers, program

X = numbers(4, 6, low=-3, high=3)


@program
def activations(tf):
    # fmt: off
    names = ("celu glu hard_shrink hard_silu hard_tanh soft_shrink sparse_plus sparse_sigmoid "
             "squareplus tanh_shrink sparsemax mish gelu log_softmax leaky_relu silu")
    names = names.split()
    found = {name: getattr(tf.keras.activations, name)(tf.constant(X)) for name in names}
    return {**found, "threshold": tf.keras.activations.threshold(tf.constant(X), 0.5, -1.0)}


@program
def more_losses(tf):
    losses = tf.keras.losses
    shares = tf.nn.softmax(tf.constant(X))
    labels = np.array([0, 2, 0, 5])
    units = tf.math.l2_normalize(tf.constant(X), axis=1)
    return [losses.CategoricalGeneralizedCrossEntropy(0.7)(labels, shares),
            losses.Circle(gamma=10.0)(np.array([0, 1, 0, 1]), units),
            losses.Circle(gamma=10.0)(np.array([0, 1, 0, 2]), units),
            losses.Dice()(numbers(4, 6, low=0), shares),
            losses.Tversky()(numbers(4, 6, low=0), shares),
            losses.MeanSquaredError(reduction="sum")(X, X + 1), losses.LogCosh()(X, X * 2),
            losses.BinaryFocalCrossentropy()(numbers(4, 6, low=0) > 0.5, shares)]  # fmt: skip


@program
def more_metrics(tf):
    m, found = tf.keras.metrics, []
    one_hot = np.eye(3)[[0, 1, 2, 2]]
    shares = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]]
    shares = np.array(shares, "float32")
    labels, guesses = np.array([0, 1, 2, 2, 1]), np.array([0, 2, 2, 1, 1])
    values = numbers(4, 3), numbers(4, 3, seed=2)
    for metric, y_true, y_pred in (
        (m.R2Score(), *values), (m.R2Score("variance_weighted_average"), *values),
        (m.R2Score(None), *values), (m.R2Score(num_regressors=1), *values),
        (m.PearsonCorrelation(), *values), (m.ConcordanceCorrelation(), *values),
        (m.FBetaScore(beta=2.0), one_hot, shares), (m.FBetaScore("macro", 0.5), one_hot, shares),
        (m.F1Score("weighted"), one_hot, shares), (m.F1Score("micro", 0.3), one_hot, shares),
        (m.IoU(3, [0, 2]), labels, guesses), (m.MeanIoU(3), labels, guesses),
        (m.IoU(3, [0, 2], ignore_class=1), labels, guesses),
        (m.BinaryIoU([1], 0.4), np.array([0, 1, 1]), np.array([0.1, 0.5, 0.3])),
        (m.OneHotIoU(3, [0, 2]), one_hot, shares), (m.OneHotMeanIoU(3), one_hot, shares),
        (m.AUC(multi_label=True, num_labels=3), one_hot, shares), (m.AUC(), one_hot, shares),
        (m.AUC(curve="PR", summation_method="minoring"), one_hot, shares),
        (m.TopKCategoricalAccuracy(2), one_hot, shares), (m.CosineSimilarity(), *values),
        (m.PrecisionAtRecall(0.5), one_hot, shares), (m.RootMeanSquaredError(), *values),
    ):  # fmt: skip
        metric.update_state(y_true, y_pred)
        metric.update_state(y_true[:2], y_pred[:2])
        found.append(metric.result())
        metric.reset_state()
    return [*found, error_of(lambda: m.IoU(2, [3])), error_of(lambda: m.FBetaScore(beta=-1.0))]


@program
def more_optimizers(tf):
    o, found = tf.keras.optimizers, {}
    for name, optimizer in (
        ("lion", o.Lion(0.01)), ("lamb", o.Lamb(0.1)), ("adafactor", o.Adafactor(0.1)),
        ("adamw", o.AdamW(0.1, weight_decay=0.1)), ("decayed", o.SGD(0.1, weight_decay=0.05)),
        ("clipped", o.Adam(0.1, global_clipnorm=0.5)), ("nesterov", o.SGD(0.1, 0.9, True)),
        ("scaled", o.LossScaleOptimizer(o.SGD(0.1), 8.0, dynamic_growth_steps=2)),
        ("average", o.SGD(0.1, use_ema=True, ema_momentum=0.5)),
    ):  # fmt: skip
        kernel, bias = tf.Variable(numbers(3, 4)), tf.Variable(numbers(4))
        for i in range(3):
            gradients = [tf.constant(numbers(3, 4, seed=i)), tf.constant(numbers(4, seed=i))]
            if name == "scaled":
                gradients = [g * 8.0 for g in gradients]
            optimizer.apply_gradients(zip(gradients, [kernel, bias]))
        optimizer.finalize_variable_values([kernel, bias])
        found[name] = [kernel.numpy(), bias.numpy(), int(optimizer.iterations.numpy())]
    return found


@program
def more_layers(tf):
    L, found = tf.keras.layers, []
    films, x = numbers(2, 3, 6, 2), numbers(2, 3, 4)
    spectral = L.SpectralNormalization(L.Dense(3), power_iterations=2)
    heads = L.MultiHeadAttention(2, 3, attention_axes=(2, 3))
    grid = numbers(2, 2, 3, 2, 4)
    for layer, inputs in (
        (L.RMSNormalization(), x), (L.RMSNormalization(axis=[1, 2]), x), (L.Identity(), x),
        (L.ConvLSTM1D(2, 3, padding="same"), films),
        (L.ConvLSTM3D(1, 2), numbers(1, 2, 3, 3, 3, 1)),
        (L.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d", activation="relu"), x),
        (L.EinsumDense("...x,xy->...y", 3), x), (L.UnitNormalization(), x),
        (L.GroupNormalization(2), numbers(2, 3, 4)),
    ):  # fmt: skip
        found.append(layer(inputs))
    found += [spectral(x[:, 0], training=True), spectral(x[:, 0])]
    return [*found, heads(grid, grid), [np.asarray(w).shape for w in heads.weights]]


@program
def folders_and_series(tf):
    utils, found = tf.keras.utils, []
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(("b", "a", "b", "a", "b")):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            picture = tf.cast(numbers(4, 5, 3, seed=i, low=0, high=255), tf.uint8)
            picture = tf.raw_ops.EncodePng(image=picture)
            tf.io.write_file(os.path.join(folder, name, f"{i}.png"), picture)
            tf.io.write_file(os.path.join(folder, name, f"{i}.txt"), f"text {i}")
        for settings in (
            {"shuffle": False, "image_size": (3, 3)},
            {"shuffle": False, "label_mode": "categorical", "color_mode": "grayscale"},
            {"seed": 1, "validation_split": 0.4, "subset": "validation", "label_mode": None},
        ):
            batches = utils.image_dataset_from_directory(
                folder, **{"image_size": (4, 4), "verbose": False, **settings}
            )
            found += [list(batches), batches.class_names]
        texts = utils.text_dataset_from_directory(folder, shuffle=False, batch_size=2,
                                                  verbose=False)  # fmt: skip
        found += [[t.numpy() for t, _ in texts], [n.numpy() for _, n in texts]]
        missing = utils.image_dataset_from_directory
        found.append(error_of(lambda: missing(folder, label_mode="other")))
    series = np.arange(20, dtype="float32")
    make = utils.timeseries_dataset_from_array
    found += [list(make(series[:, None], series + 100, 4, sequence_stride=3, batch_size=3)),
              list(make(series, None, 3, sampling_rate=2, start_index=2, end_index=12)),
              list(make(series, series, 3, shuffle=True, seed=3, batch_size=None))[:2],
              error_of(lambda: make(series, None, 3, sampling_rate=0))]  # fmt: skip
    left, right = utils.split_dataset(np.arange(10), left_size=0.7)
    return [*found, [int(x) for x in left], [int(x) for x in right]]
