"""Control flow in TensorFlow 2's form."""

import functools

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.eager import executing_eagerly
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, type_spec_from_value
from rheos.ops.flow import control_flow_ops, functional_ops
from rheos.ops.ragged.ragged_tensor import is_ragged
from rheos.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from rheos.tracing.function import function, functions_run_eagerly


def _is_of_parts(one):
    """Whether a signature is of something made of several tensors, which a variant holds."""
    return isinstance(one, TypeSpec) and not isinstance(one, (TensorSpec, RaggedTensorSpec))


def _held(spec):
    """How many tensors hold a row: of sparse and ragged ones a variant, else its own."""
    return [one.dtype for one in spec._batch(None)._flat_tensor_specs]


def _dtype_of(one):
    if _is_of_parts(one):
        return _held(one)
    return one


def _row_of(elem):
    """The signature of a row."""
    return type_spec_from_value(elem)._unbatch() if nest.is_composite(elem) else elem.dtype


def _with_variants(fn, signature):
    """`fn` with variants for results that are made of several tensors."""
    if not any(map(_is_of_parts, nest.flatten(signature))):
        return fn

    def call(row):
        made = nest.flatten_up_to(signature, fn(row))
        parts = [
            spec._to_tensor_list(one) if _is_of_parts(spec) else one
            for spec, one in zip(nest.flatten(signature), made)
        ]
        return nest.pack_sequence_as(signature, parts) if nest.is_nested(signature) else parts[0]

    return call


def _from_variants(spec, rows):
    if not _is_of_parts(spec):
        return rows
    known = rows[0].shape
    count = known.as_list()[0] if known.ndims else None
    return spec._batch(count)._from_tensor_list(rows)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """What `fn` makes of each slice of `elems`, stacked: map_fn() that asks for no signature.

    A tensor of one row among `elems` counts as that row again and again. Where operations run at
    once, this is traced, as in TensorFlow: a loop of the engine goes over the rows.
    """
    if not executing_eagerly() or functions_run_eagerly():
        return functional_ops.map_rows(fn, elems)
    rows = nest.map_structure(convert_to_tensor, elems)
    return function(functools.partial(functional_ops.map_rows, fn), autograph=False)(rows)


def cond(pred, true_fn=None, false_fn=None, name=None):
    """What `true_fn()` gives if `pred` is true, else what `false_fn()` does.

    >>> print(tf.cond(tf.constant(3) > 2, lambda: tf.constant(1), lambda: tf.constant(0)).numpy())
    1
    """
    return control_flow_ops.cond(pred, true_fn, false_fn, name=name)


def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """Runs `body` on the values as long as `cond` says so.

    >>> print(tf.while_loop(lambda i, p: i < 5, lambda i, p: (i + 1, 2 * p), [0, 1])[1].numpy())
    32
    """
    return control_flow_ops.while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        name,
        maximum_iterations,
        True,
    )


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
    """What `fn` makes of each slice of `elems`, stacked.

    fn_output_signature: of what it makes: dtypes or TensorSpecs in its structure.

    >>> print(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy())
    [1 4 9]
    """
    signature = dtype if fn_output_signature is None else fn_output_signature
    if any(nest.is_composite(elem) and not is_ragged(elem) for elem in nest.flatten(elems)):
        signature = nest.map_structure(_row_of, elems) if signature is None else signature
        fn, elems, _ = functional_ops.over_variants(fn, elems, signature)
    made = functional_ops.map_fn(
        _with_variants(fn, signature),
        elems,
        nest.map_structure(_dtype_of, signature),
        parallel_iterations,
        back_prop,
        swap_memory,
        infer_shape,
        name,
    )
    if not any(map(_is_of_parts, nest.flatten(signature))):
        return made
    return nest.map_structure_up_to(signature, _from_variants, signature, made)
