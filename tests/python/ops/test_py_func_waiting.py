"""Functions of the program that wait for each other, or for other operations of their step."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import rheos as tf2
import rheos.v1 as tf
from rheos.training import session as sessions

LONG = 30.0  # a test that hangs ends, and fails


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def meet(barrier, value):
    barrier.wait(LONG)
    return np.float32(value)


def meeting(count, dtype=tf.float32):
    """Operations none of whose functions returns before all have been called."""
    barrier = threading.Barrier(count)
    return [tf.py_func(lambda k=k: meet(barrier, k), [], dtype) for k in range(count)]


@pytest.mark.parametrize("count", [2, 3, 9])
def test_all_of_a_step_are_called_before_one_returns(session, count):
    ops = meeting(count)
    for _ in range(3):
        assert session.run(ops) == list(range(count))
    total = tf.add_n([tf.reshape(op, []) for op in ops])
    assert session.run(total) == sum(range(count))


def test_each_may_wait_for_the_other(session):
    events = [threading.Event(), threading.Event()]

    def first():
        assert events[0].wait(LONG)
        return np.int64(1)

    def second():
        events[0].set()
        assert events[1].wait(LONG)
        return np.int64(2)

    def third(x):
        events[1].set()
        return x

    a = tf.py_func(first, [], tf.int64)
    b = tf.py_func(second, [], tf.int64)
    c = tf.py_func(third, [a], tf.int64)  # so b needs what comes behind a
    for fetches, expected in [([a, b, c], [1, 2, 1]), ([c, b], [1, 2]), ([b, c, a], [2, 1, 1])]:
        for event in events:
            event.clear()
        assert session.run(fetches) == expected


def test_functions_in_chains_wait_for_each_other(session):
    seen = {name: threading.Event() for name in ("a1", "a2", "b1", "b2")}

    def call(name, needs):
        def run(x):
            seen[name].set()
            assert seen[needs].wait(LONG)
            return x + np.float32(1)

        return run

    a1 = tf.py_func(call("a1", "b1"), [tf.constant(0.0)], tf.float32)
    a2 = tf.py_func(call("a2", "b2"), [a1 * 2.0], tf.float32)
    b1 = tf.py_func(call("b1", "a2"), [tf.constant(5.0)], tf.float32)
    b2 = tf.py_func(call("b2", "a2"), [b1 * 2.0], tf.float32)
    assert session.run([b2, a2]) == [13, 3]


def test_a_function_waits_for_an_enqueue_of_its_step(session):
    queue = tf.FIFOQueue(10, [tf.float32])
    size, taken = queue.size(), queue.dequeue()

    def wait_for_it():
        end = time.monotonic() + LONG
        while session.run(size) == 0 and time.monotonic() < end:
            time.sleep(0.001)
        return session.run(taken)

    waiting = tf.py_func(wait_for_it, [], tf.float32)
    assert session.run([waiting, queue.enqueue(7.0)])[0] == 7


def test_a_function_gives_what_a_dequeue_of_its_step_waits_for(session):
    queue = tf.FIFOQueue(10, [tf.float32])
    x = tf.placeholder(tf.float32, [])
    enqueue = queue.enqueue(x)

    def give():
        session.run(enqueue, {x: 3.0})
        return np.float32(1)

    given = tf.py_func(give, [], tf.float32)
    assert session.run([queue.dequeue(), given]) == [3, 1]


def test_a_function_waits_for_an_assignment_behind_another_function(session):
    v = tf.Variable(0.0)
    session.run(v.initializer)

    def wait_for_it():
        end = time.monotonic() + LONG
        while session.run(v) == 0 and time.monotonic() < end:
            time.sleep(0.001)
        return session.run(v)

    given = tf.py_func(lambda: np.float32(4), [], tf.float32)
    for order in (0, 1):
        session.run(v.initializer)
        waiting = tf.py_func(wait_for_it, [], tf.float32)
        fetches = [waiting, tf.assign(v, tf.reshape(given, []))]
        assert session.run(fetches if order else fetches[::-1]) == [4, 4]


def test_arguments_and_results_are_those_of_the_step(session):
    x = tf.placeholder(tf.float32, [None])
    barrier = threading.Barrier(2)

    def scale(k):
        def run(a):
            barrier.wait(LONG)
            return a * np.float32(k)

        return run

    a, b = (tf.py_func(scale(k), [x + 1.0], tf.float32) for k in (2, 3))
    together = tf.reduce_sum(a) + tf.reduce_sum(b)
    for n in (1, 5, 2000):
        fed = np.arange(n, dtype=np.float32)
        got_a, got_b, got = session.run([a, b, together], {x: fed})
        np.testing.assert_array_equal(got_a, (fed + 1) * 2)
        np.testing.assert_array_equal(got_b, (fed + 1) * 3)
        np.testing.assert_allclose(got, np.sum((fed + 1) * 5), rtol=1e-5)


def test_what_one_raises_is_the_error_and_the_other_is_waited_for(session):
    called, ended = threading.Event(), []

    def fail():
        assert called.wait(LONG)
        raise ValueError("bad thing")

    def slow():
        called.set()
        time.sleep(0.05)
        ended.append(1)
        return np.float32(0)

    for make in (lambda a, b: [a, b], lambda a, b: [b, a]):
        called.clear()
        failing, other = tf.py_func(fail, [], tf.float32), tf.py_func(slow, [], tf.float32)
        before = len(ended)
        with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: bad thing") as error:
            session.run(make(failing, other))
        assert len(ended) == before + 1
        assert error.value.op is failing.op
    assert session.run(meeting(2)) == [0, 1]


def test_wrong_results_are_named(session):
    good = tf.py_func(lambda: np.float32(1), [], tf.float32)
    bad = tf.py_func(lambda: np.float64(1), [], tf.float32)
    more = tf.py_func(lambda: (1.0, 2.0), [], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="double, but expects float"):
        session.run([bad, good])
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects .* 1"):
        session.run([good, more])


def test_loops_and_branches_have_functions_that_wait(session):
    barrier = threading.Barrier(2)

    def body(i):
        return i + tf.reshape(tf.py_func(lambda x: meet(barrier, 1), [i], tf.float32), [])

    loop = tf.while_loop(lambda i: i < 5.0, body, [0.0])
    for _ in range(2):
        outside = tf.py_func(lambda: [meet(barrier, 0) for _ in range(5)][0], [], tf.float32)
        assert session.run([outside, loop]) == [0, 5]
    yes = tf.placeholder(tf.bool, [])
    branch = tf.cond(
        yes,
        lambda: tf.py_func(lambda: meet(barrier, 7), [], tf.float32),
        lambda: tf.constant(0.0),
    )
    outside = tf.py_func(lambda: meet(barrier, 1), [], tf.float32)
    assert session.run([outside, branch], {yes: True}) == [1, 7]


def test_functions_of_a_graph_have_functions_that_wait(session):
    barrier = threading.Barrier(3)

    def make(k):
        @tf2.function
        def called(x):
            return tf.reshape(tf.py_func(lambda v: v + meet(barrier, k), [x], tf.float32), [])

        return called

    calls = [make(k)(tf.constant(10.0)) for k in range(3)]
    for _ in range(3):
        assert session.run(calls) == [10, 11, 12]


def test_the_report_tells_which_function_has_not_returned(session):
    release, called = threading.Event(), threading.Semaphore(0)

    def hold():
        called.release()
        assert release.wait(LONG)
        return np.float32(1)

    ops = [tf.py_func(hold, [], tf.float32, name=name) for name in ("one", "two", "three")]
    results = []
    v = tf.Variable(0.0)  # behind each, so none is called on the step's own thread
    assigned = [tf.assign_add(v, tf.reshape(op, [])).op for op in ops]
    session.run(v.initializer)
    thread = threading.Thread(target=lambda: results.append(session.run(assigned)))
    thread.start()
    for _ in ops:
        assert called.acquire(timeout=LONG)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.2)
    spent = time.process_time() - before
    told = "".join(sessions.waiting())
    release.set()
    thread.join(LONG)
    assert len(results) == 1 and session.run(v) == 3
    assert spent < 0.1
    assert "for the return of function 'one'" in told


def held(count=3):
    """Operations whose functions come back when the event is set, and one behind each."""
    release, called = threading.Event(), threading.Semaphore(0)

    def hold():
        called.release()
        release.wait(LONG)
        return np.float32(1)

    ops = [tf.py_func(hold, [], tf.float32) for _ in range(count)]
    return release, called, [tf.py_func(lambda x: x, [op], tf.float32) for op in ops]


def test_a_deadline_ends_a_step_whose_functions_do_not_return(session):
    release, _, ops = held()
    start = time.monotonic()
    with pytest.raises(tf.errors.DeadlineExceededError, match="for the return of function"):
        session.run(ops, options=tf.RunOptions(timeout_in_ms=100))
    assert time.monotonic() - start < LONG / 2
    release.set()
    assert session.run(ops) == [1, 1, 1]


def test_closing_the_session_ends_a_step_whose_functions_do_not_return():
    with tf.Graph().as_default():
        session = tf.Session()
        release, called, ops = held()
        errors = []

        def run():
            try:
                session.run(ops)
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        for _ in ops:
            assert called.acquire(timeout=LONG)
        start = time.monotonic()
        session.close()
        thread.join(LONG)
        assert time.monotonic() - start < LONG / 2
        assert isinstance(errors[0], tf.errors.CancelledError)
        release.set()


def test_ctrl_c_ends_a_step_whose_functions_do_not_return(session):
    release, called, ops = held()
    session.run(tf.constant(1))

    def interrupt():
        for _ in ops:
            called.acquire(timeout=LONG)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        session.run(ops)
    assert time.monotonic() - start < LONG / 2
    thread.join(LONG)
    release.set()
    assert session.run(ops) == [1, 1, 1]


def test_steps_of_several_threads_have_functions_that_wait(session):
    rounds = int(os.environ.get("RHEOS_ROUNDS", "20"))
    x = tf.placeholder(tf.float32, [])
    ops = [tf.py_func(lambda v, k=k: v + np.float32(k), [x], tf.float32) for k in range(4)]
    total = tf.add_n([tf.py_func(lambda v: v * np.float32(2), [op], tf.float32) for op in ops])

    def fail_at(v):
        if v == 13:
            raise KeyError("thirteen")
        return v

    checked = tf.py_func(fail_at, [x], tf.float32)
    wrong = []

    def work(i):
        for n in range(rounds):
            value = float((i * 7 + n) % 16)
            try:
                got = session.run([total, checked], {x: value})
                if got != [8 * value + 12, value] or value == 13:
                    wrong.append((value, got))
            except tf.errors.OpError as error:
                if value != 13 or not isinstance(error, tf.errors.UnknownError):
                    wrong.append((value, error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
