"""Datasets that choose among datasets: what is never chosen, what ends, and which shares come."""

import numpy as np
import pytest
import rheos as tf
from rheos import v1

Dataset = tf.data.Dataset
# What TensorFlow 2.21 gives.
SEEDED = [
    0, 2, 0, 4, 6, 8, 10, 1, 12, 14, 16, 18, 2, 20, 22, 24, 26, 28, 30, 32,
    3, 34, 4, 5, 36, 38,
]  # fmt: skip


def mixture(weights, stop, sample=Dataset.sample_from_datasets):
    endless = Dataset.from_tensors(np.int64(-1)).repeat()
    mixed = sample([endless, Dataset.range(3)], weights, stop_on_empty_dataset=stop)
    return [int(x) for x in mixed.take(50)]


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("make", [list, np.array, tf.constant])
def test_datasets_of_no_weight_are_not_waited_for(make, stop):
    for weights in [[0.0, 1.0], [-1.0, 1.0], [float("nan"), 2.0]]:
        assert mixture(make(weights), stop) == [0, 1, 2]
    for weights in [[0.0, 0.0], [-1.0, -2.0]]:
        assert mixture(make(weights), stop) == []


def test_the_oldest_names_leave_datasets_of_no_weight_out_too():
    one = Dataset.range(3)
    assert list(Dataset.sample_from_datasets([one], [0.0])) == []
    with v1.Graph().as_default():
        endless = v1.data.Dataset.from_tensors(np.int64(-1)).repeat()
        mixed = v1.data.experimental.sample_from_datasets(
            [endless, v1.data.Dataset.range(2)], [0.0, 1.0]
        )
        element = v1.data.make_one_shot_iterator(mixed).get_next()
        with v1.Session() as session:
            assert [session.run(element) for _ in range(2)] == [0, 1]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)


@pytest.mark.parametrize("weights", [[1, 2], [1.0, 2.0, 3.0], ["a", "b"], [[0.0, 1.0]]])
def test_weights_of_another_kind_are_refused(weights):
    with pytest.raises((TypeError, ValueError), match="weights"):
        mixture(weights, False)


@pytest.mark.parametrize("target, initial, count", [
    ([0.5, 0.5], [0.5, 0.5], 20000), ([0.9, 0.1], [0.5, 0.5], None),
    ([0.5, 0.5], [0.9, 0.1], None), ([1.0, 0.0], [0.5, 0.5], 10000),
    ([0.99, 0.01], [0.01, 0.99], None), ([0.9, 0.1], None, None), ([0.5, 0.5], None, None),
])  # fmt: skip
def test_resampled_elements_end_and_come_in_the_shares_asked_for(target, initial, count):
    source = Dataset.range(20000)
    # Of the two classes the first comes as often as `initial` says, by default half of the time.
    share = 0.5 if initial is None else initial[0]
    numbers = source.map(lambda x: tf.cast(x % 100 >= int(share * 100), tf.int64))
    pairs = numbers.rejection_resample(lambda x: x, target, initial, seed=5)
    got = np.array([(int(number), int(x)) for number, x in pairs])
    assert count in (None, len(got)) and (got[:, 0] == got[:, 1]).all()
    assert abs((got[:, 0] == 0).mean() - target[0]) < 0.04


def test_resampling_takes_structures_and_seeds_give_tensorflows_elements():
    tf.random.set_seed(7)
    pairs = Dataset.range(40).rejection_resample(lambda x: x % 2, [0.9, 0.1], [0.5, 0.5], seed=5)
    assert [int(x) for _, x in pairs] == SEEDED
    pairs = Dataset.zip((Dataset.range(9), Dataset.range(9))).rejection_resample(
        lambda x, y: y % 2, [1.0, 0.0], [0.5, 0.5]
    )
    assert [int(y) for _, (_, y) in pairs] == [0, 2, 4, 6, 8]
