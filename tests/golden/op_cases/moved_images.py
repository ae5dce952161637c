"""Pictures scaled, moved and projected."""
from .common import *  # noqa: F403

KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
           "mitchellcubic")


def add_scaled(t):
    op, grad = "ScaleAndTranslate", "ScaleAndTranslateGrad"
    x = wave(F32, (1, 5, 4, 2))
    for kernel in KERNELS:
        t.add(op, kernel, x, Const([3, 6]), f([0.6, 1.5]), f([0.1, -0.2]), kernel_type=kernel,
              tol=4)
        t.add(op, kernel + "_sharp", x, Const([3, 3]), f([0.6, 0.7]), f([0, 0.5]),
              kernel_type=kernel, antialias=False)
        t.add(grad, kernel, wave(F32, (1, 3, 6, 2)), x, f([0.6, 1.5]), f([0.1, -0.2]),
              kernel_type=kernel)
    dtypes = (U8, I8, I16, U16, I32, I64, F16, F64) + ((BFLOAT16,) if BFLOAT16 else ())
    for dtype in dtypes:
        t.add(op, np.dtype(dtype).name, np.abs(wave(F32, (1, 2, 3, 1), 60)).astype(dtype),
              Const([3, 3]), f([1.5, 1]), f([0, 0]))
    t.add(op, "batch", wave(F32, (2, 2, 2, 3)), i([3, 2]), f([1.5, 1]), f([0, 0]))
    t.add(op, "beyond", x, i([4, 5]), f([1, 1]), f([10, -1]))
    t.add(op, "one", f(3, (1, 1, 1, 1)), i([2, 3]), f([2, 3]), f([0, 0]))
    t.add(op, "tiny", x, i([2, 2]), f([0.01, 0.4]), f([0, 0]))
    t.add(op, "empty", empty(F32, (0, 2, 2, 1)), i([3, 2]), f([1.5, 1]), f([0, 0]))
    t.add(op, "odd", f([NAN, 1, INF, 2, -INF, 3], (1, 2, 3, 1)), i([2, 3]), f([1, 1]), f([0, 0]))
    t.add(op, "gradient", wave(F32, (1, 3, 2, 1)), Const([2, 3]), Const(f([0.6, 1.5])),
          Const(f([0, 0])), g=True)
    t.add(op, "bad_kernel", x, i([2, 2]), f([1, 1]), f([0, 0]), kernel_type="none")
    t.add(op, "bad_rank", x[0], i([2, 2]), f([1, 1]), f([0, 0]))
    t.add(op, "bad_size", x, i([0, 2]), f([1, 1]), f([0, 0]))
    t.add(op, "bad_three", x, i([2, 2, 2]), f([1, 1]), f([0, 0]))
    t.add(op, "bad_scale", x, i([2, 2]), f([0, 1]), f([0, 0]))
    t.add(op, "bad_scale_rank", x, i([2, 2]), f(1), f([0, 0]))
    t.add(op, "bad_translation", x, i([2, 2]), f([1, 1]), f([0, 0, 0]))
    t.add(op, "bad_channels", empty(F32, (1, 2, 2, 0)), i([2, 2]), f([1, 1]), f([0, 0]))
    t.add(grad, "sharp", wave(F32, (2, 3, 3, 1)), wave(F32, (2, 4, 4, 1)), f([0.7, 0.8]),
          f([0.1, 0]), antialias=False)
    t.add(grad, "bad_rank", x[0], x, f([1, 1]), f([0, 0]))
    t.add(grad, "bad_scale", x, x, f([-1, 1]), f([0, 0]))


def add_projected(t):
    x = ramp(F32, (2, 4, 5, 1))
    turn = [0.8, -0.6, 1.7, 0.6, 0.8, -1.2, 0, 0]
    warp = [1.1, 0.1, -0.7, -0.2, 0.9, 0.4, 0.05, -0.03]
    for interpolation in ("NEAREST", "BILINEAR"):
        for tag, rows in (("turned", [turn]), ("warped", [warp]), ("each", [turn, warp])):
            for op, fills, more in (
                    ("ImageProjectiveTransformV2", ("CONSTANT", "REFLECT", "WRAP"), ()),
                    ("ImageProjectiveTransformV3", ("CONSTANT", "REFLECT", "WRAP", "NEAREST"),
                     (f(7.5),))):
                for fill in fills:
                    t.add(op, "%s_%s_%s" % (tag, interpolation.lower(), fill.lower()), x, f(rows),
                          Const([3, 6]), *more, interpolation=interpolation, fill_mode=fill)
    for op, more in (("ImageProjectiveTransformV2", ()), ("ImageProjectiveTransformV3", (f(3.5),))):
        dtypes = (U8, I32, I64, F16, F64) + ((BFLOAT16,) if BFLOAT16 else ())
        near = dict(interpolation="NEAREST")
        for dtype in dtypes:
            t.add(op, np.dtype(dtype).name, x[:1, :2].astype(dtype), f([turn]), i([2, 3]), *more,
                  interpolation="BILINEAR")
        t.add(op, "channels", wave(F32, (1, 2, 3, 3)), f([warp]), i([3, 2]), *more, **near)
        t.add(op, "infinite", x, f([[1, 0, 0, 0, 1, 0, -1, 0]]), i([2, 3]), *more, **near)
        t.add(op, "empty", empty(F32, (0, 4, 5, 1)), f([turn]), i([2, 3]), *more, **near)
        t.add(op, "gradient", x[:1, :3, :3].astype(F64), Const(f([[1, 0, 1, 0, 1, 0, 0, 0]])),
              Const([3, 3]), *[Const(m) for m in more], g=not more, **near)
        t.add(op, "bad_rank", x[0], f([turn]), i([2, 3]), *more, **near)
        t.add(op, "bad_transforms", x, f([turn[:7]]), i([2, 3]), *more, **near)
        t.add(op, "bad_count", x, f([turn] * 3), i([2, 3]), *more, **near)
        t.add(op, "bad_size", x, f([turn]), i([0, 3]), *more, **near)
        t.add(op, "bad_three", x, f([turn]), i([2, 3, 1]), *more, **near)


def cases():
    t = Table()
    add_scaled(t)
    add_projected(t)
    return sorted(t.cases, key=lambda case: case.op)
