"""Savers, summaries, monitored sessions and estimators of version 1 with values on a graphics card:
what is written there is read on a processor, and the other way round."""

from card_process import check_program

FRAME = """
import tempfile

import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)

SOFT = tf.ConfigProto(allow_soft_placement=True)
FOLDER = tempfile.TemporaryDirectory()


def at(name):
    return FOLDER.name + "/" + name
"""


def test_what_a_card_saves_a_processor_restores():
    check_program(
        FRAME
        + """
def build(device, sharded=False, version=tf.train.SaverDef.V2):
    with tf.device(device):
        init = tf.zeros_initializer()
        tf.get_variable("by_reference", [3, 2], initializer=init)
        tf.get_variable("by_handle", [2], use_resource=True, initializer=init)
        tf.get_variable("in_parts", [5, 2], initializer=init,
                        partitioner=tf.fixed_size_partitioner(2))
        tf.get_variable("half", [3], tf.float16, initializer=init)
        tf.get_variable("whole", [2], tf.int64, initializer=init)
        steps = []
        for i, v in enumerate(tf.trainable_variables()):
            steps.append(tf.assign_add(v, tf.cast(tf.fill(v.shape, i + 1), v.dtype)))
        x = tf.reshape(tf.range(10.0), [5, 2]) / 10
        loss = tf.reduce_sum(tf.square(x @ tf.transpose(tf.get_variable(
            "trained", [4, 2], initializer=tf.ones_initializer()))))
        train = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.global_variables("trained"))
    saver = tf.train.Saver(sharded=sharded, write_version=version)
    return tf.global_variables(), tf.group(*steps, train), saver


def run(device, save=None, restore=None, **options):
    with tf.Graph().as_default():
        variables, step, saver = build(device, **options)
        with tf.Session(config=SOFT) as session:
            session.run(tf.global_variables_initializer())
            if restore:
                saver.restore(session, restore)
            else:
                for _ in range(3):
                    session.run(step)
            if save:
                saver.save(session, save)
            values = dict(zip([v.op.name for v in variables], session.run(variables)))
            session.run(step)  # it goes on from there
            return values, dict(zip(values, session.run(variables)))


options = [{}, {"sharded": True}, {"version": tf.train.SaverDef.V1}]
for i, kind in enumerate(options):
    for writer, reader in ("/gpu:0", "/cpu:0"), ("/cpu:0", "/gpu:0"), ("/gpu:0", "/gpu:0"):
        path = at(f"{i}{writer[1]}{reader[1]}")
        saved, after = run(writer, save=path, **kind)
        assert saved["by_reference"].tolist() == [[3, 3]] * 3 and len(saved) >= 10
        assert "trained/Adam_1" in saved
        restored, after_restore = run(reader, restore=path, **kind)
        for name in saved:
            np.testing.assert_array_equal(restored[name], saved[name], name)
            np.testing.assert_allclose(after_restore[name], after[name], rtol=1e-5, err_msg=name)
        stored = tf.train.load_checkpoint(path)
        np.testing.assert_array_equal(stored.get_tensor("in_parts"), [[9, 9]] * 3 + [[12, 12]] * 2)
"""
    )


def test_summaries_of_values_on_a_card():
    check_program(
        FRAME
        + """
import glob


def events(device):
    with tf.Graph().as_default():
        with tf.device(device):
            x = tf.placeholder(tf.float32, [4])
            y = tf.square(x) + 1
            tf.summary.scalar("mean", tf.reduce_mean(y))
            tf.summary.histogram("values", y)
            tf.summary.image("image", tf.reshape(y, [1, 2, 2, 1]))
            tf.summary.tensor_summary("tensor", y)
        merged = tf.summary.merge_all()
        folder = at(device[1:4])
        with tf.Session(config=SOFT) as session, tf.summary.FileWriter(folder) as writer:
            for step in range(3):
                writer.add_summary(session.run(merged, {x: [0, 1, 2, step]}), step)
        (file,) = glob.glob(folder + "/*")
        return [e for e in tf.train.summary_iterator(file) if e.HasField("summary")]


on_cpu, on_card = events("/cpu:0"), events("/gpu:0")
assert len(on_cpu) == len(on_card) == 3
for a, b in zip(on_cpu, on_card):
    assert a.summary == b.summary
    assert len(a.summary.value) == 4
"""
    )


def test_monitored_sessions_go_on_from_their_checkpoints():
    check_program(
        FRAME
        + """
def run(device, folder, last):
    with tf.Graph().as_default(), tf.device(device):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.square(w))
        tf.summary.scalar("loss", loss)
        train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, step)
        hooks = [tf.train.StopAtStepHook(last_step=last), tf.train.NanTensorHook(loss)]
        losses = []
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder, hooks=hooks, config=SOFT, save_checkpoint_steps=2,
            save_summaries_steps=1, log_step_count_steps=None) as session:
            while not session.should_stop():
                losses.append(session.run([loss, train])[0])
        return losses


whole = run("/cpu:0", at("cpu"), 8)
assert len(whole) == 8
parts = run("/gpu:0", at("card"), 4) + run("/cpu:0", at("card"), 6) + run("/gpu:0", at("card"), 8)
np.testing.assert_allclose(parts, whole, rtol=1e-5)
assert len(tf.train.get_checkpoint_state(at("card")).all_model_checkpoint_paths) > 1
"""
    )


def test_estimators_train_on_a_card():
    check_program(
        FRAME
        + """
rng = np.random.RandomState(0)
x = rng.rand(64, 4).astype("f")
y = (x @ [1.0, -2, 3, 0.5]).astype("f")


def model_fn(features, labels, mode, params):
    with tf.device(params["device"]):
        out = tf.layers.dense(features["x"], 1, kernel_initializer=tf.zeros_initializer())[:, 0]
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": out})
        loss = tf.losses.mean_squared_error(labels, out)
        train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        metrics = {"error": tf.metrics.mean_absolute_error(labels, out)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(16).repeat(5)


def run(device):
    config = tf.estimator.RunConfig(session_config=SOFT)
    estimator = tf.estimator.Estimator(model_fn, at(device[1:4]), config, {"device": device})
    estimator.train(input_fn)
    estimator.train(input_fn)
    evaluated = estimator.evaluate(input_fn)
    predicted = [p["y"] for p in estimator.predict(
        lambda: tf.data.Dataset.from_tensor_slices({"x": x}).batch(32))]
    return evaluated, predicted


on_cpu, on_card = run("/cpu:0"), run("/gpu:0")
assert on_card[0]["global_step"] == on_cpu[0]["global_step"] == 40
np.testing.assert_allclose(on_card[0]["loss"], on_cpu[0]["loss"], rtol=1e-3)
np.testing.assert_allclose(on_card[0]["error"], on_cpu[0]["error"], rtol=1e-3)
np.testing.assert_allclose(on_card[1], on_cpu[1], rtol=1e-3, atol=1e-4)
"""
    )
