"""Learns vectors of words from which words stand together, and finds the nearest of some.

    rheos run examples/word_vectors.py [steps]

A TensorFlow 1 program: embedding_lookup and nce_loss, whose gradients touch the rows of a batch
alone. The sentences are made; a text of others goes in the place of make_sentences().
"""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
BATCH, LENGTH, WINDOW = 128, 24, 2
random = np.random.RandomState(1)

KINDS = {
    "ANIMAL": "cat dog horse cow goat",
    "EATS": "eats chews swallows",
    "FOOD": "bread hay grass apples corn",
    "PERSON": "farmer baker teacher doctor sailor",
    "MAKES": "builds paints mends",
    "THING": "house boat fence table wall",
    "PLACE": "village harbour field town valley",
    "HOW": "slowly quickly often rarely gladly",
}
FORMS = [
    "the ANIMAL HOW EATS FOOD",
    "a PERSON MAKES the THING in the PLACE",
    "the PERSON HOW MAKES a THING",
    "in the PLACE a ANIMAL EATS FOOD",
    "the PERSON of the PLACE gives FOOD to the ANIMAL",
]


def make_sentences(count):
    for _ in range(count):
        form = FORMS[random.randint(len(FORMS))].split()
        yield [random.choice(KINDS[word].split()) if word in KINDS else word for word in form]


sentences = list(make_sentences(4000))
words = sorted({word for sentence in sentences for word in sentence})
number_of = {word: number for number, word in enumerate(words)}
pairs = np.array(
    [
        (number_of[word], number_of[near])
        for sentence in sentences
        for at, word in enumerate(sentence)
        for near in sentence[max(0, at - WINDOW) : at] + sentence[at + 1 : at + 1 + WINDOW]
    ],
    np.int32,
)

tf.set_random_seed(1)
middle = tf.placeholder(tf.int32, [None], name="middle")
near = tf.placeholder(tf.int32, [None, 1], name="near")
table = tf.get_variable("table", [len(words), LENGTH])
weights = tf.get_variable("weights", [len(words), LENGTH])
biases = tf.get_variable("biases", [len(words)], initializer=tf.zeros_initializer())
looked_up = tf.nn.embedding_lookup(table, middle)
loss = tf.reduce_mean(
    tf.nn.nce_loss(weights, biases, near, looked_up, num_sampled=16, num_classes=len(words))
)
train = tf.train.AdagradOptimizer(0.5).minimize(loss)
unit = tf.nn.l2_normalize(table, 1)
alike = tf.matmul(unit, unit, transpose_b=True)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    losses = []
    for step in range(1, steps + 1):
        some = pairs[random.randint(len(pairs), size=BATCH)]
        value, _ = session.run([loss, train], {middle: some[:, 0], near: some[:, 1:]})
        losses.append(value)
        if step % max(1, steps // 4) == 0:
            print("step %4d   loss %.3f" % (step, np.mean(losses[-200:])))
    alike = session.run(alike)

same = 0
for kind in KINDS.values():
    members = kind.split()
    for word in members:
        nearest = [words[i] for i in np.argsort(-alike[number_of[word]])[1:4]]
        same += nearest[0] in members
    print("%-8s is near %s" % (word, ", ".join(nearest)))
total = sum(len(kind.split()) for kind in KINDS.values())
print("of %d words, %d have a word of their kind as the nearest" % (total, same))
