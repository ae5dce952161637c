"""Summaries from Python: the names and the bytes that TensorFlow 1.15 gives the same program."""

import glob
import time

import pytest
import rheos.v1 as tf

MERGED = (
    "0a0d0a066c6f73735f3115000040400a91010a0b66616d2f66616d2f615f622a810109000000000000f03f11"
    "0000000000000040190000000000000040210000000000000840290000000000001440322808996919155aed"
    "3f2b14facdbe24f03fdc94cd2e8d75ff3fe011f10c744d0140ffffffffffffef7f3a28000000000000000000"
    "0000000000f03f0000000000000000000000000000f03f00000000000000000a1a0a0174420b080712041202"
    "08014201784a080a060a04746578740a530a09732f617564696f2f3032460d0000fa45100118022230524946"
    "462800000057415645666d74201000000001000100401f0000803e0000020010006461746104000000000000"
    "002a09617564696f2f7761760a200a0274734212080112041202080222080000803f000000404a0612016e1a"
    "0164"
)


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def test_summary__names_and_bytes_are_tensorflows():
    x = tf.placeholder(tf.float32, [2], name="loss")
    tf.summary.scalar("loss", tf.reduce_sum(x))
    tf.summary.histogram("a b", x, family="fam")
    tf.summary.text("t", tf.constant(["x"]))
    tf.summary.audio("s", tf.zeros([1, 2]), 8000)
    tf.summary.tensor_summary("ts", x, summary_description="d", display_name="n")
    merged = tf.summary.merge_all()
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "loss", "Const", "Sum", "loss_1/tags", "loss_1", "fam/a_b/tag", "fam/a_b", "Const_1",
        "t/tag", "t/serialized_summary_metadata", "t", "zeros", "s/sample_rate", "s/tag", "s",
        "ts/tag", "ts/serialized_summary_metadata", "ts", "Merge/MergeSummary",
    ]  # fmt: skip
    with tf.Session() as session:
        assert session.run(merged, {x: [1, 2]}).hex() == MERGED


def test_summary__collections():
    assert tf.summary.merge_all() is None
    one = tf.summary.scalar("a", 1.0, collections=["mine"])
    assert tf.get_collection("mine") == [one]
    assert tf.summary.merge_all() is None
    assert tf.summary.merge_all("mine").op.name == "Merge/MergeSummary"


def test_summary__errors():
    twice = tf.summary.merge([tf.summary.scalar("a", 1.0)] * 2)
    bad = tf.summary.histogram("h", [1.0, float("nan")])
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a"):
            session.run(twice)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary histogram for: h"):
            session.run(bad)
    with pytest.raises(ValueError, match="dtype string"):
        tf.summary.text("t", tf.constant(1))


def test_summary__goes_into_event_files(tmp_path):
    summary = tf.summary.scalar("a", 1.5)
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(session.run(summary), 7)
    (path,) = tmp_path.iterdir()
    assert b"\x0a\x01a\x15\x00\x00\xc0?" in path.read_bytes()


def test_timestamp__is_now():
    with tf.Session() as session:
        assert abs(session.run(tf.timestamp()) - time.time()) < 60


# ---- Event files and messages


def events_of(folder):
    (path,) = folder.iterdir()
    return list(tf.train.summary_iterator(str(path)))


def test_summary__messages_are_written_and_read(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    value = tf.Summary.Value(tag="loss", simple_value=0.5)
    writer.add_summary(tf.Summary(value=[value]), 3)
    writer.add_summary(tf.Summary(value=[value]).SerializeToString(), 4)
    writer.add_event(tf.summary.Event(wall_time=1.5, step=5, summary=tf.Summary(value=[value])))
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 6)
    writer.add_run_metadata(tf.RunMetadata(), "run", 7)
    with pytest.raises(ValueError, match="already used"):
        writer.add_run_metadata(tf.RunMetadata(), "run", 8)
    writer.close()
    first, *events = events_of(tmp_path)
    assert first.file_version == "brain.Event:2"
    assert [event.step for event in events] == [3, 4, 5, 6, 7]
    assert all(event.summary.value[0].simple_value == 0.5 for event in events[:3])
    assert events[2].wall_time == 1.5 and abs(events[3].wall_time - time.time()) < 60
    assert events[3].session_log.status == tf.SessionLog.START
    assert events[4].tagged_run_metadata.tag == "run"


