"""Loss and metrics as events, for TensorBoard."""

import os

import numpy as np

from rheos.framework import messages
from rheos.layers import values
from rheos.models.callbacks import Callback
from rheos.training.summary import FileWriter


class TensorBoard(Callback):
    """Writes loss and metrics of each epoch, or of batches, to files of events.

    write_graph: whether to write the graph too. update_freq: "epoch", "batch", or a number of
    samples. histogram_freq: how often to write histograms of variables: epochs, 0 for never.
    """

    def __init__(
        self,
        log_dir="logs",
        histogram_freq=0,
        batch_size=32,
        write_graph=True,
        write_grads=False,
        write_images=False,
        embeddings_freq=0,
        embeddings_layer_names=None,
        embeddings_metadata=None,
        embeddings_data=None,
        update_freq="epoch",
        profile_batch=0,
        **kwargs,
    ):
        super().__init__()
        if embeddings_freq and embeddings_data is not None:
            raise NotImplementedError("TensorBoard(embeddings_freq=...)")
        self.log_dir = os.fspath(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._seen = self._seen_when_written = 0
        self._writers = {}

    def _writer(self, part):
        """The writer of a part: that of training and validation is one in TensorFlow 1."""
        part = "" if values.runs_in_session() else part
        if part not in self._writers:
            folder = os.path.join(self.log_dir, part) if part else self.log_dir
            self._writers[part] = FileWriter(folder)
        return self._writers[part]

    def on_train_begin(self, logs=None):
        writer = self._writer("train")
        if self.write_graph and values.runs_in_session():
            writer.add_graph(values.get_session().graph)

    def _write(self, part, logs, step):
        summary = messages.Summary()
        for name, value in logs.items():
            summary.value.add(tag=name, simple_value=float(value))
        self._writer(part).add_summary(summary, step)

    def on_batch_end(self, batch, logs=None):
        if self.update_freq == "epoch":
            return
        logs = logs or {}
        self._seen += logs.get("size", 1)
        if self._seen - self._seen_when_written >= self.update_freq:
            found = {f"batch_{k}": v for k, v in logs.items() if k not in ("batch", "size")}
            self._write("train", found, self._seen)
            self._seen_when_written = self._seen

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if values.runs_in_session():
            self._write("train", {f"epoch_{k}": v for k, v in logs.items()}, epoch)
        else:
            train = {f"epoch_{k}": v for k, v in logs.items() if not k.startswith("val_")}
            held = {f"epoch_{k[4:]}": v for k, v in logs.items() if k.startswith("val_")}
            self._write("train", train, epoch)
            if held:
                self._write("validation", held, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_histograms(epoch)
        for writer in self._writers.values():
            writer.flush()

    def _write_histograms(self, epoch):
        summary = messages.Summary()
        variables = self.model.weights
        for variable, value in zip(variables, values.get_values(variables)):
            histogram = summary.value.add(tag=variable.name.replace(":", "_")).histo
            _fill(histogram, value)
        self._writer("train").add_summary(summary, epoch)

    def on_train_end(self, logs=None):
        for writer in self._writers.values():
            writer.close()
        self._writers = {}


def _fill(histogram, value):
    """A histogram of an array, in thirty ranges of the same width."""
    flat = np.asarray(value, "float64").reshape(-1)
    counts, edges = np.histogram(flat, bins=30)
    histogram.min, histogram.max = float(flat.min()), float(flat.max())
    histogram.num = len(flat)
    histogram.sum, histogram.sum_squares = float(flat.sum()), float((flat * flat).sum())
    histogram.bucket_limit.extend(edges[1:].tolist())
    histogram.bucket.extend(counts.tolist())
