"""Lookup tables: made, filled, looked into."""
from .common import *  # noqa: F403

C = Const


def c(values, dtype=None):
    return Const(s(values)) if dtype is None else Const(np.asarray(values, dtype))


def table(kind, key, value, *inputs, **attrs):
    return Node(kind, *inputs, key_dtype=key, value_dtype=value, **attrs)


PAIRS = (("string_int64", s(["a", "", "long key"]), l([1, -2, 3]), s(["a", "b"]), l(-1)),
         ("int64_string", l([5, -6, 7]), s(["five", "", "seven"]), l([[7, 8]]), s("none")),
         ("int64_float", l([0, 1 << 40, -1]), f([0.5, -2, NAN]), l(-1), f(INF)),
         ("string_string", s(["x", "y"]), s(["X", "Y"]), s(["y", "x", "z"]), s("?")),
         ("int32_double", i([1, 2]), d([1.5, 2.5]), i([2, 3]), d(9)),
         ("string_bool", s(["t", "f"]), b([True, False]), s(["f", "t"]), b(True)))

# TensorFlow has no table from strings to strings that can be changed.
MUTABLE = tuple(p for p in PAIRS if p[0] != "string_string")


def dtype_of(array):
    return "string" if array.dtype == object else array.dtype.type


def filled(v, keys, values):
    """A mutable table and what puts the entries in."""
    t = table("MutableHashTable" + v, dtype_of(keys), dtype_of(values))
    return t, Node("LookupTableInsert" + v, t, C(keys), C(values))


def size_of(v, t):
    return Node("LookupTableSize" + v, t)


def mutable(t, v):
    for tag, keys, values, asked, default in MUTABLE:
        h, insert = filled(v, keys, values)
        t.add("LookupTableFind" + v, tag, h, asked, default, first=[insert])
        t.add("LookupTableSize" + v, tag, h, first=[insert], runs=2)
        h, insert = filled(v, keys[1:], values[1:])
        find = Node("LookupTableFind" + v, h, C(keys), C(default))
        t.add("LookupTableInsert" + v, tag, h, keys, values, last=[size_of(v, h), find])
        t.add("LookupTableImport" + v, tag, h, keys[:1], values[:1], first=[insert],
              last=[size_of(v, h), find])
        h, insert = filled(v, keys[:1], values[:1])
        t.add("LookupTableExport" + v, tag, h, first=[insert], Tkeys=dtype_of(keys),
              Tvalues=dtype_of(values))
        if v:
            h, insert = filled(v, keys, values)
            find = Node("LookupTableFindV2", h, C(keys), C(default))
            t.add("LookupTableRemoveV2", tag, h, keys[:2], first=[insert],
                  last=[size_of(v, h), find])
    corners(t, v)


def corners(t, v):
    keys, values = l([1, 2, 3]), l([10, 20, 30])
    h, insert = filled(v, keys, values)
    find, put, size = "LookupTableFind" + v, "LookupTableInsert" + v, "LookupTableSize" + v
    t.add(find, "scalar", h, l(2), l(0), first=[insert])
    t.add(find, "nothing", h, empty(I64, (0,)), l(0), first=[insert])
    t.add(find, "of_nothing", h, keys, l(7))
    t.add(find, "rank_3", h, keys.reshape(1, 3, 1), l(0), first=[insert])
    t.add(find, "bad_key_dtype", h, f([1]), l(0), first=[insert])
    t.add(find, "bad_value_dtype", h, keys, f(0), first=[insert])
    t.add(find, "bad_default", h, keys, l([1, 2]), first=[insert])
    t.add(find, "bad_input", l(1), keys, l(0))
    t.add(size, "empty", h)
    t.add(put, "same_key_twice", h, l([4, 4]), l([1, 2]),
          last=[size_of(v, h), Node(find, h, C(l([4])), C(l(0)))])
    t.add(put, "replaces", h, l([2]), l([-2]), first=[insert],
          last=[size_of(v, h), Node(find, h, C(keys), C(l(0)))])
    t.add(put, "scalar", h, l(9), l(90), last=[Node(find, h, C(l([9])), C(l(0)))])
    t.add(put, "nothing", h, empty(I64, (0,)), empty(I64, (0,)), last=[size_of(v, h)])
    t.add(put, "again", h, l([9]), l([90]), runs=3, last=[size_of(v, h)])
    t.add(put, "bad_lengths", h, l([1, 2]), l([1, 2, 3]))
    t.add(put, "bad_rank", h, l([1, 2]), l([[1, 2]]))
    t.add(put, "bad_key_dtype", h, i([1]), l([1]))
    t.add(put, "bad_value_dtype", h, l([1]), f([1]))
    t.add("LookupTableImport" + v, "nothing", h, empty(I64, (0,)), empty(I64, (0,)),
          first=[insert], last=[size_of(v, h)])
    t.add("LookupTableImport" + v, "bad_lengths", h, l([1, 2]), l([1]))
    t.add("LookupTableImport" + v, "bad_key_dtype", h, s(["a"]), l([1]))
    t.add("LookupTableExport" + v, "empty", h, Tkeys=I64, Tvalues=I64)
    if v:
        remove = "LookupTableRemoveV2"
        t.add(remove, "not_there", h, l([4, 5]), first=[insert], last=[size_of(v, h)])
        t.add(remove, "twice", h, l([1, 1]), first=[insert], last=[size_of(v, h)], runs=2)
        t.add(remove, "nothing", h, empty(I64, (0,)), first=[insert], last=[size_of(v, h)])
        t.add(remove, "bad_dtype", h, i([1]), first=[insert])
        fixed = table("HashTableV2", I64, I64)
        t.add(remove, "bad_fixed", fixed, l([1]),
              first=[Node("InitializeTableV2", fixed, C(keys), C(values))])


