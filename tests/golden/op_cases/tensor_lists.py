"""Lists of tensors: made, pushed, popped, set, stacked, gathered, split and concatenated."""
from .common import *  # noqa: F403

X = ramp(F32, (3, 2))
VALUES = (("float", X), ("int", i([[1, 2], [3, 4], [5, 6]])),
          ("string", s([["a", ""], ["b", "c"], ["dd", "e"]])),
          ("double", wave(F64, (3, 2))), ("bool", b([[True, False], [False, False], [True, True]])))


def dtype(value):
    return "string" if value.dtype == object else value.dtype.type


def shape(*dims):
    return Const(list(dims))


ANY = Const(-1)


def made(value, element_shape=None):
    """A list of the rows."""
    return Node("TensorListFromTensor", Const(value),
                shape(*value.shape[1:]) if element_shape is None else element_shape)


def empty_list(value_dtype=F32, element_shape=ANY, most=-1):
    return Node("EmptyTensorList", element_shape, Const(most), element_dtype=value_dtype,
                shape_type=I32)


def reserved(count, value_dtype=F32, element_shape=ANY):
    return Node("TensorListReserve", element_shape, Const(count), element_dtype=value_dtype,
                shape_type=I32)


def stacked(node=OP, value_dtype=F32, element_shape=ANY):
    return Node("TensorListStack", node, element_shape, element_dtype=value_dtype)


def got(index, node=OP, value_dtype=F32, element_shape=ANY):
    return Node("TensorListGetItem", node, Const(index), element_shape, element_dtype=value_dtype)


def length(node=OP):
    return Node("TensorListLength", node)


def pushed(node, value):
    return Node("TensorListPushBack", node, Const(value), element_dtype=dtype(value))


def popped(node, value_dtype=F32, element_shape=ANY):
    return Node("TensorListPopBack", node, element_shape, element_dtype=value_dtype)


def makers(t):
    for tag, element_shape in (("any", ANY), ("scalar", shape()), ("vector", shape(2)),
                               ("partial", shape(-1, 3))):
        for most in (-1, 2):
            t.add("EmptyTensorList", "%s_%d" % (tag, most + 1), element_shape, Const(most),
                  element_dtype=F32,
                  last=[length(), Node("TensorListElementShape", OP, shape_type=I32)])
        t.add("TensorListReserve", tag, element_shape, Const(3), element_dtype=F32,
              last=[length(), Node("TensorListElementShape", OP, shape_type=I64)])
        t.add("TensorListElementShape", tag, reserved(2, F32, element_shape), shape_type=I32)
        t.add("TensorListElementShape", tag + "_64", empty_list(F64, element_shape), shape_type=I64)
    t.add("TensorListReserve", "none", ANY, Const(0), element_dtype="string", last=[length()])
    t.add("TensorListReserve", "bad_negative", ANY, Const(-3), element_dtype=F32)
    t.add("EmptyTensorList", "bad_shape", Const([-2]), Const(-1), element_dtype=F32)
    t.add("EmptyTensorList", "bad_scalar", Const(7), Const(-1), element_dtype=F32)
    for count in (0, 1, 5):
        t.add("TensorListLength", "reserved_%d" % count, reserved(count))
    t.add("TensorListLength", "made", made(X))
    t.add("TensorListLength", "handed_on", Node("Identity", made(X), T="variant"))
    t.add("TensorListLength", "popped", popped(made(X)))


