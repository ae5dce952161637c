"""Random ops whose numbers follow from a seed, or from a key and a counter."""
from .common import *  # noqa: F403

C = Const
SEEDS = {"small": i([1, 2]), "zero": i([0, 0]), "negative": i([-3, -4]),
         "wide": l([2**40 + 3, -2**50])}
FLOATS = ("float", "double", "half", "bfloat16")


def key(value=7):
    return a(U64, [value])


def counter(*values):
    return a(U64, values or [1, 2])


def add_floats(t):
    for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
        for tag, seed in SEEDS.items():
            t.add(op, tag, C([2, 3]), seed, dtype="float")
        for dtype in FLOATS:
            t.add(op, dtype + "_9", C([9]), i([5, 6]), dtype=dtype)
            t.add(op + "V2", dtype + "_9", C([9]), key(), counter(), i(1), dtype=dtype)
        t.add(op, "scalar", C(empty(I32, (0,))), i([5, 6]), dtype="float")
        t.add(op, "empty", C([0, 3]), i([5, 6]), dtype="float")
        t.add(op, "fed_shape", l([2, 5]), i([5, 6]), dtype="float")
        t.add(op, "long", C([131]), i([5, 6]), dtype="float")
        t.add(op, "bad_shape", C([-2]), i([5, 6]), dtype="float")
        t.add(op, "bad_seed", C([2]), i([5]), dtype="float")
        t.add(op, "bad_seed_rank", C([2]), i([[5, 6]]), dtype="float")
        v2 = op + "V2"
        t.add(v2, "scalar", C(empty(I32, (0,))), key(), counter(), i(1), dtype="float")
        t.add(v2, "default_algorithm", C([3, 2]), key(2**64 - 5), counter(2**64 - 1, 2**64 - 1),
              i(3), dtype="float")
        t.add(v2, "long_counter", C([5]), key(), counter(1, 2, 3, 4), i(1), dtype="float")
        t.add(v2, "empty", C([0]), key(), counter(), i(1), dtype="float")
        t.add(v2, "long", C([131]), key(), counter(), i(1), dtype="float")
        t.add(v2, "bad_key", C([2]), a(U64, [1, 2]), counter(), i(1), dtype="float")
        t.add(v2, "bad_key_rank", C([2]), a(U64, 1), counter(), i(1), dtype="float")
        t.add(v2, "bad_algorithm", C([2]), key(), counter(), i(0), dtype="float")
        t.add(v2, "bad_algorithm_rank", C([2]), key(), counter(), i([1]), dtype="float")


def add_ints(t):
    op = "StatelessRandomUniformInt"
    for dtype in (I32, I64):
        name = "int32" if dtype == I32 else "int64"
        for tag, seed in SEEDS.items():
            t.add(op, name + "_" + tag, C([2, 3]), seed, a(dtype, -5), a(dtype, 100))
        t.add(op, name + "_wide_range", C([9]), i([1, 2]), a(dtype, np.iinfo(dtype).min),
              a(dtype, np.iinfo(dtype).max))
        t.add(op + "V2", name, C([9]), key(), counter(), i(1), a(dtype, -5), a(dtype, 1000))
        t.add(op + "V2", name + "_long", C([130]), key(), counter(), i(1), a(dtype, 0),
              a(dtype, 5))
    t.add(op, "scalar", C(empty(I32, (0,))), i([1, 2]), i(0), i(9))
    t.add(op, "empty", C([0]), i([1, 2]), i(9), i(9))
    t.add(op, "bad_range", C([1]), i([1, 2]), i(9), i(9))
    t.add(op, "bad_bound", C([1]), i([1, 2]), i([9]), i(19))
    t.add(op, "bad_seed", C([1]), i([1, 2, 3]), i(9), i(19))
    t.add(op + "V2", "empty", C([0]), key(), counter(), i(1), i(0), i(0))
    t.add(op + "V2", "bad_range", C([1]), key(), counter(), i(1), i(0), i(0))
    t.add(op + "V2", "bad_bound", C([1]), key(), counter(), i(1), i(0), i([1]))
    op = "StatelessRandomUniformFullInt"
    for dtype in ("int32", "int64", "uint32", "uint64"):
        t.add(op, dtype, C([7]), i([1, 2]), dtype=dtype)
        t.add(op, dtype + "_matrix", C([2, 3]), l([-1, 2**40]), dtype=dtype)
        t.add(op + "V2", dtype, C([7]), key(), counter(), i(1), dtype=dtype)
    t.add(op, "empty", C([0]), i([1, 2]), dtype="int32")
    t.add(op, "bad_seed", C([2]), i(1), dtype="int32")
    t.add(op + "V2", "scalar", C(empty(I32, (0,))), key(), counter(), i(1), dtype="int32")
    t.add(op + "V2", "bad_algorithm", C([2]), key(), counter(), i(9), dtype="int32")


def add_keys(t):
    for tag, seed in SEEDS.items():
        t.add("StatelessRandomGetKeyCounter", tag, seed)
        t.add("StatelessRandomGetKeyCounterAlg", tag, seed)
    for op in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"):
        t.add(op, "constant", C([8, 9]))
        t.add(op, "bad_length", i([1, 2, 3]))
        t.add(op, "bad_rank", i(1))
    t.add("StatelessRandomGetAlg", "alone")


def add_classes(t):
    op, logits = "StatelessMultinomial", wave(F32, (2, 5))
    for tag, seed in SEEDS.items():
        t.add(op, tag, logits, C(6), seed)
    for dtype in (F64, F16):
        t.add(op, np.dtype(dtype).name, logits.astype(dtype), C(6), i([1, 2]))
    t.add(op, "int32_output", logits, C(6), i([1, 2]), output_dtype="int32")
    t.add(op, "no_samples", logits, C(0), i([1, 2]))
    t.add(op, "no_rows", empty(F32, (0, 3)), C(2), i([1, 2]))
    t.add(op, "many", wave(F32, (3, 65), 3), C(41), i([1, 2]))
    t.add(op, "fed_count", logits, i(3), i([1, 2]))
    t.add(op, "bad_seed", logits, C(3), i([1]))
    t.add(op, "bad_rank", f([1, 2]), C(2), i([1, 2]))
    t.add(op, "bad_count", logits, C(-1), i([1, 2]))
    op = "StatelessShuffle"
    t.add(op, "vector", ramp(I32, (7,)), key(), counter(), i(1))
    t.add(op, "matrix", ramp(F32, (4, 2)), key(3), counter(0, 0), i(3))
    t.add(op, "string", s(["a", "b", "c", "d"]), key(), counter(), i(1))
    t.add(op, "scalar", f(3), key(), counter(), i(1))
    t.add(op, "empty", empty(F32, (0, 2)), key(), counter(), i(1))
    t.add(op, "long", ramp(I64, (130,)), key(), counter(), i(1))
    t.add(op, "bad_key", ramp(I32, (7,)), a(U64, [1, 2]), counter(), i(1))


def cases():
    t = Table()
    add_floats(t)
    add_ints(t)
    add_keys(t)
    add_classes(t)
    return t.cases
