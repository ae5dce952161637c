"""Variables with a copy for each replica; the answers are TensorFlow 2.21's."""

import copy

import numpy as np
import pytest
import rheos as tf
from replica_steps import numbers, replica

AGGREGATIONS = tf.VariableAggregation


def made(strategy, value=1.0, **arguments):
    with strategy.scope():
        return tf.Variable(value, **arguments)


def on_read(strategy, aggregation):
    return made(
        strategy,
        0.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=aggregation,
    )


def test_each_replica_has_a_copy_with_a_device_and_a_name(strategy):
    v = made(strategy, [1.0, 2.0], name="v")
    assert [one.name for one in v.values] == ["v:0", "v/replica_1:0"]
    assert [one.device[-5:] for one in v.values] == ["CPU:0", "CPU:1"]
    assert isinstance(v, tf.Variable) and v.trainable and v.shape == [2]
    assert v.synchronization is tf.VariableSynchronization.ON_WRITE
    assert repr(v).startswith("MirroredVariable:{\n  0: <tf.Variable 'v:0' shape=(2,)")
    assert strategy.extended.variable_created_in_scope(v)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert strategy.extended.value_container(v.values[1]) is v


def test_a_random_initial_value_is_drawn_once(strategy):
    v = made(strategy, lambda: tf.random.normal([3]))
    assert numbers(v)[0] == numbers(v)[1]


def test_a_write_where_replicas_meet_sets_all_copies(strategy):
    v = made(strategy)
    result = v.assign_add(2.0)
    assert numbers(v) == [3, 3] and numbers(result) == [3, 3]
    v.assign(strategy.run(replica))
    assert numbers(v) == [0, 1]
    assert (v + 1).numpy() == (1 + v).numpy() == 1 and (2.0 - v).numpy() == 2
    v.assign([[4.0]][0][0])
    assert (tf.constant(2.0) * v).numpy() == 8 and float(v) == 4 and v.numpy() == 4


def test_writes_of_replicas_are_aggregated(strategy):
    total = made(strategy, aggregation=AGGREGATIONS.SUM)
    mean = made(strategy, aggregation=AGGREGATIONS.MEAN)
    first = made(strategy, aggregation=AGGREGATIONS.ONLY_FIRST_REPLICA)

    def step():
        total.assign_add(replica() + 1)
        mean.assign(replica() + 5)
        first.assign(replica() + 7)
        return total.read_value()

    for run in (strategy.run, tf.function(lambda fn: strategy.run(fn))):
        total.assign(1.0)
        assert numbers(run(step)) == [4, 4]
        assert (numbers(total), numbers(mean), numbers(first)) == ([4, 4], [5.5, 5.5], [7, 7])


def test_a_number_has_no_sum_over_replicas_but_a_mean(strategy):
    total = made(strategy, aggregation=AGGREGATIONS.SUM)
    mean = made(strategy, aggregation=AGGREGATIONS.MEAN)
    with pytest.raises(ValueError, match="non-DistributedValues value 1.0"):
        strategy.run(lambda: total.assign_add(1.0))
    strategy.run(lambda: mean.assign_add(1.0))
    assert numbers(total) == [1, 1] and numbers(mean) == [2, 2]


def test_without_aggregation_a_replica_sets_its_copy(strategy):
    v = made(strategy)
    strategy.run(lambda: v.assign(replica() + 5))
    assert numbers(v) == [5, 6]


@pytest.mark.parametrize("kind, read", [("SUM", 3), ("MEAN", 1.5), ("ONLY_FIRST_REPLICA", 1)])
def test_copies_that_meet_when_they_are_read(strategy, kind, read):
    v = on_read(strategy, getattr(AGGREGATIONS, kind))
    assert not v.trainable

    def step():
        v.assign_add(replica() + 1)
        return v.read_value()

    assert numbers(strategy.run(step)) == [1, 2]
    assert v.read_value().numpy() == v.numpy() == (v + 0).numpy() == read
    v.assign(6.0)
    assert numbers(v) == ([3, 3] if kind == "SUM" else [6, 6])


