"""Branches and loops that are functions: If, Case and While."""

from rheos.framework import nest, signatures
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph, func_graph_from_py_func
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.op_call import add_op
from rheos.framework.operation import Operation
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, constant_op
from rheos.ops.flow.flow_structures import assert_same, flatten, pack_as
from rheos.ops.math import math_ops

_LOWERED = ("_lower_using_switch_merge", signatures.BOOL, True)


# ---- Functions of branches and loops


def _new_graph(scope, kind):
    """An empty graph for a branch, condition or body of the operation with that name scope."""
    outer = get_default_graph()
    name = outer.unique_function_name(f"{scope}{kind}".replace("/", "_"))
    return FuncGraph(name, collections=outer._collections)


def _build(scope, kind, function):
    """The graph of a branch."""
    graph = _new_graph(scope, kind)
    return func_graph_from_py_func(graph.name, function, func_graph=graph)


def _share_captures(graphs):
    """The tensors that any of the functions captures; afterwards all take them, in that order."""
    captured = {}
    for graph in graphs:
        captured.update((id(tensor), tensor) for tensor in graph.external_captures)
    shared = list(captured.values())
    for graph in graphs:
        own = graph.inputs[: len(graph.inputs) - len(graph.captures)]
        with graph.as_default():
            inside = [graph.capture(tensor) for tensor in shared]
        graph.inputs[:] = own + inside
    return shared


def _controls(graphs):
    """What the operation waits for: operations around that something in the functions waits for."""
    return list(dict.fromkeys(op for graph in graphs for op in graph.control_captures))


def _is_stateful(graphs):
    return any(graph.is_stateful for graph in graphs)


def _call(op_type, scope, graphs, attrs, *inputs):
    """The operation's outputs, which take the place of what the functions give."""
    outer = get_default_graph()
    for graph in graphs:
        graph.finish()
    with outer._attr_scope([_LOWERED]), outer.control_dependencies(_controls(graphs)):
        made = add_op(op_type, scope, *inputs, **attrs)
    if outer.building_function and "While" in op_type:
        return made.outputs
    return [array_ops.identity(output) for output in made.outputs]


# ---- Branches


def _branch(function, pred):
    """`function` with what it gives made of tensors alone: of an operation, `pred` after it."""

    def as_tensor(value):
        if isinstance(value, Operation):
            with control_dependencies([value]):
                return array_ops.identity(pred)
        return value

    def branch():
        returned = function()
        parts = [as_tensor(part) for part in flatten(returned)]
        structure.append(returned)
        return parts

    structure = []
    return branch, structure


def _common_shape(shapes):
    """What is true of all the shapes."""
    if any(shape.ndims is None or shape.ndims != shapes[0].ndims for shape in shapes):
        return TensorShape(None)
    together = zip(*(shape.as_list() for shape in shapes))
    return TensorShape([dims[0] if len(set(dims)) == 1 else None for dims in together])


def _check_results(graphs, structures, words):
    """Raises unless the branches give the same structure of the same dtypes."""
    first = structures[0]
    for number, (graph, structure) in enumerate(zip(graphs[1:], structures[1:]), 1):
        try:
            assert_same(first, structure)
            gives = [[part is not None for part in flatten(one)] for one in (first, structure)]
            if gives[0] != gives[1]:
                raise ValueError("None is no tensor")
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{words[0]} and {words[number]} arguments to tf.cond must have the same number, "
                f"type, and overall structure of return values.\n\n{words[0]} output: {first}\n"
                f"{words[number]} output: {structure}\n\nError details:\n{error}"
            ) from None
        for one, other in zip(graphs[0].outputs, graph.outputs):
            if one.dtype.base_dtype != other.dtype.base_dtype:
                raise TypeError(
                    f"{words[0]} and {words[number]} arguments to tf.cond must have the same "
                    f"number, type, and overall structure of return values: {one.dtype.name} is "
                    f"not {other.dtype.name}"
                )


def _branches(op_types, scope, selector, pred, functions, kinds, func_attrs):
    wrapped = [_branch(function, pred) for function in functions]
    graphs = [_build(scope, kind, branch) for kind, (branch, _) in zip(kinds, wrapped)]
    structures = [structure[0] for _, structure in wrapped]
    words = [f"{kind}_fn" for kind in kinds] if len(kinds) == 2 else kinds
    _check_results(graphs, structures, words)
    inputs = _share_captures(graphs)
    by_result = zip(*(graph.outputs for graph in graphs))
    shapes = [_common_shape([part.shape for part in parts]) for parts in by_result]
    attrs = {
        "Tout": [t.dtype.base_dtype for t in graphs[0].outputs],
        "output_shapes": shapes,
        **func_attrs(graphs),
    }
    op_type = op_types[0 if _is_stateful(graphs) else 1]
    results = _call(op_type, scope, graphs, attrs, selector, inputs)
    return _filled(structures[0], results)


def _filled(structure, results):
    """The structure with the results in place of its tensors; None stays."""
    if structure is None:
        return None
    rest = iter(results)
    return pack_as(structure, [None if part is None else next(rest) for part in flatten(structure)])


