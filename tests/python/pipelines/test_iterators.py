"""Iterators of graphs: initialized, chosen, named, saved, and what mistakes with them give."""

import os
import threading
import time

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def drained(session, fetches):
    found = []
    while True:
        try:
            found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            return found


def test_initializer_starts_again_with_other_values():
    count = tf.placeholder(tf.int64, [])
    iterator = tf.data.Dataset.range(count).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(element)
        session.run(iterator.initializer, {count: 3})
        assert drained(session, element) == [0, 1, 2]
        session.run(iterator.initializer, {count: 2})
        assert drained(session, element) == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_one_shot_iterator_needs_no_initializer_and_ends_once():
    iterator = tf.data.Dataset.range(2).make_one_shot_iterator()
    element = iterator.get_next()
    with pytest.raises(ValueError, match="initializer"):
        iterator.initializer  # noqa: B018
    with tf.Session() as session:
        assert drained(session, element) == [0, 1]
        assert drained(session, element) == []
    with tf.Session() as session:
        assert drained(session, element) == [0, 1]


@pytest.mark.parametrize("what", ["placeholder", "variable", "table"])
def test_one_shot_iterator_refuses_what_it_cannot_copy(what):
    data = tf.data.Dataset.range(3)
    if what == "placeholder":
        data = data.take(tf.placeholder(tf.int64, []))
    elif what == "variable":
        data = data.take(tf.get_variable("v", initializer=np.int64(2), use_resource=True))
    else:
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(np.int64([1]), np.int64([4])), -1
        )
        data = data.map(table.lookup)
    with pytest.raises(ValueError, match="stateful|placeholder"):
        data.make_one_shot_iterator()


def test_iterator_goes_over_several_datasets():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    element = iterator.get_next()
    train = iterator.make_initializer(tf.data.Dataset.range(2))
    test = iterator.make_initializer(tf.data.Dataset.range(10, 13), name="test_init")
    assert test.name == "test_init"
    with tf.Session() as session:
        for start, expected in ((train, [0, 1]), (test, [10, 11, 12]), (train, [0, 1])):
            session.run(start)
            assert drained(session, element) == expected


def test_iterator_refuses_datasets_of_another_kind():
    iterator = tf.data.Iterator.from_structure((tf.int64, tf.string), ([], []))
    for data in (
        tf.data.Dataset.range(2),
        tf.data.Dataset.from_tensors((1.0, "a")),
        tf.data.Dataset.from_tensors((np.int64([1]), "a")),
    ):
        with pytest.raises((TypeError, ValueError)):
            iterator.make_initializer(data)


def test_feedable_iterator_takes_elements_of_the_one_it_is_fed():
    handle = tf.placeholder(tf.string, [])
    chosen = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    element = chosen.get_next()
    first = tf.data.Dataset.range(4).make_one_shot_iterator()
    second = tf.data.Dataset.range(10, 30).make_initializable_iterator()
    with tf.Session() as session:
        one, two = session.run([first.string_handle(), second.string_handle()])
        session.run(second.initializer)
        assert session.run(element, {handle: one}) == 0
        assert session.run(element, {handle: two}) == 10
        assert session.run(element, {handle: one}) == 1
        assert session.run(element, {handle: two}) == 11


def test_feedable_iterator_refuses_handles_of_other_types_and_none():
    handle = tf.placeholder(tf.string, [])
    chosen = tf.data.Iterator.from_string_handle(handle, tf.float32, [])
    element = chosen.get_next()
    first = tf.data.Dataset.range(4).make_one_shot_iterator()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element, {handle: session.run(first.string_handle())})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element, {handle: "nothing"})


def test_types_shapes_and_classes():
    values = {"a": np.zeros([4, 2], np.float32), "b": [1, 2, 3, 4]}
    data = tf.data.Dataset.from_tensor_slices(values)
    iterator = data.batch(2).make_one_shot_iterator()
    for thing in (data.batch(2), iterator):
        assert thing.output_types == {"a": tf.float32, "b": tf.int32}
        assert thing.output_shapes["a"].as_list() == [None, 2]
        assert thing.output_classes == {"a": tf.Tensor, "b": tf.Tensor}
    element = iterator.get_next(name="batch")
    assert element["a"].op.name == "batch" and element["a"].shape.as_list() == [None, 2]
    assert tf.compat.v1.data.get_output_types(data) == {"a": tf.float32, "b": tf.int32}


def test_shared_name_is_one_iterator():
    data = tf.data.Dataset.range(5)
    one = data.make_initializable_iterator(shared_name="same")
    two = data.make_initializable_iterator(shared_name="same")
    first, second = one.get_next(), two.get_next()
    with tf.Session() as session:
        session.run(one.initializer)
        assert [session.run(first), session.run(second), session.run(first)] == [0, 1, 2]


