"""Saved models: a folder with graphs, their variables, and signatures to call them by."""

import types as _types

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.training.object_loading import load as load_v2
from rheos.training.object_saving import save
from rheos.training.saved_model import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    EVAL,
    GPU,
    INIT_OP_SIGNATURE_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    TPU,
    TRAIN_OP_KEY,
    TRAINING,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
    Builder,
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    contains_saved_model,
    get_tensor_from_tensor_info,
    is_valid_signature,
    load,
    main_op,
    main_op_with_restore,
    predict_signature_def,
    regression_signature_def,
    simple_save,
)

_CONSTANTS = {name: value for name, value in globals().items() if name.isupper()}


def _some(*prefixes):
    return _types.SimpleNamespace(
        **{k: v for k, v in _CONSTANTS.items() if k.startswith(prefixes)}
    )


signature_constants = _some("PREDICT", "CLASSIFY", "REGRESS", "DEFAULT")
tag_constants = _some("SERVING", "TRAINING", "EVAL", "GPU", "TPU")
constants = _some("ASSETS", "LEGACY", "MAIN", "TRAIN_", "SAVED_MODEL", "VARIABLES")

maybe_saved_model_directory = contains_saved_model

utils = _types.SimpleNamespace(
    build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info
)
signature_def_utils = _types.SimpleNamespace(
    build_signature_def=build_signature_def,
    predict_signature_def=predict_signature_def,
    regression_signature_def=regression_signature_def,
    classification_signature_def=classification_signature_def,
    is_valid_signature=is_valid_signature,
)
builder = _types.SimpleNamespace(SavedModelBuilder=Builder)
# Its functions are at both places: saved_model.main_op_with_restore, saved_model.main_op.main_op.
main_op.main_op, main_op.main_op_with_restore = main_op, main_op_with_restore
loader = _types.SimpleNamespace(
    load=load,
    maybe_saved_model_directory=maybe_saved_model_directory,
)

experimental = _types.SimpleNamespace(save=save)

__getattr__ = _attribute_of("tensorflow.saved_model")
