"""The names of `tf.autograph`."""

import enum
import inspect
import types

from rheos.autograph import branches, calls, convert, logic, loops, values

for _module, _names in (
    (branches, "if_stmt if_exp assert_stmt"),
    (loops, "while_stmt for_stmt loop_options"),
    (logic, "and_ or_ not_ chain"),
    (values, "Undefined UndefinedReturn forget ld place is_defined returned"),
    (calls, "converted_call"),
    (convert, "converted"),
):
    for _name in _names.split():
        setattr(convert.Operators, _name, staticmethod(getattr(_module, _name)))

_VERBOSITY = {"level": 0, "to_stdout": False}

do_not_convert = calls.do_not_convert


class Feature(enum.Enum):
    """Optional features of the conversion; all that are not listed here are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """All features but one, or but those of a list."""
        out = exclude if isinstance(exclude, (list, tuple)) else (exclude,)
        return tuple({cls.ALL, *cls.all()} - {*out, cls.ALL})


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The function that adds the branches and loops of a Python function to the graph.

    entity: a function, a method, or an object with a method __call__. recursive: functions that it
    calls are converted too. ConversionError if there is no source, or it cannot be converted.
    """
    if isinstance(entity, types.MethodType):
        return types.MethodType(to_graph(entity.__func__), entity.__self__)
    if not isinstance(entity, types.FunctionType):
        method = calls._method_of(entity)
        if method is None or isinstance(entity, type):
            raise convert.ConversionError(f"{entity!r} is no function that can be converted")
        return types.MethodType(to_graph(method), entity)
    if getattr(entity, "ag_not_converted", False) or convert.is_converted(entity):
        return entity
    new = convert.convert(entity)
    new.__name__ = f"tf__{new.__name__}" if new.__name__.isidentifier() else new.__name__
    return new


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source of what to_graph() gives, as text."""
    entity = getattr(entity, "python_function", entity)
    entity = getattr(entity, "__func__", entity)
    if not isinstance(entity, types.FunctionType):
        raise convert.ConversionError(f"{entity!r} is no function that can be converted")
    return convert.text_of(entity)


def set_loop_options(
    parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None
):
    """Options of the loop that this call is the first statement of; elsewhere it does nothing."""


def set_verbosity(level, alsologtostdout=False):
    """How much AutoGraph tells: 0 is nothing."""
    _VERBOSITY.update(level=level, to_stdout=alsologtostdout)


def trace(*args):
    """Prints its arguments while a function is converted and traced."""
    print(*args)


def tf_convert(function):
    """A program's callable, converted, for what the library calls; it tells of a generator."""
    if inspect.isgeneratorfunction(function):
        return calls.converted_or_told(function)
    return calls.tf_convert(function)
