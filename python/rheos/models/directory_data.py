"""Datasets of what lies in folders, pictures and texts by class, and of windows of series."""

import os

import numpy as np

from rheos.framework.conversion import convert_to_tensor
from rheos.models.layers.pictures import resized
from rheos.ops.array import array_ops
from rheos.ops.io import io_ops, string_ops
from rheos.ops.math import math_ops
from rheos.ops.media import image_files
from rheos.pipelines import Dataset

_PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


# ---- Files by class


def _files_in(folder, endings, follow_links):
    """The files of a folder and those inside, by their paths from it, in order."""
    found = []
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links)):
        inside = os.path.relpath(root, folder)
        for name in sorted(names):
            if name.lower().endswith(endings):
                found.append(os.path.normpath(os.path.join(inside, name)))
    return found


def _indexed(directory, labels, endings, class_names, shuffle, seed, follow_links, verbose):
    """(paths, numbers of classes or None, names of classes or None) of the files of a folder."""
    if not os.path.isdir(directory):
        raise FileNotFoundError(f"{directory} is no folder")
    folders = [""]
    if labels == "inferred":
        folders = sorted(
            name
            for name in os.listdir(directory)
            if os.path.isdir(os.path.join(directory, name)) and not name.startswith(".")
        )
        if class_names is not None and not set(class_names) <= set(folders):
            raise ValueError(
                "The `class_names` passed did not match the names of the subdirectories of the "
                f"target directory. Expected: {folders} (or a subset of it), but received: "
                f"class_names={class_names}"
            )
        folders = list(class_names) if class_names is not None else folders
    elif class_names is not None:
        raise ValueError("You can only pass `class_names` if `labels='inferred'`")
    paths, numbers = [], []
    for i, folder in enumerate(folders):
        inside = os.path.join(directory, folder)
        found = _files_in(inside, endings, follow_links)
        paths += [os.path.join(inside, name) for name in found]
        numbers += [i] * len(found)
    names = folders
    if labels is None:
        numbers = names = None
    elif labels != "inferred":
        if len(labels) != len(paths):
            raise ValueError(
                "Expected the lengths of `labels` to match the number of files in the target "
                f"directory. len(labels) is {len(labels)} while we found {len(paths)} files in "
                f"directory {directory}."
            )
        numbers, names = list(labels), [str(label) for label in sorted(set(labels))]
    if verbose:
        of_classes = "." if names is None else f" belonging to {len(names)} classes."
        print(f"Found {len(paths)} files{of_classes}")
    if shuffle:
        for items in (paths, numbers):
            if items is not None:
                np.random.RandomState(seed).shuffle(items)
    return paths, numbers, names


def _part(items, share, subset):
    """The first items, or the last share of them."""
    if not share or items is None:
        return items
    count = int(share * len(items))
    return items[:-count] if subset == "training" else items[-count:]


def _labels(numbers, mode, num_classes):
    numbers = np.asarray(numbers)
    if mode == "binary":
        return numbers.astype("float32")[:, None]
    if mode == "categorical":
        return np.eye(num_classes, dtype="float32")[numbers]
    return numbers.astype("int32")


