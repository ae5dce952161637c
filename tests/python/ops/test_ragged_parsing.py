"""tf.io.RaggedFeature; the expected values are TensorFlow's."""

import pytest
import rheos.v2

tf = rheos.v2
Ragged = tf.io.RaggedFeature


def numbers(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


A = example(
    v=floats(1, 2, 3, 4), lengths=numbers(1, 3), splits=numbers(0, 1, 4), starts=numbers(0, 1),
    limits=numbers(1, 4), ids=numbers(0, 1, 1, 1), outer=numbers(2), n=numbers(7),
)  # fmt: skip
B = example(
    v=floats(5, 6), lengths=numbers(0, 2), splits=numbers(0, 0, 2), starts=numbers(0, 0),
    limits=numbers(0, 2), ids=numbers(1, 1), outer=numbers(1, 1), n=numbers(8),
)  # fmt: skip
SHARED_OUT = [[[1.0], [2.0, 3.0, 4.0]], [[], [5.0, 6.0]]]


def test_any_number_of_values_makes_rows():
    features = {"v": Ragged(tf.float32), "n": tf.io.FixedLenFeature([], tf.int64)}
    found = tf.io.parse_example([A, B], features)
    assert found["v"].to_list() == [[1, 2, 3, 4], [5, 6]]
    assert found["v"].row_splits.dtype == tf.int32
    assert found["n"].numpy().tolist() == [7, 8]
    one = tf.io.parse_single_example(A, features)
    assert one["v"].numpy().tolist() == [1, 2, 3, 4] and int(one["n"]) == 7
    missing = {"x": Ragged(tf.string, "nowhere", row_splits_dtype=tf.int64)}
    assert tf.io.parse_example([A, B], missing)["x"].to_list() == [[], []]


@pytest.mark.parametrize(
    "partition",
    [
        Ragged.RowLengths("lengths"),
        Ragged.RowSplits("splits"),
        Ragged.RowStarts("starts"),
        Ragged.RowLimits("limits"),
        Ragged.ValueRowIds("ids"),
    ],
    ids=lambda partition: type(partition).__name__,
)
def test_values_are_shared_out_by_numbers_of_the_example(partition):
    features = {"x": Ragged(tf.float32, "v", [partition], validate=True)}
    found = tf.io.parse_example([A, B], features)["x"]
    assert found.to_list() == SHARED_OUT and list(found.shape) == [2, None, None]
    assert tf.io.parse_single_example(A, features)["x"].to_list() == SHARED_OUT[0]


def test_partitions_nest():
    outer, lengths = Ragged.RowLengths("outer"), Ragged.RowLengths("lengths")
    features = {"x": Ragged(tf.float32, "v", [outer, lengths])}
    found = tf.io.parse_example([A, B], features)["x"]
    assert found.to_list() == [[[[1], [2, 3, 4]]], [[[]], [[5, 6]]]]
    features = {"x": Ragged(tf.float32, "v", [Ragged.UniformRowLength(2)])}
    found = tf.io.parse_example([A, B], features)["x"]
    assert found.to_list() == [[[1, 2], [3, 4]], [[5, 6]]] and list(found.shape) == [2, None, 2]
    features = {"x": Ragged(tf.float32, "v", [Ragged.UniformRowLength(2), lengths])}
    found = tf.io.parse_single_example(B, features)["x"]
    assert found.to_list() == [[[], [5, 6]]]


def test_what_does_not_fit_is_refused():
    wrong = {"x": Ragged(tf.float32, "v", [Ragged.RowLengths("n")], validate=True)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        tf.io.parse_example([A, B], wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Data types don't match"):
        tf.io.parse_example([A, B], {"v": Ragged(tf.int64)})
    both = {"x": Ragged(tf.float32, "v"), "v": tf.io.VarLenFeature(tf.float32)}
    with pytest.raises(ValueError, match="must not intersect"):
        tf.io.parse_example([A, B], both)
    with pytest.raises(TypeError, match="partition objects"):
        Ragged(tf.float32, partitions=["lengths"])


def test_steps_of_sequences_are_rows():
    def steps(*features):
        return tf.train.FeatureList(feature=features)

    def sequence(context, **lists):
        return tf.train.SequenceExample(
            context=tf.train.Features(feature=context),
            feature_lists=tf.train.FeatureLists(feature_list=lists),
        ).SerializeToString()

    texts = [
        sequence(
            {"c": numbers(1, 2)},
            q=steps(numbers(1), numbers(2, 3), numbers()),
            l=steps(numbers(1), numbers(1, 1), numbers()),
        ),
        sequence({"c": numbers()}, q=steps(numbers(4, 5)), l=steps(numbers(2))),
    ]
    context, found, _ = tf.io.parse_sequence_example(
        texts, {"c": Ragged(tf.int64)}, {"q": Ragged(tf.int64)}
    )
    assert context["c"].to_list() == [[1, 2], []]
    assert found["q"].to_list() == [[[1], [2, 3], []], [[4, 5]]]
    shared_out = {"q": Ragged(tf.int64, partitions=[Ragged.RowLengths("l")])}
    _, found, _ = tf.io.parse_sequence_example(texts, {}, shared_out)
    assert found["q"].to_list() == [[[[1]], [[2], [3]], []], [[[4, 5]]]]
    context, found = tf.io.parse_single_sequence_example(
        texts[0], {"c": Ragged(tf.int64)}, {"q": Ragged(tf.int64)}
    )
    assert context["c"].numpy().tolist() == [1, 2]
    assert found["q"].to_list() == [[1], [2, 3], []]


def test_datasets_of_examples_have_ragged_elements():
    features = {"x": Ragged(tf.float32, "v", [Ragged.RowLengths("lengths")])}
    dataset = tf.data.Dataset.from_tensor_slices([A, B]).batch(2)
    dataset = dataset.map(lambda texts: tf.io.parse_example(texts, features))
    (element,) = dataset
    assert element["x"].to_list() == SHARED_OUT
