"""What shuffles, caches and repetitions give together, and where a zip ends."""

import pytest
import rheos as tf

Dataset = tf.data.Dataset
NO_SEED = 87654321  # what stands for the global seed where a program sets none


def test_shuffles_of_shuffles_take_a_seed_for_each_pass():
    tf.random.set_seed(NO_SEED)
    made = Dataset.range(6).shuffle(4, seed=5).shuffle(4, seed=6)
    orders = [5, 3, 0, 2, 4, 1], [0, 4, 5, 1, 2, 3]  # by TensorFlow 2.21
    assert ([int(x) for x in made], [int(x) for x in made]) == orders
    made = Dataset.range(6).shuffle(4, seed=5).shuffle(4, seed=6).repeat(2)
    assert [int(x) for x in made] == orders[0] + orders[1]


@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_caches_beside_each_other_keep_their_orders(count, in_files, tmp_path):
    def cached(k):
        numbers = Dataset.range(30).shuffle(30)
        return numbers.cache(str(tmp_path / str(k))) if in_files else numbers.cache()

    made = Dataset.zip(tuple(cached(k) for k in range(count)))
    passes = [[tuple(int(x) for x in element) for element in made] for _ in range(3)]
    assert passes[0] == passes[1] == passes[2] and passes[0] != sorted(passes[0])


def test_the_end_of_one_part_of_a_zip_hides_what_fails_behind_it():
    def fails_at_three(x):
        return tf.debugging.check_numerics(1 / tf.cast(x - 3, tf.float32), "")

    parts = Dataset.range(3), Dataset.range(6).map(fails_at_three)
    assert len(list(Dataset.zip(parts))) == 3
    iterator = iter(Dataset.zip(parts[::-1]))
    for _ in range(3):
        next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
