#!/usr/bin/env python3
"""Records what TensorFlow 1.15 makes of programs with queues and pipelines, and what they give.

Usage: python make_queues.py      (a Python that has TensorFlow 1.15.5)

Writes queues.json; test_golden_queues.py runs the same programs, which are here. A
program gets the module and a Log, to whose run() it gives what to run, one step after the other.
"""

import json
import os
import re
import sys
import tempfile

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


class Log:
    """Runs steps of one session and writes down what they give."""

    def __init__(self, tf):
        self.tf = tf
        self.answers = []
        self.session = None
        self.has_threads = False
        self.folder = tempfile.mkdtemp()

    def _session(self):
        if self.session is None:
            self.session = self.tf.Session()
            init = self.tf.group(
                self.tf.global_variables_initializer(), self.tf.local_variables_initializer()
            )
            self.session.run(init)
        return self.session

    def run(self, fetches, feed=None):
        try:
            self.answers.append(plain(self._session().run(fetches, feed)))
        except self.tf.errors.OpError as error:
            text = str(error).split("\n")[0]
            # TensorFlow numbers its queues; what it adds of nodes is told another way here.
            text = re.sub(r"'_\d+_", "'", text).split(" [[")[0]
            text = re.sub(r" \(at .*|\s*\(node .*", "", text).replace(self.folder, "$TMP")
            text = re.sub(r"; the step needs .*", "", text)  # what Rheos adds where room is short
            # How much of it was there when the queue was closed is a matter of time.
            if self.has_threads:
                text = re.sub(r" \(requested.*", "", text)
            # TensorFlow does not say which.
            text = re.sub(r"^.* (Expected \S+Queue, found)", r"\1", text)
            self.answers.append(["error", type(error).__name__, text])

    def drain(self, fetches, most=100):
        """Runs until it fails."""
        for _ in range(most):
            self.run(fetches)
            last = self.answers[-1]
            if isinstance(last, list) and last and last[0] == "error":
                return

    def start(self, coord=None):
        """The threads of all queue runners."""
        self.has_threads = True
        return self.tf.train.start_queue_runners(self._session(), coord=coord)

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def shown(self, fetches):
        """Runs and writes down text, with the folder's name left out."""
        self.run(fetches)
        text = json.dumps(self.answers[-1]).replace(self.folder, "$TMP")
        self.answers[-1] = json.loads(text)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return [str(value.dtype) if value.dtype != object else "object", plain(value.tolist())]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value


# ---- Queues by themselves


def fill(tf, queue, log, rows):
    log.run(queue.enqueue_many([tf.constant(rows)]))


@program
def fifo_order(tf, log):
    queue = tf.FIFOQueue(10, tf.float32, shapes=())
    fill(tf, queue, log, [1.0, 2.0, 3.0, 4.0, 5.0])
    log.run(queue.size())
    log.run(queue.dequeue())
    log.run(queue.dequeue_many(2))
    log.run(queue.dequeue_up_to(2))
    log.run([queue.size(), queue.is_closed()])


@program
def both_in_one_step(tf, log):
    queue = tf.FIFOQueue(2, [tf.int32, tf.string], shapes=[[2], []])
    put = queue.enqueue(([7, 8], "text"))
    log.run([queue.dequeue(), put])
    log.run([queue.dequeue(), put, queue.dequeue_many(1), queue.enqueue(([1, 2], "b"))][:2])


@program
def closed(tf, log):
    queue = tf.FIFOQueue(10, tf.int64, shapes=())
    put, take = queue.enqueue(5), queue.dequeue()
    log.run(put)
    log.run(queue.close())
    log.run(put)
    log.run(queue.dequeue_many(2))
    log.run(queue.is_closed())
    log.run(take)
    log.run(take)
    log.run(queue.close())
    log.run(queue.close(cancel_pending_enqueues=True))
    log.run(queue.dequeue_up_to(3))
    log.run(queue.dequeue_many(0))


