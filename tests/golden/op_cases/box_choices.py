"""Boxes chosen by score."""
from .common import *  # noqa: F403

BOXES = f([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 11.1, 0, 10.1],
           [0, 100, 1, 101], [0.2, 0.2, 0.2, 0.4]])
SCORES = f([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.4])


def cases():
    t = Table()
    extra = {"V2": (0.5,), "V3": (0.5, 0.35), "V4": (0.5, 0.35), "V5": (0.5, 0.35, 0.0), "": ()}
    for version, values in extra.items():
        op = "NonMaxSuppression" + version
        rest = [f(v) for v in values]
        for most in (0, 2, 3, 30):
            t.add(op, "most_%d" % most, BOXES, SCORES, Const(most), *rest)
        t.add(op, "same_scores", BOXES, np.full(7, 0.5, np.float32), i(5), *rest)
        t.add(op, "one", BOXES[:1], SCORES[:1], i(3), *rest)
        t.add(op, "empty", empty(F32, (0, 4)), empty(F32, (0,)), i(3), *rest)
        if version:
            half = [x.astype(F16) for x in rest]
            t.add(op, "half", BOXES.astype(F16), SCORES.astype(F16), i(5), *half)
            t.add(op, "strict", BOXES, SCORES, i(5), f(0.0), *rest[1:])
            t.add(op, "bad_threshold", BOXES, SCORES, i(3), f(1.2), *rest[1:])
            t.add(op, "bad_negative_threshold", BOXES, SCORES, i(3), f(-0.1), *rest[1:])
        if version in ("V4", "V5"):
            t.add(op, "padded", BOXES, SCORES, Const(9), *rest, pad_to_max_output_size=True)
        t.add(op, "bad_columns", BOXES[:, :3], SCORES, i(3), *rest)
        t.add(op, "bad_lengths", BOXES, SCORES[:3], i(3), *rest)
        t.add(op, "bad_rank", BOXES[0], SCORES, i(3), *rest)
        t.add(op, "bad_size", BOXES, SCORES, i([3]), *rest)
    t.add("NonMaxSuppression", "threshold", BOXES, SCORES, i(5), iou_threshold=0.9)
    for k, sigma in enumerate((0.1, 0.5, 2.0)):
        t.add("NonMaxSuppressionV5", "soft_%d" % k, BOXES, SCORES, i(6), f(0.99), f(0.1),
              f(sigma))
    t.add("NonMaxSuppressionV5", "bad_sigma", BOXES, SCORES, i(6), f(0.5), f(0.1), f(-1))
    op = "NonMaxSuppressionWithOverlaps"
    overlaps = np.abs(wave(F32, (5, 5), 1.0))
    for most in (0, 2, 9):
        t.add(op, "most_%d" % most, overlaps, SCORES[:5], i(most), f(0.5), f(0.1))
    t.add(op, "high", overlaps, SCORES[:5], i(5), f(3), f(0.7))
    t.add(op, "empty", empty(F32, (0, 0)), empty(F32, (0,)), i(3), f(0.5), f(0))
    t.add(op, "bad_square", overlaps[:, :4], SCORES[:5], i(3), f(0.5), f(0))
    t.add(op, "bad_lengths", overlaps, SCORES[:4], i(3), f(0.5), f(0))
    return sorted(t.cases, key=lambda case: case.op)
