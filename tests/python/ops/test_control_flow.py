"""Conditionals and loops against TensorFlow 1.15: tests/golden/make_control_flow.py."""

import functools
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
import make_array_loops  # noqa: E402
import make_branches_of_layers  # noqa: E402
import make_control_flow  # noqa: E402
import make_recurrent  # noqa: E402
import make_seq2seq  # noqa: E402
from make_control_flow import blame, build, compute  # noqa: E402

PROGRAMS, MISTAKES, RECORDED = {}, {}, {"programs": {}, "mistakes": {}}
FAMILIES = [make_control_flow, make_array_loops, make_branches_of_layers]
FAMILIES += [make_recurrent, make_seq2seq]
for family in FAMILIES:
    PROGRAMS |= family.PROGRAMS
    MISTAKES |= family.MISTAKES
    name = family.__name__.removeprefix("make_") + ".json"
    for part, recorded in json.loads((GOLDEN / name).read_text()).items():
        RECORDED[part] |= recorded


# TensorFlow switches the flag by the variable's value, and not that value; the empty outputs of a
# normalization's gradient have other shapes; the gradient of a cumulative product is right at zeros
# too, which takes more nodes, that the gradient of a loop through it keeps.
OTHER_CONTEXTS = {"hessians_of_unknown_shape"}
OTHER_NODES = {"normalization_by_variable", "normalization_fused_gradient"} | OTHER_CONTEXTS


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def less_known(made, wanted):
    """The wanted shape where Rheos knows the same or more."""
    if wanted is None or made is not None and len(made) == len(wanted):
        if wanted is None or all(w in (None, m) for m, w in zip(made, wanted, strict=True)):
            return wanted
    return made


def compatible(made, wanted):
    """The wanted shape where that is not contradicted: TensorFlow folds more constants."""
    return wanted if tf.TensorShape(made).is_compatible_with(wanted) else made


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in OTHER_NODES])
def test_program__makes_the_same_nodes(name):
    made, _ = build(tf, PROGRAMS[name])
    recorded = RECORDED["programs"][name]
    for node, wanted in zip(made["nodes"], recorded["nodes"], strict=False):
        known = compatible if name in make_seq2seq.PROGRAMS else less_known
        node[4] = [known(*shapes) for shapes in zip(node[4], wanted[4], strict=False)]
    assert [node[0] for node in made["nodes"]] == [node[0] for node in recorded["nodes"]]
    assert made["nodes"] == recorded["nodes"]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in OTHER_CONTEXTS])
def test_program__has_the_same_contexts(name):
    made, _ = build(tf, PROGRAMS[name])
    assert made["contexts"] == RECORDED["programs"][name]["contexts"]


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistake__is_named_as_by_tensorflow(name):
    kind, text = RECORDED["mistakes"][name]
    made_kind, made_text = blame(tf, MISTAKES[name])
    made_text = re.sub(r": input \d+ has shape \S+", "", made_text)
    assert made_kind == kind
    text = text.replace(",explicit", ", explicit")
    if text == "in converted code:":  # TensorFlow converts the calls of layers
        return
    arrays = r"(TensorArray \S+)_\d+:"  # the number is one of the process
    assert re.sub(arrays, r"\1:", made_text) == re.sub(arrays, r"\1:", text)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program__computes_the_same(name):
    wanted = RECORDED["programs"][name]["values"]
    _, fetches = build(tf, PROGRAMS[name])
    for value, one in zip(compute(tf, fetches), wanted, strict=True):
        if isinstance(one, str) or (one and isinstance(one, list) and isinstance(one[0], str)):
            assert value == one
        else:
            np.testing.assert_allclose(value, one, rtol=1e-6, atol=1e-6)


def test_decoder__is_fed_as_a_tensor_says():
    feeds = tf.placeholder(tf.bool, [])
    inputs = [tf.constant([i, 1]) for i in range(3)]

    def decoder(feed_previous):
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            return tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
                inputs, inputs, tf.nn.rnn_cell.GRUCell(2), 3, 3, 2, feed_previous=feed_previous
            )

    always, never, chosen = decoder(True), decoder(False), decoder(feeds)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for fed, wanted in ((True, always), (False, never)):
            made, one = session.run([chosen, wanted], {feeds: fed})
            np.testing.assert_allclose(np.stack(made[0]), np.stack(one[0]), rtol=1e-6)
            np.testing.assert_allclose(made[1], one[1], rtol=1e-6)


