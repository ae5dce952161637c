"""Variables of eager execution: their values are there, and functions capture their handles."""

import functools
import itertools

from rheos import _core
from rheos.framework import dtypes, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.devices import full_device
from rheos.framework.eager import _text, device_name, get_eager_graph
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Tensor
from rheos.framework.watchers import variable_was_read
from rheos.ops.array.slicing import slice_helper
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.resource_variables import ResourceVariable
from rheos.ops.state.variables import (
    VariableAggregation,
    VariableSynchronization,
    register_eager_type,
)

_numbers = itertools.count()


def _initial(value, dtype, shape):
    """The tensor that a variable starts with."""
    with get_eager_graph().as_default():
        value = value() if callable(value) and not isinstance(value, Tensor) else value
        if value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified.")
        value = convert_to_tensor(value, dtype)
    if shape is not None and not shape.is_compatible_with(value.shape):
        raise ValueError(
            f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not "
            f"compatible with the explicitly supplied `shape` argument ({shape})."
        )
    return value


def _new_handle(dtype, shape, name):
    handle = _core._eager_variable(dtype, name)
    handle._handle_shape = shape
    handle._handle_dtype = dtype
    return handle


_PLAIN_KEYS = frozenset((int, slice, type(Ellipsis), type(None)))


def _assign_slice(variable, key, value, name=None):
    """What the slice of a variable that a key says does when it is assigned."""
    return slice_helper(variable._read(), key, variable).assign(value, name=name)


