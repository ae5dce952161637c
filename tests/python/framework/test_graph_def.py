"""GraphDef messages: out of graphs, into graphs, changed on the way."""

import numpy as np
import pytest
import rheos.v1 as tf
from google.protobuf import text_format
from rheos.framework.messages import OpList


def small_graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.multiply(x, tf.constant([[1.0, 2.0]], name="w"), name="y")
        tf.split(x, 2, axis=1, name="parts")
        tf.no_op(name="nothing")
    return graph


def test_nodes_are_messages():
    definition = small_graph().as_graph_def()
    assert [n.name for n in definition.node][:3] == ["x", "w", "y"]
    y = definition.node[2]
    assert (y.op, list(y.input)) == ("Mul", ["x", "w"]) and y.attr["T"].type == tf.float32
    w = definition.node[1].attr["value"].tensor
    np.testing.assert_array_equal(tf.make_ndarray(w), [[1, 2]])
    assert definition.versions.producer == 134
    text = text_format.MessageToString(definition)
    assert text_format.Parse(text, tf.GraphDef()) == definition


def test_attributes_are_messages():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        shape = x.op.get_attr("shape")
        assert [d.size for d in shape.dim] == [-1, 2] and shape == x.shape.as_proto()
        assert x.op.node_def == x.graph.as_graph_def().node[0]
        value = tf.constant(b"text").op.get_attr("value")
        assert value.string_val == [b"text"] and tf.make_ndarray(value) == b"text"
    assert tf.TensorShape(None).as_proto().unknown_rank


def test_add_shapes_and_from_version():
    graph = small_graph()
    [shape] = graph.as_graph_def(add_shapes=True).node[2].attr["_output_shapes"].list.shape
    assert [d.size for d in shape.dim] == [-1, 2]
    assert [n.name for n in graph.as_graph_def(from_version=3).node][-1] == "nothing"
    everything = list(graph.as_graph_def().node)
    for first in (0, 1, 3, len(everything), len(everything) + 7):
        assert list(graph.as_graph_def(from_version=first).node) == everything[first:]


def test_a_changed_graph_is_imported():
    definition = small_graph().as_graph_def()
    for node in definition.node:
        if node.name == "w":
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([[3.0, 4.0]]))
    definition.node.add(name="z", op="Neg", input=["y"]).attr["T"].type = 1
    with tf.Graph().as_default(), tf.Session() as sess:
        x, z = tf.import_graph_def(definition, return_elements=["x:0", "z:0"], name="in")
        assert (x.name, z.name) == ("in/x:0", "in/z:0")
        np.testing.assert_array_equal(sess.run(z, {x: [[1, 1]]}), [[-3, -4]])


def test_inputs_are_mapped():
    definition = small_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        y, part, nothing = tf.import_graph_def(
            definition,
            input_map={"x:0": tf.constant([[5.0, 6.0]])},
            return_elements=["y:0", "parts:1", "nothing"],
        )
        assert nothing.name == "import/nothing" and nothing.type == "NoOp"
        assert [v.tolist() for v in sess.run([y, part])] == [[[5, 12]], [[6]]]
        [mapped] = tf.import_graph_def(
            definition, input_map={"x": [[1.0, 1.0]]}, return_elements=["x:0"]
        )
        assert mapped.op.type == "Const" and mapped.name == "import_1/_inputs/Const:0"


def four_nodes():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.no_op(name="a")
        a._set_device("/job:w")
        with tf.colocate_with(a):
            tf.no_op(name="b")
        with tf.control_dependencies([a]):
            tf.no_op(name="c")
        tf.placeholder(tf.float32, [], name="x")
    return graph.as_graph_def()


