"""Operations made by Graph.create_op and raw ops, with attributes as messages."""

import numpy as np
import pytest
import rheos.v1 as tf


def test_inputs_tell_what_they_can(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        op = graph.create_op("AddV2", [a, b], [tf.float32], name="sum")
        with tf.name_scope("in"):
            again = graph.create_op("AddV2", [op.outputs[0], b], [tf.float32], name="sum")
        assert (op.name, op.type, again.name) == ("sum", "AddV2", "in/sum")
        assert graph.create_op("NoOp", [], name="sum").name == "sum_1"
        assert session.run(again.outputs[0]).tolist() == [7, 10]


@pytest.mark.parametrize("dtype", [tf.int64, tf.bfloat16, tf.qint8, tf.string, tf.bool, tf.half])
def test_attributes_are_messages(dtype):
    values = {tf.string: ["a", "b"], tf.bool: [True, False]}.get(dtype, [1, 0])
    proto = tf.make_tensor_proto(values, dtype)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        kind = tf.AttrValue(type=dtype.as_datatype_enum)
        attrs = {"dtype": kind, "value": tf.AttrValue(tensor=proto)}
        made = graph.create_op("Const", [], [dtype], attrs=attrs).outputs[0]
        raw = tf.raw_ops.Const(value=proto, dtype=dtype)
        assert made.dtype == raw.dtype == dtype and made.shape == [2]
        for found in session.run([made, raw]):
            assert found.tolist() == tf.make_ndarray(proto).tolist()


def test_lists_and_private_attributes():
    with tf.Graph().as_default() as graph:
        x = tf.constant(np.ones([1, 4, 4, 1], np.float32))
        ones = tf.AttrValue(list=tf.AttrValue.ListValue(i=[1, 2, 2, 1]))
        mine = tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"x"]))
        attrs = {"ksize": ones, "strides": ones, "padding": tf.AttrValue(s=b"SAME"), "_mine": mine}
        op = graph.create_op("MaxPool", [x], [tf.float32], attrs=attrs)
        assert op.outputs[0].shape == [1, 2, 2, 1]
        assert op.get_attr("ksize") == [1, 2, 2, 1] and op.get_attr("_mine") == [b"x"]


def test_what_does_not_fit_is_refused():
    with tf.Graph().as_default() as graph:
        a = tf.constant([1.0])
        with pytest.raises(TypeError, match="Input #1 is not a tensor: 2"):
            graph.create_op("AddV2", [a, 2], [tf.float32])
        with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'Nonesuch'"):
            graph.create_op("Nonesuch", [], [])
        with pytest.raises(ValueError, match="has no attribute 'speed'"):
            graph.create_op("AddV2", [a, a], [], attrs={"speed": tf.AttrValue(i=1)})
        with pytest.raises(ValueError, match="'T' has a value of another kind: i"):
            graph.create_op("AddV2", [a, a], [], attrs={"T": tf.AttrValue(i=1)})
        with pytest.raises(TypeError, match="'T' is not an AttrValue"):
            graph.create_op("AddV2", [a, a], [], attrs={"T": tf.float32})
        with pytest.raises(ValueError, match="has no value"):
            graph.create_op("AddV2", [a, a], [], attrs={"T": tf.AttrValue()})
        with pytest.raises((TypeError, ValueError)):
            graph.create_op("AddV2", [a, tf.constant(1)], [])
        count = len(graph.get_operations())
        graph.finalize()
        with pytest.raises(RuntimeError, match="finalized"):
            graph.create_op("NoOp", [], [])
        assert len(graph.get_operations()) == count
