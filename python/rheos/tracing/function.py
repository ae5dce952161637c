"""tf.function: a Python function that is traced once for each kind of arguments."""

import contextlib
import functools
import inspect
import itertools
import sys
import threading
import types
import weakref

from rheos import _core
from rheos.autograph import api
from rheos.framework import nest, replicas, run_warnings
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import func_graph_from_py_func
from rheos.framework.marks import GenericFunction
from rheos.framework.operation import Operation, Tensor
from rheos.framework.tensor_spec import TensorSpec, TypeSpec
from rheos.framework.thread_state import inherited
from rheos.framework.watchers import stop_recording
from rheos.tracing import kinds, lifting, retracing
from rheos.tracing.concrete import ConcreteFunction, make_calls_in_python
from rheos.tracing.signatures import Parameters, check_signature

_MOST_TRACES = 256  # of one function; the one that was used least recently is dropped
_numbers = itertools.count(1)


class _Switch:
    run_eagerly = False


class _Traced(threading.local):
    def __init__(self):
        self.functions = []  # that are being traced, the outermost first


_traced = inherited(_Traced())


def outermost_traced():
    """The Function that is being traced, the outermost of several; None: there is none."""
    return _traced.functions[0] if _traced.functions else None


def run_functions_eagerly(run_eagerly):
    """Has functions run as Python, for debugging, or traced again."""
    _Switch.run_eagerly = bool(run_eagerly)
    make_calls_in_python("run eagerly", _Switch.run_eagerly)


def functions_run_eagerly():
    """Whether functions run as Python."""
    return _Switch.run_eagerly


def _root_of(graph):
    return getattr(graph, "_root", graph) if graph.building_function else graph


def _place_of(root):
    """What tells calls in a graph from those in others, and those of one replica of a strategy from
    those of others, whose variables have other copies."""
    return id(root), replicas.copy_number()


