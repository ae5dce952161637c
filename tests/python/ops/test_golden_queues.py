"""Programs with queues and input pipelines: TensorFlow 1.15's nodes, queue runners and values."""

import importlib.util
import json
from pathlib import Path

import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "queues.json").read_text())

_spec = importlib.util.spec_from_file_location("make_queues", GOLDEN / "make_queues.py")
make_queues = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_queues)


# TensorFlow decodes images by a tree of conditionals, Rheos by one operation.
OTHER_NODES = ("slim_provider", "slim_shuffled")


def test_every_program_is_recorded():
    assert set(RECORDED) == set(make_queues.PROGRAMS)


@pytest.mark.parametrize("name", RECORDED)
def test_program_is_tensorflows(name):
    made = json.loads(json.dumps(make_queues.answer(tf, name)))
    recorded = RECORDED[name]
    if name not in OTHER_NODES:
        assert made["nodes"] == recorded["nodes"]
    assert made["runners"] == recorded["runners"]
    assert made["answers"] == recorded["answers"]
