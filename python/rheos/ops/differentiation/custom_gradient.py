"""Functions that bring their own gradients: custom_gradient and what is made with it."""

import contextlib
import functools
import itertools

from rheos.framework import gradient_parts, nest, signatures
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import func_graph_from_py_func
from rheos.framework.gradient_registry import RaisedBefore, register_gradient_of
from rheos.framework.graph import control_dependencies
from rheos.framework.operation import _VariableBase
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.array import array_ops
from rheos.ops.array.rearrange_ops import identity_n
from rheos.ops.differentiation.eager_gradients import custom_gradient_eager
from rheos.ops.differentiation.gradient_tape import GradientTape
from rheos.ops.differentiation.gradients import gradients as gradients_of

_numbers = itertools.count()


def _variables_between(graph, args, results):
    """The resource variables that `results` read on the way from `args`, in order of creation."""
    handles = {}
    for key in ("variables", "local_variables"):
        for variable in graph.get_collection(key):
            if isinstance(variable, _VariableBase) and not variable._is_eager:
                handles[variable.op] = variable
    for variable in graph.variables if graph.building_function else ():
        if variable._is_eager and graph.captured(variable.handle):
            handles[graph.capture(variable.handle).op] = variable
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
    import inspect

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


def _gradients(grad_fn, gradients, variables):
    """What a program's gradient function gives, for the arguments and then for the variables."""
    if variables:
        of_args, of_variables = grad_fn(*gradients, variables=variables)
    else:
        of_args, of_variables = grad_fn(*gradients), ()
    if len(of_variables) != len(variables):
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    of_args = gradient_parts.tensors_for(nest.flatten(of_args))
    return [*of_args, *nest.flatten(list(of_variables))]


def _with_function(graph, grad_fn, results, args, variables):
    """The results, by a node that names the gradient as a function of the library.

    So the gradient is known wherever the node goes: in copies of the body, in files.
    """
    inputs = [*results, *args, *map(convert_to_tensor, variables)]
    passed = [i for i, r in enumerate(results) if _has_gradient(r.dtype.base_dtype)]
    given = []

    def body(*upstream):
        arrived = dict(zip(passed, upstream))
        gradients = [
            arrived[i] if i in arrived else array_ops.zeros_like(r) for i, r in enumerate(results)
        ]
        found = _gradients(grad_fn, gradients, variables)
        if len(found) != len(args) + len(variables):
            raise ValueError(
                f"custom_gradient function expected to return {len(args) + len(variables)} "
                f"gradients, but returned {len(found)} instead."
            )
        given.extend(len(results) + i for i, g in enumerate(found) if g is not None)
        return [convert_to_tensor(g) for g in found if g is not None]

    specs = [TensorSpec(results[i].shape, results[i].dtype.base_dtype) for i in passed]
    name = f"__custom_gradient_{next(_numbers)}"
    try:
        made = func_graph_from_py_func(name, body, specs).finish()
    except Exception as error:  # it counts if somebody asks for the gradient
        failing = f"CustomGradient-{name}"
        register_gradient_of(graph, failing, RaisedBefore(error))
        with graph._attr_scope([("_gradient_op_type", signatures.STRING, failing)]):
            return identity_n(inputs)[: len(results)]
    captures = made.external_captures
    first = len(inputs)
    inputs += captures
    attrs = [
        ("_gradient_op_type", signatures.STRING, f"CustomGradient-{made.name}"),  # for others
        ("_custom_gradient", signatures.FUNC, made.name),
        (
            "_custom_gradient_args",
            signatures.list_kind(signatures.INT),
            [*passed, *(-1 - first - i for i in range(len(captures)))],
        ),
        ("_custom_gradient_results", signatures.list_kind(signatures.INT), given),
    ]
    with contextlib.ExitStack() as scopes:
        for attr in attrs:
            scopes.enter_context(graph._attr_scope([attr]))
        return identity_n(inputs)[: len(results)]


def _has_gradient(dtype):
    return dtype.is_floating or dtype.is_complex


