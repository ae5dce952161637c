#!/usr/bin/env python3
"""Records what pipelines of datasets give with TensorFlow: tests/golden/pipelines.json.

Usage: python make_pipelines.py      (once with TensorFlow 1.15.5, once with TensorFlow 2)

Each records its own part; test_pipelines.py runs the same pipelines, which are here. A
pipeline is a function of the module and of a Setting, and returns a dataset; `both`, `one`, `two`
say which TensorFlow has it. An answer has what is known of the elements, the operations that make
the dataset (1.15), and the elements until the end or an error.
"""

import json
import os
import sys
import tempfile
from collections import namedtuple

import numpy as np

MOST = 60  # elements of a pipeline

PIPELINES = {}  # name -> (function, versions)


def _for(*versions):
    def add(function):
        assert function.__name__ not in PIPELINES, function.__name__
        PIPELINES[function.__name__] = function, versions
        return function

    return add


both, one, two = _for("1", "2"), _for("1"), _for("2")


class Setting:
    """What pipelines need beside the module: files."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path


def plain(value, folder=None):
    """A value as JSON: with dtype and shape."""
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        parts = value.indices, value.values, value.dense_shape
        return {"sparse": [plain(getattr(p, "numpy", lambda p=p: p)()) for p in parts]}
    if hasattr(value, "nested_row_splits") or hasattr(value, "to_list"):
        return {"ragged": _text(value.to_list())}
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, dict):
        return {"dict": {key: plain(value[key], folder) for key in sorted(value)}}
    if isinstance(value, tuple):
        return {"tuple": [plain(one, folder) for one in value]}
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SU":
        items = _text(array.tolist())
        if folder:
            items = json.loads(json.dumps(items).replace(folder, "$TMP"))
        return ["string", list(array.shape), items]
    if array.dtype.kind == "f":
        array = np.round(array.astype(np.float64), 5).astype(np.float64)
        return ["float", list(array.shape), array.tolist()]
    if array.dtype.kind == "c":
        return ["complex", list(array.shape), str(array.tolist())]
    return [array.dtype.name, list(array.shape), array.tolist()]


def _text(items):
    if isinstance(items, list):
        return [_text(item) for item in items]
    return items.decode("latin1") if isinstance(items, bytes) else items


def answer_1(tf, name):
    """What TensorFlow 1.15, or rheos.v1, gives."""
    setting = Setting()
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(17)
        try:
            dataset = PIPELINES[name][0](tf, setting)
        except Exception as error:
            return {"refused": type(error).__name__}
        made = [op.type for op in graph.get_operations() if op.type.endswith("Dataset")]
        answer = {"repr": repr(dataset), "operations": made}
        try:
            iterator = tf.compat.v1.data.make_one_shot_iterator(dataset)
            initializer = None
        except ValueError:
            iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
            initializer = iterator.initializer
        answer["is_one_shot"] = initializer is None
        element = iterator.get_next()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            answer["elements"] = elements = []
            try:
                if initializer is not None:
                    session.run(initializer)
                while len(elements) < MOST:
                    elements.append(plain(session.run(element), setting.folder))
            except tf.errors.OpError as error:
                elements.append(["error", type(error).__name__])
    return answer


def answer_2(tf, name, execute):
    """What TensorFlow 2 gives; execute(dataset): its elements."""
    setting = Setting()
    try:
        dataset = PIPELINES[name][0](tf, setting)
    except Exception as error:
        return {"refused": type(error).__name__}
    answer = {"spec": repr(dataset.element_spec)}
    answer["elements"] = elements = []
    try:
        for element in execute(dataset):
            elements.append(plain(element, setting.folder))
            if len(elements) == MOST:
                break
        else:
            elements.append(["error", "OutOfRangeError"])
    except tf.errors.OpError as error:
        elements.append(["error", type(error).__name__])
    return answer


Point = namedtuple("Point", "x y")


def _range(tf, *args):
    return tf.data.Dataset.range(*args)


# ---- Sources


@both
def range_of_three(tf, setting):
    return _range(tf, 2, 20, 3)


@both
def range_backwards(tf, setting):
    return _range(tf, 5, 0, -2)


@both
def empty_range(tf, setting):
    return _range(tf, 0)


@both
def tensors(tf, setting):
    return tf.data.Dataset.from_tensors((1, [2.5, 3.0], {"a": "text"}))


@both
def slices(tf, setting):
    return tf.data.Dataset.from_tensor_slices(np.arange(6).reshape(3, 2))


@both
def slices_of_structure(tf, setting):
    return tf.data.Dataset.from_tensor_slices(
        ({"b": [1, 2, 3], "a": ["x", "y", "z"]}, np.float32([[1], [2], [3]]))
    )


@both
def slices_of_named_tuple(tf, setting):
    return tf.data.Dataset.from_tensor_slices(Point(x=[1, 2], y=[[3.0], [4.0]])).map(
        lambda p: Point(p.y, p.x)
    )


@both
def slices_of_bools_and_halves(tf, setting):
    return tf.data.Dataset.from_tensor_slices(
        (np.array([True, False]), np.float16([1.5, 2.5]), np.uint8([200, 3]), np.complex64([1j, 2]))
    )


@both
def slices_of_unequal_lengths(tf, setting):
    return tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))


@both
def slices_of_scalar(tf, setting):
    return tf.data.Dataset.from_tensor_slices(3)


@both
def list_is_a_tensor(tf, setting):
    return tf.data.Dataset.from_tensors([1, 2, 3])


@both
def zip_of_structure(tf, setting):
    return tf.data.Dataset.zip((_range(tf, 3), {"x": _range(tf, 5, 9), "y": _range(tf, 7)}))


@both
def zip_of_list(tf, setting):
    return tf.data.Dataset.zip([_range(tf, 3), _range(tf, 3)])


# ---- Order and number


@both
def concatenate(tf, setting):
    return _range(tf, 3).concatenate(_range(tf, 10, 12))


@both
def concatenate_of_shapes(tf, setting):
    first = tf.data.Dataset.from_tensors([1, 2])
    return first.concatenate(tf.data.Dataset.from_tensors([3]))


@both
def concatenate_of_types(tf, setting):
    return _range(tf, 3).concatenate(tf.data.Dataset.from_tensors(1.5))


@both
def repeat_thrice(tf, setting):
    return _range(tf, 3).repeat(3)


@both
def repeat_without_end(tf, setting):
    return _range(tf, 7).repeat()


@both
def repeat_never(tf, setting):
    return _range(tf, 7).repeat(0)


@both
def take_skip(tf, setting):
    return _range(tf, 10).skip(2).take(5)


@both
def take_all(tf, setting):
    return _range(tf, 4).take(-1)


@both
def skip_all(tf, setting):
    return _range(tf, 4).skip(-1)


@both
def shard(tf, setting):
    return _range(tf, 10).shard(3, 1)


@both
def shard_of_tensors(tf, setting):
    return _range(tf, 10).shard(tf.constant(4, tf.int64), tf.constant(3, tf.int64))


@both
def enumerate_from(tf, setting):
    return tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=5)


@both
def shuffle(tf, setting):
    return _range(tf, 20).shuffle(5, seed=3)


@both
def shuffle_all(tf, setting):
    return _range(tf, 20).shuffle(100, seed=11)


@both
def shuffle_repeat(tf, setting):
    return _range(tf, 6).shuffle(6, seed=42).repeat(3)


@both
def shuffle_the_same(tf, setting):
    return _range(tf, 6).shuffle(6, seed=42, reshuffle_each_iteration=False).repeat(3)


@one
def shuffle_by_graph_seed(tf, setting):
    return _range(tf, 12).shuffle(4).batch(5)


@one
def shuffle_by_tensor_seed(tf, setting):
    return _range(tf, 12).shuffle(4, seed=tf.constant(8, tf.int64))


@both
def shuffle_of_nothing(tf, setting):
    return _range(tf, 5).shuffle(0)


@both
def shuffle_and_repeat(tf, setting):
    return _range(tf, 5).apply(tf.data.experimental.shuffle_and_repeat(3, 3, seed=5))


@one
def random_numbers(tf, setting):
    return tf.data.experimental.RandomDataset(seed=4).take(5)


@two
def random_numbers_2(tf, setting):
    return tf.data.Dataset.random(seed=4).take(5)


@both
def prefetch(tf, setting):
    return _range(tf, 5).prefetch(2)


@both
def cache(tf, setting):
    return _range(tf, 4).map(lambda x: x * x).cache().repeat(2)


@both
def unique(tf, setting):
    data = tf.data.Dataset.from_tensor_slices([3, 1, 3, 2, 1, 3])
    return data.apply(tf.data.experimental.unique())


@both
def counter(tf, setting):
    return tf.data.experimental.Counter(3, 2).take(4)


# ---- Functions


@both
def map_scalar(tf, setting):
    return _range(tf, 5).map(lambda x: x * 2 + 1)


@both
def map_captures(tf, setting):
    factor = tf.constant(3.5)
    return tf.data.Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: x * factor)


@both
def map_to_structure(tf, setting):
    return _range(tf, 3).map(lambda x: {"x": x, "pair": (x + 1, tf.cast(x, tf.float32) / 2)})


@both
def map_of_tuple(tf, setting):
    return tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda a, b: a + b)


@both
def map_of_dict(tf, setting):
    return tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [3, 4]}).map(
        lambda d: (d["b"], d["a"])
    )


@both
def map_to_list(tf, setting):
    return _range(tf, 3).map(lambda x: [x, x + 10])


@both
def map_to_constant(tf, setting):
    return _range(tf, 3).map(lambda x: 7)


@both
def map_of_nested_tuple(tf, setting):
    data = tf.data.Dataset.zip((_range(tf, 3), tf.data.Dataset.zip((_range(tf, 3), _range(tf, 3)))))
    return data.map(lambda a, bc: a + bc[0] * bc[1])


@both
def map_in_parallel(tf, setting):
    return _range(tf, 30).map(lambda x: x * x, num_parallel_calls=4)


@both
def map_autotuned(tf, setting):
    return _range(tf, 9).map(lambda x: x - 1, num_parallel_calls=tf.data.experimental.AUTOTUNE)


@both
def map_of_text(tf, setting):
    return tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(tf.strings.length)


@both
def map_of_py_func(tf, setting):
    return _range(tf, 4).map(lambda x: tf.numpy_function(lambda v: v * v + 1, [x], tf.int64))


@both
def map_fails(tf, setting):
    return _range(tf, 4).map(
        lambda x: tf.debugging.check_numerics(tf.constant(1.0) / tf.cast(x - 2, tf.float32), "no")
    )


@both
def map_returns_nothing_known(tf, setting):
    return _range(tf, 3).map(lambda x: object())


@both
def map_of_wrong_number(tf, setting):
    return _range(tf, 3).map(lambda x, y: x)


@both
def map_with_cond(tf, setting):
    return _range(tf, 5).map(lambda x: tf.cond(x > 2, lambda: x * 10, lambda: x - 10))


@both
def map_with_loop(tf, setting):
    def power(x):
        _, result = tf.while_loop(
            lambda i, r: i < x, lambda i, r: (i + 1, r * 2), (np.int64(0), np.int64(1))
        )
        return result

    return _range(tf, 6).map(power)


@both
def map_with_statements(tf, setting):
    def collatz(x):
        steps = np.int64(0)
        while x > 1:
            if x % 2 > 0:
                x = 3 * x + 1
            else:
                x = x // 2
            steps += 1
        return steps

    return _range(tf, 1, 10).map(collatz)


@both
def filter_with_statements(tf, setting):
    def keep(x):
        if x < 3 or x > 6:
            return True
        return False

    return _range(tf, 10).filter(keep)


@both
def ignore_errors(tf, setting):
    return (
        _range(tf, 5)
        .map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "no"))
        .apply(tf.data.experimental.ignore_errors())
    )


@both
def filter_some(tf, setting):
    return _range(tf, 10).filter(lambda x: tf.equal(x % 3, 0))


@both
def filter_of_structure(tf, setting):
    return tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3]}).filter(lambda d: d["a"] > 1)


@both
def filter_of_vector(tf, setting):
    return _range(tf, 10).filter(lambda x: [True, False])


@both
def filter_of_int(tf, setting):
    return _range(tf, 10).filter(lambda x: x)


@both
def flat_map(tf, setting):
    return _range(tf, 1, 4).flat_map(lambda x: _range(tf, x))


@both
def flat_map_captures(tf, setting):
    return _range(tf, 1, 4).flat_map(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x).map(lambda y: y * x)
    )


@both
def flat_map_of_tensor(tf, setting):
    return _range(tf, 1, 4).flat_map(lambda x: x)


@both
def interleave(tf, setting):
    return _range(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4
    )


@both
def interleave_in_parallel(tf, setting):
    return _range(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(3),
        cycle_length=3,
        block_length=1,
        num_parallel_calls=2,
    )


@both
def parallel_interleave(tf, setting):
    return _range(tf, 1, 5).apply(
        tf.data.experimental.parallel_interleave(
            lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2
        )
    )


@both
def take_while(tf, setting):
    return _range(tf, 10).apply(tf.data.experimental.take_while(lambda x: x < 4))


@both
def scan(tf, setting):
    return _range(tf, 1, 8).apply(
        tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, (total, x)))
    )


@both
def scan_of_growing_state(tf, setting):
    return _range(tf, 4).apply(
        tf.data.experimental.scan(
            np.zeros([1], np.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.reduce_sum(s))
        )
    )


@both
def scan_of_wrong_state(tf, setting):
    return _range(tf, 4).apply(tf.data.experimental.scan(0, lambda s, x: (x, x)))


@both
def reduce_of_elements(tf, setting):
    total = _range(tf, 6).reduce((np.int64(0), 1.0), lambda s, x: (s[0] + x, s[1] * 2.0))
    return tf.data.Dataset.from_tensors(total)


# ---- Batches


@both
def batch(tf, setting):
    return _range(tf, 7).batch(3)


@both
def batch_drops(tf, setting):
    return _range(tf, 7).batch(3, drop_remainder=True)


@both
def batch_of_structure(tf, setting):
    return tf.data.Dataset.from_tensor_slices(({"a": [1, 2, 3]}, ["x", "y", "z"])).batch(2)


@both
def batch_of_batches(tf, setting):
    return _range(tf, 12).batch(2).batch(3)


@both
def batch_of_unequal(tf, setting):
    return _range(tf, 4).map(lambda x: tf.fill([x], x)).batch(2)


@both
def batch_of_zero(tf, setting):
    return _range(tf, 4).batch(0)


@both
def batch_then_map(tf, setting):
    return _range(tf, 10).map(lambda x: x + 1).batch(4).map(lambda x: tf.reduce_sum(x))


@both
def padded_batch(tf, setting):
    return _range(tf, 5).map(lambda x: tf.fill([x], x)).padded_batch(2, [None])


@both
def padded_batch_to_length(tf, setting):
    return (
        _range(tf, 5)
        .map(lambda x: tf.fill([x], x))
        .padded_batch(2, padded_shapes=[6], padding_values=np.int64(-1), drop_remainder=True)
    )


@both
def padded_batch_too_short(tf, setting):
    return _range(tf, 5).map(lambda x: tf.fill([x], x)).padded_batch(2, padded_shapes=[2])


@both
def padded_batch_of_structure(tf, setting):
    def element(x):
        return tf.fill([x], "t"), {"m": tf.fill([2, x], 1.5), "n": x}

    return (
        _range(tf, 4)
        .map(element)
        .padded_batch(
            4, ([None], {"m": [None, 5], "n": []}), ("pad", {"m": -1.0, "n": np.int64(0)})
        )
    )


@both
def padded_batch_of_wrong_rank(tf, setting):
    return _range(tf, 5).padded_batch(2, padded_shapes=[2])


@two
def padded_batch_by_default(tf, setting):
    return _range(tf, 5).map(lambda x: tf.fill([x], x)).padded_batch(3)


@both
def unbatch(tf, setting):
    return tf.data.Dataset.from_tensor_slices(np.arange(12).reshape(2, 3, 2)).unbatch()


@both
def unbatch_of_structure(tf, setting):
    data = tf.data.Dataset.from_tensors(([1, 2], {"a": ["x", "y"]}))
    return data.apply(tf.data.experimental.unbatch())


@both
def unbatch_of_scalars(tf, setting):
    return _range(tf, 3).unbatch()


@both
def window(tf, setting):
    return _range(tf, 7).window(3).flat_map(lambda w: w.batch(3))


@both
def window_shifts(tf, setting):
    data = _range(tf, 9).window(3, shift=2, stride=2, drop_remainder=True)
    return data.flat_map(lambda w: w.batch(3))


@both
def window_of_pairs(tf, setting):
    data = tf.data.Dataset.zip((_range(tf, 5), _range(tf, 5, 10))).window(2)
    return data.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))


@both
def map_and_batch(tf, setting):
    return _range(tf, 10).apply(tf.data.experimental.map_and_batch(lambda x: (x, x * x), 4))


@both
def map_and_batch_drops(tf, setting):
    return _range(tf, 10).apply(
        tf.data.experimental.map_and_batch(
            lambda x: x, 4, drop_remainder=True, num_parallel_calls=2
        )
    )


@both
def dense_to_sparse_batch(tf, setting):
    return (
        _range(tf, 4)
        .map(lambda x: tf.fill([x], x))
        .apply(tf.data.experimental.dense_to_sparse_batch(2, [5]))
    )


# ---- Groups


@both
def group_by_window(tf, setting):
    return _range(tf, 10).apply(
        tf.data.experimental.group_by_window(
            lambda x: x % 2, lambda key, window: window.batch(3), window_size=3
        )
    )


@both
def group_by_window_of_sizes(tf, setting):
    return _range(tf, 12).apply(
        tf.data.experimental.group_by_window(
            lambda x: x % 3,
            lambda key, window: tf.data.Dataset.zip(
                (tf.data.Dataset.from_tensors(key).repeat(), window)
            ),
            window_size_func=lambda key: key + 1,
        )
    )


@both
def group_by_reducer(tf, setting):
    reducer = tf.data.experimental.Reducer(
        init_func=lambda key: (np.int64(0), np.int64(0)),
        reduce_func=lambda state, x: (state[0] + x, state[1] + 1),
        finalize_func=lambda total, count: total * 100 + count,
    )
    return _range(tf, 10).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer))


@both
def bucket_by_sequence_length(tf, setting):
    return (
        _range(tf, 1, 11)
        .map(lambda x: tf.fill([x % 5 + 1], x))
        .apply(
            tf.data.experimental.bucket_by_sequence_length(
                lambda x: tf.shape(x)[0], [3, 5], [2, 3, 2]
            )
        )
    )


@both
def bucket_to_boundary(tf, setting):
    return (
        _range(tf, 1, 9)
        .map(lambda x: tf.fill([x % 4 + 1], x))
        .apply(
            tf.data.experimental.bucket_by_sequence_length(
                lambda x: tf.shape(x)[0],
                [3, 6],
                [2, 3, 2],
                padded_shapes=[None],
                pad_to_bucket_boundary=True,
            )
        )
    )


# ---- Mixtures


@both
def choose(tf, setting):
    data = [tf.data.Dataset.from_tensors(text).repeat() for text in ("a", "b", "c")]
    choice = _range(tf, 3).repeat(3)
    return tf.data.experimental.choose_from_datasets(data, choice)


@both
def sample_by_weights(tf, setting):
    data = [tf.data.Dataset.from_tensors(i).repeat() for i in range(3)]
    return tf.data.experimental.sample_from_datasets(data, [0.2, 0.3, 0.5], seed=9).take(20)


@both
def sample_evenly(tf, setting):
    data = [tf.data.Dataset.from_tensors(i).repeat(4) for i in range(3)]
    return tf.data.experimental.sample_from_datasets(data, seed=9)


# ---- Sparse tensors


@both
def sparse_tensors(tf, setting):
    return tf.data.Dataset.from_tensors(tf.SparseTensor([[0, 1], [1, 0]], [3, 4], [2, 2]))


@both
def sparse_slices(tf, setting):
    return tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [3.0, 4.0], [3, 2]))


@both
def sparse_batch(tf, setting):
    return _range(tf, 1, 5).map(lambda x: tf.SparseTensor([[x]], [x * 10], [10])).batch(2)


@both
def sparse_map(tf, setting):
    data = tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [3, 4], [3, 2]))
    return data.map(lambda s: (tf.sparse.to_dense(s), s))


@both
def sparse_unbatch(tf, setting):
    return tf.data.Dataset.from_tensors(
        (tf.SparseTensor([[0, 1], [1, 0]], [3, 4], [2, 2]), [5, 6])
    ).unbatch()


@one
def sparse_tensor_slices(tf, setting):
    return tf.data.Dataset.from_sparse_tensor_slices(
        tf.SparseTensor([[0, 1], [2, 0]], [3.0, 4.0], [3, 2])
    )


# ---- Ragged tensors


@two
def ragged_slices(tf, setting):
    return tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]]))


@both
def ragged_tensors(tf, setting):
    return tf.data.Dataset.from_tensors(tf.ragged.constant([["a"], ["b", "c"]]))


@both
def ragged_map_batch(tf, setting):
    return _range(tf, 4).map(lambda x: tf.RaggedTensor.from_row_lengths(
        tf.fill([x + 2], x), [x, np.int64(2)])).batch(2)  # fmt: skip


@two
def ragged_batch(tf, setting):
    return _range(tf, 5).map(lambda x: (x, tf.fill([x], x))).ragged_batch(2)


@two
def ragged_batch_of_matrices(tf, setting):
    return _range(tf, 4).map(lambda x: tf.fill([2, x], x)).ragged_batch(3)


# ---- Files


@both
def text_lines(tf, setting):
    path = setting.file("a.txt", b"one\ntwo\r\nthree")
    return tf.data.TextLineDataset(path)


@both
def text_lines_of_files(tf, setting):
    names = [setting.file("a.txt", b"1\n2\n"), setting.file("b.txt", b"3\n")]
    return tf.data.TextLineDataset(tf.data.Dataset.from_tensor_slices(names)).map(
        lambda line: tf.strings.to_number(line)
    )


@both
def text_lines_in_parallel(tf, setting):
    names = [setting.file("a.txt", b"1\n2\n"), setting.file("b.txt", b"3\n4\n")]
    return tf.data.TextLineDataset(names, num_parallel_reads=2)


@both
def text_lines_of_no_file(tf, setting):
    return tf.data.TextLineDataset(os.path.join(setting.folder, "none.txt"))


@both
def records(tf, setting):
    path = os.path.join(setting.folder, "r.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for text in (b"first", b"", b"third"):
            writer.write(text)
    return tf.data.TFRecordDataset([path])


@both
def records_cut_off(tf, setting):
    path = os.path.join(setting.folder, "r.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"first")
        writer.write(b"second")
    with open(path, "rb") as file:
        content = file.read()
    return tf.data.TFRecordDataset(setting.file("cut.tfrecord", content[:-3]))


@both
def examples(tf, setting):
    path = os.path.join(setting.folder, "e.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(3):
            example = tf.train.Example()
            example.features.feature["x"].int64_list.value.extend([i, i + 1])
            example.features.feature["y"].float_list.value.extend([0.5] * i)
            writer.write(example.SerializeToString())
    features = {"x": tf.io.FixedLenFeature([2], tf.int64), "y": tf.io.VarLenFeature(tf.float32)}
    return tf.data.TFRecordDataset(path).map(lambda s: tf.io.parse_single_example(s, features))


@both
def fixed_length(tf, setting):
    path = setting.file("f.bin", b"HHaaabbbcccT")
    return tf.data.FixedLengthRecordDataset([path], 3, header_bytes=2, footer_bytes=1)


@both
def fixed_length_of_wrong_size(tf, setting):
    return tf.data.FixedLengthRecordDataset(setting.file("f.bin", b"aaabb"), 3)


@both
def list_files(tf, setting):
    for name in ("b.txt", "a.txt", "c.csv"):
        setting.file(name, b"")
    return tf.data.Dataset.list_files(os.path.join(setting.folder, "*.txt"), shuffle=False)


@both
def list_files_shuffled(tf, setting):
    for name in "abcdef":
        setting.file(f"{name}.txt", b"")
    return tf.data.Dataset.list_files(os.path.join(setting.folder, "*.txt"), seed=3)


@one
def list_no_files(tf, setting):
    return tf.data.Dataset.list_files(os.path.join(setting.folder, "*.txt"))


CSV = b'name,count,share\nx,1,0.5\ny,,1.5\n"z,z",3,2\n'


@both
def csv(tf, setting):
    return tf.data.experimental.CsvDataset(
        setting.file("a.csv", CSV), [tf.string, tf.constant([7]), tf.float32], header=True
    )


@both
def csv_of_some_columns(tf, setting):
    return tf.data.experimental.CsvDataset(
        [setting.file("a.csv", b"1;2;3\n4;-;6\n")],
        [tf.int64, tf.constant([0.5])],
        field_delim=";",
        na_value="-",
        select_cols=[0, 1],
    )


@both
def csv_without_a_field(tf, setting):
    return tf.data.experimental.CsvDataset(
        setting.file("a.csv", CSV), [tf.string, tf.int32, tf.float32], header=True
    )


@both
def csv_by_names(tf, setting):
    return tf.data.experimental.make_csv_dataset(
        setting.file("a.csv", CSV), 2, label_name="share", num_epochs=1, shuffle=False
    )


@both
def csv_of_selected_names(tf, setting):
    return tf.data.experimental.make_csv_dataset(
        setting.file("a.csv", CSV),
        3,
        select_columns=["name", "share"],
        num_epochs=2,
        shuffle=False,
    )


@both
def batched_features(tf, setting):
    path = os.path.join(setting.folder, "e.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5):
            example = tf.train.Example()
            example.features.feature["x"].int64_list.value.extend([i, i + 1])
            example.features.feature["y"].float_list.value.append(0.5 * i)
            writer.write(example.SerializeToString())
    return tf.data.experimental.make_batched_features_dataset(
        path,
        2,
        {"x": tf.io.FixedLenFeature([2], tf.int64), "y": tf.io.FixedLenFeature([], tf.float32)},
        label_key="y",
        num_epochs=1,
        shuffle=False,
        reader=tf.data.TFRecordDataset,
    )


# ---- Generators


@both
def generator(tf, setting):
    def numbers():
        yield from (3, 1, 2)

    return tf.data.Dataset.from_generator(numbers, tf.int64, [])


@both
def generator_of_structure(tf, setting):
    def pairs():
        for i in range(3):
            yield (i, [float(i)] * i)

    return tf.data.Dataset.from_generator(pairs, (tf.int32, tf.float32), ([], [None]))


@both
def generator_with_arguments(tf, setting):
    def count(start, stop):
        yield from range(int(start), int(stop))

    return tf.data.Dataset.from_generator(
        count, tf.int64, [], args=(np.int64(2), np.int64(5))
    ).repeat(2)


@both
def generator_raises(tf, setting):
    def fails():
        yield 1
        raise RuntimeError("no more")

    return tf.data.Dataset.from_generator(fails, tf.int64, [])


@both
def generator_of_wrong_shape(tf, setting):
    return tf.data.Dataset.from_generator(lambda: iter([1, [2, 3]]), tf.int64, [])


@both
def generator_of_wrong_type(tf, setting):
    return tf.data.Dataset.from_generator(lambda: iter([1, "text"]), tf.int64, [])


@both
def generator_of_text(tf, setting):
    return tf.data.Dataset.from_generator(lambda: iter(["a", b"bc"]), tf.string, []).batch(2)


@both
def generator_that_cannot_be_called(tf, setting):
    return tf.data.Dataset.from_generator([1, 2], tf.int64)


# ---- Together


@both
def training_input(tf, setting):
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    y = np.arange(10)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    return data.shuffle(10, seed=1).repeat(2).batch(4).prefetch(1)


@both
def options(tf, setting):
    options = tf.data.Options()
    options.experimental_deterministic = True
    options.experimental_optimization.map_fusion = True
    return _range(tf, 4).map(lambda x: x + 1).with_options(options)


@one
def variables(tf, setting):
    variable = tf.get_variable("v", initializer=np.int64(5), use_resource=True)
    return _range(tf, 3).map(lambda x: x + variable)


@one
def tables(tf, setting):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], np.int64([4, 5])), -1
    )
    return tf.data.Dataset.from_tensor_slices(["b", "x", "a"]).map(table.lookup)


@one
def random_uniform_in_map(tf, setting):
    return _range(tf, 3).map(lambda x: tf.random_uniform([2], seed=5))


def main():
    import tensorflow as tf

    version = tf.__version__[0]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pipelines.json")
    answers = {"1": {}, "2": {}}
    if os.path.exists(path):
        with open(path) as file:
            answers.update(json.load(file))
    names = [name for name, (_, versions) in PIPELINES.items() if version in versions]
    wanted = sys.argv[1:]
    known = answers[version]
    answers[version] = {}
    for name in names:
        if wanted and name not in wanted and name in known:
            answers[version][name] = known[name]
        elif version == "1":
            answers["1"][name] = answer_1(tf, name)
        else:
            answers["2"][name] = answer_2(tf, name, iter)
    lines = [
        f" {json.dumps(version)}: {{\n"
        + ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items()
        )
        + "\n }"
        for version, found in sorted(answers.items())
    ]
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    main()
