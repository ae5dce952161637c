"""Event files like those that TensorFlow 1.15 writes for the same program (make_events.py)."""

import importlib.util
import math
from pathlib import Path

import pytest

tf = pytest.importorskip("rheos.v1")

GOLDEN = Path(__file__).parents[2] / "golden"


def write_events(folder):
    """The generator's program, with Rheos; the path of the file."""
    spec = importlib.util.spec_from_file_location("make_events", GOLDEN / "make_events.py")
    make_events = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_events)
    make_events.write_events(tf, str(folder))
    (path,) = folder.iterdir()
    return path


def events_of(path):
    return list(tf.train.summary_iterator(str(path)))


def take_pictures(event):
    """The pixels of its pictures, whose files are emptied: compressors differ."""
    pixels = []
    for value in event.summary.value:
        if value.HasField("image"):
            with tf.Session() as session:
                file = tf.image.decode_png(value.image.encoded_image_string)
                pixels.append(session.run(file).tolist())
            value.image.encoded_image_string = b""
    return pixels


def test_events__are_tensorflows(tmp_path):
    got, expected = events_of(write_events(tmp_path)), events_of(GOLDEN / "events/all.tfevents")
    kinds = [event.WhichOneof("what") for event in expected]
    assert [event.WhichOneof("what") for event in got] == kinds
    assert set(kinds) == {"file_version", "graph_def", "summary", "session_log",
                          "tagged_run_metadata", "meta_graph_def"}  # fmt: skip
    for ours, theirs in zip(got, expected):
        ours.wall_time = theirs.wall_time
        ours.ClearField("source_metadata")
        if theirs.WhichOneof("what") == "meta_graph_def":
            continue
        if theirs.WhichOneof("what") == "graph_def":
            # Maps have no order.
            ours.graph_def, theirs.graph_def = (
                tf.GraphDef.FromString(event.graph_def).SerializeToString(deterministic=True)
                for event in (ours, theirs))  # fmt: skip
        assert take_pictures(ours) == take_pictures(theirs)
        assert ours.SerializeToString() == theirs.SerializeToString()


def test_events__hold_the_meta_graph_that_tensorflow_makes(tmp_path):
    ours, theirs = (
        [tf.MetaGraphDef.FromString(e.meta_graph_def) for e in events_of(path)
         if e.WhichOneof("what") == "meta_graph_def"]
        for path in (write_events(tmp_path), GOLDEN / "events/all.tfevents")
    )  # fmt: skip
    assert len(ours) == len(theirs) == 1
    assert ours[0].graph_def == theirs[0].graph_def
    assert ([op.name for op in ours[0].meta_info_def.stripped_op_list.op]
            == [op.name for op in theirs[0].meta_info_def.stripped_op_list.op])  # fmt: skip


def test_events__of_tensorflow_are_read():
    events = events_of(GOLDEN / "events/all.tfevents")
    assert [event.wall_time for event in events] == list(range(1, len(events) + 1))
    values = {value.tag: value for event in events for value in event.summary.value}
    assert values["scalar"].simple_value == 0.5
    assert math.isnan(values["not_a_number"].simple_value)
    assert values["ints"].histo.num == 25 and values["ints"].histo.max == 19
    assert values["clear/image/1"].image.colorspace == 4
    assert values["stereo/audio"].audio.num_channels == 2
    assert values["text"].tensor.string_val == ["*one* \u03c1".encode()]
    assert not values["text"].HasField("metadata")
