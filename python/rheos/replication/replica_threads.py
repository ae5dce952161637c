"""Steps of several replicas: each runs in a thread of its own, one at a time and in their order.

A replica runs until its step ends or until it comes to where replicas meet (merge_call). When all
are there, the function that they agreed on runs once in the thread that asked for the step, with
the values of all, and then the first one goes on with its share of the result. So what a step does
is in the same order each time.
"""

import contextlib
import threading
import weakref

from rheos.autograph.api import tf_convert
from rheos.framework import replicas, thread_state
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.replication.values import regroup, select, select_copies
from rheos.tracing.concrete import make_calls_in_python
from rheos.tracing.function import Function, functions_run_eagerly


class _Ended(BaseException):
    """Ends a replica that waits where no others will come."""


class _Replica:
    """A replica's step under way."""

    def __init__(self, context, function, state, scope):
        self._context = context
        self._function = function
        self._state = state
        self._scope = scope
        self._graph = get_default_graph()
        self._go_on, self._has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.is_done, self.result, self.error = False, None, None
        self.meeting = None  # (function, args, kwargs, name scope) where it waits
        self._is_ended = False
        context._replica = self

    def start(self):
        """Runs it until it waits or is done."""
        self._thread.start()
        self._has_stopped.acquire()

    def go_on(self, result):
        """Has it go on from where it waits, with a result, until it waits again or is done."""
        self.meeting, self.result = None, result
        self._go_on.release()
        self._has_stopped.acquire()

    def end(self):
        """Ends it where it waits, if it has begun and is not done."""
        if self._thread.ident is not None and not self.is_done:
            self._is_ended = True
            self.go_on(None)

    def _run(self):
        thread_state.adopt(self._state)
        try:
            with replicas.within(self._context, self._context.strategy), self._scopes():
                self.result = self._function()
        except _Ended:
            pass
        except BaseException as error:  # noqa: B036 (raised where the step was asked for)
            self.error = error
        self.is_done = True
        self._has_stopped.release()

    @contextlib.contextmanager
    def _scopes(self):
        graph = self._graph
        with contextlib.ExitStack() as scopes:
            if not graph._is_eager and self._scope:  # scopes of graphs are a thread's
                scopes.enter_context(name_scope(self._scope))
            number = self._context._copy_number
            if number:
                scopes.enter_context(name_scope(f"replica_{number}"))
            yield

    def meet(self, function, args, kwargs):
        """Waits for the others, and gives the replica's share of what function(strategy, ...) gives
        for all of them."""
        if get_default_graph() is not self._graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. This can often "
                "happen if the function `fn` passed to `strategy.run()` contains a nested "
                "`@tf.function`, and the nested `@tf.function` contains a synchronization point, "
                "such as aggregating gradients (e.g, optimizer.apply_gradients), or if the "
                "function `fn` uses a control flow statement which contains a synchronization "
                "point in the body. Such behaviors are not yet supported. Instead, please avoid "
                "nested `tf.function`s or control flow statements that may potentially cross a "
                "synchronization boundary, for example, wrap the `fn` passed to `strategy.run` or "
                "the entire `strategy.run` inside a `tf.function` or move the control flow out of "
                "`fn`."
            )
        self.meeting = function, args, kwargs, get_default_graph()._scope_name()
        self._has_stopped.release()
        self._go_on.acquire()
        if self._is_ended:
            raise _Ended
        return self.result


def run_replicas(strategy, function_of):
    """Runs function_of(number)() for each replica; gives what they give, as one structure.

    RuntimeError if they do not meet equally often; what a step raises is raised here.
    """
    state = thread_state.capture()
    scope = get_default_graph()._scope_name()
    steps = [
        _Replica(context, function_of(i), state, scope)
        for i, context in enumerate(strategy._new_contexts())
    ]
    reason = object()
    make_calls_in_python(reason, True)  # a traced function has a trace for each replica
    try:
        _advance(steps, _Replica.start)
        while any(not step.is_done for step in steps):
            if any(step.is_done for step in steps):
                raise RuntimeError(
                    "Some replicas made a different number of replica_context().merge_call() calls."
                )
            _meet(strategy, steps)
    finally:
        make_calls_in_python(reason, False)
        for step in steps:
            step.end()
    return regroup([step.result for step in steps])


def _advance(steps, run):
    for step in steps:
        run(step)
        if step.error is not None:
            raise step.error


def _meet(strategy, steps):
    function, scope = steps[0].meeting[0], steps[0].meeting[3]
    args = regroup([step.meeting[1] for step in steps])
    kwargs = regroup([step.meeting[2] for step in steps])
    with replicas.within(None, strategy), name_scope(scope or None):
        result = function(strategy, *args, **kwargs)
    shares = iter([select_copies(i, result) for i in range(len(steps))])
    _advance(steps, lambda step: step.go_on(next(shares)))


def run_step(strategy, function, args, kwargs):
    """Runs a step on each replica of this process, with its share of the arguments.

    A traced function is traced as one for all replicas, in which they may meet.
    """
    if isinstance(function, Function) and get_default_graph()._is_eager:
        if not functions_run_eagerly():
            return _for_all_replicas(strategy, function)(*args, **kwargs)
        function = function.python_function
    if get_default_graph().building_function and not isinstance(function, Function):
        function = tf_convert(function)
    return _run_each(strategy, function, args, kwargs)


def _run_each(strategy, function, args, kwargs):
    own = [select(i, (list(args), kwargs)) for i in range(strategy.extended._num_copies)]

    def of_replica(number):
        return lambda: function(*own[number][0], **own[number][1])

    outer, strategy._made_in_step = strategy._made_in_step, []
    try:
        return run_replicas(strategy, of_replica)
    finally:
        strategy._made_in_step = outer


def _for_all_replicas(strategy, function):
    """The traced function whose trace has the steps of all replicas of a traced function."""
    known = strategy._step_functions
    if function not in known:
        reference = weakref.ref(function)

        def step(*args, **kwargs):
            with replicas.within(None, strategy):
                return _run_each(strategy, reference()._python(), args, kwargs)

        known[function] = Function(
            step, function._name, autograph=False, reduce_retracing=function._reduce_retracing
        )
    return known[function]
