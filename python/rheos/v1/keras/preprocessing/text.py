"""Text (tf.keras.preprocessing.text)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.text_data import (
    Tokenizer,
    hashing_trick,
    one_hot,
    text_to_word_sequence,
)

__getattr__ = _attribute_of("tensorflow.keras.preprocessing.text")
