"""Dtypes that few programs use: quantized numbers, 16-bit products, strings and truth values."""
from .common import *  # noqa: F403

C = Const


def quantized(t):
    for name, dtype in (("qint8", QI8), ("quint8", QU8), ("qint16", QI16), ("quint16", QU16),
                        ("qint32", QI32)):
        numbers = q(dtype, [3, 0, 100, 7])
        t.add("Cast", "from_" + name, numbers, DstT=F32)
        t.add("Cast", name + "_to_complex64", numbers, DstT=C64)
        t.add("Cast", "to_" + name, f([1.5, 0, 100.75, 90]), DstT=name)
        t.add("Cast", name + "_as_stored", numbers, DstT=dtype[0].type)
        for op in ("Equal", "NotEqual"):
            t.add(op, name, numbers, q(dtype, [3, 1, 100, 8]))
            t.add(op, name + "_broadcast", q(dtype, [[3], [7]]), numbers)
    t.add("Cast", "wraps_qint8", i([300, -200, 128]), DstT="qint8")
    t.add("Cast", "qint8_to_quint16", q(QI8, [-1, 5]), DstT="quint16")


def products(t):
    x, y = a(I16, [[1, -2, 3], [300, 5, -6]]), a(I16, [[7, 8], [-9, 300], [1, 2]])
    t.add("BatchMatMulV2", "int16", x[None], y)
    t.add("BatchMatMulV2", "int16_adjoint", x[None], x[None], adj_x=True)


def strings_and_truths(t):
    t.add("ScatterNd", "strings", i([[0], [0], [2]]), s(["a", "bc", "d"]), C([4]))
    t.add("ScatterNd", "strings_rows", i([[1]]), s([["x", ""]]), C([2, 2]))
    t.add("ScatterNd", "truths", i([[0], [0], [2]]), b([True, False, True]), C([4]))
    t.add("ScatterNdNonAliasingAdd", "truths", b([True, False, False]), i([[0], [0], [2]]),
          b([True, False, True]))
    t.add("AsString", "string_precision", s(["abcdef", "c"]), precision=3)
    t.add("AsString", "string_precision_width", s(["abcdef", "c"]), precision=3, width=8)
    t.add("AsString", "string_left", s(["abcdef", "c"]), width=8, fill="-")
    t.add("AsString", "string_shortest", s(["abcdef", "c"]), width=8, fill="-", shortest=True)
    t.add("AsString", "bad_precision_int32", i([1, 2]), precision=2)
    t.add("ConcatOffset", "int64", C(1), [l([2, 3]), l([2, 4]), l([2, 0])])


def cases():
    t = Table()
    quantized(t)
    products(t)
    strings_and_truths(t)
    return t.cases
