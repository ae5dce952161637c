"""Characters of strings in many encodings."""
from .common import *  # noqa: F403
from .strings import none

WORDS = ["a\u00e9\u4e2d\U0001f600z".encode(), b"", b"plain", "\u0628\u0627".encode()]
BROKEN = [b"a\xffb", b"\xe2\x82", b"\xe2\x82A", b"\xed\xa0\x80x", b"\xf0\x9f\x98", b"\xc0\x80",
          b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\x80\x80", b"\xf0\x80\x80\x80"]
CONTROL = [b"a\x00\x01\n\x1f\x7f b", "\x85\x9f".encode()]
ENCODED = {
    "UTF-16": [b"\xfe\xff\x00a\xd8\x3d\xde\x00", b"\x00a\x00", b"a"],
    "utf16": [b"\xff\xfea\x00"],
    "UTF-16BE": [b"\x00a\xd8\x3d\xde\x00\x00b", b"\xd8\x00\x00a", b"\xdc\x00\x00a\x00",
                 b"\xfe\xff"],
    "UTF-16LE": [b"a\x00\x3d\xd8\x00\xde", b"\x00\xd8a\x00"],
    "UTF-32-BE": [b"\x00\x00\x00a\x00\x11\x00\x00\x00\x00\xd8\x00\x00", b"\x00\x01\xf6\x00"],
    "utf_32le": [b"a\x00\x00\x00", b"\x00\xf6\x01\x00\x00\x00"],
    "US-ASCII": [b"ab\x80\xff"],
    "ISO-8859-1": [b"a\xe9\x80\xff"],
    "latin1": [b"\xe9"],
    "shift_jis": [b"\x82\xa0a\xb1", b"\x82\xa0\x81"],
    "EUC-JP": [b"a\xa4\xa2"],
    "big5": [b"\xa4\xa4a"],
    "koi8-r": [b"\xc1\xc2"],
    "gb18030": [b"\xd6\xd0\x81\x30\x81\x30"],
}


def cases():
    t = Table()
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        t.add(op, "words", s(WORDS), input_encoding="UTF-8")
        t.add(op, "matrix", s([[b"ab", b"c"], [b"", b"d"]]), input_encoding="utf8")
        t.add(op, "scalar", s(b"abc"), input_encoding="UTF-8")
        t.add(op, "none", none((0, 2)), input_encoding="UTF-8")
        t.add(op, "mark", s([b"\xef\xbb\xbfabc"]), input_encoding="UTF-8")
        for errors in ("replace", "ignore"):
            t.add(op, "broken_" + errors, s(BROKEN), input_encoding="UTF-8", errors=errors)
            t.add(op, "control_" + errors, s(CONTROL), input_encoding="UTF-8", errors=errors,
                  replace_control_characters=True)
        t.add(op, "control_strict", s(CONTROL), input_encoding="UTF-8", errors="strict",
              replace_control_characters=True)
        t.add(op, "question_marks", s(BROKEN[:3]), input_encoding="UTF-8", replacement_char=63)
        t.add(op, "bad_strict", s(BROKEN[:1]), input_encoding="UTF-8", errors="strict")
        t.add(op, "bad_encoding", s(WORDS), input_encoding="bogus")
        t.add(op, "bad_no_encoding", s(WORDS), input_encoding="")
        t.add(op, "bad_replacement", s(WORDS), input_encoding="UTF-8", replacement_char=0x110000)
        t.add(op, "bad_negative", s(WORDS), input_encoding="UTF-8", replacement_char=-1)
    t.add("UnicodeDecode", "int32_splits", s(WORDS), input_encoding="UTF-8", Tsplits="int32")
    for encoding, strings in ENCODED.items():
        t.add("UnicodeDecodeWithOffsets", encoding, s(strings), input_encoding=encoding)
        t.add("UnicodeTranscode", encoding, s(strings), input_encoding=encoding,
              output_encoding="UTF-8")

    def transcode(tag, value, to="UTF-8", **attrs):
        t.add("UnicodeTranscode", tag, value, input_encoding="UTF-8", output_encoding=to, **attrs)

    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        transcode("words_to_" + encoding, s(WORDS), encoding)
        transcode("broken_to_" + encoding, s(BROKEN), encoding)
        transcode("control_to_" + encoding, s(CONTROL), encoding, replace_control_characters=True)
    transcode("bad_control", s(CONTROL), errors="strict", replace_control_characters=True)
    transcode("ignore", s(BROKEN), errors="ignore")
    transcode("high_replacement", s(BROKEN), "UTF-16-BE", replacement_char=0x1f600)
    transcode("scalar", s(b"\xef\xbb\xbfa\x00b"))
    transcode("none", none((0,)))
    transcode("bad_strict", s(BROKEN[:1]), errors="strict")
    transcode("bad_replacement", s(WORDS), replacement_char=0x110000)
    t.add("UnicodeTranscode", "bad_encoding", s(WORDS), input_encoding="x/y",
          output_encoding="UTF-8")

    def encode(tag, values, splits, to="UTF-8", **attrs):
        t.add("UnicodeEncode", tag, i(values), splits, output_encoding=to, **attrs)

    odd = [97, 0xd800, 0x110000, -1, 98]
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        encode("rows_" + encoding, [97, 233, 0x1f600, 0], l([0, 1, 1, 4]), encoding)
    encode("int32_splits", [97, 0xffff, 0xfffe, 0xfdd0], i([0, 2, 4]))
    encode("replace", odd, l([0, 5]))
    encode("replace_by", odd, l([0, 5]), replacement_char=63)
    encode("ignore", odd, l([0, 5]), errors="ignore")
    encode("no_rows", [], l([0]))
    encode("empty_rows", [], l([0, 0, 0]))
    encode("bad_strict", odd, l([0, 5]), errors="strict")
    encode("bad_last", [97, 98], l([0, 1]))
    encode("bad_first", [97, 98], l([1, 2]))
    encode("bad_order", [97, 98], l([0, 2, 1, 2]))
    encode("bad_no_splits", [], l([]))
    encode("bad_matrix", [[97]], l([0, 1]))
    encode("bad_replacement", [97], l([0, 1]), replacement_char=0x110000)

    t.add("UnicodeScript", "several",
          i([97, 0x430, 0x4e00, 0x628, 0x1f600, 0x378, 0xd800, 0, 0x10ffff]))
    t.add("UnicodeScript", "none_such", i([-1, 0x110000, -2**31, 2**31 - 1]))
    t.add("UnicodeScript", "scalar", i(97))
    t.add("UnicodeScript", "empty", i([]))
    t.add("UnicodeScript", "spread", ramp(I32, (20, 12), 0, 4703))
    return t.cases
