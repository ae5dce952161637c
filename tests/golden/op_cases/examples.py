"""Example messages in batches and one by one."""
from .common import *  # noqa: F403
from .strings import none

TENSORFLOW = "1."


# ---- Messages, written by hand so that odd ones can be had too


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def ints(*values):
    return field(3, field(1, b"".join(map(varint, values))))


def floats(*values):
    return field(2, field(1, np.array(values, F32).tobytes()))


def strings(*values):
    return field(1, b"".join(field(1, v) for v in values))


def loose_ints(*values):
    """Not packed."""
    return field(3, b"".join(b"\x08" + varint(v) for v in values))


def loose_floats(*values):
    return field(2, b"".join(b"\x0d" + np.float32(v).tobytes() for v in values))


def features(items):
    return b"".join(field(1, field(1, k.encode()) + field(2, v)) for k, v in items)


def example(*pairs, **items):
    return field(1, features(list(pairs) + sorted(items.items())))


FULL = example(i=ints(1, -2), f=floats(0.5, 1.5), s=strings(b"x", b"", b"yz"), d=ints(7))
PART = example(f=loose_floats(3.25), i=loose_ints(300, 2**63 - 1, -2**63))
EMPTY = b""
NOTHING = none((0,))


def keys(*names):
    return [s(n) for n in names]


# ---- Cases


def batches(t):
    def add(tag, serialized, sparse=(), dense=(), names=NOTHING):
        """sparse: (key, dtype); dense: (key, shape, standby)."""
        if isinstance(serialized, list):
            serialized = s(serialized) if serialized else NOTHING
        t.add("ParseExample", tag, serialized, names, keys(*[k for k, _ in sparse]),
              keys(*[k for k, _, _ in dense]), [v for _, _, v in dense],
              Nsparse=len(sparse), Ndense=len(dense), sparse_types=[d for _, d in sparse],
              dense_shapes=[h for _, h, _ in dense])

    all_sparse = [("i", "int64"), ("f", "float32"), ("s", "string")]
    three = [FULL, EMPTY, PART]
    no_l, no_f = l([]), f([])
    add("sparse", three, all_sparse)
    add("sparse_none_there", [EMPTY, EMPTY], all_sparse)
    add("one_sparse", [PART], [("i", "int64")])
    add("nothing_asked", three)
    add("dense", [FULL, FULL], dense=[("i", [2], no_l), ("f", [1, 2], no_f), ("s", [3], NOTHING),
                                      ("d", [], no_l)])
    add("defaults", three, dense=[("d", [], l(9)), ("x", [2], f([1.5, 2])),
                                  ("y", [1, 1], s([["why"]]))])
    add("varying", three, dense=[("i", [None], l(-1)), ("f", [None], f([0.25])),
                                 ("s", [None, 1], s("pad"))])
    add("varying_rows", [example(v=ints(1, 2, 3, 4)), EMPTY, example(v=ints(5, 6))],
        dense=[("v", [None, 2], l(0))])
    add("mixed", three, all_sparse[:1], [("d", [], l(0)), ("s", [None], s(""))])
    add("no_examples", [], all_sparse, [("d", [3], l([1, 2, 3])), ("v", [None, 2], l(0))])
    add("names", [FULL, PART], all_sparse[:1], names=s(["first", "second"]))
    twice = example(("d", ints(1)), ("d", ints(2)))
    add("last_of_a_key", [twice, twice + example(d=ints(5))], [("d", "int64")])
    add("last_of_a_key_dense", [twice, twice + example(d=b"")], dense=[("d", [], no_l)])
    add("last_is_empty", [example(("d", ints(1)), ("d", b""))], [("d", "int64")])
    add("last_has_the_type", [example(("d", floats(1)), ("d", ints(2)))], dense=[("d", [], no_l)])
    add("empty_lists", [example(d=ints(), f=field(2, b""), s=strings())],
        [("d", "int64"), ("f", "float32"), ("s", "string")])
    add("empty_lists_varying", [example(d=ints(), f=field(2, b""))],
        dense=[("d", [None], l(0)), ("f", [None, 3], f(0))])
    add("unknown_fields", [FULL + b"\x10\x05" + field(7, b"zz") + b"\x45\x00\x00\x00\x00"],
        all_sparse[:1])
    add("second_list_ignored", [example(d=ints(1) + floats(2))], [("d", "int64")])
    add("many_keys", [example(**{"k%02d" % k: ints(k) for k in range(40)})],
        dense=[("k%02d" % k, [], no_l) for k in (39, 0, 7, 20)])
    add("bad_missing", [EMPTY], dense=[("d", [], no_l)])
    add("bad_type", [FULL], dense=[("d", [], no_f)])
    add("bad_type_sparse", [FULL], [("d", "string")])
    add("bad_type_varying", [FULL], dense=[("d", [None], f(0))])
    add("bad_count", [FULL], dense=[("i", [], no_l)])
    add("bad_count_empty", [example(d=ints())], dense=[("d", [], no_l)])
    add("bad_multiple", [FULL], dense=[("s", [None, 2], s(""))])
    add("bad_list", [example(d=field(3, field(1, b"\x81")))], [("d", "int64")])
    add("bad_kind", [example(d=field(4, b""))], [("d", "int64")])
    add("bad_no_key", [field(1, field(1, field(2, ints(1))))], all_sparse)
    add("bad_message", [b"\x08"], all_sparse)
    add("bad_default_shape", [EMPTY], dense=[("d", [2], l([1, 2, 3]))])
    add("bad_varying_default", [EMPTY], dense=[("d", [None], l([1, 2]))])
    add("bad_inner_unknown", [EMPTY], dense=[("d", [2, None], l([[1], [2]]))])
    add("bad_shape_unknown", [EMPTY], dense=[("d", None, l(1))])
    add("bad_matrix", s([[FULL]]), all_sparse)
    add("bad_names", [FULL], all_sparse, names=s(["a", "b"]))


