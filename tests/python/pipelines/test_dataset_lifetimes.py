"""Iterators of programs that run eagerly: how long what they need lives, and how they are saved."""

import gc
import os
import time
from pathlib import Path

import numpy as np
import pytest
import rheos as tf
from rheos.framework import eager


def number_of_functions():
    gc.collect()
    return len(eager.get_eager_graph().as_graph_def().library.function)


def pipeline(number):
    """Functions in functions, of which some are called only by an element that wants them."""
    k = tf.constant(number, tf.int64)

    def one(x):
        return tf.cond(x > 2, lambda: x + k, lambda: x - k)

    inner = tf.function(lambda x, y: x * y)
    dataset = tf.data.Dataset.range(5).map(one).filter(lambda x: x < 1000)
    return dataset.flat_map(lambda x: tf.data.Dataset.range(2).map(lambda y: inner(x, y)))


def values(iterable):
    return [int(x) for x in iterable]


def resident_bytes():
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_functions_leave_the_library_with_their_dataset():
    values(pipeline(1))
    before = number_of_functions()
    for i in range(100):
        values(pipeline(i))
    assert number_of_functions() - before < 70  # some wait until it is worth a look


def test_datasets_that_are_dropped_leave_no_memory_behind():
    for i in range(100):
        values(pipeline(i))
    before = resident_bytes()
    for i in range(100):
        values(pipeline(i))
    assert resident_bytes() - before < 100 * 40 * 1024


def test_iterators_go_on_when_their_dataset_is_gone():
    iterators = [iter(pipeline(i)) for i in range(40)]
    variant = tf.data.experimental.to_variant(pipeline(7))
    number_of_functions()
    for i, iterator in enumerate(iterators):
        assert values(iterator) == [0, -i, 0, 1 - i, 0, 2 - i, 0, 3 + i, 0, 4 + i]
    again = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    assert values(again) == values(pipeline(7))


def test_functions_of_dropped_iterators_are_called_with_new_shapes():
    inner = tf.function(lambda x: tf.reduce_sum(x * 2))
    rows = [[1], [1, 2], [1, 2, 3]]
    dataset = tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows))
    iterator = iter(dataset.map(lambda row: inner(tf.concat([row, [1]], 0))))
    inner = dataset = None
    number_of_functions()
    assert values(iterator) == [4, 8, 14]


class Counted:
    """A generator of the first `count` numbers, and what has happened to it."""

    def __init__(self, count=4):
        self.count, self.log = count, []

    def __call__(self):
        self.log.append("begin")
        try:
            yield from range(self.count)
        finally:
            self.log.append("end")

    def dataset(self):
        return tf.data.Dataset.from_generator(
            self, output_signature=tf.TensorSpec((), tf.int64)
        )  # fmt: skip


@pytest.mark.parametrize(
    ("derive", "wanted", "times"),
    [
        (lambda d: d, [0, 1, 2, 3], 1),
        (lambda d: d.repeat(2), [0, 1, 2, 3] * 2, 2),
        (lambda d: d.cache().repeat(2), [0, 1, 2, 3] * 2, 1),
        (lambda d: d.take(2), [0, 1], 1),
        (lambda d: d.prefetch(2).take(1), [0], 1),
        (lambda d: d.concatenate(d), [0, 1, 2, 3] * 2, 2),
        (lambda d: tf.data.Dataset.zip((d, d)).map(lambda x, y: x + y), [0, 2, 4, 6], 2),
    ],
)
def test_each_iterator_has_a_generator_of_its_own_which_ends(derive, wanted, times):
    counted = Counted()
    assert values(derive(counted.dataset())) == wanted
    for _ in range(100):
        if counted.log.count("end") == times:
            break
        time.sleep(0.02)  # a thread that is ahead ends by itself
    assert sorted(counted.log) == ["begin"] * times + ["end"] * times


def test_a_generator_is_closed_when_its_iterator_is_dropped():
    counted = Counted()
    dataset = counted.dataset()
    one, two = iter(dataset), iter(dataset)
    assert [int(next(it)) for it in (one, two, one, two)] == [0, 0, 1, 1]
    del one
    assert counted.log == ["begin", "begin", "end"]
    del two
    assert counted.log == ["begin", "begin", "end", "end"]


