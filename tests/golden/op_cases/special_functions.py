"""Special functions, shifts, the bits of numbers, buckets."""
from .common import *  # noqa: F403

INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
UNARY = {
    # name: ordinary values, extreme ones
    "Lgamma": ([[-2.5, -0.3, 0.2], [1.7, 3.5, 12]], [0, -1, -2, INF, -INF, NAN, 1, 2, 1e30]),
    "Digamma": ([[-2.4, -0.4, 0.2], [1.7, 3.5, 12]], [1, 2, 40, 1e6, NAN, INF]),
    "Erfinv": ([[-0.9, -0.5, -0.1], [0.2, 0.6, 0.95]], [0, 1, -1, NAN, -0.25, 0.99]),
    "Ndtri": ([[0.01, 0.2, 0.4], [0.6, 0.9, 0.98]], [0, 1, NAN, 1e-6, 0.5, 1e-30]),
    "BesselI0e": ([[-3.5, -0.8, 0.2], [1.7, 9, 40]], [0, 1e-6, NAN, 1000]),
    "BesselI1e": ([[-3.5, -0.8, 0.2], [1.7, 9, 40]], [0, 1e-6, NAN, 1000]),
}
BINARY = {
    # name: operands, those of the gradient, extreme ones
    "Igamma": ([0.5, 1, 2.5, 7], [0.1, 1, 4, 6.5], ([[0.5], [3]], [[0.3, 2, 5]])),
    "Igammac": ([0.5, 1, 2.5, 7], [0.1, 1, 4, 6.5], ([[0.5], [3]], [[0.3, 2, 5]])),
    "IgammaGradA": ([0.5, 1, 2.5, 7], [0.1, 1, 4, 6.5], None),
    "Polygamma": ([0, 1, 2, 5], [0.7, 2.5, 3, 9], None),
    "Zeta": ([1.5, 2, 3.5, 9], [0.7, 1, 3, 0.2], None),
}


def unary(t):
    for op, (values, extreme) in UNARY.items():
        dtypes = (F32, F64) if op in ("Erfinv", "Ndtri") else (F32, F64, F16)
        for dtype in dtypes:
            t.add(op, "ordinary_" + dtype.__name__, a(dtype, values))
        for dtype in (F32, F64):
            t.add(op, "extreme_" + dtype.__name__, a(dtype, extreme))
        t.add(op, "gradient", d(values), g=True)
        t.add(op, "scalar", f(values[1][0]))
        t.add(op, "empty", empty(F32, (2, 0)))
        t.add(op, "long", np.resize(f(values), 37))
    t.add("BesselI1e", "at_0", d([0.0, -0.0, 1]))


