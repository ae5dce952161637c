"""Branches, loops and arrays inside of functions: what tf.function of TensorFlow 2.21 gives.

Each program is a function of the module `tf` and of tensors; the record has its values and the
gradients of their sum for the float arguments, or the class of the error.
Run by TensorFlow 2.21: writes function_control_flow.json beside this file.
"""

import json
from pathlib import Path

V = [2.0, -1.0, 0.5]
M = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
PROGRAMS = {}  # name -> (function, arguments)


def program(*argument_lists):
    def add(function):
        for number, arguments in enumerate(argument_lists):
            PROGRAMS[f"{function.__name__}_{number}"] = function, arguments
        return function

    return add


@program([3.0], [-3.0])
def cond_of_scalar(tf, x):
    return tf.cond(x > 0.0, lambda: x * x, lambda: -x)


@program([3.0], [-3.0])
def cond_of_structure(tf, x):
    other = {"a": -x, "b": (x, x * 5.0)}
    return tf.cond(x > 0.0, lambda: {"a": x, "b": (x * 2.0, x)}, lambda: other)


@program([3.0, 1.0], [-3.0, 1.0], [3.0, -1.0], [-3.0, -1.0])
def cond_in_cond(tf, x, y):
    def inner(scale):
        return tf.cond(y > 0.0, lambda: x * scale, lambda: y * scale)

    return tf.cond(x > 0.0, lambda: inner(2.0), lambda: inner(x))


@program([V], [[-1.0, -2.0, -3.0]])
def cond_of_shapes(tf, x):
    return tf.cond(x[0] > 0.0, lambda: x[:2], lambda: tf.concat([x, x], 0))


@program([3.0], [-3.0])
def cond_without_gradient_on_one_side(tf, x):
    return tf.cond(x > 0.0, lambda: tf.constant(7.0), lambda: x * 3.0)


@program([1.0], [5.0])
def cond_of_integers(tf, x):
    return tf.cond(x > 2.0, lambda: (tf.constant(1), x), lambda: (tf.constant(2), x * x))


@program([0, V], [1, V], [2, V], [-1, V], [9, V])
def switch_case(tf, i, x):
    return tf.switch_case(i, [lambda: x, lambda: x * x, lambda: tf.exp(x)])


@program([0, 2.0], [1, 2.0], [5, 2.0])
def switch_case_with_default(tf, i, x):
    return tf.switch_case(i, {0: lambda: x, 1: lambda: x * 3.0}, default=lambda: x * x * x)


@program([1.0], [5.0], [20.0])
def case_of_three(tf, x):
    return tf.case(
        [(x < 2.0, lambda: x), (x < 10.0, lambda: x * x)], default=lambda: x * 0.5, exclusive=False
    )


@program([0, 2.0], [1, 2.0], [7, 2.0])
def loop_power(tf, n, x):
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, tf.ones([])))


@program([0, V], [3, V])
def loop_with_captures(tf, n, x):
    w = x * 2.0
    body = lambda i, y: (i + 1, tf.sin(y) + w)  # noqa: E731
    return tf.while_loop(lambda i, y: i < n, body, (0, x))[1]


@program([3, 2.0], [8, 2.0])
def loop_with_limit(tf, n, x):
    return tf.while_loop(
        lambda y: tf.reduce_sum(y) < 1000.0, lambda y: (y * x,), (x,), maximum_iterations=n
    )


@program([4, [1.0, 2.0]])
def loop_of_growing_shape(tf, n, x):
    return tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, tf.concat([y, x[:1] * y[-1]], 0)),
        (0, x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )


@program([3, 2, 1.5], [0, 2, 1.5], [3, 0, 1.5])
def loop_in_loop(tf, n, m, x):
    def inner(y):
        return tf.while_loop(lambda j, z: j < m, lambda j, z: (j + 1, z * x), (0, y))[1]

    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, inner(y) + 1.0), (0, x))


@program([5, 1.5])
def cond_in_loop(tf, n, x):
    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y + x * x)

    return tf.while_loop(lambda i, y: i < n, body, (0, x))


@program([3, 1.5], [3, -1.5])
def loop_in_cond(tf, n, x):
    def loop():
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))[1]

    return tf.cond(x > 0.0, loop, lambda: x)


@program([4, 0.5])
def loop_of_structure(tf, n, x):
    def body(s):
        return ({"i": s["i"] + 1, "p": (s["p"][1], s["p"][0] * x)},)

    start = {"i": tf.constant(0), "p": (x, tf.constant(2.0))}
    return tf.while_loop(lambda s: s["i"] < n, body, (start,))


@program([3, 2.0])
def loop_without_gradient(tf, n, x):
    y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))[1]
    return tf.stop_gradient(y) + x


@program([M], [[[1.0, 2.0]]])
def map_rows(tf, x):
    return tf.map_fn(lambda row: tf.reduce_sum(row * row), x)


@program([M])
def map_two(tf, x):
    return tf.map_fn(lambda pair: pair[0] * pair[1], (x, x * 2.0), dtype=tf.float32)


@program([M])
def map_to_two(tf, x):
    return tf.map_fn(lambda row: (row[0], row * row[1]), x, dtype=(tf.float32, tf.float32))


@program([M])
def map_in_map(tf, x):
    return tf.map_fn(lambda row: tf.map_fn(lambda e: e * e * row[0], row), x)


