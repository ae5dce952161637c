"""Datasets that replicas share; the answers are TensorFlow 2.21's."""

import pytest
import rheos as tf
from replica_steps import numbers, replica

RANGE = tf.data.Dataset.range


def shares(strategy, dataset):
    return [numbers(one) for one in strategy.experimental_distribute_dataset(dataset)]


@pytest.mark.parametrize(
    "count, dataset, wanted",
    [
        (2, RANGE(12).batch(5), [[[0, 1, 2], [3, 4]], [[5, 6, 7], [8, 9]], [[10], [11]]]),
        (3, RANGE(12).batch(5), [[[0, 1], [2, 3], [4]], [[5, 6], [7, 8], [9]], [[10], [11], []]]),
        (2, RANGE(3).batch(2).repeat(2), [[[0], [1]], [[2], []], [[0], [1]], [[2], []]]),
        (4, RANGE(11).batch(8), [[[0, 1], [2, 3], [4, 5], [6, 7]], [[8], [9], [10], []]]),
        (2, RANGE(7).batch(4, drop_remainder=True), [[[0, 1], [2, 3]]]),
    ],
)
def test_a_batch_is_cut_into_equal_parts_and_a_rest(cpus, count, dataset, wanted):
    assert shares(cpus(count), dataset) == wanted


def test_the_spec_of_parts(strategy):
    dataset = strategy.experimental_distribute_dataset(RANGE(8).batch(4, drop_remainder=True))
    assert str(dataset.element_spec).startswith("PerReplicaSpec(TensorSpec(shape=(2,)")
    dataset = strategy.experimental_distribute_dataset(RANGE(8).batch(4))
    part = tf.TensorSpec([None], tf.int64)
    assert dataset.element_spec._serialize() == (part, part)
    assert isinstance(dataset, tf.distribute.DistributedDataset)


def test_structures_keep_their_form(strategy):
    pairs = RANGE(3).map(lambda x: ({"a": x}, x + 10)).batch(3)
    (element,) = strategy.experimental_distribute_dataset(pairs)
    assert numbers(element[0]["a"]) == [[0, 1], [2]] and numbers(element[1]) == [[10, 11], [12]]
    first, second = strategy.experimental_local_results(element)
    assert first[0]["a"].numpy().tolist() == [0, 1] and second[1].numpy().tolist() == [12]


def test_scalars_cannot_be_shared(strategy):
    with pytest.raises(ValueError, match="call batch"):
        strategy.experimental_distribute_dataset(RANGE(3))


@pytest.mark.parametrize(
    "count, dataset, wanted",
    [
        (2, RANGE(7).batch(2), [[[0, 1], [2, 3]], [[4, 5], [6]]]),
        (3, RANGE(7).batch(2), [[[0, 1], [2, 3], [4, 5]], [[6], [], []]]),
        (3, RANGE(9).batch(2, drop_remainder=True), [[[0, 1], [2, 3], [4, 5]]]),
        (2, RANGE(5), [[0, 1], [2, 3]]),
    ],
)
def test_a_function_makes_batches_that_replicas_take_in_turn(cpus, count, dataset, wanted):
    strategy = cpus(count)
    told = []

    def make(context):
        told.append((context.num_input_pipelines, context.num_replicas_in_sync))
        return dataset

    found = strategy.distribute_datasets_from_function(make)
    assert [numbers(one) for one in found] == wanted and told == [(1, count)]


def test_structures_are_dealt_out(strategy):
    pairs = RANGE(3).map(lambda x: (x, {"b": tf.cast(x, tf.float32)})).batch(1)
    found = list(strategy.distribute_datasets_from_function(lambda context: pairs))
    assert numbers(found[1][0]) == [[2], []] and numbers(found[0][1]["b"]) == [[0], [1]]


def test_each_replica_may_have_a_dataset(strategy):
    mode = tf.distribute.InputReplicationMode.PER_REPLICA
    options = tf.distribute.InputOptions(experimental_replication_mode=mode)
    found = strategy.distribute_datasets_from_function(
        lambda context: RANGE(2).map(lambda x: x + 10 * context.input_pipeline_id), options
    )
    assert [numbers(one) for one in found] == [[0, 10], [1, 11]]
    with pytest.raises(NotImplementedError, match="PER_REPLICA"):
        strategy.experimental_distribute_dataset(RANGE(2).batch(2), options)


def test_an_iterator_goes_on_in_functions(strategy):
    iterator = iter(strategy.experimental_distribute_dataset(RANGE(6).batch(2)))
    assert isinstance(iterator, tf.distribute.DistributedIterator)

    @tf.function
    def take(iterator):
        return strategy.run(lambda x: x * 10, args=(next(iterator),))

    assert numbers(take(iterator)) == [[0], [10]] and numbers(take(iterator)) == [[20], [30]]
    assert numbers(iterator.get_next()) == [[4], [5]]
    assert not iterator.get_next_as_optional().has_value()
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_loops_over_datasets_and_iterators_are_the_graphs(strategy):
    dataset = strategy.experimental_distribute_dataset(RANGE(7).batch(4))

    @tf.function
    def total(elements):
        found = tf.constant(0, tf.int64)
        for x in elements:
            sums = strategy.run(tf.reduce_sum, args=(x,))
            found += strategy.reduce("SUM", sums, axis=None)
        return found

    assert total(dataset).numpy() == 21 and total(iter(dataset)).numpy() == 21
    assert dataset.reduce(0, lambda count, x: count + 1).numpy() == 2


def test_values_are_made_for_each_replica(strategy):
    made = strategy.experimental_distribute_values_from_function(
        lambda context: 10 * context.replica_id_in_sync_group + context.num_replicas_in_sync
    )
    assert made.values == (2, 12) and isinstance(made, tf.distribute.DistributedValues)
    assert numbers(strategy.run(lambda x: x + replica(), args=(made,))) == [2, 13]
