"""What the introductions to TensorFlow 1 show: graphs, sessions, placeholders, variables, training."""

import random

import numpy as np
import pytest

import rheos.v1 as tf


def test_printing_a_tensor_shows_its_node():
    assert str(tf.constant(2)) == 'Tensor("Const:0", shape=(), dtype=int32)'


def test_every_call_makes_a_node():
    first = tf.constant(2)
    tf.constant(2)
    tf.constant(3)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names == ["Const", "Const_1", "Const_2"]
    other = first
    assert other is first and len(tf.get_default_graph().get_operations()) == 3


def test_names_follow_scopes():
    names = [tf.constant(0, name="c").op.name, tf.constant(2, name="c").op.name]
    with tf.name_scope("outer"):
        names.append(tf.constant(2, name="c").op.name)
        with tf.name_scope("inner"):
            names.append(tf.constant(3, name="c").op.name)
        names.append(tf.constant(4, name="c").op.name)
        with tf.name_scope("inner"):
            names.append(tf.constant(5, name="c").op.name)
    assert names == ["c", "c_1", "outer/c", "outer/inner/c", "outer/c_1", "outer/inner_1/c"]


def test_a_sum_is_computed_in_a_session(sess):
    two, three = tf.constant(2), tf.constant(3)
    total = two + three
    assert total.op.type == "AddV2" and total.name == "add:0"
    assert sess.run(total) == 5
    assert sess.run([two, total]) == [2, 5]
    answer, inspection = sess.run([total, [two, three]])
    assert answer == 5 and inspection == [2, 3]


def test_a_placeholder_has_to_be_fed_where_it_is_needed(sess):
    x = tf.placeholder(tf.int32)
    three = tf.constant(3)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(x + three)
    expected = "You must feed a value for placeholder tensor 'Placeholder' with dtype int32"
    assert expected in caught.value.message
    assert caught.value.op is x.op
    assert sess.run(three) == 3
    assert sess.run(x, feed_dict={x: 2}) == 2


def test_a_variable_needs_a_value_before_it_is_read(sess):
    count = tf.get_variable("count", [])
    with pytest.raises(tf.errors.FailedPreconditionError) as caught:
        sess.run(count)
    assert "Attempting to use uninitialized value count" in caught.value.message
    assert sess.run(tf.assign(count, tf.constant(0.0))) == 0
    assert sess.run(count) == 0


def test_an_initializer_only_says_what_to_assign(sess):
    count = tf.get_variable("count", [], initializer=tf.constant_initializer(4.0))
    with pytest.raises(tf.errors.FailedPreconditionError):
        sess.run([count])
    sess.run(tf.global_variables_initializer())
    assert sess.run(count) == 4


def test_each_call_of_the_initializer_function_makes_an_operation():
    tf.get_variable("v", [])
    first, second = tf.global_variables_initializer(), tf.global_variables_initializer()
    assert (first.name, second.name) == ("init", "init_1")


def test_adding_to_a_variable_makes_a_tensor():
    x = tf.Variable(1.0)
    y = x + 1.0
    z = x + 1.0
    assert (y.name, z.name) == ("add:0", "add_1:0")
    assert isinstance(x, tf.Variable) and type(y) is tf.Tensor


def test_assign_runs_many_times_without_new_nodes(sess):
    x = tf.Variable(1.0)
    increment = tf.assign(x, x + 1)
    sess.run(x.initializer)
    before = tf.get_default_graph().version
    for _ in range(100):
        sess.run(increment)
    assert sess.run(x) == 101 and tf.get_default_graph().version == before


def test_arrays_become_constants_or_are_fed(sess):
    many = np.ones((100, 100))
    assert sess.run(tf.reduce_sum(many)) == 10000.0
    things = tf.placeholder(tf.float64)
    assert sess.run(tf.reduce_sum(things), feed_dict={things: many}) == 10000.0
    picture = tf.placeholder(tf.float32)
    assert sess.run(tf.reshape(picture, shape=[28, 28]), {picture: np.zeros(784)}).shape == (28, 28)


def test_print_writes_to_standard_error_only_on_the_path(sess, capfd):
    two, three = tf.constant(2), tf.constant(3)
    total = two + three
    printing = tf.Print(total, [two, three])
    assert sess.run(printing) == 5
    captured = capfd.readouterr()
    assert captured.err == "[2][3]\n" and captured.out == ""
    assert sess.run(total) == 5
    assert capfd.readouterr().err == ""


