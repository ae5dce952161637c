"""Ops of neural networks that are neither elementwise nor products."""
from .common import *  # noqa: F403

C = Const


def bias(t):
    for dtype in (F32, F64, F16, I32):
        t.add("BiasAdd", "matrix_" + dtype.__name__, ramp(dtype, (2, 3)), a(dtype, [10, 20, 30]))
        t.add("BiasAddGrad", "matrix_" + dtype.__name__, ramp(dtype, (2, 3)))
    x = ramp(F32, (2, 3, 2, 2))
    t.add("BiasAdd", "rank_4", x, f([1, 2]))
    t.add("BiasAdd", "nchw", x, f([1, 2, 3]), data_format="NCHW")
    t.add("BiasAdd", "rank_3", ramp(F32, (2, 2, 3)), f([1, 2, 3]))
    t.add("BiasAdd", "empty", empty(F32, (0, 2)), f([1, 2]))
    t.add("BiasAdd", "gradient", wave(F64, (2, 3)), wave(F64, (3,), 1), g=True)
    t.add("BiasAdd", "gradient_nchw", wave(F64, (2, 2, 1, 2)), wave(F64, (2,), 1),
          data_format="NCHW", g=True)
    t.add("BiasAdd", "bad_length", ramp(F32, (2, 3)), f([1, 2]))
    t.add("BiasAdd", "bad_vector", f([1, 2]), f([1, 2]))
    t.add("BiasAdd", "bad_bias_rank", ramp(F32, (2, 3)), f([[1, 2, 3]]))
    t.add("BiasAdd", "bad_format", ramp(F32, (2, 3)), f([1, 2, 3]), data_format="XYZ")
    t.add("BiasAddGrad", "rank_4", x)
    t.add("BiasAddGrad", "nchw", x, data_format="NCHW")
    t.add("BiasAddGrad", "long", ramp(F32, (130, 2), 0.1, 0.1))
    t.add("BiasAddGrad", "empty", empty(F32, (0, 2)))
    t.add("BiasAddGrad", "gradient", wave(F64, (2, 3)), g=True)
    t.add("BiasAddGrad", "bad_vector", f([1, 2]))


def softmax(t):
    for op in ("Softmax", "LogSoftmax"):
        for dtype in (F32, F64, F16):
            t.add(op, "matrix_" + dtype.__name__, wave(dtype, (2, 3)))
        t.add(op, "vector", f([1, 2, 3]))
        t.add(op, "rank_3", wave(F32, (2, 2, 3)))
        t.add(op, "one_wide", f([[5], [6]]))
        t.add(op, "equal", f([[3, 3, 3, 3]]))
        t.add(op, "large", f([[1000, 999, 0], [-1000, -999, -1001]]))
        t.add(op, "infinities", f([[-INF, 1, 2], [INF, 1, 2], [NAN, 1, 2]]))
        t.add(op, "empty", empty(F32, (0, 3)))
        t.add(op, "empty_classes", empty(F32, (2, 0)))
        t.add(op, "wide", wave(F32, (2, 65), 4))
        t.add(op, "gradient", wave(F64, (2, 3)), g=True)
        t.add(op, "gradient_rank_3", wave(F64, (2, 1, 3)), g=True)
        t.add(op, "bad_scalar", f(1))
    op = "SoftmaxCrossEntropyWithLogits"
    labels = [[0.2, 0.3, 0.5], [1, 0, 0]]
    for dtype in (F32, F64, F16):
        t.add(op, "matrix_" + dtype.__name__, wave(dtype, (2, 3)), a(dtype, labels))
    t.add(op, "one", f([[5]]), f([[1]]))
    t.add(op, "large", f([[1000, 0, -1000]]), f([[0.5, 0.5, 0]]))
    t.add(op, "not_a_distribution", f([[1, 2]]), f([[2, 3]]))
    t.add(op, "broadcast_labels", wave(F32, (2, 3)), f([[0.2, 0.3, 0.5]]))
    t.add(op, "broadcast_logits", f([[1, 2, 3]]), f(labels))
    t.add(op, "labels_of_rank_1", wave(F32, (2, 3)), f([0.2, 0.3, 0.5]))
    t.add(op, "logits_of_rank_1", f([1, 2, 3]), f(labels))
    t.add(op, "column_and_rank_1", f([[1], [2]]), f([0.2, 0.3, 0.5]))
    t.add(op, "bad_rank_3", wave(F32, (1, 2, 3)), f(labels))
    t.add(op, "empty", empty(F32, (0, 3)), empty(F32, (0, 3)))
    t.add(op, "nan", f([[NAN, 1], [1, 2]]), f([[1, 0], [0.5, 0.5]]))
    t.add(op, "wide", wave(F32, (3, 40)), np.full((3, 40), 1 / 40, F32))
    t.add(op, "gradient", wave(F64, (2, 3)), d(labels), g=True)
    t.add(op, "bad_shapes", wave(F32, (2, 3)), wave(F32, (2, 2)))
    t.add(op, "bad_rank", f([1, 2]), f([1, 2]))
    op = "SparseSoftmaxCrossEntropyWithLogits"
    for dtype in (F32, F64, F16):
        for index in (I32, I64):
            t.add(op, "matrix_%s_%s" % (dtype.__name__, index.__name__), wave(dtype, (2, 3)),
                  a(index, [2, 0]))
    t.add(op, "one", f([[5]]), i([0]))
    t.add(op, "large", f([[1000, 0, -1000]]), i([2]))
    t.add(op, "wide", wave(F32, (3, 40)), i([0, 39, 17]))
    t.add(op, "empty", empty(F32, (0, 3)), empty(I32, (0,)))
    t.add(op, "gradient", wave(F64, (2, 3)), i([1, 1]), g=True)
    t.add(op, "bad_label", f([[1, 2]]), i([2]))
    t.add(op, "bad_label_negative", f([[1, 2]]), i([-1]))
    t.add(op, "bad_lengths", f([[1, 2]]), i([0, 1]))
    t.add(op, "bad_rank", f([1, 2]), i([0]))
    t.add(op, "bad_labels_rank", f([[1, 2]]), i([[0]]))
    t.add(op, "bad_no_classes", empty(F32, (2, 0)), i([0, 0]))


