"""Sets in the last dimension of tensors, dense or sparse."""

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1, op_list
from rheos.framework.sparse_tensor import SparseTensor, is_sparse


def _operand(value, name):
    if is_sparse(value):
        return SparseTensor.from_value(value)
    return convert_to_tensor(value, name=name)


def _parts(value):
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value]


def set_size(a, validate_indices=True):
    """How many different elements each set of a SparseTensor has, int32; no last dimension."""
    if not is_sparse(a):
        raise TypeError("Expected `SparseTensor`, got %s." % a)
    parts = _parts(_operand(a, "a"))
    return op1("SetSize", None, *parts, validate_indices=validate_indices)


def _combine(a, b, operation, validate_indices, turned=None):
    a, b = _operand(a, "a"), _operand(b, "b")
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError("Types don't match, %s vs %s." % (a.dtype, b.dtype))
    kinds = isinstance(a, SparseTensor), isinstance(b, SparseTensor)
    if kinds == (True, False):
        a, b, operation, kinds = b, a, turned or operation, (False, True)
    kind = {
        (True, True): "SparseToSparseSetOperation",
        (False, True): "DenseToSparseSetOperation",
        (False, False): "DenseToDenseSetOperation",
    }[kinds]
    outputs = op_list(
        kind, None, *_parts(a), *_parts(b), set_operation=operation,
        validate_indices=validate_indices,
    )  # fmt: skip
    return SparseTensor(*outputs)


def set_intersection(a, b, validate_indices=True):
    """The elements that are in both sets, for each set in the last dimension: a SparseTensor.

    a, b: tensors or SparseTensors whose other dimensions agree.
    """
    return _combine(a, b, "intersection", validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    """The elements of `a` that are not in `b`, or the other way round unless `aminusb`."""
    names = ("a-b", "b-a") if aminusb else ("b-a", "a-b")
    return _combine(a, b, names[0], validate_indices, names[1])


def set_union(a, b, validate_indices=True):
    """The elements that are in either set."""
    return _combine(a, b, "union", validate_indices)
