"""Checkpoints as files: what is in them, the list of those in a folder, values from them."""

import os
import re
import time

from rheos import _core
from rheos.framework import errors, gfile, messages
from rheos.training.records import tf_record_iterator


class CheckpointReader:
    """What is in a checkpoint, of either kind. `filepattern`: as a saver was given it."""

    def __init__(self, filepattern):
        self._files = _core.CheckpointFiles(os.fsdecode(filepattern))
        self._entries = self._files.entries()
        self._index = {name: i for i, (name, _, _) in enumerate(self._entries)}

    def get_variable_to_shape_map(self):
        """{name: [sizes]}"""
        return {name: list(shape) for name, _, shape in self._entries}

    def get_variable_to_dtype_map(self):
        """{name: DType}"""
        return {name: dtype for name, dtype, _ in self._entries}

    def has_tensor(self, tensor_str):
        """Whether there is a tensor of that name."""
        return _text(tensor_str) in self._index

    def get_tensor(self, tensor_str):
        """The value of a tensor, a NumPy array. NotFoundError if there is none."""
        name = _text(tensor_str)
        if name not in self._index:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._files.read(self._index[name])

    def debug_string(self):
        """A line for each tensor, as bytes."""
        lines = (
            f"{name} (DT_{dtype.name.upper()}) [{','.join(map(str, shape))}]\n"
            for name, dtype, shape in self._entries
        )
        return "".join(lines).replace("DT_FLOAT32", "DT_FLOAT").encode()


OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def object_names(path):
    """{variable's name: key in the checkpoint} of one written by objects; None of any other."""
    prefix = checkpoint_of(path)
    reader = None if prefix is None else CheckpointReader(prefix)
    if reader is None or not reader.has_tensor(OBJECT_GRAPH_KEY):
        return None
    objects = messages.TrackableObjectGraph.FromString(bytes(reader.get_tensor(OBJECT_GRAPH_KEY)))
    return {a.full_name: a.checkpoint_key for node in objects.nodes for a in node.attributes}


def _text(name):
    return name.decode() if isinstance(name, bytes) else name


def NewCheckpointReader(filepattern):
    """A CheckpointReader. NotFoundError if there is no checkpoint."""
    return CheckpointReader(filepattern)


def checkpoint_of(file_or_folder):
    """The prefix: the newest one of a folder, anything else as it is."""
    path = os.fsdecode(file_or_folder)
    return latest_checkpoint(path) if gfile.IsDirectory(path) else path


def load_checkpoint(ckpt_dir_or_file):
    """A CheckpointReader for a checkpoint, or the newest one of a folder."""
    filename = checkpoint_of(ckpt_dir_or_file)
    if filename is None:
        raise ValueError(
            "Couldn't find 'checkpoint' file or checkpoints in given directory %s"
            % ckpt_dir_or_file
        )
    return CheckpointReader(filename)


def load_variable(ckpt_dir_or_file, name):
    """The value of a variable in a checkpoint, a NumPy array."""
    name = _text(name)
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)


def list_variables(ckpt_dir_or_file):
    """[(name, [sizes])], sorted, of a checkpoint or the newest one of a folder."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())


# ---- Names of checkpoints


def _matches(pattern):
    if gfile.Exists(pattern):
        return [pattern]
    return gfile.Glob(pattern) if any(c in pattern for c in "*?[") else []


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of that name or pattern."""
    prefix = os.fsdecode(checkpoint_prefix)
    return bool(_matches(prefix + ".index") or _matches(prefix))


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When each checkpoint was written, in seconds since 1970; those not there are left out."""
    times = []
    for prefix in map(os.fsdecode, checkpoint_prefixes):
        found = _matches(prefix + ".index") or _matches(prefix)
        if found:
            times.append(float(int(os.path.getmtime(gfile.local_path(found[0])))))
    return times


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint; of the first kind, all that a pattern names."""
    folder, base = os.path.split(gfile.local_path(checkpoint_prefix))
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    graph = re.sub(r"-[\d?]+-of-\d+$", "", base) + "." + meta_graph_suffix
    shards = {os.path.basename(path) for path in _matches(checkpoint_prefix)}
    for name in names:
        rest = name[len(base) :] if name.startswith(base) else ""
        if name in shards or name == graph or rest == ".index" or rest.startswith(".data-"):
            try:
                os.remove(os.path.join(folder, name))
            except OSError:
                pass


# ---- The list of those in a folder


class CheckpointState:
    """The list of checkpoints in a folder: paths, and when they were written if it is known."""

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
        lines += [
            f"all_model_checkpoint_timestamps: {t}" for t in self.all_model_checkpoint_timestamps
        ]
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {self.last_preserved_timestamp}")
        return "".join(line + "\n" for line in lines)


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder, None without one. ValueError if it names no checkpoint."""
    found = _core.read_checkpoint_state(os.fsdecode(checkpoint_dir), latest_filename)
    if found is None:
        return None
    if not found[0]:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    return CheckpointState(*found)


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The prefix of the newest checkpoint of a folder, None if it has none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not checkpoint_exists(state.model_checkpoint_path):
        return None
    return state.model_checkpoint_path


def generate_checkpoint_state_proto(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """The CheckpointState that lists these; relative paths where `save_dir` is relative."""
    save_dir, model_checkpoint_path = map(os.fsdecode, (save_dir, model_checkpoint_path))
    paths = list(map(os.fsdecode, all_model_checkpoint_paths or ()))
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or ())
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths %s and "
            "timestamps %s)" % (paths, times)
        )
    if not os.path.isabs(save_dir):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return CheckpointState(model_checkpoint_path, paths, times, last_preserved_timestamp or 0.0)


def update_checkpoint_state(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    latest_filename=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """Writes the list of checkpoints of a folder."""
    save_dir, model_checkpoint_path = map(os.fsdecode, (save_dir, model_checkpoint_path))
    paths = list(map(os.fsdecode, all_model_checkpoint_paths or ()))
    state = generate_checkpoint_state_proto(
        save_dir,
        model_checkpoint_path,
        paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    _core.write_checkpoint_state(
        save_dir,
        latest_filename,
        model_checkpoint_path,
        paths,
        state.all_model_checkpoint_timestamps,
        state.last_preserved_timestamp,
    )


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The prefix of the newest checkpoint of a folder as soon as it is not `last_checkpoint`.

    None if there is none in `timeout` seconds. seconds_to_sleep: between two looks.
    """
    end = None if timeout is None else time.time() + timeout
    while True:
        newest = latest_checkpoint(checkpoint_dir)
        if newest is not None and newest != last_checkpoint:
            return newest
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yields the prefix of each new checkpoint of a folder; waits for the next.

    timeout: seconds to wait, None for ever; timeout_fn: asked then, True ends.
    """
    last = None
    while True:
        newest = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if newest is None:
            if not timeout_fn or timeout_fn():
                return
            continue
        begun, last = time.time(), newest
        yield newest
        left = begun + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)


# ---- Event files


def summary_iterator(path):
    """The Event messages of an event file, one by one."""
    for record in tf_record_iterator(os.fsdecode(path)):
        yield messages.Event.FromString(record)
