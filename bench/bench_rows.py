"""The rows of the models: Rheos and TensorFlow in turn, against what the machine can do.

    bench_rows.py [--smoke] [--threads 1,2] [--only TEXT] [--rounds 5] [--seconds 0.3]
                  [--own-time]

Each side is a process of its own on as many cores as it has threads; they are asked in turn, and the
median of the rounds counts. The limit is the model's multiply-adds over the machine's, or its bytes over
a copy's, whichever is more; both are measured by `rheos bench` before. TensorFlow is run where
RHEOS_BENCH_TENSORFLOW names an interpreter that has it, or `make bench-peers` installed it. --smoke
runs every row once, small, to see that it works.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("RHEOS_BUILD", FOLDER.parent / "build"))


class Side:
    """A process that measures rows with one module."""

    def __init__(self, name, interpreter, module):
        self.name = name
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
        self._process = subprocess.Popen(
            [interpreter, FOLDER / "measure.py", module], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )

    def ask(self, **request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended in {request}")
        return json.loads(line)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def sides():
    """Name, interpreter and module of each side."""
    found = [("Rheos", sys.executable, "rheos.v1")]
    peer = os.environ.get("RHEOS_BENCH_TENSORFLOW") or BUILD / "bench-peers/bin/python"
    if Path(peer).exists():
        found.append(("TensorFlow", peer, "tensorflow.compat.v1"))
    else:
        print("TensorFlow is left out: make bench-peers installs it", file=sys.stderr)
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


def measure(row, processes, threads, options):
    """Per side: what build, rounds and end told."""
    built = [p.ask(build=row, threads=threads, small=options.smoke) for p in processes]
    rounds = [[] for _ in processes]
    for _ in range(1 if options.smoke else options.rounds):
        for p, list_of_rounds in zip(processes, rounds):
            seconds = 0.0 if options.smoke else options.seconds
            list_of_rounds.append(p.ask(go=seconds, own_time=options.own_time))
    ends = [p.ask(end=True) for p in processes]
    return list(zip(built, rounds, ends))


def report(row, unit, values, limit=0.0, spread=None, **more):
    line = {"row": row, "unit": unit, "rheos": values[0][1], "peers": dict(values[1:])}
    if limit:
        line["peers"]["limit"] = limit
        line["of_limit"] = values[0][1] / limit
    if spread:
        line["spread"] = spread
    line.update(more)
    print(json.dumps(line), flush=True)


def report_all(row, threads, names, results, peak):
    nodes = results[0][0]["nodes"]
    scale, unit = (1e9 / nodes, "ns") if nodes else (1e6, "us")
    label = f"{row}, {threads} thread{'s' if threads > 1 else ''}"

    def values(take):
        return [(name, take(*result)) for name, result in zip(names, results)]

    def median(rounds):
        return statistics.median(r["seconds"] for r in rounds)

    times = [r["seconds"] * scale for r in results[0][1]]
    report(label, unit, values(lambda built, rounds, end: median(rounds) * scale),
           limit_of(results[0][0], peak) * scale, [min(times), max(times)])
    report(label + ": first run", "ms", values(lambda built, rounds, end: built["first"] * 1e3))
    report(label + ": built", "ms", values(lambda built, rounds, end: built["built"] * 1e3))
    report(label + ": faults a step", "", values(
        lambda built, rounds, end: statistics.median(r["faults"] for r in rounds)))
    report(label + ": memory", "MB", values(lambda built, rounds, end: end["peak_mb"]))
    report(label + ": idle", "%CPU", values(lambda built, rounds, end: 100 * end["idle"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="every row once, small")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--own-time", action="store_true",
                        help="processor time instead of the clock: for a busy machine, 1 thread")
    parser.add_argument("--only", default="", help="only rows whose name holds this text")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each side")
    parser.add_argument("--seconds", type=float, default=0.3, help="a round takes")
    options = parser.parse_args()
    import models

    kinds = sides() if not options.smoke else [("Rheos", sys.executable, "rheos.v1")]
    names = [kind[0] for kind in kinds]
    processes = [Side(*kind) for kind in kinds] if options.smoke else []
    for threads in [1] if options.smoke else [int(n) for n in options.threads.split(",")]:
        peak = peaks(threads)
        for row in models.MODELS:
            if options.only not in row:
                continue
            if not options.smoke:  # fresh ones: their memory is part of what is measured
                processes = [Side(*kind) for kind in kinds]
            report_all(row, threads, names, measure(row, processes, threads, options), peak)
            if not options.smoke:
                for p in processes:
                    p.close()
    if options.smoke:
        for p in processes:
            p.close()


if __name__ == "__main__":
    main()
