"""The models of the benchmark's rows, each in one place: written once, for any module with the
names of TensorFlow 1 (`rheos.v1`, `tensorflow.compat.v1`).

A builder takes the module and whether it shall be small, for a run that only looks whether the row
works, and returns a Model.
"""

import dataclasses
import math

import numpy as np

RANDOM = np.random.RandomState(1)


@dataclasses.dataclass
class Model:
    fetches: list
    feeds: dict = dataclasses.field(default_factory=dict)
    flops: float = 0.0  # a step: a multiply-add is 2
    num_bytes: float = 0.0  # a step: what has to be read and written at least
    nodes: int = 0  # what the time is divided by, if the row is about nodes
    series: list = None  # feeds of runs in turn, of other shapes: all of them are one step
    resized: dict = None  # feeds of another batch size

    def feed_list(self):
        return self.series or [self.feeds]


class Work:
    """Counts multiply-adds while a model is built."""

    def __init__(self):
        self.flops = 0.0


def _random(*shape):
    return RANDOM.rand(*shape).astype(np.float32)


def _weights(tf, name, shape):
    scale = math.sqrt(2.0 / np.prod(shape[:-1]))
    return tf.get_variable(name, initializer=(scale * RANDOM.randn(*shape)).astype(np.float32))


def _zeros(tf, name, size):
    return tf.get_variable(name, initializer=np.zeros(size, np.float32))


def _dense(tf, work, x, name, rows, inputs, outputs, activation=None):
    work.flops += 2.0 * rows * inputs * outputs
    y = tf.matmul(x, _weights(tf, name + "/w", (inputs, outputs))) + _zeros(
        tf, name + "/b", outputs
    )
    return activation(y) if activation else y


def _loss(tf, logits, labels):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


# ---- Small steps


def one_op(tf, small):
    x = tf.placeholder(tf.float32, [])
    return Model([x + 1.0], {x: np.float32(2)})


def linear_regression(tf, small):
    m = tf.get_variable("m", initializer=np.float32(0))
    b = tf.get_variable("b", initializer=np.float32(0))
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    loss = tf.square(y - (m * x + b))
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
    return Model([loss, train], {x: np.float32(0.5), y: np.float32(1.75)})


def _adds(tf, chains, length):
    start = tf.placeholder(tf.float32, [])
    ends = []
    for _ in range(chains):
        x = start
        for _ in range(length):
            x = tf.add(x, start)
        ends.append(x)
    end = tf.add_n(ends) if chains > 1 else ends[0]
    return Model([end], {start: np.float32(1)}, nodes=chains * length)


def one_chain(tf, small):
    return _adds(tf, 1, 1000 if small else 100_000)


def many_chains(count):
    return lambda tf, small: _adds(tf, *((10, 100) if small else (count, 1000)))


def many_nodes(tf, small):
    """5,000 unlike nodes, for the time of their first run and of one at a new batch size."""
    x = tf.placeholder(tf.float32, [None, 8])
    weights = [_weights(tf, f"w{i}", (8, 8)) for i in range(4)]
    y, steps = x, 10 if small else 1000
    for i in range(steps):
        y = tf.nn.relu(tf.matmul(y, weights[i % 4]) * 0.5)
        y = tf.reshape(tf.tanh(y) + x, [-1, 8])
    return Model([y], {x: _random(4, 8)}, nodes=5 * steps, resized={x: _random(7, 8)})


# ---- Dense layers


def dense_100(tf, small):
    """The seeds' model: Flatten, 100 Dense(64, relu), Dropout, Dense(10), forward."""
    batch, layers = 20, 4 if small else 100
    work = Work()
    images = tf.placeholder(tf.float32, [batch, 28, 28])
    x, width = tf.reshape(images, [batch, 784]), 784
    for i in range(layers):
        x = _dense(tf, work, x, f"layer{i}", batch, width, 64, tf.nn.relu)
        width = 64
    y = _dense(tf, work, x, "last", batch, 64, 10)  # dropout does nothing here
    return Model([y], {images: _random(batch, 28, 28)}, work.flops)


def _mlp(tf, small, optimizer):
    batch, width = (8, 16) if small else (128, 512)
    work = Work()
    x, labels = tf.placeholder(tf.float32, [batch, 784]), tf.placeholder(tf.int32, [batch])
    y = _dense(tf, work, x, "a", batch, 784, width, tf.nn.relu)
    first = work.flops
    y = _dense(tf, work, y, "b", batch, width, width, tf.nn.relu)
    loss = _loss(tf, _dense(tf, work, y, "c", batch, width, 10), labels)
    feeds = {x: _random(batch, 784), labels: RANDOM.randint(0, 10, batch).astype(np.int32)}
    # No gradient of the images is needed.
    return Model([loss, optimizer.minimize(loss)], feeds, 3 * work.flops - first)


def mlp_sgd(tf, small):
    return _mlp(tf, small, tf.train.GradientDescentOptimizer(0.01))


