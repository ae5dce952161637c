"""TF-Slim: layers, default arguments in scopes, losses and variables in one module."""

import types as _types

from rheos.contrib import (
    model_analyzer,
    slim_data as _data,
    slim_evaluation as _evaluation,
    tfexample_decoder,
)
from rheos.contrib.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from rheos.contrib.training import (
    add_gradients_summaries as _add_gradients_summaries,
    clip_gradient_norms as _clip_gradient_norms,
    create_slim_train_op as _create_train_op,
    multiply_gradients as _multiply_gradients,
    slim_train as _train,
    train_step as _train_step,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.training.checkpoints import (
    checkpoints_iterator as _checkpoints_iterator,
    wait_for_new_checkpoint as _wait_for_new_checkpoint,
)
from rheos.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)
from rheos.v1.contrib import _layers_utils as utils, losses, metrics  # noqa: I001
from rheos.v1.contrib.framework import (
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
)
from rheos.v1.contrib.layers import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    apply_regularization,
    avg_pool2d,
    avg_pool3d,
    batch_norm,
    bias_add,
    bow_encoder,
    conv1d,
    conv2d,
    conv2d_in_plane,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_in_plane,
    convolution2d_transpose,
    convolution3d,
    convolution3d_transpose,
    dense_to_sparse,
    dropout,
    elu,
    embed_sequence,
    embedding_lookup_unique,
    flatten,
    fully_connected,
    group_norm,
    images_to_sequence,
    instance_norm,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    layer_norm,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    linear,
    max_pool2d,
    max_pool3d,
    maxout,
    one_hot_encoding,
    optimize_loss,
    relu,
    relu6,
    repeat,
    safe_embedding_lookup_sparse,
    separable_conv2d,
    separable_convolution2d,
    sequence_to_images,
    softmax,
    spatial_softmax,
    stack,
    sum_regularizer,
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
    unit_norm,
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)

data_decoder = _types.SimpleNamespace(DataDecoder=_data.DataDecoder)
data_provider = _types.SimpleNamespace(DataProvider=_data.DataProvider)
dataset = _types.SimpleNamespace(Dataset=_data.Dataset)
dataset_data_provider = _types.SimpleNamespace(DatasetDataProvider=_data.DatasetDataProvider)
parallel_reader = _types.SimpleNamespace(
    ParallelReader=_data.ParallelReader,
    get_data_files=_data.get_data_files,
    parallel_read=_data.parallel_read,
    single_pass_read=_data.single_pass_read,
)
prefetch_queue = _types.SimpleNamespace(prefetch_queue=_data.prefetch_queue)
queues = _types.SimpleNamespace(
    NestedQueueRunnerError=_data.NestedQueueRunnerError, QueueRunners=_data.QueueRunners
)
learning = _types.SimpleNamespace(
    add_gradients_summaries=_add_gradients_summaries,
    clip_gradient_norms=_clip_gradient_norms,
    create_train_op=_create_train_op,
    multiply_gradients=_multiply_gradients,
    train=_train,
    train_step=_train_step,
)

evaluation = _types.SimpleNamespace(
    checkpoints_iterator=_checkpoints_iterator,
    evaluate_once=_evaluation.evaluate_once,
    evaluation_loop=_evaluation.evaluation_loop,
    wait_for_new_checkpoint=_wait_for_new_checkpoint,
)
initializers = _types.SimpleNamespace(
    variance_scaling_initializer=variance_scaling_initializer,
    xavier_initializer=xavier_initializer,
    xavier_initializer_conv2d=xavier_initializer_conv2d,
)

__getattr__ = _attribute_of("tensorflow.contrib.slim")
