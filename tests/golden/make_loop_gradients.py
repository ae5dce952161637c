#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for gradients of loops, and what they compute.

Usage: python make_loop_gradients.py      (a Python that has TensorFlow 1.15.5)

Writes loop_gradients.json; test_loop_gradients.py runs the same programs, which are
here. A program gets the module and the number of trips that its loops make, which is fed, and
returns the ys and the xs, and maybe arguments for tf.gradients.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_control_flow import contexts, describe, plain, rows  # noqa: E402

PROGRAMS = {}
TRIPS = (0, 1, 7)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def number(tf, value, name):
    return tf.placeholder_with_default(value, [], name=name)


def vector(tf, name="x", value=(0.5, -0.25, 0.75)):
    return tf.placeholder_with_default(list(value), [len(value)], name=name)


def matrix(tf, name="m"):
    return tf.placeholder_with_default([[0.5, -0.25], [0.75, 0.125]], [2, 2], name=name)


def anything(tf, name="a", value=(0.5, -0.25, 0.75)):
    """Of no known shape."""
    return tf.placeholder_with_default(list(value), None, name=name)


def loop(tf, n, body, *variables, **more):
    """The variables after n trips of the body."""
    result = tf.while_loop(
        lambda i, *v: i < n,
        lambda i, *v: [i + 1] + as_list(body(i, *v)),
        [tf.constant(0)] + list(variables),
        **more,
    )[1:]
    return result[0] if len(variables) == 1 else result


def as_list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


# ---- What the body does with its variable, and with what is the same in all trips


@program
def scalar_power(tf, n):
    x, w = number(tf, 2.0, "x"), number(tf, 1.5, "w")
    return loop(tf, n, lambda i, x: x * w, x), [x, w]


@program
def only_of_invariant(tf, n):
    w = number(tf, 1.5, "w")
    return loop(tf, n, lambda i, x: x * w, tf.constant(2.0)), [w]


@program
def only_of_initial(tf, n):
    x = number(tf, 2.0, "x")
    return loop(tf, n, lambda i, x: x * 1.5, x), [x]


@program
def vector_times_vector(tf, n):
    x, w = vector(tf), vector(tf, "w", (1.5, 2.0, -1.0))
    return loop(tf, n, lambda i, x: x * w, x), [x, w]


@program
def broadcast(tf, n):
    x, w = vector(tf), number(tf, 1.5, "w")
    return loop(tf, n, lambda i, x: x * w + w, x), [x, w]


@program
def matrix_product(tf, n):
    x, w = matrix(tf, "x"), matrix(tf, "w")
    return loop(tf, n, lambda i, x: tf.tanh(tf.matmul(x, w)), x), [x, w]


@program
def unknown_shapes(tf, n):
    x, w = anything(tf), anything(tf, "w")
    return loop(tf, n, lambda i, x: x * w + tf.sin(x), x), [x, w]


@program
def half_known_shapes(tf, n):
    x = tf.placeholder_with_default([[0.5, -0.25], [0.75, 0.125]], [None, 2], name="x")
    w = matrix(tf, "w")
    return loop(tf, n, lambda i, x: tf.sigmoid(tf.matmul(x, w)), x), [x, w]


@program
def nonlinear(tf, n):
    x = vector(tf)
    return loop(tf, n, lambda i, x: tf.tanh(x) * tf.exp(-x) + tf.square(x) * 0.25, x), [x]


@program
def power_of_the_trip(tf, n):
    x = vector(tf)
    return loop(tf, n, lambda i, s: s + tf.cast(i, tf.float32) * x, tf.zeros([3])), [x]


@program
def reductions(tf, n):
    x = matrix(tf, "x")
    return loop(tf, n, lambda i, x: x - tf.reduce_mean(x, 1, True) + tf.reduce_max(x), x), [x]


@program
def softmax(tf, n):
    x = matrix(tf, "x")
    return loop(tf, n, lambda i, x: tf.nn.softmax(x * 2.0), x), [x]


@program
def shapes_as_values(tf, n):
    x = anything(tf, "x")
    body = lambda i, x: x * tf.cast(tf.size(x), tf.float32) * 0.25  # noqa: E731
    return loop(tf, n, body, x), [x]


