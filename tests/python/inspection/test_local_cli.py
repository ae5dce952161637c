"""tfdbg's prompt, with its commands on standard input."""

import io
import sys

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1._insides import debug as tf_debug


@pytest.fixture
def layer():
    """(placeholder, result)"""
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.name_scope("layer"):
        hidden = tf.multiply(x, 2.0, name="hidden")
        return x, tf.log(hidden, name="result")


@pytest.fixture
def said(monkeypatch, capsys):
    """A function that runs something with lines of input: what was printed."""

    def say(function, *lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
        function()
        return capsys.readouterr().out

    return say


def _runs(layer, values, **kwargs):
    """A function that runs the layer on each of the values in a wrapped session."""
    x, result = layer
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session(), ui_type="readline", **kwargs)
    return lambda: [sess.run(result, {x: value}) for value in values]


def test_tensors_are_listed_and_printed(layer, said, tmp_path):
    one = _runs(layer, [[0, 1, 2]], dump_root=str(tmp_path))
    text = said(one, "run", "pt layer/result:0", "pt -s layer/hidden:0[1:]", "lt -n layer/h -r")
    assert "run-start: run #1: 1 fetch (layer/result:0); 1 feed (x:0)" in text
    assert "run-end: run #1" in text and "4 dumped tensor(s):" in text
    assert 'Tensor "layer/result:0:DebugIdentity":' in text and "-inf, 0.6931472" in text
    assert "array([2., 4.], dtype=float32)" in text and "Numeric summary:" in text
    assert text.count("2 dumped tensor(s):") == 1
    assert list(tmp_path.iterdir()) == []  # what was dumped is gone


def test_nodes_and_ways_between_them(layer, said):
    text = said(
        _runs(layer, [[1, 1, 2]]), "run", "ni -a -d -t layer/result", "li -r -t layer/result",
        "lo x", "ls", f"ps {__file__}",
    )  # fmt: skip
    assert "  Op: Log" in text and "type: DT_FLOAT" in text and "Slot 0 @ DebugIdentity" in text
    assert "Text:     \"return x, tf.log(hidden, name=\"result\")\"" in text
    assert "|- (1) [Mul] layer/hidden\n|  |- (2) [Placeholder] x" in text
    assert 'Recipients of node "x" (Depth limit = 1):\n|- (1) layer/hidden' in text
    assert f"{__file__} 4" in text
    assert 'name="result")\n    layer/result' in text


def test_runs_go_on_until_a_filter_passes(layer, said):
    values = [[1, 2, 3], [1, 2, 0], [1, 1, 1]]
    text = said(_runs(layer, values), "run -f has_inf_or_nan", "run", "run -n")
    assert "run-end: run #1" not in text and "run-end: run #2" in text
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan":' in text
    assert "run-start: run #3" in text and "run-end: run #3" not in text


def test_a_programs_own_filter(layer, said):
    x, result = layer
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    sess.add_tensor_filter("big", lambda datum, tensor: np.max(tensor) > 9)
    text = said(lambda: [sess.run(result, {x: [1, 2, v]}) for v in (3, 5)], "run -f big")
    assert "run-end: run #1" not in text and 'passing filter "big"' in text
    with pytest.raises(TypeError, match="callable"):
        sess.add_tensor_filter("bad", 3)
    with pytest.raises(ValueError, match="empty"):
        sess.add_tensor_filter("", max)


def test_some_runs_go_without_a_stop(layer, said):
    text = said(_runs(layer, [[1, 1, 1]] * 4), "run -t 3", "run -t 1")
    assert "run-start: run #2" not in text and "run-end: run #3" in text
    assert "run-start: run #4" in text


def test_what_is_fed_and_files(layer, said, tmp_path):
    text = said(
        _runs(layer, [[5, 6, 7]]), "pf x:0[1]", "pf y:0", f"run_info > {tmp_path / 'info'}", "run",
        f"pt x:0 -w {tmp_path / 'x.npy'}", f"lt > {tmp_path / 'no' / 'file'}",
    )  # fmt: skip
    assert 'Tensor "x:0[1] (feed)":' in text and "array(6)" in text
    assert 'does not contain the key "y:0"' in text
    assert "layer/result:0" in (tmp_path / "info").read_text()
    assert np.load(tmp_path / "x.npy").tolist() == [5, 6, 7]
    assert "ERROR: [Errno 2]" in text


