"""Unary, binary, comparison, logical and selecting elementwise ops."""
from .common import *  # noqa: F403

ORDINARY = [[-2.5, -1, -0.3], [0.25, 1.5, 3]]
POSITIVE = [[0.1, 0.5, 1], [2, 7.25, 100]]
HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6]
EXTREME = {
    F32: [0.0, -0.0, 1, -1, INF, -INF, NAN, 1e30, -1e30, 1e-30, 20, -20, 88, -80, 1e4],
    F64: [0.0, -0.0, 1, -1, INF, -INF, NAN, 1e250, -1e250, 1e-250, 20, -20, 700, -600, 1e4],
    F16: [0.0, -0.0, 1, -1, INF, -INF, NAN, 65504, -65504, 6.2e-5, 9, -9, 11, 1000],
}
UNARY = {
    # name: (ordinary values, point of the gradient check, integer dtypes)
    "Abs": (ORDINARY, True, (I32, I64, I8, I16)),
    "Neg": (ORDINARY, True, (I32, I64, I8, I16)),
    "Sign": (ORDINARY, True, (I32, I64)),
    "Square": (ORDINARY, True, (I32, I64)),
    "Sqrt": (POSITIVE, True, ()),
    "Rsqrt": (POSITIVE, True, ()),
    "Exp": (ORDINARY, True, ()),
    "Log": (POSITIVE, True, ()),
    "Log1p": (POSITIVE, True, ()),
    "Expm1": (ORDINARY, True, ()),
    "Sin": (ORDINARY, True, ()),
    "Cos": (ORDINARY, True, ()),
    "Tan": ([[-1.2, -1, -0.3], [0.25, 1.1, 0.7]], True, ()),
    "Tanh": (ORDINARY, True, ()),
    "Sigmoid": (ORDINARY, True, ()),
    "Erf": (ORDINARY, True, ()),
    "Floor": (ORDINARY, False, ()),
    "Ceil": (ORDINARY, False, ()),
    "Round": (ORDINARY, False, ()),  # integers become 0
    "Reciprocal": (ORDINARY, True, ()),
    "Inv": (ORDINARY, True, ()),
    "IsNan": (ORDINARY, False, ()),
    "IsInf": (ORDINARY, False, ()),
    "IsFinite": (ORDINARY, False, ()),
    "Relu": (ORDINARY, True, (I32, I64, I8)),
    "Relu6": ([[-2.5, -1, -0.3], [0.25, 5.5, 7]], True, (I32,)),
    "Elu": (ORDINARY, True, ()),
    "Selu": (ORDINARY, True, ()),
    "LeakyRelu": (ORDINARY, True, ()),
    "Softplus": (ORDINARY, True, ()),
    "Softsign": (ORDINARY, True, ()),
}
DROP_EXTREME = {
    "Erf": (INF, -INF, 1e250, -1e250),  # NaN in double
    # Values where TensorFlow's own answer depends on the library it was built with.
    "Sin": (1e30, -1e30, 1e250, -1e250, 65504, -65504, 1e4, 1000),
    "Cos": (1e30, -1e30, 1e250, -1e250, 65504, -65504, 1e4, 1000),
    "Tan": (1e30, -1e30, 1e250, -1e250, 65504, -65504, 1e4, 1000),
}


def unary(t):
    for op, (values, gradient, integers) in UNARY.items():
        producer = 16 if op == "Inv" else 21
        add = lambda tag, *x, **o: t.add(op, tag, *x, producer=producer, **o)  # noqa: E731
        add("float", f(values))
        add("double", d(values), g=gradient)
        add("half", h(values))
        add("scalar", f(1.25))
        add("rank_5", ramp(F32, (1, 2, 1, 3, 1), 0.25, 0.125))
        add("empty", empty(F32, (2, 0, 3)))
        add("long", ramp(F32, (37,), 0.05, 0.17))
        for dtype, extreme in EXTREME.items():
            drop = DROP_EXTREME.get(op, ())
            add("extreme_" + dtype.__name__, a(dtype, [v for v in extreme if v not in drop]))
        for dtype in integers:
            info = np.iinfo(dtype)
            add("integer_" + dtype.__name__, a(dtype, [info.min, -7, -1, 0, 1, 7, info.max]))
    t.add("Round", "to_even", f(HALVES))
    t.add("Round", "to_even_double", d(HALVES))
    t.add("LeakyRelu", "alpha", f(ORDINARY), alpha=0.1)
    t.add("LeakyRelu", "alpha_above_one", d(ORDINARY), alpha=1.5, g=True)
    t.add("LeakyRelu", "alpha_negative", f(ORDINARY), alpha=-0.5)
    t.add("Abs", "bfloat16", f(ORDINARY).astype(BFLOAT16))
    t.add("Exp", "bfloat16", f(ORDINARY).astype(BFLOAT16))
    t.add("Neg", "empty_vector", empty(F64, (0,)))


