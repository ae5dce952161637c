"""Pooling: the largest and the average of windows, and their gradients."""
from .common import *  # noqa: F403

C = Const
NUMBERS = (F32, F64, F16, BFLOAT16, I8, I16, I32, I64, U8, U16, U32, U64)
V2_TYPES = (F32, F64, F16, BFLOAT16, I8, I16, I32, I64, U8, U16)


def mixed(dtype, shape):
    """Small whole numbers, with ties."""
    count = int(np.prod(shape, dtype=int))
    return ((np.arange(count) * 7) % 11 + (0 if np.dtype(dtype).kind == "u" else -3)).astype(
        dtype).reshape(shape)


def pooled(values, attrs, average=False):
    import tensorflow as tf

    three = values.ndim == 5
    op = getattr(tf.raw_ops, ("Avg" if average else "Max") + ("Pool3D" if three else "Pool"))
    key = "value" if average and not three else "input"
    wide = values.astype(F32 if three else F64)
    return op(**{key: tf.constant(wide)}, **attrs).numpy().astype(values.dtype)


def second(values):
    """Transposed so that the channels are second."""
    return np.moveaxis(values, -1, 1)


def windows(rows, columns, row_stride=1, column_stride=1, padding="VALID", **more):
    return {"ksize": [1, rows, columns, 1], "strides": [1, row_stride, column_stride, 1],
            "padding": padding, **more}


def maximum(t, tag, x, attrs, g=False, v2=True):
    """A case of MaxPool and of all that comes of it."""
    y = pooled(x, attrs)
    dy = mixed(x.dtype, y.shape) if not g else wave(x.dtype, y.shape)
    gg = mixed(x.dtype, x.shape) if not g else wave(x.dtype, x.shape, 1.5)
    few = {k: v for k, v in attrs.items() if k in ("padding",)}
    sizes = [C(attrs["ksize"]), C(attrs["strides"])]
    t.add("MaxPool", tag, x, g=g, **attrs)
    t.add("MaxPoolGrad", tag, x, y, dy, **attrs)
    explicit = attrs["padding"] == "EXPLICIT"
    if not explicit:
        t.add("MaxPoolGradGrad", tag, x, y, gg, **attrs)
        t.add("MaxPoolWithArgmax", tag, x, g=g, **attrs)
        if v2:
            t.add("MaxPoolV2", tag, x, *sizes, g=g, **few)
            t.add("MaxPoolGradV2", tag, x, y, dy, *sizes, **few)
            t.add("MaxPoolGradGradV2", tag, x, y, gg, *sizes, **few)


def average(t, tag, x, attrs, g=False):
    y = pooled(x, attrs, True)
    dy = mixed(x.dtype, y.shape) if not g else wave(x.dtype, y.shape)
    t.add("AvgPool", tag, x, g=g, **attrs)
    t.add("AvgPoolGrad", tag, C(x.shape), dy, g=g, **attrs)


