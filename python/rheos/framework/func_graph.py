"""The body of a function: a graph of its own, which captures what it uses of graphs around it."""

import re
import weakref

from rheos.framework import dtypes, errors, nest, signatures
from rheos.framework.auto_control_deps import AutomaticControlDependencies
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import Graph, _ControlDependencies
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op
from rheos.framework.operation import Operation, Tensor, _VariableBase
from rheos.framework.tensor_shape import as_shape, unknown_shape
from rheos.framework.tensor_spec import TensorSpec

# Lists of the graph around that a body adds to; of others it has copies.
_SHARED_COLLECTIONS = ("variables", "local_variables", "trainable_variables")

# Ops whose first input a body that captures by value leaves outside.
_READS = ("ReadVariableOp", "ResourceGather")


class InaccessibleTensorError(errors.InaccessibleTensorError, TypeError):
    """What TensorFlow 1 raises for a tensor of another function, and what TensorFlow 2 does."""


class FuncGraph(Graph):
    """A graph that is the body of a function.

    While it is the default graph, tensors of the graphs around it may be used: each becomes an
    argument of the function. name: the function's. collections: a dict to take as the graph's
    lists; by default those of variables are shared with the graph around and others copied.
    capture_by_value: variables are read around the function. outer_graph: by default the default
    one. attrs: of the function, as (name, kind, value) with the kinds of `signatures`.
    """

    building_function = True
    control_flow_v2 = True  # branches and loops are functions

    def __init__(
        self,
        name,
        collections=None,
        capture_by_value=None,
        structured_input_signature=None,
        structured_outputs=None,
        outer_graph=None,
        attrs=(),
    ):
        outer = get_default_graph() if outer_graph is None else outer_graph
        self.outer_graph = outer
        super().__init__()
        self._begin_function(outer, name, tuple(attrs))
        self.inputs = []  # the arguments, then what stands for captures
        self.outputs = []
        self.control_captures = []  # operations around that something inside waits for
        self.structured_input_signature = structured_input_signature
        self.structured_outputs = structured_outputs
        self._captured = {}  # id of what is outside -> (outside, inside)
        self._watched = []
        self._called = []
        self._is_finished = False
        if capture_by_value is None:
            capture_by_value = getattr(outer, "capture_by_value", False)
        self.capture_by_value = capture_by_value
        self._read_outside(capture_by_value)
        self.seed = outer.seed
        self._container = outer._container
        root = self._root
        self._variables = root._variables
        self._partitioned_variables = root._partitioned_variables
        self._variable_creators = outer._variable_creators
        if collections is None:
            for key, items in outer._collections.items():
                self._collections[key] = items if key in _SHARED_COLLECTIONS else list(items)
            for key in _SHARED_COLLECTIONS:
                self._collections[key] = outer.get_collection_ref(key)
        else:
            self._collections = collections

    def __str__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"

    @property
    def name(self):
        """The function's name."""
        return self._function_name()

    @property
    def _root(self):
        return self.outer_graph._root

    @property
    def _variable_scope(self):
        return self._root._variable_scope

    @_variable_scope.setter
    def _variable_scope(self, store):
        if store is not None:
            self._root._variable_scope = store

    # Captures

    def capture(self, tensor, name=None, shape=None):
        """What stands for `tensor` inside: itself if it is of this graph, else an argument.

        tensor: of a graph around, or a value that is of no graph. name, shape: of a new argument,
        by default those of the tensor. InaccessibleTensorError if it is of another graph.
        """
        if type(tensor) is Tensor and tensor.graph is self:
            return tensor
        found = self._captured.get(id(tensor))
        if found is not None:
            return found[1]
        if _is_of_graph(tensor):
            self._check_is_around(tensor)
            return self._capture_helper(tensor, name)
        return self._capture_value(tensor, name, shape)

    def _capture(self, tensor, name=None):
        return self.capture(tensor, name)

    def _capture_helper(self, tensor, name):
        """A new argument for a tensor of a graph around."""
        return self.add_capture(tensor, self._stand_in(tensor, name))

    def _capture_value(self, value, name, shape):
        """A new argument, or a constant, for a value that is of no graph."""
        as_constant = getattr(value, "_capture_as_const", None)
        if as_constant is not None:
            with self.as_default(), self.control_dependencies(None):
                constant = as_constant(name)
            if constant is not None:
                self._captured[id(value)] = value, constant
                return constant
        shape = value.shape if shape is None else as_shape(shape)
        handles = getattr(value, "_handle_shape", None) if value.dtype == dtypes.resource else None
        return self.add_capture(value, self._placeholder(value.dtype, shape, name, handles))

    def _placeholder(self, dtype, shape, name, handle_shape=None):
        attrs = [("dtype", signatures.TYPE, dtype), ("shape", signatures.SHAPE, as_shape(shape))]
        if handle_shape is not None:
            kind = signatures.list_kind(signatures.SHAPE)
            attrs.append(("_handle_shapes", kind, [as_shape(handle_shape)]))
        name = _argument_name(name or "args")
        self._push_control_dependencies(None)
        try:
            return self._node("Placeholder", name, (), attrs)._output(0)
        finally:
            self._pop()

    def _check_is_around(self, tensor):
        graph = self
        while graph.building_function:
            graph = graph.outer_graph
            if graph is tensor.graph:
                return
        raise InaccessibleTensorError(
            f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit "
            f"Python locals or TensorFlow collections to access it. It was defined in "
            f"{tensor.graph} and is used in {self}, which is not inside of that."
        )

    def add_capture(self, tensor, placeholder):
        """Makes `placeholder` the argument that stands for `tensor`; gives `placeholder`."""
        self._captured[id(tensor)] = tensor, placeholder
        self.inputs.append(placeholder)
        return placeholder

    def replace_capture(self, tensor, placeholder):
        """Makes another tensor of this graph stand for `tensor`."""
        self._captured[id(tensor)] = tensor, placeholder

    def reset_captures(self, capture_list):
        """Takes these pairs for what is captured."""
        self._captured = {id(tensor): (tensor, inside) for tensor, inside in capture_list}

    def pop_capture(self, tensor):
        """Forgets what stands for `tensor`, and gives it."""
        found = self._captured.pop(id(tensor), None)
        return None if found is None else found[1]

    def clear_captures(self):
        self._captured = {}

    def captured(self, tensor):
        """Whether something stands for `tensor`."""
        return id(tensor) in self._captured

    def inside_of(self, tensor):
        """What `tensor` is in this graph, as far as that is known; else None."""
        if type(tensor) is Tensor and tensor.graph is self:
            return tensor
        found = self._captured.get(id(tensor))
        return None if found is None else found[1]

    @property
    def captures(self):
        """Pairs of what is outside and the argument that stands for it."""
        mine = {id(tensor) for tensor in self.inputs}
        return [pair for pair in self._captured.values() if id(pair[1]) in mine]

    @property
    def external_captures(self):
        """What calls give the function behind its arguments."""
        return [outside for outside, _ in self.captures]

    @property
    def internal_captures(self):
        """The arguments that stand for captures."""
        return [inside for _, inside in self.captures]

    def _own_inputs(self, op_type, tensors):
        """The inputs of an operation of this graph, with captures in place of what is outside."""
        if self.capture_by_value and op_type in _READS:
            return tensors
        return [self.capture(tensor) for tensor in tensors]

    # Variables

    def watch_variable(self, variable):
        """Says that the function uses the variable, and so those whose branch or loop it is."""
        graph = self
        while isinstance(graph, FuncGraph):
            if all(variable is not one for one in graph._watched):
                graph._watched.append(variable)
            graph = graph.outer_graph

    @property
    def variables(self):
        """The variables that the body uses."""
        by_handle = {}
        if any(outside.dtype == dtypes.resource for outside, _ in self._captured.values()):
            by_handle = {id(v._variable): v for v in self._root._variables.values()}
        found = list(self._watched)
        for outside, _ in self._captured.values():
            variable = by_handle.get(id(outside))
            if variable is not None and all(variable is not one for one in found):
                found.append(variable)
        return tuple(found)

    @property
    def trainable_variables(self):
        """Those of `variables` that are trained."""
        return tuple(v for v in self.variables if getattr(v, "trainable", v._trainable))

    # Contexts

    def control_dependencies(self, control_inputs):
        if control_inputs is None:
            return super().control_dependencies(None)
        own = []
        for item in control_inputs:
            if isinstance(item, (IndexedSlices, _VariableBase)):
                item = getattr(item, "op", None)
                if item is None:  # an eager variable: nothing to wait for
                    continue
            elif hasattr(item, "_as_graph_element"):
                item = item._as_graph_element()
            graph = getattr(item, "graph", None)
            if graph is self or graph is None:
                own.append(item)
                continue
            operation = item if isinstance(item, Operation) else item.op
            if operation not in self.control_captures:
                self.control_captures.append(operation)
        return super().control_dependencies(own)

    def colocate_with(self, op, ignore_existing=False):
        graph = getattr(op, "graph", None)  # eager variables have none
        if op is not None and graph is not self:
            return _ControlDependencies(self, self._push_control_dependencies, ())
        return super().colocate_with(op, ignore_existing)

    # Arguments and results

    def add_argument(self, dtype, shape=None, name=None, handle_shape=None):
        """The next argument, a Placeholder. handle_shape: of what is behind a resource."""
        shape = unknown_shape() if shape is None else shape
        name = name or f"args_{len(self.inputs)}"
        placeholder = self._placeholder(dtypes.as_dtype(dtype), shape, name, handle_shape)
        self.inputs.append(placeholder)
        return placeholder

    def add_argument_like(self, tensor, shape, name=None):
        """The next argument, for values like `tensor`, but of another shape."""
        if tensor.dtype in (dtypes.resource, dtypes.variant):
            self.inputs.append(self._stand_in(tensor, name))
            return self.inputs[-1]
        return self.add_argument(tensor.dtype.base_dtype, shape, name or tensor.op.name)

    def keep_alive(self, called):
        """Keeps an object that stands for a function which the body calls."""
        self._called.append(called)

    @property
    def calls_program(self):
        """Whether calls of it come to functions of the program, which live as long as it does."""
        waiting, seen = [self], {id(self)}
        while waiting:
            graph = waiting.pop()
            if graph._program_functions:
                return True
            for called in graph._called:
                inside = called if isinstance(called, FuncGraph) else getattr(called, "graph", None)
                if isinstance(inside, FuncGraph) and id(inside) not in seen:
                    seen.add(id(inside))
                    waiting.append(inside)
        return False

    @property
    def control_outputs(self):
        """The operations that every call runs."""
        return self._control_outputs()

    def add_control_output(self, operation, name=None):
        """Makes every call run the operation."""
        self._add_control_output(operation, name)

    @property
    def output_types(self):
        return [tensor.dtype for tensor in self.outputs]

    @property
    def output_shapes(self):
        return [tensor.shape for tensor in self.outputs]

    @property
    def is_stateful(self):
        """Whether the body so far has effects or state."""
        return self._is_stateful()

    @property
    def is_finished(self):
        """Whether it is in the library, and cannot change."""
        return self._is_finished

    def be_known_as(self, name):
        """Ends building it: the library has a function of that name, which is called."""
        self._rename_function(name)
        self._is_finished = True

    def finish(self, name=None, argument_names=None, output_names=None):
        """Puts the function of `inputs` and `outputs` into the library of the graph around all
        functions. ValueError if that has another one of the name."""
        if self._is_finished:
            return self
        if name is not None:
            self._rename_function(name)
        for i, tensor in enumerate(self.inputs):
            self._adopt_argument(tensor, argument_names and argument_names[i])
        for i, tensor in enumerate(self.outputs):
            self._add_result(tensor, output_names and output_names[i])
        self._finish_function()
        self._is_finished = True
        if self.outer_graph.building_function:  # whose nodes name it
            self.outer_graph.keep_alive(self)
        root = self._root
        if root._is_eager:  # the nodes of other graphs go on calling it
            weakref.finalize(self, _drop, weakref.ref(root), self.name).atexit = False
        return self


