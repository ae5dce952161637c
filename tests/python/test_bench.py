"""The benchmarks in Python still run: every row once, on few elements."""

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"


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
    names = [name for name in rows if name.endswith(", 1 thread")]
    assert len(names) > 20
    for name in names:
        assert rows[name]["rheos"] > 0
        for part in ("first run", "built", "faults a step", "memory", "idle"):
            assert rows[f"{name}: {part}"]["rheos"] >= 0
