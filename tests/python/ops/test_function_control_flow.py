"""Branches, loops and arrays inside of functions against TensorFlow 2.21:
tests/golden/make_function_control_flow.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework.func_graph import call_function, func_graph_from_py_func

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_function_control_flow import PROGRAMS, leaves, plain  # noqa: E402

RECORDED = json.loads((GOLDEN / "function_control_flow.json").read_text())

# TensorFlow asserts it; other mistakes of branches are TypeErrors there too.
OTHER_ERRORS = {"mistake_structures_of_branches_0": "TypeError"}
# Of a row that is taken twice TensorFlow keeps the last gradient, not the sum.
OTHER_GRADIENTS = {"array_unstacked_0": [[[6.0, 7.0], [3.0, 3.0], [2.0, 3.0]]]}


def run(session, function, arguments, in_function):
    tensors = [tf.constant(a) for a in arguments]
    if in_function:
        graph = func_graph_from_py_func("f", lambda *args: leaves(tf, function(tf, *args)), tensors)
        results = list(call_function(graph, tensors).outputs)
    else:
        results = leaves(tf, function(tf, *tensors))
    floats = [t for t in tensors if t.dtype.is_floating]
    ys = [r for r in results if r.dtype.is_floating]
    gradients = tf.gradients(ys, floats) if ys else []
    values = session.run(results)
    return values, [None if g is None else session.run(g) for g in gradients]


def assert_close(value, expected):
    if isinstance(value, bytes):
        assert plain(value) == expected
    else:
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("in_function", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_function_control_flow__gives_what_tensorflow_gave(sess, name, in_function):
    expected = RECORDED[name]
    if not in_function:
        tf.enable_control_flow_v2()
    try:
        if "error" in expected:
            with pytest.raises(Exception) as caught:
                run(sess, *PROGRAMS[name], in_function)
            assert type(caught.value).__name__ == OTHER_ERRORS.get(name, expected["error"])
            return
        values, gradients = run(sess, *PROGRAMS[name], in_function)
    finally:
        tf.disable_control_flow_v2()
    assert len(values) == len(expected["values"])
    for value, wanted in zip(values, expected["values"]):
        assert_close(value, wanted)
    for gradient, wanted in zip(gradients, OTHER_GRADIENTS.get(name, expected["gradients"])):
        if wanted is None:  # of which zeros are as good
            assert gradient is None or not np.any(gradient)
        else:
            assert_close(gradient, wanted)
