"""Graphs, operations and tensors as Python sees them, and how values become tensors."""

import threading

import numpy as np

from rheos import _core
from rheos.framework import dtypes, errors, signatures, tensor_shape
from rheos.framework.device_spec import DeviceSpec
from rheos.framework.tensor_shape import Dimension, TensorShape

_VariableBase = _core.VariableBase


# ---- The stacks of default graphs and sessions, one for each thread


class _Stacks(threading.local):
    def __init__(self):
        self.graphs = []
        self.sessions = []


_stacks = _Stacks()
_global_graph = None


def get_default_graph():
    """The innermost graph made default with `as_default`, else the one of the process."""
    global _global_graph
    stack = _stacks.graphs
    if stack:
        return stack[-1]
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def reset_default_graph():
    """Puts a new, empty graph in the place of the default one."""
    global _global_graph
    if _stacks.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    _global_graph = None


def get_default_session():
    """The innermost session made default, None if there is none."""
    stack = _stacks.sessions
    return stack[-1] if stack else None


class _Default:
    """A context in which an object is the innermost default of its kind."""

    __slots__ = ("_stack_name", "_value", "_enforce_nesting")

    def __init__(self, stack_name, value, enforce_nesting=True):
        self._stack_name = stack_name
        self._value = value
        self._enforce_nesting = enforce_nesting

    @property
    def enforce_nesting(self):
        return self._enforce_nesting

    @enforce_nesting.setter
    def enforce_nesting(self, value):
        self._enforce_nesting = value

    def __enter__(self):
        getattr(_stacks, self._stack_name).append(self._value)
        return self._value

    def __exit__(self, *exc_info):
        stack = getattr(_stacks, self._stack_name)
        if stack and stack[-1] is self._value:
            stack.pop()
        elif self._enforce_nesting:
            raise AssertionError(
                f"Nesting violated for default stack of {type(self._value)} objects"
            )
        else:
            for i in range(len(stack) - 1, -1, -1):
                if stack[i] is self._value:
                    del stack[i]
                    break


# ---- Tensors


