"""Sequences to sequences, unrolled: tf.contrib.legacy_seq2seq, and losses of sequences.

Sequences are lists of tensors, one for each step. A `loop_function` of (output, step) gives the
next input from an output; without one the decoder inputs are taken.
"""

import functools
from copy import deepcopy

from rheos.contrib.rnn_cells import EmbeddingWrapper, Linear, OutputProjectionWrapper
from rheos.framework import dtypes, nest
from rheos.framework.graph import name_scope
from rheos.layers.rnn import static_rnn
from rheos.ops.array import array_ops, embedding_ops
from rheos.ops.flow.control_flow_ops import cond
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_conv, nn_ops
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope

# ---- Losses


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    sum_over_timesteps=False,
    sum_over_batch=False,
    softmax_loss_function=None,
    name=None,
):
    """The weighted cross entropy of sequences of logits with classes.

    logits: (batch, time, classes); targets, weights: (batch, time). Averaged, or summed, over time
    and batch as asked for: a scalar, (batch,), (time,) or (batch, time). softmax_loss_function: of
    labels and logits, in the place of the cross entropy. ValueError for other ranks.
    """
    for what, tensor, rank, shape in (
        ("Logits", logits, 3, "[batch_size x sequence_length x logits]"),
        ("Targets", targets, 2, "[batch_size x sequence_length]"),
        ("Weights", weights, 2, "[batch_size x sequence_length]"),
    ):
        if len(tensor.shape) != rank:
            raise ValueError(f"{what} must be a {shape} tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot be set to True at same time."
        )
    if average_across_batch and sum_over_batch:
        raise ValueError(
            "average_across_batch and sum_over_batch cannot be set to True at same time."
        )
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array_ops.shape(logits)[2]
        flat = array_ops.reshape(logits, [-1, classes])
        targets = array_ops.reshape(targets, [-1])
        if softmax_loss_function is None:
            losses = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=flat)
        else:
            losses = softmax_loss_function(labels=targets, logits=flat)
        losses *= array_ops.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            losses = math_ops.reduce_sum(losses)
            return math_ops.div_no_nan(losses, math_ops.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            losses = math_ops.reduce_sum(losses)
            count = math_ops.cast(math_ops.count_nonzero(weights), losses.dtype)
            return math_ops.div_no_nan(losses, count)
        losses = array_ops.reshape(losses, array_ops.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [1] if average_across_timesteps else [0]
            losses = math_ops.reduce_sum(losses, axis=axis)
            return math_ops.div_no_nan(losses, math_ops.reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [1] if sum_over_timesteps else [0]
            losses = math_ops.reduce_sum(losses, axis=axis)
            counts = math_ops.count_nonzero(weights, axis=axis, dtype=losses.dtype)
            return math_ops.div_no_nan(losses, counts)
        return losses


def sequence_loss_by_example(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    softmax_loss_function=None,
    name=None,
):
    """The weighted cross entropy of each element of the batch, (batch,).

    logits: a list of (batch, classes); targets, weights: lists of (batch,), as long (ValueError).
    """
    if not len(targets) == len(logits) == len(weights):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                target = array_ops.reshape(target, [-1])
                loss = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = math_ops.add_n(losses)
        if average_across_timesteps:
            size = math_ops.add_n(list(weights))
            size += 1e-12  # elements without any weight
            total /= size
        return total


def legacy_sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    softmax_loss_function=None,
    name=None,
):
    """The sum, or the mean, over the batch of sequence_loss_by_example(): a scalar."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = math_ops.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if not average_across_batch:
            return cost
        return cost / math_ops.cast(array_ops.shape(targets[0])[0], cost.dtype)


# ---- Decoders


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """(outputs, state) of a cell on inputs (batch, n), from a state on."""
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for i, inputs in enumerate(decoder_inputs):
            if loop_function is not None and previous is not None:
                with variable_scope("loop_function", reuse=True):
                    inputs = loop_function(previous, i)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
            previous = output
        return outputs, state


def _argmax_and_embed(embedding, output_projection, update_embedding):
    """A loop function: the row for the likeliest symbol."""

    def loop_function(previous, _):
        if output_projection is not None:
            previous = nn_ops.xw_plus_b(previous, *output_projection)
        symbol = math_ops.argmax(previous, 1)
        row = embedding_ops.embedding_lookup(embedding, symbol)
        return row if update_embedding else array_ops.stop_gradient(row)

    return loop_function


def _embedded(decoder_inputs, num_symbols, size, projection, feed_previous, update):
    """(rows for the inputs, loop function) with the variable `embedding` of the current scope."""
    embedding = get_variable("embedding", [num_symbols, size])
    loop_function = _argmax_and_embed(embedding, projection, update) if feed_previous else None
    return (embedding_ops.embedding_lookup(embedding, i) for i in decoder_inputs), loop_function


def embedding_rnn_decoder(
    decoder_inputs,
    initial_state,
    cell,
    num_symbols,
    embedding_size,
    output_projection=None,
    feed_previous=False,
    update_embedding_for_previous=True,
    scope=None,
):
    """rnn_decoder() of ids (batch,), by the variable `embedding` (num_symbols, embedding_size).

    output_projection: (weights, biases) from outputs to symbols. feed_previous: whether each input
    but the first is the likeliest symbol of the output before.
    """
    with variable_scope(scope or "embedding_rnn_decoder"):
        inputs, loop_function = _embedded(
            decoder_inputs,
            num_symbols,
            embedding_size,
            output_projection,
            feed_previous,
            update_embedding_for_previous,
        )
        return rnn_decoder(inputs, initial_state, cell, loop_function=loop_function)


class _Attention:
    """Where a decoder looks: weights over attention states by a query."""

    def __init__(self, states, num_heads, dtype):
        length = states.shape.size_at(1)
        self.length = array_ops.shape(states)[1] if length is None else length
        self.size = states.shape.size_at(2)
        self.dtype = dtype
        self.hidden = array_ops.reshape(states, [-1, self.length, 1, self.size])
        self.features, self.vectors = [], []
        for a in range(num_heads):
            kernel = get_variable(f"AttnW_{a}", [1, 1, self.size, self.size])
            self.features.append(nn_conv.conv2d(self.hidden, kernel, [1, 1, 1, 1], "SAME"))
            self.vectors.append(get_variable(f"AttnV_{a}", [self.size]))

    def __call__(self, query):
        """A mean of the states for each head, (batch, size), weighted by the query."""
        if nest.is_nested(query):
            parts = nest.flatten(query)
            for part in parts:
                if part.shape.ndims:
                    assert part.shape.ndims == 2
            query = array_ops.concat(parts, 1)
        found = []
        for a, (features, vector) in enumerate(zip(self.features, self.vectors)):
            with variable_scope(f"Attention_{a}"):
                y = Linear(query, self.size, True)(query)
                y = array_ops.reshape(y, [-1, 1, 1, self.size])
                y = math_ops.cast(y, self.dtype)
                scores = math_ops.reduce_sum(vector * math_ops.tanh(features + y), [2, 3])
                weights = nn_ops.softmax(math_ops.cast(scores, dtypes.float32))
                weights = math_ops.cast(weights, self.dtype)
                mean = math_ops.reduce_sum(
                    array_ops.reshape(weights, [-1, self.length, 1, 1]) * self.hidden, [1, 2]
                )
                found.append(array_ops.reshape(mean, [-1, self.size]))
        return found


def attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    output_size=None,
    num_heads=1,
    loop_function=None,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """(outputs, state) of a cell that looks at attention states in each step.

    attention_states: (batch, length, size). output_size: by default the cell's. num_heads: how
    many times it looks. initial_state_attention: whether it looks before the first step too.
    ValueError for no inputs, no heads, or a size that is not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.size_at(2) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    if output_size is None:
        output_size = cell.output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch_size = array_ops.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, dtype)
        state, outputs, previous = initial_state, [], None
        shape = array_ops.stack([batch_size, attention.size])
        seen = [array_ops.zeros(shape, dtype=dtype) for _ in range(num_heads)]
        for tensor in seen:
            tensor.set_shape([None, attention.size])
        if initial_state_attention:
            seen = attention(initial_state)
        for i, inputs in enumerate(decoder_inputs):
            if i > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and previous is not None:
                with variable_scope("loop_function", reuse=True):
                    inputs = loop_function(previous, i)
            size = inputs.shape.with_rank(2).size_at(1)
            if size is None:
                raise ValueError("Could not infer input size from input: %s" % inputs.name)
            inputs = math_ops.cast(inputs, dtype)
            joint = [inputs, *seen]
            output, state = cell(Linear(joint, size, True)(joint), state)
            if i == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    seen = attention(state)
            else:
                seen = attention(state)
            with variable_scope("AttnOutputProjection"):
                joint = [math_ops.cast(output, dtype), *seen]
                output = Linear(joint, output_size, True)(joint)
            if loop_function is not None:
                previous = output
            outputs.append(output)
        return outputs, state


def embedding_attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    num_symbols,
    embedding_size,
    num_heads=1,
    output_size=None,
    output_projection=None,
    feed_previous=False,
    update_embedding_for_previous=True,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """attention_decoder() of ids (batch,); see embedding_rnn_decoder for the embedding."""
    if output_size is None:
        output_size = cell.output_size
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        inputs, loop_function = _embedded(
            decoder_inputs,
            num_symbols,
            embedding_size,
            output_projection,
            feed_previous,
            update_embedding_for_previous,
        )
        return attention_decoder(
            list(inputs),
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


# ---- Encoders and decoders


def _copy_of(cell):
    """A cell like it, with variables of its own."""
    return deepcopy(cell)


def _decode(decoder, feed_previous, decoder_inputs, state):
    """(outputs, state) of a decoder that feeds previous outputs or not, which a tensor may tell."""
    if isinstance(feed_previous, bool):
        return decoder(feed_previous=feed_previous)

    def branch(feeds):
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, after = decoder(feed_previous=feeds, update_embedding_for_previous=False)
        return outputs + nest.flatten(after)

    made = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    count = len(decoder_inputs)
    return made[:count], nest.pack_sequence_as(state, made[count:])


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=dtypes.float32, scope=None):
    """(outputs, state) of a decoder that starts with the state of an encoder of its kind."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(_copy_of(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=dtypes.float32, scope=None
):
    """basic_rnn_seq2seq() with the same variables in encoder and decoder."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_seq2seq(
    encoder_inputs,
    decoder_inputs,
    cell,
    num_encoder_symbols,
    num_decoder_symbols,
    embedding_size,
    output_projection=None,
    feed_previous=False,
    dtype=None,
    scope=None,
):
    """basic_rnn_seq2seq() of ids (batch,), each side with an embedding of its own.

    Without an output_projection the outputs are logits (batch, num_decoder_symbols).
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        else:
            dtype = scope.dtype
        encoder = EmbeddingWrapper(_copy_of(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        decoder = functools.partial(
            embedding_rnn_decoder,
            decoder_inputs,
            state,
            cell,
            num_decoder_symbols,
            embedding_size,
            output_projection=output_projection,
        )
        return _decode(decoder, feed_previous, decoder_inputs, state)


def embedding_attention_seq2seq(
    encoder_inputs,
    decoder_inputs,
    cell,
    num_encoder_symbols,
    num_decoder_symbols,
    embedding_size,
    num_heads=1,
    output_projection=None,
    feed_previous=False,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """embedding_rnn_seq2seq() whose decoder looks at the outputs of the encoder."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        encoder = EmbeddingWrapper(
            _copy_of(cell),
            embedding_classes=num_encoder_symbols,
            embedding_size=embedding_size,
        )
        encoded, state = static_rnn(encoder, encoder_inputs, dtype=dtype)
        tops = [array_ops.reshape(e, [-1, 1, cell.output_size]) for e in encoded]
        attention_states = array_ops.concat(tops, 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols
        decoder = functools.partial(
            embedding_attention_decoder,
            decoder_inputs,
            state,
            attention_states,
            cell,
            num_decoder_symbols,
            embedding_size,
            num_heads=num_heads,
            output_size=output_size,
            output_projection=output_projection,
            initial_state_attention=initial_state_attention,
        )
        return _decode(decoder, feed_previous, decoder_inputs, state)


def model_with_buckets(
    encoder_inputs,
    decoder_inputs,
    targets,
    weights,
    buckets,
    seq2seq,
    softmax_loss_function=None,
    per_example_loss=False,
    name=None,
):
    """(outputs, losses) of models for several lengths, which share their variables.

    buckets: pairs of lengths, of inputs and outputs, that grow. seq2seq: a function of the encoder
    and decoder inputs that gives (outputs, state). ValueError for fewer inputs than the last bucket
    needs. per_example_loss: whether losses are (batch,) instead of scalars.
    """
    for what, tensors, size in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(tensors) < size:
            raise ValueError(
                f"Length of {what} ({len(tensors)}) must be at least that of last bucket ({size})."
            )
    outputs, losses = [], []
    loss = sequence_loss_by_example if per_example_loss else legacy_sequence_loss
    everything = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    with name_scope(name, "model_with_buckets", everything):
        for j, (inputs, steps) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if j > 0 else None):
                made, _ = seq2seq(encoder_inputs[:inputs], decoder_inputs[:steps])
                outputs.append(made)
                losses.append(
                    loss(
                        made,
                        targets[:steps],
                        weights[:steps],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
