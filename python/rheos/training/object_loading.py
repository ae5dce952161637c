"""tf.saved_model.load: the objects of a saved model, with their functions and variables."""

import itertools
import os
import weakref

from rheos.framework import dtypes, errors, messages, replicas
from rheos.framework.eager import get_eager_graph
from rheos.framework.imported_functions import renamed
from rheos.framework.importer import import_graph_def
from rheos.framework.op_call import apply_op
from rheos.framework.tensor_proto import make_ndarray
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.trackable import AutoTrackable
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.state.eager_variables import EagerVariable
from rheos.ops.state.variables import Variable, VariableAggregation, VariableSynchronization
from rheos.tracing.restored import RestoredConcrete, RestoredFunction, Signatures
from rheos.training import graph_loading, saved_model
from rheos.training.checkpoints import OBJECT_GRAPH_KEY, CheckpointReader

_numbers = itertools.count(1)


class _Object(AutoTrackable):
    """An object of a saved model: what it held are its attributes."""


class _Callable(_Object):
    """An object of a saved model with a function __call__."""

    def __call__(self, *args, **kwargs):
        return vars(self)["__call__"](*args, **kwargs)


class _Resource(_Object):
    """Something of the engine's behind a handle, such as a table."""

    resource_handle = None


class _Library:
    """The functions of one load, which are there as long as one that may be called."""

    def __init__(self, root, names):
        # What calls a function of them keeps this.
        weakref.finalize(self, _drop, weakref.ref(root), names).atexit = False


def _drop(root, names):
    root = root()
    if root is not None:
        root._remove_functions(names)


# ---- Objects


