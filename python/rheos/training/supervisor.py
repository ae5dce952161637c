"""A supervisor: sessions that are ready, and threads that save and summarize beside a training."""

import contextlib
import os
import time

from rheos.framework import dtypes, errors, logging, messages
from rheos.framework.defaults import get_default_graph
from rheos.ops.flow import control_flow_ops
from rheos.ops.io.summary_ops import merge_all
from rheos.ops.state import lookup_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from rheos.training.coordinator import Coordinator, LooperThread
from rheos.training.global_step import global_step as value_of_step
from rheos.training.meta_graph import create_meta_graph_def
from rheos.training.saver import Saver
from rheos.training.session_manager import SessionManager
from rheos.training.summary import FileWriter, write_graph


def _first_or_new(key, make):
    """What a collection has first; what `make` gives, which is then put there, if it is empty."""
    graph = get_default_graph()
    found = graph.get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        graph.add_to_collection(key, made)
    return made


def _step_tensor():
    try:
        tensor = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    return tensor if tensor.dtype.base_dtype in (dtypes.int32, dtypes.int64) else None


def _local_init():
    return control_flow_ops.group(local_variables_initializer(), lookup_ops.tables_initializer())


class Supervisor:
    """Prepares sessions of a graph, and while they run saves checkpoints and summaries to `logdir`.

    What is not given is taken from the graph's collections, else made; None means there is none.
    save_summaries_secs, save_model_secs: how often; 0 means never. The graph can not be changed
    afterwards.
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        graph=None,
        ready_op=USE_DEFAULT,
        ready_for_local_init_op=USE_DEFAULT,
        is_chief=True,
        init_op=USE_DEFAULT,
        init_feed_dict=None,
        local_init_op=USE_DEFAULT,
        logdir=None,
        summary_op=USE_DEFAULT,
        saver=USE_DEFAULT,
        global_step=USE_DEFAULT,
        save_summaries_secs=120,
        save_model_secs=600,
        recovery_wait_secs=30,
        stop_grace_secs=120,
        checkpoint_basename="model.ckpt",
        session_manager=None,
        summary_writer=USE_DEFAULT,
        init_fn=None,
        local_init_run_options=None,
    ):
        graph = graph or get_default_graph()

        def given(value, key, make):
            return _first_or_new(key, make) if value is Supervisor.USE_DEFAULT else value

        with graph.as_default():
            self.ready_op = given(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self.ready_for_local_init_op = given(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self.init_op = given(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            local_init_op = given(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init)
            self.saver = given(
                saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None
            )
            self.summary_op = given(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self.global_step = given(global_step, GraphKeys.GLOBAL_STEP, _step_tensor)
        self._graph = graph
        self._meta_graph_def = create_meta_graph_def(
            graph_def=graph.as_graph_def(add_shapes=True),
            saver_def=self.saver.saver_def if self.saver else None,
        )
        self.is_chief = is_chief
        self.coord = Coordinator()
        self.init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._stop_grace_secs = stop_grace_secs
        self._logdir = os.fsdecode(logdir) if is_chief and logdir else None
        self.save_summaries_secs = save_summaries_secs if is_chief else None
        self.save_model_secs = save_model_secs if is_chief else None
        self.save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self.summary_writer = None
        if is_chief:
            self.summary_writer = summary_writer
            if summary_writer is Supervisor.USE_DEFAULT:
                self.summary_writer = FileWriter(logdir) if logdir else None
        self._is_graph_written = False
        self.session_manager = session_manager or SessionManager(
            local_init_op=local_init_op,
            ready_op=self.ready_op,
            ready_for_local_init_op=self.ready_for_local_init_op,
            graph=graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        if not is_chief:
            self._check_devices()
        graph.finalize()

    def _check_devices(self):
        for op in self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op}"
                )

    def _write_graph(self):
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self.summary_writer and not self._is_graph_written:
            self.summary_writer.add_graph(self._graph)
            self.summary_writer.add_meta_graph(self._meta_graph_def)
            self._is_graph_written = True

    def start_standard_services(self, sess):
        """Starts the threads that save and summarize; a list of them, None without a `logdir`."""
        if not self.is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        has_step = self.global_step is not None
        if has_step and self.summary_writer:
            self.summary_writer.add_session_log(
                messages.SessionLog(status=messages.SessionLog.START),
                value_of_step(sess, self.global_step),
            )
        threads = []
        if self.save_summaries_secs and self.summary_writer:
            if self.summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if has_step:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self.save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(
        self,
        master="",
        config=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        start_standard_services=True,
    ):
        """A session whose variables have values: of the newest checkpoint, else of the init_op."""
        self.coord.clear_stop()
        if self.summary_writer:
            self.summary_writer.reopen()
        if not self.is_chief:
            sess = self.session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        else:
            sess = self.session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self.init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        if start_standard_services:
            self.start_queue_runners(sess)
        return sess

    def start_queue_runners(self, sess, queue_runners=None):
        """Starts the threads of queue runners, by default of the graph's; a list of them."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads += runner.create_threads(sess, coord=self.coord, daemon=True, start=True)
        return threads

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """A started thread that calls `target` every so many seconds until it is to stop."""
        looper = LooperThread(
            self.coord, timer_interval_secs, target=target, args=args, kwargs=kwargs
        )
        looper.start()
        return looper

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        """Stops all threads and waits for them; raises what one of them reported."""
        self.coord.request_stop()
        try:
            self.coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self.summary_writer:
                stop = messages.SessionLog(status=messages.SessionLog.STOP)
                self.summary_writer.add_session_log(stop)
                self.summary_writer.close()
                self._is_graph_written = False

    def request_stop(self, ex=None):
        """Tells all threads to stop; `ex` is then raised by stop()."""
        self.coord.request_stop(ex=ex)

    def should_stop(self):
        """Whether they are to stop."""
        return self.coord.should_stop()

    def stop_on_exception(self):
        """A context that requests a stop with what is raised in it."""
        return self.coord.stop_on_exception()

    def wait_for_stop(self):
        """Waits until a stop is requested."""
        self.coord.wait_for_stop()

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a summary. RuntimeError if there is no writer."""
        if not self.summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = value_of_step(sess, self.global_step)
        self.summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(
        self, master="", config=None, start_standard_services=True, close_summary_writer=True
    ):
        """A context with a prepared session; at its end the threads stop and the session closes.

        Errors that only tell that the training ended, such as OutOfRangeError, end it silently.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                with contextlib.suppress(errors.OpError):
                    if sess is not None:
                        sess.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


