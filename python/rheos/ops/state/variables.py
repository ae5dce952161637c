"""Variables: values that a session keeps between runs."""

import contextlib
import enum

from rheos import _core
from rheos.framework import dtypes, messages, replicas, signatures, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph, get_default_session
from rheos.framework.devices import PendingOperation
from rheos.framework.graph import count_operations, init_scope, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1
from rheos.framework.proto_functions import register_proto_function, with_scope, without_scope
from rheos.framework.references import Reference
from rheos.ops.array import array_ops
from rheos.ops.array.slicing import slice_helper
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.partitioned_variables import SaveSliceInfo


class VariableSynchronization(enum.Enum):
    """When copies of a variable, one for each replica, are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How what replicas set copies of a variable to is combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


_use_resource_by_default = False


def enable_resource_variables():
    """From now on variables are resource variables unless they say otherwise."""
    global _use_resource_by_default
    _use_resource_by_default = True


def disable_resource_variables():
    """From now on variables are reference variables unless they say otherwise."""
    global _use_resource_by_default
    _use_resource_by_default = False


def resource_variables_enabled():
    """Whether variables are resource variables unless they say otherwise."""
    return _use_resource_by_default


_resource_type = _eager_type = None


def register_resource_type(kind):
    """A decorator: the class, whose module lies above this one, is that of resource variables."""
    global _resource_type
    _resource_type = kind
    return kind


def register_eager_type(kind):
    """A decorator: the class is that of variables made where operations run at once."""
    global _eager_type
    _eager_type = kind
    return kind


def _make_default(next_creator=None, **arguments):
    """The variable that the arguments ask for: the innermost creator."""
    if _eager_type is not None:
        with init_scope():  # in a function over a dataset's elements too
            if get_default_graph()._is_eager:
                return type.__call__(_eager_type, **arguments)
    use_resource = arguments["use_resource"]
    if use_resource is None:
        store = get_default_graph()._variable_scope
        use_resource = store.scope.use_resource if store is not None else None
    if use_resource is None:
        use_resource = _use_resource_by_default
    return type.__call__(_resource_type if use_resource else Variable, **arguments)


def _make_copies(**arguments):
    """The variable that the arguments ask for; of several replicas each has a copy."""
    return replicas.make_variable(_make_default, arguments)


def _with_creator(creator, next_creator):
    return lambda **arguments: creator(next_creator, **arguments)


class _VariableType(type):
    """Lets creators have their say where the program calls Variable."""

    def __call__(cls, *values, **arguments):
        if arguments.get("variable_def") is not None and not values:
            if arguments.get("initial_value") is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            return Variable.from_proto(arguments["variable_def"], arguments.get("import_scope"))
        if cls is _resource_type and _eager_type is not None and get_default_graph()._is_eager:
            return type.__call__(_eager_type, *values, **arguments)
        if cls is not Variable:
            return type.__call__(cls, *values, **arguments)
        arguments.update(zip(_ARGUMENTS, values))
        for name in _ARGUMENTS:
            arguments.setdefault(name, _DEFAULTS.get(name))
        make = _make_copies
        for creator in get_default_graph()._variable_creators:
            make = _with_creator(creator, make)
        return make(**arguments)


_DEFAULTS = {
    "validate_shape": True,
    "synchronization": VariableSynchronization.AUTO,
    "aggregation": VariableAggregation.NONE,
}


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """A context in which `variable_creator(next_creator, **arguments)` makes the variables.

    It gets all arguments of Variable by name, and gives `next_creator(**arguments)` or what it
    wants in place of that.
    """
    creators = get_default_graph()._variable_creators
    creators.append(variable_creator)
    try:
        yield
    finally:
        creators.remove(variable_creator)


def _check_distribution(synchronization, aggregation, trainable, name):
    """Whether the variable is trained."""
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    elif not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    elif not isinstance(synchronization, VariableSynchronization):
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        )
    if trainable is None:
        trainable = synchronization != VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


class Variable(_core.VariableBase, metaclass=_VariableType):
    """A value that a session keeps between runs, and the nodes that read and set it.

    initial_value: a value, or a callable that gives one. shape: of the values that it may take, by
    default that of the initial one. use_resource: makes a ResourceVariable.
    """

    _is_eager = False  # its value is there: EagerVariable
    _is_distributed = False  # it has a copy for each replica of a strategy
    _container = None  # of a copy: a weak reference to the variable that it is one of

    __array_priority__ = 100
    _is_resource = False
    _constraint = None
    _synchronization = VariableSynchronization.AUTO
    _aggregation = VariableAggregation.NONE
    SaveSliceInfo = SaveSliceInfo

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
        synchronization=None,
        aggregation=None,
        shape=None,
    ):
        if variable_def is not None:
            raise ValueError("variable_def and initial_value are mutually exclusive.")
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        self._synchronization, self._aggregation, trainable = _check_distribution(
            synchronization, aggregation, trainable, name
        )
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. Got "
                f"{collections} of type {type(collections)}"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        self._trainable = trainable
        self._constraint = constraint
        dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._validate_shape = validate_shape
        if shape is not None:
            shape = tensor_shape.as_shape(shape)
        values = [] if callable(initial_value) else [initial_value]
        with init_scope():
            with name_scope(name, "Variable", values) as scope:
                graph = get_default_graph()
                if callable(caching_device):
                    pending = PendingOperation("Identity", f"{scope}read", graph)
                    caching_device = caching_device(pending)
                self._make(graph, scope, initial_value, dtype, (caching_device, shape))
        graph._variables[self._index] = self
        graph.add_to_collections(collections, self)

    def _make(self, graph, scope, value, dtype, arguments):
        """Adds the nodes. `value` may be a function; `arguments` are caching device and shape."""
        flags = (not self._validate_shape, not self._trainable, False)
        if not callable(value):
            value = convert_to_tensor(value, dtype, "initial_value")
            graph._variable_new(self, value, scope, *flags, *arguments)
            return
        location = b"loc:@" + scope[:-1].encode()
        where = ("_class", signatures.list_kind(signatures.STRING), [location])
        with graph._attr_scope([where]), name_scope("Initializer"), graph.device(None):
            value = convert_to_tensor(value(), dtype, "initial_value")
        graph._variable_new(self, value, scope, *flags, *arguments, True)

    @staticmethod
    def _adopt(graph, index, trainable=False):
        """The object for a variable that the C library made."""
        self = Variable.__new__(Variable)
        graph._fill_variable(self, index)
        if self._variable.dtype == dtypes.resource:
            self = _resource_type.__new__(_resource_type)
            graph._fill_variable(self, index)
        self._trainable = trainable
        graph._variables[index] = self
        return self

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable whose nodes a VariableDef message names, which were imported below
        `import_scope`; the same object each time. It joins no collection."""
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(with_scope(name, import_scope)) if name else None

        handle, cached = element(variable_def.variable_name), None
        value = element(variable_def.snapshot_name)
        if variable_def.is_resource and value.op.type != "ReadVariableOp":
            cached, value = value, element(f"{handle.op.name}/Read/ReadVariableOp:0")
        index = graph._variable_from_nodes(
            handle,
            value,
            cached,
            element(variable_def.initial_value_name),
            element(variable_def.initializer_name),
            variable_def.trainable,
        )
        if index in graph._variables:
            return graph._variables[index]
        variable = Variable._adopt(graph, index, variable_def.trainable)
        variable._synchronization = VariableSynchronization(variable_def.synchronization)
        variable._aggregation = VariableAggregation(variable_def.aggregation)
        if variable_def.HasField("save_slice_info_def"):
            part = variable_def.save_slice_info_def
            info = SaveSliceInfo(
                with_scope(part.full_name, import_scope),
                list(part.full_shape),
                list(part.var_offset),
                list(part.var_shape),
            )
            variable._set_save_slice_info(info)
        return variable

    def to_proto(self, export_scope=None):
        """The variable as a VariableDef message; None if it is outside `export_scope`."""
        if export_scope is not None and not self._variable.name.startswith(export_scope):
            return None

        def named(element):
            return without_scope(element.name, export_scope) if element is not None else ""

        made = messages.VariableDef(
            variable_name=named(self._variable),
            initial_value_name=named(self._initial_value),
            initializer_name=named(self.initializer),
            snapshot_name=named(self._element if self._is_resource else self._snapshot),
            is_resource=self._is_resource,
            trainable=self._trainable,
            synchronization=self._synchronization.value,
            aggregation=self._aggregation.value,
        )
        part = self._save_slice_info
        if part is not None:
            made.save_slice_info_def.full_name = without_scope(part.full_name, export_scope)
            made.save_slice_info_def.full_shape.extend(part.full_shape)
            made.save_slice_info_def.var_offset.extend(part.var_offset)
            made.save_slice_info_def.var_shape.extend(part.var_shape)
        return made

    # What it is

    @property
    def name(self):
        """The name of the variable's tensor, as in "w:0"."""
        return self._variable.name

    @property
    def op(self):
        """The operation that holds the variable."""
        return self._variable.op

    @property
    def dtype(self):
        """The dtype; of variables that are no resources a reference to it."""
        return self._variable.dtype

    @property
    def device(self):
        """The device that it was placed on, or ""."""
        return self._variable.device

    @property
    def shape(self):
        """The TensorShape."""
        return self._variable.shape

    def get_shape(self):
        """The TensorShape."""
        return self.shape

    def set_shape(self, shape):
        """Adds to what is known about the shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    @property
    def trainable(self):
        """Whether optimizers change it by default."""
        return self._trainable

    @property
    def constraint(self):
        """What an optimizer applies to it after each update, or None."""
        return self._constraint

    @property
    def aggregation(self):
        """How updates of several replicas become one: a `tf.VariableAggregation`."""
        return self._aggregation

    @property
    def synchronization(self):
        """When its copies on replicas are made the same: a `tf.VariableSynchronization`."""
        return self._synchronization

    @property
    def _shared_name(self):
        return self.name[:-2]

    @property
    def _initializer_op(self):
        return self.initializer

    @_initializer_op.setter
    def _initializer_op(self, operation):
        self.initializer = operation

    _replaced_initial_value = None  # what it starts with, if that was changed after it was made

    @property
    def initial_value(self):
        """The tensor that the variable starts as; None if a file says only how it is made."""
        if self._replaced_initial_value is not None:
            return self._replaced_initial_value
        return super().initial_value

    @property
    def _initial_value(self):
        return self.initial_value

    @_initial_value.setter
    def _initial_value(self, tensor):
        self._replaced_initial_value = tensor

    def _as_graph_element(self):
        return self._variable

    @property
    def _save_slice_info(self):
        part = self.graph._slice_of(self)
        if part is None:
            return None
        return SaveSliceInfo.from_spec(*part)

    def _set_save_slice_info(self, save_slice_info):
        """Says which part of a whole the variable is."""
        self.graph._set_slice(self, save_slice_info.full_name, save_slice_info.spec)

    def _get_save_slice_info(self):
        return self._save_slice_info

    def _ref(self):
        return self._variable

    # The variable's value

    def value(self):
        """The tensor that reads the variable."""
        return self._snapshot

    _caching_device = None

    def ref(self):
        """A hashable object that stands for this variable."""
        return Reference(self)

    experimental_ref = ref

    def sparse_read(self, indices, name=None):
        """The rows at `indices`."""
        return array_ops.gather(self, indices, name=name)

    def gather_nd(self, indices, name=None):
        """What is at `indices`: see tf.gather_nd."""
        return array_ops.gather_nd(self, indices, name=name)

    def _shape_tuple(self):
        dims = self.shape.as_list() if self.shape.ndims is not None else None
        return None if dims is None else tuple(dims)

    def read_value(self):
        """A new operation that reads the variable where it is made."""
        return array_ops.identity(self._variable, name="read")

    def initialized_value(self):
        """The initial value, for use in the initial values of other variables."""
        # A conditional, which the order of initializers makes unnecessary.
        count_operations(10 if self._is_resource else 9)
        return self.initial_value

    def eval(self, session=None):
        """The value in `session`, by default the default one."""
        return self._variable.eval(session=session)

    def load(self, value, session=None):
        """Sets the variable in `session` without adding to the graph."""
        session = session or get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    # Setting it

    def _assigned(self, tensor, read_value):
        return tensor if read_value else tensor.op

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """An operation that sets the variable."""
        tensor = state_ops.assign(self, value, use_locking=use_locking, name=name)
        return self._assigned(tensor, read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """An operation that adds to the variable."""
        tensor = state_ops.assign_add(self, delta, use_locking=use_locking, name=name)
        return self._assigned(tensor, read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """An operation that subtracts from the variable."""
        tensor = state_ops.assign_sub(self, delta, use_locking=use_locking, name=name)
        return self._assigned(tensor, read_value)

    def count_up_to(self, limit):
        """An operation that adds 1 until `limit` is reached."""
        return state_ops.count_up_to(self, limit)

    def _scatter(self, function, slices, use_locking, name):
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")
        return function(self, slices.indices, slices.values, use_locking=use_locking, name=name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """An operation that adds to rows."""
        return self._scatter(state_ops.scatter_add, sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """An operation that subtracts from rows."""
        return self._scatter(state_ops.scatter_sub, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """An operation that sets rows."""
        return self._scatter(state_ops.scatter_update, sparse_delta, use_locking, name)

    def _rows(name):
        def method(self, sparse_delta, use_locking=False, name=None):
            return self._scatter(function, sparse_delta, use_locking, name)

        function = getattr(state_ops, name)
        method.__name__ = name
        method.__qualname__ = "Variable." + name
        method.__doc__ = function.__doc__
        return method

    scatter_mul = _rows("scatter_mul")
    scatter_div = _rows("scatter_div")
    scatter_min = _rows("scatter_min")
    scatter_max = _rows("scatter_max")
    del _rows

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Sets elements along the last dimension of the indices, for each row of them."""
        return state_ops.batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking, name
        )

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts at places."""
        return state_ops.scatter_nd_sub(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds at places."""
        return state_ops.scatter_nd_add(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices, updates, name=None):
        """Sets places."""
        return state_ops.scatter_nd_update(self, indices, updates, use_locking=True, name=name)

    def _strided_slice_assign(self, bounds, value, name, masks):
        return op1("StridedSliceAssign", name, self, *bounds, value, **masks)

    # Operators that are not in the extension

    def __getitem__(self, key):
        return slice_helper(self._snapshot, key, self)

    def __matmul__(self, other):
        return self._snapshot @ other

    def __rmatmul__(self, other):
        return other @ self._snapshot

    def __xor__(self, other):
        return self._snapshot ^ other

    def __rxor__(self, other):
        return other ^ self._snapshot

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return "<tf.Variable '%s' shape=%s dtype=%s>" % (self.name, self.shape, self.dtype.name)


# What creators are given: all that Variable takes.
_ARGUMENTS = Variable.__init__.__code__.co_varnames[1 : Variable.__init__.__code__.co_argcount]


def adopt_new_variables(graph, first, collections=(GraphKeys.GLOBAL_VARIABLES,)):
    """Objects for the variables from number `first` on that have none yet."""
    made = []
    for index in range(first, graph._num_variables()):
        if index not in graph._variables:
            variable = Variable._adopt(graph, index)
            graph.add_to_collections(collections, variable)
            made.append(variable)
    return made


# Collections of variables, which a MetaGraphDef keeps as VariableDefs.
VARIABLE_COLLECTIONS = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.GLOBAL_STEP,
    GraphKeys.METRIC_VARIABLES,
)
for _key in VARIABLE_COLLECTIONS:
    register_proto_function(
        _key,
        "VariableDef",
        lambda variable, export_scope=None: variable.to_proto(export_scope),
        Variable.from_proto,
    )
