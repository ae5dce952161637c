"""Products and convolutions with what follows them, as TensorFlow's rewriting makes them."""
from .common import *  # noqa: F403

MATMUL = {"transpose_a": False, "transpose_b": False, "epsilon": 1e-4, "leakyrelu_alpha": 0.2}
CONV = {"strides": [1, 1, 1, 1], "padding": "VALID", "explicit_paddings": [],
        "data_format": "NHWC", "filter_format": "HWIO", "dilations": [1, 1, 1, 1],
        "use_cudnn_on_gpu": True, "epsilon": 1e-3, "leakyrelu_alpha": 0.2}


def matmul(t, tag, x, w, args, ops, **attrs):
    t.add("_FusedMatMul", tag, x, w, args, **{**MATMUL, "fused_ops": ops, **attrs})


def conv(t, tag, x, w, args, ops, **attrs):
    attrs = {**CONV, "fused_ops": ops, **attrs}
    t.add("_FusedConv2D", tag, x, w, args, [], num_args=len(args), num_host_args=0, tol=4, **attrs)


def cases():
    t = Table()
    x, w, bias = wave(F32, (3, 3)), wave(F32, (3, 2)), wave(F32, (2,), phase=1.1)
    matmul(t, "bias", x, w, [bias], ["BiasAdd"])
    for name in ("Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"):
        matmul(t, name.lower(), x * 3, w, [bias], ["BiasAdd", name])
    for name in ("GeluExact", "GeluApproximate"):
        matmul(t, name.lower(), x, w, [bias], ["BiasAdd", name], tol=4)
    matmul(t, "alpha", x, w, [bias], ["BiasAdd", "LeakyRelu"], leakyrelu_alpha=0.5)
    matmul(t, "transposed", x.T.copy(), w.T.copy(), [bias], ["BiasAdd", "Relu"], transpose_a=True,
           transpose_b=True)
    matmul(t, "transpose_b", x, w.T.copy(), [bias], ["BiasAdd", "Tanh"], transpose_b=True)
    matmul(t, "half", h([[1, -2], [3, 4]]), h([[2, 1], [-1, 3]]), [h([0.5, -9])],
           ["BiasAdd", "Relu"])
    if BFLOAT16 is not None:
        matmul(t, "bfloat16", a(BFLOAT16, [[1, -2], [3, 4]]), a(BFLOAT16, [[2, 1], [-1, 3]]),
               [a(BFLOAT16, [0.5, -9])], ["BiasAdd", "Relu"])
    matmul(t, "nan", f([[NAN, 1], [INF, 1], [-INF, 1], [0, 1]]), f([[1, 2], [3, -4]]), [f([0, 1])],
           ["BiasAdd", "Relu"])
    matmul(t, "no_rows", f([], (0, 3)), w, [bias], ["BiasAdd", "Relu"])
    matmul(t, "one", f([[2]]), f([[3]]), [f([-7])], ["BiasAdd", "Relu"])
    matmul(t, "bad_inner", x, wave(F32, (4, 2)), [bias], ["BiasAdd"])
    matmul(t, "bad_op", x, w, [bias], ["BiasAdd", "Foo"])
    matmul(t, "bad_order", x, w, [bias], ["Relu", "BiasAdd"])
    matmul(t, "bad_rank", f([1, 2, 3]), w, [bias], ["BiasAdd"])

    x, w, bias = wave(F32, (2, 3, 4, 2)), wave(F32, (2, 2, 2, 3)), wave(F32, (3,), phase=1.1)
    norm = [f([1, 2, -1]), f([0, 1, 2]), f([0.5, 0, 1]), f([1, 4, 0.25])]
    conv(t, "bias", x, w, [bias], ["BiasAdd"])
    for name in ("Relu", "Relu6", "Elu", "LeakyRelu"):
        conv(t, name.lower(), x, w, [bias], ["BiasAdd", name])
        conv(t, "norm_" + name.lower(), x, w, norm, ["FusedBatchNorm", name])
    for name in ("Tanh", "Sigmoid"):
        conv(t, name.lower(), x, w, [bias], ["BiasAdd", name])
    conv(t, "norm", x, w, norm, ["FusedBatchNorm"])
    conv(t, "same_strided", x, w, [bias], ["BiasAdd", "Relu"], strides=[1, 2, 2, 1],
         padding="SAME")
    conv(t, "explicit", x, w, [bias], ["BiasAdd"], padding="EXPLICIT",
         explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0])
    conv(t, "dilated", x, w, [bias], ["BiasAdd"], dilations=[1, 2, 2, 1])
    conv(t, "pointwise", x, wave(F32, (1, 1, 2, 3)), [bias], ["BiasAdd", "Relu"])
    conv(t, "double", wave(F64, (1, 3, 3, 2)), wave(F64, (2, 2, 2, 2)), [d([1, -1])],
         ["BiasAdd", "Relu"])
    conv(t, "nan", f([NAN, INF, -INF, 1], (1, 2, 2, 1)), f([2], (1, 1, 1, 1)), [f([1])],
         ["BiasAdd", "Relu"])
    whole = ramp(F32, (2, 4, 5, 4)) % 5 - 2, ramp(F32, (3, 3, 4, 8)) % 7 - 3, ramp(F32, (8,))
    conv(t, "library", whole[0], whole[1], [whole[2]], ["BiasAdd", "Relu"])
    conv(t, "no_images", f([], (0, 3, 4, 2)), w, [bias], ["BiasAdd", "Relu"])
    conv(t, "bad_depth", x, wave(F32, (2, 2, 3, 3)), [bias], ["BiasAdd"])
    conv(t, "bad_op", x, w, [bias], ["BiasAdd", "Foo"])
    return t.cases
