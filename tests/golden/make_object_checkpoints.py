#!/usr/bin/env python3
"""Writes checkpoints/objects.* with TensorFlow 2: variables saved by object, not by name.

python make_object_checkpoints.py [folder]
"""

import os
import sys

import numpy as np
import tensorflow as tf

if __name__ == "__main__":
    here = os.path.dirname(__file__)
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "checkpoints")
    layer = tf.Module()
    layer.w = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="layer/kernel")
    layer.b = tf.Variable([1.0, 2.0, 3.0], name="layer/bias")
    step = tf.Variable(7, dtype=tf.int64, name="step")
    tf.train.Checkpoint(model=layer, step=step).write(os.path.join(out, "objects"))
