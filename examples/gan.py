"""Two nets that learn from each other: one paints digits, one tells them from real ones.

    rheos run examples/gan.py [steps [pictures.png]]

A TensorFlow 2 program: a step with two tapes as one tf.function. Pictures for others go in the
place of make_digits().
"""

import sys

import numpy as np
import tensorflow as tf
from pictures import SIZE, make_digits, write_grid
from tensorflow.keras import layers

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
path = sys.argv[2] if len(sys.argv) > 2 else "gan.png"
BATCH, NOISE = 64, 32

tf.keras.utils.set_random_seed(1)
painter = tf.keras.Sequential(
    [
        layers.Input([NOISE]),
        layers.Dense(4 * 4 * 64, use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Reshape([4, 4, 64]),
        layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"),
    ]
)
critic = tf.keras.Sequential(
    [
        layers.Input([SIZE, SIZE, 1]),
        layers.Conv2D(32, 4, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Conv2D(64, 4, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
loss_of = tf.keras.losses.BinaryCrossentropy(from_logits=True)
painter_optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
critic_optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)


@tf.function
def train(real):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as painter_tape, tf.GradientTape() as critic_tape:
        painted = painter(noise, training=True)
        on_real, on_painted = critic(real, training=True), critic(painted, training=True)
        painter_loss = loss_of(tf.ones_like(on_painted), on_painted)
        critic_loss = loss_of(0.9 * tf.ones_like(on_real), on_real)
        critic_loss += loss_of(tf.zeros_like(on_painted), on_painted)
    for tape, loss, net, optimizer in (
        (painter_tape, painter_loss, painter, painter_optimizer),
        (critic_tape, critic_loss, critic, critic_optimizer),
    ):
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return painter_loss, critic_loss


digits, _ = make_digits(6000, seed=1)
batches = tf.data.Dataset.from_tensor_slices(digits[..., np.newaxis])
batches = batches.shuffle(len(digits), seed=1).repeat().batch(BATCH).take(steps)
for step, real in enumerate(batches, 1):
    painter_loss, critic_loss = train(real)
    if step % max(1, steps // 5) == 0:
        print(f"step {step:4}   painter {painter_loss:.3f}   critic {critic_loss:.3f}")

painted = painter(tf.random.normal([40, NOISE]), training=False)[..., 0].numpy()
write_grid(path, painted, columns=10)
print(f"40 painted digits are in {path}; their mean is {painted.mean():.3f}, "
      f"of real ones {digits.mean():.3f}")
