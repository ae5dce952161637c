"""Ops about shapes, and ops that move values without looking at them."""

from .common import *  # noqa: F403

C = Const
ALL = {
    "float": F32,
    "double": F64,
    "half": F16,
    "int32": I32,
    "int64": I64,
    "uint8": U8,
    "int8": I8,
    "int16": I16,
    "uint16": U16,
    "bool": np.bool_,
}


def each_dtype(t, op, make, **attrs):
    """A case for each dtype and strings; make(value) gives the inputs around a 2 x 3 matrix."""
    for name, dtype in ALL.items():
        t.add(op, name, *make(np.asarray([[0, 1, 2], [3, 4, 5]]).astype(dtype)), **attrs)
    t.add(op, "string", *make(s([["a", "", "b\0"], ["c", "dd", "e" * 40]])), **attrs)


def about_shapes(t):
    each_dtype(t, "Identity", lambda x: [x])
    t.add("Identity", "scalar", f(3))
    t.add("Identity", "empty", empty(F32, (0, 2)))
    t.add("Identity", "nan", f([NAN, INF, -0.0]))
    t.add("Identity", "gradient", wave(F64, (2, 2)), g=True)
    for op in ("Shape", "Size"):
        for out in ("int32", "int64"):
            t.add(op, "matrix_" + out, f([[1, 2, 3]]), out_type=out)
            t.add(op, "scalar_" + out, f(1), out_type=out)
            t.add(op, "empty_" + out, empty(F32, (3, 0, 2)), out_type=out)
        t.add(op, "string", s(["a", "b"]))
        t.add(op, "rank_6", empty(np.bool_, (1, 2, 1, 1, 2, 1)))
    t.add("ShapeN", "two", [f([[1, 2, 3]]), f([1])])
    t.add("ShapeN", "int64", [f([[1, 2, 3]]), f(1), f([1])], out_type="int64")
    t.add("ShapeN", "one", [i([4, 5])])
    t.add("ShapeN", "empty", [empty(F32, (0,)), empty(F32, (2, 0))])
    t.add("ShapeN", "scalar", [f(1)])
    t.add("Rank", "scalar", f(1))
    t.add("Rank", "vector", i([1]))
    t.add("Rank", "matrix", f([[1, 2]]))
    t.add("Rank", "empty", empty(F32, (0, 0, 0)))
    t.add("Rank", "string", s("x"))
    for op in ("ZerosLike", "OnesLike"):
        for name, dtype in ALL.items():
            t.add(op, name, a(dtype, [[3, 1], [0, 1]]))
        t.add(op, "scalar", f(7))
        t.add(op, "empty", empty(F32, (0, 3)))
        t.add(op, "nan", f([NAN, INF]))
    t.add("ZerosLike", "string", s(["a", "b"]))
    for name, dtype in ALL.items():
        t.add("Fill", name, C([2, 3]), a(dtype, 1))
    t.add("Fill", "string", C([2]), s("ab"))
    t.add("Fill", "int64_dims", C([3], I64), f(2.5))
    t.add("Fill", "fed_dims", i([2, 2]), f(2.5))
    t.add("Fill", "scalar", C(empty(I32, (0,))), f(2))
    t.add("Fill", "empty", C([0, 4]), f(2))
    t.add("Fill", "gradient", C([2, 3]), d(1.5), g=True)
    t.add("Fill", "bad_dims_rank", C([[2, 3]]), f(2))
    t.add("Fill", "bad_value", C([2]), f([1, 2]))
    t.add("Fill", "bad_negative", C([2, -1]), f(1))
    t.add("Fill", "bad_negative_fed", i([-2]), f(1))
    for name, dtype in (("int32", I32), ("int64", I64), ("float", F32), ("double", F64)):
        t.add("Range", name, C(2, dtype), C(9, dtype), C(3, dtype))
        t.add("Range", name + "_down", C(9, dtype), C(2, dtype), C(-2, dtype))
        t.add("Range", name + "_fed", a(dtype, 0), a(dtype, 4), a(dtype, 1))
    t.add("Range", "empty", C(3), C(3), C(1))
    t.add("Range", "tenths", C(0, F32), C(1, F32), C(0.1, F32))
    t.add("Range", "tenths_double", C(0, F64), C(1, F64), C(0.1, F64))
    t.add("Range", "bad_zero", C(0), C(3), C(0))
    t.add("Range", "bad_direction", C(0), C(3), C(-1))
    t.add("Range", "bad_direction_down", C(3), C(0), C(1))
    t.add("Range", "bad_rank", C([0]), C(3), C(1))


def forms(t):
    each_dtype(t, "Reshape", lambda x: [x, C([3, 2])])
    x = ramp(F32, (2, 3, 4))
    t.add("Reshape", "wildcard", x, C([-1, 6]))
    t.add("Reshape", "flat", x, C([-1]))
    t.add("Reshape", "int64_shape", x, C([4, -1], I64))
    t.add("Reshape", "fed_shape", x, i([6, 4]))
    t.add("Reshape", "fed_wildcard", x, i([6, -1]))
    t.add("Reshape", "to_scalar", f([[5]]), C(empty(I32, (0,))))
    t.add("Reshape", "from_scalar", f(5), C([1, 1]))
    t.add("Reshape", "empty", empty(F32, (0, 3)), C([5, 0]))
    t.add("Reshape", "empty_wildcard", empty(F32, (0, 3)), C([-1, 3]))
    t.add("Reshape", "gradient", wave(F64, (2, 3)), C([3, -1]), g=True)
    t.add("Reshape", "bad_count", x, C([5, 5]))
    t.add("Reshape", "bad_two_wildcards", x, C([-1, -1]))
    t.add("Reshape", "bad_indivisible", x, C([-1, 5]))
    t.add("Reshape", "bad_negative", x, C([-2, 12]))
    t.add("Reshape", "wildcard_of_nothing", empty(F32, (0, 3)), C([-1, 0]))
    t.add("Reshape", "bad_rank", x, C([[24]]))
    t.add("Reshape", "bad_fed", x, i([7]))
    each_dtype(t, "Squeeze", lambda v: [v[:, None]])
    y = ramp(F32, (1, 2, 1, 3, 1))
    t.add("Squeeze", "all", y)
    t.add("Squeeze", "some", y, squeeze_dims=[0, 4])
    t.add("Squeeze", "negative", y, squeeze_dims=[-1, 2])
    t.add("Squeeze", "scalar", f(1))
    t.add("Squeeze", "to_scalar", f([[1]]))
    t.add("Squeeze", "empty", empty(F32, (1, 0, 1)))
    t.add("Squeeze", "gradient", wave(F64, (1, 2, 1)), squeeze_dims=[0], g=True)
    t.add("Squeeze", "bad_not_one", y, squeeze_dims=[1])
    t.add("Squeeze", "bad_axis", y, squeeze_dims=[5])
    t.add("Squeeze", "bad_axis_negative", y, squeeze_dims=[-6])
    each_dtype(t, "ExpandDims", lambda v: [v, C(1)])
    for axis in (0, 1, 2, -1, -3):
        t.add("ExpandDims", "axis_%d" % axis, ramp(F32, (2, 3)), C(axis))
    t.add("ExpandDims", "fed_axis", ramp(F32, (2, 3)), i(-2))
    t.add("ExpandDims", "int64_axis", ramp(F32, (2, 3)), C(1, I64))
    t.add("ExpandDims", "scalar", f(4), C(0))
    t.add("ExpandDims", "empty", empty(F32, (0,)), C(0))
    t.add("ExpandDims", "gradient", wave(F64, (3,)), C(0), g=True)
    t.add("ExpandDims", "bad_axis", ramp(F32, (2, 3)), C(3))
    t.add("ExpandDims", "bad_axis_negative", ramp(F32, (2, 3)), C(-4))
    t.add("ExpandDims", "bad_axis_fed", ramp(F32, (2, 3)), i(9))
    each_dtype(t, "Transpose", lambda v: [v, C([1, 0])])
    t.add("Transpose", "rank_3", x, C([2, 0, 1]))
    t.add("Transpose", "rank_3_batch", x, C([0, 2, 1]))
    t.add("Transpose", "rank_4", ramp(F32, (2, 3, 1, 4)), C([3, 2, 0, 1]))
    t.add("Transpose", "rank_5", ramp(F32, (2, 1, 3, 2, 2)), C([4, 1, 0, 3, 2]))
    t.add("Transpose", "same", x, C([0, 1, 2]))
    t.add("Transpose", "large", ramp(F32, (33, 17)), C([1, 0]))
    t.add("Transpose", "int64_perm", x, C([1, 0, 2], I64))
    t.add("Transpose", "fed_perm", x, i([1, 0, 2]))
    t.add("Transpose", "scalar", f(1), C(empty(I32, (0,))))
    t.add("Transpose", "empty", empty(F32, (2, 0, 3)), C([2, 1, 0]))
    t.add("Transpose", "gradient", wave(F64, (2, 3, 2)), C([2, 0, 1]), g=True)
    t.add("Transpose", "bad_length", x, C([1, 0]))
    t.add("Transpose", "bad_twice", x, C([1, 1, 0]))
    t.add("Transpose", "bad_range", x, C([1, 3, 0]))
    t.add("Transpose", "bad_fed", x, i([1, 1, 0]))
    each_dtype(t, "BroadcastTo", lambda v: [v, C([2, 2, 3])])
    t.add("BroadcastTo", "scalar", f(2), C([2, 3]))
    t.add("BroadcastTo", "column", f([[1], [2]]), C([2, 3]))
    t.add("BroadcastTo", "row", f([1, 2, 3]), C([2, 3]))
    t.add("BroadcastTo", "middle", ramp(F32, (2, 1, 2)), C([2, 3, 2]))
    t.add("BroadcastTo", "int64_shape", f([1, 2]), C([2, 2], I64))
    t.add("BroadcastTo", "fed_shape", f([1, 2]), i([2, 2]))
    t.add("BroadcastTo", "same", f([1, 2]), C([2]))
    t.add("BroadcastTo", "empty", f([[1], [2]]), C([2, 0]))
    t.add("BroadcastTo", "empty_outer", f([1, 2]), C([0, 2]))
    t.add("BroadcastTo", "gradient", wave(F64, (2, 1)), C([3, 2, 2]), g=True)
    t.add("BroadcastTo", "bad_shape", f([1, 2]), C([3]))
    t.add("BroadcastTo", "bad_smaller", f([[1, 2]]), C([2]))
    t.add("BroadcastTo", "bad_fed", f([1, 2]), i([2, 3]))
    each_dtype(t, "Tile", lambda v: [v, C([2, 1])])
    t.add("Tile", "vector", f([1, 2]), C([3]))
    t.add("Tile", "both", ramp(F32, (2, 2)), C([2, 3]))
    t.add("Tile", "rank_3", ramp(F32, (2, 1, 2)), C([1, 3, 2]))
    t.add("Tile", "int64_multiples", f([1, 2]), C([2], I64))
    t.add("Tile", "fed_multiples", ramp(F32, (1, 2)), i([2, 2]))
    t.add("Tile", "none", f([1, 2]), C([1]))
    t.add("Tile", "zero", f([1, 2]), C([0]))
    t.add("Tile", "empty", empty(F32, (0, 2)), C([2, 2]))
    t.add("Tile", "scalar", f(1), C(empty(I32, (0,))))
    t.add("Tile", "gradient", wave(F64, (2, 2)), C([2, 3]), g=True)
    t.add("Tile", "bad_length", ramp(F32, (2, 2)), C([2]))
    t.add("Tile", "bad_negative", ramp(F32, (2, 2)), C([2, -1]))
    t.add("Tile", "bad_negative_fed", ramp(F32, (2, 2)), i([2, -1]))