def test_a_line_is_learned(sess):
    m = tf.get_variable("m", [], initializer=tf.constant_initializer(0.0))
    b = tf.get_variable("b", [], initializer=tf.constant_initializer(0.0))
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.square(y - (m * x + b))
    train = tf.train.GradientDescentOptimizer(1e-1).minimize(loss)
    sess.run(tf.global_variables_initializer())
    random.seed(1)
    for _ in range(3000):
        value = random.random()
        last, nothing = sess.run([loss, train], feed_dict={x: value, y: 0.35 * value + 0.32})
    assert nothing is None and last < 1e-8
    np.testing.assert_allclose(sess.run([m, b]), [0.35, 0.32], atol=1e-3)


def test_the_same_signature_is_planned_once(sess):
    x = tf.placeholder(tf.float32)
    y = x * 2
    sess.run(y, {x: 1.0})
    planned = sess._stats()
    for _ in range(10):
        sess.run(y, {x: 2.0})
    again = sess._stats()
    assert again["plans"] == planned["plans"]
    assert again["specializations"] == planned["specializations"]


def test_a_value_used_twice_is_computed_once(sess):
    v = tf.Variable(0)
    sess.run(v.initializer)
    bumped = tf.assign_add(v, 1)
    a, b = bumped + 0, bumped + 0
    assert sess.run([a, b]) == [1, 1] and sess.run(v) == 1


def test_two_graphs_and_their_sessions():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        c = tf.constant("Node in the first")
        first_session = tf.Session()
    with second.as_default():
        d = tf.constant("Node in the second")
    second_session = tf.Session(graph=second)
    assert c.graph is first and first_session.graph is first
    assert d.graph is second and second_session.graph is second
    assert first_session.run(c) == b"Node in the first"
    assert second_session.run(d) == b"Node in the second"
    assert tf.get_default_graph() is not first


def test_a_session_keeps_the_graph_it_was_made_with_and_the_graph_may_grow():
    x = tf.constant(1)
    session = tf.Session()
    assert session.run(x) == 1
    assert session.run(x + 1) == 2
    graph = session.graph
    tf.reset_default_graph()
    assert tf.get_default_graph() is not graph and session.run(x) == 1


def test_options_and_metadata_are_accepted(sess):
    y = tf.matmul([[37.0, -23.0], [1.0, 4.0]], tf.random_uniform([2, 2]))
    options = tf.RunOptions()
    options.output_partition_graphs = True
    options.trace_level = tf.RunOptions.FULL_TRACE
    metadata = tf.RunMetadata()
    assert sess.run(y, options=options, run_metadata=metadata).shape == (2, 2)
    assert list(metadata.partition_graphs) == []
    str(metadata.step_stats)


def test_devices_are_recorded_and_checked():
    with tf.device("/cpu:0"):
        a = tf.constant(1)
    with tf.device("/job:ps/task:1"):
        with tf.device("/device:GPU:0"):
            b = tf.constant(2)
    assert a.device == "/device:CPU:0"
    assert b.device == "/job:ps/task:1/device:GPU:0"
    with tf.device("/gpu:0"):
        c = tf.constant(3)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(c)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(c) == 3


def test_softmax_of_a_product_with_several_fetches(sess):
    x = tf.constant([[37.0, -23.0], [1.0, 4.0]])
    w = tf.Variable(tf.random_uniform([2, 2]))
    y = tf.matmul(x, w)
    output = tf.nn.softmax(y)
    sess.run(w.initializer)
    np.testing.assert_allclose(sess.run(output).sum(1), [1, 1], rtol=1e-6)
    y_value, output_value = sess.run([y, output])
    exps = np.exp(y_value - y_value.max(1, keepdims=True))
    np.testing.assert_allclose(output_value, exps / exps.sum(1, keepdims=True), rtol=1e-5)


def test_tensor_like_objects_become_tensors():
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees, dtype=dtype, name=name)

    tf.register_tensor_conversion_function(Celsius, convert)
    with tf.Session() as session:
        assert session.run(tf.add(Celsius(20.0), 1.5)) == 21.5
        assert session.run(tf.constant(1.0) + Celsius(2.0)) == 3.0
