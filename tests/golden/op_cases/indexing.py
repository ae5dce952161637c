"""Gathering, scattering, partitioning, and ops whose output shape depends on values."""
from .common import *  # noqa: F403

C = Const
ALL = {"float": F32, "double": F64, "half": F16, "int32": I32, "int64": I64, "uint8": U8,
       "bool": np.bool_}


def each_dtype(t, op, make, string=True, **attrs):
    for name, dtype in ALL.items():
        t.add(op, name, *make(np.asarray([[0, 1], [2, 3], [4, 5]]).astype(dtype)), **attrs)
    if string:
        t.add(op, "string", *make(s([["a", ""], ["c\0d", "dd"], ["e", "f" * 30]])), **attrs)


def gathering(t):
    x = ramp(F32, (3, 2, 4))
    each_dtype(t, "Gather", lambda v: [v, i([2, 0])])
    t.add("Gather", "int64_indices", x, l([1, 1]))
    t.add("Gather", "matrix_indices", x, i([[0, 1], [2, 2]]))
    t.add("Gather", "scalar_index", x, i(1))
    t.add("Gather", "no_indices", x, empty(I32, (0,)))
    t.add("Gather", "empty_rows", empty(F32, (3, 0)), i([1, 1]))
    t.add("Gather", "bad_index", x, i([0, 3]))
    t.add("Gather", "bad_negative", x, i([-1]))
    t.add("Gather", "bad_scalar", f(1), i([0]))
    each_dtype(t, "GatherV2", lambda v: [v, i([2, 0]), C(0)])
    t.add("GatherV2", "axis_1", x, i([1, 0, 1]), C(1))
    t.add("GatherV2", "axis_last", x, i([3, 0]), C(-1))
    t.add("GatherV2", "axis_middle_matrix", x, i([[1, 0], [0, 0]]), C(1))
    t.add("GatherV2", "scalar_index", x, i(1), C(2))
    t.add("GatherV2", "int64_all", x, l([1]), C(1, I64))
    t.add("GatherV2", "fed_axis", x, i([1]), i(1))
    t.add("GatherV2", "no_indices", x, empty(I32, (0,)), C(1))
    t.add("GatherV2", "empty_rows", empty(F32, (3, 0)), i([1, 1]), C(0))
    t.add("GatherV2", "batch", ramp(F32, (2, 3)), i([[2, 0], [1, 1]]), C(1), batch_dims=1)
    t.add("GatherV2", "batch_rank_3", x, i([[1], [0], [1]]), C(1), batch_dims=1)
    t.add("GatherV2", "batch_later_axis", x, i([[3, 0], [1, 1], [2, 2]]), C(2), batch_dims=1)
    t.add("GatherV2", "batch_negative", ramp(F32, (2, 3)), i([[2, 0], [1, 1]]), C(1),
          batch_dims=-1)
    t.add("GatherV2", "gradient", wave(F64, (3, 2)), i([2, 0, 2]), C(0), g=True)
    t.add("GatherV2", "gradient_axis", wave(F64, (2, 3)), i([[2, 0], [2, 1]]), C(1), g=True)
    t.add("GatherV2", "bad_index", x, i([0, 3]), C(0))
    t.add("GatherV2", "bad_index_axis", x, i([0, 2]), C(1))
    t.add("GatherV2", "bad_negative", x, i([-1]), C(0))
    t.add("GatherV2", "bad_axis", x, i([0]), C(3))
    t.add("GatherV2", "bad_scalar", f(1), i([0]), C(0))
    t.add("GatherV2", "bad_of_empty", empty(F32, (0, 2)), i([0]), C(0))
    t.add("GatherV2", "bad_batch", ramp(F32, (2, 3)), i([[2], [1], [1]]), C(1), batch_dims=1)
    each_dtype(t, "GatherNd", lambda v: [v, i([[2, 1], [0, 0]])])
    t.add("GatherNd", "rows", x, i([[2], [0]]))
    t.add("GatherNd", "full", x, i([[2, 1, 3], [0, 0, 0]]))
    t.add("GatherNd", "nested", x, i([[[2, 1]], [[0, 0]]]))
    t.add("GatherNd", "vector_index", x, i([2, 1]))
    t.add("GatherNd", "int64_indices", x, l([[2, 1]]))
    t.add("GatherNd", "whole", f([1, 2]), empty(I32, (2, 0)))
    t.add("GatherNd", "no_indices", x, empty(I32, (0, 2)))
    t.add("GatherNd", "gradient", wave(F64, (3, 2)), i([[2, 1], [0, 0], [2, 1]]), g=True)
    t.add("GatherNd", "gradient_rows", wave(F64, (3, 2)), i([[2], [0]]), g=True)
    t.add("GatherNd", "bad_index", x, i([[3, 0]]))
    t.add("GatherNd", "bad_negative", x, i([[0, -1]]))
    t.add("GatherNd", "bad_depth", x, i([[0, 0, 0, 0]]))
    t.add("GatherNd", "bad_scalar_index", x, i(0))
    t.add("GatherNd", "bad_of_empty", empty(F32, (0, 2)), i([[0]]))


