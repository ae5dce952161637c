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

cases(
    "growing-graph", [], ["for i in range(2): session.run(tf.reduce_sum(use), feed)"], HEAD + RUN
)
cases(
    "new-fetches",
    [],
    ["for i in range(40): session.run([use, z] if i % 2 else use, feed)"],
    HEAD + RUN,
)
cases(
    "many-shapes",
    [
        """
        p = tf.placeholder(tf.float32)
        q = p + 1.0
        for i in range(10): session.run(q, {p: np.ones([i + 1])})
        """,
        "for i in range(20): session.run(z, {x: np.ones([2 * i + 1, 3])})",
    ],
    [
        "for i in range(1, 9): session.run(use, {x: np.ones([i, 3]), y: np.ones([i, 3])})",
        "for i in range(30): session.run(z, {x: np.ones([2 ** (i % 5), 3])})",
    ],
    HEAD + RUN,
)
cases(
    "partial-batch",
    [
        "for i in range(24): session.run(z, {x: np.ones([1 if i % 12 == 11 else 4, 3])})",
        """
        data = np.ones([100, 3], np.float32)
        for epoch in range(2):
            for i in range(0, 100, 8): session.run(z, {x: data[i:i + 8]})
        """,
    ],
    [
        "for i in range(33): session.run(z, {x: np.ones([32 if i == 32 else 8, 3])})",
        "for i in range(12): session.run(z, {x: np.ones([[8, 4, 2][i % 3], 3])})",
    ],
    HEAD + RUN,
)
cases(
    "unscaled-input",
    [
        "session.run(tf.matmul(tf.identity(x), w), {x: np.full([2, 3], 255)})",
        """
        b = tf.placeholder(tf.uint8, [None, 3])
        session.run(tf.matmul(tf.cast(b, tf.float32), w), {b: np.full([2, 3], 200, np.uint8)})
        """,
        """
        image = tf.placeholder(tf.float32, [1, 4, 4, 1])
        k = tf.get_variable("k", [2, 2, 1, 1])
        session.run(k.initializer)
        picture = np.arange(0, 256, 16).reshape(1, 4, 4, 1)
        session.run(tf.nn.conv2d(image, k, [1, 1, 1, 1], "SAME"), {image: picture})
        """,
    ],
    [
        "session.run(z, {x: np.arange(240, 252).reshape(4, 3) + 0.5})",
        "session.run(z, {x: np.arange(-3, 249, 21).reshape(4, 3)})",
    ],
    HEAD + RUN,
)
PHASE = HEAD + RUN + """
    phase = tf.keras.backend.learning_phase()
    h = tf.keras.layers.Dropout(0.5)(z)
"""
cases(
    "constant-phase",
    [
        "for _ in range(20): session.run(h, {x: xs, phase: 1})",
        "for _ in range(10): session.run([h, z], {x: xs, phase: False})",
        "def guess(v): return session.run(h, {x: v, phase: 0})\nfor i in range(15): guess(xs * i)",
        "feed[phase] = 0\nfor _ in range(11): session.run([h, use], feed)",
    ],
    [
        "for _ in range(3): session.run(h, {x: xs, phase: 0})",
        "for i in range(20): session.run(h, {x: xs, phase: i < 19})",
        """
        p = tf.placeholder(tf.float32, [])
        product = z * p
        for _ in range(12): session.run(product, {x: xs, p: 0.0})
        """,
    ],
    PHASE,
)
cases(
    "unreached-ops",
    [
        "top = tf.nn.top_k(z)  # <-\nsession.run(use, feed)",
        "a = tf.reduce_max(z)  # <-\nfor _ in range(3): session.run(use, feed)",
        "def debug(v): return tf.reduce_mean(v)  # <-\ndebug(use)\nsession.run(use, feed)",
    ],
    [
        "hits = tf.reduce_mean(use); session.run(use, feed); session.run(hits, feed)",
        "tf.Print(z, [z]); session.run(use, feed)",
    ],
    HEAD + RUN,
)
cases(
    "many-sessions",
    [
        """
        def predict(v):
            session = tf.Session()  # <-
            kept.append(session)
        kept = []
        for i in range(9): predict(i)
        """,
        "kept = {i: tf.Session() for i in range(20)}  # <-",
    ],
    [
        "one = tf.Session()\nfor _ in range(20): one.run(tf.constant(1))",
        "kept = [tf.Session() for _ in range(5)]\nmore = [tf.Session() for _ in range(5)]",
    ],
)
cases(
    "dropout-in-runs",
    [
        """
        h = tf.nn.dropout(z, rate=0.2)  # <-
        guess = tf.argmax(h, 1)
        for i in range(15): session.run(guess, feed)
        """,
        """
        keep = tf.placeholder_with_default(0.5, [])
        d = tf.nn.dropout(z, keep_prob=keep)  # <-
        for _ in range(10): session.run([d, use], feed)
        """,
        """
        mask = tf.floor(0.5 + tf.random_uniform([3]))
        d = z * mask  # <-
        for _ in range(12): session.run(d, feed)
        """,
    ],
    [],
    HEAD + RUN,
)
cases(
    "fed-variable",
    ["for _ in range(11): session.run('MatMul:0', {x: xs, w: np.eye(3)})"],
    [
        "for _ in range(12): session.run(use, {use: xs})",
        "for i in range(9): session.run(z, {x: xs, w: np.eye(3) * i})",
    ],
    HEAD + RUN,
)
cases(
    "unrun-update",
    [
        """
        v = tf.get_variable("v", [3], use_resource=True)
        r = v.assign_sub(v * 0.1)  # <-
        session.run(v.initializer)
        for _ in range(101): session.run(use, feed)
        """,
        """
        r = tf.scatter_add(w, [0], [[1.0, 1.0, 1.0]])  # <-
        for _ in range(150): session.run(z, feed)
        """,
    ],
    [
        "for _ in range(120): session.run(use, feed)",
        "r = w.assign(w * 0.9)\nsession.run(r)\nfor _ in range(101): session.run(use, feed)",
    ],
    HEAD + RUN,
)
cases(
    "side-effect",
    [traced("seen.insert(0, a)  # <-", "return a")],
    [traced("return a + float(len('print'))")],
    FUNCTION,
)
QUEUE = HEAD + RUN + """
    queue = tf.FIFOQueue(3, tf.float32, [[]], name="queue")
    put, taken, errors = queue.enqueue(1.0), queue.dequeue(), tf.errors
    options = tf.RunOptions(timeout_in_ms=50)
    def wait(fetch, session=session):
        try: session.run(fetch, options=options)
        except (errors.DeadlineExceededError, errors.OutOfRangeError, errors.CancelledError): pass
"""
cases(
    "queue-not-filled",
    [
        "wait(taken)",
        "many = queue.dequeue_many(2)  # <-\nwait(many)",
        "twice = taken * 2.0\nwait(twice)",
        """
        other = tf.RandomShuffleQueue(3, 1, tf.float32, [[]])
        one = other.dequeue()  # <-
        session.run(put)
        wait(one)
        """,
        """
        values = tf.train.batch([tf.constant(1.0)], 2)  # <-
        wait(values)
        """,
        "wait([taken, w])",
    ],
    [
        "session.run(put); session.run(taken)",
        "wait(w)",
        "session.run([put, put])\nfor _ in range(1): session.run(taken)",
        """
        session.run(queue.enqueue_many([[1.0, 2.0]]))
        session.run(queue.dequeue_many(2))
        """,
        "session.run(queue.size())",
        """
        values = tf.train.batch([tf.constant(1.0)], 2)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        session.run(values)
        coordinator.request_stop()
        coordinator.join(threads)
        """,
    ],
    QUEUE,
)


@pytest.mark.parametrize(("rule", "text"), cases.bad, ids=name_of)
def test_the_mistake_is_found_at_its_line(rule, text):
    check_mistake(rule, text)


@pytest.mark.parametrize(("rule", "text"), cases.good, ids=name_of)
def test_nothing_is_found_in_near_programs(rule, text):
    check_near(rule, text)
