"""Ragged tensors, counts of them, and small ops of real graphs."""
from .common import *  # noqa: F403


def ranges(t):
    t.add("RaggedRange", "scalars", i(1), i(9), i(3))
    t.add("RaggedRange", "vectors", i([2, 5, 8, 3]), i([3, 5, 12, -3]), i([1, 1, 3, -2]))
    t.add("RaggedRange", "mixed", l([0, 4]), l(7), l(2), Tsplits="int32")
    t.add("RaggedRange", "float", f([0, 1.5]), f([1, 0]), f([0.3, -0.25]))
    t.add("RaggedRange", "double", d(0), d([0.5, 2, -1]), d(0.7))
    t.add("RaggedRange", "bfloat16", a(BFLOAT16, [0, 3]), a(BFLOAT16, [2, 1]),
          a(BFLOAT16, [0.5, -1]))
    t.add("RaggedRange", "no_rows", i([]), i([]), i([]))
    t.add("RaggedRange", "int64_limits", l([2**62, -2**63]), l([2**63 - 1, -2**63 + 3]),
          l([2**62, 2]))
    t.add("RaggedRange", "bad_zero", i([1, 2]), i([3, 9]), i(0))
    t.add("RaggedRange", "bad_lengths", i([1, 2]), i([3]), i(1))
    t.add("RaggedRange", "bad_matrix", i([[1, 2]]), i([3]), i(1))
    t.add("RaggedRange", "bad_nan", f([0]), f([NAN]), f([1]))
    t.add("RaggedRange", "bad_huge", f([0]), f([1e30]), f([1]))
    t.add("RaggedRange", "bad_count32", l([0]), l([2**40]), l([1]), Tsplits="int32")


def gathers(t):
    splits, values = l([0, 3, 3, 5, 6]), f([1, 2, 3, 4, 5, 6])

    def add(tag, nested, values, indices, levels, **attrs):
        t.add("RaggedGather", tag, nested, values, indices, OUTPUT_RAGGED_RANK=levels, **attrs)

    add("rows", [splits], values, i([2, 0, 2, 1]), 1, g=True)
    add("matrix_of_rows", [splits], values, l([[2, 0], [3, 1]]), 2, g=True)
    add("two_levels", [i([0, 2, 2, 4]), i([0, 3, 3, 5, 6])], values, l([2, 0, 2]), 2, g=True)
    add("inner_dimension", [splits], wave(F64, (6, 2)), i([3, 0]), 1, g=True)
    add("strings", [splits], s(list("abcdef")), i([2, 2]), 1)
    add("none", [splits], values, i([]), 1)
    add("inner_empty", [splits], empty(F32, (6, 0)), i([0, 2]), 1)
    add("int32_3d", [i([0, 1, 3])], i([7, 8, 9]), ramp(I32, (2, 1, 1), 0), 3)
    add("bad_index", [splits], values, i([4]), 1)
    add("bad_negative", [splits], values, i([-1]), 1)
    add("bad_past", [l([0, 7])], values, i([0]), 1)
    add("bad_order", [l([3, 1, 6])], values, i([0]), 1)
    add("bad_splits_matrix", [l([[0, 6]])], values, i([0]), 1)
    add("bad_scalar_values", [l([0, 1])], f(1), i([0]), 1)


def to_sparse(t):
    def add(tag, nested, values, **attrs):
        t.add("RaggedTensorToSparse", tag, nested, values, **attrs)

    add("matrix", [l([0, 3, 3, 5])], f([1, 2, 3, 4, 5]), g=True)
    add("two_levels", [i([0, 2, 2, 3]), i([0, 1, 4, 4])], i([1, 2, 3, 4]))
    add("three_levels", [l([0, 2, 3]), l([0, 2, 2, 3]), l([0, 1, 4, 4])], s(list("abcd")))
    add("inner_dimension", [l([0, 1, 3])], wave(F32, (3, 2)), g=True)
    add("no_rows", [l([0])], empty(F32, (0,)))
    add("no_values", [l([0, 0, 0])], empty(F64, (0,)))
    add("bad_last", [l([0, 2])], f([1, 2, 3]))
    add("bad_first", [l([1, 3])], f([1, 2, 3]))
    add("bad_order", [l([0, 2, 1, 3])], f([1, 2, 3]))
    add("bad_empty", [l([])], f([1, 2, 3]))
    add("bad_scalar", [l([0, 1])], f(1))


