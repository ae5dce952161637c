"""Tensors that distributions and bijectors need: triangles, weights, running statistics."""

import hashlib
import math

import numpy as np

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, name_scope
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops, spectral_ops
from rheos.ops.state import init_ops, state_ops, variable_scope
from rheos.ops.state.graph_keys import GraphKeys


def softplus_inverse(x, name=None):
    """The number whose softplus is x, for x above 0; in the tails without loss."""
    with name_scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        threshold = math.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        is_small, is_large = x < np.exp(threshold), x > -threshold
        safe = array_ops.where(math_ops.logical_or(is_small, is_large), array_ops.ones_like(x), x)
        middle = safe + math_ops.log(-math_ops.expm1(-safe))
        return array_ops.where(is_small, math_ops.log(x), array_ops.where(is_large, x, middle))


def _triangle_size(count):
    """n of a vector of n (n + 1) / 2 elements. ValueError for other lengths."""
    n = int(math.sqrt(0.25 + 2.0 * count) - 0.5)
    if n * (n + 1) // 2 != count:
        raise ValueError(
            f"Input right-most shape ({count}) does not correspond to a triangular matrix."
        )
    return n


def fill_triangular(x, upper=False, name=None):
    """Matrices whose lower triangles have the elements of vectors, (..., n (n + 1) / 2).

    The rows are filled as by a spiral, from both ends of the vector: of 1 to 6 comes
    [[4, 0, 0], [6, 5, 0], [3, 2, 1]]. upper: the upper triangles.
    """
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        count = x.shape.with_rank_at_least(1).size_at(-1)
        if count is not None:
            n = _triangle_size(count)
            static = x.shape[:-1].concatenate([n, n])
        else:
            count = array_ops.shape(x)[-1]
            root = math_ops.sqrt(0.25 + 2.0 * math_ops.cast(count, dtypes.float32))
            n = math_ops.cast(root, dtypes.int32)
            static = x.shape.with_rank_at_least(1)[:-1].concatenate([None, None])
        if upper:
            parts = [x, array_ops.reverse(x[..., n:], axis=[-1])]
        else:
            parts = [x[..., n:], array_ops.reverse(x, axis=[-1])]
        batch = array_ops.shape(x)[:-1]
        square = array_ops.reshape(
            array_ops.concat(parts, axis=-1), array_ops.concat([batch, [n, n]], axis=0)
        )
        band = (0, -1) if upper else (-1, 0)
        filled = array_ops.matrix_band_part(square, *band)
        filled.set_shape(static)
        return filled