FLOATS = (F32, F64, F16)
INTS = (I32, I64)
SMALL_INTS = (U8, I8, I16)
BINARY = {
    # name: (dtypes, point of the gradient check)
    "Add": (FLOATS + INTS + SMALL_INTS, True),
    "AddV2": (FLOATS + INTS + SMALL_INTS, True),
    "Sub": (FLOATS + INTS + SMALL_INTS, True),
    "Mul": (FLOATS + INTS + SMALL_INTS, True),
    "Div": (FLOATS + INTS + SMALL_INTS, True),
    "RealDiv": (FLOATS, True),
    "DivNoNan": ((F32, F64), True),
    "FloorDiv": (FLOATS + INTS + SMALL_INTS, False),
    "TruncateDiv": (INTS + SMALL_INTS, False),
    "Mod": ((F32, F64) + INTS, False),
    "FloorMod": ((F32, F64) + INTS, False),
    "Maximum": (FLOATS + INTS, True),
    "Minimum": (FLOATS + INTS, True),
    "Pow": (FLOATS + INTS, False),
    "SquaredDifference": ((F32, F64) + INTS, True),
    "Greater": (FLOATS + INTS + SMALL_INTS, False),
    "GreaterEqual": (FLOATS + INTS + SMALL_INTS, False),
    "Less": (FLOATS + INTS + SMALL_INTS, False),
    "LessEqual": (FLOATS + INTS + SMALL_INTS, False),
    "Equal": (FLOATS + INTS + SMALL_INTS, False),
    "NotEqual": (FLOATS + INTS + SMALL_INTS, False),
}


def divides(op):
    return op in ("Div", "RealDiv", "DivNoNan", "FloorDiv", "TruncateDiv", "Mod", "FloorMod")


