"""What layers ask of the world around them: the session, values of variables, the learning phase.

In a graph the values of variables are a session's: the default one, or one that is made when it is
first needed. Variables that it has not seen yet get their first values then.
"""

import threading

import numpy as np

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph, get_default_session
from rheos.framework.graph import control_dependencies, init_scope, name_scope
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.thread_state import inherited
from rheos.ops.array import array_ops
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.training.session import Session


class _Local(threading.local):
    """The session of a thread, and the layers that are being called."""

    def __init__(self):
        self.session = None
        self.calls = []


_local = inherited(_Local())


def is_variable(value):
    """Whether it is a variable."""
    return isinstance(value, _VariableBase)


def is_tensor(value):
    """Whether it is a tensor, a composite one too, or a variable."""
    # Datasets and iterators have parts too, but no dtype.
    is_composite = hasattr(type(value), "_parts") and hasattr(value, "dtype")
    return is_composite or isinstance(value, (Tensor, _VariableBase))


def root_graph():
    """The default graph, or that around all functions that are being made."""
    graph = get_default_graph()
    return graph._root if graph.building_function else graph


def runs_in_session():
    """Whether operations are made for a session to run, and not run or traced by themselves."""
    return not getattr(root_graph(), "_is_eager", False)


def check_positive(name, value):
    """A size; ValueError in version 2 unless it is a whole number above 0, or several of them."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    is_right = parts and all(isinstance(p, (int, np.integer)) and p > 0 for p in parts)
    if not is_right and not runs_in_session():
        raise ValueError(f"the argument `{name}` takes whole numbers above 0, not {value!r}")
    return value


def check_within(name, value, least, most=None):
    """A number; in version 2 ValueError if it is below or above what it may be.

    TypeError there for what is no number.
    """
    if runs_in_session():
        return value
    if isinstance(value, (str, list, tuple, dict, type(None))):
        raise TypeError(f"the argument `{name}` is a number, not {value!r}")
    if value < least or most is not None and value > most:
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"the argument `{name}` is {limits}, not {value!r}")
    return value


def runs_now():
    """Whether operations run as they are made."""
    return getattr(get_default_graph(), "_is_eager", False)


# ---- Sessions


def get_session(op_input_list=()):
    """The session that the values are in: the default one, else one of the default graph.

    Variables of the graph that have no value there yet get their first one.
    """
    if not runs_in_session():
        raise RuntimeError("`get_session` is not available when operations run at once")
    session = get_default_session()
    graph = get_default_graph()
    if session is None:
        session = _local.session
        if session is None or session.graph is not graph:
            session = _local.session = Session(graph=graph)
    _start_variables(session)
    return session


def set_session(session):
    """Makes it the session that the values are in, where there is no default one."""
    _local.session = session


def forget_session():
    """Closes the session that get_session() made, if it made one."""
    session = _local.session
    if session is not None:
        session.close()
    _local.session = None


def _start_variables(session):
    """Initializes the variables that the session has no values of."""
    graph = session.graph
    known = session.__dict__.setdefault("_started_variables", set())
    found = []
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        found += [v for v in graph.get_collection_ref(key) if is_variable(v)]
    new = [v for v in found if v not in known]
    if not new:
        return
    with graph.as_default(), control_dependencies(None), name_scope(None):
        flags = session.run([_is_started(v) for v in new])
        session.run([v.initializer for v, is_started in zip(new, flags) if not is_started])
    known.update(new)


def _is_started(variable):
    flag = getattr(variable, "_is_started_flag", None)
    if flag is None:
        flag = variable._is_started_flag = state_ops.is_variable_initialized(variable)
    return flag


# ---- Values


def get_values(variables):
    """The values of variables or tensors, as arrays."""
    variables = list(variables)
    if not variables:
        return []
    if not runs_in_session():
        return [v.numpy() for v in variables]
    return get_session().run(variables)


def set_values(pairs):
    """Sets variables: pairs of a variable and what NumPy makes an array of."""
    pairs = [(variable, np.asarray(value)) for variable, value in pairs]
    if not pairs:
        return
    if not runs_in_session():
        for variable, value in pairs:
            variable.assign(value.astype(variable.dtype.base_dtype.as_numpy_dtype))
        return
    session = get_session()
    feed, operations = {}, []
    for variable, value in pairs:
        held = getattr(variable, "_value_setter", None)
        if held is None:
            with variable.graph.as_default(), init_scope(), name_scope(None):
                wanted = array_ops.placeholder(variable.dtype.base_dtype, shape=None)
                held = variable._value_setter = (wanted, variable.assign(wanted, read_value=False))
        feed[held[0]] = value.astype(variable.dtype.base_dtype.as_numpy_dtype)
        operations.append(held[1])
    session.run(operations, feed)


# ---- The learning phase


def learning_phase():
    """Whether this is training: 0 or 1 where that was set, else a tensor that sessions are fed."""
    held = root_graph().__dict__.setdefault("_learning_phase", [])
    if not held and not runs_in_session():
        return 0
    if not held:
        with init_scope(), name_scope(None):
            held.append(
                array_ops.placeholder_with_default(False, shape=(), name="keras_learning_phase")
            )
    return held[-1]


def set_learning_phase(value):
    """From now on the default graph's learning phase is 0 or 1."""
    if value not in (0, 1, False, True):
        raise ValueError("Expected learning phase to be 0 or 1.")
    root_graph().__dict__["_learning_phase"] = [int(value)]


