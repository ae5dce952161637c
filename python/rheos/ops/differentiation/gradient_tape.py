"""Tapes: gradients of what a program computed."""

from rheos import _core
from rheos.framework import eager, gradient_parts, logging, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.watchers import listen, stop_listening
from rheos.ops.array import array_ops
from rheos.ops.differentiation.gradients import (
    UnconnectedGradients,
    from_core,
    gradients,
    gradients_within,
)
from rheos.ops.differentiation.jacobians import batch_jacobian_of, jacobian_of

_DIFFERENTIABLE = frozenset(
    "float16 float32 float64 bfloat16 complex64 complex128 resource variant".split()
)


class _NothingEager:
    """What a program remembers that executes nothing eagerly: its graphs say it all."""

    def _record(self):
        pass

    def _stop(self):
        pass


def _new_record():
    return _core.TapeBase() if eager.is_set_up() else _NothingEager()


def _tensor_of(value):
    """What the tape knows a tensor or variable by."""
    handle = getattr(value, "handle", None)
    if handle is not None and not isinstance(value, Tensor):
        return handle
    return value


def _age(variable):
    return getattr(variable, "_own_number", 0)


def _parts(value):
    """The tensors of a watched value: of a composite one all its parts."""
    if isinstance(value, IndexedSlices):
        return [value.values]
    return nest.flatten(value, expand_composites=True)