@program
def closed_up_to(tf, log):
    queue = tf.FIFOQueue(10, tf.int64, shapes=())
    log.run(queue.enqueue_many([[1, 2, 3]]))
    log.run(queue.close())
    take = queue.dequeue_up_to(2)
    log.drain(take)


@program
def no_shapes(tf, log):
    queue = tf.FIFOQueue(10, tf.float32)
    log.run(queue.enqueue([[1.0, 2.0]]))
    log.run(queue.enqueue(3.0))
    log.run(queue.dequeue())
    log.run(queue.dequeue())
    log.run(queue.dequeue_many(1))
    log.run(queue.dequeue_up_to(1))


@program
def names(tf, log):
    queue = tf.FIFOQueue(5, [tf.int32, tf.float32], names=["i", "f"], shapes=[[], [2]])
    log.run(queue.enqueue({"f": [1.0, 2.0], "i": 3}))
    log.run(queue.enqueue_many({"f": [[1.0, 2.0], [3.0, 4.0]], "i": [4, 5]}))
    log.run(queue.dequeue())
    log.run(queue.dequeue_many(2))


@program
def shapes_that_differ(tf, log):
    queue = tf.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[2], []])
    any_shape = tf.placeholder(tf.float32)
    log.run(queue.enqueue([any_shape, 1]), {any_shape: [1.0, 2.0, 3.0]})
    log.run(queue.enqueue_many([any_shape, [1]]), {any_shape: [[1.0, 2.0, 3.0]]})
    log.run(queue.enqueue_many([any_shape, [1, 2]]), {any_shape: [[1.0, 2.0]]})
    log.run(queue.enqueue_many([any_shape, [1, 2]]), {any_shape: [[1.0, 2.0], [3.0, 4.0]]})
    log.run(queue.size())


@program
def every_dtype(tf, log):
    for dtype in (
        tf.float16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8,
        tf.uint16, tf.uint32, tf.uint64, tf.complex64, tf.complex128, tf.bool, tf.string,
    ):  # fmt: skip
        queue = tf.FIFOQueue(5, dtype, shapes=[[2]])
        rows = [["a", "b"], ["c", "d"]] if dtype == tf.string else [[1, 0], [0, 1]]
        value = tf.constant(rows, dtype) if dtype == tf.string else tf.cast(rows, dtype)
        log.run(queue.enqueue_many([value]))
        log.run(queue.dequeue())
        log.run(queue.enqueue([value[0]]))
        log.run(queue.dequeue_many(2))


@program
def padding(tf, log):
    shapes = [tf.TensorShape([None]), tf.TensorShape([None, 2]), tf.TensorShape([])]
    queue = tf.PaddingFIFOQueue(10, [tf.int32, tf.float32, tf.string], shapes)
    log.run(queue.enqueue(([1], [[1.0, 2.0]], "x")))
    log.run(queue.enqueue(([1, 2, 3], [[1.0, 2.0], [3.0, 4.0]], "y")))
    log.run(queue.enqueue((tf.zeros([0], tf.int32), tf.zeros([0, 2]), "z")))
    log.run(queue.enqueue(([9], [[5.0, 6.0]], "w")))
    log.run(queue.dequeue_many(3))
    log.run(queue.dequeue())
    log.run(queue.dequeue_many(0))
    log.run(queue.enqueue_many(([[1, 2], [3, 4]], [[[1.0, 2.0]], [[3.0, 4.0]]], ["p", "q"])))
    log.run(queue.dequeue_up_to(2))


@program
def padding_of_strings(tf, log):
    queue = tf.PaddingFIFOQueue(10, tf.string, [[None, None]])
    for rows in ([["a"]], [["b", "c"], ["d", "e"]], [["f", "g", "h"]]):
        log.run(queue.enqueue([rows]))
    log.run(queue.dequeue_many(3))


