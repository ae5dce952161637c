"""Columns that give numbers: features as they are, in buckets, rows of tables, counts of ids."""

import math
import weakref
from collections import namedtuple

import numpy as np

from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import executing_eagerly
from rheos.framework.op_call import op1
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.feature_columns import (
    CategoricalColumn,
    DenseColumn,
    SequenceCategoricalColumn,
    SequenceColumn,
    WeightedCategoricalColumn,
    _check_key,
)
from rheos.ops.array import array_ops, embedding_ops, segment_ops, sparse_ops
from rheos.ops.io import parsing_ops
from rheos.ops.math import math_ops
from rheos.ops.state.init_ops import truncated_normal_initializer

# ---- Numbers


def _number_of(column, tensor):
    if isinstance(tensor, SparseTensor):
        raise ValueError(
            "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
            f"supported. key: {column.key}"
        )
    if column.normalizer_fn is not None:
        tensor = column.normalizer_fn(tensor)
    return math_ops.cast(tensor, dtypes.float32)


class NumericColumn(
    DenseColumn, namedtuple("NumericColumn", "key shape default_value dtype normalizer_fn")
):
    """A feature as it is."""

    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self):
        return TensorShape(self.shape)

    def transform(self, features):
        return _number_of(self, features.get(self.key))


class BucketizedColumn(
    DenseColumn, CategoricalColumn, namedtuple("BucketizedColumn", "source_column boundaries")
):
    """In which of the buckets between boundaries numbers are: one-hot, or as ids."""

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self):
        return self.source_column.parse_example_spec

    @property
    def _depth(self):
        return len(self.boundaries) + 1

    @property
    def variable_shape(self):
        return TensorShape([*self.source_column.shape, self._depth])

    @property
    def num_buckets(self):
        return self._depth * self.source_column.shape[0]

    def transform(self, features):
        numbers = features.get(self.source_column)
        return op1("Bucketize", None, numbers, boundaries=[float(x) for x in self.boundaries])

    def dense(self, features):
        buckets = math_ops.cast(features.get(self), dtypes.int64)
        return array_ops.one_hot(buckets, self._depth, 1.0, 0.0)

    def ids(self, features):
        buckets = features.get(self)
        rows, width = array_ops.shape(buckets)[0], self.source_column.shape[0]
        row = array_ops.tile(array_ops.expand_dims(math_ops.range(rows), 1), [1, width])
        row = array_ops.reshape(row, [-1])
        place = array_ops.tile(math_ops.range(width), [rows])
        ids = array_ops.reshape(buckets, [-1]) + self._depth * place
        indices = math_ops.cast(array_ops.stack([row, place], axis=1), dtypes.int64)
        shape = math_ops.cast(array_ops.stack([rows, width]), dtypes.int64)
        return SparseTensor(indices, ids, shape), None


def _steps_of(ids, size=1):
    """How many steps each row has: of `size` values each."""
    rows, counts = ids.indices[:, 0], ids.indices[:, 1] + 1
    steps = math_ops.cast(segment_ops.segment_max(counts, rows), dtypes.int64)
    if size != 1:
        steps = math_ops.floordiv(steps + (size - 1), size)
    missing = ids.dense_shape[:1] - array_ops.shape(steps, out_type=dtypes.int64)
    return array_ops.concat([steps, array_ops.zeros(missing, dtypes.int64)], 0)


class SequenceNumericColumn(
    SequenceColumn,
    namedtuple("SequenceNumericColumn", "key shape default_value dtype normalizer_fn"),
):
    """Numbers for each step of a sequence."""

    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    @property
    def variable_shape(self):
        """The shape of what a step gives."""
        return TensorShape(self.shape)

    def transform(self, features):
        numbers = features.get(self.key)
        return numbers if self.normalizer_fn is None else self.normalizer_fn(numbers)

    def sequence(self, features):
        numbers = features.get(self)
        dense = sparse_ops.sparse_tensor_to_dense(numbers, default_value=self.default_value)
        shape = array_ops.concat([array_ops.shape(dense)[:1], [-1], list(self.shape)], 0)
        size = math.prod(self.shape) if numbers.shape.ndims == 2 else 1
        return array_ops.reshape(dense, shape), _steps_of(numbers, size)


# ---- Rows of a table


