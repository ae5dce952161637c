#!/usr/bin/env python3
"""Records programs that call functions, branch and loop by functions: tests/golden/functions/.

python make_functions.py [NAME...] with TensorFlow 2 or, for what only TensorFlow 1.15 has (Defun,
For, raw functional ops), with that; each writes its own programs. NAME.pb is a GraphDef; what
TensorFlow gave is in it too, as constants named `recorded/...`. programs.txt lists the programs:
`program NAME`, then `feed TENSOR CONSTANT`, `target NODE` and `fetch TENSOR CONSTANT`, or `fails
TENSOR CODE` where the run fails, and `run` before the next run of the same program, in the same
session.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow

V2 = tensorflow.__version__.startswith("2")
tf = tensorflow.compat.v1
OUT = Path(__file__).resolve().parent / "functions"
PROGRAMS = {}


def program(build):
    """A program: adds nodes, gives [(feeds, fetches)] for its runs, names without ":0"."""
    PROGRAMS[build.__name__] = build
    return build


def place(dtype, shape, name):
    return tf.placeholder(dtype, shape, name=name)


def name_outputs(values):
    for i, value in enumerate(values):
        tf.identity(value, name="out_%d" % i)
    return ["out_%d" % i for i in range(len(values))]


def floats(*shape):
    return (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 3) / 4


if V2:
    function = tensorflow.function

    @program
    def call():
        f = function(lambda x, y: (x * y + 1, tf.reduce_sum(x)))
        outs = name_outputs(f(place(tf.float32, [2, None], "x"), place(tf.float32, [], "y")))
        return [({"x": floats(2, n), "y": np.float32(n)}, outs) for n in (3, 5, 0, 3)]

    @program
    def call_in_call():
        inner = function(lambda x: x * x + 1)
        middle = function(lambda x: inner(x) - inner(x + 1))
        f = function(lambda x: middle(inner(x)) + middle(x))
        outs = name_outputs([f(place(tf.float32, None, "x"))])
        return [({"x": floats(*s)}, outs) for s in ((4,), (2, 2), (), (4,))]

    @program
    def captures():
        x = place(tf.float32, [3], "x")
        y = x * 2
        f = function(lambda: tf.stack([x + y, y]))
        return [({"x": floats(3)}, name_outputs([f(), f()]))]

    @program
    def results_of_every_kind():
        x = place(tf.float32, [2], "x")
        s = place(tf.string, [None], "s")

        @function
        def f(x, s):
            return x, x, tf.constant([1, 2]), tf.strings.join([s, ["!"]]), x > 0, tf.shape(s), s

        outs = name_outputs(f(x, s))
        return [({"x": floats(2), "s": np.array(v, object)}, outs) for v in (["a"], ["bc", "d"])]

    @program
    def shapes_from_values():
        @function
        def f(x):
            y = tf.boolean_mask(x, x > 0)
            return y, tf.unique(tf.cast(y, tf.int32)).y, tf.size(y)

        y, u, n = f(place(tf.float32, [None], "x"))
        outs = name_outputs([y * 2, u, n, tf.reduce_sum(y)])
        return [({"x": floats(n)}, outs) for n in (9, 2, 12, 9)]

    @program
    def branches():
        x, p = place(tf.float32, [None], "x"), place(tf.bool, [], "p")
        f = function(lambda: tf.cond(p, lambda: x * 2, lambda: x[:1] + tf.reduce_sum(x)))
        outs = name_outputs([f(), f() + 1])
        return [({"x": floats(4), "p": v}, outs) for v in (True, False, True)]

    @program
    def branches_in_branches():
        n = place(tf.int32, [], "n")

        @function
        def f(n):
            if n > 10:
                if n > 100:
                    r = n * 3
                else:
                    r = n - 7
            elif n < 0:
                r = -n
            else:
                r = tf.constant(0)
            return r

        outs = name_outputs([f(n)])
        return [({"n": np.int32(v)}, outs) for v in (500, 50, 5, -5)]

    @program
    def cases():
        i, x = place(tf.int32, [], "i"), place(tf.float32, [2], "x")

        @function
        def f(i, x):
            return tensorflow.switch_case(i, [lambda: x, lambda: x * 10, lambda: x - 1])

        outs = name_outputs([f(i, x)])
        return [({"i": np.int32(v), "x": floats(2)}, outs) for v in (0, 1, 2, 7, -1)]

    @program
    def loop():
        @function
        def f(n):
            i, r = tf.constant(1), tf.constant(1, tf.int64)
            while i <= n:
                r *= tf.cast(i, tf.int64)
                i += 1
            return i, r

        outs = name_outputs(f(place(tf.int32, [], "n")))
        return [({"n": np.int32(v)}, outs) for v in (0, 1, 7, 20)]

    @program
    def long_loop():
        @function
        def f(n):
            i, x = tf.constant(0), tf.constant(1.0)
            while i < n:
                x = x * 1.000001 + 1e-7
                i += 1
            return i, x

        outs = name_outputs(f(place(tf.int32, [], "n")))
        return [({"n": np.int32(v)}, outs) for v in (0, 1, 100000)]

    @program
    def loops_four_deep():
        @function
        def f(n):
            s = tf.constant(0)
            for a in tf.range(n):
                for b in tf.range(a):
                    for c in tf.range(b):
                        for d in tf.range(c):
                            s += a * 1000 + b * 100 + c * 10 + d
            return s

        outs = name_outputs([f(place(tf.int32, [], "n"))])
        return [({"n": np.int32(v)}, outs) for v in (0, 3, 6)]

    @program
    def loop_with_branches():
        @function
        def f(n):
            c = tf.constant(0)
            while n > 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                c += 1
            return c

        outs = name_outputs([f(place(tf.int32, [], "n"))])
        return [({"n": np.int32(v)}, outs) for v in (1, 7, 27)]

    @program
    def loop_that_breaks():
        @function
        def f(x, limit):
            s = tf.constant(0.0)
            n = tf.constant(0)
            for v in x:
                if v < 0:
                    continue
                if s + v > limit:
                    break
                s += v
                n += 1
            return s, n

        outs = name_outputs(f(place(tf.float32, [None], "x"), place(tf.float32, [], "limit")))
        rows = ((12, 5), (2, 9), (0, 1))
        return [({"x": floats(n), "limit": np.float32(m)}, outs) for n, m in rows]

    @program
    def shapes_that_grow():
        @function
        def f(x, n):
            i = tf.constant(0)
            while i < n:
                tensorflow.autograph.experimental.set_loop_options(
                    shape_invariants=[(x, tensorflow.TensorShape([None]))]
                )
                x = tf.concat([x, x[:1] * 2], 0)
                i += 1
            return x, tf.reduce_sum(x)

        outs = name_outputs(f(place(tf.float32, [None], "x"), place(tf.int32, [], "n")))
        return [({"x": floats(2), "n": np.int32(v)}, outs) for v in (0, 1, 5)]

    @program
    def every_dtype_through_a_loop():
        values = {
            "half": np.float16([1, 2]), "float": np.float32([1, 2]), "double": np.float64([1, 2]),
            "i8": np.int8([1, 2]), "i16": np.int16([1, 2]), "i32": np.int32([1, 2]),
            "i64": np.int64([1, 2]), "u8": np.uint8([1, 2]), "u16": np.uint16([1, 2]),
            "u32": np.uint32([1, 2]), "u64": np.uint64([1, 2]), "c64": np.complex64([1, 2j]),
            "c128": np.complex128([1, 2j]), "bool": np.array([True, False]),
            "string": np.array(["a", "bc"], object),
        }
        places = [place(tf.as_dtype(v.dtype), [2], k) for k, v in values.items()]

        def body(i, *vs):
            return (i + 1,) + tuple(tf.gather(v, [1, 0]) for v in vs)

        f = function(lambda *vs: tf.while_loop(lambda i, *_: i < 3, body, (0,) + vs))
        return [(values, name_outputs(f(*places)))]

    @program
    def variables():
        v = tensorflow.Variable(2.0, name="v", use_resource=True)
        x = place(tf.float32, [], "x")

        @function
        def f(x):
            v.assign_add(x)
            v.assign(v * 2)
            return v.read_value() + 1

        out = f(x)
        outs = name_outputs([out])
        tf.group(v.initializer, name="init")
        return [({}, ["init"]), ({"x": np.float32(1)}, outs), ({"x": np.float32(1)}, outs)]

    @program
    def variables_in_loops():
        v = tensorflow.Variable([0.0, 0.0], name="v", use_resource=True)
        n = place(tf.int32, [], "n")

        @function
        def f(n):
            for i in tf.range(n):
                if i % 2 == 0:
                    v.assign_add([1.0, tf.cast(i, tf.float32)])
                else:
                    v.scatter_nd_update([[0]], [10.0])
            return v.read_value()

        outs = name_outputs([f(n)])
        tf.group(v.initializer, name="init")
        return [({}, ["init"])] + [({"n": np.int32(k)}, outs) for k in (3, 0, 4)]

    @program
    def recursion_by_name():
        # A function cannot name itself in TensorFlow 2's Python; a chain of 40 can.
        def chain(depth):
            if depth == 0:
                return function(lambda x: x + 1)
            inner = chain(depth - 1)
            return function(lambda x: inner(x * 1.01))

        return [({"x": floats(3)}, name_outputs([chain(40)(place(tf.float32, [3], "x"))]))]

    @program
    def one_function_many_shapes():
        f = function(lambda x: tf.reduce_sum(x * x, -1), reduce_retracing=True)
        f = f.get_concrete_function(tensorflow.TensorSpec(None, tf.float32))
        x = place(tf.float32, None, "x")
        outs = name_outputs([f(x), f(tf.concat([x, x], 0)), f(tf.expand_dims(x, 0))])
        return [({"x": floats(*s)}, outs) for s in ((3,), (2, 3), (3,), (1, 2, 3))]

    @program
    def error_in_body():
        @function
        def f(x, i):
            while i < 10:
                x = x + tf.gather([1.0, 2.0, 3.0], i)
                i += 1
            return x

        outs = name_outputs([f(place(tf.float32, [], "x"), place(tf.int32, [], "i"))])
        return [({"x": np.float32(1), "i": np.int32(v)}, outs) for v in (12, 1, 12)]

    @program
    def error_by_assertion():
        @function
        def f(x):
            tf.debugging.assert_positive(x, message="x has to be positive")
            return tf.sqrt(x)

        outs = name_outputs([f(place(tf.float32, [2], "x"))])
        return [({"x": np.float32(v)}, outs) for v in ([1, 4], [1, -4], [1, 4])]

    @program
    def error_of_shapes_in_one_branch():
        x, y = place(tf.float32, None, "x"), place(tf.float32, None, "y")
        p = place(tf.bool, [], "p")
        f = function(lambda: tf.cond(p, lambda: tf.matmul(x, y), lambda: x))
        outs = name_outputs([f()])
        feed = {"x": floats(2, 3), "y": floats(2, 3)}
        return [(dict(feed, p=p), outs) for p in (False, True, False)]

    @program
    def maps_and_scans():
        x = place(tf.float32, [None, 2], "x")
        f = function(lambda x: (
            tensorflow.map_fn(lambda v: v * v + 1, x),
            tensorflow.scan(lambda a, v: a * 0.5 + v, x),
            tensorflow.foldl(lambda a, v: a - v, x),
        ))
        return [({"x": floats(n, 2)}, name_outputs(f(x))) for n in (4,)]

    def map_defun(f, specs, arguments, captured, types, shapes):
        called = function(f).get_concrete_function(*specs)
        return tensorflow.raw_ops.MapDefun(
            arguments=arguments, captured_inputs=captured, output_types=types,
            output_shapes=shapes, f=called)

    spec = tensorflow.TensorSpec

    @program
    def rows_mapped():
        x, y = place(tf.float32, [None, 2], "x"), place(tf.int32, [None], "y")
        c, s = place(tf.float32, [], "c"), place(tf.string, [None], "s")
        many = map_defun(
            lambda x, y, s, c: (x * c, y + 1, tf.strings.join([s, "!"])),
            [spec([2], tf.float32), spec([], tf.int32), spec([], tf.string), spec([], tf.float32)],
            [x, y, s], [c], [tf.float32, tf.int32, tf.string], [[2], [], []])
        partly = map_defun(lambda x: tf.reshape(x, [2, 1]), [spec([2], tf.float32)], [x], [],
                           [tf.float32], [[None, 1]])
        late = map_defun(lambda v: tf.range(v), [spec([], tf.int32)], [y], [], [tf.int32], [None])
        outs = name_outputs([*many, *partly, tf.reduce_sum(many[0]), *late])

        def feed(n, y):
            return {"x": floats(n, 2), "y": np.int32(y), "c": np.float32(3),
                    "s": np.array(["a", "bc", "", "d"][:n], object)}

        return [(feed(3, [2] * 3), outs), (feed(1, [4]), outs), (feed(4, [1] * 4), outs),
                (feed(2, [1, 2]), outs[5:]), (feed(2, [1] * 3), outs[:1]), (feed(0, []), outs[:3]),
                (feed(0, []), outs[3:4]), (feed(0, []), outs[5:])]

    @program
    def rows_mapped_in_functions():
        x = place(tf.float32, None, "x")

        @function
        def rows(x):
            def squares(row):
                if tf.reduce_sum(row) > 0:
                    row = row + 1
                return map_defun(lambda v, r: v * v + r[0], [spec([], tf.float32),
                                                            spec([3], tf.float32)],
                                 [row], [row], [tf.float32], [[]])

            return map_defun(squares, [spec([3], tf.float32)], [x], [], [tf.float32], [[3]])

        outs = name_outputs(rows(x))
        return [({"x": floats(*shape)}, outs) for shape in ((4, 3), (1, 3), (3,), (2, 2), (2, 3))]

    @program
    def error_in_a_row():
        x = place(tf.float32, [None], "x")
        rows = map_defun(lambda v: tf.debugging.check_numerics(v, "no number"),
                         [spec([], tf.float32)], [x], [], [tf.float32], [[]])
        other = map_defun(lambda v: tf.stack([v, v]), [spec([], tf.float32)], [x], [],
                          [tf.float32], [[3]])
        return [({"x": np.float32(v)}, name_outputs([rows[0], other[0]])[i:i + 1])
                for i, v in ((0, [1, 2]), (0, [1, np.nan]), (1, [1, 2]), (0, [3]))]

    @program
    def random_in_loops():
        @function
        def f(n):
            s = tf.zeros([2])
            for i in tf.range(n):
                s += tensorflow.random.stateless_uniform([2], seed=[i, 5])
            return s

        return [({"n": np.int32(v)}, o) for o in [name_outputs([f(place(tf.int32, [], "n"))])]
                for v in (0, 3)]

    @program
    def gradients_in_functions():
        @function
        def f(x):
            with tensorflow.GradientTape() as tape:
                tape.watch(x)
                y = tf.constant(1.0)
                for _ in tf.range(3):
                    y = y * x + 0.5
            return y, tape.gradient(y, x)

        outs = name_outputs(f(place(tf.float32, [], "x")))
        return [({"x": np.float32(v)}, outs) for v in (2, -0.5)]

else:
    from tensorflow.python.framework import function as functions
    from tensorflow.python.ops import functional_ops

    @program
    def defun():
        @functions.Defun(tf.float32, tf.float32)
        def f(x, y):
            return x * y, x - y

        @functions.Defun(tf.float32)
        def g(x):
            a, b = f(x, x + 1)
            return a + b

        x = place(tf.float32, [3], "x")
        return [({"x": floats(3)}, name_outputs([g(x), f(x, x)[1]]))]

    @program
    def defun_that_calls_itself():
        with tf.Graph().as_default() as scratch:

            @functions.Defun(tf.int32, func_name="Stub")
            def called(n):
                return n + 0

            @functions.Defun(tf.int32, func_name="One")
            def one(n):
                return tf.ones_like(n)

            @functions.Defun(tf.int32, func_name="Times")
            def times(n):
                return n * called(n - 1)

            @functions.Defun(tf.int32, func_name="Whole")
            def fact(n):
                return functional_ops.If(tf.less_equal(n, 1), [n], one, times)[0]

            fact(place(tf.int32, [], "n"), name="fact")
        graph_def = scratch.as_graph_def()
        for definition in graph_def.library.function:
            for node in definition.node_def:
                if node.op == "Stub":
                    node.op = "Whole"
        tf.import_graph_def(graph_def, name="")
        outs = name_outputs([tf.get_default_graph().get_tensor_by_name("fact:0")])
        return [({"n": np.int32(v)}, outs) for v in (1, 5, 10)]

    @program
    def functional_for():
        @functions.Defun(tf.int32, tf.float32, tf.float32)
        def body(i, s, x):
            return s + tf.cast(i, tf.float32) * x, x

        start, limit, delta = (place(tf.int32, [], n) for n in ("start", "limit", "delta"))
        x = place(tf.float32, [2], "x")
        outs = name_outputs(functional_ops.For(start, limit, delta, [tf.zeros([2]), x], body))
        rows = ((0, 5, 1), (0, 0, 1), (10, 0, -3), (0, 10, 4))
        names = ("start", "limit", "delta")
        feeds = [dict(zip(names, map(np.int32, row)), x=floats(2)) for row in rows]
        return [(feed, outs) for feed in feeds]

    @program
    def functional_while():
        @functions.Defun(tf.float32, tf.int32)
        def condition(x, n):
            return n > 0

        @functions.Defun(tf.float32, tf.int32)
        def body(x, n):
            return x * 1.5, n - 1

        args = [place(tf.float32, [None], "x"), place(tf.int32, [], "n")]
        outs = name_outputs(functional_ops.While(args, condition, body))
        return [({"x": floats(3), "n": np.int32(v)}, outs) for v in (0, 1, 9)]

    @program
    def conditions_of_every_dtype():
        @functions.Defun(tf.int32)
        def yes(x):
            return x + 1

        @functions.Defun(tf.int32)
        def no(x):
            return x - 1

        outs, feed = [], {"x": np.int32(5)}
        x = place(tf.int32, [], "x")
        rows = [np.float32(0), np.float32(-0.0), np.float32(0.5), np.int64(0), np.int64(-3),
                np.array("", object), np.array("a", object), np.zeros([0], np.int32),
                np.zeros([2], np.int32), np.array(True)]
        for i, value in enumerate(rows):
            p = place(tf.as_dtype(value.dtype), None, "p%d" % i)
            feed["p%d" % i] = value
            outs.append(functional_ops.If(p, [x], yes, no))
        return [(feed, name_outputs(outs))]

    @program
    def control_flow_v2_of_1_15():
        tf.enable_control_flow_v2()
        n, x = place(tf.int32, [], "n"), place(tf.float32, [2], "x")
        i, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2), [0, x])
        z = tf.cond(n > 3, lambda: y + 1, lambda: y - 1)
        outs = name_outputs([i, y, z])
        tf.disable_control_flow_v2()
        return [({"n": np.int32(v), "x": floats(2)}, outs) for v in (0, 2, 5)]


def run(session, feeds, fetches):
    try:
        names = [f if f == "init" else f + ":0" for f in fetches]
        return session.run(names, {k + ":0": v for k, v in feeds.items()}), None
    except tf.errors.OpError as error:
        return None, error.error_code


def record(name, build):
    """The program as lines of programs.txt; writes its graph."""
    graph = tf.Graph()
    lines = ["program " + name]
    with graph.as_default(), tf.Session(graph=graph) as session:
        tf.set_random_seed(1)
        if V2:
            tf.enable_control_flow_v2()
            tf.enable_resource_variables()
        runs = build()
        for number, (feeds, fetches) in enumerate(runs):
            values, error = run(session, feeds, fetches)
            lines += ["run"] if number > 0 else []
            with tf.name_scope("recorded/%d/" % number):
                for key, value in sorted(feeds.items()):
                    dtype = graph.get_tensor_by_name(key + ":0").dtype
                    lines.append("feed %s:0 %s" % (key, tf.constant(value, dtype, name=key).name))
                for i, key in enumerate(fetches):
                    if key == "init":
                        lines.append("target init")
                    elif error is None:
                        dtype = graph.get_tensor_by_name(key + ":0").dtype
                        value = tf.constant(values[i], dtype, name=key)
                        lines.append("fetch %s:0 %s" % (key, value.name))
                    else:
                        lines.append("fails %s:0 %d" % (key, error))
        message = graph.as_graph_def().SerializeToString(deterministic=True)
        (OUT / (name + ".pb")).write_bytes(message)
    return lines


def main():
    OUT.mkdir(exist_ok=True)
    listing = OUT / "programs.txt"
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
