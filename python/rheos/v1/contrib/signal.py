"""Signals of tf.contrib.signal: frames, windows, mel scales."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.signal_ops import (
    frame,
    hamming_window,
    hann_window,
    inverse_stft,
    inverse_stft_window_fn,
    linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms,
    overlap_and_add,
    stft,
)

__getattr__ = _attribute_of("tensorflow.contrib.signal")
