"""Layers that make categories of numbers and texts, and vectors of categories."""

import numpy as np

from rheos.framework import tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.framework.sparse_tensor import SparseTensor
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.defaults import floatx
from rheos.ops.array import array_ops, sparse_ops
from rheos.ops.io import string_ops
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor

_layer = objects.known("layer")


def as_input(x, dtype=None):
    """Tensors, composite ones too, as they are; else a tensor of that dtype."""
    if isinstance(x, (RaggedTensor, SparseTensor)):
        return x
    if values.is_tensor(x):
        x = convert_to_tensor(x)
        return x if dtype is None or x.dtype.base_dtype == dtype else math_ops.cast(x, dtype)
    return convert_to_tensor(x) if dtype is None else convert_to_tensor(np.asarray(x), dtype)


def check_output_mode(mode, allowed, layer):
    """The name of an output mode; ValueError where the layer has no such one."""
    mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(mode, mode)
    if mode not in allowed:
        raise ValueError(
            f"Unknown value for `output_mode` argument of layer {layer}. "
            f"Allowed values are: {allowed}. Received: {mode}"
        )
    return mode


def _is_single(x):
    return x.shape.ndims is not None and x.shape.ndims > 1 and x.shape.size_at(-1) == 1


def encoded(indices, mode, depth, dtype, sparse=False, weights=None):
    """Categories as they are ("int"), or as vectors of `depth` for each element or each row."""
    dtype = dtype or floatx()
    if mode == "int":
        return math_ops.cast(indices, dtype)
    if not isinstance(indices, (RaggedTensor, SparseTensor)) and indices.shape.ndims == 0:
        indices = array_ops.expand_dims(indices, -1)
    if mode == "one_hot":
        if _is_single(indices):
            indices = array_ops.squeeze(indices, axis=[-1])
        found = array_ops.one_hot(indices, depth, dtype=dtype)
    else:
        found = _counted(indices, mode, depth, dtype, weights)
    return sparse_ops.from_dense(found) if sparse else found


def _counted(indices, mode, depth, dtype, weights):
    """The number of each category in each row, or whether there is any."""
    rows = 0 if indices.shape.ndims in (None, 1) else indices.shape.ndims - 1
    is_multi = mode == "multi_hot"
    if isinstance(indices, SparseTensor):
        indices = sparse_ops.sparse_tensor_to_dense(indices, depth)
    if isinstance(indices, RaggedTensor):
        indices = indices.to_tensor(depth)  # which no count takes
    if rows > 1:
        ones = array_ops.one_hot(indices, depth, dtype=dtype)
        reduce = math_ops.reduce_max if is_multi else math_ops.reduce_sum
        return reduce(ones, axis=-2)
    kind = "float32" if weights is None else weights.dtype
    given = array_ops.zeros([0], kind) if weights is None else weights
    # Numbers beyond the depth are not counted; those below 0 are an error of the op.
    size = convert_to_tensor(depth, indices.dtype.base_dtype)
    found = op1("DenseBincount", None, indices, size, given, binary_output=is_multi)
    found.set_shape([depth] if rows == 0 else [indices.shape.size_at(0), depth])
    return math_ops.cast(found, dtype)


def encoded_shape(shape, mode, depth):
    """The shape of what encoded() gives for indices of a shape."""
    dims = tensor_shape.as_shape(shape).as_list()
    if mode == "int":
        return tensor_shape.TensorShape(dims)
    if mode == "one_hot" and not (len(dims) > 1 and dims[-1] == 1):
        return tensor_shape.TensorShape([*dims, depth])
    return tensor_shape.TensorShape([*dims[:-1], depth])


@_layer
class CategoryEncoding(Layer):
    """Vectors of whole numbers below `num_tokens`: one-hot, or counted in each row."""

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        super().__init__(**{"dtype": floatx(), **kwargs})
        if num_tokens is None:
            raise ValueError(
                "num_tokens must be set to use this layer. If the number of tokens is not known "
                "beforehand, use the IntegerLookup layer instead."
            )
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        modes = ("count", "one_hot", "multi_hot")
        self.output_mode = check_output_mode(output_mode, modes, type(self).__name__)
        self.num_tokens = num_tokens
        self.sparse = sparse

    def call(self, inputs, count_weights=None):
        inputs = as_input(inputs)
        if count_weights is not None:
            if self.output_mode != "count":
                raise ValueError(
                    "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                    f"`count_weights={count_weights}`."
                )
            count_weights = as_input(count_weights, floatx())
        if not isinstance(inputs, (RaggedTensor, SparseTensor)):
            if not inputs.dtype.base_dtype.is_integer:
                inputs = math_ops.cast(inputs, "int64")
        return encoded(
            inputs, self.output_mode, self.num_tokens, self.dtype, self.sparse, count_weights
        )

    def compute_output_shape(self, input_shape):
        return encoded_shape(input_shape, self.output_mode, self.num_tokens)

    def get_config(self):
        return {
            **super().get_config(),
            "num_tokens": self.num_tokens,
            "output_mode": self.output_mode,
        }


