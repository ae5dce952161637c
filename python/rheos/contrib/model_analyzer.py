"""How much the operations and variables of a graph hold: tf.contrib.slim.model_analyzer."""

_RULE = "---------"


def tensor_description(var):
    """The dtype and shape of a tensor or variable as text: "(float32 1x8x8x1024)"."""
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.get_shape())})"


def _elements(output):
    """How many elements a tensor or variable has; 0 if its shape does not tell."""
    return output.get_shape().num_elements() or 0


def _print_title(kind, fields):
    print(_RULE)
    print(f"{kind}: {fields}")
    print(_RULE)


def analyze_ops(graph, print_info=False):
    """The number of elements in all outputs of a graph's operations, as far as shapes tell.

    print_info: prints a line for each operation with the outputs that have dimensions.
    """
    if print_info:
        _print_title("Operations", "name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        size = sum(_elements(output) for output in op.outputs)
        if print_info:
            shapes = [tensor_description(t) for t in op.outputs if t.get_shape()]
            print(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total


def analyze_vars(variables, print_info=False):
    """(number of elements, bytes) of variables; print_info: prints a line for each, and sums."""
    if print_info:
        _print_title("Variables", "name (type shape) [size]")
    total, total_bytes = 0, 0
    for var in variables:
        size = _elements(var)
        size_bytes = size * var.dtype.size
        total += size
        total_bytes += size_bytes
        if print_info:
            print(var.name, tensor_description(var), f"[{size}, bytes: {size_bytes}]")
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes
