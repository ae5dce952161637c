"""`rheos debug`: stops a program before its runs and within them, and answers questions.

A run is that of a session, or the call of a traced function. Within it every value that the step
computes is watched, in the order of computing, and the step waits while the debugger asks. Commands
come from the terminal, or from a file of them.
"""

import atexit
import fnmatch
import linecache
import os
import sys
import traceback

import numpy as np

from rheos.framework import eager, run_warnings
from rheos.inspection import calls, recording
from rheos.inspection.value_text import describe, histogram, is_numeric
from rheos.tracing import concrete
from rheos.training import watches

_HELP = """\
before a run of a session or a call of a traced function, and within it
  step, s              go on to the next value that is computed; into bodies
  next, n              the same, but over the bodies of functions, branches and loops
  out, o               go on to the end of the body
  until NAME, u        go on to the operation; "*" stands for any letters
  continue, c          go on to the next stop, or the end of the run
  runs N               go on for N runs and calls, without stops before them
  quit, q              end the program
stops
  break NAME [if EXPR] stop at each such operation, one that runs at once too ("MatMul"); EXPR of
                       Python sees value, name, step, np
  break nan            stop at the first value with a NaN or infinity
  breaks, delete N     list them, remove one
looking
  print NAME[SLICE], p a value: of this step, else of the step before
  stats NAME           least, most, mean, NaN, infinities, zeros, shape
  hist NAME            how its numbers are spread
  values [NAME]        names, shapes of what was computed
  info NAME            the operation: type, attributes, device, line
  inputs, outputs NAME what it takes, and who takes what it gives
  where, w             the program's lines: of the run, of the operation
  explain              what the run will do (before it)
  eval EXPR, e         of Python; v("NAME") is a value
changing
  set NAME = EXPR      before a run: the tensor has that value in it, whatever computes it
An empty line does the last command again."""


class Quit(SystemExit):
    """The program is to end: no error of its own."""


class _Stop:
    """Where the step is to stop next."""

    def __init__(self, kind="none", pattern=None, depth=0):
        self.kind, self.pattern, self.depth = kind, pattern, depth

    def is_at(self, watched, depth):
        """Whether it is there."""
        if self.kind == "step":
            return True
        if self.kind == "next":
            return depth <= self.depth
        if self.kind == "out":
            return depth < self.depth
        return self.kind == "until" and _fits(watched.name, self.pattern)


def _fits(name, pattern):
    operation = name.partition(":")[0]
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(operation, pattern)


def _depth(place):
    return place.count(";") if place else 0


