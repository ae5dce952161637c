"""What pages say: examples of ARCHITECTURE.md and docs/inside run, and print what the pages print;
the first page of measurements has the numbers of the others."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [SOURCE / "ARCHITECTURE.md", *sorted((SOURCE / "docs" / "inside").glob("*.md"))]
WITH_PROGRAMS = [path for path in PAGES if "\n```python\n" in path.read_text()]
WITH_PLANS = [path for path in WITH_PROGRAMS if "`rheos show --plan " in path.read_text()]


def rheos(*arguments, folder):
    return subprocess.run(
        [BUILD / "bin" / "rheos", *arguments], cwd=folder, capture_output=True, timeout=60,
        check=True, text=True,
    ).stdout  # fmt: skip


def without_numbers_of_kernels(text):
    """How many units and how much scratch a kernel has is another matter on another processor."""
    lines = re.sub(r"^( *i\d+ [^;\n]*);.*$", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"^ *memory: .*\n", "", lines, flags=re.MULTILINE)


def run_program(blocks, folder):
    """Runs the first block of Python; returns its number."""
    first = next(i for i, (language, _) in enumerate(blocks) if language == "python")
    (folder / "program.py").write_text(blocks[first][1])
    rheos("run", "program.py", folder=folder)
    return first


@pytest.mark.parametrize(
    "page", [path for path in WITH_PROGRAMS if path not in WITH_PLANS], ids=lambda path: path.stem
)
def test_a_page_has_a_program_that_runs(page, tmp_path):
    run_program(BLOCK.findall(page.read_text()), tmp_path)


@pytest.mark.parametrize("page", WITH_PLANS, ids=lambda path: path.stem)
def test_a_page_prints_what_the_command_prints(page, tmp_path):
    text = page.read_text()
    blocks = BLOCK.findall(text)
    first = run_program(blocks, tmp_path)
    (command,) = re.findall(r"`rheos (show --plan [^`]*)`", text)
    printed = "\n" + without_numbers_of_kernels(rheos(*command.split(), folder=tmp_path))
    parts = [block for language, block in blocks[first + 1 :] if language == ""]
    assert parts
    for part in parts:
        assert "\n" + without_numbers_of_kernels(part) in printed


MEASUREMENTS = SOURCE / "docs" / "measurements"
ROW = re.compile(r"^\| (.*) \| \[[^]]*\]\((\w[\w-]*\.md)[^)]*\) \|$", re.MULTILINE)
NUMBER = re.compile(r"\d[\d.,]*\d|\d")


def test_the_first_page_of_measurements_has_numbers_of_the_others():
    rows = ROW.findall((MEASUREMENTS / "README.md").read_text())
    assert len(rows) > 5
    for row, page in rows:
        measured = set(NUMBER.findall(row.split(" | ", 1)[1]))
        # The page has them in one row, or in one sentence, which may be broken into lines.
        lines = re.split(r"\n\||\n\n", (MEASUREMENTS / page).read_text())
        assert any(measured <= set(NUMBER.findall(line)) for line in lines), row


def test_pictures_of_the_guide_are_small_and_shown():
    guide = SOURCE / "docs" / "guide"
    text = "".join(page.read_text() for page in guide.rglob("*.md"))
    shown = set(re.findall(r"!\[[^\]]+\]\(pictures/([\w.-]+)\)", text))
    assert {path.name for path in (guide / "pictures").iterdir()} == shown != set()
    assert all((guide / "pictures" / name).stat().st_size < 100_000 for name in shown)
