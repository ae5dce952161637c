"""A program that mpirun has started: its ranks are replicas, and reduce by MPI."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos as tf

PROGRAM = Path(__file__).with_name("rank_program.py")
LIBRARY = Path(tf.__file__).resolve().parents[2] / "lib" / "librheos-mpi.so"
DEADLINE_S = 60

pytestmark = pytest.mark.skipif(
    shutil.which("mpirun") is None or not LIBRARY.exists(),
    reason="needs mpirun and librheos-mpi.so",
)


def environment():
    """That of a program by itself, in which mpirun may be root's, with more ranks than cores."""
    package = str(Path(tf.__file__).resolve().parents[1])
    mine = {
        "PYTHONPATH": package,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",  # the same for Open MPI 5
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        # Containers may forbid a process to read another one's memory.
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    }
    return {**{name: os.environ[name] for name in os.environ if name != "TF_CONFIG"}, **mine}


def run(count, name, folder):
    ranks = ["mpirun", "-n", str(count)] if count > 1 else []
    command = [*ranks, sys.executable, str(PROGRAM), str(folder), name]
    return subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=DEADLINE_S
    )


def results(count, name, folder):
    """What the ranks of a program find, in order."""
    done = run(count, name, folder)
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(count)]


@pytest.mark.parametrize("count", [2, 4])
def test_values_of_ranks(tmp_path, count):
    found = results(count, "values", tmp_path)
    total = np.zeros(3, np.float32)
    for rank in range(count):  # in the order of ranks
        total = total + np.float32([0.1, 1e8, 3.0]) * np.float32(rank + 1)
    for rank, one in enumerate(found):
        assert one["replicas"] == count and one["task"] == ["worker", rank, "mpi"]
        assert one["device"] == f"/job:worker/replica:0/task:{rank}/device:CPU:0"
        assert one["is_in_order"]
        assert one["total"] == [value.hex() for value in total.tolist()]
        assert one["gathered"] == [[r, r] for r in range(count) for _ in range(r + 1)]
        assert one["mean"] == (count - 1) / 2 and one["drawn"] == found[0]["drawn"]
        assert one["checkpoints"] == (rank == 0)


def test_ranks_begin_collectives_in_any_order(tmp_path):
    found = results(4, "reordered", tmp_path)
    assert len({tuple(one["order"]) for one in found}) == 4
    for one in found:
        for i in range(10, 18):
            assert one["sums"][str(i)] == [i * 100, 4 * i + 6, 4 * i + 6]


def test_fit_of_ranks_is_that_of_one_process(tmp_path):
    ranks = results(4, "fit", tmp_path)
    (alone,) = results(1, "fit", tmp_path)
    for rank in ranks:
        assert rank["replicas"] == 4 and rank["loss"][-1] < rank["loss"][0]
        assert rank["weights"] == ranks[0]["weights"]  # to the bit
        for key in ("loss", "mae", "weights", "evaluated", "predicted"):
            assert rank[key] == pytest.approx(alone[key], abs=1e-4), key


def test_a_deadline_ends_the_wait_and_nothing_else(tmp_path):
    first, second = results(2, "late", tmp_path)
    assert "timed out waiting for other workers" in first["error"]
    assert first["sum"] == second["sum"] == 2


def test_a_rank_that_is_done_is_named(tmp_path):
    first, _ = results(2, "ended", tmp_path)
    assert "/job:worker/task:1 has ended" in first["error"]


@pytest.mark.parametrize("name, said", [("killed", "signal 9"), ("failed", "of the second rank")])
def test_a_rank_that_dies_ends_all(tmp_path, name, said):
    done = run(3, name, tmp_path)
    assert done.returncode != 0 and said in done.stderr
    assert not list(tmp_path.iterdir())