@program
def reshape_and_transpose(tf, n):
    x = tf.placeholder_with_default([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 3], name="x")
    body = lambda i, x: tf.reshape(tf.transpose(x), [2, 3]) * x  # noqa: E731
    return loop(tf, n, body, x * 0.25), [x]


@program
def concat_and_slice(tf, n):
    x = vector(tf)
    return loop(tf, n, lambda i, x: tf.concat([x[1:], tf.sin(x[:1])], 0), x), [x]


@program
def doubles(tf, n):
    x = tf.placeholder_with_default(tf.constant([0.5, 2.0], tf.float64), [2], name="x")
    return loop(tf, n, lambda i, x: tf.sqrt(x) * x, x), [x]


@program
def captured_twice(tf, n):
    x, w = vector(tf), vector(tf, "w")
    z = tf.exp(w)
    return loop(tf, n, lambda i, x: x * z + z, x), [x, w]


@program
def stop_in_body(tf, n):
    x, w = vector(tf), vector(tf, "w")
    return loop(tf, n, lambda i, x: x * w + tf.stop_gradient(x), x), [x, w]


# ---- Several variables


@program
def two_variables(tf, n):
    x, y = vector(tf), vector(tf, "y")
    a, b = loop(tf, n, lambda i, x, y: (x * y, x + y), x, y)
    return a + b, [x, y]


@program
def one_exit_unused(tf, n):
    x, y = vector(tf), vector(tf, "y")
    a, b = loop(tf, n, lambda i, x, y: (x * y, x + y), x, y)
    return a, [x, y]


@program
def unused_exit_of_unknown_shape(tf, n):
    x, y = anything(tf, "x"), anything(tf, "y")
    a, b = loop(tf, n, lambda i, x, y: (x * y, tf.sin(y)), x, y)
    return a, [x, y]


@program
def independent_variables(tf, n):
    x, y = vector(tf), vector(tf, "y")
    a, b = loop(tf, n, lambda i, x, y: (x * 2.0, tf.sin(y)), x, y)
    return a, [x, y]


@program
def swap(tf, n):
    x, y = vector(tf), vector(tf, "y")
    a, b = loop(tf, n, lambda i, x, y: (y * 2.0, tf.sin(x)), x, y)
    return a, [x, y]


@program
def forgotten_variable(tf, n):
    x, w = vector(tf), vector(tf, "w")
    a, b = loop(tf, n, lambda i, x, y: (w * 2.0, x + y), x, x)
    return a + b, [x, w]


@program
def forgotten_of_unknown_shape(tf, n):
    x, w = anything(tf, "x"), anything(tf, "w")
    a, b = loop(tf, n, lambda i, x, y: (w * 2.0, x + y), x, x)
    return a + b, [x, w]


@program
def several_ys(tf, n):
    x, y = vector(tf), vector(tf, "y")
    a, b = loop(tf, n, lambda i, x, y: (x * y, x + y), x, y)
    return [a, b, tf.sin(a)], [x, y]


@program
def grad_ys(tf, n):
    x = vector(tf)
    y = loop(tf, n, lambda i, x: tf.sin(x), x)
    return y, [x], {"grad_ys": [tf.constant([1.0, 2.0, 3.0])]}


@program
def with_work_around(tf, n):
    x, w = vector(tf), vector(tf, "w")
    y = loop(tf, n, lambda i, x: x * w, tf.sin(x) * w)
    return tf.reduce_sum(tf.square(y) * w), [x, w]


@program
def fibonacci(tf, n):
    x = number(tf, 1.0, "x")
    a, b = loop(tf, n, lambda i, a, b: (b, a + b), x, x)
    return b, [x]


@program
def with_integers(tf, n):
    x, k = vector(tf), tf.constant(3)
    a, b = loop(tf, n, lambda i, x, k: (x * tf.cast(k, tf.float32) * 0.25, k + 1), x, k)
    return a, [x]


# ---- Options


@program
def no_back_prop(tf, n):
    x, w = vector(tf), vector(tf, "w")
    return loop(tf, n, lambda i, x: x * w, x, back_prop=False) + x, [x, w]


@program
def swap_memory(tf, n):
    x, w = vector(tf), vector(tf, "w")
    return loop(tf, n, lambda i, x: tf.sin(x) * w, x, swap_memory=True), [x, w]


@program
def one_at_a_time(tf, n):
    x, w = vector(tf), vector(tf, "w")
    return loop(tf, n, lambda i, x: tf.sin(x) * w, x, parallel_iterations=1), [x, w]


