"""Arithmetic on quantized numbers."""
from .common import *  # noqa: F403


def u8(values, shape=None):
    return q(QU8, values, shape)


def q32(values, shape=None):
    return q(QI32, values, shape)


def spread(shape, step=37):
    return u8(ramp(U8, shape, 3, step))


def moved(t):
    numbers = q32([0, 2**30, -2**30, 5, 123456789, -2**31, 2**31 - 1])
    for dtype in ("quint8", "qint8"):
        t.add("Requantize", dtype, numbers, f(-10), f(10), f(-2), f(8), out_type=dtype)
    t.add("Requantize", "zero_range", numbers, f(-1), f(1), f(0), f(0), out_type="quint8")
    t.add("Requantize", "matrix", q32([[1, 2], [-3, 4]]), f(-1e-6), f(1e-6), f(0), f(1e-6),
          out_type="quint8")
    t.add("Requantize", "empty", q32([]), f(-1), f(1), f(0), f(1), out_type="quint8")
    t.add("Requantize", "bad_min", numbers, f(-1), f(1), f(1), f(2), out_type="quint8")
    t.add("Requantize", "bad_max", numbers, f(-1), f(1), f(-1), f(-2), out_type="quint8")
    t.add("Requantize", "bad_vector", numbers, f([-1, 1]), f(1), f(-1), f(2), out_type="quint8")
    for tag, values in (("positive", [5, 2**30]), ("mixed", [[-7777, 5], [2**30, 0]]), ("one", [9]),
                        ("negative", [-5, -2**29]), ("empty", [])):
        t.add("RequantizationRange", tag, q32(values), f(-10), f(10))
        t.add("QuantizeDownAndShrinkRange", tag, q32(values), f(-10), f(10), out_type="quint8")
    t.add("RequantizationRange", "bad_vector", q32([1]), f([-10, 1]), f(10))
    t.add("QuantizeDownAndShrinkRange", "bad_vector", q32([1]), f([-10, 1]), f(10),
          out_type="quint8")


def unary(t):
    values = [[0, 23, 85], [86, 162, 255]]
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        t.add(op, "bytes", u8(values), f(-1), f(10))
        t.add(op, "narrow", u8(values), f(-1), f(2))
        t.add(op, "positive", u8(values), f(0), f(6))
        t.add(op, "int32", q32([0, 85, -200, 2**30]), f(-20), f(20), out_type="qint32")
        t.add(op, "empty", u8([]), f(-1), f(1))
        t.add(op, "bad_vector", u8(values), f([-1, 0]), f(1))
    shapes = {"flat": [6], "open": [3, -1], "scalars": [1, 6, 1]}
    for tag, shape in shapes.items():
        t.add("QuantizedReshape", tag, u8(values), Const(shape), f(-1), f(2))
    t.add("QuantizedReshape", "fed", u8(values), l([2, -1]), f(-1), f(2))
    t.add("QuantizedReshape", "empty", u8([]), Const([0, 3]), f(-1), f(2))
    t.add("QuantizedReshape", "bad_count", u8(values), i([4]), f(-1), f(2))
    t.add("QuantizedReshape", "bad_open", u8(values), i([-1, -1]), f(-1), f(2))


def joined(t):
    def add(tag, axis, values, lows, highs, **attrs):
        t.add("QuantizedConcat", tag, axis, values, [f(v) for v in lows], [f(v) for v in highs],
              **attrs)

    add("same", Const(0), [u8([0, 128]), u8([255])], [-1, -1], [2, 2])
    add("unlike", Const(0), [u8([0, 128, 77]), u8([255, 3])], [0.5, 1], [2, 3])
    add("columns", Const(-1), [u8([[0, 128], [1, 2]]), u8([[255], [9]])], [-1, -3], [2, 3])
    add("fed_axis", i(1), [u8([[0], [128]]), u8([[255], [9]])], [-1, -3], [2, 3])
    add("int32", Const(0), [q32([0, 2**30]), q32([255])], [-3, -3], [3, 3])
    add("empty", Const(0), [u8([]), u8([255])], [-1, -1], [2, 2])
    add("bad_axis", i(3), [u8([0]), u8([1])], [-1, -1], [2, 2])
    add("bad_shapes", i(1), [u8([[0]]), u8([[1], [2]])], [-1, -1], [2, 2])


