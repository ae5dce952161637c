"""What a step will run, for people: in which order, what became of the operations, and where."""

import json
from collections import namedtuple

import numpy as np


class Instruction(namedtuple("Instruction", "name op shape dtype device with_ rule file line")):
    """One instruction of a step.

    name, op: of the operation whose value it gives. shape, dtype: of that value; None where only a
    run tells. device: None for the first. with_: names of the operations that are computed along
    with it; rule: the rule that put them together or made it, None. file, line: where the program
    made the operation; None and 0 if that is not known.
    """

    __slots__ = ()

    def __str__(self):
        text = f"{self.op or 'read'} {self.name}"
        if self.shape is not None:
            text += f" {self.dtype} {self.shape}"
        if self.with_:
            text += f", with {', '.join(self.with_)}"
        if self.rule:
            text += f", by {self.rule}"
        if self.device:
            text += f", on {self.device}"
        return text + (f"  ({self.file}:{self.line})" if self.file else "")


class Explanation:
    """What `Session.explain` found; str() of it is text for people.

    instructions: [Instruction], in the order of running. folded: names of operations that have
    become constants. dropped: names of those that the fetches reach but that do not run: what gives
    its input on, what is computed elsewhere too, what rules replaced. num_needed: of operations
    that the fetches reach; num_operations: of the graph. block_bytes: memory for intermediate
    values. assumed: {name: shape} of inputs whose dimensions were not told. plan: all of it, as
    `rheos show --plan --json` has it.
    """

    def __init__(self, plan, graph, reached, assumed):
        self.plan = plan
        self.assumed = assumed
        self.num_needed = len(reached)
        self.num_operations = len(graph.get_operations())
        self.instructions, self.folded = [], []
        self.block_bytes = sum(segment["block_bytes"] for segment in plan["segments"])
        self.bodies = [body["name"] for body in plan["bodies"] if "name" in body]
        entries = {entry["entry"]: entry for entry in plan["entries"]}
        seen = set()
        for segment in plan["segments"]:
            values = {value["value"]: value for value in segment["values"]}
            for instruction in segment["instructions"]:
                if instruction["runs"]:  # else it holds room for a value
                    self._add(instruction, entries, values, graph)
            for entry in entries.values():
                lies = [values[v]["lies"] for v in entry["values"] if v in values]
                if entry["op"] not in (None, "Const") and lies and set(lies) == {"constant"}:
                    self.folded.append(entry["name"])
                if lies:
                    seen.add(entry["name"])
        self.dropped = [name for name in reached if name not in seen]

    def _add(self, instruction, entries, values, graph):
        *others, last = (entries[number] for number in instruction["runs"])
        value = values.get(instruction["values"][0]) if instruction["values"] else None
        shape = None if value is None or value["shape"] is None else tuple(value["shape"])
        file, line = _place(graph, last["name"])
        self.instructions.append(
            Instruction(
                last["name"],
                last["op"],
                shape,
                None if value is None else value["dtype"],
                last["device"],
                [entry["name"] for entry in others],
                instruction["made_by"] or last["rule"],
                file,
                line,
            )
        )

    def __str__(self):
        lines = [
            f"{len(self.instructions)} instructions, of {self.num_needed} operations that are"
            f" needed ({self.num_operations} in the graph)"
        ]
        lines += [f"  {i + 1:3} {what}" for i, what in enumerate(self.instructions)]
        for what, names in (("constants", self.folded), ("not run", self.dropped)):
            if names:
                lines.append(f"{what}: {len(names)}: {_some(names)}")
        if self.bodies:
            lines.append(f"calls: {_some(self.bodies)}")
        lines.append(f"intermediate values: {self.block_bytes:,} bytes")
        for name, shape in self.assumed.items():
            taken = f"{name} is taken to be {list(shape)}"
            lines.append(taken + ": give its value or shape to be exact")
        return "\n".join(lines)


def _some(names, most=10):
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _place(graph, name):
    try:
        place = graph.get_operation_by_name(name)._source
    except (KeyError, ValueError, AttributeError):
        return None, 0
    return place if place else (None, 0)


def _reached(fetches, fed):
    """Names of the operations that the fetches need, those that are fed left out."""
    names, stack = {}, [getattr(fetch, "op", fetch) for fetch in fetches if fetch not in fed]
    while stack:
        operation = stack.pop()
        if operation.name in names:
            continue
        names[operation.name] = operation
        stack.extend(tensor.op for tensor in operation.inputs if tensor not in fed)
        stack.extend(operation.control_inputs)
    return names


def _shape_of(value):
    if isinstance(value, tuple) and all(isinstance(d, (int, np.integer)) for d in value):
        return tuple(int(d) for d in value)  # a shape
    if hasattr(value, "as_list"):
        return tuple(value.as_list())
    return np.shape(value)


def explain(session, elements, keys, values, tensors, operations):
    """The Explanation of a step; keys and values are its feeds, as arrays or shapes."""
    feeds, shapes, assumed = list(keys), [_shape_of(value) for value in values], {}
    reached = _reached(elements, set(keys))
    for operation in reached.values():
        if operation.type != "Placeholder":
            continue
        tensor = operation.outputs[0]
        static = tensor.shape
        if static.ndims is None:
            raise ValueError(f"The shape of {tensor.name} is not known: give its value or shape.")
        shape = tuple(1 if d is None else d for d in static.as_list())
        if None in static.as_list():
            assumed[tensor.name] = shape
        feeds.append(tensor)
        shapes.append(shape)
    plan = json.loads(session._plan_json(feeds, shapes, tensors, operations))
    return Explanation(plan, session.graph, list(reached), assumed)
