"""Datasets and iterators in programs: rebatched, random, saved in the middle, by handle."""

import numpy as np
import rheos.data
import rheos.v1 as tf

Dataset = rheos.data.Dataset


def elements(dataset, session=None):
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with session or tf.Session(graph=tf.get_default_graph()) as run:
        run.run(iterator.initializer)
        while True:
            try:
                yield run.run(element)
            except tf.errors.OutOfRangeError:
                return


def lists(dataset):
    with tf.Graph().as_default():
        return [np.asarray(e).tolist() for e in elements(dataset())]


def test_rebatch_gives_the_rows_in_other_batches():
    batches = lambda *sizes: lambda: Dataset.range(8).batch(3).rebatch(*sizes)  # noqa: E731
    assert lists(batches(4)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert lists(batches([1, 4])) == [[0], [1, 2, 3, 4], [5], [6, 7]]
    assert lists(batches([5], True)) == [[0, 1, 2, 3, 4]]
    with tf.Graph().as_default():
        assert batches(4)().element_spec.shape.as_list() == [None]
        assert batches(4, True)().element_spec.shape.as_list() == [4]


def test_rebatch_refuses_batches_of_scalars():
    with tf.Graph().as_default():
        variant = Dataset.range(3)._variant_tensor
        sized = Dataset._of_variant(variant, rheos.data.Dataset.range(1).batch(1).element_spec)
        try:
            list(elements(sized.rebatch(2)))
        except tf.errors.InvalidArgumentError as error:
            assert "scalar" in str(error)
        else:
            raise AssertionError("a scalar has no rows")


def test_random_numbers_are_the_same_each_time_unless_asked_for_others():
    same = lists(lambda: Dataset.random(seed=4).take(3).repeat(2))
    other = lists(
        lambda: Dataset.random(seed=4, rerandomize_each_iteration=True).take(3).repeat(2)
    )
    assert same[:3] == same[3:]
    assert other[:3] != other[3:]


def test_a_state_of_another_pipeline_is_refused(tmp_path):
    with tf.Graph().as_default():
        one = tf.data.make_initializable_iterator(Dataset.range(9).batch(4).unbatch())
        two = tf.data.make_initializable_iterator(Dataset.range(5).shuffle(3).repeat(2))
        state = tf.raw_ops.SerializeIterator(resource_handle=one._iterator_resource)
        put = tf.raw_ops.DeserializeIterator(
            resource_handle=two._iterator_resource, serialized=state
        )
        with tf.Session() as session:
            session.run([one.initializer, two.initializer])
            session.run(one.get_next())
            try:
                session.run(put)
            except tf.errors.OpError:
                pass
            else:
                raise AssertionError("the state was taken")


def test_string_handles_choose_among_iterators():
    with tf.Graph().as_default():
        training = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100, 110))
        testing = tf.data.make_initializable_iterator(tf.data.Dataset.range(5))
        handle = tf.placeholder(tf.string, [])
        fed = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
        element = fed.get_next()
        with tf.Session() as session:
            train, test = session.run([training.string_handle(), testing.string_handle()])
            session.run(testing.initializer)
            asked = [train, test, train, test, test]
            assert [session.run(element, {handle: h}) for h in asked] == [100, 0, 101, 1, 2]
            session.run(testing.initializer)  # begins again; the other one goes on
            assert session.run(element, {handle: test}) == 0
            assert session.run(element, {handle: train}) == 102
            try:
                session.run(element, {handle: b"of nothing"})
            except tf.errors.InvalidArgumentError:
                pass
            else:
                raise AssertionError("the handle of nothing was taken")
