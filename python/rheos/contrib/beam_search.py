"""Beam search of tf.contrib.seq2seq: a decoder that follows the best sequences side by side."""

import collections

import numpy as np

from rheos.contrib.attention_wrapper import AttentionWrapperState
from rheos.contrib.decoding import Decoder, DecoderLayerOutput
from rheos.framework import dtypes, logging, nest
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.ops.array import array_ops, embedding_ops, rearrange_ops
from rheos.ops.flow.control_flow_ops import Assert, cond
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops


class BeamSearchDecoderState(
    collections.namedtuple(
        "BeamSearchDecoderState",
        ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"),
    )
):
    """The state of a search: of the cell, and of each of (batch, beams)."""


class BeamSearchDecoderOutput(
    collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
):
    """What a step of a search gives, (batch, beams) each: parent_ids are beams gone on from."""


class FinalBeamSearchDecoderOutput(
    collections.namedtuple(
        "FinalBeamDecoderOutput", ["predicted_ids", "beam_search_decoder_output"]
    )
):
    """What a search gives: the ids of whole beams (batch, time, beams), and those of the steps."""


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """The whole beams of a search, int32 (time, batch, beams).

    step_ids: the ids of its steps; parent_ids: the beams that they go on from; both like the
    result. max_sequence_lengths: (batch,). end_token: what comes after the ends.
    """
    return op1("GatherTree", name, step_ids, parent_ids, max_sequence_lengths, end_token)


def _static(value):
    """The value of a constant scalar, or None."""
    known = constant_value(value)
    return None if known is None else int(known)


# ---- Tiling


def _tiled(t, multiplier):
    t = convert_to_tensor(t, name="t")
    shape = array_ops.shape(t)
    if not t.shape.ndims:
        raise ValueError("t must have statically known rank")
    tiling = [1] * (t.shape.ndims + 1)
    tiling[1] = multiplier
    known = t.shape.size_at(0)
    tiled = array_ops.tile(array_ops.expand_dims(t, 1), tiling)
    tiled = array_ops.reshape(tiled, array_ops.concat(([shape[0] * multiplier], shape[1:]), 0))
    rows = TensorShape([None if known is None else known * multiplier])
    tiled.set_shape(rows.concatenate(t.shape[1:]))
    return tiled


def tile_batch(t, multiplier, name=None):
    """Each element of a batch `multiplier` times, one after the other; t: may be a structure."""
    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_leaves(lambda part: _tiled(part, multiplier), t)


# ---- Arrays of the state, in the order of the beams


def gather_tree_from_array(t, parent_ids, sequence_length):
    """The steps of a tensor (time, batch, beams, ...) in the order of the whole beams."""
    shape = array_ops.shape
    max_time, batch_size, beam_width = [
        parent_ids.shape.size_at(axis) or shape(parent_ids)[axis] for axis in range(3)
    ]
    beams = math_ops.range(beam_width)
    beams = array_ops.expand_dims(array_ops.expand_dims(beams, 0), 0)
    beams = array_ops.tile(beams, [max_time, batch_size, 1])
    longest = math_ops.cast(math_ops.reduce_max(sequence_length, axis=1), dtypes.int32)
    ordered = gather_tree(
        step_ids=beams,
        parent_ids=parent_ids,
        max_sequence_lengths=longest,
        end_token=beam_width + 1,
    )
    mask = rearrange_ops.sequence_mask(sequence_length, maxlen=max_time)
    ordered = array_ops.where(array_ops.transpose(mask, perm=[2, 0, 1]), x=ordered, y=beams)
    times = array_ops.reshape(math_ops.range(max_time), [-1, 1, 1])
    times = array_ops.tile(times, [1, batch_size, beam_width])
    rows = array_ops.reshape(math_ops.range(batch_size), [-1, 1, 1])
    rows = array_ops.tile(rows, [1, max_time, beam_width])
    rows = array_ops.transpose(rows, perm=[1, 0, 2])
    places = array_ops.stack([times, rows, ordered], -1)
    whole = shape(t)
    t = array_ops.reshape(t, [max_time, batch_size, beam_width, -1])
    return array_ops.reshape(array_ops.gather_nd(t, places), whole)


def _known_rank(t):
    if t.shape.ndims is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")
    return t.shape.ndims


_NOT_SORTED = (
    "Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during the "
    "beam search."
)


