"""Tables that keys are looked up in: fixed ones filled by initializers, and mutable ones.

A session fills fixed tables by running `tables_initializer()`.
"""

import collections
import os

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import get_eager_graph
from rheos.framework.graph import init_scope, name_scope
from rheos.framework.op_call import apply_op, op1, op_list
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.trackable import Trackable, TrackableResource
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import string_ops
from rheos.ops.math import math_ops
from rheos.ops.state.assets import Asset
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.saveables import TableSaveable
from rheos.ops.state.shared_names import shared_or_own


def tables_initializer(name="init_all_tables"):
    """An operation that fills all tables of the graph."""
    initializers = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    if initializers:
        return control_flow_ops.group(*initializers, name=name)
    return control_flow_ops.no_op(name=name)


def initialize_all_tables(name="init_all_tables"):
    """The old name of tables_initializer()."""
    return tables_initializer(name)


def _check_dtypes(table, key_dtype, value_dtype):
    if key_dtype.base_dtype != table.key_dtype:
        raise TypeError(
            f"Invalid key dtype, expected {table.key_dtype} but got {key_dtype.base_dtype}."
        )
    if value_dtype.base_dtype != table.value_dtype:
        raise TypeError(
            f"Invalid value dtype, expected {table.value_dtype} but got {value_dtype.base_dtype}."
        )


# ---- Initializers


class TableInitializerBase:
    """What fills a fixed table."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The dtype of the values."""
        return self._value_dtype

    def initialize(self, table):
        """Adds the operation that fills the table, and returns it."""
        raise NotImplementedError

    @property
    def _shared_name(self):
        return ""


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values from two vectors."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        with name_scope(name, "key_value_init", [keys, values]) as scope:
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
            self._name = scope
        super().__init__(self._keys.dtype.base_dtype, self._values.dtype.base_dtype)

    def initialize(self, table):
        _check_dtypes(table, self._keys.dtype, self._values.dtype)
        with name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            op = apply_op(
                "InitializeTableV2", None, table.resource_handle, self._keys, self._values
            )
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


class TextFileIndex:
    """What of a line is a key or a value, if not a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file: columns, numbers of lines, or whole lines."""

    def __init__(
        self,
        filename,
        key_dtype,
        key_index,
        value_dtype,
        value_index,
        vocab_size=None,
        delimiter="\t",
        name=None,
        value_index_offset=0,
    ):
        if isinstance(filename, (bytes, os.PathLike)):
            filename = os.fsdecode(filename)
        if not isinstance(filename, str) and not hasattr(filename, "dtype") or filename == "":
            raise ValueError("Filename required")
        self._filename_arg = filename
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for what, index, dtype in (
            ("Key", key_index, key_dtype),
            ("Value", value_index, value_dtype),
        ):
            if index < -2:
                raise ValueError(f"Invalid {what.lower()} index {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"Signature mismatch. {what}s must be dtype int64, got {dtype}.")
            if (
                what == "Key"
                and index == TextFileIndex.WHOLE_LINE
                and dtype
                not in (
                    dtypes.string,
                    dtypes.int64,
                )
            ):
                raise ValueError(
                    f"Signature mismatch. Keys must be integer or string, got {dtype}."
                )
            if what == "Value" and index == TextFileIndex.WHOLE_LINE and dtype != dtypes.string:
                raise ValueError(f"Signature mismatch. Values must be dtype string, got {dtype}.")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._asset = Asset(filename) if get_default_graph()._root._is_eager else None
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name
        self._offset = value_index_offset
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table):
        _check_dtypes(table, self.key_dtype, self.value_dtype)
        with name_scope(self._name, "text_file_init", [table.resource_handle]):
            filename = self._filename_arg if self._asset is None else self._asset.asset_path
            filename = convert_to_tensor(filename, dtypes.string, name="asset_filepath")
            op = apply_op(
                "InitializeTableFromTextFileV2",
                None,
                table.resource_handle,
                filename,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
                offset=self._offset,
            )
        graph = get_default_graph()
        graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        if not filename._is_eager and filename.op.type == "Const":
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return op

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {} if self._asset is None else {"_filename": self._asset}

    @property
    def _shared_name(self):
        parts = [self._filename_arg, self._key_index, self._value_index]
        if self._vocab_size:
            parts.insert(1, self._vocab_size)
        if self._offset:
            parts.append(self._offset)
        return "hash_table_" + "_".join(map(str, parts))


