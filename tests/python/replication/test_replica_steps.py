"""Steps of several replicas, and where these meet; the answers are TensorFlow 2.21's."""

import threading

import pytest
import rheos as tf
from replica_steps import numbers, replica


def context():
    return tf.distribute.get_replica_context()


def test_a_step_runs_on_each_replica(strategy):
    assert strategy.num_replicas_in_sync == 2
    assert [name[-5:] for name in strategy.extended.worker_devices] == ["CPU:0", "CPU:1"]
    assert numbers(strategy.run(lambda x: x + replica(), args=(1.0,))) == [1, 2]
    given = strategy.run(replica)
    assert numbers(strategy.run(lambda x, y: x * y, (given,), {"y": given})) == [0, 1]
    assert strategy.run(lambda: None) is None and strategy.run(lambda: 5) == 5
    assert strategy.run(lambda: f"r{int(replica())}").values == ("r0", "r1")
    devices = strategy.run(lambda: context().devices)[0]
    assert devices.values == strategy.extended.worker_devices


def test_where_a_program_is(strategy):
    assert not tf.distribute.in_cross_replica_context() and not tf.distribute.has_strategy()
    with strategy.scope():
        assert tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_strategy() is strategy
    assert strategy.run(lambda: tf.distribute.get_strategy() is strategy)
    assert not strategy.run(tf.distribute.in_cross_replica_context)
    with pytest.raises(RuntimeError, match="cross-replica context"):
        strategy.run(lambda: strategy.run(replica))


def test_replicas_run_one_after_the_other(strategy):
    order = []

    def step():
        number = int(replica())
        order.append(f"{number} begins")
        context().merge_call(lambda strategy: order.append("meet"))
        order.append(f"{number} ends")

    for _ in range(3):
        strategy.run(step)
    assert order == ["0 begins", "1 begins", "meet", "0 ends", "1 ends"] * 3


def test_where_replicas_meet_values_are_those_of_all(strategy):
    def merge(strategy, x, y):
        assert tf.distribute.in_cross_replica_context()
        return strategy.reduce("SUM", x, axis=None) + y

    def step():
        return context().merge_call(merge, args=(replica() + 1,), kwargs={"y": 10.0})

    assert strategy.run(step).numpy() == 13
    shares = strategy.run(lambda: context().merge_call(lambda s, x: x, args=(replica(),)))
    assert numbers(shares) == [0, 1]


def test_an_error_of_a_replica_ends_all(strategy):
    def step():
        context().merge_call(lambda strategy: None)
        if int(replica()) == 1:
            raise KeyError("mine")
        context().merge_call(lambda strategy: None)

    running = threading.active_count()
    with pytest.raises(KeyError, match="mine"):
        strategy.run(step)
    with pytest.raises(ZeroDivisionError):
        strategy.run(lambda: context().merge_call(lambda strategy: 1 / 0))
    with pytest.raises(RuntimeError, match="different number of replica_context"):
        strategy.run(lambda: int(replica()) or context().merge_call(lambda strategy: 1))
    assert threading.active_count() == running
    assert numbers(strategy.run(replica)) == [0, 1]


def test_a_function_inside_of_a_step_cannot_be_where_replicas_meet(strategy):
    inner = tf.function(lambda: context().all_reduce("sum", replica()))
    assert numbers(strategy.run(inner)) == [1, 1]
    with pytest.raises(RuntimeError, match="nested"):
        strategy.run(lambda: inner())


def test_functions_have_a_trace_for_each_replica(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    read = tf.function(lambda x: v * x)
    assert read(2.0).numpy() == 2
    strategy.run(lambda: v.assign(replica() + 3))
    for _ in range(2):
        assert numbers(strategy.run(lambda: read(2.0))) == [6, 8]
        assert read(2.0).numpy() == 6


def test_values_of_all_replicas_in_a_step(strategy):
    def step():
        x = replica() + 1
        return (
            context().all_reduce(tf.distribute.ReduceOp.SUM, {"a": x, "b": [x * 2]}),
            context().all_reduce("MEAN", x),
            context().all_gather(tf.fill([int(replica()) + 1], x), axis=0),
        )

    total, mean, gathered = strategy.run(step)
    assert numbers(total["a"]) == [3, 3] and numbers(total["b"][0]) == [6, 6]
    assert numbers(mean) == [1.5, 1.5] and numbers(gathered) == [[1, 2, 2]] * 2


def test_rows_of_slices_are_put_together(strategy):
    def step():
        at = tf.cast(tf.reshape(replica(), [1]), tf.int64)
        slices = tf.IndexedSlices(tf.reshape(replica(), [1]), at, tf.constant([3], tf.int64))
        return context().all_reduce("SUM", slices)

    found = strategy.run(step)
    assert [one.indices.numpy().tolist() for one in found.values] == [[0, 1]] * 2
    assert [one.values.numpy().tolist() for one in found.values] == [[0, 1]] * 2


def test_the_gradient_of_a_sum_is_that_of_all_replicas(strategy):
    def step():
        x = tf.constant([1.0, 2.0]) * (replica() + 1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context().all_reduce("sum", x * x)
        return y, tape.gradient(y, x)

    for run in (lambda: strategy.run(step), tf.function(lambda: strategy.run(step))):
        y, gradient = run()
        assert numbers(y) == [[5, 20]] * 2 and numbers(gradient) == [[4, 8], [8, 16]]


def test_reductions_where_replicas_meet(strategy):
    both = strategy.run(lambda: tf.stack([replica(), 2.0]))
    assert strategy.reduce("SUM", both, axis=None).numpy().tolist() == [1, 4]
    assert strategy.reduce("SUM", both, axis=0).numpy() == 5
    uneven = strategy.experimental_distribute_values_from_function(
        lambda c: tf.range(c.replica_id_in_sync_group + 1.0)
    )
    assert strategy.reduce("MEAN", uneven, axis=0).numpy() == pytest.approx(1 / 3)
    assert strategy.gather(uneven, axis=0).numpy().tolist() == [0, 0, 1]
    assert strategy.reduce("SUM", {"a": both}, axis=0)["a"].numpy() == 5
    assert strategy.reduce("MEAN", 1.0, axis=None) == 1
    with pytest.raises(ValueError, match="cannot be reduced"):
        strategy.reduce("SUM", tf.constant(1.0), axis=None)
    with pytest.raises(ValueError, match="at least one dimension"):
        strategy.gather(strategy.run(replica), axis=0)


KINDS = ["ReductionToOneDevice", "HierarchicalCopyAllReduce", "NcclAllReduce"]


@pytest.mark.parametrize("name", KINDS)
def test_what_reduces_may_be_chosen(cpus, name):
    cpus(2)
    ops = getattr(tf.distribute, name)()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=ops)
    values = strategy.run(replica)
    assert strategy.num_replicas_in_sync == 2
    assert ops.reduce(tf.distribute.ReduceOp.SUM, values, destinations="CPU:0").numpy() == 1
    mean = ops.reduce(tf.distribute.ReduceOp.MEAN, values, destinations=values)
    assert numbers(mean) == [0.5, 0.5]
    pairs = [(values, values), (values, "CPU:1")]
    assert len(ops.batch_reduce(tf.distribute.ReduceOp.SUM, pairs)) == 2
    assert numbers(ops.broadcast(tf.constant(3.0), values)) == [3, 3]
    with pytest.raises(ValueError, match="Reduce.SUM or Reduce.MEAN"):
        ops.reduce("SUM", values, "CPU:0")
    with pytest.raises(ValueError, match="destinations must be"):
        ops.broadcast(tf.constant(1.0), ["CPU:0"])


def test_devices_have_to_be_there(cpus):
    cpus(2)
    with pytest.raises(RuntimeError, match="no device CPU:7"):
        tf.distribute.MirroredStrategy(["CPU:7"])
    with pytest.raises(RuntimeError, match="no device GPU:9"):
        tf.distribute.OneDeviceStrategy("GPU:9")
    with pytest.raises(AssertionError, match="No duplicates"):
        tf.distribute.MirroredStrategy(["CPU:0", "cpu:0"])
    with pytest.raises(ValueError, match="empty"):
        tf.distribute.MirroredStrategy([])
    with pytest.raises(ValueError, match="CrossDeviceOps"):
        tf.distribute.MirroredStrategy(cross_device_ops="nccl")


def test_the_first_replica_writes_summaries(strategy, tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    def step():
        tf.summary.scalar("x", replica() + 5, step=1)
        return tf.summary.should_record_summaries()

    with writer.as_default():
        assert strategy.run(step).values == (True, False)
        tf.function(lambda: strategy.run(step))()
    writer.close()
    events = tf.compat.v1.train.summary_iterator(str(next(tmp_path.iterdir())))
    found = [(event.step, value.tag) for event in events for value in event.summary.value]
    assert found == [(1, "x")] * 2
