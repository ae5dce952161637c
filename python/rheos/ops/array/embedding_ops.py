"""Rows of tables looked up by number."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import colocate_with, name_scope
from rheos.framework.op_call import op1
from rheos.framework.operation import _VariableBase
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, segment_ops, sparse_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.state.partitioned_variables import PartitionedVariable


def _clip(rows, ids, max_norm):
    if max_norm is None:
        return rows
    ids_rank, rows_rank = ids.shape.ndims, rows.shape.ndims
    if ids_rank is not None and rows_rank is not None:
        axes = list(range(ids_rank, rows_rank))
    else:
        axes = math_ops.range(array_ops.rank(ids), array_ops.rank(rows))
    return clip_ops.clip_by_norm(rows, max_norm, axes=axes)


def _tables(params):
    return list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]


def _strategy_of(params, strategy):
    """How ids are shared by the parts of a table: as the table says, else as asked for."""
    return getattr(params, "_lookup_strategy", None) or strategy


def embedding_lookup(
    params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None
):
    """The rows of `params` at `ids`.

    params: a table (rows, ...), or a list of parts of one. ids: integers of any shape. Returns
    ids.shape + params.shape[1:]. partition_strategy: "mod": id i is row i // parts of part
    i % parts; "div": the parts hold one after the other. max_norm: rows whose euclidean norm is
    larger are scaled down. ValueError without a table; InvalidArgumentError for an id out of range.
    """
    if params is None or isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    if isinstance(ids, RaggedBase):
        flat = ids.flat_values
        return ids.with_flat_values(
            embedding_lookup(params, flat, partition_strategy, name, max_norm=max_norm)
        )
    is_list = isinstance(params, (list, tuple, PartitionedVariable))
    partition_strategy = _strategy_of(params, partition_strategy)
    params = _tables(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as name:
        tables = params
        if not any(getattr(p, "_is_resource", False) for p in params):
            tables = [
                convert_to_tensor(p, name=f"params_{i}" if is_list else "params")
                for i, p in enumerate(params)
            ]
        ids = convert_to_tensor(ids, name="ids")
        places = [p if isinstance(p, _VariableBase) else t for p, t in zip(params, tables)]
        if len(params) == 1:
            with colocate_with(places[0]):
                rows = _clip(array_ops.gather(tables[0], ids, name=name), ids, max_norm)
            return array_ops.identity(rows)
        return _lookup_in_parts(tables, places, ids, partition_strategy, max_norm, name)


def _rows_of_parts(tables, dtype):
    """The number of rows of all parts together."""
    known = [t.shape.size_at(0) for t in tables]
    if None not in known:
        return constant(sum(known), dtype)
    sizes = []
    for table, count in zip(tables, known):
        if count is not None:
            sizes.append(count)
            continue
        with colocate_with(table):
            sizes.append(array_ops.shape(table)[0])
    return math_ops.reduce_sum(math_ops.cast(array_ops.stack(sizes), dtype))


def _assign(flat_ids, tables, strategy):
    """(part, row in the part) of each id."""
    count = len(tables)
    if strategy == "mod":
        return flat_ids % count, flat_ids // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    total = _rows_of_parts(tables, flat_ids.dtype)
    each = total // count
    extras = total % count  # so many parts at the start hold one row more
    parts = math_ops.maximum(flat_ids // (each + 1), (flat_ids - extras) // each)
    rows = array_ops.where(parts < extras, flat_ids % (each + 1), (flat_ids - extras) % each)
    return parts, rows


def _lookup_in_parts(tables, places, ids, strategy, max_norm, name):
    flat_ids = array_ops.reshape(ids, [-1])
    order = math_ops.range(array_ops.size(flat_ids))
    parts, rows = _assign(flat_ids, tables, strategy)
    parts = math_ops.cast(parts, dtypes.int32)
    rows_of = array_ops.dynamic_partition(rows, parts, len(tables))
    order_of = array_ops.dynamic_partition(order, parts, len(tables))
    found = []
    for table, place, its_rows in zip(tables, places, rows_of):
        with colocate_with(place):
            found.append(array_ops.gather(table, its_rows))
    stitched = op1("ParallelDynamicStitch", name, order_of, found)
    element = tables[0].shape[1:]
    for table in tables[1:]:
        element = element.merge_with(table.shape[1:])
    if element.is_fully_defined():
        tail = element
    else:
        with colocate_with(places[0]):
            tail = array_ops.shape(tables[0])[1:]
    result = array_ops.reshape(stitched, array_ops.concat([array_ops.shape(ids), tail], 0))
    result.set_shape(ids.shape.concatenate(element))
    return _clip(result, ids, max_norm)


def embedding_lookup_sparse(
    params,
    sp_ids,
    sp_weights,
    partition_strategy="mod",
    name=None,
    combiner=None,
    max_norm=None,
):
    """For each row of a sparse matrix of ids, its rows of `params` combined into one.

    sp_ids: a SparseTensor or RaggedTensor (rows, ids of a row) of integers. sp_weights: the same
    kind of tensor with the same rows, or None for 1. A row whose weights add up to 0 gives zeros.
    combiner: "sum", "mean" (the default) or "sqrtn"; ValueError for others.
    Returns (rows,) + params.shape[1:]. A row without ids before the last gives zeros.
    """
    if combiner is None:
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    for given, label in ((sp_ids, "sp_ids"), (sp_weights, "sp_weights")):
        if given is not None and not hasattr(given, "dense_shape") and not is_rows(given):
            raise TypeError(f"{label} must be SparseTensor or RaggedTensor")
    if sp_weights is not None and is_rows(sp_ids) != is_rows(sp_weights):
        raise TypeError("sp_ids and sp_weights must be of the same type")
    partition_strategy = _strategy_of(params, partition_strategy)
    params = _tables(params)
    if not params:
        raise ValueError("Missing params")
    if sp_weights is not None:
        sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids.values]) as name:
        segments = sp_ids.value_rowids() if is_rows(sp_ids) else sp_ids.indices[:, 0]
        if segments.dtype != dtypes.int32:
            segments = math_ops.cast(segments, dtypes.int32)
        ids, places = array_ops.unique(sp_ids.values)
        tables = params if isinstance(params, (list, tuple)) else [params]
        rows = embedding_lookup(
            tables, ids, partition_strategy=partition_strategy, max_norm=max_norm
        )
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = math_ops.cast(rows, dtypes.float32)
        if sp_weights is None:
            functions = {
                "sum": segment_ops.sparse_segment_sum,
                "mean": segment_ops.sparse_segment_mean,
                "sqrtn": segment_ops.sparse_segment_sqrt_n,
            }
            return functions[combiner](rows, places, segments, name=name)
        return _combine_weighted(rows, places, segments, sp_weights.values, combiner, name)


def is_rows(value):
    """Whether ids or weights are a ragged tensor."""
    return isinstance(value, RaggedBase)


def _combine_weighted(rows, places, segments, weights, combiner, name):
    if weights.dtype != rows.dtype:
        weights = math_ops.cast(weights, rows.dtype)
    rows = array_ops.gather(rows, places)
    # The weights get as many dimensions as the rows have.
    extra = array_ops.fill(array_ops.expand_dims(array_ops.rank(rows) - 1, 0), 1)
    shape = array_ops.concat([array_ops.shape(weights), extra], 0)
    known = weights.shape
    weights = array_ops.reshape(weights, shape)
    if rows.shape.ndims is not None:
        weights.set_shape(known.concatenate([1] * (rows.shape.ndims - 1)))
    rows *= weights
    if combiner == "sum":
        return segment_ops.segment_sum(rows, segments, name=name)
    rows = segment_ops.segment_sum(rows, segments)
    if combiner == "mean":
        total = segment_ops.segment_sum(weights, segments)
        return math_ops.div_no_nan(rows, total, name=name)
    squares = segment_ops.segment_sum(math_ops.pow(weights, 2), segments)
    return math_ops.div_no_nan(rows, math_ops.sqrt(squares), name=name)


def _without_bad_ids(sp_ids, sp_weights, combiner):
    """Only the ids that are not negative, and unless they are summed up have a weight above 0."""
    keep = math_ops.greater_equal(sp_ids.values, 0)
    if sp_weights is not None:  # which changes nothing, but TensorFlow's graphs have these nodes
        every = array_ops.ones_like(sp_weights.values, dtype=dtypes.bool)
        keep = math_ops.logical_and(keep, every)
    sp_ids = sparse_ops.sparse_retain(sp_ids, keep)
    if sp_weights is None:
        return sp_ids, None
    sp_weights = sparse_ops.sparse_retain(sp_weights, keep)
    if combiner != "sum":
        keep = math_ops.greater(sp_weights.values, 0)
        sp_ids = sparse_ops.sparse_retain(sp_ids, keep)
        sp_weights = sparse_ops.sparse_retain(sp_weights, keep)
    return sp_ids, sp_weights


def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
):
    """embedding_lookup_sparse() for rows that may be empty and ids that may be negative.

    sparse_ids: a SparseTensor or RaggedTensor (d0, .., dn, ids of a row). Negative ids are left
    out, and unless the combiner is "sum" also those whose weight is not above 0. A row without ids
    gives the row `default_id` of the table, or zeros. Returns (d0, .., dn) + the shape of a row.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    partition_strategy = _strategy_of(embedding_weights, partition_strategy)
    tables = _tables(embedding_weights)
    if not tables:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    kind = sparse_weights.dtype.base_dtype if sparse_weights is not None else None
    tables = [
        table
        if isinstance(table, _VariableBase) and kind in (None, table.dtype.base_dtype)
        else convert_to_tensor(table, dtype=kind)
        for table in tables
    ]
    if is_rows(sparse_ids):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    sources = [*tables, sparse_ids.values]
    if sparse_weights is not None:
        sources.append(sparse_weights.values)
    with name_scope(name, "embedding_lookup", sources) as scope:
        shape = sparse_ids.dense_shape
        known_rank = sparse_ids.shape.ndims
        last = array_ops.size(shape) - 1 if known_rank is None else known_rank - 1
        rows = math_ops.reduce_prod(array_ops.slice(shape, [0], [last]))
        flat = [rows, array_ops.gather(shape, last)]
        sparse_ids = sparse_ops.sparse_reshape(sparse_ids, flat)
        if sparse_weights is not None:
            sparse_weights = SparseTensor(
                sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape
            )
        sparse_ids, sparse_weights = _without_bad_ids(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = sparse_ops.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_ops.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            tables,
            sparse_ids,
            sparse_weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            flags = array_ops.reshape(is_empty, [-1, 1])
            flags = array_ops.tile(flags, array_ops.stack([1, array_ops.shape(result)[1]]))
            result = array_ops.where(flags, array_ops.zeros_like(result), result, name=scope)
        outer = array_ops.slice(math_ops.cast(shape, dtypes.int32), [0], [last])
        inner = array_ops.slice(array_ops.shape(result), [1], [-1])
        tail = result.shape.with_rank_at_least(1)[1:]
        result = array_ops.reshape(result, array_ops.concat([outer, inner], 0))
        if known_rank is not None:
            result.set_shape(TensorShape([None] * last).concatenate(tail))
        return result
