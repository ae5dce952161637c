"""Sessions: running parts of a graph. The common forms of `run` are in the extension."""

import importlib
import threading
import warnings
import weakref
from collections import namedtuple

import numpy as np

from rheos import _core
from rheos.framework import compat, run_warnings
from rheos.framework.defaults import _Default, get_default_graph
from rheos.framework.graph import Graph
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.messages import is_message
from rheos.framework.op_call import _tuple
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor, SparseTensorValue
from rheos.ops.flow.script_ops import call_function
from rheos.ops.ragged.ragged_tensor import RaggedTensorValue
from rheos.ops.state.session_ops import handle_of
from rheos.training.watches import Watch

# What a trace has, as the library counts it (RHEOS_TRACE_* of session.h).
_TRACE_STEPS, _TRACE_GRAPHS, _TRACE_COSTS = 1, 2, 4
_PARTIAL_RUN = "partial_run_"  # and the library's number: a handle


def _values_type():
    return _tuple("IndexedSlicesValue", "values indices dense_shape")


# ---- Types that programs have sessions know


_conversions = []  # (type, of fetches, of feeds, of feeds of partial runs), the last one first


def register_session_run_conversion_functions(
    tensor_type, fetch_function, feed_function=None, feed_function_for_partial_run=None
):
    """Lets objects of a type, and of those derived from it, be fetched and fed.

    fetch_function: of the object to (a list of tensors, a function from the list of their values to
    what run() gives). feed_function: of (object, value) to a list of (tensor, value).
    feed_function_for_partial_run: of the object to a list of tensors. ValueError if the type, or
    one derived from it, has been registered.
    """
    for known, *_ in _conversions:
        if issubclass(known, tensor_type):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    functions = fetch_function, feed_function, feed_function_for_partial_run
    _conversions.insert(0, (tensor_type, *functions))


def _conversion(value, which):
    """One of the functions of the type of a fetch or of the key of a feed; None without one."""
    for kind, *functions in _conversions:
        if isinstance(value, kind):
            return functions[which]
    return None


# ---- Fetches of any form


def _is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


class _Fetches:
    """Flattens fetches of any form, and puts their values back into that form."""

    def __init__(self, graph):
        self._graph = graph
        self.elements = []
        self._places = {}

    def _place(self, element):
        place = self._places.get(element)
        if place is None:
            place = self._places[element] = len(self.elements)
            self.elements.append(element)
        return lambda values: values[place]

    def _element(self, fetch, original):
        try:
            return self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {original!r} has invalid type {type(original)!r}, must be a "
                f"string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {original!r} cannot be interpreted as a Tensor. ({error})"
            ) from None

    def add(self, fetch):
        """A function from the list of values to the value of this fetch."""
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if _is_namedtuple(fetch):
            parts, kind = [self.add(f) for f in fetch], type(fetch)
            return lambda values: kind(*(p(values) for p in parts))
        if isinstance(fetch, (list, tuple)):
            parts, kind = [self.add(f) for f in fetch], type(fetch)
            if kind is list:
                return lambda values: [p(values) for p in parts]
            return lambda values: kind(p(values) for p in parts)
        if isinstance(fetch, dict) or hasattr(fetch, "items") and hasattr(fetch, "keys"):
            parts, kind = [(k, self.add(v)) for k, v in fetch.items()], type(fetch)
            return lambda values: _same_dict(kind, fetch, [(k, p(values)) for k, p in parts])
        convert = _conversion(fetch, 0)
        if convert is not None:
            rows, contract = convert(fetch)
            parts = [self._place(self._element(r, fetch)) for r in rows]
            return lambda values: contract([p(values) for p in parts])
        if isinstance(fetch, SparseTensor):
            rows = (fetch.indices, fetch.values, fetch.dense_shape)
            parts = [self._place(self._element(r, fetch)) for r in rows]
            return lambda values: SparseTensorValue(*[p(values) for p in parts])
        if isinstance(fetch, RaggedBase):
            rows = (*fetch.nested_row_splits, fetch.flat_values)
            parts = [self._place(self._element(r, fetch)) for r in rows]
            return lambda values: _ragged_value([p(values) for p in parts])
        if isinstance(fetch, IndexedSlices):
            rows = [fetch.values, fetch.indices]
            if fetch.dense_shape is not None:
                rows.append(fetch.dense_shape)
            parts = [self._place(self._element(r, fetch)) for r in rows]
            return lambda values: _values_type()(
                *[p(values) for p in parts], *([None] if len(parts) == 2 else [])
            )
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [a.name for a in type(fetch).__attrs_attrs__]
            parts, kind = [self.add(getattr(fetch, n)) for n in names], type(fetch)
            return lambda values: kind(*(p(values) for p in parts))
        return self._place(self._element(fetch, fetch))