def _as_bool(pred):
    """A condition as a boolean scalar."""
    pred = convert_to_tensor(pred, name="pred")
    if pred.shape.ndims != 0:
        pred = array_ops.squeeze(pred)
    return pred


def cond(pred, true_fn, false_fn, name="cond"):
    """What `true_fn` gives where `pred` holds, else what `false_fn` gives, by an If."""
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        pred = _as_bool(pred)
        return _branches(
            ("If", "StatelessIf"),
            scope,
            pred,
            pred,
            [true_fn, false_fn],
            ["true", "false"],
            lambda graphs: {"then_branch": graphs[0].name, "else_branch": graphs[1].name},
        )


def switch_case(branch_index, functions, name="switch_case"):
    """What the function of number `branch_index` gives; for other numbers the last, by a Case."""
    if len(functions) == 1:
        return functions[0]()
    with name_scope(name or "switch_case") as scope:
        index = math_ops.cast(convert_to_tensor(branch_index, name="branch_index"), "int32")
        return _branches(
            ("Case", "StatelessCase"),
            scope,
            index,
            index,
            functions,
            [f"branch{number}" for number in range(len(functions))],
            lambda graphs: {"branches": [graph.name for graph in graphs]},
        )


# ---- Loops


def _check_shapes(inputs, outputs, shapes):
    """Raises unless each variable fits its invariant, before the loop and after a trip."""
    for before, after, shape in zip(inputs, outputs, shapes):
        if not shape.is_compatible_with(before.shape) or not _is_within(before.shape, shape):
            raise ValueError(
                f"The shape invariant specified for {before.name} is not compatible with the "
                f"initial shape of the loop variable. It enters the loop with shape "
                f"{before.shape}, but the specified shape invariant is {shape}."
            )
        if not _is_within(after.shape, shape):
            raise ValueError(
                f"Input tensor {before.name!r} enters the loop with shape {before.shape}, but has "
                f"shape {after.shape} after one iteration. To allow the shape to vary across "
                "iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
                "less-specific shape."
            )


def _is_within(shape, wider):
    """Whether every shape that `shape` stands for is one that `wider` stands for."""
    if wider.ndims is None:
        return True
    if shape.ndims != wider.ndims:
        return False
    pairs = zip(shape.as_list(), wider.as_list())
    return all(limit is None or dim == limit for dim, limit in pairs)


def _check_dtypes(inputs, outputs):
    for before, after in zip(inputs, outputs):
        if before.dtype.base_dtype != after.dtype.base_dtype:
            raise TypeError(
                f"Loop var {before.name} enters the loop with type {before.dtype!r}, but has type "
                f"{after.dtype!r} after 1 iteration."
            )


def while_loop(cond, body, loop_vars, shapes, parallel_iterations, limit, scope):
    """What a structure of variables is after `body` ran on it as long as `cond` held, by a While.

    shapes: what holds of each part in every trip. limit: a scalar tensor, or None. scope: the name
    scope of the operation.
    """
    start = [convert_to_tensor(part) for part in flatten(loop_vars)]
    bound = constant_op.constant(-1, name="maximum_iterations") if limit is None else limit
    counter = constant_op.constant(0, dtype=bound.dtype, name="loop_counter")

    def goes_on(counter, bound, *parts):
        wanted = _as_bool(cond(*pack_as(loop_vars, list(parts))))
        if limit is None:
            return wanted
        return math_ops.logical_and(counter < bound, wanted)

    def trip(counter, bound, *parts):
        for tensor in condition.external_captures:  # which come first, in that order
            get_default_graph().capture(tensor)
        returned = body(*pack_as(loop_vars, list(parts)))
        if not (nest.is_nested(returned) or nest.is_composite(returned)):
            returned = [returned]
        assert_same(list(loop_vars), list(returned))
        return [counter + 1, bound, *flatten(returned)]

    scalar = TensorShape([])
    inputs, shapes = [counter, bound, *start], [scalar, scalar, *shapes]
    condition = _build_trip(scope, "cond", goes_on, inputs, shapes)
    step = _build_trip(scope, "body", trip, inputs, shapes)
    if len(condition.outputs) != 1 or condition.outputs[0].dtype.name != "bool":
        raise TypeError(f"cond must return a boolean scalar, got {condition.outputs}")
    _check_dtypes(inputs, step.outputs)
    _check_shapes(inputs, step.outputs, shapes)
    captures = _share_captures([step, condition])
    step.outputs += step.internal_captures
    shapes += [tensor.shape for tensor in captures]
    results = _call(
        "While" if _is_stateful([condition, step]) else "StatelessWhile",
        scope,
        [condition, step],
        {
            "cond": condition.name,
            "body": step.name,
            "output_shapes": shapes,
            "parallel_iterations": parallel_iterations,
        },
        inputs + captures,
    )
    return pack_as(loop_vars, results[2 : 2 + len(start)])


def _build_trip(scope, kind, function, inputs, shapes):
    """As _build(), of a function of the variables, for which there are placeholders."""
    graph = _new_graph(scope, kind)
    for tensor, shape in zip(inputs, shapes):
        graph.add_argument_like(tensor, shape)
    variables = list(graph.inputs)
    return func_graph_from_py_func(graph.name, lambda: function(*variables), func_graph=graph)
