"""Summaries, whose results are serialized messages, and tensors as messages."""
from .common import *  # noqa: F403
from .strings import none, s

C = Const


def scalars(t):
    for dtype in (F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, U64):
        t.add("ScalarSummary", dtype.__name__, s("a/b"), a(dtype, 3))
    t.add("ScalarSummary", "vector", s(["x", "y"]), f([1.5, -2]))
    t.add("ScalarSummary", "zero", s(""), f(0))
    t.add("ScalarSummary", "odd", s(["a", "b", "c"]), f([NAN, INF, -INF]))
    t.add("ScalarSummary", "empty", none((0,)), f([]))
    t.add("ScalarSummary", "bad_shapes", s(["a", "b"]), f([1, 2, 3]))


def histograms(t):
    for dtype in (F32, F64, F16, I8, I16, I32, I64, U8, U16, U32):
        t.add("HistogramSummary", dtype.__name__, s("h"), a(dtype, [1, 2, 2, 100, 7]))
    t.add("HistogramSummary", "wave", s("h"), wave(F64, (4, 5)))
    t.add("HistogramSummary", "wide", s("h"), d([1e-13, -1e-13, 1e-12, 1e19, -1e25, 1e300, 0.0]))
    t.add("HistogramSummary", "zeros", s("h"), f([0, 0, -0.0]))
    t.add("HistogramSummary", "scalar", s("h"), f(5))
    t.add("HistogramSummary", "empty", s("h"), f([]))
    t.add("HistogramSummary", "bad_nan", s("h"), f([1, NAN]))
    t.add("HistogramSummary", "bad_inf", s("h"), f([1, -INF]))
    t.add("HistogramSummary", "bad_tag", s(["h", "i"]), f([1]))


def others(t):
    one, two = b"\x0a\x08\x0a\x01a\x15\x00\x00\x80?", b"\x0a\x08\x0a\x01b\x15\x00\x00\x00@"
    t.add("MergeSummary", "two", [s(one), s(two)])
    t.add("MergeSummary", "vector", [s([one, two]), s("")])
    t.add("MergeSummary", "one", [s(one)])
    t.add("MergeSummary", "empty", [none((0,))])
    t.add("MergeSummary", "no_values", [s(""), s("")])
    t.add("MergeSummary", "bad_twice", [s(one), s(one)])
    t.add("MergeSummary", "bad_message", [s(b"\x0a\x09\x0a\x01a")])
    t.add("MergeSummary", "bad_value", [s(b"\x0a\x02\x0a\x05")])
    meta = b"\x0a\x06\x0a\x04text"
    values = {"float": f([[1, 2]]), "int64": l(-1), "string": s(["a", ""]), "bool": b([1, 0]),
              "empty": f([]), "half": h([1, 2])}
    for tag, value in values.items():
        t.add("TensorSummary", tag, value)
        t.add("TensorSummaryV2", tag, s("t"), value, s(meta))
    t.add("TensorSummaryV2", "no_metadata", s("t"), f(1), s(""))
    t.add("TensorSummaryV2", "bad_tag", s(["t", "u"]), f(1), s(""))
    sound = wave(F32, (4, 3, 2), 0.4)
    for more in (1, 3):
        t.add("AudioSummary", "stereo_%d" % more, s("x"), sound, sample_rate=8000.0,
              max_outputs=more, producer=10)
        t.add("AudioSummaryV2", "stereo_%d" % more, s("x"), sound, f(8000.5), max_outputs=more)
    t.add("AudioSummary", "mono", s("x"), f([[0.5, -1, 2, -2]]), sample_rate=44100.0, producer=10)
    t.add("AudioSummaryV2", "mono", s("x"), f([[0.5, -1, 2, -2]]), f(44100))
    t.add("AudioSummary", "clipped", s("x"), f([[1, 0.99999, 1e30, -1e30]]), sample_rate=1.0,
          producer=10)
    t.add("AudioSummaryV2", "slow", s("x"), f([[0.5, -1, 2, -2]]), f(0.2))
    t.add("AudioSummaryV2", "none", s("x"), empty(F32, (0, 3)), f(44100))
    for op, more in (("AudioSummary", {"sample_rate": 8.0, "producer": 10}),
                     ("AudioSummaryV2", {})):
        last = [] if more else [f(8)]
        t.add(op, "bad_rank", s("x"), f([1, 2]), *last, **more)
        t.add(op, "bad_tag", s(["x", "y"]), sound, *last, **more)


def cases():
    t = Table()
    for group in (scalars, histograms, others):
        group(t)
    return t.cases
