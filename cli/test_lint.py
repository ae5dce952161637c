"""`rheos lint`: graphs, saved models, programs; what is printed, and the exit status."""

import json
import os
import re
import shutil
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
    done = lint("--for=5s", write(tmp_path / "waits.py", text))
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


UNKNOWN = b"\xfa\x7f\x03abc"  # a field of a later TensorFlow, at a message's end


def with_copies(folder):
    """A session of a model with copies of nodes, a loop, and some that nothing needs."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=tf.ones([3, 2]))
    a, b = tf.exp(-x), tf.exp(-x)
    named = tf.exp(-x, name="named")
    tf.add_to_collection("named", named)
    with tf.control_dependencies([w]):
        tf.tanh(x, name="waited")
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    y = tf.matmul(a + b + named + tf.cast(loop, tf.float32), w, name="y")
    tf.reduce_sum(tf.square(y), name="beside")
    return x, y


def nodes_of(graph):
    return {node.name: node.SerializeToString() for node in graph.node}


def test_mending_a_meta_graph_keeps_all_else(tmp_path):
    path, values = tmp_path / "model.meta", [[1.0, 2.0, 3.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = with_copies(tmp_path)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
        wanted = session.run(y, {x: values})
    path.write_bytes(path.read_bytes() + UNKNOWN)
    before = tf.MetaGraphDef.FromString(path.read_bytes())
    done = lint("--fix", str(path))
    assert re.match(r"rheos: [1-9]\d* nodes went, '.*model.meta' is written\n", done.stderr), done
    assert path.read_bytes().endswith(UNKNOWN)
    after = tf.MetaGraphDef.FromString(path.read_bytes())
    one, two = nodes_of(before.graph_def), nodes_of(after.graph_def)
    assert set(two) < set(one) and {"named", "waited", "beside", "Exp"} <= set(two)
    assert "Exp_1" not in two
    changed = [name for name in two if one[name] != two[name]]
    assert 1 <= len(changed) <= 3
    names = [node.name for node in before.graph_def.node]
    assert [n for n in names if n in two] == [node.name for node in after.graph_def.node]
    for message in (before, after):
        del message.graph_def.node[:]
    assert before.SerializeToString() == after.SerializeToString()
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(str(path))
        saver.restore(session, str(tmp_path / "model"))
        assert (session.run("y:0", {"x:0": values}) == wanted).all()
        assert tf.get_collection("named")[0].op.name == "named"
    assert lint("--fix", str(path)).stderr.startswith("rheos: 0 nodes went")


def test_mending_a_meta_graph_for_outputs(tmp_path):
    with tf.Graph().as_default():
        with_copies(tmp_path)
        tf.train.export_meta_graph(str(tmp_path / "g.meta"))
    out = tmp_path / "h.meta"
    lint("--fix", "--outputs", "y", str(tmp_path / "g.meta"), "-o", str(out))
    names = {n.name for n in tf.MetaGraphDef.FromString(out.read_bytes()).graph_def.node}
    assert {"y", "named", "w", "w/Assign"} <= names  # collections tell of the variable
    assert names.isdisjoint({"beside", "waited", "Exp_1"})


@pytest.mark.parametrize("as_text", [False, True])
def test_mending_a_saved_model(tmp_path, as_text):
    folder, values = tmp_path / "model", [[1.0, 2.0, 3.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = with_copies(tmp_path)
        session.run(tf.global_variables_initializer())
        wanted = session.run(y, {x: values})
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder))
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save(as_text)
    done = lint("--fix", str(folder))
    assert re.match(r"rheos: [1-9]\d* nodes went", done.stderr) and done.returncode == 0, done
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(folder))
        assert (session.run("y:0", {"x:0": values}) == wanted).all()
        names = {operation.name for operation in graph.get_operations()}
    assert names.isdisjoint({"beside", "waited", "Exp_1"}) and "named" in names


def test_models_of_tensorflow_run_when_they_are_mended(tmp_path):
    for name in ("mlp", "functions", "tables"):
        folder = tmp_path / name
        shutil.copytree(GOLDEN / "saved_models" / name, folder)
        before = command("show", "--json", str(folder))
        done = lint("--fix", str(folder))
        assert done.returncode == 0 and "nodes went" in done.stderr, done
        told = [json.loads(s.stdout) for s in (before, command("show", "--json", str(folder)))]
        assert told[0]["signatures"] == told[1]["signatures"]


def test_damaged_files_are_not_mended(tmp_path):
    path = tmp_path / "cut.meta"
    whole = (GOLDEN / "meta_graphs" / "training.meta").read_bytes()
    path.write_bytes(whole[:-100])
    done = lint("--fix", str(path))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert path.read_bytes() == whole[:-100]


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


def of_a_variable(resource):
    w = tf.get_variable("w", [3], use_resource=resource)
    return tf.multiply(w, 2.0, name="y")


def of_a_scope():
    with tf.variable_scope("a/b"):
        w = tf.get_variable("w", [3])
    return tf.tanh(w, name="y")


def of_two():
    v, w = tf.get_variable("v", [2, 2]), tf.get_variable("w", [2, 2])
    return tf.matmul(v, w, name="y")


def of_a_gradient():
    w = tf.get_variable("w", [3])
    return tf.identity(tf.gradients(tf.reduce_sum(w * w), w)[0], name="y")


def of_a_constant():
    return tf.tanh(tf.constant([1.0]), name="y")


UNINITIALIZED = {  # how many variables each has
    "reference": (lambda: of_a_variable(False), 1),
    "resource": (lambda: of_a_variable(True), 1),
    "scope": (of_a_scope, 1),
    "two": (of_two, 2),
    "gradient": (of_a_gradient, 1),
}


def uninitialized(folder, message, *options):
    (folder / "g.pb").write_bytes(message.SerializeToString())
    found = json.loads(lint("--json", "--notes", *options, str(folder / "g.pb")).stdout)
    return [f["node"] for f in found if f["rule"] == "uninitialized-variable"]


@pytest.mark.parametrize("build", UNINITIALIZED.values(), ids=UNINITIALIZED)
def test_variables_that_nothing_initializes_are_found(tmp_path, build):
    with tf.Graph().as_default() as graph:
        build[0]()
        whole = graph.as_graph_def()
    part = tf.graph_util.extract_sub_graph(whole, ["y"])
    assert len(uninitialized(tmp_path, part)) == build[1]
    assert uninitialized(tmp_path, whole) == []


def test_variables_that_something_initializes_are_not(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        of_a_variable(False)
        tf.group(tf.global_variables_initializer(), name="begin")
        session.run(tf.global_variables_initializer())
        whole = graph.as_graph_def()
        frozen = tf.graph_util.convert_variables_to_constants(session, whole, ["y"])
        part = tf.graph_util.extract_sub_graph(whole, ["y", "begin"])
    assert uninitialized(tmp_path, frozen) == uninitialized(tmp_path, part) == []
    with tf.Graph().as_default() as graph:
        v = tf.Variable(0.0, name="v")
        tf.assign(v, tf.placeholder(tf.float32, []), name="given")
        tf.identity(v, name="y")
        part = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["y", "given"])
    assert uninitialized(tmp_path, part) == []
    with tf.Graph().as_default() as graph:
        of_a_constant()
        assert uninitialized(tmp_path, graph.as_graph_def()) == []


def test_models_are_sound():
    paths = [*GOLDEN.glob("keras_saved_models/*"), *GOLDEN.glob("saved_models/*")]
    paths = [path for path in paths if path.is_dir()]
    assert len(paths) > 10
    for path in paths:
        done = lint(str(path))
        assert done.stdout == "", path


def test_recorded_graphs_have_no_findings_but_one(tmp_path):
    """Programs of TensorFlow, each as a graph: one has placeholders that nothing takes."""
    paths = [p for suffix in ("pb", "meta") for p in sorted(GOLDEN.glob(f"*/*.{suffix}"))][::3]
    assert len(paths) > 100
    found = {}
    for path in paths:
        with tf.Graph().as_default() as graph:
            try:
                if path.suffix == ".meta":
                    tf.train.import_meta_graph(str(path))
                else:
                    message = tf.GraphDef.FromString(path.read_bytes())
                    tf.import_graph_def(message, name="")
            except (ValueError, tf.errors.OpError):
                continue  # one that shows an error
            told = sorted({f.rule for f in tf.lint(graph)})
        if told:
            found[path.stem] = told
    assert found in ({}, {"constants": ["unused-placeholder"]})


ALL_OF_A_MODULE = """
    import contextlib, importlib, io, linecache, sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import tensorflow as tf
    for name, source in importlib.import_module(sys.argv[2]).programs().items():
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, name, "exec"), {"tf": tf, "np": np, "__name__": "program"})
"""
TRUE = {  # three functions in each other, made in a loop
    "face_programs": [("gradients_through_captures_to_sources_around", "retracing")] * 3,
    "eager_programs": [],
}


@pytest.mark.parametrize("module", TRUE)
def test_programs_have_no_findings_but_those_that_are_true(tmp_path, module):
    """Two hundred programs of TensorFlow 2, recorded there."""
    script = write(tmp_path / "all.py", ALL_OF_A_MODULE)
    done = lint("--tf2", "--json", script, str(GOLDEN), module)
    assert "Traceback" not in done.stderr, done.stderr
    assert [(f["file"], f["rule"]) for f in json.loads(done.stdout)] == TRUE[module]


EXAMPLES = ["layers", "linear_regression", "digits", "gan", "recommender", "word_vectors"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_sound(name, tmp_path):
    done = lint("--for", "5s", str(SOURCE / "examples" / f"{name}.py"), cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "", done


def test_modules_and_texts_are_programs(tmp_path):
    write(tmp_path / "grow.py", GROWING)
    done = lint("-m", "grow", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and ":7: growing-graph: " in done.stdout
    text = "import tensorflow as tf; tf.placeholder(tf.float32, name=__import__('sys').argv[1])"
    done = lint("--json", "-c", text, "given")
    (found,) = json.loads(done.stdout)
    assert done.returncode == 1 and found["rule"] == "unused-placeholder"
    assert "'given'" in found["text"]
    for arguments in (["-m"], ["-c"], ["--fix", "-m", "grow"]):
        assert lint(*arguments).returncode == 2


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
        if rule["name"] != "graph-near-limit":  # tests/lint/test_lint.c has it
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
