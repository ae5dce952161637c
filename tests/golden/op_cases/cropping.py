"""Boxes cut out of pictures and resized."""
from .common import *  # noqa: F403

BOXES = f([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.9, 0.8, 0.2, 0.1], [-0.3, 0.2, 1.2, 0.6],
           [0.5, 0.5, 0.5, 0.5]])
WHICH = i([0, 1, 0, 1, 0])


def cases():
    t = Table()
    x = wave(F32, (2, 4, 5, 2))
    op = "CropAndResize"
    for method in ("bilinear", "nearest"):
        for name, size in {"smaller": (2, 3), "larger": (5, 7), "one": (1, 1)}.items():
            t.add(op, "%s_%s" % (method, name), x, BOXES, WHICH, Const(size), method=method)
        t.add(op, method + "_outside", x, BOXES, WHICH, Const([3, 2]), method=method,
              extrapolation_value=7.5)
    for dtype in (U8, U16, I8, I16, I32, I64, F16, F64):
        t.add(op, dtype.__name__, np.abs(wave(F32, (1, 3, 3, 1), 50)).astype(dtype), BOXES[:2],
              i([0, 0]), Const([2, 2]))
    t.add(op, "no_boxes", x, empty(F32, (0, 4)), empty(I32, (0,)), Const([2, 2]))
    t.add(op, "nan_box", x, f([[NAN, 0, 1, INF]]), i([0]), Const([2, 2]))
    t.add(op, "bad_index", x, BOXES[:1], i([2]), Const([2, 2]))
    t.add(op, "bad_negative_index", x, BOXES[:1], i([-1]), Const([2, 2]))
    t.add(op, "bad_size", x, BOXES, WHICH, Const([0, 2]))
    t.add(op, "bad_three", x, BOXES, WHICH, i([1, 2, 3]))
    t.add(op, "bad_boxes", x, BOXES[:, :3], WHICH, i([2, 2]))
    t.add(op, "bad_lengths", x, BOXES, WHICH[:3], i([2, 2]))
    t.add(op, "bad_rank", x[0], BOXES, WHICH, i([2, 2]))
    t.add(op, "bad_no_pixels", empty(F32, (2, 0, 5, 1)), BOXES, WHICH, i([2, 2]))
    grads = wave(F32, (5, 2, 3, 2))
    op = "CropAndResizeGradImage"
    for method in ("bilinear", "nearest"):
        t.add(op, method, grads, BOXES, WHICH, Const([2, 4, 5, 2]), method=method, T="float")
        t.add(op, method + "_one", wave(F32, (5, 1, 1, 2)), BOXES, WHICH, Const([2, 4, 5, 2]),
              method=method, T="float")
    for dtype in ("half", "double"):
        t.add(op, dtype, grads, BOXES, WHICH, Const([2, 4, 5, 2]), T=dtype)
    t.add(op, "no_boxes", grads[:0], BOXES[:0], WHICH[:0], Const([1, 2, 2, 2]), T="float")
    t.add(op, "bad_index", grads[:1], BOXES[:1], i([9]), Const([2, 4, 5, 2]), T="float")
    t.add(op, "bad_size", grads, BOXES, WHICH, i([2, 0, 5, 2]), T="float")
    t.add(op, "bad_channels", grads, BOXES, WHICH, i([2, 4, 5, 3]), T="float")
    t.add(op, "bad_lengths", grads[:2], BOXES, WHICH, i([2, 4, 5, 2]), T="float")
    t.add(op, "bad_three", grads, BOXES, WHICH, i([2, 4, 5]), T="float")
    op = "CropAndResizeGradBoxes"
    t.add(op, "float", grads, x, BOXES, WHICH)
    t.add(op, "one", wave(F32, (5, 1, 1, 2)), x, BOXES, WHICH)
    t.add(op, "larger", wave(F32, (2, 5, 6, 2)), x, BOXES[:2], WHICH[:2])
    for dtype in (U8, I64, F16, F64):
        t.add(op, dtype.__name__, grads[..., :1],
              np.abs(wave(F32, (2, 3, 3, 1), 50)).astype(dtype), BOXES, WHICH)
    t.add(op, "no_boxes", grads[:0], x, BOXES[:0], WHICH[:0])
    t.add(op, "bad_index", grads[:1], x, BOXES[:1], i([-3]))
    t.add(op, "bad_channels", grads[..., :1], x, BOXES, WHICH)
    t.add(op, "bad_lengths", grads[:2], x, BOXES, WHICH)
    return t.cases
