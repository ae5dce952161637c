"""Convolutions of images and volumes, and their gradients."""
from .common import *  # noqa: F403

C = Const
ONE = [1, 1, 1, 1]


def small(dtype, shape, start=-2):
    """Small integers: sums of their products are exact in every dtype."""
    return (start + np.arange(int(np.prod(shape))) % 5).astype(dtype).reshape(shape)


def output_shape(op, image, filter_, **attrs):
    """What the op makes of these shapes; TensorFlow says."""
    import tensorflow as tf

    with tf.Graph().as_default():
        y = getattr(tf.raw_ops, op)(input=tf.zeros(image), filter=tf.zeros(filter_), **attrs)
        return y.shape.as_list()


class Family:
    """Cases of a forward op and of its two gradients alike."""

    def __init__(self, t, forward, input_, filter_, rank, **defaults):
        self.t, self.ops, self.rank = t, (forward, input_, filter_), rank
        self.defaults = dict({"strides": [1] * rank, "padding": "VALID"}, **defaults)

    def add(self, tag, image, filter_, dtype=F64, g=False, values=wave, const=False, **attrs):
        attrs = {**self.defaults, **attrs}
        out = output_shape(self.ops[0], image, filter_, **attrs)
        x, f, dy = values(dtype, image), values(dtype, filter_), values(dtype, out)
        if const:
            f = C(f)
        t = self.t
        t.add(self.ops[0], tag, x, f, g=g, **attrs)
        t.add(self.ops[1], tag, C(image), f, dy, g=g, **attrs)
        if dtype != I32:
            t.add(self.ops[2], tag, x, C(filter_), dy, g=g, **attrs)

    def add_channels_second(self, tag, image, filter_, dtype=F64, g=False, values=wave,
                            const=False, **attrs):
        """`image` and `attrs` are those with the channels last."""
        attrs = {**self.defaults, **attrs}
        out = output_shape(self.ops[0], image, filter_, **attrs)
        order = [0, self.rank - 1, *range(1, self.rank - 1)]

        def second(shape):
            return [shape[k] for k in order]

        for name in ("strides", "dilations"):
            if name in attrs:
                attrs[name] = second(attrs[name])
        attrs["data_format"] = "NCHW" if self.rank == 4 else "NCDHW"
        x, f, dy = values(dtype, second(image)), values(dtype, filter_), values(dtype, second(out))
        if const:
            f = C(f)
        t = self.t
        t.add(self.ops[0], tag, x, f, g=g, images=((0,), (), (0,)), **attrs)
        t.add(self.ops[1], tag, C(second(image)), f, dy, g=g, images=((2,), (0,), (0,)), **attrs)
        t.add(self.ops[2], tag, x, C(filter_), dy, g=g, images=((0, 2), (), ()), **attrs)


