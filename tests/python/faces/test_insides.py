"""What programs import from TensorFlow's insides and examples."""

import collections
import functools
import gzip
import struct
import sys
import types

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import logging
from rheos.v1._insides import (
    all_util,
    context,
    control_flow_ops,
    control_flow_util,
    data_nest,
    deprecation,
    dtypes as dtypes_inside,
    eager_function,
    file_io,
    freeze_graph,
    function_utils,
    generated_ops,
    inplace_ops,
    inside_module,
    inspect as tf_inspect,
    inspect_checkpoint,
    layers_utils,
    nest,
    object_identity,
    op_def_registry,
    ops as ops_inside,
    places,
    resource_variable_ops,
    resources,
    rnn_cell_impl,
    session as session_inside,
    tensor_shape,
    tensor_util,
    tf2,
    tf_decorator,
    variables as variables_inside,
    weights_broadcast_ops,
)
from rheos.v1.examples.tutorials.mnist import input_data


def test_ops_are_functions_with_arguments_by_position(sess):
    x = tf.constant([[1.0, -2.0]])
    gradient = generated_ops.relu_grad(x, tf.nn.relu(x), name="g")
    assert gradient.op.type == "ReluGrad" and gradient.op.name == "g"
    assert sess.run(generated_ops._relu_grad(x, features=x)).tolist() == [[1.0, 0.0]]
    filters = tf.ones([1, 1, 2, 1])
    made = generated_ops.conv2d(tf.ones([1, 3, 3, 2]), filters, [1, 1, 1, 1], padding="SAME")
    assert made.shape == (1, 3, 3, 1)
    with pytest.raises(TypeError, match="several values"):
        generated_ops.relu_grad(x, x, gradients=x)
    with pytest.raises(AttributeError, match="no_such_op"):
        generated_ops.no_such_op


def test_every_op_has_one_name():
    types = generated_ops._types()
    assert len(types) == len(dir(tf.raw_ops))
    assert types["conv2d_backprop_input"] == "Conv2DBackpropInput"
    assert types["sparse_softmax_cross_entropy_with_logits"]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_a_graph_is_frozen_from_files(tmp_path, use_resource, whole):
    tf.set_random_seed(1)
    v = tf.get_variable("v", [2, 2], use_resource=use_resource)
    tf.matmul(tf.constant([[1.0, 2.0]]), v, name="out")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run("out:0")
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.write_graph(session.graph_def, str(tmp_path), "graph.pbtxt")
    graph = "" if whole else str(tmp_path / "graph.pbtxt")
    meta = path + ".meta" if whole else ""
    frozen = freeze_graph.freeze_graph(
        graph, "", whole, path, "out", "save/restore_all", "save/Const:0",
        str(tmp_path / "frozen.pb"), True, "", input_meta_graph=meta,
    )  # fmt: skip
    read = tf.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes())
    assert read == frozen
    with tf.Graph().as_default(), tf.Session() as session:
        (out,) = tf.import_graph_def(read, return_elements=["out:0"])
        assert session.run(out).tolist() == expected.tolist()


def test_freezing_needs_a_checkpoint(tmp_path):
    tf.train.write_graph(tf.get_default_graph(), str(tmp_path), "graph.pbtxt")
    with pytest.raises(ValueError, match="doesn't exist"):
        freeze_graph.freeze_graph(
            str(tmp_path / "graph.pbtxt"), "", False, str(tmp_path / "none"), "out", "", "", "",
            True, "",
        )  # fmt: skip


