#!/usr/bin/env python3
"""Records TensorFlow's answers to the op cases of op_cases/ in ops/<family>.txt.

Usage: python make_ops.py [family ...]      (a Python that has TensorFlow 2.21 or 1.15)

Each case is one op in a graph of its own, imported as a GraphDef, run on CPU with every rewriting
switched off. The format of the files is described in README.md.
"""
import copy
import os
import shutil
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import importlib

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from op_cases.common import (  # noqa: E402
    OP,
    Const,
    Handle,
    Node,
    Uninitialized,
    UninitializedHandle,
    Variable,
)

v1 = tf.compat.v1
FAMILIES = sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "op_cases"))
                  if name.endswith(".py") and name not in ("__init__.py", "common.py"))
CODES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 8: "RESOURCE_EXHAUSTED",
         9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED", 13: "INTERNAL",
         15: "DATA_LOSS"}


def op_def_of(name):
    if hasattr(op_def_registry, "get"):
        return op_def_registry.get(name)
    return op_def_registry.get_registered_ops()[name]


def dtype_name(dtype):
    """TensorFlow's own name of a dtype: "float", "int32", ..."""
    enum = tf.as_dtype(dtype).as_datatype_enum
    return DTYPE_NAMES[enum]


DTYPE_NAMES = {1: "float", 2: "double", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
               8: "complex64", 9: "int64", 10: "bool", 11: "qint8", 12: "quint8", 13: "qint32",
               14: "bfloat16", 15: "qint16", 16: "quint16", 17: "uint16", 18: "complex128",
               19: "half", 21: "variant", 22: "uint32", 23: "uint64", 29: "int4", 30: "uint4"}
UNFETCHABLE = (tf.resource, tf.variant)


# ---- Building and running one case


def flatten(inputs):
    for item in inputs:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def value_of(item):
    return item.value if isinstance(item, (Const, Variable)) else item


def item_dtype(item):
    if isinstance(item, Uninitialized):
        return tf.as_dtype(item.dtype)
    value = value_of(item)
    return tf.string if value.dtype == object else tf.as_dtype(value.dtype)


def is_handle(item):
    return isinstance(item, (Handle, UninitializedHandle))


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def set_attr(attr, kind, value):
    """Fills an AttrValue of the kind that the op's signature says."""
    if kind == "int":
        attr.i = value
    elif kind == "float":
        attr.f = value
    elif kind == "bool":
        attr.b = value
    elif kind == "string":
        attr.s = as_bytes(value)
    elif kind == "type":
        attr.type = tf.as_dtype(value).as_datatype_enum
    elif kind == "shape":
        attr.shape.CopyFrom(tf.TensorShape(value).as_proto())
    elif kind == "tensor":
        attr.tensor.CopyFrom(v1.make_tensor_proto(value))
    elif kind == "list(int)":
        attr.list.i.extend(value)
        attr.list.SetInParent()
    elif kind == "list(float)":
        attr.list.f.extend(value)
        attr.list.SetInParent()
    elif kind == "list(bool)":
        attr.list.b.extend(value)
        attr.list.SetInParent()
    elif kind == "list(string)":
        attr.list.s.extend(as_bytes(v) for v in value)
        attr.list.SetInParent()
    elif kind == "list(shape)":
        attr.list.shape.extend(tf.TensorShape(v).as_proto() for v in value)
        attr.list.SetInParent()
    elif kind == "list(type)":
        attr.list.type[:] = [tf.as_dtype(t).as_datatype_enum for t in value]
        attr.list.SetInParent()
    else:
        raise ValueError("attribute kind " + kind)


def infer_attrs(op_def, inputs, node):
    """Dtypes and list lengths that follow from the inputs."""
    for arg, item in zip(op_def.input_arg, inputs):
        elements = item if isinstance(item, list) else [item]
        if any(isinstance(e, Node) for e in elements):
            continue
        if arg.number_attr:
            node.attr[arg.number_attr].i = len(elements)
        if arg.type_attr and elements and not is_handle(elements[0]):
            node.attr[arg.type_attr].type = item_dtype(elements[0]).as_datatype_enum
        if arg.type_list_attr:
            node.attr[arg.type_list_attr].list.type.extend(
                item_dtype(e).as_datatype_enum for e in elements)