def of_vectors(t, v):
    kind = "MutableHashTableOfTensors" + v
    h = table(kind, "string", F32, value_shape=[2])
    keys, values = s(["a", "b"]), f([[1, 2], [3, 4]])
    insert = Node("LookupTableInsert" + v, h, C(keys), C(values))
    find = Node("LookupTableFind" + v, h, C(s(["b", "c"])), C(f([0, 9])))
    t.add("LookupTableFind" + v, "vectors", h, s(["b", "?", "a"]), f([7, 8]), first=[insert])
    t.add("LookupTableFind" + v, "bad_vector_default", h, s(["b"]), f([7, 8, 9]), first=[insert])
    t.add("LookupTableInsert" + v, "vectors", h, keys, values, last=[find, size_of(v, h)])
    t.add("LookupTableInsert" + v, "bad_vector_length", h, keys, f([[1], [2]]))
    t.add("LookupTableExport" + v, "vectors", h, Tkeys="string", Tvalues=F32,
          first=[Node("LookupTableInsert" + v, h, C(keys[:1]), C(values[:1]))])
    for tag, key, value, shape in (("string_float", "string", F32, [2]), ("int64", I64, I64, [1]),
                                   ("long", I64, F64, [3]), ("string_int64", "string", I64, [2]),
                                   ("empty", I64, F32, [0])):
        keys = c(["k"]) if key == "string" else c([3], I64)
        values = Const(ramp(value, [1] + shape))
        t.add(kind, tag, key_dtype=key, value_dtype=value, value_shape=shape, fetched=False,
              first=[Node("LookupTableInsert" + v, OP, keys, values)],
              last=[Node("LookupTableFind" + v, OP, keys, Const(ramp(value, shape, 5))),
                    size_of(v, OP)])
    t.add(kind, "bad_rank", key_dtype=I64, value_dtype=F32, value_shape=[2, 2], fetched=False)
    t.add(kind, "bad_scalar", key_dtype=I64, value_dtype=F32, value_shape=[], fetched=False)


def makers(t, v):
    """The ops that make tables; what is put in is found again."""
    for tag, keys, values, asked, default in PAIRS[:5]:
        attrs = dict(key_dtype=dtype_of(keys), value_dtype=dtype_of(values), fetched=False)
        find = Node("LookupTableFind" + v, OP, C(asked), C(default))
        init = Node("InitializeTable" + v, OP, C(keys), C(values))
        t.add("HashTable" + v, tag, first=[init], last=[find, size_of(v, OP)], **attrs)
        insert = Node("LookupTableInsert" + v, OP, C(keys), C(values))
        if tag != "string_string":
            t.add("MutableHashTable" + v, tag, first=[insert], last=[find, size_of(v, OP)], **attrs)
        h = table("HashTable" + v, dtype_of(keys), dtype_of(values))
        t.add("InitializeTable" + v, tag, h, keys, values,
              last=[Node("LookupTableFind" + v, h, C(asked), C(default)), size_of(v, h)])
    t.add("HashTable" + v, "shared", key_dtype=I64, value_dtype=I64, shared_name="one",
          fetched=False, last=[Node("LookupTableSize" + v, table(
              "MutableHashTable" + v, I64, I64, shared_name="other"))])
    t.add("MutableHashTable" + v, "shared", key_dtype=I64, value_dtype=I64, shared_name="one",
          fetched=False, runs=2,
          first=[Node("LookupTableInsert" + v, OP, C(l([1])), C(l([2])))],
          last=[Node("LookupTableSize" + v, table(
              "MutableHashTable" + v, I64, I64, shared_name="one"))])
    t.add("MutableHashTable" + v, "bad_shared_dtype", key_dtype=I64, value_dtype=I64,
          shared_name="one", fetched=False,
          first=[Node("LookupTableInsert" + v, table(
              "MutableHashTable" + v, "string", I64, shared_name="one"), c(["a"]), C(l([2])))])
    initializing(t, v)