def test_optional_tells_the_end():
    iterator = tf.data.Dataset.range(2).make_one_shot_iterator()
    optional = tf.data.experimental.get_next_as_optional(iterator)
    has = optional.has_value()
    either = tf.cond(has, optional.get_value, lambda: np.int64(-1))
    with tf.Session() as session:
        assert [session.run([has, either]) for _ in range(3)] == [[True, 0], [True, 1], [False, -1]]


def test_optionals_hold_structures():
    optional = tf.data.experimental.Optional.from_value({"a": 1, "b": [2.0, 3.0]})
    none = tf.data.experimental.Optional.none_from_structure(optional.value_structure)
    with tf.Session() as session:
        assert session.run([optional.has_value(), none.has_value()]) == [True, False]
        value = session.run(optional.get_value())
        assert value["a"] == 1 and value["b"].tolist() == [2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(none.get_value())


def test_structures_are_kept_by_functions():
    attr = pytest.importorskip("attr")

    @attr.s
    class Sample:
        x = attr.ib()
        y = attr.ib()

    data = tf.data.Dataset.from_tensor_slices(Sample(x=[1, 2], y=["a", "b"]))
    data = data.map(lambda s: Sample(x=s.x + 1, y=tf.strings.join([s.y, "!"])))
    element = data.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run([element.x, element.y]) == [2, b"a!"]


def test_dataset_of_another_graph_is_refused():
    data = tf.data.Dataset.range(3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="graph"):
        data.make_one_shot_iterator()


def test_pipeline_reads_variables_that_are_trained():
    variable = tf.get_variable("v", initializer=2.0, use_resource=True)
    data = tf.data.Dataset.from_tensors(3.0).repeat().map(lambda x: x * variable)
    iterator = data.make_initializable_iterator()
    element = iterator.get_next()
    step = variable.assign_add(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        assert session.run(element) == 6
        session.run(step.op)
        assert session.run(element) == 9


def test_model_trains_on_a_pipeline():
    x = np.random.RandomState(0).normal(size=[64, 3]).astype(np.float32)
    y = x @ np.float32([[1], [2], [3]])
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=1).repeat().batch(16)
    features, labels = data.make_one_shot_iterator().get_next()
    weights = tf.get_variable("w", [3, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(features, weights) - labels))
    train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            session.run(train)
        assert session.run(loss) < 1e-3


def test_monitored_session_initializes_iterators_among_tables(tmp_path):
    iterator = tf.data.Dataset.range(3).make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    element = iterator.get_next()
    tf.train.get_or_create_global_step()
    found = []
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
        while not session.should_stop():
            found.append(session.run(element))
    assert found == [0, 1, 2]


def test_graph_with_datasets_is_saved_and_imported(tmp_path):
    data = tf.data.Dataset.range(4).map(lambda x: x * x).batch(2)
    iterator = data.make_initializable_iterator()
    tf.identity(iterator.get_next(), name="element")
    tf.add_to_collection("start", iterator.initializer)
    once = tf.data.Dataset.range(3).make_one_shot_iterator()
    tf.identity(once.get_next(), name="once")
    path = os.path.join(tmp_path, "graph.meta")
    tf.train.export_meta_graph(path)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(path)
        session.run(tf.get_collection("start"))
        assert [b.tolist() for b in drained(session, "element:0")] == [[0, 1], [4, 9]]
        assert drained(session, "once:0") == [0, 1, 2]


def test_iterator_is_saved_in_the_middle(tmp_path):
    data = tf.data.Dataset.range(10).shuffle(4, seed=3).batch(2)
    iterator = data.make_initializable_iterator()
    element = iterator.get_next()
    saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    tf.get_variable("v", initializer=1.0)
    saver = tf.train.Saver()
    path = os.path.join(tmp_path, "model")
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), iterator.initializer])
        session.run(element)
        saver.save(session, path)
        rest = [b.tolist() for b in drained(session, element)]
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert [b.tolist() for b in drained(session, element)] == rest
    assert len(rest) == 4


def test_errors_of_functions_name_the_line_and_the_iterator_goes_on():
    data = tf.data.Dataset.range(4).map(
        lambda x: tf.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "bad")
    )
    element = data.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == -1
        with pytest.raises(tf.errors.InvalidArgumentError, match="test_iterators.py"):
            session.run(element)
        assert session.run(element) == 1


def test_options_are_merged_and_checked():
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 2
    other = tf.data.Options()
    other.experimental_deterministic = False
    data = tf.data.Dataset.range(3).with_options(options).map(lambda x: x).with_options(other)
    assert data.options().experimental_threading.private_threadpool_size == 2
    assert data.options().experimental_deterministic is False
    assert tf.data.Options() == tf.data.Options() != options
    with pytest.raises(TypeError):
        options.experimental_deterministic = 3
    with pytest.raises(AttributeError):
        options.no_such_option = 3


