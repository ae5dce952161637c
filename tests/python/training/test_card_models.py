"""Models trained for 20 steps on a graphics card have the CPU's losses.

What is trained is trained as practitioners do, so that rounding stays rounding: a ResNet-50 starts
with residual branches that give 0 (the last normalization of each has a gamma of 0) and small
steps. Without that weights that differ by 1e-7 of themselves have other losses from the second step
on, on the CPU alone, and a comparison says nothing.
"""

import pytest
from card_process import check_program

COMPARE = """
import sys
import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)

STEPS, WITHIN = 20, 1e-4
rng = np.random.RandomState(0)


def dense(x, n, activation=None):
    return tf.layers.dense(x, n, activation)


def mean_loss(labels, logits):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def share_of_card(step_stats):
    counts = {"CPU": 0, "GPU": 0}
    for device in step_stats.dev_stats:
        counts[device.device[-5:-2]] += len(device.node_stats)
    return counts["GPU"] / sum(counts.values())


def train(build, batches, device, weights=None):
    '''The weights to begin with, the loss of each step, and what part of a step a card ran.'''
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        init = tf.variance_scaling_initializer(seed=1)
        with tf.device(device), tf.variable_scope("model", initializer=init):
            inputs, loss, optimizer = build()
            update = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        variables = tf.trainable_variables()
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            for variable, weight in zip(variables, weights or ()):
                variable.load(weight, session)
            first, losses = session.run(variables), []
            for step in range(STEPS):
                feed = dict(zip(inputs, batches[step % len(batches)]))
                losses.append(session.run([loss, update], feed)[0])
            trace, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
            session.run([loss, update], feed, trace, metadata)
            return first, np.array(losses), share_of_card(metadata.step_stats)


def compare(build, batches, devices=("/gpu:0", None)):
    '''None: what a card has a kernel for is there, the rest where it has to be.'''
    weights, on_cpu, _ = train(build, batches, "/cpu:0")
    assert np.mean(on_cpu[-4:]) < 0.9 * np.mean(on_cpu[:4]), on_cpu
    near = [w * (1 + 1e-7 * rng.uniform(-1, 1, w.shape)) for w in weights]
    _, of_near, _ = train(build, batches, "/cpu:0", near)
    np.testing.assert_allclose(of_near, on_cpu, rtol=0, atol=WITHIN / 10)
    for device in devices:
        _, on_card, share = train(build, batches, device, weights)
        assert share > 0.5, share
        np.testing.assert_allclose(on_card, on_cpu, rtol=0, atol=WITHIN)
        print(f"on {device}: {np.abs(on_card - on_cpu).max():.1e} from the CPU, share {share:.2f}")
"""

LENET = """
def build():
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int64, [None])
    h = tf.layers.conv2d(x, 6, 5, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 16, 5, activation=tf.nn.relu)
    h = tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2))
    logits = dense(dense(dense(h, 120, tf.nn.relu), 84, tf.nn.relu), 10)
    return (x, y), mean_loss(y, logits), tf.train.AdamOptimizer(1e-3)


compare(build, [(rng.rand(8, 28, 28, 1), rng.randint(0, 10, 8)) for _ in range(2)])
"""

LSTM = """
def build():
    words, lengths = tf.placeholder(tf.int32, [None, 10]), tf.placeholder(tf.int32, [None])
    x = tf.nn.embedding_lookup(tf.get_variable("vectors", [40, 12]), words[:, :-1])
    cell = tf.nn.rnn_cell.LSTMCell(16)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=words[:, 1:], logits=dense(outputs, 40)
    )
    mask = tf.sequence_mask(lengths, 9, tf.float32)
    loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
    return (words, lengths), loss, tf.train.AdamOptimizer(1e-2)


compare(build, [(rng.randint(0, 40, (8, 10)), rng.randint(3, 10, 8)) for _ in range(2)])
"""

