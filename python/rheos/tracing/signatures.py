"""The parameters of a traced function, and signatures as TensorFlow prints them."""

import inspect

import numpy as np

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.operation import Tensor
from rheos.framework.tensor_spec import TensorSpec, TypeSpec

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def check_signature(input_signature):
    """TypeError unless an input signature is a tuple or list of nested specs."""
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(input_signature)}."
        )
    for one in input_signature:
        nest.map_leaves(_checked_spec, one)


class Parameters:
    """Binds the arguments of calls to the parameters of a Python function."""

    def __init__(self, function, input_signature=None):
        self._signature = inspect.signature(function)
        self._name = getattr(function, "__name__", "function")
        every = list(self._signature.parameters.values())
        self._simple = None  # the number of parameters, if a call by position needs no binding
        if all(p.kind in _POSITIONAL for p in every):
            self._simple = len(every)
        self.every = every
        self.input_signature = None
        if input_signature is not None:
            self.input_signature = self._checked(input_signature)

    def _checked(self, input_signature):
        check_signature(input_signature)
        names = [p.name for p in self.every if p.kind in _POSITIONAL]
        takes_more = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in self.every)
        if len(input_signature) > len(names) and not takes_more:
            raise TypeError(
                f"input_signature has {len(input_signature)} elements, but {self._name} takes "
                f"{len(names)} arguments"
            )
        needed = [p for p in self.every[len(input_signature) :] if p.default is p.empty]
        needed = [p.name for p in needed if p.kind in (*_POSITIONAL, p.KEYWORD_ONLY)]
        if needed:
            raise TypeError(
                "input_signature missing type constraint for the parameters without defaults "
                f"{needed} of {self._name}"
            )
        return tuple(nest.map_leaves(_checked_spec, one) for one in input_signature)

    def _describe(self):
        if self.input_signature is None:
            return str(self._signature)
        parts = zip((p.name for p in self.every), self.input_signature)
        return "(" + ", ".join(f"{name}: {spec_text(one)}" for name, one in parts) + ")"

    def refuse(self, reason, args, kwargs):
        """The TypeError of a call whose arguments do not fit."""
        return TypeError(
            f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and "
            f"kwargs: {kwargs} for signature: {self._describe()}."
        )

    def bind(self, args, kwargs):
        """(positional, by keyword) arguments with defaults, one form for each meaning of a call."""
        if not kwargs and len(args) == self._simple and self.input_signature is None:
            return args, {}
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self.refuse(error, args, kwargs) from None
        bound.apply_defaults()
        if self.input_signature is not None:
            return self._as_signed(bound.args, bound.kwargs, args, kwargs)
        return bound.args, bound.kwargs

    def _as_signed(self, args, kwargs, given, given_kwargs):
        """The arguments as tensors of the input signature."""
        signed = self.input_signature
        if len(args) > len(signed):
            names = [p.name for p in self.every[len(signed) :]]
            defaults = [p.default for p in self.every[len(signed) :]]
            if list(args[len(signed) :]) != defaults[: len(args) - len(signed)]:
                raise self.refuse(
                    f"too many positional arguments (no specs for {names})", given, given_kwargs
                )
        converted = []
        for value, spec in zip(args, signed):
            try:
                converted.append(_cast(value, spec))
            except (TypeError, ValueError) as error:
                raise self.refuse(error, given, given_kwargs) from None
        return (*converted, *args[len(signed) :]), kwargs

    def signed_args(self):
        """The arguments that the input signature stands for, with defaults behind them."""
        rest = self.every[len(self.input_signature) :]
        defaults = [p.default for p in rest if p.kind in _POSITIONAL]
        kwargs = {p.name: p.default for p in rest if p.kind is p.KEYWORD_ONLY}
        return (*self.input_signature, *defaults), kwargs

    def names(self, args, kwargs):
        """By argument its name and kind, in the order of the call."""
        takes_more = any(p.kind is p.VAR_POSITIONAL for p in self.every)
        named = []
        positional = [p for p in self.every if p.kind in _POSITIONAL]
        for i, _ in enumerate(args):
            if i < len(positional):
                kind = "POSITIONAL_ONLY" if takes_more else positional[i].kind.name
                named.append((positional[i].name, kind))
            else:
                rest = next(p.name for p in self.every if p.kind is p.VAR_POSITIONAL)
                named.append((f"{rest}_{i - len(positional)}", "POSITIONAL_ONLY"))
        keyword_only = {p.name: p.kind for p in self.every}
        for name in kwargs:
            kind = keyword_only.get(name, inspect.Parameter.KEYWORD_ONLY)
            named.append((name, kind.name))
        return named


def _checked_spec(leaf):
    """An element of an input signature; TypeError for what is no spec."""
    if not isinstance(leaf, TypeSpec):
        raise TypeError(f"input_signature takes TensorSpecs, got {leaf!r}")
    return leaf._of_specs()


def _cast(value, spec):
    """A value as what a spec, or a structure of them, asks for; TypeError if it is not."""
    if not isinstance(spec, TensorSpec):
        if nest.is_nested(spec):
            leaves = nest.flatten_up_to(spec, value, check_types=False)
            parts = [_cast(leaf, one) for leaf, one in zip(leaves, nest.flatten(spec))]
            return nest.pack_sequence_as(spec, parts)
        return _cast_composite(value, spec) if nest.is_composite(spec) else value
    if isinstance(value, TensorSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(f"Can not cast {unnamed(value)!r} to {unnamed(spec)!r}")
        return value
    if not isinstance(value, Tensor):
        value = convert_to_tensor(value, dtype=spec.dtype)
    found = TensorSpec(value.shape, value.dtype.base_dtype)
    if found.dtype != spec.dtype or not spec.shape.is_compatible_with(found.shape):
        raise TypeError(f"Can not cast {found!r} to {unnamed(spec)!r}")
    return value


def _cast_composite(value, spec):
    """A value of several tensors as one with specs in their place asks for."""
    if type(value) is not type(spec):
        raise TypeError(f"Can not cast {spec_text(value)} to {spec_text(spec)}")
    given, wanted = (nest.flatten(one, expand_composites=True) for one in (value, spec))
    if len(given) != len(wanted):
        raise TypeError(f"Can not cast {spec_text(value)} to {spec_text(spec)}")
    parts = [_cast(leaf, one) for leaf, one in zip(given, wanted)]
    return nest.pack_sequence_as(value, parts, expand_composites=True)


def unnamed(spec):
    """A TensorSpec without its name."""
    return TensorSpec(spec.shape, spec.dtype)


def spec_text(value):
    """An argument or result as it stands in a printed signature."""
    if isinstance(value, (TensorSpec, Tensor)):
        dims = value.shape.dims
        shape = "<unknown>" if dims is None else str(tuple(dim.value for dim in dims))
        name = value.name if isinstance(value, TensorSpec) else None
        dtype = value.dtype.base_dtype.name
        return f"TensorSpec(shape={shape}, dtype=tf.{dtype}, name={name!r})"
    if isinstance(value, dict):
        parts = ", ".join(f"[{key!r}, {spec_text(one)}]" for key, one in value.items())
        return f"Dict[{parts}]"
    if isinstance(value, (tuple, list)):
        name = "Tuple" if isinstance(value, tuple) else "List"
        return f"{name}[{', '.join(map(spec_text, value))}]"
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return f"Literal[{value!r}]"
    if isinstance(value, np.ndarray):
        return f"TensorSpec(shape={value.shape}, dtype=tf.{value.dtype}, name=None)"
    return repr(value)
