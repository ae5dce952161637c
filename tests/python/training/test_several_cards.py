"""Programs on two graphics cards give what they give on the processor: PoCL makes both of one."""

from card_process import check_program


def test_towers_of_version_1():
    check_program(
        """
import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)


def train(devices):
    with tf.Graph().as_default():
        x, gradients = tf.placeholder(tf.float32, [4, 3]), []
        with tf.device("/cpu:0"):
            w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(0.3))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        for i, device in enumerate(devices):
            with tf.device(device):
                loss = tf.reduce_sum(tf.tanh(tf.matmul(x[2 * i : 2 * i + 2], w)))
                ((gradient, _),) = optimizer.compute_gradients(loss, [w])
                gradients.append(gradient)
        step = optimizer.apply_gradients([(tf.add_n(gradients) / 2, w)])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step, {x: np.arange(12).reshape(4, 3) / 12})
            return session.run(w)


np.testing.assert_allclose(train(["/gpu:0", "/gpu:1"]), train(["/cpu:0"] * 2), rtol=1e-5)
""",
        cards=2,
    )


def test_mirrored_strategy():
    check_program(
        """
import numpy as np
import rheos.v2 as tf

if not tf.config.list_physical_devices("GPU"):
    raise SystemExit(77)


def train(*devices):
    strategy = tf.distribute.MirroredStrategy(*devices)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def step(x):
        def replica(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((v * x) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
            return loss

        losses = strategy.run(replica, args=(x,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, None)

    losses = [float(step(tf.constant([1.0, 0.5]))) for _ in range(4)]
    return strategy.num_replicas_in_sync, losses


assert train()[0] == 2  # all cards
one, on_cpu = train(["/gpu:0"]), train(["/cpu:0"])
assert one[0] == on_cpu[0] == 1
np.testing.assert_allclose(one[1], on_cpu[1], rtol=1e-5)
two = train(["/gpu:0", "/gpu:1"])[1]
v, x, expected = np.array([1, 2.0]), np.array([1, 0.5]), []
for _ in range(4):
    expected.append(2 * np.sum((v * x) ** 2))
    v = v - 0.1 * 2 * (2 * v * x**2)  # the gradients of both replicas
np.testing.assert_allclose(two, expected, rtol=1e-5)
try:
    tf.distribute.MirroredStrategy(["/gpu:2"])
except RuntimeError as error:
    assert "there are CPU:0, GPU:0, GPU:1" in str(error), error
else:
    raise AssertionError("there are two cards")
""",
        cards=2,
    )
