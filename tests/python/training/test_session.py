"""Session.run: forms of fetches and feeds, results, errors, life and threads."""

import collections
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref

import numpy as np
import pytest
import rheos.v1 as tf

Pair = collections.namedtuple("Pair", "left right")


def test_fetches_of_any_form(sess):
    a = tf.constant(1)
    tf.constant([2.0, 3.0], name="b")
    v = tf.Variable(7)
    nothing = tf.no_op()
    sess.run(v.initializer)
    assert sess.run(a) == 1 and type(sess.run(a)) is np.int32
    assert sess.run([]) == [] and sess.run(()) == () and sess.run({}) == {}
    assert sess.run((a, nothing)) == (1, None)
    assert sess.run(nothing) is None
    assert sess.run(v) == 7 and sess.run([v, "b"])[1] is None
    values = sess.run({"a": a, "more": [a, (v, {"b": "b:0"})]})
    assert values["a"] == 1 and values["more"][0] == 1 and values["more"][1][0] == 7
    np.testing.assert_array_equal(values["more"][1][1]["b"], [2, 3])
    pair = sess.run(Pair(a, [v]))
    assert isinstance(pair, Pair) and pair == Pair(1, [7])
    ordered = sess.run(collections.OrderedDict([("z", a), ("y", v)]))
    assert list(ordered.items()) == [("z", 1), ("y", 7)]
    assert sess.run([a, a, [a]]) == [1, 1, [1]]


def test_results_have_the_dtype_and_shape_of_the_tensor(sess):
    for dtype in (
        tf.float32,
        tf.float64,
        tf.int8,
        tf.int16,
        tf.int32,
        tf.int64,
        tf.uint8,
        tf.uint16,
        tf.float16,
        tf.complex64,
        tf.complex128,
    ):
        value = sess.run(tf.constant([[1, 0, 1]], dtype))
        assert value.dtype == dtype.as_numpy_dtype and value.shape == (1, 3)
    assert sess.run(tf.constant(True)) is np.True_ or sess.run(tf.constant(True)) == np.True_
    assert sess.run(tf.constant("text")) == b"text"
    words = sess.run(tf.constant([["a", "bc"], ["", "é"]]))
    assert words.dtype == object and words.tolist() == [[b"a", b"bc"], [b"", "é".encode()]]
    assert sess.run(tf.constant([], tf.float32)).shape == (0,)


def test_large_results_own_their_memory(sess):
    c = tf.constant(np.arange(10000.0).reshape(100, 100))
    value = sess.run(c)
    value[:] = 0
    assert sess.run(c)[99, 99] == 9999
    del sess
    gc.collect()
    assert value.sum() == 0


