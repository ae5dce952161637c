"""Strings: put together, taken apart, changed, formatted, matched, hashed, encoded."""
from .common import *  # noqa: F403

C = Const
WORDS = [["ab", ""], ["c d", "\u00e9\u4e16"]]
LONG = "The quick brown fox jumps over the lazy dog; " * 5


def s(values, shape=None):
    """Strings as bytes: NumPy would cut them at a NUL, and not mix both kinds."""
    if isinstance(values, str):
        values = values.encode()
    if isinstance(values, bytes):
        array = np.empty((), object)
        array[()] = values
    else:
        parts = [s(v) for v in values]
        array = np.empty((len(parts),) + parts[0].shape, object)
        for k, part in enumerate(parts):
            array[k] = part[()] if part.ndim == 0 else part
    return array if shape is None else array.reshape(shape)


def none(shape):
    return np.zeros(shape, object)


def joins(t):
    t.add("StringJoin", "two", [s(["a", "b"]), s(["c", "d"])], separator="-")
    t.add("StringJoin", "with_scalar", [s(["a", "b"]), s(": "), s(["c", "d"])])
    t.add("StringJoin", "scalars", [s("a"), s("b"), s("")], separator=", ")
    t.add("StringJoin", "one", [s(WORDS)])
    t.add("StringJoin", "empty", [none((0, 2)), s("x")])
    t.add("StringJoin", "bad_shapes", [s(["a", "b"]), s(["a", "b", "c"])])
    t.add("StringJoin", "bad_rank", [s(["a", "b"]), s([["a", "b"]])])
    m = s([["a", "b", "c"], ["d", "e", "f"]])
    for tag, dims in (("rows", [1]), ("columns", [0]), ("all", [0, 1]), ("turned", [1, 0]),
                      ("none", []), ("negative", [-1]), ("scalar", -1)):
        t.add("ReduceJoin", tag, m, C(dims), separator=".")
        t.add("ReduceJoin", tag + "_keep", m, C(dims), keep_dims=True)
    t.add("ReduceJoin", "fed", m, i([0]))
    t.add("ReduceJoin", "rank_3", s(["%d" % k for k in range(12)], (2, 3, 2)), C([2, 0]),
          separator=" ")
    t.add("ReduceJoin", "empty", none((0, 2)), C([0]))
    t.add("ReduceJoin", "empty_kept", none((0, 2)), C([1]))
    t.add("ReduceJoin", "of_scalar", s("a"), C([]))
    t.add("ReduceJoin", "bad_twice", m, C([0, -2]))
    t.add("ReduceJoin", "bad_dimension", m, C([2]))
    for index in (I32, I64):
        t.add("UnsortedSegmentJoin", "vector_" + index.__name__, s(["a", "b", "c"]),
              a(index, [1, 0, 1]), C(3, index), separator="-")
    t.add("UnsortedSegmentJoin", "rows", m, i([1, 1]), C(2), separator=",")
    t.add("UnsortedSegmentJoin", "cells", m, i([[0, 1, 0], [1, 1, 0]]), C(2))
    t.add("UnsortedSegmentJoin", "fed", m, i([1, 0]), i(2))
    t.add("UnsortedSegmentJoin", "empty", none((0, 2)), empty(I32, (0,)), C(2))
    t.add("UnsortedSegmentJoin", "no_segments", none((0,)), empty(I32, (0,)), C(0))
    t.add("UnsortedSegmentJoin", "bad_negative", s(["a", "b"]), i([0, -1]), C(2))
    t.add("UnsortedSegmentJoin", "bad_large", s(["a", "b"]), i([0, 2]), C(2))
    t.add("UnsortedSegmentJoin", "bad_count", s(["a", "b"]), i([0, 1]), C(-1))
    t.add("UnsortedSegmentJoin", "bad_shape", s(["a", "b"]), i([0, 1, 1]), C(2))
    t.add("UnsortedSegmentJoin", "bad_scalar", s(["a", "b"]), i(0), C(2))


