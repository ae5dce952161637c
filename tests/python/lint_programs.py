"""Programs of tests of lint: what they begin with, and how they are run and judged.

A program is a text, run with `tf` (TensorFlow 1) and `np`, as `rheos lint` would run it. A comment
`# <-` marks the line that is told of.
"""

import linecache
import textwrap

import numpy as np
import rheos.v1 as tf
from rheos.framework import run_warnings
from rheos.training.script_lint import Recorder

# What programs begin with.
HEAD = """
    softmax_loss = tf.nn.softmax_cross_entropy_with_logits_v2
    sparse_loss = tf.nn.sparse_softmax_cross_entropy_with_logits
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    w = tf.get_variable("w", [3, 3])
    z = tf.matmul(x, w)
    xs, ys = np.ones([6, 3], np.float32), np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
    feed = {x: xs, y: ys}
    use = tf.add_n([z, y], name="use")
"""

def program(text, head=HEAD):
    return textwrap.dedent(head) + textwrap.dedent(text)


def found_in(text, name="program.py", notes=True):
    """[Finding] of a program that is run here."""
    lines = text.splitlines(keepends=True)
    linecache.cache[name] = len(text), None, lines, name
    recorder = Recorder(notes)
    run_warnings.set_watcher(recorder)
    try:
        with tf.Graph().as_default():
            exec(compile(text, name, "exec"), {"tf": tf, "np": np, "__name__": "program"})
            return recorder.findings()
    finally:
        run_warnings.set_watcher(None)


class Cases:
    """For each rule programs with the mistake, and near ones without."""

    def __init__(self):
        self.rules, self.bad, self.good = [], [], []

    def __call__(self, rule, bad, good, head=HEAD):
        self.rules.append(rule)
        self.bad += [(rule, program(text, head)) for text in bad]
        self.good += [(rule, program(text, head)) for text in good]


def name_of(value):
    """A name for a parameter of a test: the rule's."""
    return value if "\n" not in value else ""


def check_mistake(rule, text):
    """The rule finds its mistake, at the line that is marked if one is."""
    found = [f for f in found_in(text) if f.rule == rule]
    assert found, text
    lines = text.splitlines()
    marked = next((i for i, line in enumerate(lines, 1) if "# <-" in line), None)
    if marked is not None:
        assert (found[0].file, found[0].line) == ("program.py", marked), text


def check_near(rule, text):
    """The rule finds nothing."""
    assert [f for f in found_in(text) if f.rule == rule.split()[0]] == [], text