def _only(column, wants_steps):
    """The column of ids below, which has to be one of steps or not."""
    ids = column.categorical_column
    if isinstance(ids, SequenceCategoricalColumn) == wants_steps:
        return ids
    raise ValueError(
        f"In {type(column).__name__} {column.name}: categorical_column must "
        f"{'' if wants_steps else 'not '}be of type SequenceCategoricalColumn. "
        "SequenceFeatures and sequence_input_layer take sequences, other layers all else. "
        f"Given (type {type(ids)}): {ids}"
    )


class _TableColumn(DenseColumn, SequenceColumn):
    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    @property
    def variable(self):
        shape = self.categorical_column.num_buckets, self.dimension
        return "embedding_weights", shape, self.initializer, self.trainable

    def transform(self, features):
        return features.get(self.categorical_column)

    def _rows(self, ids, weights, features):
        table = self._table(features)
        features.weights.restore(self, table)
        return embedding_ops.safe_embedding_lookup_sparse(
            table,
            ids,
            weights,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )

    def _table(self, features):
        return features.weights.variable(self)

    def dense(self, features):
        return self._rows(*_only(self, False).ids(features), features)

    def sequence(self, features):
        ids, weights = _only(self, True).ids(features)
        return self._rows(ids, weights, features), _steps_of(ids)


class EmbeddingColumn(
    _TableColumn,
    namedtuple(
        "EmbeddingColumn",
        "categorical_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt "
        "max_norm trainable",
    ),
):
    """Rows of a table of its own for ids, combined for each example."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_embedding"


class _SharedTable:
    """The table of several columns: a variable for each graph, and one for eager execution."""

    def __init__(self, name, dimension, initializer, checkpoint, trainable):
        self.name, self.dimension, self.initializer = name, dimension, initializer
        self.checkpoint, self.trainable = checkpoint, trainable
        self._of_graphs, self._eager = weakref.WeakKeyDictionary(), None

    def of(self, make):
        """The variable; made by `make` where there is none yet."""
        if executing_eagerly():
            if self._eager is None:
                self._eager = make()
            return self._eager
        graph = get_default_graph()
        if graph not in self._of_graphs:
            self._of_graphs[graph] = make()
        return self._of_graphs[graph]


class SharedEmbeddingColumn(
    _TableColumn, namedtuple("SharedEmbeddingColumn", "categorical_column table combiner max_norm")
):
    """Rows of a table that several columns have."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def scope_name(self):
        return self.table.name

    dimension = property(lambda self: self.table.dimension, doc="The width of a row.")
    initializer = property(lambda self: self.table.initializer, doc="Makes the first rows.")
    trainable = property(lambda self: self.table.trainable, doc="Whether rows are trained.")
    ckpt_to_load_from = property(lambda self: self.table.checkpoint[0], doc="A checkpoint.")
    tensor_name_in_ckpt = property(lambda self: self.table.checkpoint[1], doc="A name in it.")
    shared_embedding_collection_name = property(scope_name.fget, doc="The table's name.")

    def _table(self, features):
        return self.table.of(lambda: features.weights.variable(self))