def one_by_one(t):
    for tag, value in VALUES:
        row, kind = value[0], dtype(value)
        t.add("TensorListPushBack", tag, made(value), row, element_dtype=kind,
              last=[stacked(OP, kind), length(), stacked(popped(OP, kind), kind)])
        t.add("TensorListPopBack", tag, made(value), shape(2), element_dtype=kind,
              last=[stacked(OP, kind), length()])
        t.add("TensorListGetItem", tag, made(value), Const(1), ANY, element_dtype=kind)
        t.add("TensorListGetItem", tag + "_unset", reserved(2, kind, shape(2)), Const(0), ANY,
              element_dtype=kind)
        t.add("TensorListSetItem", tag, made(value), Const(2), row, element_dtype=kind,
              last=[stacked(OP, kind), got(0, OP, kind)])
    t.add("TensorListPushBack", "empty", empty_list(), f(3), element_dtype=F32, last=[stacked()])
    t.add("TensorListPushBack", "twice", empty_list(), f([1, 2]), element_dtype=F32,
          last=[stacked(pushed(OP, f([3, 4]))), stacked(pushed(OP, f([5, 6]))), stacked()])
    t.add("TensorListPushBack", "ragged", made(X, ANY), f([7]), element_dtype=F32,
          last=[got(3), got(2)])
    t.add("TensorListPushBack", "bad_dtype", empty_list(), i(3), element_dtype=I32)
    t.add("TensorListPushBack", "bad_shape", empty_list(F32, shape(2)), f([1, 2, 3]),
          element_dtype=F32)
    t.add("TensorListPushBack", "bad_full", empty_list(F32, ANY, 0), f(3), element_dtype=F32)
    t.add("TensorListPopBack", "unset", reserved(2), shape(2), element_dtype=F32, last=[length()])
    t.add("TensorListPopBack", "bad_empty", empty_list(), ANY, element_dtype=F32)
    t.add("TensorListPopBack", "bad_dtype", made(X), ANY, element_dtype=I32)
    t.add("TensorListPopBack", "bad_unset", reserved(1), ANY, element_dtype=F32)
    t.add("TensorListGetItem", "told_by_others",
          Node("TensorListSetItem", reserved(3), Const(1), Const(f([1, 2])), element_dtype=F32),
          Const(0), ANY, element_dtype=F32)
    t.add("TensorListGetItem", "bad_behind", made(X), Const(3), ANY, element_dtype=F32)
    t.add("TensorListGetItem", "bad_dtype", made(X), Const(0), ANY, element_dtype=F64)
    t.add("TensorListGetItem", "bad_unset", reserved(1), Const(0), ANY, element_dtype=F32)
    first = Node("TensorListSetItem", OP, Const(0), Const(f([-1, -2])), element_dtype=F32)
    second = Node("TensorListSetItem", first, Const(0), Const(f([-3, -4])), element_dtype=F32)
    t.add("TensorListSetItem", "several_times", made(X), Const(0), f([9, 9]), element_dtype=F32,
          last=[stacked(second), stacked(first), stacked()])
    t.add("TensorListSetItem", "grows", made(X), Const(4), f([9, 9]), element_dtype=F32,
          resize_if_index_out_of_bounds=True, last=[stacked(), length()])
    t.add("TensorListSetItem", "bad_behind", made(X), Const(3), f([9, 9]), element_dtype=F32)
    t.add("TensorListSetItem", "bad_shape", made(X), Const(0), f([9]), element_dtype=F32)
    t.add("TensorListSetItem", "bad_dtype", made(X), Const(0), i([9, 9]), element_dtype=I32)
    for count in (0, 2, 3, 5):
        t.add("TensorListResize", "to_%d" % count, made(X), Const(count),
              last=[length(), stacked(OP, F32, shape(2))])
    t.add("TensorListResize", "bad_negative", made(X), Const(-1))
    t.add("TensorListResize", "again", Node("TensorListResize", made(X), Const(1)), Const(3),
          last=[stacked()])


