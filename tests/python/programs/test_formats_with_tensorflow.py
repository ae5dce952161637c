"""Each file format, written by one and read by the other: Rheos and the real TensorFlow.

Graphs and models that run are in test_with_tensorflow.py. Where there is no TensorFlow
(tensorflow_process.py), these tests are skipped.
"""

import base64

import numpy as np
import pytest
from tensorflow_process import INTERPRETER, tensorflow

tf = pytest.importorskip("rheos.v1")
from rheos.framework.op_defs import strip_default_attrs  # noqa: E402

pytestmark = pytest.mark.skipif(INTERPRETER is None, reason="TensorFlow is not installed here")

# A program for both: what it makes is written by one and read by the other.
GRAPH = """
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=RESOURCE)
s = tf.get_variable("s", initializer=[b"a", b""])
y = tf.identity(tf.matmul(x, w), name="y")
tf.add_to_collection("mine", y)
tf.add_to_collection("numbers", 7)
"""


def build(resource):
    exec(GRAPH, {"tf": tf, "RESOURCE": resource})


def without_defaults(graph_def):
    """A copy: TensorFlow 2 writes attributes that 1.15 refuses, Rheos only what says something."""
    made = tf.GraphDef.FromString(graph_def.SerializeToString())
    strip_default_attrs(made)
    return made


def by_name(nodes):
    return {node.name: node for node in nodes}


@pytest.mark.parametrize("as_text", [False, True])
def test_graph_def__goes_both_ways(tmp_path, as_text):
    with tf.Graph().as_default() as graph:
        build(False)
        ours = graph.as_graph_def()
        tf.train.write_graph(graph, str(tmp_path), "ours", as_text=as_text)
    answer = tensorflow(
        f"as_text, RESOURCE = {as_text}, False\n"
        + """
from google.protobuf import text_format
def read(name):
    with open(folder + "/" + name, "rb") as file:
        data = file.read()
    return text_format.Parse(data, tf.GraphDef()) if as_text else tf.GraphDef.FromString(data)
with tf.Graph().as_default() as graph:
    tf.import_graph_def(read("ours"), name="")
    tf.train.write_graph(graph, folder, "back", as_text=as_text)
    with tf.Session() as session:
        session.run(["w/Assign", "s/Assign"])
        answer(session.run("y:0", {"x:0": [[1.0, 1.0]]}).tolist())
""",
        tmp_path,
    )
    assert answer == [[4.0, 6.0]]
    data = (tmp_path / "back").read_bytes()
    with tf.Graph().as_default() as graph:
        if as_text:
            from google.protobuf import text_format

            made = text_format.Parse(data, tf.GraphDef())
        else:
            made = tf.GraphDef.FromString(data)
        tf.import_graph_def(made, name="")
        again = graph.as_graph_def()
    assert by_name(without_defaults(again).node) == by_name(without_defaults(made).node)
    assert list(by_name(again.node)) == list(by_name(ours.node))
    assert {n: (m.op, list(m.input)) for n, m in by_name(again.node).items()} == {
        n: (m.op, list(m.input)) for n, m in by_name(ours.node).items()}  # fmt: skip


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_meta_graph__goes_both_ways(tmp_path, as_text, resource):
    with tf.Graph().as_default(), tf.Session() as session:
        build(resource)
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        session.run(tf.get_default_graph().get_tensor_by_name("w/Assign:0")
                    if not resource else tf.no_op())  # fmt: skip
        saver.save(session, str(tmp_path / "model"), write_meta_graph=False)
        saver.export_meta_graph(str(tmp_path / "ours"), as_text=as_text)
    answer = tensorflow(
        f"as_text = {as_text}\n"
        + """
saver = tf.train.import_meta_graph(folder + "/ours")
with tf.Session() as session:
    saver.restore(session, folder + "/model")
    saver.save(session, folder + "/back", write_meta_graph=False)
    saver.export_meta_graph(folder + "/back", as_text=as_text)
    [y] = tf.get_collection("mine")
    answer([session.run(y, {"x:0": [[1.0, 1.0]]}).tolist(), tf.get_collection("numbers"),
            [v.name for v in tf.trainable_variables()]])
""",
        tmp_path,
    )
    assert answer == [[[4.0, 6.0]], [7], ["w:0", "s:0"]]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(tmp_path / "back")).restore(session, str(tmp_path / "back"))
        (y,) = tf.get_collection("mine")
        assert session.run(y, {"x:0": [[1.0, 1.0]]}).tolist() == [[4.0, 6.0]]
        assert tf.get_collection("numbers") == [7]


