"""tf.distribute with one replica: a strategy's scope, steps and reductions."""

import pytest
import rheos as tf


def test_the_default_strategy_is_one_replica():
    strategy = tf.distribute.get_strategy()
    assert strategy.num_replicas_in_sync == 1 and not tf.distribute.has_strategy()
    assert tf.distribute.get_replica_context().strategy is strategy
    assert strategy.run(lambda a, b=1: a + b, args=(2,), kwargs={"b": 3}) == 5
    assert not tf.distribute.in_cross_replica_context()


def test_a_scope_is_where_replicas_meet_and_a_step_is_not():
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy and tf.distribute.has_strategy()
        assert tf.distribute.in_cross_replica_context()
        inside = strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
    assert inside == 0 and not tf.distribute.has_strategy()


def test_reductions_over_one_replica_leave_the_value():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    value = tf.constant([1.0, 3.0])
    assert strategy.reduce("SUM", value, axis=None) is value
    assert strategy.reduce(tf.distribute.ReduceOp.MEAN, value, axis=0).numpy() == 2
    assert strategy.experimental_local_results(value) == (value,)
    with pytest.raises(ValueError, match="SUM or MEAN"):
        strategy.reduce("MAX", value, axis=None)


def test_a_variable_is_updated_where_it_is():
    strategy = tf.distribute.get_strategy()
    v = tf.Variable(1.0)
    strategy.extended.update(v, lambda var, x: var.assign_add(x), args=(2.0,))
    assert v.numpy() == 3
    context = tf.distribute.get_replica_context()
    assert context.merge_call(lambda s, x: (s.num_replicas_in_sync, x), args=(7,)) == (1, 7)
    assert context.all_reduce(tf.distribute.ReduceOp.SUM, [v])[0] is v


def test_what_needs_more_than_there_is_says_so():
    with pytest.raises(RuntimeError, match="one device|no device GPU:8"):
        tf.distribute.MirroredStrategy(["GPU:8", "GPU:9"])
    with pytest.raises(NotImplementedError, match="TPU"):
        tf.distribute.TPUStrategy()
    with pytest.raises(NotImplementedError, match="one device"):
        tf.experimental.dtensor.Mesh(["x"], None, None, None)


def test_a_dataset_is_dealt_out_whole():
    strategy = tf.distribute.get_strategy()
    dataset = tf.data.Dataset.range(3)
    assert strategy.experimental_distribute_dataset(dataset) is dataset
    made = strategy.distribute_datasets_from_function(
        lambda context: dataset.batch(context.get_per_replica_batch_size(3))
    )
    assert [x.numpy().tolist() for x in made] == [[0, 1, 2]]