class GradientTape:
    """Remembers what is computed from watched tensors, for gradients.

    persistent: gradients may be asked for more than once. watch_accessed_variables: trainable
    variables that are read are watched.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x).numpy())
    6.0
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape = self._began_in = None
        self._recording = False
        self._watched_symbolic = []
        self._graph_record = _GraphRecord()
        self._kept = []
        self._variables = {}

    def __enter__(self):
        self._push()
        return self

    def __exit__(self, *exc_info):
        if self._recording:
            self._pop()

    def _push(self):
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an "
                "already-active tape."
            )
        if self._tape is None or self._began_in is None:  # it may watch before it records
            self._tape = self._tape or _new_record()
            self._began_in = get_default_graph()
        self._resume()
        self._recording = True

    def _pop(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._pause()
        self._recording = False

    def _resume(self):
        self._tape._record()
        self._graph_record.begin(self._began_in)
        listen(self)

    def _pause(self):
        self._tape._stop()
        self._graph_record.end(self._began_in)
        stop_listening(self)

    def _forget(self):
        """Ends what it remembers, and what that needs."""
        self._tape = None
        self._watched_symbolic, self._kept = [], []

    def _keep(self, value):
        """Keeps a value for what is remembered from now on."""
        if all(value is not one for one in self._kept):
            self._kept.append(value)

    def watch(self, tensor):
        """Has the tape remember what is computed from a tensor, variable, or nest of these."""
        for item in nest.flatten(tensor):
            for part in _parts(item):
                self._watch(part)

    def _watch(self, item):
        known = _tensor_of(item)
        if not isinstance(known, Tensor):
            raise ValueError(
                f"Passed in object {item} of type {type(item).__name__!r}, not tf.Tensor or "
                "tf.Variable or ExtensionType."
            )
        if known.dtype.base_dtype.name not in _DIFFERENTIABLE:
            logging.warning(
                "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                known.dtype,
            )
        if known is not item:
            self._variables[id(item)] = item
        self._graph_record.watch(self._began_in, known)
        if known._is_eager:
            if not isinstance(self._tape, _core.TapeBase):
                self._tape = _core.TapeBase()
                if self._recording:
                    self._tape._record()
            self._tape._watch(known)
        else:
            self._watched_symbolic.append(known)

    def watched_variables(self):
        """The variables that the tape watches, in the order in which they were made."""
        return tuple(sorted(self._variables.values(), key=_age))

    def reset(self):
        """Forgets all that was remembered."""
        self._pop()
        self._forget()
        self._graph_record = _GraphRecord()
        self._variables = {}
        self._push()

    def stop_recording(self):
        """A context in which nothing is remembered."""
        return _Stopped(self)

    def gradient(
        self,
        target,
        sources,
        output_gradients=None,
        unconnected_gradients=UnconnectedGradients.NONE,
    ):
        """The gradients of the sum of `target` with respect to `sources`, in their structure.

        output_gradients: weights of the targets, of their shapes. unconnected_gradients: what a
        source gets that the target does not depend on, NONE or ZERO.
        """
        if output_gradients is None and unconnected_gradients is UnconnectedGradients.NONE:
            is_one = isinstance(sources, (Tensor, _VariableBase))
            found = self._plain_gradient(target, [sources] if is_one else sources)
            if found is not None:
                return found[0] if is_one else found
        if self._tape is None and not self._watched_symbolic:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if self._recording:
            if not self._persistent:
                self._pop()
            else:
                logging.warning(
                    "Calling GradientTape.gradient on a persistent tape inside its context is "
                    "significantly less efficient than calling it outside the context (it causes "
                    "the gradient ops to be recorded on the tape, leading to increased CPU and "
                    "memory usage). Only call GradientTape.gradient inside the context if you "
                    "actually want to trace the gradient in order to compute higher order "
                    "derivatives."
                )
        targets = [self._target(t) for t in gradient_parts.tensors_for(nest.flatten(target))]
        values = nest.flatten(sources)
        flat = gradient_parts.tensors_for(values)
        weights = [None] * len(targets)
        if output_gradients is not None:
            given = gradient_parts.tensors_for(nest.flatten(output_gradients))
            weights = [None if w is None else _value_of(w) for w in given]
        found = self._gradients(targets, flat, weights)
        if not self._persistent:
            self._forget()
        if UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO:
            found = [_zeros_like(s) if g is None else g for g, s in zip(found, flat)]
        return nest.pack_sequence_as(sources, gradient_parts.like(values, found))

    def _plain_gradient(self, target, sources):
        """The gradients of a tensor by a list of tensors and variables, all with values, at once;
        None: it is something else."""
        if self._persistent or type(sources) is not list:
            return None
        if not isinstance(self._tape, _core.TapeBase):
            return None
        if self._recording:
            if not _core._are_at_once(target, sources):
                return None
            self._pop()
        found = self._tape._plain_gradient(target, sources, from_core)
        if found is not None:
            self._forget()
        return found

    def _all_gradients(self, target, sources):
        """A function of weights of `target` that gives the gradients of a list of sources."""
        if self._tape is None and not self._watched_symbolic:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if self._recording and not self._persistent:
            self._pop()
        targets = [_value_of(target)]
        return lambda weights: self._gradients(targets, sources, [weights])

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The gradients of each element of `target`, in its shape and then the source's."""
        flat = nest.flatten(sources)
        found = jacobian_of(self._all_gradients(target, flat), target, flat)
        found = [None] * len(flat) if found is None else found
        if not self._persistent:
            self._forget()
        if UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO:
            shape = convert_to_tensor(target).shape.as_list()
            found = [
                array_ops.zeros([*shape, *s.shape.as_list()], s.dtype) if j is None else j
                for j, s in zip(found, flat)
            ]
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The jacobian of each row of `target` with respect to the same row of `source`."""
        target = _value_of(target)
        if self._tape is None and not self._watched_symbolic:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if parallel_iterations is not None and not self._persistent and not target._is_eager:
            raise RuntimeError(
                "It appears that GradientTape was created with persistent=True missing: batch "
                "jacobians with parallel_iterations need a tape with persistent=True"
            )
        if any(t.shape.rank is not None and t.shape.rank < 2 for t in (target, source)):
            raise ValueError(
                f"target {target.shape} and source {source.shape} must have rank at least 2"
            )
        dims = source.shape.as_list()
        if target.shape.rank is None or target.shape.as_list()[:1] != dims[:1]:
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape "
                f"({source.shape}) to match."
            )
        each = self._all_gradients(target, [source])
        found = batch_jacobian_of(lambda weights: each(weights)[0], target, source)
        if not self._persistent:
            self._forget()
        if found is None:  # as TensorFlow has it, whatever is asked for
            found = array_ops.zeros([*target.shape.as_list(), *dims[1:]], target.dtype)
        return found

    def _target(self, value):
        """A tensor of a target; that a variable is read for it is remembered."""
        if isinstance(value, Tensor) or self._tape is None or self._recording:
            return _value_of(value)
        self._push()
        try:
            return _value_of(value)
        finally:
            self._pop()

    def _gradients(self, targets, sources, weights):
        kept = [i for i, t in enumerate(targets) if t.dtype.base_dtype.name in _DIFFERENTIABLE]
        if len(kept) < len(targets):
            targets, weights = [targets[i] for i in kept], [weights[i] for i in kept]
            if not targets:
                return [None] * len(sources)
        known = [_tensor_of(s) for s in sources]
        known = [k if isinstance(k, Tensor) else convert_to_tensor(k) for k in known]
        if isinstance(self._tape, _core.TapeBase) and all(t._is_eager for t in targets):
            places = [i for i, k in enumerate(known) if k._is_eager]
            answer = self._tape._gradient(targets, [known[i] for i in places], weights)
            found = [None] * len(sources)
            for i, gradient in zip(places, answer):
                found[i] = from_core(gradient)
            return found
        if self._began_in is get_default_graph():  # what was before is not remembered
            record = self._graph_record.told(self._began_in, self._variables.values())
            return gradients_within(targets, sources, weights, record)
        return gradients(targets, sources, weights)


class _GraphRecord:
    """What a tape that began in a function's graph has recorded of it: which operations were added
    meanwhile, and what was watched since when. Eager tapes remember values by themselves."""

    def __init__(self):
        self._bounds = []  # the first operation and the end, again and again
        self._watched = []

    def begin(self, graph):
        if graph.building_function:
            self._bounds.append(graph._num_operations())

    end = begin

    def watch(self, graph, tensor):
        if graph is not None and graph.building_function:
            self._watched.append((tensor, graph._num_operations()))

    def told(self, graph, variables):
        """The bounds, the tensors of the graph that are watched, and since which operation; None:
        the graph is no function's, where all counts."""
        if not graph.building_function:
            return None
        bounds = list(self._bounds)
        if len(bounds) % 2:  # it goes on
            bounds.append(graph._num_operations())
        pairs = [*self._watched, *((_tensor_of(v), 0) for v in variables)]
        known = [(graph.inside_of(tensor), since) for tensor, since in pairs]
        known = [pair for pair in known if pair[0] is not None]
        return bounds, [tensor for tensor, _ in known], [since for _, since in known]


class _Stopped:
    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        if self._tape._tape is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        self._tape._pop()

    def __exit__(self, *exc_info):
        self._tape._push()


def _value_of(value):
    if isinstance(value, (Tensor, IndexedSlices)):
        return value if isinstance(value, Tensor) else convert_to_tensor(value)
    return convert_to_tensor(value)


def _zeros_like(source):
    value = source if isinstance(source, Tensor) else convert_to_tensor(source)
    return array_ops.zeros_like(value)
