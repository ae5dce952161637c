"""Sparse tensors: indices and values of the elements that are there."""

import collections

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value_as_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_session
from rheos.framework.graph import name_scope
from rheos.framework.marks import CompositeTensor
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape

SparseTensorValue = collections.namedtuple("SparseTensorValue", "indices values dense_shape")


class SparseTensor(CompositeTensor):
    """Elements `values` (n,) at `indices` (n, rank), in row-major order, of shape `dense_shape`.

    >>> few = tf.SparseTensor(indices=[[0, 1]], values=[5], dense_shape=[2, 2])
    >>> print(tf.sparse.to_dense(few).numpy())
    [[0 5]
     [0 0]]
    """

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A SparseTensor of a SparseTensorValue, or the SparseTensor that was given."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not is_sparse(sparse_tensor_value):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return SparseTensor(*sparse_tensor_value)

    def __init__(self, indices, values, dense_shape):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            values = convert_to_tensor(values, name="values")
            dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices, self._values, self._dense_shape = indices, values, dense_shape
        self._known_shape = None
        places, count = indices.shape.with_rank(2), values.shape.with_rank(1)
        rank = dense_shape.shape.with_rank(1)
        places[:1].assert_is_compatible_with(count)
        places[1:].assert_is_compatible_with(rank)

    def consumers(self):
        """The operations that take one of its parts."""
        return list(dict.fromkeys(op for part in self._parts for op in part.consumers()))

    @property
    def _parts(self):
        return [self.indices, self.values, self.dense_shape]

    @classmethod
    def _of_parts(cls, parts, known_shape=None):
        """One of its parts, which may be specs that stand for tensors."""
        made = cls.__new__(cls)
        made._indices, made._values, made._dense_shape = parts
        made._known_shape = known_shape
        return made

    def _with_parts(self, parts):
        known = None if isinstance(self._indices, Tensor) else self._known_shape
        if not all(isinstance(part, Tensor) for part in parts):
            return self._of_parts(parts, known)
        made = SparseTensor(*parts)
        return made if known is None else made._with_shape(known)

    @property
    def _static_part(self):
        """What specs in the place of tensors do not tell: the sizes that are known."""
        shape = None if isinstance(self._indices, Tensor) else self._known_shape
        return None if shape is None or shape.ndims is None else tuple(shape.as_list())

    def _shapes_of_parts(self, shape):
        """The shapes of the parts where `shape` is that of the vector `dense_shape`."""
        if shape.ndims is not None and shape.ndims != 1:
            raise ValueError("Expected a shape with 1 dimension")
        rank = None if shape.ndims is None else shape.as_list()[0]
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]

    @property
    def indices(self):
        """Where the values are, [n, rank]: int64, in the order of rows."""
        return self._indices

    @property
    def values(self):
        """The values, [n]: a tensor of any dtype."""
        return self._values

    @property
    def dense_shape(self):
        """The shape of the whole, [rank]: an int64 tensor."""
        return self._dense_shape

    @property
    def shape(self):
        """What is known of the shape of the whole: a TensorShape."""
        return self.get_shape()

    def get_shape(self):
        """What is known of the dense shape."""
        if not isinstance(self._dense_shape, Tensor):  # a spec
            return self._known_shape
        shape = constant_value_as_shape(self._dense_shape)
        return shape if self._known_shape is None else shape.merge_with(self._known_shape)

    def _with_shape(self, shape):
        """Itself, now known to have this shape."""
        self._known_shape = shape
        return self

    def set_shape(self, shape):
        """Adds to what is known about the dense shape; ValueError if it contradicts that."""
        self._known_shape = self.get_shape().merge_with(shape)

    def with_values(self, new_values):
        """A sparse tensor with other values at the same indices."""
        made = SparseTensor(self._indices, new_values, self._dense_shape)
        return made if self._known_shape is None else made._with_shape(self._known_shape)

    def numpy(self):
        """The value as a SparseTensorValue of arrays."""
        return SparseTensorValue(*(part.numpy() for part in self._parts))

    @property
    def op(self):
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._values.dtype

    @property
    def graph(self):
        """The graph of the values."""
        return self._values.graph

    def __str__(self):
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    __repr__ = __str__

    def eval(self, feed_dict=None, session=None):
        """The value as a SparseTensorValue."""
        session = session or get_default_session()
        if session is None:
            raise ValueError("Cannot evaluate a SparseTensor: no session is given or registered.")
        return session.run(self, feed_dict)


def is_sparse(x):
    """Whether x is a SparseTensor or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """A SparseTensor for a sparse value, else a Tensor."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype=dtype, name=name)
    if dtype is not None and dtype.base_dtype != value.dtype.base_dtype:
        raise RuntimeError(f"Sparse dtype: requested = {dtype.name}, actual = {value.dtype.name}")
    return value


def values_of(x):
    """The dense tensor of values behind x, and what makes a result for x of results for these."""
    if isinstance(x, SparseTensor):
        return x.values, lambda values: SparseTensor(x.indices, values, x.dense_shape)
    return x if isinstance(x, Tensor) else convert_to_tensor(x), lambda values: values
