"""tf.contrib.layers: initializers and regularizers."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.mark.parametrize("uniform", [True, False])
def test_xavier(uniform, sess):
    initializer = tf.contrib.layers.xavier_initializer(uniform=uniform, seed=1)
    values = sess.run(initializer([300, 100]))
    np.testing.assert_allclose(values.var(), 2 / 400, rtol=0.05)
    if uniform:
        assert abs(values).max() <= np.sqrt(6 / 400)


def test_regularizers(sess):
    weights = tf.constant([[1.0, -2.0], [3.0, 0.0]])
    l2 = tf.contrib.layers.l2_regularizer(0.1)(weights)
    l1 = tf.contrib.layers.l1_regularizer(0.5)(weights)
    np.testing.assert_allclose(sess.run([l2, l1]), [0.7, 3.0], rtol=1e-6)
    assert tf.contrib.layers.l2_regularizer(0.0)(weights) is None
    for wrong in (1, -0.5, "much"):
        with pytest.raises(ValueError):
            tf.contrib.layers.l2_regularizer(wrong)


def test_regularizers_of_variables():
    tf.get_variable("w", [2], regularizer=tf.contrib.layers.l2_regularizer(0.1))
    names = [t.op.name for t in tf.losses.get_regularization_losses()]
    assert names == ["w/Regularizer/l2_regularizer"]


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="tf.contrib.layers.input_from_feature_columns"):
        tf.contrib.layers.input_from_feature_columns


def test_arg_scope__is_for_decorated_functions():
    framework = tf.contrib.framework

    @framework.add_arg_scope
    def pair(a, b=1):
        return a, b

    with framework.arg_scope([pair], b=2) as scope:
        assert pair(0) == (0, 2) and pair(0, b=3) == (0, 3)
        with framework.arg_scope([pair], a=5):
            assert pair() == (5, 2)
    assert pair(0) == (0, 1)
    with framework.arg_scope(scope):
        assert pair(0) == (0, 2)
    assert framework.has_arg_scope(pair) and framework.arg_scoped_arguments(pair) == ("b",)
    with pytest.raises(ValueError, match="not decorated"):
        with framework.arg_scope([len], b=2):
            pass
    with pytest.raises(ValueError, match="kwargs must be empty"):
        framework.arg_scope(scope, b=2)


def test_variables_are_found_by_name():
    layers, framework = tf.contrib.layers, tf.contrib.framework
    layers.fully_connected(layers.linear(tf.ones([2, 3]), 4, scope="one"), 2, scope="two")

    def names(variables):
        return [v.op.name for v in variables]

    assert names(framework.get_variables("one")) == ["one/weights", "one/biases"]
    assert names(framework.get_variables_by_name("biases")) == ["one/biases", "two/biases"]
    assert names(framework.get_variables_by_suffix("weights", "two")) == ["two/weights"]
    assert names(framework.get_variables_to_restore(exclude=["one"])) == [
        "two/weights",
        "two/biases",
    ]
    assert names(
        framework.filter_variables(
            framework.get_model_variables(), include_patterns=["two"], exclude_patterns=["bias"]
        )
    ) == ["two/weights"]
    assert framework.get_unique_variable("one/biases").op.name == "one/biases"
    with pytest.raises(ValueError, match="find variable"):
        framework.get_unique_variable("three")


def test_values_are_assigned_by_name(sess):
    variable = tf.contrib.framework.local_variable(tf.zeros([2]), name="v")
    tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, variable)
    operation, feed = tf.contrib.framework.assign_from_values({"v": np.array([1.0, 2.0])})
    sess.run(operation, feed)
    np.testing.assert_array_equal(sess.run(variable), [1.0, 2.0])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tf, x: tf.contrib.layers.fully_connected(x, 2.5),
        lambda tf, x: tf.contrib.layers.conv2d(x, 2, 3),
        lambda tf, x: tf.contrib.layers.conv2d(tf.zeros([1, 4, 4, 1]), 2, 3, data_format="CHWN"),
        lambda tf, x: tf.contrib.layers.batch_norm(x, data_format="NC"),
        lambda tf, x: tf.contrib.layers.layer_norm(x, begin_norm_axis=2),
        lambda tf, x: tf.contrib.layers.group_norm(x, groups=2),
        lambda tf, x: tf.contrib.layers.maxout(x, 2),
        lambda tf, x: tf.contrib.layers.unit_norm(x, 2),
        lambda tf, x: tf.contrib.layers.embed_sequence(tf.constant([[1]])),
        lambda tf, x: tf.contrib.layers.apply_regularization(lambda w: None, []),
        lambda tf, x: tf.contrib.layers.optimize_loss(x[0, 0], None, 0.1, "Newton"),
        lambda tf, x: tf.contrib.layers.optimize_loss(x[0, 0], None, 0.1, "SGD", summaries=["a"]),
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ValueError):
        wrong(tf, tf.ones([2, 3]))


def test_variables_are_assigned_from_checkpoints(sess, tmp_path):
    framework = tf.contrib.framework
    saved = tf.get_variable("saved", initializer=[1.0, 2.0, 3.0, 4.0])
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver([saved]).save(sess, str(tmp_path / "model"))
    other = tf.get_variable("other", [4])
    square = tf.get_variable("square", [2, 2])
    sess.run(tf.global_variables_initializer())
    framework.assign_from_checkpoint_fn(path, {"saved": other})(sess)
    np.testing.assert_array_equal(sess.run(other), [1.0, 2.0, 3.0, 4.0])
    framework.assign_from_checkpoint_fn(path, {"saved": square}, reshape_variables=True)(sess)
    np.testing.assert_array_equal(sess.run(square), [[1.0, 2.0], [3.0, 4.0]])
    assert framework.assign_from_checkpoint_fn(path, [square], ignore_missing_vars=True) is None
    with pytest.raises(ValueError, match="missing variable"):
        framework.assign_from_checkpoint(path, [square])
    operation, feed = framework.assign_from_checkpoint(path, [square, saved], True)
    sess.run(operation, feed)
    assert [name for name, _ in framework.list_variables(path)] == ["saved"]


def test_block_cells_of_gru_have_gradients():
    x = tf.constant([[0.5, -0.25, 0.75], [1.0, 0.125, -0.5]])
    start = tf.constant([[0.1, -0.2, 0.3, 0.4], [0.0, 0.5, -0.1, 0.2]])
    cell = tf.contrib.rnn.GRUBlockCellV2(4)
    output, state = cell(x, start)
    output, _ = cell(output[:, :3], state)  # once more, so that weights are used twice
    with tf.Session() as session:
        tf.set_random_seed(3)
        session.run(tf.global_variables_initializer())
        for value in (x, start, *tf.trainable_variables()):
            shape = value.shape.as_list()
            error = tf.test.compute_gradient_error(value, shape, output, [2, 4], delta=1e-2)
            assert error < 2e-3
