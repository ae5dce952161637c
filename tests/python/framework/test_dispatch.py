"""tf.experimental.dispatch_for_api() and its kin."""

import typing

import pytest


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2
    from rheos.framework import eager, tensor_shape

    eager.enable_eager_execution()
    tensor_shape.enable_v2_tensorshape()
    yield rheos.v2
    eager.disable_eager_execution()


@pytest.fixture
def masked(tf):
    """A type of the program's: values of which some do not count."""

    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

    return Masked


@pytest.fixture
def pair(tf, masked):
    """Two of them."""
    mask = tf.constant([True, False])
    return masked(tf.constant([1.0, -2.0]), mask), masked(tf.constant([3.0, 4.0]), ~mask)


@pytest.fixture
def registered(tf):
    """registered(decorator)(function) is taken back at the end."""
    functions = []

    def register(decorator):
        def decorate(function):
            functions.append(function)
            return decorator(function)

        return decorate

    yield register
    for function in functions:
        tf.experimental.unregister_dispatch_for(function)


def test_a_function_is_called_where_arguments_are_of_its_types(tf, masked, pair, registered):
    @registered(tf.experimental.dispatch_for_api(tf.concat))
    def joined(values: typing.List[masked], axis, name=None):
        return tf.concat([v.values for v in values], axis, name), "ours"

    assert tf.concat(list(pair), 0)[0].numpy().tolist() == [1, -2, 3, 4]
    assert tf.concat(values=list(pair), axis=0)[1] == "ours"
    assert tf.concat([[1], [2]], 0).numpy().tolist() == [1, 2]


def test_signatures_name_parameters_by_name_or_place(tf, masked, pair):
    def added(x, y):
        return "added"

    tf.experimental.dispatch_for_api(tf.add, {"x": masked}, {1: masked})(added)
    x, _ = pair
    assert [tf.add(x, 1.0), tf.math.add(1.0, x), tf.add(y=x, x=2.0, name="n")] == ["added"] * 3
    assert float(tf.add(1.0, 2.0)) == 3.0
    tf.experimental.unregister_dispatch_for(added)
    with pytest.raises((TypeError, ValueError)):
        tf.add(x, 1.0)
    with pytest.raises(ValueError, match="was not registered"):
        tf.experimental.unregister_dispatch_for(added)


def test_functions_may_leave_calls_to_the_api(tf, masked, pair, registered):
    @registered(tf.experimental.dispatch_for_api(tf.negative, {"x": masked}))
    def negated(x, name=None):
        return "ours" if bool(x.mask[0]) else NotImplemented

    assert tf.negative(pair[0]) == "ours"
    with pytest.raises((TypeError, ValueError)):
        tf.negative(pair[1])


def test_tensors_alone_are_the_apis_own(tf, masked, pair, registered):
    @registered(tf.experimental.dispatch_for_api(tf.stack))
    def stacked(values: typing.List[typing.Union[masked, tf.Tensor]], axis=0):
        return tf.stack([v.values if isinstance(v, masked) else v for v in values], axis), "ours"

    x, _ = pair
    found, whose = tf.stack([x, tf.constant([7.0, 8.0])])
    assert whose == "ours" and found.numpy().tolist() == [[1, -2], [7, 8]]
    assert tf.stack([tf.constant(1), tf.constant(2)]).numpy().tolist() == [1, 2]


def test_elementwise_functions_all_go_to_one(tf, masked, pair, registered):
    @registered(tf.experimental.dispatch_for_unary_elementwise_apis(masked))
    def unary(api, x):
        return masked(api(x.values), x.mask)

    @registered(tf.experimental.dispatch_for_binary_elementwise_apis(masked, masked))
    def binary(api, x, y):
        return masked(api(x.values, y.values), x.mask & y.mask)

    x, y = pair
    assert tf.abs(x).values.numpy().tolist() == [1, 2]
    assert tf.cast(x, tf.int32).values.dtype == tf.int32
    assert tf.clip_by_value(y, 0.0, 3.5).values.numpy().tolist() == [3, 3.5]
    assert tf.multiply(x, y).values.numpy().tolist() == [3, -8]
    assert not tf.maximum(x, y).mask.numpy().any()
    assert float(tf.abs(-2.0)) == 2.0
    assert any(api.__name__ == "abs" for api in tf.experimental.unary_elementwise_apis())


def test_functions_traced_and_differentiated_dispatch_too(tf, masked, pair, registered):
    @registered(tf.experimental.dispatch_for_unary_elementwise_apis(masked))
    def unary(api, x):
        return masked(api(x.values), x.mask)

    @tf.function
    def total(x):
        return tf.reduce_sum(tf.square(x).values)

    x, _ = pair
    with tf.GradientTape() as tape:
        tape.watch(x.values)
        y = total(x)
    assert tape.gradient(y, x.values).numpy().tolist() == [2, -4]


def test_what_cannot_be_dispatched_is_refused(tf, masked):
    for_api = tf.experimental.dispatch_for_api
    for what in (3, print, tf.Module):
        with pytest.raises(ValueError, match="does not support dispatch"):
            for_api(what, {"x": masked})(lambda x: x)
    with pytest.raises(ValueError, match="at least one signature"):
        for_api(tf.add)(lambda x, y: x)
    with pytest.raises(ValueError, match="does not match API's signature"):
        for_api(tf.add, {"x": masked})(lambda x, z: x)
    with pytest.raises(ValueError, match="does not have"):
        for_api(tf.add, {"z": masked})(lambda x, y: x)


def test_two_functions_for_the_same_arguments_are_an_error(tf, masked, pair, registered):
    for _ in range(2):

        @registered(tf.experimental.dispatch_for_api(tf.add, {"x": masked}))
        def added(x, y):
            return x

    with pytest.raises(ValueError, match="Multiple dispatch targets"):
        tf.add(*pair)
