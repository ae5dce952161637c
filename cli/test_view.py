"""`rheos view`: the hierarchy as JSON and for Graphviz, logs, the server, programs."""

import http.client
import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import rheos.v1 as tf
from viewing import BUILD, GOLDEN, TRAINING, json_of, logs, served, view, write_graph

__all__ = ["logs"]  # a fixture


class Items:
    """The items of a graph by their paths."""

    def __init__(self, graph):
        self.graph, self.groups, self.size = graph, graph["groups"], len(graph["label"])
        self.labels = graph["label"] + self.groups["label"]
        self.parents = graph["parent"] + self.groups["parent"]

    def kind(self, item):
        return 0 if item < self.size else self.groups["kind"][item - self.size]

    def members(self, item):
        return [i for i, parent in enumerate(self.parents) if parent == item]

    def named(self, label):
        return [i for i, own in enumerate(self.labels) if own == label]

    def links(self, item):
        flat = self.graph["links"][item - self.size]
        return {tuple(flat[k : k + 2]): flat[k + 2 : k + 6] for k in range(0, len(flat), 6)}


def test_scopes_come_from_names_and_links_are_lifted(tmp_path):
    path = write_graph(
        tmp_path / "g.pbtxt",
        ("x", "Placeholder"),
        ("a/in", "Relu", "x"),
        ("a/out", "Relu", "a/in"),
        ("a", "Neg", "a/out"),
        ("b/deep/er/one", "Relu", "a"),
        ("b/deep/er/two", "Relu", "a", "^x"),
    )
    items = Items(json_of(path)["graphs"][0])
    root = items.size
    assert sorted(items.labels[i] for i in items.members(root)) == ["a", "b/deep/er", "x"]
    (a,), (b,), (x,) = items.named("a"), items.named("b/deep/er"), items.named("x")
    assert sorted(items.labels[i] for i in items.members(a)) == ["", "in", "out"]
    links = items.links(root)
    assert links[x, a][:2] == [1, 0] and links[a, b][:2] == [2, 0] and links[x, b][:2] == [0, 1]
    assert len(links) == 3


def test_alike_layers_are_a_series_and_others_are_not(tmp_path):
    nodes, last = [("x", "Placeholder")], "x"
    for i in range(4):
        scope = "layer" if i == 0 else f"layer_{i}"
        second = "Relu" if i != 3 else "Tanh"
        nodes += [(f"{scope}/one", "Neg", last), (f"{scope}/two", second, f"{scope}/one")]
        last = f"{scope}/two"
    items = Items(json_of(write_graph(tmp_path / "g.pbtxt", *nodes))["graphs"][0])
    (series,) = [i for i in range(items.size, len(items.labels)) if items.kind(i) == 2]
    assert [items.labels[i] for i in items.members(series)] == ["layer", "layer_1", "layer_2"]
    assert items.parents[items.named("layer_3")[0]] == items.size


def test_no_group_has_more_boxes_than_can_be_drawn(tmp_path):
    nodes = [("x", "Placeholder"), ("y", "Placeholder")]
    for i in range(3000):
        nodes.append((f"n{i}", ["Neg", "Abs", "Exp"][i * i % 3], "x" if i < 9 else f"n{i * 7 % i}"))
    items = Items(json_of(write_graph(tmp_path / "g.pbtxt", *nodes))["graphs"][0])
    counts = [len(items.members(i)) for i in range(items.size, len(items.labels))]
    assert max(counts) <= 120 and sum(counts) == 3002 + len(counts) - 1


def test_auxiliary_nodes_stand_aside():
    graph = json_of(TRAINING)["graphs"][0]
    items = Items(graph)
    (save,) = items.named("save")
    assert graph["groups"]["aside"][save - items.size] == 3
    assert graph["aside"][items.named("loss")[0]] == 0
    assert {1, 2, 3, 4} <= set(graph["aside"])


def test_functions_are_graphs_that_nodes_call():
    data = json_of(GOLDEN / "saved_models" / "functions")
    calls = data["graphs"][0]["calls"]
    assert calls and all(0 < g < len(data["graphs"]) for g in calls[2::3])
    called = data["graphs"][calls[2]]
    assert data["strings"][called["op"][0]] == "_Arg"


