"""Ops that only old TensorFlow still takes."""
from .common import *  # noqa: F403

TENSORFLOW = "1."


def add_bitpack(t):
    for dtype in (F32, F64, F16, I8, I16, I32, I64):
        t.add("CompareAndBitpack", np.dtype(dtype).name, wave(F32, (2, 16), 9).astype(dtype),
              a(dtype, 2))
    bits = wave(F32, (3, 8)) > 0
    t.add("CompareAndBitpack", "bool", bits, b(False))
    t.add("CompareAndBitpack", "bool_above_true", bits, b(True))
    t.add("CompareAndBitpack", "odd", f([NAN, INF, -INF, 0, -0.0, 1, 1e38, 5]), f(0))
    t.add("CompareAndBitpack", "above_nan", f([NAN, INF, -INF, 0, -0.0, 1, 1e38, 5]), f(NAN))
    t.add("CompareAndBitpack", "empty_rows", empty(F32, (0, 8)), f(0))
    t.add("CompareAndBitpack", "empty_columns", empty(F32, (2, 0)), f(0))
    t.add("CompareAndBitpack", "bad_scalar", f(1), f(0))
    t.add("CompareAndBitpack", "bad_seven", wave(F32, (2, 7)), f(0))
    t.add("CompareAndBitpack", "bad_threshold", wave(F32, (2, 8)), f([0]))


def cases():
    t = Table()
    for k in (0, 1, 3, 4):
        t.add("TopK", "k_%d" % k, wave(F32, (3, 4), 5), k=k, producer=6)
    for dtype in (F64, F16, I32, U8):
        t.add("TopK", dtype.__name__, a(dtype, [[3, 1, 2], [5, 5, 4]]), k=2, producer=6)
    t.add("TopK", "empty", empty(F32, (0, 3)), k=1, producer=6)
    t.add("TopK", "gradient", wave(F64, (2, 4)), k=2, g=True, producer=6)
    t.add("TopK", "bad_rank", f(1), k=1, producer=6)
    add_bitpack(t)
    return t.cases
