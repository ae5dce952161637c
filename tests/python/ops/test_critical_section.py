"""tf.CriticalSection in graphs and their loops."""

import threading

import numpy as np
import pytest
import rheos.v1 as tf


def counting(variable):
    """A function that reads a variable, adds 2 to it and gives what it read."""

    def function():
        before = variable.read_value()
        with tf.control_dependencies([before]):
            with tf.control_dependencies([variable.assign_add(2.0)]):
                return tf.identity(before)

    return function


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_sections_run_one_after_another(graph):
    section = tf.CriticalSection(shared_name="cs")
    variable = tf.Variable(0.0, use_resource=True)
    results = [section.execute(counting(variable)) for _ in range(100)]
    with tf.Session() as session:
        session.run(variable.initializer)
        assert sorted(session.run(results)) == [2.0 * i for i in range(100)]


def test_sections_of_threads_exclude_each_other(graph):
    section = tf.CriticalSection()
    variable = tf.Variable(0.0, use_resource=True)
    result = section.execute(counting(variable))
    seen = []
    with tf.Session() as session:
        session.run(variable.initializer)
        threads = [
            threading.Thread(target=lambda: seen.extend(session.run(result) for _ in range(50)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(seen) == [2.0 * i for i in range(200)]


def test_what_a_section_takes_is_there_before_it_locks(graph):
    section = tf.CriticalSection()
    first = section.execute(lambda: tf.constant(1.0))
    second = section.execute(lambda: first + 1.0)
    lock = [op for op in graph.get_operations() if op.type == "MutexLock"][1]
    assert first.op in lock.control_inputs
    with tf.Session() as session:
        assert session.run(second) == 2.0


def test_a_failure_inside_leaves_the_section_open(graph):
    section = tf.CriticalSection()
    fails = tf.placeholder_with_default(True, [])

    def function():
        with tf.control_dependencies([tf.Assert(tf.logical_not(fails), ["failed inside"])]):
            return tf.constant(3)

    result = section.execute(function)
    with tf.Session() as session:
        for _ in range(20):
            with pytest.raises(tf.errors.InvalidArgumentError, match="failed inside"):
                session.run(result)
        assert session.run(result, {fails: False}) == 3


def test_a_section_in_a_loop(graph):
    section = tf.CriticalSection()
    _, last = tf.while_loop(
        lambda i, j: i < 100, lambda i, j: (i + 1, section.execute(lambda: j + 1)), [0, 0]
    )
    with tf.Session() as session:
        assert session.run(last) == 100


def test_operations_and_structures_are_given_back(graph):
    section = tf.CriticalSection()
    variable = tf.Variable(1.0, use_resource=True)
    operation = section.execute(lambda: variable.assign(5.0).op)
    made = section.execute(lambda: {"a": tf.constant(1), "b": [tf.constant([2, 3])]})
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(operation)
        assert session.run(variable) == 5.0
        made = session.run(made)
    assert made["a"] == 1
    np.testing.assert_array_equal(made["b"][0], [2, 3])


def test_what_would_never_end_is_refused(graph):
    section, same = (tf.CriticalSection(shared_name="cs") for _ in range(2))
    for inner in section, same:
        with pytest.raises(ValueError, match="directly access the CriticalSection"):
            section.execute(lambda inner=inner: inner.execute(lambda: tf.constant(1)))


def test_sections_do_not_share_what_is_exclusive(graph):
    one, other = tf.CriticalSection(), tf.CriticalSection()
    variable = tf.Variable(0.0, use_resource=True)
    one.execute(lambda: variable + 1)
    one.execute(lambda: variable - 1)
    for exclusive in True, False:
        with pytest.raises(ValueError, match="requested exclusive resource access"):
            other.execute(lambda: variable + 1, exclusive_resource_access=exclusive)
    second = tf.Variable(0.0, use_resource=True)
    one.execute(lambda: second + 1, exclusive_resource_access=False)
    other.execute(lambda: second + 1, exclusive_resource_access=False)


def test_a_control_input_is_added_to_an_earlier_operation_only(graph):
    first, second = tf.constant(1).op, tf.constant(2).op
    second._add_control_input(first)
    assert list(second.control_inputs) == [first]
    with pytest.raises(ValueError, match="made before it"):
        first._add_control_input(second)
