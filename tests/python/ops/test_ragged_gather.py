"""tf.gather of ragged tensors along any axis and in batches: what TensorFlow 2.21 gives."""

import pytest
import rheos.v2 as tf

A = tf.ragged.constant([[1, 2, 3], [4, 5], [6, 7, 8, 9]])
B = tf.ragged.constant([[[1, 2], [3]], [[4], [5, 6], [7]]])
D = tf.reshape(tf.range(24), [2, 3, 4])


def ragged(value):
    return tf.ragged.constant(value)


CASES = [
    (A, [1, 0], {"axis": 1}, [[2, 1], [5, 4], [7, 6]]),
    (A, 1, {"axis": 1}, [2, 5, 7]),
    (A, [[0], [1]], {"axis": 1}, [[[1], [2]], [[4], [5]], [[6], [7]]]),
    (A, ragged([[0], [], [1, 0]]), {"axis": 1},
     [[[1], [], [2, 1]], [[4], [], [5, 4]], [[6], [], [7, 6]]]),
    (A, ragged([[0, 1], [1], [0, 0, 1]]), {"batch_dims": 1}, [[1, 2], [5], [6, 6, 7]]),
    (A, [0, 1, 3], {"batch_dims": 1}, [1, 5, 9]),
    (A, [[0, 1], [1, 1], [3, 0]], {"batch_dims": 1, "axis": 1}, [[1, 2], [5, 5], [9, 6]]),
    (B, [0], {"axis": 2}, [[[1], [3]], [[4], [5], [7]]]),
    (B, [1, 0], {"axis": 1}, [[[3], [1, 2]], [[5, 6], [4]]]),
    (B, ragged([[0, 1], [2]]), {"batch_dims": 1}, [[[1, 2], [3]], [[7]]]),
    (B, ragged([[[0], [0, 0]], [[0], [1], []]]), {"batch_dims": 2},
     [[[1], [3, 3]], [[4], [6], []]]),
    (B, ragged([[0], [0, 0]]), {"axis": 2, "batch_dims": 1},
     [[[1], [3]], [[4, 4], [5, 5], [7, 7]]]),
    (D, ragged([[0, 1], [2]]), {"batch_dims": 1},
     [[[0, 1, 2, 3], [4, 5, 6, 7]], [[20, 21, 22, 23]]]),
    (D, ragged([[0, 1], [2]]), {"axis": 2, "batch_dims": 1},
     [[[0, 1], [4, 5], [8, 9]], [[14], [18], [22]]]),
]  # fmt: skip


@pytest.mark.parametrize("params, indices, how, wanted", CASES)
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_slices_are_gathered(wrap, params, indices, how, wanted):
    found = wrap(lambda p: tf.gather(p, indices, **how))(params)
    value = found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()
    assert value == wanted


@pytest.mark.parametrize(
    "how, indices",
    [({"axis": 2}, [0]), ({"axis": 0, "batch_dims": 1}, [0, 0, 0]), ({"batch_dims": 2}, [0])],
)
def test_numbers_that_do_not_fit_the_ranks_are_refused(how, indices):
    with pytest.raises(ValueError):
        tf.gather(A, indices, **how)


@pytest.mark.parametrize("indices", [[5], [-1], [2]])
def test_an_index_beyond_its_row_is_an_error(indices):
    with pytest.raises(tf.errors.InvalidArgumentError, match="an index is not in its row"):
        tf.gather(A, indices, axis=1)


def test_gradients_go_to_what_was_gathered():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [0, 0], axis=1)
    assert tape.gradient(y, x).to_list() == [[2.0, 0.0], [2.0]]
