"""The side port and the log of a server."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import rheos
import rheos.v1 as tf
from ports import free_port

COMMAND = Path(rheos.__file__).resolve().parents[2] / "bin" / "rheos"
pytestmark = [
    pytest.mark.usefixtures("grpc"),
    pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built"),
]


class Served:
    """A server with a side port, as a process."""

    def __init__(self, folder, *options):
        (folder / "cluster.json").write_text('{"worker": ["localhost:0"]}')
        self.port = free_port()
        self.log = (folder / "log").open("w+")
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--cluster", folder / "cluster.json", "--job", "worker",
             "--metrics-port", str(self.port), *options],
            stdout=subprocess.PIPE, stderr=self.log, text=True,
        )  # fmt: skip
        ready = self.process.stdout.readline().split()
        if not ready:
            self.process.wait()
            pytest.skip(self.said())  # a build without libmicrohttpd
        self.target = ready[1]

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def numbers(self):
        """{name, with its labels: value}"""
        lines = [line.rpartition(" ") for line in self.get("/metrics").splitlines()]
        return {name: float(value) for name, _, value in lines if not name.startswith("#")}

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        self.process.terminate()
        self.process.stdout.close()
        assert self.process.wait(30) == 0


@pytest.fixture
def served(tmp_path):
    server = Served(tmp_path, "--log-format", "json", "--max-graph-nodes", "10")
    yield server
    server.end()


def _run_steps(target, count):
    x = tf.placeholder(tf.float32, [])
    y = x + 1
    with tf.Session(target) as sess:
        for i in range(count):
            assert sess.run(y, {x: i}) == i + 1


def test_health_is_told(served):
    assert served.get("/healthz") == "ok\n"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        served.get("/other")


def test_metrics_count_what_was_done(served):
    before = served.numbers()
    assert before["rheos_sessions"] == 0 and before["rheos_memory_bytes"] > 1e6
    _run_steps(served.target, 5)
    after = served.numbers()
    assert after["rheos_sessions"] == 0 and after["rheos_sessions_made_total"] == 1
    # The session makes a callable of what it runs.
    assert after['rheos_calls_total{method="RunCallable",code="OK"}'] == 5
    assert after['rheos_call_seconds_count{method="RunCallable"}'] == 5
    assert after['rheos_call_seconds_bucket{method="RunCallable",le="+Inf"}'] == 5
    assert 0 < after['rheos_call_seconds_sum{method="RunCallable"}'] < 5
    assert after["rheos_received_bytes_total"] > before["rheos_received_bytes_total"]
    assert after["rheos_sent_bytes_total"] > 0


def test_metrics_count_errors_by_code(served):
    v = tf.get_variable("v", [])
    with tf.Session(served.target) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v)
    (name,) = [name for name in served.numbers() if "FAILED_PRECONDITION" in name]
    assert name.startswith('rheos_calls_total{method="Run')


def test_every_line_of_metrics_is_prometheus(served):
    _run_steps(served.target, 1)
    line = re.compile(
        r"# (HELP|TYPE) \w+ .+|\w+(\{\w+=\"[^\"]*\"(,\w+=\"[^\"]*\")*\})? [0-9.e+-]+"
    )
    text = served.get("/metrics")
    assert text.endswith("\n") and all(line.fullmatch(one) for one in text.splitlines())


def test_the_log_has_a_line_for_each_event(served):
    y = tf.add_n([tf.constant(1.0)] * 2)
    for _ in range(20):
        y = y + 1
    with tf.Session(served.target) as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError):
            sess.run(y)
    tf.reset_default_graph()
    _run_steps(served.target, 1)
    time.sleep(0.1)
    events = [json.loads(line) for line in served.said().splitlines()]
    assert [event["event"] for event in events] == [
        "server_started",
        "call_refused",
        "session_made",
        "session_closed",
    ]
    refused, made, closed = events[1:]
    assert refused["level"] == "warning" and "--max-graph-nodes" in refused["detail"]
    assert refused["call"] == "/tensorflow.MasterService/CreateSession"
    assert made["session"] == closed["session"] and made["level"] == "info"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made["time"])


def test_the_log_may_be_text(tmp_path):
    server = Served(tmp_path, "--log-format", "text")
    _run_steps(server.target, 1)
    server.end()
    lines = server.said().splitlines()
    assert len(lines) == 5 and all(" info " in line for line in lines)
    assert re.search(r" session_made session=\"\w+\" detail=\"\"$", lines[1])


def test_callers_without_a_token_are_counted(tmp_path):
    (tmp_path / "token").write_text("secret")
    server = Served(tmp_path, "--token-file", tmp_path / "token", "--log-format", "json")
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.UnauthenticatedError):
            sess.run(tf.constant(1))
    assert server.numbers()["rheos_calls_refused_total"] == 1
    server.end()
    refused = json.loads(server.said().splitlines()[1])
    assert refused["event"] == "call_refused" and "127.0.0.1" in refused["call"]
    assert "secret" not in server.said()


def test_a_port_that_is_taken_is_an_error(tmp_path):
    server = Served(tmp_path)
    done = subprocess.run(
        [COMMAND, "serve", "--cluster", tmp_path / "cluster.json", "--job", "worker",
         "--metrics-port", str(server.port)],
        capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert done.returncode == 1 and "could not answer at 127.0.0.1" in done.stderr
    server.end()
