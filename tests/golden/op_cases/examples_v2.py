"""Example messages, ragged features among them."""
from .common import *  # noqa: F403
from .examples import EMPTY, FULL, NOTHING, PART, example, floats, ints, strings


def keys(names):
    return s(names) if names else NOTHING


def cases():
    t = Table()

    def add(tag, serialized, sparse=(), dense=(), ragged=(), names=NOTHING):
        """sparse: (key, dtype); dense: (key, shape, standby); ragged: (key, dtype, splits)."""
        if isinstance(serialized, list):
            serialized = s(serialized) if serialized else NOTHING
        t.add("ParseExampleV2", tag, serialized, names, keys([k for k, _ in sparse]),
              keys([k for k, _, _ in dense]), keys([k for k, _, _ in ragged]),
              [v for _, _, v in dense], num_sparse=len(sparse),
              sparse_types=[d for _, d in sparse], dense_shapes=[h for _, h, _ in dense],
              ragged_value_types=[d for _, d, _ in ragged],
              ragged_split_types=[p for _, _, p in ragged])

    three = [FULL, EMPTY, PART]
    sparse = [("i", "int64"), ("f", "float32"), ("s", "string")]
    ragged = [("i", "int64", "int32"), ("f", "float32", "int64"), ("s", "string", "int32")]
    add("sparse", three, sparse)
    add("ragged", three, ragged=ragged)
    add("ragged_none_there", [EMPTY, EMPTY], ragged=ragged)
    add("all_kinds", three, sparse[:1], [("d", [], l(9)), ("f", [None], f(-1))], ragged[2:])
    add("one", s(FULL), sparse[:1], [("d", [], l(9)), ("f", [None], f(-1))], ragged[2:])
    add("one_empty", s(EMPTY), sparse[:1], [("d", [2], l([8, 9])), ("f", [None], f(-1))], ragged)
    add("one_named", s(FULL), sparse[:1], names=s("name"))
    add("no_examples", [], sparse[:1], [("d", [], l(9))], ragged)
    add("names", [FULL, PART], sparse[:1], names=s(["a", "b"]))
    add("value_before_key", [b"\n\x0b\n\x09\x12\x04\x1a\x02\x08\x05\n\x01i"], sparse[:1])
    add("last_of_a_key", [example(("i", ints(1)), ("i", ints(2, 3)))], sparse[:1])
    add("empty_feature", [example(i=b"", s=strings(b"a"))], ragged=[ragged[0], ragged[2]])
    add("bad_ragged_type", [example(i=floats(1))], ragged=ragged[:1])
    add("bad_missing", [EMPTY], dense=[("d", [], l([]))])
    add("bad_one_missing", s(EMPTY), dense=[("d", [], l([]))])
    add("bad_one_count", s(FULL), dense=[("i", [], l([]))])
    add("bad_one_multiple", s(FULL), dense=[("s", [None, 2], s(""))])
    add("bad_names", [FULL], sparse[:1], names=s(["a", "b"]))
    add("bad_names_of_one", s(FULL), sparse[:1], names=s(["a"]))
    add("bad_matrix", s([[FULL]]), sparse[:1])
    add("bad_message", [b"\x08"], sparse[:1])
    t.add("ParseExampleV2", "bad_number_of_keys", s([FULL]), NOTHING, s(["i", "f"]), NOTHING,
          NOTHING, [], num_sparse=1, sparse_types=["int64"], dense_shapes=[],
          ragged_value_types=[], ragged_split_types=[])
    return t.cases
