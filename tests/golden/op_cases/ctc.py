"""Connectionist temporal classification."""
from .common import *  # noqa: F403

LOOSE = 5e6  # TensorFlow sums the logarithms of doubles as floats
ONE = l([[0, 0], [0, 1]])


def loss(t):
    x, two = wave(F64, (3, 1, 3)), wave(F64, (4, 2, 4), phase=1)
    labels = [l([[0, 0], [0, 1], [1, 0]]), i([1, 0, 2])]
    for dtype, tol in ((F32, 10), (F64, LOOSE)):
        t.add("CTCLoss", dtype.__name__, x.astype(dtype), ONE, i([0, 1]), i([3]), tol=tol)
        t.add("CTCLoss", "batch_" + dtype.__name__, two.astype(dtype), *labels, i([4, 3]), tol=tol)
    t.add("CTCLoss", "gradient", two, *labels, i([4, 3]), g=True, tol=LOOSE)
    t.add("CTCLoss", "repeated", x, ONE, i([0, 0]), i([3]), g=True, tol=LOOSE)
    t.add("CTCLoss", "impossible", x, ONE, i([0, 0]), i([2]), tol=LOOSE)
    t.add("CTCLoss", "not_merged", x, ONE, i([0, 0]), i([2]), ctc_merge_repeated=False, g=True,
          tol=LOOSE)
    t.add("CTCLoss", "collapsed", x, ONE, i([0, 0]), i([3]), preprocess_collapse_repeated=True,
          tol=LOOSE)
    t.add("CTCLoss", "too_long", x, ONE, i([0, 1]), i([1]),
          ignore_longer_outputs_than_inputs=True, tol=LOOSE)
    t.add("CTCLoss", "blank_label", x, ONE, i([0, 2]), i([3]), tol=LOOSE)
    t.add("CTCLoss", "late_label", x, ONE[1:], i([1]), i([3]), tol=LOOSE)
    for tag, args in (("negative", (ONE, i([0, -1]), i([3]))),
                      ("after_blank", (ONE, i([2, 0]), i([3]))),
                      ("no_time", (ONE, i([0, 1]), i([1]))), ("length", (ONE, i([0, 1]), i([4]))),
                      ("row", (l([[1, 0]]), i([0]), i([3]))),
                      ("order", (ONE[::-1].copy(), i([0, 1]), i([3]))),
                      ("no_labels", (empty(I64, (0, 2)), empty(I32, (0,)), i([3]))),
                      ("lengths", (ONE, i([0, 1]), i([3, 3]))),
                      ("values", (ONE, i([0]), i([3])))):
        t.add("CTCLoss", "bad_" + tag, x, *args)
    t.add("CTCLoss", "bad_rank", x[0], ONE, i([0, 1]), i([3]))


def greedy(t):
    op = "CTCGreedyDecoder"
    x = f([[[3, 1, 0], [0, 2, 1]], [[3, 1, 0], [0, 1, 4]], [[0, 1, 5], [0, 2, 1]],
           [[2, 1, 0], [2, 2, 0]]])
    for dtype in (F32, F64):
        t.add(op, dtype.__name__, x.astype(dtype), i([4, 4]))
        t.add(op, "merged_" + dtype.__name__, x.astype(dtype), i([4, 3]), merge_repeated=True)
    t.add(op, "blank_first", x, i([4, 2]), blank_index=0)
    t.add(op, "blank_from_end", x, i([4, 2]), blank_index=-3, merge_repeated=True)
    t.add(op, "no_steps", x, i([0, 0]))
    t.add(op, "bad_length", x, i([5, 1]))
    t.add(op, "bad_lengths", x, i([4]))
    t.add(op, "bad_blank", x, i([4, 4]), blank_index=3)
    t.add(op, "bad_rank", x[0], i([4, 4]))


def cases():
    t = Table()
    loss(t)
    greedy(t)
    return t.cases