def add_const(graph_def, name, value, dtype):
    node = graph_def.node.add(name=name, op="Const")
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.CopyFrom(v1.make_tensor_proto(value))


def add_handle(graph_def, node, item, assigns):
    """A handle, what reads it, and unless it has no value what assigns it."""
    name, dtype = node.name, item_dtype(item).as_datatype_enum
    unset = isinstance(item, UninitializedHandle)
    node.op = "VarHandleOp"
    node.attr["dtype"].type = dtype
    node.attr["shape"].shape.CopyFrom(
        tf.TensorShape(item.shape if unset else item.value.shape).as_proto())
    node.attr["shared_name"].s = name.encode()
    read = graph_def.node.add(name=name + "_read", op="ReadVariableOp")
    read.attr["dtype"].type = dtype
    read.input.append(name)
    if unset:
        return
    add_const(graph_def, name + "_value", item.value, dtype)
    assign = graph_def.node.add(name=name + "_assign", op="AssignVariableOp")
    assign.attr["dtype"].type = dtype
    assign.input.extend([name, name + "_value"])
    assigns.append(name + "_assign")


def nodes_of(case):
    """The nodes before the op and those that take what it gives, inputs first, each once."""
    before, after = [], []

    def visit(node):
        """True if the op is among what it needs."""
        if node is OP:
            return True
        if node in before or node in after:
            return node in after
        needs_op = any([visit(i) for i in [*flatten(node.inputs), *node.waits]
                        if isinstance(i, Node)])
        (after if needs_op else before).append(node)
        return needs_op

    for item in [*flatten(case.inputs), *case.waits, *case.first, *case.last]:
        if isinstance(item, Node):
            visit(item)
    return before, after


def name_of(case, node):
    before, after = nodes_of(case)
    return "op" if node is OP else "node%d" % (before + after).index(node)


def add_node(graph_def, case, node):
    name = name_of(case, node)
    inputs = []
    for index, item in enumerate(flatten(node.inputs)):
        if isinstance(item, Node):
            inputs.append(name_of(case, item))
            continue
        inputs.append("%s_%d" % (name, index))
        add_const(graph_def, inputs[-1], with_folder(item.value), item_dtype(item).as_datatype_enum)
    added = graph_def.node.add(name=name, op=node.op)
    added.input.extend(inputs + ["^" + name_of(case, waited) for waited in node.waits])
    infer_attrs(op_def_of(node.op), node.inputs, added)
    kinds = {a.name: a.type for a in op_def_of(node.op).attr}
    for key, value in node.attrs.items():
        set_attr(added.attr[key], kinds[key], with_folder(value))


# ---- The folder that "$TMP" stands for

FOLDER = os.path.join(tempfile.gettempdir(), "op-case-files")


def clear_folder():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)