def test_bodies_have_dtypes_and_outputs_by_number(tmp_path):
    text = """
      library { function { signature { name: "F" input_arg { name: "x" type: DT_FLOAT }
          output_arg { name: "r" type: DT_INT32 } }
        node_def { name: "top" op: "TopKV2" input: "x" input: "k:output:0"
          attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "k" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
          attr { key: "_output_shapes" value { list { shape { } } } } }
        ret { key: "r" value: "top:indices:0" } } }
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "f" op: "PartitionedCall" input: "x"
        attr { key: "f" value { func { name: "F" } } }
        attr { key: "Tin" value { list { type: DT_FLOAT } } }
        attr { key: "Tout" value { list { type: DT_INT32 } } } }
    """
    (tmp_path / "g.pbtxt").write_text(text)
    data = json_of(tmp_path / "g.pbtxt")
    body, texts = data["graphs"][1], data["strings"]
    assert body["label"] == ["x", "top", "k", "r"]
    outputs = [[texts[i] for i in types] for types in body["outputs"]]
    assert outputs == [["float"], ["float", "int32"], ["int32 []"], []]
    assert body["inputs"] == [[], [0, 0, 2, 0], [], [1, 1]]


def test_for_graphviz(tmp_path):
    dot = view("--dot", TRAINING).stdout.decode()
    assert dot.startswith("digraph rheos {") and "Momentum" in dot
    done = view("--svg", TRAINING, "-o", tmp_path / "g.svg")
    if shutil.which("dot") is None:
        assert done.returncode == 1 and b"install graphviz" in done.stderr
    else:
        assert done.returncode == 0
        assert "svg" in ElementTree.parse(tmp_path / "g.svg").getroot().tag
    without = view("--svg", TRAINING, env={"PATH": str(tmp_path)})
    assert without.returncode == 1 and b"install graphviz" in without.stderr


def test_wrong_usage(tmp_path):
    assert view().returncode == 2
    assert view(TRAINING, TRAINING).returncode == 2
    assert view(TRAINING, "--json", "--dot").returncode == 2
    missing = view(tmp_path / "none.pb")
    assert missing.returncode == 1 and missing.stderr.count(b"\n") == 1
    assert view(GOLDEN / "checkpoints" / "many").returncode == 1


# ---- Folders of events


def test_a_folder_of_events_has_values_traces_and_the_graph(logs):
    data = json_of(logs)
    runs = {run["name"]: run for run in data["logs"]["runs"]}
    assert set(runs) == {"test", "train"} and data["logs"]["problems"] == []
    tags = {(tag["tag"], tag["kind"]): tag for tag in runs["train"]["tags"]}
    (scalars,) = [tag for tag in tags.values() if tag["kind"] == "scalars"]
    assert scalars["steps"] == [0, 1, 2, 3, 4]
    assert np.allclose(scalars["values"], scalars["values"][0] * np.arange(1, 6), rtol=1e-5)
    (histogram,) = [tag for tag in tags.values() if tag["kind"] == "histograms"]
    assert [sum(p["counts"]) for p in histogram["points"]] == [12] * 5
    (picture,) = [tag for tag in tags.values() if tag["kind"] == "images"]
    assert all(p["file"].startswith("iVBOR") for p in picture["points"])
    assert runs["test"]["tags"][0]["values"] == ["NaN"]
    (trace,) = runs["train"]["traces"]
    assert trace["tag"] == "last step" and trace["step"] == 4
    named = [trace["names"][i] for i in trace["slices"][::6]]
    assert "layer/Relu" in named and min(trace["slices"][3::6]) == 0
    assert len(data["graphs"][0]["label"]) > 10


def test_many_points_are_thinned_and_the_last_stays(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    for step in range(5000):
        value = tf.Summary.Value(tag="a", simple_value=float(step))
        writer.add_summary(tf.Summary(value=[value]), step)
    writer.close()
    (tag,) = json_of(tmp_path)["logs"]["runs"][0]["tags"]
    steps = tag["steps"]
    assert 400 < len(steps) <= 1000 and steps[0] == 0 and steps[-1] == 4999
    assert steps == sorted(set(steps)) and tag["values"] == steps


def test_damaged_events_are_shown_up_to_there(logs, tmp_path):
    for file in (logs / "train").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[:-20])
    done = view(tmp_path, "--json")
    assert done.returncode == 0
    assert done.stderr.startswith(b"rheos: ") and done.stderr.count(b"\n") == 1
    data = json.loads(done.stdout)
    assert len(data["logs"]["problems"]) == 1 and data["graphs"][0]["label"]
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    assert view(nothing).returncode == 1
    (nothing / "events.out.tfevents.1").write_bytes(b"")
    assert json_of(nothing)["graphs"][0]["label"] == []


def test_tags_do_not_apply_to_events(logs):
    assert view(logs, "--tags", "serve").returncode == 2


# ---- The server


