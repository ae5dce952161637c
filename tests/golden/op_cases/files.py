"""Files in a folder that is empty at the start, and tables read from them."""
from .common import *  # noqa: F403


def c(text):
    return Const(s(text))


def written(path, text):
    return Node("WriteFile", c(path), c(text))


def read(path):
    return Node("ReadFile", c(path))


def reading(t):
    for tag, text in (("text", "some text\nin lines\n"), ("empty", ""), ("bytes", b"\0\xff\r\n\0"),
                      ("long", "0123456789" * 20), ("unicode", "h\u00e9llo")):
        t.add("ReadFile", tag, s("$TMP/a"), first=[written("$TMP/a", text)])
        t.add("WriteFile", tag, s("$TMP/a"), s(text), last=[read("$TMP/a")])
    t.add("ReadFile", "spaces", s("$TMP/with blank"), first=[written("$TMP/with blank", "x")])
    t.add("ReadFile", "bad_missing", s("$TMP/none"))
    t.add("ReadFile", "bad_folder_missing", s("$TMP/none/a"))
    t.add("ReadFile", "bad_folder", s("$TMP"))
    t.add("ReadFile", "bad_rank", s(["$TMP/a"]), first=[written("$TMP/a", "x")])
    t.add("ReadFile", "bad_empty_name", s(""))
    t.add("WriteFile", "replaces", s("$TMP/a"), s("new"), first=[written("$TMP/a", "old one")],
          last=[read("$TMP/a")])
    t.add("WriteFile", "makes_folders", s("$TMP/b/c/a"), s("deep"), last=[read("$TMP/b/c/a")])
    t.add("WriteFile", "twice", s("$TMP/a"), s("again"), runs=2, last=[read("$TMP/a")])
    t.add("WriteFile", "bad_folder", s("$TMP"), s("x"))
    t.add("WriteFile", "bad_below_a_file", s("$TMP/a/b"), s("x"), first=[written("$TMP/a", "")])
    t.add("WriteFile", "bad_name_rank", s(["$TMP/a"]), s("x"))
    t.add("WriteFile", "bad_contents_rank", s("$TMP/a"), s(["x"]))


def matching(t):
    some = [written("$TMP/" + name, "") for name in ("b1", "a2", "a1", "c/a3", "a\\x")]
    for tag, pattern in (("star", "$TMP/a*"), ("one", "$TMP/?1"), ("exact", "$TMP/b1"),
                         ("set", "$TMP/[bc]*"), ("range", "$TMP/a[1-2]"), ("none", "$TMP/x*"),
                         ("not", "$TMP/[^a]*"), ("below", "$TMP/*/a3"), ("deep", "$TMP/c/*"),
                         ("all", "$TMP/*"), ("escape", "$TMP/a\\\\x"), ("folder", "$TMP/c"),
                         ("missing_folder", "$TMP/none/*")):
        t.add("MatchingFiles", tag, s(pattern), first=some)
    t.add("MatchingFiles", "several", s(["$TMP/b*", "$TMP/a*"]), first=some)
    t.add("MatchingFiles", "same_twice", s(["$TMP/b1", "$TMP/b1"]), first=some)
    t.add("MatchingFiles", "no_pattern", empty(object, (0,)))
    t.add("MatchingFiles", "bad_matrix", s([["$TMP/b*"]]), first=some)
    t.add("MatchingFiles", "open_set", s("$TMP/[a"), first=some)


