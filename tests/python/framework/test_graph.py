"""Graphs, operations and tensors: names, scopes, look-ups, collections, attributes, errors."""

import pickle
import time

import numpy as np
import pytest
import rheos.v1 as tf


def names(graph=None):
    return [op.name for op in (graph or tf.get_default_graph()).get_operations()]


def inputs(op):
    return [t.name for t in op.inputs]


# ---- Operators


def test_operators_open_a_scope_for_their_constant():
    x = tf.placeholder(tf.float32, [2], name="p")
    results = [x + 1, 1 + x, x - 1, 2 * x, x / 2, x // 2, x % 2, x**2, -x, abs(x), x < 1, 1 >= x]
    assert [r.op.type for r in results] == [
        "AddV2",
        "AddV2",
        "Sub",
        "Mul",
        "RealDiv",
        "FloorDiv",
        "FloorMod",
        "Pow",
        "Neg",
        "Abs",
        "Less",
        "LessEqual",
    ]
    assert names()[1:] == [
        "add/y",
        "add",
        "add_1/x",
        "add_1",
        "sub/y",
        "sub",
        "mul/x",
        "mul",
        "truediv/y",
        "truediv",
        "floordiv/y",
        "floordiv",
        "mod/y",
        "mod",
        "pow/y",
        "pow",
        "Neg",
        "Abs",
        "Less/y",
        "Less",
        "LessEqual/y",
        "LessEqual",
    ]
    assert inputs(results[1].op) == ["add_1/x:0", "p:0"]
    assert all(r.dtype == "float32" for r in results[:10]) and results[10].dtype == tf.bool


def test_logical_operators():
    b = tf.placeholder(tf.bool, [2], name="b")
    results = [b & b, b | True, b ^ b, ~b]
    assert [r.name for r in results] == ["and:0", "or:0", "xor:0", "LogicalNot:0"]
    assert "xor/LogicalNot" in names()


def test_operators_with_arrays_lists_and_variables(sess):
    x = tf.constant([1.0, 2.0])
    v = tf.Variable([10.0, 20.0])
    sess.run(v.initializer)
    assert sess.run(np.array([1.0, 2.0]) * x).tolist() == [1, 4]
    assert sess.run(np.float32(3) + x).tolist() == [4, 5]
    assert sess.run(x - [1, 1]).tolist() == [0, 1]
    assert sess.run([1, 1] - x).tolist() == [0, -1]
    assert sess.run(v + x).tolist() == [11, 22] and sess.run(1 - v).tolist() == [-9, -19]
    assert sess.run(x > np.array([1.5, 1.5])).tolist() == [False, True]
    assert sess.run(np.array([1.5, 1.5]) > x).tolist() == [True, False]
    assert sess.run(tf.eye(2) @ [[1.0], [2.0]]).tolist() == [[1], [2]]
    assert sess.run([[1.0, 2.0]] @ tf.eye(2)).tolist() == [[1, 2]]
    assert sess.run(x + [x[0], 5.0]).tolist() == [2, 7]


def test_integers_divide_to_floats(sess):
    i = tf.constant([7, -7])
    assert (i / 2).dtype == tf.float64 and sess.run(i / 2).tolist() == [3.5, -3.5]
    assert sess.run(i // 2).tolist() == [3, -4] and sess.run(i % 4).tolist() == [3, 1]
    assert (tf.constant([1], tf.int8) / 2).dtype == tf.float32


def test_operands_have_to_fit():
    i, f = tf.constant(1), tf.constant(1.0)
    text = "Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'"
    with pytest.raises(TypeError, match=text):
        i + 1.5
    with pytest.raises(TypeError, match=text):
        i + f
    with pytest.raises(TypeError, match="Expected int32, got 1.5 of type 'float' instead."):
        1.5 + i
    with pytest.raises(TypeError, match="Failed to convert object of type <class 'object'>"):
        f + object()
    with pytest.raises(ValueError, match="None values not supported."):
        f + None
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        f + foreign
    with pytest.raises(ValueError, match="must be from the same graph as"):
        tf.add(f, foreign)
    with pytest.raises(ValueError):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    assert tf.Session().run(f + 1) == 2


def test_an_operand_may_bring_its_own_operator():
    class Mine:
        def __radd__(self, other):
            return "mine"

    assert tf.constant(1) + Mine() == "mine"


def test_tensors_compare_by_identity_and_have_no_value():
    x, y = tf.constant([1]), tf.constant([1])
    assert x == x and x != y and {x: 1, y: 2}[x] == 1
    with pytest.raises(TypeError, match="using a `tf.Tensor` as a Python `bool` is not allowed"):
        bool(x < y)
    with pytest.raises(TypeError, match="only iterable when eager execution is enabled"):
        list(x)
    with pytest.raises(TypeError, match="len is not well defined for symbolic Tensors"):
        len(x)
    with pytest.raises(NotImplementedError, match=r"Cannot convert a symbolic Tensor \(Const:0\)"):
        np.array(x)
    with pytest.raises(TypeError):
        int(x)
    with pytest.raises(TypeError, match="cannot be made directly"):
        tf.Tensor(x.op, 0, tf.int32)


def test_tensors_show_themselves():
    x = tf.placeholder(tf.float32, [None, 3])
    assert repr(x) == "<tf.Tensor 'Placeholder:0' shape=(?, 3) dtype=float32>"
    assert str(x) == 'Tensor("Placeholder:0", shape=(?, 3), dtype=float32)'
    assert str(tf.placeholder(tf.int32)) == 'Tensor("Placeholder_1:0", dtype=int32)'
    with tf.device("/cpu:0"):
        assert str(tf.constant(1)) == (
            'Tensor("Const:0", shape=(), dtype=int32, device=/device:CPU:0)'
        )
    assert repr(x.op) == "<tf.Operation 'Placeholder' type=Placeholder>"
    assert type(x) is tf.Tensor and type(x.op) is tf.Operation


# ---- Slicing


ARRAY = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (1, 2),
        (0, slice(None), 1),
        slice(1, None),
        slice(None, None, 2),
        (slice(None), slice(2, 0, -1)),
        (Ellipsis, 1),
        (Ellipsis, slice(1, 3), None),
        (None, 0, Ellipsis),
        slice(None, None, -1),
        (slice(0, 0),),
        (slice(None), -1, slice(-2, None)),
        np.int64(1),
        (slice(None, 1), Ellipsis),
    ],
)
def test_slicing_picks_what_numpy_picks(sess, key):
    result = tf.constant(ARRAY)[key]
    assert sess.run(result).tolist() == ARRAY[key].tolist()
    assert result.shape.as_list() == list(ARRAY[key].shape)