def splits(t):
    x = s(["a,b;c,,", "", " x y  z ", ",", "plain"])
    for skip in (True, False):
        for tag, delimiter in (("comma", ","), ("two", ",;"), ("bytes", ""), ("space", " ")):
            t.add("StringSplit", "%s_%s" % (tag, skip), x, C(s(delimiter)), skip_empty=skip)
    t.add("StringSplit", "fed", x, s(","))
    t.add("StringSplit", "empty", none((0,)), C(s(",")))
    t.add("StringSplit", "bad_scalar", s("a"), C(s(",")))
    t.add("StringSplit", "bad_delimiter", x, C(s([","])))
    for most in (-1, 0, 1, 2, 9):
        tag = "most_%d" % most if most >= 0 else "all"
        t.add("StringSplitV2", "comma_" + tag, x, C(s(",")), maxsplit=most)
        t.add("StringSplitV2", "space_" + tag, x, C(s("")), maxsplit=most)
    t.add("StringSplitV2", "long_sep", s(["a<>b<>c", "<>", "<><>", "x"]), C(s("<>")))
    t.add("StringSplitV2", "spaces", s(["\t a\n\x0b b \r"]), C(s("")))
    t.add("StringSplitV2", "empty", none((0,)), C(s(",")))
    t.add("StringSplitV2", "bad_scalar", s("a"), C(s(",")))
    t.add("StringSplitV2", "bad_sep", x, C(s([","])))


def maps(t):
    mixed = s(["", "abc", "h\u00e9\u4e16\U0001f600", b"\xff\xfe\x80a"])
    for unit in ("BYTE", "UTF8_CHAR"):
        t.add("StringLength", unit, mixed, unit=unit)
        t.add("StringLength", "scalar_" + unit, s("\u00e9t\u00e9"), unit=unit)
        t.add("StringLength", "empty_" + unit, none((0, 2)), unit=unit)
        for k, (pos, length) in enumerate([(0, 2), (1, 3), (-3, 2), (-1, 9), (2, 0), (0, 0)]):
            t.add("Substr", "%s_%d" % (unit, k), s("h\u00e9llo"), i(pos), i(length), unit=unit)
        t.add("Substr", "at_end_" + unit, s("abc"), C(3), C(1), unit=unit)
        t.add("Substr", "rest_" + unit, s("abcdef"), l(1), l(-1), unit=unit)
        t.add("Substr", "each_" + unit, s(["abc", "def"]), i([0, 1]), i([1, 2]), unit=unit)
        t.add("Substr", "one_string_" + unit, s("abcdef"), l([0, 2, -1]), l([1, 2, 1]), unit=unit)
        t.add("Substr", "broadcast_" + unit, s(["abc", "def"]), i([[0], [1]]), i([[1], [2]]),
              unit=unit)
        t.add("Substr", "empty_" + unit, none((0,)), i(0), i(1), unit=unit)
        t.add("Substr", "bad_pos_" + unit, s(["abc", "def"]), i([0, 4]), i([1, 1]), unit=unit)
        t.add("Substr", "bad_negative_" + unit, s(["abc"]), i([-4]), i([1]), unit=unit)
    t.add("Substr", "bad_shapes", s("ab"), i([0]), i([1, 2]))
    t.add("Substr", "bad_broadcast", s(["a", "b"]), i([0, 1, 2]), i([1, 1, 1]))
    letters = s(["ABC xyz 1", "\u00c9\u00e9\u00df\u0130", "\u03a3\u0391\u03a3 \u03a3",
                 "\ufb01n \u0149 \u01f0", b"A\xff\xc3b", ""])
    for op in ("StringLower", "StringUpper"):
        t.add(op, "bytes", letters)
        t.add(op, "utf8", letters, encoding="utf-8")
        t.add(op, "scalar", s("Ab"))
        t.add(op, "empty", none((0, 2)))
        t.add(op, "matrix", s(WORDS), encoding="utf-8")
        t.add(op, "bad_encoding", letters, encoding="latin1")
    t.add("StringStrip", "spaces", s([" a b \t\n\x0b\x0c\r", "", "  ", "x"]))
    t.add("StringStrip", "scalar", s(" x"))
    t.add("StringStrip", "matrix", s([[" a", "b "], ["\u00a0c", "d\n"]]))
    t.add("StringStrip", "empty", none((0,)))
    t.add("StringStrip", "plain", s(["a b"]))


