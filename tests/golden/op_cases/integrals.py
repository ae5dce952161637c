"""Bessel functions, integrals and the dilogarithm."""
from .common import *  # noqa: F403

SIGNED, POSITIVE = [[-3.5, -0.8, 0.2], [1.7, 9, 25]], [[0.05, 0.3, 0.9], [1.2, 2.5, 9]]
# name: ordinary values, those of the gradient, extreme ones
UNARY = {
    "BesselI0": (SIGNED, [[-3.5, -0.8, 0.2], [1.7, 4, 9]], [0, 1e-6, NAN, 600]),
    "BesselI1": (SIGNED, [[-3.5, -0.8, 0.2], [1.7, 4, 9]], [0, 1e-6, NAN, 600]),
    "BesselJ0": (SIGNED, SIGNED, [0, 1e-6, NAN, 600]),
    "BesselJ1": (SIGNED, SIGNED, [0, 1e-6, NAN, 600]),
    "BesselK0": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 1, 60, INF]),
    "BesselK0e": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 1, 600, INF]),
    "BesselK1": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 1, 60, INF]),
    "BesselK1e": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 1, 600, INF]),
    "BesselY0": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 600]),
    "BesselY1": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 600]),
    "Dawsn": (SIGNED, SIGNED, [0, 1e-6, NAN, 600, INF, -INF, 0.99, 1.01, 49, 51]),
    "Expint": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 39, 41, 80]),
    "FresnelCos": (SIGNED, [[-2.2, -0.8, 0.2], [1.1, 1.6, 3]],
                   [0, 1e-6, NAN, 1.49, 1.51, INF, -INF]),
    "FresnelSin": (SIGNED, [[-2.2, -0.8, 0.2], [1.1, 1.6, 3]],
                   [0, 1e-2, NAN, 1.49, 1.51, INF, -INF]),
    "Spence": (POSITIVE, POSITIVE, [0, -1, 1e-6, NAN, 1, 2, 100, 0.5]),
}


def cases():
    t = Table()
    for op, (values, at, extreme) in UNARY.items():
        for dtype in (F32, F64, F16):
            t.add(op, "ordinary_" + dtype.__name__, a(dtype, values), tol=8)
        # TensorFlow's BesselY1 of 0 is NaN in float alone.
        t.add(op, "extreme_float", f(extreme[1:] if op == "BesselY1" else extreme), tol=8)
        t.add(op, "extreme_double", d(extreme), tol=8)
        t.add(op, "gradient", d(at), g=True)
        t.add(op, "scalar", d(values[1][0]))
        t.add(op, "empty", empty(F32, (2, 0)))
    for x, y, tag in (([0.5, -2, 0, 3], [1, 0.25, -2, 1e-6], "row"),
                      ([[2], [0]], [0.5, 3], "broadcast"), (2, 3, "scalar")):
        t.add("Xlog1py", tag + "_double", d(x), d(y))
        t.add("Xlog1py", tag + "_float", f(x), f(y))
    t.add("Xlog1py", "complex", a(C64, [1 + 1j, 0, 2]), a(C64, [1j, 3, 0.5 - 1j]))
    t.add("Xlog1py", "corners", d([0, 1, 0, NAN]), d([-1, -1, NAN, 1]))
    t.add("Xlog1py", "gradient", d([[0.5], [3]]), d([0.3, 2, 5]), g=True)
    t.add("Xlog1py", "empty", empty(F32, (0, 2)), f([1, 2]))
    t.add("Xlog1py", "bad_shapes", f([1, 2]), f([1, 2, 3]))
    return t.cases
