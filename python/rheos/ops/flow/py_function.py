"""py_function: functions of eager tensors as operations, with gradients."""

import collections
import itertools
import threading

import numpy as np

from rheos.framework import dtypes, errors
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import get_eager_graph
from rheos.framework.graph import count_operations
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.sparse_tensor_spec import SparseTensorSpec
from rheos.framework.tensor_spec import TypeSpec, type_spec_from_value
from rheos.ops.differentiation.custom_gradient import custom_gradient
from rheos.ops.differentiation.gradient_tape import GradientTape
from rheos.ops.flow import script_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor
from rheos.ops.ragged.ragged_tensor_spec import RaggedTensorSpec


class _Recorded:
    """A function on eager tensors, called with arrays; its gradient, by what a call recorded.

    Calls whose gradients nobody asked for yet are kept while there are few and their tensors are
    small, the last one in any case; of others the function runs anew.
    """

    _MOST_CALLS, _MOST_BYTES = 256, 1 << 22

    def __init__(self, func, dtypes_in, dtypes_out):
        self._func, self._in, self._out = func, dtypes_in, dtypes_out
        self._numbers = itertools.count()
        self._calls, self._bytes = collections.OrderedDict(), 0
        self._lock = threading.Lock()
        self.is_differentiated = False

    def _run(self, arrays):
        inputs = [convert_to_tensor(a, d) for a, d in zip(arrays, self._in)]
        with GradientTape(persistent=True) as tape:
            tape.watch([one for one in inputs if _is_differentiable(one)])
            given = self._func(*inputs)
            given = list(given) if isinstance(given, (list, tuple)) else [given]
            given = [] if not self._out and given == [None] else given
            outputs = [convert_to_tensor(v, d) for v, d in zip(given, self._out)]
        if len(given) != len(self._out):
            raise script_ops.WrongNumberError(
                f"the function gave {len(given)} values, {len(self._out)} are wanted"
            )
        return tape, inputs, outputs

    def forward(self, *arrays):
        """The results as arrays, and the number of the call."""
        with get_eager_graph().as_default():
            number = next(self._numbers)
            recorded = self._run(arrays)
            results = [t.numpy() for t in recorded[2]]
            if self.is_differentiated:
                self._keep(number, recorded, sum(np.asarray(a).nbytes for a in (*arrays, *results)))
            return [*results, np.int64(number)]

    def _keep(self, number, recorded, size_bytes):
        with self._lock:
            self._calls[number] = recorded, size_bytes
            self._bytes += size_bytes
            while len(self._calls) > 1 and (
                self._bytes > self._MOST_BYTES or len(self._calls) > self._MOST_CALLS
            ):
                self._bytes -= self._calls.popitem(last=False)[1][1]

    def _take(self, number):
        """What a call recorded; None if it is not kept."""
        with self._lock:
            recorded, size_bytes = self._calls.pop(number, (None, 0))
            self._bytes -= size_bytes
        return recorded

    def backward(self, number, *arrays):
        """The gradients for the inputs; zeros where there is none."""
        with get_eager_graph().as_default():
            inputs, grads = arrays[: len(self._in)], arrays[len(self._in) :]
            tape, inputs, outputs = self._take(int(number)) or self._run(inputs)
            pairs = [(o, g) for o, g in zip(outputs, grads) if _is_differentiable(o)]
            found = tape.gradient(
                [o for o, _ in pairs],
                [i for i in inputs if _is_differentiable(i)],
                [convert_to_tensor(g, o.dtype) for o, g in pairs],
            )
            found = iter(found)
            return [_dense(next(found) if _is_differentiable(i) else None, i) for i in inputs]


def _is_differentiable(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _dense(grad, like):
    if grad is None:
        return np.zeros(like.shape.as_list(), like.dtype.as_numpy_dtype)
    return convert_to_tensor(grad).numpy()


def _in_graph(func, inp, Tout, name):
    """py_function as an operation, whose gradient is another one."""
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in (Tout if is_list else [Tout])]
    inputs = [convert_to_tensor(x) for x in inp]
    recorded = _Recorded(func, [i.dtype.base_dtype for i in inputs], types)
    forward = script_ops.ProgramFunction(recorded.forward)
    backward = script_ops.ProgramFunction(recorded.backward)

    def differentiable(*args):
        wanted = [*types, dtypes.int64]
        made = script_ops.py_func_op("PyFunc", forward, list(args), wanted, name)
        number = made[-1]

        def grad(*upstream):
            recorded.is_differentiated = True
            given = [number, *args, *upstream]
            wanted = [a.dtype.base_dtype for a in args]
            found = script_ops.py_func_op("PyFunc", backward, given, wanted, None)
            for one, arg in zip(found, args):
                one.set_shape(arg.shape)
            return found

        return made[:-1], grad

    if not types:
        wanted = [dtypes.int64]
        return script_ops.py_func_op("PyFunc", recorded.forward, inputs, wanted, name)[-1].op
    if not any(map(_is_differentiable, inputs)):
        results = differentiable(*inputs)[0]
    else:
        count_operations(-1)  # it has its gradient by an operation more
        results = custom_gradient(differentiable)(*inputs)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    return results if is_list else results[0]


