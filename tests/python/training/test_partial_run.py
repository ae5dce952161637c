"""Steps in parts: Session.partial_run_setup and partial_run."""

import gc

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def three():
    """a, b, c, and r1 = a + b, r2 = r1 * c."""
    a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
    r1 = tf.add(a, b, name="r1")
    return a, b, c, r1, tf.multiply(r1, c, name="r2")


def test_a_part_goes_on_where_the_last_one_ended():
    a, b, c, r1, r2 = three()
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        first = session.partial_run(handle, r1, feed_dict={a: 1, b: 2})
        assert first == 3
        assert session.partial_run(handle, [r2], feed_dict={c: first * 17}) == [153]
        # all is fed and fetched: the step has ended
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run(handle, r1)


def test_several_steps_are_open_at_once():
    a, b, c, r1, r2 = three()
    with tf.Session() as session:
        handles = [session.partial_run_setup([r1, r2], [a, b, c]) for _ in range(4)]
        assert len(set(handles)) == 4
        for k, handle in enumerate(handles):
            assert session.partial_run(handle, r1, {a: k, b: 1}) == k + 1
        for k, handle in reversed(list(enumerate(handles))):
            assert session.partial_run(handle, r2, {c: 10}) == 10 * (k + 1)
        assert session.run(r2, {a: 1, b: 1, c: 1}) == 2


def test_what_is_asked_wrongly_leaves_the_step_as_it_was():
    a, b, c, r1, r2 = three()
    other = tf.placeholder(tf.float32, [], name="other")

    def wrong(message, *arguments):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.partial_run(handle, *arguments)

    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        wrong("The feed other:0 was not specified in partial_run_setup", r1, {other: 1})
        wrong("The fetch other:0 was not specified in partial_run_setup", other)
        wrong("can't be computed from the feeds that have been fed so far", r1, {a: 1})
        wrong("can't be computed from the feeds that have been fed so far", r2, {a: 1, b: 2})
        assert session.partial_run(handle, r1, {a: 1, b: 2}) == 3
        wrong("The feed a:0 has already been fed", r2, {a: 1, c: 2})
        wrong("The fetch r1:0 has already been fetched", r1, {c: 2})
        assert session.partial_run(handle, r2, {c: 2}) == 6
        for unknown in (handle, "no such step", "partial_run_77"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
                session.partial_run(unknown, r2)


def test_effects_happen_once():
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=True)
    added = tf.assign_add(v, 1.0)
    with tf.control_dependencies([w.assign_add(1.0)]):
        counted = w.read_value()
    noise = tf.random_uniform([4])
    fetches = [added, counted, noise, added * x, counted * x, noise * x, added + 1.0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        handle = session.partial_run_setup(fetches, [x])
        first = session.partial_run(handle, fetches[:3])
        second = session.partial_run(handle, fetches[3:6], {x: 2})
        assert first[:2] == [1, 1] and second[:2] == [2, 2]
        np.testing.assert_array_equal(second[2], first[2] * 2)
        assert session.partial_run(handle, fetches[6]) == 2
        assert session.run([v, w]) == [1, 1]


def test_targets_run_in_the_first_part_that_has_what_they_need():
    x, y = (tf.placeholder(tf.float32, [], name=n) for n in "xy")
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    early, late = tf.assign_add(v, x).op, tf.group(tf.assign_add(v, y), name="late")
    doubled = x * 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        handle = session.partial_run_setup([doubled, early, late], [x, y])
        assert session.partial_run(handle, doubled, {x: 3}) == 6
        assert session.run(v) == 3
        assert session.partial_run(handle, [], {y: 4}) == []
        assert session.run(v) == 7
        handle = session.partial_run_setup([doubled, late], [x, y])
        with pytest.raises(RuntimeError, match="requires empty target_list"):
            session.partial_run(handle, late, {y: 1})


def test_control_dependencies_on_what_has_run():
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    with tf.control_dependencies([tf.group(tf.assign_add(v, 1.0))]):
        first = tf.constant(5.0) + v
        second = tf.identity(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        handle = session.partial_run_setup([first, second], [x])
        assert session.partial_run(handle, first) == 6
        assert session.partial_run(handle, second, {x: 9}) == 9
        assert session.run(v) == 1


def test_a_failing_part_ends_the_step():
    x, y = (tf.placeholder(tf.float32, [], name=n) for n in "xy")
    checked, doubled = tf.check_numerics(x, "no number"), y * 2
    with tf.Session() as session:
        handle = session.partial_run_setup([checked, doubled], [x, y])
        with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
            session.partial_run(handle, checked, {x: np.nan})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run(handle, doubled, {y: 1})


def test_a_fed_array_may_change_between_parts():
    x, y = (tf.placeholder(tf.float32, [3], name=n) for n in "xy")
    sum_, product = x + 1, x * y
    array = np.array([1, 2, 3], np.float32)
    with tf.Session() as session:
        handle = session.partial_run_setup([sum_, product], [x, y])
        session.partial_run(handle, sum_, {x: array})
        array[:] = 0
        np.testing.assert_array_equal(
            session.partial_run(handle, product, {y: [1, 1, 1]}), [1, 2, 3]
        )


def test_sparse_feeds_and_fetches_of_any_form():
    sparse = tf.sparse_placeholder(tf.float32, [2, 3])
    scale = tf.placeholder(tf.float32, [])
    dense = tf.sparse_tensor_to_dense(sparse)
    scaled = dense * scale
    value = tf.SparseTensorValue([[0, 1]], [2.0], [2, 3])
    with tf.Session() as session:
        handle = session.partial_run_setup({"d": dense, "s": [scaled, sparse]}, [sparse, scale])
        first = session.partial_run(handle, {"d": dense, "given": sparse}, {sparse: value})
        assert first["d"][0, 1] == 2 and first["given"].values[0] == 2
        assert session.partial_run(handle, (scaled,), {scale: 3})[0][0, 1] == 6


def test_a_long_chain_in_many_parts():
    feeds = [tf.placeholder(tf.float32, []) for _ in range(40)]
    sums, total = [], tf.constant(0.0)
    for feed in feeds:
        total = total * 0.5 + feed
        sums.append(total)
    values = np.linspace(-1, 1, 40).astype(np.float32)
    with tf.Session() as session:
        whole = session.run(sums, dict(zip(feeds, values)))
        for _ in range(3):  # the plans of the parts are found again
            handle = session.partial_run_setup(sums, feeds)
            parts = [session.partial_run(handle, s, {f: v}) for s, f, v in zip(sums, feeds, values)]
            assert parts == whole
        assert session._stats()["plans"] <= 42


def test_a_closed_session_ends_its_steps():
    a, b, c, r1, r2 = three()
    session = tf.Session()
    handle = session.partial_run_setup([r1, r2], [a, b, c])
    session.partial_run(handle, r1, {a: 1, b: 2})
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.partial_run(handle, r2, {c: 1})
    with pytest.raises(RuntimeError, match="closed Session"):
        session.partial_run_setup(r1, [a, b])
    gc.collect()


def test_bad_arguments(graph):
    a, b, c, r1, r2 = three()
    with tf.Session() as session:
        with pytest.raises(TypeError, match="Cannot interpret feed"):
            session.partial_run_setup(r1, [object()])
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one target to fetch"):
            session.partial_run_setup([], [a])
        handle = session.partial_run_setup(r1, a)
        assert session.partial_run(handle, []) == []
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.partial_run(handle, r1, {a: [1, 2]})
    with tf.Session(graph=tf.Graph()) as session, pytest.raises(RuntimeError, match="is empty"):
        session.partial_run_setup([])