@program
def maximum_iterations(tf, n):
    x, w = vector(tf), vector(tf, "w")
    return loop(tf, n, lambda i, x: tf.sin(x) * w, x, maximum_iterations=3), [x, w]


@program
def shape_invariants(tf, n):
    x = tf.placeholder_with_default([[0.5, -0.25]], [1, 2], name="x")
    invariants = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    body = lambda i, v: tf.concat([v, x * v[-1:]], 0)  # noqa: E731
    y = loop(tf, n, body, x, shape_invariants=invariants)
    return tf.reduce_sum(y), [x]


@program
def colocated(tf, n):
    x, w = vector(tf), vector(tf, "w")
    y = loop(tf, n, lambda i, x: tf.sin(x) * w, x)
    return y, [x, w], {"colocate_gradients_with_ops": True}


@program
def gated(tf, n):
    x, w = vector(tf), vector(tf, "w")
    y = loop(tf, n, lambda i, x: tf.sin(x) * w, x)
    return y, [x, w], {"gate_gradients": True}


@program
def named(tf, n):
    x = vector(tf)
    y = loop(tf, n, lambda i, x: tf.sin(x), x, name="turn")
    return y, [x], {"name": "slopes"}


@program
def on_a_device(tf, n):
    x, w = vector(tf), vector(tf, "w")
    with tf.device("/cpu:0"):
        y = loop(tf, n, lambda i, x: tf.sin(x) * w, x)
    return y, [x, w], {"colocate_gradients_with_ops": True}


@program
def control_inputs(tf, n):
    x, w = vector(tf), vector(tf, "w")

    def body(i, x):
        with tf.control_dependencies([tf.assert_less(i, 100)]):
            return tf.identity(x) * w

    return loop(tf, n, body, x), [x, w]


@program
def two_loops_in_a_row(tf, n):
    x, w = vector(tf), vector(tf, "w")
    y = loop(tf, n, lambda i, x: x * w, x)
    return loop(tf, n, lambda i, y: tf.sin(y) + w, y), [x, w]


@program
def two_loops_beside(tf, n):
    x, w = vector(tf), vector(tf, "w")
    a = loop(tf, n, lambda i, x: x * w, x)
    b = loop(tf, n, lambda i, x: tf.sin(x) + w, x)
    return a * b, [x, w]


@program
def twice_the_same(tf, n):
    x, w = vector(tf), vector(tf, "w")
    y = loop(tf, n, lambda i, x: x * w, x)
    first = tf.gradients(y, w)[0]
    return y + tf.stop_gradient(first), [x, w]


@program
def gradient_inside(tf, n):
    x, w = vector(tf), vector(tf, "w")

    def body(i, x):
        return x - 0.25 * tf.gradients(tf.reduce_sum(tf.square(x) * w), x)[0]

    return loop(tf, n, body, x), [x, w]


@program
def inner_gradient_of_a_loop(tf, n):
    x = vector(tf)

    def body(i, x):
        return x - 0.25 * tf.gradients(loop(tf, 2, lambda i, z: z * z, x), x)[0]

    return loop(tf, n, body, x) + x, [], {}


# ---- Nested loops, conditionals


@program
def nested(tf, n):
    x, w = vector(tf), vector(tf, "w")
    inner = lambda i, x: loop(tf, 2, lambda j, z: z * w, x)  # noqa: E731
    return loop(tf, n, inner, x), [x, w]


@program
def nested_with_varying_trips(tf, n):
    x, w = vector(tf), vector(tf, "w")
    inner = lambda i, x: loop(tf, i, lambda j, z: tf.sin(z) * w, x) + w  # noqa: E731
    return loop(tf, n, inner, x), [x, w]


@program
def nested_of_unknown_shapes(tf, n):
    x, w = anything(tf, "x"), anything(tf, "w")
    inner = lambda i, x: loop(tf, 2, lambda j, z: tf.sin(z) * w, x) * x  # noqa: E731
    return loop(tf, n, inner, x), [x, w]


@program
def inner_reads_outer(tf, n):
    x, w = vector(tf), vector(tf, "w")

    def outer(i, x):
        y = tf.sin(x)
        return loop(tf, 2, lambda j, z: z * y + w, x)

    return loop(tf, n, outer, x), [x, w]


