"""Gradients of a graph."""

import enum

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import graph_from_inputs
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.operation import _VariableBase
from rheos.ops import array_ops, constant_op
from rheos.ops.control_flow_ops import while_loop
from rheos.ops.tensor_array_ops import TensorArray


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _source(value, name):
    if isinstance(value, _VariableBase):
        return value._variable
    if isinstance(value, IndexedSlices):
        return value.values
    if getattr(value, "_should_act_as_resource_variable", False):  # a program's own class
        return value.handle
    return convert_to_tensor(value, name=name)


def _sources(values, label):
    return [_source(v, f"{label}_{i}") for i, v in enumerate(values)]


def from_core(gradient):
    """A gradient as the extension gives it: None, a Tensor, or parts of IndexedSlices."""
    return IndexedSlices(*gradient) if isinstance(gradient, tuple) else gradient


def to_core(gradient):
    """A gradient as the extension takes it."""
    if isinstance(gradient, IndexedSlices):
        return gradient.values, gradient.indices, gradient.dense_shape
    return gradient


class UnconnectedGradients(enum.Enum):
    """What the gradient of something is that a result does not depend on."""

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """How gradients over several paths are summed; all give the same."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _graph_around(graph, values):
    """The graph around that of a function which all `values` are of, or None."""
    graphs = {getattr(value, "graph", graph) for value in values}
    only = graphs.pop() if len(graphs) == 1 else graph
    return only if graph.building_function and only is not graph else None


def _captured(graph, gradient):
    """What stands in a function's graph for a gradient of the graph around."""
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(*(p if p is None else graph.capture(p) for p in to_core(gradient)))
    return graph.capture(gradient)


def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=UnconnectedGradients.NONE,
):
    """The derivatives of sum(ys) with respect to each x.

    grad_ys: gradients of each y to start from (ones by default). stop_gradients: tensors that
    count as constants. unconnected_gradients: NONE or ZERO, what an x gets that ys do not depend
    on; ValueError for others. Returns a list: a Tensor or IndexedSlices for each x, or None.
    """
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    ys, xs = _as_list(ys), _as_list(xs)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    stop = [] if stop_gradients is None else _as_list(stop_gradients)
    graph = graph_from_inputs([*ys, *xs, *stop, *grad_ys])
    around = _graph_around(graph, [*ys, *stop, *(g for g in grad_ys if g is not None)])
    if around is not None:
        with around.as_default():
            found = gradients(
                ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients,
                aggregation_method, stop_gradients, unconnected_gradients,
            )
        return [_captured(graph, gradient) for gradient in found]
    with graph.as_default():
        y_tensors = [
            y.values if isinstance(y, IndexedSlices) else convert_to_tensor(y, name=f"y_{i}")
            for i, y in enumerate(ys)
        ]
        x_tensors = _sources(xs, "x")
        if graph.building_function:  # what is around is known inside by what stands for it
            y_tensors = [graph.capture(y) for y in y_tensors]
            x_tensors = [graph.capture(x) for x in x_tensors]
        starts = None
        for y, g in zip(y_tensors, grad_ys):
            if g is None and y.dtype.is_complex:
                raise TypeError(
                    f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
        if any(g is not None for g in grad_ys):
            starts = [
                None if g is None else convert_to_tensor(g, y.dtype.base_dtype, f"grad_ys_{i}")
                for i, (g, y) in enumerate(zip(grad_ys, y_tensors))
            ]
        found = graph._gradients(
            y_tensors,
            x_tensors,
            starts,
            _sources(stop, "stop"),
            name,
            bool(colocate_gradients_with_ops),
            bool(gate_gradients),
        )
        found = [from_core(g) for g in found]
        if unconnected is UnconnectedGradients.ZERO:
            found = [
                array_ops.zeros_like(x if t.dtype == dtypes.resource else t) if g is None else g
                for g, t, x in zip(found, x_tensors, xs)
            ]
    return found


def _derivatives_of_each(flat, x):
    """An array of the gradients of each element of `flat`, of which there are as many as of x."""
    count = array_ops.size(x)

    def write_one(j, rows):
        return j + 1, rows.write(j, gradients(flat[j], x)[0])

    start = [constant_op.constant(0, dtypes.int32), TensorArray(x.dtype, count)]
    _, rows = while_loop(lambda j, _: j < count, write_one, start)
    return rows


def hessians(
    ys,
    xs,
    name="hessians",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
):
    """The second derivatives of sum(ys): for each x, of shape s, a tensor of shape s + s.

    ValueError if ys do not depend on an x.
    """
    xs = _as_list(xs)
    settings = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    found = []
    for gradient, x in zip(gradients(ys, xs, **settings), xs):
        if gradient is None:
            raise ValueError(f"hessians: ys do not depend on {x}")
        rows = _derivatives_of_each(array_ops.reshape(gradient, [-1]), x)
        shape = array_ops.shape(x)
        found.append(array_ops.reshape(rows.stack(), array_ops.concat((shape, shape), 0)))
    return found
