"""The pages of which `make docs-site` makes a site, without Sphinx: every name is on one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import rheos
from face_names import leads_somewhere

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
        if path.suffix in (".md", ".html", ".js", ".json")
    }


def test_every_function_of_the_headers_is_there(pages):
    exported = set()
    for path in (SOURCE / "include/rheos").glob("*.h"):
        for line in re.findall(r"^RHEOS_(?:API|STATUS) .*", path.read_text(), re.MULTILINE):
            found = re.search(r"\b(rheos_\w+)\(", line)
            if found and not found[1].endswith(("_", "_sized")):
                exported.add(found[1])
    missing = {name for name in exported if f"reference/c/{name}.html" not in pages}
    assert len(exported) > 300 and not missing
    run = pages["reference/c/rheos_session_run.html"]
    assert 'href="../c/rheos_session.html"' in run and "rheos_run_options" in run


def test_every_op_is_there_with_its_wrapper(pages):
    ops = re.findall(r"^\| `(\w+)` \|", (SOURCE / "docs/ops.md").read_text(), re.MULTILINE)
    there = [path for path in pages if path.startswith("reference/ops/")]
    assert len(there) == len(ops) + 2 and len(ops) > 1000  # and the first page, and its frame
    matmul = pages["reference/ops/MatMul.html"]
    assert "rheos_matmul" in matmul and "rheos.raw_ops.MatMul.html" in matmul
    assert "<code>transpose_a</code>" in matmul and "Gradient: yes." in matmul


def test_python_names_have_their_docstrings_and_ops(pages):
    relu = pages["reference/python/rheos.nn.relu.html"]
    assert "../ops/Relu.html" in relu and len(relu.split()) > 5
    assert "rheos.data.Dataset.html" in pages["reference/python/rheos.data.html"]
    assert "reference/python/rheos.v1.Session.html" in pages
    assert '<code id="float32">' in pages["reference/python/rheos.html"]
    assert '<section id="batch">' in pages["reference/python/rheos.data.Dataset.html"]


def test_names_that_differ_in_small_letters_have_two_pages(pages):
    lower = [path.lower() for path in pages]
    assert len(set(lower)) == len(lower)
    assert '"rheos.keras.layers.add"' in pages["static/names.js"]
    assert '"rheos.keras.layers.Add"' in pages["static/names.js"]


def test_links_of_the_reference_lead_to_pages_and_members(pages):
    for path, text in pages.items():
        if not path.endswith(".html"):
            continue
        for target in set(re.findall(r'href="([^"#]*(?:#[^"]*)?)"', text)):
            page, _, anchor = target.partition("#")
            whole = os.path.normpath(os.path.join(os.path.dirname(path), page)) if page else path
            if whole not in pages:  # Sphinx makes it of a text
                assert re.sub("html$", "md", whole) in pages, (path, target)
            elif anchor:
                assert f'id="{anchor}"' in pages[whole], (path, target)


def test_links_lead_to_pages_of_the_site(pages):
    for path, text in pages.items():
        if path.endswith(".md"):
            words = re.sub(r"````.*?````|```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
            for target in re.findall(r"\]\(([^)#:\s]+)[^)]*\)", words):
                whole = os.path.normpath(os.path.join(os.path.dirname(path), target))
                assert whole in pages or whole.endswith((".png", ".svg")), (path, target)


def test_commands_and_their_options_are_there(pages):
    text = pages["reference/command.md"]
    for command in ("run", "show", "exec", "bench", "convert", "view", "lint", "serve"):
        assert f"\n## rheos {command}\n" in text
    assert "--feed-shape" in text and '"rheos exec --feed"' in pages["static/names.js"]


# What the guide says that Rheos lacks.
LACKING = {"contrib.learn.RunConfig", "lite", "xla"}


def test_the_guide_names_what_is_there(pages):
    known = json.loads(pages["reference.json"])["links"]
    seen = set()
    for path in (SOURCE / "docs/guide").rglob("*.md"):
        text = path.read_text()
        for name in set(re.findall(r"\brheos_[a-z]\w+(?=\()", text)):
            seen.add("C")
            assert name in known, (path, name)
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for name in set(re.findall(r"`tf\.([\w.]+)[^`]*`", prose)):
            seen.add("Python")
            faces = (rheos, rheos.compat.v1)
            is_there = any(leads_somewhere(name, face) for face in faces)
            assert is_there != (name in LACKING), (path, name)
    assert seen == {"C", "Python"}


def test_the_chapter_of_the_command_names_all_commands(pages):
    overview = pages["reference/command.md"].partition("## ")[0]
    chapter = (SOURCE / "docs/guide/command.md").read_text()
    for command in re.findall(r"^  (\w+)  ", overview, re.MULTILINE):
        assert f"rheos {command}" in chapter
