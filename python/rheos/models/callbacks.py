"""Callbacks: what is told of epochs and batches while a model is trained."""

import collections
import csv
import json
import os
import sys

import numpy as np

from rheos.layers import values
from rheos.models.progress import ColoredBar, Progbar


class Callback:
    """What every callback is: methods that are called on the way, with `model` and `params` set."""

    def __init__(self):
        self.validation_data = None
        self.model = None
        self.params = None

    def set_params(self, params):
        """Takes what is known of the training: epochs, steps, samples, verbose, metrics."""
        self.params = params

    def set_model(self, model):
        """Takes the model."""
        self.model = model

    def on_batch_begin(self, batch, logs=None):
        """Before a batch of training."""

    def on_batch_end(self, batch, logs=None):
        """After a batch of training."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After an epoch, with its loss and metrics."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before a batch of training."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        """After a batch of training."""
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Before a batch of evaluation."""

    def on_test_batch_end(self, batch, logs=None):
        """After a batch of evaluation."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before a batch of prediction."""

    def on_predict_batch_end(self, batch, logs=None):
        """After a batch of prediction."""

    def on_train_begin(self, logs=None):
        """Before training."""

    def on_train_end(self, logs=None):
        """After training."""

    def on_test_begin(self, logs=None):
        """Before an evaluation."""

    def on_test_end(self, logs=None):
        """After an evaluation."""

    def on_predict_begin(self, logs=None):
        """Before a prediction."""

    def on_predict_end(self, logs=None):
        """After a prediction."""


class CallbackList:
    """Callbacks, called one after the other."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        self.callbacks = list(callbacks or [])
        self.mode = "train"
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)

    def append(self, callback):
        """Adds one at the end."""
        self.callbacks.append(callback)

    def set_params(self, params):
        """Tells all what is known of the training."""
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        """Tells all the model."""
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def _all(self, name, *args):
        for callback in self.callbacks:
            getattr(callback, name)(*args)

    def listens(self, mode, when):
        """Whether a callback has something to do when a batch begins, or ends ("end")."""
        names = [f"on_{mode}_batch_{when}"]
        names += [f"on_batch_{when}"] if mode == "train" else []
        return any(
            name in vars(callback) or getattr(type(callback), name, None) is not own
            for callback in self.callbacks
            for name, own in ((n, getattr(Callback, n)) for n in names)
        )

    def begin(self, mode):
        """An evaluation or prediction begins, or the batches of an epoch."""
        if mode != "train":
            self._all(f"on_{mode}_begin", {})

    def end(self, mode):
        """An evaluation or prediction is over, or the batches of an epoch."""
        if mode != "train":
            self._all(f"on_{mode}_end", {})

    def finish(self, mode, logs):
        """An evaluation or prediction by itself is over."""
        for callback in self.callbacks:
            if isinstance(callback, ProgbarLogger):
                callback.finish(logs)

    def batch_begin(self, mode, batch, logs):
        """A batch begins."""
        self._all(f"on_{mode}_batch_begin", batch, logs)

    def batch_end(self, mode, batch, logs):
        """A batch is over."""
        self._all(f"on_{mode}_batch_end", batch, logs)

    def on_epoch_begin(self, epoch, logs=None):
        """An epoch begins."""
        self._all("on_epoch_begin", epoch, {} if logs is None else logs)

    def on_epoch_end(self, epoch, logs=None):
        """An epoch is over."""
        self._all("on_epoch_end", epoch, {} if logs is None else logs)

    def on_train_begin(self, logs=None):
        """Training begins."""
        self._all("on_train_begin", {} if logs is None else logs)

    def on_train_end(self, logs=None):
        """Training is over."""
        self._all("on_train_end", {} if logs is None else logs)

    def __iter__(self):
        return iter(self.callbacks)


def configure(callbacks, model, verbose, epochs, batches, held_out=None, mode="train"):
    """The CallbackList of what a program gave, with history and progress bar."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    given = list(callbacks or ()) if not isinstance(callbacks, Callback) else [callbacks]
    kept = list(given)
    if mode == "train":
        model.history = History()
        kept = [BaseLogger(), *given, model.history]
    counts_steps = batches.num_samples is None or not values.runs_in_session()
    count_mode = "steps" if counts_steps else "samples"
    if verbose == "auto":
        verbose = 1
    if verbose:
        progress = ProgbarLogger(count_mode, stateful_metrics=model.metrics_names[1:])
        place = 1 if mode == "train" else len(kept)
        kept.insert(place, progress)
    made = CallbackList(kept)
    made.set_model(model)
    names = list(model.metrics_names)
    if held_out is not None:
        names += [f"val_{name}" for name in model.metrics_names]
    made.set_params(
        {
            "batch_size": getattr(batches, "batch_size", None),
            "epochs": epochs,
            "steps": batches.num_batches,
            "samples": batches.num_samples,
            "verbose": verbose,
            "do_validation": held_out is not None,
            "metrics": names,
        }
    )
    made.mode = mode
    for callback in kept:
        if isinstance(callback, ProgbarLogger):
            callback.mode = mode
            callback.held_out = held_out
        elif not values.runs_in_session():
            steps = batches.num_batches
            callback.set_params({"verbose": verbose, "epochs": epochs, "steps": steps})
    return made