def from_text(t, v):
    op, table = "InitializeTableFromTextFile" + v, "HashTable" + v
    words = written("$TMP/v", "one\ntwo\nthree\n")
    pairs = written("$TMP/v", "1\tuno\t0.5\n2\tdos\t1.5\n-7\ttres\t2.5\n")

    def add(tag, key, value, file, asked, default, **attrs):
        h = Node(table, key_dtype=key, value_dtype=value)
        t.add(op, tag, h, s("$TMP/v"), first=[file], last=[
            Node("LookupTableSize" + v, h),
            Node("LookupTableFind" + v, h, Const(asked), Const(default))], **attrs)

    ask = s(["two", "three", "four"])
    add("words", "string", I64, words, ask, l(-1), key_index=-2, value_index=-1)
    add("numbers", I64, "string", words, l([0, 2, 3]), s("?"), key_index=-1, value_index=-2)
    add("size", "string", I64, words, ask, l(-1), key_index=-2, value_index=-1, vocab_size=3)
    add("less", "string", I64, words, ask, l(-1), key_index=-2, value_index=-1, vocab_size=2)
    add("columns", I64, "string", pairs, l([1, 2, -7]), s("?"), key_index=0, value_index=1)
    add("turned", "string", I64, pairs, s(["uno", "tres"]), l(0), key_index=1, value_index=0)
    add("to_float", I64, F32, pairs, l([1, 2]), f(0), key_index=0, value_index=2)
    add("to_line", "string", I64, pairs, s(["uno", "tres"]), l(-1), key_index=1, value_index=-1)
    add("comma", "string", I64, written("$TMP/v", "a,5\nb,6"), s(["a", "b"]), l(0), key_index=0,
        value_index=1, delimiter=",")
    add("offset", "string", I64, words, s(["one", "two", "three"]), l(-1), key_index=-2,
        value_index=-1, offset=1)
    add("same_pair_twice", "string", I64, written("$TMP/v", "a 5\na 5\n"), s(["a"]), l(0),
        key_index=0, value_index=1, delimiter=" ")
    add("carriage_return", "string", I64, written("$TMP/v", "a\r\nb\r\n"), s(["a", "a\r", "b"]),
        l(-1), key_index=-2, value_index=-1)
    line, number = dict(key_index=-2, value_index=-1), dict(key_index=0, value_index=1)
    string = ("string", I64)
    for tag, types, file, attrs in (
            ("more_than_size", string, words, dict(line, vocab_size=4)),
            ("line_as_value", string, words, dict(key_index=-2, value_index=-2)),
            ("number_as_string", ("string", "string"), words, line),
            ("line_as_number", (I64, I64), words, line),
            ("no_number", string, written("$TMP/v", "a\tb\n"), number),
            ("few_columns", string, words, number),
            ("two_values", string, written("$TMP/v", "a\t1\na\t2\n"), number),
            ("word_twice", string, written("$TMP/v", "a\na\n"), line),
            ("delimiter", string, words, dict(line, delimiter="ab")),
            ("no_delimiter", string, pairs, dict(number, delimiter="")),
            ("index", string, words, dict(key_index=-3, value_index=-1)),
            ("empty_file", string, written("$TMP/v", ""), line),
            ("missing", string, written("$TMP/w", ""), line)):
        h = Node(table, key_dtype=types[0], value_dtype=types[1])
        t.add(op, "bad_" + tag, h, s("$TMP/v"), first=[file], **attrs)
    h = Node(table, key_dtype="string", value_dtype=I64)
    t.add(op, "bad_rank", h, s(["$TMP/v"]), first=[words], **line)
    t.add(op, "bad_mutable", Node("MutableHashTable" + v, key_dtype="string", value_dtype=I64),
          s("$TMP/v"), first=[words], **line)


def printing(t):
    for tag, text, attrs in (("line", "hello", {}), ("no_end", "hello", {"end": ""}),
                             ("end", "a", {"end": "--"}), ("empty", "", {}),
                             ("lines", "a\nb", {})):
        t.add("PrintV2", tag, s(text), output_stream="file://$TMP/out", last=[read("$TMP/out")],
              **attrs)
    t.add("PrintV2", "appends", s("x"), output_stream="file://$TMP/out", runs=3,
          last=[read("$TMP/out")])
    t.add("PrintV2", "bad_rank", s(["x"]), output_stream="file://$TMP/out")
    t.add("PrintV2", "bad_stream", s("x"), output_stream="nowhere")


def cases():
    t = Table()
    reading(t)
    matching(t)
    from_text(t, "")
    from_text(t, "V2")
    printing(t)
    return t.cases
