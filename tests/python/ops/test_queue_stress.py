"""Sixteen threads at one queue that is closed, with deadlines and errors in the middle.

RHEOS_ROUNDS=1000 says how many rounds; a few by default.
"""

import os
import random
import threading
import time

import pytest
import rheos.v1 as tf

ROUNDS = int(os.environ.get("RHEOS_ROUNDS", "4"))
PRODUCERS, CONSUMERS, BREAKERS = 8, 6, 1  # and one that closes
MOST_SECONDS = 60


class Place:
    """The operations of one place where elements wait."""

    def __init__(self, kind):
        self.value = tf.placeholder(tf.int64)
        queue = kind()
        self.put = queue.enqueue(self.value)
        self.take = queue.dequeue()
        self.take_some = queue.dequeue_up_to(3)
        self.close = queue.close()
        self.cancel = queue.close(cancel_pending_enqueues=True)
        self.size = queue.size()


KINDS = {
    "fifo": lambda: tf.FIFOQueue(3, tf.int64, shapes=()),
    "padding": lambda: tf.PaddingFIFOQueue(3, tf.int64, shapes=[()]),
    "shuffle": lambda: tf.RandomShuffleQueue(5, 2, tf.int64, shapes=()),
    "unlimited": lambda: tf.FIFOQueue(-1, tf.int64, shapes=()),
}


class Round:
    """One round: what was put in for certain, what was not, and what came out."""

    def __init__(self, place, session, rng):
        self.place, self.session = place, session
        self.put, self.refused, self.taken, self.wrong = [], [], [], []
        self.lock = threading.Lock()
        self.seeds = [rng.random() for _ in range(PRODUCERS + CONSUMERS + BREAKERS + 1)]
        self.num_producing = PRODUCERS

    def options(self, rng):
        """For some steps a deadline that may pass while they wait."""
        return tf.RunOptions(timeout_in_ms=rng.choice([1, 2, 5])) if rng.random() < 0.3 else None

    def produce(self, number, rng):
        for i in range(10):
            value = number * 1000 + i
            try:
                feed = {self.place.value: value}
                self.session.run(self.place.put, feed, options=self.options(rng))
            except tf.errors.CancelledError:  # closed
                self.refused.append(value)
                return
            except tf.errors.DeadlineExceededError:
                self.refused.append(value)
            else:
                self.put.append(value)

    def consume(self, rng):
        while True:
            op = self.place.take_some if rng.random() < 0.4 else self.place.take
            try:
                got = self.session.run(op, options=self.options(rng))
            except tf.errors.OutOfRangeError:  # closed and empty
                return
            except tf.errors.DeadlineExceededError:
                continue
            with self.lock:
                self.taken += got.tolist() if got.ndim else [int(got)]

    def break_steps(self, rng):
        """Steps that fail: they neither put anything in nor take anything out."""
        for _ in range(5):
            with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.CancelledError)):
                self.session.run(self.place.put, {self.place.value: [1, 2]})

    def close(self, rng):
        time.sleep(rng.random() * 0.02)
        self.session.run(self.place.cancel if rng.random() < 0.5 else self.place.close)

    def guarded(self, body, *arguments):
        try:
            body(*arguments)
        except BaseException as error:  # told by the thread that watches
            self.wrong.append(error)

    def run(self):
        bodies = [(self.produce, i + 1) for i in range(PRODUCERS)]
        bodies += [(self.consume,)] * CONSUMERS + [(self.break_steps,)] * BREAKERS + [(self.close,)]
        threads = [
            threading.Thread(target=self.guarded, args=(*body, random.Random(seed)), daemon=True)
            for body, seed in zip(bodies, self.seeds)
        ]
        assert len(threads) == 16
        deadline = time.time() + MOST_SECONDS
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline - time.time()))
        assert not any(thread.is_alive() for thread in threads), "a step did not return"
        assert self.wrong == []
        assert len(self.taken) == len(set(self.taken)), "an element came twice"
        assert set(self.taken) == set(self.put), "an element was lost, or came unasked"
        assert not set(self.taken) & set(self.refused)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_or_doubled(kind):
    place = Place(KINDS[kind])
    rng = random.Random(kind)
    for _ in range(max(1, ROUNDS // len(KINDS))):
        with tf.Session() as session:
            Round(place, session, rng).run()


def test_a_closed_session_ends_all_that_waits():
    queue = tf.FIFOQueue(1, tf.int64, shapes=())
    take = queue.dequeue()
    for _ in range(ROUNDS):
        session = tf.Session()
        ended = []

        def wait(session=session, ended=ended):
            try:
                session.run(take)
            except (tf.errors.CancelledError, RuntimeError) as error:
                ended.append(error)

        threads = [threading.Thread(target=wait, daemon=True) for _ in range(16)]
        for thread in threads:
            thread.start()
        time.sleep(0.002)
        session.close()
        for thread in threads:
            thread.join(MOST_SECONDS)
        assert len(ended) == 16


def test_a_queue_by_priority_gives_many_in_order_although_they_come_one_by_one():
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.PriorityQueue(100, [tf.int64], [[]])
        priority = tf.placeholder(tf.int64, [])
        enqueue, many = queue.enqueue([priority, priority]), queue.dequeue_many(6)[0]
        found = []
        thread = threading.Thread(target=lambda: found.extend(session.run(many)))
        thread.start()
        for number in (5, 3, 9, 1, 7, 2):
            time.sleep(0.01)
            session.run(enqueue, {priority: number})
        thread.join()
    assert found == [1, 2, 3, 5, 7, 9]


def test_a_session_has_a_timeout_for_all_that_it_runs():
    config = tf.ConfigProto(operation_timeout_in_ms=20)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        queue = tf.FIFOQueue(10, [tf.float32], [[]])
        dequeue = queue.dequeue()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(dequeue)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.make_callable(dequeue)()
        session.run(queue.enqueue(37.0))
        assert session.run(dequeue) == 37.0