def batch_logs(batch, size):
    """What version 1 tells of a batch beside its results; version 2 tells nothing."""
    return {"batch": batch, "size": size} if values.runs_in_session() else {}


class BaseLogger(Callback):
    """Kept for programs that name it: loss and metrics are means already."""

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])


class TerminateOnNaN(Callback):
    """Stops training where the loss is not a number, or infinite."""

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class ProgbarLogger(Callback):
    """Prints the progress bar. count_mode: "samples" or "steps"."""

    mode = "train"
    held_out = None

    def __init__(self, count_mode="samples", stateful_metrics=None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or [])
        self._bar = None

    def _target(self):
        return self.params["steps" if self.use_steps else "samples"]

    def _unit(self):
        return "step" if self.use_steps else "sample"

    def _new_bar(self):
        self.seen = 0
        self._is_over = False
        names = self.model.metrics_names[1:]
        kind = Progbar if values.runs_in_session() else ColoredBar
        self._bar = kind(
            self._target(),
            verbose=self.params["verbose"],
            stateful_metrics={*names, *(f"val_{n}" for n in self.model.metrics_names)},
            unit_name=self._unit(),
        )

    def on_train_begin(self, logs=None):
        target = self._target()
        if target is None or not values.runs_in_session():
            return
        text = f"Train on {target} {self._unit()}s"
        if self.held_out is not None:
            held = self.held_out
            count = held.num_batches if self.use_steps else held.num_samples
            if count is not None:
                text += f", validate on {count} {self._unit()}s"
        print(text)

    def on_epoch_begin(self, epoch, logs=None):
        is_named = self.mode == "train" and values.runs_in_session()
        if self.params["epochs"] > 1 or is_named:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self._new_bar()

    def _on_batch(self, logs):
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        pairs = [(k, logs[k]) for k in self.model.metrics_names if k in logs]
        if self._bar.target is None or self.seen < self._bar.target:
            self._bar.update(self.seen, pairs)
        else:
            self._held = pairs

    def on_batch_end(self, batch, logs=None):
        self._on_batch(logs or {})

    def on_epoch_end(self, epoch, logs=None):
        pairs = [(k, logs[k]) for k in self.params["metrics"] if k in (logs or {})]
        names = {k for k, _ in pairs}
        self._bar.stateful_metrics |= names
        if self._bar.target is None:
            self._bar.target = self.seen
        self._bar.update(self.seen, pairs, finalize=True)

    def _begin(self):
        if self.mode != "train":
            self._new_bar()

    def on_test_begin(self, logs=None):
        self._begin()

    def on_predict_begin(self, logs=None):
        self._begin()

    def on_test_batch_end(self, batch, logs=None):
        if self.mode == "test":
            self._on_batch(logs or {})

    def on_predict_batch_end(self, batch, logs=None):
        if self.mode == "predict":
            self._on_batch({"size": (logs or {}).get("size", 0)})

    def finish(self, logs):
        """An evaluation or prediction is over."""
        if self._bar is not None:
            if not values.runs_in_session() and self._bar.target is None:
                self._bar.target = self.seen
            self._bar.stateful_metrics |= set(logs)
            self._bar.update(self.seen, list(logs.items()), finalize=True)


