"""What of a graph hangs together, chosen and copied: tf.contrib.graph_editor.

Operations are given as an Operation, a tensor (the one that makes it), a list of these or a Graph.
What exists is not changed.
"""

import re

from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import Graph, control_dependencies, device, name_scope
from rheos.framework.operation import Operation, Tensor


def _flat(values):
    """The operations and tensors in nested lists, graphs and views."""
    if isinstance(values, Graph):
        return values.get_operations()
    if isinstance(values, SubGraphView):
        return list(values.ops)
    if isinstance(values, (Operation, Tensor)):
        return [values]
    if isinstance(values, dict):
        values = list(values.values())
    if not isinstance(values, (list, tuple, set, frozenset)):
        raise TypeError(f"Expected operations, tensors or a graph, got {type(values)}")
    return [one for value in values for one in _flat(value)]


def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """The operations in `ops`. TypeError for tensors, unless `ignore_ts`."""
    if isinstance(ops, Graph) and not allow_graph:
        raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
    flat = _flat(ops)
    if not ignore_ts and any(isinstance(one, Tensor) for one in flat):
        raise TypeError("Expected operations, got tensors")
    return _of_one_graph([one for one in flat if isinstance(one, Operation)], check_graph)


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """The tensors in `ts`; of a graph all of them. TypeError for operations unless `ignore_ops`."""
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    flat = _flat(ts)
    if not ignore_ops and any(isinstance(one, Operation) for one in flat):
        raise TypeError("Expected tensors, got operations")
    return _of_one_graph([one for one in flat if isinstance(one, Tensor)], check_graph)


def _of_one_graph(found, check_graph):
    if check_graph and len({id(one.graph) for one in found}) > 1:
        raise ValueError("Operations and tensors of several graphs cannot go together")
    return found