def test_feeds_are_converted_as_numpy_does(sess):
    x = tf.placeholder(tf.float32)
    y = tf.identity(x)
    for value in (2, 2.0, np.float64(2), np.int8(2), True * 2, np.array(2.0), [2][0]):
        result = sess.run(y, {x: value})
        assert result == 2 and result.dtype == np.float32
    np.testing.assert_array_equal(sess.run(y, {x: [[1, 2], [3, 4]]}), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(sess.run(y, {x: (1, 2.5)}), [1, 2.5])
    transposed = np.arange(6, dtype=np.float32).reshape(2, 3).T
    np.testing.assert_array_equal(sess.run(y, {x: transposed}), transposed)
    np.testing.assert_array_equal(sess.run(y, {x: np.arange(5)[::-2]}), [4, 2, 0])
    big_endian = np.array([1, 2], dtype=">f4")
    np.testing.assert_array_equal(sess.run(y, {x: big_endian}), [1, 2])
    empty = sess.run(y, {x: np.zeros((0, 4))})
    assert empty.shape == (0, 4)


def test_strings_are_fed_as_bytes_or_text(sess):
    x = tf.placeholder(tf.string)
    y = tf.identity(x)
    assert sess.run(y, {x: "é"}) == "é".encode()
    assert sess.run(y, {x: b"a\0b"}) == b"a\0b"
    assert sess.run(y, {x: ["a", b"b"]}).tolist() == [b"a", b"b"]
    assert sess.run(y, {x: np.array(["ab", "c"])}).tolist() == [b"ab", b"c"]
    with pytest.raises(TypeError):
        sess.run(y, {x: 3})


def test_an_array_is_fed_without_a_copy_and_let_go_afterwards(sess):
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(x)
    array = np.ones(1000, np.float32)
    before = sys.getrefcount(array)
    assert sess.run(total, {x: array}) == 1000
    array[0] = 2
    assert sess.run(total, {x: array}) == 1001
    assert sys.getrefcount(array) == before


def test_an_assigned_array_may_change_afterwards(sess):
    x = tf.placeholder(tf.float32, [1000])
    v = tf.Variable(tf.zeros([1000]))
    array = np.ones(1000, np.float32)
    sess.run(v.assign(x), {x: array})
    array[:] = 5
    assert sess.run(v)[0] == 1
    got = sess.run(v)
    got[:] = 9
    assert sess.run(v)[0] == 1


def test_any_tensor_can_be_fed(sess):
    x = tf.constant(1.0)
    y = x + 1
    v = tf.Variable(3.0)
    assert sess.run(y * 2, {y: 10.0}) == 20
    assert sess.run(y, {"Const:0": 5.0}) == 6
    assert sess.run(v + 0, {v: 4.0}) == 4
    assert sess.run([x, y], {x: 2.0}) == [2, 3]


@pytest.mark.parametrize(
    ("value", "shape_text"), [([1.0, 2.0], "(3,)"), (37.0, "(3,)"), (np.zeros((3, 1)), "(3,)")]
)
def test_a_feed_of_another_shape_is_refused(sess, value, shape_text):
    x = tf.placeholder(tf.float32, shape=[3])
    y = tf.square(x)
    with pytest.raises(ValueError) as caught:
        sess.run(y, {x: value})
    expected = (
        f"Cannot feed value of shape {np.shape(value)} for Tensor 'Placeholder:0', "
        f"which has shape '{shape_text}'"
    )
    assert str(caught.value) == expected
    np.testing.assert_array_equal(sess.run(y, {x: [1, 2, 3]}), [1, 4, 9])


def test_wrong_feeds_are_refused_and_the_session_lives_on(sess):
    x = tf.placeholder(tf.int32, [None])
    n = tf.placeholder(tf.int32)
    f = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="inhomogeneous.*Placeholder_2:0|Placeholder_2:0"):
        sess.run(f, {f: [[1.0, 2.0], [3.0]]})
    with pytest.raises(ValueError, match="could not convert string to float: 'abc'"):
        sess.run(f, {f: "abc"})
    with pytest.raises(TypeError, match="Type of feed value 1099511627776.*not compatible"):
        sess.run(n, {n: 2**40})
    with pytest.raises(OverflowError, match="1099511627776 out of bounds for int32"):
        sess.run(n, {n: [1, 2**40]})
    with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
        sess.run(n, {n: tf.constant(1)})
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor: Can not conv"):
        sess.run(n, {3: 1})
    with pytest.raises(TypeError, match="The name 'nope:0' refers to a Tensor which does not"):
        sess.run(n, {"nope:0": 1})
    with pytest.raises(TypeError):
        sess.run(n, 3)
    with tf.Graph().as_default():
        foreign = tf.placeholder(tf.int32)
    with pytest.raises(TypeError, match="is not an element of this graph"):
        sess.run(n, {foreign: 1})
    assert sess.run(x, {x: [1]}).tolist() == [1]


def test_wrong_fetches_are_refused(sess):
    tf.no_op()  # in a graph that is empty nothing can be fetched at all
    with pytest.raises(TypeError, match="Fetch argument None has invalid type"):
        sess.run(None)
    with pytest.raises(TypeError) as caught:
        sess.run(3)
    assert str(caught.value) == (
        "Fetch argument 3 has invalid type <class 'int'>, must be a string or Tensor. "
        "(Can not convert a int into a Tensor or Operation.)"
    )
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        sess.run("nope")
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        sess.run(["nope:0"])
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        sess.run(foreign)
    with pytest.raises(TypeError, match="got an unexpected"):
        sess.run(tf.constant(1), feeds={})
    with pytest.raises(TypeError, match="graph must be a tf.Graph"):
        tf.Session(graph=3)
    with pytest.raises(TypeError, match="target must be a string"):
        tf.Session(target=3)


