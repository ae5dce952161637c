"""Adding an operation: inputs become tensors by the op's signature, as in TensorFlow 1.15."""

import functools
from collections import namedtuple

from rheos import _core
from rheos.framework import dtypes, errors, signatures
from rheos.framework.attr_values import tensor_value
from rheos.framework.conversion import _is_tensor_like, convert
from rheos.framework.defaults import _Default, get_default_graph
from rheos.framework.elsewhere import Elsewhere, elsewhere_of
from rheos.framework.graph import graph_from_inputs
from rheos.framework.operation import Operation, Tensor, _VariableBase


def _wrong_type(op_type, arg, observed, wanted, source):
    if source is None:
        return TypeError(
            f"Input '{arg.name}' of '{op_type}' Op has type {observed.name} that does not match "
            f"expected type of {wanted.name}."
        )
    return TypeError(
        f"Input '{arg.name}' of '{op_type}' Op has type {observed.name} that does not match "
        f"type {wanted.name} of argument '{source}'."
    )


def _convert_one(op_type, arg, value, dtype, preferred, source, graph):
    try:
        return convert(value, dtype, preferred, arg.name, graph, arg.is_ref)
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{op_type}', got "
            f"{value!r} of type '{type(value).__name__}' instead. Error: {error}"
        ) from None
    except ValueError:
        if not _is_tensor_like(value):
            raise
        raise _wrong_type(op_type, arg, value.dtype.base_dtype, dtype, source) from None


def _convert_list(op_type, arg, values, dtype, preferred, graph):
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"Expected list for '{arg.name}' argument to '{op_type}' Op, not {values}.")
    if dtype is None and not arg.type_list_attr:
        for value in values:
            if isinstance(value, (Tensor, _VariableBase)):
                dtype = value.dtype.base_dtype
                break
    try:
        tensors = [
            convert(
                v,
                None if arg.type_list_attr else dtype,
                preferred,
                f"{arg.name}_{i}",
                graph,
                arg.is_ref,
            )
            for i, v in enumerate(values)
        ]
    except (TypeError, ValueError):
        found = [
            v.dtype.base_dtype.name if _is_tensor_like(v) else "<NOT CONVERTIBLE TO TENSOR>"
            for v in values
        ]
        if all(_is_tensor_like(v) for v in values):
            raise TypeError(
                f"Tensors in list passed to '{arg.name}' of '{op_type}' Op have types "
                f"[{', '.join(found)}] that don't all match."
            ) from None
        raise
    types = {t.dtype.base_dtype for t in tensors}
    if not arg.type_list_attr and len(types) > 1:
        raise TypeError(
            f"Tensors in list passed to '{arg.name}' of '{op_type}' Op have types "
            f"[{', '.join(t.dtype.base_dtype.name for t in tensors)}] that don't all match."
        )
    return tensors


def _flat_inputs(op, inputs, attrs, graph):
    """The tensors of all inputs, one after the other."""
    types = {}  # attribute -> dtype
    sources = {}  # attribute -> the argument that said so
    lengths = {}
    for name, value in attrs.items():
        definition = op._attrs.get(name)
        if definition is not None and definition.kind == signatures.TYPE and value is not None:
            types[name] = dtypes.as_dtype(value).base_dtype
            sources[name] = name
    flat = []
    for arg, value in zip(op.input_arg, inputs):
        dtype, preferred = arg.dtype, None
        if dtype is None and arg.type_attr:
            dtype = types.get(arg.type_attr)
            definition = op._attrs.get(arg.type_attr)
            if dtype is None and definition is not None and definition.has_default:
                preferred = definition.default
        if arg.number_attr or arg.type_list_attr:
            tensors = _convert_list(op.name, arg, value, dtype, preferred, graph)
            if arg.number_attr:
                known = lengths.setdefault(arg.number_attr, (len(tensors), arg.name))
                if known[0] != len(tensors):
                    raise ValueError(
                        f"List argument '{arg.name}' to '{op.name}' Op with length "
                        f"{len(tensors)} must match length {known[0]} of argument '{known[1]}'."
                    )
            flat.extend(tensors)
            first = tensors[0] if tensors else None
        else:
            first = value
            is_tensor = isinstance(value, Tensor) and not value._is_eager
            if not is_tensor or dtype is not None and dtype is not value.dtype:
                first = _convert_one(
                    op.name, arg, value, dtype, preferred, sources.get(arg.type_attr), graph
                )
            flat.append(first)
        if arg.type_attr and first is not None:
            found = first.dtype.base_dtype
            if arg.type_attr not in types:
                types[arg.type_attr] = found
                sources[arg.type_attr] = arg.name
            elif types[arg.type_attr] is not found and types[arg.type_attr] != found:
                raise _wrong_type(op.name, arg, found, types[arg.type_attr], sources[arg.type_attr])
        if arg.is_ref and not first.dtype._is_ref_dtype:
            raise TypeError(
                f"'{op.name}' Op requires that input '{arg.name}' be a mutable tensor (e.g.: a "
                "tf.Variable)"
            )
    return flat


