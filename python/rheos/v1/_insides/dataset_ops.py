"""Datasets: tensorflow.python.data.ops.dataset_ops."""

from rheos.pipelines.dataset import DatasetV2
from rheos.pipelines.dataset_v1 import DatasetV1, DatasetV1 as Dataset
