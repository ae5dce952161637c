"""Mirrored frames, reversed sequences, blocks moved between space, batch and channels, writes at
places into a copy of a tensor."""
from .common import *  # noqa: F403

C = Const
COMPLEX = np.complex64


def mirrors(t):
    x = ramp(F32, (2, 3))
    for mode in ("REFLECT", "SYMMETRIC"):
        low = mode.lower()
        for dtype in (F32, F64, F16, I32, I64, U8, COMPLEX):
            t.add("MirrorPad", low + "_" + dtype.__name__, x.astype(dtype), C([[1, 0], [1, 2]]),
                  mode=mode)
        t.add("MirrorPad", low + "_bool", b([True, False, True]), C([[2, 1]]), mode=mode)
        t.add("MirrorPad", low + "_string", s(["a", "bc", "d"]), C([[1, 2]]), mode=mode)
        t.add("MirrorPad", low + "_paddings64", x, C([[0, 1], [2, 0]], I64), mode=mode)
        t.add("MirrorPad", low + "_gradient", wave(F64, (2, 3)), C([[1, 1], [2, 1]]), mode=mode,
              g=True)
        t.add("MirrorPad", low + "_rank_3", ramp(F32, (2, 2, 3)), C([[1, 0], [0, 1], [2, 2]]),
              mode=mode)
        t.add("MirrorPad", low + "_none", x, C([[0, 0], [0, 0]]), mode=mode)
        t.add("MirrorPad", low + "_bad_too_large", x, C([[3, 0], [0, 0]]), mode=mode)
        g = ramp(F64, (4, 6))
        t.add("MirrorPadGrad", low, g, C([[1, 1], [2, 1]]), mode=mode)
        t.add("MirrorPadGrad", low + "_gradient", g, C([[1, 1], [2, 1]], I64), mode=mode, g=True)
        t.add("MirrorPadGrad", low + "_float", ramp(F32, (5,)), C([[2, 0]]), mode=mode)
        t.add("MirrorPadGrad", low + "_int32", ramp(I32, (5,)), C([[1, 1]]), mode=mode)
        t.add("MirrorPadGrad", low + "_complex", ramp(COMPLEX, (5,)), C([[1, 1]]), mode=mode)
        t.add("MirrorPadGrad", low + "_none", x, C([[0, 0], [0, 0]]), mode=mode)
        t.add("MirrorPadGrad", low + "_bad_too_large", ramp(F32, (5,)), C([[3, 3]]), mode=mode)
    t.add("MirrorPad", "empty", empty(F32, (2, 0)), C([[1, 0], [0, 0]]), mode="REFLECT")
    t.add("MirrorPad", "nan", f([NAN, 1, INF]), C([[2, 1]]), mode="SYMMETRIC")
    t.add("MirrorPad", "bad_negative", x, C([[-1, 0], [0, 0]]), mode="REFLECT")
    t.add("MirrorPad", "bad_rank", x, C([[1, 0]]), mode="REFLECT")
    t.add("MirrorPad", "bad_columns", x, C([[1, 0, 1], [0, 0, 1]]), mode="REFLECT")
    t.add("MirrorPad", "bad_reflect_all", x, C([[2, 0], [0, 0]]), mode="REFLECT")


def sequences(t):
    x = ramp(F32, (3, 4))
    for dtype in (F32, F64, F16, I32, I64, U8, I8, COMPLEX):
        t.add("ReverseSequence", dtype.__name__, x.astype(dtype), l([4, 0, 2]), seq_dim=1)
    t.add("ReverseSequence", "bool", b([[True, False]]), l([2]), seq_dim=1)
    t.add("ReverseSequence", "string", s([["a", "b", "c"], ["d", "e", "f"]]), i([3, 2]), seq_dim=1)
    t.add("ReverseSequence", "time_major", x, i([2, 3, 1, 0]), seq_dim=0, batch_dim=1)
    t.add("ReverseSequence", "rank_3", ramp(F32, (2, 3, 2)), i([3, 2]), seq_dim=1)
    t.add("ReverseSequence", "far_apart", ramp(F32, (2, 2, 3)), i([3, 1]), seq_dim=2)
    t.add("ReverseSequence", "last_batch", ramp(F32, (3, 2, 2)), i([3, 2]), seq_dim=0, batch_dim=2)
    t.add("ReverseSequence", "gradient", wave(F64, (2, 3)), l([3, 2]), seq_dim=1, g=True)
    t.add("ReverseSequence", "gradient_time_major", wave(F64, (3, 2, 2)), l([3, 2]), seq_dim=0,
          batch_dim=1, g=True)
    t.add("ReverseSequence", "empty", empty(F32, (0, 3)), empty(I64, (0,)), seq_dim=1)
    t.add("ReverseSequence", "empty_sequences", empty(F32, (2, 0)), l([0, 0]), seq_dim=1)
    t.add("ReverseSequence", "bad_too_long", x, l([5, 0, 0]), seq_dim=1)
    t.add("ReverseSequence", "bad_negative", x, l([-1, 0, 0]), seq_dim=1)
    t.add("ReverseSequence", "bad_lengths", x, l([1, 2]), seq_dim=1)
    t.add("ReverseSequence", "bad_matrix", x, l([[1, 2, 3]]), seq_dim=1)
    t.add("ReverseSequence", "bad_seq_dim", x, l([1, 2, 3]), seq_dim=2)
    t.add("ReverseSequence", "bad_same_dims", x, l([1, 2, 3]), seq_dim=0)
    for dtype in (F32, F64, F16, I32, U16, I64, COMPLEX):
        t.add("Reverse", dtype.__name__, x.astype(dtype), b([False, True]))
    t.add("Reverse", "string", s(["a", "b"]), b([True]))
    t.add("Reverse", "both", x, b([True, True]))
    t.add("Reverse", "none", x, b([False, False]))
    t.add("Reverse", "scalar", f(1), b([]))
    t.add("Reverse", "empty", empty(F32, (0, 2)), b([True, False]))
    t.add("Reverse", "gradient", wave(F64, (2, 3)), b([False, True]), g=True)
    t.add("Reverse", "bad_length", x, b([True]))
    t.add("Reverse", "bad_matrix", x, b([[True, False]]))


