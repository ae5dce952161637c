"""The order of operations: tensorflow.python.ops.control_flow_ops."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.control_contexts import CondContext, ControlFlowContext, WhileContext
from rheos.ops.flow.branch_ops import (
    merge,
    ref_merge,
    ref_switch,
    ref_switch_or_switch as _SwitchRefOrTensor,
    switch,
)
from rheos.ops.flow.control_flow_ops import (
    Assert,
    case,
    cond,
    group,
    no_op,
    switch_case,
    tuple,
    while_loop,
    with_dependencies,
)

__getattr__ = _attribute_of("tensorflow")
