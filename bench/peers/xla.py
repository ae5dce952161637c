"""JAX: a jitted function of the variables and the feeds; a training step gives new variables for
old."""

import jax
import jax.numpy as jnp
from jax import lax
from recorded import Peer


class Jax(Peer):
    name = "JAX"
    # JAX compiles for each shape, and slowly where a function is long.
    left_out = ("adds, a node", "graph of 5,000", "BERT layer, 200 lengths")

    add, sub, mul = map(staticmethod, (jnp.add, jnp.subtract, jnp.multiply))
    neg, exp, tanh, abs = map(staticmethod, (jnp.negative, jnp.exp, jnp.tanh, jnp.abs))
    square, rsqrt, erf = map(staticmethod, (jnp.square, lax.rsqrt, lax.erf))
    sigmoid, relu, softmax = map(staticmethod, (jax.nn.sigmoid, jax.nn.relu, jax.nn.softmax))

    def constant(self, value):
        return jnp.asarray(value)

    def matmul(self, x, y, transpose_b):
        return jnp.matmul(x, jnp.swapaxes(y, -1, -2) if transpose_b else y)

    def mean(self, x, axes, keepdims):
        return jnp.mean(x, None if axes is None else tuple(axes), keepdims=keepdims)

    def reshape(self, x, shape):
        return jnp.reshape(x, shape)

    def transpose(self, x, order):
        return jnp.transpose(x, order)

    def conv(self, x, weights, stride):
        return lax.conv_general_dilated(
            x, weights, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def max_pool(self, x, size, stride):
        return lax.reduce_window(
            x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), "SAME")

    def batch_norm(self, x, scale, offset, mean=None, variance=None, is_training=False):
        if is_training:
            mean = jnp.mean(x, (0, 1, 2))
            variance = jnp.mean(jnp.square(x - mean), (0, 1, 2))
        return (x - mean) * (lax.rsqrt(variance + 1e-3) * scale) + offset

    def cross_entropy(self, logits, labels):
        chosen = jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]
        return jax.nn.logsumexp(logits, 1) - chosen

    def step(self, fetches, feeds):
        keys = [key.id for key in feeds]
        train, outputs = self.trained(fetches)
        variables = {node.id: jnp.asarray(node.attrs["value"]) for node in self.variables()}

        def forward(variables, *values):
            return self.evaluate({**variables, **dict(zip(keys, values))}, outputs)[0]

        if train is None:
            jitted = jax.jit(forward)
            return lambda *values: jax.block_until_ready(jitted(variables, *values))
        return self._training(forward, variables, train)

    @staticmethod
    def _training(forward, variables, train):
        rate, is_adam = train.attrs["rate"], train.attrs["optimizer"] == "AdamOptimizer"
        each = jax.tree_util.tree_map

        def new_state(state, *values):
            variables, first, second, count = state
            loss, gradients = jax.value_and_grad(forward)(variables, *values)
            count = count + 1
            if not is_adam:
                changed = each(lambda v, g: v - rate * g, variables, gradients)
                return loss, (changed, first, second, count)
            first = each(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
            second = each(lambda m, g: 0.999 * m + 0.001 * g * g, second, gradients)
            alpha = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
            changed = each(
                lambda v, m, s: v - alpha * m / (jnp.sqrt(s) + 1e-8), variables, first, second)
            return loss, (changed, first, second, count)

        zeros = each(jnp.zeros_like, variables) if is_adam else {}
        state = [(variables, zeros, each(jnp.copy, zeros), jnp.float32(0))]
        jitted = jax.jit(new_state, donate_argnums=0)

        def run(*values):
            loss, state[0] = jitted(state[0], *values)
            return jax.block_until_ready((loss, state[0]))[0]

        return run


PEER = Jax
