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


if __name__ == "__main__":
    sys.exit(write("array_loops.json", PROGRAMS, MISTAKES))
