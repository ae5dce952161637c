"""An optimizer of one's own, with slots and sparse gradients, beside those that are there.

    rheos run examples/custom_optimizer.py [steps]

A TensorFlow 1 program. SignMomentum steps by the sign of a mean of gradients, so every parameter
moves by the learning rate and no more. `_apply_dense` and `_apply_sparse` are for variables as
TensorFlow 1 makes them, `_resource_apply_...` for those made with use_resource=True.
"""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 400


class SignMomentum(tf.train.Optimizer):
    def __init__(self, rate, kept=0.9, use_locking=False, name="SignMomentum"):
        super().__init__(use_locking, name)
        self._rate, self._kept = rate, kept

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "mean", self._name)

    def _prepare(self):
        self._rate_tensor = tf.convert_to_tensor(self._rate, name="rate")

    def _apply_dense(self, grad, var):
        mean = self.get_slot(var, "mean")
        rate = tf.cast(self._rate_tensor, var.dtype.base_dtype)
        mean = mean.assign(self._kept * mean + (1 - self._kept) * grad)
        return var.assign_sub(rate * tf.sign(mean), use_locking=self._use_locking)

    def _apply_sparse(self, grad, var):
        """Only the rows that a batch has looked up, each once, move."""
        mean = self.get_slot(var, "mean")
        rate = tf.cast(self._rate_tensor, var.dtype.base_dtype)
        rows = self._kept * tf.gather(mean, grad.indices) + (1 - self._kept) * grad.values
        mean = tf.scatter_update(mean, grad.indices, rows)
        with tf.control_dependencies([mean]):
            return tf.scatter_sub(var, grad.indices, rate * tf.sign(rows))

    _resource_apply_dense = _apply_dense

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_sparse(tf.IndexedSlices(grad, indices), handle)


OPTIMIZERS = {
    "SignMomentum": lambda rate: SignMomentum(0.02 * rate),
    "gradient descent": lambda rate: tf.train.GradientDescentOptimizer(0.5 * rate),
    "Adam": lambda rate: tf.train.AdamOptimizer(0.02 * rate),
}


def make_problem():
    """Two words of 30 each say whether their sum is even: a table, a layer, a loss."""
    pairs = tf.placeholder(tf.int32, [None, 2])
    even = tf.placeholder(tf.float32, [None])
    table = tf.get_variable("table", [30, 8])
    looked_up = tf.reshape(tf.nn.embedding_lookup(table, pairs), [-1, 16])
    hidden = tf.layers.dense(looked_up, 16, activation=tf.nn.tanh)
    logits = tf.layers.dense(hidden, 1)[:, 0]
    return pairs, even, tf.losses.sigmoid_cross_entropy(even, logits)


for name, make_optimizer in OPTIMIZERS.items():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        pairs, even, loss = make_problem()
        step = tf.train.get_or_create_global_step()
        rate = tf.train.cosine_decay(1.0, step, steps)
        train = make_optimizer(rate).minimize(loss, global_step=step)
        session.run(tf.global_variables_initializer())
        random = np.random.RandomState(1)
        losses = []
        for _ in range(steps):
            some = random.randint(30, size=[64, 2])
            feed = {pairs: some, even: some.sum(1) % 2 == 0}
            losses.append(session.run([loss, train], feed)[0])
        marks = "  ".join("%.3f" % losses[at] for at in range(0, steps, max(1, steps // 4)))
        print("%-17s loss %s  %.4f at the end" % (name, marks, np.mean(losses[-20:])))
