"""The coordinator of a cluster: gives functions to its workers, whichever is free."""

import atexit
import collections
import contextlib
import socket
import threading
import time
import weakref

from rheos.framework import errors, logging, nest
from rheos.framework.operation import Tensor
from rheos.replication.parameter_servers import ParameterServerStrategy
from rheos.replication.remote_values import PerWorkerValues, RemoteValue, fetched
from rheos.replication.worker_datasets import OnWorker, PerWorkerDataset, worker_index
from rheos.tracing.concrete import ConcreteFunction
from rheos.tracing.function import Function
from rheos.tracing.restored import RestoredFunction

_TRACED = (Function, ConcreteFunction, RestoredFunction)

_LEAVE_S = 2.0  # how long a program that ends waits for workers
_RETRY_S = 0.5  # how often a worker that is lost is looked for

# What a step may end by whose task was lost, or was started anew.
_OF_LOST_TASKS = (
    errors.UnavailableError,
    errors.AbortedError,
    errors.CancelledError,
    errors.DeadlineExceededError,
    errors.InternalError,
)


class _Closure:
    """A function with its arguments, which a worker is to run."""

    def __init__(self, concrete, tensors, is_own=False):
        self._concrete = concrete
        self._tensors = tensors
        self.is_own = is_own  # of one worker, which no other may run it for
        self.value = RemoteValue()

    def run(self, session):
        """Runs it, and gives its results."""
        chosen = self._concrete
        if chosen.first is not None:  # the call that sets the variables which tracing made
            chosen, self._concrete.first = chosen.first, None
        tensors = [_of_worker(one, session.worker) for one in self._tensors]
        outputs = session.call(chosen.graph.finish(), tensors + chosen.captured_inputs)
        return chosen._structured(outputs)


class _OfWorkers:
    """A tensor of each worker's own, among the arguments of a closure."""

    def __init__(self, values, place):
        self._values, self._place = values, place

    def of(self, worker):
        """That of one worker."""
        leaves = nest.flatten(self._values[worker].get(), expand_composites=True)
        return [leaf for leaf in leaves if isinstance(leaf, Tensor)][self._place]


def _of_worker(one, worker):
    return one.of(worker) if isinstance(one, _OfWorkers) else one


class _Queue:
    """The closures that wait for a worker, and the first error of those that have run."""

    def __init__(self, num_workers):
        self._changed = threading.Condition()
        self._waiting = collections.deque()
        self._of_workers = [collections.deque() for _ in range(num_workers)]
        self._running = 0
        self._error = None
        self.is_over = False

    def put(self, closure, worker=None):
        """Has a worker run it, whichever is free unless one is named; raises the error of those
        before it."""
        with self._changed:
            self._raise()
            (self._waiting if worker is None else self._of_workers[worker]).append(closure)
            self._changed.notify_all()

    def take(self, worker):
        """The next one for a worker, who says what came of it; None: there will be none."""
        own = self._of_workers[worker]
        with self._changed:
            self._changed.wait_for(lambda: self.is_over or own or self._waiting)
            if self.is_over:
                return None
            self._running += 1
            return (own or self._waiting).popleft()

    def put_back(self, closure, worker):
        """Has another worker run it, since this one is lost; if it is its own, this one again."""
        with self._changed:
            self._running -= 1
            if self._error is not None:
                closure.value._fail(_cancelled())
            else:
                (self._of_workers[worker] if closure.is_own else self._waiting).appendleft(closure)
            self._changed.notify_all()

    def done(self):
        """Says that one has run."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def failed(self, error):
        """Says that one ended by an error: those that wait never run."""
        with self._changed:
            self._running -= 1
            if self._error is None:
                self._error = error
            self._cancel()
            self._changed.notify_all()

    def _cancel(self):
        for waiting in (self._waiting, *self._of_workers):
            while waiting:
                waiting.popleft().value._fail(_cancelled())

    def _raise(self):
        """Raises the error once, after all that runs has ended."""
        if self._error is None:
            return
        self._changed.wait_for(lambda: not self._running)
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _is_idle(self):
        return not self._running and not self._waiting and not any(self._of_workers)

    def join(self):
        """Waits until all have run; raises the first error."""
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or self._is_idle())
            self._raise()

    def is_done(self):
        """Whether all have run; raises the first error."""
        with self._changed:
            self._raise()
            return self._is_idle()

    def end(self):
        """Has the workers' threads end."""
        with self._changed:
            self.is_over = True
            self._cancel()
            self._changed.notify_all()