class TextFileStringTableInitializer(TextFileInitializer):
    """From numbers of lines to a column, or the whole line."""

    def __init__(
        self,
        filename,
        key_column_index=TextFileIndex.LINE_NUMBER,
        value_column_index=TextFileIndex.WHOLE_LINE,
        vocab_size=None,
        delimiter="\t",
        name="text_file_string_table_init",
    ):
        super().__init__(
            filename,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """From a column, or the whole line, to numbers of lines."""

    def __init__(
        self,
        filename,
        key_column_index=TextFileIndex.WHOLE_LINE,
        value_column_index=TextFileIndex.LINE_NUMBER,
        vocab_size=None,
        delimiter="\t",
        name="text_file_id_table_init",
        key_dtype=dtypes.string,
    ):
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            dtypes.int64,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )


# ---- Tables


class LookupInterface(Trackable):
    """What all tables have."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self):
        """The name of the table's operation."""
        raise NotImplementedError

    def size(self, name=None):
        """How many keys there are, int64."""
        raise NotImplementedError

    def lookup(self, keys, name=None):
        """The values of keys, a Tensor, SparseTensor or RaggedTensor."""
        raise NotImplementedError

    def __getitem__(self, keys):
        """What lookup() gives."""
        return self.lookup(keys)


class _Table(LookupInterface, TrackableResource):
    """A table that is one resource."""

    def __init__(self, key_dtype, value_dtype, default_value):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._value_shape = self._default_value.get_shape()

    def _make(self, op_type, name, *inputs, **attrs):
        """Makes the table's resource."""
        self._made_by = op_type, name, inputs, attrs
        handle = self._made_anew()
        self._resource_handle = handle
        self._table_name = name if handle._is_eager else handle.op.name.split("/")[-1]

    def _made_anew(self):
        """The handle of such a table in the graph that is the default now."""
        op_type, name, inputs, attrs = self._made_by
        return op1(op_type, name, *inputs, **attrs)

    def _fill_anew(self):
        """An operation that gives the table its entries again."""
        with init_scope():
            keys, values = self.export()
        return apply_op("LookupTableImportV2", None, self.resource_handle, keys, values)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}

    @property
    def name(self):
        return self._table_name

    @property
    def resource_handle(self):
        return self._resource_handle

    table_ref = resource_handle

    @property
    def default_value(self):
        return self._default_value

    def size(self, name=None):
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return op1("LookupTableSizeV2", None, self.resource_handle)

    def _find(self, keys, name):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        with name_scope(
            name, f"{self.name}_Lookup", [self.resource_handle, keys, self._default_value]
        ) as scope:
            values = op1(
                "LookupTableFindV2", scope, self.resource_handle, keys, self._default_value
            )
        values.set_shape(keys.get_shape().concatenate(self._value_shape))
        return values

    def lookup(self, keys, name=None):
        if isinstance(keys, SparseTensor):
            values = self._find(keys.values, name)
            return SparseTensor(keys.indices, values, keys.dense_shape)
        if isinstance(keys, RaggedBase):
            return keys.with_flat_values(self._find(keys.flat_values, name))
        return self._find(
            convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            if not hasattr(keys, "get_shape")
            else keys,
            name,
        )

    def export(self, name=None):
        """All keys and values."""
        with name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]):
            keys, values = op_list(
                "LookupTableExportV2",
                None,
                self.resource_handle,
                Tkeys=self._key_dtype,
                Tvalues=self._value_dtype,
            )
        values.set_shape(TensorShape([None]).concatenate(self._value_shape))
        return keys, values


