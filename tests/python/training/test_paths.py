"""What takes a path takes text, os.PathLike, and the bytes of tf.compat.as_bytes(FLAGS.dir)."""

import os
import pathlib

import pytest
import rheos as tf2
import rheos.v1 as tf
from rheos.framework import eager

KINDS = pytest.mark.parametrize("path", [os.fsdecode, os.fsencode, pathlib.Path])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model():
    """A session, an input and an output of a graph with one variable."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0)
        x = tf.placeholder(tf.float32, name="x")
        y = tf.identity(x * v, name="y")
        session.run(v.initializer)
        yield session, x, y


@KINDS
def test_checkpoints(model, path):
    session, v = model[0], tf.global_variables()[0]
    saver = tf.train.Saver()
    saver.save(session, path("saved/m"), global_step=1)
    saver.restore(session, path("saved/m-1"))
    assert tf.train.checkpoint_exists(path("saved/m-1"))
    assert len(tf.train.get_checkpoint_mtimes([path("saved/m-1")])) == 1
    tf.train.update_checkpoint_state(path("saved"), path("saved/m-1"), [path("saved/m-1")])
    state = tf.train.get_checkpoint_state(path("saved"))
    assert tf.train.latest_checkpoint(path("saved")) == state.model_checkpoint_path == "saved/m-1"
    for place in ("saved", "saved/m-1"):
        assert tf.train.list_variables(path(place)) == [("v", [])]
        assert tf.train.load_variable(path(place), "v") == 2
        assert tf.train.load_checkpoint(path(place)).has_tensor("v")
    assert tf.train.NewCheckpointReader(path("saved/m-1")).has_tensor("v")
    tf.train.init_from_checkpoint(path("saved/m-1"), {"v": v})
    tf.contrib.framework.assign_from_checkpoint_fn(path("saved/m-1"), [v])(session)
    tf.train.import_meta_graph(path("saved/m-1.meta"), import_scope="again")
    tf.train.export_meta_graph(path("saved/other.meta"))
    assert os.path.exists("saved/other.meta")


@KINDS
def test_saved_models(model, path):
    session, x, y = model
    builder = tf.saved_model.builder.SavedModelBuilder(path("built"))
    builder.add_meta_graph_and_variables(session, ["serve"])
    assert os.path.exists(builder.save())
    tf.saved_model.simple_save(session, path("simple"), {"x": x}, {"y": y})
    assert tf.saved_model.maybe_saved_model_directory(path("simple"))
    assert tf.contrib.predictor.from_saved_model(path("simple"))({"x": 3})["y"] == 6
    with tf.Graph().as_default(), tf.Session() as other:
        tf.saved_model.loader.load(other, ["serve"], path("simple"))
        assert other.run("y:0", {"x:0": 3}) == 6


@KINDS
def test_summaries_and_graphs(path):
    with tf.Graph().as_default() as graph:
        tf.constant(1)
        with tf.summary.FileWriter(path("events"), graph):
            pass
        (name,) = os.listdir("events")
        assert list(tf.train.summary_iterator(path(f"events/{name}")))
        tf.train.write_graph(graph, path("graphs"), path("g.pb"), as_text=False)
        assert os.path.exists("graphs/g.pb")


@KINDS
def test_monitored_sessions(path):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        grow = tf.assign_add(step, 1)
        tf.summary.scalar("step", step)
        hooks = [tf.train.ProfilerHook(1, output_dir=path("run"))]
        with tf.train.MonitoredTrainingSession(checkpoint_dir=path("run"), hooks=hooks) as session:
            session.run(grow)
        with tf.train.SingularMonitoredSession(checkpoint_dir=path("run")) as session:
            assert session.raw_session().run(step) == 1
        supervisor = tf.train.Supervisor(logdir=path("run"), summary_op=None)
        with supervisor.managed_session() as session:
            assert session.run(step) == 1


@KINDS
def test_estimators(path):
    def model_fn(features, mode):
        train = tf.assign_add(tf.train.get_global_step(), 1)
        given = tf.estimator.export.PredictOutput(features)
        return tf.estimator.EstimatorSpec(
            mode,
            predictions=features,
            loss=tf.reduce_sum(features),
            train_op=train,
            export_outputs={"serving_default": given},
        )

    def receiver():
        x = tf.placeholder(tf.float32, [None])
        return tf.estimator.export.TensorServingInputReceiver(x, x)

    estimator = tf.estimator.Estimator(model_fn, path("estimator"))
    estimator.train(lambda: tf.ones([2]), max_steps=1)
    assert estimator.evaluate(lambda: tf.ones([2]), steps=1)["loss"] == 2
    assert os.path.exists(estimator.export_savedmodel(path("exported"), receiver))


@KINDS
def test_files(path):
    with tf.python_io.TFRecordWriter(path("records")) as writer:
        writer.write(b"one")
    assert list(tf.python_io.tf_record_iterator(path("records"))) == [b"one"]
    assert list(map(os.fsdecode, tf.gfile.Glob(path("rec*")))) == ["records"]
    with tf.gfile.GFile(path("words"), "w") as file:
        file.write("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.index_table_from_file(path("words"))
        tf.tables_initializer().run()
        assert session.run(table.lookup(tf.constant(["b"]))) == [1]


@KINDS
def test_version_2(path):
    eager.enable_eager_execution()
    with tf.python_io.TFRecordWriter("records") as writer:
        writer.write(b"one")
    assert [e.numpy() for e in tf2.data.TFRecordDataset(path("records"))] == [b"one"]
    tf2.data.Dataset.range(3).save(path("kept"))
    assert [int(e) for e in tf2.data.Dataset.load(path("kept"))] == [0, 1, 2]
    module = tf2.Module()
    module.v = tf2.Variable(2.0)
    manager = tf2.train.CheckpointManager(tf2.train.Checkpoint(m=module), path("objects"), 1)
    assert manager.save() == tf2.train.latest_checkpoint(path("objects"))
    tf2.train.Checkpoint(m=module).restore(path("objects/ckpt-1")).assert_consumed()
    tf2.saved_model.save(module, path("module"))
    assert tf2.saved_model.load(path("module")).v.numpy() == 2
