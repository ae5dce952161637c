"""Graphs of version 1 that are placed on a machine with two graphics cards. Each function of
PROGRAMS builds one in the default graph with the names of `tf`, which is set from outside."""

import numpy as np

tf = None


# ---- Dtypes, shapes, constants


def arithmetic():
    for dtype in (
        "float32 float64 float16 bfloat16 int8 uint8 int16 int32 int64 complex64 complex128".split()
    ):
        x = tf.placeholder(dtype, [2, 2], name=dtype)
        with tf.name_scope("of_" + dtype):
            tf.add(x, x, name="add")
            tf.multiply(x, x, name="multiply")
            tf.equal(x, x, name="equal")
            tf.reduce_sum(x, name="sum")
            tf.concat([x, x], 0, name="concat")
            tf.transpose(x, name="transpose")
            tf.cast(x, tf.float32, name="as_float")
            tf.cast(x, tf.int64, name="as_int64")
            tf.identity(x, name="identity")
            tf.zeros_like(x, name="zeros_like")


def truth_values():
    x, n = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder(tf.int64, [3], name="n")
    mask = tf.logical_and(tf.greater(x, 0.5), tf.not_equal(n, 0), name="mask")
    tf.reduce_any(mask, name="any")
    tf.cast(mask, tf.float32, name="weights")
    tf.where(mask, x, -x, name="chosen")
    tf.where(mask, n, -n, name="chosen_numbers")
    tf.boolean_mask(x, mask, name="kept")
    tf.reduce_all(tf.is_finite(x), name="all_finite")


def shapes():
    x, n = tf.placeholder(tf.float32, [None, 4], name="x"), tf.placeholder(tf.int32, [2], name="n")
    size = tf.shape(x, name="shape")
    rows = size[0] * 2
    tf.reshape(x, [rows, -1], name="reshaped")
    tf.reshape(n, [1, -1], name="reshaped_numbers")
    tf.shape(x, out_type=tf.int64, name="long_shape") + 1
    tf.size(x, name="size")
    tf.rank(x, name="rank")
    tf.fill(tf.stack([rows, 3]), 1.0, name="filled")
    tf.range(rows, name="range")
    tf.range(tf.cast(rows, tf.int64), name="long_range")
    tf.zeros(tf.shape(x), name="zeros")
    tf.tile(x, [2, 1], name="tiled")
    tf.expand_dims(n, 0, name="expanded")
    tf.slice(x, [0, 1], [1, 2], name="slice")
    tf.gather(n, [0], name="gathered_numbers")


def texts():
    text = tf.placeholder(tf.string, [None], name="text")
    words = tf.strings.join([text, "!"], name="joined")
    hashed = tf.strings.to_hash_bucket_fast(words, 10, name="hashed")
    tf.gather(tf.get_variable("vectors", [10, 3]), hashed, name="looked_up")
    tf.strings.to_number(text, name="numbers") * 2.0
    tf.identity(text, name="same_text")
    tf.reshape(text, [-1], name="reshaped_text")
    tf.as_string(tf.placeholder(tf.float32, [2], name="x"), name="written")


def random_numbers():
    tf.random_uniform([3], name="uniform")
    tf.random_uniform([3], 0, 10, tf.int32, name="whole")
    tf.random_normal([3], name="normal")
    tf.truncated_normal([3], name="truncated")
    tf.random_shuffle(tf.range(3), name="shuffled")
    tf.multinomial(tf.zeros([1, 3]), 2, name="drawn")
    tf.nn.dropout(tf.ones([3]), keep_prob=0.5, name="dropped")
    tf.random_gamma([3], 1.0, name="gamma")


# ---- Variables


def _updates(w, step, x):
    tf.assign(w, x, name="assign")
    tf.assign_add(w, x, name="assign_add")
    tf.assign_sub(w, x * 2.0, name="assign_sub")
    tf.assign_add(step, 1, name="count")
    tf.scatter_add(w, [0], x[:1], name="scatter")
    tf.cast(step, tf.float32, name="step_as_float")
    tf.identity(w, name="read")


