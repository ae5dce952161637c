"""measure.py MODULE: measures rows with one module, as bench_rows.py asks on standard input.

A request is a line of JSON: {"build": ROW, "threads": N, "small": BOOL} answers with the first run and
the model's work, {"go": SECONDS, "own_time": BOOL} with a round of steps, {"end": true}
with what the process used.
"""

import gc
import importlib
import json
import os
import resource
import statistics
import sys
import time

import models


def _open(tf, threads, small, row):
    tf.reset_default_graph()
    begin = time.perf_counter()
    model = models.MODELS[row](tf, small)
    built = time.perf_counter() - begin
    config = tf.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )
    session = tf.Session(config=config)
    session.run(tf.global_variables_initializer())
    return model, session, built


def _round(step, seconds, own_time):
    clock = time.process_time if own_time else time.perf_counter
    times = []
    usage = resource.getrusage(resource.RUSAGE_SELF)
    until = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < until:
        begin = clock()
        step()
        times.append(clock() - begin)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - usage.ru_minflt
    return {"seconds": statistics.median(times), "faults": faults / len(times)}


def _idle_share():
    time.sleep(0.1)
    begin = time.process_time()
    time.sleep(0.2)
    return (time.process_time() - begin) / 0.2


class Worker:
    def __init__(self, tf):
        self.tf, self.session = tf, None

    def build(self, request):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: request["threads"]])
        self.before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model, self.session, built = _open(
            self.tf, request["threads"], request["small"], request["build"]
        )
        feeds = model.series or [model.feeds]
        keys = list(feeds[0])
        values = [[feed[key] for key in keys] for feed in feeds]
        run = self.session.make_callable(model.fetches, keys)
        self.step = lambda: [run(*value) for value in values]
        begin = time.perf_counter()
        run(*values[0])
        first = time.perf_counter() - begin
        self.step()
        return {
            "built": built, "first": first, "flops": model.flops, "bytes": model.num_bytes,
            "nodes": model.nodes,
        }

    def go(self, request):
        return _round(self.step, request["go"], request["own_time"])

    def end(self, request):
        idle = _idle_share()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.before
        self.session.close()
        self.step = self.session = None
        gc.collect()
        return {"idle": idle, "peak_mb": peak / 1024}


def main():
    tf = importlib.import_module(sys.argv[1])
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    worker = Worker(tf)
    for line in sys.stdin:
        request = json.loads(line)
        method = getattr(worker, next(iter(request)))
        print(json.dumps(method(request)), flush=True)


if __name__ == "__main__":
    main()
