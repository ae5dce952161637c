"""Functions over the elements of tensors: map_fn, scan, foldl, foldr."""

import contextlib

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.func_graph import func_graph_from_py_func
from rheos.framework.graph import name_scope
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import Dimension, TensorShape
from rheos.framework.tensor_spec import TensorSpec, type_spec_from_value
from rheos.ops.array import array_ops, constant_op
from rheos.ops.flow.control_flow_ops import while_loop
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_rows import RowsRead, RowsWritten
from rheos.ops.ragged.ragged_tensor import convert_to_tensor_or_ragged_tensor, is_ragged
from rheos.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from rheos.ops.state.variable_scope import get_variable_scope


@contextlib.contextmanager
def _variables_read_once():
    """A context whose variables are read on their own devices, once and not in each trip."""
    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


def _flatten(structure):
    return nest.flatten(structure) if nest.is_nested(structure) else [structure]


def _pack_as(structure, parts):
    return nest.pack_sequence_as(structure, parts) if nest.is_nested(structure) else parts[0]


def _rows(tensor):
    """How many rows a tensor has: None if that is not known."""
    return tensor.shape.size_at(0)


def _set_rows(results, elements):
    """Tells the results that they have as many rows as the elements."""
    count = Dimension(_rows(elements[0]))
    for element in elements[1:]:
        count.assert_is_compatible_with(Dimension(_rows(element)))
    for result in results:
        result.set_shape(TensorShape([count]).concatenate(result.shape[1:]))


def _check_rank(elements):
    rank = elements[0].shape.ndims
    if rank is not None and rank < 1:
        if len(elements) == 1:
            raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")


