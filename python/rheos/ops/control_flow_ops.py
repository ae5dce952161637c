"""Order: groups, tuples, assertions, printing."""

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import (
    colocate_with,
    control_dependencies,
    device as in_device,
    name_scope,
)
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Operation, Tensor, _VariableBase
from rheos.ops import array_ops


def no_op(name=None):
    """An operation that does nothing; it can wait for others."""
    return apply_op("NoOp", name)


def _no_op_after(operations, device, name=None):
    with control_dependencies(operations):
        if not device:
            return no_op(name=name)
        with in_device(device):
            return no_op(name=name)


def group(*inputs, **kwargs):
    """An operation that is done when all inputs are."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    items = nest.flatten(inputs)
    with name_scope(name, "group_deps", items) as name:
        if not items:
            return no_op(name=name)
        by_device = {}
        for item in items:
            if not hasattr(item, "device"):
                raise TypeError(
                    f"Expected tf.Tensor, tf.Operation or tf.Variable; got {item!r} with type "
                    f"'{type(item)}'"
                )
            by_device.setdefault(item.device, []).append(item)
        if len(by_device) == 1:
            ((device, operations),) = by_device.items()
            return _no_op_after(operations, device, name)
        done = [_no_op_after(by_device[d], d) for d in sorted(by_device)]
        with control_dependencies(done):
            return no_op(name=name)


def with_dependencies(dependencies, output_tensor, name=None):
    """`output_tensor`, available once the dependencies are done."""
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as name:
        with colocate_with(output_tensor), control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                return IndexedSlices(
                    array_ops.identity(output_tensor.values, name=name),
                    output_tensor.indices,
                    output_tensor.dense_shape,
                )
            return array_ops.identity(convert_to_tensor(output_tensor), name=name)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors, each available only when all of them are."""
    with name_scope(name, "tuple", [t for t in tensors if t is not None]) as name:
        waits = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for item in control_inputs or ():
            if isinstance(item, (Tensor, _VariableBase)):
                item = item.op
            elif not isinstance(item, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            waits.append(item)
        unique = sorted(dict.fromkeys(waits), key=lambda op: op._id)
        if not unique:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*unique)
        return [
            None
            if t is None
            else with_dependencies([gate], t.op if isinstance(t, Operation) else t)
            if not isinstance(t, Operation)
            else gate
            for t in tensors
        ]


def Assert(condition, data, summarize=None, name=None):
    """An operation that fails with `data` unless the condition holds."""
    with name_scope(name, "Assert", [condition, *data]):
        tensors = [convert_to_tensor(x) for x in data]
        if any(t.dtype not in (dtypes.string, dtypes.int32) for t in tensors):
            condition = convert_to_tensor(condition, name="Condition")
        return apply_op("Assert", None, condition, data, summarize=summarize)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """`input_`; prints `data` to standard error when it is computed."""
    return op1(
        "Print",
        name,
        input_,
        list(data),
        message=message,
        first_n=first_n,
        summarize=summarize,
    )


def get_default_graph_name_scope():
    return get_default_graph().get_name_scope()
