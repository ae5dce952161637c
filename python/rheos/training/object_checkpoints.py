"""tf.train.Checkpoint: variables and tables of objects, saved by the paths that lead to them."""

import contextlib
import os
import time

import numpy as np

from rheos.framework import errors, messages
from rheos.framework.defaults import get_default_graph, get_default_session
from rheos.framework.graph import Graph, init_scope
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import _VariableBase
from rheos.framework.trackable import AutoTrackable, Trackable, children_of, descendants
from rheos.ops.state.lookup_ops import MutableTable
from rheos.ops.state.variables import Variable
from rheos.training import checkpoints
from rheos.training.session import Session

_ATTRIBUTE = "VARIABLE_VALUE"
_TABLE = "table"  # the attribute of tables, whose keys and values are two tensors
_SAVED = (_VariableBase, MutableTable)


def escape(name):
    """The name of a child as a part of keys."""
    return name.replace(".", "..").replace("/", ".S")


def _key(path, attribute=_ATTRIBUTE):
    return "/".join([*map(escape, path), f".ATTRIBUTES/{attribute}"])


def _table_keys(key):
    return [f"{key}-keys", f"{key}-values"]


class _State:
    """What an object of another kind, such as an iterator, saves of itself by one name."""

    def __init__(self, holder, name):
        self.holder, self.name = holder, name

    def read(self):
        """A tensor."""
        return self.holder._serialize_to_tensors()[self.name]


def _names_of_state(value):
    """The names of what an object saves of itself; only where operations run at once."""
    own = getattr(value, "_serialize_to_tensors", None)
    return list(own()) if own is not None and _is_eager() else []


def _name_of(variable):
    return variable.name.split(":", 1)[0]


def object_graph(root):
    """(TrackableObjectGraph of what is tracked, its keys, the variables and tables of these)."""
    graph = messages.TrackableObjectGraph()
    every = descendants(root)
    numbers = {id(value): number for number, (value, _) in enumerate(every)}
    keys, saved = [], []
    for value, path in every:
        node = graph.nodes.add()
        for name, child in children_of(value).items():
            node.children.add(node_id=numbers[id(child)], local_name=name)
        if isinstance(value, _VariableBase):
            key = _key(path)
            node.attributes.add(name=_ATTRIBUTE, full_name=_name_of(value), checkpoint_key=key)
            keys.append(key)
            saved.append(value)
        elif isinstance(value, MutableTable):
            key = _key(path, _TABLE)
            node.attributes.add(name=_TABLE, checkpoint_key=key)
            keys += _table_keys(key)
            saved.append(value)
        else:
            for name in _names_of_state(value):
                keys.append(_key(path, name))
                node.attributes.add(name=name, checkpoint_key=keys[-1])
                saved.append(_State(value, name))
    for value, _ in every:
        for slot in getattr(value, "_slot_variables_of", lambda: ())():
            original, name, variable = slot
            if id(original) in numbers and id(variable) in numbers:
                graph.nodes[numbers[id(value)]].slot_variables.add(
                    original_variable_node_id=numbers[id(original)],
                    slot_name=name,
                    slot_variable_node_id=numbers[id(variable)],
                )
    _mark_values(graph)
    return graph, keys, saved


def _mark_values(graph):
    """Notes which nodes have values in or below them."""
    has = [bool(node.attributes) for node in graph.nodes]
    changed = True
    while changed:
        changed = False
        for number, node in enumerate(graph.nodes):
            if not has[number] and any(has[child.node_id] for child in node.children):
                has[number] = changed = True
    for node, value in zip(graph.nodes, has):
        node.has_checkpoint_values.value = value


def _is_eager():
    return get_default_graph()._is_eager


def _session(session):
    return session or get_default_session() or Session(graph=get_default_graph())


def _tensors_of(value):
    if isinstance(value, MutableTable):
        return value.export()
    if isinstance(value, _State):
        return [value.read()]
    return [value.read_value() if _is_eager() else value.value()]


def values_of(saved, session=None):
    """The values of variables, and keys and values of tables: tensors where operations run at
    once, else arrays."""
    tensors = [tensor for value in saved for tensor in _tensors_of(value)]
    return tensors if _is_eager() or not tensors else _session(session).run(tensors)


def save_tensors(prefix, names, values):
    """Writes a checkpoint."""
    slices = [""] * len(names)
    if _is_eager():
        apply_op("SaveV2", None, prefix, list(names), slices, list(values))
        return
    with Graph().as_default(), Session() as session:
        session.run(apply_op("SaveV2", None, prefix, list(names), slices, list(values)))


def _fill(table, entries, session):
    with init_scope() if _is_eager() else table.resource_handle.graph.as_default():
        filled = apply_op("LookupTableImportV2", None, table.resource_handle, *entries)
    if not _is_eager():
        _session(session).run(filled)


