"""A program that runs in several processes, each a task of a cluster: all learn what one does that
has the whole batches."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import rheos as tf
from ports import free_port

PROGRAM = Path(__file__).with_name("worker_program.py")
DEADLINE_S = 60


def free_addresses(count):
    return [f"localhost:{free_port()}" for _ in range(count)]


def environment(task, addresses):
    package = str(Path(tf.__file__).resolve().parents[1])
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": task}}
    return {**os.environ, "PYTHONPATH": package, "TF_CONFIG": json.dumps(config)}


def results(count, program):
    """What a program's processes print, as objects, one for each task."""
    addresses = free_addresses(count) if count > 1 else []
    started = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), program],
            env=environment(task, addresses) if count > 1 else
            {**environment(0, []), "TF_CONFIG": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for task in range(count)
    ]  # fmt: skip
    try:
        told = [process.communicate(timeout=DEADLINE_S) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (_, errors) in zip(started, told):
        assert process.returncode == 0, errors
    return [json.loads(printed) for printed, _ in told]


def close(found, wanted):
    return found == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("count", [2, 3])
def test_fit_of_workers_is_that_of_one(grpc, count):
    workers = results(count, "fit")
    (alone,) = results(1, "fit")
    for worker in workers:
        assert worker["replicas"] == count and worker["loss"][-1] < worker["loss"][0]
        assert worker["weights"] == workers[0]["weights"]  # to the bit
        for key in ("loss", "mae", "weights", "evaluated", "predicted"):
            assert close(worker[key], alone[key]), key


def test_values_of_workers(grpc):
    first, second = results(2, "values")
    assert first["mean"] == second["mean"] == 0.5
    assert first["gathered"] == second["gathered"] == [[0, 0], [1, 1], [1, 1]]
    assert first["sum"] == second["sum"] == [5, 20]
    assert first["gradient"] == [4, 8] and second["gradient"] == [8, 16]
    assert first["on_read"] == second["on_read"] == 3
    assert first["assigned"] == second["assigned"] == 2.5
    assert first["random"] == second["random"]
    assert first["reduced"] == second["reduced"] == [4, 2.25]
    assert first["slices"] == second["slices"] == [10, 3, 1]
    assert first["shares"] == [[0, 1], [4, 5]] and second["shares"] == [[2, 3], [6]]
    assert first["whole"] == second["whole"] == [[0, 1], [2, 3], [4, 5], [6]]
    assert first["made"] == [[0, 2], [4, 6]] and second["made"] == [[1, 3], [5, 7]]
    assert first["checkpoints"] and not second["checkpoints"]


def test_a_worker_that_ends_is_named(grpc):
    first, _ = results(2, "lost")
    assert first["error"] in ("UnavailableError", "AbortedError") and first["s"] < 10
    assert "/job:worker/replica:0/task:1" in first["text"]


def test_without_a_cluster_there_is_one_replica(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1 and not strategy.cluster_resolver.cluster_spec()
    assert strategy.run(lambda: 5) == 5


def test_a_strategy_of_tasks_comes_first(grpc, monkeypatch):
    tf.constant(1.0) + 1
    config = environment(0, free_addresses(2))["TF_CONFIG"]
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(RuntimeError, match="at program startup"):
        tf.distribute.MultiWorkerMirroredStrategy()
    monkeypatch.setenv("TF_CONFIG", config.replace('"type": "worker"', '"type": "evaluator"'))
    with pytest.raises(ValueError, match="has no replica"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_what_is_exchanged_can_be_said():
    kinds = tf.distribute.experimental.CommunicationImplementation
    options = tf.distribute.experimental.CommunicationOptions(
        bytes_per_pack=1024, timeout_seconds=3.0, implementation="ring"
    )
    assert options.implementation is kinds.RING and options.timeout_seconds == 3
    with pytest.raises(ValueError, match="bytes_per_pack"):
        tf.distribute.experimental.CommunicationOptions(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="implementation"):
        tf.distribute.experimental.CommunicationOptions(implementation=5)