# Dtypes that TensorFlow's reader of both kinds of checkpoints gives, and others.
OLD_NUMBERS = "float32 float64 int32 uint8 int16 int8 int64".split()
NUMBERS = [*OLD_NUMBERS, "uint16", "float16", "complex64", "complex128", "bool"]


def values(version):
    """A tensor of each dtype, and strings."""
    names = OLD_NUMBERS if version == 1 else NUMBERS
    made = {name: np.arange(6).reshape(2, 3).astype(name) for name in names}
    return made | {"text": np.array([b"", b"one", b"with \0 in it"], object)}


@pytest.mark.parametrize("version", [1, 2])
def test_checkpoint__goes_both_ways(tmp_path, version):
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in values(version).items():
            tf.get_variable(name, initializer=tf.constant(value))
        if version == 2:
            tf.get_variable("parts", [4, 3], initializer=tf.ones_initializer(),
                            partitioner=tf.fixed_size_partitioner(2))  # fmt: skip
        saver = tf.train.Saver(write_version=version)
        session.run(tf.global_variables_initializer())
        saver.save(session, str(tmp_path / "ours"))
    answer = tensorflow(
        f"version = {version}\n"
        + """
import base64
reader = tf.train.load_checkpoint(folder + "/ours")
values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
for name, value in values.items():
    tf.get_variable(name, initializer=tf.constant(value))
saver = tf.train.Saver(write_version=version)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    saver.save(session, folder + "/back")
def plain(v):
    if v.dtype == object:
        return [base64.b64encode(s).decode() for s in v]
    return v.astype("c16").real.tolist()
answer([{n: plain(v) for n, v in values.items()}, tf.train.latest_checkpoint(folder)])
""",
        tmp_path,
    )
    names, latest = answer
    assert latest == str(tmp_path / "back")
    parts = names.pop("parts", None)
    assert parts == ([[1, 1, 1]] * 4 if version == 2 else None)
    assert set(names) == {*values(version)}
    assert [base64.b64decode(s) for s in names["text"]] == list(values(version)["text"])
    assert tf.train.latest_checkpoint(str(tmp_path)) == latest
    reader = tf.train.NewCheckpointReader(latest)
    for name, value in values(version).items():
        got = reader.get_tensor(name)
        assert got.dtype == value.dtype or name == "text"
        np.testing.assert_array_equal(got, value)
        if name != "text":
            np.testing.assert_array_equal(names[name], value.astype(complex).real)


@pytest.mark.parametrize("text", [False, True])
def test_saved_model__goes_both_ways(tmp_path, text):
    with tf.Graph().as_default(), tf.Session() as session:
        build(True)
        session.run(tf.global_variables_initializer())
        graph = tf.get_default_graph()
        signature = tf.saved_model.signature_def_utils.predict_signature_def(
            {"in": graph.get_tensor_by_name("x:0")}, {"out": graph.get_tensor_by_name("y:0")}
        )
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "ours"))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save(as_text=text)
    assert tensorflow(
        f"text = {text}\n"
        + """
with tf.Session() as session:
    made = tf.saved_model.loader.load(session, ["serve"], folder + "/ours")
    signature = made.signature_def["serving_default"]
    y = session.run(signature.outputs["out"].name, {signature.inputs["in"].name: [[1.0, 1.0]]})
    builder = tf.saved_model.builder.SavedModelBuilder(folder + "/back")
    builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
    builder.save(as_text=text)
    answer(y.tolist())
""",
        tmp_path,
    ) == [[4.0, 6.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "back"))
        signature = made.signature_def["serving_default"]
        y = session.run(signature.outputs["out"].name, {signature.inputs["in"].name: [[1.0, 1.0]]})
        assert y.tolist() == [[4.0, 6.0]]


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_records__go_both_ways(tmp_path, compression):
    records = [b"", b"one", b"\0" * 1000, bytes(range(256)) * 40]
    with tf.python_io.TFRecordWriter(str(tmp_path / "ours"), options=compression) as writer:
        for record in records:
            writer.write(record)
    answer = tensorflow(
        f"compression = {compression!r}\n"
        + """
import base64
kinds = tf.io.TFRecordCompressionType
kind = {"": kinds.NONE, "ZLIB": kinds.ZLIB, "GZIP": kinds.GZIP}[compression]
options = tf.io.TFRecordOptions(kind)
records = list(tf.python_io.tf_record_iterator(folder + "/ours", options))
with tf.python_io.TFRecordWriter(folder + "/back", options) as writer:
    for record in records:
        writer.write(record)
answer([base64.b64encode(r).decode() for r in records])
""",
        tmp_path,
    )
    assert [base64.b64decode(text) for text in answer] == records
    options = getattr(tf.python_io.TFRecordCompressionType, compression or "NONE")
    read = tf.python_io.tf_record_iterator(
        str(tmp_path / "back"), tf.python_io.TFRecordOptions(options))  # fmt: skip
    assert list(read) == records


