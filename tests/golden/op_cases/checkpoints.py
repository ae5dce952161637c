"""Saving and restoring: what is written comes back."""
from .common import *  # noqa: F403

P = "$TMP/model"


def c(values, dtype=None):
    return Const(s(values)) if dtype is None else Const(np.asarray(values, dtype))


NUMBERS = (F32, F64, I32, I64, U8, I8, I16, C64, np.bool_)
NEWER = (F16, BFLOAT16, U16, C128, U32, U64, "string")


def values(dtype, shape):
    if dtype == "string":
        count = int(np.prod(shape, dtype=int))
        return s(["", "a", "text with \0"][:count] * (count // 3 + 1))[:count].reshape(shape)
    return ramp(dtype, shape, 0)


def name_of(dtype):
    return dtype if dtype == "string" else dtype.__name__.rstrip("_")


def save_v2(prefix, names, slices, *tensors):
    return Node("SaveV2", c(prefix), c(names), c(slices), [Const(x) for x in tensors])


def restore_v2(prefix, names, slices, *dtypes):
    return Node("RestoreV2", c(prefix), c(names), c(slices), dtypes=list(dtypes))


def bundles(t):
    for dtype in NUMBERS + NEWER:
        x = values(dtype, [2, 3])
        t.add("SaveV2", name_of(dtype), s(P), s(["x"]), s([""]), [x],
              last=[restore_v2(P, ["x"], [""], dtype)])
        t.add("RestoreV2", name_of(dtype), s(P), s(["x"]), s([""]), dtypes=[dtype],
              first=[save_v2(P, ["x"], [""], x)])
    x, y, z = ramp(F32, [4, 3]), l(7), empty(F32, (0, 2))
    three = save_v2(P, ["x", "scope/y", "z"], ["", "", ""], x, y, z)
    names, slices = s(["x", "scope/y", "z"]), s(["", "", ""])
    t.add("SaveV2", "several", s(P), names, slices, [x, y, z],
          last=[restore_v2(P, ["z", "x", "scope/y"], [""] * 3, F32, F32, I64)])
    t.add("SaveV2", "folder", s("$TMP/deep/model"), s(["x"]), s([""]), [x],
          last=[restore_v2("$TMP/deep/model", ["x"], [""], F32)])
    t.add("SaveV2", "again", s(P), s(["x"]), s([""]), [x], runs=2,
          last=[restore_v2(P, ["x"], [""], F32)])
    t.add("SaveV2", "slice", s(P), s(["x"]), s(["8 3 2,4:-"]), [x],
          last=[restore_v2(P, ["x"], ["8 3 3,2:0,2"], F32)])
    t.add("SaveV2", "slices", s(P), s(["x", "x"]), s(["4 6 -:0,3", "4 6 -:3,3"]), [x, x],
          last=[restore_v2(P, ["x"], ["4 6 1,2:2,3"], F32)])
    t.add("RestoreV2", "several", s(P), s(["z", "scope/y"]), s(["", ""]), dtypes=[F32, I64],
          first=[three])
    t.add("RestoreV2", "slice", s(P), s(["x"]), s(["4 3 1,2:0,1"]), dtypes=[F32], first=[three])
    t.add("RestoreV2", "whole_slice", s(P), s(["x"]), s(["4 3 -:-"]), dtypes=[F32], first=[three])
    t.add("RestoreV2", "same_twice", s(P), s(["x", "x"]), s(["", "4 3 0,1:-"]), dtypes=[F32, F32],
          first=[three])
    for tag, slices_ in (("slice_shape", "5 3 0,1:-"), ("slice_rank", "4 0,1"),
                         ("slice_beyond", "4 3 3,2:-"), ("slice_text", "4 3 a"),
                         ("slice_negative", "4 3 -1,2:-")):
        t.add("RestoreV2", "bad_" + tag, s(P), s(["x"]), s([slices_]), dtypes=[F32],
              first=[three])
        t.add("SaveV2", "bad_" + tag, s(P), s(["x"]), s([slices_]), [x])
    t.add("RestoreV2", "bad_name", s(P), s(["w"]), s([""]), dtypes=[F32], first=[three])
    t.add("RestoreV2", "bad_dtype", s(P), s(["x"]), s([""]), dtypes=[I64], first=[three])
    t.add("RestoreV2", "bad_file", s("$TMP/none"), s(["x"]), s([""]), dtypes=[F32])
    t.add("RestoreV2", "bad_prefix_rank", s([P, P]), s(["x"]), s([""]), dtypes=[F32],
          first=[three])
    t.add("RestoreV2", "bad_names_rank", s(P), s([["x"]]), s([""]), dtypes=[F32], first=[three])
    t.add("RestoreV2", "bad_lengths", s(P), s(["x", "z"]), s([""]), dtypes=[F32, F32],
          first=[three])
    t.add("RestoreV2", "bad_dtypes", s(P), s(["x", "z"]), s(["", ""]), dtypes=[F32],
          first=[three])
    t.add("RestoreV2", "bad_not_a_checkpoint", s(P), s(["x"]), s([""]), dtypes=[F32],
          first=[Node("WriteFile", c(P + ".index"), c("nothing of the kind" * 5))])
    t.add("SaveV2", "bad_lengths", s(P), s(["x", "y"]), s(["", ""]), [x])
    t.add("SaveV2", "bad_slices", s(P), s(["x"]), s(["", ""]), [x])
    t.add("SaveV2", "bad_prefix_rank", s([P, P]), s(["x"]), s([""]), [x])
    t.add("SaveV2", "bad_names_rank", s(P), s([["x"]]), s([""]), [x])
    t.add("SaveV2", "bad_same_twice", s(P), s(["x", "x"]), s(["", ""]), [x, x])


def merging(t):
    parts = [save_v2("$TMP/part%d" % k, ["v%d" % k], [""], ramp(F32, [2], 10 * k))
             for k in range(3)]
    sources = s(["$TMP/part0", "$TMP/part1", "$TMP/part2"])
    both = restore_v2(P, ["v2", "v0"], ["", ""], F32, F32)
    files = Node("MatchingFiles", c("$TMP/*"))
    t.add("MergeV2Checkpoints", "three", sources, s(P), first=parts, last=[both, files])
    t.add("MergeV2Checkpoints", "one", sources[:1], s(P), first=parts[:1],
          last=[restore_v2(P, ["v0"], [""], F32), files])
    t.add("MergeV2Checkpoints", "kept", sources, s(P), first=parts, last=[both, files],
          delete_old_dirs=False)
    t.add("MergeV2Checkpoints", "folder", sources[:2], s("$TMP/to/model"), first=parts[:2],
          last=[restore_v2("$TMP/to/model", ["v1"], [""], F32)])
    t.add("MergeV2Checkpoints", "slices", s(["$TMP/a", "$TMP/b"]), s(P), first=[
        save_v2("$TMP/a", ["x"], ["3 4 -:0,2"], ramp(F32, [3, 2])),
        save_v2("$TMP/b", ["x"], ["3 4 -:2,2"], ramp(F32, [3, 2], 50))],
          last=[restore_v2(P, ["x"], [""], F32)])
    t.add("MergeV2Checkpoints", "bad_same_name", s(["$TMP/part0", "$TMP/c"]), s(P),
          first=[parts[0], save_v2("$TMP/c", ["v0"], [""], f([1]))])
    t.add("MergeV2Checkpoints", "bad_destination_rank", sources[:1], s([P]), first=parts[:1])
    t.add("MergeV2Checkpoints", "bad_sources_rank", s([["$TMP/part0"]]), s(P), first=parts[:1])


def first_kind(t):
    """Checkpoints of the first kind, one file."""
    x, y = ramp(F32, [4, 3]), ramp(F32, [2, 3], 100)

    def saved(dtype):
        return Node("Save", c(P), c(["x"]), [Const(values(dtype, [2, 3]))])

    for dtype in NUMBERS + ("string",):
        back = Node("Restore", c(P), c("x"), dt=dtype)
        t.add("Save", name_of(dtype), s(P), s(["x"]), [values(dtype, [2, 3])], last=[back])
        t.add("Restore", name_of(dtype), s(P), s("x"), dt=dtype, first=[saved(dtype)])
        t.add("RestoreSlice", name_of(dtype), s(P), s("x"), s("2 3 0,1:1,2"), dt=dtype,
              first=[saved(dtype)])
        if dtype in (F32, F64, I32, I64):
            t.add("SaveSlices", name_of(dtype), s(P), s(["x"]), s(["4 3 1,2:-"]),
                  [values(dtype, [2, 3])], last=[Node("RestoreSlice", c(P), c("x"),
                                                      c("4 3 2,1:-"), dt=dtype)])
    slices = Node("SaveSlices", c(P), c(["x", "x", "s"]),
                  c(["4 6 -:0,3", "4 6 -:3,3", ""]), [Const(x), Const(x), Const(y)])
    t.add("Save", "several", s(P), s(["a", "b"]), [x, f(3)],
          last=[Node("Restore", c(P), c("b"), dt=F32)])
    t.add("Save", "empty", s(P), s(["a"]), [empty(F32, (0, 2))],
          last=[Node("Restore", c(P), c("a"), dt=F32)])
    t.add("SaveSlices", "whole", s(P), s(["a"]), s([""]), [x],
          last=[Node("Restore", c(P), c("a"), dt=F32)])
    t.add("SaveSlices", "two", s(P), s(["a", "a"]), s(["4 6 -:0,3", "4 6 -:3,3"]), [x, x],
          last=[Node("RestoreSlice", c(P), c("a"), c("4 6 1,2:1,4"), dt=F32)])
    t.add("Restore", "pattern", s(P + "*"), s("x"), dt=F32, first=[saved(F32)])
    t.add("Restore", "whole_of_slices", s(P), s("s"), dt=F32, first=[slices])
    t.add("RestoreSlice", "over_slices", s(P), s("x"), s("4 6 1,2:2,3"), dt=F32, first=[slices])
    t.add("RestoreSlice", "no_slice", s(P), s("s"), s(""), dt=F32, first=[slices])
    for op, more in (("Restore", []), ("RestoreSlice", [s("")])):
        t.add(op, "bad_name", s(P), s("w"), *more, dt=F32, first=[saved(F32)])
        t.add(op, "bad_dtype", s(P), s("x"), *more, dt=I64, first=[saved(F32)])
        t.add(op, "bad_file", s("$TMP/none"), s("x"), *more, dt=F32)
        t.add(op, "bad_not_a_checkpoint", s(P), s("x"), *more, dt=F32,
              first=[Node("WriteFile", c(P), c("nothing of the kind" * 5))])
        t.add(op, "bad_file_rank", s([P, P]), s("x"), *more, dt=F32, first=[saved(F32)])
        t.add(op, "bad_name_rank", s(P), s(["x", "y"]), *more, dt=F32, first=[saved(F32)])
    t.add("RestoreSlice", "bad_shape", s(P), s("x"), s("3 3 0,1:-"), dt=F32, first=[saved(F32)])
    t.add("RestoreSlice", "bad_text", s(P), s("x"), s("2 3 x"), dt=F32, first=[saved(F32)])
    t.add("RestoreSlice", "bad_beyond", s(P), s("x"), s("2 3 1,2:-"), dt=F32, first=[saved(F32)])
    t.add("Save", "bad_lengths", s(P), s(["a", "b"]), [x])
    t.add("Save", "bad_file_rank", s([P, P]), s(["a"]), [x])
    t.add("Save", "bad_names_rank", s(P), s([["a"]]), [x])
    t.add("SaveSlices", "bad_lengths", s(P), s(["a"]), s(["", ""]), [x])
    t.add("SaveSlices", "bad_slice_shape", s(P), s(["a"]), s(["4 6 0,2:-"]), [x])
    t.add("SaveSlices", "bad_slice_text", s(P), s(["a"]), s(["4 3 x"]), [x])


def shards(t):
    for tag, base, shard, count in (("first", "model", 0, 2), ("last", "a/b", 4, 5),
                                    ("empty", "", 0, 1), ("many", "m", 12345, 123456),
                                    ("negative", "m", -1, 2), ("beyond", "m", 7, 2)):
        t.add("ShardedFilename", tag, s(base), i(shard), i(count))
    t.add("ShardedFilename", "bad_rank", s(["a"]), i(0), i(1))
    t.add("ShardedFilename", "bad_shard_rank", s("a"), i([0]), i(1))


def cases():
    t = Table()
    bundles(t)
    merging(t)
    first_kind(t)
    shards(t)
    return t.cases
