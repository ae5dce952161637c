"""tf.parse_example and its like: names, shapes, values and errors are TensorFlow 1.15's."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def feature(values):
    train = tf.train
    if not values:
        return train.Feature()
    if isinstance(values[0], bytes):
        return train.Feature(bytes_list=train.BytesList(value=values))
    if isinstance(values[0], float):
        return train.Feature(float_list=train.FloatList(value=values))
    return train.Feature(int64_list=train.Int64List(value=values))


def features(values):
    return tf.train.Features(feature={key: feature(v) for key, v in values.items()})


def example(**values):
    return tf.train.Example(features=features(values)).SerializeToString()


def sequence(context, lists):
    train = tf.train
    made = {k: train.FeatureList(feature=[feature(v) for v in vs]) for k, vs in lists.items()}
    return train.SequenceExample(
        context=features(context), feature_lists=train.FeatureLists(feature_list=made)
    ).SerializeToString()


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


SPECS = {
    "a": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]),
    "b b": tf.FixedLenFeature([], tf.int64, 3),
    "c": tf.FixedLenFeature([1], tf.string),
    "d": tf.VarLenFeature(tf.int64),
    "e": tf.FixedLenSequenceFeature([], tf.int64, True),
    "f": tf.FixedLenSequenceFeature([2], tf.int64, True, 5),
}
ONE = {"a": [0.5, 1.5], "b b": [7], "c": [b"x"], "d": [1, 2], "e": [1, 2, 3], "f": [1, 2]}
OTHER = {"c": [b"y"], "d": [9]}


def test_a_batch():
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(serialized, SPECS)
    shapes = {k: v.shape.as_list() for k, v in parsed.items() if k != "d"}
    assert shapes == {
        "a": [None, 2], "b b": [None], "c": [None, 1], "e": [None, None], "f": [None, None, 2]
    }  # fmt: skip
    assert parsed["a"].name == "ParseExample/ParseExample:3"
    assert parsed["d"].indices.shape.as_list() == [None, 2]
    got = run(parsed, {serialized: [example(**ONE), example(**OTHER)]})
    assert got["a"].tolist() == [[0.5, 1.5], [1, 2]] and got["b b"].tolist() == [7, 3]
    assert got["c"].tolist() == [[b"x"], [b"y"]]
    assert got["d"].indices.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert got["d"].values.tolist() == [1, 2, 9] and got["d"].dense_shape.tolist() == [2, 2]
    assert got["e"].tolist() == [[1, 2, 3], [0, 0, 0]]
    assert got["f"].tolist() == [[[1, 2]], [[5, 5]]]


def test_one_example():
    serialized = tf.placeholder(tf.string, [])
    parsed = tf.parse_single_example(serialized, SPECS, name="my")
    assert parsed["a"].name == "my/my:3" and parsed["a"].shape.as_list() == [2]
    got = run(parsed, {serialized: example(**OTHER)})
    assert got["a"].tolist() == [1, 2] and got["b b"] == 3 and got["c"].tolist() == [b"y"]
    assert got["d"] == tf.SparseTensorValue([[0]], [9], [1])
    assert got["e"].shape == (0,) and got["f"].shape == (0, 2)


def test_one_example_with_a_name():
    serialized = tf.placeholder(tf.string)
    specs = {"a": tf.FixedLenFeature([1], tf.int64), "d": tf.VarLenFeature(tf.int64)}
    parsed = tf.parse_single_example(serialized, specs, example_names=tf.constant("its name"))
    got = run(parsed, {serialized: example(a=[4], d=[5, 6])})
    assert got["a"].tolist() == [4] and got["d"].values.tolist() == [5, 6]
    assert got["d"].indices.tolist() == [[0], [1]] and got["d"].dense_shape.tolist() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: its name, Feature: a"):
        run(parsed, {serialized: example()})
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(parsed, {serialized: [example(a=[4])]})


def test_sparse_features_join_values_and_indices():
    specs = {"s": tf.SparseFeature("ix", "v", tf.float32, 100), "v": tf.VarLenFeature(tf.float32)}
    rows = [example(ix=[7, 3], v=[0.5, 1.5]), example(), example(ix=[0], v=[2.5])]
    got = run(tf.parse_example(rows, specs))
    assert sorted(got) == ["s", "v"]
    assert got["s"].indices.tolist() == [[0, 3], [0, 7], [2, 0]]
    assert got["s"].values.tolist() == [1.5, 0.5, 2.5]
    assert got["s"].dense_shape.tolist() == [3, 100]
    specs = {"s": tf.SparseFeature(["i", "j"], "v", tf.float32, [4, 5], already_sorted=True)}
    got = run(tf.parse_single_example(example(i=[1, 2], j=[3, 4], v=[0.5, 1.5]), specs))
    assert got["s"].indices.tolist() == [[1, 3], [2, 4]]
    assert got["s"].dense_shape.tolist() == [4, 5]


CONTEXT = {
    "a": tf.FixedLenFeature([], tf.int64, 8),
    "d": tf.VarLenFeature(tf.string),
}
LISTS = {
    "x": tf.FixedLenSequenceFeature([2], tf.int64),
    "y": tf.VarLenFeature(tf.float32),
    "z": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
}
SEQUENCE = sequence({"d": [b"q"]}, {"x": [[1, 2], [3, 4]], "y": [[0.5], [], [1.5, 2.5]]})
SHORT = sequence({"a": [1]}, {"x": [[5, 6]], "z": [[0.25]]})


def test_one_sequence():
    context, lists = tf.parse_single_sequence_example(SEQUENCE, CONTEXT, LISTS)
    assert lists["x"].shape.as_list() == [None, 2] and lists["z"].shape.as_list() == [None]
    context, lists = run([context, lists])
    assert context["a"] == 8 and context["d"].values.tolist() == [b"q"]
    assert lists["x"].tolist() == [[1, 2], [3, 4]] and lists["z"].shape == (0,)
    assert lists["y"].indices.tolist() == [[0, 0], [2, 0], [2, 1]]
    assert lists["y"].dense_shape.tolist() == [3, 2]


def test_many_sequences():
    made = tf.io.parse_sequence_example([SEQUENCE, SHORT], CONTEXT, LISTS)
    context, lists, lengths = run(list(made))
    assert context["a"].tolist() == [8, 1] and context["d"].dense_shape.tolist() == [2, 1]
    assert lists["x"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert lists["y"].indices.tolist() == [[0, 0, 0], [0, 2, 0], [0, 2, 1]]
    assert lists["z"].tolist() == [[0], [0.25]]
    assert lengths["x"].tolist() == [2, 1] and lengths["z"].tolist() == [0, 1]


BAD = tf.FixedLenFeature


@pytest.mark.parametrize(
    ("specs", "text"),
    [
        ({}, "Missing: features was {}."),
        (None, "Missing: features was None."),
        ({"a": BAD([], None)}, "Missing type for feature a."),
        ({"a": BAD(None, tf.int64)}, "Missing shape for feature a."),
        ({"a": BAD([None], tf.int64)}, "Consider using FixedLenSequenceFeature."),
        ({"a": BAD([2, None], tf.int64)}, "need to be known but received [2, None]."),
        ({"a": tf.FixedLenSequenceFeature([2], tf.int64)}, "requires allow_missing to be True."),
        ({"a": tf.VarLenFeature(None)}, "Missing type for feature a."),
        ({"a": 3}, "Invalid feature a:3."),
        ({"a": tf.SparseFeature(None, "v", tf.float32, 9)}, "Missing index_key for SparseFeature"),
        ({"a": tf.SparseFeature("i", None, tf.float32, 9)}, "Missing value_key for SparseFeature"),
        ({"a": tf.SparseFeature("i", "v", tf.float32, 3), "v": BAD([], tf.float32)},
         "Dense and sparse keys must not intersect; intersection: {'v'}"),
        ({"a": tf.SparseFeature("i", "v", tf.float32, 3), "i": tf.VarLenFeature(tf.string)},
         "Conflicting type"),
        ({"a": BAD([2], tf.int64, [1, 2, 3])}, "Reshape"),
    ],
)  # fmt: skip
def test_wrong_specs(specs, text):
    with pytest.raises(ValueError) as raised:
        tf.parse_example(tf.placeholder(tf.string, [None]), specs)
    assert text in str(raised.value)


def test_wrong_sequence_specs():
    for context, lists, text in (
        (None, None, "Missing features."),
        (None, {"a": BAD([2], tf.int64)}, "Unsupported FixedLenFeature"),
        ({"a": tf.FixedLenSequenceFeature([], tf.int64)}, None, "Unsupported FixedLenSequence"),
        (None, {"a": tf.FixedLenSequenceFeature([], tf.int64, True, 7)}, "must be None"),
    ):
        with pytest.raises(ValueError, match=text):
            tf.parse_single_sequence_example("", context, lists)


@pytest.mark.parametrize(
    ("serialized", "spec", "text"),
    [
        (example(), BAD([], tf.int64),
         "Name: in1, Feature: a (data type: int64) is required but could not be found."),
        (example(a=[1.0]), BAD([], tf.int64),
         "Name: in1, Key: a, Index: 0.  Data types don't match. Data type: float but expected "
         "type: int64"),
        (example(a=[1, 2]), BAD([3], tf.int64),
         "Key: a, Index: 0.  Number of int64 values != expected.  Values size: 2 but output shape: "
         "[3]"),
        (b"in1", BAD([], tf.int64), "Could not parse example input, value: 'in1'"),
        (example(a=[b"x"]), tf.VarLenFeature(tf.float32), "Expected type: float, Actual type: str"),
    ],
)  # fmt: skip
def test_wrong_examples(serialized, spec, text):
    parsed = tf.parse_example([serialized], {"a": spec}, example_names=["in1"])
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        run(parsed)
    assert text in raised.value.message


def test_specs_show_themselves():
    assert str(SPECS["a"]) == (
        "FixedLenFeature(shape=[2], dtype=tf.float32, default_value=[1.0, 2.0])"
    )
    assert str(SPECS["e"]) == (
        "FixedLenSequenceFeature(shape=[], dtype=tf.int64, allow_missing=True, default_value=None)"
    )


def test_a_batch_of_many():
    values = np.arange(5000)
    rows = [example(v=[int(v), int(v) + 1], d=list(range(int(v) % 4))) for v in values]
    specs = {"v": tf.FixedLenFeature([2], tf.int64), "d": tf.VarLenFeature(tf.int64)}
    got = run(tf.parse_example(tf.constant(rows), specs))
    assert (got["v"] == np.stack([values, values + 1], 1)).all()
    assert got["d"].values.sum() == sum(sum(range(v % 4)) for v in values)


def test_examples_in_json():
    rows = [
        '{"features": {"feature": {"v": {"int64List": {"value": ["1", 2]}}}}}',
        '{"features": {"feature": {"v": {"int64List": {"value": [3, 4]}}}}}',
    ]
    specs = {"v": tf.FixedLenFeature([2], tf.int64)}
    got = run(tf.parse_example(tf.decode_json_example(rows), specs))
    assert got["v"].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
        run(tf.io.decode_json_example(["{]"]))


# ---- Batches, whose examples are guessed from the one before: each must come out as it does alone


def field(number, data):
    """A field of bytes of a message."""
    size, length = b"", len(data)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + data


def entry(key, kind, lists, order=1):
    """An entry of the map: a key and a Feature of some lists; order -1: the value comes first."""
    value = b"".join(field(kind, b"".join(fields)) for fields in lists)
    return field(1, b"".join([field(1, key.encode()), field(2, value)][::order]))


def any_entry(rng, key):
    """An entry in one of the ways in which a writer may put it."""
    ints = b"".join(bytes([rng.integers(128, 256), rng.integers(0, 100)]) for _ in range(2))
    usual = {
        "number": entry(key, 3, [[field(1, ints[:2])]]),
        "text": entry(key, 1, [[field(1, b"x" * rng.integers(0, 4))]]),
        "floats": entry(key, 2, [[field(1, rng.random(2, np.float32).tobytes())]]),
        "more": entry(key, 3, [[field(1, ints)]]),
    }
    unusual = {
        "number": entry(key, 3, [[b"\x08" + ints[:2]]]),  # not packed
        "text": entry(key, 1, [[field(1, b"in front")], [field(1, b"ignored")]], -1),
        "floats": entry(key, 2, [[field(1, b"\0\0\0\1"), field(1, b"\0\1\1\1")]]),
        "more": entry(key, 3, [[field(1, ints[:2]), b"\x08" + ints[2:]]]),
    }
    return (unusual if rng.random() < 0.2 else usual)[key]


def any_example(rng):
    keys = ["number", "text", "floats", "more"]
    if rng.random() < 0.3:
        rng.shuffle(keys)
    entries = [any_entry(rng, key) for key in keys]
    if rng.random() < 0.2:  # again: the last one counts
        entries.append(any_entry(rng, keys[rng.integers(4)]))
    if rng.random() < 0.2:  # of no column
        entries.insert(rng.integers(5), entry("another", 1, [[field(1, b"abc")]]))
    return field(1, b"".join(entries))


@pytest.mark.parametrize("kind", ["fixed", "variable"])
def test_an_example_of_a_batch_is_what_it_is_alone(kind):
    rng = np.random.default_rng(7)
    serialized = [any_example(rng) for _ in range(400)]
    shapes = {
        "number": (tf.int64, []),
        "text": (tf.string, []),
        "floats": (tf.float32, [2]),
        "more": (tf.int64, [2]),
    }
    specs = {
        key: tf.FixedLenFeature(shape, dtype) if kind == "fixed" else tf.VarLenFeature(dtype)
        for key, (dtype, shape) in shapes.items()
    }
    batch = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(batch, specs)
    dense = {
        key: value if kind == "fixed" else tf.sparse.to_dense(value, "" if key == "text" else 0)
        for key, value in parsed.items()
    }
    with tf.Session() as session:
        together = session.run(dense, {batch: serialized})
        for i, one in enumerate(serialized):
            alone = session.run(dense, {batch: [one]})
            for key, value in alone.items():
                width = value.shape[1] if value.ndim > 1 else None
                np.testing.assert_array_equal(
                    value[0], together[key][i][:width] if width else together[key][i]
                )


def test_a_batch_tells_what_is_wrong_behind_guessed_examples():
    good = field(1, entry("a", 3, [[field(1, b"\x07")]]) * 2)
    batch = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(batch, {"a": tf.FixedLenFeature([], tf.int64)})
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(parsed, {batch: [good] * 3})["a"], [7, 7, 7])
        for wrong, words in [
            (good[:-1], "Could not parse example input"),
            (good.replace(b"\x07", b"\x87"), "Can't parse serialized Example"),
            (field(1, entry("a", 3, [[field(1, b"\x05\x06")]])), "Number of int64 values"),
            (field(1, entry("a", 1, [[field(1, b"\x05")]])), "Data types don't match"),
        ]:
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(parsed, {batch: [good, good, wrong]})
