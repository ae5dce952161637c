"""TensorFlow's messages, such as ConfigProto, Example and GraphDef, as protocol buffers.

A message type is an attribute of this module, and so are the enums beside them and their values.
The classes are those that the protobuf package makes of the types in src/format/proto, whose
descriptions lie beside the package in messages.bin; it is loaded when the first one is used. They
are kept apart from the types of other packages: a program may import TensorFlow as well.
"""

import functools
import os

_DESCRIPTIONS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "messages.bin")

# The enums outside of messages.
_ENUMS = (
    "tensorflow.DataType",
    "tensorflow.VariableSynchronization",
    "tensorflow.VariableAggregation",
    "tensorflow.DataClass",
    "tensorflow.error.Code",
)


@functools.lru_cache(maxsize=None)
def _class_of():
    """The function from a descriptor to its class, and the pool of descriptors."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise ImportError(
            "messages such as ConfigProto and GraphDef need the Python package protobuf: "
            "install python3-protobuf"
        ) from error
    pool = descriptor_pool.DescriptorPool()
    with open(_DESCRIPTIONS, "rb") as file:
        descriptions = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    for file in descriptions.file:
        pool.AddSerializedFile(file.SerializeToString())
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass, pool
    return message_factory.MessageFactory(pool).GetPrototype, pool


def to_text(message):
    """A message in the form that people read and write."""
    from google.protobuf import text_format

    return text_format.MessageToString(message)


def from_text(text, message):
    """The message that was given, filled with what the text says of it."""
    from google.protobuf import text_format

    return text_format.Parse(text, message)


def from_json(text, message):
    """The message that was given, filled with what JSON says of it."""
    from google.protobuf import json_format

    return json_format.Parse(text, message)


def parse_errors():
    """What protobuf raises for bytes and for text that are no message of the type."""
    from google.protobuf.message import DecodeError
    from google.protobuf.text_format import ParseError

    return DecodeError, ParseError


def _set_nested(made, descriptor, class_of):
    """Makes types within a type attributes of its class, which not every protobuf does."""
    for nested in descriptor.nested_types:
        inner = class_of(nested)
        if not hasattr(made, nested.name):
            setattr(made, nested.name, inner)
        _set_nested(inner, nested, class_of)


def _of_enums(pool, name):
    """The enum of that name, or the number of the value that is called so; None."""
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

    for full_name in _ENUMS:
        descriptor = pool.FindEnumTypeByName(full_name)
        if descriptor.name == name:
            return EnumTypeWrapper(descriptor)
        if name in descriptor.values_by_name:
            return descriptor.values_by_name[name].number
    return None


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    class_of, pool = _class_of()
    try:
        descriptor = pool.FindMessageTypeByName(f"tensorflow.{name}")
    except KeyError:
        found = _of_enums(pool, name)
        if found is None:
            raise AttributeError(f"there is no message type {name}") from None
        globals()[name] = found
        return found
    made = class_of(descriptor)
    made.__module__ = __name__
    _set_nested(made, descriptor, class_of)
    fields = ", ".join(field.name for field in descriptor.fields)
    made.__doc__ = f"The message type {descriptor.full_name}, with the fields {fields}."
    globals()[name] = made
    return made


def is_message(value, name):
    """Whether value is a message of that type, ours or another package's."""
    descriptor = getattr(value, "DESCRIPTOR", None)
    return getattr(descriptor, "full_name", None) == f"tensorflow.{name}"