def binary(t):
    for op, (dtypes, gradient) in BINARY.items():
        first = dtypes[0]
        x = [[-7, 7, -1], [5, 12, 3]]
        y = [[2, -2, 3], [5, 7, 4]]
        if op == "Pow":
            x, y = [[-2, 3, 2], [5, 1, 3]], [[2, 1, 3], [0, 4, 2]]
        for dtype in dtypes:
            xs, ys = x, y
            if dtype == U8:
                xs, ys = np.abs(x), np.abs(y)
            t.add(op, "same_" + dtype.__name__, a(dtype, xs), a(dtype, ys))
        if gradient:
            t.add(op, "gradient", d([[-1.5], [2.25]]), d([[0.75, -1.25, 4]]), g=True)
            t.add(op, "gradient_same", d([0.5, -1.5, 2.25]), d([0.75, 2, 1.5]), g=True)
            t.add(op, "gradient_scalar", d(1.75), d([[0.5, -3], [0.25, 2]]), g=True)
        t.add(op, "rows", a(first, [[6], [9]]), a(first, [[2, 3, 4]]))
        t.add(op, "middle", ramp(first, (2, 1, 3)), ramp(first, (4, 1), 2))
        t.add(op, "scalar_left", a(first, 5), a(first, [[1, 2], [3, 4]]))
        t.add(op, "scalar_right", a(first, [[1, 2], [3, 4]]), a(first, 2))
        t.add(op, "scalars", a(first, 5), a(first, 3))
        t.add(op, "vector_right", ramp(first, (3, 5)), ramp(first, (5,), 1))
        t.add(op, "rank_5", ramp(first, (2, 1, 2, 1, 3)), ramp(first, (1, 3, 1, 2, 1), 1))
        t.add(op, "long", ramp(first, (37,)), ramp(first, (37,), 3))
        t.add(op, "empty", empty(first, (0,)), a(first, [1]))
        t.add(op, "empty_scalar", a(first, 2), empty(first, (2, 0)))
        t.add(op, "empty_rows", empty(first, (2, 0, 1)), a(first, [[1, 2]]))
        t.add(op, "bad_shapes", a(first, [1, 2]), a(first, [1, 2, 3]))
        t.add(op, "bad_shapes_matrix", ramp(first, (2, 3)), ramp(first, (2, 2)))
        if F32 in dtypes:
            left = [0.0, -0.0, 1, -1, INF, -INF, NAN, 1, 1e30, -1e30, INF, 2, 0.0, NAN, 3]
            right = [0.0, 1, 0.0, -0.0, 2, INF, 1, NAN, 1e30, 1e30, -INF, INF, -5, NAN, -3]
            if op in ("Mod", "FloorMod", "FloorDiv", "Pow"):
                keep = [k for k in range(len(left)) if abs(left[k]) < 1e20 and abs(right[k]) < 1e20
                        and right[k] != 0]
                left, right = [left[k] for k in keep], [right[k] for k in keep]
            t.add(op, "extreme", f(left), f(right))
            t.add(op, "extreme_double", d(left), d(right))
        if I32 in dtypes and not divides(op) and op != "Pow":
            low, high = np.iinfo(I32).min, np.iinfo(I32).max
            t.add(op, "extreme_int32", i([low, high, low, high, 65536]),
                  i([-1, 1, low, high, 65536]))
            t.add(op, "extreme_int64", l([2**63 - 1, -2**63, 2**62]), l([1, -1, 2]))
        if U8 in dtypes and not divides(op):
            t.add(op, "wraps_uint8", a(U8, [250, 3, 255]), a(U8, [10, 4, 255]))
    for op in ("Div", "FloorDiv", "TruncateDiv", "Mod", "FloorMod"):
        if op != "TruncateDiv":  # an internal error in TensorFlow
            t.add(op, "bad_zero", i([1, 2]), i([1, 0]))
        t.add(op, "signs", i([-7, 7, -7, 7, -6, 6, 0]), i([2, -2, -2, 2, 3, -3, 5]))
    for op in ("Mod", "FloorMod"):
        t.add(op, "signs_float", f([-7, 7, -7, 7, -6.5, 6.5]), f([2, -2, -2, 2, 3, -3]))
    t.add("FloorMod", "gradient", d([[-1.5], [2.25]]), d([[0.7, -1.3, 4]]), g=True)
    t.add("FloorMod", "gradient_scalar", d(1.75), d([0.6, -3]), g=True)
    t.add("DivNoNan", "zeros", d([1, 0, -3, 4]), d([0, 0, 2, 0]))
    t.add("Pow", "gradient", d([[0.5], [2.25]]), d([[0.75, -1.25, 3]]), g=True)
    t.add("Pow", "roots", f([4, 27, 0, 2, 10]), f([0.5, 1 / 3, 0, -1, -2]))
    t.add("Pow", "bad_negative", i([2, 3]), i([2, -1]))
    t.add("Pow", "overflow_int32", i([10, 3]), i([9, 20]))
    t.add("Maximum", "tie_float", f([1, -0.0, 0.0]), f([1, 0.0, -0.0]))
    for op in ("Equal", "NotEqual"):
        t.add(op, "bool", b([True, False, True]), b([True, True, False]))
        t.add(op, "string", s(["a", "b", ""]), s(["a", "c", ""]))
        t.add(op, "string_broadcast", s([["a"], ["b"]]), s(["b", "a\0c", "a"]))
        t.add(op, "incompatible_is_an_answer", f([1, 2]), f([1, 2, 3]),
              incompatible_shape_error=False)
        t.add(op, "compatible_no_error", f([1, 2]), f([1, 3]), incompatible_shape_error=False)
    t.add("Add", "string", s(["a", "b"]), s(["x", "yz"]))
    t.add("Add", "bfloat16", f([1.5, 2, 300]).astype(BFLOAT16), f([1, 0.01, 1]).astype(BFLOAT16))
    t.add("Mul", "bfloat16", f([1.5, 2, 300]).astype(BFLOAT16), f([1, 0.01, 1]).astype(BFLOAT16))
    t.add("ApproximateEqual", "default", f([1, 2, NAN]), f([1.000001, 2.1, NAN]))
    t.add("ApproximateEqual", "wide", f([1, 2, INF]), f([1.05, 2.2, INF]), tolerance=0.1)
    t.add("ApproximateEqual", "double", d([1, 2]), d([1.000001, 2.1]))
    t.add("ApproximateEqual", "scalar", f(1), f(1))
    t.add("ApproximateEqual", "empty", empty(F32, (0, 2)), empty(F32, (0, 2)))
    t.add("ApproximateEqual", "bad_shapes", f([1, 2]), f([[1, 2]]))


