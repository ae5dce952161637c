"""Factorizations, inverses, determinants, solutions."""

from .common import *  # noqa: F403

NEAR = 50  # factors are as good as the arithmetic allows, not the last bit
REALS, ALL = (F32, F64), (F32, F64, C64, C128)


def any_matrix(dtype, shape, phase=0.3):
    x = wave(F64, shape, phase=phase)
    if dtype in (C64, C128):
        x = x + 1j * wave(F64, shape, phase=phase + 2)
    return x.astype(dtype)


def well(dtype, shape, phase=0.3):
    """Square matrices that are far from singular."""
    return any_matrix(dtype, shape, phase) + 3 * np.eye(shape[-1], dtype=dtype)


def positive(dtype, shape):
    x = any_matrix(dtype, shape)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1])).astype(dtype)


def squares(t, op, make, dtypes, **attrs):
    """Cases that every op on square matrices has."""
    for dtype in dtypes:
        t.add(op, dtype.__name__, make(dtype, (3, 3)), tol=NEAR, **attrs)
        t.add(op, "batch_" + dtype.__name__, make(dtype, (2, 2, 2)), tol=NEAR, **attrs)
    t.add(op, "one", make(F64, (1, 1)), tol=NEAR, **attrs)
    t.add(op, "batches", make(F32, (2, 1, 2, 2)), tol=NEAR, **attrs)
    t.add(op, "empty", empty(F32, (0, 0)), **attrs)
    t.add(op, "empty_batch", empty(F32, (0, 2, 2)), **attrs)
    t.add(op, "bad_vector", f([1, 2]), **attrs)
    t.add(op, "bad_oblong", ramp(F32, (2, 3)), **attrs)


def cholesky(t):
    squares(t, "Cholesky", positive, ALL)
    t.add("Cholesky", "gradient", positive(F64, (2, 3, 3)), g=True, tol=NEAR)
    t.add("Cholesky", "lower_only", f([[4, 9], [2, 3]]), tol=NEAR)
    t.add("Cholesky", "upper_nan", f([[4, NAN], [2, 3]]), tol=NEAR)
    for dtype in REALS:
        lower = np.tril(well(dtype, (3, 3)))
        t.add("CholeskyGrad", dtype.__name__, lower, any_matrix(dtype, (3, 3), 2), tol=NEAR)
        t.add(
            "CholeskyGrad",
            "batch_" + dtype.__name__,
            well(dtype, (2, 2, 2)),
            any_matrix(dtype, (2, 2, 2), 2),
            tol=NEAR,
        )
    t.add("CholeskyGrad", "one", f([[2]]), f([[3]]), tol=NEAR)
    t.add("CholeskyGrad", "empty", empty(F64, (0, 0)), empty(F64, (0, 0)))
    t.add("CholeskyGrad", "bad_shapes", f([[1]]), ramp(F32, (2, 2)))
    t.add("CholeskyGrad", "bad_rank", f([1]), f([1]))


