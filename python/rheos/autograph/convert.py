"""Converted functions: compiled anew from their source, once for each code object.

A converted function has the globals, the cells of the closure, and the defaults of the one it was
made of, and its file and lines.
"""

import ast
import copy
import inspect
import types
import weakref

from rheos.autograph import rewriting, source

_CONVERTED = {}  # {id of a code object: (weak reference to it, new code, or why there is none)}


class ConversionError(Exception):
    """A function that cannot be converted; the message says why, with its file and line."""


class UnsupportedError(ConversionError, NotImplementedError):
    """A function with a statement that has no converted form."""


class Operators:
    """What converted code calls; its attributes are set by the modules that define them."""


OPERATORS = Operators()


def _where(code, line=None):
    return f"{code.co_filename}:{line or code.co_firstlineno}: function {code.co_name}"


def _without_parts(arguments):
    """The parameters without defaults and annotations, which the function object has."""
    new = copy.deepcopy(arguments)
    new.defaults = [ast.Constant(value=None) for _ in arguments.defaults]
    new.kw_defaults = [d and ast.Constant(value=None) for d in arguments.kw_defaults]
    for one in ast.walk(new):
        if isinstance(one, ast.arg):
            one.annotation = None
    return new


def _rewritten(function):
    """(the new syntax tree of a function, the class it stands in); ConversionError without one."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        kinds = "generators" if code.co_flags & inspect.CO_GENERATOR else "asynchronous functions"
        raise UnsupportedError(f"{_where(code)}: {kinds} are not supported")
    try:
        node, owner = source.find(function)
    except source.NoSource as error:
        raise ConversionError(f"{_where(code)} cannot be converted: {error}") from error
    node = copy.deepcopy(node)
    node.args = _without_parts(node.args)
    try:
        if isinstance(node, ast.Lambda):
            return rewriting.Function(node).rewritten_lambda(), owner
        node.decorator_list, node.returns = [], None
        return rewriting.Function(node).rewritten(), owner
    except rewriting.Unsupported as error:
        raise UnsupportedError(f"{_where(code, error.node.lineno)}: {error}") from error


def _inner_code(code, name):
    """The code object of that name in another one."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name:
                return constant
            found = _inner_code(constant, name)
            if found is not None:
                return found
    return None


def _compile(function):
    code = function.__code__
    node, owner = _rewritten(function)
    statement = node if isinstance(node, ast.stmt) else ast.Expr(value=node)
    if owner is not None:  # names that begin with two underscores have the class's before them
        statement = ast.ClassDef(
            name=owner, bases=[], keywords=[], body=[statement], decorator_list=[]
        )
        statement.type_params = []
    outer = ast.parse("def ag__outer():\n  pass")
    free = [*code.co_freevars, rewriting.OPERATORS]
    bound = [n for n in free if owner is None or n != "__class__"]
    cells = list(ast.parse("\n".join(f"{name} = None" for name in bound)).body)
    name = owner or code.co_name
    if name not in free and name.isidentifier():  # what the function calls so is no variable here
        cells.append(ast.Global(names=[name]))
    outer.body[0].body = [*cells, ast.copy_location(statement, node)]
    ast.fix_missing_locations(outer)
    return _inner_code(compile(outer, code.co_filename, "exec"), code.co_name)


def code_of(function):
    """The converted code of a function; ConversionError if it cannot be converted."""
    code = function.__code__
    key = id(code)
    found = _CONVERTED.get(key)
    if found is None:
        try:
            result = _compile(function)
        except ConversionError as error:
            result = (type(error), str(error))
        found = (weakref.ref(code, lambda _, table=_CONVERTED: table.pop(key, None)), result)
        _CONVERTED[key] = found
    if isinstance(found[1], tuple):
        kind, text = found[1]
        raise kind(text)
    return found[1]


def converted(function):
    """Marks a function of converted code, which is not to be converted again."""
    function.ag_converted = True
    return function


def is_converted(function):
    return getattr(function, "ag_converted", False)


def convert(function):
    """The converted function of a Python function; ConversionError if it cannot be converted."""
    code = code_of(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[rewriting.OPERATORS] = _OPERATORS_CELL
    new = types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    new.__kwdefaults__ = function.__kwdefaults__
    new.__annotations__ = function.__annotations__
    new.__qualname__ = function.__qualname__
    new.__module__ = function.__module__
    new.__doc__ = function.__doc__
    new.__dict__.update(function.__dict__)
    return converted(new)


_OPERATORS_CELL = types.CellType(OPERATORS)


def text_of(function, name=None):
    """The source of the converted function."""
    node, _ = _rewritten(function)
    if isinstance(node, ast.stmt):
        node.name = name or f"tf__{node.name}"
    return ast.unparse(node)
