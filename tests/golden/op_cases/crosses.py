"""Columns of features crossed."""
from .common import *  # noqa: F403

STRINGS, INTS = s(["a", "bb", "", "d"]), l([5, -1, 0, 2**40])
PLACES, SHAPE = l([[0, 0], [0, 1], [2, 0], [2, 3]]), l([3, 4])
OTHER = l([[0, 0], [1, 0], [2, 0], [2, 1]])


def columns(kind):
    """Sparse indices, values and shapes, dense inputs, by a letter a column: s, i, S, I."""
    sparse = [(OTHER if n % 2 else PLACES, STRINGS if k == "s" else INTS, SHAPE)
              for n, k in enumerate(kind) if k in "si"]
    dense = [s([["x", "y"], ["z", ""], ["w", "v"]]) if k == "S" else l([[1, 2], [3, 4], [-5, 6]])
             for k in kind if k in "SI"]
    return [list(part) for part in zip(*sparse)] or [[], [], []], dense


def lists(values, dense):
    """How the inputs fall into lists."""
    def names(part):
        return ["string" if x.dtype == object else "int64" for x in part]

    return dict(N=len(values), sparse_types=names(values), dense_types=names(dense))


def ragged_cross(t):
    """Columns of all kinds, by a letter each: r and n are ragged ones of strings and numbers."""
    for kind in ("r", "rn", "nr", "sr", "rI", "ISnrs", "", "I"):
        for make in (i, l):  # of the splits
            rows = {"r": (STRINGS, make([0, 2, 2, 4])), "n": (l([5, -1, 2**40]),
                                                             make([0, 1, 2, 3]))}
            ragged = [rows[k] for k in kind if k in rows]
            (indices, values, shapes), dense = columns([k for k in kind if k not in rows])
            by = lists(values, dense)
            by = dict(Nsparse=by["N"], dense_types=by["dense_types"],
                      sparse_values_types=by["sparse_types"],
                      input_order="".join("R" if k in rows else "S" if k == "s" else "D"
                                          for k in kind),
                      ragged_values_types=lists([v for v, _ in ragged], [])["sparse_types"],
                      ragged_splits_types=["int32" if make is i else "int64" for _ in ragged],
                      out_row_splits_type="int32" if make is i else "int64")
            ins = [[v for v, _ in ragged], [s for _, s in ragged], indices, values, shapes, dense]
            tag = "".join(k + "d" * k.isupper() for k in kind).lower() or "none"
            tag += "_" + by["out_row_splits_type"]
            t.add("RaggedCross", tag + "_strings", *ins, hashed_output=False, num_buckets=0,
                  hash_key=1, out_values_type="string", **by)
            for buckets in (0, 100):
                t.add("RaggedCross", "%s_hashes_%d" % (tag, buckets), *ins, hashed_output=True,
                      num_buckets=buckets, hash_key=956888297470, out_values_type="int64", **by)


def cases():
    t = Table()
    for kind in ("s", "ss", "si", "iis", "S", "IS", "sI", "isSI", "ii"):
        (indices, values, shapes), dense = columns(kind)
        tag = "".join(k + "d" * k.isupper() for k in kind).lower()
        ins, by = [indices, values, shapes, dense], lists(values, dense)
        old = dict(by, num_buckets=0, hash_key=956888297470)
        for internal in ("int64",) + ("string",) * (kind.lower().count("i") == 0):
            t.add("SparseCross", tag + "_strings_" + internal, *ins, hashed_output=False,
                  out_type="string", internal_type=internal, **old)
        for buckets in (0, 100):
            t.add("SparseCross", "%s_hashes_%d" % (tag, buckets), *ins, hashed_output=True,
                  out_type="int64", internal_type="int64", num_buckets=buckets, hash_key=17, **by)
        t.add("SparseCrossV2", tag, *ins, s("_Y_"), **by)
    (indices, values, shapes), dense = columns("sI")
    extra = {"SparseCross": ([], dict(hashed_output=False, out_type="string", num_buckets=0,
                                      internal_type="int64", hash_key=1)),
             "SparseCrossV2": ([s("")], {})}
    for op, (more, attrs) in extra.items():
        def add(tag, i=indices, v=values, p=shapes, d=dense):
            t.add(op, tag, i, v, p, d, *more, **attrs, **lists(v, d))  # noqa: B023

        add("empty", [empty(I64, (0, 2))], [s([])], [l([3, 0])])
        add("dense_empty", d=[empty(I64, (3, 0))])
        add("no_rows", [empty(I64, (0, 2))], [s([])], [l([0, 4])], [empty(I64, (0, 2))])
    ragged_cross(t)
    return sorted(t.cases, key=lambda case: case.op)
