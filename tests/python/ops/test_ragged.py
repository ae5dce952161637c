"""Ragged tensors. The values expected are those of TensorFlow 1.15 for the same calls."""

import numpy as np
import pytest
import rheos.v1 as tf

Ragged = tf.RaggedTensor


def rows(tensor, feed=None):
    """The value of a tensor, as lists in lists."""
    with tf.Session() as session:
        value = session.run(tensor, feed)
    return value.to_list() if isinstance(value, tf.ragged.RaggedTensorValue) else value.tolist()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def flat():
    return tf.ragged.constant([[1, 2], [], [3, 4, 5]])


def deep():
    return tf.ragged.constant([[[1, 2], [3]], [], [[4]]])


def wide():
    return tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)


def test_constants():
    assert rows(flat()) == [[1, 2], [], [3, 4, 5]] and flat().shape.as_list() == [3, None]
    assert deep().shape.as_list() == [3, None, None] and deep().ragged_rank == 2
    assert wide().shape.as_list() == [3, None, 2] and rows(wide())[2] == [[5, 6]]
    assert flat().dtype == tf.int32 and flat().row_splits.dtype == tf.int64
    assert rows(tf.ragged.constant([[[]], []])) == [[[]], []]
    assert tf.ragged.constant([[], []]).dtype == tf.float32
    assert rows(tf.ragged.constant([["a"], ["b", "c"]])) == [[b"a"], [b"b", b"c"]]
    assert isinstance(tf.ragged.constant([1, 2]), tf.Tensor)
    with pytest.raises(ValueError, match="same nesting depth"):
        tf.ragged.constant([1, [2]])
    with pytest.raises(ValueError, match="ragged_rank=3"):
        tf.ragged.constant([[1, 2]], ragged_rank=3)
    value = tf.ragged.constant_value([[1, 2], [3]])
    assert value.to_list() == [[1, 2], [3]] and value.shape == (2, None)


def test_made_of_values_and_partitions():
    values = [1, 2, 3]
    assert rows(Ragged.from_row_splits(values, [0, 1, 3])) == [[1], [2, 3]]
    assert rows(Ragged.from_row_lengths(values, [2, 0, 1])) == [[1, 2], [], [3]]
    assert rows(Ragged.from_row_starts(values, [0, 1, 1])) == [[1], [], [2, 3]]
    assert rows(Ragged.from_row_limits(values, [1, 1, 3])) == [[1], [], [2, 3]]
    assert rows(Ragged.from_value_rowids(values, [0, 0, 2], nrows=5)) == [[1, 2], [], [3], [], []]
    nested = Ragged.from_nested_row_splits(values, [[0, 1, 2], [0, 1, 3]])
    assert rows(nested) == [[[1]], [[2, 3]]]
    assert rows(Ragged.from_nested_row_lengths(values, [[1, 1], [1, 2]])) == [[[1]], [[2, 3]]]
    assert rows(Ragged.from_nested_value_rowids(values, [[0, 1], [0, 1, 1]])) == [[[1]], [[2, 3]]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ragged.from_row_splits([1, 2, 3], [0, 1, 4]),
        lambda: Ragged.from_row_splits([1, 2, 3], [1, 3]),
        lambda: Ragged.from_row_splits([1, 2, 3], [0, 2, 1, 3]),
        lambda: Ragged.from_row_lengths([1, 2, 3], [2, 2]),
        lambda: Ragged.from_row_limits([1, 2, 3], [1, 2]),
        lambda: Ragged.from_value_rowids([1, 2, 3], [0, 2, 1]),
    ],
)
def test_a_partition_that_is_none_fails(make):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        rows(make())


def test_what_it_is():
    assert rows(flat().row_lengths()) == [2, 0, 3] and rows(flat().nrows()) == 3
    assert rows(flat().row_starts()) == [0, 2, 2] and rows(flat().row_limits()) == [2, 2, 5]
    assert rows(flat().value_rowids()) == [0, 0, 2, 2, 2]
    assert rows(deep().bounding_shape()) == [3, 2, 2] and rows(wide().bounding_shape()) == [3, 2, 2]
    assert rows(deep().row_lengths(axis=2)) == [[2, 1], [], [1]]
    assert rows(wide().row_lengths(axis=2)) == [[2, 2], [], [2]]
    assert rows(tf.size(flat())) == 5 and rows(tf.rank(deep())) == 3
    assert rows(tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])) == [0, 0, 0, 2, 2]
    assert rows(tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2])) == [0, 3, 3, 5]


