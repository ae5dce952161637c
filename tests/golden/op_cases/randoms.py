"""Random ops: two runs of one session each, with seeds."""
from .common import *  # noqa: F403

C = Const
SEEDS = {"seeds_1_2": dict(seed=1, seed2=2), "seed_only": dict(seed=87654321, seed2=0),
         "seed2_only": dict(seed=0, seed2=5), "wide_seeds": dict(seed=2**31 - 2, seed2=2**40 + 3),
         "negative": dict(seed=-3, seed2=-4)}


def cases():
    t = Table()
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        for name, seeds in SEEDS.items():
            t.add(op, name, C([2, 3]), dtype="float", runs=2, **seeds)
        for dtype in ("float", "double", "half", "bfloat16"):
            t.add(op, dtype + "_9", C([9]), dtype=dtype, seed=7, seed2=11, runs=2)
        t.add(op, "scalar", C(empty(I32, (0,))), dtype="float", seed=3, seed2=4, runs=2)
        t.add(op, "one", C([1]), dtype="float", seed=3, seed2=4, runs=3)
        t.add(op, "empty", C([0, 2]), dtype="float", seed=3, seed2=4, runs=2)
        t.add(op, "int64_shape", C([5], I64), dtype="float", seed=3, seed2=4)
        t.add(op, "fed_shape", i([2, 5]), dtype="float", seed=3, seed2=4, runs=2)
        t.add(op, "long", C([1030]), dtype="float", seed=42, seed2=43)
        t.add(op, "long_double", C([515]), dtype="double", seed=42, seed2=43)
        t.add(op, "bad_shape", C([-2]), dtype="float", seed=1, seed2=1)
        t.add(op, "bad_shape_rank", C([[2]]), dtype="float", seed=1, seed2=1)
    for dtype in (I32, I64):
        name = "int32" if dtype == I32 else "int64"
        for tag, seeds in SEEDS.items():
            t.add("RandomUniformInt", name + "_" + tag, C([2, 3]), a(dtype, -5), a(dtype, 100),
                  runs=2, **seeds)
        t.add("RandomUniformInt", name + "_wide", C([9]), a(dtype, np.iinfo(dtype).min),
              a(dtype, np.iinfo(dtype).max), seed=1, seed2=2)
        t.add("RandomUniformInt", name + "_one_value", C([4]), a(dtype, 3), a(dtype, 4), seed=1,
              seed2=2)
        t.add("RandomUniformInt", name + "_constant_bounds", C([4]), C(0, dtype), C(10, dtype),
              seed=1, seed2=2)
    t.add("RandomUniformInt", "scalar", C(empty(I32, (0,))), i(0), i(9), seed=3, seed2=4)
    t.add("RandomUniformInt", "empty", C([0]), i(0), i(9), seed=3, seed2=4)
    t.add("RandomUniformInt", "long", C([300]), i(0), i(1000), seed=3, seed2=4)
    t.add("RandomUniformInt", "bad_range", C([2]), i(5), i(5), seed=1, seed2=1)
    t.add("RandomUniformInt", "bad_order", C([2]), i(5), i(1), seed=1, seed2=1)
    t.add("RandomUniformInt", "bad_bound_rank", C([2]), i([1]), i(9), seed=1, seed2=1)
    logits = wave(F32, (2, 5))
    for tag, seeds in SEEDS.items():
        t.add("Multinomial", tag, logits, C(6), runs=2, **seeds)
    t.add("Multinomial", "double", logits.astype(F64), C(6), seed=1, seed2=2)
    t.add("Multinomial", "half", logits.astype(F16), C(6), seed=1, seed2=2)
    t.add("Multinomial", "int32_output", logits, C(6), seed=1, seed2=2, output_dtype="int32")
    t.add("Multinomial", "sure", f([[-INF, 0, -INF]]), C(4), seed=1, seed2=2)
    t.add("Multinomial", "one_class", f([[3]]), C(3), seed=1, seed2=2)
    t.add("Multinomial", "no_samples", logits, C(0), seed=1, seed2=2)
    t.add("Multinomial", "empty", empty(F32, (0, 3)), C(2), seed=1, seed2=2)
    t.add("Multinomial", "fed_count", logits, i(3), seed=1, seed2=2, runs=2)
    t.add("Multinomial", "large_logits", f([[1000, 1001, 999]]), C(20), seed=5, seed2=6)
    t.add("Multinomial", "many", wave(F32, (3, 65), 3), C(40), seed=5, seed2=6)
    t.add("Multinomial", "bad_rank", f([1, 2]), C(2), seed=1, seed2=2)
    t.add("Multinomial", "bad_count", logits, C(-1), seed=1, seed2=2)
    t.add("Multinomial", "bad_no_classes", empty(F32, (2, 0)), C(2), seed=1, seed2=2)
    for tag, seeds in SEEDS.items():
        t.add("RandomShuffle", tag, ramp(I32, (7,)), runs=3, **seeds)
    t.add("RandomShuffle", "matrix", ramp(F32, (4, 2)), seed=1, seed2=2, runs=2)
    t.add("RandomShuffle", "rank_3", ramp(I64, (3, 2, 2)), seed=1, seed2=2)
    t.add("RandomShuffle", "string", s(["a", "b", "c", "d"]), seed=1, seed2=2)
    t.add("RandomShuffle", "one", f([3]), seed=1, seed2=2, runs=2)
    t.add("RandomShuffle", "scalar", f(3), seed=1, seed2=2)
    t.add("RandomShuffle", "empty", empty(F32, (0, 2)), seed=1, seed2=2)
    t.add("RandomShuffle", "double", wave(F64, (6,)), seed=9, seed2=2)
    t.add("RandomShuffle", "long", ramp(I32, (200,)), seed=9, seed2=2)
    return t.cases
