"""Ops on rows, places and slices of variables, by reference and by handle; what handles tell."""
from .common import *  # noqa: F403

X = [[1, 2], [3, 4], [5, 6]]
NUMBERS = (F32, F64, F16, I8, I16, I32, I64, U8, U16, C64)


def V(values, dtype=F32):
    return Variable(np.asarray(values, dtype))


def H(values, dtype=F32):
    return Handle(np.asarray(values, dtype))


def rows(t):
    names = ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update")
    for op, make, unset in [("Scatter" + n, V, Uninitialized) for n in names] + [
            ("ResourceScatter" + n, H, UninitializedHandle) for n in names]:
        ordered = op.endswith(("Min", "Max"))
        for dtype in NUMBERS:
            if ordered and (dtype is C64 or make is V and dtype not in (F32, F64, F16, I32, I64)):
                continue
            t.add(op, "rows_" + np.dtype(dtype).name, make(X, dtype), i([2, 0, 2]),
                  a(dtype, [[7, 1], [2, 3], [1, 9]]), tol=1)
        t.add(op, "rows_scalar_index", make(X), i(1), f([10, 0.5]))
        t.add(op, "rows_matrix_indices", make([1, 2, 3, 4]), l([[0, 1], [3, 2]]),
              f([[1, 2], [3, 4]]), runs=2)
        t.add(op, "rows_one_update", make(X), i([1, 0]), f(3))
        t.add(op, "rows_none", make(X), empty(I32, (0,)), empty(F32, (0, 2)))
        t.add(op, "bad_rows_index", make(X), i([3]), f([[1, 2]]))
        t.add(op, "bad_rows_negative", make(X), i([-1]), f([[1, 2]]))
        t.add(op, "bad_rows_updates", make(X), i([1]), f([[1, 2, 3]]))
        t.add(op, "bad_rows_unset", unset(F32, [3, 2]), i([1]), f([[1, 2]]))
    for make, op in ((V, "ScatterUpdate"), (H, "ResourceScatterUpdate")):
        t.add(op, "rows_string", make(["a", "b", "c"], object), i([2, 0]), s(["x", "yy"]))
        t.add(op, "rows_bool", make([True, False], np.bool_), i([1]), b([True]))


def places(t):
    for name in ("Update", "Add", "Sub", "Max", "Min"):
        for op, make, unset in (("ScatterNd" + name, V, Uninitialized),
                                ("ResourceScatterNd" + name, H, UninitializedHandle)):
            for dtype in NUMBERS:
                if dtype is C64 and name in ("Max", "Min"):
                    continue
                t.add(op, np.dtype(dtype).name, make(X, dtype), i([[2, 0], [0, 1], [2, 0]]),
                      a(dtype, [7, 1, 2]), tol=1)
            t.add(op, "slices", make(X), l([[2], [0]]), f([[10, 20], [30, 40]]), runs=2)
            t.add(op, "table", make(X), i([[[2, 1]], [[0, 0]]]), f([[10], [20]]))
            t.add(op, "none", make(X), empty(I32, (0, 2)), empty(F32, (0,)))
            t.add(op, "bad_index", make(X), i([[3, 0]]), f([1]))
            t.add(op, "bad_negative", make(X), i([[0, -1]]), f([1]))
            t.add(op, "bad_depth", make(X), i([[0, 0, 0]]), f([1]))
            t.add(op, "bad_updates", make(X), i([[0, 0]]), f([[1, 2]]))
            t.add(op, "bad_scalar_indices", make(X), i(0), f([1, 2]))
            t.add(op, "bad_unset", unset(F32, [3, 2]), i([[0, 0]]), f([1]))