def test_slicing_with_tensors_and_masks(sess):
    x = tf.constant(ARRAY)
    i = tf.placeholder(tf.int32, [])
    assert sess.run(x[i, i + 1 :], {i: 1}).tolist() == ARRAY[1, 2:].tolist()
    assert sess.run(x[:, :, tf.constant(2)]).tolist() == ARRAY[:, :, 2].tolist()
    assert sess.run(x[x.shape[0].value - 1, 0]).tolist() == ARRAY[1, 0].tolist()
    assert sess.run(x[x > 20]).tolist() == [21, 22, 23]
    v = tf.Variable(ARRAY)
    sess.run(v.initializer)
    assert sess.run(v[1, :2]).tolist() == ARRAY[1, :2].tolist()
    for wrong in ("a", 1.5, [[0]]):
        with pytest.raises(TypeError, match="valid indices"):
            x[wrong]


# ---- Constants


def test_constants_have_tensorflows_dtypes():
    for value, dtype in (
        (1, "int32"),
        (2**40, "int64"),
        (1.0, "float32"),
        (True, "bool"),
        ("a", "string"),
        (1j, "complex128"),
        ([1, 2.5], "float32"),
        ([], "float32"),
        (np.float64(1), "float64"),
        (np.array([1]), "int64"),
        (np.array(["a"]), "string"),
        ([np.float64(1)], "float32"),
        (np.zeros(2, np.uint8), "uint8"),
        ([b"x"], "string"),
    ):
        assert tf.constant(value).dtype == dtype, value


