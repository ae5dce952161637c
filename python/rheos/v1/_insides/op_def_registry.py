"""The types of operations: tensorflow.python.framework.op_def_registry."""

from rheos.framework.op_defs import op_def_message
from rheos.v1 import raw_ops


def get_registered_ops():
    """{type: OpDef} of all operations."""
    return {op_type: op_def_message(op_type) for op_type in dir(raw_ops)}
