"""The table of Keras 3 that says what a model is made of: with rules around its cells."""

import textwrap

from rheos.framework.tensor_shape import as_shape
from rheos.layers.layer import each_once
from rheos.models.input_layer import InputLayer

_LINE = (("Layer (type)", 31), ("Output Shape", 22), ("Param #", 13))
_NETWORK = (("Layer (type)", 19), ("Output Shape", 17), ("Param #", 10), ("Connected to", 17))
_UNITS = ("B", "KB", "MB", "GB", "TB")
_NUMBERS = 2  # the column that is aligned to the right


def lines_of(model, is_line, sources_of):
    """The lines of the table and of the totals below; is_line: without what layers take."""
    columns = _LINE if is_line else _NETWORK
    widths = [width for _, width in columns]
    inside = set() if is_line else {id(n) for n in model._network.nodes}
    lines = [f'Model: "{model.name}"', _rule(widths, "\u250f\u2501\u2533\u2513")]
    lines += _row([head for head, _ in columns], widths, "\u2503")
    lines.append(_rule(widths, "\u2521\u2501\u2547\u2529"))
    for i, layer in enumerate(model.layers):
        cells = [f"{layer.name} ({type(layer).__name__})", _shape_text(layer), _count(layer)]
        if not is_line:
            cells.append(", ".join(sources_of(layer, inside)) or "-")
        lines += [_rule(widths, "\u251c\u2500\u253c\u2524")] * (i > 0)
        lines += _row(cells, widths, "\u2502")
    lines.append(_rule(widths, "\u2514\u2500\u2534\u2518"))
    return lines + _totals(model)


def _rule(widths, signs):
    left, rule, cross, right = signs
    return left + cross.join(rule * (width + 2) for width in widths) + right


def _row(cells, widths, border):
    """The lines of a row: as many as its longest cell takes."""
    parts = [_wrapped(cell, width) for cell, width in zip(cells, widths)]
    height = max(len(part) for part in parts)
    lines = []
    for i in range(height):
        line = border
        for column, (part, width) in enumerate(zip(parts, widths)):
            text = part[i] if i < len(part) else ""
            text = text.rjust(width) if column == _NUMBERS else text.ljust(width)
            line += f" {text} {border}"
        lines.append(line)
    return lines


def _wrapped(text, width):
    found = []
    for line in text.split("\n"):
        found += textwrap.wrap(line, width, break_long_words=False) or [""]
    return [line if len(line) <= width else line[: width - 1] + "\u2026" for line in found]


def _shape_text(layer):
    shape = _shape_of(layer)
    return "?" if shape is None else str(shape)


def _shape_of(layer):
    try:
        if layer._inbound_nodes or isinstance(layer, InputLayer):
            return layer.output_shape
        found = layer.compute_output_shape(layer._built_for)
        found = [tuple(as_shape(shape).as_list()) for shape in _shapes_in(found)]
        return found[0] if len(found) == 1 else found
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError):
        return None  # it was not called yet, or only the call tells


def _shapes_in(found):
    return found if isinstance(found, list) else [found]


def _count(layer):
    if not layer.built and not layer.weights:
        return "0 (unbuilt)"
    return f"{_size(layer.weights)[0]:,}"


def _size(variables):
    """(the number of elements, that of bytes)."""
    count = bytes_of_all = 0
    for v in each_once(variables):
        elements = int(v.shape.num_elements())
        count, bytes_of_all = count + elements, bytes_of_all + elements * v.dtype.size
    return count, bytes_of_all


def _totals(model):
    trainable, others = _size(model.trainable_weights), _size(model.non_trainable_weights)
    kept = [("Trainable", trainable), ("Non-trainable", others)]
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.weights:
        count, size = _size(optimizer.weights)
        kept.append(("Optimizer", (count + 1, size + 4)))  # the learning rate counts as one
    total = tuple(sum(part) for part in zip(*(size for _, size in kept)))
    return [f" {name} params: {n:,} ({_bytes_text(b)})" for name, (n, b) in
            [("Total", total), *kept]]  # fmt: skip


def _bytes_text(size):
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.2f} {_UNITS[unit]}"