def _in_graph(f, graph, args):
    """What f gives for the arguments, by nodes that have its gradient."""
    args = nest.map_structure(lambda a: a if nest.is_composite(a) else convert_to_tensor(a), args)
    before = set(graph.get_collection("variables"))
    result, given_fn = f(*args)
    whole = nest.flatten(result)
    args = gradient_parts.tensors_for(nest.flatten(args))
    results = [convert_to_tensor(r) for r in gradient_parts.tensors_for(whole)]
    variables = _variables_for(given_fn, graph, args, results, before)

    def grad_fn(*gradients, **kwargs):
        return given_fn(*gradient_parts.like(whole, gradients), **kwargs)

    def gradient(op, *gradients):
        gradients = gradients[: len(results)]
        return [None] * len(results) + _gradients(grad_fn, gradients, variables)

    if graph.building_function:
        outputs = _with_function(graph, grad_fn, results, args, variables)
    else:
        name = f"CustomGradient-{next(_numbers)}"
        register_gradient_of(graph, name, gradient)
        with graph.gradient_override_map({"IdentityN": name}):
            outputs = identity_n([*results, *args, *variables])
    return nest.pack_sequence_as(result, gradient_parts.like(whole, outputs[: len(results)]))


class _WithGradient:
    """A function, or method of a class, that brings its gradient."""

    def __init__(self, f):
        self.__name__ = "decorated"
        functools.update_wrapper(self, f, updated=())
        self._f = f

    def __get__(self, instance, owner=None):
        return self if instance is None else _WithGradient(self._f.__get__(instance, owner))

    def __call__(self, *args, **kwargs):
        graph = get_default_graph()
        if graph._is_eager:
            return custom_gradient_eager(self._f, args, kwargs, _takes_variables)
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _in_graph(self._f, graph, args)


def custom_gradient(f):
    """A decorator for a function, or method, that brings its own gradient.

    f(*args) of tensors, ragged tensors and structures of them returns (results, grad_fn);
    grad_fn(*gradients of the results) returns the gradients of the arguments. If f uses resource
    variables, grad_fn takes `variables` too and returns (gradients of the arguments, gradients of
    the variables). ValueError for keyword arguments in a graph, TypeError if grad_fn does not take
    the variables that f uses.
    """
    return _WithGradient(f)


def recompute_grad(f):
    """Makes the gradient of f compute what f computes again, instead of keeping it."""
    plain = _recomputing(f)

    @functools.wraps(f, updated=())
    def called(*args, **kwargs):
        made = _recomputing(functools.partial(f, **kwargs)) if kwargs else plain
        return made(*args)

    return called


def _recomputing(f):
    @custom_gradient
    def inner(*args):
        def grad(*gradients, variables=None):
            if get_default_graph()._is_eager:
                return _recomputed(f, args, gradients, variables)
            with control_dependencies(list(gradients)):
                own = _own(args)
                again = f(*own)
            sources = [*own, *(variables or ())]
            found = gradients_of(nest.flatten(again), sources, list(gradients))
            of_args, of_variables = found[: len(args)], found[len(args) :]
            return (of_args, of_variables) if variables else of_args

        return f(*args), grad

    return inner


def _own(args):
    """The arguments as tensors of their own: one given twice has a gradient for each place."""
    return nest.map_structure(array_ops.identity, list(args))


def _recomputed(f, args, gradients, variables):
    with GradientTape() as tape:
        own = _own(args)
        tape.watch(own)
        again = f(*own)
    sources = [*own, *(variables or ())]
    found = tape.gradient(nest.flatten(again), sources, list(gradients))
    of_args, of_variables = found[: len(args)], found[len(args) :]
    return (of_args, of_variables) if variables else of_args


def grad_pass_through(f):
    """f with the gradient of the identity."""

    @custom_gradient
    def passed(*args):
        def grad(*gradients, variables=None):
            return (gradients, [None] * len(variables)) if variables else gradients

        return f(*args), grad

    return passed