def test_to_dense_and_back():
    assert rows(flat().to_tensor()) == [[1, 2, 0], [0, 0, 0], [3, 4, 5]]
    assert rows(deep().to_tensor(-1)) == [
        [[1, 2], [3, -1]],
        [[-1, -1], [-1, -1]],
        [[4, -1], [-1, -1]],
    ]
    assert rows(tf.sparse.to_dense(flat().to_sparse())) == [[1, 2, 0], [0, 0, 0], [3, 4, 5]]
    assert rows(Ragged.from_tensor([[1, 2, 0], [3, 0, 0]])) == [[1, 2, 0], [3, 0, 0]]
    assert rows(Ragged.from_tensor([[1, 2, 0], [0, 0, 0], [3, 0, 4]], padding=0)) == [
        [1, 2],
        [],
        [3, 0, 4],
    ]
    assert rows(Ragged.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 3])) == [[1], [3, 0, 0]]
    cube = [[[1, 2], [3, 0]], [[0, 0], [4, 5]]]
    assert rows(Ragged.from_tensor(cube, ragged_rank=2)) == cube
    assert rows(Ragged.from_tensor(cube, padding=0, ragged_rank=2)) == [[[1, 2], [3]], [[], [4, 5]]]
    assert rows(Ragged.from_tensor(cube, lengths=([2, 1], [2, 1, 1]))) == [[[1, 2], [3]], [[0]]]
    assert rows(Ragged.from_tensor([[[1, 2], [0, 0]], [[0, 0], [0, 0]]], padding=[0, 0])) == [
        [[1, 2]],
        [],
    ]
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 3])
    assert rows(Ragged.from_sparse(sparse)) == [[1, 2], [], [3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        rows(Ragged.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2])))


def test_gradients_reach_the_values():
    ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    loss = tf.reduce_sum(tf.square(ragged).to_tensor())
    assert rows(tf.gradients(loss, ragged.flat_values)[0]) == [2, 4, 6]


ALL = slice(None)


@pytest.mark.parametrize(
    "make, key, expected",
    [
        (flat, 0, [1, 2]),
        (flat, -1, [3, 4, 5]),
        (deep, 0, [[1, 2], [3]]),
        (deep, (0, 0), [1, 2]),
        (flat, slice(1, None), [[], [3, 4, 5]]),
        (flat, slice(None, None, 2), [[1, 2], [3, 4, 5]]),
        (deep, slice(None, None, -1), [[[4]], [], [[1, 2], [3]]]),
        (flat, (ALL, slice(1, None)), [[2], [], [4, 5]]),
        (flat, (ALL, slice(-1, None)), [[2], [], [5]]),
        (deep, (ALL, slice(None, 1)), [[[1, 2]], [], [[4]]]),
        (wide, (ALL, slice(1, None)), [[[3, 4]], [], []]),
        (deep, (Ellipsis, slice(0, 1)), [[[1], [3]], [], [[4]]]),
        (wide, (ALL, ALL, 0), [[1, 3], [], [5]]),
        (flat, (ALL, None), [[[1, 2]], [[]], [[3, 4, 5]]]),
        (flat, None, [[[1, 2], [], [3, 4, 5]]]),
    ],
)
def test_parts(make, key, expected):
    assert rows(make()[key]) == expected


def test_a_number_does_not_name_a_ragged_column():
    with pytest.raises(ValueError, match="inner ragged dimension"):
        flat()[:, 0]