def _variables(use_resource):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    zeros = tf.zeros_initializer()
    for place in ("", "/cpu:0", "/gpu:0", "/gpu:1"):
        scope = place.strip("/").replace(":", "_") or "anywhere"
        with tf.device(place or None), tf.variable_scope(scope, use_resource=use_resource):
            w = tf.get_variable("w", [2, 2])
            step = tf.get_variable("step", [], tf.int64, initializer=zeros)
            tf.get_variable("count", [], tf.int32, initializer=zeros)
            tf.get_variable("flag", initializer=np.array(True))
        with tf.name_scope("free/" + scope):
            _updates(w, step, x)
        with tf.device("/gpu:0"), tf.name_scope("on_card/" + scope):
            _updates(w, step, x)
        with tf.device("/cpu:0"), tf.name_scope("on_host/" + scope):
            _updates(w, step, x)


def variables_by_reference():
    _variables(False)


def variables_by_handle():
    _variables(True)


def optimizers():
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    for use_resource in (False, True):
        for optimizer in (
            tf.train.GradientDescentOptimizer(0.1),
            tf.train.MomentumOptimizer(0.1, 0.9),
            tf.train.AdamOptimizer(),
            tf.train.AdagradOptimizer(0.1),
            tf.train.RMSPropOptimizer(0.1),
            tf.train.FtrlOptimizer(0.1),
        ):
            name = f"{optimizer.get_name()}_{use_resource}"
            with tf.variable_scope(name, use_resource=use_resource):
                w, vectors = tf.get_variable("w", [3, 2]), tf.get_variable("vectors", [5, 3])
                near = tf.nn.embedding_lookup(vectors, tf.constant([1, 2, 1, 4], tf.int64))
                loss = tf.reduce_mean(tf.square(tf.matmul(x + near, w)))
                optimizer.minimize(loss, tf.train.get_or_create_global_step())


def savers():
    with tf.device("/gpu:0"):
        tf.get_variable("on_card", [3])
    with tf.device("/cpu:0"):
        tf.get_variable("on_host", [3])
    tf.get_variable("anywhere", [3], use_resource=True)
    tf.get_variable("step", [], tf.int64, initializer=tf.zeros_initializer())
    tf.train.Saver()
    tf.global_variables_initializer()
    tf.report_uninitialized_variables()


# ---- What is asked for


def soft_placement():
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    with tf.device("/gpu:7"):
        tf.tanh(x, name="no_such_card")
    with tf.device("/gpu:1"):
        tf.tanh(x, name="on_second")
        tf.strings.join(["a", "b"], name="text")
        tf.add(tf.shape(x), 1, name="numbers")
        tf.placeholder(tf.float32, [], name="fed")
        tf.constant(1.0, name="one")
        tf.constant("a", name="letter")
        tf.constant(1, name="whole_one")
    with tf.device("/cpu:0"):
        tf.tanh(x, name="on_host")
    with tf.device("/device:CPU:0"), tf.device("/gpu:1"):
        tf.tanh(x, name="inner_one")
    with tf.device("/job:localhost/replica:0/task:0/device:GPU:1"):
        tf.tanh(x, name="in_full")


def colocation():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/gpu:1"):
        second = tf.get_variable("second", [2])
        there = tf.tanh(x, name="there")
    with tf.device("/cpu:0"):
        host = tf.get_variable("host", [2])
    for name, other in ("second", second.op), ("there", there.op), ("host", host.op):
        with tf.colocate_with(other):
            tf.sigmoid(x, name=f"with_{name}")
            tf.constant([1, 2], name=f"constant_with_{name}")
            tf.add(tf.shape(x), 1, name=f"numbers_with_{name}")
    with tf.colocate_with(tf.get_default_graph().get_operation_by_name("with_second")):
        tf.exp(x, name="with_what_is_with_second")
    tf.gradients(tf.reduce_sum(there * second), [second, x], colocate_gradients_with_ops=True)


def towers():
    losses = []
    images = tf.placeholder(tf.float32, [8, 6], name="images")
    with tf.device("/cpu:0"):
        parts = tf.split(images, 2)
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            with tf.device("/cpu:0"):
                w = tf.get_variable("w", [6, 2])
            losses.append(tf.reduce_mean(tf.matmul(parts[i], w)))
    gradients = [
        tf.gradients(one, [w], colocate_gradients_with_ops=True)[0] for one in losses
    ]
    with tf.device("/cpu:0"):
        tf.assign_sub(w, tf.add_n(gradients), name="train")


