"""Sessions that dump their steps, and hooks that have monitored sessions do so."""

import os
import re
import threading

from rheos.framework import messages
from rheos.framework.defaults import _Default
from rheos.inspection import dump_dir, step_dumps
from rheos.inspection.tensor_watches import WatchOptions, watch_graph
from rheos.training.session_hooks import SessionRunArgs, SessionRunHook


def thread_filter(pattern):
    """A function that says whether the name of the thread that calls it does not match."""
    compiled = re.compile(pattern) if pattern else None
    return lambda: compiled is not None and not compiled.match(threading.current_thread().name)


class BaseDebugWrapperSession:
    """A session in a session's place; what it has no method for is the other one's.

    thread_name_filter: a regular expression; runs of threads whose names do not match go as they
    are. Errors of steps are raised whatever pass_through_operrors says.
    """

    def __init__(self, sess, thread_name_filter=None, pass_through_operrors=None):
        if not callable(getattr(sess, "run", None)):
            raise TypeError(f"Expected type tf.Session, got {type(sess)}")
        self._sess = sess
        del pass_through_operrors
        self._is_disabled_thread = thread_filter(thread_name_filter)
        self._run_call_count = 0
        self._default = None

    def __getattr__(self, name):
        if name == "_sess":  # not yet made
            raise AttributeError(name)
        return getattr(self._sess, name)

    @property
    def session(self):
        """The session that is wrapped."""
        return self._sess

    @property
    def run_call_count(self):
        """How many runs there were."""
        return self._run_call_count

    def increment_run_call_count(self):
        """Counts a run."""
        self._run_call_count += 1

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """As Session.run()."""
        if self._is_disabled_thread():
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        self.increment_run_call_count()
        return self._debugged_run(fetches, feed_dict, options, run_metadata)

    def _debugged_run(self, fetches, feed_dict, options, run_metadata):
        raise NotImplementedError("a subclass says what a run is")

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """As Session.make_callable()."""
        feed_list = feed_list or []

        def function(*args, options=None, run_metadata=None):
            if len(args) != len(feed_list):
                raise TypeError(f"expected {len(feed_list)} values, got {len(args)}")
            return self.run(fetches, dict(zip(feed_list, args)), options, run_metadata)

        return function

    def run_step_fn(self, step_fn):
        """As that of a MonitoredSession: its steps are debugged if they run on this session."""
        return step_fn(self)

    def as_default(self):
        """A context in which this is the default session."""
        return _Default("sessions", self)

    def __enter__(self):
        self._default = self._sess.graph.as_default(), self.as_default()
        for context in self._default:
            context.__enter__()
        return self

    def __exit__(self, *exc_info):
        contexts, self._default = self._default, None
        for context in reversed(contexts):
            context.__exit__(*exc_info)
        self._sess.close()

    def should_stop(self):
        """Whether the session that is wrapped should stop; AttributeError if it knows not."""
        return self._sess.should_stop()


def _watch_options(watch_fn, fetches, feeds):
    """What a watch function says: WatchOptions, or as before them a tuple or list; None: all."""
    told = watch_fn(fetches, feeds) if watch_fn is not None else None
    if told is None:
        return WatchOptions()
    if isinstance(told, WatchOptions):
        return told
    if isinstance(told, (tuple, list)) and not all(isinstance(part, str) for part in told):
        return WatchOptions(*told)
    return WatchOptions([told] if isinstance(told, str) else list(told))


def add_watches(options, graph, wanted, folder):
    """Has a step with these RunOptions dump what the WatchOptions name into a folder."""
    watch_graph(
        options,
        graph,
        debug_ops=wanted.debug_ops,
        debug_urls="file://" + folder,
        node_name_regex_allowlist=wanted.node_name_regex_allowlist,
        op_type_regex_allowlist=wanted.op_type_regex_allowlist,
        tensor_dtype_regex_allowlist=wanted.tensor_dtype_regex_allowlist,
        tolerate_debug_op_creation_failures=wanted.tolerate_debug_op_creation_failures,
    )


def _checked_root(session_root):
    if not isinstance(session_root, (str, os.PathLike)):
        raise TypeError(f"session_root is the path of a folder, not {session_root!r}")
    session_root = os.fsdecode(session_root)
    if os.path.isfile(session_root):
        raise ValueError(f"session_root path points to a file: {session_root}")
    if os.path.isdir(session_root) and os.listdir(session_root):
        raise ValueError(f"session_root path points to a non-empty directory: {session_root}")
    os.makedirs(session_root, exist_ok=True)
    return session_root


class _Runs:
    """The folders of runs below one: run_<microseconds>_<number>."""

    def __init__(self, root, watch_fn):
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError(f"watch_fn is not callable: {watch_fn!r}")
        self._root = root
        self._watch_fn = watch_fn
        self._count = 0
        self._lock = threading.Lock()

    def add_to(self, options, graph, fetches, feeds):
        """Has the run with these options dump itself into a new folder."""
        with self._lock:
            number, self._count = self._count, self._count + 1
        folder = os.path.join(self._root, f"run_{step_dumps.now_us()}_{number}")
        os.makedirs(folder)
        for name, text in (
            (dump_dir.FETCHES_INFO, repr(fetches)),
            (dump_dir.FEED_KEYS_INFO, repr(feeds.keys() if feeds else None)),
        ):
            step_dumps.write_message(os.path.join(folder, name), 0, text)
        add_watches(options, graph, _watch_options(self._watch_fn, fetches, feeds), folder)


class DumpingDebugWrapperSession(BaseDebugWrapperSession):
    """Dumps each run to a folder of its own below `session_root`, which must be empty or new.

    watch_fn: a function of (fetches, feed_dict) to WatchOptions; by default all is dumped as it is.
    """

    def __init__(
        self,
        sess,
        session_root,
        watch_fn=None,
        thread_name_filter=None,
        pass_through_operrors=None,
        log_usage=True,
    ):
        del log_usage  # nothing is told to anybody
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        self._runs = _Runs(_checked_root(session_root), watch_fn)

    def _debugged_run(self, fetches, feed_dict, options, run_metadata):
        told = messages.RunOptions()
        if options is not None:
            told.CopyFrom(options)
        self._runs.add_to(told, self._sess.graph, fetches, feed_dict)
        return self._sess.run(fetches, feed_dict, told, run_metadata)


class DumpingDebugHook(SessionRunHook):
    """Has a monitored session dump each run to a folder of its own below `session_root`."""

    def __init__(self, session_root, watch_fn=None, thread_name_filter=None, log_usage=True):
        del log_usage
        self._runs = _Runs(_checked_root(session_root), watch_fn)
        self._is_disabled_thread = thread_filter(thread_name_filter)

    def before_run(self, run_context):
        """Adds the watches to the options of the step."""
        if self._is_disabled_thread():
            return None
        asked = run_context.original_args
        options = messages.RunOptions()
        self._runs.add_to(options, run_context.session.graph, asked.fetches, asked.feed_dict)
        return SessionRunArgs(None, None, options)
