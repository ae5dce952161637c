"""Folders of dumped steps: those that TensorFlow recorded are read, and it reads ours.

make_dump.py recorded the folder; where there is no TensorFlow (tensorflow_process.py), the second
half is skipped.
"""

from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1._insides import debug as tf_debug
from tensorflow_process import INTERPRETER, tensorflow

RECORDED = Path(__file__).parents[2] / "golden" / "dump"
DEBUG_OPS = ["DebugIdentity", "DebugNanCount", "DebugNumericSummary"]


@pytest.fixture
def step():
    """(placeholder, result): the program of make_dump.py."""
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.name_scope("layer"):
        logs = tf.log(x, name="logs")
        return x, tf.reduce_sum(logs * 0.0, name="total")


def _dump(folder, step, **kwargs):
    x, total = step
    options = tf.RunOptions()
    tf_debug.watch_graph(options, total.graph, DEBUG_OPS, f"file://{folder}", **kwargs)
    with tf.Session() as sess:
        sess.run(total, {x: [0.0, 1.0, 2.0]}, options=options)


def test_what_tensorflow_dumped_is_what_is_dumped_here(step, tmp_path):
    _dump(tmp_path, step, op_type_regex_whitelist="(Log|Sum)$", global_step=5)
    recorded, ours = (tf_debug.DebugDumpDir(str(f)) for f in (RECORDED, tmp_path))
    assert recorded.size == ours.size == 6 and recorded.devices() == ours.devices()
    assert recorded.core_metadata.global_step == ours.core_metadata.global_step == 5
    assert recorded.core_metadata.output_names == ours.core_metadata.output_names
    assert recorded.node_inputs("layer/total") == ours.node_inputs("layer/total")
    for node in ("layer/logs", "layer/total"):
        for op in DEBUG_OPS:
            (theirs,), (here,) = (d.get_tensors(node, 0, op) for d in (recorded, ours))
            assert theirs.dtype == here.dtype
            np.testing.assert_allclose(here, theirs, rtol=1e-6)
    assert [d.node_name for d in recorded.find(tf_debug.has_inf_or_nan)] == [
        d.node_name for d in ours.find(tf_debug.has_inf_or_nan)
    ]


@pytest.mark.skipif(INTERPRETER is None, reason="TensorFlow is not installed here")
def test_tensorflow_reads_what_is_dumped(step, tmp_path):
    x, _ = step
    tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.add(v, x, name="more")), [0, x])
    looped = tf.get_default_graph().get_tensor_by_name("while/Exit_1:0")
    _dump(tmp_path, (x, looped), tolerate_debug_op_creation_failures=True)
    ours = tf_debug.DebugDumpDir(str(tmp_path))
    told = tensorflow(
        """
from tensorflow.python.debug.lib.debug_data import DebugDumpDir
dump = DebugDumpDir(folder)
answer([dump.size, sorted(dump.nodes()), dump.node_inputs("while/more"),
        [v.tolist() for v in dump.get_tensors("while/more", 0, "DebugIdentity")],
        [v.tolist() for v in dump.get_tensors("while/more", 0, "DebugNumericSummary")]])
""",
        tmp_path,
    )
    assert told == [
        ours.size,
        sorted(ours.nodes()),
        ours.node_inputs("while/more"),
        [[0.0, 2.0, 4.0], [0.0, 3.0, 6.0]],
        [v.tolist() for v in ours.get_tensors("while/more", 0, "DebugNumericSummary")],
    ]
