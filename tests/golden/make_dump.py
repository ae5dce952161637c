"""Has TensorFlow 1.15 dump a step with tfdbg, into the folder dump beside this script.

    python make_dump.py
"""

import os
import shutil

import tensorflow as tf
from tensorflow.python import debug as tf_debug

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dump")
WRITTEN = "/tmp/recorded_dump"  # which the files name
DEBUG_OPS = ["DebugIdentity", "DebugNanCount", "DebugNumericSummary"]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.rmtree(WRITTEN, ignore_errors=True)
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.name_scope("layer"):
        logs = tf.log(x, name="logs")
        total = tf.reduce_sum(logs * 0.0, name="total")
    options = tf.RunOptions()
    tf_debug.watch_graph(
        options, total.graph, debug_ops=DEBUG_OPS, debug_urls="file://" + WRITTEN,
        op_type_regex_whitelist="(Log|Sum)$", global_step=5,
    )  # fmt: skip
    with tf.Session() as sess:
        sess.run(total, {x: [0.0, 1.0, 2.0]}, options=options)
    shutil.move(WRITTEN, FOLDER)


if __name__ == "__main__":
    main()
