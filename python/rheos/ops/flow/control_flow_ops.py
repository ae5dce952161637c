"""Order: groups, tuples, assertions, printing; branches."""

import builtins
import functools
from collections import OrderedDict

from rheos.framework import dtypes, logging, nest
from rheos.framework.control_contexts import context_numbered
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph, uses_control_flow_v2
from rheos.framework.graph import (
    colocate_with,
    control_dependencies,
    device as in_device,
    name_scope,
)
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Operation, Tensor, _VariableBase
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, type_spec_from_value
from rheos.ops.array import array_ops, constant_op
from rheos.ops.flow import control_flow_v2
from rheos.ops.flow.eager_flow import eager_assert, eager_cond, eager_while
from rheos.ops.flow.flow_structures import assert_same, flatten, pack_as, without_arrays
from rheos.ops.math import math_ops
from rheos.ops.state.graph_keys import GraphKeys


def no_op(name=None):
    """An operation that does nothing; it can wait for others."""
    return None if get_default_graph()._is_eager else apply_op("NoOp", name)


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
    if get_default_graph()._is_eager:
        return None  # they have run
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
    """An operation that fails with `data` unless the condition holds.

    It is one that is only run where the condition does not hold, unless all data are strings and
    int32.
    """
    with name_scope(name, "Assert", [condition, *data]):
        if get_default_graph()._is_eager:
            return eager_assert(condition, data, summarize)
        tensors = [convert_to_tensor(x) for x in data]
        if all(t.dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return apply_op("Assert", "Assert", condition, data, summarize=summarize)
        condition = convert_to_tensor(condition, name="Condition")

        def fail():
            return apply_op("Assert", "Assert", condition, data, summarize=summarize)

        guarded = cond(condition, no_op, fail, name="AssertGuard")
        return getattr(guarded, "op", guarded)  # version 2's conditionals give the operation


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


# ---- Branches


def _result_of_branch(graph, value):
    if isinstance(value, Operation):
        return graph._cond_result(value)
    return graph._cond_result(convert_to_tensor(value))


def _build_branch(graph, context, function):
    """What the function returns, and the tensors of it that go to the Merges; None and None if it
    returns None."""
    context.Enter()
    try:
        returned = function()
        if returned is None:
            return None, None
        parts = [_result_of_branch(graph, part) for part in flatten(returned)]
        return returned, flatten(pack_as(without_arrays(returned), parts))
    finally:
        context.Exit()


def _unpack_if_single(result):
    return result[0] if isinstance(result, (list, builtins.tuple)) and len(result) == 1 else result


def _functions_of_cond(true_fn, false_fn, fn1, fn2):
    """The two functions, of which older programs call one fn1 and one fn2."""
    found = []
    given = (("true_fn", "fn1", true_fn, fn1), ("false_fn", "fn2", false_fn, fn2))
    for new, old, value, other in given:
        if other is not None and value is not None:
            raise TypeError(f"cond(): {new} and {old} may not be set simultaneously.")
        if other is None and value is None:
            raise TypeError(f"cond(): {new} argument required")
        found.append(value if other is None else other)
    for function, name in zip(found, ("true_fn", "false_fn")):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return found


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """What `true_fn` returns where `pred` holds, else what `false_fn` returns.

    pred: a boolean scalar tensor. Both functions are called, without arguments, to add operations
    to the graph, of which those of one run; what they return has the same structure and dtypes.
    strict: a list of one element stays a list. TypeError for a pred that is a bool; TypeError or
    ValueError for structures that differ.
    """
    true_fn, false_fn = _functions_of_cond(true_fn, false_fn, fn1, fn2)
    if get_default_graph()._is_eager:
        return eager_cond(pred, true_fn, false_fn)
    if uses_control_flow_v2():
        return control_flow_v2.cond(pred, true_fn, false_fn, name)
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        graph = get_default_graph()
        numbers = graph._cond_begin(convert_to_tensor(pred, name="pred"))
        if_false, if_true = (context_numbered(graph, number) for number in numbers)
        true_value, true_parts = _build_branch(graph, if_true, true_fn)
        if true_value is None:
            raise ValueError("true_fn must have a return value.")
        false_value, false_parts = _build_branch(graph, if_false, false_fn)
        if false_value is None:
            raise ValueError("false_fn must have a return value.")
        if not strict:
            true_value, false_value = map(_unpack_if_single, (true_value, false_value))
        assert_same(true_value, false_value)
        if not true_parts:
            raise ValueError("true_fn and false_fn must return at least one result.")
        for one, other in zip(true_parts, false_parts):
            if one.dtype.base_dtype != other.dtype.base_dtype:
                raise ValueError(
                    "Outputs of true_fn and false_fn must have the same type: "
                    f"{one.dtype.name}, {other.dtype.name}"
                )
        merged = [graph._cond_merge(x, y) for x, y in zip(false_parts, true_parts)]
        if if_true.outer_context is None:
            graph.add_to_collection(GraphKeys.COND_CONTEXT, if_true)
            graph.add_to_collection(GraphKeys.COND_CONTEXT, if_false)
        result = pack_as(true_value, merged)
        return result if strict else _unpack_if_single(result)


# ---- Cases


def _at_most_true(predicates, count, message):
    """An assertion that at most `count` of them hold."""
    stacked = array_ops.stack(predicates, name="preds_c")
    number = math_ops.reduce_sum(math_ops.cast(stacked, dtypes.int32), name="num_true_conds")
    holds = math_ops.less_equal(number, constant_op.constant(count, name="n_true_conds"))
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    data = [f"{message}: more than {count} conditions ({names}) evaluated as True:", stacked]
    return Assert(holds, data=data, summarize=len(predicates))


def _last_as_default(predicates, actions):
    """A function that does the last action, after a check that it is its turn."""
    last = len(predicates) - 1

    def default():
        others = (
            f"Implementation error: selected default action #{last} was called, but some of other "
            "predicates are True: "
        )
        mine = (
            "Input error: None of conditions evaluated as True:",
            array_ops.stack(predicates, name="preds_c"),
        )
        checks = [
            _at_most_true(predicates[:last], 0, others),
            Assert(predicates[last], data=mine),
        ]
        with control_dependencies(checks):
            return actions[last]()

    return default


def _check_pairs(pairs, exclusive, name, allow_python_preds):
    if not isinstance(pairs, (list, builtins.tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pairs, OrderedDict):
        pairs = list(pairs.items())
    elif isinstance(pairs, dict):
        pairs = sorted(pairs.items(), key=lambda pair: pair[0].name)
        if not exclusive:
            logging.warning(
                "%s: An unordered dictionary of predicate/fn pairs was provided, but "
                "exclusive=False. The order of conditional tests is deterministic but not "
                "guaranteed.",
                name,
            )
    for pair in pairs:
        if not isinstance(pair, builtins.tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if isinstance(pred, Tensor):
            if pred.dtype != dtypes.bool:
                raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        elif not allow_python_preds:
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        elif not isinstance(pred, bool):
            raise TypeError(f"pred must be a Tensor or bool, got: {pred}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def case_by(cond_fn, pairs, default, exclusive, name, allow_python_preds=False, **options):
    """case() over another function than cond()."""
    predicates, actions = _check_pairs(pairs, exclusive, name, allow_python_preds)
    with name_scope(name, "case", predicates):
        if default is None:
            default = _last_as_default(predicates, actions)
            rest = predicates[:-1]
        else:
            rest = predicates
        for pred, action in reversed(list(zip(rest, actions))):
            default = functools.partial(cond_fn, pred, true_fn=action, false_fn=default, **options)
        if not exclusive:
            return default()
        with control_dependencies([_at_most_true(rest, 1, "Input error: exclusive=True")]):
            return default()


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """What the first function returns whose predicate holds, else what `default` returns.

    pred_fn_pairs: pairs of a boolean scalar tensor and a function, or a dict of them. Without a
    default, one of the predicates has to hold. exclusive: running fails where more than one does.
    """
    return case_by(cond, pred_fn_pairs, default, exclusive, name, strict=strict)


def _functions_by_index(branch_index, branch_fns, default):
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, builtins.tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(function) for function in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, builtins.tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    return functions if default is None else [*functions, default]


def switch_case(branch_index, branch_fns, default=None, name=None):
    """What the function of number `branch_index` returns; for other numbers `default`, or the last.

    branch_index: an integer scalar tensor. branch_fns: functions, or pairs of a number and a
    function, or a dict. The graph gets conditionals, one in another.
    """
    functions = _functions_by_index(branch_index, branch_fns, default)
    if uses_control_flow_v2():
        return control_flow_v2.switch_case(branch_index, functions, name)
    with name_scope(name, "case", [branch_index]):
        chosen = functions[-1]
        for number in reversed(range(len(functions) - 1)):
            wanted = math_ops.equal(branch_index, number)
            chosen = functools.partial(cond, wanted, functions[number], chosen)
        return chosen()


# ---- Loops


def _shapes_of_spec(spec):
    return [part.shape for part in nest.flatten(spec._of_specs(), expand_composites=True)]


def _default_invariant(variable):
    """The shapes that the parts of a composite variable keep from trip to trip."""
    if isinstance(variable, IndexedSlices):
        return [part.shape for part in variable._parts]
    return _shapes_of_spec(type_spec_from_value(variable))


def _is_described(variable, spec):
    if nest.is_composite(variable):
        return spec.is_compatible_with(variable)
    dtype = convert_to_tensor(variable).dtype.base_dtype
    return isinstance(spec, TensorSpec) and spec.dtype == dtype


def _invariant(variable, shape):
    """The shapes of the parts of a loop variable, as `shape`, a TypeSpec or TensorShape, says."""
    if isinstance(shape, TypeSpec):
        if not _is_described(variable, shape):
            raise TypeError(f"TypeSpec {shape!r} is not compatible with {variable!r}")
        return _shapes_of_spec(shape)
    if not nest.is_composite(variable):
        if shape is not None and not isinstance(shape, TensorShape):
            raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
        return [convert_to_tensor(variable).shape if shape is None else shape]
    if shape is None:
        return _default_invariant(variable)
    if not isinstance(shape, TensorShape):
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {shape!r}")
    if hasattr(variable, "_shapes_of_parts"):
        return variable._shapes_of_parts(shape)
    spec = type_spec_from_value(variable)
    return _shapes_of_spec(type(spec)(shape, *spec._serialize()[1:]))


def _invariants(loop_vars, shape_invariants):
    nest.assert_same_structure(loop_vars, shape_invariants)
    flat = zip(nest.flatten(loop_vars), nest.flatten(shape_invariants))
    return [shape for variable, one in flat for shape in _invariant(variable, one)]


def _default_invariants(loop_vars, parts):
    """The shapes that the variables' parts enter with, or that their kind says."""
    shapes, rest = [], list(parts)
    for variable in nest.flatten(loop_vars):
        count = len(flatten(variable))
        if nest.is_composite(variable):
            shapes += _default_invariant(variable)
        else:
            shapes += [part.shape for part in rest[:count]]
        del rest[:count]
    return shapes


def _build_loop(graph, context, condition, body, loop_vars, variables):
    """What the body returned, and the tensors of it after the loop."""
    context.Enter()
    try:
        wanted = convert_to_tensor(condition(*pack_as(loop_vars, variables)))
        inside = pack_as(loop_vars, graph._while_body(wanted))
        returned = body(*inside)
        if not (nest.is_nested(returned) or nest.is_composite(returned)):
            returned = [returned]
        assert_same(list(inside), list(returned))
        following = [convert_to_tensor(part) for part in flatten(returned)]
        if len(following) != len(variables):
            raise ValueError(
                "Number of inputs and outputs of body must match loop_vars: "
                f"{len(variables)}, {len(following)}"
            )
        return returned, graph._while_end(following)
    finally:
        context.Exit()


def _loop_of_functions(condition, body, loop_vars, shapes, options, scope):
    parallel_iterations, back_prop, _, limit = options
    if shapes is None:
        flat = [convert_to_tensor(part) for part in flatten(loop_vars)]
        shapes = _default_invariants(loop_vars, flat)
    result = control_flow_v2.while_loop(
        condition, body, loop_vars, shapes, parallel_iterations, limit, scope
    )
    if back_prop:
        return result
    return pack_as(result, [array_ops.stop_gradient(part) for part in flatten(result)])


def _loop(condition, body, loop_vars, shapes, same_structure, *options):
    graph = get_default_graph()
    flat = [convert_to_tensor(part) for part in flatten(loop_vars)]
    shapes = _default_invariants(loop_vars, flat) if shapes is None else shapes
    number, variables = graph._while_begin(flat, shapes, *options)
    context = context_numbered(graph, number)
    if context.outer_context is None:
        graph.add_to_collection(GraphKeys.WHILE_CONTEXT, context)
    returned, after = _build_loop(graph, context, condition, body, loop_vars, variables)
    packed = pack_as(returned, after)
    return packed[0] if len(after) == 1 and not same_structure else packed


def _counted(condition, body, loop_vars, limit, is_one):
    """The functions and variables of a loop that counts its trips, up to `limit`."""
    counter = constant_op.constant(0, dtype=limit.dtype, name="iteration_counter")

    def goes_on(trip, inner):
        below = trip < limit
        wanted = condition(inner) if is_one else condition(*inner)
        return math_ops.logical_and(below, wanted)

    def step(trip, inner):
        following = trip + 1
        return (following, body(inner) if is_one else body(*inner))

    return goes_on, step, (counter, loop_vars[0] if is_one else loop_vars)


def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
    maximum_iterations=None,
    return_same_structure=False,
):
    """The loop variables after `body` ran on them as long as `cond` held.

    cond: a function of the variables that gives a boolean scalar. body: one that gives their next
    values, in the same structure. loop_vars: a nested structure of tensors. shape_invariants: one
    of TensorShapes, for variables whose shapes change. maximum_iterations: an integer scalar.
    return_same_structure: a list of one variable stays a list. Both functions are called once, to
    add operations to the graph. TypeError or ValueError for structures, dtypes and shapes that do
    not stay.
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if get_default_graph()._is_eager:
        values = eager_while(cond, body, loop_vars, maximum_iterations)
        return values[0] if len(values) == 1 and not return_same_structure else values
    with name_scope(name, "while", nest.flatten(loop_vars)) as scope:
        if not loop_vars:
            raise ValueError("No loop variables provided")
        limit = None
        is_one = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if limit.shape.ndims != 0:
                raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
        options = parallel_iterations, back_prop, swap_memory, limit
        if uses_control_flow_v2():
            shapes = shape_invariants and _invariants(loop_vars, shape_invariants)
            result = _loop_of_functions(cond, body, loop_vars, shapes, options, scope)
            return result[0] if len(flatten(result)) == 1 and is_one else result
        if limit is not None:
            cond, body, loop_vars = _counted(cond, body, loop_vars, limit, is_one)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants)
        shapes = None
        if shape_invariants is not None:
            shapes = _invariants(loop_vars, shape_invariants)
        result = _loop(cond, body, loop_vars, shapes, return_same_structure, *options)
        return result if limit is None else result[1]


def get_default_graph_name_scope():
    return get_default_graph().get_name_scope()