def formats(t):
    floats = [1.5, -2.25, 1e20, NAN, INF, -INF, 0.1, 0, -0.0, 1e-7, 123456789]
    for dtype in (F32, F64, F16, BFLOAT16, np.complex64, np.complex128):
        x = np.asarray(floats if dtype != F16 else floats[:2] + floats[3:9], np.float64)
        x = x.astype(dtype)
        if dtype in (np.complex64, np.complex128):
            continue
        name = np.dtype(dtype).name
        t.add("AsString", name, x)
        t.add("AsString", name + "_digits", x, precision=3)
        t.add("AsString", name + "_scientific", x, scientific=True)
        t.add("AsString", name + "_shortest", x, shortest=True)
        t.add("AsString", name + "_shortest_3", x, shortest=True, precision=3)
        t.add("AsString", name + "_field", x, width=12, precision=2)
    for fill in ("0", "-", "+", " "):
        tag = {"0": "zero", "-": "minus", "+": "plus", " ": "blank"}[fill]
        t.add("AsString", "fill_" + tag, f([1.5, -2.25]), width=9, precision=1, fill=fill)
        t.add("AsString", "fill_int_" + tag, i([5, -7]), width=5, fill=fill)
    for dtype in (I8, I16, I32, I64):
        info = np.iinfo(dtype)
        t.add("AsString", dtype.__name__, a(dtype, [info.min, -1, 0, info.max]))
    for dtype in (U8, U16, U32, U64):
        t.add("AsString", dtype.__name__, a(dtype, [0, 7, np.iinfo(dtype).max]))
    t.add("AsString", "bool", b([1, 0]))
    t.add("AsString", "bool_field", b([1, 0]), width=9, fill="0")
    t.add("AsString", "string", s(["a", "bc"]))
    t.add("AsString", "string_field", s(["a", "\u00e9"]), width=4)
    t.add("AsString", "scalar", i(3))
    t.add("AsString", "empty", empty(F32, (0, 2)))
    t.add("AsString", "bad_both", f(1), scientific=True, shortest=True)
    t.add("AsString", "bad_int_precision", i(1), precision=2)
    t.add("AsString", "bad_int_scientific", i(1), scientific=True)
    t.add("AsString", "bad_bool_precision", b(1), precision=2)
    t.add("AsString", "bad_long_fill", f(1), fill="00")
    t.add("AsString", "bad_fill", f(1), fill="x", width=5)
    t.add("StringFormat", "vector", [ramp(F32, (8,), 1.5)], template="<%s>")
    t.add("StringFormat", "matrix", [ramp(I32, (8, 8))])
    t.add("StringFormat", "matrix_all", [ramp(I64, (3, 7))], summarize=-1)
    t.add("StringFormat", "cube", [ramp(I32, (2, 3, 8))], summarize=1)
    t.add("StringFormat", "scalars", [f(1.5), i(-3), s("a\n\"b"), d(0.1)],
          template="{} {} {}! {}", placeholder="{}")
    t.add("StringFormat", "strings", [s(["a", "\u00e9\t", ""])])
    t.add("StringFormat", "halves", [h([0.1, 2]), a(U8, [1, 200]), a(U64, [2**64 - 1])],
          template="%s,%s,%s")
    t.add("StringFormat", "none_shown", [i([1, 2])], summarize=0)
    t.add("StringFormat", "empty", [empty(F32, (0,))])
    t.add("StringFormat", "bad_fewer", [i(1)], template="x")
    t.add("StringFormat", "bad_more", [i(1)], template="%s%s")
    good = ["1", " 2 ", "-7", "+5", "\t12\n"]
    for out in ("float", "double", "int32", "int64"):
        t.add("StringToNumber", out, s(good), out_type=out)
        t.add("StringToNumber", "scalar_" + out, s("42"), out_type=out)
        t.add("StringToNumber", "empty_" + out, none((0, 2)), out_type=out)
        for k, bad in enumerate(("", " ", "1x", "--1", "1 2", "0x", "e5", "1_0")):
            t.add("StringToNumber", "bad_%d_%s" % (k, out), s([bad]), out_type=out)
    for out in ("uint32", "uint64"):
        t.add("StringToNumber", out, s(["1", "+5", "4294967295"]), out_type=out)
        t.add("StringToNumber", "bad_negative_" + out, s(["-1"]), out_type=out)
    t.add("StringToNumber", "limits_int32", s(["2147483647", "-2147483648"]), out_type="int32")
    t.add("StringToNumber", "limits_int64", s(["9223372036854775807", "-9223372036854775808"]),
          out_type="int64")
    t.add("StringToNumber", "limits_uint64", s(["18446744073709551615"]), out_type="uint64")
    for out, text in (("int32", "2147483648"), ("int64", "9223372036854775808"),
                      ("int32", "-2147483649"), ("uint32", "4294967296"),
                      ("uint64", "18446744073709551616")):
        t.add("StringToNumber", "bad_beyond_%s%d" % (out, len(text) + text.count("-")), s([text]),
              out_type=out)
    for out in ("float", "double"):
        t.add("StringToNumber", "forms_" + out,
              s([".5", "5.", "1e5", "-1.5E-3", "0.1", "inf", "-Inf", "NaN", "infinity", "1e400",
                 "16777217", "3.4028235e38"]), out_type=out)


