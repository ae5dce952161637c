"""Linear algebra."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.array_ops import (
    diag as tensor_diag,
    matrix_band_part as band_part,
    matrix_diag as diag,
)
from rheos.ops.clip_ops import global_norm
from rheos.ops.linalg_ops import (
    adjoint,
    cholesky,
    cholesky_solve,
    cross,
    einsum,
    logdet,
    lu,
    matrix_determinant as det,
    matrix_exponential as expm,
    matrix_inverse as inv,
    matrix_logarithm as logm,
    matrix_rank,
    matrix_solve as solve,
    matrix_solve_ls as lstsq,
    matrix_square_root as sqrtm,
    matrix_triangular_solve as triangular_solve,
    matvec,
    normalize,
    pinv,
    qr,
    self_adjoint_eig as eigh,
    self_adjoint_eigvals as eigvalsh,
    slogdet,
    svd,
    trace,
    tridiagonal_matmul,
    tridiagonal_solve,
)
from rheos.ops.linear_operator import LinearOperator
from rheos.ops.linear_operator_circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorToeplitz,
)
from rheos.ops.linear_operator_combinations import (
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorInversion,
    LinearOperatorKronecker,
)
from rheos.ops.linear_operator_structures import (
    LinearOperatorHouseholder,
    LinearOperatorLowRankUpdate,
    LinearOperatorZeros,
)
from rheos.ops.linear_operators import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from rheos.ops.math_ops import matmul, norm, tensordot
from rheos.ops.nn_ops import l2_normalize
from rheos.ops.rearrange_ops import (
    diag_part as tensor_diag_part,
    eye,
    matrix_diag_part as diag_part,
    matrix_set_diag as set_diag,
    matrix_transpose,
)

transpose = matrix_transpose

__getattr__ = _attribute_of("tensorflow.linalg")
