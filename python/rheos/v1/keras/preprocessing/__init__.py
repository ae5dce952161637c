"""Data for models (tf.keras.preprocessing)."""

from rheos.v1.keras.preprocessing import image, sequence, text
