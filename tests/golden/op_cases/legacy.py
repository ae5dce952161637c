"""Ops that only old TensorFlow still takes."""
from .common import *  # noqa: F403

TENSORFLOW = "1."


def cases():
    t = Table()
    for k in (0, 1, 3, 4):
        t.add("TopK", "k_%d" % k, wave(F32, (3, 4), 5), k=k, producer=6)
    for dtype in (F64, F16, I32, U8):
        t.add("TopK", dtype.__name__, a(dtype, [[3, 1, 2], [5, 5, 4]]), k=2, producer=6)
    t.add("TopK", "empty", empty(F32, (0, 3)), k=1, producer=6)
    t.add("TopK", "gradient", wave(F64, (2, 4)), k=2, g=True, producer=6)
    t.add("TopK", "bad_rank", f(1), k=1, producer=6)
    return t.cases