def joining(t):
    each_dtype(t, "ConcatV2", lambda v: [[v, v[:1]], C(0)])
    each_dtype(t, "Concat", lambda v: [C(0), [v, v[:1]]])
    m, n = ramp(F32, (2, 3)), ramp(F32, (2, 1), 50)
    for op in ("Concat", "ConcatV2"):

        def add(tag, values, axis, **o):
            inputs = [axis, values] if op == "Concat" else [values, axis]
            t.add(op, tag, *inputs, **o)

        add("columns", [m, n], C(1))
        add("axis_negative", [m, n], C(-1))
        add(
            "three",
            [ramp(F32, (2, 1, 2)), ramp(F32, (2, 3, 2), 40), ramp(F32, (2, 2, 2), 90)],
            C(1),
        )
        add("fed_axis", [m, n], i(1))
        add("vectors", [f([1]), f([2, 3]), f([4, 5, 6])], C(0))
        add("with_empty", [m, empty(F32, (2, 0))], C(1))
        add("empty", [empty(F32, (0, 2)), empty(F32, (0, 2))], C(0))
        add("gradient", [wave(F64, (2, 2)), wave(F64, (2, 1), 1)], C(1), g=True)
        add("gradient_rows", [wave(F64, (1, 2)), wave(F64, (2, 2), 1)], C(0), g=True)
        add("bad_axis", [m, n], C(2))
        add("bad_axis_negative", [m, n], C(-3))
        add("bad_shapes", [m, n], C(0))
        add("bad_ranks", [m, f([1])], C(0))
        add("bad_scalars", [f(1), f(2)], C(0))
        add("bad_axis_fed", [m, n], i(5))
    t.add("ConcatV2", "int64_axis", [m, n], C(1, I64))
    t.add("ConcatV2", "five", [f([[k]]) for k in range(5)], C(1))
    t.add("ConcatOffset", "columns", C(1), [C([2, 2]), C([2, 3]), C([2, 1])])
    t.add("ConcatOffset", "rows", C(0), [C([2, 2, 7]), C([3, 2, 7])])
    t.add("ConcatOffset", "negative", C(-1), [C([2, 2]), C([2, 3])])
    t.add("ConcatOffset", "fed", i(1), [i([2, 2]), i([2, 3]), i([2, 1])])
    t.add("ConcatOffset", "zero", i(0), [i([0]), i([3])])
    t.add("ConcatOffset", "bad_shapes", i(1), [i([2, 2]), i([3, 3])])
    t.add("ConcatOffset", "bad_axis", i(2), [i([2, 2]), i([2, 3])])
    t.add("ConcatOffset", "bad_lengths", i(0), [i([2, 2]), i([2])])
    each_dtype(t, "Pack", lambda v: [[v, v]], axis=0)
    for axis in (0, 1, 2, -1, -2, -3):
        t.add("Pack", "axis_%d" % axis, [m, m + 10, m + 20], axis=axis)
    t.add("Pack", "scalars", [f(1), f(2)])
    t.add("Pack", "one", [f([1, 2])])
    t.add("Pack", "empty", [empty(F32, (0,)), empty(F32, (0,))])
    t.add("Pack", "gradient", [wave(F64, (2,)), wave(F64, (2,), 1)], axis=1, g=True)
    t.add("Pack", "bad_shapes", [f([1]), f([1, 2])])
    t.add("Pack", "bad_axis", [m, m], axis=3)
    t.add("Pack", "bad_axis_negative", [m, m], axis=-4)
    each_dtype(t, "Unpack", lambda v: [v], num=2)
    x = ramp(F32, (2, 3, 2))
    for axis, num in ((0, 2), (1, 3), (2, 2), (-1, 2), (-2, 3)):
        t.add("Unpack", "axis_%d" % axis, x, num=num, axis=axis)
    t.add("Unpack", "vector", f([1, 2]), num=2)
    t.add("Unpack", "empty", empty(F32, (2, 0)), num=2)
    t.add("Unpack", "none", empty(F32, (0, 2)), num=0)
    t.add("Unpack", "gradient", wave(F64, (2, 2)), num=2, axis=1, g=True)
    t.add("Unpack", "bad_num", x, num=3)
    t.add("Unpack", "bad_axis", x, num=2, axis=3)
    t.add("Unpack", "bad_scalar", f(1), num=1)
    each_dtype(t, "Split", lambda v: [C(1), v], num_split=3)
    y = ramp(F32, (4, 2, 6))
    t.add("Split", "rows", C(0), y, num_split=2)
    t.add("Split", "last", C(-1), y, num_split=3)
    t.add("Split", "middle", C(1), y, num_split=2)
    t.add("Split", "one", C(0), y, num_split=1)
    t.add("Split", "fed_axis", i(0), y, num_split=4)
    t.add("Split", "empty", C(0), empty(F32, (4, 0)), num_split=2)
    t.add("Split", "gradient", C(1), wave(F64, (2, 4)), num_split=2, g=True)
    t.add("Split", "bad_count", C(0), y, num_split=3)
    t.add("Split", "bad_axis", C(3), y, num_split=1)
    t.add("Split", "bad_axis_fed", i(-4), y, num_split=1)
    t.add("Split", "bad_scalar", C(0), f(1), num_split=1)
    each_dtype(t, "SplitV", lambda v: [v, C([1, 2]), C(1)], num_split=2)
    t.add("SplitV", "rows", y, C([1, 3]), C(0), num_split=2)
    t.add("SplitV", "rest", y, C([1, -1, 2]), C(2), num_split=3)
    t.add("SplitV", "int64_sizes", y, C([1, 3], I64), C(0), num_split=2)
    t.add("SplitV", "fed_sizes", y, i([3, 1]), i(0), num_split=2)
    t.add("SplitV", "zero", y, C([0, 4]), C(0), num_split=2)
    t.add("SplitV", "negative_axis", y, C([2, 4]), C(-1), num_split=2)
    t.add("SplitV", "one", y, C([4]), C(0), num_split=1)
    t.add("SplitV", "gradient", wave(F64, (2, 3)), C([1, 2]), C(1), num_split=2, g=True)
    t.add("SplitV", "bad_sum", y, C([1, 2]), C(0), num_split=2)
    t.add("SplitV", "bad_sum_fed", y, i([1, 2]), C(0), num_split=2)
    t.add("SplitV", "bad_two_rests", y, C([-1, -1]), C(0), num_split=2)
    t.add("SplitV", "bad_length", y, C([4]), C(0), num_split=2)
    t.add("SplitV", "bad_axis", y, C([4]), C(3), num_split=1)


