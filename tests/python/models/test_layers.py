"""Layers: the variables they make, where, and what they compute."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(0)
M = RANDOM.rand(4, 3).astype(np.float32)
X = RANDOM.rand(2, 6, 5, 3).astype(np.float32)


def names(collection=tf.GraphKeys.GLOBAL_VARIABLES):
    return [v.op.name for v in tf.get_collection(collection)]


def run(session, value, feed=None):
    session.run(tf.global_variables_initializer())
    return session.run(value, feed)


def test_dense_is_a_product_and_a_bias(sess):
    y = tf.layers.dense(M, 2, tf.nn.relu, bias_initializer=tf.ones_initializer())
    assert names() == ["dense/kernel", "dense/bias"]
    assert y.op.name == "dense/Relu"
    kernel, bias = tf.trainable_variables()
    got, w, b = run(sess, [y, kernel, bias])
    np.testing.assert_allclose(got, np.maximum(M @ w + b, 0), rtol=1e-5)


def test_dense_of_more_dimensions(sess):
    y = tf.layers.dense(X, 7, use_bias=False)
    assert y.shape.as_list() == [2, 6, 5, 7]
    got, w = run(sess, [y, tf.trainable_variables()[0]])
    np.testing.assert_allclose(got, X @ w, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="last dimension"):
        tf.layers.dense(tf.placeholder(tf.float32, [3, None]), 2)
    with pytest.raises(ValueError, match="min_ndim=2"):
        tf.layers.dense(M[0], 2)


def test_names_count_up_and_reuse_finds():
    tf.layers.dense(M, 2)
    tf.layers.dense(M, 2)
    with tf.variable_scope("in"):
        tf.layers.dense(M, 2, name="here")
    assert names()[::2] == ["dense/kernel", "dense_1/kernel", "in/here/kernel"]
    with pytest.raises(ValueError, match="already exists"):
        with tf.variable_scope("in"):
            tf.layers.dense(M, 2, name="here")
    with tf.variable_scope("in", reuse=True):
        again = tf.layers.dense(M, 2, name="here")
    with tf.variable_scope("in"):
        third = tf.layers.dense(M, 2, name="here", reuse=True)
    assert (again.op.name, third.op.name) == ("in_2/here/BiasAdd", "in_3/here/BiasAdd")
    assert len(names()) == 6
    with pytest.raises(ValueError, match="does not exist"):
        tf.layers.dense(M, 2, name="nowhere", reuse=True)


def test_a_layer_may_be_called_again(sess):
    layer = tf.layers.Dense(2)
    first, second = layer(M), layer.apply(M)
    assert [v.op.name for v in layer.weights] == ["dense/kernel", "dense/bias"]
    assert layer.built and layer.count_params() == 8 and layer.scope_name == "dense"
    np.testing.assert_array_equal(*run(sess, [first, second]))
    with pytest.raises(ValueError, match="has not been used"):
        _ = tf.layers.Dense(2).scope_name


def test_regularizers_are_collected_once():
    for reuse in (None, True):
        tf.layers.dense(M, 2, name="d", kernel_regularizer=tf.nn.l2_loss, reuse=reuse)
    losses = tf.losses.get_regularization_losses()
    assert [t.op.name for t in losses] == ["d/kernel/Regularizer/L2Loss"]


def test_convolutions(sess):
    y = tf.layers.conv2d(X, 4, [3, 2], strides=2, padding="same", name="c")
    kernel, bias = tf.trainable_variables()
    assert names() == ["c/kernel", "c/bias"]
    assert kernel.shape.as_list() == [3, 2, 3, 4]
    same = tf.nn.conv2d(X, kernel, [1, 2, 2, 1], "SAME") + bias
    np.testing.assert_allclose(*run(sess, [y, same]), rtol=1e-5)
    assert tf.layers.conv1d(X[:, 0], 4, 3).shape.as_list() == [2, 3, 4]
    assert tf.layers.conv3d(X[None], 4, 2).shape.as_list() == [1, 1, 5, 4, 4]
    assert tf.layers.conv2d(X, 4, 2, dilation_rate=2).shape.as_list() == [2, 4, 3, 4]
    for wrong in (dict(padding="some"), dict(data_format="first"), dict(strides=(1, 2, 3))):
        with pytest.raises(ValueError):
            tf.layers.conv2d(X, 4, 3, **wrong)
    with pytest.raises(ValueError, match="channel dimension"):
        tf.layers.conv2d(tf.placeholder(tf.float32, [2, 6, 6, None]), 4, 3)


def test_transposed_and_separable_convolutions(sess):
    up = tf.layers.conv2d_transpose(X, 4, 3, 2, "same")
    assert up.shape.as_list() == [2, 12, 10, 4]
    late = tf.placeholder(tf.float32, [None, None, None, 3])
    wide = tf.layers.conv2d_transpose(late, 4, 5, 2)
    both = tf.layers.separable_conv2d(X, 4, 3, depth_multiplier=2)
    assert [v.op.name for v in tf.trainable_variables()][-3:] == [
        "separable_conv2d/depthwise_kernel",
        "separable_conv2d/pointwise_kernel",
        "separable_conv2d/bias",
    ]
    got = run(sess, [up, wide, both], {late: X})
    assert [g.shape for g in got] == [(2, 12, 10, 4), (2, 15, 13, 4), (2, 4, 3, 4)]
    assert tf.layers.separable_conv1d(X[:, 0], 4, 3).shape.as_list() == [2, 3, 4]


def test_dropout_follows_training(sess):
    flag = tf.placeholder(tf.bool, [])
    ones = tf.ones([1000])
    y = tf.layers.dropout(ones, 0.3, training=flag, seed=1)
    assert sess.run(y, {flag: False}).tolist() == [1.0] * 1000
    kept = sess.run(y, {flag: True})
    assert 600 < np.count_nonzero(kept) < 800
    np.testing.assert_allclose(kept[kept > 0], 1 / 0.7, rtol=1e-5)
    assert tf.layers.dropout(ones).op.type == "Identity"
    assert np.count_nonzero(sess.run(tf.layers.dropout(ones, 0.3, training=True))) < 800


def test_flatten():
    assert tf.layers.flatten(X).shape.as_list() == [2, 90]
    late = tf.placeholder(tf.float32, [None, 3, None])
    assert tf.layers.flatten(late).shape.as_list() == [None, None]


@pytest.mark.parametrize("training", [True, "late"])
def test_batch_normalization_keeps_averages(training, sess):
    flag = tf.placeholder_with_default(True, []) if training == "late" else True
    y = tf.layers.batch_normalization(M, momentum=0.9, training=flag)
    mean, variance = tf.global_variables()[2:]
    assert names() == ["batch_normalization/" + n for n in
                       ("gamma", "beta", "moving_mean", "moving_variance")]  # fmt: skip
    assert len(tf.trainable_variables()) == 2
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2
    expected = (M - M.mean(0)) / np.sqrt(M.var(0) + 1e-3)
    np.testing.assert_allclose(run(sess, y), expected, rtol=1e-3, atol=1e-4)
    sess.run(updates)
    np.testing.assert_allclose(sess.run(mean), 0.1 * M.mean(0), rtol=1e-4)
    np.testing.assert_allclose(sess.run(variance), 0.9 + 0.1 * M.var(0), rtol=1e-4)
    if training == "late":
        averages = sess.run([mean, variance])
        sess.run(updates, {flag: False})
        np.testing.assert_array_equal(sess.run([mean, variance]), averages)
        plain = (M - averages[0]) / np.sqrt(averages[1] + 1e-3)
        np.testing.assert_allclose(sess.run(y, {flag: False}), plain, rtol=1e-4)


def one_step(sess, training, settings):
    """What renorm or virtual batches give, and the variables after two updates."""
    with tf.variable_scope(None, "either", initializer=tf.ones_initializer()):
        y = tf.layers.batch_normalization(M, momentum=0.9, training=training, **settings)
    updates = tf.get_collection_ref(tf.GraphKeys.UPDATE_OPS)
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        sess.run(updates)
    values = sess.run([y, *tf.global_variables()])
    tf.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES).clear()
    updates.clear()
    return values


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "settings",
    [
        {"renorm": True, "renorm_momentum": 0.8, "renorm_clipping": {"rmax": 1.1, "dmax": 0.2}},
        {"virtual_batch_size": 2},
    ],
)
def test_batch_normalization_of_batches_takes_a_tensor_too(settings, training, sess):
    known = one_step(sess, training, settings)
    late = one_step(sess, tf.placeholder_with_default(training, []), settings)
    assert len(known) == len(late)
    for one, other in zip(known, late, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_layers_take_dicts(sess):
    class Sum(tf.layers.Layer):
        def build(self, shapes):
            lists = {name: shape.as_list() for name, shape in shapes.items()}
            assert lists == {"a": [4, 3], "b": []}
            self.built = True

        def call(self, inputs):
            return inputs["a"] + inputs["b"]

    layer = Sum()
    y = layer.apply({"a": tf.constant(M), "b": tf.constant(1.0)})
    np.testing.assert_allclose(sess.run(y), M + 1)


def test_each_part_of_a_variable_is_regularized(sess):
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        layer = tf.layers.Dense(
            2,
            kernel_initializer=tf.ones_initializer(),
            kernel_regularizer=lambda part: tf.reduce_sum(part),
        )
        layer.apply(tf.ones([1, 6]))
    assert len(layer.losses) == 3 and len(tf.losses.get_regularization_losses()) == 3
    assert run(sess, layer.losses) == [4.0, 4.0, 4.0]


def test_an_lstm_cell_in_parts(sess):
    def cell(**settings):
        return tf.nn.rnn_cell.LSTMCell(
            4, num_proj=2, initializer=tf.constant_initializer(0.1), **settings
        )

    state = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([4, 4]), tf.ones([4, 2]))
    with tf.variable_scope("whole"):
        whole = cell()(M, state)
    with tf.variable_scope("parts"):
        parts = cell(num_unit_shards=2, num_proj_shards=3)(M, state)
    found = [(v.op.name, v.shape.as_list()) for v in tf.global_variables("parts")]
    assert found == [
        ("parts/lstm_cell/kernel/part_0", [3, 16]),
        ("parts/lstm_cell/kernel/part_1", [2, 16]),
        ("parts/lstm_cell/bias", [16]),
        ("parts/lstm_cell/projection/kernel/part_0", [2, 2]),
        ("parts/lstm_cell/projection/kernel/part_1", [1, 2]),
        ("parts/lstm_cell/projection/kernel/part_2", [1, 2]),
    ]
    expected, got = run(sess, [whole, parts])
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(got[1].c, expected[1].c, rtol=1e-6)


def test_batch_normalization_for_use():
    tf.layers.batch_normalization(M)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    with pytest.raises(ValueError, match="not fused with renorm"):
        tf.layers.batch_normalization(X, renorm=True, fused=True)
    with pytest.raises(ValueError, match="renorm_clipping"):
        tf.layers.batch_normalization(M, renorm=True, renorm_clipping={"min": 1.0})
    with pytest.raises(ValueError, match="Invalid axis"):
        tf.layers.batch_normalization(M, axis=5)


def test_a_layer_of_ones_own(sess):
    class Scale(tf.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight(
                "factor", [input_shape[-1].value], initializer=tf.constant_initializer(2.0)
            )
            self.built = True

        def call(self, inputs):
            return inputs * self.factor

    np.testing.assert_allclose(run(sess, Scale()(M)), M * 2)
    assert names() == ["scale/factor"]


def test_a_getter_says_what_is_trained():
    def fixed(getter, *args, **kwargs):
        return getter(*args, **{**kwargs, "trainable": False})

    with tf.Graph().as_default(), tf.variable_scope("root", custom_getter=fixed):
        cell, dense = tf.nn.rnn_cell.BasicRNNCell(2), tf.layers.Dense(2)
        cell(tf.zeros([1, 2]), tf.zeros([1, 2]))
        dense(tf.zeros([1, 2]))
        for layer in (cell, dense):
            assert layer.trainable_variables == [] and len(layer.non_trainable_variables) == 2
        assert tf.trainable_variables() == []


def test_losses_and_updates_are_told_by_the_inputs_they_need():
    class Counting(tf.layers.Layer):
        def build(self, shape):
            self.seen = self.add_variable("seen", [], trainable=False)
            self.add_loss(self.seen)
            self.add_update(tf.assign_add(self.seen, 1.0))

        def call(self, inputs):
            self.add_loss(inputs, inputs=inputs)
            self.add_update(tf.assign(self.seen, inputs), inputs=True)
            return inputs + 1

    layer = Counting()
    first, second = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    outputs = [layer(x * 2) for x in (first, second)]
    assert len(layer.losses) == len(layer.updates) == 3
    for told in (layer.get_losses_for, layer.get_updates_for):
        assert len(told(None)) == 1 and len(told([first])) == len(told(second)) == 1
        assert told(first) != told(second) and told(outputs) == []
    normal = tf.layers.BatchNormalization()
    x = tf.placeholder(tf.float32, [None, 3])
    normal(x, training=True)
    assert len(normal.get_updates_for(x)) == 2 and normal.get_updates_for(None) == []
    regular = tf.layers.Layer(activity_regularizer=tf.reduce_sum)
    regular(x)
    assert len(regular.get_losses_for(x)) == 1


def test_layers_ask_for_a_dtype_and_a_shape():
    layer = tf.layers.Layer()
    layer.input_spec = tf.layers.InputSpec(dtype="float32", shape=(None, 3))
    layer(tf.placeholder(tf.float32, [2, 3]))
    with pytest.raises(ValueError, match="expected dtype=float32, found dtype=int32"):
        layer(tf.placeholder(tf.int32, [2, 3]))
    with pytest.raises(ValueError, match="expected shape=.*, found shape"):
        layer(tf.placeholder(tf.float32, [2, 4]))


def test_dense__the_last_dimension_has_to_be_known():
    layer = tf.layers.Dense(5)
    assert layer.compute_output_shape(tf.TensorShape([None, 3])).as_list() == [None, 5]
    for shape in (None, [], [3], [1, None]):
        with pytest.raises(ValueError):
            layer.compute_output_shape(tf.TensorShape(shape))


def test_add_weight__what_is_put_together_on_reading_is_not_trained():
    layer = tf.layers.Layer(name="layer")
    on_read = tf.VariableSynchronization.ON_READ
    v = layer.add_weight("v", [2], synchronization=on_read)
    assert layer.trainable_weights == [] and layer.non_trainable_weights == [v]
    with pytest.raises(ValueError, match="ON_READ only for non-trainable"):
        layer.add_weight("w", [2], synchronization=on_read, trainable=True)


def test_pooling_needs_strides():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="`strides` must not be None"):
        tf.layers.max_pooling2d(tf.zeros([1, 4, 4, 1]), 2, None)