def expressions(t):
    x = s(["", "abc", "aXbbc", "a\nb", "h\u00e9llo", b"a\xff\xe9c"])
    patterns = {"letters": "[a-c]*", "any": ".*", "group": "(a)(X?)b*c", "either": "a|abc",
                "line": "(?s)a.b", "case": "(?i)ABC", "class": "\\w+", "name": "(?P<x>a)bc",
                "unicode": "h\\pLllo", "anchors": "^abc$", "count": "a[Xb]{0,3}c", "nothing": ""}
    for tag, pattern in patterns.items():
        t.add("RegexFullMatch", tag, x, C(s(pattern)))
        t.add("StaticRegexFullMatch", tag, x, pattern=pattern)
    t.add("RegexFullMatch", "fed", x, s("a.*"))
    t.add("RegexFullMatch", "scalar", s("ab"), C(s("ab")))
    t.add("RegexFullMatch", "empty", none((0, 2)), C(s("ab")))
    t.add("StaticRegexFullMatch", "empty", none((0, 2)), pattern="x")
    wrong = ["a(", "a[b", "a(?=b)", "a(?!b)", "(?<=a)b", "(a)\\1", "a{1,1001}", "a++", "(?>a)",
             "*a", "a**", "[z-a]", "\\", "(?P=x)", "(?#a)", "\\Ra"]
    for k, pattern in enumerate(wrong):
        t.add("RegexFullMatch", "bad_%d" % k, x, C(s(pattern)))
        t.add("StaticRegexFullMatch", "bad_%d" % k, x, pattern=pattern)
    t.add("RegexFullMatch", "bad_rank", x, C(s(["a"])))
    replaces = {"letter": ("[ab]", "<\\0>"), "groups": ("(a)(X?)", "\\2\\1"), "empty": ("x*", "-"),
                "dot": (".", "."), "none": ("zz", "y"), "end": ("$", "!"), "slash": ("b", "\\\\"),
                "no_group": ("b", "\\1"), "unset": ("(q)?b", "[\\1]"), "all": ("(?s).*", ""),
                "bound": ("\\b", "|"), "odd_escape": ("b", "x\\q"), "open_escape": ("b", "x\\")}
    for tag, (pattern, rewrite) in replaces.items():
        for everywhere in (True, False):
            name = tag if everywhere else tag + "_first"
            t.add("RegexReplace", name, x, C(s(pattern)), C(s(rewrite)), replace_global=everywhere)
            t.add("StaticRegexReplace", name, x, pattern=pattern, rewrite=rewrite,
                  replace_global=everywhere)
    t.add("RegexReplace", "fed", x, s("a"), s("b"))
    t.add("RegexReplace", "empty_input", none((0,)), C(s("a")), C(s("b")))
    t.add("RegexReplace", "bad_pattern", x, C(s("a(")), C(s("b")))
    t.add("RegexReplace", "bad_rank", x, C(s(["a"])), C(s("b")))
    t.add("RegexReplace", "bad_rewrite_rank", x, C(s("a")), C(s(["b"])))
    t.add("StaticRegexReplace", "bad_pattern", x, pattern="a(", rewrite="b")
    t.add("StaticRegexReplace", "empty_input", none((0, 1)), pattern="a", rewrite="b")