class StaticHashTable(_Table):
    """A table that is filled once, by its initializer; default_value is for other keys.

    experimental_is_anonymous: whether it is shared with no other table of the same file.

    >>> rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(rows, default_value=-1)
    >>> print(table.lookup(tf.constant(["b", "c"])).numpy())
    [ 2 -1]
    """

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value)
        self._default_value.get_shape().assert_is_compatible_with(TensorShape([]))
        shared_name = None if experimental_is_anonymous else initializer._shared_name
        shared_name = shared_name or f"hash_table_{os.urandom(16).hex()}"
        self._initializer = initializer
        self._make(
            "HashTableV2",
            name or "hash_table",
            shared_name=shared_name,
            key_dtype=initializer.key_dtype,
            value_dtype=initializer.value_dtype,
        )
        if self.resource_handle._is_eager:
            self.resource_handle._elsewhere_as = self._made_elsewhere
        self._init_op = initializer.initialize(self)

    def _fill_anew(self):
        return self._initializer.initialize(self)

    def _made_elsewhere(self, session):
        """The handle of such a table in a RemoteSession, filled."""
        with init_scope(), get_eager_graph().as_default():
            keys, values = (one.numpy() for one in self.export())
        types = {"key_dtype": self.key_dtype, "value_dtype": self.value_dtype}
        own = f"hash_table_{os.urandom(16).hex()}"
        handle = op1("HashTableV2", None, shared_name=own, **types)
        parts = constant(keys, self.key_dtype), constant(values, self.value_dtype)
        session.run(apply_op("InitializeTableV2", None, handle, *parts))
        return handle

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        is_tracked = hasattr(self._initializer, "_trackable_children")
        return {"_initializer": self._initializer} if is_tracked else {}

    @property
    def initializer(self):
        """The operation that fills the table."""
        return self._init_op

    @property
    def init(self):
        """The operation that fills the table: the former name of `initializer`."""
        return self._init_op


class HashTable(StaticHashTable):
    """The name of StaticHashTable in tf.contrib.lookup, with its old arguments."""

    def __init__(self, initializer, default_value, shared_name=None, name=None):
        super().__init__(initializer, default_value, name)


class MutableTable(_Table):
    """A table that entries can be put into."""

    def _save_as(self, name):
        """Lets savers of the graph save the table."""
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self, name))

    def insert(self, keys, values, name=None):
        """An operation that puts values under keys, replacing those that are there."""
        keys = convert_to_tensor(keys, self._key_dtype, name="keys")
        values = convert_to_tensor(values, self._value_dtype, name="values")
        with name_scope(
            name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]
        ):
            return apply_op("LookupTableInsertV2", None, self.resource_handle, keys, values)

    def remove(self, keys, name=None):
        """An operation that takes keys out; those that are not there do not matter."""
        keys = convert_to_tensor(keys, self._key_dtype, name="keys")
        with name_scope(name, f"{self.name}_lookup_table_remove", [self.resource_handle, keys]):
            return apply_op("LookupTableRemoveV2", None, self.resource_handle, keys)


class MutableHashTable(MutableTable):
    """A table whose entries can change; values are of the shape of default_value."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        shared_name=None,
        name="MutableHashTable",
        checkpoint=True,
    ):
        super().__init__(key_dtype, value_dtype, default_value)
        attrs = {
            "shared_name": shared_or_own(shared_name),
            "use_node_name_sharing": checkpoint and shared_name is None,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
        }
        if self._value_shape.ndims == 0:
            self._make("MutableHashTableV2", name, **attrs)
        else:
            attrs["value_shape"] = self._value_shape
            self._make("MutableHashTableOfTensorsV2", name, **attrs)
        if checkpoint:
            self._save_as(name)


class MutableDenseHashTable(MutableTable):
    """As MutableHashTable; empty_key and deleted_key are keys that nobody uses."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        shared_name=None,
        name="MutableDenseHashTable",
        checkpoint=True,
    ):
        super().__init__(key_dtype, value_dtype, default_value)
        empty_key = convert_to_tensor(empty_key, dtype=self._key_dtype, name="empty_key")
        deleted_key = convert_to_tensor(deleted_key, dtype=self._key_dtype, name="deleted_key")
        self._make(
            "MutableDenseHashTableV2",
            name,
            empty_key,
            deleted_key,
            shared_name=shared_or_own(shared_name),
            use_node_name_sharing=checkpoint and shared_name is None,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            initial_num_buckets=initial_num_buckets,
        )
        if checkpoint:
            self._save_as(name)


