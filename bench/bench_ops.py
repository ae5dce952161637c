"""Ops on large tensors: NumPy, PyTorch where it is installed, and the memory bandwidth, each
measured in turn with Rheos. One JSON object a line.

Usage: bench_ops.py [--elements N] [--threads 1,2] [--own-time] [TEXT]: only the rows whose name
holds TEXT. Where the machine is shared, --own-time takes the least time that the thread itself was
running, which says something of one thread only.
The limit is the time that np.copyto needs to move as many bytes as the row has to.
"""

import argparse
import importlib.util
import json
import statistics
import time
from types import SimpleNamespace

import numpy as np
import rheos.v1 as tf

torch = None
if importlib.util.find_spec("torch"):
    import torch


def operands(elements):
    """What all rows read, as arrays: vectors a and b, the matrix m that holds the same as a."""
    generator = np.random.RandomState(0)
    side = max(8, int(round(elements**0.5)))
    m = generator.rand(side, side).astype(np.float32)
    b = generator.rand(side * side).astype(np.float32)
    pictures = max(1, side * side // (56 * 56 * 64))
    return SimpleNamespace(
        a=m.reshape(-1), b=b, m=m, row=m[0].copy(), column=m[:, :1].copy(), condition=b > 0.5,
        indices=generator.randint(0, side, side).astype(np.int64),
        image=generator.rand(pictures, 56, 56, 64).astype(np.float32))


# Name; bytes that have to move over the 4 bytes of an element, None where arithmetic binds; the
# rows of Rheos, NumPy and PyTorch (None: has no such function), of operands d that are variables,
# arrays or torch tensors; NumPy's may write into o.
ROWS = [
    ("add", 3, lambda d: d.a + d.b, lambda d, o: np.add(d.a, d.b, out=o), lambda d: d.a + d.b),
    ("multiply by a scalar", 2, lambda d: d.a * 2.0, lambda d, o: np.multiply(d.a, 2, out=o),
     lambda d: d.a * 2),
    ("divide", 3, lambda d: d.a / d.b, lambda d, o: np.divide(d.a, d.b, out=o),
     lambda d: d.a / d.b),
    ("add a row to a matrix", 2, lambda d: d.m + d.row,
     lambda d, o: np.add(d.m, d.row, out=o.reshape(d.m.shape)), lambda d: d.m + d.row),
    ("add a column to a matrix", 2, lambda d: d.m + d.column,
     lambda d, o: np.add(d.m, d.column, out=o.reshape(d.m.shape)), lambda d: d.m + d.column),
    ("less", 2.25, lambda d: tf.less(d.a, d.b), lambda d, o: np.less(d.a, d.b),
     lambda d: d.a < d.b),
    ("where", 3.25, lambda d: tf.where(d.condition, d.a, d.b),
     lambda d, o: np.where(d.condition, d.a, d.b), lambda d: torch.where(d.condition, d.a, d.b)),
    ("cast to int32", 2, lambda d: tf.cast(d.a, tf.int32), lambda d, o: d.a.astype(np.int32),
     lambda d: d.a.to(torch.int32)),
    ("add_n of three", 4, lambda d: tf.add_n([d.a, d.b, d.a]), None, None),
    ("square root", 2, lambda d: tf.sqrt(d.a), lambda d, o: np.sqrt(d.a, out=o),
     lambda d: torch.sqrt(d.a)),
    ("relu", 2, lambda d: tf.nn.relu(d.a), lambda d, o: np.maximum(d.a, 0, out=o),
     lambda d: torch.relu(d.a)),
    ("exp", None, lambda d: tf.exp(d.a), lambda d, o: np.exp(d.a, out=o),
     lambda d: torch.exp(d.a)),
    ("log", None, lambda d: tf.log(d.a), lambda d, o: np.log(d.a, out=o),
     lambda d: torch.log(d.a)),
    ("tanh", None, lambda d: tf.tanh(d.a), lambda d, o: np.tanh(d.a, out=o),
     lambda d: torch.tanh(d.a)),
    ("sigmoid", None, lambda d: tf.sigmoid(d.a), None, lambda d: torch.sigmoid(d.a)),
    ("erf", None, lambda d: tf.erf(d.a), None, lambda d: torch.erf(d.a)),
    ("sin", None, lambda d: tf.sin(d.a), lambda d, o: np.sin(d.a, out=o),
     lambda d: torch.sin(d.a)),
    ("pow", None, lambda d: tf.pow(d.a, d.b), lambda d, o: np.power(d.a, d.b, out=o),
     lambda d: torch.pow(d.a, d.b)),
    ("sum of all", 1, lambda d: tf.reduce_sum(d.m), lambda d, o: np.sum(d.m), lambda d: d.m.sum()),
    ("sum of rows", 1, lambda d: tf.reduce_sum(d.m, 1), lambda d, o: np.sum(d.m, 1),
     lambda d: d.m.sum(1)),
    ("sum of columns", 1, lambda d: tf.reduce_sum(d.m, 0), lambda d, o: np.sum(d.m, 0),
     lambda d: d.m.sum(0)),
    ("maximum of rows", 1, lambda d: tf.reduce_max(d.m, 1), lambda d, o: np.max(d.m, 1),
     lambda d: d.m.amax(1)),
    ("argmax of rows", 1, lambda d: tf.argmax(d.m, 1), lambda d, o: np.argmax(d.m, 1),
     lambda d: d.m.argmax(1)),
    ("cumulative sum of rows", 2, lambda d: tf.cumsum(d.m, 1), lambda d, o: np.cumsum(d.m, 1),
     lambda d: d.m.cumsum(1)),
    ("softmax", 2, lambda d: tf.nn.softmax(d.m), None, lambda d: torch.softmax(d.m, 1)),
    ("top 8 of rows", 1, lambda d: tf.nn.top_k(d.m, 8)[0], None, lambda d: d.m.topk(8, 1)),
    ("transpose", 2, lambda d: tf.transpose(d.m),
     lambda d, o: np.copyto(o.reshape(d.m.shape), d.m.T), lambda d: d.m.t().contiguous()),
    ("reverse rows", 2, lambda d: tf.reverse(d.m, [1]),
     lambda d, o: np.copyto(o.reshape(d.m.shape), d.m[:, ::-1]), lambda d: d.m.flip(1)),
    ("gather rows", 2, lambda d: tf.gather(d.m, d.indices),
     lambda d, o: np.take(d.m, d.indices, 0, out=o.reshape(d.m.shape)),
     lambda d: d.m[d.indices]),
    ("concat rows", 4, lambda d: tf.concat([d.m, d.m], 0),
     lambda d, o: np.concatenate([d.m, d.m]), lambda d: torch.cat([d.m, d.m], 0)),
    ("concat columns", 4, lambda d: tf.concat([d.m, d.m], 1),
     lambda d, o: np.concatenate([d.m, d.m], 1), lambda d: torch.cat([d.m, d.m], 1)),
    ("slice of columns", 1, lambda d: d.m[:, 1:d.m.shape[1] // 2 + 1],
     lambda d, o: np.ascontiguousarray(d.m[:, 1:d.m.shape[1] // 2 + 1]),
     lambda d: d.m[:, 1:d.m.shape[1] // 2 + 1].contiguous()),
    ("pad", 2, lambda d: tf.pad(d.m, [[1, 1], [1, 1]]), lambda d, o: np.pad(d.m, 1),
     lambda d: torch.nn.functional.pad(d.m, (1, 1, 1, 1))),
    ("tile", 1, lambda d: tf.tile(d.row, [d.m.shape[0]]),
     lambda d, o: np.tile(d.row, d.m.shape[0]), lambda d: d.row.repeat(d.m.shape[0])),
    ("one hot", 1, lambda d: tf.one_hot(d.indices, d.m.shape[0]), None,
     lambda d: torch.nn.functional.one_hot(d.indices, d.m.shape[0])),
    ("bias_add", 2, lambda d: tf.nn.bias_add(d.m, d.row), None, lambda d: d.m + d.row),
    ("max pooling 3x3", None, lambda d: tf.nn.max_pool(d.image, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"),
     None, lambda d: torch.nn.functional.max_pool2d(d.image_nchw, 3, 2, 1)),
    ("average pooling 3x3", None,
     lambda d: tf.nn.avg_pool(d.image, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), None,
     lambda d: torch.nn.functional.avg_pool2d(d.image_nchw, 3, 2, 1)),
]


def converted(data, convert):
    return SimpleNamespace(**{name: convert(value) for name, value in vars(data).items()})


def tensors(data):
    result = converted(data, torch.from_numpy)
    # The layout that torch calls channels_last.
    result.image_nchw = result.image.permute(0, 3, 1, 2)
    return result


# PyTorch's threads spin for some 15 ms before they sleep, and would take a core from what
# comes next.
PAUSE_SECONDS = 0.04


def milliseconds(bodies, repeats, own_time, threads):
    """The median time of each of bodies, run in turn; the thread's own least time if `own_time`.
    Where there are more threads, two calls before each wake them."""
    clock, choose = (time.thread_time, min) if own_time else (time.perf_counter, statistics.median)
    times = [[] for _ in bodies]
    for body in bodies:
        body()
    for _ in range(repeats):
        for body, spent in zip(bodies, times):
            if threads > 1:
                time.sleep(PAUSE_SECONDS)
                body()
                body()
            begin = clock()
            body()
            spent.append(clock() - begin)
    return [choose(spent) * 1e3 for spent in times]


def measure(threads, data, only, repeats, own_time):
    source, scratch = np.ones(data.a.size, np.float32), np.empty(data.a.size, np.float32)
    peers = tensors(data) if torch else None
    if torch:
        torch.set_num_threads(threads)
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        ours = converted(data, tf.Variable)
        session.run(tf.global_variables_initializer())
        for name, moved, rheos_row, numpy_row, torch_row in ROWS:
            if only not in name:
                continue
            step = session.make_callable(rheos_row(ours).op)
            bodies = {"rheos": step, "copy": lambda: np.copyto(scratch, source)}
            if numpy_row:
                bodies["NumPy"] = lambda row=numpy_row: row(data, scratch)
            if torch_row and torch:
                bodies["PyTorch"] = lambda row=torch_row: row(peers)
            times = dict(zip(bodies, milliseconds(bodies.values(), repeats, own_time, threads)))
            line = {"row": f"{name}, {threads} thread{'s' * (threads > 1)}", "unit": "ms",
                    "rheos": times.pop("rheos")}
            copy = times.pop("copy")
            if moved:
                # A copy on one thread is no bound for two.
                times["limit (copy)" if threads == 1 else "copy on 1 thread"] = copy * moved / 2
            line["peers"] = times
            if moved and threads == 1:
                line["goal"] = 1.2 * copy * moved / 2
            print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--own-time", action="store_true")
    parser.add_argument("only", nargs="?", default="")
    options = parser.parse_args()
    data = operands(options.elements)
    for threads in options.threads.split(","):
        measure(int(threads), data, options.only, options.repeats,
                options.own_time)


if __name__ == "__main__":
    main()