def _ragged_value(parts):
    """The value of a RaggedTensor of its row splits, outermost first, and its flat values."""
    result = parts[-1]
    for splits in reversed(parts[:-1]):
        result = RaggedTensorValue(result, splits)
    return result


def _same_dict(kind, original, items):
    if kind is dict:
        return dict(items)
    try:
        return kind(items)
    except TypeError:
        import copy

        made = copy.copy(original)
        made.update(items)
        return made


def _feeds(feed):
    """The tensors and values of one entry of a feed_dict."""
    key, value = feed
    convert = _conversion(key, 1)
    if convert is not None:
        return list(convert(key, value))
    if isinstance(key, SparseTensor):
        if not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
            raise TypeError("the value for a SparseTensor is (indices, values, dense_shape)")
        return list(zip(_feed_parts(key), value))
    if isinstance(key, RaggedBase):
        splits = getattr(value, "nested_row_splits", ())
        if len(splits) != key.ragged_rank:
            raise TypeError("the value for a RaggedTensor is a RaggedTensorValue of its rank")
        return list(zip(_feed_parts(key), (value.flat_values, *splits)))
    if isinstance(key, IndexedSlices):
        return list(zip(_feed_parts(key), value))
    return [(key, value)]


def _feed_parts(key):
    """The tensors that the key of a feed stands for."""
    convert = _conversion(key, 2)
    if convert is not None:
        return list(convert(key))
    if isinstance(key, SparseTensor):
        return [key.indices, key.values, key.dense_shape]
    if isinstance(key, RaggedBase):
        return [key.flat_values, *key.nested_row_splits]
    if isinstance(key, IndexedSlices):
        parts = [key.values, key.indices]
        return parts if key.dense_shape is None else [*parts, key.dense_shape]
    return [key]


def _kinds(elements):
    """The tensors among flat fetches, and the operations."""
    operations = [e for e in elements if not hasattr(e, "op")]
    return [e for e in elements if hasattr(e, "op")], operations


def _flat_feeds(feed_dict):
    for key, value in feed_dict.items():
        if isinstance(key, tuple) and not _is_namedtuple(key):
            yield from _pairs(key, value)
        elif _is_namedtuple(key):
            yield from _pairs(tuple(key), tuple(value))
        else:
            yield from _feeds((key, value))


def _pairs(keys, values):
    if len(keys) != len(values):
        raise ValueError(f"{len(values)} values were fed for {len(keys)} tensors: {keys}")
    for key, value in zip(keys, values):
        if isinstance(key, tuple):
            yield from _pairs(key, value)
        else:
            yield from _feeds((key, value))


# ---- Sessions


_sessions = weakref.WeakSet()  # that are there, for a report
_told_of_new = [None]  # a function of each session that opens


def on_open(function):
    """Has a function be told of each session that opens from now on; None: no more."""
    _told_of_new[:] = [function]


def open_sessions():
    """The sessions that are open."""
    return [session for session in _sessions if not session._closed]


def waiting():
    """What the steps of sessions wait for: a text for each session in which any do."""
    for session in list(_sessions):
        told = session._waiting()
        if told:
            lines = "".join(f"  {line}\n" for line in told.splitlines())
            yield f"{type(session).__name__} of {session.graph}:\n{lines}"


def _gpu_devices(config, target):
    """The graphics cards of a session in this process, as `_open` takes them; None: all."""
    if config is None or target:
        return None
    if not config.HasField("gpu_options") and "GPU" not in config.device_count:
        return None
    return _core._gpu_devices(config.SerializeToString())


def _threads(config):
    return max(config.intra_op_parallelism_threads, 0) if config is not None else 0


def _threads_between_ops(config):
    return max(config.inter_op_parallelism_threads, 0) if config is not None else 0


def _rewrites(config):
    """What the config says about rewriting, as `_open` takes it."""
    if config is None:
        return (0,) * 9
    options = config.graph_options.rewrite_options
    optimizer = config.graph_options.optimizer_options
    level = optimizer.opt_level
    return (
        int(options.disable_meta_optimizer or level < 0),  # L0 is -1
        options.constant_folding,
        options.common_subgraph_elimination,
        options.arithmetic_optimization,
        options.dependency_optimization,
        options.remapping,
        options.layout_optimizer,
        2 if optimizer.global_jit_level < 0 else 0,  # OFF is -1, a toggle's is 2
        options.function_optimization,
    )


