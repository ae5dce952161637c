"""Datasets as TensorFlow 1 has them: iterators are nodes, elements have types, shapes, classes."""

import functools

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.pipelines import functional, iterators, nest, readers, structure, tables, transformations
from rheos.pipelines.dataset import DatasetV2


class DatasetV1(DatasetV2):
    """A pipeline of TensorFlow 1. A class derived from it says its own by `_as_variant_tensor`,
    `_inputs` and `element_spec`."""

    _map_preserves_cardinality = False
    _shuffle_and_repeat_attrs = {}
    _shuffled = None  # of a dataset that is shuffled anew each time: what it shuffles, and how

    def __init__(self):
        variant = self._as_variant_tensor()
        self._set(variant, getattr(self, "_element_spec", None), (), type(self).__name__)

    def _as_variant_tensor(self):
        """The tensor of the dataset, of a class that is derived from this one."""
        raise NotImplementedError(f"{type(self)}.as_variant_tensor()")

    def __repr__(self):
        name = "DatasetV1Adapter" if type(self) is DatasetV1 else type(self).__name__
        return (
            f"<{name} shapes: {_written(self.output_shapes, str)}, "
            f"types: {_written(self.output_types, repr)}>"
        )

    __str__ = __repr__

    def repeat(self, count=None, name=None):
        """The elements `count` times; without an end if it is None or -1.

        What is shuffled is shuffled across the times, as TensorFlow 1.15 does where its
        optimizations are on.
        """
        if self._shuffled is None:
            return super().repeat(count)
        source, inputs = self._shuffled
        count = convert_to_tensor(-1 if count is None else count, dtypes.int64, name="count")
        return source._derive("ShuffleAndRepeatDataset", *inputs, count)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """The elements in another order: see Dataset.shuffle."""
        shuffled = super().shuffle(buffer_size, seed, reshuffle_each_iteration)
        if reshuffle_each_iteration in (None, True):
            shuffled._shuffled = self, list(shuffled._variant_tensor.op.inputs)[1:]
        return shuffled

    def make_one_shot_iterator(self):
        """An iterator that goes over it once: see rheos.pipelines.iterators."""
        return iterators.make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator that goes over it whenever its initializer is run."""
        return iterators.make_initializable_iterator(self, shared_name)

    @property
    def output_classes(self):
        """The classes of an element's values."""
        return structure.legacy_classes(self.element_spec)

    @property
    def output_shapes(self):
        """The shapes of an element's values."""
        return structure.legacy_shapes(self.element_spec)

    @property
    def output_types(self):
        """The dtypes of an element's values."""
        return structure.legacy_types(self.element_spec)

    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None):
        """The map method."""
        return functional.map_dataset(self, map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate):
        """The filter method."""
        return functional.filter_dataset(self, predicate)


def _written(values, how):
    """A structure of shapes or dtypes as TensorFlow 1 writes it."""
    return str(nest.map_up_to(values, how, values)).replace("'", "")


DatasetV1._face = DatasetV1


# ---- Sources that are functions or classes of their own


def _reader(kind):
    """The class of a dataset of files as TensorFlow 1 has it."""

    class Reader(kind, DatasetV1):
        __doc__ = kind.__doc__

    Reader.__name__ = Reader.__qualname__ = kind.__name__.replace("V2", "V1")
    return Reader


TextLineDataset = _reader(readers.TextLineDatasetV2)
TFRecordDataset = _reader(readers.TFRecordDatasetV2)
FixedLengthRecordDataset = _reader(readers.FixedLengthRecordDatasetV2)


CsvDataset = _reader(tables.CsvDatasetV2)


def SqlDataset(driver_name, data_source_name, query, output_types):
    """The rows of the answer to a query: tuples of scalars of `output_types`."""
    return tables.sql_dataset(DatasetV1, driver_name, data_source_name, query, output_types)


make_csv_dataset = functools.partial(tables.make_csv_dataset, DatasetV1)
make_batched_features_dataset = functools.partial(tables.make_batched_features_dataset, DatasetV1)


def RandomDataset(seed=None):
    """Pseudorandom integers from 0 up to 2^32, without an end."""
    return DatasetV1.random(seed)


def Counter(start=0, step=1, dtype=dtypes.int64):
    """The numbers from `start` on by `step`, without an end."""
    return transformations.counter(DatasetV1, start, step, dtype)