def mlp_adam(tf, small):
    return _mlp(tf, small, tf.train.AdamOptimizer(1e-3))


def _lengths(small):
    return [int(n) for n in np.random.RandomState(2).randint(16, 240, 4 if small else 200)]


def _mean_length(small):
    lengths = _lengths(small)
    return [round(sum(lengths) / len(lengths))] * len(lengths)


def mlp_lengths(lengths):
    def build(tf, small):
        x = tf.placeholder(tf.float32, [None, 256])
        y = _dense(tf, Work(), x, "a", 0, 256, 256, tf.nn.relu)
        y = _dense(tf, Work(), y, "b", 0, 256, 256, tf.nn.relu)
        return Model([y], series=[{x: _random(n, 256)} for n in lengths(small)])

    return build


# ---- Convolutions


def _conv(tf, work, x, name, size, inputs, outputs, kernel, stride=1):
    """A convolution with padding to `size`, the width of its output, on batches of work.batch."""
    work.flops += 2.0 * work.batch * size * size * kernel * kernel * inputs * outputs
    weights = _weights(tf, name + "/w", (kernel, kernel, inputs, outputs))
    return tf.nn.conv2d(x, weights, strides=[1, stride, stride, 1], padding="SAME")


def _lenet(tf, small):
    batch = 2 if small else 64
    work = Work()
    work.batch = batch
    x, labels = tf.placeholder(tf.float32, [batch, 28, 28, 1]), tf.placeholder(tf.int32, [batch])
    y = tf.nn.relu(_conv(tf, work, x, "a", 28, 1, 32, 5) + _zeros(tf, "a/b", 32))
    first = work.flops
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.nn.relu(_conv(tf, work, y, "b", 14, 32, 64, 5) + _zeros(tf, "b/b", 64))
    y = tf.reshape(tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [batch, 3136])
    y = _dense(tf, work, y, "c", batch, 3136, 1024, tf.nn.relu)
    logits = _dense(tf, work, y, "d", batch, 1024, 10)
    feeds = {x: _random(batch, 28, 28, 1)}
    return logits, feeds, labels, work.flops, first


def lenet(tf, small):
    logits, feeds, _, flops, _ = _lenet(tf, small)
    return Model([logits], feeds, flops)


def lenet_sgd(tf, small):
    logits, feeds, labels, flops, first = _lenet(tf, small)
    loss = _loss(tf, logits, labels)
    feeds[labels] = np.zeros(int(labels.shape[0]), np.int32)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return Model([loss, train], feeds, 3 * flops - first)


def _batch_norm(tf, x, name, width, training):
    scale = tf.get_variable(name + "/scale", initializer=np.ones(width, np.float32))
    offset = _zeros(tf, name + "/offset", width)
    if training:
        return tf.nn.fused_batch_norm(x, scale, offset, is_training=True)[0]
    mean = _zeros(tf, name + "/mean", width)
    variance = tf.get_variable(name + "/variance", initializer=np.ones(width, np.float32))
    return tf.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)[0]


def _resnet_50(tf, batch, small, training):
    image, blocks = (32, (1, 1, 1, 1)) if small else (224, (3, 4, 6, 3))
    work = Work()
    work.batch = batch

    def layer(x, name, size, inputs, outputs, kernel, stride=1, activation=tf.nn.relu):
        y = _conv(tf, work, x, name, size, inputs, outputs, kernel, stride)
        y = _batch_norm(tf, y, name, outputs, training)
        return activation(y) if activation else y

    x = tf.placeholder(tf.float32, [batch, image, image, 3])
    size = image // 2
    y = layer(x, "stem", size, 3, 64, 7, 2)
    first = work.flops
    size //= 2
    y, inputs = tf.nn.max_pool(y, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for block in range(count):
            name = f"stage{stage}/block{block}"
            stride = 2 if block == 0 and stage > 0 else 1
            out = size // stride
            straight = y
            if block == 0:
                straight = layer(y, name + "/side", out, inputs, 4 * width, 1, stride, None)
            y = layer(y, name + "/a", size, inputs, width, 1)
            y = layer(y, name + "/b", out, width, width, 3, stride)
            y = layer(y, name + "/c", out, width, 4 * width, 1, 1, None)
            y, inputs, size = tf.nn.relu(y + straight), 4 * width, out
    y = tf.reduce_mean(y, [1, 2])
    logits = _dense(tf, work, y, "last", batch, inputs, 1000)
    return logits, {x: _random(batch, image, image, 3)}, work.flops, first


def resnet_50(batch):
    def build(tf, small):
        logits, feeds, flops, _ = _resnet_50(tf, batch, small, training=False)
        return Model([logits], feeds, flops)

    return build


def resnet_50_sgd(tf, small):
    logits, feeds, flops, first = _resnet_50(tf, 8, small, training=True)
    labels = tf.placeholder(tf.int32, [8])
    feeds[labels] = np.zeros(8, np.int32)
    loss = _loss(tf, logits, labels)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return Model([loss, train], feeds, 3 * flops - first)


# ---- A layer of an encoder


def _norm(tf, x, name, width):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    scale = tf.get_variable(name + "/scale", initializer=np.ones(width, np.float32))
    return (x - mean) * tf.rsqrt(variance + 1e-6) * scale + _zeros(tf, name + "/offset", width)


def _gelu(tf, x):
    return 0.5 * x * (1.0 + tf.erf(x * math.sqrt(0.5)))


def _bert(tf, batch, small, any_length=False):
    """The layer's result, its input and the work."""
    width, heads, length = (32, 2, 8) if small else (768, 12, 128)
    rows, depth = batch * length, width // heads
    work = Work()
    x = tf.placeholder(tf.float32, [None if any_length else rows, width])
    if any_length:
        rows = length = -1

    def head(name):
        y = _dense(tf, work, x, name, rows, width, width)
        return tf.transpose(tf.reshape(y, [batch, length, heads, depth]), [0, 2, 1, 3])

    scores = tf.matmul(head("q"), head("k"), transpose_b=True) * (1.0 / math.sqrt(depth))
    y = tf.matmul(tf.nn.softmax(scores), head("v"))
    work.flops += 4.0 * batch * heads * length * length * depth
    y = tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [rows, width])
    y = _norm(tf, x + _dense(tf, work, y, "o", rows, width, width), "norm1", width)
    z = _gelu(tf, _dense(tf, work, y, "up", rows, width, 4 * width))
    y = _norm(tf, y + _dense(tf, work, z, "down", rows, 4 * width, width), "norm2", width)
    return y, x, work.flops