@program
def padding_that_does_not_fit(tf, log):
    queue = tf.PaddingFIFOQueue(10, tf.int32, [[None, 2]])
    value = tf.placeholder(tf.int32)
    log.run(queue.enqueue([value]), {value: [[1, 2, 3]]})
    log.run(queue.enqueue([value]), {value: [1, 2]})
    log.run(queue.enqueue([value]), {value: [[1, 2]]})
    log.run(queue.size())


@program
def priorities(tf, log):
    queue = tf.PriorityQueue(20, [tf.string], [[]])
    rows = [5, 1, 3, 1, 5, 2, 2, 9, -4, 1, 3, 3]
    texts = ["t%d" % i for i in range(len(rows))]
    log.run(queue.enqueue_many((tf.constant(rows, tf.int64), texts)))
    log.run(queue.dequeue())
    log.run(queue.enqueue((tf.constant(1, tf.int64), "late")))
    log.run(queue.dequeue_many(7))
    log.run(queue.size())
    log.run(queue.close())
    log.run(queue.dequeue_up_to(4))
    log.drain(queue.dequeue())


@program
def shuffled(tf, log):
    for seed, least in ((1, 0), (87654321, 3), (5, 9)):
        queue = tf.RandomShuffleQueue(40, least, tf.int32, shapes=(), seed=seed)
        fill(tf, queue, log, list(range(30)))
        take = queue.dequeue()
        for _ in range(6):
            log.run(take)
        log.run(queue.dequeue_many(9))
        fill(tf, queue, log, list(range(100, 110)))
        log.run(queue.dequeue_up_to(5))
        log.run(queue.close())
        log.run(queue.dequeue_many(7))
        log.run(queue.dequeue_many(100))
        log.drain(queue.dequeue_up_to(4))


@program
def shuffled_by_the_graphs_seed(tf, log):
    tf.set_random_seed(11)
    queue = tf.RandomShuffleQueue(40, 0, [tf.int32, tf.float32], shapes=[[], [1]])
    log.run(queue.enqueue_many([list(range(12)), [[float(i)] for i in range(12)]]))
    log.run(queue.dequeue_many(12))


@program
def shared(tf, log):
    first = tf.FIFOQueue(5, tf.int32, shapes=(), shared_name="common")
    second = tf.FIFOQueue(5, tf.int32, shapes=(), shared_name="common")
    log.run(first.enqueue(3))
    log.run(second.dequeue())
    log.run(tf.FIFOQueue(6, tf.int32, shapes=(), shared_name="common").size())
    log.run(tf.FIFOQueue(5, tf.int64, shapes=(), shared_name="common").size())
    log.run(tf.FIFOQueue(5, tf.int32, shapes=[[1]], shared_name="common").size())
    log.run(tf.RandomShuffleQueue(5, 0, tf.int32, shapes=(), shared_name="common").size())


@program
def wrong_minimum(tf, log):
    log.run(tf.RandomShuffleQueue(5, 5, tf.int32).size())


# ---- Input pipelines: one thread a queue, so that the order is known


@program
def strings(tf, log):
    names = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    log.start()
    log.drain(names.dequeue())


@program
def strings_shuffled(tf, log):
    tf.set_random_seed(3)
    names = tf.train.string_input_producer(["a", "b", "c", "d"], num_epochs=3, seed=9, name="names")
    log.start()
    log.drain(names.dequeue_many(4))


@program
def ranges(tf, log):
    numbers = tf.train.range_input_producer(7, num_epochs=1, shuffle=False, capacity=3)
    log.start()
    log.drain(numbers.dequeue())


@program
def slices(tf, log):
    x = tf.constant([[1.0], [2.0], [3.0], [4.0], [5.0]])
    y = tf.constant([1, 2, 3, 4, 5])
    pair = tf.train.slice_input_producer([x, y], num_epochs=2, seed=4)
    log.start()
    log.drain(pair)


@program
def rows_of_a_tensor(tf, log):
    queue = tf.train.input_producer(
        tf.constant([[1, 2], [3, 4], [5, 6]]), num_epochs=1, shuffle=False, summary_name="full"
    )
    log.start()
    log.drain(queue.dequeue())


