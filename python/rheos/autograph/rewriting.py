"""Rewrites the tree of a function: branches, loops, calls and logic become calls of operators.

A branch or loop becomes functions without parameters over the variables of the function around it,
and a pair that reads and sets those that matter, its state. The operators (`ag__` in the new code)
decide, when the code runs, whether Python or the graph branches. Each new node has the place of
what it was made of, so that tracebacks and debuggers show the program's own lines.
"""

import ast

from rheos.autograph import names
from rheos.autograph.jumps import Jumps, always_jumps, stops_of

OPERATORS = "ag__"
_UNTOUCHED = frozenset(("super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint"))
_LOOP_OPTIONS = "set_loop_options"


class Unsupported(Exception):
    """A statement that cannot be converted; `node` is its place."""

    def __init__(self, node, message):
        super().__init__(message)
        self.node = node


def _place(nodes, place):
    """Gives new nodes, and what is new inside them, the place of another node."""
    todo = list(nodes) if isinstance(nodes, list) else [nodes]
    while todo:
        node = todo.pop()
        if hasattr(node, "lineno"):
            continue
        if "lineno" in node._attributes:
            ast.copy_location(node, place)
        todo += ast.iter_child_nodes(node)
    return nodes


def _load(name):
    return ast.Name(id=name, ctx=ast.Load())


def _operator(name, *args):
    function = ast.Attribute(value=_load(OPERATORS), attr=name, ctx=ast.Load())
    return ast.Call(func=function, args=list(args), keywords=[])


def _lambda(body):
    empty = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return ast.Lambda(args=empty, body=body)


def _function(name, parameters, body):
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=p) for p in parameters],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    new = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], returns=None)
    new.type_params = []
    return new


def _tuple(parts, ctx=None):
    return ast.Tuple(elts=list(parts), ctx=ctx or ast.Load())


def _names_tuple(texts):
    return _tuple(ast.Constant(value=text) for text in texts)


def _has(node, kinds):
    """Whether one of these kinds is in the node, but not in a function of its own."""
    todo = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, kinds):
            return True
        if not isinstance(one, names.SCOPES):
            todo += ast.iter_child_nodes(one)
    return False


_BOUND_HERE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def is_generator(node):
    """Whether the function yields."""
    return any(_has(one, (ast.Yield, ast.YieldFrom)) for one in node.body)


class _Fresh:
    """Names that a function does not use."""

    def __init__(self, node):
        self._taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        self._taken |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        self._taken |= {n.name for n in ast.walk(node) if isinstance(n, names.FUNCTIONS)}
        self._counts = {}

    def __call__(self, base):
        while True:
            count = self._counts[base] = self._counts.get(base, 0) + 1
            name = base if count == 1 else f"{base}_{count - 1}"
            if name not in self._taken:
                return name