def replaced(value, old, new):
    """Strings, and arrays and lists of them, with one text in place of another."""
    if isinstance(value, bytes):
        return value.replace(old.encode(), new.encode())
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [replaced(v, old, new) for v in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        copy_ = value.copy()
        for index in np.ndindex(*value.shape):
            copy_[index] = replaced(value[index], old, new)
        return copy_
    return value


def with_folder(value):
    return replaced(value, "$TMP", FOLDER)


def without_folder(value):
    return replaced(value, FOLDER, "$TMP")


def make_graph_def(case, known_shapes):
    graph_def = v1.GraphDef()
    graph_def.versions.producer = case.producer
    names, feeds, assigns, variables = [], {}, [], []
    op_def = op_def_of(case.op)
    before, after = nodes_of(case)
    for node in before:
        add_node(graph_def, case, node)
    for index, item in enumerate(flatten(case.inputs)):
        name = "in%d" % index
        if isinstance(item, Node):
            names.append(name_of(case, item))
            continue
        node = graph_def.node.add(name=name)
        dtype = item_dtype(item).as_datatype_enum
        names.append(name)
        if is_handle(item):
            add_handle(graph_def, node, item, assigns)
            variables.append(name + "_read")
        elif isinstance(item, (Variable, Uninitialized)):
            shape = item.shape if isinstance(item, Uninitialized) else item.value.shape
            node.op = "VariableV2"
            node.attr["dtype"].type = dtype
            if getattr(item, "any_shape", False):
                shape = None
            node.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())
            variables.append(name)
            if isinstance(item, Uninitialized):
                continue
            add_const(graph_def, name + "_value", item.value, dtype)
            assign = graph_def.node.add(name=name + "_assign", op="Assign")
            assign.attr["T"].type = dtype
            assign.attr["validate_shape"].b = not item.any_shape
            assign.input.extend([name, name + "_value"])
            assigns.append(name + "_assign")
        elif isinstance(item, Const) and known_shapes:
            node.op = "Const"
            node.attr["dtype"].type = dtype
            node.attr["value"].tensor.CopyFrom(
                v1.make_tensor_proto(with_folder(item.value), dtype=item_dtype(item)))
        else:
            node.op = "Placeholder"
            node.attr["dtype"].type = dtype
            value = value_of(item)
            if known_shapes:
                node.attr["shape"].shape.CopyFrom(tf.TensorShape(value.shape).as_proto())
            else:
                node.attr["shape"].shape.unknown_rank = True
            # Ops that work in place may change the copy.
            feeds[name + ":0"] = with_folder(value.copy())
    node = graph_def.node.add(name="op", op=case.op)
    node.input.extend(names + ["^" + name_of(case, waited) for waited in case.waits])
    infer_attrs(op_def, case.inputs, node)
    kinds = {a.name: a.type for a in op_def.attr}
    for key, value in case.attrs.items():
        set_attr(node.attr[key], kinds[key], with_folder(value))
    for node in after:
        add_node(graph_def, case, node)
    return graph_def, feeds, assigns, variables


def code_of(error):
    """The canonical code of an exception; errors of graph construction are invalid arguments."""
    code = getattr(error, "error_code", None)
    return CODES[code] if code is not None else "INVALID_ARGUMENT"


def value_after(session, name, feeds):
    try:
        return session.run(name, feeds)
    except (tf.errors.FailedPreconditionError, tf.errors.NotFoundError):
        return None


def fetchable(op):
    return [o for o in op.outputs if o.dtype.base_dtype not in UNFETCHABLE]


def values_after(session, case, variables, feeds):
    """Those of the variables, and what the last nodes give; None: none, or it is not there."""
    names = [name + ":0" for name in variables]
    for node in case.last:
        op = session.graph.get_operation_by_name(name_of(case, node))
        names += [o.name for o in fetchable(op)]
    return [without_folder(value_after(session, name, feeds)) for name in names]


def run_case(case, known_shapes=True):
    """(list of runs, static shapes, values of variables) or (stage, code, message)."""
    graph_def, feeds, assigns, variables = make_graph_def(case, known_shapes)
    with tf.Graph().as_default() as graph:
        graph.seed = None
        try:
            tf.import_graph_def(graph_def, name="")
        except (ValueError, tf.errors.OpError) as error:
            return "build", code_of(error), str(error)
        config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.optimizer_options.opt_level = -1
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        op = graph.get_operation_by_name("op")
        outputs = fetchable(op) if case.fetched else []
        clear_folder()
        with v1.Session(graph=graph, config=config) as session:
            try:
                session.run([graph.get_operation_by_name(n) for n in assigns])
                for node in case.first:
                    session.run(graph.get_operation_by_name(name_of(case, node)), feeds)
                runs = [session.run((outputs, op), feeds)[0] for _ in range(case.runs)]
                runs = [[without_folder(value) for value in run] for run in runs]
                after = values_after(session, case, variables, feeds)
            except tf.errors.OpError as error:
                return "run", code_of(error), str(error)
        statics = [None if o.shape.ndims is None else o.shape.as_list() for o in outputs]
        return runs, statics, after, [o.dtype.base_dtype for o in outputs]


# ---- Channels second


def permuted(values, order):
    return [values[k] for k in order]


