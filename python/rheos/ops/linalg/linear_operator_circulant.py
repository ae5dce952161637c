"""Linear operators that a Fourier transform makes diagonal, or nearly: circulant and Toeplitz."""

from rheos.framework import dtypes
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.rearrange_ops import broadcast_dynamic_shape, reverse_v2
from rheos.ops.linalg.linalg_ops import adjoint as adjoint_of
from rheos.ops.linalg.linear_operator import LinearOperator
from rheos.ops.linalg.linear_operators import broadcast_shapes, decided_hint, given_tensor
from rheos.ops.math import check_ops, math_ops
from rheos.ops.math.special_math_ops import imag as imaginary_part, real as real_part
from rheos.ops.math.spectral_ops import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

_TRANSFORMS = {1: (fft, ifft), 2: (fft2d, ifft2d), 3: (fft3d, ifft3d)}


def _complex_of(dtype):
    wide = dtype in (dtypes.float64, dtypes.complex128)
    return dtypes.complex128 if wide else dtypes.complex64


class _Circulant(LinearOperator):
    """What multiplies the Fourier transform of a block of `_depth` dimensions by a spectrum.

    spectrum: (..., *block). It acts on vectors of as many elements as the block has; these and its
    matrices are of input_output_dtype, which takes the real parts where it is not complex.
    """

    _depth = 1

    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        name = name or type(self).__name__
        dtype = dtypes.as_dtype(input_output_dtype)
        self._spectrum = given_tensor(spectrum, "spectrum", self._depth, name)
        if not self._spectrum.dtype.is_complex:
            is_self_adjoint = decided_hint(
                is_self_adjoint,
                True,
                "A real spectrum always corresponds to a self-adjoint operator.",
            )
        decided_hint(is_square, True, "A circulant operator is always square.")
        super().__init__(
            dtype,
            [self._spectrum],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def spectrum(self):
        return self._spectrum

    @property
    def block_depth(self):
        """How many dimensions the block has."""
        return self._depth

    @property
    def block_shape(self):
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self):
        """The shape of the block, int32."""
        return array_ops.shape(self._spectrum)[-self._depth :]

    def convolution_kernel(self, name="convolution_kernel"):
        """The first column of the matrix, as a block: what it convolves with."""
        with self._scope(name):
            kernel = _TRANSFORMS[self._depth][1](self._complex_spectrum())
            return math_ops.cast(kernel, self.dtype)

    def _complex_spectrum(self):
        return math_ops.cast(self._spectrum, _complex_of(self.dtype))

    def _shape(self):
        shape = self._spectrum.shape
        if shape.ndims is None:
            return TensorShape(None)
        size = self.block_shape.num_elements() if self.block_shape.is_fully_defined() else None
        return shape[: -self._depth].concatenate(TensorShape([size, size]))

    def _shape_tensor(self):
        size = math_ops.reduce_prod(self.block_shape_tensor())
        batch = array_ops.shape(self._spectrum)[: -self._depth]
        return array_ops.concat([batch, array_ops.stack([size, size])], 0)

    def _filtered(self, x, factors):
        """The columns of x through the transform, times the factors, and back."""
        there, back = _TRANSFORMS[self._depth]
        rows = rearrange_ops.matrix_transpose(math_ops.cast(x, factors.dtype))
        batch, block = array_ops.shape(rows)[:-1], self.block_shape_tensor()
        blocks = array_ops.reshape(rows, array_ops.concat([batch, block], 0))
        blocks = back(there(blocks) * array_ops.expand_dims(factors, -1 - self._depth))
        batch = array_ops.shape(blocks)[: -self._depth]
        rows = array_ops.reshape(blocks, array_ops.concat([batch, [-1]], 0))
        result = math_ops.cast(rearrange_ops.matrix_transpose(rows), self.dtype)
        result.set_shape(
            broadcast_shapes(self.batch_shape, x.shape[:-2])
            .concatenate(self.shape[-1:])
            .concatenate(x.shape[-1:])
        )
        return result

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        spectrum = self._complex_spectrum()
        return self._filtered(x, math_ops.conj(spectrum) if adjoint else spectrum)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        spectrum = self._complex_spectrum()
        return self._filtered(rhs, 1 / (math_ops.conj(spectrum) if adjoint else spectrum))

    def _over_block(self, reduce, values):
        return reduce(values, axis=list(range(-self._depth, 0)))

    def _determinant(self):
        return math_ops.cast(
            self._over_block(math_ops.reduce_prod, self._complex_spectrum()), self.dtype
        )

    def _log_abs_determinant(self):
        logs = math_ops.log(math_ops.abs(self._complex_spectrum()))
        return math_ops.cast(self._over_block(math_ops.reduce_sum, logs), self.dtype)

    def _trace(self):
        return math_ops.cast(
            self._over_block(math_ops.reduce_sum, self._complex_spectrum()), self.dtype
        )

    def _diag_part(self):
        # All elements of the diagonal are the same.
        size = self.domain_dimension_tensor()
        mean = array_ops.expand_dims(self._trace() / math_ops.cast(size, self.dtype), -1)
        return mean * array_ops.ones([size], self.dtype)

    def _like_this(self, spectrum):
        return type(self)(
            spectrum,
            self.dtype,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _adjoint(self):
        return self._like_this(math_ops.conj(self._spectrum))

    def _inverse(self):
        return self._like_this(1 / self._spectrum)

    def _assert_non_singular(self):
        size = math_ops.abs(self._spectrum)
        return check_ops.assert_less(
            array_ops.zeros([], size.dtype),
            size,
            message="Singular operator:  Spectrum contained zero values.",
        )

    def _assert_positive_definite(self):
        real = real_part(self._spectrum)
        return check_ops.assert_positive(
            real, message="Not positive definite:  Real part of spectrum was not all positive."
        )

    def _assert_self_adjoint(self):
        rest = imaginary_part(self._spectrum)
        return check_ops.assert_equal(
            array_ops.zeros([], rest.dtype),
            rest,
            message="Not self-adjoint:  The spectrum contained non-zero imaginary part.",
        )

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """An operation that fails if the matrix is not real."""
        with self._scope(name):
            kernel = _TRANSFORMS[self._depth][1](self._complex_spectrum())
            rest = math_ops.abs(imaginary_part(kernel))
            limit = 5e-13 if rest.dtype == dtypes.float64 else 5e-6
            limit = limit * (1 + math_ops.reduce_max(math_ops.abs(kernel)))
            return check_ops.assert_less(
                rest, limit, message="The spectrum was not Hermitian up to rounding."
            )


class LinearOperatorCirculant(_Circulant):
    """Matrices whose columns are one vector, turned on by one each: given by the vector's Fourier
    transform, `spectrum` (..., N)."""

    __doc__ += "\n\n" + _Circulant.__doc__.split("\n\n", 1)[1]


class LinearOperatorCirculant2D(_Circulant):
    """Circulant matrices whose elements are such: given by the transform (..., N1, N2)."""

    _depth = 2


class LinearOperatorCirculant3D(_Circulant):
    """The same in three dimensions: given by the transform (..., N1, N2, N3)."""

    _depth = 3


class LinearOperatorToeplitz(LinearOperator):
    """Matrices with one number along each diagonal, given by their first column and first row.

    col, row: (..., N); the first element of `row` does not count.
    """

    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
    ):
        self._col = given_tensor(col, "col", 1, name)
        self._row = given_tensor(row, "row", 1, name)
        decided_hint(is_square, True, "Only square Toeplitz operators currently supported.")
        super().__init__(
            self._col.dtype,
            [self._col, self._row],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def col(self):
        """The first column, [..., n]."""
        return self._col

    @property
    def row(self):
        """The first row, [..., n]; its first number is that of the column."""
        return self._row

    def _shape(self):
        shape = broadcast_shapes(self._col.shape, self._row.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = broadcast_dynamic_shape(array_ops.shape(self._col), array_ops.shape(self._row))
        return array_ops.concat([shape, shape[-1:]], 0)

    def _around(self, adjoint=False):
        """The first column of a circulant matrix that has this one in its corner."""
        col, row = self._col, self._row
        shape = broadcast_dynamic_shape(array_ops.shape(col), array_ops.shape(row))
        col, row = array_ops.broadcast_to(col, shape), array_ops.broadcast_to(row, shape)
        if adjoint:  # the element that both have is the column's
            row = array_ops.concat([col[..., :1], row[..., 1:]], -1)
            col, row = math_ops.conj(row), math_ops.conj(col)
        return array_ops.concat([col, reverse_v2(row[..., 1:], [-1])], -1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        kind = _complex_of(self.dtype)
        spectrum = fft(math_ops.cast(self._around(adjoint), kind))
        rows = rearrange_ops.matrix_transpose(math_ops.cast(x, kind))
        size = array_ops.shape(rows)[-1]
        longer = array_ops.concat([rows, array_ops.zeros_like(rows[..., 1:])], -1)
        rows = ifft(fft(longer) * array_ops.expand_dims(spectrum, -2))[..., :size]
        result = math_ops.cast(rearrange_ops.matrix_transpose(rows), self.dtype)
        result.set_shape(
            broadcast_shapes(self.batch_shape, x.shape[:-2])
            .concatenate(self.shape[-1:])
            .concatenate(x.shape[-1:])
        )
        return result

    def _diag_part(self):
        shape = self.shape_tensor()[:-1]
        return array_ops.broadcast_to(self._col[..., :1], shape)

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def _to_dense(self):
        size = self.domain_dimension_tensor()
        places = math_ops.range(size)
        turned = array_ops.expand_dims(places, 1) - array_ops.expand_dims(places, 0)
        return array_ops.gather(self._around(), turned % (2 * size - 1), axis=-1)