def test_devices_around_an_import():
    definition = four_nodes()
    definition.node[1].device = "/gpu:3"  # colocation is stronger
    seen = []

    def choose(op):
        seen.append((op.name, op.device, op.type))
        return "/device:CPU:7" if op.type == "NoOp" else tf.DeviceSpec(job="ps")

    def devices(graph):
        return [op.device for op in graph.get_operations()]

    with tf.Graph().as_default() as graph, tf.device("/job:ps/task:1"):
        tf.import_graph_def(definition, name="")
        assert devices(graph) == [
            "/job:w/task:1",
            "/job:w/task:1",
            "/job:ps/task:1",
            "/job:ps/task:1",
        ]
    with tf.Graph().as_default() as graph:
        with tf.device("/task:2"), tf.device(choose):
            tf.import_graph_def(definition, name="p")
        assert seen == [("p/a", "/job:w", "NoOp"), ("p/c", "", "NoOp"), ("p/x", "", "Placeholder")]
        assert devices(graph) == ["/task:2/device:CPU:7"] * 3 + ["/job:ps/task:2"]
        with tf.device(lambda op: None), pytest.raises(TypeError, match="got None"):
            tf.import_graph_def(definition, name="q")


def test_an_import_waits_for_the_control_dependencies():
    with tf.Graph().as_default() as graph:
        with tf.control_dependencies([tf.no_op(name="first")]):
            tf.import_graph_def(four_nodes(), name="")
            tf.import_graph_def(tf.GraphDef(node=[tf.NodeDef(name="y", op="NoOp", input=[])]))
        waits = {node.name: list(node.input) for node in graph.as_graph_def().node}
        assert waits == {
            "first": [],
            "a": ["^first"],
            "b": ["^first"],
            "c": ["^a", "^first"],
            "x": ["^first"],
            "import/y": ["^first"],
        }


def test_colocations_must_name_nodes():
    definition = four_nodes()
    del definition.node[0]
    del definition.node[1].input[:]
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="Node 'b' expects to be colocated with unknown node 'a'"),
    ):
        tf.import_graph_def(definition)


def test_an_empty_name_makes_names_unique():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0, name="a")
        with tf.colocate_with(a):
            tf.identity(a, name="b")
    definition = graph.as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(definition, name="")
        definition.node[0].attr["value"].tensor.float_val[:] = [2.0]
        again, b = tf.import_graph_def(definition, return_elements=["a", "b:0"], name="")
        assert (again.name, b.name) == ("a_1", "b_1:0")
        assert b.op.colocation_groups() == [b"loc:@a_1"]
        assert sess.run(["b:0", b]) == [1, 2]
        tf.import_graph_def(definition, name="x/")
        tf.import_graph_def(definition, name="x/")
        names = [op.name for op in graph.get_operations()]
        assert names[4:] == ["x/a", "x/b", "x/a_1", "x/b_1"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"graph_def": "no"}, TypeError, "graph_def must be a GraphDef proto."),
        ({"input_map": [1]}, TypeError, "input_map must be a dictionary mapping strings to Tensor"),
        ({"return_elements": [1]}, TypeError, "return_elements must be a list of strings."),
        ({"return_elements": ["no"]}, ValueError, "Requested return node 'no' not found"),
        ({"return_elements": ["y:1"]}, ValueError, "Invalid return output 1 of node 'y'"),
        ({"input_map": {"q:0": 1.0}}, ValueError,
         "Attempted to map inputs that were not found in graph_def: [q:0]"),
        ({"input_map": {"x": 1.0}, "name": ""}, ValueError, "requires a non-empty `name`"),
        ({"input_map": {"x": np.int32(1)}}, ValueError, "y"),
    ],
)  # fmt: skip
def test_wrong_imports_raise(arguments, error, text):
    with tf.Graph().as_default(), pytest.raises(error) as raised:
        tf.import_graph_def(**{"graph_def": small_graph().as_graph_def(), **arguments})
    assert text in str(raised.value)


def test_what_is_not_known_is_kept(caplog):
    definition = small_graph().as_graph_def()
    for name, inputs in (("a", ["x"]), ("b", ["a:1", "^nothing"])):
        node = definition.node.add(name=name, op="FromElsewhere", input=inputs)
        node.attr["depth"].i = 3
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(definition, name="")
        assert graph.as_graph_def() == definition
        assert graph.get_operation_by_name("a").get_attr("depth") == 3
        assert sess.run("y:0", {"x:0": [[1, 1]]}).tolist() == [[1, 2]]
        with pytest.raises(tf.errors.UnimplementedError, match="'FromElsewhere' .2 nodes"):
            sess.run("b:0", {"x:0": [[1, 1]]})


