"""`rheos bench`: times of a step of a graph or a saved model. No time is judged here."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))


def run_bench(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "rheos", "bench", *arguments], capture_output=True, timeout=120, text=True
    )


def ok(*arguments):
    done = run_bench(*arguments)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def fails(*arguments, status=1):
    done = run_bench(*arguments)
    assert done.returncode == status and done.stdout == "", done
    assert done.stderr.startswith("rheos: ") and done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def layer(tmp_path):
    """A frozen graph: y = softmax(x w) of `x`, [unknown, 3]."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.nn.softmax(tf.matmul(x, tf.constant(np.ones((3, 4), np.float32))), name="y")
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


def test_the_report_has_all_its_fields(layer):
    report = json.loads(
        ok(layer, "--fetch", "y", "--shape", "x=5,3", "--runs", "20", "--json", "--threads", "1")
    )
    assert report["runs"] == 20 and report["threads"] == 1 and report["path"] == str(layer)
    latency = report["latency_us"]
    assert 0 < latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p99"]
    assert latency["p99"] <= latency["max"] and latency["first"] > 0
    assert report["runs_per_second"] == pytest.approx(1e6 / latency["p50"], rel=1e-6)
    ops = {row["op"]: row for row in report["ops"]}
    assert set(ops) == {"MatMul", "Softmax"} and ops["MatMul"]["count"] == 1
    # Table and latencies are of the same runs: together the ops take no longer than a typical one.
    assert 0 < sum(row["us"] for row in report["ops"]) <= latency["p50"]
    work = ops["MatMul"]["gflops"] * ops["MatMul"]["us"] * 1e3
    assert work == pytest.approx(2 * 5 * 3 * 4, rel=1e-3)  # multiply-adds of the product
    assert report["gflops"] > 0 and report["gbytes_per_second"] > 0
    assert report["peak"]["gflops"] > 0 and report["peak"]["gbytes_per_second"] > 0


def test_text_and_time_limit(layer):
    text = ok(layer, "--fetch", "y", "--seconds", "0.01", "--threads", "2")
    assert "runs on 2 threads" in text and "p90" in text
    assert text.splitlines()[-1].split()[0] in ("MatMul", "Softmax")


