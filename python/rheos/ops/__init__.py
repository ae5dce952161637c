"""Functions that add operations to a graph, named and structured as TensorFlow's are.

The modules imported here register functions and classes that modules below them use. Modules of
linear operators do so when a program first wants one: all are imported together, by its face.
"""

from rheos.ops.array import cast_ops, slicing
from rheos.ops.math import math_ops
from rheos.ops.ragged import (
    ragged_broadcast,
    ragged_matmul,
    ragged_ops,
    ragged_shape,
    ragged_shaping,
    ragged_string_ops,
    ragged_tensor_spec,
)
from rheos.ops.state import resource_variables