def slicing(t):
    each_dtype(t, "Slice", lambda v: [v, C([0, 1]), C([2, 2])])
    x = ramp(F32, (3, 4, 2))
    t.add("Slice", "rest", x, C([1, 0, 1]), C([-1, 2, -1]))
    t.add("Slice", "int64_begin", x, C([1, 0, 1], I64), C([1, 2, 1], I64))
    t.add("Slice", "fed", x, i([1, 0, 1]), i([1, 2, 1]))
    t.add("Slice", "fed_rest", x, i([1, 0, 1]), i([-1, 2, -1]))
    t.add("Slice", "vector", f([1, 2, 3, 4]), C([1]), C([2]))
    t.add("Slice", "scalar", f(1), C(empty(I32, (0,))), C(empty(I32, (0,))))
    t.add("Slice", "empty", x, C([3, 0, 0]), C([0, 4, 2]))
    t.add("Slice", "whole", x, C([0, 0, 0]), C([-1, -1, -1]))
    t.add("Slice", "gradient", wave(F64, (3, 3)), C([1, 0]), C([2, 2]), g=True)
    t.add("Slice", "bad_too_long", x, C([2, 0, 0]), C([2, 1, 1]))
    t.add("Slice", "bad_begin", x, C([4, 0, 0]), C([0, 1, 1]))
    t.add("Slice", "bad_negative", x, C([-1, 0, 0]), C([1, 1, 1]))
    t.add("Slice", "bad_size", x, C([0, 0, 0]), C([-2, 1, 1]))
    t.add("Slice", "bad_length", x, C([0, 0]), C([1, 1]))
    t.add("Slice", "bad_fed", x, i([0, 5, 0]), i([1, 1, 1]))

    each_dtype(t, "StridedSlice", lambda v: [v, C([0, 0]), C([2, 3]), C([1, 2])])

    def strided(tag, value, begin, end, strides, fed=False, dtype=I32, g=False, **masks):
        wrap = (lambda v: a(dtype, v)) if fed else (lambda v: C(v, dtype))
        t.add("StridedSlice", tag, value, wrap(begin), wrap(end), wrap(strides), g=g, **masks)

    strided("plain", x, [0, 1, 0], [2, 3, 2], [1, 1, 1])
    strided("step", x, [0, 0, 0], [3, 4, 2], [2, 3, 1])
    strided("backwards", x, [2, 3, 1], [0, 0, 0], [-1, -2, -1])
    strided("backwards_all", x, [0, 0, 0], [0, 0, 0], [-1, -1, -1], begin_mask=7, end_mask=7)
    strided("negative_indices", x, [-2, -3, -1], [-1, -1, 2], [1, 1, 1])
    strided("begin_mask", x, [1, 1, 1], [2, 3, 2], [1, 1, 1], begin_mask=5)
    strided("end_mask", x, [1, 1, 0], [2, 2, 1], [1, 1, 1], end_mask=3)
    strided("shrink", x, [1, 0, 0], [2, 4, 2], [1, 1, 1], shrink_axis_mask=1)
    strided("shrink_negative", x, [-1, 0, -1], [0, 4, 0], [1, 1, 1], shrink_axis_mask=5)
    strided("shrink_all", x, [1, 2, 1], [2, 3, 2], [1, 1, 1], shrink_axis_mask=7)
    strided(
        "shrink_masked",
        x,
        [1, 2, 1],
        [2, 3, 2],
        [1, 1, 1],
        shrink_axis_mask=1,
        begin_mask=1,
        end_mask=1,
    )
    strided("new_axis", x, [0, 0, 1], [0, 2, 3], [1, 1, 1], new_axis_mask=1)
    strided("new_axis_middle", x, [0, 7, 1], [2, 9, 3], [1, 1, 1], new_axis_mask=2)
    strided("new_axis_and_shrink", x, [0, 0], [0, 1], [1, 1], new_axis_mask=1, shrink_axis_mask=2)
    strided("new_axis_wins", x, [0, 0], [0, 1], [1, 1], new_axis_mask=3, shrink_axis_mask=2)
    strided("ellipsis_first", x, [0, 0], [0, 1], [1, 1], ellipsis_mask=1)
    strided("ellipsis_middle", x, [1, 0, 0], [2, 0, 1], [1, 1, 1], ellipsis_mask=2)
    strided("ellipsis_last", x, [1, 0], [3, 0], [1, 1], ellipsis_mask=2)
    strided("ellipsis_nothing", x, [0, 0, 0, 0], [2, 3, 0, 2], [1, 1, 1, 1], ellipsis_mask=4)
    strided("ellipsis_only", x, [0], [0], [1], ellipsis_mask=1)
    strided(
        "ellipsis_new_axis",
        x,
        [0, 0, 0],
        [0, 0, 1],
        [1, 1, 1],
        ellipsis_mask=1,
        new_axis_mask=2,
        shrink_axis_mask=4,
    )
    strided("fewer", x, [1], [3], [1])
    strided("clamped", x, [-100, 2, 0], [100, 100, 1], [1, 1, 1])
    strided("clamped_backwards", x, [100, 3, 1], [-100, -100, -100], [-1, -3, -1])
    strided("nothing", x, [2, 0, 0], [1, 4, 2], [1, 1, 1])
    strided("nothing_backwards", x, [0, 0, 0], [2, 4, 2], [-1, 1, 1])
    strided("int64_begin", x, [0, 1, 0], [2, 3, 2], [1, 1, 1], dtype=I64)
    strided("fed", x, [0, 1, 0], [2, 3, 2], [1, 1, 1], fed=True)
    strided("fed_shrink", x, [1, 1, 0], [2, 3, 2], [1, 1, 1], fed=True, shrink_axis_mask=1)
    strided("vector", f([1, 2, 3, 4, 5]), [1], [5], [2])
    strided("vector_element", f([1, 2, 3]), [1], [2], [1], shrink_axis_mask=1)
    strided("empty_input", empty(F32, (0, 2)), [0, 0], [0, 1], [1, 1])
    strided("scalar_new_axis", f(3), [0], [0], [1], new_axis_mask=1)
    strided("no_indices", x, empty(I32, (0,)), empty(I32, (0,)), empty(I32, (0,)))
    strided("gradient", wave(F64, (3, 4)), [0, 1], [3, 4], [2, 1], g=True)
    strided(
        "gradient_shrink", wave(F64, (3, 4)), [1, 3], [2, 0], [1, -1], g=True, shrink_axis_mask=1
    )
    strided(
        "gradient_ellipsis",
        wave(F64, (2, 2, 2)),
        [0, 0, 0],
        [0, 0, 1],
        [1, 1, 1],
        g=True,
        ellipsis_mask=1,
        new_axis_mask=2,
    )
    strided("bad_stride", x, [0, 0, 0], [1, 1, 1], [1, 0, 1])
    strided("bad_index", x, [3, 0, 0], [4, 1, 1], [1, 1, 1], shrink_axis_mask=1)
    strided("bad_index_negative", x, [-4, 0, 0], [0, 1, 1], [1, 1, 1], shrink_axis_mask=1)
    strided("bad_shrink_stride", x, [1, 0, 0], [0, 1, 1], [-1, 1, 1], shrink_axis_mask=1)
    strided("bad_too_many", x, [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1])
    strided("bad_two_ellipses", x, [0, 0], [1, 1], [1, 1], ellipsis_mask=3)
    strided("bad_lengths", x, [0, 0], [1], [1, 1])
    strided("bad_index_fed", x, [7, 0, 0], [8, 1, 1], [1, 1, 1], shrink_axis_mask=1, fed=True)

    def strided_grad(
        tag, shape, begin, end, strides, value, dtype=I32, fed=False, g=False, **masks
    ):
        wrap = (lambda v: a(dtype, v)) if fed else (lambda v: C(v, dtype))
        t.add(
            "StridedSliceGrad",
            tag,
            wrap(shape),
            wrap(begin),
            wrap(end),
            wrap(strides),
            value,
            g=g,
            **masks,
        )

    strided_grad("plain", [3, 4], [0, 1], [2, 3], [1, 1], ramp(F32, (2, 2)))
    strided_grad("step", [3, 4], [0, 0], [3, 4], [2, 3], ramp(F32, (2, 2)))
    strided_grad("backwards", [3, 4], [2, 3], [0, 0], [-1, -2], ramp(F32, (2, 2)))
    strided_grad("shrink", [3, 4], [1, 0], [2, 4], [1, 1], ramp(F32, (4,)), shrink_axis_mask=1)
    strided_grad(
        "new_axis", [3, 4], [0, 1, 0], [0, 3, 4], [1, 1, 1], ramp(F32, (1, 2, 4)), new_axis_mask=1
    )
    strided_grad(
        "ellipsis", [2, 2, 2], [0, 1], [0, 2], [1, 1], ramp(F32, (2, 2, 1)), ellipsis_mask=1
    )
    strided_grad("double", [3], [0], [3], [2], d([1, 2]), g=True)
    strided_grad("int64", [3], [0], [3], [2], i([1, 2]), dtype=I64)
    strided_grad("fed", [3], [0], [3], [2], f([1, 2]), fed=True)
    strided_grad("empty", [3], [2], [1], [1], empty(F32, (0,)))
    strided_grad("bad_shape", [3], [0], [3], [1], f([1, 2]))