def _check(labels, label_mode, validation_split, subset, shuffle, seed):
    if labels not in ("inferred", None) and not isinstance(labels, (list, tuple)):
        raise ValueError(
            "`labels` argument should be a list/tuple of integer labels, of the same size as the "
            f"number of files in the target directory. Received: labels={labels}"
        )
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError(
            '`label_mode` argument must be one of "int", "categorical", "binary", or None. '
            f"Received: label_mode={label_mode}"
        )
    if validation_split and not 0 < validation_split < 1:
        raise ValueError(
            f"`validation_split` must be between 0 and 1, received: {validation_split}"
        )
    if (validation_split or subset) and not (validation_split and subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(
            f'`subset` must be either "training", "validation" or "both", received: subset={subset}'
        )
    if validation_split and shuffle and seed is None:
        raise ValueError(
            "If using `validation_split` and shuffling the data, you must provide a `seed` "
            "argument, to make sure that there is no overlap between the training and validation "
            "subset."
        )


class _Folder:
    """The files of a folder, of which datasets are made with a function of their paths."""

    def __init__(self, directory, labels, label_mode, endings, class_names, shuffle, seed,
                 follow_links, verbose, validation_split, subset):  # fmt: skip
        _check(labels, label_mode, validation_split, subset, shuffle, seed)
        labels = None if label_mode is None else labels
        self.seed = np.random.randint(1e6) if seed is None else seed
        self.paths, self.numbers, self.names = _indexed(
            directory, labels, endings, class_names, shuffle, self.seed, follow_links, verbose
        )
        if label_mode == "binary" and len(self.names) != 2:
            raise ValueError(
                'When passing `label_mode="binary"`, there must be exactly 2 class_names. '
                f"Received: class_names={self.names}"
            )
        if not self.paths:
            raise ValueError(f"No files found in directory {directory}. Allowed formats: {endings}")
        self.mode, self.shuffle, self.split = label_mode, shuffle, validation_split
        self.verbose = verbose

    def dataset(self, read, batch_size, subset):
        """Batches of what `read` gives for the paths, with labels; of both parts a list."""
        if subset == "both":
            return [
                self._dataset(read, batch_size, "training", self.shuffle),
                self._dataset(read, batch_size, "validation", False),
            ]
        return self._dataset(read, batch_size, subset, self.shuffle)

    def _dataset(self, read, batch_size, subset, shuffle):
        paths = _part(self.paths, self.split, subset)
        numbers = _part(self.numbers, self.split, subset)
        if self.split:
            what = "training" if subset == "training" else "validation"
            print(f"Using {len(paths)} files for {what}.")
        parts = np.asarray(paths, object)
        if numbers is None:
            found = Dataset.from_tensor_slices(parts)
        else:
            labels = _labels(numbers, self.mode, len(self.names))
            found = Dataset.from_tensor_slices((parts, labels))
        if shuffle:
            buffer = 1024 if batch_size is None else batch_size * 8
            found = found.shuffle(buffer, seed=self.seed)
        if numbers is None:
            found = found.map(read, num_parallel_calls=-1)
        else:
            found = found.map(lambda path, label: (read(path), label), num_parallel_calls=-1)
        found = found if batch_size is None else found.batch(batch_size)
        found = found.prefetch(-1)
        found.class_names, found.file_paths = self.names, paths
        return found


def image_dataset_from_directory(
    directory,
    labels="inferred",
    label_mode="int",
    class_names=None,
    color_mode="rgb",
    batch_size=32,
    image_size=(256, 256),
    shuffle=True,
    seed=None,
    validation_split=None,
    subset=None,
    interpolation="bilinear",
    follow_links=False,
    crop_to_aspect_ratio=False,
    pad_to_aspect_ratio=False,
    data_format=None,
    format="tf",
    verbose=True,
):
    """A dataset of the pictures of a folder at one size, float32, with their classes.

    The classes are the folders inside, or `labels` in the order of the paths. subset: "training",
    "validation" (the share validation_split) or "both", a list of these.
    """
    if color_mode not in _CHANNELS:
        raise ValueError(
            '`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: '
            f"color_mode={color_mode}"
        )
    folder = _Folder(directory, labels, label_mode, _PICTURES, class_names, shuffle, seed,
                     follow_links, verbose, validation_split, subset)  # fmt: skip

    def read(path):
        picture = image_files.decode_image(
            io_ops.read_file(path), channels=_CHANNELS[color_mode], expand_animations=False
        )
        picture.set_shape([None, None, _CHANNELS[color_mode]])
        found = resized(
            picture,
            image_size,
            interpolation,
            crop_to_aspect_ratio=crop_to_aspect_ratio,
            pad_to_aspect_ratio=pad_to_aspect_ratio,
        )
        found = math_ops.cast(found, "float32")
        return array_ops.transpose(found, [2, 0, 1]) if data_format == "channels_first" else found

    return folder.dataset(read, batch_size, subset)


def text_dataset_from_directory(
    directory,
    labels="inferred",
    label_mode="int",
    class_names=None,
    batch_size=32,
    max_length=None,
    shuffle=True,
    seed=None,
    validation_split=None,
    subset=None,
    follow_links=False,
    format="tf",
    verbose=True,
):
    """A dataset of the texts of a folder's .txt files, with their classes: as of pictures.

    max_length: of a text, in bytes; what is longer is cut off.
    """

    def read(path):
        text = io_ops.read_file(path)
        return text if max_length is None else string_ops.substr(text, 0, max_length)

    folder = _Folder(directory, labels, label_mode, (".txt",), class_names, shuffle, seed,
                     follow_links, verbose, validation_split, subset)  # fmt: skip
    return folder.dataset(read, batch_size, subset)


# ---- Windows of series


def _check_window(name, value, length, least=1):
    if value < least or value >= length:
        bound = f"{least - 1}" if least > 1 else "0"
        raise ValueError(
            f"`{name}` must be higher than {bound} and lower than the length of the data. "
            f"Received: {name}={value}, for data of length {length}"
        )


def timeseries_dataset_from_array(
    data,
    targets,
    sequence_length,
    sequence_stride=1,
    sampling_rate=1,
    batch_size=128,
    shuffle=False,
    seed=None,
    start_index=None,
    end_index=None,
    format="tf",
):
    """A dataset of windows of a series: every `sampling_rate`-th of its steps, with targets.

    targets: for the first step of each window, None for windows alone.
    """
    data = np.asarray(data)
    for name, value in (("sampling_rate", sampling_rate), ("sequence_stride", sequence_stride)):
        _check_window(name, value, len(data))
    if start_index and not 0 <= start_index < len(data):
        raise ValueError(
            "`start_index` must be 0 or greater, and lower than the length of the data. Received: "
            f"start_index={start_index}, for data of length {len(data)}"
        )
    if end_index is not None and not (start_index or 0) < end_index < len(data):
        raise ValueError(
            "`end_index` must be higher than `start_index` and lower than the length of the data. "
            f"Received: end_index={end_index}, for data of length {len(data)}"
        )
    start = start_index or 0
    end = len(data) if end_index is None else end_index
    count = end - start - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    starts = np.arange(0, count, sequence_stride, dtype="int64")
    if shuffle:
        seed = np.random.randint(1e6) if seed is None else seed
        np.random.RandomState(seed).shuffle(starts)
    series = convert_to_tensor(data[start:end])
    steps = convert_to_tensor(np.arange(sequence_length, dtype="int64") * sampling_rate)
    wanted = None if targets is None else convert_to_tensor(np.asarray(targets)[start:end])

    def window(at):
        found = array_ops.gather(series, at + steps)
        return found if wanted is None else (found, array_ops.gather(wanted, at))

    found = Dataset.from_tensor_slices(starts).map(window, num_parallel_calls=-1)
    if shuffle:
        found = found.shuffle(1024 if batch_size is None else batch_size * 8, seed=seed)
    found = found.prefetch(-1)
    return found if batch_size is None else found.batch(batch_size)


# ---- Parts


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None):
    """Two datasets of the elements of one, or of arrays: sizes are numbers, or shares below 1."""
    if left_size is None and right_size is None:
        raise ValueError(
            "At least one of the `left_size` or `right_size` must be specified. Received: "
            "left_size=None and right_size=None"
        )
    is_stream = hasattr(dataset, "element_spec")
    items = list(dataset) if is_stream else None
    count = len(items) if is_stream else len(_first(dataset))

    def size_of(size):
        return int(size * count) if isinstance(size, float) else size

    left, right = size_of(left_size), size_of(right_size)
    left = count - right if left is None else left
    right = count - left if right is None else right
    if left + right > count or min(left, right) < 0:
        raise ValueError(
            "The sum of `left_size` and `right_size` should not be greater than the number of "
            f"samples: {left} + {right} > {count}"
        )
    order = np.arange(count)
    if shuffle:
        np.random.RandomState(np.random.randint(1e6) if seed is None else seed).shuffle(order)
    parts = order[:left], order[count - right :]
    if is_stream:
        return tuple(_stacked([items[i] for i in part]) for part in parts)
    return tuple(Dataset.from_tensor_slices(_rows(dataset, part)) for part in parts)


def _first(arrays):
    if isinstance(arrays, (tuple, dict)):
        return next(iter(arrays.values() if isinstance(arrays, dict) else arrays))
    return arrays


def _rows(arrays, rows):
    if isinstance(arrays, tuple):
        return tuple(np.asarray(a)[rows] for a in arrays)
    if isinstance(arrays, dict):
        return {key: np.asarray(a)[rows] for key, a in arrays.items()}
    return np.asarray(arrays)[rows]


def _stacked(items):
    """A dataset of elements that are there."""

    def joined(parts):
        return np.stack([np.asarray(p) for p in parts])

    if isinstance(items[0], tuple):
        return Dataset.from_tensor_slices(tuple(joined(part) for part in zip(*items)))
    if isinstance(items[0], dict):
        return Dataset.from_tensor_slices({k: joined([i[k] for i in items]) for k in items[0]})
    return Dataset.from_tensor_slices(joined(items))