class IndicatorColumn(
    DenseColumn, SequenceColumn, namedtuple("IndicatorColumn", "categorical_column")
):
    """How often each id occurs in an example, or the sum of its weights."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self):
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform(self, features):
        ids, weights = self.categorical_column.ids(features)
        depth = self.categorical_column.num_buckets
        if weights is None:
            dense = sparse_ops.sparse_tensor_to_dense(ids, default_value=-1)
            return math_ops.reduce_sum(array_ops.one_hot(dense, depth, 1.0, 0.0), axis=[-2])
        merged = sparse_ops.sparse_merge(ids, weights, vocab_size=depth)
        merged = sparse_ops.sparse_slice(merged, [0, 0], merged.dense_shape)
        return array_ops.scatter_nd(merged.indices, merged.values, merged.dense_shape)

    def dense(self, features):
        _only(self, False)
        return features.get(self)

    def sequence(self, features):
        ids, _ = _only(self, True).ids(features)
        return features.get(self), _steps_of(ids)


# ---- Making columns


def _checked_shape(shape, key):
    shape = tuple(shape) if isinstance(shape, (list, tuple, TensorShape)) else (shape,)
    made = []
    for size in shape:
        size = getattr(size, "value", size)
        if not isinstance(size, (int, np.integer)):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
        made.append(int(size))
    return tuple(made)


def _filled(shape, value):
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuples(value):
    return tuple(_as_tuples(x) for x in value) if isinstance(value, (list, tuple)) else value


def _checked_default(shape, value, dtype, key):
    if value is None:
        return None
    if hasattr(value, "tolist"):
        value = value.tolist()
    kinds = (int, float) if dtype.is_floating else (int,)
    if isinstance(value, kinds):
        return _filled(shape, value)
    if isinstance(value, (list, tuple)):
        array = np.array(value)
        if array.shape != shape:
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {value}, shape: {shape}, key: {key}"
            )
        if array.dtype.kind == "i" or array.dtype.kind == "f" and dtype.is_floating:
            return _as_tuples(value)
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {value}, dtype: {dtype}, key: {key}"
    )


def _checked_numbers(key, shape, dtype, normalizer_fn):
    shape = _checked_shape(shape, key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    _check_key(key)
    return shape


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    """The numbers of the feature `key`, after `normalizer_fn`, as float32.

    default_value: for examples without the feature.
    """
    dtype = dtypes.as_dtype(dtype)
    shape = _checked_numbers(key, shape, dtype, normalizer_fn)
    default_value = _checked_default(shape, default_value, dtype, key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


def sequence_numeric_column(
    key, shape=(1,), default_value=0.0, dtype=dtypes.float32, normalizer_fn=None
):
    """The numbers of a feature for each step of a sequence; `default_value` fills short ones."""
    dtype = dtypes.as_dtype(dtype)
    shape = _checked_numbers(key, shape, dtype, normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def bucketized_column(source_column, boundaries):
    """In which bucket between sorted `boundaries` the numbers of a numeric column are."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)):
        raise ValueError("boundaries must be a sorted list.")
    if any(low >= high for low, high in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def indicator_column(categorical_column):
    """How often each id of a column occurs in an example."""
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            "Unsupported input type. Input must be a CategoricalColumn. "
            f"Given: {categorical_column}"
        )
    return IndicatorColumn(categorical_column)


def _checked_table(dimension, initializer, checkpoint):
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint[0] is None) != (checkpoint[1] is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")
    return initializer or truncated_normal_initializer(0.0, 1 / math.sqrt(dimension))


def embedding_column(
    categorical_column,
    dimension,
    combiner="mean",
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    use_safe_embedding_lookup=True,
):
    """Rows of `dimension` numbers for the ids of a column, combined for each example.

    combiner: "mean", "sqrtn" or "sum". max_norm: longer rows are cut to it.
    """
    checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
    try:
        initializer = _checked_table(dimension, initializer, checkpoint)
    except ValueError as error:
        raise ValueError(f"{error} Embedding of column_name: {categorical_column.name}") from None
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, *checkpoint, max_norm, trainable
    )


def _ids_below(column):
    is_weighted = isinstance(column, WeightedCategoricalColumn)
    return column.categorical_column if is_weighted else column


def _check_shared(columns):
    first = columns[0]
    for column in columns:
        if not isinstance(column, CategoricalColumn):
            raise ValueError(
                "All categorical_columns must be subclasses of CategoricalColumn. "
                f"Given: {column}, of type: {type(column)}"
            )
        if type(_ids_below(column)) is not type(_ids_below(first)):
            raise ValueError(
                "To use shared embeddings, all categorical_columns must have the same type, or be "
                f"weighted ones of the same type. {first} does not match {column}"
            )
        if column.num_buckets != first.num_buckets:
            raise ValueError(
                "To use shared embeddings, all categorical_columns must have the same number of "
                f"buckets: {first} has {first.num_buckets}, {column} has {column.num_buckets}"
            )


def shared_embedding_columns(
    categorical_columns,
    dimension,
    combiner="mean",
    initializer=None,
    shared_embedding_collection_name=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    use_safe_embedding_lookup=True,
):
    """embedding_column() for several columns of the same ids, that have one table."""
    checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
    initializer = _checked_table(dimension, initializer, checkpoint)
    in_order = sorted(categorical_columns, key=lambda column: column.name)
    _check_shared(in_order)
    name = shared_embedding_collection_name
    name = name or "_".join(column.name for column in in_order) + "_shared_embedding"
    table = _SharedTable(name, dimension, initializer, checkpoint, trainable)
    return [SharedEmbeddingColumn(c, table, combiner, max_norm) for c in categorical_columns]


def shared_embeddings(
    categorical_columns,
    dimension,
    combiner="mean",
    initializer=None,
    shared_embedding_collection_name=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    use_safe_embedding_lookup=True,
):
    """embedding_column() for several columns of the same ids, that have one table."""
    return shared_embedding_columns(
        categorical_columns,
        dimension,
        combiner,
        initializer,
        shared_embedding_collection_name,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
