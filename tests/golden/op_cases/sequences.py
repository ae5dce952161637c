"""SequenceExample messages in batches and one by one."""
from .common import *  # noqa: F403
from .examples import NOTHING, features, field, floats, ints, loose_ints, strings

TENSORFLOW = "1."


def steps(*values):
    return b"".join(field(1, v) for v in values)


def sequence(context=(), lists=()):
    out = field(1, features(sorted(dict(context).items())))
    return out + field(2, features(sorted(dict(lists).items())))


FULL = sequence({"i": ints(1, 2), "d": ints(5), "s": strings(b"a")},
                {"l": steps(ints(1), loose_ints(2, 3), ints()), "m": steps(ints(1), ints(2)),
                 "f": steps(floats(0.5, 1), floats(2, 4)), "t": steps(strings(b"x", b"y"))})
PART = sequence({"i": ints(3), "d": ints(6)},
                {"l": steps(ints(1, 2, 3)), "m": steps(ints(4)), "f": steps(), "t": steps()})
BARE = sequence({"d": ints(7)}, {"m": b""})


def attributes(context_sparse, context_dense, sparse, dense):
    return dict(
        Ncontext_sparse=len(context_sparse), Ncontext_dense=len(context_dense),
        Nfeature_list_sparse=len(sparse), Nfeature_list_dense=len(dense),
        context_sparse_types=[d for _, d in context_sparse],
        context_dense_shapes=[h for _, h, _ in context_dense],
        feature_list_sparse_types=[d for _, d in sparse],
        feature_list_dense_types=[d for _, d, _ in dense],
        feature_list_dense_shapes=[h for _, _, h in dense])


def add_both(t, tag, messages, context_sparse=(), context_dense=(), sparse=(), dense=(), missing=(),
             one=True):
    """The same case for the op that takes many and for the op that takes one.

    sparse: (key, dtype); context_dense: (key, shape, standby); dense: (key, dtype, shape)
    """
    attrs = attributes(context_sparse, context_dense, sparse, dense)
    standbys = [v for _, _, v in context_dense]
    keys = [[k[0] for k in part] for part in (context_sparse, context_dense, sparse, dense)]
    t.add("ParseSequenceExample", tag, s(messages) if messages else NOTHING, NOTHING, standbys,
          feature_list_dense_missing_assumed_empty=list(missing), context_sparse_keys=keys[0],
          context_dense_keys=keys[1], feature_list_sparse_keys=keys[2],
          feature_list_dense_keys=keys[3], **attrs)
    if one:
        t.add("ParseSingleSequenceExample", tag, s(messages[0]),
              s(list(missing)) if missing else NOTHING, *[[s(k) for k in part] for part in keys],
              standbys, s(""), **attrs)


def cases():
    t = Table()

    def add(*args, **options):
        add_both(t, *args, **options)

    three = [FULL, BARE, PART]
    i, d = ("i", "int64"), ("d", [], l([]))
    lists, m = [("l", "int64"), ("t", "string")], ("m", "int64", [])
    add("sparse", three, [i, ("s", "string")], (), lists)
    add("context", three, [i], [d, ("x", [2], l([8, 9]))])
    add("dense_lists", [FULL, PART], (), (), (),
        [m, ("f", "float32", [2]), ("t", "string", [1, 2])], ["t"])
    add("all_kinds", three, [i], [d], lists, [m])
    add("missing_list", [BARE, FULL], (), (), (), [("f", "float32", [2])], ["f"])
    add("nothing_there", [b""], [i], [("d", [], l(4))], lists)
    add("no_examples", [], [i], [("d", [], l(4))], lists, [m], one=False)
    add("last_of_a_key", [FULL + PART], [i], [d], lists, [m])
    add("unknown_field", [FULL + field(7, b"zz")], [i])
    add("empty_step", [sequence((), {"l": steps(ints(1), b"", ints(2, 3))})], (), (), lists[:1])
    add("bad_missing_context", [FULL], (), [("x", [], l([]))])
    add("bad_missing_list", [FULL], (), (), (), [("x", "int64", [])])
    add("bad_context_type", [FULL], [("i", "float32")])
    add("bad_context_dense_type", [FULL], (), [("d", [], f([]))])
    add("bad_context_count", [FULL], (), [("i", [], l([]))])
    add("bad_context_empty", [sequence({"d": b""})], (), [("d", [], l(1))])
    add("bad_list_type", [FULL], (), (), [("l", "string")])
    add("bad_list_dense_type", [FULL], (), (), (), [("l", "float32", [1])])
    add("bad_list_count", [FULL], (), (), (), [("l", "int64", [])])
    add("bad_list_empty", [sequence((), {"m": steps(ints(1), b"")})], (), (), (), [m])
    add("bad_message", [b"\n\x05\x01"], [i])
    add("bad_value", [sequence((), {"l": steps(field(3, field(1, b"\x81")))})], (), (), lists[:1],
        one=False)
    return t.cases
