"""slim's data: what a dataset of files is, readers in parallel, and providers of its items."""

from contextlib import contextmanager

from rheos.framework import dtypes as _dtypes, gfile
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.ops.data_flow.data_flow_ops import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from rheos.ops.io import summary_ops
from rheos.ops.io.reader_ops import ReaderBase
from rheos.ops.math import math_ops
from rheos.training.coordinator import Coordinator, add_queue_runner, start_queue_runners
from rheos.training.input import string_input_producer
from rheos.training.queue_runner import QueueRunner

_RUNNING = "slim_queue_runners"  # a collection that is not empty within QueueRunners()


class Dataset:
    """What a dataset is: files, the class of their reader, the decoder of records, and how many.

    Each keyword is an attribute.
    """

    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        self.__dict__.update(
            kwargs,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )


class DataDecoder:
    """What makes items of a record."""

    def decode(self, data, items):
        """Tensors for some items."""
        raise NotImplementedError

    def list_items(self):
        """The names of all items."""
        raise NotImplementedError


class DataProvider:
    """Tensors of items by name."""

    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items):
        """The tensors of a list of items."""
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(
                    f"Item [{item}] is invalid. Valid entries include: {self.list_items()}"
                )
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self):
        """How many samples there are."""
        return self._num_samples


# ---- Readers


def get_data_files(data_sources):
    """The files of a path, a pattern, or a list of these."""
    if isinstance(data_sources, (list, tuple)):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        files = gfile.Glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files


class ParallelReader(ReaderBase):
    """Readers that put what they read in one queue, from which reading takes it."""

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        wanted = [_dtypes.string] * 2
        if [dtype.base_dtype for dtype in common_queue.dtypes] != wanted:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    num_readers = property(lambda self: len(self._readers), doc="How many readers there are.")
    common_queue = property(lambda self: self._common_queue, doc="The queue of what was read.")

    def read(self, queue, name=None):
        """(key, record) of the files in a queue of their names."""
        self._fill_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """(keys, records) of the same, at most that many."""
        self._fill_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _fill_from(self, queue):
        enqueued = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueued))

    def num_records_produced(self, name=None):
        """How many records were read, by all readers."""
        return math_ops.add_n([r.num_records_produced() for r in self._readers], name=name)

    def num_work_units_completed(self, name=None):
        """How many files were read, by all readers."""
        return math_ops.add_n([r.num_work_units_completed() for r in self._readers], name=name)


def _tell_fill(queue, capacity):
    filled = math_ops.cast(queue.size(), _dtypes.float32) * (1.0 / capacity)
    summary_ops.scalar(f"fraction_of_{capacity}_full", filled)


def parallel_read(
    data_sources,
    reader_class,
    num_epochs=None,
    num_readers=4,
    reader_kwargs=None,
    shuffle=True,
    dtypes=None,
    capacity=256,
    min_after_dequeue=128,
    seed=None,
    scope=None,
):
    """(key, record) of files that several readers read into a queue, shuffled or not."""
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        dtypes = dtypes or [_dtypes.string, _dtypes.string]
        if shuffle:
            queue = RandomShuffleQueue(
                capacity=capacity,
                min_after_dequeue=min_after_dequeue,
                dtypes=dtypes,
                seed=seed,
                name="common_queue",
            )
        else:
            queue = FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        _tell_fill(queue, capacity)
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """(key, record) of files, once and in order."""
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(names)


# ---- Providers


class DatasetDataProvider(DataProvider):
    """The items of a Dataset, read by queue runners; `record_key` is the record's key."""

    def __init__(
        self,
        dataset,
        num_readers=1,
        reader_kwargs=None,
        shuffle=True,
        num_epochs=None,
        common_queue_capacity=256,
        common_queue_min=128,
        record_key="record_key",
        seed=None,
        scope=None,
    ):
        key, record = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        names = dataset.decoder.list_items()
        items = dict(zip(names, dataset.decoder.decode(record, names)))
        if record_key in items:
            raise ValueError(
                f"The item name used for `record_key` cannot also be used for an item: {record_key}"
            )
        items[record_key] = key
        super().__init__(items, dataset.num_samples)


def prefetch_queue(
    tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None
):
    """A queue that runners fill with tensors, a list or a dict, to be dequeued."""
    names = sorted(tensors) if isinstance(tensors, dict) else None
    in_order = list(tensors) if names is None else [tensors[key] for key in names]
    with name_scope(name, "prefetch_queue", in_order):
        queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(
            capacity=capacity,
            dtypes=[tensor.dtype for tensor in in_order],
            shapes=[tensor.shape for tensor in in_order],
            names=names,
            shared_name=shared_name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        _tell_fill(queue, capacity)
        return queue


class NestedQueueRunnerError(Exception):
    """QueueRunners() within QueueRunners()."""


@contextmanager
def QueueRunners(session):
    """Runs the queue runners while what is in the context runs; then they have ended."""
    if not get_default_graph().get_collection(_RUNNING):
        get_default_graph().add_to_collection(_RUNNING, True)
    else:
        raise NestedQueueRunnerError("QueueRunners cannot be nested: they run already")
    coordinator = Coordinator()
    threads = start_queue_runners(sess=session, coord=coordinator, daemon=True, start=True)
    try:
        yield
    finally:
        get_default_graph().clear_collection(_RUNNING)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=120)
