"""Numbers rounded as if they were quantized."""
from .common import *  # noqa: F403

X = [-1.5, -0.31, 0, 0.07, 0.5, 1.1, 2.9]
ROWS = [[-1.5, 0.2, 3], [0.7, 0.1, -2]]
LOWS, HIGHS = [-1, 0, -3], [1, 2, 3]
OPS = ["QuantizeAndDequantize" + v for v in ("", "V2", "V3", "V4")]


def there_and_back(t, dtype):
    first, second, third, fourth = OPS
    name, low, high, x = dtype.__name__, a(dtype, -1), a(dtype, 2), a(dtype, X)
    for given in (False, True):
        for signed in (False, True):
            tag = "%s_%d_%d" % (name, given, signed)
            attrs = dict(range_given=given, signed_input=signed, tol=2)
            t.add(second, tag, x, low, high, **attrs)
            t.add(fourth, tag, x, low, high, **attrs)
            t.add(third, tag, x, low, high, i(6), **attrs)
            t.add(first, tag, x, input_min=-1, input_max=2, **attrs)
    for op in (second, fourth):
        t.add(op, "narrow_" + name, x, low, high, narrow_range=True, num_bits=4,
              range_given=True, tol=2)
        t.add(op, "half_up_" + name, x, low, high, round_mode="HALF_UP", num_bits=5,
              range_given=True, tol=2)
        t.add(op, "halves_" + name, a(dtype, [0.5, 1.5, 2.5, -0.5, -1.5]), a(dtype, -128),
              a(dtype, 127), range_given=True)
        t.add(op, "halves_up_" + name, a(dtype, [0.5, 1.5, 2.5, -0.5, -1.5]), a(dtype, -128),
              a(dtype, 127), range_given=True, round_mode="HALF_UP")
        t.add(op, "many_bits_" + name, x, low, high, num_bits=40, range_given=True, tol=2)
        t.add(op, "one_bit_" + name, x, low, high, num_bits=1, range_given=True, tol=2)
    rows, lows, highs = a(dtype, ROWS), a(dtype, LOWS), a(dtype, HIGHS)
    for given in (False, True):
        tag = "axis_%s_%d" % (name, given)
        if not given:  # TensorFlow takes ranges along an axis in the third version only
            for op in (second, fourth):
                t.add(op, tag, rows, lows, highs, axis=1, tol=2)
        t.add(third, tag, rows, lows[:2], highs[:2], i(8), axis=0, range_given=given, tol=2)


def grads(t):
    op = OPS[3] + "Grad"
    for dtype in (F32, F64):
        name, rows = dtype.__name__, a(dtype, ROWS)
        g = a(dtype, [[1, 2, -4], [0.5, -8, 16]])
        t.add(op, name, g, rows, a(dtype, -1), a(dtype, 0.7))
        t.add(op, "rows_" + name, g, rows, a(dtype, [-1, 0]), a(dtype, [1, 0.5]), axis=0)
        t.add(op, "columns_" + name, g, rows, a(dtype, [-1, 0.2, -3]), a(dtype, HIGHS), axis=1)
    t.add(op, "scalar", f(3), f(0.5), f(-1), f(1))
    t.add(op, "empty", empty(F32, (0, 3)), empty(F32, (0, 3)), f(LOWS), f(HIGHS), axis=1)
    t.add(op, "nan", f([1, 2, 3]), f([NAN, INF, -INF]), f(-1), f(1))
    t.add(op, "bad_shapes", f([1, 2]), f([1, 2, 3]), f(0), f(1))
    t.add(op, "bad_range", f([1, 2]), f([1, 2]), f([0]), f(1))
    t.add(op, "bad_axis", f([1, 2]), f([1, 2]), f([0, 0]), f([1, 1]), axis=1)


def cases():
    t = Table()
    for dtype in (F32, F64):
        there_and_back(t, dtype)
    first, _, third, _ = OPS
    x = f(X)
    t.add(first, "scalar", f(0.3), input_min=-1, input_max=1, range_given=True, tol=2)
    t.add(first, "empty", empty(F32, (2, 0)), range_given=False)
    t.add(first, "bad_range", x, input_min=2, input_max=1, range_given=True)
    t.add(first, "bad_bits", x, num_bits=63)
    for op in OPS[1:]:
        bits = [i(8)] if op == third else []
        if op != third:  # which TensorFlow refuses
            t.add(op, "scalar", f(0.3), f(-1), f(1), range_given=True, tol=2)
        t.add(op, "empty", empty(F32, (0, 3)), f(LOWS), f(HIGHS), *bits, axis=1,
              range_given=False)
        t.add(op, "zeros", f([0, 0]), f(0), f(0), *bits, range_given=False)
        t.add(op, "one_side", x, f(0.5), f(1), *bits, range_given=True, tol=2)
        t.add(op, "infinite", f([INF, -INF, 1]), f(-1), f(1), *bits, range_given=True, tol=2)
        t.add(op, "bad_range", x, f(2), f(1), *bits, range_given=True)
        t.add(op, "bad_axis", f(ROWS), f([1, 2]), f([2, 3]), *bits, axis=4)
        t.add(op, "bad_sizes", f(ROWS), f([1, 2]), f([2, 3]), *bits, axis=1)
        t.add(op, "bad_vector", x, f([1]), f([2]), *bits)
        for tag, count in (("bad_bits", 0), ("bad_many_bits", 62)):
            if bits:
                t.add(op, tag, x, f(1), f(2), i(count))
            else:
                t.add(op, tag, x, f(1), f(2), num_bits=count)
    t.add(third, "bad_bits_vector", x, f(1), f(2), i([8]))
    grads(t)
    return t.cases
