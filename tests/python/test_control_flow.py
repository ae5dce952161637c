"""Conditionals and loops against TensorFlow 1.15: tests/golden/make_control_flow.py."""

import json
import re
import sys
from pathlib import Path

import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from make_control_flow import MISTAKES, PROGRAMS, blame, build  # noqa: E402

RECORDED = json.loads((GOLDEN / "control_flow.json").read_text())

# Programs with an Assert that TensorFlow puts into a conditional.
GUARDED = {"case_exclusive", "case_without_default", "assert_floats", "assert_checks"}
GUARDED |= {"while_print_and_assert", "turned_by_tensor"}
BUILT = [name for name in PROGRAMS if name not in GUARDED]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("name", BUILT)
def test_program__makes_the_same_nodes(name):
    made, _ = build(tf, name)
    recorded = RECORDED["programs"][name]
    assert [node[0] for node in made["nodes"]] == [node[0] for node in recorded["nodes"]]
    assert made["nodes"] == recorded["nodes"]


@pytest.mark.parametrize("name", BUILT)
def test_program__has_the_same_contexts(name):
    made, _ = build(tf, name)
    assert made["contexts"] == RECORDED["programs"][name]["contexts"]


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistake__is_named_as_by_tensorflow(name):
    kind, text = RECORDED["mistakes"][name]
    made_kind, made_text = blame(tf, name)
    made_text = re.sub(r": input \d+ has shape \S+", "", made_text)
    assert made_kind == {"InaccessibleTensorError": "ValueError"}.get(kind, kind)
    text = text.removesuffix(" See info log for more details.").replace(",explicit", ", explicit")
    assert made_text == text
