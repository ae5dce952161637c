"""Rows joined by segments, and numbers counted by bins."""
from .common import *  # noqa: F403

C = Const
ALL = (F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, U64)
COMPLEX = (np.complex64, np.complex128)


def sorted_segments(t):
    x = ramp(F32, (5, 2), 1)
    ids = i([0, 0, 1, 3, 3])
    for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"):
        for dtype in ALL + (COMPLEX if op[-3:] not in ("Max", "Min") else ()):
            t.add(op, "types_" + dtype.__name__, x.astype(dtype), ids)
        t.add(op, "negative", i([[-5], [2], [-3], [4], [-1]]), l([0, 0, 0, 2, 2]))
        t.add(op, "vector", f([3, 1, 2]), i([0, 0, 0]))
        t.add(op, "rank_3", ramp(F32, (3, 2, 2)), i([0, 1, 1]))
        t.add(op, "known_ids", x, C([0, 1, 1, 1, 2]))
        t.add(op, "empty", empty(F32, (0, 2)), empty(I32, (0,)))
        t.add(op, "empty_rows", empty(F32, (2, 0)), i([0, 1]))
        t.add(op, "infinite", f([INF, 1, -INF]), i([0, 0, 1]))
        t.add(op, "gradient", wave(F64, (5, 2)), ids, g=True)
        t.add(op, "bad_order", x, i([0, 2, 1, 3, 3]))
        t.add(op, "bad_negative", x, i([-1, 0, 1, 3, 3]))
        t.add(op, "bad_length", x, i([0, 1]))
        t.add(op, "bad_rank", x, i([[0, 0], [1, 3], [3, 3]]))
        t.add(op, "bad_scalar", f(1), i([0]))
    t.add("SegmentMean", "overflow", a(U8, [200, 100]), i([0, 0]))
    t.add("SegmentProd", "gradient_zeros", d([0, 2, 3, 0, 0]), i([0, 0, 1, 2, 2]), g=True)


def unsorted_segments(t):
    x = ramp(F32, (5, 2), 1)
    ids = i([2, 0, 2, -1, 3])
    for op in ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax",
               "UnsortedSegmentMin"):
        tag = "more_" if op.endswith("Sum") else ""
        for dtype in ALL + (COMPLEX if op[-3:] not in ("Max", "Min") else ()):
            t.add(op, tag + "types_" + dtype.__name__, x.astype(dtype), ids, C(5))
        t.add(op, tag + "negative", i([[-5], [2], [-3], [4], [-1]]), l([0, 2, 0, 2, 2]), C(3, I64))
        t.add(op, tag + "ids_matrix", x[:4], i([[0, 1], [1, 0], [1, 1], [-1, 2]]), C(3))
        t.add(op, tag + "rank_3", ramp(F32, (3, 2, 2)), i([1, 0, 1]), C(2))
        t.add(op, tag + "no_segments", empty(F32, (0, 2)), empty(I32, (0,)), C(0))
        t.add(op, tag + "empty", empty(F32, (0, 2)), empty(I32, (0,)), C(2))
        t.add(op, tag + "scalar", f(3), i(1), C(2))
        t.add(op, "gradient" + tag, wave(F64, (5, 2)), i([2, 0, 2, -1, 1]), C(3), g=True)
        t.add(op, "bad_id" + tag, x, i([0, 1, 2, 3, 5]), C(5))
        t.add(op, "bad_shape" + tag, x, i([0, 1, 2]), C(5))
        t.add(op, "bad_number" + tag, x, ids, C(-1))
    t.add("UnsortedSegmentProd", "gradient_zeros", d([0, 2, 3, 0, 0]), i([0, 0, 1, 2, 2]), C(3),
          g=True)


def sparse_segments(t):
    x = ramp(F32, (4, 2), 1)
    indices, ids = i([0, 2, 2, 1, 3]), i([0, 0, 1, 3, 3])
    for name in ("Sum", "Mean", "SqrtN"):
        for op, more in (("SparseSegment" + name, ()),
                         ("SparseSegment" + name + "WithNumSegments", (C(5),))):
            for dtype in (ALL if name == "Sum" else (F32, F64, F16)):
                t.add(op, "types_" + dtype.__name__, x.astype(dtype), indices, ids, *more)
            t.add(op, "indices64", x, l([3, 0]), l([0, 1]), *more)
            t.add(op, "empty", x, empty(I32, (0,)), empty(I32, (0,)), *more)
            t.add(op, "empty_rows", empty(F32, (4, 0)), indices, ids, *more)
            t.add(op, "vector", f([1, 2, 3, 4]), indices, ids, *more)
            t.add(op, "gradient", wave(F64, (4, 2)), indices, ids, *more, g=True)
            t.add(op, "bad_index", x, i([4]), i([0]), *more)
            t.add(op, "bad_negative_index", x, i([-1]), i([0]), *more)
            t.add(op, "bad_order", x, i([0, 1]), i([1, 0]), *more)
            t.add(op, "bad_negative_id", x, i([0, 1]), i([-1, 0]), *more)
            t.add(op, "bad_length", x, i([0, 1]), i([0]), *more)
            t.add(op, "bad_scalar", f(1), i([0]), i([0]), *more)
        op = "SparseSegment%sWithNumSegments" % name
        t.add(op, "bad_last", x, i([0, 1]), i([0, 5]), C(5))
        t.add(op, "bad_number", x, i([0, 1]), i([0, 1]), C(-1))
        op = "SparseSegment%sGrad" % name
        for dtype in (F32, F64, F16):
            t.add(op, "types_" + dtype.__name__, x.astype(dtype), indices, ids, C(6))
        t.add(op, "indices64", x, l([3, 0]), l([0, 1]), C(4))
        t.add(op, "in_any_order", x, i([3, 0, 3, 1]), i([2, 0, 2, 0]), C(4))
        t.add(op, "empty_rows", empty(F32, (4, 0)), indices, ids, C(4))
        t.add(op, "vector", f([1, 2, 3, 4]), indices, ids, C(4))
        t.add(op, "bad_index", x, i([4]), i([0]), C(4))
        t.add(op, "bad_id", x, i([0]), i([4]), C(4))
        t.add(op, "bad_number", x, i([0]), i([0]), C(-1))


