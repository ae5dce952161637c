"""Saved models: a folder with graphs, their variables, and signatures to call them by."""

import os
import types

from rheos.framework import dtypes, logging, messages, nest
from rheos.framework.constant_values import constant_value
from rheos.framework.defaults import get_default_graph
from rheos.framework.operation import Operation, Tensor
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.structured import decode_spec, encode_spec
from rheos.framework.tensor_spec import TypeSpec
from rheos.ops.array.constant_op import make_tensor_proto
from rheos.ops.flow.control_flow_ops import group
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.lookup_ops import tables_initializer
from rheos.ops.state.variable_lists import global_variables_initializer, local_variables_initializer
from rheos.training.saver import (
    Saver,
    import_meta_graph_with_elements,
)

# ---- Names that files use

PREDICT_METHOD_NAME = "tensorflow/serving/predict"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
PREDICT_INPUTS, PREDICT_OUTPUTS = "inputs", "outputs"
CLASSIFY_INPUTS = "inputs"
CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "classes", "scores"
REGRESS_INPUTS, REGRESS_OUTPUTS = "inputs", "outputs"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING, TRAINING, EVAL, GPU, TPU = "serve", "train", "eval", "gpu", "tpu"
ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
LEGACY_INIT_OP_KEY, MAIN_OP_KEY, TRAIN_OP_KEY = (
    "legacy_init_op",
    "saved_model_main_op",
    "saved_model_train_op",
)
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"
SAVED_MODEL_SCHEMA_VERSION = 1
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
VARIABLES_DIRECTORY, VARIABLES_FILENAME = "variables", "variables"


# ---- Tensors and signatures as messages


def build_tensor_info(tensor):
    """A tensor, SparseTensor or RaggedTensor as a TensorInfo message: its names, dtype, shape."""
    made = messages.TensorInfo(
        dtype=tensor.dtype.as_datatype_enum, tensor_shape=tensor.get_shape().as_proto()
    )
    if isinstance(tensor, SparseTensor):
        made.coo_sparse.values_tensor_name = tensor.values.name
        made.coo_sparse.indices_tensor_name = tensor.indices.name
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    elif nest.is_composite(tensor):
        encode_spec(made.composite_tensor.type_spec, tensor)
        parts = nest.flatten(tensor, expand_composites=True)
        made.composite_tensor.components.extend(build_tensor_info(part) for part in parts)
    else:
        made.name = tensor.name
    return made


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor, sparse or ragged too, of a graph (the default one) that a TensorInfo names."""
    graph = graph or get_default_graph()

    def tensor(name):
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        return SparseTensor(
            tensor(tensor_info.coo_sparse.indices_tensor_name),
            tensor(tensor_info.coo_sparse.values_tensor_name),
            tensor(tensor_info.coo_sparse.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        composite = tensor_info.composite_tensor
        parts = [get_tensor_from_tensor_info(p, graph, import_scope) for p in composite.components]
        spec = decode_spec(composite.type_spec)
        if not isinstance(spec, TypeSpec):
            raise ValueError(f"a TensorInfo is of the unknown class {spec}")
        return nest.pack_sequence_as(spec._of_specs(), parts, True)
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def _default_message(value):
    """The TensorProto of a default: of one, of a constant of the graph, or of a value."""
    if messages.is_message(value, "TensorProto"):
        return value
    if not isinstance(value, Tensor):
        return make_tensor_proto(value)
    if value.op.type != "Const":
        raise ValueError(f"Unable to convert object {value} of type {type(value)} to TensorProto.")
    return value.op.get_attr("value")


def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None):
    """A SignatureDef message of dicts from names to TensorInfos.

    defaults: {input: value} of inputs that a call may leave out: TensorProtos, constants of the
    graph, or values for NumPy.
    """
    for key in set(defaults or ()) - set(inputs or ()):
        raise ValueError(f"the signature has a default for '{key}', which is no input of it")
    made = messages.SignatureDef(method_name=method_name or "")
    for key, value in (inputs or {}).items():
        made.inputs[key].CopyFrom(value)
    for key, value in (outputs or {}).items():
        made.outputs[key].CopyFrom(value)
    for key, value in (defaults or {}).items():
        made.defaults[key].CopyFrom(_default_message(value))
    return made


def predict_signature_def(inputs, outputs):
    """The signature of a model that gives the tensors `outputs` for `inputs`, dicts by name."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(tensor) for key, tensor in inputs.items()},
        {key: build_tensor_info(tensor) for key, tensor in outputs.items()},
        PREDICT_METHOD_NAME,
    )


