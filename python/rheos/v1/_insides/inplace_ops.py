"""Tensors with some of their rows changed: tensorflow.python.ops.inplace_ops.

The `alias` functions may change the tensor that they are given; the others work on a copy.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops


def empty(shape, dtype, init=False, name=None):
    """A tensor of this shape: of zeros with `init`, else of whatever its memory holds."""
    return op1("Empty", name, shape, dtype=dtypes.as_dtype(dtype), init=init)


def empty_like(x, init=None):
    """empty() of the shape and dtype of a tensor."""
    x = convert_to_tensor(x, name="x")
    return empty(array_ops.shape(x), x.dtype, init=bool(init))


def _change(op_type, x, i, v):
    x = convert_to_tensor(x, name="x")
    v = convert_to_tensor(v, x.dtype, name="v")
    if i is None:  # all of it
        changed = op1(op_type, None, array_ops.reshape(x, [1, -1]), [0],
                      array_ops.reshape(v, [1, -1]))  # fmt: skip
        return array_ops.reshape(changed, array_ops.shape(x))
    i = convert_to_tensor(i, dtypes.int32, name="i")
    if i.shape.ndims == 0:  # one row
        i, v = array_ops.reshape(i, [1]), array_ops.expand_dims(v, 0)
    return op1(op_type, None, x, i, v)


def _copied(x):
    return op1("DeepCopy", None, x)


def alias_inplace_update(x, i, v):
    """x with x[i, :] set to v; the whole of it for `i` None. `i` is a scalar or a vector."""
    return _change("InplaceUpdate", x, i, v)


def alias_inplace_add(x, i, v):
    """x with v added to x[i, :]: see alias_inplace_update()."""
    return _change("InplaceAdd", x, i, v)


def alias_inplace_sub(x, i, v):
    """x with v taken from x[i, :]: see alias_inplace_update()."""
    return _change("InplaceSub", x, i, v)


def inplace_update(x, i, v):
    """A copy of x with x[i, :] set to v: see alias_inplace_update()."""
    return alias_inplace_update(_copied(x), i, v)


def inplace_add(x, i, v):
    """A copy of x with v added to x[i, :]."""
    return alias_inplace_add(_copied(x), i, v)


def inplace_sub(x, i, v):
    """A copy of x with v taken from x[i, :]."""
    return alias_inplace_sub(_copied(x), i, v)
