"""Variables whose initial values are made of other variables, initialized with these in one step.

The initializer of such a variable reads the others as they are; in one step with their
initializers it might come first. So that step gets an initializer of its own, whose copy of the
initial value reads what the others have just been set to.
"""

from rheos.framework import messages
from rheos.framework.graph import control_dependencies
from rheos.framework.importer import import_graph_def
from rheos.framework.op_call import apply_op, op1

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_ASSIGNMENTS = ("Assign", "AssignVariableOp")


def _made_of(value, sources, known):
    """The operations between `value` and the variables in `sources`, in the order of the graph.

    known: {operation: whether it needs one of the variables}, for all values looked at so far.
    """
    todo = [value.op]
    while todo:
        op = todo[-1]
        if op in known:
            todo.pop()
        elif op.type in _VARIABLES:
            known[op] = op in sources
        else:
            before = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
            unknown = [b for b in before if b not in known]
            if not unknown:
                known[op] = any(known[b] for b in before)
            todo += unknown
    if not known[value.op]:
        return []
    found, todo = {value.op}, [value.op]
    while todo:
        op = todo.pop()
        if op.type in _VARIABLES:
            continue
        for before in [*(tensor.op for tensor in op.inputs), *op.control_inputs]:
            if known[before] and before not in found:
                found.add(before)
                todo.append(before)
    return sorted((op for op in found if op.type not in _VARIABLES), key=lambda op: op._id)


def _just_set(variable_op, assignment):
    """What the variable's op gives, available once it is set."""
    if assignment.type == "Assign":
        return assignment.outputs[0]
    with control_dependencies([assignment]):
        return op1("Identity", None, variable_op.outputs[0])


def _copied(value, operations, done):
    """A copy of `value` by copies of operations, that reads the variables in `done` when set."""
    graph_def, given, inside = messages.GraphDef(), {}, set(operations)
    for op in operations:
        node = graph_def.node.add()
        node.CopyFrom(op.node_def)
        node.attr.pop("_class", None)  # what it lies beside is not copied
        for tensor in op.inputs:
            if tensor.op not in inside and tensor.name not in given:
                assignment = done.get(tensor.op)
                given[tensor.name] = _just_set(tensor.op, assignment) if assignment else tensor
        for before in op.control_inputs:
            if before not in inside:
                given["^" + before.name] = before
    (copy,) = import_graph_def(
        graph_def, input_map=given, return_elements=[value.name], name=value.op.name
    )
    return copy


def initializers_in_order(variables):
    """The initializers of variables, or what takes their place where one needs another's value."""
    sources = {v.op for v in variables if getattr(v, "op", None) is not None}
    known, done, initializers = {}, {}, []
    for variable in variables:
        initializer = variable.initializer
        if getattr(initializer, "type", None) in _ASSIGNMENTS:
            target, value = initializer.inputs[0], initializer.inputs[1]
            operations = _made_of(value, sources, known)
            needed = {t.op for op in operations for t in op.inputs if t.op in sources}
            if needed and needed <= done.keys():
                attrs = {}
                if initializer.type == "Assign":
                    attrs["validate_shape"] = initializer.get_attr("validate_shape")
                with variable.graph.as_default(), control_dependencies(None):
                    copy = _copied(value, operations, done)
                    initializer = apply_op(initializer.type, None, target, copy, **attrs)
            done[target.op] = initializer
        initializers.append(initializer)
    return initializers
