"""Input pipelines: what TensorFlow 1 called experimental."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.sparse_tensor_spec import SparseTensorSpec as _SparseTensorSpec
from rheos.framework.tensor_spec import TensorSpec as _TensorSpec, TypeSpec as Structure
from rheos.ops.ragged_tensor_spec import RaggedTensorSpec as _RaggedTensorSpec
from rheos.ops.tensor_array_spec import TensorArraySpec as _TensorArraySpec
from rheos.pipelines.base import (
    DatasetSpec as DatasetStructure,
    from_variant,
    to_variant,
)
from rheos.pipelines.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from rheos.pipelines.dataset_v1 import (
    Counter,
    CsvDataset,
    RandomDataset,
    SqlDataset,
    make_batched_features_dataset,
    make_csv_dataset,
)
from rheos.pipelines.files import TFRecordWriter
from rheos.pipelines.grouping import Reducer
from rheos.pipelines.iterators import get_structure
from rheos.pipelines.mixing import choose_from_datasets, sample_from_datasets
from rheos.pipelines.optional import (
    Optional,
    OptionalSpec as OptionalStructure,
    get_next_as_optional,
)
from rheos.pipelines.options import (
    DistributeOptions,
    MapVectorizationOptions,
    OptimizationOptions,
    StatsAggregator,
    StatsOptions,
    ThreadingOptions,
)
from rheos.pipelines.saving import make_saveable_from_iterator
from rheos.pipelines.transformations import (
    bucket_by_sequence_length,
    bytes_produced_stats,
    cardinality,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    latency_stats,
    map_and_batch,
    map_and_batch as map_and_batch_with_legacy_function,
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


def RaggedTensorStructure(dtype, shape, ragged_rank):
    """The spec of ragged tensors of a dtype, a shape and a number of ragged dimensions."""
    return _RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):
    """The spec of arrays of tensors of a dtype and a shape."""
    return _TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


def TensorStructure(dtype, shape):
    """The spec of tensors of a dtype and a shape."""
    return _TensorSpec(shape, dtype)


def SparseTensorStructure(dtype, shape):
    """The spec of sparse tensors of a dtype and a shape."""
    return _SparseTensorSpec(shape, dtype)


__getattr__ = _attribute_of("tensorflow.data.experimental")
