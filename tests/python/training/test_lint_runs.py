"""Rules of lint about runs and traced functions: programs with the mistakes, and near ones."""

import pytest
from lint_programs import HEAD, Cases, check_mistake, check_near, name_of

cases = Cases()

RUN = """
    session = tf.Session()
    session.run(tf.global_variables_initializer())
"""
cases(
    "growing-graph",
    [
        "for i in range(5): session.run(tf.reduce_sum(use), feed)  # <-",
        "for i in range(5): session.run(use * float(i), feed)  # <-",
        """
        def step():
            return tf.reduce_sum(use)  # <-
        for i in range(5): session.run(step(), feed)
        """,
        "for i in range(5): session.run(w.assign(np.ones([3, 3])))  # <-",
        "run = session.make_callable(w)\nfor i in range(5):\n    tf.identity(w)  # <-\n    run()",
    ],
    [
        "s = tf.reduce_sum(use)\nfor i in range(20): session.run(s, feed)",
        "session.run(tf.reduce_sum(use), feed)\nsession.run(tf.reduce_max(use), feed)",
        "a = [tf.reduce_sum(use, i) for i in range(2)]\nfor one in a: session.run(one, feed)",
        """
        p = tf.placeholder(tf.float32, [])
        s = use * p
        for i in range(9): session.run(s, {**feed, p: i})
        """,
    ],
    HEAD + RUN,
)
cases(
    "new-fetches",
    [
        "all = [use + float(i) for i in range(12)]\nfor one in all: session.run(one, feed)  # <-",
        """
        all = [use + float(i) for i in range(12)]
        for i in range(12): session.run([use] + all[:i], feed)  # <-
        """,
    ],
    [
        "all = [use + float(i) for i in range(12)]\nsession.run(all, feed)",
        "for i in range(30): session.run([use, z][i % 2], feed)",
        "all = [use + float(i) for i in range(5)]\nfor one in all: session.run(one, feed)",
        """
        all = [use + float(i) for i in range(12)]
        for i in range(99): session.run(all[i % 12], feed)
        """,
    ],
    HEAD + RUN,
)
cases(
    "many-shapes",
    ["for i in range(1, 12): session.run(z, {x: np.ones([i, 3])})"],
    [
        "for i in range(40): session.run(z, {x: np.ones([i % 4 + 1, 3])})",
        "for i in range(12): session.run(z, {x: np.ones([4, 3])})",
    ],
    HEAD + RUN,
)
cases(
    "partial-batch",
    ["for i in range(33): session.run(z, {x: np.ones([2 if i == 32 else 8, 3])})"],
    [
        "for i in range(33): session.run(z, {x: np.ones([8, 3])})",
        "for i in range(33): session.run(z, {x: np.ones([2 if i % 2 else 8, 3])})",
    ],
    HEAD + RUN,
)
cases(
    "fed-labels",
    [
        "loss = tf.losses.softmax_cross_entropy(y, z)  # <-\nsession.run(loss, {x: xs, y: xs})",
        "loss = tf.losses.softmax_cross_entropy(y, z)  # <-\nsession.run(loss, {x: xs, y: 2 * ys})",
        """
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=z)  # <-
        session.run(loss, {x: xs, y: np.random.normal(size=[6, 3])})
        """,
    ],
    [
        "loss = tf.losses.softmax_cross_entropy(y, z); session.run(loss, feed)",
        """
        loss = tf.losses.softmax_cross_entropy(y, z)
        session.run(loss, {x: xs, y: ys * 0.9 + 0.1 / 3})
        """,
        "loss = tf.losses.sigmoid_cross_entropy(y, z); session.run(loss, {x: xs, y: xs})",
    ],
    HEAD + RUN,
)
cases(
    "unscaled-input",
    [
        "session.run(z, {x: np.arange(240, 252).reshape(4, 3)})",
        "session.run(z, {x: np.arange(100, 160).reshape(20, 3)})",
    ],
    [
        "session.run(z, {x: np.arange(12).reshape(4, 3) / 255})",
        "session.run(z, {x: np.arange(12).reshape(4, 3)})",
        "session.run(tf.matmul(x / 255, w), {x: np.arange(240, 252).reshape(4, 3)})",
    ],
    HEAD + RUN,
)
cases(
    "constant-phase",
    [
        """
        phase = tf.keras.backend.learning_phase()
        h = tf.keras.layers.Dropout(0.5)(z)
        for _ in range(12): session.run(h, {x: xs, phase: 0})
        """
    ],
    [
        """
        phase = tf.keras.backend.learning_phase()
        h = tf.keras.layers.Dropout(0.5)(z)
        for i in range(12): session.run(h, {x: xs, phase: i % 2})
        """,
        "for _ in range(12): session.run(z, {x: xs})",
    ],
    HEAD + RUN,
)
cases(
    "unreached-ops",
    [
        "hits = tf.reduce_mean(use)  # <-\nsession.run(z, feed)",
        "a = tf.exp(z)\nb = tf.sin(a)  # <-\nsession.run([a, use], feed)",
    ],
    [
        "hits = tf.reduce_mean(use); session.run([hits, use], feed)",
        "tf.summary.scalar('m', tf.reduce_mean(use)); session.run(use, feed)",
        """
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(use))
        session.run([train, use], feed)
        """,
    ],
    HEAD + RUN,
)
cases(
    "many-sessions",
    ["kept = [tf.Session() for _ in range(9)]  # <-"],
    [
        "kept = [tf.Session() for _ in range(8)]",
        "for _ in range(20):\n    with tf.Session() as session: pass",
        "for _ in range(20):\n    session = tf.Session(); session.close()",
    ],
)
cases(
    "dropout-in-runs",
    [
        "d = tf.nn.dropout(z, 0.5)  # <-\nfor _ in range(12): session.run(d, feed)",
        "d = tf.layers.dropout(z, training=True)  # <-\nfor _ in range(12): session.run(d, feed)",
    ],
    [
        "d = tf.nn.dropout(z, 0.5)\nfor _ in range(3): session.run(d, feed)",
        "d = tf.layers.dropout(z)\nfor _ in range(12): session.run(d, feed)",
        """
        d = tf.layers.dropout(z, training=tf.placeholder_with_default(False, []))
        for _ in range(12): session.run(d, feed)
        """,
        """
        d = tf.reduce_mean(tf.nn.dropout(z, 0.5))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(d)
        for _ in range(12): session.run([d, train], feed)
        """,
        "for _ in range(12): session.run(z + tf.random_uniform([3]), feed)",
    ],
    HEAD + RUN,
)
cases(
    "fed-variable",
    [
        "for _ in range(12): session.run(use, {**feed, w: np.ones([3, 3])})",
        "r = w.read_value()\nfor _ in range(12): session.run(z, {x: xs, w: np.eye(3)})",
    ],
    [
        "for _ in range(3): session.run(use, {**feed, w: np.ones([3, 3])})",
        "for _ in range(12): session.run(use, feed)",
        "for _ in range(12): session.run(tf.tanh(z), {z: xs})",
    ],
    HEAD + RUN,
)
cases(
    "unrun-update",
    [
        "r = w.assign(w * 0.9)  # <-\nfor _ in range(101): session.run(use, feed)",
        "r = tf.assign_add(w, w)  # <-\nfor _ in range(101): session.run(use, feed)",
        """
        queue = tf.FIFOQueue(3, tf.float32)
        put = queue.enqueue(1.0)  # <-
        for _ in range(101): session.run(use, feed)
        """,
    ],
    [
        "r = w.assign(w * 0.9)\nfor _ in range(101): session.run([use, r], feed)",
        "r = w.assign(w * 0.9)\nfor _ in range(50): session.run(use, feed)",
        "saver = tf.train.Saver()\nfor _ in range(101): session.run(use, feed)",
    ],
    HEAD + RUN,
)
cases(
    "large-constant of functions",
    [],
    [
        """
        big = np.ones([1 << 18], np.float32)
        @tf.function
        def f(v): return v + tf.reduce_sum(big)
        f(z)
        """,
    ],
)
FUNCTION = """
    import random, time, datetime
    from time import time as now
    drawn = np.random.RandomState(1)
    seen, total = [], 0
    v = tf.constant([1.0, 2.0])
"""


