"""`tf.raw_ops` that call functions: given as traced functions, as those of Defun, or by name."""

import pytest
import rheos as tf
import rheos.v1 as v1
from rheos.ops.flow.function import Defun


def double(x):
    return x * 2.0


def plus_one(x):
    return x + 1.0


CALLS = {
    "If": (lambda f, g, x: tf.raw_ops.If(
        cond=tf.constant(False), input=[x], Tout=[tf.float32], then_branch=f, else_branch=g), 4.0),
    "Case": (lambda f, g, x: tf.raw_ops.Case(
        branch_index=tf.constant(1), input=[x], Tout=[tf.float32], branches=[f, g]), 4.0),
    "PartitionedCall": (lambda f, g, x: tf.raw_ops.PartitionedCall(
        args=[x], Tout=[tf.float32], f=f), 6.0),
    "MapDefun": (lambda f, g, x: tf.raw_ops.MapDefun(
        arguments=[tf.stack([x, x])], captured_inputs=[], output_types=[tf.float32],
        output_shapes=[[]], f=f), [6.0, 6.0]),
}  # fmt: skip


def traced(function):
    return tf.function(function).get_concrete_function(tf.TensorSpec([], tf.float32))


@pytest.mark.parametrize("op", CALLS)
def test_a_traced_function_is_an_attribute(op):
    call, wanted = CALLS[op]
    (result,) = call(traced(double), traced(plus_one), tf.constant(3.0))
    assert result.numpy().tolist() == wanted


@pytest.mark.parametrize("op", CALLS)
def test_functions_of_defun_and_names_are_too(op):
    call, wanted = CALLS[op]
    with tf.Graph().as_default(), v1.Session() as session:
        f, g = Defun(tf.float32)(double), Defun(tf.float32)(plus_one)
        x = tf.constant(3.0)
        for given in ((f, g), (f.name, g.name)):
            (result,) = call(*given, x)
            assert session.run(result).tolist() == wanted


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="function of the graph or its name"):
        tf.raw_ops.PartitionedCall(args=[], Tout=[tf.float32], f=3)


def test_several_lists_are_told_apart_by_what_is_in_them():
    body = tf.function(lambda x, y, n: x * y + tf.cast(n, tf.float32)).get_concrete_function(
        tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)
    )
    (result,) = tf.raw_ops.MapDefun(
        arguments=[[1.0, 2.0], [3.0, 4.0]],
        captured_inputs=[10],
        output_types=[tf.float32],
        output_shapes=[[]],
        f=body,
    )
    assert result.numpy().tolist() == [13.0, 18.0]


def test_a_call_without_results_is_the_operation():
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.Variable(1.0, use_resource=True)

        @Defun()
        def adds():
            variable.assign_add(1.0)

        call = tf.raw_ops.StatefulPartitionedCall(args=adds.captured_inputs, Tout=[], f=adds)
        session.run(variable.initializer)
        session.run(call)
        assert session.run(variable.read_value()) == 2.0
