"""Gradients of a graph."""

import enum

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import graph_from_inputs
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops.array import array_ops, constant_op
from rheos.ops.flow.control_flow_ops import while_loop
from rheos.ops.flow.tensor_array_ops import TensorArray


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


def _mapped(gradient, function):
    """A gradient of what a function makes of its parts."""
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(*(p if p is None else function(p) for p in to_core(gradient)))
    return function(gradient)


class _Ways:
    """The ways from sources of the graphs around a function to what the function captures.

    sources, stops: tensors of any of the graphs.
    """

    def __init__(self, graph, sources, stops):
        self._graph = graph
        self._places = [i for i, x in enumerate(sources) if _is_around(graph, x)]
        self._sources = [sources[i] for i in self._places]
        self._stops = [one for one in stops if _is_around(graph, one)]
        self._count = len(sources)
        self._pairs = []

    def ends(self):
        """The arguments that stand for what depends on the sources."""
        if not self._sources:
            return []
        known = {id(one) for one in (*self._sources, *self._stops)}
        starts = {x.op for x in self._sources}
        self._pairs = [
            (outside, inside)
            for outside, inside in self._graph.captures
            if _is_around(self._graph, outside) and id(outside) not in known
            if _depends(outside, starts)
        ]
        return [inside for _, inside in self._pairs]

    def added_up(self, found):
        """Gradients by the sources, given those by the sources and by ends(), in the function."""
        found, arrived = found[: self._count], found[self._count :]
        pairs = [
            (outside, convert_to_tensor(gradient))
            for (outside, _), gradient in zip(self._pairs, arrived)
            if gradient is not None
        ]
        if pairs:
            for i, gradient in zip(self._places, self._from_around(pairs)):
                found[i] = _sum(found[i], gradient)
        return found

    def _from_around(self, pairs):
        """The gradients around are made of stand-ins for those that arrive, and then copied."""
        graph = self._graph
        with graph.outer_graph.as_default():
            stand_ins = [
                op1("Identity", "arrived", array_ops.zeros_like(outside)) for outside, _ in pairs
            ]
            found = gradients(
                [outside for outside, _ in pairs], self._sources, stand_ins,
                stop_gradients=self._stops,
            )  # fmt: skip
        parts = [part for gradient in found for part in _parts_of(gradient)]
        known = {one.op: [arrived] for one, (_, arrived) in zip(stand_ins, pairs)}
        for op in _ops_between(stand_ins, parts):
            inputs = [known[t.op][t.value_index] if t.op in known else t for t in op.inputs]
            attrs = [(key, *op._attr(key)) for key in op.node_def.attr if key != "_class"]
            made = graph._node(op.type, op.name.rsplit("/", 1)[-1], inputs, attrs)
            known[op] = list(made.outputs)

        def inside(tensor):
            return known[tensor.op][tensor.value_index] if tensor.op in known else tensor

        return [_mapped(gradient, lambda part: graph.capture(inside(part))) for gradient in found]


def _is_around(graph, value):
    """Whether a value is a tensor of a graph around, that a gradient can be of."""
    if type(value) is not Tensor or value._is_eager or value.graph is graph:
        return False
    dtype = value.dtype.base_dtype
    return dtype.is_floating or dtype.is_complex or dtype == dtypes.variant


def _depends(tensor, starts):
    """Whether a tensor depends on operations of its graph, or by captures of those around."""
    todo, seen = [tensor.op], set()
    while todo:
        op = todo.pop()
        if op in starts:
            return True
        if op in seen:
            continue
        seen.add(op)
        todo += [t.op for t in op.inputs]
        if op.type == "Placeholder" and op.graph.building_function:
            pairs = op.graph.captures
            todo += [o.op for o, inside in pairs if inside.op == op and not o._is_eager]
    return False


def _ops_between(starts, ends):
    """The operations on the ways between tensors, each behind those that it takes inputs of."""
    depends = {one.op: True for one in starts}
    found, opened, todo = [], set(), [one.op for one in ends]
    while todo:
        op = todo[-1]
        missing = [] if op in opened else [t.op for t in op.inputs if t.op not in depends]
        opened.add(op)
        if missing:
            todo += missing
            continue
        todo.pop()
        if op not in depends:
            depends[op] = any(depends.get(t.op, False) for t in op.inputs)
            if depends[op]:
                found.append(op)
    return found


def _parts_of(gradient):
    parts = to_core(gradient)
    return [p for p in (parts if isinstance(parts, tuple) else (parts,)) if p is not None]


def _sum(one, other):
    if one is None or other is None:
        return other if one is None else one
    return op1("AddV2", None, convert_to_tensor(one), convert_to_tensor(other))


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

    >>> x = tf.constant(3.0)
    >>> with tf.Session() as session:
    ...     print(session.run(tf.gradients(x * x, x)))
    [6.0]
    """
    return _gradients(
        True, ys, xs, grad_ys, name, colocate_gradients_with_ops, gate_gradients,
        aggregation_method, stop_gradients, unconnected_gradients,
    )  # fmt: skip


def gradients_within(ys, xs, grad_ys=None, recorded=None):
    """gradients() as far as they are of the graph of ys: not by way of what that captures.

    recorded: what a tape has recorded of that graph, which gradients keep to; None: all of it.
    """
    return _gradients(False, ys, xs, grad_ys, recorded=recorded)


def _gradients(
    goes_around,
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=UnconnectedGradients.NONE,
    recorded=None,
):
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
            found = _gradients(
                goes_around,
                ys,
                xs,
                grad_ys,
                name,
                colocate_gradients_with_ops,
                gate_gradients,
                aggregation_method,
                stop_gradients,
                unconnected_gradients,
                None,
            )
        return [_mapped(gradient, graph.capture) for gradient in found]
    with graph.as_default():
        y_tensors = [
            y.values if isinstance(y, IndexedSlices) else convert_to_tensor(y, name=f"y_{i}")
            for i, y in enumerate(ys)
        ]
        x_tensors, stops = _sources(xs, "x"), _sources(stop, "stop")
        ways = _Ways(graph, x_tensors, stops) if goes_around else None
        if graph.building_function:  # what is around is known inside by what stands for it
            y_tensors = [graph.capture(y) for y in y_tensors]
            x_tensors = [graph.capture(x) for x in x_tensors]
            stops = [graph.capture(one) for one in stops]
        starts = None
        for y, g in zip(y_tensors, grad_ys):
            if g is None and y.dtype.is_complex:
                raise TypeError(
                    f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})"
                )
        if any(g is not None for g in grad_ys):
            starts = [
                None if g is None else convert_to_tensor(g, y.dtype.base_dtype, f"grad_ys_{i}")
                for i, (g, y) in enumerate(zip(grad_ys, y_tensors))
            ]
        found = graph._gradients(
            y_tensors,
            x_tensors if ways is None else x_tensors + ways.ends(),
            starts,
            stops,
            name,
            bool(colocate_gradients_with_ops),
            bool(gate_gradients),
            recorded,
        )
        found = [from_core(g) for g in found]
        if ways is not None:
            found = ways.added_up(found)
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
