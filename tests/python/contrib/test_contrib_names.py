"""Names of tf.contrib that stand for others, and what cannot be loaded."""

import os

import numpy as np
import pytest
import rheos.v1 as tf


def test_contrib_keras_is_keras(sess):
    keras = tf.contrib.keras
    assert keras.layers.Dense is tf.keras.layers.Dense
    assert keras.initializers.he_normal is tf.keras.initializers.he_normal
    assert keras.models.Sequential is tf.keras.Sequential


def test_cells_with_the_equations_of_cudnn(sess):
    cudnn = tf.contrib.cudnn_rnn
    x, state = tf.constant([[1.0, -0.5]]), tf.constant([[0.25, 0.5, -1.0]])
    pair = tf.nn.rnn_cell.LSTMStateTuple(state, state)
    one = tf.constant_initializer(0.5)
    with tf.variable_scope("a", initializer=one):
        output, _ = tf.nn.static_rnn(cudnn.CudnnCompatibleLSTMCell(3), [x], initial_state=pair)
    with tf.variable_scope("b", initializer=one):
        gru, _ = cudnn.CudnnCompatibleGRUCell(3)(x, state)
    names = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
    assert names == {
        "a/rnn/cudnn_compatible_lstm_cell/kernel": [5, 12],
        "a/rnn/cudnn_compatible_lstm_cell/bias": [12],
        "b/cudnn_compatible_gru_cell/gates/kernel": [5, 6],
        "b/cudnn_compatible_gru_cell/gates/bias": [6],
        "b/cudnn_compatible_gru_cell/candidate/input_projection/kernel": [2, 3],
        "b/cudnn_compatible_gru_cell/candidate/hidden_projection/kernel": [3, 3],
        "b/cudnn_compatible_gru_cell/candidate/input_projection/bias": [3],
        "b/cudnn_compatible_gru_cell/candidate/hidden_projection/bias": [3],
    }
    sess.run(tf.global_variables_initializer())
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    s = np.array([[0.25, 0.5, -1.0]])
    gate = sigmoid(0.125)
    c = gate * s + gate * np.tanh(0.125)
    np.testing.assert_allclose(sess.run(output[0]), gate * np.tanh(c), rtol=1e-5)
    gate = sigmoid(0.125 + 1.0)
    expected = (1 - gate) * np.tanh(0.25 + gate * -0.125) + gate * s
    np.testing.assert_allclose(sess.run(gru), expected, rtol=1e-5)


def test_libraries_of_kernels_are_refused_by_name(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="cannot open"):
        tf.load_op_library(str(tmp_path / "none.so"))
    (tmp_path / "kernels.so").write_bytes(b"\x7fELF")
    with pytest.raises(tf.errors.UnimplementedError, match="kernels.so.*tf.py_func"):
        tf.load_op_library(str(tmp_path / "kernels.so"))
    with pytest.raises(tf.errors.UnimplementedError, match="kernels.so"):
        tf.load_library(str(tmp_path))
    with pytest.raises(OSError, match="does not exist"):
        tf.load_library(str(tmp_path / "none"))


def test_slim_evaluates_checkpoints(tmp_path):
    folder, logs = str(tmp_path / "train"), str(tmp_path / "logs")
    os.mkdir(folder)
    slim = tf.contrib.slim
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", initializer=3.0)
        tf.train.create_global_step()
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, os.path.join(folder, "model"), global_step=1)
    waited = slim.evaluation.wait_for_new_checkpoint(folder)
    assert waited == os.path.join(folder, "model-1")
    assert slim.evaluation.wait_for_new_checkpoint(folder, waited, timeout=0) is None
    for repeatedly in (False, True):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=0.0)
            tf.train.create_global_step()
            count = tf.get_variable("count", initializer=0, collections=["local_variables"])
            tf.summary.scalar("v", v)
            update = {"counted": tf.assign_add(count, 1)}
            arguments = {"num_evals": 4, "eval_op": update, "final_op": [v, count]}
            if repeatedly:
                got = slim.evaluation.evaluation_loop(
                    "", folder, logs, max_number_of_evaluations=1, **arguments
                )
            else:
                got = slim.evaluation.evaluate_once(
                    "", tf.train.latest_checkpoint(folder), logs, **arguments
                )
        assert got == [3.0, 4]
    found = [
        value.simple_value
        for name in sorted(os.listdir(logs))
        for event in tf.train.summary_iterator(os.path.join(logs, name))
        for value in event.summary.value
    ]
    assert found and set(found) == {3.0}
