"""Variables that start with values of a checkpoint, when they are initialized."""

import collections

import numpy as np

from rheos.framework import errors, logging
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import device, name_scope
from rheos.framework.op_call import op_list
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.state import init_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.partitioned_variables import PartitionedVariable, PartitionInfo
from rheos.ops.state.variables import Variable
from rheos.training.checkpoints import checkpoint_of, load_checkpoint


def _variables_by_name(variables):
    """{name: [variable]}; the parts of one variable are together under the name of the whole."""
    found = {}
    for variable in variables:
        part = variable._get_save_slice_info()
        name = variable.op.name if part is None else part.full_name
        found.setdefault(name, []).append(variable)
    return found


def _graph_variables():
    graph = get_default_graph()
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    listed = [v for key in keys for v in graph.get_collection(key) if isinstance(v, Variable)]
    return _variables_by_name(dict.fromkeys(listed))


def _set_initializer(variable, checkpoint, name, slice_spec):
    """Makes a variable start as a tensor in the checkpoint, or a slice of it."""
    with name_scope(None), device(variable.device):
        with device("/cpu:0"):
            (value,) = op_list(
                "RestoreV2",
                "checkpoint_initializer",
                checkpoint,
                [name],
                [slice_spec],
                dtypes=[variable.dtype.base_dtype],
            )
        value.set_shape(variable.shape)
        _start_with(variable, value)


def _start_with(variable, value):
    if variable.op.type == "VarHandleOp":
        value = array_ops.identity(value)
    assigned = variable.assign(value, read_value=False)
    variable._initializer_op = getattr(assigned, "op", assigned)
    variable._initial_value = value


def _set_initializers(parts, checkpoint, name):
    """The same for the parts of a variable, [variable]."""
    names = {p.full_name for p in (v._get_save_slice_info() for v in parts) if p is not None}
    if len(names) > 1:
        raise ValueError("Slices must all be from the same tensor: %s" % " != ".join(sorted(names)))
    for variable in parts:
        part = variable._get_save_slice_info()
        spec = part.spec if part is not None and len(parts) + len(names) > 1 else ""
        _set_initializer(variable, checkpoint, name, spec)


def _given_variables(target, variables):
    """The variables that a value of the assignment map stands for; None if it names a scope."""
    if isinstance(target, Variable):
        return [target]
    if isinstance(target, PartitionedVariable):
        return list(target)
    if isinstance(target, (list, tuple)) and all(isinstance(v, Variable) for v in target):
        return list(target)
    if isinstance(target, str):
        return variables.get(target)
    raise TypeError(
        f"init_from_checkpoint: expected a variable, its parts, or a name, got {target!r}"
    )


def _whole_shape(parts):
    part = parts[0]._get_save_slice_info()
    return parts[0].shape if part is None else TensorShape(part.full_shape)


def _check_fits(pairs, where, reader):
    """Raises TensorFlow's error for the first variable that does not fit, with a list of all."""
    wanted = [(name, _whole_shape(parts)) for name, parts, _ in pairs]
    misfit = reader._files.misfit(wanted, str(where))
    if misfit is None:
        return
    shapes = reader.get_variable_to_shape_map()
    for (name, shape), (_, parts, within) in zip(wanted, pairs):
        if name not in shapes:
            first = f"Tensor {name}{within} is not found in {where} checkpoint"
        elif not shape.is_compatible_with(shapes[name]):
            first = (
                f"Shape of variable {parts[0].name} ({shape}) doesn't match with shape of "
                f"tensor {name} ({shapes[name]}) from checkpoint reader."
            )
        else:
            continue
        raise ValueError(f"{first}\n{misfit}")


