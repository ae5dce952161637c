"""The benchmarks in Python still run: every row once, on few elements."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import rheos.v1 as tf

BENCH = Path(__file__).resolve().parents[3] / "bench"


def test_bench_ops_measures_every_row():
    command = [sys.executable, BENCH / "bench_ops.py", "--elements", "4096", "--repeats", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({row["row"] for row in rows}) == len(rows) > 60
    assert all(row["rheos"] > 0 and row["unit"] == "ms" for row in rows)


def test_every_model_has_a_row_that_works():
    command = [sys.executable, BENCH / "bench_rows.py", "--smoke"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["row"]: row for row in map(json.loads, done.stdout.splitlines())}
    names = [name for name in rows if name.endswith(", 1 thread") and " over " not in name]
    assert len(names) > 20
    for name in names:
        assert rows[name]["rheos"] > 0
        for part in ("first run", "built", "faults a step", "memory", "idle"):
            assert rows[f"{name}: {part}"]["rheos"] >= 0
    assert any(name.endswith("first run at a new batch size") for name in rows)
    for model in ("MLP", "BERT layer"):
        assert rows[f"{model}, 200 lengths over their mean, 1 thread"]["rheos"] > 0


class Numpy:
    """The kinds of nodes that two of the models have."""

    add, sub, mul = map(staticmethod, (np.add, np.subtract, np.multiply))
    exp, tanh, neg = map(staticmethod, (np.exp, np.tanh, np.negative))

    def relu(self, x):
        return np.maximum(x, 0)

    def sigmoid(self, x):
        return 1 / (1 + np.exp(-x))

    def matmul(self, x, y, transpose_b):
        assert not transpose_b
        return x @ y

    def reshape(self, x, shape):
        return x.reshape(shape)


@pytest.mark.parametrize(
    "row", ["10 ops with tanh, exp, sigmoid on 4,096 floats", "100 dense layers, forward"]
)
def test_nodes_recorded_for_peers_compute_what_a_session_does(row, monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.syspath_prepend(BENCH / "peers")
    models, recorded = importlib.import_module("models"), importlib.import_module("recorded")
    models.RANDOM.seed(3)
    with tf.Graph().as_default(), tf.Session() as session:
        model = models.MODELS[row](tf, True)
        session.run(tf.global_variables_initializer())
        (ours,) = session.run(model.fetches, model.feeds)
    models.RANDOM.seed(3)
    recorded.reset_default_graph()
    model = models.MODELS[row](recorded, True)
    peer = type("Peer", (Numpy, recorded.Peer), {})(1)
    values = {key.id: value for key, value in model.feeds.items()}
    values.update((node.id, node.attrs["value"]) for node in peer.variables())
    (theirs,) = peer.evaluate(values, model.fetches)
    np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-5)


def test_pictures_of_the_measurements_are_of_the_runs_beside_them():
    command = [sys.executable, BENCH / "plot", "--pages", "--check"]
    subprocess.run(command, check=True)


def test_rows_of_a_run_are_drawn(tmp_path):
    peers = {"NumPy 2.1": 30.0, "NumPy": 0.0}
    rows = [{"row": "a <b>", "unit": "us", "rheos": 2.0, "peers": peers},
            {"row": "size", "unit": "MB", "rheos": 6.0}]  # fmt: skip
    run = {"machine": "a machine", "cores": 2, "day": "2026-12-01", "command": "it", "rows": rows}
    (tmp_path / "run.json").write_text(json.dumps(run))
    command = [sys.executable, BENCH / "plot", "run.json", "-o", "rows.svg"]
    subprocess.run(command, check=True, cwd=tmp_path)
    drawn = (tmp_path / "rows.svg").read_text()
    texts = [text.text for text in ElementTree.fromstring(drawn).iter() if text.text]
    assert {"a <b>", "NumPy", "2 us", "30 us", "1 us", "100 us"} < set(texts)
    assert "a machine, 2 cores, 2026-12-01" in texts and "size" not in texts
    command[-3:-2] = ["run.json", "--rows", "none"]
    assert subprocess.run(command, check=False, cwd=tmp_path).returncode == 1
