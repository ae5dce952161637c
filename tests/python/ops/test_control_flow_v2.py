"""Branches and loops that are functions: If, Case and While."""

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework.func_graph import call_function, func_graph_from_py_func


@pytest.fixture(autouse=True)
def version_2():
    tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


def types():
    return [op.type for op in tf.get_default_graph().get_operations()]


def test_a_conditional_is_an_if(sess):
    x = tf.placeholder(tf.float32, [])
    a = tf.constant(3.0, name="a")
    y = tf.cond(x > 0.0, lambda: (x * a, None), lambda: (a, None))
    (node,) = (op for op in tf.get_default_graph().get_operations() if op.type == "StatelessIf")
    assert node.name == "cond" and [t.op.name for t in node.inputs[1:]] == ["Placeholder", "a"]
    assert node.get_attr("_lower_using_switch_merge") is True
    assert y[1] is None and y[0].op.type == "Identity" and y[0].shape.as_list() == []
    assert node.get_attr("then_branch").name.startswith("cond_true_")
    gradient = tf.gradients(y[0], x)[0]
    assert [sess.run([y[0], gradient], {x: v}) for v in (2.0, -2.0)] == [[6.0, 3.0], [3.0, 0.0]]


def test_branches_may_have_effects_and_give_operations(sess):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    go = tf.placeholder(tf.bool, [])
    done = tf.cond(go, lambda: v.assign_add(2.0).op, tf.no_op)
    assert "If" in types() and done.dtype == tf.bool
    assert tf.cond(go, lambda: None, lambda: None) is None
    sess.run(tf.global_variables_initializer())
    for value in (True, False, True):
        sess.run(done, {go: value})
    assert sess.run(v) == 5.0


def test_branches_that_do_not_fit_are_refused():
    true = tf.constant(True)
    with pytest.raises(TypeError, match="same number, type"):
        tf.cond(true, lambda: 1.0, lambda: 1)
    with pytest.raises(TypeError, match="overall structure"):
        tf.cond(true, lambda: (1.0, 2.0), lambda: 1.0)


def test_a_switch_is_a_case(sess):
    index, x = tf.placeholder(tf.int32, []), tf.constant([1.0, 2.0])
    y = tf.switch_case(index, [lambda: x, lambda: x * 2.0, lambda: tf.zeros([3])])
    assert "StatelessCase" in types() and y.shape.as_list() == [None]
    results = [sess.run(y, {index: i}).tolist() for i in (0, 1, 2, 7)]
    assert results == [[1.0, 2.0], [2.0, 4.0], [0.0] * 3, [0.0] * 3]
    gradient = tf.gradients(y, x)[0]
    assert sess.run(gradient, {index: 1}).tolist() == [2.0, 2.0]


def test_a_loop_is_a_while(sess):
    n, x = tf.placeholder(tf.int32, []), tf.constant(2.0)
    i, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, tf.constant(1.0)))
    assert "StatelessWhile" in types() and "Enter" not in types()
    gradient = tf.gradients(y, x)[0]
    second = tf.gradients(gradient, x)[0]
    for trips in (0, 1, 7):
        power = 2.0**trips
        expected = [power, trips * power / 2.0, trips * (trips - 1) * power / 4.0]
        np.testing.assert_allclose(sess.run([y, gradient, second], {n: trips}), expected)


def test_loops_have_limits_and_invariants(sess):
    grown = tf.while_loop(
        lambda x: True,
        lambda x: tf.concat([x, x], 0),
        [tf.ones([1])],
        shape_invariants=[tf.TensorShape([None])],
        maximum_iterations=3,
    )
    assert grown.shape.as_list() == [None] and sess.run(grown).shape == (8,)
    with pytest.raises(ValueError, match="after one iteration"):
        tf.while_loop(lambda x: True, lambda x: tf.concat([x, x], 0), [tf.ones([1])])
    with pytest.raises(TypeError, match="after 1 iteration"):
        tf.while_loop(lambda x: True, lambda x: tf.cast(x, tf.int32), [tf.ones([1])])
    with pytest.raises((TypeError, ValueError)):
        tf.while_loop(lambda x: True, lambda x: (x, x), [tf.ones([1])])
    with pytest.raises(ValueError, match="shape invariant"):
        tf.while_loop(
            lambda x: True, lambda x: x, [tf.ones([1])], shape_invariants=[tf.TensorShape([2])]
        )


def test_bodies_have_effects_in_the_order_of_the_program(sess):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def body(i, seen):
        before = v.read_value()
        v.assign(before * 3.0)
        v.assign_add(1.0)
        return i + 1, seen + v

    _, seen = tf.while_loop(lambda i, _: i < 3, body, (0, tf.constant(0.0)))
    assert "While" in types()
    sess.run(tf.global_variables_initializer())
    assert sess.run(seen) == 4.0 + 13.0 + 40.0 and sess.run(v) == 40.0


