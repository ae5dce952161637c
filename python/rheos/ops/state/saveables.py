"""What a saver can save beside variables: objects that tell their tensors and take them back."""

import os

from rheos.framework import messages
from rheos.framework.graph import device, name_scope
from rheos.framework.op_call import apply_op, op1, op_list
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops


class SaveSpec:
    """A tensor to save under a name, or a function that gives one.

    slice_spec: "" or, for a part of a tensor, which one. A function needs `dtype`.
    """

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        if callable(tensor) and dtype is None:
            raise AssertionError("a SaveSpec of a function needs a dtype")
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        self.dtype = tensor.dtype if dtype is None else dtype
        self.device = tensor.device if device is None and not callable(tensor) else device

    @property
    def tensor(self):
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """An object `op` that is saved as the tensors of its specs.

    A subclass has restore(restored_tensors, restored_shapes), which gives the operation that puts
    them back; the shapes are None unless values of other shapes are to be reshaped.
    """

    optional_restore = False

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self):
        return self.specs[0].device

    def restore(self, restored_tensors, restored_shapes):
        """The operation that restores the object."""
        raise ValueError("Calling an abstract method.")


class VariableSaveable(SaveableObject):
    """A variable, or a part of one."""

    def __init__(self, variable, name):
        part = variable._get_save_slice_info()
        spec = SaveSpec(
            variable.value,
            "" if part is None else part.spec,
            name,
            variable.dtype.base_dtype,
            variable.device,
        )
        super().__init__(variable, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        return self.op.assign(value, read_value=False)


VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


class TensorSaveable(SaveableObject):
    """A variable of which there is only the tensor that its op gives, as in an imported graph."""

    def __init__(self, tensor, name):
        self._is_handle = tensor.op.type == "VarHandleOp"
        dtype = tensor.op.get_attr("dtype").base_dtype
        spec = SaveSpec(
            (lambda: op1("ReadVariableOp", None, tensor, dtype=dtype))
            if self._is_handle
            else tensor,
            "",
            name,
            dtype,
            tensor.device,
        )
        super().__init__(tensor, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        if self._is_handle:
            return apply_op("AssignVariableOp", None, self.op, value)
        known = restored_shapes is None and self.op.shape.is_fully_defined()
        return op1("Assign", None, self.op, value, validate_shape=known)


class TableSaveable(SaveableObject):
    """A lookup table: its keys and its values."""

    def __init__(self, table, name):
        keys, values = table.export()
        specs = [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors, restored_shapes):
        with name_scope(f"{self.name}_table_restore"):
            return apply_op("LookupTableImportV2", None, self.op.resource_handle, *restored_tensors)


class BaseSaverBuilder:
    """Adds the nodes of a saver to the graph; a subclass may change what saves and restores.

    write_version: 1 for files of TensorFlow 0.x.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject

    def __init__(self, write_version=2):
        self._write_version = write_version

    def save_op(self, filename_tensor, saveables):
        """The operation that writes all of them to the checkpoint of that name."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        op, slices = "SaveV2", "shape_and_slices"
        if self._write_version != 2:
            op, slices = "SaveSlices", "shapes_and_slices"
        with name_scope("SaveV2" if self._write_version == 2 else "save") as scope:
            return apply_op(
                op,
                scope,
                filename_tensor,
                constant([spec.name for spec in specs], name="tensor_names"),
                constant([spec.slice_spec for spec in specs], name=slices),
                [spec.tensor for spec in specs],
            )

    def bulk_restore(
        self, filename_tensor, saveables, preferred_shard=-1, restore_sequentially=False
    ):
        """The tensors of all specs, read from the checkpoint of that name."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with name_scope("RestoreV2") as scope:
            return op_list(
                "RestoreV2",
                scope,
                filename_tensor,
                constant([spec.name for spec in specs], name="tensor_names"),
                constant([spec.slice_spec for spec in specs], name="shape_and_slices"),
                dtypes=[spec.dtype.base_dtype for spec in specs],
            )

    def _save(self, prefix, saveables):
        """Writes one file; gives its name once that is done."""
        save = self.save_op(prefix, saveables)
        with prefix.graph.control_dependencies([save]):
            return array_ops.identity(prefix, name="control_dependency")

    def _save_shards(self, prefix, shards):
        """Writes a file for each device; gives the checkpoint's name once they are one."""
        is_v2 = self._write_version == 2
        base = prefix
        if is_v2:
            suffix = constant(f"_temp_{os.urandom(16).hex()}/part", name="StringJoin/inputs_1")
            base = op1("StringJoin", None, [prefix, suffix])
        count = constant(len(shards), name="num_shards")
        names, saved = [], []
        for i, (place, saveables) in enumerate(shards):
            with device(place), device("/device:CPU:0" if is_v2 else None):
                with name_scope("ShardedFilename") as scope:
                    shard = constant(i, name="shard")
                    names.append(op1("ShardedFilename", scope, base, shard, count))
                saved.append(self._save(names[-1], saveables))
        with prefix.graph.control_dependencies([name.op for name in saved]):
            if not is_v2:
                return op1("ShardedFilespec", None, prefix, count)
            with device(shards[-1][0]), device("/device:CPU:0"):
                parts = array_ops.stack(names, name="MergeV2Checkpoints/checkpoint_prefixes")
                merged = apply_op("MergeV2Checkpoints", None, parts, prefix)
                with prefix.graph.control_dependencies([merged]):
                    return array_ops.identity(prefix)

    def _restore_all(self, filename, saveables, reshape, name="restore_all", shard=-1):
        tensors = self.bulk_restore(filename, saveables, shard)
        restores = []
        for saveable in saveables:
            count = len(saveable.specs)
            own, tensors = tensors[:count], tensors[count:]
            shapes = None
            if reshape:
                shapes = [
                    spec.tensor.get_shape()
                    if spec.tensor.get_shape().is_fully_defined()
                    else array_ops.shape(spec.tensor)
                    for spec in saveable.specs
                ]
            restores.append(saveable.restore(own, shapes))
        return control_flow_ops.group(*restores, name=name)

    def _restore_shards(self, filename, shards, reshape):
        restores = []
        for i, (place, saveables) in enumerate(shards):
            with device(place):
                restores.append(self._restore_all(filename, saveables, reshape, "restore_shard", i))
        return control_flow_ops.group(*restores, name="restore_all")

    def build(
        self,
        names_to_saveables,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        filename="model",
    ):
        """Adds the nodes; a SaverDef with their names. sharded: a file for each device."""
        saveables = list(saveables_of(names_to_saveables))
        with name_scope(name, "save"):
            given = op1(
                "PlaceholderWithDefault",
                "filename",
                constant(filename or "model", name="filename/input"),
                shape=[],
            )
            prefix = op1("PlaceholderWithDefault", "Const", given, shape=[])
            if sharded:
                shards = _by_device(saveables)
                saved = self._save_shards(prefix, shards)
                restore = self._restore_shards(prefix, shards, reshape)
            else:
                saved = self._save(prefix, saveables)
                restore = self._restore_all(prefix, saveables, reshape)
        return messages.SaverDef(
            filename_tensor_name=prefix.name,
            save_tensor_name=saved.name,
            restore_op_name=restore.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )


def _by_device(saveables):
    """[(device, [saveable])], by device."""
    found = {}
    for saveable in saveables:
        found.setdefault(saveable.device or "", []).append(saveable)
    return sorted(found.items())


class BulkSaverBuilder(BaseSaverBuilder):
    """The builder that savers use."""


def saveable_of(name, value):
    """What saves a variable, a table, or what knows how to itself, under that name."""
    if isinstance(value, SaveableObject):
        return value
    if hasattr(value, "resource_handle") and hasattr(value, "export"):
        return TableSaveable(value, name)
    if isinstance(value, Tensor):
        return TensorSaveable(value, name)
    return VariableSaveable(value, name)


def saveables_of(names_to_saveables):
    """The SaveableObjects of {name: what to save}, in the order of names."""
    for name, value in sorted(names_to_saveables.items()):
        parts = value if isinstance(value, (list, tuple)) else [value]
        for part in parts:
            yield saveable_of(name, part)
