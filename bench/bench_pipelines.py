"""What an element of a pipeline costs from Python: a JSON object a line, its peers' beside it.

Values are the best of many short rounds, since machines are shared. RHEOS_TENSORFLOW_PYTHON and
RHEOS_BENCH_PEERS name interpreters that have TensorFlow and PyTorch, where the one that runs this
has not. ONLY=text: rows with it.
"""

import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peers.interpreters import interpreter_of

BATCH = 1000
# Row, unit, goal.
ROWS = {
    "range, map, batch of 1000: an element": ("us", 0.4),
    "range, parallel map, batch of 1000: an element": ("us", None),
    "range, map: an element a Python iteration": ("us", 2),
    "shuffle(10000): more an element": ("us", 0.1),
    "TFRecords, parse_single_example, batch: a record": ("us", 1.2),
    "cache, batch of 1000 rows of 64 floats: of a copy": ("ratio", None),
    "JPEG, crop, batch of 64: of decoding alone": ("ratio", 0.95),
    "queue: enqueue and dequeue by callables": ("us", 1),
    "queue runners, batch of 64: an element": ("us", None),
}


def best(step, count, rounds, budget=3.0):
    """Microseconds an element, where a step gives `count`: the best of so many rounds, or of those
    in the budget of seconds."""
    step()
    least, until = float("inf"), time.perf_counter() + budget
    for _ in range(rounds):
        begin = time.perf_counter()
        step()
        now = time.perf_counter()
        least = min(least, now - begin)
        if now > until:
            break
    return least / count * 1e6


def of_batches(dataset, rounds=400):
    """Of a dataset of batches of BATCH that does not end."""
    iterator = iter(dataset)
    return best(lambda: next(iterator), BATCH, rounds)


def numbers(tf, calls=None):
    return tf.data.Dataset.range(1 << 60).map(lambda x: x + 1, calls)


def mapped(tf):
    return of_batches(numbers(tf).batch(BATCH))


def mapped_in_parallel(tf):
    return of_batches(numbers(tf, tf.data.AUTOTUNE).batch(BATCH))


def iterated(tf):
    iterator = iter(numbers(tf))

    def step():
        for _ in range(100):
            next(iterator)

    return best(step, 100, 2000)


def shuffled(tf):
    return of_batches(numbers(tf).shuffle(10000, seed=1).batch(BATCH)) - mapped(tf)


def parsed(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "records")
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range(BATCH):
                example = tf.train.Example()
                example.features.feature["x"].float_list.value.extend([0.0, 0.0])
                writer.write(example.SerializeToString())
        layout = {"x": tf.io.FixedLenFeature([2], tf.float32)}
        records = tf.data.TFRecordDataset(path).repeat()
        parsing = records.map(lambda record: tf.io.parse_single_example(record, layout))
        return of_batches(parsing.batch(BATCH), 200)


def cached(tf):
    rows = np.zeros((BATCH * 10, 64), np.float32)
    to = np.empty((BATCH, 64), np.float32)
    copy = best(lambda: np.copyto(to, rows[:BATCH]), BATCH, 2000, 0.5)
    kept = tf.data.Dataset.from_tensor_slices(rows).cache().repeat().batch(BATCH)
    iterator = iter(kept)
    for _ in range(12):
        next(iterator)
    return copy / best(lambda: next(iterator), BATCH, 1000)


def jpegs(tf):
    picture = np.random.RandomState(1).uniform(0, 255, (12, 16, 3)).repeat(16, 0).repeat(16, 1)
    data = tf.io.encode_jpeg(tf.constant(picture.astype(np.uint8)))
    pictures = tf.data.Dataset.from_tensors(data).repeat()

    def cut(bytes):
        return tf.image.random_crop(tf.io.decode_jpeg(bytes, channels=3), [160, 160, 3])

    def decode():
        for _ in range(16):
            tf.io.decode_jpeg(data, channels=3)

    alone = best(decode, 16, 60)
    batches = iter(pictures.map(cut, 2).batch(64).prefetch(2))

    def step():
        for _ in range(4):
            next(batches)

    return alone / 2 / best(step, 256, 30, 6.0)