def scattering(t):
    for name, dtype in ALL.items():
        t.add("ScatterNd", name, i([[1], [3]]), a(dtype, [[1, 2], [3, 4]]), C([4, 2]))
    t.add("ScatterNd", "elements", i([[0, 1], [2, 0]]), f([5, 6]), C([3, 2]))
    t.add("ScatterNd", "adds_up", i([[1], [1], [0]]), f([1, 2, 4]), C([3]))
    t.add("ScatterNd", "int64_indices", l([[2]]), f([7]), C([3], I64))
    t.add("ScatterNd", "fed_shape", i([[2]]), f([7]), i([3]))
    t.add("ScatterNd", "nothing", empty(I32, (0, 1)), empty(F32, (0, 2)), C([2, 2]))
    t.add("ScatterNd", "gradient", i([[1], [3], [1]]), wave(F64, (3, 2)), C([4, 2]), g=True)
    t.add("ScatterNd", "bad_index", i([[4]]), f([1]), C([4]))
    t.add("ScatterNd", "bad_negative", i([[-1]]), f([1]), C([4]))
    t.add("ScatterNd", "bad_updates", i([[1]]), f([1, 2]), C([4]))
    t.add("ScatterNd", "bad_depth", i([[1, 1]]), f([1]), C([4]))
    t.add("ScatterNd", "bad_into_empty", i([[0]]), f([1]), C([0]))
    for name, dtype in ALL.items():
        t.add("OneHot", name, i([0, 2, 1]), C(3), a(dtype, 1), a(dtype, 0))
    for axis in (0, 1, 2, -1):
        t.add("OneHot", "axis_%d" % axis, i([[0, 2], [1, 1]]), C(3), f(5), f(-1), axis=axis)
    t.add("OneHot", "out_of_range", i([-1, 0, 3, 7]), C(3), f(1), f(0))
    t.add("OneHot", "int64_indices", l([1, 0]), C(2), f(1), f(0))
    t.add("OneHot", "uint8_indices", a(U8, [1, 0]), C(2), f(1), f(0))
    t.add("OneHot", "scalar", i(1), C(3), f(1), f(0))
    t.add("OneHot", "fed_depth", i([1, 0]), i(2), f(1), f(0))
    t.add("OneHot", "string", i([1, 0]), C(2), s("on"), s("off"))
    t.add("OneHot", "depth_zero", i([1, 0]), C(0), f(1), f(0))
    t.add("OneHot", "empty", empty(I32, (0,)), C(3), f(1), f(0))
    t.add("OneHot", "bad_depth", i([0]), C(-1), f(1), f(0))
    t.add("OneHot", "bad_axis", i([0]), C(2), f(1), f(0), axis=2)
    t.add("OneHot", "bad_value", i([0]), C(2), f([1]), f(0))
    t.add("OneHot", "bad_depth_rank", i([0]), C([2]), f(1), f(0))


def finding(t):
    for name, dtype in ALL.items():
        t.add("Where", name, a(dtype, [[0, 1, 2], [0, 0, 3]]))
    t.add("Where", "vector", b([1, 0, 1]))
    t.add("Where", "rank_3", b([[[1, 0], [0, 0]], [[0, 1], [1, 1]]]))
    t.add("Where", "none", b([0, 0]))
    t.add("Where", "nan", f([NAN, 0, -0.0, 1]))
    t.add("Where", "empty", empty(np.bool_, (0, 3)))
    t.add("Where", "long", b([k % 7 == 3 for k in range(50)]))
    t.add("Where", "bad_scalar", b(True))
    for name, dtype in ALL.items():
        if dtype != np.bool_:
            t.add("Unique", name, a(dtype, [5, 1, 5, 2, 1, 9]))
    t.add("Unique", "string", s(["b", "a", "b", "", ""]))
    t.add("Unique", "int64_index", f([1, 1, 2]), out_idx="int64")
    t.add("Unique", "empty", empty(F32, (0,)))
    t.add("Unique", "one", i([7]))
    t.add("Unique", "long", i([(k * 37) % 11 for k in range(60)]))
    t.add("Unique", "bad_rank", i([[1, 2]]))


