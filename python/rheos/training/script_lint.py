"""`rheos lint SCRIPT.py`: runs the program and tells of the mistakes that its runs show."""

import ast
import inspect
import json
import os
import signal
import sys
import textwrap
import threading
import traceback

from rheos import _core
from rheos.framework import run_warnings
from rheos.framework.defaults import get_default_graph
from rheos.training.linting import Finding

_PACKAGE = os.path.join(os.path.dirname(os.path.realpath(_core.__file__)), "")
_MOST_TRACES = 8  # of one function that are looked at
_MOST_SESSIONS = 8  # of one line that are open at a time
_RULES = {name: (remedy, is_note) for name, _, remedy, is_note, _ in _core.lint_rules()}


def _finding(rule, file, line, seen, function=""):
    return Finding(rule, file, line, f"{seen}; {_RULES[rule][0]}", "", function)


def _is_own(file):
    return os.path.realpath(file).startswith(_PACKAGE)


def _line_of_program():
    """(file, line) of the frame nearest to here that is not the package's."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "rheos":
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else (None, 0)


# ---- What a traced function says in Python

_BAKED = {
    "datetime": "now today utcnow",
    "random": "random randint uniform choice choices gauss normalvariate randrange sample shuffle",
    "secrets": "token_bytes token_hex randbelow choice",
    "time": "time time_ns monotonic perf_counter process_time ctime localtime",
    "uuid": "uuid1 uuid4",
}
_DRAWN = """
    choice normal permutation rand randint randn random random_sample shuffle standard_normal
    uniform
"""
_CHANGES = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "write"}


def _value_of(node, names):
    """What an expression of names and attributes means; None if that is not known."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value, names)
        there = inspect.getattr_static(owner, node.attr, None)
        # A property would run the program's code.
        is_plain = there is not None and not isinstance(there, property)
        return getattr(owner, node.attr, None) if is_plain else None
    return None


def _is_baked(call, names):
    """Whether a call gives another value each time, of Python's or NumPy's."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    function = _value_of(call.func, names)
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or ""
    if type(owner).__module__.startswith("numpy.random"):
        return name in _DRAWN.split()
    if inspect.isclass(owner) or inspect.ismodule(owner):
        module = getattr(owner, "__module__", None) or owner.__name__
    elif owner is not None:
        module = type(owner).__module__
    return name in _BAKED.get(module, "").split()


class _Reader(ast.NodeVisitor):
    """Goes through the statements of a traced function, not into functions inside it."""

    def __init__(self, names, local):
        self.names, self.local, self.found = names, local, []

    def _found(self, rule, node, seen):
        self.found.append((rule, node.lineno, seen))

    def visit_FunctionDef(self, node):
        """Functions inside may be for tf.py_function."""

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef

    def visit_Call(self, node):
        """Calls that do not become nodes."""
        text = ast.unparse(node.func)
        if _is_baked(node, self.names):
            self._found("baked-value", node, f"the traced function calls {text}()")
        elif isinstance(node.func, ast.Name) and node.func.id not in self.local:
            value = self.names.get(node.func.id)
            if value is print or value is open:
                self._found("side-effect", node, f"the traced function calls {text}()")
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            of = node.func.value
            known = self.names.get(of.id) if isinstance(of, ast.Name) else None
            if isinstance(known, (list, dict, set)) and of.id not in self.local:
                self._found("side-effect", node, f"the traced function calls {text}()")
        self.generic_visit(node)

    def visit_Global(self, node):
        """Names that the function assigns outside of itself."""
        self._found("side-effect", node, f"the traced function sets {', '.join(node.names)}")

    visit_Nonlocal = visit_Global


def _names_of(function):
    """{name: value} of what a function sees outside of itself, and its local names."""
    code = function.__code__
    builtins = function.__globals__.get("__builtins__", {})
    names = dict(vars(builtins) if inspect.ismodule(builtins) else builtins)
    names.update(function.__globals__)
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # it is not set yet
            names.pop(name, None)
    return names, set(code.co_varnames)


def lint_function(function):
    """[Finding] of what a Python function that is traced says in Python."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):  # no source, or a part of a line
        return []
    body = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    if body is None:
        return []
    names, local = _names_of(function)
    for name in local:
        names.pop(name, None)
    reader = _Reader(names, local)
    for statement in body.body:
        reader.visit(statement)
    return [
        _finding(rule, code.co_filename, first + line - 1, seen, function.__name__)
        for rule, line, seen in reader.found
    ]


# ---- What the program does


