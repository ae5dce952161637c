"""The programs in examples/, as they are built beside the package."""

import re
import subprocess
from pathlib import Path

import pytest
import rheos

BIN = Path(rheos.__file__).resolve().parents[2] / "bin"


def test_a_recurrent_net_learns_through_a_loop():
    program = BIN / "recurrent"
    if not program.exists():
        pytest.skip("the examples are not built")
    run = subprocess.run([program, "200"], capture_output=True, text=True, timeout=120, check=True)
    losses = [float(line.split()[-1]) for line in run.stdout.splitlines()]
    assert len(losses) == 3 and losses[0] > 0.5 and losses[-1] < 0.05


def test_a_graph_gives_what_its_layers_give_one_by_one():
    example = Path(__file__).resolve().parents[2] / "examples" / "layers.py"
    command = [BIN / "rheos", "run", example, "2"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    times, difference = run.stdout.splitlines()
    assert re.fullmatch(r"eager: [\d.]+ ms a call, graph: [\d.]+ ms", times)
    assert float(difference.split()[-1]) <= 1e-6
