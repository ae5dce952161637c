"""Functions of version 1: what Defun and the ops that call functions give in TensorFlow 1.15.5.

Each program is a function of the modules `tf`, `function` and `functional_ops` that gives tensors
to run. The record has their values and the types of the operations that the program left in the
graph, or the class of the error. Run by TensorFlow 1.15.5: writes defun.json beside this file.
"""

import json
from pathlib import Path

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def call(tf, function, ops):
    @function.Defun(tf.float32, tf.float32)
    def f(x, y):
        return x * y, x - y

    return f(3.0, tf.constant([1.0, 2.0]), name="here")


@program
def call_in_call(tf, function, ops):
    @function.Defun(tf.float32)
    def square(x):
        return x * x

    @function.Defun(tf.float32)
    def f(x):
        return square(square(x)) + x

    return [f(2.0), square(5.0)]


@program
def gradient(tf, function, ops):
    @function.Defun(tf.float32, tf.float32)
    def f(x, y):
        return tf.sin(x) * y

    x, y = tf.constant(0.5), tf.constant(2.0)
    return tf.gradients(f(x, y), [x, y])


@program
def gradient_of_two_results(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x):
        return x * x, tf.exp(x)

    x = tf.constant([0.5, 1.0])
    a, b = f(x)
    return tf.gradients([a, b], x) + tf.gradients(a, x) + tf.gradients(b, x)


@program
def gradient_in_call(tf, function, ops):
    @function.Defun(tf.float32)
    def square(x):
        return x * x

    @function.Defun(tf.float32)
    def f(x):
        return square(x) * 3.0

    x = tf.constant(2.0)
    return tf.gradients(f(x), x)


@program
def gradient_with_integers(tf, function, ops):
    @function.Defun(tf.float32, tf.int32)
    def f(x, n):
        return x * tf.cast(n, tf.float32), n + 1

    x = tf.constant(2.0)
    y, n = f(x, 3)
    return [n] + tf.gradients(y, x)


@program
def gradient_function(tf, function, ops):
    @function.Defun(tf.float32, tf.float32)
    def grad(x, dy):
        return dy * 100.0 * x

    @function.Defun(tf.float32, grad_func=grad)
    def f(x):
        return x * x

    x = tf.constant(2.0)
    return tf.gradients(f(x), x)


@program
def python_gradient_function(tf, function, ops):
    @function.Defun(
        tf.float32, tf.float32, python_grad_func=lambda op, dy: [op.inputs[1] * dy, None]
    )
    def f(x, y):
        return x * y * 7.0

    x, y = tf.constant(2.0), tf.constant(5.0)
    return tf.gradients(f(x, y), x)


@program
def captures(tf, function, ops):
    a = tf.constant([1.0, 2.0])

    @function.Defun(tf.float32)
    def f(x):
        return x * a + a

    x = tf.constant(3.0)
    y = f(x)
    return [y] + tf.gradients(y, [x, a]) + list(f.captured_inputs)


@program
def captures_by_value(tf, function, ops):
    a = tf.constant([1.0, 2.0]) * 3.0

    @function.Defun(tf.float32, capture_by_value=True)
    def f(x):
        return x * a

    return [f(3.0), tf.constant(len(f.captured_inputs))]


@program
def overloaded(tf, function, ops):
    @function.Defun()
    def f(x, y):
        return x + y

    return [f(1.0, 2.0), f(1, 2), f("a", "b")]


@program
def names_of_results(tf, function, ops):
    @function.Defun(tf.float32, func_name="mine", out_names=["up", "down"])
    def f(x):
        return x + 1.0, x - 1.0

    up, down = f(3.0)
    names = [arg.name for arg in f.definition.signature.output_arg]
    return [up, down, tf.constant(names + [f.name, up.op.type])]


@program
def shapes_of_results(tf, function, ops):
    @function.Defun(tf.float32, shape_func=lambda op: [op.inputs[0].get_shape()])
    def f(x):
        return x * 2.0

    y = f(tf.ones([2, 3]))
    return [y, tf.constant(y.shape.as_list())]