def to_tensor(t):
    def add(tag, shape, values, default, partitions, types, **options):
        t.add("RaggedTensorToTensor", tag, shape, values, default, partitions,
              row_partition_types=types, **options)

    splits, by_splits = l([0, 3, 3, 5]), ["ROW_SPLITS"]
    by_rows = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
    values = f([1, 2, 3, 4, 5])
    add("matrix", Const(-1, I64), values, f(0), [splits], by_splits, g=True)
    add("fed_shape", l([-1, -1]), values, f(0), [splits], by_splits)
    add("cut", Const([2, 2], I32), values, f(9), [splits], by_splits, g=True)
    add("longer", Const([5, 4], I64), values, f(9), [splits], by_splits, g=True)
    add("row_ids", Const(-1, I64), values, f(7), [l(4), l([0, 0, 2, 2, 2])], by_rows, g=True)
    add("two_levels", Const(-1, I64), values, f(0), [l([0, 2, 2, 3]), l([0, 1, 4, 5])],
        by_splits * 2, g=True)
    add("mixed_levels", Const([-1, 2, -1], I64), values, f(0),
        [i(3), i([0, 0, 2]), i([0, 1, 4, 5])], by_rows + by_splits)
    add("inner_dimension", Const(-1, I64), wave(F64, (3, 2)), d([8, 9]), [l([0, 1, 3])], by_splits,
        g=True)
    add("inner_default_broadcast", Const(-1, I64), wave(F64, (3, 2)), d([8]), [l([0, 1, 3])],
        by_splits, g=True)
    add("strings", Const(-1, I64), s(["a", "b", ""]), s("-"), [l([0, 1, 3])], by_splits)
    add("no_values", Const([2, 3], I64), empty(F32, (0,)), f(1), [l([0, 0, 0])], by_splits)
    add("no_rows", Const(-1, I64), empty(F32, (0,)), f(1), [l([0])], by_splits)
    add("bad_rank", l([2]), values, f(0), [splits], by_splits)
    add("bad_first", l([2, 2]), values, f(0), [l([1, 3, 5])], by_splits)
    add("bad_order", l([2, 2]), values, f(0), [l([0, 5, 3])], by_splits)
    add("bad_lengths", l([2, 2]), values, f(0), [l([2, 3])], ["ROW_LENGTHS"])
    add("bad_type", l([2, 2]), values, f(0), [l([2, 3])], ["BLA"])
    add("bad_ids_first", l([2, 2]), values, f(0), [l([0, 1])], ["VALUE_ROWIDS"])
    add("bad_id", l([2, 2]), values, f(0), [l(2), l([0, 0, 1, 1, 2])], by_rows)
    add("bad_negative_id", l([2, 2]), values, f(0), [l(2), l([0, 0, 1, 1, -1])], by_rows)
    add("bad_inner", l([-1, 2, 3]), wave(F32, (3, 2)), f(0), [l([0, 1, 3])], by_splits)
    add("bad_default", l([-1, 2, 2]), wave(F32, (3, 2)), f([1, 2, 3]), [l([0, 1, 3])], by_splits)
    add("bad_default_rank", l([-1, 2]), values, f([1]), [splits], by_splits)


def counts(t):
    def ragged(tag, splits, values, size, weights, **attrs):
        t.add("RaggedBincount", tag, l(splits), values, size, weights, **attrs)

    ragged("ones", [0, 2, 2, 5], i([1, 1, 2, 0, 1]), Const(3), f([]))
    ragged("weights", [0, 2, 2, 5], l([1, 1, 2, 0, 9]), l(3), d([0.5, 1, 2, 3, 4]))
    ragged("whole_weights", [0, 2, 3], i([1, 1, 2]), i(4), l([5, 6, 7]))
    ragged("binary", [0, 2, 3], i([1, 1, 2]), i(3), i([]), binary_output=True)
    ragged("empty", [0, 0], i([]), i(2), f([]))
    ragged("bad_negative", [0, 1], i([-1]), i(2), f([]))
    ragged("bad_last", [0, 2, 4], i([1, 1, 2]), i(3), f([]))
    ragged("bad_size", [0, 1], i([1]), i(-2), f([]))
    ragged("bad_splits", [], i([1]), i(2), f([]))

    def sparse(tag, indices, values, dims, size, weights, **attrs):
        t.add("SparseBincount", tag, l(indices), values, l(dims), size, weights, **attrs)

    sparse("matrix", [[0, 1], [1, 0], [1, 2]], i([1, 2, 2]), [2, 3], Const(4), f([]))
    sparse("weights", [[0, 1], [1, 0]], l([1, 2]), [2, 2], l(3), d([3, 0.25]))
    sparse("vector", [[0], [3]], i([1, 2]), [4], i(3), l([3, 4]))
    sparse("binary", [[0], [3]], i([2, 2]), [4], i(3), i([]), binary_output=True)
    t.add("SparseBincount", "empty", empty(I64, (0, 2)), i([]), l([2, 3]), i(2), f([]))
    sparse("bad_row", [[0, 1], [5, 0]], i([1, 2]), [2, 2], i(3), f([]))
    sparse("bad_rank", [0, 1], i([1, 2]), [2], i(3), f([]))
    sparse("bad_values", [[0], [1]], i([1]), [2], i(3), f([]))
    sparse("bad_size", [[0]], i([1]), [2], i(-1), f([]))


