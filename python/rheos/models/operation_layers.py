"""Layers for Keras 3's operations between layers, as its files name them."""

import numpy as np

from rheos.framework.conversion import convert_to_tensor
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops


def _reduced(function):
    return lambda x, axis=None, keepdims=False: function(x, axis=axis, keepdims=keepdims)


def _key(key):
    """An index as Python has it, of a configuration's."""
    if isinstance(key, dict) and key.get("class_name") == "__slice__":
        config = key["config"]
        return slice(config["start"], config["stop"], config["step"])
    if isinstance(key, dict) and key.get("class_name") == "__ellipsis__":
        return ...
    if isinstance(key, list):
        return tuple(_key(k) for k in key)
    return key


_FUNCTIONS = {
    "Abs": math_ops.abs,
    "Absolute": math_ops.abs,
    "Add": lambda x, y: x + y,
    "Cast": math_ops.cast,
    "Concatenate": lambda xs, axis=0: array_ops.concat(xs, axis),
    "Divide": lambda x, y: x / y,
    "Equal": lambda x, y: math_ops.equal(x, y),
    "Exp": math_ops.exp,
    "ExpandDims": lambda x, axis: array_ops.expand_dims(x, axis),
    "GetItem": lambda x, key: x[_key(key)],
    "Greater": lambda x, y: math_ops.greater(x, y),
    "GreaterEqual": lambda x, y: math_ops.greater_equal(x, y),
    "Less": lambda x, y: math_ops.less(x, y),
    "LessEqual": lambda x, y: math_ops.less_equal(x, y),
    "Log": math_ops.log,
    "LogicalAnd": math_ops.logical_and,
    "LogicalNot": math_ops.logical_not,
    "LogicalOr": math_ops.logical_or,
    "Matmul": math_ops.matmul,
    "Max": _reduced(math_ops.reduce_max),
    "Maximum": math_ops.maximum,
    "Mean": _reduced(math_ops.reduce_mean),
    "Min": _reduced(math_ops.reduce_min),
    "Minimum": math_ops.minimum,
    "Multiply": lambda x, y: x * y,
    "Negative": lambda x: -x,
    "NotEqual": lambda x, y: math_ops.not_equal(x, y),
    "Power": math_ops.pow,
    "Relu": nn_ops.relu,
    "Reshape": lambda x, newshape: array_ops.reshape(x, newshape),
    "Sigmoid": math_ops.sigmoid,
    "Softmax": lambda x, axis=-1: nn_ops.softmax(x, axis=axis),
    "Sqrt": math_ops.sqrt,
    "Square": math_ops.square,
    "Squeeze": lambda x, axis=None: array_ops.squeeze(x, axis),
    "Stack": lambda xs, axis=0: array_ops.stack(xs, axis),
    "Subtract": lambda x, y: x - y,
    "Sum": _reduced(math_ops.reduce_sum),
    "Tanh": math_ops.tanh,
    "Transpose": lambda x, axes=None: array_ops.transpose(x, axes),
    "TrueDivide": lambda x, y: x / y,
}
# What stands in Keras 3's files for operations of the graph that take tensors alone.
_OF_OPERATIONS = {
    "Add": "Add", "AddV2": "Add", "Sub": "Subtract", "Mul": "Multiply", "RealDiv": "TrueDivide",
    "Maximum": "Maximum", "Minimum": "Minimum", "Neg": "Negative", "Pow": "Power", "Exp": "Exp",
    "Log": "Log", "Sqrt": "Sqrt", "Square": "Square", "Abs": "Absolute", "Equal": "Equal",
    "NotEqual": "NotEqual", "Greater": "Greater", "Less": "Less", "Tanh": "Tanh",
}  # fmt: skip


@objects.known("layer")
class OperationLayer(Layer):
    """A layer of one of Keras 3's operations, by its class name; settings are arguments."""

    def __init__(self, kind, name=None, trainable=True, dtype=None, **settings):
        if kind not in _FUNCTIONS:
            raise NotImplementedError(f"the operation {kind} of Keras 3 between layers")
        super().__init__(name=name, trainable=trainable)
        self.kind, self.settings = kind, settings
        self.built = True

    def _as_inputs(self, inputs):
        return inputs  # a number may come first

    def call(self, *args, **kwargs):
        settings = {k: v for k, v in self.settings.items() if v is not None}
        args = [_as_operand(a, args) for a in args]
        return _FUNCTIONS[self.kind](*args, **{**settings, **kwargs})

    def get_config(self):
        return {"name": self.name, "kind": self.kind, **self.settings}


def _as_operand(x, others):
    """A number in the dtype of the tensor beside it."""
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        found = [t.dtype.base_dtype for t in others if hasattr(t, "dtype")]
        if found:
            return convert_to_tensor(np.asarray(x), found[0]) if len(others) > 1 else x
    return x


def is_operation(config):
    """Whether a configuration without a module is an operation's: those know no trainable."""
    is_known = config["class_name"] in _FUNCTIONS and not config.get("registered_name")
    return is_known and "trainable" not in config["config"]


def keras3_config(layer):
    """What stands for a layer of an operation in Keras 3's files, None for other layers."""
    if isinstance(layer, OperationLayer):
        return _config(layer.kind, {"name": layer.name, **layer.settings})
    operation = getattr(layer, "_operation", None)
    if operation is None:
        return None
    kind = _OF_OPERATIONS.get(operation.type)
    if kind is None:
        raise NotImplementedError(
            f"the operation {operation.name} ({operation.type}) was added outside layers: put it "
            "into a layer of your own to have it in a file"
        )
    return _config(kind, {"name": layer.name})


def _config(kind, config):
    return {"module": "keras.src.ops.numpy", "class_name": kind, "config": config,
            "registered_name": kind}  # fmt: skip


def keras3_calls(layer, calls):
    """The calls of such a layer, with numbers for constants of one element."""
    for call in calls:
        call["args"] = [_plain(a) for a in call["args"]]
    return calls


def _plain(argument):
    if isinstance(argument, dict) and argument.get("class_name") == "__numpy__":
        value = argument["config"]["value"]
        return value if not isinstance(value, list) else argument
    return argument
