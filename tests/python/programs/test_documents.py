"""The programs and statements that documents on TensorFlow's graphs and sessions make, run as users
would write them."""

import gc
import os
import random
import struct
import weakref

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


# ---- Building: constants, pointers, operators


def test_a_constant_prints_as_a_tensor(capsys):
    print(tf.constant(2))
    assert capsys.readouterr().out == 'Tensor("Const:0", shape=(), dtype=int32)\n'


def test_every_call_makes_a_node_and_an_assignment_does_not():
    two = tf.constant(2)
    tf.constant(2)
    two = tf.constant(2)
    tf.constant(3)
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "Const",
        "Const_1",
        "Const_2",
        "Const_3",
    ]
    other = two
    two = None
    assert two is None
    assert str(other) == 'Tensor("Const_2:0", shape=(), dtype=int32)'


def test_plus_adds_a_node_and_leaves_the_result_to_the_session():
    two, three = tf.constant(2), tf.constant(3)
    total = two + three
    assert total.op.type == "AddV2"
    assert total.name == "add:0"
    session = tf.Session()
    assert session.run(total) == 5
    assert session.run([two, total]) == [2, 5]


def test_names_of_operations_and_scopes():
    names = []

    def constant(value):
        names.append(tf.constant(value, name="c").op.name)

    constant(0)
    constant(2)
    with tf.name_scope("outer"):
        constant(2)
        with tf.name_scope("inner"):
            constant(3)
        constant(4)
        with tf.name_scope("inner"):
            constant(5)
    assert names == ["c", "c_1", "outer/c", "outer/inner/c", "outer/c_1", "outer/inner_1/c"]
    assert tf.constant(42.0, name="answer").name == "answer:0"
    assert tf.constant(42.0, name="answer").op.name == "answer_1"


# ---- Placeholders and the computed path


def test_a_placeholder_must_be_fed_when_it_is_on_the_path():
    x = tf.placeholder(tf.int32)
    session = tf.Session()
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        session.run(x)
    message = str(raised.value)
    assert "You must feed a value for placeholder tensor 'Placeholder' with dtype int32" in message
    assert os.path.basename(__file__) in message  # the line that made it
    assert raised.value.op is x.op
    assert session.run(x, feed_dict={x: 2}) == 2


def test_a_placeholder_off_the_path_does_not_matter():
    x = tf.placeholder(tf.int32)
    three = tf.constant(3)
    total = x + three
    session = tf.Session()
    assert session.run(three) == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(total)
    assert session.run(total, {x: 4}) == 7


