"""Sparse tensors, candidate samplers and stateless random numbers as TensorFlow 1.15 gives them."""

import numpy as np
import pytest
import rheos.v1 as tf

INDICES = np.array([[0, 1], [2, 0], [2, 3]], np.int64)
VALUES = np.array([1.0, 2.0, -3.0], np.float32)
SHAPE = np.array([3, 4], np.int64)
DENSE = np.zeros((3, 4), np.float32)
DENSE[tuple(INDICES.T)] = VALUES


def sparse(values=VALUES):
    return tf.SparseTensor(INDICES, values, SHAPE)


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def dense_of(sp):
    return run(tf.sparse.to_dense(sp, validate_indices=False))


def softmax_of_values():
    result = np.zeros_like(DENSE)
    result[0, 1] = 1
    e = np.exp(np.float32([2, -3]) - 2)
    result[2, [0, 3]] = e / e.sum()
    return result


DENSE_RESULTS = {
    "to_dense": (lambda: tf.sparse.to_dense(sparse()), DENSE),
    "to_dense with a default": (
        lambda: tf.sparse_tensor_to_dense(sparse(), 7.0),
        np.where(DENSE == 0, 7, DENSE),
    ),
    "sparse_to_dense": (lambda: tf.sparse_to_dense(INDICES, SHAPE, VALUES), DENSE),
    "matmul": (
        lambda: tf.sparse.matmul(sparse(), np.arange(8, dtype=np.float32).reshape(4, 2)),
        DENSE @ np.arange(8, dtype=np.float32).reshape(4, 2),
    ),
    "matmul of adjoints": (
        lambda: tf.sparse_tensor_dense_matmul(
            sparse(), np.ones((2, 3), np.float32), adjoint_a=True, adjoint_b=True
        ),
        DENSE.T @ np.ones((3, 2), np.float32),
    ),
    "add a dense one": (lambda: tf.sparse_add(sparse(), np.ones((3, 4), np.float32)), DENSE + 1),
    "reduce_sum": (lambda: tf.sparse.reduce_sum(sparse(), 1), DENSE.sum(1)),
    "reduce_sum of all": (lambda: tf.sparse_reduce_sum(sparse()), DENSE.sum()),
    "reduce_max": (lambda: tf.sparse.reduce_max(sparse(), [0]), np.float32([2, 1, 0, -3])),
    "indicator": (
        lambda: tf.sparse.to_indicator(sparse(np.int64([1, 0, 4])), 5),
        np.bool_([[0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 1]]),
    ),
}

SPARSE_RESULTS = {
    "add": (lambda: tf.sparse.add(sparse(), sparse()), 2 * DENSE),
    "add with a threshold": (
        lambda: tf.sparse.add(sparse(), sparse(), threshold=3.0),
        np.where(abs(2 * DENSE) >= 3, 2 * DENSE, 0),
    ),
    "concat": (lambda: tf.sparse.concat(0, [sparse(), sparse()]), np.concatenate([DENSE] * 2)),
    "concat of other shapes": (
        lambda: tf.sparse_concat(
            -1,
            [sparse(), tf.SparseTensor([[4, 0]], [5.0], [5, 1])],
            expand_nonconcat_dim=True,
        ),
        np.block([[DENSE, np.zeros((3, 1))], [np.zeros((1, 5))], [np.zeros((1, 4)), 5.0]]),
    ),
    "split": (lambda: tf.sparse.split(sp_input=sparse(), num_split=2, axis=1)[1], DENSE[:, 2:]),
    "slice": (lambda: tf.sparse.slice(sparse(), [1, 0], [2, 3]), DENSE[1:, :3]),
    "reshape": (lambda: tf.sparse.reshape(sparse(), [2, -1]), DENSE.reshape(2, 6)),
    "transpose": (lambda: tf.sparse.transpose(sparse()), DENSE.T),
    "transpose by": (lambda: tf.sparse.transpose(sparse(), [1, 0]), DENSE.T),
    "expand_dims": (lambda: tf.sparse.expand_dims(sparse(), 1), DENSE[:, None]),
    "expand_dims at the end": (lambda: tf.sparse.expand_dims(sparse()), DENSE[..., None]),
    "retain": (
        lambda: tf.sparse.retain(sparse(), [True, False, True]),
        DENSE * (DENSE != 2),
    ),
    "reset_shape to more": (
        lambda: tf.sparse.reset_shape(sparse(), [3, 5]),
        np.pad(DENSE, ((0, 0), (0, 1))),
    ),
    "reset_shape to the least": (
        lambda: tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [2.0], [9, 9])),
        np.float32([[0, 2]]),
    ),
    "softmax": (lambda: tf.sparse.softmax(sparse()), softmax_of_values()),
    "maximum": (lambda: tf.sparse.maximum(sparse(), sparse(-VALUES)), abs(DENSE)),
    "minimum": (lambda: tf.sparse.minimum(sparse(), sparse(-VALUES)), -abs(DENSE)),
    "reduce_sum_sparse": (lambda: tf.sparse.reduce_sum_sparse(sparse(), 1), DENSE.sum(1)),
    "eye": (lambda: tf.sparse.eye(2, 3), np.eye(2, 3)),
    "from_dense": (lambda: tf.sparse.from_dense(DENSE), DENSE),
    "product": (lambda: sparse() * 2.0, DENSE * 2),
    "quotient": (lambda: sparse() / 2.0, DENSE / 2),
    "merge": (
        lambda: tf.sparse.merge(sparse(np.int64([4, 3, 0])), sparse(), 5),
        np.float32([[0, 0, 0, 0, 1], [0] * 5, [-3, 0, 0, 2, 0]]),
    ),
}


