"""`rheos env`: what it prints is understood by a shell, and programs find libtensorflow by it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build")).resolve()
RHEOS = BUILD / "bin" / "rheos"
PROGRAM = """
#include <stdio.h>
#include <tensorflow/c/c_api.h>
int main(void) { return puts(TF_Version()) < 0; }
"""


def env(*arguments, command=RHEOS):
    return subprocess.run(
        [command, "env", *arguments], capture_output=True, text=True, timeout=60
    )


def shell(line, **variables):
    clean = {"PATH": os.environ["PATH"], "RHEOS": str(RHEOS), **variables}
    return subprocess.run(
        ["sh", "-ec", f'eval "$("$RHEOS" env --libtensorflow)"\n{line}'],
        capture_output=True, text=True, timeout=120, env=clean,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def is_built():
    if not (BUILD / "libtensorflow" / "lib" / "libtensorflow.so.2").exists():
        pytest.skip("libtensorflow is left out of this build")


def test_what_is_set_already_stays_behind():
    done = shell('echo "$LD_LIBRARY_PATH"; echo "$CPATH"', LD_LIBRARY_PATH="/a b:/c")
    prefix = BUILD / "libtensorflow"
    assert done.stdout == f"{prefix}/lib:/a b:/c\n{prefix}/include\n" and done.stderr == ""


def test_a_program_is_built_and_run_by_it(tmp_path):
    (tmp_path / "v.c").write_text(PROGRAM)
    out = tmp_path / "v"
    done = shell(f"cc {tmp_path}/v.c -ltensorflow -o {out} && {out}")
    assert done.stdout == "2.21.0\n", done.stderr
    done = shell(f"cc {tmp_path}/v.c $(pkg-config --cflags --libs tensorflow) -o {out} && {out}")
    assert done.stdout == "2.21.0\n", done.stderr


def test_a_folder_with_quotes_is_quoted(tmp_path):
    prefix = tmp_path / "it's a $HOME"
    shutil.copytree(BUILD / "libtensorflow" / "lib", prefix / "libtensorflow" / "lib")
    (prefix / "bin").mkdir()
    shutil.copy(RHEOS, prefix / "bin")
    os.symlink(BUILD / "lib", prefix / "lib")
    found = subprocess.run(
        ["sh", "-ec", 'eval "$("$1" env --libtensorflow)"; echo "$LIBRARY_PATH"', "sh",
         prefix / "bin" / "rheos"],
        capture_output=True, text=True, timeout=60,
        env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(BUILD / "lib")},
    )  # fmt: skip
    assert found.stdout == f"{prefix}/libtensorflow/lib\n", found.stderr


def test_wrong_usage_and_a_missing_library(tmp_path):
    for arguments in ([], ["--libtensorflow", "x"], ["x"], ["--libtensorflw"]):
        done = env(*arguments)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    (tmp_path / "bin").mkdir()
    shutil.copy(RHEOS, tmp_path / "bin")
    moved = subprocess.run(
        [tmp_path / "bin" / "rheos", "env", "--libtensorflow"], capture_output=True, text=True,
        timeout=60, env={"LD_LIBRARY_PATH": str(BUILD / "lib")},
    )  # fmt: skip
    assert moved.returncode == 1 and "librheos-tensorflow" in moved.stderr
