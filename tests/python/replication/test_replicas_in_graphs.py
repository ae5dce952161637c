"""Strategies of several replicas in graphs and sessions; the answers are TensorFlow 1.15.5's."""

import json

import numpy as np
import pytest
import rheos.v1 as tf

ROWS = np.arange(8, dtype="float32").reshape(8, 1)
CONFIG = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(16, 3).astype("float32")
Y = (X @ np.array([[1.0], [2.0], [3.0]], "float32")).astype("float32")


def two_cpus(kind=None):
    return (kind or tf.distribute.MirroredStrategy)(["/cpu:0", "/cpu:1"])


def step(x):
    w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean((tf.matmul(x, w) - 2 * x) ** 2)
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    with tf.control_dependencies([train]):
        return tf.identity(loss)


KINDS = [(tf.distribute.MirroredStrategy, 4), (tf.contrib.distribute.MirroredStrategy, 2)]


@pytest.mark.parametrize("kind, batch", KINDS)
def test_a_step_on_an_iterator(kind, batch, tmp_path):
    strategy = two_cpus(kind)
    assert strategy.extended.worker_devices == (
        "/replica:0/task:0/device:CPU:0",
        "/replica:0/task:0/device:CPU:1",
    )
    with strategy.scope():
        rows = tf.data.Dataset.from_tensor_slices(ROWS).batch(batch).repeat()
        iterator = strategy.make_dataset_iterator(rows)
        losses = strategy.experimental_run(step, iterator)
        loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)
    w, count = tf.global_variables()
    assert [v.name for v in (w, count)] == ["w:0", "global_step:0"]
    assert tf.trainable_variables() == [w]
    assert [v.name for v in w.values] == ["w:0", "w/replica_1:0"]
    assert w.values[1].device == "/replica:0/task:0/device:CPU:1"
    with tf.Session(config=CONFIG) as session:
        session.run([iterator.initialize(), tf.global_variables_initializer()])
        found = [session.run(loss) for _ in range(5)]
        np.testing.assert_allclose(found, [14, 93.1896, 0.69996, 4.65919, 0.035], rtol=1e-3)
        np.testing.assert_allclose(session.run(list(w.values)), [[[1.9140053]]] * 2, rtol=1e-5)
        assert session.run(count) == 5
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    assert tf.train.list_variables(path) == [("global_step", []), ("w", [1, 1])]
    with tf.Session(config=CONFIG) as session:
        tf.train.Saver().restore(session, path)
        np.testing.assert_allclose(session.run(list(w.values)), [[[1.9140053]]] * 2, rtol=1e-5)


def test_a_function_makes_the_input():
    strategy = two_cpus()
    told = []

    def input_fn(context):
        told.append(context.num_replicas_in_sync)
        return tf.data.Dataset.range(4).batch(1)

    with strategy.scope():
        iterator = strategy.make_input_fn_iterator(input_fn)
        values = strategy.unwrap(strategy.experimental_run(lambda x: x * 10, iterator))
    with tf.Session(config=CONFIG) as session:
        session.run(iterator.initialize())
        assert [x.tolist() for x in session.run(values)] == [[0], [10]]
        assert [x.tolist() for x in session.run(values)] == [[20], [30]]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(values)
    assert told == [2]


def test_writes_in_graphs_are_aggregated_and_read_together():
    strategy = two_cpus()
    replica = lambda: tf.cast(  # noqa: E731
        tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
    )
    with strategy.scope():
        mean = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
        kept = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        steps = strategy.experimental_run_v2(
            lambda: (mean.assign_add(replica() + 1), kept.assign_add(replica() + 1))
        )
        read = kept.read_value()
    with tf.Session(config=CONFIG) as session:
        session.run(tf.global_variables_initializer())
        session.run(strategy.unwrap(steps))
        assert session.run([mean.values[0], mean.values[1], read]) == [2.5, 2.5, 3.0]


# ---- Estimators


def model_fn(optimizer, layer, reduction):
    def make(features, labels, mode):
        if layer == "bn":
            training = mode == tf.estimator.ModeKeys.TRAIN
            features = tf.layers.batch_normalization(features, training=training)
        if layer in ("variable", "bn"):
            w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
            found = tf.matmul(features, w)
        else:
            found = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
        loss = tf.losses.mean_squared_error(labels, found, reduction=reduction)
        if mode == tf.estimator.ModeKeys.EVAL:
            error = tf.metrics.mean_absolute_error(labels, found)
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"mae": error})
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = optimizer().minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    return make


