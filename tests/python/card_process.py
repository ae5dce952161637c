"""Programs on graphics cards, each in a process of its own: on the processor that PoCL makes a card
of, or on as many cards as are asked for. Without a driver of OpenCL their tests are skipped."""

import os
import subprocess
import sys
import tempfile

import pytest

NO_CARD = 77


def run_program(program, environment=(), cards=1):
    """What running it gave; `cards`: of how many it is told."""
    told = {"RHEOS_OPENCL": "cpu"}
    if cards > 1:
        told["POCL_DEVICES"] = " ".join(["pthread"] * cards)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # which AutoGraph reads
        file.write(program)
        file.flush()
        done = subprocess.run(
            [sys.executable, file.name],
            env={**os.environ, **told, **dict(environment)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == NO_CARD:
        pytest.skip("no device of OpenCL")
    return done


def check_program(program, environment=(), cards=1):
    """Runs it; it has to end well. Gives what it printed."""
    done = run_program(program, environment, cards)
    assert done.returncode == 0, done.stderr
    return done.stdout
