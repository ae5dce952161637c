"""tf.experimental.dtensor: how tensors are laid out over devices. There is one device.

So there is no mesh to lay anything out on: making one says so.
"""

UNSHARDED = "unsharded"
MATCH = "match"


def _refuse(what):
    return NotImplementedError(
        f"Rheos has one device, so tf.experimental.dtensor.{what} has nothing to lay tensors out on"
    )


class Mesh:
    """Devices in a grid with named dimensions; NotImplementedError, since there is one device."""

    def __init__(self, *args, **kwargs):
        raise _refuse("Mesh")


class Layout:
    """Which dimensions of a tensor go along which of a mesh; NotImplementedError like Mesh."""

    def __init__(self, *args, **kwargs):
        raise _refuse("Layout")


def create_mesh(*args, **kwargs):
    """A mesh of the devices of this machine; NotImplementedError like Mesh."""
    raise _refuse("create_mesh")
