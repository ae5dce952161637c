"""Feature columns: how entries of a dict of features become ids or numbers for a model.

A categorical column gives ids: a SparseTensor with a row for each example. Columns are values,
equal if they say the same, and keys of dicts. `Features` is the dict with what they made of it.
"""

from collections import namedtuple

import numpy as np

from rheos.framework import dtypes, gfile, logging
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from rheos.ops.array import array_ops, rearrange_ops, sparse_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import parsing_ops, string_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.state import lookup_ops

# ---- What a model makes of its features


def _with_columns(tensor):
    if isinstance(tensor, SparseTensor):
        return sparse_ops.sparse_reshape(tensor, array_ops.concat([tensor.dense_shape, [1]], 0))
    return array_ops.expand_dims(tensor, -1)


class Features:
    """A dict of features, and what columns made of them: each is made once.

    weights: gives columns their variables and tables (column_layers.py).
    """

    def __init__(self, features, weights=None):
        if not isinstance(features, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        self._given = dict(features)
        self._made = {}
        self.weights = weights

    def get(self, key):
        """The feature of that name with rank 2 or more, or what a column makes."""
        place = type(key), key  # columns are tuples: kinds may have equal ones
        if place not in self._made:
            self._made[place] = self._feature(key) if isinstance(key, str) else key.transform(self)
        return self._made[place]

    def _feature(self, key):
        if key not in self._given:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        tensor = convert_to_tensor_or_sparse_tensor(self._given[key])
        rank = tensor.shape.ndims
        wrong = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
        if rank is not None:
            if rank == 0:
                raise ValueError(wrong)
            return tensor if rank != 1 else _with_columns(tensor)
        if isinstance(tensor, SparseTensor):
            raise ValueError(f"Feature (key: {key}) needs a known rank. Given: {tensor}")
        rank = array_ops.rank(tensor)
        with control_dependencies([check_ops.assert_positive(rank, message=wrong)]):
            return control_flow_ops.cond(
                math_ops.equal(rank, 1), lambda: _with_columns(tensor), lambda: tensor
            )


def sparse_without(tensor, missing=None):
    """A dense tensor as a sparse one, without elements like `missing`: by default "" or -1."""
    tensor = convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope(None, "to_sparse_input"):
        if missing is None:
            missing = "" if tensor.dtype == dtypes.string else -1 if tensor.dtype.is_integer else 0
        indices = rearrange_ops.where_v2(math_ops.not_equal(tensor, missing), name="indices")
        values = array_ops.gather_nd(tensor, indices, name="values")
        shape = array_ops.shape(tensor, out_type=dtypes.int64, name="dense_shape")
        return SparseTensor(indices, values, shape)


# ---- Columns


class FeatureColumn:
    """What a column is: a name, the features it needs, and what it makes of them."""

    @property
    def name(self):
        """The column's name, by which a model knows it; by default the feature's."""
        return self.key

    @property
    def scope_name(self):
        """What the scope of the column's variables is called."""
        return self.name

    @property
    def parse_example_spec(self):
        """What to parse of examples: a dict for tf.io.parse_example()."""
        raise NotImplementedError

    @property
    def variable(self):
        """The variable that the column needs: (name, shape, initializer, trainable), or None."""
        return None

    def transform(self, features):
        """What the column makes of the features, before it is asked in which form."""
        raise NotImplementedError


class CategoricalColumn(FeatureColumn):
    """A column of ids below `num_buckets`."""

    @property
    def num_buckets(self):
        """Ids are below it."""
        raise NotImplementedError

    def ids(self, features):
        """(ids, weights) as SparseTensors; weights None: all 1."""
        return features.get(self), None


class SequenceColumn(FeatureColumn):
    """A column that can give a dense row for each step of a sequence."""

    def sequence(self, features):
        """(tensor (examples, steps, ...), steps of each example)."""
        raise NotImplementedError


class DenseColumn(FeatureColumn):
    """A column that gives numbers, of one shape for each example."""

    @property
    def variable_shape(self):
        """The shape of what an example gives."""
        raise NotImplementedError

    def dense(self, features):
        """A float32 tensor (examples, ...)."""
        return features.get(self)


def _check_key(key):
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def _check_ids(dtype, prefix):
    if not (dtype == dtypes.string or dtype.is_integer):
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def _check_compatible(column, tensor):
    if column.dtype.is_integer != tensor.dtype.is_integer:
        raise ValueError(
            "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {column.key}, column dtype: {column.dtype}, tensor dtype: {tensor.dtype}"
        )
    _check_ids(tensor.dtype, f"column_name: {column.key} input_tensor")


class _KeyedCategories(CategoricalColumn):
    """Ids of the values of one feature."""

    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    def transform(self, features):
        given = sparse_without(features.get(self.key))
        return SparseTensor(given.indices, self._ids_of(given.values, features), given.dense_shape)


class HashedCategoricalColumn(
    _KeyedCategories,
    namedtuple("HashedCategoricalColumn", "key hash_bucket_size dtype"),
):
    """Ids by a hash of the values."""

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def _ids_of(self, values, features):
        _check_compatible(self, values)
        if values.dtype != dtypes.string:
            values = string_ops.as_string(values)
        return string_ops.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")


class _LookedUp(_KeyedCategories):
    """Ids by a table of words."""

    def _ids_of(self, values, features):
        _check_compatible(self, values)
        key_dtype = self.dtype
        if values.dtype.is_integer:
            key_dtype, values = dtypes.int64, math_ops.cast(values, dtypes.int64)

        def make():
            return self._table(key_dtype, f"{self.key}_lookup")

        return features.weights.table(self, make).lookup(values)


class VocabularyFileCategoricalColumn(
    _LookedUp,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        "key vocabulary_file vocabulary_size num_oov_buckets dtype default_value",
    ),
):
    """Ids by the lines of a file."""

    @property
    def num_buckets(self):
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self, key_dtype, name):
        return lookup_ops.index_table_from_file(
            self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )


class VocabularyListCategoricalColumn(
    _LookedUp,
    namedtuple(
        "VocabularyListCategoricalColumn", "key vocabulary_list dtype default_value num_oov_buckets"
    ),
):
    """Ids by the places in a list."""

    @property
    def num_buckets(self):
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self, key_dtype, name):
        return lookup_ops.index_table_from_tensor(
            tuple(self.vocabulary_list),
            num_oov_buckets=self.num_oov_buckets,
            default_value=self.default_value,
            dtype=key_dtype,
            name=name,
        )


class IdentityCategoricalColumn(
    _KeyedCategories, namedtuple("IdentityCategoricalColumn", "key number_buckets default_value")
):
    """Ids that are the values."""

    @property
    def num_buckets(self):
        return self.number_buckets

    @property
    def dtype(self):
        """What the feature is parsed as."""
        return dtypes.int64

    def _ids_of(self, values, features):
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        values = math_ops.cast(values, dtypes.int64, name="values")
        if self.default_value is not None:
            wrong = math_ops.logical_or(
                math_ops.less(values, 0), math_ops.greater_equal(values, self.num_buckets)
            )
            standby = array_ops.fill(
                array_ops.shape(values), math_ops.cast(self.default_value, dtypes.int64)
            )
            return rearrange_ops.where_v2(wrong, standby, values)
        column = f'categorical column "{self.name}"'
        below = check_ops.assert_less(
            values,
            math_ops.cast(self.num_buckets, dtypes.int64),
            message=f"Bucket index for {column} exceeds number of buckets",
        )
        above = check_ops.assert_greater_equal(
            values,
            math_ops.cast(0, dtypes.int64),
            message=f"Negative bucket index for {column}",
        )
        with control_dependencies([check for check in (below, above) if check is not None]):
            return array_ops.identity(values)