class Recorder(run_warnings.Watcher):
    """Keeps what a program does until it ends, and finds mistakes in it then."""

    def __init__(self, notes=False):
        self.notes = notes
        self._logs = {}  # {graph's id: (graph, its log)}
        self._functions = []
        self._sessions = {}  # {line: sessions}
        self._found = []
        self._lock = threading.Lock()

    def warned(self, rule, file, line, text):
        """Keeps it; what the logs of runs show is found at the end."""
        if rule != "growing-graph":
            self._found.append(Finding(rule, file, line, text, "", ""))

    def session_opened(self, session):
        """Has the session's runs noted with those of its graph."""
        graph = session.graph
        with self._lock:
            if id(graph) not in self._logs:
                self._logs[id(graph)] = graph, _core._RunLog(graph)
            session._log_runs(self._logs[id(graph)][1])
            place = _line_of_program()
            at = self._sessions.setdefault(place, [])
            at[:] = [other for other in at if not other._closed]
            at.append(session)
            if len(at) == _MOST_SESSIONS + 1:
                seen = f"{len(at)} sessions that this line made are open"
                self._found.append(_finding("many-sessions", *place, seen))

    def function_traced(self, function):
        """Keeps the function for later."""
        self._functions.append(function)

    def _of_graphs(self):
        yield from self._found
        for graph, log in self._logs.values():
            yield from _core.lint(graph, self.notes, False, [], log)
        default = get_default_graph()
        if id(default) not in self._logs and default.version > 0:
            yield from _core.lint(default, self.notes, False, [], None)
        for function in self._functions:
            yield from lint_function(function.python_function)
            for concrete in function._list_all_concrete_functions()[:_MOST_TRACES]:
                yield from _core.lint(concrete.graph, self.notes, False, [], None)

    def findings(self):
        """[Finding] by file and line, each once, without what lines say to ignore."""
        found = {}
        for each in map(lambda one: Finding(*one), self._of_graphs()):
            if _RULES[each.rule][1] and not self.notes:
                continue
            if not _core.lint_is_ignored(each.file, each.line, each.rule):
                place = (each.rule, each.file, each.line) if each.file else each
                found.setdefault(place, each)
        return sorted(found.values(), key=lambda f: (f.file is None, f.file or "", f.line, f.rule))


# ---- The program


class _TimeIsUp(BaseException):
    """The time that the program was given is over."""


def _end_after(seconds):
    def end(number, frame):
        raise _TimeIsUp

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # again, if somebody catches it


def _stop_time():
    signal.setitimer(signal.ITIMER_REAL, 0)


def _print(findings, path, as_json):
    if as_json:
        objects = [
            {
                "file": f.file or path,
                "line": f.line if f.file else None,
                "rule": f.rule,
                "note": _RULES[f.rule][1],
                "text": f.text,
                "node": f.node,
                "function": f.function,
            }
            for f in findings
        ]
        print(json.dumps(objects, indent=2))
        return
    for f in findings:
        place = f.file or path
        if place.startswith(os.getcwd() + os.sep):
            place = os.path.relpath(place)
        place += f":{f.line}" if f.file else f":{f.node}" if f.node else ""
        print(f"{place}: {f.rule}: {f.text}")


def _run(program, seconds):
    """Runs it; whether it did not fail, and whether its time was over before its end.

    Tracebacks go to standard error.
    """
    try:
        if seconds > 0:
            _end_after(seconds)
        program()
    except _TimeIsUp:
        return True, True
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        return error.code in (None, 0), False
    except BaseException as error:
        own = error.__traceback__
        while own is not None and _is_own(own.tb_frame.f_code.co_filename):
            own = own.tb_next
        traceback.print_exception(type(error), error, own or error.__traceback__)
        return False, False
    finally:
        _stop_time()
    return True, False


def run(program, how):
    """Runs a program, a function without arguments, watches it, and ends the process.

    how: "notes" or "sure", "json" or "text", and the seconds after which it is ended (0: never), as
    the command writes it. What the program prints goes to standard error.
    """
    notes, form, seconds = how.split()
    recorder = Recorder(notes == "notes")
    run_warnings.set_watcher(recorder)
    path = sys.argv[0]
    out = os.dup(1)
    os.dup2(2, 1)
    went_well, is_over = _run(program, float(seconds))
    run_warnings.set_watcher(None)
    sys.stdout.flush()
    os.dup2(out, 1)
    findings = recorder.findings()
    try:
        _print(findings, path, form == "json")
        sys.stdout.flush()
    except OSError as error:
        print(f"rheos: the output cannot be written: {error}", file=sys.stderr)
        os._exit(1)
    status = 1 if findings or not went_well else 0
    if is_over:  # the program's threads may go on and on
        os._exit(status)
    sys.exit(status)
