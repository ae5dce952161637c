"""What is known, and refused, while a graph is built, as TensorFlow knows and refuses it."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_dtypes_compare_with_those_of_numpy():
    for kind in (np.int64, np.float64, np.complex64, np.bool_, np.float16):
        dtype = tf.as_dtype(kind)
        assert dtype == kind and dtype == np.dtype(kind) and not dtype != np.dtype(kind)
    assert tf.int64 != np.dtype(np.int32)
    assert tf.int64 != int and tf.string != str  # noqa: E721  (a dtype beside a type)


def test_versions():
    assert tf.version.VERSION == tf.VERSION == tf.__version__ == "1.15.5"
    assert tf.version.GRAPH_DEF_VERSION == tf.GRAPH_DEF_VERSION == 134
    assert tf.GIT_VERSION == tf.version.GIT_VERSION and tf.COMPILER_VERSION


def test_dtypes():
    assert tf.DType(1) == tf.float32 and tf.DType(101).name == "float32_ref"
    for dtype, kind, same in (
        (tf.int32, int, False),
        (tf.string, str, False),
        (tf.float32, float, True),
        (tf.int32, np.int32, True),
    ):
        assert (dtype == kind) is same
    with pytest.raises(TypeError):
        tf.DType(99)


def test_constants_of_nothing_are_zeros(sess):
    assert sess.run(tf.constant([], shape=[2, 2], dtype=tf.int32)).tolist() == [[0, 0], [0, 0]]
    assert sess.run(tf.constant([], shape=[2], dtype=tf.string)).tolist() == [b"", b""]


@pytest.mark.parametrize("dtype", [tf.qint8, tf.quint8, tf.qint32, tf.int32])
def test_text_is_no_number(sess, dtype):
    for value in ("hello", ["hello"]):
        with pytest.raises(TypeError, match=f"Expected {dtype.name}, got 'hello' of type 'str'"):
            tf.constant(value, dtype)


@pytest.mark.parametrize(
    "paddings, expected",
    [
        (lambda x: [[1, 2], x], [7, None]),
        (lambda x: [[x[0], 0], [1, 2]], [None, 7]),
        (lambda x: [[1, 2], [0, x[0]]], [7, None]),
    ],
)
def test_paddings_that_are_known_in_part(sess, paddings, expected):
    unknown = tf.placeholder(tf.int32, [2])
    padded = tf.pad(tf.zeros([4, 4]), paddings(unknown))
    assert padded.shape.as_list() == expected
    fed = sess.run(padded, {unknown: [1, 1]}).shape
    assert all(e is None or e == f for e, f in zip(expected, fed))


def test_lengths_of_ranges(sess):
    for given in ((5, -1, -1), (2.5, 0, -0.5), (0, 1, 0.25), (-5, -10, -3)):
        made = tf.range(*given)
        assert made.shape.as_list() == [len(np.arange(*given))]
        np.testing.assert_allclose(sess.run(made), np.arange(*given))


def test_noise_of_dropout_takes_dimensions_of_x(sess):
    kept = sess.run(tf.nn.dropout(tf.ones([50, 3]), rate=0.5, noise_shape=[None, 1]))
    assert kept.shape == (50, 3) and {tuple(row) for row in kept} == {(0, 0, 0), (2, 2, 2)}
    fed = tf.placeholder(tf.float32, [None, None])
    late = sess.run(tf.nn.dropout(fed, rate=0.5, noise_shape=[1, None]), {fed: np.ones((4, 9))})
    assert (late == late[0]).all()


def test_einsum_sums_over_a_letter_when_no_later_term_has_it(sess):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0, 9.0).reshape(2, 3)
    got = sess.run(tf.einsum("ij,ij,kj->ik", a, b, a))
    np.testing.assert_allclose(got, np.einsum("ij,ij,kj->ik", a, b, a))


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: tf.sequence_mask([1], [2, 3]), ValueError, "maxlen must be scalar"),
        (lambda: tf.sort(np.ones((2, 3)), axis=2), ValueError, "out of bounds"),
        (lambda: tf.sort(np.ones((2, 3)), axis=-3), ValueError, "out of bounds"),
        (
            lambda: tf.train.piecewise_constant(tf.constant(1), [1.0], [1.0, 2.0]),
            ValueError,
            "must have the same dtype as x",
        ),
        (lambda: tf.stack([tf.ones([2]), tf.ones([3])]), ValueError, "must be equal"),
        (
            lambda: tf.stack([tf.ones([2]), tf.ones([3, 1])]),
            ValueError,
            "Shapes must be equal rank, but are 1 and 2",
        ),
        (
            lambda: tf.bitcast(np.zeros((1, 1), np.int8), tf.int32),
            ValueError,
            "Cannot bitcast due to shape. 1 does not match 4",
        ),
        (
            lambda: tf.roll(tf.ones([2, 2]), 1, [[0]]),
            ValueError,
            "axis must be a scalar or a 1-D vector",
        ),
        (
            lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0], nbins=-5),
            ValueError,
            "Requires nbins > 0",
        ),
        (
            lambda: tf.linalg.tridiagonal_solve(np.ones((5, 4, 4)), np.ones((5, 4))),
            ValueError,
            "Expected 3 diagonals got 4",
        ),
        (
            lambda: tf.linalg.tridiagonal_solve(np.ones(5), np.ones((5, 4))),
            ValueError,
            "rank at least 2, got 1",
        ),
        (lambda: tf.betainc([0.5], [[0.5]], [0.5]), ValueError, "must be equal"),
        (
            lambda: tf.gradients(tf.square(tf.constant(1 + 1j)), [tf.constant(1.0)]),
            TypeError,
            "must set grad_ys",
        ),
    ],
)
def test_refused_when_built(sess, make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tf.gather_nd(np.ones(3), [[[0], [7]]]), r"indices\[0,1\] = \[7\] does not index"),
        (
            lambda: tf.dynamic_partition(np.ones((1, 1)), [[17]], 7)[0],
            r"partitions\[0,0\] = 17 is not in \[0, 7\)",
        ),
        (
            lambda: tf.decode_csv(["1,2,3"], [[""], [""]], select_cols=[0, 3]),
            "Expect 2 fields but have 1 in record 0",
        ),
        (lambda: tf.parse_tensor("bogus", tf.float32), "as TensorProto: 'bogus'"),
        (
            lambda: tf.raw_ops.ConcatOffset(concat_dim=1, shape=[[2, 3, 5], [2, 7, 10]]),
            r"Input 1 has shape \[2 7 10\] and doesn't match input 0 with shape \[2 3 5\]",
        ),
        (
            lambda: tf.raw_ops.ConcatOffset(concat_dim=0, shape=[[[1, 2]], [[1, 2]]]),
            "should be a vector",
        ),
    ],
)
def test_refused_when_run(sess, make, message):
    made = make()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(made)


def test_input_maps_of_what_is_there_but_not_used(sess):
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(1, name="a"), tf.constant(2, name="b"), name="c")
    definition = graph.as_graph_def()
    taken = tf.constant(5)
    (c,) = tf.import_graph_def(
        definition, input_map={b"a:0": taken, "c:0": taken}, return_elements=[b"c:0"]
    )
    assert c is taken
    with pytest.raises(ValueError, match=r"not found in graph_def: \[a:2\]"):
        tf.import_graph_def(definition, input_map={"a:2": taken})
    with pytest.raises(ValueError, match="Cannot convert 'a:b:c' to a tensor name"):
        tf.import_graph_def(definition, return_elements=["a:b:c"])


def test_variables_without_values_are_told(sess):
    tf.Variable([1, 2], name="v")
    tf.Variable(3.0, name="w")
    check = tf.assert_variables_initialized()
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
        sess.run(check)
    sess.run(tf.global_variables_initializer())
    sess.run(check)


def test_gather_nd_of_batches_takes_what_is_known():
    params, places = np.random.rand(2, 3, 4, 5), np.random.randint(0, 3, (2, 3, 1, 2))
    unknown = tf.placeholder(tf.int32)
    with tf.Session() as sess:
        want = sess.run(tf.gather_nd(params, places, batch_dims=1))
        assert want.shape == (2, 3, 1, 5) and (want[1, 2, 0] == params[(1, *places[1, 2, 0])]).all()
        for batch_dims in (1, tf.constant([1])):
            found = tf.gather_nd(params, unknown, batch_dims=batch_dims)
            assert (sess.run(found, {unknown: places}) == want).all()
            assert sess.run(found, {unknown: np.zeros((2, 0, 2))}).shape == (2, 0, 5)


def test_blocks_tell_the_batch_without_crops():
    x = tf.placeholder(tf.float32, [18, None, None, 2])
    unknown = tf.placeholder(tf.int32)
    assert tf.batch_to_space_nd(x, [2, 3], unknown).shape.as_list() == [3, None, None, 2]
    assert tf.space_to_batch_nd(x, [2, 3], unknown).shape.as_list() == [108, None, None, 2]
    with pytest.raises(ValueError, match="not divisible by product of block sizes"):
        tf.batch_to_space_nd(x, [2, 5], unknown)


def test_matrices_with_many_zeros_multiply_with_bfloat16():
    a, b = tf.constant([[1.0, 0.0], [0.0, 3.0]]), tf.constant([[2.0, 0.0], [1.0, 4.0]])
    narrow = tf.cast(b, tf.bfloat16)
    with tf.Session() as sess:
        for found in (tf.matmul(a, narrow), tf.matmul(a, b, b_is_sparse=True)):
            assert found.dtype == tf.float32 and found.op.type == "SparseMatMul"
            assert sess.run(found).tolist() == [[2, 0], [3, 12]]
        both = tf.matmul(narrow, narrow, a_is_sparse=True)
        assert both.dtype == tf.bfloat16
        assert sess.run(tf.cast(both, tf.float32)).tolist() == [[4, 0], [6, 16]]


def test_a_size_of_unknown_rank_leaves_the_others_known():
    batch = tf.placeholder(tf.int32)  # as programs write it, without a shape
    x = tf.placeholder(tf.float32)
    assert tf.zeros([batch, 7]).shape.as_list() == [None, 7]
    assert tf.reshape(x, [batch, 37]).shape.as_list() == [None, 37]
    assert tf.tile(tf.zeros([1, 1]), [batch, 7]).shape.as_list() == [None, 7]
    assert tf.eye(2, num_columns=batch, batch_shape=[4]).shape.as_list() == [4, 2, None]
    assert tf.zeros(tf.stack([batch, tf.placeholder(tf.int32)])).shape.ndims is None
    with tf.Session() as sess:
        assert sess.run(tf.reshape(x, [batch, 3]), {x: [1, 2, 3], batch: 1}).shape == (1, 3)


def test_variables_that_nothing_depends_on_get_zeros():
    for use_resource in (False, True):
        v = tf.get_variable(f"v{use_resource}", initializer=[1.0, 2.0], use_resource=use_resource)
        (zeros,) = tf.gradients(tf.constant(1.0), [v], unconnected_gradients="zero")
        with tf.Session() as sess:
            sess.run(v.initializer)
            assert sess.run(zeros).tolist() == [0, 0]
