"""Strings of many encodings, characters and scripts."""

import pytest
import rheos.v1 as tf

WORD = "aé中😀"


def test_transcode_reads_and_writes_encodings(sess):
    transcode = tf.strings.unicode_transcode
    utf16 = WORD.encode("utf-16-be")
    assert sess.run(transcode([utf16], "UTF-16-BE", "UTF-8"))[0].decode() == WORD
    assert sess.run(transcode(WORD, "UTF-8", "UTF-32-BE")) == WORD.encode("utf-32-be")
    assert sess.run(transcode(b"a\xe9", "ISO-8859-1", "UTF-8")).decode() == "aé"
    for korean in "EUC-KR", "euc_kr":
        assert sess.run(transcode(b"\xb0\xa1", korean, "UTF-8")).decode() == "\uac00"
    assert sess.run(transcode(b"a\xffb", "UTF-8", "UTF-8", errors="ignore")) == b"ab"
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting"):
        sess.run(transcode(b"a\xff", "UTF-8", "UTF-8", errors="strict"))


def test_encode_joins_the_last_dimension(sess):
    points = [[ord(c) for c in "aé"], [ord(c) for c in "中😀"]]
    encoded = sess.run(tf.strings.unicode_encode(points, "UTF-8"))
    assert [word.decode() for word in encoded] == ["aé", "中😀"]
    assert sess.run(tf.strings.unicode_encode(points[0], "UTF-16-BE")) == "aé".encode("utf-16-be")
    assert sess.run(tf.strings.unicode_encode([97, 0xD800], "UTF-8", replacement_char=63)) == b"a?"


def test_scripts_of_characters(sess):
    points = [ord("a"), ord("б"), ord("中"), -1]
    assert sess.run(tf.strings.unicode_script(points)).tolist() == [25, 8, 17, -1]