class learning_phase_scope:
    """A context manager in which the learning phase is 0 or 1."""

    def __init__(self, value):
        if value not in (0, 1, False, True):
            raise ValueError("Expected learning phase to be 0 or 1.")
        self._value = int(value)

    def __enter__(self):
        self._held = root_graph().__dict__.setdefault("_learning_phase", [])
        self._held.append(self._value)

    def __exit__(self, *exc_info):
        self._held.pop()


def symbolic_learning_phase():
    """The tensor that tells sessions whether this is training, None if nothing asked for it."""
    held = get_default_graph().__dict__.get("_learning_phase") or [None]
    return held[0] if is_tensor(held[0]) else None


# ---- The calls that are under way


class Call:
    """A context manager: a layer is being called, in training or not."""

    __slots__ = ("layer", "training", "_calls")

    def __init__(self, layer, training):
        self.layer = layer
        self.training = training

    def __enter__(self):
        self._calls = _local.calls
        self._calls.append(self)
        return self

    def __exit__(self, *exc_info):
        self._calls.pop()


def current_call():
    """The innermost call of a layer that is under way, None if there is none."""
    calls = _local.calls
    return calls[-1] if calls else None


def first_call():
    """The outermost call of a layer that is under way, None if there is none."""
    calls = _local.calls
    return calls[0] if calls else None


def outermost_calls():
    """Takes the place of the calls under way, for code that runs by itself; returns a context."""
    return _Fresh()


class _Fresh:
    def __enter__(self):
        self._before = _local.calls
        _local.calls = []

    def __exit__(self, *exc_info):
        _local.calls = self._before


# ---- Policies


class Policy:
    """The dtypes of a layer: "float32" for both, "mixed_float16" for half precision inside."""

    def __init__(self, name):
        is_mixed = name.startswith("mixed_")
        compute = name[len("mixed_") :] if is_mixed else name
        if compute not in ("float16", "bfloat16") and is_mixed:
            raise ValueError(f"Cannot convert '{name}' to a mixed precision dtype policy.")
        self._name, self._compute = name, compute
        self._variable = "float32" if is_mixed else name

    @property
    def name(self):
        """The name that it was made of."""
        return self._name

    @property
    def compute_dtype(self):
        """The name of the dtype to compute in."""
        return self._compute

    @property
    def variable_dtype(self):
        """The name of the dtype of variables."""
        return self._variable

    def get_config(self):
        """What makes a policy like this."""
        return {"name": self._name}

    @classmethod
    def from_config(cls, config):
        """A policy like the one whose get_config() this was."""
        return cls(**config)

    def __eq__(self, other):
        return isinstance(other, Policy) and other._name == self._name

    def __hash__(self):
        return hash(self._name)

    def __repr__(self):
        return f'<DTypePolicy "{self._name}">'


# ---- Names


def unique_name(base, at_zero="", counts=None):
    """base, base_1, base_2 and so on, for each graph by itself; `at_zero` follows the first."""
    if counts is None:
        counts = root_graph().__dict__.setdefault("_object_counts", {})
    number = counts.get(base, 0)
    counts[base] = number + 1
    return f"{base}_{number}" if number else base + at_zero


def as_tensor(value, dtype=None):
    """A tensor of a value; tensors and variables stay, but for their dtype."""
    if is_tensor(value) and dtype is None:
        return value
    return convert_to_tensor(value, dtype)


def operations(made):
    """The operations behind what assignments gave, to wait for; none where they ran already."""
    if not runs_in_session():
        return []
    return [getattr(x, "op", x) for x in made if x is not None]


def iterator_of(dataset):
    """(iterator, next element) of a dataset in the default graph, made once."""
    held = dataset.__dict__.get("_models_iterator")
    if held is None or held[0] is not get_default_graph():
        iterator = dataset.make_initializable_iterator()
        held = dataset._models_iterator = (get_default_graph(), iterator, iterator.get_next())
    return held[1], held[2]