def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
):
    """What `fn` gives for each row of `elems`, along a new first dimension.

    fn: a function of a row; it is called once, to add operations. elems: a tensor [n, ...] or a
    nested structure of them, with the same n; of ragged ones the rows are ragged, or vectors.
    dtype, fn_output_signature: of the results, or a structure of dtypes where they have another
    structure than the rows; a RaggedTensorSpec for results of unlike sizes. infer_shape: whether
    all results have one shape. The trips of the loop are independent of each other.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  "
            "SparseTensor(input.indices, fn(input.values), input.dense_shape) or  "
            "SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    given = _flatten(elems)
    with name_scope(name, "map", given), _variables_read_once():
        flat = [elem if is_ragged(elem) else convert_to_tensor(elem, name="elem") for elem in given]
        flat = [convert_to_tensor_or_ragged_tensor(elem) for elem in flat]
        wanted = dtype if fn_output_signature is None else fn_output_signature
        if wanted is None:
            wanted = _pack_as(elems, [_kind_of_row(elem) for elem in flat])
        kinds = _flatten(wanted)
        _check_rank(flat)
        count = _count_of(flat[0])
        rows = [_array_for(elem, count) for elem in flat]
        rows = [array.unstack(elem) if array else RowsRead(elem) for array, elem in zip(rows, flat)]
        start = constant_op.constant(0)
        results = [_results_of(kind, count, infer_shape) for kind in kinds]

        def compute(i, arrays):
            value = fn(_pack_as(elems, [one.read(i) for one in rows]))
            parts = _parts_up_to(wanted, elems, value)
            arrays = [one.written(its, i, part) for one, its, part in zip(results, arrays, parts)]
            return i + 1, arrays

        _, arrays = while_loop(
            lambda i, _: i < count,
            compute,
            (start, [one.arrays for one in results]),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        stacked = [one.together(its) for one, its in zip(results, arrays)]
        _set_rows([one for one in stacked if not is_ragged(one)], flat)
        return _pack_as(wanted, stacked)


def _kind_of_row(elem):
    return type_spec_from_value(elem)._unbatch() if is_ragged(elem) else elem.dtype


def _count_of(elem):
    """The number of rows: an int where it is known."""
    if is_ragged(elem):
        return math_ops.cast(elem.nrows(), dtypes.int32)
    return _rows(elem) or array_ops.shape(elem)[0]


def _parts_up_to(wanted, elems, value):
    """The parts of a result, each as the signature has one."""
    if any(map(is_ragged, _flatten(value))) or wanted is not elems:
        nest.assert_same_structure(
            nest.map_structure(lambda _: 0, wanted),
            nest.map_structure_up_to(wanted, lambda *_: 0, wanted, value),
        )
        return nest.flatten_up_to(wanted, value) if nest.is_nested(wanted) else [value]
    nest.assert_same_structure(wanted, value)
    return _flatten(value)


def _array_for(elem, count):
    """An array for the rows of a tensor; None for ragged ones, which are read from their values."""
    return None if is_ragged(elem) else TensorArray(elem.dtype, count, dynamic_size=False)


def _results_of(kind, count, infer_shape):
    if isinstance(kind, RaggedTensorSpec) and kind.shape.ndims != 0:
        return RowsWritten(kind, count)
    return _Stacked(kind, count, infer_shape)


class _Stacked:
    """Results that are tensors of one shape."""

    def __init__(self, kind, count, infer_shape):
        dtype = kind.dtype if isinstance(kind, (TensorSpec, RaggedTensorSpec)) else kind
        self.arrays = [TensorArray(dtype, count, dynamic_size=False, infer_shape=infer_shape)]

    def written(self, arrays, i, row):
        return [arrays[0].write(i, row)]

    def together(self, arrays):
        return arrays[0].stack()


def over_variants(fn, elems, signature):
    """(fn, elems, signature) for map_fn(): elements of several tensors by what holds their rows.

    Those of sparse and ragged tensors are variants, those of a program's types their tensors.

    signature: of the results; None: of the dtypes of the elements.
    """
    leaves = nest.flatten(elems)
    specs = [type_spec_from_value(leaf) for leaf in leaves]
    specs = [None if isinstance(spec, TensorSpec) else spec for spec in specs]
    rows = [
        convert_to_tensor(leaf) if spec is None else spec._to_batched_tensor_list(leaf)
        for leaf, spec in zip(leaves, specs)
    ]

    def call(given):
        parts = nest.flatten_up_to(elems, given)
        whole = [
            part if spec is None else spec._unbatch()._from_tensor_list(part)
            for part, spec in zip(parts, specs)
        ]
        return fn(nest.pack_sequence_as(elems, whole))

    if signature is None:
        signature = nest.pack_sequence_as(elems, [leaf.dtype for leaf in leaves])
    if not nest.is_nested(elems):
        return call, rows[0], signature
    return call, nest.pack_sequence_as(elems, rows), signature


def map_rows(fn, elems):
    """map_fn() whose results are looked up first, and which repeats what has one row."""
    flat = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
    _check_rank(flat)
    counts = [_rows(elem) for elem in flat]
    largest = max((n for n in counts if n is not None), default=None)
    if None not in counts and any(n not in (1, largest) for n in counts):
        raise ValueError(f"vectorized_map needs inputs with the same first dimension, not {counts}")
    several = [elem for elem, n in zip(flat, counts) if n != 1] or flat[:1]

    def row(i):
        parts = [elem[0] if n == 1 else elem[i] for elem, n in zip(flat, counts)]
        return fn(nest.pack_sequence_as(elems, parts))

    looked = func_graph_from_py_func("vectorized_map", row, (TensorSpec([], dtypes.int32),))
    made = looked.structured_outputs
    signature = nest.map_structure(lambda one: one.dtype, made)
    numbers = math_ops.range(array_ops.shape(several[0])[0])
    results = map_fn(row, numbers, signature)
    known = _rows(several[0])

    def shaped(result, one):
        result.set_shape(TensorShape([known]).concatenate(one.shape))
        return result

    return nest.map_structure(shaped, results, made)


def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """What `fn` gives for each row of `elems` and what it gave for the row before.

    fn: a function of the last result and a row, called once. elems: a tensor [n, ...] or a nested
    structure of them. initializer: the result before the first row, in the structure of the
    results; None starts with the first row. reverse: from the last row to the first. Returns the
    results along a new first dimension. infer_shape: whether all have one shape.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    form = elems if initializer is None else initializer
    given = _flatten(elems)
    with name_scope(name, "scan", given), _variables_read_once():
        flat = [convert_to_tensor(elem, name="elem") for elem in given]
        count = _rows(flat[0])
        if count is None:
            count = array_ops.shape(flat[0])[0]
        arrays = [
            TensorArray(elem.dtype, count, dynamic_size=False, element_shape=elem.shape[1:])
            for elem in flat
        ]
        arrays = [array.unstack(elem) for array, elem in zip(arrays, flat)]
        if initializer is None:
            last = [array.read(count - 1 if reverse else 0) for array in arrays]
            start = 1
        else:
            last = [convert_to_tensor(part) for part in _flatten(initializer)]
            start = 0
        results = [
            TensorArray(
                part.dtype,
                count,
                element_shape=part.shape if infer_shape else None,
                dynamic_size=False,
                infer_shape=infer_shape,
            )
            for part in last
        ]
        if initializer is None:
            first = count - 1 if reverse else 0
            results = [array.write(first, part) for array, part in zip(results, last)]

        def compute(i, last, results):
            row = _pack_as(elems, [array.read(i) for array in arrays])
            value = fn(_pack_as(form, last), row)
            nest.assert_same_structure(form, value)
            parts = _flatten(value)
            results = [array.write(i, part) for array, part in zip(results, parts)]
            return i - 1 if reverse else i + 1, parts, results

        _, _, results = while_loop(
            (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < count),
            compute,
            (count - 1 - start if reverse else start, last, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        stacked = [array.stack() for array in results]
        _set_rows(stacked, flat)
        return _pack_as(form, stacked)


def _fold(fn, elems, initializer, scope, reverse, options):
    if not callable(fn):
        raise TypeError("fn must be callable.")
    name, default = scope
    with name_scope(name, default, [elems]), _variables_read_once():
        flat = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        count = _rows(flat[0]) or array_ops.shape(flat[0])[0]

        def filled(elem):
            return TensorArray(elem.dtype, count, dynamic_size=False).unstack(elem)

        def row(i):
            return nest.map_structure(lambda array: array.read(i), arrays)

        arrays = nest.map_structure(filled, elems)
        if initializer is not None:
            value = initializer
            i = count if reverse else constant_op.constant(0)
        elif reverse:
            i = count - 1
            value = row(i)
        else:
            value = row(0)
            i = constant_op.constant(1)

        def compute(i, value):
            if reverse:
                i -= 1
                return [i, fn(value, row(i))]
            value = fn(value, row(i))
            return [i + 1, value]

        return while_loop(
            (lambda i, _: i > 0) if reverse else (lambda i, _: i < count),
            compute,
            [i, value],
            maximum_iterations=count,
            **options,
        )[1]


def foldl(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """The last result of `fn`, a function of the result before and a row, from first to last.

    elems: a tensor [n, ...] or a nested structure of them. initializer: the result before the
    first row; None starts with the first row.
    """
    options = {
        "parallel_iterations": parallel_iterations,
        "back_prop": back_prop,
        "swap_memory": swap_memory,
    }
    return _fold(fn, elems, initializer, (name, "foldl"), False, options)


def foldr(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """foldl() from the last row to the first."""
    options = {
        "parallel_iterations": parallel_iterations,
        "back_prop": back_prop,
        "swap_memory": swap_memory,
    }
    return _fold(fn, elems, initializer, (name, "foldr"), True, options)
