"""Datasets and iterators in programs: rebatched, random, saved in the middle, by handle."""

import pathlib

import numpy as np
import pytest
import rheos.pipelines
import rheos.v1 as tf

Dataset = rheos.pipelines.Dataset


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
        sized = Dataset._of_variant(variant, rheos.pipelines.Dataset.range(1).batch(1).element_spec)
        try:
            list(elements(sized.rebatch(2)))
        except tf.errors.InvalidArgumentError as error:
            assert "scalar" in str(error)
        else:
            raise AssertionError("a scalar has no rows")


def test_random_numbers_are_the_same_each_time_unless_asked_for_others():
    same = lists(lambda: Dataset.random(seed=4).take(3).repeat(2))
    other = lists(lambda: Dataset.random(seed=4, rerandomize_each_iteration=True).take(3).repeat(2))
    assert same[:3] == same[3:]
    assert other[:3] != other[3:]


# Pipelines whose iterators have something to remember in the middle of an epoch.
PIPELINES = {
    "range": lambda: Dataset.range(12),
    "batch": lambda: Dataset.range(25).batch(2),
    "rebatch": lambda: Dataset.range(30).batch(4).rebatch([1, 3]),
    "shuffle": lambda: Dataset.range(12).shuffle(5, seed=3),
    "shuffle_repeat": lambda: Dataset.range(5).shuffle(4, seed=3).repeat(3),
    "map": lambda: Dataset.range(12).map(lambda x: x * 2),
    "parallel_map": lambda: Dataset.range(12).map(lambda x: x * 2, num_parallel_calls=3),
    "map_batch": lambda: Dataset.range(25).map(lambda x: x * 2).batch(2),
    "parallel_map_batch": lambda: Dataset.range(25).map(lambda x: x * 2, 3).batch(2),
    "flat_map": lambda: Dataset.range(6).flat_map(lambda x: Dataset.range(x)),
    "interleave": lambda: Dataset.range(4).interleave(
        lambda x: Dataset.range(10 * x, 10 * x + 4), cycle_length=2
    ),
    "filter": lambda: Dataset.range(30).filter(lambda x: tf.equal(x % 2, 0)),
    "zip": lambda: Dataset.zip((Dataset.range(12), Dataset.range(5, 30))).map(lambda a, b: a + b),
    "concatenate": lambda: Dataset.range(3).concatenate(Dataset.range(10, 20)),
    "unbatch": lambda: Dataset.range(12).batch(5).unbatch(),
    "prefetch": lambda: Dataset.range(12).prefetch(3),
    "scan": lambda: Dataset.range(12).scan(np.int64(0), lambda s, x: (s + x, s + x)),
    "random": lambda: Dataset.random(seed=4).take(12),
    "take_skip": lambda: Dataset.range(30).skip(3).take(12),
}


def _saved_in_the_middle(make, folder, asked):
    """The elements behind the first `asked` ones: of the iterator that was saved there, and of one
    that was restored in another session."""
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(make())
        element = iterator.get_next()
        tf.add_to_collection(
            tf.GraphKeys.SAVEABLE_OBJECTS,
            rheos.pipelines.experimental.make_saveable_from_iterator(iterator),
        )
        saver = tf.train.Saver()

        def rest(session):
            values = []
            while True:
                try:
                    values.append(np.asarray(session.run(element)).tolist())
                except tf.errors.OutOfRangeError:
                    return values

        with tf.Session() as session:
            session.run(iterator.initializer)
            for _ in range(asked):
                session.run(element)
            path = saver.save(session, str(folder / "state"))
            first = rest(session)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            second = rest(session)
    return first, second


def test_iterators_go_on_where_they_were_saved(tmp_path):
    for name, make in PIPELINES.items():
        folder = tmp_path / name
        folder.mkdir()
        for asked in (0, 1, 4, 7):
            whole = lists(make)
            first, second = _saved_in_the_middle(make, folder, asked)
            assert first == second == whole[asked:], (name, asked)


