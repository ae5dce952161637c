"""What the workers of a cluster do together: each calls the same functions in the same order."""

import itertools
import weakref

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.dtypes import float32
from rheos.framework.eager import get_eager_graph
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops
from rheos.replication.reductions import ReduceOp
from rheos.tracing.function import outermost_traced

_GROUP = 1  # the key of the group of all workers
_FIRST_OF_FUNCTIONS, _MOST_OF_FUNCTION = 1 << 24, 1 << 12


class Collectives:
    """The collectives of all workers.

    size: the number of workers. timeout_s: how long an operation waits for them, 0: for ever.
    begins_early: in a traced function each value is reduced by itself, as soon as it is there,
    while others are computed: for what puts small ones together by itself.

    Each operation has a key of its own, which is the same in all workers, since these run the same
    program. They may trace a function differently often, as their parts of batches have different
    shapes: so keys in it come from its number and that of the operation in it.
    """

    def __init__(self, size, timeout_s=0.0, begins_early=False):
        self._size = size
        self._begins_early = begins_early
        self._timeout_s = timeout_s
        self._numbers = itertools.count(1)
        self._functions = weakref.WeakKeyDictionary()  # {Function: its number}
        self._function_numbers = itertools.count()

    def _arguments(self):
        return self._size, _GROUP, self._key()

    def _key(self):
        function, graph = outermost_traced(), get_default_graph()
        if function is None or not graph.building_function:
            return next(self._numbers)
        while graph.outer_graph.building_function:
            graph = graph.outer_graph
        if function not in self._functions:
            self._functions[function] = next(self._function_numbers)
        counts = graph.__dict__.setdefault("_collective_numbers", itertools.count())
        first = _FIRST_OF_FUNCTIONS + self._functions[function] * _MOST_OF_FUNCTION
        return first + next(counts)

    def meet(self):
        """Waits until all workers have called it."""
        with get_eager_graph().as_default():
            op1(
                "CollectiveReduceV2", None, 0.0, self._size, _GROUP, _FIRST_OF_FUNCTIONS - 1, [],
                merge_op="Add", final_op="Id", timeout_seconds=self._timeout_s, T=float32,
            )  # fmt: skip

    def reduce(self, reduce_op, value):
        """The sum or mean of a tensor of each worker; IndexedSlices are put together."""
        if isinstance(value, IndexedSlices):
            slices = value.values / self._size if reduce_op is ReduceOp.MEAN else value.values
            rows, indices = self.gather(slices, 0), self.gather(value.indices, 0)
            return IndexedSlices(rows, indices, value.dense_shape)
        value = convert_to_tensor(value)
        if value.dtype.is_bool or value.dtype.name in ("string", "variant", "resource"):
            raise TypeError(f"{value.dtype.name} has no sum or mean over replicas")
        is_mean = reduce_op is ReduceOp.MEAN
        divides = is_mean and value.dtype.is_floating
        total = op1(
            "CollectiveReduceV2", None, value, *self._arguments(), [],
            merge_op="Add", final_op="Div" if divides else "Id",
            timeout_seconds=self._timeout_s, communication_hint="auto",
        )  # fmt: skip
        total.set_shape(value.shape)
        return total / self._size if is_mean and not divides else total

    def reduce_all(self, reduce_op, values):
        """The sums or means of several values: those of tensors in one go for each dtype, or all at
        the same time."""
        if self._begins_early and get_default_graph().building_function:
            return [self.reduce(reduce_op, value) for value in values]
        found = list(values)
        together = {}
        for i, value in enumerate(values):
            if not isinstance(value, IndexedSlices):
                value = convert_to_tensor(value)
                together.setdefault(value.dtype, []).append((i, value))
            else:
                found[i] = self.reduce(reduce_op, value)
        for pairs in together.values():
            flat = [array_ops.reshape(value, [-1]) for _, value in pairs]
            whole = self.reduce(reduce_op, array_ops.concat(flat, 0) if len(flat) > 1 else flat[0])
            sizes = [array_ops.size(value) for value in flat]
            parts = array_ops.split(whole, sizes, num=len(flat)) if len(flat) > 1 else [whole]
            for (i, value), part in zip(pairs, parts):
                part = array_ops.reshape(part, array_ops.shape(value))
                part.set_shape(value.shape)
                found[i] = part
        return found

    def gather(self, value, axis):
        """Tensors of all workers along an axis, in which they may have different sizes."""
        value = convert_to_tensor(value)
        rank = value.shape.rank
        if rank == 0:
            raise ValueError("gather needs tensors of at least one dimension, not scalars")
        order = [axis, *(i for i in range(rank) if i != axis)]
        rows = rearrange_ops.transpose(value, order) if axis else value
        sizes = self._gather_same(array_ops.reshape(array_ops.shape(rows)[0], [1]))
        most = math_ops.reduce_max(sizes)
        missing = most - array_ops.shape(rows)[0]
        padded = array_ops.pad(rows, [[0, missing], *([[0, 0]] * (rank - 1))])
        whole = self._gather_same(padded)
        parts = [whole[i * most : i * most + sizes[i]] for i in range(self._size)]
        rows = array_ops.concat(parts, 0)
        back = [order.index(i) for i in range(rank)]
        return rearrange_ops.transpose(rows, back) if axis else rows

    def _gather_same(self, value):
        return op1(
            "CollectiveGatherV2", None, value, *self._arguments(), [],
            timeout_seconds=self._timeout_s, communication_hint="auto",
        )  # fmt: skip

    def broadcast(self, value, is_source):
        """The tensor of the source, the first worker, which all others have in shape and dtype."""
        if is_source:
            return op1(
                "CollectiveBcastSendV2", None, value, *self._arguments(),
                timeout_seconds=self._timeout_s, communication_hint="auto",
            )  # fmt: skip
        return op1(
            "CollectiveBcastRecvV2", None, *self._arguments(), array_ops.shape(value),
            T=value.dtype, timeout_seconds=self._timeout_s, communication_hint="auto",
        )  # fmt: skip
