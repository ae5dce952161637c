"""What a step knows of the replica that runs it."""

import itertools

from rheos.framework import nest, replicas, signatures
from rheos.framework.defaults import get_default_graph
from rheos.framework.dtypes import int32
from rheos.framework.gradient_registry import register_gradient_of
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op_list
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.differentiation.custom_gradient import custom_gradient
from rheos.replication import reductions
from rheos.replication.values import Mirrored

_numbers = itertools.count()


class ReplicaContext:
    """What a step knows of the replica that runs it."""

    _replica = None  # what runs its step in a thread
    _made, _num_made = None, 0  # the variables that the first replica's step made

    def __init__(self, strategy, copy_number=0):
        self._strategy = strategy
        self._copy_number = copy_number

    @property
    def strategy(self):
        """The strategy whose step this is."""
        return self._strategy

    @property
    def num_replicas_in_sync(self):
        """How many replicas make a step together."""
        return self._strategy.num_replicas_in_sync

    @property
    def _id(self):
        return self._strategy.extended._first_replica + self._copy_number

    @property
    def replica_id_in_sync_group(self):
        """The number of this replica: of several a tensor."""
        return constant(self._id, int32) if self._strategy._has_copies else self._id

    @property
    def devices(self):
        """The devices of the replica."""
        return (self._strategy.extended.worker_devices[self._copy_number],)

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls merge_fn(strategy, ...) once, where replicas meet; gives this replica's share of
        what it gives. Its arguments have the values of all replicas."""
        if self._replica is not None:
            return self._replica.meet(merge_fn, tuple(args), dict(kwargs or {}))
        with replicas.within(None, self._strategy):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def _check_strategy(self, strategy):
        if strategy is not self._strategy:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {self._strategy} is not "
                f"{strategy}"
            )

    # Variables that a step makes: the first replica makes them for all.

    def _made_by_first(self):
        made = self._strategy._made_in_step
        self._num_made += 1
        return made[self._num_made - 1] if self._num_made <= len(made) else None

    def _take_made(self, variable):
        """Goes on behind a variable that was found by its name, if the step made it."""
        made = self._strategy._made_in_step
        places = [i for i, one in enumerate(made) if one is variable and i >= self._num_made]
        self._num_made = places[0] + 1 if places else self._num_made

    def _keep_made(self, variable):
        self._strategy._made_in_step.append(variable)

    # Values of all replicas

    def all_reduce(self, reduce_op, value, options=None):
        """The sum or mean over replicas, in a structure too; its gradient is that of the values of
        all replicas."""
        reduce_op = reductions.reduction(reduce_op)
        if not self._strategy._has_copies:
            return nest.map_structure(lambda one: one, value)
        flat = nest.flatten(value)
        if any(isinstance(one, IndexedSlices) for one in flat):
            return nest.pack_sequence_as(value, self._reduced(reduce_op, flat))
        if get_default_graph()._is_eager:
            found = self._reduced_at_once(reduce_op, flat)
        else:
            found = self._reduced_in_graph(reduce_op, flat)
        return nest.pack_sequence_as(value, found)

    def _reduced(self, reduce_op, flat):
        def merge(strategy, *values):
            one = strategy.extended._reduce_local
            count = strategy.extended._num_copies
            return [_for_all(one(reduce_op, _values_of(v, count)), count) for v in values]

        return list(self.merge_call(merge, args=flat))

    def _reduced_at_once(self, reduce_op, flat):
        @custom_gradient
        def reduce(*values):
            def gradient(*gradients):
                return self._reduced(reduce_op, list(gradients))

            return self._reduced(reduce_op, list(values)), gradient

        found = reduce(*flat)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def _reduced_in_graph(self, reduce_op, flat):
        graph = get_default_graph()
        flat = [one if isinstance(one, Tensor) else constant(one) for one in map(_read, flat)]
        found = self._reduced(reduce_op, flat)
        count = len(found)

        def gradient(op, *gradients):
            return [None] * count + self._reduced(reduce_op, list(gradients[:count]))

        name = f"AllReduce-{next(_numbers)}"
        register_gradient_of(graph, name, gradient)
        with graph._attr_scope([("_gradient_op_type", signatures.STRING, name)]):
            return op_list("IdentityN", None, [*found, *flat])[:count]

    def all_gather(self, value, axis, options=None):
        """The values of all replicas along an axis, in a structure too."""
        if not self._strategy._has_copies:
            return value

        def merge(strategy, *values):
            count = strategy.extended._num_copies
            gather = strategy.extended._gather_local
            return [_for_all(gather(_values_of(v, count), axis), count) for v in values]

        found = self.merge_call(merge, args=nest.flatten(value))
        return nest.pack_sequence_as(value, list(found))

    def __enter__(self):
        self._entered = replicas.within(self, self._strategy)
        self._entered.__enter__()
        return self

    def __exit__(self, *exc_info):
        return self._entered.__exit__(*exc_info)


def _read(value):
    snapshot = getattr(value, "_snapshot", None)
    return value if snapshot is None else snapshot


def _values_of(value, count):
    values = reductions.values_of(value)
    return [value] * count if values is None else values


def _for_all(value, count):
    return value if count == 1 else Mirrored([_own(value) for _ in range(count)])


def _own(value):
    """A value as an object of a replica's own, which tells it from one that the program shares."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values, value.indices, value.dense_shape)
    return array_ops.identity(value)