def test_a_state_that_holds_datasets_is_refused_by_files(tmp_path):
    of_datasets = lambda: Dataset.range(2, 5).map(Dataset.range).flat_map(lambda d: d)  # noqa: E731
    try:
        _saved_in_the_middle(of_datasets, tmp_path, 1)
    except tf.errors.UnimplementedError as error:
        assert "holds a dataset" in str(error)
    else:
        raise AssertionError("a dataset was saved")


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


def test_columns_of_csv_files_are_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,"b\nc",1\nd,e,2\n')
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.data.experimental.CsvDataset(str(path), ["", tf.int32], exclude_cols=[1])
        element = tf.data.make_one_shot_iterator(rows).get_next()
        assert [session.run(element) for _ in range(2)] == [(b"a", 1), (b"d", 2)]


def test_older_names_of_datasets_of_tables_are_the_same():
    files, csv_defaults = "tests/golden/datasets/files/", [[""], np.int64([0])]
    common = dict(output_types=[tf.string, tf.int64], output_shapes=[[], []])
    with tf.Graph().as_default(), tf.Session() as session:
        for op, given in (
            ("SqlDataset", ("sqlite", files + "a.sqlite", "SELECT name, id FROM people")),
            ("CSVDataset", (files + "a.csv", "", 100, True, ",", True, "", [0, 3], csv_defaults)),
        ):
            answers = []
            for name in (op, "Experimental" + op):
                function = getattr(tf.raw_ops, name)
                names = [n for n in function.__signature__.parameters if n not in common]
                variant = function(**dict(zip(names, given)), **common)
                spec = (tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int64))
                rows = tf.data.experimental.from_variant(variant, spec)
                answers.append(session.run(tf.data.make_one_shot_iterator(rows).get_next()))
            assert answers[0] == answers[1]
            assert answers[0][0] == b"anne"


def cached(count, prefix):
    numbers = Dataset.range(count)
    return numbers.map(lambda x: (x, tf.as_string(x)) + (x,) * 10).cache(str(prefix))


def test_a_cache_in_files_is_tensorflows_to_the_byte(tmp_path):
    golden = pathlib.Path("tests/golden/datasets/files")
    whole = [(n, str(n).encode()) + (n,) * 10 for n in range(11)]
    with tf.Graph().as_default():
        assert list(elements(cached(11, tmp_path / "new" / "cache"))) == whole
        assert list(elements(cached(0, tmp_path / "new" / "cache"))) == whole
        assert list(elements(cached(0, golden / "cache"))) == whole
    for name in ("cache.index", "cache.data-00000-of-00001"):
        assert (tmp_path / "new" / name).read_bytes() == (golden / name).read_bytes()
    assert len(list((tmp_path / "new").iterdir())) == 2


def test_a_cache_in_files_is_written_by_one_and_left_by_none_that_stops(tmp_path):
    with tf.Graph().as_default():
        first, second = (
            tf.data.make_initializable_iterator(cached(3, tmp_path / "cache")) for _ in range(2)
        )
        elements_of = [first.get_next(), second.get_next()]
        with tf.Session() as session:
            session.run([first.initializer, second.initializer])
            session.run(elements_of[0])
            with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching iterator"):
                session.run(elements_of[1])
            session.run(first.initializer)
    assert list(tmp_path.iterdir()) == []


def test_an_iterator_over_a_cache_in_memory_is_saved_with_what_the_cache_has(tmp_path):
    def build():
        kept = Dataset.range(4).map(lambda x: x * 2).cache().repeat(3)
        iterator = tf.data.make_initializable_iterator(kept)
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        return iterator, iterator.get_next(), tf.train.Saver({"iterator": saveable})

    expected = [0, 2, 4, 6] * 3
    for done in (0, 2, 4, 5, 10, 12):
        with tf.Graph().as_default(), tf.Session() as session:
            iterator, element, saver = build()
            session.run(iterator.initializer)
            assert [session.run(element) for _ in range(done)] == expected[:done]
            saver.save(session, str(tmp_path / "saved"))
        with tf.Graph().as_default(), tf.Session() as session:
            iterator, element, saver = build()
            session.run(iterator.initializer)
            saver.restore(session, str(tmp_path / "saved"))
            rest = [session.run(element) for _ in range(12 - done)]
            assert rest == expected[done:]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