def slices(t):
    for op, make, unset in (("StridedSliceAssign", V, Uninitialized),
                            ("ResourceStridedSliceAssign", H, UninitializedHandle)):
        v = np.arange(12).reshape(3, 4)
        for dtype in (F32, F64, I32, U8, np.bool_):
            t.add(op, np.dtype(dtype).name, make(v, dtype), i([0, 1]), i([2, 3]), i([1, 1]),
                  a(dtype, [[7, 1], [0, 3]]))
        t.add(op, "const_bounds", make(v), Const([0, 1]), Const([2, 3]), Const([1, 1]),
              f([[7, 1], [0, 3]]))
        t.add(op, "steps", make(v), l([2, 3]), l([0, 0]), l([-1, -2]), f([[1, 2], [3, 4]]))
        t.add(op, "shrink", make(v), i([1]), i([2]), i([1]), f([1, 2, 3, 4]), shrink_axis_mask=1)
        t.add(op, "masks", make(v), i([0, 2]), i([0, 0]), i([1, 1]), f([[1, 2], [3, 4], [5, 6]]),
              begin_mask=1, end_mask=3)
        t.add(op, "ellipsis", make(v), i([0, 1]), i([0, 2]), i([1, 1]), f([[1], [2], [3]]),
              ellipsis_mask=1)
        t.add(op, "one", make(v), i([1, 1]), i([2, 2]), i([1, 1]), f(9), shrink_axis_mask=3)
        t.add(op, "none", make(v), i([1]), i([1]), i([1]), empty(F32, (0, 4)))
        for name, value in (("scalar", 5), ("row", [1, 2, 3, 4]), ("column", [[1], [2]]),
                            ("one", [6]), ("more_dimensions", [[[1, 2, 3, 4]]])):
            t.add(op, "broadcast_" + name, make(v), i([0]), i([2]), i([1]), f(value))
        t.add(op, "broadcast_steps", make(v), i([2, 3]), i([0, 0]), i([-1, -2]), f([[1], [3]]))
        t.add(op, "bad_shape", make(v), i([0]), i([2]), i([1]), f([1, 2, 3]))
        t.add(op, "bad_empty", make(v), i([0]), i([2]), i([1]), empty(F32, (0, 4)))
        t.add(op, "bad_stride", make(v), i([0]), i([2]), i([0]), f([1, 2, 3, 4]))
        t.add(op, "bad_index", make(v), i([3]), i([4]), i([1]), f([1, 2, 3, 4]),
              shrink_axis_mask=1)
        t.add(op, "bad_unset", unset(F32, [3]), i([0]), i([2]), i([1]), f([1, 2]))


def reading(t):
    cube = np.arange(12).reshape(2, 3, 2)
    t.add("ResourceGather", "batch", H(cube), i([[2, 0], [1, 1]]), dtype="float", batch_dims=1)
    t.add("ResourceGather", "string", Handle(s([["a", "b"], ["c", "d"]])), i([1]), dtype="string")
    for dtype, name in ((F32, "float"), (F64, "double"), (I64, "int64"), (np.bool_, "bool"),
                        (C64, "complex64")):
        t.add("ResourceGatherNd", name, H(X, dtype), i([[2, 0], [0, 1]]), dtype=name)
    t.add("ResourceGatherNd", "slices", H(X), l([[2], [0]]), dtype="float")
    t.add("ResourceGatherNd", "whole", H(X), empty(I32, (2, 0)), dtype="float")
    t.add("ResourceGatherNd", "none", H(X), empty(I32, (0, 2)), dtype="float")
    t.add("ResourceGatherNd", "string", Handle(s(["a", "b"])), i([[1]]), dtype="string")
    t.add("ResourceGatherNd", "bad_index", H(X), i([[3, 0]]), dtype="float")
    t.add("ResourceGatherNd", "bad_depth", H(X), i([[1, 0, 0]]), dtype="float")
    t.add("ResourceGatherNd", "bad_unset", UninitializedHandle(F32, [2]), i([[0]]), dtype="float")
    t.add("VariableShape", "matrix", H(X))
    t.add("VariableShape", "int64", H(X), out_type="int64")
    t.add("VariableShape", "scalar", H(1))
    t.add("VariableShape", "empty", H(np.zeros((0, 3))))
    t.add("VariableShape", "string", Handle(s(["a"])))
    t.add("VariableShape", "bad_unset", UninitializedHandle(F32, [2]))


def counting(t):
    for op, make in (("CountUpTo", V), ("ResourceCountUpTo", H)):
        T = {} if make is V else {"T": "int32"}
        t.add(op, "twice", make(3, I32), limit=5, runs=2, **T)
        t.add(op, "negative", make(-3, I32), limit=0, **T)
        t.add(op, "large", make(2**40, I64), limit=2**41, **(T and {"T": "int64"}))
        t.add(op, "last", make(4, I32), limit=5, **T)
        t.add(op, "bad_limit", make(5, I32), limit=5, **T)
        t.add(op, "bad_past", make(6, I32), limit=5, **T)
    t.add("DestroyResourceOp", "float", H(X))
    t.add("DestroyResourceOp", "string", Handle(s(["a"])))
    t.add("DestroyResourceOp", "scalar", H(1, I64))
    t.add("DestroyResourceOp", "unset", UninitializedHandle(F32, [2]))
    t.add("DestroyResourceOp", "strict", H(X), ignore_lookup_error=False)
    t.add("DestroyResourceOp", "twice", H(X), runs=2)


def cases():
    t = Table()
    rows(t)
    places(t)
    slices(t)
    reading(t)
    counting(t)
    return t.cases