@_layer
class Hashing(Layer):
    """Categories by hashes of numbers or texts, below `num_bins`."""

    def __init__(
        self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs
    ):
        if kwargs.get("dtype") is None:
            kwargs["dtype"] = "int64" if output_mode == "int" else floatx()
        super().__init__(**kwargs)
        if num_bins is None or num_bins <= 0:
            raise ValueError(
                "The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
                f"num_bins={num_bins}."
            )
        modes = ("int", "one_hot", "multi_hot", "count")
        self.output_mode = check_output_mode(output_mode, modes, type(self).__name__)
        self.num_bins, self.mask_value, self.sparse = num_bins, mask_value, sparse
        self.salt = salt_of(salt, "Hashing")

    def call(self, inputs):
        inputs = as_input(inputs)
        if isinstance(inputs, RaggedTensor):
            indices = inputs.with_flat_values(self._hashed(inputs.flat_values))
        elif isinstance(inputs, SparseTensor):
            indices = SparseTensor(inputs.indices, self._hashed(inputs.values), inputs.dense_shape)
        else:
            indices = self._hashed(inputs)
        if self.output_mode == "int" and isinstance(indices, (RaggedTensor, SparseTensor)):
            return indices
        return encoded(indices, self.output_mode, self.num_bins, self.dtype, self.sparse)

    def _hashed(self, x):
        bins, mask = self.num_bins, None
        if self.mask_value is not None and bins > 1:
            bins -= 1
            mask = math_ops.equal(x, convert_to_tensor(self.mask_value, x.dtype.base_dtype))
        if x.dtype.base_dtype.is_floating:
            x = math_ops.cast(x, "int64")
        if x.dtype.base_dtype != "string":
            x = string_ops.as_string(x)
        found = hashed(x, bins, self.salt)
        if mask is None:
            return found
        found = found + 1
        return op1("SelectV2", None, mask, array_ops.zeros_like(found), found)

    def compute_output_shape(self, input_shape):
        return encoded_shape(input_shape, self.output_mode, self.num_bins)

    def get_config(self):
        names = ("num_bins", "salt", "mask_value", "output_mode", "sparse")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


def salt_of(salt, layer):
    """A salt as two numbers, None without one; ValueError for others."""
    if salt is None:
        return None
    if isinstance(salt, (tuple, list)) and len(salt) == 2:
        return list(salt)
    if isinstance(salt, int):
        return [salt, salt]
    raise ValueError(
        f"The `salt` argument for `{layer}` can only be a tuple of size 2 integers, or a single "
        f"integer. Received: salt={salt}."
    )


def hashed(x, bins, salt):
    """Hashes of texts below `bins`: with a salt strong ones."""
    if salt is None:
        return string_ops.string_to_hash_bucket_fast(x, bins)
    return string_ops.string_to_hash_bucket_strong(x, bins, salt)


@_layer
class HashedCrossing(Layer):
    """Categories by hashes of several columns together."""

    def __init__(self, num_bins, output_mode="int", sparse=False, name=None, dtype=None, **kwargs):
        dtype = "int64" if dtype is None and output_mode == "int" else dtype or floatx()
        super().__init__(name=name, dtype=dtype, **kwargs)
        modes = ("int", "one_hot")
        self.output_mode = check_output_mode(output_mode, modes, type(self).__name__)
        self.num_bins, self.sparse = num_bins, sparse

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            raise ValueError(
                "`HashedCrossing` should be called on a list of at least two inputs. Received: "
                f"inputs={inputs}"
            )
        inputs = [as_input(x) for x in inputs]
        first = inputs[0].shape
        for x in inputs:
            if x.shape.ndims > 2 or x.shape.ndims == 2 and x.shape.size_at(-1) != 1:
                raise ValueError(
                    "All `HashedCrossing` inputs should have shape `()`, `(batch_size)` or "
                    f"`(batch_size, 1)`. Received: inputs={inputs}"
                )
            if not (x.dtype.base_dtype.is_integer or x.dtype.base_dtype == "string"):
                raise ValueError(
                    "All `HashedCrossing` inputs should have an integer or string dtype. "
                    f"Received: inputs={inputs}"
                )
        columns = [array_ops.reshape(x, [-1, 1]) for x in inputs]
        crossed = sparse_ops.sparse_cross_hashed(columns, self.num_bins)
        outputs = sparse_ops.sparse_tensor_to_dense(crossed)
        outputs = array_ops.reshape(outputs, array_ops.shape(inputs[0]))
        outputs.set_shape(first)
        return encoded(outputs, self.output_mode, self.num_bins, self.dtype, self.sparse)

    def compute_output_shape(self, input_shape):
        return encoded_shape(input_shape[0], self.output_mode, self.num_bins)

    def get_config(self):
        return {
            "num_bins": self.num_bins,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": self.dtype,
        }