def max_2d(t):
    for dtype in NUMBERS:
        name = np.dtype(dtype).name
        x = mixed(dtype, (2, 3, 4, 2))
        if dtype in V2_TYPES:
            maximum(t, "same_" + name, x, windows(2, 2, 2, 2, "SAME"))
    for tag, attrs in (("valid", windows(2, 3)), ("wide_stride", windows(1, 2, 3, 3)),
                       ("same", windows(3, 2, 2, 1, "SAME"))):
        maximum(t, tag, mixed(F32, (1, 4, 5, 3)), attrs)
    maximum(t, "explicit", mixed(F32, (1, 3, 3, 2)) - 20,
            windows(2, 3, 2, 2, "EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0]))
    maximum(t, "smallest", f([[[[5]]]]), windows(1, 1))
    maximum(t, "ties", np.ones((1, 3, 3, 1), F32), windows(2, 2))
    maximum(t, "nan", f([[[[NAN], [1], [2], [-INF], [NAN], [NAN], [3], [NAN]]]]), windows(1, 2),
            v2=False)
    maximum(t, "infinities", f([[[[-INF], [-INF], [INF], [1]]]]), windows(1, 2))
    # no two elements alike, so that differences are smooth
    maximum(t, "gradient", wave(F64, (1, 3, 4, 2)), windows(2, 2, 1, 2), g=True)
    maximum(t, "gradient_same", wave(F64, (2, 3, 3, 1)), windows(2, 2, 2, 2, "SAME"), g=True)
    x, attrs = wave(F64, (1, 3, 4, 1)), windows(2, 2)
    y = pooled(x, attrs)
    # differences in grad alone: the image is constant
    for op, more in (("MaxPoolGrad", wave(F64, y.shape)), ("MaxPoolGradGrad", wave(F64, x.shape))):
        t.add(op, "gradient_alone", Const(x), Const(y), more, g=True, **attrs)
    t.add("MaxPoolGradV2", "gradient_alone", Const(x), Const(y), wave(F64, y.shape),
          C([1, 2, 2, 1]), C([1, 1, 1, 1]), g=True, padding="VALID")
    t.add("MaxPool", "depth", mixed(F32, (1, 2, 2, 4)), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2],
          padding="VALID")
    t.add("MaxPool", "empty", empty(F32, (0, 3, 3, 2)), **windows(2, 2))
    t.add("MaxPoolGrad", "empty", empty(F32, (0, 3, 3, 2)), empty(F32, (0, 2, 2, 2)),
          empty(F32, (0, 2, 2, 2)), **windows(2, 2))
    x = mixed(F32, (1, 3, 4, 2))
    y = pooled(x, windows(2, 2))
    four, one = i([1, 2, 2, 1]), i([1, 1, 1, 1])
    t.add("MaxPoolV2", "fed_sizes", x, four, one, padding="VALID")
    t.add("MaxPoolGradV2", "fed_sizes", x, y, y, four, one, padding="VALID")
    t.add("MaxPoolGradGradV2", "fed_sizes", x, y, x, four, one, padding="VALID")
    order = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 1, 2], "padding": "SAME",
             "data_format": "NCHW"}
    x = mixed(F32, (2, 3, 4, 2))
    y = second(pooled(x, windows(2, 2, 1, 2, "SAME")))
    t.add("MaxPool", "nchw", second(x), images=((0,), (), (0,)), **order)
    t.add("MaxPoolGrad", "nchw", second(x), y, y, images=((0, 1, 2), (), (0,)), **order)
    t.add("MaxPoolGradGrad", "nchw", second(x), y, second(x), images=((0, 1, 2), (), (0,)),
          **order)


def argmax(t):
    attrs = windows(2, 2)
    x = mixed(F32, (2, 3, 3, 2))
    t.add("MaxPoolWithArgmax", "narrow_index", x, Targmax="int32", **attrs)
    t.add("MaxPoolWithArgmax", "with_batch", x, include_batch_in_index=True, **attrs)
    for dtype in NUMBERS:
        name = np.dtype(dtype).name
        x = mixed(dtype, (2, 2, 3, 1))
        dy = mixed(dtype, (2, 1, 2, 1))
        t.add("MaxPoolWithArgmax", "valid_" + name, x, **attrs)
        t.add("MaxPoolGradWithArgmax", name, x, dy, l([0, 1, 1, 5], dy.shape), **attrs)
    t.add("MaxPoolGradWithArgmax", "narrow_index", x.astype(F32), dy.astype(F32),
          i([0, 4, 1, 5], dy.shape), **attrs)
    t.add("MaxPoolGradWithArgmax", "bad_shape", x.astype(F32), dy.astype(F32), l([0, 1]), **attrs)
    t.add("MaxPoolWithArgmax", "bad_rank", x[0], **attrs)
    t.add("MaxPoolWithArgmax", "bad_size", x, **windows(5, 5))
    t.add("MaxPoolWithArgmax", "bad_batch", x, ksize=[2, 1, 1, 1], strides=[1] * 4,
          padding="VALID")