def test_constants_take_dtype_and_shape(sess):
    assert sess.run(tf.constant([1, 2, 3], tf.float64)).dtype == np.float64
    assert sess.run(tf.constant(0, shape=[2, 2])).tolist() == [[0, 0], [0, 0]]
    assert sess.run(tf.constant([1, 2, 3], shape=[2, 2])).tolist() == [[1, 2], [3, 3]]
    assert sess.run(tf.constant("a", shape=[2])).tolist() == [b"a", b"a"]
    assert sess.run(tf.constant(tf.TensorShape([2, 3]))).tolist() == [2, 3]
    assert sess.run(tf.constant([tf.Dimension(4), 1])).tolist() == [4, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            ([[1, 2], [3]],),
            ValueError,
            r"Argument must be a dense tensor: \[\[1, 2\], \[3\]\] - got shape \[2\], but wanted "
            r"\[2, 2\].",
        ),
        ((1.5, tf.int32), TypeError, "Expected int32, got 1.5 of type 'float' instead."),
        (([1, "a"], tf.int32), TypeError, "Expected int32, got 'a' of type 'str' instead."),
        (("a", tf.float32), TypeError, "Expected float32, got 'a' of type 'str' instead."),
        (
            ([1, 2, 3, 4, 5], None, [2, 2]),
            ValueError,
            "Too many elements provided. Needed at most 4, but received 5",
        ),
        ((None,), ValueError, "None values not supported."),
        ((object(),), TypeError, "Failed to convert object of type"),
        ((2**63, tf.int64), OverflowError, "Python int too large to convert to C long"),
        ((np.zeros([1] * 9),), ValueError, "at most 8 dimensions"),
        ((np.array(["2020-01-01"], "datetime64[D]"),), TypeError, ""),
    ],
)
def test_constants_that_cannot_be(arguments, error, text):
    before = len(names())
    with pytest.raises(error, match=text or None):
        tf.constant(*arguments)
    assert len(names()) == before


def test_lists_with_tensors_are_packed(sess):
    x = tf.constant(3.0, name="x")
    packed = tf.convert_to_tensor([[1.0, x], [x, 2.0]])
    assert sess.run(packed).tolist() == [[1, 3], [3, 2]] and packed.op.type == "Pack"
    with pytest.raises(TypeError, match="List of Tensors when single Tensor expected"):
        tf.constant([x, 1])
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with"):
        tf.convert_to_tensor(x, tf.int32)


# ---- Look-ups


def test_elements_are_found_by_name():
    graph = tf.get_default_graph()
    with tf.name_scope("scope"):
        parts = tf.split(tf.constant([1.0, 2.0]), 2, name="parts")
    op = graph.get_operation_by_name("scope/parts")
    assert op is parts[0].op and op.outputs[1] is parts[1] and op.values() == tuple(parts)
    assert graph.get_tensor_by_name("scope/parts:1") is parts[1]
    assert graph.as_graph_element("scope/parts") is op
    assert parts[1].value_index == 1 and parts[1].name == "scope/parts:1"
    for call, error, text in (
        (lambda: graph.get_operation_by_name("q"), KeyError, "refers to an Operation not in the"),
        (lambda: graph.get_tensor_by_name("q:0"), KeyError, "The operation, 'q', does not exist"),
        (lambda: graph.get_tensor_by_name("scope/parts:7"), KeyError, "only has 2 outputs"),
        (lambda: graph.get_tensor_by_name("q"), ValueError, "looks like an .invalid. Operation"),
        (lambda: graph.get_tensor_by_name("scope/parts"), ValueError, "to an Operation, not a"),
        (lambda: graph.get_operation_by_name("a:0"), ValueError, "appears to refer to a Tensor"),
        (lambda: graph.get_operation_by_name(3), TypeError, "Operation names are strings"),
        (lambda: graph.as_graph_element(3), TypeError, "Can not convert a int into a Tensor or"),
    ):
        with pytest.raises(error, match=text or None):
            call()


def test_operations_know_their_surroundings():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.control_dependencies([x.op]):
        y = tf.matmul(x, [[1.0], [2.0]], transpose_b=False, name="y")
        z = tf.constant(1, name="z")
    op = y.op
    assert (op.name, op.type, op.device, op.graph) == ("y", "MatMul", "", tf.get_default_graph())
    assert inputs(op) == ["x:0", "y/b:0"] and len(op.outputs) == 1
    assert z.op.control_inputs == [x.op] and op._id == names().index("y")
    assert op.get_attr("T") is tf.float32 and op.get_attr("transpose_a") is False
    assert op.op_def.name == "MatMul" and [a.name for a in op.op_def.input_arg] == ["a", "b"]
    assert x.consumers() == [op] and y.consumers() == []
    assert x.op._control_outputs == [op.inputs[1].op, z.op] and op._control_outputs == []
    assert tf.add(z, z).op in z.consumers() and len(z.consumers()) == 1
    assert [d.size for d in x.op.get_attr("shape").dim] == [-1, 2]
    assert str(x.op).startswith('name: "x"\nop: "Placeholder"\nattr {\n  key: "dtype"')
    assert op.node_def.input[0] == "x" and op.node_def.attr["T"].type == 1
    assert op.traceback[-1][0] == __file__
    with pytest.raises(ValueError, match="Operation 'x' has no attr named 'nope'"):
        x.op.get_attr("nope")


