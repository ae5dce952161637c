"""Weights in the shape of values: tensorflow.python.ops.weights_broadcast_ops."""

from rheos.ops.nn.weights_broadcast_ops import assert_broadcastable, broadcast_weights
