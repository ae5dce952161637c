"""Whether weights fit values: a scalar, or of the same rank with each dimension 1 or equal."""

from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.ops.array import array_ops, sets_impl
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops

_MESSAGE = "weights can not be broadcast to values."


def _plain(tensor):
    return "[%s]" % " ".join("?" if d is None else str(d) for d in tensor.shape.as_list())


def assert_broadcastable(weights, values):
    """An operation that fails unless the weights fit the values; ValueError if that is known."""
    with name_scope(None, "assert_broadcastable", (weights, values)) as whole:
        with name_scope(None, "weights", (weights,)) as scope:
            weights = convert_to_tensor(weights, name=scope)
            weights_shape = array_ops.shape(weights, name="shape")
            weights_rank = array_ops.rank(weights, name="rank")
        with name_scope(None, "values", (values,)) as scope:
            values = convert_to_tensor(values, name=scope)
            values_shape = array_ops.shape(values, name="shape")
            values_rank = array_ops.rank(values, name="rank")
        known_weights, known_values = constant_value(weights_rank), constant_value(values_rank)
        if known_weights is not None and known_values is not None:
            if known_weights == 0:
                return control_flow_ops.no_op(name="static_scalar_check_success")
            if known_weights != known_values:
                raise ValueError(
                    f"{_MESSAGE} values.rank={known_values}. weights.rank={known_weights}. "
                    f"values.shape={values.shape}. weights.shape={weights.shape}."
                )
            pairs = zip(weights.shape.as_list(), values.shape.as_list())
            for i, (have, wanted) in enumerate(pairs):
                if have not in (None, 1) and wanted is not None and have != wanted:
                    raise ValueError(
                        f"{_MESSAGE} Mismatch at dim {i}. values.shape={_plain(values)} "
                        f"weights.shape={_plain(weights)}."
                    )
            if weights.shape.is_fully_defined() and values.shape.is_fully_defined():
                return control_flow_ops.no_op(name="static_dims_check_success")
        is_scalar = math_ops.equal(0, weights_rank, name="is_scalar")
        data = [_MESSAGE, "weights.shape=", weights.name, weights_shape]
        data += ["values.shape=", values.name, values_shape, "is_scalar=", is_scalar]
        valid = control_flow_ops.cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _shape_fits(weights_shape, weights_rank, values_shape, values_rank),
            name="is_valid_shape",
        )
        return control_flow_ops.Assert(valid, data, name=whole)


def _shape_fits(weights_shape, weights_rank, values_shape, values_rank):
    """Whether the ranks are equal and each dimension is 1 or equal."""
    parts = (weights_rank, weights_shape, values_rank, values_shape)
    with name_scope(None, "has_valid_nonscalar_shape", parts) as scope:
        same_rank = math_ops.equal(values_rank, weights_rank, name="is_same_rank")
        return control_flow_ops.cond(
            same_rank,
            lambda: _dims_fit(weights_shape, values_shape),
            lambda: same_rank,
            name=scope,
        )


def _dims_fit(weights_shape, values_shape):
    """Whether each dimension is 1 or equal: whether no set {weight} is more than {value, 1}."""
    with name_scope(None, "has_invalid_dims", (weights_shape, values_shape)) as scope:
        columns = array_ops.expand_dims(values_shape, -1)
        valid = array_ops.concat((columns, array_ops.ones_like(columns)), axis=1)
        invalid = sets_impl.set_difference(array_ops.expand_dims(weights_shape, -1), valid)
        count = array_ops.size(invalid.values, name="num_invalid_dims")
        return math_ops.equal(0, count, name=scope)


def broadcast_weights(weights, values):
    """The weights in the shape of the values; fails as assert_broadcastable does."""
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if (
            weights.shape.is_fully_defined()
            and values.shape.is_fully_defined()
            and weights.shape.is_compatible_with(values.shape)
        ):
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return math_ops.multiply(weights, array_ops.ones_like(values), name=scope)
