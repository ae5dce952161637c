"""Batches of elements that belong together: tf.contrib.training's buckets."""

import functools

import numpy as np

from rheos.framework import dtypes, errors
from rheos.framework.conversion import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.cast_ops import cast
from rheos.ops.array.constant_op import constant
from rheos.ops.data_flow.data_flow_ops import FIFOQueue, PaddingFIFOQueue
from rheos.ops.flow import control_flow_ops
from rheos.ops.flow.smart_cond import smart_constant_value
from rheos.ops.io import summary_ops
from rheos.ops.math import math_ops
from rheos.training.coordinator import add_queue_runner
from rheos.training.queue_runner import QueueRunner

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


def _sizes(batch_size, num_buckets):
    if isinstance(batch_size, (list, tuple)):
        if len(batch_size) != num_buckets:
            raise ValueError(
                "If batch_size is a list it must have num_buckets elements: "
                f"{len(batch_size)} vs. {num_buckets}"
            )
        return list(batch_size)
    return [batch_size] * num_buckets


def _check(tensors, num_buckets, bucket_capacities):
    if not tensors:
        raise ValueError("Expected at least one tensor in bucket().")
    if num_buckets < 1:
        raise ValueError(f"num_buckets must be >= 1, got {num_buckets}")
    if bucket_capacities is not None and len(bucket_capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities (len {len(bucket_capacities)}) must have exactly "
            f"num_buckets ({num_buckets}) elements."
        )


def _known_shapes(shapes, tensors, dynamic_pad):
    shapes = [t.shape for t in tensors] if shapes is None else shapes
    shapes = [TensorShape(shape) for shape in shapes]
    if not dynamic_pad and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(
            "All shapes must be fully defined unless dynamic_pad is set; got "
            f"{[str(shape) for shape in shapes]}"
        )
    return shapes


def _enqueue_chosen(queues, which, tensors):
    """Puts the tensors into queue number `which`."""
    puts = [
        control_flow_ops.cond(
            math_ops.equal(which, i),
            functools.partial(queue.enqueue, tensors),
            control_flow_ops.no_op,
        )
        for i, queue in enumerate(queues)
    ]
    return control_flow_ops.group(*puts, name="group_enqueues")


def bucket(
    tensors,
    which_bucket,
    batch_size,
    num_buckets,
    num_threads=1,
    capacity=32,
    bucket_capacities=None,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    keep_input=True,
    shared_name=None,
    name=None,
):
    """(which_bucket, batch of the tensors), of elements that all came with that number.

    which_bucket: int32 scalar below num_buckets, of the one element that `tensors`, a list or dict,
    hold; batch_size: of all buckets, or a list. dynamic_pad: elements of other shapes are padded.
    keep_input: whether the element counts. Queue runners do the work.
    """
    sizes = _sizes(batch_size, num_buckets)
    names = list(tensors) if isinstance(tensors, dict) else None
    given = list(tensors.values()) if names is not None else list(tensors)
    _check(given, num_buckets, bucket_capacities)
    with name_scope(name, "bucket", given):
        given = convert_n_to_tensor_or_indexed_slices(given)
        shapes = _known_shapes(shapes, given, dynamic_pad)
        which_bucket = convert_to_tensor(which_bucket, name="which_bucket", dtype=dtypes.int32)
        keep = convert_to_tensor(keep_input)
        types = [t.dtype for t in given]
        for n in sizes:  # as in TensorFlow, whose graphs have these although nothing takes them
            constant(n, dtypes.int32, name="batch_size")
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        capacities = bucket_capacities or [capacity] * num_buckets
        queues = [
            kind(
                capacity=capacities[i],
                dtypes=types,
                shapes=shapes,
                shared_name=shared_name,
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        same = all(n == sizes[0] for n in sizes) and not allow_smaller_final_batch
        rows = TensorShape([sizes[0] if same else None])
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=[TensorShape([]), *(rows.concatenate(shape) for shape in shapes)],
            shared_name=shared_name,
            name="top_queue",
        )
        known = smart_constant_value(keep)
        if known is None:
            put = control_flow_ops.cond(
                keep,
                lambda: _enqueue_chosen(queues, which_bucket, given),
                control_flow_ops.no_op,
            )
        elif known:
            put = _enqueue_chosen(queues, which_bucket, given)
        else:
            put = control_flow_ops.no_op(name="group_enqueues")
        moves = []
        for i, queue in enumerate(queues):
            take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
            number = constant(i)
            batch = take(sizes[i], name=f"read_bucket_{i}")
            batch = batch if isinstance(batch, (list, tuple)) else [batch]
            moves.append(top.enqueue([number, *batch], name=f"enqueue_from_bucket_{i}"))
        add_queue_runner(
            QueueRunner(
                queues[0],
                moves,
                close_op=top.close(),
                cancel_op=top.close(cancel_pending_enqueues=True),
                queue_closed_exception_types=_ENDS,
            )
        )
        add_queue_runner(
            QueueRunner(
                top,
                [put] * num_threads,
                close_op=control_flow_ops.group(*(q.close() for q in queues)),
                cancel_op=control_flow_ops.group(
                    *(q.close(cancel_pending_enqueues=True) for q in queues)
                ),
                queue_closed_exception_types=_ENDS,
            )
        )
        for queue in queues:
            summary_ops.scalar(f"bucket/{queue.name}/size", cast(top.size(), dtypes.float32))
        filled = cast(top.size(), dtypes.float32) * (1.0 / capacity)
        summary_ops.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", filled)
        taken = top.dequeue(name="dequeue_top")
        which, batch = taken[0], list(taken[1:])
        if len(batch) == 1 and names is None:
            return which, batch[0]
        return which, dict(zip(names, batch)) if names is not None else batch


def bucket_by_sequence_length(
    input_length,
    tensors,
    batch_size,
    bucket_boundaries,
    num_threads=1,
    capacity=32,
    bucket_capacities=None,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    keep_input=True,
    shared_name=None,
    name=None,
):
    """(lengths, batch of the tensors), of sequences whose lengths are near each other.

    bucket_boundaries: ascending ints; sequences are batched with those between the same two.
    """
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(
            f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}"
        )
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for smaller, larger in zip(bucket_boundaries, bucket_boundaries[1:]):
        if not isinstance(smaller, int) or not isinstance(larger, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {smaller} and {larger}")
        if smaller >= larger:
            raise ValueError(
                f"Buckets must contain sequential increasing lengths, but saw: {smaller} before "
                f"{larger}"
            )
    is_dict = isinstance(tensors, dict)
    given = list(tensors.values()) if is_dict else list(tensors)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *given]):
        input_length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        edges = (
            [np.iinfo(np.int32).min, *bucket_boundaries],
            [
                *bucket_boundaries,
                np.iinfo(np.int32).max,
            ],
        )
        inside = math_ops.logical_and(
            math_ops.less_equal(edges[0], input_length), math_ops.less(input_length, edges[1])
        )
        which = cast(math_ops.reduce_min(array_ops.where(inside)), dtypes.int32)
        if shapes is not None:
            shapes = [TensorShape([]), *shapes]
        _, taken = bucket(
            [input_length, *given],
            which,
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=shapes,
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        batch = taken[1:]
        if is_dict:  # of one tensor TensorFlow gives a list
            batch = dict(zip(tensors, batch if len(batch) > 1 else [batch]))
        return taken[0], batch
