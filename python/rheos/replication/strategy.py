"""Strategies: how a program's steps are shared by replicas. Here is what all have in common, and
the one replica of programs that name none."""

import contextlib
import weakref

from rheos.framework import nest, replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import device_name
from rheos.framework.graph import device as on_device, name_scope
from rheos.framework.operation import Operation
from rheos.ops.flow.control_flow_ops import group as grouped
from rheos.replication import input as distributed_input, reductions, replica_threads, variables
from rheos.replication.options import InputContext, ValueContext
from rheos.replication.replica_context import ReplicaContext
from rheos.replication.values import (
    Mirrored,
    is_distributed,
    regroup,
    select,
    select_copies,
)


def _variables_there(var):
    handle = getattr(var, "handle", var)
    return on_device(getattr(handle, "device", "") or "")


class StrategyExtended:
    """What only libraries need of a strategy.

    devices: one for each replica of this process, by their full names.
    """

    experimental_require_static_shapes = False
    experimental_between_graph = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True
    _first_replica = 0  # the number of the first replica of this process

    def __init__(self, container_strategy, devices=None, cross_device_ops=None):
        self._strategy = container_strategy
        self._own_devices = None if devices is None else tuple(devices)
        self._cross_device_ops = cross_device_ops

    @property
    def worker_devices(self):
        """The devices that replicas compute on."""
        return (device_name(),) if self._own_devices is None else self._own_devices

    @property
    def parameter_devices(self):
        """The devices that have the variables."""
        return self.worker_devices

    @property
    def _num_copies(self):
        """How many replicas are in this process."""
        return len(self.worker_devices)

    _num_replicas_in_sync = _num_copies

    def _in_multi_worker_mode(self):
        return False

    def _use_merge_call(self):
        return self._num_copies > 1

    @property
    def _reducer(self):
        if self._cross_device_ops is None:
            self._cross_device_ops = reductions.ReductionToOneDevice()
        return self._cross_device_ops

    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are made where another one is."""
        if is_distributed(colocate_with_variable):
            return contextlib.nullcontext()
        return _variables_there(colocate_with_variable)

    def in_one_piece(self):
        """A context in which variables are not cut into parts."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v):
        """Whether the variable was made in the strategy's scope."""
        return self._num_copies == 1 or getattr(v, "_strategy", None) is self._strategy

    def value_container(self, value):
        """What holds the values of all replicas that a value is one of; else the value."""
        return replicas.container_of(value)

    def _check_meets(self):
        if replicas.current() is not None:
            raise RuntimeError(
                "Method requires being in cross-replica context, use "
                "get_replica_context().merge_call()"
            )

    # Variables

    def _make_copies(self, make, arguments):
        return variables.make_copies(self._strategy, make, arguments, self.worker_devices)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls fn(var, ...) for each copy of a variable, with the copy's share of the rest."""
        kwargs = kwargs or {}
        if not is_distributed(var):
            with _variables_there(var), name_scope("update"):
                result = fn(var, *select(0, args), **select(0, kwargs))
                return grouped(result) if group and _is_in_graph(result) else result
        self._check_meets()
        results = []
        for number, copy in var._distinct:
            with replicas.updating(number), self._strategy._device(self.worker_devices[number]):
                with name_scope("update" if number == 0 else f"update_{number}"):
                    own = select_copies(number, (list(args), kwargs))
                    results.append(fn(copy, *own[0], **own[1]))
        if not group:
            return tuple(results)
        if all(isinstance(result, Operation) for result in results):
            return grouped(*results)
        if any(result is None for result in results):
            return None
        return nest.map_leaves(_as_tensor, regroup(results, Mirrored))

    def sum_for_variables(self, grads, variables):
        """The sums over replicas of gradients of variables, for the copies of these; ValueError for
        variables that were not made in the strategy's scope."""
        for variable in variables:
            if not self.variable_created_in_scope(variable):
                raise ValueError(
                    f"{variable.name} was not made in the scope of the strategy ({self._strategy}) "
                    "whose replicas change it: replicas have no copies of it"
                )
        return self.batch_reduce_to(reductions.ReduceOp.SUM, list(zip(grads, variables)))

    def for_each_copy(self, fn, args):
        """Calls fn(...) for the copies of all variables, of one replica after the other, with its
        share of the arguments; one operation of all that it gives, or what the last one gave."""
        results, graph = [], get_default_graph()
        known = set(graph._variables)
        for number in range(self._num_copies):
            with replicas.updating(number), self._strategy._device(self.worker_devices[number]):
                results.append(fn(*select_copies(number, list(args))))
        if not graph._root._is_eager:
            new = [graph._variables[i] for i in sorted(set(graph._variables) - known)]
            variables.join_copies(self._strategy, new, self._num_copies)
        return grouped(*results) if _is_in_graph(results[0]) else results[-1]

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """Calls fn(...) for what no variable goes with, once for each replica."""
        results = []
        for number in range(self._num_copies):
            with replicas.updating(number), name_scope("update_non_slot"):
                own = select_copies(number, (list(args), kwargs or {}))
                results.append(fn(*own[0], **own[1]))
        if not group:
            return tuple(results)
        operations = [result for result in results if _is_in_graph(result)]
        return grouped(*operations) if operations else None

    def read_var(self, v):
        """The value of a variable; where replicas meet, of one that differs, that of all."""
        return v.read_value()

    def non_slot_devices(self, var_list):
        """The devices of what no variable goes with."""
        return min(var_list, key=lambda var: var.name)

    # Values

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """The sum or mean over replicas, for what is on some devices."""
        reduce_op = reductions.reduction(reduce_op)
        if self._num_copies == 1:
            return value
        self._check_meets()
        if not is_distributed(value):
            reduced = reductions.reduced_same(reduce_op, value)
            return reductions.for_destinations(reduced, destinations)
        return self._reducer.reduce(reduce_op, value, destinations, options)

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """The sums or means of several values."""
        return [self.reduce_to(reduce_op, v, d, options) for v, d in value_destination_pairs]

    def broadcast_to(self, tensor, destinations):
        """A tensor, on all devices."""
        return self._reducer.broadcast(tensor, destinations)

    def _reduce_local(self, reduce_op, values):
        """The sum or mean over all replicas, of the values of those of this process."""
        return reductions.reduced(reduce_op, values)

    def _reduce_over(self, reduce_op, values, axis):
        """The sum or mean over all replicas and an axis."""
        return reductions.reduced_over(reduce_op, values, axis)

    def gather_rows(self, values):
        """What replicas of this process have, with those of others, in the order of replicas."""
        return values

    def _gather_local(self, values, axis):
        return reductions.gathered(values, axis)

    # Steps

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Runs a step on each replica."""
        kwargs = kwargs or {}
        self._check_meets()
        if self._num_copies == 1:
            there = contextlib.nullcontext()
            if self._own_devices is not None:
                there = self._strategy._device(self._own_devices[0])
            with replicas.within(self._strategy._context, self._strategy), there:
                return fn(*args, **kwargs)
        return replica_threads.run_step(self._strategy, fn, args, kwargs)

    # Input

    def _experimental_distribute_dataset(self, dataset, options):
        if self._num_copies == 1:
            return dataset
        return distributed_input.split_batches(dataset, self._num_copies)

    def _distribute_datasets_from_function(self, dataset_fn, options):
        count = self._num_copies
        if distributed_input.is_per_replica(options) and count > 1:
            datasets = [dataset_fn(InputContext(count, i, count)) for i in range(count)]
            return distributed_input.side_by_side(datasets)
        dataset = dataset_fn(self._input_context())
        return dataset if count == 1 else distributed_input.dealt_out(dataset, count)

    def _input_context(self):
        return InputContext(1, 0, self._num_replicas_in_sync)


def _is_in_graph(result):
    return result is not None and not getattr(result, "_is_eager", True)


def _as_tensor(leaf):
    if isinstance(leaf, Mirrored) and all(hasattr(v, "_snapshot") for v in leaf.values):
        return Mirrored([convert_to_tensor(value) for value in leaf.values])
    return leaf


class Strategy:
    """How a program is shared by replicas. Without more than one, it is run as it is."""

    def __init__(self, extended=None):
        self._extended = StrategyExtended(self) if extended is None else extended
        self._context = ReplicaContext(self)
        self._made_in_step = []  # variables
        self._step_functions = weakref.WeakKeyDictionary()

    @property
    def extended(self):
        """What only libraries need."""
        return self._extended

    @property
    def num_replicas_in_sync(self):
        """How many replicas make a step together."""
        return self._extended._num_replicas_in_sync

    @property
    def cluster_resolver(self):
        """What knows the tasks of a cluster, if there is one."""
        return getattr(self._extended, "_cluster_resolver", None)

    # What other parts of the package ask

    @property
    def _has_copies(self):
        """Whether several replicas are in this process, or others elsewhere."""
        return self._extended._num_copies > 1 or self._extended._in_multi_worker_mode()

    @property
    def _makes_variables(self):
        """Whether variables of its scope are others than those of a program without strategies."""
        return self._has_copies

    def _new_contexts(self):
        """Contexts for a step of each replica of this process."""
        return [ReplicaContext(self, i) for i in range(self._extended._num_copies)]

    def _make_variable(self, make, arguments):
        """The variable of arguments: in a replica's step the first one makes it, for all."""
        context = replicas.current()
        if self._extended._num_copies == 1:
            return self._extended._make_copies(make, arguments)
        made = None if context is None else context._made_by_first()
        if made is not None:
            return made
        variable = self._extended._make_copies(make, arguments)
        if context is not None:
            context._keep_made(variable)
        return variable

    def _device(self, name):
        """The context of what is on a device; all that is run at once is on the one CPU."""
        root = get_default_graph()._root
        return root.device(name) if root._is_eager else on_device(name)

    def _reduce_copies(self, reduce_op, values):
        return self._extended._reduce_local(reduce_op, values)

    # What programs ask

    def scope(self):
        """A context in which the strategy is the one in use."""
        used = replicas._state.strategies
        if used and used[-1] is not self and replicas.has_strategy():
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {used[-1]} is not {self}"
            )
        return replicas.within(None, self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Runs a step on each replica; gives what they give, PerReplica where it differs."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        self._extended._check_meets()
        with replicas.within(None, self):
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis):
        """The sum or mean of a value over the replicas, and over an axis unless that is None."""
        reduce_op = reductions.reduction(reduce_op)
        return nest.map_leaves(lambda one: self._reduced(reduce_op, one, axis), value)

    def _reduced(self, reduce_op, value, axis):
        values = reductions.values_of(value)
        if not self._has_copies:
            return value if axis is None else reductions.reduced_over(reduce_op, [value], axis)
        with replicas.within(None, self):
            if axis is not None:
                return self._extended._reduce_over(reduce_op, values or [value], axis)
            if values is None and self._extended._num_copies > 1:
                return reductions.reduced_same(reduce_op, value)
            return self._extended._reduce_local(reduce_op, values or [value])

    def gather(self, value, axis):
        """The values of all replicas along an axis."""
        if not self._has_copies:
            return value
        with replicas.within(None, self):
            return nest.map_leaves(
                lambda one: self._extended._gather_local(
                    reductions.values_of(one) or [one], axis
                ),
                value,
            )

    def experimental_local_results(self, value):
        """A tuple of the values of the replicas of this process."""
        leaves = nest.flatten(value)
        if not any(is_distributed(leaf) for leaf in leaves):
            return (value,)
        return tuple(select_copies(i, value) for i in range(self._extended._num_copies))

    def experimental_distribute_dataset(self, dataset, options=None):
        """A dataset whose elements are shares of a batch for each replica.

        With one replica, the dataset itself.
        """
        if distributed_input.is_per_replica(options):
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA is only supported in "
                "`distribute_datasets_from_function`."
            )
        return self._extended._experimental_distribute_dataset(dataset, options)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """The dataset that a function makes when it is told who reads it; each replica gets the
        next of its elements."""
        return self._extended._distribute_datasets_from_function(dataset_fn, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn):
        """What a function makes for each replica when it is told of that, as a PerReplica."""
        if not self._has_copies:
            return value_fn(self._context)
        count = self._extended._num_copies
        total, first = self.num_replicas_in_sync, self._extended._first_replica
        values = [value_fn(ValueContext(first + i, total)) for i in range(count)]
        return regroup(values, wraps_same=True) if count > 1 else values[0]

    _scales_losses = False  # whether a loss is the mean of a replica's batch, in Estimators

    def share_of_loss(self, loss):
        """What gradients are taken of: the share of a replica's loss in that of all."""
        if self._scales_losses and self.loss_is_mean():
            return loss * (1.0 / self.num_replicas_in_sync)
        return loss

    def loss_is_mean(self):
        """Whether the loss of all replicas is the mean of theirs."""
        return get_loss_reduction() is reductions.ReduceOp.MEAN

    def update_config_proto(self, config_proto):
        """A ConfigProto for the strategy's sessions: the one given."""
        return config_proto


