"""Records of text, and tensors as messages."""
from .common import *  # noqa: F403
from .strings import none, s

C = Const


def csv(t):
    x = s(["1,2.5,abc", "-3,,\"a \"\"b\"\", c\"", "4,1e3,"])
    plain = [i([0]), f([9]), s(["d"])]
    t.add("DecodeCSV", "three", x, plain)
    t.add("DecodeCSV", "scalar", s("7,8,9"), plain)
    t.add("DecodeCSV", "matrix", s([["1"], ["2"]]), [l([])])
    t.add("DecodeCSV", "doubles", s(["1.5;2"]), [d([]), d(3)], field_delim=";")
    t.add("DecodeCSV", "na_value", s(["NA,1", "2,NA"]), [i([5]), f([6])], na_value="NA")
    t.add("DecodeCSV", "no_quotes", s(['"a",b"c']), [s([""]), s([""])], use_quote_delim=False)
    t.add("DecodeCSV", "columns", s(["1,2,3", "4,5,6"]), [i([]), i([])], select_cols=[0, 2])
    t.add("DecodeCSV", "empty", none((0,)), plain)
    t.add("DecodeCSV", "last_empty", s(["a,"]), [s(["x"]), s(["y"])])
    t.add("DecodeCSV", "bad_fewer", s(["1,2"]), plain)
    t.add("DecodeCSV", "bad_more", s(["1,2,3,4"]), plain)
    t.add("DecodeCSV", "bad_empty_record", s([""]), plain)
    t.add("DecodeCSV", "bad_required", s([",1"]), [i([]), i([])])
    t.add("DecodeCSV", "bad_number", s(["x"]), [i([])])
    t.add("DecodeCSV", "bad_large", s(["3000000000"]), [i([])])
    t.add("DecodeCSV", "bad_open_quote", s(['"a']), [none((0,))])
    t.add("DecodeCSV", "bad_inner_quote", s(['"a"b,c']), [none((0,)), none((0,))])
    t.add("DecodeCSV", "bad_quote", s(['a"b']), [none((0,))])
    t.add("DecodeCSV", "bad_delimiter", s(["a"]), [none((0,))], field_delim=",,")
    t.add("DecodeCSV", "bad_columns", s(["1,2"]), [i([]), i([])], select_cols=[1, 0])
    t.add("DecodeCSV", "bad_defaults", s(["1"]), [i([1, 2])])


def tensors(t):
    values = {"float": f([[1, 2.5]]), "int64": l(-1), "string": s(["a", ""]), "bool": b([1, 0]),
              "empty": empty(F32, (0, 3)), "half": h([1, 2]), "double": d(0.5), "uint8": a(U8, [9])}
    for tag, value in values.items():
        t.add("SerializeTensor", tag, value)
    messages = {
        "float": ("float", b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80?\x00\x00\x00@"),
        "typed": ("float", b"\x08\x01\x12\x04\x12\x02\x08\x03\x2a\x04\x00\x00\x80?"),
        "int32": ("int32", b"\x08\x03\x12\x00\x3a\x01\x07"),
        "string": ("string", b"\x08\x07\x12\x04\x12\x02\x08\x02\x42\x01a\x42\x00"),
        "empty": ("float", b"\x08\x01\x12\x04\x12\x02\x08\x00"),
    }
    for tag, (dtype, message) in messages.items():
        t.add("ParseTensor", tag, s(message), out_type=dtype)
    t.add("ParseTensor", "bad_dtype", s(messages["float"][1]), out_type="double")
    t.add("ParseTensor", "bad_cut", s(messages["float"][1][:-3]), out_type="float")
    t.add("ParseTensor", "bad_text", s("nonsense"), out_type="float")
    t.add("ParseTensor", "bad_rank", s(["a"]), out_type="float")
    for base, count in (("a/b", 2), ("", 0), ("x", 123456), ("y", -1), ("%s", 99999)):
        t.add("ShardedFilespec", "of_%d" % count if count >= 0 else "negative", s(base), i(count))


def cases():
    t = Table()
    csv(t)
    tensors(t)
    return t.cases
