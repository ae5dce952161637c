"""Recurrent networks that are unrolled as they are built: one copy of the cell for each step."""

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.rnn_cells import assert_like_rnncell, joined
from rheos.ops import array_ops, math_ops
from rheos.ops.rearrange_ops import reverse_sequence
from rheos.ops.variable_scope import variable_scope


def _fixed_batch(inputs):
    """The static size of the batch; ValueError if other dimensions are not known."""
    first = nest.flatten(inputs)[0]
    if first.shape.ndims == 1:
        return first.shape[0].value
    batch = first.shape.with_rank_at_least(2)[0]
    for tensor in nest.flatten(inputs):
        shape = tensor.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[0])
        for i, size in enumerate(shape[1:].as_list()):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {i} of inputs) must be accessible via shape "
                    "inference, but saw value None."
                )
    return batch.value


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """(outputs, state) of a cell that is applied to each of a list of inputs.

    inputs: tensors (batch, n), or structures of them. initial_state: zeros of `dtype` by default;
    ValueError if neither is given. sequence_length: (batch,), after which the outputs of an element
    are zeros and its state stays. scope: of the variables.
    """
    assert_like_rnncell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs = []
    with variable_scope(scope or "rnn") as varscope:
        if varscope.caching_device is None:
            # The variables are read on the device of the step, not where they are kept.
            varscope.set_caching_device("")
        fixed = _fixed_batch(inputs)
        batch_size = fixed or array_ops.shape(nest.flatten(inputs)[0])[0]
        if initial_state is not None:
            state = initial_state
        else:
            if not dtype:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            if hasattr(cell, "get_initial_state"):
                state = cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
            else:
                state = cell.zero_state(batch_size, dtype)
        step = None
        if sequence_length is not None:
            step = _Step(cell, sequence_length, state, dtype, batch_size, fixed)
        for time, input_ in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            output, new_state = cell(input_, state)
            if step is not None:
                output, new_state = step.held(time, output, state, new_state)
            state = new_state
            outputs.append(output)
        return outputs, state


class _Step:
    """What goes on from step to step where the elements of a batch have different lengths."""

    def __init__(self, cell, sequence_length, state, dtype, batch_size, fixed):
        length = convert_to_tensor(sequence_length, name="sequence_length")
        if length.shape.ndims not in (None, 1):
            raise ValueError("sequence_length must be a vector of length batch_size")
        dtype = dtype or nest.flatten(state)[0].dtype

        def zeros(size):
            result = array_ops.zeros(array_ops.stack(joined(batch_size, size)), dtype)
            result.set_shape(joined(fixed, size, static=True) if fixed else None)
            return result

        self._zero_output = nest.map_leaves(zeros, cell.output_size)
        self._length = math_ops.cast(length, dtypes.int32)

    def held(self, time, output, state, new_state):
        """Zeros and the old state for the elements that have ended."""
        ended = time >= self._length

        def choose(old, new):
            # A state that is no batch, such as a step counter, goes on.
            if new.shape.ndims == 0:
                return new
            result = array_ops.where(ended, old, new)
            result.set_shape(new.shape)
            return result

        nest.assert_same_structure(state, new_state)
        return (
            nest.map_structure(choose, self._zero_output, output),
            nest.map_structure(choose, state, new_state),
        )


def _reversed(inputs, lengths):
    """The inputs in the order from the end; of each element up to its length."""
    if lengths is None:
        return list(reversed(inputs))
    columns = [nest.flatten(x) for x in inputs]
    results = [[] for _ in inputs]
    for sequence in zip(*columns):
        shape = TensorShape(None)
        for tensor in sequence:
            shape = shape.merge_with(tensor.shape)
        joint = array_ops.stack(list(sequence))
        reverse = reverse_sequence(joint, lengths, seq_axis=0, batch_axis=1)
        for result, part in zip(results, array_ops.unstack(reverse)):
            part.set_shape(shape)
            result.append(part)
    return [nest.pack_sequence_as(x, parts) for x, parts in zip(inputs, results)]


def static_bidirectional_rnn(
    cell_fw,
    cell_bw,
    inputs,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
):
    """(outputs, state_fw, state_bw) of two cells, one from the start and one from the end.

    The outputs of both are joined along the last dimension. The variables are in the scopes fw and
    bw; the rest is as for static_rnn().
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            output_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw_scope
            )
        with variable_scope("bw") as bw_scope:
            backwards = _reversed(inputs, sequence_length)
            made, state_bw = static_rnn(
                cell_bw, backwards, initial_state_bw, dtype, sequence_length, scope=bw_scope
            )
    output_bw = _reversed(made, sequence_length)
    outputs = [
        nest.pack_sequence_as(
            fw,
            [array_ops.concat([f, b], 1) for f, b in zip(nest.flatten(fw), nest.flatten(bw))],
        )
        for fw, bw in zip(output_fw, output_bw)
    ]
    return outputs, state_fw, state_bw


def static_state_saving_rnn(
    cell, inputs, state_saver, state_name, sequence_length=None, scope=None
):
    """(outputs, state) as of static_rnn(), with states that an object keeps from run to run.

    state_saver: has state(name) and save_state(name, value). state_name: of the state, or a
    structure of names like the cell's.
    """
    if nest.is_nested(cell.state_size) != nest.is_nested(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size. state_name: "
            f"{state_name}, cell.state_size: {cell.state_size}"
        )
    names = nest.flatten(state_name)
    saved = [state_saver.state(name) for name in names]
    initial = nest.pack_sequence_as(cell.state_size, saved)
    outputs, state = static_rnn(cell, inputs, initial, sequence_length=sequence_length, scope=scope)
    parts = nest.flatten(state)
    saves = [state_saver.save_state(name, part) for name, part in zip(names, parts)]
    with control_dependencies(saves):
        last = [array_ops.identity(x) for x in nest.flatten(outputs[-1])]
    outputs[-1] = nest.pack_sequence_as(outputs[-1], last)
    return outputs, nest.pack_sequence_as(state, parts)


def transpose_batch_time(x):
    """Swaps the first two dimensions of a tensor; of less than two it is left as it is."""
    known = x.shape
    if known.ndims is not None and known.ndims < 2:
        raise ValueError(
            f"Expected input tensor {x} to have rank at least 2, but saw shape: {known}"
        )
    rank = array_ops.rank(x)
    order = array_ops.concat(([1, 0], math_ops.range(2, rank)), axis=0)
    result = array_ops.transpose(x, order)
    if known.ndims is not None:
        result.set_shape(TensorShape([known[1].value, known[0].value]).concatenate(known[2:]))
    return result


def best_effort_input_batch_size(flat_input):
    """The size of the batch of time-major inputs: a number if it is known, else a tensor."""
    for tensor in flat_input:
        shape = tensor.shape
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(
                f"Expected input tensor {tensor.name} to have rank at least 2. Instead saw shape: "
                f"{shape}"
            )
        if shape[1].value is not None:
            return shape[1].value
    return array_ops.shape(flat_input[0])[1]
