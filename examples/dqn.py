"""Learns to balance a pole on a cart, by deep Q-learning.

    rheos run examples/dqn.py [episodes]

A TensorFlow 1 program: a net that is trained, a copy of it that follows now and then, and a store
of what happened. An episode ends when the pole has fallen, the cart has left, or after 200 steps.
"""

import collections
import sys

import numpy as np
import tensorflow as tf

episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 250
BATCH, DISCOUNT, LONGEST = 32, 0.98, 200
random = np.random.RandomState(1)


def move(state, right):
    """The state 0.02 s later: where the cart is, its speed, the pole's angle and its speed."""
    place, speed, angle, turn = state
    force = 10.0 if right else -10.0
    sine, cosine = np.sin(angle), np.cos(angle)
    pushed = (force + 0.05 * turn**2 * sine) / 1.1
    turning = (9.8 * sine - cosine * pushed) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
    moving = pushed - 0.05 * turning * cosine / 1.1
    change = np.array([speed, moving, turn, turning])
    state = state + 0.02 * change
    return state, abs(state[0]) > 2.4 or abs(state[2]) > 0.21


def values_of(states, name):
    """What either action is worth in each state, (batch, 2); and the variables of it."""
    with tf.variable_scope(name) as scope:
        x = tf.layers.dense(states, 64, activation=tf.nn.relu)
        x = tf.layers.dense(x, 64, activation=tf.nn.relu)
        return tf.layers.dense(x, 2), scope.global_variables()


tf.set_random_seed(1)
states = tf.placeholder(tf.float32, [None, 4])
actions = tf.placeholder(tf.int32, [None])
rewards = tf.placeholder(tf.float32, [None])
following = tf.placeholder(tf.float32, [None, 4])
has_ended = tf.placeholder(tf.float32, [None])

values, trained = values_of(states, "net")
values_after, _ = values_of(following, "copy")
copy = tf.group(*(old.assign(new) for old, new in zip(tf.global_variables("copy/"), trained)))
best = tf.argmax(values, 1)
wanted = rewards + DISCOUNT * (1 - has_ended) * tf.reduce_max(values_after, 1)
taken = tf.reduce_sum(values * tf.one_hot(actions, 2), 1)
loss = tf.losses.huber_loss(tf.stop_gradient(wanted), taken)
train = tf.train.AdamOptimizer(1e-3).minimize(loss, var_list=trained)

store = collections.deque(maxlen=10000)
lengths = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    choose = session.make_callable(best, [states])
    count = 0
    for episode in range(1, episodes + 1):
        state, ended, length = random.uniform(-0.05, 0.05, 4), False, 0
        while not ended and length < LONGEST:
            explores = random.rand() < max(0.05, 1 - count / 2000)
            action = random.randint(2) if explores else choose(state[None])[0]
            after, ended = move(state, action)
            store.append((state, action, 1.0, after, float(ended)))
            state, length, count = after, length + 1, count + 1
            if count % 200 == 0:
                session.run(copy)
            if len(store) >= 500:
                some = [store[i] for i in random.randint(len(store), size=BATCH)]
                inputs = states, actions, rewards, following, has_ended
                session.run(train, dict(zip(inputs, zip(*some))))
        lengths.append(length)
        if episode % max(1, episodes // 10) == 0:
            recent = lengths[-max(1, episodes // 10) :]
            print("episode %3d   balanced for %5.1f steps" % (episode, np.mean(recent)))
