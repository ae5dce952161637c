"""Batches whose rows are made where they belong: values, order and errors are those of rows that
are put together afterwards."""

import numpy as np
import pytest
import rheos as tf
from rheos.framework import errors

SIZES = [1, 3, 7, 64]


def batches(dataset):
    """The elements as lists, up to the end; an error by its class."""
    result, iterator = [], iter(dataset)
    while True:
        try:
            element = next(iterator, None)
        except errors.OpError as error:
            result.append(type(error).__name__)
            continue
        if element is None:
            return result
        result.append(tf.nest.map_structure(lambda part: part.numpy().tolist(), element))


def put_together(rows, size):
    return [rows[i : i + size] for i in range(0, len(rows), size)]


@pytest.mark.parametrize("calls", [None, 1, 2, tf.data.AUTOTUNE])
@pytest.mark.parametrize("size", SIZES)
def test_a_mapped_batch_has_the_rows_in_order(size, calls):
    rows = [[x, x * x] for x in range(100)]
    mapped = tf.data.Dataset.range(100).map(lambda x: tf.stack([x, x * x]), calls)
    assert batches(mapped.batch(size)) == put_together(rows, size)
    assert batches(mapped.batch(size, drop_remainder=True)) == [
        rows[i : i + size] for i in range(0, 100 - 100 % size, size)
    ]


@pytest.mark.parametrize("calls", [None, 2])
def test_several_components_of_one_value_and_of_the_argument(calls):
    def twice(x):
        y = tf.cast(x, tf.float32) * 0.5
        return {"y": y, "again": y, "x": x, "text": tf.strings.as_string(x)}

    got = batches(tf.data.Dataset.range(10).map(twice, calls).batch(4))
    for batch, xs in zip(got, put_together(list(range(10)), 4), strict=True):
        assert batch["x"] == xs
        assert batch["y"] == batch["again"] == [x / 2 for x in xs]
        assert batch["text"] == [str(x).encode() for x in xs]


@pytest.mark.parametrize("calls", [None, 2, tf.data.AUTOTUNE])
def test_an_error_costs_the_batch_up_to_it(calls):
    def checked(x):
        tf.debugging.assert_none_equal(x, np.int64(5))
        return x * 2

    got = batches(tf.data.Dataset.range(12).map(checked, calls).batch(4))
    assert got == [[0, 2, 4, 6], "InvalidArgumentError", [12, 14, 16, 18], [20, 22]]


@pytest.mark.parametrize("calls", [None, 2])
def test_rows_of_other_shapes_are_refused_and_what_follows_is_not(calls):
    def ragged(x):
        return tf.fill([tf.where(x == 5, 2, 1)], x)

    got = batches(tf.data.Dataset.range(12).map(ragged, calls).batch(4))
    assert got == [[[0], [1], [2], [3]], "InvalidArgumentError", [[8], [9], [10], [11]]]


def test_rows_may_change_from_batch_to_batch():
    dataset = tf.data.Dataset.range(9).map(lambda x: tf.fill([x // 3 + 1], x)).batch(3)
    assert [np.shape(batch) for batch in batches(dataset)] == [(3, 1), (3, 2), (3, 3)]


def test_a_row_that_a_variable_keeps_stays_when_batches_go_on():
    kept = tf.Variable(np.zeros([2], np.int64))

    def keep(x):
        row = tf.stack([x, x + 1])
        kept.assign(row)
        return row

    iterator = iter(tf.data.Dataset.range(8).map(keep).batch(4))
    first = next(iterator)
    assert kept.numpy().tolist() == [3, 4]
    kept.assign_add([100, 100])
    assert first.numpy().tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert next(iterator).numpy().tolist()[-1] == [7, 8]


def test_slices_are_copied_once_and_stay_apart():
    rows = np.arange(24, dtype=np.float32).reshape(6, 4)
    dataset = tf.data.Dataset.from_tensor_slices((rows, np.arange(6))).batch(4)
    (first, numbers), (second, _) = list(dataset)
    assert first.numpy().tolist() == rows[:4].tolist()
    assert second.numpy().tolist() == rows[4:].tolist()
    assert numbers.numpy().tolist() == [0, 1, 2, 3]


def test_rows_without_bytes():
    assert batches(tf.data.Dataset.range(3).map(lambda x: tf.zeros([0])).batch(2)) == [
        [[], []],
        [[]],
    ]
