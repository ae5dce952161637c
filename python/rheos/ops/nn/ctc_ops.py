"""Connectionist temporal classification: its loss, decoders, and the distance of sequences."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list
from rheos.framework.sparse_tensor import SparseTensor, is_sparse
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops


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


def _sparse_labels(labels, label_length):
    """The first label_length labels of each row of (batch, length), as a SparseTensor."""
    keep = rearrange_ops.sequence_mask(label_length, array_ops.shape(labels)[1])
    places = array_ops.where(keep)
    shape = array_ops.shape(labels, out_type=dtypes.int64)
    return SparseTensor(places, array_ops.gather_nd(labels, places), shape)


def _with_the_blank_last(labels, logits, blank_index):
    """(labels, logits) numbered as CTCLoss wants it, where the class `blank_index` is the last."""
    classes = logits.shape.size_at(2)
    if classes is None:
        classes = array_ops.shape(logits)[2]
    if blank_index < 0:
        blank_index += classes
    if isinstance(blank_index, int) and blank_index == classes - 1:
        return labels, logits
    logits = array_ops.concat(
        [
            logits[:, :, :blank_index],
            logits[:, :, blank_index + 1 :],
            logits[:, :, blank_index : blank_index + 1],
        ],
        axis=2,
    )
    values = labels.values
    values = array_ops.where(values < blank_index, values, values - 1)
    return SparseTensor(labels.indices, values, labels.dense_shape), logits


def ctc_loss_v2(
    labels,
    logits,
    label_length,
    logit_length,
    logits_time_major=True,
    unique=None,
    blank_index=None,
    name=None,
):
    """The loss of each element, (batch,), with any class as the blank.

    labels: (batch, length) of integers, of which the first `label_length`, (batch,), count, or a
    SparseTensor, for which label_length is None. logits: (time, batch, classes), or (batch, time,
    classes) unless logits_time_major, of which the first `logit_length`, (batch,), steps count.
    unique: changes nothing here. blank_index: the class of the blank, counted from the end if it
    is negative; 0 if it is not given, which ValueError asks for with sparse labels.
    InvalidArgumentError when it runs, and a row has no label or too many for its steps.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("blank_index must be given when using SparseTensor labels.")
    elif blank_index is None:
        blank_index = 0
    with name_scope(name, "ctc_loss", [logits, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        if not isinstance(labels, SparseTensor):
            labels = convert_to_tensor(labels, name="labels")
            labels = _sparse_labels(labels, convert_to_tensor(label_length, name="label_length"))
        if labels.dtype != dtypes.int32:
            labels = SparseTensor(
                labels.indices, math_ops.cast(labels.values, dtypes.int32), labels.dense_shape
            )
        labels, logits = _with_the_blank_last(labels, logits, blank_index)
        return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)


def collapse_repeated(labels, seq_length, name=None):
    """(labels, lengths) where labels that follow their equal are left out.

    labels: (batch, length). seq_length: (batch,), how many labels of each row count. The new
    labels are as long as the longest row needs, with zeros behind the end of shorter ones.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        differs = math_ops.not_equal(labels[:, 1:], labels[:, :-1])
        first = array_ops.ones_like(labels[:, :1], dtype=dtypes.bool)
        inside = rearrange_ops.sequence_mask(seq_length, array_ops.shape(labels)[1])
        keep = math_ops.logical_and(array_ops.concat([first, differs], 1), inside)
        lengths = math_ops.reduce_sum(math_ops.cast(keep, dtypes.int32), axis=1)
        longest = math_ops.reduce_max(lengths)
        places = array_ops.where(rearrange_ops.sequence_mask(lengths, longest))
        shape = math_ops.cast(array_ops.stack([array_ops.shape(labels)[0], longest]), dtypes.int64)
        kept = array_ops.boolean_mask(labels, keep)
        return (
            array_ops.scatter_nd(places, kept, shape),
            math_ops.cast(lengths, seq_length.dtype),
        )


def ctc_unique_labels(labels, name=None):
    """[unique, indices] of each row of labels, for the argument `unique` of ctc_loss_v2().

    labels: (batch, length). unique: (batch, length), the distinct labels of each row in order,
    then zeros. indices: (batch, length) of int32, the place of each label in `unique`.
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")
        sizes = array_ops.shape(labels, out_type=dtypes.int64)
        rows, length = sizes[0], sizes[1]
        same = math_ops.equal(array_ops.expand_dims(labels, 2), array_ops.expand_dims(labels, 1))
        first = math_ops.argmax(math_ops.cast(same, dtypes.int32), axis=2)
        is_first = math_ops.equal(first, array_ops.expand_dims(math_ops.range(length), 0))
        count = math_ops.cumsum(math_ops.cast(is_first, dtypes.int64), axis=1) - 1
        indices = array_ops.gather(count, first, batch_dims=1, axis=1)
        row = array_ops.expand_dims(math_ops.range(rows), 1) * array_ops.ones_like(count)
        places = array_ops.boolean_mask(array_ops.stack([row, count], axis=2), is_first)
        unique = array_ops.scatter_nd(places, array_ops.boolean_mask(labels, is_first), sizes)
        unique.set_shape(labels.shape)
        return [unique, math_ops.cast(indices, dtypes.int32)]


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """([decoded], score): the likeliest class at each time, without blanks.

    inputs: logits (time, batch, classes). decoded: a SparseTensor (batch, length). score: (batch,
    1), the sum of the largest logits, negated. merge_repeated: whether the same class several times
    in a row counts once.
    """
    indices, values, shape, score = op_list(
        "CTCGreedyDecoder",
        None,
        inputs,
        sequence_length,
        merge_repeated=merge_repeated,
        blank_index=blank_index,
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