def _assign(variable, value, session):
    if isinstance(variable, MutableTable):
        _fill(variable, value, session)
        return
    if variable.shape.dims is not None and not variable.shape.is_compatible_with(value.shape):
        raise ValueError(
            f"Tensor's shape {value.shape} is not compatible with supplied shape {variable.shape} "
            f"of {variable.name}"
        )
    if _is_eager():
        variable.assign(value)
    else:
        variable.load(value, _session(session))


class _Restore:
    """One restoring of a checkpoint; objects that come later are restored as they come."""

    def __init__(self, prefix, session=None):
        self.prefix = prefix
        self.reader = checkpoints.CheckpointReader(prefix)
        text = self.reader.get_tensor(checkpoints.OBJECT_GRAPH_KEY)
        self.graph = messages.TrackableObjectGraph.FromString(bytes(_scalar(text)))
        self.objects = {}  # {node's number: object}
        self.waiting = []  # variables and tables, and what they get, in graphs
        self.session = session

    def match(self, number, value):
        """Restores an object and what it holds, as far as both are there."""
        todo = [(number, value)]
        while todo:
            number, value = todo.pop(0)
            if number in self.objects:
                continue
            self.objects[number] = value
            node = self.graph.nodes[number]
            if isinstance(value, _VariableBase):
                self._restore_variable(node, value)
            elif isinstance(value, MutableTable):
                self._restore_table(node, value)
            elif hasattr(value, "_restore_from_tensors") and node.attributes and _is_eager():
                self._restore_state(node, value)
            if isinstance(value, Trackable):
                pending = value.__dict__.setdefault("_self_pending", [])
                pending.append((self, number))
            held = children_of(value)
            for child in node.children:
                if child.local_name in held:
                    todo.append((child.node_id, held[child.local_name]))

    def attribute_was_set(self, number, name, value):
        """What an object that was restored holds now is restored too."""
        for child in self.graph.nodes[number].children:
            if child.local_name == name and self.objects.get(child.node_id) is not value:
                self.objects.pop(child.node_id, None)
                self.match(child.node_id, value)

    def _restore_variable(self, node, variable):
        for attribute in node.attributes:
            if attribute.name == _ATTRIBUTE:
                with init_scope():
                    value = self.reader.get_tensor(attribute.checkpoint_key)
                    self._give(variable, value)

    def _restore_table(self, node, table):
        for attribute in node.attributes:
            if attribute.name == _TABLE:
                with init_scope():
                    keys = _table_keys(attribute.checkpoint_key)
                    self._give(table, [self.reader.get_tensor(key) for key in keys])

    def _restore_state(self, node, value):
        keys = {attribute.name: attribute.checkpoint_key for attribute in node.attributes}
        # States of iterators are variants, of which a file has the text.
        kinds = self.reader.get_variable_to_dtype_map()
        kept_as = getattr(value, "_kept_as", None)
        with init_scope():
            value._restore_from_tensors(
                {
                    name: op1(
                        "RestoreV2", None, self.prefix, [key], [""], dtypes=[kept_as or kinds[key]]
                    )
                    for name, key in keys.items()
                }
            )

    def _give(self, variable, value):
        if _is_eager():
            _assign(variable, value, None)
        else:
            self.waiting.append((variable, value))


def _scalar(value):
    return value.item() if isinstance(value, np.ndarray) else value


class CheckpointLoadStatus:
    """What came of restoring, and assertions about it."""

    def __init__(self, restore, root):
        self._restore = restore
        self._root = root

    def assert_consumed(self):
        """AssertionError unless each value and object of the checkpoint has found its place."""
        self.assert_existing_objects_matched()
        for number, node in enumerate(self._restore.graph.nodes):
            if number not in self._restore.objects and node.has_checkpoint_values.value:
                name = node.attributes[0].checkpoint_key if node.attributes else f"node {number}"
                raise AssertionError(f"Unresolved object in checkpoint: {name}")
        return self

    def assert_existing_objects_matched(self):
        """AssertionError unless each variable and table that is there was restored."""
        matched = {id(value) for value in self._restore.objects.values()}
        for value, path in descendants(self._root):
            if isinstance(value, _SAVED) and id(value) not in matched:
                kind = "variable" if isinstance(value, _VariableBase) else "table"
                raise AssertionError(
                    f"No checkpoint value for the {kind} {value.name} at {'/'.join(path)}"
                )
        return self

    def assert_nontrivial_match(self):
        """AssertionError if nothing but the root was found."""
        if not any(isinstance(value, _VariableBase) for value in self._restore.objects.values()):
            raise AssertionError("Nothing except the root object matched a checkpoint value.")
        return self

    def expect_partial(self):
        """Itself: nothing is told of values that have no place."""
        return self

    def run_restore_ops(self, session=None):
        """In graphs, gives the variables their values."""
        waiting, self._restore.waiting = self._restore.waiting, []
        for variable, value in waiting:
            _assign(variable, value, session)

    def initialize_or_restore(self, session=None):
        """In graphs, gives the variables their values, and initializes the others."""
        restored = {id(variable) for variable, _ in self._restore.waiting}
        self.run_restore_ops(session)
        if _is_eager():
            return
        matched = {id(v) for v in self._restore.objects.values()} | restored
        for value, _ in descendants(self._root):
            if isinstance(value, _VariableBase) and id(value) not in matched:
                _session(session).run(value.initializer)