class WeightedCategoricalColumn(
    CategoricalColumn,
    namedtuple("WeightedCategoricalColumn", "categorical_column weight_feature_key dtype"),
):
    """Ids of a column with weights that another feature gives."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self):
        spec = dict(self.categorical_column.parse_example_spec)
        key = self.weight_feature_key
        if key in spec:
            raise ValueError(f"Parse config {spec[key]} already exists for {key}.")
        spec[key] = parsing_ops.VarLenFeature(self.dtype)
        return spec

    def transform(self, features):
        weights = features.get(self.weight_feature_key)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = sparse_without(weights, 0)
        if not weights.dtype.is_floating:
            values = math_ops.cast(weights.values, dtypes.float32)
            weights = SparseTensor(weights.indices, values, weights.dense_shape)
        return features.get(self.categorical_column), weights

    def ids(self, features):
        return features.get(self)


def _leaves(cross):
    leaves = []
    for key in cross.keys:
        leaves.extend(_leaves(key) if isinstance(key, CrossedColumn) else [key])
    return leaves


class CrossedColumn(
    CategoricalColumn, namedtuple("CrossedColumn", "keys hash_bucket_size hash_key")
):
    """Ids by a hash of the values of several columns together."""

    @property
    def name(self):
        names = [key if isinstance(key, str) else key.name for key in _leaves(self)]
        return "_X_".join(sorted(names))

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    @property
    def parse_example_spec(self):
        spec = {}
        for key in self.keys:
            by_name = isinstance(key, str)
            spec.update(
                {key: parsing_ops.VarLenFeature(dtypes.string)}
                if by_name
                else key.parse_example_spec
            )
        return spec

    def transform(self, features):
        tensors = []
        for key in _leaves(self):
            if isinstance(key, str):
                tensors.append(features.get(key))
                continue
            ids, weights = key.ids(features)
            if weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates "
                    f"weight_tensor. Given column: {key.name}"
                )
            tensors.append(ids)
        return sparse_ops.sparse_cross_hashed(tensors, self.hash_bucket_size, self.hash_key)


class SequenceCategoricalColumn(
    CategoricalColumn, namedtuple("SequenceCategoricalColumn", "categorical_column")
):
    """Ids for each step of a sequence: the second dimension."""

    @property
    def name(self):
        return self.categorical_column.name

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    def transform(self, features):
        return self.categorical_column.transform(features)

    def ids(self, features):
        ids, weights = self.categorical_column.ids(features)
        shape = ids.dense_shape
        rest = array_ops.expand_dims(math_ops.reduce_prod(shape[2:]), 0)
        target = array_ops.concat([shape[:2], rest], 0)
        ids = sparse_ops.sparse_reshape(ids, target)
        return ids, None if weights is None else sparse_ops.sparse_reshape(weights, target)


# ---- Making columns


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """A column of the feature `key`, whose values become ids below `hash_bucket_size` by a hash."""
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    _check_key(key)
    dtype = dtypes.as_dtype(dtype)
    _check_ids(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def _checked_buckets(key, num_oov_buckets, has_default):
    if not num_oov_buckets:
        return 0
    if has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    return num_oov_buckets


def categorical_column_with_vocabulary_file_v2(
    key,
    vocabulary_file,
    vocabulary_size=None,
    dtype=dtypes.string,
    default_value=None,
    num_oov_buckets=0,
):
    """A column whose values become the numbers of the lines of a file that they are.

    vocabulary_size: of lines that count, by default all. Others become `default_value`, by default
    -1, or one of `num_oov_buckets` further ids by a hash.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with gfile.GFile(vocabulary_file) as file:
            vocabulary_size = sum(1 for _ in file)
        logging.info("vocabulary_size of %s: %d lines of %s", key, vocabulary_size, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    num_oov_buckets = _checked_buckets(key, num_oov_buckets, default_value is not None)
    dtype = dtypes.as_dtype(dtype)
    _check_ids(dtype, f"column_name: {key}")
    _check_key(key)
    return VocabularyFileCategoricalColumn(
        key,
        vocabulary_file,
        vocabulary_size,
        num_oov_buckets,
        dtype,
        -1 if default_value is None else default_value,
    )


def categorical_column_with_vocabulary_file(
    key,
    vocabulary_file,
    vocabulary_size=None,
    num_oov_buckets=0,
    default_value=None,
    dtype=dtypes.string,
):
    """A column whose values become the numbers of the lines of a file that they are.

    vocabulary_size: of lines that count, by default all. Others become `default_value`, by default
    -1, or one of `num_oov_buckets` further ids by a hash.
    """
    return categorical_column_with_vocabulary_file_v2(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )


def categorical_column_with_vocabulary_list(
    key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0
):
    """A column whose values become their places in a list; others as with a file."""
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    of_list = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    num_oov_buckets = _checked_buckets(key, num_oov_buckets, default_value != -1)
    _check_ids(of_list, f"column_name: {key} vocabulary")
    dtype = of_list if dtype is None else dtypes.as_dtype(dtype)
    if dtype.is_integer != of_list.is_integer:
        raise ValueError(
            f"dtype {dtype} and vocabulary dtype {of_list} do not match, column_name: {key}"
        )
    _check_ids(dtype, f"column_name: {key}")
    _check_key(key)
    return VocabularyListCategoricalColumn(
        key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets
    )


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """A column whose values are ids; one that is not below `num_buckets` becomes `default_value`,
    or fails."""
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    _check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    """The ids of a column, with weights that are the feature `weight_feature_key`."""
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """Ids for what occurs together: by a hash of the values of features (given by name) and of the
    ids of categorical columns."""
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing, since what is "
                f"hashed twice collides more often. Use the feature's name. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """categorical_column_with_hash_bucket() for each step of a sequence."""
    return SequenceCategoricalColumn(
        categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    """categorical_column_with_identity() for each step of a sequence."""
    return SequenceCategoricalColumn(
        categorical_column_with_identity(key, num_buckets, default_value)
    )


def sequence_categorical_column_with_vocabulary_file(
    key,
    vocabulary_file,
    vocabulary_size=None,
    num_oov_buckets=0,
    default_value=None,
    dtype=dtypes.string,
):
    """categorical_column_with_vocabulary_file() for each step of a sequence."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file_v2(
            key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0
):
    """categorical_column_with_vocabulary_list() for each step of a sequence."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )
