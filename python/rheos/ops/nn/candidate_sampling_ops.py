"""Candidate samplers, and losses over many classes that look at samples of these.

A sampler returns (sampled_candidates (num_sampled,) int64, true_expected_count like true_classes,
sampled_expected_count (num_sampled,)). `true_classes` is (batch, num_true) int64. With `unique` no
class is drawn twice; InvalidArgumentError if there are not as many.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op_results
from rheos.ops.array import array_ops, embedding_ops, sparse_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random.random_ops import get_seed


def _sampled(op_type, name, true_classes, num_true, num_sampled, unique, seed, **attrs):
    seed1, seed2 = get_seed(seed)
    return op_results(
        op_type,
        name,
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        seed=seed1,
        seed2=seed2,
        **attrs,
    )


def uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes below `range_max`, all equally likely."""
    kind = "UniformCandidateSampler"
    return _sampled(
        kind, name, true_classes, num_true, num_sampled, unique, seed, range_max=range_max
    )


def log_uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes below `range_max`, as likely as words by their rank: log((k + 2) / (k + 1)) for k."""
    kind = "LogUniformCandidateSampler"
    return _sampled(
        kind, name, true_classes, num_true, num_sampled, unique, seed, range_max=range_max
    )


def learned_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes below `range_max`, as likely as they were among the true classes so far."""
    kind = "LearnedUnigramCandidateSampler"
    return _sampled(
        kind, name, true_classes, num_true, num_sampled, unique, seed, range_max=range_max
    )


def fixed_unigram_candidate_sampler(
    true_classes,
    num_true,
    num_sampled,
    unique,
    range_max,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=1,
    shard=0,
    unigrams=(),
    seed=None,
    name=None,
):
    """Classes below `range_max`, as likely as `unigrams` or the lines of `vocab_file` say.

    A weight is taken to the power of `distortion`; that of a line is its last field, split at
    commas. The first `num_reserved_ids` classes are never drawn.
    """
    return _sampled(
        "FixedUnigramCandidateSampler",
        name,
        true_classes,
        num_true,
        num_sampled,
        unique,
        seed,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
    )


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes below `num_sampled`: for tests."""
    return _sampled("AllCandidateSampler", name, true_classes, num_true, num_sampled, unique, seed)


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Which sampled classes are true ones: (rows, places among the samples, weights -FLT_MAX)."""
    seed1, seed2 = get_seed(seed)
    return op_results(
        "ComputeAccidentalHits",
        name,
        true_classes,
        sampled_candidates,
        num_true=num_true,
        seed=seed1,
        seed2=seed2,
    )


def _sum_rows(x):
    """The sums of the rows of a matrix, by a product with ones: faster than a reduction."""
    ones = array_ops.ones(array_ops.stack([array_ops.shape(x)[1], 1]), x.dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _true_logits(inputs, rows, biases, num_true):
    """(batch, num_true) logits of the true classes: row by row, inputs times their weights."""
    width = array_ops.shape(rows)[1:2]
    shape = array_ops.concat([[-1, num_true], width], 0)
    products = math_ops.multiply(array_ops.expand_dims(inputs, 1), array_ops.reshape(rows, shape))
    matrix = array_ops.reshape(products, array_ops.concat([[-1], width], 0))
    logits = array_ops.reshape(_sum_rows(matrix), [-1, num_true])
    return logits + array_ops.reshape(biases, [-1, num_true])


def _without_hits(sampled_logits, labels, sampled, num_true):
    """The logits of sampled classes, those of true ones as low as can be."""
    rows, places, weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = array_ops.reshape(rows, [-1, 1])
    places = array_ops.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    indices = array_ops.concat([rows, places], 1, "sparse_indices")
    batch = array_ops.shape(labels)[:1]
    count = sampled.shape.size_at(0)
    if count is None:
        count = array_ops.shape(sampled)[0]
    shape = array_ops.concat([batch, array_ops.expand_dims(count, 0)], 0)
    if sampled_logits.dtype != weights.dtype:
        weights = math_ops.cast(weights, sampled_logits.dtype)
    return sampled_logits + sparse_ops.sparse_to_dense(
        indices, shape, weights, default_value=0.0, validate_indices=False
    )


def _compute_sampled_logits(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    subtract_log_q=True,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name=None,
    seed=None,
):
    weights = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        labels = convert_to_tensor(labels)
        if labels.dtype != dtypes.int64:
            labels = math_ops.cast(labels, dtypes.int64)
        flat = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed
            )
        sampled, true_count, sampled_count = [array_ops.stop_gradient(s) for s in sampled_values]
        sampled = math_ops.cast(sampled, dtypes.int64)
        both = array_ops.concat([flat, sampled], 0)
        rows = embedding_ops.embedding_lookup(weights, both, partition_strategy=partition_strategy)
        wanted_dtype = getattr(inputs, "dtype", rows.dtype)
        if rows.dtype != wanted_dtype:
            rows = math_ops.cast(rows, dtypes.as_dtype(wanted_dtype))
        true_rows = array_ops.slice(rows, [0, 0], array_ops.stack([array_ops.shape(flat)[0], -1]))
        sampled_rows = array_ops.slice(
            rows, array_ops.stack([array_ops.shape(flat)[0], 0]), [-1, -1]
        )
        sampled_logits = math_ops.matmul(inputs, sampled_rows, transpose_b=True)
        all_biases = embedding_ops.embedding_lookup(
            biases, both, partition_strategy=partition_strategy
        )
        if all_biases.dtype != sampled_logits.dtype:
            all_biases = math_ops.cast(all_biases, sampled_logits.dtype)
        true_biases = array_ops.slice(all_biases, [0], array_ops.shape(flat))
        sampled_biases = array_ops.slice(all_biases, array_ops.shape(flat), [-1])
        true_logits = _true_logits(inputs, true_rows, true_biases, num_true)
        sampled_logits = sampled_logits + sampled_biases
        if remove_accidental_hits:
            sampled_logits = _without_hits(sampled_logits, labels, sampled, num_true)
        if subtract_log_q:
            true_logits -= math_ops.log(true_count)
            sampled_logits -= math_ops.log(sampled_count)
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        wanted = array_ops.concat(
            [array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)], 1
        )
        return logits, wanted


def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name="nce_loss",
):
    """The noise-contrastive estimation loss of each row of `inputs`.

    weights: (num_classes, dim), or a list of parts of it. biases: (num_classes,). labels: (batch,
    num_true) classes. inputs: (batch, dim). sampled_values: what a sampler returned; by default
    `num_sampled` distinct classes of the log-uniform one. Returns (batch,).
    """
    logits, wanted = _compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    losses = nn_ops.sigmoid_cross_entropy_with_logits(
        labels=wanted, logits=logits, name="sampled_losses"
    )
    return _sum_rows(losses)


def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_softmax_loss",
    seed=None,
):
    """The cross entropy of a softmax over the true and the sampled classes, for each row.

    For training where the whole softmax is too large. Shapes are those of nce_loss().
    """
    logits, wanted = _compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
        seed=seed,
    )
    wanted = array_ops.stop_gradient(wanted, name="labels_stop_gradient")
    return nn_ops.softmax_cross_entropy_with_logits_v2(labels=wanted, logits=logits)
