"""Jacobians and products with them, of what tapes remember."""

from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops


def jacobian_of(gradient, target, sources):
    """By element of `target` its gradients, stacked. gradient(weights): those of all sources."""
    target = convert_to_tensor(target)
    dims = target.shape.as_list()
    count = target.shape.num_elements()
    if count is None:
        raise ValueError(
            f"a jacobian needs the shape of the target to be known, which is {target.shape}"
        )
    if count == 0:
        parts = gradient(array_ops.zeros(dims, target.dtype))
        return [None if p is None else _none_of(dims, p) for p in parts]
    weights = array_ops.reshape(_identity(count, target.dtype), [count, *dims])
    rows = [gradient(weights[i]) for i in range(count)]
    return [_stack(parts, dims, source) for parts, source in zip(zip(*rows), sources)]


def batch_jacobian_of(gradient, target, source):
    """The same for each row of a batch by itself, of one source."""
    dims = target.shape.as_list()
    inner = 1
    for d in dims[1:]:
        inner *= d
    shape = [dims[0], *dims[1:], *source.shape.as_list()[1:]]
    if not inner or 0 in shape:
        return array_ops.zeros(shape, target.dtype)
    eye = _identity(inner, target.dtype)
    rows = []
    for i in range(inner):
        weights = array_ops.reshape(array_ops.tile(eye[i : i + 1], [dims[0], 1]), dims)
        rows.append(gradient(weights))
    if any(row is None for row in rows):
        return None
    stacked = array_ops.stack(rows, axis=1)
    return array_ops.reshape(stacked, shape)


def _identity(count, dtype):
    return array_ops.one_hot(list(range(count)), count, dtype=dtype)


def _none_of(dims, part):
    part = convert_to_tensor(part)
    return array_ops.zeros([*dims, *part.shape.as_list()], part.dtype)


def _stack(parts, dims, source):
    if any(part is None for part in parts):
        return None
    parts = [convert_to_tensor(part) for part in parts]
    return array_ops.reshape(array_ops.stack(parts), [*dims, *parts[0].shape.as_list()])