@program
def batches(tf, log):
    number = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch([number, tf.cast(number, tf.float32) * 0.5], 3)
    log.start()
    log.drain(batch)


@program
def smaller_last_batch(tf, log):
    number = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch(
        {"n": number, "text": tf.as_string(number)}, 4, allow_smaller_final_batch=True, capacity=5
    )
    log.start()
    log.drain(batch)


@program
def batches_of_rows(tf, log):
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch([[number, number + 100]], 5, enqueue_many=True, name="rows")
    log.start()
    log.drain(batch)


@program
def padded_batches(tf, log):
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch([tf.range(number), number], 3, dynamic_pad=True)
    log.start()
    log.drain(batch)


@program
def some_of_them(tf, log):
    number = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.maybe_batch([number], tf.equal(number % 3, 0), 2)
    log.start()
    log.drain(batch)


@program
def some_rows(tf, log):
    number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    rows = tf.stack([number, number * 10, number * 100])
    batch = tf.train.maybe_batch([rows], [True, False, True], 4, enqueue_many=True)
    log.start()
    log.drain(batch)


@program
def shuffled_batches(tf, log):
    number = tf.train.range_input_producer(24, num_epochs=1, shuffle=False).dequeue()
    # All of it is in the queue before the first batch can be taken.
    batch = tf.train.shuffle_batch([number], 4, 50, 24, seed=6)
    log.start()
    log.drain(batch)


@program
def joined(tf, log):
    lists = [[tf.constant([1, 2])], [tf.constant([3, 4])]]
    tf.train.batch_join(lists, 3, enqueue_many=True)
    tf.train.shuffle_batch_join(lists, 3, 20, 3, enqueue_many=True, name="mixed", seed=1)
    tf.train.maybe_batch_join([{"a": 1.0}, {"a": 2.0}], True, 2)
    tf.train.maybe_shuffle_batch_join(lists, 3, 20, 3, tf.placeholder(tf.bool, []), shapes=[[2]])


@program
def limited(tf, log):
    value = tf.train.limit_epochs(tf.constant(5), 3)
    log.drain(value)


@program
def failing_producer(tf, log):
    number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    number = tf.cast(number, tf.float32)
    checked = tf.check_numerics(number / (number - 2), "bad")
    batch = tf.train.batch([checked], 2)
    coord = tf.train.Coordinator()
    threads = log.start(coord)
    log.run(batch)
    try:
        coord.join(threads)
    except tf.errors.InvalidArgumentError as error:
        log.answers.append("bad" in str(error))


# ---- Readers


def names_of(tf, *files, **more):
    """A queue with the names of files, closed behind them."""
    return tf.train.string_input_producer(tf.placeholder_with_default(list(files), [len(files)]),
                                          num_epochs=1, shuffle=False, **more)  # fmt: skip


def read_all(tf, log, reader, *files):
    record = reader.read(names_of(tf, *files))
    log.start()
    for _ in range(40):
        log.shown(record)
        if log.answers[-1][0] == "error":
            break
    log.run([reader.num_records_produced(), reader.num_work_units_completed()])


def framed(tf, log, name, records, kind=""):
    path = log.file(name, b"")
    options = tf.python_io.TFRecordOptions(
        getattr(tf.python_io.TFRecordCompressionType, kind or "NONE")
    )
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return path, options


@program
def reader_of_names(tf, log):
    read_all(tf, log, tf.IdentityReader(), "a", "", "b")


@program
def reader_of_files(tf, log):
    files = [log.file("a", b"one\n"), log.file("b", b""), log.file("c", b"\x00\xff\r\n")]
    read_all(tf, log, tf.WholeFileReader("whole"), *files)


@program
def reader_of_lines(tf, log):
    contents = {"a": b"x\ny\r\n\nz", "b": b"", "c": b"\n1\r2\n3\r\r\n4\r"}
    files = [log.file(name, contents[name]) for name in sorted(contents)]
    read_all(tf, log, tf.TextLineReader(), *files)


