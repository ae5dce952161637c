"""Variables of which each replica has a copy.

Inside of a replica's step, and where the copy of a replica is updated, such a variable is that
copy. Where replicas meet it is all of them: a write goes to each.
"""

import weakref

from rheos.framework import replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.operation import Operation
from rheos.ops.flow import control_flow_ops
from rheos.ops.state.eager_variables import EagerVariable
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import Variable, VariableAggregation, VariableSynchronization
from rheos.replication import reductions
from rheos.replication.values import Mirrored, select


class DistributedVariable(EagerVariable):
    """A variable with a copy for each replica."""

    _is_distributed = True

    def __init__(self, strategy, values, aggregation, synchronization):
        self._strategy = strategy
        self._values = tuple(values)
        self._trainable = values[0].trainable
        self._constraint = values[0].constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        for value in values:
            value._container = weakref.ref(self)

    # What it is

    _is_eager = property(lambda self: self._values[0]._is_eager)
    _in_graph_mode = property(lambda self: self._values[0]._in_graph_mode)

    @property
    def values(self):
        """A tuple with the copy of each replica."""
        return self._values

    @property
    def _distinct(self):
        """(number, copy) of the copies, of those that are one variable only the first."""
        seen = {}
        for number, value in enumerate(self._values):
            seen.setdefault(id(value), (number, value))
        return list(seen.values())

    @property
    def _primary(self):
        return self._values[0]

    @property
    def distribute_strategy(self):
        """The strategy in whose scope it was made."""
        return self._strategy

    def _get(self):
        """The copy that is meant here, of all the first."""
        number = replicas.copy_number()
        return self._values[0 if number is None else number]

    _variable = property(lambda self: self._get()._variable)
    handle = _handle = _variable
    dtype = property(lambda self: self._primary.dtype)
    shape = property(lambda self: self._primary.shape)
    name = property(lambda self: self._primary.name)
    path = property(lambda self: self._primary.path)
    device = property(lambda self: self._get().device)
    graph = property(lambda self: self._primary.graph)
    op = property(lambda self: self._primary.op)
    initial_value = property(lambda self: self._primary.initial_value)
    _shared_name = property(lambda self: self._primary._shared_name)
    _unique_id = property(lambda self: self._primary._unique_id)
    _own_number = property(lambda self: getattr(self._primary, "_own_number", 0))
    _save_slice_info = property(lambda self: self._primary._save_slice_info)

    @property
    def initializer(self):
        """What sets the initial values of all copies in a graph."""
        found = [value.initializer for _, value in self._distinct]
        return None if found[0] is None else control_flow_ops.group(*found)

    def is_initialized(self, name=None):
        """Whether the copy that is meant here has a value."""
        return self._get().is_initialized(name)

    def to_proto(self, export_scope=None):
        """The first copy as a VariableDef, which MetaGraphDefs keep of the variable."""
        return self._primary.to_proto(export_scope)

    def _as_graph_element(self):
        return self._get()._as_graph_element()

    def _distributed_container(self):
        return self

    # The value

    def _read(self):
        return self._get()._snapshot

    _snapshot = _element = property(lambda self: self._read())

    def value(self):
        """The value of the copy that is meant here."""
        return self._read()

    def read_value(self):
        """The value of the copy that is meant here, read now."""
        return self._read() if self._is_eager else self._get().read_value()

    _read_variable_op = value

    def sparse_read(self, indices, name=None):
        """Rows of the copy that is meant here."""
        return self._get().sparse_read(indices, name)

    def gather_nd(self, indices, name=None):
        """Elements or slices of the copy that is meant here."""
        return self._get().gather_nd(indices, name)

    def __getitem__(self, key):
        return self._get()[key]

    def eval(self, session=None):
        """The value in a session of the copy that is meant here."""
        return self._get().eval(session)

    def _touch(self):
        self._get()._touch()

    def __deepcopy__(self, memo):
        with self._strategy.scope():
            copy = Variable(
                self._read(),
                trainable=self._trainable,
                constraint=self._constraint,
                dtype=self.dtype,
                name=self.name.partition(":")[0] + "_copy",
                synchronization=self._synchronization,
                aggregation=self._aggregation,
            )
        memo[id(self)] = copy
        return copy

    def __repr__(self):
        lines = ",\n".join(f"  {i}: {value!r}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"

    # Setting it

    def _changed_by(self, method, value, kwargs):
        """Has a method of all copies, or of the one that is meant here, set them to a value."""
        number = replicas.copy_number()
        if number is None:
            return self._change_all(method, value, kwargs)
        if replicas._state.updated is not None:
            return getattr(self._values[number], method)(value, **kwargs)
        return self._change_in_replica(method, number, value, kwargs)

    def _change_all(self, method, value, kwargs):
        with replicas.within(None, self._strategy):
            results = []
            for number, copy in self._distinct:
                with replicas.updating(number):
                    results.append(getattr(copy, method)(select(number, value), **kwargs))
        return _of_all(results, kwargs, len(self._values))

    def _change_in_replica(self, method, number, value, kwargs):
        raise NotImplementedError

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets it."""
        return self._changed_by("assign", value, {"name": name, "read_value": read_value})

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to it."""
        return self._changed_by("assign_add", delta, {"name": name, "read_value": read_value})

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from it."""
        return self._changed_by("assign_sub", delta, {"name": name, "read_value": read_value})

    def _strided_slice_assign(self, *args):
        return self._get()._strided_slice_assign(*args)

    # Checkpoints

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self}

    def _serialize_to_tensors(self):
        with replicas.within(None, self._strategy):
            return {"VARIABLE_VALUE": self.read_value()}

    def _restore_from_tensors(self, restored_tensors):
        with replicas.within(None, self._strategy):
            return self.assign(restored_tensors["VARIABLE_VALUE"])


def _of_all(results, kwargs, count):
    if not kwargs.get("read_value", True):
        found = [r for r in results if r is not None]
        return control_flow_ops.group(*found) if found else None
    if all(isinstance(r, Operation) for r in results):
        return control_flow_ops.group(*results)
    values = [convert_to_tensor(r) for r in results]
    return Mirrored(values if len(values) == count else values * count)


def _operator(name):
    def method(self, *others):
        return getattr(self._read(), name)(*(getattr(o, "_snapshot", o) for o in others))

    method.__name__, method.__qualname__ = name, f"DistributedVariable.{name}"
    method.__doc__ = "As its value computes it."
    setattr(DistributedVariable, name, method)


for _name in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    _operator(f"__{_name}__")
    _operator(f"__r{_name}__")
for _name in "neg abs invert lt le gt ge".split():
    _operator(f"__{_name}__")


def _scatter(name):
    def method(self, sparse_delta, use_locking=False, name=None):
        return self._changed_by(method.__name__, sparse_delta, {"name": name})

    method.__name__, method.__qualname__ = name, f"DistributedVariable.{name}"
    method.__doc__ = "Changes rows of it."
    setattr(DistributedVariable, name, method)


for _name in "add sub mul div min max update".split():
    _scatter(f"scatter_{_name}")


class MirroredVariable(DistributedVariable):
    """A variable whose copies are the same: what replicas set it to is combined as its aggregation
    says."""

    def _change_in_replica(self, method, number, value, kwargs):
        if self._aggregation is VariableAggregation.NONE:
            return getattr(self._values[number], method)(value, **kwargs)

        def merge(strategy, value):
            reduced = self._aggregated(strategy, value)
            return self._change_all(method, reduced, kwargs)

        replicas.current()._check_strategy(self._strategy)
        return replicas.current().merge_call(merge, args=(value,))

    def _aggregated(self, strategy, value):
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return select(0, value)
        reduce_op = reductions.ReduceOp.from_variable_aggregation(self._aggregation)
        return strategy.extended.reduce_to(reduce_op, value, self)


class AggregatingVariable(MirroredVariable):
    """A variable that all replicas share."""


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies differ: replicas change theirs without meeting, and who reads it
    where they meet gets what its aggregation makes of all."""

    def _read(self):
        if replicas.copy_number() is not None:
            return self._get()._snapshot
        with replicas.within(None, self._strategy):
            return self._of_all_copies()

    def _of_all_copies(self):
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self._primary._snapshot
        reduce_op = reductions.ReduceOp.from_variable_aggregation(self._aggregation)
        values = [value._snapshot for value in self._values]
        return self._strategy._reduce_copies(reduce_op, values)

    def read_value(self):
        """The value of the replica's copy; where replicas meet, that of all."""
        return self._read()

    def __getitem__(self, key):
        return self._read()[key]

    def _change_in_replica(self, method, number, value, kwargs):
        return getattr(self._values[number], method)(value, **kwargs)

    def _change_all(self, method, value, kwargs):
        if method.startswith("scatter"):
            raise NotImplementedError(
                f"{type(self).__name__} doesn't support `{method}` in cross-replica context"
            )
        if self._aggregation is VariableAggregation.NONE:
            reductions.ReduceOp.from_variable_aggregation(self._aggregation)  # ValueError
        if self._aggregation is VariableAggregation.SUM:
            if method != "assign":
                raise ValueError(
                    f"SyncOnReadVariable does not support `{method}` in cross-replica context when "
                    "aggregation is set to `tf.VariableAggregation.SUM`."
                )
            value = convert_to_tensor(value, self.dtype)
            value = reductions.divided(value, self._strategy.num_replicas_in_sync)
        changed = super()._change_all(method, value, kwargs)
        return self._read() if kwargs.get("read_value", True) and self._is_eager else changed


def check_arguments(arguments):
    """(synchronization, aggregation, whether it is trained) that arguments of Variable ask for."""
    synchronization = VariableSynchronization(
        arguments.get("synchronization") or VariableSynchronization.AUTO
    )
    name, trainable = arguments.get("name"), arguments.get("trainable")
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with tf.distribute strategy. "
            f"Please change the `synchronization` for variable: {name}"
        )
    aggregation = VariableAggregation(arguments.get("aggregation") or VariableAggregation.NONE)
    is_on_read = synchronization is VariableSynchronization.ON_READ
    if is_on_read and trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for "
            "non-trainable variables. You have specified trainable=True and "
            "synchronization=VariableSynchronization.ON_READ."
        )
    if not is_on_read:
        synchronization = VariableSynchronization.ON_WRITE
    return synchronization, aggregation, not is_on_read if trainable is None else trainable


