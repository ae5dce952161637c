"""tfdbg at a prompt: a session, or a hook, that stops before and behind runs and takes commands.

The prompt is lines of standard input and output, so it works without a terminal; where the input
ends, runs go on without stopping.
"""

import os
import shlex
import shutil
import sys
import tempfile

from rheos.framework import errors, messages
from rheos.inspection import commands
from rheos.inspection.dump_dir import DebugDumpDir, has_inf_or_nan
from rheos.inspection.tensor_watches import WatchOptions
from rheos.inspection.wrappers import BaseDebugWrapperSession, add_watches, thread_filter
from rheos.training.session_hooks import SessionRunArgs, SessionRunHook

_UI_TYPES = ("curses", "readline")


def _names(fetches):
    """The names of what is fetched or fed, whatever it lies in."""
    if isinstance(fetches, str):
        return [fetches]
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        return [name for fetch in fetches for name in _names(fetch)]
    return [getattr(fetches, "name", None) or str(fetches)]


class _Cli:
    """The prompt, and what it was told about the runs to come."""

    def __init__(self, dump_root=None, ui_type="curses"):
        if ui_type not in _UI_TYPES:
            raise ValueError(f"ui_type is one of {', '.join(_UI_TYPES)}, not {ui_type!r}")
        self.filters = {"has_inf_or_nan": has_inf_or_nan}
        self._dump_root = dump_root
        self._runs_to_skip = 0
        self._waits_for = None  # a filter's name
        self._excluded = self._watched_until = None  # of the runs until it passes
        self._is_over = False  # nothing stops any more
        self._run = self._feeds = self._watched = None
        self._number = 0
        self._folder = None

    # ---- Runs

    def begin(self, number, fetches, feeds):
        """Before a run: WatchOptions if it is to be dumped, else None. SystemExit for `exit`."""
        self._number, self._feeds = number, feeds or {}
        self._run = _names(fetches)
        self._watched = None
        if self._is_over:
            return None
        if self._waits_for is None:
            if self._runs_to_skip > 1:
                self._runs_to_skip -= 1
                return None
            if self._runs_to_skip == 1:
                self._runs_to_skip, self._watched = 0, WatchOptions()
            else:
                self._show(f"run-start: {self._title()}", self.run_info([]))
                self._prompt({})
        else:
            self._watched = self._watched_until
        return self._watched

    def folder(self):
        """A new folder for the dump of the run."""
        if self._dump_root:
            os.makedirs(self._dump_root, exist_ok=True)
        self._folder = tempfile.mkdtemp(prefix="tfdbg_", dir=self._dump_root)
        return self._folder

    def end(self, graph, error=None):
        """Behind a run that was dumped."""
        folder, self._folder = self._folder, None
        try:
            dump = DebugDumpDir(folder, validate=False)
            dump.set_python_graph(graph)
            self._ended(dump, error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _ended(self, dump, error):
        arguments = []
        if self._waits_for is not None and error is None:
            predicate = self.filters[self._waits_for]
            if not dump.find(predicate, first_n=1, exclude_node_names=self._excluded):
                return
            arguments = ["-f", self._waits_for]
            arguments += ["-fenn", self._excluded] if self._excluded else []
        self._waits_for = None
        analyzer = commands.Analyzer(dump, self.filters)
        first = [f"ERROR: {type(error).__name__}: {error}", ""] if error is not None else []
        if dump.loaded_partition_graphs():
            first += analyzer.list_tensors(arguments)
        self._show(f"run-end: {self._title()}", first)
        self._prompt(analyzer.commands, stays=True)

    def _title(self):
        fed = ", ".join(_names(list(self._feeds)))
        return (
            f"run #{self._number}: {len(self._run)} fetch ({', '.join(self._run)}); "
            f"{len(self._feeds)} feed ({fed})"
        )

    # ---- The prompt

    def _show(self, title, lines):
        print("\n".join(["", title, *lines, ""]), flush=True)

    def _table(self, more):
        own = {
            "run": (None, ["r"], "go on"),
            "run_info": (self.run_info, ["ri"], "what is run"),
            "print_feed": (self.print_feed, ["pf"], "print what is fed"),
            "help": (None, ["h"], "print this, or the help of a command"),
            "exit": (None, [], "end the program"),
        }
        return {**more, **own}

    def _prompt(self, more, stays=False):
        """Takes commands until one goes on. After a run `run` comes to the next one's beginning."""
        table = self._table(more)
        names = {alias: name for name in table for alias in (name, *table[name][1])}
        while True:
            print("tfdbg> ", end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                print(flush=True)
                self._is_over = True
                return
            try:
                if self._done(line.strip(), names, table, stays):
                    return
            except commands.CommandError as error:
                print(error, flush=True)

    def _done(self, line, names, table, stays):
        """Whether the line goes on with the program."""
        line, _, path = line.partition(" > ")
        try:
            words = shlex.split(line, posix=False) if "[" in line else shlex.split(line)
        except ValueError as error:
            raise commands.CommandError(f"ERROR: {error}") from None
        if not words:
            return False
        name = names.get(words[0])
        if name is None:
            raise commands.CommandError(f'ERROR: Invalid command prefix "{words[0]}"')
        if name == "exit":
            raise SystemExit(1)
        if name == "run":
            self._told_to_run(words[1:], stays)
            return True
        lines = self._help(words[1:], names, table) if name == "help" else table[name][0](words[1:])
        self._put(lines, path.strip())
        return False

    def _put(self, lines, path):
        text = "\n".join([*lines, ""])
        if not path:
            print(text, flush=True)
            return
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise commands.CommandError(f"ERROR: {error}") from None

    def _help(self, words, names, table):
        if words:
            name = names.get(words[0])
            if name is None:
                raise commands.CommandError(f'No help: there is no command "{words[0]}"')
            if name == "run":
                return self._run_parser().format_help().splitlines()
            if table[name][0] is not None:
                table[name][0](["-h"])
        rows = [(f"{name}{''.join(f', {a}' for a in a_s)}", text)
                for name, (_, a_s, text) in table.items()]  # fmt: skip
        return [f"{names:<22} {text}" for names, text in sorted(rows)] + [
            "", "COMMAND -h tells its options; COMMAND > FILE writes what it prints.",
        ]  # fmt: skip

    # ---- Commands

    @staticmethod
    def _run_parser():
        parser = commands.Parser("run", "Go on, with the next run dumped or not.")
        parser.add_argument("-t", "--times", type=int, default=1,
                            help="stop behind so many runs")  # fmt: skip
        parser.add_argument("-n", "--no_debug", action="store_true", help="without a dump")
        parser.add_argument("-f", "--till_filter_pass", default="",
                            help="run until a tensor passes a filter")  # fmt: skip
        parser.add_argument("-fenn", "--filter_exclude_node_names", default="",
                            help="with -f: not of nodes that match")  # fmt: skip
        for name in ("node_name", "op_type", "tensor_dtype"):
            parser.add_argument(f"--{name}_filter", default="", help="dump what matches")
        return parser

    def _told_to_run(self, words, stays):
        asked = self._run_parser().parsed(words)
        watched = WatchOptions(
            node_name_regex_allowlist=asked.node_name_filter,
            op_type_regex_allowlist=asked.op_type_filter,
            tensor_dtype_regex_allowlist=asked.tensor_dtype_filter,
        )
        if asked.times < 1:
            raise commands.CommandError("ERROR: -t takes a number of 1 or more")
        if asked.till_filter_pass:
            if asked.till_filter_pass not in self.filters:
                raise commands.CommandError(
                    f'ERROR: There is no tensor filter named "{asked.till_filter_pass}".'
                )
            self._waits_for = asked.till_filter_pass
            self._excluded = asked.filter_exclude_node_names or None
            self._watched_until = watched
            self._watched = watched
        elif asked.times > 1:
            self._runs_to_skip = asked.times - (0 if stays else 1)
        elif not asked.no_debug:
            self._watched = watched

    def run_info(self, words):
        """What is run."""
        commands.Parser("run_info", "What is run.").parsed(words)
        fed = [f"  {name}" for name in _names(list(self._feeds))]
        bar = "======================================"
        return [
            bar, f"Session.run() call #{self._number}:", "", "Fetch(es):",
            *(f"  {name}" for name in self._run), "", "Feed dict:", *(fed or ["  (Empty)"]), bar,
            "", "run: with a dump; run -n: without; run -t N: stop behind the N-th;",
            "run -f FILTER: until a tensor passes one of " + ", ".join(sorted(self.filters)),
            "help tells all commands.",
        ]  # fmt: skip

    def print_feed(self, words):
        """What is fed for one tensor."""
        parser = commands.Parser("print_feed", "Print what is fed.")
        commands.add_print_options(parser)
        asked = parser.parsed(words)
        name, part = commands.split_slice(asked.tensor_name)
        for key, value in self._feeds.items():
            if _names(key) == [name]:
                value = commands.sliced(value, part)
                return commands.tensor_lines(f"{name}{part} (feed)", value, asked)
        raise commands.CommandError(f'ERROR: The feed_dict does not contain the key "{name}"')


def _checked_filter(filter_name, tensor_filter):
    if not isinstance(filter_name, str):
        raise TypeError(f"Input argument filter_name is expected to be str, not {filter_name!r}")
    if not filter_name:
        raise ValueError("Input argument filter_name cannot be empty.")
    if not callable(tensor_filter):
        raise TypeError("Input argument tensor_filter is expected to be callable, but is not.")


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """Stops before and behind runs, and takes commands from standard input.

    dump_root: a folder for dumps, which are removed when the prompt goes on; by default a temporary
    one. ui_type: "curses" and "readline" are both a prompt of lines.
    """

    def __init__(
        self,
        sess,
        dump_root=None,
        log_usage=True,
        ui_type="curses",
        thread_name_filter=None,
        config_file_path=False,
    ):
        del log_usage, config_file_path  # there is nothing to configure
        super().__init__(sess, thread_name_filter)
        self._cli = _Cli(dump_root, ui_type)

    def add_tensor_filter(self, filter_name, tensor_filter):
        """Names a function of (datum, tensor) for `run -f` and `lt -f`."""
        _checked_filter(filter_name, tensor_filter)
        self._cli.filters[filter_name] = tensor_filter

    def _debugged_run(self, fetches, feed_dict, options, run_metadata):
        wanted = self._cli.begin(self.run_call_count, fetches, feed_dict)
        if wanted is None:
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        told = messages.RunOptions()
        if options is not None:
            told.CopyFrom(options)
        graph = self._sess.graph
        add_watches(told, graph, wanted, self._cli.folder())
        try:
            result = self._sess.run(fetches, feed_dict, told, run_metadata)
        except errors.OpError as error:
            self._cli.end(graph, error)
            raise
        self._cli.end(graph)
        return result


class LocalCLIDebugHook(SessionRunHook):
    """The same for the steps of a MonitoredSession."""

    def __init__(
        self, ui_type="curses", dump_root=None, thread_name_filter=None, config_file_path=None
    ):
        del config_file_path  # there is nothing to configure
        self._cli = _Cli(dump_root, ui_type)
        self._is_disabled_thread = thread_filter(thread_name_filter)
        self._count = 0
        self._is_dumped = False

    def add_tensor_filter(self, filter_name, tensor_filter):
        """Names a function of (datum, tensor) for `run -f` and `lt -f`."""
        _checked_filter(filter_name, tensor_filter)
        self._cli.filters[filter_name] = tensor_filter

    def before_run(self, run_context):
        """Takes commands, and adds what is to be dumped to the options of the step."""
        self._is_dumped = False
        if self._is_disabled_thread():
            return None
        self._count += 1
        asked = run_context.original_args
        wanted = self._cli.begin(self._count, asked.fetches, asked.feed_dict)
        self._is_dumped = wanted is not None
        if not self._is_dumped:
            return None
        options = messages.RunOptions()
        add_watches(options, run_context.session.graph, wanted, self._cli.folder())
        return SessionRunArgs(None, None, options)

    def after_run(self, run_context, run_values):
        """Takes commands about what was dumped."""
        if self._is_dumped:
            self._cli.end(run_context.session.graph)
