"""Training by steps that a program may replace: train_step(), test_step(), predict_step() and what
they call. Data go through as they are, in the structure that the program gives them.

Models whose steps are nobody's own train by TracedStep instead, whose arrays need no structure.
"""

import numpy as np

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.layers import values
from rheos.models import data, served_training, shared_training
from rheos.models.data import Batches
from rheos.models.graph_functions import Losses
from rheos.models.metric import Mean, Metric
from rheos.models.shapes_of_losses import without_share
from rheos.ops.array import array_ops
from rheos.ops.differentiation.gradient_tape import GradientTape
from rheos.replication.input import DistributedDataset
from rheos.tracing.function import function as traced, functions_run_eagerly

_STEPS = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """The data of a step: x itself, or a tuple with what there is."""
    if y is None:
        return (x,) if isinstance(x, (list, tuple, dict)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack_x_y_sample_weight(data):
    """(x, y, sample_weight) of the data of a step, None for what is not there."""
    data = tuple(data) if isinstance(data, list) else data
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) > 3:
        raise ValueError(
            "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
            f"found: {data}"
        )
    return (*data, None, None)[:3]


class CompiledMetrics(Metric):
    """The metrics that compile() was given, as one among the model's."""

    def __init__(self, model):
        super().__init__(name="compile_metrics")
        self.__dict__["_model"] = model

    _UNTRACKED = Metric._UNTRACKED | {"_model"}

    def update_state(self, y, y_pred, sample_weight=None):
        """Adds a batch to all of them."""
        model = self._model
        step = model._losses_of(y, y_pred, sample_weight)
        step.parts = []
        step.make_own_metrics()

    def result(self):
        """{name: value so far}."""
        model = self._model
        kept = [m for pairs in model._metrics_of_outputs or () for m, _ in pairs]
        return {name: m.result() for name, m in zip(model._metric_names, kept)}

    @property
    def variables(self):
        """Those of the metrics."""
        return [v for m in self._model._all_metrics() for v in m.variables]

    def reset_state(self):
        """Forgets all batches."""
        for metric in self._model._all_metrics():
            metric.reset_state()


