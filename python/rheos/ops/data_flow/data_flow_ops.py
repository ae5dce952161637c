"""Queues: what steps hand to each other, one tuple of tensors at a time.

An op that puts into a full queue or takes from an empty one waits, and its step goes on with the
rest.
"""

import functools

from rheos.framework import dtypes as _dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import init_scope, name_scope
from rheos.framework.op_call import apply_op, op1, op_list
from rheos.framework.operation import Operation
from rheos.framework.tensor_shape import Dimension, TensorShape, dimension_value
from rheos.ops.array import array_ops
from rheos.ops.random.random_ops import get_seed
from rheos.ops.state.shared_names import shared_or_own


def _dtype_list(dtypes):
    """A list of dtypes: one alone is a list of one."""
    if isinstance(dtypes, (list, tuple)):
        return [_dtypes.as_dtype(dtype) for dtype in dtypes]
    return [_dtypes.as_dtype(dtypes)]


def _shape_list(shapes, unknown_dims=False, unknown_rank=False):
    """A list of shapes, [] for None; ValueError if something is unknown."""
    if shapes is None:
        return []
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    elif not isinstance(shapes, (list, tuple)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]  # it is one
    shapes = [TensorShape(shape) for shape in shapes]
    if not unknown_dims and any(not shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if not unknown_rank and any(shape.dims is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def _name_list(names, dtypes):
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(dtypes):
        raise ValueError(
            f"List of names must have the same length as the list of dtypes, received "
            f"len(names)={len(names)},len(dtypes)={len(dtypes)}"
        )
    return names


def _common_shape(a, b):
    """The dimensions that two shapes have in common."""
    a, b = TensorShape(a), TensorShape(b)
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    pairs = zip(a.as_list(), b.as_list())
    return TensorShape([x if x is not None and x == y else None for x, y in pairs])


class QueueBase:
    """What all queues have: ops that put tuples in and take them out.

    dtypes: of the components; shapes: theirs, or None; names: where the tuples are dicts;
    queue_ref: the tensor that stands for the queue.
    """

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = dtypes
        if shapes is not None:
            if len(shapes) != len(dtypes):
                raise ValueError("Queue shapes must have the same length as dtypes")
            self._shapes = [TensorShape(shape) for shape in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in dtypes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = "queue" if queue_ref._is_eager else queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index, queues):
        """The queue number `index`, an int32 scalar, of a list of queues with the same dtypes."""
        if (
            not isinstance(queues, list)
            or not queues
            or not all(isinstance(queue, QueueBase) for queue in queues)
        ):
            raise TypeError("A list of queues expected")
        if any(queue.dtypes != queues[0].dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != queues[0].names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [
            functools.reduce(_common_shape, of_one)
            for of_one in zip(*(queue.shapes for queue in queues))
        ]
        handles = array_ops.stack([queue.queue_ref for queue in queues])
        selected = array_ops.gather(handles, index)
        return QueueBase(queues[0].dtypes, shapes, queues[0].names, selected)

    @property
    def queue_ref(self):
        """The tensor that stands for the queue."""
        return self._queue_ref

    @property
    def name(self):
        """The name of the op that makes the queue."""
        return self._name if self._queue_ref._is_eager else self._queue_ref.op.name

    @property
    def dtypes(self):
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components, as far as they are known."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    def _op_type(self, base):
        return base + ("V2" if self._queue_ref.dtype == _dtypes.resource else "")

    def _components(self, vals):
        """The tensors of one value, a list, or a dict where the components have names."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals.keys(), key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"({sorted(vals.keys())}), Queue: ({sorted(self._names)})"
                )
            vals = [vals[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        return [
            convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(vals, self._dtypes))
        ]

    @staticmethod
    def _scope_values(vals):
        if isinstance(vals, dict):
            return list(vals.values())
        return list(vals) if isinstance(vals, (list, tuple)) else [vals]

    def enqueue(self, vals, name=None):
        """An operation that puts one tuple into the queue, when it has room."""
        with name_scope(name, f"{self._name}_enqueue", self._scope_values(vals)) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes):
                tensor.shape.assert_is_compatible_with(shape)
            return apply_op(self._op_type("QueueEnqueue"), scope, self._queue_ref, tensors)

    def enqueue_many(self, vals, name=None):
        """An operation that puts the rows of tensors into the queue, one after the other."""
        with name_scope(name, f"{self._name}_EnqueueMany", self._scope_values(vals)) as scope:
            tensors = self._components(vals)
            rows = Dimension(dimension_value(tensors[0].shape.with_rank_at_least(1)[0]))
            for tensor, shape in zip(tensors, self._shapes):
                count = dimension_value(tensor.shape.with_rank_at_least(1)[0])
                rows = rows.merge_with(Dimension(count))
                tensor.shape[1:].assert_is_compatible_with(shape)
            return apply_op(self._op_type("QueueEnqueueMany"), scope, self._queue_ref, tensors)

    def _taken(self, tensors, shapes):
        for tensor, shape in zip(tensors, shapes):
            if not tensor._is_eager:
                tensor.set_shape(shape)
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name=None):
        """One tuple, when the queue has one: a tensor, a list of them, or a dict."""
        tensors = op_list(
            self._op_type("QueueDequeue"),
            name or f"{self._name}_Dequeue",
            self._queue_ref,
            component_types=self._dtypes,
        )
        return self._taken(tensors, self._shapes)

    def _many(self, base, n, name):
        """The rows, and how many they are if that is known."""
        op = apply_op(self._op_type(base), name, self._queue_ref, n, component_types=self._dtypes)
        known = constant_value(op.inputs[1]) if isinstance(op, Operation) else None
        return op.outputs, known

    def dequeue_many(self, n, name=None):
        """`n` tuples as rows, when they are there; OutOfRangeError if they will never be."""
        tensors, count = self._many("QueueDequeueMany", n, name or f"{self._name}_DequeueMany")
        rows = TensorShape([count])
        return self._taken(list(tensors), [rows.concatenate(s) for s in self._shapes])

    def dequeue_up_to(self, n, name=None):
        """dequeue_many() that gives what is left of a queue that was closed."""
        tensors, _ = self._many("QueueDequeueUpTo", n, name or f"{self._name}_DequeueUpTo")
        rows = TensorShape([None])
        return self._taken(list(tensors), [rows.concatenate(s) for s in self._shapes])

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation that lets nothing more in, after what waits for room, or cancels that."""
        return apply_op(
            self._op_type("QueueClose"),
            name or f"{self._name}_Close",
            self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
        )

    def is_closed(self, name=None):
        """Whether the queue was closed, a bool tensor."""
        name = name or f"{self._name}_Is_Closed"
        return op1(self._op_type("QueueIsClosed"), name, self._queue_ref)

    def size(self, name=None):
        """How many tuples the queue holds, an int32 tensor."""
        return op1(self._op_type("QueueSize"), name or f"{self._name}_Size", self._queue_ref)


class FIFOQueue(QueueBase):
    """A queue of at most `capacity` tuples: first in, first out."""

    def __init__(
        self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"
    ):
        dtypes = _dtype_list(dtypes)
        shapes = _shape_list(shapes)
        names = _name_list(names, dtypes)
        with init_scope():  # a function that is traced fills it: it outlives the trace
            handle = op1(
                "FIFOQueueV2",
                name,
                component_types=dtypes,
                shapes=shapes,
                capacity=capacity,
                shared_name=shared_or_own(shared_name, "queue"),
            )
        super().__init__(dtypes, shapes or None, names, handle)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of shapes that are known in part; dequeue_many() pads them with zeros."""

    def __init__(
        self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"
    ):
        dtypes = _dtype_list(dtypes)
        if shapes is None:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        shapes = _shape_list(shapes, unknown_dims=True)
        names = _name_list(names, dtypes)
        if len(dtypes) != len(shapes):
            raise ValueError(
                "Shapes must be provided for all components, but received "
                f"{len(dtypes)} dtypes and {len(shapes)} shapes."
            )
        handle = op1(
            "PaddingFIFOQueueV2",
            name,
            component_types=dtypes,
            shapes=shapes,
            capacity=capacity,
            shared_name=shared_or_own(shared_name, "queue"),
        )
        super().__init__(dtypes, shapes, names, handle)


class RandomShuffleQueue(QueueBase):
    """A queue that gives any of its tuples, and keeps `min_after_dequeue` until it is closed."""

    def __init__(
        self,
        capacity,
        min_after_dequeue,
        dtypes,
        shapes=None,
        names=None,
        seed=None,
        shared_name=None,
        name="random_shuffle_queue",
    ):
        dtypes = _dtype_list(dtypes)
        shapes = _shape_list(shapes)
        names = _name_list(names, dtypes)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # Of all programs that share the queue the same seed, whatever their graphs.
            text = (str(seed1) + shared_name).encode("utf-8")
            import hashlib

            seed2 = int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF
        handle = op1(
            "RandomShuffleQueueV2",
            name,
            component_types=dtypes,
            shapes=shapes,
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1,
            seed2=seed2,
            shared_name=shared_or_own(shared_name, "queue"),
        )
        super().__init__(dtypes, shapes or None, names, handle)


class PriorityQueue(QueueBase):
    """A queue of tuples behind an int64 priority; the least comes out first."""

    def __init__(
        self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"
    ):
        types = _dtype_list(types)
        shapes = _shape_list(shapes)
        handle = op1(
            "PriorityQueueV2",
            name,
            component_types=types,
            shapes=shapes,
            capacity=capacity,
            shared_name=shared_or_own(shared_name, "queue"),
        )
        all_shapes = [TensorShape([]), *shapes] if shapes else None
        super().__init__([_dtypes.int64, *types], all_shapes, names, handle)
