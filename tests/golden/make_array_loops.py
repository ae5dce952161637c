#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for tensor arrays and the loops over them.

Usage: python make_array_loops.py      (a Python that has TensorFlow 1.15.5)

Writes array_loops.json, as make_control_flow.py does for its programs.
"""

import sys

from make_control_flow import numbers, truth, write

PROGRAMS, MISTAKES = {}, {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mistake(function):
    MISTAKES[function.__name__] = function
    return function


def matrix(tf, name="m"):
    return tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [3, 2], name=name)


# ---- Tensor arrays


@program
def array_write_and_read(tf):
    array = tf.TensorArray(tf.float32, size=3)
    array = array.write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    return [array.read(0), array.read(1), array.size()]


@program
def array_stack(tf):
    array = tf.TensorArray(tf.int32, 2, tensor_array_name="named", name="mine")
    array = array.write(1, 5).write(0, 7)
    return [array.stack(), tf.TensorArray(tf.float32, 1).write(0, 2.0).stack(name="all")]


@program
def array_unstack(tf):
    array = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(matrix(tf))
    return [array.read(2), array.stack(), array.element_shape.as_list() == [2]]


@program
def array_unstack_unknown(tf):
    x = tf.placeholder_with_default([[1.0], [2.0]], [None, 1])
    array = tf.TensorArray(tf.float32, tf.shape(x)[0], clear_after_read=False).unstack(x)
    return [array.stack(), array.gather([1])]


@program
def array_gather_and_scatter(tf):
    array = tf.TensorArray(tf.float32, size=4, clear_after_read=False)
    array = array.scatter([3, 0, 1], matrix(tf), name="put")
    return [array.gather([0, 3]), array.gather([1], name="one")]


@program
def array_concat(tf):
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    array = array.write(0, [[1.0, 2.0]]).write(1, [[3.0, 4.0], [5.0, 6.0]])
    return [array.concat(), tf.TensorArray(tf.int32, 1).write(0, [1, 2]).concat(name="joined")]


@program
def array_split(tf):
    array = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
    array = array.split(matrix(tf), [1, 2])
    even = tf.TensorArray(tf.float32, size=3).split(matrix(tf, "n"), [1, 1, 1])
    return [array.read(1), even.stack(), array.concat()[0]]


@program
def array_split_by_tensor(tf):
    lengths = tf.placeholder_with_default([2, 0, 1], [None])
    array = tf.TensorArray(tf.float32, 3, infer_shape=False).split(matrix(tf), lengths, name="cut")
    return [array.read(0), array.read(1)]


@program
def array_dynamic(tf):
    array = tf.TensorArray(tf.int64, 0, dynamic_size=True, element_shape=[])
    for i in range(3):
        array = array.write(i, tf.constant(i, tf.int64))
    return [array.stack(), array.size()]


@program
def array_element_shape(tf):
    array = tf.TensorArray(tf.float32, 2, element_shape=tf.TensorShape([None, 2]))
    array = array.write(0, tf.placeholder_with_default([[1.0, 2.0]], [None, None]))
    array = array.write(1, [[3.0, 4.0]])
    return [array.stack(), array.element_shape.as_list() == [1, 2]]


@program
def array_of_strings(tf):
    array = tf.TensorArray(tf.string, 2).unstack([b"a", b"bc"])
    return [array.gather([1])]


@program
def array_read_twice(tf):
    array = tf.TensorArray(tf.float32, 1, clear_after_read=False).write(0, 2.0)
    first = array.read(0)
    with tf.control_dependencies([first]):
        return [first, array.read(0, name="again")]


@program
def array_identity_and_close(tf):
    array = tf.TensorArray(tf.float32, 1).write(0, 2.0)
    value = array.identity().stack()
    with tf.control_dependencies([value]):
        with tf.control_dependencies([array.close()]):
            return [tf.identity(value)]


@program
def array_of_handle(tf):
    first = tf.TensorArray(tf.float32, 2)
    other = tf.TensorArray(tf.float32, handle=first.handle, flow=first.flow, name="other")
    return [other.write(0, 1.0).write(1, 2.0).stack()]


@program
def array_grad(tf):
    array = tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, 2.0)
    slopes = array.grad("mine").write(0, 5.0).write(1, 6.0)
    return [slopes.read(0), slopes.read(1), array.grad("two", name="g").write(0, 3.0).read(0)]


@program
def array_devices(tf):
    with tf.device("/cpu:0"):
        x = numbers(tf)
    with tf.device("/job:localhost"):
        array = tf.TensorArray(tf.float32, 2).write(0, x)
        here = tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=False)
        here = here.unstack([1.0, 2.0])
    return [array.write(1, x * 2.0).stack(), here.stack()]


@program
def array_name_scopes(tf):
    with tf.name_scope("outer"):
        array = tf.TensorArray(tf.float32, 2, name="a").write(0, 1.0, name="w")
        array = array.scatter([1], [2.0], name="s")
        return [array.read(0, name="r"), array.gather([1], name="g"), array.size(name="n")]


@program
def array_gradients(tf):
    x = matrix(tf)
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    y = array.read(0) * array.read(2)
    return [tf.gradients(y, x)[0]]


@program
def array_gradients_of_write_and_stack(tf):
    x, y = numbers(tf), numbers(tf, "y")
    array = tf.TensorArray(tf.float32, 2).write(0, x * y).write(1, tf.square(x))
    return tf.gradients(array.stack(), [x, y])


@program
def array_gradients_of_split_and_concat(tf):
    x = matrix(tf)
    array = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x * x, [1, 2])
    return tf.gradients(array.concat(), [x])


@program
def array_in_cond(tf):
    x = numbers(tf)
    array = tf.TensorArray(tf.float32, 2).write(0, x)
    array = tf.cond(truth(tf), lambda: array.write(1, x * 2.0), lambda: array.write(1, x))
    return [array.stack()]


@program
def array_in_structure_of_cond(tf):
    x = numbers(tf)
    array = tf.TensorArray(tf.float32, 1)
    made = tf.cond(
        truth(tf, False),
        lambda: {"a": array.write(0, x), "b": [x]},
        lambda: {"a": array.write(0, -x), "b": [x + 1.0]},
    )
    return [made["a"].read(0), made["b"][0]]


@program
def array_in_while(tf):
    def body(i, array):
        return i + 1, array.write(i, i * i)

    return [tf.while_loop(lambda i, _: i < 5, body, [0, tf.TensorArray(tf.int32, 5)])[1].stack()]


@program
def array_read_in_while(tf):
    x = tf.TensorArray(tf.float32, 3).unstack(numbers(tf))

    def body(i, total, out):
        total += x.read(i)
        return i + 1, total, out.write(i, total)

    start = [tf.constant(0), tf.constant(0.0), tf.TensorArray(tf.float32, 3)]
    result = tf.while_loop(lambda i, *_: i < 3, body, start)
    return [result[1], result[2].stack()]


@program
def array_in_structure_of_while(tf):
    def body(i, d):
        return i + 1, {"a": d["a"].write(i, tf.cast(i, tf.float32)), "n": (d["n"][0] * 2,)}

    start = (tf.constant(0), {"a": tf.TensorArray(tf.float32, 4), "n": (tf.constant(1),)})
    result = tf.while_loop(lambda i, d: i < 4, body, start)
    return [result[1]["a"].stack(), result[1]["n"][0]]


@program
def array_in_while_with_maximum(tf):
    result = tf.while_loop(
        lambda i, a: i < 9,
        lambda i, a: [i + 1, a.write(i, i)],
        [0, tf.TensorArray(tf.int32, 0, dynamic_size=True)],
        maximum_iterations=3,
    )
    return [result[1].stack()]


@program
def array_in_while_with_invariants(tf):
    result = tf.while_loop(
        lambda i, m, a: i < 3,
        lambda i, m, a: (i + 1, tf.concat([m, m], 0), a.write(i, m)),
        [tf.constant(0), tf.ones([1]), tf.TensorArray(tf.float32, 3, infer_shape=False)],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape(None)],
    )
    return [result[1], result[2].concat()]


@program
def array_alone_in_while(tf):
    result = tf.while_loop(
        lambda a: a.size() < 3,
        lambda a: a.write(a.size(), 1.0),
        [tf.TensorArray(tf.float32, 0, dynamic_size=True)],
    )
    return [result.stack()]


@program
def array_in_nested_while(tf):
    def body(i, array):
        def inner(j, array):
            return j + 1, array.write(i * 2 + j, i + j)

        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, [0, array])[1]

    return [tf.while_loop(lambda i, _: i < 2, body, [0, tf.TensorArray(tf.int32, 4)])[1].stack()]


@program
def array_made_in_while(tf):
    x = numbers(tf)

    def body(i, s):
        array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(s)
        return i + 1, array.gather([2, 0, 1]) + x

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])


@program
def array_in_cond_in_while(tf):
    def body(i, array):
        write = lambda: array.write(i, i)  # noqa: E731
        return i + 1, tf.cond(tf.equal(i, 1), write, lambda: array.write(i, -i))

    return [tf.while_loop(lambda i, _: i < 3, body, [0, tf.TensorArray(tf.int32, 3)])[1].stack()]


@mistake
def array_of_handle_and_name(tf):
    array = tf.TensorArray(tf.float32, 1)
    tf.TensorArray(tf.float32, handle=array.handle, tensor_array_name="x")


@mistake
def array_of_wrong_handle(tf):
    tf.TensorArray(tf.float32, handle=3)


@mistake
def array_of_nothing(tf):
    tf.TensorArray(tf.float32)


@mistake
def array_of_handle_and_size(tf):
    array = tf.TensorArray(tf.float32, 1)
    tf.TensorArray(tf.float32, handle=array.handle, flow=array.flow, size=2)


@mistake
def array_of_handle_and_shape(tf):
    array = tf.TensorArray(tf.float32, 1)
    tf.TensorArray(tf.float32, handle=array.handle, flow=array.flow, element_shape=[1])


@mistake
def array_of_handle_without_flow(tf):
    tf.TensorArray(tf.float32, handle=tf.TensorArray(tf.float32, 1).handle)


@mistake
def array_of_two_shapes(tf):
    tf.TensorArray(tf.float32, 2).write(0, [1.0]).write(1, [1.0, 2.0])


@mistake
def array_of_wrong_rank(tf):
    tf.TensorArray(tf.float32, 2, element_shape=[2]).unstack([[1.0], [2.0]])


@mistake
def array_index_is_float(tf):
    tf.TensorArray(tf.float32, 2).write(0.5, 1.0)


def run(tf, array, index=0):
    with tf.Session() as session:
        session.run(array.read(index))


@mistake
def array_read_behind_the_end(tf):
    run(tf, tf.TensorArray(tf.float32, 2, tensor_array_name="a").write(0, 1.0), 5)


@mistake
def array_write_behind_the_end(tf):
    run(tf, tf.TensorArray(tf.float32, 2, tensor_array_name="a").write(2, 1.0))


# ---- Maps


@program
def map_square(tf):
    return [tf.map_fn(lambda x: x * x, numbers(tf))]


@program
def map_dtype(tf):
    return [tf.map_fn(lambda x: tf.reduce_sum(x) > 4.0, matrix(tf), dtype=tf.bool, name="mine")]


@program
def map_structures(tf):
    elems = (matrix(tf), {"a": numbers(tf)})
    made = tf.map_fn(lambda t: (t[0] * t[1]["a"], {"a": -t[1]["a"]}), elems)
    return [made[0], made[1]["a"]]


@program
def map_other_structure(tf):
    elems = [matrix(tf), numbers(tf)]
    made = tf.map_fn(lambda t: (t[0] + t[1], tf.size(t[0])), elems, dtype=(tf.float32, tf.int32))
    one = tf.map_fn(lambda t: t[0] * t[1], elems, dtype=tf.float32)
    return [*made, one]


@program
def map_arrays(tf):
    import numpy as np

    ones = np.ones([2, 1])
    return [tf.map_fn(lambda x: x + 1, np.array([3, 4])), tf.map_fn(lambda x: 2.0 * x, ones)]


@program
def map_unknown_rows(tf):
    x = tf.placeholder_with_default([[1.0], [2.0]], [None, 1])
    return [tf.map_fn(lambda row: tf.tile(row, [2]), x)]


@program
def map_unknown_rank(tf):
    x = tf.placeholder_with_default([[1.0], [2.0]], None)
    return [tf.map_fn(tf.square, x, infer_shape=False)]


@program
def map_options(tf):
    x = numbers(tf)
    options = {"parallel_iterations": 1, "back_prop": False, "swap_memory": True}
    return [tf.map_fn(tf.exp, x, **options)]


@program
def map_of_map(tf):
    return [tf.map_fn(lambda row: tf.map_fn(lambda x: x * 2.0, row), matrix(tf))]


@program
def map_with_cond(tf):
    return [tf.map_fn(lambda x: tf.cond(x > 1.5, lambda: x, lambda: -x), numbers(tf))]


@program
def map_with_variable(tf):
    def body(x):
        return x * tf.get_variable("w", [], initializer=tf.ones_initializer())

    with tf.variable_scope("in"):
        return [tf.map_fn(body, numbers(tf))]


@program
def map_with_resource(tf):
    v = tf.get_variable("v", [], initializer=tf.ones_initializer(), use_resource=True)
    return [tf.map_fn(lambda x: x + v, numbers(tf))]


@program
def map_strings(tf):
    return [tf.map_fn(lambda s: tf.string_join([s, "!"]), tf.constant([b"a", b"bc"]))]


@program
def map_random(tf):
    tf.set_random_seed(1)
    made = tf.map_fn(lambda x: tf.random_uniform([2]), numbers(tf))
    return [tf.shape(made)]


@program
def map_of_nothing(tf):
    return [tf.map_fn(tf.square, tf.zeros([0, 2])), tf.map_fn(tf.square, tf.zeros([0]))]


@program
def map_in_while(tf):
    def body(i, x):
        return i + 1, tf.map_fn(lambda one: one + 1.0, x)

    return tf.while_loop(lambda i, x: i < 2, body, [0, numbers(tf)])


@program
def map_in_cond(tf):
    x = numbers(tf)
    return [tf.cond(truth(tf), lambda: tf.map_fn(tf.square, x), lambda: x)]


@program
def map_summaries(tf):
    x = numbers(tf)

    def body(one):
        tf.losses.add_loss(one)
        tf.add_to_collection("mine", one)
        return one

    made = tf.map_fn(body, x)
    return [made, len(tf.losses.get_losses()), len(tf.get_collection("mine"))]


@program
def map_for_a_jacobian(tf):
    x = numbers(tf)
    y = x * x
    rows = tf.map_fn(lambda i: tf.gather(y, i), tf.range(3), dtype=tf.float32)
    return [rows]


# ---- Scans


@program
def scan_sum(tf):
    return [tf.scan(lambda a, x: a + x, numbers(tf))]


@program
def scan_reverse(tf):
    x = numbers(tf)
    return [
        tf.scan(lambda a, x: a + x, x, reverse=True),
        tf.scan(lambda a, x: a * x, x, initializer=tf.constant(2.0), reverse=True),
    ]


@program
def scan_initializer(tf):
    import numpy as np

    elems = np.array([1, 2, 3, 4])
    return [tf.scan(lambda a, x: x[0] - x[1] + a, (elems + 1, elems), np.array(0))]


@program
def scan_fibonacci(tf):
    import numpy as np

    initializer = (np.array(0), np.array(1))
    return list(tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.zeros([6]), initializer))


@program
def scan_structure(tf):
    elems = {"x": numbers(tf), "m": matrix(tf)}
    made = tf.scan(lambda a, e: {"x": a["x"] + e["x"], "m": a["m"] * e["m"]}, elems, name="s")
    return [made["x"], made["m"]]


@program
def scan_unknown_rows(tf):
    x = tf.placeholder_with_default([[1.0], [2.0]], [None, 1])
    return [tf.scan(lambda a, e: a + e, x), tf.scan(lambda a, e: a + e, x, reverse=True)]


@program
def scan_infer_shape(tf):
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    return [tf.scan(lambda a, e: a * e, x, tf.ones([2]), infer_shape=False, back_prop=False)]


@program
def scan_with_variable(tf):
    def body(a, x):
        with tf.variable_scope("cell", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        return tf.tanh(tf.matmul(a, w) + x)

    x = tf.reshape(tf.range(6.0), [3, 1, 2])
    return [tf.scan(body, x, tf.zeros([1, 2]))]


@program
def scan_of_map(tf):
    m = matrix(tf)
    return [tf.scan(lambda a, row: tf.map_fn(lambda t: t[0] + t[1], (a, row), tf.float32), m)]


# ---- Folds


@program
def foldl_sum(tf):
    x = numbers(tf)
    return [tf.foldl(lambda a, x: a + x, x), tf.foldl(lambda a, x: a - x, x, tf.constant(10.0))]


@program
def foldr_difference(tf):
    x = numbers(tf)
    return [tf.foldr(lambda a, x: a - x, x), tf.foldr(lambda a, x: a - x, x, tf.constant(10.0))]


@program
def fold_structures(tf):
    elems = (numbers(tf), matrix(tf))
    made = tf.foldl(lambda a, e: (a[0] + e[0], a[1] * e[1]), elems, name="mine")
    other = tf.foldr(lambda a, e: a + e[0] * tf.reduce_sum(e[1]), elems, initializer=0.0)
    return [*made, other]


@program
def fold_unknown_rows(tf):
    x = tf.placeholder_with_default([[1.0], [2.0]], [None, 1])
    options = {"parallel_iterations": 2, "back_prop": False, "swap_memory": True}
    return [tf.foldl(tf.add, x, **options), tf.foldr(tf.add, x, **options)]


@program
def fold_arrays(tf):
    import numpy as np

    return [tf.foldl(lambda a, x: a * x, np.array([2, 3, 4])), tf.foldr(tf.add, np.ones([2, 1]))]


@program
def fold_strings(tf):
    return [tf.foldl(lambda a, x: tf.string_join([a, x]), tf.constant([b"a", b"b", b"c"]))]


# ---- Gradients of loops over arrays


@program
def gradient_of_map(tf):
    x = numbers(tf)
    return tf.gradients(tf.map_fn(lambda one: one * one * one, x), x)


@program
def gradient_of_map_by_outside_value(tf):
    x, m = numbers(tf), matrix(tf)
    w = tf.constant([2.0, 3.0], name="w")
    made = tf.map_fn(lambda t: t[0] * tf.reduce_sum(t[1] * w), (x, m), dtype=tf.float32)
    return tf.gradients(tf.square(made), [x, m, w])


@program
def gradient_of_map_of_unknown_rows(tf):
    x = tf.placeholder_with_default([[1.0], [2.0]], [None, 1])
    return tf.gradients(tf.map_fn(tf.tanh, x), x)


@program
def gradient_of_scan(tf):
    x = numbers(tf)
    return tf.gradients(tf.scan(lambda a, one: a * one + one, x), x)


@program
def gradient_of_scan_reversed(tf):
    x, start = numbers(tf), tf.constant(2.0, name="start")
    made = tf.scan(lambda a, one: a * one, x, initializer=start, reverse=True)
    return tf.gradients(made, [x, start])


@program
def gradient_of_recurrence(tf):
    x = tf.reshape(tf.range(6.0), [3, 1, 2])
    w = tf.constant([[0.1, 0.2], [0.3, -0.4]], name="w")
    last = tf.scan(lambda a, one: tf.tanh(tf.matmul(a, w) + one), x, tf.zeros([1, 2]))[-1]
    return tf.gradients(last, [x, w])


@program
def gradient_of_folds(tf):
    x = numbers(tf)
    made = tf.foldl(lambda a, one: a * one, x) + tf.foldr(lambda a, one: a * one + a, x)
    return tf.gradients(made, x)


@program
def gradient_of_array_in_while(tf):
    x = numbers(tf)

    def body(i, array):
        return i + 1, array.write(i, tf.reduce_sum(x) * tf.cast(i, tf.float32))

    made = tf.while_loop(lambda i, _: i < 3, body, [0, tf.TensorArray(tf.float32, 3)])[1]
    return tf.gradients(tf.square(made.stack()), x)


@program
def gradient_of_map_with_cond(tf):
    x = numbers(tf)
    made = tf.map_fn(lambda one: tf.cond(one > 1.5, lambda: one * one, lambda: -one), x)
    return tf.gradients(made, x)


@program
def gradient_of_map_of_map(tf):
    m = matrix(tf)
    made = tf.map_fn(lambda row: tf.map_fn(lambda x: x * x, row), m)
    return tf.gradients(made, m)


@program
def gradient_of_map_with_variable(tf):
    v = tf.get_variable("v", [], initializer=tf.ones_initializer(), use_resource=True)
    return tf.gradients(tf.map_fn(lambda x: x * v, numbers(tf)), v)


@program
def jacobian_by_map(tf):
    x = numbers(tf)
    y = x * x * x
    return [tf.map_fn(lambda i: tf.gradients(y[i], x)[0], tf.range(3), dtype=tf.float32)]


@mistake
def map_function_is_none(tf):
    tf.map_fn(None, [1.0])


@mistake
def map_over_scalar(tf):
    tf.map_fn(tf.square, 1.0)


@mistake
def map_over_scalars(tf):
    tf.map_fn(lambda t: t, (1.0, 2.0))


@mistake
def map_wrong_structure(tf):
    tf.map_fn(lambda x: (x, x), [1.0])


@mistake
def map_wrong_rows(tf):
    made = tf.map_fn(lambda t: t[0], (tf.ones([3]), tf.ones([2])), dtype=tf.float32)
    with tf.Session() as session:
        session.run(made)


@mistake
def map_shapes_differ(tf):
    made = tf.map_fn(lambda i: tf.ones([i]), tf.range(3), dtype=tf.float32, name="m")
    with tf.Session() as session:
        session.run(made)


@mistake
def map_over_sparse(tf):
    tf.map_fn(tf.square, tf.SparseTensor([[0]], [1.0], [2]))


@mistake
def scan_function_is_none(tf):
    tf.scan(3, [1.0])


@mistake
def scan_wrong_structure(tf):
    tf.scan(lambda a, x: (a, x), tf.ones([3]))


@mistake
def scan_wrong_shape(tf):
    tf.scan(lambda a, x: tf.concat([a, a], 0), tf.ones([3, 1]))


@mistake
def fold_function_is_none(tf):
    tf.foldl("add", [1.0])


@mistake
def fold_from_right_function_is_none(tf):
    tf.foldr("add", [1.0])


@mistake
def fold_shape_changes(tf):
    tf.foldl(lambda a, x: tf.concat([a, x], 0), tf.ones([3, 1]))


if __name__ == "__main__":
    sys.exit(write("array_loops.json", PROGRAMS, MISTAKES))
