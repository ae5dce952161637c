"""Where `rheos show --placement --gpus 2` has the nodes of many programs, and where the placer of
TensorFlow 2.21 has them, as recorded in tests/golden/placement.json by make_placement.py. Where the
two differ one of the reasons below holds, which are told in docs/gpu.md. No card is needed.
"""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import rheos.v1 as tf

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", ROOT / "build"))
GOLDEN = ROOT / "tests/golden"
sys.path.insert(0, str(GOLDEN))

import placement_programs as programs  # noqa: E402

programs.tf = tf
RECORDED = json.loads((GOLDEN / "placement.json").read_text())
CARDS = "01"

# A plan gives these no place: it knows what is constant, takes what is fed from where it is, and
# makes structures of its own of the flow of control.
OF_THE_PLAN = set("Const Placeholder PlaceholderWithDefault NoOp ControlTrigger LoopCond".split())
OF_THE_PLAN |= set("Enter Exit NextIteration Switch Merge".split())
# With arrays of tensors, queues and their like: what holds tensors, and what looks at a variable.
OF_THE_HOST = set("StackV2 StackPushV2 StackPopV2".split())
OF_THE_HOST |= {"VarIsInitializedOp", "IsVariableInitialized"}
ABOUT_SHAPES = {"Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs"}
WHOLE = {"bool", "int8", "uint8", "int16", "int32", "int64"}


def facts():
    """By op: lists of (the dtypes that a row of card_kernels.txt takes, what lies in the host's
    memory)."""
    rows = {}
    for line in (GOLDEN / "card_kernels.txt").read_text().splitlines()[1:]:
        op, *words = line.split()
        taken = dict(word.split("=") for word in words)
        host = taken.pop("host", "")
        rows.setdefault(op, []).append(({k: v.split(",") for k, v in taken.items()}, host))
    return rows


KERNELS = facts()


def name_of(dtype):
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def place_of_tensorflow(op):
    """"card", "host" (a device GPU whose values lie in the host's memory) or "none"."""
    for taken, host in KERNELS.get(op.type, ()):
        dtypes = {name: name_of(op.get_attr(name).base_dtype) for name in taken}
        if all(dtypes[name] in allowed for name, allowed in taken.items()):
            return "host" if host == "*" else "card"
    return "none"


def is_whole(op):
    values = [*op.inputs, *op.outputs]
    return all(value.dtype.base_dtype.name in WHOLE | {"resource"} for value in values)


class Groups:
    """What TensorFlow has in one place: who takes a reference or handle is where that is made."""

    def __init__(self, graph):
        self.graph = graph
        self.parents = {op: op for op in graph.get_operations()}
        for op in graph.get_operations():
            for value in op.inputs:
                if value.dtype._is_ref_dtype or value.dtype == tf.resource:
                    self.parents[self.root(op)] = self.root(value.op)
            for group in op.colocation_groups():
                self.parents[self.root(op)] = self.root(self.named(group))
        # Groups with an op that TensorFlow has no kernel for on cards are on the CPU.
        self.on_host = {
            self.root(op) for op in self.parents if place_of_tensorflow(op) == "none"
        }

    def named(self, group):
        return self.graph.get_operation_by_name(group.decode()[len("loc:@") :])

    def root(self, op):
        while self.parents[op] is not op:
            op = self.parents[op]
        return op

    def is_on_host(self, op):
        return self.root(op) in self.on_host


def is_of_the_host(op):
    return op.type in OF_THE_HOST or "TensorArray" in op.type or "Queue" in op.type


def reason(op, row, theirs, groups):
    """Why the op is not where TensorFlow has it; "": there is no reason."""
    ours = "c" if "CPU" in row["given"] else row["given"][-1]
    if op.type in OF_THE_PLAN or ours == theirs:
        return "it is"
    if op.type == "ReadVariableOp" and row["why"] == "asked for":
        return "a variable is read where that is asked for"
    if ours == "c" and theirs in CARDS:
        if place_of_tensorflow(op) == "host":
            return "there too its values are in the host's memory"
        if op.type in ABOUT_SHAPES or is_whole(op):
            return "whole numbers, of which a card computes nothing"
        if any(value.dtype == tf.string for value in op.outputs):
            return "strings"
        if row["why"].startswith("no kernel for"):
            return "no kernel"
        beside = [groups.named(group) for group in op.colocation_groups()]
        if any(is_of_the_host(other) or other.type in OF_THE_PLAN for other in [op, *beside]):
            return "the host's, or beside it"
    if ours in CARDS and theirs == "c":
        others = [value.op for value in op.inputs] if op.type == "Identity" else []
        if any(groups.is_on_host(other) for other in [op, *others]):
            return "no kernel there for something that is in one group with it, or its input"
    return ""


def place(path):
    command = [BUILD / "bin/rheos", "show", "--placement", "--json", "--gpus=2"]
    done = subprocess.run([*command, "--soft-placement", path], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["placement"]


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.__name__)
def test_program(program, tmp_path):
    with tf.Graph().as_default() as graph:
        program()
    graph_def, recorded = graph.as_graph_def(), RECORDED[program.__name__]
    nodes = " ".join(f"{node.name}:{node.op}" for node in graph_def.node)
    assert zlib.crc32(nodes.encode()) == recorded["nodes"], "the graph is not the one recorded"
    path = tmp_path / "graph.pb"
    path.write_bytes(graph_def.SerializeToString())
    groups, unlike = Groups(graph), {}
    for row, theirs in zip(place(path), recorded["places"], strict=True):
        op = graph.get_operation_by_name(row["node"])
        if not reason(op, row, theirs, groups):
            unlike[op.name] = op.type, row["given"], row["why"], theirs
    assert not unlike
