"""What is refused while a node is added although the kernel would take it; NaN and infinities in
places where comparisons decide."""
from .common import *  # noqa: F403

C = Const


def images(*rows):
    return f([[list(row) for row in rows]])


def windows(t):
    image, volume = np.ones((1, 2, 3, 1), F32), np.ones((1, 2, 3, 3, 1), F32)
    filter_ = np.ones((3, 3, 1, 1), F32)
    ones = dict(strides=[1, 1, 1, 1])
    for op in ("Conv2D", "DepthwiseConv2dNative"):
        t.add(op, "bad_larger_filter", image, filter_, padding="VALID", **ones)
    t.add("Conv2D", "bad_larger_dilated", image, filter_[:2, :2], padding="VALID",
          dilations=[1, 2, 2, 1], **ones)
    t.add("Conv2D", "bad_larger_explicit", image, np.ones((5, 3, 1, 1), F32), padding="EXPLICIT",
          explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0], **ones)
    t.add("Conv3D", "bad_larger_filter", volume, np.ones((3, 3, 3, 1, 1), F32), padding="VALID",
          strides=[1] * 5)
    for op in ("MaxPool", "AvgPool"):
        t.add(op, "bad_larger_window", image, ksize=[1, 3, 3, 1], padding="VALID", **ones)
        t.add(op, "bad_much_larger_window", image, ksize=[1, 6, 3, 1], padding="VALID", **ones)
    t.add("MaxPool3D", "bad_larger_window", volume, ksize=[1, 3, 3, 3, 1], padding="VALID",
          strides=[1] * 5)


def colors(t):
    rows = [[NAN, 1, 0], [INF, 1, 2], [1, 2, -INF], [0, NAN, 1], [3, 2, NAN], [NAN] * 3,
            [-1, -2, -3], [INF, INF, 1], [0.5, INF, -INF]]
    for index, amount in enumerate((0.0, 0.25, NAN, -0.75)):
        t.add("AdjustHue", "not_finite_%d" % index, images(*rows), f(amount))
    for index, amount in enumerate((0.0, 0.25, 2.0, NAN, INF, -1.0)):
        t.add("AdjustSaturation", "not_finite_%d" % index, images(*rows), f(amount))


def cases():
    t = Table()
    windows(t)
    colors(t)
    for op, value in (("BiasAdd", True), ("BiasAddGrad", False)):
        inputs = [f([[1, 2, 3]])] + ([f([1, 2, 3])] if value else [])
        t.add(op, "bad_rank_2_second", *inputs, data_format="NCHW")
    dy = [NAN, INF, -INF, NAN, INF, -INF, NAN, INF, -INF, 2, 2]
    at = [0, 0, 0, -1, -1, -1, NAN, NAN, NAN, 7, 3]
    for op in ("ReluGrad", "Relu6Grad"):
        for dtype in (F32, F64, F16):
            t.add(op, "not_finite_%s" % np.dtype(dtype).name, a(dtype, dy), a(dtype, at))
    t.add("Zeta", "infinite_second", d([2, 1, INF, 0.5, NAN]), d([INF, INF, INF, INF, INF]))
    t.add("Polygamma", "infinite_second", d([1, 2, 0]), d([INF, INF, INF]))
    return t.cases
