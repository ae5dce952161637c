"""tools/check-abi: what breaks linked programs is found, what does not is let through."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(
    shutil.which("abidiff") is None or shutil.which("cc") is None, reason="needs abidiff and cc"
)


def changed(folder, *changes):
    """A copy of the headers in which (file, old, new) are changed."""
    shutil.copytree(SOURCE / "include/rheos", folder / "include/rheos")
    for name, old, new in changes:
        path = folder / "include/rheos" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
    return folder


def check(*arguments):
    done = subprocess.run(
        [sys.executable, SOURCE / "tools/check-abi", *arguments], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(params=["headers", "record"])
def old(request, tmp_path):
    """This tree, as headers or as what would be recorded of them."""
    if request.param == "headers":
        return SOURCE
    assert check("--record", tmp_path / "recorded") == (0, "")
    return tmp_path / "recorded"


def test_programs_of_the_last_release_go_on():
    status, said = check()
    assert status == 0, said


NAME = "RHEOS_API const char *rheos_code_name(rheos_code code);"


LAST = "} rheos_while_options;"
RESERVED = "  rheos_toggle reserved_[5] RHEOS_LEFT_OUT;"
TAKEN = "  rheos_toggle more;\n  rheos_toggle reserved_[4];"


def test_what_is_added_is_let_through(tmp_path, old):
    more = NAME + "RHEOS_API int rheos_more(void);"
    options = ("control_flow.h", LAST, "  double more;\n" + LAST)
    reserved = ("session.h", RESERVED, TAKEN)
    status, said = check(old, changed(tmp_path / "new", ("base.h", NAME, more), options, reserved))
    assert status == 0 and "go on with" in said


@pytest.mark.parametrize(
    "change, named",
    [
        (("base.h", NAME, ""), "rheos_code_name"),
        (("base.h", NAME, NAME.replace("rheos_code code", "double code")), "rheos_code_name"),
        (("control_flow.h", "  bool swap_mem", "  int a;\n  bool swap_mem"), "while_options"),
        (("session.h", RESERVED, TAKEN.replace("toggle more", "graph *more")), "rewrite_options"),
        (("base.h", "  void *user;", "  int a;\n  void *user;"), "rheos_set_allocator"),
    ],
)
def test_what_breaks_programs_is_found(tmp_path, old, change, named):
    status, said = check(old, changed(tmp_path / "new", change))
    assert status == 1 and named in said and "count up the version" in said


def test_a_new_version_may_differ(tmp_path, old):
    minor = next(line for line in (SOURCE / "include/rheos/base.h").read_text().splitlines()
                 if "define RHEOS_VERSION_MINOR" in line)  # fmt: skip
    up = minor.rsplit(" ", 1)[0] + f" {int(minor.rsplit(' ', 1)[1]) + 1}"
    new = changed(tmp_path / "new", ("base.h", NAME, ""), ("base.h", minor, up))
    status, said = check(old, new)
    assert status == 0 and "another version" in said
