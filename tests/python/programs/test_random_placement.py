"""Random programs on random devices of a cluster give what they give on one device.

Loops, conditionals, functions, variables and their updates, gradients: built twice from one seed,
once with each operation somewhere in the cluster, once without devices. RHEOS_RANDOM_GRAPHS says
how many (seeds from RHEOS_RANDOM_SEED on).
"""

import contextlib
import os
import random

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.ops.flow.function import Defun

pytestmark = pytest.mark.usefixtures("grpc")
COUNT = int(os.environ.get("RHEOS_RANDOM_GRAPHS", "12"))
FIRST = int(os.environ.get("RHEOS_RANDOM_SEED", "0"))
DEVICES = [
    "",
    "/cpu:1",
    "/job:ps/task:0",
    "/job:ps/task:0/cpu:1",
    *(f"/job:worker/task:{task}/cpu:{cpu}" for task in (0, 1) for cpu in (0, 1)),
]
CONFIG = tf.ConfigProto(device_count={"CPU": 2}, operation_timeout_in_ms=20000)


@pytest.fixture(scope="module")
def target():
    workers, servers = tf.test.create_local_cluster(2, 1, worker_config=CONFIG, ps_config=CONFIG)
    yield workers[0].target
    del workers, servers


class Program:
    """A graph of vectors of three numbers, all small."""

    def __init__(self, seed, has_devices):
        self.random = random.Random(seed)
        self.has_devices = has_devices
        self.graph = tf.Graph()
        self.updates = []
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [3], "x")
            self.variables = [self.variable(i) for i in range(self.random.randrange(1, 4))]
            reads = [variable + 0.0 for variable in self.variables]
            values = [self.x, *reads]
            for _ in range(self.random.randrange(3, 9)):
                values.append(self.step(values, depth=0))
            self.fetches = values[-3:]
            with self.on():
                total = tf.add_n([tf.reduce_sum(value) for value in self.fetches])
            if self.random.random() < 0.6:
                grads = tf.gradients(total, [self.x, *reads])
                self.fetches += [grad for grad in grads if grad is not None]
            self.train = tf.group(*self.updates)
            self.init = tf.global_variables_initializer()

    def on(self):
        """A device of the cluster, or nothing."""
        device = self.random.choice(DEVICES)
        return tf.device(device) if self.has_devices else contextlib.nullcontext()

    def variable(self, number):
        is_resource = self.random.random() < 0.5
        with self.on():
            return tf.get_variable(
                f"v{number}", initializer=[0.1 * number, 0.2, -0.3], use_resource=is_resource
            )

    def pick(self, values):
        return self.random.choice(values)

    def step(self, values, depth):
        kinds = [self.unary, self.binary, self.binary, self.constant, self.shape]
        if depth < 2:
            kinds += [self.cond, self.loop]
        if depth == 0:
            kinds += [self.call, self.update]
        kind = self.random.choice(kinds)
        with self.on():
            return kind(values, depth)

    def unary(self, values, depth):
        op = self.random.choice([tf.sin, tf.cos, tf.tanh, tf.negative, tf.identity])
        return op(self.pick(values))

    def binary(self, values, depth):
        op = self.random.choice([tf.add, tf.subtract, tf.minimum, tf.maximum])
        return 0.5 * op(self.pick(values), self.pick(values))

    def constant(self, values, depth):
        return self.pick(values) * tf.constant([0.5, self.random.uniform(-1, 1), 0.25])

    def shape(self, values, depth):
        size = tf.cast(tf.size(self.pick(values)), tf.float32)
        return self.pick(values) / (1.0 + size)

    def cond(self, values, depth):
        first, second = self.pick(values), self.pick(values)
        with self.on():
            holds = tf.reduce_sum(first) > tf.reduce_sum(second)

        def branch():
            inner = [first, second, self.pick(values)]
            for _ in range(self.random.randrange(1, 3)):
                inner.append(self.step(inner, depth + 1))
            with self.on():
                return tf.identity(inner[-1])

        return tf.cond(holds, branch, branch)

    def loop(self, values, depth):
        outer, start = self.pick(values), self.pick(values)
        trips = self.random.randrange(0, 4)
        parallel = self.random.choice([1, 10])

        def holds(i, value):
            with self.on():
                limit = tf.constant(trips)
            with self.on():
                return i < limit

        def body(i, value):
            inner = [value, outer]
            for _ in range(self.random.randrange(1, 3)):
                inner.append(self.step(inner, depth + 1))
            with self.on():
                after = i + 1
            return after, inner[-1]

        return tf.while_loop(holds, body, [0, start], parallel_iterations=parallel)[1]

    def call(self, values, depth):
        @Defun(tf.float32, tf.float32, func_name=f"f{self.random.randrange(10**9)}")
        def function(a, b):
            with self.on():
                c = tf.sin(a) + b
            with self.on():
                return c * tf.constant(0.5)

        result = function(self.pick(values), self.pick(values))
        result.set_shape([3])
        return result

    def update(self, values, depth):
        variable = self.pick(self.variables)
        value = self.pick(values)
        how = variable.assign if self.random.random() < 0.3 else variable.assign_add
        with tf.control_dependencies(self.updates):
            update = how(0.1 * value)
        self.updates.append(update if isinstance(update, tf.Operation) else update.op)
        return value

    def run(self, target):
        config = tf.ConfigProto(isolate_session_state=True, operation_timeout_in_ms=20000)
        feed = {self.x: [0.5, -0.25, 1.0]}
        with tf.Session(target, self.graph, config) as sess:
            sess.run(self.init)
            results = sess.run(self.fetches, feed)
            sess.run(self.train, feed)
            results += sess.run(self.variables)
            results += sess.run(self.fetches, feed)
            return results


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_devices_change_no_value(target, seed):
    expected = Program(seed, has_devices=False).run("")
    found = Program(seed, has_devices=True).run(target)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