def _argument_name(name):
    """A name of a node for an argument, which may begin with what a node's may not."""
    return re.sub("^[^A-Za-z0-9.]+", "", name.replace("/", "_").replace(":", "_")) or "unknown"


def _drop(root, name):
    """Takes a function that nobody can call any more out of the library."""
    root = root()
    if root is not None:
        root._remove_function(name)


def _is_of_graph(value):
    return isinstance(value, Tensor) and not getattr(value, "_is_eager", False)


def _argument(graph, value, name):
    """A placeholder for an argument that is like `value`; other values are themselves."""
    if isinstance(value, TensorSpec):
        return graph.add_argument(value.dtype, value.shape, name or value.name)
    if isinstance(value, Tensor):
        return graph.add_argument(value.dtype.base_dtype, value.shape, name)
    if hasattr(value, "_as_argument_of"):
        return value._as_argument_of(graph, name)
    return value


def _arguments(graph, structure, names):
    leaves = nest.flatten(structure, expand_composites=True)
    made = [_argument(graph, leaf, name) for leaf, name in zip(leaves, names)]
    return nest.pack_sequence_as(structure, made, expand_composites=True)


def _result(graph, value):
    """A result as a tensor of the graph; None stays."""
    if value is None or isinstance(value, Operation):
        return value
    return graph.capture(convert_to_tensor(value))


