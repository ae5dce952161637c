"""Features of examples as tensors.

An Example message holds features by name, each a list of bytes, floats or int64s. The functions
take serialized messages, and a dict that says what each feature is to become:
{"name": FixedLenFeature(...)}.
"""

import collections
import re

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.op_call import op1, op_list
from rheos.framework.operation import Tensor
from rheos.framework.ragged import ragged_too
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, sparse_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.ragged import ragged_parsing
from rheos.ops.ragged.ragged_parsing import RaggedFeature
from rheos.ops.ragged.ragged_tensor import RaggedTensor

# ---- What a feature is to become


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """Any number of values in each example: a SparseTensor (batch, most values)."""

    __slots__ = ()


class SparseFeature(
    collections.namedtuple(
        "SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"]
    )
):
    """Values and their indices in two features: a SparseTensor (batch, size).

    index_key: the feature with the indices, int64, or a list of them with a list of sizes.
    already_sorted: whether the indices ascend in each example.
    """

    __slots__ = ()

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class FixedLenFeature(
    collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])
):
    """A fixed number of values in each example: a tensor (batch, *shape).

    default_value: for examples without it; without a default it is required.
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    collections.namedtuple(
        "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"]
    )
):
    """Any number of rows of a fixed shape: a tensor (batch, most rows, *shape), padded.

    default_value: the padding, else 0 or "". allow_missing: no rows where there is no feature.
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


# ---- The arguments of the operations


class _Columns:
    """Features as the operations take them."""

    def __init__(self, features, kinds):
        self.sparse = {}  # key -> dtype
        self.dense = {}  # key -> dtype
        self.ragged = {}  # key -> (dtype, dtype of splits)
        self.shapes = {}
        self.defaults = {}  # for those that may be missing, None or a value
        for key in sorted(features or {}):
            feature = features[key]
            if not isinstance(
                feature,
                (
                    VarLenFeature,
                    SparseFeature,
                    FixedLenFeature,
                    FixedLenSequenceFeature,
                    RaggedFeature,
                ),
            ):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if type(feature) not in kinds:
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            self._add(key, feature)
        both = set(self.dense) & set(self.sparse)
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")
        for what, others in (("dense", self.dense), ("sparse", self.sparse)):
            both = set(self.ragged) & set(others)
            if both:
                raise ValueError(
                    f"Ragged and {what} keys must not intersect; ragged_keys: "
                    f"{list(self.ragged)}, {what}_keys: {list(others)}, intersection: {both}"
                )

    def _add(self, key, feature):
        if isinstance(feature, SparseFeature):
            for part in ("index_key", "value_key"):
                if not getattr(feature, part):
                    raise ValueError(f"Missing {part} for SparseFeature {feature}.")
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        if isinstance(feature, RaggedFeature):
            for name, dtype, splits in ragged_parsing.keys_of(key, feature):
                self._add_ragged(name, dtype, splits)
            return
        dtype = dtypes.as_dtype(feature.dtype)
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, dtype)
        elif isinstance(feature, SparseFeature):
            for index_key in sorted(_index_keys(feature)):
                self._add_sparse(index_key, dtypes.int64)
            self._add_sparse(feature.value_key, dtype)
        else:
            self._add_dense(key, feature, dtype)

    def _add_sparse(self, key, dtype):
        known = self.sparse.setdefault(key, dtype)
        if known != dtype:
            raise ValueError(f"Conflicting type {known} vs {dtype} for feature {key}.")

    def _add_ragged(self, key, dtype, splits):
        known = self.ragged.setdefault(key, (dtype, splits))
        if known[0] != dtype:
            raise ValueError(f"Conflicting type {known[0]} vs {dtype} for feature {key}.")
        if known[1] != splits:
            raise ValueError(f"Conflicting row_split_dtype for feature {key}.")

    def _add_dense(self, key, feature, dtype):
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = TensorShape(feature.shape)
        if isinstance(feature, FixedLenFeature):
            if shape.ndims and shape.dims[0].value is None:
                raise ValueError(
                    f"First dimension of shape for feature {key} unknown. Consider using "
                    "FixedLenSequenceFeature."
                )
            if not shape.is_fully_defined():
                raise ValueError(
                    f"All dimensions of shape for feature {key} need to be known but received "
                    f"{feature.shape}."
                )
        elif feature.allow_missing:
            self.defaults[key] = None
        self.dense[key], self.shapes[key] = dtype, shape
        if feature.default_value is not None:
            self.defaults[key] = feature.default_value

    def default_tensors(self, reshape=True):
        """The defaults of the dense ones: an empty vector where there is none."""
        return [self._default(key, dtype, reshape) for key, dtype in self.dense.items()]

    def _default(self, key, dtype, reshape):
        shape, value = self.shapes[key], self.defaults.get(key)
        varies = shape.ndims is not None and shape.ndims > 0 and shape.dims[0].value is None
        if value is None:
            if varies:
                return convert_to_tensor("" if dtype == dtypes.string else 0, dtype=dtype)
            return constant([], dtype=dtype)
        name = ("padding_" if varies else "key_") + _clean(key)
        if varies:
            return array_ops.reshape(convert_to_tensor(value, dtype=dtype, name=name), [])
        if isinstance(value, Tensor):
            return value
        value = convert_to_tensor(value, dtype=dtype, name=name)
        return array_ops.reshape(value, shape) if reshape else value

    def shape_list(self):
        return [self.shapes[key] for key in self.dense]

    def results(self, outputs):
        """The outputs of an operation by key: SparseTensors and tensors."""
        count = len(self.sparse)
        found = {
            key: SparseTensor(outputs[i], outputs[count + i], outputs[2 * count + i])
            for i, key in enumerate(self.sparse)
        }
        found.update(zip(self.dense, outputs[3 * count :]))
        return found

    def ragged_results(self, values, *splits):
        """By key, the ragged tensors of outputs: the values and the splits, outermost first."""
        found = {}
        for key, flat, *parts in zip(self.ragged, values, *splits):
            for one in reversed(parts):
                flat = RaggedTensor.from_row_splits(flat, one, validate=False)
            found[key] = flat
        return found

    def ragged_types(self):
        """The dtypes of the values and of the splits."""
        pairs = list(self.ragged.values())
        return [dtype for dtype, _ in pairs], [splits for _, splits in pairs]