def queued(tf):
    tf = tf.compat.v1
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
        x = tf.placeholder(tf.float32, [])
        put = session.make_callable(queue.enqueue(x), [x])
        take = session.make_callable(queue.dequeue())
        value = np.float32(1)

        def step():
            for _ in range(100):
                put(value)
                take()

        return best(step, 100, 1000)


def run_by_runners(tf):
    tf = tf.compat.v1
    with tf.Graph().as_default():
        element = tf.random_uniform([4])
        batch = tf.train.batch([element], 64, num_threads=2, capacity=512)
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            value = best(lambda: [session.run(batch) for _ in range(64)], 4096, 30)
            coordinator.request_stop()
            coordinator.join(threads)
    return value


BODIES = dict(zip(ROWS, (
    mapped, mapped_in_parallel, iterated, shuffled, parsed, cached, jpegs, queued, run_by_runners,
)))


# ---- PyTorch's DataLoader, with no workers or with two, whichever is faster


class Plus:
    """Numbers and one more, as a dataset of PyTorch."""

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        return index + 1


class Stream(Plus):
    """The same, with a length that a permutation may have."""

    def __len__(self):
        return 10000


def loaded(torch, dataset, count, workers=(0, 2), **options):
    """Microseconds an element by a DataLoader that gives `count` of them at once."""
    loaders = [
        torch.utils.data.DataLoader(dataset, num_workers=number, **options) for number in workers
    ]
    return min(best(functools.partial(next, over_and_over(one)), count, 200) for one in loaders)


def over_and_over(loader):
    while True:
        yield from loader


def rows_of_torch(torch, row):
    """A row by PyTorch; None where it has no such thing."""
    endless, few = Plus(), Stream()
    if row.startswith("range, ") and "batch" in row:
        return loaded(torch, endless, BATCH, batch_size=BATCH)
    if row.startswith("range, "):
        return loaded(torch, endless, 1, workers=(0,), batch_size=None)
    if row.startswith("shuffle"):
        plain = loaded(torch, few, BATCH, workers=(0,), batch_size=BATCH)
        return loaded(torch, few, BATCH, workers=(0,), batch_size=BATCH, shuffle=True) - plain
    if row.startswith("cache"):
        rows = torch.zeros(BATCH * 10, 64)
        to = torch.empty(BATCH, 64)
        copy = best(lambda: to.copy_(rows[:BATCH]), BATCH, 2000, 0.5)
        kept = torch.utils.data.TensorDataset(rows)
        return copy / loaded(torch, kept, BATCH, workers=(0,), batch_size=BATCH)
    return None


def measure(name, row):
    """A row by a module of that name."""
    tf = importlib.import_module(name)
    if name == "torch":
        tf.set_num_threads(1)
        print(json.dumps(rows_of_torch(tf, row)))
        return
    if name == "rheos":
        tf.compat.v1 = importlib.import_module("rheos.v1")
    print(json.dumps(BODIES[row](tf)))


def ask(python, name, row):
    """The same in a process of its own; None where that fails."""
    done = subprocess.run(
        [python, __file__, name, row], capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        print(f"{row}, {name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    """Measures all rows."""
    tensorflow = interpreter_of("tensorflow", os.environ.get("RHEOS_TENSORFLOW_PYTHON"))
    peers = {"tensorflow": tensorflow, "torch": interpreter_of("torch")}
    for row, (unit, goal) in ROWS.items():
        if os.environ.get("ONLY", "") not in row:
            continue
        value = ask(sys.executable, "rheos", row)
        if value is None:
            continue
        line = {"row": row, "unit": unit, "rheos": value}
        if goal is not None:
            line["goal"] = goal
        others = {name: ask(python, name, row) for name, python in peers.items() if python}
        others = {name: value for name, value in others.items() if value is not None}
        if others:
            line["peers"] = others
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(*sys.argv[1:])
    else:
        main()
