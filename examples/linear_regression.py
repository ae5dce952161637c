"""Fits a line by 100,000 steps of gradient descent, one random sample a step.

    rheos run examples/linear_regression.py [steps]

A TensorFlow 1 program as it always was: build the graph, make a session, run the training step.
"""

import random
import sys
import time

import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100000

# The graph: two parameters, a guess, how wrong it is, and the operation that makes it better.
m = tf.get_variable("m", [], initializer=tf.constant_initializer(0.0))
b = tf.get_variable("b", [], initializer=tf.constant_initializer(0.0))
init = tf.global_variables_initializer()

x = tf.placeholder(tf.float32, name="x")
y = tf.placeholder(tf.float32, name="y")
loss = tf.square(y - (m * x + b))
train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)

true_m, true_b = random.random(), random.random()

with tf.Session() as session:
    session.run(init)
    start = time.perf_counter()
    for step in range(1, steps + 1):
        sample = random.random()
        feed = {x: sample, y: true_m * sample + true_b}
        loss_value, _ = session.run([loss, train], feed_dict=feed)
        if step % max(1, steps // 10) == 0:
            print("step %6d   loss %.3g" % (step, loss_value))
    seconds = time.perf_counter() - start
    print("%d steps in %.2f s, %.2f us each" % (steps, seconds, seconds / steps * 1e6))
    print("True parameters:    m=%.4f, b=%.4f" % (true_m, true_b))
    print("Learned parameters: m=%.4f, b=%.4f" % tuple(session.run([m, b])))
