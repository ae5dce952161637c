"""How variables of parameter servers are cut; the answers are TensorFlow 2.21's."""

import pytest
import rheos as tf

partitioners = tf.distribute.experimental.partitioners
FIXED, MIN, MAX = (
    getattr(partitioners, f"{kind}Partitioner") for kind in ("FixedShards", "MinSize", "MaxSize")
)


@pytest.mark.parametrize(
    "partitioner, wanted",
    [
        (FIXED(2), [[2, 1], [1, 1], [2, 1], [2]]),
        (FIXED(20), [[6, 1], [1, 1], [20, 1], [7]]),
        (MIN(min_shard_bytes=4, max_shards=2), [[2, 1], [1, 1], [2, 1], [2]]),
        (MIN(1 << 10, 5), [[1, 1], [1, 1], [5, 1], [1]]),
        (MAX(4), [[6, 1], [1, 1], [1000, 1], [7]]),
        (MAX(64, 3), [[1, 1], [1, 1], [3, 1], [1]]),
        (MAX(1 << 14), [[1, 1], [1, 1], [16, 1], [1]]),
    ],
)
def test_partitioners(partitioner, wanted):
    shapes = ([6, 1], [1, 6], [1000, 64], [7])
    assert [partitioner(tf.TensorShape(dims), tf.float32) for dims in shapes] == wanted


def test_texts_and_axes():
    assert MAX(4, bytes_per_string=8)(tf.TensorShape([10]), tf.string) == [10]
    assert FIXED(2)(tf.TensorShape([10, 4]), tf.float32, 1) == [1, 2]


@pytest.mark.parametrize("make", [lambda: MIN(0), lambda: MIN(4, 0), lambda: MAX(0)])
def test_sizes_are_positive(make):
    with pytest.raises(ValueError, match="must be positive"):
        make()