# ---- Control flow, functions, arrays of tensors


def conditionals():
    x, p = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.bool, [], name="p")
    tf.cond(p, lambda: x * 2.0, lambda: tf.exp(x), name="floats")
    tf.cond(p, lambda: tf.shape(x) + 1, lambda: tf.shape(x), name="numbers")
    tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x, name="by_value")
    tf.case([(p, lambda: x + 1.0)], default=lambda: x - 1.0, name="case")
    tf.cond(p, lambda: tf.as_string(x), lambda: tf.constant(["a", "b"]), name="texts")


def loops():
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    w = tf.get_variable("w", [2, 2])
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x], name="counted"
    )
    tf.gradients(tf.reduce_sum(y), [w])
    tf.while_loop(lambda y: tf.reduce_max(y) < 9.0, lambda y: y * 2.0, [x], name="by_value")
    tf.map_fn(lambda row: row * 2.0, x, name="mapped")
    tf.scan(lambda a, row: a + row, x, name="scanned")
    array = tf.TensorArray(tf.float32, 2).unstack(x)
    array.write(0, array.read(1)).stack("stacked")


# ---- Input, output


def queues():
    queue = tf.FIFOQueue(9, [tf.float32, tf.int64, tf.string], [[2], [], []], name="queue")
    queue.enqueue([tf.zeros([2]), tf.constant(1, tf.int64), "a"], name="put")
    x, label, text = queue.dequeue(name="taken")
    tf.multiply(x, 2.0, name="doubled")
    tf.one_hot(label, 3, name="hot")
    tf.strings.join([text, "b"], name="joined")
    queue.size("size")
    queue.close(name="close")
    files = tf.train.string_input_producer(["a", "b"], name="files")
    _, line = tf.TextLineReader(name="reader").read(files, name="line")
    numbers = tf.decode_csv(line, [[1.0], [1]], name="csv")
    tf.train.batch(numbers, 4, name="batch")
    with tf.device("/gpu:0"):
        tf.FIFOQueue(3, [tf.float32], name="asks_for_card").dequeue(name="taken_from_it")


def datasets():
    data = tf.data.Dataset.from_tensor_slices((np.zeros([6, 2], np.float32), np.arange(6)))
    data = data.map(lambda x, n: (x * 2.0, n + 1)).shuffle(3).batch(2).repeat().prefetch(1)
    x, n = tf.data.make_one_shot_iterator(data).get_next("next")
    tf.tanh(x, name="used")
    tf.add(n, n, name="numbers_used")
    iterator = tf.data.make_initializable_iterator(data, "shared")
    tf.exp(iterator.get_next("other_next")[0], name="other_used")


def summaries():
    x = tf.placeholder(tf.float32, [2, 4, 4, 3], name="x")
    tf.summary.scalar("mean", tf.reduce_mean(x))
    tf.summary.histogram("values", x)
    tf.summary.image("pictures", x)
    tf.summary.merge_all(name="merged")
    tf.Print(x, [tf.reduce_sum(x)], "sum ", name="printed")
    with tf.control_dependencies([tf.assert_equal(tf.shape(x)[0], 2, name="checked")]):
        tf.identity(x, name="sure")
    tf.check_numerics(x, "bad", name="numeric")
    tf.py_func(lambda a: a, [x], tf.float32, name="called")


def pictures():
    image = tf.image.decode_png(tf.read_file("picture.png", name="read"), 3, name="decoded")
    image = tf.image.convert_image_dtype(image, tf.float32, name="converted")
    batch = tf.expand_dims(image, 0)
    tf.image.resize_bilinear(batch, [8, 8], name="bilinear")
    tf.image.resize_nearest_neighbor(batch, [8, 8], name="nearest")
    tf.image.resize_bicubic(batch, [8, 8], name="bicubic")
    tf.image.crop_and_resize(batch, [[0.0, 0.0, 1.0, 1.0]], [0], [4, 4], name="cropped")
    tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0]], [0.5], 1, name="boxes")
    tf.image.per_image_standardization(tf.reshape(image, [8, 8, 3]))
    tf.image.adjust_hue(image, 0.1, name="hue")
    tf.image.adjust_contrast(image, 0.1)
    tf.image.flip_left_right(tf.reshape(image, [8, 8, 3]))


