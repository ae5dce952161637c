"""Functions of saved models: called like those that a program traces."""

import inspect

import numpy as np

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.marks import GenericFunction
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.structured import Unknown, decode
from rheos.framework.tensor_spec import TensorSpec, TypeSpec
from rheos.tracing.concrete import ConcreteFunction
from rheos.tracing.signatures import spec_text


class _Body:
    """What a concrete function asks of its graph, for one that is in the library already."""

    def __init__(self, root, function_def, name, outputs):
        signature = function_def.signature
        self._root = root
        self.name = name
        self.is_stateful = signature.is_stateful
        self.structured_outputs = outputs
        leaves = nest.flatten(outputs, expand_composites=True)
        self.outputs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
        self.output_types = [spec.dtype for spec in self.outputs]
        self.inputs = [arg.name for arg in signature.input_arg]
        self._captures = []
        self.control_captures = ()
        self.variables = ()

    @property
    def external_captures(self):
        """What calls give the function behind its arguments: of variables with several copies the
        one that is meant here."""
        return [getattr(one, "handle", one) for one in self._captures]

    @property
    def captures(self):
        """Pairs of what is outside and the name of the argument for it."""
        count = len(self.external_captures)
        return list(zip(self.external_captures, self.inputs[len(self.inputs) - count :]))

    @property
    def trainable_variables(self):
        """Those of `variables` that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    def finish(self):
        """Itself: it is in the library."""
        return self


class Signatures(dict):
    """The signatures of a model by their names; nothing can be written to it."""

    def _refuse(self, *_, **__):
        raise TypeError("the signatures of a saved model cannot be changed")

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = _refuse


class RestoredConcrete(ConcreteFunction):
    """One trace of a saved model's function. library: what has the functions be there."""

    def __init__(self, root, function_def, name, saved, library):
        args, kwargs = nest.map_leaves(_of_specs, decode(saved.canonicalized_input_signature))
        results = nest.map_leaves(_of_specs, decode(saved.output_signature))
        self.graph = _Body(root, function_def, name, results)
        self._args, self._kwargs = args, kwargs
        self._shown = args, kwargs
        self._parameters = None
        self._python_name = function_def.signature.name
        self._arg_keywords, self._positional = None, 0
        self.made, self.first = (), None
        self.at_once_in = root
        self.bound_inputs = tuple(saved.bound_inputs)
        self._library = library

    def bind(self, captures, variables):
        """Says what the arguments behind those of calls are, and which variables are there."""
        self.graph._captures = captures
        if any(getattr(one, "_is_distributed", False) for one in captures):
            self.at_once_in = None  # calls that are remembered are of one replica
        self.graph.variables = tuple(variables)

    @property
    def _at_once(self):
        op_type, attrs, _ = super()._at_once
        return op_type, attrs, self.graph.external_captures

    def by_keywords(self, keywords, positional):
        """Has calls give tensors by these names, and at most so many by position."""
        self._arg_keywords = list(keywords)
        self._positional = positional
        return self

    def _structured(self, outputs):
        structure = self.graph.structured_outputs
        results = iter(outputs)
        leaves = nest.flatten(structure, expand_composites=True)
        parts = [next(results) if isinstance(leaf, TensorSpec) else leaf for leaf in leaves]
        return nest.pack_sequence_as(structure, parts, expand_composites=True)

    def _flat(self, args, kwargs):
        """The tensors of a call: in the structure of the arguments, or one for each input."""
        tensors = None if self._arg_keywords and kwargs else self.tensors_for(args, kwargs, True)
        return super()._flat(args, kwargs) if tensors is None else tensors

    def tensors_for(self, args, kwargs, converts):
        """The tensors of a call with bound arguments; None if the trace is of other ones.

        converts: numbers and arrays may stand for tensors.
        """
        own = (self._args, self._kwargs)
        try:
            given = _leaves_as(own, (args, kwargs), converts)
        except (ValueError, TypeError):
            return None
        tensors = []
        for spec, value in zip(nest.flatten(own, expand_composites=True), given):
            if isinstance(spec, TensorSpec):
                tensor = _as_tensor(spec, value, converts)
                if tensor is None:
                    return None
                tensors.append(tensor)
            elif isinstance(spec, Unknown) or not _is_same(spec, value):
                return None
        return tensors


