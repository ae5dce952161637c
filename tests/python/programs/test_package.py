"""The package as a whole: `python -m rheos`, and what it says where it cannot work."""

import os
import shutil
import subprocess
import sys

import pytest
import rheos

PACKAGE = os.path.dirname(os.path.abspath(rheos.__file__))


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_command_runs_programs_with_this_interpreter(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, tensorflow as tf\nprint(sys.executable, tf.Session)\n")
    done = python("-m", "rheos", "run", script, RHEOS_PYTHON="/no/such/python")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(sys.executable)
    assert python("-m", "rheos", "fly").returncode == 2


PREFIX = python("-m", "rheos", "--prefix").stdout.strip()
COMMAND = os.path.join(PREFIX, "bin", "rheos")


def test_the_prefix_has_the_command():
    assert os.access(COMMAND, os.X_OK)


def test_the_command_of_an_installed_tree_is_found(tmp_path):
    package, command = tmp_path / "lib/python3/dist-packages/rheos", tmp_path / "bin/rheos"
    package.mkdir(parents=True)
    command.parent.mkdir()
    for name in ("__init__.py", "__main__.py", "_launch.py"):
        source = open(os.path.join(PACKAGE, name)).read() if name != "__init__.py" else ""
        (package / name).write_text(source)
    command.write_text('#!/bin/sh\necho "$RHEOS_PYTHON $*"\n')
    command.chmod(0o755)
    done = python("-m", "rheos", "show", PYTHONPATH=str(package.parent), PATH="")
    assert done.stdout == f"{sys.executable} show\n", done.stderr
    # A wheel's launcher there ends in a sentence where the wheel has lost its command.
    command.write_text(f"#!{sys.executable}\nfrom rheos.__main__ import main\nmain()\n")
    done = subprocess.run([command], env={"PYTHONPATH": str(package.parent), "PATH": ""},
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert "the command is not installed with this package" in done.stderr


def copied_without(tmp_path, *names):
    """A package with nothing but its first module, and the names of the rest."""
    package = tmp_path / "rheos"
    (package / "framework").mkdir(parents=True)
    shutil.copy(os.path.join(PACKAGE, "__init__.py"), package)
    for name in ("__init__.py", "version.py"):
        shutil.copy(os.path.join(PACKAGE, "framework", name), package / "framework")
    for name in names:
        (package / name).write_text("")
    return {"PYTHONPATH": str(tmp_path)}


def test_another_python_is_told_what_to_do(tmp_path):
    where = copied_without(tmp_path, "_core.cpython-38-x86_64-linux-gnu.so")
    done = python("-c", "import rheos", **where)
    assert "was built for cpython-38-x86_64-linux-gnu, not for this Python" in done.stderr
    assert "ImportError" in done.stderr and "pip" in done.stderr


def without_its_library(tmp_path, other):
    """A package that finds `other` (a C program, or None) where it looks for librheos.so."""
    package, beside = tmp_path / "site" / "rheos", tmp_path / "lib"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "lib", "bin"))
    beside.mkdir()
    (beside / "other.c").write_text(other)
    library = beside / "librheos.so.0"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,librheos.so.0", "-o", library,
                    beside / "other.c"], check=True)  # fmt: skip
    return {"PYTHONPATH": str(tmp_path / "site"), "LD_LIBRARY_PATH": str(beside),
            "LD_BIND_NOW": "1"}  # fmt: skip


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "other, told",
    [
        ("int nothing;", "another librheos.so is found before its own: see LD_LIBRARY_PATH"),
        (None, "cannot open shared object file"),
    ],
)
def test_a_library_that_does_not_fit_is_told_in_a_sentence(tmp_path, other, told):
    where = without_its_library(tmp_path, other or "")
    if other is None:
        os.remove(tmp_path / "lib" / "librheos.so.0")
    done = python("-c", "import rheos", **where)
    last = done.stderr.strip().splitlines()[-1]
    if done.returncode == 0:
        assert other is None  # the extension knows where its library was built
        return
    assert last.startswith(f"ImportError: Rheos in {tmp_path / 'site' / 'rheos'} cannot be loaded")
    assert told in last