@program
def reader_of_long_lines(tf, log):
    lines = [b"%d" % i * (i * 997 % 40000) for i in range(12)]
    path = log.file("a", b"\n".join(lines))
    reader = tf.TextLineReader()
    value = reader.read(names_of(tf, path))[1]
    log.start()
    log.drain([tf.strings.length(value), tf.string_to_hash_bucket_fast(value, 1000000)])


@program
def reader_without_header_lines(tf, log):
    files = [log.file("a", b"h\ng\n1\n2\n"), log.file("b", b"h\n"), log.file("c", b"h\ng\n3")]
    read_all(tf, log, tf.TextLineReader(skip_header_lines=2), *files)


@program
def reader_of_blocks(tf, log):
    files = [log.file("a", b"HHaabbccF"), log.file("b", b"HHF"), log.file("c", b"HHddxF")]
    read_all(tf, log, tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=1), *files)


@program
def reader_of_overlapping_blocks(tf, log):
    files = [log.file("a", b"HabcdeF"), log.file("b", b"Hab")]
    read_all(tf, log, tf.FixedLengthRecordReader(3, 1, 1, 1), *files)


@program
def reader_of_records(tf, log):
    a, _ = framed(tf, log, "a", [b"one", b"", b"three" * 100])
    b, _ = framed(tf, log, "b", [])
    c, _ = framed(tf, log, "c", [b"last"])
    read_all(tf, log, tf.TFRecordReader(), a, b, c)


@program
def reader_of_compressed_records(tf, log):
    a, options = framed(tf, log, "a", [b"one", b"two"], "GZIP")
    record = tf.TFRecordReader(options=options).read(names_of(tf, a))[1]
    log.start()
    log.drain(record)


@program
def reader_up_to(tf, log):
    files = [log.file("a", b"1\n2\n3\n4\n5"), log.file("b", b""), log.file("c", b"6\n7\n")]
    reader = tf.TextLineReader()
    records = reader.read_up_to(names_of(tf, *files), 2)
    log.start()
    for _ in range(6):
        log.shown(records)


@program
def reader_of_no_file(tf, log):
    reader = tf.TextLineReader()
    record = reader.read(names_of(tf, os.path.join(log.folder, "none"), log.file("a", b"x")))
    log.start()
    log.run(record)
    log.answers[-1] = log.answers[-1][:2]
    log.shown(record)


@program
def lines_to_batches(tf, log):
    files = [log.file("a", b"1\n2\n3\n"), log.file("b", b"4\n5\n")]
    _, line = tf.TextLineReader().read(names_of(tf, *files))
    number = tf.string_to_number(line, tf.int32)
    batch = tf.train.batch([number, line], 2, allow_smaller_final_batch=True)
    log.start()
    log.drain(batch)


# ---- Buckets


@program
def buckets(tf, log):
    numbers = tf.train.range_input_producer(9, 1, shuffle=False).dequeue()
    which, batch = tf.contrib.training.bucket([numbers], numbers % 3, 2, 3)
    log.start()
    seen = sorted(log.session.run([which, batch])[1].tolist() for _ in range(3))
    log.answers = seen


@program
def buckets_with_rests(tf, log):
    numbers = tf.train.range_input_producer(9, 1, shuffle=False).dequeue()
    _, batch = tf.contrib.training.bucket(
        {"n": numbers, "s": tf.as_string(numbers)},
        numbers % 2,
        [2, 3],
        2,
        allow_smaller_final_batch=True,
        bucket_capacities=[5, 6],
    )
    log.start()
    log.answers = sorted(plain(log.session.run(batch)["n"]) for _ in range(5))


@program
def buckets_by_length(tf, log):
    numbers = tf.train.range_input_producer(8, 1, shuffle=False).dequeue()
    sequence = tf.range(numbers)
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        numbers, [sequence, numbers * 10], 2, [4], dynamic_pad=True
    )
    log.start()
    found = [log.session.run([lengths, *batch]) for _ in range(4)]
    log.answers = sorted(plain(one) for one in found)