class Function(_core.TracedBase, GenericFunction):
    """A function that is traced: its calls are of the graph's functions.

    Made by tf.function(); see there.
    """

    def __init__(
        self,
        python_function,
        name=None,
        input_signature=None,
        autograph=True,
        reduce_retracing=False,
        jit_compile=None,
        instance=None,
        attributes=None,
        autograph_options=None,
    ):
        self._python_function = python_function
        self._name = name or getattr(python_function, "__name__", type(python_function).__name__)
        self._options = {
            "input_signature": input_signature,
            "autograph": autograph,
            "reduce_retracing": reduce_retracing,
            "jit_compile": jit_compile,
            "attributes": attributes,
            "autograph_options": autograph_options,
        }
        self._instance = instance  # a weak reference to what the function is a method of
        self._parameters = None
        self._signature = input_signature
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._jit_compile = jit_compile
        self._attributes = attributes
        self._experimental_autograph_options = autograph_options
        self._traces = {}  # {(kind of the arguments, where it is called): ConcreteFunction}
        self._wider = {}  # {such a key that has no trace: the key of one that takes it}
        self._by_instance = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()
        self._watch = retracing.Watch()
        self._count = 0
        functools.update_wrapper(self, python_function, updated=())

    # What it is

    @property
    def python_function(self):
        """The Python function."""
        return self._python_function

    @property
    def input_signature(self):
        """The TensorSpecs that calls fit, or None."""
        return None if self._signature is None else self._bound().input_signature

    @property
    def function_spec(self):
        """The parameters of the function and their defaults, to which calls are fitted."""
        return self._bound()

    def experimental_get_tracing_count(self):
        """How often it was traced."""
        return self._count

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """{name: trace} of the traces, for saved models."""
        if save_type == "checkpoint":
            return {}
        return {f"trace_{i}": trace for i, trace in enumerate(self._traces.values())}

    def _list_all_concrete_functions(self):
        return list(self._traces.values())

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The signatures of the traces, one behind the other."""
        return "\n\n".join(f.pretty_printed_signature(verbose) for f in self._traces.values())

    def __get__(self, instance, owner=None):
        """A method: a function of its own for each object, which it does not keep alive."""
        if instance is None:
            return self
        if sys.getrefcount(instance) <= _REFERENCES_OF_TEMPORARY:
            return self._method_of(lambda: instance)  # or nothing would hold the object in the call
        try:
            found = self._by_instance.get(instance)
            reference = weakref.ref(instance)
        except TypeError:  # of an object without hash or weak references
            return self._method_of(lambda: instance)
        if found is None:
            found = self._by_instance[instance] = self._method_of(reference)
        return found

    def _clone(self, python_function=None):
        """A function like this one, without its traces; python_function: in place of its own."""
        inner = self._python_function if python_function is None else python_function
        return Function(inner, self._name, instance=self._instance, **self._options)

    def _decorate(self, decorator):
        """Puts decorator(its Python function) in the place of its Python function.

        ValueError if it was traced already.
        """
        if self._traces:
            raise ValueError(
                f"{self!r} has {len(self._traces)} traces of its Python function. "
                "Functions cannot be decorated after they have been traced."
            )
        self._python_function = decorator(self._python_function)
        self._parameters = None

    def _method_of(self, reference):
        made = Function(self._python_function, self._name, instance=reference, **self._options)
        with contextlib.suppress(TypeError, ValueError):  # of what has no signature
            # A method's, without its object, where inspect would look at the function's.
            method = types.MethodType(self._python_function, self)
            made.__signature__ = inspect.signature(method)
        return made

    def __reduce__(self):
        """Without its traces, which another process makes anew."""
        if self._instance is not None:
            raise TypeError(f"{self!r} is a method of an object, and can only be copied with it")
        return _restored, (self._python_function, self._name, self._options)

    def __deepcopy__(self, memo):
        return self._clone()

    def _bound(self):
        if self._parameters is None:
            function = self._python_function
            if self._instance is not None:
                function = types.MethodType(function, self)  # anything, to take the first away
            self._parameters = Parameters(function, self._signature)
        return self._parameters

    def _target(self):
        """The Python function as it is called; a method of its object."""
        if self._instance is None:
            return self._python_function
        instance = self._instance()
        if instance is None:
            raise ReferenceError(f"the object is gone that {self._name} is a method of")
        return types.MethodType(self._python_function, instance)

    # Calls

    def _call_slowly(self, *args, **kwargs):
        """Calls the trace for arguments of this kind, which is made if there is none.

        The extension does that for calls like those that it was told to remember.
        """
        if _Switch.run_eagerly:
            return self._target()(*args, **kwargs)
        concrete, tensors = self.trace_of(args, kwargs)
        if replicas.current() is None:  # others would find the trace of one replica
            concrete.remember_in(self, args, kwargs, tensors)
        return concrete.call_flat(tensors)

    def trace_of(self, args, kwargs):
        """(the trace for arguments of this kind, the tensors that a call of it takes)."""
        bound = self._bound().bind(args, kwargs)
        return self._trace_for(*bound), kinds.tensor_leaves(bound)

    def get_concrete_function(self, *args, **kwargs):
        """The trace for arguments of this kind; TensorSpecs may stand for tensors."""
        parameters = self._bound()
        if parameters.input_signature is not None and not args and not kwargs:
            args, kwargs = parameters.signed_args()
        else:
            args, kwargs = parameters.bind(args, kwargs)
        return self._trace_for(*nest.map_leaves(_of_specs, (args, kwargs)))

    def _trace_for(self, args, kwargs):
        root = _root_of(get_default_graph())
        if self._signature is not None:
            args, kwargs = self._signed(args, kwargs)
        kind = kinds.kind_of((args, kwargs))
        key = (kind, _place_of(root))
        found = self._found(key, root)
        if found is not None:
            self._watch.called(False)
            return found
        with self._lock:
            found = self._found(key, root)  # another thread may have been first
            return self._trace(kind, key, root, args, kwargs) if found is None else found

    def _found(self, key, root):
        """The trace for a kind of arguments, or the narrowest that takes them; None: no such."""
        found = self._traces.get(self._wider.get(key, key))
        if found is not None:
            return found if found.root() is root else None
        wider = [
            one
            for one, trace in self._traces.items()
            if one[1] == key[1] and trace.root() is root and kinds.accepts(one[0], key[0])
        ]
        if not wider:
            return None
        narrowest = wider[0]
        for one in wider[1:]:
            if kinds.accepts(narrowest[0], one[0]):
                narrowest = one
        while len(self._wider) >= _MOST_TRACES:
            del self._wider[next(iter(self._wider))]
        self._wider[key] = narrowest
        return self._traces[narrowest]

    def _signed(self, args, kwargs):
        """The arguments with the specs of the signature in place of what they stand for."""
        signed = self._bound().input_signature
        return (*signed, *args[len(signed) :]), kwargs

    def _trace(self, kind, key, root, args, kwargs):
        earlier = [one for (one, where), _ in self._traces.items() if where == key[1]]
        if self._reduce_retracing:
            args, kwargs = self._relaxed(kind, key[1], args, kwargs)
            kind = kinds.kind_of((args, kwargs))
            key = (kind, key[1])
        self._count += 1
        self._watch.were_called(self._take_calls())
        if self._watch.called(True) and earlier:
            self._explain(kind, earlier, args, kwargs)
        if self._count == 1 and self._instance is None:
            retracing.note_first_trace(self._python_function, self._name)
        if self._count == 1 and run_warnings.watcher() is not None:
            run_warnings.watcher().function_traced(self)
        concrete = self._traced(args, kwargs)
        concrete = self._without_creation(concrete, args, kwargs)
        concrete.root = weakref.ref(root)
        while len(self._traces) >= _MOST_TRACES:
            self._forget()
            del self._traces[next(iter(self._traces))]
        self._traces[key] = concrete
        self._wider.clear()
        return concrete

    def _without_creation(self, first, args, kwargs):
        """The trace that calls take: another one if this one made variables, which those find."""
        if not first.made:
            return first
        self._count += 1
        concrete = self._traced(args, kwargs)
        if any(made.is_set_inside for made in first.made):
            concrete.first = first
        return concrete

    def _explain(self, kind, earlier, args, kwargs):
        names = [name for name, _ in self._bound().names(args, kwargs)]
        flat = [_flattened(one) for one in (kind, *earlier)]
        retracing.explain(self._name, names, flat[0], flat[1:], self._watch)

    def _relaxed(self, kind, place, args, kwargs):
        """Arguments to trace for that are as wide as those of a trace and these need."""
        for other, where in self._traces:
            wider = _common(other, kind) if where == place else None
            if wider is not None:
                args, kwargs = _with_specs((args, kwargs), wider)
        return args, kwargs

    def _traced(self, args, kwargs):
        to_spec = kinds.spec_maker()
        specs = nest.map_leaves(kinds.of_its_spec, (args, kwargs))
        specs = nest.map_leaves(to_spec, specs, expand_composites=True)
        shown = specs
        named = self._bound().names(args, kwargs)
        specs, names = _named_specs(specs, named), _input_names(specs, named)
        name = f"__inference_{self._identifier()}_{next(_numbers)}"
        leaves = nest.flatten(specs, expand_composites=True)
        made = []
        with (
            stop_recording(),
            self._noted(),
            lifting.lifted_variables(made, may_create=self._count == 1),
        ):
            graph = func_graph_from_py_func(
                name,
                self._python(),
                specs[0],
                specs[1],
                argument_names=_names_of_leaves(leaves, names),
            )
        self._check_outputs(graph)
        graph.finish()
        graph.structured_input_signature = specs
        concrete = ConcreteFunction(graph, self._bound(), *specs, shown, self._name)
        concrete.made, concrete.input_names = made, names
        return concrete

    @contextlib.contextmanager
    def _noted(self):
        _traced.functions.append(self)
        try:
            yield
        finally:
            _traced.functions.pop()

    def _python(self):
        """What is traced: the Python function, converted if its branches are the graph's."""
        target = self._target()
        return api.tf_convert(target) if self._autograph else target

    def _identifier(self):
        text = "".join(c if c.isalnum() or c == "_" else "_" for c in self._name)
        return text.strip("_") or "lambda"

    def _check_outputs(self, graph):
        structure = graph.structured_outputs
        for leaf in nest.flatten(structure, expand_composites=True):
            if leaf is not None and not isinstance(leaf, (Tensor, Operation)):
                raise TypeError(
                    "To be compatible with tf.function, Python functions must return zero or more "
                    f"Tensors or None values; in compilation of {self._python_function}, found "
                    f"return value of type {type(leaf).__name__}"
                )

    def __repr__(self):
        return f"<Function {self._name} of {self._python_function!r}>"


