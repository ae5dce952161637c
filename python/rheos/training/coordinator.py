"""A coordinator of threads that stop together."""

import contextlib
import sys
import threading
import time

from rheos.framework import errors, logging
from rheos.framework.defaults import get_default_graph, get_default_session
from rheos.ops.state.graph_keys import GraphKeys

QUEUE_RUNNERS = GraphKeys.QUEUE_RUNNERS


class Coordinator:
    """Says to threads when to stop, and raises in the main one what one of them raised.

    clean_stop_exception_types: exceptions that are no error but the end, by default
    OutOfRangeError.
    """

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._error = None
        self._joined = False
        self._threads = set()

    def _filtered(self, error):
        return None if isinstance(error, self._clean) else error

    def request_stop(self, ex=None):
        """Asks all threads to stop; join() then raises `ex`, an exception or sys.exc_info()."""
        with self._lock:
            if isinstance(ex, tuple):
                ex = ex[1]
            if ex is not None and not isinstance(ex, BaseException):
                raise ValueError("ex must be an exception or a sys.exc_info() tuple")
            ex = self._filtered(ex)
            if self._joined:
                if ex is not None:
                    raise ex
                return
            if self._stop_event.is_set():
                return
            if ex is not None:
                logging.info("Error reported to Coordinator: %s, %s", type(ex), ex)
                self._error = ex
            self._stop_event.set()

    def clear_stop(self):
        """As if no stop had been requested."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop_event.clear()

    def should_stop(self):
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A context that requests a stop when its block raises, and swallows what it raised."""
        try:
            yield
        except:  # noqa: E722
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout=None):
        """Waits until a stop is requested, or for `timeout` seconds; whether it was requested."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread):
        """Adds a thread that join() waits for."""
        with self._lock:
            self._threads.add(thread)

    @property
    def joined(self):
        """Whether join() is done."""
        return self._joined

    def raise_requested_exception(self):
        """Raises what was given to request_stop(), if anything."""
        with self._lock:
            if self._error is not None:
                raise self._error

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits for the threads to end, and raises what one of them reported.

        After a stop was requested they have `stop_grace_period_secs`: then it is a RuntimeError
        with the names of those that still run, unless `ignore_live_threads`.
        """
        with self._lock:
            threads = list(self._threads if threads is None else self._threads.union(threads))
        while any(t.is_alive() for t in threads) and not self.wait_for_stop(0.1):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in threads:
            while thread.is_alive() and time.monotonic() < end:
                thread.join(min(0.1, max(end - time.monotonic(), 0)))
        alive = [t.name for t in threads if t.is_alive()]
        with self._lock:
            self._joined = True
            self._threads = set()
            if self._error is not None:
                raise self._error
            if alive and ignore_live_threads:
                logging.info("Coordinator stopped with threads still running: %s", " ".join(alive))
            elif alive:
                raise RuntimeError(
                    "Coordinator stopped with threads still running: " + " ".join(alive)
                )


class LooperThread(threading.Thread):
    """A thread that calls a function until its coordinator stops.

    timer_interval_secs: how long after the beginning of one call the next one begins; None: at
    once. Subclasses may override start_loop, run_loop and stop_loop instead of giving a target.
    """

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._interval = timer_interval_secs
        self._target_function = target
        self._target_args = args or ()
        self._target_kwargs = kwargs or {}
        if args is not None and target is None:
            raise ValueError("'args' argument require that you also pass 'target'")
        if kwargs is not None and target is None:
            raise ValueError("'kwargs' argument require that you also pass 'target'")
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """A started LooperThread."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self):
        """Calls run_loop() again and again, until the coordinator is asked to stop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            next_time = time.monotonic()
            while not self._coord.wait_for_stop(
                0 if self._interval is None else max(next_time - time.monotonic(), 0)
            ):
                next_time += self._interval or 0
                self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called before the first call."""

    def stop_loop(self):
        """Called after the last call."""

    def run_loop(self):
        """One call."""
        if self._target_function is not None:
            self._target_function(*self._target_args, **self._target_kwargs)


def add_queue_runner(qr, collection=QUEUE_RUNNERS):
    """Adds a queue runner to a collection of the graph."""
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=QUEUE_RUNNERS):
    """Starts the threads of all queue runners of the graph; the list of them.

    ValueError if there is no session, TypeError if `sess` is none.
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to "
                "tf.start_queue_runners(sess=sess)"
            )
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []  # it has started them itself
    if not hasattr(sess, "run") or not hasattr(sess, "graph"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = get_default_graph().get_collection(collection)
    if not runners:
        logging.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You "
            "can safely remove the call to this deprecated function."
        )
    threads = []
    with sess.graph.as_default():
        for runner in runners:
            threads.extend(runner.create_threads(sess, coord=coord, daemon=daemon, start=start))
    return threads