def regression_signature_def(examples, predictions):
    """The signature of a model that gives float predictions for serialized examples."""
    if examples is None or predictions is None:
        raise ValueError("Regression examples and predictions cannot be None.")
    return build_signature_def(
        {REGRESS_INPUTS: build_tensor_info(examples)},
        {REGRESS_OUTPUTS: build_tensor_info(predictions)},
        REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples, classes, scores):
    """The signature of a model that gives classes (strings), scores (floats) or both."""
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {CLASSIFY_OUTPUT_CLASSES: classes, CLASSIFY_OUTPUT_SCORES: scores}
    return build_signature_def(
        {CLASSIFY_INPUTS: build_tensor_info(examples)},
        {key: build_tensor_info(t) for key, t in outputs.items() if t is not None},
        CLASSIFY_METHOD_NAME,
    )


def _has(infos, wanted):
    return set(infos) == set(wanted) and all(
        infos[name].dtype == kind.as_datatype_enum for name, kind in wanted.items()
    )


def is_valid_signature(signature_def):
    """Whether it is a complete predict, classify or regress signature as servers take them."""
    inputs, outputs = signature_def.inputs, signature_def.outputs
    method = signature_def.method_name
    if method == PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    text = {"inputs": dtypes.string}
    if method == REGRESS_METHOD_NAME:
        return _has(inputs, text) and _has(outputs, {REGRESS_OUTPUTS: dtypes.float32})
    if method == CLASSIFY_METHOD_NAME:
        kinds = {CLASSIFY_OUTPUT_CLASSES: dtypes.string, CLASSIFY_OUTPUT_SCORES: dtypes.float32}
        given = {name: kinds[name] for name in outputs if name in kinds}
        return bool(given) and _has(inputs, text) and _has(outputs, given)
    return False


def main_op_with_restore(restore_op_name):
    """An operation for `main_op` that runs after the operation of that name and fills tables."""
    with get_default_graph().control_dependencies([restore_op_name]):
        return main_op()


def main_op():
    """An operation that sets all variables to their first values and fills tables."""
    return group(
        global_variables_initializer(),
        local_variables_initializer(),
        tables_initializer(),
    )


# ---- Writing


