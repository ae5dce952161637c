"""Whether gradients are those that differences give: what programs test their own ops with."""

import numpy as _np

from rheos.framework.conversion import convert_to_tensor as _convert_to_tensor
from rheos.framework.defaults import get_default_session as _get_default_session
from rheos.ops.array_ops import placeholder as _placeholder
from rheos.ops.gradient_tape import GradientTape as _GradientTape
from rheos.ops.gradients import gradients as _gradients


def _parts(array):
    """The elements of an array as a vector of real numbers, real and imaginary parts in turn."""
    array = _np.ascontiguousarray(array).ravel()
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array


def _start_of(tensor, shape, given):
    """The value of x to differentiate at, as a new array."""
    dtype = tensor.dtype.base_dtype.as_numpy_dtype
    if given is not None:
        return _np.array(given, dtype=dtype).reshape(shape)
    value = _np.random.random_sample(shape)
    if tensor.dtype.base_dtype.is_complex:
        value = value + 1j * _np.random.random_sample(shape)
    return _np.asarray(value).astype(dtype)


def _by_gradients(x, at, y, y_shape, feeds):
    session = _get_default_session()
    weights = _placeholder(y.dtype, y_shape)
    grad = _gradients(y, x, weights)[0]
    y_dtype = y.dtype.base_dtype.as_numpy_dtype
    num_parts = _parts(_np.zeros(y_shape, y_dtype)).size
    jacobian = _np.zeros((_parts(at).size, num_parts))
    for k in range(num_parts):
        one = _np.zeros(y_shape, y_dtype)
        flat = one.reshape(-1)
        _parts(flat)[k] = 1
        if grad is None:
            continue
        got = session.run(grad, {**feeds, x: at, weights: one})
        if hasattr(got, "indices"):  # of rows: those of one index add up
            dense = _np.zeros(at.shape, at.dtype)
            _np.add.at(dense, got.indices, got.values)
            got = dense
        jacobian[:, k] = _parts(_np.asarray(got, at.dtype))
    return jacobian


def _by_differences(x, at, y, y_shape, delta, feeds):
    session = _get_default_session()
    y_dtype = y.dtype.base_dtype.as_numpy_dtype
    num_parts = _parts(_np.zeros(y_shape, y_dtype)).size
    parts = _parts(at.copy())
    jacobian = _np.zeros((parts.size, num_parts))

    def value(moved):
        return _parts(session.run(y, {**feeds, x: moved.view(at.dtype).reshape(at.shape)}))

    for i in range(parts.size):
        up, down = parts.copy(), parts.copy()
        up[i] += delta
        down[i] -= delta
        jacobian[i] = (value(up).astype(float) - value(down).astype(float)) / (2 * delta)
    return jacobian


def compute_gradient(
    x,
    x_shape,
    y,
    y_shape,
    x_init_value=None,
    delta=1e-3,
    init_targets=None,
    extra_feed_dict=None,
):
    """The Jacobian of y by x, by gradients and by differences, in the default session.

    Both are arrays of one row for each element of x and one column for each of y; a complex element
    has two. x, x_shape, x_init_value: also lists, for a list of such pairs. x_init_value: where to
    differentiate (None: at random). delta: half of the distance of a difference. init_targets:
    operations to run before. extra_feed_dict: values of other tensors.
    """
    for target in init_targets or ():
        target.run()
    many = isinstance(x, list)
    if not many:
        x, x_shape, x_init_value = [x], [x_shape], [x_init_value]
    feeds = dict(extra_feed_dict or {})
    result = []
    for tensor, shape, given in zip(x, x_shape, x_init_value or [None] * len(x)):
        tensor = _convert_to_tensor(tensor)
        at = _start_of(tensor, shape, given)
        result.append(
            (
                _by_gradients(tensor, at, y, y_shape, feeds),
                _by_differences(tensor, at, y, y_shape, delta, feeds),
            )
        )
    return result if many else result[0]


def compute_gradient_error(
    x,
    x_shape,
    y,
    y_shape,
    x_init_value=None,
    delta=1e-3,
    init_targets=None,
    extra_feed_dict=None,
):
    """The largest difference between the two Jacobians of compute_gradient(), over all x."""
    pairs = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    errors = [
        float(_np.abs(analytic - numeric).max()) if analytic.size else 0.0
        for analytic, numeric in (pairs if isinstance(x, list) else [pairs])
    ]
    return max(errors)


def compute_gradient_of_function(f, x, delta=1e-3):
    """(by tapes, by differences): tuples of the Jacobians of f at x, a matrix for each argument.

    f: a function of tensors that gives one tensor. x: a list of its arguments, numbers of real
    floating dtypes. delta: how far the differences go to each side.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor")
    at = [_convert_to_tensor(a) for a in x]
    for argument in at:
        if not argument.dtype.is_floating:
            raise ValueError(f"Jacobians are of real floating arguments, not of {argument.dtype}")
    with _GradientTape(persistent=True) as tape:
        tape.watch(at)
        y = f(*at)
    size = int(_np.prod(y.shape.as_list()))
    found = [
        _np.zeros((size, _np.size(a.numpy())), a.dtype.as_numpy_dtype)
        if jacobian is None
        else _convert_to_tensor(jacobian).numpy().reshape(size, -1)
        for a, jacobian in zip(at, tape.jacobian(y, at))
    ]
    return tuple(found), tuple(_by_steps(f, at, i, delta) for i in range(len(at)))


def _by_steps(f, at, place, delta):
    value = _np.array(at[place].numpy())
    columns = []
    for k in range(value.size):
        sides = []
        for step in (delta, -delta):
            moved = value.copy()
            moved.reshape(-1)[k] += step
            sides.append(f(*at[:place], _convert_to_tensor(moved), *at[place + 1 :]).numpy())
        columns.append((sides[0] - sides[1]).reshape(-1) / (2 * delta))
    return _np.stack(columns, 1) if columns else _np.zeros((0, 0), value.dtype)