class History(Callback):
    """Keeps loss and metrics: `history`, lists by name, and `epoch`, the numbers of the epochs."""

    def __init__(self):
        super().__init__()
        self.history = {}

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


def _direction(mode, monitor):
    """(whether a value is better than another, the worst value) for what is monitored."""
    if mode not in ("auto", "min", "max"):
        print(f"WARNING: mode {mode} is unknown, fallback to auto mode.", file=sys.stderr)
        mode = "auto"
    if mode == "auto":
        is_max = "acc" in monitor or monitor.startswith("fmeasure") or "auc" in monitor.lower()
        mode = "max" if is_max else "min"
    return (np.greater, -np.inf) if mode == "max" else (np.less, np.inf)


def _monitored(logs, monitor, what):
    value = (logs or {}).get(monitor)
    if value is None:
        print(
            f"WARNING: {what} conditioned on metric `{monitor}` which is not available. Available "
            f"metrics are: {','.join(logs or ())}",
            file=sys.stderr,
        )
    return value


class ModelCheckpoint(Callback):
    """Saves the model, or its weights, after epochs, or after so many samples.

    filepath: may have {epoch} and names of metrics in braces.
    """

    def __init__(
        self,
        filepath,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        save_weights_only=False,
        mode="auto",
        save_freq="epoch",
        load_weights_on_restart=False,
        period=1,
        initial_value_threshold=None,
        **kwargs,
    ):
        super().__init__()
        if not isinstance(save_freq, int) and save_freq != "epoch":
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.filepath = os.fspath(filepath)
        self.monitor = monitor
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.period = period
        self.monitor_op, self.best = _direction(mode, monitor)
        if initial_value_threshold is not None:
            self.best = initial_value_threshold
        self.load_weights_on_restart = load_weights_on_restart
        self._epoch = self._epochs_since = self._samples_since = 0

    def on_train_begin(self, logs=None):
        if self.load_weights_on_restart and os.path.exists(self.filepath):
            self.model.load_weights(self.filepath)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_batch_end(self, batch, logs=None):
        if isinstance(self.save_freq, int):
            self._samples_since += (logs or {}).get("size", 1)
            if self._samples_since >= self.save_freq:
                self._save(self._epoch, logs or {})
                self._samples_since = 0

    def on_epoch_end(self, epoch, logs=None):
        self._epochs_since += 1
        if self.save_freq == "epoch" and self._epochs_since >= self.period:
            self._epochs_since = 0
            self._save(epoch, logs or {})

    def _save(self, epoch, logs):
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            value = _monitored(logs, self.monitor, "Can save best model only")
            if value is None:
                return
            if not self.monitor_op(value, self.best):
                if self.verbose > 0:
                    print(
                        f"\nEpoch {epoch + 1:05d}: {self.monitor} did not improve from "
                        f"{self.best:0.5f}"
                    )
                return
            if self.verbose > 0:
                print(
                    f"\nEpoch {epoch + 1:05d}: {self.monitor} improved from {self.best:0.5f} to "
                    f"{value:0.5f}, saving model to {path}"
                )
            self.best = value
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)