@pytest.mark.parametrize(
    ("yielded", "error", "message"),
    [
        ("x", tf.errors.InvalidArgumentError, "could not be converted to the expected type"),
        ([1, 2], tf.errors.InvalidArgumentError, r"TypeError: .*of shape \(2,\) where"),
        (ValueError("oh no"), tf.errors.InvalidArgumentError, "ValueError: oh no"),
        (KeyError("key"), tf.errors.UnknownError, "KeyError: 'key'"),
    ],
)
def test_what_a_generator_does_wrong_is_an_error_after_which_it_has_ended(yielded, error, message):
    def generator():
        yield 1
        if isinstance(yielded, Exception):
            raise yielded
        yield yielded

    iterator = iter(tf.data.Dataset.from_generator(generator, tf.int64, ()))
    assert int(next(iterator)) == 1
    with pytest.raises(error, match=message):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_threads_make_elements_ahead():
    made = []

    def slow(x):
        made.append(int(x))
        return x

    dataset = tf.data.Dataset.range(20).map(lambda x: tf.numpy_function(slow, [x], tf.int64))
    iterator = iter(dataset.prefetch(5))
    assert int(next(iterator)) == 0
    for _ in range(100):
        if len(made) > 5:
            break
        time.sleep(0.02)
    assert made == list(range(len(made)))
    assert len(made) in (6, 7)
    assert values(iterator) == list(range(1, 20))


def pipelines():
    """Pipelines of 12 elements, by the stages that have something to save."""
    numbers = tf.data.Dataset.range(12)
    vectors = tf.data.Dataset.range(3).map(lambda x: tf.range(4, dtype=tf.int64) + 4 * x)
    return {
        "map": numbers.map(lambda x: x * 2),
        "parallel map": numbers.map(lambda x: x * 2, num_parallel_calls=2),
        "shuffle": numbers.shuffle(5, seed=3),
        "repeat": tf.data.Dataset.range(4).repeat(3),
        "shuffled again": tf.data.Dataset.range(4).shuffle(4, seed=3).repeat(3),
        "batch": tf.data.Dataset.range(36).batch(3).map(tf.reduce_sum),
        "parallel batch": tf.data.Dataset.range(36)
        .batch(3, num_parallel_calls=2)
        .map(tf.reduce_sum),
        "unbatch": vectors.unbatch(),
        "prefetch": numbers.prefetch(2),
        "filter": tf.data.Dataset.range(24).filter(lambda x: x % 2 == 0),
        "flat map": tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.range(3)),
        "interleave": tf.data.Dataset.range(4).interleave(
            lambda x: tf.data.Dataset.range(3).map(lambda y: 10 * x + y), cycle_length=2
        ),
        "parallel interleave": tf.data.Dataset.range(4).interleave(
            lambda x: tf.data.Dataset.range(3).map(lambda y: 10 * x + y),
            cycle_length=2,
            num_parallel_calls=2,
        ),
        "window": tf.data.Dataset.range(24)
        .window(2)
        .flat_map(lambda w: w.batch(2))
        .map(tf.reduce_sum),
        "zip": tf.data.Dataset.zip((numbers, numbers)).map(lambda x, y: x * 100 + y),
        "concatenate": tf.data.Dataset.range(5).concatenate(tf.data.Dataset.range(7)),
        "take and skip": tf.data.Dataset.range(30).skip(3).take(12),
        "shard": tf.data.Dataset.range(24).shard(2, 1),
        "scan": numbers.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)),
        "take while": tf.data.Dataset.range(20).take_while(lambda x: x < 12),
        "cache": numbers.cache(),
        "enumerate": numbers.enumerate().map(lambda i, x: i + x),
        "unique": tf.data.Dataset.range(24).map(lambda x: x // 2).unique(),
        "rebatch": tf.data.Dataset.range(24).batch(4).rebatch(2).map(tf.reduce_sum),
        "group by window": numbers.group_by_window(
            lambda x: x % 2, lambda key, w: w.batch(3), window_size=3
        ).unbatch(),
        "bucket": numbers.map(lambda x: tf.fill([x % 3 + 1], x))
        .bucket_by_sequence_length(lambda v: tf.shape(v)[0], [2, 3], [2, 2, 2])
        .map(tf.reduce_max)
        .concatenate(tf.data.Dataset.range(5)),
        "sample": tf.data.Dataset.sample_from_datasets([numbers.take(6)] * 2, seed=5),
        "choose": tf.data.Dataset.choose_from_datasets(
            [numbers.take(6)] * 2, tf.data.Dataset.range(12).map(lambda x: x % 2)
        ),
        "random": tf.data.Dataset.random(seed=3).take(12),
        "sparse elements": numbers.map(lambda x: tf.SparseTensor([[x]], [x], [12]))
        .shuffle(4, seed=3)
        .prefetch(2)
        .map(tf.sparse.reduce_sum),
        "ragged elements": numbers.map(lambda x: tf.ragged.range([x, x + 1]))
        .shuffle(4, seed=3)
        .batch(2)
        .prefetch(2)
        .unbatch()
        .map(lambda x: tf.reduce_sum(x.row_lengths())),
        "ignored errors": tf.data.Dataset.range(13)
        .map(lambda x: (tf.debugging.assert_none_equal(x, tf.constant(5, tf.int64)), x)[1])
        .ignore_errors(),
    }


