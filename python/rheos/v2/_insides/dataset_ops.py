"""tensorflow.python.data.ops.dataset_ops: datasets."""

from rheos.pipelines.dataset import DatasetV2

Dataset = DatasetV2
