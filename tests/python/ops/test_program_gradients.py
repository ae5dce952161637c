"""Gradients that a program defines: RegisterGradient, gradient_override_map, custom_gradient."""

import numpy as np
import pytest
import rheos.v1 as tf

X = [-1.5, 0.4, 2.0]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@tf.RegisterGradient("TestGuided")
def _guided(op, gradient):
    return tf.where(gradient > 0.0, gradient * 2.0, tf.zeros_like(gradient)) + op.inputs[0] * 0.0


@tf.RegisterGradient("TestTooMany")
def _too_many(op, gradient):
    return gradient, gradient


@tf.RegisterGradient("TestRaising")
def _raising(op, gradient):
    raise ZeroDivisionError("no gradient today")


def test_operations_of_a_type_get_a_registered_gradient(graph):
    x = tf.constant(X)
    with graph.gradient_override_map({"Relu": "TestGuided"}):
        y = tf.nn.relu(x) + tf.nn.relu6(x)
    outside = tf.nn.relu(x)
    np.testing.assert_array_equal(run(tf.gradients(y, x)[0]), [2, 3, 3])
    np.testing.assert_array_equal(run(tf.gradients(outside, x)[0]), [0, 1, 1])


@pytest.mark.parametrize(
    "function, name", [(tf.sign, "Sign"), (tf.round, "Round"), (tf.floor, "Floor")]
)
def test_gradients_pass_straight_through(graph, function, name):
    x = tf.constant(X)
    with graph.gradient_override_map({name: "Identity"}):
        y = function(x) * 3.0
    np.testing.assert_array_equal(run(tf.gradients(y, x)[0]), [3, 3, 3])


def test_override_is_an_attribute_of_the_node_and_survives_export(graph):
    with graph.gradient_override_map({"Relu": "TestGuided"}):
        tf.nn.relu(tf.constant(X), name="a")
    node = graph.as_graph_def().node[-1]
    assert node.attr["_gradient_op_type"].s == b"TestGuided"
    with tf.Graph().as_default():
        (relu,) = tf.import_graph_def(graph.as_graph_def(), return_elements=["a:0"], name="")
        assert relu.op.get_attr("_gradient_op_type") == b"TestGuided"
        np.testing.assert_array_equal(run(tf.gradients(relu, relu.op.inputs[0])[0]), [2, 2, 2])


def test_overrides_nest(graph):
    x = tf.constant(X)
    with graph.gradient_override_map({"Relu": "TestGuided", "Sign": "Identity"}):
        with graph.gradient_override_map({"Relu": "Identity"}):
            inner = tf.nn.relu(x)
        outer = tf.nn.relu(x)
    np.testing.assert_array_equal(run(tf.gradients(inner, x)[0]), [1, 1, 1])
    np.testing.assert_array_equal(run(tf.gradients(outer, x)[0]), [2, 2, 2])


def test_gradient_that_is_not_registered_is_a_lookup_error(graph):
    x = tf.constant(X)
    with graph.gradient_override_map({"Relu": "TestNobody", "Tanh": "MatMul", "Exp": "Concat"}):
        for y in tf.nn.relu(x), tf.tanh(x), tf.exp(x):  # nor one of another form
            with pytest.raises(LookupError, match="No gradient defined for operation"):
                tf.gradients(y, x)


def test_what_a_gradient_function_raises_reaches_the_caller(graph):
    x = tf.constant(X)
    with graph.gradient_override_map({"Relu": "TestRaising", "Tanh": "TestTooMany"}):
        y, z = tf.nn.relu(x), tf.tanh(x)
    with pytest.raises(ZeroDivisionError, match="today"):
        tf.gradients(y, x)
    with pytest.raises(ValueError, match="(?s)Num gradients 2 .* do not match"):
        tf.gradients(z, x)
    assert tf.gradients(tf.exp(x), x)[0] is not None  # the graph goes on


def test_names_are_registered_once():
    with pytest.raises(KeyError, match="TestGuided"):
        tf.RegisterGradient("TestGuided")(_guided)
    for known in ("MatMul", "ZerosLike"):  # of the second, the library says that none flows
        with pytest.raises(KeyError, match=f"two gradient with name '{known}'"):
            tf.RegisterGradient(known)(_guided)
        with pytest.raises(KeyError, match=f"two gradient with name '{known}'"):
            tf.no_gradient(known)
    with pytest.raises(TypeError):
        tf.RegisterGradient(3)
    with pytest.raises(TypeError, match="dictionary"):
        tf.get_default_graph().gradient_override_map(["Relu"])
    with pytest.raises(TypeError, match="Keys"):
        tf.get_default_graph().gradient_override_map({1: "Relu"})


def test_op_without_gradient_gives_none(graph):
    tf.NotDifferentiable("TestNothing")
    x = tf.constant(X)
    with graph.gradient_override_map({"Relu": "TestNothing"}):
        y = tf.nn.relu(x)
    assert tf.gradients(y, x) == [None]


@tf.custom_gradient
def log1p_exp(x):
    e = tf.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))

    return tf.log(1 + e), grad


def test_custom_gradient_is_used_and_differentiable(graph):
    x = tf.constant(100.0)
    y = log1p_exp(x)
    first = tf.gradients(y, x)[0]
    assert run(first) == 1.0
    small = tf.constant(0.5)
    second = tf.gradients(tf.gradients(log1p_exp(small), small)[0], small)[0]
    s = 1 / (1 + np.exp(-0.5))
    np.testing.assert_allclose(run(second), s * (1 - s), rtol=1e-6)


def test_custom_gradient_of_several_tensors_and_a_variable(graph):
    @tf.custom_gradient
    def f(a, b):
        v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource=True)

        def grad(da, db, variables=None):
            assert variables == [v]
            return (da * 10 + db, da - db), [da * 7]

        return (a * v, b + a), grad

    a, b = tf.constant(X), tf.constant(X)
    outputs = f(a, b)
    found = run(tf.gradients(outputs, [a, b, tf.trainable_variables()[0]]))
    np.testing.assert_array_equal(found, [[11] * 3, [0] * 3, [7] * 3])


def test_custom_gradient_says_what_it_cannot_take(graph):
    with pytest.raises(ValueError, match="keywords arguments"):
        log1p_exp(x=tf.constant(1.0))

    @tf.custom_gradient
    def with_reference(x):
        v = tf.get_variable("r", [], use_resource=False)
        return x * v, lambda dy, variables=None: (dy, [dy])

    with pytest.raises(TypeError, match="ResourceVariable"):
        with_reference(tf.constant(1.0))

    @tf.custom_gradient
    def without_argument(x):
        v = tf.get_variable("s", [], use_resource=True)
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="keyword argument 'variables'"):
        without_argument(tf.constant(1.0))


def test_recomputed_and_passed_gradients(graph):
    x = tf.constant(X)
    again = tf.recompute_grad(lambda t: tf.tanh(t) * t)(x)
    plain = tf.tanh(x) * x
    found = run([tf.gradients(again, x)[0], tf.gradients(plain, x)[0]])
    np.testing.assert_allclose(*found, rtol=1e-6)
    rounded = tf.grad_pass_through(tf.round)(x)
    np.testing.assert_array_equal(run([rounded, tf.gradients(rounded, x)[0]])[1], [1, 1, 1])
