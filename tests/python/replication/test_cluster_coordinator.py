"""Functions that a coordinator gives to the workers of a cluster."""

import threading

import numpy as np
import pytest
import rheos as tf

coordinator_of = tf.distribute.coordinator.ClusterCoordinator


@pytest.fixture
def coordinator(served):
    return coordinator_of(served)


def test_a_strategy_has_one_coordinator(served):
    assert coordinator_of(served) is coordinator_of(served)
    assert coordinator_of(served).strategy is served
    with pytest.raises(ValueError, match="ParameterServerStrategy"):
        coordinator_of(tf.distribute.MirroredStrategy(["CPU:0"]))


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_a_loop_of_the_program_trains(served, coordinator, optimizer):
    with served.scope():
        w, b = tf.Variable([[0.0], [0.0]]), tf.Variable(0.0)
        steps = tf.Variable(0, dtype=tf.int64)
        optimizer = getattr(tf.keras.optimizers, optimizer)(0.1)

    @tf.function
    def datasets():
        def dataset_of(context):
            x = tf.random.stateless_uniform([64, 2], [1, 2])
            y = x @ tf.constant([[3.0], [-1.0]]) + 0.5
            dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).repeat()
            return dataset.batch(context.get_per_replica_batch_size(16))

        return served.distribute_datasets_from_function(dataset_of)

    @tf.function
    def step(iterator):
        def of_replica(batch):
            x, y = batch
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ w + b - y) ** 2)
            grads = tape.gradient(loss, [w, b])
            optimizer.apply_gradients(zip(grads, [w, b]))
            steps.assign_add(1)
            return loss

        losses = served.run(of_replica, args=(next(iterator),))
        return served.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    iterator = iter(coordinator.create_per_worker_dataset(datasets))
    losses = [coordinator.schedule(step, args=(iterator,)) for _ in range(150)]
    coordinator.join()
    assert coordinator.done() and steps.numpy() == 150 == optimizer.iterations.numpy()
    assert losses[-1].fetch() < 0.1 * losses[0].fetch()


def test_functions_call_others_with_variables_of_several_servers(served, coordinator):
    with served.scope():
        a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def inner(x):
        a.assign_add(x)
        b.assign_add(x)
        return a * b

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            y = inner(x) * 2.0
        return tape.gradient(y, [a, b])

    outer = tf.function(lambda x: inner(x) + inner(x))
    assert coordinator.schedule(outer, args=(tf.constant(1.0),)).fetch() == 18
    assert coordinator.schedule(gradients, args=(tf.constant(1.0),)).fetch() == [10, 8]


def test_branches_and_loops_take_variables_of_several_servers(served, coordinator):
    with served.scope():
        a, b = tf.Variable(1.0), tf.Variable(2.0)
    elements = coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(3).repeat(2))

    @tf.function
    def loop(iterator):
        total = tf.constant(0, tf.int64)
        for x in iterator:
            total += x
            if x > 0:
                a.assign_add(1.0)
            else:
                b.assign_add(1.0)
        return total

    @tf.function
    def gradients(n):
        with tf.GradientTape() as tape:
            y = tf.constant(1.0)
            for _ in tf.range(n):
                y = y * a + b
        return tape.gradient(y, [a, b])

    assert coordinator.schedule(loop, args=(iter(elements),)).fetch() == 6
    assert (a.numpy(), b.numpy()) == (5, 4)
    found = coordinator.schedule(gradients, args=(tf.constant(3),)).fetch()
    assert found == [3 * 5**2 + 2 * 4 * 5 + 4, 5**2 + 5 + 1]


def test_workers_compute_what_takes_variables(resolver_of):
    strategy = tf.distribute.ParameterServerStrategy(resolver_of(1, 1))
    with strategy.scope():
        v = tf.Variable(tf.ones([4, 4]))

    @tf.function
    def product(x):
        return tf.sin(tf.matmul(x, v))

    @tf.function
    def products(x):
        for _ in tf.range(2):
            x = product(x)
        return x

    session = strategy.extended._cluster.session_on_worker(0)
    for function in (tf.function(lambda x: product(x)), products):
        concrete, tensors = function.trace_of((tf.ones([4, 4]),), {})
        given = tensors + concrete.captured_inputs
        (result,) = session.added(concrete.graph.finish(), given)
        options = tf.compat.v1.RunOptions(output_partition_graphs=True)
        told = tf.compat.v1.RunMetadata()
        session._session.run(result, options=options, run_metadata=told)
        on_server = {
            node.op
            for graph in told.partition_graphs
            for node in graph.node
            if node.device.startswith("/job:ps")
        }
        plain = {"VarHandleOp", "ReadVariableOp", "_Send", "_Recv", "Const", "NoOp"}
        of_loops = {"Enter", "Merge", "Switch", "NextIteration", "Exit", "Identity", "LoopCond"}
        assert "ReadVariableOp" in on_server and on_server <= plain | of_loops
    session.close()


def test_rows_of_tables_in_parts_are_trained(resolver_of):
    strategy = tf.distribute.ParameterServerStrategy(
        resolver_of(1, 2), tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    )
    with strategy.scope():
        layer = tf.keras.layers.Embedding(7, 2)
        layer.build((None,))

    @tf.function
    def gradients(ids):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(ids) * 2)
        return [tf.convert_to_tensor(g) for g in tape.gradient(y, layer.trainable_variables)]

    found = coordinator_of(strategy).schedule(gradients, args=(tf.constant([6, 0, 0]),)).fetch()
    np.testing.assert_array_equal(found[0][:, 0], [4, 0, 0, 0])
    np.testing.assert_array_equal(found[1][:, 0], [0, 0, 2])


