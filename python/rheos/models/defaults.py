"""What layers and functions take for granted, unless a program says otherwise."""

import numpy as np

from rheos.layers import values


class _Settings:
    floatx = "float32"
    epsilon = 1e-7
    image_data_format = "channels_last"


def floatx():
    """The name of the default dtype of floating point numbers."""
    return _Settings.floatx


def set_floatx(value):
    """Sets the default dtype: float16, float32 or float64."""
    if value not in ("float16", "float32", "float64", "bfloat16"):
        raise ValueError(f"Unknown floatx type: {value}")
    _Settings.floatx = str(value)


def epsilon():
    """A small number that keeps divisions defined."""
    return _Settings.epsilon


def set_epsilon(value):
    """Sets the small number."""
    _Settings.epsilon = value


def image_data_format():
    """channels_last or channels_first, which layers have by default."""
    return _Settings.image_data_format


def set_image_data_format(data_format):
    """Sets the default of layers: channels_last or channels_first."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _Settings.image_data_format = data_format


def setting(value):
    """A number as a configuration keeps it: TensorFlow 1 rounds it to the default dtype."""
    return float(np.asarray(value, floatx())) if values.runs_in_session() else float(value)