@pytest.mark.parametrize("case", DENSE_RESULTS)
def test_a_dense_result_is_that_of_numpy(case):
    make, expected = DENSE_RESULTS[case]
    np.testing.assert_allclose(run(make()), expected, rtol=1e-6)


@pytest.mark.parametrize("case", SPARSE_RESULTS)
def test_a_sparse_result_is_that_of_numpy(case):
    make, expected = SPARSE_RESULTS[case]
    result = make()
    assert isinstance(result, tf.SparseTensor)
    np.testing.assert_allclose(dense_of(result), expected, rtol=1e-6)


def test_a_sparse_tensor_is_fed_and_fetched():
    sp = tf.sparse_placeholder(tf.float32)
    value = tf.SparseTensorValue(INDICES, VALUES, SHAPE)
    fetched, dense = run((sp, tf.sparse.to_dense(sp)), {sp: value})
    assert isinstance(fetched, tf.SparseTensorValue)
    np.testing.assert_array_equal(fetched.indices, INDICES)
    np.testing.assert_array_equal(dense, DENSE)
    as_tuple = run(tf.sparse.to_dense(sp), {sp: (INDICES, VALUES, SHAPE)})
    np.testing.assert_array_equal(as_tuple, DENSE)


def test_a_placeholder_of_a_known_shape_has_names_and_shape():
    sp = tf.sparse_placeholder(tf.float32, [3, 4], name="p")
    assert [sp.indices.op.name, sp.values.op.name] == ["p/indices", "p/values"]
    assert sp.get_shape().as_list() == [3, 4]
    unknown = tf.sparse_placeholder(tf.float32, [None, 4])
    assert unknown.indices.shape.as_list() == [None, 2]


def test_empty_rows_are_filled():
    filled, is_empty = tf.sparse.fill_empty_rows(sparse(), 9.0)
    value, flags = run((filled, is_empty))
    assert value.indices.tolist() == [[0, 1], [1, 0], [2, 0], [2, 3]]
    assert value.values.tolist() == [1, 9, 2, -3]
    assert flags.tolist() == [False, True, False]


def test_indices_in_no_order_are_refused_and_reordered():
    mixed = tf.SparseTensor(INDICES[::-1].copy(), VALUES[::-1].copy(), SHAPE)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        run(tf.sparse.to_dense(mixed))
    assert run(tf.sparse.reorder(mixed)).values.tolist() == VALUES.tolist()


def test_what_is_not_sparse_is_refused():
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.sparse.to_dense(tf.constant([1.0]))
    with pytest.raises(TypeError, match="tf.add"):
        tf.sparse_add(tf.constant(1.0), tf.constant(2.0))


