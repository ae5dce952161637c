"""Texts as rows of numbers: tf.contrib.learn.preprocessing, which needs no graph."""

import collections
import pickle
import re

import numpy as np

from rheos.framework import gfile

_TOKEN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+")


def tokenizer(iterator):
    """The words of each text, as lists: runs of letters, digits, quotes and hyphens."""
    for text in iterator:
        yield _TOKEN.findall(text)


class CategoricalVocabulary:
    """Numbers for words in the order they come; 0 is `unknown_token`.

    support_reverse: keeps what `reverse` needs.
    """

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq = collections.defaultdict(int)
        self._freeze = False
        self._number([])

    def _number(self, categories):
        self._mapping = {self._unknown_token: 0}
        for category in categories:
            self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping = list(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """Whether words that are not known yet are unknown from now on."""
        self._freeze = freeze

    def get(self, category):
        """The number of a word; a new one gets the next, or 0 if the vocabulary is frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category, count=1):
        """Counts a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Keeps words counted more than min_frequency times, less than a positive max_frequency.

        They are numbered anew, the most frequent first, equally frequent ones by the alphabet.
        """
        counted = sorted(self._freq.items(), key=lambda x: (-x[1], isinstance(x[0], str), x[0]))
        kept = [
            (category, count)
            for category, count in counted
            if count > min_frequency and not 0 < max_frequency <= count
        ]
        self._number(category for category, _ in kept)
        self._freq = dict(counted[: len(kept)])

    def reverse(self, class_id):
        """The word with this number; ValueError without support_reverse."""
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function."
            )
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Texts as rows of max_document_length numbers of words, cut or filled up with 0.

    min_frequency: rarer words are unknown. vocabulary: a CategoricalVocabulary to go on with.
    tokenizer_fn: what gives a list of words for each of some texts.
    """

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of these texts, and no more later on; returns itself."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """Learns the words of these texts and gives their rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """An int64 row of max_document_length for each text."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens[: self.max_document_length]):
                row[i] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents):
        """The words of rows as texts, joined by spaces."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename):
        """Writes it to a file, by pickle."""
        with gfile.Open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """What `save` wrote; the file must be trusted, since pickle runs what is in it."""
        with gfile.Open(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Texts as rows of max_document_length bytes, cut or filled up with 0."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Nothing: there is nothing to learn."""

    def fit_transform(self, x):
        """What `transform` gives."""
        return self.transform(x)

    def reverse(self, x):
        """The texts of rows; '' for bytes that are not UTF-8."""
        for row in x:
            text = np.trim_zeros(row.astype(np.int8), trim="b").tobytes()
            try:
                yield text.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x):
        """A uint8 row for each text of str or bytes."""
        for document in x:
            if isinstance(document, str):
                document = document.encode("utf-8")
            row = np.zeros(self.max_document_length, np.uint8)
            used = np.frombuffer(document[: self.max_document_length], np.uint8)
            row[: len(used)] = used
            yield row
