"""Variables behind handles: every read is an operation of its own, made where the value is used."""

from rheos.framework import signatures
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import (
    control_dependencies,
    device,
    graph_from_inputs,
    name_scope,
)
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op, op1
from rheos.ops.array import array_ops
from rheos.ops.state.variables import Variable, register_resource_type


@register_resource_type
class ResourceVariable(Variable):
    """A variable whose reads see what the control dependencies around them have done to it."""

    _is_resource = True

    def _make(self, graph, scope, value, dtype, arguments):
        location = b"loc:@" + scope[:-1].encode()
        where = ("_class", signatures.list_kind(signatures.STRING), [location])
        with graph._attr_scope([where]), name_scope("Initializer"), graph.device(None):
            value = value() if callable(value) else value
            value = convert_to_tensor(value, dtype, "initial_value")
        graph._variable_new(self, value, scope, False, not self._trainable, True, *arguments)

    # What it is

    @property
    def dtype(self):
        return self._element.dtype

    @property
    def shape(self):
        return self._element.shape

    def set_shape(self, shape):
        """Not for these: give `shape` when the variable is made."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    @property
    def handle(self):
        """The tensor that operations on the variable take."""
        return self._variable

    _handle = handle

    @property
    def create(self):
        """The operation that sets the initial value."""
        return self.initializer

    @property
    def _in_graph_mode(self):
        return True

    @property
    def _graph_element(self):
        return self._element

    def _as_graph_element(self):
        return self._element

    def numpy(self):
        """Not in graphs."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __bool__(self):
        return bool(self._element)

    # The variable's value

    def _read_variable_op(self):
        return op1("ReadVariableOp", None, self._variable, dtype=self.dtype)

    def value(self):
        """A tensor that reads the variable where this is called."""
        return self._snapshot

    def read_value(self):
        """A new operation that reads the variable where it is made."""
        with name_scope("Read"), device(self._variable.device):
            value = self._read_variable_op()
        return array_ops.identity(value)

    def sparse_read(self, indices, name=None):
        """Rows of the variable."""
        with name_scope("Gather" if name is None else name) as scope:
            rows = op1("ResourceGather", scope, self._variable, indices, dtype=self.dtype)
        return array_ops.identity(rows)

    def gather_nd(self, indices, name=None):
        """Elements or slices of the variable at places."""
        with name_scope("GatherNd" if name is None else name) as scope:
            found = op1("ResourceGatherNd", scope, self._variable, indices, dtype=self.dtype)
        return array_ops.identity(found)

    def is_initialized(self, name=None):
        """Whether the variable has a value in the session."""
        return op1("VarIsInitializedOp", name, self._variable)

    def eval(self, session=None):
        """The value in `session`, by default the default one."""
        return self._element.eval(session=session)

    # Setting it

    def _lazy_read(self, operation):
        return _UnreadVariable(self, operation)

    def _changed(self, operation, read_value):
        return self._lazy_read(operation) if read_value else operation

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the variable; gives it as it is then, or the operation unless `read_value`."""
        with graph_from_inputs([self]).as_default():
            value = convert_to_tensor(value, self.dtype)
            self.shape.assert_is_compatible_with(value.shape)
            operation = apply_op("AssignVariableOp", name, self._variable, value)
            return self._changed(operation, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds to the variable."""
        delta = convert_to_tensor(delta, self.dtype)
        operation = apply_op("AssignAddVariableOp", name, self._variable, delta)
        return self._changed(operation, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts from the variable."""
        delta = convert_to_tensor(delta, self.dtype)
        operation = apply_op("AssignSubVariableOp", name, self._variable, delta)
        return self._changed(operation, read_value)

    def _scatter_rows(self, op_type, slices, name):
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")
        values = convert_to_tensor(slices.values, self.dtype)
        return self._lazy_read(apply_op(op_type, name, self._variable, slices.indices, values))

    def _scatter_places(self, op_type, indices, updates, name):
        updates = convert_to_tensor(updates, self.dtype)
        return self._lazy_read(apply_op(op_type, name, self._variable, indices, updates))

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts at places."""
        return self._scatter_places("ResourceScatterNdSub", indices, updates, name)

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds at places."""
        return self._scatter_places("ResourceScatterNdAdd", indices, updates, name)

    def scatter_nd_update(self, indices, updates, name=None):
        """Sets places."""
        return self._scatter_places("ResourceScatterNdUpdate", indices, updates, name)

    def _strided_slice_assign(self, bounds, value, name, masks):
        operation = apply_op(
            "ResourceStridedSliceAssign",
            name,
            self._variable,
            *bounds,
            convert_to_tensor(value, self.dtype),
            **masks,
        )
        return self._lazy_read(operation)


def _rows_method(name, doc):
    op_type = "Resource" + "".join(part.capitalize() for part in name.split("_"))

    def method(self, sparse_delta, use_locking=False, name=None):
        return self._scatter_rows(op_type, sparse_delta, name)

    method.__name__ = name
    method.__qualname__ = "ResourceVariable." + name
    method.__doc__ = doc
    setattr(ResourceVariable, name, method)


_rows_method("scatter_add", "Adds to rows.")
_rows_method("scatter_sub", "Subtracts from rows.")
_rows_method("scatter_mul", "Multiplies rows.")
_rows_method("scatter_div", "Divides rows.")
_rows_method("scatter_min", "Lowers rows to at most the values.")
_rows_method("scatter_max", "Raises rows to at least the values.")
_rows_method("scatter_update", "Sets rows.")


class _UnreadVariable(ResourceVariable):
    """A variable after an operation on it: reads wait for that operation."""

    def __init__(self, variable, operation):
        graph = get_default_graph()
        if graph.building_function:
            element = variable._element  # nobody outside can ask for what it is inside
        else:
            with control_dependencies([operation]):
                element = variable._read_variable_op()
        self._parent_op = operation
        self._trainable = variable._trainable
        self._constraint = variable._constraint
        self._aggregation = variable._aggregation
        self._synchronization = variable._synchronization
        variable.graph._fill_read(self, variable, element, operation)

    @property
    def name(self):
        return self._parent_op.name

    @property
    def op(self):
        """The operation that reads wait for."""
        return self._parent_op

    def read_value(self):
        """A new operation that reads the variable after the operation on it."""
        with control_dependencies([self._parent_op]):
            return super().read_value()
