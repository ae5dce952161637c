"""Sequences compared, decoded, and their running and n-th values; old names of matrix ops."""
from .common import *  # noqa: F403

C = Const


def sparse(values, indices, shape, dtype=I32):
    data = s(values) if dtype is object else a(dtype, values)
    return l(indices, (len(indices), len(shape))), data, l(shape)


def distances(t):
    op = "EditDistance"
    rows = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2]]
    other = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    for normalize in (True, False):
        tag = "_%d" % normalize
        t.add(op, "rows" + tag, *sparse([1, 2, 3, 4, 5, 6], rows, [2, 2, 3]),
              *sparse([1, 3, 5, 4, 1, 1], other, [2, 2, 2]), normalize=normalize)
        t.add(op, "words" + tag,
              *sparse(list("kitten"), [[0, k] for k in range(6)], [1, 6], object),
              *sparse(list("sitting"), [[0, k] for k in range(7)], [1, 7], object),
              normalize=normalize)
        t.add(op, "both_empty" + tag, *sparse([], [], [2, 3]), *sparse([], [], [2, 3]),
              normalize=normalize)
        t.add(op, "larger_truth" + tag, *sparse([1], [[0, 0]], [1, 1]),
              *sparse([1, 2, 3], [[0, 0], [2, 0], [2, 1]], [3, 2]), normalize=normalize)
    for dtype in (F32, F64, F16, I8, I64, U8, C64, np.bool_):
        t.add(op, np.dtype(dtype).name, *sparse([1, 0, 1], [[0, 0], [0, 1], [0, 2]], [1, 3], dtype),
              *sparse([0, 1], [[0, 0], [0, 1]], [1, 2], dtype))
    t.add(op, "floats", *sparse([NAN, 0.0], [[0, 0], [0, 1]], [1, 2], F32),
          *sparse([NAN, -0.0], [[0, 0], [0, 1]], [1, 2], F32))
    t.add(op, "bad_vector", *sparse([1, 2, 3], [[0], [1], [2]], [3]),
          *sparse([3, 2], [[0], [1]], [2]))
    t.add(op, "bad_ranks", *sparse([1], [[0, 0]], [1, 1]), *sparse([1], [[0]], [1]))
    t.add(op, "bad_values", l([[0, 0]]), i([1, 2]), l([1, 1]), *sparse([1], [[0, 0]], [1, 1]))


def decoding(t):
    op = "CTCBeamSearchDecoder"
    x = wave(F32, (6, 2, 4), 2.0)
    for dtype in (F32, F64):  # TensorFlow's logarithms are of float in either
        tol = 4 if dtype == F32 else 1e6
        for width, paths in ((1, 1), (3, 2), (20, 3)):
            for merge in (False, True):
                t.add(op, "%s_%d_%d_%d" % (dtype.__name__, width, paths, merge), x.astype(dtype),
                      i([6, 4]), beam_width=width, top_paths=paths, merge_repeated=merge,
                      tol=tol)
    t.add(op, "long", wave(F32, (20, 1, 6), 3.0, 1.1), i([20]), beam_width=40, top_paths=2)
    t.add(op, "blanks", f([[[0, 9]], [[0, 9]], [[9, 0]]]), i([3]), beam_width=4, top_paths=1, tol=4)
    t.add(op, "zero_length", x, i([0, 6]), beam_width=4, top_paths=1)
    t.add(op, "two_classes", wave(F32, (7, 1, 2), 2.0), i([7]), beam_width=5, top_paths=2)
    t.add(op, "bad_length", x, i([7, 4]), beam_width=4, top_paths=1)
    t.add(op, "bad_batch", x, i([6]), beam_width=4, top_paths=1)
    t.add(op, "bad_rank", x[0], i([6]), beam_width=4, top_paths=1)
    t.add(op, "bad_paths", x, i([6, 4]), beam_width=2, top_paths=3)
    t.add(op, "bad_few_leaves", x, i([0, 1]), beam_width=9, top_paths=4)


def running(t):
    op = "CumulativeLogsumexp"
    for exclusive in (False, True):
        for reverse in (False, True):
            attrs = dict(exclusive=exclusive, reverse=reverse)
            tag = "_%d_%d" % (exclusive, reverse)
            for dtype in (F32, F64):
                t.add(op, dtype.__name__ + tag, wave(dtype, (3, 4)), C(1), **attrs)
            t.add(op, "half" + tag, wave(F16, (3, 2)), C(0), **attrs)
            t.add(op, "columns" + tag, wave(F64, (4, 2)), C(0), g=not exclusive, **attrs)
    t.add(op, "last_axis", wave(F32, (2, 3, 2)), l(-1))
    t.add(op, "large", f([1000, 1000, -1000, 1001]), C(0))
    t.add(op, "infinite", f([1, INF, 2]), C(0))
    t.add(op, "nothing", f([-INF, 1, -INF]), C(0))
    t.add(op, "empty", empty(F32, (0, 3)), C(0))
    t.add(op, "bad_axis", wave(F32, (3,)), C(1))
    t.add(op, "bad_scalar", f(1), C(0))


def nth(t):
    op = "NthElement"
    for dtype in (F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, U64):
        for reverse in (False, True):
            t.add(op, "%s_%d" % (np.dtype(dtype).name, reverse), a(dtype, [[3, 1, 2], [9, 9, 1]]),
                  C(1), reverse=reverse)
    for n in (0, 2):
        t.add(op, "place_%d" % n, f([5, 3, 4]), C(n))
    t.add(op, "gradient", d([[3, 1, 2, 7], [4, 8, 5, -1]]), C(1), g=True)
    t.add(op, "batch", ramp(F32, (2, 2, 3), 9, -1), C(1), reverse=True)
    t.add(op, "empty", empty(F32, (0, 3)), C(1))
    t.add(op, "bad_n", f([1, 2]), C(2))
    t.add(op, "bad_negative", f([1, 2]), C(-1))
    t.add(op, "bad_scalar", f(1), C(0))


def old_names(t):
    x, p = ramp(F32, (2, 3, 3)), dict(producer=13)
    for dtype in (F32, F64, F16, I32, I64, C64):
        name = np.dtype(dtype).name
        t.add("BatchMatrixBandPart", name, x.astype(dtype), l(1), l(0), **p)
        t.add("BatchMatrixDiag", name, x[0].astype(dtype), **p)
        t.add("BatchMatrixDiagPart", name, x.astype(dtype), **p)
        t.add("BatchMatrixSetDiag", name, x.astype(dtype), empty(dtype, (2, 3)), **p)
    t.add("BatchMatrixBandPart", "bad_rank", x[0, 0], l(1), l(0), **p)
    t.add("BatchMatrixDiag", "bad_rank", f(1), **p)
    t.add("BatchMatrixDiagPart", "bad_rank", x[0, 0], **p)
    t.add("BatchMatrixSetDiag", "bad_shape", x, empty(F32, (2, 2)), **p)


def cases():
    t = Table()
    distances(t)
    decoding(t)
    running(t)
    nth(t)
    old_names(t)
    return t.cases
