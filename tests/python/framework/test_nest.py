"""tf.nest, and small functions of tf.contrib.framework."""

import collections

import numpy as np
import pytest
import rheos.v1 as tf

Pair = collections.namedtuple("Pair", "first second")
TREE = {"b": 1, "a": [2, (3,), Pair(4, "text")]}


def test_nest__goes_through_keys_in_order():
    assert tf.nest.flatten(TREE) == [2, 3, 4, "text", 1]
    assert tf.nest.flatten(5) == [5] and tf.nest.flatten(np.ones(2))[0].shape == (2,)
    packed = tf.nest.pack_sequence_as(TREE, list("vwxyz"))
    assert packed == {"b": "z", "a": ["v", ("w",), Pair("x", "y")]}
    assert isinstance(packed["a"][2], Pair) and list(packed) == ["b", "a"]
    assert tf.nest.map_structure(lambda x, y: (x, y), [1, (2,)], [3, (4,)]) == [(1, 3), ((2, 4),)]
    assert tf.nest.is_nested({}) and not tf.nest.is_nested("ab")
    assert tf.contrib.framework.nest.flatten_up_to([0, 0], [[1, 2], 3]) == [[1, 2], 3]


def test_nest__refuses_structures_that_differ():
    with pytest.raises(ValueError, match="number of elements"):
        tf.nest.assert_same_structure([1, 2], [1])
    with pytest.raises(ValueError, match="nested structure"):
        tf.nest.assert_same_structure([1], 1)
    with pytest.raises(TypeError, match="same sequence type"):
        tf.nest.map_structure(lambda x, y: x, [1], (1,))
    assert tf.nest.map_structure(lambda x, y: x + y, [1], (1,), check_types=False) == [2]
    with pytest.raises(ValueError, match="had 5 elements"):
        tf.nest.pack_sequence_as(TREE, [1])
    with pytest.raises(TypeError, match="callable"):
        tf.nest.map_structure(3, [1])


def test_shapes_are_checked_where_they_are_not_known(sess):
    framework = tf.contrib.framework
    fed = tf.placeholder(tf.float32)
    checked = framework.with_shape([2, 3], fed)
    assert checked.shape.as_list() == [2, 3]
    assert sess.run(checked, {fed: np.ones((2, 3))}).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(checked, {fed: np.ones((3, 2))})
    with pytest.raises(ValueError, match="Invalid shape"):
        framework.with_shape([2], tf.zeros([3]))
    labels = framework.remove_squeezable_dimensions(tf.zeros([3]), tf.zeros([3, 1]))[1]
    assert labels.shape.as_list() == [3]


def test_flags_that_are_known_choose():
    framework = tf.contrib.framework
    assert framework.smart_cond(tf.constant(True), lambda: 1, lambda: 2) == 1
    assert framework.smart_cond(0, lambda: 1, lambda: 2) == 2
    assert framework.smart_constant_value(tf.placeholder(tf.bool)) is None
    with pytest.raises(TypeError, match="must be a Tensor"):
        framework.smart_constant_value("yes")


def test_names_move_into_scopes_and_out():
    framework = tf.contrib.framework
    assert framework.prepend_name_scope("^a/b", "c") == "^c/a/b"
    assert framework.prepend_name_scope("loc:@a", "c/") == "loc:@c/a"
    assert framework.strip_name_scope("^c/a/b", "c") == "^a/b"
    with tf.name_scope("s"):
        place = tf.placeholder(tf.float32)
        assert framework.get_name_scope() == "s"
    assert framework.get_placeholders(place.graph) == [place]