def singles(t):
    def add(tag, serialized, sparse=(), dense=()):
        t.add("ParseSingleExample", tag, s(serialized), [v for _, _, v in dense],
              num_sparse=len(sparse), sparse_keys=[k for k, _ in sparse],
              sparse_types=[d for _, d in sparse], dense_keys=[k for k, _, _ in dense],
              dense_shapes=[h for _, h, _ in dense])

    all_sparse = [("i", "int64"), ("f", "float32"), ("s", "string")]
    no_l, no_f = l([]), f([])
    add("sparse", FULL, all_sparse)
    add("sparse_not_packed", PART, all_sparse)
    add("sparse_none_there", EMPTY, all_sparse)
    add("nothing_asked", FULL)
    add("dense", FULL, dense=[("i", [2], no_l), ("f", [1, 2], no_f), ("s", [3], NOTHING),
                              ("d", [], no_l)])
    add("defaults", EMPTY, dense=[("d", [], l(9)), ("x", [2], f([1.5, 2]))])
    add("varying", FULL, dense=[("i", [None], l(-1)), ("f", [None, 2], f(0)), ("x", [None], l(0))])
    add("mixed", FULL, all_sparse[1:2], [("d", [], no_l)])
    add("last_of_a_key", example(("d", ints(1)), ("d", ints(2))), dense=[("d", [], no_l)])
    add("last_is_empty", example(("d", ints(1)), ("d", b"")), dense=[("d", [], no_l)])
    add("bad_missing", EMPTY, dense=[("d", [], no_l)])
    add("bad_type", FULL, dense=[("d", [], no_f)])
    add("bad_type_sparse", FULL, [("d", "float32")])
    add("bad_count", FULL, dense=[("i", [], no_l)])
    add("bad_multiple", FULL, dense=[("s", [None, 2], s(""))])
    add("bad_list", example(d=field(3, field(1, b"\x81"))), [("d", "int64")])
    add("bad_kind", example(d=field(4, b"")), [("d", "int64")])
    add("bad_message", b"\x08", all_sparse)
    add("bad_default_shape", EMPTY, dense=[("d", [2], l([1, 2, 3]))])
    add("bad_vector", [FULL], all_sparse)


def cases():
    t = Table()
    batches(t)
    singles(t)
    return t.cases
