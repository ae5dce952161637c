"""Variables on the parameter servers of a cluster.

Such a variable has a handle of this process, by which functions capture it. Its cell is empty but
while the program reads it: then it holds the value that the server has, so tapes see a read.
"""

import contextlib
import threading
import weakref

from rheos.framework import replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import get_eager_graph
from rheos.framework.elsewhere import Elsewhere
from rheos.framework.graph import device
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op, attr_tuples, op1
from rheos.ops.array import array_ops
from rheos.ops.state.eager_variables import EagerVariable
from rheos.ops.state.variables import Variable
from rheos.tracing.function import Function


class VariableOnServer(Elsewhere):
    """Where a variable is: on a task of the parameter servers, under a name of its own."""

    def __init__(self, cluster, task, name, dtype, shape):
        super().__init__(cluster)
        self.task = task
        self._name, self._dtype, self._shape = name, dtype, shape

    @property
    def device(self):
        """The full name of the device."""
        return f"/job:ps/replica:0/task:{self.task}/device:CPU:0"

    def tensor_in(self, session):
        """The handle in the graph of a session."""
        attrs = {"dtype": self._dtype, "shape": self._shape, "shared_name": self._name}
        with device(self.device):
            return op1("VarHandleOp", None, **attrs)


class RemoteVariable(EagerVariable):
    """A variable that a parameter server has: reads and assignments go there.

    place: the VariableOnServer, or a function of a name, dtype and shape that gives it.
    """

    def __init__(self, strategy, place, **arguments):
        self._strategy = strategy
        self._place_of = place
        self._functions = {}
        self._filling, self._is_filled = threading.RLock(), False
        super().__init__(**arguments)

    def _take(self, handle, dtype, shape, name):
        super()._take(handle, dtype, shape, name)
        self._place = handle._elsewhere = self._place_of(name, dtype, shape)
        self._place.variable = weakref.ref(self)
        # Functions capture the handle, and may outlive this object.
        weakref.finalize(handle, self._place.cluster.abandon, self._place).atexit = False
        self._asked_device = self._place.device

    def _start_with(self, value):
        self._asked_device = self._place.device
        self.assign(value)

    @property
    def distribute_strategy(self):
        """The strategy in whose scope it was made."""
        return self._strategy

    @contextlib.contextmanager
    def _beside(self):
        """A context in which variables are on the same server, also outside of scopes."""
        is_inside = replicas.get_strategy() is self._strategy
        with contextlib.nullcontext() if is_inside else self._strategy.scope():
            with self._strategy.extended.colocate_vars_with(self):
                yield

    def _remotely(self, key, function, *args):
        """Has a function of tensors be traced, once for each kind of them, and run where the
        variable is."""
        with get_eager_graph().as_default():
            if key not in self._functions:
                self._functions[key] = Function(function, f"{key}_on_server", autograph=False)
            return self._place.cluster.call_traced(self._functions[key], args)

    # Reads

    @contextlib.contextmanager
    def _filled(self):
        """A context in which the cell holds the variable's value."""
        with self._filling:
            is_outermost, self._is_filled = not self._is_filled, True
            if is_outermost:
                value = self._remotely("read", lambda: EagerVariable._read(self))
                attrs = attr_tuples("AssignVariableOp", {"dtype": self._own_dtype})
                here = get_eager_graph()
                here._node("AssignVariableOp", None, [self._own_handle, value], attrs)
            try:
                yield
            finally:
                if is_outermost:
                    self._is_filled = False
                    here._node("DestroyResourceOp", None, [self._own_handle], ())

    def _at_once(self, method, *args):
        if not get_default_graph()._is_eager:
            return method(self, *args)
        with self._filled():
            return method(self, *args)

    def _read(self):
        return self._at_once(EagerVariable._read)

    _snapshot = _element = property(_read)
    _read_variable_op = read_value = value = _read

    def sparse_read(self, indices, name=None):
        """Rows of the variable."""
        if not get_default_graph()._is_eager:
            return super().sparse_read(indices, name)
        return array_ops.gather(self._read(), indices)  # the gradient asks the cell for nothing

    def gather_nd(self, indices, name=None):
        """Elements or slices of the variable at places."""
        if not get_default_graph()._is_eager:
            return super().gather_nd(indices, name)
        return array_ops.gather_nd(self._read(), indices)

    def __getitem__(self, key):
        return self._at_once(EagerVariable.__getitem__, key)

    def is_initialized(self, name=None):
        """Whether the variable has a value."""
        if not get_default_graph()._is_eager:
            return super().is_initialized(name)
        return self._remotely("is_initialized", lambda: EagerVariable.is_initialized(self))

    # Setting it

    def _assigned(self, method, value, name, read_value):
        plain = getattr(EagerVariable, method)
        if not get_default_graph()._is_eager:
            return plain(self, value, name=name, read_value=read_value)
        value = convert_to_tensor(value, self._own_dtype)
        self._remotely(method, lambda own: _nothing(plain(self, own)), value)
        return self if read_value else None

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the variable, and gives it."""
        return self._assigned("assign", value, name, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds to the variable, and gives it."""
        return self._assigned("assign_add", delta, name, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts from the variable, and gives it."""
        return self._assigned("assign_sub", delta, name, read_value)

    def _scatter_rows(self, op_type, slices, name):
        if not get_default_graph()._is_eager or not isinstance(slices, IndexedSlices):
            return super()._scatter_rows(op_type, slices, name)
        return self._scatter_places(op_type, slices.indices, slices.values, name)

    def _scatter_places(self, op_type, indices, updates, name):
        if not get_default_graph()._is_eager:
            return super()._scatter_places(op_type, indices, updates, name)

        def scatter(indices, updates):
            apply_op(op_type, None, self._variable, indices, updates)

        updates = convert_to_tensor(updates, self._own_dtype)
        self._remotely(op_type, scatter, convert_to_tensor(indices), updates)
        return self

    def _strided_slice_assign(self, bounds, value, name, masks):
        if not get_default_graph()._is_eager:
            return super()._strided_slice_assign(bounds, value, name, masks)
        op_type = "ResourceStridedSliceAssign"

        def assign(value, *bounds):
            apply_op(op_type, None, self._variable, *bounds, value, **masks)

        value = convert_to_tensor(value, self._own_dtype)
        self._remotely(op_type + repr(masks), assign, value, *map(convert_to_tensor, bounds))
        return self

    # Copies

    def __deepcopy__(self, memo):
        with self._strategy.scope():
            copy = memo[id(self)] = Variable(
                self._read(),
                trainable=self._trainable,
                constraint=self._constraint,
                dtype=self._own_dtype,
                name=self._own_name + "_copy",
            )
        return copy

    def __reduce__(self):
        raise TypeError(f"{self.name} is on a parameter server: pickle its value, by numpy()")


def _nothing(unused):
    return None
