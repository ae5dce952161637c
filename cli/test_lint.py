"""`rheos lint`: graphs, saved models, programs; what is printed, and the exit status."""

import json
import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
TESTS = [Path(__file__), *(SOURCE / "tests" / "python" / "training").glob("test_lint_*.py")]
GOLDEN = SOURCE / "tests" / "golden"


def command(name, *arguments, **options):
    return subprocess.run(
        [BUILD / "bin" / "rheos", name, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def lint(*arguments, **options):
    return command("lint", *arguments, **options)


def rules():
    return json.loads(lint("--rules", "--json").stdout)


def write(path, text):
    path.write_text(textwrap.dedent(text))
    return str(path)


GROWING = """
    import tensorflow as tf
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_sum(x)
    with tf.Session() as session:
        for i in range(15):
            session.run(tf.add(y, 1), {x: [1, 2, 3]})
    print("the end")
"""


def test_a_program_is_watched_and_told_of_by_lines(tmp_path):
    script = write(tmp_path / "grow.py", GROWING)
    done = lint(script)
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"{script}:7: growing-graph: line 7 added 28 nodes in 14 runs; build ")
    assert "the end\n" in done.stderr


def test_a_sound_program_has_no_findings(tmp_path):
    text = GROWING.replace("tf.add(y, 1)", "y")
    done = lint(write(tmp_path / "sound.py", text), "--notes-of-its-own")
    assert done.returncode == 0 and done.stdout == ""


def test_json_has_all_of_a_finding(tmp_path):
    script = write(tmp_path / "grow.py", GROWING)
    done = lint("--json", script)
    (found,) = json.loads(done.stdout)
    assert found["file"] == script and found["line"] == 7 and found["rule"] == "growing-graph"
    assert found["note"] is False and found["text"].startswith("line 7 added")


def test_time_ends_a_program(tmp_path):
    text = GROWING.replace('print("the end")', "import time\n    while True: time.sleep(1)")
    done = lint("--for", "6s", write(tmp_path / "grow.py", text))
    assert done.returncode == 1 and "growing-graph" in done.stdout


def test_time_ends_a_run_that_waits(tmp_path):
    text = """
        import tensorflow as tf
        queue = tf.FIFOQueue(3, tf.float32)
        put = queue.enqueue(1.0)
        taken = queue.dequeue()
        with tf.Session() as session:
            session.run(taken)
    """
    done = lint("--for=1s", write(tmp_path / "waits.py", text))
    assert done.returncode == 1 and ":5: queue-not-filled: " in done.stdout


def test_a_program_that_fails_is_told_of_with_its_findings(tmp_path):
    text = GROWING + "    raise ValueError('no more')\n"
    done = lint(write(tmp_path / "fails.py", text))
    assert done.returncode == 1 and "growing-graph" in done.stdout
    assert "ValueError: no more" in done.stderr and "script_lint" not in done.stderr
    done = lint(write(tmp_path / "exits.py", "import tensorflow as tf\nimport sys\nsys.exit(3)\n"))
    assert done.returncode == 1 and done.stdout == ""


def test_a_comment_keeps_a_rule_quiet(tmp_path):
    for rules in ("=growing-graph", "", "=a,growing-graph"):
        comment = "# rheos: ignore" + rules
        text = GROWING.replace("[1, 2, 3]})", "[1, 2, 3]})  " + comment)
        done = lint(write(tmp_path / "grow.py", text))
        assert done.returncode == 0 and done.stdout == ""


def test_runs_warn_by_themselves_once_and_can_be_told_not_to(tmp_path):
    script = write(tmp_path / "grow.py", GROWING.replace("range(15)", "range(50)"))
    said = command("run", script).stderr
    assert said.count("growing-graph: line 7 added 20 nodes in 10 runs") == 1
    assert "RHEOS_LINT=0 turns such warnings off" in said
    off = command("run", script, env={**os.environ, "RHEOS_LINT": "0"})
    assert off.stderr == "" and off.stdout == "the end\n"
    ignored = GROWING.replace("[1, 2, 3]})", "[1, 2, 3]})  # rheos: ignore=growing-graph")
    assert command("run", write(tmp_path / "grow.py", ignored)).stderr == ""


def test_a_program_without_loops_of_its_own_is_not_warned_of(tmp_path):
    lines = "\n".join(f"session.run(tf.add({i}, 1))" for i in range(40))
    head = "import tensorflow as tf\nsession = tf.Session()\n"
    script = write(tmp_path / "cells.py", head + lines)
    assert command("run", script).stderr == ""


# ---- Graphs


@pytest.fixture
def graph_file(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        tf.nn.softmax_cross_entropy_with_logits(
            labels=x, logits=tf.nn.softmax(x), name="loss"
        )
        a, b = tf.exp(-x), tf.exp(-x)
        tf.add(a, b, name="sum")
        tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
        tf.train.write_graph(graph, str(tmp_path), "g.pbtxt")
    return tmp_path


def test_nodes_stand_for_lines_in_files(graph_file):
    for name in ("g.pb", "g.pbtxt"):
        path = str(graph_file / name)
        done = lint(path)
        assert done.returncode == 1 and done.stderr == ""
        assert done.stdout.startswith(f"{path}:loss: double-softmax: the loss 'loss' takes ")


def test_mending_writes_a_smaller_graph(graph_file):
    done = lint("--fix", str(graph_file / "g.pb"), "-o", str(graph_file / "h.pb"))
    went = re.fullmatch(r"rheos: (\d+) nodes went, '.*h.pb' is written\n", done.stderr)
    assert done.returncode == 1 and int(went[1]) >= 2
    done = lint("--fix", "--outputs", "sum", str(graph_file / "g.pb"))
    assert done.returncode == 0 and done.stdout == ""
    graph = tf.GraphDef.FromString((graph_file / "g.pb").read_bytes())
    assert [node.name for node in graph.node] == ["x", "Neg", "Exp", "sum"]
    assert graph.node[3].input == ["Exp", "Exp"]
    done = lint("--fix", str(graph_file / "g.pbtxt"))
    assert f"rheos: {went[1]} nodes went" in done.stderr
    assert 'name: "sum"' in (graph_file / "g.pbtxt").read_text()


def save_model(folder, make):
    """A saved model of a layer and what `make` makes of it."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        h = tf.layers.dense(x, 4)
        y = make(h)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})
    return str(folder)


TRAINING_MODE = [
    lambda h: tf.nn.dropout(h, 0.5),
    lambda h: tf.layers.dropout(h, training=True),
    lambda h: tf.layers.dense(tf.nn.dropout(h, rate=0.1), 2),
    lambda h: tf.keras.layers.Dropout(0.5)(h, training=True),
    lambda h: tf.layers.batch_normalization(tf.reshape(h, [-1, 2, 2, 1]), training=True),
]
SERVING_MODE = [
    lambda h: tf.layers.dropout(h, training=False),
    lambda h: tf.keras.layers.Dropout(0.5)(h),
    lambda h: h + tf.random_uniform(tf.shape(h)),
    lambda h: tf.layers.batch_normalization(tf.reshape(h, [-1, 2, 2, 1]), training=False),
    lambda h: tf.contrib.layers.layer_norm(h),
    lambda h: tf.cast(h > 0.5, tf.float32) * h,
    lambda h: tf.layers.dropout(h, training=tf.placeholder_with_default(False, [])),
]


@pytest.mark.parametrize("make", TRAINING_MODE)
def test_what_serves_in_training_mode_is_found(tmp_path, make):
    found = json.loads(lint("--json", save_model(tmp_path / "model", make)).stdout)
    assert [each["rule"] for each in found] == ["training-mode"]


@pytest.mark.parametrize("make", SERVING_MODE)
def test_what_serves_as_it_should_has_no_findings(tmp_path, make):
    done = lint(save_model(tmp_path / "model", make))
    assert done.returncode == 0 and done.stdout == ""


def test_dropout_beside_what_serves_is_none_of_its(tmp_path):
    def make(h):
        tf.reduce_mean(tf.nn.dropout(h, 0.5), name="loss")
        return h * 2.0

    assert lint(save_model(tmp_path / "model", make)).returncode == 0


def test_variables_that_nothing_initializes_are_found(tmp_path):
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [3])
        tf.multiply(w, 2.0, name="y")
        whole = graph.as_graph_def()
    part = tf.graph_util.extract_sub_graph(whole, ["y"])
    for name, message, count in (("whole", whole, 0), ("part", part, 1)):
        (tmp_path / f"{name}.pb").write_bytes(message.SerializeToString())
        found = json.loads(lint("--json", "--notes", str(tmp_path / f"{name}.pb")).stdout)
        assert [f["rule"] for f in found] == ["uninitialized-variable"] * count


def test_models_and_recorded_graphs_are_sound():
    paths = [*GOLDEN.glob("keras_saved_models/*"), *GOLDEN.glob("saved_models/*")]
    paths += [*GOLDEN.glob("meta_graphs/*.meta"), *GOLDEN.glob("models/*.pb")]
    paths = [path for path in paths if path.suffix in (".meta", ".pb") or path.is_dir()]
    assert len(paths) > 15
    for path in paths:
        done = lint(str(path))
        assert done.stdout == "", path


def test_wrong_usage_is_told(graph_file, tmp_path):
    path = str(graph_file / "g.pb")
    wrong = [
        [],
        ["--for", "1s", path],
        [path, path],
        ["--outputs", "none", path],
        ["--tags", "serve", path],
        ["-o", "x.pb", path],
        ["--nots", path],
        ["no such file"],
        [str(SOURCE / "README.md")],
        ["--for", "soon", "x.py"],
        ["--fix", "x.py"],
        ["--tf1", "--tf2", "x.py"],
        ["no such script.py"],
    ]
    for arguments in wrong:
        done = lint(*arguments)
        assert done.returncode == 2, arguments
        assert done.stderr.startswith("rheos: ") and done.stdout == "", arguments


# ---- Rules


def test_all_rules_have_programs():
    text = "".join(path.read_text() for path in TESTS)
    for rule in rules():
        if rule["name"] != "graph-near-limit":  # it would take 2 GB
            assert f'"{rule["name"]}"' in text or f": {rule['name']}: " in text, rule["name"]


# ---- Pages


def test_the_page_has_all_rules():
    page = (SOURCE / "docs" / "lint.md").read_text()
    sections = dict(re.findall(r"^### (\S+)\n\n(.*?)(?=^### |\Z)", page, re.MULTILINE | re.DOTALL))
    assert list(sections) == [rule["name"] for rule in rules()]
    for rule in rules():
        section = sections[rule["name"]]
        assert f"Sign: {rule['sign']}.\nRemedy: {rule['remedy']}.\n" in section
        assert ("A note." in section) == rule["note"]
        assert ("Wants runs." in section) == rule["wants_runs"]
        assert "# instead\n" in section


def test_rules_are_listed_for_people():
    text = lint("--rules").stdout
    assert all(rule["name"] in text and rule["remedy"] in text for rule in rules())
