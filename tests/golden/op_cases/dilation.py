"""Grayscale dilation of images, and patches of images."""
from .common import *  # noqa: F403

NUMBERS = (F32, F64, F16, BFLOAT16, I8, I16, I32, I64, U8, U16, U32, U64)
PLAIN = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}


def mixed(dtype, shape):
    count = int(np.prod(shape, dtype=int))
    return ((np.arange(count) * 7) % 11).astype(dtype).reshape(shape)


def dilation(t):
    def all_three(tag, x, k, dy, g=False, **attrs):
        attrs = {**PLAIN, **attrs}
        t.add("Dilation2D", tag, x, k, g=g, **attrs)
        t.add("Dilation2DBackpropInput", tag, x, k, dy, **attrs)
        t.add("Dilation2DBackpropFilter", tag, x, k, dy, **attrs)

    for dtype in NUMBERS:
        all_three(np.dtype(dtype).name, mixed(dtype, (2, 3, 3, 2)), mixed(dtype, (2, 2, 2)),
                  mixed(dtype, (2, 2, 2, 2)))
    all_three("same", mixed(F32, (1, 4, 5, 1)), mixed(F32, (3, 2, 1)), mixed(F32, (1, 2, 5, 1)),
              padding="SAME", strides=[1, 2, 1, 1])
    all_three("rates", mixed(F32, (1, 4, 5, 1)), mixed(F32, (2, 2, 1)), mixed(F32, (1, 2, 3, 1)),
              rates=[1, 2, 2, 1])
    all_three("smallest", f([[[[5]]]]), f([[[2]]]), f([[[[3]]]]))
    all_three("nan", f([[[[NAN], [1], [NAN], [NAN], [-INF]]]]), f([[[1], [2]]]),
              f([[[[1], [2], [3], [4]]]]))
    all_three("gradient", wave(F64, (1, 3, 4, 2)), wave(F64, (2, 2, 2), 0.7, 0.1),
              wave(F64, (1, 2, 3, 2)), g=True)
    x, k = mixed(F32, (1, 3, 3, 2)), mixed(F32, (2, 2, 2))
    dy = mixed(F32, (1, 2, 2, 2))
    for op, more in (("Dilation2D", []), ("Dilation2DBackpropInput", [dy]),
                     ("Dilation2DBackpropFilter", [dy])):
        def bad(tag, *inputs, **attrs):
            t.add(op, "bad_" + tag, *inputs, **{**PLAIN, **attrs})  # noqa: B023

        bad("rank", x[0], k, *more)
        bad("filter_rank", x, k[0], *more)
        bad("depth", x, k[..., :1], *more)
        bad("stride", x, k, *more, strides=[1, 0, 1, 1])
        bad("batch_stride", x, k, *more, strides=[2, 1, 1, 1])
        bad("batch_rate", x, k, *more, rates=[2, 1, 1, 1])
        bad("count", x, k, *more, rates=[1, 1, 1, 1, 1])
        if more:
            bad("grad", x, k, dy[:, :1])
            bad("rate", x, k, *more, rates=[1, -1, 1, 1])
        else:
            bad("window", x, mixed(F32, (5, 5, 2)))


def patches(t):
    def add(tag, x, rows, columns, row_stride=1, column_stride=1, row_rate=1, column_rate=1,
            padding="VALID", g=False, **more):
        t.add("ExtractImagePatches", tag, x, g=g,
              **{"ksizes": [1, rows, columns, 1], "strides": [1, row_stride, column_stride, 1],
                 "rates": [1, row_rate, column_rate, 1], "padding": padding, **more})

    for dtype in (*NUMBERS, np.complex64, np.complex128):
        add(np.dtype(dtype).name, mixed(dtype, (2, 2, 3, 2)), 2, 2)
    x = mixed(F32, (2, 4, 5, 2))
    add("same", x, 3, 2, 2, 2, padding="SAME")
    add("rates", x, 2, 2, 1, 1, 3, 2)
    add("wide_stride", x, 1, 2, 2, 3)
    add("smallest", f([[[[5]]]]), 1, 1)
    add("beyond", x[:1, :2, :2], 4, 3, padding="SAME")
    add("no_room", x, 5, 1)
    add("empty", x[:0], 2, 2)
    add("gradient", wave(F64, (2, 3, 3, 2)), 2, 2, g=True)
    add("gradient_same", wave(F64, (1, 3, 4, 1)), 3, 2, 2, 1, g=True, padding="SAME")
    add("gradient_rates", wave(F64, (1, 3, 5, 1)), 2, 2, 1, 1, 2, 3, g=True)
    add("bad_rank", x[0], 1, 1)
    add("bad_zero", x, 0, 1)
    add("bad_stride", x, 1, 1, -1)
    add("bad_rate", x, 1, 1, 1, 1, 0)
    add("bad_depth", x, 1, 1, ksizes=[1, 1, 1, 2])
    add("bad_batch", x, 1, 1, strides=[2, 1, 1, 1])
    add("bad_window", x, 9, 9)


def cases():
    t = Table()
    dilation(t)
    patches(t)
    for case in t.cases:
        case.tolerance = 0 if case.op == "ExtractImagePatches" else 1
    return t.cases
