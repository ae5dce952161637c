"""Functions, branches and loops of version 2 whose nodes lie on several tasks: each program gives
on a cluster what it gives in one process."""

import random

import numpy as np
import pytest
import rheos.v1 as tf

pytestmark = pytest.mark.usefixtures("grpc", "control_flow_v2")
PS, WORKER = "/job:ps/task:%d", "/job:worker/task:%d"


@pytest.fixture
def control_flow_v2():
    tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


@pytest.fixture(scope="module")
def cluster():
    workers, ps = tf.test.create_local_cluster(num_workers=2, num_ps=2)
    yield workers[0].target
    del workers, ps


def variables():
    """One on each parameter server."""
    made = []
    for i in range(2):
        with tf.device(PS % i):
            made.append(tf.get_variable(f"v{i}", initializer=[1.0 + i, 3.0], use_resource=True))
    return made


def a_function_reads_both():
    v, w = variables()
    x = tf.placeholder(tf.float32, [2])

    @tf.function
    def f(x):
        return v * x + w, tf.reduce_sum(w)

    y, total = f(x)
    return [y, total, y + total], [{x: [1, 2]}, {x: [3, 4]}]


def a_function_writes_both():
    v, w = variables()

    @tf.function
    def f(x):
        v.assign_add(x)
        w.assign_sub(v * 2)
        return v + w

    y = f(tf.constant([1.0, 2.0]))
    with tf.control_dependencies([y]):
        after = [v.read_value(), w.read_value()]
    return [y, *after], [{}, {}, {}]


def effects_without_results():
    v, w = variables()

    @tf.function
    def f():
        v.assign_add(w)
        w.assign_add([1.0, 0.0])

    f()
    call = tf.get_default_graph().get_operations()[-1]
    with tf.control_dependencies([call]):
        return [v.read_value() + w.read_value()], [{}, {}]


def functions_in_functions():
    v, w = variables()

    @tf.function
    def inner(x):
        return x * w

    @tf.function
    def outer(x):
        with tf.device(WORKER % 1):
            y = inner(x) + 1
        return inner(y) * v

    return [outer(tf.constant([1.0, -1.0]))], [{}]


def devices_in_a_body():
    @tf.function
    def f(x):
        with tf.device(WORKER % 0):
            y = tf.sin(x)
        with tf.device(WORKER % 1):
            return tf.cos(y), y

    return list(f(tf.constant([1.0, 2.0]))), [{}]


def branches():
    v, w = variables()
    p = tf.placeholder(tf.bool, [])

    def then():
        with tf.control_dependencies([v.assign_add(w)]):
            return v + 0.0, tf.constant(1)

    def otherwise():
        with tf.control_dependencies([w.assign_add([10.0, 20.0])]):
            return w * v, tf.constant(2)

    y, which = tf.cond(p, then, otherwise)
    with tf.control_dependencies([y]):
        after = v + w
    return [y, which, after], [{p: True}, {p: False}, {p: False}, {p: True}]


def many_branches():
    v, w = variables()
    i = tf.placeholder(tf.int32, [])
    y = tf.switch_case(i, [lambda: v + w, lambda: v - w, lambda: v * w])
    return [y], [{i: 0}, {i: 1}, {i: 2}, {i: 7}, {i: -1}]


def a_loop():
    v, w = variables()
    n = tf.placeholder(tf.int32, [])

    def body(i, x):
        with tf.control_dependencies([v.assign_add([1.0, 0.0])]):
            return i + 1, x * w + v

    i, x = tf.while_loop(lambda i, x: i < n, body, [tf.constant(0), tf.constant([0.5, 0.25])])
    with tf.control_dependencies([x]):
        after = v.read_value()
    return [i, x, after], [{n: 3}, {n: 0}, {n: 1}]


def a_loop_until_a_variable_says():
    v, w = variables()

    def body(i):
        with tf.control_dependencies([v.assign_add(w)]):
            return i + 1

    i = tf.while_loop(lambda i: tf.reduce_sum(v) < 30.0, body, [tf.constant(0)])
    return [i], [{}, {}]


def a_loop_that_grows():
    v, w = variables()
    shape = tf.TensorShape([None])
    x = tf.while_loop(
        lambda x: tf.size(x) < 9,
        lambda x: tf.concat([x, v + w], 0),
        [tf.constant([0.0])],
        shape_invariants=[shape],
    )
    return [x], [{}]