def _cancelled():
    return errors.CancelledError(
        None, None, "The corresponding function is cancelled. Please reschedule the function."
    )


class _Worker:
    """What has a worker run closures, in a thread of this process."""

    def __init__(self, cluster, number, queue):
        self._cluster, self._number, self._queue = cluster, number, queue
        self._session = None
        name = f"worker {number} of a ClusterCoordinator"
        self.thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            self._connect()
            closure = self._queue.take(self._number)
            if closure is None:
                break
            self._run(closure)
            del closure  # who waits for its value may let go of it
        self._leave()

    def _connect(self):
        """Makes a session, once the worker is there; None where a parameter server is lost, for
        which a new session would wait."""
        while self._session is None and not self._queue.is_over:
            self._wait_for_server()
            if self._cluster.lost_servers() is not None:
                return
            session = self._cluster.session_on_worker(self._number)
            try:
                session.ask()
            except errors.OpError:
                session.close()
                time.sleep(_RETRY_S)
            else:
                self._session = session

    def _run(self, closure):
        try:
            if self._session is None:
                raise errors.UnavailableError(None, None, "there is no session on the worker")
            value = closure.run(self._session)
        except _OF_LOST_TASKS as error:
            self._after(error, closure)
        except BaseException as error:
            self._fail(closure, error)
        else:
            closure.value._set(value)
            self._queue.done()

    def _fail(self, closure, error):
        closure.value._fail(error)
        self._queue.failed(error)

    def _after(self, error, closure):
        """Goes on after an error that the loss of a task may have made."""
        lost = self._cluster.lost_servers()
        if lost is not None:
            self._fail(closure, lost)
        elif self._is_there():
            self._fail(closure, error)  # the function's own
        else:
            logging.warning("worker %d is lost, others do its work: %s", self._number, error)
            self._close()
            self._queue.put_back(closure, self._number)

    def _is_there(self):
        """Whether the worker knows the session."""
        if self._session is None:
            return False
        try:
            self._session.ask()
        except errors.OpError:
            return False
        return True

    def _close(self):
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(errors.OpError):
                session.close()

    def _leave(self):
        """Has the worker forget its iterators and tables; the variables are not its own."""
        if self._session is not None:
            own = [one for one in self._session.resources if isinstance(one, OnWorker)]
            with contextlib.suppress(errors.OpError):
                self._session.destroy(own)
        self._close()

    def _wait_for_server(self):
        """Waits until something listens at the worker's address."""
        host, _, port = self._cluster.address_of("worker", self._number).rpartition(":")
        while not self._queue.is_over:
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_RETRY_S).close()
                return
            except OSError:
                time.sleep(_RETRY_S)


def _leave(queue, threads):
    """Ends the threads, those that do not wait for a worker."""
    queue.end()
    end = time.monotonic() + _LEAVE_S
    for thread in threads:
        thread.join(max(end - time.monotonic(), 0))


class _Scheduling(threading.local):
    cluster = None  # whose coordinator traces a function in this thread


_scheduling = _Scheduling()


def get_current_worker_index():
    """The number of the worker that runs the function which is traced: a tensor of int64.

    RuntimeError where no function is scheduled by a ClusterCoordinator.
    """
    if _scheduling.cluster is None:
        raise RuntimeError("Cannot retrieve the worker index. `get_worker_idx_and_num_workers` "
                           "should be called from within a tf.function being executed on a "
                           "worker by a ClusterCoordinator.")  # fmt: skip
    return worker_index(_scheduling.cluster)


