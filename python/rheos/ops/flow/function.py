"""Functions of version 1: Defun, calls of them by their names as ops, and their gradients."""

import hashlib
import inspect

from rheos.framework import dtypes, messages, signatures
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph
from rheos.framework.graph import name_scope
from rheos.framework.importer import import_graph_def
from rheos.framework.op_call import add_op
from rheos.ops.state.variable_scope import get_variable_scope, variable_scope

# What a program may say of a function or of a call, and the attribute for it.
_FLAGS = {"noinline": "_noinline"}
_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")


def _attrs_of(name, flags):
    """The attributes for what the program says of a function or a call."""
    unknown = sorted(flags.keys() - _FLAGS.keys())
    if unknown:
        raise ValueError(f"Unknown keyword arguments of function {name}: {', '.join(unknown)}")
    return [(_FLAGS[word], signatures.BOOL, bool(value)) for word, value in flags.items()]


class _Body(FuncGraph):
    """The body of a Defun. `by_value`: what it uses of graphs around is copied into it."""

    def __init__(self, name, outer, attrs, by_value, stateful_ops):
        super().__init__(name, outer_graph=outer, capture_by_value=False, attrs=attrs)
        self._by_value = by_value
        self._may_copy = stateful_ops

    def _capture_helper(self, tensor, name):
        if not self._by_value:
            return self.add_capture(tensor, self._stand_in(tensor, "Placeholder"))
        self._copy(tensor.op)
        return self._captured[id(tensor)][1]

    def _copy(self, operation):
        """Copies the operation and all that it needs into this graph."""
        todo, needed = [operation], {}
        while todo:
            op = todo.pop()
            if op.name in needed or all(self.captured(t) for t in op.outputs):
                continue
            self._check_is_copied(op)
            needed[op.name] = op
            todo += [t.op for t in op.inputs]
        found = [tensor for op in needed.values() for tensor in op.outputs]
        known = {
            t.name: self._captured[id(t)][1]
            for op in needed.values()
            for t in op.inputs
            if self.captured(t)
        }
        graph_def = messages.GraphDef(node=[op.node_def for op in needed.values()])
        for node in graph_def.node:
            del node.input[len(needed[node.name].inputs) :]
        with self.as_default(), self.control_dependencies(None):
            copies = import_graph_def(
                graph_def, input_map=known, return_elements=[t.name for t in found], name=""
            )
        for tensor, copy in zip(found, copies):
            self.replace_capture(tensor, copy)

    def _check_is_copied(self, op):
        if op.op_def is not None and op.op_def.is_stateful and op not in self._may_copy:
            if op.type not in _PLACEHOLDERS:
                raise ValueError(
                    f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
                )
        if op.type in _PLACEHOLDERS:
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )


class _DefinedFunction:
    """A function of arguments of known dtypes.

    It is built when something is first asked of it, once in each graph that calls it.
    """

    def __init__(
        self,
        func,
        argnames,
        input_types,
        func_name=None,
        grad_func=None,
        python_grad_func=None,
        out_names=None,
        shape_func=None,
        capture_by_value=False,
        whitelisted_stateful_ops=None,
        capture_resource_var_by_value=True,
        **flags,
    ):
        self._func = func
        self._types = [dtypes.as_dtype(one) for one in input_types]
        names = list(argnames)[: len(self._types)]
        self._arg_names = names + [f"arg{i}" for i in range(len(names), len(self._types))]
        self._func_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._by_value = capture_by_value
        self._stateful_ops = set(whitelisted_stateful_ops or ())
        self._variables_by_value = capture_resource_var_by_value
        self._flags = flags

    # Building

    def _own_variable(self, outer):
        """A getter of variables, which lie in the graph around."""

        def get(getter, name, *args, **kwargs):
            with outer.as_default(), name_scope(None):
                variable = getter(name, *args, **kwargs)
                by_value = getattr(variable, "_is_resource", False) and self._variables_by_value
                return variable.value() if by_value else variable

        return get

    def _results(self, body, returned):
        if returned is None:
            return []
        returned = returned if isinstance(returned, (list, tuple)) else (returned,)
        if any(one is None for one in returned):
            raise ValueError(f"Function {body.name} can not return None.")
        return [body.capture(convert_to_tensor(one)) for one in returned]

    def _build(self, outer):
        base = self._func_name or self._base_name()
        attrs = _attrs_of(base, self._flags)
        body = _Body(base, outer, attrs, self._by_value, self._stateful_ops)
        with body.as_default():
            for name, dtype in zip(self._arg_names, self._types):
                body.add_argument(dtype, name=name)
            arguments = list(body.inputs)
            with variable_scope(get_variable_scope(), custom_getter=self._own_variable(outer)):
                returned = self._func(*arguments)
            body.outputs = self._results(body, returned)
        if self._out_names and len(self._out_names) != len(body.outputs):
            raise ValueError(
                f"Expected number of output names to be either zero or {len(body.outputs)}, got "
                f"{len(self._out_names)}."
            )
        name = self._func_name
        if name is None:
            name = f"{base}_{_digest(body)}"
        known = outer._root._defined_functions.values()
        if any(one is not None and one.name == name for one in known):
            body.be_known_as(name)  # the first one of a name is called, as in TensorFlow
        else:
            body.finish(name, output_names=self._out_names)
        return body

    def _base_name(self):
        name = getattr(self._func, "__name__", type(self._func).__name__)
        name = "lambda" if name == "<lambda>" else name
        return f"{name}_{self._grad_func.name}" if self._grad_func else name

    @property
    def _body(self):
        graph = get_default_graph()
        functions = graph._root._defined_functions
        if self not in functions:
            functions[self] = None  # one that calls itself finds this
            try:
                functions[self] = self._build(graph)
            except BaseException:
                del functions[self]
                raise
            if self._python_grad_func is not None:
                graph._root._python_gradients[functions[self].name] = self._python_grad_func
            if self._grad_func is not None:
                graph._root._set_function_gradient(functions[self].name, self._grad_func.name)
        if functions[self] is None:
            raise ValueError(
                f"function {self._func_name or self._base_name()} calls itself while it is built"
            )
        return functions[self]

    # What it is

    @property
    def name(self):
        """The function's name in the library."""
        return self._body.name

    @property
    def definition(self):
        """The function as a FunctionDef message."""
        name, library = self.name, get_default_graph()._root.as_graph_def().library
        return next(one for one in library.function if one.signature.name == name)

    @property
    def _signature(self):
        return self.definition.signature

    @property
    def grad_func_name(self):
        """The name of the function that gives the gradient; None if none was given."""
        return self._grad_func.name if self._grad_func else None

    @property
    def python_grad_func(self):
        """The program's function that adds the gradient of a call; None if none was given."""
        return self._python_grad_func

    @property
    def declared_input_types(self):
        """The dtypes of the arguments that are not captured."""
        return tuple(self._types)

    @property
    def captured_inputs(self):
        """Tensors around the function that calls give it behind the arguments."""
        return self._body.external_captures

    @property
    def stateful_ops(self):
        """Pairs of name and type of the body's operations that have state."""
        return [
            (op.name, op.type)
            for op in self._body.get_operations()
            if op.op_def is not None and op.op_def.is_stateful and op.type not in _PLACEHOLDERS
        ]

    def set_grad_func(self, grad_func):
        """Says which Defun gives the gradient of this one."""
        if self._grad_func is not None or not isinstance(grad_func, _DefinedFunction):
            raise ValueError("a function has one gradient function, a Defun with dtypes")
        self._grad_func = grad_func

    def add_to_graph(self, g):
        """Puts the function into the library of the graph."""
        with g.as_default():
            self._body  # noqa: B018

    # Calls

    def __call__(self, *args, **kwargs):
        body = self._body
        operation = self._call_all([*args, *body.external_captures], **kwargs)
        if self._shape_func is not None:
            self._set_shapes(operation)
        if len(operation.outputs) == 1:
            return operation.outputs[0]
        return tuple(operation.outputs) if operation.outputs else operation

    def _call_all(self, args, name=None, **flags):
        """The operation that calls the function with arguments and captures."""
        graph, body = get_default_graph(), self._body
        inputs = [convert_to_tensor(one) for one in args]
        if len(inputs) != len(body.inputs):
            raise ValueError(
                f"Expected number of arguments: {len(body.inputs)}, received: {len(inputs)}"
            )
        if graph.building_function:
            inputs = graph._own_inputs(body.name, inputs)
        attrs = _attrs_of(body.name, flags)
        return graph._node(body.name, name or body.name, inputs, attrs)

    def _set_shapes(self, operation):
        shapes = self._shape_func(operation)
        if len(shapes) != len(operation.outputs):
            raise ValueError(
                f"shape_func produced {len(shapes)} shapes for {len(operation.outputs)} outputs"
            )
        for tensor, shape in zip(operation.outputs, shapes):
            tensor.set_shape(shape)


