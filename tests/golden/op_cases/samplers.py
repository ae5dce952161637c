"""Gamma and Poisson numbers, and candidate samplers: several runs of one session each."""
from .common import *  # noqa: F403

C = Const


def add_gamma(t):
    alphas = [0.25, 1, 3, 40]
    for dtype in (F32, F64, F16):
        name = np.dtype(dtype).name
        t.add("RandomGamma", name, C([3]), a(dtype, alphas), seed=1, seed2=2, runs=2)
    t.add("RandomGamma", "scalar", C(empty(I32, (0,))), f(2), seed=1, seed2=2)
    t.add("RandomGamma", "matrix", C([2, 2]), d([[0.1, 0.9], [1, 700]]), seed=3, seed2=2)
    t.add("RandomGamma", "empty_shape", C([0, 2]), f([1, 2]), seed=3, seed2=2)
    t.add("RandomGamma", "no_alpha", l([2]), empty(F32, (0,)), seed=3, seed2=2)
    t.add("RandomGamma", "odd", l([2]), f([NAN, -1]), seed=3, seed2=2)
    t.add("RandomGamma", "long", C([100]), f([0.5, 5]), seed=9, seed2=2)
    t.add("RandomGamma", "bad_shape", C([-1]), f([1, 2]), seed=3, seed2=2)
    t.add("RandomGamma", "bad_rank", C(3), f([1, 2]), seed=3, seed2=2)
    points = d([[0.1, 0.001], [0.5, 3], [1, 1], [2, 0.3], [5, 9], [30, 20], [100, 130], [900, 950]])
    t.add("RandomGammaGrad", "double", points[:, 0], points[:, 1])
    t.add("RandomGammaGrad", "float", points[:6, 0].astype(F32), points[:6, 1].astype(F32))
    t.add("RandomGammaGrad", "broadcast", d([[0.5], [3]]), d([1, 2, 7]))
    t.add("RandomGammaGrad", "scalar", d(2), d(3))
    t.add("RandomGammaGrad", "empty", empty(F32, (0,)), empty(F32, (0,)))
    t.add("RandomGammaGrad", "edges", d([2, 2, -1, NAN]), d([0, -1, 1, 1]))
    t.add("RandomGammaGrad", "bad_shapes", d([1, 2, 3]), d([1, 2]))


def add_poisson(t):
    rates = [0, 0.5, 9, 10, 200]
    for dtype in (F32, F64, F16):
        name = np.dtype(dtype).name
        t.add("RandomPoisson", name, C([3]), a(dtype, rates), seed=1, seed2=2, runs=2)
        t.add("RandomPoissonV2", name, C([3]), a(dtype, rates), seed=1, seed2=2, dtype=name)
    for dtype in ("int32", "int64"):
        t.add("RandomPoissonV2", dtype, C([3]), i([1, 20]), seed=1, seed2=2, dtype=dtype, runs=2)
    for op, more in (("RandomPoisson", {}), ("RandomPoissonV2", {"dtype": "float"})):
        t.add(op, "scalar", C(empty(I32, (0,))), f(2), seed=1, seed2=2, **more)
        t.add(op, "empty", C([0]), f([2]), seed=1, seed2=2, **more)
        t.add(op, "negative_and_infinite", C([2]), f([-1, INF]), seed=1, seed2=2, **more)
        t.add(op, "matrix", l([2, 2]), f([[1, 30], [1e4, 1e9]]), seed=5, seed2=2, **more)
        t.add(op, "long", C([70]), f([3, 33]), seed=5, seed2=2, **more)
        t.add(op, "bad_shape", C([-1]), f([2]), seed=1, seed2=2, **more)


