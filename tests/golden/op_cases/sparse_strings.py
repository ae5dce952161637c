"""Sparse tensors as strings."""
import struct

from .common import *  # noqa: F403
from .strings import none


def varint(number):
    return bytes([number])


def message(dtype, shape, data):
    """A small TensorProto."""
    dims = b"".join(b"\x12" + varint(2 if n else 0) + (b"\x08" + varint(n) if n else b"")
                    for n in shape)
    return (b"\x08" + varint(dtype) + b"\x12" + varint(len(dims)) + dims +
            (b"\x22" + varint(len(data)) + data if data else b""))


def longs(*numbers):
    return struct.pack("<%dq" % len(numbers), *numbers)


def sparse(indices, values, shape):
    """The three messages of a sparse tensor of floats."""
    flat = [n for row in indices for n in row]
    return [message(9, (len(indices), len(shape)), longs(*flat)),
            message(1, (len(values),), struct.pack("<%df" % len(values), *values)),
            message(9, (len(shape),), longs(*shape))]


def cases():
    t = Table()
    indices, shape = l([[0, 1], [1, 0], [1, 2]]), l([2, 3])
    for op in ("SerializeSparse", "SerializeManySparse"):
        t.add(op, "float", indices, f([1, 2, 3]), shape)
        t.add(op, "bools", indices, b([True, False, True]), shape)
        t.add(op, "int64", indices, l([1, -2, 3]), shape)
        t.add(op, "rank_3", l([[0, 1, 1], [2, 0, 0]]), d([1, 2]), l([3, 2, 2]))
        t.add(op, "no_values", empty(I64, (0, 2)), f([]), shape)
        t.add(op, "bad_indices", l([0, 1]), f([1, 2]), shape)
        t.add(op, "bad_values", indices, f([[1], [2], [3]]), shape)
        t.add(op, "bad_shape", indices, f([1, 2, 3]), l([[2, 3]]))
    t.add("SerializeManySparse", "bad_order", l([[1, 1], [0, 0]]), f([1, 2]), shape)
    t.add("SerializeManySparse", "bad_bounds", l([[5, 1]]), f([1]), shape)
    t.add("SerializeManySparse", "bad_rank", l([[1]]), f([1]), l([2]))

    first = sparse([[0, 1], [1, 0]], [1, 2], [2, 3])
    second = sparse([[0, 5]], [3], [1, 9])
    vector = sparse([[4]], [1], [5])
    for op in ("DeserializeSparse", "DeserializeManySparse"):
        t.add(op, "two", s([first, second]), dtype="float")
        t.add(op, "one_row", s([second]), dtype="float")
        t.add(op, "vectors", s([vector, vector, vector]), dtype="float")
        t.add(op, "no_values", s([sparse([], [], [2]), vector]), dtype="float")
        t.add(op, "more", s([first, second, first]), dtype="float")
        t.add(op, "bad_dtype", s([first, second]), dtype="int32")
        t.add(op, "bad_ranks", s([first, vector]), dtype="float")
        t.add(op, "bad_bytes", s([["a", "b", "c"]]), dtype="float")
        t.add(op, "bad_columns", s([["a", "b"]]), dtype="float")
        t.add(op, "bad_none", none((0, 3)), dtype="float")
    t.add("DeserializeSparse", "vector", s(first), dtype="float")
    t.add("DeserializeSparse", "rank_3", s([[first, second]]), dtype="float")
    t.add("DeserializeManySparse", "bad_vector", s(first), dtype="float")
    return t.cases
