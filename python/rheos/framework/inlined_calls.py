"""GraphDefs whose calls of functions are the functions' nodes: these can be on several devices."""

from rheos.framework import messages
from rheos.framework.op_defs import op_def_message

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def inline_calls(graph_def, functions):
    """A GraphDef with the nodes of functions in place of their calls, and those of calls in these.

    functions: FunctionDefs by name; calls of others stay, and so do branches and loops. A node with
    the call's name stands for its results, and for its end.
    """
    made = messages.GraphDef(versions=graph_def.versions)
    waiting = list(reversed(graph_def.node))
    while waiting:
        node = waiting.pop()
        name = node.attr["f"].func.name if node.op in _CALLS else node.op
        function = functions.get(name)
        if function is None or function.signature.attr:
            made.node.append(node)
        else:
            waiting += reversed(_expanded(node, function))
    return made


def _expanded(call, function):
    """The nodes that stand for a call."""
    body = _Body(call, function)
    nodes = [body.copied(node) for node in function.node_def]
    results = [body.tensor(function.ret[arg.name]) for arg in function.signature.output_arg]
    ends = ["^" + body.prefix + node for node in function.control_ret.values()]
    if body.begin:
        controls = [one for one in call.input if one.startswith("^")]
        nodes.append(_node(body.begin[1:], "NoOp", controls, call.device))
        ends = ends or [body.begin]
    end = _node(call.name, "IdentityN" if results else "NoOp", results + ends, call.device)
    for arg in function.signature.output_arg if results else ():
        end.attr["T"].list.type.append(arg.type)
    return [*nodes, end]


def _node(name, op, inputs, device):
    return messages.NodeDef(name=name, op=op, input=inputs, device=device)


class _Body:
    """The body of a function as a call has it: names, and what its inputs are."""

    def __init__(self, call, function):
        self.prefix = f"{call.name}/"
        self._device = call.device
        data = [one for one in call.input if not one.startswith("^")]
        waits = len(data) < len(call.input)
        self.begin = f"^{self.prefix}call" if waits else ""  # what all of its nodes wait for
        names = [arg.name for arg in function.signature.input_arg]
        self._arguments = dict(zip(names, data))
        self._nodes = {node.name: node for node in function.node_def}

    def copied(self, node):
        """A node of the body as one of the caller's."""
        copy = messages.NodeDef()
        copy.CopyFrom(node)
        copy.name = self.prefix + node.name
        copy.device = node.device or self._device
        del copy.input[:]
        copy.input.extend(filter(None, map(self._input, node.input)))
        if self.begin:
            copy.input.append(self.begin)
        return copy

    def _input(self, name):
        if not name.startswith("^"):
            return self.tensor(name)
        if name[1:] not in self._arguments:
            return f"^{self.prefix}{name[1:]}"
        return "^" + self._arguments[name[1:]].partition(":")[0]

    def tensor(self, name):
        """A tensor of the body, "node:output:number", as the caller's graph names it."""
        if name in self._arguments:
            return self._arguments[name]
        node, output, number = name.split(":")
        return f"{self.prefix}{node}:{_first(self._nodes[node], output) + int(number)}"


def _first(node, output):
    """The number of the first tensor of an output of a node."""
    definition = op_def_message(node.op)
    if definition is None or node.op in _CALLS:
        return 0  # of a function's call: its outputs are one list, or have one tensor each
    count = 0
    for arg in definition.output_arg:
        if arg.name == output:
            return count
        if arg.number_attr:
            count += node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            count += len(node.attr[arg.type_list_attr].list.type)
        else:
            count += 1
    raise ValueError(f"{node.op} has no output {output}, which {node.name} is asked for")