def _may_be_sorted(array, batch_size, beam_width):
    """Whether the elements of an array can be (batch, beams, ...), as far as that is known."""
    shape = array.element_shape
    if not shape.ndims:
        logging.warning(
            "The TensorArray %s in the cell state is not amenable to sorting based on the beam "
            "search result. For a TensorArray to be sorted, its elements shape must be defined "
            "and have at least a rank of 1, but saw shape: %s",
            array.handle.name,
            shape,
        )
        return False
    first = shape.size_at(0)
    second = shape.size_at(1) if shape.ndims >= 2 else None
    if batch_size is None or first is None:
        return True
    apart = second is None or (first, second) == (batch_size, beam_width)
    if first == batch_size * beam_width and apart:
        return True
    logging.warning(
        "TensorArray reordering expects elements to be reshapable to %s which is incompatible with "
        "the current shape %s. %s",
        TensorShape([batch_size, beam_width, None]),
        shape,
        _NOT_SORTED,
    )
    return False


def _check_beams(t, batch_size, beam_width):
    """An assertion that a tensor is (time, batch * beams, ...) or (time, batch, beams, ...)."""
    message = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] "
        f"which is incompatible with the dynamic shape of {t.name} elements. {_NOT_SORTED}"
    )
    shape = array_ops.shape(t)
    if t.shape.ndims == 2:
        holds = math_ops.equal(shape[1], batch_size * beam_width)
    else:
        holds = math_ops.logical_or(
            math_ops.equal(shape[1], batch_size * beam_width),
            math_ops.logical_and(
                math_ops.equal(shape[1], batch_size), math_ops.equal(shape[2], beam_width)
            ),
        )
    return Assert(holds, [message])


# ---- The decoder


