"""Variables whose initial values are made of other variables."""

import pytest
import rheos.v1 as tf


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_made_of_others_are_initialized_in_one_step(sess, use_resource):
    def variable(value, name):
        return tf.Variable(value, name=name, use_resource=use_resource)

    a = variable(tf.random_uniform([3]), "a")
    b = variable(a * 2.0 + 1.0, "b")
    c = variable(tf.reduce_sum(b) + a[0], "c")
    for _ in range(3):
        sess.run(tf.global_variables_initializer())
        va, vb, vc = sess.run([a, b, c])
        assert (vb == va * 2 + 1).all() and vc == vb.sum() + va[0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_initializer_itself_reads_the_value_as_it_is(sess, use_resource):
    a = tf.Variable(1.0, use_resource=use_resource)
    b = tf.Variable(a, use_resource=use_resource)
    sess.run(a.initializer)
    sess.run(a.assign(5.0))
    sess.run(b.initializer)
    assert sess.run([a, b]) == [5.0, 5.0]
    sess.run(tf.variables_initializer([b]))
    assert sess.run([a, b]) == [5.0, 5.0]
    sess.run(tf.variables_initializer([a, b]))
    assert sess.run([a, b]) == [1.0, 1.0]


def test_other_variables_get_no_operations_more():
    tf.get_variable("v", [2])
    tf.get_variable("w", [2], use_resource=True)
    before = len(tf.get_default_graph().get_operations())
    tf.global_variables_initializer()
    assert len(tf.get_default_graph().get_operations()) == before + 1


def test_an_empty_graph_can_not_be_run():
    with tf.Graph().as_default(), tf.Session() as session:
        for fetch in ("x", 3, None):
            with pytest.raises(RuntimeError, match="The Session graph is empty"):
                session.run(fetch)


def test_a_device_that_is_missing_is_told_with_the_operation(sess):
    with tf.device("/gpu:9"):
        x = tf.constant(1.0, name="there")
    with pytest.raises(tf.errors.InvalidArgumentError, match="operation there: .*/device:GPU:9"):
        sess.run(x)
