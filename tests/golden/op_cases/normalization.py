"""Batch normalization and local response normalization, with their gradients."""
from .common import *  # noqa: F403

HALF_TYPES = (F32, F16, BFLOAT16)


def batch_norm(t, version):
    op, grad = "FusedBatchNorm" + version, "FusedBatchNormGrad" + version
    x = wave(F32, (2, 2, 3, 2))
    dy = wave(F32, (2, 2, 3, 2), 1.0, 0.7)
    scale, offset = f([1.5, -2]), f([0.5, 3])
    mean, variance, none = f([0.25, -0.5]), f([2, 0.5]), empty(F32, (0,))
    v3 = version == "V3"
    more = [f(0)] if v3 else []
    # TensorFlow leaves these outputs uninitialised outside training
    given = {3: mean, 4: variance}

    def second(values):
        return np.moveaxis(values, -1, 1)

    t.add(op, "training", x, scale, offset, none, none)
    t.add(op, "given", x, scale, offset, mean, variance, is_training=False, instead=given)
    t.add(op, "epsilon", x, scale, offset, none, none, epsilon=0.5)
    t.add(op, "averaged", x, scale, offset, mean, variance, exponential_avg_factor=0.25)
    t.add(op, "one_element", x[:1, :1, :1], scale, offset, none, none)
    t.add(op, "one_channel", x[..., :1], scale[:1], offset[:1], none, none)
    t.add(op, "many_channels", wave(F32, (2, 1, 2, 19)), wave(F32, (19,)), wave(F32, (19,), 1),
          none, none)
    t.add(op, "nchw", second(x), scale, offset, none, none, data_format="NCHW")
    t.add(op, "nchw_given", second(x), scale, offset, mean, variance, data_format="NCHW",
          is_training=False, instead=given)
    t.add(op, "empty", x[:0], scale, offset, none, none,
          instead={3: f([NAN, NAN]), 4: f([NAN, NAN])})
    t.add(op, "bad_rank", x[0, 0], scale, offset, none, none)
    t.add(op, "bad_scale", x, scale[:1], offset, none, none)
    t.add(op, "bad_offset", x, scale, f([1, 2, 3]), none, none)
    t.add(op, "bad_mean", x, scale, offset, none, none, is_training=False)
    t.add(op, "bad_averaged", x, scale, offset, none, none, exponential_avg_factor=0.5)
    t.add(op, "bad_matrix", x, f([[1, 2]]), offset, none, none)
    for tag, training in (("training", True), ("given", False)):
        attrs = {"is_training": training}
        t.add(grad, tag, dy, x, scale, mean, variance, *more, **attrs)
        t.add(grad, tag + "_nchw", second(dy), second(x), scale, mean, variance, *more,
              data_format="NCHW", **attrs)
        t.add(grad, tag + "_empty", dy[:0], x[:0], scale, mean, variance, *more, **attrs)
    t.add(grad, "many_channels", wave(F32, (2, 1, 2, 19)), wave(F32, (2, 1, 2, 19), 1),
          wave(F32, (19,)), wave(F32, (19,), 1), ramp(F32, (19,)), *more)
    t.add(grad, "bad_shapes", dy[:1], x, scale, mean, variance, *more)
    t.add(grad, "bad_mean", dy, x, scale, mean[:1], variance, *more)
    t.add(grad, "bad_scale", dy, x, scale[:1], mean, variance, *more)
    t.add(grad, "bad_rank", dy[0], x[0], scale, mean, variance, *more)
    if version:
        for dtype in (F16, BFLOAT16):
            name = np.dtype(dtype).name
            t.add(op, name, x.astype(dtype), scale, offset, none, none)
            t.add(op, "given_" + name, x.astype(dtype), scale, offset, mean, variance,
                  is_training=False, instead=given)
            t.add(grad, name, dy.astype(dtype), x.astype(dtype), scale, mean, variance, *more)
    if v3:
        volume = wave(F32, (1, 2, 2, 3, 2))
        t.add(op, "ndhwc", volume, scale, offset, none, none, data_format="NDHWC")
        t.add(op, "ncdhw", second(volume), scale, offset, none, none, data_format="NCDHW")
        t.add(grad, "ndhwc", wave(F32, volume.shape, 1), volume, scale, mean, variance, *more,
              data_format="NDHWC")


def lrn(t):
    x = wave(F32, (2, 1, 2, 7))
    for dtype in HALF_TYPES:
        name = np.dtype(dtype).name
        t.add("LRN", name, x.astype(dtype))
        t.add("LRNGrad", name, wave(dtype, x.shape, 1), x.astype(dtype),
              wave(dtype, x.shape, 0.5))
    settings = {"depth_radius": 2, "bias": 2.0, "alpha": 1e-2, "beta": 0.75}
    for tag, attrs in (("settings", settings), ("radius_0", {"depth_radius": 0}),
                       ("beta_1", {"beta": 1.0, "depth_radius": 1})):
        t.add("LRN", tag, x, **attrs)
        t.add("LRNGrad", tag, wave(F32, x.shape, 1), x, wave(F32, x.shape, 0.5), **attrs)
    t.add("LRN", "smallest", f([[[[3]]]]))
    t.add("LRN", "zero", empty(F32, (1, 1, 1, 3)))
    t.add("LRN", "empty", empty(F32, (0, 2, 2, 3)))
    t.add("LRNGrad", "empty", *[empty(F32, (0, 2, 2, 3))] * 3)
    t.add("LRN", "bad_rank", x[0])
    t.add("LRN", "bad_radius", x, depth_radius=-1)
    t.add("LRN", "bad_huge_radius", x, depth_radius=1 << 31)
    t.add("LRNGrad", "bad_rank", x[0], x[0], x[0])
    t.add("LRNGrad", "bad_shapes", x, x[..., :2], x)
    t.add("LRNGrad", "bad_output", x, x, x[:1])
    t.add("LRNGrad", "bad_radius", x, x, x, depth_radius=-1)


def cases():
    t = Table()
    for version in ("", "V2", "V3"):
        batch_norm(t, version)
    lrn(t)
    for case in t.cases:
        case.tolerance = 2  # TensorFlow's vector code rounds more often
    return t.cases
