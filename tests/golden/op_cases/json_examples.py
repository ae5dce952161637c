"""Examples in JSON."""
from .common import *  # noqa: F403
from .strings import none


def feature(text):
    return '{"features": {"feature": {"a": %s}}}' % text


def listed(kind, values):
    return feature('{"%s": {"value": %s}}' % (kind, values))


def cases():
    t = Table()

    def add(tag, *texts):
        t.add("DecodeJSONExample", tag, s([x if isinstance(x, bytes) else x.encode()
                                           for x in texts]))

    add("ints", listed("int64List", '["1", "-2", 3, -0, 1.0, 1e3, 9223372036854775807]'),
        listed("int64_list", "[1]"), listed("int64List", "5"))
    add("floats", listed("floatList", '[1, 0.5, "2.5", "NaN", "Infinity", "-Infinity", -0.0]'),
        listed("float_list", '[1e-50, 0.1, 3.4028234e38, "1e400"]'))
    add("bytes", listed("bytesList", '["aGk=", "", "aGk", "-_8=", "+/8="]'))
    add("nothing", "{}", '{"features": {}}', '{"features": null}', " { } \n")
    add("no_values", feature("{}"), feature('{"int64List": {}}'), feature('{"int64List": null}'),
        listed("floatList", "[]"), feature("null"))
    add("keys", '{"features":{"feature":{"\\u00e9\\n\\ud83d\\ude00":{},"":{},"\u00e9\\"\\/":{}}}}')
    add("keys_in_their_order", '{"features":{"feature":{"b":{"int64List":{"value":[1]}},'
        '"a":{"bytesList":{"value":["eA=="]}}}}}')
    t.add("DecodeJSONExample", "scalar", s(b"{}"))
    t.add("DecodeJSONExample", "matrix", s([[b"{}"], [b'{"features": {}}']]))
    t.add("DecodeJSONExample", "no_strings", none((2, 0)))
    for tag, text in (
        ("syntax", "{]"), ("empty", ""), ("array", "[]"), ("null", "null"), ("string", '"x"'),
        ("field", '{"foo": 1}'), ("kind", feature('{"foo": 1}')), ("behind", "{} x"),
        ("two_lists", feature('{"int64List": {"value": [1]}, "floatList": {"value": [1]}}')),
        ("half", listed("int64List", "[1.5]")), ("true", listed("int64List", "[true]")),
        ("large_int", listed("int64List", '["9223372036854775808"]')),
        ("large_float", listed("floatList", "[1e40]")), ("blank", listed("int64List", '[" 1"]')),
        ("octal", listed("int64List", "[01]")), ("word", listed("floatList", '["abc"]')),
        ("base64", listed("bytesList", '["@@"]')),
        ("latin", '{"features":{"feature":{"\udcff":{}}}}'),
        ("deep", "[" * 1000), ("cut", feature("{}")[:-1]), ("escape", '{"\\x": 1}'),
        ("surrogate", '{"features":{"feature":{"\\ud83d":{}}}}'), ("features", '{"features": []}'),
    ):
        add("bad_" + tag, text.encode("utf-8", "surrogateescape"))
    return t.cases