def get_tensors(graph):
    """All tensors of a graph. TypeError if it is none."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [output for op in graph.get_operations() for output in op.outputs]


def get_generating_ops(ts):
    """The operations that make these tensors, in their order."""
    return _unique([t.op for t in make_list_of_t(ts, allow_graph=False)])


def get_consuming_ops(ts):
    """The operations that take these tensors, in their order."""
    ts = make_list_of_t(ts, allow_graph=False)
    return _unique([op for t in ts for op in t.consumers()])


def _unique(values):
    return list(dict.fromkeys(values))


# ---- Filters


def filter_ops(ops, positive_filter):
    """The operations that `positive_filter`, a function, is true of; of None all."""
    ops = make_list_of_op(ops)
    return ops if positive_filter is None else [op for op in ops if positive_filter(op)]


def filter_ts(ops, positive_filter):
    """The tensors that operations take or make and `positive_filter` is true of."""
    found = []
    for op in make_list_of_op(ops):
        found += op.inputs
        found += op.outputs
    found = _unique(found)
    return found if positive_filter is None else [t for t in found if positive_filter(t)]


def _searched(regex):
    expression = re.compile(regex) if isinstance(regex, str) else regex
    return lambda one: expression.search(one.name)


def filter_ops_from_regex(ops, regex):
    """The operations in whose names an expression is found."""
    return filter_ops(ops, _searched(regex))


def filter_ts_from_regex(ops, regex):
    """The tensors, that operations take or make, in whose names an expression is found."""
    return filter_ts(ops, _searched(regex))


def get_name_scope_ops(ops, scope):
    """The operations in a name scope."""
    scope = scope.rstrip("/")
    return filter_ops_from_regex(ops, f"^{re.escape(scope)}(/.*)?$") if scope else _flat(ops)


def _is_expression(value):
    return isinstance(value, (str, re.Pattern))


def _selected(arguments, kwargs, of_graph, of_value):
    """What expressions find in `graph`, and what other arguments stand for, each once."""
    graph = kwargs.pop("graph", None)
    positive_filter = kwargs.pop("positive_filter", None)
    kwargs.pop("restrict_ops_regex", None)
    kwargs.pop("restrict_ts_regex", None)
    if kwargs:
        raise ValueError(f"Invalid keywords: {', '.join(kwargs)}")
    found = []
    for value in arguments:
        if _is_expression(value):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            found += filter(_searched(value), of_graph(graph))
        else:
            found += of_value(value)
    found = _unique(found)
    return found if positive_filter is None else [one for one in found if positive_filter(one)]


def select_ops(*args, **kwargs):
    """Operations: given, or by expressions for their names in `graph`; positive_filter: which.

    ValueError for an expression without a graph.
    """
    return _selected(args, kwargs, lambda graph: graph.get_operations(), make_list_of_op)


def select_ts(*args, **kwargs):
    """Tensors: given, or by expressions for their names: see select_ops()."""
    return _selected(args, kwargs, get_tensors, make_list_of_t)


def select_ops_and_ts(*args, **kwargs):
    """(operations, tensors) of both kinds; expressions that begin with "(?#ts)" are for tensors."""
    for_tensors = [
        arg for arg in args
        if (arg.startswith("(?#ts)") if isinstance(arg, str) else isinstance(arg, Tensor))
    ]  # fmt: skip
    rest = [arg for arg in args if not any(arg is one for one in for_tensors)]
    return select_ops(*rest, **dict(kwargs)), select_ts(*for_tensors, **dict(kwargs))


# ---- Walks


def _seeds(seeds, by_tensor):
    """Where a walk begins: of tensors what `by_tensor` gives of them."""
    flat = _flat(seeds)
    if flat and all(isinstance(one, Tensor) for one in flat):
        return by_tensor(flat)
    return make_list_of_op(flat, allow_graph=False)


def _walk(seeds, inclusive, within_ops, within_ops_fn, reached):
    """The operations that are reached from some, breadth first."""
    within = None if within_ops is None else set(make_list_of_op(within_ops, allow_graph=False))

    def is_within(op):
        return (within is None or op in within) and (within_ops_fn is None or within_ops_fn(op))

    seeds = [op for op in seeds if is_within(op)]
    found = list(dict.fromkeys(seeds))
    seen, wave = set(found), found
    while wave:
        following = []
        for op in wave:
            for other in reached(op):
                if other not in seen and is_within(other):
                    seen.add(other)
                    following.append(other)
        found = found + following
        wave = following
    return found if inclusive else [op for op in found if op not in set(seeds)]


def get_backward_walk_ops(
    seed_ops,
    inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    stop_at_ts=(),
    control_inputs=False,
):
    """The operations that some depend on, these among them if `inclusive`.

    within_ops, within_ops_fn: the ones, of a list and a function, that the walk stays in.
    stop_at_ts: tensors that it does not go beyond. control_inputs: whether it follows these too.
    """
    stop = set(make_list_of_t(stop_at_ts))

    def reached(op):
        for t in op.inputs:
            if t not in stop:
                yield t.op
        if control_inputs:
            yield from op.control_inputs

    def made_by(tensors):
        return [t.op for t in tensors if t not in stop]

    return _walk(_seeds(seed_ops, made_by), inclusive, within_ops, within_ops_fn, reached)


def get_forward_walk_ops(
    seed_ops,
    inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    stop_at_ts=(),
    control_outputs=None,
):
    """The operations that depend on some, or on tensors: see get_backward_walk_ops().

    control_outputs: {operation: those that wait for it} to follow, as ControlOutputs has it.
    """
    stop = set(make_list_of_t(stop_at_ts))

    def reached(op):
        for t in op.outputs:
            if t not in stop:
                yield from t.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    def taken_by(tensors):
        return [op for t in tensors if t not in stop for op in t.consumers()]

    return _walk(_seeds(seed_ops, taken_by), inclusive, within_ops, within_ops_fn, reached)


class ControlOutputs:
    """The operations that wait for each operation of a graph."""

    def __init__(self, graph):
        self._outputs = {}
        for op in graph.get_operations():
            for other in op.control_inputs:
                self._outputs.setdefault(other, []).append(op)

    def get(self, op):
        """Those that wait for one."""
        return tuple(self._outputs.get(op, ()))

    def get_all(self):
        """All of them, by operation."""
        return self._outputs


def _both_walks(forward, backward, forward_inclusive, backward_inclusive, options):
    within, within_fn, control_inputs, control_outputs = options
    return (
        get_forward_walk_ops(
            forward, forward_inclusive, within, within_fn, control_outputs=control_outputs
        ),
        get_backward_walk_ops(
            backward, backward_inclusive, within, within_fn, control_inputs=control_inputs
        ),
    )


def get_walks_intersection_ops(
    forward_seed_ops,
    backward_seed_ops,
    forward_inclusive=True,
    backward_inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    control_inputs=False,
    control_outputs=None,
    control_ios=None,
):
    """The operations on a way from some to others, in the order of the forward walk."""
    options = within_ops, within_ops_fn, control_inputs, control_outputs
    onward, back = _both_walks(
        forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, options
    )
    back = set(back)
    return [op for op in onward if op in back]


def get_walks_union_ops(
    forward_seed_ops,
    backward_seed_ops,
    forward_inclusive=True,
    backward_inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    control_inputs=False,
    control_outputs=None,
    control_ios=None,
):
    """The operations that depend on some, or on which others depend."""
    options = within_ops, within_ops_fn, control_inputs, control_outputs
    onward, back = _both_walks(
        forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, options
    )
    return _unique(onward + back)


def compute_boundary_ts(ops):
    """(tensors from outside, those that are used outside or by none, those that stay inside)."""
    ops = make_list_of_op(ops)
    inside = set(ops)
    inputs = _unique([t for op in ops for t in op.inputs if t.op not in inside])
    outputs, hidden = [], []
    for op in ops:
        for t in op.outputs:
            users = t.consumers()
            outside = not users or any(user not in inside for user in users)
            (outputs if outside else hidden).append(t)
    return inputs, outputs, hidden


class SubGraphView:
    """Some operations of a graph, with the tensors that they take and make at their boundary."""

    def __init__(self, inside_ops=(), passthrough_ts=()):
        self._ops = make_list_of_op(list(inside_ops))
        through = make_list_of_t(list(passthrough_ts))
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        self._inputs, self._outputs = inputs + through, outputs + through

    @property
    def ops(self):
        """The operations."""
        return self._ops

    @property
    def inputs(self):
        """The tensors from outside."""
        return list(self._inputs)

    @property
    def outputs(self):
        """The tensors that are used outside, or by none."""
        return list(self._outputs)

    @property
    def graph(self):
        """The graph; None of none."""
        ends = [*self._ops, *self._inputs]
        return ends[0].graph if ends else None

    def find_op_by_name(self, op_name):
        """The operation of this name. ValueError if there is none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not found in subgraph.")

    def is_passthrough(self, t):
        """Whether a tensor goes through without an operation."""
        return t in self._inputs and t in self._outputs