def test_a_saver_takes_tensors_of_variables(tmp_path):
    tf.get_variable("plain", initializer=[1.0, 2.0])
    tf.get_variable("handle", initializer=[3], use_resource=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        definition = session.graph_def
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(definition, name="")
        tensors = {n: graph.get_tensor_by_name(n + ":0") for n in ("plain", "handle")}
        saver = tf.train.Saver(tensors)
        saver.restore(session, path)
        assert session.run("plain:0").tolist() == [1.0, 2.0]
        again = saver.save(session, str(tmp_path / "again"))
        assert tf.train.load_variable(again, "handle").tolist() == [3]


def test_what_is_in_a_checkpoint_is_printed(tmp_path, capsys):
    tf.get_variable("b", initializer=[1.0, 2.0])
    tf.get_variable("a", initializer=[[3]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    show = inspect_checkpoint.print_tensors_in_checkpoint_file
    show(path, None, True)
    assert capsys.readouterr().out == (
        "tensor_name:  a\n[[3]]\ntensor_name:  b\n[1. 2.]\n# Total number of params: 3\n"
    )
    show(path, "b", False, count_exclude_pattern="a")
    assert capsys.readouterr().out == "tensor_name:  b\n[1. 2.]\n# Total number of params: 2\n"
    show(path, None, False)
    assert "b (DT_FLOAT) [2]" in capsys.readouterr().out


def test_the_variables_of_an_optimizer_may_be_a_view_of_a_dict(sess):
    weights = {"a": tf.Variable(1.0), "b": tf.Variable(2.0)}
    loss = weights["a"] * weights["b"]
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, var_list=weights.values())
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    assert sess.run(list(weights.values())) == [0.0, 1.5]
    assert tf.nest.flatten({"x": 1}.items()) == ["x", 1]


def test_sizes_of_convolutions():
    assert layers_utils.normalize_tuple(2, 3, "k") == (2, 2, 2)
    with pytest.raises(ValueError, match="tuple of 2 integers"):
        layers_utils.normalize_tuple([1, 2, 3], 2, "k")
    assert layers_utils.conv_output_length(7, 3, "valid", 2) == 3
    assert layers_utils.deconv_output_length(3, 3, "valid", 2) == 7
    assert layers_utils.convert_data_format("channels_first", 4) == "NCHW"


def test_values_that_a_graph_tells():
    known = tensor_util.constant_value
    assert known(tf.constant(3)) == 3 and known(tf.range(1, 7, 2)).tolist() == [1, 3, 5]
    assert known(tf.range(0.0, 1.0, 0.5)).dtype == np.float32
    assert known(tf.stack([1, 2])).tolist() == [1, 2] and known(tf.stack([[1], [2]], 1)) is None
    assert known(tf.identity(tf.constant(3))) is None and known(tf.Variable(1.0)) is None
    shape = tf.shape(tf.placeholder(tf.float32, [2, None, 4]))
    part = tf.ones(tf.concat([shape[:-1], [5]], 0))
    assert part.shape.as_list() == [2, None, 5]
    table = tf.sparse.reset_shape(tf.sparse_placeholder(tf.float32, [2, None, 4]))
    assert table.shape.ndims == 3


def test_files_by_other_names(tmp_path):
    path = str(tmp_path / "a")
    file_io.atomic_write_string_to_file(path, b"\x00text")
    assert file_io.read_file_to_string(path, binary_mode=True) == b"\x00text"
    assert file_io.list_directory(str(tmp_path)) == ["a"]


def write_digits(folder, counts=(("train", 60), ("t10k", 10))):
    random = np.random.RandomState(0)
    for name, n in counts:
        images = random.randint(0, 256, (n, 4, 5)).astype(np.uint8)
        labels = random.randint(0, 10, n).astype(np.uint8)
        with gzip.open(folder / f"{name}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4I", 2051, n, 4, 5) + images.tobytes())
        with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2I", 2049, n) + labels.tobytes())


def test_digits_come_in_batches(tmp_path):
    write_digits(tmp_path)
    tf.set_random_seed(4)
    digits = input_data.read_data_sets(str(tmp_path), one_hot=True, validation_size=20)
    assert digits.train.num_examples == 40 and digits.validation.images.shape == (20, 20)
    assert digits.test.labels.shape == (10, 10) and digits.test.images.dtype == np.float32
    seen = [digits.train.next_batch(17)[0] for _ in range(5)]
    assert digits.train.epochs_completed == 2
    whole = np.concatenate(seen)[:40]
    assert sorted(whole.sum(1)) == sorted(digits.train.images.sum(1))
    again = input_data.read_data_sets(str(tmp_path), one_hot=True, validation_size=20)
    assert (again.train.next_batch(17)[0] == seen[0]).all()  # the graph's seed shuffles


def test_digits_as_they_are(tmp_path):
    write_digits(tmp_path)
    digits = input_data.read_data_sets(
        str(tmp_path), reshape=False, validation_size=0, dtype=tf.uint8, seed=3
    )
    images, labels = digits.train.next_batch(5, shuffle=False)
    assert images.shape == (5, 4, 5, 1) and images.dtype == np.uint8 and labels.dtype == np.uint8
    with pytest.raises(ValueError, match="between 0 and 60"):
        input_data.read_data_sets(str(tmp_path))
    fakes = input_data.read_data_sets("", fake_data=True, one_hot=True)
    assert fakes.train.next_batch(2, fake_data=True)[1] == [[1] + [0] * 9] * 2


def test_files_that_are_not_digits(tmp_path):
    write_digits(tmp_path)
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(b"\0" * 40)
    with pytest.raises(ValueError, match="Invalid magic number 0"):
        input_data.read_data_sets(str(tmp_path))
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">4I", 2051, 60, 4000, 5))
    with pytest.raises(ValueError, match="ends after 0 of 1200000"):
        input_data.read_data_sets(str(tmp_path))