def ask(port, path, method="GET", **headers):
    """The status and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_the_server_answers_only_its_own_page():
    with served(TRAINING) as port:
        status, page = ask(port, "/")
        assert status == 200 and b"rheos-view" in page
        assert ask(port, "/", Host=f"localhost:{port}")[0] == 200
        assert ask(port, "/data.json", Origin=f"http://127.0.0.1:{port}")[0] == 200
        for headers in (
            {"Host": "example.com"},
            {"Host": f"example.com:{port}"},
            {"Host": "127.0.0.1"},
            {"Origin": "http://example.com"},
            {"Origin": "null"},
            {"Origin": f"https://127.0.0.1:{port}"},
        ):
            for path in ("/", "/data.json", "/state"):
                status, body = ask(port, path, **headers)
                assert status == 403 and len(body) < 100
        assert ask(port, "/", "POST")[0] == 405
        assert ask(port, "/../etc/passwd")[0] == 404
        assert ask(port, "/state", "HEAD") == (200, b"")


def test_what_is_not_there_yet_is_served_when_it_comes(logs, tmp_path):
    with served(tmp_path / "later") as port:
        before = ask(port, "/state")
        data = json.loads(ask(port, "/data.json")[1])
        assert "no such file" in data["missing"] and data["graphs"][0]["label"] == []
        shutil.copytree(logs, tmp_path / "later")
        assert ask(port, "/state") != before
        data = json.loads(ask(port, "/data.json")[1])
        assert "missing" not in data and data["graphs"][0]["label"]


def test_plans_want_a_graph(logs):
    assert view("--plan", logs).returncode == 1
    assert view("--feed-shape", "x=1", TRAINING).returncode == 2
    missing = view("--plan", "--feed-shape", "none=1", GOLDEN / "saved_models" / "mlp")
    assert missing.returncode == 1 and missing.stdout == b""


def types_in(data, function):
    """{label: types of outputs} of a function whose name begins so."""
    graph = next(g for g in data["graphs"] if g["name"].startswith(function))
    strings = data["strings"]
    return {
        label or strings[op]: [strings[t] for t in types]
        for label, op, types in zip(graph["label"], graph["op"], graph["outputs"])
    }


def test_shapes_are_known_in_bodies_of_functions(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")

        @tf.function
        def scaled(v):
            v = tf.multiply(v, tf.ones([3]), name="product")
            n = tf.constant(0)
            while n < 2:
                v = tf.tanh(v, name="tanh")
                n += 1
            return tf.matmul(v, tf.ones([3, 5]), name="last")

        tf.identity(scaled(x), name="y")
        tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    data = json_of(tmp_path / "g.pb")
    outer = [types_in(data, g["name"]) for g in data["graphs"][1:]]
    found = {label: types for function in outer for label, types in function.items()}
    assert found["product"] == ["float [?,3]"] and found["last"] == ["float [?,5]"]
    assert found["tanh"] == ["float [?,3]"]


def test_functions_that_cannot_be_inferred_have_what_their_ops_say(tmp_path):
    library = """
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      library { function {
        signature { name: "f" input_arg { name: "a" type: DT_FLOAT } }
        node_def { name: "n" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "m" op: "Neg" input: "none:y:0"
                   attr { key: "T" value { type: DT_FLOAT } } }
      } }
    """
    (tmp_path / "g.pbtxt").write_text(library)
    found = types_in(json_of(tmp_path / "g.pbtxt"), "f")
    assert found["n"] == ["float"] and found["m"] == ["float"]


@pytest.fixture
def branches(tmp_path):
    """Two outputs, each of an input of its own; of one not even the rank is known."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        other = tf.placeholder(tf.float32, name="other")
        tf.nn.relu(tf.matmul(x, tf.ones([3, 2]), name="product"), name="y")
        z = tf.square(other, name="z")
        w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        tf.group(tf.assign_add(w, z, name="add"), name="end")
        return tf.train.write_graph(graph, str(tmp_path), "branches.pb", as_text=False)


def entries_of(*arguments):
    done = view("--json", "--plan", *arguments)
    assert done.returncode == 0, done.stderr
    return {entry["name"] for entry in json.loads(done.stdout)["plan"]["entries"]}


