"""What operations are in branches and loops: tensorflow.python.ops.control_flow_util."""

from rheos.framework.defaults import control_flow_v2_enabled, set_control_flow_v2


def enable_control_flow_v2():
    """Makes branches and loops functions from now on."""
    set_control_flow_v2(True)


def EnableControlFlowV2(graph):
    """Whether branches and loops in this graph are functions."""
    return control_flow_v2_enabled() or getattr(graph, "control_flow_v2", False)


def IsInXLAContext(op):
    """Whether an operation is to be compiled: none is asked to be."""
    return False


def InXlaContext(graph):
    """Whether what is added to a graph is to be compiled: never."""
    return False


def GraphOrParentsInXlaContext(graph):
    """Whether what is added to a graph, or to one around it, is to be compiled: never."""
    return False


def _is_a(*types):
    def is_a(op):
        return op.type in types

    is_a.__doc__ = f"Whether an operation is a {' or a '.join(types)}."
    return is_a


IsSwitch = _is_a("Switch", "RefSwitch")
IsMerge = _is_a("Merge", "RefMerge")
IsLoopEnter = _is_a("Enter", "RefEnter")
IsLoopExit = _is_a("Exit", "RefExit")


def IsLoopConstantEnter(op):
    """Whether an operation takes what does not change into a loop."""
    return IsLoopEnter(op) and op.get_attr("is_constant")


def GetLoopConstantEnter(value):
    """The Enter by which a value that does not change came into a loop; None if it did not."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def GetOutputContext(op):
    """The branch or loop that the results of an operation are in."""
    context = op._get_control_flow_context()
    return context.outer_context if IsLoopExit(op) and context is not None else context


def _first(context, is_one, stop=None):
    while context is not None and context is not stop:
        if is_one(context):
            return context
        context = context.outer_context
    return None


def GetContainingWhileContext(ctxt, stop_ctxt=None):
    """The innermost loop around a context, itself among them; None where `stop_ctxt` is met."""
    return _first(ctxt, lambda context: context.IsWhileContext(), stop_ctxt)


def GetContainingCondContext(ctxt):
    """The innermost branch around a context, itself among them, or None."""
    return _first(ctxt, lambda context: context.IsCondContext())


def GetContainingXLAContext(ctxt):
    """The innermost compiled context: there is none."""
    return None


def IsContainingContext(ctxt, maybe_containing_ctxt):
    """Whether one context is around another, or the same."""
    return _first(ctxt, lambda context: context is maybe_containing_ctxt) is not None or (
        maybe_containing_ctxt is None
    )


def OpInContext(op, ctxt):
    """Whether an operation is in a context."""
    return IsContainingContext(op._get_control_flow_context(), ctxt)


def TensorInContext(tensor, ctxt):
    """Whether a tensor is made in a context."""
    return OpInContext(tensor.op, ctxt)


def GetWhileContext(op):
    """The loop that an operation is in, or None."""
    return GetContainingWhileContext(op._get_control_flow_context())


def IsInWhileLoop(op):
    """Whether an operation is in a loop."""
    return GetWhileContext(op) is not None


def IsInCond(op):
    """Whether an operation is in a branch."""
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def IsLoopSwitch(op):
    """Whether an operation ends the rounds of a loop for one of its variables."""
    context = op._get_control_flow_context()
    is_of_loop = context is not None and context.IsWhileContext()
    return IsSwitch(op) and is_of_loop and not IsCondSwitch(op)


def IsCondSwitch(op):
    """Whether an operation takes a value into a branch."""
    if not IsSwitch(op) or not op.outputs:
        return False
    # What it gives is used in a branch by those that the value was taken in for.
    users = [user for output in op.outputs for user in output.consumers()]
    inside = [GetOutputContext(user) for user in users]
    return all(
        context is not None and (context.IsCondContext() or IsInCond(user) and IsMerge(user))
        for context, user in zip(inside, users)
    )


def IsCondMerge(op):
    """Whether an operation joins two branches."""
    if not IsMerge(op) or not len(op.inputs):
        return False
    contexts = [GetOutputContext(value.op) for value in op.inputs]
    return all(context is not None and context.IsCondContext() for context in contexts)


def IsLoopMerge(op):
    """Whether an operation begins the rounds of a loop for one of its variables."""
    context = op._get_control_flow_context()
    is_of_loop = context is not None and context.IsWhileContext()
    return IsMerge(op) and is_of_loop and not IsCondMerge(op)
