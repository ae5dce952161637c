"""Whether gradients are those that differences give: what programs test their own ops with."""

import numpy as _np

from rheos.framework.conversion import convert_to_tensor as _convert_to_tensor
from rheos.framework.defaults import get_default_session as _get_default_session
from rheos.framework.eager import executing_eagerly as _executing_eagerly
from rheos.ops.array.array_ops import placeholder as _placeholder
from rheos.ops.differentiation.gradient_tape import GradientTape as _GradientTape
from rheos.ops.differentiation.gradients import gradients as _gradients


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


def _columns(gradient, at, y_shape, y_dtype):
    """The Jacobian, of a row for each part of x, by gradient(weights of y) as an array or None."""
    one = _np.zeros(y_shape, y_dtype)
    parts = _parts(one.reshape(-1))
    jacobian = _np.zeros((_parts(at).size, parts.size))
    for k in range(parts.size):
        parts[k] = 1
        got = gradient(one)
        parts[k] = 0
        if got is None:
            continue
        if hasattr(got, "indices"):  # of rows: those of one index add up
            dense = _np.zeros(at.shape, at.dtype)
            _np.add.at(dense, got.indices, got.values)
            got = dense
        jacobian[:, k] = _parts(_np.asarray(got, at.dtype))
    return jacobian


def _by_gradients(x, at, y, y_shape, feeds):
    session = _get_default_session()
    weights = _placeholder(y.dtype, y_shape)
    grad = _gradients(y, x, weights)[0]

    def gradient(one):
        return None if grad is None else session.run(grad, {**feeds, x: at, weights: one})

    return _columns(gradient, at, y_shape, y.dtype.base_dtype.as_numpy_dtype)


def _rows(value, at, num_parts, delta):
    """The Jacobian by differences of value(x), which gives the parts of y."""
    parts = _parts(at.copy())
    jacobian = _np.zeros((parts.size, num_parts))
    for i in range(parts.size):
        up, down = parts.copy(), parts.copy()
        up[i] += delta
        down[i] -= delta
        sides = [value(moved.view(at.dtype).reshape(at.shape)) for moved in (up, down)]
        jacobian[i] = (sides[0].astype(float) - sides[1].astype(float)) / (2 * delta)
    return jacobian


def _by_differences(x, at, y, y_shape, delta, feeds):
    session = _get_default_session()
    num_parts = _parts(_np.zeros(y_shape, y.dtype.base_dtype.as_numpy_dtype)).size
    return _rows(lambda moved: _parts(session.run(y, {**feeds, x: moved})), at, num_parts, delta)


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


def compute_gradient_in_parts(f, x, delta=1e-3):
    """(by gradients, by differences): tuples of Jacobians of f at x, for each argument.

    A row for each element of the argument, a column for each of the result; a complex element has
    two. In a graph f runs in the default session. f: a function of tensors. x: a list of them.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor")
    tensors = [_convert_to_tensor(a) for a in x]
    pairs = (_parts_at_once if _executing_eagerly() else _parts_in_graph)(f, tensors, delta)
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def _parts_in_graph(f, tensors, delta):
    session = _get_default_session()
    values = [_np.array(session.run(tensor)) for tensor in tensors]
    places = [_placeholder(t.dtype.base_dtype, t.shape) for t in tensors]
    y = f(*places)
    feeds = dict(zip(places, values))
    y_shape = session.run(y, feeds).shape
    return [
        (
            _by_gradients(place, at, y, y_shape, feeds),
            _by_differences(place, at, y, y_shape, delta, feeds),
        )
        for place, at in zip(places, values)
    ]


def _parts_at_once(f, tensors, delta):
    with _GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        y = f(*tensors)
    y_shape, y_dtype = y.numpy().shape, y.dtype.base_dtype.as_numpy_dtype
    num_parts = _parts(y.numpy()).size

    def pair(k):
        at = _np.array(tensors[k].numpy())

        def gradient(one):
            got = tape.gradient(y, tensors[k], output_gradients=_convert_to_tensor(one))
            return None if got is None else _convert_to_tensor(got).numpy()

        def value(moved):
            return _parts(f(*tensors[:k], _convert_to_tensor(moved), *tensors[k + 1 :]).numpy())

        return _columns(gradient, at, y_shape, y_dtype), _rows(value, at, num_parts, delta)

    return [pair(k) for k in range(len(tensors))]


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
