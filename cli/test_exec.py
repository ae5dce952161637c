"""`rheos exec`: graphs, meta graphs and saved models, fed from files, fetched into files."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))


def run_exec(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "rheos", "exec", *arguments], capture_output=True, timeout=60
    )


def ok(*arguments):
    done = run_exec(*arguments)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    return done.stdout.decode()


def fails(*arguments, status=1):
    done = run_exec(*arguments)
    assert done.returncode == status, done
    line = done.stderr.decode()
    assert line.startswith("rheos: ") and line.count("\n") == 1
    return line


def write_graph(path, build):
    with tf.Graph().as_default() as graph:
        build()
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


@pytest.fixture(scope="module")
def doubling(tmp_path_factory):
    """y = 2 x + 1 for each dtype, under the dtype's name."""

    def build():
        for dtype in (
            "float32",
            "float64",
            "float16",
            "bfloat16",
            "int32",
            "int64",
            "uint8",
            "complex64",
            "int8",
        ):
            with tf.name_scope(dtype):
                x = tf.placeholder(dtype, [None, 3], name="x")
                tf.add(x + x, tf.cast(1, dtype), name="y")
        tf.identity(tf.placeholder(tf.string, name="s"), name="t")
        tf.logical_not(tf.placeholder(tf.bool, name="b"), name="c")
        tf.identity(tf.placeholder(tf.uint8, [None, None, None, 3], name="pictures"), name="same")
        tf.identity(tf.placeholder(tf.float32, [None, None, 1], name="gray"), name="picture")

    return write_graph(tmp_path_factory.mktemp("graph") / "doubling.pb", build)


X = np.arange(6).reshape(2, 3)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "complex64", "int8"]
)
def test_npy_in_npy_out(doubling, tmp_path, dtype):
    np.save(tmp_path / "in.npy", X.astype(dtype))
    said = ok(
        doubling,
        f"--feed={dtype}/x={tmp_path}/in.npy",
        "--fetch",
        f"{dtype}/y",
        "--out",
        tmp_path / "new" / "out",
    )
    path = tmp_path / "new" / "out" / f"{dtype}_y.npy"
    assert said.startswith(str(path)) and "[2,3]" in said
    out = np.load(path)
    assert out.dtype == dtype and (out == 2 * X + 1).all()