class BeamSearchDecoder(DecoderLayerOutput, Decoder):
    """A decoder that goes on with the `beam_width` best sequences of each element of the batch.

    The memory of an attention, its lengths and the initial state have to be tiled by tile_batch().
    embedding: a tensor, or a function of ids. start_tokens: int32 (batch,). output_layer: what
    makes logits of the outputs. length_penalty_weight: how much long sequences are preferred (Wu
    and others, 2016); coverage_penalty_weight: how much such as see all of the memory.
    reorder_tensor_arrays: puts arrays in the cell's state in the order of the beams. ValueError and
    TypeError for start_tokens that are no vector, an end_token that is no scalar, and no Layer.
    """

    def __init__(
        self,
        cell,
        embedding,
        start_tokens,
        end_token,
        initial_state,
        beam_width,
        output_layer=None,
        length_penalty_weight=0.0,
        coverage_penalty_weight=0.0,
        reorder_tensor_arrays=True,
    ):
        super().__init__(cell, output_layer)
        self._reorder = reorder_tensor_arrays
        self._beam_width = beam_width
        self._weights = length_penalty_weight, coverage_penalty_weight
        self._embedding_fn = embedding
        if not callable(embedding):
            self._embedding_fn = lambda ids: embedding_ops.embedding_lookup(embedding, ids)
        tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array_ops.size(start_tokens)
        self._initial_cell_state = nest.map_structure(
            self._maybe_split, initial_state, cell.state_size
        )
        tokens = array_ops.tile(array_ops.expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(tokens)
        self._finished = self._first_beam(False, True, dtypes.bool)

    def _first_beam(self, on_value, off_value, dtype):
        return array_ops.one_hot(
            array_ops.zeros([self._batch_size], dtype=dtypes.int32),
            depth=self._beam_width,
            on_value=on_value,
            off_value=off_value,
            dtype=dtype,
        )

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def tracks_own_finished(self):
        """True: the beams change places in each step."""
        return True

    @property
    def output_size(self):
        beams = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=beams, predicted_ids=beams, parent_ids=beams)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(
            scores=nest.map_leaves(lambda _: dtype, self._rnn_output_size()),
            predicted_ids=dtypes.int32,
            parent_ids=dtypes.int32,
        )

    def initialize(self, name=None):
        """(finished, first inputs, first state); only the first beam is alive."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        zeros = array_ops.zeros([self._batch_size], dtype=dtypes.int32)
        log_probs = array_ops.one_hot(
            zeros,
            depth=self._beam_width,
            on_value=convert_to_tensor(0.0, dtype=dtype),
            off_value=convert_to_tensor(-np.inf, dtype=dtype),
            dtype=dtype,
        )
        seen = attention_probs(self._initial_cell_state, self._weights[1])
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=array_ops.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if seen is None else seen,
        )
        return self._finished, self._start_inputs, state

    def finalize(self, outputs, final_state, sequence_lengths):
        """The ids of whole beams in the place of those of steps, arrays in their order."""
        longest = math_ops.cast(math_ops.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=longest,
            end_token=self._end_token,
        )
        if self._reorder:
            cell_state = nest.map_leaves(
                lambda t: self._maybe_sorted(t, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=cell_state)
        outputs = FinalBeamSearchDecoderOutput(
            beam_search_decoder_output=outputs, predicted_ids=ids
        )
        return outputs, final_state

    # -- Between (batch, beams, ...) and (batch * beams, ...)

    def _merge(self, t, size):
        shape = array_ops.shape(t)
        known = _static(self._batch_size)
        rows = array_ops.concat(([self._batch_size * self._beam_width], shape[2:]), 0)
        merged = array_ops.reshape(t, rows)
        rows = TensorShape([None if known is None else known * self._beam_width])
        merged.set_shape(rows.concatenate(_as_shape(size)))
        return merged

    def _split(self, t, size):
        shape = array_ops.shape(t)
        split = array_ops.reshape(
            t, array_ops.concat(([self._batch_size, self._beam_width], shape[1:]), 0)
        )
        beams = TensorShape([_static(self._batch_size), self._beam_width])
        expected = beams.concatenate(_as_shape(size))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The "
                f"reshaped tensor has shape: {split.shape}.  We expected it to have shape "
                f"(batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        split.set_shape(expected)
        return split

    def _maybe_split(self, t, size):
        if isinstance(t, TensorArray) or not _known_rank(t):
            return t
        return self._split(t, size)

    def _maybe_merge(self, t, size):
        if isinstance(t, TensorArray) or _known_rank(t) < 2:
            return t
        return self._merge(t, size)

    def _maybe_sorted(self, t, parent_ids, lengths):
        if not isinstance(t, TensorArray):
            return t
        if not _may_be_sorted(t, _static(self._batch_size), self._beam_width):
            return t
        t = t.stack()
        with control_dependencies([_check_beams(t, self._batch_size, self._beam_width)]):
            return gather_tree_from_array(t, parent_ids, lengths)

    # -- The step

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BeamSearchDecoderStep", nest.flatten([time, inputs, state])):
            inputs = nest.map_leaves(lambda x: self._merge(x, x.shape[2:]), inputs)
            sizes = self._cell.state_size
            cell_state = nest.map_structure(self._maybe_merge, state.cell_state, sizes)
            logits, cell_state = self._cell(inputs, cell_state)
            logits = nest.map_leaves(lambda out: self._split(out, out.shape[1:]), logits)
            cell_state = nest.map_structure(self._maybe_split, cell_state, sizes)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            output, after = _Step(
                self._batch_size, self._beam_width, self._end_token, self._weights, state
            ).run(time, logits, cell_state)
            next_inputs = cond(
                math_ops.reduce_all(after.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, after, next_inputs, after.finished


def _as_shape(size):
    if isinstance(size, Tensor):
        return as_shape(constant_value(size))
    return TensorShape(size)


class _Step:
    """A step of a search: chooses the best of all ways to go on with all beams."""

    def __init__(self, batch_size, beam_width, end_token, weights, state):
        self._batch_size = batch_size
        self._width = beam_width
        self._end_token = end_token
        self._length_weight, self._coverage_weight = weights
        self._state = state

    def _gather(self, places, source, range_size, shape, name=None):
        """Elements of `source` (batch, beams, ...) at places (batch, beams), reshaped before."""
        with name_scope(name, "tensor_gather_helper"):
            starts = array_ops.expand_dims(math_ops.range(self._batch_size) * range_size, 1)
            places = array_ops.reshape(places + starts, [-1])
            made = array_ops.gather(array_ops.reshape(source, shape), places)
            final = array_ops.shape(source)[: 1 + len(shape)]
            known = TensorShape([_static(self._batch_size)])
            known = known.concatenate(source.shape[1 : 1 + len(shape)])
            made = array_ops.reshape(made, final, name="output")
            made.set_shape(known)
            return made

    def _of_parents(self, parents, source, shape=(-1,), name=None):
        return self._gather(parents, source, self._width, list(shape), name)

    def _lengths_of(self, not_finished, vocab_size):
        """How long each way to go on is; one that ends is as long as before."""
        ends = array_ops.fill([self._batch_size, self._width], self._end_token)
        added = array_ops.one_hot(
            indices=ends,
            depth=vocab_size,
            on_value=math_ops.to_int64(0),
            off_value=math_ops.to_int64(1),
            dtype=dtypes.int64,
        )
        added *= array_ops.expand_dims(math_ops.cast(not_finished, dtypes.int64), 2)
        return added + array_ops.expand_dims(self._state.lengths, 2)

    def run(self, time, logits, cell_state):
        """(output, next state)."""
        state, width = self._state, self._width
        not_finished = math_ops.logical_not(state.finished)
        probs = _masked_probs(nn_ops.log_softmax(logits), self._end_token, state.finished)
        total = array_ops.expand_dims(state.log_probs, 2) + probs
        vocab_size = logits.shape.size_at(-1) or array_ops.shape(logits)[-1]
        lengths = self._lengths_of(not_finished, vocab_size)
        seen = attention_probs(cell_state, self._coverage_weight)
        if seen is not None:
            seen *= array_ops.expand_dims(math_ops.cast(not_finished, dtypes.float32), 2)
            seen = state.accumulated_attention_probs + seen
        scores = self._scores(total, lengths, seen)
        convert_to_tensor(time, name="time")
        flat = array_ops.reshape(scores, [self._batch_size, -1])
        count = convert_to_tensor(width, dtype=dtypes.int32, name="beam_width")
        best, places = nn_ops.top_k(flat, k=count)
        for one in (best, places):
            one.set_shape([_static(self._batch_size), width])
        log_probs = self._gather(places, total, width * vocab_size, [-1], "next_beam_probs")
        ids = math_ops.mod(places, vocab_size, name="next_beam_word_ids")
        ids = math_ops.cast(ids, dtypes.int32)
        parents = math_ops.cast(places / vocab_size, dtypes.int32, name="next_beam_parent_ids")
        after = self._next_state(ids, parents, log_probs, seen, cell_state)
        return BeamSearchDecoderOutput(best, ids, parents), after

    def _next_state(self, ids, parents, log_probs, seen, cell_state):
        finished = self._of_parents(parents, self._state.finished)
        now_finished = math_ops.logical_or(
            finished, math_ops.equal(ids, self._end_token), name="next_beam_finished"
        )
        added = math_ops.cast(math_ops.logical_not(finished), dtypes.int64)
        lengths = self._of_parents(parents, self._state.lengths)
        lengths += added
        if seen is not None:
            name = "next_accumulated_attention_probs"
            beams = [self._batch_size * self._width, -1]
            seen = self._of_parents(parents, seen, beams, name)

        def of_parents(part):
            beams = [self._batch_size * self._width, -1]
            if isinstance(part, TensorArray) or _known_rank(part) < 2:
                return part
            return self._of_parents(parents, part, beams)

        return BeamSearchDecoderState(
            cell_state=nest.map_leaves(of_parents, cell_state),
            log_probs=log_probs,
            lengths=lengths,
            finished=now_finished,
            accumulated_attention_probs=() if seen is None else seen,
        )

    def _scores(self, log_probs, lengths, seen):
        penalty = math_ops.cast(
            _length_penalty(lengths, self._length_weight), dtype=log_probs.dtype
        )
        scores = log_probs / penalty
        weight = convert_to_tensor(self._coverage_weight, name="coverage_penalty_weight")
        if weight.shape.ndims != 0:
            raise ValueError(
                f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
            )
        known = constant_value(weight)
        if known is not None and known == 0.0:
            return scores
        if seen is None:
            raise ValueError(
                "accumulated_attention_probs can be None only if coverage penalty is disabled."
            )
        seen = array_ops.where(math_ops.equal(seen, 0.0), array_ops.ones_like(seen), seen)
        penalty = math_ops.reduce_sum(math_ops.log(math_ops.minimum(seen, 1.0)), 2)
        penalty *= math_ops.cast(self._state.finished, dtypes.float32)
        return scores + array_ops.expand_dims(penalty * weight, 2)


def _masked_probs(probs, end_token, finished):
    """Log probabilities where what has finished can only end again."""
    vocab_size = array_ops.shape(probs)[2]
    row = array_ops.one_hot(
        end_token,
        vocab_size,
        dtype=probs.dtype,
        on_value=convert_to_tensor(0.0, dtype=probs.dtype),
        off_value=probs.dtype.min,
    )
    ended = array_ops.tile(
        array_ops.reshape(row, [1, 1, -1]),
        array_ops.concat([array_ops.shape(finished), [1]], 0),
    )
    mask = array_ops.tile(array_ops.expand_dims(finished, 2), [1, 1, vocab_size])
    return array_ops.where(mask, ended, probs)


def _length_penalty(lengths, weight):
    weight = convert_to_tensor(weight, name="penalty_factor")
    weight.set_shape(())
    known = constant_value(weight)
    if known is not None and known == 0:
        return 1.0
    longer = (5.0 + math_ops.cast(lengths, dtypes.float32)) ** weight
    return math_ops.div(longer, (5.0 + 1.0) ** weight)


def _mean_of(probs):
    joint = array_ops.concat([array_ops.expand_dims(part, -1) for part in probs], -1)
    return math_ops.reduce_mean(joint, -1)


def attention_probs(cell_state, coverage_penalty_weight):
    """The alignments in a state, their mean if there are several; None if they do not count.

    ValueError where they count but the cell has no attention.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
    found = []
    for state in states if isinstance(states, (list, tuple)) else ():
        if isinstance(state, AttentionWrapperState):
            probs = state.alignments
            found.append(_mean_of(probs) if isinstance(probs, tuple) else probs)
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return found[0] if len(found) == 1 else _mean_of(found)
