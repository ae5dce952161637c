"""Tasks as TF_CONFIG names them, and estimators that train by them."""

import json
import os
import subprocess
import sys
import textwrap
import time

import pytest
import rheos.v1 as tf
from ports import free_port

CLUSTER = {"ps": ["a:1", "b:1"], "chief": ["c:1"], "worker": ["d:1", "e:1"]}


@pytest.fixture
def config_of(monkeypatch):
    def config_of(cluster=None, **task):
        told = {"task": task} if task else {}
        told.update({"cluster": cluster} if cluster else {})
        monkeypatch.setenv("TF_CONFIG", json.dumps(told))
        return tf.estimator.RunConfig()

    return config_of


def told(config):
    return (
        config.task_type,
        config.task_id,
        config.is_chief,
        config.master,
        config.num_ps_replicas,
        config.num_worker_replicas,
        config.global_id_in_cluster,
    )


def test_a_process_by_itself(config_of):
    config = config_of()
    assert told(config) == ("worker", 0, True, "", 0, 1, 0)
    assert not config.cluster_spec and not config.session_config.device_filters
    assert told(config_of(type="worker", index=0)) == ("worker", 0, True, "", 0, 1, 0)
    assert told(config_of({"chief": ["c:1"]}, type="chief", index=0))[3] == ""


def test_tasks_of_a_cluster(config_of):
    chief = config_of(CLUSTER, type="chief", index=0)
    assert told(chief) == ("chief", 0, True, "grpc://c:1", 2, 3, 0)
    assert list(chief.session_config.device_filters) == ["/job:ps", "/job:chief"]
    worker = config_of(CLUSTER, type="worker", index=1)
    assert told(worker) == ("worker", 1, False, "grpc://e:1", 2, 3, 2)
    assert list(worker.session_config.device_filters) == ["/job:ps", "/job:worker/task:1"]
    assert told(config_of(CLUSTER, type="ps", index="1")) == ("ps", 1, False, "grpc://b:1", 2, 3, 4)
    assert worker.cluster_spec.as_dict() == CLUSTER


def test_an_evaluator_is_in_no_cluster(config_of):
    config = config_of(CLUSTER, type="evaluator", index=0)
    assert told(config) == ("evaluator", 0, False, "", 0, 0, None)
    assert not config.cluster_spec


def test_masters_are_chiefs_of_old(config_of):
    cluster = {"master": ["m:1"], "ps": ["a:1"], "worker": ["d:1"]}
    assert told(config_of(cluster, type="master", index=0))[2:] == (True, "grpc://m:1", 1, 2, 0)
    with pytest.raises(ValueError, match="task_type `evaluator` is not supported"):
        config_of(cluster, type="evaluator", index=0)


@pytest.mark.parametrize(
    "cluster, task, error",
    [
        ({"worker": ["a:1"]}, {"type": "worker", "index": 0}, 'must have one "chief" node'),
        ({"chief": ["a:1", "b:1"]}, {"type": "chief", "index": 0}, 'only one "chief" node'),
        (CLUSTER, {"index": 0}, "task type must be set"),
        (CLUSTER, {"type": "worker"}, "task index must be set"),
        (CLUSTER, {"type": "worker", "index": -1}, "non-negative"),
        (CLUSTER, {"type": "worker", "index": 2}, "2 is not a valid task_id for task_type worker"),
        (CLUSTER, {"type": "boss", "index": 0}, "boss is not a valid task_type"),
        (None, {"type": "ps", "index": 0}, "task type must be WORKER"),
        (None, {"type": "worker", "index": 1}, "task index must be 0"),
    ],
)
def test_what_contradicts_itself(config_of, cluster, task, error):
    with pytest.raises(ValueError, match=error):
        config_of(cluster, **task)


PROGRAM = """
    import sys
    import numpy as np
    import rheos.v1 as tf

    def input_fn():
        x = np.random.RandomState(0).uniform(-1, 1, [200, 1]).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x + 1)).repeat().batch(20)

    config = tf.estimator.RunConfig(
        model_dir=sys.argv[1], experimental_max_worker_delay_secs=0, save_checkpoints_steps=1000
    )
    columns = [tf.feature_column.numeric_column("x")]
    estimator = tf.estimator.LinearRegressor(
        columns, config=config, optimizer=tf.train.GradientDescentOptimizer(0.01)
    )
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=2000),
        tf.estimator.EvalSpec(input_fn, start_delay_secs=0, throttle_secs=0),
    )
    if config.is_chief:
        variables = [v for v in estimator.get_variable_names() if v.startswith("linear")]
        print(estimator.get_variable_value("global_step") > 1999, len(variables))
"""


def test_estimators_train_as_tasks(grpc, tmp_path):
    addresses = [f"localhost:{free_port()}" for _ in range(3)]
    cluster = dict(zip(("ps", "chief", "worker"), ([address] for address in addresses)))
    tasks = {}
    for job in ("ps", "chief", "evaluator", "worker"):
        while job == "worker" and not (tmp_path / "model" / "checkpoint").exists():
            time.sleep(0.1)  # a worker that comes before there are variables tries again in 30 s
        config = json.dumps({"cluster": cluster, "task": {"type": job, "index": 0}})
        tasks[job] = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path / "model")],
            env={**os.environ, "TF_CONFIG": config},
            stdout=subprocess.PIPE,
            text=True,
        )
    try:
        for job in ("chief", "worker", "evaluator"):
            out, _ = tasks[job].communicate(timeout=120)
            assert tasks[job].returncode == 0, job
            assert out == ("True 2\n" if job == "chief" else "")
        assert any((tmp_path / "model" / "eval").iterdir())
    finally:
        for task in tasks.values():
            task.kill()
            task.wait()
