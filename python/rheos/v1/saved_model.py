"""Saved models: a folder with graphs, their variables, and signatures to call them by."""

import types as _types

from rheos.training.saved_model import main_op, main_op_with_restore
from rheos.v1._names import fill as _fill

_fill(__name__)


_CONSTANTS = {name: value for name, value in globals().items() if name.isupper()}


def _some(*prefixes):
    return _types.SimpleNamespace(**{k: v for k, v in _CONSTANTS.items() if k.startswith(prefixes)})


signature_constants = _some("PREDICT", "CLASSIFY", "REGRESS", "DEFAULT")
tag_constants = _some("SERVING", "TRAINING", "EVAL", "GPU", "TPU")
constants = _some("ASSETS", "LEGACY", "MAIN", "TRAIN_", "SAVED_MODEL", "VARIABLES")


# The functions of main_op are at both places: saved_model.main_op_with_restore,
# saved_model.main_op.main_op.
main_op.main_op, main_op.main_op_with_restore = main_op, main_op_with_restore
