"""tf.saved_model.load of a model of TensorFlow 1: a graph, whose signatures become functions.

Variables of the graph become variables that are there at once; reference edges to them are reads.
What writes variables through references, such as training, is left out.
"""

import functools
import os

from rheos import _core
from rheos.framework import dtypes, messages, nest
from rheos.framework.defaults import get_default_graph
from rheos.framework.errors import NotFoundError
from rheos.framework.importer import import_graph_def
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.framework.trackable import AutoTrackable
from rheos.ops.array.constant_op import constant
from rheos.ops.state.eager_variables import EagerVariable
from rheos.tracing.restored import Signatures
from rheos.tracing.wrapped import wrapped
from rheos.training import saved_model
from rheos.training.checkpoints import CheckpointReader

_REFERENCES = ("Variable", "VariableV2")
_NOT_SIGNATURES = (saved_model.INIT_OP_SIGNATURE_KEY, "__saved_model_train_op")


class GraphModel(AutoTrackable):
    """A model that is a graph: its signatures are functions, prune() gives others."""

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """A function of a part of the graph; see WrappedFunction.prune()."""
        return self._whole.prune(feeds, fetches, name, input_signature)

    def restore(self, save_path, options=None):
        """Sets the variables from a checkpoint of version 1, by the names of the graph.

        NotFoundError if a variable is not in it; then none is set.
        """
        self._loading.restore(save_path)

    @property
    def graph(self):
        """The graph."""
        return self._whole.graph


def _variable_defs(made):
    """{name of a node: VariableDef} of the collections."""
    found = {}
    for key in ("variables", "local_variables", "trainable_variables", "model_variables"):
        if key in made.collection_def:
            for item in made.collection_def[key].bytes_list.value:
                one = messages.VariableDef.FromString(item)
                found.setdefault(one.variable_name.partition(":")[0], one)
    return found


def _saved_value(reader, node_name, definition):
    """The value of a variable in the checkpoint, or of the part that it is; None: it has none."""
    part = None if definition is None else definition.save_slice_info_def
    is_part = part is not None and part.full_name
    name = part.full_name if is_part else node_name
    if reader is None or not reader.has_tensor(name):
        return None
    value = reader.get_tensor(name)
    if is_part:
        places = zip(part.var_offset, part.var_shape)
        value = value[tuple(slice(at, at + size) for at, size in places)]
    return value


def _takes_references(node):
    signature = _core.op_signature(node.op)
    return signature is not None and "Ref(" in signature.partition("->")[0]


def _without_writes(graph_def):
    """The graph without operations that write by references, and what needs these."""
    gone = {node.name for node in graph_def.node if _takes_references(node)}
    grows = bool(gone)
    while grows:
        grows = False
        for node in graph_def.node:
            if node.name not in gone:
                needed = {name.lstrip("^").partition(":")[0] for name in node.input}
                if needed & gone:
                    gone.add(node.name)
                    grows = True
    made = type(graph_def)()
    made.CopyFrom(graph_def)
    del made.node[:]
    made.node.extend(node for node in graph_def.node if node.name not in gone)
    return made


def _part_names(name, feed):
    """What the arguments are called that an input of a signature becomes."""
    if isinstance(feed, SparseTensor):
        return [f"{name}_indices", f"{name}_values", f"{name}_dense_shape"]
    if nest.is_composite(feed):
        parts = nest.flatten(feed, expand_composites=True)
        return [f"{name}_component_{i}" for i in range(len(parts))]
    return [name]


def _unfed(outputs, graph, fed, element):
    """A placeholder that outputs of a signature need and nobody feeds, or None."""
    given = {tensor.op.name for tensor in (*fed, *graph.internal_captures)}
    wanted = nest.flatten([element(info) for info in outputs.values()], expand_composites=True)
    todo, seen = [tensor.op for tensor in wanted], set()
    while todo:
        operation = todo.pop()
        if operation.name in seen or operation.name in given:
            continue
        seen.add(operation.name)
        if operation.type == "Placeholder":
            return operation
        todo += [*(t.op for t in operation.inputs), *operation.control_inputs]
    return None


