"""Hyperparameters, training loops, supervisors and saving beside a training."""

import json
import threading

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1.contrib import slim, training


def parameters():
    return training.HParams(lr=0.1, n=3, a="x", f=[1, 2, 3], b=True)


def test_hyperparameters_change_by_text():
    hp = parameters().parse("lr=2,n=5,f=[4,5],b=false")
    assert (hp.lr, hp.n, hp.a, hp.f, hp.b) == (2.0, 5, "x", [4, 5], False)
    assert str(hp) == "lr=2.0,n=5,a=x,f=[4, 5],b=False"
    assert hp.to_json(sort_keys=True) == '{"a": "x", "b": false, "f": [4, 5], "lr": 2.0, "n": 5}'
    assert "n" in hp and hp.get("none", 4) == 4 and hp.parse_json('{"n": 7}').n == 7
    assert training.parse_values("x[1]=2,x[0]=3", {"x": int}) == {"x": {0: 3, 1: 2}}
    hp.del_hparam("n")
    assert not hasattr(hp, "n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n=1.5", "Could not parse hparam 'n' of type 'int' with value '1.5' in n=1.5"),
        ("q=1", "Unknown hyperparameter type for q"),
        ("n=1,n=2", "Multiple assignments to variable 'n' in n=1,n=2"),
        ("f[0]=1,f=[2]", r"Multiple assignments to variable 'f'"),
        ("f[0]=[1]", "Assignment of a list to a list index."),
        ("b=maybe", "Could not parse hparam 'b' of type 'bool'"),
        ("n:1", "Malformed hyperparameter value: n:1"),
    ],
)
def test_wrong_texts_of_hyperparameters(text, message):
    with pytest.raises(ValueError, match=message):
        parameters().parse(text)


def test_hyperparameters_keep_their_types():
    hp = parameters()
    hp.set_hparam("lr", 3)
    assert isinstance(hp.lr, float)
    for name, value in (("n", "x"), ("n", True), ("n", 1.5), ("f", 1), ("a", 1), ("lr", [1.0])):
        with pytest.raises(ValueError):
            hp.set_hparam(name, value)
    with pytest.raises(KeyError):
        hp.set_hparam("none", 1)
    with pytest.raises(ValueError, match="reserved"):
        hp.add_hparam("n", 1)
    with pytest.raises(ValueError, match="incompatible"):
        hp.get("n", [1])


def test_hyperparameters_as_a_message():
    hp = training.HParams(a=1, b=2.5, c="x", d=True, e=[1, 2], f=[True], g=["a", "b"], h=[1.5])
    message = hp.to_proto()
    assert message.hparam["g"].bytes_list.value == [b"a", b"b"]
    again = training.HParams(hparam_def=type(message).FromString(message.SerializeToString()))
    assert again.values() == hp.values()
    assert again.to_proto() == training.HParams.from_proto(message).to_proto() == message
    again.set_hparam("e", [7])
    with pytest.raises(ValueError):
        again.set_hparam("a", "x")
    with pytest.raises(TypeError, match="HParamDef"):
        training.HParams(hparam_def=3)
    message.hparam["empty"].Clear()
    with pytest.raises(ValueError, match="'empty' has no value"):
        training.HParams(hparam_def=message)
    with pytest.raises(ValueError, match="Unsupported type for hparam 'n'"):
        training.HParams(n=None).to_proto()


def small_loss():
    tf.set_random_seed(5)
    random = np.random.RandomState(0)
    x = tf.constant(random.rand(20, 4).astype(np.float32))
    net = slim.fully_connected(x, 8, normalizer_fn=slim.batch_norm)
    logits = slim.fully_connected(net, 3, activation_fn=None)
    tf.losses.sparse_softmax_cross_entropy(tf.constant(random.randint(0, 3, 20)), logits)
    return tf.losses.get_total_loss()


def test_slim_trains_a_number_of_steps(tmp_path):
    train_op = slim.learning.create_train_op(
        small_loss(),
        tf.train.AdamOptimizer(0.05),
        clip_gradient_norm=1.0,
        summarize_gradients=True,
        gradient_multipliers={"fully_connected/weights": 2.0},
    )
    loss = slim.learning.train(
        train_op, str(tmp_path), number_of_steps=7, save_summaries_secs=1, log_every_n_steps=0
    )
    np.testing.assert_allclose(loss, 0.768675, atol=1e-4)  # what TensorFlow gives
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-7")
    assert tf.train.load_variable(str(tmp_path), "global_step") == 7
    assert (tmp_path / "graph.pbtxt").exists()


