"""The pages of which `make docs-site` makes a site, without Sphinx: every name is on one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import rheos

SOURCE = Path(__file__).resolve().parents[3]
BUILD = Path(rheos.__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The text of each page, by its path."""
    if not (BUILD / "generated/include/rheos/ops.h").exists():
        pytest.skip("not in a build folder")
    folder = tmp_path_factory.mktemp("site")
    make = [sys.executable, SOURCE / "tools/site/make", BUILD, "--sources", folder]
    subprocess.run(make, check=True, timeout=200)
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.suffix in (".md", ".rst")
    }


def named(pages, folder, directive):
    """What a directive on the pages of a folder is about."""
    text = "\n".join(text for path, text in pages.items() if path.startswith(folder))
    return re.findall(rf"^ *\.\. {directive}:: (.*)$", text, re.MULTILINE)


def test_every_function_of_the_headers_is_there(pages):
    exported = set()
    for path in (SOURCE / "include/rheos").glob("*.h"):
        for line in re.findall(r"^RHEOS_(?:API|STATUS) .*", path.read_text(), re.MULTILINE):
            found = re.search(r"\b(rheos_\w+)\(", line)
            if found and not found[1].endswith(("_", "_sized")):
                exported.add(found[1])
    shown = " ".join(named(pages, "reference/c/", "c:function"))
    missing = {name for name in exported if not re.search(rf"\b{name}\(", shown)}
    assert len(exported) > 300 and not missing


def test_every_op_is_there_with_its_wrapper(pages):
    ops = re.findall(r"^\| `(\w+)` \|", (SOURCE / "docs/ops.md").read_text(), re.MULTILINE)
    assert sorted(named(pages, "reference/ops/", "op")) == sorted(ops) and len(ops) > 1000
    matmul = pages["reference/ops/M.rst"].split(".. op:: MatMul\n")[1].split(".. op::")[0]
    assert "rheos_matmul" in matmul and "rheos.raw_ops.MatMul" in matmul
    assert "``transpose_a``" in matmul and "Gradient: yes." in matmul


def test_python_names_have_their_docstrings_and_ops(pages):
    nn = pages["reference/python/rheos.nn.rst"]
    relu = nn.split(":: rheos.nn.relu(")[1].split("\n.. py:")[0]
    assert ":op:`Relu`" in relu and len(relu.split()) > 5
    assert "rheos.data.Dataset" in pages["reference/python/rheos.data.rst"]
    assert "rheos.v1.Session" in pages["reference/python/rheos.v1.rst"]
    assert ".. py:method:: batch(" in pages["reference/python/rheos.data.rst"]


def test_links_lead_to_pages_of_the_site(pages):
    for path, text in pages.items():
        if path.endswith(".md"):
            words = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
            for target in re.findall(r"\]\(([^)#:\s]+)[^)]*\)", words):
                whole = os.path.normpath(os.path.join(os.path.dirname(path), target))
                assert whole in pages or whole.endswith((".png", ".svg")), (path, target)


def test_commands_and_their_options_are_there(pages):
    text = pages["reference/command.rst"]
    for command in ("run", "show", "exec", "bench", "convert", "view", "lint", "serve"):
        assert f"\nrheos {command}\n---" in text
    assert "--feed-shape" in text
