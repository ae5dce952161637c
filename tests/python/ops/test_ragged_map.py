"""map_fn over ragged tensors and with ragged results: values and gradients in all three modes."""

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2
tf1 = tf.compat.v1
Spec = tf.RaggedTensorSpec
FLAT, DEEP = [[1.0, 2.0], [], [3.0]], [[[1.0, 2.0], [3.0]], [], [[4.0, 5.0, 6.0]]]

# function, rows, options of map_fn, what comes of it, gradient of the sum of the squares of that
CASES = {
    "rows": (lambda r: r**2, FLAT, {}, [[1, 4], [], [9]], [4, 32, 108]),
    "sums": (lambda r: tf.reduce_sum(r**2), FLAT, {"fn_output_signature": tf.float32},
             [5, 0, 9], [20, 40, 108]),
    "one level less": (lambda r: tf.reduce_sum(r, 1), DEEP,
                       {"fn_output_signature": Spec([None], tf.float32)},
                       [[3, 3], [], [15]], [6, 6, 6, 30, 30, 30]),
    "deep rows": (lambda r: r * 3, DEEP, {}, [[[3, 6], [9]], [], [[12, 15, 18]]],
                  [18, 36, 54, 72, 90, 108]),
}  # fmt: skip


def values_of(y):
    return y.flat_values if isinstance(y, tf.RaggedTensor) else y


def listed(y):
    return y.to_list() if hasattr(y, "to_list") else np.asarray(y).tolist()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("traced", [False, True])
def test_values_and_gradients(case, traced):
    fn, given, options, wanted, gradient = CASES[case]
    x = tf.ragged.constant(given)

    def run(flat):
        with tf.GradientTape() as tape:
            tape.watch(flat)
            y = tf.map_fn(fn, x.with_flat_values(flat), **options)
            loss = tf.reduce_sum(values_of(y) ** 2)
        return y, tape.gradient(loss, flat)

    y, found = (tf.function(run) if traced else run)(x.flat_values)
    assert listed(y) == wanted and found.numpy().tolist() == gradient


@pytest.mark.parametrize("case", CASES)
def test_in_graphs(case):
    fn, given, options, wanted, gradient = CASES[case]
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf.ragged.constant(given)
        y = tf1.map_fn(fn, x, **options)
        (found,) = tf1.gradients(tf.reduce_sum(values_of(y) ** 2), x.flat_values)
        y, found = session.run([y, found])
        assert listed(y) == wanted and found.tolist() == gradient


def test_results_of_unlike_sizes():
    n = tf.constant([3, 0, 2])
    spec = Spec([None], tf.int32)
    assert listed(tf.map_fn(tf.range, n, fn_output_signature=spec)) == [[0, 1, 2], [], [0, 1]]
    pairs = tf.map_fn(
        lambda n: tf.RaggedTensor.from_row_lengths(tf.range(n), [n, 0]),
        n, fn_output_signature=Spec([2, None], tf.int32))  # fmt: skip
    assert listed(pairs) == [[[0, 1, 2], []], [[], []], [[0, 1], []]]
    wide = Spec([None, 2], tf.float32, ragged_rank=0)
    assert tf.map_fn(lambda n: tf.zeros([n, 2]), n, fn_output_signature=wide).shape == [3, None, 2]
    both = tf.map_fn(
        lambda x: {"more": x["r"] + 1, "sum": tf.reduce_sum(x["r"]) + x["n"]},
        {"r": tf.ragged.constant(FLAT), "n": tf.constant([1.0, 2.0, 3.0])},
        fn_output_signature={"more": Spec([None], tf.float32), "sum": tf.float32})  # fmt: skip
    assert listed(both["more"]) == [[2, 3], [], [4]] and listed(both["sum"]) == [4, 2, 6]
    none = tf.ragged.constant([], ragged_rank=1, dtype=tf.float32)
    assert listed(tf.map_fn(lambda r: r, none)) == []


def test_what_does_not_fit_the_signature():
    x = tf.ragged.constant([[1, 2], [3]])
    for spec in (Spec([None], tf.float32), Spec([None, None], tf.int32)):
        with pytest.raises(ValueError):
            tf.map_fn(lambda r: r * 2, x, fn_output_signature=spec)