def fill_triangular_inverse(x, upper=False, name=None):
    """The vectors that fill_triangular() makes these matrices of."""
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        n = x.shape.with_rank_at_least(2).size_at(-1)
        if n is None:
            n = array_ops.shape(x)[-1]
            static = x.shape[:-2].concatenate([None])
        else:
            static = x.shape[:-2].concatenate([n * (n + 1) // 2])
        rows = n * (n + 1) // 2
        batch = array_ops.shape(x)[:-2]
        if upper:
            first = x[..., 0, :]
            part = array_ops.matrix_band_part(x[..., 1:, :], 0, -1)
        else:
            first = array_ops.reverse(x[..., -1, :], axis=[-1])
            part = array_ops.matrix_band_part(x[..., :-1, :], -1, 0)
        # Each row and the one that is as far from the other end make one full row.
        full = part + array_ops.reverse(part, axis=[-2, -1])
        flat = array_ops.reshape(full, array_ops.concat([batch, [n * (n - 1)]], axis=0))
        tail = flat[..., : rows - n]
        vector = array_ops.concat([first, tail], axis=-1)
        vector.set_shape(static)
        return vector


def matrix_diag_transform(matrix, transform=None, name=None):
    """Matrices with `transform`, a function, of their diagonals in the place of these."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        changed = transform(rearrange_ops.matrix_diag_part(matrix))
        return rearrange_ops.matrix_set_diag(matrix, changed)


def tridiag(below=None, diag=None, above=None, name=None):
    """Square matrices of three diagonals, (..., n - 1), (..., n), (..., n - 1); None for zeros."""

    def padded(x, sides):
        count = array_ops.rank(x)
        rest = array_ops.zeros(array_ops.stack([count - 1, 2]), dtypes.int32)
        return array_ops.pad(x, array_ops.concat([rest, [sides]], axis=0))

    with name_scope(name, "tridiag", [below, diag, above]):
        if below is None and diag is None and above is None:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        total = 0.0
        if diag is not None:
            total = array_ops.matrix_diag(convert_to_tensor(diag, name="diag"))
        if below is not None:
            made = array_ops.matrix_diag(padded(convert_to_tensor(below), [0, 1]))
            moved = array_ops.pad(made, _before_rows(made))[..., :-1, :]
            total = moved + total
        if above is not None:
            made = array_ops.matrix_diag(padded(convert_to_tensor(above), [1, 0]))
            moved = array_ops.pad(made, _after_rows(made))[..., 1:, :]
            total = moved + total
        return total


def _row_paddings(x, sides):
    rest = array_ops.zeros(array_ops.stack([array_ops.rank(x) - 2, 2]), dtypes.int32)
    return array_ops.concat([rest, [sides], [[0, 0]]], axis=0)


def _before_rows(x):
    return _row_paddings(x, [1, 0])


def _after_rows(x):
    return _row_paddings(x, [0, 1])


def reduce_weighted_logsumexp(
    logx, w=None, axis=None, keep_dims=False, return_sign=False, name=None
):
    """log(abs(sum of w exp(logx))) over `axis`; with `return_sign` also the sum's sign."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            total = math_ops.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (total, array_ops.ones_like(total)) if return_sign else total
        w = convert_to_tensor(w, logx.dtype, name="w")
        size = logx + math_ops.log(math_ops.abs(w))
        largest = math_ops.reduce_max(size, axis=axis, keepdims=True)
        # A largest of -inf would make NaN of what is to be -inf.
        largest = array_ops.stop_gradient(
            array_ops.where(math_ops.is_inf(largest), array_ops.zeros_like(largest), largest)
        )
        signed = math_ops.sign(w) * math_ops.exp(size - largest)
        total = math_ops.reduce_sum(signed, axis=axis, keepdims=keep_dims)
        sign = math_ops.sign(total)
        if not keep_dims:
            largest = array_ops.squeeze(largest, axis)
        result = largest + math_ops.log(sign * total)
        return (result, sign) if return_sign else result


class SeedStream:
    """Seeds that follow from one: each call gives the next. `salt`: of the one who uses them."""

    def __init__(self, seed, salt):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._count = 0

    def __call__(self):
        self._count += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._count, self._salt))
        return int(hashlib.sha512(text.encode()).hexdigest(), 16)

    @property
    def original_seed(self):
        """The seed that it was made with."""
        return self._seed

    @property
    def salt(self):
        """What it was made with besides."""
        return self._salt


def percentile(
    x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None
):
    """The values below which q percent of the elements over `axis` (None: all) are.

    interpolation: of a place between two, "nearest" (the default), "lower" or "higher".
    """
    interpolation = "nearest" if interpolation is None else interpolation
    if interpolation not in ("nearest", "lower", "higher"):
        raise ValueError(
            "Argument 'interpolation' must be in {'lower', 'higher', 'nearest'}. "
            f"Found {interpolation}"
        )
    with name_scope(name, "percentile", [x, q]):
        x = convert_to_tensor(x, name="x")
        if math_ops.cast(q, dtypes.float32).shape.ndims not in (0, None):
            raise ValueError("q must be a scalar")
        q = math_ops.cast(q, dtypes.float64)
        rank = x.shape.ndims
        if rank is None:
            raise ValueError("x must have a known rank")
        over = range(rank) if axis is None else np.atleast_1d(axis)
        over = sorted(int(a) % rank for a in over)
        kept = [a for a in range(rank) if a not in over]
        moved = array_ops.transpose(x, kept + over)
        shape = array_ops.shape(moved)
        rows = array_ops.reshape(moved, array_ops.concat([shape[: len(kept)], [-1]], 0))
        count = array_ops.shape(rows)[-1]
        ordered = rearrange_ops.sort(rows, direction="DESCENDING")
        place = (1.0 - q / 100.0) * math_ops.cast(count - 1, dtypes.float64)
        rounded = {"nearest": math_ops.round, "lower": math_ops.ceil, "higher": math_ops.floor}
        index = math_ops.cast(rounded[interpolation](place), dtypes.int32)
        index = math_ops.minimum(math_ops.maximum(index, 0), count - 1)
        found = array_ops.gather(ordered, index, axis=len(kept))
        found.set_shape([x.shape.as_list()[a] for a in kept])
        if keep_dims:
            for a in over:
                found = array_ops.expand_dims(found, a)
        return found


