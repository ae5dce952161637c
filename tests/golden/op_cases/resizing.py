"""Pictures resized, and the gradients of that."""
from .common import *  # noqa: F403

ALL = (I8, U8, I16, U16, I32, I64, F16, F32, F64)
SIZES = {"smaller": (2, 3), "larger": (7, 9), "same": (4, 5), "one": (1, 1), "mixed": (9, 2)}
MODES = {"plain": {}, "corners": {"align_corners": True}, "centers": {"half_pixel_centers": True}}


def forward(t, op, modes):
    x = wave(F32, (1, 4, 5, 2))
    for mode, options in modes.items():
        for name, size in SIZES.items():
            t.add(op, "%s_%s" % (mode, name), x, Const(size), **options)
        t.add(op, mode + "_batch", wave(F32, (2, 3, 3, 3)), i([4, 2]), **options)
        t.add(op, mode + "_from_one", wave(F32, (1, 1, 1, 2)), Const([2, 3]), **options)
        t.add(op, mode + "_tall", wave(F32, (1, 11, 2, 1)), Const([3, 5]), **options)
    for dtype in ALL + ((BFLOAT16,) if BFLOAT16 else ()):
        values = np.abs(wave(F32, (1, 2, 3, 1), 60)).astype(dtype)
        t.add(op, np.dtype(dtype).name, values, Const([3, 4]))
    t.add(op, "empty_batch", empty(F32, (0, 2, 3, 1)), Const([2, 2]))
    t.add(op, "extreme", f([INF, -INF, NAN, 1e38, -1e38, 0], (1, 2, 3, 1)), Const([3, 3]))
    t.add(op, "bad_size", x, Const([0, 3]))
    t.add(op, "bad_negative", x, i([3, -1]))
    t.add(op, "bad_three", x, i([3, 1, 1]))
    t.add(op, "bad_scalar_size", x, i(3))
    t.add(op, "bad_rank", x[0], i([3, 1]))
    t.add(op, "bad_no_channels", empty(F32, (1, 2, 2, 0)), i([3, 1]))
    t.add(op, "bad_no_pixels", empty(F32, (1, 0, 2, 1)), i([3, 1]))
    if "centers" in modes:
        t.add(op, "bad_modes", x, i([2, 2]), align_corners=True, half_pixel_centers=True)


def gradients(t):
    for mode, options in MODES.items():
        for name, size in SIZES.items():
            grads = wave(F32, (1,) + size + (2,))
            for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
                t.add(op, "%s_%s" % (mode, name), grads, wave(F32, (1, 4, 5, 2)), **options)
            t.add("ResizeNearestNeighborGrad", "%s_%s" % (mode, name), grads, Const([4, 5]),
                  **options)
        t.add("ResizeNearestNeighbor", mode + "_gradient", wave(F64, (2, 3, 2, 2)), Const([4, 3]),
              g=True, **options)
    for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
        dtypes = (F64, F16) + ((BFLOAT16,) if BFLOAT16 else ())
        for dtype in dtypes if op == "ResizeBilinearGrad" else (F64,):
            t.add(op, np.dtype(dtype).name, wave(F32, (2, 3, 4, 1)),
                  wave(F32, (2, 2, 2, 1)).astype(dtype))
        t.add(op, "empty_batch", empty(F32, (0, 2, 2, 1)), empty(F32, (0, 3, 3, 1)))
        t.add(op, "bad_rank", wave(F32, (2, 2, 1)), wave(F32, (1, 2, 2, 1)))
        t.add(op, "bad_image_rank", wave(F32, (1, 2, 2, 1)), wave(F32, (2, 2, 1)))
    for dtype in (U8, I8, I32, F16, F64) + ((BFLOAT16,) if BFLOAT16 else ()):
        t.add("ResizeNearestNeighborGrad", np.dtype(dtype).name,
              np.abs(wave(F32, (1, 3, 4, 1), 5)).astype(dtype), i([2, 2]))
    t.add("ResizeNearestNeighborGrad", "bad_size", wave(F32, (1, 2, 2, 1)), i([0, 2]))
    t.add("ResizeNearestNeighborGrad", "bad_rank", wave(F32, (2, 2, 1)), i([2, 2]))
    t.add("ResizeNearestNeighborGrad", "bad_three", wave(F32, (1, 2, 2, 1)), i([2, 2, 2]))


def cases():
    t = Table()
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
        forward(t, op, MODES)
    forward(t, "ResizeArea", {k: v for k, v in MODES.items() if k != "centers"})
    gradients(t)
    return sorted(t.cases, key=lambda case: case.op)
