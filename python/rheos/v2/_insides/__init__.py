"""What programs of TensorFlow 2 import from below tensorflow.python, where 1.x has other things."""
