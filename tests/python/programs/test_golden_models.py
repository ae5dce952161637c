"""The models that TensorFlow wrote (tests/golden/make_models.py) give what they gave there."""

from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import messages

FOLDER = Path(__file__).parents[2] / "golden" / "models"
MODELS = ["cnn_ref", "cnn_resource", "mlp_ref", "mlp_resource"]


def answers(name):
    """{"feed": {name: array}, "fetch": ..., "loss": ...} of NAME.txt."""
    found = {"feed": {}, "fetch": {}, "loss": {}}
    for line in (FOLDER / (name + ".txt")).read_text().splitlines():
        kind, tensor, dtype, shape, *values = line.split(" ")
        sizes = [int(n) for n in shape[1:-1].split(",") if n]
        found[kind][tensor] = np.array(values, dtype).reshape(sizes)
    return found


def read(name, message):
    return message.FromString((FOLDER / name).read_bytes())


def assert_close(values, expected, tolerance):
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [*MODELS, "transformer"])
def test_frozen_graphs_answer_as_in_tensorflow(name):
    expected = answers(f"{name}_frozen")
    tf.import_graph_def(read(f"{name}_frozen.pb", messages.GraphDef), name="")
    with tf.Session() as session:
        for tensor, value in expected["fetch"].items():
            assert_close(session.run(tensor, expected["feed"]), value, 1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_saved_models_answer_as_in_tensorflow(name):
    expected = answers(f"{name}_frozen")
    with tf.Session() as session:
        made = tf.saved_model.load(session, ["serve"], str(FOLDER / f"{name}_saved"))
        signature = made.signature_def["serving_default"]
        feeds = {signature.inputs["in"].name: expected["feed"]["x:0"]}
        value = session.run(signature.outputs["out"].name, feeds)
        assert_close(value, expected["fetch"]["y:0"], 1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_training_goes_on_as_in_tensorflow(name):
    expected = answers(f"{name}_train")
    prefix = str(FOLDER / f"{name}_train")
    with tf.Session() as session:
        tf.train.import_meta_graph(prefix + ".meta").restore(session, prefix)
        [train] = tf.get_collection("train_op")
        losses = [session.run(["loss:0", train], expected["feed"])[0] for _ in range(20)]
        assert session.run(tf.train.get_global_step()) == 22
    assert losses[-1] < losses[0]
    assert_close(losses, expected["loss"]["loss:0"], 1e-4)


# ---- Round trips, message by message


def by_name(messages_of_nodes):
    return {m.name: m for m in messages_of_nodes}


def functions_of(graph_def):
    return {f.signature.name: f for f in graph_def.library.function}


def assert_same_nodes(nodes, expected):
    nodes, expected = by_name(nodes), by_name(expected)
    assert nodes.keys() == expected.keys()
    for name, node in expected.items():
        assert nodes[name] == node, f"{nodes[name]}\nshould be\n{node}"


def assert_same_graph(made, expected):
    assert_same_nodes(made.node, expected.node)
    functions = functions_of(made)
    assert functions.keys() == functions_of(expected).keys()
    for name, function in functions_of(expected).items():
        assert functions[name] == function
    assert list(made.library.gradient) == list(expected.library.gradient)
    # The version is the older one of writer and reader.
    assert made.versions.producer == min(expected.versions.producer, 134)
    assert made.versions.min_consumer == expected.versions.min_consumer


def values_of(key, collection):
    """The items, as messages where maps in them have no order."""
    kind = {"cond_context": "CondContextDef", "while_context": "WhileContextDef"}.get(key)
    if kind is None:
        return collection
    return [getattr(messages, kind).FromString(value) for value in collection.bytes_list.value]


def without_shapes(graph_def):
    for node in graph_def.node:
        node.attr.pop("_output_shapes", None)
    return graph_def


@pytest.mark.parametrize("name", [f"{m}_train.meta" for m in MODELS] + ["dynamic_rnn.meta"])
def test_meta_graphs_survive_the_round_trip(name):
    original = read(name, messages.MetaGraphDef)
    saver = tf.train.import_meta_graph(original)
    made = saver.export_meta_graph()
    assert_same_graph(without_shapes(made.graph_def), without_shapes(original.graph_def))
    assert made.saver_def == original.saver_def
    ops = original.meta_info_def.stripped_op_list.op
    made_ops = made.meta_info_def.stripped_op_list.op
    assert [op.name for op in made_ops] == [op.name for op in ops]
    for made_op, op in zip(made_ops, ops):
        assert [a.name for a in made_op.input_arg] == [a.name for a in op.input_arg]
        assert [a.name for a in made_op.output_arg] == [a.name for a in op.output_arg]
        assert {a.name for a in made_op.attr} >= {a.name for a in op.attr}
    assert made.collection_def.keys() == original.collection_def.keys()
    for key, collection in original.collection_def.items():
        assert values_of(key, made.collection_def[key]) == values_of(key, collection), key


def test_loops_and_conditions_are_in_the_collections():
    original = read("dynamic_rnn.meta", messages.MetaGraphDef)
    assert {"while_context", "cond_context"} <= original.collection_def.keys()
    ops = {node.op for node in original.graph_def.node}
    assert {"Enter", "NextIteration", "TensorArrayV3", "StackPushV2", "Switch"} <= ops


def test_functions_survive_the_round_trip():
    original = read("functions.pb", messages.GraphDef)
    ops = {n.op for n in original.node} | {
        n.op for f in original.library.function for n in f.node_def
    }
    assert {"StatelessWhile", "StatelessIf", "StatefulPartitionedCall"} <= ops
    tf.import_graph_def(original, name="")
    assert_same_graph(tf.get_default_graph().as_graph_def(), original)


def test_the_graph_of_a_saved_model_of_tensorflow_2_survives_the_round_trip():
    model = read("functions_saved/saved_model.pb", messages.SavedModel)
    [original] = model.meta_graphs
    saver = tf.train.import_meta_graph(original)
    # TensorFlow 2 writes no attributes that hold their default.
    made = saver.export_meta_graph(strip_default_attrs=True)
    assert_same_graph(without_shapes(made.graph_def), without_shapes(original.graph_def))
    assert made.saver_def == original.saver_def
    assert made.collection_def == original.collection_def
