"""Quantization, simulated and real."""
from .common import *  # noqa: F403

X = [-7, -6, -0.01, 0.012, 0.03, 2.5, 5.99, 6, 7]
G = [1, -2, 3, 0.5, -0.25, 2, 1, 4, -8]


def fake(t):
    base = "FakeQuantWithMinMax"
    x, g = f(X), f(G)
    for tag, attrs in (("default", {}), ("positive", dict(min=1, max=5)),
                       ("negative", dict(min=-5, max=-1, num_bits=4, narrow_range=True)),
                       ("wide", dict(min=-1, max=3, num_bits=16)),
                       ("two_bits", dict(min=-1, max=3, num_bits=2)),
                       ("bad_range", dict(min=0, max=0)), ("bad_turned", dict(min=1, max=-1)),
                       ("bad_bits", dict(num_bits=1)), ("bad_many_bits", dict(num_bits=17))):
        t.add(base + "Args", tag, x, tol=1, **attrs)
        t.add(base + "ArgsGradient", tag, g, x, **attrs)
    t.add(base + "Args", "nan", f([NAN, INF, -INF]))
    t.add(base + "Args", "scalar", f(1.3))
    t.add(base + "Args", "empty", empty(F32, (0, 2)))
    t.add(base + "ArgsGradient", "empty", empty(F32, (0, 2)), empty(F32, (0, 2)))
    t.add(base + "ArgsGradient", "bad_shapes", g, x[:3])
    for tag, low, high, attrs in (("plain", -6, 6, {}), ("positive", 1, 5, {}),
                                  ("negative", -5, -1, dict(num_bits=4, narrow_range=True)),
                                  ("nothing", 0, 0, {}), ("bad_bits", 0, 1, dict(num_bits=1))):
        t.add(base + "Vars", tag, x, f(low), f(high), tol=1, **attrs)
        t.add(base + "VarsGradient", tag, g, x, f(low), f(high), tol=1, **attrs)
    t.add(base + "Vars", "empty", empty(F32, (0,)), f(-1), f(1))
    t.add(base + "VarsGradient", "empty", empty(F32, (0,)), empty(F32, (0,)), f(-1), f(1))
    t.add(base + "Vars", "bad_vector", x, f([1]), f(2))
    t.add(base + "VarsGradient", "bad_vector", g, x, f([1]), f(2))
    t.add(base + "VarsGradient", "bad_shapes", g[:2], x, f(1), f(2))
    low, high = f([-6, 0, -1]), f([6, 0, 3])
    for tag, shape in (("vector", (3,)), ("matrix", (3, 3)), ("cube", (1, 3, 3))):
        count = int(np.prod(shape))
        t.add(base + "VarsPerChannel", tag, x[:count].reshape(shape), low, high, tol=1)
        t.add(base + "VarsPerChannelGradient", tag, g[:count].reshape(shape),
              x[:count].reshape(shape), low, high, tol=1)
    more = dict(num_bits=4, narrow_range=True, tol=1)
    t.add(base + "VarsPerChannel", "narrow", x.reshape(3, 3), low, high, **more)
    t.add(base + "VarsPerChannelGradient", "narrow", g.reshape(3, 3), x.reshape(3, 3), low, high,
          **more)
    t.add(base + "VarsPerChannel", "empty", empty(F32, (0, 3)), low, high)
    t.add(base + "VarsPerChannelGradient", "empty", empty(F32, (0, 3)), empty(F32, (0, 3)), low,
          high)
    t.add(base + "VarsPerChannel", "bad_size", x.reshape(3, 3), low[:2], high)
    t.add(base + "VarsPerChannelGradient", "bad_size", g.reshape(3, 3), x.reshape(3, 3), low,
          high[:2])


SAFE = [-7, -2, -0.01, 0.012, 0.03, 2.5, 5.9]
Q16 = {"qint8": QI8, "quint8": QU8, "qint16": QI16, "quint16": QU16, "qint32": QI32}


def real(t):
    x, low, high = f(SAFE), f(-2), f(6)
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        for name, dtype in Q16.items():
            # TensorFlow's vector code rounds MIN_FIRST to quint8 in another way.
            if (mode, name) == ("MIN_FIRST", "quint8"):
                continue
            t.add("QuantizeV2", mode + "_" + name, x, low, high, T=name, mode=mode)
            info = np.iinfo(dtype[0])
            high_end = info.max // 2 if name == "qint32" else info.max
            whole = q(dtype, [info.min, high_end, info.min // 2, 3])
            for narrow in (False, True):
                t.add("Dequantize", "%s_%s_%d" % (mode, name, narrow), whole, low, high,
                      mode=mode, narrow_range=narrow, tol=2)
        t.add("QuantizeV2", "small_range_" + mode, x, f(1), f(1), T="qint8", mode=mode)
        t.add("QuantizeV2", "empty_" + mode, empty(F32, (0, 2)), low, high, T="qint8", mode=mode)
    rows, lows, highs = f(SAFE[:6], (2, 3)), f([-1, -2, -3]), f([1, 2, 3])
    for mode in ("MIN_COMBINED", "SCALED"):
        t.add("QuantizeV2", "axis_" + mode, rows, lows, highs, T="qint8", mode=mode, axis=1)
        t.add("Dequantize", "axis_" + mode, q(QI8, [[-128, 3, 127], [0, 1, 2]]), lows, highs,
              mode=mode, axis=1, tol=2)
    for dtype in ("qint8", "quint8"):
        t.add("QuantizeV2", "narrow_" + dtype, x, low, high, T=dtype, mode="SCALED",
              narrow_range=True)
    t.add("QuantizeV2", "to_even", x, low, high, T="qint8", mode="SCALED",
          round_mode="HALF_TO_EVEN")
    t.add("QuantizeV2", "scalar", f(1), low, high, T="quint8")
    t.add("QuantizeV2", "bad_round", x, low, high, T="qint8", round_mode="HALF_TO_EVEN")
    t.add("QuantizeV2", "bad_range", x, high, low, T="qint8")
    t.add("QuantizeV2", "bad_axis", x, lows, highs, T="qint8", axis=3)
    t.add("QuantizeV2", "bad_sizes", rows, lows[:2], highs[:2], T="qint8", axis=1)
    t.add("QuantizeV2", "bad_first", rows, lows, highs, T="qint8", axis=1, mode="MIN_FIRST")
    t.add("Dequantize", "bfloat16", q(QI8, [-128, 0, 127]), low, high, dtype=BFLOAT16)
    t.add("Dequantize", "empty", q(QI8, np.zeros((0, 2))), low, high)
    t.add("Dequantize", "scalar", q(QU8, 7), low, high, tol=2)


def cases():
    t = Table()
    fake(t)
    real(t)
    return t.cases
