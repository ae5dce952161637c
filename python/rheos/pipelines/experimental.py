"""Input pipelines: what TensorFlow 2 calls experimental."""

import functools

from rheos.framework import dtypes
from rheos.pipelines import tables
from rheos.pipelines.base import from_variant, to_variant  # noqa: F401
from rheos.pipelines.dataset import (  # noqa: F401
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    DatasetV2,
)
from rheos.pipelines.elements import at, from_list as _from_list, pad_to_cardinality  # noqa: F401
from rheos.pipelines.files import TFRecordWriter  # noqa: F401
from rheos.pipelines.grouping import Reducer  # noqa: F401
from rheos.pipelines.iterators import get_structure  # noqa: F401
from rheos.pipelines.mixing import choose_from_datasets, sample_from_datasets  # noqa: F401
from rheos.pipelines.optional import Optional, get_next_as_optional  # noqa: F401
from rheos.pipelines.options import (  # noqa: F401
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from rheos.pipelines.saving import make_saveable_from_iterator  # noqa: F401
from rheos.pipelines.table_initializers import (  # noqa: F401
    DatasetInitializer,
    index_table_from_dataset,
    table_from_dataset,
)
from rheos.pipelines.tables import CsvDatasetV2 as CsvDataset  # noqa: F401
from rheos.pipelines.transformations import (  # noqa: F401
    assert_cardinality,
    bucket_by_sequence_length,
    cardinality,
    copy_to_device,
    counter,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    scan,
    shuffle_and_repeat,
    take_while,
    unbatch,
    unique,
)

SHARD_HINT = -1

make_csv_dataset = functools.partial(tables.make_csv_dataset, DatasetV2)
make_batched_features_dataset = functools.partial(tables.make_batched_features_dataset, DatasetV2)


def SqlDataset(driver_name, data_source_name, query, output_types):
    """The rows of the answer to a query: tuples of scalars of `output_types`."""
    return tables.sql_dataset(DatasetV2, driver_name, data_source_name, query, output_types)


def from_list(elements, name=None):
    """The elements of a list, which have one structure; shapes may differ."""
    return _from_list(DatasetV2, elements)


def enable_debug_mode():
    """Nothing: functions of datasets run as the program wrote them only where it says so, by
    tf.config.run_functions_eagerly()."""


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """The save method of a dataset."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    """The load method of datasets."""
    return DatasetV2.load(path, element_spec, compression, reader_func)


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    """A transformation: the snapshot method."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def Counter(start=0, step=1, dtype=dtypes.int64):
    """The numbers from `start` on by `step`, without an end."""
    return counter(DatasetV2, start, step, dtype)


def RandomDataset(seed=None, rerandomize_each_iteration=None, name=None):
    """Pseudorandom integers from 0 up to 2^32, without an end."""
    return DatasetV2.random(seed, rerandomize_each_iteration)
