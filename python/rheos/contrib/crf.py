"""Linear-chain conditional random fields (Lafferty, McCallum and Pereira 2001): tf.contrib.crf.

Shapes: inputs, the scores of tags, (batch, steps, tags); tag_indices (batch, steps);
sequence_lengths (batch,); transition_params (tags, tags), from a tag to the next one. What goes
from step to step is unrolled where the number of steps is known, else a loop.
"""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.layers.dynamic_rnn import dynamic_rnn
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow.control_flow_ops import cond
from rheos.ops.math import math_ops
from rheos.ops.state.variable_scope import get_variable


def _steps(inputs):
    """The tensors (batch, tags) of each step; None if their number is not known."""
    if inputs.shape.ndims is not None and inputs.shape.ndims != 3:
        raise ValueError(f"expected scores (batch, steps, tags), got the shape {inputs.shape}")
    if inputs.shape.ndims is None or inputs.shape.size_at(1) is None:
        return None
    return array_ops.unstack(inputs, axis=1)


class _Cell:
    """A function (inputs, state) -> (output, new state) as a cell of a loop over the steps."""

    def __init__(self, function, size):
        self._function = function
        self.state_size = self.output_size = size

    def __call__(self, inputs, state, scope=None):
        return self._function(inputs, state)

    def zero_state(self, batch_size, dtype):
        return array_ops.zeros([batch_size, self.state_size], dtype)


def _loop(function, inputs, state, lengths, dtype):
    """(outputs, last state) of a loop over the steps of `inputs` (batch, steps, tags)."""
    cell = _Cell(function, state.shape.size_at(1))
    return dynamic_rnn(cell, inputs, lengths, state, dtype, scope="crf")


