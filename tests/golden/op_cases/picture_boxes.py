"""Boxes drawn on pictures, and windows cut out of them."""
from .common import *  # noqa: F403

MANY = [[0.1 * k % 1 - 0.2, 0.07 * k - 0.1, 0.1 * k % 1 + 0.3, 0.07 * k + 0.2] for k in range(12)]
BOXES = {
    "inside": [[0.2, 0.1, 0.7, 0.6]],
    "whole": [[0, 0, 1, 1]],
    "over_the_edges": [[-0.5, -0.5, 0.5, 0.5], [0.5, 0.5, 2, 2]],
    "outside": [[-2, -2, -1, -1], [0.2, 1.5, 0.8, 2]],
    "turned": [[0.8, 0.1, 0.2, 0.5]],
    "point": [[0.5, 0.5, 0.5, 0.5]],
    "many": MANY,
    "none": np.zeros((0, 4)),
    "around": [[-1, -1, 3, 3]],
}


def drawing(t):
    first, second = "DrawBoundingBoxes", "DrawBoundingBoxesV2"
    colors = f([[0.25, 0.5, 0.75], [2, -1, 0]])
    for tag, boxes in BOXES.items():
        for depth in (1, 3, 4):
            if depth == 3 or tag == "many":
                name = "%s_%d" % (tag, depth)
                images = np.full((1, 7, 9, depth), -3, F32)
                t.add(first, name, images, f([boxes]))
                t.add(second, name, images, f([boxes]), empty(F32, (0, depth)))
        t.add(second, tag + "_colors", np.full((1, 7, 9, 3), -3, F32), f([boxes]), colors)
    two = np.zeros((2, 5, 4, 3))
    boxes = f([[[0.1, 0.1, 0.5, 0.9]], [[0, 0.4, 1, 0.6]]])
    for op, more in ((first, ()), (second, (colors,))):
        t.add(op, "two", two.astype(F32), boxes, *more)
        t.add(op, "half", two.astype(F16), boxes, *more)
        t.add(op, "empty", empty(F32, (0, 5, 4, 3)), empty(F32, (0, 2, 4)), *more)
        t.add(op, "one_pixel", empty(F32, (1, 1, 1, 3)), f([[[0, 0, 1, 1]]]), *more)
        t.add(op, "bad_depth", empty(F32, (1, 5, 4, 2)), boxes[:1], *more)
        t.add(op, "bad_batch", two.astype(F32), boxes[:1], *more)
        t.add(op, "bad_rank", two[0].astype(F32), boxes[:1], *more)
        t.add(op, "bad_boxes", two.astype(F32), boxes[0], *more)
    t.add(second, "bad_colors", two.astype(F32), boxes, empty(F32, (2, 2)))
    t.add(second, "bad_colors_rank", two.astype(F32), boxes, empty(F32, (3,)))


def glimpses(t):
    images = ramp(F32, (2, 5, 6, 2))
    offsets = f([[0.1, -0.2], [0, 0]])
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        t.add(op, "inside", images, Const([2, 3]), offsets)
        t.add(op, "odd", images, Const([3, 1]), offsets)
        t.add(op, "whole", images, Const([5, 6]), f([[0, 0], [0, 0]]))
        for normalized in (False, True):
            for centered in (False, True):
                for k, at in enumerate(([[0.5, 0.3], [-0.4, 0.9]], [[2, 1], [-2, -3]],
                                        [[9, 9], [-9, 2]])):
                    t.add(op, "zero_%d_%d_%d" % (normalized, centered, k), images,
                          Const([3, 4]), f(at), normalized=normalized, centered=centered,
                          uniform_noise=False, noise="zero")
        t.add(op, "larger", images, Const([7, 8]), f([[0, 0], [0, 0]]), uniform_noise=False,
              noise="zero")
        t.add(op, "no_rows", images, Const([0, 3]), offsets)
        t.add(op, "empty", empty(F32, (0, 5, 6, 2)), Const([2, 3]), empty(F32, (0, 2)))
        t.add(op, "unnamed_noise", images, Const([2, 2]), offsets, noise="", uniform_noise=False)
        t.add(op, "bad_size", images, Const([2]), offsets)
        t.add(op, "bad_negative", images, Const([2, -1]), offsets)
        t.add(op, "bad_offsets", images, Const([2, 3]), offsets[:1])
        t.add(op, "bad_columns", images, Const([2, 3]), f([[1], [2]]))
        t.add(op, "bad_rank", images[0], Const([2, 3]), offsets)
        t.add(op, "bad_noise", images, Const([2, 3]), offsets, uniform_noise=False, noise="loud")
        t.add(op, "bad_two_noises", images, Const([2, 3]), offsets, noise="zero")


def suppression(t):
    op = "CombinedNonMaxSuppression"
    boxes = f([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11],
               [0, 10.1, 1, 11.1], [0, 100, 1, 101]])
    scores = f([[0.9, 0.01], [0.75, 0.05], [0.6, 0.92], [0.95, 0.89], [0.5, 0.88], [0.3, 0.2]])
    one, each = boxes.reshape(1, 6, 1, 4), np.stack([boxes, boxes[::-1]], 1).reshape(1, 6, 2, 4)
    rest = f(0.5), f(0.1)
    for tag, given in (("one_set", one), ("each", each)):
        for per_class, total in ((3, 3), (2, 9), (10, 4), (1, 1)):
            for pad in (False, True):
                t.add(op, "%s_%d_%d_%d" % (tag, per_class, total, pad), given, scores[None],
                      Const(per_class), Const(total), *rest, pad_per_class=pad, clip_boxes=False)
    two = np.concatenate([one, one[:, ::-1]])
    both = np.stack([scores, scores[:, ::-1] * 0.5])
    t.add(op, "batch", two, both, i(3), i(5), *rest)
    t.add(op, "none_good", one, scores[None], i(3), i(5), f(0.5), f(2))
    t.add(op, "strict", one, scores[None], i(3), i(5), f(0), f(0))
    t.add(op, "no_boxes", empty(F32, (1, 0, 1, 4)), empty(F32, (1, 0, 2)), i(3), i(2), *rest)
    for tag, values in (("per_class", (0, 3)), ("total", (3, 0)), ("negative", (-1, 3))):
        t.add(op, "bad_" + tag, one, scores[None], i(values[0]), i(values[1]), *rest)
    t.add(op, "bad_threshold", one, scores[None], i(3), i(3), f(1.5), f(0))
    t.add(op, "bad_classes", each, np.ones((1, 6, 3), np.float32), i(3), i(3), *rest)
    t.add(op, "bad_count", one[:, :5], scores[None], i(3), i(3), *rest)
    t.add(op, "bad_columns", one[..., :3], scores[None], i(3), i(3), *rest)


def cases():
    t = Table()
    suppression(t)
    drawing(t)
    glimpses(t)
    return t.cases