@program
def inner_with_unused_exit(tf, n):
    x, w = anything(tf, "x"), vector(tf, "w")

    def outer(i, x):
        return loop(tf, 2, lambda j, a, b: (a * b, b + w), x, x)[0]

    return loop(tf, n, outer, x), [x, w]


@program
def three_deep(tf, n):
    x, w = vector(tf), vector(tf, "w")
    third = lambda i, x: loop(tf, 2, lambda j, z: tf.sin(z) * w, x)  # noqa: E731
    second = lambda i, x: loop(tf, 2, third, x) + w  # noqa: E731
    return loop(tf, n, second, x), [x, w]


@program
def four_deep(tf, n):
    x, w = vector(tf), vector(tf, "w")
    fourth = lambda i, x: loop(tf, 2, lambda j, z: tf.sin(z) * w + x, x)  # noqa: E731
    third = lambda i, x: loop(tf, 2, fourth, x)  # noqa: E731
    second = lambda i, x: loop(tf, 2, third, x)  # noqa: E731
    return loop(tf, n, second, x), [x, w]


@program
def cond_in_loop(tf, n):
    x, w = vector(tf), vector(tf, "w")
    body = lambda i, x: tf.cond(i < 3, lambda: x * w, lambda: tf.sin(x))  # noqa: E731
    return loop(tf, n, body, x), [x, w]


@program
def cond_in_loop_one_side(tf, n):
    x, w = vector(tf), vector(tf, "w")
    body = lambda i, x: tf.cond(i < 3, lambda: x * w, lambda: x)  # noqa: E731
    return loop(tf, n, body, x), [x, w]


@program
def cond_in_loop_of_unknown_shape(tf, n):
    x, w = anything(tf, "x"), anything(tf, "w")
    body = lambda i, x: tf.cond(i < 3, lambda: x * w, lambda: tf.sin(x))  # noqa: E731
    return loop(tf, n, body, x), [x, w]


@program
def cond_in_cond_in_loop(tf, n):
    x, w = vector(tf), vector(tf, "w")

    def body(i, x):
        inner = lambda: tf.cond(i < 1, lambda: tf.exp(x), lambda: x * w)  # noqa: E731
        return tf.cond(i < 3, inner, lambda: tf.sin(x))

    return loop(tf, n, body, x), [x, w]


@program
def loop_in_cond(tf, n):
    x, w = vector(tf), vector(tf, "w")
    p = tf.placeholder_with_default(True, [], name="p")
    return tf.cond(p, lambda: loop(tf, n, lambda i, x: tf.sin(x) * w, x), lambda: x), [x, w]


@program
def loop_in_cond_not_taken(tf, n):
    x, w = vector(tf), vector(tf, "w")
    p = tf.placeholder_with_default(False, [], name="p")
    return tf.cond(p, lambda: loop(tf, n, lambda i, x: tf.sin(x) * w, x), lambda: x * w), [x, w]


@program
def loop_in_cond_in_loop(tf, n):
    x, w = vector(tf), vector(tf, "w")

    def body(i, x):
        inner = lambda: loop(tf, 2, lambda i, z: tf.sin(z) * w, x)  # noqa: E731
        return tf.cond(i < 2, inner, lambda: x + w)

    return loop(tf, n, body, x), [x, w]


# ---- Variables, rows, arrays


@program
def ref_variable(tf, n):
    v = tf.Variable([0.5, -0.25, 0.75], name="v", use_resource=False)
    x = vector(tf)
    return loop(tf, n, lambda i, x: tf.sin(x) * v, x), [x, v]


@program
def resource_variable(tf, n):
    v = tf.Variable([0.5, -0.25, 0.75], name="v", use_resource=True)
    x = vector(tf)
    return loop(tf, n, lambda i, x: tf.sin(x) * v, x), [x, v]


@program
def resource_read_outside(tf, n):
    v = tf.Variable([0.5, -0.25, 0.75], name="v", use_resource=True)
    x, value = vector(tf), v.read_value()
    return loop(tf, n, lambda i, x: tf.sin(x) * value, x), [x, v]


@program
def variable_made_inside(tf, n):
    x = matrix(tf, "x")

    def body(i, x):
        with tf.variable_scope("inside", reuse=tf.AUTO_REUSE):
            start = tf.constant_initializer([[0.5, 0.25], [1.0, -1.0]])
            w = tf.get_variable("w", [2, 2], initializer=start)
        return tf.tanh(tf.matmul(x, w))

    y = loop(tf, n, body, x)
    return y, [x] + tf.trainable_variables()