EXAMPLES = """
def feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

def features():
    return tf.train.Features(feature={
        "text": feature([b"a", b""]), "floats": feature([0.5, -2.0]), "ints": feature([-1, 2**40])})

def make():
    lists = tf.train.FeatureLists(feature_list={
        "steps": tf.train.FeatureList(feature=[feature([1, 2]), feature([3])])})
    return [tf.train.Example(features=features()).SerializeToString(),
            tf.train.SequenceExample(context=features(), feature_lists=lists).SerializeToString()]

def parse(example, sequence):
    spec = {"text": tf.VarLenFeature(tf.string), "floats": tf.FixedLenFeature([2], tf.float32),
            "ints": tf.FixedLenFeature([2], tf.int64),
            "none": tf.FixedLenFeature([], tf.float32, 7.0)}
    one = tf.parse_single_example(example, spec)
    context, lists = tf.parse_single_sequence_example(
        sequence, spec, {"steps": tf.VarLenFeature(tf.int64)})
    with tf.Session() as session:
        one, context, lists = session.run([one, context, lists])
    return [[[t.decode() for t in f["text"].values], f["floats"].tolist(), f["ints"].tolist(),
             float(f["none"])] for f in (one, context)] + [
        lists["steps"].values.tolist(), lists["steps"].indices.tolist()]
"""


def test_examples__go_both_ways(tmp_path):
    names = {"tf": tf}
    exec(EXAMPLES, names)
    for name, data in zip(["example", "sequence"], names["make"]()):
        (tmp_path / name).write_bytes(data)
    answer = tensorflow(
        EXAMPLES
        + """
ours = [open(folder + "/" + name, "rb").read() for name in ("example", "sequence")]
for name, data in zip(["example.back", "sequence.back"], make()):
    with open(folder + "/" + name, "wb") as file:
        file.write(data)
answer(parse(*ours))
""",
        tmp_path,
    )
    features = [["a", ""], [0.5, -2.0], [-1, 2**40], 7.0]
    assert answer == [features, features, [1, 2, 3], [[0, 0], [0, 1], [1, 0]]]
    theirs = [(tmp_path / name).read_bytes() for name in ("example.back", "sequence.back")]
    with tf.Graph().as_default():
        assert names["parse"](*theirs) == answer


def test_events__go_both_ways(tmp_path):
    program = """
def write(folder):
    x = tf.constant([1.0, 2.0])
    tf.summary.scalar("loss", x[0])
    tf.summary.histogram("h", x)
    tf.summary.text("t", tf.constant("words"))
    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter(folder, tf.get_default_graph())
    with tf.Session() as session:
        writer.add_summary(session.run(merged), 3)
    writer.close()

def read(path):
    events = list(tf.train.summary_iterator(path))
    tags = [v.tag for e in events for v in e.summary.value]
    return [[e.WhichOneof("what") for e in events], tags, events[-1].step,
            events[-1].summary.value[0].simple_value]
"""
    names = {"tf": tf}
    exec(program, names)
    with tf.Graph().as_default():
        names["write"](str(tmp_path / "ours"))
    answer = tensorflow(
        program
        + """
write(folder + "/theirs")
answer(read(glob.glob(folder + "/ours/*")[0]))
""",
        tmp_path,
    )
    (theirs,) = (tmp_path / "theirs").iterdir()
    assert answer == names["read"](str(theirs))
    assert answer == [["file_version", "graph_def", "meta_graph_def", "summary"],
                      ["loss", "h", "t"], 3, 1.0]  # fmt: skip