def products(t):
    def matmul(tag, x, y, *ranges, **attrs):
        t.add("QuantizedMatMul", tag, x, y, *[f(r) for r in ranges], **attrs)

    x, y = spread((2, 3)), spread((3, 4), 11)
    matmul("plain", x, y, -1, 1, 0, 2)
    matmul("whole", x, y, 0, 255, 0, 255)
    matmul("transposed_a", spread((3, 2)), y, -1, 1, 0, 2, transpose_a=True)
    matmul("transposed_b", x, spread((4, 3)), -1, 1, -3, 2, transpose_b=True)
    matmul("empty", u8(np.zeros((0, 3))), y, -1, 1, 0, 2)
    matmul("bad_range", x, y, 1, 0, 0, 2)
    matmul("bad_inner", x, x, -1, 1, 0, 2)

    def conv(tag, images, kernel, strides, padding, **attrs):
        t.add("QuantizedConv2D", tag, images, kernel, f(-1), f(2), f(-1), f(1), strides=strides,
              padding=padding, **attrs)

    images, kernel = spread((2, 4, 5, 3)), spread((3, 2, 3, 2), 29)
    conv("same", images, kernel, [1, 1, 1, 1], "SAME")
    conv("valid", images, kernel, [1, 1, 1, 1], "VALID")
    conv("strides", images, kernel, [1, 2, 2, 1], "SAME")
    conv("one_by_one", images, spread((1, 1, 3, 4)), [1, 1, 1, 1], "VALID")
    conv("no_images", u8(np.zeros((0, 4, 5, 3))), kernel, [1, 1, 1, 1], "SAME")
    conv("bad_channels", images, spread((3, 2, 2, 2)), [1, 1, 1, 1], "SAME")
    conv("bad_dilations", images, kernel, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1])


def sums(t):
    x, y = u8([[0, 128, 255], [1, 2, 3]]), u8([0, 10, 255])
    t.add("QuantizedBiasAdd", "matrix", x, y, f(-1), f(2), f(-3), f(4), out_type="qint32", tol=0)
    t.add("QuantizedBiasAdd", "image", spread((1, 2, 2, 3)), y, f(0), f(6), f(-0.1), f(0.2),
          out_type="qint32")
    t.add("QuantizedBiasAdd", "row", u8([[7]]), u8([9]), f(-2), f(2), f(-3), f(4),
          out_type="qint32")
    t.add("QuantizedBiasAdd", "wide", spread((2, 3)), y, f(-100), f(200), f(-3), f(4),
          out_type="qint32")
    t.add("QuantizedBiasAdd", "narrow", spread((2, 3)), y, f(-1), f(1), f(-0.5), f(0.5),
          out_type="qint32")
    t.add("QuantizedBiasAdd", "bad_length", x, u8([1, 2]), f(-1), f(2), f(-3), f(4),
          out_type="qint32")
    for op in ("QuantizedMul",):
        t.add(op, "row", x, y, f(-1), f(2), f(-3), f(4))
        t.add(op, "same", x, x, f(-1), f(2), f(-3), f(4))
        t.add(op, "scalar", x, u8(7), f(-1), f(2), f(-3), f(4))
        t.add(op, "scalars", u8(200), u8(7), f(-1), f(2), f(-3), f(4))
        t.add(op, "vector", u8([1, 2]), u8([250, 3]), f(-1), f(2), f(0), f(4))
        t.add(op, "bad_shapes", u8([1, 2]), u8([1, 2, 3]), f(-1), f(2), f(-3), f(4))
        t.add(op, "bad_range", u8([1, 2]), u8([1, 2]), f(2), f(-2), f(-3), f(4))


def pools(t):
    images = spread((2, 4, 5, 3))
    for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
        def add(tag, x, ksize, strides, padding, op=op):
            t.add(op, tag, x, f(-1), f(2), ksize=ksize, strides=strides, padding=padding)

        add("same", images, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
        add("valid", images, [1, 3, 2, 1], [1, 2, 1, 1], "VALID")
        add("strides", images, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        add("one", spread((1, 1, 1, 1)), [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
        add("no_images", u8(np.zeros((0, 4, 5, 3))), [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
        add("bad_matrix", u8([[1]]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME")


def cases():
    t = Table()
    moved(t)
    unary(t)
    joined(t)
    products(t)
    sums(t)
    pools(t)
    return t.cases
