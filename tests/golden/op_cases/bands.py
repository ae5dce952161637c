"""Bands of matrices."""
from .common import *  # noqa: F403

C = Const
ALIGNS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
KS = (0, 1, -2, [0, 0], [-1, 1], [1, 2], [-2, -1], [-2, 3])


def versions(op):
    yield op + "V2", {}
    yield op + "V3", {}
    for align in ALIGNS:
        yield op + "V3", dict(align=align)


def tag_of(k, attrs):
    words = "_".join(str(x).replace("-", "m") for x in np.ravel(k))
    return words + ("_" + attrs["align"] if attrs else "")


def part(t):
    for op, attrs in versions("MatrixDiagPart"):
        few = KS if not attrs else ([-1, 1], [-2, 3])
        for k in few:
            t.add(op, tag_of(k, attrs), ramp(F32, (3, 4)), C(k), f(-9), **attrs)
    for op in ("MatrixDiagPartV2", "MatrixDiagPartV3"):
        t.add(op, "batch", ramp(I32, (2, 2, 3, 2)), C([-1, 0]), i(7))
        for dtype in (F16, F64, I8, U8, I16, I64, C64, C128, np.bool_):
            t.add(op, np.dtype(dtype).name, ramp(I32, (2, 3)).astype(dtype), C([0, 1]),
                  a(dtype, 0))
        t.add(op, "gradient", ramp(F64, (2, 3, 4)), C([-1, 2]), C(0, F64), g=True)
        t.add(op, "gradient_one", ramp(F64, (3, 4)), C(1), C(0, F64), g=True)
        t.add(op, "empty", empty(F32, (0, 3, 4)), C([-1, 1]), f(0))
        t.add(op, "no_rows", empty(F32, (0, 4)), C(0), f(0))
        t.add(op, "bad_order", ramp(F32, (3, 4)), C([1, 0]), f(0))
        t.add(op, "bad_k", ramp(F32, (3, 4)), C(4), f(0))
        t.add(op, "bad_low_k", ramp(F32, (3, 4)), C([-3, 0]), f(0))
        t.add(op, "bad_three", ramp(F32, (3, 4)), C([0, 1, 2]), f(0))
        t.add(op, "bad_rank", ramp(F32, (3,)), C(0), f(0))


def matrices(t):
    sizes = {0: (3,), 1: (3,), -2: (3,)}
    for op, attrs in versions("MatrixDiag"):
        few = KS if not attrs else ([-1, 1], [-2, 3])
        for k in few:
            count = np.ravel(k)[-1] - np.ravel(k)[0] + 1
            shape = sizes[k] if np.ndim(k) == 0 else (3,) if count == 1 else (count, 3)
            t.add(op, tag_of(k, attrs), ramp(F32, shape), C(k), C(-1), C(-1), f(0), **attrs)
    for op in ("MatrixDiagV2", "MatrixDiagV3"):
        diagonal = ramp(F32, (2, 3))
        for rows, columns in ((3, -1), (-1, 3), (3, 5), (4, 3), (3, 3)):
            t.add(op, "sized_%d_%s" % (rows, str(columns).replace("-", "m")), diagonal, C(0),
                  C(rows), C(columns), f(9))
        t.add(op, "batch", ramp(I32, (2, 2, 3)), C([-1, 0]), C(3), C(3), i(7))
        for dtype in (F16, F64, I8, U8, I16, I64, C64, C128, np.bool_):
            t.add(op, np.dtype(dtype).name, ramp(I32, (2, 3)).astype(dtype), C([0, 1]), C(3), C(4),
                  a(dtype, 0))
        t.add(op, "gradient", ramp(F64, (2, 3, 3)), C([-1, 1]), C(-1), C(-1), C(0, F64), g=True)
        t.add(op, "gradient_one", ramp(F64, (3,)), C(-1), C(-1), C(-1), C(0, F64), g=True)
        t.add(op, "empty", empty(F32, (0, 2, 3)), C([0, 1]), C(3), C(4), f(0))
        t.add(op, "bad_rows", diagonal, C(0), C(2), C(-1), f(0))
        t.add(op, "bad_columns", diagonal, C(1), C(-1), C(3), f(0))
        t.add(op, "bad_both", diagonal, C(0), C(5), C(6), f(0))
        t.add(op, "bad_count", diagonal, C([-1, 1]), C(-1), C(-1), f(0))
        t.add(op, "bad_order", diagonal, C([1, 0]), C(-1), C(-1), f(0))
        t.add(op, "bad_scalar", f(1), C(0), C(-1), C(-1), f(0))


def set_diag(t):
    shapes = {0: (3,), 1: (3,), -2: (1,), (0, 0): (3,), (-1, 1): (3, 3), (1, 2): (2, 3),
              (-2, -1): (2, 2), (-2, 3): (6, 3)}
    for op, attrs in versions("MatrixSetDiag"):
        few = KS if not attrs else ([-1, 1], [-2, 3])
        for k in few:
            shape = shapes[k if np.ndim(k) == 0 else tuple(k)]
            t.add(op, tag_of(k, attrs), ramp(F32, (3, 4)), ramp(F32, shape, -1, -1), C(k), **attrs)
    for op in ("MatrixSetDiagV2", "MatrixSetDiagV3"):
        for dtype in (F16, F64, I8, U8, I16, I64, C64, C128, np.bool_):
            t.add(op, np.dtype(dtype).name, empty(dtype, (2, 3)),
                  ramp(I32, (2, 2)).astype(dtype), C([0, 1]))
        t.add(op, "batch", ramp(I32, (2, 2, 3, 2)), empty(I32, (2, 2, 2, 2)), C([-1, 0]))
        t.add(op, "gradient", ramp(F64, (2, 3, 4)), ramp(F64, (2, 3, 3), -1, -1), C([-1, 1]),
              g=True)
        t.add(op, "gradient_one", ramp(F64, (3, 4)), ramp(F64, (3,), -1, -1), C(1), g=True)
        t.add(op, "empty", empty(F32, (0, 3, 4)), empty(F32, (0, 3)), C(0))
        t.add(op, "bad_length", ramp(F32, (3, 4)), ramp(F32, (2,)), C(0))
        t.add(op, "bad_count", ramp(F32, (3, 4)), ramp(F32, (2, 3)), C([-1, 1]))
        t.add(op, "bad_k", ramp(F32, (3, 4)), ramp(F32, (1,)), C(5))
        t.add(op, "bad_order", ramp(F32, (3, 4)), ramp(F32, (1,)), C([1, -1]))


def cases():
    t = Table()
    part(t)
    matrices(t)
    set_diag(t)
    return t.cases
