"""Random parts of pictures."""
from .common import *  # noqa: F403

OBJECTS = f([[[0.1, 0.2, 0.8, 0.9], [0.3, 0.3, 0.5, 0.6]]])


def cases():
    t = Table()
    for op, rest in (("SampleDistortedBoundingBox", ()),
                     ("SampleDistortedBoundingBoxV2", (f(0.4),))):
        for k, size in enumerate(([40, 60, 3], [300, 200, 3], [7, 5, 1], [1, 1, 1])):
            t.add(op, "size_%d" % k, i(size), OBJECTS, *rest, seed=3 + k, seed2=7, runs=3)
        t.add(op, "int64", l([50, 40, 3]), OBJECTS, *rest, seed=1, seed2=2)
        t.add(op, "whole", i([50, 40, 3]), empty(F32, (0, 0, 4)), *rest, seed=1, seed2=2,
              use_image_if_no_bounding_boxes=True)
        t.add(op, "one_try", i([50, 40, 3]), OBJECTS, *rest, seed=1, seed2=2, max_attempts=1)
        t.add(op, "ranges", i([50, 90, 3]), OBJECTS, *rest, seed=4, seed2=2,
              aspect_ratio_range=[0.5, 2.0], area_range=[0.3, 0.5], runs=2)
        t.add(op, "bad_none", i([50, 40, 3]), empty(F32, (0, 0, 4)), *rest, seed=1)
        t.add(op, "bad_coordinates", i([50, 40, 3]), f([[[0, 0, 1, 1.5]]]), *rest, seed=1)
        t.add(op, "wrong_order", i([50, 40, 3]), f([[[0.5, 0, 0.2, 1]]]), *rest, seed=1)
        t.add(op, "bad_size", i([50, 40]), OBJECTS, *rest, seed=1)
        t.add(op, "bad_attempts", i([50, 40, 3]), OBJECTS, *rest, seed=1, max_attempts=0)
        t.add(op, "wrong_range", i([50, 40, 3]), OBJECTS, *rest, seed=1, area_range=[0.5, 0.2])
        t.add(op, "bad_rank", i([50, 40, 3]), OBJECTS[0], *rest, seed=1)
    op = "StatelessSampleDistortedBoundingBox"
    for k, size in enumerate((i([40, 60, 3]), l([300, 200, 3]), i([7, 5, 1]), l([1, 1, 1]))):
        t.add(op, "size_%d" % k, size, OBJECTS, f(0.4), (l, i)[k % 2]([3 + k, 7]))
    t.add(op, "whole", i([50, 40, 3]), empty(F32, (0, 0, 4)), f(0.4), l([1, 2]),
          use_image_if_no_bounding_boxes=True)
    t.add(op, "one_try", i([50, 40, 3]), OBJECTS, f(0.4), l([1, 2]), max_attempts=1)
    t.add(op, "ranges", i([50, 90, 3]), OBJECTS, f(0.4), l([4, 2]),
          aspect_ratio_range=[0.5, 2.0], area_range=[0.3, 0.5])
    t.add(op, "bad_none", i([50, 40, 3]), empty(F32, (0, 0, 4)), f(0.4), l([1, 2]))
    t.add(op, "bad_seed", i([50, 40, 3]), OBJECTS, f(0.4), l([1, 2, 3]))
    return sorted(t.cases, key=lambda case: case.op)
