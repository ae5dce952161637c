"""Variables: values, assignment, sharing by name, scopes, initializers, collections."""

import numpy as np
import pytest
import rheos.v1 as tf


def initialized(sess, *variables):
    sess.run(tf.variables_initializer(list(variables)))
    return sess.run(list(variables))


def op_names():
    return [op.name for op in tf.get_default_graph().get_operations()]


def test_a_variable_is_four_nodes():
    v = tf.Variable([1.0, 2.0], name="v")
    assert op_names() == ["v/initial_value", "v", "v/Assign", "v/read"]
    assert (v.name, v.op.type, v.op.name, v.value().name) == ("v:0", "VariableV2", "v", "v/read:0")
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32_ref>"
    assert v.shape == (2,) and v.get_shape().as_list() == [2] and v.graph is v.op.graph
    assert v.initializer.name == "v/Assign" and v.initial_value.name == "v/initial_value:0"
    assert tf.Variable(0).name == "Variable:0" and tf.Variable(0).name == "Variable_1:0"


def test_assignments(sess):
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable([0.0, 0.0])
    sess.run(tf.global_variables_initializer())
    assert sess.run(v.assign([5, 6])).tolist() == [5, 6]
    assert sess.run(v.assign_add([1, 1])).tolist() == [6, 7]
    assert sess.run(tf.assign_sub(v, [1.0, 0.0])).tolist() == [5, 7]
    assert sess.run(tf.assign(w, v * 2)).tolist() == [10, 14]
    assert isinstance(v.assign([0.0, 0.0], read_value=False), tf.Operation)
    v.load([8.0, 9.0], sess)
    assert v.eval(sess).tolist() == [8, 9]
    with sess.as_default():
        assert v.eval().tolist() == [8, 9]
    with pytest.raises(ValueError):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(TypeError):
        tf.assign(v, ["a", "b"])
    with pytest.raises((TypeError, AttributeError, ValueError)):
        tf.assign(tf.constant(1.0), 2.0)


def test_rows_are_scattered(sess):
    with tf.device("/cpu:0"):  # a card leaves out what is out of range
        v = tf.Variable([[1.0], [2.0], [3.0]])
    sess.run(v.initializer)
    assert sess.run(tf.scatter_update(v, [0, 2], [[7.0], [9.0]])).ravel().tolist() == [7, 2, 9]
    assert sess.run(tf.scatter_add(v, [0, 0], [[1.0], [1.0]])).ravel().tolist() == [9, 2, 9]
    rows = tf.IndexedSlices(tf.constant([[2.0]]), tf.constant([1]))
    assert sess.run(v.scatter_sub(rows)).ravel().tolist() == [9, 0, 9]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.scatter_update(v, [3], [[0.0]]))
    assert sess.run(v).ravel().tolist() == [9, 0, 9]


def test_reading_is_ordered_by_control_dependencies(sess):
    v = tf.Variable(1)
    sess.run(v.initializer)
    with tf.control_dependencies([v.assign(5)]):
        fresh = v.read_value()
    assert sess.run(fresh) == 5


def test_an_uninitialized_variable_names_itself(sess):
    v = tf.Variable(1.0, name="weight")
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value weight"):
        sess.run(v + 1)
    with pytest.raises(tf.errors.FailedPreconditionError) as caught:
        sess.run(v.assign_add(1.0))
    assert caught.value.error_code == 9 and "test_variables.py" in caught.value.message
    assert not sess.run(tf.is_variable_initialized(v))
    assert sess.run(tf.report_uninitialized_variables()).tolist() == [b"weight"]
    sess.run(v.initializer)
    assert sess.run(tf.is_variable_initialized(v))
    assert sess.run(tf.report_uninitialized_variables()).tolist() == []


def test_initial_values_may_depend_on_others(sess):
    v = tf.Variable(tf.random_normal([2, 2]))
    w = tf.Variable(v.initialized_value() * 2)
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(w), sess.run(v) * 2)
    x = tf.Variable(lambda: tf.zeros([3]), name="lazy")
    assert x.op.name == "lazy" and "lazy/Initializer/zeros" in op_names()


def test_variables_that_cannot_be():
    with pytest.raises(ValueError, match="initial_value must be specified."):
        tf.Variable()
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="collections argument"):
        tf.Variable(1, collections="variables")
    loose = tf.Variable(tf.placeholder(tf.float32), validate_shape=False)
    assert loose.shape.ndims is None
    with pytest.raises(TypeError):
        iter(tf.Variable([1]))


