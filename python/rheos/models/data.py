"""Batches of what fit() and its like are given: arrays, generators, sequences, datasets."""

import math
import warnings

import numpy as np

from rheos.framework import nest
from rheos.framework.graph import Graph
from rheos.framework.op_call import op1
from rheos.layers import values
from rheos.ops.array.constant_op import constant
from rheos.training.session import Session

_INFINITE = -1  # what a dataset without an end says of its size


class Batches:
    """The batches of one kind of data: iterate it once for each epoch.

    num_samples: of arrays, else None. num_batches: of an epoch, None if not known. Each item is
    (x, y, weights, size): flat lists of arrays.
    """

    is_weighted_by_size = True
    is_uniform = True  # whether batches but the last have the same shapes
    is_open = False  # whether items are what open steps take
    num_samples = None
    num_batches = None

    def __init__(self, model):
        self.model = model

    def finish_epoch(self):
        """Tells that an epoch is over."""


class ArrayBatches(Batches):
    """Batches of arrays, in a new order each epoch if `shuffle`."""

    def __init__(self, model, x, y, weights, batch_size, shuffle, steps=None):
        super().__init__(model)
        self.arrays = (x, y, weights)
        lengths = {len(a) for part in self.arrays for a in part if a is not None}
        if len(lengths) > 1:
            raise ValueError(
                "Input arrays should have the same number of samples as target arrays. Found "
                f"{sorted(lengths)} samples."
            )
        self.num_samples = lengths.pop() if lengths else 0
        if steps is not None and batch_size is None:
            batch_size = -(-self.num_samples // steps)
        self.batch_size = int(batch_size or 32)
        self.shuffle = shuffle
        self.num_batches = -(-self.num_samples // self.batch_size)
        if steps is not None:
            self.num_batches = min(self.num_batches, steps)

    def __iter__(self):
        order = None
        if self.shuffle == "batch":
            starts = np.random.permutation(self.num_batches)
        else:
            starts = range(self.num_batches)
            if self.shuffle:
                order = self._order()
                order = None if self.num_batches == 1 else order
        for i in starts:
            begin = int(i) * self.batch_size
            end = min(begin + self.batch_size, self.num_samples)
            rows = slice(begin, end) if order is None else order[begin:end]
            parts = [[None if a is None else a[rows] for a in part] for part in self.arrays]
            yield (*parts, end - begin)

    def _order(self):
        """The samples in a new order: by version 2's seed Keras 3's, which each epoch has."""
        seed = None if values.runs_in_session() else values.root_graph().seed
        if seed is None:
            return np.random.permutation(self.num_samples)
        held = values.root_graph().__dict__.setdefault("_shuffled_rows", {})
        key = (seed, self.num_samples)
        if key not in held:
            held.clear()
            held[key] = _shuffled(*key)
        return held[key]


def _shuffled(seed, count):
    """Numbers below a count in the order that RandomShuffle gives them first."""
    with Graph().as_default() as graph:
        rows = constant(np.arange(count))
        wanted = op1("RandomShuffle", None, rows, seed=seed, seed2=0)
        with Session(graph=graph) as session:
            return session.run(wanted)


class StreamBatches(Batches):
    """Batches that something else makes: functions give an iterator of (x, y, weights).

    steps: how many are taken for an epoch, all if None. size: how many there are, None if unknown.
    """

    is_uniform = False

    def __init__(self, model, start, steps, restarts, standardize, size=None):
        super().__init__(model)
        self.is_weighted_by_size = not values.runs_in_session()
        self._start = start
        self._restarts = restarts
        self._standardize = standardize
        self._iterator = None
        self._steps = steps
        self.num_batches = size if steps is None else steps

    def __iter__(self):
        if self._iterator is None or self._restarts:
            self._iterator = iter(self._start())
        taken = 0
        while self._steps is None or taken < self._steps:  # to the end, which completes caches
            try:
                item = next(self._iterator)
            except StopIteration:
                if self.num_batches is not None and taken < self.num_batches:
                    _warn_short(self.num_batches)
                break
            taken += 1
            yield self._standardize(item)
        if self.num_batches is None:
            self.num_batches = taken

    def finish_epoch(self):
        if hasattr(self._start, "on_epoch_end"):
            self._start.on_epoch_end()


def _warn_short(steps):
    warnings.warn(
        "Your dataset iterator ran out of data; interrupting training. Make sure that your "
        "iterator can generate at least `steps_per_epoch * epochs` batches (in this case, "
        f"{steps} batches of an epoch). You may need to use the repeat() function when building "
        "your dataset.",
        stacklevel=2,
    )


class Sequence:
    """Batches by number: subclasses define __getitem__ and __len__."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """Called after each epoch."""

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]


def is_sequence_of_batches(x):
    """Whether it gives batches by number."""
    return isinstance(x, Sequence) or (
        hasattr(x, "__getitem__") and hasattr(x, "__len__") and hasattr(x, "on_epoch_end")
    )


def is_dataset(x):
    """Whether it is a dataset."""
    return hasattr(x, "_variant_tensor") or hasattr(x, "element_spec")


def size_of_dataset(dataset):
    """How many elements a dataset has, None if that is not known without going over it."""
    if not hasattr(dataset, "cardinality"):
        return None
    size = dataset.cardinality()
    if values.runs_in_session():
        size = values.get_session().run(size)
        if size == _INFINITE:
            raise ValueError(
                "When passing an infinitely repeating dataset, you must specify the "
                "`steps_per_epoch` argument."
            )
    return None if int(size) < 0 else int(size)


def is_stream(x):
    """Whether it gives batches by itself: a generator, an iterator, a sequence or a dataset."""
    return is_dataset(x) or is_sequence_of_batches(x) or hasattr(x, "__next__")


class SequenceStart:
    """What starts going through a sequence, in a new order of its batches if `shuffle`."""

    def __init__(self, sequence, shuffle):
        self._sequence = sequence
        self._shuffle = shuffle

    def __call__(self):
        order = np.arange(len(self._sequence))
        if self._shuffle:
            np.random.shuffle(order)
        for i in order:
            yield self._sequence[int(i)]

    def on_epoch_end(self):
        """Tells the sequence that an epoch is over."""
        if hasattr(self._sequence, "on_epoch_end"):
            self._sequence.on_epoch_end()


def split_item(item):
    """(x, y, weights) of what a stream gives: x, or a tuple of up to three."""
    if not isinstance(item, tuple):
        return item, None, None
    if len(item) > 3:
        raise ValueError(
            "Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: "
            f"{str(item)[:200]}"
        )
    return (*item, None, None)[:3]


def flat_arrays(data, names, what):
    """The arrays of data for some names: one, a list in their order, or a dict by them."""
    if data is None:
        return [None] * len(names)
    if isinstance(data, dict):
        keys = list(names)
        lacking = [k for k in keys if k not in data]
        if lacking and len(lacking) == len(keys) == len(data):
            keys = sorted(data)
        elif lacking:
            raise ValueError(
                f"No data provided for {lacking[0]!r}. Need data for each key in: {keys}"
            )
        return [_array(data[k]) for k in keys]
    if isinstance(data, (list, tuple)):
        if len(names) == 1 and not (len(data) == 1 and _is_array_of_one(data[0])):
            return [_array(data)]
        if len(data) != len(names):
            raise ValueError(
                f"Error when checking model {what}: the list of Numpy arrays that you are passing "
                "to your model is not the size the model expected. Expected to see "
                f"{len(names)} array(s), but instead got the following list of {len(data)} "
                f"arrays: {str(data)[:200]}..."
            )
        return [_array(a) for a in data]
    if len(names) > 1:
        raise ValueError(
            f"Error when checking model {what}: the model expects {len(names)} arrays, but only "
            f"received one array of shape {np.shape(data)}"
        )
    return [_array(data)]


def _is_array_of_one(x):
    """Whether x alone in a list is the array of the one input: nested lists of numbers are rows."""
    return hasattr(x, "shape") or isinstance(x, (list, tuple)) and values.runs_in_session()


def _array(x):
    if x is None or values.is_tensor(x) and values.runs_in_session():
        return x
    if hasattr(x, "values") and hasattr(x, "iloc"):  # of pandas
        x = x.values
    if hasattr(x, "tocsr"):  # of SciPy, sparse
        return x
    return np.asarray(x)


def fit_to(arrays, shapes, names, what):
    """Arrays with the ranks of shapes, vectors made columns; ValueError if they do not fit."""
    result = []
    for array, shape, name in zip(arrays, shapes, names):
        if array is None or shape is None:
            result.append(array)
            continue
        if np.ndim(array) == 1 and len(shape) == 2:
            array = np.expand_dims(array, -1)
        found = np.shape(array)
        if len(found) != len(shape):
            raise ValueError(
                f"Error when checking {what}: expected {name} to have {len(shape)} dimensions, but "
                f"got array with shape {found}"
            )
        for size, wanted in zip(found[1:], shape[1:]):
            if wanted is not None and size != wanted:
                raise ValueError(
                    f"Error when checking {what}: expected {name} to have shape "
                    f"{tuple(shape[1:])} but got array with shape {found[1:]}"
                )
        result.append(array)
    return result


def split_last(arrays, share):
    """All but the last share of the rows, and these; ValueError if there is nothing in one."""
    known = [a for a in arrays if a is not None]
    count = len(known[0])
    at = int(count * (1.0 - share))
    if at == 0 or at == count:
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a "
            f"validation and training set as specified by `validation_split={share}`. Either "
            "provide more data, or a different value for the `validation_split` argument."
        )
    first = [None if a is None else a[:at] for a in arrays]
    return first, [None if a is None else a[at:] for a in arrays]


def class_weights(y, class_weight):
    """The weight of each sample by its class: y of numbers, or one-hot."""
    y = np.asarray(y)
    if y.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    if y.ndim == 2 and y.shape[1] > 1:
        classes = y.argmax(axis=1)
    else:
        classes = y.reshape(-1)
    weights = np.array([class_weight[c] if c in class_weight else np.nan for c in classes.tolist()])
    if np.isnan(weights).any():
        lacking = set(np.unique(classes).tolist()) - set(class_weight)
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes "
            f"{lacking} exist in the data but not in `class_weight`."
        )
    return weights


def steps_of(count, batch_size):
    """The number of batches of so many samples."""
    return math.ceil(count / batch_size)


def flatten(structure):
    """The leaves of a structure."""
    return nest.flatten(structure)