def padding(t):
    each_dtype(t, "Pad", lambda v: [v, C([[1, 0], [0, 2]])])
    each_dtype(
        t,
        "PadV2",
        lambda v: [v, C([[1, 0], [0, 2]]), v[1, 1].reshape(()) if v.dtype != object else s("pad")],
    )
    m = ramp(F32, (2, 3))
    for op, last in (("Pad", []), ("PadV2", [f(-1)])):
        t.add(op, "vector", f([1, 2]), C([[2, 3]]), *last)
        t.add(op, "none", m, C([[0, 0], [0, 0]]), *last)
        t.add(op, "rank_4", ramp(F32, (1, 2, 2, 1)), C([[0, 1], [1, 0], [0, 1], [2, 0]]), *last)
        t.add(op, "int64_paddings", m, C([[1, 1], [1, 1]], I64), *last)
        t.add(op, "fed_paddings", m, i([[1, 1], [1, 1]]), *last)
        t.add(op, "scalar", f(3), C(empty(I32, (0, 2))), *last)
        t.add(op, "empty", empty(F32, (0, 2)), C([[1, 1], [0, 0]]), *last)
        t.add(op, "gradient", wave(F64, (2, 2)), C([[1, 0], [0, 2]]), *[d(v) for v in last], g=True)
        t.add(op, "bad_rows", m, C([[1, 1]]), *last)
        t.add(op, "bad_columns", m, C([[1, 1, 1], [1, 1, 1]]), *last)
        t.add(op, "bad_negative", m, C([[-1, 1], [0, 0]]), *last)
        t.add(op, "bad_negative_fed", m, i([[1, 1], [0, -1]]), *last)