def test_digits_that_can_not_be_fetched(tmp_path):
    source = (tmp_path / "nowhere").as_uri() + "/"
    with pytest.raises(OSError, match="could not be fetched"):
        input_data.read_data_sets(str(tmp_path / "digits"), source_url=source)
    source = (tmp_path / "here").as_uri() + "/"
    (tmp_path / "here").mkdir()
    write_digits(tmp_path / "here")
    digits = input_data.read_data_sets(str(tmp_path / "d"), source_url=source, validation_size=0)
    assert digits.train.num_examples == 60


def test_names_from_before_and_at_two_places(sess):
    assert sess.run(tf.concat_v2([[1], [2]], axis=0)).tolist() == [1, 2]
    assert tf.saved_model.main_op.main_op is tf.saved_model.main_op
    with_restore = tf.saved_model.main_op_with_restore
    assert tf.saved_model.main_op.main_op_with_restore is with_restore


# ---- Modules by their places


def test_public_names_lie_where_tensorflow_has_them():
    math_ops = inside_module.InsideModule("ops.math_ops", public=tf)
    assert math_ops.reduce_sum is tf.reduce_sum and math_ops.add is tf.add
    assert math_ops.mat_mul.__name__ == "mat_mul"  # the function of an op, from gen_math_ops
    assert {"matmul", "reduce_sum"} <= set(math_ops.__all__) and "Session" not in dir(math_ops)
    with pytest.raises(AttributeError, match="no_such_name"):
        math_ops.no_such_name
    optimizer = inside_module.InsideModule("training.adam")
    assert optimizer.AdamOptimizer is tf.train.AdamOptimizer
    with pytest.raises(AttributeError):
        optimizer.Session
    nested = inside_module.InsideModule("util.nest", own=nest)
    assert nested.is_sequence([1]) and nested.flatten is tf.nest.flatten


def test_the_places_name_what_there_is():
    lacking = []
    for module in ("ops.math_ops", "ops.array_ops", "ops.init_ops", "framework.ops", "ops.rnn"):
        public, _ = inside_module._places(module)
        for front, path in public.values():
            if not front and not inside_module.InsideModule._has(front, path):
                lacking.append(path)
    assert len(places.PLACES) > 300 and len(lacking) < 3, lacking


