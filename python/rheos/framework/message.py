"""Protocol buffers as Python objects, made from declarations in the protocol buffer language.

A message behaves as those of Google's package do: fields are attributes, nested messages exist when
they are first looked at and are set when something in them is, repeated fields are lists and maps
dicts that check what is put into them.
"""

from rheos.framework import message_wire
from rheos.framework.message_wire import DecodeError

# ---- Fields: at the same time descriptions, and the attributes of the classes


class Field:
    """A field of a message class: name, number, type, and the `oneof` it belongs to or None."""

    LABEL_OPTIONAL, LABEL_REPEATED = 1, 3
    label = LABEL_OPTIONAL

    def __init__(self, name, number, kind, oneof=None):
        self.name, self.number, self.type, self.oneof = name, number, kind, oneof
        self.has_presence = oneof is not None
        self.packed = False

    @property
    def message_type(self):
        """The descriptor of the messages it holds; None for others."""
        return getattr(self.type, "DESCRIPTOR", None)

    def __set__(self, message, value):
        raise AttributeError(
            f'Assignment not allowed to repeated field "{self.name}" in protocol message object.'
        )

    def is_set(self, message):
        return bool(message._values.get(self.name))

    def __repr__(self):
        return f"<field {self.name} = {self.number}>"


class ScalarField(Field):
    """A number, a truth value, a string or bytes."""

    def __get__(self, message, owner=None):
        if message is None:
            return self
        return message._values.get(self.name, self.type.default)

    def __set__(self, message, value):
        value = self.type.check(value)
        if self.oneof is not None:
            message._choose(self)
        if value or self.has_presence:
            message._values[self.name] = value
        else:
            message._values.pop(self.name, None)
        message._touch()

    def is_set(self, message):
        return self.name in message._values

    def assign(self, message, value):
        self.__set__(message, value)

    def merge(self, message, value):
        self.__set__(message, value)


class MessageField(Field):
    """One nested message."""

    has_presence = True

    def __init__(self, name, number, kind, oneof=None):
        super().__init__(name, number, kind, oneof)
        self.has_presence = True

    def __get__(self, message, owner=None):
        if message is None:
            return self
        nested = message._values.get(self.name)
        if nested is None:
            nested = message._values[self.name] = self.type()
            nested._pending = (message, self)
        return nested

    def __set__(self, message, value):
        raise AttributeError(
            f'Assignment not allowed to field "{self.name}" in protocol message object.'
        )

    def is_set(self, message):
        nested = message._values.get(self.name)
        return nested is not None and nested._pending is None

    def assign(self, message, value):
        nested = self.__get__(message)
        nested._touch()
        if isinstance(value, dict):
            nested.__init__(**value)
        else:
            nested.MergeFrom(value)

    def merge(self, message, value):
        nested = self.__get__(message)
        nested._touch()
        nested.MergeFrom(value)


class RepeatedField(Field):
    """Many values of one type."""

    label = Field.LABEL_REPEATED
    has_presence = False

    def __get__(self, message, owner=None):
        if message is None:
            return self
        held = message._values.get(self.name)
        if held is None:
            kind = Repeated if isinstance(self.type, message_wire.Scalar) else RepeatedMessages
            held = message._values[self.name] = kind(self.type, message)
        return held

    def assign(self, message, value):
        self.__get__(message).extend(value)

    merge = assign


class MapField(Field):
    """A map from strings or integers to values of one type."""

    label = Field.LABEL_REPEATED
    has_presence = False

    def __init__(self, name, number, key, kind):
        super().__init__(name, number, kind)
        self.key = key

    def __get__(self, message, owner=None):
        if message is None:
            return self
        held = message._values.get(self.name)
        if held is None:
            kind = Map if isinstance(self.type, message_wire.Scalar) else MessageMap
            held = message._values[self.name] = kind(self.key, self.type, message)
        return held

    def assign(self, message, value):
        self.__get__(message)._take(value)

    merge = assign


# ---- What repeated fields and maps hold


class _Held:
    """What is inside a message that is not set yet: the first change sets the message."""

    __slots__ = ()

    def _watch(self, message):
        self._owner = message if message._pending is not None else None

    def _changed(self):
        if self._owner is not None:
            self._owner._touch()
            self._owner = None


class Repeated(list, _Held):
    """A list of scalars of one type."""

    __slots__ = ("_owner", "_type")

    def __init__(self, kind, message):
        list.__init__(self)
        self._type = kind
        self._watch(message)

    def append(self, value):
        list.append(self, self._type.check(value))
        self._changed()

    def insert(self, index, value):
        list.insert(self, index, self._type.check(value))
        self._changed()

    def extend(self, values):
        if values is None:
            return
        try:
            iter(values)
        except TypeError:
            raise TypeError("Value must be iterable") from None
        values = self._type.check_all(values)
        if values:
            list.extend(self, values)
            self._changed()

    MergeFrom = extend

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __setitem__(self, index, value):
        many = isinstance(index, slice)
        list.__setitem__(
            self, index, self._type.check_all(value) if many else self._type.check(value)
        )
        self._changed()

    def __deepcopy__(self, memo):
        return list(self)

    def __reduce__(self):
        return list, (list(self),)


class RepeatedMessages(list, _Held):
    """A list of messages of one type."""

    __slots__ = ("_owner", "_type")

    def __init__(self, kind, message):
        list.__init__(self)
        self._type = kind
        self._watch(message)

    def add(self, **fields):
        """Appends a new message and returns it."""
        made = self._type(**fields)
        list.append(self, made)
        self._changed()
        return made

    def _copy(self, value):
        made = self._type()
        made.MergeFrom(value)
        return made

    def append(self, value):
        list.append(self, self._copy(value))
        self._changed()

    def insert(self, index, value):
        list.insert(self, index, self._copy(value))
        self._changed()

    def extend(self, values):
        made = [
            self._type(**value) if isinstance(value, dict) else self._copy(value)
            for value in values or ()
        ]
        if made:
            list.extend(self, made)
            self._changed()

    MergeFrom = extend

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __setitem__(self, index, value):
        raise TypeError("'RepeatedCompositeContainer' object does not support item assignment")

    def __deepcopy__(self, memo):
        return [self._copy(value) for value in self]

    def __reduce__(self):
        return list, (list(self),)


class Map(dict, _Held):
    """A map to scalars; a key that is looked up and missing gets the default."""

    __slots__ = ("_key", "_owner", "_type")

    def __init__(self, key, kind, message):
        dict.__init__(self)
        self._key, self._type = key, kind
        self._watch(message)

    def __missing__(self, key):
        self[key] = self._type.default
        return self[key]

    def __getitem__(self, key):
        return dict.__getitem__(self, self._key.check(key))

    def __contains__(self, key):
        return dict.__contains__(self, self._key.check(key))

    def __setitem__(self, key, value):
        dict.__setitem__(self, self._key.check(key), self._type.check(value))
        self._changed()

    def _take(self, items):
        self.update(items)

    def update(self, *args, **fields):
        for key, value in dict(*args, **fields).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def MergeFrom(self, other):
        self._take(other)

    def __deepcopy__(self, memo):
        return dict(self)

    def __reduce__(self):
        return dict, (dict(self),)


class MessageMap(dict, _Held):
    """A map to messages; a key that is looked up and missing gets an empty one."""

    __slots__ = ("_key", "_owner", "_type")

    __init__ = Map.__init__
    __getitem__ = Map.__getitem__
    __contains__ = Map.__contains__
    __reduce__ = Map.__reduce__

    def __missing__(self, key):
        made = self._type()
        dict.__setitem__(self, key, made)
        self._changed()
        return made

    get_or_create = __getitem__

    def __setitem__(self, key, value):
        raise ValueError("Direct assignment of submessage not allowed")

    def setdefault(self, key, default=None):
        raise ValueError("Set message map value directly is not supported")

    def update(self, *args, **fields):
        raise ValueError("Direct assignment of submessage not allowed")

    def _take(self, items):
        for key in items:
            self[key].CopyFrom(items[key])

    def MergeFrom(self, other):
        self._take(other)

    def __deepcopy__(self, memo):
        return {key: _copy_of(value) for key, value in self.items()}


# ---- Messages


class Descriptor:
    """What a message class consists of."""

    def __init__(self, name, full_name, fields):
        self.name, self.full_name, self.fields = name, full_name, fields
        self.fields_by_name = {field.name: field for field in fields}
        self.fields_by_number = {field.number: field for field in fields}
        self.oneofs_by_name = {}
        for field in fields:
            if field.oneof is not None:
                self.oneofs_by_name.setdefault(field.oneof, []).append(field)
        self.in_order = sorted(fields, key=lambda field: field.number)


def _same_class(message, other, method):
    if type(other) is not type(message):
        name = getattr(getattr(other, "DESCRIPTOR", None), "full_name", type(other).__name__)
        raise TypeError(
            f"Parameter to {method}() must be instance of same class: expected "
            f"{message.DESCRIPTOR.full_name} got {name}."
        )


def _copy_of(message):
    made = type(message)()
    made.MergeFrom(message)
    return made


def _parse(full_name, serialized):
    return _classes[full_name].FromString(serialized)


class Message:
    """What all messages share."""

    # _pending: (message, field) this one is nested in, while it is not set there; else None.
    __slots__ = ("_pending", "_unknown", "_values")
    DESCRIPTOR = Descriptor("Message", "Message", [])

    def __new__(cls, *args, **fields):
        if args:
            raise TypeError("No positional arguments allowed")
        self = object.__new__(cls)
        self._values = {}
        self._unknown = b""
        self._pending = None
        return self

    def __init__(self, **fields):
        known = self.DESCRIPTOR.fields_by_name
        for name, value in fields.items():
            field = known.get(name)
            if field is None:
                raise ValueError(f'Protocol message {self.DESCRIPTOR.name} has no "{name}" field.')
            if value is not None:
                field.assign(self, value)

    def _touch(self):
        """Sets this message in the one it is nested in, and so on upward."""
        while self._pending is not None:
            owner, field = self._pending
            self._pending = None
            if owner._values.get(field.name) is not self:
                return  # it was cleared meanwhile
            if field.oneof is not None:
                owner._choose(field)
            self = owner

    def _choose(self, field):
        for other in self.DESCRIPTOR.oneofs_by_name[field.oneof]:
            if other is not field:
                self._values.pop(other.name, None)

    # -- Presence

    def HasField(self, name):
        """Whether a nested message, or a field of a oneof, has been set."""
        field = self.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            if name in self.DESCRIPTOR.oneofs_by_name:
                return self.WhichOneof(name) is not None
            raise ValueError(f"Protocol message {self.DESCRIPTOR.name} has no field {name}.")
        if field.label == Field.LABEL_REPEATED:
            raise ValueError(
                f'Protocol message {self.DESCRIPTOR.name} has no singular "{name}" field.'
            )
        if not field.has_presence:
            raise ValueError(
                f'Can\'t test non-optional, non-submessage field "{self.DESCRIPTOR.name}.{name}" '
                "for presence in proto3."
            )
        return field.is_set(self)

    def WhichOneof(self, name):
        """The name of the field of a oneof that is set, or None."""
        fields = self.DESCRIPTOR.oneofs_by_name.get(name)
        if fields is None:
            raise ValueError(f'Protocol message has no oneof "{name}" field.')
        return next((field.name for field in fields if field.is_set(self)), None)

    def ListFields(self):
        """(field, value) of all that is set, by number."""
        return [
            (field, field.__get__(self)) for field in self.DESCRIPTOR.in_order if field.is_set(self)
        ]

    def ClearField(self, name):
        """Back to the default; the name may be that of a oneof."""
        if name in self.DESCRIPTOR.oneofs_by_name:
            name = self.WhichOneof(name)
        elif name not in self.DESCRIPTOR.fields_by_name:
            raise ValueError(f'Protocol message has no "{name}" field.')
        self._values.pop(name, None)
        self._touch()

    def Clear(self):
        """Back to the defaults."""
        self._values.clear()
        self._unknown = b""
        self._touch()

    def SetInParent(self):
        """Counts as set from now on, though it may be empty."""
        self._touch()

    def IsInitialized(self, errors=None):
        """Whether all that is required is set: nothing is."""
        return True

    def FindInitializationErrors(self):
        return []

    def DiscardUnknownFields(self):
        """Forgets what was parsed but not understood."""
        self._unknown = b""
        for field, value in self.ListFields():
            if field.message_type is not None:
                if isinstance(value, dict):
                    value = value.values()
                for nested in [value] if isinstance(value, Message) else value:
                    nested.DiscardUnknownFields()

    # -- Copying and comparing

    def MergeFrom(self, other):
        """Adds the other's repeated values and overwrites with its single ones."""
        _same_class(self, other, "MergeFrom")
        for field, value in other.ListFields():
            field.merge(self, value)
        self._unknown += other._unknown
        self._touch()

    def CopyFrom(self, other):
        """Becomes equal to the other."""
        _same_class(self, other, "CopyFrom")
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def __deepcopy__(self, memo):
        return _copy_of(self)

    def __reduce__(self):
        return _parse, (self.DESCRIPTOR.full_name, self.SerializeToString())

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self.ListFields() == other.ListFields() and self._unknown == other._unknown

    __hash__ = None

    # -- As bytes

    def SerializeToString(self, deterministic=None):
        """The message as bytes, maps in the order of their keys."""
        return message_wire.encode(self)

    SerializePartialToString = SerializeToString

    def ByteSize(self):
        """The number of those bytes."""
        return len(self.SerializeToString())

    def MergeFromString(self, serialized):
        """Merges what the bytes hold; returns their number. DecodeError if they are none of it."""
        try:
            message_wire.decode(self, serialized)
        except DecodeError:
            raise DecodeError(
                f"Error parsing message with type '{self.DESCRIPTOR.full_name}'"
            ) from None
        self._touch()
        return len(serialized)

    def ParseFromString(self, serialized):
        """Becomes what the bytes hold; returns their number."""
        self.Clear()
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls, serialized):
        """The message that the bytes hold."""
        made = cls()
        made.MergeFromString(serialized)
        return made

    # -- As text

    def _lines(self, indent):
        for field, value in self.ListFields():
            if isinstance(field, MapField):
                for key in sorted(value):
                    yield f"{indent}{field.name} {{"
                    yield f"{indent}  key: {field.key.text(key)}"
                    yield from _value_lines("value", field.type, value[key], indent + "  ")
                    yield f"{indent}}}"
            elif field.label == Field.LABEL_REPEATED:
                for item in value:
                    yield from _value_lines(field.name, field.type, item, indent)
            else:
                yield from _value_lines(field.name, field.type, value, indent)

    def __repr__(self):
        return "".join(line + "\n" for line in self._lines(""))


def _value_lines(name, kind, value, indent):
    if isinstance(value, Message):
        yield f"{indent}{name} {{"
        yield from value._lines(indent + "  ")
        yield f"{indent}}}"
    else:
        yield f"{indent}{name}: {kind.text(value)}"


# ---- Classes from declarations

_classes = {}  # by full name; enums too


def register(full_name, made):
    """Lets later declarations refer to a message class or an enum."""
    _classes[full_name] = made


def look_up(name, scope):
    """The class or enum that `name` means inside the message or package `scope`."""
    while True:
        full_name = f"{scope}.{name}" if scope else name
        if full_name in _classes or not scope:
            return _classes[full_name]
        scope = scope.rpartition(".")[0]


def declare(text, module, package="tensorflow"):
    """Makes the messages and enums that `text` declares, as proto3; returns them by name.

    The comment before a message becomes its docstring. A type is known from its declaration on.
    """
    from rheos.framework.message_declarations import read

    return read(text, module, package)
