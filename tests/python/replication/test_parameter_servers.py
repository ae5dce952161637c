"""Variables on parameter servers, and what a program does with them by itself."""

import numpy as np
import pytest
import rheos as tf

partitioners = tf.distribute.experimental.partitioners


def test_variables_are_on_servers_in_turn(served):
    with served.scope():
        made = [tf.Variable(float(i)) for i in range(3)]
    tasks = [f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in (0, 1, 0)]
    assert [v.device for v in made] == tasks
    assert [v.numpy() for v in made] == [0, 1, 2]
    assert isinstance(made[0], tf.Variable) and made[0].distribute_strategy is served


def test_variables_of_one_name_are_different_ones(served):
    with served.scope():
        first, second = (tf.Variable(x, name="v") for x in (1.0, 2.0))
    first.assign(5.0)
    assert (first.numpy(), second.numpy()) == (5, 2)


def test_variables_are_set_and_read(served):
    with served.scope():
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert v.assign_add(tf.ones([3, 2])) is v
    v.assign_sub([[1.0, 1.0]] * 3)
    np.testing.assert_array_equal((v + 1)[0], [2, 3])
    np.testing.assert_array_equal(tf.matmul(v, [[1.0], [1.0]])[:, 0], [3, 7, 11])
    np.testing.assert_array_equal(v[1:, 0], [3, 5])
    v[0].assign([7.0, 8.0])
    v.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 0.0]]), tf.constant([2])))
    np.testing.assert_array_equal(v.sparse_read([0, 2]), [[7, 8], [6, 6]])
    v.scatter_nd_update([[1, 1]], [9.0])
    np.testing.assert_array_equal(v.gather_nd([[1, 1]]), [9])
    assert v.is_initialized()
    with pytest.raises(ValueError, match="shape"):
        v.assign([1.0])


def test_texts_and_whole_numbers_are_variables(served):
    with served.scope():
        text, count = tf.Variable("ab"), tf.Variable(2**40, dtype=tf.int64)
    text.assign("cd")
    count.assign_add(1)
    assert (text.numpy(), count.numpy()) == (b"cd", 2**40 + 1)


def test_tapes_see_reads(served):
    with served.scope():
        v = tf.Variable([1.0, 2.0])
        table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v) + tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1]))
    of_v, of_table = tape.gradient(y, [v, table])
    np.testing.assert_array_equal(of_v, [2, 4])
    np.testing.assert_array_equal(tf.convert_to_tensor(of_table)[:, 0], [0, 2, 0])


def test_traced_functions_run_on_the_servers(served):
    with served.scope():
        a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def add(x):
        a.assign_add(x)
        return a + b

    assert [add(tf.constant(x)).numpy() for x in (1.0, 2.0, 2.0)] == [4, 6, 8]
    assert a.numpy() == 6


def test_operations_on_handles_run_on_the_servers(served):
    with served.scope():
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.keras.optimizers.Adam(0.5)
    tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=tf.constant([1.0, 1.0]))
    np.testing.assert_array_equal(
        tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32), [2, 3]
    )
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v)
        optimizer.apply_gradients([(tape.gradient(y, v), v)])
    np.testing.assert_allclose(v, [1, 2], atol=1e-4)
    assert optimizer.variables[-1].device == v.device


def test_tapes_see_functions_that_read(served):
    with served.scope():
        a, b = tf.Variable(2.0), tf.Variable(3.0)
    function = tf.function(lambda x: a * x + b)
    with tf.GradientTape() as tape:
        y = function(tf.constant(5.0))
    assert [g.numpy() for g in tape.gradient(y, [a, b])] == [5, 1]


def test_resources_of_the_process_cannot_go_there(served):
    mine = tf.Variable(1.0)
    with served.scope():
        v = tf.Variable(2.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="resource of this process"):
        tf.function(lambda: v + mine)()


def test_variables_are_cut_by_a_partitioner(resolver_of):
    strategy = tf.distribute.ParameterServerStrategy(
        resolver_of(1, 2), variable_partitioner=partitioners.FixedShardsPartitioner(2)
    )
    with strategy.scope():
        v = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]), name="v")
        scalar = tf.Variable(1.0)
    assert [part.shape.as_list() for part in v.variables] == [[3, 2], [2, 2]]
    assert [part.name for part in v.variables] == ["v/part_0:0", "v/part_1:0"]
    assert "task:0" in v.variables[0].device and "task:1" in v.variables[1].device
    assert not hasattr(scalar, "variables") and v.shape == [5, 2]
    np.testing.assert_array_equal(v.numpy().ravel(), np.arange(10))
    np.testing.assert_array_equal(tf.nn.embedding_lookup(v, [4, 0])[:, 0], [8, 0])
    v.assign_add(tf.ones([5, 2]))
    v.scatter_sub(tf.IndexedSlices(tf.constant([[1.0, 1.0]] * 2), tf.constant([3, 0])))
    np.testing.assert_array_equal((v * 2)[:, 0], [0, 6, 10, 12, 18])


def test_a_partitioner_cuts_rows_alone(resolver_of):
    strategy = tf.distribute.ParameterServerStrategy(
        resolver_of(1, 1), variable_partitioner=lambda shape, dtype: [1, 2]
    )
    with strategy.scope(), pytest.raises(ValueError, match="besides the first"):
        tf.Variable(tf.zeros([2, 2]))


def test_checkpoints_keep_the_whole(resolver_of, tmp_path):
    cut = tf.distribute.ParameterServerStrategy(
        resolver_of(1, 2), variable_partitioner=partitioners.FixedShardsPartitioner(2)
    )
    with cut.scope():
        v, scalar = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(4.0)
    path = tf.train.Checkpoint(v=v, scalar=scalar).save(str(tmp_path / "c"))
    v.assign([0.0, 0.0, 0.0])
    tf.train.Checkpoint(v=v, scalar=scalar).restore(path).assert_consumed()
    np.testing.assert_array_equal(v.numpy(), [1, 2, 3])
    plain = tf.Variable(tf.zeros([3]))
    tf.train.Checkpoint(v=plain).restore(path)
    np.testing.assert_array_equal(plain, [1, 2, 3])


def test_clusters_that_do_not_do():
    wrong = {
        "one ps": {"worker": ["a:1"]},
        "one worker": {"ps": ["a:1"]},
        "task type": {"ps": ["a:1"], "worker": ["b:1"], "x": ["c:1"]},
    }
    for text, jobs in wrong.items():
        spec = tf.train.ClusterSpec(jobs)
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec)
        with pytest.raises(ValueError, match=text):
            tf.distribute.ParameterServerStrategy(resolver)
    with pytest.raises(ValueError, match="non-empty"):
        tf.distribute.ParameterServerStrategy()


def test_steps_want_a_coordinator(served):
    with pytest.raises(NotImplementedError, match="ClusterCoordinator"):
        served.run(lambda: 1)
