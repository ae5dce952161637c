"""Recurrent networks as loops over time: as many trips as the inputs have steps."""

from rheos.framework import dtypes, nest
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import colocate_with, control_dependencies, name_scope
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.layers.rnn import (
    Lengths,
    best_effort_input_batch_size,
    cache_reads,
    first_state,
    state_dtype,
    transpose_batch_time,
)
from rheos.layers.rnn_cells import assert_like_rnncell, joined
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.array.rearrange_ops import reverse_sequence
from rheos.ops.flow import control_flow_ops
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.state.variable_scope import variable_scope


def _static(size):
    return as_shape(constant_value(size)) if isinstance(size, Tensor) else size


def _checked_lengths(sequence_length, batch_size):
    """The lengths, which the step checks to be one for each element of the batch."""
    shape, expected = array_ops.shape(sequence_length), array_ops.stack([batch_size])
    equal = math_ops.reduce_all(math_ops.equal(shape, expected))
    said = f"Expected shape for Tensor {sequence_length.name} is "
    check = control_flow_ops.Assert(equal, [said, expected, " but saw shape: ", shape])
    with control_dependencies([check]):
        return array_ops.identity(sequence_length, name="CheckSeqLen")


def dynamic_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
):
    """(outputs, state) of a cell that is applied to each step of the inputs, in a loop.

    inputs: (batch, time, ...), with time_major (time, batch, ...), or a structure of such; the
    outputs are like them. sequence_length: (batch,), after which the outputs of an element are
    zeros and its state stays. initial_state: zeros of `dtype` by default; ValueError if neither is
    given, or if the inputs' sizes behind batch and time are not known. scope: of the variables.

    >>> cell = tf.nn.rnn_cell.LSTMCell(4)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 7, 3]), dtype=tf.float32)
    >>> print(outputs.shape, state[1].shape)
    (2, 7, 4) (2, 4)
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as varscope:
        cache_reads(varscope)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [convert_to_tensor(x) for x in flat]
            flat = [transpose_batch_time(x) for x in flat]
        if sequence_length is not None:
            sequence_length = math_ops.cast(sequence_length, dtypes.int32)
            if sequence_length.shape.ndims not in (None, 1):
                raise ValueError(
                    "sequence_length must be a vector of length batch_size, but saw shape: "
                    f"{sequence_length.shape}"
                )
            sequence_length = array_ops.identity(sequence_length, name="sequence_length")
        batch_size = best_effort_input_batch_size(flat)
        missing = "If there is no initial_state, you must give a dtype."
        state = first_state(cell, initial_state, batch_size, dtype, missing)
        if sequence_length is not None:
            sequence_length = _checked_lengths(sequence_length, batch_size)
        loop = _Loop(cell, nest.pack_sequence_as(inputs, flat), state, sequence_length, dtype)
        outputs, last = loop.run(parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = nest.map_leaves(transpose_batch_time, outputs)
        return outputs, last


class _Loop:
    """The loop of dynamic_rnn() over inputs (time, batch, ...)."""

    def __init__(self, cell, inputs, state, sequence_length, dtype):
        self._cell, self._inputs, self._state, self._dtype = cell, inputs, state, dtype
        flat = nest.flatten(inputs)
        self._sizes = nest.flatten(cell.output_size)
        self._time_steps = array_ops.shape(flat[0])[0]
        batch_size = best_effort_input_batch_size(flat)
        self._known = self._check_shapes(flat)
        kind = state_dtype(dtype, state)
        zeros = [array_ops.zeros(joined(batch_size, size), kind) for size in self._sizes]
        self._zero_output = nest.pack_sequence_as(cell.output_size, zeros)
        self._lengths = None
        if sequence_length is not None:
            self._lengths = Lengths(sequence_length)

    def _check_shapes(self, flat):
        """The static time and batch."""
        self._shapes = shapes = [x.shape.with_rank_at_least(3) for x in flat]
        known = shapes[0].as_list()[:2]
        for shape in shapes:
            if not shape[2:].is_fully_defined():
                raise ValueError(
                    "Input size (depth of inputs) must be accessible via shape inference, but "
                    "saw value None."
                )
            for what, size, expected in zip(("Time steps", "Batch_size"), shape, known):
                if getattr(size, "value", size) != expected:
                    raise ValueError(
                        f"{what} is not the same for all the elements in the input: "
                        f"{size} and {expected}."
                    )
        return known

    def _arrays(self):
        """(time, arrays of outputs, arrays of inputs)."""
        time = constant(0, dtype=dtypes.int32, name="time")
        with name_scope("dynamic_rnn") as base_name:
            pass
        batch = TensorShape(self._known[1:])

        def array(name, shape, dtype):
            return TensorArray(
                dtype=dtype,
                size=self._time_steps,
                element_shape=shape,
                tensor_array_name=base_name + name,
            )

        outputs = tuple(
            array(
                f"output_{i}",
                batch.concatenate(_static(size)),
                state_dtype(self._dtype, self._state),
            )
            for i, size in enumerate(self._sizes)
        )
        flat = nest.flatten(self._inputs)
        inputs = [array(f"input_{i}", x.shape[1:], x.dtype) for i, x in enumerate(flat)]
        return time, outputs, [ta.unstack(x) for ta, x in zip(inputs, flat)]

    def run(self, parallel_iterations, swap_memory):
        """(outputs, state), the outputs (time, batch, ...)."""
        time, outputs, inputs = self._arrays()

        def body(time, outputs, state):
            now = [array.read(time) for array in inputs]
            for x, shape in zip(now, self._shapes):
                x.set_shape(shape[1:])
            now = nest.pack_sequence_as(self._inputs, now)
            if self._lengths is None:
                output, new_state = self._cell(now, state)
            else:
                output, new_state = self._lengths.step(
                    time, self._zero_output, state, lambda: self._cell(now, state), False
                )
            written = zip(outputs, nest.flatten(output))
            outputs = tuple([array.write(time, x) for array, x in written])
            return time + 1, outputs, new_state

        steps = self._time_steps if self._lengths is None else self._lengths.most
        bound = math_ops.minimum(self._time_steps, math_ops.maximum(1, steps))
        _, arrays, state = control_flow_ops.while_loop(
            cond=lambda time, *_: time < bound,
            body=body,
            loop_vars=(time, outputs, self._state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self._time_steps,
            swap_memory=swap_memory,
        )
        made = [array.stack() for array in arrays]
        for x, size in zip(made, self._sizes):
            x.set_shape(joined(self._known, size, static=True))
        return nest.pack_sequence_as(self._cell.output_size, made), state


def bidirectional_dynamic_rnn(
    cell_fw,
    cell_bw,
    inputs,
    sequence_length=None,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
):
    """((outputs_fw, outputs_bw), (state_fw, state_bw)) of two cells, from the start and the end.

    The variables are in the scopes fw and bw; the rest is as for dynamic_rnn().
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    axes = {"seq_axis": 0, "batch_axis": 1} if time_major else {"seq_axis": 1, "batch_axis": 0}
    options = {
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }

    def backwards(x):
        if sequence_length is None:
            return array_ops.reverse(x, axis=[axes["seq_axis"]])
        return reverse_sequence(x, seq_lengths=sequence_length, **axes)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, scope=fw_scope, **options
            )
        with variable_scope("bw") as bw_scope:
            turned = nest.map_leaves(backwards, inputs)
            made, state_bw = dynamic_rnn(
                cell_bw, turned, sequence_length, initial_state_bw, scope=bw_scope, **options
            )
    return (output_fw, nest.map_leaves(backwards, made)), (state_fw, state_bw)


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """(arrays of what was emitted, state, loop state) of a loop that a function steers.

    loop_fn: a function of (time, cell_output, cell_state, loop_state) that gives
    (elements_finished, next_input, next_cell_state, emit_output, next_loop_state). It is called
    once before the loop, with time 0 and None for the rest, where emit_output may be None (like the
    cell's output) or zeros of its structure; and in the loop after each call of the cell.
    elements_finished: booleans (batch,); the loop ends when all are True. TypeError unless loop_fn
    is callable.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as varscope:
        cache_reads(varscope)
        time = constant(0, dtype=dtypes.int32)
        finished, next_input, state, emitted, given_loop_state = loop_fn(time, None, None, None)
        flat_input = nest.flatten(next_input)
        loop_state = given_loop_state
        if loop_state is None:
            loop_state = constant(0, dtype=dtypes.int32)
        batch_size = flat_input[0].shape.dimension_at(0)
        for x in flat_input:
            batch_size.merge_with(x.shape[0])
        known = batch_size.value
        batch_size = array_ops.shape(flat_input[0])[0] if known is None else known
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [convert_to_tensor(part) for part in nest.flatten(state)]
        state = nest.pack_sequence_as(state, flat_state)
        arrays, zeros = _to_emit(cell, emitted, flat_state[0].dtype, batch_size, known)
        returned = control_flow_ops.while_loop(
            lambda time, finished, *_: math_ops.logical_not(math_ops.reduce_all(finished)),
            _raw_body(cell, loop_fn, zeros),
            loop_vars=[time, finished, next_input, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        arrays, state, loop_state = returned[-3:]
        return arrays, state, None if given_loop_state is None else loop_state


def _to_emit(cell, emitted, dtype, batch_size, known_batch_size):
    """Arrays for what is emitted, and the zeros that stand for it where an element has ended."""
    if emitted is None:
        emitted = cell.output_size
        sizes = nest.flatten(emitted)
        kinds = [dtype] * len(sizes)
    else:
        flat = nest.flatten(emitted)
        sizes = [x.shape if x.shape.is_fully_defined() else array_ops.shape(x) for x in flat]
        kinds = [x.dtype for x in flat]
    batch = TensorShape([known_batch_size])
    arrays = [
        TensorArray(
            dtype=kind,
            dynamic_size=True,
            element_shape=batch.concatenate(_static(size)),
            size=0,
            name=f"rnn_output_{i}",
        )
        for i, (kind, size) in enumerate(zip(kinds, sizes))
    ]
    zeros = [array_ops.zeros(joined(batch_size, size), kind) for size, kind in zip(sizes, kinds)]
    return nest.pack_sequence_as(emitted, arrays), nest.pack_sequence_as(emitted, zeros)


def _raw_body(cell, loop_fn, zeros):
    """The body of raw_rnn()'s loop."""

    def body(time, finished, current_input, arrays, state, loop_state):
        output, cell_state = cell(current_input, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(cell.output_size, output)
        next_time = time + 1
        next_finished, next_input, next_state, emitted, next_loop_state = loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(current_input, next_input)
        nest.assert_same_structure(arrays, emitted)

        def unless_finished(old, new):
            if isinstance(old, TensorArray) or old.shape.ndims == 0:
                return new
            with colocate_with(new):
                return array_ops.where(finished, old, new)

        emitted = nest.map_structure(unless_finished, zeros, emitted)
        next_state = nest.map_structure(unless_finished, state, next_state)
        arrays = nest.map_structure(lambda array, x: array.write(time, x), arrays, emitted)
        finished = math_ops.logical_or(finished, next_finished)
        if next_loop_state is None:
            next_loop_state = loop_state
        return next_time, finished, next_input, arrays, next_state, next_loop_state

    return body
