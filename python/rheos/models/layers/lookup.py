"""Layers that number what is in a vocabulary.

The tokens are constants, in the order of their hashes, so that looking up is a search in a sorted
vector: functions and saved models capture the constants as they do any other.
"""

import os

import numpy as np

from rheos.framework import dtypes, errors
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies
from rheos.framework.op_call import op1
from rheos.framework.sparse_tensor import SparseTensor
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.defaults import floatx
from rheos.models.layers.categories import (
    as_input,
    batches_of,
    check_output_mode,
    encoded,
    encoded_shape,
    hashed,
    salt_of,
)
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import string_ops
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor

_layer = objects.known("layer")
_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
_HASHES = 2**62  # what tokens are hashed to: below it, so that no two of a vocabulary meet


class _Index:
    """The places of tokens in a list, found by tensors."""

    def __init__(self, tokens, dtype):
        self._dtype = dtypes.as_dtype(dtype)
        self.tokens = tokens
        keys = self._keys_of(convert_to_tensor(np.asarray(tokens, dtype=_array_type(dtype))))
        keys = np.asarray(keys.numpy())
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if (keys[1:] == keys[:-1]).any():
            raise ValueError("two tokens of the vocabulary have the same hash, or are the same")
        self._keys = convert_to_tensor(keys)
        self._places = convert_to_tensor(order.astype("int64"))
        ordered = np.asarray(tokens, dtype=_array_type(dtype))[order]
        self._ordered = convert_to_tensor(ordered)

    def _keys_of(self, x):
        if self._dtype == dtypes.string:
            return string_ops.string_to_hash_bucket_fast(x, _HASHES)
        return math_ops.cast(x, dtypes.int64)

    def find(self, x):
        """The places of x, and whether it is there at all."""
        flat = array_ops.reshape(x, [-1])
        at = rearrange_ops.searchsorted(self._keys, self._keys_of(flat))
        at = math_ops.minimum(at, len(self.tokens) - 1)
        is_there = math_ops.equal(array_ops.gather(self._ordered, at), flat)
        shape = array_ops.shape(x)
        places = array_ops.reshape(array_ops.gather(self._places, at), shape)
        is_there = array_ops.reshape(is_there, shape)
        places.set_shape(x.shape)
        is_there.set_shape(x.shape)
        return places, is_there


def _array_type(dtype):
    return object if dtypes.as_dtype(dtype) == dtypes.string else "int64"


def _text(token):
    return token.decode("utf-8") if isinstance(token, bytes) else str(token)


def _where(condition, x, y):
    return op1("SelectV2", None, condition, x, y)


