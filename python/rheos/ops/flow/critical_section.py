"""Critical sections: parts of programs of which only one runs at a time."""

import collections
import contextlib
import threading

from rheos.framework import dtypes, nest
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies, init_scope, name_scope
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Operation
from rheos.ops.array import array_ops
from rheos.ops.flow.control_flow_ops import group, tuple as wait_for_all
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.state.shared_names import shared_or_own

CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"

# What a graph's collection keeps of each execution: the operation that locks, the handle of the
# section, the handles that its function takes and whether other sections may take them.
_Execution = collections.namedtuple(
    "_Execution", ["op", "handle", "resources", "exclusive_resource_access"]
)


class _Inside(threading.local):
    """The sections that the thread's functions run in, outermost first."""

    def __init__(self):
        self.sections = []


_inside = _Inside()


@contextlib.contextmanager
def _entered(section):
    if section in _inside.sections:
        raise ValueError(
            f"Attempting to lock a CriticalSection (signature={section}) in which we are already "
            "running: its function attempts to directly access the CriticalSection in which it "
            "would be running."
        )
    _inside.sections.append(section)
    try:
        yield
    finally:
        _inside.sections.pop()


def _after(item):
    """The item again, by an operation of its own, which waits for what is around."""
    if item is None:
        return None
    if isinstance(item, TensorArray):
        return item.identity()
    if isinstance(item, Operation):
        return group(item)
    return array_ops.identity(item)


def _place(op):
    """What tells where an operation is: its device, or with what it shares one."""
    return op.device or tuple(op._attr("_class")[1] or ())


class CriticalSection:
    """A part of a program that runs for one at a time: what `execute()` is given.

    shared_name: sections of one name are one section; by default, each its own.
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        with name_scope(name, "CriticalSection", []) as name, init_scope():
            graph = get_default_graph()
            container = "" if graph._is_eager else graph._container
            own = shared_or_own(None, "mutex") if graph._is_eager else name
            shared_name = own if shared_name is None else shared_name
            self._handle = op1("MutexV2", name, container=container, shared_name=shared_name)
            self._name = name.rstrip("/") if graph._is_eager else self._handle.op.name
            place = "" if graph._is_eager else _place(self._handle.op)
        self._signature = (container, shared_name or id(self._handle), place)
        if not get_default_graph()._is_eager:
            get_default_graph().add_to_collections(CRITICAL_SECTIONS, self)

    @property
    def name(self):
        """The name."""
        return self._name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What `fn()` gives, which runs while nothing else of this section does.

        fn: takes nothing and returns tensors, operations, or structures of them.
        exclusive_resource_access: whether other sections are refused the variables and the like
            that `fn` takes; ValueError if one has them already.

        ValueError too if `fn` locks the section itself, which would never end.
        """
        with name_scope(name, "critical_section_execute", []):
            if get_default_graph()._is_eager:
                return self._execute_now(fn)
            return self._execute_in_graph(fn, exclusive_resource_access)

    def _execute_now(self, fn):
        with _entered(self._signature):
            lock = op1("MutexLock", None, self._handle)
            try:
                return nest.map_structure(_after, fn())
            finally:
                apply_op("ConsumeMutexLock", None, lock)

    def _execute_in_graph(self, fn, exclusive):
        graph = get_default_graph()
        with _entered(self._signature):
            lock = op1("MutexLock", None, self._handle)
            num_before = graph._num_operations()
            with control_dependencies([lock]):
                result = fn()
        made = [graph._operation(i) for i in range(num_before, graph._num_operations())]
        self._lock_after_what_is_taken(lock.op, made)
        resources = self._resources_of(made)
        self._check_access(resources, exclusive)
        flat = [_after(item) for item in nest.flatten(result)]
        with control_dependencies(flat), colocate_with(self._handle):
            opened = apply_op("ConsumeMutexLock", None, lock)
        result = nest.pack_sequence_as(result, wait_for_all(flat))
        with control_dependencies([opened]):
            outputs = nest.map_structure(_after, result)
        execution = _Execution(lock.op, self._handle, resources, exclusive)
        graph.add_to_collections(CRITICAL_SECTION_EXECUTIONS, execution)
        return outputs

    @staticmethod
    def _lock_after_what_is_taken(lock, made):
        """Has the lock wait for what the section's operations take from outside: that may itself
        have to lock the section, and never could while this one holds it.

        What comes from outside a loop is there before the loop begins.
        """
        context = lock._get_control_flow_context()
        taken = {}
        for op in made:
            for outside in [*(tensor.op for tensor in op.inputs), *op.control_inputs]:
                taken[outside._id] = outside
        waits_for = {op._id for op in lock.control_inputs}
        for number, op in sorted(taken.items()):
            if number >= lock._id or number in waits_for or op is lock.inputs[0].op:
                continue
            if op._get_control_flow_context() is context:
                lock._add_control_input(op)

    def _resources_of(self, made):
        found = {}
        for op in made:
            for tensor in op.inputs:
                if tensor.dtype == dtypes.resource:
                    found[tensor.name] = tensor
        if any(self._is_mine(tensor) for tensor in found.values()):
            raise ValueError(
                f"Attempting to lock a CriticalSection (signature={self._signature}): its function "
                "attempts to directly access the CriticalSection in which it would be running."
            )
        return list(found.values())

    def _is_mine(self, tensor):
        if tensor is self._handle:
            return True
        if getattr(tensor, "_is_eager", False) or getattr(self._handle, "_is_eager", False):
            return False
        if tensor.op.type != "MutexV2" or not tensor.op.get_attr("shared_name"):
            return False
        mine = self._handle.op
        return tensor.op.get_attr("shared_name") == mine.get_attr("shared_name") and _place(
            tensor.op
        ) == _place(mine)

    def _check_access(self, resources, exclusive):
        names = {tensor.name for tensor in resources}
        for other in get_default_graph().get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_mine(other.handle) or not (exclusive or other.exclusive_resource_access):
                continue
            common = sorted(names.intersection(tensor.name for tensor in other.resources))
            if common:
                raise ValueError(
                    f"This execution would access resources {common}. Either this lock "
                    f"(CriticalSection: {self._handle.name}) or lock '{other.op.name}' "
                    f"(CriticalSection: {other.handle.name}) requested exclusive resource access "
                    "of them. Did you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?"
                )