class ClusterCoordinator:
    """Has the workers of a strategy's cluster run functions, each whichever is free.

    strategy: a tf.distribute.ParameterServerStrategy, which has one coordinator: making another one
    gives that. ValueError for other strategies.

    A worker that is lost is waited for, while others run its functions. An error of a function is
    raised once, by the next schedule(), join() or done(); functions that wait then are cancelled.
    So is the loss of a parameter server, as tf.errors.UnavailableError: the program has to begin
    anew, from a checkpoint.
    """

    def __new__(cls, strategy):
        if not isinstance(strategy, ParameterServerStrategy):
            raise ValueError(
                "Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work "
                "with `tf.distribute.experimental.coordinator.ClusterCoordinator` currently."
            )
        known = strategy.extended._coordinator
        if known is not None:
            return known
        made = super().__new__(cls)
        made._set_up(strategy)
        return made

    def _set_up(self, strategy):
        self._strategy = strategy
        self._cluster = strategy.extended._cluster
        self._num_workers = self._cluster.num_workers
        self._queue = _Queue(self._num_workers)
        numbers = range(self._num_workers)
        threads = [_Worker(self._cluster, i, self._queue).thread for i in numbers]
        weakref.finalize(strategy, self._queue.end).atexit = False
        atexit.register(_leave, self._queue, threads)
        strategy.extended._coordinator = self

    @property
    def strategy(self):
        """The strategy."""
        return self._strategy

    def schedule(self, fn, args=None, kwargs=None):
        """Has a worker run a tf.function, or a trace of one; gives a RemoteValue at once.

        args, kwargs: its arguments; of values for each worker it gets the worker's own. Variables
        that it makes are the strategy's. TypeError for other functions, ValueError for a
        RemoteValue among the arguments. Raises the error of a function that was scheduled before.
        """
        if not isinstance(fn, _TRACED):
            raise TypeError(
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts "
                "a `tf.function` or a concrete function."
            )
        closure = self._closure(fn, args or (), kwargs or {})
        self._queue.put(closure)
        return closure.value

    def _closure(self, function, args, kwargs, is_own=False):
        given = {}  # id of a tensor of the first worker's: what each worker has in its place
        args, kwargs = nest.map_leaves(lambda leaf: _traced_for(leaf, given), (args, kwargs))
        outer, _scheduling.cluster = _scheduling.cluster, self._cluster
        try:
            with self._strategy.scope():
                concrete, tensors = function.trace_of(args, kwargs)
        finally:
            _scheduling.cluster = outer
        tensors = [given.get(id(tensor), tensor) for tensor in tensors]
        return _Closure(concrete, tensors, is_own)

    def join(self):
        """Waits until all that was scheduled has run; raises the first error of a function."""
        self._queue.join()

    def done(self):
        """Whether all that was scheduled has run; raises the first error of a function."""
        return self._queue.is_done()

    def fetch(self, val):
        """A structure with arrays and numbers in place of RemoteValues, which are waited for."""
        return fetched(val)

    def create_per_worker_dataset(self, dataset_fn):
        """A dataset on each worker: iter() of it gives what functions that are scheduled take
        elements of. dataset_fn: a function that gives a dataset, which the workers make."""
        return PerWorkerDataset(dataset_fn, self._cluster)

    def _create_per_worker_resources(self, fn, args=None, kwargs=None):
        """What a function gives on each worker, as PerWorkerValues."""
        function = fn if isinstance(fn, _TRACED) else Function(fn)
        values = []
        for number in range(self._num_workers):
            closure = self._closure(function, args or (), kwargs or {}, is_own=True)
            self._queue.put(closure, number)
            values.append(closure.value)
        return PerWorkerValues(values)


def _traced_for(leaf, given):
    """What a function is traced for in place of an argument."""
    if isinstance(leaf, RemoteValue):
        raise ValueError(
            "`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled "
            "function is not yet supported."
        )
    if not isinstance(leaf, PerWorkerValues):
        return leaf
    first = leaf._values[0].get()
    tensors = nest.flatten(first, expand_composites=True)
    for place, one in enumerate(one for one in tensors if isinstance(one, Tensor)):
        given[id(one)] = _OfWorkers(leaf._values, place)
    return first
