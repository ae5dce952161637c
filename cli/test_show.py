"""`rheos show`: what each kind of file holds, found by content; each mistake is one line."""

import json
import os
import subprocess
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
GOLDEN = SOURCE / "tests" / "golden"


def show(*arguments, **options):
    return subprocess.run(
        [BUILD / "bin" / "rheos", "show", *arguments], capture_output=True, timeout=60, **options
    )


def text_of(*arguments):
    done = show(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout.decode()


def json_of(*arguments):
    return json.loads(text_of("--json", *arguments))


def fails(*arguments, status=1):
    """The one line that is said on standard error."""
    done = show(*arguments)
    assert done.returncode == status
    line = done.stderr.decode()
    assert line.startswith("rheos: ") and line.count("\n") == 1 and line.endswith("\n")
    return line


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def node(name, op, *inputs):
    parts = [field(1, name), field(2, op), *(field(3, i) for i in inputs)]
    return field(1, b"".join(parts))


@pytest.fixture
def line(tmp_path):
    """A trained line: its graph, meta graph and checkpoint in a folder."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", [3, 2])
        tf.identity(tf.matmul(x, w), name="y")
        tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver(name="again").save(session, str(tmp_path / "model.ckpt"), 7)
        tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt", as_text=True)
    return tmp_path


# ---- Graphs


def test_a_graph_in_words():
    text = text_of(GOLDEN / "graphs" / "training.pb")
    assert text.startswith("graph ")
    assert "nodes: 88 of 27 ops" in text and "parameters: 2 in 2 variables" in text
    assert "Placeholder  float [?]" in text and "cannot run" not in text


def test_a_graph_in_json(line):
    binary, text = json_of(line / "graph.pb"), json_of(line / "graph.pbtxt")
    assert binary["kind"] == "graph" and not binary["text"] and text["text"]
    x = {"name": "x", "op": "Placeholder", "dtype": "float", "shape": [None, 3]}
    y = {"name": "y", "op": "Identity", "dtype": "float", "shape": [None, 2]}
    assert x in binary["inputs"] and y in binary["outputs"]
    assert binary["parameters"] == 6 and binary["variables"] == 1
    assert binary["nodes"] == sum(binary["ops"].values()) and binary["ops"]["MatMul"] == 1
    assert binary["cannot_run"] == []
    for key in ("nodes", "ops", "inputs", "outputs", "parameters"):
        assert binary[key] == text[key]


def test_the_kind_is_found_by_content_whatever_the_name(line):
    for name, kind in (
        ("graph.pb", "graph"),
        ("graph.pbtxt", "graph"),
        ("model.ckpt-7.meta", "meta_graph"),
    ):
        other = line / "renamed.xyz"
        other.write_bytes((line / name).read_bytes())
        assert json_of(other)["kind"] == kind
    windows = line / "windows"
    unix = b"\n# a graph\n" + (line / "graph.pbtxt").read_bytes()
    windows.write_bytes(unix.replace(b"\n", b"\r\n"))
    assert json_of(windows)["nodes"] == json_of(line / "graph.pb")["nodes"]


def test_a_meta_graph(line):
    shown = json_of(line / "model.ckpt-7.meta")
    assert shown["collections"]["trainable_variables"] == 1
    assert shown["signatures"] == {} and shown["parameters"] == 6


def test_what_cannot_run_is_listed_with_counts_and_nodes(tmp_path):
    path = tmp_path / "odd.pb"
    path.write_bytes(
        node(b"a", b"NoSuchOp")
        + node(b"b", b"NoSuchOp", b"a:1")
        + node(b"c", b"Other", b"^b")
        + field(4, b"\x08\x86\x01")
    )
    shown = json_of(path)
    assert shown["nodes"] == 3 and shown["ops"] == {"NoSuchOp": 2, "Other": 1}
    assert shown["cannot_run"] == [
        {"op": "NoSuchOp", "count": 2, "reason": "unknown op", "nodes": ["a", "b"]},
        {"op": "Other", "count": 1, "reason": "unknown op", "nodes": ["c"]},
    ]
    assert "2  NoSuchOp  (unknown op): a, b" in text_of(path)


def test_what_cannot_run_in_functions_is_listed_by_op(tmp_path):
    graph = tf.GraphDef()
    function = graph.library.function.add()
    function.signature.name = "F"
    for name, op in (("a", "One"), ("b", "Two"), ("c", "One"), ("d", "NoOp")):
        function.node_def.add(name=name, op=op)
    graph.node.add(name="call", op="F")
    path = tmp_path / "f.pb"
    path.write_bytes(graph.SerializeToString())
    shown = [(c["op"], c.get("function"), c["nodes"]) for c in json_of(path)["cannot_run"]]
    assert shown[-2:] == [("One", "F", ["a", "c"]), ("Two", "F", ["b"])]


@pytest.mark.parametrize("name, op", [("functions", "While"), ("loops", "Switch")])
def test_functions_and_control_flow_are_shown(name, op):
    shown = json_of(GOLDEN / "graphs" / f"{name}.pb")
    assert shown["ops"][op] > 0
    if name == "functions":
        assert {"name": "Twice", "inputs": 1, "outputs": 1, "nodes": 1} in shown["functions"]
        assert "Twice  1 inputs, 1 outputs, 1 nodes" in text_of(GOLDEN / "graphs" / "functions.pb")


def test_a_graph_that_cannot_be_imported_is_shown_all_the_same(tmp_path):
    path = tmp_path / "broken.pb"
    path.write_bytes(node(b"y", b"Identity", b"nowhere:0"))
    shown = json_of(path)
    assert shown["nodes"] == 1 and "nowhere" in shown["problem"]
    assert "(not in the graph)" in text_of("--node", "y", path)
    assert "cannot be imported: " in text_of(path)


def test_names_of_any_bytes(tmp_path):
    path = tmp_path / "names.pb"
    path.write_bytes(
        node(b'"\\\x01\x1b[31m', b"NoOp")
        + node(b"\xff\xfe", b"NoOp")
        + node("ῥέος".encode(), b"NoOp")
    )
    names = {o["name"] for o in json_of(path)["outputs"]}
    assert names == {'"\\\x01\x1b[31m', "\\xff\\xfe", "ῥέος"}
    text = show(path).stdout
    assert b"\x1b" not in text and b"\\x1b[31m" in text and "ῥέος".encode() in text
    assert show("--dot", path).returncode == 0


def test_ops_only():
    lines = text_of("--ops", GOLDEN / "graphs" / "loops.pb").splitlines()
    counts = [int(line.split()[0]) for line in lines]
    assert sum(counts) == 97 and counts == sorted(counts, reverse=True) and len(lines) == 22
    assert "inputs" not in json_of("--ops", GOLDEN / "graphs" / "loops.pb")


def test_one_node(line):
    text = text_of("--node", "MatMul", line / "graph.pb")
    assert "x  Placeholder  float [?,3]" in text and "transpose_a = false" in text
    assert "y  Identity  takes output 0 as input 0" in text
    shown = json_of("--node", "MatMul:0", line / "graph.pb")
    assert shown["inputs"] == ["x", "w/read"] and shown["attributes"]["transpose_b"] is False
    assert shown["consumers"] == [{"node": "y", "input": 0, "output": 0, "control": False}]
    assert shown["outputs"] == [{"dtype": "float", "shape": [None, 2]}]
    constant = json_of("--node", "save/RestoreV2/tensor_names", line / "graph.pb")
    assert constant["attributes"]["value"] == {"dtype": "string", "shape": [1], "values": ["w"]}
    assert "no node or function 'zzz'" in fails("--node", "zzz", line / "graph.pb")


def test_one_function():
    path = GOLDEN / "graphs" / "functions.pb"
    shown = json_of("--node", "IsSmall", path)
    assert shown["kind"] == "function" and len(shown["inputs"]) == 2 and len(shown["nodes"]) == 2
    assert shown["outputs"][0]["dtype"] == "bool" and shown["outputs"][0]["source"]
    graph = tf.GraphDef.FromString(path.read_bytes())
    for function in graph.library.function:
        text = text_of("--node", function.signature.name, path)
        for n in function.node_def:
            assert f"    {n.name}  {n.op}" in text


def test_every_node_of_the_golden_graphs_can_be_shown():
    for path in sorted((GOLDEN / "graphs").glob("*.pb")):
        graph = tf.GraphDef.FromString(path.read_bytes())
        for n in list(graph.node)[::5]:
            assert json_of("--node", n.name, path)["op"] == n.op
            text_of("--node", n.name, path)


def test_a_drawing(line):
    text = text_of("--dot", line / "graph.pb")
    assert text.startswith("digraph") and text.endswith("}\n")
    assert text.count("[label=") > 10 and 'label="x\\nPlaceholder", style=bold' in text


def test_bodies_are_listed_in_what_calls_them():
    path = GOLDEN / "functions" / "branches_in_branches.pb"
    bodies = json_of(path)["bodies"]
    assert [b["depth"] for b in bodies] == [0, 1, 2, 2, 1, 2, 2]
    assert bodies[0]["role"] == "f" and bodies[1]["op"] == "StatelessIf"
    assert {b["role"] for b in bodies[1:]} == {"then_branch", "else_branch"}
    lines = text_of(path).split("bodies\n")[1].splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines] == [2, 4, 6, 6, 4, 6, 6]


def test_loops_and_conditionals_of_version_1_are_listed_too():
    bodies = json_of(GOLDEN / "flow" / "loop_in_a_cond_in_a_loop.pb")["bodies"]
    assert [(b["depth"], b["role"]) for b in bodies] == [
        (0, "loop"),
        (1, "conditional"),
        (2, "loop"),
    ]
    assert bodies[0]["node"] == "while/while_context"
    assert bodies[0]["nodes"] > bodies[2]["nodes"] > 5
    for path in sorted((GOLDEN / "flow").glob("*.pb")):
        bodies = json_of(path)["bodies"]
        graph = tf.GraphDef.FromString(path.read_bytes())
        frames = {n.attr["frame_name"].s for n in graph.node if n.op in ("Enter", "RefEnter")}
        assert {b["node"].encode() for b in bodies if b["role"] == "loop"} == frames, path


@pytest.mark.parametrize(
    "name, boxes",
    [
        ("functions/branches_in_branches", 7),
        ("flow/loop_in_a_cond_in_a_loop", 3),
        ("functions/defun_that_calls_itself", 3),
    ],
)
def test_a_drawing_has_boxes_in_boxes(name, boxes):
    text = text_of("--dot", GOLDEN / f"{name}.pb")
    assert text.count("subgraph cluster_") == boxes
    depth, deepest, named = 0, 0, set()
    for line in text.splitlines():
        depth += line.endswith("{") - line.lstrip().startswith("}")
        deepest = max(deepest, depth)
        assert depth >= 0
        if line.lstrip().startswith(("n", "f")) and "->" not in line and "[" in line:
            named.add(line.split()[0])
        if "->" in line:
            assert {line.split()[0], line.split()[2].rstrip(";")} <= named, line
    assert depth == 0 and deepest >= 3


# ---- Saved models


def test_a_saved_model(tmp_path):
    folder = tmp_path / "saved"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.matmul(x, tf.get_variable("w", [3, 2]))
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), {"in": x}, {"out": y})
    for path in (folder, folder / "saved_model.pb"):
        shown = json_of(path)
        assert shown["kind"] == "saved_model" and shown["tags"] == ["serve"]
        signature = shown["signatures"]["serving_default"]
        assert signature["inputs"] == {"in": {"name": "x:0", "dtype": "float", "shape": [None, 3]}}
        assert list(signature["outputs"]) == ["out"]
    assert json_of(folder)["tensors"] == [{"name": "w", "dtype": "float", "shape": [3, 2]}]
    assert json_of(folder / "variables")["kind"] == "checkpoint"
    text = text_of("--tags", "serve", folder)
    assert "serving_default" in text and "-> out  float [?,2]" in text
    # Whose graphs these are: the file does not say who wrote it.
    assert f"  version of TensorFlow: {tf.__version__}\n" in text and "written" not in text
    assert "'train'" in fails("--tags", "train", folder)
    # Some do not tell the version of their format, which comes first.
    message = (folder / "saved_model.pb").read_bytes()
    assert message.startswith(b"\x08\x01")
    (folder / "saved_model.pb").write_bytes(message[2:])
    assert json_of(folder / "saved_model.pb")["kind"] == "saved_model"


# ---- Checkpoints


def test_checkpoints_by_every_name(line):
    for name in (
        "model.ckpt-7",
        "model.ckpt-7.index",
        "model.ckpt-7.data-00000-of-00001",
        "checkpoint",
        ".",
    ):
        shown = json_of(line / name)
        assert shown["kind"] == "checkpoint" and shown["version"] == "V2"
        assert shown["tensors"] == [{"name": "w", "dtype": "float", "shape": [3, 2]}]
        assert shown["parameters"] == 6
    assert len(json_of(line / "checkpoint")["checkpoints"]) == 1
    assert len(json_of("--node", "w", line / "checkpoint")["values"]) == 3
    assert "no tensor 'v'" in fails("--node", "v", line / "checkpoint")


def test_checkpoints_of_the_first_kind():
    shown = json_of(GOLDEN / "checkpoints" / "v1_dtypes")
    assert shown["version"] == "V1" and len(shown["tensors"]) == 15
    assert json_of(f"{GOLDEN}/checkpoints/v1_shard-?????-of-00002")["kind"] == "checkpoint"
    assert "several files" in fails(GOLDEN / "checkpoints")


def test_every_tensor_of_the_golden_checkpoints_is_valid_json():
    for name in ("dtypes", "strings", "shapes", "v1_dtypes"):
        for tensor in json_of(GOLDEN / "checkpoints" / name)["tensors"]:
            if tensor["name"].startswith("-") or "\\x" in tensor["name"]:
                continue
            shown = json_of(f"--node={tensor['name']}", GOLDEN / "checkpoints" / name)
            assert shown["dtype"] == tensor["dtype"]
            if 0 not in tensor["shape"] and not tensor["dtype"].startswith("complex"):
                assert list(np.array(shown["values"]).shape) == tensor["shape"]


# ---- Records, events


def example(**features):
    made = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        if isinstance(values[0], int)
        else tf.train.Feature(float_list=tf.train.FloatList(value=values))
        if isinstance(values[0], float)
        else tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        for name, values in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_records(tmp_path, compression):
    path = tmp_path / "data"
    options = tf.python_io.TFRecordOptions(
        getattr(tf.python_io.TFRecordCompressionType, compression or "NONE")
    )
    with tf.python_io.TFRecordWriter(str(path), options) as writer:
        writer.write(example(label=[1, -2, 300], image=[b"\xff"], weight=[0.5, 1.5]))
        writer.write(example(label=[4]))
    shown = json_of(path)
    assert shown["kind"] == "records" and shown["records"] == 2
    assert shown["compression"] == (compression.lower() or "none") and shown["content"] == "Example"
    assert shown["features"]["label"] == {
        "type": "int64",
        "records": 2,
        "min_values": 1,
        "max_values": 3,
    }
    assert shown["features"]["weight"]["max_values"] == 2
    assert "label  int64  in 2 records, 1 to 3 values" in text_of(path)


def test_records_of_other_things(tmp_path):
    path = tmp_path / "data"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        writer.write(b"hello")
        writer.write(b"")
    assert json_of(path)["content"] == "bytes"
    sequence = tf.train.SequenceExample()
    for i in range(3):
        steps = sequence.feature_lists.feature_list["words"].feature.add()
        steps.bytes_list.value.append(b"w%d" % i)
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        writer.write(sequence.SerializeToString())
    shown = json_of(path)
    assert shown["content"] == "SequenceExample"
    assert shown["feature_lists"]["words"]["max_values"] == 3


def test_a_cut_file_of_records_is_shown_up_to_there(tmp_path):
    path = tmp_path / "data"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for _ in range(3):
            writer.write(b"x" * 100)
    path.write_bytes(path.read_bytes()[:-50])
    done = show("--json", path)
    shown = json.loads(done.stdout)
    assert done.returncode == 1 and shown["records"] == 2 and shown["error"]
    assert done.stderr.startswith(b"rheos: ") and done.stderr.count(b"\n") == 1


def test_events(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0)
        writer = tf.summary.FileWriter(str(tmp_path), graph)
        for step in range(5):
            value = tf.Summary.Value(tag="loss", simple_value=1.0 / (step + 1))
            writer.add_summary(tf.Summary(value=[value]), step)
        writer.close()
    shown = json_of(tmp_path)
    assert shown["kind"] == "events" and shown["version"] == "brain.Event:2"
    assert shown["graphs"] == 1 and shown["events"] >= 7
    assert shown["tags"]["loss"]["count"] == 5 and shown["tags"]["loss"]["last_step"] == 4
    assert abs(shown["tags"]["loss"]["last_value"] - 0.2) < 1e-6
    assert "loss  scalars  5, steps 0 to 4, last 0.2" in text_of(tmp_path)


def test_all_events_of_a_folder(tmp_path):
    for start in (0, 3):
        writer = tf.summary.FileWriter(str(tmp_path), filename_suffix=f".{start}")
        for step in range(start, start + 3):
            value = tf.Summary.Value(tag="loss", simple_value=step)
            writer.add_summary(tf.Summary(value=[value]), step)
        writer.close()
    shown = json_of(tmp_path)
    assert shown["files"] == 2 and shown["events"] == 8
    assert shown["tags"]["loss"] == {
        "type": "scalars",
        "count": 6,
        "first_step": 0,
        "last_step": 5,
        "last_value": 5,
    }
    assert "(2 files)" in text_of(tmp_path)


# ---- Arrays


def test_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6, dtype=">f4").reshape(2, 3))
    np.savez(tmp_path / "b.npz", x=np.float64(1.5), s=np.array(["é", "text"]))
    assert json_of(tmp_path / "a.npy")["tensors"] == [
        {"name": "", "dtype": "float", "shape": [2, 3]}
    ]
    assert json_of("--node", "s", tmp_path / "b.npz")["values"] == ["é", "text"]
    assert json_of("--node=", tmp_path / "a.npy")["values"] == [[0, 1, 2], [3, 4, 5]]


# ---- Mistakes


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a", "b"),
        ("--fly", "a"),
        ("--node",),
        ("--json=1", "a"),
        ("--ops", "--dot", "a"),
        ("--dot", "--json", "a"),
        ("--ops", GOLDEN / "checkpoints" / "dtypes"),
    ],
)
def test_wrong_usage(arguments):
    assert fails(*arguments, status=2).startswith("rheos: show: ")


def test_what_is_not_there_or_nothing_known(tmp_path):
    assert "no such file" in fails(tmp_path / "missing")
    assert "no saved model" in fails(tmp_path)
    for content in (b"", b"hello\n", b"\0" * 100, b"\x1f\x8bnot gzip", b"\x78\x9c!!"):
        path = tmp_path / "unknown"
        path.write_bytes(content)
        fails(path)
    if os.getuid() != 0:
        path.chmod(0)
        fails(path)


def test_other_messages_are_not_taken_for_models(tmp_path):
    keras = field(3, b"root") + field(4, b"_tf_keras_model") + field(5, b'{"name": "model"}')
    feature = field(1, field(1, b"image") + field(3, b""))
    messages = {
        "fingerprint.pb": b"\x08" + varint(2**63 + 5) + b"\x10" + varint(77),
        "keras_metadata.pb": field(1, keras) + field(1, b"\x10\x01" + keras),
        "model.mlmodel": b"\x08\x06" + field(2, feature + field(10, feature)),
    }
    for name, content in messages.items():
        (tmp_path / name).write_bytes(content)
        assert "none of the files that Rheos reads" in fails(tmp_path / name)


def test_a_program_is_told_where_programs_go(tmp_path):
    (tmp_path / "train.py").write_text("import tensorflow as tf\n")
    assert "'rheos run --view'" in fails(tmp_path / "train.py")


def test_an_archive_of_other_files_says_which_is_no_array(tmp_path):
    with zipfile.ZipFile(tmp_path / "model.ckpt", "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}")
    assert "'archive/data.pkl' in the archive: not a sound .npy" in fails(tmp_path / "model.ckpt")


def test_truncated_files_are_one_line_or_an_answer(line, tmp_path):
    np.savez_compressed(tmp_path / "z.npz", a=np.zeros(1000), b=np.ones((2, 3), np.float16))
    for name in ("graph.pb", "graph.pbtxt", "model.ckpt-7.meta", "model.ckpt-7.index", "z.npz"):
        data = (tmp_path / name).read_bytes()
        for cut in range(0, len(data), max(1, len(data) // 25)):
            path = tmp_path / "cut"
            path.write_bytes(data[:cut])
            done = show("--json", path)
            assert done.returncode in (0, 1), (name, cut, done)
            assert done.stderr.count(b"\n") == done.returncode
            if done.returncode == 0:
                json.loads(done.stdout)


def test_flipped_bits_are_one_line_or_an_answer(line, tmp_path):
    random = np.random.RandomState(5)
    np.savez_compressed(tmp_path / "z.npz", a=np.arange(1000), b=np.ones((2, 3), np.float16))
    for name in ("graph.pb", "model.ckpt-7.meta", "z.npz"):
        data = bytearray((tmp_path / name).read_bytes())
        for _ in range(30):
            at = random.randint(len(data))
            data[at] ^= 1 << random.randint(8)
            path = tmp_path / "flipped"
            path.write_bytes(data)
            done = show(path)
            assert done.returncode in (0, 1), (name, done)
            assert done.stderr.count(b"\n") == done.returncode


def test_a_lying_zlib_stream(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(zlib.compress(b"\xff" * 12 + b"x" * 1000))
    fails(path)


def test_output_that_cannot_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [BUILD / "bin" / "rheos", "show", GOLDEN / "graphs" / "loops.pb"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 1 and b"cannot be written" in done.stderr


# ---- Memory


def memory_model(tmp_path):
    path = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 100], name="x")
        v = tf.get_variable("w", [100, 50])
        y = tf.nn.relu(tf.matmul(x, v, name="product"), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y})
    return path


def test_memory_of_a_model(tmp_path):
    path = memory_model(tmp_path)
    told = json_of("--memory", "--feed-shape", "x=7,100", path)
    assert told["feeds"] == [{"name": "x", "dtype": "float", "shape": [7, 100]}]
    assert told["result_bytes"] == 7 * 50 * 4
    assert told["peak_bytes"] == sum(
        told[key] for key in ("intermediate_bytes", "kernel_bytes", "result_bytes")
    )
    assert told["waits_for"] is None
    assert told["largest"][0]["shape"] == [100, 50] and told["largest"][0]["variable"]
    (own, *_) = [tensor for tensor in told["largest"] if not tensor["variable"]]
    assert own["shape"] == [7, 50] and own["bytes"] == 1400
    twice = json_of("--memory", "--feed-shape=x=14,100", path)
    assert twice["result_bytes"] == 2 * told["result_bytes"]
    text = text_of("--memory", path)
    assert text.startswith("a step needs ") and "fed: x float [1,100]" in text
    assert "dimensions that nobody told are 1" in text


def test_memory_ends_where_shapes_depend_on_values(tmp_path):
    path = tmp_path / "g.pb"
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.square(tf.boolean_mask(x, x > 0), name="y")
        path.write_bytes(graph.as_graph_def().SerializeToString())
    told = json_of("--memory", "--feed-shape", "x=1000", path)
    assert "Where" in told["waits_for"] or "mask" in told["waits_for"]
    assert f"what follows {told['waits_for']} is not counted" in text_of("--memory", path)


def test_memory_mistakes(tmp_path):
    path = memory_model(tmp_path)
    assert "is no shape" in fails("--memory", "--feed-shape", "x=2,a", path)
    assert "is no shape" in fails("--memory", "--feed-shape", "x=2,", path)
    assert "has no shape: write" in fails("--memory", "--feed-shape", "x", path)
    assert "not [7,99]" in fails("--memory", "--feed-shape", "x=7,99", path)
    alone = fails("--feed-shape", "x=2", path, status=2)
    assert "--feed-shape goes with --memory or --plan" in alone
    assert "do not go together" in fails("--memory", "--dot", path, status=2)
    array = tmp_path / "a.npy"
    np.save(array, np.zeros(3))
    assert "--memory does not apply" in fails("--memory", array, status=2)


def plan_model(tmp_path):
    path = tmp_path / "model"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 100], name="x")
        w = tf.get_variable("w", [100, 50])
        steps = tf.get_variable("steps", [], tf.int32, initializer=tf.zeros_initializer())
        with tf.control_dependencies([tf.assign_add(steps, 1, name="count")]):
            product = tf.matmul(x, w, name="product")
        bias = tf.constant(2.0, shape=[50]) * 0.5
        y = tf.nn.relu(tf.nn.bias_add(product, bias, name="biased"), name="y")
        z = tf.tanh(tf.exp(x, name="e"), name="z")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y, "z": z})
    return path


def test_plan_of_a_model(tmp_path):
    told = json_of("--plan", "--feed-shape", "x=7,100", plan_model(tmp_path))
    assert told["feeds"] == [{"name": "x", "dtype": "float", "shape": [7, 100]}]
    entries = {entry["name"]: entry for entry in told["entries"]}
    assert [entry["entry"] for entry in told["entries"]] == list(range(len(told["entries"])))
    count, y = entries["count"], entries["y"]
    assert count["effects"] == [{"kind": "writes", "cell": entries["steps"]["values"][0]}]
    assert (y["op"], y["rule"], y["level"]) == ("_FusedMatMul", "take_activation", 1)
    assert y["waits"] == [count["entry"]]
    (segment,) = told["segments"]
    assert segment["first_entry"] == 0 and segment["end_entry"] == len(entries)
    assert segment["waits_for_shapes_of"] == []
    values = {value["value"]: value for value in segment["values"]}
    (number,) = y["values"]
    assert values[number]["shape"] == [7, 50] and values[number]["lies"] == "result"
    folded = [value for value in segment["values"] if value["made_by"] == "constant_folding"]
    assert [value["shape"] for value in folded] == [[50]]
    (loop,) = [one for one in segment["instructions"] if one["made_by"] == "elementwise_fusion"]
    assert loop["runs"] == [entries["e"]["entry"], entries["z"]["entry"]]
    assert values[entries["e"]["values"][0]]["lies"] == "fused"
    (product,) = [one for one in segment["instructions"] if one["runs"] == [y["entry"]]]
    assert product["packed_operand"] in (None, y["operands"][1])


def test_plan_as_text(tmp_path):
    path = plan_model(tmp_path)
    text = text_of("--plan", path)
    for part in (
        "plan: entries ",
        "  v0 x float\n",
        "; by take_activation",
        "; waits for e",
        "; writes v",
        "; by constant_folding",
        ", by elementwise_fusion",
        "\nmemory: block ",
        "dimensions that nobody told are 1",
    ):
        assert part in text
    assert "dimensions" not in text_of("--plan", "--feed-shape", "x=7,100", path)


def test_plan_ends_where_shapes_depend_on_values(tmp_path):
    path = tmp_path / "g.pb"
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.square(tf.boolean_mask(x, x > 0), name="y")
        path.write_bytes(graph.as_graph_def().SerializeToString())
    told = json_of("--plan", "--feed-shape", "x=1000", path)
    (segment,) = told["segments"]
    assert segment["end_entry"] < len(told["entries"])
    (value,) = segment["waits_for_shapes_of"]
    (described,) = [one for one in segment["values"] if one["value"] == value]
    assert described["shape"] is None
    assert f"\nthen: from e{segment['end_entry']} on, when the shapes are known of v{value}\n" in (
        text_of("--plan", "--feed-shape", "x=1000", path)
    )


@pytest.fixture(params=["cond_v2", "version_1"])
def loop(request, tmp_path):
    """A graph with a loop of 5 trips with a branch in it, by functions or by version 1's nodes."""
    with tf.Graph().as_default() as graph:
        if request.param == "cond_v2":
            tf.enable_control_flow_v2()
        try:
            _, end = tf.while_loop(
                lambda i, x: i < 5,
                lambda i, x: (i + 1, tf.cond(i > 2, lambda: tf.tanh(x), lambda: x * 2.0)),
                [tf.constant(0), tf.ones([3, 4])],
            )
            tf.identity(end, name="end")
        finally:
            tf.disable_control_flow_v2()
    path = tmp_path / "loop.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path, request.param


def test_plan_and_memory_have_bodies_with_their_trips(loop):
    path, kind = loop
    text = text_of("--plan", path)
    assert ", 5 trips\n" in text and "\n  body of " in text and " = Tanh(v" in text
    assert "then_branch" in text
    for option in ("--plan", "--memory"):
        bodies = json_of(option, path)["bodies"]
        assert [(b["depth"], b["role"]) for b in bodies] == [
            (0, "cond"),
            (0, "body"),
            (1, "then_branch"),
            (1, "else_branch"),
        ]
        assert bodies[1]["trips"] == 5 and "trips" not in bodies[2]
        assert ("function" in bodies[1]) == (kind == "cond_v2")
    assert bodies[2]["result_bytes"] + bodies[2]["intermediate_bytes"] >= 3 * 4 * 4
    assert "body of " in text_of("--memory", path) and ", 5 trips: " in text_of("--memory", path)


def test_plans_on_tokens_have_their_entries():
    path = GOLDEN / "flow" / "a_reference_written_in_a_branch_in_a_loop.pb"
    assert "on tokens" in text_of("--plan", path)
    told = json_of("--plan", path)
    assert told["on_tokens"] and told["entries"] and not told["segments"]
    assert "runs on tokens" in text_of("--memory", path)


def test_memory_of_a_loop_on_tokens_is_what_a_trip_holds(tmp_path):
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(-1, [tf.float32], shapes=[[100]])

        def body(trip, value):
            with tf.control_dependencies([queue.enqueue(value)]):
                return trip + 1, tf.tanh(tf.exp(value)) * 2.0

        start = tf.random_normal([100])
        tf.identity(tf.while_loop(lambda i, _: i < 9, body, [0, start])[1], name="end")
    path = tmp_path / "loop.pb"
    path.write_bytes(graph.as_graph_def(add_shapes=True).SerializeToString())
    told = json_of("--memory", path)
    # Two of Exp, Tanh and Mul at a time, what goes to the next trip, and scalars; not all of them.
    assert told["on_tokens"] and told["unknown_values"] == 0
    assert 800 <= told["kernel_bytes"] == told["peak_bytes"] <= 1400
    assert {row["bytes"] for row in told["largest"][:3]} == {400}
    text = text_of("--memory", path)
    assert "bytes for what a trip holds" in text and "while/Tanh:0 float [100]" in text


def test_a_body_that_calls_itself_is_shown_once(tmp_path):
    graph = tf.GraphDef()
    graph.versions.producer = 27  # from which on an empty shape is that of a scalar
    number = graph.node.add(name="n", op="Placeholder")
    number.attr["dtype"].type = tf.int32.as_datatype_enum
    number.attr["shape"].shape.SetInParent()
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="n", type=tf.int32.as_datatype_enum)
    function.signature.output_arg.add(name="r", type=tf.int32.as_datatype_enum)
    function.node_def.add(name="again", op="f", input=["n"])
    function.ret["r"] = "again:r:0"
    graph.node.add(name="out", op="f", input=["n"])
    path = tmp_path / "endless.pb"
    path.write_bytes(graph.SerializeToString())
    bodies = json_of("--plan", path)["bodies"]
    assert [(b["depth"], b["function"], b["again"]) for b in bodies] == [
        (0, "f", False),
        (1, "f", True),
    ]
    assert text_of("--plan", path).count("(as above)") == 1
    assert text_of("--memory", path).count(": as above") == 1


