"""Decoders of tf.contrib.seq2seq: what they are, and the loop that they run in."""

import abc
import collections

from rheos.contrib.decoding_helpers import Helper
from rheos.framework import dtypes, nest
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.layers import base
from rheos.layers.rnn import cache_reads, transpose_batch_time
from rheos.layers.rnn_cells import assert_like_rnncell, zero_tensors
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow.control_flow_ops import while_loop
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.state.variable_scope import variable_scope


class Decoder(abc.ABC):
    """What makes outputs step by step: see dynamic_decode().

    The inputs, states and outputs are tensors of a batch, or structures of such.
    """

    @property
    def batch_size(self):
        """The size of the batch, an int32 scalar."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The sizes of the outputs without the batch, in their structure."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The dtypes of the outputs, in their structure."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs, first state); finished: booleans (batch,)."""

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """(outputs, next state, next inputs, finished) of a step; time: an int32 scalar."""

    def finalize(self, outputs, final_state, sequence_lengths):
        """(outputs, final state) after the loop, where a decoder changes them."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether `finished` is as step() says, so that what has finished can go on again."""
        return False


class DecoderLayerOutput:
    """The sizes of the outputs of a cell behind an output layer."""

    def __init__(self, cell, output_layer):
        assert_like_rnncell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, base.Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell = cell
        self._output_layer = output_layer

    def _rnn_output_size(self):
        size = self._cell.output_size
        if self._output_layer is None:
            return size
        batch = TensorShape([None])
        shapes = nest.map_leaves(batch.concatenate, size)
        shapes = self._output_layer.compute_output_shape(shapes)
        return nest.map_leaves(lambda shape: shape[1:], shapes)


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What a BasicDecoder makes: the outputs of the cell, and what the helper chose of them."""


class BasicDecoder(DecoderLayerOutput, Decoder):
    """A cell whose inputs come from a helper.

    initial_state: of the cell. output_layer: what the outputs go through, such as a Dense layer to
    logits. TypeError unless the helper is a Helper and the layer a Layer.
    """

    def __init__(self, cell, helper, initial_state, output_layer=None):
        super().__init__(cell, output_layer)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        self._helper = helper
        self._initial_state = initial_state

    @property
    def batch_size(self):
        return self._helper.batch_size

    @property
    def output_size(self):
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_state)[0].dtype
        outputs = nest.map_leaves(lambda _: dtype, self._rnn_output_size())
        return BasicDecoderOutput(outputs, self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BasicDecoderStep", nest.flatten([time, inputs, state])):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=ids
            )
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished


def _array_of(batch_size, size, dtype):
    """An array for outputs, as long as it has to be."""
    shape = None
    if isinstance(size, TensorShape) and size.ndims != 0:
        known = constant_value(convert_to_tensor(batch_size, name="batch_size"))
        shape = TensorShape([None if known is None else int(known)]).concatenate(size)
    return TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=shape)


def _body(decoder, zeros, impute_finished):
    """The body of the loop of dynamic_decode()."""

    def body(time, arrays, state, inputs, finished, lengths):
        outputs, next_state, next_inputs, next_finished = decoder.step(time, inputs, state)
        if not decoder.tracks_own_finished:
            next_finished = math_ops.logical_or(next_finished, finished)
        next_lengths = array_ops.where(
            math_ops.logical_not(finished),
            array_ops.fill(array_ops.shape(lengths), time + 1),
            lengths,
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)

        def unless_finished(new, old):
            if isinstance(old, TensorArray):
                return new
            new.set_shape(old.shape)
            return new if new.shape.ndims == 0 else array_ops.where(finished, old, new)

        if impute_finished:
            outputs = nest.map_structure(
                lambda out, zero: array_ops.where(finished, zero, out), outputs, zeros
            )
            next_state = nest.map_structure(unless_finished, next_state, state)
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, next_lengths

    return body


def dynamic_decode(
    decoder,
    output_time_major=False,
    impute_finished=False,
    maximum_iterations=None,
    parallel_iterations=32,
    swap_memory=False,
    scope=None,
    **kwargs,
):
    """(outputs, state, lengths) of a decoder that runs until all of the batch has finished.

    output_time_major: outputs are (time, batch, ...) instead of (batch, time, ...).
    impute_finished: the outputs of what has finished are zeros, and its state stays, which costs
    time and makes the last state right. maximum_iterations: after how many steps it ends anyway.
    TypeError unless the decoder is a Decoder.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as varscope:
        cache_reads(varscope)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(
                maximum_iterations, dtype=dtypes.int32, name="maximum_iterations"
            )
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        zeros = nest.map_structure(
            lambda size, dtype: zero_tensors(size, decoder.batch_size, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )
        if maximum_iterations is not None:
            finished = math_ops.logical_or(finished, 0 >= maximum_iterations)
        lengths = array_ops.zeros_like(finished, dtype=dtypes.int32)
        time = constant(0, dtype=dtypes.int32)
        arrays = nest.map_structure(
            lambda size, dtype: _array_of(decoder.batch_size, size, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: math_ops.logical_not(
                math_ops.reduce_all(finished)
            ),
            _body(decoder, zeros, impute_finished),
            loop_vars=(time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_leaves(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_leaves(transpose_batch_time, outputs)
    return outputs, state, lengths
