"""Layers that make numbers of texts."""

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.layers.categories import as_input, batches_of
from rheos.models.layers.lookup import StringLookup
from rheos.ops.array import array_ops
from rheos.ops.io import string_ops
from rheos.ops.ragged import ragged_string_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor

_layer = objects.known("layer")
_PUNCTUATION = r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']'
_STANDARDS = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
_SPLITS = ("whitespace", "character")


def _check_setting(value, allowed, name):
    if value is not None and not callable(value) and value not in allowed:
        raise ValueError(
            f"Unknown value for `{name}` argument of layer TextVectorization. Allowed values are: "
            f"`None`, a `callable`, or one of the following values: {allowed}. Received: {value}"
        )


@_layer
class TextVectorization(Layer):
    """Texts as numbers of their words, or as vectors of which words are there.

    standardize, split: what is done to texts first, by name or a function. ngrams: runs of words up
    to that length, or of these lengths. output_sequence_length: of each text, cut or padded.
    """

    def __init__(
        self,
        max_tokens=None,
        standardize="lower_and_strip_punctuation",
        split="whitespace",
        ngrams=None,
        output_mode="int",
        output_sequence_length=None,
        pad_to_max_tokens=False,
        vocabulary=None,
        idf_weights=None,
        sparse=False,
        ragged=False,
        encoding="utf-8",
        name=None,
        **kwargs,
    ):
        _check_setting(standardize, _STANDARDS, "standardize")
        _check_setting(split, _SPLITS, "split")
        if not (
            ngrams is None
            or isinstance(ngrams, int)
            or isinstance(ngrams, tuple)
            and all(isinstance(n, int) for n in ngrams)
        ):
            raise ValueError(
                "`ngrams` must be None, an integer, or a tuple of integers. Received: "
                f"ngrams={ngrams}"
            )
        if output_mode == "int" and not isinstance(output_sequence_length, (int, type(None))):
            raise ValueError(
                "`output_sequence_length` must be either None or an integer when `output_mode` is "
                f"'int'. Received: output_sequence_length={output_sequence_length}"
            )
        if output_mode != "int" and output_sequence_length is not None:
            raise ValueError(
                "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                f"output_sequence_length={output_sequence_length}."
            )
        if ragged and output_mode != "int":
            raise ValueError(
                "`ragged` must not be true if `output_mode` is not `'int'`. Received: "
                f"ragged={ragged} and output_mode={output_mode}"
            )
        lookup = {k: kwargs.pop(k) for k in ("vocabulary_size", "has_input_vocabulary")
                  if k in kwargs}  # fmt: skip
        kwargs.pop("dtype", None)
        super().__init__(name=name, dtype="string", **kwargs)
        self._standardize, self._split, self._ngrams = standardize, split, ngrams
        self._output_mode, self._length = output_mode, output_sequence_length
        self._ragged, self._encoding = ragged, encoding
        self._lookup_layer = StringLookup(
            max_tokens=max_tokens,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            pad_to_max_tokens=pad_to_max_tokens,
            mask_token="",
            output_mode=output_mode,
            sparse=sparse,
            encoding=encoding,
            **lookup,
        )
        self.built = True

    # -- The vocabulary

    def adapt(self, data, batch_size=None, steps=None):
        """Makes the vocabulary of texts: a dataset, an iterable of batches, or an array."""
        self.reset_state()
        for batch in batches_of(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data):
        """Counts the words of a batch of texts."""
        self._lookup_layer.update_state(self._parted(data))

    def finalize_state(self):
        """Sets the vocabulary by what was counted."""
        self._lookup_layer.finalize_state()

    def reset_state(self):
        """Forgets the data of adapt()."""
        self._lookup_layer.reset_state()

    def get_vocabulary(self, include_special_tokens=True):
        """The words in the order of their numbers."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        """How many words there are, with padding and unknown ones."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Sets the words: a list or array, or the path of a file with one a line."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights=idf_weights)

    # -- Calling

    def _parted(self, x):
        """Texts standardized and split."""
        x = as_input(x, "string")
        is_ragged = isinstance(x, RaggedTensor)
        flat = x.flat_values if is_ragged else x
        if self._standardize in ("lower", "lower_and_strip_punctuation"):
            flat = string_ops.string_lower(flat)
        if self._standardize in ("strip_punctuation", "lower_and_strip_punctuation"):
            flat = string_ops.regex_replace(flat, _PUNCTUATION, "")
        x = x.with_flat_values(flat) if is_ragged else flat
        if callable(self._standardize):
            x = self._standardize(x)
        if self._split is not None:
            x = self._split_texts(x)
        if self._ngrams is not None:
            widths = self._ngrams
            widths = range(1, widths + 1) if isinstance(widths, int) else widths
            x = ragged_string_ops.ngrams(x, list(widths), separator=" ")
        return x

    def _split_texts(self, x):
        if x.shape.ndims is not None and x.shape.ndims > 1:
            if x.shape.as_list()[-1] != 1:
                raise ValueError(
                    "When using `TextVectorization` to tokenize strings, the input rank must be 1 "
                    f"or the last shape dimension must be 1. Received: inputs.shape={x.shape} "
                    f"with rank={x.shape.ndims}"
                )
            x = array_ops.squeeze(x, axis=[-1])
        if x.shape.ndims == 0 and not callable(self._split):
            return self._split_texts(array_ops.expand_dims(x, 0)).values
        if self._split == "whitespace":
            return ragged_string_ops.string_split_v2(x, result_type="RaggedTensor")
        if self._split == "character":
            return ragged_string_ops.unicode_split(x, "UTF-8")
        return self._split(x)

    def call(self, inputs):
        found = self._lookup_layer.call(self._parted(inputs))
        if self._output_mode != "int" or self._ragged and isinstance(found, RaggedTensor):
            return found
        if isinstance(found, RaggedTensor):
            found = found.to_tensor(convert_to_tensor(0, "int64"))
        return found if self._length is None else self._fitted(found)

    def _fitted(self, x):
        """Rows cut or padded to the length of the setting."""
        x = x[..., : self._length]
        shape = array_ops.shape(x)
        rank = x.shape.ndims
        paddings = [[0, 0]] * (rank - 1)
        more = array_ops.stack([0, self._length - shape[-1]])
        paddings = array_ops.stack([*[convert_to_tensor(p) for p in paddings], more])
        known = x.shape.as_list()
        x = array_ops.pad(x, paddings)
        x.set_shape([*known[:-1], self._length])
        return x

    def compute_output_shape(self, input_shape):
        dims = as_shape(input_shape).as_list()
        if self._output_mode == "int":
            return TensorShape([dims[0], self._length])
        if self._split is None:
            dims = [*dims, 1] if len(dims) <= 1 else dims
        else:
            dims = [dims[0], None]
        return self._lookup_layer.compute_output_shape(dims)

    # -- Configurations and files

    def get_config(self):
        lookup = self._lookup_layer.get_config()
        names = ("max_tokens", "pad_to_max_tokens", "sparse", "vocabulary", "idf_weights")
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
            "standardize": _serial(self._standardize),
            "split": _serial(self._split),
            "ngrams": self._ngrams,
            "output_mode": self._output_mode,
            "output_sequence_length": self._length,
            "ragged": self._ragged,
            "encoding": self._encoding,
            "vocabulary_size": self.vocabulary_size(),
            **{name: lookup[name] for name in names},
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for name, allowed in (("standardize", _STANDARDS), ("split", _SPLITS)):
            given = config.get(name)
            if given is not None and given not in allowed:
                config[name] = objects.deserialize("function", given, custom_objects)
        if isinstance(config.get("ngrams"), list):
            config["ngrams"] = tuple(config["ngrams"])
        return cls(**config)

    def save_own_variables(self, store):
        """Puts the weights of frequencies into a file of variables."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store):
        """Takes the weights of frequencies from a file of variables."""
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, folder):
        """Writes the vocabulary that was learned into a folder."""
        self._lookup_layer.save_assets(folder)

    def load_assets(self, folder):
        """Reads the vocabulary from a folder that save_assets() wrote."""
        self._lookup_layer.load_assets(folder)


def _serial(setting):
    return objects.serialize(setting) if callable(setting) else setting
