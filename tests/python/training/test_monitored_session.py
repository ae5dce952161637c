"""Sessions that look after themselves, their hooks, and coordinators of threads."""

import threading

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import logging

ONES = np.ones((2, 3), np.float32)


class Model:
    """Fits x . w = 1: the loss halves with each step."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w) - 1.0))
        tf.summary.scalar("loss", self.loss)
        self.step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        self.train = optimizer.minimize(self.loss, global_step=self.step)


@pytest.fixture
def model():
    tf.summary.FileWriterCache.clear()
    with tf.Graph().as_default():
        yield Model()
    tf.summary.FileWriterCache.clear()


class Recorder(tf.train.SessionRunHook):
    def __init__(self, fetches):
        self.fetches = fetches
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        assert isinstance(coord, tf.train.Coordinator)
        self.calls.append("created")

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.fetches)

    def after_run(self, run_context, run_values):
        self.calls.append(run_values.results)

    def end(self, session):
        self.calls.append("end")


def test_training_stops_at_a_step_and_goes_on_from_its_checkpoint(tmp_path):
    folder = str(tmp_path)
    steps = []
    for last in 5, 9:
        tf.summary.FileWriterCache.clear()
        with tf.Graph().as_default() as graph:
            m = Model()
            recorder = Recorder(m.step)
            hooks = [tf.train.StopAtStepHook(last_step=last), recorder]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder,
                hooks=hooks,
                save_checkpoint_steps=3,
                save_summaries_steps=2,
                log_step_count_steps=4,
            ) as session:
                while not session.should_stop():
                    session.run(m.train, {m.x: ONES})
            assert recorder.calls[:2] == ["begin", "created"] and recorder.calls[-1] == "end"
            steps.append([int(c) for c in recorder.calls[2:-1]])
            assert not graph.finalized
        assert tf.train.latest_checkpoint(folder).endswith(f"model.ckpt-{last}")
    assert steps == [[1, 2, 3, 4, 5], [6, 7, 8, 9]]
    tf.summary.FileWriterCache.clear()
    events = [
        (int(e.step), [v.tag for v in e.summary.value])
        for path in sorted(tmp_path.glob("events*"))
        for e in tf.train.summary_iterator(str(path))
        if e.WhichOneof("what") == "summary"
    ]
    assert sorted(s for s, tags in events if tags == ["loss"]) == [1, 3, 5, 6, 8]
    assert [s for s, tags in events if tags == ["global_step/sec"]] == [5]
    saved = sorted(p.suffixes[0] for p in tmp_path.glob("model.ckpt-*.index"))
    assert len(saved) == 5
    assert "model_checkpoint_path" in (tmp_path / "checkpoint").read_text()
    assert (tmp_path / "graph.pbtxt").exists()


def test_no_step_is_run_after_the_end(model):
    session = tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=2)])
    assert not session.should_stop()
    for _ in range(2):
        session.run(model.train, {model.x: ONES})
    assert session.should_stop()
    with pytest.raises(RuntimeError, match="should_stop"):
        session.run(model.train, {model.x: ONES})
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1)
    session.close()
    with pytest.raises(RuntimeError, match="already closed"):
        session.close()
    assert session.should_stop()
    tf.constant(1)


def test_end_of_the_data_is_the_end_of_the_training(model):
    recorder = Recorder(model.step)
    with tf.train.MonitoredSession(hooks=[recorder]) as session:
        session.run(model.step)
        raise tf.errors.OutOfRangeError(None, None, "no more")
    assert recorder.calls[-1] == "end"
    failed = Recorder(model.step)
    with pytest.raises(tf.errors.InvalidArgumentError):
        with tf.train.SingularMonitoredSession(hooks=[failed]) as session:
            assert isinstance(session.raw_session(), tf.Session)
            session.run(tf.train.SessionRunArgs(model.loss).fetches, {model.x: [[np.nan, 1, 1]]})
            raise tf.errors.InvalidArgumentError(None, None, "bad")
    assert "end" not in failed.calls


def test_step_function_runs_with_and_without_hooks(model):
    recorder = Recorder(model.step)
    with tf.train.MonitoredSession(hooks=[recorder]) as session:

        def step(step_context):
            step_context.session.run(model.train, {model.x: ONES})
            return step_context.run_with_hooks(model.step)

        assert session.run_step_fn(step) == 1
        assert recorder.calls[2:] == [1]

        def stop(step_context):
            step_context.request_stop()

        session.run_step_fn(stop)
        assert session.should_stop()
        with pytest.raises(ValueError, match="step_context"):
            session.run_step_fn(lambda x: x)


def test_hooks_feed_and_watch_the_loss(model):
    feed = tf.train.FeedFnHook(lambda: {model.x: np.full((1, 3), np.nan)})
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        with tf.train.MonitoredSession(hooks=[feed, tf.train.NanTensorHook(model.loss)]) as s:
            s.run(model.loss)
    calm = tf.train.NanTensorHook(model.loss, fail_on_nan_loss=False)
    with tf.train.MonitoredSession(hooks=[feed, calm]) as session:
        session.run(model.loss)
        assert session.should_stop()
    for hooks, given in ([feed], {model.x: ONES}), ([feed, feed], {}):
        with tf.train.MonitoredSession(hooks=hooks) as session:
            with pytest.raises(RuntimeError, match="Same tensor is fed"):
                session.run(model.loss, given)


def test_values_are_logged(model, caplog):
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        hook = tf.train.LoggingTensorHook({"the step": model.step}, every_n_iter=2, at_end=True)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(4):
                session.run(model.train, {model.x: ONES})
    finally:
        tf.logging.set_verbosity(before)
    lines = [line for line in caplog.messages if "the step" in line]
    assert [line.split(" = ")[1].split()[0] for line in lines] == ["1", "3", "4"]
    assert lines[1].endswith(" sec)") and not lines[0].endswith(" sec)")


def test_final_values_and_traces(model, tmp_path):
    final = tf.train.FinalOpsHook(model.step)
    profiler = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
    with tf.train.MonitoredSession(hooks=[final, profiler]) as session:
        for _ in range(5):
            session.run(model.train, {model.x: ONES})
    assert final.final_ops_values == 5
    assert sorted(p.name for p in tmp_path.glob("timeline-*")) == [
        "timeline-2.json",
        "timeline-4.json",
    ]


def test_scaffold_initializes(model):
    seen = []
    scaffold = tf.train.Scaffold(init_fn=lambda s, session: seen.append((s, type(session))))
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        assert session.graph is tf.get_default_graph()
        assert scaffold.summary_op is not None and scaffold.saver is not None
    assert seen == [(scaffold, tf.Session)]


def test_session_manager_says_what_is_missing():
    with tf.Graph().as_default():
        tf.get_variable("a", [], initializer=tf.zeros_initializer())
        saver = tf.train.Saver()
        ready = tf.report_uninitialized_variables()
        manager = tf.train.SessionManager(ready_op=ready)
        with pytest.raises(RuntimeError, match="Variables not initialized: a"):
            manager.prepare_session("", init_op=tf.no_op())
        with pytest.raises(RuntimeError, match="no init_op or init_fn"):
            tf.train.SessionManager().prepare_session("")
        session, restored = manager.recover_session("", saver=saver, checkpoint_dir="/nowhere")
        assert not restored
        session = manager.prepare_session("", init_op=tf.global_variables_initializer())
        assert session.run("a:0") == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.train.LoggingTensorHook([]),
        lambda: tf.train.LoggingTensorHook([], every_n_iter=0),
        lambda: tf.train.LoggingTensorHook([], every_n_iter=1, every_n_secs=1),
        lambda: tf.train.StopAtStepHook(),
        lambda: tf.train.StopAtStepHook(1, 1),
        lambda: tf.train.SummarySaverHook(save_steps=1),
        lambda: tf.train.SummarySaverHook(summary_op=1),
        lambda: tf.train.CheckpointSaverHook("x"),
        lambda: tf.train.StepCounterHook(every_n_steps=None),
        lambda: tf.train.SecondOrStepTimer(every_secs=1, every_steps=1),
    ],
)
def test_intervals_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError):
        make()


def test_hooks_need_a_step_counter():
    with tf.Graph().as_default():
        tf.get_variable("a", [])
        with pytest.raises(RuntimeError, match="Global step should be created"):
            tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(num_steps=3)])


# ---- Coordinators


def test_coordinator_raises_what_a_thread_reported():
    coord = tf.train.Coordinator()

    def work():
        with coord.stop_on_exception():
            raise ValueError("from a thread")

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(ValueError, match="from a thread"):
        coord.join([thread])
    assert coord.should_stop() and coord.joined
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined


def test_end_of_the_data_is_no_error_of_a_coordinator():
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join()
    assert coord.should_stop() and coord.wait_for_stop(0)


def test_threads_that_do_not_stop_are_named():
    coord, end = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=end.wait, name="slow one")
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="still running: slow one"):
        coord.join([thread], stop_grace_period_secs=0.05)
    end.set()
    thread.join()


def test_looper_calls_until_the_stop():
    coord, calls = tf.train.Coordinator(), []

    def call():
        calls.append(1)
        if len(calls) == 6:
            coord.request_stop()

    coord.join([tf.train.LooperThread.loop(coord, None, target=call)])
    assert len(calls) == 6
    with pytest.raises(ValueError, match="Coordinator"):
        tf.train.LooperThread(None, None)


def test_queue_runners_of_a_graph_without_any():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No default session"):
            tf.train.start_queue_runners()
        with tf.Session() as session:
            assert tf.train.start_queue_runners(session, tf.train.Coordinator()) == []
        with pytest.raises(TypeError, match="Session"):
            tf.train.start_queue_runners("session")


def test_session_manager__a_ready_op_that_lists_nothing():
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    manager = tf.train.SessionManager(ready_op=tf.assert_variables_initialized())
    sess = manager.prepare_session("", init_op=tf.global_variables_initializer())
    assert sess.run(v).tolist() == [1.0, 2.0]


def test_estimators_log_what_they_do(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(logging, "info", lambda text, *args: said.append(text % args))

    def model(features, labels, mode):
        out = tf.get_variable("w", []) * features
        loss = tf.reduce_mean((out - labels) ** 2)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        metrics = {"m": tf.metrics.mean(out)}
        return tf.estimator.EstimatorSpec(
            mode, {"out": out}, loss=loss, train_op=train, eval_metric_ops=metrics
        )

    def data():
        return tf.data.Dataset.from_tensors(([1.0, 2.0], [2.0, 4.0])).repeat(3)

    estimator = tf.estimator.Estimator(model, str(tmp_path))
    config = said[1]
    assert said[0] == "Using default config."
    assert config.startswith("Using config: {'_model_dir': ") and str(tmp_path) in config
    del said[:]
    estimator.train(data)
    checkpoint = tmp_path / "model.ckpt"
    assert said[:2] == ["Calling model_fn.", "Done calling model_fn."]
    assert f"Saving checkpoints for 3 into {checkpoint}." in said
    assert said[-1].startswith("Loss for final step: ")
    del said[:]
    results = estimator.evaluate(data)
    assert [text.split(" at ")[0] for text in said if " at " in text] == [
        "Starting evaluation", "Finished evaluation"
    ]  # fmt: skip
    assert f"Restoring parameters from {checkpoint}-3" in said
    told = f"global_step = 3, loss = {results['loss']}, m = {results['m']}"
    assert said[-1] == f"Saving dict for global step 3: {told}"
    assert not any(text.startswith("Evaluation [") for text in said)
    del said[:]
    estimator.evaluate(data, steps=2)
    assert [text for text in said if "Evaluation [" in text] == [
        "Evaluation [1/2]", "Evaluation [2/2]"
    ]  # fmt: skip
