"""Colors of pictures."""
from .common import *  # noqa: F403

RGB = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0], [1, 1, 1],
       [0.5, 0.25, 0.75], [0.2, 0.9, 0.4], [0.7, 0.1, 0.3], [0.3, 0.3, 0.6]]


def cases():
    t = Table()
    for op in ("RGBToHSV", "HSVToRGB"):
        for dtype in (F32, F64, F16) + ((BFLOAT16,) if BFLOAT16 else ()):
            t.add(op, np.dtype(dtype).name, np.asarray(RGB).astype(dtype))
        t.add(op, "pictures", np.abs(wave(F32, (2, 3, 2, 3), 0.5)))
        t.add(op, "pixel", f([0.3, 0.8, 0.1]))
        t.add(op, "empty", empty(F32, (0, 3)))
        t.add(op, "out_of_range", f([[2, -1, 0.5], [-0.25, 3, 1], [-1, -2, -3]]))
        t.add(op, "bad_scalar", f(1))
        t.add(op, "bad_channels", f([1, 2]))
    picture = f(RGB, (3, 4, 3))
    for op, amounts in (("AdjustHue", (0, 0.1, -0.3, 0.5, 1)),
                        ("AdjustSaturation", (0, 0.5, 1, 2.5, -1))):
        for k, amount in enumerate(amounts):
            t.add(op, "amount_%d" % k, picture, f(amount))
        t.add(op, "half", picture.astype(F16), f(amounts[1]))
        t.add(op, "batch", np.abs(wave(F32, (2, 2, 2, 3), 0.5)), f(amounts[2]))
        t.add(op, "empty", empty(F32, (0, 2, 3)), f(0.5))
        t.add(op, "bad_channels", wave(F32, (2, 2, 4)), f(0.5))
        t.add(op, "bad_rank", f(RGB), f(0.5))
        t.add(op, "bad_vector", picture, f([0.5]))
    op = "AdjustContrastv2"
    for k, amount in enumerate((0, 0.5, 1, 2, -1)):
        t.add(op, "amount_%d" % k, picture, f(amount))
    t.add(op, "half", picture.astype(F16), f(2))
    t.add(op, "batch", wave(F32, (2, 1, 3, 2, 1)), f(1.5))
    t.add(op, "empty", empty(F32, (0, 2, 3, 1)), f(1.5))
    t.add(op, "bad_rank", f(RGB), f(0.5))
    t.add(op, "bad_vector", picture, f([0.5]))
    op = "AdjustContrast"
    for dtype in (U8, I8, I16, I32, I64, F32, F64):
        t.add(op, dtype.__name__, np.abs(wave(F32, (2, 3, 2), 50)).astype(dtype), f(2), f(10),
              f(60), producer=1)
    t.add(op, "limits_exchanged", picture, f(2), f(0.75), f(0.25), producer=1)
    t.add(op, "bad_vector", picture, f([0.5]), f(0), f(1), producer=1)
    return t.cases
