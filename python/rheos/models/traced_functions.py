"""The steps of a model as functions that are traced: see graph_functions.py."""

import numpy as np

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.models.graph_functions import Losses
from rheos.ops.differentiation import gradients
from rheos.tracing.function import function as traced


class TracedStep:
    """A step of a model: takes the arrays of inputs, targets and weights, gives loss and metrics.

    has_targets, has_weights: for each output whether there are any.
    """

    def __init__(self, model, has_targets, has_weights):
        self.model = model
        self._has_targets, self._has_weights = has_targets, has_weights
        self._functions = {}

    def function(self, mode):
        """What runs a step: takes the arrays."""

        def step(arrays):
            arrays = [_narrow(a) for a in arrays]
            results = self._traced(mode, arrays)(*[convert_to_tensor(a) for a in arrays])
            return [r.numpy() for r in results]

        return step

    def _traced(self, mode, arrays):
        """The function for arrays of these ranks; the number of rows may change."""
        kind = (mode, *((a.dtype, a.shape[1:]) for a in arrays))
        found = self._functions.get(kind)
        if found is None:
            specs = [TensorSpec([None, *a.shape[1:]], a.dtype) for a in arrays]
            run = lambda *tensors: self._run(mode, list(tensors))  # noqa: E731
            found = self._functions[kind] = traced(run, input_signature=specs, autograph=False)
        return found

    def _run(self, mode, tensors):
        model = self.model
        count = len(tensors) - sum(self._has_targets) - sum(self._has_weights)
        inputs, rest = model._packed_inputs(tensors[:count]), iter(tensors[count:])
        if mode == "predict":
            return nest.flatten(model(inputs, training=False))
        targets = [next(rest) if has else None for has in self._has_targets]
        weights = [next(rest) if has else None for has in self._has_weights]
        if mode == "test":
            found = self._losses(inputs, targets, weights, False)
        else:
            params = model.trainable_weights
            found = self._losses(inputs, targets, weights, True)
            if params:  # without any there is nothing to train, but losses to report
                loss = model.optimizer.scale_loss(found.total_loss)
                grads = gradients.gradients(loss, params)
                model.optimizer.apply_gradients(list(zip(grads, params)))
        found.make_metrics()
        return [found.total_loss, *(result for _, result in found.metrics)]

    def _losses(self, inputs, targets, weights, training):
        model = self.model
        outputs = nest.flatten(model(inputs, training=training))
        found = Losses(model, outputs, targets, weights)
        found.make_loss()
        return found


def _narrow(array):
    """An array in the dtypes of models: floating point numbers of 32 bits."""
    array = np.asarray(array)
    return array.astype("float32") if array.dtype == np.float64 else array