class Builder:
    """Writes a saved model to a folder that does not exist yet or is empty.

    add_meta_graph_and_variables() once, add_meta_graph() for further graphs on the same variables,
    then save().
    """

    def __init__(self, export_dir):
        self._export_dir = os.fsdecode(export_dir)
        if os.path.isdir(self._export_dir) and os.listdir(self._export_dir):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different "
                f"export directory, or delete all the contents of the specified directory: "
                f"{self._export_dir}"
            )
        os.makedirs(self._export_dir, exist_ok=True)
        self._model = messages.SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False

    def _copy_assets(self, graph, collection_name):
        """Copies the files that the collection's tensors name; [AssetFileDef]."""
        assets = []
        for tensor in graph.get_collection(collection_name) if collection_name else ():
            path = constant_value(tensor)
            if path is None:
                raise ValueError(f"Asset filepath tensor {tensor} is no constant.")
            path = path.item() if hasattr(path, "item") else path
            path = path.decode() if isinstance(path, bytes) else path
            name = os.path.basename(path)
            asset = messages.AssetFileDef(filename=name)
            asset.tensor_info.CopyFrom(build_tensor_info(tensor))
            assets.append(asset)
            folder = os.path.join(self._export_dir, ASSETS_DIRECTORY)
            os.makedirs(folder, exist_ok=True)
            with open(path, "rb") as source, open(os.path.join(folder, name), "wb") as target:
                target.write(source.read())
        return assets

    def _add(self, sess, tags, signatures, assets, init_op, train_op, options, saver):
        graph = sess.graph
        if init_op is not None and not isinstance(init_op, Operation):
            raise TypeError(f"init_op needs to be an Operation: {init_op!r}")
        for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY) if init_op is not None else ():
            if graph.get_collection(key) not in ([], [init_op]):
                raise ValueError(
                    f"Graph already contains one or more main ops under the collection {key}."
                )
        with graph.as_default():
            for key, operation in ((MAIN_OP_KEY, init_op), (TRAIN_OP_KEY, train_op)):
                if operation is not None:
                    graph.clear_collection(key)
                    graph.add_to_collection(key, operation)
            made = saver.export_meta_graph(
                clear_devices=options["clear_devices"],
                strip_default_attrs=options["strip_default_attrs"],
            )
        made.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            made.signature_def[key].CopyFrom(signature)
        made.asset_file_def.extend(assets)
        self._model.meta_graphs.append(made)

    def _saver(self, saver):
        return saver or Saver(sharded=True, allow_empty=True)

    def add_meta_graph_and_variables(
        self,
        sess,
        tags,
        signature_def_map=None,
        assets_collection=None,
        legacy_init_op=None,
        clear_devices=False,
        main_op=None,
        strip_default_attrs=False,
        saver=None,
        init_op=None,
        train_op=None,
        assets_list=None,
    ):
        """Adds the session's graph with the values of its variables.

        tags: strings that the graph is loaded by. signature_def_map: SignatureDefs by name.
        assets_collection: string constants that name files to be copied, as a list or the name of
        a collection (or assets_list). init_op: runs when the model is loaded. saver: by default one
        of all variables.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved."
            )
        with sess.graph.as_default():
            saver = self._saver(saver)
            folder = os.path.join(self._export_dir, VARIABLES_DIRECTORY)
            os.makedirs(folder, exist_ok=True)
            saver.save(
                sess,
                os.path.join(folder, VARIABLES_FILENAME),
                write_meta_graph=False,
                write_state=False,
            )
        self._has_variables = True
        self._add_graph(
            sess.graph,
            tags,
            signature_def_map,
            assets_list if assets_list is not None else assets_collection,
            init_op or main_op or legacy_init_op,
            train_op,
            {"clear_devices": clear_devices, "strip_default_attrs": strip_default_attrs},
            saver,
        )

    def _add_graph(self, graph, tags, signatures, assets, init_op, train_op, options, saver):
        if assets is not None and not isinstance(assets, str):
            graph.clear_collection(ASSETS_KEY)
            for tensor in assets:
                graph.add_to_collection(ASSETS_KEY, tensor)
            assets = ASSETS_KEY
        copied = self._copy_assets(graph, assets)
        holder = types.SimpleNamespace(graph=graph)
        self._add(holder, tags, signatures, copied, init_op, train_op, options, saver)

    def add_meta_graph(
        self,
        tags,
        signature_def_map=None,
        assets_collection=None,
        legacy_init_op=None,
        clear_devices=False,
        main_op=None,
        strip_default_attrs=False,
        saver=None,
        init_op=None,
        train_op=None,
        assets_list=None,
    ):
        """Adds the default graph, on the variables that were saved with the first one."""
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        self._add_graph(
            get_default_graph(),
            tags,
            signature_def_map,
            assets_list if assets_list is not None else assets_collection,
            init_op or main_op or legacy_init_op,
            train_op,
            {"clear_devices": clear_devices, "strip_default_attrs": strip_default_attrs},
            self._saver(saver),
        )

    def save(self, as_text=False):
        """Writes the file that holds the graphs, as bytes or text; returns its path (bytes)."""
        if as_text:
            name = SAVED_MODEL_FILENAME_PBTXT
            data = messages.to_text(self._model).encode()
        else:
            name, data = SAVED_MODEL_FILENAME_PB, self._model.SerializeToString(deterministic=True)
        path = os.path.join(self._export_dir, name)
        with open(path + ".tmp", "wb") as file:
            file.write(data)
        os.replace(path + ".tmp", path)
        logging.info("SavedModel written to: %s", path)
        return path.encode()


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Writes a model for serving: the session's graph and variables, called by dicts of tensors."""
    builder = Builder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        [SERVING],
        {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)},
        assets_collection=GraphKeys.ASSET_FILEPATHS,
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