def test_summary__images(tmp_path):
    pixels = [[[[0.0], [1.0]], [[2.0], [float("nan")]]]] * 2
    one = tf.summary.image("pic", pixels, max_outputs=1)
    several = tf.summary.image("pics", tf.cast(pixels, tf.uint8), family="f")
    with tf.Session() as session:
        (value,) = tf.Summary.FromString(session.run(one)).value
        tags = [v.tag for v in tf.Summary.FromString(session.run(several)).value]
        decoded = session.run(tf.image.decode_png(value.image.encoded_image_string))
    assert value.tag == "pic/image" and tags == ["f/f/pics/image/0", "f/f/pics/image/1"]
    assert (value.image.height, value.image.width, value.image.colorspace) == (2, 2, 1)
    assert decoded[:, :, 0].tolist() == [[0, 127], [255, 255]]


def test_summary__damaged_event_files(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a")]), 1)
    writer.close()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    events = tf.train.summary_iterator(str(path))
    assert next(events).file_version == "brain.Event:2"
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        next(events)


def test_summary__descriptions_are_read():
    description = '{"typeHint": "scalar"}'
    value = tf.raw_ops.TensorSummary(tensor=tf.constant(1.0), description=description)
    node = value.op.node_def
    assert tf.summary.get_summary_description(node).type_hint == "scalar"
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.constant(1).op.node_def)


def test_summary__old_names():
    x = tf.constant([1.0, 2.0])
    tf.scalar_summary(["a", "b"], x)
    tf.histogram_summary("h", x, name="hist")
    tf.image_summary("i", tf.zeros([1, 1, 1, 1]), max_images=1)
    tf.audio_summary("s", tf.zeros([1, 2]), 8000.0)
    merged = tf.merge_all_summaries()
    with tf.Session() as session:
        summary = tf.Summary.FromString(session.run(merged))
    assert [v.tag for v in summary.value] == ["a", "b", "h", "i/image", "s/audio/0"]
    assert tf.train.SummaryWriter is tf.summary.FileWriter


def test_file_writers_of_a_session_share_a_file(tmp_path):
    with tf.Session() as session, tf.Session() as other:
        one = tf.summary.FileWriter(str(tmp_path), session=session)
        two = tf.summary.FileWriter(str(tmp_path), session=session)
        elsewhere = tf.summary.FileWriter(str(tmp_path), session=other, filename_suffix=".x")
        for step, writer in enumerate([one, two, one, elsewhere]):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a")]), step)
        one.close()
        with pytest.warns(UserWarning, match="closed"):
            one.add_summary(tf.Summary(), 9)  # goes nowhere
        two.add_summary(tf.Summary(), 4)
        two.close()
        elsewhere.close()
        files = sorted(tmp_path.iterdir(), key=lambda p: p.name.endswith(".x"))
        steps = [[e.step for e in tf.train.summary_iterator(str(f))][1:] for f in files]
        assert steps == [[0, 1, 2, 4], [3]]


def test_graph_defs_are_written_as_graphs(tmp_path):
    tf.constant(12, name="dozen")
    definition = tf.get_default_graph().as_graph_def()
    for i, how in enumerate(({"graph": definition}, {"graph_def": definition})):
        folder = str(tmp_path / str(i))
        tf.summary.FileWriter(folder, **how).close()
        (path,) = glob.glob(folder + "/*")
        _, graph, meta_graph = tf.train.summary_iterator(path)
        assert tf.GraphDef.FromString(graph.graph_def) == definition
        assert tf.MetaGraphDef.FromString(meta_graph.meta_graph_def).graph_def == definition
    with pytest.raises(ValueError, match="only graph, or graph_def"):
        tf.summary.FileWriter(str(tmp_path), tf.get_default_graph(), graph_def=definition)


def test_a_closed_writer_warns(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    writer.close()
    writer.flush()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(tf.Summary())