def auto_correlation(
    x, axis=-1, max_lags=None, center=True, normalize=True, name="auto_correlation"
):
    """The correlation of a stationary sequence with itself, moved by 0 to `max_lags` steps.

    center: whether the mean is taken off. normalize: whether it is divided by that at 0.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        rank = x.shape.ndims
        axis %= rank
        order = [a for a in range(rank) if a != axis] + [axis]
        rotated = array_ops.transpose(x, order)
        if center:
            rotated -= math_ops.reduce_mean(rotated, -1, keepdims=True)
        count = rotated.shape.as_list()[-1]
        dynamic = array_ops.shape(rotated)[-1]
        size = 2 * dynamic if count is None else 2 ** int(np.ceil(np.log2(2 * count)))
        size = array_ops.stack([size])
        spectrum = spectral_ops.rfft(rotated, size)
        power = spectrum * math_ops.conj(spectrum)
        sums = spectral_ops.irfft(power, size)
        if max_lags is None:
            max_lags = dynamic - 1 if count is None else count - 1
        lags = convert_to_tensor(max_lags, dtypes.int32)
        sums = sums[..., : lags + 1]
        known = constant_value(lags)
        if known is not None:
            sums.set_shape(rotated.shape[:-1].concatenate([int(known) + 1]))
        terms = math_ops.cast(dynamic, x.dtype) - math_ops.cast(math_ops.range(lags + 1), x.dtype)
        result = sums / terms
        if normalize:
            result /= result[..., :1]
        return array_ops.transpose(result, np.argsort(order).tolist())


def assign_moving_mean_variance(mean_var, variance_var, value, decay, name=None):
    """Moves a running mean and a running variance toward `value`: (mean, variance), updated.

    variance <- decay (variance + (1 - decay) (value - mean)^2), with the mean before.
    """
    with name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        base = mean_var.dtype.base_dtype
        if not base.is_floating:
            raise TypeError(f"mean_var.base_dtype({base.name}) does not have float type `dtype`.")
        if base != variance_var.dtype.base_dtype:
            raise TypeError("mean_var and variance_var have different dtypes")
        value = convert_to_tensor(value, base, name="value")
        decay = convert_to_tensor(decay, base, name="decay")
        before = array_ops.identity(mean_var)
        delta = value - before
        with colocate_with(variance_var):
            with get_default_graph().control_dependencies([delta]):
                mean = state_ops.assign_add(mean_var, (1 - decay) * delta)
            spread = (1 - decay) * (math_ops.square(delta) * decay)
            variance = state_ops.assign_add(variance_var, spread - (1 - decay) * variance_var)
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var, log_value, decay, name=None):
    """Moves the logarithm of a running mean toward `log_value`, that of a value."""
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        base = log_mean_exp_var.dtype.base_dtype
        if not base.is_floating:
            raise TypeError(f"log_mean_exp_var.base_dtype({base.name}) does not have float type.")
        log_value = convert_to_tensor(log_value, base, name="log_value")
        decay = convert_to_tensor(decay, base, name="decay")
        delta = (log_value - log_mean_exp_var)[None, ...]
        both = array_ops.concat(
            [
                math_ops.log(decay) * array_ops.ones_like(delta),
                delta + math_ops.log1p(-decay),
            ],
            axis=0,
        )
        return state_ops.assign_add(log_mean_exp_var, math_ops.reduce_logsumexp(both, axis=0))


def moving_mean_variance(value, decay, collections=None, name=None):
    """(mean, variance) that run after `value`, in variables of their own: tensors once updated."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        made = [
            variable_scope.get_variable(
                which,
                shape=value.shape,
                dtype=value.dtype.base_dtype,
                initializer=init_ops.Zeros(),
                trainable=False,
                collections=collections,
            )  # fmt: skip
            for which in ("moving_mean", "moving_variance")
        ]
        return assign_moving_mean_variance(*made, value, decay)
