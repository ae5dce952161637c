"""Input pipelines of tf.contrib.data: the names from before tf.data.experimental."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.pipelines.dataset import AUTOTUNE
from rheos.pipelines.dataset_v1 import (
    Counter,
    CsvDataset,
    RandomDataset,
    SqlDataset,
    make_batched_features_dataset,
    make_csv_dataset,
)
from rheos.pipelines.grouping import Reducer
from rheos.pipelines.mixing import choose_from_datasets, sample_from_datasets
from rheos.pipelines.optional import Optional, get_next_as_optional
from rheos.pipelines.saving import make_saveable_from_iterator
from rheos.pipelines.transformations import (
    assert_element_shape,
    batch_and_drop_remainder,
    bucket_by_sequence_length,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    map_and_batch,
    padded_batch_and_drop_remainder,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    scan,
    shuffle_and_repeat,
    sliding_window_batch,
    sloppy_interleave,
    unbatch,
    unique,
)

__getattr__ = _attribute_of("tensorflow.contrib.data")
