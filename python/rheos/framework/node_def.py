"""Operations and attribute values in the form of TensorFlow's messages."""

from rheos.framework import dtypes, signatures

_DT_NAMES = {
    "float32": "DT_FLOAT",
    "float64": "DT_DOUBLE",
    "float16": "DT_HALF",
}


def _dt_name(dtype):
    base = _DT_NAMES.get(dtype.base_dtype.name) or "DT_" + dtype.base_dtype.name.upper()
    return base + "_REF" if dtype._is_ref_dtype else base


_VALUE_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    **dict.fromkeys(("int32", "int16", "int8", "uint16", "uint8"), "int_val"),
}
_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _escaped(data):
    """Bytes as the text form of messages quotes them."""
    return "".join(
        _ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in data
    )


class Dim:
    """One dimension: its size, -1 if it is not known."""

    def __init__(self, size):
        self.size = size
        self.name = ""


class TensorShapeProto:
    """A shape: `dim`, a list of objects with `size`, and `unknown_rank`."""

    Dim = Dim

    def __init__(self, dims):
        self.unknown_rank = dims is None
        self.dim = [Dim(-1 if d is None else d) for d in dims or ()]

    def _lines(self, indent):
        if self.unknown_rank:
            yield indent + "unknown_rank: true"
        for dim in self.dim:
            yield indent + "dim {"
            if dim.size != 0:
                yield f"{indent}  size: {dim.size}"
            yield indent + "}"

    def __repr__(self):
        return "".join(line + "\n" for line in self._lines(""))


class TensorProto:
    """A constant: `dtype`, `tensor_shape` and the values, which make_ndarray() gives."""

    def __init__(self, array):
        import numpy as np

        self._array = np.asarray(array)
        kind = (
            dtypes.string if self._array.dtype.kind in "OSU" else dtypes.as_dtype(self._array.dtype)
        )
        self.dtype = kind.as_datatype_enum
        self.tensor_shape = TensorShapeProto(self._array.shape)

    def _lines(self, indent):
        yield f"{indent}dtype: {_dt_name(dtypes.as_dtype(self.dtype))}"
        yield indent + "tensor_shape {"
        yield from self.tensor_shape._lines(indent + "  ")
        yield indent + "}"
        yield from self._value_lines(indent)

    def _value_lines(self, indent):
        kind = dtypes.as_dtype(self.dtype)
        array = self._array
        if kind == dtypes.string:
            for item in array.ravel():
                text = item if isinstance(item, bytes) else str(item).encode()
                yield f'{indent}string_val: "{_escaped(text)}"'
        elif kind == dtypes.bool:
            for item in array.ravel():
                yield f"{indent}bool_val: {'true' if item else 'false'}"
        elif kind == dtypes.float16:
            for bits in array.ravel().view("uint16"):
                yield f"{indent}half_val: {bits}"
        elif array.size > 1:
            yield f'{indent}tensor_content: "{_escaped(array.tobytes())}"'
        elif array.size == 1 and kind.name in _VALUE_FIELDS:
            value = array.ravel()[0]
            number = float(value) if kind.is_floating else int(value)
            yield f"{indent}{_VALUE_FIELDS[kind.name]}: {number}"

    def __repr__(self):
        return "".join(line + "\n" for line in self._lines(""))


def make_ndarray(tensor):
    """The values of a TensorProto, as an array."""
    return tensor._array.copy()


def attr_value(kind, value):
    """A shape or tensor, or a list of them, as messages."""
    if kind == signatures.SHAPE:
        return TensorShapeProto(value)
    if kind == signatures.TENSOR:
        return TensorProto(value)
    return [attr_value(kind - 9, item) for item in value]


class AttrValue:
    """An attribute of a node: the field of its kind is set."""

    def __init__(self, kind, value):
        self.kind = kind
        self.value = value

    def __getattr__(self, name):
        fields = {
            "s": signatures.STRING,
            "i": signatures.INT,
            "f": signatures.FLOAT,
            "b": signatures.BOOL,
            "type": signatures.TYPE,
            "shape": signatures.SHAPE,
            "tensor": signatures.TENSOR,
        }
        if name not in fields:
            raise AttributeError(name)
        if self.kind != fields[name]:
            return {"s": b"", "i": 0, "f": 0.0, "b": False, "type": 0}.get(name)
        if name == "type":
            return self.value.as_datatype_enum
        return attr_value(self.kind, self.value) if name in ("shape", "tensor") else self.value

    def _lines(self, indent):
        kind, value = self.kind, self.value
        if kind > 9:
            yield indent + "list {"
            for item in value:
                yield from AttrValue(kind - 9, item)._lines(indent + "  ")
            yield indent + "}"
        elif kind == signatures.STRING:
            yield f'{indent}s: "{_escaped(value)}"'
        elif kind == signatures.INT:
            yield f"{indent}i: {value}"
        elif kind == signatures.FLOAT:
            yield f"{indent}f: {value}"
        elif kind == signatures.BOOL:
            yield f"{indent}b: {'true' if value else 'false'}"
        elif kind == signatures.TYPE:
            yield f"{indent}type: {_dt_name(value)}"
        else:
            yield indent + ("shape {" if kind == signatures.SHAPE else "tensor {")
            yield from attr_value(kind, value)._lines(indent + "  ")
            yield indent + "}"

    def __repr__(self):
        return "".join(line + "\n" for line in self._lines(""))


class NodeDef:
    """A node: `name`, `op`, `input`, `device` and `attr`, a dict of AttrValue."""

    def __init__(self, name, op, inputs, device, attrs):
        self.name = name
        self.op = op
        self.input = inputs
        self.device = device
        self.attr = attrs

    def __repr__(self):
        lines = [f'name: "{self.name}"', f'op: "{self.op}"']
        lines += [f'input: "{i}"' for i in self.input]
        if self.device:
            lines.append(f'device: "{self.device}"')
        for key in sorted(self.attr):
            lines += ["attr {", f'  key: "{key}"', "  value {"]
            lines += self.attr[key]._lines("    ")
            lines += ["  }", "}"]
        return "".join(line + "\n" for line in lines)


def of_operation(op):
    """The NodeDef of an operation."""
    inputs = [t.op.name if t.value_index == 0 else t.name for t in op.inputs] + [
        "^" + c.name for c in op.control_inputs
    ]
    attrs = {name: AttrValue(*op._attr(name)) for name in op._attr_names()}
    return NodeDef(op.name, op.type, inputs, op.device, attrs)


class VersionDef:
    """The versions of TensorFlow's graph format that a graph fits."""

    def __init__(self, producer, min_consumer=0):
        self.producer = producer
        self.min_consumer = min_consumer

    def __repr__(self):
        return f"producer: {self.producer}\n"


def of_graph(graph, count=None):
    """The NodeDefs of the first `count` operations of a graph, by default of all."""
    return [of_operation(op) for op in graph.get_operations()[:count]]


def text_of_nodes(nodes, versions):
    """A GraphDef in the text form of messages."""
    lines = []
    for node in nodes:
        lines.append("node {")
        lines += ["  " + line for line in repr(node).splitlines()]
        lines.append("}")
    lines += ["versions {", f"  producer: {versions.producer}", "}"]
    return "".join(line + "\n" for line in lines)
