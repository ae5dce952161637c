"""Watches of a session: what is told, when, and of what."""

import threading

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture
def layer():
    """(placeholder, hidden, result)"""
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.name_scope("layer"):
        hidden = tf.nn.relu(x * 2 - 1, name="hidden")
        result = tf.log(hidden, name="result")
    return x, hidden, result


def test_a_function_is_told_of_values(layer):
    x, _, result = layer
    seen = []
    with tf.Session() as sess:
        with sess.watch("layer/hidden", seen.append, "values"):
            sess.run(result, {x: [1, 2, 3]})
            sess.run(result, {x: [1, 1, 1]})
        sess.run(result, {x: [4, 4, 4]})
    assert [(w.name, w.op, w.step, w.place) for w in seen] == [
        ("layer/hidden:0", "Relu", 0, ""), ("layer/hidden:0", "Relu", 1, ""),
    ]  # fmt: skip
    np.testing.assert_array_equal(seen[0].value, [1, 3, 5])
    assert seen[0].file == __file__ and seen[0].line == 15 and seen[0].statistics is None


def test_statistics_are_printed_by_default(layer, capfd):
    x, _, result = layer
    with tf.Session() as sess, sess.watch("layer/result"):
        sess.run(result, {x: [1, 2, 0]})
    printed = capfd.readouterr().err
    assert "step 0: layer/result:0 (Log), " in printed
    assert "0 to 1.09861, mean 0.549306, 0 NaN and 1 infinite of 3" in printed


def test_the_first_nan_is_found(layer):
    x, _, result = layer
    sums = tf.reduce_sum(result, name="sums")
    nothing = tf.multiply(sums, 0.0, name="nothing")
    late = tf.sqrt(nothing, name="late")
    seen = []
    with tf.Session() as sess, sess.watch(tell=seen.append, what="first_nan"):
        sess.run(late, {x: [1, 2, 3]})
        assert seen == []
        sess.run(late, {x: [1, 2, 0]})
        sess.run(late, {x: [1, np.nan, 2]})
    assert [w.name for w in seen] == ["nothing:0", "layer/mul:0"]
    taken = dict(seen[0].inputs)
    assert taken["sums:0"].negative_infinite == 1
    assert dict(seen[1].inputs)["x:0"].nan == 1


def test_loops_branches_and_functions_are_watched(layer):
    x, _, _ = layer

    @tf.function
    def twice(v):
        return tf.multiply(v, 2.0, name="double")

    _, looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + 1), [0, x], name="loop")
    chosen = tf.cond(x[0] > 0, lambda: tf.negative(x, name="minus"), lambda: tf.identity(x))
    seen = []
    with tf.Session() as sess, sess.watch("loop/add_1,*double,*minus", seen.append, "values"):
        sess.run([looped, chosen, twice(x)], {x: [1, 2, 3]})
    by_name = {}
    for watched in seen:
        by_name.setdefault(watched.name.split("/")[-1], []).append(watched)
    assert [w.value[0] for w in by_name["add_1:0"]] == [2, 3, 4]
    assert [w.place[-2:] for w in by_name["add_1:0"]] == [";0", ";1", ";2"]
    assert by_name["minus:0"][0].value.tolist() == [-1, -2, -3]
    assert by_name["double:0"][0].value.tolist() == [2, 4, 6] and by_name["double:0"][0].place


def test_a_watched_step_has_the_same_values(layer):
    x, hidden, result = layer
    feed = {x: np.linspace(1, 3, 3)}
    with tf.Session() as sess:
        plain = sess.run([hidden, result], feed)
        with sess.watch(tell=lambda watched: watched.value.fill(7), what="values"):
            np.testing.assert_array_equal(sess.run([hidden, result], feed), plain)
        np.testing.assert_array_equal(sess.run([hidden, result], feed), plain)


def test_an_error_of_the_function_ends_the_step(layer):
    x, _, result = layer

    def fails(watched):
        raise ValueError("seen enough")

    with tf.Session() as sess:
        watch = sess.watch("layer/hidden", fails)
        with pytest.raises(tf.errors.InvalidArgumentError, match="seen enough") as caught:
            sess.run(result, {x: [1, 2, 3]})
        assert caught.value.op.name == "layer/hidden"
        watch.end()
        watch.end()
        sess.run(result, {x: [1, 2, 3]})


def test_a_name_that_is_none_is_an_error(layer):
    with tf.Session() as sess:
        with pytest.raises(tf.errors.NotFoundError, match="near it are layer/hidden"):
            sess.watch("layer/hiden")
        with pytest.raises(ValueError, match="one of values, statistics, first_nan"):
            sess.watch(what="everything")


def test_threads_that_run_the_session_are_told_one_by_one(layer):
    x, _, result = layer
    inside, seen = [], []

    def tell(watched):
        inside.append(1)
        assert len(inside) == 1
        seen.append(watched.step)
        inside.pop()

    with tf.Session() as sess, sess.watch("layer/hidden", tell):
        threads = [
            threading.Thread(target=lambda: [sess.run(result, {x: [1, 2, 3]}) for _ in range(50)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(seen) == list(range(200))


@pytest.mark.usefixtures("grpc")
def test_a_session_on_a_server_says_that_it_cannot():
    server = tf.train.Server.create_local_server()
    tf.constant(1, name="one")
    with tf.Session(server.target) as sess, pytest.raises(tf.errors.UnimplementedError):
        sess.watch("one")


def test_sessions_on_servers_say_that_they_cannot_be_watched():
    server = tf.train.Server.create_local_server()
    tf.constant(1.0, name="one")
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.UnimplementedError, match="run in other processes"):
            sess.watch("one")
        assert sess.run("one:0") == 1