@pytest.mark.parametrize(
    "line, answer",
    [
        ("nonsense", 'Invalid command prefix "nonsense"'),
        ("pt nope:0", 'Node "nope" does not exist'),
        ("pt layer/result:3", "did not generate any dumps"),
        ("pt layer/result:0[9]", "out of bounds"),
        ("pt layer/result:0[__import__]", "is not a slice"),
        ("lt -f nope", 'no tensor filter named "nope"'),
        ("lt -n (", "is no regular expression"),
        ("lt -s colour", "invalid choice"),
        ("ni 'open", "No closing quotation"),
        ("ps /nope.py", "No such file"),
        ("run -t 0", "1 or more"),
        ("run -f nope", 'no tensor filter named "nope"'),
        ("help nope", 'no command "nope"'),
        ("help pt", "usage: print_tensor"),
        ("help", "list_tensors, lt"),
    ],
)
def test_what_a_command_says(layer, said, line, answer):
    assert answer in said(_runs(layer, [[1, 2, 3]]), "run", line)


def test_dumps_in_loops_are_told_by_number(said):
    x = tf.placeholder(tf.float32, [], name="x")
    looped = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.add(v, 1, name="more")), [0, x], name="loop"
    )
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
    text = said(lambda: sess.run(looped, {x: 10}), "run", "pt loop/more", "pt -n 1 loop/more:0")
    assert 'Tensor "loop/more:0" generated 3 dumps' in text or "generated 3 dumps" in text
    assert "array(12., dtype=float32)" in text


def test_errors_of_steps_are_looked_into(said):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.floordiv(tf.add(x, 1, name="more"), tf.subtract(x, x, name="none"), name="bad")
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session())

    def run():
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(y, {x: 1})

    text = said(run, "run", "pt none:0")
    assert "ERROR: InvalidArgumentError" in text and "array(0, dtype=int32)" in text


def test_exit_ends_the_program(layer, said):
    with pytest.raises(SystemExit):
        said(_runs(layer, [[1, 2, 3]]), "exit")


def test_steps_of_monitored_sessions_stop(layer, said):
    x, result = layer

    def run():
        hook = tf_debug.LocalCLIDebugHook(ui_type="readline")
        hook.add_tensor_filter("all", lambda datum, tensor: True)
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            sess.run(result, {x: [0, 1, 2]})

    text = said(run, "run", "lt -f has_inf_or_nan", "lt -f all -n layer/hidden$")
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan"' in text
    assert "layer/hidden:0" in text


def test_keras_trains_in_a_session_that_stops(said):
    def run():
        backend = tf.keras.backend
        backend.set_session(tf_debug.LocalCLIDebugWrapperSession(tf.Session()))
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
        backend.clear_session()

    text = said(run, "run -f everything", *["run", "run"] * 4)
    assert "no tensor filter" in text and " dense/MatMul:0\n" in text


def test_estimators_stop_by_a_hook(said):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [1], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(features["x"] * w - labels), name="loss")
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def data():
        return {"x": tf.constant([1.0])}, tf.constant([3.0])

    def run():
        hook = tf_debug.LocalCLIDebugHook(ui_type="readline")
        tf.estimator.Estimator(model_fn).train(data, steps=2, hooks=[hook])

    text = said(run, "run", "pt loss:0", "run -n")
    assert "array(4., dtype=float32)" in text and "run-start: run #2" in text


def test_a_hook_lets_other_threads_run(layer, said):
    x, result = layer

    def run():
        hook = tf_debug.LocalCLIDebugHook(thread_name_filter="nobody")
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            sess.run(result, {x: [0, 1, 2]})

    assert said(run) == ""


def test_interfaces_that_are_none():
    with pytest.raises(ValueError, match="ui_type"):
        tf_debug.LocalCLIDebugWrapperSession(tf.Session(), ui_type="web")