def tables():
    keys = tf.placeholder(tf.string, [None], name="keys")
    values = tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)
    ids = tf.contrib.lookup.HashTable(values, -1, name="table").lookup(keys, name="found")
    tf.one_hot(ids, 3, name="hot")
    tf.mod(ids, 2, name="halved")
    tf.tables_initializer("begin")


# ---- Parts of models


def metrics():
    logits = tf.placeholder(tf.float32, [None, 10], name="logits")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    right = tf.equal(tf.argmax(logits, 1, name="guess"), labels, name="right")
    tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
    tf.nn.in_top_k(logits, labels, 3, name="among_three")
    tf.nn.top_k(logits, 2, name="best")
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="loss")
    tf.metrics.accuracy(labels, tf.argmax(logits, 1), name="kept_accuracy")
    tf.metrics.auc(tf.cast(right, tf.float32), tf.reduce_max(tf.nn.softmax(logits), 1), name="auc")
    tf.confusion_matrix(labels, tf.argmax(logits, 1), 10, name="confusion")


def words():
    ids = tf.placeholder(tf.int64, [None, 7], name="ids")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    vectors = tf.get_variable("vectors", [100, 4])
    looked_up = tf.nn.embedding_lookup(vectors, ids, name="looked_up")
    mask = tf.cast(tf.not_equal(ids, 0), tf.float32, name="mask")
    tf.reduce_sum(looked_up * tf.expand_dims(mask, -1), 1, name="summed")
    tf.sequence_mask(lengths, 7, tf.float32, name="sequence_mask")
    tf.unique(tf.reshape(ids, [-1]), name="unique")
    tf.add(ids, 1, name="next_ids")
    tf.reduce_sum(tf.cast(tf.not_equal(ids, 0), tf.int32), 1, name="counted")
    tf.nn.sampled_softmax_loss(
        tf.get_variable("weights", [100, 4]), tf.zeros([100]), ids[:, :1], looked_up[:, 0], 5, 100
    )
    sparse = tf.sparse_placeholder(tf.int64, [3, 7], name="sparse")
    tf.nn.embedding_lookup_sparse(vectors, sparse, None, combiner="mean", name="of_sparse")
    tf.sparse.to_dense(sparse, name="dense")


def linear_algebra():
    a = tf.placeholder(tf.float32, [3, 3], name="a")
    tf.matmul(a, a, name="product")
    tf.matmul(tf.cast(a, tf.int32), tf.ones([3, 3], tf.int32), name="whole_product")
    tf.matmul(tf.ones([3, 3], tf.int64), tf.ones([3, 3], tf.int64), name="long_product")
    tf.matrix_inverse(a, name="inverse")
    tf.cholesky(a, name="cholesky")
    tf.matrix_determinant(a, name="determinant")
    tf.matrix_solve(a, a, name="solved")
    tf.svd(a, name="svd")
    tf.qr(a, name="qr")
    tf.self_adjoint_eig(a, name="eigen")
    tf.einsum("ij,jk->ik", a, a, name="einsum")
    tf.diag(a[0], name="diag")
    tf.matrix_band_part(a, -1, 0, name="band")
    z = tf.complex(a, a, name="complex")
    tf.abs(z, name="size_of_complex")
    tf.fft(z, name="fft")
    tf.cumsum(a, name="running_sum")
    tf.lgamma(a, name="lgamma")
    tf.segment_sum(a, [0, 0, 1], name="segments")
    tf.dynamic_partition(a, [0, 1, 0], 2, name="parted")
    tf.dynamic_stitch([[0], [1]], [a[:1], a[1:2]], name="stitched")
    tf.reverse_sequence(a, [1, 2, 3], seq_axis=1, name="reversed")
    tf.roll(a, 1, 0, name="rolled")
    tf.space_to_depth(tf.reshape(a[:2, :2], [1, 2, 2, 1]), 2, name="to_depth")
    tf.bincount(tf.constant([1, 2, 2]))
    tf.setdiff1d([1, 2], [2], name="difference")
    tf.searchsorted([1.0, 2.0], [1.5], name="searched")
    tf.quantization.fake_quant_with_min_max_args(a, name="fake_quantized")


