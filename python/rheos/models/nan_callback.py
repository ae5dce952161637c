"""A callback that says where the NaN of a loss came from."""

import sys

import numpy as np

from rheos.layers import values
from rheos.models.callbacks import Callback
from rheos.training import watches


class FirstNaN(Callback):
    """Stops training where the loss is not a number, or infinite, and names what made it so.

    That is the first operation of the batch that made a NaN, with its line in the program, the
    function, loop and trip that it is in, and the numbers of what it took: `found`, a Watched
    (tf.debugging.watch), None as long as there is none. tell: is given found, which may be None
    for an infinite loss; by default it is printed to standard error. What each batch computes is
    looked at, so training is slower; functions stay compiled.
    """

    def __init__(self, tell=None):
        super().__init__()
        self.found = None
        self._tell = tell
        self._in_batch = self._watch = None

    def on_train_begin(self, logs=None):
        """Begins to watch."""
        self.on_train_end()
        self.found = None
        if values.runs_in_session():
            session = values.get_session()
            self._watch = session.watch("*", self._seen, "first_nan")
        else:
            self._watch = watches.watch("*", self._seen, "first_nan")

    def on_batch_begin(self, batch, logs=None):
        """Forgets what was no NaN of the loss."""
        self._in_batch = None

    def _seen(self, watched):
        if self._in_batch is None:
            self._in_batch = watched

    def on_batch_end(self, batch, logs=None):
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        self.found = self._in_batch
        self.model.stop_training = True
        if self._tell is not None:
            self._tell(self.found)
            return
        print(f"Batch {batch}: the loss is {float(loss)}, training ends", file=sys.stderr)
        if self.found is not None:
            print(f"The first NaN is of {self.found}", file=sys.stderr)

    def on_train_end(self, logs=None):
        """Ends the watch."""
        if self._watch is not None:
            self._watch.end()
            self._watch = None