def test_libraries_of_many_functions_are_looked_at_in_seconds(tmp_path):
    graph = tf.GraphDef()
    graph.versions.producer = 27
    number = graph.node.add(name="n", op="Placeholder")
    number.attr["dtype"].type = tf.int32.as_datatype_enum
    number.attr["shape"].shape.SetInParent()
    for i in range(30_000):
        function = graph.library.function.add()
        function.signature.name = f"f{i}"
        function.signature.input_arg.add(name="n", type=tf.int32.as_datatype_enum)
        function.signature.output_arg.add(name="r", type=tf.int32.as_datatype_enum)
        function.node_def.add(name="next", op=f"f{(i + 1) % 30_000}", input=["n"])
        function.ret["r"] = "next:r:0"
    graph.node.add(name="out", op="f0", input=["n"])
    path = tmp_path / "chain.pb"
    path.write_bytes(graph.SerializeToString())
    assert len(json_of(path)["bodies"]) == 30_001
    assert "and 29961 more" in text_of(path)
    assert len(json_of("--plan", path)["bodies"]) == 512  # as deep as calls may lie
    command = [BUILD / "bin" / "rheos", "exec", "--feed", "n=3", "--fetch", "out", path]
    done = subprocess.run(command, capture_output=True, timeout=60, text=True)
    assert done.returncode == 1 and "more than 512 deep" in done.stderr