class _Counted:
    """An attribute that is the number of references to its object, as __get__() sees them."""

    def __get__(self, instance, owner=None):
        return sys.getrefcount(instance)


def _references_of_temporary():
    """The references to an object that the program holds nowhere; 0: they do not tell, since an
    interpreter may count one for the variable that is asked or not."""
    kind = type("_Object", (), {"count": _Counted()})
    variable = kind()
    of_temporary = kind().count
    return of_temporary if of_temporary < variable.count else 0


_REFERENCES_OF_TEMPORARY = _references_of_temporary()


def _restored(python_function, name, options):
    return Function(python_function, name, **options)


def _of_specs(leaf):
    return leaf._of_specs() if isinstance(leaf, TypeSpec) else leaf


def _flattened(kind):
    """Positional and keyword arguments side by side."""
    args, kwargs = kind.parts
    return kinds.PartsKind(tuple, None, (*args.parts, *kwargs.parts))


def _common(one, other):
    """The narrowest kind of both; None if there is none."""
    if one == other:
        return one
    if isinstance(one, kinds.TensorKind):
        return one.relaxed(other)
    same = isinstance(one, kinds.PartsKind) and isinstance(other, kinds.PartsKind)
    if not same or (one.type, one.keys) != (other.type, other.keys):
        return None
    if len(one.parts) != len(other.parts):
        return None
    parts = tuple(map(_common, one.parts, other.parts))
    return None if None in parts else kinds.PartsKind(one.type, one.keys, parts)


