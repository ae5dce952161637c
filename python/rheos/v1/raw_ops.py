"""Every op of the library by its own name: raw_ops.MatMul(a=x, b=y)."""

from rheos.framework import signatures as _signatures


def _make(op_type, op):
    inputs = [arg.name for arg in op.input_arg]
    attrs = {attr.name for attr in op.attr}

    def function(name=None, **kwargs):
        from rheos.framework.op_call import apply_op

        missing = [i for i in inputs if i not in kwargs]
        unknown = [k for k in kwargs if k not in inputs and k not in attrs]
        if missing or unknown:
            raise TypeError(
                f"{op_type}() takes the inputs {inputs} and the attributes {sorted(attrs)}; "
                f"missing: {missing}, not known: {unknown}"
            )
        values = [kwargs.pop(i) for i in inputs]
        operation = apply_op(op_type, name, *values, **kwargs)
        outputs = operation.outputs
        if not op.output_arg:
            return operation
        if len(op.output_arg) == 1:
            single = op.output_arg[0]
            return outputs if single.number_attr or single.type_list_attr else outputs[0]
        return outputs

    function.__name__ = function.__qualname__ = op_type
    function.__doc__ = f"The op {op_type}({', '.join(inputs)})."
    return function


def __getattr__(name):
    op = None if name.startswith("__") else _signatures.op_def(name)
    if op is None:
        raise AttributeError(f"module 'rheos.v1.raw_ops' has no attribute {name!r}")
    made = globals()[name] = _make(name, op)
    return made


def __dir__():
    from rheos import _core

    return sorted(_core.op_types())
