"""SequenceExample messages, ragged features among them."""
from .common import *  # noqa: F403
from .examples import NOTHING, floats, ints
from .examples_v2 import keys
from .sequences import BARE, FULL, PART, sequence, steps


def cases():
    t = Table()

    def add(tag, messages, context_sparse=(), context_dense=(), context_ragged=(), sparse=(),
            dense=(), ragged=(), missing=None, names=NOTHING, **options):
        """sparse: (key, dtype); dense as in sequences.py; ragged: (key, dtype, splits)."""
        if isinstance(messages, list):
            messages = s(messages) if messages else NOTHING
        parts = (context_sparse, context_dense, context_ragged, sparse, dense, ragged)
        t.add("ParseSequenceExampleV2", tag, messages, names,
              *[keys([k[0] for k in part]) for part in parts],
              b([False] * len(dense) if missing is None else missing),
              [v for _, _, v in context_dense], Ncontext_sparse=len(context_sparse),
              Nfeature_list_sparse=len(sparse), Nfeature_list_dense=len(dense),
              context_sparse_types=[d for _, d in context_sparse],
              context_ragged_value_types=[d for _, d, _ in context_ragged],
              context_ragged_split_types=[p for _, _, p in context_ragged],
              context_dense_shapes=[h for _, h, _ in context_dense],
              feature_list_sparse_types=[d for _, d in sparse],
              feature_list_dense_types=[d for _, d, _ in dense],
              feature_list_dense_shapes=[h for _, _, h in dense],
              feature_list_ragged_value_types=[d for _, d, _ in ragged],
              feature_list_ragged_split_types=[p for _, _, p in ragged], **options)

    three = [FULL, BARE, PART]
    i, d = [("i", "int64")], [("d", [], l([]))]
    lists, m = [("l", "int64"), ("t", "string")], [("m", "int64", [])]
    context_ragged = [("i", "int64", "int32"), ("s", "string", "int64")]
    ragged = [("l", "int64", "int64"), ("t", "string", "int32")]
    add("sparse", three, i, d, (), lists, m)
    add("ragged", three, context_ragged=context_ragged, ragged=ragged)
    add("all_kinds", three, i, d, context_ragged[1:], lists[:1], m, ragged[1:])
    add("one", s(FULL), i, d, (), lists, m)
    add("one_ragged", s(FULL), ragged=ragged, context_ragged=context_ragged,
        instead={2: i32(0), 3: l(0), 6: l(0), 7: i32(0)})
    add("one_bare", s(BARE), i, d, (), lists, m)
    add("no_examples", [], i, (), context_ragged[1:], lists[:1], m, ragged[1:])
    add("names", three, i, names=s(["a", "b", "c"]))
    add("missing", [BARE], dense=[("m", "int64", []), ("f", "float32", [2])], missing=[False, True])
    add("bad_missing", [BARE], dense=[("f", "float32", [2])])
    add("bad_flags", [FULL], dense=m, missing=[])
    add("bad_names", three, i, names=s(["a"]))
    add("bad_matrix", s([[FULL]]), i)
    add("bad_ragged_type", [sequence({"i": floats(1)})], context_ragged=context_ragged[:1])
    add("bad_ragged_list_type", [sequence((), {"l": steps(ints(1), floats(1))})], ragged=ragged[:1])
    add("bad_message", [b"\n\x05\x01"], i)
    return t.cases


def i32(value):
    return a(I32, value)