def branches_in_a_loop():
    v, w = variables()

    def body(i, x):
        x = tf.cond(tf.equal(i % 2, 0), lambda: x + v, lambda: x * w)
        return i + 1, x

    return list(tf.while_loop(lambda i, x: i < 5, body, [0, tf.constant([1.0, 1.0])])), [{}]


def loops_in_a_function_in_a_branch():
    v, w = variables()
    p = tf.placeholder(tf.bool, [])

    @tf.function
    def f(x):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * v + w), [0, x])[1]

    y = tf.cond(p, lambda: f(tf.constant([1.0, 2.0])), lambda: w + 0.0)
    return [y], [{p: True}, {p: False}]


def training_through_a_loop():
    v, w = variables()
    with tf.device(WORKER % 1):
        x = tf.constant([0.5, 0.25])
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y * v + w)), [0, x])[1]
        loss = tf.reduce_sum(tf.square(y - 0.5))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [loss, step], [{}] * 4


def training_through_branches_and_calls():
    v, w = variables()
    p = tf.placeholder(tf.bool, [])

    @tf.function
    def f(x):
        return tf.tanh(x * v) + w

    y = tf.cond(p, lambda: f(f(tf.constant([0.5, -0.5]))), lambda: tf.square(w) + v)
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.square(y)))
    return [y, step], [{p: True}, {p: False}, {p: True}, {p: True}]


PROGRAMS = [
    a_function_reads_both,
    a_function_writes_both,
    effects_without_results,
    functions_in_functions,
    devices_in_a_body,
    branches,
    many_branches,
    a_loop,
    a_loop_until_a_variable_says,
    a_loop_that_grows,
    branches_in_a_loop,
    loops_in_a_function_in_a_branch,
    training_through_a_loop,
    training_through_branches_and_calls,
]


class RandomProgram:
    """Functions, branches and loops in each other on devices by chance; without effects, whose
    order such a program would not say."""

    devices = [PS % 0, PS % 1, WORKER % 0, WORKER % 1, "/job:worker", None, None]

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def __call__(self):
        self.variables = variables()
        fed = tf.placeholder(tf.float32, [2])
        y = self.value(fed + [0.5, 0.25], 4)
        slopes = tf.gradients(tf.reduce_sum(tf.square(y)), [*self.variables, fed])
        return [y, *(g for g in slopes if g is not None)], [{fed: [0, 0]}, {fed: [1, -1]}]

    def value(self, x, depth):
        with tf.device(self.chance.choice(self.devices)):
            if depth == 0:
                return self.chance.choice([tf.tanh, tf.sin, tf.sigmoid])(x)
            return self.chance.choice([self.product, self.branch, self.loop, self.call, self.sum])(
                x, depth - 1
            )

    def product(self, x, depth):
        return self.value(x, depth) * self.chance.choice(self.variables)

    def branch(self, x, depth):
        least = self.chance.uniform(-0.5, 0.5)
        return tf.cond(
            tf.reduce_sum(x) > least, lambda: self.value(x, depth), lambda: self.value(-x, depth)
        )

    def loop(self, x, depth):
        trips = self.chance.randint(0, 3)
        return tf.while_loop(
            lambda i, a: i < trips, lambda i, a: (i + 1, self.value(a, depth)), [0, x]
        )[1]

    def call(self, x, depth):
        return tf.function(lambda a: self.value(a, depth))(x)

    def sum(self, x, depth):
        return self.value(x, depth) + self.value(x * 0.3, depth)


def values(program, target):
    with tf.Graph().as_default():
        fetches, feeds = program()
        if not target:
            for operation in tf.get_default_graph().get_operations():
                operation._set_device("")
        config = tf.ConfigProto(isolate_session_state=True, allow_soft_placement=not target)
        with tf.Session(target, config=config) as sess:
            sess.run(tf.global_variables_initializer())
            return [[sess.run(f, feed) for f in [fetches]][0] for feed in feeds]


def compare(here, there):
    for step, (one, other) in enumerate(zip(here, there, strict=True)):
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            if a is None:
                assert b is None
            else:
                where = f"step {step}, fetch {i}"
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6, err_msg=where)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_on_a_cluster_what_it_gives_in_one_process(program, cluster):
    compare(values(program, ""), values(program, cluster))


@pytest.mark.parametrize("seed", range(20))
def test_programs_by_chance_do_too(seed, cluster):
    compare(values(RandomProgram(seed), ""), values(RandomProgram(seed), cluster))
