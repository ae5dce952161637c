"""What examples with pictures share: made digits, and files of pictures in rows and columns."""

import numpy as np
import tensorflow as tf

SIZE = 16  # of a digit's picture, in each direction
ROWS_OF_DIGITS = """
0e11131519110e 040c040404040e 0e11010204081f 1f02040201110e 02060a121f0202
1f101e0101110e 0608101e11110e 1f010204080808 0e11110e11110e 0e11110f01020c
"""


def glyphs():
    """The ten digits, (10, 7, 5), of zeros and ones."""
    rows = np.frombuffer(bytes.fromhex(ROWS_OF_DIGITS), np.uint8).reshape(10, 7, 1)
    return (rows >> np.arange(4, -1, -1)) & 1


def make_digits(count, seed, digits=range(10)):
    """Pictures (count, SIZE, SIZE) in [0, 1] of digits askew, and which they are (count)."""
    random = np.random.RandomState(seed)
    labels = random.choice(list(digits), count)
    padded = np.pad(glyphs(), ((0, 0), (8, 8), (8, 8)))[labels].astype(np.float32)
    line = np.arange(SIZE) - (SIZE - 1) / 2
    scale = random.uniform(1.7, 2.3, (2, count, 1, 1))
    slant = random.uniform(-0.3, 0.3, (count, 1, 1))
    shift = random.uniform(-0.8, 0.8, (2, count, 1, 1))
    y = line[:, None] / scale[0] + shift[0]
    x = line[None, :] / scale[1] + slant * y + shift[1]
    y, x = np.broadcast_arrays(y + 11, x + 10)
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    down, right = y - top, x - left
    one = np.arange(count)[:, None, None]
    upper, lower = (
        padded[one, row, left] * (1 - right) + padded[one, row, left + 1] * right
        for row in (top, top + 1)
    )
    picture = upper * (1 - down) + lower * down
    noise = random.normal(0, 0.15, picture.shape)
    return np.clip(picture + noise, 0, 1).astype(np.float32), labels.astype(np.int32)


def draw(picture, shades=" .:*#"):
    """A picture of values in [0, 1] as lines of characters."""
    levels = np.clip(np.asarray(picture) * len(shades), 0, len(shades) - 1).astype(int)
    return "\n".join("".join(shades[level] for level in row).rstrip() for row in levels)


def write_grid(path, pictures, columns, times=3):
    """Writes pictures (n, height, width) or (n, height, width, 3) as one file, `times` as large."""
    pictures = np.asarray(pictures)
    if pictures.ndim == 3:
        pictures = pictures[..., None]
    rows, (height, width, channels) = len(pictures) // columns, pictures.shape[1:]
    grid = pictures.reshape(rows, columns, height, width, channels).transpose(0, 2, 1, 3, 4)
    grid = grid.reshape(rows * height, columns * width, channels)
    grid = np.clip(grid * 255, 0, 255).astype(np.uint8).repeat(times, 0).repeat(times, 1)
    tf.io.write_file(path, tf.io.encode_png(grid))
