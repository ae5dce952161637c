"""Pipelines of datasets: what TensorFlow 1.15 and 2 give, from both faces."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
import rheos.pipelines
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "pipelines.json").read_text())

_spec = importlib.util.spec_from_file_location("make_pipelines", GOLDEN / "make_pipelines.py")
make_pipelines = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_pipelines)

# Pipelines that are made of other operations than TensorFlow 1.15's, and why.
_FUSED = "TensorFlow puts the two together when it runs them, Rheos when they are made"
_DENSE = "TensorFlow maps elements to dense tensors even where they are ones"
_PARSED = "Rheos parses batches by a function"
OTHER_OPERATIONS = {
    "batched_features": _PARSED,
    "shuffle_repeat": _FUSED,
    "training_input": _FUSED,
    "unbatch": _DENSE,
    "unbatch_of_structure": _DENSE,
}


class Face2:
    """TensorFlow 2's datasets beside the names of rheos.v1, to build graphs with."""

    data = rheos.pipelines

    def __getattr__(self, name):
        return getattr(tf, name)


# Shapes of which Rheos knows more than TensorFlow 1.15.
KNOWN_MORE = ("sparse_map",)


def _names(version):
    return [pytest.param(name, id=f"{name}_{version}") for name in RECORDED[version]]


def test_every_pipeline_is_recorded():
    for version in "12":
        names = {n for n, (_, versions) in make_pipelines.PIPELINES.items() if version in versions}
        assert set(RECORDED[version]) == names


@pytest.mark.parametrize("name", _names("1"))
def test_pipeline_is_tensorflow_1s(name):
    recorded = RECORDED["1"][name]
    made = json.loads(json.dumps(make_pipelines.answer_1(tf, name)))
    assert ("refused" in made) == ("refused" in recorded), made
    if "refused" in recorded:
        return
    if name in OTHER_OPERATIONS:
        assert made.pop("operations") != recorded["operations"]
        recorded = {key: value for key, value in recorded.items() if key in made}
    made["repr"], recorded["repr"] = (
        None if name in KNOWN_MORE else _comparable(answer["repr"].partition(" ")[2])
        for answer in (made, recorded)
    )
    assert made == recorded


def _comparable(text):
    """A text; of one with ordered dictionaries, which Python 3.12 prints anew, only the words."""
    return re.findall(r"[^][(){}:, ]+", text) if "OrderedDict" in text else text


def _execute(dataset):
    """The elements of a dataset, by an iterator of the default graph."""
    try:
        iterator = tf.data.make_one_shot_iterator(dataset)
        initializer = None
    except ValueError:
        iterator = tf.data.make_initializable_iterator(dataset)
        initializer = iterator.initializer
    element = iterator.get_next()
    with tf.Session() as session:
        if initializer is not None:
            session.run(initializer)
        while True:
            try:
                yield session.run(element)
            except tf.errors.OutOfRangeError:
                return


@pytest.mark.parametrize("name", _names("2"))
def test_pipeline_is_tensorflow_2s(name):
    recorded = RECORDED["2"][name]
    with tf.Graph().as_default():
        made = json.loads(json.dumps(make_pipelines.answer_2(Face2(), name, _execute)))
    failed = "refused" in recorded
    if failed:
        assert "refused" in made or made["elements"][-1][0] == "error"
    else:
        assert made["elements"] == recorded["elements"]
        # Shapes are written as TensorFlow 1 does.
        spec = re.sub(r"Dimension\((\w+)\)", r"\1", made["spec"]).replace("?", "None")
        assert _comparable(spec) == _comparable(recorded["spec"])