def _check_unchanged(before, after, function):
    """ValueError if a function has changed the lists and dicts that it was given."""
    same = nest.flatten(before), nest.flatten(after)
    changed = len(same[0]) != len(same[1]) or any(a is not b for a, b in zip(*same))
    if not changed:
        try:
            nest.assert_same_structure(before, after)
        except (TypeError, ValueError):
            changed = True
    if changed:
        name = getattr(function, "__name__", str(function))
        raise ValueError(
            f"{name}() should not modify its Python input arguments. Check if it modifies any "
            "lists or dicts passed as arguments. Modifying a copy is allowed."
        )


def func_graph_from_py_func(
    name,
    python_func,
    args=(),
    kwargs=None,
    func_graph=None,
    outer_graph=None,
    autograph=None,
    add_control_dependencies=True,
    argument_names=None,
    collections=None,
    capture_by_value=None,
    attrs=(),
):
    """The graph of what `python_func` does with arguments that are like `args` and `kwargs`.

    args, kwargs: structures of tensors or TensorSpecs, for which there are placeholders, and of
    other values, which are given as they are. argument_names: of the placeholders, in their
    order. autograph: a function that makes another of `python_func`. Effects happen in the order
    of the program unless `add_control_dependencies` is False. The function is not finished.
    """
    graph = func_graph or FuncGraph(
        name,
        collections=collections,
        capture_by_value=capture_by_value,
        outer_graph=outer_graph,
        attrs=attrs,
    )
    kwargs = kwargs or {}
    with graph.as_default():
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        names = list(argument_names or ())
        names += [None] * (len(leaves) - len(names))
        func_args, func_kwargs = _arguments(graph, (args, kwargs), names)
        control = AutomaticControlDependencies()
        with control:
            function = autograph(python_func) if autograph is not None else python_func
            given = nest.pack_sequence_as(
                (func_args, func_kwargs), nest.flatten((func_args, func_kwargs))
            )
            returned = function(*func_args, **func_kwargs)
            _check_unchanged(given, (func_args, func_kwargs), python_func)
            parts = nest.flatten(returned, expand_composites=True)
            results = [_result(graph, part) for part in parts]
            if not add_control_dependencies:
                control.forget()
            results = [control.mark_as_return(one) for one in results]
        graph.structured_outputs = (
            nest.pack_sequence_as(returned, results, expand_composites=True)
            if nest.is_nested(returned) or nest.is_composite(returned)
            else results[0]
        )
        graph.outputs = [one for one in results if isinstance(one, Tensor)]
    return graph


def call_function(func_graph, args, name=None):
    """The operation that calls a function: PartitionedCall, or StatefulPartitionedCall where the
    body has effects or state.

    func_graph: a FuncGraph, which is finished if it is not yet. args: a tensor for each argument;
    what was captured is added. Its outputs have the shapes that the body's results have,
    or would have with what is known of the arguments.
    """
    func_graph.finish()
    inputs = [convert_to_tensor(arg) for arg in args] + func_graph.external_captures
    if len(inputs) != len(func_graph.inputs):
        wanted = len(func_graph.inputs) - len(func_graph.captures)
        raise ValueError(
            f"function {func_graph.name} takes {wanted} arguments, the call has {len(args)}"
        )
    op_type = "StatefulPartitionedCall" if func_graph.is_stateful else "PartitionedCall"
    with get_default_graph().control_dependencies(func_graph.control_captures):
        call = apply_op(
            op_type,
            name,
            inputs,
            Tout=[dtype.base_dtype for dtype in func_graph.output_types],
            f=func_graph.name,
        )
    if not get_default_graph()._is_eager:
        for output, inside in zip(call.outputs, func_graph.outputs):
            output.set_shape(inside.shape)
        call.graph._infer_call(call._id)
    return call
