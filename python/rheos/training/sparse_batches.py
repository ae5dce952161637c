"""SparseTensors in the queues of batches: the session keeps them, the queue holds their numbers."""

import collections

from rheos.framework import dtypes
from rheos.framework.op_call import op1, op_list
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import array_ops, sparse_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.flow.smart_cond import smart_cond

# A SparseTensor that is kept: the operation whose map has it, its rank and dtype.
_Kept = collections.namedtuple("_Kept", ["op", "rank", "dtype"])


def _add(tensor, many, map_name):
    op_type = "AddManySparseToTensorsMap" if many else "AddSparseToTensorsMap"
    parts = tensor.indices, tensor.values, tensor.dense_shape
    return op1(op_type, None, *parts, shared_name=map_name)


def _store(tensor, enqueue_many, keep_input, map_name):
    """The number of a SparseTensor, or of each of its rows."""
    if keep_input.shape.ndims == 1:
        rows = array_ops.gather(keep_input, tensor.indices[:, 0])
        return _add(sparse_ops.sparse_retain(tensor, rows), True, map_name)

    def none():
        if not enqueue_many:
            return constant(-1, dtypes.int64)
        return -1 * array_ops.ones(array_ops.shape(tensor)[0:1], dtypes.int64)

    numbers = smart_cond(keep_input, lambda: _add(tensor, enqueue_many, map_name), none)
    if enqueue_many:
        numbers.set_shape([None])
    return numbers


def _adding(numbers):
    """The operation that keeps what these numbers are of; it may be in a branch."""
    places = [numbers.op, *(tensor.op for tensor in numbers.op.inputs)]
    return next(op for op in places if op.type.endswith("ToTensorsMap"))


def store(tensors, enqueue_many, keep_input, shared=None):
    """Tensors for a queue in place of some that may be sparse, and what restore() needs.

    shared: what an earlier call gave for the same queue, whose maps are used again.
    """
    stored, kept = [], []
    for tensor, earlier in zip(tensors, shared or [None] * len(tensors)):
        if not isinstance(tensor, SparseTensor):
            stored.append(tensor)
            kept.append(None)
            continue
        map_name = earlier.op.name if earlier is not None else ""
        numbers = _store(tensor, enqueue_many, keep_input, map_name)
        rank = tensor.dense_shape.shape[0].value
        if rank is not None and enqueue_many:
            rank -= 1
        op = earlier.op if earlier is not None else _adding(numbers)
        kept.append(_Kept(op, rank, tensor.dtype))
        stored.append(array_ops.expand_dims(numbers, -1))
    return stored, kept


def store_lists(lists, enqueue_many, keep_input):
    """store() of lists for one queue; ValueError if they are not sparse at the same places."""
    first, kept = store(lists[0], enqueue_many, keep_input)
    stored = [first]
    for tensors in lists[1:]:
        is_sparse = [isinstance(tensor, SparseTensor) for tensor in tensors]
        if is_sparse != [one is not None for one in kept]:
            raise ValueError(f"Inconsistent SparseTensors list: {lists[0]} vs. {tensors}")
        more, other = store(tensors, enqueue_many, keep_input, kept)
        stored.append(more)
        kept = [
            one if one is None or one.rank == two.rank else one._replace(rank=None)
            for one, two in zip(kept, other)
        ]
    return stored, kept


def _take(numbers, kept):
    op = kept.op
    map_name = op.get_attr("shared_name").decode() or op.name
    numbers = array_ops.squeeze(numbers, [1])
    indices, values, shape = op_list(
        "TakeManySparseFromTensorsMap",
        None,
        numbers,
        dtype=kept.dtype,
        container=op.get_attr("container").decode(),
        shared_name=map_name,
    )
    rank = None if kept.rank is None else kept.rank + 1
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def restore(dequeued, kept):
    """What was given to store(), of what a queue gave; all of it is taken, whatever is fetched."""
    if not any(kept):
        return dequeued
    given = dequeued if isinstance(dequeued, list) else [dequeued]
    found = [number if one is None else _take(number, one) for number, one in zip(given, kept)]
    values = [one.values if isinstance(one, SparseTensor) else one for one in found]

    def after_all(tensor):
        return control_flow_ops.with_dependencies(values, tensor)

    found = [
        SparseTensor(*(after_all(part) for part in (one.indices, one.values, one.dense_shape)))
        if isinstance(one, SparseTensor)
        else after_all(one)
        for one in found
    ]
    return found if isinstance(dequeued, list) else found[0]