class BackupAndRestore(Callback):
    """Keeps model and optimizer in a folder, and goes on from there when training starts anew.

    save_freq: "epoch", or a number of batches; delete_checkpoint: whether the folder's files go
    when training has ended.
    """

    def __init__(
        self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True
    ):
        super().__init__()
        if not backup_dir:
            raise ValueError("Empty `backup_dir` argument passed")
        if save_freq != "epoch" and not (isinstance(save_freq, int) and save_freq > 0):
            raise ValueError(
                "Invalid value for argument `save_freq`. Expected either 'epoch' or an integer "
                f"value. Received: save_freq={save_freq}"
            )
        self.backup_dir, self.save_freq = os.fspath(backup_dir), save_freq
        self.delete_checkpoint = delete_checkpoint
        self._epoch = self._batches = 0

    def _path(self, name):
        return os.path.join(self.backup_dir, name)

    def on_train_begin(self, logs=None):
        os.makedirs(self.backup_dir, exist_ok=True)
        if not os.path.exists(self._path("training.json")):
            return
        self.model._build_for_steps()
        with np.load(self._path("latest.npz")) as held:
            arrays = [held[str(i)] for i in range(len(held.files))]
        variables = self._variables()
        if len(variables) != len(arrays):
            raise ValueError(
                f"{self.backup_dir} has {len(arrays)} variables of another model than this one, "
                f"which has {len(variables)}"
            )
        values.set_values(zip(variables, arrays))
        with open(self._path("training.json")) as file:
            self.model._initial_epoch = json.load(file)["epoch"]

    def _variables(self):
        return [*self.model.weights, *self.model.optimizer.weights]

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % self.save_freq == 0:
            self._save(self._epoch)

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == "epoch":
            self._save(epoch + 1)

    def _save(self, epoch):
        arrays = values.get_values(self._variables())
        parts = {str(i): np.asarray(array) for i, array in enumerate(arrays)}
        with open(self._path("latest.npz.part"), "wb") as file:
            np.savez(file, **parts)
        os.replace(self._path("latest.npz.part"), self._path("latest.npz"))
        with open(self._path("training.json.part"), "w") as file:
            json.dump({"epoch": epoch}, file)
        os.replace(self._path("training.json.part"), self._path("training.json"))

    def on_train_end(self, logs=None):
        if self.delete_checkpoint:
            for name in ("latest.npz", "training.json"):
                if os.path.exists(self._path(name)):
                    os.remove(self._path(name))
            if not os.listdir(self.backup_dir):
                os.rmdir(self.backup_dir)


class EarlyStopping(Callback):
    """Stops training when what is monitored has not become better for `patience` epochs."""

    def __init__(
        self,
        monitor="val_loss",
        min_delta=0,
        patience=0,
        verbose=0,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
        start_from_epoch=0,
    ):
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.monitor_op, self._worst = _direction(mode, monitor)
        self.min_delta = abs(min_delta) * (1 if self.monitor_op is np.greater else -1)
        self.mode = mode
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights = None
        self.best = self._worst

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self._worst if self.baseline is None else self.baseline
        if not values.runs_in_session():
            self.best = None
        self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        current = _monitored(logs, self.monitor, "Early stopping")
        if current is None or epoch < self.start_from_epoch:
            return
        if not values.runs_in_session():
            self._compare(epoch, current)
            return
        if self.monitor_op(current - self.min_delta, self.best):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights and self.best_weights is not None:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def _compare(self, epoch, current):
        """Keeps the best epoch, as Keras 3 does: only those better than `baseline` end a wait."""
        is_better = self.best is None or self.monitor_op(current - self.min_delta, self.best)
        if self.restore_best_weights and (is_better or self.best_weights is None):
            self.best_weights = self.model.get_weights()
            self.best_epoch = epoch
        self.wait += 1
        if is_better:
            self.best, self.best_epoch = current, epoch
            if self.baseline is None or self.monitor_op(current - self.min_delta, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        digits = 5 if values.runs_in_session() else 1
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:0{digits}d}: early stopping")
        if values.runs_in_session() or self.best_weights is None:
            return
        if self.verbose > 0:
            best = self.best_epoch + 1
            print(f"Restoring model weights from the end of the best epoch: {best}.")
        self.model.set_weights(self.best_weights)

    def get_monitor_value(self, logs):
        """What is monitored, None if it is not there."""
        return _monitored(logs, self.monitor, "Early stopping")


def _rate_name():
    """What a history calls the learning rate."""
    return "lr" if values.runs_in_session() else "learning_rate"


def get_learning_rate(optimizer):
    """The learning rate of an optimizer; ValueError if it is no number."""
    if not hasattr(optimizer, "lr"):
        raise ValueError('Optimizer must have a "lr" attribute.')
    rate = optimizer.lr
    if callable(rate) and not values.is_tensor(rate):
        raise ValueError("the learning rate of the optimizer is a schedule, which has no value")
    return float(values.get_values([rate])[0]) if values.is_tensor(rate) else float(rate)


def set_learning_rate(optimizer, value):
    """Sets the learning rate of an optimizer."""
    optimizer.lr = float(value)