def batches(t):
    image = ramp(F32, (1, 4, 4, 1))
    for dtype in (F32, F64, F16, I32, I64, U8):
        t.add("SpaceToBatchND", dtype.__name__, image.astype(dtype), C([2, 2]), C([[0, 0], [0, 0]]))
        t.add("BatchToSpaceND", dtype.__name__, ramp(dtype, (4, 2, 1, 1)), C([2, 2]),
              C([[0, 0], [0, 0]]))
    t.add("SpaceToBatchND", "padded", ramp(F32, (2, 3, 4, 2)), C([2, 3]), C([[1, 0], [2, 0]]))
    t.add("SpaceToBatchND", "one_dimension", ramp(F32, (2, 5)), C([3], I64), C([[0, 1]]))
    t.add("SpaceToBatchND", "wide_frame", ramp(F32, (1, 2)), C([2]), C([[3, 3]], I64))
    t.add("SpaceToBatchND", "no_blocks", ramp(F32, (2, 3)), C([]), C(np.zeros((0, 2), I32)))
    t.add("SpaceToBatchND", "ones", ramp(F32, (2, 3)), C([1]), C([[1, 0]]))
    t.add("SpaceToBatchND", "three", ramp(F32, (1, 2, 2, 2)), C([2, 1, 2]),
          C([[0, 0], [1, 0], [0, 0]]))
    t.add("SpaceToBatchND", "empty", empty(F32, (0, 4, 4, 1)), C([2, 2]), C([[0, 0], [0, 0]]))
    t.add("SpaceToBatchND", "gradient", wave(F64, (1, 3, 2)), C([2, 2]), C([[1, 0], [0, 2]]),
          g=True)
    t.add("BatchToSpaceND", "cropped", ramp(F32, (6, 2, 2, 1)), C([2, 3]), C([[1, 0], [2, 1]]))
    t.add("BatchToSpaceND", "one_dimension", ramp(F32, (6, 2)), C([3], I64), C([[0, 1]]))
    t.add("BatchToSpaceND", "all_cropped", ramp(F32, (2, 2)), C([2]), C([[2, 2]]))
    t.add("BatchToSpaceND", "no_blocks", ramp(F32, (2, 3)), C([]), C(np.zeros((0, 2), I32)))
    t.add("BatchToSpaceND", "empty", empty(F32, (0, 2, 1)), C([2]), C([[0, 1]]))
    t.add("BatchToSpaceND", "gradient", wave(F64, (4, 2, 1)), C([2, 2]), C([[1, 0], [0, 1]]),
          g=True)
    t.add("SpaceToBatchND", "bad_divisor", ramp(F32, (1, 3)), C([2]), C([[0, 0]]))
    t.add("SpaceToBatchND", "bad_block", ramp(F32, (1, 4)), C([0]), C([[0, 0]]))
    t.add("SpaceToBatchND", "bad_padding", ramp(F32, (1, 4)), C([2]), C([[-1, 1]]))
    t.add("SpaceToBatchND", "bad_table", ramp(F32, (1, 4)), C([2]), C([[0, 0], [0, 0]]))
    t.add("SpaceToBatchND", "bad_rank", ramp(F32, (4,)), C([2]), C([[0, 0]]))
    t.add("BatchToSpaceND", "bad_batch", ramp(F32, (3, 4)), C([2]), C([[0, 0]]))
    t.add("BatchToSpaceND", "bad_crop", ramp(F32, (2, 1)), C([2]), C([[2, 1]]))
    t.add("BatchToSpaceND", "bad_block", ramp(F32, (2, 1)), C([-2]), C([[0, 0]]))
    for op, x in (("SpaceToBatch", image), ("BatchToSpace", ramp(F32, (4, 2, 2, 1)))):
        for dtype in (F32, F64, I32):
            t.add(op, dtype.__name__, x.astype(dtype), C([[0, 0], [0, 0]]), block_size=2)
        t.add(op, "framed", x, C([[1, 1], [0, 2]]), block_size=2)
        t.add(op, "table64", x, C([[1, 1], [0, 2]], I64), block_size=2)
        t.add(op, "empty", x[:0], C([[0, 0], [0, 0]]), block_size=2)
        t.add(op, "gradient", x.astype(F64), C([[1, 1], [0, 2]]), block_size=2, g=True)
        t.add(op, "bad_block", x, C([[0, 0], [0, 0]]), block_size=3)
        t.add(op, "bad_rank", x[0], C([[0, 0], [0, 0]]), block_size=2)
        t.add(op, "bad_negative", x, C([[-1, 1], [0, 2]]), block_size=2)
    for op, x in (("SpaceToDepth", ramp(F32, (1, 4, 2, 2))), ("DepthToSpace",
                                                              ramp(F32, (2, 1, 2, 8)))):
        for dtype in (F32, F64, F16, I32, U8, COMPLEX):
            t.add(op, dtype.__name__, x.astype(dtype), block_size=2)
        t.add(op, "empty", x[:0], block_size=2)
        t.add(op, "gradient", x.astype(F64), block_size=2, g=True)
        t.add(op, "bad_block", x, block_size=5)
        t.add(op, "bad_rank", x[0], block_size=2)
    t.add("SpaceToDepth", "three", ramp(F32, (1, 3, 6, 1)), block_size=3)
    t.add("DepthToSpace", "three", ramp(F32, (1, 1, 2, 9)), block_size=3)
    t.add("SpaceToDepth", "string", s(["a", "b", "c", "d"], (1, 2, 2, 1)), block_size=2)
    t.add("DepthToSpace", "string", s(["a", "b", "c", "d"], (1, 1, 1, 4)), block_size=2)


