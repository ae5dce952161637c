"""Savers: checkpoints of variables in TensorFlow's format."""

import os
import time

from rheos import _core
from rheos.framework.graph import get_default_graph
from rheos.ops.variables import GraphKeys, Variable


class CheckpointState:
    """The list of checkpoints in a folder."""

    def __init__(
        self,
        model_checkpoint_path="",
        all_model_checkpoint_paths=(),
        all_model_checkpoint_timestamps=(),
        last_preserved_timestamp=0.0,
    ):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp

    def __repr__(self):
        lines = [f'model_checkpoint_path: "{self.model_checkpoint_path}"']
        lines += [f'all_model_checkpoint_paths: "{p}"' for p in self.all_model_checkpoint_paths]
        return "".join(line + "\n" for line in lines)


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of that name."""
    return os.path.exists(checkpoint_prefix + ".index") or os.path.exists(checkpoint_prefix)


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder, None if it has none."""
    found = _core.read_checkpoint_state(os.fspath(checkpoint_dir), latest_filename)
    if found is None or not found[0]:
        return None
    return CheckpointState(*found)


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The prefix of the newest checkpoint of a folder, None if it has none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not checkpoint_exists(state.model_checkpoint_path):
        return None
    return state.model_checkpoint_path


def update_checkpoint_state(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    latest_filename=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """Writes the list of checkpoints of a folder."""
    paths = list(all_model_checkpoint_paths or ())
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    _core.write_checkpoint_state(save_dir, latest_filename, model_checkpoint_path, paths)


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=None, meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint."""
    folder, base = os.path.split(checkpoint_prefix)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    for name in names:
        rest = name[len(base) :] if name.startswith(base) else ""
        if rest == ".index" or rest == "." + meta_graph_suffix or rest.startswith(".data-"):
            try:
                os.remove(os.path.join(folder, name))
            except OSError:
                pass


class Saver:
    """Saves variables to checkpoints and restores them.

    var_list: variables, or a dict from the names in the checkpoint to variables; all saveable
    ones by default. max_to_keep: older checkpoints are deleted; 0 or None keeps all.
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
        if saver_def is not None or builder is not None:
            raise NotImplementedError("Saver: saver_def and builder")
        self._var_list = var_list
        self._name = name
        self._allow_empty = allow_empty
        self._is_empty = False
        self._max_to_keep = max_to_keep or 0
        self._keep_every_seconds = keep_checkpoint_every_n_hours * 3600
        self._next_preserved = time.time() + self._keep_every_seconds
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._last_checkpoints = []  # (path, time)
        self._nodes = None
        if not defer_build:
            self.build()

    def build(self):
        """Adds the nodes."""
        if self._nodes is not None:
            return
        graph = get_default_graph()
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
        by_name = _names_to_variables(variables)
        names = sorted(by_name)
        graph = by_name[names[0]].graph
        with graph.as_default():
            self._nodes = graph._saver_new([by_name[n] for n in names], names, self._name)

    def _check_built(self):
        if self._nodes is None and not self._is_empty:
            raise RuntimeError("`build()` should be called before save if defer_build==True")

    @property
    def last_checkpoints(self):
        """The checkpoints that were kept, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints):
        """Sets the list of checkpoints that were kept."""
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        self._last_checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths):
        """Takes over checkpoints that exist already."""
        self._last_checkpoints = [
            (path, os.path.getmtime(path + ".index"))
            for path in checkpoint_paths
            if os.path.exists(path + ".index")
        ]

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
        """Writes a checkpoint; returns its prefix.

        global_step: a number, variable or tensor, put behind the prefix. write_state: also write
        the list of checkpoints of the folder.
        """
        self._check_built()
        save_path = os.fspath(save_path)
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if not save_path or save_path.endswith("/") or os.path.isdir(save_path):
            raise ValueError(
                f"'save_path' must be a prefix of file names, not a folder: {save_path!r}"
            )
        if global_step is not None:
            step = global_step
            if not isinstance(step, int) and not hasattr(step, "__index__"):
                step = sess.run(step)
            number = "%08d" % step if self._pad_step_number else "%d" % step
            prefix = f"{save_path}-{number}"
        else:
            prefix = save_path
            if os.path.basename(save_path) == latest_filename:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and "
                    f"'{save_path}'"
                )
        folder = os.path.dirname(prefix)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        if self._is_empty:
            return None
        sess.run(self._nodes.save_path, {self._nodes.filename: prefix})
        if write_state:
            self._keep(prefix, meta_graph_suffix)
            listed = [p for p, _ in self._last_checkpoints] or [prefix]
            newest = prefix
            if self._save_relative_paths:
                newest = os.path.relpath(newest, folder or ".")
                listed = [os.path.relpath(p, folder or ".") for p in listed]
            update_checkpoint_state(folder or ".", newest, listed, latest_filename)
        return prefix

    def _keep(self, prefix, meta_graph_suffix):
        """Adds a checkpoint to the list, and deletes what is too many."""
        if not self._max_to_keep:
            return
        kept = [entry for entry in self._last_checkpoints if entry[0] != prefix]
        kept.append((prefix, time.time()))
        self._last_checkpoints = kept
        while len(self._last_checkpoints) > self._max_to_keep:
            path, when = self._last_checkpoints.pop(0)
            if when > self._next_preserved:
                self._next_preserved += self._keep_every_seconds
                continue
            remove_checkpoint(path, meta_graph_suffix=meta_graph_suffix)

    def restore(self, sess, save_path):
        """Sets the variables to the values in a checkpoint."""
        self._check_built()
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fspath(save_path)
        if not checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        sess.run(self._nodes.restore, {self._nodes.filename: save_path})


def _names_to_variables(variables):
    if isinstance(variables, dict):
        items = variables.items()
    else:
        items = [(v.op.name, v) for v in variables]
    by_name = {}
    for name, variable in items:
        if not isinstance(variable, Variable):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to variables. Not a "
                f"variable: {variable}"
            )
        if name in by_name and by_name[name] is not variable:
            raise ValueError(f"At least two variables have the same name: {name}")
        by_name[name] = variable
    return by_name
