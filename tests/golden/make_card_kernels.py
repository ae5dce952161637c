#!/usr/bin/env python3
"""Records which ops TensorFlow 2 computes on graphics cards; writes card_kernels.txt.

Usage: python make_card_kernels.py      (a Python that has TensorFlow 2.21, not tensorflow-cpu)

The wheel for graphics cards registers its kernels on machines without one too. README.md describes
the format of the file.
"""

import itertools
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import types_pb2  # noqa: E402
from tensorflow.python.framework import kernels, op_def_registry  # noqa: E402

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "card_kernels.txt")
HOSTS = types_pb2.DT_STRING, types_pb2.DT_RESOURCE  # whatever a kernel says of them
HEAD = f"# Kernels of TensorFlow {tf.__version__}. Made by make_card_kernels.py; see README.md.\n"


def constraints_of(kernel):
    """By attribute of a dtype: the names of those that the kernel takes."""
    names = {}
    for constraint in kernel.constraint:
        dtypes = constraint.allowed_values.list.type
        if dtypes:
            name_of = types_pb2.DataType.Name
            names[constraint.name] = frozenset(name_of(dtype)[3:].lower() for dtype in dtypes)
    return names


def where(op_def, kernel):
    """Which arguments lie in the host's memory: "*" for all that there are."""
    arguments = [*op_def.input_arg, *op_def.output_arg]
    on_host = [a.name for a in arguments if a.name in kernel.host_memory_arg or a.type in HOSTS]
    return "*" if len(on_host) == len(arguments) else ",".join(on_host)


def merged(rows):
    """Rows of (dtypes by attribute, arguments), two that differ in one attribute made one."""
    rows = list(rows)
    for (one, place), (other, other_place) in itertools.combinations(rows, 2):
        if place != other_place or one.keys() != other.keys():
            continue
        different = [name for name in one if one[name] != other[name]]
        if len(different) > 1:
            continue
        both = {name: one[name] | other[name] for name in one}
        rest = [row for row in rows if row[0] is not one and row[0] is not other]
        return merged([*rest, (both, place)])
    return rows


def is_among(row, rows):
    """Whether one of the rows takes all that the row takes."""
    return any(
        all(row[0].get(name, taken) <= taken for name, taken in other.items()) for other, _ in rows
    )


def rows_of(op_def, registered):
    """What a device GPU runs: kernels of its own, and where it has none those of any device."""
    own, default = (
        [(constraints_of(k), where(op_def, k)) for k in registered if k.device_type == kind]
        for kind in ("GPU", "DEFAULT")
    )
    return merged(own) + merged(row for row in default if not is_among(row, own))


def by_weight(op_def, host):
    """What sorts attributes: first the dtype of what the kernel computes with, indices last."""
    arguments = [a for a in [*op_def.input_arg, *op_def.output_arg] if a.name not in host]
    names = [argument.type_attr for argument in arguments]
    return lambda name: (
        name not in ("T", "dtype"),
        names.index(name) if name in names else len(names),
        name,
    )


def text_of(op_def, row):
    dtypes, place = row
    names = sorted(dtypes, key=by_weight(op_def, place.split(",")))
    words = [f"{name}={','.join(sorted(dtypes[name]))}" for name in names]
    return " ".join(words + [f"host={place}"] * bool(place))


def main():
    assert tf.__version__.startswith("2.21"), tf.__version__
    by_op = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.label == "" and not kernel.op.startswith("_"):
            by_op.setdefault(kernel.op, []).append(kernel)
    assert any(k.device_type == "GPU" for k in by_op["MatMul"]), "a wheel without cards' kernels"
    with open(PATH, "w") as file:
        file.write(HEAD)
        for op, registered in sorted(by_op.items()):
            op_def = op_def_registry.get(op)
            if op_def is not None:
                lines = sorted(text_of(op_def, row) for row in rows_of(op_def, registered))
                file.writelines(f"{op} {line}".rstrip() + "\n" for line in lines)


if __name__ == "__main__":
    main()
