"""What TensorFlow 1 had from its contributors; rheos.v1.contrib gives it to programs."""
