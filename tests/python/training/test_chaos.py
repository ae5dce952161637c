"""Tasks of a cluster that are killed, frozen and cut off while a program trains on them."""

import subprocess
import sys
from pathlib import Path

import pytest
import rheos

SOURCES = Path(__file__).resolve().parents[3]


def test_clients_end_or_go_on(grpc):
    """Five of the trials that the tool makes; it says which went wrong."""
    build = Path(rheos.__file__).resolve().parents[2]
    if not (build / "bin/rheos").exists():
        pytest.skip("the command was not built")
    command = [sys.executable, SOURCES / "tools/clusters/chaos", build, "--trials", "5"]
    done = subprocess.run([*command, "--at-once", "3"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 trials, 0 failed" in done.stdout
