"""Forward-mode derivatives, as gradients of gradients."""

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops
from rheos.ops.differentiation.gradient_tape import GradientTape
from rheos.ops.differentiation.gradients import UnconnectedGradients


class ForwardAccumulator:
    """Products of jacobians with `tangents`, of what is computed from `primals` inside its context.

    primals, tangents: tensors or variables, or nests of them, of the same structure and shapes.
    """

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
        self._tangents = [convert_to_tensor(t) for t in nest.flatten(tangents)]
        for primal, tangent in zip(self._primals, self._tangents):
            if not primal.shape.is_compatible_with(tangent.shape):
                raise ValueError(
                    f"Expected {primal!r} and {tangent!r} to have the same shape and type"
                )
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)
        for primal in self._primals:
            self._tape.watch(primal)

    def __enter__(self):
        self._tape._push()
        return self

    def __exit__(self, *exc_info):
        if self._tape._recording:
            self._tape._pop()

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """What `primals`, values computed inside, change by if the accumulator's go by tangents."""
        found = [self._jvp(value, unconnected_gradients) for value in nest.flatten(primals)]
        return nest.pack_sequence_as(primals, found)

    def _jvp(self, value, unconnected):
        for primal, tangent in zip(self._primals, self._tangents):
            if primal is value:
                return tangent
        weights = array_ops.zeros_like(value)
        was_recording = self._tape._recording
        if was_recording:
            self._tape._pop()
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(weights)
            gradients = self._tape.gradient(value, self._primals, weights)
        if was_recording:
            self._tape._push()
        pairs = [(g, t) for g, t in zip(gradients, self._tangents) if g is not None]
        found = None
        if pairs:
            found = tape.gradient([g for g, _ in pairs], weights, [t for _, t in pairs])
        if found is None and UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO:
            return array_ops.zeros_like(value)
        return found