def test_collections_of_variables():
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(1.0, trainable=False, name="w")
    local = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    assert tf.global_variables() == [v, w] == tf.all_variables()
    assert tf.trainable_variables() == [v] and tf.local_variables() == [local]
    assert tf.global_variables(scope="w") == [w] and not w.trainable


# ---- Sharing


def test_get_variable_makes_or_finds():
    v = tf.get_variable("v", [2, 3])
    assert v.op.name == "v" and v.dtype.base_dtype is tf.float32
    with pytest.raises(ValueError) as caught:
        tf.get_variable("v", [2, 3])
    text = str(caught.value)
    assert text.startswith(
        "Variable v already exists, disallowed. Did you mean to set reuse=True or "
        "reuse=tf.AUTO_REUSE in VarScope? Originally defined at:"
    )
    assert "test_variables.py:" in text
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("v", [2, 3]) is v and tf.get_variable("v") is v
        with pytest.raises(ValueError, match=r"specified shape \(4,\) and found shape \(2, 3\)"):
            tf.get_variable("v", [4])
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32_ref"):
            tf.get_variable("v", [2, 3], tf.int32)
        with pytest.raises(ValueError, match="Variable w does not exist, or was not created with"):
            tf.get_variable("w", [1])
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("v", [2, 3]) is v
        w = tf.get_variable("w", [1])
        assert tf.get_variable("w", [1]) is w
    assert tf.Variable(1.0, name="v").op.name == "v_1"
    with pytest.raises(ValueError, match="should be fully defined"):
        tf.get_variable("x")


def test_variable_scopes_name_variables_and_operations():
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("v", [])
        assert (v.name, tf.constant(1).name) == ("a/v:0", "a/Const:0")
        with tf.variable_scope("b"):
            assert tf.get_variable("v", []).name == "a/b/v:0"
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", []) is v and tf.constant(1).name == "a_1/Const:0"
        with tf.variable_scope("b"):
            assert tf.get_variable("v", []).name == "a/b/v:0"
    with tf.variable_scope(scope, reuse=True) as again:
        assert again.name == "a" and tf.get_variable("v", []) is v
        assert again.original_name_scope == "a/" and tf.constant(1).name == "a_2/Const:0"
    with tf.name_scope("elsewhere"):
        assert tf.get_variable("w", []).name == "w:0"
    assert tf.get_variable_scope().name == "" and not tf.get_variable_scope().reuse
    with tf.variable_scope("a"):
        tf.get_variable_scope().reuse_variables()
        assert tf.get_variable("v", []) is v
    with pytest.raises(ValueError):
        with tf.variable_scope("a"):
            tf.get_variable("v", [])


def test_default_names_are_made_unique():
    def layer():
        with tf.variable_scope(None, default_name="layer"):
            return tf.get_variable("w", []).name

    assert [layer(), layer(), layer()] == ["layer/w:0", "layer_1/w:0", "layer_2/w:0"]
    with tf.variable_scope("outer"):
        assert layer() == "outer/layer/w:0"
    with pytest.raises(ValueError, match="reuse=True cannot be used without a name_or_scope"):
        with tf.variable_scope(None, default_name="x", reuse=True):
            pass
    with pytest.raises(TypeError):
        tf.variable_scope(None)


def test_scopes_carry_defaults(sess):
    losses = []

    def regularize(v):
        losses.append(v)
        return tf.reduce_sum(v)

    def double(getter, name, *args, **kwargs):
        return getter(name, *args, **kwargs) * 2

    with tf.variable_scope(
        "s", initializer=tf.constant_initializer(3.0), regularizer=regularize, dtype=tf.float64
    ):
        v = tf.get_variable("v", [2])
        with tf.variable_scope("t", custom_getter=double):
            doubled = tf.get_variable("w", [])
    assert v.dtype.base_dtype is tf.float64 and losses[0] is v
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)[0].name == "s/v/Regularizer/Sum:0"
    sess.run(tf.global_variables_initializer())
    assert sess.run(v).tolist() == [3, 3] and sess.run(doubled) == 6


def test_values_as_initializers(sess):
    a = tf.get_variable("a", initializer=3.0)
    b = tf.get_variable("b", initializer=tf.constant([1, 2]))
    c = tf.get_variable("c", initializer=np.zeros([2, 2]))
    values = initialized(sess, a, b, c)
    assert values[0] == 3 and values[1].tolist() == [1, 2] and values[2].shape == (2, 2)
    with pytest.raises(ValueError, match="If initializer is a constant, do not specify shape."):
        tf.get_variable("d", [1], initializer=3.0)
    with pytest.raises(ValueError, match="don't match"):
        tf.get_variable("e", initializer=3.0, dtype=tf.int32)


