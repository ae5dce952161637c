"""What programs take from below `tensorflow.python` that has no public name in TensorFlow 1."""
