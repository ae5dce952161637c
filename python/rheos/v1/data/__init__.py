"""Input pipelines."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.pipelines.base import DatasetSpec
from rheos.pipelines.dataset_v1 import (
    DatasetV1 as Dataset,
    FixedLengthRecordDataset,
    TextLineDataset,
    TFRecordDataset,
)
from rheos.pipelines.iterators import (
    Iterator,
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from rheos.pipelines.options import Options
from rheos.v1.data import experimental

__getattr__ = _attribute_of("tensorflow.data")
