"""Traced functions: the graph of one kind of arguments, that can be called."""

import functools
import itertools
import operator

from rheos import _core
from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.elsewhere import elsewhere_of
from rheos.framework.errors import InvalidArgumentError
from rheos.framework.func_graph import call_function
from rheos.framework.op_call import attr_tuples
from rheos.framework.operation import Tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.framework.watchers import keep_for_tapes
from rheos.tracing import kinds
from rheos.tracing.signatures import spec_text


class _Observed:
    by = None  # a function of a ConcreteFunction and its tensors, which calls it


_reasons = set()  # why no call is to be one that the extension remembers


def make_calls_in_python(reason, is_wanted):
    """Has all calls go through here, for a reason, or ends that."""
    (_reasons.add if is_wanted else _reasons.discard)(reason)
    _core._run_traced_eagerly(bool(_reasons))


def observe_calls(observer):
    """Has observer(function, tensors) make all calls that run at once, by call_unobserved(); None:
    nobody looks at them."""
    _Observed.by = observer
    make_calls_in_python("observed", observer is not None)


class ConcreteFunction(_core.TracedBase):
    """A function of the graph, with the signature that it was traced for."""

    input_names = None  # of its tensors, by which a call may give them

    def __init__(self, graph, parameters, args, kwargs, shown, python_name):
        self.graph = graph
        self._shown = shown  # the arguments with the names that the program gave
        self._parameters = parameters
        self._args = args  # TensorSpecs in place of tensors
        self._kwargs = kwargs
        self._python_name = python_name
        self._arg_keywords, self._positional = None, 0
        self.made = ()  # the variables that tracing made
        self.first = None  # what the first call takes instead, since it sets variables
        root = graph._root
        self.at_once_in = root if root._is_eager else None  # where calls run at once

    # What it is

    @property
    def name(self):
        """The name of the function in graphs, as bytes."""
        return self.graph.name.encode()

    @property
    def inputs(self):
        """The tensors of the graph that arguments and captures become."""
        return list(self.graph.inputs)

    @property
    def outputs(self):
        """The tensors of the graph that are returned."""
        return list(self.graph.outputs)

    @property
    def captured_inputs(self):
        """What the function uses of outside."""
        return self.graph.external_captures

    @property
    def variables(self):
        """The variables that it uses."""
        return self.graph.variables

    @property
    def trainable_variables(self):
        """The variables that it uses that are trained."""
        return self.graph.trainable_variables

    @property
    def structured_input_signature(self):
        """(args, kwargs) with TensorSpecs, and the values of Python that it was traced for."""
        return self._args, self._kwargs

    @property
    def structured_outputs(self):
        """The structure of the results, with tensors of the graph."""
        return self.graph.structured_outputs

    @property
    def output_shapes(self):
        """The TensorShapes of what it returns, nested as that is."""
        return self._map_outputs(lambda tensor: tensor.shape)

    @property
    def output_dtypes(self):
        """The dtypes of what it returns, nested as that is."""
        return self._map_outputs(lambda tensor: tensor.dtype)

    def _map_outputs(self, function):
        return nest.map_leaves(
            lambda leaf: function(leaf) if isinstance(leaf, Tensor) else leaf,
            self.structured_outputs,
        )

    @property
    def calls_program(self):
        """Whether calls of it come to functions of the program, which live as long as it does."""
        return getattr(self.graph, "calls_program", False)

    @property
    def function_def(self):
        """The function as a message, a FunctionDef."""
        library = self.graph._root.as_graph_def().library
        return next(f for f in library.function if f.signature.name == self.graph.name)

    # Calls

    def _call_slowly(self, *args, **kwargs):
        """Calls it with the arguments of the Python function, or with tensors for its inputs."""
        try:
            tensors = self._flat(args, kwargs)
        except TypeError:
            return self.call_flat(self.trace_of(args, kwargs)[1])
        self.remember_in(self, args, kwargs, tensors)
        return self.call_flat(tensors)

    def trace_of(self, args, kwargs):
        """(this function, the tensors that a call of it takes), as a Function has it."""
        try:
            return self, self._flat(args, kwargs)
        except TypeError:
            if self._arg_keywords is not None:
                raise
            tensors = self._by_inputs(args, kwargs) if kwargs else self._in_order(args)
            if tensors is None:
                raise
            return self, tensors

    def _by_inputs(self, args, kwargs):
        """The tensors of a call that names each input: as the program named its spec, or its
        argument, with numbers where there are several; None for other names."""
        leaves = nest.flatten((self._args, self._kwargs), expand_composites=True)
        specs = [leaf for leaf in leaves if _is_spec(leaf)]
        names = list(self._input_names())
        if len(names) != len(specs):
            return None
        rest = names[len(args) :]
        if set(rest) != set(kwargs) or len(args) + len(kwargs) != len(names):
            return None
        values = [*args, *(kwargs[name] for name in rest)]
        return self._checked_values(values, specs, args, kwargs)

    def _input_names(self):
        if self._parameters is None:
            return
        args, kwargs = self._shown
        seen = {}
        for (name, _), value in zip(
            self._parameters.names(args, kwargs), (*args, *kwargs.values())
        ):
            for leaf in nest.flatten(value, expand_composites=True):
                if _is_spec(leaf):
                    own = getattr(leaf, "name", None) or name
                    count = seen[own] = seen.get(own, -1) + 1
                    yield f"{own}_{count}" if count else own

    def _in_order(self, args):
        """Tensors alone, one for each of its inputs; None for other arguments.

        InvalidArgumentError if one is of another dtype.
        """
        wanted = nest.flatten((self._args, self._kwargs), expand_composites=True)
        if any(isinstance(spec, kinds.VariableSpec) for spec in wanted):
            return None
        wanted = [spec for spec in wanted if _is_spec(spec)]
        if len(args) != len(wanted) or not all(isinstance(arg, Tensor) for arg in args):
            return None
        for i, (arg, spec) in enumerate(zip(args, wanted)):
            self._check_dtype(i, arg, spec)
        return list(args)

    def _check_dtype(self, number, tensor, spec):
        if tensor.dtype.base_dtype != spec.dtype:
            name = self.graph.name
            raise InvalidArgumentError(
                None, None,
                f"cannot compute {name} as input #{number}(zero-based) was expected to be a "
                f"{spec.dtype.name} tensor but is a {tensor.dtype.base_dtype.name} tensor "
                f"[Op:{name}]",
            )  # fmt: skip

    def _checked_values(self, values, specs, args, kwargs):
        """The tensors of a call that gives each of its inputs. What is a tensor may have another
        shape than the function was traced for."""
        for i, (value, spec) in enumerate(zip(values, specs)):
            if isinstance(value, Tensor):
                self._check_dtype(i, value, spec)
        return [
            value if isinstance(value, Tensor) else self._checked(value, spec, args, kwargs)
            for value, spec in zip(values, specs)
        ]

    def _flat(self, args, kwargs):
        wanted = [leaf for leaf in nest.flatten((self._args, self._kwargs)) if _is_spec(leaf)]
        if self._arg_keywords is not None or not self._fits_structure(args, kwargs):
            return self._by_name(wanted, args, kwargs)
        tensors = []
        for spec, value in self._leaves(self._bind(args, kwargs), args, kwargs):
            if isinstance(spec, kinds.VariableSpec):
                tensors.append(self._handle_of(value, spec, args, kwargs))
            elif _is_spec(spec):
                tensors.append(self._checked(value, spec, args, kwargs))
            elif value is not spec and kinds.kind_of(value) != kinds.kind_of(spec):
                reason = f"Can not cast {value!r} to {spec_text(spec)}"
                raise self._refuse(reason, args, kwargs)
        return tensors

    def _leaves(self, bound, args, kwargs):
        """Pairs of a spec or value that it was traced for, and what a call gives in its place."""
        own = (self._args, self._kwargs)
        try:
            parts = zip(nest.flatten(own), nest.flatten_up_to(own, bound))
        except (TypeError, ValueError) as error:
            raise self._refuse(str(error), args, kwargs) from None
        pairs = []
        for spec, value in parts:
            if not nest.is_composite(spec):
                pairs.append((spec, value))
                continue
            specs, values = (nest.flatten(one, expand_composites=True) for one in (spec, value))
            if len(specs) != len(values) or not nest.is_composite(value):
                reason = f"Can not cast {spec_text(value)} to {spec_text(spec)}"
                raise self._refuse(reason, args, kwargs)
            pairs += zip(specs, values)
        return pairs

    def _fits_structure(self, args, kwargs):
        return self._parameters is not None

    def _bind(self, args, kwargs):
        """Arguments with the values that the trace was made for where they are left out."""
        named = self._parameters.names(self._args, self._kwargs)
        own = dict(zip((name for name, _ in named), (*self._args, *self._kwargs.values())))
        positional = [name for name, _ in named][: len(self._args)]
        if len(args) > len(positional):
            raise self._refuse("too many positional arguments", args, kwargs)
        given = dict(zip(positional, args))
        for name, value in kwargs.items():
            if name not in own:
                raise self._refuse(f"got an unexpected keyword argument '{name}'", args, kwargs)
            if name in given:
                raise self._refuse(f"multiple values for argument '{name}'", args, kwargs)
            given[name] = value
        for name, value in own.items():
            if name in given:
                continue
            if any(_is_spec(leaf) for leaf in nest.flatten(value)):
                raise self._refuse(f"missing a required argument: '{name}'", args, kwargs)
            given[name] = value
        keyword = [name for name, _ in named][len(self._args) :]
        return tuple(given[n] for n in positional), {n: given[n] for n in keyword}

    def _by_name(self, wanted, args, kwargs):
        """The tensors of a call with tensors alone, by position and by the names of inputs."""
        names = self._arg_keywords or self.input_names or [spec.name for spec in wanted]
        if self._arg_keywords and len(args) > self._positional:
            raise TypeError(
                f"{self._python_name} only takes keyword arguments, one for each of {names}. Got "
                f"positional arguments: {args}"
            )
        if len(args) + len(kwargs) != len(names) or len(args) > len(names):
            raise TypeError(
                f"{self._python_name}({', '.join(map(str, names))}) takes {len(names)} tensors, "
                f"got {len(args) + len(kwargs)}"
            )
        values = list(args)
        for name in names[len(args) :]:
            if name not in kwargs:
                raise TypeError(f"{self._python_name}() is missing the argument '{name}'")
            values.append(kwargs[name])
        return self._checked_values(values, wanted, args, kwargs)

    def _checked(self, value, spec, args, kwargs):
        if not isinstance(value, Tensor):
            try:
                value = convert_to_tensor(value, dtype=spec.dtype)
            except (TypeError, ValueError):
                reason = f"Can not cast {value!r} to {spec_text(spec)}"
                raise self._refuse(reason, args, kwargs) from None
        tensor = value
        if tensor.dtype.base_dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
            reason = f"Can not cast {spec_text(tensor)} to {spec_text(spec)}"
            raise self._refuse(reason, args, kwargs)
        return tensor

    def _handle_of(self, value, spec, args, kwargs):
        if not spec.accepts(value):
            reason = f"Can not cast {spec_text(value)} to {spec_text(spec)}"
            raise self._refuse(reason, args, kwargs)
        value._touch()
        return value.handle

    def _refuse(self, reason, args, kwargs):
        return TypeError(
            f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and "
            f"kwargs: {kwargs} for signature: {self._signature_text()}."
        )

    def call_flat(self, tensors):
        """Calls it with a tensor for each of its arguments; the results in their structure."""
        observer = _Observed.by
        if observer is not None and get_default_graph()._is_eager:
            return observer(self, tensors)
        return self.call_unobserved(tensors)

    def call_unobserved(self, tensors):
        """What call_flat() does, told to nobody."""
        caller = get_default_graph()
        if self.first is not None:
            first, self.first = self.first, None
            return first.call_unobserved(tensors)
        for variable in self._touched:
            variable._touch()
        if caller._is_eager:
            if self.calls_program:
                keep_for_tapes(self)
            op_type, attrs, captures = self._at_once

            def call():
                return caller._node(op_type, None, tensors + captures, attrs).outputs

            cluster = self._cluster(tensors)
            if cluster is not None:
                outputs = cluster.call_for_tapes(self.graph, tensors + captures, call)
                return self._structured(outputs)
            return self._structured(call())
        if caller.building_function:
            caller.keep_alive(self)
        return self._structured(list(call_function(self.graph, tensors).outputs))

    def remember_in(self, function, args, kwargs, tensors):
        """Has calls of `function` with such arguments come down to a call with `tensors`."""
        if self.first is not None or self.at_once_in is None or not get_default_graph()._is_eager:
            return
        if self.calls_program or self._cluster(tensors) is not None:
            return
        op_type, attrs, captures = self._at_once
        function._remember(
            args, kwargs, tensors, self, self._form, op_type, attrs, captures, self._touched
        )

    def _cluster(self, tensors):
        """Where a call runs whose variables are on servers; None: here."""
        found = self._captured_elsewhere or elsewhere_of(tensors)
        return None if found is None else found.cluster

    @functools.cached_property
    def _captured_elsewhere(self):
        return elsewhere_of(self.graph.external_captures)

    @property
    def _form(self):
        """How the results are structured, if the extension can do it."""
        structure = self.graph.structured_outputs
        if isinstance(structure, Tensor):
            return "tensor"
        if structure is None:
            return "none"
        if type(structure) is tuple and all(type(leaf) is Tensor for leaf in structure):
            return "tuple"
        return ""

    @functools.cached_property
    def _touched(self):
        """The variables that tapes and functions around are told of in each call."""
        return [v for v in self.variables if v._is_eager]

    @functools.cached_property
    def _at_once(self):
        """What a call that runs at once is made of: op, attributes, what was captured."""
        graph = self.graph.finish()
        op_type = "StatefulPartitionedCall" if graph.is_stateful else "PartitionedCall"
        types = [dtype.base_dtype for dtype in graph.output_types]
        attrs = attr_tuples(op_type, {"Tout": types, "f": graph.name})
        return op_type, attrs, graph.external_captures

    def _structured(self, outputs):
        return self._structure(outputs)

    @functools.cached_property
    def _structure(self):
        """A function of the list of outputs that gives the results."""
        made = _maker(self.graph.structured_outputs, itertools.count())
        return self._packed if made is None else made

    def _packed(self, outputs):
        structure = self.graph.structured_outputs
        results = iter(outputs)
        leaves = nest.flatten(structure, expand_composites=True)
        parts = [next(results) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        return nest.pack_sequence_as(structure, parts, expand_composites=True)

    # Text

    @property
    def function_type(self):
        """The signature, which prints as TensorFlow prints it."""
        return FunctionType(self._signature_text())

    @property
    def inference_fn(self):
        """The function as it is called with tensors alone."""
        return AtomicFunction(self)

    def _parameters_text(self):
        named = self._parameters.names(self._args, self._kwargs) if self._parameters else []
        args, kwargs = self._shown
        values = (*args, *kwargs.values())
        return [(name, kind, spec_text(value)) for (name, kind), value in zip(named, values)]

    def _signature_text(self):
        parts, last = [], None
        for name, kind, text in self._parameters_text():
            if last == "POSITIONAL_ONLY" and kind != last:
                parts.append("/")
            if kind == "KEYWORD_ONLY" and last != kind:
                parts.append("*")
            parts.append(f"{name}: {text}")
            last = kind
        return f"({', '.join(parts)}) -> {self._output_text()}"

    def _output_text(self):
        return spec_text(self.structured_outputs)

    def pretty_printed_signature(self, verbose=True):
        """The parameters, results and captures, a line each."""
        if not verbose:
            return self._signature_text()
        lines = ["Input Parameters:"]
        lines += [f"  {name} ({kind}): {text}" for name, kind, text in self._parameters_text()]
        lines += ["Output Type:", f"  {self._output_text()}", "Captures:"]
        captures = [f"  {id(one)}: {spec_text(one)}" for one in self.captured_inputs]
        return "\n".join([*lines, *(captures or ["  None"])])

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self):
        return f"<ConcreteFunction {self._signature_text()} at 0x{id(self):X}>"