def binary(t):
    for op, (x, y, gradient) in BINARY.items():
        t.add(op, "double", d(x), d(y))
        t.add(op, "float", f(x), f(y))
        t.add(op, "broadcast", d(x[1:3], (2, 1)), d(y[:3]))
        t.add(op, "scalars", d(x[1]), d(y[2]))
        t.add(op, "empty", empty(F64, (0, 2)), d([1, 2]))
        t.add(op, "nan", d([NAN, 2]), d([2, NAN]))
        t.add(op, "bad_shapes", d([1, 2]), d([1, 2, 3]))
        if gradient:
            t.add(op, "gradient", d(gradient[0]), d(gradient[1]), g=True)
    for op in ("Igamma", "Igammac"):
        t.add(op, "corners", d([1, 1, -1, 0, 2, 3]), d([0, INF, 1, 1, -1, 1e30]))
        t.add(op, "infinite", d([INF, INF, INF, 1]), d([0, 1, INF, INF]))
        t.add(op, "larger", d([100, 100, 1000, 50]), d([80, 130, 1010, 50]))
    t.add("Zeta", "corners", d([1, 0.5, 2, 3, 2, 3]), d([2, 2, -1.5, -1.5, -1, 0.25]))
    t.add("Polygamma", "corners", d([-1, 0.5, 1]), d([1, 1, 1]))
    t.add("Polygamma", "gradient", C([1, 2], F64), d([[0.5], [3]]), g=True)
    t.add("Zeta", "gradient", C([1.5, 2], F64), d([[0.5], [3]]), g=True)
    x = [0.1, 0.5, 0.7, 0.99]
    t.add("Betainc", "double", d([0.5, 1, 2.5, 7]), d([0.7, 2, 4, 6.5]), d(x))
    t.add("Betainc", "float", f([0.5, 1, 2.5, 7]), f([0.7, 2, 4, 6.5]), f(x))
    t.add("Betainc", "scalar_parameters", d(2), d(3), d(x, (2, 2)))
    t.add("Betainc", "scalar_x", d([2, 3]), d([3, 0.5]), d(0.3))
    t.add("Betainc", "scalars", d(2), d(3), d(0.3))
    t.add("Betainc", "corners", d([1, 1, -1, 1, 2, NAN]), d([2, 2, 1, 0, 3, 1]),
          d([0, 1, 0.5, 0.5, -0.1, 0.5]))
    t.add("Betainc", "empty", empty(F64, (0,)), empty(F64, (0,)), empty(F64, (0,)))
    t.add("Betainc", "gradient", C([0.5, 1, 2.5], F64), C([0.7, 2, 1], F64), d([0.1, 0.5, 0.7]),
          g=True)
    t.add("Betainc", "gradient_scalar_x", C([0.5, 1, 2.5], F64), C([0.7, 2, 4], F64), d(0.4),
          g=True)
    t.add("Betainc", "gradient_scalar_parameters", C(0.5, F64), C(0.7, F64), d([[0.4, 0.6]]),
          g=True)
    t.add("Betainc", "bad_shapes", d([1, 2]), d([1, 2, 3]), d(0.5))
    t.add("NextAfter", "double", d([1, 1, 0, -1, 2]), d([2, 0, 1, 5, 2]))
    t.add("NextAfter", "float", f([1, 1, 3, -1, 2]), f([2, 0, 4, 5, 2]))
    t.add("NextAfter", "broadcast", f([[1], [2]]), f([0, 4, INF]))
    t.add("NextAfter", "scalars", d(1), d(2))
    t.add("NextAfter", "corners", d([NAN, 1, INF]), d([1, NAN, 0]))
    t.add("NextAfter", "empty", empty(F32, (0,)), f([1]))
    t.add("NextAfter", "gradient", d([[1], [3]]), C([2, 5, 7], F64), g=True)
    t.add("NextAfter", "bad_shapes", d([1, 2]), d([1, 2, 3]))


def bits(t):
    for dtype in INTEGERS:
        name = dtype.__name__
        top = np.iinfo(dtype).max
        t.add("LeftShift", name, a(dtype, [1, 5, top, 0]), a(dtype, [3, 1, 2, 7]))
        t.add("RightShift", name, a(dtype, [64, 5, top, 0]), a(dtype, [3, 1, 2, 7]))
        t.add("PopulationCount", name, a(dtype, [0, 1, 7, 85, top]))
    for op in ("LeftShift", "RightShift"):
        t.add(op, "negative", i([-8, -1, -2**31]), i([1, 5, 3]))
        t.add(op, "too_far", i([5, -5, 5, -5]), i([32, 100, -1, -2**31]))
        t.add(op, "too_far_unsigned", a(U8, [255, 255]), a(U8, [8, 255]))
        t.add(op, "rows", i([[1], [6]]), i([[1, 2, 4]]))
        t.add(op, "scalars", l(9), l(2))
        t.add(op, "empty", empty(I32, (0,)), i([1]))
        t.add(op, "bad_shapes", i([1, 2]), i([1, 2, 3]))
    t.add("PopulationCount", "negative", i([[-1, -2], [-2**31, -8]]))
    t.add("PopulationCount", "negative_bytes", a(I8, [-1, -128]))
    t.add("PopulationCount", "scalar", l(-1))
    t.add("PopulationCount", "empty", empty(I64, (0, 2)))