class Expressions(ast.NodeTransformer):
    """Rewrites expressions. `checked`: variables that may have no value where they are read."""

    def __init__(self, fresh, checked, first_parameter):
        self._fresh = fresh
        self._checked = checked
        self._first = first_parameter

    def visit_Name(self, node):
        if node.id in self._checked and isinstance(node.ctx, ast.Load):
            return _place(_operator("ld", node), node)
        return node

    def visit_Call(self, node):
        name = getattr(node.func, "id", None)
        if name in _UNTOUCHED:
            if name == "super" and not node.args and self._first is not None:
                node.args = _place([_load("__class__"), _load(self._first)], node)
            return self.generic_visit(node)
        node = self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == OPERATORS:
            return node
        keywords = ast.Constant(value=None)
        if node.keywords:
            keywords = ast.Call(func=_load("dict"), args=[], keywords=node.keywords)
            if all(k.arg is not None for k in node.keywords):
                keys = [ast.Constant(value=k.arg) for k in node.keywords]
                keywords = ast.Dict(keys=keys, values=[k.value for k in node.keywords])
        call = _operator("converted_call", node.func, _tuple(node.args), keywords)
        return _place(call, node)

    def visit_BoolOp(self, node):
        node = self.generic_visit(node)
        if any(_has(value, _BOUND_HERE) for value in node.values[1:]):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        rest = [_lambda(value) for value in node.values[1:]]
        return _place(_operator(name, node.values[0], *rest), node)

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return _place(_operator("not_", node.operand), node)

    def visit_Compare(self, node):
        node = self.generic_visit(node)
        if len(node.ops) == 1 or any(_has(c, _BOUND_HERE) for c in node.comparators[1:]):
            return node
        steps = []
        for op, value in zip(node.ops[1:], node.comparators[1:]):
            steps += [ast.Constant(value=type(op).__name__), _lambda(value)]
        first = ast.Constant(value=type(node.ops[0]).__name__)
        return _place(_operator("chain", node.left, first, node.comparators[0], *steps), node)

    def visit_IfExp(self, node):
        node = self.generic_visit(node)
        if _has(node.body, _BOUND_HERE) or _has(node.orelse, _BOUND_HERE):
            return node
        parts = (node.test, _lambda(node.body), _lambda(node.orelse))
        return _place(_operator("if_exp", *parts), node)

    def visit_Lambda(self, node):
        inner = Function(node, self._fresh, None, self._checked)
        return inner.rewritten_lambda()

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self._visit_defaults(node.args)
        if is_generator(node):
            return node
        return Function(node, self._fresh, self._first, self._checked).rewritten_inner()

    def visit_AsyncFunctionDef(self, node):
        return node

    def visit_ClassDef(self, node):
        return node

    def _visit_defaults(self, arguments):
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]

    def visit_AnnAssign(self, node):
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        assign = ast.Assign(targets=[self.visit(node.target)], value=self.visit(node.value))
        return ast.copy_location(assign, node)

    def visit_AugAssign(self, node):
        node.value = self.visit(node.value)
        node.target = self.generic_visit(node.target)
        if getattr(node.target, "id", None) in self._checked:
            check = _place(ast.Expr(value=_operator("ld", _load(node.target.id))), node)
            return [check, node]
        return node

    def visit_Assert(self, node):
        node = self.generic_visit(node)
        message = _lambda(node.msg or ast.Constant(value="Assertion error"))
        call = _operator("assert_stmt", node.test, message)
        return _place(ast.Expr(value=call), node)

    def visit_Delete(self, node):
        done = []
        for target in node.targets:
            if getattr(target, "id", None) in self._checked:
                check = ast.Expr(value=_operator("ld", _load(target.id)))
                done += [check, _undefine(target.id)]
            else:
                done.append(ast.Delete(targets=[self.visit(target)]))
        return _place(done, node)


def _assign(name, value):
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def _undefine(name):
    return _assign(name, _operator("Undefined", ast.Constant(value=name)))