def test_a_closed_session_is_refused():
    c = tf.constant(1)
    session = tf.Session()
    session.run(c)
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match=r"Attempted to use a closed Session\."):
        session.run(c)
    with tf.Session() as session:
        pass
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(c)


def test_eval_and_run_need_a_default_session():
    c = tf.constant(4)
    nothing = tf.no_op()
    with pytest.raises(ValueError, match="No default session is registered"):
        c.eval()
    with pytest.raises(ValueError, match="No default session is registered"):
        nothing.run()
    with tf.Session() as session:
        assert c.eval() == 4 and tf.get_default_session() is session
        assert nothing.run() is None
        with tf.Graph().as_default():
            foreign = tf.constant(1)
        with pytest.raises(ValueError, match="graph is different from the session's graph"):
            foreign.eval()
    assert tf.get_default_session() is None
    assert c.eval(session=tf.Session()) == 4


def test_interactive_sessions():
    session = tf.InteractiveSession()
    assert tf.constant(2).eval() == 2 and tf.get_default_session() is session
    session.close()
    assert tf.get_default_session() is None
    graph = tf.Graph()
    session = tf.InteractiveSession(graph=graph)
    assert tf.get_default_graph() is graph
    session.close()
    assert tf.get_default_graph() is not graph


def test_variables_live_in_their_session():
    v = tf.Variable(1)
    bump = v.assign_add(1)
    first, second = tf.Session(), tf.Session()
    first.run(v.initializer)
    second.run(v.initializer)
    first.run(bump)
    assert first.run(v) == 2 and second.run(v) == 1


def test_make_callable(sess):
    x = tf.placeholder(tf.float32)
    function = sess.make_callable([x * 2, {"y": x}], [x])
    assert function(3.0) == [6.0, {"y": 3.0}]
    with pytest.raises(TypeError):
        function()


def test_callables_of_every_form(sess):
    x = tf.placeholder(tf.float32, [2])
    v = tf.Variable([1.0, 2.0])
    bump = v.assign_add(x)
    double = x * 2
    sess.run(v.initializer)
    single = sess.make_callable(double, [x])
    assert single([1, 2]).tolist() == [2, 4] and single(np.float32([3, 4])).tolist() == [6, 8]
    assert sess.make_callable(double.name, [x.name])([1, 2]).tolist() == [2, 4]
    assert sess.make_callable(bump.op, [x])([1, 1]) is None
    assert sess.make_callable(v)().tolist() == [2, 3]
    first, nothing, same = sess.make_callable([double, v.initializer, double], [x])([1, 1])
    assert first.tolist() == same.tolist() == [2, 2] and nothing is None
    pair = sess.make_callable((double, x), (x,))([1, 1])
    assert isinstance(pair, tuple) and pair[1].tolist() == [1, 1]
    assert sess.make_callable({"d": double}, [x])([1, 1])["d"].tolist() == [2, 2]
    assert sess.make_callable([[double]], [x])([1, 1])[0][0].tolist() == [2, 2]
    with pytest.raises(TypeError, match="must be a list or tuple"):
        sess.make_callable(double, x)
    with pytest.raises(TypeError, match="expected 1 values, got 2"):
        single([1, 2], [1, 2])
    with pytest.raises(TypeError, match="options"):
        single([1, 2], options=tf.RunOptions())
    with pytest.raises(ValueError, match="Cannot feed value of shape"):
        single([1, 2, 3])
    with pytest.raises(TypeError, match="invalid type"):
        sess.make_callable(3)
    with_options = sess.make_callable(double, [x], accept_options=True)
    assert with_options([1, 2], options=tf.RunOptions(timeout_in_ms=10000)).tolist() == [2, 4]
    assert with_options([1, 2]).tolist() == [2, 4]