@register_eager_type
class EagerVariable(ResourceVariable):
    """A variable behind a handle that is there, not in a graph."""

    _is_eager = True
    _in_graph_mode = False

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        collections=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        expected_shape=None,
        import_scope=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        given = None if shape is None else tensor_shape.as_shape(shape)
        value = _initial(initial_value, dtype, given)
        graph = get_default_graph()
        if GraphKeys.GLOBAL_STEP in (collections or ()):
            get_eager_graph()._keep(GraphKeys.GLOBAL_STEP, self)
        self._trainable = True if trainable is None else bool(trainable)
        self._constraint = constraint
        self._synchronization = VariableSynchronization(synchronization)
        self._aggregation = VariableAggregation(aggregation)
        shape = value.shape if given is None else given
        name = graph._scope_name() + (name or "Variable").rstrip("/")
        self._take(_new_handle(value.dtype, shape, name), value.dtype, shape, name)
        if graph._devices:
            self._asked_device = full_device(graph._devices, device_name())
        self._start_with(value)

    def _start_with(self, value):
        with get_eager_graph().as_default():
            apply_op("AssignVariableOp", None, self._own_handle, value)

    def _take(self, handle, dtype, shape, name):
        self._set_up_now(handle, dtype, shape)
        self._own_dtype, self._own_shape, self._own_name = dtype, shape, name
        self._own_number = next(_numbers)

    @classmethod
    def behind(cls, handle, dtype, shape, trainable, name):
        """The variable behind a handle, which may be an argument of a function."""
        made = cls.__new__(cls)
        made._trainable = True if trainable is None else bool(trainable)
        made._take(handle, dtype, shape, name)
        return made

    @classmethod
    def without_value(cls, dtype, shape, trainable=None, name=None):
        """A variable that cannot be read before it is assigned."""
        name = get_default_graph()._scope_name() + (name or "Variable")
        return cls.behind(_new_handle(dtype, shape, name), dtype, shape, trainable, name)

    # What it is

    traced_for = None  # of a function's argument: a weak reference to what it stands for at first

    @property
    def _variable(self):
        return self._own_handle

    handle = _handle = _variable

    @property
    def graph(self):
        """The graph that the variable is of, which eager ones are not."""
        raise AttributeError("Variable.graph is undefined when eager execution is enabled.")

    @property
    def op(self):
        """The operation that makes the variable, which eager ones do not have."""
        raise AttributeError("Variable.op is undefined when eager execution is enabled.")

    @property
    def initializer(self):
        """What sets the initial value: nothing, it is set."""
        return None

    create = initializer

    @property
    def initial_value(self):
        """Always a RuntimeError: it is not kept."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    @property
    def dtype(self):
        return self._own_dtype

    @property
    def shape(self):
        return self._own_shape

    @property
    def name(self):
        return self._own_name + ":0"

    @property
    def path(self):
        """The name with those of the scopes around it."""
        return self._own_name

    @property
    def _shared_name(self):
        return self._own_name

    @property
    def _unique_id(self):
        original = self.traced_for and self.traced_for()
        if original is not None:
            return original._unique_id
        return f"{self._own_name}_{self._own_number}"

    _asked_device = None

    @property
    def device(self):
        """The device that has the value, as the program named it."""
        return self._asked_device or self._own_handle.device

    @property
    def _save_slice_info(self):
        return None

    def _as_graph_element(self):
        return None

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self}

    def _serialize_to_tensors(self):
        """What an object that holds the variable gives a checkpoint of it."""
        return {"VARIABLE_VALUE": self.read_value()}

    def _restore_from_tensors(self, restored_tensors):
        """Takes its value from what a checkpoint kept; gives what does so in a graph."""
        return self.assign(restored_tensors["VARIABLE_VALUE"])

    # The variable's value

    def _read(self):
        value = self._read_now()
        if value is not None:
            return value
        self._touch()
        value = op1("ReadVariableOp", None, self._own_handle, dtype=self._own_dtype)
        if not value._is_eager:
            value.set_shape(self._own_shape)
        return value

    _snapshot = _element = property(_read)
    _read_variable_op = read_value = value = _read

    def _touch(self):
        if self._trainable:
            variable_was_read(self)
        if self._own_handle._is_eager and get_default_graph().building_function:
            get_default_graph().watch_variable(self)

    def sparse_read(self, indices, name=None):
        self._touch()
        return super().sparse_read(indices, name)

    def gather_nd(self, indices, name=None):
        self._touch()
        return super().gather_nd(indices, name)

    def numpy(self):
        """A copy of the value as an array, or as a NumPy scalar or bytes."""
        return self._known().numpy()

    def _known(self):
        value = self._read()
        if not value._is_eager:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return value

    def __array__(self, dtype=None, copy=None):
        return self._known().__array__(dtype)

    def __bool__(self):
        return bool(self._read())

    def __int__(self):
        return int(self._known())

    def __float__(self):
        return float(self._known())

    def __index__(self):
        return self._known().__index__()

    def __len__(self):
        return len(self._read())

    def __iter__(self):
        return iter(self._read())

    def __getitem__(self, key):
        parts = key if type(key) is tuple else (key,)
        value = self._read_now() if all(type(part) in _PLAIN_KEYS for part in parts) else None
        if value is None:
            return slice_helper(self._read(), key, self)
        sliced = value[key]
        sliced.assign = functools.partial(_assign_slice, self, key)
        return sliced

    def __eq__(self, other):
        return False if other is None else self._read() == other

    def __ne__(self, other):
        return True if other is None else self._read() != other

    # Objects of the package keep variables in dicts; programs use ref().
    def __hash__(self):
        return id(self)

    def eval(self, session=None):
        """Always a RuntimeError: the value is there, by numpy()."""
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def __deepcopy__(self, memo):
        copy = type(self)(
            self._read(),
            trainable=self._trainable,
            constraint=self._constraint,
            dtype=self._own_dtype,
            name=self._own_name + "_copy",
            synchronization=self._synchronization,
            aggregation=self._aggregation,
            shape=self._own_shape,
        )
        memo[id(self)] = copy
        return copy

    def __reduce__(self):
        make = functools.partial(
            type(self),
            initial_value=self.numpy(),
            trainable=self._trainable,
            name=self._own_name,
            dtype=self._own_dtype,
            constraint=self._constraint,
        )
        return make, ()

    def __repr__(self):
        start = f"<tf.Variable '{self.name}' shape={self._own_shape} dtype={self._own_dtype.name}"
        if not get_default_graph()._is_eager:
            return start + ">"
        return f"{start}, {_text(self._read(), True)}>"

    # Setting it

    def _lazy_read(self, operation):
        return _changed(self)

    def _changed(self, operation, read_value):
        if read_value:
            return _changed(self, operation)
        return None if get_default_graph()._is_eager else operation

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the variable, and gives it."""
        if self._assign_now("AssignVariableOp", value):
            return _changed(self) if read_value else None
        value = convert_to_tensor(value, self._own_dtype)
        if not self._own_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch."
                f"The variable shape {self._own_shape}, and the assigned value shape "
                f"{value.shape} are incompatible."
            )
        operation = apply_op("AssignVariableOp", name, self._variable, value)
        return self._changed(operation, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds to the variable, and gives it."""
        if self._assign_now("AssignAddVariableOp", delta):
            return _changed(self) if read_value else None
        return super().assign_add(delta, use_locking, name, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts from the variable, and gives it."""
        if self._assign_now("AssignSubVariableOp", delta):
            return _changed(self) if read_value else None
        return super().assign_sub(delta, use_locking, name, read_value)

    def is_initialized(self, name=None):
        """Whether the variable has a value."""
        return op1("VarIsInitializedOp", name, self._variable)


class _Changed(EagerVariable):
    """The variable as an operation on it leaves it: the same handle, another name."""

    __slots__ = ("_operation",)

    @property
    def op(self):
        """The operation, which can be waited for, if it is of a graph."""
        return self._operation

    @property
    def name(self):
        return "UnreadVariable"


def _changed(variable, operation=None):
    changed = _Changed.__new__(_Changed)
    changed._operation = operation
    changed._same_as(variable)
    changed.__dict__ = variable.__dict__
    return changed