def initializing(t, v):
    op, h = "InitializeTable" + v, table("HashTable" + v, I64, I64)
    once = Node(op, h, C(l([1, 2])), C(l([3, 4])))
    t.add(op, "bad_nothing", h, empty(I64, (0,)), empty(I64, (0,)), last=[size_of(v, h)])
    t.add(op, "same_twice", h, l([1, 2]), l([3, 4]), first=[once], last=[size_of(v, h)])
    t.add(op, "same_pair_twice", h, l([1, 1]), l([3, 3]), last=[size_of(v, h)])
    t.add(op, "bad_two_values", h, l([1, 1]), l([3, 4]))
    t.add(op, "bad_lengths", h, l([1, 2]), l([3]))
    t.add(op, "bad_rank", h, l([[1, 2]]), l([[3, 4]]))
    t.add(op, "bad_dtype", h, i([1, 2]), l([3, 4]))
    t.add(op, "bad_mutable", table("MutableHashTable" + v, I64, I64), l([1]), l([2]))
    t.add("LookupTableFind" + v, "bad_not_initialized", h, l([1]), l(0))
    t.add("LookupTableSize" + v, "not_initialized", h)
    t.add("LookupTableInsert" + v, "bad_fixed", h, l([1]), l([0]), first=[once])
    t.add("LookupTableFind" + v, "fixed", h, l([2, 3]), l(0), first=[once])
    t.add("LookupTableExport" + v, "fixed", h, Tkeys=I64, Tvalues=I64,
          first=[Node(op, h, C(l([1])), C(l([3])))])


def makers_of_dense(t, v, kind):
    for tag, keys, values, asked, default in PAIRS[:4]:
        none, gone = (s("?none"), s("?gone")) if dtype_of(keys) == "string" else (l(-100), l(-101))
        if dtype_of(values) == "string" or not v:
            continue  # TensorFlow has no kernel for the first version
        t.add(kind, tag, C(none), C(gone), key_dtype=dtype_of(keys), value_dtype=dtype_of(values),
              value_shape=[], fetched=False,
              first=[Node("LookupTableInsert" + v, OP, C(keys), C(values))],
              last=[Node("LookupTableFind" + v, OP, C(asked), C(default)), size_of(v, OP)])
    for tag, attrs in (("bad_buckets", {"initial_num_buckets": 5}),
                       ("bad_negative_buckets", {"initial_num_buckets": -4}),
                       ("bad_few_buckets", {"initial_num_buckets": 2}),
                       ("bad_load", {"max_load_factor": 0.0}),
                       ("bad_full_load", {"max_load_factor": 1.5})):
        t.add(kind, tag, *([C(l(-1)), C(l(-2))] if v else [C(l(-1))]), key_dtype=I64,
              value_dtype=I64, value_shape=[], fetched=False, **attrs)
    if v:
        t.add(kind, "bad_same_keys", C(l(-1)), C(l(-1)), key_dtype=I64, value_dtype=I64,
              value_shape=[], fetched=False)


def dense(t, v):
    kind = "MutableDenseHashTable" + v
    makers_of_dense(t, v, kind)
    if not v:
        return
    h = Node(kind, C(l(-1)), C(l(-2)), key_dtype=I64, value_dtype=F32, value_shape=[2],
             initial_num_buckets=4)
    keys, values = l([1, 2, 3, 4, 5]), ramp(F32, [5, 2])
    insert = Node("LookupTableInsert" + v, h, C(keys), C(values))
    find = Node("LookupTableFind" + v, h, C(l([5, 6, 1])), C(f([0, 0])))
    t.add("LookupTableInsert" + v, "dense_grows", h, keys, values, last=[find, size_of(v, h)])
    t.add("LookupTableFind" + v, "dense", h, l([[3], [9]]), f([7, 8]), first=[insert])
    t.add("LookupTableFind" + v, "bad_dense_empty_key", h, l([3, -1]), f([7, 8]), first=[insert])
    t.add("LookupTableInsert" + v, "bad_dense_empty_key", h, l([-1]), f([[7, 8]]))
    t.add("LookupTableInsertV2", "bad_dense_deleted_key", h, l([-2]), f([[7, 8]]))
    t.add("LookupTableRemoveV2", "dense", h, l([2, 9]), first=[insert],
          last=[find, size_of(v, h)])
    t.add("LookupTableRemoveV2", "bad_dense_empty_key", h, l([-1]), first=[insert])



def cases():
    t = Table()
    for v in ("", "V2"):
        mutable(t, v)
        of_vectors(t, v)
        makers(t, v)
        dense(t, v)
    return t.cases
