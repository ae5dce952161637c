"""Training steps and loops of tf.contrib.training and tf.contrib.slim.learning."""

import os
import time

from rheos.framework import errors, gfile, logging, messages
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import summary_ops
from rheos.ops.math import check_ops, clip_ops, math_ops
from rheos.ops.state import lookup_ops, variable_lists
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_lists import trainable_variables
from rheos.training.global_step import get_or_create_global_step
from rheos.training.monitored_session import MonitoredTrainingSession
from rheos.training.optimizers import Optimizer
from rheos.training.saver import Saver
from rheos.training.supervisor import Supervisor
from rheos.training.timeline import Timeline

USE_GLOBAL_STEP = 0


def _with_values(gradient, change):
    """The gradient with other values, of rows too."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
    return change(gradient)


def add_gradients_summaries(grads_and_vars):
    """Summaries of each gradient and of its norm: a list of tensors."""
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            logging.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = variable.op.name
        made.append(summary_ops.histogram(name + "_gradient", values))
        made.append(summary_ops.scalar(name + "_gradient_norm", clip_ops.global_norm([values])))
    return made


def clip_gradient_norms(gradients_to_variables, max_norm):
    """The pairs (gradient, variable), each gradient clipped to a norm."""
    return [
        (g if g is None else _with_values(g, lambda x: clip_ops.clip_by_norm(x, max_norm)), v)
        for g, v in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm):
    """A function that clips the gradients of pairs, for create_train_op()."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """The pairs with gradients times what a dict has for the variable or its name."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    made = []
    for gradient, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if gradient is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = convert_to_tensor(gradient_multipliers[key], dtype=gradient.dtype)
            gradient = _with_values(gradient, lambda x, factor=factor: x * factor)
        made.append((gradient, variable))
    return made


def create_train_op(
    total_loss,
    optimizer,
    global_step=USE_GLOBAL_STEP,
    update_ops=None,
    variables_to_train=None,
    transform_grads_fn=None,
    summarize_gradients=False,
    gate_gradients=Optimizer.GATE_OP,
    aggregation_method=None,
    colocate_gradients_with_ops=False,
    check_numerics=True,
):
    """A tensor that, when it is computed, takes a training step and gives the loss.

    update_ops: what runs before, by default the collection UPDATE_OPS. transform_grads_fn: of the
    pairs (gradient, variable). check_numerics: InvalidArgumentError if the loss is no number.
    """
    graph = get_default_graph()
    if global_step is USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    known = list(dict.fromkeys(graph.get_collection(GraphKeys.UPDATE_OPS)))
    update_ops = known if update_ops is None else list(dict.fromkeys(update_ops))
    if not set(known) <= set(update_ops):
        logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if update_ops:
        with control_dependencies(update_ops):
            barrier = control_flow_ops.no_op(name="update_barrier")
        total_loss = control_flow_ops.with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = trainable_variables()
    if not variables_to_train:
        raise ValueError("there are no variables to train")
    pairs = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    update = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = check_ops.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = control_flow_ops.with_dependencies([update], total_loss)
    train_ops = graph.get_collection_ref(GraphKeys.TRAIN_OP)
    if train_op not in train_ops:
        train_ops.append(train_op)
    return train_op


def train(
    train_op,
    logdir,
    master="",
    is_chief=True,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=600,
    save_summaries_steps=100,
    config=None,
    max_wait_secs=7200,
    run_metadata=None,
):
    """Runs `train_op` until a hook asks to stop; gives its last value."""
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        what = "save_summaries_steps" if save_summaries_steps else "save_checkpoint_secs"
        raise ValueError(f"logdir cannot be None when {what} is not None")
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss


# ---- tf.contrib.slim.learning


def create_slim_train_op(
    total_loss,
    optimizer,
    global_step=USE_GLOBAL_STEP,
    update_ops=None,
    variables_to_train=None,
    clip_gradient_norm=0,
    summarize_gradients=False,
    gate_gradients=Optimizer.GATE_OP,
    aggregation_method=None,
    colocate_gradients_with_ops=False,
    gradient_multipliers=None,
    check_numerics=True,
):
    """The same, with gradients that are multiplied and then clipped to a norm, if that is not 0."""

    def transform(pairs):
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    return create_train_op(
        total_loss,
        optimizer,
        global_step,
        update_ops,
        variables_to_train,
        transform,
        summarize_gradients,
        gate_gradients,
        aggregation_method,
        colocate_gradients_with_ops,
        check_numerics,
    )