def test_feeding_vectors_and_a_wrong_shape():
    x = tf.placeholder(tf.float32, shape=[3])
    y = tf.square(x)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y, {x: [1.0, 2.0, 3.0]}), [1.0, 4.0, 9.0])
        np.testing.assert_array_equal(session.run(y, {x: [0.0, 0.0, 5.0]}), [0.0, 0.0, 25.0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y)
        with pytest.raises(
            ValueError,
            match=r"Cannot feed value of shape \(\) for Tensor "
            r"'?Placeholder:0'?, which has shape '?\(3,\)",
        ):
            session.run(y, {x: 37.0})
        np.testing.assert_array_equal(session.run(y, {x: [1, 1, 1]}), [1, 1, 1])


def test_a_reshape_can_be_a_constant_of_the_graph():
    pixels = tf.placeholder(tf.float32)
    image = tf.reshape(pixels, shape=[28, 28])
    assert image.get_shape().as_list() == [28, 28]
    with tf.Session() as session:
        assert session.run(image, {pixels: np.zeros(784)}).shape == (28, 28)


# ---- Variables


def test_a_variable_has_no_value_before_it_is_initialized():
    count = tf.get_variable("count", [])
    session = tf.Session()
    with pytest.raises(
        tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value count"
    ):
        session.run(count)


def test_assign_gives_a_variable_its_value():
    count = tf.get_variable("count", [])
    assign = tf.assign(count, tf.constant(0.0))
    session = tf.Session()
    session.run(assign)
    assert session.run(count) == 0


def test_an_initializer_has_to_be_run():
    count = tf.get_variable("count", [], initializer=tf.constant_initializer(0.0))
    session = tf.Session()
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run([count])
    init = tf.global_variables_initializer()
    session.run(init)
    value = session.run(count)
    assert value == 0 and value.dtype == np.float32


def test_initializing_again_resets():
    v = tf.Variable(1.0)
    init = tf.global_variables_initializer()
    add = tf.assign_add(v, 1.0)
    with tf.Session() as session:
        session.run(init)
        assert session.run(add) == 2
        session.run(init)
        assert session.run(v) == 1


def test_a_duplicate_variable_names_the_line_of_the_first():
    tf.get_variable("v", [2])
    with pytest.raises(ValueError) as raised:
        tf.get_variable("v", [2])
    assert "Variable v already exists" in str(raised.value)
    assert os.path.basename(__file__) in str(raised.value)


def test_each_global_variables_initializer_is_a_new_operation():
    tf.Variable(1.0)
    assert tf.global_variables_initializer().name == "init"
    assert tf.global_variables_initializer().name == "init_1"


def test_adding_to_a_variable_makes_a_node_each_time():
    x = tf.Variable(1.0)
    y = x + 1.0
    first = y
    y = x + 1.0
    assert (first.op.name, y.op.name) == ("add", "add_1")
    increment = tf.assign(x, x + 1)
    count = len(tf.get_default_graph().get_operations())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(100):
            session.run(increment)
        assert session.run(x) == 101
    assert len(tf.get_default_graph().get_operations()) == count + 1  # the initializer


# ---- Values in the graph and outside of it


def test_numpy_arrays_are_tensor_like_and_may_be_fed_instead():
    ones = np.ones((1000, 1000))
    session = tf.Session()
    assert session.run(tf.reduce_sum(ones)) == 1000000.0
    many = tf.placeholder(tf.float64)
    assert session.run(tf.reduce_sum(many), feed_dict={many: ones}) == 1000000.0


def test_lists_scalars_and_strings_are_tensor_like():
    with tf.Session() as session:
        np.testing.assert_array_equal(
            session.run(tf.matmul([[37.0, -23.0], [1.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]])),
            np.float32([[37, -23], [1, 4]]),
        )
        assert session.run(tf.add_n([tf.constant(1), 2, 3])) == 6
        assert session.run(tf.convert_to_tensor("text")) == b"text"
        assert session.run(tf.convert_to_tensor(True))


def test_other_types_can_be_made_tensor_like():
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees, dtype=dtype or tf.float32, name=name)

    tf.register_tensor_conversion_function(Celsius, convert)
    with tf.Session() as session:
        assert session.run(tf.square(Celsius(3.0))) == 9


# ---- What a session runs


def test_a_shared_value_is_computed_once(capfd):
    x = tf.constant([[37.0, -23.0], [1.0, 4.0]])
    w = tf.Variable(tf.random_uniform([2, 2]))
    y = tf.Print(tf.matmul(x, w), ["computed"])
    output = tf.nn.softmax(y)
    with tf.Session() as session:
        session.run(w.initializer)
        y_val, output_val = session.run([y, output])
    assert capfd.readouterr().err.count("computed") == 1
    exponentials = np.exp(y_val - y_val.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        output_val, exponentials / exponentials.sum(axis=1, keepdims=True), rtol=1e-5
    )


def test_fetches_may_be_nested_and_named():
    two, three = tf.constant(2, name="two"), tf.constant(3, name="three")
    v = tf.Variable(4, name="v")
    with tf.Session() as session:
        assert session.run(tf.global_variables_initializer()) is None
        assert session.run({"a": two, "b": [three, (v, "two:0")]}) == {"a": 2, "b": [3, (4, 2)]}
        total = two + three
        assert session.run([total, [two, three]]) == [5, [2, 3]]
        assert session.run("three:0") == 3
        assert session.run([v.initializer, two]) == [None, 2]


def test_tf_print_prints_only_on_the_path(capfd):
    two, three = tf.constant(2), tf.constant(3)
    total = two + three
    printed = tf.Print(total, [two, three])
    aside = tf.Print(two, [two, three, total])
    assert aside is not None
    session = tf.Session()
    assert session.run(total) == 5
    assert capfd.readouterr().err == ""
    assert session.run(printed) == 5
    assert capfd.readouterr().err == "[2][3]\n"


def test_the_graph_may_grow_between_runs():
    session = tf.Session()
    one = tf.constant(1)
    assert session.run(one) == 1
    assert session.run(one + 1) == 2


