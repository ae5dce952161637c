"""Bodies of functions: what they capture, effects in the order of the program, calls."""

import gc
import weakref

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework.auto_control_deps import AutomaticControlDependencies
from rheos.framework.errors import InaccessibleTensorError
from rheos.framework.func_graph import FuncGraph, call_function, func_graph_from_py_func


def scalar_variable(name, value):
    return tf.get_variable(name, initializer=float(value), use_resource=True)


def run_call(sess, call):
    sess.run(tf.global_variables_initializer())
    return sess.run(call.outputs)


def test_tensors_of_the_graph_around_become_arguments(sess):
    a, b = tf.constant([1.0, 2.0]), tf.constant(3.0)
    graph = func_graph_from_py_func("f", lambda x: (a * x + b - a, tf.exp(b)), [tf.constant(1.0)])
    assert graph.external_captures == [a, b]
    assert all(t.graph is graph for t in graph.internal_captures + graph.outputs)
    assert graph.inputs[1:] == graph.internal_captures
    call = call_function(graph, [5.0])
    assert call.type == "PartitionedCall" and list(call.inputs[1:]) == [a, b]
    assert [t.shape.as_list() for t in call.outputs] == [[2], []]
    np.testing.assert_allclose(sess.run(call.outputs[0]), [7.0, 11.0])


def test_captures_pass_functions_between(sess):
    a = tf.constant(2.0)

    def outer(x):
        inner = func_graph_from_py_func("inner", lambda y: y * a + x, [x])
        assert len(inner.external_captures) == 2
        return call_function(inner, [x + 1.0]).outputs[0]

    graph = func_graph_from_py_func("outer", outer, [tf.constant(1.0)])
    assert graph.external_captures == [a]
    assert sess.run(call_function(graph, [10.0]).outputs) == [32.0]


def test_tensors_of_other_graphs_are_refused():
    seen = []
    func_graph_from_py_func("f", lambda x: seen.append(x + 1.0), [tf.constant(1.0)])
    with pytest.raises(InaccessibleTensorError, match="out of scope"):
        func_graph_from_py_func("g", lambda x: x + seen[0], [tf.constant(1.0)])
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ValueError, match="out of scope"):
        func_graph_from_py_func("h", lambda x: tf.add(other, x), [tf.constant(1.0)])
    with pytest.raises(ValueError):
        seen[0] + tf.constant(1.0)


class Outside:
    """A value of no graph, as an eager tensor is."""

    dtype, shape, is_tensor_like = tf.float32, tf.TensorShape([2]), True

    def __init__(self, constant=None):
        self._constant = constant

    def _capture_as_const(self, name):
        return None if self._constant is None else tf.constant(self._constant)


def test_values_of_no_graph_are_captured():
    graph, large, small = FuncGraph("f"), Outside(), Outside([1.0, 2.0])
    inside = graph.capture(large, name="large")
    assert graph.capture(large) is inside and inside.op.type == "Placeholder"
    assert inside.shape.as_list() == [2]
    assert graph.capture(small).op.type == "Const" and graph.capture(small) is graph.capture(small)
    assert graph.external_captures == [large]


def test_effects_happen_in_the_order_of_the_program(sess):
    v, w = scalar_variable("v", 1), scalar_variable("w", 1)

    def body():
        before = v.read_value()
        v.assign(before * 10.0)
        w.assign_add(v)
        v.assign_add(w)
        return before, v, w.read_value()

    graph = func_graph_from_py_func("f", body)
    assert [v, w] == list(graph.variables)
    call = call_function(graph, [])
    assert call.type == "StatefulPartitionedCall"
    assert run_call(sess, call) == [1.0, 21.0, 11.0]
    assert sess.run([v, w]) == [21.0, 11.0]
    assert [op.type for op in graph.control_outputs] == ["AssignVariableOp"] + [
        "AssignAddVariableOp"
    ] * 2


def test_other_effects_are_ordered_among_each_other():
    with FuncGraph("f").as_default() as graph, AutomaticControlDependencies() as control:
        first = tf.Print(1.0, ["a"]).op
        second = tf.Assert(tf.constant(True), ["b"])
        tf.random.uniform([])
    assert second.control_inputs == [first]
    assert [op.type for op in control.ops_which_must_run] == ["Print", "Assert", "RandomUniform"]
    assert not graph.get_operations()[-1].control_inputs