def _clean(key):
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def _index_keys(feature):
    return [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key


def _example_columns(features):
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    prepared = {}
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            feature = feature._replace(shape=[None, *TensorShape(feature.shape).as_list()])
        prepared[key] = feature
    kinds = (
        VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature,
    )  # fmt: skip
    return _Columns(prepared, kinds)


def _merge_sparse_features(features, found):
    """Joins the values and indices of each SparseFeature; what only they needed is left out."""
    made = dict(found)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            ids = [found[k] for k in _index_keys(feature)]
            single = isinstance(feature.index_key, str)
            made[key] = sparse_ops.sparse_merge(
                ids[0] if single else ids,
                found[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
        elif isinstance(feature, RaggedFeature):
            made[key] = ragged_parsing.shared_out(key, feature, found)
    return {key: value for key, value in made.items() if key in features}


# ---- Examples


def _parse_ragged_examples(serialized, names, columns, name):
    """As _parse_examples(), where some features become ragged."""
    values, splits = columns.ragged_types()
    with name_scope(name, "ParseExample", [serialized, names]):
        outputs = op_list(
            "ParseExampleV2",
            name,
            serialized,
            [] if names is None else names,
            list(columns.sparse),
            list(columns.dense),
            list(columns.ragged),
            columns.default_tensors(),
            num_sparse=len(columns.sparse),
            sparse_types=list(columns.sparse.values()),
            ragged_value_types=values,
            ragged_split_types=splits,
            dense_shapes=columns.shape_list(),
        )
    first = 3 * len(columns.sparse) + len(columns.dense)
    middle = first + len(columns.ragged)
    found = columns.results(outputs[:first])
    found.update(columns.ragged_results(outputs[first:middle], outputs[middle:]))
    return found


def _parse_examples(serialized, names, columns, name):
    if columns.ragged:
        return _parse_ragged_examples(serialized, names, columns, name)
    with name_scope(name, "ParseExample", [serialized, names]):
        outputs = op_list(
            "ParseExample",
            name,
            serialized,
            [] if names is None else names,
            list(columns.sparse),
            list(columns.dense),
            columns.default_tensors(),
            Nsparse=len(columns.sparse),
            Ndense=len(columns.dense),
            sparse_types=list(columns.sparse.values()),
            dense_shapes=columns.shape_list(),
        )
    return columns.results(outputs)


def parse_example(serialized, features, name=None, example_names=None):
    """The features of a vector of serialized Example messages: a dict of tensors by key.

    features: a dict from keys to FixedLenFeature, FixedLenSequenceFeature, VarLenFeature,
    SparseFeature or RaggedFeature. example_names: a string vector for errors.
    InvalidArgumentError for a message that cannot be parsed, has another type of feature or lacks
    one that is required.
    """
    columns = _example_columns(features)
    return _merge_sparse_features(
        features, _parse_examples(serialized, example_names, columns, name)
    )


def parse_single_example(serialized, features, name=None, example_names=None):
    """The features of one serialized Example message, as with parse_example but without a batch.

    >>> value = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"n": value}))
    >>> form = {"n": tf.io.FixedLenFeature([], tf.int64)}
    >>> print(tf.io.parse_single_example(example.SerializeToString(), form)["n"].numpy())
    7
    """
    columns = _example_columns(features)
    if columns.ragged:
        found = _parse_named_example(serialized, example_names, columns, name)
        made = _merge_sparse_features(features, found)
        for key, feature in features.items():
            if isinstance(feature, RaggedFeature):
                made[key] = made[key][0]
        return made
    if example_names is not None:
        found = _parse_named_example(serialized, example_names, columns, name)
    else:
        with name_scope(name, "ParseSingleExample", [serialized]):
            serialized = convert_to_tensor(serialized, name="serialized")
            outputs = op_list(
                "ParseSingleExample",
                name,
                serialized,
                columns.default_tensors(),
                num_sparse=len(columns.sparse),
                sparse_keys=list(columns.sparse),
                sparse_types=list(columns.sparse.values()),
                dense_keys=list(columns.dense),
                dense_shapes=columns.shape_list(),
            )
            found = columns.results(outputs)
    return _merge_sparse_features(features, found)


def _scalar(value, name):
    """`value` if it is a scalar; where that is not known, checked when it runs."""
    if value.shape.ndims is None:
        check = control_flow_ops.Assert(
            math_ops.equal(array_ops.rank(value), 0),
            [f"Input {name} must be a scalar"],
            name=name.title() + "IsScalar",
        )
        with control_dependencies([check]):
            return array_ops.identity(value, name=name.title() + "Dependencies")
    if value.shape.ndims != 0:
        raise ValueError(f"Input {name} must be a scalar")
    return value


def _parse_named_example(serialized, names, columns, name):
    given = [serialized] if names is None else [serialized, names]
    with name_scope(name, "ParseSingleExample", given):
        serialized = _scalar(convert_to_tensor(serialized, name="serialized"), "serialized")
        if names is not None:
            names = _scalar(convert_to_tensor(names, name="example_names"), "example_names")
            names = array_ops.expand_dims(names, 0)
        serialized = array_ops.expand_dims(serialized, 0)
        found = _parse_examples(serialized, names, columns, name)
        for key in columns.dense:
            found[key] = array_ops.squeeze(found[key], [0], name="Squeeze_" + _clean(key))
        for key in columns.sparse:
            sparse, label = found[key], _clean(key)
            found[key] = SparseTensor(
                array_ops.slice(sparse.indices, [0, 1], [-1, -1], name="Slice_Indices_" + label),
                sparse.values,
                array_ops.slice(sparse.dense_shape, [1], [-1], name="Squeeze_Shape_" + label),
            )
        return found


# ---- Sequence examples


def _sequence_columns(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _Columns(context_features, (VarLenFeature, FixedLenFeature, RaggedFeature))
    kinds = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)
    lists = _Columns(sequence_features, kinds)
    for key, value in lists.defaults.items():
        if value is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return context, lists


def _sequence_types(context, lists):
    return {
        "Ncontext_sparse": len(context.sparse),
        "Ncontext_dense": len(context.dense),
        "Nfeature_list_sparse": len(lists.sparse),
        "Nfeature_list_dense": len(lists.dense),
        "context_sparse_types": list(context.sparse.values()),
        "context_dense_shapes": context.shape_list(),
        "feature_list_sparse_types": list(lists.sparse.values()),
        "feature_list_dense_types": list(lists.dense.values()),
        "feature_list_dense_shapes": lists.shape_list(),
    }


def _sequence_results(context, lists, outputs):
    num_context = 3 * len(context.sparse) + len(context.dense)
    num_lists = 3 * len(lists.sparse) + len(lists.dense)
    rest = outputs[num_context:]
    return (
        context.results(outputs[:num_context]),
        lists.results(rest[:num_lists]),
        dict(zip(lists.dense, rest[num_lists:])),
    )


def _parse_ragged_sequences(serialized, names, context, lists, name):
    """What parse_sequence_example() gives, where some features become ragged."""
    of_context, of_lists = context.ragged_types(), lists.ragged_types()
    types = _sequence_types(context, lists)
    del types["Ncontext_dense"]
    with name_scope(name, "ParseSequenceExample", [serialized]):
        outputs = op_list(
            "ParseSequenceExampleV2",
            name,
            serialized,
            [] if names is None else names,
            list(context.sparse),
            list(context.dense),
            list(context.ragged),
            list(lists.sparse),
            list(lists.dense),
            list(lists.ragged),
            [key in lists.defaults for key in lists.dense],
            context.default_tensors(reshape=False),
            context_ragged_value_types=of_context[0],
            context_ragged_split_types=of_context[1],
            feature_list_ragged_value_types=of_lists[0],
            feature_list_ragged_split_types=of_lists[1],
            **types,
        )
    outputs = iter(outputs)

    def take(count):
        return [next(outputs) for _ in range(count)]

    in_context = context.results(take(3 * len(context.sparse) + len(context.dense)))
    count = len(context.ragged)
    in_context.update(context.ragged_results(take(count), take(count)))
    in_lists = lists.results(take(3 * len(lists.sparse) + len(lists.dense)))
    lengths = dict(zip(lists.dense, take(len(lists.dense))))
    count = len(lists.ragged)
    in_lists.update(lists.ragged_results(take(count), take(count), take(count)))
    return in_context, in_lists, lengths


def _has_ragged(*features):
    return any(isinstance(f, RaggedFeature) for one in features for f in (one or {}).values())


def parse_sequence_example(
    serialized, context_features=None, sequence_features=None, example_names=None, name=None
):
    """The features of a vector of serialized SequenceExample messages.

    context_features: a dict of FixedLenFeature and VarLenFeature. sequence_features: a dict of
    FixedLenSequenceFeature and VarLenFeature. Three dicts are returned: the context, (batch, ...);
    the sequences, (batch, most steps, ...); the numbers of steps of the FixedLenSequenceFeatures.
    """
    context, lists = _sequence_columns(context_features, sequence_features)
    if _has_ragged(context_features, sequence_features):
        found = _parse_ragged_sequences(serialized, example_names, context, lists, name)
        in_context = _merge_sparse_features(context_features or {}, found[0])
        return in_context, _merge_sparse_features(sequence_features or {}, found[1]), found[2]
    with name_scope(name, "ParseSequenceExample", [serialized]):
        defaults = context.default_tensors(reshape=False)
        outputs = op_list(
            "ParseSequenceExample",
            name,
            serialized,
            [] if example_names is None else example_names,
            defaults,
            feature_list_dense_missing_assumed_empty=sorted(lists.defaults),
            context_sparse_keys=list(context.sparse),
            context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(lists.sparse),
            feature_list_dense_keys=list(lists.dense),
            **_sequence_types(context, lists),
        )
    return _sequence_results(context, lists, outputs)


def _single_of_ragged(serialized, context_features, sequence_features, example_name, name):
    """The only one of a batch of one."""
    names = None if example_name is None else array_ops.expand_dims(example_name, 0)
    serialized = _scalar(convert_to_tensor(serialized, name="serialized"), "serialized")
    found = parse_sequence_example(
        array_ops.expand_dims(serialized, 0), context_features, sequence_features, names, name
    )
    return tuple({key: _only_one(value) for key, value in part.items()} for part in found[:2])


def _only_one(value):
    if isinstance(value, SparseTensor):
        return SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
    return value[0]


def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """The features of one serialized SequenceExample message: two dicts, context and sequences.

    As with parse_sequence_example but without a batch.
    """
    context, lists = _sequence_columns(context_features, sequence_features)
    if _has_ragged(context_features, sequence_features):
        return _single_of_ragged(
            serialized, context_features, sequence_features, example_name, name
        )
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        defaults = context.default_tensors()
        outputs = op_list(
            "ParseSingleSequenceExample",
            name,
            serialized,
            sorted(lists.defaults),
            list(context.sparse),
            list(context.dense),
            list(lists.sparse),
            list(lists.dense),
            defaults,
            "" if example_name is None else example_name,
            **_sequence_types(context, lists),
        )
    return _sequence_results(context, lists, outputs)[:2]


# ---- Bytes


@ragged_too("elementwise")
def decode_compressed(bytes, compression_type="", name=None):
    """Strings that were compressed, as they were before; compression_type "", "ZLIB" or "GZIP"."""
    return op1("DecodeCompressed", name, bytes, compression_type=compression_type)


def decode_json_example(json_examples, name=None):
    """Serialized Example messages of examples in JSON."""
    return op1("DecodeJSONExample", name, json_examples)
