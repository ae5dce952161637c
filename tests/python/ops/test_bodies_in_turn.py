"""Loops, branches and functions of one step that take from queues what another one puts there."""

import pytest
import rheos.v1 as tf

SECONDS = 30


@pytest.fixture(autouse=True, params=[False, True], ids=["version 1's nodes", "functions"])
def _graph(request):
    tf.reset_default_graph()
    if request.param:
        tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


def _queues(count):
    return [tf.FIFOQueue(1, [tf.int32], shapes=[[]], shared_name=f"queue{i}") for i in range(count)]


def _serve(there, back):
    def body(trip, value):
        with tf.control_dependencies([there.enqueue(value + 1)]):
            return trip + 1, back.dequeue()

    return body


def _answer(there, back):
    def body(trip, value):
        del value
        taken = there.dequeue() + 1
        with tf.control_dependencies([back.enqueue(taken)]):
            return trip + 1, tf.identity(taken)

    return body


def _loop(body, trips):
    return tf.while_loop(lambda trip, value: trip < trips, body, [0, 0])[1]


def _run(*fetches):
    with tf.Session() as session:
        options = tf.RunOptions(timeout_in_ms=SECONDS * 1000)
        return [session.run(list(order), options=options) for order in (fetches, fetches[::-1])]


def test_loops_go_trip_by_trip_in_turn():
    there, back = _queues(2)
    first = _loop(_serve(there, back), 50)
    second = _loop(_answer(there, back), 50)
    assert _run(first, second) == [[100, 100]] * 2


def test_a_loop_inside_of_a_branch_goes_on_with_one_inside_of_a_function():
    there, back = _queues(2)
    chosen = tf.placeholder_with_default(True, [])
    first = tf.cond(chosen, lambda: _loop(_serve(there, back), 20), lambda: 0)

    @tf.function
    def answers():
        return _loop(_answer(there, back), 20)

    assert _run(first, answers()) == [[40, 40]] * 2


def test_three_hand_on_to_each_other():
    first, second, third = _queues(3)
    loops = [
        _loop(_serve(first, third), 10),
        _loop(_answer(first, second), 10),
        _loop(_answer(second, third), 10),
    ]
    assert _run(*loops) == [[30, 29, 30]] * 2


def test_an_error_in_one_ends_both():
    there, back = _queues(2)

    def fails(trip, value):
        with tf.control_dependencies([tf.debugging.assert_less(trip, 3, message="too far")]):
            return _answer(there, back)(tf.identity(trip), value)

    first = _loop(_serve(there, back), 50)
    second = _loop(fails, 50)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
        session.run([first, second], options=tf.RunOptions(timeout_in_ms=SECONDS * 1000))
