"""Integers of 4 bits, which TensorFlow casts from integers and to them."""
import ml_dtypes

from .common import *  # noqa: F403

I4, U4 = ml_dtypes.int4, ml_dtypes.uint4
EDGES = [0, 1, 7, 8, 9, 15, 16, 17, 100]


def casts(t, dtype, name, values):
    numbers = np.array(values, dtype)
    for other in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "qint8",
                  "quint8", "qint16", "quint16", "qint32", "int4", "uint4"):
        t.add("Cast", "%s_to_%s" % (name, other), numbers, DstT=other)
    for other in (I8, U8, I16, U16, I32, U32, I64, U64):
        below = [] if other in (U8, U16, U32, U64) else [-1, -8, -9, -100]
        t.add("Cast", "%s_to_%s" % (other.__name__, name), a(other, EDGES + below), DstT=name)
    t.add("Cast", "bad_%s_to_float" % name, numbers, DstT=F32)
    t.add("Cast", "bad_float_to_" + name, f([1, 2]), DstT=name)
    t.add("Cast", "bad_%s_to_bool" % name, numbers, DstT="bool")


def kept(t, dtype, name, values):
    numbers = np.array(values, dtype)
    t.add("Identity", name, numbers)
    t.add("Reshape", name, numbers[:4], C([2, 2]))
    t.add("Split", name, C(0), numbers[:4], num_split=2)
    t.add("ExpandDims", name, numbers, C(0))
    t.add("Shape", name, numbers)


C = Const


def cases():
    t = Table()
    for dtype, name, values in ((I4, "int4", [0, 1, 7, -1, -8]), (U4, "uint4", [0, 1, 7, 8, 15])):
        casts(t, dtype, name, values)
        kept(t, dtype, name, values)
    return t.cases