def _mask(lengths, size, dtype=dtypes.float32):
    return rearrange_ops.sequence_mask(lengths, maxlen=size, dtype=dtype)


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sum of the scores of the given tags: (batch,)."""
    shape = array_ops.shape(inputs)
    batch_size, max_seq_len, num_tags = shape[0], shape[1], shape[2]
    tag_indices = math_ops.cast(tag_indices, dtypes.int32)
    rows = array_ops.expand_dims(math_ops.range(batch_size) * max_seq_len * num_tags, 1)
    rows += array_ops.expand_dims(math_ops.range(max_seq_len) * num_tags, 0)
    flat = array_ops.reshape(rows + tag_indices, [-1])
    scores = array_ops.gather(array_ops.reshape(inputs, [-1]), flat)
    scores = array_ops.reshape(scores, [batch_size, max_seq_len])
    return math_ops.reduce_sum(scores * _mask(sequence_lengths, max_seq_len, scores.dtype), 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sum of the scores of the changes from tag to tag: (batch,)."""
    transition_params = convert_to_tensor(transition_params)
    num_tags = array_ops.shape(transition_params)[0]
    steps = array_ops.shape(tag_indices)[1]
    tag_indices = math_ops.cast(tag_indices, dtypes.int32)
    pairs = tag_indices[:, :-1] * num_tags + tag_indices[:, 1:]
    scores = array_ops.gather(array_ops.reshape(transition_params, [-1]), pairs)
    return math_ops.reduce_sum(scores * _mask(sequence_lengths, steps, scores.dtype)[:, 1:], 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The score, before it is normalized, of the given tags: (batch,). 0 for no steps."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """The logarithm of the summed scores of all tags that a boolean (batch, steps, tags) allows."""
    inputs = convert_to_tensor(inputs)
    allowed = array_ops.where(
        tag_bitmap, inputs, array_ops.fill(array_ops.shape(inputs), float("-inf"))
    )
    allowed.set_shape(inputs.shape)
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def _forward(inputs, state, transition_params, lengths):
    """The states after each step; a state stays after the end of its sequence."""
    transition_params = array_ops.expand_dims(transition_params, 0)
    states = []
    for step, scores in enumerate(inputs, 1):
        paths = array_ops.expand_dims(state, 2) + transition_params
        following = scores + math_ops.reduce_logsumexp(paths, [1])
        state = array_ops.where(step < lengths, following, state)
        states.append(state)
    return states


def _last_of_loop(inputs, transition_params, lengths):
    """The last of such states, where the number of steps is not known."""
    transition_params = array_ops.expand_dims(transition_params, 0)

    def step(scores, state):
        paths = array_ops.expand_dims(state, 2) + transition_params
        state = scores + math_ops.reduce_logsumexp(paths, [1])
        return state, state

    first, others = inputs[:, 0], math_ops.maximum(lengths - 1, 0)
    return cond(
        math_ops.equal(array_ops.shape(inputs)[1], 1),
        lambda: array_ops.identity(first),
        lambda: _loop(step, inputs[:, 1:], first, others, inputs.dtype)[1],
    )


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the summed scores of all sequences of tags: (batch,). 0 for no steps."""
    inputs = convert_to_tensor(inputs)
    lengths = math_ops.cast(sequence_lengths, dtypes.int32)
    steps = _steps(inputs)
    if steps is None:
        last = _last_of_loop(inputs, transition_params, lengths)
    else:
        first, *others = steps
        last = _forward(others, first, transition_params, lengths)[-1] if others else first
    log_norm = math_ops.reduce_logsumexp(last, [1])
    return array_ops.where(lengths <= 0, array_ops.zeros_like(log_norm), log_norm)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """(the logarithm of the tags' probability (batch,), transition_params).

    transition_params: a variable `transitions` if none are given.
    """
    inputs = convert_to_tensor(inputs)
    num_tags = inputs.shape.size_at(2)
    if transition_params is None:
        transition_params = get_variable("transitions", [num_tags, num_tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def _decoded_by_loops(potentials, transition_params, lengths):
    """crf_decode() where the number of steps is not known."""

    def forward(scores, state):
        paths = array_ops.expand_dims(state, 2) + transition_params
        origins = math_ops.argmax(paths, 1, output_type=dtypes.int32)
        return origins, scores + math_ops.reduce_max(paths, [1])

    def backward(origins, tag):
        rows = math_ops.range(array_ops.shape(origins)[0])
        places = array_ops.stack([rows, array_ops.squeeze(tag, [1])], axis=1)
        tag = array_ops.expand_dims(array_ops.gather_nd(origins, places), 1)
        return tag, tag

    first, others = potentials[:, 0], math_ops.maximum(lengths - 1, 0)

    def one_step():
        tags = math_ops.argmax(first, 1, output_type=dtypes.int32)
        return array_ops.expand_dims(tags, 1), math_ops.reduce_max(first, 1)

    def steps():
        origins, state = _loop(forward, potentials[:, 1:], first, others, dtypes.int32)
        origins = rearrange_ops.reverse_sequence(origins, others, seq_axis=1)
        tag = array_ops.expand_dims(math_ops.argmax(state, 1, output_type=dtypes.int32), 1)
        tags, _ = _loop(backward, origins, tag, others, dtypes.int32)
        tags = array_ops.concat([tag, array_ops.squeeze(tags, [2])], 1)
        tags = rearrange_ops.reverse_sequence(tags, math_ops.maximum(lengths, 1), seq_axis=1)
        return tags, math_ops.reduce_max(state, 1)

    return cond(math_ops.equal(array_ops.shape(potentials)[1], 1), one_step, steps)


def crf_decode(potentials, transition_params, sequence_length):
    """(the best tags int32 (batch, steps), their score (batch,)); tags after the end are 0."""
    potentials = convert_to_tensor(potentials)
    lengths = math_ops.cast(sequence_length, dtypes.int32)
    steps = _steps(potentials)
    transition_params = array_ops.expand_dims(transition_params, 0)
    if steps is None:
        return _decoded_by_loops(potentials, transition_params, lengths)
    state, *others = steps
    origins = []  # of each step: the tags before that lead to its tags best
    for step, scores in enumerate(others, 1):
        paths = array_ops.expand_dims(state, 2) + transition_params
        origins.append(math_ops.argmax(paths, 1, output_type=dtypes.int32))
        state = array_ops.where(step < lengths, scores + math_ops.reduce_max(paths, [1]), state)
    tag = math_ops.argmax(state, 1, output_type=dtypes.int32)
    rows = math_ops.range(array_ops.shape(state)[0])
    tags = [tag]
    for step in range(len(others), 0, -1):
        before = array_ops.gather_nd(origins[step - 1], array_ops.stack([rows, tag], axis=1))
        tag = array_ops.where(step < lengths, before, tag)
        tags.append(tag)
    best = array_ops.stack(tags[::-1], axis=1)
    within = _mask(math_ops.maximum(lengths, 1), len(tags), dtypes.int32)
    return best * within, math_ops.reduce_max(state, 1)


def viterbi_decode(score, transition_params):
    """(the best tags, a list; their score) of NumPy arrays (steps, tags) and (tags, tags)."""
    score, transition_params = np.asarray(score), np.asarray(transition_params)
    state = score[0]
    origins = []
    for scores in score[1:]:
        paths = state[:, np.newaxis] + transition_params
        origins.append(paths.argmax(0))
        state = scores + paths.max(0)
    tags = [int(state.argmax())]
    for origin in reversed(origins):
        tags.append(int(origin[tags[-1]]))
    return tags[::-1], state.max()
