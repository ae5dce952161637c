"""Sequences to sequences, of tf.contrib.seq2seq."""

from rheos.contrib.attention import (
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)
from rheos.contrib.attention_wrapper import AttentionWrapper, AttentionWrapperState
from rheos.contrib.beam_search import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    gather_tree,
    tile_batch,
)
from rheos.contrib.decoding import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode
from rheos.contrib.decoding_helpers import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from rheos.contrib.seq2seq import sequence_loss
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.seq2seq")