@program
def variable_made_inside(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x):
        return x * tf.get_variable("v", initializer=4.0)

    x = tf.constant(2.0)
    y = f(x)
    v = tf.trainable_variables()[0]
    return [y] + tf.gradients(y, [x, v])


@program
def resource_variable_made_inside(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x):
        return x * tf.get_variable("v", initializer=4.0, use_resource=True)

    return [f(2.0), tf.constant([v.name for v in tf.global_variables()])]


@program
def nothing_comes_back(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x):
        tf.Print(x, [x])

    return [tf.constant(type(f(1.0)).__name__)]


@program
def conditional_op(tf, function, ops):
    @function.Defun(tf.float32)
    def double(x):
        return x * 2.0

    @function.Defun(tf.float32)
    def triple(x):
        return x * 3.0

    x = tf.constant(5.0)
    return [ops.If(x > limit, [x], double, triple)[0] for limit in (1.0, 9.0)]


@program
def while_op(tf, function, ops):
    @function.Defun(tf.int32, tf.float32)
    def cond(i, x):
        return i < 4

    @function.Defun(tf.int32, tf.float32)
    def body(i, x):
        return i + 1, x * 1.5

    return ops.While([tf.constant(0), tf.constant(1.0)], cond, body)


@program
def while_op_with_captures(tf, function, ops):
    factor = tf.constant(3.0)

    @function.Defun(tf.int32, tf.float32)
    def cond(i, x):
        return i < 4

    @function.Defun(tf.int32, tf.float32)
    def body(i, x):
        return i + 1, x * factor

    return ops.While([tf.constant(0), tf.constant(1.0)], cond, body)


@program
def for_op(tf, function, ops):
    @function.Defun(tf.int32, tf.float32)
    def body(i, x):
        return x + tf.cast(i, tf.float32)

    return ops.For(1, 10, 3, [0.0], body)


@program
def for_op_with_captures(tf, function, ops):
    step = tf.constant(0.5)

    @function.Defun(tf.int32, tf.float32)
    def body(i, x):
        return x * step

    return ops.For(0, 3, 1, [1.0], body)


@program
def gradient_op(tf, function, ops):
    @function.Defun(tf.float32, tf.float32)
    def f(x, y):
        return x * y

    return ops.Gradient([tf.constant(2.0), tf.constant(5.0), tf.constant(1.0)], f)


@program
def mistake_number_of_arguments(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x):
        return x

    return [f(1.0, 2.0)]


@program
def mistake_number_of_dtypes(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x, y):
        return x

    return [f(1.0)]


@program
def mistake_defaults(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x=3):
        return x

    return [f(1.0)]


@program
def mistake_none_comes_back(tf, function, ops):
    @function.Defun(tf.float32)
    def f(x):
        return x, None

    return [f(1.0)]


@program
def mistake_placeholder_by_value(tf, function, ops):
    a = tf.placeholder(tf.float32, [])

    @function.Defun(tf.float32, capture_by_value=True)
    def f(x):
        return x * a

    return [f(1.0)]


@program
def mistake_while_that_captures_in_its_condition(tf, function, ops):
    limit = tf.constant(3)

    @function.Defun(tf.int32)
    def cond(i):
        return i < limit

    @function.Defun(tf.int32)
    def body(i):
        return i + 1

    return ops.While([tf.constant(0)], cond, body)


def plain(value):
    """A result as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list):
        return value
    return [one.decode() if isinstance(one, bytes) else one for one in value]


def op_types(tf):
    """The types in the default graph, without the hash of a function's name."""
    return [op.type.split("_")[0] for op in tf.get_default_graph().get_operations()]


def record(tf, function, functional_ops, build):
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            tensors = list(build(tf, function, functional_ops))
            types = op_types(tf)
            session.run(tf.global_variables_initializer())
            values = session.run(tensors)
        except Exception as error:
            return {"error": type(error).__name__}
    return {"values": [plain(value) for value in values], "types": types}


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf
    from tensorflow.python.framework import function
    from tensorflow.python.ops import functional_ops

    recorded = {name: record(tf, function, functional_ops, one) for name, one in PROGRAMS.items()}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in recorded.items())
    Path(__file__).with_name("defun.json").write_text("{\n" + text + "\n}\n")
