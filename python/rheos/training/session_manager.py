"""Sessions made ready: restored from a checkpoint, or initialized."""

import time

import numpy as np

from rheos.framework import errors, logging
from rheos.framework.defaults import get_default_graph
from rheos.framework.operation import Operation, Tensor
from rheos.training.checkpoints import checkpoint_exists, get_checkpoint_state
from rheos.training.session import Session


def is_ready(op, sess, msg):
    """Whether what `op` lists is empty, and if not, why the session is not ready."""
    if op is None:
        return True, None
    try:
        missing = sess.run(op)
        # assert_variables_initialized() lists none: it fails, or gives the ranks.
        missing = None if missing is None else np.asarray(missing)
        if missing is None or missing.dtype == np.int32 or missing.size == 0:
            return True, None
        names = ", ".join(n.decode("utf-8", "replace") for n in missing.flat)
        return False, f"Variables not initialized: {names}"
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logging.warning("%s : error [%s]", msg, error)
            raise
        return False, str(error)


def _restore(sess, saver, checkpoint_dir, path, wait, max_wait_secs, pause_secs):
    """Restores what is found; whether anything was."""
    if checkpoint_dir and path:
        raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
    if not saver or not (checkpoint_dir or path):
        return False
    if path:
        saver.restore(sess, path)
        return True
    begin = time.monotonic()
    state = get_checkpoint_state(checkpoint_dir)
    while not state or not state.model_checkpoint_path:
        if not wait or time.monotonic() - begin >= max_wait_secs:
            return False
        logging.info("Waiting for checkpoint to be available.")
        time.sleep(pause_secs)
        state = get_checkpoint_state(checkpoint_dir)
    if not checkpoint_exists(state.model_checkpoint_path):
        return False
    saver.restore(sess, state.model_checkpoint_path)
    saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
    return True


class SessionManager:
    """Makes sessions whose variables have values.

    local_init_op: run in each session. ready_op, ready_for_local_init_op: tensors with the names of
    what is missing, empty when nothing is.
    """

    def __init__(
        self,
        local_init_op=None,
        ready_op=None,
        ready_for_local_init_op=None,
        graph=None,
        recovery_wait_secs=30,
        local_init_run_options=None,
        local_init_feed_dict=None,
    ):
        if graph is None:
            graph = get_default_graph()
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op, "
                f"ready_for_local_init_op: {ready_for_local_init_op}"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict

    def _run_local_init(self, sess):
        if self._local_init_op is None:
            return True, None
        ready, message = is_ready(
            self._ready_for_local_init_op, sess, "Model not ready for local init"
        )
        if not ready:
            return False, message
        logging.info("Running local_init_op.")
        sess.run(
            self._local_init_op,
            feed_dict=self._local_init_feed_dict,
            options=self._local_init_run_options,
        )
        logging.info("Done running local_init_op.")
        return True, None

    def _open(self, master, config, saver, where, wait, max_wait_secs):
        """A session, and whether it was restored from a folder's checkpoint or one by its name."""
        sess = Session(master, graph=self._graph, config=config)
        pause = self._recovery_wait_secs
        return sess, _restore(sess, saver, *where, wait, max_wait_secs, pause)

    def prepare_session(
        self,
        master,
        init_op=None,
        saver=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        config=None,
        init_feed_dict=None,
        init_fn=None,
    ):
        """A session restored from the latest checkpoint, or initialized by init_op and init_fn.

        RuntimeError if there is neither, or if the model is not ready afterwards.
        """
        where = (checkpoint_dir, checkpoint_filename_with_path)
        sess, restored = self._open(
            master, config, saver, where, wait_for_checkpoint, max_wait_secs
        )
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        done, message = self._run_local_init(sess)
        if not done:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  Init op: "
                f"{_names_of(init_op)}, init fn: {init_fn}, error: {message}"
            )
        ready, message = is_ready(self._ready_op, sess, "Model not ready")
        if not ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {_names_of(init_op)}, init "
                f"fn: {init_fn}, local_init_op: {_names_of(self._local_init_op)}, error: {message}"
            )
        return sess

    def recover_session(
        self,
        master,
        saver=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        config=None,
    ):
        """A session, and whether it was restored from a checkpoint and is ready."""
        where = (checkpoint_dir, checkpoint_filename_with_path)
        sess, restored = self._open(
            master, config, saver, where, wait_for_checkpoint, max_wait_secs
        )
        path = checkpoint_dir or checkpoint_filename_with_path
        done, message = self._run_local_init(sess)
        if not restored:
            return sess, False
        ready = done
        if done:
            ready, message = is_ready(self._ready_op, sess, "Model not ready")
        if not ready:
            logging.info("Restoring model from %s did not make model ready: %s", path, message)
            return sess, False
        logging.info("Restored model from %s", path)
        return sess, True

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session, once its model is ready; DeadlineExceededError if that takes too long.

        It looks soon at first, then the less often, up to every recovery_wait_secs.
        """
        begin, pause = time.monotonic(), min(0.5, self._recovery_wait_secs)
        while True:
            sess = Session(master, graph=self._graph, config=config)
            done, _ = self._run_local_init(sess)
            ready, message = is_ready(self._ready_op, sess, "Model not ready")
            if done and ready:
                return sess
            sess.close()
            left = max_wait_secs - (time.monotonic() - begin)
            if left < pause:
                raise errors.DeadlineExceededError(
                    None,
                    None,
                    "Session was not ready after waiting %d secs." % (max_wait_secs,),
                )
            logging.info("Waiting for model to be ready: %s", message)
            time.sleep(pause)
            pause = min(2 * pause, self._recovery_wait_secs)


def _names_of(ops):
    if isinstance(ops, (Operation, Tensor)):
        return ops.name
    if isinstance(ops, (list, tuple)):
        return ", ".join(str(_names_of(o)) for o in ops)
    return ops