def channels_last(case):
    """The case with its images, their shapes and its lists of dimensions transposed."""
    image_inputs, shape_inputs, _ = case.images
    rank = len(case.attrs["data_format"])
    order = [0, *range(2, rank), 1]
    last = copy.copy(case)
    last.inputs = list(case.inputs)
    for k in image_inputs:
        last.inputs[k] = np.transpose(case.inputs[k], order)
    for k in shape_inputs:
        last.inputs[k] = Const(case.inputs[k].value[order], case.inputs[k].value.dtype)
    last.attrs = {"data_format": "NHWC" if rank == 4 else "NDHWC"}
    for name, value in case.attrs.items():
        if name == "explicit_paddings":
            pairs = permuted([value[k:k + 2] for k in range(0, 2 * rank, 2)], order)
            last.attrs[name] = sum(pairs, [])
        elif name != "data_format":
            last.attrs[name] = permuted(value, order) if isinstance(value, list) else value
    return last


def run_channels_last(case):
    result = run_case(channels_last(case))
    if len(result) == 3:
        return result
    runs, statics, after, dtypes = result
    rank = len(case.attrs["data_format"])
    order = [0, rank - 1, *range(1, rank - 1)]
    for k in case.images[2]:
        for run in runs:
            run[k] = np.transpose(run[k], order)
        if statics[k] is not None:
            statics[k] = permuted(statics[k], order)
    return runs, statics, after, dtypes


# ---- Writing


def number_text(x):
    x = float(x)
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == int(x) and abs(x) < 1e6:
        return ("-0" if np.signbit(x) else "0") if x == 0 else str(int(x))
    head, exponent = x.hex().split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return head + "p" + exponent


def string_text(data):
    if isinstance(data, str):
        data = data.encode()
    out = ""
    for byte in data:
        plain = 32 < byte < 127 and byte not in (34, 92)
        out += chr(byte) if plain else "\\x%02x" % byte
    return '"' + out + '"'


def values_text(array, dtype):
    flat = np.asarray(array).reshape(-1)
    if dtype == tf.string:
        return [string_text(x) for x in flat]
    if dtype == tf.bool:
        return ["1" if x else "0" for x in flat]
    if flat.dtype.names:  # a quantized dtype is fed as an integer with a name
        flat = flat[flat.dtype.names[0]]
    if dtype.is_integer or dtype.is_quantized:
        return [str(int(x)) for x in flat]
    if dtype.is_complex:
        return [number_text(x.real) + ("," + number_text(x.imag) if x.imag != 0 else "")
                for x in flat]
    return [number_text(x) for x in flat]


def repeats(words):
    """Runs of four and more equal values as value*count."""
    out, i = [], 0
    while i < len(words):
        j = i
        while j < len(words) and words[j] == words[i]:
            j += 1
        if j - i >= 4:
            out.append("%s*%d" % (words[i], j - i))
        else:
            out.extend(words[i:j])
        i = j
    return out


def shape_text(shape):
    if shape is None:
        return "?"
    return "[" + ",".join("?" if d is None or d < 0 else str(d) for d in shape) + "]"


def as_objects(value):
    """A single string as an array of objects: NumPy's own kind of string drops NULs at the end."""
    if not isinstance(value, bytes):
        return value
    array = np.empty((), object)
    array[()] = value
    return array


def tensor_text(array, dtype):
    array = as_objects(array)
    array = np.asarray(array)
    words = [dtype_name(dtype), shape_text(array.shape)]
    return " ".join(words + repeats(values_text(array, dtype)))


def attr_text(op_def, name, value):
    kind = {a.name: a.type for a in op_def.attr}[name]
    if kind == "type":
        text = dtype_name(tf.as_dtype(value))
    elif kind == "list(type)":
        text = " ".join(dtype_name(tf.as_dtype(t)) for t in value)
    elif kind == "list(int)":
        text = " ".join(str(v) for v in value)
    elif kind == "list(float)":
        text = " ".join(number_text(np.float32(v)) for v in value)
    elif kind == "list(bool)":
        text = " ".join("1" if v else "0" for v in value)
    elif kind == "list(string)":
        text = " ".join(string_text(v) for v in value)
    elif kind == "list(shape)":
        text = " ".join(shape_text(v) for v in value)
    elif kind == "tensor":
        text = tensor_text(value, tf.string if value.dtype == object else tf.as_dtype(value.dtype))
    elif kind == "float":
        text = number_text(np.float32(value))
    elif kind == "bool":
        text = "1" if value else "0"
    elif kind == "shape":
        text = shape_text(value)
    elif kind == "string":
        text = string_text(value)
    else:
        text = str(value)
    if kind.startswith("list("):
        kind = kind[5:-1] + "s"
    return ("attr %s %s %s" % (name, kind, text)).rstrip()


