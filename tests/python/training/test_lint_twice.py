"""Rules of lint about what is built again: programs with the mistakes, and near ones."""

import pytest
from lint_programs import Cases, check_mistake, check_near, name_of

cases = Cases()

cases(
    "duplicate-constant",
    [
        """
        a = np.arange(1 << 19, dtype=np.float32)
        b = tf.constant(a)
        c = tf.constant(a) + b  # <-
        """,
        """
        a = np.arange(1 << 20, dtype=np.uint8)
        b = tf.identity(a)
        c = tf.bitcast(a, tf.int8)  # <-
        """,
    ],
    [
        "a = np.arange(1 << 19, dtype=np.float32); b = tf.constant(a); c = tf.constant(a + 1) + b",
        "a = np.arange(1 << 10, dtype=np.float32); b = tf.constant(a); c = tf.constant(a) + b",
        "a = np.zeros(1 << 19, np.float32); b = tf.constant(a); c = tf.constant(a.reshape(2, -1))",
    ],
)
CHAIN = """
    def chain(v):
        for _ in range(15): v = tf.tanh(v) * 2.0
        return v
"""
cases(
    "duplicate-subgraph",
    [
        CHAIN + "    a = chain(x)\n    b = chain(x)\n    tf.add(a, b)",
        CHAIN + "    tf.stack([chain(z) for _ in range(2)])",
    ],
    [
        CHAIN + "    tf.add(chain(x), chain(y))",
        "tf.add(tf.tanh(x), tf.tanh(x))",
        "a = [tf.random_uniform([3]) for _ in range(30)]; tf.add_n(a)",
        CHAIN + """
    with tf.device("/cpu:0"): a = chain(x)
    b = chain(x)
    tf.add(a, b)""",
    ],
)
cases(
    "saver-in-loop",
    [
        "for _ in range(3): tf.train.Saver()  # <-",
        "for _ in range(5): tf.train.Saver([w])  # <-",
        "def saver(): return tf.train.Saver()  # <-\nfor _ in range(3): saver()",
    ],
    [
        "saver = tf.train.Saver()",
        "tf.train.Saver([w])\ntf.train.Saver()",
        "v = [tf.get_variable(f'v{i}', []) for i in range(3)]\nfor one in v: tf.train.Saver([one])",
    ],
)
cases(
    "initializer-in-loop",
    [
        "for _ in range(3): tf.global_variables_initializer()  # <-",
        "for _ in range(4): tf.variables_initializer([w])  # <-",
        "for _ in range(3): tf.initialize_all_variables()  # <-",
    ],
    [
        "tf.global_variables_initializer()",
        "tf.global_variables_initializer(); tf.local_variables_initializer()",
        """
        v = [tf.get_variable(f'v{i}', []) for i in range(3)]
        for one in v: tf.variables_initializer([one])
        """,
        "for _ in range(3): tf.no_op()",
    ],
)
cases(
    "summaries-in-loop",
    [
        """
        tf.summary.scalar('m', tf.reduce_mean(z))
        for _ in range(3): tf.summary.merge_all()  # <-
        """,
        "s = tf.summary.histogram('w', w)\nfor _ in range(4): tf.summary.merge([s])  # <-",
    ],
    [
        "tf.summary.scalar('m', tf.reduce_mean(z)); tf.summary.merge_all()",
        "for i in range(4): tf.summary.merge([tf.summary.scalar(f'm{i}', tf.reduce_mean(z))])",
    ],
)
cases(
    "training-in-loop",
    [
        """
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        for _ in range(10): optimizer.minimize(tf.reduce_sum(z))  # <-
        """,
        "for _ in range(12): tf.train.AdamOptimizer().minimize(tf.reduce_sum(z))  # <-",
    ],
    [
        "tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z))",
        "for i in range(4): tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z[i]))",
    ],
)
cases(
    "copied-layer",
    [
        """
        def model(v): return tf.layers.dense(v, 3)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(model(x)))
        guess = model(y)
        """,
    ],
    [
        """
        dense = tf.layers.Dense(3)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(dense(x)))
        guess = dense(y)
        """,
        "tf.layers.dense(tf.layers.dense(x, 3), 3)",
    ],
)
cases(
    "duplicate-constant",
    [
        "a = np.ones([600, 600])\nb = tf.constant(a)\nc = tf.constant(a.copy()) + b  # <-",
        """
        def table(): return tf.constant(np.arange(1 << 18))
        one = table() + 1
        two = table() + 2
        """,
        """
        a = np.random.rand(1 << 19).astype(np.float32)
        b = tf.Variable(a)
        c = tf.tanh(a)  # <-
        """,
    ],
    [
        "a = np.ones([600, 600]); b = tf.constant(a); c = b + tf.identity(b)",
        "a = np.ones([600, 600]); b = tf.constant(a); c = tf.constant(a.astype(np.float32)) + 1",
    ],
)
cases(
    "duplicate-subgraph",
    [
        CHAIN + "    a = chain(tf.matmul(z, w))\n    b = chain(tf.matmul(z, w))\n    tf.add(a, b)",
        CHAIN + "    tf.exp(chain(chain(x)))\n    tf.sin(chain(chain(x)))",
        """
        def features(v): return tf.add_n([tf.sin(v * float(i)) for i in range(12)])
        tf.add(features(x), features(x))
        """,
    ],
    [CHAIN + "    a = chain(x); tf.add(a, a)"],
)
cases(
    "saver-in-loop",
    [
        """
        with tf.Session() as session:
            for _ in range(3):
                saver = tf.train.Saver()  # <-
        """,
        "savers = [tf.train.Saver({'w': w}) for _ in range(6)]  # <-",
    ],
    [
        "tf.train.Saver(max_to_keep=1)\ntf.train.Saver(max_to_keep=9)",
        "for _ in range(2): tf.train.Saver()",
    ],
)
cases(
    "initializer-in-loop",
    [
        """
        v = tf.get_local_variable("v", [])
        for _ in range(3): tf.local_variables_initializer()  # <-
        """,
        "all = [tf.group(tf.global_variables_initializer()) for _ in range(5)]  # <-",
    ],
    ["for _ in range(2): tf.global_variables_initializer()"],
)
cases(
    "summaries-in-loop",
    [
        "tf.summary.histogram('w', w)\ntf.summary.scalar('n', tf.norm(w))\n"
        "for _ in range(9): m = tf.summary.merge_all()  # <-",
        "tf.summary.scalar('n', tf.norm(w))\na = [tf.summary.merge_all() for _ in range(3)]  # <-",
        "s = tf.summary.scalar('n', tf.norm(w))\nfor _ in range(7): tf.summary.merge([s])  # <-",
    ],
    [
        "s = tf.summary.scalar('n', tf.norm(w)); tf.summary.merge([s]); tf.summary.merge([s])",
        "for i in range(5): tf.summary.scalar(f'n{i}', tf.norm(w))",
        "tf.summary.histogram('w', w); m = tf.summary.merge_all(); n = [m] * 5",
    ],
)
cases(
    "training-in-loop",
    [
        """
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        for _ in range(10):
            train = optimizer.minimize(tf.reduce_mean(z))  # <-
        """,
        """
        def step(): return tf.train.RMSPropOptimizer(0.1).minimize(tf.reduce_mean(z))  # <-
        for _ in range(11): step()
        """,
        """
        v = tf.get_variable("r", [3], use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        for _ in range(10): optimizer.minimize(tf.reduce_mean(z * v))  # <-
        """,
    ],
    [
        """
        optimizer = tf.train.AdamOptimizer()
        for i in range(12):
            v = tf.get_variable(f"v{i}", [])
            optimizer.minimize(v * tf.reduce_mean(z), var_list=[v])
        """,
        "for _ in range(20): tf.gradients(tf.reduce_mean(z), w)",
        "for _ in range(3): tf.train.AdamOptimizer().minimize(tf.reduce_sum(z))",
    ],
)
cases(
    "copied-layer",
    [
        """
        def model(v):
            with tf.variable_scope(None, "net"): return tf.layers.dense(v, 3, name="a")
        train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(model(x)))
        guess = model(y)
        """,
        """
        def model(v): return tf.layers.conv1d(tf.reshape(v, [-1, 3, 1]), 2, 2)
        guess = model(y)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(
            tf.reduce_sum(model(x)), var_list=tf.trainable_variables("conv1d_1"))
        """,
    ],
    [
        """
        def model(v):
            with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
                return tf.layers.dense(v, 3, name="a")
        train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(model(x)))
        guess = model(y)
        """,
        """
        a, b = tf.layers.dense(x, 3), tf.layers.dense(y, 3)
        train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(a * b))
        """,
    ],
)


@pytest.mark.parametrize(("rule", "text"), cases.bad, ids=name_of)
def test_the_mistake_is_found_at_its_line(rule, text):
    check_mistake(rule, text)


@pytest.mark.parametrize(("rule", "text"), cases.good, ids=name_of)
def test_nothing_is_found_in_near_programs(rule, text):
    check_near(rule, text)