def test_training_finds_the_line():
    random.seed(7)
    m = tf.get_variable("m", [], initializer=tf.constant_initializer(0.0))
    b = tf.get_variable("b", [], initializer=tf.constant_initializer(0.0))
    init = tf.global_variables_initializer()
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.square(y - (m * x + b))
    train_op = tf.train.GradientDescentOptimizer(1e-2).minimize(loss)
    true_m, true_b = random.random(), random.random()
    session = tf.Session()
    session.run(init)
    for _ in range(20000):
        data = random.random()
        _loss, nothing = session.run([loss, train_op], {x: data, y: true_m * data + true_b})
        assert nothing is None
    assert _loss < 1e-6
    np.testing.assert_allclose(session.run([m, b]), [true_m, true_b], atol=1e-2)


# ---- Devices, options, tracing


def test_devices_are_recorded_and_merged():
    with tf.device("/job:ps/task:1"):
        with tf.device("/device:CPU:0"):
            assert tf.constant(1).device == "/job:ps/task:1/device:CPU:0"
    with tf.device("/device:CPU:0"):
        here = tf.constant(1.0)
    with tf.device("/device:GPU:9"):
        there = tf.constant(2.0)
    with tf.Session() as session:
        assert session.run(here) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(there)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(there) == 2


def test_options_are_accepted():
    config = tf.ConfigProto(log_device_placement=False)
    config.gpu_options.allow_growth = True
    y = tf.matmul([[37.0, -23.0], [1.0, 4.0]], tf.random_uniform([2, 2]))
    with tf.Session(config=config) as session:
        options = tf.RunOptions()
        options.output_partition_graphs = True
        options.trace_level = tf.RunOptions.FULL_TRACE
        metadata = tf.RunMetadata()
        assert session.run(y, options=options, run_metadata=metadata).shape == (2, 2)


# ---- The graph in an event file


def test_a_file_writer_writes_the_graph(tmp_path):
    x = tf.constant([[37.0, -23.0], [1.0, 4.0]])
    w = tf.Variable(tf.random_uniform([2, 2]))
    loss = tf.reduce_sum(tf.matmul(x, w))
    tf.train.AdagradOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        writer = tf.summary.FileWriter(str(tmp_path / "log"), session.graph)
        writer.close()
    (name,) = os.listdir(tmp_path / "log")
    assert "tfevents" in name
    data = (tmp_path / "log" / name).read_bytes()
    records = []
    while data:
        (length,) = struct.unpack_from("<Q", data)
        records.append(data[12 : 12 + length])
        data = data[16 + length :]
    assert b"brain.Event:2" in records[0]
    assert any(b"ApplyAdagrad" in record and b"MatMul" in record for record in records)


# ---- Several graphs


def test_graphs_and_sessions_belong_together():
    g_1 = tf.Graph()
    with g_1.as_default():
        c = tf.constant("Node in g_1")
        sess_1 = tf.Session()
    g_2 = tf.Graph()
    with g_2.as_default():
        d = tf.constant("Node in g_2")
    sess_2 = tf.Session(graph=g_2)
    assert c.graph is g_1 and sess_1.graph is g_1
    assert d.graph is g_2 and sess_2.graph is g_2
    assert sess_1.run(c) == b"Node in g_1"
    assert sess_2.run(d) == b"Node in g_2"
    with pytest.raises(ValueError):
        sess_1.run(d)
    with pytest.raises(ValueError), g_2.as_default():
        tf.identity(c) + d
    assert sess_1.run(c) == b"Node in g_1"
    assert [op.name for op in g_1.get_operations()] == ["Const", "Identity"]  # where its input is
    assert tf.get_default_graph() not in (g_1, g_2)


def test_a_closed_session_says_so():
    one = tf.constant(1)
    with tf.Session() as session:
        session.run(one)
    with pytest.raises(RuntimeError, match="closed"):
        session.run(one)


def test_collections_hold_the_variables():
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(2.0, trainable=False, name="w")
    assert tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) == [v, w]
    assert tf.trainable_variables() == [v]
    tf.add_to_collection("mine", 7)
    assert tf.get_collection("mine") == [7]


def test_what_nobody_refers_to_is_released():
    def use():
        graph = tf.Graph()
        with graph.as_default():
            v = tf.Variable(np.ones(1000))
            loss = tf.reduce_sum(tf.square(v))
            train = tf.train.AdamOptimizer().minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
        return weakref.ref(graph), weakref.ref(session)

    graph, session = use()
    gc.collect()
    assert graph() is None
    assert session() is None


def test_reset_default_graph_forgets():
    old = tf.get_default_graph()
    tf.constant(1, name="c")
    tf.reset_default_graph()
    assert tf.get_default_graph() is not old
    assert tf.constant(1, name="c").op.name == "c"
