"""Databases of LMDB: as Python's package lmdb wrote them (tests/golden/make_lmdb.py)."""

from pathlib import Path

import pytest
import rheos.pipelines
import rheos.v1 as tf
from rheos.pipelines import experimental

FOLDER = Path(__file__).parents[2] / "golden" / "lmdb"


def value(i):
    """The value of key number i."""
    return (b"%d," % i) * (i % 11) if i % 50 else bytes(range(250)) * (i % 37)


PAIRS = [(b"key-%05d" % i, value(i)) for i in range(300) if i % 3]
FEW = [(key, key * 3) for key in (b"a", b"b", b"c")]


def dataset(*paths, op=tf.raw_ops.LMDBDataset):
    strings = (tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.string))
    variant = op(
        filenames=[str(path) for path in paths],
        output_types=[tf.string, tf.string],
        output_shapes=[[], []],
    )
    return rheos.pipelines.base.from_variant(variant, strings)


def all_of(make):
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(make()).get_next()
        pairs = []
        while True:
            try:
                pairs.append(tuple(session.run(element)))
            except tf.errors.OutOfRangeError:
                return pairs


@pytest.mark.parametrize("op", [tf.raw_ops.LMDBDataset, tf.raw_ops.ExperimentalLMDBDataset])
def test_datasets_give_keys_and_values_in_the_order_of_the_keys(op):
    assert all_of(lambda: dataset(FOLDER / "pairs.mdb", op=op)) == PAIRS
    assert all_of(lambda: dataset(FOLDER / "folder", FOLDER / "pairs.mdb", op=op)) == FEW + PAIRS


def test_readers_give_them_too():
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.train.string_input_producer(
            [str(FOLDER / "folder"), str(FOLDER / "pairs.mdb")], num_epochs=1, shuffle=False
        )
        pair = tf.LMDBReader().read(queue)
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session)
        assert [tuple(session.run(pair)) for _ in range(203)] == FEW + PAIRS
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(pair)
        for thread in threads:
            thread.join()


def test_an_iterator_is_saved_in_the_middle_of_the_second_file(tmp_path):
    def rest(restored):
        with tf.Graph().as_default(), tf.Session() as session:
            both = dataset(FOLDER / "folder", FOLDER / "pairs.mdb")
            iterator = tf.data.make_initializable_iterator(both)
            element = iterator.get_next()
            saveable = experimental.make_saveable_from_iterator(iterator)
            saver = tf.train.Saver([saveable])
            session.run(iterator.initializer)
            if restored:
                saver.restore(session, str(tmp_path / "x"))
            else:
                for _ in range(50):
                    session.run(element)
                saver.save(session, str(tmp_path / "x"), write_meta_graph=False)
            return [tuple(session.run(element)) for _ in range(153)]

    assert rest(False) == rest(True) == (FEW + PAIRS)[50:]


def test_what_is_no_database_is_refused(tmp_path):
    whole = (FOLDER / "pairs.mdb").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text").write_text("no database" * 100)
    (tmp_path / "short").write_bytes(whole[:20])
    twice = bytearray(whole)  # all pages of the tree are the first leaf
    for page in range(2, len(whole) // 4096):
        twice[page * 4096 + 10 : page * 4096 + 12] = b"\x01\x00"
    (tmp_path / "loop").write_bytes(twice)
    for name, error in (
        ("cut", tf.errors.InvalidArgumentError),
        ("text", tf.errors.InvalidArgumentError),
        ("short", tf.errors.InvalidArgumentError),
        ("loop", tf.errors.DataLossError),
        ("none", tf.errors.NotFoundError),
    ):
        with pytest.raises(error, match=name):
            all_of(lambda name=name: dataset(tmp_path / name))
    with pytest.raises(tf.errors.InvalidArgumentError, match="two strings"):
        all_of(
            lambda: rheos.pipelines.base.from_variant(
                tf.raw_ops.LMDBDataset(filenames="x", output_types=[tf.string], output_shapes=[[]]),
                tf.TensorSpec([], tf.string),
            )
        )