def test_modules_without_public_names_are_there_and_say_what_is_missing():
    module = inside_module.InsideModule("grappler.item")
    with pytest.raises(AttributeError, match="no attribute 'Item' in Rheos"):
        module.Item


def test_private_names_of_modules_that_have_public_ones(sess):
    own = inside_module.InsideModule("ops.variables", own=variables_inside, public=tf)
    parts = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    assert isinstance(parts, own.PartitionedVariable) and own.Variable is tf.Variable
    made = resource_variable_ops.ResourceVariable(1.0, trainable=False, name="v")
    assert made.op.type == "VarHandleOp" and made.name == "v:0" and not tf.trainable_variables("v")
    assert resource_variable_ops.is_resource_variable(made)
    assert not resource_variable_ops.is_resource_variable(tf.Variable(1))
    spread = weights_broadcast_ops.broadcast_weights(tf.constant([[1.0], [2.0]]), tf.ones([2, 2]))
    assert sess.run(spread).tolist() == [[1, 1], [2, 2]]
    with pytest.raises(ValueError, match="can not be broadcast"):
        weights_broadcast_ops.assert_broadcastable(tf.ones([3]), tf.ones([2, 2]))
    traced = eager_function.defun(lambda x: x + 1)
    assert sess.run(traced(tf.constant(1))) == 2
    test = inside_module.InsideModule("platform.test", public=tf.test)
    assert test.mock.__name__ == "unittest.mock"


# ---- Values asked of TensorFlow 1.15


def test_rows_are_changed_in_place(sess):
    x = tf.constant([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    two = [[1.0, 2.0], [3.0, 4.0]]
    for change, one_row, rows, whole in (
        (inplace_ops.inplace_update, [10, 20], [[1, 2], [2, 3], [3, 4]], [[1, 1]] * 3),
        (inplace_ops.inplace_add, [12, 23], [[1, 3], [2, 3], [7, 9]], [[1, 2], [3, 4], [5, 6]]),
        (inplace_ops.inplace_sub, [-8, -17], [[-1, -1], [2, 3], [1, 1]], [[-1, 0], [1, 2], [3, 4]]),
    ):
        got = sess.run([change(x, 1, [10.0, 20.0]), change(x, [0, -1], two),
                        change(x, None, tf.ones([3, 2])), x])  # fmt: skip
        assert got[0].tolist() == [[0, 1], one_row, [4, 5]]
        assert got[1].tolist() == rows and got[2].tolist() == whole
        assert got[3].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert sess.run(inplace_ops.empty([2, 3], tf.int32, init=True)).tolist() == [[0] * 3] * 2
    assert inplace_ops.empty_like(x).shape == (3, 2)
    assert sess.run(inplace_ops.alias_inplace_add(tf.zeros([2]), 1, 5.0)).tolist() == [0, 5]


def test_values_are_switched_and_merged(sess):
    pred = tf.placeholder(tf.bool, [])
    sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    slices = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([1]))
    for data, kind in ((tf.constant([1.0]), tf.Tensor), (sparse, tf.SparseTensor),
                       (slices, tf.IndexedSlices)):  # fmt: skip
        off, on = control_flow_ops.switch(data, pred)
        assert type(off) is kind
        scaled = tf.IndexedSlices(on.values * 3, on.indices) if kind is tf.IndexedSlices else on * 3
        merged, index = control_flow_ops.merge([off, scaled])
        values = getattr(merged, "values", merged)
        for p, factor in ((False, 1), (True, 3)):
            got, at, first = sess.run([values, index, getattr(data, "values", data)], {pred: p})
            assert got.tolist() == (first * factor).tolist() and at == p
    variable = tf.Variable(1.0, use_resource=False)
    assert control_flow_ops.ref_switch(variable._ref(), pred).output_true.dtype._is_ref_dtype
    with pytest.raises(ValueError, match="None"):
        control_flow_ops.merge([off, None])


def test_operations_know_their_loops_and_branches():
    seen = []

    def body(i, a):
        context = tf.get_default_graph()._get_control_flow_context()
        seen.append(control_flow_util.GetContainingWhileContext(context))
        seen.append(control_flow_util.GetContainingCondContext(context))

        def more():
            here = tf.get_default_graph()._get_control_flow_context()
            seen.append(control_flow_util.GetContainingCondContext(here))
            return a + 1.0

        return i + 1, tf.cond(a > 0, more, lambda: a - 1.0)

    out = tf.while_loop(lambda i, a: i < 3, body, [0, 1.0])
    assert seen[0].IsWhileContext() and seen[1] is None and seen[2].IsCondContext()
    ops = tf.get_default_graph().get_operations()
    switches = [op for op in ops if control_flow_util.IsSwitch(op)]
    merges = [op for op in ops if control_flow_util.IsMerge(op)]
    kinds = [
        [sum(map(is_one, some)) for is_one in pair]
        for some, pair in (
            (switches, (control_flow_util.IsLoopSwitch, control_flow_util.IsCondSwitch)),
            (merges, (control_flow_util.IsLoopMerge, control_flow_util.IsCondMerge)),
        )
    ]
    assert kinds == [[2, 3], [2, 1]]
    assert control_flow_util.IsLoopExit(out[0].op)
    assert control_flow_util.IsInWhileLoop(merges[0])
    assert not control_flow_util.GraphOrParentsInXlaContext(tf.get_default_graph())


def test_resources_are_collected(sess):
    handle = collections.namedtuple("Handle", "name")
    resources.register_resource(handle("a"), tf.no_op("make"), tf.constant(False))
    resources.register_resource(handle("b"), tf.no_op(), tf.constant(True), is_shared=False)
    (shared,), (local,) = resources.shared_resources(), resources.local_resources()
    assert [shared.handle.name, shared.create.name, local.handle.name] == ["a", "make", "b"]
    assert sess.run(resources.report_uninitialized_resources()).tolist() == [b"a"]
    assert sess.run(resources.report_uninitialized_resources([])).tolist() == []
    made = resources.initialize_resources([shared, local], name="all")
    assert made.name == "all" and {op.name for op in made.control_inputs} >= {"make"}


def test_sessions_learn_types():
    class Squared:
        def __init__(self, x):
            self.x, self.result = x, tf.square(x)

    register = session_inside.register_session_run_conversion_functions
    register(Squared, lambda s: ([s.result], lambda values: ("sq", values[0])),
             lambda s, value: [(s.x, value)], lambda s: [s.x])  # fmt: skip
    squared = Squared(tf.placeholder(tf.float32, []))
    with tf.Session() as session:
        assert session.run(squared, {squared: 3.0}) == ("sq", 9.0)
        assert session.run([{"a": squared}], {squared.x: 2.0}) == [{"a": ("sq", 4.0)}]
        handle = session.partial_run_setup([squared.result], [squared])
        assert session.partial_run(handle, squared.result, {squared: 4.0}) == 16.0
    with pytest.raises(ValueError, match="already been registered"):
        register(Squared, lambda s: ([], None))
    with pytest.raises(TypeError):
        register(Squared)


class _Callable:
    def __call__(self, a, b):
        pass

    def method(self, q, r=1, **more):
        pass


def test_arguments_of_functions():
    assert function_utils.fn_args(_Callable()) == ("a", "b")
    assert function_utils.fn_args(_Callable().method) == ("q", "r")
    partial = functools.partial(lambda a, b, c: 0, 1, c=2)
    assert function_utils.fn_args(partial) == ("b",)
    assert function_utils.has_kwargs(_Callable().method)
    assert function_utils.get_func_name(_Callable().method) == "_Callable.method"
    assert function_utils.get_func_name(lambda: 0) == "<lambda>"
    spec = tf_inspect.getargspec(functools.partial(lambda a, b, c=1: 0, b=1))
    assert spec == (["a", "b", "c"], None, None, (1, 1))
    assert tf_inspect.getfullargspec(functools.partial(lambda a, b, c=1: 0, 1)).args == ["b", "c"]
    assert tf_inspect.getargspec(_Callable()).args == ["self", "a", "b"]


def test_decorators_are_seen_through():
    def plus_one(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) + 1

        return tf_decorator.make_decorator(function, wrapper)

    @plus_one
    @plus_one
    def add(a, b=2):
        return a + b

    marks, target = tf_decorator.unwrap(add)
    assert add(1) == 5 and target(1) == 3 and [m.decorator_name for m in marks] == ["plus_one"] * 2
    assert tf_inspect.getargspec(add) == (["a", "b"], None, None, (2,))
    assert tf_decorator.rewrap(add, target, lambda a, b=0: 10)
    assert tf_decorator.unwrap(add)[1](1) == 10


def test_structures_with_their_paths():
    structure = {"a": [1, 2], "b": 3}
    joined = nest.flatten_with_joined_string_paths(structure)
    assert joined == [("a/0", 1), ("a/1", 2), ("b", 3)]
    assert nest.map_structure_with_paths(lambda path, v: path, structure) == {
        "a": ["a/0", "a/1"],
        "b": "b",
    }
    assert nest.flatten_dict_items({(1, 2): ("x", "y"), 3: "z"}) == {1: "x", 2: "y", 3: "z"}
    assert nest.map_structure_up_to([0, 0], len, [[1, 2], [3]]) == [2, 1]
    with pytest.raises(TypeError):
        nest.assert_shallow_structure([0], 1)
    assert data_nest.flatten((1, [2, 3])) == [1, [2, 3]] and not data_nest.is_sequence([1])


def test_small_modules_answer(monkeypatch):
    assert str(tensor_shape.matrix(2, None)) == "(2, ?)" and tensor_shape.vector(3) == (3,)
    assert tensor_shape.unknown_shape(2).ndims == 2 and tensor_shape.scalar().ndims == 0
    assert not tf2.enabled()
    tf2.enable()
    assert tf2.enabled()
    tf2.disable()
    assert not context.executing_eagerly() and context.num_gpus() == len(
        tf.config.experimental.list_physical_devices("GPU")
    )
    assert rnn_cell_impl._concat(2, [3, 4], static=True) == (2, 3, 4)
    assert rnn_cell_impl._zero_state_tensors([3, 4], 2, tf.float32)[1].shape == (2, 4)
    one, other = object_identity.Reference(structure := [1]), object_identity.Reference([1])
    assert one != other and one == object_identity.Reference(structure) and one.deref() == [1]
    assert len(object_identity.ObjectIdentitySet([structure, [1], structure])) == 2

    @deprecation.deprecated("2030-01-01", "Use nothing.")
    def old():
        return 1

    warnings = []
    monkeypatch.setattr(logging, "warning", lambda *args: warnings.append(args))
    with deprecation.silence():
        assert old() == 1
    assert not warnings
    assert old() == 1 and len(warnings) == 1


def test_modules_hide_what_they_do_not_document():
    module = sys.modules["a_module"] = types.ModuleType("a_module", "Has:\n\n@@shown\n")
    module.shown, module.allowed, module.hidden, module._private = 1, 2, 3, 4
    try:
        all_util.remove_undocumented("a_module", ["allowed"])
        left = [name for name in dir(module) if not name.startswith("__")]
        assert left == ["_private", "allowed", "shown"]
        all_util.reveal_undocumented("a_module.hidden")
        assert module.hidden == 3
    finally:
        del sys.modules["a_module"]


def test_tensors_and_operations_show_their_insides():
    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [2, None], name="x")
    parts = tf.split(x, 2)
    with tf.control_dependencies([x]):
        after = tf.identity(parts[1])
    assert x._op is x.op and x._dtype == tf.float32 and x._name is None
    assert x._shape.as_list() == x._shape_val.as_list() == [2, None]
    assert x._shape_tuple() == (2, None) and tf.placeholder(tf.string)._shape_tuple() is None
    assert [part._value_index for part in parts] == [0, 1]
    assert x._consumers == [parts[0].op] and len({x._id, parts[0]._id, parts[1]._id}) == 3
    assert x.op._control_outputs == [after.op] and after.op._control_inputs == [x.op]
    assert x.op._graph is graph and x.op._node_def.name == "x"
    assert x.op._op_def.name == "Placeholder"
    assert x.op._original_op is None and x.op._traceback == x.op.traceback
    assert tf.Variable(1.0).op._is_stateful and not after.op._is_stateful
    assert after.op._input_types == [tf.float32] and after.op._output_types == [1]
    assert parts[0].op._inputs_val[1] is x