def test_what_copies_that_meet_when_they_are_read_refuse(strategy):
    v = on_read(strategy, AGGREGATIONS.SUM)
    with pytest.raises(ValueError, match="does not support `assign_add` in cross-replica"):
        v.assign_add(1.0)
    alone = on_read(strategy, AGGREGATIONS.NONE)
    with pytest.raises(ValueError, match="Could not convert"):
        alone.read_value()
    with pytest.raises(ValueError, match="only for non-trainable"):
        made(strategy, trainable=True, synchronization=tf.VariableSynchronization.ON_READ)
    with pytest.raises(ValueError, match="`NONE` variable synchronization"):
        made(strategy, synchronization=tf.VariableSynchronization.NONE)


def test_a_variable_of_another_strategy_is_refused(cpus):
    one, other = cpus(2), cpus(2)
    v = made(one, aggregation=AGGREGATIONS.SUM)
    with pytest.raises(RuntimeError, match="Mixing different"):
        other.run(lambda: v.assign_add(replica()))
    with pytest.raises(RuntimeError, match="Mixing different"), one.scope(), other.scope():
        pass


def test_a_step_makes_a_variable_once(strategy):
    kept = []

    @tf.function
    def step():
        if not kept:
            kept.append(tf.Variable(replica() * 0 + 3, name="made"))
        return kept[0] * (replica() + 1)

    made_in_run = strategy.run(lambda: tf.Variable(2.0, name="inrun"))
    assert [one.name for one in made_in_run.values] == ["inrun:0", "inrun/replica_1:0"]
    assert numbers(strategy.run(lambda: made_in_run + replica())) == [2, 3]


def test_update_calls_for_each_copy(strategy):
    v = made(strategy)
    seen = []

    def change(copy, by):
        seen.append(copy.name)
        return copy.assign_add(by)

    by = strategy.run(replica)
    result = strategy.extended.update(v, change, args=(by,))
    assert seen == [one.name for one in v.values]
    assert numbers(v) == numbers(result) == [1, 2]
    assert len(strategy.extended.update(v, change, args=(1.0,), group=False)) == 2


def test_rows_of_copies_are_changed(strategy):
    v = made(strategy, [1.0, 2.0, 3.0])
    rows = tf.IndexedSlices(tf.constant([10.0]), tf.constant([1]), tf.constant([3]))
    v.scatter_add(rows)
    assert numbers(v) == [[1, 12, 3]] * 2
    assert v[1].numpy() == 12 and v.sparse_read([2]).numpy() == [3]


def test_a_copy_of_the_variable_has_copies(strategy):
    v = made(strategy, 5.0)
    other = copy.deepcopy(v)
    other.assign(6.0)
    assert numbers(v) == [5, 5] and numbers(other) == [6, 6]


def test_a_tape_knows_the_variable(strategy):
    v = made(strategy, 3.0)

    def step():
        with tf.GradientTape() as tape:
            loss = v * v * (replica() + 1)
        return tape.gradient(loss, v)

    assert numbers(strategy.run(step)) == [6, 12]
    assert numbers(tf.function(lambda: strategy.run(step))()) == [6, 12]
    assert numbers(strategy.run(tf.function(step))) == [6, 12]


def test_checkpoints_are_those_of_plain_variables(strategy, tmp_path):
    kept = {
        "m": made(strategy, 2.0),
        "total": on_read(strategy, AGGREGATIONS.SUM),
        "mean": on_read(strategy, AGGREGATIONS.MEAN),
    }
    strategy.run(lambda: [kept[key].assign_add(replica() + 1) for key in ("total", "mean")])
    path = tf.train.Checkpoint(**kept).save(str(tmp_path / "c"))
    plain = {key: tf.Variable(0.0) for key in kept}
    tf.train.Checkpoint(**plain).read(path)
    assert [plain[key].numpy() for key in ("m", "total", "mean")] == [2, 3, 1.5]

    plain["m"].assign(9.0)
    path = tf.train.Checkpoint(**plain).save(str(tmp_path / "d"))
    tf.train.Checkpoint(**kept).read(path)
    assert numbers(kept["m"]) == [9, 9] and numbers(kept["total"]) == [1.5, 1.5]
    assert numbers(kept["mean"]) == [1.5, 1.5]


def test_one_variable_for_all_replicas(cpus):
    cpus(2)
    strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"])
    v = made(strategy, aggregation=AGGREGATIONS.SUM)
    assert strategy.num_replicas_in_sync == 2 and v.values[0] is v.values[1]
    assert numbers(strategy.run(lambda: v + replica())) == [1, 2]
    strategy.run(lambda: v.assign_add(replica() + 1))
    assert v.numpy() == np.float32(4)