class _Loading:
    """One loading of a model."""

    def __init__(self, path, made):
        self._path, self._made = path, made
        self._definitions = _variable_defs(made)
        prefix = os.path.join(path, saved_model.VARIABLES_DIRECTORY, saved_model.VARIABLES_FILENAME)
        has_values = os.path.exists(prefix + ".index")
        self._reader = CheckpointReader(prefix) if has_values else None
        self._graph_def = _without_writes(made.graph_def)
        self._variables = {}

    def _variable_of(self, node):
        """The variable in place of a node."""
        definition = self._definitions.get(node.name)
        value = _saved_value(self._reader, node.name, definition)
        trainable = definition is not None and definition.trainable
        if value is not None:
            return EagerVariable(value, trainable=trainable, name=node.name)
        shape = node.attr["shape"].shape
        dims = None if shape.unknown_rank else [d.size if d.size >= 0 else None for d in shape.dim]
        dtype = dtypes.as_dtype(node.attr["dtype"].type)
        return EagerVariable.without_value(dtype, dims, trainable, node.name)

    def _import(self):
        """Adds the graph, with what stands for variables, to the function that is being made."""
        taken = {name for node in self._graph_def.node for name in node.input}
        inner = get_default_graph()
        inputs = {}
        for node in self._graph_def.node:
            is_reference = node.op in _REFERENCES
            if not is_reference and node.op != "VarHandleOp":
                continue
            if node.name not in taken and f"{node.name}:0" not in taken:
                continue
            variable = self._variables[node.name]
            inputs[f"{node.name}:0"] = (
                variable.read_value() if is_reference else inner.capture(variable.handle)
            )
        import_graph_def(self._graph_def, inputs, name="")

    def _asset_paths(self):
        folder = os.path.join(self._path, saved_model.ASSETS_DIRECTORY)
        return [
            (one.tensor_info.name, os.path.join(folder, one.filename))
            for one in saved_model._assets(self._made)
        ]

    def _init_op_name(self):
        made, key = self._made, saved_model.INIT_OP_SIGNATURE_KEY
        if key in made.signature_def:
            return made.signature_def[key].outputs[key].name
        for key in (saved_model.MAIN_OP_KEY, saved_model.LEGACY_INIT_OP_KEY):
            if key in made.collection_def:
                for name in made.collection_def[key].node_list.value:
                    return name
        return None

    def _initialize(self, whole):
        """Runs what fills tables."""
        name = self._init_op_name()
        if name is None:
            return
        assets = self._asset_paths()
        run = whole.prune([tensor for tensor, _ in assets], [whole.graph.as_graph_element(name)])
        run(*(constant(path) for _, path in assets))

    def _signature(self, whole, key, signature):
        """The function of a signature: its arguments are the parts of the inputs."""
        element = functools.partial(saved_model.get_tensor_from_tensor_info, graph=whole.graph)
        feeds = {name: element(signature.inputs[name]) for name in sorted(signature.inputs)}
        names = [part for name, feed in feeds.items() for part in _part_names(name, feed)]
        parts = nest.flatten(list(feeds.values()), expand_composites=True)
        missing = _unfed(signature.outputs, whole.graph, parts, element)
        if missing is not None:
            raise ValueError(
                f"the outputs of signature {key!r} use the placeholder {missing.name!r}, which is "
                "no input of the signature"
            )
        specs = [TensorSpec(t.shape, t.dtype.base_dtype, n) for n, t in zip(names, parts)]
        fetches = {name: element(info) for name, info in signature.outputs.items()}
        function = whole.prune(parts, fetches, input_signature=specs)
        function.take_by_name(names, specs)
        return function

    def _signatures(self, whole):
        return Signatures(
            {
                key: self._signature(whole, key, signature)
                for key, signature in self._made.signature_def.items()
                if key not in _NOT_SIGNATURES
            }
        )

    def restore(self, save_path):
        """Sets the variables from a checkpoint, by the names that they have in the graph."""
        reader = CheckpointReader(os.fsdecode(save_path))
        values = {
            name: _saved_value(reader, name, self._definitions.get(name))
            for name in self._variables
        }
        absent = [name for name, value in values.items() if value is None]
        if absent:
            raise NotFoundError(None, None, f"Key {absent[0]} not found in checkpoint {save_path}")
        for name, value in values.items():
            self._variables[name].assign(value)

    def load(self):
        """The model."""
        for node in self._graph_def.node:
            if node.op in _REFERENCES or node.op == "VarHandleOp":
                self._variables[node.name] = self._variable_of(node)
        around = get_default_graph()._root
        whole = wrapped(self._import, [], "loaded_graph", around, self._variables.values())
        self._initialize(whole)
        root = GraphModel()
        root._whole, root._loading = whole, self
        root.variables = list(self._variables.values())
        root.signatures = self._signatures(whole)
        root.asset_paths = [path for _, path in self._asset_paths()]
        root.tensorflow_version = self._made.meta_info_def.tensorflow_version
        return root


def load(path, made):
    """The GraphModel of a MetaGraphDef message that was saved in a folder."""
    return _Loading(path, made).load()