def test_plan_mistakes(tmp_path):
    path = plan_model(tmp_path)
    assert "not [7,99]" in fails("--plan", "--feed-shape", "x=7,99", path)
    assert "do not go together" in fails("--plan", "--memory", path, status=2)
    array = tmp_path / "a.npy"
    np.save(array, np.zeros(3))
    assert "--plan does not apply" in fails("--plan", array, status=2)


def test_a_small_file_that_unpacks_to_much_ends_at_a_limit(tmp_path):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros(30_000_000))
    assert path.stat().st_size < 1 << 20
    said = fails("--memory-limit", "64M", path)
    assert ": reading it takes more than 0.1 GB; --memory-limit raises that" in said
    assert "[30000000]" in text_of("--memory-limit", "1G", path)
    assert "[30000000]" in text_of("--memory-limit=none", path)
    for size in ("much", "3X", "-1G", "0", "", "2GB"):
        assert "is a size such as 512M" in fails(f"--memory-limit={size}", path, status=2)


# ---- Where nodes are placed


def placed_graph(tmp_path):
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps"):
            v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        with tf.device("/job:worker/cpu:1"):
            tf.multiply(v, 2.0, name="y")
    path = tmp_path / "placed.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    (tmp_path / "cluster.json").write_text('{"worker": {"3": "a:1"}, "ps": ["b:1", "c:1"]}')
    return path, "--cluster=" + str(tmp_path / "cluster.json")


