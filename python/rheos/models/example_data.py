"""The data sets of tf.keras.datasets: from the folder of downloaded files, or the network."""

import gzip
import json
import os
import pickle

import numpy as np

from rheos.models.utils import get_file

_ROOT = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_HASHES = {
    "mnist.npz": "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    "boston_housing.npz": "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    "imdb.npz": "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    "reuters.npz": "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
}


def _arrays(path, name):
    """The arrays of a file that has its hash."""
    return np.load(get_file(path, origin=_ROOT + name, file_hash=_HASHES[name]), allow_pickle=True)


def _without_pickles(path, name):
    return np.load(get_file(path, origin=_ROOT + name, file_hash=_HASHES[name]))


def mnist(path="mnist.npz"):
    """Digits: ((60000 pictures, labels), (10000 pictures, labels)), pictures (28, 28) of bytes."""
    with _without_pickles(path, "mnist.npz") as found:
        return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])


def _idx(path, offset):
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=offset)


def fashion_mnist():
    """Clothes: ((60000 pictures, labels), (10000 pictures, labels)), pictures (28, 28) of bytes."""
    parts = []
    for part in ("train", "t10k"):
        paths = [
            get_file(
                f"{part}-{kind}-ubyte.gz",
                origin=f"{_ROOT}{part}-{kind}-ubyte.gz",
                cache_subdir=os.path.join("datasets", "fashion-mnist"),
            )
            for kind in ("labels-idx1", "images-idx3")
        ]
        labels = _idx(paths[0], 8)
        parts.append((_idx(paths[1], 16).reshape(len(labels), 28, 28), labels))
    return tuple(parts)


class _NoCode(pickle.Unpickler):
    """Reads pickles of arrays and plain values; of anything else it refuses to make objects."""

    _KNOWN = (
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
    )

    def find_class(self, module, name):
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f"the file would make a {module}.{name}")
        return super().find_class(module, name)


def _cifar_batch(path, label_key):
    with open(path, "rb") as file:
        found = _NoCode(file, encoding="bytes").load()
    data = np.asarray(found[b"data"]).reshape(-1, 3, 32, 32)
    return data, found[label_key.encode()]


def cifar10():
    """Pictures of ten kinds: ((50000, 32, 32, 3), labels (50000, 1)), and 10000 to test."""
    folder = get_file(
        "cifar-10-batches-py",
        origin="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        untar=True,
        file_hash="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    )
    batches = [_cifar_batch(os.path.join(folder, f"data_batch_{i}"), "labels") for i in range(1, 6)]
    x = np.concatenate([b[0] for b in batches]).transpose(0, 2, 3, 1)
    y = np.concatenate([b[1] for b in batches]).astype("uint8").reshape(-1, 1)
    test_x, test_y = _cifar_batch(os.path.join(folder, "test_batch"), "labels")
    return (x, y), (test_x.transpose(0, 2, 3, 1), np.asarray(test_y).astype("uint8").reshape(-1, 1))


def cifar100(label_mode="fine"):
    """Pictures of a hundred kinds ("fine"), or of twenty ("coarse")."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError("`label_mode` must be one of `fine`, `coarse`.")
    folder = get_file(
        "cifar-100-python",
        origin="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        untar=True,
        file_hash="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    )
    parts = []
    for name in ("train", "test"):
        x, y = _cifar_batch(os.path.join(folder, name), f"{label_mode}_labels")
        parts.append((x.transpose(0, 2, 3, 1), np.asarray(y).reshape(-1, 1)))
    return tuple(parts)


def boston_housing(path="boston_housing.npz", test_split=0.2, seed=113):
    """Prices of houses by 13 features: ((404, 13), prices), and those to test."""
    with _without_pickles(path, "boston_housing.npz") as found:
        x, y = found["x"], found["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    at = int(len(x) * (1 - test_split))
    return (x[:at], y[:at]), (x[at:], y[at:])


def _numbered(xs, num_words, skip_top, maxlen, start_char, oov_char, index_from, labels):
    """Sequences of numbers of words, with a first one, cut vocabulary and length."""
    if start_char is not None:
        xs = [[start_char, *(w + index_from for w in x)] for x in xs]
    elif index_from:
        xs = [[w + index_from for w in x] for x in xs]
    if maxlen:
        kept = [(x, label) for x, label in zip(xs, labels) if len(x) < maxlen]
        xs, labels = [x for x, _ in kept], [label for _, label in kept]
        if not xs:
            raise ValueError(f"no sequence is shorter than maxlen={maxlen}")
    num_words = num_words or max(max(x) for x in xs) + 1
    if oov_char is not None:
        xs = [[w if skip_top <= w < num_words else oov_char for w in x] for x in xs]
    else:
        xs = [[w for w in x if skip_top <= w < num_words] for x in xs]
    return xs, labels


def _list_array(xs):
    found = np.empty(len(xs), dtype=object)
    found[:] = xs
    return found


def imdb(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1,
         oov_char=2, index_from=3, **kwargs):  # fmt: skip
    """Reviews of films as numbers of words, and whether they are good."""
    with _arrays(path, "imdb.npz") as found:
        parts = [found[k] for k in ("x_train", "y_train", "x_test", "y_test")]
    random = np.random.RandomState(seed)
    for i in (0, 2):
        order = np.arange(len(parts[i]))
        random.shuffle(order)
        parts[i], parts[i + 1] = parts[i][order], parts[i + 1][order]
    at = len(parts[0])
    xs, labels = _numbered(
        [*parts[0], *parts[2]], num_words, skip_top, maxlen, start_char, oov_char, index_from,
        np.concatenate([parts[1], parts[3]]),
    )  # fmt: skip
    return (
        (_list_array(xs[:at]), np.array(labels[:at])),
        (_list_array(xs[at:]), np.array(labels[at:])),
    )


def reuters(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2,
            seed=113, start_char=1, oov_char=2, index_from=3, **kwargs):  # fmt: skip
    """News as numbers of words, and their topics."""
    with _arrays(path, "reuters.npz") as found:
        xs, labels = found["x"], found["y"]
    order = np.arange(len(xs))
    np.random.RandomState(seed).shuffle(order)
    xs, labels = _numbered(
        list(xs[order]), num_words, skip_top, maxlen, start_char, oov_char, index_from,
        labels[order],
    )  # fmt: skip
    at = int(len(xs) * (1 - test_split))
    return (
        (_list_array(xs[:at]), np.array(labels[:at])),
        (_list_array(xs[at:]), np.array(labels[at:])),
    )


def word_numbers(name):
    """{word: its number} of imdb or reuters."""
    file = f"{name}_word_index.json"
    with open(get_file(file, origin=_ROOT + file)) as text:
        return json.load(text)
