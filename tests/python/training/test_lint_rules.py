"""Rules of lint about graphs: for each, programs that have the mistake, and near ones without."""

import pytest
from lint_programs import Cases, check_mistake, check_near, name_of

cases = Cases()

cases(
    "double-softmax",
    [
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tf.nn.softmax(z))  # <-",
        "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=tf.nn.softmax(z))  # <-",
        """
        p = tf.identity(tf.nn.softmax(z))
        n = tf.argmax(y, 1)
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=n, logits=p)  # <-
        """,
        "tf.losses.softmax_cross_entropy(y, tf.nn.softmax(z))  # <-",
        "tf.losses.softmax_cross_entropy(y, tf.nn.log_softmax(z))  # <-",
        """
        p = tf.layers.dense(x, 3, activation=tf.nn.softmax)
        tf.losses.sparse_softmax_cross_entropy(tf.argmax(y, 1), p)  # <-
        """,
        """
        loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)
        model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
        loss(y, model(x))  # <-
        """,
    ],
    [
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=z)",
        "tf.losses.softmax_cross_entropy(y, z); tf.nn.softmax(z)",
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(y), logits=z)",
        """
        softmax_loss(labels=y, logits=tf.matmul(tf.nn.softmax(z), w))
        """,
        "tf.keras.losses.CategoricalCrossentropy()(y, tf.nn.softmax(z))",
        "tf.keras.losses.SparseCategoricalCrossentropy()(tf.argmax(y, 1), tf.nn.softmax(z))",
    ],
)
cases(
    "double-sigmoid",
    [
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=tf.sigmoid(z))  # <-",
        "tf.losses.sigmoid_cross_entropy(y, tf.nn.sigmoid(z))  # <-",
        """
        p = tf.layers.dense(x, 3, tf.nn.sigmoid)
        tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=tf.identity(p))  # <-
        """,
        """
        s = tf.sigmoid(z)
        tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=s, pos_weight=2.0)  # <-
        """,
        "tf.keras.losses.BinaryCrossentropy(from_logits=True)(y, tf.sigmoid(z))  # <-",
    ],
    [
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(y), logits=z)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=tf.tanh(z))",
        "tf.keras.losses.BinaryCrossentropy()(y, tf.sigmoid(z))",
        "tf.nn.softplus(tf.sigmoid(z))",
    ],
)
cases(
    "log-of-softmax",
    [
        "tf.log(tf.nn.softmax(z))  # <-",
        "-tf.reduce_sum(y * tf.log(tf.nn.softmax(z)), 1)  # <-",
        "tf.log(tf.identity(tf.sigmoid(z)))  # <-",
        "tf.math.log(tf.nn.softmax(z, axis=-1))  # <-",
    ],
    [
        "tf.nn.log_softmax(z)",
        "tf.log(tf.nn.softmax(z) + 1e-7)",
        "tf.log(tf.clip_by_value(tf.nn.softmax(z), 1e-7, 1.0))",
        "tf.log_sigmoid(z)",
    ],
)
cases(
    "root-at-zero",
    [
        "s = tf.reduce_sum(tf.square(z)); r = tf.sqrt(s); tf.gradients(r, w)  # <-",
        "r = tf.sqrt(tf.reduce_sum(z * z, 1)); tf.gradients(r, w)  # <-",
        "r = tf.sqrt(tf.reduce_sum(tf.squared_difference(z, y), 1)); tf.gradients(r, w)  # <-",
        "r = tf.norm(z); tf.gradients(r, w)  # <-",
    ],
    [
        "tf.sqrt(tf.reduce_sum(tf.square(z)))",
        "r = tf.sqrt(tf.reduce_sum(tf.square(z)) + 1e-12); tf.gradients(r, w)",
        "r = tf.sqrt(tf.exp(z)); tf.gradients(r, w)",
        "r = tf.nn.l2_normalize(z, 1); tf.gradients(r, w)",
    ],
)
cases(
    "swapped-labels",
    [
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=z, logits=y)  # <-",
        "tf.losses.softmax_cross_entropy(tf.nn.softmax(z), y)  # <-",
        """
        o = tf.one_hot(tf.argmax(y, 1), 3)
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=o)  # <-
        """,
        """
        softmax_loss(labels=tf.stop_gradient(z), logits=tf.identity(y))  # <-
        """,
    ],
    [
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=z)",
        """
        softmax_loss(labels=tf.nn.softmax(z), logits=tf.matmul(z, w))
        """,
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)",
        "tf.losses.softmax_cross_entropy(tf.one_hot(tf.argmax(y, 1), 3), z)",
    ],
)
cases(
    "one-hot-labels",
    [
        """
        o = tf.reshape(tf.one_hot([1, 0], 3, dtype=tf.int32), [-1])
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=o, logits=z)  # <-
        """,
        """
        o = tf.cast(tf.reshape(tf.one_hot([1, 0], 3), [-1]), tf.int32)
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=o, logits=z)  # <-
        """,
        """
        o = tf.squeeze(tf.one_hot([1], 3, dtype=tf.int64), 0)
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=o, logits=z)  # <-
        """,
    ],
    [
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.argmax(y, 1), logits=z)",
        """
        sparse_loss(labels=tf.argmax(tf.one_hot([1], 3), 1), logits=z)
        """,
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot([1], 3), logits=z)",
    ],
)
COLUMNS = """
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    z = tf.layers.dense(x, 1)
"""
cases(
    "outer-broadcast",
    [
        "tf.reduce_mean(tf.square(y - z))  # <-",
        "tf.reduce_mean(tf.squared_difference(z, y))  # <-",
        "tf.reduce_sum(tf.abs(z - y))  # <-",
        "d = y - z  # <-\ntf.sqrt(tf.reduce_mean(d * d))",
        "tf.reduce_mean(tf.cast(tf.equal(tf.round(z), y), tf.float32))  # <-",
        "a = tf.zeros([8]); b = tf.zeros([8, 1]); tf.reduce_mean((a - tf.exp(b)) ** 2)  # <-",
    ],
    [
        "tf.reduce_mean(tf.square(y - tf.squeeze(z, 1)))",
        "tf.reduce_mean(tf.square(tf.reshape(y, [-1, 1]) - z))",
        "tf.reduce_sum(y - tf.expand_dims(y, 1))",
        "d = y - z; tf.reduce_sum(d, 1)",
        "tf.reduce_mean(tf.square(z - tf.zeros([1])))",
        "tf.reduce_mean(tf.square(y - z[0]))",
        "tf.reduce_mean(tf.square(x - z))",
    ],
    COLUMNS,
)
cases(
    "accidental-float64",
    [
        "a = tf.constant(np.ones([4, 3]))  # <-\ntf.matmul(tf.cast(a, tf.float32), w)",
        "a = tf.placeholder(tf.float64, [None, 3])  # <-\ntf.matmul(tf.cast(a, tf.float32), w)",
        "a = tf.constant(np.zeros([9]))  # <-\ntf.reshape(tf.to_float(a), [3, 3]) + w",
    ],
    [
        "a = tf.constant(np.ones([4, 3], np.float32)); tf.matmul(a, w)",
        "a = tf.cast(tf.constant(np.ones([4, 3])) * 2.0, tf.float64)",
        "tf.cast(tf.constant(3.0, tf.float64), tf.float32)",
        "a = tf.placeholder(tf.uint8, [None, 3]); tf.matmul(tf.cast(a, tf.float32), w)",
    ],
)
cases(
    "large-constant",
    [
        "a = tf.constant(np.zeros([11 << 18], np.float32)); a + 1  # <-",
        "tf.reduce_sum(np.ones([1000, 3000], np.float32))  # <-",
        "for i in range(9): tf.constant(np.full([2 << 20], i, np.float32)) + 1  # <-",
        """
        big = np.ones([3 << 20], np.float32)
        @tf.function
        def f(v): return v + tf.reduce_sum(big)  # <-
        f(tf.constant(1.0))
        """,
    ],
    [
        "tf.constant(np.zeros([1 << 18], np.float32)) + 1",
        "tf.zeros([1 << 24]) + 1",
        "tf.constant(0.0, shape=[1 << 16]) + 1",
    ],
)
cases(
    "medium-constant",
    ["a = tf.constant(np.zeros([3 << 18], np.float32)); a + 1  # <-"],
    ["a = tf.constant(np.zeros([3 << 10], np.float32)); a + 1"],
)
cases(
    "large-constant of a frozen graph",
    [],
    ["a = tf.constant(np.zeros([11 << 18], np.float32)); a + 1"],
    "",
)
cases(
    "device-ping-pong",
    [
        """
        v = x
        for i in range(4):
            with tf.device(f"/cpu:{i % 2}"): v = tf.tanh(v)  # <-
        """,
        """
        v = x
        for i in range(8):
            with tf.device("/gpu:0" if i % 2 else "/cpu:0"): v = v * 2.0  # <-
        """,
    ],
    [
        "v = x\nfor i in range(8):\n    with tf.device('/cpu:0'): v = tf.tanh(v)",
        "v = x\nfor i in range(8):\n    with tf.device(f'/cpu:{i}'): v = tf.tanh(v)",
        "with tf.device('/cpu:0'): a = tf.tanh(x)\nwith tf.device('/gpu:0'): b = tf.tanh(a)",
        """
        for i in range(8):
            with tf.device(f"/cpu:{i % 2}"): tf.tanh(x)
        """,
    ],
)
cases(
    "unused-check",
    [
        "tf.Print(x, [x])  # <-",
        "tf.assert_greater(tf.reduce_sum(x), 0.0)  # <-",
        "tf.Assert(tf.reduce_all(x > 0), [x])  # <-",
        "tf.check_numerics(z, 'z')  # <-",
        "tf.print(x)  # <-",
        "with tf.control_dependencies([z]): tf.Print(x, [x])  # <-",
    ],
    [
        "tf.reduce_sum(tf.Print(x, [x]))",
        "with tf.control_dependencies([tf.assert_greater(tf.reduce_sum(x), 0.0)]): z * 2.0",
        "tf.group(tf.Assert(tf.reduce_all(x > 0), [x]))",
        "tf.check_numerics(z, 'z') + 1.0",
        "p = tf.print('here')\nwith tf.Session() as session: session.run(p)",
        "@tf.function\ndef f(v):\n    tf.print(v)\n    return v\nf(x)",
    ],
)
cases(
    "unused-placeholder",
    [
        "p = tf.placeholder(tf.float32)  # <-",
        "p = tf.placeholder(tf.int32, [3])  # <-",
        "def inputs(): return x, tf.placeholder(tf.bool)  # <-\ninputs()",
    ],
    [
        "p = tf.placeholder(tf.float32, []); z * p",
        "p = tf.placeholder_with_default(1.0, [])",
        "p = tf.placeholder(tf.float32, [])\nwith tf.Session() as s: s.run(p, {p: 1.0})",
        "p = tf.placeholder(tf.float32, [])\nwith tf.control_dependencies([p]): tf.no_op()",
    ],
)
cases(
    "unused-updates",
    [
        """
        h = tf.layers.batch_normalization(z, training=True)  # <-
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
        """,
        """
        h = tf.layers.batch_normalization(tf.reshape(z, [-1, 1, 1, 3]), training=True)  # <-
        train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(h))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(12): session.run([train, use], feed)
        """,
        """
        t = tf.placeholder(tf.bool)
        h = tf.layers.batch_normalization(z, training=t)  # <-
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
        """,
    ],
    [
        """
        h = tf.layers.batch_normalization(z, training=True)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
        """,
        """
        h = tf.layers.batch_normalization(z, training=True)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
        both = tf.group(train, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        """,
        "h = tf.layers.batch_normalization(z, training=True)",
        """
        h = tf.layers.batch_normalization(z, training=False)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
        """,
        """
        average = tf.train.ExponentialMovingAverage(0.9)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z))
        keep = average.apply([w])
        """,
    ],
)
cases(
    "unread-variable",
    [
        "tf.get_variable('v', [3])  # <-",
        "tf.Variable(1.0)  # <-",
        "tf.get_variable('v', [3], use_resource=True)  # <-",
        "tf.layers.Dense(3).build([None, 3])  # <-",
    ],
    [
        "v = tf.get_variable('v', [3]); z * v",
        "tf.train.get_or_create_global_step(); tf.assign_add(tf.train.get_global_step(), 1)",
        """
        v = tf.get_variable('v', [3])
        with tf.Session() as s:
            s.run(v.initializer)
            s.run(v)
        """,
        "v = tf.get_variable('v', [3], use_resource=True); z * v",
        "tf.train.AdamOptimizer().minimize(tf.reduce_sum(z))",
        "tf.metrics.accuracy(tf.argmax(y, 1), tf.argmax(z, 1))",
    ],
)
cases(
    "untrained-variable",
    [
        """
        v = tf.get_variable("v", [3])  # <-
        z + v
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z))
        """,
        """
        v = tf.get_variable("v", [3])  # <-
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z * tf.stop_gradient(v)))
        """,
    ],
    [
        """
        v = tf.get_variable("v", [3])
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z * v))
        """,
        """
        v = tf.get_variable("v", [3], trainable=False)
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z * v))
        """,
        """
        v = tf.get_variable("v", [3, 3])
        copy = v.assign(w)
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z - tf.stop_gradient(v)))
        """,
        "v = tf.get_variable('v', [3]); z * v",
    ],
)
cases(
    "unknown-rank",
    ["p = tf.placeholder(tf.float32)  # <-\np + 1.0"],
    [
        "p = tf.placeholder(tf.float32, [None, None]); p + 1.0",
        "p = tf.placeholder(tf.float32, []); p + 1.0",
        "p = tf.placeholder(tf.string); tf.strings.length(p)",
    ],
)
cases(
    "one-hot-labels",
    [
        """
        o = tf.reshape(tf.one_hot(tf.argmax(y, 1), 3, dtype=tf.int64), [-1])
        tf.losses.sparse_softmax_cross_entropy(o, tf.zeros([9, 3]))  # <-
        """,
        """
        o = tf.cast(tf.squeeze(tf.one_hot([2], 3), 0), tf.int64)
        sparse_loss(labels=o, logits=z)  # <-
        """,
    ],
    ["sparse_loss(labels=tf.cast(y[:, 0], tf.int32), logits=z)", "tf.one_hot([1], 3)"],
)
cases(
    "accidental-float64",
    [
        "a = tf.constant(np.linspace(0, 1, 9))  # <-\ntf.cast(tf.reshape(a, [3, 3]), tf.float32)",
        "a = tf.placeholder(tf.float64, [3])  # <-\nz + tf.cast(a, tf.float32)",
    ],
    ["a = tf.constant(np.arange(9)); tf.cast(a, tf.float32)"],
)
cases(
    "device-ping-pong",
    [
        """
        v = x
        for i in range(5):
            with tf.device(["/cpu:0", "/cpu:1"][i % 2]):
                v = tf.matmul(v, w)  # <-
        """,
        """
        def there(v):
            with tf.device("/job:a/cpu:0"): return tf.tanh(v)
        def back(v):
            with tf.device("/job:b/cpu:0"): return tf.tanh(v)  # <-
        back(there(back(there(x))))
        """,
    ],
    [],
)
cases(
    "unused-placeholder",
    [
        "a, b = [tf.placeholder(tf.float32) for _ in range(2)]  # <-",
        "tf.placeholder(tf.string)  # <-",
    ],
    [],
)
cases(
    "untrained-variable",
    [
        """
        v = tf.get_variable("v", [3])  # <-
        guess = tf.argmax(z * v, 1)
        tf.train.AdamOptimizer().minimize(tf.reduce_sum(z))
        """,
        """
        v = tf.get_variable("v", [3, 3])  # <-
        loss = tf.reduce_sum(tf.cast(tf.matmul(x, v) > 0, tf.float32) + z)
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        """,
        """
        v = tf.Variable(tf.ones([3]))  # <-
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(z + tf.round(v)))
        """,
    ],
    [],
)
cases(
    "unknown-rank",
    [
        "p = tf.placeholder(tf.float32)  # <-\nz * p",
        "p = tf.placeholder(tf.float32, name='p')  # <-\ntf.reduce_sum(p)",
        "p, q = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [3])  # <-\np + q",
    ],
    ["p = tf.placeholder(tf.float32, [None]); p + 1.0", "p = tf.placeholder(tf.int32); p + 1"],
)
cases(
    "medium-constant",
    [
        "tf.add(np.ones([500, 600]), 1.0)  # <-",
        "a = tf.Variable(np.ones([1 << 20], np.float32)) + 1.0  # <-",
        "a = tf.constant(1, shape=[1 << 20])  # <-\ntf.reduce_sum(a)",
    ],
    ["tf.Variable(tf.ones([1 << 20])) + 1.0", "tf.placeholder(tf.float32, [1 << 20]) + 1.0"],
)


@pytest.mark.parametrize(("rule", "text"), cases.bad, ids=name_of)
def test_the_mistake_is_found_at_its_line(rule, text):
    check_mistake(rule, text)


@pytest.mark.parametrize(("rule", "text"), cases.good, ids=name_of)
def test_nothing_is_found_in_near_programs(rule, text):
    check_near(rule, text)