def casts(t):
    t.add("Bitcast", "same_size", f([1, -2, 0.5]), type=I32)
    t.add("Bitcast", "narrower", i([[1, -2], [256, 65536]]), type=U8)
    t.add("Bitcast", "wider", a(U8, range(8), (2, 4)), type=I32)
    t.add("Bitcast", "to_double", a(U32, [0, 0x3ff00000, 0, 0x40000000], (2, 2)), type=F64)
    t.add("Bitcast", "to_complex", f([[1, 2], [3, 4]]), type=np.complex64)
    t.add("Bitcast", "from_complex", a(np.complex64, [1 + 2j, 3 - 4j]), type=F32)
    t.add("Bitcast", "bytes_of_complex", a(np.complex128, 1 + 2j), type=U64)
    t.add("Bitcast", "half_to_bfloat16", h([1, 2]), type=tf_bfloat16())
    t.add("Bitcast", "scalar", f(1), type=I32)
    t.add("Bitcast", "scalar_to_bytes", l(258), type=U8)
    t.add("Bitcast", "empty", empty(F32, (0, 3)), type=U16)
    t.add("Bitcast", "empty_wider", empty(U16, (0, 2)), type=I32)
    t.add("Bitcast", "same_dtype", i([1, 2]), type=I32)
    t.add("Bitcast", "bad_last", a(U8, [1, 2, 3]), type=I32)
    t.add("Bitcast", "bad_scalar", a(U8, 1), type=I32)
    t.add("Bitcast", "bad_multiple", a(U8, range(8)), type=I32)


def tf_bfloat16():
    import tensorflow as tf

    return tf.bfloat16


def buckets(t):
    edges = [0.0, 10.0, 100.0]
    for dtype in (F32, F64, I32, I64):
        t.add("Bucketize", dtype.__name__, a(dtype, [[-5, 0, 5], [10, 150, 100]]),
              boundaries=edges)
    t.add("Bucketize", "extreme", f([NAN, INF, -INF, -0.0]), boundaries=edges)
    t.add("Bucketize", "large", l([2**53 + 1, -2**63, 2**63 - 1]), boundaries=[0.0, 2.0**53])
    t.add("Bucketize", "no_boundaries", f([1, 2]), boundaries=[])
    t.add("Bucketize", "equal_boundaries", f([0, 1, 2]), boundaries=[1.0, 1.0])
    t.add("Bucketize", "scalar", i(7), boundaries=edges)
    t.add("Bucketize", "empty", empty(F32, (0, 2)), boundaries=edges)
    t.add("Bucketize", "long", ramp(F32, (37,), -10, 5), boundaries=edges)
    t.add("Bucketize", "bad_order", f([1]), boundaries=[2.0, 1.0])


def sums(t):
    for dtype in (F32, F64, F16, I32, I64, U8):
        t.add("AccumulateNV2", dtype.__name__, [a(dtype, [1, 2]), a(dtype, [3, 4]),
                                                a(dtype, [5, 6])], shape=[2])
    t.add("AccumulateNV2", "one", [f([[1, 2]])], shape=[1, 2])
    t.add("AccumulateNV2", "scalars", [f(1), f(2)], shape=[])
    t.add("AccumulateNV2", "empty", [empty(F32, (0, 2)), empty(F32, (0, 2))], shape=[0, 2])
    t.add("AccumulateNV2", "nan", [f([NAN, INF]), f([1, -INF])], shape=[2])
    t.add("AccumulateNV2", "gradient", [d([1, 2]), d([3, 4])], shape=[2], g=True)
    t.add("AccumulateNV2", "bad_shapes", [f([1, 2]), f([1, 2, 3])], shape=[2])


C = Const


def cases():
    t = Table()
    unary(t)
    binary(t)
    bits(t)
    casts(t)
    buckets(t)
    sums(t)
    return t.cases
