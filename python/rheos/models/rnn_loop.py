"""Running a function over the steps of sequences: written out, or as a loop."""

from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops


def _time_first(x):
    return array_ops.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def _choose(mask, x, other):
    """x in the rows where a mask (batch, 1) is true, else another tensor."""
    rank = x.shape.ndims
    for _ in range(rank - mask.shape.ndims):
        mask = array_ops.expand_dims(mask, -1)
    return rearrange_ops.where_v2(mask, x, other)


def rnn(
    step_function,
    inputs,
    initial_states,
    go_backwards=False,
    mask=None,
    constants=None,
    unroll=False,
    input_length=None,
    time_major=False,
    zero_output_for_mask=False,
):
    """(last output, outputs of all steps, last states) of a function of (input, states).

    inputs: (batch, time, ...), or (time, batch, ...) if `time_major`. mask: (batch, time): where it
    is false, states and output stay as they were (zeros, if `zero_output_for_mask`).
    """
    constants = list(constants or ())
    if not time_major:
        inputs = _time_first(inputs)
    steps = inputs.shape.size_at(0)
    if mask is not None:
        if mask.dtype.base_dtype != "bool":
            mask = math_ops.cast(mask, "bool")
        if mask.shape.ndims == 2:
            mask = array_ops.expand_dims(mask, -1)
        if not time_major:
            mask = _time_first(mask)
    if go_backwards:
        inputs = rearrange_ops.reverse_v2(inputs, [0])
        mask = None if mask is None else rearrange_ops.reverse_v2(mask, [0])

    def run(x, states):
        output, after = step_function(x, [*states, *constants])
        return output, list(after)[: len(states)]

    if unroll:
        if not steps:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        last, outputs, states = _unrolled(
            run, inputs, list(initial_states), mask, steps, zero_output_for_mask
        )
    else:
        last, outputs, states = _looped(
            run, inputs, list(initial_states), mask, zero_output_for_mask
        )
    if not time_major:
        outputs = _time_first(outputs)
    return last, outputs, states


def _masked(is_seen, output, before, states, old, zero_output):
    before = array_ops.zeros_like(output) if zero_output or before is None else before
    output = _choose(is_seen, output, before)
    return output, [_choose(is_seen, new, kept) for new, kept in zip(states, old)]


def _unrolled(run, inputs, states, mask, steps, zero_output):
    rows = array_ops.unstack(inputs, num=steps)
    masks = None if mask is None else array_ops.unstack(mask, num=steps)
    outputs = []
    for i, x in enumerate(rows):
        output, after = run(x, states)
        if masks is not None:
            before = outputs[-1] if outputs else None
            output, after = _masked(masks[i], output, before, after, states, zero_output)
        states = after
        outputs.append(output)
    return outputs[-1], array_ops.stack(outputs), states


def _looped(run, inputs, states, mask, zero_output):
    count = array_ops.shape(inputs)[0]
    source = TensorArray(inputs.dtype, size=count, tensor_array_name="input_ta").unstack(inputs)
    masks = None
    if mask is not None:
        masks = TensorArray(mask.dtype, size=count, tensor_array_name="mask_ta").unstack(mask)
    # Outside of the loop once: what a step gives, and what it draws for all of them.
    first, _ = run(inputs[0], states)
    sink = TensorArray(first.dtype, size=count, tensor_array_name="output_ta")
    states = [convert_to_tensor(s) for s in states]
    start = [] if masks is None else [array_ops.zeros_like(first)]
    step_shape = inputs.shape[1:]

    def body(i, sink, before, states):
        x = source.read(i)
        x.set_shape(step_shape)
        output, after = run(x, states)
        if masks is not None:
            is_seen = masks.read(i)
            is_seen.set_shape(mask.shape[1:])
            output, after = _masked(is_seen, output, before[0], after, states, zero_output)
            before = [output]
        for new, old in zip(after, states):
            new.set_shape(old.shape)
        return i + 1, sink.write(i, output), before, after

    _, sink, _, states = control_flow_ops.while_loop(
        lambda i, *_: i < count,
        body,
        [convert_to_tensor(0), sink, start, states],
        parallel_iterations=32,
    )
    outputs = sink.stack()
    outputs.set_shape(inputs.shape[:1].concatenate(first.shape))
    last = sink.read(count - 1)
    last.set_shape(first.shape)
    return last, outputs, states
