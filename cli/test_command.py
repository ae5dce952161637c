"""What all subcommands share: options by kinds of files, names, what happens to their output."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
RHEOS = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build")) / "bin" / "rheos"
SUBCOMMANDS = ("run", "show", "exec", "bench", "convert")


@pytest.fixture
def files(tmp_path):
    """The paths of a graph, a checkpoint, arrays, records and events by their kind."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.add(x, tf.constant([1.0, 2.0]), name="layer/sum")
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        with tf.Session() as session:
            session.run(v.initializer)
            tf.train.Saver().save(session, str(tmp_path / "model"), write_state=False)
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    np.savez(tmp_path / "arrays.npz", first=np.zeros(2))
    with tf.python_io.TFRecordWriter(str(tmp_path / "records")) as writer:
        writer.write(b"x")
    (tmp_path / "program.py").write_text("import tensorflow as tf\nprint(tf.placeholder)\n")
    names = {"graph": "graph.pb", "meta": "model.meta", "checkpoint": "model.index"}
    names |= {"arrays": "arrays.npz", "records": "records", "program": "program.py"}
    return {kind: tmp_path / name for kind, name in names.items()}


def rheos(*arguments, **keywords):
    keywords = {"stdout": subprocess.PIPE, **keywords}
    return subprocess.run([RHEOS, *map(str, arguments)], stderr=subprocess.PIPE, timeout=120,
                          text=True, **keywords)  # fmt: skip


def calls_that_print(files):
    """Arguments of each subcommand that make it print."""
    graph = files["graph"]
    yield from [("--help",), ("--version",), ("help",), ("show", "--help")]
    yield from [("help", name) for name in SUBCOMMANDS]
    yield from [("show", graph), ("show", "--json", graph), ("show", "--dot", graph)]
    yield from [("show", "--node", "x", graph), ("show", "--ops", graph)]
    yield from [("show", files[kind]) for kind in ("meta", "checkpoint", "arrays", "records")]
    fetch = (graph, "--fetch", "layer/sum")
    yield ("exec", *fetch, "--feed", "x=[1, 2]")
    yield ("exec", *fetch, "--feed", "x=[1, 2]", "--format", "json")
    yield ("bench", *fetch, "--runs", "2", "--threads", "1")
    yield ("bench", *fetch, "--runs", "2", "--threads", "1", "--json")
    yield ("run", files["program"])


def test_a_full_output_is_a_failure(files):
    for arguments in calls_that_print(files):
        with open("/dev/full", "w") as full:
            done = rheos(*arguments, stdout=full)
        assert done.returncode == 1 and done.stderr != "", (arguments, done)


def test_a_closed_output_is_a_failure(files):
    for arguments in calls_that_print(files):
        done = rheos(*arguments, stdout=None, preexec_fn=lambda: os.close(1))
        assert done.returncode == 1 and done.stderr != "", (arguments, done)


def test_a_closed_output_does_not_end_up_in_a_file(files, tmp_path):
    """The first file that is opened would get the number of standard output."""
    out = tmp_path / "out"
    done = rheos("exec", files["graph"], "--fetch", "layer/sum", "--feed", "x=[1, 2]", "--out", out,
                 stdout=None, preexec_fn=lambda: os.close(1))  # fmt: skip
    assert done.returncode == 1
    np.testing.assert_array_equal(np.load(out / "layer_sum.npy"), [2, 4])


@pytest.mark.parametrize(
    "command, option, kinds",
    [
        ("show", "--ops", "checkpoint arrays records"),
        ("show", "--dot", "checkpoint arrays records"),
        ("show", "--memory", "checkpoint arrays records"),
        ("show", "--plan", "checkpoint arrays records"),
        ("show", "--node=x", "records"),
        ("show", "--tags=a", "graph meta checkpoint arrays records"),
        ("exec", "--tags=a", "graph meta"),
        ("exec", "--signature=a", "graph"),
        ("bench", "--tags=a", "graph meta"),
        ("bench", "--signature=a", "graph"),
        ("convert", "--tags=a", "graph meta checkpoint"),
        ("convert", "--signature=a", "graph checkpoint"),
        ("convert", "--freeze", "checkpoint"),
        ("convert", "--outputs=a", "checkpoint"),
        ("convert", "--to=pb", "checkpoint"),
        ("convert", "--checkpoint=a", "checkpoint"),
    ],
)
def test_options_that_do_not_apply_are_refused(files, tmp_path, command, option, kinds):
    for kind in kinds.split():
        out = [tmp_path / "out.pb"] if command == "convert" else []
        done = rheos(command, option, files[kind], *out)
        wanted = f"rheos: {command}: {option.split('=')[0]} does not apply: "
        assert done.returncode == 2 and done.stderr.startswith(wanted), (kind, done)
        assert done.stdout == "" and not any(path.exists() for path in out)