def reordering(t):
    each_dtype(t, "ReverseV2", lambda v: [v, C([1])])
    x = ramp(F32, (2, 3, 2))
    t.add("ReverseV2", "rows", x, C([0]))
    t.add("ReverseV2", "two", x, C([0, 2]))
    t.add("ReverseV2", "all", x, C([0, 1, 2]))
    t.add("ReverseV2", "negative", x, C([-2]))
    t.add("ReverseV2", "int64_axis", x, C([-1], I64))
    t.add("ReverseV2", "fed_axis", x, i([1]))
    t.add("ReverseV2", "none", x, C(empty(I32, (0,))))
    t.add("ReverseV2", "scalar", f(1), C(empty(I32, (0,))))
    t.add("ReverseV2", "empty", empty(F32, (0, 2)), C([0]))
    t.add("ReverseV2", "gradient", wave(F64, (2, 3)), C([1]), g=True)
    t.add("ReverseV2", "bad_axis", x, C([3]))
    t.add("ReverseV2", "bad_twice", x, C([1, -2]))
    t.add("ReverseV2", "bad_rank", x, C(1))
    for dtype, name in ((I32, "int32"), (I64, "int64")):
        t.add("InvertPermutation", name, a(dtype, [3, 1, 0, 2]))
        t.add("InvertPermutation", name + "_same", a(dtype, [0, 1]))
        t.add("InvertPermutation", name + "_one", a(dtype, [0]))
        t.add("InvertPermutation", name + "_empty", empty(dtype, (0,)))
    t.add("InvertPermutation", "bad_twice", i([0, 0]))
    t.add("InvertPermutation", "bad_range", i([0, 2]))
    t.add("InvertPermutation", "bad_negative", i([0, -1]))
    t.add("InvertPermutation", "bad_rank", i([[0, 1]]))
    for dtype, name in ((I32, "int32"), (I64, "int64")):
        pairs = [
            ([2, 3], [2, 3]),
            ([2, 1], [1, 3]),
            ([3], [2, 3]),
            ([], [2, 3]),
            ([1], []),
            ([2, 1, 3], [4, 1]),
            ([1, 1], [1, 1]),
            ([0, 1], [1, 5]),
            ([5, 1, 1], [1, 7]),
            ([], []),
        ]
        for k, (left, right) in enumerate(pairs):
            t.add("BroadcastGradientArgs", "%s_%d" % (name, k), a(dtype, left), a(dtype, right))
    t.add("BroadcastGradientArgs", "bad_shapes", i([2, 3]), i([2, 2]))
    t.add("BroadcastGradientArgs", "bad_rank", i([[2]]), i([2]))
    m = ramp(F32, (3, 4))
    for name, dtype in (("float", F32), ("double", F64), ("int32", I32), ("int64", I64)):
        t.add("MatrixBandPart", name, ramp(dtype, (3, 4)), C(1, I64), C(1, I64))
    t.add("MatrixBandPart", "lower", m, C(-1, I64), C(0, I64))
    t.add("MatrixBandPart", "upper", m, C(0, I64), C(-1, I64))
    t.add("MatrixBandPart", "diagonal", m, C(0, I64), C(0, I64))
    t.add("MatrixBandPart", "everything", m, C(-1, I64), C(-1, I64))
    t.add("MatrixBandPart", "batch", ramp(F32, (2, 3, 3)), C(1, I64), C(0, I64))
    t.add("MatrixBandPart", "int32_index", m, C(1), C(0))
    t.add("MatrixBandPart", "fed", m, l(0), l(2))
    t.add("MatrixBandPart", "bool", np.ones((3, 3), np.bool_), C(0, I64), C(1, I64))
    t.add("MatrixBandPart", "empty", empty(F32, (0, 2)), C(0, I64), C(0, I64))
    t.add("MatrixBandPart", "gradient", wave(F64, (3, 3)), C(1, I64), C(0, I64), g=True)
    t.add("MatrixBandPart", "bad_rank", f([1, 2]), C(0, I64), C(0, I64))
    t.add("MatrixBandPart", "bad_lower", m, C(9, I64), C(0, I64))


def cases():
    t = Table()
    about_shapes(t)
    forms(t)
    joining(t)
    slicing(t)
    padding(t)
    reordering(t)
    return t.cases