class Tensor(_core.TensorBase):
    """A value that an operation will compute: a handle on one of its outputs."""

    OVERLOADABLE_OPERATORS = frozenset(
        "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __div__ __rdiv__ __truediv__ "
        "__rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __lt__ __le__ __gt__ __ge__ "
        "__and__ __rand__ __or__ __ror__ __xor__ __rxor__ __getitem__ __pow__ __rpow__ "
        "__invert__ __neg__ __abs__ __matmul__ __rmatmul__".split()
    )
    __array_priority__ = 100

    @property
    def shape(self):
        """What is known about the shape, a TensorShape."""
        return tensor_shape.from_dims(self._dims)

    def get_shape(self):
        """What is known about the shape, a TensorShape."""
        return tensor_shape.from_dims(self._dims)

    def set_shape(self, shape):
        """Adds to what is known about the shape; ValueError if it contradicts that."""
        self._set_shape(tensor_shape.as_shape(shape))

    def _shape_as_list(self):
        dims = self._dims
        return None if dims is None else list(dims)

    def _rank(self):
        dims = self._dims
        return None if dims is None else len(dims)

    @property
    def device(self):
        """The device asked for."""
        return self.op.device

    def consumers(self):
        """The operations that read this tensor."""
        return self.graph._consumers(self)

    def eval(self, feed_dict=None, session=None):
        """Runs what this tensor needs in `session`, by default the default one."""
        return _session_for(self, session, "eval").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def __iter__(self):
        raise errors.OperatorNotAllowedInGraphError(
            "Tensor objects are only iterable when eager execution is enabled: iterating over "
            "`tf.Tensor` is not allowed in Graph execution. To iterate over this tensor use "
            "tf.map_fn, tf.unstack or tf.split."
        )

    def __bool__(self):
        raise errors.OperatorNotAllowedInGraphError(
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use "
            "`if t is not None:` instead of `if t:` to test if a tensor is defined, and tf.cond "
            "to execute subgraphs conditioned on the value of a tensor."
        )

    def __len__(self):
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` "
            "rather than `len(x)` for shape information."
        )

    def __array__(self, dtype=None, copy=None):
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __getitem__(self, key):
        return _late.slice_helper(self, key)

    def __matmul__(self, other):
        return _late.operator_matmul(self, other)

    def __rmatmul__(self, other):
        return _late.operator_rmatmul(other, self)

    def __xor__(self, other):
        return _late.operator_xor(self, other)

    def __rxor__(self, other):
        return _late.operator_rxor(other, self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        dims = self._dims
        shape = "" if dims is None else f", shape={tensor_shape.from_dims(dims)}"
        device = self.device
        return 'Tensor("%s"%s, dtype=%s%s)' % (
            self.name,
            shape,
            self._dtype_name(),
            f", device={device}" if device else "",
        )

    def __repr__(self):
        return "<tf.Tensor '%s' shape=%s dtype=%s>" % (self.name, self.shape, self._dtype_name())

    def _dtype_name(self):
        try:
            return self.dtype.name
        except TypeError:  # of an imported node of an op that is not known
            return "<unknown>"


class _Late:
    """Functions that later modules define and tensors use."""


_late = _Late()


_USES = {"eval": ("evaluate", "tensor"), "run": ("execute", "operation")}


def _session_for(element, session, method):
    if session is None:
        session = get_default_session()
        if session is None:
            if method == "eval":
                raise ValueError(
                    "Cannot evaluate tensor using `eval()`: No default session is registered. "
                    "Use `with sess.as_default()` or pass an explicit session to "
                    "`eval(session=sess)`"
                )
            raise ValueError(
                "Cannot execute operation using `run()`: No default session is registered. Use "
                "`with sess.as_default():` or pass an explicit session to `run(session=sess)`"
            )
        kind, hint = "default", f" Pass an explicit session to `{method}(session=sess)`."
    else:
        kind, hint = "given", ""
    if session.graph is not element.graph:
        verb, noun = _USES[method]
        raise ValueError(
            f"Cannot use the {kind} session to {verb} {noun}: the {noun}'s graph is different "
            f"from the session's graph.{hint}"
        )
    return session


# ---- Operations


class Operation(_core.OperationBase):
    """A node of a graph."""

    @property
    def inputs(self):
        """The tensors it reads, in order."""
        return self._input_tuple

    @property
    def _inputs(self):
        return list(self._input_tuple)

    @property
    def _outputs(self):
        return self.outputs

    @property
    def _control_inputs(self):
        return self.control_inputs

    @property
    def op_def(self):
        """The definition of its op as an OpDef message; None for ops that only the graph has."""
        from rheos.framework.op_defs import op_def_message

        return op_def_message(self.type)

    @property
    def node_def(self):
        """Name, op, inputs, device and attributes, in the form of TensorFlow's NodeDef."""
        from rheos.framework import messages

        return messages.NodeDef.FromString(self.graph._node_def_bytes(self._id))

    @property
    def traceback(self):
        """Where the program made it: a list of one (file, line, function, text)."""
        source = self._source
        return [] if source is None else [(source[0], source[1], "", None)]

    def get_attr(self, name):
        """The value of an attribute; ValueError if the operation has none of that name."""
        kind, value = self._attr(name)
        if kind == 0:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        single = kind if kind < 10 else kind - 9
        if single not in (signatures.SHAPE, signatures.TENSOR, signatures.FUNC):
            return value
        field = {signatures.SHAPE: "shape", signatures.TENSOR: "tensor"}.get(single, "func")
        message = self.node_def.attr[name]
        return getattr(message, field) if kind == single else list(getattr(message.list, field))

    def _set_device(self, device):
        device = device.to_string() if hasattr(device, "to_string") else device
        self.graph._set_operation_device(self._id, device)

    def values(self):
        """The outputs, as a tuple."""
        return tuple(self.outputs)

    def colocation_groups(self):
        """The names of the operations it has to share a device with, as b"loc:@name"."""
        kind, groups = self._attr("_class")
        mine = [g for g in groups if g.startswith(b"loc:@")] if kind else []
        return mine or [b"loc:@" + self.name.encode()]

    def run(self, feed_dict=None, session=None):
        """Runs it in `session`, by default the default one."""
        _session_for(self, session, "run").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return "<tf.Operation '%s' type=%s>" % (self.name, self.type)


# ---- Scopes of a graph


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


class _Nothing:
    __slots__ = ()

    def __enter__(self):
        return None

    def __exit__(self, *exc_info):
        return None


class PendingOperation:
    """What a function for a caching device sees of the copy that is about to be made."""

    def __init__(self, op_type, name, graph):
        self.type = op_type
        self.name = name
        self.graph = graph
        self.device = ""
        self.inputs = ()
        self.outputs = []

    @property
    def node_def(self):
        return self

    @property
    def op(self):
        return self.type

    def _set_device(self, device):
        self.device = device


class _Device:
    """`with device(...)`: a device string, a function of operations, or None."""

    __slots__ = ("_graph", "_device", "_is_function", "_outer")

    def __init__(self, graph, device):
        self._graph = graph
        self._is_function = callable(device) and not isinstance(device, str)
        if not self._is_function and device is not None:
            device = device.to_string() if hasattr(device, "to_string") else str(device)
        self._device = device

    def __enter__(self):
        graph = self._graph
        self._outer = graph._devices
        if not self._is_function:
            graph._push_device(self._device)
        graph._set_devices([] if self._device is None else [*self._outer, self._device])

    def __exit__(self, *exc_info):
        if not self._is_function:
            self._graph._pop()
        self._graph._set_devices(self._outer)


class _Colocated:
    """`with colocate_with(...)`: devices around it are not asked for inside."""

    __slots__ = ("_graph", "_operation", "_outer")

    def __init__(self, graph, operation):
        self._graph = graph
        self._operation = operation

    def __enter__(self):
        graph = self._graph
        graph._push_colocation(self._operation)
        self._outer = graph._devices
        graph._set_devices([])

    def __exit__(self, *exc_info):
        self._graph._pop()
        self._graph._set_devices(self._outer)


def _merged_device(outer, inner):
    """The device that both ask for, `inner` first."""
    device = DeviceSpec.from_string(outer)
    device.merge_from(DeviceSpec.from_string(inner))
    return device.to_string()


def _apply_devices(devices, operation):
    """Gives the operation the device that the contexts say, from the innermost to the outermost: a
    string says what is not said yet, a function's answer takes the place of what was said."""
    for entry in reversed(devices):
        if callable(entry):
            device = entry(operation)
            device = device.to_string() if hasattr(device, "to_string") else device
            if not isinstance(device, (str, bytes)):
                raise TypeError(f"Expected binary or unicode string, got {device!r}")
            operation._set_device(device.decode() if isinstance(device, bytes) else device)
        else:
            operation._set_device(_merged_device(entry, operation.device))


# Begin on the device of the variable that they are made with.
_OF_VARIABLE = ("AssignVariableOp", "ReadVariableOp")


def _colocation(operation):
    """What tells the other operations that it has to share a device with."""
    own = b"loc:@" + operation.name.encode()
    return [group for group in operation.colocation_groups() if group != own]


_NAME_START = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.")
_NAME_REST = _NAME_START | frozenset("_\\-/>")


def _is_scope_name(name, at_top):
    first = name[0]
    if first not in (_NAME_START if at_top else _NAME_REST):
        return False
    return all(c in _NAME_REST for c in name)


# ---- Graphs


# Outputs whose shapes are not written: TensorFlow 1.15 has others for them than TensorFlow 2, and
# refuses a file that contradicts it. They are the empty ones of a batch normalization's gradient.
_UNWRITTEN_SHAPES = {f"FusedBatchNormGrad{version}": (3, 4) for version in ("", "V2", "V3")}


def _written_shapes(outputs):
    """TensorShapeProtos of an operation's outputs."""
    unwritten = _UNWRITTEN_SHAPES.get(outputs[0].op.type, ())
    unknown = tensor_shape.TensorShape(None).as_proto()
    return [unknown if i in unwritten else t.shape.as_proto() for i, t in enumerate(outputs)]


class Graph(_core.GraphBase):
    """Operations, and the tensors that flow between them."""

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
        self._container = ""
        self._partitioned_variables = {}  # by full name
        self._variable_creators = []  # a stack of functions, the innermost last

    # Operations

    @property
    def version(self):
        """The number of operations so far."""
        return self._num_operations()

    @property
    def _last_id(self):
        return self._num_operations()

    @property
    def building_function(self):
        return False

    def get_operations(self):
        """All operations, in the order in which they were made."""
        operation = self._operation
        return [operation(i) for i in range(self._num_operations())]

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
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    # Scopes

    def unique_name(self, name, mark_as_used=True):
        """The name an operation of that name would get now."""
        return self._unique_name(name, mark_as_used)

    def name_scope(self, name):
        """A context that puts `name` before the names of operations made inside."""
        if name:
            if not isinstance(name, str):
                raise ValueError(f"'{name}' is not a valid scope name")
            if not _is_scope_name(name, not self._scope_name()):
                raise ValueError(f"'{name}' is not a valid scope name")
        return _Pushed(self, self._push_name_scope, name or None)

    def get_name_scope(self):
        return self._scope_name()[:-1]

    def device(self, device_name_or_function):
        """A context in which operations ask for a device."""
        return _Device(self, device_name_or_function)

    def _set_devices(self, devices):
        self._devices = devices
        # Strings alone are merged by the graph's scope.
        has_functions = any(map(callable, devices))
        self._set_device_function(self._ask_devices if has_functions else None)

    def _ask_devices(self, first, is_one):
        """Gives what was added from operation `first` on the devices that the contexts say."""
        if is_one:
            operation = self._operation(first)
            device = operation.device
            operation._set_device("")
            _apply_devices(self._devices, operation)
            if device and _colocation(operation):
                operation._set_device(device)
        else:
            self._apply_devices_since(first, with_variables=True)

    def _apply_devices_since(self, first, with_variables=False):
        """Gives operations from id `first` on the devices that the contexts say, over their own;
        one that is colocated takes the device of what it is colocated with, as `with_variables`
        what initializes a variable that is among them does."""
        colocated = []
        for id in range(first, self._num_operations()):
            operation = self._operation(id)
            groups = _colocation(operation)
            if groups:
                operation._set_device("")
                colocated.append((operation, groups))
                continue
            of_variable = with_variables and operation.type in _OF_VARIABLE
            if of_variable:
                operation._set_device(_merged_device("", operation.inputs[0].device))
            if operation.type != "AssignVariableOp" or not of_variable:
                _apply_devices(self._devices, operation)
        for operation, groups in colocated:
            others = (self.get_operation_by_name(group[5:].decode()) for group in groups)
            device = next((other.device for other in others if other.device), None)
            if device:
                operation._set_device(device)

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
        from rheos.framework.gradient_registry import call_gradient

        return call_gradient(op, op_type, gradients)

    def _knows(self, op_type):
        """Whether it is known how many outputs operations of that type have."""
        from rheos.framework.op_defs import op_def_message

        return op_def_message(op_type) is not None

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The graph as a GraphDef message.

        from_version: only the operations added since `version` was that. add_shapes: every node has
        the shapes of its outputs in the attribute `_output_shapes`.
        """
        from rheos.framework import messages

        graph_def = messages.GraphDef.FromString(self._graph_def_bytes())
        if add_shapes:
            for node in graph_def.node:
                outputs = self.get_operation_by_name(node.name).outputs
                shapes = _written_shapes(outputs) if outputs else ()
                if any(not s.unknown_rank for s in shapes) or shapes and self._knows(node.op):
                    node.attr["_output_shapes"].list.shape.extend(shapes)
        if from_version is not None:
            del graph_def.node[:from_version]
        return graph_def

    @property
    def graph_def_versions(self):
        """The versions of the graph format that it fits, as a VersionDef message."""
        return self.as_graph_def().versions

    # Collections

    def add_to_collection(self, name, value):
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
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
        import re

        match = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and match(item.name)]

    def get_all_collection_keys(self):
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name):
        self._check_not_finalized()
        self._collections.pop(name, None)

    @property
    def collections(self):
        return self.get_all_collection_keys()

    # Feeding and fetching

    def is_feedable(self, tensor):
        """Whether a run may be fed a value for the tensor."""
        return tensor not in self._unfeedable

    def prevent_feeding(self, tensor):
        """Makes runs refuse a value for the tensor."""
        self._unfeedable.add(tensor)
        self._restrict_runs()

    def is_fetchable(self, tensor_or_op):
        """Whether a run may fetch the operation or its outputs."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self._unfetchable

    def prevent_fetching(self, op):
        """Makes runs refuse to fetch the operation and its outputs."""
        self._unfetchable.add(op)
        self._restrict_runs()

    def _check_run(self, words):
        """Raises ValueError unless a run's feeds and fetches may be: their number, then (id, index)
        of each. The extension asks for it."""
        pairs = list(zip(words[1::2], words[2::2], strict=True))
        for position, (id, index) in enumerate(pairs):
            operation = self._operation(id)
            if position >= words[0]:
                self._check_fetch(operation)
            elif not self.is_feedable(operation.outputs[index]):
                raise ValueError(f"Tensor {operation.outputs[index]} may not be fed.")

    def _check_fetch(self, operation):
        if not self.is_fetchable(operation):
            raise ValueError(
                f"Operation {operation.name!r} has been marked as not fetchable. Typically this "
                "happens when it is defined in another function or code block. Use return "
                "values, explicit Python locals or TensorFlow collections to access it."
            )


# ---- Sparse gradients


class IndexedSlices:
    """Rows `values` at `indices` of a tensor of shape `dense_shape`: a sparse gradient."""

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self):
        return self._values

    @property
    def indices(self):
        return self._indices

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def name(self):
        return self._values.name

    @property
    def device(self):
        return self._values.device

    @property
    def op(self):
        return self._values.op

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def graph(self):
        return self._values.graph

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self):
        return "IndexedSlices(indices=%s, values=%s%s)" % (
            self._indices,
            self._values,
            "" if self._dense_shape is None else f", dense_shape={self._dense_shape}",
        )


# ---- Values to tensors

_conversions = []  # (priority, types, function), in order


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Makes `conversion_func(value, dtype, name, as_ref)` convert values of a type."""
    if not isinstance(base_type, type) and not (
        isinstance(base_type, tuple) and all(isinstance(x, type) for x in base_type)
    ):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])


def _dtype_name(dtype):
    return None if dtype is None else dtype.name


def _check_tensor_dtype(value, dtype):
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
            f"{value.dtype.name}: {value!r}"
        )
    return value


def convert(value, dtype=None, preferred=None, name=None, graph=None, as_ref=False):
    """Any value as a Tensor of `graph` (the default one).

    dtype: what it has to be. preferred: what it should be if it can. as_ref: of a variable, the
    reference rather than the value.
    """
    if isinstance(value, Tensor):
        return _check_tensor_dtype(value, dtype)
    if isinstance(value, _VariableBase):
        if dtype is not None and not dtype.is_compatible_with(value.dtype.base_dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtype.name}' for variable of "
                f"type '{value.dtype.name}'"
            )
        return value._variable if as_ref else value._snapshot
    if graph is None:
        graph = get_default_graph()
    if _conversions:
        tensor = _registered(value, dtype, preferred, name, as_ref)
        if tensor is not None:
            return tensor
    tensor = graph._convert(value, dtype, preferred, name)
    if tensor is not NotImplemented:
        return tensor
    return _convert_object(value, dtype, preferred, name, graph)


def _convert_for_operator(value, dtype, preferred, name, graph):
    with graph.as_default():
        return convert(value, dtype, preferred, name, graph)


def _registered(value, dtype, preferred, name, as_ref):
    for _, types, function in _conversions:
        if not isinstance(value, types):
            continue
        result = NotImplemented
        if dtype is None and preferred is not None:
            try:
                result = function(value, dtype=preferred, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = NotImplemented
        if result is NotImplemented:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"Conversion function {function!r} for type {types} returned non-Tensor: {result!r}"
            )
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"Conversion function {function!r} for type {types} returned incompatible "
                f"dtype: requested = {dtype.base_dtype.name}, actual = {result.dtype.name}"
            )
        return result
    return None


def _fail(value):
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider "
        "casting elements to a supported type."
    )


def _convert_object(value, dtype, preferred, name, graph):
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, TensorShape):
        return _convert_shape(value, dtype, preferred, name, graph)
    if isinstance(value, Dimension):
        if value.value is None:
            raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
        return graph._constant(value.value, dtype or dtypes.int32, None, name or "Const")
    if isinstance(value, IndexedSlices):
        return _late.densify(value, dtype, name)
    if hasattr(value, "_convert_to_tensor"):
        return _check_tensor_dtype(value._convert_to_tensor(), dtype)
    if isinstance(value, (list, tuple)):
        tensor_dtype = _dtype_in(value)
        if tensor_dtype is not None:
            return _pack_list(value, dtype, tensor_dtype, name, graph)
        return _constant_any(_plain(value, value), dtype, preferred, name, graph)
    if isinstance(value, DType_):
        raise _fail(value)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _constant_any(np.asarray(value), dtype, preferred, name, graph)
    if hasattr(value, "__index__") or hasattr(value, "__float__"):
        number = value.__index__() if hasattr(value, "__index__") else float(value)
        return _constant_any(number, dtype, preferred, name, graph)
    raise _fail(value)


DType_ = dtypes.DType


def _constant_any(value, dtype, preferred, name, graph):
    result = graph._convert(value, dtype, preferred, name)
    if result is NotImplemented:
        raise _fail(value)
    return result


def _plain(item, whole):
    """A nested list with its Dimensions, sequences and array-likes as plain values."""
    if isinstance(item, (list, tuple, range)):
        return [_plain(part, whole) for part in item]
    if isinstance(item, TensorShape):
        return item.as_list()
    if isinstance(item, Dimension):
        if item.value is None:
            raise _fail(whole)
        return item.value
    if item is None:
        raise _fail(whole) if whole is not None else ValueError("None values not supported.")
    if isinstance(item, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return item
    if hasattr(item, "__array__") or hasattr(item, "__array_interface__"):
        return np.asarray(item)
    if hasattr(item, "__index__"):
        return item.__index__()
    if hasattr(item, "__float__"):
        return float(item)
    raise _fail(item if whole is None else whole)


def _convert_shape(shape, dtype, preferred, name, graph):
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
    dims = shape.as_list()
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype.name}")
    big = any(d >= 2**31 for d in dims)
    if big and dtype == dtypes.int32:
        raise ValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({max(dims)})"
        )
    if dtype is None:
        dtype = dtypes.int64 if big or preferred == dtypes.int64 else dtypes.int32
    return graph._constant(dims, dtype, None, name or "shape_as_tensor")


def _is_tensor_like(value):
    return isinstance(value, (Tensor, _VariableBase)) or (
        hasattr(value, "is_tensor_like") and hasattr(value, "dtype")
    )


def _dtype_in(items):
    """The dtype of the first tensor in a nested list, None if there is none."""
    for item in items:
        if _is_tensor_like(item):
            return item.dtype.base_dtype
        if isinstance(item, (list, tuple)):
            found = _dtype_in(item)
            if found is not None:
                return found
    return None


def _cast_parts(items, dtype):
    if _is_tensor_like(items):
        return _late.cast(items, dtype) if items.dtype.base_dtype != dtype else items
    if isinstance(items, (list, tuple)):
        return [_cast_parts(item, dtype) for item in items]
    return items


def _pack_list(items, dtype, tensor_dtype, name, graph):
    """A list with tensors in it becomes a Pack of them."""
    if dtype is None:
        dtype = tensor_dtype
    elif dtype.base_dtype != tensor_dtype:
        items = _cast_parts(items, dtype.base_dtype)
    return _pack(items, dtype.base_dtype, name or "packed", graph)


def _pack(items, dtype, name, graph):
    scope = graph._push_name_scope(name)
    try:
        must_pack = False
        parts = []
        for i, item in enumerate(items):
            if _is_tensor_like(item):
                if item.dtype.base_dtype != dtype:
                    raise TypeError(
                        f"Cannot convert a list containing a tensor of dtype "
                        f"{item.dtype.name} to {dtype.name} (Tensor is: {item!r})"
                    )
                must_pack = True
            elif isinstance(item, (list, tuple)):
                item = _pack(item, dtype, str(i), graph)
                must_pack = must_pack or isinstance(item, Tensor)
            parts.append(item)
        if not must_pack:
            return _plain(parts, parts)
        tensors = [
            convert(part)
            if _is_tensor_like(part)
            else graph._constant(_plain(part, parts), dtype, None, str(i))
            for i, part in enumerate(parts)
        ]
        return graph._node("Pack", scope, tensors, ())._output(0)
    finally:
        graph._pop()


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """A Tensor of a Python value, array, variable, or list of these."""
    return convert(
        value,
        None if dtype is None else dtypes.as_dtype(dtype),
        None
        if (preferred_dtype or dtype_hint) is None
        else dtypes.as_dtype(preferred_dtype or dtype_hint),
        name,
    )


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """The value as a tensor; IndexedSlices as they are. ValueError if the dtype does not fit."""
    if isinstance(value, IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor "
                f"with dtype {value.dtype.name}: {value}"
            )
        return value
    return convert_to_tensor(value, dtype, name)


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [
        None
        if value is None
        else convert_to_tensor_or_indexed_slices(value, dtype, name and f"{name}_{i}")
        for i, value in enumerate(values)
    ]


def _explain_ragged(value):
    """Raises for a list that is no rectangle; returns if that is not the trouble."""

    def dims(item):
        if isinstance(item, (list, tuple)):
            return [len(item), *(dims(item[0]) if item else [])]
        return list(np.shape(item)) if isinstance(item, np.ndarray) else []

    def common(item):
        if not isinstance(item, (list, tuple)):
            return list(np.shape(item)) if isinstance(item, np.ndarray) else []
        parts = [common(part) for part in item]
        shared = []
        for sizes in zip(*parts):
            if any(size != sizes[0] for size in sizes):
                break
            shared.append(sizes[0])
        return [len(item), *shared]

    wanted, got = dims(value), common(value)
    if wanted != got:
        raise ValueError(
            f"Argument must be a dense tensor: {value} - got shape {got}, but wanted {wanted}."
        )


# ---- The graph of some inputs


def graph_from_inputs(inputs, graph=None):
    """The graph of the tensors among `inputs`, else the default one; ValueError if they differ."""
    original = None
    current = get_default_graph()
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError("Input graph needs to be a Graph: %s" % graph)
    for item in inputs:
        if isinstance(item, (Tensor, Operation, _VariableBase)):
            its_graph = item.graph
        elif isinstance(item, IndexedSlices):
            its_graph = item.graph
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
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._has_values = values is not None
        self._values = values
        self._given = name
        self._graph = None
        self._default = None

    @property
    def name(self):
        return self._name

    def __enter__(self):
        if self._name is None and self._has_values:
            raise ValueError(
                f"At least one of name ({self._given}) and default_name ({self._default_name}) "
                "must be provided."
            )
        graph = graph_from_inputs(self._values) if self._values else get_default_graph()
        scope = graph.name_scope(self._name)
        text = scope.__enter__()
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
        import functools

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


def init_scope():
    """A context for operations that initialize: they wait for nothing around them."""
    return control_dependencies(None)


def control_dependencies(control_inputs):
    """A context in which operations of the default graph wait for `control_inputs`."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op, ignore_existing=False):
    """A context in which operations of the default graph go where `op` is."""
    return get_default_graph().colocate_with(op, ignore_existing)


def strip_name_scope(name, export_scope):
    return name


_core._register(
    Tensor,
    Operation,
    dtypes.BY_NUMBER,
    errors.BY_CODE,
    _convert_for_operator,
    _explain_ragged,
    __file__.rsplit("/framework/", 1)[0] + "/",
)
