"""Texts as rows of numbers."""

from rheos.contrib.vocabulary import (
    ByteProcessor,
    CategoricalVocabulary,
    VocabularyProcessor,
    tokenizer,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.learn.preprocessing")
