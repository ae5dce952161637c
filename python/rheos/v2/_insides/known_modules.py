"""The modules of TensorFlow that libraries know its classes by.

A library that must not import TensorFlow to ask whether a value is one of its own looks at the
name of the class and of its module. Where `tensorflow` means Rheos, these classes have the names
of the modules that TensorFlow 2 has them in, from which they can be imported too.
"""

from rheos.framework.eager import EagerTensor
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.operation import Tensor
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.ragged.ragged_tensor import RaggedTensor
from rheos.pipelines.dataset import DatasetV2

_MODULES = {
    DatasetV2: "data.ops.dataset_ops",
    EagerTensor: "framework.ops",
    IndexedSlices: "framework.indexed_slices",
    RaggedTensor: "ops.ragged.ragged_tensor",
    SparseTensor: "framework.sparse_tensor",
    Tensor: "framework.tensor",
}


def name_them():
    """Gives the classes the names of TensorFlow's modules."""
    for kind, module in _MODULES.items():
        kind.__module__ = "tensorflow.python." + module
