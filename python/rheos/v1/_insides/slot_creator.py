"""Variables kept beside others: tensorflow.python.training.slot_creator."""

from rheos.training.slots import (
    create_slot as create,
    create_slot_with_initializer,
    create_zeros_slot,
)


def create_slot(primary, val, name, colocate_with_primary=True):
    """A variable that is kept with `primary` and starts with `val`."""
    return create(primary, val, name, colocate=colocate_with_primary)
