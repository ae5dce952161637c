"""Functions of values and rows take ragged tensors: row by row they give what they give of it."""

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2


ROWS = [[0.5, -2.0, 3.0], [], [1.0]]
ACTIVATIONS = """
    elu gelu leaky_relu log_softmax relu relu6 selu silu softmax softplus softsign
""".split()


def in_rows(function, found):
    """Checks what a function gave of ROWS."""
    assert isinstance(found, tf.RaggedTensor)
    assert found.row_lengths().numpy().tolist() == [3, 0, 1]
    for row, got in zip(ROWS, found):
        if row:
            np.testing.assert_allclose(got, function(tf.constant(row)), rtol=1e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    function = getattr(tf.nn, name)
    in_rows(function, function(tf.ragged.constant(ROWS)))
    deep = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 7.0]]], ragged_rank=1)
    np.testing.assert_allclose(function(deep)[0], function(tf.constant([[1.0, 2.0], [3.0, 4.0]])))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums(exclusive, reverse):
    def sums(x, axis):
        return tf.cumsum(x, axis, exclusive=exclusive, reverse=reverse)

    in_rows(lambda row: sums(row, 0), sums(tf.ragged.constant(ROWS), 1))
    nested = tf.ragged.constant([ROWS, [[7.0, 8.0]]])
    in_rows(lambda row: sums(row, 0), sums(nested, 2)[0])


def test_rows_are_reversed_and_split():
    x = tf.ragged.constant(ROWS)
    assert tf.reverse(x, [1]).to_list() == [[3.0, -2.0, 0.5], [], [1.0]]
    assert tf.reverse(x, [0, -1]).to_list() == [[1.0], [], [3.0, -2.0, 0.5]]
    assert [part.to_list() for part in tf.split(x, 3)] == [[row] for row in ROWS]
    assert [part.to_list() for part in tf.split(x, [1, 2])] == [ROWS[:1], ROWS[1:]]
    with pytest.raises(ValueError, match="3 rows cannot be split into 2"):
        tf.split(x, 2)


def test_choices_are_value_by_value():
    x = tf.ragged.constant(ROWS)
    assert tf.where(x > 0.0, x, -x).to_list() == [[0.5, 2.0, 3.0], [], [1.0]]
    assert tf.nn.dropout(x, 0.0).to_list() == ROWS
    texts = tf.ragged.constant([["A", "b"], ["C"]])
    assert tf.strings.lower(texts).to_list() == [[b"a", b"b"], [b"c"]]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "variance", "std"])
def test_reductions_keep_dimensions(name):
    reduce = getattr(tf.math, f"reduce_{name}")
    rows = [[0.5, -2.0, 3.0], [2.0], [1.0]]
    x = tf.ragged.constant(rows)
    each = [float(reduce(tf.constant(row))) for row in rows]
    np.testing.assert_allclose(reduce(x, 1), each, rtol=1e-6)
    kept = reduce(x, 1, keepdims=True)
    np.testing.assert_allclose(tf.reshape(kept, [-1]), each, rtol=1e-6)
    assert tf.reduce_sum(x - kept, 1).shape == [3]
    assert reduce(x, keepdims=True).shape == [1, 1]


def test_gradients_and_traces():
    x = tf.ragged.constant(ROWS)

    @tf.function
    def weighted(x):
        return tf.reduce_sum(tf.nn.softmax(x) * tf.nn.relu(x))

    with tf.GradientTape() as tape:
        tape.watch(x.flat_values)
        y = weighted(x)
    found = tape.gradient(y, x.flat_values)
    row = tf.constant(ROWS[0])
    with tf.GradientTape() as tape:
        tape.watch(row)
        y = tf.reduce_sum(tf.nn.softmax(row) * tf.nn.relu(row))
    np.testing.assert_allclose(found[:3], tape.gradient(y, row), rtol=1e-5)


def test_functions_are_mapped_over_rows():
    x = tf.ragged.constant(ROWS)
    sums = tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.float32)
    assert sums.numpy().tolist() == [1.5, 0.0, 1.0]


def test_tables_look_up_rows():
    given = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    keys = tf.ragged.constant([["a"], [], ["b", "c"]])
    table = tf.lookup.StaticHashTable(given, -1)
    assert table.lookup(keys).to_list() == table[keys].to_list() == [[1], [], [2, -1]]
    vocabulary = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    table = tf.lookup.StaticVocabularyTable(vocabulary, 1)
    assert table.lookup(keys).to_list() == [[0], [], [1, 2]]