def test_switch_case__takes_the_last_for_other_numbers():
    number = tf.placeholder(tf.int32, [])
    x = tf.constant([1.0, 2.0])
    chosen = tf.switch_case(number, [lambda: x, lambda: x * 2.0, lambda: x * 3.0])
    other = tf.switch_case(number, {1: lambda: x, 0: lambda: -x}, default=lambda: x * 9.0)
    with tf.Session() as session:
        values = [session.run([chosen[0], other[0]], {number: n}) for n in (-1, 0, 1, 2, 7)]
    np.testing.assert_array_equal(values, [[3, 9], [1, -1], [2, 1], [3, 9], [3, 9]])


def test_while_loop__refuses_a_dtype_that_changes():
    with pytest.raises(ValueError, match="was passed float from"):
        tf.while_loop(lambda i: True, lambda i: tf.cast(i, tf.float32), [tf.constant(0)])


def test_loop_of_a_meta_graph__runs_under_another_name():
    x = tf.placeholder_with_default(2.0, [], name="x")
    power = tf.while_loop(lambda i, p: i < 5, lambda i, p: (i + 1, p * x), [0, 1.0])[1]
    made = tf.train.export_meta_graph()
    name = power.name
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(made, import_scope="in")
        tf.train.import_meta_graph(made, import_scope="beside")
        with tf.Session() as session:
            fetches = [graph.get_tensor_by_name(f"{scope}/{name}") for scope in ("in", "beside")]
            assert session.run(fetches, {"in/x:0": 3.0}) == [243.0, 32.0]


def test_fetch__of_what_is_inside_is_refused_and_the_session_goes_on():
    inside = []

    def body(i):
        inside.append(i + 1)
        return inside[0]

    done = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as session:
        with pytest.raises(ValueError, match="marked as not fetchable"):
            session.run(inside[0])
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(done, {inside[0]: 1})
        assert session.run(done) == 3


def sparse(count):
    return tf.SparseTensor([[0], [3]], tf.constant([2.0, 4.0]), [count])


def rows_more(i, x):
    column = tf.reshape(tf.cast(tf.stack([i, i]), tf.int64), [2, 1])
    indices = tf.concat([x.indices, column], axis=1)
    shape = tf.concat([x.dense_shape, [10]], axis=0)
    return i + 1, tf.SparseTensor(indices, x.values * 2.0, shape)


def test_loop__over_sparse_tensors_takes_the_shape_of_their_shape():
    loop = functools.partial(tf.while_loop, lambda i, _: i < 2)
    i, x = tf.constant(0), sparse(10)
    for wide in (tf.TensorShape([None]), tf.SparseTensorSpec(None), tf.TensorShape(None)):
        _, y = loop(rows_more, [i, x], [i.shape, wide])
        with tf.Session() as session:
            assert session.run(y).dense_shape.tolist() == [10, 10, 10]
    _, y = loop(lambda i, x: (i + 1, sparse(10)), [i, x], [i.shape, tf.TensorShape([1])])
    assert y.indices.shape.as_list() == [None, 1]
    with pytest.raises(ValueError):
        loop(rows_more, [i, x])
    with pytest.raises(ValueError, match="not compatible|rank"):
        loop(lambda i, x: (i + 1, x), [i, x], [i.shape, tf.TensorShape([5])])
    with pytest.raises(ValueError, match="1 dimension"):
        loop(lambda i, x: (i + 1, x), [i, x], [i.shape, tf.TensorShape([None, None])])


def test_loop__takes_specs_for_shapes():
    i, x = tf.constant(0), tf.constant([1])
    number = tf.TensorSpec([], tf.int32)
    _, y = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, x: (i + 1, tf.stack([x, x])),
        [i, x],
        [number, tf.TensorSpec(None, tf.int32)],
    )
    with tf.Session() as session:
        assert session.run(y).tolist() == [[[1], [1]], [[1], [1]]]
    for wrong in (tf.TensorSpec([1], tf.float32), tf.SparseTensorSpec([None])):
        with pytest.raises(TypeError, match="not compatible"):
            tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, x), [i, x], [number, wrong])


def test_loop__over_ragged_tensors_lets_rows_grow():
    i, x = tf.constant(0), tf.ragged.constant([[1, 2], [3]])
    loop = functools.partial(tf.while_loop, lambda i, _: i < 2)
    _, y = loop(lambda i, x: (i + 1, tf.concat([x, x], axis=1)), [i, x])
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    for wide in (spec, tf.TensorShape([None, None])):
        _, z = loop(lambda i, x: (i + 1, tf.concat([x, x], axis=0)), [i, x], [i.shape, wide])
        with tf.Session() as session:
            assert session.run(z).to_list() == [[1, 2], [3]] * 4
    with tf.Session() as session:
        assert session.run(y).to_list() == [[1, 2] * 4, [3] * 4]
    with pytest.raises(ValueError):
        loop(lambda i, x: (i + 1, tf.concat([x, x], axis=0)), [i, x])
