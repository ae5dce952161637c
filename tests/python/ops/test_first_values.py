"""Variables that start with values of a checkpoint."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture
def checkpoint(tmp_path):
    """a/x, a/in/z and a variable that was saved in three parts."""
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("a"):
            tf.get_variable("x", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
            tf.get_variable("in/z", initializer=9.0)
        whole = tf.get_variable("part", [6, 2], partitioner=tf.fixed_size_partitioner(3))
        session.run(tf.global_variables_initializer())
        session.run(whole.assign(np.arange(12).reshape(6, 2)))
        tf.train.Saver().save(session, str(tmp_path / "model"))
    return str(tmp_path)


def first_values(*variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(v).tolist() for v in variables]


PART = np.arange(12.0).reshape(6, 2).tolist()


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_variable_or_its_name(checkpoint, use_resource):
    with tf.variable_scope("", use_resource=use_resource):
        v, w = tf.get_variable("v", [4, 2]), tf.get_variable("w", [])
    tf.train.init_from_checkpoint(checkpoint + "/model", {"a/x": v, "a/in/z": "w"})
    assert first_values(v, w) == [[[0, 1], [2, 3], [4, 5], [6, 7]], 9]


@pytest.mark.parametrize("scopes", [{"a/": "b/"}, {"a/": "b/", "a/in/": "b/in/"}])
def test_scopes(checkpoint, scopes):
    with tf.variable_scope("b"):
        x, z = tf.get_variable("x", [4, 2]), tf.get_variable("in/z", [])
    tf.get_variable("other", [1])
    tf.train.init_from_checkpoint(checkpoint, scopes)
    assert first_values(x, z)[1] == 9


def test_everything(checkpoint):
    x = tf.get_variable("a/x", [4, 2])
    tf.train.init_from_checkpoint(checkpoint, {"/": "/"})
    assert first_values(x)[0][3] == [6, 7]


@pytest.mark.parametrize("target", ["parts", "variable", "name", "scope"])
def test_a_variable_cut_in_other_parts(checkpoint, target):
    with tf.variable_scope("s"):
        v = tf.get_variable("part", [6, 2], partitioner=tf.fixed_size_partitioner(2))
    targets = {"parts": list(v), "variable": v, "name": "s/part"}
    given = {"/": "s/"} if target == "scope" else {"part": targets[target]}
    tf.train.init_from_checkpoint(checkpoint, given)
    assert first_values(v.as_tensor()) == [PART]


def test_parts_become_a_whole(checkpoint):
    v = tf.get_variable("whole", [6, 2])
    tf.train.init_from_checkpoint(checkpoint, {"part": v})
    assert first_values(v) == [PART]


def test_what_does_not_fit_is_named(checkpoint):
    v = tf.get_variable("b/v", [4, 3])
    cut = tf.get_variable("cut", [4, 4], partitioner=tf.fixed_size_partitioner(2))
    for given, message in (
        ({"nope": v}, "Tensor nope is not found"),
        ({"a/x": v}, r"Shape of variable b/v:0 \(\(4, 3\)\) doesn't match .* a/x \(\[4, 2\]\)"),
        ({"part": cut}, r"Shape of variable cut/part_0:0 \(\(4, 4\)\) doesn't match"),
        ({"a/": "b/"}, r"Tensor a/v \(v in a/\) is not found"),
        ({"a": "b/"}, "should map to scope only a"),
        ({"a/x": "no_such_variable"}, "should map to scope only a/x"),
    ):
        with pytest.raises(ValueError, match=message):
            tf.train.init_from_checkpoint(checkpoint, given)
    with pytest.raises(TypeError, match="expected a variable"):
        tf.train.init_from_checkpoint(checkpoint, {"a/x": 5})


def test_a_warm_start(checkpoint):
    x, z = tf.get_variable("a/x", [4, 2]), tf.get_variable("new", [])
    tf.get_variable("a/fresh", [3])
    tf.train.warm_start(checkpoint, "a/x")
    tf.train.warm_start(checkpoint, [z], var_name_to_prev_var_name={"new": "a/in/z"})
    assert first_values(x, z) == [[[0, 1], [2, 3], [4, 5], [6, 7]], 9]
    with pytest.raises(ValueError, match="Tensor a/fresh is not found"):
        tf.train.warm_start(checkpoint)
    with pytest.raises(ValueError, match="misspelled"):
        tf.train.warm_start(checkpoint, "a/x", var_name_to_prev_var_name={"a/y": "a/x"})


@pytest.mark.parametrize("parts", [1, 2])
def test_a_warm_start_with_another_vocabulary(checkpoint, tmp_path, parts):
    (tmp_path / "old").write_bytes(b"a\r\nb\r\nc\r\nd\r\n")
    (tmp_path / "new").write_text("c\nz\na\n")
    vocab = tf.train.VocabInfo(
        str(tmp_path / "new"),
        3,
        1,
        str(tmp_path / "old"),
        backup_initializer=tf.constant_initializer(7.0),
    )
    v = tf.get_variable("a/x", [4, 2], partitioner=tf.fixed_size_partitioner(parts))
    tf.train.warm_start(checkpoint, "a/x", var_name_to_vocab_info={"a/x": vocab})
    assert first_values(tf.convert_to_tensor(v)) == [[[4, 5], [7, 7], [0, 1], [7, 7]]]


def test_a_warm_start_with_another_vocabulary_of_columns(checkpoint, tmp_path):
    (tmp_path / "old").write_text("a\nb\n")
    (tmp_path / "new").write_text("b\nc\na")
    vocab = tf.train.VocabInfo(str(tmp_path / "new"), 3, 0, str(tmp_path / "old"), axis=1)
    v = tf.get_variable("a/x", [4, 3])
    tf.train.warm_start(checkpoint, "a/x", var_name_to_vocab_info={"a/x": vocab})
    assert first_values(v)[0][1] == [3, 0, 2]
    with pytest.raises(ValueError, match="axis"):
        tf.train.VocabInfo("", 1, 0, "", axis=2)


def test_vocabularies_that_do_not_fit(checkpoint, tmp_path):
    (tmp_path / "new").write_text("c\nz\n")
    (tmp_path / "old").write_text("a\nb\na\n")
    tf.get_variable("a/x", [2, 2])
    for kind, words, sizes in (
        (tf.errors.FailedPreconditionError, "Key a has 0 and trying to add value 2", (2, -1)),
        (ValueError, "old has 3 entries, not 5", (2, 5)),
        (ValueError, "new has 2 entries, not 3", (3, 2)),
    ):
        vocab = tf.train.VocabInfo(
            str(tmp_path / "new"), sizes[0], 0, str(tmp_path / "old"), sizes[1]
        )
        with pytest.raises(kind, match=words):
            tf.train.warm_start(checkpoint, "a/x", var_name_to_vocab_info={"a/x": vocab})


def test_the_initialized_value_is_that_of_the_checkpoint(checkpoint):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    before = v.initialized_value()
    tf.train.init_from_checkpoint(checkpoint, {"a/in/z": v})
    assert first_values(before, v.initialized_value(), v.initial_value) == [0, 9, 9]
