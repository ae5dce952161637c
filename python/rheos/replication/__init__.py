"""tf.distribute: programs whose steps are shared by several replicas."""