def _of_specs(leaf):
    return leaf._of_specs() if isinstance(leaf, TypeSpec) else leaf


def _leaves_as(own, given, converts):
    """The leaves of arguments where those of a trace has leaves; ValueError or TypeError if the
    structures differ. converts: lists may stand for a tensor."""
    if converts and not any(map(nest.is_composite, nest.flatten(own))):
        return nest.flatten_up_to(own, given)
    nest.assert_same_structure(own, given, expand_composites=True)
    return nest.flatten(given, expand_composites=True)


def _is_same(spec, value):
    if isinstance(value, (Tensor, _VariableBase)):
        return False
    return type(spec) is type(value) and bool(np.all(spec == value))


def _as_tensor(spec, value, converts):
    if isinstance(value, TensorSpec):
        fits = spec.dtype == value.dtype and spec.shape.is_compatible_with(value.shape)
        return value if fits else None
    if not isinstance(value, Tensor):
        if not converts or value is None:
            return None
        try:
            value = convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError):
            return None
    fits = value.dtype.base_dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    return value if fits else None


def _signature(spec):
    """The parameters of the Python function that was saved; None if they are not known."""
    full = decode(spec.fullargspec)
    if isinstance(full, Unknown):
        return None
    kinds = inspect.Parameter
    args = list(full.args)[1 if spec.is_method else 0 :]
    defaults = list(full.defaults or ())
    missing = len(args) - len(defaults)
    made = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD,
              default=defaults[i - missing] if i >= missing else kinds.empty)
        for i, name in enumerate(args)
    ]  # fmt: skip
    if full.varargs:
        made.append(kinds(full.varargs, kinds.VAR_POSITIONAL))
    only = full.kwonlydefaults or {}
    made += [
        kinds(name, kinds.KEYWORD_ONLY, default=only.get(name, kinds.empty))
        for name in full.kwonlyargs
    ]
    if full.varkw:
        made.append(kinds(full.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(made)


class RestoredFunction(GenericFunction):
    """A saved model's function: the traces that were saved, of which calls take the first that
    fits. ValueError if there is none, of functions with an input signature TypeError."""

    def __init__(self, name, spec, concrete_functions):
        self._name = name
        self._signature = _signature(spec)
        self.spec = spec
        self._kind_of_error = ValueError if decode(spec.input_signature) is None else TypeError
        self.concrete_functions = concrete_functions
        self.__name__ = name

    def _bound(self, args, kwargs):
        if self._signature is None:
            return args, kwargs
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def trace_of(self, args, kwargs):
        """(the trace that takes such arguments, the tensors that a call of it takes)."""
        bound = self._bound(args, kwargs)
        for converts in (False, True):
            for concrete in self.concrete_functions:
                tensors = concrete.tensors_for(*bound, converts)
                if tensors is not None:
                    return concrete, tensors
        if not self.concrete_functions:
            raise ValueError("Found zero restored functions for caller function.")
        own = "\n".join(
            f"  Option {i + 1}: {spec_text(one._args)}, {spec_text(one._kwargs)}"
            for i, one in enumerate(self.concrete_functions)
        )
        raise self._kind_of_error(
            "Could not find matching concrete function to call loaded from the SavedModel. Got: "
            f"{args}, {kwargs}. Expected one of the following {len(self.concrete_functions)} "
            f"option(s):\n{own}"
        )

    def __call__(self, *args, **kwargs):
        """Calls the trace that takes such arguments."""
        concrete, tensors = self.trace_of(args, kwargs)
        return concrete.call_flat(tensors)

    def get_concrete_function(self, *args, **kwargs):
        """The trace that takes such arguments, for which TensorSpecs may stand."""
        if not args and not kwargs and len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        return self.trace_of(args, kwargs)[0]

    def _list_all_concrete_functions(self):
        return list(self.concrete_functions)

    def __repr__(self):
        return f"<RestoredFunction {self._name}>"