def test_graphs_show_their_insides():
    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, name="x")
    assert graph._nodes_by_name == {"x": x.op} and graph._nodes_by_id[x.op._id] is x.op
    assert graph._version == graph._next_id_counter == 1 and not graph._building_function
    graph.prevent_feeding(x)
    assert graph._unfeedable_tensors == {x} and graph._unfetchable_ops == set()
    with tf.name_scope("a"), tf.name_scope("b"):
        assert graph._name_stack == "a/b"
    graph.finalize()
    assert graph._finalized
    graph._finalized = False
    tf.constant(1)
    graph.switch_to_thread_local()
    with graph.device("/cpu:0"):
        assert tf.constant(2).device
    with tf.Session() as session:
        assert session._graph is graph


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_have_references_and_reads(use_resource, sess):
    v = tf.Variable([[1.0, 2.0]], use_resource=use_resource)
    assert v.experimental_ref() == v.ref() and v.ref().deref() is v
    assert v.ref() != tf.Variable(1.0).ref() and v._shape_tuple() == (1, 2)
    sess.run(v.initializer)
    assert sess.run([v.sparse_read([0]), v.gather_nd([[0, 1]])])[0].tolist() == [[1, 2]]
    assert sess.run(v.gather_nd([[0, 1]])).tolist() == [2] and v._caching_device is None


