"""Sets in the last dimension."""
from .common import *  # noqa: F403

OPS = ("a-b", "b-a", "intersection", "union")
INTS = (I8, I16, I32, I64, U8, U16)


def sparse(values, indices, shape, dtype=I32):
    data = s(values) if dtype is object else a(dtype, values)
    return l(indices, (len(indices), len(shape))), data, l(shape)


def cases():
    t = Table()
    dd, ds, ss = (x + "SetOperation" for x in ("DenseToDense", "DenseToSparse", "SparseToSparse"))
    one, two = [[5, 1, 5], [2, 3, 9]], [[1, 7, 1, 5], [9, 9, 9, 0]]
    first = [1, 5, 7, 2, 2, 4], [[0, 0], [0, 1], [0, 3], [2, 0], [2, 1], [2, 2]], [4, 4]
    second = [5, 1, 3, 4, 8], [[0, 0], [0, 2], [1, 0], [2, 0], [2, 1]], [4, 3]
    for name in OPS:
        attrs = dict(set_operation=name)
        t.add(dd, name, i(one), i(two), **attrs)
        t.add(ds, name, i(one), *sparse([1, 2, 4, 3], [[0, 0], [1, 0], [1, 1], [1, 3]], [2, 4]),
              **attrs)
        t.add(ss, name, *sparse(*first), *sparse(*second), **attrs)
        t.add(dd, name + "_cube", i([one, one[::-1]]),
              i([one[::-1], one]), **attrs)
        t.add(ss, name + "_strings",
              *sparse(["b", "ab", "a\x00c", ""], [[0, 0], [0, 1], [0, 2], [1, 0]], [2, 3], object),
              *sparse(["ab", "z", ""], [[0, 0], [0, 1], [1, 0]], [2, 2], object), **attrs)
        t.add(dd, name + "_empty", empty(I32, (0, 2)), empty(I32, (0, 3)), **attrs)
        t.add(ds, name + "_nothing", i(one), *sparse([], [], [2, 4]), **attrs)
        t.add(ss, name + "_nothing", *sparse([], [], [2, 4]), *sparse([], [], [2, 1]), **attrs)
    for dtype in INTS:
        tag = np.dtype(dtype).name
        t.add(dd, tag, a(dtype, one), a(dtype, two), set_operation="union")
        t.add(ds, tag, a(dtype, one), *sparse([1, 2], [[0, 0], [1, 0]], [2, 1], dtype),
              set_operation="a-b")
        t.add(ss, tag, *sparse(*first, dtype), *sparse(*second, dtype),
              set_operation="intersection")
        t.add("SetSize", tag, *sparse(*first, dtype))
    t.add("SetSize", "strings", *sparse(["a", "a", "b"], [[0, 0], [0, 1], [1, 1]], [2, 2], object))
    t.add("SetSize", "cube", *sparse([1, 2, 1], [[0, 1, 0], [0, 1, 1], [1, 0, 0]], [2, 2, 2]))
    t.add("SetSize", "nothing", *sparse([], [], [2, 2]))
    t.add("SetSize", "bad_order", *sparse([1, 2], [[1, 0], [0, 0]], [2, 2]))
    t.add("SetSize", "bad_rank", *sparse([1, 2], [[0], [1]], [2]))
    t.add(dd, "bad_name", i(one), i(two), set_operation="xor")
    t.add(dd, "bad_groups", i(one), i(two[:1]), set_operation="union")
    t.add(dd, "bad_rank", i([1, 2]), i([1, 2]), set_operation="union")
    t.add(ds, "bad_groups", i(one), *sparse([1], [[0, 0]], [3, 1]), set_operation="union")
    t.add(ds, "bad_order", i(one), *sparse([1, 2], [[1, 0], [0, 0]], [2, 1]), set_operation="union")
    t.add(ss, "bad_groups", *sparse(*first), *sparse([1], [[0, 0]], [3, 1]), set_operation="union")
    t.add(ss, "bad_ranks", *sparse(*first), *sparse([1], [[0, 0, 0]], [4, 1, 1]),
          set_operation="union")
    return t.cases