def bert(batch):
    def build(tf, small):
        y, x, flops = _bert(tf, batch, small)
        return Model([y], {x: _random(*[int(d) for d in x.shape])}, flops)

    return build


def bert_lengths(lengths):
    def build(tf, small):
        y, x, _ = _bert(tf, 1, small, any_length=True)
        inputs = [_random(n, int(x.shape[1])) for n in lengths(small)]
        return Model([y], series=[{x: value} for value in inputs])

    return build


def bert_sgd(batch):
    def build(tf, small):
        y, x, flops = _bert(tf, batch, small)
        feeds = {x: _random(*[int(d) for d in x.shape])}
        loss = tf.reduce_mean(tf.square(y))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        return Model([loss, train], feeds, 3 * flops)

    return build


# ---- Elementwise


def chain(heavy, count):
    """Ten operations on each element: cheap ones, or with tanh, exp and sigmoid."""

    def build(tf, small):
        size = min(count, 4096) if small else count
        x = tf.placeholder(tf.float32, [size])
        if heavy:
            y = tf.exp(tf.tanh(x * 0.5 + 0.1)) * 0.3 + 0.2
            y = tf.sigmoid(-tf.nn.relu(y)) - x
        else:
            y = tf.nn.relu(x * 0.5 + 0.1) * 0.3 + 0.2
            y = tf.abs(-y) * 0.7 + 0.3 - x
        return Model([y], {x: _random(size)}, num_bytes=8.0 * size)

    return build


# Row: its builder, what is written in the table.
MODELS = {
    "one op": one_op,
    "linear regression step": linear_regression,
    "chain of 100,000 adds, a node": one_chain,
    "100 chains of 1,000 adds, a node": many_chains(100),
    "1,000 chains of 1,000 adds, a node": many_chains(1000),
    "graph of 5,000 nodes, a node": many_nodes,
    "100 dense layers, forward": dense_100,
    "MLP, SGD step": mlp_sgd,
    "MLP, Adam step": mlp_adam,
    "MLP, 200 lengths": mlp_lengths(_lengths),
    "MLP, 200 times the mean length": mlp_lengths(_mean_length),
    "LeNet, forward": lenet,
    "LeNet, SGD step": lenet_sgd,
    "ResNet-50, forward, batch 1": resnet_50(1),
    "ResNet-50, forward, batch 8": resnet_50(8),
    "ResNet-50, SGD step, batch 8": resnet_50_sgd,
    "BERT layer, forward, batch 1": bert(1),
    "BERT layer, forward, batch 8": bert(8),
    "BERT layer, SGD step, batch 1": bert_sgd(1),
    "BERT layer, SGD step, batch 8": bert_sgd(8),
    "BERT layer, 200 lengths": bert_lengths(_lengths),
    "BERT layer, 200 times the mean length": bert_lengths(_mean_length),
    "10 cheap ops on 16M floats": chain(False, 1 << 24),
    "10 ops with tanh, exp, sigmoid on 16M floats": chain(True, 1 << 24),
    "10 cheap ops on 4,096 floats": chain(False, 4096),
    "10 ops with tanh, exp, sigmoid on 4,096 floats": chain(True, 4096),
}
