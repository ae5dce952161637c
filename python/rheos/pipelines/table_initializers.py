"""Lookup tables that are filled with the elements of datasets."""

from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.framework.op_call import apply_op
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.state import lookup_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.pipelines.base import DatasetBase


class DatasetInitializer(lookup_ops.TableInitializerBase):
    """Fills a table with pairs of a key and a value, the elements of a dataset."""

    def __init__(self, dataset):
        self.dataset = dataset
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise ValueError(f"A table's dataset must have pairs as elements, its are {spec}.")
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table):
        """Adds the operation that fills the table, and returns it."""
        lookup_ops._check_dtypes(table, self.key_dtype, self.value_dtype)
        with name_scope("table_from_dataset_init", values=[table.resource_handle]):
            op = apply_op(
                "InitializeTableFromDataset",
                None,
                table.resource_handle,
                self.dataset._variant_tensor,
            )
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


def _check_pairs(dataset):
    if not isinstance(dataset, DatasetBase):
        raise ValueError(f"Elements must be from a Dataset, got {dataset!r}.")
    spec = dataset.element_spec
    scalars = isinstance(spec, tuple) and all(
        isinstance(leaf, TensorSpec) and leaf.shape.ndims == 0 for leaf in spec
    )
    if not scalars or len(spec) != 2:
        raise ValueError(f"Elements must be pairs of scalars, got {spec}.")


def _table(initializer, default_value, num_oov_buckets, hasher_spec):
    if num_oov_buckets:
        return lookup_ops.IdTableWithHashBuckets(
            lookup_ops.StaticHashTable(initializer, default_value),
            num_oov_buckets=num_oov_buckets,
            hasher_spec=hasher_spec,
            key_dtype=initializer.key_dtype,
        )
    return lookup_ops.StaticHashTable(initializer, default_value)


def table_from_dataset(
    dataset=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=None,
    hasher_spec=lookup_ops.FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
):
    """A lookup table with the elements of a dataset: pairs of a key and a value.

    num_oov_buckets: for other keys. vocab_size: how many elements are taken. key_dtype: not asked,
    the elements tell. default_value: of other keys, -1 by default.
    """
    _check_pairs(dataset)
    value_dtype = dataset.element_spec[1].dtype
    _check_sizes(num_oov_buckets, vocab_size)
    if default_value is None:
        default_value = "" if value_dtype == dtypes.string else -1
    if num_oov_buckets and not value_dtype.is_integer:
        raise TypeError(f"Values beside buckets must be integers, not {value_dtype}.")
    if vocab_size:
        dataset = dataset.take(vocab_size)
        dataset = dataset.assert_cardinality(vocab_size)
    with name_scope(name, "string_to_index"):
        return _table(DatasetInitializer(dataset), default_value, num_oov_buckets, hasher_spec)


def _check_sizes(num_oov_buckets, vocab_size):
    if num_oov_buckets < 0:
        raise ValueError(
            f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}."
        )
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")


def index_table_from_dataset(
    dataset=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=lookup_ops.FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
):
    """A lookup table from the elements of a dataset to their numbers: see table_from_dataset."""
    if not isinstance(dataset, DatasetBase):
        raise ValueError(f"Elements must be from a Dataset, got {dataset!r}.")
    numbered = dataset.enumerate().map(lambda number, element: (element, number))
    return table_from_dataset(
        numbered, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )
