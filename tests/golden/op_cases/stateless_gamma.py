"""Gamma and Poisson numbers that follow from a seed."""
from .common import *  # noqa: F403

C = Const


def key(k=7, counter=(1, 2), algorithm=1):
    return a(U64, [k]), a(U64, counter), i(algorithm)


def gamma(t):
    v2, v3 = "StatelessRandomGammaV2", "StatelessRandomGammaV3"
    for dtype in (F16, F32, F64):
        name, alpha = dtype.__name__, a(dtype, [0.3, 1, 4.5])
        t.add(v2, name, C([2, 3]), l([1, 2]), alpha)
        t.add(v3, name, C([2, 3]), *key(), alpha)
    alpha = d([0.3, 1.5, 4.5])
    t.add(v2, "rows", C([4, 3]), l([1, 2]), alpha)
    t.add(v3, "rows", C([2, 2, 3]), *key(), alpha)
    t.add(v2, "one_alpha", C([5]), l([1, 2]), d(0.7))
    for op, more in ((v2, (i([3, -4]),)), (v3, key(9, (-1 % 2**64, 3), 3))):
        t.add(op, "scalar", C(empty(I32, (0,))), *more, f(2.5))
        t.add(op, "long_shape", l([3, 2, 1]), *more, f([[2.5], [0.1]]))
        t.add(op, "empty", C([0, 2]), *more, f([1, 2]))
        t.add(op, "no_alpha", C([3, 0]), *more, empty(F32, (0,)))
        t.add(op, "large", C([3, 2]), *more, d([1e6, 1e-3]))
        t.add(op, "bad_shape", C([2, 3]), *more, f([1, 2]))
        t.add(op, "bad_rank", C([2]), *more, f([[1, 2]]))
        t.add(op, "bad_dimension", C([-2, 2]), *more, f([1, 2]))
    t.add(v2, "bad_seed", C([2]), l([1, 2, 3]), f([1, 2]))
    t.add(v3, "bad_key", C([2]), a(U64, [1, 2]), a(U64, [1, 2]), i(1), f([1, 2]))
    t.add(v3, "bad_algorithm", C([2]), *key(algorithm=8), f([1, 2]))


def poisson(t):
    op = "StatelessRandomPoisson"
    for rate in (F16, F32, F64, I32, I64):
        t.add(op, "rate_" + rate.__name__, C([3, 2]), l([1, 2]), a(rate, [2, 25]), dtype="int64")
    for dtype in ("half", "float", "double", "int32"):
        t.add(op, "to_" + dtype, C([3, 2]), l([1, 2]), f([0.5, 12.25]), dtype=dtype)
    t.add(op, "scalar", C(empty(I32, (0,))), i([5, 6]), f(8), dtype="float")
    t.add(op, "empty", C([0]), i([5, 6]), f(8), dtype="float")
    t.add(op, "zero", C([2]), i([5, 6]), f(0), dtype="float")
    t.add(op, "bad_shape", C([2, 3]), i([5, 6]), f([1, 2]), dtype="float")
    t.add(op, "bad_seed", C([2]), i([5]), f([1, 2]), dtype="float")


def cases():
    t = Table()
    gamma(t)
    poisson(t)
    return t.cases
