"""tf.saved_model.save: a program's objects, with their functions and variables, in a folder."""

import os
import shutil

from rheos.framework import dtypes, messages, nest
from rheos.framework.eager import get_eager_graph
from rheos.framework.graph import Graph, control_dependencies
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.structured import encode
from rheos.framework.tensor_spec import TensorSpec, type_spec_from_value
from rheos.framework.trackable import AutoTrackable, children_of
from rheos.ops.array.constant_op import constant
from rheos.ops.flow.control_flow_ops import group
from rheos.ops.state.assets import Asset
from rheos.ops.state.lookup_ops import _Table
from rheos.pipelines.base import DatasetBase
from rheos.tracing.concrete import ConcreteFunction
from rheos.tracing.function import Function
from rheos.tracing.restored import RestoredFunction, Signatures
from rheos.training import object_checkpoints, saved_model
from rheos.training.checkpoints import OBJECT_GRAPH_KEY

_CALLABLE = (Function, ConcreteFunction, RestoredFunction)


def _functions_of(value):
    """{name: function} of an object: its methods and attributes that are functions."""
    if not isinstance(value, AutoTrackable):
        return {}
    found = {}
    for kind in reversed(type(value).__mro__):
        for name, one in vars(kind).items():
            if isinstance(one, Function):
                found[name] = getattr(value, name)
    found.update((k, v) for k, v in vars(value).items() if isinstance(v, _CALLABLE))
    return found


def _functions_of_table(table):
    """The functions by which a loaded model makes the table, fills it and lets go of it."""
    made = {
        "_create_resource": table._made_anew,
        "_initialize": lambda: _after(table._fill_anew()),
        "_destroy_resource": lambda: constant(1),
    }
    return {
        name: Function(function, name, input_signature=(), autograph=False)
        for name, function in made.items()
    }


def _after(operation):
    with control_dependencies([operation]):
        return constant(1)


class _Pipeline(AutoTrackable):
    """What makes a dataset in a loaded model, by operations like those that it was made of."""

    def __init__(self, dataset):
        self.resource_handle = variant = dataset._variant_tensor
        made = {"_create_resource": lambda: _made_anew(variant)}
        for name in ("_initialize", "_destroy_resource"):
            made[name] = lambda: constant(1)
        for name, function in made.items():
            setattr(self, name, Function(function, name, input_signature=(), autograph=False))


def _made_anew(tensor):
    """A tensor of a graph that is what an eager one is: a dataset by its operations."""
    made_by = getattr(tensor, "_made_by", None)
    if made_by is None:
        is_value = isinstance(tensor, Tensor) and tensor.dtype.name not in ("resource", "variant")
        return constant(tensor.numpy()) if is_value and tensor._is_eager else tensor
    op_type, inputs, attrs = made_by
    inputs = (
        [_made_anew(part) for part in one] if isinstance(one, (list, tuple)) else _made_anew(one)
        for one in inputs
    )
    return op1(op_type, None, *inputs, **attrs)


def _is_resource(value):
    """Whether it is something of the engine behind a handle: a table, also of a loaded model."""
    return isinstance(value, _Table) or (
        isinstance(value, AutoTrackable) and "_create_resource" in vars(value)
    )


def _children(value):
    if isinstance(value, Signatures):
        return dict(value)
    if isinstance(value, DatasetBase):
        return {"_variant_tracker": _Pipeline(value)}
    return (
        {}
        if isinstance(value, _CALLABLE)
        else {
            **children_of(value, "savedmodel"),
            **_functions_of(value),
        }
    )


# ---- Signatures


def _concrete(function):
    """The trace of a function with a signature; None if there is none."""
    if isinstance(function, Function):
        if function.input_signature is None:
            return None
        return function.get_concrete_function()
    if isinstance(function, RestoredFunction):
        found = function.concrete_functions
        return found[0] if len(found) == 1 else None
    return function if isinstance(function, ConcreteFunction) else None


def _is_tensor(value):
    return isinstance(value, (Tensor, SparseTensor, RaggedBase))


def _named_results(results, name):
    """The results of a signature by name; ValueError for what is no tensor."""
    if _is_tensor(results):
        results = {"output_0": results}
    elif isinstance(results, (list, tuple)):
        results = {f"output_{i}": one for i, one in enumerate(results)}
    if not isinstance(results, dict) or not all(
        isinstance(key, str) and _is_tensor(one) for key, one in results.items()
    ):
        raise ValueError(
            f"Outputs for functions used as signatures must be a single Tensor, a sequence of "
            f"Tensors, or a dictionary from string to Tensor: those of '{name}' are {results!r}"
        )
    return results


