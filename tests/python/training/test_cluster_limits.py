"""What a server takes of others: ops that use files, sizes, sessions, memory."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos
import rheos.v1 as tf

COMMAND = Path(rheos.__file__).resolve().parents[2] / "bin" / "rheos"
pytestmark = [
    pytest.mark.usefixtures("grpc"),
    pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built"),
]


@pytest.fixture
def serve(tmp_path):
    """serve(*options): the target of a server with them, on a free port."""
    servers = []

    def start(*options):
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps({"worker": ["localhost:0"]}))
        command = [COMMAND, "serve", "--cluster", path, "--job", "worker", *options]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        servers.append(server)
        return server.stdout.readline().split()[1]

    yield start
    for server in servers:
        server.terminate()
        server.stdout.close()
        assert server.wait(30) == 0


# ---- Files


def _save(target, path):
    v = tf.get_variable("v", initializer=3.0)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        return tf.train.Saver().save(sess, str(path))


def test_programs_save_through_a_server_of_their_machine(serve, tmp_path):
    path = _save(serve(), tmp_path / "model")
    assert tf.train.load_variable(path, "v") == 3


@pytest.mark.parametrize("options", [("--refuse-files",), ("--bind", "0.0.0.0", "--insecure")])
def test_a_server_that_does_not_know_its_callers_refuses_files(serve, tmp_path, options):
    with pytest.raises(tf.errors.PermissionDeniedError, match="SaveV2.*uses files.*--allow-files"):
        _save(serve(*options), tmp_path / "model")
    assert not list(tmp_path.glob("model*"))


def test_files_may_be_allowed(serve, tmp_path):
    target = serve("--bind", "0.0.0.0", "--insecure", "--allow-files")
    assert tf.train.load_variable(_save(target, tmp_path / "model"), "v") == 3


def test_a_refused_graph_is_not_there_afterwards(serve, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    x = tf.constant(1)
    with tf.Session(serve("--refuse-files")) as sess:
        assert sess.run(x) == 1
        content = tf.read_file(str(secret))
        for _ in range(2):
            with pytest.raises(tf.errors.PermissionDeniedError, match="node 'ReadFile'"):
                sess.run(content)


def test_functions_hide_no_files(serve, tmp_path):
    files = tf.data.Dataset.from_tensors(str(tmp_path / "secret")).map(tf.read_file)
    content = tf.data.make_one_shot_iterator(files).get_next()
    with tf.Session(serve("--refuse-files")) as sess:
        with pytest.raises(tf.errors.PermissionDeniedError, match="function '.*ReadFile"):
            sess.run(content)


def test_what_uses_no_files_is_served(serve):
    numbers = tf.data.Dataset.range(3).cache().repeat()
    number = tf.data.make_one_shot_iterator(numbers).get_next()
    shown = tf.print("shown")
    with tf.Session(serve("--refuse-files")) as sess:
        assert [sess.run(number) for _ in range(4)] == [0, 1, 2, 0]
        sess.run(shown)


# ---- Sizes


def test_messages_are_no_larger_than_that(serve):
    x = tf.placeholder(tf.float32, [None])
    with tf.Session(serve("--max-message-bytes", "1M")) as sess:
        assert sess.run(tf.reduce_sum(x), {x: np.ones(1000)}) == 1000
        with pytest.raises(tf.errors.ResourceExhaustedError, match="1048576"):
            sess.run(tf.reduce_sum(x), {x: np.ones(1 << 20)})
        assert sess.run(tf.reduce_sum(x), {x: np.ones(1000)}) == 1000


def test_graphs_are_no_larger_than_that(serve):
    with tf.Session(serve("--max-graph-nodes", "20")) as sess:
        y = tf.constant(1.0)
        assert sess.run(y) == 1
        for _ in range(20):
            y = y + 1
        with pytest.raises(tf.errors.ResourceExhaustedError, match="--max-graph-nodes"):
            sess.run(y)


def test_large_graphs_are_refused(serve):
    y = tf.constant(np.arange(100000))
    with tf.Session(serve("--max-graph-bytes", "100K")) as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="--max-graph-bytes"):
            sess.run(y)


def test_a_server_without_memory_takes_no_calls(serve):
    with tf.Session(serve("--max-memory", "1M")) as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="--max-memory"):
            sess.run(tf.constant(1))


# ---- Options


@pytest.mark.parametrize("number", ["-1", "1X", "", "1KK", "99999999999999999999", "9999999T"])
def test_numbers_are_numbers(tmp_path, number):
    done = subprocess.run(
        [COMMAND, "serve", "--cluster", "c", "--job", "j", "--max-memory", number],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2 and "takes a number" in done.stderr