def test_a_plan_is_for_what_is_fetched(branches):
    assert b"--feed-shape other" in view("--json", "--plan", branches).stderr
    assert {"y"} <= entries_of("--fetch", "y", branches)
    assert {"product"} <= entries_of("--fetch", "product:0", branches)
    assert "z" not in entries_of("--fetch", "y", branches)
    # An operation without outputs is a target.
    names = entries_of("--fetch", "end", "--feed-shape", "other=2", branches)
    assert {"z", "add"} <= names and "y" not in names
    for arguments, status, words in (
        (("--plan", "--fetch", "none"), 1, b"none"),
        (("--plan", "--fetch", "y", "--feed-shape", "other=2"), 1, b"none of the inputs"),
        (("--fetch", "y"), 2, b"--fetch go with --plan"),
    ):
        done = view(*arguments, branches)
        assert done.returncode == status and words in done.stderr, done.stderr


def test_a_served_page_has_the_plan(branches):
    with served(branches, "--plan", "--fetch", "y") as port:
        data = json.loads(ask(port, "/data.json")[1])
        assert "y" in {entry["name"] for entry in data["plan"]["entries"]}
    with served(branches, "--plan") as port:
        data = json.loads(ask(port, "/data.json")[1])
        assert "plan" not in data and "--feed-shape other" in data["missing"]
        assert data["graphs"][0]["label"]


def test_traces_of_runs_are_beside_a_graph(branches, logs, tmp_path):
    trace = tmp_path / "trace.json"
    rheos = [BUILD / "bin" / "rheos", "bench", branches, "--fetch", "y", "--shape", "x=5,3"]
    subprocess.run([*rheos, "--runs", "2", "--trace", trace], check=True, capture_output=True)
    work = [e["args"] for e in json.loads(trace.read_text())["traceEvents"] if e.get("cat") == "Op"]
    assert any(args.get("flops", 0) >= 2 * 5 * 3 * 2 for args in work)
    assert all(args.get("bytes", 1) > 0 for args in work)
    told = json.loads(view("--json", "--trace", trace, branches).stdout)["traced"]
    assert told["text"] == trace.read_text() and told["gflops"] > 0 and told["gbytes"] > 0
    (tmp_path / "none.json").write_text("{}")
    for arguments in (
        ("--trace", tmp_path / "missing.json", branches),
        ("--trace", tmp_path / "none.json", branches),
        ("--trace", trace, logs),
    ):
        done = view(*arguments)
        assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done


def test_wrong_usage_of_the_server():
    assert view(TRAINING, "--serve", "--port", "x").returncode == 2
    assert view(TRAINING, "--serve", "--port", "65536").returncode == 2
    assert view(TRAINING, "--port", "1").returncode == 2
    assert view(TRAINING, "--serve", "--trace", "x.json").returncode == 2
    assert view(TRAINING, "--serve", "-o", "x.html").returncode == 2


# ---- Programs


PROGRAM = """
import tensorflow.compat.v1 as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.nn.relu(tf.matmul(x, tf.ones([3, 2])), name="y")
with tf.Session() as session:
    for i in range(11):
        result = session.run(y, {x: [[1, 2, 3]]})
    print(result.tolist())
"""


def run_with_view(folder, text, *options):
    (folder / "program.py").write_text(text)
    return subprocess.run(
        [BUILD / "bin" / "rheos", "run", *options, "program.py"],
        capture_output=True, text=True, timeout=120, cwd=folder,
    )  # fmt: skip


def test_a_program_is_recorded_with_lines_and_steps(tmp_path):
    done = run_with_view(tmp_path, PROGRAM, "--view")
    assert done.returncode == 0 and done.stdout == "[[6.0, 6.0]]\n"
    assert "view http://127.0.0.1:" in done.stderr or "libmicrohttpd" in done.stderr
    data = json_of(tmp_path / "program.view")
    graph = data["graphs"][0]
    (y,) = [i for i, label in enumerate(graph["label"]) if label == "y"]
    assert data["strings"][graph["source"][y]] == f"{tmp_path / 'program.py'}:4"
    traces = [trace for run in data["logs"]["runs"] for trace in run["traces"]]
    assert [trace["step"] for trace in traces] == [2, 10]
    assert all("y" in trace["names"] for trace in traces)


def test_a_function_is_recorded_where_there_is_no_session(tmp_path):
    text = """
import tensorflow as tf
@tf.function
def f(x):
    return tf.reduce_sum(x * 2)
print(f(tf.ones([3])).numpy())
raise SystemExit(3)
"""
    done = run_with_view(tmp_path, text, "--view=there")
    assert done.returncode == 3 and done.stdout == "6.0\n"
    data = json_of(tmp_path / "there")
    ops = {data["strings"][i] for i in data["graphs"][0]["op"]}
    assert {"Mul", "Sum"} <= ops


def test_a_folder_that_cannot_be_made_ends_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_with_view(tmp_path, PROGRAM, "--view=file/x")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and done.stdout == ""
