"""More programs for rules of lint about values, variables and devices: see test_lint_rules.py."""

import pytest
from lint_programs import HEAD, Cases, check_mistake, check_near, name_of

cases = Cases()

PROBABLE = HEAD + "    p = tf.nn.softmax(z)\n"
cases(
    "log-at-zero",
    [
        "e = p * tf.log(p)  # <-\n-tf.reduce_sum(e)",
        "tf.reduce_sum(tf.log(p) * p, 1)  # <-",
        "q = tf.nn.softmax(y)\ntf.reduce_sum(p * tf.log(p / q))  # <-",
        "tf.multiply(tf.identity(y), tf.log(y))  # <-",
        "s = tf.sigmoid(z)\ntf.reduce_mean(s * -tf.log(s) * -1.0 + s * tf.log(s))  # <-",
        "a = tf.abs(z)\ntf.gradients(a * tf.log(a), w)  # <-",
    ],
    [
        "tf.math.xlogy(p, p)",
        "e = p + 1e-12; e * tf.log(e)",
        "p * tf.log(p + 1e-12)",
        "c = tf.clip_by_value(p, 1e-12, 1.0); c * tf.log(c)",
        "m = tf.maximum(p, 1e-12); m * tf.log(m)",
        "y * tf.log(p)",
        "p * tf.nn.log_softmax(z)",
    ],
    PROBABLE,
)
cases(
    "log-of-softmax",
    ["a = tf.nn.softmax(z)\nb = tf.log(a)  # <-\ntf.reduce_sum(y * b) + tf.reduce_sum(a)"],
    ["tf.log(1.0 + tf.nn.softmax(z))", "tf.log(tf.tanh(z))"],
)
cases(
    "root-at-zero",
    ["r = tf.sqrt(tf.reduce_sum(tf.square(w)))  # <-\ng = tf.gradients(tf.reduce_mean(z) * r, w)"],
    ["r = tf.sqrt(tf.reduce_sum(tf.abs(z))); tf.gradients(r, w)"],
)
cases(
    "swapped-labels",
    ["softmax_loss(labels=tf.tanh(z), logits=tf.cast(y, tf.float32))  # <-"],
    [
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=y)",
        "softmax_loss(labels=tf.one_hot([1], 3), logits=z)",
    ],
)
cases(
    "one-hot-labels", [], ["sparse_loss(labels=tf.cast(tf.reduce_sum(y, 1), tf.int32), logits=z)"]
)
cases(
    "large-constant",
    ["a = tf.constant(np.ones([12 << 20], np.uint8))  # <-\ntf.reduce_sum(tf.cast(a, tf.int32))"],
    [
        "tf.Variable(tf.zeros([12 << 18])) + 1.0",
        "tf.placeholder(tf.float32, [12 << 18]) + 1.0",
        "for i in range(5): tf.constant(np.full([2 << 18], i, np.float32)) + 1.0",
    ],
)
cases(
    "medium-constant",
    ["tf.reduce_sum(tf.constant(np.ones([3 << 20], np.uint8)))  # <-"],
    [
        "tf.constant(1.0, shape=[1 << 10]) + 1.0",
        "tf.constant(np.ones([1 << 16], np.float64)) + 1.0",
    ],
)
cases(
    "device-ping-pong",
    [
        """
        v = x
        for i in range(6):
            with tf.device("/task:%d/cpu:0" % (i % 2)): v = tf.identity(v) + 1.0  # <-
        """,
    ],
    [
        """
        v = x
        for i in range(6):
            with tf.device("/cpu:1" if i < 3 else "/cpu:0"): v = tf.tanh(v)
        """,
        """
        a = b = x
        for i in range(4):
            with tf.device("/cpu:0"): a = tf.tanh(a)
            with tf.device("/cpu:1"): b = tf.tanh(b)
        a + b
        """,
    ],
)
cases("unknown-rank", ["p = tf.placeholder(tf.float32, None)  # <-\ntf.nn.relu(p)"], [])
cases(
    "unread-variable",
    ["with tf.variable_scope('a'): v = tf.get_variable('b', [2, 2], trainable=True)  # <-"],
    [],
)
cases("unused-placeholder", [], ["p = tf.placeholder(tf.float32, [3]); tf.identity(p)"])
cases(
    "untrained-variable",
    [],
    ["tf.get_variable('v', [], tf.int32, trainable=False, initializer=tf.zeros_initializer())"],
)
cases(
    "unused-updates",
    [
        """
        h = tf.layers.batch_normalization(z, training=True, momentum=0.5)  # <-
        loss = tf.reduce_mean(tf.square(h - y))
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        """,
        """
        layer = tf.layers.BatchNormalization()
        h = layer.apply(z, training=True)  # <-
        train = tf.train.RMSPropOptimizer(0.1).minimize(tf.reduce_sum(h))
        """,
    ],
    [],
)
cases(
    "copied-layer",
    [
        """
        def model(v): return tf.layers.dense(v, 2, use_bias=False)
        guess = model(y)
        loss = tf.reduce_sum(model(x))
        tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables("dense_1"))
        """,
        """
        def model(v):
            with tf.variable_scope(None, "tower"):
                return tf.matmul(v, tf.get_variable("k", [3, 2]))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(model(x)))
        guess = model(y)
        """,
    ],
    [
        """
        a, b = tf.layers.dense(x, 3), tf.layers.dense(y, 5)
        train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(a))
        """,
    ],
)


@pytest.mark.parametrize(("rule", "text"), cases.bad, ids=name_of)
def test_the_mistake_is_found_at_its_line(rule, text):
    check_mistake(rule, text)


@pytest.mark.parametrize(("rule", "text"), cases.good, ids=name_of)
def test_nothing_is_found_in_near_programs(rule, text):
    check_near(rule, text)
