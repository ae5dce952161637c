"""Training and evaluating in turn: by one process, or by the tasks of a cluster."""

import os
import time
from collections import namedtuple

from rheos.framework import logging
from rheos.training.checkpoints import load_variable
from rheos.training.cluster import Server
from rheos.training.estimator import GLOBAL_STEP
from rheos.training.session_hooks import SessionRunHook
from rheos.training.tasks import EVALUATOR, PS, WORKER


class TrainSpec(namedtuple("TrainSpec", "input_fn max_steps hooks")):
    """How train_and_evaluate() trains."""

    def __new__(cls, input_fn, max_steps=None, hooks=None):
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, tuple(hooks or ()))


class EvalSpec(
    namedtuple("EvalSpec", "input_fn steps name hooks exporters start_delay_secs throttle_secs")
):
    """How train_and_evaluate() evaluates, and what it exports then."""

    def __new__(
        cls,
        input_fn,
        steps=100,
        name=None,
        hooks=None,
        exporters=None,
        start_delay_secs=120,
        throttle_secs=600,
    ):
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        exporters = [] if exporters is None else exporters
        exporters = list(exporters) if isinstance(exporters, (list, tuple)) else [exporters]
        names = [exporter.name for exporter in exporters]
        if len(set(names)) < len(names):
            raise ValueError(f"`exporters` must have unique names. Such names were {names}.")
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            tuple(hooks or ()),
            tuple(exporters),
            start_delay_secs,
            throttle_secs,
        )


class _EvaluateOnSave(SessionRunHook):
    """Evaluates while training goes on, `throttle_secs` after the last time at the earliest."""

    def __init__(self, estimator, eval_spec, max_steps):
        self._estimator, self._eval_spec = estimator, eval_spec
        self._max_steps = max_steps
        self.result, self.exported, self._path = None, [], None
        self._next = time.time() + eval_spec.throttle_secs

    def after_run(self, run_context, run_values):
        if time.time() >= self._next:
            self.evaluate(is_last=False)

    def evaluate(self, is_last):
        path = self._estimator.latest_checkpoint()
        if path is None or path == self._path and not is_last:
            return
        spec = self._eval_spec
        if path != self._path:
            self.result = self._estimator.evaluate(
                spec.input_fn, spec.steps, list(spec.hooks), path, spec.name
            )
        self._path = path
        self.exported = [
            exporter.export(
                self._estimator,
                os.path.join(self._estimator.model_dir, "export", exporter.name),
                path,
                self.result,
                is_last,
            )
            for exporter in spec.exporters
        ]
        self._next = time.time() + spec.throttle_secs


def _evaluate_in_turn(estimator, train_spec, eval_spec):
    """(metrics, what exporters gave) of one process that does both."""
    config = estimator.config
    logging.info("Running training and evaluation locally (non-distributed).")
    logging.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
        "Checkpoint frequency is determined based on RunConfig arguments: "
        "save_checkpoints_steps %s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    turns = _EvaluateOnSave(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn, hooks=[*train_spec.hooks, turns], max_steps=train_spec.max_steps
    )
    turns.evaluate(is_last=True)
    return turns.result, turns.exported


# ---- Tasks of a cluster

# Workers begin one after the other, so that the chief makes the variables first.
_SECONDS_A_WORKER, _MOST_SECONDS = 5, 60


def _start_server(config):
    return Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=config.session_config,
        protocol=config.protocol,
    )


def _train_as_task(estimator, train_spec):
    config = estimator.config
    server = _start_server(config) if config.master.startswith("grpc://") else None
    if config.task_type == WORKER:
        most = config.experimental_max_worker_delay_secs
        most = _MOST_SECONDS if most is None else int(most)
        delay = min(most, (config.task_id + 1) * _SECONDS_A_WORKER)
        if delay > 0:
            logging.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
    estimator.train(
        train_spec.input_fn, hooks=list(train_spec.hooks), max_steps=train_spec.max_steps
    )
    return server  # until then others may need it


def _evaluate_as_task(estimator, train_spec, eval_spec):
    """Evaluates each new checkpoint until training is over."""
    turns = _EvaluateOnSave(estimator, eval_spec, train_spec.max_steps)
    time.sleep(eval_spec.start_delay_secs)
    is_last = False
    while not is_last:
        begin = time.monotonic()
        path = estimator.latest_checkpoint()
        step = int(load_variable(path, GLOBAL_STEP)) if path is not None else None
        is_last = bool(train_spec.max_steps) and step is not None and step >= train_spec.max_steps
        if path is None:
            logging.warning(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
            )
        turns.evaluate(is_last)
        if not is_last:
            time.sleep(max(0, eval_spec.throttle_secs - (time.monotonic() - begin)))


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains up to `train_spec.max_steps` and evaluates now and then and at the end; gives the last
    metrics and what the exporters gave. As a task of a cluster (TF_CONFIG) it does that task's
    share, and gives None: chief and workers train, parameter servers serve until they are stopped,
    the evaluator evaluates each checkpoint.
    """
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(f"`train_spec` must be an instance of TrainSpec, given {train_spec}")
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must be an instance of EvalSpec, given {eval_spec}")
    config = estimator.config
    if config.task_type == EVALUATOR:
        if config.task_id > 0:
            raise ValueError(
                "For distributed training, there can only be one `evaluator` task (with task id "
                f"0). Given task id {config.task_id}"
            )
        _evaluate_as_task(estimator, train_spec, eval_spec)
    elif not config.cluster_spec:
        return _evaluate_in_turn(estimator, train_spec, eval_spec)
    elif config.task_type == PS:
        _start_server(config).join()
    else:
        _train_as_task(estimator, train_spec)
    return None
