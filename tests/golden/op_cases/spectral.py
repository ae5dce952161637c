"""Fourier transforms."""
from .common import *  # noqa: F403

COMPLEX, PAIRS = (C64, C128), ((F32, C64), (F64, C128))


def waves(dtype, shape, phase=0.3):
    x = wave(F64, shape, phase=phase) + 1j * wave(F64, shape, phase=phase + 2)
    return x.astype(dtype)


def complex_transforms(t):
    for op, dims in (("FFT", 1), ("FFT2D", 2), ("FFT3D", 3)):
        for name in (op, "I" + op):
            for dtype in COMPLEX:
                tag = dtype.__name__
                shapes = {1: [(1,), (8,), (15,), (2, 7)], 2: [(1, 4), (3, 5), (2, 4, 2)],
                          3: [(2, 2, 3), (2, 1, 3, 2)]}[dims]
                for shape in shapes:
                    t.add(name, "_".join([tag] + [str(n) for n in shape]), waves(dtype, shape),
                          Tcomplex=dtype, tol=10)
                t.add(name, "empty_" + tag, empty(dtype, (0,) * dims), Tcomplex=dtype)
                t.add(name, "empty_batch_" + tag, empty(dtype, (0,) + (2,) * dims),
                      Tcomplex=dtype)
            t.add(name, "nan", np.full((2,) * dims, complex(NAN, NAN), C64))
            t.add(name, "bad_rank", empty(C64, (2,) * (dims - 1)))
    for n in (16, 21, 37, 62):
        t.add("FFT", "length_%d" % n, waves(C128, (n,)), Tcomplex=C128, tol=10)
    t.add("IFFT", "prime", waves(C64, (37,)), tol=10)


def real_transforms(t):
    for dims, suffix in ((1, ""), (2, "2D"), (3, "3D")):
        op, inverse = "RFFT" + suffix, "IRFFT" + suffix
        for real, cplx in PAIRS:
            types = dict(Treal=real, Tcomplex=cplx, tol=10)
            for n in (1, 2, 5, 6):
                shape = (2, 3, 2)[3 - dims:-1] + (n,)
                shape = shape if dims > 1 else (n,)
                half = shape[:-1] + (n // 2 + 1,)
                tag = "%s_%d" % (real.__name__, n)
                t.add(op, tag, wave(real, shape), Const(shape), **types)
                t.add(inverse, tag, waves(cplx, half), Const(shape), **types)
                if n < 5:
                    continue
                t.add(op, "batch_" + tag, wave(real, (2,) + shape), Const(shape), **types)
                t.add(inverse, "batch_" + tag, waves(cplx, (2,) + half), Const(shape), **types)
        whole, half = (4,) * (dims - 1) + (6,), (4,) * (dims - 1) + (4,)
        shorter = (3,) * (dims - 1) + (4,)
        t.add(op, "cut", wave(F32, whole), i(shorter), tol=10)
        t.add(inverse, "cut", waves(C64, half), i(shorter), tol=10)
        t.add(op, "fed", wave(F32, whole), i(whole), tol=10)
        t.add(inverse, "fed", waves(C64, half), i(whole), tol=10)
        for name, x in ((op, wave(F32, whole)), (inverse, waves(C64, half))):
            t.add(name, "bad_longer", x, Const((9,) * dims))
            t.add(name, "bad_negative", x, Const((-1,) * dims))
            t.add(name, "bad_lengths", x, Const((2,) * (dims + 1)))
            t.add(name, "bad_scalar_length", x, Const(2))
            t.add(name, "bad_rank", x[(0,) * dims], Const((2,) * dims))


def cases():
    t = Table()
    complex_transforms(t)
    real_transforms(t)
    return t.cases
