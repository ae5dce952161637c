"""`rheos convert`: other forms of graphs, models and checkpoints that mean the same."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
GOLDEN = SOURCE / "tests" / "golden"


def run_convert(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "rheos", "convert", *arguments], capture_output=True, timeout=60
    )


def ok(*arguments):
    done = run_convert(*arguments)
    assert done.returncode == 0 and done.stdout == done.stderr == b"", done.stderr


def fails(*arguments, status=1):
    done = run_convert(*arguments)
    assert done.returncode == status, done
    line = done.stderr.decode()
    assert line.startswith("rheos: ") and line.count("\n") == 1
    return line


def graph_in(path):
    return tf.GraphDef.FromString(path.read_bytes())


def run_graph(graph_def, fetches, feeds=None):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(fetches, feeds)


# ---- Messages and text


@pytest.mark.parametrize("name", ["constants", "functions", "loops", "structure", "training"])
def test_a_graph_to_text_and_back(tmp_path, name):
    original = GOLDEN / "graphs" / f"{name}.pb"
    ok(original, tmp_path / "g.pbtxt")
    assert (tmp_path / "g.pbtxt").read_text().startswith("node {")
    ok(tmp_path / "g.pbtxt", tmp_path / "g.pb")
    again, wanted = graph_in(tmp_path / "g.pb"), graph_in(original)
    # Not as messages: a NaN differs from itself.
    assert again.SerializeToString(deterministic=True) == wanted.SerializeToString(
        deterministic=True
    )
    ok("--to=pbtxt", original, tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == (tmp_path / "g.pbtxt").read_bytes()
    ok("--to", "pb", tmp_path / "other", tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "g.pb").read_bytes()


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def trained(request, tmp_path):
    """y = gathered rows of w, times v, in all forms."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.int32, [None], name="x")
        with tf.variable_scope("", use_resource=request.param):
            w = tf.get_variable("w", [4, 2], initializer=tf.random_normal_initializer(seed=1))
            v = tf.get_variable("v", [], initializer=tf.constant_initializer(3.0))
        y = tf.multiply(tf.gather(w, x), v, name="y")
        tf.identity(tf.assign_add(v, 1.0), name="more")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
        (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"in": x}, {"out": y})
        expected = session.run(y, {x: [3, 0, 3]})
    return tmp_path, expected


def test_meta_graphs_and_saved_models_to_text_and_back(trained):
    folder, _ = trained
    for name, kind in (("model.ckpt.meta", tf.MetaGraphDef), ("saved/saved_model.pb", None)):
        ok(folder / name, folder / "m.pbtxt")
        ok(folder / "m.pbtxt", folder / "m.pb")
        if kind is not None:
            there = kind.FromString((folder / name).read_bytes())
            assert kind.FromString((folder / "m.pb").read_bytes()) == there
        shown = [
            subprocess.run(
                [BUILD / "bin" / "rheos", "show", "--json", folder / path],
                capture_output=True,
                timeout=60,
            )
            .stdout.decode()
            .split("\n", 4)[4]
            for path in (name, "m.pb")
        ]
        assert shown[0] == shown[1] and "signatures" in shown[0]


# ---- Frozen and stripped


@pytest.mark.parametrize(
    "arguments",
    [
        ("--freeze", "--checkpoint={}/model.ckpt", "--outputs=y", "{}/graph.pb"),
        ("--freeze", "--outputs=y", "{}/model.ckpt.meta"),
        ("{}/saved",),
        ("--outputs=out", "{}/saved"),
        ("--freeze", "--outputs=y:0", "--tags=serve", "{}/saved/saved_model.pb"),
    ],
)
def test_variables_become_constants(trained, arguments):
    folder, expected = trained
    ok(*(a.format(folder) for a in arguments), folder / "frozen.pb")
    frozen = graph_in(folder / "frozen.pb")
    ops = {n.op for n in frozen.node}
    assert ops <= {"Placeholder", "Const", "Identity", "GatherV2", "Mul"}
    assert "more" not in {n.name for n in frozen.node}
    assert (run_graph(frozen, "y:0", {"x:0": [3, 0, 3]}) == expected).all()


def test_a_frozen_graph_is_what_python_makes_of_it(trained):
    folder, _ = trained
    ok("--freeze", "--outputs=y", folder / "model.ckpt.meta", folder / "frozen.pbtxt")
    ok(folder / "frozen.pbtxt", folder / "frozen.pb")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(str(folder / "model.ckpt.meta")).restore(
            session, str(folder / "model.ckpt")
        )
        wanted = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    made = {n.name: n for n in graph_in(folder / "frozen.pb").node}
    assert set(made) == {n.name for n in wanted.node}
    for node in wanted.node:
        assert made[node.name].op == node.op and made[node.name].input == node.input
        if node.op == "Const":
            a, b = (tf.make_ndarray(n.attr["value"].tensor) for n in (node, made[node.name]))
            assert a.dtype == b.dtype and np.array_equal(a, b)


