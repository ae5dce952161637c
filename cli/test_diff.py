"""`rheos diff`: what it says of graphs, functions and checkpoints, and the exit status."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
GOLDEN = SOURCE / "tests" / "golden"


def diff(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "rheos", "diff", *arguments], capture_output=True, text=True, timeout=120
    )


def model(scope="layer", dropout=False, factor=2.0, dtype=tf.float32, swap=False):
    x = tf.placeholder(dtype, [None, 3], name="x")
    with tf.variable_scope(scope):
        w = tf.get_variable("w", [3, 4], dtype)
        y = tf.nn.relu(tf.matmul(x, w))
    if dropout:
        with tf.name_scope("dropout"):
            y = y * tf.cast(tf.random_uniform([4]) > 0.5, dtype)
    a = tf.reduce_sum(y * factor, name="loss")
    with tf.control_dependencies([a if swap else x]):
        tf.no_op(name="end")


@pytest.fixture
def written(tmp_path):
    def write(name, build=model, **arguments):
        with tf.Graph().as_default():
            build(**arguments)
            return tf.train.write_graph(
                tf.get_default_graph(), str(tmp_path), f"{name}.pb", as_text=False
            )

    return write


def lines_of(done):
    assert done.returncode == 1 and done.stderr == "", done
    *lines, counts = done.stdout.splitlines()
    assert "nodes the same" in counts or "tensors the same" in counts
    return lines


def test_the_same_graph_does_not_differ(written):
    done = diff(written("a"), written("b"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(
        "nodes the same, 0 changed, 0 by other names, 0 only in the first, 0 only in the second\n"
    )
    assert done.stdout.count("\n") == 1


def test_a_scope_of_one_side_is_one_line(written):
    lines = lines_of(diff(written("a"), written("b", dropout=True)))
    assert lines == ["+ dropout/ (11 nodes)", "~ mul: input 0 layer/Relu -> dropout/mul"]
    lines = lines_of(diff(written("b", dropout=True), written("a")))
    assert lines == ["- dropout/ (11 nodes)", "~ mul: input 0 dropout/mul -> layer/Relu"]


def test_all_names_each_node(written):
    lines = lines_of(diff("--all", written("a"), written("b", dropout=True)))
    assert "+ dropout/Cast (Cast)" in lines and len([s for s in lines if s[0] == "+"]) == 11


def test_a_renamed_scope_is_one_line(written):
    lines = lines_of(diff(written("a"), written("b", scope="dense")))
    assert lines == ["> layer/ -> dense/ (12 nodes)"]


def test_a_long_chain_by_other_names_is_one_line(tmp_path):
    for scope in ("one", "two"):
        lines, last = ['node { name: "x" op: "Placeholder" }'], "x"
        for i in range(2500):
            name, op = f"{scope}/n{i}", ["Neg", "Abs", "Exp"][i % 7 % 3]
            lines.append(f'node {{ name: "{name}" op: "{op}" input: "{last}" }}')
            last = name
        (tmp_path / f"{scope}.pbtxt").write_text("\n".join(lines))
    done = diff(tmp_path / "one.pbtxt", tmp_path / "two.pbtxt")
    assert lines_of(done) == ["> one/ -> two/ (2500 nodes)"]


def test_alike_nodes_are_the_same_in_their_order(tmp_path):
    def graph(path, *names):
        nodes = [f'node {{ name: "{n}" op: "Neg" input: "x" }}' for n in names]
        path.write_text('node { name: "x" op: "Placeholder" }' + "\n".join(nodes))
        return path

    one = graph(tmp_path / "a.pbtxt", "a", "b", "c")
    assert lines_of(diff(one, graph(tmp_path / "b.pbtxt", "d", "e", "f"))) == [
        "> a -> d", "> b -> e", "> c -> f",
    ]  # fmt: skip
    # Which of three are two others is not known.
    lines = lines_of(diff(one, graph(tmp_path / "c.pbtxt", "d", "e")))
    assert lines == ["- a (Neg)", "- b (Neg)", "- c (Neg)", "+ d (Neg)", "+ e (Neg)"]


def test_changes_are_named(written):
    assert lines_of(diff(written("a"), written("b", factor=3.0))) == [
        "~ mul/y: attribute value float []  2 -> float []  3"
    ]
    assert lines_of(diff(written("a"), written("b", swap=True))) == [
        "~ end: waits for x -> (none), waits for (none) -> loss"
    ]
    lines = lines_of(diff(written("a"), written("b", dtype=tf.float64)))
    assert "~ layer/MatMul: attribute T float -> double" in lines


def other_op(op):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device("/cpu:1" if op == "Neg" else None):
        tf.identity({"Neg": tf.negative, "Exp": tf.exp}[op](x, name="y"), name="z")


def test_another_op_or_device_of_the_same_name_is_a_change(written):
    one, two = written("a", other_op, op="Neg"), written("b", other_op, op="Exp")
    assert lines_of(diff(one, two)) == [
        "~ y: op Neg -> Exp, device /device:CPU:1 -> (none)",
        "~ z: device /device:CPU:1 -> (none)",
    ]


def with_function(power, name="f"):
    @tf.function
    def f(x):
        return x**power + 1.0

    f.__name__ = name
    tf.identity(f(tf.constant([1.0, 2.0])), name="y")


def test_functions_are_compared_whatever_number_their_names_end_in(written):
    one = written("a", with_function, power=2.0)
    assert diff(one, written("b", with_function, power=2.0)).returncode == 0
    lines = lines_of(diff(one, written("c", with_function, power=3.0)))
    assert len(lines) == 2 and lines[0].startswith("~ function ")
    assert lines[1].startswith("    ~ ") and lines[1].endswith("float []  2 -> float []  3")


def test_json_has_all_that_the_text_says(written):
    done = diff("--json", written("a"), written("b", scope="dense", dropout=True, factor=3.0))
    told = json.loads(done.stdout)
    assert done.returncode == 1 and told["kind"] == "graphs"
    assert len(told["only_in_b"]) == 11 and told["only_in_a"] == []
    assert {"a": "layer/w", "b": "dense/w"} in told["renamed"]
    changes = {node["name"]: node["changes"] for node in told["changed"]}
    assert changes == {
        "mul": [{"what": "input", "which": "0", "a": "layer/Relu", "b": "dropout/mul"}],
        "mul/y": [
            {"what": "attribute", "which": "value", "a": "float []  2", "b": "float []  3"}
        ],
    }
    counts = told["counts"]
    assert (counts["changed"], counts["renamed"], counts["only_in_b"]) == (2, 12, 11)


def test_saved_models_are_compared_with_graphs_in_them():
    models = GOLDEN / "saved_models"
    assert diff(models / "mlp", models / "mlp").returncode == 0
    assert diff(models / "mlp", models / "tables").returncode == 1


# ---- Checkpoints


@pytest.fixture
def saved(tmp_path):
    def save(name, **values):
        with tf.Graph().as_default(), tf.Session() as session:
            for key, value in values.items():
                tf.get_variable(key, initializer=value)
            session.run(tf.global_variables_initializer())
            return tf.train.Saver().save(session, str(tmp_path / name))

    return save


def test_tensors_of_checkpoints(saved):
    one = saved("a", same=[1.0, 2.0], v=[1.0, 2.0, 3.0], gone=1.0, shape=[1, 2], text="x")
    two = saved("b", same=[1.0, 2.0], v=[1.0, 2.5, 2.0], new=[1.0], shape=[1, 2, 3], text="y")
    assert diff(one, one).returncode == 0
    assert lines_of(diff(one, two)) == [
        "- gone  float []",
        "~ shape: int32 [2] -> int32 [3]",
        '~ text: 1 of 1 elements differ; element 0: "x" -> "y"',
        "~ v: 2 of 3 elements differ, by 1 at most; element 1: 2 -> 2.5",
        "+ new  float [1]",
    ]
    told = json.loads(diff("--json", one, two).stdout)
    assert told["counts"] == {"same": 1, "changed": 3, "only_in_a": 1, "only_in_b": 1}
    assert {"name": "v", "differing": 2, "elements": 3, "largest": 1.0, "first": 1} in told[
        "tensors"
    ]


def test_numbers_may_be_near(saved):
    one, two = saved("a", v=[1.0, 100.0]), saved("b", v=[1.00001, 100.001])
    assert diff("--tolerance", "1e-4", one, two).returncode == 0
    assert diff("--tolerance", "1e-6", one, two).returncode == 1
    nan = saved("c", v=[float("nan"), 1.0])
    assert diff(nan, nan).returncode == 0 and diff(nan, one).returncode == 1


# ---- Both on a page


def page_of(one, two, folder):
    page = folder / "both.html"
    done = diff("-o", page, one, two)
    assert (done.stdout, done.stderr) == ("", ""), done
    html = page.read_text()
    data = html.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    return json.loads(data), done.returncode


def names_of(data, graph=0):
    """Each node's name, as the page puts it together, and the outputs' types."""
    columns, strings = data["graphs"][graph], data["strings"]
    groups, size = columns["groups"], len(columns["label"])
    names = {}
    for label, parent, outputs in zip(columns["label"], columns["parent"], columns["outputs"]):
        parts = [label] if label else []
        while parent != size:
            if groups["kind"][parent - size] == 1:
                parts.insert(0, groups["label"][parent - size])
            parent = groups["parent"][parent - size]
        names["/".join(parts)] = [strings[number] for number in outputs]
    return names


def test_a_page_has_the_nodes_of_both_and_what_differs(written, tmp_path):
    one, two = written("a", dropout=True), written("b", factor=3.0)
    data, status = page_of(one, two, tmp_path)
    assert status == 1 and data["title"] == f"{one} -> {two}"
    told = json.loads(diff("--json", one, two).stdout)
    assert data["diff"] == told and len(told["only_in_a"]) == 11
    names = names_of(data)
    assert {node["name"] for node in told["only_in_a"]} < set(names) and "layer/Relu" in names
    # What went has the types that it had, and takes what it took.
    assert names["dropout/Greater"] == ["bool [4]"] and names["mul"] == ["float [?,4]"]
    columns = data["graphs"][0]
    taken = columns["inputs"][list(names).index("dropout/mul")]
    assert list(names)[taken[0]] == "layer/Relu"
    assert page_of(one, one, tmp_path)[1] == 0


def test_a_page_has_the_functions_of_both(written, tmp_path):
    one = written("a", with_function, power=2.0)
    data, status = page_of(one, written("c", with_function, power=3.0), tmp_path)
    assert status == 1 and len(data["graphs"]) == 2
    for name in ("f", "g"):
        function = """library {{ function {{
          signature {{ name: "{}" input_arg {{ name: "x" type: DT_FLOAT }}
                       output_arg {{ name: "y" type: DT_FLOAT }} }}
          node_def {{ name: "n" op: "Neg" input: "x"
                      attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
          ret {{ key: "y" value: "n:y:0" }} }} }}"""
        (tmp_path / f"{name}.pbtxt").write_text(function.format(name))
    data, status = page_of(tmp_path / "f.pbtxt", tmp_path / "g.pbtxt", tmp_path)
    assert status == 1 and len(data["graphs"]) == 3
    assert {f.get("only_in") for f in data["diff"]["functions"]} == {"a", "b"}


def test_names_on_a_page_of_two_stay_names(tmp_path):
    hostile = "</script><script>document.title='owned'</script>"
    for name, op in (("a", "Neg"), ("b", "Abs")):
        text = f"node {{ name: {json.dumps(hostile)} op: {json.dumps(op)} }}"
        (tmp_path / f"{name}.pbtxt").write_text(text)
    data, _ = page_of(tmp_path / "a.pbtxt", tmp_path / "b.pbtxt", tmp_path)
    assert data["diff"]["changed"][0]["name"] == hostile
    assert "<script>document" not in (tmp_path / "both.html").read_text()


# ---- Plans


def steps(last="exp", factor=2.0, activation=tf.nn.relu, given=False):
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    w = tf.placeholder(tf.float32, [3, 2], name="w") if given else tf.ones([3, 2], name="w")
    scaled = tf.multiply(w, factor, name="scaled")
    h = tf.matmul(x, scaled, name="product")
    h = activation(h, name="y") if activation else tf.reduce_max(h, 0, keepdims=True, name="y")
    h = {"exp": tf.exp, "sum": tf.cumsum}[last](tf.square(h, name="square"), name="last")
    return tf.identity(h, name="end")


def test_plans_of_the_same_graph_do_not_differ(written):
    one = written("a", steps)
    done = diff("--plan", one, one)
    assert (done.returncode, done.stderr) == (0, "")
    counts = r"[1-9]\d* entries the same, 0 changed(, 0 only in the \w+){2}\n"
    assert re.fullmatch(counts, done.stdout)


def test_plans_tell_what_rules_did_otherwise(written):
    one, two = written("a", steps), written("b", steps, activation=None)
    done = diff("--plan", one, two)
    assert done.returncode == 1 and done.stderr == ""
    assert "+ product (MatMul); the first plan has it in y, by take_activation\n" in done.stdout
    assert "~ y: op _FusedMatMul with Relu by take_activation -> Max" in done.stdout
    assert "- product" in diff("--plan", two, one).stdout
    done = diff("--plan", one, written("c", steps, activation=tf.sigmoid))
    words = "~ y: op _FusedMatMul with {} by take_activation"
    assert words.format("Relu") + " -> _FusedMatMul with Sigmoid by" in done.stdout
    told = json.loads(diff("--plan", "--json", one, two).stdout)
    product = next(each for each in told["only_in_b"] if each["name"] == "product")
    assert (product["op"], product["taken_into"]) == ("MatMul", "y")
    assert product["by"] == "take_activation"
    counts = told["counts"]
    assert counts["changed"] == len(told["changed"]) > 0
    assert counts["only_in_b"] == len(told["only_in_b"])


def test_plans_tell_of_loops_and_of_what_is_folded(written):
    done = diff("--plan", written("a", steps), written("b", steps, last="sum"))
    lines = done.stdout.splitlines()
    assert "~ square: runs with last, by elementwise_fusion -> alone" in lines
    assert any(line.startswith("~ last: op Exp -> Cumsum, runs with square") for line in lines)
    done = diff("--plan", written("a", steps), written("c", steps, given=True))
    assert "~ scaled: runs folded by constant_folding -> alone\n" in done.stdout


def test_plans_of_two_fetches_and_from_files(written, tmp_path):
    path = written("a", steps)
    for name in ("product", "last"):
        shown = [BUILD / "bin" / "rheos", "show", "--plan", "--json", "--fetch", name, path]
        text = subprocess.run(shown, capture_output=True, check=True).stdout
        (tmp_path / f"{name}.json").write_bytes(text)
    one, two = tmp_path / "product.json", tmp_path / "last.json"
    lines = diff("--plan", one, two).stdout.splitlines()
    assert "+ last (Exp)" in lines and "- product (MatMul)" in lines[0]
    assert diff("--plan", "--fetch", "last", path, two).returncode == 0
    assert diff("--plan", one, one).returncode == 0


def test_bodies_of_plans_are_compared(written):
    loops = {}
    for name, op in (("a", tf.exp), ("b", tf.sin)):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [2], name="x")
            body = lambda i, v: (i + 1, op(v, name="step"))  # noqa: B023, E731
            done = tf.while_loop(lambda i, v: i < 3, body, [tf.constant(0), x], name="loop")
            tf.identity(done[1], name="end")
            folder = Path(written("unused", steps)).parent
            loops[name] = tf.train.write_graph(
                tf.get_default_graph(), str(folder), f"loop_{name}.pb", as_text=False
            )
    lines = diff("--plan", loops["a"], loops["b"]).stdout.splitlines()
    assert any(line.startswith("~ body of ") for line in lines), lines
    assert any(line.startswith("    ~ loop/step: op Exp -> Sin") for line in lines), lines


def test_what_is_no_plan_is_said(written, tmp_path):
    path = written("a", steps)
    texts = {
        "empty": "", "cut": '{"entries": [{"entry": 0', "list": "[]", "none": "{}",
        "names": '{"entries": [{"entry": 0}]}', "order": '{"entries": [{"entry": 1, "name": "a"}, '
        '{"entry": 0, "name": "b"}]}', "deep": "[" * 100000,
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_text(text)
        done = diff("--plan", tmp_path / f"{name}.json", path)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, (name, done)
    for arguments in (
        ("--plan", "--all", path, path),
        ("--fetch", "y", path, path),
        ("--plan", "-o", "x.html", path, path),
        ("--plan", "--fetch", "none", path, path),
        ("--plan", path, tmp_path / "missing.json"),
    ):
        done = diff(*arguments)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done


# ---- What cannot be compared


def test_what_cannot_be_compared_is_said(written, saved, tmp_path):
    graph, checkpoint = written("a"), saved("c", v=1.0)
    (tmp_path / "cut.pb").write_bytes(Path(graph).read_bytes()[:-3])
    for arguments, words in (
        ((graph,), "two paths"),
        ((graph, checkpoint), "only graphs and checkpoints"),
        ((graph, tmp_path / "none.pb"), "none.pb"),
        ((graph, tmp_path / "cut.pb"), "cut.pb"),
        (("--tolerance", "x", checkpoint, checkpoint), "no number"),
        (("--tolerance", "1", graph, graph), "--tolerance"),
        (("-o", tmp_path / "x.html", checkpoint, checkpoint), "-o"),
        (("--json", "-o", tmp_path / "x.html", graph, graph), "--json and --all"),
        (("-o", tmp_path / "none" / "x.html", graph, graph), "x.html"),
    ):
        done = diff(*arguments)
        assert done.returncode == 2 and done.stdout == "", done
        assert done.stderr.startswith("rheos: ") and words in done.stderr, done
        assert done.stderr.count("\n") == 1
