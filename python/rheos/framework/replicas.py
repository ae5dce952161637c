"""Where a program is among the replicas of a strategy: in a strategy's scope, in a replica's step,
where replicas meet, or where the copy of one replica is updated.

What a strategy is lies above (rheos.replication). What is below knows it by this module: variables
are made by it, traces of functions belong to a replica, optimizers add up gradients.
"""

import contextlib
import threading

from rheos.framework.thread_state import inherited


class _State(threading.local):
    def __init__(self):
        self.strategies = []  # of the scopes that are open
        self.contexts = []  # replica contexts; None where replicas meet
        self.updated = None  # the number of the replica whose copies are updated


_state = inherited(_State())


class _Process:
    default = None  # makes or gives the strategy of programs that name none
    chosen = None  # experimental_set_strategy()


def register_default_strategy(function):
    """Says what gives the strategy that is in use where a program names none."""
    _Process.default = function


def choose_strategy(strategy):
    """Makes a strategy the one of the process; None: the default one. RuntimeError in a scope."""
    if _state.strategies:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    _Process.chosen = strategy


def _process_strategy():
    return _Process.default() if _Process.chosen is None else _Process.chosen


def get_strategy():
    """The strategy of the innermost scope, else the default one: one replica."""
    return _state.strategies[-1] if _state.strategies else _process_strategy()


def has_strategy():
    """Whether a strategy other than the default one is in use."""
    if not _state.strategies and _Process.chosen is None:
        return False
    return get_strategy() is not _Process.default()


def get_replica_context():
    """What a step knows of its replica; None where replicas meet, as in a strategy's scope."""
    if _state.contexts:
        return _state.contexts[-1]
    return None if _Process.chosen is not None else _Process.default()._context


def in_cross_replica_context():
    """Whether this is where replicas meet."""
    return get_replica_context() is None


@contextlib.contextmanager
def within(context, strategy=None):
    """A context in which a replica context (None: where replicas meet) and a strategy are those
    in use."""
    outer, _state.updated = _state.updated, None
    _state.contexts.append(context)
    if strategy is not None:
        _state.strategies.append(strategy)
    try:
        yield strategy
    finally:
        _state.updated = outer
        _state.contexts.pop()
        if strategy is not None:
            _state.strategies.pop()


# ---- One of several replicas


def several():
    """The strategy in use if it has more than one replica, else None."""
    if not _state.strategies and _Process.chosen is None:
        return None
    strategy = get_strategy()
    return strategy if strategy._has_copies else None


def current():
    """The replica context of one of several replicas that runs here, else None."""
    context = _state.contexts[-1] if _state.contexts else None
    return context if context is not None and context.strategy._has_copies else None


def copy_number():
    """Which of a variable's copies is meant here: the number of a replica in whose step this is or
    whose copies are updated; None where all are meant."""
    if _state.updated is not None:
        return _state.updated
    context = current()
    return None if context is None else context._copy_number


@contextlib.contextmanager
def updating(number):
    """A context in which variables are their copies of that number."""
    outer, _state.updated = _state.updated, number
    try:
        yield
    finally:
        _state.updated = outer


def container_of(value):
    """The variable whose copy a value is, else the value."""
    container = getattr(value, "_container", None)
    container = container and container()
    return value if container is None else container


def makes_variables():
    """Whether variables that are made here are not plain ones but a strategy's."""
    if not _state.strategies and _Process.chosen is None:
        return False
    return get_strategy()._makes_variables


def make_variable(make, arguments):
    """The variable of these arguments: the strategy's in use, of which `make` makes each copy."""
    if not makes_variables():
        return make(**arguments)
    return get_strategy()._make_variable(make, arguments)


def beside(variable):
    """A context in which variables are made where another one is, if that is on a server."""
    context = getattr(variable, "_beside", None)
    return contextlib.nullcontext() if context is None else context()