def test_arrays_are_lists(sess):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = tf.TensorArray(tf.float32, 3, element_shape=[2]).unstack(x)
    assert array.flow.dtype == tf.variant and array.size().op.type == "Const"
    _, grown = tf.while_loop(
        lambda i, _: i < 5,
        lambda i, a: (i + 1, a.write(i, array.read(i % 3) * tf.cast(i, tf.float32))),
        (0, tf.TensorArray(tf.float32, 1, dynamic_size=True, element_shape=[2])),
    )
    stacked = grown.stack()
    gradient = tf.gradients(stacked, x)[0]
    values = sess.run(x)
    rows = np.stack([values[i % 3] * i for i in range(5)])
    np.testing.assert_allclose(sess.run(stacked), rows)
    np.testing.assert_allclose(sess.run(gradient), [[3.0] * 2, [5.0] * 2, [2.0] * 2])
    np.testing.assert_allclose(sess.run(grown.gather([1, 4])), rows[[1, 4]])
    np.testing.assert_allclose(sess.run(array.concat()), values.reshape(-1))
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(tf.range(5.0), [2, 3])
    assert sess.run([parts.read(0), parts.read(1)])[1].tolist() == [2.0, 3.0, 4.0]
    scattered = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], x).stack()
    np.testing.assert_allclose(sess.run(scattered), values[[1, 2, 0]])
    assert sess.run(grown.size()) == 5
    with pytest.raises(ValueError):
        array.write(0, tf.zeros([3]))
    with pytest.raises(ValueError):
        array.write(0, tf.zeros([2], tf.int32))


def test_maps_scans_and_folds(sess):
    x = tf.constant([1.0, 2.0, 3.0])
    results = [
        tf.map_fn(lambda r: tf.map_fn(lambda s: s * r, x), x),
        tf.scan(lambda a, r: a * r, x),
        tf.scan(lambda a, r: a + r, x, initializer=10.0, reverse=True),
        tf.foldl(lambda a, r: a - r, x),
        tf.foldr(lambda a, r: a - r, x),
    ]
    assert "TensorArrayV3" not in types()
    values = sess.run(results)
    np.testing.assert_allclose(values[0], np.outer([1, 2, 3], [1, 2, 3]))
    assert [v.tolist() for v in values[1:]] == [[1.0, 2.0, 6.0], [16.0, 15.0, 13.0], -4.0, 0.0]
    gradients = [tf.gradients(r, x)[0] for r in results[:2]]
    assert [g.tolist() for g in sess.run(gradients)] == [[12.0] * 3, [9.0, 4.0, 2.0]]


def test_functions_nest_in_each_other(sess):
    def body(x, n):
        def trip(i, y):
            return i + 1, tf.cond(y > 10.0, lambda: y - x, lambda: y * x)

        return tf.while_loop(lambda i, y: i < n, trip, (0, x))[1]

    tf.disable_control_flow_v2()  # inside of functions it is on
    specs = [tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)]
    graph = func_graph_from_py_func("f", body, specs)
    assert "StatelessWhile" in [op.type for op in graph.get_operations()]
    x, n = tf.constant(3.0), tf.placeholder(tf.int32, [])
    y = call_function(graph, [x, n]).outputs[0]
    gradient = tf.gradients(y, x)[0]
    assert [sess.run([y, gradient], {n: k}) for k in (0, 1, 2, 3)] == [
        [3.0, 1.0],
        [9.0, 6.0],
        [27.0, 27.0],
        [24.0, 26.0],
    ]


def test_layers_train_in_branches(sess):
    x, go = tf.ones([2, 3]), tf.placeholder(tf.bool, [])
    y = tf.cond(go, lambda: tf.layers.dense(x, 1, name="d"), lambda: tf.zeros([2, 1]))
    variables = tf.trainable_variables()
    assert [v.name for v in variables] == ["d/kernel:0", "d/bias:0"]
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
    sess.run(tf.global_variables_initializer())
    sess.run(train, {go: True})
    sess.run(train, {go: False})
    np.testing.assert_allclose(sess.run(variables[1]), [-0.2], rtol=1e-6)