def test_indexed_slices_have_specs():
    spec = tf.IndexedSlicesSpec([2, 3], dense_shape_dtype=tf.int32)
    values, indices, shape = spec._component_specs
    assert spec == tf.IndexedSlicesSpec([2, 3], tf.float32, tf.int64, tf.int32, [None])
    assert (values.shape.as_list(), values.dtype) == ([None, 3], tf.float32)
    assert (indices.shape.as_list(), indices.dtype) == ([None], tf.int64)
    assert (shape.shape.as_list(), shape.dtype) == ([2], tf.int32)
    assert len(tf.IndexedSlicesSpec()._component_specs) == 2
    assert spec.value_type is tf.IndexedSlices
    slices = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0], tf.int64))
    assert tf.IndexedSlicesSpec([2, 3]).is_compatible_with(slices)
    assert not tf.IndexedSlicesSpec([2, 3], tf.float64).is_compatible_with(slices)
    common = spec.most_specific_compatible_type(
        tf.IndexedSlicesSpec([2, 4], dense_shape_dtype=tf.int32)
    )
    assert common.shape.as_list() == [2, None] and slices.shape.ndims is None
    dense = tf.IndexedSlices(slices.values, slices.indices, tf.constant([2, 3]))
    assert dense.shape.as_list() == [2, 3]
    assert slices.consumers() == slices.values.consumers() + slices.indices.consumers()
    assert spec._from_components(spec._to_components(dense)).values is dense.values
    with pytest.raises(ValueError):
        tf.IndexedSlicesSpec([2, 3], indices_shape=[1, 2])