def test_gradients_flow_through_sparse_products():
    values, b = tf.constant(VALUES), tf.constant(np.arange(8, dtype=np.float32).reshape(4, 2))
    loss = tf.reduce_sum(tf.sparse.matmul(tf.SparseTensor(INDICES, values, SHAPE), b) ** 2)
    by_values, by_b = run(tf.gradients(loss, [values, b]))
    rows = 2 * (DENSE @ np.arange(8).reshape(4, 2))
    whole = rows @ np.arange(8).reshape(4, 2).T
    np.testing.assert_allclose(by_values, whole[tuple(INDICES.T)], rtol=1e-5)
    np.testing.assert_allclose(by_b, DENSE.T @ rows, rtol=1e-5)


def test_safe_lookups_take_empty_rows_and_negative_ids():
    table = tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2))
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.int64([1, 3, -1]), [3, 4])
    rows = run(tf.nn.safe_embedding_lookup_sparse([table], ids))
    assert rows.tolist() == [[4, 5], [0, 0], [0, 0]]
    rows = run(tf.nn.safe_embedding_lookup_sparse([table], ids, combiner="sum", default_id=5))
    assert rows.tolist() == [[8, 10], [10, 11], [10, 11]]
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.float32([1, -2, 1]), [3, 4])
    rows = run(tf.nn.safe_embedding_lookup_sparse([table], ids, weights))
    assert rows.tolist() == [[2, 3], [0, 0], [0, 0]]


# ---- Samplers and the losses on them

WEIGHTS = (np.arange(12, dtype=np.float32).reshape(6, 2) - 6) / 5
BIASES = np.arange(6, dtype=np.float32) / 10
INPUTS = np.float32([[1, 0.5], [-1, 2], [0.25, 0]])
LABELS = np.int64([[0], [1], [4]])
SAMPLED = np.int64([2, 4, 0])
TRUE_COUNT = np.float32([[0.5], [0.25], [0.125]])
SAMPLED_COUNT = np.float32([0.3, 0.2, 0.1])


def sampled_values():
    return tf.constant(SAMPLED), tf.constant(TRUE_COUNT), tf.constant(SAMPLED_COUNT)


def logits_of(remove_hits):
    true = (INPUTS * WEIGHTS[LABELS[:, 0]]).sum(1, keepdims=True) + BIASES[LABELS]
    sampled = INPUTS @ WEIGHTS[SAMPLED].T + BIASES[SAMPLED]
    if remove_hits:
        sampled = np.where(LABELS == SAMPLED, -np.inf, sampled)
    return np.concatenate([true - np.log(TRUE_COUNT), sampled - np.log(SAMPLED_COUNT)], 1)


@pytest.mark.parametrize("remove_hits", [False, True])
def test_sampled_softmax_is_the_cross_entropy_of_true_and_sampled(remove_hits):
    loss = tf.nn.sampled_softmax_loss(
        tf.constant(WEIGHTS), tf.constant(BIASES), LABELS, tf.constant(INPUTS), 3, 6,
        sampled_values=sampled_values(), remove_accidental_hits=remove_hits,
    )  # fmt: skip
    logits = logits_of(remove_hits)
    expected = np.log(np.exp(logits).sum(1)) - logits[:, 0]
    np.testing.assert_allclose(run(loss), expected, rtol=1e-5)


def test_nce_is_the_logistic_loss_of_true_and_sampled():
    loss = tf.nn.nce_loss(
        tf.constant(WEIGHTS), tf.constant(BIASES), LABELS, tf.constant(INPUTS), 3, 6,
        sampled_values=sampled_values(),
    )  # fmt: skip
    logits = logits_of(False)
    expected = np.log1p(np.exp(-logits[:, 0])) + np.log1p(np.exp(logits[:, 1:])).sum(1)
    np.testing.assert_allclose(run(loss), expected, rtol=1e-5)


def test_nce_trains_the_rows_that_it_looked_at():
    table = tf.Variable(WEIGHTS)
    loss = tf.nn.nce_loss(
        table, tf.Variable(BIASES), LABELS, tf.constant(INPUTS), 2, 6,
        sampled_values=tuple(v[..., :2] if i != 1 else v for i, v in enumerate(sampled_values())),
    )  # fmt: skip
    (gradient,) = tf.gradients(loss, [table])
    assert isinstance(gradient, tf.IndexedSlices)
    assert set(run(gradient.indices).tolist()) == {0, 1, 2, 4}