@program
def rows_of_an_invariant(tf, n):
    table = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [3, 2], name="t")
    body = lambda i, s: s * 0.5 + tf.gather(table, tf.mod(i, 3))  # noqa: E731
    return loop(tf, n, body, tf.zeros([2])), [table]


@program
def rows_of_a_variable(tf, n):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="t", use_resource=False)
    body = lambda i, s: s * 0.5 + tf.reduce_sum(tf.gather(table, [0, i % 3]), 0)  # noqa: E731
    return loop(tf, n, body, tf.zeros([2])), [table]


@program
def rows_of_a_resource(tf, n):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="t", use_resource=True)
    body = lambda i, s: s * 0.5 + tf.reduce_sum(tf.gather(table, [0, i % 3]), 0)  # noqa: E731
    return loop(tf, n, body, tf.zeros([2])), [table]


@program
def array_read(tf, n):
    x = tf.placeholder_with_default([[1.0, 2.0]] * 7, [7, 2], name="x")
    array = tf.TensorArray(tf.float32, 7).unstack(x)
    return loop(tf, n, lambda i, s: tf.tanh(s) * array.read(i) + 0.5, tf.ones([2])), [x]


@program
def array_written(tf, n):
    x, w = vector(tf), vector(tf, "w")
    array = tf.TensorArray(tf.float32, n, element_shape=[3])
    body = lambda i, x, a: (tf.sin(x) * w, a.write(i, x * w))  # noqa: E731
    y, a = loop(tf, n, body, x, array)
    return tf.reduce_sum(a.stack()) + tf.reduce_sum(y), [x, w]


@program
def map_over_rows(tf, n):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], [2, 2], name="x")
    w = number(tf, 0.5, "w")
    return tf.map_fn(lambda row: tf.tanh(row) * w, x), [x, w]


@program
def scan_over_rows(tf, n):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], [2, 2], name="x")
    w = number(tf, 0.5, "w")
    return tf.scan(lambda a, row: tf.tanh(a) * w + row, x), [x, w]


@program
def map_in_a_loop(tf, n):
    x, w = vector(tf), number(tf, 0.5, "w")
    return loop(tf, n, lambda i, y: tf.map_fn(lambda part: tf.tanh(part) * w, y), x), [x, w]


@program
def map_in_a_map(tf, n):
    x, w = matrix(tf, "x"), number(tf, 0.5, "w")
    row = lambda r: tf.map_fn(lambda part: tf.tanh(part) * w, r)  # noqa: E731
    return tf.map_fn(row, x), [x, w]


@program
def fold_over_rows(tf, n):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], [2, 2], name="x")
    return tf.foldl(lambda a, row: tf.tanh(a) * row, x), [x]


# ---- Recording


def build(tf, name):
    """The nodes and contexts of a program with its gradients, the gradients, and what to feed."""
    n = tf.placeholder_with_default(7, [], name="n")
    made = PROGRAMS[name](tf, n)
    ys, xs, options = made if len(made) == 3 else made + ({},)
    slopes = tf.gradients(ys, xs, **options) if xs else as_list(ys)
    nodes = [describe(op) for op in tf.get_default_graph().get_operations()]
    return {"nodes": nodes, "contexts": contexts(tf)}, slopes, n


def compute(tf, slopes, n):
    """Which gradients there are; then, for each number of trips, they, or None where that fails."""
    dense = [tf.convert_to_tensor(slope) for slope in slopes if slope is not None]
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    values = [[slope is not None for slope in slopes]]
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for trips in TRIPS:
            try:
                values.append([plain(value) for value in session.run(dense, {n: trips})])
            except tf.errors.InvalidArgumentError:  # some of no trips
                values.append(None)
    return values


def record(tf):
    programs = {}
    for name in PROGRAMS:
        with tf.Graph().as_default():
            made, slopes, n = build(tf, name)
            made["values"] = compute(tf, slopes, n)
        programs[name] = made
    return {"programs": programs, "mistakes": {}}


def main():
    import tensorflow

    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "loop_gradients.json"), "w") as file:
        file.write(rows(record(tensorflow)))


if __name__ == "__main__":
    sys.exit(main())