def _pairs_of_scope(source, target, variables):
    """(name in the checkpoint, parts, where it was looked for) of all variables below a scope."""
    scope = target.rpartition("/")[0]
    if not source.endswith("/") or not target.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {target} should map to scope only {source}. "
            "Should be 'scope/': 'other_scope/'."
        )
    prefix = scope + "/" if scope else ""
    for name in sorted(n for n in variables if n.startswith(prefix)):
        rest = name[len(prefix) :]
        found = rest if source == "/" else source + rest
        yield found, variables[name], f" ({rest} in {source})"


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Makes variables start with values in a checkpoint, when they are initialized.

    assignment_map: from names in the checkpoint to variables, the parts of one, or their names; or
    from scopes ("scope/", "/" for all) to scopes. ValueError for what is in neither, or does not
    have the shape; it lists them all.
    """
    checkpoint = checkpoint_of(ckpt_dir_or_file)
    reader = load_checkpoint(ckpt_dir_or_file)
    variables = _graph_variables()
    pairs = []
    for source, target in sorted(assignment_map.items(), key=lambda item: item[0]):
        parts = _given_variables(target, variables)
        if parts is not None:
            pairs.append((source, parts, ""))
        else:
            pairs.extend(_pairs_of_scope(source, target, variables))
    _check_fits(pairs, ckpt_dir_or_file, reader)
    for name, parts, _ in pairs:
        _set_initializers(parts, checkpoint, name)


# ---- Warm starts: also where a vocabulary has changed


class VocabInfo(
    collections.namedtuple(
        "VocabInfo",
        [
            "new_vocab",
            "new_vocab_size",
            "num_oov_buckets",
            "old_vocab",
            "old_vocab_size",
            "backup_initializer",
            "axis",
        ],
    )
):
    """The vocabularies (paths of files, an entry a line) of a variable now and in a checkpoint.

    Rows (axis 0) or columns (axis 1) of entries that both have are taken from the checkpoint, the
    others start as backup_initializer says, as zeros by default. old_vocab_size: -1 is all.
    """

    def __new__(
        cls,
        new_vocab,
        new_vocab_size,
        num_oov_buckets,
        old_vocab,
        old_vocab_size=-1,
        backup_initializer=None,
        axis=0,
    ):
        if axis not in (0, 1):
            raise ValueError(
                f"The only supported values for the axis argument are 0 and 1.  Provided axis: "
                f"{axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


def _entries(path, count):
    with open(path, "rb") as file:
        lines = file.read().replace(b"\r", b"").split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines if count < 0 else lines[:count]


def _numbered(entries, path):
    numbers = {}
    for i, entry in enumerate(entries):
        if numbers.setdefault(entry, i) != i:
            raise errors.FailedPreconditionError(
                None,
                None,
                "HashTable has different value for same key. Key "
                f"{entry.decode('utf-8', 'replace')} has {numbers[entry]} and trying to add value "
                f"{i} (in '{path}')",
            )
    return numbers


def _checked_entries(path, count):
    entries = _entries(path, count)
    if len(entries) < count:
        raise ValueError(f"{path} has {len(entries)} entries, not {count}")
    return entries


def _old_positions(vocab):
    """For each entry now, with those for unknown ones, where it was; -1: nowhere."""
    old = _numbered(_checked_entries(vocab.old_vocab, vocab.old_vocab_size), vocab.old_vocab)
    new = _checked_entries(vocab.new_vocab, vocab.new_vocab_size)
    positions = [old.get(entry, -1) for entry in new] + [-1] * vocab.num_oov_buckets
    return np.array(positions, np.int32)


def _start_with_vocab(variable, checkpoint, name, old_shape, vocab):
    positions = _old_positions(vocab)
    info = None
    part = variable._get_save_slice_info()
    if part is not None:
        info = PartitionInfo(part.full_shape, part.var_offset)
        start = part.var_offset[vocab.axis]
        positions = positions[start : start + part.var_shape[vocab.axis]]
    shape = variable.shape.as_list()
    if len(positions) != shape[vocab.axis]:
        raise ValueError(
            f"Variable {variable.name} has {shape[vocab.axis]} entries along axis {vocab.axis}, "
            f"its vocabulary has {len(positions)}"
        )
    initializer = vocab.backup_initializer or init_ops.zeros_initializer()
    dtype = variable.dtype.base_dtype
    with name_scope(None), device("/cpu:0"):
        (old,) = op_list(
            "RestoreV2", "checkpoint_initializer", checkpoint, [name], [""], dtypes=[dtype]
        )
        old.set_shape(old_shape)
        if part is not None and vocab.axis == 1:
            old = old[part.var_offset[0] : part.var_offset[0] + part.var_shape[0]]
        taken = array_ops.gather(old, np.maximum(positions, 0), axis=vocab.axis)
        fresh = initializer(shape, dtype=dtype, partition_info=info)
        sizes = [1] * len(shape)
        sizes[vocab.axis] = -1
        is_known = np.broadcast_to((positions >= 0).reshape(sizes), shape)
        _start_with(variable, array_ops.where(is_known, taken, fresh))


def _chosen_variables(chosen):
    graph = get_default_graph()
    if chosen is None or isinstance(chosen, str):
        return graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=chosen)
    if isinstance(chosen, list) and all(isinstance(v, str) for v in chosen):
        named = (graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=v) for v in chosen)
        return [variable for group in named for variable in group]
    if isinstance(chosen, list) and all(
        isinstance(v, (Variable, PartitionedVariable)) for v in chosen
    ):
        parts = [list(v) if isinstance(v, PartitionedVariable) else [v] for v in chosen]
        return [variable for group in parts for variable in group]
    raise ValueError(
        "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`; else a `str`. "
        f"Given is {chosen!r}"
    )


def warm_start(
    ckpt_to_initialize_from,
    vars_to_warm_start=".*",
    var_name_to_vocab_info=None,
    var_name_to_prev_var_name=None,
):
    """Makes variables start with the values that they have in a checkpoint.

    vars_to_warm_start: a regular expression for trainable variables, a list of those for all, a
    list of variables, or None for all trainable ones. var_name_to_vocab_info: {name: VocabInfo}.
    var_name_to_prev_var_name: {name: name in the checkpoint}, where they differ.
    """
    checkpoint = checkpoint_of(ckpt_to_initialize_from)
    reader = load_checkpoint(ckpt_to_initialize_from)
    shapes = reader.get_variable_to_shape_map()
    vocabularies = dict(var_name_to_vocab_info or {})
    earlier = dict(var_name_to_prev_var_name or {})
    grouped = _variables_by_name(dict.fromkeys(_chosen_variables(vars_to_warm_start)))
    for names, what in (
        (vocabularies, "var_name_to_vocab_info"),
        (earlier, "var_name_to_prev_var_name"),
    ):
        unused = sorted(names.keys() - grouped.keys())
        if unused:
            raise ValueError(
                f"You provided the following variables in {what} that were not used: {unused}.  "
                "Perhaps you misspelled them?  Here is the list of viable variable names: "
                f"{sorted(grouped)}"
            )
    plain = [(n, parts) for n, parts in sorted(grouped.items()) if n not in vocabularies]
    pairs = [(earlier.get(name, name), parts, "") for name, parts in plain]
    _check_fits(pairs, ckpt_to_initialize_from, reader)
    for name, parts in sorted(grouped.items()):
        source = earlier.get(name, name)
        if name in vocabularies:
            if source not in shapes:
                raise ValueError(
                    f"Tensor {source} is not found in {ckpt_to_initialize_from} checkpoint {shapes}"
                )
            for variable in parts:
                _start_with_vocab(variable, checkpoint, source, shapes[source], vocabularies[name])
        else:
            _set_initializers(parts, checkpoint, source)
    logging.info("Warm-started %d variables.", len(grouped))
