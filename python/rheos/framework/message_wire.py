"""Protocol buffers as bytes: the scalar types, encoding and decoding."""

import operator
from array import array
from struct import Struct

MAX_DEPTH = 100  # of nested messages in bytes, as Google's package has it
_MASK = (1 << 64) - 1
VARINT, FIXED_64, BYTES, GROUP, END_GROUP, FIXED_32 = range(6)
_SINGLE, _DOUBLE = Struct("<f"), Struct("<d")


class DecodeError(Exception):
    """The bytes are no such message."""


# ---- Scalar types


def _wrong_type(value, expected):
    return TypeError(f"{value!r} has type {type(value).__name__}, but expected one of: {expected}")


class Scalar:
    """A scalar type: how values are checked, shown and written."""

    wire_type = VARINT
    default = 0

    def __init__(self, name):
        self.name = name

    def check_all(self, values):
        """A list of the values in any iterable, each checked."""
        return [self.check(value) for value in _plain(values)]

    def text(self, value):
        return str(value)


def _plain(values):
    # Elements of NumPy's vectors one by one would be slow objects of NumPy's own.
    return values.tolist() if getattr(values, "ndim", None) == 1 else values


class Integer(Scalar):
    def __init__(self, name, low, high, fixed=None):
        super().__init__(name)
        self.low, self.high = low, high
        self.zigzag = name.startswith("sint")
        if fixed is not None:
            self.struct = Struct(fixed)
            self.wire_type = FIXED_32 if self.struct.size == 4 else FIXED_64

    def check(self, value):
        try:
            number = int(operator.index(value))
        except TypeError:
            raise _wrong_type(value, "int") from None
        if not self.low <= number <= self.high:
            raise ValueError(f"Value out of range: {number}")
        return number

    def check_all(self, values):
        values = list(_plain(values))
        if values and set(map(type, values)) == {int}:
            if self.low <= min(values) and max(values) <= self.high:
                return values
        return [self.check(value) for value in values]

    def to_varint(self, value):
        if self.zigzag:
            return (value << 1 ^ value >> 63) & _MASK
        return value & _MASK

    def from_varint(self, value):
        if self.zigzag:
            return value >> 1 ^ -(value & 1)
        if self.high.bit_length() <= 32:
            value &= 0xFFFFFFFF
        return value - 2 * (self.high + 1) if self.low < 0 and value > self.high else value


class Enum(Integer):
    """An enum: Name and Value translate, and each value is an attribute."""

    def __init__(self, name, numbers):
        super().__init__(name, -(1 << 31), (1 << 31) - 1)
        self._numbers = numbers
        self._names = {}
        for text, number in numbers.items():
            self._names.setdefault(number, text)
        self.default = next(iter(numbers.values()), 0)

    def check(self, value):
        return self.Value(value) if isinstance(value, str) else super().check(value)

    def text(self, value):
        return self._names.get(value, str(value))

    def Name(self, number):
        """The name of a value."""
        if number not in self._names:
            raise ValueError(f"Enum {self.name} has no name defined for value {number!r}")
        return self._names[number]

    def Value(self, name):
        """The value of a name."""
        if name not in self._numbers:
            raise ValueError(f"Enum {self.name} has no value defined for name {name!r}")
        return self._numbers[name]

    def keys(self):
        return list(self._numbers)

    def values(self):
        return list(self._numbers.values())

    def items(self):
        return list(self._numbers.items())

    def __getattr__(self, name):
        numbers = self.__dict__.get("_numbers", {})
        if name not in numbers:
            raise AttributeError(f"enum {self.__dict__.get('name')} has no value {name}")
        return numbers[name]


class Bool(Scalar):
    default = False

    def check(self, value):
        if value is None or not hasattr(value, "__bool__"):
            raise _wrong_type(value, "int, bool")
        return bool(value)

    def text(self, value):
        return "true" if value else "false"

    def to_varint(self, value):
        return int(value)

    def from_varint(self, value):
        return value != 0


class Float(Scalar):
    default = 0.0

    def __init__(self, name, code):
        super().__init__(name)
        self.code = code
        self.struct = _SINGLE if code == "f" else _DOUBLE
        self.wire_type = FIXED_32 if code == "f" else FIXED_64

    def check(self, value):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            return array(self.code, (float(value),))[0]
        except TypeError:
            raise _wrong_type(value, "int, float") from None

    def check_all(self, values):
        values = list(_plain(values))
        if set(map(type, values)) <= {float, int}:
            return array(self.code, values).tolist()
        return [self.check(value) for value in values]


class Bytes(Scalar):
    wire_type = BYTES
    default = b""

    def check(self, value):
        if not isinstance(value, bytes):
            raise _wrong_type(value, "bytes")
        return bytes(value)

    def text(self, value):
        return '"' + "".join(map(_escaped, value)) + '"'

    def to_bytes(self, value):
        return value

    def from_bytes(self, data):
        return data


class String(Bytes):
    default = ""

    def check(self, value):
        if isinstance(value, str):
            return str(value)
        if not isinstance(value, bytes):
            raise _wrong_type(value, "bytes, unicode")
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ValueError(
                f"{value!r} has type str, but isn't valid UTF-8 encoding. Non-UTF-8 strings must "
                "be converted to unicode objects before being added."
            ) from None

    def text(self, value):
        return super().text(value.encode("utf-8", "surrogatepass"))

    def to_bytes(self, value):
        return value.encode()

    def from_bytes(self, data):
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise DecodeError from None


_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _escaped(byte):
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _integer(name, bits, signed, fixed=None):
    high = (1 << (bits - 1 if signed else bits)) - 1
    return Integer(name, -high - 1 if signed else 0, high, fixed)


SCALARS = {
    kind.name: kind
    for kind in (
        _integer("int32", 32, True),
        _integer("int64", 64, True),
        _integer("uint32", 32, False),
        _integer("uint64", 64, False),
        _integer("sint32", 32, True),
        _integer("sint64", 64, True),
        _integer("fixed32", 32, False, "<I"),
        _integer("fixed64", 64, False, "<Q"),
        _integer("sfixed32", 32, True, "<i"),
        _integer("sfixed64", 64, True, "<q"),
        Bool("bool"),
        Float("float", "f"),
        Float("double", "d"),
        String("string"),
        Bytes("bytes"),
    )
}


# ---- Encoding


def _put_varint(out, value):
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _put_value(out, number, kind, value):
    """A field with its tag."""
    if not isinstance(kind, Scalar) or kind.wire_type == BYTES:
        data = kind.to_bytes(value) if isinstance(kind, Scalar) else encode(value)
        _put_varint(out, number << 3 | BYTES)
        _put_varint(out, len(data))
        out += data
        return
    _put_varint(out, number << 3 | kind.wire_type)
    if kind.wire_type == VARINT:
        _put_varint(out, kind.to_varint(value))
    else:
        out += kind.struct.pack(value) if not isinstance(kind, Float) else _float_bytes(kind, value)


def _float_bytes(kind, value):
    return array(kind.code, (value,)).tobytes()


def _packed(kind, values):
    if isinstance(kind, Float):
        return array(kind.code, values).tobytes()
    out = bytearray()
    if kind.wire_type != VARINT:
        for value in values:
            out += kind.struct.pack(value)
        return out
    for value in values:
        _put_varint(out, kind.to_varint(value))
    return out


def encode(message):
    """The bytes of a message."""
    out = bytearray()
    for field, value in message.ListFields():
        if isinstance(value, dict):
            for key in sorted(value):
                entry = bytearray()
                _put_value(entry, 1, field.key, key)
                _put_value(entry, 2, field.type, value[key])
                _put_varint(out, field.number << 3 | BYTES)
                _put_varint(out, len(entry))
                out += entry
        elif not isinstance(value, list):
            _put_value(out, field.number, field.type, value)
        elif field.packed:
            data = _packed(field.type, value)
            _put_varint(out, field.number << 3 | BYTES)
            _put_varint(out, len(data))
            out += data
        else:
            for item in value:
                _put_value(out, field.number, field.type, item)
    return bytes(out + message._unknown)


# ---- Decoding


def _varint(data, at, end):
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _MASK, at
        shift += 7
        if shift == 70:
            break
    raise DecodeError


def _fixed(data, at, end, size):
    if end - at < size:
        raise DecodeError
    return at + size


def _span(data, at, end):
    size, at = _varint(data, at, end)
    if size > end - at:
        raise DecodeError
    return at, at + size


def _skip(data, at, end, tag, depth):
    """Behind the value of a field that is not known."""
    wire_type = tag & 7
    if wire_type == VARINT:
        return _varint(data, at, end)[1]
    if wire_type == BYTES:
        return _span(data, at, end)[1]
    if wire_type in (FIXED_32, FIXED_64):
        return _fixed(data, at, end, 4 if wire_type == FIXED_32 else 8)
    if wire_type != GROUP or depth >= MAX_DEPTH:
        raise DecodeError
    while True:
        inner, at = _varint(data, at, end)
        if inner & 7 == END_GROUP:
            if inner >> 3 != tag >> 3:
                raise DecodeError
            return at
        at = _skip(data, at, end, inner, depth + 1)


def _read_scalar(kind, data, at, end):
    if kind.wire_type == VARINT:
        value, at = _varint(data, at, end)
        return kind.from_varint(value), at
    if kind.wire_type == BYTES:
        start, at = _span(data, at, end)
        return kind.from_bytes(data[start:at]), at
    behind = _fixed(data, at, end, kind.struct.size)
    return kind.struct.unpack(data[at:behind])[0], behind


def _read_packed(kind, data, at, end):
    if isinstance(kind, Float):
        if (end - at) % kind.struct.size:
            raise DecodeError
        values = array(kind.code)
        values.frombytes(data[at:end])
        return values.tolist()
    values = []
    while at < end:
        value, at = _read_scalar(kind, data, at, end)
        values.append(value)
    return values


def _read_entry(field, data, at, end, depth):
    """A map's entry: the key, and the bytes or the value behind it."""
    key, value = field.key.default, None
    is_scalar = isinstance(field.type, Scalar)
    if is_scalar:
        value = field.type.default
    else:
        value = field.type()
    while at < end:
        tag, at = _varint(data, at, end)
        if tag == 1 << 3 | field.key.wire_type:
            key, at = _read_scalar(field.key, data, at, end)
        elif is_scalar and tag == 2 << 3 | field.type.wire_type:
            value, at = _read_scalar(field.type, data, at, end)
        elif not is_scalar and tag == 2 << 3 | BYTES:
            start, at = _span(data, at, end)
            _merge(value, data, start, at, depth + 1)
        else:
            at = _skip(data, at, end, tag, depth)
    return key, value


def _merge(message, data, at, end, depth):
    if depth > MAX_DEPTH:
        raise DecodeError
    fields = message.DESCRIPTOR.fields_by_number
    unknown = bytearray()
    while at < end:
        start = at
        tag, at = _varint(data, at, end)
        if not 0 < tag >> 3 < 1 << 29:
            raise DecodeError
        field = fields.get(tag >> 3)
        behind = None
        if field is not None:
            behind = _merge_field(message, field, tag & 7, data, at, end, depth)
        if behind is None:
            behind = _skip(data, at, end, tag, depth)
            unknown += data[start:behind]
        at = behind
    message._unknown += unknown


def _merge_field(message, field, wire_type, data, at, end, depth):
    """Reads one field; the place behind it, or None if it is written as another type."""
    kind, held = field.type, field.__get__(message)
    is_scalar = isinstance(kind, Scalar)
    if isinstance(held, dict) or not is_scalar:
        if wire_type != BYTES:
            return None
        at, end = _span(data, at, end)
        if isinstance(held, dict):
            key, value = _read_entry(field, data, at, end, depth + 1)
            dict.__setitem__(held, key, value)
            return end
        nested = held.add() if isinstance(held, list) else held
        nested._touch()
        _merge(nested, data, at, end, depth + 1)
        return end
    if isinstance(held, list) and wire_type == BYTES and kind.wire_type != BYTES:
        at, end = _span(data, at, end)
        list.extend(held, _read_packed(kind, data, at, end))
        return end
    if wire_type != kind.wire_type:
        return None
    value, at = _read_scalar(kind, data, at, end)
    if isinstance(held, list):
        list.append(held, value)
    else:
        field.__set__(message, value)
    return at


def decode(message, serialized):
    """Merges the bytes into a message."""
    data = bytes(serialized)
    _merge(message, data, 0, len(data), 0)