def batches(t):
    for tag, value in VALUES:
        kind = dtype(value)
        one = Node("Reshape", made(value), Const([1]), T="variant")
        t.add("TensorListPushBackBatch", tag, one, value[1:2], element_dtype=kind,
              last=[stacked(Node("Reshape", OP, Const([]), T="variant"), kind)])
        t.add("TensorListConcatLists", tag, made(value), made(value[:1]), element_dtype=kind,
              last=[stacked(OP, kind), length()])
    one = Node("Reshape", made(X), Const([1]), T="variant")
    t.add("TensorListPushBackBatch", "bad_dtype", one, i([[1, 2]]), element_dtype=I32)
    t.add("TensorListPushBackBatch", "bad_shape", one, f([[1]]), element_dtype=F32)
    t.add("TensorListPushBackBatch", "bad_count", one, X, element_dtype=F32)
    t.add("TensorListConcatLists", "empty", empty_list(F32, shape(2)), made(X), element_dtype=F32,
          last=[stacked()])
    t.add("TensorListConcatLists", "unset", made(X), reserved(2, F32, shape(2)),
          element_dtype=F32, last=[stacked()])
    t.add("TensorListConcatLists", "bad_shapes", made(X), reserved(2), element_dtype=F32)
    t.add("TensorListConcatLists", "bad_dtype", made(X), made(i([1, 2])), element_dtype=F32)