MEAN = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS
PROGRAMS = {
    "sgd": (
        lambda: tf.train.GradientDescentOptimizer(0.1), "variable", MEAN,
        {"w": [0.9795, 1.8684, 2.5659]}, {"loss": 0.2328, "mae": 0.3344},
    ),
    "adam": (
        lambda: tf.train.AdamOptimizer(0.1), "dense", MEAN,
        {
            "dense/kernel": [1.0125, 1.5694, 1.572],
            "dense/kernel/Adam": [0.1088, -0.9569, -1.7833],
            "dense/bias": [-0.1746], "beta1_power": 0.4783, "beta2_power": 0.993,
        },
        {"loss": 2.5142, "mae": 1.1438},
    ),
    "a sum": (
        lambda: tf.train.MomentumOptimizer(0.05, 0.9), "dense", tf.losses.Reduction.SUM,
        {"dense/kernel": [0.8528, 1.9423, 1.402], "dense/bias/Momentum": [-4.1552]},
        {"loss": 11.47, "mae": 1.3226},
    ),
    "moving averages": (
        lambda: tf.train.GradientDescentOptimizer(0.1), "bn", MEAN,
        {
            "batch_normalization/moving_mean": [0.0235, 0.0177, -0.009],
            "batch_normalization/moving_variance": [0.9988, 1.0072, 0.9919],
            "w": [0.7896, 1.292, 1.3739],
        },
        {"loss": 0.6773, "mae": 0.6569},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_estimators_train_on_replicas(name, tmp_path):
    optimizer, layer, reduction, weights, results = PROGRAMS[name]
    config = tf.estimator.RunConfig(
        train_distribute=two_cpus(), eval_distribute=two_cpus(), session_config=CONFIG
    )
    estimator = tf.estimator.Estimator(
        model_fn(optimizer, layer, reduction), str(tmp_path), config
    )
    rows = lambda: tf.data.Dataset.from_tensor_slices((X, Y))  # noqa: E731
    estimator.train(lambda: rows().repeat().batch(4), steps=6)
    assert not any("replica" in one for one in estimator.get_variable_names())
    for key, wanted in weights.items():
        np.testing.assert_allclose(estimator.get_variable_value(key).ravel(), wanted, atol=2e-4)
    found = estimator.evaluate(lambda: rows().batch(4))
    np.testing.assert_allclose([found[k] for k in results], list(results.values()), atol=2e-4)
    estimator.train(lambda: rows().repeat().batch(4), steps=2)
    assert estimator.get_variable_value("global_step") == 8


def test_what_a_run_config_takes():
    make = tf.contrib.distribute.DistributeConfig
    strategy = two_cpus()
    config = tf.estimator.RunConfig(experimental_distribute=make(train_distribute=strategy))
    assert config.train_distribute is strategy and config.eval_distribute is None
    with pytest.raises(ValueError, match="train_distribute"):
        tf.estimator.RunConfig(
            train_distribute=strategy, experimental_distribute=make(train_distribute=strategy)
        )
    with pytest.raises(NotImplementedError, match="remote_cluster"):
        tf.estimator.RunConfig(experimental_distribute=make(remote_cluster={"worker": ["a:1"]}))


def test_replicas_need_a_dataset(tmp_path):
    config = tf.estimator.RunConfig(train_distribute=two_cpus())
    estimator = tf.estimator.Estimator(lambda features, labels, mode: None, str(tmp_path), config)
    with pytest.raises(ValueError, match="share a dataset"):
        estimator.train(lambda: (tf.constant([1.0]), tf.constant([1.0])), steps=1)


def test_keras_says_that_it_trains_by_replicas_in_version_2():
    with two_cpus().scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        with pytest.raises(NotImplementedError, match="Estimator"):
            model.compile("sgd", "mse")


# ---- Parameter servers


def test_variables_are_on_parameter_servers_in_turn(monkeypatch):
    cluster = {"ps": ["localhost:1", "localhost:2"], "worker": ["localhost:3", "localhost:4"]}
    for task, is_chief in ((0, True), (1, False)):
        config = {"cluster": cluster, "task": {"type": "worker", "index": task}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        strategy = tf.distribute.experimental.ParameterServerStrategy()
        assert strategy.num_replicas_in_sync == 1
        assert strategy.extended.should_checkpoint is is_chief
        with tf.Graph().as_default(), strategy.scope():
            made = [tf.get_variable(name, [1]) for name in "abc"]
            total = strategy.experimental_run_v2(lambda made=made: made[0] + made[1])
        assert [v.device for v in made] == [f"/job:ps/task:{i}" for i in (0, 1, 0)]
        assert total.device == f"/job:worker/task:{task}"
    del cluster["ps"]
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": config["task"]}))
    with pytest.raises(ValueError, match="job ps"):
        tf.distribute.experimental.ParameterServerStrategy()
    with pytest.raises(NotImplementedError, match="at once"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy()


def test_without_a_cluster_parameters_are_here(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.distribute.experimental.ParameterServerStrategy()
    with strategy.scope():
        loss = strategy.experimental_run_v2(step, args=(tf.constant(ROWS[:2]),))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [round(float(session.run(loss)), 4) for _ in range(2)] == [2.0, 1.9602]


def test_workers_train_on_parameter_servers(grpc, monkeypatch):
    workers, servers = tf.test.create_local_cluster(1, 2)
    cluster = tf.train.ClusterSpec(workers[0].server_def.cluster)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster, task_type="worker", task_id=0
    )
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    with strategy.scope():
        loss = strategy.experimental_run_v2(step, args=(tf.constant(ROWS[:2]),))
    with tf.Session(workers[0].target) as session:
        session.run(tf.global_variables_initializer())
        assert [round(float(session.run(loss)), 4) for _ in range(2)] == [2.0, 1.9602]
    assert len(servers) == 2
