"""Steps end soon after their deadlines, whatever they do, and so do steps of closed sessions."""

import threading
import time

import numpy as np
import pytest

tf = pytest.importorskip("rheos.v1")

# One kernel of a card ends before its step does.
ON_CPU = tf.ConfigProto(device_count={"GPU": 0})

N = 4_000_000
LATE_SECONDS = 2.0  # the machine that runs the tests has other things to do


def strings(count):
    return np.array([b"alpha beta %d" % i for i in range(1000)] * (count // 1000), object)


def floats(*shape):
    return np.random.RandomState(0).rand(*shape).astype(np.float32)


def ints(count):
    return np.random.RandomState(0).randint(0, count, count)


def coordinates(rows):
    return np.stack([np.arange(rows), np.arange(rows) % 7], 1)


def sparse(indices):
    rows = indices.shape[0]
    return tf.SparseTensor(indices, tf.ones([rows]), tf.stack([tf.cast(rows, tf.int64), 7]))


# Batches stop between matrices; one huge matrix is one call of LAPACK, which cannot be stopped.
STEPS = {
    "svd": (lambda: [floats(100_000, 8, 8)], lambda a: tf.svd(a)[0]),
    "self_adjoint_eig": (lambda: [floats(100_000, 8, 8)], lambda a: tf.self_adjoint_eig(a)[0]),
    "cholesky": (lambda: [np.tile(np.eye(16, dtype="f"), (100_000, 1, 1))], tf.cholesky),
    "qr": (lambda: [floats(100_000, 8, 8)], lambda a: tf.qr(a)[0]),
    "matrix_solve": (lambda: [floats(100_000, 12, 12)], lambda a: tf.matrix_solve(a, a)),
    "matrix_inverse": (lambda: [floats(100_000, 12, 12)], tf.matrix_inverse),
    "cumsum": (lambda: [floats(8 * N)], tf.cumsum),
    "cumprod": (lambda: [floats(8 * N)], tf.cumprod),
    "string_join": (lambda: [strings(N)], lambda a: tf.string_join([a, a], "-")),
    "reduce_join": (lambda: [strings(N)], lambda a: tf.reduce_join(a, 0)),
    "as_string": (lambda: [floats(N)], tf.as_string),
    "string_format": (lambda: [strings(N)], lambda a: tf.strings.format("{}", a, summarize=-1)),
    "string_split": (lambda: [strings(N)], lambda a: tf.string_split(a).values),
    "regex_replace": (lambda: [strings(N)], lambda a: tf.strings.regex_replace(a, "b(.)t", "X")),
    "unicode_decode": (
        lambda: [strings(N)],
        lambda a: tf.strings.unicode_decode(a, "UTF-8").values,
    ),
    "unicode_split": (
        lambda: [strings(N)],
        lambda a: tf.strings.unicode_split(a, "UTF-8").values,
    ),
    "scatter_nd": (
        lambda: [ints(4 * N)[:, None]],
        lambda i: tf.scatter_nd(i, tf.ones([4 * N]), tf.constant([4 * N], tf.int64)),
    ),
    "gather_strings": (lambda: [strings(N), ints(N)], tf.gather),
    "tile_strings": (lambda: [strings(N // 10)], lambda a: tf.tile(a, [10])),
    "concat_strings": (lambda: [strings(N)], lambda a: tf.concat([a, a], 0)),
    "transpose_strings": (lambda: [strings(N).reshape(1000, -1)], tf.transpose),
    "unique_strings": (lambda: [strings(N)], lambda a: tf.unique(a)[0]),
    "sort": (lambda: [floats(2 * N)], tf.sort),
    "argsort": (lambda: [floats(2 * N)], tf.argsort),
    "top_k": (lambda: [floats(2 * N)], lambda a: tf.nn.top_k(a, N)[0]),
    "unique": (lambda: [ints(2 * N)], lambda a: tf.unique(a)[0]),
    "unique_with_counts": (lambda: [ints(2 * N)], lambda a: tf.unique_with_counts(a)[2]),
    "setdiff1d": (lambda: [ints(N), ints(N)], lambda a, b: tf.setdiff1d(a, b)[0]),
    "where": (lambda: [floats(8 * N) > 0.5], tf.where),
    "gather_nd": (lambda: [floats(N), ints(8 * N)[:, None] // 8], tf.gather_nd),
    "gather": (lambda: [floats(N), ints(8 * N) // 8], tf.gather),
    "tile": (lambda: [floats(1000)], lambda a: tf.tile(a, [N // 100])),
    "transpose": (lambda: [floats(10_000, 4_000)], tf.transpose),
    "list_of_rows": (
        lambda: [floats(4 * N)],
        lambda a: tf.raw_ops.TensorListFromTensor(tensor=a, element_shape=np.zeros(0, np.int32)),
    ),
    "sparse_reduce_sum": (lambda: [coordinates(N)], lambda i: tf.sparse_reduce_sum(sparse(i), 1)),
    "sparse_tensor_dense_matmul": (
        lambda: [coordinates(N)],
        lambda i: tf.sparse_tensor_dense_matmul(sparse(i), tf.ones([7, 16])),
    ),
}


def ends_in_time(run):
    start = time.monotonic()
    try:
        run()
    except tf.errors.DeadlineExceededError:
        pass  # those that are done before are no later
    return time.monotonic() - start


@pytest.mark.parametrize("name", STEPS)
def test_a_step_ends_soon_after_its_deadline(name):
    make, build = STEPS[name]
    arrays = make()
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        dtypes = [tf.string if a.dtype == object else a.dtype for a in arrays]
        inputs = [tf.placeholder(d, a.shape) for d, a in zip(dtypes, arrays)]
        feeds = dict(zip(inputs, arrays))
        target = build(*inputs).op
        fed = ends_in_time(lambda: session.run([tf.shape(i) for i in inputs], feeds))
        options = tf.RunOptions(timeout_in_ms=100)
        taken = ends_in_time(lambda: session.run(target, feeds, options=options))
    assert taken < 0.1 + 2 * fed + LATE_SECONDS


# ---- Functions of the program that take long


def slow(x):
    time.sleep(0.1)
    return x


def numbers(**options):
    return tf.data.Dataset.range(100_000).map(lambda x: tf.py_func(slow, [x], tf.int64), **options)


PIPELINES = {
    "batch": lambda: numbers().batch(63),
    "parallel": lambda: numbers(num_parallel_calls=64).batch(63),
    "shuffle": lambda: numbers().shuffle(63),
    "skip": lambda: numbers().skip(63),
    "zip": lambda: tf.data.Dataset.zip((numbers(),) * 63),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_ends_soon_after_its_deadline(name):
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        element = tf.data.make_one_shot_iterator(PIPELINES[name]()).get_next()
        start = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=200))
        assert time.monotonic() - start < 0.2 + LATE_SECONDS


# ---- Closing


def test_closing_drops_calls_that_have_not_begun():
    def work(_):
        return tf.reduce_sum(tf.tanh(tf.random_uniform([300, 300])))

    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(10_000_000).map(work, num_parallel_calls=5000)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        session = tf.Session()
        session.run(element)
        start = time.monotonic()
        session.close()
        assert time.monotonic() - start < LATE_SECONDS


def test_closing_ends_a_step_that_calls_slow_functions():
    with tf.Graph().as_default():
        element = tf.data.make_one_shot_iterator(PIPELINES["parallel"]()).get_next()
        session = tf.Session()
        failures = []

        def run():
            try:
                session.run(element)
            except tf.errors.CancelledError as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.3)
        start = time.monotonic()
        session.close()
        thread.join()
        assert time.monotonic() - start < LATE_SECONDS
        assert len(failures) == 1
