"""The strategy of parameter servers with a coordinator: they have variables, workers make steps."""

import atexit
import contextlib
import itertools
import re
import threading
import uuid
import weakref

from rheos.framework import errors
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.elsewhere import Ran, elsewhere
from rheos.framework.func_graph import FuncGraph
from rheos.framework.graph import init_scope
from rheos.framework.op_call import apply_op
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import as_shape
from rheos.framework.watchers import listeners
from rheos.replication.options import InputContext
from rheos.replication.remote_session import RemoteSession
from rheos.replication.remote_variables import RemoteVariable, VariableOnServer
from rheos.replication.sharded_variables import ShardedVariable
from rheos.replication.strategy import Strategy, StrategyExtended
from rheos.replication.variables import check_arguments
from rheos.tracing.function import Function
from rheos.training.cluster_resolver import TFConfigClusterResolver

_JOBS = ("chief", "worker", "ps", "evaluator")


class ServedCluster:
    """The servers that a program's variables and steps are on, and sessions on them.

    spec: a ClusterSpec with the jobs ps and worker.
    """

    def __init__(self, spec):
        self._spec = spec
        self.num_servers = spec.num_tasks("ps")
        self.num_workers = spec.num_tasks("worker")
        self._session = None
        self._lock = threading.Lock()
        self._abandoned = []  # VariableOnServers
        atexit.register(_leave, weakref.ref(self))

    def address_of(self, job, number):
        """The address of a task."""
        return self._spec.task_address(job, self._spec.task_indices(job)[number])

    def session_on_worker(self, number):
        """A new session on a worker, which knows that one and the parameter servers."""
        task = self._spec.task_indices("worker")[number]
        target = f"grpc://{self.address_of('worker', number)}"
        device = f"/job:worker/task:{task}"
        return RemoteSession(target, ["/job:ps", device], number, calls_on=device)

    @property
    def session(self):
        """The session on the parameter servers, of what the program itself does."""
        with self._lock:
            if self._session is None:
                target = f"grpc://{self.address_of('ps', 0)}"
                tasks = [f"/job:ps/task:{i}" for i in self._spec.task_indices("ps")]
                self._session = RemoteSession(target, ["/job:ps"], asked=tasks)
            return self._session

    def lost_servers(self):
        """The error that says that a parameter server is lost; None: all are as they were."""
        try:
            self.session.ask()
        except errors.OpError as error:
            text = f"a parameter server is lost, and with it its variables: {error.message}"
            return errors.UnavailableError(None, None, text)
        return None

    def run_op(self, op_type, inputs, attrs):
        """Runs an operation on handles of the cluster's resources; gives a Ran."""
        are_fed = [isinstance(one, Tensor) and elsewhere(one) is None for one in inputs]
        places = [i for i, is_fed in enumerate(are_fed) if is_fed]

        def run(*tensors):
            own = list(inputs)
            for place, tensor in zip(places, tensors):
                own[place] = tensor
            operation = apply_op(op_type, None, *own, **attrs)
            return list(operation.outputs)

        function = Function(run, op_type, autograph=False)
        return Ran(self.call_traced(function, [inputs[i] for i in places]))

    def call_traced(self, function, args):
        """Calls a Function on the parameter servers; tapes see nothing of it."""
        concrete, tensors = function.trace_of(tuple(args), {})
        captures = concrete.captured_inputs
        return concrete._structured(self.call(concrete.graph.finish(), tensors + captures))

    def call_for_tapes(self, graph, tensors, call_here):
        """call(); what only reads is called here, on the values, where a tape records it."""
        variables = [place.variable() for place in map(elsewhere, tensors) if place is not None]
        if not listeners() or None in variables or _writes(graph):
            return self.call(graph, tensors)
        with contextlib.ExitStack() as filled:
            for variable in variables:
                filled.enter_context(variable._filled())
            return call_here()

    def abandon(self, resource):
        """Says that nothing of the program uses a variable any more."""
        self._abandoned.append(resource)

    def leave(self):
        """Has the parameter servers forget the variables."""
        if self._session is not None:
            with contextlib.suppress(errors.OpError):
                self._session.destroy()

    def call(self, graph, tensors):
        """Calls a function that uses resources of the cluster, on the parameter servers."""
        if self._abandoned:
            abandoned, self._abandoned = self._abandoned, []
            self.session.destroy(abandoned)
        return self.session.call(graph, tensors)


def _leave(cluster):
    """What a program does at its end: servers go on, and keep nothing of it."""
    cluster = cluster()
    if cluster is not None:
        cluster.leave()


_WRITES = re.compile(
    "Assign|ResourceA|ResourceCount|ResourceScatter|ResourceSparse|ResourceStrided|Destroy"
)


def _writes(graph):
    """Whether a function, or one that it calls, may change variables; so may those of files."""
    if not isinstance(graph, FuncGraph):
        return True
    waiting, seen = [graph], set()
    while waiting:
        graph = waiting.pop()
        if id(graph) in seen:
            continue
        seen.add(id(graph))
        if any(_WRITES.match(operation.type) for operation in graph.get_operations()):
            return True
        called = [getattr(one, "graph", one) for one in graph._called]
        waiting += [one for one in called if isinstance(one, FuncGraph)]
    return False