class NameBasedStatus:
    """What came of restoring a checkpoint that was saved by the names of variables."""

    def __init__(self, prefix, root, session=None):
        self._root = root
        self._missing, self._used = [], 0
        reader = checkpoints.CheckpointReader(prefix)
        for value, _ in descendants(root):
            if isinstance(value, _VariableBase):
                if reader.has_tensor(_name_of(value)):
                    self._used += 1
                    _assign(value, reader.get_tensor(_name_of(value)), session)
                else:
                    self._missing.append(value.name)
        self._count = len(reader.get_variable_to_shape_map())

    def assert_consumed(self):
        """AssertionError unless all variables, and all values, were found."""
        self.assert_existing_objects_matched()
        if self._used != self._count:
            count = self._count - self._used
            raise AssertionError(f"{count} values of the checkpoint have no place")
        return self

    def assert_existing_objects_matched(self):
        """AssertionError unless all variables were found."""
        if self._missing:
            raise AssertionError(f"No checkpoint value for the variables {self._missing}")
        return self

    def assert_nontrivial_match(self):
        """AssertionError if no variable was found."""
        if not self._used:
            raise AssertionError("No variable has a value in the checkpoint.")
        return self

    def expect_partial(self):
        """Itself."""
        return self

    def run_restore_ops(self, session=None):
        """Nothing: the values are there."""

    initialize_or_restore = run_restore_ops


class Checkpoint(AutoTrackable):
    """The variables of a group of objects, by the names of the keyword arguments.

    root: an object whose own attributes are saved, instead of a new one's.
    """

    def __init__(self, root=None, **kwargs):
        self._self_root = root
        for name, value in sorted(kwargs.items()):
            if root is not None and getattr(root, name, value) is not value:
                raise ValueError(f"{name!r} is another object in the root")
            setattr(self, name, value)
        self._save_counter = None

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        held = super()._trackable_children(save_type, **kwargs)
        counter = held.pop("_save_counter", None)
        if self._self_root is not None:
            held = {**children_of(self._self_root), **held}
        if counter is not None:
            held["save_counter"] = counter
        return held

    def _make_counter(self):
        if self._save_counter is None:
            with init_scope():
                counter = Variable(
                    np.int64(0), name="save_counter", trainable=False, use_resource=True
                )
                if not _is_eager():
                    _session(None).run(counter.initializer)
            self._save_counter = counter
            for restore, number in list(self.__dict__.get("_self_pending", ())):
                restore.attribute_was_set(number, "save_counter", counter)

    @property
    def save_counter(self):
        """A variable that says how often save() was called."""
        self._make_counter()
        return self._save_counter

    def write(self, file_prefix, options=None, session=None):
        """Writes a checkpoint at `file_prefix`, which comes back."""
        prefix = os.fsdecode(file_prefix)
        folder = os.path.dirname(prefix)
        if folder:
            os.makedirs(folder, exist_ok=True)
        graph, keys, saved = object_graph(self)
        names = [*keys, checkpoints.OBJECT_GRAPH_KEY]
        values = values_of(saved, session)
        with init_scope():
            save_tensors(prefix, names, [*values, graph.SerializeToString()])
        return prefix

    def save(self, file_prefix, options=None, session=None):
        """Writes a checkpoint at `file_prefix`-N, the N'th of this object; gives that name.

        The file "checkpoint" in its folder names the newest.
        """
        counter = self.save_counter
        if _is_eager():
            counter.assign_add(np.int64(1))
            number = int(counter.numpy())
        else:
            number = int(_session(session).run(counter.assign_add(np.int64(1))))
        prefix = self.write(f"{os.fsdecode(file_prefix)}-{number}", session=session)
        checkpoints.update_checkpoint_state(
            os.path.dirname(prefix) or ".", prefix, all_model_checkpoint_paths=[prefix]
        )
        return prefix

    def read(self, save_path, options=None):
        """Gives the variables the values of a checkpoint; variables that come later too.

        NotFoundError if there is none of that name.
        """
        prefix = os.fsdecode(save_path)
        if not checkpoints.checkpoint_exists(prefix):
            raise errors.NotFoundError(
                None,
                None,
                f"Unsuccessful TensorSliceReader constructor: Failed to find any "
                f"matching files for {prefix}",
            )
        if not checkpoints.CheckpointReader(prefix).has_tensor(checkpoints.OBJECT_GRAPH_KEY):
            return NameBasedStatus(prefix, self)
        restore = _Restore(prefix)
        restore.match(0, self)
        return CheckpointLoadStatus(restore, self)

    def restore(self, save_path, options=None):
        """The same as read(); of None or "" nothing. What save() counts goes on from there."""
        if not save_path:
            return _Nothing()
        folder = checkpoints.latest_checkpoint(save_path) if os.path.isdir(save_path) else None
        status = self.read(folder or save_path)
        self._make_counter()
        return status

    def sync(self):
        """Nothing: what is saved is there when save() returns."""