def _specs(concrete):
    leaves = nest.flatten((concrete._args, concrete._kwargs), expand_composites=True)
    return [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]


def _keywords_of(concrete):
    """The names by which a trace takes its tensors."""
    names = concrete._arg_keywords or concrete.input_names
    return names or [spec.name for spec in _specs(concrete)]


def _wrapped(concrete, name):
    """A trace that takes tensors by keyword and gives a dict of them."""
    specs = _specs(concrete)
    keywords = _keywords_of(concrete)
    if None in keywords or len(set(keywords)) != len(keywords):
        raise ValueError(f"the inputs of signature '{name}' need names of their own: {keywords}")

    def signature_wrapper(**given):
        return _named_results(concrete.call_flat([given[key] for key in keywords]), name)

    wrapper = Function(signature_wrapper, f"signature_wrapper_{name}", autograph=False)
    given = {k: TensorSpec(s.shape, s.dtype, k) for k, s in zip(keywords, specs)}
    made = wrapper.get_concrete_function(**given)
    made._arg_keywords = sorted(keywords)
    made._positional = 1 if len(keywords) == 1 else 0
    return made


def _is_signature(concrete):
    try:
        _named_results(concrete.structured_outputs, "")
    except ValueError:
        return False
    return True


def _signatures(root, given):
    """The traces to call the model by."""
    if given is None:
        found = [_concrete(one) for one in _functions_of(root).values()]
        found = [one for one in found if one is not None and _is_signature(one)]
        given = found[0] if len(found) == 1 else {}
        own = getattr(root, "_default_save_signature", None)  # what a library says itself
        if isinstance(own, _CALLABLE):
            given = own
    if isinstance(given, _CALLABLE):
        given = {saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: given}
    made = Signatures()
    for name, function in given.items():
        concrete = _concrete(function)
        if concrete is None:
            raise ValueError(
                f"Expected a TensorFlow function for which to generate a signature, but got "
                f"{function!r} for '{name}'. Only `tf.functions` with an input signature or "
                "concrete functions can be used as a signature."
            )
        dict.__setitem__(made, name, _wrapped(concrete, name))
    return made


# ---- The messages


