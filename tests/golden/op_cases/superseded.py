"""Ops that newer graphs do without: of early graphs, and of graphs rewritten for inference."""
from .common import *  # noqa: F403


def add_norm(t):
    op, grad = "BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad"
    x = wave(F32, (2, 1, 2, 4), 3)
    m, v = f([0.5, -1, 0, 2]), f([1, 0.25, 4, 0])
    beta, gamma = f([0, 1, -2, 3]), f([1, 2, -0.5, 0])

    def both(tag, dtype, g=False, **attrs):
        attrs = dict(dict(variance_epsilon=0.001, scale_after_normalization=True, producer=8),
                     **attrs)
        ins = [z.astype(dtype) for z in (x, m, v, beta, gamma)]
        t.add(op, tag, *ins, g=g, **attrs)
        t.add(grad, tag, *ins[:3], ins[4], wave(F32, x.shape, 2, 1).astype(dtype), **attrs)

    both("scaled", F32)
    both("unscaled", F32, scale_after_normalization=False)
    both("half", F16)
    both("epsilon", F32, variance_epsilon=1.0)
    for tag, scaled in (("gradient", True), ("gradient_unscaled", False)):
        attrs = dict(variance_epsilon=0.5, scale_after_normalization=scaled, producer=8)
        t.add(op, tag, x.astype(F32), m, v, beta, gamma, g=True, **attrs)
    attrs = dict(variance_epsilon=0.1, scale_after_normalization=True, producer=8)
    t.add(op, "empty", empty(F32, (0, 1, 2, 4)), m, v, beta, gamma, **attrs)
    t.add(op, "nan", f([NAN, 1, INF, 2], (1, 1, 1, 4)), m, v, beta, gamma, **attrs)
    t.add(op, "bad_rank", x[0], m, v, beta, gamma, **attrs)
    t.add(op, "bad_vector", x, m[:3], v, beta, gamma, **attrs)
    t.add(op, "bad_matrix", x, m, f([[1, 2, 3, 4]]), beta, gamma, **attrs)
    t.add(grad, "empty", empty(F32, (0, 1, 2, 4)), m, v, gamma, empty(F32, (0, 1, 2, 4)), **attrs)
    t.add(grad, "bad_backprop", x, m, v, gamma, x[:1], **attrs)
    t.add(grad, "bad_rank", x[0], m, v, gamma, x, **attrs)


def add_fused(t):
    x = wave(F32, (1, 4, 3, 2))
    k = wave(F32, (3, 2, 2, 2), 1, 0.7)
    pads = [[0, 0], [2, 1], [1, 2], [0, 0]]
    fused, resized = "FusedPadConv2D", "FusedResizeAndPadConv2D"
    base = dict(mode="REFLECT", strides=[1, 1, 1, 1], padding="VALID", tol=10)
    for tag, attrs in (("valid", {}), ("same", {"padding": "SAME"}),
                       ("symmetric", {"mode": "SYMMETRIC"}),
                       ("strided", {"strides": [1, 2, 3, 1], "padding": "SAME"})):
        attrs = dict(base, **attrs)
        t.add(fused, tag, x, Const(pads), k, **attrs)
        t.add(resized, tag, x, Const([6, 7]), Const(pads), k, **attrs)
    t.add(resized, "smaller", x, i([3, 3]), i(pads), k, **base)
    t.add(resized, "corners", x, i([7, 6]), i(pads), k, resize_align_corners=True, **base)
    t.add(resized, "one", x[:, :1, :1], i([3, 4]), i(pads), k, **base)
    t.add(fused, "fed", x, i(pads), k, **base)
    t.add(fused, "unpadded", x, i([[0, 0]] * 4), k, **base)
    for dtype in (F64, F16):
        t.add(fused, np.dtype(dtype).name, x.astype(dtype), Const(pads), k.astype(dtype), **base)
        t.add(resized, np.dtype(dtype).name, x.astype(dtype), Const([6, 7]), Const(pads),
              k.astype(dtype), **base)
    holed = np.where(np.arange(24).reshape(x.shape) == 11, NAN, x).astype(F32)
    t.add(fused, "nan", holed, Const(pads), k, **base)
    t.add(fused, "bad_rank", x[0], Const(pads), k, **base)
    t.add(fused, "bad_depth", x[..., :1], Const(pads), k, **base)
    t.add(fused, "bad_reflect", x, Const([[0, 0], [5, 0], [0, 0], [0, 0]]), k, **base)
    t.add(fused, "bad_negative", x, i([[0, 0], [-1, 0], [0, 0], [0, 0]]), k, **base)
    t.add(fused, "bad_table", x, i([[0, 0], [1, 0], [0, 0]]), k, **base)
    t.add(fused, "bad_depth_stride", x, Const(pads), k, **dict(base, strides=[1, 1, 1, 2]))
    t.add(resized, "bad_size", x, i([0, 3]), i(pads), k, **base)
    t.add(resized, "bad_three", x, i([3, 3, 3]), i(pads), k, **base)


