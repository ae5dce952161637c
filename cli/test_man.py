"""The man page knows every command and every option that --help speaks of."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))


def help_of(*arguments):
    done = subprocess.run(
        [BUILD / "bin" / "rheos", "help", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


COMMANDS = re.findall(r"^  (?!help)(\w+) +\S.*$", help_of(), re.MULTILINE)
PAGE = (SOURCE / "docs" / "rheos.1").read_text().replace("\\-", "-")


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9-]*", text))


def test_there_are_commands():
    assert {"run", "show"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_has_a_section_with_all_options(command):
    sections = re.split(r"^\.SH ", PAGE, flags=re.MULTILINE)
    section = next(s for s in sections if s.startswith(f"RHEOS {command.upper()}\n"))
    assert options_in(help_of(command)) - {"--help"} <= options_in(section)
    assert options_in(section) <= options_in(help_of(command))
    assert f"rheos {command}" in PAGE


def test_help_lines_fit_a_terminal():
    for command in COMMANDS:
        assert all(len(line) <= 90 for line in help_of(command).splitlines())
