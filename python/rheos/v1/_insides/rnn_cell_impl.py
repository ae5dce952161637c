"""Cells of recurrent networks: tensorflow.python.ops.rnn_cell_impl."""

from rheos.layers.rnn_cells import (
    LayerRNNCell,
    assert_like_rnncell,
    joined,
    zero_tensors as _zero_state_tensors,
)

ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"
_BIAS_VARIABLE_NAME, _WEIGHTS_VARIABLE_NAME = "bias", "kernel"


def _concat(prefix, suffix, static=False):
    """A shape of two parts: a vector, or static sizes."""
    return joined(prefix, suffix, static)
