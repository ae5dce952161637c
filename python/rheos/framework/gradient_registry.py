"""Gradients that programs define for types of operations: RegisterGradient."""

import weakref

from rheos import _core
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.indexed_slices import IndexedSlices

_registered = {}
_of_graphs = weakref.WeakValueDictionary()  # those that a graph keeps


def register_gradient(op_type, function):
    if op_type in _registered or _core.op_has_gradient(op_type):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _registered[op_type] = function


def register_gradient_of(graph, op_type, function):
    """Has a function, of a name that no other has, be known as long as a graph is there."""
    graph.keep_for_calls(function)
    _of_graphs[op_type] = function


def _found(op_type):
    return _registered.get(op_type) or _of_graphs.get(op_type)


class RegisterGradient:
    """A decorator: the function is the gradient of operations of a type.

    The function takes the operation and a gradient for each output, and returns one for each input,
    None where there is none. The name may be one that only Graph.gradient_override_map uses.
    TypeError if it is no string, KeyError if it was registered before or the library has one.
    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        register_gradient(self._op_type, f)
        return f


def no_gradient(op_type):
    """Says that operations of a type have no gradient, and that none is missing."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    register_gradient(op_type, None)


class RaisedBefore:
    """A gradient function that raises an error that is being handled, as it was first raised."""

    def __init__(self, error):
        import traceback  # which only errors need

        self._error, self._where = error, error.__traceback__.tb_next
        traceback.clear_frames(self._where)  # or the error would keep a graph in memory

    def __call__(self, *args):
        raise self._error.with_traceback(self._where)


def error_of(op_type):
    """What stands for the gradient of a type if that is an error, else None."""
    function = _found(op_type)
    return function if isinstance(function, RaisedBefore) else None


def is_registered(op_type):
    """Whether a program registered a gradient, or that there is none."""
    return op_type in _registered or op_type in _of_graphs


def _parts(gradient, op, index):
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return gradient.values, gradient.indices, gradient.dense_shape
    return convert_to_tensor(gradient, op.inputs[index].dtype.base_dtype)


def call_gradient(op, op_type, gradients, function=None):
    """The gradients of the inputs of `op` as the extension takes them; None: none is registered.

    `function`: called for them, in place of what is registered.
    """
    if function is None and not is_registered(op_type):
        return None
    function = function or _found(op_type)
    if function is None:
        return [None] * len(op.inputs)
    gradients = [IndexedSlices(*g) if isinstance(g, tuple) else g for g in gradients]
    found = function(op, *gradients)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(found) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(found)} generated for op {op.node_def} do not match num inputs "
            f"{len(op.inputs)}"
        )
    return [_parts(g, op, i) for i, g in enumerate(found)]