class _Extended(StrategyExtended):
    """A replica on each worker, which reads and changes variables by itself."""

    def __init__(self, strategy, resolver, partitioner):
        super().__init__(strategy)
        self._cluster_resolver = resolver
        self._cluster = ServedCluster(resolver.cluster_spec())
        self._partitioner = partitioner
        self._coordinator = None
        self._turn = itertools.count()
        self._tasks = threading.local()  # on which server the next variables are
        self._run_id = uuid.uuid4().hex[:12]
        self._numbers = itertools.count()

    # Variables

    def _task_in_turn(self):
        given = getattr(self._tasks, "given", None)
        return next(self._turn) % self._cluster.num_servers if given is None else given

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are on the server of another one."""
        place = elsewhere(getattr(colocate_with_variable, "handle", None))
        outer = getattr(self._tasks, "given", None)
        self._tasks.given = outer if place is None else place.task
        try:
            yield
        finally:
            self._tasks.given = outer

    @contextlib.contextmanager
    def in_one_piece(self):
        """A context in which variables are not cut into parts."""
        self._tasks.is_whole = True
        try:
            yield
        finally:
            self._tasks.is_whole = False

    def variable_created_in_scope(self, v):
        """Whether the variable was made in the strategy's scope."""
        return getattr(v, "_strategy", None) is self._strategy

    def _make_copies(self, make, arguments):
        _, _, trainable = check_arguments(arguments)
        given = dict(arguments, trainable=trainable)
        with init_scope():
            if not get_default_graph()._is_eager:
                raise NotImplementedError(
                    "variables of a ParameterServerStrategy of TensorFlow 2 are made where "
                    "operations run at once; in graphs use tf.compat.v1.train."
                    "replica_device_setter"
                )
            parts = self._parts(given)
            if parts is None:
                return self._variable(given)
            return self._in_parts(given, parts)

    def _variable(self, arguments):
        task = self._task_in_turn()

        def place(name, dtype, shape):
            own = f"{name}_{self._run_id}_{next(self._numbers)}"
            return VariableOnServer(self._cluster, task, own, dtype, shape)

        return type.__call__(RemoteVariable, self._strategy, place, **arguments)

    def _parts(self, arguments):
        """Into how many parts a variable is cut, along its rows; None: it is not.

        Its initial value becomes a tensor by that.
        """
        is_beside = getattr(self._tasks, "given", None) is not None
        if self._partitioner is None or is_beside or getattr(self._tasks, "is_whole", False):
            return None
        if arguments.get("initial_value") is None:
            raise ValueError(
                "a ParameterServerStrategy with a variable_partitioner needs the initial_value of "
                f"each variable, which {arguments.get('name') or 'Variable'} lacks"
            )
        value = first_value(arguments)
        arguments["initial_value"], arguments["dtype"] = value, value.dtype
        if not value.shape.rank:
            return None
        counts = list(self._partitioner(as_shape(value.shape), value.dtype))
        if not counts or counts[0] == 0 or any(one != 1 for one in counts[1:]):
            raise ValueError(
                "variable_partitioner must return a list/tuple whose elements are 1 besides the "
                f"first element (non-zero), got: {counts!r}"
            )
        return counts[0] if counts[0] > 1 else None

    def _in_parts(self, arguments, count):
        value, name = arguments["initial_value"], arguments.get("name") or "Variable"
        rows, made, start = value.shape[0], [], 0
        for i in range(count):
            size = rows // count + (i < rows % count)
            own = dict(
                arguments,
                initial_value=value[start : start + size],
                name=f"{name}/part_{i}",
                shape=None,
            )
            made.append(self._variable(own))
            start += size
        return ShardedVariable(made, name)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls fn(var, ...), once: the replicas share the variable."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else (result,)

    # Steps

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Runs a step, on the worker whose step this is."""
        if self._coordinator is None:
            raise NotImplementedError(
                "`tf.distribute.experimental.ParameterServerStrategy` must be used with "
                "`tf.distribute.experimental.coordinator.ClusterCoordinator` in a custom training "
                "loop. If you are using `Model.fit`, please supply a dataset function directly to "
                "a `tf.keras.utils.experimental.DatasetCreator` instead."
            )
        return super().call_for_each_replica(fn, args, kwargs)

    # Input

    def _input_context(self):
        return InputContext(1, 0, self._num_replicas_in_sync)


def first_value(arguments):
    """The tensor that a variable of such arguments starts with."""
    given = arguments["initial_value"]
    value = given() if callable(given) and not isinstance(given, Tensor) else given
    return convert_to_tensor(value, arguments.get("dtype"))


def _checked(resolver):
    """The resolver's ClusterSpec; ValueError for a cluster that has not what the strategy needs."""
    spec = resolver.cluster_spec()
    if not spec:
        raise ValueError(
            "Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`."
        )
    for job in spec.jobs:
        if job not in _JOBS:
            raise ValueError(f"Disallowed task type found in cluster spec. Allowed types are "
                             f"{set(_JOBS)} and the cluster spec is {spec}.")  # fmt: skip
    for job in ("ps", "worker"):
        if job not in spec.jobs or spec.num_tasks(job) < 1:
            raise ValueError(f"There must be at least one {job}.")
    return spec


class ParameterServerStrategy(Strategy):
    """Variables on parameter servers, and steps on workers, which a coordinator gives them: a
    tf.distribute.coordinator.ClusterCoordinator, or Keras's fit().

    cluster_resolver: which servers there are, of the jobs "ps" and "worker". variable_partitioner:
    how variables are cut (tf.distribute.experimental.partitioners); by default they are not.
    Variables made in the scope are on the servers in turn, and gone with the program.

    ValueError for a cluster without servers or workers; tf.errors.UnavailableError where one cannot
    be reached.
    """

    def __init__(self, cluster_resolver=None, variable_partitioner=None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        _checked(resolver)
        super().__init__(_Extended(self, resolver, variable_partitioner))

    @property
    def _makes_variables(self):
        return True

    def _make_variable(self, make, arguments):
        return self._extended._make_copies(make, arguments)
