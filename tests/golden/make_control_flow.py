#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for conditionals and loops, and what they compute.

Usage: python make_control_flow.py      (a Python that has TensorFlow 1.15.5)

Writes control_flow.json; test_control_flow.py runs the same programs, which are here.
A program gets the module and returns what to fetch, after the initializers; one of MISTAKES raises.
"""

import json
import os
import sys

PROGRAMS, MISTAKES = {}, {}
ATTRS = ("T", "N", "frame_name", "is_constant", "parallel_iterations", "_class", "dtype")


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mistake(function):
    MISTAKES[function.__name__] = function
    return function


# ---- Conditionals


def truth(tf, value=True):
    return tf.placeholder_with_default(value, [], name="truth")


def numbers(tf, name="x"):
    return tf.placeholder_with_default([1.0, 2.0, 3.0], [3], name=name)


@program
def cond_constants(tf):
    return [tf.cond(truth(tf), lambda: tf.constant(1), lambda: tf.constant(2))]


@program
def cond_false(tf):
    return [tf.cond(truth(tf, False), lambda: 1.0, lambda: 2.5, name="choice")]


@program
def cond_outside_values(tf):
    x, y = numbers(tf), numbers(tf, "y")
    return [tf.cond(truth(tf), lambda: x * y + x, lambda: tf.reduce_sum(x) - y)]


@program
def cond_returns_outside(tf):
    x, y = numbers(tf), numbers(tf, "y")
    return [tf.cond(truth(tf), lambda: x, lambda: y), tf.cond(truth(tf), lambda: x, lambda: x)]


@program
def cond_list(tf):
    x = numbers(tf)
    return tf.cond(truth(tf), lambda: [x + 1.0, tf.constant(1)], lambda: [x, tf.constant(2)])


@program
def cond_structure(tf):
    x = numbers(tf)
    result = tf.cond(
        truth(tf),
        lambda: {"a": (x * 2.0, [x]), "b": tf.constant(3)},
        lambda: {"a": (x, [x * 3.0]), "b": tf.constant(4)},
    )
    return [result["a"][0], result["a"][1][0], result["b"]]


@program
def cond_strict(tf):
    x = numbers(tf)
    (one,) = tf.cond(truth(tf), lambda: [x * 2.0], lambda: [x], strict=True)
    return [one, tf.cond(truth(tf), lambda: [x * 2.0], lambda: (x,))]


@program
def cond_old_names(tf):
    return [tf.cond(truth(tf), fn1=lambda: tf.zeros([2]), fn2=lambda: tf.ones([2]))]


@program
def cond_same_value_often(tf):
    x = numbers(tf)
    return [tf.cond(truth(tf), lambda: (x + x) * x, lambda: tf.add_n([x, x, x]))]


@program
def cond_nested(tf):
    x, first, second = numbers(tf), truth(tf), truth(tf, False)

    def inner():
        return tf.cond(second, lambda: x + 1.0, lambda: x * 10.0)

    return [tf.cond(first, inner, lambda: x - 1.0)]


@program
def cond_nested_thrice(tf):
    x, y, a = numbers(tf), numbers(tf, "y"), truth(tf)

    def innermost():
        return tf.cond(a, lambda: x + y, lambda: y)

    def inner():
        return tf.cond(a, innermost, lambda: x) * y

    return [tf.cond(a, inner, lambda: tf.cond(a, lambda: y, lambda: x))]


@program
def cond_nested_uses_middle(tf):
    x, a = numbers(tf), truth(tf)

    def inner():
        middle = x * 2.0
        return tf.cond(a, lambda: middle + x, lambda: middle)

    return [tf.cond(a, inner, lambda: x)]


@program
def cond_nested_pred_inside(tf):
    x, a = numbers(tf), truth(tf)

    def inner():
        return tf.cond(tf.reduce_sum(x) > 3.0, lambda: x, lambda: -x)

    return [tf.cond(a, inner, lambda: x)]


@program
def cond_operations(tf):
    v = tf.Variable(1.0, name="v")
    done = tf.cond(truth(tf), lambda: tf.assign(v, 5.0).op, tf.no_op)
    with tf.control_dependencies([done]):
        return [tf.identity(v.read_value())]


@program
def cond_assign_ref(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    x = numbers(tf)
    return [tf.cond(truth(tf), lambda: tf.assign_add(v, x), lambda: tf.assign(v, x))]


@program
def cond_reads_ref(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    return [tf.cond(truth(tf), lambda: v * 2.0, lambda: v + 1.0)]


@program
def cond_resource(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=True)
    x = numbers(tf)
    return [tf.cond(truth(tf), lambda: v.assign_add(x) * 2.0, lambda: v + 1.0)]


@program
def cond_makes_variable(tf):
    def branch():
        with tf.variable_scope("inside"):
            return tf.get_variable("w", [2], initializer=tf.ones_initializer()) + 1.0

    return [tf.cond(truth(tf), branch, lambda: tf.zeros([2])), len(tf.global_variables())]


@program
def cond_makes_resource(tf):
    def branch():
        with tf.variable_scope("inside", use_resource=True):
            return tf.get_variable("w", [2], initializer=tf.ones_initializer()) + 1.0

    return [tf.cond(truth(tf), branch, lambda: tf.zeros([2])), len(tf.global_variables())]


@program
def cond_control_outside(tf):
    x = numbers(tf)
    before = tf.identity(x, name="before")
    with tf.control_dependencies([before]):
        return [tf.cond(truth(tf), lambda: tf.constant(1.0), lambda: tf.reduce_sum(x))]


@program
def cond_control_inside(tf):
    x = numbers(tf)
    before = tf.identity(x, name="before")

    def branch():
        with tf.control_dependencies([before]):
            one = tf.constant(1.0, name="one")
        with tf.control_dependencies([one]):
            return tf.group(tf.constant(2.0).op, one.op), tf.identity(one)

    return [tf.cond(truth(tf), lambda: branch()[1], lambda: tf.constant(3.0))]


@program
def cond_group_and_tuple(tf):
    x = numbers(tf)

    def branch():
        a, b = tf.tuple([x + 1.0, x * 2.0])
        with tf.control_dependencies([tf.group(a, b)]):
            return tf.identity(a) + b

    return [tf.cond(truth(tf), branch, lambda: x)]


@program
def cond_name_scopes(tf):
    x = numbers(tf)
    with tf.name_scope("outer"):

        def branch():
            with tf.name_scope("inner"):
                return tf.square(x, name="sq")

        return [tf.cond(truth(tf), branch, lambda: tf.sqrt(x), name="pick")]


@program
def cond_twice(tf):
    x, a = numbers(tf), truth(tf)
    first = tf.cond(a, lambda: x + 1.0, lambda: x)
    return [tf.cond(a, lambda: first * 2.0, lambda: first)]


@program
def cond_layers(tf):
    x = tf.reshape(numbers(tf), [1, 3])

    def branch():
        return tf.layers.dense(x, 2, kernel_initializer=tf.ones_initializer(), name="fc")

    return [tf.cond(truth(tf), branch, lambda: tf.zeros([1, 2]))]


@program
def cond_sparse(tf):
    def branch(k):
        return tf.SparseTensor([[0], [2]], [1.0, k], [4])

    result = tf.cond(truth(tf), lambda: branch(2.0), lambda: branch(3.0))
    return [tf.sparse_tensor_to_dense(result)]


@program
def cond_indexed_slices(tf):
    def branch(k):
        return tf.IndexedSlices(tf.constant([[k]]), tf.constant([1]))

    result = tf.cond(truth(tf), lambda: branch(2.0), lambda: branch(3.0))
    return [result.values, result.indices]


@program
def cond_unknown_shapes(tf):
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    first = tf.cond(truth(tf), lambda: x, lambda: tf.zeros([2]))
    return [first, tf.cond(truth(tf), lambda: tf.ones([3]), lambda: tf.zeros([2]))]


@program
def cond_colocated(tf):
    x = numbers(tf)
    with tf.colocate_with(x):
        return [tf.cond(truth(tf), lambda: x + 1.0, lambda: tf.constant([1.0]))]


@program
def cond_device(tf):
    x = numbers(tf)
    with tf.device("/cpu:0"):
        return [tf.cond(truth(tf), lambda: x + 1.0, lambda: x)]


@program
def cond_collections(tf):
    x = numbers(tf)

    def branch():
        tf.add_to_collection("mine", x * 2.0)
        tf.losses.absolute_difference(x, x * 2.0)
        return x

    result = tf.cond(truth(tf), branch, lambda: x)
    return [result, len(tf.get_collection("mine")), len(tf.losses.get_losses())]


@program
def cond_applies_gradients(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    slopes = optimizer.compute_gradients(tf.reduce_sum(v * v))
    done = tf.cond(truth(tf), lambda: optimizer.apply_gradients(slopes), tf.no_op)
    with tf.control_dependencies([done]):
        return [v.read_value()]


@program
def cond_applies_adam(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = tf.train.AdamOptimizer(0.5)
    slopes = optimizer.compute_gradients(tf.reduce_sum(v * v))
    done = tf.cond(truth(tf), lambda: optimizer.apply_gradients(slopes), tf.no_op)
    with tf.control_dependencies([done]):
        return [v.read_value()]


@program
def cond_gradients_of_inside(tf):
    def branch():
        x = tf.constant([1.0, 2.0], name="x")
        return tf.gradients(tf.reduce_sum(x * x * x), x)[0]

    return [tf.cond(truth(tf), branch, lambda: tf.zeros([2]))]


@program
def cond_summary(tf):
    x = tf.reduce_sum(numbers(tf))
    return [tf.cond(truth(tf), lambda: tf.summary.scalar("s", x), lambda: tf.constant(b"none"))]


@program
def cond_random(tf):
    tf.set_random_seed(3)
    make = tf.random_uniform
    return [tf.cond(truth(tf), lambda: make([2], seed=1) * 0.0, lambda: make([2]))]


@program
def cond_gather_and_update(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    done = tf.cond(truth(tf), lambda: tf.scatter_add(v, [1], [5.0]), lambda: v.op.outputs[0])
    return [tf.identity(done)]


# ---- Gradients of conditionals


@program
def gradient_of_cond(tf):
    x, p = numbers(tf), truth(tf, False)
    y = tf.cond(p, lambda: x * 2.0, lambda: tf.square(x))
    return tf.gradients(y, x)


@program
def gradient_where_one_side_has_none(tf):
    x, p = numbers(tf), truth(tf)
    y = tf.cond(p, lambda: tf.reduce_sum(x * x), lambda: tf.constant(3.0))
    return tf.gradients(y, x)


@program
def gradient_of_nested_conds(tf):
    x, p = numbers(tf), truth(tf)
    inner = lambda: tf.cond(x[0] > 1, lambda: x * x, lambda: -x)  # noqa: E731
    return tf.gradients(tf.cond(p, inner, lambda: x * 3.0), x)


@program
def gradient_of_two_results(tf):
    x, p = numbers(tf), truth(tf)
    w = tf.constant([2.0, 3.0, 4.0], name="w")
    a, b = tf.cond(p, lambda: (x * w, x), lambda: (x + 1.0, w * x))
    return tf.gradients(a * b, [x, w])


@program
def gradient_of_a_variable(tf):
    v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=False)
    x, p = numbers(tf), truth(tf, False)
    y = tf.cond(p, lambda: v * x, lambda: v + x)
    return tf.gradients(tf.reduce_sum(y * y), [x])


# ---- Cases


@program
def case_default(tf):
    x = numbers(tf)
    pairs = [(truth(tf, False), lambda: x), (truth(tf), lambda: x + 1.0)]
    return [tf.case(pairs, default=lambda: x * 5.0)]


@program
def case_exclusive(tf):
    x = tf.reduce_sum(numbers(tf))
    small, large = tf.less(x, 3.0), tf.greater(x, 5.0)
    pairs = [(small, lambda: tf.constant(1)), (large, lambda: tf.constant(2))]
    return [tf.case(pairs, default=lambda: tf.constant(3), exclusive=True)]


@program
def case_without_default(tf):
    x = tf.reduce_sum(numbers(tf))
    small, large = tf.less(x, 3.0), tf.greater(x, 5.0)
    pairs = [(small, lambda: tf.constant(1)), (large, lambda: tf.constant(2))]
    return [tf.case(pairs)]


@program
def assert_floats(tf):
    x = numbers(tf)
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0.0), [x, "positive"])]):
        return [tf.identity(x)]


@program
def assert_checks(tf):
    x = numbers(tf)
    with tf.control_dependencies([tf.assert_positive(x), tf.assert_less(x, 9.0)]):
        return [tf.identity(x)]


# ---- Loops


@program
def while_counter(tf):
    return [tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])]


@program
def while_two(tf):
    def body(i, s):
        return tf.add(i, 1), s + tf.cast(i, tf.float32)

    return tf.while_loop(lambda i, s: tf.less(i, 5), body, [0, 1.0])


@program
def while_no_trip(tf):
    return [tf.while_loop(lambda i: i < 0, lambda i: i + 1, [7])]


@program
def while_invariant_value(tf):
    x = numbers(tf)
    return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * x + x), [0, x])[1:]


@program
def while_same_structure(tf):
    (one,) = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)
    return [one]


@program
def while_structure(tf):
    x = numbers(tf)
    result = tf.while_loop(
        lambda i, d: i < 3,
        lambda i, d: (i + 1, {"a": d["a"] + 1.0, "b": (d["b"][0] * 2.0,)}),
        (tf.constant(0), {"a": x, "b": (x,)}),
    )
    return [result[0], result[1]["a"], result[1]["b"][0]]


@program
def while_maximum(tf):
    one = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0], maximum_iterations=4)
    two = tf.while_loop(
        lambda i, j: i < 10, lambda i, j: [i + 1, j + 2], [0, 0], maximum_iterations=tf.constant(3)
    )
    return [one, *two]


@program
def while_shape_invariants(tf):
    x = tf.ones([2, 2])
    i, m = tf.while_loop(
        lambda i, m: i < 3,
        lambda i, m: [i + 1, tf.concat([m, m], axis=0)],
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return [i, m]


@program
def while_invariants_and_maximum(tf):
    return tf.while_loop(
        lambda i, m: tf.size(m) < 100,
        lambda i, m: [i, tf.concat([m, m], 0)],
        [0, tf.ones([1])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        maximum_iterations=3,
    )


@program
def while_options(tf):
    return [
        tf.while_loop(
            lambda i: i < 3,
            lambda i: i + 1,
            [0],
            parallel_iterations=1,
            back_prop=False,
            swap_memory=True,
            name="turns",
        )
    ]


@program
def while_constant_condition(tf):
    return [tf.while_loop(lambda i: False, lambda i: i + 1, [0])]


@program
def while_constants_inside(tf):
    def body(i, s):
        return i + 1, s + tf.reduce_sum(tf.ones([2]) * tf.constant([1.0, 2.0]))

    return tf.while_loop(lambda i, s: i < 2, body, [0, 0.0])


@program
def while_invariant_only(tf):
    x = numbers(tf)

    def body(i, s):
        return i + 1, tf.square(x) + tf.zeros_like(x)

    return tf.while_loop(lambda i, s: i < 2, body, [0, x])


@program
def while_nested(tf):
    def body(i, s):
        return i + 1, tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i), [0, s])[1]

    return tf.while_loop(lambda i, s: i < 4, body, [0, 0])


@program
def while_nested_invariant(tf):
    x = numbers(tf)

    def body(i, s):
        inner = tf.while_loop(lambda j, t: j < 2, lambda j, t: (j + 1, t * x), [0, x])
        return i + 1, s + inner[1]

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])


@program
def while_nested_thrice(tf):
    x = numbers(tf)

    def innermost(s):
        return tf.while_loop(lambda k, u: k < 2, lambda k, u: (k + 1, u + x), [0, s])[1]

    def inner(s):
        return tf.while_loop(lambda j, t: j < 2, lambda j, t: (j + 1, innermost(t)), [0, s])[1]

    return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, inner(s)), [0, x])


@program
def while_with_cond(tf):
    x = numbers(tf)

    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s + x, lambda: s * 2.0)

    return tf.while_loop(lambda i, s: i < 5, body, [0, x])


@program
def while_with_cond_of_outside(tf):
    x, a = numbers(tf), truth(tf)

    def body(i, s):
        return i + 1, tf.cond(a, lambda: x, lambda: s) + tf.cond(a, lambda: tf.ones([3]), lambda: x)

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])


@program
def cond_with_while(tf):
    x = numbers(tf)

    def branch():
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), [0, x])[1]

    return [tf.cond(truth(tf), branch, lambda: x)]


@program
def cond_with_while_of_inside(tf):
    x = numbers(tf)

    def branch():
        y = x * 2.0
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + y), [0, y])[1]

    return [tf.cond(truth(tf), branch, lambda: x)]


@program
def while_cond_while(tf):
    x, a = numbers(tf), truth(tf)

    def inner(s):
        return tf.while_loop(lambda j, t: j < 2, lambda j, t: (j + 1, t + x), [0, s])[1]

    def body(i, s):
        return i + 1, tf.cond(a, lambda: inner(s), lambda: s)

    return tf.while_loop(lambda i, s: i < 2, body, [0, x])


@program
def cond_while_cond(tf):
    x, a = numbers(tf), truth(tf)

    def body(i, s):
        return i + 1, tf.cond(i > 0, lambda: s + x, lambda: s)

    return [tf.cond(a, lambda: tf.while_loop(lambda i, s: i < 2, body, [0, x])[1], lambda: x)]


@program
def while_ref_variable(tf):
    v = tf.Variable([1.0, 1.0, 1.0], name="v")
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + v), [0, numbers(tf)])


@program
def while_ref_assign(tf):
    v = tf.Variable(0.0, name="v")

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0)]):
            return i + 1

    done = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.control_dependencies([done]):
        return [done, v.read_value()]


@program
def while_resource(tf):
    v = tf.Variable(0.0, name="v", use_resource=True)

    def body(i, s):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1, s + v.read_value()

    # With more trips at a time TensorFlow may read after the assignment of the next trip.
    return tf.while_loop(lambda i, s: i < 3, body, [0, 0.0], parallel_iterations=1)


@program
def while_makes_variable(tf):
    def body(i, s):
        with tf.variable_scope("cell", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        return i + 1, s * w

    return tf.while_loop(lambda i, s: i < 3, body, [0, numbers(tf)])


@program
def while_control_outside(tf):
    x = numbers(tf)
    before = tf.identity(x, name="before")
    with tf.control_dependencies([before]):
        return [tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])]


@program
def while_control_inside(tf):
    x = numbers(tf)
    before = tf.identity(x, name="before")

    def body(i, s):
        with tf.control_dependencies([before]):
            return i + 1, s + tf.constant(2.0)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 0.0])


@program
def while_control_of_trip(tf):
    def body(i, s):
        noted = tf.identity(s, name="noted")
        with tf.control_dependencies([noted, i]):
            return i + 1, s + tf.constant(2.0) * tf.to_float(tf.no_op() is not None)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 0.0])


@program
def while_control_of_noop(tf):
    nothing = tf.no_op(name="nothing")

    def body(i):
        with tf.control_dependencies([nothing]):
            return i + 1

    return [tf.while_loop(lambda i: i < 3, body, [0])]


@program
def while_in_dependencies_in_while(tf):
    def body(i, s):
        first = tf.identity(s, name="first")
        with tf.control_dependencies([first]):
            inner = tf.while_loop(lambda j: j < 2, lambda j: j + 1, [0])
        return i + 1, s + tf.cast(inner, tf.float32)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 0.0])


@program
def while_after_while(tf):
    first = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    return [tf.while_loop(lambda i: i < 10, lambda i: i + first, [first])]


@program
def while_group_and_tuple(tf):
    def body(i, s):
        a, b = tf.tuple([i + 1, s * 2.0])
        with tf.control_dependencies([tf.group(a, b)]):
            return tf.identity(a), tf.identity(b)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])


@program
def while_print_and_assert(tf):
    def body(i, s):
        with tf.control_dependencies([tf.Assert(s < 100.0, [s])]):
            return i + 1, s * 2.0

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])


@program
def while_name_scopes(tf):
    with tf.name_scope("outer"):

        def body(i):
            with tf.name_scope("step"):
                return tf.add(i, 1, name="next")

        return [tf.while_loop(lambda i: i < 3, body, [0], name="loop")]


@program
def while_strings(tf):
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + "a"), [0, "b"])


@program
def while_returns_invariant(tf):
    x = numbers(tf)
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, x), [0, x * 2.0])


@program
def while_swaps(tf):
    return tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b, a), [0, 1.0, 2.0])


@program
def while_sparse(tf):
    sparse = tf.SparseTensor([[0], [2]], [1.0, 2.0], [4])

    def body(i, s):
        return i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)

    return [tf.sparse_tensor_to_dense(tf.while_loop(lambda i, s: i < 3, body, [0, sparse])[1])]


@program
def while_colocated(tf):
    x = numbers(tf)
    with tf.colocate_with(x):
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), [0, x])


@program
def while_dtypes(tf):
    def body(i, b, c, d):
        return i + 1, tf.logical_not(b), c * (0 + 1j), d + 1.0

    numbers = [tf.constant(1 + 1j, tf.complex64), tf.constant(1, tf.float64)]
    return tf.while_loop(lambda i, *rest: i < 3, body, [tf.constant(0, tf.int64), True, *numbers])


@program
def while_layers(tf):
    def body(i, h):
        ones = tf.ones_initializer()
        return i + 1, tf.layers.dense(h, 3, kernel_initializer=ones, name="fc", reuse=tf.AUTO_REUSE)

    return tf.while_loop(lambda i, h: i < 2, body, [0, tf.ones([1, 3])])


@program
def while_gradients_of_inside(tf):
    def body(i, s):
        x = tf.identity(s)
        return i + 1, s - 0.25 * tf.gradients(tf.square(x) * 3.0, x)[0]

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])


@program
def while_updates_rows(tf):
    v = tf.Variable(tf.zeros([4]), name="v")

    def body(i):
        with tf.control_dependencies([tf.scatter_update(v, [i], [tf.cast(i, tf.float32)])]):
            return i + 1

    done = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.control_dependencies([done]):
        return [v.read_value()]


@program
def while_slices(tf):
    x = numbers(tf)
    return tf.while_loop(lambda i, s: i < tf.shape(x)[0], lambda i, s: (i + 1, s + x[i]), [0, 0.0])


@program
def while_switch_device(tf):
    with tf.device("/cpu:0"):
        x = numbers(tf)
    with tf.device("/device:CPU:0"):
        return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + x), [0, x])


@program
def smart_cond_of_tensor(tf):
    x = numbers(tf)
    smart_cond = tf.contrib.framework.smart_cond
    return [
        smart_cond(truth(tf), lambda: x, lambda: x * 2.0, name="smart"),
        smart_cond(True, lambda: x, lambda: x * 2.0),
        smart_cond(tf.constant(False), lambda: x, lambda: x * 2.0),
    ]


# ---- Functions that make them


@program
def turned_by_tensor(tf):
    picture = tf.reshape(tf.cast(tf.range(12), tf.float32), [2, 3, 2])
    turns = tf.placeholder_with_default(3, [], name="turns")
    batch = tf.image.rot90(tf.stack([picture, picture]), turns)
    return [tf.image.rot90(picture, turns), batch]


# ---- Mistakes


@mistake
def cond_of_bool(tf):
    tf.cond(True, lambda: 1, lambda: 2)


@mistake
def cond_without_function(tf):
    tf.cond(truth(tf), lambda: 1)


@mistake
def cond_with_both_names(tf):
    tf.cond(truth(tf), lambda: 1, lambda: 2, fn1=lambda: 3)


@mistake
def cond_not_callable(tf):
    tf.cond(truth(tf), 1, 2)


@mistake
def cond_returns_none(tf):
    tf.cond(truth(tf), lambda: None, lambda: 1)


@mistake
def cond_of_dtypes(tf):
    tf.cond(truth(tf), lambda: 1.0, lambda: 1)


@mistake
def cond_of_structures(tf):
    tf.cond(truth(tf), lambda: [1, 2], lambda: [1, 2, 3])


@mistake
def cond_of_types(tf):
    tf.cond(truth(tf), lambda: [1, 2], lambda: (1, 2))


@mistake
def cond_returns_nothing(tf):
    tf.cond(truth(tf), lambda: [], lambda: [])


@mistake
def case_of_no_pairs(tf):
    tf.case([truth(tf)])


@mistake
def case_of_numbers(tf):
    tf.case([(tf.constant(1), lambda: 1)])


@mistake
def switch_of_keys(tf):
    tf.switch_case(tf.constant(1), {0: lambda: 1, 2: lambda: 2})


@mistake
def switch_of_float(tf):
    tf.switch_case(tf.constant(1.0), [lambda: 1])


@mistake
def while_nothing(tf):
    tf.while_loop(lambda: True, lambda: [], [])


@mistake
def while_not_callable(tf):
    tf.while_loop(1, lambda i: i, [0])


@mistake
def while_parallel(tf):
    tf.while_loop(lambda i: i < 1, lambda i: i, [0], parallel_iterations=0)


@mistake
def while_shape_changes(tf):
    def body(i, m):
        return [i + 1, tf.concat([m, m], 0)]

    tf.while_loop(lambda i, m: i < 3, body, [tf.constant(0), tf.ones([2, 2])])


@mistake
def while_invariant_does_not_fit(tf):
    tf.while_loop(
        lambda m: True, lambda m: m, [tf.ones([2, 2])], shape_invariants=[tf.TensorShape([None, 3])]
    )


@mistake
def while_structure_changes(tf):
    tf.while_loop(lambda i, j: True, lambda i, j: i, [0, 1])


@mistake
def while_condition_is_int(tf):
    tf.while_loop(lambda i: i, lambda i: i + 1, [0])


@mistake
def while_condition_is_vector(tf):
    tf.while_loop(lambda i: [True, False], lambda i: i + 1, [0])


@mistake
def while_makes_variable_of_inside(tf):
    def body(i):
        tf.Variable(tf.ones([2]) * tf.cast(i, tf.float32), name="v")
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])


@mistake
def cond_makes_resource_of_inside(tf):
    def branch():
        return tf.Variable(tf.constant(1.0), name="v", use_resource=True).value()

    tf.cond(truth(tf), branch, lambda: 1.0)


@mistake
def while_maximum_is_vector(tf):
    tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=[1, 2])


@mistake
def uses_inside_of_loop(tf):
    kept = []

    def body(i):
        kept.append(i + 1)
        return kept[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    return kept[0] * 2


@mistake
def uses_inside_of_other_loop(tf):
    kept = []

    def body(i):
        kept.append(i + 1)
        return kept[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    tf.while_loop(lambda i: i < 3, body, [0])


@mistake
def fetches_inside_of_branch(tf):
    kept = []

    def branch():
        kept.append(tf.constant(1) + 1)
        return kept[0]

    tf.cond(truth(tf), branch, lambda: 2)
    with tf.Session() as session:
        session.run(kept[0])


@mistake
def fetches_inside_of_loop(tf):
    kept = []

    def body(i):
        kept.append(i + 1)
        return kept[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as session:
        session.run(kept[0])


# ---- Recording


def attribute(value):
    kind = value.WhichOneof("value")
    if kind == "list":
        return sorted(text.decode() for text in value.list.s)
    found = getattr(value, kind)
    return found.decode() if isinstance(found, bytes) else found


def shape_of(tensor):
    return None if tensor.shape.ndims is None else tensor.shape.as_list()


def describe(op):
    node = op.node_def
    context = op._get_control_flow_context()
    controls = sorted("^" + other.name for other in op.control_inputs)
    return [
        node.name,
        node.op,
        [t.name for t in op.inputs] + controls,
        {key: attribute(node.attr[key]) for key in ATTRS if key in node.attr},
        [shape_of(t) for t in op.outputs],
        context.name if context is not None else None,
        node.device,
    ]


def context_fields(message):
    """A CondContextDef or WhileContextDef as a dict."""
    fields = {}
    for field, value in message.ListFields():
        if field.name == "values_def":
            fields["values"] = sorted(value.values)
            fields["external"] = dict(value.external_values)
        elif field.name == "nested_contexts":
            fields["nested"] = [context_fields(getattr(c, c.WhichOneof("ctxt"))) for c in value]
        else:
            fields[field.name] = list(value) if field.name.endswith("names") else value
    return fields


def contexts(tf):
    found = []
    for key in ("cond_context", "while_context"):
        found += [context_fields(item.to_proto()) for item in tf.get_collection(key)]
    return found


def plain(value):
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if hasattr(value, "dtype") and value.dtype.kind == "c":
        return [value.real.tolist(), value.imag.tolist()]
    if hasattr(value, "dtype") and value.dtype.kind == "O":
        return [plain(part) for part in value.tolist()]
    return value.tolist() if hasattr(value, "tolist") else value


def build(tf, function):
    """The nodes and contexts of a program, and what it gives to fetch; in the default graph."""
    fetches = function(tf)
    graph = tf.get_default_graph()
    nodes = [describe(op) for op in graph.get_operations()]
    return {"nodes": nodes, "contexts": contexts(tf)}, fetches


def compute(tf, fetches):
    fetches = [f for f in fetches if not isinstance(f, int)] + [
        tf.constant(f) for f in fetches if isinstance(f, int)
    ]
    config = tf.ConfigProto()  # TensorFlow's optimizer spoils some of the programs
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        return [plain(value) for value in session.run(fetches)]


def blame(tf, function):
    """The class and the first line of what a program raises."""
    with tf.Graph().as_default():
        try:
            function(tf)
        except Exception as error:
            text = getattr(error, "message", None) or str(error)
            return [type(error).__name__, text.split("\n")[0]]
    raise AssertionError(function.__name__ + " raises nothing")


def record(tf, programs, mistakes):
    recorded = {"programs": {}}
    recorded["mistakes"] = {name: blame(tf, function) for name, function in mistakes.items()}
    for name, function in programs.items():
        with tf.Graph().as_default():
            made, fetches = build(tf, function)
            made["values"] = compute(tf, fetches)
        recorded["programs"][name] = made
    return recorded


def rows(recorded):
    """JSON with a line for each node."""
    dumps = json.JSONEncoder(sort_keys=True).encode
    programs = []
    for name, made in recorded["programs"].items():
        nodes = ",\n".join(dumps(node) for node in made["nodes"])
        parts = ['"nodes": [\n%s]' % nodes]
        parts += ['"%s": %s' % (key, dumps(made[key])) for key in ("contexts", "values")]
        programs.append('"%s": {%s}' % (name, ",\n".join(parts)))
    mistakes = ['"%s": %s' % (name, dumps(value)) for name, value in recorded["mistakes"].items()]
    parts = (",\n".join(programs), ",\n".join(mistakes))
    return '{"programs": {\n%s},\n"mistakes": {\n%s}}\n' % parts


def write(file_name, programs, mistakes):
    import tensorflow

    text = rows(record(tensorflow, programs, mistakes))
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, file_name), "w") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(write("control_flow.json", PROGRAMS, MISTAKES))
