"""Sessions that look after themselves: made ready, watched by hooks, closed at the end."""

from rheos.framework import errors, logging, messages
from rheos.framework.defaults import get_default_graph
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import summary_ops
from rheos.ops.state import lookup_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from rheos.training.coordinator import Coordinator, start_queue_runners
from rheos.training.saver import Saver
from rheos.training.session_hooks import (
    SAVERS,
    CheckpointSaverHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
    StepCounterHook,
    SummarySaverHook,
)
from rheos.training.session_manager import SessionManager

USE_DEFAULT = object()
_PREEMPTED = (errors.AbortedError, errors.UnavailableError)


def _saver_or_default():
    savers = get_default_graph().get_collection(SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {SAVERS}. Please indicate which one to use by "
            "passing it to the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    get_default_graph().add_to_collection(SAVERS, saver)
    return saver


class Scaffold:
    """The operations that training needs beside the step: what is not given is made or found.

    init_fn: function(scaffold, session), called after init_op. finalize() makes them and closes the
    graph.
    """

    def __init__(
        self,
        init_op=None,
        init_feed_dict=None,
        init_fn=None,
        ready_op=None,
        ready_for_local_init_op=None,
        local_init_op=None,
        summary_op=None,
        saver=None,
        copy_from_scaffold=None,
        local_init_feed_dict=None,
    ):
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(value, name):
            if value is None and copy_from_scaffold is not None:
                return getattr(copy_from_scaffold, name)
            return value

        init_fn_of = (lambda session: init_fn(self, session)) if init_fn else None
        self._init_fn = given(init_fn_of, "init_fn")
        self._init_op = given(init_op, "init_op")
        self._init_feed_dict = given(init_feed_dict, "init_feed_dict")
        self._ready_op = given(ready_op, "ready_op")
        self._ready_for_local_init_op = given(ready_for_local_init_op, "ready_for_local_init_op")
        self._local_init_op = given(local_init_op, "local_init_op")
        self._local_init_feed_dict = given(local_init_feed_dict, "local_init_feed_dict")
        self._summary_op = given(summary_op, "summary_op")
        self._saver = given(saver, "saver")

    def finalize(self):
        """Makes what is missing and closes the graph to changes; returns the Scaffold."""
        get = Scaffold.get_or_default
        if self._init_op is None:
            self._init_op = get(
                "init_op",
                GraphKeys.INIT_OP,
                lambda: control_flow_ops.group(global_variables_initializer()),
            )
        if self._ready_op is None:
            self._ready_op = get(
                "ready_op", GraphKeys.READY_OP, lambda: report_uninitialized_variables()
            )
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = get(
                "ready_for_local_init_op",
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: array_ops.concat([report_uninitialized_variables(global_variables())], 0),
            )
        if self._local_init_op is None:
            self._local_init_op = get(
                "local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = get("summary_op", GraphKeys.SUMMARY_OP, summary_ops.merge_all)
        if self._saver is None:
            self._saver = _saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    init_fn = property(
        lambda self: self._init_fn, doc="A function of a session, called behind init_op; or None."
    )
    init_op = property(
        lambda self: self._init_op, doc="The operation that gives variables their first values."
    )
    init_feed_dict = property(
        lambda self: self._init_feed_dict, doc="What is fed to init_op, or None."
    )
    ready_op = property(
        lambda self: self._ready_op,
        doc="The names of variables without a value, a string vector; none: the session is ready.",
    )
    ready_for_local_init_op = property(
        lambda self: self._ready_for_local_init_op,
        doc="The names of variables without a value, before local_init_op runs.",
    )
    local_init_op = property(
        lambda self: self._local_init_op, doc="The operation that fills local variables and tables."
    )
    local_init_feed_dict = property(
        lambda self: self._local_init_feed_dict, doc="What is fed to local_init_op, or None."
    )
    summary_op = property(
        lambda self: self._summary_op, doc="The merged summaries, a string scalar, or None."
    )
    saver = property(lambda self: self._saver, doc="The `tf.train.Saver` that restores and saves.")

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The one item of a collection, or a new one; RuntimeError if there are several."""
        found = get_default_graph().get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f"More than one item in the collection {collection_key!r}. Please indicate which "
                f"one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            get_default_graph().add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op():
        """Initializes local variables and tables."""
        return control_flow_ops.group(
            local_variables_initializer(), lookup_ops.tables_initializer()
        )


# ---- Making sessions


class SessionCreator:
    """Makes sessions for a MonitoredSession."""

    def create_session(self):
        """A new session."""
        raise NotImplementedError("create_session is not implemented.")


class ChiefSessionCreator(SessionCreator):
    """Makes sessions restored from the latest checkpoint, or initialized."""

    def __init__(
        self,
        scaffold=None,
        master="",
        config=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
    ):
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path
        self._scaffold = scaffold or Scaffold()
        self._session_manager = None
        self._master = master
        self._config = config

    def _manager(self):
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                local_init_feed_dict=self._scaffold.local_init_feed_dict,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager

    def create_session(self):
        self._scaffold.finalize()
        return self._manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(ChiefSessionCreator):
    """Makes sessions once another one has initialized the model."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self):
        self._scaffold.finalize()
        return self._manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


# ---- Running


def _merged_options(options, incoming):
    merged = messages.RunOptions()
    merged.CopyFrom(options)
    merged.trace_level = max(options.trace_level, incoming.trace_level)
    merged.timeout_in_ms = max(options.timeout_in_ms, incoming.timeout_in_ms)
    merged.output_partition_graphs |= incoming.output_partition_graphs
    merged.debug_options.MergeFrom(incoming.debug_options)
    return merged


class _Watched:
    """A session with its hooks and its coordinator."""

    def __init__(self, session, hooks, grace_secs):
        self.session = session
        self.coord = Coordinator()
        self._hooks = hooks
        self._grace_secs = grace_secs
        self._asked = False
        start_runners = session.graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        if start_runners:
            start_queue_runners(session, self.coord)
        for hook in hooks:
            hook.after_create_session(session, self.coord)

    def should_stop(self):
        return self._asked or self.coord.should_stop()

    def run(self, fetches, feed_dict, options, run_metadata):
        try:
            return self._run(fetches, feed_dict, options, run_metadata)
        except _PREEMPTED:
            raise
        except Exception:
            self.coord.raise_requested_exception()  # the cause, if a thread had one
            raise

    def _run(self, fetches, feed_dict, options, run_metadata):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self.session)
        wanted = {"caller": fetches}
        options = options or messages.RunOptions()
        feeds, options = self._before(context, wanted, dict(feed_dict or {}), options)
        run_metadata = run_metadata or messages.RunMetadata()
        outputs = self.session.run(wanted, feeds, options, run_metadata)
        for hook in self._hooks:
            values = SessionRunValues(outputs.get(hook), options, run_metadata)
            hook.after_run(context, values)
        self._asked = self._asked or context.stop_requested
        return outputs["caller"]

    def _before(self, context, wanted, users_feeds, options):
        feeds = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[hook] = request.fetches
            for key, value in (request.feed_dict or {}).items():
                if key in feeds:
                    raise RuntimeError("Same tensor is fed by two hooks.")
                if key in users_feeds:
                    raise RuntimeError(
                        f"Same tensor is fed by a SessionRunHook and user. Conflict(s): [{key!r}]"
                    )
                feeds[key] = value
            if request.options:
                options = _merged_options(options, request.options)
        return {**users_feeds, **feeds}, options

    def close(self):
        self.coord.request_stop()
        try:
            self.coord.join(stop_grace_period_secs=self._grace_secs, ignore_live_threads=True)
        finally:
            self.session.close()


class StepContext:
    """What the function given to run_step_fn() may do."""

    def __init__(self, session, run_with_hooks_fn):
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self):
        """The Session, whose run() knows nothing of hooks."""
        return self._session

    def run_with_hooks(self, *args, **kwargs):
        """run() of the MonitoredSession."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self):
        """Ends the training: leaves the function."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    StepContext = StepContext
    _recovers = True

    def __init__(self, session_creator, hooks, stop_grace_period_secs):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or [])
        for hook in self._hooks:
            hook.begin()
        self._session_creator = session_creator or ChiefSessionCreator()
        self._grace_secs = stop_grace_period_secs
        self._watched = self._create()

    def _create(self):
        while True:
            try:
                return _Watched(
                    self._session_creator.create_session(), self._hooks, self._grace_secs
                )
            except _PREEMPTED as error:
                if not self._recovers:
                    raise
                logging.info(
                    "An error was raised while a session was being created. A new session will be "
                    "created. Error: %s",
                    error,
                )

    @property
    def graph(self):
        """The graph of the session; None once it is closed."""
        return None if self._watched is None else self._watched.session.graph

    def _open(self):
        if self._watched is None:
            raise RuntimeError("Session is already closed.")
        return self._watched

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Session.run() with what the hooks add to it.

        RuntimeError after the end was asked for.
        """
        while True:
            try:
                return self._open().run(fetches, feed_dict, options, run_metadata)
            except _PREEMPTED as error:
                if not self._recovers:
                    raise
                logging.info("The session failed and is made anew. Error: %s", error)
                self._watched.close()
                self._watched = self._create()

    def run_step_fn(self, step_fn):
        """Calls step_fn(step_context), which runs the session with and without the hooks.

        ValueError if the function takes other arguments.
        """
        import inspect

        arguments = [a for a in inspect.getfullargspec(step_fn).args if a != "self"]
        if arguments != ["step_context"]:
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {arguments} instead."
            )
        watched = self._open()
        try:
            return step_fn(StepContext(watched.session, self.run))
        except StopIteration:
            watched._asked = True
            return None

    def should_stop(self):
        """Whether the training is at its end."""
        return self._watched is None or self._watched.should_stop()

    def close(self):
        """Ends the hooks and the session."""
        self._close(None)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if exc_type in (errors.OutOfRangeError, StopIteration):
            exc_type = None
        self._close(exc_type)
        return exc_type is None

    def _close(self, exc_type):
        try:
            if exc_type is None:
                for hook in self._hooks:
                    hook.end(self._open().session)
        finally:
            watched = self._open()
            self._watched = None
            try:
                watched.close()
            finally:
                if not self._graph_was_finalized:
                    watched.session.graph._unsafe_unfinalize()

    @property
    def _coord(self):
        return self._open().coord

    def _tf_sess(self):
        return self._open().session


class MonitoredSession(_Monitored):
    """A session that initializes or restores itself, calls hooks around steps, and closes itself.

    It is made anew if a step fails because of AbortedError or UnavailableError.
    """

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        super().__init__(session_creator, hooks, stop_grace_period_secs)


class SingularMonitoredSession(_Monitored):
    """A MonitoredSession that is not made anew when it fails."""

    _recovers = False

    def __init__(
        self,
        hooks=None,
        scaffold=None,
        master="",
        config=None,
        checkpoint_dir=None,
        stop_grace_period_secs=120,
        checkpoint_filename_with_path=None,
    ):
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self):
        """The Session itself."""
        return self._tf_sess()


def _intervals(steps, secs, default_steps, default_secs):
    """The intervals that the caller gave, or the defaults if neither is given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)


