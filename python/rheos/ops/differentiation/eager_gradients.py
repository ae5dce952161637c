"""Gradients that a function brings along, where operations run at once."""

from rheos import _core
from rheos.framework import gradient_parts, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.watchers import listen, stop_listening, stop_recording
from rheos.ops.array import array_ops
from rheos.ops.differentiation.gradients import to_core


class _VariablesRead:
    """Stands among the tapes to see which variables are read."""

    _watch_accessed_variables = True

    def __init__(self):
        self.variables = []

    def _watch(self, variable):
        if all(variable is not v for v in self.variables):
            self.variables.append(variable)

    def _keep(self, value):
        """Tapes do."""

    def _pause(self):
        """It goes on where tapes do not remember: what is read there is the function's too."""

    _resume = _pause


def _is_taken_as_it_is(value):
    return isinstance(value, _VariableBase) or nest.is_composite(value)


def custom_gradient_eager(f, args, kwargs, takes_variables):
    """Runs f(*args, **kwargs), which gives (results, grad_fn), and has tapes remember grad_fn."""
    args = nest.map_structure(lambda a: a if _is_taken_as_it_is(a) else convert_to_tensor(a), args)
    flat = gradient_parts.tensors_for(nest.flatten(args))
    seen = _VariablesRead()
    listen(seen)
    try:  # tapes see what f does: its gradient may use that, and be differentiated
        result, grad_fn = f(*args, **kwargs)
    finally:
        stop_listening(seen)
    whole = nest.flatten(result)
    with stop_recording():
        parts = gradient_parts.tensors_for(whole)
        results = [array_ops.identity(convert_to_tensor(part)) for part in parts]
    given = [a for a in flat if isinstance(a, _VariableBase)]
    for variable in given:
        variable._touch()  # a tape watches it, whether or not f reads it
    variables = [v for v in seen.variables if all(v is not g for g in given)]
    if variables and not takes_variables(grad_fn):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must "
            "accept a keyword argument 'variables'."
        )
    sources = [a if isinstance(a, Tensor) else a.handle for a in (*flat, *variables)]

    def backward(gradients):
        gradients = gradient_parts.like(whole, gradients)
        if variables:
            of_args, of_variables = grad_fn(*gradients, variables=variables)
        else:
            of_args, of_variables = grad_fn(*gradients), ()
        of_args = gradient_parts.tensors_for(nest.flatten(of_args))
        if len(of_args) != len(flat):
            raise ValueError(
                f"custom_gradient function expected to return {len(flat)} gradients, but returned "
                f"{len(of_args)} instead."
            )
        return [_as_core(g) for g in (*of_args, *nest.flatten(list(of_variables)))]

    _core._record_gradient(sources, results, backward)
    return nest.pack_sequence_as(result, gradient_parts.like(whole, results))


def _as_core(gradient):
    if gradient is None:
        return None
    found = to_core(gradient)
    return found if isinstance(found, tuple) else convert_to_tensor(found)
