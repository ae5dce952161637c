"""Arrays and tables as input functions: threads feed their rows to a queue."""

import numpy as np

from rheos.framework import dtypes, errors
from rheos.framework.graph import name_scope
from rheos.ops.array import array_ops
from rheos.ops.array.cast_ops import cast
from rheos.ops.data_flow.data_flow_ops import FIFOQueue, RandomShuffleQueue
from rheos.ops.io import summary_ops
from rheos.ops.math import math_ops
from rheos.training.coordinator import add_queue_runner
from rheos.training.queue_runner import QueueRunner

TARGET = "__target_key__"


class _RowFeeder:
    """What one thread feeds next: rows of all arrays, epoch after epoch."""

    def __init__(self, placeholders, arrays, size, random_start, num_epochs):
        self._placeholders, self._arrays, self._size = placeholders, arrays, size
        self._num_rows = len(arrays[0])
        self._num_epochs, self._epoch = num_epochs, 0
        self._next = int(np.random.randint(self._num_rows)) if random_start else 0
        self._last = (self._next - 1) % self._num_rows

    def _rows(self):
        if self._num_epochs is not None and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
        rows = (np.arange(self._next, self._next + self._size)) % self._num_rows
        self._next = int(rows[-1] + 1) % self._num_rows
        ends = np.flatnonzero(rows == self._last)
        self._epoch += len(ends)
        if self._num_epochs is None or self._epoch < self._num_epochs:
            return rows
        too_many = self._epoch - self._num_epochs
        self._epoch = self._num_epochs
        return rows[: ends[len(ends) - 1 - too_many] + 1]

    def __call__(self):
        rows = self._rows()
        return dict(zip(self._placeholders, [rows, *(array[rows] for array in self._arrays)]))


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose enqueue operations are fed by functions, one for each of them."""

    def __init__(self, queue, enqueue_ops, feed_fns):
        super().__init__(queue, enqueue_ops)
        self._feed_fns = dict(zip(enqueue_ops, feed_fns))

    def _enqueue(self, sess, enqueue_op):
        feed = self._feed_fns[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_dict=feed())


def _enqueue_arrays(arrays, capacity, shuffle, num_threads, size, num_epochs):
    """A queue of (row number, row of each array), which queue runners fill."""
    types = [dtypes.int64, *(dtypes.as_dtype(array.dtype) for array in arrays)]
    shapes = [(), *(array.shape[1:] for array in arrays)]
    least = capacity // 4 if shuffle else 0
    with name_scope("enqueue_input"):
        if shuffle:
            queue = RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes)
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        operations, feeders = [], []
        for _ in range(num_threads):
            placeholders = [array_ops.placeholder(dtype) for dtype in types]
            operations.append(queue.enqueue_many(placeholders))
            feeders.append(_RowFeeder(placeholders, arrays, size, shuffle, num_epochs))
        add_queue_runner(FeedingQueueRunner(queue, operations, feeders))
        filled = cast(math_ops.maximum(0, queue.size() - least), dtypes.float32)
        name = f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full"
        summary_ops.scalar(name, filled * (1.0 / (capacity - least)))
    return queue


def _checked(batch_size, shuffle, num_epochs):
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )
    if num_epochs is not None and num_epochs < 0:
        raise ValueError(f"num_epochs must be >= 0, got {num_epochs}")
    if batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}. It must be greater than zero.")


def _batch(arrays, batch_size, num_epochs, shuffle, queue_capacity, num_threads):
    queue = _enqueue_arrays(arrays, queue_capacity, shuffle, num_threads, batch_size, num_epochs)
    taken = (queue.dequeue_many if num_epochs is None else queue.dequeue_up_to)(batch_size)
    return taken[1:]


def _same_rows(named):
    lengths = {name: len(array) for name, array in named.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Length of tensors in x and y is mismatched. Shapes: {lengths}")


def numpy_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1
):
    """An input function of arrays: features `x`, an array or a dict of them, and targets `y`.

    num_epochs: how often each row comes; None: for ever. shuffle: True or False must be said.
    """
    _checked(batch_size, shuffle, num_epochs)

    def input_fn():
        if not isinstance(x, (dict, np.ndarray)):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        if isinstance(x, dict) and not x:
            raise ValueError("x cannot be an empty dict")
        if isinstance(y, dict) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        features = dict(sorted(x.items())) if isinstance(x, dict) else {"__direct_np_input__": x}
        targets = dict(sorted(y.items())) if isinstance(y, dict) else {}
        if y is not None and not isinstance(y, dict):
            targets = {TARGET: np.asarray(y)}
        features = {key: np.asarray(value) for key, value in features.items()}
        both = set(features) & set(targets)
        if both:
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        arrays = {**features, **{key: np.asarray(value) for key, value in targets.items()}}
        _same_rows(arrays)
        taken = _batch(
            list(arrays.values()), batch_size, num_epochs, shuffle, queue_capacity, num_threads
        )
        batch = dict(zip(arrays, taken))
        given = {key: batch[key] for key in features}
        given = given if isinstance(x, dict) else taken[0]
        if y is None:
            return given
        return given, {key: batch[key] for key in y} if isinstance(y, dict) else batch[TARGET]

    return input_fn


def pandas_input_fn(
    x,
    y=None,
    batch_size=128,
    num_epochs=1,
    shuffle=None,
    queue_capacity=1000,
    num_threads=1,
    target_column="target",
):
    """An input function of a pandas DataFrame, whose columns are the features, and a Series `y`."""
    _checked(batch_size, shuffle, num_epochs)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    if y is not None:
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a "
                f"column with that name: {x.columns}"
            )
        if not np.array_equal(x.index, y.index):
            raise ValueError("Index for x and y are mismatched.")

    def input_fn():
        columns = [np.asarray(x[name]) for name in x.columns]
        arrays = columns + ([np.asarray(y)] if y is not None else [])
        taken = _batch(arrays, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        features = dict(zip(x.columns, taken))
        return features if y is None else (features, taken[-1])

    return input_fn
