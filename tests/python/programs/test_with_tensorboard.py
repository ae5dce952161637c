"""Event files of Rheos in the real TensorBoard: its reader, and its pages asked over HTTP.

TensorBoard is looked for in the interpreter named by RHEOS_TENSORBOARD_PYTHON, else in that of
RHEOS_TENSORFLOW_PYTHON, else in this one. Where there is none, these tests are skipped.
"""

import json
import os
import re
import struct
import subprocess
import sys
import urllib.parse
import urllib.request

import numpy as np
import pytest

tf = pytest.importorskip("rheos.v1")


def find_interpreter():
    """A Python that has TensorBoard, or None."""
    names = [os.environ.get(f"RHEOS_TENSOR{what}_PYTHON") for what in ("BOARD", "FLOW")]
    for name in [*filter(None, names), sys.executable]:
        script = "import importlib.util as u, sys; sys.exit(u.find_spec('tensorboard') is None)"
        if subprocess.run([name, "-c", script], env=environment(), check=False).returncode == 0:
            return name
    return None


def environment():
    """That of this process, without Rheos in the way of the other interpreter's packages."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "TF_CPP_MIN_LOG_LEVEL": "3"
    }


INTERPRETER = find_interpreter()
pytestmark = pytest.mark.skipif(INTERPRETER is None, reason="TensorBoard is not installed here")


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """A folder with an event file of one run, which has one of each kind."""
    folder = tmp_path_factory.mktemp("logs") / "run"
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.summary.scalar("loss", tf.reduce_sum(x))
        tf.summary.histogram("weights", x)
        tf.summary.image("picture", tf.constant(np.arange(12).reshape(1, 2, 2, 3), tf.uint8))
        tf.summary.audio("tone", tf.zeros([1, 8]), 8000)
        tf.summary.text("note", tf.constant("*words*"))
        merged = tf.summary.merge_all()
        with tf.summary.FileWriter(str(folder), graph) as writer:
            for step in range(3):
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                summary = session.run(merged, {x: [step, 1.0]}, options, metadata)
                writer.add_summary(summary, step)
                writer.add_run_metadata(metadata, f"step {step}", step)
    return folder.parent


ACCUMULATE = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1] + "/run").Reload()
tags = events.Tags()
print(json.dumps({
    "tags": {k: v for k, v in tags.items() if isinstance(v, list)},
    "graph": [n.name for n in events.Graph().node],
    "loss": [(e.step, e.value) for e in events.Scalars("loss")],
    "devices": [d.device for d in events.RunMetadata("step 1").step_stats.dev_stats],
}))
"""


def test_tensorboard__reads_all_kinds(logdir):
    done = subprocess.run([INTERPRETER, "-c", ACCUMULATE, str(logdir)], env=environment(),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout.splitlines()[-1])
    kinds = {"scalars": "loss", "histograms": "weights", "images": "picture/image/0",
             "audio": "tone/audio/0", "tensors": "note"}  # fmt: skip
    assert {kind: got["tags"][kind] for kind in kinds} == {k: [tag] for k, tag in kinds.items()}
    assert got["tags"]["run_metadata"] == ["step 0", "step 1", "step 2"]
    assert "x" in got["graph"] and "Merge/MergeSummary" in got["graph"]
    assert got["loss"] == [[0, 1.0], [1, 2.0], [2, 3.0]]
    assert len(got["devices"]) >= 1


@pytest.fixture(scope="module")
def server(logdir):
    """The address of a TensorBoard that shows the folder."""
    command = [INTERPRETER, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", "0",
               "--host", "127.0.0.1"]  # fmt: skip
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True,
                               stdout=subprocess.DEVNULL)  # fmt: skip
    seen = []
    for line in process.stderr:
        seen.append(line)
        if found := re.search(r"http://[\w.]+:\d+", line):
            yield found[0]
            break
    process.terminate()
    process.communicate()
    assert any("http://" in line for line in seen), "".join(seen)


def ask(server, path, **query):
    with urllib.request.urlopen(f"{server}/data/{path}?{urllib.parse.urlencode(query)}") as answer:
        return answer.read()


def wait_for(server, path, **query):
    """The answer once it has something in it: TensorBoard reads the files while it serves."""
    for _ in range(600):
        answer = json.loads(ask(server, path, **query))
        if answer:
            return answer
        subprocess.run(["sleep", "0.2"], check=True)
    raise AssertionError(f"{path} stays empty")


def test_tensorboard__shows_the_run(server):
    assert wait_for(server, "runs") == ["run"]
    scalars = wait_for(server, "plugin/scalars/tags")
    assert list(scalars["run"]) == ["loss"]
    points = json.loads(ask(server, "plugin/scalars/scalars", run="run", tag="loss"))
    assert [point[1:] for point in points] == [[0, 1.0], [1, 2.0], [2, 3.0]]
    bins = json.loads(ask(server, "plugin/histograms/histograms", run="run", tag="weights"))
    assert [sum(bin_[2] for bin_ in step[2]) for step in bins] == [2, 2, 2]
    pictures = json.loads(ask(server, "plugin/images/images", run="run", tag="picture/image/0",
                              sample=0))  # fmt: skip
    query = dict(urllib.parse.parse_qsl(pictures[0]["query"]))
    picture = ask(server, "plugin/images/individualImage", **query)
    assert struct.unpack(">II", picture[16:24]) == (2, 2)  # as its header says
    words = json.loads(ask(server, "plugin/text/text", run="run", tag="note"))
    assert "<em>words</em>" in words[0]["text"]
    sounds = json.loads(ask(server, "plugin/audio/audio", run="run", tag="tone/audio/0", sample=0))
    # Later ones of 2 tell no format of sounds that come as TensorFlow 1's summaries.
    assert sounds[0]["contentType"] in ("audio/wav", "application/octet-stream")
    query = dict(urllib.parse.parse_qsl(sounds[0]["query"]))
    assert ask(server, "plugin/audio/individualAudio", **query)[:4] == b"RIFF"
    graph = ask(server, "plugin/graphs/graph", run="run", conceptual="false").decode()
    assert 'name: "x"' in graph and 'op: "Placeholder"' in graph
    assert "node_stats" in ask(server, "plugin/graphs/run_metadata", run="run",
                               tag="step 1").decode()  # fmt: skip