def _digest(body):
    """Eight characters that follow from what the function does."""
    hashed = hashlib.sha1(body._graph_def_bytes(), usedforsecurity=False)
    for tensor in [*body.inputs, *body.outputs]:
        hashed.update(tensor.name.encode())
    return hashed.hexdigest()[:8]


class _OverloadedFunction:
    """A function of arguments of any dtypes: one for each list of them that it is called with."""

    def __init__(
        self, func, argnames, func_name=None, grad_func=None, python_grad_func=None, **options
    ):
        if grad_func is not None and not isinstance(grad_func, _OverloadedFunction):
            raise ValueError("the gradient of a Defun without dtypes is one without dtypes")
        self._func, self._arg_names, self._func_name = func, argnames, func_name
        self._grad_func, self._python_grad_func = grad_func, python_grad_func
        self._options = options
        self._defined = {}

    def instantiate(self, input_types):
        """The function for arguments of these dtypes."""
        types = tuple(dtypes.as_dtype(one).base_dtype for one in input_types)
        defined = self._defined.get(types)
        if defined is None:
            name = self._func_name
            if name is not None:
                name = "_".join([name, *(one.name for one in types)])
            defined = _DefinedFunction(
                self._func,
                self._arg_names,
                types,
                name,
                None,
                self._python_grad_func,
                **self._options,
            )
            if self._grad_func is not None:
                results = [tensor.dtype.base_dtype for tensor in defined._body.outputs]
                defined._grad_func = self._grad_func.instantiate([*types, *results])
                root = get_default_graph()._root
                root._set_function_gradient(defined.name, defined._grad_func.name)
            self._defined[types] = defined
        return defined

    def __call__(self, *args, **kwargs):
        tensors = [convert_to_tensor(one) for one in args]
        return self.instantiate([t.dtype for t in tensors])(*tensors, **kwargs)


class Defun:
    """A decorator: the Python function becomes one of the graph, which calls run.

    input_types: the dtypes of the arguments; without them there is a function for each list of
    dtypes that it is called with. func_name: its name in the library, by default made of what it
    does. grad_func: a Defun that gives its gradient, of its arguments and a gradient for each of
    its results. python_grad_func: a function of the operation that calls and of such gradients,
    called to add the gradient of a call. out_names: of the results. shape_func: a function of the
    operation that gives the shapes of its outputs. noinline: whether calls are not to be inlined.
    The function is called once, to add operations to a graph of its own, in which tensors of the
    graph around may be used. Branches and loops in it are functions too.
    """

    def __init__(self, *input_types, **kwargs):
        self._input_types = input_types
        self._options = kwargs

    def __call__(self, func):
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults or spec.kwonlyargs:
            raise ValueError(
                "function with argument defaults or keywords arguments are not supported. "
                f"{func} has defaults {spec.defaults} and keywords {spec.varkw}."
            )
        names = spec.args[1:] if inspect.ismethod(func) else spec.args
        least, most = len(names), float("inf") if spec.varargs else len(names)
        if self._input_types:
            if not least <= len(self._input_types) <= most:
                raise ValueError(
                    "The function has fewer arguments than the number of specified input types."
                )
            return _DefinedFunction(func, names, self._input_types, **self._options)
        if most == 0:
            return _DefinedFunction(func, [], [], **self._options)
        return _OverloadedFunction(func, names, **self._options)


class Declare:
    """A function that is called before it is defined, so that it may call itself.

    func_name: the name that a Defun gives it. inputs, outputs: pairs of a name and a dtype. What it
    gives is known when it runs; the Defun is put into the graph by `add_to_graph()`.
    """

    def __init__(self, func_name, inputs, outputs):
        self.name = func_name
        self._inputs = [(name, dtypes.as_dtype(dtype)) for name, dtype in inputs]
        self._outputs = [dtypes.as_dtype(dtype) for _, dtype in outputs]

    def __call__(self, *args, name=None):
        if len(args) != len(self._inputs):
            raise ValueError(
                f"Expected number of arguments: {len(self._inputs)}, received: {len(args)}"
            )
        pairs = zip(args, self._inputs)
        args = [convert_to_tensor(one, dtype=dtype, name=own) for one, (own, dtype) in pairs]
        made = add_op(
            "StatefulPartitionedCall", name or self.name, args, Tout=self._outputs, f=self.name
        )
        if len(made.outputs) == 1:
            return made.outputs[0]
        return tuple(made.outputs) if made.outputs else made