def _attr_tuples(op, attrs):
    items = []
    for name, value in attrs.items():
        if value is None:
            continue
        definition = op._attrs.get(name)
        if definition is None:
            raise TypeError(f"'{op.name}' Op has no attribute '{name}'")
        if definition.kind == signatures.TYPE and type(value) is not dtypes.DType:
            value = dtypes.as_dtype(value)  # which may be given as text or as NumPy's
        elif definition.kind == signatures.TENSOR:
            value = tensor_value(value)
        items.append((name, definition.kind, value))
    return items


def attr_tuples(op_type, attrs):
    """The attributes of an op as a graph's `_node` takes them."""
    return _attr_tuples(signatures.op_def(op_type), attrs)


def _colocate_with_references(graph, op, tensors):
    """An operation goes where the variables are that it takes by reference."""
    pushed = 0
    if op._takes_references:
        for arg, tensor in zip(op.input_arg, tensors):
            if arg.is_ref:
                graph._push_colocation(tensor.op)
                pushed += 1
    return pushed


def _known_types(op, inputs):
    """By attribute: the dtype of the first tensor among the inputs that say it."""
    types = {}
    for arg, value in zip(op.input_arg, inputs):
        if not arg.type_attr or arg.type_attr in types:
            continue
        is_list = isinstance(value, (list, tuple))
        if is_list and not arg.number_attr and op._attrs[arg.type_attr].has_default:
            continue  # it becomes one tensor, of the default where that is possible
        for item in value if is_list else (value,):
            if isinstance(item, (Tensor, _VariableBase)):
                types[arg.type_attr] = item.dtype.base_dtype
                break
    return types


_KERNEL_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def _kernel_name(dtype):
    """What messages of operations that run call a dtype."""
    return _KERNEL_NAMES.get(dtype.name, dtype.name)


def _check_types(op, tensors, types):
    """What an operation that runs at once says of inputs that do not fit each other."""
    position = 0
    for arg, count in tensors:
        for tensor in count:
            wanted = arg.dtype or types.get(arg.type_attr)
            if wanted is not None and tensor.dtype != wanted:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"cannot compute {op.name} as input #{position}(zero-based) was expected to "
                    f"be a {_kernel_name(wanted)} tensor but is a {_kernel_name(tensor.dtype)} "
                    f"tensor [Op:{op.name}] name: ",
                )
            position += 1


def _run_op(op, inputs, attrs, graph):
    """Runs an operation at once. Python's numbers take the dtype of the tensors beside them."""
    types = _known_types(op, inputs)
    for name, value in attrs.items():
        definition = op._attrs.get(name)
        if definition is not None and definition.kind == signatures.TYPE and value is not None:
            types[name] = dtypes.as_dtype(value).base_dtype
    converted = []
    for arg, value in zip(op.input_arg, inputs):
        is_list = bool(arg.number_attr or arg.type_list_attr)
        if is_list and not isinstance(value, (list, tuple)):
            raise TypeError(
                f"Expected list for '{arg.name}' argument to '{op.name}' Op, not {value}."
            )
        dtype, preferred = arg.dtype, None
        if dtype is None and arg.type_attr:
            dtype = types.get(arg.type_attr)
            definition = op._attrs.get(arg.type_attr)
            if dtype is None and definition is not None and definition.has_default:
                preferred = definition.default
        parts = []
        for item in value if is_list else (value,):
            if not (isinstance(item, Tensor) and item._is_eager):
                wanted = None if isinstance(item, (Tensor, _VariableBase)) else dtype
                item = convert(item, wanted, preferred, arg.name, graph, arg.is_ref)
            parts.append(item)
            if dtype is None and arg.type_attr:
                dtype = types[arg.type_attr] = item.dtype
        converted.append((arg, parts))
    _check_types(op, converted, types)
    flat = [item for _, parts in converted for item in parts]
    return graph._node(op.name, None, flat, _attr_tuples(op, attrs))


def apply_op(op_type, name, *inputs, **attrs):
    """Adds an operation. `name` None means the type; one that ends in "/" is used as it is.

    Inputs are in the order of the signature; attributes that are None keep their default. Where
    operations run at once, None for one that has no outputs.
    """
    operation = add_op(op_type, name, *inputs, **attrs)
    return operation if isinstance(operation, Operation) or operation.outputs else None


