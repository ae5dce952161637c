"""Connectionist temporal classification: its loss, and decoding greedily."""

from rheos.framework.op_call import op_list
from rheos.framework.sparse_tensor import SparseTensor
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
