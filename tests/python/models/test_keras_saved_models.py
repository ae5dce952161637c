"""Saved models of Keras 2 and 3: tests/golden/make_keras_saved_models.py."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v1
import rheos.v2
from rheos.framework import defaults, eager, messages

FOLDER = Path(__file__).parents[2] / "golden" / "keras_saved_models"
CASES = json.loads((FOLDER / "cases.json").read_text())
COMMAND = Path(rheos.v1.__file__).parents[3] / "bin" / "rheos"
IN_SESSIONS = [name for name, case in CASES.items() if case["in_sessions"]]

needs_command = pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")


def inputs_of(case):
    """The inputs as arrays, of strings as arrays of bytes."""
    as_array = {
        key: np.array([[text.encode() for text in row] for row in value], object)
        if case["dtypes"][key] == "string" else np.array(value, case["dtypes"][key])
        for key, value in case["inputs"].items()
    }  # fmt: skip
    return as_array


def check(case, outputs):
    assert outputs.keys() == case["outputs"].keys()
    for key, wanted in case["outputs"].items():
        np.testing.assert_allclose(outputs[key], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_a_model_is_loaded_as_objects(name):
    before = defaults._eager_graph
    eager.enable_eager_execution()
    try:
        tf, case = rheos.v2, CASES[name]
        signature = tf.saved_model.load(str(FOLDER / name)).signatures[case["signature"]]
        given = {key: tf.constant(value) for key, value in inputs_of(case).items()}
        check(case, {key: value.numpy() for key, value in signature(**given).items()})
    finally:
        defaults.set_eager_graph(before)


@pytest.mark.parametrize("name", IN_SESSIONS)
def test_a_model_is_loaded_into_a_session(name):
    tf, case = rheos.v1, CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(FOLDER / name))
        signature = loaded.signature_def[case["signature"]]
        feeds = {signature.inputs[key].name: value for key, value in inputs_of(case).items()}
        check(case, session.run({key: t.name for key, t in signature.outputs.items()}, feeds))


def command(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def feeds_of(case, folder):
    """Options that feed the inputs from files."""
    options = []
    for key, value in inputs_of(case).items():
        path = os.path.join(folder, f"{key}.npy")
        if case["dtypes"][key] == "string":
            path = os.path.join(folder, f"{key}.json")
            with open(path, "w") as file:
                json.dump(case["inputs"][key], file)
        else:
            np.save(path, value)
        options += ["--feed", f"{key}={path}"]
    return options


def outputs_in(folder):
    return {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}


@needs_command
@pytest.mark.parametrize("name", IN_SESSIONS)
def test_the_command_runs_a_model(name, tmp_path):
    case = CASES[name]
    options = ["--signature", case["signature"], *feeds_of(case, tmp_path)]
    command("exec", *options, "--out", str(tmp_path / "out"), str(FOLDER / name))
    check(case, outputs_in(tmp_path / "out"))
    timed = command("bench", *options, "--runs", "2", "--json", str(FOLDER / name))
    assert json.loads(timed)


@needs_command
@pytest.mark.parametrize("name", [name for name in IN_SESSIONS if "text" not in name])
def test_a_model_is_frozen(name, tmp_path):
    case, frozen = CASES[name], str(tmp_path / "frozen.pb")
    options = ["--signature", case["signature"]]
    command("convert", "--freeze", *options, str(FOLDER / name), frozen)
    tf = rheos.v1
    graph_def = tf.GraphDef.FromString(Path(frozen).read_bytes())
    nodes = [*graph_def.node, *(n for f in graph_def.library.function for n in f.node_def)]
    assert not any("Variable" in node.op or node.op == "VarHandleOp" for node in nodes)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        signature = signature_of(name)
        feeds = {signature.inputs[key].name: value for key, value in inputs_of(case).items()}
        check(case, session.run({key: t.name for key, t in signature.outputs.items()}, feeds))


def signature_of(name):
    """The signature as the model's file says it."""
    saved = messages.SavedModel.FromString((FOLDER / name / "saved_model.pb").read_bytes())
    return saved.meta_graphs[0].signature_def[CASES[name]["signature"]]
