"""Sequences to sequences of tf.contrib.legacy_seq2seq."""

from rheos.contrib.seq2seq import (
    attention_decoder,
    basic_rnn_seq2seq,
    embedding_attention_decoder,
    embedding_attention_seq2seq,
    embedding_rnn_decoder,
    embedding_rnn_seq2seq,
    legacy_sequence_loss as sequence_loss,
    model_with_buckets,
    rnn_decoder,
    sequence_loss_by_example,
    tied_rnn_seq2seq,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.legacy_seq2seq")
