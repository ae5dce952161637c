"""The syntax tree of a function, found in the file it was read from, with that file's lines."""

import ast
import linecache

_TREES = {}  # {file: (lines, tree)} of the files that functions were looked for in last
_MOST_FILES = 64


class NoSource(Exception):
    """A function whose source cannot be found, or that does not fit it."""


def _tree_of(file):
    lines = linecache.getlines(file)
    if not lines:
        raise NoSource(f"the source of {file} cannot be read")
    found = _TREES.get(file)
    if found is None or found[0] is not lines:
        try:
            tree = ast.parse("".join(lines), file)
        except (SyntaxError, ValueError) as error:
            raise NoSource(f"{file} is no Python source ({error})") from error
        if len(_TREES) >= _MOST_FILES:
            _TREES.clear()
        found = _TREES[file] = (lines, tree)
    return found[1]


def _first_line(node):
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(one.lineno for one in decorators)])


def _candidates(tree, code):
    """(node, name of the class it stands in) of the functions that begin in the code's line."""
    kind = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    todo = [(tree, None)]
    while todo:
        node, owner = todo.pop()
        if isinstance(node, kind) and _first_line(node) == code.co_firstlineno:
            if isinstance(node, ast.Lambda) or node.name == code.co_name:
                yield node, owner
        inside = node.name if isinstance(node, ast.ClassDef) else owner
        todo += ((child, inside) for child in ast.iter_child_nodes(node))


def _shape_of(code):
    """What tells functions of one line apart: what they are compiled to, without places."""
    constants = tuple(c if not hasattr(c, "co_code") else _shape_of(c) for c in code.co_consts)
    names = (code.co_varnames, code.co_names, set(code.co_freevars + code.co_cellvars))
    return (code.co_argcount, names, constants)


def _compiled_lambda(node, code):
    """The code of a lambda by itself, where the names that `code` takes from around are known."""
    outer = ast.parse(f"def outer({', '.join(code.co_freevars)}): return None")
    outer.body[0].body[0].value = node
    inner = compile(outer, "lambda", "exec").co_consts[0]
    return next(c for c in inner.co_consts if hasattr(c, "co_code"))


def _stands_at(node, code):
    """Whether the positions in the code, where the interpreter keeps them, are within the node."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return True
    first = (node.body.lineno, node.body.col_offset)
    last = (node.body.end_lineno, node.body.end_col_offset)
    places = [p for p in positions() if None not in p and p[2] != p[3]]
    return all(first <= (p[0], p[2]) and (p[1], p[3]) <= last for p in places)


def find(function):
    """(syntax tree, name of the class around it or None) of a function; NoSource if there is none.

    The tree is that of the whole file's, not to be changed.
    """
    code = function.__code__
    found = list(_candidates(_tree_of(code.co_filename), code))
    if len(found) > 1 and code.co_name == "<lambda>":
        found = [one for one in found if _stands_at(one[0], code)]
    if len(found) > 1 and code.co_name == "<lambda>":
        wanted = _shape_of(code)
        found = [one for one in found if _shape_of(_compiled_lambda(one[0], code)) == wanted]
    if not found:
        raise NoSource(
            f"{code.co_filename}:{code.co_firstlineno}: no function {code.co_name} begins there; "
            "has the file changed since it was read?"
        )
    return found[0]
