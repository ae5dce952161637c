"""Queue runners: threads that keep a queue filled."""

import threading
import weakref

from rheos.framework import errors, logging, messages
from rheos.framework.defaults import get_default_graph
from rheos.framework.proto_functions import register_proto_function, with_scope, without_scope
from rheos.ops.state.graph_keys import GraphKeys


class QueueRunner:
    """A thread for each of `enqueue_ops` that runs it again and again, until the queue is closed.

    close_op runs when the last of them met one of `queue_closed_exception_types` (by default
    OutOfRangeError: what they read is at its end); cancel_op when the coordinator stops. Either
    `queue` and `enqueue_ops` are given, or `queue_runner_def`, a message that names them.
    """

    def __init__(
        self,
        queue=None,
        enqueue_ops=None,
        close_op=None,
        cancel_op=None,
        queue_closed_exception_types=None,
        queue_runner_def=None,
        import_scope=None,
    ):
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._take_message(queue_runner_def, import_scope)
        else:
            if not queue or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops.")
            self._queue = queue
            self._enqueue_ops = enqueue_ops
            self._closed_types = self._checked_types(queue_closed_exception_types)
            self._close_op = close_op
            if close_op is None:
                self._close_op = queue.close()
            self._cancel_op = cancel_op
            if cancel_op is None:
                self._cancel_op = queue.close(cancel_pending_enqueues=True)
        self._lock = threading.Lock()
        self._runs = weakref.WeakKeyDictionary()  # threads at work, by session
        self._exceptions_raised = []

    @staticmethod
    def _checked_types(types):
        if types is None:
            return (errors.OutOfRangeError,)
        if (
            not isinstance(types, tuple)
            or not types
            or not all(issubclass(kind, errors.OpError) for kind in types)
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, "
                f"but saw: {types}"
            )
        return types

    def _take_message(self, message, import_scope):
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(with_scope(name, import_scope))

        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op = element(message.close_op_name)
        self._cancel_op = element(message.cancel_op_name)
        codes = message.queue_closed_exception_types
        types = tuple(errors.exception_type_from_error_code(code) for code in codes)
        self._closed_types = types or (errors.OutOfRangeError,)

    @property
    def queue(self):
        """The queue; its operation where a message named it."""
        return self._queue

    @property
    def enqueue_ops(self):
        """What the threads run."""
        return self._enqueue_ops

    @property
    def close_op(self):
        """What closes the queue."""
        return self._close_op

    @property
    def cancel_op(self):
        """What closes it and cancels what waits to be put in."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self):
        """The exceptions that mean the end."""
        return self._closed_types

    @property
    def exceptions_raised(self):
        """What the threads raised where there is no coordinator to be told."""
        return self._exceptions_raised

    @property
    def name(self):
        """The queue's name."""
        return self._queue.name

    def _leave(self, sess):
        """Counts a thread out; whether it was the last one of the session."""
        with self._lock:
            self._runs[sess] -= 1
            return self._runs[sess] == 0

    def _enqueue(self, sess, enqueue_op):
        """The function that a thread calls again and again."""
        return sess.make_callable(enqueue_op)

    def _run(self, sess, enqueue_op, coord=None):
        has_left = False
        try:
            enqueue = self._enqueue(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._closed_types:
                    has_left = True
                    if self._leave(sess):
                        self._run_quietly(sess, self._close_op)
                    return
        except Exception as error:
            if coord:
                coord.request_stop(error)
                return
            logging.error("Exception in QueueRunner: %s", str(error))
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            if not has_left:
                self._leave(sess)

    @staticmethod
    def _run_quietly(sess, operation):
        # The session may be closed by now, and the queue be closed already.
        try:
            sess.run(operation)
        except Exception as error:
            logging.vlog(1, "Ignored exception: %s", str(error))

    def _close_on_stop(self, sess, cancel_op, coord):
        coord.wait_for_stop()
        self._run_quietly(sess, cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads for a session, none if it has them already; with a coordinator one more,
        which cancels when it stops."""
        with self._lock:
            if self._runs.get(sess, 0) > 0:
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(
                target=self._run,
                args=(sess, operation, coord),
                name=f"QueueRunnerThread-{self.name}-{operation.name}",
            )
            for operation in self._enqueue_ops
        ]
        if coord:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, self._cancel_op, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope=None):
        """The QueueRunnerDef message; None if the queue is outside `export_scope`."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        return messages.QueueRunnerDef(
            queue_name=without_scope(self.queue.name, export_scope),
            enqueue_op_name=[without_scope(op.name, export_scope) for op in self.enqueue_ops],
            close_op_name=without_scope(self.close_op.name, export_scope),
            cancel_op_name=without_scope(self.cancel_op.name, export_scope),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(kind) for kind in self._closed_types
            ],
        )

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        """The QueueRunner that a message describes, whose nodes are below `import_scope`."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


register_proto_function(
    GraphKeys.QUEUE_RUNNERS, "QueueRunnerDef", QueueRunner.to_proto, QueueRunner.from_proto
)
