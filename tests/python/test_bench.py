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
