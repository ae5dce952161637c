"""`Session.explain`: what a step will run, and what becomes of the operations."""

import numpy as np
import pytest
import rheos.v1 as tf

ON_CPU = tf.ConfigProto(device_count={"GPU": 0})  # with cards there are copies, too


def model():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [3, 4])
        y = tf.nn.relu(tf.matmul(x, w, name="product") + tf.multiply(2.0, 3.0, name="six"))
    return x, tf.identity(y, name="same")


def test_instructions_are_in_order_with_what_runs_along():
    x, y = model()
    with tf.Session(config=ON_CPU) as session:
        told = session.explain(y, {x: np.zeros((5, 3), np.float32)})
    assert [i.op for i in told.instructions] == [None, "MatMul", "Relu"]
    product, relu = told.instructions[1:]
    assert (product.name, product.shape, product.dtype) == ("layer/product", (5, 4), "float")
    assert relu.with_ == ["layer/add"] and relu.rule == "elementwise_fusion"
    assert product.file == __file__ and product.line > 0
    assert "same" in told.dropped and "layer/six" in told.folded
    assert told.num_needed < told.num_operations and told.assumed == {}


def test_the_text_says_all_of_it():
    _, y = model()
    with tf.Session(config=ON_CPU) as session:
        text = str(session.explain(y))
    lines = text.splitlines()
    assert lines[0].startswith("3 instructions, of ")
    assert lines[2].startswith("    2 MatMul layer/product float (1, 4)  (")
    assert any(line.startswith("not run: ") and "same" in line for line in lines)
    assert lines[-1] == "x:0 is taken to be [1, 3]: give its value or shape to be exact"


def test_nothing_is_run_and_shapes_will_do():
    x, y = model()
    count = tf.get_variable("count", initializer=0, use_resource=True)
    with tf.control_dependencies([count.assign_add(1)]):
        z = tf.identity(y)
    with tf.Session(config=ON_CPU) as session:
        session.run(tf.global_variables_initializer())
        told = session.explain([z, count.initializer], {x: (7, 3)})
        assert "AssignAddVariableOp" in [i.op for i in told.instructions]
        assert (7, 4) in [i.shape for i in told.instructions]
        assert session.run(count) == 0
        assert session.explain(y, {y: (2, 4)}).instructions == []


def test_bodies_are_named():
    @tf.function
    def f(x):
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [0, x])[1]

    y = f(tf.constant([1.0]))
    with tf.Session(config=ON_CPU) as session:
        told = session.explain(y)
    assert told.plan["bodies"] and "StatelessWhile" in str(told) + str(told.plan)


def test_what_cannot_be_explained_is_said():
    x = tf.placeholder(tf.float32)
    y = tf.sin(x)
    with tf.Session(config=ON_CPU) as session:
        with pytest.raises(ValueError, match="shape of .* is not known"):
            session.explain(y)
        assert len(session.explain(y, {x: 2.0}).instructions) == 1
        with pytest.raises((TypeError, ValueError)):
            session.explain("nothing:0")
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.explain(tf.matmul(x, tf.ones([3, 1])), {x: (2, 2)})
    with pytest.raises(RuntimeError, match="closed"):
        session.explain(y, {x: 2.0})
