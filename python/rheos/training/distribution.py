"""tf.distribute where all replicas are one: this process and its one device.

A strategy says how a program's steps are shared by replicas. With one of them a step is a call, a
reduction is the value itself, and a dataset is dealt out whole. A strategy for more devices or
tasks than that raises an error when it is made.
"""

import contextlib
import enum
import threading

from rheos.framework import nest
from rheos.framework.eager import device_name
from rheos.framework.graph import device as on_device, name_scope
from rheos.framework.marks import CompositeTensor
from rheos.ops.flow.control_flow_ops import group as grouped
from rheos.ops.math import math_ops
from rheos.ops.state.variables import VariableAggregation


class ReduceOp(enum.Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """The reduction that a variable's aggregation asks for; ValueError for others."""
        found = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}
        if aggregation not in found:
            raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation}")
        return found[aggregation]


class InputReplicationMode(enum.Enum):
    """Whether each worker or each replica makes its input."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class DistributedValues:
    """Values of several replicas, of which there are none where there is one replica."""


class PerReplica(DistributedValues, CompositeTensor):
    """A value for each replica."""


class Mirrored(DistributedValues):
    """A value that is the same on each replica."""


class DistributedDataset:
    """A dataset dealt out to several replicas."""


class DistributedIterator:
    """An iterator over a dataset that is dealt out to several replicas."""


class InputContext:
    """What a function that makes a dataset is told of who will read it."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    num_input_pipelines = property(lambda self: self._num_input_pipelines)
    input_pipeline_id = property(lambda self: self._input_pipeline_id)
    num_replicas_in_sync = property(lambda self: self._num_replicas_in_sync)

    def get_per_replica_batch_size(self, global_batch_size):
        """The rows of a batch that each replica gets; ValueError if they cannot be shared."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync}"
            )
        return global_batch_size // self._num_replicas_in_sync

    def __str__(self):
        return (
            f"tf.distribute.InputContext(input pipeline id {self._input_pipeline_id}, "
            f"total: {self._num_input_pipelines})"
        )


class InputOptions:
    """How a strategy reads its input; with one device nothing depends on them."""

    def __init__(
        self,
        experimental_fetch_to_device=None,
        experimental_replication_mode=InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device=False,
        experimental_per_replica_buffer_size=1,
    ):
        self.experimental_fetch_to_device = experimental_fetch_to_device
        self.experimental_replication_mode = experimental_replication_mode
        self.experimental_place_dataset_on_device = experimental_place_dataset_on_device
        self.experimental_per_replica_buffer_size = experimental_per_replica_buffer_size


class RunOptions:
    """How a strategy runs a step; with one device nothing depends on them."""

    def __init__(
        self,
        experimental_enable_dynamic_batch_size=True,
        experimental_bucketizing_dynamic_shape=False,
        experimental_xla_options=None,
    ):
        self.experimental_enable_dynamic_batch_size = experimental_enable_dynamic_batch_size
        self.experimental_bucketizing_dynamic_shape = experimental_bucketizing_dynamic_shape
        self.experimental_xla_options = experimental_xla_options


class CommunicationOptions:
    """How replicas exchange values."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None, implementation=None):
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = implementation


# ---- Where a program is: in a strategy's scope, in a replica's step, between steps


class _State(threading.local):
    def __init__(self):
        self.strategies = []  # of the scopes that are open
        self.contexts = []  # replica contexts; None where replicas meet


_state = _State()


def get_strategy():
    """The strategy of the innermost scope, else the default one: one replica."""
    return _state.strategies[-1] if _state.strategies else _process_strategy()


def has_strategy():
    """Whether a strategy other than the default one is in use."""
    return get_strategy() is not _default_strategy()


def get_replica_context():
    """What a step knows of its replica; None where replicas meet, as in a strategy's scope."""
    if _state.contexts:
        return _state.contexts[-1]
    return None if _chosen is not None else _default_strategy()._context


def in_cross_replica_context():
    """Whether this is where replicas meet."""
    return get_replica_context() is None


_default = None
_chosen = None


def _default_strategy():
    global _default
    if _default is None:
        _default = _DefaultStrategy()
    return _default


def _process_strategy():
    return _default_strategy() if _chosen is None else _chosen


def experimental_set_strategy(strategy):
    """Makes a strategy the one of the process; None: the default one. RuntimeError in a scope."""
    global _chosen
    if _state.strategies:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    _chosen = strategy


@contextlib.contextmanager
def _within(context, strategy=None):
    _state.contexts.append(context)
    if strategy is not None:
        _state.strategies.append(strategy)
    try:
        yield strategy
    finally:
        _state.contexts.pop()
        if strategy is not None:
            _state.strategies.pop()


def maybe_merge_call(function, strategy, *args, **kwargs):
    """Calls function(strategy, ...) where replicas meet."""
    return function(strategy, *args, **kwargs)


def strategy_supports_no_merge_call():
    """Whether replicas may update variables without meeting: they may, there is one."""
    return True


# ---- Strategies


def _reduction(reduce_op):
    """A ReduceOp, which may be given by its name."""
    try:
        return ReduceOp(reduce_op.upper() if isinstance(reduce_op, str) else reduce_op)
    except ValueError:
        raise ValueError(f"`reduce_op` must be SUM or MEAN, not {reduce_op!r}") from None


def _variables_there(var):
    handle = getattr(var, "handle", var)
    return on_device(getattr(handle, "device", "") or "")


