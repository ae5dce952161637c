"""Default arguments in scopes, and variables with collections, of tf.contrib.framework."""

import types as _types

from rheos.contrib.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from rheos.contrib.deprecation import deprecated, deprecated_arg_values, deprecated_args
from rheos.contrib.framework_ops import (
    assert_scalar_int,
    get_graph_from_inputs,
    get_name_scope,
    get_placeholders,
    prepend_name_scope,
    reduce_sum_n,
    remove_squeezable_dimensions,
    strip_name_scope,
    with_same_shape,
    with_shape,
)
from rheos.contrib.variables import (
    add_model_variable,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
    zero_initializer,
)
from rheos.framework import nest
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.sparse_tensor import convert_to_tensor_or_sparse_tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops import audio_ops as _audio_ops
from rheos.ops.check_ops import assert_same_float_dtype, assert_scalar
from rheos.ops.rearrange_ops import argsort, is_tensor, sort
from rheos.ops.smart_cond import smart_cond, smart_constant_value
from rheos.training.checkpoints import (
    checkpoints_iterator,
    list_variables,
    load_checkpoint,
    load_variable,
)
from rheos.training.first_values import init_from_checkpoint
from rheos.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)

# tf.contrib.framework.python.ops.audio_ops has no other public name.
python = _types.SimpleNamespace(ops=_types.SimpleNamespace(audio_ops=_audio_ops))

__getattr__ = _attribute_of("tensorflow.contrib.framework")