class _DefaultStrategy(Strategy):
    """What a program is run by that names no strategy: its scope changes nothing."""

    def scope(self):
        """Nothing; RuntimeError in the scope of another strategy."""
        if replicas.has_strategy():
            raise RuntimeError("Mixing different tf.distribute.Strategy objects.")
        contexts = replicas._state.contexts
        return replicas.within(contexts[-1] if contexts else None, self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Runs a step."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        return fn(*args, **(kwargs or {}))


_default = []


def _default_strategy():
    if not _default:
        _default.append(_DefaultStrategy())
    return _default[0]


replicas.register_default_strategy(_default_strategy)


# ---- tf.distribute's functions

get_strategy = replicas.get_strategy
has_strategy = replicas.has_strategy
get_replica_context = replicas.get_replica_context
in_cross_replica_context = replicas.in_cross_replica_context
experimental_set_strategy = replicas.choose_strategy


def get_loss_reduction():
    """How the losses of replicas become one: by their mean where an Estimator's loss is a mean."""
    if not replicas.get_strategy()._scales_losses:
        return reductions.ReduceOp.SUM
    last = get_default_graph()._last_loss_reduction
    is_sum = str(getattr(last, "value", last) or "").lower().endswith("sum")
    return reductions.ReduceOp.SUM if is_sum else reductions.ReduceOp.MEAN


def maybe_merge_call(function, strategy, *args, **kwargs):
    """Calls function(strategy, ...) where replicas meet."""
    context = replicas.current()
    if context is None:
        return function(strategy, *args, **kwargs)
    return context.merge_call(function, args=args, kwargs=kwargs)


def strategy_supports_no_merge_call():
    """Whether replicas may update variables without meeting: where there is one, they may."""
    return replicas.several() is None