def test_value_by_value():
    assert rows(flat() + flat()) == [[2, 4], [], [6, 8, 10]]
    assert rows(1 + flat()) == rows(tf.constant(1) + flat()) == [[2, 3], [], [4, 5, 6]]
    assert rows(-flat()) == [[-1, -2], [], [-3, -4, -5]]
    assert rows(tf.abs(flat() - 3)) == [[2, 1], [], [0, 1, 2]]
    assert rows(flat() > 2) == [[False, False], [], [True, True, True]]
    assert rows(tf.cast(flat(), tf.float32)) == [[1.0, 2.0], [], [3.0, 4.0, 5.0]]
    assert rows(tf.ones_like(flat())) == [[1, 1], [], [1, 1, 1]]
    doubled = tf.ragged.map_flat_values(lambda x: x * 2, deep())
    assert rows(doubled) == [[[2, 4], [6]], [], [[8]]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows(flat() + tf.ragged.constant([[1], [2], [3]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        rows(flat() + [1, 2, 3])


@pytest.mark.parametrize(
    "function, make, axis, expected",
    [
        (tf.reduce_sum, flat, None, 15),
        (tf.reduce_sum, flat, 0, [4, 6, 5]),
        (tf.reduce_sum, flat, 1, [3, 0, 12]),
        (tf.reduce_max, flat, -1, [2, np.iinfo(np.int32).min, 5]),
        (tf.reduce_prod, flat, 1, [2, 1, 60]),
        (tf.reduce_sum, deep, 2, [[3, 3], [], [4]]),
        (tf.reduce_sum, deep, 1, [[4, 2], [], [4]]),
        (tf.reduce_sum, deep, 0, [[5, 2], [3]]),
        (tf.reduce_sum, deep, [1, 2], [6, 0, 4]),
        (tf.reduce_sum, wide, 2, [[3, 7], [], [11]]),
    ],
)
def test_reductions(function, make, axis, expected):
    assert rows(function(make(), axis=axis)) == expected


def test_means_and_truths():
    half = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert rows(tf.reduce_mean(half, axis=1)) == [1.5, 3.0]
    assert rows(tf.reduce_mean(half, axis=0)) == [2.0, 2.0]
    truths = tf.ragged.constant([[False], [True], []], dtype=tf.bool)
    assert rows(tf.reduce_any(truths, axis=1)) == [False, True, False]
    assert rows(tf.reduce_all(truths, axis=1)) == [False, True, True]


def test_put_together():
    assert rows(tf.concat([flat(), [[9]]], axis=0)) == [[1, 2], [], [3, 4, 5], [9]]
    column = tf.constant([[7], [8], [9]])
    assert rows(tf.concat([flat(), column], axis=1)) == [[1, 2, 7], [8], [3, 4, 5, 9]]
    assert rows(tf.concat([deep(), deep()], axis=2)) == [[[1, 2, 1, 2], [3, 3]], [], [[4, 4]]]
    assert rows(tf.stack([flat(), flat()])) == [rows(flat()), rows(flat())]
    assert rows(tf.ragged.stack([flat(), flat()], axis=1)) == [
        [[1, 2], [1, 2]],
        [[], []],
        [[3, 4, 5], [3, 4, 5]],
    ]
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows(tf.concat([flat(), deep()[:2, :, 0:1].values], axis=1))


def test_picked():
    assert rows(tf.gather(flat(), [2, 0])) == [[3, 4, 5], [1, 2]]
    assert rows(tf.gather(flat(), [[2], [0]])) == [[[3, 4, 5]], [[1, 2]]]
    places = tf.ragged.constant([[0, 1], [2]])
    assert rows(tf.gather(tf.constant([10, 20, 30]), places)) == [[10, 20], [30]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows(tf.gather(flat(), [3]))
    with pytest.raises(ValueError, match="axis has to be 0"):
        tf.boolean_mask(flat(), [True], axis=1)
    dense_mask = [[True, False, True], [False, False, True]]
    assert rows(tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], dense_mask)) == [[1, 3], [6]]
    assert rows(tf.ragged.boolean_mask(flat(), [True, False, True])) == [[1, 2], [3, 4, 5]]
    assert rows(tf.ragged.boolean_mask(deep(), deep() > 1)) == [[[2], [3]], [], [[4]]]
    parted = tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [2, 0, 2, 1], 4)
    assert rows(parted) == [[b"b"], [b"d"], [b"a", b"c"], []]


def test_ranges():
    assert rows(tf.ragged.range([3, 5, 2])) == [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]
    assert rows(tf.ragged.range([0, 5], [3, 8], 2)) == [[0, 2], [5, 7]]


def test_feeds_and_fetches():
    fed = tf.ragged.placeholder(tf.int32, 1)
    value = tf.ragged.constant_value([[1], [2, 3]], dtype=np.int32)
    assert rows(fed * 2, {fed: value}) == [[2], [4, 6]]
    with tf.Session() as session:
        both = session.run({"deep": deep(), "sum": [tf.reduce_sum(flat())]})
        assert both["deep"].to_list() == [[[1, 2], [3]], [], [[4]]] and both["sum"] == [15]
        assert str(flat().eval(session=session)) == (
            "<tf.RaggedTensorValue [[1, 2], [], [3, 4, 5]]>"
        )
        with pytest.raises(TypeError, match="RaggedTensorValue"):
            session.run(fed, {fed: [1]})


def test_a_ragged_tensor_is_no_dense_one():
    with pytest.raises(TypeError):
        tf.convert_to_tensor(flat())
    with pytest.raises(TypeError):
        bool(flat())


def test_strings():
    ragged = "RaggedTensor"
    split, strings = tf.strings.split, tf.strings
    assert rows(split(["a b", "", "c"], result_type=ragged)) == [[b"a", b"b"], [], [b"c"]]
    assert rows(split("a b", result_type=ragged)) == [b"a", b"b"]
    nested = split(tf.ragged.constant([["a b"], [], ["c d", "e"]]), result_type=ragged)
    assert rows(nested) == [[[b"a", b"b"]], [], [[b"c", b"d"], [b"e"]]]
    assert rows(tf.string_split(["a  b", "c"], result_type=ragged)) == [[b"a", b"b"], [b"c"]]
    assert rows(strings.bytes_split(["ab", "", "c"])) == [[b"a", b"b"], [], [b"c"]]
    assert rows(strings.unicode_decode(["a\u00e9", "b"], "UTF-8")) == [[97, 233], [98]]
    assert rows(strings.unicode_split("a\u00e9", "UTF-8")) == [b"a", b"\xc3\xa9"]
    codes, starts = strings.unicode_decode_with_offsets(["a\u00e9b"], "UTF-8")
    assert rows(codes) == [[97, 233, 98]] and rows(starts) == [[0, 1, 3]]
    codes = tf.ragged.constant([[97, 233], [98]])
    assert rows(strings.unicode_encode(codes, "UTF-8")) == [b"a\xc3\xa9", b"b"]
    deep = tf.ragged.constant([[[97, 98], [99, 100]], [[101, 102]]], ragged_rank=1)
    assert rows(strings.unicode_encode(deep, "UTF-8")) == [[b"ab", b"cd"], [b"ef"]]
    letters = tf.ragged.constant([["a", "b", "c"], ["d"]])
    assert rows(strings.ngrams(letters, [1, 2], separator="|")) == [
        [b"a", b"b", b"c", b"a|b", b"b|c"],
        [b"d"],
    ]
    assert rows(strings.ngrams(["a", "b", "c"], 2)) == [b"a b", b"b c"]
    assert rows(strings.ngrams([["a", "b"]], 3, pad_values=("<", ">"), padding_width=1)) == [
        [b"< a b", b"a b >"]
    ]


@pytest.mark.parametrize(
    "key",
    [
        slice(None, None, 2),
        slice(None, None, -1),
        slice(1, None, 2),
        slice(3, 0, -1),
        slice(None, None, -2),
        slice(0, 10, 3),
        slice(-3, None, 2),
        slice(-1, None, -1),
        slice(0, 3, -1),
        slice(-2, -9, -2),
    ],
)
def test_steps_within_rows_are_those_of_lists(key):
    # As TensorFlow 2: where the step was negative, 1.15 gave empty rows.
    lists = [[1, 2, 3, 4], [5], [], [6, 7, 8]]
    assert rows(tf.ragged.constant(lists)[:, key]) == [row[key] for row in lists]
    assert rows(tf.ragged.constant(lists)[::2, key]) == [row[key] for row in lists[::2]]
    deeper = [[[1, 2, 3], [4]], [], [[5, 6, 7, 8], [9, 10]]]
    ragged = tf.ragged.constant(deeper)
    assert rows(ragged[:, :, key]) == [[row[key] for row in part] for part in deeper]
    assert rows(ragged[:, key]) == [part[key] for part in deeper]


def test_steps_that_cannot_be():
    for step in (0, 1.5, tf.constant(2)):
        with pytest.raises(ValueError, match="step of a slice of a ragged dimension"):
            flat()[:, ::step]


def test_the_mean_of_integers_is_no_integer(sess):
    rows = tf.ragged.constant([[0, 1, 2, 3], [4], [], [5, 6], [7], [8, 9]])
    for axis in (None, [0, 1]):
        assert sess.run(tf.reduce_mean(rows, axis=axis)) == 4.5
    assert sess.run(tf.reduce_mean(tf.ragged.constant([[1.0], [2.0]]))) == 1.5


def test_from_sparse__without_elements_and_of_unknown_shape():
    indices, shape = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int64)
    ragged = tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, tf.zeros([0]), shape))
    with tf.Session() as session:
        splits = session.run(ragged.row_splits, {indices: np.zeros((0, 2)), shape: [4, 3]})
    assert splits.tolist() == [0, 0, 0, 0, 0]


def test_constant__of_other_sizes_than_the_inner_shape_is_refused():
    with pytest.raises(ValueError, match=r"got shape \[4, 1\], but wanted \[4, 2\]"):
        tf.ragged.constant(np.array([[[1], [2]], [[3], [4]]]), inner_shape=(2,))
    with pytest.raises(TypeError, match=r"\(2,\), got \(2, 0\)"):
        tf.ragged.constant([[], []], inner_shape=(2,))
