"""tensorflow.python.framework.ops: eager tensors, graphs, and what tensors are made of."""

from rheos.framework.conversion import (  # noqa: F401
    convert_to_tensor,
    register_tensor_conversion_function,
)
from rheos.framework.defaults import get_default_graph  # noqa: F401
from rheos.framework.eager import EagerTensor, executing_eagerly  # noqa: F401
from rheos.framework.graph import (  # noqa: F401
    Graph,
    colocate_with,
    control_dependencies,
    device,
    init_scope,
    name_scope,
)
from rheos.framework.indexed_slices import IndexedSlices  # noqa: F401
from rheos.framework.operation import Operation, Tensor  # noqa: F401
