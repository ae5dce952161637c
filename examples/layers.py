"""Times a network of 100 small layers op by op and as one graph.

    rheos run examples/layers.py [calls]

A TensorFlow 2 program: the same model is called eagerly, and with its call() traced by tf.function.
"""

import sys
import timeit

import tensorflow as tf

calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100


class Deep(tf.keras.Model):
    """Flattens pictures, then 100 dense layers of 64 units and one of 10."""

    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.hidden = [tf.keras.layers.Dense(64, activation="relu") for _ in range(100)]
        self.logits = tf.keras.layers.Dense(10)

    def call(self, x):
        x = self.flatten(x)
        for layer in self.hidden:
            x = layer(x)
        return self.logits(x)


pictures = tf.random.uniform([20, 28, 28])
model = Deep()
eagerly = model(pictures)  # makes the variables
eager_time = timeit.timeit(lambda: model(pictures), number=calls)

model.call = tf.function(model.call)
as_graph = model(pictures)  # traces
graph_time = timeit.timeit(lambda: model(pictures), number=calls)

eager_ms, graph_ms = 1000 * eager_time / calls, 1000 * graph_time / calls
print(f"eager: {eager_ms:.2f} ms a call, graph: {graph_ms:.2f} ms")
print("greatest difference:", tf.reduce_max(tf.abs(eagerly - as_graph)).numpy())