def test_bfloat16_is_two_bytes(doubling, tmp_path):
    bits = (X.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    for name, array in (("u2", bits), ("v2", bits.view("V2")), ("f4", X.astype(np.float32))):
        np.save(tmp_path / f"{name}.npy", array)
        ok(
            doubling,
            f"--feed=bfloat16/x={tmp_path}/{name}.npy",
            "--fetch=bfloat16/y",
            "--out",
            tmp_path,
        )
        out = np.load(tmp_path / "bfloat16_y.npy")
        assert out.dtype == np.dtype("V2")
        values = (out.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        assert (values == 2 * X + 1).all()


def test_other_dtypes_orders_and_versions_become_the_inputs(doubling, tmp_path):
    for i, array in enumerate((X.astype(">f8"), np.asfortranarray(X), X.astype("<i2"))):
        path = tmp_path / f"{i}.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=(1 + i, 0))
        ok(doubling, f"--feed=float32/x={path}", "--fetch=float32/y", "--out", tmp_path)
        assert (np.load(tmp_path / "float32_y.npy") == 2 * X + 1).all()
    np.save(tmp_path / "f.npy", X + 0.5)
    assert "0.5 is no int32" in fails(
        doubling, f"--feed=int32/x={tmp_path}/f.npy", "--fetch=int32/y"
    )
    np.save(tmp_path / "f.npy", X * 100)
    assert "200 is no int8" in fails(doubling, f"--feed=int8/x={tmp_path}/f.npy", "--fetch=int8/y")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(doubling, tmp_path, save):
    save(tmp_path / "in.npz", **{"a": X, "float32/x": X + 1})
    ok(
        doubling,
        f"--feed=float32/x={tmp_path}/in.npz",
        f"--feed=int32/x={tmp_path}/in.npz:a",
        "--fetch=float32/y",
        "--fetch=int32/y:0",
        "--format=npz",
        "--out",
        tmp_path,
    )
    out = np.load(tmp_path / "outputs.npz")
    assert (out["float32/y"] == 2 * X + 3).all() and (out["int32/y:0"] == 2 * X + 1).all()
    assert "no 'int64/x'" in fails(doubling, f"--feed=int64/x={tmp_path}/in.npz", "--fetch=int64/y")


def test_inputs_that_unpack_to_much_end_at_a_limit(tmp_path, doubling):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros((10_000_000, 3), np.float32))
    arguments = (doubling, f"--feed=float32/x={path}", "--fetch=float32/y", "--out", tmp_path)
    assert "--memory-limit raises that" in fails(*arguments, "--memory-limit=64M")
    ok(*arguments, "--memory-limit=1G")


def test_a_time_limit_ends_what_goes_on(tmp_path, doubling):
    def build():
        i = tf.placeholder(tf.float32, [], name="i")
        tf.identity(tf.while_loop(lambda i: i > 0, lambda i: i + 0.5, [i]), name="end")

    loop = write_graph(tmp_path / "loop.pb", build)
    arguments = (loop, "--feed=i=1", "--fetch=end", "--out", tmp_path)
    assert "0.3" in fails(*arguments, "--time-limit=0.3")
    assert not (tmp_path / "end.npy").exists()
    ok(doubling, "--feed=s=x", "--fetch=t", "--time-limit=60")
    for wrong in ("0", "-1", "soon", "1h", "nan", ""):
        assert "--time-limit" in fails(*arguments, f"--time-limit={wrong}", status=2)


def test_a_time_limit_ends_what_is_only_read(tmp_path):
    pipe = tmp_path / "graph.pb"
    os.mkfifo(pipe)  # nobody writes
    assert "0.3" in fails(pipe, "--fetch=x", "--time-limit=0.3")


def test_values_and_json(doubling, tmp_path):
    assert "[1,3]\n  3 5 7\n" in ok(doubling, "--feed=float32/x=[[1, 2, 3]]", "--fetch=float32/y")
    (tmp_path / "in.json").write_text('[[1, "NaN", -Infinity]]')
    said = json.loads(
        ok(doubling, f"--feed=float32/x={tmp_path}/in.json", "--fetch=float32/y", "--format=json")
    )
    assert said == {"float32/y": [[3, "NaN", "-Infinity"]]}
    assert json.loads(
        ok(
            doubling,
            "--feed=complex64/x=[[[1, 2], [3, 4], [5, 6]]]",
            "--fetch=complex64/y",
            "--format=json",
        )
    )["complex64/y"] == [[[3, 4], [7, 8], [11, 12]]]
    ok(doubling, "--feed=b=[true, false]", "--fetch=c", "--format=json", "--out", tmp_path)
    assert json.loads((tmp_path / "c.json").read_text()) == [False, True]
    # What goes out comes in again.
    ok(
        doubling,
        "--feed=float64/x=[[0.1, 1e300, -3]]",
        "--fetch=float64/y",
        "--format=json",
        "--out",
        tmp_path,
    )
    again = ok(
        doubling,
        f"--feed=float64/x={tmp_path}/float64_y.json",
        "--fetch=float64/x",
        "--format=json",
    )
    assert json.loads(again)["float64/x"] == [[2 * 0.1 + 1, 2e300, -5]]


def test_strings(doubling, tmp_path):
    def t(feed):
        return json.loads(ok(doubling, f"--feed=s={feed}", "--fetch=t", "--format=json"))["t"]

    assert t("hello") == "hello" and t('["a", "é\\u00e9\\ud83d\\ude00"]') == ["a", "éé😀"]
    (tmp_path / "raw").write_bytes(b"\xff\x00\x01")
    assert t(f"@{tmp_path}/raw") == t(f"{tmp_path}/raw") == {"b64": "/wAB"}
    assert t('{"b64": "/wAB"}') == {"b64": "/wAB"}
    np.save(tmp_path / "u.npy", np.array([["x", "ῥέος"]]))
    assert t(f"{tmp_path}/u.npy") == [["x", "ῥέος"]]
    ok(doubling, f"--feed=s={tmp_path}/u.npy", "--fetch=t", "--out", tmp_path)
    assert np.load(tmp_path / "t.npy").tolist() == [[b"x", "ῥέος".encode()]]


def test_raw(doubling, tmp_path):
    (tmp_path / "in.bin").write_bytes(X.astype("<f4").tobytes())
    for feed in (f"{tmp_path}/in.bin", f"{tmp_path}/in.bin:float32:2,3"):
        ok(
            doubling,
            f"--feed=float32/x={feed}",
            "--fetch=float32/y",
            "--format=raw",
            "--out",
            tmp_path,
        )
        out = np.fromfile(tmp_path / "float32_y.raw", "<f4")
        assert (out == (2 * X + 1).ravel()).all()
    assert "24 bytes are not float" in fails(
        doubling, f"--feed=float32/x={tmp_path}/in.bin:float:2,4", "--fetch=float32/y"
    )


def test_pictures(doubling, tmp_path):
    pixels = np.random.RandomState(3).randint(0, 256, (5, 7, 3)).astype(np.uint8)
    with tf.Graph().as_default(), tf.Session() as session:
        (tmp_path / "in.png").write_bytes(session.run(tf.image.encode_png(pixels)))
        (tmp_path / "in.jpg").write_bytes(session.run(tf.image.encode_jpeg(pixels)))
    ok(doubling, f"--feed=pictures={tmp_path}/in.png", "--fetch=same", "--out", tmp_path)
    assert (np.load(tmp_path / "same.npy") == pixels[None]).all()
    ok(doubling, f"--feed=pictures={tmp_path}/in.jpg", "--fetch=same", "--out", tmp_path)
    assert np.load(tmp_path / "same.npy").shape == (1, 5, 7, 3)
    # Out again as PNG, and back.
    ok(
        doubling,
        f"--feed=pictures={tmp_path}/in.png",
        "--fetch=same",
        "--format=png",
        "--out",
        tmp_path,
    )
    with tf.Graph().as_default(), tf.Session() as session:
        again = session.run(tf.image.decode_png((tmp_path / "same.png").read_bytes()))
    assert (again == pixels).all()
    # Floats are clipped; one channel where the graph asks for one; a batch becomes several files.
    ok(
        doubling,
        f"--feed=gray={tmp_path}/in.png",
        "--fetch=picture",
        "--format=png",
        "--out",
        tmp_path,
    )
    np.save(tmp_path / "two.npy", np.stack([pixels, pixels]))
    said = ok(
        doubling,
        f"--feed=pictures={tmp_path}/two.npy",
        "--fetch=same",
        "--format=jpeg",
        "--out",
        tmp_path,
    )
    assert said.splitlines() == [f"{tmp_path}/same_0.jpeg", f"{tmp_path}/same_1.jpeg"]
    assert "a picture is" in fails(
        doubling, "--feed=b=true", "--fetch=c", "--format=png", "--out", tmp_path
    )


def test_names_that_meet_in_one_file_name(tmp_path):
    path = write_graph(
        tmp_path / "g.pb",
        lambda: (
            tf.constant(1, name="a/b"),
            tf.constant(2, name="a_b"),
            tf.unstack([3, 4], name="u"),
        ),
    )
    ok(path, "--fetch=a/b", "--fetch=a_b", "--fetch=a_b:0", "--fetch=u:1", "--out", tmp_path)
    values = [int(np.load(tmp_path / f"{n}.npy")) for n in ("a_b", "a_b_1", "a_b_2", "u_1")]
    assert values == [1, 2, 2, 4]


# ---- Variables


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def trained(request, tmp_path):
    """A graph, a meta graph, a checkpoint and a saved model of y = x w with w = 3."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable(
            "w", [], initializer=tf.constant_initializer(3.0), use_resource=request.param
        )
        y = tf.multiply(x, w, name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
        (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"in": x}, {"out": y})
    return tmp_path


def test_a_graph_and_its_checkpoint(trained):
    for graph, *more in (
        ("graph.pb", "--checkpoint", trained / "model.ckpt.index"),
        ("graph.pb", "--checkpoint", trained),
        ("model.ckpt.meta",),
        ("model.ckpt.meta", "--checkpoint", trained / "model.ckpt"),
    ):
        assert "  6 12\n" in ok(trained / graph, *more, "--feed=x=[2, 4]", "--fetch=y")
    # Initialized anew.
    assert "  6\n" in ok(trained / "graph.pb", "--init=init", "--feed=x=[2]", "--fetch=y")
    assert "uninitialized" in fails(trained / "graph.pb", "--feed=x=[2]", "--fetch=y").lower()
    line = fails(trained / "graph.pb", "--checkpoint", trained / "gone", "--feed=x=1", "--fetch=y")
    assert "gone" in line


def test_a_checkpoint_without_the_variables(trained, tmp_path):
    other = write_graph(tmp_path / "other.pb", lambda: tf.get_variable("v", [2]))
    line = fails(other, "--checkpoint", trained / "model.ckpt", "--fetch=v/read")
    assert "no values for 'v'" in line


def test_a_saved_model(trained):
    said = json.loads(ok(trained / "saved", "--feed=in=[2]", "--format=json"))
    assert said == {"out": [6]}
    for more in (["--signature=serving_default"], ["--tags=serve"], []):
        assert "out  float [1]\n  6\n" in ok(
            trained / "saved", *more, "--feed=in=[2]", "--fetch=out"
        )
    assert "y:0  float [1]\n  6\n" in ok(
        trained / "saved/saved_model.pb", "--feed=x:0=[2]", "--fetch=y:0"
    )
    ok(trained / "saved", "--feed=in=[2]", "--out", trained / "out")
    assert np.load(trained / "out" / "out.npy").tolist() == [6]
    assert "there is no signature 'zz'" in fails(trained / "saved", "--signature=zz")
    assert "has 'in'" in fails(trained / "saved", "--feed=zz=1", "--fetch=out")
    assert "train" in fails(trained / "saved", "--tags=train", "--fetch=out")


# ---- Models of TensorFlow, with its answers


def test_an_input_with_a_default_may_be_left_out(tmp_path):
    folder = tmp_path / "m"
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (tf.placeholder(tf.float32, [2], name=name) for name in "xy")
        info = tf.saved_model.build_tensor_info
        signature = tf.saved_model.build_signature_def(
            {"x": info(x), "y": info(y)}, {"sum": info(x + y)}, "m", defaults={"y": [10.0, 20.0]}
        )
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()
    assert json.loads(ok(folder, "--feed", "x=[1, 2]", "--format", "json"))["sum"] == [11, 22]
    both = ok(folder, "--feed", "x=[1, 2]", "--feed", "y:0=[3, 3]", "--format", "json")
    assert json.loads(both)["sum"] == [4, 5]
    shown = subprocess.run([BUILD / "bin" / "rheos", "show", folder], capture_output=True)
    assert b"<- y  float [2]  y:0  has a default" in shown.stdout
    shown = subprocess.run([BUILD / "bin" / "rheos", "show", "--json", folder], capture_output=True)
    inputs = json.loads(shown.stdout)["signatures"]["serving_default"]["inputs"]
    assert inputs["y"]["has_default"] and "has_default" not in inputs["x"]


def recorded(path):
    """feeds and fetches of a file beside a model: {name: array}"""
    values = {"feed": {}, "fetch": {}}
    for line in path.read_text().splitlines():
        kind, name, dtype, shape, *numbers = line.split()
        dims = [int(d) for d in shape.strip("[]").split(",") if d]
        if kind in values:
            values[kind][name] = np.array(numbers, dtype).reshape(dims)
    return values["feed"], values["fetch"]


def feed_files(folder, feeds):
    for i, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"{i}.npy", value)
        yield f"--feed={name}={folder}/{i}.npy"


@pytest.mark.parametrize(
    "model", sorted(path.stem for path in (SOURCE / "tests/golden/models").glob("*_frozen.txt"))
)
def test_frozen_models_give_tensorflows_answers(tmp_path, model):
    path = SOURCE / "tests" / "golden" / "models" / model
    feeds, fetches = recorded(path.with_suffix(".txt"))
    assert feeds and fetches
    ok(
        path.with_suffix(".pb"),
        *feed_files(tmp_path, feeds),
        *(f"--fetch={name}" for name in fetches),
        "--format=npz",
        "--out",
        tmp_path,
    )
    out = np.load(tmp_path / "outputs.npz")
    for name, wanted in fetches.items():
        np.testing.assert_allclose(out[name], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("model", ["mlp_ref", "mlp_resource", "cnn_ref", "cnn_resource"])
def test_saved_models_frozen_or_not_give_the_same(tmp_path, model):
    path = SOURCE / "tests" / "golden" / "models" / model
    feeds, fetches = recorded(Path(f"{path}_frozen.txt"))
    arguments = [*feed_files(tmp_path, feeds), *(f"--fetch={name}" for name in fetches)]
    done = subprocess.run(
        [BUILD / "bin" / "rheos", "convert", f"{path}_saved", tmp_path / "frozen.pb"],
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    for i, source in enumerate((f"{path}_saved", tmp_path / "frozen.pb")):
        ok(source, *arguments, "--format=npz", "--out", tmp_path / str(i))
        out = np.load(tmp_path / str(i) / "outputs.npz")
        for name, wanted in fetches.items():
            np.testing.assert_allclose(out[name], wanted, rtol=1e-5, atol=1e-5)


# ---- Mistakes


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a", "b"),
        ("--feed", "x", "g"),
        ("--feed", "=1", "g"),
        ("--format", "xyz", "g"),
        ("--format", "npy", "g"),
        ("--fetch",),
        ("--zzz", "g"),
    ],
)
def test_wrong_usage(arguments):
    assert fails(*arguments, status=2).startswith("rheos: exec: ")


def test_what_fails_is_one_line(doubling, tmp_path):
    y = "--fetch=float32/y"
    assert "say what to fetch" in fails(doubling)
    assert "no such file" in fails(tmp_path / "missing", y)
    assert "'zz'" in fails(doubling, "--fetch=zz") and "'zz'" in fails(doubling, "--feed=zz=1", y)
    assert "must feed" in fails(doubling, y)
    assert "fed before" in fails(doubling, "--feed=b=true", "--feed=b:0=true", "--fetch=c")
    assert "neither a file nor a value" in fails(doubling, "--feed=float32/x=missing.npy", y)
    for text in (
        "[[1, 2]]",
        "[[1,2,3],[1]]",
        "[1,[2]]",
        "[[[1]], 2]",
        "true",
        '"text"',
        "[1,,2]",
        "[[[[[[[[[[1]]]]]]]]]]",
        "[[1,2,3]] x",
    ):
        fails(doubling, f"--feed=float32/x={text}", y)
    for content in (b"\x93NUMPY\x01\x00\x10", b"PK\3\4nonsense", b"\x89PNG\r\n\x1a\n", b"abc"):
        (tmp_path / "bad").write_bytes(content)
        fails(doubling, f"--feed=float32/x={tmp_path}/bad", y)
    assert fails(doubling, "--feed=float32/x=[[1,2,3]]", y, "--out", "/dev/null/x")
    records = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(records)) as writer:
        writer.write(b"x")
    assert "cannot be run" in fails(records, y)


def test_graphs_made_for_other_devices_run(tmp_path):
    with tf.Graph().as_default() as graph:
        for number in range(2):
            with tf.device(f"/job:worker/task:{number}/device:GPU:{number}"):
                tf.constant(5 + number, name=f"c{number}")
    path = tmp_path / "g.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    assert "  6\n" in ok(path, "--fetch=c1")


def test_missing_ops_matter_only_where_they_are_needed(tmp_path):
    graph = tf.GraphDef()
    graph.node.add(name="odd", op="NoSuchOp")
    with tf.Graph().as_default() as other:
        tf.constant(5, name="fine")
    graph.node.extend(other.as_graph_def().node)
    path = tmp_path / "g.pb"
    path.write_bytes(graph.SerializeToString())
    assert "  5\n" in ok(path, "--fetch=fine")
    line = fails(path, "--fetch=odd")
    assert "NoSuchOp" in line and line.endswith(" [[node odd]]\n")