class _Nothing:
    """What came of restoring nothing."""

    def assert_consumed(self):
        """Always an AssertionError."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self):
        """Itself."""
        return self

    def run_restore_ops(self, session=None):
        """Nothing."""

    initialize_or_restore = run_restore_ops


class CheckpointManager:
    """Keeps the newest checkpoints of a Checkpoint in a folder.

    max_to_keep: how many; None keeps all. keep_checkpoint_every_n_hours: beside them, one of each
    such time is kept for good. step_counter, checkpoint_interval: save() does nothing before the
    counter has grown by so much. init_fn: called by restore_or_initialize() if there is none.
    """

    def __init__(
        self,
        checkpoint,
        directory,
        max_to_keep,
        keep_checkpoint_every_n_hours=None,
        checkpoint_name="ckpt",
        step_counter=None,
        checkpoint_interval=None,
        init_fn=None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or None for max_to_keep, got {max_to_keep}"
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` is needed with `checkpoint_interval`")
        self._checkpoint = checkpoint
        self._directory = os.fsdecode(directory)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._name = checkpoint_name
        self._counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = None
        self._kept = {}  # {prefix: when it was written}
        self._last_preserved = time.time()
        state = checkpoints.get_checkpoint_state(self._directory)
        self._latest = None
        if state is not None:
            times = list(state.all_model_checkpoint_timestamps)
            paths = list(state.all_model_checkpoint_paths)
            times = times if len(times) == len(paths) else [0.0] * len(paths)
            self._kept = dict(zip(paths, times))
            self._latest = state.model_checkpoint_path
            if state.last_preserved_timestamp:
                self._last_preserved = state.last_preserved_timestamp

    @property
    def directory(self):
        """The folder."""
        return self._directory

    @property
    def checkpoint(self):
        """The Checkpoint."""
        return self._checkpoint

    @property
    def checkpoint_interval(self):
        """By how much the step has to grow from one to the next."""
        return self._interval

    @property
    def latest_checkpoint(self):
        """The newest one's name, or None."""
        return self._latest

    @property
    def checkpoints(self):
        """The names of those that are kept, oldest first."""
        return list(self._kept)

    def _step(self):
        if _is_eager():
            return int(self._counter.numpy())
        return int(_session(None).run(self._counter))

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Writes a checkpoint and gives its name; None if it is too early for one.

        checkpoint_number: of its name; by default how often was saved.
        """
        if self._interval is not None and check_interval:
            step = self._step()
            if self._last_step is not None and step - self._last_step < self._interval:
                return None
            self._last_step = step
        prefix = os.path.join(self._directory, self._name)
        if checkpoint_number is None:
            checkpoint_number = _incremented(self._checkpoint)
        elif isinstance(checkpoint_number, _VariableBase):
            checkpoint_number = _incremented(self._checkpoint) and int(checkpoint_number.numpy())
        else:
            _incremented(self._checkpoint)
        path = self._checkpoint.write(f"{prefix}-{int(checkpoint_number)}")
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        self._sweep()
        checkpoints.update_checkpoint_state(
            self._directory,
            path,
            all_model_checkpoint_paths=self.checkpoints,
            all_model_checkpoint_timestamps=list(self._kept.values()),
            last_preserved_timestamp=self._last_preserved,
        )
        return path

    def _sweep(self):
        """Deletes the oldest beyond the number that is kept."""
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path = next(iter(self._kept))
            written = self._kept.pop(path)
            if self._hours and written - self._hours * 3600 > self._last_preserved:
                self._last_preserved = written
                continue
            with contextlib.suppress(errors.NotFoundError):
                checkpoints.remove_checkpoint(path)

    def restore_or_initialize(self):
        """Restores the newest and gives its name; without one, calls init_fn, and gives None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._counter is not None:
                self._last_step = self._step()
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        """Nothing: what is saved is there when save() returns."""


def _incremented(checkpoint):
    counter = checkpoint.save_counter
    if _is_eager():
        counter.assign_add(np.int64(1))
        return int(counter.numpy())
    return int(_session(None).run(counter.assign_add(np.int64(1))))