def test_a_vocabulary_is_read_from_a_file(tmp_path):
    path = tmp_path / "vocabulary.csv"
    path.write_text("the,6\nof,3.5\n,1\n4\n")
    common = {"num_true": 1, "num_sampled": 20, "unique": False, "range_max": 4, "seed": 3}
    from_file = tf.nn.fixed_unigram_candidate_sampler(LABELS % 4, vocab_file=str(path), **common)
    from_list = tf.nn.fixed_unigram_candidate_sampler(LABELS % 4, unigrams=[6, 3.5, 1, 4], **common)
    for a, b in zip(*run((from_file, from_list))):
        np.testing.assert_array_equal(a, b)
    path.write_text("the,many\n")
    bad = tf.nn.fixed_unigram_candidate_sampler(LABELS % 4, vocab_file=str(path), **common)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong vocabulary format"):
        run(bad)


def test_a_sampler_gives_tensorflows_classes():
    sampled, _, _ = tf.nn.log_uniform_candidate_sampler(LABELS, 1, 4, True, 50, seed=3)
    assert run(sampled).tolist() == LOG_UNIFORM_SEED_3


LOG_UNIFORM_SEED_3 = [0, 23, 13, 3]  # of TensorFlow 1.15


def test_accidental_hits_are_found():
    rows, places, weights = run(tf.nn.compute_accidental_hits(LABELS, SAMPLED, 1))
    assert rows.tolist() == [0, 2]
    assert places.tolist() == [2, 1]
    assert (weights == np.finfo(np.float32).min).all()


# ---- Stateless random numbers


def test_stateless_numbers_are_tensorflows():
    seed = [1, 2]
    uniform, normal, whole, classes = run((
        tf.random.stateless_uniform([3], seed, 1.0, 3.0),
        tf.random.stateless_normal([3], seed, mean=1.0),
        tf.random.stateless_uniform([4], seed, 0, 100, tf.int32),
        tf.random.stateless_categorical([[0.0, 1.0, 2.0]], 6, seed),
    ))  # fmt: skip
    np.testing.assert_allclose(uniform, STATELESS["uniform"], rtol=1e-6)
    np.testing.assert_allclose(normal, STATELESS["normal"], rtol=1e-5)
    assert whole.tolist() == STATELESS["whole"]
    assert classes.tolist() == STATELESS["classes"]


STATELESS = {  # of TensorFlow 1.15
    "uniform": [2.6881208419799805, 1.3840906620025635, 2.9924464225769043],
    "normal": [1.5441100597381592, 1.2073802947998047, 1.0735642910003662],
    "whole": [40, 49, 94, 79],
    "classes": [[2, 2, 1, 2, 2, 2]],
}


def test_stateless_integers_need_a_limit():
    with pytest.raises(ValueError, match="maxval"):
        tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)


@pytest.mark.parametrize("name", ["abs", "negative", "sign", "square", "sqrt", "tanh", "erf"])
def test_functions_that_keep_zeros_take_sparse_tensors(name):
    function = getattr(tf.math, name)
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [0.25, 4.0], [2, 2])
    with tf.Session() as session:
        got, values = session.run([function(sparse), function(sparse.values)])
    assert got.indices.tolist() == [[0, 1], [1, 0]]
    assert got.values.tolist() == values.tolist()


def test_sparse_casts_and_quotients():
    sparse = tf.SparseTensor([[0, 1]], [3], [1, 2])
    with tf.Session() as session:
        assert session.run(tf.cast(sparse, tf.float32)).values.tolist() == [3.0]
        assert session.run(sparse / 2).values.tolist() == [1.5]


def test_sparse_tensors_go_through_strings():
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    rows = tf.io.serialize_many_sparse(sparse)
    back = tf.io.deserialize_many_sparse(rows, tf.float32, rank=1)
    assert back.shape.as_list() == [None, None]
    with tf.Session() as session:
        got = session.run(back)
        assert got.indices.tolist() == [[0, 1], [1, 0]]
        assert got.values.tolist() == [1.0, 2.0]
        assert session.run(tf.serialize_sparse(sparse)).shape == (3,)
    with pytest.raises(NotImplementedError, match="strings only"):
        tf.serialize_sparse(sparse, out_type=tf.variant)