class OpenTrainer:
    """The steps of a model, for programs to replace or to call."""

    run_eagerly = False
    jit_compile = False
    steps_per_execution = 1
    _open_functions = None
    _strategy = None  # whose replicas share the steps
    _served = None  # whose workers make them: a ParameterServerStrategy

    def _is_open(self, x=None):
        """Whether the program has steps of its own, or wants to see each operation."""
        if values.runs_in_session():
            return False
        if self._strategy is not None or self._served is not None:
            return True
        kind = type(self)
        if any(getattr(kind, name) is not getattr(OpenTrainer, name) for name in _STEPS):
            return True
        if self.run_eagerly or functions_run_eagerly():
            return True
        return _is_composite(x) or data.is_dataset(x) and _is_composite_spec(x)

    def _open_metrics(self):
        """The loss's mean and those of compile(), then others that layers and attributes are."""
        if self._compiled is None:
            return []
        held = self.__dict__.get("_open_parts")
        if held is None:
            held = self.__dict__["_open_parts"] = [Mean(name="loss")]
            settings = self._compiled
            if settings["metrics"] or settings["weighted_metrics"]:
                held.append(CompiledMetrics(self))
        return [*held, *self._loss_means]

    @property
    def _loss_tracker(self):
        return self._open_metrics()[0]

    # -- Steps

    def train_step(self, data):
        """One step on a batch (x, y, sample_weight): returns the logs."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self._called_loss(x, y, y_pred, sample_weight, True)
            scaled = self.optimizer.scale_loss(loss)
        self._loss_tracker.update_state(without_share(loss), sample_weight=_rows_of(x))
        variables = self.trainable_weights
        if variables:
            self.optimizer.apply_gradients(list(zip(tape.gradient(scaled, variables), variables)))
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data):
        """The loss and metrics of a batch: returns the logs."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)
        loss = self._called_loss(x, y, y_pred, sample_weight, False)
        self._loss_tracker.update_state(without_share(loss), sample_weight=_rows_of(x))
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data):
        """The outputs for a batch."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self(x, training=False)

    def _called_loss(self, x, y, y_pred, sample_weight, training):
        kwargs = {"x": x, "y": y, "y_pred": y_pred, "sample_weight": sample_weight}
        code = getattr(type(self).compute_loss, "__code__", None)
        if code is None or "training" in code.co_varnames or code.co_flags & 0x08:
            kwargs["training"] = training
        return self.compute_loss(**kwargs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of a batch that was compiled, and those of the layers."""
        step = self._losses_of(y, y_pred, sample_weight)
        has_any = any(t is not None for t in step.targets) or self.losses
        if not has_any and any(x is not None for x in self._losses_of_outputs or ()):
            raise ValueError("the model has losses of its outputs: it needs targets (y)")
        if not has_any:
            return array_ops.zeros([])
        step.make_loss()
        for (_, part), mean in zip(step.parts, self._loss_means):
            mean.update_state(without_share(part), sample_weight=_rows_of(y_pred))
        return step.total_loss

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Adds a batch to the metrics of compile(); returns all results."""
        if y is not None:
            for metric in self._open_metrics():
                if isinstance(metric, CompiledMetrics):
                    metric.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self):
        """{name: value so far} of all metrics."""
        found = {}
        for metric in self.metrics:
            result = metric.result()
            found.update(result if isinstance(result, dict) else {metric.name: result})
        return found

    def _losses_of(self, y, y_pred, sample_weight):
        """Losses of what a step has, with losses and metrics made for such outputs."""
        outputs = nest.flatten(y_pred)
        if self._compiled is None:
            self._assert_compiled()
        if self._losses_of_outputs is None:
            if self.outputs is None:
                self._seen_outputs = [_spec_of(x) for x in outputs]
                self.output_names = _names_of(y_pred)
            self._prepare_compiled()
        names = self.output_names
        targets = _spread(y, y_pred, names)
        targets = [_fitted(t, x, loss) for t, x, loss in
                   zip(targets, outputs, self._losses_of_outputs)]  # fmt: skip
        return Losses(self, outputs, targets, _spread(sample_weight, y_pred, names))

    # -- Running

    def _open_function(self, mode):
        held = self.__dict__.setdefault("_open_held", {})
        if mode not in held:
            step = getattr(self, f"{mode}_step")
            if self._strategy is not None:
                step = shared_training.shared(self._strategy, step, mode)
            if self.run_eagerly or functions_run_eagerly():
                held[mode] = step
            else:
                held[mode] = traced(step, reduce_retracing=True)
        return held[mode]

    def _open_epoch(self, mode, batches, calls):
        """Goes through the batches once; returns the logs of the last one, as numbers."""
        self.reset_metrics()
        step, logs, count = self._steps_of(mode, batches), None, 0
        has_end = calls.listens(mode, "end")
        calls.begin(mode)
        for i, item in enumerate(batches):
            calls.batch_begin(mode, i, {})
            logs = step(self._shared(item, batches))
            count += 1
            if has_end:
                calls.batch_end(mode, i, {} if self._served is not None else _numbers(logs))
            if self.stop_training and mode == "train":
                break
        if self._served is not None:
            step.join()
            logs = logs and logs.get()
        calls.end(mode)
        if not count:
            raise ValueError("there was no batch: the data are empty, or used up")
        return _numbers(self._of_all_replicas(logs))

    def _steps_of(self, mode, batches):
        """What makes a step of an item: at once, or on a worker, with a RemoteValue."""
        step = self._open_function(mode)
        if self._served is None:
            return step
        kept = self.__dict__.setdefault("_served_steps", {})
        key = mode, type(batches)
        if key not in kept or kept[key][0] is not step:
            own = getattr(self, f"{mode}_step")  # traced once, with what gives the batch
            kept[key] = step, served_training.Steps(self, own, batches)
        return kept[key][1]

    def _shared(self, item, batches=None):
        """A batch as the replicas share it; makes the variables, where it is the first."""
        if self._strategy is None:
            return item
        is_shared = batches is not None and batches.is_shared
        if self._ends() is None:
            x = shared_training.of_first_replica(unpack_x_y_sample_weight(item)[0])
            self._call_once(x)
        return item if is_shared else shared_training.batch_of(self._strategy, item)

    def _of_all_replicas(self, logs):
        """Logs of a step with what the metrics have of all replicas."""
        if self._strategy is None and self._served is None or not isinstance(logs, dict):
            return logs
        found = self.get_metrics_result()
        return found if found.keys() == logs.keys() else logs

    def _open_predict(self, batches, calls):
        step, parts = self._steps_of("predict", batches), []
        calls.begin("predict")
        for i, item in enumerate(batches):
            calls.batch_begin("predict", i, {})
            parts.append(step(self._shared(item, batches)))
            calls.batch_end("predict", i, {} if self._served is not None else
                            {"outputs": parts[-1]})  # fmt: skip
        if self._served is not None:
            step.join()
            parts = [value.get() for value in parts]
        calls.end("predict")
        calls.finish("predict", {})
        if not parts:
            raise ValueError("there was no batch: the data are empty, or used up")
        columns = zip(*(nest.flatten(p) for p in parts))
        whole = [np.concatenate([x.numpy() for x in column]) for column in columns]
        return nest.pack_sequence_as(parts[0], whole)

    def _in_order(self, logs):
        """The values of logs, in the order of the metrics."""
        names = []
        for metric in self.metrics:
            is_several = isinstance(metric, CompiledMetrics)
            names += self._metric_names if is_several else [metric.name]
        rest = [name for name in logs if name not in names]
        return [logs[name] for name in (*names, *rest) if name in logs]

    def _open_on_batch(self, mode, item, return_dict):
        self.reset_metrics()
        logs = _numbers(self._open_function(mode)(self._shared(item)))
        if return_dict:
            return logs
        found = self._in_order(logs)
        return found[0] if len(found) == 1 else found


def _rows_of(x):
    leaves = nest.flatten(x)
    return array_ops.shape(leaves[0])[0] if leaves and leaves[0].shape.ndims != 0 else 1


def _numbers(logs):
    """Logs as numbers by name; those of dicts in them too."""
    if logs is None:
        return {}
    if not isinstance(logs, dict):
        raise RuntimeError(f"a step returns a dict of logs, not {logs!r}")
    found = {}
    for key in sorted(logs):
        value = logs[key]
        if isinstance(value, dict):
            found.update(_numbers(value))
        else:
            value = value.numpy() if hasattr(value, "numpy") else value
            found[key] = float(value) if np.ndim(value) == 0 else np.asarray(value)
    return found


def _spec_of(x):
    return TensorSpec(x.shape, x.dtype)


def _names_of(y_pred):
    if isinstance(y_pred, dict):
        return sorted(y_pred)
    return [f"output_{i + 1}" for i in range(len(nest.flatten(y_pred)))]


def _spread(given, y_pred, names):
    """A part of the data for each output, None where there is none."""
    if given is None:
        return [None] * len(names)
    if isinstance(given, dict):
        keys = sorted(y_pred) if isinstance(y_pred, dict) else names
        return [given.get(key, given.get(name)) for key, name in zip(keys, names)]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(
                f"the model has {len(names)} outputs {names}, but the data have {len(given)} parts"
            )
        return list(given)
    return [given, *[None] * (len(names) - 1)] if len(names) > 1 else [given]


def _fitted(target, output, loss):
    """A target as a column where the output is one."""
    if target is None or loss is None:
        return None
    target = convert_to_tensor(target)
    if target.shape.ndims == 1 and output.shape.ndims == 2:
        return array_ops.expand_dims(target, -1)
    return target


# ---- Batches


def _is_composite(x):
    return hasattr(type(x), "_parts") and hasattr(x, "dtype") and not hasattr(x, "element_spec")


def _is_composite_spec(dataset):
    spec = getattr(dataset, "element_spec", None)
    return any(not hasattr(s, "is_compatible_with") or not hasattr(s, "shape")
               or "Ragged" in type(s).__name__ or "Sparse" in type(s).__name__
               for s in nest.flatten(spec))  # fmt: skip


def _narrow(array):
    array = np.asarray(array)
    return array.astype("float32") if array.dtype == np.float64 else array


def _leaf(x):
    """A part of the data as an array; tensors, tables of pandas and lists of numbers too."""
    if hasattr(x, "values") and hasattr(x, "iloc"):
        x = x.values
    return _narrow(x.numpy() if hasattr(x, "numpy") else x)


def _arrays(structure):
    """A structure of arrays: a list of numbers, or of lists of numbers, is one array."""
    if isinstance(structure, dict):
        return {k: _arrays(v) for k, v in structure.items()}
    if isinstance(structure, (list, tuple)) and structure and hasattr(structure[0], "shape"):
        return type(structure)(_leaf(x) for x in structure)
    return _leaf(structure)


class OpenArrayBatches(Batches):
    """Batches of arrays in their structure, in a new order each epoch if `shuffle`."""

    is_open, is_shared = True, False

    def __init__(self, model, parts, batch_size, shuffle, steps=None):
        super().__init__(model)
        self._item = pack_x_y_sample_weight(*(None if p is None else _arrays(p) for p in parts))
        leaves = nest.flatten(self._item)
        lengths = {len(a) for a in leaves}
        if len(lengths) > 1:
            raise ValueError(
                "Data cardinality is ambiguous. Make sure all arrays contain the same number of "
                f"samples: {sorted(lengths)}"
            )
        self.num_samples = lengths.pop()
        if steps is not None and batch_size is None:
            batch_size = -(-self.num_samples // steps)
        self._plain = data.ArrayBatches(model, leaves, [], [], batch_size, shuffle, steps)
        self.num_batches, self.batch_size = self._plain.num_batches, self._plain.batch_size

    def __iter__(self):
        for leaves, *_ in self._plain:
            tensors = [convert_to_tensor(a) for a in leaves]
            yield nest.pack_sequence_as(self._item, tensors)


class OpenStreamBatches(data.StreamBatches):
    """Batches that something else makes, as it gives them."""

    is_open = True
    is_shared = False  # whether it gives the parts of this process's replicas


def _with_class_weights(item, class_weight):
    x, y, weights = unpack_x_y_sample_weight(item)
    more = data.class_weights(y.numpy() if hasattr(y, "numpy") else y, class_weight)
    more = convert_to_tensor(more.astype("float32"))
    return x, y, more if weights is None else weights * more


def _as_tensors(item):
    """What a generator gives, with tensors for arrays."""
    return nest.map_leaves(
        lambda a: a if a is None or values.is_tensor(a) else convert_to_tensor(_narrow(a)), item
    )


def open_batches(model, x, y, sample_weight, batch_size, shuffle, steps, class_weight):
    """The batches of what fit() or its like was given, for open steps."""
    if not data.is_stream(x):
        if class_weight is not None:
            more = data.class_weights(np.asarray(_leaf(y)), class_weight).astype("float32")
            sample_weight = more if sample_weight is None else more * np.asarray(sample_weight)
        return OpenArrayBatches(model, (x, y, sample_weight), batch_size, shuffle, steps)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "`y` and `sample_weight` are not supported when `x` is a dataset, a generator or a "
            "`keras.utils.PyDataset`: they are parts of what it gives."
        )

    def standardize(item):
        item = item if data.is_dataset(x) else _as_tensors(item)
        return item if class_weight is None else _with_class_weights(item, class_weight)

    if data.is_sequence_of_batches(x):
        start = data.SequenceStart(x, shuffle is True)
        return OpenStreamBatches(model, start, steps or len(x), True, standardize)
    if data.is_dataset(x):
        start, restarts = lambda: iter(x), steps is None
        size = data.size_of_dataset(x) if restarts else None
        batches = OpenStreamBatches(model, start, steps, restarts, standardize, size)
        batches.is_shared = isinstance(x, DistributedDataset)
        return batches
    return OpenStreamBatches(model, lambda: x, steps, False, standardize)