def input_text(case, item):
    if isinstance(item, Node):
        return "from " + ("op" if item is OP else name_of(case, item)[4:])
    if isinstance(item, Uninitialized):
        word = "unset handle" if is_handle(item) else "unset"
        return "%s %s %s" % (word, dtype_name(item.dtype), shape_text(item.shape))
    word = ("const" if isinstance(item, Const) else
            "feed" if not isinstance(item, Variable) else
            "handle" if is_handle(item) else "var any" if item.any_shape else "var")
    return word + " " + tensor_text(value_of(item), item_dtype(item))


def wait_text(case, waited):
    return "wait " + ("op" if waited is OP else name_of(case, waited)[4:])


def node_lines(case, nodes):
    for node in nodes:
        role = "first" if node in case.first else "last" if node in case.last else "made"
        yield "node %s %s" % (role, node.op)
        for key, value in sorted(node.attrs.items()):
            yield attr_text(op_def_of(node.op), key, value)
        for item in flatten(node.inputs):
            yield input_text(case, item)
        for waited in node.waits:
            yield wait_text(case, waited)


def write_case(out, case):
    op_def = op_def_of(case.op)
    result = run_case(case) if case.images is None else run_channels_last(case)
    if len(result) == 3 and not case.tag.startswith("bad_"):
        print("left out, TensorFlow cannot do it:", case.op, case.tag, result[0], result[1])
        return
    before, last = nodes_of(case)
    lines = ["case %s %s" % (case.op, case.tag), *node_lines(case, before)]
    if before:
        lines.append("node op")
    lines += [attr_text(op_def, k, v) for k, v in sorted(case.attrs.items())]
    lines += [input_text(case, item) for item in flatten(case.inputs)]
    lines += [wait_text(case, waited) for waited in case.waits]
    if not case.fetched:
        lines.append("unfetched")
    if len(result) == 3:
        code = result[1]
        other = run_case(case, known_shapes=False)
        lines.append("error %s %s" % (code, other[1] if len(other) == 3 else "OK"))
        lines += node_lines(case, last)
    else:
        runs, statics, after, dtypes = result
        if case.tag.startswith("bad_"):
            print("UNEXPECTED SUCCESS", case.op, case.tag, runs[0])
        if case.gradient:
            lines.append("gradient")
        if case.tolerance is not None:
            lines.append("tolerance " + number_text(case.tolerance))
        for number, values in enumerate(runs):
            if number > 0:
                lines.append("again")
            for index, value in case.instead.items():
                values[index] = value
            for value, static, dtype in zip(values, statics, dtypes):
                shape = list(np.asarray(value).shape)
                suffix = "" if static == shape else " static " + shape_text(static)
                lines.append("out" + suffix + " " + tensor_text(value, dtype))
        lines += node_lines(case, last)
        for value in map(as_objects, after):
            lines.append("after unset" if value is None else "after " + tensor_text(
                value, tf.string if np.asarray(value).dtype == object else
                tf.as_dtype(np.asarray(value).dtype)))
    out.write("\n".join(lines) + "\nend\n")


def main():
    families = sys.argv[1:] or FAMILIES
    for family in families:
        module = importlib.import_module("op_cases." + family)
        version = getattr(module, "TENSORFLOW", "2.")
        if not tf.__version__.startswith(version):
            print(family, "is recorded with TensorFlow", version + "x, not", tf.__version__)
            continue
        cases = module.cases()
        seen = set()
        path = os.path.join(HERE, "ops", family + ".txt")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write("# Answers of TensorFlow %s. Made by make_ops.py; see README.md.\n" %
                      tf.__version__)
            for case in cases:
                key = (case.op, case.tag)
                if key in seen:
                    raise ValueError("two cases called %s %s" % key)
                seen.add(key)
                write_case(out, case)
        print(family, len(cases), "cases,", len({c.op for c in cases}), "ops,",
              os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main()
