"""What programs with models use beside them: labels, files, names."""

import hashlib
import os
import random
import tarfile
import zipfile

import numpy as np

from rheos.layers import nodes
from rheos.models import objects
from rheos.ops.random.random_ops import set_random_seed as set_seed


def to_categorical(y, num_classes=None, dtype="float32"):
    """One-hot rows of whole numbers; a last dimension of 1 is dropped.

    >>> print(tf.keras.utils.to_categorical([0, 2], num_classes=3))
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    y = np.array(y, dtype="int")
    shape = y.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = shape[:-1]
    y = y.ravel()
    num_classes = num_classes or (int(np.max(y)) + 1 if y.size else 0)
    rows = np.zeros((y.shape[0], num_classes), dtype=dtype)
    rows[np.arange(y.shape[0]), y] = 1
    return np.reshape(rows, (*shape, num_classes))


def normalize(x, axis=-1, order=2):
    """x by its norm along an axis; zeros stay."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


def _hash_of(path, algorithm):
    found = hashlib.sha256() if algorithm == "sha256" else hashlib.md5()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def _is_sound(path, file_hash, algorithm="auto"):
    if algorithm == "auto":
        algorithm = "sha256" if len(str(file_hash)) == 64 else "md5"
    return _hash_of(path, algorithm) == str(file_hash)


def cache_folder():
    """Where downloaded files are kept: $KERAS_HOME, or .keras at home."""
    return os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")


def get_file(
    fname=None,
    origin=None,
    untar=False,
    md5_hash=None,
    file_hash=None,
    cache_subdir="datasets",
    hash_algorithm="auto",
    extract=False,
    archive_format="auto",
    cache_dir=None,
    force_download=False,
):
    """The path of a file from the network, which is downloaded unless it is there already.

    file_hash: of the file, which it must have. untar, extract: whether to take it apart too.
    OSError where it is not there and cannot be downloaded.
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    file_hash = file_hash if file_hash is not None else md5_hash
    fname = fname or os.path.basename(origin.split("?")[0])
    folder = os.path.join(os.path.expanduser(cache_dir or cache_folder()), cache_subdir)
    name = fname + ".tar.gz" if untar else fname
    path = os.path.join(folder, name)
    there = os.path.exists(path) and not force_download
    if there and file_hash is not None and not _is_sound(path, file_hash, hash_algorithm):
        there = False
    if not there:
        os.makedirs(folder, exist_ok=True)
        _download(origin, path)
        if file_hash is not None and not _is_sound(path, file_hash, hash_algorithm):
            os.remove(path)
            raise OSError(f"{origin}: the downloaded file has another hash than {file_hash}")
    if untar:
        target = os.path.join(folder, fname)
        if not os.path.exists(target):
            _extract(path, folder)
        return target
    if extract:
        _extract(path, folder)
    return path


def _download(origin, path):
    import urllib.request

    print(f"Downloading data from {origin}")
    partial = f"{path}.part"
    try:
        with urllib.request.urlopen(origin, timeout=30) as source, open(partial, "wb") as file:
            while chunk := source.read(1 << 20):
                file.write(chunk)
        os.replace(partial, path)
    except OSError as error:
        if os.path.exists(partial):
            os.remove(partial)
        raise OSError(
            f"{origin} could not be downloaded ({error}); without a network, put the file at {path}"
        ) from None


def _extract(path, folder):
    """Takes an archive apart; ValueError for members that would lie outside of the folder."""
    root = os.path.realpath(folder)

    def check(name):
        if not os.path.realpath(os.path.join(root, name)).startswith(root + os.sep):
            raise ValueError(f"{path} has a member outside of its folder: {name}")

    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                check(member.name)
                if member.islnk() or member.issym():
                    check(os.path.join(os.path.dirname(member.name), member.linkname))
            archive.extractall(root)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                check(name)
            archive.extractall(root)


def serialize_keras_object(instance):
    """What stands for an object: its name, or its class and configuration."""
    return objects.serialize(instance)


def deserialize_keras_object(
    identifier, module_objects=None, custom_objects=None, printable_module_name="object"
):
    """The object of a name or configuration, found among `module_objects`."""
    known = {**(module_objects or {}), **(custom_objects or {})}
    kinds = [printable_module_name] if printable_module_name in objects._KINDS else []
    return objects.deserialize(kinds[0] if kinds else "object", identifier, known)


def get_source_inputs(tensor, layer=None, node_index=None):
    """The inputs that a tensor is computed of: those that no layer made of others."""
    found = []
    for node in nodes.walk(tensor):
        if not node.input_tensors:
            found += node.output_tensors
    return found


def set_random_seed(seed):
    """Sets the seeds of Python, NumPy and of operations."""
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)


def convert_all_kernels_in_model(model):
    """Turns the kernels of convolutions, as files of Theano's need it."""
    for layer in model.layers:
        if "Conv" in type(layer).__name__:
            weights = layer.get_weights()
            axes = tuple(range(weights[0].ndim - 2))
            weights[0] = np.flip(weights[0], axes)
            layer.set_weights(weights)