class ReplicaContext:
    """What a step knows of the replica that runs it."""

    def __init__(self, strategy, replica_id_in_sync_group=0):
        self._strategy = strategy
        self._number = replica_id_in_sync_group

    @property
    def strategy(self):
        """The strategy whose step this is."""
        return self._strategy

    @property
    def num_replicas_in_sync(self):
        """How many replicas make a step together."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self):
        """The number of this replica."""
        return self._number

    @property
    def devices(self):
        """The devices of the replica."""
        return (device_name(),)

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls merge_fn(strategy, ...) where replicas meet."""
        with _within(None, self._strategy):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op, value, options=None):
        """The sum or mean over replicas: with one the value."""
        _reduction(reduce_op)
        return nest.map_structure(lambda one: one, value)

    def all_gather(self, value, axis, options=None):
        """The values of all replicas along an axis: with one the value."""
        return value

    def __enter__(self):
        self._entered = _within(self, self._strategy)
        self._entered.__enter__()
        return self

    def __exit__(self, *exc_info):
        return self._entered.__exit__(*exc_info)


class StrategyExtended:
    """What only libraries need of a strategy."""

    def __init__(self, strategy):
        self._strategy = strategy

    worker_devices = property(lambda self: (device_name(),))
    parameter_devices = property(lambda self: (device_name(),))
    experimental_require_static_shapes = False
    experimental_between_graph = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True

    def _in_multi_worker_mode(self):
        return False

    def _use_merge_call(self):
        return False

    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are made where another one is."""
        return _variables_there(colocate_with_variable)

    def variable_created_in_scope(self, v):
        """Whether the variable was made in the strategy's scope."""
        return True

    def value_container(self, value):
        """What holds the values of all replicas: with one the value."""
        return value

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls fn(var, ...) where the variable is."""
        with _variables_there(var), name_scope("update"):
            result = fn(var, *args, **(kwargs or {}))
            return grouped(result) if group and _is_in_graph(result) else result

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """The sum or mean over replicas: with one the value."""
        _reduction(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """The sums or means of several values."""
        return [self.reduce_to(reduce_op, v, d, options) for v, d in value_destination_pairs]

    def read_var(self, v):
        """The value of a variable."""
        return v.read_value()

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Runs a step on each replica."""
        return self._strategy.run(fn, args, kwargs)


def _is_in_graph(result):
    return result is not None and not getattr(result, "_is_eager", True)


class Strategy:
    """How a program is shared by replicas; here always one, on the device of this process."""

    def __init__(self, extended=None):
        self._extended = StrategyExtended(self) if extended is None else extended
        self._context = ReplicaContext(self)

    @property
    def extended(self):
        """What only libraries need."""
        return self._extended

    @property
    def num_replicas_in_sync(self):
        """How many replicas make a step together: one."""
        return 1

    @property
    def cluster_resolver(self):
        """What knows the tasks of a cluster: nothing does."""
        return None

    def scope(self):
        """A context in which the strategy is the one in use."""
        return _within(None, self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Runs a step on the replica and gives its result."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        with _within(self._context, self):
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis):
        """The sum or mean of a value over the replicas, and over an axis unless that is None."""
        reduce_op = _reduction(reduce_op)
        if axis is None:
            return value
        over = math_ops.reduce_sum if reduce_op is ReduceOp.SUM else math_ops.reduce_mean
        return nest.map_structure(lambda one: over(one, axis), value)

    def gather(self, value, axis):
        """The values of all replicas along an axis: with one the value."""
        return value

    def experimental_local_results(self, value):
        """A tuple of the values of the replicas of this process."""
        return (value,)

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset as this strategy reads it: the dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """The dataset that a function makes when it is told who reads it."""
        return dataset_fn(InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn):
        """What a function makes for the replica."""
        return value_fn(self._context)


class _DefaultStrategy(Strategy):
    """What a program is run by that names no strategy: its scope changes nothing."""

    def scope(self):
        """Nothing; RuntimeError in the scope of another strategy."""
        if has_strategy():
            raise RuntimeError("Mixing different tf.distribute.Strategy objects.")
        return _within(_state.contexts[-1] if _state.contexts else None, self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Runs a step."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        return fn(*args, **(kwargs or {}))


class OneDeviceStrategy(Strategy):
    """One replica, on the device that is named: the CPU."""

    def __init__(self, device):
        super().__init__()
        _only_cpu([device])
        self._device = device

    def run(self, fn, args=(), kwargs=None, options=None):
        """Runs a step on the device and gives its result."""
        with on_device(self._device):
            return super().run(fn, args, kwargs, options)


def _only_cpu(devices):
    """Refuses more devices, or others, than the one that there is."""
    named = [str(one).upper() for one in devices]
    wrong = [one for one in named if "GPU" in one or "TPU" in one or one.endswith(":1")]
    if wrong or len(named) > 1:
        raise RuntimeError(
            f"Rheos has one device, CPU:0, so a strategy cannot share a step by {devices}"
        )


class MirroredStrategy(Strategy):
    """Replicas that keep copies of the variables: one, since there is one device."""

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__()
        _only_cpu(devices or [])


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several tasks: not in Rheos yet, so making one is an error."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        raise NotImplementedError(
            "Rheos has no clusters yet: tf.distribute.MultiWorkerMirroredStrategy needs several "
            "tasks. tf.distribute.MirroredStrategy() runs the same program in one"
        )


class ParameterServerStrategy(Strategy):
    """Variables in tasks of their own: not in Rheos yet, so making one is an error."""

    def __init__(self, cluster_resolver=None, variable_partitioner=None):
        raise NotImplementedError(
            "Rheos has no clusters yet: tf.distribute.ParameterServerStrategy needs several tasks"
        )


class TPUStrategy(Strategy):
    """Replicas on TPUs, which Rheos does not have, so making one is an error."""

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None):
        raise NotImplementedError("Rheos runs on CPUs: tf.distribute.TPUStrategy needs TPUs")
