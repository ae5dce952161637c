"""Tapes in traced functions know what was recorded, as eager ones do."""

import numpy as np
import pytest
import rheos.v2 as tf


def before_the_tape(x):
    y = x * 3.0
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(y, [x])


def behind_the_tape(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y * 2.0, [x])


def never_watched(x):
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, [x])


def watched_in_between(x):
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(y)
        z = y * 3.0
    return tape.gradient(z, [x, y])


def watched_late(x):
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = y * 3.0 + x
    return tape.gradient(z, [x, y])


def not_recorded_for_a_while(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * 3.0
        w = z * x
    return tape.gradient(w, [x])


def on_the_way(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * 3.0
    return tape.gradient(z, [y, x])


def of_copies(x):
    copies = [x, tf.identity(x), x + 0.0, x - 0.0, x * 1.0, x / 1.0, x**1.0, 0.0 + x, 1.0 * x]
    with tf.GradientTape() as tape:
        tape.watch(copies)
        y = tf.add_n([3.0 * copy for copy in copies])
    return tape.gradient(y, copies)


def of_a_tape_around(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        slope = inner.gradient(y, x)
    return outer.gradient(slope, [x])


def of_a_branch(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 0.0, lambda: x * x, lambda: x)
    return tape.gradient(y, [x])


variable = tf.Variable(3.0)
fixed = tf.Variable(5.0, trainable=False)


def of_variables(x):
    with tf.GradientTape() as tape:
        y = variable * fixed * x
    return tape.gradient(y, [variable, fixed, x])


def of_variables_that_are_not_watched(x):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fixed)
        y = variable * fixed * x
    return tape.gradient(y, [variable, fixed, x])


def of_variables_of_functions(x):
    return [one_more(x) for _ in range(2)]


multiply = tf.function(lambda x: x * variable)


def one_more(x):
    with tf.GradientTape() as tape:
        y = multiply(x)
    return tape.gradient(y, variable)


WANTED = {
    before_the_tape: [None],
    behind_the_tape: [None],
    never_watched: [None],
    watched_in_between: [None, 3.0],
    watched_late: [1.0, None],
    not_recorded_for_a_while: [12.0],
    on_the_way: [3.0, 12.0],
    of_copies: [3.0] * 9,
    of_a_tape_around: [12.0],
    of_a_branch: [4.0],
    of_variables: [10.0, None, None],
    of_variables_that_are_not_watched: [None, 6.0, None],
    of_variables_of_functions: [2.0, 2.0],
}


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
@pytest.mark.parametrize("program", list(WANTED), ids=lambda program: program.__name__)
def test_gradients_are_those_of_what_was_recorded(program, wrap):
    found = wrap(program)(tf.constant(2.0))
    assert [None if g is None else float(g) for g in found] == WANTED[program]


def test_functions_that_call_each_other_twice_have_gradients():
    def twice(inner):
        return tf.function(lambda x: inner(inner(x)))

    function = tf.function(tf.sin)
    for _ in range(14):
        function = twice(function)
    x, wanted, value = tf.constant(1.0), 1.0, 1.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    for _ in range(2**14):
        wanted *= np.cos(value)
        value = np.sin(value)
    np.testing.assert_allclose(y, value, 1e-3)
    np.testing.assert_allclose(tape.gradient(y, x), wanted, 1e-2)