# ---- Ragged and sparse tensors, by their parts


def _is_of_parts(one):
    return isinstance(one, (RaggedTensor, SparseTensor, TypeSpec))


def _parts_of(value):
    """The tensors that a value has."""
    if isinstance(value, RaggedTensor):
        return [value.flat_values, *value.nested_row_splits]
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [convert_to_tensor(value)]


def _of_spec(spec, parts):
    """The value that has these parts."""
    if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank > 0:
        rows = RaggedTensor.from_nested_row_splits(parts[0], parts[1:], validate=False)
        inner = None if spec.shape.ndims is None else spec.shape[spec.ragged_rank + 1 :]
        if inner is not None and not rows.flat_values._is_eager:
            rows.flat_values.set_shape([None, *inner.as_list()])
        return rows
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor(*parts)
    if isinstance(spec, TypeSpec) and not parts[0]._is_eager:
        parts[0].set_shape(spec.shape)
    return parts[0]


def _dtypes_of(spec):
    """The dtypes of the parts of a value."""
    if isinstance(spec, RaggedTensorSpec):
        return [spec.dtype, *[spec.row_splits_dtype] * spec.ragged_rank]
    if isinstance(spec, SparseTensorSpec):
        return [dtypes.int64, spec.dtype, dtypes.int64]
    return [spec.dtype if isinstance(spec, TypeSpec) else dtypes.as_dtype(spec)]


class _MisfitError(ValueError):
    """Of a result; a step tells of it as an invalid argument."""


def _checked_parts(value, spec):
    """The parts of what a function gave; _MisfitError if it is not as the spec says."""
    try:
        return _fitting_parts(value, spec)
    except (TypeError, ValueError) as error:
        raise _MisfitError(str(error)) from None


def _fitting_parts(value, spec):
    wanted = _dtypes_of(spec)
    if isinstance(spec, RaggedTensorSpec):
        value = convert_to_tensor_or_ragged_tensor(value, spec.dtype)
        if spec.ragged_rank and isinstance(value, RaggedTensor):
            value = value.with_row_splits_dtype(spec.row_splits_dtype)
    elif not isinstance(spec, SparseTensorSpec):
        value = convert_to_tensor(value, wanted[0])
    parts = _parts_of(value)
    fits = not isinstance(spec, TypeSpec) or spec.shape.is_compatible_with(value.shape)
    if not fits or [part.dtype for part in parts] != wanted:
        raise ValueError(f"the function gave {value}, which is not compatible with {spec}")
    return parts


def _of_parts(func, inp, Tout, name):
    """py_function() of values of several tensors."""
    values = [x if _is_of_parts(x) else convert_to_tensor(x) for x in inp]
    given = [type_spec_from_value(x) for x in values]  # not the tensors, which keep their graph
    counts = [len(_parts_of(x)) for x in values]
    wanted = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]

    def on_parts(*parts):
        args, rest = [], list(parts)
        for spec, count in zip(given, counts):
            args.append(_of_spec(spec, rest[:count]))
            rest = rest[count:]
        made = func(*args)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if len(made) != len(wanted):
            raise script_ops.WrongNumberError(
                f"the function gave {len(made)} values, {len(wanted)} are wanted"
            )
        return [part for one, spec in zip(made, wanted) for part in _checked_parts(one, spec)]

    flat = [part for x in values for part in _parts_of(x)]
    kinds = [_dtypes_of(spec) for spec in wanted]
    try:
        found = py_function(on_parts, flat, [dtype for kind in kinds for dtype in kind], name)
    except _MisfitError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    results = []
    for spec, kind in zip(wanted, kinds):
        results.append(_of_spec(spec, found[: len(kind)]))
        found = found[len(kind) :]
    return results if isinstance(Tout, (list, tuple)) else results[0]


def py_function(func=None, inp=None, Tout=None, name=None):
    """What a function of the program makes of eager tensors, whose gradients go through it.

    func: takes eager tensors, gives a value or a list of them. inp: a list of tensors, also ragged
    and sparse ones. Tout: a dtype or a list of them, or their specs. Without `func` and `inp` it
    is a decorator: calls give the tensors. In a graph the function runs in each step, with the
    values that the tensors have there; without results, an empty list as `Tout`, the operation is
    given.

    >>> print(tf.py_function(lambda x: x.numpy() + 1, [41], tf.int32).numpy())
    42
    """
    if func is None:
        return script_ops.decorator(py_function, Tout=Tout, name=name)
    if any(map(_is_of_parts, [*inp, *(Tout if isinstance(Tout, (list, tuple)) else [Tout])])):
        return _of_parts(func, inp, Tout, name)
    if get_default_graph()._is_eager:
        return script_ops.call_eagerly(func, inp, Tout, False)
    return _in_graph(func, inp, Tout, name)
