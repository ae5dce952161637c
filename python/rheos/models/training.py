"""Compiling, fitting, evaluating and predicting."""

import numpy as np

from rheos.framework import errors, nest, replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.layers import values
from rheos.models import (
    callbacks as callbacks_module,
    data,
    losses,
    metrics,
    more_optimizers,
    optimizers,
)
from rheos.models.graph_functions import Step, flat_shapes
from rheos.models.metric import Mean, MeanMetricWrapper, Metric
from rheos.models.open_training import OpenTrainer, open_batches
from rheos.models.served_training import (
    DatasetCreator,
    WorkerBatches,
    dataset_of,
    strategy_in_use,
)
from rheos.models.shared_training import in_scope
from rheos.models.traced_functions import TracedStep, _narrow
from rheos.ops.array import array_ops


class Trainer(OpenTrainer):
    """What a model has to be trained: compile(), fit() and what goes with them."""

    def _init_training(self):
        self._strategy, self._served = replicas.several(), strategy_in_use()
        self.optimizer = None
        self.loss = None
        self.stop_training = False
        self.history = None
        self._compiled = None
        self._steps = {}
        self._losses_of_outputs = None
        self._metrics_of_outputs = None
        self._loss_means = []
        self._data_structures = None
        self._open_held = {}
        self._open_parts = None

    # -- Compiling

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        metrics=None,
        loss_weights=None,
        sample_weight_mode=None,
        weighted_metrics=None,
        target_tensors=None,
        distribute=None,
        **kwargs,
    ):
        """Says how the model is trained.

        optimizer, loss, metrics: objects, functions or names; of several outputs lists or dicts by
        the outputs' names. loss_weights: factors of the outputs' losses. weighted_metrics: metrics
        that sample weights count for.
        """
        for key in kwargs:
            if key not in _COMPILE_OPTIONS:
                raise TypeError(f"Invalid keyword argument(s) in `compile`: {{'{key}'}}")
        if target_tensors is not None:
            raise NotImplementedError("compile(target_tensors=...): pass the targets to fit()")
        if replicas.several() is not None and values.runs_in_session():
            raise NotImplementedError(
                "Keras shares steps by replicas where operations run at once (TensorFlow 2). In a "
                "graph of TensorFlow 1 train by an Estimator with `train_distribute`, or by a loop "
                "of the program's own"
            )
        self.optimizer = optimizers.get(optimizer)
        if self._scales_losses(kwargs):
            self.optimizer = more_optimizers.scaled(self.optimizer)
        self.loss = loss
        self._compiled = {
            "loss": loss,
            "metrics": metrics,
            "loss_weights": loss_weights,
            "sample_weight_mode": sample_weight_mode,
            "weighted_metrics": weighted_metrics,
        }
        self._losses_of_outputs = self._metrics_of_outputs = None
        self.sample_weight_mode, self.loss_weights = sample_weight_mode, loss_weights
        self._forget_functions()
        self._open_parts = None
        self.run_eagerly = bool(kwargs.get("run_eagerly"))
        self.jit_compile = kwargs.get("jit_compile", False)
        self.steps_per_execution = kwargs.get("steps_per_execution") or 1
        if self._ends():
            self._prepare_compiled()

    def _scales_losses(self, settings):
        """Whether it computes in half precision, where small gradients would be lost."""
        is_half = any(x._compute_dtype == "float16" for x in self._with_submodules())
        return is_half and settings.get("auto_scale_loss", True)

    _initial_epoch = None
    _seen_outputs = None  # of a model without inputs and outputs of its own, once it was called

    def _ends(self):
        """The outputs, whose number, shapes and dtypes count; None before they are known."""
        return self.outputs if self.outputs is not None else self._seen_outputs

    def _forget_functions(self):
        self._steps = {}
        self._open_held = {}

    def _assert_compiled(self):
        if self._compiled is None:
            raise RuntimeError(
                "You must compile your model before training/testing. Use `model.compile(optimizer,"
                " loss)`."
            )

    def _prepare_compiled(self):
        """Makes losses and metrics, now that the outputs are known."""
        if self._losses_of_outputs is not None or self._compiled is None:
            return
        names, settings = self.output_names, self._compiled
        given = _for_outputs(settings["loss"], names, "loss")
        self._losses_of_outputs = [_loss_object(x) for x in given]
        scales = _for_outputs(settings["loss_weights"], names, "loss_weights")
        self._loss_weights = [1.0 if x is None else x for x in scales]
        self._loss_means = []
        if len(names) > 1:
            self._loss_means = [
                Mean(name=f"{name}_loss")
                for name, loss in zip(names, self._losses_of_outputs)
                if loss is not None
            ]
        self._name_metrics()

    def _name_metrics(self):
        names, settings = self.output_names, self._compiled
        plain = _metrics_for_outputs(settings["metrics"], names)
        weighty = _metrics_for_outputs(settings["weighted_metrics"], names)
        used, self._metrics_of_outputs, self._metric_names = set(), [], []
        for i, name in enumerate(names):
            kept = []
            items = [(m, False) for m in plain[i]] + [(m, True) for m in weighty[i]]
            for item, is_weighted in items:
                metric, own_name = self._metric_object(item, i)
                if is_weighted and not isinstance(item, Metric) and values.runs_in_session():
                    own_name = f"weighted_{own_name}"
                full = f"{name}_{own_name}" if len(names) > 1 else own_name
                base, number = full, 1
                while full in used:
                    full, number = f"{base}_{number}", number + 1
                used.add(full)
                kept.append((metric, is_weighted))
                self._metric_names.append(full)
            self._metrics_of_outputs.append(kept)

    def _metric_object(self, item, i):
        if isinstance(item, Metric):
            return item, item.name
        output = self._ends()[i]
        shape = None if output.shape.ndims is None else output.shape.as_list()
        if isinstance(item, str) and item in _BY_LOSS:
            function = metrics.for_accuracy(item, shape, self._losses_of_outputs[i])
            name = _BY_LOSS[item] if values.runs_in_session() else item
            return MeanMetricWrapper(function, name=name), name
        found = metrics.get(item)
        if isinstance(found, Metric):
            is_by_name = isinstance(item, str) and not values.runs_in_session()
            return found, item if is_by_name else found.name
        if isinstance(found, losses.Loss):
            found = found.call
        name = getattr(found, "__name__", "metric")
        if isinstance(item, str) and not values.runs_in_session():
            name = item
        return MeanMetricWrapper(found, name=name), name

    def _added_metrics(self):
        known = {id(m) for m in [*self._all_metrics(), *(self._open_parts or ())]}
        return [m for m in super().metrics if id(m) not in known]

    def _all_metrics(self):
        kept = [m for pairs in self._metrics_of_outputs or () for m, _ in pairs]
        return [*self._loss_means, *kept]

    @property
    def metrics(self):
        """The metrics that training reports."""
        if self._is_open():
            return [*self._open_metrics(), *self._added_metrics()]
        return [*self._all_metrics(), *self._added_metrics()]

    def _metric_updates(self):
        return [u for m in self._added_metrics() for u in m._updates]

    @property
    def metrics_names(self):
        """The names of what training reports, the loss first."""
        if self._metrics_of_outputs is None:
            return ["loss"]
        return [
            "loss",
            *(m.name for m in self._loss_means),
            *self._metric_names,
            *(m.name for m in self._added_metrics()),
        ]

    def reset_metrics(self):
        """Forgets the batches that the metrics have seen."""
        for metric in self.metrics:
            metric.reset_state()

    def _collected_trainable_weights(self):
        return self.trainable_weights

    # -- Data

    def _ensure_ends(self, x):
        """Makes the inputs and outputs of a model that is only known by its call()."""
        if self._ends() is not None:
            return
        if not values.runs_in_session():
            self._call_once(x)
            return
        arrays = nest.map_leaves(np.asarray, _as_leaves(x))
        holders = nest.map_leaves(_holder_for, arrays)
        self.inputs = nest.flatten(holders)
        self._data_structures = holders
        with values.outermost_calls():
            outputs = self(holders)
        self.outputs = nest.flatten(outputs)
        names = sorted(holders) if isinstance(holders, dict) else None
        self.input_names = names or [f"input_{i + 1}" for i in range(len(self.inputs))]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        self._prepare_compiled()

    def _call_once(self, x):
        """Calls the model on data, so that its variables and outputs are known."""
        arrays = nest.map_leaves(lambda a: _narrow(np.asarray(a)[:1]), _as_leaves(x))
        self._data_structures = arrays
        met = {id(x) for x in (self, *self.submodules) if hasattr(x, "_built_for")}
        outputs = self(nest.map_leaves(convert_to_tensor, arrays))
        _forget_one_row(x for x in (self, *self.submodules) if id(x) not in met)
        self._seen_outputs = nest.flatten(outputs)
        leaves = nest.flatten(arrays)
        names = sorted(arrays) if isinstance(arrays, dict) else None
        self.input_names = names or [f"input_{i + 1}" for i in range(len(leaves))]
        self.output_names = [f"output_{i + 1}" for i in range(len(self._seen_outputs))]
        self._prepare_compiled()

    def _packed_inputs(self, tensors):
        """Inputs in the structure that the model's call() takes."""
        structure = self._data_structures
        if structure is None and self._is_graph_network:
            structure = self._network.input_structure
        if structure is None:
            return tensors[0] if len(tensors) == 1 else tensors
        return nest.pack_sequence_as(structure, tensors)

    def _inputs_of(self, x):
        """The arrays of the inputs, in their order, with their shapes."""
        self._ensure_ends(x)
        if isinstance(x, dict) and isinstance(self._data_structures, dict):
            arrays = [np.asarray(x[key]) for key in sorted(self._data_structures)]
        else:
            arrays = data.flat_arrays(x, self.input_names, "input")
        if self.inputs is None:
            return arrays
        return data.fit_to(arrays, flat_shapes(self.inputs), self.input_names, "input")

    def _targets_of(self, y):
        names = self.output_names
        wanted = [i for i, x in enumerate(self._losses_of_outputs or ()) if x is not None]
        if not wanted or y is None:
            if wanted:
                raise ValueError("the model has losses of its outputs: it needs targets (y)")
            return [None] * len(names)
        some = [names[i] for i in wanted]
        is_all = isinstance(y, (list, tuple)) and len(y) == len(names)
        arrays = data.flat_arrays(y, names if is_all else some, "target")
        result = [None] * len(names)
        for i, array in zip(range(len(names)) if is_all else wanted, arrays):
            if i in wanted:
                result[i] = self._target(i, array)
        return result

    def _target(self, i, array):
        output = self._ends()[i].shape
        if np.ndim(array) == 1 and (output.ndims is None or output.ndims >= 2):
            array = np.expand_dims(array, -1)
        loss = self._losses_of_outputs[i]
        function = getattr(loss, "fn", None)
        found = np.shape(array)
        if function in _SAME_SHAPE and output.ndims == len(found):
            for size, wanted in zip(found[1:], output.as_list()[1:]):
                if wanted is not None and size != wanted:
                    raise ValueError(
                        f"A target array with shape {found} was passed for an output of shape "
                        f"{tuple(output.as_list())} while using as loss `{function.__name__}`. "
                        "This loss expects targets to have the same shape as the output."
                    )
        return array

    def _weights_of(self, weights, targets, class_weight):
        names = self.output_names
        given = [None] * len(names)
        if weights is not None:
            given = data.flat_arrays(weights, names, "sample weight")
        by_output = class_weight
        if class_weight is not None and not (
            isinstance(class_weight, dict) and set(class_weight) <= set(names)
        ):
            by_output = {names[0]: class_weight}
        for i, name in enumerate(names):
            classes = (by_output or {}).get(name) if isinstance(by_output, dict) else None
            if classes is not None and targets[i] is not None:
                more = data.class_weights(targets[i], classes)
                given[i] = more if given[i] is None else given[i] * more
        return given

    def _arrays_of(self, x, y=None, sample_weight=None, class_weight=None):
        inputs = self._inputs_of(x)
        if self._compiled is None:
            return inputs, [None] * len(self._ends()), [None] * len(self._ends())
        self._prepare_compiled()
        targets = self._targets_of(y)
        return inputs, targets, self._weights_of(sample_weight, targets, class_weight)

    def _batches(self, x, y, sample_weight, batch_size, shuffle, steps, class_weight=None, **flags):
        """The Batches of what fit() or its like was given."""
        if isinstance(x, DatasetCreator):
            if self._served is not None:
                return WorkerBatches(self, x, steps)
            x = dataset_of(x, self._strategy)
        if self._is_open(x):
            parts = (x, y, sample_weight, batch_size, shuffle, steps, class_weight)
            return open_batches(self, *parts)
        if not values.runs_in_session():
            x, y, sample_weight = (_as_arrays(part) for part in (x, y, sample_weight))
        if data.is_stream(x) or values.is_tensor(x):
            if y is not None or sample_weight is not None:
                if not values.is_tensor(x):
                    raise ValueError(
                        "`y` argument is not supported when using a dataset, generator or "
                        "`keras.utils.Sequence` as input."
                    )
            return self._stream(x, y, sample_weight, steps, shuffle, class_weight, flags)
        if flags.get("for_prediction"):
            arrays = (self._inputs_of(x), [None], [None])
        else:
            arrays = self._arrays_of(x, y, sample_weight, class_weight)
        return data.ArrayBatches(self, *arrays, batch_size, shuffle, steps)

    def _stream(self, x, y, sample_weight, steps, shuffle, class_weight, flags):
        for_prediction = flags.get("for_prediction")

        def standardize(item):
            parts = data.split_item(item)
            if for_prediction:
                arrays = (self._inputs_of(parts[0]), [None], [None])
            else:
                arrays = self._arrays_of(*parts, class_weight=class_weight)
            return (*arrays, len(arrays[0][0]))

        if values.is_tensor(x):
            given = tuple(v for v in (x, y, sample_weight) if v is not None)
            if steps is None:
                raise ValueError(
                    "When using data tensors as input to a model, you should specify the "
                    "`steps_per_epoch` argument."
                )
            return data.StreamBatches(self, lambda: _fetched(given), steps, False, standardize)
        if data.is_sequence_of_batches(x):
            start = data.SequenceStart(x, shuffle is True)
            return data.StreamBatches(self, start, steps or len(x), True, standardize)
        if data.is_dataset(x):
            size = data.size_of_dataset(x) if steps is None else None
            start, restarts = lambda: _elements(x), steps is None
            return data.StreamBatches(self, start, steps, restarts, standardize, size)
        return data.StreamBatches(self, lambda: x, steps, False, standardize)

    # -- Steps

    def _step(self, targets, weights):
        key = (
            tuple(None if t is None else np.ndim(t) for t in targets),
            tuple(None if w is None else np.ndim(w) for w in weights),
        )
        found = self._steps.get(key)
        if found is None and not values.runs_in_session():
            has = [[rank is not None for rank in ranks] for ranks in key]
            found = self._steps[key] = TracedStep(self, *has)
            self._build_for_steps()
        elif found is None:
            with self.outputs[0].graph.as_default(), values.outermost_calls():
                found = self._steps[key] = Step(self, *key)
        return found

    def _build_for_steps(self):
        """Makes the variables that functions must not make when they are traced."""
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_weights)

    def _run_step(self, mode, batch):
        arrays = batch[0] if mode == "predict" else _arrays_of(batch)
        return self._step_function(mode, batch)(arrays)

    def _step_function(self, mode, batch):
        """What runs a step on batches of such targets and weights: takes the arrays."""
        step = self._predict_step() if mode == "predict" else self._step(*batch[1:3])
        if not values.runs_in_session():
            return step.function(mode)
        with self.outputs[0].graph.as_default():
            return step.function(mode)

    def _predict_step(self):
        found = self._steps.get("predict")
        if found is None:
            kind = PredictStep if values.runs_in_session() else _traced_prediction
            found = self._steps["predict"] = kind(self)
        return found

    @in_scope
    def train_on_batch(
        self,
        x,
        y=None,
        sample_weight=None,
        class_weight=None,
        reset_metrics=True,
        return_dict=False,
    ):
        """One step on a batch; returns the loss, or a list (a dict) of it and the metrics."""
        more = (class_weight, reset_metrics, return_dict)
        return self._on_batch("train", x, y, sample_weight, *more)

    @in_scope
    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False):
        """The loss of a batch, or a list (a dict) of it and the metrics."""
        return self._on_batch("test", x, y, sample_weight, None, reset_metrics, return_dict)

    def _on_batch(self, mode, x, y, sample_weight, class_weight, reset_metrics, return_dict):
        self._assert_compiled()
        if self._is_open(x):
            batches = open_batches(self, x, y, sample_weight, len(nest.flatten(x)[0]), False, 1,
                                   class_weight)  # fmt: skip
            return self._open_on_batch(mode, next(iter(batches)), return_dict)
        if not values.runs_in_session():
            x, y, sample_weight = (_as_arrays(part) for part in (x, y, sample_weight))
        batch = self._arrays_of(x, y, sample_weight, class_weight)
        if reset_metrics:
            self.reset_metrics()
        results = self._run_step(mode, batch)
        if return_dict:
            return _logs(self.metrics_names, results)
        return results[0] if len(results) == 1 else list(results)

    @in_scope
    def predict_on_batch(self, x):
        """The outputs for a batch."""
        x = x if values.runs_in_session() else _as_arrays(x)
        results = self._run_step("predict", (self._inputs_of(x), None, None))
        return results[0] if len(results) == 1 else list(results)

    def _make_predict_function(self):
        """Nothing to make beforehand: the function is made when it is first used."""

    # -- Epochs

    @in_scope
    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose=1,
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=1,
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
        **kwargs,
    ):
        """Trains the model for some epochs; returns the History of loss and metrics.

        x: arrays (one, a list, a dict by names), a generator or Sequence of batches, a dataset.
        """
        if "nb_epoch" in kwargs:
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._assert_compiled()
        if x is None:
            raise ValueError("fit() needs data: `x` is None")
        if validation_split and 0.0 < validation_split < 1.0 and validation_data is None:
            x, y, sample_weight, validation_data = self._split(
                x, y, sample_weight, validation_split
            )
        batches = self._batches(
            x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight
        )
        held_out = None
        if validation_data is not None:
            held_out = self._validation(
                validation_data, validation_batch_size or batch_size, validation_steps
            )
        self._ensure_built_for(batches)
        calls = callbacks_module.configure(
            callbacks, self, verbose=verbose, epochs=epochs, batches=batches, held_out=held_out
        )
        return self._fit(batches, held_out, calls, initial_epoch, epochs, validation_freq)

    def _split(self, x, y, sample_weight, share):
        if data.is_stream(x) or values.is_tensor(x):
            raise ValueError(
                "`validation_split` argument is not supported when data adapters are used: "
                f"validation_split={share}"
            )
        flat = [x, y, sample_weight]
        parts = [None if p is None else nest.map_leaves(np.asarray, _as_leaves(p)) for p in flat]
        leaves = [leaf for p in parts if p is not None for leaf in nest.flatten(p)]
        first, last = data.split_last(leaves, share)
        train, test = [], []
        for p in parts:
            count = 0 if p is None else len(nest.flatten(p))
            train.append(None if p is None else nest.pack_sequence_as(p, first[:count]))
            test.append(None if p is None else nest.pack_sequence_as(p, last[:count]))
            first, last = first[count:], last[count:]
        return (*train, tuple(test))

    def _validation(self, validation_data, batch_size, steps):
        if data.is_stream(validation_data) or isinstance(validation_data, DatasetCreator):
            return self._batches(validation_data, None, None, batch_size, False, steps)
        if not isinstance(validation_data, (tuple, list)) or len(validation_data) not in (2, 3):
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items "
                "(x_val, y_val), or 3 items (x_val, y_val, val_sample_weights), or alternatively "
                f"it could be a dataset or a generator. However we received {validation_data!r}"
            )
        x, y, weights = (*validation_data, None)[:3]
        # TensorFlow 1 shuffles these too, which takes random numbers from those of the next epoch.
        return self._batches(x, y, weights, batch_size, values.runs_in_session(), steps)

    def _ensure_built_for(self, batches):
        """Makes losses, metrics and variables before callbacks look at them."""
        if isinstance(batches, data.ArrayBatches) and not batches.is_open:
            self._step(*(part for part in batches.arrays[1:]))

    def _fit(self, batches, held_out, calls, initial_epoch, epochs, validation_freq):
        self.stop_training = False
        self._initial_epoch = None
        calls.on_train_begin()
        initial_epoch = max(initial_epoch, self._initial_epoch or 0)  # a callback may go on
        for epoch in range(initial_epoch, epochs):
            calls.on_epoch_begin(epoch)
            logs = self._epoch("train", batches, calls)
            if held_out is not None and _is_due(epoch, validation_freq):
                found = self._epoch("test", held_out, calls)
                logs.update({f"val_{key}": value for key, value in found.items()})
            calls.on_epoch_end(epoch, logs)
            batches.finish_epoch()
            if self.stop_training:
                break
        if getattr(self.optimizer, "use_ema", False):
            self.optimizer.finalize_variable_values(self.trainable_weights)
        calls.on_train_end()
        return self.history

    def _epoch(self, mode, batches, calls):
        """Goes through the batches once; returns the names and values of loss and metrics."""
        if batches.is_open:
            return self._open_epoch(mode, batches, calls)
        self.reset_metrics()
        total, weight, results, names, run = 0.0, 0, (), None, None
        has_begin, has_end = calls.listens(mode, "begin"), calls.listens(mode, "end")
        calls.begin(mode)
        for i, batch in enumerate(batches):
            if has_begin:
                calls.batch_begin(mode, i, callbacks_module.batch_logs(i, batch[3]))
            if run is None or i == 1 or not batches.is_uniform:
                run = self._step_function(mode, batch)
                names = self.metrics_names
            results = run(_arrays_of(batch))
            size = batch[3] if batches.is_weighted_by_size else 1
            total += float(results[0]) * size
            weight += size
            if has_end:
                more = callbacks_module.batch_logs(i, batch[3])
                logs = {**more, **_logs(names, results)}
                calls.batch_end(mode, i, logs)
            if self.stop_training and mode == "train":
                break
        calls.end(mode)
        if weight == 0:
            raise ValueError("there was no batch: the data are empty, or used up")
        names = self.metrics_names
        found = [total / weight, *results[1:]]
        if not values.runs_in_session():
            found = [float(x) if np.ndim(x) == 0 else x for x in found]
        return _logs(names, found)

    @in_scope
    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose=1,
        sample_weight=None,
        steps=None,
        callbacks=None,
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
        return_dict=False,
    ):
        """The loss and the metrics for data: a number, or a list (a dict, if `return_dict`)."""
        self._assert_compiled()
        batches = self._batches(x, y, sample_weight, batch_size, False, steps)
        calls = callbacks_module.configure(
            callbacks, self, verbose=verbose, epochs=1, batches=batches, mode="test"
        )
        logs = self._epoch("test", batches, calls)
        calls.finish("test", logs)
        if return_dict:
            return logs
        if batches.is_open:
            found = self._in_order(logs)
        else:
            found = [logs[name] for name in self.metrics_names]
        return found[0] if len(found) == 1 else found

    @in_scope
    def predict(
        self,
        x,
        batch_size=None,
        verbose="auto",
        steps=None,
        callbacks=None,
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
    ):
        """The outputs for data: an array, or a list of them."""
        if verbose == "auto":
            verbose = 0 if values.runs_in_session() else 1
        batches = self._batches(x, None, None, batch_size, False, steps, for_prediction=True)
        calls = callbacks_module.configure(
            callbacks, self, verbose=verbose, epochs=1, batches=batches, mode="predict"
        )
        if batches.is_open:
            return self._open_predict(batches, calls)
        calls.begin("predict")
        parts = []
        for i, batch in enumerate(batches):
            calls.batch_begin("predict", i, callbacks_module.batch_logs(i, batch[3]))
            parts.append(self._run_step("predict", batch))
            logs = {**callbacks_module.batch_logs(i, batch[3]), "outputs": parts[-1]}
            calls.batch_end("predict", i, logs)
        calls.end("predict")
        calls.finish("predict", {})
        if not parts:
            raise ValueError("there was no batch: the data are empty, or used up")
        outputs = [np.concatenate(column) for column in zip(*parts)]
        if self._is_graph_network and isinstance(self._network.output_structure, dict):
            return nest.pack_sequence_as(self._network.output_structure, outputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def fit_generator(
        self,
        generator,
        steps_per_epoch=None,
        epochs=1,
        verbose=1,
        callbacks=None,
        validation_data=None,
        validation_steps=None,
        validation_freq=1,
        class_weight=None,
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
        shuffle=True,
        initial_epoch=0,
    ):
        """fit() of a generator or Sequence."""
        return self.fit(
            generator,
            steps_per_epoch=steps_per_epoch,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            class_weight=class_weight,
            shuffle=shuffle,
            initial_epoch=initial_epoch,
        )

    def evaluate_generator(self, generator, steps=None, callbacks=None, verbose=0, **kwargs):
        """evaluate() of a generator or Sequence."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(self, generator, steps=None, callbacks=None, verbose=0, **kwargs):
        """predict() of a generator or Sequence."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)


class PredictStep(Step):
    """A step that only predicts: it needs neither targets nor losses."""

    def __init__(self, model):
        self.model = model
        self._runs = {}
        self.feeds, self.metrics, self.updates = [], [], []


def _arrays_of(batch):
    """The arrays of inputs, targets and weights that there are."""
    inputs, targets, weights = batch[:3]
    return [*inputs, *(a for part in (targets, weights) for a in part if a is not None)]


def _traced_prediction(model):
    return TracedStep(model, [], [])


_COMPILE_OPTIONS = ("run_eagerly", "experimental_run_tf_function", "jit_compile",
                    "steps_per_execution", "auto_scale_loss")  # fmt: skip
_BY_LOSS = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}
_SAME_SHAPE = (
    losses.mean_squared_error,
    losses.binary_crossentropy,
    losses.categorical_crossentropy,
)


