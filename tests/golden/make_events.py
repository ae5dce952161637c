#!/usr/bin/env python3
"""Writes the event files in tests/golden/events/ with TensorFlow 1.15.

    python make_events.py [folder]

The tests write events of the same values and compare them with these byte for byte, but for the
times, which are 1.0, 2.0, ... here.
"""

import os
import sys

import numpy as np


def pixels(channels):
    """Two pictures of 2 by 3: 0, 5, 10, ..."""
    count = 2 * 2 * 3 * channels
    return (np.arange(count) * 5 % 256).reshape(2, 2, 3, channels)


def sound(channels):
    """Two sounds of 4 frames between -1 and 1."""
    return np.linspace(-1, 1, 8 * channels, dtype=np.float32).reshape(2, 4, channels)


def summaries(tf):
    """The summary ops, in the order of the steps that they are written at."""
    s = tf.summary
    return [
        s.scalar("scalar", 0.5),
        s.scalar("infinite", float("-inf")),
        s.scalar("not_a_number", float("nan")),
        s.histogram("floats", np.array([-2.5, -1e-3, 0.0, 0.25, 0.5, 7.0, 1e9], np.float32)),
        s.histogram("ints", np.arange(-5, 20, dtype=np.int64)),
        s.histogram("same", np.ones([3, 3])),
        s.image("grey", tf.constant(pixels(1), tf.uint8)),
        s.image("colour", tf.constant(pixels(3), tf.uint8), max_outputs=1),
        s.image("clear", tf.constant(pixels(4), tf.uint8)),
        s.image("float", (pixels(3) / 64.0 - 0.5).astype(np.float32)),
        s.audio("mono", sound(1)[:, :, 0], 8000),
        s.audio("stereo", sound(2), 44100, max_outputs=1),
        s.text("text", tf.constant("*one* \u03c1")),
        s.tensor_summary("matrix", tf.constant([[1.0, 2.0], [3.0, 4.0]])),
        s.tensor_summary("words", tf.constant(["a", "", "b c"])),
    ]


def small_graph(tf):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.nn.relu(x * 2.0, name="y")
    return graph


def run_metadata(tf):
    made = tf.RunMetadata()
    device = made.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    device.node_stats.add(node_name="y", all_start_micros=3, op_end_rel_micros=4)
    return made


def write_events(tf, folder):
    """Writes one of each kind with that TensorFlow, or what stands for it."""
    writer = tf.summary.FileWriter(folder, graph=small_graph(tf), filename_suffix=".recorded")
    with tf.Graph().as_default(), tf.Session() as session:
        made = [session.run(summary) for summary in summaries(tf)]
    for step, summary in enumerate(made):
        writer.add_summary(summary, step)
    # The second time a tag comes without what says how to show it.
    writer.add_summary(made[12], 2 ** 40)
    writer.add_run_metadata(run_metadata(tf), "a step", 21)
    log = tf.SessionLog
    writer.add_session_log(log(status=log.START), 22)
    writer.add_session_log(log(status=log.CHECKPOINT, checkpoint_path="/model-23"), 23)
    writer.add_session_log(log(status=log.STOP, msg="the end"), 24)
    writer.close()


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "events")
    write_events(tf, folder)
    (name,) = [n for n in os.listdir(folder) if n.endswith(".recorded")]
    made = os.path.join(folder, name)
    with tf.python_io.TFRecordWriter(os.path.join(folder, "all.tfevents")) as records:
        for time, event in enumerate(tf.train.summary_iterator(made), 1):
            event.wall_time = time
            records.write(event.SerializeToString())
    os.remove(made)


if __name__ == "__main__":
    main()
