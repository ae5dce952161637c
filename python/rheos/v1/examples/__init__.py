"""The parts of TensorFlow's examples that programs import."""
