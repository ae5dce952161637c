"""A deep network on a graphics card gives the CPU's loss and gradients.

It is compared at the same weights. Trajectories of a fresh ResNet-50 say nothing: weights that
differ by 1e-7 of themselves change its gradients by half a percent on the CPU alone.
"""

from card_process import check_program


def test_narrow_resnet_50():
    check_program(
        """
import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)


def normalized(h, filters, size, stride=1):
    h = tf.layers.conv2d(h, filters, size, stride, padding="same", use_bias=False)
    return tf.layers.batch_normalization(h, training=True, fused=True)


def bottleneck(h, filters, stride):
    out = tf.nn.relu(normalized(h, filters, 1, stride))
    out = normalized(tf.nn.relu(normalized(out, filters, 3)), 4 * filters, 1)
    if stride > 1 or h.shape[-1] != 4 * filters:
        h = normalized(h, 4 * filters, 1, stride)
    return tf.nn.relu(out + h)


def loss_of(images, labels):
    init = tf.variance_scaling_initializer(seed=1)
    with tf.variable_scope("resnet", initializer=init):
        h = tf.layers.conv2d(images, 8, 7, 2, padding="same")
        h = tf.layers.max_pooling2d(h, 3, 2, padding="same")
        for filters, count, stride in (8, 3, 1), (16, 4, 2), (32, 6, 2), (64, 3, 2):
            for i in range(count):
                h = bottleneck(h, filters, stride if i == 0 else 1)
        logits = tf.layers.dense(tf.reduce_mean(h, [1, 2]), 10)
    return tf.losses.sparse_softmax_cross_entropy(labels, logits)


rng = np.random.RandomState(0)
images, labels = rng.rand(8, 64, 64, 3), rng.randint(0, 10, 8)


def run(device, weights=None):
    with tf.Graph().as_default():
        with tf.device(device):
            x, y = tf.placeholder(tf.float32, images.shape), tf.placeholder(tf.int64, [8])
            loss, variables = loss_of(x, y), tf.trainable_variables()
            gradients = tf.gradients(loss, variables)
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            for variable, weight in zip(variables, weights or ()):
                variable.load(weight, session)
            values = session.run([loss, *gradients], {x: images, y: labels})
            return [v.name for v in variables], session.run(variables), values


names, weights, on_cpu = run("/cpu:0")
_, _, on_card = run("/gpu:0", weights)
assert len(names) > 150
np.testing.assert_allclose(on_card[0], on_cpu[0], rtol=1e-5)
for name, a, b in zip(names, on_cpu[1:], on_card[1:]):
    if name != "resnet/conv2d/bias:0":  # normalized away, so its gradient is noise
        assert np.linalg.norm(a - b) < 1e-4 * np.linalg.norm(a), name
"""
    )
