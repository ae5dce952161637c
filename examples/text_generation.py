"""Learns to write like a text, character by character, with a recurrent net.

    rheos run examples/text_generation.py [steps [text.txt]]

A TensorFlow 1 program: dynamic_rnn over gated units, whose state goes from one batch to the next,
and clipped gradients. Without a text it reads the licence of this project. textgen.c does nearly
the same in C.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
path = sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parent.parent / "LICENSE"
BATCH, LENGTH, UNITS = 16, 32, 160

text = " ".join(Path(path).read_text().split())
characters = sorted(set(text))
number_of = {character: number for number, character in enumerate(characters)}
numbers = np.array([number_of[character] for character in text], np.int32)

tf.set_random_seed(1)
given = tf.placeholder(tf.int32, [None, None], name="given")  # (batch, time)
wanted = tf.placeholder(tf.int32, [None, None], name="wanted")
warmth = tf.placeholder_with_default(1.0, [], name="warmth")
cell = tf.nn.rnn_cell.GRUCell(UNITS)
before = tf.placeholder_with_default(cell.zero_state(tf.shape(given)[0], tf.float32), [None, UNITS])
table = tf.get_variable("table", [len(characters), 32])
outputs, after = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, given), initial_state=before)
logits = tf.layers.dense(outputs, len(characters))
drawn = tf.multinomial(logits[:, -1] / warmth, 1)[0, 0]

loss = tf.losses.sparse_softmax_cross_entropy(wanted, logits)
optimizer = tf.train.AdamOptimizer(0.004)
gradients, variables = zip(*optimizer.compute_gradients(loss))
gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
train = optimizer.apply_gradients(zip(gradients, variables))

# BATCH readers, each of whom reads a part of the text, LENGTH characters at a time.
part = len(numbers) // BATCH
rows = numbers[: part * BATCH].reshape(BATCH, part)


def write(session, start, length):
    letters, state = start, None
    feed = {given: [[number_of[letter] for letter in start]], warmth: 0.5}
    while len(letters) < length:
        number, state = session.run([drawn, after], feed)
        letters += characters[number]
        feed = {given: [[number]], warmth: 0.5, before: state}
    return letters


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    at, state = 0, np.zeros([BATCH, UNITS], np.float32)
    for step in range(1, steps + 1):
        if at + LENGTH + 1 > part:
            at, state = 0, np.zeros([BATCH, UNITS], np.float32)
        feed = {given: rows[:, at : at + LENGTH], wanted: rows[:, at + 1 : at + LENGTH + 1]}
        feed[before] = state
        value, state, _ = session.run([loss, after, train], feed)
        at += LENGTH
        if step % max(1, steps // 5) == 0:
            print("step %4d   loss %.3f" % (step, value))
    print(write(session, "The Work ", 240))