def test_a_call_of_a_function_with_effects_keeps_its_place(sess):
    v = scalar_variable("v", 2)
    double = func_graph_from_py_func("double", lambda: v.assign(v * 2.0))

    def body():
        call_function(double, [])
        middle = v.read_value()
        call_function(double, [])
        return middle, v

    assert run_call(sess, call_function(func_graph_from_py_func("f", body), [])) == [4.0, 8.0]


def test_variables_made_inside_lie_outside(sess):
    made = []

    def body(x):
        with tf.variable_scope("layer"):
            made.append(tf.get_variable("kernel", [3], use_resource=True))
            made.append(tf.get_variable("bias", initializer=1.0))
        return tf.layers.dense(x, 2, use_bias=False), made[0] + made[1]

    graph = func_graph_from_py_func("f", body, [tf.ones([1, 3])])
    names = ["layer/kernel:0", "layer/bias:0", "dense/kernel:0"]
    assert [v.name for v in tf.trainable_variables()] == names
    assert all(v.graph is tf.get_default_graph() for v in tf.global_variables())
    assert tf.get_variable_scope().reuse is False
    with tf.variable_scope("layer", reuse=True):
        assert tf.get_variable("kernel", [3]) is made[0]
    call = call_function(graph, [tf.ones([1, 3])])
    assert [t.shape.as_list() for t in call.outputs] == [[1, 2], [3]]
    np.testing.assert_allclose(run_call(sess, call)[1], sess.run(made[0]) + 1.0)


def test_by_value_variables_are_read_around_the_function(sess):
    v = scalar_variable("v", 3)
    graph = func_graph_from_py_func(
        "f", lambda: v * 2.0 + tf.gather(tf.reshape(v, [1]), 0), capture_by_value=True
    )
    assert {t.op.type for t in graph.external_captures} == {"ReadVariableOp"}
    call = call_function(graph, [])
    assert call.type == "PartitionedCall" and run_call(sess, call) == [9.0]


def test_gradients_of_calls_reach_captures(sess):
    v, a = scalar_variable("v", 3), tf.constant(2.0)
    graph = func_graph_from_py_func("f", lambda x: x * v * a, [a])
    x = tf.constant(5.0)
    gradients = tf.gradients(call_function(graph, [x]).outputs, [x, v, a])
    sess.run(tf.global_variables_initializer())
    assert sess.run(gradients) == [6.0, 10.0, 15.0]


def test_control_dependencies_on_what_is_outside_are_the_calls(sess):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    set_it = v.assign(5.0).op

    def body(x):
        with tf.control_dependencies([set_it]):
            return tf.identity(x)

    graph = func_graph_from_py_func("f", body, [tf.constant(1.0)])
    call = call_function(graph, [1.0])
    assert graph.control_captures == [set_it] and set_it in call.control_inputs


def test_structures_come_back_and_wrong_calls_are_refused():
    spec = tf.TensorSpec([None, 2], tf.float32, name="x")
    graph = func_graph_from_py_func("f", lambda x, n: {"y": x[0], "n": n}, [spec, 4])
    assert graph.inputs[0].op.name == "x" and graph.inputs[0].shape.as_list() == [None, 2]
    assert sorted(graph.structured_outputs) == ["n", "y"] and len(graph.outputs) == 2
    with pytest.raises(ValueError, match="takes 1 arguments, the call has 2"):
        call_function(graph, [1.0, 2.0])
    with pytest.raises(TypeError, match="out of scope"), graph.as_default():
        tf.constant(1.0)
    with pytest.raises(ValueError, match="different function"):
        func_graph_from_py_func("f", lambda: tf.constant(1.0)).finish()


def test_initializing_leaves_functions():
    def body():
        with tf.name_scope("inner"), tf.init_scope():
            assert tf.get_default_graph() is root
            return tf.constant(1.0, name="c")

    root = tf.get_default_graph()
    graph = func_graph_from_py_func("f", body)
    assert [t.name for t in graph.external_captures] == ["inner/c:0"]


