"""Crosses of features of which some are ragged."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op_list
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor, is_ragged

_HASH_KEY = 0xDECAFCAFFE


def cross(inputs, name=None):
    """Every combination of one feature of each input, row by row, joined by "_X_".

    inputs: a list of RaggedTensors (batch, any), SparseTensors and tensors (batch, any) of strings
    or integers; ValueError for others. Returns a RaggedTensor of strings. InvalidArgumentError when
    it runs and the inputs differ in their batch.
    """
    return _crossed(inputs, False, 0, None, name)


def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """cross(), with a fingerprint of int64 for each combination.

    num_buckets: the fingerprint is taken modulo this, if it is not 0. hash_key: changes the way in
    which the fingerprints of the features are combined.
    """
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _of_kind(values, i):
    """The strings or integers of input i, these as int64."""
    if values.dtype != dtypes.string and not values.dtype.is_integer:
        raise ValueError(f"Unexpected dtype for inputs[{i}]: {values.dtype}")
    return values if values.dtype == dtypes.string else math_ops.cast(values, dtypes.int64)


def _crossed(inputs, hashed, num_buckets, hash_key, name):
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if hash_key is None or hash_key == 0:
        hash_key = _HASH_KEY
    ragged, sparse, dense, order = [], [], [], ""
    splits_dtype = dtypes.int64
    with name_scope(name, "RaggedCross", list(inputs)):
        for i, value in enumerate(inputs):
            if is_ragged(value):
                if value.ragged_rank != 1 or value.flat_values.shape.rank not in (1, None):
                    raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
                ragged.append((_of_kind(value.values, i), value.row_splits))
                splits_dtype = value.row_splits.dtype if len(ragged) == 1 else splits_dtype
                order += "R"
            elif isinstance(value, SparseTensor):
                sparse.append((value.indices, _of_kind(value.values, i), value.dense_shape))
                order += "S"
            else:
                value = convert_to_tensor(value)
                if value.shape.rank not in (2, None):
                    raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
                dense.append(_of_kind(value, i))
                order += "D"
        if any(splits.dtype != splits_dtype for _, splits in ragged):
            splits_dtype = dtypes.int64
        values, splits = op_list(
            "RaggedCross",
            None,
            [v for v, _ in ragged],
            [s for _, s in ragged],
            [i for i, _, _ in sparse],
            [v for _, v, _ in sparse],
            [s for _, _, s in sparse],
            dense,
            Nsparse=len(sparse),
            input_order=order,
            hashed_output=hashed,
            num_buckets=num_buckets,
            hash_key=hash_key,
            ragged_values_types=[v.dtype for v, _ in ragged],
            ragged_splits_types=[s.dtype for _, s in ragged],
            sparse_values_types=[v.dtype for _, v, _ in sparse],
            dense_types=[v.dtype for v in dense],
            out_values_type=dtypes.int64 if hashed else dtypes.string,
            out_row_splits_type=splits_dtype,
        )
        return RaggedTensor.from_row_splits(values, splits, validate=False)