class DenseHashTable(MutableDenseHashTable):
    """A table whose entries can be changed; empty_key and deleted_key are keys that nobody uses.

    initial_num_buckets: a power of 2. checkpoint: whether savers save it.
    """

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
    ):
        super().__init__(
            key_dtype,
            value_dtype,
            default_value,
            empty_key,
            deleted_key,
            initial_num_buckets=initial_num_buckets,
            name=name,
            checkpoint=checkpoint,
        )

    def insert_or_assign(self, keys, values, name=None):
        """What insert() does."""
        return self.insert(keys, values, name)

    def erase(self, keys, name=None):
        """What remove() does."""
        return self.remove(keys, name)


# ---- Buckets for words that are not in the vocabulary


class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """Which hash gives the buckets."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """SipHash under a key of two integers."""

    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError("Invalid key %s. Must be unsigned integer values." % (key,))
        return super().__new__(cls, "stronghash", key)


def _check_buckets(table, key_dtype, hasher_spec):
    """Raises TypeError for what IdTableWithHashBuckets cannot be made of."""
    kinds = (dtypes.int64, dtypes.string)
    if table is None:
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
    elif table.key_dtype not in kinds:
        raise TypeError(f"Invalid key dtype, expected one of {kinds}, but got {table.key_dtype}.")
    elif table.key_dtype.is_integer != key_dtype.is_integer:
        raise TypeError(f"Invalid key dtype, expected {table.key_dtype} but got {key_dtype}.")
    elif table.value_dtype != dtypes.int64:
        raise TypeError("Invalid value dtype, expected int64 but got %s." % table.value_dtype)
    if not isinstance(hasher_spec, HasherSpec):
        raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")


class IdTableWithHashBuckets(LookupInterface):
    """Ids from a table, and buckets behind them for keys that are not in it."""

    def __init__(
        self,
        table,
        num_oov_buckets,
        hasher_spec=FastHashSpec,
        name=None,
        key_dtype=None,
    ):
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        if key_dtype is None:
            key_dtype = table.key_dtype if table is not None else dtypes.string
        key_dtype = dtypes.as_dtype(key_dtype)
        _check_buckets(table, key_dtype, hasher_spec)
        super().__init__(key_dtype, dtypes.int64)
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = hasher_spec
        self._table_name = (
            name.rstrip("/").split("/")[-1]
            if name
            else (table.name if table is not None else "string_to_index")
        )

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {} if self._table is None else {"_table": self._table}

    @property
    def name(self):
        return self._table_name

    @property
    def initializer(self):
        """The operation that fills the table."""
        return self._table.initializer if self._table is not None else control_flow_ops.no_op()

    init = initializer

    @property
    def resource_handle(self):
        """The handle of the table inside; None if there is none."""
        return self._table.resource_handle if self._table is not None else None

    def size(self, name=None):
        with name_scope(name, f"{self.name}_Size"):
            size = self._table.size() if self._table is not None else constant(0, dtypes.int64)
            return size + self._num_oov_buckets

    def _bucket(self, keys):
        text = keys if keys.dtype.base_dtype == dtypes.string else string_ops.as_string(keys)
        if self._hasher_spec.hasher not in ("fasthash", "stronghash"):
            raise ValueError(f"Unknown hasher {self._hasher_spec.hasher}")
        if self._hasher_spec.hasher == "stronghash":
            return string_ops.string_to_hash_bucket_strong(
                text, self._num_oov_buckets, self._hasher_spec.key, name="hash_bucket"
            )
        return string_ops.string_to_hash_bucket_fast(
            text, self._num_oov_buckets, name="hash_bucket"
        )

    def _ids(self, keys, name):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        values = keys
        if self._table is not None and self._table.key_dtype == dtypes.int64:
            values = math_ops.to_int64(values)
        if self._num_oov_buckets == 0:
            return self._table.lookup(values, name=name)
        with name_scope(name, f"{self.name}_Lookup"):
            buckets = self._bucket(values)
            if self._table is None:
                return buckets
            ids = self._table.lookup(values)
            buckets = math_ops.add(buckets, self._table.size())
            known = math_ops.not_equal(ids, self._table.default_value)
            return array_ops.where(known, ids, buckets)

    def lookup(self, keys, name=None):
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self._ids(keys.values, name), keys.dense_shape)
        if isinstance(keys, RaggedBase):
            return keys.with_flat_values(self._ids(keys.flat_values, name))
        if not hasattr(keys, "get_shape"):
            keys = convert_to_tensor(keys, dtype=self._key_dtype)
        return self._ids(keys, name)


class StaticVocabularyTable(IdTableWithHashBuckets):
    """Ids of a vocabulary, and `num_oov_buckets` buckets behind them for other keys."""

    def __init__(
        self,
        initializer,
        num_oov_buckets,
        lookup_key_dtype=None,
        name=None,
        experimental_is_anonymous=False,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        table = None
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(
                    f"Invalid value dtype, expected int64, got {initializer.value_dtype}."
                )
            table = StaticHashTable(initializer, -1, None, experimental_is_anonymous)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, lookup_key_dtype)


# ---- Whole vocabularies


def _vocabulary_table(make, name, default_name, num_oov_buckets, hasher_spec, key_dtype):
    with name_scope(name, default_name) as scope:
        table = None
        with name_scope(None, "hash_table"):
            table = make()
        if num_oov_buckets:
            return IdTableWithHashBuckets(
                table, num_oov_buckets, hasher_spec, name=scope, key_dtype=key_dtype
            )
        return table


def _check_vocab_size(vocab_size, vocabulary_file):
    if vocab_size is not None and vocab_size < 1:
        known = constant_value(vocabulary_file)
        vocabulary_file = vocabulary_file if known is None else known
        raise ValueError(
            f"vocab_size must be greater than 0, got {vocab_size}. "
            f"vocabulary_file: {vocabulary_file}"
        )


def index_table_from_file(
    vocabulary_file=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
    key_column_index=TextFileIndex.WHOLE_LINE,
    value_column_index=TextFileIndex.LINE_NUMBER,
    delimiter="\t",
):
    """A table from words, one a line, to the numbers of their lines."""
    if vocabulary_file is None or isinstance(vocabulary_file, str) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    _check_vocab_size(vocab_size, vocabulary_file)
    key_dtype = dtypes.as_dtype(key_dtype)

    def make():
        initializer = TextFileIdTableInitializer(
            vocabulary_file,
            key_column_index,
            value_column_index,
            vocab_size,
            delimiter,
            "table_init",
            dtypes.int64 if key_dtype.is_integer else key_dtype,
        )
        return StaticHashTable(initializer, default_value)

    return _vocabulary_table(make, name, "string_to_index", num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_tensor(
    vocabulary_list=None,
    num_oov_buckets=0,
    default_value=-1,
    hasher_spec=FastHashSpec,
    dtype=dtypes.string,
    name=None,
    mapping=None,
):
    """A table from words, in a vector, to their positions."""
    if vocabulary_list is None:
        vocabulary_list = mapping
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    dtype = dtypes.as_dtype(dtype)

    def make():
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(
                f"Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype}."
            )
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        keys = math_ops.to_int64(keys) if keys.dtype.is_integer else keys
        count = array_ops.size(keys)
        values = math_ops.to_int64(math_ops.range(count))
        initializer = KeyValueTensorInitializer(
            keys, values, keys.dtype.base_dtype, dtypes.int64, name="table_init"
        )
        return StaticHashTable(initializer, default_value)

    return _vocabulary_table(make, name, "string_to_index", num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(
    vocabulary_file,
    vocab_size=None,
    default_value="UNK",
    name=None,
    key_column_index=TextFileIndex.LINE_NUMBER,
    value_column_index=TextFileIndex.WHOLE_LINE,
    delimiter="\t",
):
    """A table from numbers of lines to the words in them."""
    if vocabulary_file is None or isinstance(vocabulary_file, str) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    _check_vocab_size(vocab_size, vocabulary_file)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file,
            key_column_index,
            value_column_index,
            vocab_size,
            delimiter,
            "table_init",
        )
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list=None, default_value="UNK", name=None, mapping=None
):
    """A table from positions to the words of a vector."""
    if vocabulary_list is None:
        vocabulary_list = mapping
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        keys = math_ops.to_int64(math_ops.range(array_ops.size(words)))
        initializer = KeyValueTensorInitializer(
            keys, words, dtypes.int64, dtypes.string, name="table_init"
        )
        return StaticHashTable(initializer, default_value)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The positions of strings in a vector of words; its table is to be initialized."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)