def hashes(t):
    lengths = [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 100, 127, 128, 129,
               191, 192, 193, 200]
    texts = s([LONG[:n] for n in lengths])
    most = 2**63 - 1
    for op, more in (("StringToHashBucketFast", {}), ("StringToHashBucket", {}),
                     ("StringToHashBucketStrong", {"key": [98765, -132]})):
        t.add(op, "lengths", texts, num_buckets=most, **more)
        t.add(op, "ten", texts, num_buckets=10, **more)
        t.add(op, "one", s(WORDS), num_buckets=1, **more)
        t.add(op, "scalar", s("a"), num_buckets=1000, **more)
        t.add(op, "bytes", s([b"\xff\x00\x80", b"\x00"]), num_buckets=most, **more)
        t.add(op, "empty", none((0, 2)), num_buckets=3, **more)
        t.add(op, "bad_buckets", s("a"), num_buckets=0, **more)
    t.add("StringToHashBucketStrong", "zero_key", texts, num_buckets=most, key=[0, 0])
    t.add("StringToHashBucketStrong", "bad_key", texts, num_buckets=5, key=[1])
    method = C(s("farmhash64"))
    for dtype in (F32, F64, I8, I32, I64, U8, np.bool_):
        t.add("Fingerprint", np.dtype(dtype).name, ramp(dtype, (2, 3)), method)
    t.add("Fingerprint", "string", s(["a", "b", ""]), method)
    t.add("Fingerprint", "string_rows", s(WORDS), method)
    t.add("Fingerprint", "fed", f([1, 2]), s("farmhash64"))
    t.add("Fingerprint", "no_columns", empty(F32, (2, 0)), method)
    t.add("Fingerprint", "empty", empty(F32, (0, 2)), method)
    t.add("Fingerprint", "bad_scalar", f(1), method)
    t.add("Fingerprint", "bad_method", f([1]), C(s("md5")))
    t.add("Fingerprint", "bad_method_rank", f([1]), C(s(["farmhash64"])))


def encodings(t):
    x = s(["", "a", "ab", "abc", "abcd", b"\xfb\xff\xfe\x00"])
    for pad in (True, False):
        t.add("EncodeBase64", "pad_%s" % pad, x, pad=pad)
    t.add("EncodeBase64", "scalar", s("hello"))
    t.add("EncodeBase64", "matrix", s(WORDS))
    t.add("EncodeBase64", "empty", none((0,)))
    t.add("DecodeBase64", "plain", s(["", "YQ", "YWI", "YWJj", "-__-AA"]))
    t.add("DecodeBase64", "padded", s(["YQ==", "YWI=", "YWJjZA=="]))
    t.add("DecodeBase64", "loose_bits", s(["YR", "YWJ"]))
    t.add("DecodeBase64", "scalar", s("aGVsbG8"))
    t.add("DecodeBase64", "empty", none((0, 2)))
    for k, bad in enumerate(("Y", "YQ=", "+/==", "Y===", "YW Jj", "=", "====", "Y=Q=", "YWJj=")):
        t.add("DecodeBase64", "bad_%d" % k, s([bad]))
    data = s([bytes(range(16)), bytes(range(240, 256))])
    types = ["half", "float", "double", "int32", "uint16", "uint8", "int16", "int8", "int64",
             "bool"]
    for out in types:
        t.add("DecodeRaw", out, data if out not in ("half", "float", "double") else
              s([b"\x00\x3c\x80\x3f\x00\x00\x00\x40", b"\x01\x3c\x10\x40\x00\x00\x10\x41"]),
              out_type=out)
        t.add("DecodeRaw", "swapped_" + out, s([b"\x3f\xf0\x01\x02\x03\x04\x05\x06"]), out_type=out,
              little_endian=False)
    t.add("DecodeRaw", "scalar", s("abcd"), out_type="int16")
    t.add("DecodeRaw", "matrix", s([["ab", "cd"]]), out_type="uint8")
    t.add("DecodeRaw", "empty", none((0, 2)), out_type="int32")
    t.add("DecodeRaw", "empty_strings", s(["", ""]), out_type="int32")
    t.add("DecodeRaw", "bad_multiple", s(["abc"]), out_type="int32")
    t.add("DecodeRaw", "bad_lengths", s(["abcd", "ab"]), out_type="int16")
    for out in types[:-1]:
        t.add("DecodePaddedRaw", out, s([b"\x01\x3c\x00\x40\x05", b"", b"\x00\x3c" * 8]), C(8),
              out_type=out)
    t.add("DecodePaddedRaw", "swapped", s(["abc", "abcdef"]), C(4), out_type="int16",
          little_endian=False)
    t.add("DecodePaddedRaw", "fed", s(["abc"]), i(4), out_type="uint8")
    t.add("DecodePaddedRaw", "scalar", s("abc"), C(4), out_type="int32")
    t.add("DecodePaddedRaw", "empty", none((0,)), C(4), out_type="int32")
    t.add("DecodePaddedRaw", "bad_multiple", s(["abc"]), C(3), out_type="int16")
    t.add("DecodePaddedRaw", "bad_zero", s(["abc"]), C(0), out_type="int16")
    t.add("DecodePaddedRaw", "bad_negative", s(["abc"]), C(-4), out_type="int16")


def cases():
    t = Table()
    for group in (joins, splits, maps, formats, expressions, hashes, encodings):
        group(t)
    return t.cases