def test_shapes_are_refined():
    x = tf.placeholder(tf.float32)
    assert x.shape.ndims is None and x.get_shape() == tf.TensorShape(None)
    x.set_shape([None, 3])
    x.set_shape(tf.TensorShape([2, None]))
    assert x.shape.as_list() == [2, 3] and np.zeros(x.shape).shape == (2, 3)
    with pytest.raises(
        ValueError, match="Dimension 1 in both shapes must be equal, but are 3 and 4"
    ):
        x.set_shape([None, 4])
    with pytest.raises(ValueError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


# ---- Scopes


def test_scopes_are_re_opened_with_a_slash():
    with tf.name_scope("a") as scope:
        assert scope == "a/"
        tf.constant(1, name="c")
    with tf.name_scope(scope):
        tf.constant(1, name="d")
        with tf.name_scope(None):
            tf.constant(1, name="top")
    with tf.name_scope("a") as again:
        assert again == "a_1/" and tf.get_default_graph().get_name_scope() == "a_1"
    assert names() == ["a/c", "a/d", "top"]
    with pytest.raises(ValueError, match="'a b' is not a valid scope name"):
        with tf.name_scope("a b"):
            pass
    with pytest.raises(ValueError, match="'a b' is not a valid node name"):
        tf.constant(1.0, name="a b")
    with tf.name_scope(None, "default", [tf.constant(1)]) as scope:
        assert scope == "default/"
    graph = tf.get_default_graph()
    assert graph.unique_name("c") == "c" and graph.unique_name("c") == "c_1"
    assert graph.unique_name("c", mark_as_used=False) == "c_2"


def test_an_error_inside_a_scope_leaves_it():
    with pytest.raises(RuntimeError):
        with tf.name_scope("a"), tf.device("/cpu:0"), tf.control_dependencies([tf.no_op()]):
            raise RuntimeError
    with pytest.raises(ValueError):
        tf.reshape(tf.ones([3]), [2, 2])
    c = tf.constant(1, name="c")
    assert (c.name, c.device, c.op.control_inputs) == ("c:0", "", [])


def test_control_dependencies_order_side_effects(sess):
    v = tf.Variable(1)
    sess.run(v.initializer)
    with tf.control_dependencies([v.assign_add(1)]):
        after = v.read_value()
        with tf.control_dependencies(None):
            free = tf.constant(1)
        with tf.control_dependencies([v.initializer]):
            both = tf.no_op()
    assert sess.run(after) == 2
    assert free.op.control_inputs == [] and len(both.control_inputs) == 2
    with pytest.raises(TypeError):
        tf.control_dependencies([3])


def test_device_functions_see_the_operation(sess):
    seen = []

    def choose(op):
        seen.append((op.type, op.name))
        return "/cpu:0" if op.type == "Const" else ""

    with tf.device(choose):
        c = tf.constant(1)
        d = c + 1
    e = tf.constant(2)
    assert c.device == "/cpu:0" and d.device == "" and e.device == ""
    assert [kind for kind, _ in seen] == ["Const", "Const", "AddV2"]
    assert sess.run(d) == 2


def test_device_functions_see_variables_and_whole_names():
    seen = {}

    def choose(op):
        seen[op.name] = op.node_def.op
        return "/job:ps" if "Var" in op.type else "/cpu:0"

    with tf.variable_scope("a"), tf.device(choose):
        v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [2], use_resource=True)
        with tf.name_scope("b"):
            c = tf.constant(1, name="c")
            tf.add(c, c, name="sum")
            tf.identity(c, name="sum")
        with tf.device(None):
            free = tf.constant(1)
        with tf.device("/cpu:0"):
            tf.constant(2, name="inner")
    assert seen == {
        "a/v": "VariableV2",
        "a/w": "VarHandleOp",
        "a/w/IsInitialized/VarIsInitializedOp": "VarIsInitializedOp",
        "a/w/Read/ReadVariableOp": "ReadVariableOp",
        "a/b/c": "Const",
        "a/b/sum": "Add",
        "a/b/sum_1": "Identity",
        "a/inner": "Const",
    }
    for part in (v, v.initializer, v.value(), w.handle, w.initializer):
        assert part.device == "/job:ps"
    assert v.initial_value.device == "" == free.device
    assert tf.constant(3).device == ""


def test_device_functions_see_operations_whole():
    seen = {}

    def choose(op):
        kind = op.get_attr("dtype" if op.type in ("Const", "VariableV2") else "T")
        ins, outs = [t.name for t in op.inputs], [(t.name, t.shape.as_list()) for t in op.outputs]
        seen[op.name] = (kind, ins, outs, [c.name for c in op.control_inputs], op.node_def.input)
        return "/cpu:0"

    first = tf.no_op(name="first")
    with tf.device(choose), tf.control_dependencies([first]):
        tf.add(tf.constant([1.0, 2.0], name="a"), 3.0, name="b")
    assert seen == {
        "a": (tf.float32, [], [("a:0", [2])], ["first"], ["^first"]),
        "b/y": (tf.float32, [], [("b/y:0", [])], ["first"], ["^first"]),
        "b": (tf.float32, ["a:0", "b/y:0"], [("b:0", [2])], [], ["a", "b/y"]),
    }


def test_device_functions_say_where_gradients_go():
    seen = []

    def choose(op):
        seen.append(op.type)
        return "/job:ps" if op.type.startswith("Var") else "/job:worker"

    with tf.device(choose):
        v = tf.get_variable("v", [2])
        loss = tf.reduce_sum(v * v)
        (gradient,) = tf.gradients(loss, v)
        step = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient, v)])
    made = tf.get_default_graph().get_operations()
    part = [op for op in made if op.name.startswith("gradients/")]
    part = [op for op in part if "_class" not in op.node_def.attr]
    assert len(part) > 5 and {op.device for op in part} == {"/job:worker"}
    (update,) = step.control_inputs
    assert update.device == "/job:ps" and step.device == "/job:worker"
    assert "Mul" in seen and "Tile" in seen