class _Saving:
    """One save of a model."""

    def __init__(self, root, signatures, options):
        self.options = options
        self.objects = []
        self.numbers = {}  # {id of an object, or of a variable's handle: number}
        self.made = messages.MetaGraphDef()
        self.saved = self.made.object_graph_def
        self.tracked = messages.TrackableObjectGraph()
        self.constants = {}  # {number: name of the node}
        self.variables = []  # [(number, key in the checkpoint, variable)]
        self.resources = []  # [(number, table, its functions)]
        self.assets = []  # [(number, asset)]
        self.signatures = signatures
        self.root_functions = []
        self._collect(root)

    def _collect(self, root):
        """Numbers the objects, and writes which holds which."""
        todo = [(root, ())]
        self._number(root)
        for value, path in todo:  # which grows
            node, tracked = self.saved.nodes.add(), self.tracked.nodes.add()
            held = _children(value)
            if value is root:
                held["signatures"] = self.signatures
            if isinstance(value, _Table):
                held.update(_functions_of_table(value))
            if _is_resource(value):
                names = ("_create_resource", "_initialize")
                known = {name: _concrete(held[name]) for name in names if name in held}
                self.resources.append((self.numbers[id(value)], value, known))
                self.numbers[id(value.resource_handle)] = self.numbers[id(value)]
            if isinstance(value, Asset):
                self.assets.append((self.numbers[id(value)], value))
                self.numbers[id(value.asset_path)] = self.numbers[id(value)]
            for name, child in held.items():
                number = self.numbers.get(id(child))
                if number is None:
                    number = self._number(child)
                    todo.append((child, (*path, name)))
                node.children.add(node_id=number, local_name=name)
                tracked.children.add(node_id=number, local_name=name)
            if isinstance(value, _VariableBase):
                key = object_checkpoints._key(path)
                tracked.attributes.add(
                    name="VARIABLE_VALUE", full_name=value.name.split(":")[0], checkpoint_key=key
                )
                self.variables.append((self.numbers[id(value)], key, value))
                for copy in value.values if value._is_distributed else (value,):
                    self.numbers[id(copy.handle)] = self.numbers[id(value)]

    def _number(self, value):
        self.objects.append(value)
        number = self.numbers[id(value)] = len(self.objects) - 1
        return number

    def describe(self):
        """Writes what each object is."""
        for value, node in zip(list(self.objects), list(self.saved.nodes)):
            if isinstance(value, _VariableBase):
                self._describe_variable(node.variable, value)
            elif isinstance(value, ConcreteFunction):
                self._describe_concrete(node.bare_concrete_function, value)
            elif isinstance(value, _CALLABLE):
                self._describe_function(node.function, value)
            elif _is_resource(value):
                node.resource.SetInParent()
            elif isinstance(value, Asset):
                node.asset.asset_file_def_index = self._asset_files()[self.numbers[id(value)]][0]
            else:
                self._describe_object(node.user_object, value)

    def _describe_object(self, made, value):
        made.identifier = "_generic_user_object"
        for kind, name in (
            (Signatures, "signature_map"),
            (dict, "trackable_dict_wrapper"),
            (list, "trackable_list_wrapper"),
            (tuple, "trackable_list_wrapper"),
        ):
            if isinstance(value, kind):
                made.identifier = name
                break
        made.version.producer = made.version.min_consumer = 1

    def _describe_variable(self, made, variable):
        made.dtype = variable.dtype.base_dtype.as_datatype_enum
        made.shape.CopyFrom(variable.shape.as_proto())
        made.trainable = bool(variable.trainable)
        made.name = variable.name.split(":")[0]
        made.synchronization = variable.synchronization.value
        made.aggregation = variable.aggregation.value

    def _describe_function(self, made, function):
        found = function._list_all_concrete_functions()
        if not found and _concrete(function) is not None:
            found = [_concrete(function)]
        for concrete in found:
            name = self._add_concrete(concrete)
            if name is not None:
                made.concrete_functions.append(name)
        made.function_spec.CopyFrom(_function_spec(function))

    def _describe_concrete(self, made, concrete):
        name = self._add_concrete(concrete)
        if name is None:
            raise ValueError(f"{concrete!r} has arguments that a saved model cannot have")
        made.concrete_function_name = name
        keywords = [name or "" for name in _keywords_of(concrete)]
        made.argument_keywords.extend(keywords)
        by_position = concrete._positional if concrete._arg_keywords else len(keywords)
        made.allowed_positional_arguments = by_position

    def _add_concrete(self, concrete):
        """Writes the signature and the captures of a trace, and gives its name."""
        graph = concrete.graph.finish()
        if graph.name in self.saved.concrete_functions:
            return graph.name
        try:
            signature = encode((tuple(concrete._args), dict(concrete._kwargs)))
            results = encode(nest.map_leaves(_result_spec, graph.structured_outputs))
        except TypeError:
            return None
        bound = [self._captured(value, concrete) for value in graph.external_captures]
        made = self.saved.concrete_functions[graph.name]
        made.canonicalized_input_signature.CopyFrom(signature)
        made.output_signature.CopyFrom(results)
        made.bound_inputs.extend(bound)
        return graph.name

    def _captured(self, value, concrete):
        number = self.numbers.get(id(value))
        if number is not None:
            return number
        if value.dtype.name in ("resource", "variant"):
            raise AssertionError(
                f"Tried to export a function which references an 'untracked' resource: {value!r} "
                f"is used by {concrete!r}. Variables and tables that functions use must be "
                "attributes of the object that is saved, or of objects that it holds."
            )
        number = self._number(value)
        name = self.constants[number] = f"captured_{number}"
        self.saved.nodes.add().constant.operation = name
        self.tracked.nodes.add()
        return number

    def _asset_files(self):
        """{number: (index, path, name in the folder)} of the assets; one file is there once."""
        by_path, names, found = {}, set(), {}
        for number, asset in self.assets:
            path = asset.asset_path.numpy().decode()
            if path not in by_path:
                stem, extension = os.path.splitext(os.path.basename(path))
                name = stem + extension
                while name in names:
                    name = f"{stem}_{len(names)}{extension}"
                names.add(name)
                by_path[path] = len(by_path), path, name
            found[number] = by_path[path]
        return found

    # ---- The graph

    def build(self):
        """Writes the graph that servers run: variables, calls of signatures, a saver."""
        with Graph().as_default() as graph:
            library = needed_functions(self.saved.concrete_functions)
            self._handles = {}
            from_functions = messages.GraphDef(library=library)
            graph._import_graph_def(from_functions.SerializeToString(), "", [], True, [], True)
            for number, _, variable in self.variables:
                self._handles[number] = _handle(variable, number)
            for number, name in self.constants.items():
                self._handles[number] = constant(self.objects[number].numpy(), name=name)
            self._add_assets()
            for number, table, held in self.resources:
                is_own = isinstance(table, _Table)
                made = table._made_anew() if is_own else self._called(held["_create_resource"])[0]
                self._handles[number] = made
            for name, concrete in self.signatures.items():
                self._add_signature(name, concrete)
            self._add_saver()
            filled = [
                self._called(held["_initialize"])[0].op
                for _, _, held in self.resources
                if "_initialize" in held
            ]
            first = group(*filled, name="init")
            key = saved_model.INIT_OP_SIGNATURE_KEY
            info = self.made.signature_def[key].outputs[key]
            info.name = first.name
            info.tensor_shape.unknown_rank = True
        self.made.graph_def.CopyFrom(graph.as_graph_def())
        info = self.made.meta_info_def
        tags = getattr(self.options, "extra_tags", None) or ()
        info.tags.extend([saved_model.SERVING, *([tags] if isinstance(tags, str) else tags)])
        aliases = getattr(self.options, "function_aliases", None) or {}
        for alias, function in aliases.items():
            for concrete in function._list_all_concrete_functions():
                info.function_aliases[concrete.graph.name] = alias
        info.tensorflow_version = "2.21.0"

    def _add_assets(self):
        files = {}
        for number, (index, path, name) in self._asset_files().items():
            if index not in files:
                files[index] = constant(path, dtypes.string, name=f"asset_path_{index}")
                saved = self.made.asset_file_def.add(filename=name)
                saved.tensor_info.name = files[index].name
            self._handles[number] = files[index]

    def _called(self, concrete):
        """The results of a call of a trace without arguments."""
        bound = self.saved.concrete_functions[concrete.graph.name].bound_inputs
        types = [tensor.dtype for tensor in concrete.graph.outputs]
        args = [self._handles[number] for number in bound]
        call = apply_op("StatefulPartitionedCall", None, args, Tout=types, f=concrete.graph.name)
        return call.outputs

    def _add_signature(self, name, concrete):
        inputs, args = {}, []
        for keyword, spec in zip(concrete._arg_keywords, _specs(concrete)):
            made = op1("Placeholder", f"{name}_{keyword}", dtype=spec.dtype, shape=spec.shape)
            inputs[keyword] = saved_model.build_tensor_info(made)
            args.append(made)
        bound = self.saved.concrete_functions[concrete.graph.name].bound_inputs
        args += [self._handles[number] for number in bound]
        results = concrete.graph.structured_outputs
        parts = nest.flatten(results, expand_composites=True)
        types = [part.dtype for part in parts]
        call = apply_op("StatefulPartitionedCall", None, args, Tout=types, f=concrete.graph.name)
        for part, tensor in zip(parts, call.outputs):
            tensor.set_shape(part.shape)
        given = nest.pack_sequence_as(results, call.outputs, expand_composites=True)
        outputs = {key: saved_model.build_tensor_info(given[key]) for key in sorted(given)}
        self.made.signature_def[name].CopyFrom(
            saved_model.build_signature_def(inputs, outputs, saved_model.PREDICT_METHOD_NAME)
        )

    def _add_saver(self):
        if not self.variables:
            return
        prefix = op1("Placeholder", "saver_filename", dtype=dtypes.string, shape=[])
        names = [key for _, key, _ in self.variables]
        types = [variable.dtype.base_dtype for _, _, variable in self.variables]
        handles = [self._handles[number] for number, _, _ in self.variables]
        values = [op1("ReadVariableOp", None, h, dtype=t) for h, t in zip(handles, types)]
        slices = [""] * len(names)
        save = apply_op("SaveV2", "save/SaveV2", prefix, names, slices, values)
        with save.graph.control_dependencies([save]):
            saved = op1("Identity", "save/control_dependency", prefix)
        restored = apply_op("RestoreV2", "save/RestoreV2", prefix, names, slices, dtypes=types)
        restored = getattr(restored, "outputs", restored)
        restored = [restored] if isinstance(restored, Tensor) else restored
        sets = [apply_op("AssignVariableOp", None, h, v) for h, v in zip(handles, restored)]
        self.made.saver_def.filename_tensor_name = prefix.name
        self.made.saver_def.save_tensor_name = saved.name
        self.made.saver_def.restore_op_name = group(*sets, name="save/restore_all").name
        self.made.saver_def.version = 2

    def write(self, folder):
        """Writes the model's files."""
        assets = os.path.join(folder, saved_model.ASSETS_DIRECTORY)
        os.makedirs(assets, exist_ok=True)
        for _, path, name in self._asset_files().values():
            if os.path.abspath(path) != os.path.abspath(os.path.join(assets, name)):
                shutil.copyfile(path, os.path.join(assets, name))
        variables = os.path.join(folder, saved_model.VARIABLES_DIRECTORY)
        os.makedirs(variables, exist_ok=True)
        object_checkpoints._mark_values(self.tracked)
        values = object_checkpoints.values_of([v for _, _, v in self.variables])
        object_checkpoints.save_tensors(
            os.path.join(variables, saved_model.VARIABLES_FILENAME),
            [key for _, key, _ in self.variables] + [OBJECT_GRAPH_KEY],
            [*values, self.tracked.SerializeToString()],
        )
        model = messages.SavedModel(
            saved_model_schema_version=saved_model.SAVED_MODEL_SCHEMA_VERSION
        )
        model.meta_graphs.append(self.made)
        path = os.path.join(folder, saved_model.SAVED_MODEL_FILENAME_PB)
        with open(path + ".tmp", "wb") as file:
            file.write(model.SerializeToString(deterministic=True))
        os.replace(path + ".tmp", path)


