"""Operations on variables' references."""

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import _VariableBase
from rheos.ops.array import array_ops


def _is_reference(ref):
    return ref.dtype._is_ref_dtype


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Sets a variable; gives its reference once it is set.

    >>> v = tf.Variable(1)
    >>> with tf.Session() as session:
    ...     session.run(v.initializer)
    ...     print(session.run(tf.assign(v, 5)))
    5
    """
    if not _is_reference(ref):
        return ref.assign(value, name=name)
    return op1(
        "Assign", name, ref, value, validate_shape=validate_shape, use_locking=_locking(use_locking)
    )


def assign_add(ref, value, use_locking=None, name=None):
    """Adds to a variable.

    >>> v = tf.Variable(1)
    >>> with tf.Session() as session:
    ...     session.run(v.initializer)
    ...     print(session.run(tf.assign_add(v, 5)))
    6
    """
    if not _is_reference(ref):
        return ref.assign_add(value)
    return op1("AssignAdd", name, ref, value, use_locking=use_locking)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts from a variable."""
    if not _is_reference(ref):
        return ref.assign_sub(value)
    return op1("AssignSub", name, ref, value, use_locking=use_locking)


def _locking(use_locking):
    return True if use_locking is None else use_locking


def is_variable_initialized(ref, name=None):
    """Whether the variable has a value in the session."""
    if not _is_reference(ref):
        return ref.is_initialized(name=name)
    return op1("IsVariableInitialized", name, ref)


def count_up_to(ref, limit, name=None):
    """Adds 1 to a variable and gives what it was; OutOfRangeError at the limit."""
    if not _is_reference(ref):
        return op1("ResourceCountUpTo", name, ref.handle, limit=limit, T=ref.dtype)
    return op1("CountUpTo", name, ref, limit=limit)


def _scatter(function_name, doc, locking):
    op_type = "".join(part.capitalize() for part in function_name.split("_"))

    def function(ref, indices, updates, use_locking=locking, name=None):
        if _is_reference(ref):
            return op1(op_type, name, ref, indices, updates, use_locking=use_locking)
        updates = convert_to_tensor(updates, ref.dtype)
        return ref._lazy_read(apply_op("Resource" + op_type, name, ref.handle, indices, updates))

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = doc
    return function


scatter_update = _scatter("scatter_update", "Sets rows of a variable.", True)
scatter_add = _scatter("scatter_add", "Adds to rows of a variable.", False)
scatter_sub = _scatter("scatter_sub", "Subtracts from rows of a variable.", False)
scatter_mul = _scatter("scatter_mul", "Multiplies rows of a variable.", False)
scatter_div = _scatter("scatter_div", "Divides rows of a variable.", False)
scatter_min = _scatter("scatter_min", "Lowers rows of a variable.", False)
scatter_max = _scatter("scatter_max", "Raises rows of a variable.", False)
scatter_nd_update = _scatter("scatter_nd_update", "Sets places of a variable.", True)
scatter_nd_add = _scatter("scatter_nd_add", "Adds at places of a variable.", False)
scatter_nd_sub = _scatter("scatter_nd_sub", "Subtracts at places of a variable.", False)


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Sets elements of a variable, each batch by its own indices.

    indices: (b0, .., bn, k) of places in dimension n + 1 of `ref`, of the batch of that place;
    ValueError if their rank is not known. updates: the shape of indices, then the other
    dimensions of `ref`.
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        sizes = array_ops.shape(indices)
        last = array_ops.expand_dims(indices, -1)
        places = []
        for d in range(rank - 1):
            row = op1("Range", None, 0, sizes[d], 1)
            row = array_ops.reshape(row, [sizes[d] if k == d else 1 for k in range(rank + 1)])
            if row.dtype != last.dtype:
                row = op1("Cast", None, row, DstT=last.dtype)
            places.append(row * array_ops.ones_like(last))
        places = array_ops.concat([*places, last], -1)
        return scatter_nd_update(ref, places, updates, use_locking=use_locking)


def is_reference(value):
    return isinstance(value, _VariableBase) or _is_reference(value)
