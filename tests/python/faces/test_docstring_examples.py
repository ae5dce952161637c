"""The examples of docstrings print what they show, in TensorFlow 2 or, with names of its own, 1."""

import doctest
import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos
import rheos.v1
from face_names import leads_somewhere
from rheos.framework import eager, tensor_shape

TOOLS = Path(__file__).resolve().parents[3] / "tools"


@pytest.fixture(scope="module")
def tools():
    """A module of tools/ by its path."""
    before = list(sys.path)
    sys.path[:0] = [str(TOOLS), str(TOOLS / "site")]

    def load(path):
        name = Path(path).name.replace("-", "_").removesuffix(".py")
        loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / path))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
        loader.exec_module(module)
        return module

    yield load
    sys.path[:] = before


def face_of(doc):
    names = re.findall(r"\btf\.([\w.]*\w)", "".join(re.findall(r"^(?:>>>|\.\.\.).*", doc, re.M)))
    return rheos if all(leads_somewhere(name, rheos) for name in names) else rheos.v1


def wrong_in(name, doc, checker):
    """What an example prints that it does not show."""
    face = face_of(doc)
    if face is rheos:
        eager.enable_eager_execution()
        tensor_shape.enable_v2_tensorshape()
    else:
        eager.disable_eager_execution()
        tensor_shape.disable_v2_tensorshape()
    rheos.v1.reset_default_graph()
    wrong = []
    names = {"tf": face, "np": np}
    example = doctest.DocTestParser().get_doctest(doc, names, name, name, 0)
    doctest.DocTestRunner(checker=checker, verbose=False).run(example, out=wrong.append)
    return "".join(wrong)


@pytest.fixture
def checker(tools):
    """Compares as the guide does: numbers may differ in their last digit."""
    same = tools("check-guide").same

    class Checker(doctest.OutputChecker):
        def check_output(self, want, got, optionflags):
            return same(want, got, False)

    return Checker()


@pytest.mark.skipif(
    int(np.__version__.split(".")[0]) > 1, reason="examples show numbers as NumPy 1 prints them"
)
def test_examples_print_what_they_show(tools, checker):
    docs = {}
    for row in tools("site/python_names.py").rows():
        docs[row["name"]] = row.get("doc", "")
        for member in row.get("members", ()):
            docs[f"{row['name']}.{member['name']}"] = member["doc"]
    examples = {name: doc for name, doc in docs.items() if ">>> " in doc}
    assert len(examples) > 200
    wrong = "".join(wrong_in(name, doc, checker) for name, doc in examples.items())
    assert not wrong, wrong


def test_an_example_that_shows_something_else_is_found(checker):
    assert not wrong_in("right", ">>> print(tf.abs(-2.00001).numpy())\n2.00002\n", checker)
    assert "Expected" in wrong_in("wrong", ">>> print(tf.abs(-2).numpy())\n3\n", checker)
    assert "no attribute" in wrong_in("absent", ">>> tf.no_such_name(1)\n", checker)
    assert not wrong_in("first", ">>> print(tf.Session().graph.get_operations())\n[]\n", checker)
