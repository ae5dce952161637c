"""tf.contrib.slim.evaluation: models evaluated on checkpoints, with their summaries."""

from rheos.ops.io.summary_ops import merge_all
from rheos.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once as _evaluate_once,
    evaluate_repeatedly,
)
from rheos.training.monitored_session import Scaffold
from rheos.training.saver import Saver

_ALL_SUMMARIES = object()


def _hooks(logdir, num_evals, summary_op, feed_dict, hooks):
    summary_op = merge_all() if summary_op is _ALL_SUMMARIES else summary_op
    chosen = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        at_end = SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict)
        chosen.append(at_end)
    return chosen + list(hooks or ())


def _scaffold(initial_op, feed_dict, variables, init_fn=None):
    """What prepares a session; `variables` are those of the checkpoint, all if None."""
    called = None if init_fn is None else lambda scaffold, session: init_fn(session)
    saver = None if variables is None else Saver(variables)
    return Scaffold(init_op=initial_op, init_feed_dict=feed_dict, init_fn=called, saver=saver)


def evaluate_once(
    master,
    checkpoint_path,
    logdir,
    num_evals=1,
    initial_op=None,
    initial_op_feed_dict=None,
    eval_op=None,
    eval_op_feed_dict=None,
    final_op=None,
    final_op_feed_dict=None,
    summary_op=_ALL_SUMMARIES,
    summary_op_feed_dict=None,
    variables_to_restore=None,
    session_config=None,
    hooks=None,
):
    """Runs eval_op num_evals times on a checkpoint, writes summaries, gives what final_op does.

    summary_op: all summaries by default, None for none; they are written to logdir.
    variables_to_restore: those of the checkpoint, by default all.
    """
    return _evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


def evaluation_loop(
    master,
    checkpoint_dir,
    logdir,
    num_evals=1,
    initial_op=None,
    initial_op_feed_dict=None,
    init_fn=None,
    eval_op=None,
    eval_op_feed_dict=None,
    final_op=None,
    final_op_feed_dict=None,
    summary_op=_ALL_SUMMARIES,
    summary_op_feed_dict=None,
    variables_to_restore=None,
    eval_interval_secs=60,
    max_number_of_evaluations=None,
    session_config=None,
    timeout=None,
    timeout_fn=None,
    hooks=None,
):
    """evaluate_once() of each new checkpoint of a folder; gives what the last one gave.

    init_fn: called with the session after initial_op. The rest of the arguments are those of
    evaluate_once() and of tf.contrib.training.evaluate_repeatedly().
    """
    return evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, variables_to_restore, init_fn),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
