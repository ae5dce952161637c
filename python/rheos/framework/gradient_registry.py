"""Gradients that programs define themselves: RegisterGradient, custom_gradient."""

import itertools

from rheos import _core
from rheos.framework import nest
from rheos.framework.graph import (
    IndexedSlices,
    _VariableBase,
    control_dependencies,
    convert_to_tensor,
    get_default_graph,
)

_registered = {}
_numbers = itertools.count()


def _register(op_type, function):
    if op_type in _registered or _core.op_has_gradient(op_type):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _registered[op_type] = function


class RegisterGradient:
    """A decorator: the function is the gradient of operations of a type.

    The function takes the operation and a gradient for each output, and returns one for each input,
    None where there is none. The name may be one that only Graph.gradient_override_map uses.
    TypeError if it is no string, KeyError if it was registered before or the library has one.
    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        _register(self._op_type, f)
        return f


def no_gradient(op_type):
    """Says that operations of a type have no gradient, and that none is missing."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


def _parts(gradient, op, index):
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return gradient.values, gradient.indices, gradient.dense_shape
    return convert_to_tensor(gradient, op.inputs[index].dtype.base_dtype)


def call_gradient(op, op_type, gradients):
    """The gradients of the inputs of `op` as the extension takes them; None: none is registered."""
    if op_type not in _registered:
        return None
    function = _registered[op_type]
    if function is None:
        return [None] * len(op.inputs)
    gradients = [IndexedSlices(*g) if isinstance(g, tuple) else g for g in gradients]
    found = function(op, *gradients)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(found) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(found)} generated for op {op.node_def} do not match num inputs "
            f"{len(op.inputs)}"
        )
    return [_parts(g, op, i) for i, g in enumerate(found)]


# ---- custom_gradient


def _variables_between(graph, args, results):
    """The resource variables that `results` read on the way from `args`, in order of creation."""
    handles = {}
    for key in ("variables", "local_variables"):
        for variable in graph.get_collection(key):
            if isinstance(variable, _VariableBase):
                handles[variable.op] = variable
    seen, waiting, found = {a.op for a in args}, [r.op for r in results], set()
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        if op in handles:
            found.add(op)
        waiting.extend(t.op for t in op.inputs)
    given = {a.op for a in args}
    return [v for op, v in handles.items() if op in found and op not in given]


def _takes_variables(function):
    import inspect  # slow to import

    try:
        spec = inspect.getfullargspec(function)
    except TypeError:
        return False
    return "variables" in spec.args or "variables" in spec.kwonlyargs or bool(spec.varkw)


def _variables_for(function, graph, args, results, before):
    new = [v for v in graph.get_collection("variables") if v not in before]
    if any(not getattr(v, "_is_resource", False) for v in new):
        raise TypeError(
            "All variables used by `f` wrapped with @custom_gradient must be "
            "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
            "`use_resource=False`."
        )
    variables = [
        v
        for v in _variables_between(graph, args, results)
        if getattr(v, "_is_resource", False) and getattr(v, "trainable", False)
    ]
    if variables and not _takes_variables(function):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must "
            "accept a keyword argument 'variables'."
        )
    return variables


def custom_gradient(f):
    """A decorator for a function that brings its own gradient.

    f(*tensors) returns (results, grad_fn); grad_fn(*gradients of the results) returns the gradients
    of the tensors. If f uses resource variables, grad_fn takes `variables` too and returns
    (gradients of the tensors, gradients of the variables). ValueError for keyword arguments,
    TypeError if grad_fn does not take the variables that f uses.
    """

    def decorated(*args, **kwargs):
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        graph = get_default_graph()
        args = [convert_to_tensor(a) for a in args]
        before = set(graph.get_collection("variables"))
        result, grad_fn = f(*args)
        results = [convert_to_tensor(r) for r in nest.flatten(result)]
        variables = _variables_for(grad_fn, graph, args, results, before)

        def gradient(op, *gradients):
            gradients = gradients[: len(results)]
            if variables:
                of_args, of_variables = grad_fn(*gradients, variables=variables)
            else:
                of_args, of_variables = grad_fn(*gradients), ()
            found = [*nest.flatten(of_args), *nest.flatten(list(of_variables))]
            if len(of_variables) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
            return [None] * len(results) + found

        from rheos.ops.rearrange_ops import identity_n

        name = f"CustomGradient-{next(_numbers)}"
        _register(name, gradient)
        with graph.gradient_override_map({"IdentityN": name}):
            outputs = identity_n([*results, *args, *variables])
        return nest.pack_sequence_as(result, outputs[: len(results)])

    decorated.__name__ = getattr(f, "__name__", "decorated")
    decorated.__doc__ = f.__doc__
    decorated.__wrapped__ = f
    return decorated


def recompute_grad(f):
    """Makes the gradient of f compute what f computes again, instead of keeping it."""

    @custom_gradient
    def inner(*args):
        def grad(*gradients, variables=None):
            from rheos.ops.gradients import gradients as differentiate

            with control_dependencies(list(gradients)):
                again = f(*args)
            sources = [*args, *(variables or ())]
            found = differentiate(nest.flatten(again), sources, list(gradients))
            of_args, of_variables = found[: len(args)], found[len(args) :]
            return (of_args, of_variables) if variables else of_args

        return f(*args), grad

    return inner


def grad_pass_through(f):
    """f with the gradient of the identity."""

    @custom_gradient
    def passed(*args):
        def grad(*gradients, variables=None):
            return (gradients, [None] * len(variables)) if variables else gradients

        return f(*args), grad

    return passed