def test_device_functions_hear_of_the_devices_inside():
    seen = []

    def choose(answer):
        def function(op):
            seen.append(op.device)
            return answer(op.device)

        return function

    with tf.device("/job:outer/task:3"):
        with tf.device(choose(lambda device: device + "/cpu:1")), tf.device("/job:w"):
            a = tf.no_op()
        with tf.device(choose(lambda device: "")), tf.device("/gpu:0"):
            b = tf.no_op()
        with (
            tf.device(choose(lambda device: b"/job:ps")),
            tf.device(choose(lambda device: "/cpu:2")),
        ):
            c = tf.no_op()
    with tf.device(choose(lambda device: "/job:w")):
        with tf.colocate_with(b):
            d = tf.no_op()
            with tf.device(choose(lambda device: "/gpu:1")):
                e = tf.no_op()
    assert seen == ["/job:w", "/device:GPU:0", "", "/cpu:2", ""]
    assert [op.device for op in (a, b, c, d, e)] == [
        "/job:w/task:3/device:CPU:1",
        "/job:outer/task:3",
        "/job:ps/task:3",
        "/job:outer/task:3",
        "/job:outer/task:3",
    ]
    with tf.device(choose(lambda device: None)), pytest.raises(TypeError, match="got None"):
        tf.no_op()


def test_colocation():
    with tf.device("/cpu:0"):
        a = tf.constant(1, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2)
    assert b.device == "/device:CPU:0" and b.op.colocation_groups() == [b"loc:@a"]


def test_groups_and_tuples(sess):
    v = tf.Variable([0, 0])
    sess.run(v.initializer)
    both = tf.group(v.assign_add([1, 0]), v.assign_add([0, 1]), name="both")
    assert both.name == "both" and sess.run(both) is None and sess.run(v).tolist() == [1, 1]
    x, y = tf.tuple([tf.constant(1), tf.constant(2)])
    assert sess.run([x, y]) == [1, 2]
    assert [op.name for op in x.op.control_inputs] == ["tuple/group_deps"]
    with pytest.raises(TypeError, match="Expected tf.Tensor"):
        tf.group(3)


def test_a_finalized_graph_does_not_grow(sess):
    c = tf.constant(1)
    graph = tf.get_default_graph()
    graph.finalize()
    assert graph.finalized
    for call in (
        lambda: tf.constant(1),
        lambda: c + 1,
        lambda: tf.Variable(1),
        lambda: tf.add_to_collection("a", 1),
    ):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified."):
            call()
    with pytest.raises(RuntimeError) as said:
        tf.constant(2)
    line = test_a_finalized_graph_does_not_grow.__code__.co_firstlineno + 14
    assert f"({__file__}:{line})" in str(said.value)
    assert sess.run(c) == 1


def test_collections():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1, name="one/a")
        b = tf.constant(2, name="two/b")
        tf.add_to_collection("mine", a)
        graph.add_to_collections(["mine", "yours"], b)
        graph.add_to_collection("mine", "text")
        assert tf.get_collection("mine") == [a, b, "text"]
        assert tf.get_collection("mine", scope="two") == [b]
        assert tf.get_collection("none") == []
        tf.get_collection_ref("yours").append(a)
        assert tf.get_collection("yours") == [b, a]
        graph.clear_collection("yours")
        assert tf.get_collection("yours") == [] and "mine" in graph.get_all_collection_keys()


def test_default_graphs_nest():
    outer = tf.get_default_graph()
    with tf.Graph().as_default() as inner:
        assert tf.get_default_graph() is inner is not outer
        with pytest.raises(AssertionError):
            tf.reset_default_graph()
    assert tf.get_default_graph() is outer


