"""Functions of matrices, and tridiagonal ones."""
from .common import *  # noqa: F403

# Away from what has no root or logarithm.
BATCH = d([[[4, 1, 0.5], [0.3, 3, -1], [0.2, 0.1, 5]], [[2, -1, 0], [1, 2, 0.5], [0, 0.25, 1.5]]])


def functions(t):
    for op in ("MatrixSquareRoot", "MatrixExponential", "MatrixLogarithm"):
        dtypes = (C64, C128) if op == "MatrixLogarithm" else (F32, F64, C64, C128)
        whole = C128 if op == "MatrixLogarithm" else F64
        for dtype in dtypes:
            t.add(op, "batch_" + dtype.__name__, BATCH.astype(dtype), tol=20)
        t.add(op, "complex", a(C128, [[2 + 1j, 1j], [0.5, 3 - 1j]]), tol=20)
        t.add(op, "one", a(whole, [[4]]))
        t.add(op, "diagonal", a(whole, [[4, 0], [0, 9]]), tol=4)
        t.add(op, "nilpotent", a(whole, [[1, 2], [0, 1]]), tol=4)
        t.add(op, "empty", empty(whole, (0, 0)))
        t.add(op, "no_matrices", empty(whole, (0, 2, 2)))
        t.add(op, "bad_not_square", empty(whole, (2, 3)))
        t.add(op, "bad_vector", a(whole, [1, 2]))
    t.add("MatrixSquareRoot", "rotation", d([[0, 1], [-1, 0]]), tol=4)
    t.add("MatrixSquareRoot", "none_real", d([[-4, 0], [0, 9]]))
    t.add("MatrixSquareRoot", "gradient", BATCH, g=True, tol=20)
    t.add("MatrixLogarithm", "zero", a(C128, np.zeros((2, 2))))
    t.add("MatrixExponential", "large", d([[20, 3], [-5, 10]]), tol=100)
    t.add("MatrixExponential", "zero", d(np.zeros((2, 2))))


def tridiagonal(t):
    diagonals = wave(F64, (2, 3, 4)) + d([[0], [4], [0]])
    for dtype in (F32, F64, C64, C128):
        rhs = wave(F64, (2, 4, 2), phase=1).astype(dtype)
        t.add("TridiagonalSolve", "batch_" + dtype.__name__, diagonals.astype(dtype), rhs, tol=10)
        parts = [diagonals[:, k:k + 1].astype(dtype) for k in range(3)]
        t.add("TridiagonalMatMul", "batch_" + dtype.__name__, *parts, rhs, tol=4)
    turn = a(C128, [1, 1j, 0.5 + 1j])
    t.add("TridiagonalSolve", "complex", diagonals[0] * turn[:, None],
          a(C128, [[1], [1j], [2], [3]]), tol=10)
    t.add("TridiagonalSolve", "gradient", diagonals, wave(F64, (2, 4, 2), phase=1), g=True, tol=10)
    t.add("TridiagonalMatMul", "gradient", *[diagonals[:, k:k + 1] for k in range(3)],
          wave(F64, (2, 4, 2), phase=1), g=True)
    pivots = d([[1, 2, 0], [0, 5, 0], [4, 7, 8]])
    t.add("TridiagonalSolve", "pivots", pivots + d([[0, 0, 0], [1e-3, 0, 1], [0, 0, 0]]),
          d([[1], [2], [3]]), tol=100)
    t.add("TridiagonalSolve", "no_pivoting", diagonals, wave(F64, (2, 4, 1)),
          partial_pivoting=False, tol=10)
    t.add("TridiagonalSolve", "one", d([[9], [4], [8]]), d([[1]]))
    t.add("TridiagonalSolve", "two", d([[1, 9], [4, 5], [9, 7]]), d([[1], [2]]))
    t.add("TridiagonalSolve", "singular", d(np.zeros((3, 3))), d([[1], [2], [3]]))
    t.add("TridiagonalSolve", "empty", empty(F64, (3, 0)), empty(F64, (0, 1)))
    t.add("TridiagonalSolve", "bad_rows", d([[1, 2], [3, 4]]), d([[1], [2]]))
    t.add("TridiagonalSolve", "bad_equations", diagonals, wave(F64, (2, 3, 1)))
    t.add("TridiagonalSolve", "bad_batches", diagonals, wave(F64, (3, 4, 1)))
    above, main, below = d([[1, 2, 0]]), d([[4, 5, 6]]), d([[0, 7, 8]])
    t.add("TridiagonalMatMul", "one_matrix", above, main, below, d([[1], [2], [3]]))
    t.add("TridiagonalMatMul", "one", d([[3]]), d([[4]]), d([[5]]), d([[2, 3]]))
    t.add("TridiagonalMatMul", "bad_rank", d([1, 2, 0]), main, below, d([[1], [2], [3]]))
    t.add("TridiagonalMatMul", "bad_length", d([[1, 2]]), main, below, d([[1], [2], [3]]))
    t.add("TridiagonalMatMul", "bad_rhs", above, main, below, d([[1], [2]]))


def cases():
    t = Table()
    functions(t)
    tridiagonal(t)
    return t.cases