class SVSummaryThread(LooperThread):
    """Writes the supervisor's summaries again and again."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self):
        step = None
        if self._sv.global_step is None:
            merged = self._sess.run(self._sv.summary_op)
        else:
            merged, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        self._sv.summary_writer.add_summary(merged, step)


class SVStepCounterThread(LooperThread):
    """Writes again and again how many steps there are in a second."""

    def __init__(self, sv, sess, step_counter=None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._counter = sv.global_step if step_counter is None else step_counter
        self._tag = f"{self._counter.op.name}/sec"
        self._time, self._step = 0.0, 0

    def start_loop(self):
        self._time = time.time()
        self._step = value_of_step(self._sess, self._counter)

    def run_loop(self):
        step, now = value_of_step(self._sess, self._counter), time.time()
        elapsed = now - self._time
        rate = (step - self._step) / elapsed if elapsed > 0 else float("inf")
        self._time, self._step = now, step
        value = messages.Summary.Value(tag=self._tag, simple_value=rate)
        self._sv.summary_writer.add_summary(messages.Summary(value=[value]), step)


class SVTimerCheckpointThread(LooperThread):
    """Saves a checkpoint again and again."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self):
        sv = self._sv
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            log = messages.SessionLog(
                status=messages.SessionLog.CHECKPOINT, checkpoint_path=sv.save_path
            )
            sv.summary_writer.add_session_log(log, value_of_step(self._sess, sv.global_step))


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls train_step_fn(session, *args, **kwargs) until the supervisor is to stop.

    A step that is aborted, as when the machine of a parameter is lost, is done again in a new
    session.
    """
    args, kwargs = list(args or ()), kwargs or {}
    while True:
        sess = supervisor.PrepareSession(master)
        try:
            while not supervisor.ShouldStop():
                train_step_fn(sess, *args, **kwargs)
        except errors.AbortedError:
            logging.info("Aborted; starting again in a new session.")
            continue
        finally:
            sess.close()
        return
