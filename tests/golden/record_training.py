"""Training on 100,000 small records that are read from a file: a program that TensorFlow runs
(make_record_training.py) and Rheos runs, on the same bytes, in the same order.

The records are points of a plane with some noise; the model is a logistic regression with a hidden
layer whose first weights are given, so that the loss is the same number up to rounding.
"""

import numpy as np

RECORDS, BATCH, EPOCHS, WATCHED = 100_000, 100, 1, 100


def points():
    """What the records hold: features (RECORDS, 3) and labels (RECORDS)."""
    generator = np.random.RandomState(19)
    features = generator.uniform(-1, 1, (RECORDS, 3)).astype(np.float32)
    radius = np.hypot(features[:, 0], features[:, 1]) + 0.1 * features[:, 2]
    return features, (radius < 0.7).astype(np.int64)


def write(tf, path):
    """Writes the records as Examples."""
    features, labels = points()
    with tf.io.TFRecordWriter(path) as writer:
        for x, y in zip(features.tolist(), labels.tolist()):
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.extend(x)
            example.features.feature["y"].int64_list.value.append(y)
            writer.write(example.SerializeToString(deterministic=True))


def train(tf, path, calls=None):
    """The mean loss of every WATCHED steps. calls: how many records are parsed at a time."""
    layout = {
        "x": tf.io.FixedLenFeature([3], tf.float32),
        "y": tf.io.FixedLenFeature([], tf.int64),
    }
    batches = (
        tf.data.TFRecordDataset(path)
        .map(lambda record: tf.io.parse_single_example(record, layout), calls)
        .shuffle(5000, seed=7)
        .repeat(EPOCHS)
        .batch(BATCH)
        .prefetch(2)
    )
    generator = np.random.RandomState(20)
    hidden = tf.Variable(generator.normal(0, 1, (3, 16)).astype(np.float32))
    offsets = tf.Variable(np.zeros(16, np.float32))
    output = tf.Variable(generator.normal(0, 0.3, (16, 1)).astype(np.float32))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            scores = tf.matmul(tf.tanh(tf.matmul(x, hidden) + offsets), output)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(
                    labels=tf.cast(y, tf.float32), logits=tf.squeeze(scores, -1)
                )
            )
        variables = [hidden, offsets, output]
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(0.5 * gradient)
        return loss

    losses = [step(batch["x"], batch["y"]) for batch in batches]
    losses = np.array([float(loss) for loss in losses])
    return losses.reshape(-1, WATCHED).mean(1).tolist()