def make_view(*args, **kwargs):
    """A SubGraphView of what select_ops_and_ts() finds."""
    if len(args) == 1 and isinstance(args[0], SubGraphView) and not kwargs:
        return args[0]
    ops, tensors = select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, tensors)


sgv = make_view


# ---- Copies


class TransformerInfo:
    """What a copy made of each operation and tensor."""

    def __init__(self, made):
        self._made = made
        self._origins = {id(copy): original for original, copy in made.items()}

    def transformed(self, original, missing_fn=None):
        """The copy of an operation or tensor."""
        if original in self._made:
            return self._made[original]
        return None if missing_fn is None else missing_fn(original)

    def original(self, transformed, missing_fn=None):
        """What one is a copy of."""
        found = self._origins.get(id(transformed))
        return missing_fn(transformed) if found is None and missing_fn is not None else found


def _copy_op(op, inputs, waits, name):
    graph = get_default_graph()
    # A backward edge of a loop has no copy yet when the loop is copied.
    if op.type in ("Merge", "RefMerge") and any(t is None for t in inputs):
        raise NotImplementedError(f"{op.name}: loops cannot be copied")
    with control_dependencies(waits), device(op.device or None):
        attrs = {k: v for k, v in op.node_def.attr.items() if k != "_class"}
        return graph.create_op(op.type, inputs, name=name, attrs=attrs)


def _in_order(ops):
    """Operations, each after those among them that it depends on."""
    inside, done, ordered = set(ops), set(), []
    for first in ops:
        stack = [first]
        while stack:
            op = stack[-1]
            before = [t.op for t in op.inputs] + list(op.control_inputs)
            todo = [one for one in before if one in inside and one not in done and one not in stack]
            if todo:
                stack.append(todo[0])
                continue
            stack.pop()
            if op not in done:
                done.add(op)
                ordered.append(op)
    return ordered


def _copied(ops, replaced, dst_graph, dst_scope, src_scope):
    """{operation or tensor: its copy} of operations, of other inputs where `replaced` says so."""
    made = dict(replaced)
    src_scope = src_scope.rstrip("/") + "/" if src_scope else ""
    with dst_graph.as_default(), name_scope(dst_scope or None):
        for op in _in_order(ops):
            inputs = [made.get(t, t) for t in op.inputs]
            if any(t.graph is not dst_graph for t in inputs):
                raise ValueError(f"{op.name} takes a tensor that is not in the other graph")
            waits = [made.get(one, one) for one in op.control_inputs]
            waits = [one for one in waits if one.graph is dst_graph]
            name = op.name[len(src_scope) :] if op.name.startswith(src_scope) else op.name
            copy = made[op] = _copy_op(op, inputs, waits, name)
            made.update({
                t: other for t, other in zip(op.outputs, copy.outputs) if t not in replaced
            })  # fmt: skip
    return made


def copy_with_input_replacements(
    sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False
):
    """(a copy of a SubGraphView that takes other tensors, its TransformerInfo).

    replacement_ts: {tensor: the one instead}. dst_graph: by default the one of the view.
    dst_scope: a name scope for the copies. src_scope: a scope whose name they lose.
    """
    sgv = make_view(sgv)
    scope = dst_scope.rstrip("/") + "/" if dst_scope and reuse_dst_scope else dst_scope
    graph = dst_graph or sgv.graph
    made = _copied(sgv.ops, dict(replacement_ts), graph, scope, src_scope)
    view = SubGraphView([made[op] for op in sgv.ops])
    return view, TransformerInfo(made)


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """copy_with_input_replacements() of the same tensors; in another graph of placeholders."""
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Tensors as they were if they depended on others: {tensor: the one instead}.

    What lies between is copied. ValueError if they do not depend on what is replaced.
    """
    targets = _flat(target_ts)
    between = get_walks_intersection_ops(list(replacement_ts), targets)
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    between = [op for op in between if not all(t in replacement_ts for t in op.outputs)]
    # What a replaced tensor is made of keeps as it is.
    stopped = set(get_backward_walk_ops(targets, stop_at_ts=list(replacement_ts)))
    between = [op for op in between if op in stopped]
    view = SubGraphView(between)
    _, info = copy_with_input_replacements(
        view, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope
    )

    def other(value):
        if isinstance(value, (list, tuple)):
            return type(value)(other(one) for one in value)
        if isinstance(value, dict):
            return {key: other(one) for key, one in value.items()}
        return info.transformed(value, lambda same: same)

    return other(target_ts)