@pytest.mark.parametrize("name", sorted(pipelines()))
def test_checkpoints_save_iterators_in_the_middle(name, tmp_path):
    wanted = values(pipelines()[name])
    for done in (0, 1, 5, len(wanted)):
        iterator = iter(pipelines()[name])
        begun = [int(next(iterator)) for _ in range(done)]
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "x"))
        rest = values(iterator)
        assert begun + rest == wanted
        again = iter(pipelines()[name])
        tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
        assert values(again) == rest


def test_array_iterators_are_saved_and_restored():
    iterator = tf.data.Dataset.range(10).shuffle(4, seed=1).as_numpy_iterator()
    begun = [next(iterator) for _ in range(4)]
    state = iterator.save()
    rest = list(iterator)
    iterator.restore(state)
    assert list(iterator) == rest
    assert sorted(begun + rest) == list(range(10))
    other = tf.data.Dataset.range(3).as_numpy_iterator()
    with pytest.raises(tf.errors.InvalidArgumentError, match="another pipeline"):
        other.restore(state)
    with pytest.raises(tf.errors.InvalidArgumentError):
        other.restore(b"no state")
    assert list(other) == [0, 1, 2]


def test_iterators_with_state_that_is_not_saved_are_refused(tmp_path):
    variable = tf.Variable(1, dtype=tf.int64)
    numbers = tf.data.Dataset.range(4)
    allowed = tf.data.Options()
    allowed.experimental_external_state_policy = (
        tf.data.experimental.ExternalStatePolicy.IGNORE
    )  # fmt: skip
    for dataset in (
        numbers.map(lambda x: x + variable),
        numbers.filter(lambda x: tf.random.uniform([]) > -1),
        numbers.map(lambda x: tf.numpy_function(lambda v: v, [x], tf.int64)).batch(2).unbatch(),
        numbers.flat_map(lambda x: tf.data.Dataset.range(1).map(lambda y: variable * x)),
    ):
        path = str(tmp_path / "x")
        with pytest.raises(tf.errors.FailedPreconditionError, match="state"):
            tf.train.Checkpoint(iterator=iter(dataset)).save(path)
        dataset = dataset.with_options(allowed)
        iterator = iter(dataset)
        next(iterator)
        path = tf.train.Checkpoint(iterator=iterator).save(path)
        again = iter(dataset)
        tf.train.Checkpoint(iterator=again).restore(path)
        assert len(values(again)) == 3


def test_batches_of_what_is_cached_are_those_of_its_elements():
    rows = np.arange(300, dtype=np.float32).reshape(150, 2)
    pairs = tf.data.Dataset.from_tensor_slices((rows, [str(i) for i in range(150)]))
    batches = list(pairs.cache().repeat(7).batch(200).as_numpy_iterator())
    assert [len(numbers) for numbers, _ in batches] == [200] * 5 + [50]
    assert (np.concatenate([numbers for numbers, _ in batches]) == np.tile(rows, (7, 1))).all()
    texts = np.concatenate([some for _, some in batches])
    assert [int(text) for text in texts] == list(range(150)) * 7


def test_a_cached_row_that_does_not_fit_fails_its_batch_only():
    def made():
        for i in range(100):
            yield np.zeros(3 if i == 77 else 2, np.float32)

    spec = tf.TensorSpec([None], tf.float32)
    cached = tf.data.Dataset.from_generator(made, output_signature=spec).cache()
    assert sum(1 for _ in cached) == 100
    iterator, found = iter(cached.repeat(2).batch(50)), []
    for _ in range(20):
        try:
            found.append(len(next(iterator)))
        except tf.errors.InvalidArgumentError:
            found.append("fails")
        except StopIteration:
            break
    assert found == [50, "fails", 50, "fails"]


def test_an_exception_goes_on_where_an_iterator_ends_with_its_frame():
    def numbers():
        yield from range(9)

    def elements():
        spec = tf.TensorSpec([], tf.int32)
        yield from tf.data.Dataset.from_generator(numbers, output_signature=spec).batch(2)

    for _ in range(3):
        half_read = elements()
        assert next(half_read).numpy().tolist() == [0, 1]
        with pytest.raises(KeyError, match="mine"):
            half_read.throw(KeyError("mine"))
        half_read = elements()
        next(half_read)
        half_read.close()