@program
def buckets_of_some(tf, log):
    numbers = tf.train.range_input_producer(8, 1, shuffle=False).dequeue()
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        numbers, {"v": numbers}, 2, [3], keep_input=tf.equal(numbers % 2, 0)
    )
    log.start()
    found = [log.session.run([lengths, batch["v"]]) for _ in range(2)]
    log.answers = sorted(plain(one) for one in found)


# ---- Sparse tensors in batches


def _rows_of(tf, count):
    """A SparseTensor that grows: in step n the number n at n, of shape [count]."""
    step = tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()
    at = tf.cast(tf.reshape(step, [1, 1]), tf.int64)
    return tf.SparseTensor(at, tf.reshape(step, [1]) * 10, [count])


def _run_batches(tf, log, batch, threads=False):
    log._session()
    log.has_threads = threads
    coordinator = tf.train.Coordinator()
    started = tf.train.start_queue_runners(log.session, coordinator)
    for _ in range(3):
        log.run(batch)
    coordinator.request_stop()
    coordinator.join(started, stop_grace_period_secs=5)


@program
def sparse_batch(tf, log):
    sparse = _rows_of(tf, 5)
    _run_batches(tf, log, tf.train.batch([sparse, tf.constant(7)], batch_size=2), threads=True)


@program
def sparse_batch_last(tf, log):
    sparse = _rows_of(tf, 5)
    batch = tf.train.batch({"s": sparse}, batch_size=2, allow_smaller_final_batch=True)
    _run_batches(tf, log, batch["s"])


@program
def sparse_rows(tf, log):
    rows = tf.SparseTensor([[0, 1], [0, 3], [2, 0], [3, 2]], [1.0, 2.0, 3.0, 4.0], [4, 4])
    _run_batches(tf, log, tf.train.batch([rows], batch_size=3, enqueue_many=True))


@program
def sparse_rows_kept(tf, log):
    rows = tf.SparseTensor([[0, 1], [0, 3], [2, 0], [3, 2]], [1.0, 2.0, 3.0, 4.0], [4, 4])
    numbers = tf.constant([1, 2, 3, 4])
    keep = tf.constant([True, False, True, True])
    batch = tf.train.maybe_batch(
        [tf.sparse_tensor_to_dense(rows), numbers], keep, batch_size=3, enqueue_many=True
    )
    _run_batches(tf, log, batch)


@program
def sparse_maybe(tf, log):
    sparse = _rows_of(tf, 6)
    keep = tf.equal(sparse.indices[0, 0] % 2, 0)
    _run_batches(tf, log, tf.train.maybe_batch([sparse], keep, batch_size=1))


@program
def sparse_batch_join(tf, log):
    one = tf.SparseTensor([[1]], ["a"], [3])
    two = tf.SparseTensor([[1]], ["a"], [3])
    _run_batches(tf, log, tf.train.batch_join([[one, [1]], [two, [1]]], batch_size=4))


@program
def sparse_shuffle_batch(tf, log):
    one = tf.SparseTensor([[1]], [2.5], [3])
    batch = tf.train.shuffle_batch([one], batch_size=2, capacity=8, min_after_dequeue=2, seed=3)
    _run_batches(tf, log, batch)


# ---- slim's data