def test_graph_defs_go_out_and_in():
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(2.0, name="two"), 3.0, name="five")
    definition = graph.as_graph_def()
    copy = tf.GraphDef()
    copy.ParseFromString(definition.SerializeToString())
    with tf.Graph().as_default() as other:
        (five,) = tf.import_graph_def(copy, return_elements=["five:0"])
        assert five.name == "import/five:0" and tf.Session().run(five) == 5
        tf.import_graph_def(copy, name="")
        assert other.get_operation_by_name("five").type == "Add"
        tf.import_graph_def(copy, name="")
        assert other.get_operation_by_name("five_1").type == "Add"


def test_raw_ops():
    x = tf.raw_ops.MatMul(a=[[1.0, 2.0]], b=[[3.0], [4.0]], name="product")
    assert x.op.name == "product" and tf.Session().run(x).tolist() == [[11]]
    parts = tf.raw_ops.Unpack(value=[1, 2], num=2)
    assert len(parts) == 2
    with pytest.raises(AttributeError):
        tf.raw_ops.NoSuchOp
    with pytest.raises(TypeError, match="missing: .'b'."):
        tf.raw_ops.MatMul(a=[[1.0]])


def test_names_that_do_not_exist_are_attribute_errors():
    for name in ("nope", "concat_v3", "session"):
        assert not hasattr(tf, name)
    assert "concat_v3" not in dir(tf) and "concat" in dir(tf)
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        tf.nope
    with pytest.raises(AttributeError):
        tf.nn.nope
    with pytest.raises(AttributeError):
        tf.train.nope


# ---- Shapes, dimensions, dtypes


