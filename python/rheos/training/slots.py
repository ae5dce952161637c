"""Slots: variables that an optimizer or a moving average keeps beside others."""

import contextlib

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import colocate_with
from rheos.ops.array import array_ops
from rheos.ops.state import init_ops
from rheos.ops.state.partitioned_variables import SaveSliceInfo
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope
from rheos.ops.state.variables import Variable


def create_slot(primary, value, name, shape=None, dtype=None, validate_shape=None, colocate=True):
    """A variable PRIMARY/name that is kept with another one, with the first value `value`."""
    if validate_shape is None:
        validate_shape = convert_to_tensor(value).shape.is_fully_defined()
    is_resource = getattr(primary, "_is_resource", None)
    prefix = primary._shared_name if isinstance(primary, Variable) else primary.op.name
    with variable_scope(None, prefix + "/" + name):
        with colocate_with(primary) if colocate else contextlib.nullcontext():
            scope = get_variable_scope()
            partitioner = scope.partitioner
            scope.set_partitioner(None)
            slot = get_variable(
                "",
                initializer=value,
                trainable=False,
                use_resource=is_resource,
                shape=shape,
                dtype=dtype,
                validate_shape=validate_shape,
            )
            scope.set_partitioner(partitioner)
    part = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    if part is not None:
        # As many letters from the end as TensorFlow takes: in a scope more than the slot adds.
        added = slot.op.name[len(primary.op.name) + 1 :]
        whole = f"{part.full_name}/{added}"
        slot._set_save_slice_info(
            SaveSliceInfo(whole, part.full_shape, part.var_offset, part.var_shape)
        )
    return slot


def create_slot_with_initializer(primary, initializer, shape, dtype, name, colocate=True):
    """The same, with a first value that `initializer` makes."""
    known = shape.is_fully_defined()
    shape = shape if known else None
    return create_slot(primary, initializer, name, shape, dtype, known, colocate)


def create_zeros_slot(primary, name, dtype=None, colocate=True):
    """The same, with a first value of zeros in the shape of the primary."""
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    shape = primary.shape
    if shape.is_fully_defined():
        zeros = init_ops.zeros_initializer(dtype)
        return create_slot_with_initializer(primary, zeros, shape, dtype, name, colocate)
    like = primary.initial_value if isinstance(primary, Variable) else primary
    zeros = array_ops.zeros(array_ops.shape(like), dtype=dtype)
    return create_slot(primary, zeros, name, colocate=colocate)
