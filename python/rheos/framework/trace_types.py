"""How programs say when calls with their own objects may share a trace."""

import abc
import typing


class TraceType(abc.ABC):
    """What an argument is to a traced function: calls with equal ones share a trace.

    An object says its own by a method `__tf_tracing_type__(context)`.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other):
        """Whether what is of this type may stand where one of the other type is wanted."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others):
        """The narrowest type of this and all others; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context):
        """What the function is traced with in the argument's place."""

    @abc.abstractmethod
    def __hash__(self):
        """Equal types hash alike."""

    @abc.abstractmethod
    def __eq__(self, other):
        """Whether it is the same type."""

    def to_tensors(self, value):
        """The tensors that a value of this type is made of: none by default."""
        return []

    def from_tensors(self, tensors):
        """A value of this type of its tensors: by default one that needs none."""
        return self.placeholder_value(None)

    def flatten(self):
        """The types of the tensors that a value is made of: none by default."""
        return []

    def cast(self, value, cast_context):
        """A value as one of this type: itself by default."""
        return value


@typing.runtime_checkable
class SupportsTracingProtocol(typing.Protocol):
    """An object that says its TraceType."""

    def __tf_tracing_type__(self, context):
        """The TraceType of the object."""


class OwnKind:
    """The kind of an argument that says its TraceType."""

    __slots__ = ("type",)

    def __init__(self, trace_type):
        self.type = trace_type

    def __eq__(self, other):
        return isinstance(other, OwnKind) and self.type == other.type

    def __hash__(self):
        return hash(self.type)

    def __repr__(self):
        return f"of the program's type {self.type!r}"
