"""The rows of the models: Rheos and its peers in turn, against what the machine can do.

    bench_rows.py [--smoke] [--quick] [--threads 1,2] [--only TEXT] [--peers TEXT]
                  [--rounds 5] [--seconds 0.3] [--own-time]

Each side is a process of its own on as many cores as it has threads; they are asked in turn, and
the median of the rounds counts. The limit is the model's multiply-adds over the machine's, or its
bytes over a copy's, whichever is more; both are measured by `rheos bench` before. What runs a peer
peers/interpreters.py says. "difference" is the largest of some of the first
results, a run's and a later one's, as a part of the largest value: near 0, or the sides do not
compute the same. --quick takes few rounds; --smoke runs every row once, small, with the peers of
--peers, to see that it works.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from peers.interpreters import BUILD, FOLDER, interpreter_of

# A peer's name, its module for measure.py, what that imports.
PEERS = [
    ("TensorFlow", "tensorflow.compat.v1", "tensorflow"),
    ("JAX", "peers.xla", "jax"),
    ("PyTorch", "peers.pytorch", "torch"),
    ("ONNX Runtime", "peers.onnx_runtime", "onnxruntime"),
]

# Rows that take TensorFlow many minutes and gigabytes to build; those where --quick does not wait.
MILLION_NODES, MANY_NODES = "1,000 chains", "adds, a node"

# What is to be reached: a multiple of the limit, or a time in the row's unit, through Python.
GOALS_OF_LIMIT = {
    "100 dense layers": 1.3, "MLP, SGD": 1.15, "LeNet": 1.08, "ResNet-50, forward": 1.05,
    "ResNet-50, SGD": 1.3,
    "BERT layer, forward, batch 1": 1.15, "BERT layer, SGD step, batch 1": 1.15,
    "BERT layer, forward, batch 8": 1.06, "BERT layer, SGD step, batch 8": 1.06, "on 16M": 1.15,
}
GOALS = {"one op": 1, "linear regression": 3, "adds, a node": 25}
FIRST_RUN_GOALS_MS = {"ResNet-50": 150}
RESIZED_GOAL_NS = 2000
LENGTHS_GOAL = 1.2


class Side:
    """A process that measures rows with one module."""

    def __init__(self, name, interpreter, module):
        self.name = name
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
        self._process = subprocess.Popen(
            [interpreter, FOLDER / "measure.py", module], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )

    def send(self, **request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def receive(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended")
        return json.loads(line)

    def ask(self, **request):
        self.send(**request)
        return self.receive()

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def sides(wanted):
    """The sides that can run, Rheos first."""
    found = [Side("Rheos", sys.executable, "rheos.v1")]
    for name, module, package in PEERS:
        if wanted and not any(text in name for text in wanted.split(",")):
            continue
        interpreter = interpreter_of(package)
        if interpreter:
            found.append(Side(name, interpreter, module))
    return found


def peaks(threads):
    """Multiply-adds and bytes a second, measured now; nothing without the command."""
    command = BUILD / "bin/rheos"
    if not command.exists():
        return {"gflops": 0.0, "gbytes_per_second": 0.0}
    with tempfile.NamedTemporaryFile(suffix=".pb") as graph:
        import rheos.v1 as tf

        with tf.Graph().as_default() as g:
            tf.constant(1.0, name="x")
        graph.write(g.as_graph_def().SerializeToString())
        graph.flush()
        report = subprocess.run(
            [command, "bench", graph.name, "--fetch", "x", "--runs", "1", "--json",
             "--threads", str(threads)],
            capture_output=True, check=True, text=True,
        )
    return json.loads(report.stdout)["peak"]


def limit_of(built, peak):
    arithmetic = built["flops"] / (peak["gflops"] * 1e9) if peak["gflops"] else 0
    memory = built["bytes"] / (peak["gbytes_per_second"] * 1e9) if peak["gbytes_per_second"] else 0
    return max(arithmetic, memory)


def measure(row, every_side, threads, options):
    """Name, and what build, rounds and end told, of the sides that have the row; Rheos first."""
    taken = []
    for side in every_side:
        too_long = MANY_NODES if options.quick else MILLION_NODES
        if side.name == "TensorFlow" and too_long in row and not options.smoke:
            continue
        built = side.ask(build=row, threads=threads, small=options.smoke,
                         own_time=options.own_time)
        if "missing" not in built:
            taken.append((side, built, []))
        elif side is every_side[0]:
            raise RuntimeError(f"{row}: {built['missing']}")
        elif not built["missing"].startswith("not a row"):
            print(f"{row}: {side.name} is left out: {built['missing']}", file=sys.stderr)
    for _ in range(options.rounds):
        for side, _, rounds in taken:
            rounds.append(side.ask(go=options.seconds))
    for side, _, _ in taken:
        side.send(end=True, idle=0.02 if options.smoke else 0.2)
    return [(side.name, built, rounds, side.receive()) for side, built, rounds in taken]


def report(row, unit, values, goal=0.0, **more):
    line = {"row": row, "unit": unit, "rheos": values[0][1], "peers": dict(values[1:])}
    if goal:
        line["goal"] = goal
    print(json.dumps({**line, **more}), flush=True)


def on(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


def goal_of(goals, row):
    return next((goal for text, goal in goals.items() if text in row), 0.0)


def difference(values, others):
    """The largest between two lists, as a part of the largest value."""
    largest = max(map(abs, others), default=0.0) or 1.0
    return max((abs(a - b) for a, b in zip(values, others)), default=0.0) / largest


def report_all(row, threads, results, peak):
    """Prints the row's lines, and returns the median time of Rheos."""
    built = results[0][1]
    nodes = built["nodes"]
    scale, unit = (1e9 / nodes, "ns") if nodes else (1e6, "us")
    label = f"{row}, {on(threads)}"

    def values(take):
        return [(name, take(*result)) for name, *result in results]

    def median(built, rounds, end):
        return statistics.median(r["seconds"] for r in rounds)

    def faults(built, rounds, end):
        return statistics.median(r["faults"] for r in rounds)

    limit = limit_of(built, peak) * scale
    times = [r["seconds"] * scale for r in results[0][2]]
    steps = values(lambda *result: median(*result) * scale)
    more = {"spread": [min(times), max(times)]}
    if limit:
        more["of_limit"] = steps[0][1] / limit
        steps.append(("limit", limit))
    if len(results) > 1:
        more["difference"] = {name: difference(built["values"], other["values"])
                              for name, other, *_ in results[1:]}
    report(label, unit, steps,
           goal_of(GOALS, row) or goal_of(GOALS_OF_LIMIT, row) * limit, **more)
    report(label + ": first run", "ms", values(lambda built, *_: built["first"] * 1e3),
           goal_of(FIRST_RUN_GOALS_MS, row))
    if "resized" in built:
        report(label + ": first run at a new batch size", "ns",
               values(lambda built, *_: built["resized"] * scale), RESIZED_GOAL_NS)
    report(label + ": built", "ms", values(lambda built, *_: built["built"] * 1e3))
    report(label + ": faults a step", "", values(faults))
    report(label + ": memory", "MB", values(lambda built, rounds, end: end["peak_mb"]))
    report(label + ": idle", "%CPU", values(lambda built, rounds, end: 100 * end["idle"]))
    return steps[0][1]