def test_slim_traces_every_few_steps(tmp_path):
    train_op = slim.learning.create_train_op(small_loss(), tf.train.GradientDescentOptimizer(0.1))
    slim.learning.train(
        train_op, str(tmp_path), number_of_steps=5, log_every_n_steps=0, trace_every_n_steps=3
    )
    # The step is looked at before it is counted: the first and the fourth.
    traces = sorted(path.name for path in tmp_path.glob("tf_trace-*.json"))
    assert traces == ["tf_trace-1.json", "tf_trace-4.json"]
    events = json.loads((tmp_path / traces[0]).read_text())["traceEvents"]
    assert any(event.get("name") == "ApplyGradientDescent" for event in events)
    tags = [
        event.tagged_run_metadata.tag
        for path in tmp_path.glob("events.*")
        for event in tf.train.summary_iterator(str(path))
        if event.HasField("tagged_run_metadata")
    ]
    assert tags == ["run_metadata-1", "run_metadata-4"]
    with pytest.raises(ValueError, match="trace_every_n_steps because logdir=None"):
        slim.learning.train(train_op, None, trace_every_n_steps=2)


def test_a_training_with_hooks(tmp_path):
    train_op = training.create_train_op(
        small_loss(),
        tf.train.GradientDescentOptimizer(0.1),
        transform_grads_fn=training.clip_gradient_norms_fn(0.5),
    )
    hooks = [tf.train.StopAtStepHook(num_steps=3)]
    assert training.train(train_op, str(tmp_path), hooks=hooks) > 0
    assert tf.train.load_variable(str(tmp_path), "global_step") == 3
    with pytest.raises(ValueError, match="logdir cannot be None"):
        training.train(train_op, None)


def test_gradients_are_multiplied_and_clipped(sess):
    w = tf.Variable([1.0, 2.0], name="w")
    rows = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]))
    pairs = [(tf.constant([3.0, 4.0]), w), (rows, tf.Variable(1.0, name="v"))]
    doubled = training.multiply_gradients(pairs, {w: 2.0, "v": 0.5})
    clipped = training.clip_gradient_norms(doubled, 1.0)
    assert sess.run(doubled[0][0]).tolist() == [6.0, 8.0]
    np.testing.assert_allclose(sess.run(clipped[0][0]), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(sess.run(clipped[1][0].values), [[0.6, 0.8]], rtol=1e-6)
    with pytest.raises(ValueError, match="empty"):
        training.multiply_gradients(pairs, {})
    with pytest.raises(ValueError, match="None"):
        training.multiply_gradients([(None, w)], {w: 1.0})


def descent():
    v = tf.Variable(1.0, name="v")
    step = tf.train.create_global_step()
    return v, step, tf.train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=step)


def test_a_supervisor_saves_and_goes_on(tmp_path):
    v, step, train = descent()
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=60)
    with supervisor.managed_session() as sess:
        for _ in range(5):
            sess.run(train)
        supervisor.saver.save(sess, supervisor.save_path, global_step=step)
        value = sess.run(v)
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1)
    tf.reset_default_graph()
    v, step, _ = descent()
    supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    with supervisor.managed_session() as sess:
        assert sess.run(v) == value and sess.run(step) == 5


def test_a_supervisor_raises_what_went_wrong():
    supervisor = tf.train.Supervisor()
    with pytest.raises(KeyError, match="wrong"), supervisor.managed_session():
        raise KeyError("wrong")
    with supervisor.managed_session():
        raise tf.errors.OutOfRangeError(None, None, "the data has ended")
    with pytest.raises(RuntimeError, match="requires a summary writer"):
        supervisor.summary_computed(None, b"")


def test_steps_that_are_aborted_are_done_again():
    supervisor = tf.train.Supervisor()
    calls = []

    def step(sess, what):
        calls.append(what)
        if len(calls) == 2:
            raise tf.errors.AbortedError(None, None, "lost")
        if len(calls) == 4:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step, args=["x"])
    assert calls == ["x"] * 4


def test_threads_that_save_one_checkpoint_take_turns(tmp_path):
    v = tf.get_variable("v", [100, 10])
    failed = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        definition = saver.saver_def

        def save(use_saver):
            try:
                for _ in range(5):
                    if use_saver:
                        saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
                    else:
                        feed = {definition.filename_tensor_name: str(tmp_path / "m")}
                        sess.run(definition.save_tensor_name, feed)
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=save, args=[i % 2 == 0]) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        value = sess.run(v)
    assert (tf.train.load_variable(str(tmp_path / "m"), "v") == value).all()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["checkpoint", "m.data-00000-of-00001", "m.index"]