# ---- Models with their training steps


def _train(loss, optimizer=None):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(1e-3, step, 100, 0.9)
    (optimizer or tf.train.AdamOptimizer)(rate).minimize(loss, step)


def convolutional_network():
    images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    h = tf.layers.conv2d(images, 8, 5, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 16, 5, padding="same", use_bias=False)
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
    h = tf.layers.dropout(tf.layers.flatten(h), 0.5, training=True)
    logits = tf.layers.dense(tf.layers.dense(h, 32, tf.nn.relu), 10)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        _train(tf.losses.sparse_softmax_cross_entropy(labels, logits))
    tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32), name="accuracy")


def recurrent_network():
    words = tf.placeholder(tf.int32, [None, 12], name="words")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    h = tf.nn.embedding_lookup(tf.get_variable("vectors", [50, 8]), words)
    cell = tf.nn.rnn_cell.LSTMCell(16)
    outputs, _ = tf.nn.dynamic_rnn(cell, h, lengths, dtype=tf.float32)
    logits = tf.layers.dense(outputs, 50)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words, logits=logits)
    mask = tf.sequence_mask(lengths, 12, tf.float32)
    _train(tf.reduce_sum(losses * mask) / tf.reduce_sum(mask))


def transformer_layer():
    ids = tf.placeholder(tf.int64, [None, 6], name="ids")
    h = tf.nn.embedding_lookup(tf.get_variable("vectors", [30, 8]), ids)
    h += tf.get_variable("places", [6, 8])
    parts = [tf.layers.dense(h, 8, name=name) for name in ("query", "key", "value")]
    query, key, value = (tf.transpose(tf.reshape(p, [-1, 6, 2, 4]), [0, 2, 1, 3]) for p in parts)
    scores = tf.matmul(query, key, transpose_b=True) / np.float32(2)
    hidden = (1.0 - tf.cast(tf.not_equal(ids, 0), tf.float32)[:, None, None, :]) * -1e4
    mixed = tf.matmul(tf.nn.softmax(scores + hidden), value)
    h += tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, 6, 8])
    mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
    h = tf.nn.batch_normalization(h, mean, variance, None, None, 1e-6)
    h = tf.layers.dense(h, 16, lambda x: 0.5 * x * (1.0 + tf.erf(x / np.sqrt(2.0))))
    logits = tf.layers.dense(h, 30)
    _train(
        tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits)),
        lambda rate: tf.train.MomentumOptimizer(rate, 0.9),
    )


def adversarial_networks():
    real = tf.placeholder(tf.float32, [8, 20], name="real")
    with tf.variable_scope("generator", use_resource=True):
        made = tf.layers.dense(tf.layers.dense(tf.random_normal([8, 4]), 16, tf.nn.leaky_relu), 20)

    def judged(x):
        with tf.variable_scope("judge", reuse=tf.AUTO_REUSE, use_resource=True):
            return tf.layers.dense(tf.layers.dense(x, 16, tf.nn.leaky_relu), 1)

    loss = tf.nn.sigmoid_cross_entropy_with_logits
    good, bad = judged(real), judged(made)
    loss_of_judge = tf.reduce_mean(loss(labels=tf.ones_like(good), logits=good))
    loss_of_judge += tf.reduce_mean(loss(labels=tf.zeros_like(bad), logits=bad))
    variables = tf.trainable_variables("judge")
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss_of_judge, variables), 1.0)
    tf.train.RMSPropOptimizer(1e-3).apply_gradients(list(zip(gradients, variables)))
    tf.train.ExponentialMovingAverage(0.99).apply(variables)


PROGRAMS = [
    arithmetic,
    truth_values,
    shapes,
    texts,
    random_numbers,
    variables_by_reference,
    variables_by_handle,
    optimizers,
    savers,
    soft_placement,
    colocation,
    towers,
    conditionals,
    loops,
    queues,
    datasets,
    summaries,
    pictures,
    tables,
    metrics,
    words,
    linear_algebra,
    convolutional_network,
    recurrent_network,
    transformer_layer,
    adversarial_networks,
]