def _loss_object(item):
    if item is None or isinstance(item, losses.Loss):
        return item
    found = losses.get(item)
    if isinstance(found, losses.Loss):
        return found
    if not callable(found):
        raise ValueError(f"a loss is a function or an object of losses, not {item!r}")
    name = getattr(found, "__name__", type(found).__name__)
    return losses.LossFunctionWrapper(found, name=name)


def _for_outputs(given, names, what):
    """A setting for each output: one for all, a list, or a dict by their names."""
    if isinstance(given, dict) and "class_name" not in given:
        unknown = [key for key in given if key not in names]
        if unknown:
            raise ValueError(
                f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: "
                f"{names}"
            )
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(
                f"When passing a list as {what}, it should have one entry per model output. The "
                f"model has {len(names)} outputs, but you passed {what}={given}"
            )
        return list(given)
    return [given] * len(names)


def _metrics_for_outputs(given, names):
    """The lists of metrics of each output."""
    if not given:
        return [[] for _ in names]
    if isinstance(given, dict):
        unknown = [key for key in given if key not in names]
        if unknown:
            raise ValueError(
                f"Unknown entries in metrics dictionary: {unknown}. Only expected following keys: "
                f"{names}"
            )
        found = [given.get(name) or [] for name in names]
        return [x if isinstance(x, (list, tuple)) else [x] for x in found]
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            "Type of `metrics` argument not understood. Expected a list or dictionary, found: "
            f"{given}"
        )
    if any(isinstance(x, (list, tuple)) for x in given):
        if len(given) != len(names):
            raise ValueError(
                "When passing a list of lists as `metrics`, it should have one entry per model "
                f"output. The model has {len(names)} outputs, but you passed metrics={given}"
            )
        return [list(x) if isinstance(x, (list, tuple)) else [x] for x in given]
    if len(names) == 1:
        return [list(given)]
    cloned = []
    for _ in names:
        cloned.append([metrics.clone(m) if isinstance(m, Metric) else m for m in given])
    return cloned