def test_crosses_join_every_combination(sess):
    words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    got = sess.run(tf.sparse.cross([words, tf.constant([["x"], ["y"]])]))
    assert got.values.tolist() == [b"a_X_x", b"b_X_y", b"c_X_y"]
    numbers = tf.constant([[5, 6], [7, 8]])
    hashed = sess.run(tf.sparse.cross_hashed([words, numbers], num_buckets=100, hash_key=7))
    assert hashed.values.tolist() == [90, 76, 53, 73, 63, 75]  # as TensorFlow 1.15
    assert hashed.dense_shape.tolist() == [2, 4]
    three = tf.SparseTensor([[0, 0]], [3], [1, 1])
    hashed = sess.run(tf.sparse.cross_hashed([three, tf.constant([["x"]])]))
    assert hashed.values.tolist() == [306214652172042612]
    with pytest.raises(TypeError, match="must be a list"):
        tf.sparse.cross(words)
    with pytest.raises(TypeError, match="must be SparseTensors"):
        tf.sparse.cross([words, [["x"]]])


def test_the_dense_shape_of_a_result_is_known():
    x = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])
    p = tf.sparse.placeholder(tf.int32, [None, 2])

    def dense(sp):
        return tf.sparse.to_dense(sp).shape.as_list()

    assert dense(tf.sparse.add(x, x)) == [2, 2]
    assert dense(tf.sparse.concat(-1, [x, x])) == [2, 4]
    assert dense(tf.sparse.concat(0, [p, x]))[0] is None
    assert dense(tf.sparse.reshape(x, [4, -1])) == [4, 1]
    assert dense(tf.sparse.reshape(x, [1, 2, 2])) == [1, 2, 2]
    assert tf.sparse.add(x, x).shape.as_list() == [2, 2]
    assert tf.sparse.concat(-1, [x, x]).shape.as_list() == [2, 4]


def test_shape_size_and_rank_of_a_sparse_tensor(sess):
    value = tf.SparseTensorValue([[0, 1], [1, 0]], [42, 24], [2, 3])
    for x in (value, tf.SparseTensor.from_value(value)):
        shape, size, rank = sess.run([tf.shape(x), tf.size(x), tf.rank(x)])
        assert shape.tolist() == [2, 3] and shape.dtype == np.int32 and (size, rank) == (6, 2)


def test_a_reshape_that_cannot_be_is_refused_at_once(sess):
    x = tf.SparseTensor([[0, 1, 0], [1, 2, 3]], [1, 2], [2, 3, 4])
    assert tf.sparse.reshape(x, [2, -1]).shape.as_list() == [2, 12]
    assert tf.sparse.reshape(x, [1, 4, 6]).shape.as_list() == [1, 4, 6]
    assert sess.run(tf.sparse.reshape(x, [2, -1])).indices.tolist() == [[0, 4], [1, 11]]
    for shape in ([-1, -1], [5, -1], [7]):
        with pytest.raises(ValueError):
            tf.sparse.reshape(x, shape)
    empty = tf.SparseTensor(np.zeros((0, 2)), np.zeros(0), [0, 3])
    assert tf.sparse.reshape(empty, [3, -1]).shape.as_list() == [3, 0]


def test_a_dense_tensor_times_a_sparse_one_is_sparse():
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [2.0, 3.0], [2, 3])
    dense = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.Session() as session:
        session.run(dense.initializer)
        for product in (dense * sparse, dense.value() * sparse, sparse * dense):
            assert isinstance(product, tf.SparseTensor)
            assert session.run(product).values.tolist() == [2.0, 18.0]
    with pytest.raises(TypeError):
        2.0 * sparse
    with pytest.raises(TypeError):
        dense + sparse


def test_sparse_merge__knows_the_size_of_the_last_dimension():
    shape = tf.placeholder(tf.int64, [2])
    ids = tf.SparseTensor([[0, 0], [0, 1]], [1, 3], shape)
    values = tf.SparseTensor([[0, 0], [0, 1]], [0.4, 0.7], shape)
    for is_sorted in True, False:
        merged = tf.sparse_merge(ids, values, 5, already_sorted=is_sorted)
        assert merged.get_shape().as_list() == [None, 5]


def test_sparse_eye_and_expand_dims__take_tensors(sess):
    eye = tf.sparse.eye(tf.constant(2), tf.constant(3))
    np.testing.assert_array_equal(sess.run(tf.sparse.to_dense(eye)), np.eye(2, 3))
    wide = tf.sparse.expand_dims(eye, tf.constant(1))
    assert sess.run(tf.sparse.to_dense(wide)).shape == (2, 1, 3)