@pytest.mark.parametrize(
    ("initializer", "check"),
    [
        (tf.zeros_initializer(), lambda v: (v == 0).all()),
        (tf.zeros_initializer, lambda v: (v == 0).all()),
        (tf.ones_initializer(), lambda v: (v == 1).all()),
        (tf.constant_initializer(2.5), lambda v: (v == 2.5).all()),
        (tf.constant_initializer(np.arange(1200).reshape(30, 40)), lambda v: v[29, 39] == 1199),
        (tf.random_uniform_initializer(-2, 2), lambda v: abs(v).max() <= 2 and v.std() > 1),
        (tf.random_normal_initializer(5.0, 0.1), lambda v: abs(v.mean() - 5) < 0.05),
        (tf.truncated_normal_initializer(stddev=0.1), lambda v: abs(v).max() <= 0.2),
        (tf.glorot_uniform_initializer(), lambda v: abs(v).max() <= (6 / 70) ** 0.5),
        (tf.glorot_normal_initializer(), lambda v: 0.1 < v.std() < 0.25),
        (tf.variance_scaling_initializer(), lambda v: abs(v.std() - (1 / 30) ** 0.5) < 0.05),
        (tf.uniform_unit_scaling_initializer(), lambda v: abs(v).max() <= (3 / 30) ** 0.5),
        (None, lambda v: abs(v).max() <= (6 / 70) ** 0.5 and v.std() > 0.05),
        (lambda shape, dtype, partition_info=None: tf.fill(shape, 4.0), lambda v: (v == 4).all()),
    ],
)
def test_initializers(sess, initializer, check):
    v = tf.get_variable("v", [30, 40], initializer=initializer)
    (value,) = initialized(sess, v)
    assert value.shape == (30, 40) and check(value)


def test_seeds_make_runs_repeat():
    def draw(graph_seed, op_seed):
        with tf.Graph().as_default():
            if graph_seed is not None:
                tf.set_random_seed(graph_seed)
            x = tf.random_uniform([4], seed=op_seed)
            with tf.Session() as session:
                return session.run(x).tolist()

    assert draw(1, None) == draw(1, None) != draw(2, None)
    assert draw(None, 3) == draw(None, 3) and draw(1, 3) != draw(1, 4)
    assert draw(None, None) != draw(None, None)


def test_scatter__changes_rows_and_places():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    changes = [
        (tf.scatter_min(v, [1], [[0.0, 9.0]]), [[1, 2], [0, 4]]),
        (tf.scatter_max(v, [0], [[5.0, 0.0]]), [[5, 2], [3, 4]]),
        (tf.scatter_nd_update(v, [[0, 1]], [7.0]), [[1, 7], [3, 4]]),
        (tf.scatter_nd_add(v, [[1, 0], [1, 0]], [1.0, 2.0]), [[1, 2], [6, 4]]),
        (tf.scatter_nd_sub(v, [[1]], [[1.0, 2.0]]), [[1, 2], [2, 2]]),
    ]
    with tf.Session() as sess:
        for change, expected in changes:
            sess.run(v.initializer)
            assert sess.run(change).tolist() == expected


@pytest.mark.parametrize("use_resource", [False, True])
def test_batches_are_set_by_their_own_indices(use_resource, sess):
    v = tf.Variable([[1, 2, 3], [4, 5, 6]], use_resource=use_resource)
    update = tf.batch_scatter_update(v, [[0, 1], [2, 0]], [[9, 8], [7, 6]])
    sess.run(tf.global_variables_initializer())
    assert sess.run(update).tolist() == [[9, 8, 3], [6, 5, 7]]
    with pytest.raises(ValueError, match="unknown shape"):
        tf.batch_scatter_update(v, tf.placeholder(tf.int32), [1])


