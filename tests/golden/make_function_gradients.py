#!/usr/bin/env python3
"""Records gradients of programs with functions, branches and loops: golden/function_gradients/.

python make_function_gradients.py [NAME...] with TensorFlow 2. NAME.pb is the program as it was
before it was differentiated, and what TensorFlow gave as constants named `recorded/...`.
gradients.txt lists the programs: `program NAME`, `init NODE` if one is to be run first,
`y TENSOR`, `x TENSOR` of each x, and for each run `feed TENSOR CONSTANT`, `first CONSTANT` and
`second CONSTANT` for each x (`none` where there is no gradient; the second are those of the sum
of the first), and `run` before the next one.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow
from tensorflow.python.framework import ops
from tensorflow.python.framework.function import Defun
from tensorflow.python.ops import functional_ops

tf = tensorflow.compat.v1
function = tensorflow.function
OUT = Path(__file__).resolve().parent / "function_gradients"
PROGRAMS = {}


def program(build):
    """A program: adds nodes; gives y, the xs and the feeds of its runs."""
    PROGRAMS[build.__name__] = build
    return build


def place(dtype, shape, name):
    return tf.placeholder(dtype, shape, name=name)


def floats(*shape):
    return (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 2.5) / 4


@program
def call():
    f = function(lambda x, y: tf.reduce_sum(tf.tanh(x) * y + x * x * x))
    x, y = place(tf.float32, [2, 3], "x"), place(tf.float32, [3], "y")
    return f(x, y), [x, y], [{"x": floats(2, 3), "y": floats(3)}]


@program
def call_of_unknown_shapes():
    f = function(lambda x, y: tf.exp(x) * y + y * y)
    x, y = place(tf.float32, None, "x"), place(tf.float32, [None], "y")
    return f(x, y), [x, y], [{"x": floats(2, n), "y": floats(n)} for n in (3, 1, 4)]


@program
def call_in_call_in_call():
    a = function(lambda x: tf.sin(x) * x)
    b = function(lambda x: a(x) * a(x * 2) + x)
    c = function(lambda x: b(tf.exp(x)) - a(x))
    x = place(tf.float32, [3], "x")
    return c(x) * b(x), [x], [{"x": floats(3)}]


@program
def calls_that_share_a_function():
    f = function(lambda x, y: tf.sin(x) * tf.cos(y))
    x, y = place(tf.float32, [3], "x"), place(tf.float32, [3], "y")
    z = f(f(x, y), y) + f(y, x)
    return z, [x, y], [{"x": floats(3), "y": floats(3) + 1}]


@program
def several_results_not_all_used():
    f = function(lambda x: (tf.sin(x), tf.shape(x), x * x, tf.argmax(x)))
    x = place(tf.float32, [4], "x")
    results = f(x)
    return results[2] * tf.cast(results[1][0], tf.float32), [x], [{"x": floats(4)}]


@program
def results_that_are_arguments():
    f = function(lambda x, y: (y, x, x))
    x, y = place(tf.float32, [2], "x"), place(tf.float32, [2], "y")
    a, b, c = f(x, y)
    return a * b * b + c, [x, y], [{"x": floats(2), "y": floats(2) + 3}]


@program
def rows_of_a_table():
    f = function(lambda t, i: tf.gather(t, i) ** 3)
    t, i = place(tf.float32, [4, 2], "t"), place(tf.int32, [None], "i")
    return f(t, i), [t], [{"t": floats(4, 2), "i": np.array(v, np.int32)} for v in ([1, 3, 1], [])]


@program
def captured_variable():
    v = tf.Variable(floats(2, 2), use_resource=True, name="v")
    tf.global_variables_initializer()
    f = function(lambda x: tf.matmul(x, v) * tf.reduce_sum(v))
    x = place(tf.float32, [None, 2], "x")
    return f(x), [x, v.handle], [{"x": floats(3, 2)}, {"x": floats(1, 2)}]


@program
def loop():
    @function
    def f(x, n):
        i = tf.constant(0)
        while i < n:
            x = tf.sin(x) * x + 0.5
            i += 1
        return x

    x, n = place(tf.float32, [3], "x"), place(tf.int32, [], "n")
    return f(x, n), [x], [{"x": floats(3), "n": np.int32(v)} for v in (0, 1, 7, 2)]


@program
def loop_by_itself():
    x, w = place(tf.float32, [2], "x"), place(tf.float32, [2, 2], "w")
    n = place(tf.int32, [], "n")
    _, y = tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, tf.tanh(tf.linalg.matvec(w, y)) + x),
        [0, x],
    )
    return y, [x, w], [{"x": floats(2), "w": floats(2, 2), "n": np.int32(v)} for v in (0, 1, 5)]


@program
def loop_of_several_variables():
    x, y = place(tf.float32, [], "x"), place(tf.float32, [], "y")
    _, a, b, _ = tf.while_loop(
        lambda i, a, b, c: i < 4,
        lambda i, a, b, c: (i + 1, b * tf.cast(i, tf.float32) + a, tf.sin(a) * c, c),
        [0, x, y, x * y],
    )
    return a * b, [x, y], [{"x": np.float32(0.3), "y": np.float32(1.2)}]


@program
def loop_with_a_variable():
    v = tf.Variable(floats(3), use_resource=True, name="v")
    tf.global_variables_initializer()
    x = place(tf.float32, [3], "x")
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * v + tf.sin(v)), [0, x]
    )
    return y, [x, v.handle], [{"x": floats(3)}]


@program
def loops_four_deep():
    @function
    def f(x, n):
        for i in tf.range(n):
            for _ in tf.range(2):
                for _ in tf.range(i):
                    for _ in tf.range(2):
                        x = tf.sin(x) + 0.1 * x
                x = x * 1.1
        return x

    x, n = place(tf.float32, [2], "x"), place(tf.int32, [], "n")
    return f(x, n), [x], [{"x": floats(2), "n": np.int32(v)} for v in (0, 1, 3)]


@program
def loop_over_a_tensor_array():
    @function
    def f(x, w):
        array = tensorflow.TensorArray(tf.float32, size=tf.shape(x)[0])
        h = tf.zeros_like(x[0])
        for t in tf.range(tf.shape(x)[0]):
            h = tf.tanh(x[t] + tf.linalg.matvec(w, h))
            array = array.write(t, h)
        return array.stack()

    x, w = place(tf.float32, [None, 2], "x"), place(tf.float32, [2, 2], "w")
    return f(x, w), [x, w], [{"x": floats(n, 2), "w": floats(2, 2)} for n in (1, 4)]


@program
def branch():
    x, y = place(tf.float32, [3], "x"), place(tf.float32, [3], "y")
    p = place(tf.bool, [], "p")
    z = tf.cond(p, lambda: tf.sin(x) * y, lambda: tf.exp(x) + 1)
    return z, [x, y], [{"x": floats(3), "y": floats(3), "p": np.array(v)} for v in (True, False)]


@program
def branch_with_a_variable():
    v = tf.Variable(floats(3), use_resource=True, name="v")
    tf.global_variables_initializer()
    x, p = place(tf.float32, [3], "x"), place(tf.bool, [], "p")
    z = tf.cond(p, lambda: x * v * v, lambda: x * x)
    return z, [x, v.handle], [{"x": floats(3), "p": np.array(v)} for v in (True, False)]


@program
def cases():
    x, i = place(tf.float32, [2], "x"), place(tf.int32, [], "i")
    f = function(
        lambda i, x: tensorflow.switch_case(
            i, [lambda: x, lambda: x * x * x, lambda: tf.ones([2]), lambda: tf.sin(x) * 2]
        )
    )
    return f(i, x), [x], [{"x": floats(2), "i": np.int32(v)} for v in (0, 1, 2, 3, 9)]


@program
def branches_in_a_loop():
    @function
    def f(x, n):
        i = tf.constant(0)
        while i < n:
            if tf.reduce_sum(x) > 0.5:
                x = tf.sin(x) * 0.5
            else:
                x = x * x + tf.cast(i, tf.float32)
            i += 1
        return x

    x, n = place(tf.float32, [3], "x"), place(tf.int32, [], "n")
    return f(x, n), [x], [{"x": floats(3), "n": np.int32(v)} for v in (0, 1, 6)]


@program
def loop_in_a_branch():
    @function
    def f(x, p):
        if p:
            for _ in tf.range(3):
                x = tf.sin(x) * x
        else:
            x = x * 2
        return x

    x, p = place(tf.float32, [3], "x"), place(tf.bool, [], "p")
    return f(x, p), [x], [{"x": floats(3), "p": np.array(v)} for v in (True, False)]


# ---- For, of which TensorFlow has no gradient: it is that of a while_loop of the same trips

BODIES = {}


def _same_trips(op, variables):
    body = BODIES[op.get_attr("body").name]
    start, limit, delta = op.inputs[:3]
    count = (limit - start + delta - tf.sign(delta)) // delta
    loop = tf.while_loop(
        lambda k, *_: k < count,
        lambda k, *v: (k + 1,) + body(start + k * delta, *v),
        (0,) + tuple(variables),
    )
    return loop[1:]


@ops.RegisterGradient("For")
def _gradient_of_for(op, *grads):
    variables = [tf.identity(v) for v in op.inputs[3:]]  # one may depend on another
    return [None] * 3 + tf.gradients(_same_trips(op, variables), variables, grad_ys=list(grads))


def loop_for(start, limit, delta, variables, body, name):
    """The op For, of what `body` gives for a number and the variables."""
    types = [tf.int32] + [v.dtype for v in variables]
    function_of = Defun(*types, func_name=name)(lambda *args: list(body(*args)))
    BODIES[name] = lambda *args: tuple(body(*args))
    return functional_ops.For(start, limit, delta, variables, function_of)


@program
def for_with_numbers():
    """The body uses the number of its trip, and a variable that stays."""
    n = place(tf.int32, [], "n")
    x, w = place(tf.float32, [3], "x"), place(tf.float32, [3], "w")

    def body(i, v, w):
        return tf.sin(v * w) + tf.cast(i, tf.float32) * v, w

    y = loop_for(0, n, 1, [x, w], body, "with_numbers")
    feeds = [{"n": k, "x": floats(3), "w": floats(3) + 1} for k in (4, 0, 1)]
    return y[0] * y[1], [x, w], feeds


@program
def for_down():
    start, limit = place(tf.int32, [], "start"), place(tf.int32, [], "limit")
    delta = place(tf.int32, [], "delta")
    x, y = place(tf.float32, [2], "x"), place(tf.float32, [2], "y")

    def body(i, a, b):
        return a + b, a * b + tf.cast(i, tf.float32)

    results = loop_for(start, limit, delta, [x, y], body, "down")
    rows = ((7, 0, -3), (0, 10, 4), (2, 2, 1), (3, -2, -1))
    feeds = [dict(zip(("start", "limit", "delta"), row), x=floats(2), y=floats(2) / 2)
             for row in rows]
    return tf.reduce_sum(results[0]) + tf.reduce_prod(results[1]), [x, y], feeds


@program
def for_of_one_result():
    """Nobody asks for the gradient of the other variable, which the first one takes."""
    n = place(tf.int32, [], "n")
    x, z = place(tf.float32, [], "x"), place(tf.float32, [], "z")

    def body(i, a, b):
        return a * b, b * 1.5

    results = loop_for(0, n, 1, [x, z], body, "of_one_result")
    return results[0], [x, z], [{"n": k, "x": 0.75, "z": 1.25} for k in (3, 0)]


@program
def for_in_branch():
    n, p = place(tf.int32, [], "n"), place(tf.bool, [], "p")
    x = place(tf.float32, [2], "x")

    def body(i, a, b):
        return tf.cond(a[0] > 0, lambda: a * b, lambda: a - b * b), b

    results = loop_for(1, n, 1, [x, x * 2], body, "in_branch")
    y = tf.cond(p, lambda: results[0] * x, lambda: results[1])
    feeds = [{"n": 4, "p": p, "x": floats(2) + shift} for p in (True, False) for shift in (0, 3)]
    return y, [x], feeds


def record(name, build):
    """The program as lines of gradients.txt; writes its graph."""
    graph, answers = tf.Graph(), tf.Graph()
    lines = ["program " + name]
    with graph.as_default(), tf.Session(graph=graph) as session:
        tf.enable_control_flow_v2()
        y, xs, runs = build()
        y = tf.identity(y, name="y")
        message = graph.as_graph_def()
        has_init = any(node.name == "init" for node in message.node)
        lines += ["init init"] * has_init
        lines += ["y " + y.name] + ["x " + x.name for x in xs]
        first = tf.gradients(y, xs)
        summed = [tf.convert_to_tensor(g) if g is not None else None for g in first]
        given = [g for g in summed if g is not None]
        second = tf.gradients(given, xs) if given else [None] * len(xs)
        if has_init:
            session.run("init")
        for number, feeds in enumerate(runs):
            lines += ["run"] if number > 0 else []
            for kind, grads in (("feed", None), ("first", first), ("second", second)):
                if grads is None:
                    for key, value in sorted(feeds.items()):
                        dtype = graph.get_tensor_by_name(key + ":0").dtype
                        with answers.as_default(), tf.name_scope("recorded/%d/" % number):
                            constant = tf.constant(value, dtype, name=key)
                        lines.append("feed %s:0 %s" % (key, constant.name))
                    continue
                for i, grad in enumerate(grads):
                    if grad is None:
                        lines.append(kind + " none")
                        continue
                    tensor = tf.convert_to_tensor(grad)
                    value = session.run(tensor, {k + ":0": v for k, v in feeds.items()})
                    with answers.as_default(), tf.name_scope("recorded/%d/" % number):
                        constant = tf.constant(value, name="%s_%d" % (kind, i))
                    lines.append("%s %s" % (kind, constant.name))
    message.node.extend(answers.as_graph_def().node)
    (OUT / (name + ".pb")).write_bytes(message.SerializeToString(deterministic=True))
    return lines


def main():
    OUT.mkdir(exist_ok=True)
    listing = OUT / "gradients.txt"
    known, name = {}, None
    for line in listing.read_text().splitlines() if listing.exists() else []:
        if line.startswith("program "):
            name = line.split()[1]
            known[name] = []
        known[name].append(line)
    for name in sys.argv[1:] or list(PROGRAMS):
        known[name] = record(name, PROGRAMS[name])
        print(name, len(known[name]))
    listing.write_text("".join(line + "\n" for key in sorted(known) for line in known[key]))


main()