def conv2d(t):
    f = Family(t, "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", 4)
    for dtype in (F32, F64, F16, BFLOAT16, I32):
        name = np.dtype(dtype).name
        f.add("valid_" + name, [2, 3, 4, 2], [2, 2, 2, 3], dtype, values=small, const=True)
        f.add("same_" + name, [2, 3, 3, 1], [3, 3, 1, 2], dtype, values=small, const=True,
              padding="SAME", strides=[1, 2, 1, 1])
    f.add("one_by_one", [2, 2, 3, 5], [1, 1, 5, 4], F32, values=small)
    f.add("one_by_one_strided", [2, 3, 3, 2], [1, 1, 2, 3], F32, values=small,
          strides=[1, 2, 2, 1])
    f.add("smallest", [1, 1, 1, 1], [1, 1, 1, 1], F32)
    f.add("whole", [2, 3, 2, 2], [3, 2, 2, 3], F32, values=small, const=True)
    f.add("wide", [2, 3, 4, 9], [2, 3, 9, 5], F32, values=small, const=True, padding="SAME")
    f.add("first_layer", [1, 5, 5, 3], [3, 5, 3, 4], F32, values=small, const=True,
          padding="SAME", strides=[1, 2, 2, 1])
    f.add("dilated_float", [2, 6, 5, 2], [2, 2, 2, 3], F32, values=small, const=True,
          dilations=[1, 2, 3, 1])
    f.add("explicit_float", [2, 3, 3, 2], [2, 2, 2, 2], F32, values=small, const=True,
          padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0])
    f.add("stride_beyond_window", [2, 7, 5, 1], [1, 2, 1, 2], F32, values=small, const=True,
          strides=[1, 3, 3, 1])
    f.add("window_beyond_image", [2, 2, 2, 1], [5, 4, 1, 2], F32, values=small, const=True,
          padding="SAME")
    f.add("gradient", [1, 3, 3, 2], [2, 2, 2, 2], g=True)
    f.add("gradient_strided", [2, 3, 4, 1], [3, 2, 1, 2], g=True, padding="SAME",
          strides=[1, 2, 2, 1])
    f.add("gradient_dilated", [1, 4, 5, 1], [2, 2, 1, 2], g=True, dilations=[1, 2, 3, 1])
    f.add("gradient_explicit", [1, 2, 3, 2], [2, 2, 2, 1], g=True, padding="EXPLICIT",
          explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0], strides=[1, 2, 1, 1])
    f.add_channels_second("nchw", [2, 3, 4, 2], [2, 2, 2, 3], F32, values=small, const=True)
    f.add_channels_second("nchw_gradient", [1, 3, 4, 2], [2, 3, 2, 1], g=True, padding="SAME",
                          strides=[1, 1, 2, 1])
    groups(t)
    x, k = wave(F32, (1, 3, 3, 2)), wave(F32, (2, 2, 2, 3))
    t.add("Conv2D", "empty_batch", empty(F32, (0, 3, 3, 2)), k, strides=ONE, padding="SAME")
    t.add("Conv2D", "no_room", empty(F32, (1, 1, 3, 2)), k, strides=[1, 2, 1, 1], padding="VALID")
    t.add("Conv2D", "nan", np.array([[[[NAN], [1], [2], [INF], [3]]]], F32),
          np.array([[[[1]], [[2]]]], F32), strides=ONE, padding="VALID")
    t.add("Conv2DBackpropInput", "two_sizes", C([3, 3]), k, wave(F32, (2, 2, 2, 3)), strides=ONE,
          padding="VALID")
    t.add("Conv2DBackpropInput", "fed_sizes", i([2, 3, 3, 2]), k, wave(F32, (2, 2, 2, 3)),
          strides=ONE, padding="VALID")
    t.add("Conv2DBackpropFilter", "fed_sizes", x, i([2, 2, 2, 3]), wave(F32, (1, 2, 2, 3)),
          strides=ONE, padding="VALID")
    t.add("Conv2DBackpropFilter", "empty_batch", empty(F32, (0, 3, 3, 2)), C([2, 2, 2, 3]),
          empty(F32, (0, 2, 2, 3)), strides=ONE, padding="VALID")
    conv2d_bad(t, x, k)


def groups(t):
    # TensorFlow has no gradients of grouped convolutions on CPU: differences check them.
    for dtype in (F32, F64):
        name = np.dtype(dtype).name
        t.add("Conv2D", "groups_" + name, small(dtype, (2, 3, 3, 4)),
              C(small(dtype, (2, 2, 2, 6))), strides=ONE, padding="SAME")
    t.add("Conv2D", "groups_gradient", wave(F64, (1, 2, 3, 4)), wave(F64, (2, 1, 2, 4)),
          strides=ONE, padding="VALID", g=True)
    t.add("Conv2D", "groups_of_one", small(F32, (2, 3, 3, 3)), C(small(F32, (2, 2, 1, 6))),
          strides=ONE, padding="VALID")
    t.add("Conv2D", "bad_groups", small(F32, (2, 3, 3, 4)), small(F32, (2, 2, 2, 5)), strides=ONE,
          padding="SAME")