def test_assertions_hold_in_functions(sess):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def body(x):
        tf.Assert(x > 0.0, ["x is", x])
        v.assign_add(x)
        tf.debugging.assert_less(x, 10.0, message="too large")
        return v.read_value()

    graph = func_graph_from_py_func("f", body, [tf.TensorSpec([], tf.float32)])
    x = tf.placeholder(tf.float32, [])
    y = call_function(graph, [x]).outputs[0]
    sess.run(tf.global_variables_initializer())
    assert sess.run(y, {x: 2.0}) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="x is"):
        sess.run(y, {x: -1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        sess.run(y, {x: 20.0})


def test_gradients_inside_of_functions(sess):
    a = tf.constant(3.0)

    def body(x):
        y = tf.cond(x > 0.0, lambda: x * x * a, lambda: x)
        return tf.gradients(y, [x, a])

    graph = func_graph_from_py_func("f", body, [tf.TensorSpec([], tf.float32)])
    x = tf.placeholder(tf.float32, [])
    outputs = list(call_function(graph, [x]).outputs)
    assert sess.run(outputs, {x: 2.0}) == [12.0, 4.0]
    assert sess.run(outputs, {x: -2.0}) == [1.0, 0.0]
    second = tf.gradients(outputs[0], x)[0]
    assert sess.run(second, {x: 2.0}) == 6.0


def test_gradients_inside_of_functions_of_what_is_around(sess):
    x = tf.constant([3.0, 4.0])
    y = tf.placeholder_with_default(2.0, []) * x * x

    def body(i, total):
        (slope,) = tf.gradients(y, x)
        return i + 1, total + slope

    _, total = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])])
    assert sess.run(total).tolist() == [36.0, 48.0]


def test_gradients_that_wait_for_the_loop_they_go_through(sess):
    def body(x):
        _, y = tf.while_loop(lambda i, _: i < 2, lambda i, v: (i + 1, v**2), [0, x])
        with tf.control_dependencies([y]):
            return tf.gradients(y, x)[0]

    graph = func_graph_from_py_func("f", body, [tf.TensorSpec([], tf.float32)])
    assert sess.run(call_function(graph, [tf.constant(2.0)]).outputs[0]) == 32.0


def test_a_condition_of_unknown_rank_counts_by_its_element(sess):
    p = tf.placeholder(tf.bool)
    y = tf.cond(p, lambda: 1, lambda: 2)
    assert [sess.run(y, {p: value}) for value in (True, [[True]], False, [[False]])] == [1, 1, 2, 2]
    with pytest.raises(TypeError, match="Python bool"):
        tf.cond(True, lambda: 1, lambda: 2)


@pytest.mark.parametrize("other", ["sparse", "none", "dense"])
def test_gradients_of_rows_through_branches_stay_sparse(other):
    def of_other(table, rows):
        if other == "sparse":
            return tf.reduce_sum(tf.gather(table, rows[:1]) * 3.0)
        return tf.constant(1.0) if other == "none" else tf.reduce_sum(table * table)

    for table in (
        tf.constant(np.arange(10.0).reshape(5, 2), tf.float32),
        tf.Variable(np.arange(10.0).reshape(5, 2), dtype=tf.float32, use_resource=True),
    ):
        rows, holds = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.bool, [])
        y = tf.cond(
            holds,
            lambda t=table, r=rows: tf.reduce_sum(tf.gather(t, r) ** 2),
            lambda t=table, r=rows: of_other(t, r),
        )
        (gradient,) = tf.gradients(y, [table])
        assert isinstance(gradient, tf.IndexedSlices)
        dense = tf.convert_to_tensor(gradient)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = {rows: [3, 1, 3], holds: True}
            wanted = np.zeros((5, 2))
            wanted[[1, 3]] = [[4.0, 6.0], [24.0, 28.0]]
            np.testing.assert_array_equal(session.run(dense, feeds), wanted)
            wanted = np.zeros((5, 2))
            if other == "sparse":
                wanted[3] = 3.0
            elif other == "dense":
                wanted = 2.0 * np.arange(10.0).reshape(5, 2)
            feeds[holds] = False
            np.testing.assert_array_equal(session.run(dense, feeds), wanted)


def test_lists_are_stacked_and_taken_apart():
    def list_of(*values):
        made = tf.raw_ops.EmptyTensorList(
            element_shape=tf.constant([], tf.int32), max_num_elements=-1, element_dtype=tf.float32
        )
        for value in values:
            made = tf.raw_ops.TensorListPushBack(input_handle=made, tensor=value)
        return made

    def length(made):
        return tf.raw_ops.TensorListLength(input_handle=made)

    lists = [[list_of(*[1.0] * (3 * i + k)) for k in range(3)] for i in range(2)]
    whole = tf.stack([tf.stack(row) for row in lists])
    columns = tf.unstack(whole, axis=1)
    other = tf.stack([columns[2], columns[0]], axis=1)
    assert whole.shape.as_list() == [2, 3] and other.shape.as_list() == [2, 2]
    lengths = [length(one) for row in tf.unstack(other) for one in tf.unstack(row)]
    longer = tf.raw_ops.TensorListPushBack(input_handle=tf.unstack(columns[1])[1], tensor=2.0)
    with tf.Session() as session:
        for _ in range(2):
            values = session.run([*lengths, length(longer), length(lists[1][1])])
            assert values == [2, 0, 5, 3, 5, 4]