# ---- Reading


def contains_saved_model(export_dir):
    """Whether the folder holds a saved model."""
    names = (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT)
    return any(os.path.exists(os.path.join(os.fsdecode(export_dir), name)) for name in names)


def _read(export_dir):
    export_dir = os.fsdecode(export_dir)
    binary = os.path.join(export_dir, SAVED_MODEL_FILENAME_PB)
    text = os.path.join(export_dir, SAVED_MODEL_FILENAME_PBTXT)
    if os.path.exists(binary):
        with open(binary, "rb") as file:
            try:
                return messages.SavedModel.FromString(file.read())
            except messages.parse_errors() as error:
                raise OSError(f"Cannot parse file {binary}: {error}.") from None
    if os.path.exists(text):
        with open(text, encoding="utf-8") as file:
            try:
                return messages.from_text(file.read(), messages.SavedModel())
            except messages.parse_errors() as error:
                raise OSError(f"Cannot parse file {text}: {error}.") from None
    raise OSError(
        f"SavedModel file does not exist at: {export_dir}/{{{SAVED_MODEL_FILENAME_PBTXT}|"
        f"{SAVED_MODEL_FILENAME_PB}}}"
    )


def _graph_of_tags(model, tags):
    for made in model.meta_graphs:
        if set(made.meta_info_def.tags) == set(tags):
            return made
    available = [sorted(made.meta_info_def.tags) for made in model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {', '.join(map(repr, tags))} could not be found in "
        f"SavedModel, which has {available}."
    )


def _init_op(graph, made, import_scope):
    """The operation to run once the variables are there, or None."""
    if INIT_OP_SIGNATURE_KEY in made.signature_def:
        name = made.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY].name
        if import_scope:
            name = f"{import_scope}/{name}"
        return graph.as_graph_element(name)
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        operations = graph.get_collection(key) if key in made.collection_def else []
        if len(operations) > 1:
            raise RuntimeError(f"Expected exactly one SavedModel init op, found {operations}.")
        if operations:
            return operations[0]
    return None


def _assets(made):
    """The AssetFileDefs, which TensorFlow 1 keeps in a collection."""
    if made.asset_file_def or ASSETS_KEY not in made.collection_def:
        return made.asset_file_def
    return [
        messages.AssetFileDef.FromString(item.value)
        for item in made.collection_def[ASSETS_KEY].any_list.value
    ]


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Loads the graph with exactly these tags into the session; returns its MetaGraphDef.

    Its nodes join the session's graph, its variables are restored, its init operation is run.

    import_scope: put before all names. saver_kwargs: those of import_meta_graph(). OSError if the
    folder holds no model, RuntimeError if none has the tags.
    """
    export_dir = os.fsdecode(export_dir)
    made = _graph_of_tags(_read(export_dir), tags)
    with sess.graph.as_default() as graph:
        saver, _ = import_meta_graph_with_elements(made, import_scope=import_scope, **saver_kwargs)
        variables = os.path.join(export_dir, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
        if saver is None:
            logging.info("The SavedModel has no variables; no checkpoints were restored.")
        elif os.path.isdir(os.path.dirname(variables)):
            saver.restore(sess, variables)
        else:
            raise ValueError(f"The passed save_path is not a valid checkpoint: {variables}")
        feeds = {}
        for asset in _assets(made):
            tensor = asset.tensor_info.name
            name = f"{import_scope}/{tensor}" if import_scope else tensor
            feeds[name] = os.path.join(export_dir, ASSETS_DIRECTORY, asset.filename)
        operation = _init_op(graph, made, import_scope)
        if operation is not None:
            sess.run(operation, feeds)
    return made