def conv2d_bad(t, x, k):
    def bad(tag, *inputs, op="Conv2D", **attrs):
        t.add(op, "bad_" + tag, *inputs, **{"strides": ONE, "padding": "VALID", **attrs})

    bad("image_rank", x[0], k)
    bad("filter_rank", x, k[0])
    bad("depth", wave(F32, (1, 3, 3, 3)), k)
    bad("no_channels", empty(F32, (1, 3, 3, 0)), empty(F32, (2, 2, 0, 3)))
    bad("no_window", x, empty(F32, (0, 2, 2, 3)))
    bad("window", x, wave(F32, (5, 5, 2, 1)))
    bad("stride", x, k, strides=[1, 0, 1, 1])
    bad("negative_stride", x, k, strides=[1, 1, -1, 1])
    bad("stride_count", x, k, strides=[1, 1, 1])
    bad("batch_stride", x, k, strides=[2, 1, 1, 1])
    bad("dilation", x, k, dilations=[1, 0, 1, 1])
    bad("dilation_count", x, k, dilations=[1, 1])
    bad("batch_dilation", x, k, dilations=[1, 1, 1, 2])
    bad("explicit_count", x, k, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1])
    bad("explicit_negative", x, k, padding="EXPLICIT", explicit_paddings=[0, 0, -1, 1, 0, 0, 0, 0])
    bad("explicit_batch", x, k, padding="EXPLICIT", explicit_paddings=[1, 0, 0, 0, 0, 0, 0, 0])
    bad("explicit_beside_valid", x, k, explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0])
    bad("padding", x, k, padding="NONE")
    dy = wave(F32, (1, 2, 2, 3))
    bad("output_size", C([1, 5, 3, 2]), k, dy, op="Conv2DBackpropInput")
    bad("sizes_count", C([1, 3, 3]), k, dy, op="Conv2DBackpropInput")
    bad("sizes_negative", C([1, -3, 3, 2]), k, dy, op="Conv2DBackpropInput")
    bad("channels", C([1, 3, 3, 2]), k, wave(F32, (1, 2, 2, 4)), op="Conv2DBackpropInput")
    bad("batch", C([2, 3, 3, 2]), k, dy, op="Conv2DBackpropInput")
    bad("sizes_matrix", C([[1, 3, 3, 2]]), k, dy, op="Conv2DBackpropInput")
    bad("output_size", x, C([1, 2, 2, 3]), dy, op="Conv2DBackpropFilter")
    bad("sizes_count", x, C([2, 2, 2]), dy, op="Conv2DBackpropFilter")
    bad("channels", x, C([2, 2, 2, 4]), dy, op="Conv2DBackpropFilter")
    bad("batch", wave(F32, (2, 3, 3, 2)), C([2, 2, 2, 3]), dy, op="Conv2DBackpropFilter")


def depthwise(t):
    f = Family(t, "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
               "DepthwiseConv2dNativeBackpropFilter", 4)
    for dtype in (F32, F64, F16, BFLOAT16):
        name = np.dtype(dtype).name
        f.add("valid_" + name, [2, 3, 4, 2], [2, 2, 2, 3], dtype, values=small, const=True)
    f.add("one_each", [2, 4, 4, 3], [3, 3, 3, 1], F32, values=small, const=True, padding="SAME")
    f.add("strided", [2, 5, 5, 2], [3, 3, 2, 2], F32, values=small, const=True, padding="SAME",
          strides=[1, 2, 2, 1])
    f.add("wide", [2, 4, 3, 17], [3, 2, 17, 1], F32, values=small, const=True, padding="SAME")
    f.add("explicit", [2, 3, 3, 2], [2, 2, 2, 2], F32, values=small, const=True,
          padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 1, 1, 0, 0])
    f.add("smallest", [1, 1, 1, 1], [1, 1, 1, 1], F32)
    f.add("gradient", [1, 3, 3, 2], [2, 2, 2, 2], g=True)
    f.add("gradient_same", [1, 3, 4, 2], [3, 2, 2, 1], g=True, padding="SAME",
          strides=[1, 2, 2, 1])
    f.add_channels_second("nchw", [2, 3, 4, 2], [2, 2, 2, 3], F32, values=small, const=True)
    f.add_channels_second("nchw_gradient", [1, 3, 4, 2], [2, 3, 2, 1], g=True, padding="SAME")
    x, k = wave(F32, (1, 3, 3, 2)), wave(F32, (2, 2, 2, 3))

    def add(op, tag, *inputs, **attrs):
        t.add("DepthwiseConv2dNative" + op, tag, *inputs,
              **{"strides": ONE, "padding": "VALID", **attrs})

    add("", "empty", empty(F32, (0, 3, 3, 2)), k)
    add("", "bad_rank", x[0], k)
    add("", "bad_filter_rank", x, k[0])
    add("", "bad_depth", wave(F32, (1, 3, 3, 3)), k)
    add("", "bad_window", x, wave(F32, (5, 5, 2, 1)))
    add("", "bad_stride", x, k, strides=[1, 0, 0, 1])
    add("", "bad_batch_stride", x, k, strides=[2, 1, 1, 1])
    add("", "bad_stride_count", x, k, strides=[1, 1])
    dy = wave(F32, (1, 2, 2, 6))
    add("BackpropInput", "bad_output", C([1, 5, 3, 2]), k, dy)
    add("BackpropInput", "bad_sizes", C([1, 5, 3]), k, dy)
    add("BackpropInput", "bad_channels", C([1, 3, 3, 2]), k, wave(F32, (1, 2, 2, 5)))
    add("BackpropFilter", "bad_output", x, C([1, 2, 2, 3]), dy)
    add("BackpropFilter", "bad_sizes", x, C([2, 2, 2]), dy)


