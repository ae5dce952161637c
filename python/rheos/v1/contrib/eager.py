"""Eager execution of tf.contrib: names from before TensorFlow 1 had them elsewhere."""

from rheos.contrib import eager_metrics as metrics
from rheos.contrib.eager import (
    Iterator,
    Network,
    Saver,
    Sequential,
    get_optimizer_variables,
    gradients_function,
    implicit_gradients,
    implicit_value_and_gradients,
    in_eager_mode,
    list_devices,
    num_gpus,
    value_and_gradients_function,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.eager import executing_eagerly
from rheos.framework.tensor_spec import TensorSpec
from rheos.framework.trackable import AutoTrackable as Checkpointable
from rheos.ops.custom_gradient import custom_gradient
from rheos.ops.gradient_tape import GradientTape
from rheos.ops.py_function import py_function as py_func
from rheos.ops.template import make_template
from rheos.ops.variables import Variable
from rheos.tracing.function import function, function as defun
from rheos.training.object_checkpoints import Checkpoint
from rheos.v1._modes import enable_eager_execution
from rheos.v1.app import run

__getattr__ = _attribute_of("tensorflow.contrib.eager")
