"""Which names pieces of a syntax tree read and write, and what is live where.

The trees are those of functions whose jumps are lowered: branches and loops nest, and control goes
on behind each statement. A place is a part of an object such as `self.x` or `a[0]`.
"""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_KEEPS = frozenset(("append", "extend", "insert", "add", "setdefault", "partial", "register"))


def parameters(arguments):
    """The names of the parameters of a function, in order."""
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg]
    every += [*arguments.kwonlyargs, arguments.kwarg]
    return [one.arg for one in every if one is not None]


def _is_key(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, (ast.Constant, ast.Name))


def root_of(node):
    """The name at the root of a place such as self.x or a[0], or None if it is no such place."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not _is_key(node.slice):
            return None
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class Uses:
    """What a piece of a tree reads, writes, and leaves to functions that are defined in it."""

    def __init__(self):
        self.reads = set()
        self.writes = set()
        self.places = {}  # {text: node} of the places of objects that are written
        self.captured = set()  # read or written by functions that may be called later
        self.declared = {}  # {name: "global" or "nonlocal"}

    def add(self, other):
        for field in ("reads", "writes", "captured"):
            getattr(self, field).update(getattr(other, field))
        self.places.update(other.places)
        self.declared.update(other.declared)
        return self


def free_names(node):
    """The names that a function, lambda or class takes from around it."""
    if isinstance(node, ast.ClassDef):
        return uses_of(*node.body).reads | uses_of(*node.body).captured
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    uses = uses_of(*body)
    bound = set(parameters(node.args)) | uses.writes
    bound -= uses.declared.keys()
    outer = {name for name, kind in uses.declared.items() if kind == "nonlocal"}
    return (uses.reads | uses.captured | outer) - bound


def _outer_parts(node):
    """What of a function, lambda or class is evaluated where it is defined."""
    parts = list(getattr(node, "decorator_list", ()))
    if isinstance(node, ast.ClassDef):
        return [*parts, *node.bases, *(k.value for k in node.keywords)]
    return [*parts, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


def _keeps(call):
    """Whether the function that is called may keep what it is given."""
    function = call.func
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name in _KEEPS


def _of_comprehension(node, uses):
    inner = Uses()
    bound = set()
    for generator in node.generators:
        bound |= uses_of(generator.target).writes
        inner.add(uses_of(generator.iter, *generator.ifs))
    values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    inner.add(uses_of(*values))
    inner.reads -= bound
    uses.add(inner)


def _of_name(node, uses):
    (uses.reads if isinstance(node.ctx, ast.Load) else uses.writes).add(node.id)


def _of_import(node, uses):
    for alias in node.names:
        uses.writes.add(alias.asname or alias.name.split(".")[0])


def _of_scope(node, uses):
    if not isinstance(node, ast.Lambda):
        uses.writes.add(node.name)
    uses.captured |= free_names(node)


def _children(node, uses, todo):
    """Notes what the node itself does, and adds what is to be looked at of it to `todo`."""
    if isinstance(node, ast.Name):
        _of_name(node, uses)
    elif isinstance(node, SCOPES):
        _of_scope(node, uses)
        todo += _outer_parts(node)
    elif isinstance(node, COMPREHENSIONS):
        _of_comprehension(node, uses)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        _of_import(node, uses)
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        kind = "global" if isinstance(node, ast.Global) else "nonlocal"
        uses.declared.update(dict.fromkeys(node.names, kind))
    else:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            uses.reads.add(node.target.id)
        elif isinstance(node, ast.AnnAssign) and node.value is None:
            return
        elif isinstance(node, ast.ExceptHandler) and node.name:
            uses.writes.add(node.name)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(
            node.ctx, ast.Load
        ):
            if root_of(node) is not None and isinstance(node.ctx, ast.Store):
                uses.places[ast.unparse(node)] = node
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            uses.writes.add(node.name)
        elif type(node).__name__ == "MatchMapping" and node.rest:
            uses.writes.add(node.rest)
        if isinstance(node, ast.Call) and not _keeps(node):
            for part in [*node.args, *(k.value for k in node.keywords)]:
                if isinstance(part, ast.Lambda):
                    uses.reads |= free_names(part)
                    todo += _outer_parts(part)
                else:
                    todo.append(part)
            todo.append(node.func)
            return
        todo += ast.iter_child_nodes(node)


def uses_of(*nodes):
    """The Uses of pieces of a tree, everything inside them included."""
    uses = Uses()
    todo = list(nodes)
    while todo:
        _children(todo.pop(), uses, todo)
    return uses


class Liveness:
    """For each branch and loop of a function: the names live behind it, for loops also before each
    trip. `always`: names that are live everywhere."""

    def __init__(self, body, always, at_end=()):
        self.after = {}
        self.at_trip = {}
        self._always = frozenset(always)
        self.block(body, self._always | set(at_end))

    def block(self, statements, live):
        """The names live before the statements, if `live` are behind them."""
        for statement in reversed(statements):
            live = self._statement(statement, live)
        return live | self._always

    def _simple(self, nodes, live, kills=True):
        uses = uses_of(*nodes)
        if kills:
            live = live - uses.writes
        return live | uses.reads

    def _statement(self, node, live):
        if isinstance(node, ast.If):
            self.after[node] = frozenset(live)
            before = self.block(node.body, live) | self.block(node.orelse, live)
            return self._simple([node.test], before, kills=False)
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, live)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, live)
        if isinstance(node, ast.With):
            inner = self.block(node.body, live)
            return self._simple(node.items, inner)
        if type(node).__name__ == "Match":
            for case in node.cases:
                live = live | self.block(case.body, live)
            return live | uses_of(node).reads
        if isinstance(node, ast.AugAssign) or isinstance(node, ast.Delete):
            return self._simple([node], live, kills=False)
        return self._simple([node], live)

    def _loop(self, node, live):
        self.after[node] = frozenset(live)
        flags = node.stop_flags
        is_while = isinstance(node, ast.While)
        head = set(live) | set(flags)
        if is_while:
            head |= uses_of(node.test).reads
        while True:
            inner = self.block(node.body, head)
            if not is_while:
                inner = self._simple([node.target], inner)
            if inner <= head:
                break
            head |= inner
        self.at_trip[node] = frozenset(head)
        return head if is_while else self._simple([node.iter], head, kills=False)

    def _try(self, node, live):
        live = self.block(node.finalbody, live) | live
        inner = set(live)
        for handler in node.handlers:
            inner |= self.block(handler.body, live)
        inner |= self.block(node.orelse, live)
        before = self.block(node.body, inner)
        return before | inner