def _leaves_of(kind):
    if isinstance(kind, kinds.PartsKind):
        return [leaf for part in kind.parts for leaf in _leaves_of(part)]
    return [kind]


def _with_specs(structure, kind):
    """A structure with TensorSpecs for the tensors of a kind."""
    leaves = nest.flatten(structure, expand_composites=True)
    wider = [
        one.spec() if isinstance(one, kinds.TensorKind) else leaf
        for leaf, one in zip(leaves, _leaves_of(kind))
    ]
    return nest.pack_sequence_as(structure, wider, expand_composites=True)


def _named_specs(specs, named):
    """The specs with the names of the arguments."""
    args, kwargs = specs
    names = iter([name for name, _ in named])
    args = tuple(_with_name(one, next(names)) for one in args)
    return args, {key: _with_name(one, key) for key, one in kwargs.items()}


def _with_name(structure, name):
    """The specs with names of their places: that of the argument, then keys and positions."""
    leaves = nest.flatten(structure, expand_composites=True)
    places = ("_".join(map(str, (name, *path))) for path in nest.paths(structure))

    def named(leaf, place):
        if not isinstance(leaf, TensorSpec):
            return leaf
        return TensorSpec(leaf.shape, leaf.dtype, leaf.name or place)

    parts = [named(leaf, place) for leaf, place in zip(leaves, places)]
    return nest.pack_sequence_as(structure, parts, expand_composites=True)


def _input_names(specs, named):
    """The names of the tensors of a function: the program's own, or those of their arguments,
    with numbers behind them from the second of a name on."""
    args, kwargs = specs
    given = [*zip((name for name, _ in named), args), *kwargs.items()]
    names = []
    for name, structure in given:
        for leaf in nest.flatten(structure, expand_composites=True):
            if isinstance(leaf, TensorSpec):
                names.append(_free_name(leaf.name or name, names))
    return names


def _free_name(name, taken):
    tries = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))
    return next(one for one in tries if one not in taken)


def _names_of_leaves(leaves, names):
    rest = iter(names)
    return [next(rest) if isinstance(leaf, TensorSpec) else None for leaf in leaves]


def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
):
    """A Function that traces `func`; without one, a decorator.

    input_signature: TensorSpecs for the arguments: calls with other tensors are a TypeError, and
    there is one trace. autograph: branches and loops over tensors are the graph's.
    reduce_retracing: dimensions that vary are left open, in place of a trace for each.
    jit_compile and the options that begin with `experimental` change nothing.

    >>> @tf.function
    ... def twice(x):
    ...     return 2 * x
    >>> print(twice(tf.constant(21)).numpy())
    42
    """
    relaxes = reduce_retracing or experimental_relax_shapes or reduce_retracing
    attributes = dict(experimental_attributes or {})
    if experimental_implements is not None:
        attributes["api_implements"] = experimental_implements

    def decorate(inner):
        if isinstance(inner, Function):
            inner = inner.python_function
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        if input_signature is not None:
            check_signature(input_signature)
        return Function(
            inner,
            None,
            input_signature,
            autograph,
            relaxes,
            jit_compile,
            attributes=attributes,
            autograph_options=experimental_autograph_options,
        )

    return decorate if func is None else decorate(func)
