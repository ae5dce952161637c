"""Operations without a seed take the number of those before them: that of TensorFlow 1.15."""

import pytest
import rheos.v1 as tf

# How many operations TensorFlow 1.15.5 makes of each.
RECORDED = """
11 | r.shuffle(30, seed=1)
11 | r.shuffle(3)
13 | r.shuffle(3, reshuffle_each_iteration=False).repeat()
6 | r.make_initializable_iterator()
7 | r.make_initializable_iterator().get_next()
12 | r.map(lambda v: v).batch(2).prefetch(1).make_initializable_iterator()
19 | r.shuffle(3).repeat().batch(2).make_one_shot_iterator().get_next()
3 | tf.data.Iterator.from_structure(r.output_types, r.output_shapes).make_initializer(r)
5 | r.with_options(untuned).make_initializable_iterator()
8 | r.with_options(threaded).make_initializable_iterator()
4 | D.from_generator(lambda n: iter([n]), tf.int32, [], args=(3,))
33 | D.list_files("/*")
5 | tf.data.TextLineDataset("a")
10 | tf.data.TextLineDataset(["a", "b"], num_parallel_reads=2)
5 | tf.data.TFRecordDataset("a", "GZIP", 100)
5 | tf.data.FixedLengthRecordDataset("a", 4, 1, 2)
10 | tf.data.experimental.RandomDataset()
4 | tf.data.experimental.SqlDataset("sqlite", "a", "b", tf.int32)
19 | tf.data.experimental.sample_from_datasets([r, r], [0.5, 0.5])
5 | r.batch(2).unbatch()
12 | r.apply(tf.data.experimental.shuffle_and_repeat(3))
3 | r.apply(tf.data.experimental.copy_to_device("/cpu:0"))
5 | r.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
7 | r.map(lambda v: v + 1, 2).filter(lambda v: v < 3).take(2).cache()
4 | r.apply(tf.data.experimental.map_and_batch(lambda v: v, 2))
10 | tf.get_variable("v", [2, 2])
11 | tf.get_variable("v", [2, 2], use_resource=True)
7 | tf.get_variable("v", [2, 2], initializer=tf.initializers.identity())
8 | tf.get_variable("v", [2, 3], initializer=tf.initializers.identity())
17 | tf.get_variable("v", [2, 2], initializer=tf.orthogonal_initializer())
10 | tf.Variable(tf.random_uniform([2], -1, 1))
9 | w.initialized_value()
15 | tf.Variable(1.0, use_resource=True).initialized_value()
31 | tf.train.ExponentialMovingAverage(0.9).apply([w])
13 | tf.train.ExponentialMovingAverage(0.9).apply([w * 2.0])
29 | tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1.0, use_resource=True)])
17 | tf.layers.dense(x, 3, tf.nn.relu)
73 | tf.layers.batch_normalization(x, training=tf.placeholder(tf.bool, []))
16 | tf.layers.dropout(x, training=True)
40 | tf.contrib.layers.fully_connected(x, 3, normalizer_fn=tf.contrib.layers.batch_norm)
19 | tf.layers.conv2d(tf.reshape(x, [2, 4, 4, 1]), 2, 3)
4 | tf.nn.swish(x)
26 | tf.nn.zero_fraction(x)
8 | tf.nn.moments(x, [0])
147 | tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(2), tf.expand_dims(x, 1), dtype=tf.float32)
174 | tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x[:, None], [1] * 8, dtype=tf.float32)
48 | tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(2), [x], dtype=tf.float32)
61 | tf.losses.mean_pairwise_squared_error(x, x)
63 | tf.losses.softmax_cross_entropy(x, x)
42 | tf.losses.huber_loss(x, x)
22 | tf.metrics.accuracy(x, x)
170 | tf.metrics.auc(x > 0, x)
268 | tf.metrics.auc(x > 0, x, curve="PR", summation_method="careful_interpolation")
93 | tf.metrics.precision_at_thresholds(x > 0, x, [0.5])
76 | tf.metrics.true_positives_at_thresholds(x > 0, x, [0.5])
77 | tf.metrics.false_negatives_at_thresholds(x > 0, x, [0.5])
168 | tf.metrics.sensitivity_at_specificity(x > 0, x, 0.5)
34 | tf.metrics.recall_at_k(tf.ones([8, 1], tf.int64), x, 2)
168 | tf.metrics.precision_at_k(tf.ones([8, 1], tf.int64), x, 2, weights=1.0)
118 | tf.metrics.recall_at_k(tf.ones([8, 1], tf.int64), x, 2, class_id=1)
94 | tf.metrics.average_precision_at_k(tf.ones([8, 1], tf.int64), x, 2)
64 | tf.train.AdamOptimizer().minimize(loss)
48 | tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step)
56 | tf.train.RMSPropOptimizer(0.1, centered=True).minimize(loss)
53 | tf.train.FtrlOptimizer(0.1).minimize(loss)
41 | tf.train.piecewise_constant(step, [1], [0.1, 0.2])
98 | tf.train.piecewise_constant(step, [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4, 0.5])
57 | tf.train.piecewise_constant(tf.placeholder(tf.float32, []), [1.0, 2.0], [0.1, 0.2, 0.3])
9 | tf.train.exponential_decay(0.1, step, 10, 0.9, staircase=True)
26 | tf.train.polynomial_decay(0.1, step, 10, cycle=True)
53 | tf.train.cosine_decay_restarts(0.1, step, 10)
53 | tf.train.cosine_decay_restarts(0.1, step, 10, t_mul=1.0)
13 | tf.train.Saver()
2 | tf.summary.histogram("a", x)
12 | tf.while_loop(lambda k: k < 3, lambda k: k + 1, [0])
14 | tf.cond(x[0, 0] > 0, lambda: x, lambda: -x)
21 | tf.train.shuffle_batch([x[0]], 2, 10, 3)
19 | tf.train.string_input_producer(["a", "b"])
"""


def names_in_cases():
    untuned, threaded = tf.data.Options(), tf.data.Options()
    untuned.experimental_optimization.autotune = False
    threaded.experimental_threading.private_threadpool_size = 3
    x = tf.placeholder(tf.float32, [8, 4])
    w = tf.get_variable("w", [4, 2])
    step = tf.train.get_or_create_global_step()
    return {
        "tf": tf,
        "D": tf.data.Dataset,
        "r": tf.data.Dataset.range(6),
        "untuned": untuned,
        "threaded": threaded,
        "x": x,
        "w": w,
        "step": step,
        "loss": tf.reduce_sum(tf.matmul(x, w) ** 2),
    }


@pytest.mark.parametrize("line", RECORDED.strip().splitlines())
def test_later_seeds_are_those_of_version_1(line):
    number, _, case = line.partition(" | ")
    tf.reset_default_graph()
    tf.set_random_seed(4)
    names = names_in_cases()
    before = tf.get_seed(None)[1]
    eval(case, names)
    assert tf.get_seed(None)[1] - before == int(number)
    assert tf.random_shuffle(names["x"]).op.get_attr("seed2") == before + int(number)


def test_operations_of_functions_are_counted_apart():
    tf.reset_default_graph()
    tf.set_random_seed(4)
    before = tf.get_seed(None)[1]
    tf.data.Dataset.range(3).map(lambda v: tf.nn.swish(tf.cast(v, tf.float32)))
    assert tf.get_seed(None)[1] - before == 5
