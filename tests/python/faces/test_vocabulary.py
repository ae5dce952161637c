"""tf.contrib.learn.preprocessing: what TensorFlow 1.15.5 made of the same texts."""

import numpy as np
import pytest
from rheos.v1.contrib import learn
from rheos.v1.contrib.learn import preprocessing

TEXTS = ["I'm a well-known CamelCaseWord, HTTPServer", "a b a b c c c", "déjà vu a"]


def rows(texts):
    return [row.tolist() for row in texts]


def test_words_get_numbers_in_the_order_they_come(tmp_path):
    processor = preprocessing.VocabularyProcessor(5)
    assert rows(processor.fit_transform(TEXTS)) == [
        [1, 2, 3, 4, 5],
        [2, 9, 2, 9, 10],
        [11, 12, 2, 0, 0],
    ]
    assert len(processor.vocabulary_) == 13
    path = str(tmp_path / "vocabulary")
    processor.save(path)
    again = preprocessing.VocabularyProcessor.restore(path)
    found = list(again.transform(["a zz vu"]))
    assert found[0].dtype == np.int64
    assert list(again.reverse(found)) == ["a <UNK> vu <UNK> <UNK>"]


def test_rare_words_are_unknown_and_frequent_ones_come_first():
    processor = preprocessing.VocabularyProcessor(4, min_frequency=1)
    assert rows(processor.fit_transform(TEXTS)) == [[0, 1, 0, 0], [1, 3, 1, 3], [0, 0, 1, 0]]
    vocabulary = preprocessing.CategoricalVocabulary(support_reverse=False)
    for word in "b b a a a c d d".split():
        vocabulary.add(word)
    vocabulary.trim(1, 3)
    assert [vocabulary.get(word) for word in "bd"] == [1, 2] and len(vocabulary) == 3
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(1)
    vocabulary.freeze()
    assert vocabulary.get("a") == 0
    vocabulary.freeze(False)
    assert vocabulary.get("a") == 3


def test_a_tokenizer_and_a_vocabulary_of_the_program():
    known = preprocessing.CategoricalVocabulary()
    known.add("x")
    processor = preprocessing.VocabularyProcessor(
        3, vocabulary=known, tokenizer_fn=lambda texts: (list(text) for text in texts)
    )
    assert rows(processor.fit_transform(["yx", "zzzz"])) == [[2, 1, 0], [3, 3, 3]]
    assert list(preprocessing.tokenizer(["x y-z"])) == [["x", "y-z"]]


def test_bytes():
    processor = preprocessing.ByteProcessor(6)
    found = list(processor.fit_transform(["hé", b"abcdefgh", ""]))
    assert rows(found) == [[104, 195, 169, 0, 0, 0], [97, 98, 99, 100, 101, 102], [0] * 6]
    assert found[0].dtype == np.uint8
    assert list(processor.reverse([*found, np.array([200, 0])])) == ["hé", "abcdef", "", ""]


def test_what_is_not_there_says_so():
    assert learn.ModeKeys.TRAIN == "train"
    with pytest.raises(AttributeError, match="tf.contrib.learn.Estimator, it is not in Rheos"):
        learn.Estimator  # noqa: B018
    assert callable(learn.datasets.mnist.read_data_sets)