def test_a_variable_may_come_to_hold_another_shape():
    variable = tf.Variable([1.0, 2.0])
    value = tf.placeholder(tf.float32)
    longer = tf.assign(variable, [1.0, 2.0, 3.0], validate_shape=False)
    given = tf.assign(variable, value, validate_shape=False)
    assert longer.shape == [3] and given.shape.ndims is None and variable.shape == [2]
    double, total = variable * 2, tf.reduce_sum(variable)
    with tf.control_dependencies([given]):
        after = variable.read_value() + 1
    with tf.Session() as sess:
        sess.run(variable.initializer)
        call = sess.make_callable([variable, double, total])
        for results in (sess.run([variable, double, total]), call()):
            np.testing.assert_array_equal(results[1], [2, 4])
        sess.run(longer)  # plans made for the old shape must not be used
        for results in (sess.run([variable, double, total]), call()):
            np.testing.assert_array_equal(results[0], [1, 2, 3])
            np.testing.assert_array_equal(results[1], [2, 4, 6])
            assert results[2] == 6
        assert sess.run(given, {value: [[5]]}).shape == (1, 1)
        np.testing.assert_array_equal(sess.run(double), [[10]])
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"match. lhs shape= \[1,1\] rhs shape= \[2\]",
        ):
            sess.run(variable.initializer)
        np.testing.assert_array_equal(sess.run(after, {value: [7, 8, 9]}), [8, 9, 10])
        np.testing.assert_array_equal(call()[1], [14, 16, 18])
        np.testing.assert_array_equal(sess.run(variable[1:]), [8, 9])
        sess.run(tf.assign(variable, [3.0, 4.0], validate_shape=False))
        sess.run(variable.initializer)
        np.testing.assert_array_equal(call()[1], [2, 4])


def test_variables_of_text_start_empty():
    text = tf.get_variable("text", [2], tf.string)
    with tf.Session() as sess:
        assert initialized(sess, text)[0].tolist() == [b"", b""]
    with pytest.raises(ValueError, match="An initializer for variable odd of .*complex64"):
        tf.get_variable("odd", [2], tf.complex64)


def test_an_auxiliary_name_scope_is_true_or_false():
    with pytest.raises(TypeError, match="`True` or `False`, while get x"):
        tf.variable_scope("a", auxiliary_name_scope="x")


def test_programs_make_parts_of_variables_themselves(tmp_path):
    info = tf.Variable.SaveSliceInfo
    parts = [tf.Variable([float(i), i + 0.5], name=f"part{i}") for i in range(2)]
    for i, part in enumerate(parts):
        part._set_save_slice_info(info("whole", [4], [2 * i], [2]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver({"whole": parts}).save(sess, str(tmp_path / "c"))
    assert tf.train.load_variable(path, "whole").tolist() == [0, 0.5, 1, 1.5]


def test_get_variable__takes_the_dtype_of_a_variable():
    v = tf.get_variable("v", [2])
    assert tf.get_variable("w", [3], dtype=v.dtype).dtype == v.dtype
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("w", [3], dtype=v.dtype).name == "w:0"


def test_custom_getter__sees_how_a_variable_is_distributed():
    seen = []

    def getter(getter, *args, **kwargs):
        seen.append((kwargs["synchronization"], kwargs["aggregation"]))
        return getter(*args, **kwargs)

    tf.get_variable("v", [1], custom_getter=getter)
    assert seen == [(tf.VariableSynchronization.AUTO, tf.VariableAggregation.NONE)]
    with pytest.raises(ValueError, match="not callable"):
        tf.get_variable("w", [1], custom_getter=3)


def test_get_local_variable__takes_its_arguments_by_position():
    v = tf.get_local_variable("v", [2], tf.int32, tf.zeros_initializer(), None, True)
    assert tf.local_variables() == [v] and tf.trainable_variables() == []


def test_variable_scopes_are_left_in_order():
    outer = tf.variable_scope("outer")
    outer.__enter__()
    with tf.variable_scope("inner"):
        with pytest.raises(RuntimeError, match="Improper nesting"):
            outer.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert tf.get_variable("v", []).name == "v:0"


def test_assign__to_a_resource_variable_of_another_graph():
    graph = tf.Graph()
    with graph.as_default():
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
    assert v.assign(2.0).graph is graph


def test_partitioned_variables__are_assigned_as_one_or_part_by_part(sess):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [4], initializer=tf.ones_initializer())
    sess.run(v.initializer if hasattr(v, "initializer") else tf.global_variables_initializer())
    deltas = [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]
    for step, expected in (
        (v.assign_add(tf.constant([1.0, 2.0, 3.0, 4.0])), [[2, 3], [4, 5]]),
        (v.assign_sub(deltas, name="less"), [[1, 1], [1, 1]]),
        (v.assign([[5.0, 6.0], [7.0, 8.0]]), [[5, 6], [7, 8]]),
        (v.assign(v), [[5, 6], [7, 8]]),
    ):
        assert [part.tolist() for part in sess.run(step)] == expected
    assert "less" in [op.name for op in tf.get_default_graph().get_operations()]
    with pytest.raises(ValueError, match="has 2 parts, but 3 values"):
        v.assign([1.0, 2.0, 3.0])


def test_partitioned_variables__more_parts_than_elements():
    with pytest.raises(ValueError, match="offset=3, shape=3"):
        tf.create_partitioned_variables([3, 2], [4, 1], tf.zeros([3, 2]))
