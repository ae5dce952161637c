"""Recommends films by those that somebody has seen, and how much they were liked.

    rheos run examples/recommender.py [steps]

A TensorFlow 1 program with sparse features: a row names any number of films with weights, and only
the rows of the table that a batch names are read and updated. People and films are made: of each
film some kinds, of each person a taste.
"""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
FILMS, PEOPLE, KINDS, SEEN, LENGTH, BATCH = 400, 3000, 8, 12, 24, 64
random = np.random.RandomState(1)

kind_of = random.randint(KINDS, size=FILMS)
fame = 1 / (1 + np.arange(FILMS)) ** 0.5  # the sampler draws the first ones most
taste = random.dirichlet(np.full(KINDS, 0.25), PEOPLE)


def films_of(person):
    """SEEN films that somebody saw, in any order, and marks for them from 1 to 5."""
    chance = fame * (0.01 + taste[person][kind_of])
    films = random.choice(FILMS, SEEN, replace=False, p=chance / chance.sum())
    marks = 2 + 6 * taste[person][kind_of[films]] + random.normal(0, 0.5, SEEN)
    return films, np.clip(np.round(marks), 1, 5)


histories = [films_of(person) for person in range(PEOPLE)]
known, unseen = histories[:-500], histories[-500:]


def batch_of(some):
    """The films but one of each person, the marks of them, and that one; sparse tensors."""
    indices, films, marks, left_out = [], [], [], []
    for row, (seen, given) in enumerate(some):
        count = random.randint(3, SEEN)  # of films that are told
        indices += [(row, column) for column in range(count)]
        films += list(seen[:count])
        marks += list(given[:count])
        left_out.append(seen[count])
    shape = [len(some), SEEN]
    return (indices, films, shape), (indices, marks, shape), left_out


tf.set_random_seed(1)
films = tf.sparse_placeholder(tf.int64, name="films")
marks = tf.sparse_placeholder(tf.float32, name="marks")
next_film = tf.placeholder(tf.int64, [None], name="next_film")
spread = tf.random_normal_initializer(stddev=0.5)
table = tf.get_variable("films_seen", [FILMS, LENGTH], initializer=spread)
person = tf.nn.embedding_lookup_sparse(table, films, marks, combiner="mean")
person = tf.layers.dense(person, LENGTH, activation=tf.nn.relu)
outputs = tf.get_variable("films_next", [FILMS, LENGTH])
biases = tf.get_variable("popularity", [FILMS], initializer=tf.zeros_initializer())
scores = tf.matmul(person, outputs, transpose_b=True) + biases
losses = tf.nn.sampled_softmax_loss(
    outputs, biases, next_film[:, None], person, num_sampled=40, num_classes=FILMS
)
loss = tf.reduce_mean(losses)
train = tf.train.AdagradOptimizer(0.3).minimize(loss)
found = tf.reduce_mean(tf.cast(tf.nn.in_top_k(scores, next_film, 20), tf.float32))
best = tf.nn.top_k(scores, 5).indices


def feed(some):
    told, liked, left_out = batch_of(some)
    return {films: told, marks: liked, next_film: left_out}


by_fame = set(np.argsort(-np.bincount(np.concatenate([f for f, _ in known]), minlength=FILMS))[:20])
test = feed(unseen)
print("the 20 best known films: %.3f of films that were left out"
      % np.mean([film in by_fame for film in test[next_film]]))  # fmt: skip
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        some = [known[i] for i in random.randint(len(known), size=BATCH)]
        value, _ = session.run([loss, train], feed(some))
        if step % max(1, steps // 4) == 0:
            right = session.run(found, test)
            print("step %4d   loss %.3f   20 recommended: %.3f" % (step, value, right))
    likes = np.flatnonzero(kind_of == 3)[:3]
    row = {films: ([[0, 0], [0, 1], [0, 2]], likes, [1, 3])}
    row[marks] = (row[films][0], [5, 5, 4], [1, 3])
    kinds = kind_of[session.run(best, row)[0]]
    print("who liked three films of kind 3 gets films of the kinds", *kinds)
