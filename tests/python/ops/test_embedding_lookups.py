"""Lookups of embeddings: parts of tables, ragged and sparse ids, weights, rows without any."""

import numpy as np
import pytest
import rheos.v1
import rheos.v2

tf = rheos.v2
TABLE = np.arange(10, dtype=np.float32).reshape(5, 2)
IDS = [[1], [], [0, 4, 4]]
WEIGHTS = [[2.0], [], [1.0, 3.0, 0.5]]


def of_kind(kind, rows):
    ragged = tf.ragged.constant(rows, dtype=tf.int64 if rows is IDS else tf.float32)
    return ragged if kind == "ragged" else ragged.to_sparse()


def combined(weights, combiner):
    result = np.zeros((3, 2), np.float32)
    for row, (ids, its) in enumerate(zip(IDS, weights)):
        its = np.array(its, np.float32)
        total = {"sum": 1, "mean": its.sum(), "sqrtn": np.sqrt((its**2).sum())}[combiner]
        if len(ids) and total:
            result[row] = its @ TABLE[ids] / total
    return result


def test_parts_hold_one_after_the_other():
    parts = [tf.constant(TABLE[:3]), tf.Variable(TABLE[3:])]
    np.testing.assert_array_equal(tf.nn.embedding_lookup(parts, [0, 1, 2, 3, 4]), TABLE)
    found = tf.nn.embedding_lookup(parts, tf.ragged.constant([[4], [0, 3]]))
    assert found.to_list() == [[[8, 9]], [[0, 1], [6, 7]]]
    found = tf.nn.embedding_lookup_sparse(parts, of_kind("ragged", IDS), None, combiner="sum")
    np.testing.assert_array_equal(found, [[2, 3], [0, 0], [16, 19]])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:  # version 1: in turn
        found = session.run(rheos.v1.nn.embedding_lookup([TABLE[:3], TABLE[3:]], [0, 1, 2, 3]))
    np.testing.assert_array_equal(found, TABLE[[0, 3, 1, 4]])


@pytest.mark.parametrize("kind", ["ragged", "sparse"])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_rows_are_combined(kind, combiner):
    ids, weights = of_kind(kind, IDS), of_kind(kind, WEIGHTS)
    ones = [[1.0] * len(row) for row in IDS]
    for lookup in (tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse):
        np.testing.assert_allclose(
            lookup(TABLE, ids, None, combiner=combiner), combined(ones, combiner), rtol=1e-6
        )
        np.testing.assert_allclose(
            lookup(TABLE, ids, weights, combiner=combiner), combined(WEIGHTS, combiner), rtol=1e-6
        )


@pytest.mark.parametrize("kind", ["ragged", "sparse"])
def test_weights_that_add_up_to_nothing(kind):
    weights = [[0.0], [], [1.0, -1.0, 0.0]]
    for combiner in ("mean", "sqrtn"):
        table = tf.Variable(TABLE)
        with tf.GradientTape() as tape:
            found = tf.nn.embedding_lookup_sparse(
                table, of_kind(kind, IDS), of_kind(kind, weights), combiner=combiner
            )
            loss = tf.reduce_sum(found)
        np.testing.assert_allclose(found, combined(weights, combiner), rtol=1e-6)
        assert np.isfinite(tf.convert_to_tensor(tape.gradient(loss, table))).all()


def test_safe_lookups_leave_out_and_fill():
    ids = tf.ragged.constant([[1, -1], [-1], [2, 3]], dtype=tf.int64)
    for given in (ids, ids.to_sparse()):
        found = tf.nn.safe_embedding_lookup_sparse(TABLE, given, combiner="sum")
        np.testing.assert_array_equal(found, [TABLE[1], [0, 0], TABLE[2] + TABLE[3]])
        found = tf.nn.safe_embedding_lookup_sparse(TABLE, given, combiner="sum", default_id=4)
        np.testing.assert_array_equal(found, [TABLE[1], TABLE[4], TABLE[2] + TABLE[3]])


def test_kinds_of_ids_and_weights_go_together():
    ids, weights = of_kind("ragged", IDS), of_kind("sparse", WEIGHTS)
    with pytest.raises(TypeError):
        tf.nn.embedding_lookup_sparse(TABLE, ids, weights)
    with pytest.raises(TypeError):
        tf.nn.embedding_lookup_sparse(TABLE, [1], None)
    half = tf.nn.embedding_lookup_sparse(tf.cast(TABLE, tf.float16), ids, None)
    assert half.dtype == tf.float16
