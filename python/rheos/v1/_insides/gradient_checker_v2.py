"""Gradients of functions beside differences: tensorflow.python.ops.gradient_checker_v2."""

import numpy as _np

from rheos.training.gradient_check import (
    compute_gradient_in_parts as compute_gradient,
)


def max_error(grad1, grad2):
    """The largest difference between the Jacobians of two lists of them; NaN if there is one."""
    errors = [_np.abs(a - b).max() for a, b in zip(grad1, grad2) if a.size]
    return float(_np.max(errors)) if errors else 0
