"""Complex numbers: their parts, and the ops of real numbers on them. Gradients of real results go
to both parts."""
from .common import *  # noqa: F403

C = Const
C64, C128 = np.complex64, np.complex128
X = [1 + 2j, -0.5 + 0.25j, 2 - 1j, -1.5 - 0.75j, 0.3 + 0j, 0.4j]
Y = [0.5 - 1j, 2 + 0.5j, -1 - 1j, 1 + 0.25j, -0.7j, 2 + 0j]
UNARY = ("Neg", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan",
         "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Sigmoid",
         "Reciprocal", "Inv", "Sign")
NO_GRADIENT = ("Sign",)
BINARY = ("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "Xdivy", "Xlogy",
          "Pow", "SquaredDifference", "Equal", "NotEqual")
DIFFERENTIABLE = ("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "Pow")
GRADS = ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")


def z(values, shape=None):
    return a(C128, values, shape)


def parts(t):
    for op in ("Real", "Imag", "Angle", "ComplexAbs"):
        for dtype, out in ((C64, F32), (C128, F64)):
            t.add(op, dtype.__name__, a(dtype, X), Tout=out)
        t.add(op, "scalar", a(C64, 3 - 4j))
        t.add(op, "empty", empty(C64, (0, 2)))
        t.add(op, "infinite", a(C64, [complex(INF, 1), complex(-2, 0)]))
        t.add(op, "long", np.resize(a(C64, X), 37))
        t.add(op, "gradient", z(X, (2, 3)), Tout=F64, g=True)
    t.add("ComplexAbs", "zero", a(C64, [0, 0]))
    for dtype in (C64, C128):
        t.add("Conj", dtype.__name__, a(dtype, X))
        t.add("ConjugateTranspose", dtype.__name__, a(dtype, X, (2, 3)), C([1, 0]))
    t.add("Conj", "scalar", a(C64, 3 - 4j))
    t.add("Conj", "empty", empty(C64, (0,)))
    t.add("Conj", "long", np.resize(a(C64, X), 37))
    t.add("Conj", "gradient", z(X), g=True)
    t.add("ConjugateTranspose", "gradient_complex", z(X, (2, 3)), C([1, 0]), g=True)
    for dtype, out in ((F32, C64), (F64, C128)):
        t.add("Complex", dtype.__name__, a(dtype, [1, 2, 3]), a(dtype, [0, -1, 0.5]), Tout=out)
    t.add("Complex", "broadcast", f([[1], [2]]), f([3, 4]))
    t.add("Complex", "scalars", f(1), f(2))
    t.add("Complex", "empty", empty(F32, (0,)), f([1]))
    t.add("Complex", "infinite", f([2, INF]), f([1, -INF]))
    t.add("Complex", "gradient", d([[1], [2]]), d([3, 4, 5]), Tout=C128, g=True)
    t.add("Complex", "bad_shapes", f([1, 2]), f([1, 2, 3]))


def arithmetic(t):
    for op in UNARY:
        t.add(op, "complex64", a(C64, X))
        if op == "Sign":  # a rounding more or less
            t.cases.pop()
            t.add(op, "complex64", a(C64, X), tol=1)
        t.add(op, "complex128", z(X, (2, 3)), tol=1)
        if op not in NO_GRADIENT:  # away from the cuts
            t.add(op, "gradient_complex", z(X[:4]), g=True)
    for op in BINARY:
        for dtype in (C64, C128):
            t.add(op, dtype.__name__, a(dtype, X), a(dtype, Y))
        t.add(op, "complex_rows", z(X, (3, 2)), z(Y[:2]))
        t.add(op, "complex_zero", z([0, 0, 1]), z([1, 1 + 1j, 2j]))
    for op in DIFFERENTIABLE:
        t.add(op, "gradient_complex", z(X, (3, 2)), z(Y[:2]), g=True)
    for op in GRADS:
        for dtype in (C64, C128):
            t.add(op, dtype.__name__, a(dtype, X), a(dtype, Y),
                  producer=16 if op == "InvGrad" else 21)
    t.add("TanhGrad", "gradient_complex", z(X), z(Y), g=True)


def reductions(t):
    for op in ("Sum", "Mean", "Prod"):
        for dtype in (C64, C128):
            t.add(op, dtype.__name__, a(dtype, X, (2, 3)), C([1]))
        t.add(op, "complex_all", z(X, (2, 3)), C([0, 1]))
        t.add(op, "complex_empty", empty(C64, (0, 2)), C([1]))
        t.add(op, "gradient_complex", z(X, (2, 3)), C([1]), g=True)
        t.add(op, "complex_long", np.resize(a(C64, [1, 1j, -1, -1j, 1 + 0j]), (4, 40)), C([0]))
    t.add("EuclideanNorm", "complex64", a(C64, X, (2, 3)), C([1]))
    for op in ("Cumsum", "Cumprod"):
        for dtype in (C64, C128):
            t.add(op, dtype.__name__, a(dtype, X, (2, 3)), C(1))
        t.add(op, "complex_reverse", z(X, (2, 3)), C(0), reverse=True, exclusive=True)
    t.add("Cumsum", "gradient_complex", z(X, (2, 3)), C(1), g=True)
    t.add("MatMul", "complex64", a(C64, X, (2, 3)), a(C64, Y, (3, 2)))
    t.add("MatMul", "gradient_complex", z(X, (2, 3)), z(Y, (3, 2)), g=True)
    t.add("BatchMatMulV2", "adjoint_complex", z(X, (1, 3, 2)), z(Y, (1, 3, 2)), adj_x=True, g=True)
    t.add("AddN", "complex64", [a(C64, X), a(C64, Y)])
    t.add("Transpose", "gradient_complex", z(X, (2, 3)), C([1, 0]), g=True)
    t.add("SegmentSum", "gradient_complex", z(X, (3, 2)), i([0, 0, 1]), g=True)


def casts(t):
    types = (F32, F64, F16, I32, I64, U8, np.bool_, C64, C128)
    for to in types:
        t.add("Cast", "complex64_to_" + to.__name__, a(C64, [1.5 + 2j, 0, 3j, 200 - 1j]), DstT=to)
        t.add("Cast", "complex128_to_" + to.__name__, z([1.5 + 2j, 0, 3j, 200 - 1j]), DstT=to)
    for start in types[:-2]:
        t.add("Cast", start.__name__ + "_to_complex", a(start, [1, 0, 1]), DstT=C128)
        t.add("Cast", start.__name__ + "_to_complex64", a(start, [1, 0, 1]), DstT=C64)
    t.add("Cast", "gradient_to_complex", d([1, 2]), DstT=C128, g=True)
    t.add("Cast", "gradient_from_complex", z([1 + 1j, 2]), DstT=F64, g=True)


def cases():
    t = Table()
    parts(t)
    arithmetic(t)
    reductions(t)
    casts(t)
    return t.cases