def scatters(t):
    x = ramp(F32, (4, 2))
    for op in ("Update", "Add", "Sub", "Min", "Max"):
        name = "TensorScatter" + op
        dtypes = [F32, F64, F16, I32, I64, U8, I16]
        for dtype in dtypes:
            t.add(name, dtype.__name__, x.astype(dtype), i([[2], [0]]),
                  a(dtype, [[7, 1], [1, 9]]))
        t.add(name, "elements", x, l([[2, 1], [0, 0]]), f([5, -5]))
        t.add(name, "matrix_of_places", x, i([[[3], [1]]]), f([[[1, 20], [3, 4]]]))
        t.add(name, "whole", f([1, 5]), np.zeros((1, 0), I32), f([[3, 3]]))
        t.add(name, "no_places", x, empty(I32, (0, 1)), empty(F32, (0, 2)))
        t.add(name, "empty", empty(F32, (0, 2)), empty(I32, (0, 1)), empty(F32, (0, 2)))
        t.add(name, "bad_index", x, i([[4]]), f([[1, 2]]))
        t.add(name, "bad_negative", x, i([[-1]]), f([[1, 2]]))
        t.add(name, "bad_updates", x, i([[1]]), f([[1, 2, 3]]))
        t.add(name, "bad_depth", x, i([[1, 1, 1]]), f([1]))
        t.add(name, "bad_scalar", f(1), i([[0]]), f([1]))
        t.add(name, "gradient", wave(F64, (3, 2)), i([[2], [0]]), d([[0.5, 3], [-3, 0.1]]), g=True)
        if op != "Update":
            t.add(name, "repeated", x, i([[1], [1]]), f([[1, 9], [8, 2]]))
    t.add("TensorScatterUpdate", "string", s(["a", "b"]), i([[1]]), s(["c"]))
    t.add("TensorScatterUpdate", "bool", b([True, False]), i([[1]]), b([True]))
    name = "ScatterNdNonAliasingAdd"
    for dtype in (F32, F64, F16, I32, I64):
        t.add(name, dtype.__name__, x.astype(dtype), i([[2], [0]]), a(dtype, [[7, 1], [1, 9]]))
    t.add(name, "repeated", x, l([[1], [1]]), f([[1, 9], [8, 2]]))
    t.add(name, "gradient", wave(F64, (3, 2)), i([[2], [0]]), d([[0.5, 3], [-3, 0.1]]), g=True)
    t.add(name, "bad_index", x, i([[4]]), f([[1, 2]]))
    t.add(name, "bad_updates", x, i([[1]]), f([[1, 2, 3]]))


def cases():
    t = Table()
    mirrors(t)
    sequences(t)
    batches(t)
    scatters(t)
    for case in t.cases:  # a tag that is expected to fail starts with bad_
        if "_bad_" in case.tag:
            before, after = case.tag.split("_bad_")
            case.tag = "bad_" + after + "_" + before
    return t.cases
