"""TensorFlow 2's tf.autograph.experimental."""

from rheos.autograph.api import Feature, do_not_convert, set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
