"""Functions that add operations to a graph, named and structured as TensorFlow's are.

The modules imported here register functions and classes that modules below them use.
"""

from rheos.ops import (
    cast_ops,
    linear_operator_combinations,
    linear_operators,
    math_ops,
    ragged_broadcast,
    ragged_ops,
    ragged_shaping,
    ragged_string_ops,
    resource_variables,
    slicing,
)
