"""Graphs as Python sees them, and contexts of the default one."""

import contextlib
import functools
import re

from rheos import _core
from rheos.framework import dtypes, errors, messages, signatures, tensor_shape
from rheos.framework.absent import did_you_mean
from rheos.framework.attr_values import attr_tuple
from rheos.framework.control_contexts import context_numbered
from rheos.framework.conversion import _convert_for_operator, _explain_ragged, convert_to_tensor
from rheos.framework.defaults import _Default, get_default_graph, register_graph_type
from rheos.framework.devices import _Colocated, _Device, ask_devices
from rheos.framework.gradient_registry import call_gradient
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_defs import op_def_message
from rheos.framework.operation import Operation, Tensor, _VariableBase

_NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.")
_NAME_REST = _NAME_START | frozenset("_\\-/>")


@functools.lru_cache(4096)
def _is_scope_name(name, at_top):
    first = name[0]
    if first not in (_NAME_START if at_top else _NAME_REST):
        return False
    return all(c in _NAME_REST for c in name)


class _Pushed:
    """A context that undoes one push on the graph's scope."""

    __slots__ = ("_graph", "_method", "_argument")

    def __init__(self, graph, method, argument):
        self._graph = graph
        self._method = method
        self._argument = argument

    def __enter__(self):
        return self._method(self._argument)

    def __exit__(self, *exc_info):
        self._graph._pop()


class _ControlDependencies(_Pushed):
    __slots__ = ()

    def __enter__(self):
        self._method(self._argument)
        return self


class _GradientMap:
    """A context of Graph.gradient_override_map."""

    __slots__ = ("_graph", "_types")

    def __init__(self, graph, types):
        self._graph = graph
        self._types = dict(types)

    def __enter__(self):
        for op_type, other in self._types.items():
            attr = ("_gradient_op_type", signatures.STRING, other.encode())
            self._graph._push_attr(attr, op_type)

    def __exit__(self, *exc_info):
        for _ in self._types:
            self._graph._pop()


def count_operations(number):
    """Counts operations that TensorFlow 1.15 makes here besides those that are made.

    An operation without a seed takes the number of those before it: so a program that sets the
    graph's seed draws the numbers that it draws there.
    """
    graph = get_default_graph()
    if not graph._is_eager:
        graph._not_made += number


# Outputs whose shapes are not written: TensorFlow 1.15 has others for them than TensorFlow 2, and
# refuses a file that contradicts it. They are the empty ones of a batch normalization's gradient.
_UNWRITTEN_SHAPES = {f"FusedBatchNormGrad{version}": (3, 4) for version in ("", "V2", "V3")}


def _written_shapes(outputs):
    """TensorShapeProtos of an operation's outputs."""
    unwritten = _UNWRITTEN_SHAPES.get(outputs[0].op.type, ())
    unknown = tensor_shape.TensorShape(None).as_proto()
    return [unknown if i in unwritten else t.shape.as_proto() for i, t in enumerate(outputs)]