class BaseSession(_core.SessionBase):
    """What both kinds of session share."""

    def __init__(self, target="", graph=None, config=None):
        if graph is None:
            graph = get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target is None:
            target = ""
        if not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None and not is_message(config, "ConfigProto"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        target = target.decode() if isinstance(target, bytes) else target
        self._target = target
        self._config = config
        _sessions.add(self)
        self._watches = set()  # that are on
        self._dead_handles = []  # of tensors that the session keeps and nobody asks for
        self._open(
            graph,
            target,
            _threads(config),
            config.device_count.get("CPU", 0) if config is not None else 0,
            bool(config is not None and config.allow_soft_placement),
            bool(config is not None and config.log_device_placement),
            _rewrites(config),
            _threads_between_ops(config),
            call_function,
            config.operation_timeout_in_ms if config is not None else 0,
            config.SerializeToString() if config is not None and target else b"",
            _gpu_devices(config, target),
        )
        watcher = run_warnings.watcher()
        if watcher is not None:
            watcher.session_opened(self)
        elif run_warnings.are_on():
            self._watch_growth()
        if _told_of_new[0] is not None:
            _told_of_new[0](self)

    def _tell_growth(self, file, line, text):
        """Warns that a line adds nodes between runs; the extension calls it, once."""
        run_warnings.warn("growing-graph", file, line, text)

    @property
    def _graph(self):
        return self.graph

    @property
    def graph_def(self):
        """The graph as a GraphDef."""
        return self.graph.as_graph_def()

    @property
    def sess_str(self):
        return self._target

    def list_devices(self):
        """The devices the session can use."""
        return [_Device(*known) for known in self._list_devices()]

    def watch(self, names="*", tell=None, what="statistics"):
        """From the next step on, tells of what operations compute. The graph stays as it is.

        names: of operations, also of functions' bodies: "*" stands for any letters, "?" for one;
        several with "," in between. tell: a function of a Watched (training/watches.py); by default
        it is printed to standard error. what: "values" for arrays, "statistics" for their numbers,
        "first_nan" for the first operation of a step that made a NaN, and what it took,
        "not_finite" for the numbers of each value that has a NaN or an infinity, "histogram" for
        numbers and how they are spread. Returns a Watch, whose end() ends it. NotFoundError with
        near names where there is no such operation.
        """
        return Watch(self, names, tell, what)

    def explain(self, fetches, feed_dict=None):
        """What a step for these fetches will run; nothing is run.

        feed_dict: values, or shapes as tuples, of what is fed; placeholders that are not in it
        have their static shape, with 1 for dimensions that are not known. Returns an Explanation
        (training/explanation.py), which prints as text. Not for sessions on a server.
        """
        self._check_runnable()
        mapper = _Fetches(self.graph)
        mapper.add(fetches)
        keys, values = [], []
        for key, value in (feed_dict or {}).items():
            keys.append(self._feed_tensor(key))
            values.append(value)
        tensors, operations = _kinds(mapper.elements)
        module = importlib.import_module("rheos.training.explanation")
        return module.explain(self, mapper.elements, keys, values, tensors, operations)

    def close(self):
        """Ends the session and frees its variables. Running steps are cancelled."""
        self._close()

    def as_default(self):
        """A context in which this is the default session."""
        return _Default("sessions", self)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs fixed fetches; its arguments are the values of `feed_list`.

        With accept_options it takes `options` and `run_metadata` too, as `run` does.
        """
        if feed_list is None:
            feed_list = ()
        if not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        direct = self._direct_callable(fetches, feed_list)
        if direct is not None and not accept_options:
            return direct

        def function(*args, options=None, run_metadata=None):
            if options is None and run_metadata is None and direct is not None:
                return direct(*args)
            if len(args) != len(feed_list):
                raise TypeError(f"expected {len(feed_list)} values, got {len(args)}")
            return self.run(fetches, dict(zip(feed_list, args)), options, run_metadata)

        return function

    def _direct_callable(self, fetches, feed_list):
        """The callable without options; None if a feed is more than one tensor."""
        mapper = _Fetches(self.graph)
        shape = mapper.add(fetches)
        if any(isinstance(f, (tuple, SparseTensor, RaggedBase, IndexedSlices)) for f in feed_list):
            return None
        feeds = tuple(self._feed_tensor(f) for f in feed_list)
        elements = mapper.elements
        for element in elements:
            self.graph._check_fetch(getattr(element, "op", element))
        if len(elements) == 1 and not isinstance(fetches, (list, tuple, dict)):
            run = self._callable(elements[0], feeds)
            if shape([elements]) is elements:  # the value itself
                return run
            return lambda *args: shape([run(*args)])
        run = self._callable(elements, feeds)
        if type(fetches) is list and shape(elements) == elements:
            return run
        return lambda *args: shape(run(*args))

    def _make_callable_from_options(self, callable_options):
        """A function for a CallableOptions: of the values fed, to a list of the values fetched."""
        if not is_message(callable_options, "CallableOptions"):
            raise TypeError(f"expected CallableOptions, got {type(callable_options)}")
        if callable_options.tensor_connection:
            raise NotImplementedError("CallableOptions.tensor_connection is not supported")

        def tensor(name):
            return self._feed_tensor(name if ":" in name else name + ":0")

        feeds = [tensor(name) for name in callable_options.feed]
        fetches = [tensor(name) for name in callable_options.fetch]
        count = len(fetches)
        for name in callable_options.target:
            fetches.append(self.graph.as_graph_element(name, allow_tensor=False))
        has_options = callable_options.HasField("run_options")
        options = callable_options.run_options if has_options else None
        run = self.make_callable(fetches, feeds, accept_options=True)

        def function(*args, run_metadata=None):
            return run(*args, options=options, run_metadata=run_metadata)[:count]

        return function

    def partial_run_setup(self, fetches, feeds=None):
        """Names the fetches and feeds of a step that is run in parts by `partial_run`.

        feeds: a tensor or a list of tensors; their values come later. Returns the handle of it.
        RuntimeError for a closed session, TypeError for feeds that are no tensors.
        """
        self._check_runnable()
        if feeds is None:
            feeds = []
        if not isinstance(feeds, (list, tuple)):
            feeds = [feeds]
        mapper = _Fetches(self.graph)
        mapper.add(fetches)
        tensors, operations = _kinds(mapper.elements)
        keys = [self._feed_tensor(part) for feed in feeds for part in _feed_parts(feed)]
        for key in keys:
            if not self.graph.is_feedable(key):
                raise ValueError(f"Tensor {key} may not be fed.")
        for element in mapper.elements:
            self.graph._check_fetch(getattr(element, "op", element))
        return _PARTIAL_RUN + str(self._partial_setup(keys, tensors, operations))

    def partial_run(self, handle, fetches, feed_dict=None):
        """The next part of the step of `partial_run_setup`: feeds and fetches that it named.

        What was computed in a part before is not computed again. InvalidArgumentError for another
        handle, for what was not named or was there before, and for a fetch that cannot be computed
        from what has been fed so far. The step ends when all is fed and fetched, or has failed.
        """
        self._check_runnable()
        mapper = _Fetches(self.graph)
        shape = mapper.add(fetches)
        keys, values = self._flat_feed_lists(feed_dict)
        tensors, operations = _kinds(mapper.elements)
        if operations:
            raise RuntimeError("partial_run() requires empty target_list.")
        wanted = [t for t in tensors if t not in keys]  # what is fed is there already
        if not wanted and not keys:
            return shape([])
        number = str(handle).removeprefix(_PARTIAL_RUN)
        number = int(number) if number.isdigit() else 0
        found = dict(zip(wanted, self._partial_run(number, wanted, keys, values)))
        found |= {key: np.asarray(v, key.dtype.as_numpy_dtype) for key, v in zip(keys, values)}
        return shape([found[t] for t in tensors])

    def _check_runnable(self):
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self.graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )

    def _flat_feed_lists(self, feed_dict):
        """The tensors that are fed, and their values."""
        if feed_dict is not None and not isinstance(feed_dict, dict):
            if not hasattr(feed_dict, "items"):
                raise TypeError("feed_dict must be a dictionary")
        keys, values = [], []
        for key, value in _flat_feeds(feed_dict or {}):
            tensor = self._feed_tensor(key)
            if tensor in keys:
                raise ValueError(f"{tensor} is fed twice")
            keys.append(tensor)
            values.append(value)
        return keys, values

    def _run_with(self, elements, feeds, values, options, run_metadata):
        """Runs flat lists as `options` say, and fills in `run_metadata`, which may be None."""
        arguments = elements, feeds, values, options, run_metadata
        if options is None or not options.debug_options.debug_tensor_watch_opts:
            return self._run_told(*arguments)
        dumps = importlib.import_module("rheos.inspection.step_dumps")
        return dumps.run(self, *arguments, lambda: self._run_told(*arguments))

    def _run_told(self, elements, feeds, values, options, run_metadata):
        timeout, traced = 0, 0
        if options is not None:
            timeout = options.timeout_in_ms
            traced = (_TRACE_STEPS if options.trace_level else 0) | (
                _TRACE_GRAPHS if options.output_partition_graphs else 0
            )
        if self._config is not None and self._config.graph_options.build_cost_model > 0:
            traced |= _TRACE_COSTS
        if run_metadata is None or not traced:
            results = self._run_flat(elements, feeds, values, timeout) if elements else []
            message = b""
        else:
            results, message = self._run_flat(elements, feeds, values, timeout, traced)
        if run_metadata is not None:
            run_metadata.ParseFromString(message)
        return results

    def _feed_tensor(self, key):
        try:
            return self.graph.as_graph_element(key, allow_operation=False)
        except Exception as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None

    def _run_general(self, fetches, feed_dict, options, run_metadata):
        """Any form of fetches and feeds; the extension calls it for what it does not do itself."""
        self._check_runnable()
        if options is not None and not is_message(options, "RunOptions"):
            raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
        if run_metadata is not None and not is_message(run_metadata, "RunMetadata"):
            raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(run_metadata)}")
        mapper = _Fetches(self.graph)
        shape = mapper.add(fetches)
        keys, values = self._flat_feed_lists(feed_dict)
        if not mapper.elements:
            keys, values, options = [], [], None
        return shape(self._run_with(mapper.elements, keys, values, options, run_metadata))

    def _handle_of(self, id, handle):
        """What a run gives for a fetched GetSessionHandle; the extension asks for it."""
        return handle_of(self, self.graph._operation(id), handle)


_Device = namedtuple("_DeviceAttributes", "name device_type memory_limit_bytes incarnation")
_Device.__doc__ = "A device of a session. Its incarnation is another one after a restart."
_Device.__repr__ = lambda self: f"_DeviceAttributes({', '.join(map(str, self))})"


class Session(BaseSession):
    """Runs parts of a graph. As a context it is the default session, and closes at the end.

    target: "" for this process. graph: the graph to run, by default the default one. config: a
    ConfigProto.

    >>> with tf.Session() as session:
    ...     print(session.run([tf.constant(2) * 3, tf.constant("text")]))
    [6, b'text']
    """

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._contexts = ()

    def __enter__(self):
        if self._contexts:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you "
                "want to enter a session multiple times."
            )
        self._contexts = self.graph.as_default(), self.as_default()
        for context in self._contexts:
            context.__enter__()
        return self

    def __exit__(self, exc_type, exc_value, exc_traceback):
        contexts, self._contexts = self._contexts, ()
        for context in reversed(contexts):
            context.__exit__(exc_type, exc_value, exc_traceback)
        self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Ends all sessions on a target, and frees what lies in containers on its cluster.

        target: of a server, or "" for the sessions of this process, whose variables end with them.
        containers: names; of none what lies in no container is freed. config: a ConfigProto; what
        its `device_filters` leave out keeps its containers. tf.errors.OpError if that fails.
        """
        target = compat.as_text(target or "")
        if not target:
            for session in list(_sessions):
                if not session._target:
                    session.close()
            return
        names = [compat.as_text(name) for name in containers or ()]
        filters = list(config.device_filters) if config is not None else []
        _core.cluster_reset(target, names, filters)


class InteractiveSession(BaseSession):
    """A session that is the default one from the moment it is made until it is closed."""

    _count_lock = threading.Lock()
    _active_session_count = 0

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        with InteractiveSession._count_lock:
            if InteractiveSession._active_session_count > 0:
                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory errors "
                    "in some cases. You must explicitly call `InteractiveSession.close()` to "
                    "release resources held by the other session(s).",
                    stacklevel=2,
                )
            InteractiveSession._active_session_count += 1
        self._explicit_graph = graph
        self._default_graph = None
        if graph is not None:
            self._default_graph = graph.as_default()
            self._default_graph.enforce_nesting = False
            self._default_graph.__enter__()
        self._default_session = self.as_default()
        self._default_session.enforce_nesting = False
        self._default_session.__enter__()

    def close(self):
        """Ends the session; it is no longer the default one."""
        super().close()
        if self._default_session is not None:
            with InteractiveSession._count_lock:
                InteractiveSession._active_session_count -= 1
            self._default_session.__exit__(None, None, None)
            self._default_session = None
        if self._default_graph is not None:
            self._default_graph.__exit__(None, None, None)
            self._default_graph = None