def test_given_values_are_fed(layer, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((7, 3), np.float32))
    trace = tmp_path / "trace.json"
    ok(layer, "--fetch", "y", "--feed", f"x={tmp_path / 'x.npy'}", "--runs", "1", "--trace", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    steps = [e for e in events if e.get("cat") == "Step"]
    products = [e for e in events if e["name"] == "MatMul"]
    assert len(steps) == len(products) == 10
    assert all(e["args"]["outputs"] == "float[7,4]" for e in products)
    assert all(e["dur"] >= 0 and e["ph"] == "X" for e in products)


def test_a_saved_model_by_its_signature(tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        ids = tf.placeholder(tf.int64, [None], name="ids")
        table = tf.get_variable("table", [2, 2])
        y = tf.matmul(x, table) + tf.gather(table, ids)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, folder, {"x": x, "ids": ids}, {"y": y})
    report = json.loads(ok(folder, "--runs", "3", "--json", "--shape", "x=4,2", "--shape", "ids=4"))
    assert {"MatMul", "(variable read)"} & {row["op"] for row in report["ops"]}
    assert "shape" in fails(folder, "--runs", "1", "--shape", "x=4,2", "--shape", "ids=3")


def test_bodies_have_their_trips_and_times(tmp_path):
    with tf.Graph().as_default() as graph:
        end = tf.while_loop(lambda i: i < 100, lambda i: i + 1, [tf.constant(0)])
        tf.identity(end, name="end")
    path = tmp_path / "loop.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    report = json.loads(ok(path, "--fetch", "end", "--runs", "20", "--json", "--threads", "1"))
    bodies = {row["body"]: row for row in report["bodies"]}
    assert bodies["body"]["runs"] == 100 and bodies["cond"]["runs"] == 101
    assert bodies["body"]["node"].startswith("while/")
    ops = {row["op"]: row for row in report["ops"]}
    assert ops["AddV2" if "AddV2" in ops else "Add"]["count"] == 100
    # The loop's own time is without that of what it runs.
    inside = sum(row["us"] for row in report["bodies"])
    assert inside > 0 and sum(row["us"] for row in report["ops"]) <= report["latency_us"]["p50"]
    assert "called by" in ok(path, "--fetch", "end", "--runs", "5", "--threads", "1")


def test_loops_on_tokens_have_their_trips(tmp_path):
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(-1, [tf.int32], shapes=[[]])

        def body(trip):
            with tf.control_dependencies([queue.enqueue(trip)]):
                return trip + 1

        tf.identity(tf.while_loop(lambda trip: trip < 100, body, [tf.constant(0)]), name="end")
    path = tmp_path / "loop.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    report = json.loads(ok(path, "--fetch", "end", "--runs", "20", "--json", "--threads", "1"))
    counts = {row["op"]: row["count"] for row in report["ops"]}
    assert counts["QueueEnqueueV2"] == counts["NextIteration"] == 100 == counts["Switch"] - 1


def test_wrong_usage(layer):
    assert "a path is missing" in fails(status=2)
    assert "one path" in fails(layer, layer, status=2)
    assert "--shape wants" in fails(layer, "--shape", "x=2,", status=2)
    assert "--runs wants" in fails(layer, "--runs", "0", status=2)
    assert "--threads wants" in fails(layer, "--threads", "x", status=2)
    assert "--seconds wants" in fails(layer, "--seconds", "-1", status=2)
    assert "--feed wants" in fails(layer, "--feed", "x", status=2)
    assert "say what to fetch" in fails(layer)
    assert "nothing" in fails(layer, "--fetch", "nothing")
    assert "missing.pb" in fails(layer.parent / "missing.pb")


def test_a_pipeline_is_told_by_its_stages(tmp_path):
    with tf.Graph().as_default() as graph:
        numbers = tf.data.Dataset.range(100).map(lambda x: x + 1).batch(10)
        tf.data.make_one_shot_iterator(numbers).get_next()
        tf.data.make_initializable_iterator(tf.data.Dataset.range(5).repeat(2))
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    first, second = ok(path, "--pipeline", "--seconds", "0.2").strip().split("\n\n")
    stages = [
        [line.split(":")[0].strip() for line in text.splitlines()[:-1]] for text in (first, second)
    ]
    assert sorted(stages) == [["Batch", "Map", "Range"], ["Repeat", "Range"]]
    assert all(" binds: " in text.splitlines()[-1] for text in (first, second))


def test_a_graph_without_datasets_has_no_pipeline(layer):
    assert "the graph has no dataset" in fails(layer, "--pipeline")


def test_a_script_tells_which_stages_held_it_up(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import sys, time\n"
        "import tensorflow as tf\n"
        "def slow(x):\n"
        "    time.sleep(0.002)\n"
        "    return x\n"
        "numbers = tf.data.Dataset.range(40).map(lambda x: tf.py_function(slow, [x], tf.int64))\n"
        "print(sum(int(x) for x in numbers.batch(4).take(5).unbatch()), *sys.argv[1:])\n"
        "for x in tf.data.Dataset.range(3):\n"
        "    time.sleep(0.01)\n"
    )
    done = run_bench("--pipeline", script, "--fast", "2")
    assert (done.returncode, done.stdout) == (0, "190 --fast 2\n")
    first, second = done.stderr.strip().split("\n\n")
    names = [line.split(":")[0].strip() for line in first.splitlines()[:-1]]
    assert names == ["Unbatch", "Take", "Batch", "Map", "Range"]
    assert first.splitlines()[-1].startswith("Map binds: ")
    assert second.splitlines()[-1].startswith("The caller binds: ")
    assert "--pipeline alone" in fails("--runs", "3", "--pipeline", script, status=2)
