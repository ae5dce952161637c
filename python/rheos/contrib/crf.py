"""Linear-chain conditional random fields (Lafferty, McCallum and Pereira 2001): tf.contrib.crf.

Shapes: inputs, the scores of tags, (batch, steps, tags); tag_indices (batch, steps);
sequence_lengths (batch,); transition_params (tags, tags), from a tag to the next one. What goes
from step to step is unrolled, so the number of steps is to be known as the graph is built.
"""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.ops import array_ops, math_ops, rearrange_ops
from rheos.ops.variable_scope import get_variable


def _steps(inputs):
    """The tensors (batch, tags) of each step."""
    if inputs.shape.ndims is not None and inputs.shape.ndims != 3:
        raise ValueError(f"expected scores (batch, steps, tags), got the shape {inputs.shape}")
    if inputs.shape.ndims is None or inputs.shape[1].value is None:
        raise NotImplementedError(
            f"the number of steps of {inputs.name} is not known before the run (its shape is "
            f"{inputs.shape}): that needs loops in graphs, which are not in Rheos yet; give the "
            "placeholder a shape with the number of steps"
        )
    return array_ops.unstack(inputs, axis=1)


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


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the summed scores of all sequences of tags: (batch,). 0 for no steps."""
    inputs = convert_to_tensor(inputs)
    lengths = math_ops.cast(sequence_lengths, dtypes.int32)
    first, *others = _steps(inputs)
    last = _forward(others, first, transition_params, lengths)[-1] if others else first
    log_norm = math_ops.reduce_logsumexp(last, [1])
    return array_ops.where(lengths <= 0, array_ops.zeros_like(log_norm), log_norm)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """(the logarithm of the tags' probability (batch,), transition_params).

    transition_params: a variable `transitions` if none are given.
    """
    inputs = convert_to_tensor(inputs)
    num_tags = inputs.shape[2].value
    if transition_params is None:
        transition_params = get_variable("transitions", [num_tags, num_tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(potentials, transition_params, sequence_length):
    """(the best tags int32 (batch, steps), their score (batch,)); tags after the end are 0."""
    potentials = convert_to_tensor(potentials)
    lengths = math_ops.cast(sequence_length, dtypes.int32)
    state, *others = _steps(potentials)
    transition_params = array_ops.expand_dims(transition_params, 0)
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
