"""measure.py MODULE: measures rows with one module, as bench_rows.py asks on standard input.

A request is a line of JSON: {"build": ROW, "threads": N, "small": BOOL, "own_time": BOOL} answers
with the first run, some values and the model's work, or with {"missing": WHY}; {"go": SECONDS} with
a round of steps; {"end": true, "idle": SECONDS} with what it used. Each row is built in a process
of its own, forked from one that has imported the module: its memory is that row's.
"""

import importlib
import json
import os
import resource
import statistics
import sys
import time

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
SAMPLES = 256
LONG_STEP_SECONDS = 0.1


def _session_step(tf, model, threads):
    """A function of the feeds' values that runs a step in a session."""
    config = tf.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )
    session = tf.Session(config=config)
    session.run(tf.global_variables_initializer())
    return session.make_callable(model.fetches, list(model.feed_list()[0]))


def _round(step, seconds, clock):
    times = []
    usage = resource.getrusage(resource.RUSAGE_SELF)
    until = time.perf_counter() + seconds
    while not times or time.perf_counter() < until:
        begin = clock()
        step()
        times.append(clock() - begin)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - usage.ru_minflt
    return {"seconds": statistics.median(times), "faults": faults / len(times)}


def _idle_share(seconds):
    time.sleep(0.05)
    begin = time.process_time()
    time.sleep(seconds)
    return (time.process_time() - begin) / seconds


def _timed(function, values, clock):
    begin = clock()
    result = function(*values)
    return clock() - begin, result


def _sample(result):
    """Some elements of a step's first result."""
    flat = np.asarray(result[0] if isinstance(result, (list, tuple)) else result).reshape(-1)
    return [float(x) for x in flat[:: max(1, flat.size // SAMPLES)]]


class Worker:
    """Measures one row. `tf` has TensorFlow's names; `peer` is the class that replays the nodes."""

    def __init__(self, tf, peer, models):
        self.tf, self.peer, self.models = tf, peer, models

    def build(self, request):
        self.clock = clock = time.process_time if request["own_time"] else time.perf_counter
        row, threads = request["build"], request["threads"]
        if self.peer and any(text in row for text in self.peer.left_out):
            return {"missing": "not a row of this peer"}
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
        self.before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.tf.reset_default_graph()
        begin = clock()
        model = self.models.MODELS[row](self.tf, request["small"])
        built = clock() - begin
        feeds = model.feed_list()
        if self.peer:
            run = self.peer(threads).step(model.fetches, feeds[0])
        else:
            run = _session_step(self.tf, model, threads)
        values = [list(feed.values()) for feed in feeds]
        self.step = lambda: [run(*value) for value in values]
        if len(values) == 1:  # the common case, without a list
            self.step = lambda: run(*values[0])
        first, result = _timed(run, values[0], clock)
        samples = _sample(result)
        answer = {"first": first, "built": built, "flops": model.flops, "bytes": model.num_bytes,
                  "nodes": model.nodes}
        if model.resized:
            resized = list(model.resized.values())
            again, result = _timed(run, resized, clock)
            samples += _sample(result)
            answer["resized"] = again - min(_timed(run, resized, clock)[0] for _ in range(3))
        self.step_seconds, _ = _timed(self.step, [], time.perf_counter)
        samples += _sample(run(*values[-1]))
        return {**answer, "values": samples}

    def go(self, request):
        time.sleep(0.02)  # threads of the others that wait for more work may still be spinning
        if self.step_seconds < LONG_STEP_SECONDS:
            self.step()  # what the others ran has left nothing in the caches
        return _round(self.step, request["go"], self.clock)

    def end(self, request):
        idle = _idle_share(request["idle"])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.before
        return {"idle": idle, "peak_mb": peak / 1024}


def _answer(reply):
    print(json.dumps(reply), flush=True)


def _serve(worker, request):
    """In a process of its own: builds a row, and answers what follows until its end."""
    try:
        reply = worker.build(request)
    except Exception as error:  # a peer that cannot do a row is left out of it
        reply = {"missing": f"{type(error).__name__}: {str(error)[:200]}"}
    _answer(reply)
    while "missing" not in reply and "end" not in request:
        request = json.loads(sys.stdin.readline())
        _answer(getattr(worker, next(iter(request)))(request))


def _module(name):
    """What has TensorFlow's names, and the class of a peer that has not."""
    if name.startswith("peers."):
        sys.path.insert(0, os.path.join(FOLDER, "peers"))
        return importlib.import_module("recorded"), importlib.import_module(name[6:]).PEER
    tf = importlib.import_module(name)
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    return tf, None


def main():
    tf, peer = _module(sys.argv[1])
    import models

    worker = Worker(tf, peer, models)
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _serve(worker, json.loads(line))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            _answer({"missing": f"ended with status {status}"})


if __name__ == "__main__":
    main()
