"""slim.model_analyzer: sums, and the lines that it prints."""

import rheos.v1 as tf
from rheos.contrib import model_analyzer


def test_variables_are_counted_and_printed(capsys):
    with tf.Graph().as_default():
        v = tf.get_variable("v", [3, 2])
        s = tf.get_variable("s", [], tf.int64, tf.zeros_initializer())
        sums = tf.contrib.slim.model_analyzer.analyze_vars([v, s], print_info=True)
    assert sums == (7, 32)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "Variables: name (type shape) [size]",
        "---------",
        "v:0 (float32_ref 3x2) [6, bytes: 24]",
        "s:0 (int64_ref ) [1, bytes: 8]",
        "Total size of variables: 7",
        "Total bytes of variables: 32",
    ]
    assert model_analyzer.analyze_vars([]) == (0, 0)
    assert capsys.readouterr().out == ""


def test_outputs_of_operations_are_counted_as_far_as_shapes_tell(capsys):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.unstack(tf.zeros([2, 3], name="z"), name="u")
        tf.placeholder(tf.float32, name="any")
        tf.no_op(name="nothing")
        total = model_analyzer.analyze_ops(graph, print_info=True)
    assert x.shape.num_elements() is None and total == 12
    assert capsys.readouterr().out.splitlines()[3:] == [
        "x \t-> (float32 ?x3) [0]",
        "z \t-> (float32 2x3) [6]",
        "u \t-> (float32 3), (float32 3) [6]",
        "any \t->  [0]",
        "nothing \t->  [0]",
    ]