@program([V])
def scan_product(tf, x):
    return tf.scan(lambda a, e: a * e, x)


@program([M])
def scan_backwards(tf, x):
    return tf.scan(lambda a, row: tf.tanh(a + row), x, initializer=tf.zeros([2]), reverse=True)


@program([V])
def fold_left(tf, x):
    return tf.foldl(lambda a, e: a * 2.0 + e * e, x)


@program([V])
def fold_right(tf, x):
    return tf.foldr(lambda a, e: tf.sin(a) + e, x, initializer=tf.constant(0.25))


@program([4, 3.0])
def array_of_powers(tf, n, x):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    body = lambda i, y, a: (i + 1, y * x, a.write(i, y))  # noqa: E731
    array = tf.while_loop(lambda i, *_: i < n, body, (0, x, array))[2]
    return array.stack(), array.size()


@program([M])
def array_unstacked(tf, x):
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    return array.read(2) * array.read(0), array.gather([1, 1]), array.concat()


@program([V])
def array_split(tf, x):
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
    return array.read(0), array.read(1) * 3.0


@program([M])
def array_scattered(tf, x):
    return tf.TensorArray(tf.float32, size=3).scatter([2, 0, 1], x).stack() * [1.0, 10.0]


@program([3, M])
def recurrent(tf, n, x):
    w = tf.constant([[0.5, -0.25], [0.125, 1.0]])

    def body(t, h, out):
        h = tf.tanh(tf.matmul(h, w) + tf.reshape(x[t], [1, 2]))
        return t + 1, h, out.write(t, h)

    out = tf.TensorArray(tf.float32, size=n)
    _, h, out = tf.while_loop(lambda t, *_: t < n, body, (0, tf.zeros([1, 2]), out))
    return h, out.stack()


@program([4, V])
def sort_by_loops(tf, n, x):
    def body(i, y):
        top = tf.reduce_max(y)
        return i + 1, tf.where(tf.equal(y, top), y * 0.5, y)

    return tf.while_loop(lambda i, y: i < n, body, (0, x))[1]


@program([6, 1.0])
def collatz(tf, n, x):
    def body(k, count, y):
        k = tf.cond(tf.equal(k % 2, 0), lambda: k // 2, lambda: 3 * k + 1)
        return k, count + 1, y * 1.5

    return tf.while_loop(lambda k, *_: k > 1, body, (n, 0, x))


@program(["a", 3])
def strings_in_a_loop(tf, s, n):
    return tf.while_loop(
        lambda i, t: i < n, lambda i, t: (i + 1, tf.strings.join([t, s])), (0, s)
    )


# ---- Mistakes: the class of the error


@program([1.0])
def mistake_dtypes_of_branches(tf, x):
    return tf.cond(x > 0.0, lambda: x, lambda: tf.constant(1))


@program([1.0])
def mistake_structures_of_branches(tf, x):
    return tf.cond(x > 0.0, lambda: (x, x), lambda: x)


@program([V])
def mistake_shape_changes(tf, x):
    return tf.while_loop(lambda y: True, lambda y: (tf.concat([y, y], 0),), (x,))


@program([1.0])
def mistake_dtype_changes(tf, x):
    return tf.while_loop(lambda y: True, lambda y: (tf.cast(y, tf.int32),), (x,))


@program([1.0])
def mistake_number_changes(tf, x):
    return tf.while_loop(lambda y: True, lambda y: (y, y), (x,))


@program([1.0])
def mistake_body_is_no_function(tf, x):
    return tf.while_loop(lambda y: True, 3, (x,))


@program([0, 1.0])
def mistake_no_branches(tf, i, x):
    return tf.switch_case(i, [])


@program([3, V])
def mistake_read_behind_the_end(tf, n, x):
    return tf.TensorArray(tf.float32, size=3).unstack(x).read(n + 5)


@program([3, V])
def mistake_write_behind_the_end(tf, n, x):
    return tf.TensorArray(tf.float32, size=3, infer_shape=False).write(n + 5, x).stack()


def plain(value):
    """A result as JSON has it."""
    return value.decode() if isinstance(value, bytes) else value.tolist()


def leaves(tf, value):
    return [tf.convert_to_tensor(one) for one in tf.nest.flatten(value)]


def record(tf, function, arguments):
    tensors = [tf.constant(a) for a in arguments]
    traced = tf.function(lambda *args: leaves(tf, function(tf, *args)), autograph=False)
    floats = [t for t in tensors if t.dtype.is_floating]
    try:
        with tf.GradientTape() as tape:
            for tensor in floats:
                tape.watch(tensor)
            results = traced(*tensors)
            parts = [tf.reduce_sum(r) for r in results if r.dtype.is_floating]
            total = tf.add_n(parts) if parts else None
        gradients = tape.gradient(total, floats) if parts else []
    except Exception as error:
        return {"error": type(error).__name__}
    return {
        "values": [plain(r.numpy()) for r in results],
        "gradients": [None if g is None else plain(g.numpy()) for g in gradients],
    }


if __name__ == "__main__":
    import tensorflow as tf

    recorded = {name: record(tf, *one) for name, one in PROGRAMS.items()}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in recorded.items())
    Path(__file__).with_suffix("").with_name("function_control_flow.json").write_text(
        "{\n" + text + "\n}\n"
    )