# ---- Bins of numbers


def _summary_of(numbers, epsilon):
    """Some of the sorted numbers, and how many each stands for, in rows of an array."""
    numbers = np.sort(np.reshape(numbers, [-1]))
    step = max(numbers.size * epsilon, 1)
    kept = numbers[int(step - 1) :: int(step)]
    return np.stack([kept, np.full_like(kept, step)])


def _compressed(summary, epsilon):
    """A summary with about 1 / epsilon columns."""
    if summary.shape[1] * epsilon < 1:
        return summary
    shares = epsilon + np.arange(0.0, 1.0, epsilon)
    totals = summary[1].cumsum()
    places = totals / totals[-1]
    bounds = np.interp(shares, places, summary[0])
    totals = np.interp(shares, places, totals)
    return np.stack((bounds, np.diff(totals, prepend=0))).astype("float32")


def batches_of(data, steps=None):
    """The batches of what adapt() is given: a dataset, an iterable, or one array."""
    if hasattr(data, "element_spec") or hasattr(data, "_variant_tensor"):
        data = data.take(steps) if steps is not None else data
        yield from data
    elif hasattr(data, "__iter__") and not (
        isinstance(data, (list, tuple, np.ndarray)) or values.is_tensor(data)
    ):
        for i, batch in enumerate(data):
            if steps is not None and i >= steps:
                return
            yield batch
    else:
        yield data


@_layer
class Discretization(Layer):
    """The number of the bin of each number: bins by their boundaries, or learned by adapt()."""

    def __init__(
        self,
        bin_boundaries=None,
        num_bins=None,
        epsilon=0.01,
        output_mode="int",
        sparse=False,
        dtype=None,
        name=None,
    ):
        super().__init__(name=name, dtype=dtype or floatx())
        if num_bins is not None and bin_boundaries is not None:
            raise ValueError(
                "Both `num_bins` and `bin_boundaries` should not be set. Received: "
                f"`num_bins={num_bins}` and `bin_boundaries={bin_boundaries}`"
            )
        if num_bins is None and bin_boundaries is None:
            raise ValueError("You need to set either `num_bins` or `bin_boundaries`.")
        if num_bins is not None and num_bins < 0:
            raise ValueError(
                f"`num_bins` must be greater than or equal to 0. Received: `num_bins={num_bins}`"
            )
        modes = ("int", "one_hot", "multi_hot", "count")
        self.output_mode = check_output_mode(output_mode, modes, type(self).__name__)
        self.bin_boundaries, self.num_bins, self.epsilon = bin_boundaries, num_bins, epsilon
        self.sparse = sparse
        self.reset_state()

    def reset_state(self):
        """Forgets the data of adapt()."""
        self.summary = np.zeros((2, 0), "float32")

    def adapt(self, data, steps=None):
        """Learns the boundaries of bins with about as many numbers each."""
        if self.num_bins is None:
            raise ValueError(
                "Cannot adapt a Discretization layer that has been initialized with "
                "`bin_boundaries`, use `num_bins` instead."
            )
        self.reset_state()
        for batch in batches_of(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data):
        """Takes a batch into account."""
        numbers = np.asarray(data).astype("float32")
        joined = np.concatenate((_summary_of(numbers, self.epsilon), self.summary), axis=1)
        joined = np.take(joined, np.argsort(joined[0]), axis=1)
        self.summary = _compressed(joined, self.epsilon)

    def finalize_state(self):
        """Sets the boundaries by the batches so far."""
        if self.num_bins is not None:
            self.bin_boundaries = _compressed(self.summary, 1.0 / self.num_bins)[0, :-1].tolist()

    def call(self, inputs):
        if self.bin_boundaries is None:
            raise ValueError(
                "You need to either pass the `bin_boundaries` argument at construction time or "
                "call `adapt(dataset)` before you can start using the `Discretization` layer."
            )
        inputs = as_input(inputs)
        bounds = [float(b) for b in self.bin_boundaries]
        if inputs.dtype.base_dtype.is_integer and inputs.dtype.base_dtype not in ("int32", "int64"):
            inputs = math_ops.cast(inputs, "int32")
        indices = op1("Bucketize", None, inputs, boundaries=bounds)
        dtype = "int32" if self.output_mode == "int" else self.dtype
        return encoded(indices, self.output_mode, len(bounds) + 1, dtype, self.sparse)

    def compute_output_shape(self, input_shape):
        bounds = self.bin_boundaries
        depth = self.num_bins if bounds is None else len(bounds) + 1
        return encoded_shape(input_shape, self.output_mode, depth)

    def get_config(self):
        names = ("bin_boundaries", "num_bins", "epsilon", "output_mode", "sparse", "name", "dtype")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        bounds = config.get("bin_boundaries")
        if bounds is None or config.get("num_bins") is None:
            return cls(**config)
        layer = cls(**{**config, "bin_boundaries": None})
        layer.bin_boundaries = bounds
        return layer
