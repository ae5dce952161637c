"""Input pipelines: what TensorFlow 1 called experimental."""

from rheos.framework.sparse_tensor_spec import SparseTensorSpec as _SparseTensorSpec
from rheos.framework.tensor_spec import TensorSpec as _TensorSpec
from rheos.ops.flow.tensor_array_spec import TensorArraySpec as _TensorArraySpec
from rheos.ops.ragged.ragged_tensor_spec import RaggedTensorSpec as _RaggedTensorSpec
from rheos.v1._names import fill as _fill

_fill(__name__)


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