BERT_LAYER = """
def normalized(h, name):
    with tf.variable_scope(name):
        mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
        beta = tf.get_variable("beta", [16], initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", [16], initializer=tf.ones_initializer())
        return tf.nn.batch_normalization(h, mean, variance, beta, gamma, 1e-12)


def heads(h):
    return tf.transpose(tf.reshape(dense(h, 16), [-1, 8, 2, 8]), [0, 2, 1, 3])


def build():
    ids, labels = tf.placeholder(tf.int64, [None, 8]), tf.placeholder(tf.int64, [None])
    h = tf.nn.embedding_lookup(tf.get_variable("vectors", [30, 16]), ids)
    h = normalized(h + tf.get_variable("places", [8, 16]), "first")
    hidden = -1e4 * tf.cast(tf.equal(ids, 0), tf.float32)[:, None, None, :]
    scores = tf.matmul(heads(h), heads(h), transpose_b=True) / np.float32(np.sqrt(8))
    mixed = tf.matmul(tf.nn.softmax(scores + hidden), heads(h))
    mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, 8, 16])
    h = normalized(h + dense(mixed, 16), "second")
    wide = dense(h, 64, lambda x: 0.5 * x * (1 + tf.erf(x / np.float32(np.sqrt(2)))))
    h = normalized(h + dense(wide, 16), "third")
    logits = dense(dense(h[:, 0], 16, tf.tanh), 3)
    return (ids, labels), mean_loss(labels, logits), tf.train.AdamOptimizer(1e-3)


compare(build, [(rng.randint(0, 30, (8, 8)), rng.randint(0, 3, 8)) for _ in range(2)])
"""

# All 50 layers, which are narrow. The arguments "64 64 8" make them as wide as the original's, for
# a run by hand that takes minutes.
RESNET_50 = """
WIDTH, SIZE, BATCH = (int(word) for word in (sys.argv[1:] or ["8", "64", "8"]))


def normalized(h, filters, size, stride=1, starts_at_0=False):
    h = tf.layers.conv2d(h, filters, size, stride, padding="same", use_bias=False)
    gamma = tf.zeros_initializer() if starts_at_0 else tf.ones_initializer()
    return tf.layers.batch_normalization(h, training=True, gamma_initializer=gamma)


def bottleneck(h, filters, stride):
    out = tf.nn.relu(normalized(h, filters, 1))
    out = tf.nn.relu(normalized(out, filters, 3, stride))
    out = normalized(out, 4 * filters, 1, starts_at_0=True)
    if stride > 1 or h.shape[-1] != 4 * filters:
        h = normalized(h, 4 * filters, 1, stride)
    return tf.nn.relu(out + h)


def build():
    x, y = tf.placeholder(tf.float32, [BATCH, SIZE, SIZE, 3]), tf.placeholder(tf.int64, [BATCH])
    h = tf.layers.max_pooling2d(tf.nn.relu(normalized(x, WIDTH, 7, 2)), 3, 2, padding="same")
    for i, count in enumerate((3, 4, 6, 3)):
        for k in range(count):
            h = bottleneck(h, WIDTH << i, 2 if i > 0 and k == 0 else 1)
    loss = tf.losses.softmax_cross_entropy(
        tf.one_hot(y, 10), dense(tf.reduce_mean(h, [1, 2]), 10), label_smoothing=0.1
    )
    step = tf.cast(tf.train.get_or_create_global_step(), tf.float32)
    rate = 0.16 / WIDTH * tf.minimum(1.0, (step + 1) / 20)
    return (x, y), loss, tf.train.MomentumOptimizer(rate, 0.9)


batches = [(rng.rand(BATCH, SIZE, SIZE, 3), rng.randint(0, 10, BATCH)) for _ in range(4)]
compare(build, batches, ["/gpu:0"])
"""


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(LENET, id="lenet"),
        pytest.param(LSTM, id="lstm"),
        pytest.param(BERT_LAYER, id="bert_layer"),
        pytest.param(RESNET_50, id="resnet_50"),
    ],
)
def test_20_steps(model):
    check_program(COMPARE + model)