def test_graphs_are_written_as_text_and_bytes(tmp_path):
    graph = small_graph()
    text = tf.train.write_graph(graph, str(tmp_path / "deep"), "graph.pbtxt")
    data = tf.train.write_graph(graph.as_graph_def(), str(tmp_path), "graph.pb", as_text=False)
    with open(text, encoding="utf-8") as file:
        assert text_format.Parse(file.read(), tf.GraphDef()) == graph.as_graph_def()
    with open(data, "rb") as file:
        assert tf.GraphDef.FromString(file.read()) == graph.as_graph_def()


@pytest.mark.parametrize(
    "values",
    [
        np.float32(1.5),
        np.arange(6, dtype=np.int64).reshape(2, 3),
        np.zeros((2, 0), np.float64),
        np.array([True, False]),
        np.array([1 + 2j], np.complex64),
        np.array(0.5, np.float16),
        np.array([7], np.uint64),
        np.array([b"a", b""], object),
    ],
)
def test_arrays_go_through_tensor_protos(values):
    proto = tf.make_tensor_proto(values)
    back = tf.make_ndarray(proto)
    assert back.dtype == values.dtype and back.shape == values.shape
    np.testing.assert_array_equal(back, values)


def test_tensor_protos_take_pythons_values():
    assert tf.make_tensor_proto(1.5).float_val == [1.5]
    assert tf.make_tensor_proto([1, 2]).dtype == tf.int32
    filled = tf.make_tensor_proto(7.0, shape=[2, 2])
    assert filled.float_val == [7] and tf.make_ndarray(filled).tolist() == [[7, 7], [7, 7]]
    with pytest.raises(ValueError, match="Too many elements provided"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])


def test_tensor_protos_are_those_of_constants():
    for values, dtype in (
        ([1, 2], tf.float16),
        ([1, 2], tf.bfloat16),
        ([1 + 2j, 3], tf.complex64),
        (np.array([[1 + 2j]]), None),
        ([True, False], None),
        ([1, 2, 3], tf.int64),
        (["a", b"b"], None),
    ):
        with tf.Graph().as_default() as graph:
            tf.constant(values, dtype=dtype, name="c")
        (node,) = graph.as_graph_def().node
        assert tf.make_tensor_proto(values, dtype=dtype) == node.attr["value"].tensor
    assert list(tf.make_tensor_proto([1, 2], dtype=tf.bfloat16).half_val) == [0x3F80, 0x4000]
    assert not tf.make_tensor_proto([1j, 2]).tensor_content  # one by one, as TensorFlow writes them


def test_constants_hold_as_many_values_as_were_given():
    with tf.Graph().as_default() as graph:
        tf.constant(0.0, shape=[3])
        tf.constant([1, 2], shape=[4])
        tf.constant("a", shape=[2])
        tf.constant([0.0, 0.0])
        tf.zeros([2, 2], tf.float64)
        tf.constant_initializer(0.5)([4])
    values = [node.attr["value"].tensor for node in graph.as_graph_def().node]
    assert list(values[0].float_val) == [0.0]
    assert list(values[1].int_val) == [1, 2]
    assert list(values[2].string_val) == [b"a"]
    assert len(values[3].tensor_content) == 8
    assert list(values[4].double_val) == [0.0]
    assert list(values[5].float_val) == [0.5]
    # Another import gives the same message.
    with tf.Graph().as_default() as again:
        tf.import_graph_def(graph.as_graph_def(), name="")
    assert again.as_graph_def() == graph.as_graph_def()
    assert tf.make_ndarray(values[1]).tolist() == [1, 2, 2, 2]


