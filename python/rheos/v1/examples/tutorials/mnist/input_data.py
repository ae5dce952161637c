"""Reads the MNIST digits (LeCun, Cortes and Burges): gzip files in the IDX format."""

import collections
import gzip
import os
import urllib.error
import urllib.request

import numpy as np

from rheos.framework import dtypes
from rheos.ops.random.random_ops import get_seed

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FILES = (
    ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
)
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def _items(file, what, rank):
    """The bytes of an IDX file as an array with `rank` dimensions."""
    magic = 2048 + rank
    with gzip.GzipFile(fileobj=file) as stream:
        header = np.frombuffer(stream.read(4 * (rank + 1)), dtype=">u4")
        if len(header) < rank + 1 or header[0] != magic:
            found = int(header[0]) if len(header) else "none"
            raise ValueError(f"Invalid magic number {found} in MNIST {what} file: {file.name}")
        shape = [int(length) for length in header[1:]]
        data = np.frombuffer(stream.read(), dtype=np.uint8)
    size = int(np.prod(shape, dtype=object))
    if data.size < size:
        raise ValueError(f"{file.name} ends after {data.size} of {size} bytes")
    return data[:size].reshape(shape)


def extract_images(f):
    """The images of an open file: uint8 [number, rows, columns, 1]. ValueError if it is none."""
    print("Extracting", f.name)
    return _items(f, "image", 3)[..., np.newaxis]


def dense_to_one_hot(labels_dense, num_classes):
    """[number, num_classes] with a 1 for each label."""
    return np.eye(num_classes)[labels_dense.ravel()]


def extract_labels(f, one_hot=False, num_classes=10):
    """The labels of an open file: uint8 [number], or as rows with a 1."""
    print("Extracting", f.name)
    labels = _items(f, "label", 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


class DataSet:
    """Images and labels that are taken in batches.

    dtype: uint8 leaves 0 to 255, float32 makes that 0 to 1. reshape: whether an image is one row.
    fake_data: batches of ones in place of data.
    """

    def __init__(
        self,
        images,
        labels,
        fake_data=False,
        one_hot=False,
        dtype=dtypes.float32,
        reshape=True,
        seed=None,
    ):
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._num_examples = 10000
        if not fake_data:
            if len(images) != len(labels):
                raise ValueError(f"{len(images)} images, but {len(labels)} labels")
            self._num_examples = len(images)
            if reshape:
                images = images.reshape(len(images), int(np.prod(images.shape[1:])))
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self):
        """The pictures, an array with a row or a picture for each."""
        return self._images

    @property
    def labels(self):
        """The classes, [n], or [n, 10] where they are one-hot."""
        return self._labels

    @property
    def num_examples(self):
        """How many pictures there are."""
        return self._num_examples

    @property
    def epochs_completed(self):
        """How often all pictures were handed out."""
        return self._epochs_completed

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """(images, labels) of the next `batch_size`; each epoch is shuffled anew."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        rest = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end = end - self._num_examples
        return (
            np.concatenate([rest[0], self._images[:end]]),
            np.concatenate([rest[1], self._labels[:end]]),
        )


def maybe_download(filename, work_directory, source_url):
    """The path of a file in a folder; it is fetched from the address if it is not there."""
    path = os.path.join(work_directory, filename)
    if os.path.exists(path):
        return path
    os.makedirs(work_directory, exist_ok=True)
    unfinished = path + ".part"
    try:
        urllib.request.urlretrieve(source_url, unfinished)
    except (urllib.error.URLError, OSError) as error:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise OSError(
            f"{filename} is not in {work_directory} and could not be fetched from {source_url}: "
            f"{error}"
        ) from None
    os.replace(unfinished, path)
    print("Successfully downloaded", filename, os.path.getsize(path), "bytes.")
    return path


def read_data_sets(
    train_dir,
    fake_data=False,
    one_hot=False,
    dtype=dtypes.float32,
    reshape=True,
    validation_size=5000,
    seed=None,
    source_url=DEFAULT_SOURCE_URL,
):
    """Datasets(train, validation, test) of the four files in a folder.

    Files that are missing are fetched from `source_url`. validation_size: how many of the images
    for training, the first ones, are kept for validation. The graph's seed shuffles.
    """
    if fake_data:
        fakes = [DataSet([], [], True, one_hot, dtype, seed=seed) for _ in Datasets._fields]
        return Datasets(*fakes)
    source_url = source_url or DEFAULT_SOURCE_URL
    parts = []
    for names in _FILES:
        paths = [maybe_download(name, train_dir, source_url + name) for name in names]
        with open(paths[0], "rb") as file:
            images = extract_images(file)
        with open(paths[1], "rb") as file:
            parts.append((images, extract_labels(file, one_hot=one_hot)))
    (images, labels), test = parts
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    n = validation_size
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    train = DataSet(images[n:], labels[n:], **options)
    validation = DataSet(images[:n], labels[:n], **options)
    return Datasets(train, validation, DataSet(*test, **options))