def write_examples(tf, log, count=5):
    path = os.path.join(log.folder, "examples.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(count):
            example = tf.train.Example()
            put = example.features.feature
            put["label"].int64_list.value.append(i)
            put["box/ymin"].float_list.value.extend([i / 8, 0.25])
            put["box/xmin"].float_list.value.extend([0.0, 0.5])
            put["box/ymax"].float_list.value.extend([0.5, 1.0])
            put["box/xmax"].float_list.value.extend([0.75, 1.0])
            put["values"].float_list.value.extend([float(i)] * i)
            put["places"].int64_list.value.extend(range(i))
            put["size"].int64_list.value.extend([2, 1])
            put["pair"].int64_list.value.extend([i, 7])
            put["raw"].bytes_list.value.append(bytes(range(12)))
            put["kind"].bytes_list.value.append(b"raw")
            writer.write(example.SerializeToString())
    return path


def slim_dataset(tf, path):
    slim = tf.contrib.slim
    decode = slim.tfexample_decoder
    variable = tf.VarLenFeature(tf.float32)
    features = {
        "label": tf.FixedLenFeature([], tf.int64, -1),
        "values": variable,
        "places": tf.VarLenFeature(tf.int64),
        "size": tf.FixedLenFeature([2], tf.int64),
        "pair": tf.VarLenFeature(tf.int64),
        "raw": tf.FixedLenFeature([], tf.string, ""),
        "kind": tf.FixedLenFeature([], tf.string, "jpeg"),
    }
    features.update({"box/" + side: variable for side in ("ymin", "xmin", "ymax", "xmax")})
    handlers = {
        "label": decode.Tensor("label"),
        "box": decode.BoundingBox(None, "box/"),
        "values": decode.Tensor("values"),
        "pair": decode.Tensor("pair", shape_keys="size"),
        "sparse": decode.SparseTensor("places", "values", shape=[6], densify=True),
        "image": decode.Image("raw", "kind", shape=[2, 2, 3]),
        "sum": decode.ItemHandlerCallback(
            ["label", "pair"], lambda x: x["label"] + tf.sparse.reduce_sum(x["pair"])
        ),
        "either": decode.BackupHandler(decode.Tensor("values"), decode.Tensor("box/ymax")),
    }
    decoder = decode.TFExampleDecoder(features, handlers)
    return slim.dataset.Dataset(path, tf.TFRecordReader, decoder, 5, {"label": "A number."})


@program
def slim_provider(tf, log):
    dataset = slim_dataset(tf, write_examples(tf, log))
    provider = tf.contrib.slim.dataset_data_provider.DatasetDataProvider(
        dataset, shuffle=False, num_epochs=1, common_queue_capacity=20
    )
    names = ["label", "box", "values", "pair", "sparse", "image", "sum", "either"]
    log.answers.append([sorted(provider.list_items()), provider.num_samples()])
    log.start()
    log.drain(dict(zip(names, provider.get(names))))


@program
def slim_shuffled(tf, log):
    dataset = slim_dataset(tf, write_examples(tf, log))
    provider = tf.contrib.slim.dataset_data_provider.DatasetDataProvider(
        dataset, shuffle=True, num_epochs=2, common_queue_capacity=20, common_queue_min=10, seed=3
    )
    (label,) = provider.get(["label"])
    log.start()
    log.drain(label)


@program
def slim_single_pass(tf, log):
    path = write_examples(tf, log, 2)
    read = tf.contrib.slim.parallel_reader.single_pass_read
    key, record = read([path, path[:-8] + "*"], tf.TFRecordReader)
    log.start()
    log.drain(tf.strings.length(record))


@program
def slim_prefetch_queue(tf, log):
    number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue({"b": number, "a": number * 2})
    log.start()
    log.drain(queue.dequeue())


# ---- Recording


def nodes_of(tf):
    return [
        [op.name, op.type, [x.name for x in op.inputs], [c.name for c in op.control_inputs]]
        for op in tf.get_default_graph().get_operations()
        if not re.match(r"(init|group_deps)", op.name)
    ]


def runners_of(tf):
    return [str(runner.to_proto()) for runner in tf.get_collection("queue_runners")]


def answer(tf, name):
    """The nodes, queue runners and answers of a program."""
    with tf.Graph().as_default():
        log = Log(tf)
        try:
            PROGRAMS[name](tf, log)
            return {"nodes": nodes_of(tf), "runners": runners_of(tf), "answers": log.answers}
        finally:
            if log.session is not None:
                log.session.close()


def main():
    import tensorflow

    rows = []
    for name in PROGRAMS:
        rows.append('"%s": %s' % (name, json.dumps(answer(tensorflow, name), sort_keys=True)))
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "queues.json"), "w") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