def test_placement_says_asked_given_and_why(tmp_path):
    path, cluster = placed_graph(tmp_path)
    told = json_of("--placement", cluster, "--cpus", "2", path)
    rows = {row["node"]: row for row in told["placement"]}
    assert rows["v"] == {
        "node": "v",
        "op": "VariableV2",
        "asked": "/job:ps",
        "given": "/job:ps/replica:0/task:0/device:CPU:0",
        "why": "asked for",
    }
    worker = "/job:worker/replica:0/task:3/device:CPU:1"
    assert (rows["y"]["given"], rows["y"]["why"]) == (worker, "asked for")
    assert rows["v/Assign"]["given"] == rows["v"]["given"]
    lines = text_of("--placement", cluster, "--cpus=2", path).splitlines()
    (line,) = [line.split() for line in lines if line.startswith("y ")]
    assert line == ["y", "Mul", "/job:worker/device:CPU:1", worker, "asked", "for"]


def test_a_placement_that_cannot_be_is_an_error(tmp_path):
    path, cluster = placed_graph(tmp_path)
    assert "available devices are [ /job:localhost" in show("--placement", path).stderr.decode()
    assert "/job:worker/device:CPU:1" in show("--placement", cluster, path).stderr.decode()
    soft = json_of("--placement", cluster, "--soft-placement", path)["placement"]
    (row,) = [row for row in soft if row["node"] == "y"]
    assert row["given"] == "/job:worker/replica:0/task:3/device:CPU:0"
    assert row["why"] == "soft placement: what it asks for is not there"
    assert "no task 5" in fails("--placement", cluster, "--job=ps", "--task=5", path)
    assert "--job goes with --cluster" in fails("--placement", "--job=ps", path, status=2)
    assert "go with --placement" in fails("--cpus=2", path, status=2)
    assert "from 1 to 64" in fails("--placement", "--cpus=x", path)
    (tmp_path / "cluster.json").write_text('{"ps": [')
    assert "expected a string" in fails("--placement", cluster, path)


def test_what_training_leaves_over_is_counted(tmp_path):
    """Inputs and outputs are those that a person looks for; --json has all of them."""
    path = tmp_path / "trained.pb"
    path.write_bytes(
        node(b"x", b"Placeholder")
        + node(b"save/Const", b"PlaceholderWithDefault")
        + node(b"saved", b"NoOp")
        + node(b"gradients_1/of_x", b"NoOp")
        + node(b"net/save_2/restore_all", b"NoOp")
        + node(b"check/Rank", b"Rank")
    )
    text = text_of(path)
    assert "outputs\n  saved  NoOp" in text
    assert "of_x" not in text and "restore_all" not in text and "save/Const" not in text
    assert "... and 1 of training and saving; --json lists them" in text
    assert "... and 3 of training and saving; --json lists them" in text
    assert len(json_of(path)["outputs"]) == 4
    path.write_bytes(node(b"save/restore_all", b"NoOp"))  # nothing else is there
    assert "save/restore_all" in text_of(path)
