"""The layers of models, by TensorFlow's groups; what they compute is that of rheos.layers."""