class _Loading:
    """One load of a saved model."""

    def __init__(self, folder, made):
        self.folder = folder
        self.made = made
        self.saved = made.object_graph_def
        self.root = get_eager_graph()
        self.nodes = {node.name: node for node in made.graph_def.node}
        self.objects = []
        self.entries = []  # [(table, its keys, their values)]

    def load(self):
        """The root of the objects."""
        library, names = renamed(self.made.graph_def.library, f"_load{next(_numbers)}")
        with self.root.as_default():
            graph_def = messages.GraphDef(library=library, versions=self.made.graph_def.versions)
            import_graph_def(graph_def, name="")
            kept = _Library(self.root, list(names.values()))
            defs = {f.signature.name: f for f in library.function}
            self.concrete = {
                name: RestoredConcrete(self.root, defs[names[name]], names[name], saved, kept)
                for name, saved in self.saved.concrete_functions.items()
            }
            self.objects = [self._new(node) for node in self.saved.nodes]
            for value, node in zip(self.objects, self.saved.nodes):
                self._add_children(value, node)
            self._restore()
            self._make_resources()
            self._bind(concrete for concrete in self.concrete.values())
            self._initialize()
            for table, keys, values in self.entries:
                apply_op("LookupTableImportV2", None, table.resource_handle, keys, values)
        return self.objects[0]

    def functions_by_alias(self):
        """{alias: function} of the traces that were given one by SaveOptions(function_aliases=)."""
        specs, by_alias = {}, {}
        for node in self.saved.nodes:
            names = node.function.concrete_functions
            specs.update(dict.fromkeys(names, node.function.function_spec))
        for name, alias in self.made.meta_info_def.function_aliases.items():
            if name in specs:
                by_alias.setdefault(alias, []).append(name)
        return {
            alias: RestoredFunction(alias, specs[names[0]], [self.concrete[n] for n in names])
            for alias, names in by_alias.items()
        }

    def _new(self, node):
        kind = node.WhichOneof("kind")
        make = getattr(self, f"_new_{kind}", None)
        return _Object() if make is None else make(getattr(node, kind), node)

    def _new_user_object(self, saved, node):
        if saved.identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            return []
        if saved.identifier == "signature_map":
            return Signatures()
        if saved.identifier == "trackable_dict_wrapper":
            return {}
        names = {child.local_name for child in node.children}
        return _Callable() if "__call__" in names else _Object()

    def _new_variable(self, saved, node):
        dtype, shape = dtypes.as_dtype(saved.dtype), TensorShape(saved.shape)
        synchronization = _member(VariableSynchronization, saved.synchronization)
        aggregation = _member(VariableAggregation, saved.aggregation)
        if replicas.makes_variables():
            with replicas.get_strategy().extended.in_one_piece():
                return Variable(
                    array_ops.zeros([dim or 0 for dim in shape.as_list()], dtype),
                    trainable=saved.trainable,
                    name=saved.name or None,
                    shape=shape,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
        made = EagerVariable.without_value(dtype, shape, saved.trainable, saved.name or None)
        made._synchronization, made._aggregation = synchronization, aggregation
        return made

    def _new_constant(self, saved, node):
        return constant(make_ndarray(self.nodes[saved.operation].attr["value"].tensor))

    def _new_asset(self, saved, node):
        name = self.made.asset_file_def[saved.asset_file_def_index].filename
        return constant(os.path.join(self.folder, saved_model.ASSETS_DIRECTORY, name))

    def _new_resource(self, saved, node):
        return _Resource()

    def _new_function(self, saved, node):
        found = [self.concrete[name] for name in saved.concrete_functions]
        name = found[0]._python_name if found else "function"
        return RestoredFunction(name, saved.function_spec, found)

    def _new_bare_concrete_function(self, saved, node):
        found = self.concrete[saved.concrete_function_name]
        return self._by_keywords(found, saved) if saved.argument_keywords else found

    @staticmethod
    def _by_keywords(found, saved):
        return found.by_keywords(saved.argument_keywords, saved.allowed_positional_arguments)

    def _add_children(self, value, node):
        kind = node.WhichOneof("kind")
        if isinstance(value, list):
            found = {child.local_name: child.node_id for child in node.children}
            count = max((int(name) + 1 for name in found if name.isdecimal()), default=0)
            places = (found.get(str(i)) for i in range(count))  # what cannot be kept is None
            value.extend(None if place is None else self.objects[place] for place in places)
        elif isinstance(value, dict):
            for child in node.children:
                dict.__setitem__(value, child.local_name, self.objects[child.node_id])
        elif kind in ("user_object", "resource"):
            for child in node.children:
                vars(value)[child.local_name] = self.objects[child.node_id]

    # ---- Values

    def _restore(self):
        """Gives the variables their values, by the names that lead to them."""
        prefix = os.path.join(
            self.folder, saved_model.VARIABLES_DIRECTORY, saved_model.VARIABLES_FILENAME
        )
        if not os.path.exists(prefix + ".index"):
            return
        reader = CheckpointReader(prefix)
        text = reader.get_tensor(OBJECT_GRAPH_KEY)
        text = text.item() if hasattr(text, "item") else text
        graph = messages.TrackableObjectGraph.FromString(bytes(text))
        todo, seen = [(0, 0)], {0}
        for number, other in todo:  # which grows
            value = self.objects[number]
            if isinstance(value, EagerVariable):
                for attribute in graph.nodes[other].attributes:
                    if attribute.name == "VARIABLE_VALUE":
                        value.assign(reader.get_tensor(attribute.checkpoint_key))
            if isinstance(value, _Resource):
                self._read_entries(value, graph.nodes[other], reader)
            held = {child.local_name: child.node_id for child in graph.nodes[other].children}
            for child in self.saved.nodes[number].children:
                if child.local_name in held and child.node_id not in seen:
                    seen.add(child.node_id)
                    todo.append((child.node_id, held[child.local_name]))

    def _read_entries(self, table, node, reader):
        """The keys and values of a table that can change, if the checkpoint has them."""
        for key in {a.checkpoint_key.removesuffix("-keys") for a in node.attributes}:
            if reader.has_tensor(key + "-keys"):
                keys, values = reader.get_tensor(key + "-keys"), reader.get_tensor(key + "-values")
                self.entries.append((table, constant(keys), constant(values)))

    def _make_resources(self):
        for value in self.objects:
            if isinstance(value, _Resource):
                self._make_resource(value, ())

    def _make_resource(self, value, wanted_by):
        """Makes one after those that its maker uses."""
        if value.resource_handle is not None:
            return
        maker = vars(value).get("_create_resource")
        if maker is None or any(value is one for one in wanted_by):
            reason = "nothing makes" if maker is None else "needs itself to be made"
            raise errors.UnimplementedError(
                None, None, f"the saved model has a resource that {reason}"
            )
        for concrete in maker.concrete_functions:
            for number in concrete.bound_inputs:
                if isinstance(self.objects[number], _Resource):
                    self._make_resource(self.objects[number], (*wanted_by, value))
        self._bind(maker.concrete_functions)
        value.resource_handle = maker()

    def _initialize(self):
        for value in self.objects:
            if isinstance(value, _Resource) and "_initialize" in vars(value):
                vars(value)["_initialize"]()
        first = vars(self.objects[0]).get("_initializer") if self.objects else None
        if isinstance(first, RestoredFunction):
            first()

    def _bind(self, concrete_functions):
        for concrete in concrete_functions:
            values = [self.objects[number] for number in concrete.bound_inputs]
            variables = [v for v in values if isinstance(v, EagerVariable)]
            concrete.bind([_captured(v) for v in values], variables)


def _captured(value):
    """What a function captures: a variable of several copies as it is, since calls choose one."""
    if isinstance(value, EagerVariable):
        return value if value._is_distributed else value.handle
    if isinstance(value, _Resource):
        return value.resource_handle
    return value


def _member(kind, number):
    """The member of an enumeration with a number; of a file's number without one, the first."""
    return next((one for one in kind if one.value == number), kind(0))


def load(export_dir, tags=None, options=None):
    """The objects of a saved model: attributes as they were saved, variables, and functions.

    A model that TensorFlow 1 saved gives an object with `signatures`, `variables` and prune().

    tags: of the graph to load, if there are more. options: a LoadOptions; one that loads aliases
    has the root's `function_aliases` be {alias: function}. OSError if the folder has no model,
    ValueError if none has the tags.
    """
    model = saved_model._read(export_dir)
    if tags is not None:
        tags = [tags] if isinstance(tags, str) else list(tags)
    if tags is None and len(model.meta_graphs) != 1:
        known = [list(graph.meta_info_def.tags) for graph in model.meta_graphs]
        raise ValueError(
            f"load() needs `tags=` where a SavedModel has not one graph: there are {len(known)} "
            f"MetaGraphs, with the tags {known}"
        )
    made = model.meta_graphs[0] if tags is None else saved_model._graph_of_tags(model, tags)
    if not made.HasField("object_graph_def") or not made.object_graph_def.nodes:
        return graph_loading.load(os.fsdecode(export_dir), made)
    loading = _Loading(os.fsdecode(export_dir), made)
    root = loading.load()
    if getattr(options, "experimental_load_function_aliases", False):
        root.function_aliases = loading.functions_by_alias()
    return root
