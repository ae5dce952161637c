"""Learns to read digits with a convolutional net, saves it, and shows what it still misreads.

    rheos run examples/digits.py [steps]

A TensorFlow 1 program: placeholders, a session, a saver. The digits are drawn askew and noisy by
pictures.py; for others, put arrays of pictures and labels in the place of make_digits().
"""

import sys
import tempfile

import numpy as np
import tensorflow as tf
from pictures import SIZE, draw, make_digits

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
BATCH = 64

tf.set_random_seed(1)
pictures = tf.placeholder(tf.float32, [None, SIZE, SIZE], name="pictures")
labels = tf.placeholder(tf.int32, [None], name="labels")
training = tf.placeholder_with_default(False, [], name="training")

x = pictures[..., tf.newaxis]
for filters in 16, 32:
    x = tf.layers.conv2d(x, filters, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
x = tf.layers.dense(tf.layers.flatten(x), 64, activation=tf.nn.relu)
logits = tf.layers.dense(tf.layers.dropout(x, 0.3, training=training), 10)
answers = tf.argmax(logits, 1, output_type=tf.int32, name="answers")
accuracy = tf.reduce_mean(tf.cast(tf.equal(answers, labels), tf.float32))

loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.004, step, 100, 0.7)
train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
saver = tf.train.Saver()

known, known_labels = make_digits(4000, seed=1)
unseen, unseen_labels = make_digits(1000, seed=2)
test = {pictures: unseen, labels: unseen_labels}
random = np.random.RandomState(0)

with tempfile.TemporaryDirectory() as folder:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in range(1, steps + 1):
            some = random.choice(len(known), BATCH)
            feed = {pictures: known[some], labels: known_labels[some], training: True}
            value, _ = session.run([loss, train], feed)
            if number % max(1, steps // 5) == 0:
                right = session.run(accuracy, test)
                print("step %3d   loss %.3f   right of unseen %.3f" % (number, value, right))
        checkpoint = saver.save(session, folder + "/digits", step)

    with tf.Session() as session:  # another one, as in the program that uses the net
        saver.restore(session, checkpoint)
        given = session.run(answers, test)

for index in np.flatnonzero(given != unseen_labels)[:1]:
    print("a %d, read as %d:" % (unseen_labels[index], given[index]))
    print(draw(unseen[index]))