def report_lengths(threads, medians):
    """How much longer runs of many lengths take than as many of their mean."""
    for row in ("MLP", "BERT layer"):
        many = medians.get(f"{row}, 200 lengths")
        same = medians.get(f"{row}, 200 times the mean length")
        if many and same:
            report(f"{row}, 200 lengths over their mean, {on(threads)}", "x",
                   [("Rheos", many / same)], LENGTHS_GOAL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="every row once, small")
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--own-time", action="store_true",
                        help="processor time instead of the clock: for a busy machine, 1 thread")
    parser.add_argument("--only", default="",
                        help="only rows whose name holds one of these texts (with | between)")
    parser.add_argument("--peers", default="", help="only these peers (with , between)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each side")
    parser.add_argument("--seconds", type=float, default=0.3, help="a round takes")
    options = parser.parse_args()
    import models

    if options.smoke:
        options.rounds, options.seconds, options.threads = 1, 0.0, "1"
    elif options.quick:
        options.rounds, options.seconds = 3, 0.05
    every_side = sides(options.peers or ("none" if options.smoke else ""))
    for threads in map(int, options.threads.split(",")):
        peak, medians = peaks(threads), {}
        for row in models.MODELS:
            if any(text in row for text in options.only.split("|")):
                results = measure(row, every_side, threads, options)
                medians[row] = report_all(row, threads, results, peak)
        report_lengths(threads, medians)
    for side in every_side:
        side.close()


if __name__ == "__main__":
    main()
