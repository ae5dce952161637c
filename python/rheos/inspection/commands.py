"""What is asked of a dumped step at tfdbg's prompt: commands with TensorFlow's names and options.

Each takes the words behind its name and gives lines of text; CommandError says what is wrong.
"""

import argparse
import linecache
import re

import numpy as np

from rheos.inspection.dump_dir import InconvertibleTensorProto

_MOST_ELEMENTS = 2000  # that are printed unless all are asked for
_DEPTH = 20


class CommandError(Exception):
    """A command that cannot be done; its text is for the user."""


class Parser(argparse.ArgumentParser):
    """Arguments of a command; wrong ones are a CommandError, and so is -h, with the help."""

    def __init__(self, name, description):
        super().__init__(prog=name, description=description, add_help=False)
        self.add_argument("-h", "--help", action="store_true", help="print this")

    def error(self, message):
        raise CommandError(f"ERROR: {message}\n{self.format_usage().strip()}")

    def parsed(self, words):
        """The namespace."""
        if "-h" in words or "--help" in words:
            raise CommandError(self.format_help().rstrip())
        return self.parse_args(words)


def split_slice(text):
    """("name:0", "[1, :]") of "name:0[1, :]"; the second is "" without one."""
    found = re.fullmatch(r"([^\[]+)(\[.*\])?", text)
    if found is None:
        raise CommandError(f'ERROR: "{text}" is not the name of a tensor')
    return found[1], found[2] or ""


def sliced(array, text):
    """The part of an array that "[0:2, :]" stands for, which is numbers, colons and commas."""
    if not text:
        return array
    indices = []
    for part in text[1:-1].split(","):
        numbers = [number.strip() for number in part.split(":")]
        try:
            if part.strip() == "...":
                indices.append(Ellipsis)
            elif len(numbers) == 1:
                indices.append(int(numbers[0]))
            else:
                indices.append(slice(*(int(number) if number else None for number in numbers)))
        except (TypeError, ValueError):
            raise CommandError(f'ERROR: "{text}" is not a slice such as [0:2, :]') from None
    try:
        return np.asarray(array)[tuple(indices)]
    except IndexError as error:
        raise CommandError(f"ERROR: {error}") from None


def _counts(array):
    names = [("nan", np.isnan(array)), ("-inf", np.isneginf(array)), ("-", array < 0),
             ("0", array == 0), ("+", array > 0), ("+inf", np.isposinf(array))]  # fmt: skip
    finite = np.isfinite(array)
    rows = [(n, int((w & finite if n in "-+" else w).sum())) for n, w in names]
    return [(name, count) for name, count in rows if count] + [("total", array.size)]


def _table(rows):
    widths = [max(len(str(part)) for part in column) for column in rows]
    return [
        "| " + " ".join(str(column[i]).rjust(w) for column, w in zip(rows, widths)) + " |"
        for i in range(2)
    ]


def numeric_summary(array):
    """Lines with counts by sign, and the least, most, mean and deviation of the finite numbers."""
    if array.dtype.kind not in "fiub" or not array.size:
        return [f"No numeric summary available for {array.dtype} of {array.size} elements"]
    numbers = array.astype(np.float64)
    lines = ["Numeric summary:", *_table(_counts(numbers))]
    finite = numbers[np.isfinite(numbers)]
    if finite.size:
        facts = ("min", finite.min()), ("max", finite.max()), ("mean", finite.mean())
        lines += _table([(n, f"{v:.8g}") for n, v in (*facts, ("std", finite.std()))])
    return lines


def tensor_lines(name, value, options):
    """Lines about a tensor as print_tensor and print_feed show it."""
    if isinstance(value, InconvertibleTensorProto):
        return [f'Tensor "{name}":', "", *str(value).splitlines()]
    array = np.asarray(value)
    lines = [f'Tensor "{name}":', f"  dtype: {array.dtype}", f"  shape: {array.shape}", ""]
    if options.numeric_summary:
        lines += [*numeric_summary(array), ""]
    if options.write_path:
        np.save(options.write_path, array)
        lines += [f"Saved value to: {options.write_path}", ""]
    most = array.size + 1 if options.all else min(_MOST_ELEMENTS, 1000)
    with np.printoptions(threshold=most):
        return lines + repr(array).splitlines()


