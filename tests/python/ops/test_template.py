"""Templates: functions that share their variables between calls, named as by TensorFlow 1.15."""

import pytest
import rheos.v1 as tf


def _scaled(x, offset=0.0):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    return tf.add(x * w, offset, name="out")


def _names(tensors):
    return [tensor.name for tensor in tensors]


def test_calls_share_variables():
    with tf.Graph().as_default():
        template = tf.make_template("scale", _scaled, offset=2.0)
        x = tf.zeros([2])
        results = [template(x), template(x)]
        with tf.name_scope("inside"):
            results.append(template(x))
        assert _names(results) == ["scale/out:0", "scale_1/out:0", "inside/scale/out:0"]
        assert _names(tf.global_variables()) == _names(template.variables) == ["scale/w:0"]
        assert template.variable_scope_name == "scale/"
        assert template.non_trainable_variables == []


def test_scopes_are_made_unique():
    with tf.Graph().as_default():
        x = tf.zeros([2])
        tf.make_template("scale", _scaled)(x)
        early = tf.make_template("scale", _scaled, create_scope_now_=True)
        assert early.variables == []
        assert _names([early(x), early(x)]) == ["scale_1/out:0", "scale_1_1/out:0"]
        fixed = tf.make_template("scale", _scaled, unique_name_="fixed")
        assert fixed(x).name == "fixed/out:0"
        with tf.variable_scope("outer"):
            tf.make_template("in", _scaled)(x)
        assert _names(tf.global_variables()) == [
            "scale/w:0",
            "scale_1/w:0",
            "fixed/w:0",
            "outer/in/w:0",
        ]


def test_a_call_that_makes_variables_of_its_own_fails():
    with tf.Graph().as_default():
        template = tf.make_template("bad", lambda x: tf.Variable(1.0) * x)
        template(1.0)
        with pytest.raises(ValueError, match="New variable"):
            template(1.0)