def _write_trace(metadata, step, train_step_kwargs):
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    logging.info("Writing trace to %s", path)
    with gfile.Open(path, "w") as file:
        file.write(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if train_step_kwargs.get("summary_writer") is not None:
        train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def train_step(sess, train_op, global_step, train_step_kwargs):
    """(the loss of one step, whether to stop).

    train_step_kwargs: tensors should_log and should_stop, which are asked after the step, and
    should_trace, which is asked before: then the step is traced to tf_trace-STEP.json in `logdir`,
    which must be among them, and to `summary_writer` if it is.
    """
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError(
                "logdir must be present in train_step_kwargs when should_trace is present"
            )
        if sess.run(train_step_kwargs["should_trace"]):
            options = messages.RunOptions(trace_level=messages.RunOptions.FULL_TRACE)
            metadata = messages.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, time.time() - start)
    if "should_stop" in train_step_kwargs:
        return loss, sess.run(train_step_kwargs["should_stop"])
    return loss, False


def _refuse_without_logdir(**given):
    for name, value in given.items():
        if value is not None and value is not Supervisor.USE_DEFAULT:
            raise ValueError(f"Cannot provide {name} because logdir=None")


def _step_options(global_step, number_of_steps, log_every_n_steps):
    with name_scope("train_step"):
        if number_of_steps:
            options = {"should_stop": math_ops.greater_equal(global_step, number_of_steps)}
        else:
            options = {"should_stop": convert_to_tensor(False)}
        if log_every_n_steps > 0:
            options["should_log"] = math_ops.equal(math_ops.mod(global_step, log_every_n_steps), 0)
    return options


def slim_train(
    train_op,
    logdir,
    train_step_fn=train_step,
    train_step_kwargs=Supervisor.USE_DEFAULT,
    log_every_n_steps=1,
    graph=None,
    master="",
    is_chief=True,
    global_step=None,
    number_of_steps=None,
    init_op=Supervisor.USE_DEFAULT,
    init_feed_dict=None,
    local_init_op=Supervisor.USE_DEFAULT,
    init_fn=None,
    ready_op=Supervisor.USE_DEFAULT,
    summary_op=Supervisor.USE_DEFAULT,
    save_summaries_secs=600,
    summary_writer=Supervisor.USE_DEFAULT,
    startup_delay_steps=0,
    saver=None,
    save_interval_secs=600,
    sync_optimizer=None,
    session_config=None,
    session_wrapper=None,
    trace_every_n_steps=None,
    ignore_live_threads=False,
):
    """Runs `train_op` in a session of a supervisor until `number_of_steps`; gives the last loss.

    With a `logdir` checkpoints and summaries are saved there, and a checkpoint at the end. One
    process trains: sync_optimizer is not there. ValueError for arguments that make no sense.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        _refuse_without_logdir(
            summary_op=summary_op, saver=saver, trace_every_n_steps=trace_every_n_steps
        )
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    if sync_optimizer is not None:
        raise NotImplementedError("sync_optimizer: servers are not in Rheos yet")
    default = Supervisor.USE_DEFAULT
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = get_or_create_global_step()
        saver = saver or Saver()
        with name_scope("init_ops"):
            if init_op is default:
                init_op = variable_lists.global_variables_initializer()
            if ready_op is default:
                ready_op = variable_lists.report_uninitialized_variables()
            if local_init_op is default:
                local_init_op = control_flow_ops.group(
                    variable_lists.local_variables_initializer(), lookup_ops.tables_initializer()
                )
        if summary_op is default:
            summary_op = summary_ops.merge_all()
        if train_step_kwargs is default:
            train_step_kwargs = _step_options(global_step, number_of_steps, log_every_n_steps)
            if trace_every_n_steps is not None:
                is_due = math_ops.equal(math_ops.mod(global_step, trace_every_n_steps), 0)
                train_step_kwargs.update(should_trace=is_due, logdir=logdir)
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        ready_for_local_init_op=None,
        ready_op=ready_op,
        summary_op=summary_op,
        summary_writer=summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loss = None
    with supervisor.managed_session(
        master, start_standard_services=False, config=session_config
    ) as sess:
        if session_wrapper is not None:
            sess = session_wrapper(sess)
        if is_chief and logdir:
            supervisor.start_standard_services(sess)
        threads = supervisor.start_queue_runners(sess)
        try:
            while not supervisor.should_stop():
                loss, is_done = train_step_fn(sess, train_op, global_step, train_step_kwargs)
                if is_done:
                    supervisor.request_stop()
        except errors.OutOfRangeError as error:
            logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
        if logdir and supervisor.is_chief:
            supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
            supervisor.stop(threads, ignore_live_threads=ignore_live_threads)
    return loss