def test_a_missing_package_is_named(tmp_path):
    import importlib.machinery

    where = copied_without(tmp_path, "_core" + importlib.machinery.EXTENSION_SUFFIXES[0])
    # No packages but the standard library's.
    done = python("-S", "-c", "import rheos", **where)
    if "numpy" not in done.stderr:  # it lies where this Python looks by itself
        assert done.returncode == 0
    else:
        assert "needs the package numpy" in done.stderr and "-m pip install numpy" in done.stderr


def test_an_old_python_is_told_so(tmp_path):
    where = copied_without(tmp_path)
    old = "import sys; sys.version_info = (3, 8, 0, 'final', 0)\n"
    done = python("-c", old + "import rheos", **where)
    last = done.stderr.splitlines()[-1]
    told = f"Rheos needs Python 3.9 or a later one, {sys.executable} is Python 3.8"
    assert last == f"ImportError: {told}"


def other_numpy(tmp_path, source):
    """Where a NumPy lies that does this when it is imported."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(source)
    path = [str(tmp_path), os.path.dirname(PACKAGE)]
    return {"PYTHONPATH": os.pathsep.join(path)}


REFUSES = "raise RuntimeError('NumPy was built with\\n  (SSE3) but your machine has it not.')"
DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


def test_a_numpy_that_refuses_the_processor_is_told_in_a_sentence(tmp_path):
    where = other_numpy(tmp_path, REFUSES)
    last = python("-c", "import rheos", **where).stderr.splitlines()[-1]
    assert "(NumPy was built with (SSE3) but your machine has it not): install another" in last
    assert 'pip install "numpy<2"' in last


def test_a_numpy_that_would_kill_the_process_is_told_in_a_sentence(tmp_path):
    check = "from _load_errors import explained, try_numpy\ntry: try_numpy()\n"
    check += "except ImportError as error: print(explained(error))"
    where = other_numpy(tmp_path, DIES)
    # The module alone: what calls it asks for the processor first.
    done = python("-c", check, PYTHONPATH=os.pathsep.join([where["PYTHONPATH"], PACKAGE]))
    assert "(importing numpy ends in SIGILL): install another" in done.stdout, done.stderr


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="no qemu-user")
def test_an_old_processor_works_or_is_told_in_a_sentence():
    program = ["qemu-x86_64", "-cpu", "kvm64,-pni,-ssse3", sys.executable]
    program += ["-c", "import rheos as tf; print((tf.ones([2]) + 1).numpy())"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600)
    if done.returncode == 0:
        assert done.stdout == "[2. 2.]\n"
    else:
        assert done.returncode == 1
        assert "cannot be loaded with the NumPy of" in done.stderr.splitlines()[-1]


def test_the_command_says_what_is_missing_without_a_traceback(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import tensorflow as tf\nprint(tf.Session)\n")
    done = subprocess.run([COMMAND, "run", script], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **other_numpy(tmp_path, REFUSES)})  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("rheos: Rheos in ") and done.stderr.count("\n") == 1


def test_of_two_on_one_path_the_first_is_taken(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "rheos", ignore=shutil.ignore_patterns("lib", "bin"))
    paths = [str(tmp_path), os.path.dirname(PACKAGE)]
    library = os.path.join(os.path.dirname(PACKAGE), "..", "lib")
    where = {"PYTHONPATH": os.pathsep.join(paths), "LD_LIBRARY_PATH": library}
    program = "import rheos as tf\nprint(tf.__file__, float(tf.constant(1.0) + 1))"
    done = python("-c", program, **where)
    assert done.stdout == f"{tmp_path / 'rheos' / '__init__.py'} 2.0\n", done.stderr
    # The command's own comes before what it finds on the path.
    script = tmp_path / "script.py"
    script.write_text(program)
    done = subprocess.run([COMMAND, "run", script], capture_output=True, text=True,
                          env={**os.environ, **where})  # fmt: skip
    assert done.stdout == f"{os.path.join(PACKAGE, '__init__.py')} 2.0\n", done.stderr


@pytest.mark.parametrize("first", ["metrics.Mean()", "optimizers.Adam()", "losses.Huber()",
                                   "layers.Dense(2)(tf.ones([1, 2]))"])  # fmt: skip
def test_any_part_of_keras_may_be_a_programs_first(first):
    folder = os.path.dirname(PACKAGE)
    done = python("-c", f"import rheos as tf; tf.keras.{first}", PYTHONPATH=folder)
    assert done.returncode == 0, done.stderr
