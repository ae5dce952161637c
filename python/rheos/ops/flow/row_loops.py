"""What a function makes of each number below a count, stacked, and jacobians in graphs by it."""

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.differentiation.gradients import gradients
from rheos.ops.differentiation.jacobians import batch_jacobian_of, jacobian_of
from rheos.ops.flow import control_flow_ops
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import check_ops


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """The results of loop_fn(i) for each i below `iters`, stacked, in the structure of the dtypes.

    loop_fn: takes an int32 scalar and gives tensors of the same shapes in each trip, or None.
    """
    dtypes = nest.flatten(loop_fn_dtypes)
    is_none, shapes = [False] * len(dtypes), [None] * len(dtypes)

    def body(i, *arrays):
        made = nest.flatten(loop_fn(i))
        if len(made) != len(dtypes):
            raise ValueError(
                f"Number of expected outputs, {len(dtypes)}, does not match the number of actual "
                f"outputs, {len(made)}, from loop_fn"
            )
        written = []
        for k, (value, array) in enumerate(zip(made, arrays)):
            is_none[k] = value is None
            if value is not None:
                value = convert_to_tensor(value)
                shapes[k] = value.shape
                array = array.write(i, value)
            written.append(array)
        return (i + 1, *written)

    arrays = [TensorArray(dtype.base_dtype, iters) for dtype in dtypes]
    options = {} if parallel_iterations is None else {"parallel_iterations": parallel_iterations}
    filled = control_flow_ops.while_loop(
        lambda i, *_: i < iters, body, [convert_to_tensor(0), *arrays], **options
    )[1:]
    known = None if isinstance(iters, Tensor) else int(iters)
    results = []
    for array, none, shape in zip(filled, is_none, shapes):
        result = None if none else array.stack()
        if result is not None and not result._is_eager:
            result.set_shape(TensorShape([known]).concatenate(shape))
        results.append(result)
    return nest.pack_sequence_as(loop_fn_dtypes, results)


def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """The gradients of each element of `output` with respect to `inputs`, in their structure.

    Each has the shape of `output` and then that of the input; None where no path leads there.
    """
    flat = nest.flatten(inputs)
    if output.shape.num_elements() is not None:
        made = jacobian_of(lambda weights: gradients(output, flat, weights), output, flat)
        return nest.pack_sequence_as(inputs, made)
    whole = array_ops.shape(output)
    elements = array_ops.reshape(output, [-1])
    rows = for_loop(
        lambda i: gradients(array_ops.gather(elements, i), flat),
        [source.dtype for source in flat],
        array_ops.size(output),
        parallel_iterations,
    )
    made = []
    for row, source in zip(rows, flat):
        if row is not None:
            row = array_ops.reshape(row, array_ops.concat([whole, array_ops.shape(row)[1:]], 0))
            row.set_shape(output.shape.concatenate(source.shape))
        made.append(row)
    return nest.pack_sequence_as(inputs, made)


def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """The jacobian of each row of `output` with respect to the same row of `inp`, stacked.

    [b, y...] and [b, x...] give [b, y..., x...]; ValueError for batches of other sizes.
    """
    known = output.shape[:1].is_compatible_with(inp.shape[:1])
    if not known:
        raise ValueError(
            f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) "
            "to match."
        )
    if output.shape.is_fully_defined() and inp.shape.is_fully_defined():
        return batch_jacobian_of(lambda weights: gradients(output, inp, weights)[0], output, inp)
    shape, inp_shape = array_ops.shape(output), array_ops.shape(inp)
    count = array_ops.size(output) // shape[0]
    with control_dependencies([check_ops.assert_equal(shape[0], inp_shape[0])]):
        rows = array_ops.reshape(output, array_ops.stack([shape[0], count]))
    found = for_loop(
        lambda i: gradients(array_ops.gather(rows, i, axis=1), inp)[0],
        output.dtype,
        count,
        parallel_iterations,
    )
    if found is None:
        return None
    found = array_ops.reshape(found, array_ops.stack([count, shape[0], -1]))
    found = array_ops.transpose(found, [1, 0, 2])
    return array_ops.reshape(found, array_ops.concat([shape, inp_shape[1:]], axis=0))
