"""Pooling by ratios that are no whole numbers."""
from .common import *  # noqa: F403


def add_pools(t):
    x = np.round(wave(F32, (2, 5, 7, 2), 50))
    ratio = [1.0, 1.4, 1.7, 1.0]
    seeded = dict(deterministic=True, seed=5, seed2=9)
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        for pseudo in (False, True):
            for overlapping in (False, True):
                tag = "_".join(["pseudo" if pseudo else "random"] + ["overlapping"] * overlapping)
                both = dict(pseudo_random=pseudo, overlapping=overlapping, pooling_ratio=ratio)
                t.add(op, tag, x, runs=2, **both, **seeded)
            for tag, size, by in (("whole", (6, 4), 2.0), ("large", (23, 17), 2.3),
                                  ("larger", (19, 31), 3.9), ("same", (3, 2), 1.0),
                                  ("one", (1, 1), 1.0)):
                t.add(op, "%s_%d" % (tag, pseudo), ramp(F32, (1,) + size + (1,)),
                      pooling_ratio=[1.0, by, by, 1.0], pseudo_random=pseudo, **seeded)
        for dtype in (F64, I32, I64):
            t.add(op, np.dtype(dtype).name, x[:1].astype(dtype), pooling_ratio=ratio, **seeded)
        t.add(op, "gradient", wave(F64, (1, 5, 4, 1)), pooling_ratio=ratio, g=True, **seeded)
        t.add(op, "gradient_overlapping", wave(F64, (1, 4, 5, 1)), pooling_ratio=ratio, g=True,
              overlapping=True, **seeded)
        t.add(op, "bad_rank", x[0], pooling_ratio=ratio)
        t.add(op, "bad_ratio", x, pooling_ratio=[1.0, 0.5, 1.0, 1.0])
        t.add(op, "bad_batch_ratio", x, pooling_ratio=[1.5, 1.5, 1.0, 1.5])
        t.add(op, "bad_large_ratio", x, pooling_ratio=[1.0, 8.0, 1.0, 1.0])
        t.add(op, "bad_five", x, pooling_ratio=[1.0] * 5)
        t.add(op, "bad_seed", x, pooling_ratio=ratio, seed=1)


def add_grads(t):
    x = f([3, 1, 2, 7, 5, 7, 7, 0, 4, 4, 1, 9, 2, 2, 8], (1, 3, 5, 1))
    y = f([7, 7, 5, 9, 2, 8], (1, 2, 3, 1))
    dy, rows, columns = ramp(F32, (1, 2, 3, 1)), l([0, 2, 3]), l([0, 2, 4, 5])
    for overlapping in (False, True):
        tag = "overlapping" if overlapping else "plain"
        for dtype in (F32, F64, I32, I64):
            name = tag + "_" + np.dtype(dtype).name
            best = f([9, 8, 8, 9, 8, 8], y.shape) if overlapping else y
            xs, ys, ds = (z.astype(dtype) for z in (x, best, 12 * dy))
            t.add("FractionalMaxPoolGrad", name, xs, ys, ds, rows, columns, overlapping=overlapping)
            t.add("FractionalAvgPoolGrad", name, l([1, 3, 5, 1]), ds, rows, columns,
                  overlapping=overlapping)
    op = "FractionalMaxPoolGrad"
    t.add(op, "bad_rows", x, y, dy, l([0, 2]), columns)
    t.add(op, "bad_negative", x, y, dy, l([0, -2, 3]), columns)
    t.add(op, "bad_rank", x[0], y, dy, rows, columns)
    op = "FractionalAvgPoolGrad"
    t.add(op, "constant_shape", Const([1, 3, 5, 1], I64), dy, rows, columns)
    t.add(op, "bad_negative", l([1, 3, 5, 1]), dy, l([0, -2, 3]), columns)
    t.add(op, "bad_shape", l([1, 3, 5]), dy, rows, columns)
    t.add(op, "bad_zero", l([1, 0, 5, 1]), dy, rows, columns)
    t.add(op, "bad_rank", l([1, 3, 5, 1]), dy[0], rows, columns)


def cases():
    t = Table()
    add_pools(t)
    add_grads(t)
    return sorted(t.cases, key=lambda case: case.op)
