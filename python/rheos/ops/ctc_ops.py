"""Connectionist temporal classification: its loss, decoders, and the distance of sequences."""

from rheos.framework.op_call import op1, op_list
from rheos.framework.sparse_tensor import SparseTensor, is_sparse
from rheos.ops import array_ops


def ctc_loss(
    labels,
    inputs=None,
    sequence_length=None,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
    time_major=True,
    logits=None,
):
    """The loss of each element, (batch,).

    labels: a SparseTensor (batch, length) of int32; TypeError for others. inputs: logits (time,
    batch, classes), or (batch, time, classes) unless time_major; the last class is the blank.
    sequence_length: (batch,), of the inputs. logits: another name of inputs.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    if logits is not None:
        if inputs is not None:
            raise ValueError("Cannot specify both 'logits' and 'inputs'")
        inputs = logits
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    return op_list(
        "CTCLoss",
        None,
        inputs,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )[0]


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """([decoded], score): the likeliest class at each time, without blanks.

    inputs: logits (time, batch, classes). decoded: a SparseTensor (batch, length). score: (batch,
    1), the sum of the largest logits, negated. merge_repeated: whether the same class several times
    in a row counts once.
    """
    indices, values, shape, score = op_list(
        "CTCGreedyDecoder", None, inputs, sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(
    inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True
):
    """The likeliest sequences a search finds: ([SparseTensor] * top_paths, log-probabilities).

    inputs: (steps, batch, classes). The log-probabilities are (batch, top_paths).
    """
    outputs = op_list(
        "CTCBeamSearchDecoder",
        None,
        inputs,
        sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    parts = [outputs[k * top_paths : (k + 1) * top_paths] for k in range(3)]
    return [SparseTensor(*three) for three in zip(*parts)], outputs[-1]


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """ctc_beam_search_decoder that keeps equal labels in a row."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """How many edits turn each sequence of `hypothesis` into that of `truth`.

    Both are SparseTensors of one rank; sequences are their last dimension. normalize: as a share of
    the length of the truth. Returns a dense tensor of the other dimensions.
    """
    if not is_sparse(hypothesis):
        raise TypeError("Hypothesis must be a SparseTensor.")
    if not is_sparse(truth):
        raise TypeError("Truth must be a SparseTensor.")
    a, b = SparseTensor.from_value(hypothesis), SparseTensor.from_value(truth)
    return op1(
        "EditDistance",
        name,
        a.indices,
        a.values,
        a.dense_shape,
        b.indices,
        b.values,
        b.dense_shape,
        normalize=normalize,
    )