def add_print_options(parser):
    """The options of print_tensor and print_feed."""
    parser.add_argument("tensor_name", help='"scope/op:0", with "[0:2, :]" behind it for a part')
    parser.add_argument("-n", "--number", type=int, default=-1, help="which of several dumps")
    parser.add_argument("-a", "--all", action="store_true", help="all elements")
    parser.add_argument("-s", "--numeric_summary", action="store_true", help="and its numbers")
    parser.add_argument("-w", "--write_path", help="a .npy file to write it to")


def list_header(count, filter_name=None):
    """What list_tensors begins with."""
    passing = f' passing filter "{filter_name}"' if filter_name else ""
    return f"{count} dumped tensor(s){passing}:"


class Analyzer:
    """The commands about one dumped step.

    dump: a DebugDumpDir. filters: {name: predicate of (datum, tensor)}.
    """

    def __init__(self, dump, filters):
        self._dump = dump
        self._filters = filters
        self.commands = {
            "list_tensors": (self.list_tensors, ["lt"], "list the dumped tensors"),
            "node_info": (self.node_info, ["ni"], "what is known of a node"),
            "list_inputs": (self.list_inputs, ["li"], "what a node is computed from"),
            "list_outputs": (self.list_outputs, ["lo"], "what is computed from a node"),
            "print_tensor": (self.print_tensor, ["pt"], "print a dumped tensor"),
            "print_source": (self.print_source, ["ps"], "a source file with the nodes it made"),
            "list_source": (self.list_source, ["ls"], "the source files that made nodes"),
        }

    # ---- Tensors

    def list_tensors(self, words):
        parser = Parser("list_tensors", "List dumped tensors.")
        parser.add_argument("-f", "--tensor_filter", default="", help="those that pass a filter")
        parser.add_argument("-fenn", "--filter_exclude_node_names", default="",
                            help="with -f: not of nodes that match")  # fmt: skip
        parser.add_argument("-n", "--node_name_filter", default="", help="of nodes that match")
        parser.add_argument("-t", "--op_type_filter", default="", help="of types that match")
        parser.add_argument("-s", "--sort_by", default="timestamp",
                            choices=["timestamp", "dump_size", "op_type", "tensor_name"],
                            help="what comes first")  # fmt: skip
        parser.add_argument("-r", "--reverse", action="store_true", help="the other way round")
        asked = parser.parsed(words)
        data = self._filtered(asked)
        keys = {
            "timestamp": lambda d: d.timestamp,
            "dump_size": lambda d: d.dump_size_bytes,
            "op_type": self._type_of,
            "tensor_name": lambda d: d.tensor_name,
        }
        data.sort(key=keys[asked.sort_by], reverse=asked.reverse)
        rows = [("t (ms)", "Size (B)", "Op type", "Tensor name")]
        start = self._dump.t0
        rows += [
            (f"[{(d.timestamp - start) / 1000:.3f}]", str(d.dump_size_bytes), self._type_of(d),
             d.tensor_name)
            for d in data
        ]  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [list_header(len(data), asked.tensor_filter)]
        if asked.node_name_filter:
            lines.append(f'Node name regex filter: "{asked.node_name_filter}"')
        if asked.op_type_filter:
            lines.append(f'Op type regex filter: "{asked.op_type_filter}"')
        lines.append("")
        return lines + [
            " ".join([*(part.ljust(w) for part, w in zip(row, widths)), row[3]]) for row in rows
        ]

    def _type_of(self, datum):
        try:
            return self._dump.node_op_type(datum.node_name)
        except (LookupError, ValueError):
            return "?"

    def _filtered(self, asked):
        data = self._dump.dumped_tensor_data
        if asked.tensor_filter:
            predicate = self._filters.get(asked.tensor_filter)
            if predicate is None:
                name = asked.tensor_filter
                raise CommandError(f'ERROR: There is no tensor filter named "{name}".')
            excluded = asked.filter_exclude_node_names
            data = self._dump.find(predicate, exclude_node_names=excluded or None)
        names, types = map(_pattern, (asked.node_name_filter, asked.op_type_filter))
        return [d for d in data if names(d.node_name) and types(self._type_of(d))]

    def print_tensor(self, words):
        parser = Parser("print_tensor", "Print a dumped tensor, or a part of it.")
        add_print_options(parser)
        asked = parser.parsed(words)
        name, part = split_slice(asked.tensor_name)
        data = self._data_of(name)
        if asked.number >= len(data) or asked.number < 0 and len(data) > 1:
            lines = [f'Tensor "{name}" generated {len(data)} dumps:', ""]
            start = self._dump.t0
            lines += [
                f"#{i} [{(d.timestamp - start) / 1000:.3f} ms] {d.watch_key}"
                for i, d in enumerate(data)
            ]
            lines += ["", "Use the -n (--number) flag to specify which dump to print."]
            return lines
        datum = data[max(asked.number, 0)]
        value = datum.get_tensor()
        if part and not isinstance(value, InconvertibleTensorProto):
            value = sliced(value, part)
        return tensor_lines(datum.watch_key + part, value, asked)

    def _data_of(self, name):
        """The dumps of "node", "node:slot" or "node:slot:debug op"."""
        node = name.split(":")[0]
        self._check_node(node)
        prefix = name if name.count(":") > 1 else name + ":" if ":" in name else name + ":0:"
        keys = self._dump.debug_watch_keys(node)
        found = [k for k in keys if k == prefix or prefix.endswith(":") and k.startswith(prefix)]
        if not found:
            raise CommandError(f'ERROR: Node "{node}" did not generate any dumps of "{name}"')
        return self._dump.watch_key_to_data(found[0])

    def _check_node(self, node):
        if not self._dump.node_exists(node):
            raise CommandError(f'ERROR: Node "{node}" does not exist in partition graphs')

    # ---- Nodes

    def node_info(self, words):
        parser = Parser("node_info", "What is known of a node.")
        parser.add_argument("node_name")
        parser.add_argument("-a", "--attributes", action="store_true", help="and its attributes")
        parser.add_argument("-d", "--dumps", action="store_true", help="and what was dumped")
        parser.add_argument("-t", "--traceback", action="store_true", help="and its lines")
        asked = parser.parsed(words)
        node, dump = asked.node_name.partition(":")[0], self._dump
        self._check_node(node)
        lines = [f"Node {node}", "", f"  Op: {dump.node_op_type(node)}",
                 f"  Device: {dump.node_device(node)}", ""]  # fmt: skip
        lines += self._neighbours("input", dump.node_inputs, node)
        lines += self._neighbours("recipient", dump.node_recipients, node)
        if asked.attributes:
            lines.append("Node attributes:")
            for key, value in sorted(dump.node_attributes(node).items()):
                lines += [f"  {key}:", *(f"    {line}" for line in str(value).splitlines()), ""]
        if asked.dumps:
            lines += self._dumps_of(node)
        if asked.traceback:
            lines += ["", "Traceback of node construction:", *self._lines_of(node)]
        return lines

    def _neighbours(self, what, neighbours, node):
        plain, control = neighbours(node), neighbours(node, is_control=True)
        lines = [f"  {len(plain)} {what}(s) + {len(control)} control {what}(s):"]
        for some, names in ((f"{what}(s)", plain), (f"control {what}(s)", control)):
            if names or some == f"{what}(s)":
                lines.append(f"    {len(names)} {some}:")
                lines += [f"      [{self._op_type(name)}] {name}" for name in names]
        return [*lines, ""]

    def _op_type(self, name):
        name = name.partition(":")[0]
        return self._dump.node_op_type(name) if self._dump.node_exists(name) else "?"

    def _dumps_of(self, node):
        keys = self._dump.debug_watch_keys(node)
        data = [d for key in keys for d in self._dump.watch_key_to_data(key)]
        start = self._dump.t0
        return [f"{len(data)} dumped tensor(s):", ""] + [
            f"  Slot {d.output_slot} @ {d.debug_op} @ {(d.timestamp - start) / 1000:.3f} ms"
            for d in data
        ]

    def _lines_of(self, node):
        try:
            frames = self._dump.node_traceback(node)
        except (LookupError, KeyError):
            return ["(Unavailable because no Python graph has been loaded)"]
        lines = []
        for number, (file, line, function, text) in enumerate(frames):
            text = text or linecache.getline(file, line).strip()
            lines += [f"{number}: {file}", f"  Line:     {line}"]
            lines += [f"  Function: {function}"] if function else []
            lines += [f'  Text:     "{text}"', ""]
        return lines

    def list_inputs(self, words):
        return self._tree("list_inputs", "Inputs to", self._dump.node_inputs, words)

    def list_outputs(self, words):
        return self._tree("list_outputs", "Recipients of", self._dump.node_recipients, words)

    def _tree(self, command, title, neighbours, words):
        parser = Parser(command, f"{title} a node.")
        parser.add_argument("node_name")
        parser.add_argument("-c", "--control", action="store_true", help="also for order alone")
        parser.add_argument("-d", "--depth", type=int, default=_DEPTH, help="how far")
        parser.add_argument("-r", "--recursive", action="store_true", help="more than one step")
        parser.add_argument("-t", "--op_type", action="store_true", help="with types")
        asked = parser.parsed(words)
        node = asked.node_name.partition(":")[0]
        self._check_node(node)
        depth = asked.depth if asked.recursive else 1
        control = ", control inputs included" if asked.control else ""
        lines = [f'{title} node "{node}" (Depth limit = {depth}{control}):']
        self._add_tree(lines, neighbours, node, 1, depth, asked, {node})
        lines += ["", "Legend:", "  (d): recursion depth = d."]
        lines += ["  (Ctrl): Control input."] if asked.control else []
        return lines + (["  [Op]: Input node has op type Op."] if asked.op_type else [])

    def _add_tree(self, lines, neighbours, node, level, depth, asked, seen):
        found = [(name.partition(":")[0], "") for name in neighbours(node)]
        if asked.control:
            found += [(name, "(Ctrl) ") for name in neighbours(node, is_control=True)]
        for name, mark in dict.fromkeys(found):
            indent = "|  " * (level - 1)
            kind = f"[{self._op_type(name)}] " if asked.op_type else ""
            lines.append(f"{indent}|- ({level}) {mark}{kind}{name}")
            if name in seen or not self._dump.node_exists(name):
                continue
            seen.add(name)
            if level < depth:
                self._add_tree(lines, neighbours, name, level + 1, depth, asked, seen)
            elif neighbours(name):
                lines.append(f"{indent}|  |- ...")

    # ---- The program

    def _nodes_by_file(self):
        """{file: {line: [names of nodes]}}, of the program's innermost lines."""
        files = {}
        for name in self._dump.nodes():
            try:
                frames = self._dump.node_traceback(name)
            except (LookupError, KeyError):
                continue
            if frames:
                file, line = frames[-1][:2]
                files.setdefault(file, {}).setdefault(line, []).append(name)
        return files

    def list_source(self, words):
        parser = Parser("list_source", "List the source files that made nodes of this step.")
        parser.parsed(words)
        rows = [("Source file path", "#(nodes)", "#(tensor dumps)")]
        for file, by_line in sorted(self._nodes_by_file().items()):
            names = {name for found in by_line.values() for name in found}
            dumps = sum(d.node_name in names for d in self._dump.dumped_tensor_data)
            rows.append((file, str(len(names)), str(dumps)))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return ["List of source files that created nodes in this run", ""] + [
            " ".join(part.ljust(w) for part, w in zip(row, widths)).rstrip() for row in rows
        ]

    def print_source(self, words):
        parser = Parser("print_source", "Print a source file with the nodes that its lines made.")
        parser.add_argument("source_file_path")
        parser.add_argument("-t", "--tensors", action="store_true", help="tensors, not nodes")
        parser.add_argument("-m", "--max_elements_per_line", type=int, default=10)
        parser.add_argument("-b", "--line_begin", type=int, default=1)
        asked = parser.parsed(words)
        files = self._nodes_by_file()
        path = asked.source_file_path
        found = [file for file in files if file == path or file.endswith("/" + path)]
        by_line = files[found[0]] if found else {}
        try:
            with open(found[0] if found else path, encoding="utf-8") as source:
                texts = source.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"ERROR: {error}") from None
        lines = []
        for number, text in enumerate(texts, 1):
            if number < asked.line_begin:
                continue
            lines.append(f"{f'L{number}':<{len(str(len(texts))) + 2}} {text}")
            names = by_line.get(number, [])
            if asked.tensors:
                keys = [key for name in names for key in self._dump.debug_watch_keys(name)]
                names = [key.rpartition(":")[0] for key in keys]
            lines += [f"    {name}" for name in names[: asked.max_elements_per_line]]
            if len(names) > asked.max_elements_per_line:
                lines.append(f"    (... Omitted {len(names) - asked.max_elements_per_line})")
        return lines


def _pattern(text):
    """Whether a regular expression matches from the beginning; always, if it is empty."""
    if not text:
        return lambda name: True
    try:
        return re.compile(text).match
    except re.error as error:
        raise CommandError(f'ERROR: "{text}" is no regular expression: {error}') from None