def test_tensor_shapes():
    shape = tf.TensorShape([None, 3])
    assert repr(shape) == "TensorShape([Dimension(None), Dimension(3)])"
    assert (str(shape), str(tf.TensorShape([2])), str(tf.TensorShape(None))) == (
        "(?, 3)",
        "(2,)",
        "<unknown>",
    )
    assert shape.as_list() == [None, 3] and shape.ndims == 2 and len(shape) == 2
    assert shape[1].value == 3 and shape[1] == 3 and shape[:1].as_list() == [None]
    assert shape.concatenate([4]).as_list() == [None, 3, 4] and not shape.is_fully_defined()
    assert shape.merge_with([2, None]).as_list() == [2, 3]
    assert [d.value for d in shape] == [None, 3] and tf.TensorShape([2, 3]).num_elements() == 6
    assert shape == tf.TensorShape([None, 3]) and shape.is_compatible_with([7, 3])
    assert shape.with_rank(2) == shape and tf.TensorShape(5).as_list() == [5]
    for call, text in (
        (lambda: tf.TensorShape(None).as_list(), "as_list.. is not defined on an unknown"),
        (lambda: len(tf.TensorShape(None)), "Cannot take the length of shape with unknown rank."),
        (lambda: shape.merge_with([2, 4]), "are not compatible"),
        (lambda: shape.with_rank(3), "must have rank 3"),
        (lambda: tf.TensorShape([-2]), "must be >= 0"),
        (lambda: tf.TensorShape([1]).assert_is_compatible_with([2]), "are incompatible"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_shapes_differ_where_known_dimensions_do():
    shape = tf.TensorShape([None, 3])
    assert not shape != [7, 3] and shape != [7, 4] and shape != [3]
    with pytest.raises(ValueError, match="inequality of unknown"):
        shape != tf.TensorShape(None)  # noqa: B015


def test_shapes_are_joined_by_plus():
    shape = tf.TensorShape([None, 3])
    for other in ([4], (4,), 4, tf.Dimension(4), tf.TensorShape([4])):
        assert (shape + other).as_list() == [None, 3, 4]
        assert (other + shape).as_list() == [4, None, 3]


def test_dimensions():
    d = tf.Dimension(7)
    assert (d // 2, d + 1, 2 * d, d - 3, d % 4, 10 - d) == (3, 8, 14, 4, 3, 3)
    assert d > 3 and d == 7 and int(d) == 7 and list(range(d))[-1] == 6 and str(d) == "7"
    unknown = tf.Dimension(None)
    assert (unknown + 1).value is None and (unknown == 3) is None and str(unknown) == "?"
    with pytest.raises(TypeError, match="please use // instead"):
        d / 2
    with pytest.raises(ValueError):
        tf.Dimension(-1)


def test_dimensions_of_texts_pickles_and_types():
    assert tf.Dimension("12") == 12 and tf.Dimension(12) == "12" and tf.Dimension(12) != "13"
    assert pickle.loads(pickle.dumps(tf.Dimension(3))) == 3
    assert pickle.loads(pickle.dumps(tf.Dimension(None))).value is None
    with pytest.raises(TypeError, match="'int' and 'Dimension', please use //"):
        1 / tf.Dimension(2)
    with pytest.raises(TypeError, match="to Dimension"):
        tf.Dimension(tf.int32)


def test_dtypes():
    assert tf.float32 == "float32" == tf.float32.name and tf.float32 == np.float32
    assert repr(tf.float32) == "tf.float32" and str(tf.int8) == "<dtype: 'int8'>"
    assert tf.as_dtype("float") is tf.float32 and tf.as_dtype(3) is tf.int32
    assert tf.as_dtype(np.dtype("uint16")) is tf.uint16 and tf.as_dtype(float) is tf.float32
    assert tf.float32.as_numpy_dtype is np.float32 and tf.int16.size == 2
    assert tf.float64.is_floating and tf.int32.is_integer and tf.uint8.is_unsigned
    assert tf.complex64.is_complex and tf.complex64.real_dtype is tf.float32 and tf.bool.is_bool
    assert tf.int8.min == -128 and tf.uint8.max == 255 and tf.float16.max == 65504
    assert tf.float32 != tf.int32 and tf.float32 != "nonsense" and tf.float32 is not None
    assert tf.Variable(1.0).dtype.base_dtype is tf.float32
    assert tf.Variable(1.0).dtype.name == "float32_ref"
    with pytest.raises(TypeError, match="Cannot convert value 'foo' to a TensorFlow DType."):
        tf.as_dtype("foo")


def test_dropout_takes_sizes_that_are_tensors(sess):
    x = tf.placeholder(tf.float32, [None, 4, 5])
    size = tf.shape(x)[0]
    for shape in ([size, 1, 5], (size, 1, 5), tf.stack([size, 1, 5]), [None, 1, 5]):
        for dropped in (
            tf.nn.dropout(x, 0.5, noise_shape=shape),
            tf.layers.dropout(x, 0.5, noise_shape=shape, training=True),
        ):
            assert dropped.shape.as_list() == [None, 4, 5]
            kept = sess.run(dropped, {x: np.ones([3, 4, 5])})
            assert (kept == kept[:, :1]).all() and set(kept.ravel()) <= {0, 2}


def test_many_outputs_take_time_in_their_number():
    def seconds(count):
        with tf.Graph().as_default():
            x = tf.zeros([count, 1])
            start = time.process_time()
            parts = tf.split(x, count)
            assert parts[-1] is parts[0].op.outputs[count - 1]
            del parts
            return time.process_time() - start

    # Quadratic time would be 64 times as much.
    few = min(seconds(2000) for _ in range(3))
    many = min(seconds(16000) for _ in range(3))
    assert many < 30 * few + 0.05


def test_a_container_is_that_of_what_lies_in_one():
    with tf.Graph().as_default(), tf.container("outer"):
        variable = tf.get_variable("v", initializer=1.0)
        with tf.container("inner"):
            queue = tf.FIFOQueue(1, tf.int32)
            plain = tf.constant(1)
            with tf.container(""):
                other = tf.FIFOQueue(1, tf.int32)
        assert variable.op.get_attr("container") == b"outer"
        assert queue.queue_ref.op.get_attr("container") == b"inner"
        assert other.queue_ref.op.get_attr("container") == b""
        with pytest.raises(ValueError):
            plain.op.get_attr("container")
        with tf.Session() as session:
            session.run(variable.initializer)
            assert session.run(variable) == 1.0