def test_names_may_be_bytes(sess):
    with tf.name_scope(b"outer"):
        assert tf.constant(1.0, name=b"c").op.name == "outer/c"
        assert tf.identity(1.0, name=b"i").op.name == "outer/i"
        assert tf.placeholder(tf.float32, name=b"p").op.name == "outer/p"
        assert tf.add_n([1.0, 2.0], name=b"n").op.name == "outer/n"
        assert tf.get_default_graph().unique_name(b"c") == "outer/c_1"
    assert tf.Variable(1.0, name=b"v").op.name == "v"
    assert tf.get_variable(b"g", [1]).op.name == "g"
    with pytest.raises(TypeError, match="must be a string"):
        tf.variable_scope(b"s")
    assert sess.run(b"outer/c:0") == 1
    with pytest.raises(ValueError):
        tf.constant(1.0, name=b"a\0b")
    with pytest.raises(TypeError):
        tf.constant(1.0, name=3)


def test_sessions_of_tests_place_softly():
    class Case(tf.test.TestCase):
        def runTest(self):
            with tf.device("/gpu:9"):
                x = tf.constant(2.0)
            for make in self.session, self.cached_session, self.test_session:
                with make() as session:
                    self.assertEqual(session.run(x), 2.0)
            self.assertEqual(self.evaluate(x), 2.0)
            strict = tf.ConfigProto(allow_soft_placement=True)
            with self.session(config=strict, force_gpu=True) as session:
                with self.assertRaises(tf.errors.InvalidArgumentError):
                    session.run(x)
            assert strict.allow_soft_placement

    result = Case().run()
    assert not result.failures + result.errors, result


def test_a_saved_model_is_a_function(tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.Variable(3.0)
        y = tf.multiply(x, v, name="y")
        session.run(v.initializer)
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
    from_saved_model = tf.contrib.predictor.from_saved_model
    call = from_saved_model(folder)
    assert call({"x": [1.0, 2.0]})["y"].tolist() == [3.0, 6.0]
    assert call.fetch_tensors["y"].name == "y:0" and call.graph is not tf.get_default_graph()
    named = from_saved_model(folder, input_names={"a": "x:0"}, output_names={"b": "y:0"})
    assert named({"a": [2.0]})["b"].tolist() == [6.0]
    with pytest.raises(ValueError, match="unexpected keys"):
        call({"z": 1.0})
    with pytest.raises(ValueError, match="Available signatures"):
        from_saved_model(folder, signature_def_key="other")
    with pytest.raises(ValueError, match="at most one"):
        from_saved_model(folder, signature_def_key="a", input_names={}, output_names={})


def test_insides_of_graphs(sess):
    place = inside_module.InsideModule("framework.ops", ops_inside, tf)
    assert place.Graph is tf.Graph and place.uid() < place.uid()
    assert place.EagerTensor is not tf.Tensor and issubclass(place.EagerTensor, tf.Tensor)
    assert place.strip_name_scope("^a/b", "a") == "^b"
    assert place.strip_name_scope("loc:@a/b", "a/") == "loc:@b"
    assert place.strip_name_scope("c/a/b", "a") == "c/a/b"
    assert place.prepend_name_scope("^b", "a") == "^a/b"
    assert dtypes_inside.float16_ref is tf.as_dtype("float16_ref")
    with pytest.raises(AttributeError):
        dtypes_inside.no_such_ref
    known = op_def_registry.get_registered_ops()
    assert known["MatMul"].input_arg[1].name == "b" and len(known) > 900
    slim = tf.contrib.slim
    assert slim.initializers.xavier_initializer is slim.xavier_initializer


def test_the_default_graph_is_new_where_operations_run_at_once():
    with context.eager_mode():
        tf.reset_default_graph()
        assert tf.executing_eagerly()
    with tf.Graph().as_default(), context.eager_mode(), pytest.raises(AssertionError):
        tf.reset_default_graph()