def add_samplers(t):
    true = l([[0, 3], [2, 9]])
    common = dict(num_true=2, num_sampled=6, seed=1, seed2=2)
    for op in ("UniformCandidateSampler", "LogUniformCandidateSampler",
               "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"):
        for unique in (False, True):
            tag = "unique" if unique else "repeated"
            t.add(op, tag, true, unique=unique, range_max=10, runs=3, **common)
            t.add(op, tag + "_wide", true, unique=unique, range_max=100000, **common)
            t.add(op, tag + "_power", true, unique=unique, range_max=16, runs=2, **common)
        t.add(op, "all", l([[1]]), unique=True, range_max=5, num_true=1, num_sampled=5, seed=7,
              seed2=8)
        t.add(op, "no_rows", empty(I64, (0, 2)), unique=True, range_max=10, **common)
        t.add(op, "many", l([[3], [3], [4]]), unique=False, range_max=7, num_true=1,
              num_sampled=300, seed=7, seed2=8)
        t.add(op, "bad_range", true, unique=True, range_max=5, **common)
        t.add(op, "bad_class", true, unique=False, range_max=5, **common)
        t.add(op, "bad_negative", l([[-1, 2]]), unique=False, range_max=5, **common)
        t.add(op, "bad_num_true", true, unique=True, range_max=10, num_true=1, num_sampled=2,
              seed=1, seed2=2)
        t.add(op, "bad_rank", l([1, 2]), unique=True, range_max=10, **common)
    t.add("UniformCandidateSampler", "huge", true, unique=True, range_max=2**62 + 5, **common)
    op, weights = "FixedUnigramCandidateSampler", [1, 5, 0.5, 2, 2, 9, 0, 1]
    for unique in (False, True):
        tag = "unique" if unique else "repeated"
        t.add(op, tag, l([[0, 3], [2, 7]]), unique=unique, range_max=8, unigrams=weights, runs=3,
              **common)
        t.add(op, tag + "_distorted", l([[0, 3], [2, 7]]), unique=unique, range_max=8,
              unigrams=weights, distortion=0.75, **common)
    t.add(op, "reserved", l([[0, 9], [2, 7]]), unique=False, range_max=10, unigrams=weights,
          num_reserved_ids=2, **common)
    t.add(op, "shard", l([[0, 1]]), unique=False, range_max=3, unigrams=weights,
          num_shards=3, shard=1, **common)
    t.add(op, "one", l([[0]]), unique=False, range_max=1, unigrams=[3], num_true=1, num_sampled=3,
          seed=1, seed2=2)
    t.add(op, "bad_too_few", l([[0, 1]]), unique=False, range_max=9, unigrams=weights, **common)
    t.add(op, "bad_neither", l([[0, 1]]), unique=False, range_max=9, **common)
    t.add(op, "bad_file", l([[0, 1]]), unique=False, range_max=9, vocab_file="/no/such/file",
          **common)
    op = "AllCandidateSampler"
    for unique in (False, True):
        t.add(op, "unique" if unique else "repeated", l([[0, 3], [2, 5]]), unique=unique, **common)
    t.add(op, "one", l([[0]]), unique=True, num_true=1, num_sampled=1)
    t.add(op, "no_rows", empty(I64, (0, 1)), unique=True, num_true=1, num_sampled=4)
    t.add(op, "bad_rank", l([0]), unique=True, num_true=1, num_sampled=4)
    t.add(op, "bad_num_true", l([[0, 1]]), unique=True, num_true=1, num_sampled=4)
    op = "ComputeAccidentalHits"
    t.add(op, "some", l([[0, 3], [2, 7], [9, 9]]), l([9, 4, 3, 0, 3]), num_true=2)
    t.add(op, "none", l([[0, 3]]), l([1]), num_true=2)
    t.add(op, "negative", l([[-1], [2**40]]), l([-1, 2**40]), num_true=1)
    t.add(op, "no_rows", empty(I64, (0, 2)), l([1]), num_true=2)
    t.add(op, "no_samples", l([[1]]), empty(I64, (0,)), num_true=1)
    t.add(op, "bad_num_true", l([[0, 3]]), l([1]), num_true=3)
    t.add(op, "bad_rank", l([0, 3]), l([1]), num_true=2)
    t.add(op, "bad_samples", l([[0, 3]]), l([[1]]), num_true=2)


def cases():
    t = Table()
    add_gamma(t)
    add_poisson(t)
    add_samplers(t)
    return t.cases