class IndexLookup(Layer):
    """Numbers for tokens: a mask token's, those of tokens out of the vocabulary, the others'."""

    def __init__(
        self,
        max_tokens,
        num_oov_indices,
        mask_token,
        oov_token,
        vocabulary_dtype,
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        oov_method="floormod",
        salt=None,
        name=None,
        vocabulary_size=None,
        has_input_vocabulary=None,
        trainable=True,
        dtype=None,
    ):
        kind = type(self).__name__
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(
                f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}"
            )
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError(
                "If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None"
            )
        if num_oov_indices < 0:
            raise ValueError(
                "`num_oov_indices` must be greater than or equal to 0. Received: "
                f"num_oov_indices={num_oov_indices}"
            )
        output_mode = check_output_mode(output_mode, _MODES, kind)
        if invert and output_mode != "int":
            raise ValueError(
                "`output_mode` must be `'int'` when `invert` is true. Received: "
                f"output_mode={output_mode}"
            )
        if sparse and output_mode == "int":
            raise ValueError(
                "`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, "
                f"`'count'` or `'tf_idf'`. Received: sparse={sparse} and output_mode={output_mode}"
            )
        if idf_weights is not None and output_mode != "tf_idf":
            raise ValueError(
                "`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: "
                f"idf_weights={idf_weights} and output_mode={output_mode}"
            )
        super().__init__(name=name, dtype=vocabulary_dtype)
        self.max_tokens, self.num_oov_indices = max_tokens, num_oov_indices
        self.mask_token, self.oov_token = mask_token, oov_token
        self.vocabulary_dtype = dtypes.as_dtype(vocabulary_dtype).name
        self.invert, self.output_mode, self.sparse = invert, output_mode, sparse
        self.pad_to_max_tokens = pad_to_max_tokens
        self.oov_method, self.salt = oov_method, salt_of(salt, kind)
        self.input_vocabulary = None if isinstance(vocabulary, str) else vocabulary
        self.input_idf_weights = idf_weights
        self._is_static = vocabulary is not None or bool(has_input_vocabulary)
        self._tokens, self._index, self._idf = [], None, None
        self._known_size = vocabulary_size
        self.reset_state()
        self.built = True
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    # -- The vocabulary

    def _oov_start(self):
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _token_start(self):
        return self._oov_start() + self.num_oov_indices

    def _special(self):
        return [self.mask_token] * self._oov_start() + [self.oov_token] * self.num_oov_indices

    def _plain(self, token):
        return _text(token) if self.vocabulary_dtype == "string" else int(token)

    def get_vocabulary(self, include_special_tokens=True):
        """The tokens in the order of their numbers."""
        return [*(self._special() if include_special_tokens else []), *self._tokens]

    def vocabulary_size(self):
        """How many tokens there are, those for masks and unknown ones too."""
        return self._token_start() + len(self._tokens)

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Sets the tokens: a list or array, or the path of a file with one a line."""
        if self.output_mode == "tf_idf" and idf_weights is None:
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'.")
        if self.output_mode != "tf_idf" and idf_weights is not None:
            raise ValueError(
                "`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: "
                f"output_mode={self.output_mode} and idf_weights={idf_weights}"
            )
        if isinstance(vocabulary, (str, os.PathLike)):
            vocabulary = self._read(vocabulary)
        elif hasattr(vocabulary, "numpy"):
            vocabulary = vocabulary.numpy()
        given = [self._plain(token) for token in vocabulary]
        if not given:
            raise ValueError(f"Cannot set an empty vocabulary. Received: vocabulary={vocabulary}")
        special = self._special()
        has_special = bool(special) and given[: len(special)] == special
        tokens = given[len(special) :] if has_special else given
        self._check_tokens(tokens, given, special)
        self._set_tokens(tokens)
        if idf_weights is not None:
            self._set_idf(idf_weights, len(given), has_special)

    def _read(self, path):
        if not os.path.exists(path):
            raise ValueError(f"Vocabulary file {path} does not exist.")
        if self.output_mode == "tf_idf":
            raise ValueError(
                "output_mode `'tf_idf'` does not support loading a vocabulary from file."
            )
        with open(path, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file]
        while lines and lines[-1] == "":
            lines.pop()
        return lines

    def _check_tokens(self, tokens, given, special):
        seen, repeated = set(), []
        for token in tokens:
            if token in seen:
                repeated.append(token)
            seen.add(token)
        if repeated:
            raise ValueError(
                "The passed vocabulary has at least one repeated term. Please uniquify your "
                f"dataset. The repeated terms are: {repeated}"
            )
        named = [("mask", self.mask_token)]
        named += [("OOV", self.oov_token)] if self.invert else []
        for what, token in named:
            if token is not None and token in seen:
                raise ValueError(
                    f"Found reserved {what} token at unexpected location in `vocabulary`. Note "
                    "that passed `vocabulary` does not need to include the OOV and mask tokens. "
                    "Either remove all mask and OOV tokens, or include them only at the start of "
                    f"the vocabulary in precisely this order: {special}. Received: "
                    f"{what.lower()}_token={token} at vocabulary index {given.index(token)}"
                )
        size = self._token_start() + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError(
                "Attempted to set a vocabulary larger than the maximum vocab size. Received "
                f"vocabulary size is {size}; `max_tokens` is {self.max_tokens}."
            )

    def _set_tokens(self, tokens):
        self._tokens = tokens
        self._index = _Index(tokens, self.vocabulary_dtype) if tokens else None
        if self.invert:
            whole = self.get_vocabulary()
            if self.mask_token is None and self._oov_start():
                whole[0] = self.oov_token
            self._whole = convert_to_tensor(np.asarray(whole, _array_type(self.vocabulary_dtype)))
        self._known_size = self.vocabulary_size()

    def _set_idf(self, weights, count, has_special):
        weights = np.asarray(weights, floatx())
        if weights.ndim != 1:
            raise ValueError(
                f"TF-IDF data must be a 1-index array. Received: type(idf_weights)={type(weights)}"
            )
        if count != len(weights):
            raise ValueError(
                "`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                f"{len(weights)}; len(vocabulary) is {count}"
            )
        front = 0 if has_special else self._token_start()
        weights = np.concatenate([np.full(front, np.average(weights), weights.dtype), weights])
        if self.pad_to_max_tokens:
            weights = np.pad(weights, (0, self.max_tokens - len(weights)))
        self._idf = convert_to_tensor(weights)

    @property
    def idf_weights(self):
        """The weight of each token where the output is weighted by frequencies."""
        return self._idf

    # -- Learning it

    def reset_state(self):
        """Forgets the data of adapt()."""
        self._counts, self._documents, self._count = {}, {}, 0

    def adapt(self, data, steps=None):
        """Makes the vocabulary of the data: tokens by how often they come, the most frequent first.

        data: a dataset, an iterable of batches, or one array or tensor. steps: batches to take.
        """
        self.reset_state()
        for batch in batches_of(data, steps):
            self.update_state(_as_rows(batch))
        self.finalize_state()

    def update_state(self, data):
        """Counts the tokens of a batch; ValueError where the vocabulary was given."""
        if self._is_static:
            raise ValueError(
                f"Cannot adapt layer '{self.name}' after setting a static vocabulary via "
                "`vocabulary` argument or `set_vocabulary()` method."
            )
        rows = _rows_of(data)
        for row in rows:
            for token in row:
                self._counts[token] = self._counts.get(token, 0) + 1
            if self.output_mode == "tf_idf":
                for token in set(row):
                    self._documents[token] = self._documents.get(token, 0) + 1
        self._count += len(rows)

    def finalize_state(self):
        """Sets the vocabulary by what was counted."""
        if self._is_static or not self._counts:
            return
        for token in (self.mask_token, self.oov_token):
            if token is not None:
                key = token.encode() if isinstance(token, str) else token
                self._counts.pop(key, None)
        # Of tokens that are as frequent the last one comes first.
        ordered = sorted(self._counts, key=lambda t: (self._counts[t], t), reverse=True)
        if self.max_tokens:
            ordered = ordered[: self.max_tokens - self._token_start()]
        documents, count = self._documents, self._count
        self._set_tokens([self._plain(token) for token in ordered])
        if self.output_mode == "tf_idf":
            weights = [np.log(1 + count / (1 + documents.get(t, 0))) for t in ordered]
            self._set_idf(weights, len(weights), False)
        self.reset_state()

    # -- Looking up

    def call(self, inputs):
        inputs = as_input(inputs, dtypes.int64 if self.invert else self.vocabulary_dtype)
        if isinstance(inputs, RaggedTensor):
            found = inputs.with_flat_values(self._found(inputs.flat_values))
        elif isinstance(inputs, SparseTensor):
            found = SparseTensor(inputs.indices, self._found(inputs.values), inputs.dense_shape)
        else:
            found = self._found(inputs)
        if self.output_mode == "int":
            return found
        depth = self.max_tokens if self.pad_to_max_tokens else self._known_size
        if self.output_mode != "tf_idf":
            return encoded(found, self.output_mode, depth, dtypes.int64, self.sparse)
        if self._idf is None:
            raise ValueError("When `output_mode` is `'tf_idf'`, `idf_weights` must be provided.")
        return encoded(found, "count", depth, floatx()) * self._idf

    def _found(self, x):
        if self.invert:
            return self._inverted(x)
        start = self._token_start()
        unknown = convert_to_tensor(self._oov_start(), dtypes.int64)
        if self._index is None:
            places = array_ops.zeros_like(x, dtype=dtypes.int64)
            is_there = math_ops.cast(places, dtypes.bool)
        else:
            places, is_there = self._index.find(x)
        if self.num_oov_indices == 0:
            check = self._assert_all(x, is_there)
            with control_dependencies([] if check is None else [check]):
                places = array_ops.identity(places)
        elif self.num_oov_indices > 1:
            unknown = self._bucket(x) + self._oov_start()
        found = _where(is_there, places + start, unknown)
        if self.mask_token is not None:
            masked = 0 if self.output_mode == "int" else dtypes.int64.max
            is_mask = math_ops.equal(x, convert_to_tensor(self.mask_token, x.dtype.base_dtype))
            found = _where(is_mask, convert_to_tensor(masked, dtypes.int64), found)
        found.set_shape(x.shape)
        return found

    def _inverted(self, x):
        if self._index is None:
            raise RuntimeError(f"Layer {self.name} has no vocabulary yet.")
        last = self.vocabulary_size() - 1
        is_there = math_ops.logical_and(x >= self._oov_start(), x <= last)
        if self.mask_token is not None:
            is_there = math_ops.logical_or(is_there, math_ops.equal(x, 0))
        tokens = array_ops.gather(self._whole, _clipped(x, last))
        unknown = convert_to_tensor(self.oov_token, self.vocabulary_dtype)
        return _where(is_there, tokens, unknown)

    def _bucket(self, x):
        if x.dtype.base_dtype.is_integer and self.oov_method != "farmhash":
            return math_ops.floormod(math_ops.cast(x, dtypes.int64), self.num_oov_indices)
        x = string_ops.as_string(x) if x.dtype.base_dtype.is_integer else x
        return hashed(x, self.num_oov_indices, self.salt)

    def _assert_all(self, x, is_there):
        if values.runs_now():
            if not np.asarray(is_there.numpy()).all():
                wrong = np.asarray(x.numpy())[~np.asarray(is_there.numpy())]
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV "
                    f"values {wrong[:10]}, consider setting `num_oov_indices=1`.",
                )
            return None
        wrong = array_ops.boolean_mask(x, math_ops.logical_not(is_there))
        return control_flow_ops.Assert(
            math_ops.reduce_all(is_there),
            [
                "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values ",
                wrong,
                " consider setting `num_oov_indices=1`.",
            ],
        )

    def compute_output_shape(self, input_shape):
        depth = self.max_tokens if self.pad_to_max_tokens else self._known_size
        mode = "count" if self.output_mode == "tf_idf" else self.output_mode
        return encoded_shape(input_shape, mode, depth)

    # -- Configurations and files

    def get_config(self):
        names = (
            "invert", "max_tokens", "num_oov_indices", "oov_token", "mask_token", "output_mode",
            "sparse", "pad_to_max_tokens", "vocabulary_dtype", "oov_method", "salt",
        )  # fmt: skip
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        config.update({name: getattr(self, name) for name in names})
        config["vocabulary"] = _listed(self.input_vocabulary)
        config["idf_weights"] = _listed(self.input_idf_weights)
        config["vocabulary_size"] = self._known_size
        return config

    def save_own_variables(self, store):
        """Puts the weights of frequencies into a file of variables."""
        if self.output_mode == "tf_idf" and self._idf is not None:
            store["idf_weights"] = self._idf.numpy()

    def load_own_variables(self, store):
        """Takes the weights of frequencies from a file of variables."""
        if self.output_mode == "tf_idf" and "idf_weights" in store.keys():
            self._idf = convert_to_tensor(np.asarray(store["idf_weights"]))

    def save_assets(self, folder):
        """Writes the vocabulary that was learned into a folder."""
        if self.input_vocabulary is None:
            path = os.path.join(folder, "vocabulary.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(str(token) for token in self.get_vocabulary()))

    def load_assets(self, folder):
        """Reads the vocabulary from a folder that save_assets() wrote."""
        if self.input_vocabulary is not None:
            return
        with open(os.path.join(folder, "vocabulary.txt"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        while lines and lines[-1] == "":
            lines.pop()
        if lines:
            idf = None if self._idf is None else self._idf.numpy()
            self.set_vocabulary(lines, idf)


def _clipped(x, last):
    """x from 0 to the last number."""
    return math_ops.maximum(math_ops.minimum(x, last), 0)


def _listed(value):
    if value is None or isinstance(value, (list, tuple)):
        return value
    found = np.asarray(value).tolist()
    return [_text(x) if isinstance(x, bytes) else x for x in found]


def _as_rows(data):
    """One array of adapt() as rows: a vector is a column of documents of one token."""
    if isinstance(data, (RaggedTensor, SparseTensor)) or values.is_tensor(data):
        return data
    return np.asarray(data)


def _rows_of(data):
    """The tokens of each document of a batch: lists of bytes or whole numbers."""
    if isinstance(data, RaggedTensor):
        splits = np.asarray(data.nested_row_splits[-1].numpy())
        for outer in reversed(data.nested_row_splits[:-1]):
            splits = splits[np.asarray(outer.numpy())]
        flat = np.asarray(data.flat_values.numpy()).tolist()
        return [_flat(flat[a:b]) for a, b in zip(splits[:-1], splits[1:])]
    if isinstance(data, SparseTensor):
        return [_flat(np.asarray(data.values.numpy()).tolist())]
    array = np.asarray(data.numpy() if hasattr(data, "numpy") else data)
    if array.ndim <= 1:
        return [_flat(array.reshape(-1).tolist())]
    return [_flat(row.reshape(-1).tolist()) for row in array]


def _flat(items):
    """Lists in lists as one, texts as bytes."""
    found, todo = [], list(reversed(items))
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            todo.extend(reversed(item))
        else:
            found.append(item.encode() if isinstance(item, str) else item)
    return found


@_layer
class StringLookup(IndexLookup):
    """Numbers for texts, by a vocabulary that is given or learned by adapt()."""

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token="[UNK]",
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        pad_to_max_tokens=False,
        sparse=False,
        encoding="utf-8",
        name=None,
        salt=None,
        **kwargs,
    ):
        self.encoding = encoding
        kwargs.pop("vocabulary_dtype", None)
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, "string", vocabulary, idf_weights,
            invert, output_mode, sparse, pad_to_max_tokens, salt=salt, name=name, **kwargs,
        )  # fmt: skip

    def get_config(self):
        config = super().get_config()
        del config["vocabulary_dtype"]
        return {**config, "encoding": self.encoding}


@_layer
class IntegerLookup(IndexLookup):
    """Numbers for whole numbers, by a vocabulary that is given or learned by adapt()."""

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token=-1,
        vocabulary=None,
        vocabulary_dtype="int64",
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        oov_method="floormod",
        salt=None,
        name=None,
        **kwargs,
    ):
        if vocabulary_dtype != "int64":
            raise ValueError(
                "Only `vocabulary_dtype='int64'` is supported at this time. Received: "
                f"vocabulary_dtype={vocabulary_dtype}"
            )
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, "int64", vocabulary, idf_weights,
            invert, output_mode, sparse, pad_to_max_tokens, oov_method, salt, name, **kwargs,
        )  # fmt: skip
