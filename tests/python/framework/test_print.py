"""tf.print: what it writes, and where."""

import sys

import pytest
import rheos.v1 as tf


def printed(sess, tmp_path, *values, **settings):
    path = tmp_path / "out"
    sess.run(tf.print(*values, output_stream=f"file://{path}", **settings))
    return path.read_text()


def test_print__shows_tensors_in_structures(sess, tmp_path):
    x = tf.range(8)
    assert printed(sess, tmp_path, "x:", x, 3, end="!") == "x: [0 1 2 ... 5 6 7] 3!"
    structure = {"b": [tf.constant(1.5), "s"], "a": (tf.constant(True), None)}
    assert printed(sess, tmp_path, structure) == "x: [0 1 2 ... 5 6 7] 3!" + (
        "{'a': (1, None), 'b': [1.5, 's']}\n"
    )


def test_print__shows_ragged_rows(sess, tmp_path):
    rows = tf.ragged.constant([[1, 2, 3, 4, 5, 6, 7, 8], [3], []])
    assert printed(sess, tmp_path, "r", rows) == "r [[1, 2, 3, ..., 6, 7, 8], [3], []]\n"
    deep = tf.ragged.constant([[["it's"], ["b", "c"]], [], [["d"]]])
    printed(sess, tmp_path, deep, {"k": rows}, summarize=1)
    assert (
        (tmp_path / "out")
        .read_text()
        .endswith("[[['it\\'s'], ['b', 'c']], ..., [['d']]] {'k': [[1, ..., 8], ..., []]}\n")
    )
    inner = tf.RaggedTensor.from_row_splits([[1.5, 2.0], [3.0, 4.0]], [0, 2, 2])
    assert sess.run(tf.strings.format("{}|{}", [inner, 7])) == (
        b"[[[1.500000, 2.000000], [3.000000, 4.000000]], []]|7"
    )
    with pytest.raises(ValueError, match="summarize"):
        tf.strings.format("{}", rows, summarize=0)
    with pytest.raises(ValueError, match="placeholders"):
        tf.strings.format("{} {}", rows)


def test_print__takes_one_string_as_it_is(sess, tmp_path):
    assert printed(sess, tmp_path, tf.constant("{} hi")) == "{} hi\n"


def test_print__joins_and_shortens_as_asked(sess, tmp_path):
    text = printed(sess, tmp_path, tf.range(5), "end", sep="|", summarize=1)
    assert text == "[0 ... 4]|end\n"


def test_print__goes_to_the_streams_of_the_process(sess, capfd):
    sess.run([tf.print("to stderr"), tf.print("to stdout", output_stream=sys.stdout)])
    out, err = capfd.readouterr()
    assert out == "to stdout\n" and "to stderr\n" in err


def test_print__refuses_other_streams_and_arguments():
    with pytest.raises(ValueError, match="Output stream"):
        tf.print("a", output_stream=3)
    with pytest.raises(ValueError, match="keyword"):
        tf.print("a", separator=",")


def test_the_mode_is_that_of_graphs():
    assert tf.executing_eagerly() is False and tf.control_flow_v2_enabled() is False
    assert tf.disable_eager_execution() is None and tf.disable_v2_behavior() is None
    assert tf.get_logger().name == "tensorflow"


def test_fingerprint(sess):
    found = sess.run(tf.fingerprint(["a", "b"]))
    assert found.shape == (2, 8)
    assert found[0].tolist() == [227, 117, 223, 182, 101, 66, 69, 179]
    assert found[1].tolist() == [22, 241, 200, 94, 33, 96, 178, 163]


def test_print__takes_braces_of_the_program_as_they_are(sess, tmp_path):
    assert printed(sess, tmp_path, "{} {0}", tf.constant(6), {"{1}": tf.constant(7)}) == (
        "{} {0} 6 {'{1}': 7}\n"
    )


def test_print__shows_the_parts_of_sparse_tensors(sess, tmp_path):
    sparse = tf.SparseTensor([[0, 1]], [2.5], [3, 4])
    shown = "'SparseTensor(indices=[[0 1]], values=[2.5], shape=[3 4])'"
    assert printed(sess, tmp_path, sparse, [sparse]) == f"{shown} [{shown}]\n"
