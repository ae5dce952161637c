"""How values of replicas become one: sums, means and concatenations, and the objects by which a
program chooses where that is done.

Values are added in the order of the replicas, so a result has the same bits each time.
"""

import enum

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.state.variables import VariableAggregation
from rheos.replication.values import Mirrored, is_distributed


class ReduceOp(enum.Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """The reduction that a variable's aggregation asks for; ValueError for others."""
        found = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}
        if aggregation not in found:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to"
                "`tf.distribute.ReduceOp` type"
            )
        return found[aggregation]


def reduction(reduce_op):
    """A ReduceOp, which may be given by its name; ValueError if there is none."""
    try:
        return ReduceOp(reduce_op.upper() if isinstance(reduce_op, str) else reduce_op)
    except ValueError:
        raise ValueError(f"`reduce_op` must be SUM or MEAN, not {reduce_op!r}") from None


# ---- Of tensors, one for each replica


def divided(value, count):
    """A tensor, or IndexedSlices, by a number."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count


def reduced(reduce_op, values):
    """The sum or mean of tensors, or of IndexedSlices, whose rows are put one after the other."""
    if all(isinstance(value, IndexedSlices) for value in values):
        total = IndexedSlices(
            array_ops.concat([value.values for value in values], 0),
            array_ops.concat([value.indices for value in values], 0),
            values[0].dense_shape,
        )
    else:
        total = math_ops.add_n([convert_to_tensor(value) for value in values])
    return divided(total, len(values)) if reduce_op is ReduceOp.MEAN else total


def gathered(values, axis):
    """Tensors of all replicas along an axis; ValueError for scalars."""
    tensors = [convert_to_tensor(value) for value in values]
    if any(tensor.shape.rank == 0 for tensor in tensors):
        raise ValueError("gather needs tensors of at least one dimension, not scalars")
    return array_ops.concat(tensors, axis) if len(tensors) > 1 else tensors[0]


def reduced_over(reduce_op, values, axis):
    """The sum or mean of tensors over the replicas and an axis: of all elements along that."""
    tensors = [convert_to_tensor(value) for value in values]
    total = math_ops.add_n([math_ops.reduce_sum(tensor, axis) for tensor in tensors])
    if reduce_op is ReduceOp.SUM:
        return total
    dtype = tensors[0].dtype if tensors[0].dtype.is_floating else "float64"
    counts = [counted(tensor, axis, dtype) for tensor in tensors]
    return math_ops.cast(total, dtype) / math_ops.add_n(counts)


def counted(tensor, axis, dtype):
    """How many elements a tensor has along an axis, or several."""
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    sizes = array_ops.gather(array_ops.shape(tensor), axes)
    return math_ops.cast(math_ops.reduce_prod(sizes), dtype)


def reduced_same(reduce_op, value):
    """The mean of a value that all replicas have: itself; ValueError for a sum, since nothing says
    of how many parts."""
    if reduce_op is ReduceOp.MEAN:
        return value
    if isinstance(value, (int, float)) and value == 0:
        return 0
    raise ValueError(
        f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
        f"{reduce_op}."
    )


# ---- Where it is done


class CrossDeviceOps:
    """How values of several devices become one: subclasses say by `reduce_implementation` and its
    like."""

    def __init__(self):
        pass

    @property
    def _num_between_graph_workers(self):
        return 1

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        """The sum or mean of a PerReplica, for a device, or the devices of a variable."""
        if not isinstance(reduce_op, ReduceOp):
            raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        _check_destinations(destinations)
        return self.reduce_implementation(reduce_op, per_replica_value, destinations, options)

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        """The sums or means of pairs of a PerReplica and what it is for."""
        if not isinstance(reduce_op, ReduceOp):
            raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        for _, destinations in value_destination_pairs:
            _check_destinations(destinations)
        return self.batch_reduce_implementation(reduce_op, value_destination_pairs, options)

    def broadcast(self, tensor, destinations):
        """A tensor, on all devices."""
        _check_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options=None):
        """What reduce() does."""
        raise NotImplementedError("reduce_implementation must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options=None):
        """What batch_reduce() does."""
        raise NotImplementedError("batch_reduce_implementation must be implemented in descendants.")

    def broadcast_implementation(self, tensor, destinations):
        """What broadcast() does."""
        return for_destinations(tensor, destinations)


def _check_destinations(destinations):
    if isinstance(destinations, (list, tuple)) or not _names_something(destinations):
        raise ValueError(
            "destinations must be one of a `DistributedValues` object, a tf.Variable object, or a "
            "device string."
        )


def _names_something(destinations):
    return bool(destinations) if isinstance(destinations, str) else destinations is not None


def for_destinations(tensor, destinations):
    """A tensor as what is on several devices has it: Mirrored, as often as that has values."""
    if is_distributed(destinations):
        return Mirrored([tensor] * len(destinations.values))
    return tensor


class ReductionToOneDevice(CrossDeviceOps):
    """Adds values up on one device, and copies the result to the others.

    reduce_to_device: which one. accumulation_fn: what adds a list of tensors up, by default add_n.
    """

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        super().__init__()
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or math_ops.add_n

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options=None):
        """The sum or mean, added up by the accumulation function."""
        if not is_distributed(per_replica_value):
            return for_destinations(reduced_same(reduce_op, per_replica_value), destinations)
        values = per_replica_value.values
        if all(isinstance(value, Tensor) for value in values):
            total = self.accumulation_fn(list(values))
            total = divided(total, len(values)) if reduce_op is ReduceOp.MEAN else total
        else:
            total = reduced(reduce_op, values)
        return for_destinations(total, destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options=None):
        """Each pair by itself."""
        return [
            self.reduce_implementation(reduce_op, value, destinations, options)
            for value, destinations in value_destination_pairs
        ]


class AllReduceCrossDeviceOps(ReductionToOneDevice):
    """Adds values up on all devices.

    num_packs, all_reduce_alg: how values are packed; on CPUs, which share memory, nothing depends
    on it.
    """

    def __init__(self, all_reduce_alg="nccl", num_packs=1):
        super().__init__()
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, got {num_packs}")
        self._all_reduce_alg = all_reduce_alg
        self._num_packs = num_packs


class NcclAllReduce(AllReduceCrossDeviceOps):
    """Adds values up on all devices, as NCCL does on GPUs."""

    def __init__(self, num_packs=1):
        super().__init__("nccl", num_packs)


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """Adds values up on all devices, in groups and then between these."""

    def __init__(self, num_packs=1):
        super().__init__("hierarchical_copy", num_packs)


def values_of(value):
    """The values of a distributed one as a list; None for one that all replicas have."""
    return list(value.values) if is_distributed(value) else None