def _result_spec(leaf):
    if nest.is_composite(leaf):
        return type_spec_from_value(leaf)
    return TensorSpec(leaf.shape, leaf.dtype) if isinstance(leaf, Tensor) else leaf


def _handle(variable, number):
    name = variable.name.split(":")[0]
    return op1(
        "VarHandleOp", name, dtype=variable.dtype.base_dtype, shape=variable.shape,
        shared_name=f"{name}_{number}",
    )  # fmt: skip


def called_by(node):
    """The names of functions that a node calls."""
    yield node.op
    for attr in node.attr.values():
        if attr.HasField("func"):
            yield attr.func.name
        elif attr.HasField("list"):
            yield from (function.name for function in attr.list.func)


def needed_functions(names):
    """The functions of these names, and all that they call."""
    known = {f.signature.name: f for f in get_eager_graph().as_graph_def().library.function}
    made, todo, seen = messages.FunctionDefLibrary(), list(names), set()
    while todo:
        name = todo.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        made.function.append(known[name])
        todo += [called for node in known[name].node_def for called in called_by(node)]
    return made


def _plain(values):
    """Defaults as a saved model has them; of others it has None."""
    made = []
    for value in values:
        try:
            encode(value)
        except TypeError:
            value = None
        made.append(value)
    return tuple(made)