def MonitoredTrainingSession(
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=USE_DEFAULT,
    save_summaries_steps=USE_DEFAULT,
    save_summaries_secs=USE_DEFAULT,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=USE_DEFAULT,
    summary_dir=None,
):
    """A MonitoredSession for training, with the hooks that training usually has.

    With `checkpoint_dir` it restores the latest checkpoint there, and saves one every 600 seconds,
    summaries every 100 steps and the number of steps a second, unless other intervals are given.
    """
    steps, secs = _intervals(save_summaries_steps, save_summaries_secs, 100, None)
    checkpoint_steps, checkpoint_secs = _intervals(
        save_checkpoint_steps, save_checkpoint_secs, None, 600
    )
    scaffold = scaffold or Scaffold()
    if not is_chief:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(creator, hooks or [], stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or [])
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(
                StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps)
            )
        if (steps and steps > 0) or (secs and secs > 0):
            all_hooks.append(
                SummarySaverHook(
                    scaffold=scaffold, save_steps=steps, save_secs=secs, output_dir=summary_dir
                )
            )
    if checkpoint_dir and (checkpoint_secs or 0) + (checkpoint_steps or 0) > 0:
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir,
                save_steps=checkpoint_steps,
                save_secs=checkpoint_secs,
                scaffold=scaffold,
            )
        )
    all_hooks.extend(hooks or [])
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)
