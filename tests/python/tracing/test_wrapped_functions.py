"""tf.compat.v1.wrap_function() and parts of what it makes."""

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2
v1 = tf.compat.v1


def chain():
    x = v1.placeholder(tf.float32, [None], name="x")
    w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
    y = tf.multiply(x, w, name="y")
    return {"z": tf.add(y, 1.0, name="z")}


def test_variables_are_made_once():
    def counted(x):
        v = tf.Variable(5.0)
        with tf.control_dependencies([v.assign_add(x)]):
            return v.read_value()

    count = v1.wrap_function(counted, [tf.TensorSpec((), tf.float32)])
    assert [float(count(1.0)), float(count(tf.constant(2.0)))] == [6.0, 8.0]
    assert [v.name for v in count.variables] == ["Variable:0"]


def test_a_part_takes_what_is_fed_and_gives_what_is_fetched():
    whole = v1.wrap_function(chain, [])
    part = whole.prune("x:0", "z:0")
    assert part(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]
    found = whole.prune(["x:0"], {"a": "y:0", "b": "z:0"})(tf.constant([3.0, 4.0]))
    assert {k: v.numpy().tolist() for k, v in found.items()} == {"a": [3, 4], "b": [4, 5]}
    assert whole.prune("y:0", "z:0")(tf.constant([7.0, 0.0])).numpy().tolist() == [8.0, 1.0]
    assert part.variables == whole.variables and len(part.variables) == 1


def test_gradients_go_through_parts():
    whole = v1.wrap_function(chain, [])
    part = whole.prune("x:0", "z:0")
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = part(x)
    by_x, by_w = tape.gradient(y, [x, whole.variables[0]])
    assert by_x.numpy().tolist() == [1, 1] and by_w.numpy().tolist() == [1, 2]


def test_imported_graphs_become_functions(tmp_path):
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None], name="x")
        tf.identity(x * 3.0, name="y")
    definition = graph.as_graph_def()
    whole = v1.wrap_function(lambda: v1.import_graph_def(definition, name=""), [])
    named = tf.nest.map_structure(whole.graph.as_graph_element, (["x:0"], ["y:0"]))
    part = whole.prune(*named)
    assert part(tf.constant([1.0, 2.0]))[0].numpy().tolist() == [3.0, 6.0]

    saved = tf.Module()
    saved.part = part
    tf.saved_model.save(saved, str(tmp_path), signatures=whole.prune("x:0", "y:0"))
    serve = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    np.testing.assert_array_equal(serve(x=tf.constant([2.0]))["output_0"], [6.0])


def test_what_is_not_there_cannot_be_fed_or_fetched():
    whole = v1.wrap_function(chain, [])
    with pytest.raises(KeyError, match="nope:0"):
        whole.prune("x:0", "nope:0")
    with pytest.raises(ValueError, match="must be tensors"):
        whole.prune("x", "z:0")
    with pytest.raises(TypeError):
        whole.prune(3, "z:0")


def test_captures_among_the_feeds_are_not_fed():
    v = tf.Variable(2.0)
    whole = v1.wrap_function(lambda x: {"y": x * v}, [tf.TensorSpec([], tf.float32, "x")])
    part = whole.prune(whole.inputs, whole.structured_outputs["y"])
    assert float(part(tf.constant(3.0))) == 6.0
    named = v1.saved_model.build_tensor_info(whole.structured_outputs["y"])
    assert float(whole.prune("x:0", named)(tf.constant(4.0))) == 8.0


def test_functions_of_an_imported_graph_are_called_wherever_it_is_imported():
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        tf.identity(tf.function(lambda x: x + 1.0)(x), name="y")
        numbers = v1.data.Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)
        tf.identity(numbers, name="z")
    definition = graph.as_graph_def()

    def imported(x):
        return v1.import_graph_def(definition, {"x": x}, ["y:0", "z:0"])

    wrapped = v1.wrap_function(imported, [tf.TensorSpec([])])
    part = wrapped.prune(wrapped.inputs[0], wrapped.outputs[0])
    for f in (tf.function(imported), wrapped):
        assert [float(one) for one in f(tf.constant(3.0))] == [4.0, 10.0]
    assert float(part(tf.constant(3.0))) == 4.0