def test_a_form_that_is_not_written_is_refused(files, tmp_path):
    for name in ("out.onnx", "out.tflite", "out.h5", "out.json", "out.v2"):
        done = rheos("convert", files["graph"], tmp_path / name)
        assert done.returncode == 1 and "says neither pb nor pbtxt" in done.stderr
        assert not (tmp_path / name).exists()
        assert rheos("convert", "--to", "pb", files["graph"], tmp_path / name).returncode == 0
    done = rheos("convert", files["checkpoint"], tmp_path / "out.npz")
    assert done.returncode == 1 and "no name of a checkpoint" in done.stderr
    done = rheos("convert", files["meta"], tmp_path / "out.pb", "--signature", "a")
    assert done.returncode == 1 and "go with --freeze or --outputs" in done.stderr


def test_names_of_249_bytes_are_written(files, tmp_path):
    for last in "ab":  # names whose beginnings are alike
        name = tmp_path / ("n" * 245 + last + ".pb")
        assert rheos("convert", files["graph"], name).stderr == ""
        assert name.read_bytes() == files["graph"].read_bytes()
    prefix = tmp_path / ("c" * 235)  # and 20 bytes for .data-00000-of-00001
    assert rheos("convert", files["checkpoint"], prefix).stderr == ""
    assert tf.train.load_checkpoint(str(prefix)).has_tensor("v")
    meta_graph = tmp_path / ("m" * 249)
    with tf.Graph().as_default():
        tf.train.export_meta_graph(str(meta_graph))
    assert meta_graph.exists()
    assert len(os.listdir(tmp_path)) == 1 + 2 + 2 + len(files) + 1  # model has data, too


def test_names_that_are_near_are_told(files):
    graph = files["graph"]
    near = rheos("show", "--node", "sum", graph).stderr
    assert near.endswith("did you mean 'layer/sum'?\n")
    assert "did you mean 'v'" not in rheos("show", "--node", "quite_other", graph).stderr
    misspelt = rheos("exec", graph, "--fetch", "layer/sun").stderr
    assert "did you mean 'layer/sum'" in misspelt
    assert "the graph ends in 'layer/sum'" in rheos("exec", graph, "--fetch", "no_such").stderr
    assert "the graph ends in 'layer/sum'" in rheos("exec", graph).stderr
    assert "did you mean 'first'" in rheos("show", "--node", "frist", files["arrays"]).stderr


def test_names_that_are_misspelt_have_near_ones():
    for wrong, meant in (
        ("shwo", "show"),
        ("exce", "exec"),
        ("benhc", "bench"),
        ("rnu", "run"),
        ("convertt", "convert"),
    ):
        for arguments in ((wrong, "x.pb"), ("help", wrong)):
            done = rheos(*arguments)
            assert done.returncode == 2 and f"did you mean '{meant}'?" in done.stderr, done
    assert "did you mean" not in rheos("transmogrify").stderr
    for command, wrong, meant in (
        ("exec", "--fecth=y", "--fetch"),
        ("show", "--jsn", "--json"),
        ("bench", "--second=1", "--seconds"),
        ("run", "--tf", "--tf1"),
        ("convert", "--freze", "--freeze"),
    ):
        done = rheos(command, wrong, "x.pb")
        assert done.returncode == 2 and f"'{meant}'" in done.stderr, done
        assert done.stderr.count("\n") == 1 and f"rheos help {command}" in done.stderr
