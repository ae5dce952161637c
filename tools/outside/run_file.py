"""run_file.py SOURCE FILE RESULTS SECONDS: runs the tests of one file of TensorFlow's.

The same program for TensorFlow's Python and for `rheos run --tf1`. A line of RESULTS for each test:
its name, a tab, what came of it and why. Tests that a line is there for are not run again, so what
a test that had to be killed left can be gone on with.
"""

import importlib
import importlib.util
import os
import signal
import sys
import unittest
from importlib.abc import MetaPathFinder

import tensorflow as tf

RHEOS = hasattr(tf, "__path__") and "rheos" in str(getattr(tf, "__file__", ""))


class Late(BaseException):
    """A test took longer than it may."""


class Sources(MetaPathFinder):
    """Finds helpers of tests, which no package brings, in a folder of TensorFlow's sources.

    known: modules of tensorflow.python, for programs, that are not to come from there.
    """

    def __init__(self, root, known=()):
        self.root = root
        self.known = known

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if parts[0] not in ("tensorflow", "tensorflow_core") or "test" not in "".join(parts[2:]):
            return None
        if parts[1] == "python" and ".".join(parts[2:]) in self.known:
            return None
        file = os.path.join(self.root, "tensorflow", *parts[1:])
        if os.path.isdir(file):
            file = os.path.join(file, "__init__")
        if not os.path.exists(file + ".py"):
            return None
        return importlib.util.spec_from_file_location(fullname, file + ".py")


def with_helpers(test_util):
    """Rheos's framework.test_util with what has no public name, from test_helpers.py."""
    for name, value in vars(test_helpers).items():
        if not name.startswith("_") and name not in vars(test_util):
            setattr(test_util, name, value)


class TestOps(type(sys)):
    """In place of ops that TensorFlow compiles for its tests: who uses one fails, by its name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError("test_ops." + name + " is an op of TensorFlow's tests")


class Result(unittest.TestResult):
    """Writes a line a test, at once."""

    def __init__(self, out, seconds):
        super(Result, self).__init__()
        self.out, self.seconds = out, seconds

    def say(self, test, what, error=None):
        why = ""
        if error:
            lines = [line for line in str(error[1]).splitlines() if line.strip()] or [""]
            why = "%s: %s" % (error[0].__name__, " | ".join(lines[:3]))
        self.out.write("%s\t%s\t%s\n" % (test.id().split(".", 1)[-1], what, why[:400]))
        self.out.flush()

    def startTest(self, test):
        super(Result, self).startTest(test)
        self.out.write("%s\tbegun\t\n" % test.id().split(".", 1)[-1])
        self.out.flush()
        signal.alarm(self.seconds)

    def stopTest(self, test):
        signal.alarm(0)
        super(Result, self).stopTest(test)

    def addSuccess(self, test):
        self.say(test, "passed")

    def addSkip(self, test, reason):
        self.say(test, "skipped")

    def addError(self, test, error):
        self.say(test, "failed", error)

    def addFailure(self, test, error):
        self.say(test, "failed", error)

    def addSubTest(self, test, subtest, error):
        if error:
            self.say(test, "failed", error)


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            for inner in flat(test):
                yield inner
        else:
            yield test


def late(number, frame):
    raise Late("late")


def silence_main():
    tf.test.main = lambda *args, **kwargs: None
    if not RHEOS:
        for name in "test", "googletest":
            importlib.import_module("tensorflow.python.platform." + name).main = tf.test.main


def main(root, path, results, seconds):
    done = set()
    if os.path.exists(results):
        with open(results) as file:
            done = {line.split("\t")[0] for line in file}
    if RHEOS:  # ahead: Rheos finds names of modules that it has nothing in
        from rheos._launch import INSIDES

        sys.meta_path.insert(0, Sources(root, INSIDES))
        name = "tensorflow.python.framework.test_ops"
        sys.modules[name] = TestOps(name)
    else:
        sys.meta_path.append(Sources(root))
    sys.argv = [path]
    if RHEOS:
        with_helpers(importlib.import_module("tensorflow.python.framework.test_util"))
    signal.signal(signal.SIGALRM, late)
    # Some files make their tests only where they are the program; main() is called here, not there.
    module = type(sys)("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    silence_main()
    with open(results, "a") as out:
        try:
            with open(path, "rb") as source:
                exec(compile(source.read(), path, "exec"), vars(module))
        except Exception as error:
            out.write("<file>\tfailed\t%s: %s\n" % (type(error).__name__, str(error)[:400]))
            return
        try:
            from absl import flags

            flags.FLAGS([path])
        except Exception:
            pass
        tests = [t for t in flat(unittest.defaultTestLoader.loadTestsFromModule(module))]
        result = Result(out, int(seconds))
        for test in tests:
            name = test.id().split(".", 1)[-1]
            if name not in done and not name.endswith(".test_session"):
                unittest.TestSuite([test]).run(result)
        out.write("<file>\tended\t\n")


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if RHEOS:
        import test_helpers
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)
