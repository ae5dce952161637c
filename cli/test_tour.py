"""ARCHITECTURE.md's example: the program runs, and its plan is the one that the page prints."""

import os
import re
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
PAGE = (SOURCE / "ARCHITECTURE.md").read_text()


def rheos(*arguments, folder):
    return subprocess.run(
        [BUILD / "bin" / "rheos", *arguments], cwd=folder, capture_output=True, timeout=60,
        check=True, text=True,
    ).stdout  # fmt: skip


def without_numbers_of_a_kernel(line):
    """How many units and how much scratch a kernel has is another matter on another processor."""
    return line.partition(";")[0] if re.match(r"  i\d", line) else line


def lines_of(text, first):
    """Those that follow a line, up to one that is not indented."""
    lines = iter(text.splitlines())
    for line in lines:
        if line == first:
            break
    found = []
    for line in lines:
        if not line.startswith("  "):
            break
        found.append(without_numbers_of_a_kernel(line))
    return found


def test_the_tour_prints_the_plan_of_its_program(tmp_path):
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "step.py").write_text(program)
    rheos("run", "step.py", folder=tmp_path)
    (command,) = re.findall(r"`rheos (show --plan [^`]*)`", PAGE)
    printed = rheos(*command.split(), folder=tmp_path)
    for first in ("entries", "instructions"):
        lines = lines_of(PAGE, first)
        assert lines
        assert lines == lines_of(printed, first)
