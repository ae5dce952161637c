"""What random calls of the ops brought to light: corners where answers differed."""
from .common import *  # noqa: F403

C = Const


def arrays(t):
    x = ramp(F32, (2, 3, 4))
    t.add("Transpose", "from_the_end", x, C([-1, 0, -2]))
    t.add("Transpose", "from_the_end_fed", x, i([-1, 0, -2]))
    t.add("Transpose", "bad_below", x, C([-4, 0, 1]))
    t.add("Transpose", "bad_twice_from_the_end", x, C([-1, 2, 0]))
    t.add("ConjugateTranspose", "from_the_end", ramp(C64, (2, 3)), C([-1, 0]))
    t.add("ReverseV2", "scalar", i(3), i([1]))
    t.add("Tile", "nothing_of_two", f([1, 2]), C([0]))
    for name, indices, axis, batch_dims in (
            ("first", [[0, 1, 1], [1, 1, 0]], 1, 1),
            ("later", [[0, 2], [1, 1]], 2, 1),
            ("last", [[1], [0]], -1, 1),
            ("two", [[[0, 2], [1, 1]], [[0, 0], [1, 2]]], 2, 2),
            ("from_the_end", [[0, 2], [1, 1]], 2, -1),
            ("scalars", [1, 0], 1, 1)):
        t.add("GatherV2", "batches_" + name, wave(F64, (2, 2, 3, 2)), i(indices), C(axis),
              batch_dims=batch_dims, g=batch_dims > 0)
    t.add("GatherV2", "batches_int64", wave(F64, (2, 3)), l([[0, 2], [1, 1]]), C(1), batch_dims=1,
          g=True)
    t.add("MatrixDiagPart", "gradient_wide", wave(F64, (2, 2, 3)), g=True)
    t.add("MatrixDiagPart", "gradient_tall", wave(F64, (3, 2)), g=True)


def not_numbers(t):
    old, new = [NAN, 1, 2, NAN, -INF, INF], [1, NAN, INF, NAN, 3, 4]
    places = i([[0], [1], [2], [3], [4], [5]])
    for dtype in (F32, F64, F16):
        for op in ("Min", "Max"):
            name = "nan_" + dtype.__name__
            t.add("TensorScatter" + op, name, a(dtype, old), places, a(dtype, new))
            t.add("Scatter" + op, name, Variable(a(dtype, old)), places[:, 0], a(dtype, new))
            t.add("ResourceScatter" + op, name, Handle(a(dtype, old)), places[:, 0],
                  a(dtype, new), dtype=dtype)
            t.add("UnsortedSegment" + op, name, a(dtype, old + new),
                  np.concatenate([places, places])[:, 0], C(6))
            t.add("Segment" + op, name, a(dtype, old + new).reshape(2, 6).T.reshape(-1),
                  np.repeat(places[:, 0], 2))


def factors(t):
    square = wave(C128, (3, 3)) + 1j * wave(F64, (3, 3), phase=1.1)
    t.add("Qr", "gradient_complex", square, g=True)
    t.add("Qr", "gradient_complex_tall", np.concatenate([square, 1j * square[:1]]), g=True)
    t.add("Qr", "gradient_complex_wide", square[:2], g=True)


def cases():
    t = Table()
    arrays(t)
    not_numbers(t)
    factors(t)
    return t.cases
