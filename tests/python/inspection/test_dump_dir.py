"""Folders of dumped steps: nodes, ways between them, and folders that are not sound."""

import os

import pytest
import rheos.v1 as tf
from rheos.inspection import dump_dir
from rheos.v1._insides import debug as tf_debug


@pytest.fixture
def dump(tmp_path):
    x = tf.placeholder(tf.float32, [2], name="x")
    first, second = tf.split(x, 2, name="parts")
    with tf.control_dependencies([tf.no_op(name="before")]):
        total = tf.add(first, second, name="total")
    options = tf.RunOptions()
    tf_debug.watch_graph(options, total.graph, debug_urls=f"file://{tmp_path}")
    with tf.Session() as sess:
        sess.run(total, {x: [1, 2]}, options=options)
    return tf_debug.DebugDumpDir(str(tmp_path))


def test_nodes_and_what_they_are_linked_to(dump):
    assert dump.devices() == ["/job:localhost/replica:0/task:0/device:CPU:0"]
    assert dump.node_exists("total") and not dump.node_exists("nope")
    assert dump.node_op_type("total") in ("Add", "AddV2")
    assert dump.node_device("total") == dump.devices()[0]
    assert dump.node_attributes("total")["T"].type == tf.float32.as_datatype_enum
    assert dump.node_inputs("total") == ["parts", "parts:1"]
    assert dump.node_inputs("total", is_control=True) == ["before"]
    assert dump.node_recipients("x") == ["parts"]
    assert dump.node_recipients("before", is_control=True) == ["total"]
    assert set(dump.transitive_inputs("total")) == {"parts", "x", "parts/split_dim", "before"}
    assert "before" not in dump.transitive_inputs("total", include_control=False)
    assert dump.find_some_path("x", "total") == ["x", "parts", "total"]
    assert dump.find_some_path("total", "x") is None


def test_outputs_have_numbers(dump):
    assert dump.get_tensors("parts", 1, "DebugIdentity")[0].tolist() == [2.0]
    datum = dump.watch_key_to_data("parts:1:DebugIdentity")[0]
    assert (datum.node_name, datum.output_slot, datum.tensor_name) == ("parts", 1, "parts:1")
    assert datum.dump_size_bytes == os.path.getsize(datum.file_path)
    (microseconds,) = dump.get_rel_timestamps("parts", 1, "DebugIdentity")
    assert microseconds == datum.timestamp - dump.t0 >= 0
    assert dump.size == len(dump.dumped_tensor_data)


def test_a_predicate_finds_tensors(dump):
    def is_two(datum, tensor):
        return tensor.size == 1 and tensor.ravel()[0] == 2

    assert [d.tensor_name for d in dump.find(is_two)] == ["parts:1"]
    assert dump.find(is_two, exclude_node_names="par") == []
    assert len(dump.find(lambda datum, tensor: True, first_n=2)) == 2


def test_lines_of_the_program_are_known_from_its_graph(dump):
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("total")
    dump.set_python_graph(tf.get_default_graph())
    assert any(frame[0] == __file__ for frame in dump.node_traceback("total"))


def test_what_is_not_there(dump, tmp_path):
    with pytest.raises(ValueError, match='"nope:0:DebugIdentity" does not exist'):
        dump.get_tensors("nope", 0, "DebugIdentity")
    with pytest.raises(ValueError, match="nope"):
        dump.node_inputs("nope")
    assert dump.watch_key_to_data("nope:0:DebugIdentity") == []
    with pytest.raises(OSError, match="does not exist"):
        tf_debug.DebugDumpDir(str(tmp_path / "nope"))


def test_damaged_folders(dump, tmp_path):
    datum = dump.watch_key_to_data("total:0:DebugIdentity")[0]
    with open(datum.file_path, "wb") as file:
        file.write(b"\xff\xff\xff")
    with pytest.raises(ValueError, match="is no dumped Event"):
        tf_debug.DebugDumpDir(str(tmp_path)).get_tensors("total", 0, "DebugIdentity")
    stray = os.path.join(os.path.dirname(datum.file_path), "stray")
    with open(stray, "wb"):
        pass
    with pytest.raises(ValueError, match="stray"):
        tf_debug.DebugDumpDir(str(tmp_path))
    os.rename(stray, os.path.join(os.path.dirname(stray), "stray_0_DebugIdentity_12"))
    with pytest.raises(ValueError, match="'stray' is not found"):
        tf_debug.DebugDumpDir(str(tmp_path))
    assert tf_debug.DebugDumpDir(str(tmp_path), validate=False).watch_key_to_data(
        "stray:0:DebugIdentity"
    )


def test_nodes_of_tensorflows_debugging_are_left_out():
    graph_def = tf.GraphDef()
    graph_def.node.add(name="a", op="Const")
    graph_def.node.add(name="__copy_a_0", op="Copy", input=["a"])
    graph_def.node.add(name="__dbg_a:0_0_DebugIdentity", op="DebugIdentity", input=["__copy_a_0"])
    graph_def.node.add(name="b", op="Neg", input=["__copy_a_0"])
    made = tf_debug.reconstruct_non_debug_graph_def(graph_def)
    assert [(n.name, list(n.input)) for n in made.node] == [("a", []), ("b", ["a"])]


def test_devices_by_their_folders():
    name = "_tfdbg_device_,job_ps,replica_0,task_3,device_GPU_1"
    assert dump_dir.device_of_folder(name) == "/job:ps/replica:0/task:3/device:GPU:1"