def logical(t):
    for op in ("LogicalAnd", "LogicalOr"):
        t.add(op, "table", b([0, 0, 1, 1]), b([0, 1, 0, 1]))
        t.add(op, "rows", b([[0], [1]]), b([[0, 1, 1]]))
        t.add(op, "scalars", b(True), b(False))
        t.add(op, "scalar_left", b(True), b([[0, 1], [1, 0]]))
        t.add(op, "empty", empty(np.bool_, (0,)), b([1]))
        t.add(op, "bad_shapes", b([1, 1]), b([1, 1, 1]))
    t.add("LogicalNot", "vector", b([0, 1, 1]))
    t.add("LogicalNot", "matrix", b([[0, 1], [1, 0]]))
    t.add("LogicalNot", "scalar", b(True))
    t.add("LogicalNot", "empty", empty(np.bool_, (0, 3)))
    t.add("LogicalNot", "long", b([k % 3 == 0 for k in range(40)]))


def select(t):
    for op in ("Select", "SelectV2"):
        for dtype in (F32, F64, F16, I32, I64, U8):
            t.add(op, "same_" + dtype.__name__, b([[1, 0], [0, 1]]), a(dtype, [[1, 2], [3, 4]]),
                  a(dtype, [[5, 6], [7, 8]]))
        t.add(op, "gradient", b([[1, 0], [0, 1]]), wave(F64, (2, 2)), wave(F64, (2, 2), 1), g=True)
        t.add(op, "bool", b([1, 0]), b([1, 1]), b([0, 0]))
        t.add(op, "string", b([1, 0]), s(["a", "b"]), s(["c", "d"]))
        t.add(op, "scalar_condition", b(False), f([1, 2]), f([3, 4]))
        t.add(op, "scalars", b(True), f(1), f(2))
        t.add(op, "nan_not_chosen", b([1, 0]), f([1, NAN]), f([NAN, 2]))
        t.add(op, "empty", empty(np.bool_, (0, 2)), empty(F32, (0, 2)), empty(F32, (0, 2)))
        t.add(op, "bad_shapes", b([1, 0, 1]), f([1, 2]), f([1, 2]))
    t.add("Select", "vector_condition", b([1, 0]), f([[1, 2, 3], [4, 5, 6]]),
          f([[7, 8, 9], [10, 11, 12]]))
    t.add("Select", "gradient_vector", b([1, 0]), wave(F64, (2, 3)), wave(F64, (2, 3), 1), g=True)
    t.add("Select", "bad_branches", b([1, 0]), f([1, 2]), f([1, 2, 3]))
    t.add("SelectV2", "rows", b([[1], [0]]), f([[1, 2, 3]]), f(9))
    t.add("SelectV2", "rank_4", b([[[1]], [[0]]]), ramp(F32, (3, 1, 1, 2)), ramp(F32, (2, 1), 50))
    t.add("SelectV2", "gradient_rows", b([[1], [0]]), wave(F64, (1, 3)), wave(F64, ()), g=True)