def partitioning(t):
    for name, dtype in ALL.items():
        t.add("DynamicStitch", name, [i([0, 2]), i([1])], [a(dtype, [[1, 2], [3, 4]]),
                                                          a(dtype, [[5, 6]])])
    t.add("DynamicStitch", "later_wins", [i([0, 1]), i([1])], [f([1, 2]), f([9])])
    t.add("DynamicStitch", "scalars", [i(0), i([1, 2])], [f(1), f([2, 3])])
    t.add("DynamicStitch", "matrices", [i([[0, 3], [2, 1]])], [f([[1, 4], [3, 2]])])
    t.add("DynamicStitch", "constant_indices", [C([0, 2]), C([1])], [i([4, 5]), i([6])])
    t.add("DynamicStitch", "string", [i([1]), i([0])], [s(["b"]), s(["a"])])
    t.add("DynamicStitch", "empty", [empty(I32, (0,))], [empty(F32, (0, 2))])
    t.add("DynamicStitch", "gradient", [i([0, 2]), i([1])], [wave(F64, (2, 2)),
                                                             wave(F64, (1, 2), 1)], g=True)
    t.add("DynamicStitch", "bad_negative", [i([-1])], [f([1])])
    t.add("DynamicStitch", "bad_shapes", [i([0, 1])], [f([1])])
    t.add("DynamicStitch", "bad_rows", [i([0]), i([1])], [f([[1, 2]]), f([[1, 2, 3]])])
    for name, dtype in ALL.items():
        t.add("DynamicPartition", name, a(dtype, [[1, 2], [3, 4], [5, 6]]), i([1, 0, 1]),
              num_partitions=2)
    t.add("DynamicPartition", "vector", f([1, 2, 3, 4]), i([2, 0, 0, 2]), num_partitions=3)
    t.add("DynamicPartition", "matrix", f([[1, 2], [3, 4]]), i([[0, 1], [1, 0]]),
          num_partitions=2)
    t.add("DynamicPartition", "scalar", f([1, 2]), i(1), num_partitions=2)
    t.add("DynamicPartition", "one", f([1, 2]), i([0, 0]), num_partitions=1)
    t.add("DynamicPartition", "string", s(["a", "b", "c"]), i([1, 0, 1]), num_partitions=2)
    t.add("DynamicPartition", "empty", empty(F32, (0, 2)), empty(I32, (0,)), num_partitions=2)
    t.add("DynamicPartition", "gradient", wave(F64, (3, 2)), i([1, 0, 1]), num_partitions=2,
          g=True)
    t.add("DynamicPartition", "bad_index", f([1]), i([2]), num_partitions=2)
    t.add("DynamicPartition", "bad_negative", f([1]), i([-1]), num_partitions=2)
    t.add("DynamicPartition", "bad_shapes", f([1, 2]), i([0]), num_partitions=2)


def segments(t):
    for name, dtype in ALL.items():
        if dtype == np.bool_:
            continue
        x = a(dtype, [[1, 2], [3, 4], [5, 6], [7, 8]])
        t.add("SegmentSum", name, x, i([0, 0, 2, 2]))
        t.add("UnsortedSegmentSum", name, x, i([2, 0, 2, -1]), C(3))
    x = ramp(F32, (4, 2))
    t.add("SegmentSum", "int64_ids", x, l([0, 1, 1, 1]))
    t.add("SegmentSum", "vector", f([1, 2, 3]), i([0, 0, 1]))
    t.add("SegmentSum", "rank_3", ramp(F32, (3, 2, 2)), i([0, 1, 1]))
    t.add("SegmentSum", "gap_first", f([1, 2]), i([2, 2]))
    t.add("SegmentSum", "empty", empty(F32, (0, 2)), empty(I32, (0,)))
    t.add("SegmentSum", "gradient", wave(F64, (4, 2)), i([0, 0, 2, 2]), g=True)
    t.add("SegmentSum", "bad_order", x, i([0, 1, 0, 1]))
    t.add("SegmentSum", "bad_length", x, i([0, 1]))
    t.add("SegmentSum", "bad_negative", x, i([-1, 0, 0, 0]))
    t.add("SegmentSum", "bad_rank", x, i([[0, 0, 1, 1]]))
    t.add("UnsortedSegmentSum", "int64_ids", x, l([1, 1, 0, 1]), C(2, I64))
    t.add("UnsortedSegmentSum", "matrix_ids", x, i([[0, 1], [1, 0], [2, 2], [0, 0]]), C(3))
    t.add("UnsortedSegmentSum", "fed_count", x, i([1, 1, 0, 1]), i(2))
    t.add("UnsortedSegmentSum", "no_segments", x, i([-1, -1, -1, -1]), C(0))
    t.add("UnsortedSegmentSum", "empty", empty(F32, (0, 2)), empty(I32, (0,)), C(2))
    t.add("UnsortedSegmentSum", "scalar_id", f([1, 2]), i(1), C(2))
    t.add("UnsortedSegmentSum", "gradient", wave(F64, (4, 2)), i([1, 0, 1, -1]), C(3), g=True)
    t.add("UnsortedSegmentSum", "bad_index", x, i([0, 1, 2, 3]), C(3))
    t.add("UnsortedSegmentSum", "bad_shapes", x, i([0, 1]), C(3))
    t.add("UnsortedSegmentSum", "bad_count", x, i([0, 1, 0, 1]), C(-1))


def cases():
    t = Table()
    gathering(t)
    scattering(t)
    finding(t)
    partitioning(t)
    segments(t)
    return t.cases
