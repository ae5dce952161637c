"""Gradients that programs register, in functions and eagerly; the values are TensorFlow's."""

import itertools

import pytest
import rheos.v2

tf = rheos.v2
_numbers = itertools.count()


def registered(function):
    """The name under which a gradient function is registered."""
    name = f"OfTest{next(_numbers)}"
    tf.RegisterGradient(name)(function)
    return name


def overriding(**names):
    return tf.compat.v1.get_default_graph().gradient_override_map(names)


def gradient(function, x, weights=None):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, output_gradients=weights).numpy().tolist()


@pytest.fixture
def seven():
    """7 x in place of 2 x."""
    return registered(lambda op, g: 7.0 * g * op.inputs[0])


def test_functions_have_the_gradients_that_their_program_chose(seven):
    def guided(op, grad):
        return grad * tf.cast(op.outputs[0] > 0, tf.float32) * tf.cast(grad > 0, tf.float32)

    @tf.function
    def chosen(x):
        with overriding(Square=seven, Relu=registered(guided)):
            return tf.nn.relu(tf.square(x) - 5.0)

    x = tf.constant([3.0, 1.0, -4.0])
    assert gradient(chosen, x) == [21, 0, -28]
    assert gradient(chosen, x, tf.constant([1.0, 1.0, -1.0])) == [21, 0, 0]
    assert gradient(tf.function(lambda x: chosen(x) * 2.0), x) == [42, 0, -56]


def test_gradients_of_chosen_gradients(seven):
    @tf.function
    def squared(x):
        with overriding(Square=seven):
            return tf.square(x)

    x = tf.constant([3.0, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = squared(x)
        found = tape.gradient(y, x)
    assert outer.gradient(found, x).numpy().tolist() == [7, 7]


def test_loops_have_them_too(seven):
    @tf.function
    def fourth(x):
        for _ in tf.range(2):
            with overriding(Square=seven):
                x = tf.square(x)
        return x

    assert gradient(fourth, tf.constant(2.0)) == 392


def test_inputs_without_a_gradient_have_none():
    name = registered(lambda op, g: (tf.matmul(g, op.inputs[1], transpose_b=True) * 0.5, None))

    @tf.function
    def product(a, b):
        with overriding(MatMul=name):
            return tf.matmul(a, b)

    a, b = tf.ones([2, 3]), tf.ones([3, 2])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = product(a, b)
    by_a, by_b = tape.gradient(y, [a, b])
    assert by_a.numpy().tolist() == [[1, 1, 1], [1, 1, 1]] and by_b is None


def test_attributes_are_the_operations():
    seen = []

    def of_transposed(op, grad):
        seen.append((op.get_attr("transpose_b"), op.type, op.inputs[0].shape))
        return grad, grad

    name = registered(of_transposed)

    @tf.function
    def product(a):
        with overriding(MatMul=name):
            return tf.matmul(a, a, transpose_b=True)

    gradient(product, tf.ones([2, 2]))
    assert seen == [(True, "MatMul", tf.TensorShape([2, 2]))]


def test_errors_of_a_gradient_function_are_its_programs():
    def wrong(op, grad):
        raise ValueError("mine")

    name = registered(wrong)

    @tf.function
    def squared(x):
        with overriding(Square=name):
            return tf.square(x)

    assert squared(tf.constant(3.0)).numpy() == 9.0
    with pytest.raises(ValueError, match="mine"):
        gradient(squared, tf.constant(3.0))

    @tf.function
    def unknown(x):
        with overriding(Square="NobodyRegisteredThis"):
            return tf.square(x)

    with pytest.raises(LookupError, match="No gradient defined"):
        gradient(unknown, tf.constant(3.0))
    weight = tf.Variable(2.0)
    of_variable = registered(lambda op, g: g * weight)

    @tf.function
    def captures(x):
        with overriding(Square=of_variable):
            return tf.square(x)

    with pytest.raises(NotImplementedError, match="tensors or variables of the program"):
        gradient(captures, tf.constant(3.0))
