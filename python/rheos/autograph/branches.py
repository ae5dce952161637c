"""What `if` becomes: a branch of Python, or of the graph if it depends on a tensor."""

from rheos.autograph.state import (
    LOOPS,
    check_same,
    filled_like,
    is_value,
    scratch,
    spec_of,
    to_tensors,
)
from rheos.autograph.values import UndefinedReturn, condition, is_symbolic, is_undefined
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops, constant_op
from rheos.ops.flow import control_flow_ops


def if_stmt(test, body, orelse, get_state, set_state, symbols, count):
    """Runs `body` or `orelse`, or adds both to the graph.

    get_state, set_state: read and set the variables named in `symbols`, of which the first `count`
    are used afterwards; None if there are none.
    """
    if is_symbolic(test):
        _Branches(test, body, orelse, get_state, set_state, symbols, count).add()
    elif test:
        body()
    else:
        orelse()


def scalar_condition(value, of):
    """A condition as a tensor without dimensions."""
    tensor = condition(value, of)
    return tensor if tensor.shape.ndims == 0 else array_ops.reshape(tensor, ())


class _Branches:
    """The two branches of one statement in the graph."""

    def __init__(self, test, body, orelse, get_state, set_state, symbols, count):
        self._pred = scalar_condition(test, "if statement")
        self._functions = {"main": body, "else": orelse}
        self._get_state = get_state or (lambda: ())
        self._set_state = set_state or (lambda values: None)
        self._symbols = symbols
        self._count = count
        self._before = self._get_state()
        self._left = {}  # {branch: what it leaves in the variables}

    def add(self):
        """Adds them, and sets the variables to what comes out."""
        made = control_flow_ops.cond(
            self._pred, lambda: self._parts("main"), lambda: self._parts("else"), strict=True
        )
        results = iter(made)
        values = list(self._before)
        for index, value in enumerate(self._left["main"]):
            values[index] = next(results) if is_value(value) else value
        self._set_state(tuple(values))

    def _run(self, branch):
        self._set_state(self._before)
        self._functions[branch]()
        return list(self._get_state()[: self._count])

    def _parts(self, branch):
        """What a branch leaves that goes through the graph; a number if there is nothing."""
        values = self._run(branch)
        if LOOPS.is_inside and any(isinstance(v, UndefinedReturn) for v in values):
            self._fill(branch, values)
        self._check_defined(branch, values)
        self._left[branch] = values
        if len(self._left) == 2:
            self._check_same()
        parts = [to_tensors(value) for value in values if is_value(value)]
        return tuple(parts) or (constant_op.constant(0),)

    def _fill(self, branch, values):
        """In a loop, what is not returned yet is zero; a flag tells that it is no value."""
        other = "else" if branch == "main" else "main"
        left = self._left.get(other)
        if left is None:
            with scratch():
                left = [spec_of(value) for value in self._run(other)]
        for index, value in enumerate(values):
            if isinstance(value, UndefinedReturn) and not is_undefined(left[index]):
                values[index] = filled_like(left[index])

    def _check_defined(self, branch, values):
        for name, value in zip(self._symbols, values):
            if isinstance(value, UndefinedReturn):
                raise ValueError(
                    f"the {branch} branch must also have a return statement: where the graph "
                    "branches, all branches return a value or none does"
                )
            if is_undefined(value):
                raise ValueError(f"'{name}' must also be initialized in the {branch} branch")

    def _check_same(self):
        """ValueError or TypeError if what the branches leave in a variable cannot be one value."""
        for name, one, other in zip(self._symbols, self._left["main"], self._left["else"]):
            if one is other and one is not None and not is_value(one):
                continue
            for branch, value in (("main", one), ("else", other)):
                if value is None:
                    raise ValueError(f"'{name}' is None at the end of the {branch} branch.")
                if not is_value(value):
                    raise TypeError(
                        f"'{name}' is {value!r} at the end of the {branch} branch, which a tensor "
                        "cannot choose"
                    )
            places = ("in the main branch", "in the else branch")
            check_same(name, one, other, places)


def if_exp(test, body, orelse):
    """`body() if test else orelse()`."""
    if not is_symbolic(test):
        return body() if test else orelse()
    values = {}

    def part(branch, function):
        def run():
            value = values[branch] = function()
            if not is_value(value):
                raise TypeError(
                    f"the {branch} part of a conditional expression is {value!r}, which a tensor "
                    "cannot choose"
                )
            if len(values) == 2:
                places = ("in the first part", "in the last part")
                check_same("conditional expression", values["first"], values["last"], places)
            return (to_tensors(value),)

        return run

    pred = scalar_condition(test, "conditional expression")
    parts = (part("first", body), part("last", orelse))
    return control_flow_ops.cond(pred, *parts, strict=True)[0]


def assert_stmt(test, message):
    """`assert test, message()`; of a tensor, an operation that fails."""
    if not is_symbolic(test):
        assert test, message()
        return
    text = message()
    data = text if isinstance(text, (list, tuple)) else [text]
    control_flow_ops.Assert(convert_to_tensor(test), data)
