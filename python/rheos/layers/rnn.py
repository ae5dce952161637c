"""Recurrent networks that are unrolled as they are built: one copy of the cell for each step."""

import functools

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.rnn_cells import assert_like_rnncell, joined
from rheos.ops.array import array_ops
from rheos.ops.array.rearrange_ops import reverse_sequence
from rheos.ops.flow.control_flow_ops import cond
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.state.variable_scope import variable_scope


def _fixed_batch(inputs):
    """The static size of the batch; ValueError if other dimensions are not known."""
    first = nest.flatten(inputs)[0]
    if first.shape.ndims == 1:
        return first.shape.size_at(0)
    batch = first.shape.with_rank_at_least(2).dimension_at(0)
    for tensor in nest.flatten(inputs):
        shape = tensor.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape.dimension_at(0))
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
        cache_reads(varscope)
        fixed = _fixed_batch(inputs)
        batch_size = fixed or array_ops.shape(nest.flatten(inputs)[0])[0]
        missing = "If no initial_state is provided, dtype must be specified"
        state = first_state(cell, initial_state, batch_size, dtype, missing)
        lengths = None
        if sequence_length is not None:
            lengths = convert_to_tensor(sequence_length, name="sequence_length")
            if lengths.shape.ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")
            zeros = _zero_outputs(cell, batch_size, fixed, state_dtype(dtype, state))
            lengths = Lengths(math_ops.cast(lengths, dtypes.int32))
        for time, input_ in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            if lengths is None:
                output, state = cell(input_, state)
            else:
                call_cell = functools.partial(cell, input_, state)
                output, state = lengths.step(time, zeros, state, call_cell)
            outputs.append(output)
        return outputs, state


class Lengths:
    """The lengths of the elements of a batch, after which they stay as they are.

    least, most: of the lengths.
    """

    def __init__(self, lengths):
        self.lengths = lengths
        self.least = math_ops.reduce_min(lengths)
        self.most = math_ops.reduce_max(lengths)

    def step(self, time, zero_output, state, call_cell, in_branches=True):
        """(output, new state) of a step: zeros and the old state for the elements that have ended.

        in_branches: whether what no element needs is not computed.
        """
        flat_zeros, flat_state = nest.flatten(zero_output), nest.flatten(state)
        ended = time >= self.lengths

        def called():
            output, new_state = call_cell()
            nest.assert_same_structure(zero_output, output)
            nest.assert_same_structure(state, new_state)
            return nest.flatten(output) + nest.flatten(new_state)

        def held(made):
            return [_unless(ended, old, new) for old, new in zip(flat_zeros + flat_state, made)]

        def called_or_held():
            made = called()
            return cond(time < self.least, lambda: made, lambda: held(made))

        if in_branches:
            result = cond(time >= self.most, lambda: flat_zeros + flat_state, called_or_held)
        else:
            result = held(called())
        for new, old in zip(result, flat_zeros + flat_state):
            if not isinstance(new, TensorArray):
                new.set_shape(old.shape)
        count = len(flat_zeros)
        return (
            nest.pack_sequence_as(zero_output, result[:count]),
            nest.pack_sequence_as(state, result[count:]),
        )


def _unless(ended, old, new):
    """`old` where an element has ended; an array, or what is no batch, goes on."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with colocate_with(new):
        return array_ops.where(ended, old, new)


def state_dtype(dtype, state):
    """`dtype`, or that of all parts of a state; ValueError if they differ."""
    if dtype is not None:
        return dtype
    kinds = {part.dtype for part in nest.flatten(state)}
    if not kinds:
        raise ValueError("Unable to infer dtype from empty state.")
    if len(kinds) > 1:
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return kinds.pop()


def cache_reads(varscope):
    """Has variables of a scope read once on the device of who reads, unless that is in a loop."""
    context = get_default_graph()._get_control_flow_context()
    in_loop = context is not None and context.GetWhileContext() is not None
    if varscope.caching_device is None and not in_loop:
        varscope.set_caching_device("")


def first_state(cell, initial_state, batch_size, dtype, missing):
    """The state to start with: the one given, or zeros; ValueError(missing) without a dtype."""
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise ValueError(missing)
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _zero_outputs(cell, batch_size, fixed, dtype):
    def zeros(size):
        result = array_ops.zeros(array_ops.stack(joined(batch_size, size)), dtype)
        result.set_shape(joined(fixed, size, static=True))
        return result

    return nest.map_leaves(zeros, cell.output_size)


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
        return x
    rank = array_ops.rank(x)
    order = array_ops.concat(([1, 0], math_ops.range(2, rank)), axis=0)
    result = array_ops.transpose(x, order)
    if known.ndims is not None:
        result.set_shape(TensorShape([known.size_at(1), known.size_at(0)]).concatenate(known[2:]))
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
        if shape.size_at(1) is not None:
            return shape.size_at(1)
    return array_ops.shape(flat_input[0])[1]