def test_results_are_fetched_in_their_structure(coordinator):
    @tf.function
    def function(x, y=2.0):
        return {"sum": x + y, "none": None, "two": (x, [y * x])}

    value = coordinator.schedule(function, args=(tf.constant(1.0),), kwargs={"y": 3.0})
    assert isinstance(value, tf.distribute.coordinator.RemoteValue)
    assert value.fetch() == {"sum": 4, "none": None, "two": (1, [3])}
    assert isinstance(value.get()["sum"], tf.Tensor)
    assert coordinator.fetch([value, 7])[1] == 7
    traced = function.get_concrete_function(tf.TensorSpec([]), y=tf.TensorSpec([]))
    assert coordinator.schedule(traced, (1.0,), {"y": 2.0}).fetch()["sum"] == 3


def test_only_traced_functions_of_values_are_scheduled(coordinator):
    with pytest.raises(TypeError, match="only accepts"):
        coordinator.schedule(lambda: 1)
    function = tf.function(lambda x: x)
    value = coordinator.schedule(function, args=(tf.constant(1.0),))
    with pytest.raises(ValueError, match="not yet supported"):
        coordinator.schedule(function, args=(value,))


def test_an_error_is_raised_once_and_cancels_what_waits(coordinator):
    @tf.function
    def checked(x):
        tf.debugging.assert_less(x, 1.0)
        return x

    failed = coordinator.schedule(checked, args=(tf.constant(2.0),))
    with pytest.raises(tf.errors.InvalidArgumentError):
        coordinator.join()
    with pytest.raises(tf.errors.InvalidArgumentError):
        failed.fetch()
    assert coordinator.done()
    assert coordinator.schedule(checked, args=(tf.constant(0.5),)).fetch() == 0.5


def test_what_waits_behind_an_error_is_cancelled(resolver_of):
    coordinator = coordinator_of(tf.distribute.ParameterServerStrategy(resolver_of(1, 1)))
    gate = threading.Event()

    @tf.function
    def fails():
        with tf.control_dependencies([tf.py_function(lambda: gate.wait(10), [], [])]):
            tf.debugging.assert_less(tf.random.uniform([]), -1.0)

    coordinator.schedule(fails)
    behind = coordinator.schedule(tf.function(lambda: tf.constant(1)))
    gate.set()
    with pytest.raises(tf.errors.CancelledError, match="reschedule"):
        behind.get()
    with pytest.raises(tf.errors.InvalidArgumentError):
        coordinator.join()


def test_each_worker_has_its_own_dataset_and_number(coordinator):
    seen = []
    iterator = iter(
        coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(3).repeat())
    )
    index = tf.distribute.coordinator.experimental_get_current_worker_index

    @tf.function
    def function(iterator):
        return index(), next(iterator)

    for _ in range(40):
        seen.append(coordinator.schedule(function, args=(iterator,)))
    for worker in (0, 1):
        elements = [int(x) for number, x in coordinator.fetch(seen) if number == worker]
        assert elements == list(np.arange(len(elements)) % 3)
    with pytest.raises(RuntimeError, match="worker index"):
        index()
    with pytest.raises(NotImplementedError, match="each worker"):
        next(iterator)


def test_tables_come_along(coordinator):
    keys, numbers = ["a", "b"], tf.constant([1, 2], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, numbers), -1)
    iterator = iter(
        coordinator.create_per_worker_dataset(
            lambda: tf.data.Dataset.from_tensor_slices(["a", "x"]).map(table.lookup).repeat()
        )
    )
    function = tf.function(lambda it: (next(it), next(it), table.lookup(tf.constant("b"))))
    assert coordinator.schedule(function, args=(iterator,)).fetch() == (1, -1, 2)


def test_values_of_each_worker_are_arguments(coordinator):
    index = tf.distribute.coordinator.experimental_get_current_worker_index
    values = coordinator._create_per_worker_resources(tf.function(lambda: index() * 10))
    assert coordinator.fetch(values) == (0, 10)
    function = tf.function(lambda x: (x, index()))
    for _ in range(10):
        value, number = coordinator.schedule(function, args=(values,)).fetch()
        assert value == 10 * number


def test_the_end_of_a_dataset_is_an_error(coordinator):
    iterator = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(1)))
    function = tf.function(lambda it: next(it))
    for _ in range(3):
        coordinator.schedule(function, args=(iterator,))
    with pytest.raises(tf.errors.OutOfRangeError):
        coordinator.join()


def test_functions_of_datasets_make_no_variables(coordinator):
    def dataset():
        tf.Variable(1)
        return tf.data.Dataset.range(1)

    with pytest.raises(ValueError, match="Creating variables"):
        coordinator.create_per_worker_dataset(dataset)
    with pytest.raises(TypeError, match="dataset"):
        coordinator.create_per_worker_dataset(lambda: tf.constant(1))
    with pytest.raises(NotImplementedError, match="function that makes"):
        coordinator.create_per_worker_dataset(tf.data.Dataset.range(1))
