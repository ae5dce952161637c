"""The parts of TensorFlow's tutorials that programs import."""
