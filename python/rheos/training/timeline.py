"""What a step took, as a trace for chrome://tracing: `tensorflow.python.client.timeline`."""

import collections
import re

# The most bytes that an allocator held, when, and the tensors that it held then.
AllocationMaximum = collections.namedtuple("AllocationMaximum", "timestamp num_bytes tensors")
# What a step came to: the trace, and a dict from allocators to AllocationMaximum.
StepStatsAnalysis = collections.namedtuple("StepStatsAnalysis", "chrome_trace allocator_maximums")

_LABEL = r"(?P<name>.*) = (?P<op>.*)\((?P<inputs>.*)\)$"


class _ChromeTrace:
    """The events of a trace."""

    def __init__(self):
        self._metadata, self._events = [], []

    def add_process(self, pid, name):
        args = {"name": name}
        self._metadata.append({"name": "process_name", "ph": "M", "pid": pid, "args": args})

    def add(self, ph, category, name, pid, tid, timestamp, **members):
        event = {"ph": ph, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": timestamp}
        event.update(members)
        self._events.append(event)

    def format_to_string(self, pretty=False):
        """The trace as JSON."""
        import json

        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


class _Tensor:
    """A tensor from its node's end to its last use."""

    def __init__(self, name, number, created, pid, allocator, num_bytes):
        self.name, self.number, self.created, self.pid = name, number, created, pid
        self.allocator, self.num_bytes = allocator, num_bytes
        self.last_use = created


def _parse_label(label):
    """(node, op, inputs without control inputs) of "node = Op(a, b:1)"; None if it is no such."""
    match = re.match(_LABEL, label, re.DOTALL)
    if match is None:
        return None
    inputs = [name for name in match["inputs"].split(", ") if name and not name.startswith("^")]
    return match["name"], match["op"], inputs


def _start_and_end(node):
    return node.all_start_micros, node.all_start_micros + node.all_end_rel_micros


class Timeline:
    """A step's `step_stats` as a trace.

    step_stats: of a RunMetadata. graph: not used.
    """

    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats
        self._trace = None
        self._tensors = {}
        self._maximums = {}

    def analyze_step_stats(self, show_dataflow=True, show_memory=True, op_time="schedule"):
        """The trace and the most that each allocator held, as a StepStatsAnalysis."""
        self._trace, self._tensors, self._maximums = _ChromeTrace(), {}, {}
        pids = self._add_processes()
        lanes = [self._lanes(device) for device in self._step_stats.dev_stats]
        self._collect_tensors(pids)
        self._add_nodes(pids, lanes, show_dataflow)
        self._count_memory(show_memory)
        if show_memory:
            self._add_tensors()
        return StepStatsAnalysis(self._trace, self._maximums)

    def generate_chrome_trace_format(
        self, show_dataflow=True, show_memory=False, op_time="schedule"
    ):
        """The trace as JSON.

        show_dataflow: with arrows from a node to those that take its outputs. show_memory: with
        the tensors and how much the allocators held.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory, op_time)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def _add_processes(self):
        """A process for the allocators, and two for each device: its nodes, its tensors."""
        self._trace.add_process(0, "Allocators")
        pids = []
        for i, device in enumerate(self._step_stats.dev_stats):
            pids.append((2 * i + 1, 2 * i + 2))
            self._trace.add_process(2 * i + 1, f"{device.device} Compute")
            self._trace.add_process(2 * i + 2, f"{device.device} Tensors")
        return pids

    @staticmethod
    def _lanes(device):
        """A row for each node such that nodes of one row do not overlap."""
        ends, lanes = [], {}
        for i in sorted(
            range(len(device.node_stats)), key=lambda i: device.node_stats[i].all_start_micros
        ):
            start, end = _start_and_end(device.node_stats[i])
            lane = next((k for k, busy_until in enumerate(ends) if busy_until <= start), len(ends))
            if lane == len(ends):
                ends.append(end)
            ends[lane] = end
            lanes[i] = lane
        return lanes

    def _collect_tensors(self, pids):
        for device, (_, pid) in zip(self._step_stats.dev_stats, pids):
            for node in device.node_stats:
                self._collect_outputs(node, pid)
        for device in self._step_stats.dev_stats:
            for node in device.node_stats:
                label = _parse_label(node.timeline_label)
                for name in label[2] if label else ():
                    tensor = self._tensors.get(name)
                    if tensor is not None:
                        tensor.last_use = max(tensor.last_use, _start_and_end(node)[1])

    def _collect_outputs(self, node, pid):
        for i, output in enumerate(node.output):
            slot = output.slot or i
            name = f"{node.node_name}:{slot}" if slot else node.node_name
            allocation = output.tensor_description.allocation_description
            if allocation.requested_bytes > 0 and name not in self._tensors:
                self._tensors[name] = _Tensor(
                    name,
                    len(self._tensors),
                    _start_and_end(node)[1],
                    pid,
                    allocation.allocator_name,
                    allocation.requested_bytes,
                )

    def _add_nodes(self, pids, lanes, show_dataflow):
        made_at = {}
        flows = 0
        for device, (pid, _), lane in zip(self._step_stats.dev_stats, pids, lanes):
            for i, node in enumerate(device.node_stats):
                made_at[node.node_name] = (pid, lane[i], _start_and_end(node)[1])
        for device, (pid, _), lane in zip(self._step_stats.dev_stats, pids, lanes):
            for i, node in enumerate(device.node_stats):
                inputs = self._add_node(node, pid, lane[i])
                for name in inputs if show_dataflow else ():
                    source = made_at.get(name.rsplit(":", 1)[0]) or made_at.get(name)
                    if source is None:
                        continue
                    flows += 1
                    self._add_flow(name, flows, source, (pid, lane[i], node.all_start_micros))

    def _add_node(self, node, pid, lane):
        """Adds the node's region; returns the names of its inputs."""
        name, op, inputs = _parse_label(node.timeline_label) or (
            node.node_name,
            node.timeline_label or node.node_name,
            [],
        )
        args = {"name": name, "op": op}
        args.update((f"input{i}", text) for i, text in enumerate(inputs))
        duration = node.all_end_rel_nanos / 1000 or node.all_end_rel_micros
        duration = duration or node.op_end_rel_micros
        start = node.all_start_micros
        self._trace.add("X", "Op", op, pid, lane, start, dur=duration, args=args)
        return inputs

    def _add_flow(self, name, number, source, target):
        for ph, (pid, lane, timestamp) in (("s", source), ("t", target)):
            self._trace.add(ph, "DataFlow", name, pid, lane, timestamp, id=number)

    def _count_memory(self, show_memory):
        """Follows how much each allocator holds as tensors come and go."""
        changes = collections.defaultdict(list)
        for tensor in self._tensors.values():
            changes[tensor.allocator].append((tensor.created, 0, tensor.num_bytes, tensor))
            changes[tensor.allocator].append((tensor.last_use, 1, -tensor.num_bytes, tensor))
        for allocator, list_of_changes in changes.items():
            total, most, most_at = 0, -1, 0
            list_of_changes.sort(key=lambda change: change[:2])
            for timestamp, _, num_bytes, _ in list_of_changes:
                total += num_bytes
                if total > most:
                    most, most_at = total, timestamp
                if show_memory:
                    args = {allocator: total}
                    self._trace.add("C", "Memory", allocator, 0, 0, timestamp, args=args)
            held = {
                tensor.name
                for _, _, _, tensor in list_of_changes
                if tensor.created <= most_at <= tensor.last_use
            }
            self._maximums[allocator] = AllocationMaximum(most_at, most, held)

    def _add_tensors(self):
        for tensor in self._tensors.values():
            place = ("Tensor", tensor.name, tensor.pid, 0)
            snapshot = {"tensor_description": f"{tensor.num_bytes} bytes of {tensor.allocator}"}
            self._trace.add("N", *place, tensor.created, id=tensor.number)
            self._trace.add(
                "O", *place, tensor.created, id=tensor.number, args={"snapshot": snapshot}
            )
            self._trace.add("D", *place, tensor.last_use, id=tensor.number)