class Graph(_core.GraphBase):
    """Operations, and the tensors that flow between them.

    >>> with tf.Graph().as_default() as graph:
    ...     x = tf.constant(1, name="x")
    >>> print(x.graph is graph)
    True
    """

    _is_eager = False  # it is no graph, but stands for eager execution

    def __init__(self):
        self._collections = {}
        self._seed = None
        self._variables = {}
        self._foreign_op_defs = {}  # of ops that came with files and Rheos lacks
        self._devices = []  # of the contexts around, outermost first: strings and functions
        self._variable_scope = None
        self._last_loss_reduction = None
        self._layer_counts = {}  # how many layers of a name there are
        self._unfeedable, self._unfetchable = set(), set()
        self._control_contexts = {}  # by number
        self._container = ""
        self._partitioned_variables = {}  # by full name
        self._num_function_names = 0
        self._defined_functions = {}  # from a Defun to its body here
        self._python_gradients = {}  # of functions, by name
        self._variable_creators = []  # a stack of functions, the innermost last
        self._not_made = 0  # operations that TensorFlow 1 has besides: see count_operations()
        self._program_functions = []  # what operations call by tokens

    def unique_function_name(self, name):
        """A name for a function that no other one made by this method has."""
        root = self._root
        root._num_function_names += 1
        return f"{name}_{root._num_function_names}"

    def keep_for_calls(self, function):
        """Keeps a function of the program that operations come to: with the graph around all
        functions, or where that stands for eager execution with the innermost function."""
        keeper = self if self._root._is_eager else self._root
        keeper._program_functions.append(function)

    # Operations

    @property
    def version(self):
        """The number of operations so far."""
        return self._num_operations()

    @property
    def _last_id(self):
        return self._num_operations() + self._not_made

    building_function = False  # whether it is the body of a function: a FuncGraph

    @property
    def _root(self):
        """The graph around all functions, which has the variables."""
        return self

    def create_op(
        self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
        compute_shapes=True, compute_device=True,
    ):  # fmt: skip
        """Adds an operation of any type, and returns it.

        inputs: tensors. attrs: a dict from names to AttrValue messages; what the inputs tell need
        not be given. name: made unique, the type by default; one that ends in "/" is used as it is.
        dtypes, input_types, op_def, compute_shapes, compute_device: accepted, not needed.

        TypeError for inputs that are no tensors; ValueError for attributes that the op lacks, and
        for dtypes and shapes that do not fit; NotFoundError for an unknown type.
        """
        for index, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{index} is not a tensor: {tensor}")
        op = signatures.op_def(op_type)
        if op is None:
            near = did_you_mean(op_type, _core.op_types())
            raise errors.NotFoundError(None, None, f"Op type not registered '{op_type}'{near}")
        tuples = []
        for label, message in (attrs or {}).items():
            known = op._attrs.get(label)
            if known is None and not label.startswith("_"):
                raise ValueError(f"'{op_type}' Op has no attribute '{label}'")
            tuples.append(attr_tuple(label, message, None if known is None else known.kind))
        scope = self._push_name_scope(name or op_type)
        try:
            return self._node(op_type, scope, list(inputs), tuples)
        finally:
            self._pop()

    def get_operations(self):
        """All operations, in the order in which they were made."""
        operation = self._operation
        return [operation(i) for i in range(self._num_operations())]

    # What programs of version 1 read of a graph's insides.

    _version = version
    _next_id_counter = _last_id
    _unfeedable_tensors = property(lambda self: self._unfeedable)
    _unfetchable_ops = property(lambda self: self._unfetchable)
    _stack_state_is_thread_local = True

    @property
    def _nodes_by_name(self):
        return {op.name: op for op in self.get_operations()}

    @property
    def _nodes_by_id(self):
        return dict(enumerate(self.get_operations()))

    @property
    def _finalized(self):
        return self.finalized

    @_finalized.setter
    def _finalized(self, value):
        self._set_finalized(bool(value))

    @property
    def _name_stack(self):
        return self._scope_name().rstrip("/")

    @property
    def _building_function(self):
        return self.building_function

    def switch_to_thread_local(self):
        """Changes nothing: each thread has devices, colocation and dependencies of its own."""

    def as_default(self):
        """A context in which this is the default graph."""
        return _Default("graphs", self)

    def finalize(self):
        """Makes the graph refuse further operations."""
        self._set_finalized(True)

    def _unsafe_unfinalize(self):
        self._set_finalized(False)

    def _check_not_finalized(self):
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def seed(self):
        """The seed of the graph, from which operations derive theirs."""
        return self._seed

    @seed.setter
    def seed(self, value):
        self._seed = value
        self._set_seed(None if value is None else int(value) & 0x7FFFFFFFFFFFFFFF)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The Tensor or Operation of this graph that `obj` is or names."""
        if allow_tensor and allow_operation:
            types_text = "Tensor or Operation"
        elif allow_tensor:
            types_text = "Tensor"
        elif allow_operation:
            types_text = "Operation"
        else:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        converter = getattr(obj, "_as_graph_element", None)
        if converter is not None:
            obj = converter()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {types_text}.")

    def _element_by_name(self, name, allow_tensor, allow_operation):
        if ":" in name and allow_tensor:
            op_name, _, number = name.partition(":")
            if not number.isdigit():
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                    'Tensor names must be of the form "<op_name>:<output_index>".'
                )
            op = self._find_operation(op_name)
            if op is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                    f"{op_name!r}, does not exist in the graph."
                )
            outputs = op.outputs
            if int(number) >= len(outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                    f"{op_name!r}, exists but only has {len(outputs)} outputs."
                )
            return outputs[int(number)]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        if not allow_operation:
            op = self._find_operation(name)
            if op is not None:
                raise ValueError(
                    f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must "
                    'be of the form "<op_name>:<output_index>".'
                )
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor "
                'names must be of the form "<op_name>:<output_index>".'
            )
        op = self._find_operation(name)
        if op is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return op

    def get_operation_by_name(self, name):
        """The operation of a name, "scope/x"; KeyError where there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        """An output by its name, "scope/x:0"; KeyError where there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def _capture(self, tensor, name=None):
        """What stands in this graph for an eager tensor, or for a tensor of another graph."""
        raise RuntimeError(
            "Attempting to capture an EagerTensor without building a function: it has no place in "
            f"a graph of its own: {tensor!r}"
        )

    # Scopes

    def unique_name(self, name, mark_as_used=True):
        """The name an operation of that name would get now."""
        return self._unique_name(name, mark_as_used)

    def name_scope(self, name):
        """A context that puts `name` before the names of operations made inside."""
        name = name.decode() if isinstance(name, bytes) else name
        self.check_scope_name(name)
        return _Pushed(self, self._push_name_scope, name or None)

    def check_scope_name(self, name):
        """ValueError unless the name may be one of a scope here; None and "" may."""
        if name and not (isinstance(name, str) and _is_scope_name(name, not self._scope_name())):
            raise ValueError(f"'{name}' is not a valid scope name")

    def get_name_scope(self):
        """The scope that is open, "a/b"; "" outside of all."""
        return self._scope_name()[:-1]

    def device(self, device_name_or_function):
        """A context in which operations ask for a device."""
        return _Device(self, device_name_or_function)

    @contextlib.contextmanager
    def container(self, container_name):
        """A context whose variables, queues and the like lie in a container of that name."""
        outer, self._container = self._container, container_name
        try:
            with self._attr_scope([("container", signatures.STRING, container_name)]):
                yield container_name
        finally:
            self._container = outer

    def _set_devices(self, devices):
        self._devices = devices
        # Strings alone are merged by the graph's scope.
        has_functions = any(map(callable, devices))
        self._set_device_function(self._ask_devices if has_functions else None)

    def _ask_devices(self, first, is_one):
        ask_devices(self, first, is_one)

    def control_dependencies(self, control_inputs):
        """A context whose operations wait for `control_inputs`; None forgets the outer ones."""
        if control_inputs is None:
            return _ControlDependencies(self, self._push_control_dependencies, None)
        operations = []
        for item in control_inputs:
            if isinstance(item, IndexedSlices) or getattr(item, "_is_resource", False):
                item = item.op
            element = self.as_graph_element(item)
            element = element.op if isinstance(element, Tensor) else element
            if element not in operations:
                operations.append(element)
        return _ControlDependencies(self, self._push_control_dependencies, operations)

    def _get_control_flow_context(self):
        """The branch or loop that operations are made in, or None."""
        return context_numbered(self, self._current_context())

    def colocate_with(self, op, ignore_existing=False):
        """A context whose operations are put on the device of `op`."""
        if op is None:
            if not ignore_existing:
                raise ValueError(
                    "Trying to reset colocation (op is None) but ignore_existing is not True"
                )
            return _Colocated(self, None)
        if isinstance(op, _VariableBase):
            op = op.op
        elif not isinstance(op, Operation):
            op = convert_to_tensor(op).op if not isinstance(op, IndexedSlices) else op.op
        return _Colocated(self, op)

    def _attr_scope(self, attrs):
        ((name, kind, value),) = attrs
        return _Pushed(self, lambda attr: self._push_attr(attr, None), (name, kind, value))

    def gradient_override_map(self, op_type_map):
        """A context whose operations of the types named have the gradients of other types.

        op_type_map: from an op type to an op type, or to a name given to RegisterGradient.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for op_type, other in op_type_map.items():
            if not isinstance(op_type, str):
                raise TypeError("Keys in op_type_map must be strings")
            if not isinstance(other, str):
                raise TypeError("Values in op_type_map must be strings")
        return _GradientMap(self, op_type_map)

    def _program_gradient(self, op, op_type, gradients):
        """What a registered gradient function says; None if none of that type is registered."""
        return call_gradient(op, op_type, gradients, self._root._python_gradients.get(op_type))

    def _knows(self, op_type):
        """Whether it is known how many outputs operations of that type have."""
        return op_def_message(op_type) is not None

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The graph as a GraphDef message.

        from_version: only the operations added since `version` was that. add_shapes: every node has
        the shapes of its outputs in the attribute `_output_shapes`.
        """
        first = min(max(from_version or 0, 0), self._num_operations())
        graph_def = messages.GraphDef.FromString(self._graph_def_bytes(first))
        if add_shapes:
            for node in graph_def.node:
                outputs = self.get_operation_by_name(node.name).outputs
                shapes = _written_shapes(outputs) if outputs else ()
                if any(not s.unknown_rank for s in shapes) or shapes and self._knows(node.op):
                    node.attr["_output_shapes"].list.shape.extend(shapes)
        return graph_def

    @property
    def graph_def_versions(self):
        """The versions of the graph format that it fits, as a VersionDef message."""
        return self.as_graph_def().versions

    # Collections

    def add_to_collection(self, name, value):
        """Appends a value to a collection, which begins with its first."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        """Appends a value to several collections, to each once."""
        self._check_not_finalized()
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        """The list itself."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        """A copy of the list; with `scope`, only items whose name matches that pattern."""
        items = self._collections.get(name)
        if items is None:
            return []
        if scope is None:
            return list(items)
        match = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and match(item.name)]

    def get_all_collection_keys(self):
        """The names of collections that are strings."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name):
        """Drops a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    @property
    def collections(self):
        """The names of the collections."""
        return self.get_all_collection_keys()

    # Feeding and fetching

    def is_feedable(self, tensor):
        """Whether a run may be fed a value for the tensor."""
        return tensor not in self._unfeedable and self._may_feed(tensor.op._id)

    def prevent_feeding(self, tensor):
        """Makes runs refuse a value for the tensor."""
        self._unfeedable.add(tensor)
        self._restrict_runs()

    def is_fetchable(self, tensor_or_op):
        """Whether a run may fetch the operation or its outputs."""
        operation = getattr(tensor_or_op, "op", tensor_or_op)
        return operation not in self._unfetchable and self._may_fetch(operation._id)

    def prevent_fetching(self, op):
        """Makes runs refuse to fetch the operation and its outputs."""
        self._unfetchable.add(op)
        self._restrict_runs()

    def _check_run(self, words):
        """Raises ValueError unless a run's feeds and fetches may be: their number, then (id, index)
        of each. The extension asks for it."""
        pairs = list(zip(words[1::2], words[2::2]))
        for position, (id, index) in enumerate(pairs):
            operation = self._operation(id)
            if position >= words[0]:
                self._check_fetch(operation)
            elif not self.is_feedable(operation.outputs[index]):
                raise ValueError(f"Tensor {operation.outputs[index]} may not be fed.")

    def _check_fetch(self, operation):
        if not self.is_fetchable(operation):
            raise errors.InaccessibleTensorError(
                f"Operation {operation.name!r} has been marked as not fetchable. Typically this "
                "happens when it is defined in another function or code block. Use return "
                "values, explicit Python locals or TensorFlow collections to access it."
            )


def graph_from_inputs(inputs, graph=None):
    """The graph of the tensors among `inputs`, else the default one; ValueError if they differ."""
    original = None
    current = get_default_graph()
    if current.building_function:
        return current  # which captures what is of graphs around it
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError("Input graph needs to be a Graph: %s" % graph)
    for item in inputs:
        if isinstance(item, (Tensor, Operation, _VariableBase)):
            its_graph = None if item._is_eager else item.graph
        elif isinstance(item, IndexedSlices):
            its_graph = None if item.values._is_eager else item.graph
        elif hasattr(item, "_as_graph_element"):
            item = item._as_graph_element()
            its_graph = getattr(item, "graph", None)
        else:
            continue
        if its_graph is None:
            continue
        if graph is None:
            original = item
            graph = its_graph
        elif graph is not its_graph:
            if original is not None:
                raise ValueError(f"{item} must be from the same graph as {original}.")
            raise ValueError(f"{item} is not from the passed-in graph.")
    return graph or current


class name_scope:
    """A context that puts a name before the names of operations made inside.

    name: the scope; None means `default_name`. values: tensors whose graph to use.
    """

    def __init__(self, name, default_name=None, values=None):
        self._given = name
        self._default_name = default_name
        self._values = values
        self._default = None

    @property
    def name(self):
        """The name that was asked for, before it is made unique; or the default one."""
        return self._default_name if self._given is None else self._given

    def __enter__(self):
        name = self._default_name if self._given is None else self._given
        if name is None and self._values is not None:
            raise ValueError(
                f"At least one of name ({self._given}) and default_name ({self._default_name}) "
                "must be provided."
            )
        graph = get_default_graph()
        if graph._is_eager and (not self._values or _core._belong_nowhere(self._values)):
            self._graph = graph
            return graph._enter_scope(name)
        if self._values:
            graph = graph_from_inputs(self._values)
        text = graph.name_scope(name).__enter__()
        self._graph = graph
        if graph is not get_default_graph():
            self._default = _Default("graphs", graph)
            self._default.__enter__()
        return text

    def __exit__(self, *exc_info):
        self._graph._pop()
        if self._default is not None:
            self._default.__exit__(*exc_info)
            self._default = None
        return None

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with name_scope(self._given, self._default_name, self._values):
                return function(*args, **kwargs)

        return wrapped


def op_scope(values, name, default_name=None):
    """The old spelling of name_scope."""
    return name_scope(name, default_name, values)


def device(device_name_or_function):
    """A context in which operations of the default graph ask for a device."""
    return get_default_graph().device(device_name_or_function)


def container(container_name):
    """A context whose variables, queues and the like lie in a container of that name."""
    return get_default_graph().container(container_name)


@contextlib.contextmanager
def init_scope():
    """A context for operations that initialize: they wait for nothing around them, and are of the
    graph around all functions."""
    graph = get_default_graph()
    if not graph.building_function:
        with graph.control_dependencies(None):
            yield
        return
    scope = graph.get_name_scope()
    with graph._root.as_default() as root, root.control_dependencies(None):
        with root.name_scope(f"{scope}/" if scope else None):
            yield


def control_dependencies(control_inputs):
    """A context in which operations of the default graph wait for `control_inputs`."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op, ignore_existing=False):
    """A context in which operations of the default graph go where `op` is."""
    return get_default_graph().colocate_with(op, ignore_existing)


_core._register(
    Tensor,
    Operation,
    tensor_shape.TensorShape,
    dtypes.BY_NUMBER,
    errors.BY_CODE,
    _convert_for_operator,
    _explain_ragged,
    __file__.rsplit("/framework/", 1)[0] + "/",
    get_default_graph,
)

register_graph_type(Graph)