def conv3d(t):
    f = Family(t, "Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", 5)
    for dtype in (F32, F64, F16, BFLOAT16):
        name = np.dtype(dtype).name
        f.add("valid_" + name, [2, 2, 3, 3, 2], [2, 2, 2, 2, 3], dtype, values=small, const=True)
    f.add("same", [2, 2, 3, 3, 1], [3, 2, 2, 1, 2], F32, values=small, const=True, padding="SAME",
          strides=[1, 1, 2, 2, 1])
    f.add("one_by_one", [2, 2, 2, 2, 3], [1, 1, 1, 3, 4], F32, values=small)
    f.add("wide", [2, 2, 3, 3, 4], [2, 2, 2, 4, 5], F32, values=small, const=True)
    f.add("smallest", [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], F32)
    f.add("gradient", [1, 2, 3, 2, 1], [2, 2, 1, 1, 2], g=True)
    f.add("gradient_same", [1, 2, 3, 2, 1], [2, 2, 2, 1, 1], g=True, padding="SAME",
          strides=[1, 2, 1, 2, 1])
    f.add_channels_second("ncdhw", [2, 2, 3, 4, 2], [2, 2, 1, 2, 3], F32, values=small, const=True)
    x, k = wave(F32, (1, 3, 3, 3, 2)), wave(F32, (2, 2, 2, 2, 3))

    def add(op, tag, *inputs, **attrs):
        t.add("Conv3D" + op, tag, *inputs, **{"strides": [1] * 5, "padding": "VALID", **attrs})

    add("", "empty", empty(F32, (0, 3, 3, 3, 2)), k)
    add("", "dilated", small(F32, (2, 4, 4, 4, 1)), C(small(F32, (2, 2, 2, 1, 2))),
        dilations=[1, 2, 2, 2, 1])
    add("BackpropInputV2", "long_sizes", Const([1, 3, 3, 3, 2], I64), k,
        wave(F32, (1, 2, 2, 2, 3)))
    add("", "bad_rank", x[0], k)
    add("", "bad_filter_rank", x, k[0])
    add("", "bad_depth", wave(F32, (1, 3, 3, 3, 3)), k)
    add("", "bad_window", x, wave(F32, (5, 5, 1, 2, 1)))
    add("", "bad_stride", x, k, strides=[1, 0, 1, 1, 1])
    add("", "bad_batch_stride", x, k, strides=[2, 1, 1, 1, 1])
    add("", "bad_stride_count", x, k, strides=[1, 1, 1, 1])
    dy = wave(F32, (1, 2, 2, 2, 3))
    add("BackpropInputV2", "bad_output", C([1, 5, 3, 3, 2]), k, dy)
    add("BackpropInputV2", "bad_sizes", C([1, 3, 3, 3]), k, dy)
    add("BackpropFilterV2", "bad_output", x, C([1, 2, 2, 2, 3]), dy)
    add("BackpropFilterV2", "bad_sizes", x, C([2, 2, 2, 2]), dy)


def cases():
    t = Table()
    conv2d(t)
    depthwise(t)
    conv3d(t)
    for case in t.cases:
        case.tolerance = 1  # sums may be made in any order
    return t.cases
