"""The man page knows every command and every option that --help speaks of, and so do all pages."""

import json
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


# Words behind `rheos COMMAND`, up to the end of the command; a backslash goes on in the next line.
CALLS = re.compile(r"(?<![\w/-])rheos (\w+)((?:\\\n|[^\n`|;&#>])*)")
PAGES = [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")]


def test_pages_name_commands_and_options_that_there_are():
    options = {command: options_in(help_of(command)) for command in COMMANDS}
    seen = set()
    for page in PAGES:
        text = page.read_text()
        for code in re.findall(r"^```[^\n]*\n.*?^```$|`[^`\n]+`", text, re.MULTILINE | re.DOTALL):
            for command, words in CALLS.findall(code):
                if command not in options:  # as in "rheos prints"
                    continue
                seen.add(command)
                words = words.partition(".py")[0]  # what follows a script is its own
                assert options_in(words) <= options[command], f"{page.name}: {command} {words}"
    assert {"run", "show", "exec", "convert", "bench"} <= seen


def test_help_lines_fit_a_terminal():
    for command in COMMANDS:
        assert all(len(line) <= 90 for line in help_of(command).splitlines())


# What is in these has names of the file's own.
NAMED = {"ops", "signatures", "collections", "features", "feature_lists", "attributes"}
GOLDEN = SOURCE / "tests" / "golden"
SHOWN = [
    ["saved_models/tables"],
    ["saved_models/functions"],
    ["saved_models/mlp", "--memory"],
    ["saved_models/mlp", "--plan"],
    ["saved_models/mlp", "--node", "x"],
    ["meta_graphs/training.meta"],
    ["meta_graphs/training.meta", "--ops"],
    ["checkpoints/many"],
    ["checkpoints/shapes"],
    ["events"],
]


def fields_of(value, inside=""):
    """The names of fields in what show prints, without names that are the file's."""
    if isinstance(value, list):
        for item in value:
            yield from fields_of(item, "[]")
    elif isinstance(value, dict):
        for key, item in value.items():
            is_name = inside in NAMED or inside in ("inputs", "outputs", "tags")
            if not is_name:
                yield key
            yield from fields_of(item, "" if is_name else key)


@pytest.mark.parametrize("arguments", SHOWN, ids=" ".join)
def test_the_page_has_all_fields_of_json(arguments):
    command = [BUILD / "bin" / "rheos", "show", "--json", *arguments[1:], GOLDEN / arguments[0]]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    section = PAGE.split("fields of the JSON object")[1].split(".SH RHEOS EXEC")[0]
    fields = set(fields_of(json.loads(done.stdout)))
    assert "kind" in fields or "--memory" in arguments or "--ops" in arguments
    assert fields <= set(re.findall(r"\w+", section))
