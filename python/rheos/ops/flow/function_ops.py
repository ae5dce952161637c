"""Operations that call functions given by Defun: If, While, For, gradients."""

from rheos.framework.op_call import add_op
from rheos.ops.flow.function import Defun


def _results(operation):
    return list(operation.outputs) or operation


def _result_types(function):
    return [tensor.dtype.base_dtype for tensor in function._body.outputs]


def If(cond, inputs, then_branch, else_branch, name=None):
    """What `then_branch`, a Defun, gives for `inputs` if `cond` holds, else `else_branch`."""
    made = add_op(
        "If",
        name,
        cond,
        [*inputs, *then_branch.captured_inputs],
        Tout=_result_types(then_branch),
        then_branch=then_branch.name,
        else_branch=else_branch.name,
    )
    return _results(made)


def _passing_captures(body):
    """`body`, which also gives what it captured: as a loop takes it."""

    @Defun(
        *body.declared_input_types,
        *(tensor.dtype.base_dtype for tensor in body.captured_inputs),
        func_name=f"{body.name}_Wrapper",
    )
    def wrapped(*args):
        count = len(body.declared_input_types)
        return [*body._call_all(args).outputs, *args[count:]]

    return wrapped


def _ignoring_captures(cond, body):
    """`cond` with arguments for what the body captures."""
    captured = [tensor.dtype.base_dtype for tensor in body.captured_inputs]
    count = len(body.declared_input_types)

    @Defun(*body.declared_input_types, *captured, func_name=f"{cond.name}_Wrapper")
    def wrapped(*args):
        return cond(*args[:count])

    return wrapped


def While(input_, cond, body, name=None, hostmem=None):
    """`input_`, then what `body`, a Defun, gives for it, and so on, as long as `cond` holds."""
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured inputs."
        )
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError(
            f"While op 'cond' and 'body' signatures do not match. {cond.declared_input_types} vs "
            f"{body.declared_input_types}"
        )
    captured = list(body.captured_inputs)
    if captured:
        cond, body = _ignoring_captures(cond, body), _passing_captures(body)
    made = add_op("While", name, [*input_, *captured], cond=cond.name, body=body.name)
    results = list(made.outputs)
    return results[: len(results) - len(captured)] if results else made


def For(start, limit, delta, inputs, body, name=None, hostmem=None, rewrite_with_while=None):
    """`inputs`, then what `body`, a Defun, gives for a number and them: a trip for each number
    from `start` on, by `delta`, before `limit`."""
    captured = list(body.captured_inputs)
    if captured:
        body = _passing_captures(body)
    made = add_op("For", name, start, limit, delta, [*inputs, *captured], body=body.name)
    results = list(made.outputs)
    return results[: len(results) - len(captured)] if results else made


def symbolic_gradient(input, Tout, f, name=None):  # noqa: A002
    """The gradients of `f` for its arguments, of these and of gradients of its results."""
    return _results(add_op("SymbolicGradient", name, input, Tout=Tout, f=f.name))


def Gradient(inputs, f, name=None):
    """What `f`, a Defun, has as gradients, for arguments and gradients of its results."""
    return symbolic_gradient(inputs, [t.dtype.base_dtype for t in f._body.inputs], f, name)


def remote_call(args, Tout, f, target, name="remote_call"):
    """Not there: functions run on the device of their call."""
    raise NotImplementedError("remote_call: functions run on the device of their call")
