"""Savers: checkpoints of variables in TensorFlow's format."""

import os
import threading
import time
import warnings

from rheos.framework import errors, gfile, logging, messages
from rheos.framework.defaults import get_default_graph
from rheos.framework.op_call import apply_op, op_list
from rheos.framework.operation import Tensor
from rheos.framework.proto_functions import register_proto_function
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.partitioned_variables import PartitionedVariable
from rheos.ops.state.saveables import VARIABLE_OPS, BaseSaverBuilder, SaveableObject
from rheos.ops.state.variables import Variable
from rheos.training.checkpoints import (
    checkpoint_exists,
    get_checkpoint_mtimes,
    object_names,
    remove_checkpoint,
    update_checkpoint_state,
)
from rheos.training.meta_graph import (
    export_meta_graph,
    import_scoped_meta_graph_with_return_elements,
    read_meta_graph_file,
    scope_for_import,
)

V1, V2 = 1, 2  # SaverDef.CheckpointFormatVersion


def _is_plain(saved):
    return isinstance(saved, Variable) and not saved._is_distributed


class Saver:
    """Saves variables to checkpoints and restores them.

    var_list: variables, or a dict from the names in the checkpoint to variables; all saveable
    ones by default. max_to_keep: older checkpoints are deleted; 0 or None keeps all. reshape: also
    restores tensors of another shape with as many elements. write_version: SaverDef.V1 writes files
    of TensorFlow 0.x; both kinds are restored. saver_def: the nodes are in the graph already.
    sharded: a file for each device. builder: a BaseSaverBuilder, which adds the nodes. Mutable
    tables are saved too, unless they were made with checkpoint=False. A checkpoint that TensorFlow
    2 wrote by objects is restored by the names that its variables had. The order of restoring
    makes no difference here.
    """

    def __init__(
        self,
        var_list=None,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        saver_def=None,
        builder=None,
        defer_build=False,
        allow_empty=False,
        write_version=2,
        pad_step_number=False,
        save_relative_paths=False,
        filename=None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build "
                "to False or var_list to None."
            )
        if write_version not in (V1, V2):
            raise ValueError(f"Unsupported write_version: {write_version}")
        self._var_list = var_list
        self._name = name
        self._allow_empty = allow_empty
        self._is_empty = False
        self._reshape = reshape
        self._sharded = sharded
        self._write_version = write_version
        self._filename = filename
        self._max_to_keep = max_to_keep or 0
        self._keep_hours = keep_checkpoint_every_n_hours
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._last_checkpoints = []  # (path, time)
        self._turn = threading.RLock()
        self._builder = builder
        self._by_object = None  # (mapping, saver) for checkpoints of objects
        self._nodes = None  # what is fed to name the file, what is fetched to save, to restore
        self._at_once = None  # (names, variables) that are in no graph
        if saver_def is not None:
            self._take(saver_def)
        self._next_preserved = time.time() + self._keep_hours * 3600
        if not defer_build:
            self.build()

    def _take(self, saver_def):
        """Uses the nodes that a SaverDef names."""
        self._nodes = (
            saver_def.filename_tensor_name,
            saver_def.save_tensor_name,
            saver_def.restore_op_name,
        )
        self._max_to_keep = saver_def.max_to_keep
        self._keep_hours = saver_def.keep_checkpoint_every_n_hours
        self._sharded = saver_def.sharded
        self._write_version = saver_def.version

    def build(self):
        """Adds the nodes."""
        if self._nodes is not None:
            return
        graph = get_default_graph()
        if graph._is_eager:
            if self._var_list is None:
                raise RuntimeError(
                    "When eager execution is enabled, `var_list` must specify a list or dict of "
                    "variables to save"
                )
            self._at_once = _named_variables(self._var_list)
            return
        graph._check_not_finalized()
        variables = self._var_list
        if variables is None:
            variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(
                GraphKeys.SAVEABLE_OBJECTS
            )
        if not variables:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        names, saved = _named_variables(variables)
        if self._builder is not None or not all(map(_is_plain, saved)):
            self._build_with(self._builder, names, saved)
            return
        graph = saved[0].graph
        with graph.as_default():
            nodes = graph._saver_new(
                saved,
                names,
                self._name,
                self._filename,
                self._write_version == V1,
                self._reshape,
                self._sharded,
            )
        self._nodes = nodes.filename, nodes.save_path, nodes.restore

    def _build_with(self, builder, names, saved):
        """Lets a builder add the nodes."""
        if builder is None:
            builder = BaseSaverBuilder(self._write_version)
        by_name = {}
        for name, value in zip(names, saved):
            by_name.setdefault(name, []).append(value)
        self._take(
            builder.build(
                {name: v if len(v) > 1 else v[0] for name, v in by_name.items()},
                reshape=self._reshape,
                sharded=self._sharded,
                max_to_keep=self._max_to_keep,
                keep_checkpoint_every_n_hours=self._keep_hours,
                name=self._name,
                filename=self._filename,
            )
        )

    @property
    def saver_def(self):
        """The SaverDef message that names the nodes; None where there is nothing to save."""
        if self._nodes is None:
            return None

        filename, save_path, restore = (getattr(n, "name", n) for n in self._nodes)
        return messages.SaverDef(
            filename_tensor_name=filename,
            save_tensor_name=save_path,
            restore_op_name=restore,
            max_to_keep=self._max_to_keep,
            sharded=self._sharded,
            keep_checkpoint_every_n_hours=self._keep_hours,
            version=self._write_version,
        )

    def as_saver_def(self):
        """The SaverDef message."""
        return self.saver_def

    def to_proto(self, export_scope=None):
        """The SaverDef message; None if the nodes are not below `export_scope`."""
        saver_def = self.saver_def
        if not export_scope:
            return saver_def
        prefix = export_scope.rstrip("/") + "/"
        if not saver_def.filename_tensor_name.startswith(prefix):
            return None
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(saver_def, field, getattr(saver_def, field)[len(prefix) :])
        return saver_def

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        """The Saver whose nodes a SaverDef names, which were imported below `import_scope`."""
        if import_scope:
            prefixed = messages.SaverDef()
            prefixed.CopyFrom(saver_def)
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(prefixed, field, f"{import_scope}/{getattr(saver_def, field)}")
            saver_def = prefixed
        return Saver(saver_def=saver_def)

    def _check_built(self):
        if self._nodes is None and self._at_once is None and not self._is_empty:
            raise RuntimeError("`build()` should be called before save if defer_build==True")

    @property
    def last_checkpoints(self):
        """The checkpoints that were kept, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints):
        """Sets the list of checkpoints that were kept."""
        assert isinstance(last_checkpoints, list)
        # None is known to be recent, so all may be deleted.
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """The same with the time of each, [(path, seconds since 1970)]."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths):
        """Takes over checkpoints that exist already."""
        found = [(path, get_checkpoint_mtimes([path])) for path in checkpoint_paths]
        self.set_last_checkpoints_with_time([(path, when[0]) for path, when in found if when])

    def save(
        self,
        sess,
        save_path,
        global_step=None,
        latest_filename=None,
        meta_graph_suffix="meta",
        write_meta_graph=True,
        write_state=True,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        """Writes a checkpoint; returns its prefix, None if there is nothing to save but the graph.

        global_step: a number, variable or tensor, put behind the prefix. write_meta_graph: also
        write the graph, to the prefix with `meta_graph_suffix` behind. write_state: also write the
        list of checkpoints of the folder. Threads that save with one saver take turns.
        """
        with self._turn:
            return self._save(
                sess,
                save_path,
                global_step,
                latest_filename,
                meta_graph_suffix,
                write_meta_graph,
                write_state,
                strip_default_attrs,
            )

    def _save(
        self,
        sess,
        save_path,
        global_step,
        latest_filename,
        meta_graph_suffix,
        write_meta_graph,
        write_state,
        strip_default_attrs,
    ):
        self._check_built()
        if self._at_once is None and not hasattr(sess, "run"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        save_path = os.fsdecode(save_path)
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if not save_path:
            raise ValueError("no path specified")
        if global_step is not None:
            step = global_step
            if not isinstance(step, int) and not hasattr(step, "__index__"):
                step = sess.run(step)
            number = "%08d" % step if self._pad_step_number else "%d" % step
            prefix = f"{save_path}-{number}"
        else:
            prefix = save_path
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and "
                    f"'{save_path}'"
                )
        folder = os.path.dirname(prefix)
        # A folder is made, but not those above it.
        parent = folder if self._write_version == V1 else os.path.dirname(folder)
        if not gfile.IsDirectory(folder or ".") and not gfile.IsDirectory(parent or "."):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        written = None  # there may be nothing but the graph
        if self._at_once is not None:
            _write_at_once(prefix, *self._at_once)
            written, write_meta_graph = prefix, False
        elif not self._is_empty:
            filename, save, _ = self._nodes
            written = sess.run(save, {filename: prefix}).decode()
        if write_state and not self._is_empty:
            too_many = self._keep(written)
            listed = [p for p, _ in self._last_checkpoints] or [written]
            newest = written
            if self._save_relative_paths:
                newest, *listed = (
                    os.path.relpath(p, folder) if os.path.isabs(p) else p for p in [newest, *listed]
                )
            update_checkpoint_state(folder or ".", newest, listed, latest_filename)
            # Only now: a list of checkpoints that are gone would leave nothing to go on from.
            for path in too_many:
                remove_checkpoint(path, meta_graph_suffix=meta_graph_suffix)
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(
                    f"{prefix}.{meta_graph_suffix}", strip_default_attrs=strip_default_attrs
                )
        return written

    def export_meta_graph(
        self,
        filename=None,
        collection_list=None,
        as_text=False,
        export_scope=None,
        clear_devices=False,
        clear_extraneous_savers=False,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        """The default graph with this saver as a MetaGraphDef; written if a file is named."""
        return export_meta_graph(
            filename,
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )

    def _keep(self, prefix):
        """Adds a checkpoint to the list, and takes out what is too many; returns these."""
        too_many = []
        if not self._max_to_keep:
            return too_many
        kept = [entry for entry in self._last_checkpoints if entry[0] != prefix]
        kept.append((prefix, time.time()))
        self._last_checkpoints = kept
        while len(self._last_checkpoints) > self._max_to_keep:
            path, when = self._last_checkpoints.pop(0)
            if when > self._next_preserved:
                self._next_preserved += self._keep_hours * 3600
                continue
            too_many.append(path)
        return too_many

    def restore(self, sess, save_path):
        """Sets the variables to the values in a checkpoint.

        save_path: what save() gave, a file of the checkpoint, or a folder, of which the newest one
        is taken. What does not fit is listed in one error.
        """
        self._check_built()
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fsdecode(save_path)
        if not checkpoint_exists(save_path) and not gfile.IsDirectory(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        logging.info("Restoring parameters from %s", save_path)
        if self._at_once is not None:
            _read_at_once(save_path, *self._at_once)
            return
        filename, _, restore = self._nodes
        try:
            sess.run(restore, {filename: save_path})
        except errors.NotFoundError as error:
            keys = object_names(save_path)
            if keys is not None:
                self._restore_objects(sess, save_path, keys)
                return
            raise _explained(
                error,
                "a Variable name or other graph key that is missing from the checkpoint.",
                _misfit(sess.graph, restore, save_path),
            ) from error
        except errors.InvalidArgumentError as error:
            raise _explained(
                error,
                "a mismatch between the current graph and the graph from the checkpoint.",
                _misfit(sess.graph, restore, save_path),
            ) from error

    def _restore_objects(self, sess, save_path, keys):
        """Restores what a checkpoint of TensorFlow 2 holds by object, by the variables' names."""
        variables = self._var_list
        if variables is None:
            variables = sess.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        names, saved = _named_variables(variables)
        missing = sorted(set(names) - set(keys))
        if missing:
            known = ", ".join(sorted(set(keys) - set(names)))
            raise errors.NotFoundError(
                None,
                None,
                f"the checkpoint '{save_path}' holds objects, and among their variables none are "
                f"named {', '.join(missing)}; those that are not asked for: {known}",
            )
        mapping = {keys[name]: variable for name, variable in zip(names, saved)}
        if self._by_object is None or self._by_object[0] != mapping:
            with sess.graph.as_default():
                self._by_object = (
                    mapping,
                    Saver(mapping, reshape=self._reshape, name="save_objects"),
                )
        self._by_object[1].restore(sess, save_path)


register_proto_function(
    GraphKeys.SAVERS,
    "SaverDef",
    lambda saver, export_scope=None: saver.to_proto(export_scope),
    Saver.from_proto,
)


def _misfit(graph, restore, save_path):
    """All that the restore wants and the checkpoint has not, as text; None if that is not it."""
    return graph._restore_check(graph.as_graph_element(restore), save_path)


def _explained(error, cause, misfit):
    original = error.message
    if misfit is not None:
        original = misfit + "".join(original.partition("\n\t [[")[1:])
    return type(error)(
        error.node_def,
        error.op,
        f"Restoring from checkpoint failed. This is most likely due to {cause} Please ensure that "
        f"you have not altered the graph expected based on the checkpoint. Original error:\n\n"
        f"{original}",
    )


def _is_parts(value):
    """Whether it is a list of variables that the program made parts of one."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(v, Variable) and v._get_save_slice_info() is not None for v in value)
    )


def _parts(name, variable):
    """[(name in the checkpoint, variable)] of what a program names as one."""
    if _is_parts(variable):
        return [(name, part) for part in variable]
    if not isinstance(variable, (Variable, PartitionedVariable)):
        own = variable.op.name if isinstance(variable, Tensor) else variable.name
        return [(name or own, variable)]
    if isinstance(variable, PartitionedVariable):
        return [(name or part._get_save_slice_info().full_name, part) for part in variable]
    if not name and variable._is_eager:
        return [(variable._shared_name, variable)]
    if not name:
        part = variable._get_save_slice_info()
        name = variable.op.name if part is None else part.full_name
    return [(name, variable)]


def _write_at_once(prefix, names, variables):
    values = [v.value() for v in variables]
    apply_op("SaveV2", None, prefix, names, [""] * len(names), values)


def _read_at_once(prefix, names, variables):
    kinds = [v.dtype.base_dtype for v in variables]
    values = op_list("RestoreV2", None, prefix, names, [""] * len(names), dtypes=kinds)
    for variable, value in zip(variables, values):
        variable.assign(value)


def _is_saveable(value):
    return (
        isinstance(value, (Variable, PartitionedVariable, SaveableObject))
        or (hasattr(value, "resource_handle") and hasattr(value, "export"))
        or (isinstance(value, Tensor) and value.op.type in VARIABLE_OPS)
    )


def _check_named(variables):
    seen = set()
    for name, variable in sorted(variables.items(), key=lambda item: str(item[0])):
        if not isinstance(name, str):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to checkpointable "
                f"operations. Name is not a string: {name}"
            )
        if not _is_saveable(variable) and not _is_parts(variable):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to Tensors/Variables. "
                f"Not a variable: {variable}"
            )
        if id(variable) in seen:
            raise ValueError(f"The same saveable will be restored with two names: {name}")
        seen.add(id(variable))


def _last_of_each_name(variables):
    """Without saveable objects that another one of the same name follows: TensorFlow saves that."""
    last = {v.name: v for v in variables if isinstance(v, SaveableObject)}
    kept = []
    for v in variables:
        if not isinstance(v, SaveableObject) or last[v.name] is v:
            kept.append(v)
        else:
            warnings.warn(
                f"'{v.name}' is the name of two objects to save; only the last one is saved",
                stacklevel=4,
            )
    return kept


def _named_variables(variables):
    """The names in the checkpoint, and the variables, in the order of names."""
    if isinstance(variables, dict):
        _check_named(variables)
        items = variables.items()
    else:
        variables = _last_of_each_name(variables)
        items = [(None, variable) for variable in variables]
        for variable in variables:
            if not _is_saveable(variable):
                raise TypeError(f"Variable to save is not a Variable: {variable}")
    pairs = [pair for item in items for pair in _parts(*item)]
    pairs.sort(key=lambda pair: pair[0])
    for (name, _), (following, variable) in zip(pairs, pairs[1:]):
        if name == following and (
            not isinstance(variable, Variable) or variable._get_save_slice_info() is None
        ):
            raise ValueError(f"At least two variables have the same name: {name}")
    return [name for name, _ in pairs], [variable for _, variable in pairs]


def import_meta_graph_with_elements(
    meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs
):
    """(saver, [elements]): as import_meta_graph(), and the elements that were asked for."""
    if messages.is_message(meta_graph_or_file, "MetaGraphDef"):
        meta_graph_def = meta_graph_or_file
    else:
        meta_graph_def = read_meta_graph_file(meta_graph_or_file)
    scope = scope_for_import(get_default_graph(), import_scope)
    variables, elements = import_scoped_meta_graph_with_return_elements(
        meta_graph_def, clear_devices, import_scope=import_scope, **kwargs
    )
    if meta_graph_def.HasField("saver_def"):
        return Saver.from_proto(meta_graph_def.saver_def, scope or None), elements
    if any(isinstance(v, Variable) for v in variables.values()):
        return Saver(), elements
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None, elements


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the graph of a MetaGraphDef, or of a file of one, to the default graph, and fills its
    collections; returns the Saver, None if there are no variables to save.

    clear_devices: without the nodes' devices. import_scope: put before all names. kwargs: input_map
    and return_elements of import_graph_def(), restore_collections_predicate(key).
    """
    return import_meta_graph_with_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    )[0]
