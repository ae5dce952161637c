"""Values of functions that workers run: what scheduling one gives, and values for each worker."""

import threading

from rheos.framework import nest


class RemoteValue:
    """What a function gives that a coordinator has scheduled, once a worker has run it."""

    def __init__(self):
        self._done = threading.Event()
        self._value, self._error = None, None

    def _set(self, value):
        self._value = value
        self._done.set()

    def _fail(self, error):
        self._error = error
        self._done.set()

    def wait(self):
        """Waits until the function has run, or never will."""
        self._done.wait()

    def get(self):
        """The result, with tensors; waits for it. Raises what the function raised;
        tf.errors.CancelledError if another one's error had it never run."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def fetch(self):
        """The result, with arrays and numbers in place of tensors; waits for it as get() does."""
        return nest.map_leaves(_array, self.get())


def _array(leaf):
    return leaf.numpy() if hasattr(leaf, "numpy") else leaf


class PerWorkerValues:
    """A value for each worker: a tuple of RemoteValues, in their order."""

    def __init__(self, values):
        self._values = tuple(values)

    def __repr__(self):
        return f"PerWorkerValues({list(self._values)})"


def fetched(structure):
    """A structure with arrays and numbers in place of RemoteValues, which are waited for."""

    def fetch(leaf):
        if isinstance(leaf, PerWorkerValues):
            return tuple(map(fetch, leaf._values))
        return leaf.fetch() if isinstance(leaf, RemoteValue) else leaf

    return nest.map_leaves(fetch, structure)