def add_arrays(t):
    for tag, rows in (("rows", [ramp(F32, (1, 3)), ramp(F32, (1, 3), 7)]),
                      ("one", [ramp(I32, (1, 2, 2))]),
                      ("strings", [s(["a", ""], (1, 2)), s(["b", "c"], (1, 2))]),
                      ("vector", [l([1]), l([5]), l([-3])]), ("empty", [empty(F64, (1, 0))] * 2)):
        t.add("ParallelConcat", tag, rows, shape=[len(rows)] + list(rows[0].shape[1:]))
    t.add("ParallelConcat", "bad_row", [ramp(F32, (2, 3))], shape=[1, 3])


def add_references(t):
    for tag, value in (("float", wave(F32, (2, 3))), ("string", s(["a", "b"])), ("scalar", i(4)),
                       ("empty", empty(F64, (0, 2))), ("bool", b([True, False]))):
        t.add("RefIdentity", tag, Variable(value))
    t.add("RefIdentity", "bad_unset", Uninitialized(F32, (2,)))
    t.add("RefIdentity", "assigned", Variable(f([1, 2])), fetched=False,
          last=[Node("AssignAdd", OP, Const(f([3, 4])))])


def add_volumes(t):
    x, k = wave(F32, (2, 2, 3, 2, 1)), wave(F32, (2, 2, 1, 1, 2), 1, 0.7)
    for tag, padding, strides, out in (("valid", "VALID", [1, 1, 1, 1, 1], (2, 1, 2, 2, 2)),
                                       ("same", "SAME", [1, 2, 2, 1, 1], (2, 1, 2, 2, 2))):
        dy = wave(F32, out, 2, 1)
        attrs = dict(strides=strides, padding=padding, producer=9, tol=10)
        for op in ("Conv3DBackpropInput", "Conv3DBackpropFilter"):
            t.add(op, tag, x, k, dy, **attrs)
            t.add(op, tag + "_double", x.astype(F64), k.astype(F64), dy.astype(F64), **attrs)
            t.add(op, tag + "_half", x.astype(F16), k.astype(F16), dy.astype(F16), **attrs)
            t.add(op, "bad_rank_" + tag, x[0], k, dy, **attrs)
            t.add(op, "bad_grad_" + tag, x, k, dy[:, :, :1], **attrs)
    v = ramp(F32, (2, 3, 4, 3, 1), -9)
    ep = "ExtractVolumePatches"
    base = dict(ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding="VALID")
    t.add(ep, "valid", v, **base)
    t.add(ep, "same", v, **dict(base, padding="SAME"))
    t.add(ep, "strided", v, **dict(base, strides=[1, 2, 3, 1, 1], padding="SAME"))
    t.add(ep, "larger", v, **dict(base, ksizes=[1, 3, 4, 2, 1]))
    t.add(ep, "ones", v, **dict(base, ksizes=[1, 1, 1, 1, 1]))
    t.add(ep, "empty", empty(F32, (0, 3, 4, 3, 1)), **base)
    for dtype in (F64, F16, I8, I16, I32, I64, U8, U16, U32, U64):
        t.add(ep, np.dtype(dtype).name, np.abs(v[:1, :2, :2, :2]).astype(dtype), **base)
    t.add(ep, "gradient", v[:1, :2, :2, :2].astype(F64), g=True, **dict(base, padding="SAME"))
    t.add(ep, "gradient_strided", v[:1, :3, :2, :3].astype(F64), g=True,
          **dict(base, strides=[1, 2, 1, 2, 1]))
    t.add(ep, "bad_rank", v[0], **base)
    t.add(ep, "bad_batch", v, **dict(base, ksizes=[2, 1, 1, 1, 1]))
    t.add(ep, "bad_zero", v, **dict(base, strides=[1, 0, 1, 1, 1]))
    t.add(ep, "bad_large", v, **dict(base, ksizes=[1, 9, 9, 9, 1]))


def cases():
    t = Table()
    add_norm(t)
    add_fused(t)
    add_arrays(t)
    add_references(t)
    add_volumes(t)
    return sorted(t.cases, key=lambda case: case.op)
