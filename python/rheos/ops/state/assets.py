"""Files that a saved model takes along."""

import os

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor, register_tensor_conversion_function
from rheos.framework.graph import init_scope
from rheos.ops.array.constant_op import constant


class Asset:
    """A file that belongs to an object: saved_model.save() copies it into the model's folder.

    path: of the file. As a tensor it is the path, also where the model is loaded.
    """

    def __init__(self, path):
        with init_scope():
            if hasattr(path, "dtype"):
                self._path = convert_to_tensor(path, dtypes.string)
            else:
                self._path = constant(os.fsdecode(path), dtypes.string)

    @property
    def asset_path(self):
        """The path, a scalar of strings."""
        return self._path

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}


def _converted(value, dtype=None, name=None, as_ref=False):
    if dtype is not None and dtypes.as_dtype(dtype) != dtypes.string:
        return NotImplemented
    return convert_to_tensor(value.asset_path)


register_tensor_conversion_function(Asset, _converted)
