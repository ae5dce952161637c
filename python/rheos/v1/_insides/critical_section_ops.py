"""Critical sections: tensorflow.python.ops.critical_section_ops."""

from rheos.ops.flow.critical_section import (
    CRITICAL_SECTION_EXECUTIONS,
    CRITICAL_SECTIONS,
    CriticalSection,
)