def add_op(op_type, name, *inputs, **attrs):
    """apply_op(), but what stands for an operation that ran at once where it has no outputs too."""
    if _core._executes_eagerly():
        if Elsewhere.is_used:
            found = elsewhere_of(inputs)
            if found is not None:
                return found.cluster.run_op(op_type, inputs, attrs)
        results = _core._run_now(op_type, inputs, attrs)
        if results is not None:
            return results
    op = signatures.op_def(op_type)
    if op is None:
        raise NotImplementedError(f"Op type not registered '{op_type}'")
    flat = []
    for value in inputs:
        if isinstance(value, (list, tuple)):
            flat.extend(value)
        else:
            flat.append(value)
    graph = graph_from_inputs(flat)
    if graph._is_eager:
        return _run_op(op, inputs, attrs, graph)
    default = None
    if graph is not get_default_graph():
        default = _Default("graphs", graph)
        default.__enter__()
    scope = graph._push_name_scope(name or op_type)
    try:
        tensors = _flat_inputs(op, inputs, attrs, graph)
        if graph.building_function:
            tensors = graph._own_inputs(op_type, tensors)
        else:
            for tensor in tensors:
                if tensor.graph is not graph:
                    graph_from_inputs(tensors, graph)
        pushed = _colocate_with_references(graph, op, tensors)
        try:
            return graph._node(op_type, scope, tensors, _attr_tuples(op, attrs))
        finally:
            for _ in range(pushed):
                graph._pop()
    finally:
        graph._pop()
        if default is not None:
            default.__exit__()


def _add_op1(op_type, name, *inputs, **attrs):
    return apply_op(op_type, name, *inputs, **attrs)._output(0)


op1 = _core.op1  # the only output of a new operation; one that runs at once if operations do


def op_list(op_type, name, *inputs, **attrs):
    """All outputs of a new operation, as a list."""
    return add_op(op_type, name, *inputs, **attrs).outputs


_tuple_types = {}


def _tuple(name, fields):
    """The kind of named tuple, made once."""
    found = _tuple_types.get(name)
    if found is None:
        found = _tuple_types[name] = namedtuple(name, fields)
    return found


def op_results(op_type, name, *inputs, **attrs):
    """What TensorFlow's functions of the ops themselves return of a new operation: its output, or a
    tuple of them with their names, lists where the op has lists; the operation if it gives none."""
    operation = add_op(op_type, name, *inputs, **attrs)
    outputs, results = list(operation.outputs), []
    described = signatures.op_def(op_type).output_arg
    for arg in described:
        count = None
        if arg.number_attr:
            count = operation.get_attr(arg.number_attr)
        elif arg.type_list_attr:
            count = len(operation.get_attr(arg.type_list_attr))
        results.append(outputs.pop(0) if count is None else outputs[:count])
        del outputs[: count or 0]
    if len(results) < 2:
        is_nothing = not results or (type(results[0]) is list and not results[0])
        if is_nothing and isinstance(operation, Operation):
            return operation
        return results[0] if results else None
    return _tuple(op_type, [arg.name for arg in described])._make(results)


def _describe(op_type):
    op = signatures.op_def(op_type)
    return None if op is None else op._quick


_core._register_ops(_describe, _add_op1, dtypes.BY_NAME)


# What a parameter of a function says where one operation is run.
_NAME, _DEFAULT = ("name", None), ("default", None)


def with_example(doc, call, shown):
    """The docstring of a function that a row makes, with what a call of it gives."""
    return f"{doc}\n\n>>> print({call}.numpy())\n{shown}"


def runs_op(
    op_type,
    inputs,
    ranks=None,
    numbers=None,
    changes_type=False,
    no_variables=False,
    **attrs,
):
    """A decorator: called with tensors that have values, the function runs one operation at once.

    It has to mean the same then as the Python function, which is called with anything else. inputs:
    the parameters that are the op's inputs, in order; where one is None, "axis=0" is that number,
    "axis=axes" are all dimensions of the first input, "perm=reversed" these from the last to the
    first. attrs: by attribute the parameter that says it; None leaves it out, and of "axis=list" a
    number is a list of one. `name` says nothing, other parameters have to have their defaults.
    ranks: (least of any input, largest of the largest). numbers: "real" or "floating", what the
    first input, a tensor, has to be of. changes_type: where an attribute says the dtype of the
    first input, that is given back. no_variables: the first input is none.
    """
    roles = {"name": _NAME}
    for place, text in enumerate(inputs.split()):
        parameter, _, kind = text.partition("=")
        if kind.isdigit():
            roles[parameter] = "input", place, int(kind)
        else:
            roles[parameter] = kind or "input", place
    for attr, text in attrs.items():
        parameter, _, kind = text.partition("=")
        roles[parameter] = kind or "attr", attr

    def decorate(function):
        inner = function
        while hasattr(inner, "__wrapped__"):
            inner = inner.__wrapped__
        code = inner.__code__
        names = code.co_varnames[: code.co_argcount]
        made = _core.OpFunction(
            function,
            op_type,
            names,
            len(names),
            inner.__defaults__ or (),
            tuple(roles.get(name, _DEFAULT) for name in names),
            ranks,
            numbers,
            changes_type,
            no_variables,
        )
        return functools.update_wrapper(made, function)

    return decorate
