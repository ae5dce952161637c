"""The benchmarks in Python still run: every row once, on few elements."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

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
