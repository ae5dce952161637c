"""Paints one picture in the manner of another.

    rheos run examples/style_transfer.py [steps [painted.png [content.png style.png]]]

A TensorFlow 2 program: what is trained is the picture. Style is which features occur together,
content is where edges are. Features are those of one layer of random filters of several sizes,
which do without a trained net; pictures are made unless files are given.
"""

import sys

import numpy as np
import tensorflow as tf
from pictures import glyphs, write_grid

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
path = sys.argv[2] if len(sys.argv) > 2 else "style_transfer.png"
SIDE = 96


def read(path):
    picture = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)
    return tf.image.resize(tf.cast(picture, tf.float32) / 255, [SIDE, SIDE])


def make_content():
    """A great 5 before a sky that grows darker."""
    number = np.kron(glyphs()[5], np.ones([11, 13]))
    picture = np.zeros([SIDE, SIDE, 3], np.float32)
    picture += np.linspace(0.9, 0.5, SIDE)[:, None, None] * np.array([0.6, 0.8, 1])
    top, left = (SIDE - number.shape[0]) // 2, (SIDE - number.shape[1]) // 2
    inner = picture[top : top + number.shape[0], left : left + number.shape[1]]
    inner[number == 1] = [0.2, 0.1, 0.3]
    return tf.constant(picture)


def make_style():
    """Waves in warm colours."""
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    wave = np.sin(40 * y + 4 * np.sin(9 * x)) * 0.5 + 0.5
    other = np.sin(25 * (x + y)) * 0.5 + 0.5
    colours = [0.9 * wave + 0.1, 0.5 * wave * other + 0.2, 0.3 * other]
    return tf.constant(np.stack(colours, -1), tf.float32)


tf.random.set_seed(1)
FILTERS = [
    tf.random.normal([size, size, 3, 48]) / (size * 3**0.5) for size in (3, 5, 9, 15)
]


def features(picture):
    """What each kind of filter finds, (places, filters)."""
    found = [tf.nn.relu(tf.nn.conv2d(picture[None], kernel, 1, "VALID")) for kernel in FILTERS]
    return [tf.reshape(one, [-1, one.shape[-1]]) for one in found]


def gram(found):
    """Which filters answer together, anywhere in the picture."""
    return tf.matmul(found, found, transpose_a=True) / tf.cast(tf.shape(found)[0], tf.float32)


content = read(sys.argv[3]) if len(sys.argv) > 4 else make_content()
style = read(sys.argv[4]) if len(sys.argv) > 4 else make_style()
wanted = [gram(found) for found in features(style)]
edges_wanted = tf.image.sobel_edges(tf.reduce_mean(content[None], -1, keepdims=True))
picture = tf.Variable(0.5 * content + 0.5 * tf.random.uniform(content.shape))
optimizer = tf.keras.optimizers.Adam(0.02)


@tf.function
def train():
    with tf.GradientTape() as tape:
        style_loss = tf.add_n(
            [
                tf.reduce_sum(tf.square(gram(found) - aim)) / tf.reduce_sum(tf.square(aim))
                for found, aim in zip(features(picture), wanted)
            ]
        )
        edges = tf.image.sobel_edges(tf.reduce_mean(picture[None], -1, keepdims=True))
        content_loss = tf.reduce_mean(tf.square(edges - edges_wanted))
        rough = tf.image.total_variation(picture) / tf.size(picture, tf.float32)
        loss = style_loss + 0.2 * content_loss + 0.02 * rough
    optimizer.apply_gradients([(tape.gradient(loss, picture), picture)])
    picture.assign(tf.clip_by_value(picture, 0, 1))
    return style_loss, content_loss


for step in range(1, steps + 1):
    style_loss, content_loss = train()
    if step == 1 or step % max(1, steps // 4) == 0:
        print(f"step {step:3}   style {style_loss:.4f}   content {content_loss:.4f}")
write_grid(path, [content, style, picture.numpy()], columns=3, times=2)
print(f"content, style and what was painted are in {path}")