def _as_leaves(x):
    """Data as a structure of arrays: a list of numbers is an array."""
    if isinstance(x, (list, tuple)) and x and not hasattr(x[0], "shape"):
        return np.asarray(x)
    return list(x) if isinstance(x, tuple) else x


def _forget_one_row(layers):
    """Has layers that one row was shown to say that they take any number of rows."""
    for layer in layers:
        shapes = getattr(layer, "_built_for", None)
        if shapes is not None:
            layer._built_for = nest.map_leaves(_of_any_rows, shapes)


def _of_any_rows(shape):
    dims = as_shape(shape).as_list() if as_shape(shape).rank else []
    return TensorShape([None, *dims[1:]]) if dims and dims[0] == 1 else shape


def _holder_for(array):
    shape = [None, *np.shape(array)[1:]]
    if len(shape) == 1:
        shape = [None, 1]
    dtype = "float32" if np.asarray(array).dtype.kind == "f" else np.asarray(array).dtype
    return array_ops.placeholder(dtype, shape=shape)


def _as_arrays(part):
    """Data with arrays for tensors that have values."""
    if part is None or data.is_stream(part):
        return part
    if values.is_tensor(part):
        return part.numpy()
    if isinstance(part, dict):
        return {key: _as_arrays(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)) and any(values.is_tensor(x) for x in part):
        return type(part)(_as_arrays(x) for x in part)
    return part


def _is_due(epoch, frequency):
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _fetched(tensors):
    """The values of tensors, again and again."""
    while True:
        yield tuple(values.get_session().run(list(tensors)))


def _elements(dataset):
    """The elements of a dataset, by an iterator of its own in the session."""
    if not values.runs_in_session():
        yield from dataset
        return
    session = values.get_session()
    iterator, element = values.iterator_of(dataset)
    session.run(iterator.initializer)
    run = session.make_callable(nest.flatten(element))
    while True:
        try:
            found = run()
        except errors.OutOfRangeError:
            return
        yield nest.pack_sequence_as(element, found)


def _logs(names, results):
    """Results by their names: in TensorFlow 2 sorted by these."""
    pairs = list(zip(names, results))
    return dict(pairs if values.runs_in_session() else sorted(pairs, key=lambda pair: pair[0]))
