"""tf.experimental.numpy: functions of tensors with NumPy's names, arguments and promotion."""