def _function_spec(function):
    """The parameters of a Python function, as a message."""
    if isinstance(function, RestoredFunction):
        return function.spec
    every = function._bound().every
    positional = [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    only = [p for p in every if p.kind is p.KEYWORD_ONLY]
    defaults = _plain(p.default for p in positional if p.default is not p.empty)
    optional = {p.name: _plain([p.default])[0] for p in only if p.default is not p.empty}
    parts = {
        "args": [p.name for p in positional],
        "varargs": next((p.name for p in every if p.kind is p.VAR_POSITIONAL), None),
        "varkw": next((p.name for p in every if p.kind is p.VAR_KEYWORD), None),
        "defaults": defaults or None,
        "kwonlyargs": [p.name for p in only],
        "kwonlydefaults": optional or None,
        "annotations": {},
    }
    made = messages.FunctionSpec()
    full = made.fullargspec.named_tuple_value
    full.name = "FullArgSpec"
    for key, value in parts.items():
        full.values.add(key=key).value.CopyFrom(encode(value))
    made.input_signature.CopyFrom(encode(function.input_signature))
    return made


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object with its variables and functions, which load() and servers read.

    signatures: a function with an input signature, a trace, or a dict of these by name; by default
    the one function of the object that can be one, as "serving_default". ValueError if the object
    holds nothing by name or a signature cannot be called; AssertionError if a function uses a
    variable that the object does not hold.
    """
    if not isinstance(obj, AutoTrackable) and not hasattr(obj, "_trackable_children"):
        raise ValueError(f"Expected an object of Trackable type, got {obj!r}.")
    with get_eager_graph().as_default():
        saving = _Saving(obj, _signatures(obj, signatures), options)
        saving.describe()
        saving.build()
        saving.write(os.fsdecode(export_dir))
