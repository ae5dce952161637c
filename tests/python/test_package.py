"""The package as a whole: `python -m rheos`, and what it says where it cannot work."""

import os
import shutil
import subprocess
import sys

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


def test_a_missing_package_is_named(tmp_path):
    import importlib.machinery

    where = copied_without(tmp_path, "_core" + importlib.machinery.EXTENSION_SUFFIXES[0])
    # No packages but the standard library's.
    done = python("-S", "-c", "import rheos", **where)
    if "numpy" not in done.stderr:  # it lies where this Python looks by itself
        assert done.returncode == 0
    else:
        assert "needs the package numpy" in done.stderr and "-m pip install numpy" in done.stderr
