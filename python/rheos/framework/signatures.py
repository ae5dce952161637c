"""Signatures of ops, read from the text that the C library keeps for each."""

import sys

from rheos import _core
from rheos.framework import dtypes

# The kinds of attributes, numbered as rheos_attr_kind.
STRING, INT, FLOAT, BOOL, TYPE, SHAPE, TENSOR, FUNC = 1, 2, 3, 4, 5, 6, 7, 8
LIST = 9  # added to STRING - 1 and so on: a list of them
_KINDS = {
    "string": STRING,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "type": TYPE,
    "shape": SHAPE,
    "tensor": TENSOR,
    "func": FUNC,
}


def list_kind(kind):
    """The number of 'list of kind'."""
    return 10 + kind - STRING if kind != FUNC else 17


class ArgDef:
    """An input or output: its name, and where its dtype and length come from."""

    __slots__ = ("name", "dtype", "type_attr", "number_attr", "type_list_attr", "is_ref")

    def __init__(self, name):
        self.name = name
        self.dtype = None
        self.type_attr = ""
        self.number_attr = ""
        self.type_list_attr = ""
        self.is_ref = False

    @property
    def type(self):
        return self.dtype.as_datatype_enum if self.dtype else 0


class AttrDef:
    """An attribute: its name, its kind, and its default."""

    __slots__ = ("name", "kind", "type", "default", "has_default")

    def __init__(self, name, kind, text):
        self.name = name
        self.kind = kind
        self.type = text
        self.default = None
        self.has_default = False


def _quick(inputs, attrs):
    """What the extension takes of a signature to run the op at once.

    None if an input is a reference or a list of several dtypes.

    By input what it is and whether it is a list: the number of a dtype, or that of an attribute,
    counted from -1 downwards; the defaults of these attributes; by attribute (name, kind).
    """
    kinds, names = [], []
    for arg in inputs:
        if arg.type_list_attr or arg.is_ref:
            return None
        if arg.dtype is None and arg.type_attr not in names:
            names.append(arg.type_attr)
        kinds.append(arg.type if arg.dtype else 255 - names.index(arg.type_attr))
    lists = bytes(bool(arg.number_attr) for arg in inputs)
    defaults = [attrs[n].default.as_datatype_enum if attrs[n].has_default else 0 for n in names]
    described = tuple((sys.intern(name), attr.kind) for name, attr in attrs.items())
    return bytes(kinds), lists, bytes(defaults), described


class OpDef:
    """The signature of an op."""

    __slots__ = ("name", "input_arg", "output_arg", "attr", "_attrs", "_takes_references", "_quick")

    def __init__(self, name, inputs, outputs, attrs):
        self.name = name
        self.input_arg = inputs
        self.output_arg = outputs
        self.attr = attrs
        self._attrs = {a.name: a for a in attrs}
        self._takes_references = any(a.is_ref for a in inputs)
        self._quick = _quick(inputs, self._attrs)


def _parse_arg(text, list_attrs, attr_names):
    name, _, kind = text.partition(":")
    arg = ArgDef(name.strip())
    kind = kind.strip()
    if kind.startswith("Ref("):
        arg.is_ref = True
        kind = kind[4:-1].strip()
    if "*" in kind:
        number, _, kind = kind.partition("*")
        arg.number_attr = number.strip()
        kind = kind.strip()
    if kind in list_attrs:
        arg.type_list_attr = kind
        return arg
    if kind in attr_names:
        arg.type_attr = kind
    else:
        arg.dtype = dtypes.as_dtype(kind)
    return arg


def _parse_default(text, kind):
    if kind == TYPE:
        return dtypes.as_dtype(text)
    if text in ("true", "false"):
        return text == "true"
    if kind == INT:
        return int(text)
    if kind == FLOAT:
        return float(text)
    if kind == STRING:
        return text[1:-1].encode()
    return text


def _parse_attr(text):
    name, _, rest = text.partition(":")
    rest = rest.strip()
    default = None
    depth = 0
    for i, c in enumerate(rest):
        depth += c in "{(["
        depth -= c in "})]"
        if c == "=" and depth == 0 and rest[i - 1] != ">":
            rest, default = rest[:i].strip(), rest[i + 1 :].strip()
            break
    kind_text = rest.partition(">=")[0].strip()
    inner = kind_text[5:-1].strip() if kind_text.startswith("list(") else kind_text
    if inner.startswith("{"):
        kind = STRING if '"' in inner else TYPE
    else:
        kind = _KINDS.get(inner, TYPE)
    attr = AttrDef(name.strip(), list_kind(kind) if inner is not kind_text else kind, kind_text)
    if default is not None:
        attr.has_default = True
        attr.default = default if inner is not kind_text else _parse_default(default, kind)
    return attr


def _parse(op_type, text):
    args, *attr_texts = text.split(";")
    attrs = [_parse_attr(a) for a in attr_texts if a.strip()]
    list_attrs = {a.name for a in attrs if a.kind == list_kind(TYPE)}
    attr_names = {a.name for a in attrs}
    inputs, _, outputs = args.partition("->")

    def parse_args(part):
        return [_parse_arg(a, list_attrs, attr_names) for a in part.split(",") if a.strip()]

    return OpDef(op_type, parse_args(inputs), parse_args(outputs), attrs)


_cache = {}


def op_def(op_type):
    """The OpDef of an op; None if there is no such op."""
    found = _cache.get(op_type)
    if found is None:
        text = _core.op_signature(op_type)
        if text is None:
            return None
        found = _cache[op_type] = _parse(op_type, text)
    return found