class Function:
    """Rewrites one function: its jumps, then its branches and loops, and the expressions."""

    def __init__(self, node, fresh=None, first_parameter=None, checked=frozenset()):
        self._node = node
        self._fresh = fresh or _Fresh(node)
        own = names.parameters(node.args)
        is_lambda = isinstance(node, ast.Lambda)
        self._first = own[0] if own and not is_lambda else first_parameter
        self._outer_checked = set(checked) - set(own)

    def rewritten_lambda(self):
        """The lambda, marked as converted."""
        node = self._node
        outer = Expressions(self._fresh, self._outer_checked, self._first)
        node.args.defaults = [outer.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and outer.visit(d) for d in node.args.kw_defaults]
        node.body = outer.visit(node.body)
        return _place(_operator("converted", node), node)

    def rewritten_inner(self):
        """A function defined in a converted one, with its decorators, marked as converted."""
        node = self.rewritten()
        mark = ast.Attribute(value=_load(OPERATORS), attr="converted", ctx=ast.Load())
        node.decorator_list.append(_place(mark, node))
        return node

    def rewritten(self):
        """The function with the same name, parameters and decorators."""
        node = self._node
        jumps = Jumps(self._fresh)
        self._declared = _take_declarations(node)
        always_returns = always_jumps(node.body)
        body = jumps.function(node.body)
        self._declare(node, body)
        self._live = names.Liveness(body, self._always, self._at_end(jumps))
        self._plan(body)
        checked = {n for state in self._states.values() for n in state.names} - self._parameters
        self._checked_names = (self._outer_checked - self._locals) | checked
        self._expressions = Expressions(self._fresh, self._checked_names, self._first)
        new, hoisted = self._block(body)
        lines = [_undefine(name) for name in sorted(hoisted - self._unhoisted)]
        if jumps.is_lowered:
            lines = [line for line in lines if line.targets[0].id not in self._flags(jumps)]
            lines.append(_assign(jumps.did_return, ast.Constant(value=False)))
            lines.append(_assign(jumps.value, _operator("UndefinedReturn")))
            flag = [] if always_returns else [_load(jumps.did_return)]
            value = _operator("returned", _load(jumps.value), *flag)
            new.append(_place(ast.Return(value=value), body[-1]))
        first = node.body[0]
        node.body = [*_place([*self._scoping(self._declared), *lines], first), *new]
        return ast.fix_missing_locations(node)

    def _flags(self, jumps):
        return {jumps.did_return, jumps.value}

    def _at_end(self, jumps):
        return (jumps.value, jumps.did_return) if jumps.is_lowered else ()

    def _declare(self, node, body):
        uses = names.uses_of(*body)
        self._parameters = set(names.parameters(node.args))
        self._locals = (uses.writes | self._parameters) - self._declared.keys()
        self._always = uses.captured | self._declared.keys()
        self._unhoisted = self._parameters | self._declared.keys()

    def _plan(self, body):
        """The state of each branch and loop."""
        self._states = {}
        todo = list(body)
        while todo:
            node = todo.pop()
            if isinstance(node, (ast.If, ast.While, ast.For)):
                self._states[node] = self._state_of(node)
            if not isinstance(node, names.SCOPES):
                todo += ast.iter_child_nodes(node)

    def _state_of(self, node):
        inside = names.Uses()
        for part in [*node.body, *node.orelse]:
            inside.add(names.uses_of(part))
        head = node.target if isinstance(node, ast.For) else node.test
        if not isinstance(node, ast.If):
            inside.add(names.uses_of(head))
        after = self._live.after[node]
        written = {n for n in inside.writes if n in self._locals or n in self._declared}
        if isinstance(node, ast.If):
            outputs = written & after
            reads = {n for part in [*node.body, *node.orelse] for n in names.uses_of(part).reads}
            inputs = (written - outputs) & reads
        else:
            outputs, inputs = written & self._live.at_trip[node], set()
        places = self._places_of(inside, written)
        return _State(sorted(outputs), sorted(inputs), places)

    def _places_of(self, inside, written):
        """The places of objects from outside that are written, by their texts."""
        kept = {}
        for text, place in sorted(inside.places.items()):
            used = {n.id for n in ast.walk(place) if isinstance(n, ast.Name)}
            if not used & written:
                kept[text] = place
        return kept

    # Statements

    def _block(self, statements):
        """(new statements, the names that states of branches and loops in them have)."""
        done, used = [], set()
        for statement in statements:
            new, more = self._statement(statement)
            done += new if isinstance(new, list) else [new]
            used |= more
        return done, used

    def _statement(self, node):
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, (ast.AsyncFor, ast.AsyncWith)):
            raise Unsupported(node, "asynchronous statements cannot be converted")
        if isinstance(node, ast.With):
            node.items = [self._expressions.visit(item) for item in node.items]
            node.body, used = self._block(node.body)
            return node, used
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._blocks(node, ("body", "orelse", "finalbody"), node.handlers)
        if type(node).__name__ == "Match":
            node.subject = self._expressions.visit(node.subject)
            return self._blocks(node, (), node.cases)
        return self._expressions.visit(node), set()

    def _blocks(self, node, fields, parts):
        used = set()
        for field in fields:
            new, more = self._block(getattr(node, field))
            setattr(node, field, new)
            used |= more
        for part in parts:
            if getattr(part, "guard", None) is not None:
                part.guard = self._expressions.visit(part.guard)
            part.body, more = self._block(part.body)
            used |= more
        return node, used

    def _own_body(self, name, statements, state, parameters=(), first=()):
        """A function of a block over the state; other names are made in it."""
        new, used = self._block(statements)
        outer = set(state.names)
        made = [_undefine(n) for n in sorted(used - outer - self._declared.keys())]
        body = [*self._scoping(outer), *made, *first, *(new or [ast.Pass()])]
        return _function(name, parameters, body), outer

    def _scoping(self, used):
        """The declarations that make names those of the function around."""
        inner = sorted(n for n in used if self._declared.get(n) != "global")
        outer = sorted(n for n in used if self._declared.get(n) == "global")
        lines = [ast.Nonlocal(names=inner)] if inner else []
        return lines + ([ast.Global(names=outer)] if outer else [])

    def _accessors(self, state):
        """The functions that read and set the state, and expressions for them."""
        if not state.names and not state.places:
            return [], [ast.Constant(value=None), ast.Constant(value=None)]
        getter, setter = self._fresh("get_state"), self._fresh("set_state")
        reads = [_load(name) for name in state.outputs]
        for text, place in state.places.items():
            read = _fresh_copy(place, ast.Load())
            reads.append(_operator("place", _lambda(read), ast.Constant(value=text)))
        reads += [_load(name) for name in state.inputs]
        values = self._fresh("values")
        lines = [*self._scoping(set(state.names))]
        for index, symbol in enumerate(state.symbols):
            if symbol in state.places:
                lines.append(_set_place(state.places[symbol], values, index))
            else:
                target = ast.Name(id=symbol, ctx=ast.Store())
                lines.append(ast.Assign(targets=[target], value=_item(values, index)))
        get = _function(getter, (), [ast.Return(value=_tuple(reads))])
        return [get, _function(setter, (values,), lines)], [_load(getter), _load(setter)]

    def _if(self, node):
        state = self._states[node]
        body, used = self._own_body(self._fresh("if_body"), node.body, state)
        orelse, more = self._own_body(self._fresh("else_body"), node.orelse, state)
        lines, accessors = self._accessors(state)
        call = _operator(
            "if_stmt",
            self._expressions.visit(node.test),
            _load(body.name),
            _load(orelse.name),
            *accessors,
            _names_tuple(state.symbols),
            ast.Constant(value=len(state.outputs) + len(state.places)),
        )
        return _place([*lines, body, orelse, ast.Expr(value=call)], node), used | more

    def _stop_test(self, node):
        stops = stops_of(getattr(node, "stop_flags", ()))
        return None if stops is None else self._expressions.visit(_place(stops, node))

    def _while(self, node):
        options = self._options(node)
        state = self._states[node]
        body, used = self._own_body(self._fresh("loop_body"), node.body, state)
        stops = stops_of(node.stop_flags)
        test = node.test
        if stops is not None:
            test = _place(ast.BoolOp(op=ast.And(), values=[stops, node.test]), node)
        result = ast.Return(value=self._expressions.visit(test))
        bound = {n.target.id for n in ast.walk(node.test) if isinstance(n, ast.NamedExpr)}
        lines = self._scoping(bound & (self._locals | self._declared.keys()))
        test = _function(self._fresh("loop_test"), (), [*lines, result])
        lines, accessors = self._accessors(state)
        call = _operator(
            "while_stmt",
            _load(test.name),
            _load(body.name),
            *accessors,
            _names_tuple(state.symbols),
            options,
        )
        return _place([*lines, body, test, ast.Expr(value=call)], node), used | bound

    def _for(self, node):
        options = self._options(node)
        state = self._states[node]
        item = self._fresh("item")
        first = ast.Assign(targets=[self._expressions.visit(node.target)], value=_load(item))
        body, used = self._own_body(
            self._fresh("loop_body"), node.body, state, (item,), [_place(first, node.target)]
        )
        lines, accessors = self._accessors(state)
        stops = self._stop_test(node)
        test = ast.Constant(value=None)
        if stops is not None:
            function = _function(self._fresh("goes_on"), (), [ast.Return(value=stops)])
            lines.append(function)
            test = _load(function.name)
        call = _operator(
            "for_stmt",
            self._expressions.visit(node.iter),
            test,
            _load(body.name),
            *accessors,
            _names_tuple(state.symbols),
            options,
        )
        return _place([*lines, body, ast.Expr(value=call)], node), used

    def _options(self, node):
        """The arguments of a set_loop_options() that a loop begins with, which is taken away."""
        call = getattr(node.body[0], "value", None) if node.body else None
        function = getattr(call, "func", None)
        if getattr(function, "attr", getattr(function, "id", None)) != _LOOP_OPTIONS:
            return ast.Constant(value=None)
        node.body = node.body[1:] or [ast.copy_location(ast.Pass(), node)]
        function = ast.Attribute(value=_load(OPERATORS), attr="loop_options", ctx=ast.Load())
        args = [self._expressions.visit(arg) for arg in call.args]
        keywords = [
            ast.keyword(arg=k.arg, value=self._expressions.visit(k.value)) for k in call.keywords
        ]
        return ast.Call(func=function, args=args, keywords=keywords)


