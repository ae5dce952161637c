#!/usr/bin/env python3
"""Asks TensorFlow 2 which ranks and dimensions its shape functions take; writes shape_verdicts.txt.

Usage: python make_shape_verdicts.py      (a Python that has TensorFlow 2.21)

Of each op the first case of op_cases/ that has an answer is built again and again with one input of
another shape. Nothing is run. The format of the file is described in README.md.
"""
import importlib
import os

import make_ops
import numpy as np
import tensorflow as tf
from make_ops import HERE, Node, Variable, flatten, v1

# TensorFlow's shape functions that do not withstand a scalar.
ENDS_THE_PROCESS = {"FakeQuantWithMinMaxVarsPerChannelGradient"}
OTHER_RANKS = [None] + [[None] * rank for rank in range(6)]


def recorded_tags():
    """By op: the tags of its cases that have answers."""
    tags = {}
    folder = os.path.join(HERE, "ops")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as lines:
            key = None
            for line in lines:
                words = line.split(None, 3)
                if words[0] == "case":
                    key = words[1], words[2]
                elif words[0] == "out" or words[0] == "end":
                    tags.setdefault(key[0], set()).add(key[1]) if key else None
                elif words[0] == "error":
                    key = None
    return tags


def first_cases():
    """One answered case of each op, by name."""
    tags, chosen = recorded_tags(), {}
    for family in make_ops.FAMILIES:
        module = importlib.import_module("op_cases." + family)
        if getattr(module, "TENSORFLOW", "2.") != "2.":
            continue
        for case in module.cases():
            usable = (len(list(flatten(case.inputs))) > 0 and case.images is None and
                      case.op not in ENDS_THE_PROCESS)
            if usable and case.op not in chosen and case.tag in tags.get(case.op, ()):
                chosen[case.op] = case
    return [chosen[op] for op in sorted(chosen)]


def output_dtype(item):
    """Of the first output of a Node."""
    op_def = make_ops.op_def_of(item.op)
    output = op_def.output_arg[0]
    if output.type:
        return tf.as_dtype(output.type).base_dtype
    node = v1.NodeDef()
    make_ops.infer_attrs(op_def, item.inputs, node)
    attrs = {attr.name: attr.default_value for attr in op_def.attr}
    attrs.update(node.attr)
    for name in (output.type_attr, output.type_list_attr):
        if name in item.attrs:
            return tf.as_dtype(np.ravel(item.attrs[name])[0]).base_dtype
        if name:
            return tf.as_dtype(attrs[name].type or attrs[name].list.type[0]).base_dtype
    raise ValueError("the dtype of " + item.op)


class Input:
    """What kind of node gives an input: `kind` is "", "&" (a reference) or "*" (a handle)."""

    def __init__(self, case, item):
        self.shape = None
        if isinstance(item, Node):
            self.kind = "&" if make_ops.op_def_of(item.op).output_arg[0].is_ref else ""
            self.dtype = output_dtype(item)
            return
        self.dtype = make_ops.item_dtype(item).base_dtype
        self.kind = ("*" if make_ops.is_handle(item) else
                     "&" if isinstance(item, (Variable, make_ops.Uninitialized)) else "")
        self.shape = list(item.shape if hasattr(item, "shape") else item.value.shape)

    def add(self, graph_def, name, shape):
        # Not a Placeholder: in old graphs one that says it is a scalar may be of any shape.
        node = graph_def.node.add(name=name, op="VarHandleOp" if self.kind == "*" else "VariableV2")
        node.attr["dtype"].type = self.dtype.as_datatype_enum
        node.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())


def verdict(case, inputs, shapes):
    """The ranks of the outputs, or "x"."""
    graph_def = v1.GraphDef()
    graph_def.versions.producer = case.producer
    names = ["in%d" % i for i in range(len(inputs))]
    for name, item, shape in zip(names, inputs, shapes):
        item.add(graph_def, name, shape)
    node = graph_def.node.add(name="op", op=case.op)
    node.input.extend(names)
    make_ops.infer_attrs(make_ops.op_def_of(case.op), case.inputs, node)
    kinds = {a.name: a.type for a in make_ops.op_def_of(case.op).attr}
    for key, value in case.attrs.items():
        make_ops.set_attr(node.attr[key], kinds[key], make_ops.with_folder(value))
    with tf.Graph().as_default() as graph:
        try:
            tf.import_graph_def(graph_def, name="")
        except (ValueError, tf.errors.OpError):
            return "x"
        outputs = graph.get_operation_by_name("op").outputs
        return "".join("u" if o.shape.rank is None else str(o.shape.rank) for o in outputs) or "-"


def other_dimensions(shape):
    for k in range(len(shape or [])):
        for size in (shape[k] + 1, 0):
            yield shape[:k] + [size] + shape[k + 1:]


def verdicts(case):
    inputs = [Input(case, item) for item in flatten(case.inputs)]
    recorded = [item.shape for item in inputs]
    for i, item in enumerate(inputs):
        lists = []
        for others, changes in (([None] * len(inputs), OTHER_RANKS), (recorded, OTHER_RANKS),
                                (recorded, other_dimensions(item.shape))):
            lists.append(" ".join(verdict(case, inputs, [*others[:i], change, *others[i + 1:]])
                                  for change in changes))
        resource = item.dtype == tf.resource
        dtype = "resource" if resource else make_ops.dtype_name(item.dtype)
        yield "%s%s %s" % (item.kind, dtype, " | ".join(lists))


def main():
    with open(os.path.join(HERE, "shape_verdicts.txt"), "w") as out:
        out.write("# Verdicts of TensorFlow %s. Made by make_shape_verdicts.py; see README.md.\n" %
                  tf.__version__)
        for case in first_cases():
            out.write("\n".join(["%s %s" % (case.op, case.tag), *verdicts(case)]) + "\n")


if __name__ == "__main__":
    main()