def test_what_cannot_be_frozen_is_named(trained):
    folder, _ = trained
    line = fails("--freeze", "--outputs=more", folder / "model.ckpt.meta", folder / "out.pb")
    assert "variable 'v'" in line and "Assign" in line
    line = fails("--freeze", "--outputs=y", folder / "graph.pb", folder / "out.pb")
    assert "uninitialized" in line.lower()
    assert not (folder / "out.pb").exists()


def test_only_what_the_outputs_need(tmp_path):
    graph = tf.GraphDef()
    for name, op, inputs in (
        ("a", "NoSuchOp", []),
        ("b", "NoSuchOp", ["a:1", "^c"]),
        ("c", "NoOp", []),
        ("d", "NoSuchOp", ["b"]),
    ):
        graph.node.add(name=name, op=op, input=inputs)
    graph.node[1].attr["_class"].list.s.extend([b"loc:@d", b"loc:@a"])
    graph.node[2].attr["_class"].list.s.append(b"loc:@d")
    graph.versions.producer = 27
    (tmp_path / "in.pb").write_bytes(graph.SerializeToString())
    ok("--outputs", "b", tmp_path / "in.pb", tmp_path / "out.pb")
    made = graph_in(tmp_path / "out.pb")
    assert [n.name for n in made.node] == ["a", "b", "c"] and made.versions.producer == 27
    assert list(made.node[1].attr["_class"].list.s) == [b"loc:@a"]
    assert "_class" not in made.node[2].attr
    ok("--outputs=a:1,c", tmp_path / "in.pb", tmp_path / "out.pb")
    assert [n.name for n in graph_in(tmp_path / "out.pb").node] == ["a", "c"]
    assert "no node 'zz'" in fails("--outputs=zz", tmp_path / "in.pb", tmp_path / "out.pb")


# ---- Checkpoints


@pytest.mark.parametrize(
    "name", ["v1_dtypes", "v1_shapes", "v1_sliced", "v1_shard-?????-of-00002", "sharded", "sliced"]
)
def test_checkpoints_become_checkpoints_of_the_second_kind(tmp_path, name):
    old, new = f"{GOLDEN}/checkpoints/{name}", str(tmp_path / "below" / "new")
    ok(old, new)
    before, after = tf.train.NewCheckpointReader(old), tf.train.NewCheckpointReader(new)
    assert (tmp_path / "below" / "new.index").exists()
    shapes = before.get_variable_to_shape_map()
    assert after.get_variable_to_shape_map() == shapes and shapes
    for tensor in shapes:
        a, b = before.get_tensor(tensor), after.get_tensor(tensor)
        assert a.dtype == b.dtype and a.shape == b.shape
        assert a.tolist() == b.tolist() or a.tobytes() == b.tobytes()


# ---- Mistakes


@pytest.mark.parametrize(
    "arguments", [(), ("a",), ("a", "b", "c"), ("--to=onnx", "a", "b"), ("--fly", "a", "b")]
)
def test_wrong_usage(arguments):
    assert fails(*arguments, status=2).startswith("rheos: convert: ")


def test_what_fails_leaves_the_old_output(tmp_path):
    out = tmp_path / "out.pbtxt"
    out.write_text("old")
    (tmp_path / "bad.pb").write_bytes((GOLDEN / "graphs" / "loops.pb").read_bytes()[:-3])
    (tmp_path / "bad.pbtxt").write_text("node {\n  name: 'x'\n  zzz: 1\n}\n")
    assert "no such file" in fails(tmp_path / "missing", out)
    fails(tmp_path / "bad.pb", out)
    assert "3:3" in fails(tmp_path / "bad.pbtxt", out)
    assert "say which outputs" in fails("--freeze", GOLDEN / "graphs" / "loops.pb", out)
    fails("--freeze", GOLDEN / "checkpoints" / "dtypes", out, status=2)
    np.save(tmp_path / "a.npy", np.zeros(3))
    assert "no other form" in fails(tmp_path / "a.npy", out)
    assert out.read_text() == "old" and len(list(tmp_path.iterdir())) == 4
    fails(GOLDEN / "graphs" / "loops.pb", tmp_path / "no" / "folder.pb")


def test_what_is_read_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "g.pb"
    path.write_bytes((GOLDEN / "graphs" / "structure.pb").read_bytes())
    assert "--force" in fails(path, path)
    assert "--force" in fails(path, tmp_path / "." / "g.pb")
    ok("--force", "--to=pbtxt", path, path)
    assert path.read_text().startswith("node {")