def others(t):
    t.add("DisableCopyOnRead", "vector", Handle(f([1, 2])))
    t.add("DisableCopyOnRead", "scalar", Handle(i(1)))
    t.add("DisableCopyOnRead", "empty", Handle(empty(F32, (0,))))
    t.add("DisableCopyOnRead", "string", Handle(s(["a"])))
    t.add("DisableCopyOnRead", "double", Handle(d([[1, 2]])))

    points, centers = f([[0, 0], [1, 1], [5, 5]]), f([[0, 1], [3, 3], [1, 0], [6, 5]])
    for k in (0, 1, 2, 9):
        t.add("NearestNeighbors", "k%d" % k, points, centers, l(k))
    t.add("NearestNeighbors", "wide", wave(F32, (4, 5)), wave(F32, (7, 5), phase=1), Const(3, I64),
          tol=4)
    t.add("NearestNeighbors", "no_points", empty(F32, (0, 2)), centers, l(1))
    t.add("NearestNeighbors", "bad_depth", points, f([[1, 2, 3]]), l(1))

    for dtype in (I32, I64):
        t.add("DataFormatDimMap", "default_" + np.dtype(dtype).name,
              a(dtype, [0, 1, 2, 3, -1, -2, -3, -4]))
        t.add("DataFormatVecPermute", "default_" + np.dtype(dtype).name, a(dtype, [10, 11, 12, 13]))
        t.add("DataFormatVecPermute", "pairs_" + np.dtype(dtype).name, ramp(dtype, (4, 2)))
    t.add("DataFormatDimMap", "scalar", i(1))
    t.add("DataFormatDimMap", "empty", i([]))
    t.add("DataFormatDimMap", "volumes", i([[0, 4], [1, -2]]), src_format="NDHWC",
          dst_format="NCDHW")
    t.add("DataFormatDimMap", "back", i([3, 1]), src_format="NCHW", dst_format="NHWC")
    t.add("DataFormatDimMap", "bad_target", i([0]), dst_format="NHW")
    t.add("DataFormatDimMap", "bad_letters", i([0]), dst_format="NHWX")
    t.add("DataFormatDimMap", "bad_source", i([0]), src_format="ABCDEF", dst_format="FEDCBA")
    t.add("DataFormatVecPermute", "spatial", i([1, 2]), src_format="NWHC", dst_format="NCHW")
    t.add("DataFormatVecPermute", "spatial_pairs", i([[1, 2], [3, 4]]), src_format="NWHC",
          dst_format="NHWC")
    t.add("DataFormatVecPermute", "volumes", i([1, 2, 3, 4, 5]), src_format="NDHWC",
          dst_format="NCDHW")
    t.add("DataFormatVecPermute", "spatial_volumes", i([1, 2, 3]), src_format="NDHWC",
          dst_format="NCWHD")
    t.add("DataFormatVecPermute", "bad_length", i([1, 2, 3]))
    t.add("DataFormatVecPermute", "bad_scalar", i(1))
    t.add("DataFormatVecPermute", "bad_columns", ramp(I32, (4, 3)))
    t.add("DataFormatVecPermute", "bad_letters", i([1, 2, 3, 4]), dst_format="NHWX")


def cases():
    t = Table()
    ranges(t)
    gathers(t)
    to_sparse(t)
    to_tensor(t)
    counts(t)
    others(t)
    return t.cases