def test_a_body_that_nobody_wants_goes_away():
    graph = FuncGraph("f")
    with graph.as_default():
        tf.constant(1.0) + tf.get_default_graph().capture(tf.constant(2.0))
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None


def call_by_name(function, *inputs):
    graph = tf.get_default_graph()
    return graph._node(function.name, None, [tf.convert_to_tensor(x) for x in inputs], ())


def make_power():
    spec = tf.TensorSpec([], tf.float32)
    count = tf.TensorSpec([], tf.int32)
    return func_graph_from_py_func(
        "power", lambda x, n: (tf.pow(x, tf.cast(n, tf.float32)), n), [spec, count]
    ).finish()


def test_gradients_of_calls_by_name_are_symbolic(sess):
    x, n = tf.constant(3.0), tf.constant(2)
    call = call_by_name(make_power(), x, n)
    assert sess.run(call.outputs) == [9.0, 2]
    (gradient,) = tf.gradients(call.outputs[0], [x])
    assert gradient.op.type == "SymbolicGradient"
    assert gradient.op.get_attr("f").name == "power"
    assert sess.run(gradient) == 6.0
    assert sess.run(gradient.op.outputs[1]) == 0


def test_the_gradient_of_a_function_may_be_another_function(sess):
    function = make_power()
    specs = [tf.TensorSpec([], t) for t in (tf.float32, tf.int32, tf.float32, tf.int32)]
    func_graph_from_py_func("mine", lambda x, n, dy, dn: (dy * 100.0, n), specs).finish()
    graph = tf.get_default_graph()
    graph._set_function_gradient("power", "mine")
    with pytest.raises(ValueError, match="already has gradient"):
        graph._set_function_gradient("power", "power")
    x = tf.constant(3.0)
    y = call_by_name(function, x, 2).outputs[0]
    gradient = tf.gradients(y, x)[0]
    assert sess.run(gradient) == 100.0
    exported = graph.as_graph_def()
    (said,) = exported.library.gradient
    assert (said.function_name, said.gradient_func) == ("power", "mine")
    with tf.Graph().as_default(), tf.Session() as other:
        tf.import_graph_def(exported, name="")
        assert other.run(gradient.name) == 100.0
        again = tf.get_default_graph().as_graph_def()
        assert list(again.library.gradient) == [said]


def test_functions_leave_the_library(sess):
    function, x = make_power(), tf.constant(3.0)
    call = call_function(function, [x, 2])
    y = call.outputs[0]
    gradient = tf.gradients(y, x)[0]
    assert sess.run([y, gradient]) == [9.0, 6.0]
    graph = tf.get_default_graph()
    assert len(graph.as_graph_def().library.function) > 1
    graph._remove_function("power")
    assert not graph.as_graph_def().library.function
    assert sess.run([y, gradient]) == [9.0, 6.0]  # as planned
    with pytest.raises(tf.errors.NotFoundError, match="not defined"):
        sess.run(y)
    with pytest.raises(tf.errors.NotFoundError):
        graph._remove_function("power")
    make_power()


def test_many_functions_come_and_go():
    for i in range(300):
        graph = func_graph_from_py_func(f"f{i}", lambda: tf.constant(1.0)).finish()
        tf.get_default_graph()._remove_function(graph.name)
    assert not tf.get_default_graph().as_graph_def().library.function


@pytest.mark.parametrize("operation", [tf.identity, tf.negative])
def test_operations_wait_for_arguments(sess, operation):
    def body(a, b):
        with tf.control_dependencies([a]):
            return operation(b)

    inner = func_graph_from_py_func("inner", body, [tf.constant(1.0)] * 2).finish()
    outer = func_graph_from_py_func(
        "outer", lambda a, b: call_function(inner, [a * b, b]).outputs[0], [tf.constant(1.0)] * 2
    ).finish()
    given = [tf.placeholder_with_default(2.0, []), tf.constant(3.0)]
    for graph in (inner, outer):
        assert abs(run_call(sess, call_function(graph, given))[0]) == 3.0
