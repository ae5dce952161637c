"""tf.custom_gradient and tf.recompute_grad in traced functions and with structures."""

import pytest
import rheos.v2 as tf


def gradients(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, list(xs))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_a_gradient_may_read_the_variables(wrap):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def square(x):
        def gradient(dy, variables=None):
            return dy * 2.0 * x * v, [dy * 7.0]

        return x * x * v, gradient

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = wrap(square)(x)
    assert [float(y), *map(float, tape.gradient(y, [x, v]))] == [12.0, 12.0, 7.0]


def test_what_reads_variables_is_computed_again_in_a_function():
    v = tf.Variable(2.0)

    @tf.function
    @tf.recompute_grad
    def power(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, x])[1]

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x)
    assert list(map(float, tape.gradient(y, [x, v]))) == [8.0, 12.0]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_arguments_and_results_may_be_ragged(wrap):
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: x * dy * 3.0

    def gradient_of(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x)
        return y, tape.gradient(y, x)

    y, found = wrap(gradient_of)(tf.ragged.constant([[1.0, 2.0], [3.0]]))
    assert y.to_list() == [[1.0, 4.0], [9.0]]
    assert found.to_list() == [[3.0, 6.0], [9.0]]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_arguments_may_be_structures(wrap):
    @tf.custom_gradient
    def product(d):
        return d["a"] * d["b"], lambda dy: {"a": dy * 2.0, "b": dy * 3.0}

    called = wrap(lambda a, b: product({"a": a, "b": b}))
    assert list(map(float, gradients(called, tf.constant(3.0), tf.constant(4.0)))) == [2.0, 3.0]


class Scale:
    def __init__(self):
        self.k = tf.Variable(2.0)

    @tf.custom_gradient
    def __call__(self, x):
        return x * self.k, lambda dy, variables=None: (dy * 7.0, [dy * 11.0])

    @tf.custom_gradient
    def twice(self, x):
        "Documented."
        return x * 2.0, lambda dy: dy * 5.0


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_a_method_may_bring_its_gradient(wrap):
    scale, x = Scale(), tf.constant(3.0)
    assert (Scale.twice.__name__, scale.twice.__doc__) == ("twice", "Documented.")
    assert float(gradients(wrap(lambda x: scale.twice(x)), x)[0]) == 5.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = wrap(lambda x: scale(x))(x)
    assert list(map(float, tape.gradient(y, [x, scale.k]))) == [7.0, 11.0]


def test_what_has_no_gradient_is_named():
    s = tf.sparse.from_dense([[1.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(s)
        y = tf.sparse.reduce_sum(s)
    with pytest.raises(ValueError, match="Type SparseTensor is not supported as a gradient source"):
        tape.gradient(y, s)


def test_gradients_of_ragged_tensors_are_ragged():
    x, v = tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * v
    assert tape.gradient(y, x).to_list() == [[2.0, 4.0], [6.0]]
    assert tape.gradient(y, x, output_gradients=x).to_list() == [[2.0, 8.0], [18.0]]
    assert float(tape.gradient(z, {"a": v})["a"]) == 6.0
    assert tape.gradient(y, v) is None


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_what_is_given_twice__has_the_gradients_of_both_places(wrap):
    scale = tf.Variable(3.0)
    product = tf.recompute_grad(lambda a, b: a * b * scale)

    @tf.custom_gradient
    def weighted(a, b):
        return a * b, lambda dy: (10.0 * dy * b, 100.0 * dy * a)

    x = tf.constant(2.0)
    assert float(gradients(wrap(lambda x: product(x, x)), x)[0]) == 12.0
    assert float(gradients(wrap(lambda x: product(x, x * 2.0)), x)[0]) == 24.0
    assert float(gradients(wrap(lambda x: weighted(x, x)), x)[0]) == 220.0
    assert float(wrap(lambda x: gradients(lambda x: product(x, x), x)[0])(x)) == 12.0
