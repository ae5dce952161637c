"""Control flow in TensorFlow 2's form."""

from rheos.framework import nest
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops import control_flow_ops, functional_ops


def _dtype_of(one):
    return one.dtype if isinstance(one, TensorSpec) else one


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """What `fn` makes of each slice of `elems`, stacked: map_fn() that asks for no signature.

    A tensor of one row among `elems` counts as that row again and again.
    """
    return functional_ops.map_rows(fn, elems)


def cond(pred, true_fn=None, false_fn=None, name=None):
    """What `true_fn()` gives if `pred` is true, else what `false_fn()` does."""
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
    """Runs `body` on the values as long as `cond` says so."""
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
    """
    signature = dtype if fn_output_signature is None else fn_output_signature
    if any(map(nest.is_composite, nest.flatten(elems))):
        fn, elems, signature = functional_ops.over_variants(fn, elems, signature)
    return functional_ops.map_fn(
        fn,
        elems,
        nest.map_structure(_dtype_of, signature),
        parallel_iterations,
        back_prop,
        swap_memory,
        infer_shape,
        name,
    )
