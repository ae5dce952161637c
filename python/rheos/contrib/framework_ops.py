"""Small functions on graphs, shapes and flags of tf.contrib.framework."""

import re

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, graph_from_inputs, name_scope
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.flow.control_flow_ops import Assert
from rheos.ops.math import math_ops, statistics_ops
from rheos.ops.math.check_ops import assert_scalar


def get_graph_from_inputs(op_input_list, graph=None):
    """The graph of the tensors in a list, else `graph` or the default one.

    ValueError if they are of different graphs.
    """
    return graph_from_inputs(op_input_list, graph)


def get_name_scope():
    """The current name scope, "a/b" and so on."""
    return get_default_graph().get_name_scope()


def prepend_name_scope(name, import_scope):
    """A name of an operation, input ("^name") or colocation ("loc:@name") put into a scope."""
    if not import_scope:
        return name
    return re.sub(r"([\^]|loc:@|^)(.*)", rf"\1{import_scope.rstrip('/')}/\2", name, count=1)


def strip_name_scope(name, export_scope):
    """What prepend_name_scope() undone gives."""
    if not export_scope:
        return name
    scope = re.escape(export_scope.rstrip("/"))
    return re.sub(rf"([\^]|loc:@|^){scope}[\/]+(.*)", r"\1\2", name, count=1)


def get_placeholders(graph):
    """The tensors of all placeholders of a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def assert_scalar_int(tensor, name=None):
    """TypeError or ValueError unless a tensor is an integer scalar. Returns it."""
    with name_scope(name, "assert_scalar_int", [tensor]) as name:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise TypeError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        return assert_scalar(tensor, name=name)


def reduce_sum_n(tensors, name=None):
    """The sum of all elements of several tensors, a scalar. ValueError if there are none."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as name:
        sums = [math_ops.reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else math_ops.add_n(sums, name=name)


def _assert_shape(expected, tensor):
    """An operation that fails unless a tensor has a shape, in which -1 stands for any size."""
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = array_ops.shape(tensor, name="actual")
        if isinstance(expected, TensorShape):
            expected = [-1 if size is None else size for size in expected.as_list()]
        with name_scope("is_shape", values=[tensor]) as inner:
            rank = array_ops.size(expected)
            with name_scope("is_rank", values=[tensor]) as innermost:
                rank = convert_to_tensor(rank, name="expected")
                is_rank = math_ops.equal(
                    rank, array_ops.rank(tensor, name="actual"), name=innermost
                )
            with name_scope("shape_tensor_equal", values=[expected, actual]) as innermost:
                sizes = math_ops.logical_or(
                    math_ops.equal(expected, -1),
                    math_ops.equal(expected, actual, "equal"),
                    name="exclude_partial_shape",
                )
                sizes = math_ops.reduce_all(sizes, name=innermost)
            holds = math_ops.logical_and(is_rank, sizes, name=inner)
        said = f"Wrong shape for {tensor.name} [expected] [actual]."
        return Assert(holds, [said, expected, actual], name=scope)


def with_shape(expected_shape, tensor):
    """The tensor, with the shape known where it was not; a check goes before it if need be.

    expected_shape: a list, TensorShape or tensor. ValueError if the shapes are known to differ.
    """
    tensor = convert_to_tensor(tensor)
    is_tensor = isinstance(expected_shape, Tensor)
    wanted = None if is_tensor else TensorShape(expected_shape)
    if not is_tensor and not tensor.shape.is_compatible_with(wanted):
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {wanted}, got {tensor.shape}."
        )
    if tensor.shape.is_fully_defined() and not is_tensor:
        return tensor
    with name_scope(tensor.op.name + "/", values=[tensor]):
        if wanted is not None and wanted.ndims == 0:
            return array_ops.reshape(tensor, [])
        check = _assert_shape(expected_shape if is_tensor else wanted, tensor)
        with control_dependencies([check]):
            tensor = array_ops.identity(tensor)
        if wanted is not None:
            tensor.set_shape(wanted)
        return tensor


def with_same_shape(expected_tensor, tensor):
    """The tensor, checked to have the shape of another; see with_shape."""
    with name_scope("%s/" % tensor.op.name, values=[expected_tensor, tensor]):
        shape = expected_tensor.shape
        if not shape.is_fully_defined():
            shape = array_ops.shape(expected_tensor, name="expected_shape")
        return with_shape(shape, tensor)


def remove_squeezable_dimensions(predictions, labels, name=None):
    """(predictions, labels), the one of one rank more squeezed if its last dimension is 1."""
    labels, predictions = statistics_ops.remove_squeezable_dimensions(
        labels, predictions, name=name
    )
    return predictions, labels