def bins(t):
    for dtype in (I32, I64, F32, F64):
        t.add("Bincount", "weights_" + dtype.__name__, i([1, 2, 1, 5]), C(4),
              a(dtype, [3, 4, 5, 6]))
        t.add("Bincount", "counts_" + dtype.__name__, i([1, 2, 1, 5]), C(4), a(dtype, []))
        t.add("DenseBincount", "weights_" + dtype.__name__, i([1, 2, 1, 5]), C(4),
              a(dtype, [3, 4, 5, 6]))
        t.add("DenseBincount", "rows_" + dtype.__name__, l([[1, 2], [1, 5]]), C(4, I64),
              a(dtype, []))
        t.add("DenseBincount", "binary_" + dtype.__name__, l([[1, 1], [2, 5]]), C(4, I64),
              a(dtype, []), binary_output=True)
        t.add("HistogramFixedWidth", dtype.__name__, a(dtype, [-1, 0, 1, 2, 5, 15]),
              a(dtype, [0, 5]), C(5))
    t.add("Bincount", "matrix", i([[1, 2], [1, 0]]), C(3), empty(F32, (0,)))
    t.add("Bincount", "empty", empty(I32, (0,)), C(3), empty(I32, (0,)))
    t.add("Bincount", "no_bins", i([1, 2]), C(0), empty(I32, (0,)))
    t.add("Bincount", "bad_negative", i([-1, 2]), C(3), empty(I32, (0,)))
    t.add("Bincount", "bad_size", i([1, 2]), C(-3), empty(I32, (0,)))
    t.add("Bincount", "bad_weights", i([1, 2]), C(3), i([1, 2, 3]))
    t.add("DenseBincount", "empty", empty(I32, (0,)), C(3), empty(I32, (0,)))
    t.add("DenseBincount", "row_weights", i([[1, 2], [1, 0]]), C(3), f([[1, 2], [3, 4]]))
    t.add("DenseBincount", "bad_rank", i([[[1, 2]]]), C(3), empty(I32, (0,)))
    t.add("DenseBincount", "bad_negative", i([-1, 2]), C(3), empty(I32, (0,)))
    t.add("DenseBincount", "bad_size", i([1, 2]), C(-3), empty(I32, (0,)))
    t.add("HistogramFixedWidth", "matrix", f([[0.1, 0.9], [0.5, 1]]), f([0, 1]), C(4), dtype=I64)
    t.add("HistogramFixedWidth", "scalar", f(0.3), f([0, 1]), C(2))
    t.add("HistogramFixedWidth", "empty", empty(F32, (0,)), f([0, 1]), C(3))
    t.add("HistogramFixedWidth", "infinite", f([INF, -INF, 0.5]), f([0, 1]), C(2))
    t.add("HistogramFixedWidth", "bad_range", f([1]), f([1, 1]), C(3))
    t.add("HistogramFixedWidth", "bad_range_length", f([1]), f([0, 1, 2]), C(3))
    t.add("HistogramFixedWidth", "bad_bins", f([1]), f([0, 1]), C(0))
    for op in ("LowerBound", "UpperBound"):
        for dtype in ALL:
            t.add(op, "types_" + dtype.__name__, a(dtype, [[1, 3, 3, 7], [0, 2, 4, 9]]),
                  a(dtype, [[3, 0, 8], [4, 9, 10]]))
        t.add(op, "int64", f([[1, 2]]), f([[1.5]]), out_type=I64)
        t.add(op, "empty_values", f([[1, 2]]), empty(F32, (1, 0)))
        t.add(op, "empty_inputs", empty(F32, (2, 0)), f([[1], [2]]))
        t.add(op, "infinite", f([[-INF, 0, INF]]), f([[INF, -INF, 1]]))
        t.add(op, "bad_rows", f([[1, 2]]), f([[1], [2]]))
        t.add(op, "bad_vectors", f([1, 2]), f([1]))


def cases():
    t = Table()
    sorted_segments(t)
    unsorted_segments(t)
    sparse_segments(t)
    bins(t)
    return t.cases
