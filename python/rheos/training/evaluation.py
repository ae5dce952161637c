"""Evaluation of a checkpoint, or of each new one, as tf.contrib.training and estimators do it."""

import time

from rheos.framework import dtypes, logging
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies
from rheos.ops.array import array_ops
from rheos.ops.io import summary_ops
from rheos.ops.state import init_ops, state_ops, variable_scope
from rheos.ops.state.graph_keys import GraphKeys
from rheos.training.checkpoints import checkpoints_iterator
from rheos.training.global_step import get_global_step
from rheos.training.monitored_session import ChiefSessionCreator, MonitoredSession
from rheos.training.session_hooks import FinalOpsHook, SessionRunArgs, SessionRunHook
from rheos.training.summary import FileWriter

EVAL_STEP = "eval_step"


def get_or_create_eval_step():
    """The variable that counts the steps of an evaluation."""
    graph = get_default_graph()
    found = graph.get_collection(EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return variable_scope.get_variable(
        EVAL_STEP,
        shape=[],
        dtype=dtypes.int64,
        initializer=init_ops.zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after `num_evals` steps; None: when the input ends."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals = num_evals
        self._log_progress = log_progress
        self._completed = None

    def _set_evals_completed_tensor(self, completed):
        self._completed = completed

    def before_run(self, run_context):
        return SessionRunArgs({"evals_completed": self._completed})

    def after_run(self, run_context, run_values):
        completed = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                logging.info("Evaluation [%d]", completed)
            else:
                every = max(self._num_evals // 10, 1)
                if completed % every == 0 or completed == self._num_evals:
                    logging.info("Evaluation [%d/%d]", completed, self._num_evals)
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes the summaries once, at the end, to `log_dir` or by `summary_writer`."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        if log_dir is None and summary_writer is None:
            raise ValueError("log_dir and summary_writer cannot both be None.")
        self._log_dir = log_dir
        self._writer = summary_writer
        self._summary_op = summary_op
        self._feed_dict = feed_dict
        self._step = None

    def begin(self):
        if self._writer is None:
            self._writer = FileWriter(self._log_dir)
        if self._summary_op is None:
            self._summary_op = summary_ops.merge_all()
        self._step = get_global_step()

    def end(self, session):
        step, summary = session.run([self._step, self._summary_op], self._feed_dict)
        if summary is not None:
            self._writer.add_summary(summary, step)
        self._writer.flush()


def _with_step(eval_ops, update):
    if isinstance(eval_ops, dict):
        return dict(eval_ops, update_eval_step=update)
    if isinstance(eval_ops, (list, tuple)):
        return [*eval_ops, update]
    return [eval_ops, update]


def _counted(eval_ops, step, hooks):
    """eval_ops with what counts the step, which the hooks that stop are told of."""
    eval_ops = _with_step(eval_ops, state_ops.assign_add(step, 1, use_locking=True))
    flat = list(eval_ops.values()) if isinstance(eval_ops, dict) else list(eval_ops)
    with control_dependencies(flat):
        completed = array_ops.identity(step.read_value())
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(completed)
    return eval_ops


def evaluate_once(
    checkpoint_path,
    master="",
    scaffold=None,
    eval_ops=None,
    feed_dict=None,
    final_ops=None,
    final_ops_feed_dict=None,
    hooks=None,
    config=None,
):
    """Runs `eval_ops` on a checkpoint until a hook stops it or the input ends; gives final_ops."""
    step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        eval_ops = _counted(eval_ops, step, hooks)
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final)
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    with MonitoredSession(session_creator=creator, hooks=hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir,
    master="",
    scaffold=None,
    eval_ops=None,
    feed_dict=None,
    final_ops=None,
    final_ops_feed_dict=None,
    eval_interval_secs=60,
    hooks=None,
    config=None,
    max_number_of_evaluations=None,
    timeout=None,
    timeout_fn=None,
):
    """evaluate_once() of each new checkpoint in a folder; gives what the last one gave."""
    step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        eval_ops = _counted(eval_ops, step, hooks)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final)
    done = 0
    found = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for checkpoint_path in found:
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            checkpoint_filename_with_path=checkpoint_path,
            master=master,
            config=config,
        )
        with MonitoredSession(session_creator=creator, hooks=hooks) as session:
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, feed_dict)
        done += 1
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return final.final_ops_values