def make_copies(strategy, make, arguments, devices):
    """The variable of some arguments, with a copy on each device; make(**arguments) makes one."""
    synchronization, aggregation, trainable = check_arguments(arguments)
    name = arguments.get("name") or "Variable"
    values, collections = [], arguments.get("collections")
    is_in_graph = not get_default_graph()._root._is_eager
    if is_in_graph:  # whose lists have the variable, not its copies
        arguments = dict(arguments, collections=[], use_resource=True)
    for number, device in enumerate(devices):
        own = dict(arguments, trainable=trainable and not is_in_graph, name=name)
        if number:
            own["name"] = _copy_name(values[0], name, number)
            own["initial_value"] = _like_first(values[0])
            own["dtype"] = values[0].dtype.base_dtype
        with strategy._device(device):
            values.append(make(**own))
    kind = MirroredVariable
    if synchronization is VariableSynchronization.ON_READ:
        kind = SyncOnReadVariable
    made = type.__call__(kind, strategy, values, aggregation, synchronization)
    if is_in_graph:
        made._trainable = trainable
        join_collections(made, collections)
    return made


def join_collections(variable, collections):
    """Has the lists of the graph, by default that of global variables, hold a variable."""
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    variable.graph.add_to_collections(collections, variable)


def join_copies(strategy, made, count):
    """Makes variables of what was made beside each of a variable's copies, such as slots: what is
    beside the second one has its name in its own."""
    by_name = {variable.op.name: variable for variable in made}
    for variable in made:
        copies = [by_name.get(one) for one in _beside(variable.op.name, by_name, count)]
        if copies and None not in copies:
            _join(strategy, [variable, *copies])


def _beside(name, known, count):
    """The names beside the other copies of a variable of what is beside the first."""
    for place in (i for i, letter in enumerate(name) if letter == "/"):
        names = [f"{name[:place]}/replica_{i}{name[place:]}" for i in range(1, count)]
        if names[0] in known:
            return names
    return []


def _join(strategy, copies):
    """A variable of copies that were made one by one: it takes the place of them in lists."""
    made = type.__call__(
        MirroredVariable, strategy, copies, VariableAggregation.NONE,
        VariableSynchronization.ON_WRITE,
    )  # fmt: skip
    collections = made.graph._collections
    for items in collections.values():
        for place, item in enumerate(items):
            if item is copies[0]:
                items[place] = made
        items[:] = [item for item in items if all(item is not copy for copy in copies)]


def _copy_name(first, name, number):
    if first._is_eager:  # in the scopes at hand, as the first one
        return f"{name}/replica_{number}"
    return f"{first.name.partition(':')[0]}/replica_{number}/"


def _like_first(first):
    if first._is_eager:
        return first._snapshot
    return lambda: first.initial_value

