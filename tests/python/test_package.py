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


def test_the_prefix_has_the_command():
    prefix = python("-m", "rheos", "--prefix").stdout.strip()
    assert os.access(os.path.join(prefix, "bin", "rheos"), os.X_OK)


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
