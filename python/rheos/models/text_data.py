"""Text as data: words, their numbers, matrices of them."""

import collections
import hashlib
import json

import numpy as np

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(input_text, filters=_FILTERS, lower=True, split=" ", text=None):
    """The words of a text; `filters` are characters that part them."""
    input_text = input_text if text is None else text
    if lower:
        input_text = input_text.lower()
    input_text = input_text.translate(str.maketrans({c: split for c in filters}))
    return [word for word in input_text.split(split) if word]


def _as_md5(word):
    return int(hashlib.md5(word.encode()).hexdigest(), 16)


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" "):
    """Numbers from 1 to n - 1 for the words of a text, by a hash function (or "md5")."""
    function = hash if hash_function is None else hash_function
    function = _as_md5 if function == "md5" else function
    words = text_to_word_sequence(text, filters, lower, split)
    return [function(word) % (n - 1) + 1 for word in words]


def one_hot(input_text, n, filters=_FILTERS, lower=True, split=" "):
    """Numbers from 1 to n - 1 for the words of a text, by Python's hash."""
    return hashing_trick(input_text, n, hash, filters, lower, split)


class Tokenizer:
    """Numbers the words of texts by how often they occur; 1 is the most frequent.

    num_words: only those numbered below it are used. oov_token: what stands for other words.
    char_level: whether characters are words.
    """

    def __init__(
        self,
        num_words=None,
        filters=_FILTERS,
        lower=True,
        split=" ",
        char_level=False,
        oov_token=None,
        document_count=0,
        **kwargs,
    ):
        if "nb_words" in kwargs:
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts = collections.OrderedDict()
        self.word_docs = collections.defaultdict(int)
        self.filters, self.split, self.lower = filters, split, lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs = collections.defaultdict(int)
        self.word_index, self.index_word = {}, {}

    def _words(self, text):
        if self.char_level or isinstance(text, list):
            if self.lower:
                text = [w.lower() for w in text] if isinstance(text, list) else text.lower()
            return text
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts):
        """Counts the words of texts, or of lists of words, and numbers them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        by_count = sorted(self.word_counts.items(), key=lambda item: item[1], reverse=True)
        words = [] if self.oov_token is None else [self.oov_token]
        words += [word for word, _ in by_count]
        self.word_index = {word: i + 1 for i, word in enumerate(words)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Counts in how many sequences each number is."""
        self.document_count += len(sequences)
        for numbers in sequences:
            for i in set(numbers):
                self.index_docs[i] += 1

    def texts_to_sequences(self, texts):
        """The numbers of the words of each text."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """The numbers of the words of each text, one text after the other."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            found = []
            for word in self._words(text):
                i = self.word_index.get(word)
                if i is not None and not (self.num_words and i >= self.num_words):
                    found.append(i)
                elif unknown is not None:
                    found.append(unknown)
            yield found

    def sequences_to_texts(self, sequences):
        """The texts of numbers, words parted by blanks."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """The texts of numbers, one after the other."""
        unknown = self.word_index.get(self.oov_token)
        for numbers in sequences:
            words = []
            for number in numbers:
                word = self.index_word.get(number)
                if word is not None and not (self.num_words and number >= self.num_words):
                    words.append(word)
                elif unknown is not None:
                    words.append(self.index_word[unknown])
            yield " ".join(words)

    def texts_to_matrix(self, texts, mode="binary"):
        """A row for each text, a column for each word: "binary", "count", "freq" or "tfidf"."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """A row for each sequence, a column for each number."""
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        width = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        matrix = np.zeros((len(sequences), width))
        for row, numbers in zip(matrix, sequences):
            counts = collections.Counter(n for n in numbers if n < width)
            for number, count in counts.items():
                row[number] = self._weight(number, count, len(numbers), mode)
        return matrix

    def _weight(self, number, count, total, mode):
        if mode == "binary":
            return 1
        if mode == "count":
            return count
        if mode == "freq":
            return count / total
        if mode == "tfidf":
            rarity = np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
            return (1 + np.log(count)) * rarity
        raise ValueError(f"Unknown vectorization mode: {mode}")

    def get_config(self):
        """What the tokenizer knows, as JSON has it."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs):
        """The tokenizer as JSON, for tokenizer_from_json()."""
        return json.dumps(
            {"class_name": type(self).__name__, "config": self.get_config()}, **kwargs
        )


def tokenizer_from_json(json_string):
    """The tokenizer that to_json() made text of."""
    config = json.loads(json_string)["config"]
    held = {
        key: json.loads(config.pop(key))
        for key in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    made = Tokenizer(**config)
    made.word_counts = collections.OrderedDict(held["word_counts"])
    made.word_docs.update(held["word_docs"])
    made.index_docs.update({int(k): v for k, v in held["index_docs"].items()})
    made.index_word = {int(k): v for k, v in held["index_word"].items()}
    made.word_index = held["word_index"]
    return made