def top(t):
    for dtype in (F32, F64, F16, I32, I64, U8):
        t.add("TopKV2", "matrix_" + dtype.__name__, a(dtype, [[1, 5, 3, 4], [9, 2, 2, 7]]), C(2))
    x = wave(F32, (3, 10), 5)
    t.add("TopKV2", "all", x, C(10))
    t.add("TopKV2", "one", x, C(1))
    t.add("TopKV2", "zero", x, C(0))
    t.add("TopKV2", "vector", f([3, 1, 2]), C(2))
    t.add("TopKV2", "rank_3", wave(F32, (2, 2, 4)), C(2))
    t.add("TopKV2", "ties", f([2, 7, 7, 2, 7]), C(4))
    t.add("TopKV2", "fed_k", x, i(3))
    t.add("TopKV2", "infinities", f([1, INF, -INF, 2]), C(4))
    t.add("TopKV2", "unsorted_one", x, C(1), sorted=False)
    t.add("TopKV2", "empty", empty(F32, (0, 3)), C(2))
    t.add("TopKV2", "long", wave(F32, (200,), 9), C(5))
    t.add("TopKV2", "gradient", wave(F64, (2, 4)), C(2), g=True)
    t.add("TopKV2", "bad_k", x, C(11))
    t.add("TopKV2", "bad_negative", x, C(-1))
    t.add("TopKV2", "bad_scalar", f(1), C(1))
    t.add("TopKV2", "bad_k_rank", x, C([1]))
    t.add("TopKV2", "bad_fed", x, i(11))
    p = f([[0.1, 0.3, 0.6], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
    t.add("InTopKV2", "int32", p, i([2, 2, 0]), C(1))
    t.add("InTopKV2", "int64", p, l([1, 1, 0]), C(2, I64))
    t.add("InTopKV2", "ties", f([[1, 1, 1, 1], [2, 2, 1, 1]]), i([3, 2]), C(2))
    t.add("InTopKV2", "all", p, i([0, 1, 2]), C(5))
    t.add("InTopKV2", "zero", p, i([0, 0, 0]), C(0))
    t.add("InTopKV2", "out_of_range", p, i([3, -1, 0]), C(1))
    t.add("InTopKV2", "infinities", f([[INF, 1], [NAN, 1], [1, NAN]]), i([0, 1, 1]), C(1))
    t.add("InTopKV2", "empty", empty(F32, (0, 3)), empty(I32, (0,)), C(1))
    t.add("InTopKV2", "fed_k", p, i([2, 1, 0]), i(2))
    t.add("InTopKV2", "bad_lengths", p, i([0]), C(1))
    t.add("InTopKV2", "bad_rank", f([1, 2]), i([0]), C(1))


def cases():
    t = Table()
    bias(t)
    softmax(t)
    top(t)
    return t.cases
