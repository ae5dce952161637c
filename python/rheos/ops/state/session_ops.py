"""Tensors that a session keeps between steps, under handles."""

import weakref

import numpy as np

from rheos.framework import dtypes, errors
from rheos.framework.graph import colocate_with, device
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Tensor
from rheos.ops.array.array_ops import placeholder

_MANY = 10  # handles that nobody has any more, until their tensors are deleted
_of_graph = weakref.WeakKeyDictionary()  # names of what reads and deletes, in each graph


class TensorHandle:
    """What `Session.run` gives for a `get_session_handle`: names a tensor that the session keeps.

    As the value of a feed it stands for the tensor. The tensor goes by `delete`, or some runs after
    the last handle to it, unless the program has asked for the raw handle.
    """

    def __init__(self, handle, dtype, session):
        self._handle = handle
        self._dtype = dtype
        self._session = session
        self._owns = True

    def __str__(self):
        return self._handle

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.eval(), dtype=dtype)

    def __del__(self):
        if self._owns:
            self._session._dead_handles.append(self._handle)

    @property
    def handle(self):
        """The handle as a string, to feed to what `get_session_tensor` gives."""
        return self._handle

    def get_raw_handle(self):
        """The handle as a string, for which the program takes care: see `delete_session_tensor`."""
        self._owns = False
        return self._handle

    def eval(self):
        """The value of the tensor."""
        return self._run(lambda: get_session_tensor(self._handle, self._dtype), self._dtype)

    def delete(self):
        """Ends the keeping of the tensor."""
        self._owns = False
        self._run(lambda: delete_session_tensor(self._handle), None)

    def _run(self, make, dtype):
        try:
            return _run_with(self._session, make, dtype, self._handle)
        except errors.InvalidArgumentError:
            raise TypeError(
                f"Persistent tensor {self._handle} may have already been deleted."
            ) from None


def _run_with(session, make, key, handle):
    """Runs what `make` adds to the session's graph, once for each key, with the handle fed."""
    made = _of_graph.setdefault(session.graph, {})
    if key not in made:
        with session.graph.as_default():
            made[key] = [element.name for element in make()]
    holder, element = made[key]
    return session.run(element, {holder: handle})


def handle_of(session, operation, handle):
    """The TensorHandle for what a GetSessionHandle gave in a run; drops what nobody has."""
    dead = session._dead_handles
    if len(dead) >= _MANY:
        for _ in range(len(dead)):
            gone = dead.pop()
            try:
                _run_with(session, lambda gone=gone: delete_session_tensor(gone), None, gone)
            except (errors.OpError, RuntimeError):  # deleted before, or the graph is finalized
                pass
    return TensorHandle(handle.decode(), operation.inputs[0].dtype.base_dtype, session)


def _place_of(handle):
    """The device that is part of a handle."""
    return device(handle.split(";")[-1])


def get_session_handle(data, name=None):
    """A string that names `data`, which the session keeps in place of giving its value.

    `Session.run` gives a TensorHandle for it.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return op1("GetSessionHandle", name, data)


def get_session_tensor(handle, dtype, name=None):
    """(placeholder, tensor): the tensor of the handle that is fed to the placeholder.

    handle: a handle as a string; what is fed may be another one.
    """
    with _place_of(handle):
        holder = placeholder(dtypes.string)
        return holder, op1("GetSessionTensor", name, holder, dtype=dtypes.as_dtype(dtype))


def delete_session_tensor(handle, name=None):
    """(placeholder, operation) that deletes the tensor of the handle that is fed."""
    with _place_of(handle):
        holder = placeholder(dtypes.string)
        return holder, apply_op("DeleteSessionTensor", name, holder)