class Debugger(run_warnings.Watcher):
    """Asks on `answers` (an iterator of lines) and tells on `out`."""

    def __init__(self, answers, out, is_terminal=False):
        self._answers, self._out, self._is_terminal = answers, out, is_terminal
        self._breaks = []  # (number, pattern or "nan", condition or None)
        self._num_breaks = 0
        self._stop = _Stop()
        self._runs_to_pass = 0
        self._num_runs = 0
        self._last = ""
        self._session = self._graph = None
        self._at = None  # the Watched where the step is
        self._values, self._before = {}, {}
        self._fed = {}
        self._base = 0  # the depth of what the run computes itself
        self._watch = None  # of the run
        self._at_once = None  # the watch of what runs at once, while there are breaks
        self._place = ""  # how those of the function that is called begin
        self._is_running = False
        self._failed = None  # an error of ours within a step

    # ---- What the program does

    def session_opened(self, session):
        """Stops before the session's runs."""
        run = session.run

        def stopped_run(fetches, feed_dict=None, options=None, run_metadata=None):
            return self._run(session, run, fetches, feed_dict, options, run_metadata)

        session.run = stopped_run

    def _run(self, session, run, fetches, feed_dict, options, run_metadata):
        self._session, self._graph, self._base = session, session.graph, 0
        self._fetches, self._feeds = fetches, feed_dict
        feeds = f", feeds {_names(list(feed_dict))}" if feed_dict else ""
        if not self._begin("run", f"fetches {_names(fetches)}{feeds}"):
            return run(fetches, feed_dict, options, run_metadata)
        if self._fed:
            feed_dict = {**(feed_dict or {}), **self._fed}
        return self._watched(
            lambda: run(fetches, feed_dict, options, run_metadata),
            lambda: session.watch("*", self._seen, "values"),
        )

    def called(self, function, tensors):
        """Calls a traced function, and stops before and within that."""
        if self._is_running:  # by what the step calls
            return function.call_unobserved(tensors)
        traced = function.first or function
        self._session, self._graph, self._base = None, traced.graph, 1
        self._place = calls.place_name(traced.graph.name).rstrip("0123456789")
        if self._runs_to_pass == 0 and hasattr(traced.graph, "inputs"):
            self._before = {**self._before, **calls.arguments_of(traced, tensors)}
        if not self._begin("call", calls.describe_call(traced, tensors)):
            return function.call_unobserved(tensors)
        if self._fed:
            return self._watched(
                lambda: calls.call_with(traced, tensors, self._fed), self._watch_calls
            )
        return self._watched(lambda: function.call_unobserved(tensors), self._watch_calls)

    def _watch_calls(self):
        return watches.watch("*", self._seen, "values")

    def _begin(self, kind, what):
        """Whether the run is to be watched."""
        self._num_runs += 1
        self._fed = {}
        if self._runs_to_pass > 0:
            self._runs_to_pass -= 1
            if self._breaks:
                self._stop = _Stop()
        else:
            self._ask_before(kind, what)
        return bool(self._breaks or self._fed or self._stop.kind != "none")

    def _watched(self, run, watch):
        self._values = {}
        self._is_running = True
        with watch() as self._watch:
            try:
                result = run()
            except Exception:
                if self._failed is not None:
                    raise self._failed from None
                raise
            finally:
                self._at = None
                self._is_running = False
        self._before = self._values
        self._tell(f"the run is over: {len(self._values)} values")
        return result

    def _seen_at_once(self, watched):
        """Of an operation that runs at once, outside of calls."""
        if not self._is_running and not watched.place:
            self._graph = None
            self._values[watched.name] = watched.value
            self._stop_at(watched, self._why_broken(watched))

    def _is_of_run(self, watched):
        """Whether it is of the run itself, not of a dataset's function, which may run ahead."""
        first = watched.place.partition(";")[0]
        if not first:
            return True
        if self._session is None:
            return first.startswith(self._place)
        try:
            return self._graph.get_operation_by_name(first) is not None
        except KeyError:
            return False

    def _seen(self, watched):
        if not self._is_of_run(watched):
            return
        self._values[watched.name] = watched.value
        if self._failed is not None:
            return
        is_there = self._stop.is_at(watched, _depth(watched.place))
        self._stop_at(watched, "" if is_there else self._why_broken(watched))

    def _stop_at(self, watched, why):
        if why is None:
            return
        self._at = watched
        self._tell(f"{why}{self._describe_place(watched)}")
        try:
            self._ask("in the step")
        except Quit as end:
            self._failed = end
            raise

    def _why_broken(self, watched):
        for number, pattern, condition in self._breaks:
            if pattern == "nan":
                value = watched.value
                bad = is_numeric(value) and value.dtype.kind in "fc"
                if bad and not np.isfinite(value).all():
                    return f"break {number}: NaN or infinity: "
                continue
            if _fits(watched.name, pattern) and self._holds(number, condition, watched):
                return f"break {number}: "
        return None

    def _holds(self, number, condition, watched):
        if condition is None:
            return True
        names = {"value": watched.value, "name": watched.name, "step": watched.step, "np": np}
        try:
            return bool(eval(condition, {}, names))
        except Exception as error:
            self._tell(f"break {number}: {type(error).__name__}: {error}")
            return True

    # ---- Asking

    def _ask_before(self, kind, what):
        self._stop = _Stop()
        self._tell(f"{kind} {self._num_runs}: {self._program_place()}")
        self._tell(f"  {what}")
        self._ask(f"before the {kind}")

    def _ask(self, prompt):
        while True:
            line = self._read(prompt)
            if line is None:
                self._stop, self._breaks, self._runs_to_pass = _Stop(), [], sys.maxsize
                self._breaks_changed()
                return
            line = line.strip() or self._last
            if line.startswith("#") or not line:
                continue
            self._last = line
            word, _, rest = line.partition(" ")
            command = self._commands().get(word)
            if command is None:
                self._tell(f"there is no command '{word}'; help lists them")
                continue
            try:
                if command(rest.strip()):
                    return
            except Quit:
                raise
            except Exception as error:  # of what was asked: the program goes on
                self._tell(f"{type(error).__name__}: {error}")

    def _read(self, prompt):
        if self._is_terminal:
            self._out.write(f"({prompt}) ")
            self._out.flush()
        line = next(self._answers, None)
        if line is not None and not self._is_terminal:
            self._tell(f"({prompt}) {line.rstrip()}")
        return line

    def _tell(self, text):
        self._out.write(text + "\n")
        self._out.flush()

    def _commands(self):
        return {
            "step": self._step, "s": self._step, "next": self._next, "n": self._next,
            "out": self._out_of, "o": self._out_of, "until": self._until, "u": self._until,
            "continue": self._continue, "c": self._continue, "runs": self._pass_runs,
            "quit": self._quit, "q": self._quit, "break": self._break, "b": self._break,
            "breaks": self._list_breaks, "delete": self._delete, "print": self._print,
            "p": self._print, "stats": self._stats, "hist": self._histogram,
            "values": self._list_values, "info": self._info, "inputs": self._inputs,
            "outputs": self._outputs, "where": self._where, "w": self._where,
            "explain": self._explain, "eval": self._eval, "e": self._eval, "set": self._set,
            "help": self._help, "h": self._help,
        }  # fmt: skip

    # ---- Going on: these give True

    def _depth_here(self):
        return self._base if self._at is None else _depth(self._at.place)

    def _step(self, _):
        self._stop = _Stop("step")
        return True

    def _next(self, _):
        self._stop = _Stop("next", depth=self._depth_here())
        return True

    def _out_of(self, _):
        self._stop = _Stop("out", depth=self._depth_here())
        return True

    def _until(self, pattern):
        self._check_pattern(pattern)
        self._stop = _Stop("until", pattern)
        return True

    def _continue(self, _):
        self._stop = _Stop()
        return True

    def _pass_runs(self, count):
        self._stop, self._runs_to_pass = _Stop(), max(int(count) - (self._at is None), 0)
        return True

    def _quit(self, _):
        raise Quit(0)

    # ---- Stops

    def _check_pattern(self, pattern):
        if not pattern:
            raise ValueError("which operation? Give its name or a pattern")
        if any(letter in pattern for letter in "*?["):
            return
        if self._session is not None:
            self._operation(pattern)
            return
        try:
            self._operation(pattern)
        except ValueError as error:
            self._tell(f"{error}; what it calls, and what runs at once, may have one")

    def _break(self, text):
        pattern, _, condition = text.partition(" if ")
        pattern = pattern.strip()
        if pattern != "nan":
            self._check_pattern(pattern)
        if condition:
            compile(condition.strip(), "condition", "eval")
        self._num_breaks += 1
        self._breaks.append((self._num_breaks, pattern, condition.strip() or None))
        self._tell(f"break {self._num_breaks}: {text}")
        self._breaks_changed()

    def _breaks_changed(self):
        """Operations that run at once are watched while there are breaks."""
        if self._breaks and self._at_once is None and eager.is_set_up():
            self._at_once = watches.watch("*", self._seen_at_once, "values")
        elif not self._breaks and self._at_once is not None:
            self._at_once, ended = None, self._at_once
            ended.end()

    def _list_breaks(self, _):
        for number, pattern, condition in self._breaks:
            self._tell(f"break {number}: {pattern}" + (f" if {condition}" if condition else ""))
        if not self._breaks:
            self._tell("there are none")

    def _delete(self, number):
        kept = [b for b in self._breaks if b[0] != int(number)]
        if len(kept) == len(self._breaks):
            raise ValueError(f"there is no break {number}")
        self._breaks = kept
        self._breaks_changed()

    # ---- Looking

    def _value(self, name):
        for values in (self._values, self._before):
            for key in (name, name + ":0"):
                if key in values:
                    return values[key]
        if self._at is not None and not name:
            return self._at.value
        self._operation(name)  # says what is near where there is none
        raise ValueError(f"'{name}' has not been computed yet in a step that was watched")

    def _operation(self, name):
        name = name.partition(":")[0] or (self._at.name.partition(":")[0] if self._at else "")
        if not hasattr(self._graph, "get_operation_by_name"):
            raise ValueError("no graph is known here whose operations could be told of")
        try:
            return self._graph.get_operation_by_name(name)
        except (KeyError, ValueError):
            near = [o.name for o in self._graph.get_operations() if name in o.name][:3]
            more = f"; did you mean {', '.join(near)}?" if near and name else ""
            raise ValueError(f"there is no operation '{name}'{more}") from None

    def _print(self, text):
        name, bracket, rest = text.partition("[")
        value = self._value(name.strip())
        if bracket:
            value = eval("value[" + rest, {"np": np}, {"value": value})
        self._tell(str(value))

    def _stats(self, name):
        self._tell(describe(self._value(name)))

    def _histogram(self, name):
        value = self._value(name)
        if not is_numeric(value):
            raise ValueError("it has no numbers")
        for line in histogram(value):
            self._tell(line)

    def _list_values(self, pattern):
        for name, value in self._values.items():
            if not pattern or _fits(name, pattern):
                self._tell(f"{name}  {describe(value) if value is not None else 'no value'}")

    def _body(self, name):
        """Of the body that the step is in: {name: BodyNode} and a name there; (None, name) where it
        is in none."""
        if self._at is None or _depth(self._at.place) <= self._base:
            return None, name
        nodes = calls.body_nodes(self._watch)
        if self._session is not None and len(nodes) == len(self._graph.get_operations()):
            return None, name  # a loop of version 1 lies in the graph itself
        name = name.partition(":")[0] or self._at.name.rpartition(":")[0]
        if name not in nodes:
            raise ValueError(f"there is no operation '{name}' in {self._at.place}")
        return nodes, name

    def _info(self, name):
        nodes, name = self._body(name)
        if nodes is not None:
            node = nodes[name]
            self._tell(f"{name} ({node.op})")
            if node.file:
                line = linecache.getline(node.file, node.line).strip()
                self._tell(f"  {node.file}:{node.line}: {line}")
            return
        operation = self._operation(name)
        device = f" on {operation.device}" if operation.device else ""
        self._tell(f"{operation.name} ({operation.type}){device}")
        for key, value in sorted(operation.node_def.attr.items()):
            self._tell(f"  {key}: {' '.join(str(value).split())}")
        for line in self._lines_of(operation):
            self._tell(line)

    def _inputs(self, name):
        nodes, name = self._body(name)
        if nodes is not None:
            for taken in nodes[name].inputs:
                self._tell(f"  {taken} ({nodes[taken.rpartition(':')[0]].op})")
            return
        operation = self._operation(name)
        for tensor in operation.inputs:
            self._tell(f"  {tensor.name} ({tensor.op.type})")
        for control in operation.control_inputs:
            self._tell(f"  ^{control.name} ({control.type})")

    def _outputs(self, name):
        nodes, name = self._body(name)
        if nodes is not None:
            for other, node in nodes.items():
                for taken in node.inputs:
                    if taken.rpartition(":")[0] == name:
                        self._tell(f"  {taken} to {other} ({node.op})")
            return
        operation = self._operation(name)
        for tensor in operation.outputs:
            for consumer in tensor.consumers():
                self._tell(f"  {tensor.name} to {consumer.name} ({consumer.type})")
        for consumer in operation._control_outputs:
            self._tell(f"  ^ to {consumer.name} ({consumer.type})")

    def _lines_of(self, operation):
        for file, line, _, _ in operation.traceback:
            yield f"  {file}:{line}: {linecache.getline(file, line).strip()}"

    def _where(self, _):
        self._tell(self._program_place())
        if self._at is not None:
            self._tell(self._describe_place(self._at))

    def _program_place(self):
        own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        for frame in reversed(traceback.extract_stack()):
            if not frame.filename.startswith((own, "<")):
                return f"{frame.filename}:{frame.lineno}: {frame.line}"
        return "?"

    def _describe_place(self, watched):
        text = f"{watched.name} ({watched.op})"
        if watched.place:
            text += f" in {watched.place}"
        if watched.value is not None:
            text += f": {describe(watched.value)}"
        if watched.file is not None:
            line = linecache.getline(watched.file, watched.line).strip()
            text += f"\n  {watched.file}:{watched.line}: {line}"
        return text

    def _explain(self, _):
        if self._at is not None:
            raise ValueError("the run has begun: explain is for before it")
        if self._session is None:
            raise ValueError("explain is for runs of sessions, and this is a call")
        self._tell(str(self._session.explain(self._fetches, self._feeds)))

    def _eval(self, text):
        self._tell(repr(eval(text, {"np": np, "v": self._value})))

    # ---- Changing

    def _set(self, text):
        name, equals, expression = text.partition("=")
        if not equals:
            raise ValueError("set NAME = EXPR")
        if self._at is not None:
            raise ValueError("values are set before a run: what computed it has run")
        name = name.strip()
        tensor = self._operation(name).outputs[int(name.partition(":")[2] or 0)]
        value = eval(expression, {"np": np, "v": self._value})
        self._fed[tensor] = np.asarray(value, tensor.dtype.as_numpy_dtype)

    def _help(self, _):
        self._tell(_HELP)


def _names(fetches):
    if isinstance(fetches, (list, tuple)):
        return "[" + ", ".join(_names(fetch) for fetch in fetches) + "]"
    if isinstance(fetches, dict):
        return "{" + ", ".join(f"{key}: {_names(value)}" for key, value in fetches.items()) + "}"
    return str(getattr(fetches, "name", fetches))


def _begin_recording(how):
    number, path = how.split("\n", 1)
    recorder = recording.Recorder(path, int(number) if number else None)
    atexit.register(recorder.program_ended)
    run_warnings.set_watcher(recorder)
    concrete.observe_calls(recorder.called)


def begin(how):
    """Has the program that runs next debugged; `how`: "commands" or "record", and where."""
    kind, _, rest = how.partition("\n")
    if kind == "record":
        _begin_recording(rest)
        return
    if rest != "-":
        with open(rest) as file:
            lines = file.read().splitlines()
        answers, is_terminal = iter(lines), False
    else:
        answers, is_terminal = iter(sys.stdin.readline, ""), sys.stdin.isatty()
    debugger = Debugger(answers, sys.stderr, is_terminal)
    run_warnings.set_watcher(debugger)
    concrete.observe_calls(debugger.called)