def traced(*lines, use="f(v)"):
    return "@tf.function\ndef f(a):\n" + "".join(f"    {line}\n" for line in lines) + use


cases(
    "baked-value",
    [
        traced("return a + time.time()  # <-"),
        traced("return a + now()  # <-"),
        traced("n = random.random()  # <-", "return a + n"),
        traced("return a + np.random.rand(2)  # <-"),
        traced("return a + np.random.normal(size=[2])  # <-"),
        traced("return a + drawn.uniform(size=[2])  # <-"),
        traced("n = datetime.datetime.now().hour  # <-", "return a + float(n)"),
        traced("if random.random() < 2:  # <-", "    return a", "return a + 1"),
    ],
    [
        traced("return a + tf.random.uniform([2])"),
        traced("return a + tf.cast(tf.timestamp(), tf.float32)"),
        traced("return a + np.sqrt(2.0)"),
        "n = random.random()\n" + traced("return a + n"),
        "def g(a): return a + time.time()\ng(v)",
        traced(
            "def g(b): return (b + np.random.rand(2)).astype(np.float32)",
            "return tf.numpy_function(g, [a], tf.float32)",
        ),
    ],
    FUNCTION,
)
cases(
    "side-effect",
    [
        traced("print('called')  # <-", "return a"),
        traced("seen.append(a.shape)  # <-", "return a"),
        traced("global total  # <-", "total = 3", "return a"),
        traced("open('/dev/null')  # <-", "return a"),
    ],
    [
        traced("tf.print('called')", "return a"),
        traced("parts = []", "parts.append(a)", "return tf.stack(parts)"),
        traced("return a + float(len(seen))"),
        "def g(a):\n    seen.append(a)\n    print(a.shape)\n    return a\ng(v)",
    ],
    FUNCTION,
)
cases(
    "retracing",
    [
        "@tf.function\ndef f(a, n): return a * n\nfor n in range(12): f(v, n)  # <-",
        "@tf.function\ndef f(a): return a * 2.0\nfor n in range(1, 12): f(tf.zeros([n]))  # <-",
        "for n in range(12):\n    f = tf.function(lambda a: a + 1.0)\n    f(v)  # <-",
    ],
    [
        "@tf.function\ndef f(a, n): return a * n\nfor n in range(12): f(v, tf.constant(float(n)))",
        """
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def f(a): return a * 2.0
        for n in range(1, 12): f(tf.zeros([n]))
        """,
        "@tf.function\ndef f(a, n): return a * n\nfor n in range(40): f(v, float(n % 2))",
    ],
    FUNCTION,
)
cases(
    "new-fetches",
    [
        """
        all = [use * float(i) for i in range(10)]
        for i in range(10): session.run({"a": all[i]}, feed)  # <-
        """,
        """
        all = [use * float(i) for i in range(11)]
        def get(one): return session.run(one, feed)  # <-
        for one in all: get(one)
        """,
        "for i in range(3, 14): session.run([z] * i, feed)  # <-",
    ],
    [],
    HEAD + RUN,
)
cases(
    "many-shapes",
    [
        "for i in range(1, 40): session.run(z, {x: np.ones([i, 3])})",
        "for i in range(1, 10): session.run(use, {x: np.ones([i, 3]), y: np.ones([i, 3])})",
    ],
    ["for i in range(1, 9): session.run(z, {x: np.ones([i, 3])})"],
    HEAD + RUN,
)
cases(
    "partial-batch",
    [
        "for i in range(60): session.run(z, {x: np.ones([7 if i % 20 == 19 else 8, 3])})",
        "for n in [16] * 12 + [4]: session.run(use, {x: np.ones([n, 3]), y: np.ones([n, 3])})",
    ],
    ["for n in [16, 4]: session.run(z, {x: np.ones([n, 3])})"],
    HEAD + RUN,
)
cases(
    "fed-labels",
    [
        "loss = softmax_loss(labels=y, logits=z)  # <-\nsession.run(loss, {x: xs, y: ys * 255})",
        "loss = softmax_loss(labels=tf.identity(y), logits=z)  # <-\n"
        "session.run(loss, {x: xs, y: np.zeros([6, 3])})",
    ],
    [
        "loss = softmax_loss(labels=y, logits=z)\nsession.run(loss, {x: xs, y: ys})",
        "loss = softmax_loss(labels=y, logits=z)\n"
        "session.run(loss, {x: xs, y: ys * [[1], [1], [1], [1], [0], [0]]})",
    ],
    HEAD + RUN,
)
cases(
    "many-sessions",
    [
        "def session(): return tf.Session()  # <-\nkept = [session() for _ in range(12)]",
        """
        kept = []
        for _ in range(10):
            kept.append(tf.Session(graph=tf.get_default_graph()))  # <-
        """,
    ],
    [],
)
cases(
    "fed-variable",
    [
        "for _ in range(10): session.run([z, use], {**feed, w: np.eye(3)})",
        """
        v = tf.get_variable("v", [3])
        for i in range(20): session.run(z + v, {x: xs, v: np.full([3], i)})
        """,
    ],
    [],
    HEAD + RUN,
)
cases(
    "retracing",
    [
        """
        class Settings: pass
        @tf.function
        def f(a, s): return a + 1.0
        for _ in range(12): f(v, Settings())  # <-
        """,
        """
        @tf.function
        def f(a): return a[0] + 1.0
        for n in range(12): f([v] * (n + 1))  # <-
        """,
    ],
    [
        """
        @tf.function(reduce_retracing=True)
        def f(a): return a * 2.0
        for n in range(1, 30): f(tf.zeros([n]))
        """,
        "@tf.function\ndef f(a): return a * 2.0\nfor n in range(30): f(v)",
    ],
    FUNCTION,
)


@pytest.mark.parametrize(("rule", "text"), cases.bad, ids=name_of)
def test_the_mistake_is_found_at_its_line(rule, text):
    check_mistake(rule, text)


@pytest.mark.parametrize(("rule", "text"), cases.good, ids=name_of)
def test_nothing_is_found_in_near_programs(rule, text):
    check_near(rule, text)
