"""Branches and loops that operations are made in, as Python sees them, and their messages."""

from rheos.framework import messages
from rheos.framework.defaults import get_default_graph
from rheos.framework.proto_functions import register_proto_function, with_scope, without_scope


def context_numbered(graph, number):
    """The context of the graph's extension object with that number; None for 0."""
    if not number:
        return None
    found = graph._control_contexts.get(number)
    if found is None:
        fields = graph._describe_context(number)
        kind = WhileContext if fields["is_while"] else CondContext
        found = graph._control_contexts[number] = kind(graph, number)
    return found


class ControlFlowContext:
    """A branch of a conditional, or a loop. `Enter` makes it what operations are made in."""

    def __init__(self, graph, number):
        self._graph = graph
        self._number = number

    def _field(self, name):
        return self._graph._describe_context(self._number)[name]

    @property
    def name(self):
        return self._field("name")

    @property
    def outer_context(self):
        """The context that it lies in, or None."""
        return context_numbered(self._graph, self._field("outer"))

    _outer_context = outer_context

    @property
    def pivot(self):
        """The boolean that its operations wait for; of a loop, whether the loop goes on."""
        return self._field("pivot")

    @property
    def grad_state(self):
        return None

    def Enter(self):
        """Makes operations that follow operations of this context."""
        self._graph._push_context(self._number)

    def Exit(self):
        """Undoes Enter."""
        self._graph._pop()

    def GetWhileContext(self):
        """The innermost loop that it is or lies in, or None."""
        context = self
        while context is not None and not context.IsWhileContext():
            context = context.outer_context
        return context

    def IsWhileContext(self):
        return False

    def IsCondContext(self):
        return False

    def IsXLAContext(self):
        return False

    def __str__(self):
        return self.name

    # Messages

    def _fill(self, message, export_scope):
        message.context_name = without_scope(self.name, export_scope)
        values = self._graph._context_values(self._number)
        names = sorted(value.name for value, _ in values)
        message.values_def.values.extend(without_scope(name, export_scope) for name in names)
        for value, inside in values:
            if inside is not None:
                key = without_scope(value.name, export_scope)
                message.values_def.external_values[key] = without_scope(inside.name, export_scope)
        for context in self._nested():
            part = context.to_proto(export_scope)
            if part is not None:
                nested = message.nested_contexts.add()
                kind = nested.while_ctxt if context.IsWhileContext() else nested.cond_ctxt
                kind.CopyFrom(part)
        return message

    def _nested(self):
        number = self._number + 1  # contexts inside are younger
        while (fields := self._graph._describe_context(number)) is not None:
            if fields["outer"] == self._number:
                yield context_numbered(self._graph, number)
            number += 1

    def _is_below(self, export_scope):
        return not export_scope or self.name.startswith(export_scope)


class CondContext(ControlFlowContext):
    """A branch of a conditional."""

    @property
    def pred(self):
        """The boolean that tells whether the branch is taken."""
        return self._field("pred")

    @property
    def branch(self):
        """1 for the branch that is taken where `pred` holds, else 0."""
        return self._field("branch")

    @property
    def back_prop(self):
        loop = self.GetWhileContext()
        return loop is not None and loop.back_prop

    def GetControlPivot(self):
        return self.pivot

    def IsCondContext(self):
        return True

    def to_proto(self, export_scope=None):
        """A CondContextDef; None if the context is not below `export_scope`."""
        if not self._is_below(export_scope):
            return None
        message = messages.CondContextDef()
        message.pred_name = without_scope(self.pred.name, export_scope)
        message.pivot_name = without_scope(self.pivot.name, export_scope)
        message.branch = self.branch
        return self._fill(message, export_scope)

    @staticmethod
    def from_proto(context_def, import_scope=None):
        """The context of a message whose graph was imported below `import_scope`."""
        return _restore(context_def, import_scope, {"branch": context_def.branch})


class WhileContext(ControlFlowContext):
    """A loop."""

    @property
    def parallel_iterations(self):
        return self._field("parallel_iterations")

    @property
    def maximum_iterations(self):
        """The tensor that limits how often the body runs, or None."""
        return self._field("maximum_iterations")

    @property
    def back_prop(self):
        return self._field("back_prop")

    @property
    def swap_memory(self):
        return self._field("swap_memory")

    @property
    def loop_enters(self):
        """The variables as they enter."""
        return self._field("enters")

    @property
    def loop_exits(self):
        """The variables as they are after the loop."""
        return self._field("exits")

    _loop_enters, _loop_exits = loop_enters, loop_exits

    def GetControlPivot(self):
        fields = self._graph._describe_context(self._number)
        return fields["pivot_for_body"] or fields["pivot_for_pred"]

    def IsWhileContext(self):
        return True

    def to_proto(self, export_scope=None):
        """A WhileContextDef; None if the context is not below `export_scope`."""
        if not self._is_below(export_scope):
            return None
        fields = self._graph._describe_context(self._number)
        message = messages.WhileContextDef()
        for field in ("parallel_iterations", "back_prop", "swap_memory"):
            setattr(message, field, fields[field])
        for field in ("maximum_iterations", *_PIVOTS):
            if fields[field] is not None:
                setattr(message, f"{field}_name", without_scope(fields[field].name, export_scope))
        for field in ("enter", "exit"):
            names = (without_scope(t.name, export_scope) for t in fields[f"{field}s"])
            getattr(message, f"loop_{field}_names").extend(names)
        return self._fill(message, export_scope)

    @staticmethod
    def from_proto(context_def, import_scope=None):
        """The context of a message whose graph was imported below `import_scope`."""
        fields = {name: getattr(context_def, name) for name in _OF_LOOPS}
        return _restore(context_def, import_scope, {"is_while": True, **fields})


_PIVOTS = ("pivot", "pivot_for_pred", "pivot_for_body")
_OF_LOOPS = ("parallel_iterations", "back_prop", "swap_memory")


def _restore(message, import_scope, fields):
    graph = get_default_graph()

    def tensors(names):
        return [graph.as_graph_element(with_scope(name, import_scope)) for name in names]

    for field in ("pred", "maximum_iterations", *_PIVOTS):
        name = getattr(message, f"{field}_name", "")
        if name:
            (fields[field],) = tensors([name])
    external = dict(message.values_def.external_values)
    seen = list(dict.fromkeys([*message.values_def.values, *external]))
    number = graph._restore_context(
        fields,
        with_scope(message.context_name, import_scope),
        tensors(getattr(message, "loop_enter_names", ())),
        tensors(getattr(message, "loop_exit_names", ())),
        tensors(seen),
        [tensors([external[name]])[0] if name in external else None for name in seen],
    )
    context = context_numbered(graph, number)
    context.Enter()
    try:
        for nested in message.nested_contexts:
            kind = CondContext if nested.WhichOneof("ctxt") == "cond_ctxt" else WhileContext
            kind.from_proto(getattr(nested, nested.WhichOneof("ctxt")), import_scope)
    finally:
        context.Exit()
    return context


for _key, _kind in (("cond_context", CondContext), ("while_context", WhileContext)):
    register_proto_function(
        _key,
        f"{_kind.__name__}Def",
        lambda context, export_scope=None: context.to_proto(export_scope),
        _kind.from_proto,
    )
