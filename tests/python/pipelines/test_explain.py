"""Which stage of a pipeline is slow, and what sessions wait for."""

import re
import threading
import time

import rheos as tf
import rheos.v1 as tf1
from rheos.training import session as sessions


def slow(x):
    time.sleep(0.002)
    return x


def test_a_dataset_tells_each_stage_and_the_one_that_binds():
    numbers = tf.data.Dataset.range(1000).map(lambda x: x + 1)
    text = numbers.map(lambda x: tf.py_function(slow, [x], tf.int64)).batch(2).explain(20)
    lines = text.splitlines()
    assert [line.split(":")[0].strip() for line in lines[:-1]] == ["Batch", "Map", "Map", "Range"]
    assert lines[0].startswith("Batch: 20 elements, ") and "busy" in lines[0]
    assert lines[-1].startswith("Map binds: its own work took ")


def test_a_stage_tells_what_it_waited_for_and_what_it_keeps():
    slow_ones = tf.data.Dataset.range(40).map(lambda x: tf.py_function(slow, [x], tf.int64), 1)
    lines = slow_ones.shuffle(10).cache().explain(20).splitlines()
    milliseconds = {}
    for line in lines[:-1]:
        name, *facts = re.split(r": |, ", line.strip())
        waits = [fact for fact in facts if fact.endswith("ms for its input")]
        milliseconds[name] = float(waits[0].split()[0]) if waits else 0
    assert list(milliseconds) == ["Cache", "Shuffle", "ParallelMap", "Range"]
    assert milliseconds["Shuffle"] >= 29 * 2 > milliseconds["ParallelMap"]
    assert ", buffer 20 of 20, 160 bytes" in lines[0]
    assert ", buffer 9 of 10, 72 bytes" in lines[1]
    assert " threads, waited for " in lines[2]
    assert lines[-1].startswith("ParallelMap binds: ")


def test_an_iterator_tells_of_its_own_time_only():
    dataset = tf.data.Dataset.range(10)
    list(dataset)
    iterator = iter(dataset)
    next(iterator)
    assert iterator.explain().startswith("Range: 1 elements, ")


def test_a_dataset_is_gone_over_for_so_long_at_most():
    begin = time.monotonic()
    text = tf.data.Dataset.range(10).repeat().explain(seconds=0.2)
    assert 0.2 <= time.monotonic() - begin < 5
    assert text.splitlines()[-1].split()[1] == "binds:"


def test_in_a_graph_the_explanation_is_a_tensor():
    with tf1.Graph().as_default(), tf1.Session() as session:
        text = session.run(tf1.data.Dataset.range(5).explain())
    assert b"Range: 6 elements" in text


def test_an_iterator_tells_that_the_program_is_slow():
    iterator = iter(tf.data.Dataset.range(100).map(lambda x: x * 2))
    assert "Nothing was asked for yet." in iterator.explain()
    for _ in range(5):
        next(iterator)
        time.sleep(0.02)
    assert iterator.explain().splitlines()[-1].startswith("The caller binds: ")


def test_what_sessions_wait_for_is_told_from_another_thread():
    with tf1.Graph().as_default(), tf1.Session() as session:
        queue = tf1.FIFOQueue(1, tf.int32, name="letters")
        put, take = queue.enqueue(1), queue.dequeue()
        thread = threading.Thread(target=session.run, args=(take,))
        thread.start()
        until = time.monotonic() + 30
        told = ""
        while "letters" not in told and time.monotonic() < until:
            told = "".join(sessions.waiting())
        assert "s for an element of queue 'letters'" in told
        session.run(put)
        thread.join()
        assert "letters" not in "".join(sessions.waiting())


def test_no_stage_is_at_work_more_than_all_of_the_time():
    numbers = tf.data.Dataset.range(200)
    slow_ones = numbers.map(lambda x: tf.numpy_function(slow, [x], tf.int64), 4)
    in_threads = slow_ones.batch(4).map(lambda x: x + 1, 2).prefetch(2)
    for dataset in (in_threads, numbers.map(lambda x: x + 1).repeat().take(20000)):
        text = dataset.explain()
        shares = [float(share) for share in re.findall(r"([\d.]+) %", text)]
        assert shares and max(shares) <= 100, text