def _maker(structure, places):
    """A function of the outputs that makes a structure of tensors, numbers, texts, None, and lists,
    tuples and dicts of such; None for others. places: counts the tensors."""
    kind = type(structure)
    if kind is Tensor:
        return operator.itemgetter(next(places))
    if structure is None or kind in (bool, int, float, str, bytes):
        return lambda outputs: structure
    if kind is list or kind is tuple:
        makers = [_maker(part, places) for part in structure]
        if None in makers:
            return None
        return lambda outputs: kind([make(outputs) for make in makers])
    if kind is dict:
        by_key = {key: _maker(structure[key], places) for key in sorted(structure)}
        if None in by_key.values():
            return None
        items = [(key, by_key[key]) for key in structure]
        return lambda outputs: {key: make(outputs) for key, make in items}
    return None


class FunctionType:
    """The signature of a traced function."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


class AtomicFunction:
    """A traced function that takes a tensor for each of its inputs."""

    def __init__(self, concrete):
        self._concrete = concrete

    @property
    def name(self):
        """Its name in graphs, as bytes."""
        return self._concrete.name

    @property
    def graph(self):
        """The graph of the body."""
        return self._concrete.graph

    @property
    def function_type(self):
        """The signature."""
        return self._concrete.function_type

    def __call__(self, *args):
        """The results in their structure."""
        tensors = self._concrete._in_order(args)
        if tensors is None:
            raise TypeError(f"{self!r} takes a tensor for each of its inputs, got {args}")
        return self._concrete.call_flat(tensors)

    def __repr__(self):
        return f"<AtomicFunction> {self.name.decode()}{self.function_type}"


def _is_spec(leaf):
    return isinstance(leaf, TensorSpec)
