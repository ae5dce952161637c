"""The table that says what a model is made of."""

from rheos.framework import nest
from rheos.layers import values
from rheos.layers.layer import each_once
from rheos.models import ruled_table


def _params(variables):
    return sum(int(v.shape.num_elements()) for v in each_once(variables))


def print_summary(model, line_length=None, positions=None, print_fn=None, **kwargs):
    """Prints the layers, what they give and the numbers of their parameters, and the totals."""
    if not values.runs_in_session():
        text = "\n".join(ruled_table.lines_of(model, _is_model_a_line(model), _sources))
        print_fn(text + "\n") if print_fn else print(text)
        return
    print_fn = print_fn or print
    network = getattr(model, "_network", None)
    is_line = _is_model_a_line(model)
    line_length = line_length or (65 if is_line else 98)
    positions = list(positions or ([0.45, 0.85, 1.0] if is_line else [0.33, 0.55, 0.67, 1.0]))
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]
    head = ["Layer (type)", "Output Shape", "Param #"] + ([] if is_line else ["Connected to"])

    def row(fields):
        line = ""
        for i, field in enumerate(fields):
            if i > 0:
                line = line[:-1] + " "
            line = (line + str(field))[: positions[i]]
            line += " " * (positions[i] - len(line))
        print_fn(line)

    print_fn(f'Model: "{model.name}"')
    print_fn("_" * line_length)
    row(head)
    print_fn("=" * line_length)
    layers = model.layers
    inside = set() if network is None else {id(n) for n in network.nodes}
    for i, layer in enumerate(layers):
        fields = [f"{layer.name} ({type(layer).__name__})", _shape_text(layer), _count(layer)]
        if is_line:
            row(fields)
        else:
            sources = _sources(layer, inside)
            row([*fields, sources[0] if sources else ""])
            for source in sources[1:]:
                row(["", "", "", source])
        print_fn(("=" if i == len(layers) - 1 else "_") * line_length)
    trainable = _params(model.trainable_weights)
    others = _params(model.non_trainable_weights)
    print_fn(f"Total params: {trainable + others:,}")
    print_fn(f"Trainable params: {trainable:,}")
    print_fn(f"Non-trainable params: {others:,}")
    print_fn("_" * line_length)


def _is_model_a_line(model):
    network = getattr(model, "_network", None)
    return network is None or type(model).__name__ == "Sequential" or _is_line(network)


def _is_line(network):
    """Whether each layer takes what the one before gave."""
    by_depth = {}
    for node in network.nodes:
        by_depth.setdefault(network.depths[node], []).append(node)
        if len(node.input_tensors) > 1:
            return False
    if any(len(nodes) > 1 for nodes in by_depth.values()):
        return False
    inside = {id(n) for n in network.nodes}
    for layer in network.layers:
        if sum(id(n) in inside for n in layer._inbound_nodes) > 1:
            return False
    return True


def _shape_text(layer):
    try:
        shape = layer.output_shape
    except (AttributeError, RuntimeError):
        return "multiple"
    if values.runs_in_session() and hasattr(layer, "_gives_list") and isinstance(shape, tuple):
        shape = [shape]
    return str(shape) if nest.flatten(shape) else "multiple"


def _count(layer):
    if not layer.built and not layer.weights:
        return "0 (unused)"
    return _params(layer.weights)


def _sources(layer, inside):
    found = []
    for node in layer._inbound_nodes:
        if inside and id(node) not in inside:
            continue
        for x in node.input_tensors:
            history = x._keras_history
            found.append(f"{history.layer.name}[{history.node_index}][{history.tensor_index}]")
    return found
