"""Reads declarations in the protocol buffer language, and makes message classes of them."""

import re

from rheos.framework.message import (
    Descriptor,
    MapField,
    Message,
    MessageField,
    RepeatedField,
    ScalarField,
    look_up,
    register,
)
from rheos.framework.message_wire import BYTES, SCALARS, Enum, Scalar

_TOKEN = re.compile(r"\s*(?://(?P<comment>[^\n]*)|(?P<token>[\w.]+|\"[^\"]*\"|-?\d+|[^\s\w]))")


def _tokens(text):
    """(token, the comment in the lines before it); ("", "") at the end."""
    comment = []
    for match in _TOKEN.finditer(text):
        if match["comment"] is not None:
            comment.append(match["comment"].strip())
        else:
            yield match["token"], " ".join(comment)
            comment = []
    yield "", ""


class _Reader:
    def __init__(self, text, module):
        self._tokens = _tokens(text)
        self._module = module
        self.take()

    def take(self):
        """The current token; moves to the next."""
        taken = getattr(self, "token", None)
        self.token, self.comment = next(self._tokens)
        return taken

    def expect(self, token):
        if self.take() != token:
            raise ValueError(f"expected {token!r} in a declaration of messages")

    def skip_statement(self):
        while self.take() != ";":
            pass

    def declaration(self, scope):
        """A message or an enum; (name, class)."""
        comment, word, name = self.comment, self.take(), self.take()
        if word == "enum":
            made = self.enum(name)
            register(f"{scope}.{name}", made)
        elif word == "message":
            made = self.message(name, f"{scope}.{name}", comment)
        else:
            raise ValueError(f"{word!r} declares no message")
        return name, made

    def enum(self, name):
        self.expect("{")
        numbers = {}
        while self.token != "}":
            value = self.take()
            self.expect("=")
            sign = -1 if self.token == "-" and self.take() else 1
            numbers[value] = sign * int(self.take())
            self.skip_statement()
        self.expect("}")
        return Enum(name, numbers)

    def message(self, name, full_name, doc):
        members = {"__slots__": (), "__doc__": doc or None, "__module__": self._module}
        made = type(name, (Message,), members)
        register(full_name, made)  # it may be nested in itself
        fields = []
        self.expect("{")
        while self.token != "}":
            self.member(full_name, made, fields, None)
        self.expect("}")
        made.DESCRIPTOR = Descriptor(name, full_name, fields)
        for field in fields:
            setattr(made, field.name, field)
            setattr(made, f"{field.name.upper()}_FIELD_NUMBER", field.number)
        return made

    def member(self, scope, message, fields, oneof):
        if self.token in ("message", "enum"):
            name, made = self.declaration(scope)
            setattr(message, name, made)
            if isinstance(made, Enum):
                for value, number in made.items():
                    setattr(message, value, number)
        elif self.token == "oneof":
            self.take()
            name = self.take()
            self.expect("{")
            while self.token != "}":
                self.member(scope, message, fields, name)
            self.expect("}")
        elif self.token in ("reserved", "option"):
            self.skip_statement()
        else:
            fields.append(self.field(scope, oneof))

    def field(self, scope, oneof):
        label = self.take() if self.token in ("repeated", "optional") else None
        word, key = self.take(), None
        if word == "map":
            self.expect("<")
            key = SCALARS[self.take()]
            self.expect(",")
            word = self.take()
            self.expect(">")
        kind = SCALARS[word] if word in SCALARS else look_up(word, scope)
        name = self.take()
        self.expect("=")
        number = int(self.take())
        self.skip_statement()
        if key is not None:
            return MapField(name, number, key, kind)
        if label == "repeated":
            made = RepeatedField(name, number, kind)
            made.packed = isinstance(kind, Scalar) and kind.wire_type != BYTES
            return made
        if not isinstance(kind, Scalar):
            return MessageField(name, number, kind, oneof)
        made = ScalarField(name, number, kind, oneof)
        made.has_presence = made.has_presence or label == "optional"
        return made


def read(text, module, package):
    """What message.declare() does."""
    reader = _Reader(text, module)
    made = {}
    while reader.token:
        if reader.token in ("syntax", "package", "import", "option"):
            reader.skip_statement()
        else:
            name, kind = reader.declaration(package)
            made[name] = kind
    return made
