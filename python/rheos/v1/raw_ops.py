"""Every op of the library by its own name: raw_ops.MatMul(a=x, b=y).

Arguments are given by name. `help(raw_ops.MatMul)` shows the signature.
"""

from rheos import _core
from rheos.framework import signatures as _signatures
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.conversion import convert_to_tensor as _convert_to_tensor
from rheos.framework.op_call import op_results as _op_results

_absent = _attribute_of("tensorflow.raw_ops")

# Arguments that TensorFlow's functions call otherwise than the op does.
_AXIS_OF_REDUCTION = {"axis": "reduction_indices"}
_OTHERWISE = {
    **dict.fromkeys(
        ["All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"], _AXIS_OF_REDUCTION
    ),
    "ExpandDims": {"axis": "dim"},
    "Select": {"x": "t", "y": "e"},
    "Split": {"axis": "split_dim"},
    "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"},
    "Where": {"condition": "input"},
}


def _of(arg):
    """What an input or output is, in words."""
    kind = arg.dtype.name if arg.dtype is not None else arg.type_attr or arg.type_list_attr
    if arg.type_list_attr:
        return f"a list of tensors of the dtypes {kind}"
    if arg.number_attr:
        return f"a list of {arg.number_attr} tensors of dtype {kind}"
    return f"a {'reference to a variable' if arg.is_ref else 'tensor'} of dtype {kind}"


def _document(op_type, op, required, optional, shown):
    lines = [f"The op {op_type}.", "", "Inputs and attributes, given by name:"]
    for arg in op.input_arg:
        lines.append(f"    {shown.get(arg.name, arg.name)}: {_of(arg)}.")
    for attr in [*required, *optional]:
        default = f"; by default {attr.default!r}" if attr.has_default else ""
        lines.append(f"    {shown.get(attr.name, attr.name)}: {attr.type}{default}.")
    lines.append("    name: of the operation.")
    lines += ["", "Returns:"]
    lines += [f"    {arg.name}: {_of(arg)}." for arg in op.output_arg] or ["    the operation."]
    lines += [
        "",
        "Shapes are checked when it is called where they are known, else when it runs:",
        "ValueError and InvalidArgumentError. TypeError for dtypes that do not fit.",
    ]
    return "\n".join(lines)


def _function_name(value):
    """What the library calls a function that an attribute is: a ConcreteFunction, or of Defun."""
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        return [_function_name(one) for one in value]
    body = getattr(value, "graph", None)
    if hasattr(body, "finish"):
        body.finish()
    name = getattr(value, "name", None)
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"Expected a function of the graph or its name, got {value!r}")
    return name


def _make(op_type, op):
    import inspect

    inputs = [arg.name for arg in op.input_arg]
    attrs = {attr.name for attr in op.attr}
    # What the inputs tell need not be given.
    told = {
        label
        for arg in op.input_arg
        for label in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    given = [attr for attr in op.attr if attr.name not in told]
    required = [attr for attr in given if not attr.has_default]
    optional = [attr for attr in given if attr.has_default]
    functions = {attr.name for attr in op.attr if attr.type in ("func", "list(func)")}
    lists = [arg for arg in op.input_arg if arg.type_list_attr]

    otherwise = _OTHERWISE.get(op_type, {})
    shown = {own: label for label, own in otherwise.items()}

    def function(name=None, **kwargs):
        twice = sorted(label for label, own in otherwise.items() if {label, own} <= set(kwargs))
        if twice:
            raise TypeError(f"{op_type}() got several values for {twice}")
        kwargs = {otherwise.get(label, label): value for label, value in kwargs.items()}
        missing = [shown.get(i, i) for i in inputs if i not in kwargs]
        unknown = [k for k in kwargs if k not in inputs and k not in attrs]
        if missing or unknown:
            takes = [shown.get(i, i) for i in inputs]
            raise TypeError(
                f"{op_type}() takes the inputs {takes} and the attributes "
                f"{sorted(shown.get(a, a) for a in attrs)}; "
                f"missing: {missing}, not known: {unknown}"
            )
        for label in functions & kwargs.keys():
            kwargs[label] = _function_name(kwargs[label])
        # Where inputs of several lists come one after the other, dtypes say which are whose.
        for arg in lists if len(lists) > 1 else ():
            if arg.type_list_attr not in kwargs:
                tensors = kwargs[arg.name] = [_convert_to_tensor(one) for one in kwargs[arg.name]]
                kwargs[arg.type_list_attr] = [one.dtype.base_dtype for one in tensors]
        values = [kwargs.pop(i) for i in inputs]
        return _op_results(op_type, name, *values, **kwargs)

    function.__name__ = function.__qualname__ = op_type
    function.__doc__ = _document(op_type, op, required, optional, shown)
    keyword = inspect.Parameter.KEYWORD_ONLY
    function.__signature__ = inspect.Signature(
        [inspect.Parameter(shown.get(i, i), keyword) for i in inputs]
        + [inspect.Parameter(a.name, keyword) for a in required]
        + [
            inspect.Parameter(shown.get(a.name, a.name), keyword, default=a.default)
            for a in optional
        ]
        + [inspect.Parameter("name", keyword, default=None)]
    )
    return function


def __getattr__(name):
    op = None if name.startswith("_") else _signatures.op_def(name)
    if op is None:
        return _absent(name)
    made = globals()[name] = _make(name, op)
    return made


def __dir__():
    return sorted(_core.op_types())
