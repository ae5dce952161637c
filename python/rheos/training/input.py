"""Version 1's input pipelines: ops that fill queues, run by queue runners, and batches."""

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.data_flow import data_flow_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import summary_ops
from rheos.ops.math import math_ops
from rheos.ops.random import random_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import Variable
from rheos.training import sparse_batches
from rheos.training.coordinator import add_queue_runner
from rheos.training.queue_runner import QueueRunner

# ---- Producers


def limit_epochs(tensor, num_epochs=None, name=None):
    """`tensor`, `num_epochs` times; then OutOfRangeError. The count is a local variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as name:
        epochs = Variable(
            constant(0, dtype=dtypes.int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return array_ops.identity(tensor, name=name)


def input_producer(
    input_tensor,
    element_shape=None,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    summary_name=None,
    name=None,
    cancel_op=None,
):
    """A queue with the rows of `input_tensor`, again and again or `num_epochs` times."""
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            input_tensor = random_ops.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = data_flow_ops.FIFOQueue(
            capacity=capacity,
            dtypes=[input_tensor.dtype.base_dtype],
            shapes=[element_shape],
            shared_name=shared_name,
            name=name,
        )
        enqueue = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            full = math_ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity)
            summary_ops.scalar(summary_name, full)
        return queue


def string_input_producer(
    string_tensor,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    name=None,
    cancel_op=None,
):
    """A queue with strings, such as names of files. ValueError if there are none."""
    error = "string_input_producer requires a non-null input tensor"
    if not hasattr(string_tensor, "dtype") and not string_tensor:
        raise ValueError(error)
    with name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        is_some = control_flow_ops.Assert(
            math_ops.greater(array_ops.size(string_tensor), 0), [error]
        )
        with control_dependencies([is_some]):
            string_tensor = array_ops.identity(string_tensor)
        return input_producer(
            input_tensor=string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def range_input_producer(
    limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):
    """A queue with the integers from 0 to limit - 1."""
    with name_scope(name, "input_producer", [limit]) as name:
        return input_producer(
            math_ops.range(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            name,
        )


def slice_input_producer(
    tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):
    """Row by row of tensors with as many rows: a list of tensors."""
    with name_scope(name, "input_producer", tensor_list):
        tensor_list = convert_n_to_tensor_or_indexed_slices(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            array_ops.shape(tensor_list[0])[0],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
        )
        index = queue.dequeue()
        return [array_ops.gather(tensor, index) for tensor in tensor_list]


# ---- Batches


def _as_list(tensors):
    """The values of a dict in the order of its keys; others as they are."""
    if not isinstance(tensors, dict):
        return tensors
    return [tensors[key] for key in sorted(tensors, key=str)]


def _as_given(tensors, results):
    """Results in the form of what was given."""
    if not isinstance(tensors, dict):
        return results
    if len(tensors) == 1:
        results = [results]
    return dict(zip(sorted(tensors, key=str), results))


def _convert(tensors, function):
    tensors = [
        t if isinstance(t, SparseTensor) else convert_n_to_tensor_or_indexed_slices([t])[0]
        for t in tensors
    ]
    if not tensors:
        raise ValueError(f"Expected at least one tensor in {function}().")
    return tensors


def _check_keep(keep_input, enqueue_many):
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _types(lists):
    types = [[tensor.dtype for tensor in tensors] for tensors in lists]
    for other in types[1:]:
        if other != types[0]:
            raise TypeError(
                f"Expected types to be consistent: {', '.join(t.name for t in types[0])} vs. "
                f"{', '.join(t.name for t in other)}."
            )
    return types[0]


def _shapes(lists, shapes, enqueue_many):
    if shapes is not None:
        return shapes
    merged = []
    for tensors in zip(*lists):
        for tensor in tensors:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
        found = [TensorShape(tensor.shape.as_list()) for tensor in tensors]
        if enqueue_many:
            found = [shape.with_rank_at_least(1)[1:] for shape in found]
        for other in found[1:]:
            found[0].merge_with(other)  # they have to fit; the first one's is taken
        merged.append(found[0].as_list())
    return merged


def _keep_some(tensors, keep_input):
    """The rows that a vector of bools keeps."""
    selected = math_ops.cast(keep_input, dtypes.int32)
    return [array_ops.dynamic_partition(t, selected, num_partitions=2)[1] for t in tensors]


def _enqueue(queue, tensors, enqueue_many, keep_input):
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.shape.ndims == 1:
        return put(_keep_some(tensors, keep_input))
    known = constant_value(keep_input)
    if known is not None:
        return put(tensors) if known else control_flow_ops.no_op()
    return control_flow_ops.cond(keep_input, lambda: put(tensors), control_flow_ops.no_op)


def _dequeue(queue, batch_size, allow_smaller_final_batch, name):
    take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
    return take(batch_size, name=name)


def _fifo(capacity, dynamic_pad, shared_name):
    """What makes the queue of batch(), and what tells how full it is."""

    def make(types, shapes):
        kind = data_flow_ops.PaddingFIFOQueue if dynamic_pad else data_flow_ops.FIFOQueue
        return kind(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)

    def tell(queue):
        summary_ops.scalar(
            f"fraction_of_{capacity}_full",
            math_ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity),
        )

    return make, tell


def _shuffled(capacity, min_after_dequeue, seed, shared_name):
    """The same of shuffle_batch()."""
    if capacity <= min_after_dequeue:
        raise ValueError(
            f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}."
        )

    def make(types, shapes):
        return data_flow_ops.RandomShuffleQueue(
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed,
            dtypes=types,
            shapes=shapes,
            shared_name=shared_name,
        )

    def tell(queue):
        room = capacity - min_after_dequeue
        over = math_ops.maximum(0, queue.size() - min_after_dequeue)
        summary_ops.scalar(
            f"fraction_over_{min_after_dequeue}_of_{room}_full",
            math_ops.cast(over, dtypes.float32) * (1.0 / room),
        )

    return make, tell


def _batch_of_one(function, queue_of, tensors, keep_input, batch_size, num_threads, options):
    enqueue_many, shapes, allow_smaller_final_batch, name = options
    make, tell = queue_of
    tensor_list = _as_list(tensors)
    with name_scope(name, function, [*tensor_list, keep_input]) as name:
        tensor_list = _convert(tensor_list, "batch")
        keep_input = _check_keep(keep_input, enqueue_many)
        tensor_list, kept = sparse_batches.store(tensor_list, enqueue_many, keep_input)
        types = _types([tensor_list])
        queue = make(types, _shapes([tensor_list], shapes, enqueue_many))
        enqueue = _enqueue(queue, tensor_list, enqueue_many, keep_input)
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        tell(queue)
        dequeued = _dequeue(queue, batch_size, allow_smaller_final_batch, name)
        return _as_given(tensors, sparse_batches.restore(dequeued, kept))


def _batch_of_several(function, queue_of, tensors_list, keep_input, batch_size, options):
    enqueue_many, shapes, allow_smaller_final_batch, name = options
    make, tell = queue_of
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict):
        keys = set(tensors_list[0])
        if any(set(tensors) != keys for tensors in tensors_list[1:]):
            raise ValueError("All dictionaries in tensors_list must have the same keys")
    lists = [_as_list(tensors) for tensors in tensors_list]
    values = [tensor for tensors in lists for tensor in tensors]
    with name_scope(name, function, [*values, keep_input]) as name:
        lists = [_convert(tensors, "batch_join") for tensors in lists]
        keep_input = _check_keep(keep_input, enqueue_many)
        lists, kept = sparse_batches.store_lists(lists, enqueue_many, keep_input)
        types = _types(lists)
        queue = make(types, _shapes(lists, shapes, enqueue_many))
        enqueues = [_enqueue(queue, tensors, enqueue_many, keep_input) for tensors in lists]
        add_queue_runner(QueueRunner(queue, enqueues))
        tell(queue)
        dequeued = _dequeue(queue, batch_size, allow_smaller_final_batch, name)
        return _as_given(tensors_list[0], sparse_batches.restore(dequeued, kept))


def maybe_batch(
    tensors,
    keep_input,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """batch() of what `keep_input`, a bool or one for each row, lets through."""
    return _batch_of_one(
        "batch",
        _fifo(capacity, dynamic_pad, shared_name),
        tensors,
        keep_input,
        batch_size,
        num_threads,
        (enqueue_many, shapes, allow_smaller_final_batch, name),
    )


def batch(
    tensors,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """Batches of tensors that `num_threads` threads compute again and again, in the form of
    `tensors`: a tensor, a list or a dict. enqueue_many: they are rows of examples."""
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list,
    keep_input,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """batch_join() of what `keep_input`, a bool or one for each row, lets through."""
    return _batch_of_several(
        "batch_join",
        _fifo(capacity, dynamic_pad, shared_name),
        tensors_list,
        keep_input,
        batch_size,
        (enqueue_many, shapes, allow_smaller_final_batch, name),
    )


def batch_join(
    tensors_list,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """batch() with a thread for each item of a list of tensors, lists or dicts."""
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    keep_input,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """shuffle_batch() of what `keep_input`, a bool or one for each row, lets through."""
    return _batch_of_one(
        "shuffle_batch",
        _shuffled(capacity, min_after_dequeue, seed, shared_name),
        tensors,
        keep_input,
        batch_size,
        num_threads,
        (enqueue_many, shapes, allow_smaller_final_batch, name),
    )


def shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """batch() in random order, out of at least `min_after_dequeue` examples."""
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    keep_input,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """shuffle_batch_join() of what `keep_input`, a bool or one for each row, lets through."""
    return _batch_of_several(
        "shuffle_batch_join",
        _shuffled(capacity, min_after_dequeue, seed, shared_name),
        tensors_list,
        keep_input,
        batch_size,
        (enqueue_many, shapes, allow_smaller_final_batch, name),
    )


def shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
):
    """shuffle_batch() with a thread for each item of a list of tensors, lists or dicts."""
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )
