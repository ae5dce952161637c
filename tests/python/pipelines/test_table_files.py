"""Tables of vocabulary files and anonymous ones in TensorFlow 2's face."""

import pytest
import rheos.v2

tf = rheos.v2
Index = tf.lookup.TextFileIndex


def initializer(path, key=Index.WHOLE_LINE, value=Index.LINE_NUMBER, **options):
    return tf.lookup.TextFileInitializer(
        str(path), tf.string, key, tf.int64, value, delimiter=" ", **options
    )


def test_empty_lines_are_refused(tmp_path):
    path = tmp_path / "words"
    for text, place in (("a\n\nb\n", 3), ("a\r\n\r\nb\r\n", 5), ("\na\n", 1), ("a\n\n", 3)):
        path.write_bytes(text.encode())
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"empty line .* position {place}"):
            tf.lookup.StaticHashTable(initializer(path), -1)
    path.write_text("a 1\n\nb 2\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty line"):
        tf.lookup.StaticHashTable(initializer(path, 0, 1), -1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty line"):
        tf.lookup.StaticVocabularyTable(initializer(path), 1)


def test_what_is_behind_the_vocabulary_is_not_read(tmp_path):
    path = tmp_path / "words"
    path.write_text("a\nb\n\nc\n")
    table = tf.lookup.StaticHashTable(initializer(path, vocab_size=2), -1)
    assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [1, -1]


def test_anonymous_tables():
    pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], tf.string, tf.int64)
    keys = tf.constant(["b", "c"])
    table = tf.lookup.StaticHashTable(pairs, -1, experimental_is_anonymous=True)
    assert table.lookup(keys).numpy().tolist() == [1, -1]
    words = tf.lookup.StaticVocabularyTable(pairs, 1, experimental_is_anonymous=True)
    assert words.lookup(keys).numpy().tolist() == [1, 2]
    dense = tf.lookup.experimental.DenseHashTable(
        tf.string, tf.int64, -1, "", "-", experimental_is_anonymous=True
    )
    mutable = tf.lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1, experimental_is_anonymous=True
    )
    for one in (dense, mutable):
        one.insert(["b"], [7])
        assert one.lookup(keys).numpy().tolist() == [7, -1]