def at_once(t):
    for tag, value in VALUES:
        kind = dtype(value)
        t.add("TensorListStack", tag, made(value), ANY, element_dtype=kind)
        t.add("TensorListStack", tag + "_unset", reserved(2, kind, shape(2)), ANY,
              element_dtype=kind)
        t.add("TensorListGather", tag, made(value), i([2, 0, 2]), ANY, element_dtype=kind)
        t.add("TensorListFromTensor", tag, value, shape(2),
              last=[stacked(OP, kind), got(1, OP, kind)])
        t.add("TensorListScatter", tag, value, i([2, 0, 1]), shape(2), last=[stacked(OP, kind)])
        t.add("TensorListScatterV2", tag, value, i([4, 0, 1]), shape(2), Const(6),
              last=[stacked(OP, kind), length()])
        t.add("TensorListScatterIntoExistingList", tag, made(value), value[:2], i([2, 0]),
              last=[stacked(OP, kind)])
        t.add("TensorListSplit", tag, value, shape(-1, 2), l([2, 0, 1]),
              last=[got(0, OP, kind), got(1, OP, kind), got(2, OP, kind)])
        parts = Node("TensorListSplit", Const(value), shape(-1, 2), Const([1, 2], I64))
        t.add("TensorListConcat", tag, parts, element_dtype=kind)
        t.add("TensorListConcatV2", tag, parts, shape(-1, 2), Const([], I64), element_dtype=kind)
    t.add("TensorListStack", "count", made(X), shape(2), element_dtype=F32, num_elements=3)
    t.add("TensorListStack", "none", empty_list(), shape(2, 3), element_dtype=F32)
    t.add("TensorListStack", "some_unset",
          Node("TensorListSetItem", reserved(3), Const(1), Const(f([1, 2])), element_dtype=F32),
          ANY, element_dtype=F32)
    t.add("TensorListStack", "bad_count", made(X), shape(2), element_dtype=F32, num_elements=2)
    t.add("TensorListStack", "bad_none", empty_list(), ANY, element_dtype=F32)
    t.add("TensorListStack", "bad_unset", reserved(2), ANY, element_dtype=F32)
    t.add("TensorListStack", "bad_ragged", pushed(made(X, ANY), f([1])), ANY, element_dtype=F32)
    t.add("TensorListStack", "bad_dtype", made(X), ANY, element_dtype=F64)
    t.add("TensorListGather", "none", made(X), i([]), shape(2), element_dtype=F32)
    t.add("TensorListGather", "unset", reserved(3, F32, shape(2)), i([1]), ANY, element_dtype=F32)
    t.add("TensorListGather", "bad_behind", made(X), i([0, 3]), ANY, element_dtype=F32)
    t.add("TensorListFromTensor", "any", X, ANY, last=[stacked()])
    t.add("TensorListFromTensor", "none", empty(F32, (0, 2)), shape(2), last=[length()])
    t.add("TensorListFromTensor", "scalars", f([1, 2, 3]), shape(), last=[stacked()])
    t.add("TensorListFromTensor", "bad_scalar", f(3), ANY)
    t.add("TensorListFromTensor", "bad_shape", X, shape(3))
    t.add("TensorListScatter", "twice", X, i([1, 1, 0]), ANY, last=[stacked()])
    t.add("TensorListScatter", "holes", X, i([5, 1, 0]), ANY, last=[stacked(), length()])
    t.add("TensorListScatter", "bad_negative", X, i([0, 1, -1]), ANY)
    t.add("TensorListScatterV2", "any", X, i([2, 0, 1]), ANY, Const(-1), last=[stacked()])
    t.add("TensorListScatterV2", "bad_behind", X, i([2, 0, 1]), ANY, Const(2))
    t.add("TensorListScatterV2", "bad_count", X, i([2, 0, 1]), ANY, Const(-2))
    t.add("TensorListScatterV2", "bad_rows", X, i([2, 0, 1, 3]), ANY, Const(5))
    t.add("TensorListScatterIntoExistingList", "grows", made(X), X[:2], i([3, 0]),
          last=[stacked(), length()])
    t.add("TensorListScatterIntoExistingList", "bad_dtype", made(X), i([[1, 2]]), i([0]))
    t.add("TensorListSplit", "any", X, ANY, l([3]), last=[got(0)])
    t.add("TensorListSplit", "bad_short", X, ANY, l([1, 1]))
    t.add("TensorListSplit", "bad_long", X, ANY, l([1, 3]))
    t.add("TensorListSplit", "bad_negative", X, ANY, l([4, -1]))
    t.add("TensorListSplit", "bad_lengths", X, ANY, l(3))
    t.add("TensorListSplit", "bad_scalar", f(3), ANY, l([3]))
    t.add("TensorListSplit", "bad_shape", X, shape(-1, 3), l([3]))
    t.add("TensorListConcat", "rows", made(X), element_dtype=F32, element_shape=[None])
    t.add("TensorListConcat", "bad_scalars", made(f([1, 2])), element_dtype=F32)
    t.add("TensorListConcat", "bad_none", empty_list(), element_dtype=F32)
    t.add("TensorListConcatV2", "none", empty_list(), shape(-1, 2), Const([], I64),
          element_dtype=F32)
    t.add("TensorListConcatV2", "unset", reserved(2), shape(-1, 2), Const([1, 2], I64),
          element_dtype=F32)
    t.add("TensorListConcatV2", "bad_unset", reserved(2), shape(-1, 2), Const([], I64),
          element_dtype=F32)
    t.add("TensorListConcatV2", "bad_first", made(ramp(F32, (2, 2, 2))), shape(3, 2),
          Const([], I64), element_dtype=F32)
    t.add("TensorListConcatV2", "bad_scalars", made(f([1, 2])), ANY, Const([], I64),
          element_dtype=F32)


def sums(t):
    t.add("AddN", "lists", [made(X), made(X), made(f([[1, 1], [2, 2], [3, 3]]))], T="variant", N=3,
          last=[stacked()])
    half = Node("TensorListSetItem", reserved(3), Const(1), Const(f([1, 2])), element_dtype=F32)
    t.add("AddN", "lists_unset", [half, made(X)], T="variant", N=2, last=[stacked()])
    t.add("AddN", "one_list", [made(X)], T="variant", N=1, last=[stacked()])
    t.add("AddN", "bad_lengths", [made(X), made(X[:2])], T="variant", N=2)
    t.add("AddN", "bad_dtypes", [made(X), made(i([[1], [2], [3]]))], T="variant", N=2)
    t.add("ZerosLike", "list", made(X), T="variant", last=[stacked()])
    t.add("ZerosLike", "list_unset", half, T="variant", last=[stacked(), length()])


def cases():
    t = Table()
    for add in (makers, one_by_one, batches, at_once, sums):
        add(t)
    return t.cases