def test_callables_of_sparse_feeds_and_closed_sessions():
    s = tf.sparse_placeholder(tf.float32)
    dense = tf.sparse_tensor_to_dense(s)
    session = tf.Session()
    function = session.make_callable(dense, [s])
    assert function(tf.SparseTensorValue([[1]], [5.0], [3])).tolist() == [0, 5, 0]
    three = session.make_callable(tf.constant(3))
    assert three() == 3
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        three()


def test_callables_from_options(sess):
    from rheos.framework import messages

    x = tf.placeholder(tf.float32, name="x")
    v = tf.Variable(1.0, name="v")
    tf.multiply(x, 2, name="double")
    bump = v.assign_add(x, name="bump")
    sess.run(v.initializer)
    options = messages.CallableOptions(feed=["x:0"], fetch=["double:0", "x"], target=[bump.op.name])
    function = sess._make_callable_from_options(options)
    assert function(np.float32(3)) == [6, 3] and sess.run(v) == 4
    options.tensor_connection.add(from_tensor="x:0", to_tensor="double:0")
    with pytest.raises(NotImplementedError, match="tensor_connection"):
        sess._make_callable_from_options(options)
    with pytest.raises(TypeError, match="CallableOptions"):
        sess._make_callable_from_options(tf.RunOptions())


def test_config_fields():
    config = tf.ConfigProto(
        allow_soft_placement=True,
        gpu_options=tf.GPUOptions(allow_growth=True),
        device_count={"CPU": 2, "GPU": 0},
    )
    config.gpu_options.per_process_gpu_memory_fraction = 0.4
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    config.intra_op_parallelism_threads = 1
    assert config.gpu_options.allow_growth is True
    assert config.HasField("gpu_options") and not config.HasField("rpc_options")
    with pytest.raises(AttributeError, match="no_such_field"):
        config.no_such_field = 1
    with pytest.raises(AttributeError, match="no_such_field"):
        config.gpu_options.no_such_field = 1
    with pytest.raises(ValueError, match="no_such_field"):
        tf.ConfigProto(no_such_field=1)
    with pytest.raises(TypeError):
        config.log_device_placement = "yes"
    with tf.Session(config=config) as session:
        assert [d.name for d in session.list_devices()] == [
            f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(2)
        ]
    with pytest.raises(TypeError, match="config must be a tf.ConfigProto"):
        tf.Session(config={"allow_soft_placement": True})


def test_timeouts_end_a_step():
    v = tf.Variable(tf.ones([1200, 1200]))
    y = v
    for _ in range(200):
        y = tf.matmul(y, v)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(tf.reduce_sum(y), options=tf.RunOptions(timeout_in_ms=30))
        assert session.run(tf.reduce_sum(v)) == 1200 * 1200


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


def test_assign_runs_many_times_without_new_nodes(sess):
    x = tf.Variable(1.0)
    increment = tf.assign(x, x + 1)
    sess.run(x.initializer)
    before = tf.get_default_graph().version
    for _ in range(100):
        sess.run(increment)
    assert sess.run(x) == 101 and tf.get_default_graph().version == before


def test_devices_are_recorded_and_checked():
    with tf.device("/cpu:0"):
        a = tf.constant(1)
    with tf.device("/job:ps/task:1"):
        with tf.device("/device:GPU:0"):
            b = tf.constant(2)
    assert a.device == "/device:CPU:0"
    assert b.device == "/job:ps/task:1/device:GPU:0"
    with tf.device("/gpu:9"):
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


# ---- Memory


def test_graphs_sessions_and_tensors_are_freed():
    graph = tf.Graph()
    with graph.as_default():
        v = tf.Variable(tf.ones([4]), name="v")
        w = tf.get_variable("w", [3])
        loss = tf.reduce_sum(v) * tf.reduce_sum(w)
        train = tf.train.AdamOptimizer().minimize(loss)
        v.note = "kept with the graph"
        loss.note = loss
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
    watched = [weakref.ref(x) for x in (graph, v, w, loss, train, session)]
    del graph, v, w, loss, train, session
    gc.collect()
    assert [ref() for ref in watched] == [None] * len(watched)


def test_resetting_the_default_graph_frees_it():
    c = tf.constant(np.zeros(1000))
    graph = weakref.ref(tf.get_default_graph())
    del c
    tf.reset_default_graph()
    gc.collect()
    assert graph() is None


