"""The functions on tensors give what NumPy gives, with static shapes and names as TensorFlow's."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(0)
A = RANDOM.randn(3, 4).astype(np.float32)
B = RANDOM.rand(3, 4).astype(np.float32) + 0.5
WHOLE = np.array([[7, -7, 3], [2, 5, -1]], np.int32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


CASES = {
    "add": (lambda: tf.add(A, B), A + B),
    "subtract": (lambda: tf.subtract(A, B), A - B),
    "multiply": (lambda: tf.multiply(A, 2.0), A * 2),
    "divide": (lambda: tf.divide(tf.constant(A), B), A / B),
    "div of integers": (lambda: tf.div(WHOLE, 2), WHOLE // 2),
    "truediv of integers": (lambda: tf.truediv(WHOLE, 2), WHOLE / 2),
    "floordiv": (lambda: tf.floordiv(WHOLE, 3), WHOLE // 3),
    "mod": (lambda: tf.mod(WHOLE, 3), WHOLE % 3),
    "pow": (lambda: tf.pow(B, 2.5), B**2.5),
    "maximum": (lambda: tf.maximum(A, 0.0), np.maximum(A, 0)),
    "minimum": (lambda: tf.minimum(A, B), np.minimum(A, B)),
    "squared_difference": (lambda: tf.squared_difference(A, B), (A - B) ** 2),
    "abs": (lambda: tf.abs(A), abs(A)),
    "negative": (lambda: tf.negative(A), -A),
    "sign": (lambda: tf.sign(A), np.sign(A)),
    "square": (lambda: tf.square(A), A * A),
    "sqrt": (lambda: tf.sqrt(B), np.sqrt(B)),
    "rsqrt": (lambda: tf.rsqrt(B), 1 / np.sqrt(B)),
    "exp": (lambda: tf.exp(A), np.exp(A)),
    "log": (lambda: tf.log(B), np.log(B)),
    "log1p": (lambda: tf.log1p(B), np.log1p(B)),
    "sin": (lambda: tf.sin(A), np.sin(A)),
    "cos": (lambda: tf.cos(A), np.cos(A)),
    "tanh": (lambda: tf.tanh(A), np.tanh(A)),
    "sigmoid": (lambda: tf.sigmoid(A), 1 / (1 + np.exp(-A))),
    "floor": (lambda: tf.floor(A), np.floor(A)),
    "ceil": (lambda: tf.ceil(A), np.ceil(A)),
    "round": (lambda: tf.round([0.5, 1.5, -2.5]), [0, 2, -2]),
    "reciprocal": (lambda: tf.reciprocal(B), 1 / B),
    "add_n": (lambda: tf.add_n([A, B, A]), A + B + A),
    "cast": (lambda: tf.cast(A, tf.int32), A.astype(np.int32)),
    "to_float": (lambda: tf.to_float(WHOLE), WHOLE.astype(np.float32)),
    "equal": (lambda: tf.equal(WHOLE, 7), WHOLE == 7),
    "not_equal": (lambda: tf.not_equal(WHOLE, 7), WHOLE != 7),
    "less": (lambda: tf.less(A, B), A < B),
    "greater_equal": (lambda: tf.greater_equal(A, 0.0), A >= 0),
    "logical_and": (lambda: tf.logical_and(A > 0, B > 1), (A > 0) & (B > 1)),
    "logical_xor": (lambda: tf.logical_xor(A > 0, B > 1), (A > 0) ^ (B > 1)),
    "logical_not": (lambda: tf.logical_not(A > 0), A <= 0),
    "is_finite": (lambda: tf.is_finite([1.0, np.inf, np.nan]), [True, False, False]),
    "reduce_sum": (lambda: tf.reduce_sum(A), A.sum()),
    "reduce_sum axis": (lambda: tf.reduce_sum(A, 1), A.sum(1)),
    "reduce_mean keepdims": (lambda: tf.reduce_mean(A, [0], keepdims=True), A.mean(0)[None]),
    "reduce_max": (lambda: tf.reduce_max(A, axis=-1), A.max(-1)),
    "reduce_min": (lambda: tf.reduce_min(A, reduction_indices=[0]), A.min(0)),
    "reduce_prod": (lambda: tf.reduce_prod(B, 0), B.prod(0)),
    "reduce_all": (lambda: tf.reduce_all(A > -10), True),
    "reduce_any": (lambda: tf.reduce_any(A > 0, 1), (A > 0).any(1)),
    "reduce_logsumexp": (lambda: tf.reduce_logsumexp(A, 1), np.log(np.exp(A).sum(1))),
    "count_nonzero": (lambda: tf.count_nonzero([0, 3, 0, 1]), 2),
    "cumsum": (lambda: tf.cumsum(A, 1), A.cumsum(1)),
    "argmax": (lambda: tf.argmax(A, 1), A.argmax(1)),
    "argmin": (lambda: tf.argmin(A, 0), A.argmin(0)),
    "matmul": (lambda: tf.matmul(A, B, transpose_b=True), A @ B.T),
    "matmul batch": (
        lambda: tf.matmul(np.stack([A, B]), np.stack([B.T, A.T])),
        np.stack([A @ B.T, B @ A.T]),
    ),
    "tensordot": (lambda: tf.tensordot(A, B, [[0], [0]]), np.tensordot(A, B, [[0], [0]])),
    "norm": (lambda: tf.norm(A, axis=1), np.linalg.norm(A, axis=1)),
    "range": (lambda: tf.range(3, 12, 4), [3, 7, 11]),
    "range of floats": (lambda: tf.range(0.0, 1.0, 0.25), [0, 0.25, 0.5, 0.75]),
    "linspace": (lambda: tf.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5)),
    "zeros": (lambda: tf.zeros([2, 3], tf.int32), np.zeros((2, 3), np.int32)),
    "zeros of many": (lambda: tf.zeros([50, 50]), np.zeros((50, 50))),
    "ones": (lambda: tf.ones([2]), [1, 1]),
    "fill": (lambda: tf.fill([2, 2], 7), [[7, 7], [7, 7]]),
    "zeros_like": (lambda: tf.zeros_like(A), np.zeros_like(A)),
    "ones_like": (lambda: tf.ones_like(WHOLE, dtype=tf.float32), np.ones(WHOLE.shape)),
    "eye": (lambda: tf.eye(2, 3), np.eye(2, 3)),
    "one_hot": (lambda: tf.one_hot([0, 2, -1], 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0]]),
    "one_hot values": (lambda: tf.one_hot([1], 2, 5, 1, dtype=tf.int32), [[1, 5]]),
    "reshape": (lambda: tf.reshape(A, [2, -1]), A.reshape(2, -1)),
    "transpose": (lambda: tf.transpose(A), A.T),
    "transpose perm": (lambda: tf.transpose(A[None], [2, 0, 1]), A[None].transpose(2, 0, 1)),
    "expand_dims": (lambda: tf.expand_dims(A, 1), A[:, None]),
    "squeeze": (lambda: tf.squeeze(A[None, :, None]), A),
    "squeeze axis": (lambda: tf.squeeze(A[None, :, None], [2]), A[None]),
    "concat": (lambda: tf.concat([A, B], 1), np.concatenate([A, B], 1)),
    "concat of one": (lambda: tf.concat([A], 0), A),
    "stack": (lambda: tf.stack([A, B], axis=-1), np.stack([A, B], -1)),
    "tile": (lambda: tf.tile(A, [2, 1]), np.tile(A, (2, 1))),
    "pad": (lambda: tf.pad(A, [[1, 0], [0, 2]]), np.pad(A, [(1, 0), (0, 2)])),
    "pad with": (
        lambda: tf.pad(WHOLE, [[1, 1], [0, 0]], constant_values=9),
        np.pad(WHOLE, [(1, 1), (0, 0)], constant_values=9),
    ),
    "slice": (lambda: tf.slice(A, [1, 1], [2, -1]), A[1:3, 1:]),
    "strided_slice": (lambda: tf.strided_slice(A, [0, 0], [3, 4], [2, 3]), A[::2, ::3]),
    "gather": (lambda: tf.gather(A, [2, 0]), A[[2, 0]]),
    "gather axis": (lambda: tf.gather(A, [2, 0], axis=1), A[:, [2, 0]]),
    "gather_nd": (lambda: tf.gather_nd(A, [[0, 1], [2, 3]]), A[[0, 2], [1, 3]]),
    "where": (lambda: tf.where(A > 0), np.argwhere(A > 0)),
    "where of two": (lambda: tf.where(A > 0, A, B), np.where(A > 0, A, B)),
    "boolean_mask": (lambda: tf.boolean_mask(A, [True, False, True]), A[[0, 2]]),
    "reverse": (lambda: tf.reverse(A, [1]), A[:, ::-1]),
    "sequence_mask": (lambda: tf.sequence_mask([1, 3], 3), [[1, 0, 0], [1, 1, 1]]),
    "shape": (lambda: tf.shape(A), A.shape),
    "size": (lambda: tf.size(A), 12),
    "rank": (lambda: tf.rank(A), 2),
    "unsorted_segment_sum": (
        lambda: tf.unsorted_segment_sum(A, [0, 1, 0], 2),
        np.stack([A[0] + A[2], A[1]]),
    ),
    "clip_by_value": (lambda: tf.clip_by_value(A, -0.5, 0.5), A.clip(-0.5, 0.5)),
    "clip_by_norm": (lambda: tf.clip_by_norm(A, 1.0), A / np.linalg.norm(A)),
    "global_norm": (lambda: tf.global_norm([A, B]), np.sqrt((A**2).sum() + (B**2).sum())),
    "relu": (lambda: tf.nn.relu(A), np.maximum(A, 0)),
    "leaky_relu": (lambda: tf.nn.leaky_relu(A), np.where(A > 0, A, 0.2 * A)),
    "elu": (lambda: tf.nn.elu(A), np.where(A > 0, A, np.exp(A) - 1)),
    "softplus": (lambda: tf.nn.softplus(A), np.log1p(np.exp(A))),
    "softmax": (lambda: tf.nn.softmax(A), softmax(A)),
    "softmax axis": (lambda: tf.nn.softmax(A, 0), softmax(A.T).T),
    "log_softmax": (lambda: tf.nn.log_softmax(A), np.log(softmax(A))),
    "softmax_cross_entropy": (
        lambda: tf.nn.softmax_cross_entropy_with_logits(labels=softmax(B), logits=A),
        -(softmax(B) * np.log(softmax(A))).sum(1),
    ),
    "softmax_cross_entropy_v2": (
        lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=softmax(B), logits=A),
        -(softmax(B) * np.log(softmax(A))).sum(1),
    ),
    "sparse_softmax_cross_entropy": (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 3, 1], logits=A),
        -np.log(softmax(A))[[0, 1, 2], [0, 3, 1]],
    ),
    "sigmoid_cross_entropy": (
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=(A > 0).astype(np.float32), logits=B
        ),
        np.log1p(np.exp(B)) - B * (A > 0),
    ),
    "bias_add": (lambda: tf.nn.bias_add(A, [1.0, 2.0, 3.0, 4.0]), A + [1, 2, 3, 4]),
    "xw_plus_b": (lambda: tf.nn.xw_plus_b(A, B.T, [1.0, 2.0, 3.0]), A @ B.T + [1, 2, 3]),
    "l2_loss": (lambda: tf.nn.l2_loss(A), (A**2).sum() / 2),
    "l2_normalize": (lambda: tf.nn.l2_normalize(A, 1), A / np.linalg.norm(A, axis=1)[:, None]),
    "moments": (lambda: tf.stack(tf.nn.moments(A, [0])), np.stack([A.mean(0), A.var(0)])),
    "batch_normalization": (
        lambda: tf.nn.batch_normalization(A, 0.5, 2.0, 1.0, 3.0, 0.0),
        (A - 0.5) / 2**0.5 * 3 + 1,
    ),
    "top_k": (lambda: tf.nn.top_k(A, 2)[0], -np.sort(-A, 1)[:, :2]),
    "top_k indices": (lambda: tf.nn.top_k(A, 2).indices, np.argsort(-A, 1)[:, :2]),
    "in_top_k": (lambda: tf.nn.in_top_k(A, A.argmax(1).astype(np.int32), 1), [True] * 3),
    "zero_fraction": (lambda: tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]), 0.5),
    "embedding_lookup": (lambda: tf.nn.embedding_lookup(A, [[2], [0]]), A[[[2], [0]]]),
    "embedding_lookup in parts": (
        lambda: tf.nn.embedding_lookup([A[[0, 2]], A[[1]]], [0, 1, 2]),
        A,
    ),
    "dropout of nothing": (lambda: tf.nn.dropout(A, 1.0), A),
    "identity": (lambda: tf.identity(A), A),
    "meshgrid": (
        lambda: tf.stack(tf.meshgrid([1, 2], [3, 4])),
        np.stack(np.meshgrid([1, 2], [3, 4])),
    ),
    "matrix_band_part": (lambda: tf.matrix_band_part(A, 0, -1), np.triu(A)),
    "saturate_cast": (lambda: tf.saturate_cast([300, -5], tf.uint8), [255, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_values(sess, name):
    make, expected = CASES[name]
    tensor = make()
    value = sess.run(tensor)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
    assert tensor.shape.is_compatible_with(np.shape(expected))
    assert value.dtype == tensor.dtype.as_numpy_dtype


def test_functions_of_several_results(sess):
    assert [p.tolist() for p in sess.run(tf.unstack(WHOLE))] == WHOLE.tolist()
    assert [p.shape for p in sess.run(tf.split(A, 2, 1))] == [(3, 2), (3, 2)]
    assert [p.shape for p in sess.run(tf.split(A, [1, 3], 1))] == [(3, 1), (3, 3)]
    y, index = sess.run(tf.unique([5, 7, 5]))
    assert y.tolist() == [5, 7] and index.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="Cannot infer num from shape"):
        tf.unstack(tf.placeholder(tf.float32, [None]))


def test_shapes_known_only_when_it_runs(sess):
    x = tf.placeholder(tf.float32)
    rows = tf.placeholder(tf.int32, [])
    for shape in ((2, 3), (4, 1, 2)):
        value = np.ones(shape, np.float32)
        assert sess.run(tf.reduce_sum(x), {x: value}) == value.size
        assert sess.run(tf.transpose(x), {x: value}).shape == shape[::-1]
        assert sess.run(tf.zeros_like(x), {x: value}).shape == shape
        assert sess.run(tf.zeros(tf.shape(x)), {x: value}).shape == shape
        assert sess.run(tf.size(x), {x: value}) == value.size
    assert sess.run(tf.zeros([rows, 2]), {rows: 5}).shape == (5, 2)
    assert sess.run(tf.reshape(x, [rows, -1]), {x: np.zeros(6), rows: 2}).shape == (2, 3)
    y = tf.placeholder(tf.float32, [None, 4])
    assert tf.matmul(y, B.T).shape.as_list() == [None, 3]
    assert tf.reshape(y, [-1, tf.shape(y)[0]]).shape.ndims == 2


def test_random_tensors(sess):
    uniform = sess.run(tf.random_uniform([2000], 2.0, 4.0, seed=1))
    assert 2 <= uniform.min() and uniform.max() < 4 and abs(uniform.mean() - 3) < 0.1
    integers = sess.run(tf.random_uniform([500], 0, 5, tf.int32))
    assert set(integers.tolist()) == set(range(5))
    normal = sess.run(tf.random_normal([5000], 1.0, 2.0, seed=2))
    assert abs(normal.mean() - 1) < 0.15 and abs(normal.std() - 2) < 0.15
    assert abs(sess.run(tf.truncated_normal([1000]))).max() <= 2
    assert sorted(sess.run(tf.random_shuffle(list(range(20))))) == list(range(20))
    drawn = sess.run(tf.multinomial([[0.0, -100.0], [-100.0, 0.0]], 10))
    assert drawn.tolist() == [[0] * 10, [1] * 10]
    x = tf.random_uniform([3])
    assert sess.run(x).tolist() != sess.run(x).tolist()
    kept = sess.run(tf.nn.dropout(tf.ones([1000]), 0.5, seed=3))
    assert set(kept.tolist()) == {0.0, 2.0} and 400 < (kept > 0).sum() < 600
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random_uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match="rate must be a scalar tensor or a float in the range"):
        tf.nn.dropout(x, rate=1.5)


def test_assertions(sess):
    ok = tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.Assert(ok, ["not ok", 5])]):
        y = tf.identity(1)
    assert sess.run(y, {ok: True}) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        sess.run(y, {ok: False})


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tf.add(1.0, tf.constant(1)), TypeError, "Input 'y' of 'Add' Op has type int32"),
        (
            lambda: tf.matmul(A, tf.constant(1)),
            TypeError,
            "Input 'b' of 'MatMul' Op has type int32",
        ),
        (lambda: tf.matmul(A, A), ValueError, "Dimensions must be equal"),
        (lambda: tf.reshape(A, "a"), TypeError, "Value passed to parameter 'shape' has DataType"),
        (lambda: tf.reshape(A, [5, 5]), ValueError, ""),
        (lambda: tf.concat([A, WHOLE], 0), TypeError, "that don't all match"),
        (lambda: tf.concat([A, A[:, :2]], 0), ValueError, ""),
        (lambda: tf.stack([A], axis=4), ValueError, "not in"),
        (lambda: tf.expand_dims(A), ValueError, "Must specify an axis"),
        (lambda: tf.split(A, tf.constant(2)), ValueError, "Rank-0 tensors are not supported"),
        (lambda: tf.where(A > 0, A), ValueError, "x and y must both be non-None or both be None"),
        (lambda: tf.nn.softmax_cross_entropy_with_logits(A, B), ValueError, "named arguments"),
        (lambda: tf.nn.bias_add(A, [1.0], "HWCN"), ValueError, "data_format must be"),
        (lambda: tf.reduce_sum(A, 5), ValueError, ""),
        (lambda: tf.add_n([]), ValueError, "inputs must be a list"),
        (lambda: tf.one_hot([1], 2, on_value=1, dtype=tf.string), (TypeError, ValueError), ""),
        (lambda: tf.reduce_sum(A, axis=1, reduction_indices=1), ValueError, "Cannot specify both"),
        (lambda: tf.zeros([2**40, 2**40]), (ValueError, tf.errors.OpError), ""),
    ],
)
def test_wrong_arguments_are_refused(sess, call, error, text):
    with pytest.raises(error, match=text or None):
        tensor = call()
        sess.run(tensor)
    assert sess.run(tf.constant(1)) == 1


def test_huge_tensors_run_out_of_memory_cleanly(sess):
    with pytest.raises((tf.errors.ResourceExhaustedError, MemoryError)):
        sess.run(tf.zeros([2**20, 2**20]) + 1)
    assert sess.run(tf.constant(1)) == 1


def test_the_longest_of_constant_lengths_is_known():
    assert tf.sequence_mask([[0, 1, 4], [1, 2, 3]]).shape.as_list() == [2, 3, 4]
    assert tf.sequence_mask(list(range(20))).shape.as_list() == [20, 19]
    unknown = tf.reduce_max(tf.placeholder(tf.int32, [3, 3]))
    assert tf.range(unknown).shape.as_list() == [None]
    assert tf.range(tf.reduce_sum([[1, 2], [3, 4]])).shape.as_list() == [10]


@pytest.mark.parametrize(
    "rows, wanted, shape",
    [
        ([None, 3], [2, 3], [2, 3]),
        ([None, 3], [-1, 2], [None, 2]),
        ([None, 0], [-1, 2], [0, 2]),
        ([None, None], [2, 2], [2, 2]),
        ([None, 3], [2, 2], "must be evenly divisible by 3 but is 4"),
        ([None, 0], [2, 2], "a tensor with 0 elements"),
    ],
)
def test_a_reshape_of_what_is_known_in_part(rows, wanted, shape):
    x = tf.placeholder(tf.float32, rows)
    if isinstance(shape, str):
        with pytest.raises(ValueError, match=shape):
            tf.reshape(x, wanted)
    else:
        assert tf.reshape(x, wanted).shape.as_list() == shape


def test_softmax__along_a_dimension_that_is_fed(sess):
    axis = tf.placeholder(tf.int32, [])
    for at in 0, -2:
        got = sess.run(tf.nn.softmax(A, axis=axis), {axis: at})
        np.testing.assert_allclose(got, softmax(A.T).T, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_abs__of_complex_numbers_is_real(dtype, sess):
    x = tf.constant(np.array([3 - 4j], dtype))
    assert abs(x).dtype == tf.abs(x).dtype == x.dtype.real_dtype
    assert sess.run(abs(x)).tolist() == [5.0]


def test_slice__knows_sizes_that_are_computed():
    sizes = [tf.constant(1) + 0, 2, -1]
    assert tf.slice(tf.zeros([1, 2, 3]), [0, 0, 0], sizes).shape.as_list() == [1, 2, 3]
