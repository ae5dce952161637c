"""Functions of the face that a program gives meanings for types of its own."""

import functools
import inspect
import types
import typing

import numpy as np

from rheos.framework import dtypes, tensor_shape
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor, _VariableBase

_dispatched = {}  # {id of a function: what programs said of it}


def _origin_and_parts(annotation):
    return typing.get_origin(annotation), typing.get_args(annotation)


def _checker(annotation):
    """A function of a value: whether an annotation fits it. ValueError for annotations that say
    nothing about values."""
    if annotation is typing.Any:
        return lambda value: True
    origin, parts = _origin_and_parts(annotation)
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        checkers = [_checker(part) for part in parts]
        return lambda value: any(fits(value) for fits in checkers)
    if origin in (list, tuple) or getattr(origin, "__name__", "") == "Sequence":
        kind = (list, tuple) if origin not in (list, tuple) else origin
        if origin is tuple and not (len(parts) == 2 and parts[1] is Ellipsis):
            each = [_checker(part) for part in parts]
            return lambda value: (
                isinstance(value, tuple)
                and len(value) == len(each)
                and all(fits(item) for fits, item in zip(each, value))
            )
        fits = _checker(parts[0])
        return lambda value: (
            isinstance(value, kind) and len(value) > 0 and all(fits(item) for item in value)
        )
    if isinstance(annotation, type):
        return lambda value: isinstance(value, annotation)
    raise ValueError(f"Type annotation {annotation} is not currently supported by dispatch.")


_PLAIN = (
    Tensor, _VariableBase, np.ndarray, np.generic, bool, int, float, complex, str, bytes, type(None)
)  # fmt: skip


def _may_dispatch(value):
    """Whether a value, or one in a list, is of another type than functions take by themselves."""
    if isinstance(value, (list, tuple)):
        return any(map(_may_dispatch, value))
    return not isinstance(value, (*_PLAIN, dtypes.DType, tensor_shape.TensorShape))


class _Target:
    """A function that stands in where the arguments fit."""

    def __init__(self, function, signatures, takes_name):
        self.function = function
        self._checkers = [
            {name: _checker(one) for name, one in signature.items()} for signature in signatures
        ]
        self._takes_name = takes_name

    def fits(self, given):
        """Whether arguments by name fit one of the signatures."""
        return any(
            all(name in given and fits(given[name]) for name, fits in checkers.items())
            for checkers in self._checkers
        )

    def __call__(self, args, kwargs):
        if self._takes_name:
            return self.function(*args, **kwargs)
        kwargs = dict(kwargs)
        name = kwargs.pop("name", None)
        if name is None:
            return self.function(*args, **kwargs)
        with name_scope(name):
            return self.function(*args, **kwargs)


class _Api:
    """A function of the face with the targets that programs gave it."""

    def __init__(self, function):
        self.function = function
        self.signature = inspect.signature(function)
        self.name = function.__name__
        self.targets = []

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if self.targets:
                found = self._target(args, kwargs)
                if found is not None:
                    result = found(args, kwargs)
                    if result is not NotImplemented:
                        return result
            return function(*args, **kwargs)

        wrapper._dispatched_api = self
        self.wrapper = wrapper

    def _target(self, args, kwargs):
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None
        if not any(map(_may_dispatch, given.values())):
            return None
        found = [target for target in self.targets if target.fits(given)]
        if len(found) > 1:
            raise ValueError(
                "Multiple dispatch targets that were registered with tf.dispatch_for "
                f"({', '.join(str(one.function) for one in found)}) match the arguments to "
                f"{self.name}"
            )
        return found[0] if found else None


def _api_of(function):
    known = getattr(function, "_dispatched_api", None)
    if isinstance(known, _Api):
        return known
    module = getattr(function, "__module__", None) or "rheos."  # an op's own function has none
    is_builtin = isinstance(function, types.BuiltinFunctionType)
    if isinstance(function, type) or is_builtin or not callable(function):
        raise ValueError(f"{function} does not support dispatch.")
    if not module.startswith("rheos."):
        raise ValueError(f"{function} does not support dispatch.")
    api = _dispatched.get(id(function))
    if api is None:
        api = _dispatched[id(function)] = _Api(function)
    return api


def _annotations(function):
    hints = typing.get_type_hints(function)
    hints.pop("return", None)
    return hints


def _by_name(signature, api):
    """A signature with names in place of positions."""
    names = list(api.signature.parameters)
    named = {}
    for key, annotation in signature.items():
        name = names[key] if isinstance(key, int) and key < len(names) else key
        if name not in api.signature.parameters:
            raise ValueError(
                f"signature passed to dispatch_for_api has an argument {key!r} that {api.name} "
                "does not have"
            )
        named[name] = annotation
    return named


def _check_parameters(function, api):
    """ValueError if a function has other parameters; whether it takes a name, if the API does."""
    own = inspect.signature(function)
    names, wanted = list(own.parameters), list(api.signature.parameters)
    takes_name = "name" in names or "name" not in wanted
    if names != [name for name in wanted if takes_name or name != "name"]:
        raise ValueError(
            f"Dispatch function's signature {own} does not match API's signature {api.signature}."
        )
    return takes_name


def add(function, target, signatures, publish):
    """Gives a function of the face a target. publish(function, wrapper): called the first time."""
    api = _api_of(function)
    takes_name = _check_parameters(target, api)
    signatures = [_by_name(signature, api) for signature in signatures]
    if not signatures:
        annotations = _annotations(target)
        if not annotations:
            raise ValueError(
                "The dispatch_for_api decorator must be called with at least one signature, or "
                "applied to a function that has type annotations on its parameters."
            )
        signatures = [annotations]
    api.targets.append(_Target(target, signatures, takes_name))
    publish(api.function, api.wrapper)


def add_elementwise(function, handler, kinds, publish):
    """Gives a function a target that calls handler(function of the operands, *operands).

    kinds: annotations of the first parameters, the operands.
    """
    api = _api_of(function)
    names = list(api.signature.parameters)[: len(kinds)]
    if len(names) < len(kinds):
        return

    def target(*args, **kwargs):
        bound = api.signature.bind(*args, **kwargs).arguments
        operands = [bound.pop(name) for name in names]
        called = functools.partial(_with_others, api.wrapper, names, bound) if bound else wrapper
        return handler(called, *operands)

    wrapper = api.wrapper
    target.of_handler = handler
    api.targets.append(_Target(target, [dict(zip(names, kinds))], True))
    publish(api.function, api.wrapper)


def _with_others(function, names, others, *operands):
    return function(**dict(zip(names, operands)), **others)


def remove(function, publish):
    """Takes back all that a function is the target of; ValueError if it is none."""
    found = False
    for api in _dispatched.values():
        kept = [
            one
            for one in api.targets
            if one.function is not function
            and getattr(one.function, "of_handler", None) is not function
        ]
        if len(kept) == len(api.targets):
            continue
        found = True
        api.targets = kept
        if not kept:
            publish(api.function, api.wrapper, False)
    if not found:
        raise ValueError(
            f"Function {function} was not registered using a `@tf.experimental.dispatch_for_*` "
            "decorator."
        )