def bad_max(t):
    x = mixed(F32, (1, 3, 4, 2))
    y = pooled(x, windows(2, 2))
    for op in ("MaxPool", "AvgPool"):
        t.add(op, "bad_rank", x[0], **windows(2, 2))
        t.add(op, "bad_size", x, **windows(5, 5))
        t.add(op, "bad_zero", x, **windows(0, 2))
        t.add(op, "bad_stride", x, **windows(2, 2, 0, 1))
        t.add(op, "bad_negative", x, **windows(2, 2, 1, -1))
        t.add(op, "bad_batch", x, ksize=[2, 1, 1, 1], strides=[1] * 4, padding="VALID")
        t.add(op, "bad_both", x, ksize=[1, 2, 1, 2], strides=[1, 1, 1, 2], padding="VALID")
        t.add(op, "bad_count", x, ksize=[1, 2, 2], strides=[1] * 4, padding="VALID")
        t.add(op, "bad_format", x, **windows(2, 2, data_format="X"))
    t.add("MaxPool", "bad_depth", x, ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
    t.add("MaxPool", "bad_explicit", x,
          **windows(2, 2, 1, 1, "EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 0, 0, 0]))
    t.add("MaxPoolGrad", "bad_output", x, y[:, :1], y, **windows(2, 2))
    t.add("MaxPoolGrad", "bad_grad", x, y, y[:, :1], **windows(2, 2))
    t.add("MaxPoolGrad", "bad_depth", x, x[..., :1], x[..., :1], ksize=[1, 1, 1, 2],
          strides=[1, 1, 1, 2], padding="VALID")
    t.add("MaxPoolGradGrad", "bad_output", x, y[:, :1], x, **windows(2, 2))
    t.add("MaxPoolGradGrad", "bad_grad", x, y, y, **windows(2, 2))
    t.add("MaxPoolV2", "bad_count", x, C([1, 2, 2]), C([1, 1, 1, 1]), padding="VALID")
    t.add("MaxPoolV2", "bad_zero", x, C([1, 0, 2, 1]), C([1, 1, 1, 1]), padding="VALID")
    t.add("MaxPoolV2", "bad_matrix", x, C([[1, 2, 2, 1]]), C([1, 1, 1, 1]), padding="VALID")
    t.add("AvgPoolGrad", "bad_shape", C([1, 3, 4]), y, **windows(2, 2))
    t.add("AvgPoolGrad", "bad_negative", C([1, -3, 4, 2]), y, **windows(2, 2))


def average_2d(t):
    for dtype in (F32, F64, F16, BFLOAT16):
        name = np.dtype(dtype).name
        average(t, "same_" + name, mixed(dtype, (2, 3, 4, 2)), windows(2, 2, 2, 2, "SAME"))
        average(t, "valid_" + name, mixed(dtype, (2, 3, 3, 1)), windows(2, 2))
    average(t, "overlap", mixed(F32, (1, 4, 5, 3)), windows(3, 2, 2, 1, "SAME"))
    average(t, "wide_stride", mixed(F32, (1, 5, 7, 2)), windows(1, 2, 3, 3))
    average(t, "smallest", f([[[[5]]]]), windows(1, 1))
    average(t, "whole", mixed(F32, (1, 2, 3, 2)), windows(2, 3))
    average(t, "gradient", wave(F64, (1, 3, 4, 2)), windows(2, 2, 1, 2), g=True)
    average(t, "gradient_same", wave(F64, (2, 3, 3, 1)), windows(3, 2, 2, 1, "SAME"), g=True)
    t.add("AvgPool", "nan", f([[[[NAN], [1], [2], [INF], [-INF]]]]), **windows(1, 2))
    t.add("AvgPool", "empty", empty(F32, (0, 3, 3, 2)), **windows(2, 2))
    t.add("AvgPoolGrad", "fed_shape", i([1, 3, 3, 1]), mixed(F32, (1, 2, 2, 1)), **windows(2, 2))
    order = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 1, 2], "padding": "SAME",
             "data_format": "NCHW"}
    x = mixed(F32, (2, 3, 4, 2))
    t.add("AvgPool", "nchw", second(x), images=((0,), (), (0,)), **order)
    t.add("AvgPoolGrad", "nchw", C(second(x).shape), mixed(F32, (2, 2, 3, 2)),
          images=((1,), (0,), (0,)), **order)


def three(t):
    def cube(size, stride=1, padding="VALID", **more):
        return {"ksize": [1, *size, 1], "strides": [1, stride, stride, stride, 1],
                "padding": padding, **more}

    def both(tag, x, attrs):
        y = pooled(x, attrs)
        dy = mixed(x.dtype, y.shape)
        t.add("MaxPool3D", tag, x, **attrs)
        t.add("MaxPool3DGrad", tag, x, y, dy, **attrs)
        t.add("MaxPool3DGradGrad", tag, x, y, mixed(x.dtype, x.shape), **attrs)
        t.add("AvgPool3D", tag, x, **attrs)
        t.add("AvgPool3DGrad", tag, C(x.shape), dy, **attrs)

    for dtype in (F32, BFLOAT16):
        name = np.dtype(dtype).name
        both("valid_" + name, mixed(dtype, (2, 2, 3, 3, 2)), cube([2, 2, 2]))
        both("same_" + name, mixed(dtype, (1, 3, 3, 2, 1)), cube([2, 3, 1], 2, "SAME"))
    both("ties", np.ones((1, 1, 2, 3, 1), F32), cube([1, 2, 2]))
    both("smallest", f([[[[[5]]]]]), cube([1, 1, 1]))
    both("nan", f([[[[[1], [NAN], [NAN], [2], [-1]]]]]), cube([1, 1, 2]))
    both("wide", mixed(F32, (1, 2, 2, 3, 17)), cube([2, 1, 2]))
    x = mixed(F32, (2, 2, 3, 2, 2))
    attrs = {"ksize": [1, 1, 2, 1, 2], "strides": [1, 1, 1, 1, 2], "padding": "SAME",
             "data_format": "NCDHW"}
    t.add("MaxPool3D", "ncdhw", second(x), images=((0,), (), (0,)), **attrs)
    t.add("AvgPool3D", "ncdhw", second(x), images=((0,), (), (0,)), **attrs)
    t.add("MaxPool3D", "empty", empty(F32, (0, 2, 2, 2, 1)), **cube([2, 2, 2]))
    t.add("AvgPool3D", "empty", empty(F32, (0, 2, 2, 2, 1)), **cube([2, 2, 2]))
    y = pooled(x, cube([2, 2, 2]))
    for op in ("MaxPool3D", "AvgPool3D"):
        t.add(op, "bad_rank", x[0], **cube([1, 1, 1]))
        t.add(op, "bad_size", x, **cube([5, 5, 5]))
        t.add(op, "bad_stride", x, **cube([1, 1, 1], 0))
        t.add(op, "bad_depth", x, ksize=[1, 1, 1, 1, 2], strides=[1, 1, 1, 1, 2], padding="VALID")
    t.add("MaxPool3DGrad", "bad_output", x, y[:1], y, **cube([2, 2, 2]))
    t.add("MaxPool3DGrad", "bad_grad", x, y, y[:1], **cube([2, 2, 2]))
    t.add("MaxPool3DGradGrad", "bad_grad", x, y, y, **cube([2, 2, 2]))
    t.add("AvgPool3DGrad", "bad_grad", C(x.shape), y[:1], **cube([2, 2, 2]))
    t.add("AvgPool3DGrad", "bad_shape", C([1, 2, 3]), y, **cube([2, 2, 2]))


def cases():
    t = Table()
    max_2d(t)
    argmax(t)
    average_2d(t)
    three(t)
    bad_max(t)
    for case in t.cases:
        case.tolerance = 0 if case.op.startswith("Max") and "Grad" not in case.op else 1
    return t.cases