class _State:
    """What a branch or loop changes: names that are live behind it, names that it only reads before
    it writes them, and places of objects."""

    def __init__(self, outputs, inputs, places):
        self.outputs = outputs
        self.inputs = inputs
        self.places = places

    @property
    def names(self):
        return [*self.outputs, *self.inputs]

    @property
    def symbols(self):
        return [*self.outputs, *self.places, *self.inputs]


def _item(values, index):
    return ast.Subscript(value=_load(values), slice=ast.Constant(value=index), ctx=ast.Load())


def _set_place(place, values, index):
    """Writes to the place of an object; what has no value is taken away."""
    write = ast.Assign(targets=[_fresh_copy(place, ast.Store())], value=_item(values, index))
    key = ast.Constant(value=place.attr) if isinstance(place, ast.Attribute) else place.slice
    parts = _lambda(_tuple([_fresh_copy(place.value, ast.Load()), _fresh_copy(key, ast.Load())]))
    is_item = ast.Constant(value=isinstance(place, ast.Subscript))
    forget = ast.Expr(value=_operator("forget", parts, is_item))
    return ast.If(test=_operator("is_defined", _item(values, index)), body=[write], orelse=[forget])


def _fresh_copy(node, ctx):
    """A copy of a place without positions, in another context."""
    copied = _stripped(ast.parse(ast.unparse(node), mode="eval").body)
    copied.ctx = ctx
    return copied


def _strip(node):
    for one in ast.walk(node):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            one.__dict__.pop(field, None)


def _stripped(node):
    _strip(node)
    return node


class _Declarations(ast.NodeTransformer):
    """Takes the declarations of scopes out of a function."""

    def __init__(self):
        self.found = {}

    def visit_Global(self, node):
        self.found.update(dict.fromkeys(node.names, "global"))
        return ast.copy_location(ast.Pass(), node)

    def visit_Nonlocal(self, node):
        self.found.update(dict.fromkeys(node.names, "nonlocal"))
        return ast.copy_location(ast.Pass(), node)

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


def _take_declarations(function):
    """{name: "global" or "nonlocal"} of the names that the function declares, and no more does."""
    taker = _Declarations()
    function.body = [taker.visit(statement) for statement in function.body]
    return taker.found