def several(t):
    t.add("AddN", "one", [f([1, 2])])
    t.add("AddN", "two", [f([1, 2]), f([3, 4])])
    t.add("AddN", "three_double", [wave(F64, (2, 2)), wave(F64, (2, 2), 1), wave(F64, (2, 2), 3)],
          g=True)
    t.add("AddN", "ten", [ramp(F32, (5,), k * 0.1, 0.3) for k in range(10)])
    t.add("AddN", "int64", [l([2**62]), l([2**62]), l([5])])
    t.add("AddN", "half", [h([1, 2048]), h([0.5, 1]), h([0.5, 1])])
    t.add("AddN", "scalars", [f(1), f(2), f(3)])
    t.add("AddN", "empty", [empty(F32, (0, 4)), empty(F32, (0, 4))])
    t.add("AddN", "bad_shapes", [f([1, 2]), f([1, 2, 3])])
    t.add("AddN", "bad_rank", [f([1, 2]), f([[1, 2]])])
    t.add("ClipByValue", "scalars", f([-3, -1, 0, 2, 9]), f(-1), f(2))
    t.add("ClipByValue", "tensors", f([-3, 0, 9]), f([-1, 1, 0]), f([1, 2, 3]))
    t.add("ClipByValue", "mixed", f([-3, 0, 9]), f([-1, 1, 0]), f(3))
    t.add("ClipByValue", "int32", i([-3, 0, 9]), i(-1), i(5))
    t.add("ClipByValue", "double", d([-3, 0.5, 9]), d(-1), d(5), g=True)
    t.add("ClipByValue", "extreme", f([INF, -INF, 0.5, -0.0]), f(-1), f(1))
    t.add("ClipByValue", "empty", empty(F32, (0,)), f(0), f(1))
    t.add("ClipByValue", "bad_shapes", f([1, 2, 3]), f([1, 2]), f(3))


def cast(t):
    floats = [-2.7, -0.5, 0.0, 0.5, 1.49999, 2.5, 100.75]
    dtypes = {"float": F32, "double": F64, "half": F16, "int32": I32, "int64": I64, "int16": I16,
              "int8": I8, "uint8": U8, "uint16": U16, "uint32": U32, "uint64": U64,
              "bool": np.bool_, "bfloat16": BFLOAT16}
    for source, source_type in dtypes.items():
        for target in dtypes:
            unsigned = "uint" in target
            values = np.abs(floats) if unsigned and source in ("float", "double", "half",
                                                               "bfloat16") else floats
            if source.startswith("uint"):
                values = np.abs(values)
            t.add("Cast", source + "_to_" + target, np.asarray(values, F64).astype(source_type),
                  DstT=target)
    t.add("Cast", "wraps", i([300, -1, 65537]), DstT="uint8")
    t.add("Cast", "wraps_int64", l([2**32 + 5, -2**31 - 1]), DstT="int32")
    t.add("Cast", "half_edges", f([65504, 65519, 65520, 1e9, -1e9, INF, NAN, 2049, 2051]),
          DstT="half")
    t.add("Cast", "bfloat16_even", f([1.00390625, 1.01171875, 3.4e38, NAN, INF]), DstT="bfloat16")
    t.add("Cast", "bfloat16_truncate", f([1.00390625, 1.01171875, 1.9999]), DstT="bfloat16",
          Truncate=True)
    t.add("Cast", "nan_to_bool", f([NAN, 0, -0.0, 1e-30]), DstT="bool")
    t.add("Cast", "double_overflow", d([1e300, -1e300, 1e-300]), DstT="float")
    t.add("Cast", "int64_rounds", l([2**53 + 1, 16777217, -16777217]), DstT="float")
    t.add("Cast", "gradient", wave(F64, (2, 3)), DstT="double", g=True)
    t.add("Cast", "scalar", f(2.75), DstT="int32")
    t.add("Cast", "empty", empty(F32, (3, 0)), DstT="int64")
    t.add("Cast", "bad_string", s(["1"]), DstT="float")


def cases():
    t = Table()
    unary(t)
    binary(t)
    logical(t)
    select(t)
    several(t)
    cast(t)
    return t.cases