def inverses(t):
    singular = f([[1, 2], [2, 4]])
    squares(t, "MatrixInverse", well, (*ALL, F16))
    for dtype in (F64, C128):
        t.add(
            "MatrixInverse",
            "adjoint_" + dtype.__name__,
            well(dtype, (3, 3)),
            adjoint=True,
            tol=NEAR,
        )
    t.add("MatrixInverse", "gradient", well(F64, (2, 2, 2)), g=True, tol=NEAR)
    t.add("MatrixInverse", "gradient_adjoint", well(F64, (3, 3)), adjoint=True, g=True, tol=NEAR)
    t.add("MatrixInverse", "bad_singular", singular)
    t.add("MatrixInverse", "bad_nan", f([[NAN, 1], [2, 3]]))
    for op in ("MatrixDeterminant", "LogMatrixDeterminant"):
        squares(t, op, well, ALL)
        t.add(op, "singular", d([[1, 2], [2, 4]]))
        t.add(op, "nan", f([[NAN, 1], [2, 3]]))
        t.add(op, "rows_exchanged", d([[0, 1, 0], [0, 0, 1], [2, 0, 0]]), tol=NEAR)
        t.add(op, "odd_exchange", d([[0, 1], [2, 0]]), tol=NEAR)
        t.add(op, "large", 1e200 * np.eye(2), tol=NEAR)
        t.add(op, "gradient", well(F64, (2, 2, 2)), g=True, tol=NEAR)
    squares(t, "Lu", well, ALL)
    t.add("Lu", "int64", d([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), output_idx_type="int64")
    t.add("Lu", "bad_singular", singular)


def solutions(t):
    singular = f([[1, 2], [2, 4]])
    for op in ("MatrixSolve", "MatrixTriangularSolve"):
        for dtype in ALL:
            for adjoint in (False, True):
                tag = dtype.__name__ + ("_adjoint" if adjoint else "")
                t.add(
                    op,
                    tag,
                    well(dtype, (3, 3)),
                    any_matrix(dtype, (3, 2), 1),
                    adjoint=adjoint,
                    tol=NEAR,
                )
        t.add(op, "batch", well(F64, (2, 2, 2)), any_matrix(F64, (2, 2, 3), 1), tol=NEAR)
        t.add(op, "one", f([[2]]), f([[3]]))
        t.add(op, "empty", empty(F32, (0, 0)), empty(F32, (0, 3)))
        t.add(op, "no_columns", f([[2]]), empty(F32, (1, 0)))
        for adjoint in (False, True):
            t.add(
                op,
                "gradient_%d" % adjoint,
                well(F64, (2, 2, 2)),
                any_matrix(F64, (2, 2, 2), 1),
                adjoint=adjoint,
                g=True,
                tol=NEAR,
            )
        t.add(op, "bad_oblong", ramp(F32, (2, 3)), f([[1], [2]]))
        t.add(op, "bad_rows", well(F32, (2, 2)), f([[1], [2], [3]]))
        t.add(op, "bad_vector", well(F32, (2, 2)), f([1, 2]))
    t.add("MatrixSolve", "bad_singular", singular, f([[1], [2]]))
    t.add("MatrixSolve", "bad_ranks", well(F32, (2, 2, 2)), f([[1], [2]]))
    op = "MatrixTriangularSolve"
    for adjoint in (False, True):
        t.add(
            op,
            "upper_%d" % adjoint,
            well(F64, (3, 3)),
            any_matrix(F64, (3, 2), 1),
            lower=False,
            adjoint=adjoint,
            g=True,
            tol=NEAR,
        )
    t.add(op, "broadcast", well(F64, (2, 2, 2)), any_matrix(F64, (3, 1, 2, 1), 1), g=True, tol=NEAR)
    t.add(
        op, "broadcast_matrix", well(F64, (2, 2)), any_matrix(F64, (3, 2, 1), 1), g=True, tol=NEAR
    )
    t.add(op, "singular", f([[0, 0], [2, 4]]), f([[1], [2]]))
    t.add(op, "bad_batches", well(F32, (2, 2, 2)), ramp(F32, (3, 2, 1)))


def factors(t):
    for dtype in (*ALL, F16):
        for m, n in ((3, 3), (4, 2), (2, 4)):
            tag = "%s_%d_%d" % (dtype.__name__, m, n)
            t.add("Qr", tag, any_matrix(dtype, (m, n)), tol=NEAR)
            if dtype == F16:
                continue
            t.add("Qr", "full_" + tag, any_matrix(dtype, (m, n)), full_matrices=True, tol=NEAR)
            t.add("Svd", tag, any_matrix(dtype, (m, n)), tol=NEAR)
    for dtype in ALL:
        t.add(
            "Svd", "full_" + dtype.__name__, any_matrix(dtype, (2, 3)), full_matrices=True, tol=NEAR
        )
    for m, n in ((3, 3), (3, 2), (2, 3)):
        for full in (False, True):
            x = wave(F64, (2, m, n))
            t.add(
                "Svd", "gradient_%d_%d_%d" % (m, n, full), x, full_matrices=full, g=True, tol=NEAR
            )
            t.add(
                "Qr",
                "gradient_%d_%d_%d" % (m, n, full),
                x,
                full_matrices=full,
                g=not (full and m > n),
                tol=NEAR,
            )
    for op in ("Qr", "Svd"):
        t.add(op, "one", f([[2]]))
        t.add(op, "batches", any_matrix(F64, (2, 1, 2, 3)), tol=NEAR)
        t.add(op, "no_rows", empty(F32, (0, 3)))
        t.add(op, "no_rows_full", empty(F32, (0, 3)), full_matrices=True)
        t.add(op, "no_columns", empty(F32, (2, 0)))
        t.add(op, "no_columns_full", empty(F32, (2, 0)), full_matrices=True)
        t.add(op, "empty_batch", empty(F32, (0, 2, 2)))
        t.add(op, "bad_vector", f([1, 2]))
    t.add("Svd", "nan", f([[NAN, 1], [2, 3]]))
    t.add("Svd", "inf", f([[INF, 1], [2, 3]]))
    squares(t, "SelfAdjointEigV2", well, ALL)
    t.add("SelfAdjointEigV2", "gradient", well(F64, (2, 3, 3)), g=True, tol=NEAR)
    t.add("SelfAdjointEigV2", "bad_nan", f([[NAN, 1], [2, 3]]))
    t.add("SelfAdjointEigV2", "upper_nan", f([[3, NAN], [2, 3]]), tol=NEAR)
    t.add("SelfAdjointEigV2", "bad_inf", f([[3, 1], [INF, 3]]))


def eig(t):
    """Of triangular matrices, whose values have an order and whose vectors a sign; of others see
    test_linalg_ops.py."""
    for dtype in (F32, F64, C64, C128):
        by = dict(Tout="complex64" if dtype in (F32, C64) else "complex128", tol=NEAR)
        rows = np.array([[1, 0.5, 0.25], [0, 2, 0.5], [0, 0, 4]], dtype)
        t.add("Eig", dtype.__name__, rows, **by)
        t.add("Eig", "batch_" + dtype.__name__, np.stack([rows, 2 * rows]), **by)
        t.add("Eig", "one_" + dtype.__name__, np.array([[2]], dtype), **by)
    for tag, matrix in (
        ("vector", f([1, 2])),
        ("oblong", ramp(F32, (2, 3))),
        ("nan", f([[NAN, 1], [2, 3]])),
    ):
        t.add("Eig", "bad_" + tag, matrix, Tout="complex64")
    t.add("Eig", "empty_batch", empty(F32, (0, 2, 2)), Tout="complex64")
    t.add("Eig", "empty", empty(F32, (0, 0)), Tout="complex64")


def old_names(t):
    """The Batch* ops of graphs before version 13, and SelfAdjointEig of those before 11."""
    old = dict(tol=NEAR, producer=10)
    makers = {
        "BatchCholesky": positive,
        "BatchMatrixInverse": well,
        "BatchMatrixDeterminant": well,
        "BatchSvd": None,
        "BatchSelfAdjointEigV2": None,
    }
    for op, make in makers.items():
        make = make or (
            lambda dtype, shape: np.stack([np.diag(3.0 - np.arange(shape[-1]))] * shape[0]).astype(
                dtype
            )
        )
        for dtype in REALS:
            t.add(op, dtype.__name__, make(dtype, (2, 2, 2)), **old)
        t.add(op, "larger", make(F64, (1, 3, 3)), **old)
        t.add(op, "empty", empty(F32, (0, 2, 2)), **old)
        t.add(op, "bad_vector", f([1, 2]), **old)
    for op in ("BatchMatrixSolve", "BatchMatrixTriangularSolve", "BatchCholeskyGrad"):
        for dtype in REALS:
            t.add(
                op, dtype.__name__, well(dtype, (2, 2, 2)), any_matrix(dtype, (2, 2, 2), 1), **old
            )
        t.add(op, "larger", well(F64, (1, 3, 3)), any_matrix(F64, (1, 3, 3), 1), **old)
        t.add(op, "empty", empty(F32, (0, 2, 2)), empty(F32, (0, 2, 2)), **old)
        t.add(op, "bad_vector", f([1, 2]), f([1, 2]), **old)
    for op in ("SelfAdjointEig", "BatchSelfAdjointEig"):
        for dtype in REALS:
            t.add(op, dtype.__name__, np.diag([1, 2]).astype(dtype)[None], **old)
        t.add(op, "larger", np.diag([1.0, 2, 3])[None], **old)
        t.add(op, "empty", empty(F32, (0, 2, 2)), **old)
        t.add(op, "bad_vector", f([1, 2]), **old)


def cases():
    t = Table()
    cholesky(t)
    inverses(t)
    solutions(t)
    factors(t)
    eig(t)
    old_names(t)
    return t.cases
