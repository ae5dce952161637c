"""Ragged tensors as variants, and sparse ones."""
from .common import *  # noqa: F403

LEVELS = [l([0, 2, 3]), l([0, 2, 2, 3])]
VALUES = i([1, 2, 3])


def packed(splits, values, batched=False):
    return Node("RaggedTensorToVariant", [Const(one) for one in splits], Const(values),
                batched_input=batched, RAGGED_RANK=len(splits),
                **({} if splits else {"Tsplits": "int64"}))


def tvalues(values):
    return "string" if values.dtype == object else values.dtype.type


def unpacked(node, rank, values, input_rank=-1):
    return Node("RaggedTensorFromVariant", node, input_ragged_rank=input_rank,
                output_ragged_rank=rank, Tvalues=tvalues(values), Tsplits="int64")


def taken(t, tag, node, rank, values, input_rank=-1, splits="int64"):
    t.add("RaggedTensorFromVariant", tag, node, input_ragged_rank=input_rank,
          output_ragged_rank=rank, Tvalues=tvalues(values), Tsplits=splits)


def put(t, tag, splits, values, batched, rank):
    attrs = {} if splits else {"Tsplits": "int64"}
    t.add("RaggedTensorToVariant", tag, splits, values, batched_input=batched,
          RAGGED_RANK=len(splits), last=[unpacked(OP, rank, values)], **attrs)


def cases():
    t = Table()
    texts = s(["a", "", "long"])
    matrix = f([[1, 2], [3, 4], [5, 6]])
    for tag, values in (("ints", VALUES), ("texts", texts), ("rows", matrix)):
        put(t, tag, LEVELS, values, False, 2)
        put(t, f"{tag}_batched", LEVELS, values, True, 2)
        put(t, f"{tag}_one_level", LEVELS[1:], values, True, 1)
        taken(t, tag, packed(LEVELS, values), 2, values)
        taken(t, f"{tag}_batched", packed(LEVELS, values, True), 2, values, 1)
    put(t, "no_rows", [l([0])], i([]), False, 1)
    put(t, "dense", [], VALUES, False, 0)
    put(t, "dense_batched", [], matrix, True, 1)
    t.add("RaggedTensorToVariant", "bad_last", [l([0, 2])], VALUES, batched_input=False,
          RAGGED_RANK=1)
    t.add("RaggedTensorToVariant", "bad_scalar", [], i(3), batched_input=True, RAGGED_RANK=0,
          Tsplits="int64")

    rows = packed([], matrix, True)
    taken(t, "dense", rows, 1, matrix)
    taken(t, "one_dense", packed([], matrix), 0, matrix)
    column = Node("Reshape", packed(LEVELS, VALUES, True), Const([2, 1]), T="variant")
    taken(t, "matrix_of_ragged", column, 3, VALUES)
    taken(t, "bad_rank", packed(LEVELS, VALUES), 1, VALUES)
    taken(t, "bad_sum", packed(LEVELS, VALUES), 2, VALUES, 1)
    taken(t, "bad_dtype", packed(LEVELS, VALUES), 2, matrix)
    taken(t, "bad_splits", packed(LEVELS, VALUES), 2, VALUES, splits="int32")
    taken(t, "bad_optional", Node("OptionalNone"), 1, VALUES)

    indices, shape = l([[0, 1], [1, 0], [1, 2]]), l([2, 3])
    for tag, values in (("floats", f([1, 2, 3])), ("texts", texts)):
        sparse = [Const(indices), Const(values), Const(shape)]
        for op in ("SerializeSparse", "SerializeManySparse"):
            read = Node("DeserializeSparse", OP, dtype=tvalues(values), Tserialized="variant")
            t.add(op, f"variants_of_{tag}", indices, values, shape, out_type="variant",
                  last=[read])
            made = Node(op, *sparse, out_type="variant")
            t.add("DeserializeSparse", f"{tag}_of_{op.lower()}", made, dtype=tvalues(values),
                  Tserialized="variant")
    t.add("DeserializeSparse", "bad_variant", packed([l([0, 1, 2, 3])], VALUES, True),
          dtype="float", Tserialized="variant")
    return t.cases