def test_newer_attributes_with_their_default_are_dropped():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.constant(1.0, name="x"), name="y")
        tf.identity(tf.constant(1.0), name="z")
    message = graph.as_graph_def()
    for node in message.node:
        if node.op == "Identity":
            node.attr["newer"].i = 3 if node.name == "y" else 4
    ops = OpList()
    op = ops.op.add(name="Identity")
    op.attr.add(name="newer", type="int").default_value.i = 3
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="", producer_op_list=ops)
        tf.import_graph_def(message, name="kept")
    kept = {node.name: dict(node.attr) for node in graph.as_graph_def().node}
    assert "newer" not in kept["y"] and kept["z"]["newer"].i == 4
    assert kept["kept/y"]["newer"].i == 3
    assert message.node[1].attr["newer"].i == 3  # the caller's message stays as it was


def test_an_array_interface_is_an_array():
    class Described:
        def __init__(self, array):
            self.array = array  # keeps the bytes
            self.__array_interface__ = array.__array_interface__

    value = Described(np.array([1.5, 2.5], np.float32))
    assert list(tf.make_ndarray(tf.make_tensor_proto(value))) == [1.5, 2.5]
    with tf.Session() as sess:
        assert sess.run([tf.constant(value), tf.convert_to_tensor(value) * 2])[1].tolist() == [3, 5]


def tripled(x, trips=3):
    return tf.while_loop(lambda i, x: i < trips, lambda i, x: (i + 1, x * 2.0), [0, x])[1]


def frames_of(graph):
    return {op.get_attr("frame_name") for op in graph.get_operations() if op.type == "Enter"}


def test_frames_of_loops__are_the_graphs_own():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(tripled(x), name="y")
        made = graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        p = tf.placeholder(tf.float32, [])
        (a,) = tf.import_graph_def(made, {"x:0": p}, ["y:0"], name="")
        assert frames_of(graph) == {b"while/while_context"}  # as in the file
        (b,) = tf.import_graph_def(made, {"x:0": a}, ["y:0"], name="b")
        c = tripled(b, 2)
        d = tf.while_loop(
            lambda i, z: i < 2,
            lambda i, z: (i + 1, z + tf.import_graph_def(made, {"x:0": z}, ["y:0"])[0]),
            [0, c],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
        )[1]
        assert len(frames_of(graph)) == 5
        with tf.Session() as session:
            assert session.run([a, b, c, d], {p: 1.0}) == [8.0, 64.0, 256.0, 256.0 * 81]


def test_frames_of_a_meta_graph__are_those_of_its_contexts():
    with tf.Graph().as_default():
        tf.identity(tripled(tf.placeholder_with_default(1.0, [], name="x")), name="y")
        made = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tripled(tf.constant(1.0))
        tf.import_graph_def(made.graph_def, name="")
        for scope in ("once", "again"):
            tf.train.import_meta_graph(made, import_scope=scope)
            y = graph.get_tensor_by_name(f"{scope}/y:0")
            slope = tf.gradients(y, graph.get_tensor_by_name(f"{scope}/x:0"))
            with tf.Session() as session:
                assert session.run([y, slope]) == [8.0, [8.0]]


def test_an_attribute_that_stands_for_another_is_refused():
    definition = tf.GraphDef()
    node = definition.node.add(name="p", op="Placeholder")
    node.attr["dtype"].type = 3
    node.attr["shape"].placeholder = "s"
    with tf.Graph().as_default(), pytest.raises(ValueError, match="is a shape, got a placeholder"):
        tf.import_graph_def(definition, name="")


@pytest.mark.parametrize("name, fails", [(b"a\0b", None), (b"/", None), (b"", "a frame name")])
def test_frames_with_odd_names_are_imported(name, fails):
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="w")
    definition = graph.as_graph_def()
    for node in definition.node:
        if node.op == "Enter":
            node.attr["frame_name"].s = name
    with tf.Graph().as_default(), tf.Session() as session:
        (last,) = tf.import_graph_def(definition, return_elements=["w/Exit:0"], name="")
        if fails is None:
            assert session.run(last) == 3
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match=fails):
                session.run(last)
