"""The steps of a model as functions that a session runs: training, testing, predicting."""

from rheos.framework import nest
from rheos.framework.graph import control_dependencies, name_scope
from rheos.layers import values
from rheos.layers.layer import each_once
from rheos.models.losses import Loss
from rheos.models.shapes_of_losses import fit_weights, reduced, share_of_replica, weighted
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops


class Losses:
    """The losses and metrics of a model's outputs, with targets and weights, or None, for each."""

    def __init__(self, model, outputs, targets, weights):
        self.model = model
        self.outputs, self.targets, self.weights = outputs, targets, weights
        self.total_loss, self.parts = None, []
        self.metrics, self.updates = [], []

    def _masks(self, i):
        """(weights of the loss, weights of metrics) of an output: its weights and its mask."""
        weight = self.weights[i]
        mask = getattr(self.outputs[i], "_keras_mask", None)
        if mask is None or not values.runs_in_session():
            return weight, None  # losses and metrics of version 2 hear the mask themselves
        mask = math_ops.cast(mask, self.outputs[i].dtype)
        if weight is None:
            return mask, mask
        return fit_weights(mask, weight) * mask, mask

    def make_loss(self):
        """Adds up the losses of the outputs and those of the layers."""
        model, total = self.model, None
        with name_scope("loss"):
            for i, loss in enumerate(model._losses_of_outputs):
                if loss is None or self.targets[i] is None:
                    continue
                with name_scope(model.output_names[i] + "_loss"):
                    part = self._loss_of(i, loss)
                self.parts.append((model.output_names[i], part))
                scale = model._loss_weights[i]
                part = part if scale == 1.0 else scale * part
                total = part if total is None else total + part
            extra = self._losses_of_layers()
            if extra:
                dtype = "float32" if total is None else total.dtype
                extra = [math_ops.cast(math_ops.reduce_sum(x), dtype) for x in each_once(extra)]
                extra = math_ops.add_n(extra)
                if not values.runs_in_session():
                    extra = share_of_replica(extra)
                total = extra if total is None else total + extra
        if total is None:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        self.total_loss = total

    def _losses_of_layers(self):
        return self.model.losses

    def _loss_of(self, i, loss):
        target, output = self.targets[i], self.outputs[i]
        weight, _ = self._masks(i)
        if not isinstance(loss, Loss) or not values.runs_in_session():
            return loss(target, output, sample_weight=weight)
        losses = weighted(loss.call(target, output), weight)
        return reduced(losses, loss._reduction(), weight)

    def make_metrics(self):
        """Adds the batch to the metrics, whose results are then in `metrics`."""
        model = self.model
        if len(self.outputs) > 1:
            means = model._loss_means
            for (_, part), mean in zip(self.parts, means):
                self._add_metric(mean, (part,), None)
        self.make_own_metrics()
        for metric in model._added_metrics():
            with control_dependencies(values.operations(metric._updates)):
                self.metrics.append((metric, array_ops.identity(metric.result())))

    def make_own_metrics(self):
        """Adds the batch to the metrics that compile() was given."""
        for i, kept in enumerate(self.model._metrics_of_outputs):
            weight, mask = self._masks(i)
            for metric, is_weighted in kept:
                if self.targets[i] is not None:
                    pair = (self.targets[i], self.outputs[i])
                    self._add_metric(metric, pair, weight if is_weighted else mask)

    def _add_metric(self, metric, arguments, weight):
        known = len(metric._updates)
        kwargs = {} if weight is None else {"sample_weight": weight}
        update = metric.update_state(*arguments, **kwargs)
        del metric._updates[known:]
        self.updates += values.operations([update])
        with control_dependencies(values.operations([update])):
            self.metrics.append((metric, array_ops.identity(metric.result())))


class Step(Losses):
    """The tensors of a step, and what to run: for each output a target and weights, or None.

    Made of a model whose inputs and outputs are tensors, for targets and weights of given ranks.
    """

    def __init__(self, model, target_ranks, weight_ranks):
        self._runs = {}
        names, outputs = model.output_names, list(model.outputs)
        targets = [
            None if rank is None else _placeholder(output, rank, f"{name}_target")
            for output, rank, name in zip(outputs, target_ranks, names)
        ]
        weights = [
            None if rank is None else _placeholder(None, rank, f"{name}_sample_weights")
            for rank, name in zip(weight_ranks, names)
        ]
        super().__init__(model, outputs, targets, weights)
        self.feeds = [x for x in targets + weights if x is not None]
        if any(x is not None for x in targets) or model.losses:
            self.make_loss()
            self.make_metrics()

    def _losses_of_layers(self):
        model = self.model
        found = model.get_losses_for(model.inputs) if model.inputs else []
        return [*model.get_losses_for(None), *found]

    # -- Running

    def function(self, mode):
        """What runs a step in the current session: takes the arrays of inputs and feeds."""
        if mode == "train" and mode not in self._runs:
            self._runs["train_op"] = self._train_operations()
        session = values.get_session()
        held = self._runs.get(mode)
        if held is None or held[0] is not session:
            held = self._runs[mode] = (session, self._made(session, mode))
        return held[1]

    def _train_operations(self):
        model = self.model
        with name_scope("training"):
            params = model._collected_trainable_weights()
            updates = model.optimizer.get_updates(self.total_loss, params)
        updates += model.get_updates_for(None)
        updates += model.get_updates_for(model.inputs)
        return each_once(values.operations(updates))

    def _made(self, session, mode):
        model = self.model
        feeds = list(model.inputs)
        if mode == "predict":
            fetches, wait = list(model.outputs), model.state_updates
        else:
            feeds = feeds + self.feeds
            fetches = [self.total_loss, *(result for _, result in self.metrics)]
            wait = [*self.updates, *model._metric_updates()]
            wait += self._runs["train_op"] if mode == "train" else model.state_updates
        phase = values.symbolic_learning_phase()
        if phase is not None and phase.graph is session.graph:
            feeds = [*feeds, phase]
        else:
            phase = None
        if wait:
            fetches = [*fetches, control_flow_ops.group(*each_once(wait))]
        run = session.make_callable(fetches, feed_list=feeds)
        is_training, has_wait = mode == "train", bool(wait)

        def step(arrays):
            if phase is not None:
                arrays = [*arrays, is_training]
            results = run(*arrays)
            return results[:-1] if has_wait else results

        return step


def _placeholder(output, rank, name):
    dtype = "float32"
    if output is not None and output.dtype.base_dtype.is_floating:
        dtype = output.dtype.base_dtype
    with name_scope(None):
        return array_ops.placeholder(dtype, shape=[None] * rank, name=name)


def flat_shapes(tensors):
    """The shapes of tensors as tuples, None for those of unknown rank."""
    return [
        None if x.shape.ndims is None else tuple(x.shape.as_list()) for x in nest.flatten(tensors)
    ]