def test_tensors_are_unique_while_alive_and_keep_their_attributes():
    x = tf.placeholder(tf.float32)
    assert x.op.outputs[0] is x and x.op is x.op
    assert tf.get_default_graph().get_tensor_by_name("Placeholder:0") is x
    x.mark = 5
    del x
    gc.collect()
    assert tf.get_default_graph().get_tensor_by_name("Placeholder:0").mark == 5


def test_making_and_dropping_many_tensors_does_not_grow():
    graph = tf.get_default_graph()
    tf.constant(1.0, name="c")
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        graph.get_tensor_by_name("c:0").op.outputs[0].get_shape()
    gc.collect()
    assert len(gc.get_objects()) - before < 50


# ---- Threads


def test_threads_share_a_session(sess):
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(x)
    v = tf.Variable(0)
    bump = v.assign_add(1)
    sess.run(v.initializer)
    wrong = []

    def work(number):
        for i in range(200):
            array = np.full(50 + number, float(i), np.float32)
            if sess.run(total, {x: array}) != array.sum():
                wrong.append((number, i))
            sess.run(bump)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and sess.run(v) == 800


def test_each_thread_has_its_own_default_graph_and_scopes():
    graph = tf.Graph()
    names = {}

    def work():
        names["default"] = tf.get_default_graph() is graph
        with graph.as_default():
            names["other"] = tf.constant(1, name="c").op.name

    with graph.as_default(), tf.name_scope("mine"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        names["this"] = tf.constant(1, name="c").op.name
    assert names == {"default": False, "other": "c", "this": "mine/c"}


def test_closing_while_a_step_runs():
    v = tf.Variable(tf.ones([700, 700]))
    y = v
    for _ in range(400):
        y = tf.matmul(y, v)
    session = tf.Session()
    session.run(v.initializer)
    seen = []
    total = tf.reduce_sum(y)
    thread = threading.Thread(target=lambda: _swallow(session, total, seen))
    thread.start()
    time.sleep(0.2)
    session.close()
    thread.join(timeout=30)
    assert not thread.is_alive()


def _swallow(session, fetch, seen):
    try:
        session.run(fetch)
    except (tf.errors.OpError, RuntimeError) as error:
        seen.append(error)


# ---- Interrupts


def test_ctrl_c_stops_a_long_step():
    program = textwrap.dedent(
        """
        import sys, rheos.v1 as tf
        v = tf.Variable(tf.ones([1500, 1500]))
        y = v
        for _ in range(2000):
            y = tf.matmul(y, v)
        with tf.Session() as session:
            session.run(v.initializer)
            total = tf.reduce_sum(y)
            print("running", flush=True)
            try:
                session.run(total)
            except KeyboardInterrupt:
                print("interrupted", session.run(v)[0, 0], flush=True)
                sys.exit(7)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    try:
        assert process.stdout.readline().strip() == "running"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert rest.strip() == "interrupted 1.0" and process.returncode == 7


def test_what_waits_for_a_fed_operation_need_not_wait(sess):
    x = tf.placeholder(tf.float32, name="x")
    with tf.control_dependencies([x]):
        y = tf.constant(2.0) + 1
    assert sess.run(y, {x: 1.0}) == 3
    computed = tf.log(tf.constant(-1.0)) / 0.0
    with tf.control_dependencies([tf.Assert(tf.is_finite(computed), [computed])]):
        checked = tf.identity(computed)
    with tf.control_dependencies([checked]):
        z = tf.constant(5.0) + 0
    assert sess.run(z, {checked: 1.0}) == 5
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(z)


def test_what_may_not_be_fed_or_fetched(sess):
    graph = tf.get_default_graph()
    a, b = tf.constant(1.0), tf.constant(2.0)
    c = a + b
    assert sess.run(c, {a: 5.0}) == 7
    graph.prevent_feeding(a)
    graph.prevent_fetching(b.op)
    assert not graph.is_feedable(a) and graph.is_feedable(b)
    assert not graph.is_fetchable(b) and not graph.is_fetchable(b.op) and graph.is_fetchable(a)
    with pytest.raises(ValueError, match="may not be fed"):
        sess.run(c, {a: 5.0})
    for fetches in (b, b.op, [c, b], {"b": b}):
        with pytest.raises(ValueError, match="marked as not fetchable"):
            sess.run(fetches)
    with pytest.raises(ValueError, match="marked as not fetchable"):
        sess.make_callable(b)
    assert sess.run([a, c], {b: 3.0}) == [1, 4]


def test_a_session_is_entered_once():
    session = tf.Session()
    with pytest.raises(RuntimeError, match="not re-entrant"):
        with session, session:
            pass


@pytest.mark.parametrize("fetches", [[], (), {}])
def test_an_empty_graph_runs_nothing(fetches):
    with tf.Session(graph=tf.Graph()) as session, pytest.raises(RuntimeError, match="is empty"):
        session.run(fetches)


def test_a_second_interactive_session_warns():
    with tf.Graph().as_default():
        first = tf.InteractiveSession()
        with pytest.warns(UserWarning, match="An interactive session is already active"):
            second = tf.InteractiveSession()
        second.close()
        first.close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tf.InteractiveSession().close()


def test_a_sparse_placeholder_of_a_known_shape_is_fed_two_parts():
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.sparse_placeholder(tf.float32, [2, 3])
        dense = tf.sparse_tensor_to_dense(sparse)
        assert session.run(dense, {sparse: ([[1, 2]], [5.0])})[1, 2] == 5
        assert sparse.consumers() == [dense.op]


def test_scalars_of_numpy_are_fed_with_their_bits(sess):
    for kind in (np.float32, np.float64, np.int32, np.int64, np.float16, np.uint8, np.bool_):
        x = tf.placeholder(tf.as_dtype(kind), [])
        fed = sess.make_callable(tf.identity(x), [x])(kind(1.1))
        assert fed == kind(1.1) and fed.dtype == kind
    wide, long = tf.placeholder(tf.float32, []), tf.placeholder(tf.int64, [])
    assert sess.run(tf.identity(wide), {wide: np.float64(0.1)}) == np.float32(0.1)
    assert sess.run(tf.identity(long), {long: np.int64(-(2**63))}) == -(2**63)
    nan = np.uint32(0x7FC12345).view(np.float32)
    assert sess.run(tf.identity(wide), {wide: nan}).view(np.uint32) == 0x7FC12345


def test_what_is_fed_and_fetched_comes_back_as_it_was_fed(sess):
    text, x = tf.placeholder(tf.string), tf.placeholder(tf.float32)
    number, array = tf.placeholder(tf.int64), np.ones((2, 2), np.float32)
    assert sess.run(text, {text: "h\u00e9"}).item() == "h\u00e9"
    assert sess.run(text, {text: ["a", "b"]}).tolist() == ["a", "b"]
    assert sess.run(x, {x: array}) is array and x.eval({x: array}, sess) is array
    both = sess.run({"fed": x, "made": [x + 1, x]}, {x: array})
    assert both["fed"] is both["made"][1] is array and both["made"][0].tolist() == [[2, 2]] * 2
    middle = x * 2
    assert sess.run((middle, middle + 1), {middle: array})[0] is array
    assert sess.make_callable([x, x + 1], [x])(array)[0] is array
    assert sess.make_callable(x, [x])(array) is array
    assert sess.run("Placeholder_1:0", {"Placeholder_1:0": array}) is array
    plain = sess.run(number, {number: 3})
    assert type(plain) is np.ndarray and plain.shape == () and plain.dtype == np.int64
    assert sess.run(x, {x: np.ones(2)}).dtype == np.float32
    sparse = tf.sparse_placeholder(tf.float32)
    value = tf.SparseTensorValue(np.array([[0]]), array[0, :1], np.array([2]))
    assert sess.run(sparse, {sparse: value}).values is value.values
    assert sess.run(tf.identity(x), {x: array}) is not array


def test_run__of_what_is_fed_counts_no_dtype_twice():
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        sess.run(x, {x: 1.5})
        before = sys.getrefcount(tf.float32)
        for _ in range(50):
            sess.run(x, {x: 1.5})
    assert sys.getrefcount(tf.float32) >= before