class LearningRateScheduler(Callback):
    """Sets the learning rate at each epoch to what a function of (epoch, rate), or epoch, says."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch, logs=None):
        rate = get_learning_rate(self.model.optimizer)
        try:
            rate = self.schedule(epoch, rate)
        except TypeError:
            rate = self.schedule(epoch)
        if values.is_tensor(rate):
            rate = values.get_values([rate])[0]
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError('The output of the "schedule" function should be float.')
        set_learning_rate(self.model.optimizer, rate)
        if self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}."
            )

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs[_rate_name()] = get_learning_rate(self.model.optimizer)


class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when what is monitored has not become better for some epochs."""

    def __init__(
        self,
        monitor="val_loss",
        factor=0.1,
        patience=10,
        verbose=0,
        mode="auto",
        min_delta=1e-4,
        cooldown=0,
        min_lr=0,
        **kwargs,
    ):
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        self.monitor = monitor
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.mode = mode
        self.min_delta = kwargs.get("epsilon", min_delta)
        self.cooldown = cooldown
        self.min_lr = min_lr
        self._reset()

    def _reset(self):
        compare, self.best = _direction(self.mode, self.monitor)
        sign = 1 if compare is np.greater else -1
        self.monitor_op = lambda a, b: compare(a, b + sign * self.min_delta)
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()

    def in_cooldown(self):
        """Whether the rate was lowered a short time ago."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        logs[_rate_name()] = get_learning_rate(self.model.optimizer)
        current = _monitored(logs, self.monitor, "Reduce LR on plateau")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(epoch)

    def _lower(self, epoch):
        old = get_learning_rate(self.model.optimizer)
        if old > self.min_lr:
            new = max(old * self.factor, self.min_lr)
            set_learning_rate(self.model.optimizer, new)
            if self.verbose > 0:
                print(
                    f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {new}."
                )
            self.cooldown_counter = self.cooldown
            self.wait = 0


class CSVLogger(Callback):
    """Writes loss and metrics of each epoch to a file of comma-separated values."""

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.sep = separator
        self.filename = os.fspath(filename)
        self.append = append
        self.writer = self.keys = None
        self.append_header = True

    def on_train_begin(self, logs=None):
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as file:
                self.append_header = not bool(len(file.readline()))
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="")
        self.writer = None

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.writer is None:
            fields = ["epoch", *self.keys]
            self.writer = csv.DictWriter(
                self.csv_file, fieldnames=fields, delimiter=self.sep, lineterminator="\n"
            )
            if self.append_header:
                self.writer.writeheader()
        row = collections.OrderedDict({"epoch": epoch})
        row.update((key, _cell(logs.get(key, "NA"))) for key in self.keys)
        self.writer.writerow(row)
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        self.csv_file.close()
        self.writer = None


def _cell(value):
    """What a file of values has: lists in quotes and brackets."""
    if isinstance(value, np.ndarray) and value.ndim == 0 or isinstance(value, np.generic):
        return value.item() if not isinstance(value, np.floating) else float(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return f'"[{", ".join(map(str, value))}]"'
    return value


class LambdaCallback(Callback):
    """A callback of functions."""

    def __init__(
        self,
        on_epoch_begin=None,
        on_epoch_end=None,
        on_batch_begin=None,
        on_batch_end=None,
        on_train_begin=None,
        on_train_end=None,
        **kwargs,
    ):
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            **kwargs,
        }
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)


class RemoteMonitor(Callback):
    """Sends loss and metrics of each epoch to a server."""

    def __init__(
        self,
        root="http://localhost:9000",
        path="/publish/epoch/end/",
        field="data",
        headers=None,
        send_as_json=False,
    ):
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch, logs=None):
        import json
        import urllib.parse
        import urllib.request

        send = {"epoch": epoch, **{k: float(v) for k, v in (logs or {}).items()}}
        text = json.dumps(send)
        body = text if self.send_as_json else urllib.parse.urlencode({self.field: text})
        headers = dict(self.headers or {})
        if self.send_as_json:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.root + self.path, body.encode(), headers)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except OSError as error:
            print(f"WARNING: no RemoteMonitor server at {self.root}: {error}", file=sys.stderr)
