"""Lowers `return`, `break` and `continue` to flags, so that control goes on behind each statement.

What follows a branch that always jumps becomes the other branch; what follows one that may have
jumped is guarded by the flags it may have set. Loops note in `stop_flags` the flags that end them.
"""

import ast

from rheos.autograph import names

_LOOPS = (ast.While, ast.For)


class Jumps:
    """Lowers one function. `fresh` gives names that the function does not use."""

    def __init__(self, fresh):
        self._fresh = fresh
        self.did_return = fresh("did_return")
        self.value = fresh("return_value")
        self.is_lowered = False  # whether the flag and the value are used
        self._breaks = []  # of the loops around: the flags of break and continue

    def function(self, body):
        """The statements of a function in the lowered form, which ends in its only return."""
        lowered, flags, _ = self._block(body)
        if not flags:
            return lowered
        if len(lowered) >= 2 and _is_tail(lowered, self):
            return [*lowered[:-2], _at(lowered[-1], ast.Return(value=lowered[-2].value))]
        self.is_lowered = True
        return lowered

    def _block(self, statements):
        """(lowered statements, the flags they may set, whether they always jump)."""
        done, flags = [], set()
        for index, statement in enumerate(statements):
            rest = statements[index + 1 :]
            lowered, set_here, always = self._statement(statement, rest)
            done += lowered
            flags |= set_here
            if always:
                return done, flags, True
            if always is None:  # the rest went into a branch
                return done, flags, False
            if set_here and rest:
                guarded, set_there, always_there = self._block(rest)
                done.append(_at(rest[0], ast.If(test=_none_of(set_here), body=guarded, orelse=[])))
                return done, flags | set_there, always_there
        return done, flags, False

    def _statement(self, node, rest):
        """The same of one statement; None for `always` if it took the rest of its block along."""
        if isinstance(node, ast.Return):
            value = node.value or ast.Constant(value=None)
            return self._set(node, self.value, value, self.did_return)
        if isinstance(node, ast.Break):
            return self._set(node, None, None, self._breaks[-1][0])
        if isinstance(node, ast.Continue):
            return self._set(node, None, None, self._breaks[-1][1])
        if isinstance(node, ast.If):
            return self._if(node, rest)
        if isinstance(node, _LOOPS):
            return self._loop(node)
        if isinstance(node, ast.Raise):
            return [node], set(), True
        if isinstance(node, (ast.With, ast.Try)) or type(node).__name__ in ("TryStar", "Match"):
            return self._other(node)
        return [node], set(), False

    def _set(self, node, name, value, flag):
        lines = [] if name is None else [_assign(node, name, value)]
        lines.append(_assign(node, flag, ast.Constant(value=True)))
        return lines, {flag}, True

    def _if(self, node, rest):
        body, orelse, taken = node.body, node.orelse, False
        ends = (always_jumps(body), always_jumps(orelse))
        if rest and ends[0] != ends[1] and _may_jump([node]):
            taken = None
            body, orelse = (body, [*orelse, *rest]) if ends[0] else ([*body, *rest], orelse)
        body, of_body, _ = self._block(body)
        orelse, of_orelse, _ = self._block(orelse)
        new = _at(node, ast.If(test=node.test, body=body or [_at(node, ast.Pass())], orelse=orelse))
        return [new], of_body | of_orelse, True if ends[0] and ends[1] else taken

    def _loop(self, node):
        flags = (self._fresh("did_break"), self._fresh("did_continue"))
        self._breaks.append(flags)
        body, set_inside, _ = self._block(node.body)
        self._breaks.pop()
        before = []
        if flags[1] in set_inside:
            body.insert(0, _assign(node, flags[1], ast.Constant(value=False)))
            before.append(_assign(node, flags[1], ast.Constant(value=False)))
        if flags[0] in set_inside:
            before.append(_assign(node, flags[0], ast.Constant(value=False)))
        stops = sorted(set_inside - {flags[1]})
        fields = {name: getattr(node, name) for name in node._fields}
        new = _at(node, type(node)(**{**fields, "body": body, "orelse": []}))
        new.stop_flags = stops
        lowered, outside = [*before, new], set_inside - set(flags)
        if not node.orelse:
            return lowered, outside, False
        orelse, more, always = self._block(node.orelse)
        if stops:
            orelse = [_at(node.orelse[0], ast.If(test=_none_of(stops), body=orelse, orelse=[]))]
            always = False
        return [*lowered, *orelse], outside | more, always

    def _other(self, node):
        """Of statements that run blocks of their own as Python does: with, try, match."""
        if isinstance(node, ast.With):
            body, flags, _ = self._block(node.body)  # a context may go on behind what is raised
            return [_at(node, ast.With(items=node.items, body=body))], flags, False
        if type(node).__name__ == "Match":
            found = [self._block(case.body) for case in node.cases]
            cases = [_with(case, body=body) for case, (body, _, _) in zip(node.cases, found)]
            return [_with(node, cases=cases)], set().union(*(f for _, f, _ in found)), False
        body, flags, _ = self._block(node.body)
        orelse, more, _ = self._block(node.orelse)
        if flags and orelse:
            orelse = [_at(node.orelse[0], ast.If(test=_none_of(flags), body=orelse, orelse=[]))]
        flags = flags | more
        handlers = []
        for handler in node.handlers:
            lowered, more, _ = self._block(handler.body)
            handlers.append(_with(handler, body=lowered))
            flags |= more
        final, more, _ = self._block(node.finalbody)
        parts = {"body": body, "handlers": handlers, "orelse": orelse, "finalbody": final}
        return [_with(node, **parts)], flags | more, False


def _with(node, **fields):
    """A copy of a node with other fields."""
    parts = {name: getattr(node, name) for name in node._fields}
    return ast.copy_location(type(node)(**{**parts, **fields}), node)


def _may_jump(statements, in_loop=False):
    """Whether there is a jump in the statements that leads out of them."""
    for node in statements:
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, (ast.Break, ast.Continue)):
            if not in_loop:
                return True
        elif not isinstance(node, names.SCOPES):
            inner = in_loop or isinstance(node, _LOOPS)
            blocks = [getattr(node, f, ()) for f in ("body", "orelse", "finalbody")]
            parts = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
            blocks += [part.body for part in parts]
            if any(isinstance(b, list) and _may_jump(b, inner) for b in blocks):
                return True
    return False


def always_jumps(statements):
    """Whether control never goes on behind the statements."""
    for node in statements:
        if isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(node, ast.If) and always_jumps(node.body) and always_jumps(node.orelse):
            return True
    return False


def _at(place, node):
    ast.copy_location(node, place)
    return ast.fix_missing_locations(node)


def _assign(place, name, value):
    return _at(place, ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value))


def _load(name):
    return ast.Name(id=name, ctx=ast.Load())


def _none_of(flags):
    """An expression for that none of the flags is set."""
    values = [ast.UnaryOp(op=ast.Not(), operand=_load(flag)) for flag in sorted(flags)]
    return values[0] if len(values) == 1 else ast.BoolOp(op=ast.And(), values=values)


def stops_of(flags):
    """The same as _none_of; None without flags."""
    return _none_of(flags) if flags else None


def _is_tail(lowered, jumps):
    """Whether the only jump is the return at the end."""
    value, flag = lowered[-2:]
    if not (isinstance(flag, ast.Assign) and isinstance(value, ast.Assign)):
        return False
    if getattr(flag.targets[0], "id", None) != jumps.did_return:
        return False
    return jumps.did_return not in names.uses_of(*lowered[:-1]).writes
