"""tf.contrib.rnn.NASCell: variables, values and gradients as TensorFlow 1.15.5 gave them."""

import numpy as np
import pytest
import rheos.v1 as tf

PLAIN = [[0.066849, 0.106779, 0.040445, 0.0], [0.010313, 0.014327, 0.0, 0.0]]
PROJECTED = [[0.133489, 0.082382, 0.086124], [0.014903, 0.011855, 0.011954]]


@pytest.mark.parametrize(
    "options, output, memory, sums",
    [
        ({}, PLAIN, [0.148562, 0.018226], [0.16762, 2.36697]),
        ({"num_proj": 3}, PROJECTED, [0.162699, 0.019424], [0.29296, 3.06677, 1.50193]),
        ({"use_bias": True}, PLAIN, [0.148562, 0.018226], [0.16762, 2.36697, 2.34561]),
    ],
)
def test_two_steps_and_their_gradients(options, output, memory, sums):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        cell = tf.contrib.rnn.NASCell(4, **options)
        x = tf.constant([[0.5, -1.0, 2.0], [1.0, 0.0, -0.25]])
        outputs, state = tf.nn.static_rnn(cell, [x, x * 0.5], dtype=tf.float32)
        total = tf.add_n([tf.reduce_sum(each) for each in outputs])
        variables = tf.trainable_variables()
        gradients = tf.gradients(total, variables)
        sess.run(tf.global_variables_initializer())
        last, state, gradients = sess.run([outputs[-1], state, gradients])
    assert [v.op.name.split("/")[-1] for v in variables[:2]] == ["recurrent_kernel", "kernel"]
    np.testing.assert_allclose(last, output, atol=2e-6)
    np.testing.assert_allclose(state.h, last)
    np.testing.assert_allclose(state.c[:, 0], memory, atol=2e-6)
    np.testing.assert_allclose([g.sum() for g in gradients], sums, atol=2e-5)


def test_sizes_are_the_projection_s_and_inputs_must_tell_theirs():
    cell = tf.contrib.rnn.NASCell(4, num_proj=3)
    assert cell.output_size == 3 and tuple(cell.state_size) == (4, 3)
    with pytest.raises(ValueError, match="inputs"):
        cell(tf.placeholder(tf.float32, [2, None]), cell.zero_state(2, tf.float32))