def test_many_calls_of_get_next_are_warned_of(caplog):
    iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
    for _ in range(33):
        iterator.get_next()
    assert "get_next" in caplog.text


def test_large_arrays_are_sources_of_one_shot_iterators(graph):
    values = np.arange(4000, dtype=np.float32).reshape(2000, 2)
    data = tf.data.Dataset.from_tensor_slices({"a": values, "b": np.arange(2000)}).skip(1998)
    element = data.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = drained(session, element)
    assert [one["a"].tolist() for one in found] == [[3996, 3997], [3998, 3999]]
    assert [one["b"] for one in found] == [1998, 1999]
    (body,) = graph.as_graph_def().library.function
    assert {n.name for n in body.node_def} >= {f"normalize_element/component_{i}" for i in (0, 1)}


def blocked_iterator():
    """The operation of an iterator whose generator holds until the event is set."""
    release, called = threading.Event(), threading.Event()

    def generate():
        called.set()
        release.wait(30)
        yield 1
        yield 2
        yield 3

    dataset = tf.data.Dataset.from_generator(generate, tf.int64, [])
    return release, called, tf.data.make_one_shot_iterator(dataset).get_next()


def test_who_comes_second_to_an_iterator_hears_its_deadline_and_the_end_of_its_session():
    with tf.Graph().as_default(), tf.Session() as session:
        release, called, element = blocked_iterator()
        values = []
        first = threading.Thread(target=lambda: values.append(session.run(element)))
        first.start()
        assert called.wait(30)
        start = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=100))
        assert time.monotonic() - start < 15
        release.set()
        first.join(30)
        assert values == [1] and session.run(element) == 2


def test_a_session_tells_which_stage_waits():
    go_on, is_ahead = threading.Event(), threading.Event()

    def numbers():
        yield 1
        is_ahead.set()
        go_on.wait(20)
        yield 2

    dataset = tf.data.Dataset.from_generator(numbers, tf.int32).prefetch(2)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(element) == 1
        assert is_ahead.wait(20)  # another thread than the consumer's makes the next one
        others, told = threading.Thread(target=lambda: got.append(sess.run(element))), ""
        got, until = [], time.time() + 20
        others.start()
        while "s for an element of stage 'Prefetch'" not in told and time.time() < until:
            told = sess._waiting()
            time.sleep(0.001)
        go_on.set()
        others.join()
        assert "s for an element of stage 'Prefetch'" in told
        assert got == [2]
        assert sess._waiting() == ""


def endless(kind):
    numbers, Dataset = tf.data.Dataset.range(10**15), tf.data.Dataset
    same, first = Dataset.from_tensors(1).repeat(), tf.zeros([], tf.int64)
    return {
        "prefetch": lambda: numbers.map(lambda x: x + 1).prefetch(10),
        "constant": lambda: same.map(lambda x: x, num_parallel_calls=4).prefetch(2),
        "interleave": lambda: numbers.interleave(
            lambda x: Dataset.range(0), cycle_length=4, num_parallel_calls=4
        ).prefetch(1),
        "filter": lambda: numbers.filter(lambda x: x < 0).prefetch(1),
        "shuffle": lambda: numbers.shuffle(10**9),
        "batch": lambda: numbers.batch(10**9),
        "skip": lambda: numbers.skip(10**14).prefetch(1),
        "shard": lambda: numbers.shard(10**14, 10**14 - 1),
        "choice": lambda: tf.data.experimental.choose_from_datasets(
            [Dataset.range(1), Dataset.range(9)], Dataset.from_tensors(first).repeat()
        ),
    }[kind]()


@pytest.mark.parametrize("kind", [
    "prefetch", "constant", "interleave", "filter", "shuffle", "batch", "skip", "shard", "choice",
])  # fmt: skip
def test_a_session_is_closed_while_a_pipeline_without_end_runs(kind):
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(endless(kind))
        element = iterator.get_next()
        session = tf.Session()
        session.run(iterator.initializer)
    ended = []

    # By the call that waits, by the next one, or by one that begins as the session closes.
    errors = RuntimeError, tf.errors.CancelledError, tf.errors.FailedPreconditionError

    def run():
        with pytest.raises(errors):
            while True:
                session.run(element)
        ended.append(True)

    runner = threading.Thread(target=run, daemon=True)
    runner.start()
    time.sleep(0.1)
    closer = threading.Thread(target=session.close, daemon=True)
    closer.start()
    closer.join(20)
    runner.join(20)
    assert ended and not closer.is_alive()
